//! The complementarity problem that several laws share: 0 ≤ p ⟂ y⁺ + K y⁻ ≥ 0 on some contacts.

use super::{Resolution, Situation, equality};
use crate::impact::active::{Requirement, nearest};
use crate::impact::determinacy::{Dependence, SHARING_ROWS, least_norm, rows_of, shiftable_circuits};
use crate::impact::system::System;
use crate::metric::{PivotedQr, norm};

/// Newton's law with complementarity on the contacts listed, tangents of rough ones as equalities.
pub(super) fn newton(situation: &Situation, contacts: &[usize]) -> Resolution {
    let rows = situation.rows_of(contacts);
    let requirements: Vec<Requirement> = rows
        .iter()
        .map(|&(row, equality)| {
            let speed = situation.unit_speed(row);
            // A touching contact's rounding is not a speed to restore.
            let speed = if equality { speed } else { speed.min(0.0) };
            Requirement { row, least: -(1.0 + situation.restitution(row)) * speed, equality }
        })
        .collect();
    let found = nearest(&situation.system.rows, &requirements, situation.system.tolerance);
    // Smooth contacts are always feasible (T4): what the search cannot meet there is rounding.
    if !found.feasible && rows.iter().any(|&(_, equality)| equality) {
        let ids: Vec<usize> = rows.iter().map(|&(row, _)| row).collect();
        return equality::solve(situation, &ids).unsolvable();
    }
    settle(situation.system, &requirements, &found.p, &found.slack, found.u, 0.0)
}

/// Multipliers of unit rows as impulses, of least norm where the binding rows leave a choice. Beside a change of velocity of
/// length `beside` what is smaller by far is zero.
pub(super) fn settle(
    system: &System,
    requirements: &[Requirement],
    p: &[f64],
    slack: &[f64],
    u: Vec<f64>,
    beside: f64,
) -> Resolution {
    let ids: Vec<usize> = requirements.iter().map(|d| d.row).collect();
    let mut impulses: Vec<f64> = ids.iter().zip(p).map(|(&row, p)| p / system.lengths[row]).collect();
    let size = norm(&u) + requirements.iter().fold(beside, |m: f64, d| m.max(d.least.abs()));
    // Only rows without slack can carry an impulse.
    let binding: Vec<usize> =
        (0..ids.len()).filter(|&k| requirements[k].equality || slack[k] <= system.tolerance * size).collect();
    let bound: Vec<usize> = binding.iter().map(|&k| ids[k]).collect();
    let mut circuits = Vec::new();
    if bound.len() > 1 && size > 0.0 {
        let dependence = Dependence::of(system, &bound);
        if !dependence.circuits.is_empty() {
            let part: Vec<f64> = binding.iter().map(|&k| impulses[k]).collect();
            let equality: Vec<bool> = binding.iter().map(|&k| requirements[k].equality).collect();
            circuits = shiftable_circuits(system, &bound, &part, &equality, &dependence, beside);
        }
    }
    let shared = rows_of(&circuits);
    // Of very many the least-norm element would cost the cube of their number; one element is given as it is.
    if (1..=SHARING_ROWS).contains(&shared.len()) {
        let places: Vec<usize> = (0..ids.len()).filter(|&k| shared.binary_search(&ids[k]).is_ok()).collect();
        let rows: Vec<usize> = places.iter().map(|&k| ids[k]).collect();
        let part: Vec<f64> = places.iter().map(|&k| impulses[k]).collect();
        let equality: Vec<bool> = places.iter().map(|&k| requirements[k].equality).collect();
        for (&k, p) in places.iter().zip(least_norm(&rows, &part, &equality, &circuits)) {
            impulses[k] = p;
        }
        rebalance(system, &ids, &mut impulses, &u);
    }
    Resolution { rows: ids, impulses, u, circuits, ..Resolution::default() }
}

/// Takes out what rounding, at lengths of very different size, left in the balance Σ p C = u.
fn rebalance(system: &System, ids: &[usize], impulses: &mut [f64], u: &[f64]) {
    let made = system.reduced_impulse(ids, impulses);
    let mut lack: Vec<f64> = u.iter().zip(&made).map(|(u, made)| u - made).collect();
    let size: f64 = ids.iter().zip(&*impulses).map(|(&row, p)| (p * system.lengths[row]).abs()).sum();
    if norm(&lack) <= 4.0 * f64::EPSILON * size {
        return;
    }
    // What pushes by rounding alone cannot take out any.
    let pushing: Vec<usize> =
        (0..ids.len()).filter(|&k| (impulses[k] * system.lengths[ids[k]]).abs() > 1e-12 * size).collect();
    let (d, m) = (system.rows.dimension, pushing.len());
    let mut columns = vec![0.0; d * m];
    for (place, &k) in pushing.iter().enumerate() {
        system.rows.add_to(ids[k], 1.0, &mut columns[place * d..(place + 1) * d]);
    }
    let span = PivotedQr::new(d, m, columns, system.tolerance);
    span.apply_transposed(&mut lack);
    // In proportion to the impulses, so that rounding turns no push into a pull.
    let size: Vec<f64> = pushing.iter().map(|&k| (impulses[k] * system.lengths[ids[k]]).abs()).collect();
    let more = span.transposed(&size, 0.0).least_norm(&lack, m);
    if more.iter().all(|more| more.abs() < 0.5) {
        for ((&k, more), size) in pushing.iter().zip(more).zip(size) {
            impulses[k] += more * size / system.lengths[ids[k]];
        }
    }
}
