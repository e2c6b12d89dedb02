//! Newton's law as an equality on all rows, whatever their sign (T1, T2): y⁺ = −K y⁻.
//!
//! With one coefficient μ it is v⁺ = (I − (1+μ)P) v⁻. With unequal coefficients it can pull, gain energy (T3) or
//! have no solution; the outcome says so.

use super::{Resolution, Situation, equality};
use crate::impact::problem::Surface;

pub(super) fn step(situation: &Situation) -> Option<Resolution> {
    if situation.steps > 0 {
        return None;
    }
    let mut ids = situation.system.free_rows();
    // Friction decides about its own tangents; an equality would make the contact rough.
    let with_friction = |row: &usize| {
        situation.contacts.iter().any(|c| matches!(c.surface, Surface::Coulomb(_)) && c.tangent.contains(row))
    };
    if situation.contacts.iter().any(|c| matches!(c.surface, Surface::Coulomb(_))) {
        ids.retain(|row| !with_friction(row));
    }
    let moving = ids.iter().any(|&row| situation.y[row].abs() > situation.noise(row));
    moving.then(|| equality::solve(situation, &ids))
}
