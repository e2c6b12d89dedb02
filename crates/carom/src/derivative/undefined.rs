//! Why a run has no derivative, or none that is computed.

use std::fmt;

/// Why there is no derivative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// Bodies touch without approach: neighbours miss each other, or meet at a speed that grows like a square root.
    Graze,
    /// Several contacts of one body meet at one time: neighbours meet them one after the other, in either order.
    Tie,
    /// Bodies touch at the start and neither close nor separate: neighbours do, or overlap.
    Touching,
    /// The surfaces fit along a flat: the contact point is not determined.
    Flat,
    /// A paradox: the contact force begins from nothing.
    Paradox,
    /// Slip from rest: neighbours slide in directions of their own before they follow.
    SlipFromRest,
    /// Friction just holds, or just does not.
    StickLimit,
    /// Friction locks the contact, or the impact has no regular end.
    Degenerate,
    /// The impact was taken as plastic, because it was slower than the rest speed.
    RestSpeed,
    /// Contacts persist, at rest, rolling, sliding or by a paradox: derivatives of such motion are not computed.
    Persistent,
    /// Bodies pass through each other.
    Interpenetration,
    /// Time steps carried the bodies on.
    Stepped,
    /// Joints or loads act on the bodies: derivatives of such motion are not computed.
    Constrained,
    /// The impact as replayed is not the one recorded.
    Mismatch,
    /// One of the bodies has none since an earlier event.
    Earlier,
}

impl Cause {
    /// Whether there is a derivative that is not computed, and not none.
    #[must_use]
    pub const fn is_uncovered(self) -> bool {
        matches!(self, Self::Persistent | Self::Constrained | Self::Stepped | Self::Mismatch)
    }

    /// Its name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Graze => "graze",
            Self::Tie => "tie",
            Self::Touching => "touching",
            Self::Flat => "flat",
            Self::Paradox => "paradox",
            Self::SlipFromRest => "slip_from_rest",
            Self::StickLimit => "stick_limit",
            Self::Degenerate => "degenerate",
            Self::RestSpeed => "rest_speed",
            Self::Persistent => "persistent",
            Self::Interpenetration => "interpenetration",
            Self::Stepped => "stepped",
            Self::Constrained => "constrained",
            Self::Mismatch => "mismatch",
            Self::Earlier => "earlier",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Graze => {
                "they touch without approach: of the motions nearby some miss, and the others meet at a speed that grows like a square root"
            }
            Self::Tie => "several contacts meet at one time: motions nearby meet them in different orders",
            Self::Touching => {
                "they touch at the start and neither close nor separate: motions nearby do, or begin with an overlap"
            }
            Self::Flat => "the surfaces are flat where they touch: the contact point has no derivative",
            Self::Paradox => "a paradox: motions nearby have an impact, a force, or neither",
            Self::SlipFromRest => {
                "the contact slips from rest: motions nearby slide in other directions first"
            }
            Self::StickLimit => "friction just holds the contact, or just does not",
            Self::Degenerate => "friction locks the contact, or it does not end regularly",
            Self::RestSpeed => "the impact was slower than the rest speed and was taken as plastic",
            Self::Persistent => {
                "a contact persists: derivatives of resting, rolling, sliding and held contacts are not computed yet"
            }
            Self::Interpenetration => "the bodies pass through each other",
            Self::Stepped => "time steps carried the bodies on: derivatives of them are not computed",
            Self::Constrained => {
                "joints or loads act on the bodies: derivatives of such motion are not computed yet"
            }
            Self::Mismatch => {
                "the impact as it was recorded is not that of the law on one contact: its derivative is not computed"
            }
            Self::Earlier => "one of the bodies has no derivative since an earlier event",
        })
    }
}
