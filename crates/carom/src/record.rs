//! What a run produces: events, samples, and the balance of the whole.
//!
//! An event that several contacts share (a simultaneous impact) has one entry per contact, all with the same number,
//! time and energies.

use std::sync::Arc;

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use crate::body::State;
use crate::contact::Side;
use crate::contact::classify::Type;
use crate::impact::mechanism::JointOutcome;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Impulses were exchanged.
    Impact,
    /// A touch without approach that parts by itself.
    Graze,
    /// A contact is held from here on, by a workless force.
    HoldBegin,
    /// A held contact parts: its force has returned to zero, or an impact opened it.
    HoldEnd,
    /// Accumulating bounces have ended: the contact is held from here on.
    Rest,
    /// A contact that could not be held was passed through; the bodies overlap from here on.
    PassBegin,
    /// Bodies that had passed into one another are apart again.
    PassEnd,
    /// A rolling joint would need more friction than its surface has: it is released, and the contact slides.
    Slip,
    /// The run ends at a paradox.
    Stop,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Impact,
        Self::Graze,
        Self::HoldBegin,
        Self::HoldEnd,
        Self::Rest,
        Self::PassBegin,
        Self::PassEnd,
        Self::Slip,
        Self::Stop,
    ];

    /// Its name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Impact => "impact",
            Self::Graze => "graze",
            Self::HoldBegin => "hold_begin",
            Self::HoldEnd => "hold_end",
            Self::Rest => "rest",
            Self::PassBegin => "pass_begin",
            Self::PassEnd => "pass_end",
            Self::Slip => "slip",
            Self::Stop => "stop",
        }
    }
}

/// One contact of an event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The number of the event, from zero.
    pub number: u64,
    /// When.
    pub time: f64,
    /// A bound on the error of the time, given the motion that led to it.
    pub time_error: f64,
    /// What happened.
    pub kind: Kind,
    /// The sides; a plane counts as the first.
    pub sides: [Side; 2],
    /// Which image of the second body, in whole boxes.
    pub image: [i32; 3],
    /// Where, beside the first body's place in the box.
    pub point: Vector3<f64>,
    /// From the first to the second.
    pub normal: Vector3<f64>,
    /// From the centre of the first body to that of the second's image; zero where a plane is the first side.
    pub between: Vector3<f64>,
    /// The gap as the positions have it.
    pub gap: f64,
    /// n·(v_second − v_first) before; negative: closing.
    pub approach: f64,
    /// The same after.
    pub separation: f64,
    /// The normal impulse; of a hold that ends, ∫λ dt.
    pub impulse: f64,
    /// The impulse on the second body.
    pub impulse_vector: Vector3<f64>,
    /// The contact's type.
    pub class: Type,
    /// The second derivative of the gap in free motion, where it was asked for.
    pub g2: Option<f64>,
    /// The third, likewise.
    pub g3: Option<f64>,
    /// The slope at which the force of a hold begins.
    pub force_slope: Option<f64>,
    /// Of bounces that accumulate: the time of their end, with its error.
    pub limit: Option<[f64; 2]>,
    /// What the joints of the bodies concerned carried in an impact; the same for all contacts of an event.
    pub joints: Option<Arc<[JointImpulse]>>,
    /// The energy of all bodies before, potential energy included.
    pub energy_before: f64,
    /// The same after.
    pub energy_after: f64,
}

/// What a joint carried in an impact.
#[derive(Debug, Clone, PartialEq)]
pub struct JointImpulse {
    /// The number of the joint in its scene.
    pub joint: usize,
    /// The impulse of each of its rows.
    pub impulse: Vec<f64>,
    /// The resultant on its first body.
    pub linear: Vector3<f64>,
    /// The moment on its first body about [`point`](Self::point).
    pub angular: Vector3<f64>,
    /// The joint's point, where it was.
    pub point: Vector3<f64>,
    /// Whether the rigid model determines it; otherwise it is that of least norm.
    pub determined: bool,
}

impl JointImpulse {
    /// What the impact solver says of a joint.
    pub(crate) fn new(joint: usize, result: &JointOutcome) -> Self {
        Self {
            joint,
            impulse: result.impulse.clone(),
            linear: result.linear,
            angular: result.angular,
            point: result.point,
            determined: result.determined,
        }
    }
}

/// What a joint exerts on its first body at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointReaction {
    /// When.
    pub time: f64,
    /// The number of the joint in its scene.
    pub joint: usize,
    /// The joint's point, where it is.
    pub point: Vector3<f64>,
    /// The force.
    pub force: Vector3<f64>,
    /// The torque about the point.
    pub torque: Vector3<f64>,
}

/// When and why a state is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    /// At the sampling interval.
    Sample,
    /// Just before the event of this number.
    Before(u64),
    /// Just after.
    After(u64),
}

/// A body's state at a moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// When.
    pub time: f64,
    /// Why.
    pub moment: Moment,
    /// The body's number.
    pub body: usize,
    /// Its state; in a periodic box the position runs on beyond the walls.
    pub state: State,
}

impl Event {
    /// What the joints carried.
    #[must_use]
    pub fn joints(&self) -> &[JointImpulse] {
        self.joints.as_deref().unwrap_or_default()
    }
}

/// Takes what a run produces, in the order of time.
pub trait Recorder {
    /// An event's contacts.
    fn events(&mut self, events: &[Event]);
    /// Some bodies' states.
    fn samples(&mut self, samples: &[Sample]);
    /// What the joints exert, at the times of samples.
    fn reactions(&mut self, _: &[JointReaction]) {}
    /// Whether the states before and after each event are asked for.
    fn wants_states(&self) -> bool {
        true
    }
}

/// Everything in memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Memory {
    /// The events.
    pub events: Vec<Event>,
    /// The samples.
    pub samples: Vec<Sample>,
    /// The joints' reactions.
    pub reactions: Vec<JointReaction>,
}

impl Recorder for Memory {
    fn events(&mut self, events: &[Event]) {
        self.events.extend_from_slice(events);
    }

    fn samples(&mut self, samples: &[Sample]) {
        self.samples.extend_from_slice(samples);
    }

    fn reactions(&mut self, reactions: &[JointReaction]) {
        self.reactions.extend_from_slice(reactions);
    }
}

/// Keeps nothing.
impl Recorder for () {
    #[inline(always)]
    fn events(&mut self, _: &[Event]) {}
    fn samples(&mut self, _: &[Sample]) {}
    fn wants_states(&self) -> bool {
        false
    }
}
