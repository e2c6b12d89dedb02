//! The blocks of the metric: coordinates that a non-zero of G or a row of A couples, and the arithmetic within one.
//!
//! Per block G = L Lᵀ, dense, and Âᵀ = Q R with columns at unit length: the first columns of Q span what the rows take, the
//! rest is Z̃.

use std::ops::Range;

use nalgebra::DMatrix;

use super::qr::PivotedQr;
use crate::error::{Error, Fault, Place};

/// Coordinates that G or A couples.
#[derive(Debug, Clone)]
pub(super) struct Block {
    /// Where this block's part of all coordinates lies.
    pub coordinates: Range<usize>,
    /// Where its L lies.
    pub factor: Range<usize>,
    pub constraint: Option<Constraint>,
    /// Where this block's reduced coordinates begin, and how many there are.
    pub first: usize,
    pub dimension: usize,
}

/// The bilateral rows of a block.
#[derive(Debug, Clone)]
pub(super) struct Constraint {
    /// Their numbers in A.
    pub rows: Vec<usize>,
    /// The lengths |Â_i|.
    pub lengths: Vec<f64>,
    /// Âᵀ with columns at unit length: its range is what the rows block, the rest of Q is Z̃.
    pub range: PivotedQr,
    /// The factorisation of R's transpose at the rows' own lengths, for the least-norm impulses of dependent rows.
    pub dual: Option<PivotedQr>,
}

impl Block {
    /// Turns x so that what the bilateral rows take comes first; returns how much that is.
    pub fn split(&self, x: &mut [f64]) -> usize {
        match &self.constraint {
            None => 0,
            Some(c) => {
                c.range.apply_transposed(x);
                c.range.rank
            }
        }
    }

    /// x ← Z̃ u.
    pub fn embed(&self, u: &[f64], x: &mut Vec<f64>) {
        x.clear();
        match &self.constraint {
            None => x.extend_from_slice(u),
            Some(c) => {
                x.resize(c.range.rank, 0.0);
                x.extend_from_slice(u);
                c.range.apply(x);
            }
        }
    }
}

/// x ← L⁻¹ x.
pub(super) fn forward(factor: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        x[i] /= factor[i * n + i];
        let pivot = x[i];
        if pivot != 0.0 {
            for j in i + 1..n {
                x[j] -= factor[i * n + j] * pivot;
            }
        }
    }
}

/// x ← L⁻ᵀ x.
pub(super) fn backward(factor: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|j| factor[i * n + j] * x[j]).sum();
        x[i] = (x[i] - sum) / factor[i * n + i];
    }
}

/// Appends L of one block, lower triangle, column-major.
pub(super) fn cholesky(
    coordinates: &[usize],
    mass: &DMatrix<f64>,
    factor: &mut Vec<f64>,
) -> Result<(), Error> {
    let n = coordinates.len();
    let at = factor.len();
    factor.resize(at + n * n, 0.0);
    let l = &mut factor[at..];
    // Rounding of a pivot is at most about n ε of the diagonal entry it is what is left of.
    #[expect(clippy::cast_precision_loss, reason = "a block has far fewer than 2^52 coordinates")]
    let expected = 8.0 * f64::EPSILON * n as f64;
    for i in 0..n {
        let diagonal = mass[(coordinates[i], coordinates[i])];
        let pivot = diagonal - (0..i).map(|k| l[k * n + i] * l[k * n + i]).sum::<f64>();
        if !(diagonal > 0.0 && pivot > expected * diagonal) {
            let relative = if diagonal > 0.0 { pivot / diagonal } else { diagonal };
            let place = Place::entry("mass", coordinates[i], coordinates[i]);
            return Err(Error::new(place, Fault::NotPositiveDefinite { pivot: relative, expected }));
        }
        let root = pivot.sqrt();
        l[i * n + i] = root;
        for j in i + 1..n {
            let entry = 0.5 * mass[(coordinates[i], coordinates[j])]
                + 0.5 * mass[(coordinates[j], coordinates[i])]
                - (0..i).map(|k| l[k * n + i] * l[k * n + j]).sum::<f64>();
            l[i * n + j] = entry / root;
        }
    }
    Ok(())
}

/// The blocks, coordinates that a non-zero of G or a row of A couples: each coordinate's, numbered from zero in the
/// order of their first coordinates, and how many. Checks that G is symmetric on the way.
pub(super) fn couple(
    mass: &DMatrix<f64>,
    bilateral: &DMatrix<f64>,
    tolerance: f64,
) -> Result<(Vec<usize>, usize), Error> {
    let n = mass.nrows();
    let mut parent: Vec<usize> = (0..n).collect();
    fn root(parent: &mut [usize], mut i: usize) -> usize {
        while parent[i] != i {
            parent[i] = parent[parent[i]];
            i = parent[i];
        }
        i
    }
    let mut join = |i: usize, j: usize| {
        let (a, b) = (root(&mut parent, i), root(&mut parent, j));
        // The smaller number leads, so that blocks come in the order of their first coordinate.
        parent[a.max(b)] = a.min(b);
    };
    for j in 0..n {
        for i in 0..j {
            let (value, mirror) = (mass[(i, j)], mass[(j, i)]);
            if value == 0.0 && mirror == 0.0 {
                continue;
            }
            let scale = mass[(i, i)].abs().sqrt() * mass[(j, j)].abs().sqrt();
            if (value - mirror).abs() > tolerance * scale.max(value.abs().min(mirror.abs())) {
                return Err(Error::new(Place::entry("mass", i, j), Fault::NotSymmetric { value, mirror }));
            }
            join(i, j);
        }
    }
    for row in bilateral.row_iter() {
        let mut first = None;
        for (j, &a) in row.iter().enumerate() {
            if a != 0.0 {
                join(*first.get_or_insert(j), j);
            }
        }
    }
    let mut block_of = vec![0; n];
    let mut count = 0;
    for i in 0..n {
        let leader = root(&mut parent, i);
        if leader == i {
            block_of[i] = count;
            count += 1;
        } else {
            block_of[i] = block_of[leader];
        }
    }
    Ok((block_of, count))
}
