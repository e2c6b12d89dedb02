//! What the rigid model leaves open: dependent rows, self-stresses, uniqueness of impulses.
//!
//! Rows are taken one after another; one whose rest, perpendicular to the independent ones before it, is below
//! the tolerance depends on them, and the combination that makes it is a *circuit* (a minimal dependent set:
//! T2). The circuits so found are a basis of ker Cᵀ, and K maps that kernel into itself, so that Newton's
//! equality is solvable for all velocities, exactly when k is constant on each of them.

use crate::impact::active::{Frame, Requirement, nearest};
use crate::impact::system::System;
use crate::metric::{PivotedQr, Rows, norm};

/// What is zero among impulses and circuits at unit length: these are results, whose rounding is far below.
const NEGLIGIBLE: f64 = 1e-12;

/// Below this, directions of impulses count as dependent.
const DEPENDENT: f64 = 1e-10;

/// The linear dependences among some rows.
pub(super) struct Dependence {
    /// The circuits, one per dependent row: row numbers and coefficients with Σ coefficient · C_row = 0 (rows at
    /// their own lengths), the largest coefficient 1 in size.
    pub circuits: Vec<Vec<(usize, f64)>>,
    /// The smallest singular value of the independent rows at unit length, or the smallest rest of one.
    pub smallest_kept: f64,
    /// The largest rest of a dependent unit row.
    pub largest_dropped: f64,
}

impl Dependence {
    /// The dependences among the listed rows, none of them blocked.
    pub fn of(system: &System, ids: &[usize]) -> Self {
        let mut frame = Frame::new(&system.rows, ids);
        let mut found = Self { circuits: Vec::new(), smallest_kept: 1.0, largest_dropped: 0.0 };
        if frame.fill(ids.iter().copied()) {
            found.smallest_kept = frame.smallest_singular_value();
            return found;
        }
        let mut share = Vec::new();
        let mut rest = vec![0.0; system.rows.dimension];
        for &id in ids {
            let length = frame.split(id, &mut share, &mut rest);
            if length > system.tolerance && frame.members().len() < system.rows.dimension {
                frame.push(id);
                found.smallest_kept = found.smallest_kept.min(length);
                continue;
            }
            found.largest_dropped = found.largest_dropped.max(length);
            // ĉ_id = Σ share ĉ_m; a coefficient on C is the one on ĉ divided by |C|.
            let mut circuit: Vec<(usize, f64)> = frame
                .members()
                .iter()
                .zip(&share)
                .filter(|(_, share)| share.abs() > system.tolerance)
                .map(|(&m, &share)| (m, -share / system.lengths[m]))
                .collect();
            circuit.push((id, 1.0 / system.lengths[id]));
            circuit.sort_by_key(|&(row, _)| row);
            let largest = circuit.iter().fold(0.0, |m: f64, (_, c)| m.max(c.abs()));
            for (_, coefficient) in &mut circuit {
                *coefficient /= largest;
            }
            found.circuits.push(circuit);
        }
        found
    }

    /// The circuits on which the coefficient of restitution is not constant.
    pub fn unequal(&self, restitution: &[f64]) -> Vec<Vec<usize>> {
        self.circuits
            .iter()
            .map(|circuit| circuit.iter().map(|&(row, _)| row).collect::<Vec<_>>())
            .filter(|rows| rows.iter().any(|&row| restitution[row] != restitution[rows[0]]))
            .collect()
    }
}

/// Whether other impulses on `rows` than those given make the same velocities: same Σ p_i C_i, with p_i ≥ 0 on
/// inequalities.
pub(super) fn is_shiftable(
    rows: &[usize],
    lengths: &[f64],
    impulses: &[f64],
    equality: &[bool],
    circuits: &[Vec<(usize, f64)>],
) -> bool {
    if let [circuit] = circuits {
        let (low, high) = room(rows, impulses, equality, circuit, lengths);
        return low < 0.0 || high > 0.0;
    }
    // At unit length, so that the answer does not depend on the rows' scaling.
    let unit: Vec<f64> = rows.iter().zip(impulses).map(|(&row, p)| p * lengths[row]).collect();
    !circuits.is_empty()
        && !is_only_element(&orthonormal_kernel(rows, circuits, |row| lengths[row]), &unit, equality)
}

