//! One step of a flow: its states at any time, its forces, bounds for those who ask what it meets, and how it ends.
//!
//! The step's polynomial is good to the accuracy asked for at every time, so a state within costs one sum.

use nalgebra::Vector3;

use super::flat::Flat;
use super::slips::StoppedSlips;
use super::system::Correction;
use super::time_transformation::place_of;
use super::unknowns::{PER_BODY, PER_CONTACT, PER_FLAT, PER_TIE, unpack};
use super::{Mode, Points};
use crate::body::{Body, State};
use crate::gap::gap_to_plane;
use crate::integrate::gauss::Leg;
use crate::integrate::series::first_fall;
use crate::shape::HalfSpace;

/// How a piece ends, at its `until`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ending {
    /// At the time asked for.
    Until,
    /// Where the accuracy ends the step; it goes on with [`Flow::follow`](super::Flow::follow).
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

/// What a joint exerts on its first body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reaction {
    /// The force.
    pub force: Vector3<f64>,
    /// The torque about the first body's centre of mass.
    pub torque: Vector3<f64>,
}

/// Where a joint's reaction is found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Anchor {
    Tie(usize),
    Rolling { contact: usize, body: usize, plane: HalfSpace },
}

/// What bounds a body's motion within a piece.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    pub acceleration: f64,
    pub turning: f64,
}

/// One step of a flow.
#[derive(Debug, Clone)]
pub struct DenseStep {
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
    /// The unknown that is the time since its start, if the leg runs by a clock, and the place of its end.
    pub(super) clock: Option<usize>,
    pub(super) last: f64,
    /// How many contacts may let go: the others are joints'.
    pub(super) loose: usize,
    /// The flats at its end.
    pub(super) flats: Vec<Option<Flat>>,
    /// The slips of contacts that slip, at its end, as they were carried.
    pub(super) slips: Vec<Option<Vector3<f64>>>,
    /// The forces to which those that are not unique are nearest.
    pub(super) reference: Vec<(f64, Vector3<f64>)>,
    pub(super) modes: Vec<Mode>,
    pub(super) bodies: Vec<Body>,
    pub(super) start: Vec<State>,
    pub(super) end: Vec<State>,
    pub(super) bounds: Vec<Bounds>,
    pub(super) contact_base: usize,
    pub(super) joints: Vec<Anchor>,
    pub(super) next_length: f64,
    /// Whether its stages were put on the rows, whether a singular configuration is near its end, and when it passed one.
    pub(super) onto: bool,
    pub(super) near: bool,
    pub(super) passage: Option<f64>,
    /// The unknowns of the bodies at the end, which states round.
    pub(super) carried: Vec<f64>,
    /// λ' at the start.
    pub(super) start_rates: Option<Vec<f64>>,
    /// The slips that were stopped at its start.
    pub stopped: StoppedSlips,
}

impl DenseStep {
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
        self.leg.at(self.place(t), slot * PER_BODY..(slot + 1) * PER_BODY, &mut y);
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

    /// The force of a contact at a time within. Infinite at the moment a flat is crossed; its integral is not.
    #[must_use]
    pub fn force(&self, contact: usize, t: f64) -> Force {
        let base = self.contact_base + contact * PER_CONTACT;
        let mut rate = [0.0; 4];
        let place = self.place(t);
        self.leg.rate(place, base..base + 4, &mut rate);
        let pace = self.pace(place);
        Force { normal: rate[0] / pace, friction: Vector3::new(rate[1], rate[2], rate[3]) / pace }
    }

    /// λ' at a time within: at the start in closed form where all contacts are smooth, elsewhere from the series, which
    /// loses some digits.
    #[must_use]
    pub fn force_rate(&self, contact: usize, t: f64) -> f64 {
        if let Some(rates) = self.start_rates.as_ref().filter(|_| t <= self.from) {
            return rates[contact];
        }
        let place = self.place(t);
        let (force, slope) = self.leg.rate_and_slope(place, self.contact_base + contact * PER_CONTACT);
        // Of s λ by σ to that of λ by t.
        self.clock.map_or(slope, |clock| {
            let (pace, change) = self.leg.rate_and_slope(place, clock);
            (slope - force * change / pace) / (pace * pace)
        })
    }

    /// The integral of a contact's force from the start to a time.
    #[must_use]
    pub fn impulse(&self, contact: usize, t: f64) -> Force {
        let base = self.contact_base + contact * PER_CONTACT;
        let mut sum = [0.0; 4];
        self.leg.at(self.place(t), base..base + 4, &mut sum);
        Force { normal: sum[0], friction: Vector3::new(sum[1], sum[2], sum[3]) }
    }

    /// The work of a contact's friction from the start to a time: at most zero.
    #[must_use]
    pub fn friction_work(&self, contact: usize, t: f64) -> f64 {
        let base = self.contact_base + contact * PER_CONTACT + 4;
        let mut sum = [0.0];
        self.leg.at(self.place(t), base..base + 1, &mut sum);
        sum[0]
    }

