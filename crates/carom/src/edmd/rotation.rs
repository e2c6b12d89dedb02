//! How bodies rotate, and their motion as the search for contacts sees it.
//!
//! A body's centre moves on a straight line; it rotates in free flight. A search is made relative to the present time and to the centre of
//! one of the two bodies, so that rounding is that of the pair and not of the box.
//!
//! **Growth.** With all lengths divided by the scale s(t) = s + ṡt, bodies keep their size and centres move as
//!
//! ```text
//! y = (c + v t)/s(t),    y' = (v s − ṡ c)/s(t)²,    y'' = −2ṡ (v s − ṡ c)/s(t)³
//! ```
//!
//! with c, v and s at t = 0. For ṡ ≥ 0 the acceleration is largest at t = 0, which is the bound that the search needs.

use nalgebra::{UnitQuaternion, Vector3};
use prefetch_index::prefetch_index;

use crate::body::{Body, State};
use crate::motion::{Flight, Motion};
use crate::run::World;
use crate::shape::Shape;

/// The rotation of a sphere since it last changed. Its flight is prepared only when a state is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct SphereRotation {
    orientation: UnitQuaternion<f64>,
    angular_velocity: Vector3<f64>,
    since: f64,
}

/// The rotation of any other body since it last changed, with its flight prepared.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct FreeRotation {
    pub since: f64,
    pub flight: Flight,
}

/// How a body rotates.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::large_enum_variant, reason = "systems of spheres alone store no enum")]
pub(super) enum Rotation {
    Sphere(SphereRotation),
    Free(FreeRotation),
}

/// A reference to the rotation of one body.
#[derive(Debug, Clone, Copy)]
pub(super) enum RotationRef<'a> {
    Sphere(&'a SphereRotation),
    Free(&'a FreeRotation),
}

/// The rotations of all bodies.
#[derive(Debug, Clone)]
pub(super) enum Rotations {
    Spheres(Vec<SphereRotation>),
    Any(Vec<Rotation>),
}

/// The cache lines that the flight of a symmetric body takes, and the numbers in one.
const LINES: usize = 3;
const NUMBERS: usize = 8;

impl FreeRotation {
    pub fn at(&self, t: f64) -> (UnitQuaternion<f64>, Vector3<f64>) {
        self.flight.turned(t - self.since)
    }
}

impl Rotation {
    pub fn new(body: &Body, state: &State, since: f64) -> Self {
        Self::with_body_spin(body, state, None, since)
    }

    /// As above, where the angular velocity may be given in body axes.
    pub fn with_body_spin(body: &Body, state: &State, body_spin: Option<&Vector3<f64>>, since: f64) -> Self {
        match body.shape {
            Shape::Sphere { .. } | Shape::Point => Self::Sphere(SphereRotation::new(body, state, since)),
            _ => {
                let flight = Flight::given(body, state, body_spin, &Vector3::zeros());
                Self::Free(FreeRotation { since, flight })
            }
        }
    }

    pub fn as_ref(&self) -> RotationRef<'_> {
        match self {
            Self::Sphere(sphere) => RotationRef::Sphere(sphere),
            Self::Free(rotation) => RotationRef::Free(rotation),
        }
    }
}

impl SphereRotation {
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

impl RotationRef<'_> {
    /// Orientation and angular velocity at a time.
    pub fn at(self, body: &Body, t: f64) -> (UnitQuaternion<f64>, Vector3<f64>) {
        match self {
            Self::Sphere(sphere) if sphere.angular_velocity == Vector3::zeros() => {
                (sphere.orientation, sphere.angular_velocity)
            }
            Self::Sphere(sphere) => {
                let state = Flight::new(body, &sphere.start(), &Vector3::zeros()).at(t - sphere.since);
                (state.orientation, state.angular_velocity)
            }
            Self::Free(rotation) => rotation.at(t),
        }
    }

    /// The state from which the flight can be prepared again, and its time.
    pub fn start(self) -> (State, f64) {
        match self {
            Self::Sphere(sphere) => (sphere.start(), sphere.since),
            Self::Free(rotation) => (*rotation.flight.start(), rotation.since),
        }
    }

    /// A bound on the angular speed; zero for a sphere, whose surface stays where it is.
    #[inline(always)]
    pub fn speed(self) -> f64 {
        match self {
            Self::Sphere(_) => 0.0,
            Self::Free(rotation) => rotation.flight.spin_bound(),
        }
    }
}