/// Most rows among which other ways to share the impulses are looked for.
pub(super) const SHARING_ROWS: usize = 400;

/// The circuits among the rows that carry an impulse in some way of sharing: a row that is zero in all of them takes
/// part in no shift.
pub(super) fn sharing_circuits(
    system: &System,
    rows: &[usize],
    impulses: &[f64],
    equality: &[bool],
    circuits: &[Vec<(usize, f64)>],
) -> Vec<Vec<(usize, f64)>> {
    let unit = |p: &[f64]| -> Vec<f64> {
        rows.iter().zip(p).map(|(&row, p)| (p * system.lengths[row]).abs()).collect()
    };
    let level = 1e-9 * unit(impulses).into_iter().fold(0.0, f64::max);
    let mut loaded: Vec<bool> = unit(impulses).iter().zip(equality).map(|(p, e)| *e || *p > level).collect();
    if loaded.iter().all(|&loaded| loaded) {
        return circuits.to_vec();
    }
    for i in 0..rows.len() {
        if loaded[i] || !circuits.iter().any(|circuit| circuit.iter().any(|&(row, _)| row == rows[i])) {
            continue;
        }
        let favour = |row: usize| system.lengths[row] * if row == rows[i] { 1e-8 } else { 1.0 };
        let shared = least_norm(rows, impulses, equality, circuits, favour);
        for (loaded, p) in loaded.iter_mut().zip(unit(&shared)) {
            *loaded |= p > level;
        }
    }
    let kept: Vec<usize> = rows.iter().zip(&loaded).filter(|(_, l)| **l).map(|(&row, _)| row).collect();
    Dependence::of(system, &kept).circuits
}

/// Among all impulses that make the same velocities, those with the least Σ (weight_i p_i)².
pub(super) fn least_norm(
    rows: &[usize],
    impulses: &[f64],
    equality: &[bool],
    circuits: &[Vec<(usize, f64)>],
    weight: impl Fn(usize) -> f64,
) -> Vec<f64> {
    if let [circuit] = circuits {
        return least_norm_on_line(rows, impulses, equality, circuit, weight);
    }
    let kernel = orthonormal_kernel(rows, circuits, &weight);
    let m = rows.len();
    let weights: Vec<f64> = rows.iter().map(|&row| weight(row)).collect();
    let weighted: Vec<f64> = impulses.iter().zip(&weights).map(|(p, weight)| p * weight).collect();
    // p = x + N w with x perpendicular to the kernel: shortest p is shortest w with N w ≥ −x.
    let mut along = vec![0.0; kernel.dimension];
    for (i, p) in weighted.iter().enumerate() {
        kernel.add_to(i, *p, &mut along);
    }
    let x: Vec<f64> = (0..m).map(|i| weighted[i] - kernel.dot(i, &along)).collect();
    let mut unit = Rows::new(kernel.dimension);
    let mut requirements = Vec::new();
    for i in 0..m {
        unit.push(kernel.row(i));
        let length = unit.last_length();
        if equality[i] || length < NEGLIGIBLE {
            continue;
        }
        unit.scale_last(1.0 / length);
        requirements.push(Requirement { row: i, least: -x[i] / length, equality: false });
    }
    let w = nearest(&unit, &requirements, NEGLIGIBLE).u;
    let least = |i: usize| {
        let p = (x[i] + kernel.dot(i, &w)) / weights[i];
        if equality[i] { p } else { p.max(0.0) }
    };
    (0..m).map(least).collect()
}

/// How far the impulses can be shifted along one circuit, backwards and forwards, before one of them would pull; an
/// impulse that is zero up to rounding, at unit length, leaves no room.
fn room(
    rows: &[usize],
    impulses: &[f64],
    equality: &[bool],
    circuit: &[(usize, f64)],
    lengths: &[f64],
) -> (f64, f64) {
    let size = rows.iter().zip(impulses).fold(0.0, |m: f64, (&row, p)| m.max((p * lengths[row]).abs()));
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    for &(row, coefficient) in circuit {
        let Some(i) = rows.iter().position(|&r| r == row).filter(|&i| !equality[i]) else { continue };
        let limit = if impulses[i] * lengths[row] <= NEGLIGIBLE * size {
            0.0
        } else {
            impulses[i] / coefficient.abs()
        };
        if coefficient > 0.0 {
            low = low.max(-limit);
        } else {
            high = high.min(limit);
        }
    }
    (low, high)
}

