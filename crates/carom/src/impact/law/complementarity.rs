//! The complementarity problem that several laws share: 0 ≤ p ⟂ y⁺ + K y⁻ ≥ 0 on some contacts.

use super::{Resolution, Situation, equality};
use crate::impact::active::{Requirement, nearest};
use crate::impact::determinacy::{Dependence, SHARING_ROWS, is_shiftable, least_norm, sharing_circuits};
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
    settle(situation.system, &requirements, &found.p, &found.slack, found.u)
}

/// Multipliers of unit rows as impulses, of least norm where the binding rows leave a choice.
pub(super) fn settle(
    system: &System,
    requirements: &[Requirement],
    p: &[f64],
    slack: &[f64],
    u: Vec<f64>,
) -> Resolution {
    let ids: Vec<usize> = requirements.iter().map(|d| d.row).collect();
    let mut impulses: Vec<f64> = ids.iter().zip(p).map(|(&row, p)| p / system.lengths[row]).collect();
    let size = norm(&u) + requirements.iter().fold(0.0, |m: f64, d| m.max(d.least.abs()));
    // Only rows without slack can carry an impulse.
    let binding: Vec<usize> =
        (0..ids.len()).filter(|&k| requirements[k].equality || slack[k] <= system.tolerance * size).collect();
    let bound: Vec<usize> = binding.iter().map(|&k| ids[k]).collect();
    let mut circuits = Vec::new();
    let mut sharing = Vec::new();
    let mut shiftable = false;
    if bound.len() > 1 && size > 0.0 {
        circuits = Dependence::of(system, &bound).circuits;
        if bound.len() > SHARING_ROWS {
            // The least-norm element would cost the cube of the number of rows; one element is given as it is.
            shiftable = !circuits.is_empty();
            sharing.clone_from(&circuits);
        } else {
            let part: Vec<f64> = binding.iter().map(|&k| impulses[k]).collect();
            let equality: Vec<bool> = binding.iter().map(|&k| requirements[k].equality).collect();
            if is_shiftable(&bound, &system.lengths, &part, &equality, &circuits) {
                let least = least_norm(&bound, &part, &equality, &circuits, |_| 1.0);
                for (&k, p) in binding.iter().zip(least) {
                    impulses[k] = p;
                }
                rebalance(system, &ids, &mut impulses, &u);
                shiftable = true;
                let part: Vec<f64> = binding.iter().map(|&k| impulses[k]).collect();
                sharing = sharing_circuits(system, &bound, &part, &equality, &circuits);
            }
        }
    }
    Resolution {
        rows: ids,
        impulses,
        u,
        binding: circuits,
        circuits: sharing,
        shiftable,
        ..Resolution::default()
    }
}

/// Takes out what rounding, at lengths of very different size, left in the balance Σ p C = u.
fn rebalance(system: &System, ids: &[usize], impulses: &mut [f64], u: &[f64]) {
    let made = system.reduced_impulse(ids, impulses);
    let mut lack: Vec<f64> = u.iter().zip(&made).map(|(u, made)| u - made).collect();
    let size: f64 = ids.iter().zip(&*impulses).map(|(&row, p)| (p * system.lengths[row]).abs()).sum();
    if norm(&lack) <= 4.0 * f64::EPSILON * size {
        return;
    }
    let pushing: Vec<usize> = (0..ids.len()).filter(|&k| impulses[k] != 0.0).collect();
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
    for ((&k, more), size) in pushing.iter().zip(more).zip(size) {
        if more.abs() < 0.5 {
            impulses[k] += more * size / system.lengths[ids[k]];
        }
    }
}
