//! One step of a flow: its states at any time, its forces, bounds for those who ask what it meets, and how it ends.
//!
//! The step's polynomial is good to the accuracy asked for at every time, so a state within costs one sum.

use nalgebra::Vector3;

use super::Mode;
use super::gauss::Leg;
use super::system::{Correction, PER_BODY, PER_CONTACT, unpack};
use crate::body::{Body, State};

/// How a piece ends, at its `until`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ending {
    /// At the time asked for.
    Until,
    /// Where the accuracy ends the step; it goes on with [`Flow::follow`].
    Step,
    /// A contact's force returns to zero: it lets go. Ends at the piece's start if the contact could only pull.
    LiftOff {
        /// The contact.
        contact: usize,
        /// A bound on the error of the time.
        time_error: f64,
    },
    /// A slip comes to rest.
    Stick {
        /// The contact.
        contact: usize,
        /// A bound on the error of the time.
        time_error: f64,
    },
    /// Sticking would take more friction than there is.
    Slip {
        /// The contact.
        contact: usize,
        /// A bound on the error of the time.
        time_error: f64,
    },
}

/// The force of a contact at an instant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Force {
    /// λ, along the normal.
    pub normal: f64,
    /// The friction on the second side.
    pub friction: Vector3<f64>,
}

/// What bounds a body's motion within a piece.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    pub acceleration: f64,
    pub turning: f64,
}

/// One step of a flow.
#[derive(Debug, Clone)]
pub struct Piece {
    /// When it begins.
    pub from: f64,
    /// When it ends.
    pub until: f64,
    /// How.
    pub ending: Ending,
    /// How far the states given were from the contacts; rounding, unless they came from elsewhere.
    pub given: Correction,
    /// How far the step's end was from them before it was put back.
    pub drift: Correction,
    pub(super) leg: Leg,
    pub(super) modes: Vec<Mode>,
    pub(super) bodies: Vec<Body>,
    pub(super) start: Vec<State>,
    pub(super) end: Vec<State>,
    pub(super) bounds: Vec<Bounds>,
    pub(super) contact_base: usize,
    pub(super) next_length: f64,
    /// The unknowns of the bodies at the end, which states round.
    pub(super) carried: Vec<f64>,
    /// λ' at the start.
    pub(super) start_rates: Option<Vec<f64>>,
}

impl Piece {
    /// A body's state at a time within the piece.
    #[must_use]
    pub fn at(&self, body: usize, t: f64) -> State {
        if t >= self.until {
            return self.end[body];
        }
        if t <= self.from || self.bodies[body].fixed {
            return self.start[body];
        }
        let slot = self.slot(body);
        let mut y = [0.0; PER_BODY];
        self.leg.at(t, slot * PER_BODY..(slot + 1) * PER_BODY, &mut y);
        unpack(&y, &self.bodies[body].inertia)
    }

    /// The states at its start: those given, put on the contacts.
    #[must_use]
    pub fn start(&self) -> &[State] {
        &self.start
    }

    /// The states at its end, on the contacts.
    #[must_use]
    pub fn end(&self) -> &[State] {
        &self.end
    }

    /// What each contact does along its tangent.
    #[must_use]
    pub fn modes(&self) -> &[Mode] {
        &self.modes
    }

    /// The force of a contact at a time within.
    #[must_use]
    pub fn force(&self, contact: usize, t: f64) -> Force {
        let base = self.contact_base + contact * PER_CONTACT;
        let mut rate = [0.0; 4];
        self.leg.rate(t.clamp(self.from, self.until), base..base + 4, &mut rate);
        Force { normal: rate[0], friction: Vector3::new(rate[1], rate[2], rate[3]) }
    }

    /// λ' at a time within: at the start in closed form where all contacts are smooth, elsewhere from the series, which
    /// loses some digits.
    #[must_use]
    pub fn force_rate(&self, contact: usize, t: f64) -> f64 {
        if let Some(rates) = self.start_rates.as_ref().filter(|_| t <= self.from) {
            return rates[contact];
        }
        self.leg.rate_and_slope(t.clamp(self.from, self.until), self.contact_base + contact * PER_CONTACT).1
    }

    /// The integral of a contact's force from the start to a time.
    #[must_use]
    pub fn impulse(&self, contact: usize, t: f64) -> Force {
        let base = self.contact_base + contact * PER_CONTACT;
        let mut sum = [0.0; 4];
        self.leg.at(t.clamp(self.from, self.until), base..base + 4, &mut sum);
        Force { normal: sum[0], friction: Vector3::new(sum[1], sum[2], sum[3]) }
    }

    /// The work of a contact's friction from the start to a time: at most zero.
    #[must_use]
    pub fn friction_work(&self, contact: usize, t: f64) -> f64 {
        let base = self.contact_base + contact * PER_CONTACT + 4;
        let mut sum = [0.0];
        self.leg.at(t.clamp(self.from, self.until), base..base + 1, &mut sum);
        sum[0]
    }

    /// A bound of |c''| of a body over the piece: the sum of its polynomial's coefficients.
    #[must_use]
    pub fn acceleration_bound(&self, body: usize) -> f64 {
        self.bounds[body].acceleration
    }

    /// A bound of |ω'| + |ω|² of a body over the piece, likewise.
    #[must_use]
    pub fn turning_bound(&self, body: usize) -> f64 {
        self.bounds[body].turning
    }

    /// Whether nothing moves, and never will under the forces there are.
    #[must_use]
    pub fn rests(&self) -> bool {
        self.ending == Ending::Until && self.bounds.iter().all(|b| b.acceleration == 0.0 && b.turning == 0.0)
    }

    /// How many times the stages were evaluated.
    #[must_use]
    pub fn iterations(&self) -> u32 {
        self.leg.iterations
    }

    fn slot(&self, body: usize) -> usize {
        self.bodies[..body].iter().filter(|b| !b.fixed).count()
    }
}