/// [`least_norm`] with a single circuit: the nearest point to the origin on a segment.
fn least_norm_on_line(
    rows: &[usize],
    impulses: &[f64],
    equality: &[bool],
    circuit: &[(usize, f64)],
    weight: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let place = |row: usize| rows.iter().position(|&r| r == row);
    let (mut along, mut square) = (0.0, 0.0);
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    for &(row, coefficient) in circuit {
        let Some(i) = place(row) else { continue };
        let w = weight(row) * weight(row);
        along += w * impulses[i] * coefficient;
        square += w * coefficient * coefficient;
        if !equality[i] && coefficient > 0.0 {
            low = low.max(-impulses[i] / coefficient);
        } else if !equality[i] && coefficient < 0.0 {
            high = high.min(-impulses[i] / coefficient);
        }
    }
    let step = (-along / square).clamp(low.min(0.0), high.max(0.0));
    let mut least = impulses.to_vec();
    for &(row, coefficient) in circuit {
        if let Some(i) = place(row) {
            least[i] += step * coefficient;
            if !equality[i] {
                least[i] = least[i].max(0.0);
            }
        }
    }
    least
}

/// Whether no direction N w ≠ 0 keeps p + t N w ≥ 0: by Stiemke's lemma, whether N₀ has full column rank and
/// some x ≥ 1 has N₀ᵀ x = 0, N₀ being the rows where p is zero and may not fall.
fn is_only_element(kernel: &Rows, p: &[f64], equality: &[bool]) -> bool {
    let scale = norm(p);
    let zero: Vec<usize> = (0..p.len()).filter(|&i| !equality[i] && p[i] <= NEGLIGIBLE * scale).collect();
    let d = kernel.dimension;
    let mut columns = vec![0.0; zero.len() * d];
    for (k, &i) in zero.iter().enumerate() {
        for (j, value) in kernel.row(i) {
            columns[j * zero.len() + k] = value;
        }
    }
    if zero.len() < d || PivotedQr::new(zero.len(), d, columns.clone(), DEPENDENT).rank < d {
        return false;
    }
    let mut rows = Rows::new(zero.len());
    let mut requirements = Vec::new();
    for j in 0..d {
        rows.push(columns[j * zero.len()..(j + 1) * zero.len()].iter().copied().enumerate());
        let length = rows.last_length();
        rows.scale_last(1.0 / length);
        requirements.push(Requirement { row: j, least: 0.0, equality: true });
    }
    for k in 0..zero.len() {
        rows.push(std::iter::once((k, 1.0)));
        requirements.push(Requirement { row: d + k, least: 1.0, equality: false });
    }
    nearest(&rows, &requirements, DEPENDENT).feasible
}

/// An orthonormal basis of the span of the circuits, each coefficient multiplied by its row's weight, as one row of
/// coordinates per contact row.
fn orthonormal_kernel(rows: &[usize], circuits: &[Vec<(usize, f64)>], weight: impl Fn(usize) -> f64) -> Rows {
    let m = rows.len();
    let place = |row: usize| rows.iter().position(|&r| r == row);
    let mut columns = vec![0.0; m * circuits.len()];
    for (k, circuit) in circuits.iter().enumerate() {
        for &(row, coefficient) in circuit {
            if let Some(i) = place(row) {
                columns[k * m + i] = coefficient * weight(row);
            }
        }
        let length = norm(&columns[k * m..(k + 1) * m]);
        for x in &mut columns[k * m..(k + 1) * m] {
            *x /= length;
        }
    }
    let qr = PivotedQr::new(m, circuits.len(), columns, NEGLIGIBLE);
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(qr.rank);
    for k in 0..qr.rank {
        let mut x = vec![0.0; m];
        x[k] = 1.0;
        qr.apply(&mut x);
        basis.push(x);
    }
    let mut kernel = Rows::new(basis.len());
    for i in 0..m {
        kernel.push(basis.iter().map(|column| column[i]).enumerate());
    }
    kernel
}
