//! The status of a run: its counts, why it ended, what could not be followed, and why initial states are invalid.

use serde::{Deserialize, Serialize};

use crate::contact::Side;
use crate::flow::Obstacle;

/// The counts of a run. Each engine counts only what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Counts {
    /// Events; an impact is one, however many contacts it has.
    pub events: u64,
    /// Events that are impacts.
    pub impacts: u64,
    /// Contacts that closed in those, each counted.
    pub collisions: u64,
    /// Impacts of several contacts at once.
    pub clusters: u64,
    /// Grazes: contacts without approach.
    pub grazes: u64,
    /// Holds begun.
    pub holds: u64,
    /// Collisions made elastic because they followed another too closely.
    pub elastic: u64,
    /// Bodies whose next event was predicted.
    pub predictions: u64,
    /// Pairs searched for a contact with the certificate.
    pub searches: u64,
    /// Gaps evaluated in those searches.
    pub gaps: u64,
    /// Bodies that left their neighbourhood.
    pub moves: u64,
    /// Samples taken.
    pub samples: u64,
    /// Events in a row that did not move the clock.
    pub(crate) stalled: u64,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// The run reached the time to stop at.
    Until,
    /// The run reached its last event.
    MaxEvents,
    /// The run reached a paradox, and the scene asks to stop there.
    Paradox,
    /// The caller ended the run.
    Interrupted,
    /// Events accumulate at one time without end.
    Stalled,
    /// A motion or a contact could not be followed; [`Simulation::failure`](crate::simulation::Simulation::failure) says which.
    #[serde(alias = "lost")]
    Failed,
}

/// What could not be followed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Failure {
    /// The time.
    pub time: f64,
    /// The sides; a plane is the first.
    pub sides: [Side; 2],
    /// Why.
    pub cause: Cause,
}

/// Why a motion could not be followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The search for the pair's next contact makes no progress: the motion is too fast, or its magnitudes are too far apart.
    Search,
    /// The impact law has no solution.
    Law,
    /// Persistent contacts have no consistent forces, or the motion under them cannot be computed.
    PersistentContact(Obstacle),
    /// The motion of bodies constrained by joints or loads, without contacts, cannot be computed.
    Constrained(Obstacle),
    /// Two bodies touch without approach and would interpenetrate, the paradox, and the many-body engine has no persistent contacts.
    Unsupported,
}

/// Why initial states are invalid.
#[derive(Debug, Clone, PartialEq)]
pub enum InvalidStart {
    /// The periodic box is too short for this body: it could touch its own image.
    BoxTooShort {
        /// The body.
        body: usize,
    },
    /// Two bodies, or a body and a plane, overlap.
    Overlap {
        /// The first side.
        first: Side,
        /// The second, a body.
        second: usize,
        /// The depth.
        depth: f64,
    },
    /// A body's motion exceeds the range of floating point.
    Motion {
        /// The body.
        body: usize,
    },
    /// A rolling body is off its plane.
    OffPlane {
        /// The joint.
        joint: usize,
        /// The gap, negative below the plane.
        gap: f64,
    },
    /// A joint forbids a velocity that its bodies have.
    OffJoint {
        /// The joint.
        joint: usize,
        /// The part of the velocity that the joint forbids.
        velocity: f64,
    },
    /// A joint is given as rows at an instant, which do not define a motion.
    Instant {
        /// The joint.
        joint: usize,
    },
    /// The motion of constrained bodies cannot be computed.
    Constrained {
        /// One of them.
        body: usize,
        /// Why.
        obstacle: Obstacle,
    },
}
