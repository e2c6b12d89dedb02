//! How a body moves and turns, as the search for contacts sees it.
//!
//! A body's centre goes straight; its turning is a flight's. The search is made from the present and from one of the two
//! bodies: times since now, places from its centre, so that rounding is that of the pair and not of the box.
//!
//! **Growth.** Seen with all lengths divided by the size s(t) = s + ṡt, bodies keep their size and centres move as
//!
//! ```text
//! y = (c + v t)/s(t),    y' = (v s − ṡ c)/s(t)²,    y'' = −2ṡ (v s − ṡ c)/s(t)³
//! ```
//!
//! with c, v and s at t = 0: for ṡ ≥ 0 the acceleration is largest at once, which is the bound that the search needs.

use nalgebra::{UnitQuaternion, Vector3};

use crate::body::{Body, State};
use crate::motion::{Flight, Motion};
use crate::shape::Shape;

/// How a body turns.
#[derive(Debug, Clone)]
pub(super) enum Spin {
    /// A ball: only what it was when its spin last changed.
    Ball { orientation: UnitQuaternion<f64>, angular_velocity: Vector3<f64>, since: f64 },
    /// Anything else, prepared.
    Turning(Box<Turning>),
}

/// A turning that began at a time.
#[derive(Debug, Clone)]
pub(super) struct Turning {
    pub flight: Flight,
    pub since: f64,
}

impl Turning {
    pub fn at(&self, t: f64) -> (UnitQuaternion<f64>, Vector3<f64>) {
        self.flight.turned(t - self.since)
    }
}

impl Spin {
    pub fn new(body: &Body, state: &State, since: f64) -> Self {
        match body.shape {
            Shape::Sphere { .. } | Shape::Point => Self::Ball {
                orientation: state.orientation,
                angular_velocity: if body.fixed { Vector3::zeros() } else { state.angular_velocity },
                since,
            },
            _ => Self::Turning(Box::new(Turning {
                flight: Flight::new(body, state, &Vector3::zeros()),
                since,
            })),
        }
    }

    /// Orientation and angular velocity at a time.
    pub fn at(&self, body: &Body, t: f64) -> (UnitQuaternion<f64>, Vector3<f64>) {
        match self {
            Self::Ball { orientation, angular_velocity, since } => {
                if *angular_velocity == Vector3::zeros() {
                    return (*orientation, *angular_velocity);
                }
                let state = State {
                    orientation: *orientation,
                    angular_velocity: *angular_velocity,
                    ..State::at(Vector3::zeros())
                };
                let state = Flight::new(body, &state, &Vector3::zeros()).at(t - since);
                (state.orientation, state.angular_velocity)
            }
            Self::Turning(turning) => turning.at(t),
        }
    }

    /// A state from which the turning is prepared anew, and its time.
    pub fn start(&self) -> (State, f64) {
        match self {
            Self::Ball { orientation, angular_velocity, since } => {
                let state = State {
                    orientation: *orientation,
                    angular_velocity: *angular_velocity,
                    ..State::at(Vector3::zeros())
                };
                (state, *since)
            }
            Self::Turning(turning) => (*turning.flight.start(), turning.since),
        }
    }

    /// The greatest angular speed; of a ball, which looks the same however it turns, none.
    pub fn speed(&self) -> f64 {
        match self {
            Self::Ball { .. } => 0.0,
            Self::Turning(turning) => turning.flight.spin_bound(),
        }
    }

    pub fn shift(&mut self, by: f64) {
        match self {
            Self::Ball { since, .. } => *since -= by,
            Self::Turning(turning) => turning.since -= by,
        }
    }

    /// Bytes held elsewhere.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Ball { .. } => 0,
            Self::Turning(_) => size_of::<Turning>(),
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

    fn unsteadiness(&self) -> f64 {
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