impl Rotations {
    /// For bodies that start in these states.
    pub fn new(world: &World, states: &[State]) -> Self {
        let each = || world.bodies.iter().zip(states);
        if world.bodies.iter().all(|body| matches!(body.shape, Shape::Sphere { .. } | Shape::Point)) {
            return Self::Spheres(
                each().map(|(body, state)| SphereRotation::new(body, state, 0.0)).collect(),
            );
        }
        let rotation = |(i, (body, state)): (usize, (&Body, &State))| {
            Rotation::with_body_spin(body, state, world.body_spin(i), 0.0)
        };
        Self::Any(each().enumerate().map(rotation).collect())
    }

    #[inline(always)]
    pub fn get(&self, i: usize) -> RotationRef<'_> {
        match self {
            Self::Spheres(spheres) => RotationRef::Sphere(&spheres[i]),
            Self::Any(rotations) => rotations[i].as_ref(),
        }
    }

    /// Prefetches the rotation of a body.
    #[inline(always)]
    pub fn prefetch(&self, i: usize) {
        if let Self::Any(rotations) = self
            && let Rotation::Free(rotation) = &rotations[i]
        {
            let first = core::slice::from_ref(&rotation.since);
            for line in 0..LINES {
                prefetch_index(first, NUMBERS * line);
            }
        }
    }

    pub fn set(&mut self, i: usize, rotation: &Rotation) {
        match (self, rotation) {
            (Self::Spheres(spheres), Rotation::Sphere(sphere)) => spheres[i] = *sphere,
            (Self::Any(rotations), rotation) => rotations[i] = *rotation,
            // A sphere does not become another shape.
            (Self::Spheres(_), Rotation::Free(_)) => {}
        }
    }

    /// Puts the rotations into another order: the body at place k comes from place `from[k]`.
    pub fn reorder(&mut self, from: &[u32]) {
        match self {
            Self::Spheres(spheres) => *spheres = from.iter().map(|&k| spheres[k as usize]).collect(),
            Self::Any(rotations) => *rotations = from.iter().map(|&k| rotations[k as usize]).collect(),
        }
    }

    /// Moves the origin of time.
    pub fn shift_time(&mut self, by: f64) {
        match self {
            Self::Spheres(spheres) => spheres.iter_mut().for_each(|sphere| sphere.since -= by),
            Self::Any(rotations) => rotations.iter_mut().for_each(|rotation| match rotation {
                Rotation::Sphere(sphere) => sphere.since -= by,
                Rotation::Free(rotation) => rotation.since -= by,
            }),
        }
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Spheres(spheres) => spheres.capacity() * size_of::<SphereRotation>(),
            Self::Any(rotations) => rotations.capacity() * size_of::<Rotation>(),
        }
    }
}

/// A body's motion from the present time on, relative to a point near by.
#[derive(Debug, Clone, Copy)]
pub(super) struct BodyMotion<'a> {
    /// The centre at present.
    pub centre: Vector3<f64>,
    pub velocity: Vector3<f64>,
    /// The flight that gives the orientation, and its time at present; `None` for a sphere.
    pub rotation: Option<(&'a Flight, f64)>,
    /// The orientation and angular velocity at present, which every search needs.
    pub present_rotation: (UnitQuaternion<f64>, Vector3<f64>),
    /// The scale of all lengths at present, and its rate.
    pub scale: f64,
    pub growth: f64,
}

impl Motion for BodyMotion<'_> {
    #[inline]
    fn at(&self, t: f64) -> State {
        let (orientation, angular_velocity) = match self.rotation {
            Some((flight, present)) if t != 0.0 => flight.turned(present + t),
            _ => self.present_rotation,
        };
        let (mut position, mut velocity) = (self.centre + self.velocity * t, self.velocity);
        if self.growth != 0.0 {
            let scale = self.scale + self.growth * t;
            position /= scale;
            velocity = (velocity - position * self.growth) / scale;
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
        let constant = self.velocity * self.scale - self.centre * self.growth;
        2.0 * self.growth * constant.norm() / (self.scale * self.scale * self.scale) * (1.0 + 1e-12)
    }

    fn turning_bound(&self) -> f64 {
        self.rotation.map_or(0.0, |(flight, _)| flight.turning_bound())
    }

    fn angular_acceleration_bound(&self) -> f64 {
        self.rotation.map_or(0.0, |(flight, _)| flight.angular_acceleration_bound())
    }
}
