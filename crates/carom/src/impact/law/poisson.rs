//! Poisson's law with complementarity (T5).
//!
//! Compression 0 ≤ p_c ⟂ y⁻ + W p_c ≥ 0; expansion gives back K p_c, and more where a contact would close:
//! 0 ≤ p_e − K p_c ⟂ y_c + W p_e ≥ 0. Tangents of rough contacts stick in compression and get e_t p_c back.
//! Never gains energy. Dependent contacts with unequal k share p_c in more than one way, and v⁺ depends on it:
//! p_c of least norm is taken, and another answer is looked for at the ends of the set of all p_c. The velocities that lead to
//! one v⁺ form a convex set (the expansion is a projection), so that ends with the same v⁺ vouch for what is between them.

use super::{Resolution, Situation, complementarity};
use crate::impact::active::{Requirement, nearest};
use crate::impact::determinacy::{SHARING_ROWS, rows_of, sharings};
use crate::metric::norm;

pub(super) fn step(situation: &Situation) -> Option<Resolution> {
    let meeting = situation.meeting_contacts();
    if meeting.is_empty() {
        return None;
    }
    let system = situation.system;
    let requirements: Vec<Requirement> = situation
        .rows_of(&meeting)
        .into_iter()
        .map(|(row, equality)| {
            let speed = situation.unit_speed(row);
            Requirement { row, least: if equality { -speed } else { -speed.min(0.0) }, equality }
        })
        .collect();
    let found = nearest(&system.rows, &requirements, system.tolerance);
    let compression = complementarity::settle(system, &requirements, &found.p, &found.slack, found.u, 0.0);
    let expansion = expand(situation, &requirements, &compression.u, &compression.impulses);
    // Uniform on every circuit, k gives back the same however p_c is shared.
    let unequal = compression.circuits.iter().any(|circuit| {
        circuit.iter().any(|&(row, _)| situation.restitution(row) != situation.restitution(circuit[0].0))
    });
    let (alternative, undecided) =
        if unequal { another(situation, &requirements, &compression, &expansion.u) } else { (None, false) };
    let mut total = compression;
    for (p, extra) in total.impulses.iter_mut().zip(&expansion.impulses) {
        *p += extra;
    }
    // Given back with coefficient −1, a shift of the compression leaves nothing of itself.
    total.circuits.retain(|circuit| circuit.iter().any(|&(row, _)| situation.restitution(row) > -1.0));
    total.u = expansion.u;
    total.circuits.extend(expansion.circuits);
    total.alternative = alternative;
    total.undecided = undecided;
    Some(total)
}

/// The impulses of the expansion, and the change of velocity by compression and expansion together.
fn expand(
    situation: &Situation,
    requirements: &[Requirement],
    compressed: &[f64],
    p_c: &[f64],
) -> Resolution {
    let system = situation.system;
    let given_back: Vec<f64> =
        requirements.iter().zip(p_c).map(|(d, p)| situation.restitution(d.row) * p).collect();
    let mut u = compressed.to_vec();
    for (d, p) in requirements.iter().zip(&given_back) {
        system.rows.add_to(d.row, p * system.lengths[d.row], &mut u);
    }
    let normals: Vec<usize> = (0..requirements.len()).filter(|&k| !requirements[k].equality).collect();
    let more: Vec<Requirement> = normals
        .iter()
        .map(|&k| {
            let row = requirements[k].row;
            let least = -(situation.unit_speed(row).min(0.0) + system.rows.dot(row, &u));
            Requirement { row, least, equality: false }
        })
        .collect();
    let found = nearest(&system.rows, &more, system.tolerance);
    let settled = complementarity::settle(system, &more, &found.p, &found.slack, found.u, norm(&u));
    let mut impulses = given_back;
    for (&k, p) in normals.iter().zip(&settled.impulses) {
        impulses[k] += p;
    }
    for (u, more) in u.iter_mut().zip(&settled.u) {
        *u += more;
    }
    Resolution { impulses, u, ..settled }
}

/// A different change of velocity that the law allows as well, if sharing p_c differently leads to one; and whether there may
/// be one that was not found, the rows being too many to look everywhere.
fn another(
    situation: &Situation,
    requirements: &[Requirement],
    compression: &Resolution,
    chosen: &[f64],
) -> (Option<Vec<f64>>, bool) {
    const TRIALS: usize = 64;
    let shared = rows_of(&compression.circuits);
    if shared.len() > SHARING_ROWS {
        return (None, true);
    }
    let places: Vec<usize> =
        (0..requirements.len()).filter(|&k| shared.binary_search(&requirements[k].row).is_ok()).collect();
    let rows: Vec<usize> = places.iter().map(|&k| requirements[k].row).collect();
    let part: Vec<f64> = places.iter().map(|&k| compression.impulses[k]).collect();
    let equality: Vec<bool> = places.iter().map(|&k| requirements[k].equality).collect();
    let lengths = &situation.system.lengths;
    for sharing in sharings(lengths, &rows, &part, &equality, &compression.circuits, TRIALS) {
        let mut p_c = compression.impulses.clone();
        for (&k, p) in places.iter().zip(sharing) {
            p_c[k] = p;
        }
        let other = expand(situation, requirements, &compression.u, &p_c).u;
        let apart: Vec<f64> = other.iter().zip(chosen).map(|(a, b)| a - b).collect();
        if norm(&apart) > 100.0 * situation.system.tolerance * norm(chosen) {
            return (Some(other), false);
        }
    }
    (None, rows.len() > TRIALS)
}
