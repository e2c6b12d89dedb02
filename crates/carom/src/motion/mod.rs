//! Where a body is at time t when nothing touches it.
//!
//! [`Flight`] is prepared once from a body, its state and the gravity; [`Flight::at`] gives the state at any time, before
//! or after, in one evaluation: no stepping, nothing accumulated. [`Motion`] is what any other motion must say of itself
//! to be searched for contacts, and [`Anchored`] sets a motion's zero of time.
//!
//! ```text
//! c(t) = c + v t + ½ g t²
//! I ω' = (Iω) × ω  in body axes (Euler)        R' = [ω] R  in world axes
//! ```
//!
//! The rotation is closed: elliptic functions for ω, theta functions for the attitude; `rotation` has the equations.
//!
//! **What is kept.** The angular momentum in the world and the energy hold to rounding at any t. Two rates, that of ω and
//! that of the node, are held to 32 digits and their phases reduced before rounding, so that for the data as given the
//! attitude at 10⁶ s is as good as at 1 s: within 2·10⁻¹⁵ of 60-digit values for 29 tops (tests). Data differ from what
//! was meant by rounding, and that grows: a relative change ε of ω moves the phase by ε ω t, and near the separatrix by a
//! further factor up to 1/(1−m). [`Given`] says by how much, and an angular velocity that was given in body axes is
//! integrated as it was given ([`Flight::given`]).
//!
//! **Limits.** Moments must be positive, and within some hundred decades of one another; they need not be those of a real
//! body. A wobble below 10⁻¹⁴⁰ of the spin counts as zero, and a state on the separatrix to the last bit, but not at its pole,
//! is taken as 1−m = 10⁻²⁸⁰ from it. The quaternion's sign is not continuous in t; both signs are one orientation. Times
//! beyond 10²⁹¹ units, or beyond 2⁵² turns, have no meaning. What is not finite comes out not finite.
#![deny(clippy::disallowed_methods, clippy::std_instead_of_core, clippy::std_instead_of_alloc)]

pub mod elliptic;
mod rotation;
mod rounding;
mod two;

use nalgebra::{UnitQuaternion, Vector3};

use crate::body::{Body, State};
use rotation::Rotation;
use rounding::is_spin_of;
pub use rounding::{DATA, Given};

/// Where a body is at time t, and how far from straight and steady its motion can be.
///
/// What the search for a first contact needs to know of a motion, be it free flight or a piece of a motion that was
/// integrated. The bounds must hold at every time that is searched.
pub trait Motion {
    /// The state at time t.
    fn at(&self, t: f64) -> State;

    /// The uniform part of the centre's acceleration.
    fn acceleration(&self) -> Vector3<f64>;

    /// A bound of |c'' − acceleration|; zero for free flight.
    fn acceleration_bound(&self) -> f64;

    /// A bound of |ω'| + |ω|².
    fn turning_bound(&self) -> f64;

    /// A bound of |ω'| alone. A motion that has none at hand may leave this out.
    fn angular_acceleration_bound(&self) -> f64 {
        self.turning_bound()
    }
}

/// A motion with its own zero of time: the state at time t is the motion's at t − since.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Anchored<M> {
    /// The motion.
    pub motion: M,
    /// When its own time is zero.
    pub since: f64,
}

impl<M: Motion> Motion for Anchored<M> {
    fn at(&self, t: f64) -> State {
        self.motion.at(t - self.since)
    }

    fn acceleration(&self) -> Vector3<f64> {
        self.motion.acceleration()
    }

    fn acceleration_bound(&self) -> f64 {
        self.motion.acceleration_bound()
    }

    fn turning_bound(&self) -> f64 {
        self.motion.turning_bound()
    }

    fn angular_acceleration_bound(&self) -> f64 {
        self.motion.angular_acceleration_bound()
    }
}

impl<M: Motion> Motion for &M {
    fn at(&self, t: f64) -> State {
        (*self).at(t)
    }

    fn acceleration(&self) -> Vector3<f64> {
        (*self).acceleration()
    }

    fn acceleration_bound(&self) -> f64 {
        (*self).acceleration_bound()
    }

    fn turning_bound(&self) -> f64 {
        (*self).turning_bound()
    }

    fn angular_acceleration_bound(&self) -> f64 {
        (*self).angular_acceleration_bound()
    }
}

/// A body's free motion, prepared. In this order in memory, that what turning reads is together.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Flight {
    spin: f64,
    spin_rate: f64,
    /// Nothing for a fixed body.
    rotation: Option<Rotation>,
    start: State,
    gravity: Vector3<f64>,
}

/// The derivatives of a free body's motion that follow its velocities, in world axes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Derivatives {
    /// Of the centre, c''.
    pub acceleration: Vector3<f64>,
    /// Of the centre, c''': zero under uniform gravity.
    pub jerk: Vector3<f64>,
    /// ω'.
    pub angular_acceleration: Vector3<f64>,
    /// ω''.
    pub angular_jerk: Vector3<f64>,
}

impl Flight {
    /// Prepares the flight that has this state at t = 0, under uniform gravity.
    ///
    /// A fixed body stays where it is, with no velocity.
    #[must_use]
    pub fn new(body: &Body, state: &State, gravity: &Vector3<f64>) -> Self {
        Self::given(body, state, None, gravity)
    }

