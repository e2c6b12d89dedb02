//! Newton's law as an equality on all rows, whatever their sign (T1, T2): y⁺ = −K y⁻.
//!
//! With one coefficient μ it is v⁺ = (I − (1+μ)P) v⁻. With unequal coefficients it can pull, gain energy (T3) or
//! have no solution; the outcome says so. It is made in one step. Contacts with Coulomb friction are not among the rows: friction
//! takes them when they close, and one that separates is left alone.

use super::{Resolution, Situation, equality};
use crate::impact::problem::Surface;

pub(super) fn step(situation: &Situation) -> Option<Resolution> {
    if situation.acted {
        return None;
    }
    let mut with_friction = vec![false; situation.y.len()];
    for contact in situation.contacts.iter().filter(|c| matches!(c.surface, Surface::Coulomb(_))) {
        contact.rows().for_each(|row| with_friction[row] = true);
    }
    let mut ids = situation.system.free_rows();
    ids.retain(|&row| !with_friction[row] && !situation.in_turn.contains(&situation.system.part[row]));
    let moving = ids.iter().any(|&row| situation.y[row].abs() > situation.noise(row));
    moving.then(|| equality::solve(situation, &ids))
}
