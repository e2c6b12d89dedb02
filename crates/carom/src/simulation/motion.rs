//! How a body moves at present: in free flight, or as a member of a group.

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use super::group::Group;
use crate::body::State;
use crate::motion::{Anchored, Flight, Motion};

/// How a body moves at present.
#[derive(Debug, Clone)]
pub(super) struct BodyMotion {
    pub trajectory: Trajectory,
    /// The time, since the epoch, at which the trajectory begins.
    pub since: f64,
    /// Goes up whenever the trajectory changes.
    pub version: u32,
    /// By how many boxes the body has been wrapped, in all.
    pub boxes: [i32; 3],
    pub effort: Effort,
}

/// What a body's motion has taken lately.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Effort {
    /// The work of its groups since a time of the run, in evaluations of stages.
    pub work: u32,
    pub since: f64,
    /// When it was last handed to time-stepping, and for how long.
    pub troubled: f64,
    pub wait: f64,
    /// How fast its impacts were lately.
    pub approach: f64,
    /// How long its groups lasted lately, if it had any.
    #[serde(default)]
    pub lasted: Option<f64>,
    /// How long a step of theirs was that had all its stages.
    #[serde(default)]
    pub step: Option<f64>,
}

/// The trajectory of a body.
#[derive(Debug, Clone)]
pub(super) enum Trajectory {
    /// Free flight.
    Flight(Box<Flight>),
    /// The motion of this member of this group.
    Grouped { group: u32, member: u32 },
}

impl BodyMotion {
    /// Marks the trajectory as changed, so that predictions made from it are stale.
    pub fn change(&mut self) {
        self.version = self.version.wrapping_add(1);
    }
}

/// The motion of a group's member over the present dense-output step.
#[derive(Clone, Copy)]
pub(super) struct MemberMotion<'a> {
    pub group: &'a Group,
    pub member: usize,
}

impl Motion for MemberMotion<'_> {
    fn at(&self, t: f64) -> State {
        self.group.state(self.member, t)
    }

    fn acceleration(&self) -> Vector3<f64> {
        Vector3::zeros()
    }

    fn acceleration_bound(&self) -> f64 {
        self.group.step.acceleration_bound(self.member)
    }

    fn turning_bound(&self) -> f64 {
        self.group.step.turning_bound(self.member)
    }
}

/// The motion of a body as the contact search needs it.
#[derive(Clone, Copy)]
pub(super) enum SearchMotion<'a> {
    /// Free flight.
    Flight(Anchored<&'a Flight>),
    /// A member of a group.
    Member(MemberMotion<'a>),
}

impl Motion for SearchMotion<'_> {
    fn at(&self, t: f64) -> State {
        match self {
            Self::Flight(motion) => motion.at(t),
            Self::Member(motion) => motion.at(t),
        }
    }

    fn acceleration(&self) -> Vector3<f64> {
        match self {
            Self::Flight(motion) => motion.acceleration(),
            Self::Member(motion) => motion.acceleration(),
        }
    }

    fn acceleration_bound(&self) -> f64 {
        match self {
            Self::Flight(motion) => motion.acceleration_bound(),
            Self::Member(motion) => motion.acceleration_bound(),
        }
    }

    fn turning_bound(&self) -> f64 {
        match self {
            Self::Flight(motion) => motion.turning_bound(),
            Self::Member(motion) => motion.turning_bound(),
        }
    }

    fn angular_acceleration_bound(&self) -> f64 {
        match self {
            Self::Flight(motion) => motion.angular_acceleration_bound(),
            Self::Member(motion) => motion.angular_acceleration_bound(),
        }
    }
}
