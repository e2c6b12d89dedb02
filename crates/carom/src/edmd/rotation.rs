//! How a body moves and turns, as the search for contacts sees it.
//!
//! A body's centre goes straight; its turning is a flight's. The search is made from the present and from one of the two
//! bodies: times since now, places from its centre, so that rounding is that of the pair and not of the box.
//!
//! **Growth.** Overlay with all lengths divided by the size s(t) = s + ṡt, bodies keep their size and centres move as
//!
//! ```text
//! y = (c + v t)/s(t),    y' = (v s − ṡ c)/s(t)²,    y'' = −2ṡ (v s − ṡ c)/s(t)³
//! ```
//!
//! with c, v and s at t = 0: for ṡ ≥ 0 the acceleration is largest at once, which is the bound that the search needs.

use nalgebra::{UnitQuaternion, Vector3};
use prefetch_index::prefetch_index;

use super::World;
use crate::body::{Body, State};
use crate::motion::{Flight, Motion};
use crate::shape::Shape;

/// A ball's spin: only what it was when it last changed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ball {
    orientation: UnitQuaternion<f64>,
    angular_velocity: Vector3<f64>,
    since: f64,
}

/// A turning that began at a time, prepared.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Turning {
    pub since: f64,
    pub flight: Flight,
}

/// How a body turns.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::large_enum_variant, reason = "where there are balls only, they are kept by themselves")]
pub(super) enum Spin {
    Ball(Ball),
    /// Anything else.
    Turning(Turning),
}

/// The same, of one of many.
#[derive(Debug, Clone, Copy)]
pub(super) enum SpinOf<'a> {
    Ball(&'a Ball),
    Turning(&'a Turning),
}

/// How all bodies turn.
#[derive(Debug, Clone)]
pub(super) enum Spins {
    Balls(Vec<Ball>),
    Any(Vec<Spin>),
}

/// Lines of the cache that the turning of a symmetric body takes, and numbers in one.
const LINES: usize = 3;
const NUMBERS: usize = 8;

impl Turning {
    pub fn at(&self, t: f64) -> (UnitQuaternion<f64>, Vector3<f64>) {
        self.flight.turned(t - self.since)
    }
}

impl Spin {
    pub fn new(body: &Body, state: &State, since: f64) -> Self {
        Self::given(body, state, None, since)
    }

    /// The same where the angular velocity may have been given in body axes.
    pub fn given(body: &Body, state: &State, body_spin: Option<&Vector3<f64>>, since: f64) -> Self {
        match body.shape {
            Shape::Sphere { .. } | Shape::Point => Self::Ball(Ball::new(body, state, since)),
            _ => {
                let flight = Flight::given(body, state, body_spin, &Vector3::zeros());
                Self::Turning(Turning { since, flight })
            }
        }
    }

    pub fn of(&self) -> SpinOf<'_> {
        match self {
            Self::Ball(ball) => SpinOf::Ball(ball),
            Self::Turning(turning) => SpinOf::Turning(turning),
        }
    }
}

impl Ball {
    fn new(body: &Body, state: &State, since: f64) -> Self {
        Self {
            orientation: state.orientation,
            angular_velocity: if body.fixed { Vector3::zeros() } else { state.angular_velocity },
            since,
        }
    }

    fn start(&self) -> State {
        State {
            orientation: self.orientation,
            angular_velocity: self.angular_velocity,
            ..State::at(Vector3::zeros())
        }
    }
}

impl SpinOf<'_> {
    /// Orientation and angular velocity at a time.
    pub fn at(self, body: &Body, t: f64) -> (UnitQuaternion<f64>, Vector3<f64>) {
        match self {
            Self::Ball(ball) if ball.angular_velocity == Vector3::zeros() => {
                (ball.orientation, ball.angular_velocity)
            }
            Self::Ball(ball) => {
                let state = Flight::new(body, &ball.start(), &Vector3::zeros()).at(t - ball.since);
                (state.orientation, state.angular_velocity)
            }
            Self::Turning(turning) => turning.at(t),
        }
    }

    /// A state from which the turning is prepared anew, and its time.
    pub fn start(self) -> (State, f64) {
        match self {
            Self::Ball(ball) => (ball.start(), ball.since),
            Self::Turning(turning) => (*turning.flight.start(), turning.since),
        }
    }

    /// The greatest angular speed; of a ball, which looks the same however it turns, none.
    #[inline(always)]
    pub fn speed(self) -> f64 {
        match self {
            Self::Ball(_) => 0.0,
            Self::Turning(turning) => turning.flight.spin_bound(),
        }
    }
}