    /// The same where the angular velocity may have been given in body axes. These components are then what is integrated: turned
    /// into the world and back they would lose half a digit's unit, which near the separatrix grows as the motion leaves it.
    ///
    /// A state whose angular velocity is not, to the bit, what these components are in the world has changed since they were
    /// given, and counts alone.
    #[must_use]
    pub fn given(
        body: &Body,
        state: &State,
        body_spin: Option<&Vector3<f64>>,
        gravity: &Vector3<f64>,
    ) -> Self {
        if body.fixed {
            let start = State { velocity: Vector3::zeros(), angular_velocity: Vector3::zeros(), ..*state };
            return Self { start, gravity: Vector3::zeros(), rotation: None, spin: 0.0, spin_rate: 0.0 };
        }
        let own = body_spin.filter(|spin| is_spin_of(state, spin));
        let rotation = Rotation::new(&body.inertia, &state.orientation, &state.angular_velocity, own);
        let extremes = rotation.extremes();
        Self {
            start: *state,
            gravity: *gravity,
            rotation: Some(rotation),
            spin: extremes.spin,
            spin_rate: extremes.spin_rate,
        }
    }

    /// The state at t = 0, as given.
    #[must_use]
    pub fn start(&self) -> &State {
        &self.start
    }

    /// The state at time t, of either sign.
    #[must_use]
    pub fn at(&self, t: f64) -> State {
        if self.rotation.is_none() {
            return self.start;
        }
        let (orientation, angular_velocity) = self.turned(t);
        State {
            position: self.start.position + (self.start.velocity + self.gravity * (0.5 * t)) * t,
            orientation,
            velocity: self.start.velocity + self.gravity * t,
            angular_velocity,
        }
    }

    /// Orientation and angular velocity alone.
    #[inline]
    pub(crate) fn turned(&self, t: f64) -> (UnitQuaternion<f64>, Vector3<f64>) {
        match &self.rotation {
            Some(rotation) => rotation.at(t),
            None => (self.start.orientation, self.start.angular_velocity),
        }
    }

    /// After how long ω in body axes repeats, if it ever changes or turns the body at all.
    pub(crate) fn spin_period(&self) -> Option<f64> {
        self.rotation.as_ref().and_then(Rotation::period)
    }

    /// How far rounding may turn the attitude of the closed form, for the data as they are, at any time.
    pub(crate) fn attitude_rounding(&self) -> f64 {
        self.rotation.as_ref().map_or(0.0, Rotation::rounding)
    }

    /// The acceleration of the centre: gravity, or zero for a fixed body.
    #[must_use]
    pub fn acceleration(&self) -> Vector3<f64> {
        self.gravity
    }

    /// The greatest |ω| over all times; attained, but for a relative 10⁻¹⁴.
    ///
    /// |ω|² = ΣM_i²/I_i² is linear in sn²u, so it is the larger of the values at sn = 0 and sn = ±1. Never above
    /// |L|/I_min or √(2T/I_min).
    #[must_use]
    pub fn spin_bound(&self) -> f64 {
        self.spin
    }

    /// The greatest |ω'| over all times, attained likewise: |ω'|² is quadratic in sn²u.
    #[must_use]
    pub fn angular_acceleration_bound(&self) -> f64 {
        self.spin_rate
    }

    /// A bound of |x''| for every x fixed in the body at unit distance from its centre, less the centre's own:
    /// |ω'| + |ω|², each at its greatest (theory, section 3).
    #[must_use]
    pub fn turning_bound(&self) -> f64 {
        self.spin_rate + self.spin * self.spin
    }
}

impl Motion for Flight {
    fn at(&self, t: f64) -> State {
        self.at(t)
    }

    fn acceleration(&self) -> Vector3<f64> {
        self.acceleration()
    }

    fn acceleration_bound(&self) -> f64 {
        0.0
    }

    fn turning_bound(&self) -> f64 {
        self.turning_bound()
    }

    fn angular_acceleration_bound(&self) -> f64 {
        self.angular_acceleration_bound()
    }
}

impl Derivatives {
    /// At a state, by Euler's equations and their derivative:
    ///
    /// ```text
    /// I ω'  = M × ω                    in body axes, M = Iω
    /// I ω'' = M' × ω + M × ω'          in body axes; in the world ω'' gains ω × ω'
    /// ```
    ///
    /// All zero for a fixed body.
    #[must_use]
    pub fn new(body: &Body, state: &State, gravity: &Vector3<f64>) -> Self {
        let zero = Vector3::zeros();
        if body.fixed {
            return Self { acceleration: zero, jerk: zero, angular_acceleration: zero, angular_jerk: zero };
        }
        let spin = state.orientation.inverse_transform_vector(&state.angular_velocity);
        let [i, j, k] = [body.inertia.x, body.inertia.y, body.inertia.z];
        // Differences of moments, not of products: a symmetric body has no spurious rate.
        let shares = Vector3::new((j - k) / i, (k - i) / j, (i - j) / k);
        let rate = shares.component_mul(&Vector3::new(spin.y * spin.z, spin.z * spin.x, spin.x * spin.y));
        let second = shares.component_mul(&Vector3::new(
            rate.y * spin.z + spin.y * rate.z,
            rate.z * spin.x + spin.z * rate.x,
            rate.x * spin.y + spin.x * rate.y,
        ));
        Self {
            acceleration: *gravity,
            jerk: zero,
            angular_acceleration: state.orientation * rate,
            angular_jerk: state.orientation * (second + spin.cross(&rate)),
        }
    }
}
