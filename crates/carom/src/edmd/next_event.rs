//! A body's next event. Each body has exactly one; a contact is the next event of both its bodies.

use serde::{Deserialize, Serialize};

/// No body: the end of a chain.
pub(super) const NONE: u32 = u32::MAX;
/// The body leaves its neighbourhood.
pub(super) const LEAVE: u32 = u32::MAX - 1;
/// The body re-predicts its next event.
pub(super) const REPREDICT: u32 = u32::MAX - 2;
/// Partners from here on are planes: this plus the plane's number.
pub(super) const PLANE: u32 = 1 << 31;

/// A body's next event.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct NextEvent {
    /// The time; infinite if there is no event.
    pub time: f64,
    /// The body or plane that is touched, or one of the codes above.
    #[serde(alias = "with")]
    pub partner: u32,
    /// Which periodic image of the partner.
    pub image: u16,
    /// Whether the search ended at a contact without approach at which the bodies would sink into each other.
    pub sinks: bool,
}

impl NextEvent {
    pub const NEVER: Self = Self { time: f64::INFINITY, partner: REPREDICT, image: 0, sinks: false };

    /// The body leaves its neighbourhood.
    pub fn leave(time: f64) -> Self {
        Self { time, partner: LEAVE, ..Self::NEVER }
    }

    /// The body re-predicts.
    pub fn repredict(time: f64) -> Self {
        Self { time, ..Self::NEVER }
    }
}
