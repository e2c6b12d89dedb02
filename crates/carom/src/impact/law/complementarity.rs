//! The complementarity problem that several laws share: 0 ≤ p ⟂ y⁺ + K y⁻ ≥ 0 on some contacts.

use super::{Resolution, Situation, equality};
use crate::impact::active::{Demand, nearest};
use crate::impact::determinacy::{Dependence, least_norm};
use crate::impact::system::{DENSE_RANK_ROWS, System};

/// Newton's law with complementarity on the contacts listed, tangents of rough ones as equalities.
pub(super) fn newton(situation: &Situation, contacts: &[usize]) -> Resolution {
    let rows = situation.rows_of(contacts);
    let demands: Vec<Demand> = rows
        .iter()
        .map(|&(row, equality)| {
            let speed = situation.unit_speed(row);
            // A touching contact's rounding is not a speed to restore.
            let speed = if equality { speed } else { speed.min(0.0) };
            Demand { row, least: -(1.0 + situation.restitution(row)) * speed, equality }
        })
        .collect();
    let found = nearest(&situation.system.rows, &demands, situation.system.tolerance);
    if !found.feasible {
        let ids: Vec<usize> = rows.iter().map(|&(row, _)| row).collect();
        return equality::solve(situation, &ids).unsolvable();
    }
    settle(situation.system, &demands, &found.p, &found.slack, found.u)
}

/// Multipliers of unit rows as impulses, of least norm where the binding rows leave a choice.
pub(super) fn settle(system: &System, demands: &[Demand], p: &[f64], slack: &[f64], u: Vec<f64>) -> Resolution {
    let ids: Vec<usize> = demands.iter().map(|d| d.row).collect();
    let mut impulses: Vec<f64> = ids.iter().zip(p).map(|(&row, p)| p / system.lengths[row]).collect();
    let size = crate::metric::norm(&u) + demands.iter().fold(0.0, |m: f64, d| m.max(d.least.abs()));
    // Only rows without slack can carry an impulse.
    let binding: Vec<usize> =
        (0..ids.len()).filter(|&k| demands[k].equality || slack[k] <= system.tolerance * size).collect();
    let bound: Vec<usize> = binding.iter().map(|&k| ids[k]).collect();
    let mut circuits = Vec::new();
    let mut shiftable = false;
    if bound.len() > 1 && size > 0.0 {
        circuits = Dependence::of(system, &bound).circuits;
        if bound.len() > DENSE_RANK_ROWS {
            // The least-norm element would cost the cube of the number of rows; one element is given as it is.
            shiftable = !circuits.is_empty();
        } else {
            let part: Vec<f64> = binding.iter().map(|&k| impulses[k]).collect();
            let equality: Vec<bool> = binding.iter().map(|&k| demands[k].equality).collect();
            let (least, unique) = least_norm(&bound, &part, &equality, &circuits);
            for (&k, p) in binding.iter().zip(least) {
                impulses[k] = p;
            }
            shiftable = !unique;
        }
    }
    Resolution { rows: ids, impulses, u, circuits, shiftable, ..Resolution::default() }
}