    /// What a joint exerts on its first body at a time within. Near a singular configuration
    /// [`Flow::reaction`](super::Flow::reaction) says it better.
    #[must_use]
    pub fn reaction(&self, joint: usize, t: f64) -> Reaction {
        let t = t.clamp(self.from, self.until);
        match &self.joints[joint] {
            Anchor::Tie(base) => {
                let mut rate = [0.0; PER_TIE];
                let place = self.place(t);
                self.leg.rate(place, *base..base + PER_TIE, &mut rate);
                let pace = self.pace(place);
                Reaction {
                    force: Vector3::new(rate[0], rate[1], rate[2]) / pace,
                    torque: Vector3::new(rate[3], rate[4], rate[5]) / pace,
                }
            }
            Anchor::Rolling { contact, body, plane } => {
                let force = self.force(*contact, t);
                let state = self.at(*body, t);
                let foot = gap_to_plane(&self.bodies[*body].shape, &state.pose(), plane).points[0];
                let total = *plane.normal * force.normal + force.friction;
                Reaction { force: total, torque: (foot - state.position).cross(&total) }
            }
        }
    }

    /// The force of a rolling joint's contact at a time within; none of other joints.
    #[must_use]
    pub fn rolling_force(&self, joint: usize, t: f64) -> Option<Force> {
        match self.joints[joint] {
            Anchor::Rolling { contact, .. } => Some(self.force(contact, t.clamp(self.from, self.until))),
            Anchor::Tie(_) => None,
        }
    }

    /// When a rolling joint's normal force first falls to zero, if it does: from bounds on the bend of its series, so that no short
    /// dip is missed. Forces within `none` of zero at the start count as zero, and the first beyond decides.
    #[must_use]
    pub fn first_pull(&self, joint: usize, none: f64) -> Option<f64> {
        let Anchor::Rolling { contact, .. } = self.joints[joint] else { return None };
        let (series, terms) = self.leg.series(self.contact_base + contact * PER_CONTACT);
        // By a clock, forces are times its pace, which is positive.
        let slowest = self.clock.map_or(1.0, |clock| self.leg.series(clock).0.iter().map(|a| a.abs()).sum());
        let place = self.leg.time(first_fall(&series[..terms], none * slowest)?);
        let time = self.clock.map_or(place, |clock| {
            let mut elapsed = [0.0];
            self.leg.at(place, clock..clock + 1, &mut elapsed);
            self.from + elapsed[0]
        });
        (time <= self.until).then_some(time)
    }

    /// A bound of |c''| of a body over the piece: the sum of its polynomial's coefficients. In a piece that crosses a flat, where
    /// c'' is infinite, an acceleration that stands for it: such a piece is so short that what this leaves out moves nothing by
    /// more than 10⁻¹⁵ of the size.
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

    /// When it passed a singular configuration of a linkage, where branches of the motion meet, if it did.
    #[must_use]
    pub fn singular_passage(&self) -> Option<f64> {
        self.passage
    }

    /// Its length, if it had all stages and was made in time.
    #[must_use]
    pub fn full_length(&self) -> Option<f64> {
        (self.clock.is_none() && self.leg.stages() == super::STAGES).then_some(self.leg.length)
    }

    /// How many times a stage was evaluated.
    #[must_use]
    pub fn evaluations(&self) -> u32 {
        let stages = u32::try_from(self.leg.stages()).unwrap_or(u32::MAX);
        self.leg.iterations.saturating_mul(stages)
    }

    /// Whether some contact is nearly flat at its end, so that the contact point is known better than states tell.
    #[must_use]
    pub fn nears_flat(&self) -> bool {
        self.flats.iter().any(Option::is_some)
    }

    /// What it knows of contact points near flats at a time within, better than states tell.
    #[must_use]
    pub fn points(&self, t: f64) -> Points {
        let mut found: Vec<Option<[Vector3<f64>; 2]>> = vec![None; self.flats.len()];
        if let Some(clock) = self.clock {
            let place = self.place(t);
            let flats = (0..self.flats.len()).filter(|&i| self.flats[i].is_some());
            for (k, i) in flats.enumerate() {
                let base = clock + 1 + k * PER_FLAT;
                let mut at = [0.0; PER_FLAT];
                self.leg.at(place, base..base + PER_FLAT, &mut at);
                found[i] = Some([Vector3::new(at[0], at[1], at[2]), Vector3::new(at[3], at[4], at[5])]);
            }
        }
        let joint = |anchor: &Anchor| match *anchor {
            Anchor::Rolling { contact, .. } => found[contact],
            Anchor::Tie(_) => None,
        };
        let joints = self.joints.iter().map(joint).collect();
        found.truncate(self.loose);
        Points { contacts: found, joints }
    }

    /// Whether it rolls across a flat, by a clock of its own.
    #[must_use]
    pub fn rolls_across_flat(&self) -> bool {
        self.clock.is_some()
    }

    /// The place in its leg of a time, which is that time unless there is a clock.
    fn place(&self, t: f64) -> f64 {
        let Some(clock) = self.clock else { return t.clamp(self.from, self.until) };
        if t >= self.until {
            return self.last;
        }
        place_of(&self.leg, clock, t - self.from, self.last)
    }

    /// dt/dσ at a place, or one.
    fn pace(&self, place: f64) -> f64 {
        let mut pace = [1.0];
        if let Some(clock) = self.clock {
            self.leg.rate(place, clock..clock + 1, &mut pace);
        }
        pace[0]
    }

    fn slot(&self, body: usize) -> usize {
        self.bodies[..body].iter().filter(|b| !b.fixed).count()
    }
}
