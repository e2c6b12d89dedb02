//! What the rigid model leaves open: dependent rows, self-stresses, uniqueness of impulses.
//!
//! Rows are taken one after another; one whose rest, perpendicular to the independent ones before it, is below
//! the tolerance depends on them, and the combination that makes it is a *circuit* (a minimal dependent set:
//! T2). The circuits so found are a basis of ker Cᵀ, and K maps that kernel into itself, so that Newton's
//! equality is solvable for all velocities, exactly when k is constant on each of them.

use nalgebra::DMatrix;

use crate::impact::active::{Frame, Requirement, nearest};
use crate::impact::outcome::RankMargin;
use crate::impact::system::System;
use crate::metric::{PivotedQr, Rows, norm};

/// What is zero among impulses and circuits at unit length: these are results, whose rounding is far below.
const NEGLIGIBLE: f64 = 1e-12;

/// The most that ill-conditioned rows can raise that to.
const DEPENDENT: f64 = 1e-8;

/// Largest number of rows whose rank is read off a dense singular value decomposition.
const DENSE_RANK_ROWS: usize = 48;

impl System<'_> {
    /// The rank of the rows that can move, and how clear it is.
    pub fn rank(&self) -> (usize, RankMargin) {
        let ids = self.free_rows();
        let threshold = self.tolerance;
        let amplification = self.amplification;
        let mut margin = RankMargin { smallest_kept: 1.0, largest_dropped: 0.0, threshold, amplification };
        if ids.is_empty() {
            return (0, margin);
        }
        if ids.len() > DENSE_RANK_ROWS {
            // Row by row, and an estimate of the smallest singular value: a few passes instead of a cube.
            let dependence = Dependence::of(self, &ids);
            margin.smallest_kept = dependence.smallest_kept;
            margin.largest_dropped = dependence.largest_dropped;
            return (ids.len() - dependence.circuits.len(), margin);
        }
        let values = singular_values(&self.rows, &ids);
        let largest = values.first().copied().unwrap_or(0.0);
        let rank = values.iter().take_while(|&&s| s > threshold * largest).count();
        if rank > 0 {
            margin.smallest_kept = values[rank - 1] / largest;
        }
        if rank < values.len() {
            margin.largest_dropped = values[rank] / largest;
        }
        (rank, margin)
    }
}

