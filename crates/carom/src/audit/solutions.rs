//! Whether the impulses that make the same velocities are a single point, by a search that the solver does not use.
//!
//! In coordinates of unit mass, L⁻¹Nᵀ and L⁻¹Aᵀ with G = L Lᵀ, another solution differs by d with Σ d_i c_i = 0: of any sign on
//! joints, equalities and rows that push, d_i ≥ 0 on rows that could push and do not. No such d exists exactly when the first are
//! independent, by their singular values, and 0 is not in the convex hull of the others perpendicular to them, by the distance that
//! non-negative least squares finds (Lawson and Hanson 1974). What is neither clearly zero nor clearly not leaves the answer open.

use nalgebra::{DMatrix, DVector};

use crate::impact::Problem;

/// At unit length, below the first number it is zero, above the second it is not.
const CLEAR: [f64; 2] = [1e-11, 1e-6];

/// The most rows and coordinates for which the search is made.
const MOST: [usize; 2] = [100, 300];

/// The rows of a problem in coordinates of unit mass.
pub(super) struct Rows {
    contacts: DMatrix<f64>,
    joints: Vec<DVector<f64>>,
}

/// How the impulse of a row may change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Change {
    /// By any amount of either sign.
    Free,
    /// Upwards only.
    Up,
}

impl Rows {
    /// None for a problem that is too large.
    pub(super) fn new(problem: &Problem) -> Option<Self> {
        let (rows, n) = (problem.contacts.nrows() + problem.bilateral.nrows(), problem.mass.nrows());
        if rows > MOST[0] || n > MOST[1] {
            return None;
        }
        let factor = problem.mass.clone().cholesky()?.unpack();
        let contacts = factor.solve_lower_triangular(&problem.contacts.transpose())?;
        let joints = factor.solve_lower_triangular(&problem.bilateral.transpose())?;
        Some(Self { contacts, joints: joints.column_iter().map(|c| c.into_owned()).collect() })
    }

    /// |L⁻¹N_iᵀ|.
    pub(super) fn length(&self, row: usize) -> f64 {
        self.contacts.column(row).norm()
    }

    /// Whether no impulses on the rows, and on the joints, can be added; none if it is not clear.
    pub(super) fn only_solution(&self, rows: &[(usize, Change)]) -> Option<bool> {
        let unit = |c: DVector<f64>| {
            let length = c.norm();
            if length > 0.0 { c / length } else { c }
        };
        let (mut free, mut up) = (Vec::new(), Vec::new());
        free.extend(self.joints.iter().cloned().map(unit));
        for &(row, change) in rows {
            let column = unit(self.contacts.column(row).into_owned());
            if change == Change::Free { free.push(column) } else { up.push(column) }
        }
        let mut clear = true;
        let mut across = up;
        if !free.is_empty() {
            let svd = DMatrix::from_columns(&free).svd(true, false);
            let basis = svd.u.as_ref()?;
            let zero = svd.singular_values.iter().filter(|s| **s < CLEAR[0]).count();
            clear &= svd.singular_values.iter().all(|s| !(CLEAR[0]..CLEAR[1]).contains(s));
            if zero > 0 || free.len() > svd.singular_values.len() {
                return clear.then_some(false);
            }
            for column in &mut across {
                for q in basis.column_iter() {
                    column.axpy(-q.dot(column), &q, 1.0);
                }
            }
        }
        for column in &mut across {
            let length = column.norm();
            if length < CLEAR[0] {
                return clear.then_some(false);
            }
            clear &= length > CLEAR[1];
            *column /= length;
        }
        let distance = hull_distance(&across)?;
        clear &= !(CLEAR[0]..CLEAR[1]).contains(&distance);
        clear.then_some(distance > CLEAR[1])
    }
}

/// A distance from the origin to the convex hull of unit vectors, zero exactly where it is: that of (0, 1) to the cone of the
/// vectors (c_i, 1). `None` if the search does not end.
fn hull_distance(vectors: &[DVector<f64>]) -> Option<f64> {
    let Some(first) = vectors.first() else { return Some(1.0) };
    let (d, m) = (first.len(), vectors.len());
    let columns = DMatrix::from_fn(d + 1, m, |i, j| if i < d { vectors[j][i] } else { 1.0 });
    let mut target = DVector::zeros(d + 1);
    target[d] = 1.0;
    let mut weights = DVector::<f64>::zeros(m);
    let mut passive: Vec<usize> = Vec::new();
    for _ in 0..10 * m + 10 {
        let residual = &target - &columns * &weights;
        let gain = columns.tr_mul(&residual);
        let best = (0..m).filter(|j| !passive.contains(j)).max_by(|&i, &j| gain[i].total_cmp(&gain[j]));
        let Some(next) = best.filter(|&j| gain[j] > 1e-14) else { return Some(residual.norm()) };
        passive.push(next);
        loop {
            let part = DMatrix::from_fn(d + 1, passive.len(), |i, k| columns[(i, passive[k])]);
            let trial = part.svd(true, true).solve(&target, 1e-14).ok()?;
            if trial.iter().all(|w| *w > 0.0) {
                weights.fill(0.0);
                passive.iter().zip(trial.iter()).for_each(|(&j, w)| weights[j] = *w);
                break;
            }
            // As far towards the trial as all weights stay positive; what comes to zero leaves.
            let step = passive
                .iter()
                .zip(trial.iter())
                .filter(|(_, w)| **w <= 0.0)
                .map(|(&j, w)| weights[j] / (weights[j] - w))
                .fold(1.0, f64::min);
            for (&j, w) in passive.iter().zip(trial.iter()) {
                weights[j] += step * (w - weights[j]);
            }
            let before = passive.len();
            passive.retain(|&j| weights[j] > 1e-15);
            if passive.len() == before || passive.is_empty() {
                return None;
            }
            for j in 0..m {
                if !passive.contains(&j) {
                    weights[j] = 0.0;
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::hull_distance;
    use nalgebra::DVector;

    fn plane(degrees: &[f64]) -> Option<f64> {
        let vectors: Vec<_> = degrees
            .iter()
            .map(|a: &f64| DVector::from_vec(vec![a.to_radians().cos(), a.to_radians().sin()]))
            .collect();
        hull_distance(&vectors)
    }

    #[test]
    fn the_hull_of_vectors_around_the_origin_holds_it_and_of_those_on_one_side_not() {
        assert!(plane(&[0.0, 120.0, 240.0]).unwrap() < 1e-14);
        assert!(plane(&[10.0, 100.0, 200.0, 250.0, 350.0]).unwrap() < 1e-14);
        assert!(plane(&[0.0, 180.0]).unwrap() < 1e-14);
        assert!(plane(&[0.0, 100.0, 179.0]).unwrap() > 1e-3);
        assert!((plane(&[0.0]).unwrap() - 0.5_f64.sqrt()).abs() < 1e-14);
    }
}
