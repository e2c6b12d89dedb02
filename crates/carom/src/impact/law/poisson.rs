//! Poisson's law with complementarity (T5).
//!
//! Compression 0 ≤ p_c ⟂ y⁻ + W p_c ≥ 0; expansion gives back K p_c, and more where a contact would close:
//! 0 ≤ p_e − K p_c ⟂ y_c + W p_e ≥ 0. Tangents of rough contacts stick in compression and get e_t p_c back.
//! Never gains energy. Dependent contacts with unequal k share p_c in more than one way, and v⁺ depends on it:
//! p_c of least norm is taken, and another answer is looked for by favouring each contact in turn.

use super::{Resolution, Situation, complementarity};
use crate::impact::active::{Requirement, nearest};
use crate::impact::determinacy::{SHARING_ROWS, least_norm};
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
    let compression = complementarity::settle(system, &requirements, &found.p, &found.slack, found.u);
    let expansion = expand(situation, &requirements, &compression.u, &compression.impulses);
    let too_many = requirements.len() > SHARING_ROWS;
    let undecided = too_many && compression.shiftable && !unequal_rows(situation, &compression).is_empty();
    let alternative = if compression.shiftable && !too_many {
        another(situation, &requirements, &compression, &expansion.u)
    } else {
        None
    };
    let mut total = compression;
    for (p, extra) in total.impulses.iter_mut().zip(&expansion.impulses) {
        *p += extra;
    }
    total.u = expansion.u;
    total.circuits.extend(expansion.circuits);
    total.shiftable |= expansion.shiftable;
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
    let settled = complementarity::settle(system, &more, &found.p, &found.slack, found.u);
    let mut impulses = given_back;
    for (&k, p) in normals.iter().zip(&settled.impulses) {
        impulses[k] += p;
    }
    for (u, more) in u.iter_mut().zip(&settled.u) {
        *u += more;
    }
    Resolution { impulses, u, ..settled }
}

/// A different change of velocity that the law allows as well, if sharing p_c differently leads to one: each row of
/// a circuit with unequal coefficients in turn is made to take as much of p_c as it can, or as little.
fn another(
    situation: &Situation,
    requirements: &[Requirement],
    compression: &Resolution,
    chosen: &[f64],
) -> Option<Vec<f64>> {
    const TRIALS: usize = 32;
    let rows = &compression.rows;
    let lengths = &situation.system.lengths;
    let equality: Vec<bool> = requirements.iter().map(|d| d.equality).collect();
    let favoured = unequal_rows(situation, compression);
    let trials = favoured.iter().take(TRIALS).flat_map(|&row| [(row, 1e-8), (row, 1e8)]);
    for (favourite, burden) in trials {
        let weight = |row: usize| lengths[row] * if row == favourite { burden } else { 1.0 };
        let shared = least_norm(rows, &compression.impulses, &equality, &compression.binding, weight);
        let other = expand(situation, requirements, &compression.u, &shared).u;
        let apart: Vec<f64> = other.iter().zip(chosen).map(|(a, b)| a - b).collect();
        if norm(&apart) > 100.0 * situation.system.tolerance * norm(chosen) {
            return Some(other);
        }
    }
    None
}

/// The rows of the circuits, along which the compression can be shared, whose coefficients differ.
fn unequal_rows(situation: &Situation, compression: &Resolution) -> Vec<usize> {
    let mut rows: Vec<usize> = Vec::new();
    for circuit in &compression.binding {
        let first = situation.restitution(circuit[0].0);
        if circuit.iter().any(|&(row, _)| situation.restitution(row) != first) {
            rows.extend(circuit.iter().map(|&(row, _)| row));
        }
    }
    rows.sort_unstable();
    rows.dedup();
    rows
}