/// The singular values of the listed rows, in descending order: those of R in Cᵀ Π = Q R.
fn singular_values(rows: &Rows, ids: &[usize]) -> Vec<f64> {
    let d = rows.dimension;
    if let [only] = ids {
        return vec![rows.inner(*only, *only).sqrt()];
    }
    let mut columns = vec![0.0; d * ids.len()];
    for (k, &i) in ids.iter().enumerate() {
        rows.add_to(i, 1.0, &mut columns[k * d..(k + 1) * d]);
    }
    let qr = PivotedQr::new(d, ids.len(), columns, 0.0);
    let r = DMatrix::from_fn(qr.rank, ids.len(), |i, j| qr.r(i, j));
    let mut values: Vec<f64> = r.singular_values().iter().copied().collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

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

/// Most rows among which impulses of least norm are looked for.
pub(super) const SHARING_ROWS: usize = 400;

/// The circuits along which the impulses p on `rows` can be shifted: a basis of the directions of the solution set
/// {p : Σ p_i C_i = u, p_i ≥ 0 on inequalities}. It is empty exactly when p is the only element.
///
/// The set's directions are the kernel of the rows that carry an impulse in *some* solution, which the support of one
/// solution does not tell. A row outside that support joins it if it depends on rows that carry impulses, or if several such
/// rows combine, with positive weights, to something that depends on them: perpendicular to the carriers the rows left must
/// not combine to zero, which a direction w with c_i·w > 0 for all of them proves, and the lack of one refutes (Gordan). What
/// a refutation names carries an impulse in some solution; each time the span of the carriers grows, so this ends. An impulse
/// within the rounding of the largest one, or of `size`, counts as zero.
pub(super) fn shiftable_circuits(
    system: &System,
    rows: &[usize],
    impulses: &[f64],
    equality: &[bool],
    dependence: &Dependence,
    size: f64,
) -> Vec<Vec<(usize, f64)>> {
    // A row in no circuit is fixed.
    let mut in_circuit = vec![false; system.lengths.len()];
    for &(row, _) in dependence.circuits.iter().flatten() {
        in_circuit[row] = true;
    }
    let largest =
        rows.iter().zip(impulses).fold(size, |m: f64, (&row, p)| m.max((p * system.lengths[row]).abs()));
    let level = largest * NEGLIGIBLE.max(16.0 * f64::EPSILON / dependence.smallest_kept).min(DEPENDENT);
    let carries = |i: usize| equality[i] || impulses[i] * system.lengths[rows[i]] > level;
    if (0..rows.len()).all(|i| carries(i) || !in_circuit[rows[i]]) {
        return dependence.circuits.clone();
    }
    let mut frame = Frame::new(&system.rows, rows);
    let mut share = Vec::new();
    let mut rest = vec![0.0; system.rows.dimension];
    let (mut carriers, mut open) = (Vec::new(), Vec::new());
    for (i, &row) in rows.iter().enumerate().filter(|(_, row)| in_circuit[**row]) {
        if carries(i) {
            if frame.split(row, &mut share, &mut rest) > system.tolerance {
                frame.push(row);
            }
            carriers.push(row);
        } else {
            open.push(row);
        }
    }
    loop {
        let mut across = Rows::new(system.rows.dimension);
        let mut outside = Vec::new();
        for &row in &open {
            let length = frame.split(row, &mut share, &mut rest);
            if length > system.tolerance {
                across.push(rest.iter().copied().enumerate());
                across.scale_last(1.0 / length);
                outside.push(row);
            } else {
                carriers.push(row);
            }
        }
        let ahead = |row| Requirement { row, least: 1.0, equality: false };
        let requirements: Vec<Requirement> = (0..outside.len()).map(ahead).collect();
        let mut proof = nearest(&across, &requirements, system.tolerance).proof;
        if proof.is_empty() {
            break;
        }
        proof.sort_unstable();
        for &place in &proof {
            if frame.split(outside[place], &mut share, &mut rest) > system.tolerance {
                frame.push(outside[place]);
            }
            carriers.push(outside[place]);
        }
        open = (0..outside.len()).filter(|k| proof.binary_search(k).is_err()).map(|k| outside[k]).collect();
    }
    carriers.sort_unstable();
    Dependence::of(system, &carriers).circuits
}

/// The rows of some circuits, each once, in ascending order.
pub(super) fn rows_of(circuits: &[Vec<(usize, f64)>]) -> Vec<usize> {
    let mut rows: Vec<usize> = circuits.iter().flatten().map(|&(row, _)| row).collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

/// Among all impulses that make the same velocities, those of least norm.
pub(super) fn least_norm(
    rows: &[usize],
    impulses: &[f64],
    equality: &[bool],
    circuits: &[Vec<(usize, f64)>],
) -> Vec<f64> {
    if let [circuit] = circuits {
        return least_norm_on_line(rows, impulses, equality, circuit);
    }
    let kernel = orthonormal_kernel(rows, circuits, |_| 1.0);
    let x = perpendicular(&kernel, impulses);
    let (w, _) = shortest_above(&kernel, &x, equality, 0.0);
    let least = |i: usize| {
        let p = x[i] + kernel.dot(i, &w);
        if equality[i] { p } else { p.max(0.0) }
    };
    (0..rows.len()).map(least).collect()
}

/// The part of p perpendicular to the kernel.
fn perpendicular(kernel: &Rows, p: &[f64]) -> Vec<f64> {
    let mut along = vec![0.0; kernel.dimension];
    for (i, p) in p.iter().enumerate() {
        kernel.add_to(i, *p, &mut along);
    }
    (0..p.len()).map(|i| p[i] - kernel.dot(i, &along)).collect()
}

/// [`least_norm`] with a single circuit: the nearest point to the origin on a segment.
fn least_norm_on_line(
    rows: &[usize],
    impulses: &[f64],
    equality: &[bool],
    circuit: &[(usize, f64)],
) -> Vec<f64> {
    let place = |row: usize| rows.iter().position(|&r| r == row);
    let (mut along, mut square) = (0.0, 0.0);
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    for &(row, coefficient) in circuit {
        let Some(i) = place(row) else { continue };
        along += impulses[i] * coefficient;
        square += coefficient * coefficient;
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

/// Impulses, at unit length, that make the same velocities as those given: from a sharing in which every row pushes that can,
/// the ends of the lines along which each row's impulse grows or falls fastest, and that sharing itself. Lines without an end
/// are followed far beyond the impulses' size.
///
/// Where a row pushes in the one, it may rest in another; together they see the set from all sides. None of it depends on the
/// order of the rows, on their lengths or on the basis of circuits.
pub(super) fn sharings(
    lengths: &[f64],
    rows: &[usize],
    impulses: &[f64],
    equality: &[bool],
    circuits: &[Vec<(usize, f64)>],
    most: usize,
) -> Vec<Vec<f64>> {
    const FAR: f64 = 1e3;
    let kernel = orthonormal_kernel(rows, circuits, |row| lengths[row]);
    let unit: Vec<f64> = rows.iter().zip(impulses).map(|(&row, p)| p * lengths[row]).collect();
    let size = norm(&unit);
    let inner = pushing(&kernel, &unit, equality, size);
    let mut all = Vec::new();
    for i in (0..rows.len()).take(most) {
        let along: Vec<f64> = (0..rows.len()).map(|j| kernel.inner(i, j)).collect();
        let length = norm(&along);
        if length <= NEGLIGIBLE {
            continue;
        }
        for sign in [1.0, -1.0] {
            let mut far = FAR * size / length;
            for (j, d) in along.iter().enumerate().filter(|(j, _)| !equality[*j]) {
                let fall = -sign * d;
                if fall > NEGLIGIBLE * length {
                    far = far.min((inner[j] / fall).max(0.0));
                }
            }
            let end = (0..rows.len()).map(|j| {
                let p = inner[j] + sign * far * along[j];
                if equality[j] { p } else { p.max(0.0) }
            });
            all.push(end.collect());
        }
    }
    all.push(inner);
    for sharing in &mut all {
        sharing.iter_mut().zip(rows).for_each(|(p, &row)| *p /= lengths[row]);
    }
    all
}

/// The shortest p in p₀ + N w whose inequalities all push, as far as they can together.
fn pushing(kernel: &Rows, unit: &[f64], equality: &[bool], size: f64) -> Vec<f64> {
    let x = perpendicular(kernel, unit);
    let mut floor = 0.1 * size;
    for _ in 0..8 {
        if let (w, true) = shortest_above(kernel, &x, equality, floor) {
            return (0..unit.len()).map(|i| x[i] + kernel.dot(i, &w)).collect();
        }
        floor *= 0.1;
    }
    unit.to_vec()
}

/// The shortest w with x + N w ≥ floor on the inequalities, and whether there is one.
fn shortest_above(kernel: &Rows, x: &[f64], equality: &[bool], floor: f64) -> (Vec<f64>, bool) {
    let mut unit = Rows::new(kernel.dimension);
    let mut requirements = Vec::new();
    for (i, x) in x.iter().enumerate() {
        unit.push(kernel.row(i));
        let length = unit.last_length();
        if equality[i] || length < NEGLIGIBLE {
            continue;
        }
        unit.scale_last(1.0 / length);
        requirements.push(Requirement { row: i, least: (floor - x) / length, equality: false });
    }
    let found = nearest(&unit, &requirements, NEGLIGIBLE);
    (found.u, found.feasible)
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
