//! Newton's law as an equality on all rows, whatever their sign (T1, T2): y⁺ = −K y⁻.
//!
//! With one coefficient μ it is v⁺ = (I − (1+μ)P) v⁻. With unequal coefficients it can pull, gain energy (T3) or
//! have no solution; the outcome says so.

use super::{Resolution, Situation, equality};
use crate::impact::problem::{Contact, Surface};

pub(super) fn step(situation: &Situation) -> Option<Resolution> {
    if situation.own_steps > 0 {
        return None;
    }
    let mut ids = situation.system.free_rows();
    if situation.steps > 0 {
        // Contacts with friction, and others with them, have been taken one by one; what still closes is left.
        let closing = situation.closing_contacts();
        if closing.is_empty() {
            return None;
        }
        ids = situation.rows_of(&closing).into_iter().map(|(row, _)| row).collect();
    }
    // Friction decides about its own tangents; an equality would make the contact rough.
    ids.retain(|row| {
        let with_friction = |c: &&Contact| matches!(c.surface, Surface::Coulomb(_));
        !situation.contacts.iter().filter(with_friction).any(|c| c.tangent.contains(row))
    });
    let moving = ids.iter().any(|&row| situation.y[row].abs() > situation.noise(row));
    moving.then(|| equality::solve(situation, &ids))
}