impl Spins {
    /// Of bodies in these states.
    pub fn new(world: &World, states: &[State]) -> Self {
        let each = || world.bodies.iter().zip(states);
        if world.bodies.iter().all(|body| matches!(body.shape, Shape::Sphere { .. } | Shape::Point)) {
            return Self::Balls(each().map(|(body, state)| Ball::new(body, state, 0.0)).collect());
        }
        let spin =
            |(i, (body, state)): (usize, (&Body, &State))| Spin::given(body, state, world.body_spin(i), 0.0);
        Self::Any(each().enumerate().map(spin).collect())
    }

    #[inline(always)]
    pub fn of(&self, i: usize) -> SpinOf<'_> {
        match self {
            Self::Balls(balls) => SpinOf::Ball(&balls[i]),
            Self::Any(spins) => spins[i].of(),
        }
    }

    /// Asks the memory for one.
    #[inline(always)]
    pub fn ask_for(&self, i: usize) {
        if let Self::Any(spins) = self
            && let Spin::Turning(turning) = &spins[i]
        {
            let first = core::slice::from_ref(&turning.since);
            for line in 0..LINES {
                prefetch_index(first, NUMBERS * line);
            }
        }
    }

    pub fn set(&mut self, i: usize, spin: &Spin) {
        match (self, spin) {
            (Self::Balls(balls), Spin::Ball(ball)) => balls[i] = *ball,
            (Self::Any(spins), spin) => spins[i] = *spin,
            // Where there are balls only, nothing becomes another shape.
            (Self::Balls(_), Spin::Turning(_)) => {}
        }
    }

    /// In another order: first that of the first number, and so on.
    pub fn put_in_order(&mut self, from: &[u32]) {
        match self {
            Self::Balls(balls) => *balls = from.iter().map(|&k| balls[k as usize]).collect(),
            Self::Any(spins) => *spins = from.iter().map(|&k| spins[k as usize]).collect(),
        }
    }

    /// Moves the zero of time.
    pub fn shift(&mut self, by: f64) {
        match self {
            Self::Balls(balls) => balls.iter_mut().for_each(|ball| ball.since -= by),
            Self::Any(spins) => spins.iter_mut().for_each(|spin| match spin {
                Spin::Ball(ball) => ball.since -= by,
                Spin::Turning(turning) => turning.since -= by,
            }),
        }
    }

    /// Bytes taken.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Balls(balls) => balls.capacity() * size_of::<Ball>(),
            Self::Any(spins) => spins.capacity() * size_of::<Spin>(),
        }
    }
}

/// A body's motion from now on, seen from a place near by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Course<'a> {
    /// The centre now.
    pub centre: Vector3<f64>,
    pub velocity: Vector3<f64>,
    /// How it turns, and what its time is now; nothing for a ball.
    pub turning: Option<(&'a Flight, f64)>,
    /// Orientation and angular velocity now, which every search asks for.
    pub now: (UnitQuaternion<f64>, Vector3<f64>),
    /// The size now, and its rate.
    pub size: f64,
    pub growth: f64,
}

impl Motion for Course<'_> {
    #[inline]
    fn at(&self, t: f64) -> State {
        let (orientation, angular_velocity) = match self.turning {
            Some((flight, now)) if t != 0.0 => flight.turned(now + t),
            _ => self.now,
        };
        let (mut position, mut velocity) = (self.centre + self.velocity * t, self.velocity);
        if self.growth != 0.0 {
            let size = self.size + self.growth * t;
            position /= size;
            velocity = (velocity - position * self.growth) / size;
        }
        State { position, orientation, velocity, angular_velocity }
    }

    fn acceleration(&self) -> Vector3<f64> {
        Vector3::zeros()
    }

    fn acceleration_bound(&self) -> f64 {
        if self.growth == 0.0 {
            return 0.0;
        }
        let constant = self.velocity * self.size - self.centre * self.growth;
        2.0 * self.growth * constant.norm() / (self.size * self.size * self.size) * (1.0 + 1e-12)
    }

    fn turning_bound(&self) -> f64 {
        self.turning.map_or(0.0, |(flight, _)| flight.turning_bound())
    }

    fn angular_acceleration_bound(&self) -> f64 {
        self.turning.map_or(0.0, |(flight, _)| flight.angular_acceleration_bound())
    }
}
