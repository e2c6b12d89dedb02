//! Newton's law with complementarity, the default (T4): 0 ≤ p ⟂ y⁺ + K y⁻ ≥ 0.
//!
//! v⁺ is the velocity nearest to v⁻ in the kinetic metric with N v ≥ −K N v⁻ on all contacts that close or
//! touch. For smooth contacts with k ≤ 1 it always exists, is unique whatever the rank and gains no energy.

use super::{Resolution, Situation, complementarity};

pub(super) fn step(situation: &Situation) -> Option<Resolution> {
    let meeting = situation.meeting_contacts();
    (!meeting.is_empty()).then(|| complementarity::newton(situation, &meeting))
}
