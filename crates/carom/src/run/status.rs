//! What a run says of itself: what it has counted, why it ended, what could not be followed, and why it cannot begin.

use serde::{Deserialize, Serialize};

use crate::contact::Side;
use crate::flow::Obstacle;

/// What a run has counted, whichever engine ran it; what an engine does not do it does not count.
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
    /// Grazes: touches without approach.
    pub grazes: u64,
    /// Holds begun.
    pub holds: u64,
    /// Collisions made elastic because they followed another too soon.
    pub elastic: u64,
    /// Bodies that looked for their next event.
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
    /// The time asked for was reached.
    Until,
    /// The number of events asked for was reached.
    MaxEvents,
    /// At a paradox, as asked.
    Paradox,
    /// Whoever drives the run ended it.
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
    /// When.
    pub time: f64,
    /// Who; a plane counts as the first side.
    pub sides: [Side; 2],
    /// What was wrong.
    pub cause: Cause,
}

/// Why a motion could not be followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The search for the pair's next contact does not come forward: the motion is too fast, or its magnitudes too far apart.
    Search,
    /// The impact law has no answer.
    Law,
    /// Contacts at rest have no consistent forces, or the motion that holds them has none.
    Hold(Obstacle),
    /// Bodies tied by joints or loads, without contacts, have no motion from here.
    Tied(Obstacle),
    /// Two touch without approach and would sink into each other, the paradox, and no contact is held here: in [`crate::edmd`].
    Unheld,
}

/// Something that makes a scene no start of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum InvalidStart {
    /// The periodic box is too short for this body: it could touch its own image.
    BoxTooShort {
        /// The body.
        body: usize,
    },
    /// Two overlap by this depth.
    Overlap {
        /// The first side.
        first: Side,
        /// The second, a body.
        second: usize,
        /// How deep.
        depth: f64,
    },
    /// A body's motion is more than floating point holds.
    Motion {
        /// The body.
        body: usize,
    },
    /// A rolling body is off its plane by this much.
    OffPlane {
        /// The joint.
        joint: usize,
        /// How far, negative below.
        gap: f64,
    },
    /// A joint forbids a velocity that its bodies have.
    OffJoint {
        /// The joint.
        joint: usize,
        /// How much of it.
        velocity: f64,
    },
    /// A joint is given as rows at an instant, and has no motion to follow.
    Instant {
        /// The joint.
        joint: usize,
    },
    /// Tied bodies have no motion from here.
    Tied {
        /// One of them.
        body: usize,
        /// What is wrong.
        obstacle: Obstacle,
    },
}
