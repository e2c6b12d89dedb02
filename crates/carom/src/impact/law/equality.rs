//! y⁺ = −K y⁻ as an equality on some rows: W p = −(I+K) y⁻ (T2).
//!
//! With dependent rows the impulses of least norm are given; without a solution, the least-squares surrogate
//! p = −W⁺(I+K) y⁻ and its residual.

use super::{Resolution, Situation};
use crate::impact::active::Frame;
use crate::impact::determinacy::Dependence;
use crate::impact::system::System;
use crate::metric::{PivotedQr, norm};

impl Resolution {
    /// Marks a resolution as a surrogate for a law without solution, whatever its own residual.
    pub(super) fn unsolvable(mut self) -> Self {
        self.residual = Some(self.residual.unwrap_or(1.0));
        self
    }
}

/// Solves the equality on the rows listed, none of them blocked.
pub(super) fn solve(situation: &Situation, ids: &[usize]) -> Resolution {
    let system = situation.system;
    // What ĉ·u must be.
    let wanted: Vec<f64> =
        ids.iter().map(|&row| -(1.0 + situation.restitution(row)) * situation.unit_speed(row)).collect();
    let dependence = Dependence::of(system, ids);
    let (impulses, u, missed) = if dependence.circuits.is_empty() {
        regular(system, ids, &wanted)
    } else {
        singular(system, ids, &wanted)
    };
    let size = norm(&wanted);
    let relative = if size > 0.0 { missed / size } else { 0.0 };
    let speed = ids.iter().map(|&row| system.speed_of(row)).fold(0.0, f64::max);
    // The data carry rounding at the level of √(2T), which no equality can be asked to beat.
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 rows")]
    let rounding = 64.0 * f64::EPSILON * (ids.len() as f64).sqrt() * speed;
    let consistent = missed <= system.tolerance * size + rounding;
    Resolution {
        rows: ids.to_vec(),
        impulses,
        u,
        residual: (!consistent).then_some(relative),
        circuits: dependence.circuits,
        ..Resolution::default()
    }
}

/// Independent rows: the one solution, with the residual left by rounding.
fn regular(system: &System, ids: &[usize], wanted: &[f64]) -> (Vec<f64>, Vec<f64>, f64) {
    let mut frame = Frame::new(&system.rows, ids);
    let (mut p, mut u) = (Vec::new(), vec![0.0; system.rows.dimension]);
    let mut rest = vec![0.0; system.rows.dimension];
    if !frame.fill(ids.iter().copied()) {
        for &id in ids {
            frame.split(id, &mut p, &mut rest);
            frame.push(id);
        }
    }
    let mut place = vec![0; system.lengths.len()];
    for (k, &id) in ids.iter().enumerate() {
        place[id] = k;
    }
    let places: Vec<usize> = frame.members().iter().map(|&id| place[id]).collect();
    let h: Vec<f64> = places.iter().map(|&k| wanted[k]).collect();
    frame.solve(&h, &mut p, &mut u);
    let mut impulses = vec![0.0; ids.len()];
    for (&k, &p) in places.iter().zip(&p) {
        impulses[k] = p / system.lengths[ids[k]];
    }
    let missed = norm(&residuals(system, ids, wanted, &u));
    (impulses, u, missed)
}

/// Dependent rows: the velocities by least squares, and the impulses of least norm that make them.
///
/// Rows at unit length decide whether a solution exists, so that it does not depend on their scaling. Where none
/// does, the surrogate is the least-squares solution at the rows' own lengths: −W⁺(I+K) y⁻.
fn singular(system: &System, ids: &[usize], wanted: &[f64]) -> (Vec<f64>, Vec<f64>, f64) {
    let (d, m) = (system.rows.dimension, ids.len());
    let mut columns = vec![0.0; d * m];
    for (k, &id) in ids.iter().enumerate() {
        system.rows.add_to(id, 1.0, &mut columns[k * d..(k + 1) * d]);
    }
    let span = PivotedQr::new(d, m, columns, system.tolerance);
    let lengths: Vec<f64> = ids.iter().map(|&id| system.lengths[id]).collect();
    let (unit, own) = (span.transposed(&vec![1.0; m], 0.0), span.transposed(&lengths, 0.0));
    let mut along = unit.least_squares(wanted);
    let mut u = embed(&span, &along, d);
    let missed = norm(&residuals(system, ids, wanted, &u));
    if missed > system.tolerance * norm(wanted) {
        let weighted: Vec<f64> = wanted.iter().zip(&lengths).map(|(h, length)| h * length).collect();
        along = own.least_squares(&weighted);
        u = embed(&span, &along, d);
    }
    let mut impulses = own.least_norm(&along, m);
    // Lengths of very different size leave rounding in the balance Σ p C = u; at unit length it is removed.
    let made = system.reduced_impulse(ids, &impulses);
    let mut lack: Vec<f64> = u.iter().zip(&made).map(|(u, made)| u - made).collect();
    span.apply_transposed(&mut lack);
    for ((p, more), length) in impulses.iter_mut().zip(unit.least_norm(&lack, m)).zip(&lengths) {
        *p += more / length;
    }
    (impulses, u, missed)
}

/// V w, the columns of V being the first of Q.
fn embed(span: &PivotedQr, w: &[f64], dimension: usize) -> Vec<f64> {
    let mut u = w.to_vec();
    u.resize(dimension, 0.0);
    span.apply(&mut u);
    u
}

fn residuals(system: &System, ids: &[usize], wanted: &[f64], u: &[f64]) -> Vec<f64> {
    ids.iter().zip(wanted).map(|(&id, h)| system.rows.dot(id, u) - h).collect()
}
