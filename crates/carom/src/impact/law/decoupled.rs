//! Each contact as if it were alone (T7; Stănescu and Pandrea 2017, eq. 23 with the sign corrected): p_i = −(1+k_i) y_i⁻ / W_ii.
//!
//! Right only where the off-diagonal inertances vanish on the data; otherwise it misses the restitution, can leave
//! contacts closing and can gain energy even at k = 0. It is made in one step and not repeated: to compare with. Only where a
//! contact with Coulomb friction then closes are contacts taken in turn, as under every law.

use super::{Resolution, Situation, equality};

pub(super) fn step(situation: &Situation) -> Option<Resolution> {
    if situation.acted {
        return None;
    }
    let mut closing = situation.closing_contacts();
    closing.retain(|&c| !situation.in_turn.contains(&situation.part_of(c)));
    if closing.is_empty() {
        return None;
    }
    let system = situation.system;
    let mut all = Resolution { u: vec![0.0; system.rows.dimension], ..Resolution::default() };
    let mut add = |ids: &[usize]| {
        let alone = equality::solve(situation, ids);
        all.rows.extend(alone.rows);
        all.impulses.extend(alone.impulses);
        for (u, more) in all.u.iter_mut().zip(&alone.u) {
            *u += more;
        }
        all.residual = all.residual.or(alone.residual);
        all.circuits.extend(alone.circuits);
    };
    for &contact in &closing {
        let rows = situation.rows_of(&[contact]);
        let own: Vec<usize> =
            rows.iter().map(|&(row, _)| row).filter(|row| !situation.loose.contains(row)).collect();
        add(&own);
    }
    for &row in situation.loose.iter().filter(|&&row| !system.blocked[row]) {
        add(&[row]);
    }
    Some(all)
}
