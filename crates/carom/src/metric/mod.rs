//! The kinetic metric: mass matrix, constrained inverse, projector, rank.
//!
//! G = L Lᵀ (Cholesky) makes kinetic energy a sum of squares: x = Lᵀ v, 2T = |x|². The bilateral rows become
//! Â = A L⁻ᵀ, and with Z̃ an orthonormal basis of ker Â every admissible velocity is v = L⁻ᵀ Z̃ z. A contact row
//! N becomes C = N L⁻ᵀ Z̃, so that y = C z, W = C Cᵀ and G_A⁻¹ = L⁻ᵀ Z̃ Z̃ᵀ L⁻¹: the constrained inverse,
//! without forming (A G⁻¹ Aᵀ)⁺. The rank of W comes from C, never from W, whose small
//! singular values are lost to rounding at 1e-8 already.
//!
//! Coordinates coupled by G or by A form *blocks*; nothing couples two blocks. L and Z̃ are dense within a block
//! and absent between blocks, so free bodies cost as many small factorisations as there are bodies, and the rows
//! C stay as sparse as the contacts are.
//!
//! Assumptions: G symmetric positive definite. Fails with a clear error otherwise. Dependent bilateral rows are
//! fine: their impulses are then not unique, and the ones of least norm are given.

mod blocks;
mod qr;
mod rows;

use nalgebra::{DMatrix, DVector};

use crate::error::Error;
use blocks::{Block, Constraint, backward, cholesky, couple, forward};
pub(crate) use qr::{PivotedQr, norm};
pub(crate) use rows::Rows;

/// The kinetic metric of a mass matrix under bilateral rows.
#[derive(Debug, Clone)]
pub struct Metric {
    blocks: Vec<Block>,
    block_of: Vec<usize>,
    /// The coordinates of each block in turn.
    coordinates: Vec<usize>,
    /// L of each block in turn, lower triangle, column-major.
    factor: Vec<f64>,
    bilateral_rows: usize,
    /// Bilateral rows without any entry.
    empty_rows: Vec<usize>,
    dimension: usize,
    tolerance: f64,
}

impl Metric {
    /// Factorises G and splits off what A forbids.
    ///
    /// # Errors
    /// When G is not symmetric positive definite. Sizes and finiteness are the caller's to check.
    pub fn new(mass: &DMatrix<f64>, bilateral: &DMatrix<f64>, tolerance: f64) -> Result<Self, Error> {
        let n = mass.nrows();
        let (block_of, count) = couple(mass, bilateral, tolerance)?;
        // Coordinates sorted by block, keeping their order within one.
        let mut ends = vec![0; count];
        for &b in &block_of {
            ends[b] += 1;
        }
        for b in 1..count {
            ends[b] += ends[b - 1];
        }
        let mut next: Vec<usize> = std::iter::once(0).chain(ends.iter().copied()).take(count).collect();
        let mut coordinates = vec![0; n];
        for (i, &b) in block_of.iter().enumerate() {
            coordinates[next[b]] = i;
            next[b] += 1;
        }
        let mut empty_rows = Vec::new();
        let mut row_block = Vec::with_capacity(bilateral.nrows());
        for i in 0..bilateral.nrows() {
            let first = (0..n).find(|&j| bilateral[(i, j)] != 0.0);
            row_block.push(first.map(|j| block_of[j]));
            if first.is_none() {
                empty_rows.push(i);
            }
        }
        let mut metric = Self {
            blocks: Vec::with_capacity(count),
            block_of,
            coordinates,
            factor: Vec::with_capacity(n),
            bilateral_rows: bilateral.nrows(),
            empty_rows,
            dimension: 0,
            tolerance,
        };
        let mut start = 0;
        for (b, &end) in ends.iter().enumerate() {
            let at = metric.factor.len();
            cholesky(&metric.coordinates[start..end], mass, &mut metric.factor)?;
            let mut block = Block {
                coordinates: start..end,
                factor: at..metric.factor.len(),
                constraint: None,
                first: metric.dimension,
                dimension: end - start,
            };
            if row_block.contains(&Some(b)) {
                let rows = (0..row_block.len()).filter(|&i| row_block[i] == Some(b)).collect();
                let constraint = metric.constraint(&block, rows, bilateral);
                block.dimension -= constraint.range.rank;
                block.constraint = Some(constraint);
            }
            metric.dimension += block.dimension;
            metric.blocks.push(block);
            start = end;
        }
        Ok(metric)
    }

    /// What the bilateral rows of a block forbid.
    fn constraint(&self, block: &Block, rows: Vec<usize>, bilateral: &DMatrix<f64>) -> Constraint {
        let n = block.coordinates.len();
        let mut columns = Vec::with_capacity(n * rows.len());
        let mut lengths = Vec::with_capacity(rows.len());
        for &row in &rows {
            let from = columns.len();
            columns.extend(self.coordinates_of(block).iter().map(|&j| bilateral[(row, j)]));
            let x = &mut columns[from..];
            forward(self.factor_of(block), x);
            let length = norm(x);
            lengths.push(length);
            for x in x {
                *x /= length;
            }
        }
        let range = PivotedQr::new(n, rows.len(), columns, self.tolerance);
        let dual = (range.rank < rows.len()).then(|| range.transposed(&lengths, 0.0));
        Constraint { rows, lengths, range, dual }
    }

    fn coordinates_of(&self, block: &Block) -> &[usize] {
        &self.coordinates[block.coordinates.clone()]
    }

    fn factor_of(&self, block: &Block) -> &[f64] {
        &self.factor[block.factor.clone()]
    }

    /// Appends Lᵀ v of a block.
    fn whiten_block(&self, block: &Block, velocity: &DVector<f64>, out: &mut Vec<f64>) {
        let (coordinates, factor) = (self.coordinates_of(block), self.factor_of(block));
        let n = coordinates.len();
        for i in 0..n {
            out.push((i..n).map(|j| factor[i * n + j] * velocity[coordinates[j]]).sum());
        }
    }

    /// The number of degrees of freedom that the bilateral rows leave.
    #[must_use]
    pub const fn dimension(&self) -> usize {
        self.dimension
    }

    /// The rank of the bilateral rows.
    #[must_use]
    pub fn bilateral_rank(&self) -> usize {
        self.block_of.len() - self.dimension
    }

    /// How nearly dependent the independent bilateral rows are: an estimate of the condition of Â, at least 1.
    #[must_use]
    pub fn bilateral_condition(&self) -> f64 {
        let constraints = self.blocks.iter().filter_map(|b| b.constraint.as_ref());
        constraints.filter(|c| c.range.rank > 0).fold(1.0, |worst: f64, c| {
            let last = c.range.rank - 1;
            worst.max((c.range.r(0, 0) / c.range.r(last, last)).abs())
        })
    }

    /// 2T of a velocity: |Lᵀ v|².
    #[must_use]
    pub fn square(&self, velocity: &DVector<f64>) -> f64 {
        let x = self.whiten(velocity);
        x.iter().map(|x| x * x).sum()
    }

    /// The block of each coordinate.
    pub(crate) fn block_of(&self) -> &[usize] {
        &self.block_of
    }

    /// 2T of each block.
    pub(crate) fn block_squares(&self, velocity: &DVector<f64>) -> Vec<f64> {
        let mut x = Vec::new();
        let squares = self.blocks.iter().map(|block| {
            x.clear();
            self.whiten_block(block, velocity, &mut x);
            x.iter().map(|x| x * x).sum()
        });
        squares.collect()
    }

    /// Lᵀ v, the coordinates of each block in turn.
    pub(crate) fn whiten(&self, velocity: &DVector<f64>) -> Vec<f64> {
        let mut x = Vec::with_capacity(velocity.len());
        for block in &self.blocks {
            self.whiten_block(block, velocity, &mut x);
        }
        x
    }

    /// A row of coefficients on v as reduced coordinates C = N L⁻ᵀ Z̃, appended to `rows`; returns |N L⁻ᵀ|, its
    /// length before the bilateral rows take their part.
    pub(crate) fn reduce<'a>(
        &self,
        coefficient: impl Iterator<Item = &'a f64> + Clone,
        rows: &mut Rows,
        scratch: &mut Scratch,
    ) -> f64 {
        let coefficients = &mut scratch.coefficients;
        coefficients.clear();
        coefficients.extend(coefficient);
        let touched = &mut scratch.touched;
        touched.clear();
        touched.extend(coefficients.iter().zip(&self.block_of).filter(|(c, _)| **c != 0.0).map(|(_, &b)| b));
        touched.sort_unstable();
        touched.dedup();
        scratch.entries.clear();
        scratch.lengths.clear();
        for &b in touched.iter() {
            let block = &self.blocks[b];
            let x = &mut scratch.part;
            x.clear();
            x.extend(self.coordinates_of(block).iter().map(|&i| coefficients[i]));
            forward(self.factor_of(block), x);
            scratch.lengths.push(norm(x));
            let skip = block.split(x);
            scratch.entries.extend(x[skip..].iter().enumerate().map(|(i, &c)| (block.first + i, c)));
        }
        rows.push(scratch.entries.iter().copied());
        norm(&scratch.lengths)
    }

    /// L⁻ᵀ Z̃ u added to the velocity.
    pub(crate) fn lift(&self, u: &[f64], velocity: &mut DVector<f64>) {
        let mut x = Vec::new();
        for block in &self.blocks {
            let part = &u[block.first..block.first + block.dimension];
            if part.iter().all(|&u| u == 0.0) {
                continue;
            }
            block.embed(part, &mut x);
            backward(self.factor_of(block), &mut x);
            for (&i, x) in self.coordinates_of(block).iter().zip(&x) {
                velocity[i] += x;
            }
        }
    }

    /// Z̃ᵀ Lᵀ v.
    pub(crate) fn project_down(&self, velocity: &DVector<f64>) -> Vec<f64> {
        let mut z = Vec::with_capacity(self.dimension);
        let mut x = Vec::new();
        for block in &self.blocks {
            x.clear();
            self.whiten_block(block, velocity, &mut x);
            let skip = block.split(&mut x);
            z.extend_from_slice(&x[skip..]);
        }
        z
    }

    /// The velocity nearest in the kinetic metric that satisfies A v = 0.
    #[must_use]
    pub fn project(&self, velocity: &DVector<f64>) -> DVector<f64> {
        let mut projected = DVector::zeros(velocity.len());
        self.lift(&self.project_down(velocity), &mut projected);
        projected
    }

    /// The length |A_i L⁻ᵀ| of each bilateral row: A_i v is at most this times √(2T).
    pub(crate) fn bilateral_lengths(&self) -> Vec<f64> {
        let mut lengths = vec![0.0; self.bilateral_rows];
        for constraint in self.blocks.iter().filter_map(|b| b.constraint.as_ref()) {
            for (&row, &length) in constraint.rows.iter().zip(&constraint.lengths) {
                lengths[row] = length;
            }
        }
        lengths
    }

    /// λ = −(A G⁻¹ Aᵀ)⁺ A G⁻¹ f: the bilateral impulses (of least norm) that answer generalised impulses f.
    #[must_use]
    pub fn bilateral_impulses(&self, impulse: &DVector<f64>) -> DVector<f64> {
        let mut lambda = DVector::zeros(self.bilateral_rows);
        for block in &self.blocks {
            let Some(c) = &block.constraint else { continue };
            let mut x: Vec<f64> = self.coordinates_of(block).iter().map(|&i| -impulse[i]).collect();
            forward(self.factor_of(block), &mut x);
            c.range.apply_transposed(&mut x);
            if let Some(dual) = &c.dual {
                for (&row, value) in c.rows.iter().zip(dual.least_norm(&x, c.rows.len())) {
                    lambda[row] = value;
                }
            } else {
                c.range.solve(&mut x);
                for (&i, x) in c.range.order.iter().zip(&x) {
                    lambda[c.rows[i]] = x / c.lengths[i];
                }
            }
        }
        lambda
    }

    /// A basis of the bilateral impulses in balance with one another: Aᵀ λ = 0.
    pub(crate) fn bilateral_self_stresses(&self) -> Vec<Vec<f64>> {
        let mut basis = Vec::new();
        for &row in &self.empty_rows {
            let mut unit = vec![0.0; self.bilateral_rows];
            unit[row] = 1.0;
            basis.push(unit);
        }
        for c in self.blocks.iter().filter_map(|b| b.constraint.as_ref()) {
            let Some(dual) = &c.dual else { continue };
            for k in dual.rank..c.rows.len() {
                let mut t = vec![0.0; c.rows.len()];
                t[k] = 1.0;
                dual.apply(&mut t);
                let mut full = vec![0.0; self.bilateral_rows];
                for (&row, value) in c.rows.iter().zip(t) {
                    full[row] = value;
                }
                basis.push(full);
            }
        }
        basis
    }

    /// Whether dependent bilateral rows leave bilateral impulses undetermined.
    #[must_use]
    pub fn bilateral_redundant(&self) -> bool {
        self.bilateral_rank() < self.bilateral_rows
    }

    /// The tolerance of the rank decisions.
    #[must_use]
    pub const fn tolerance(&self) -> f64 {
        self.tolerance
    }

    /// The constrained inverse mass G_A⁻¹, n×n.
    #[must_use]
    pub fn constrained_inverse(&self) -> DMatrix<f64> {
        let n = self.block_of.len();
        let mut inverse = DMatrix::zeros(n, n);
        let mut rows = Rows::new(self.dimension);
        let mut scratch = Scratch::default();
        for i in 0..n {
            let unit: Vec<f64> = (0..n).map(|j| if i == j { 1.0 } else { 0.0 }).collect();
            self.reduce(unit.iter(), &mut rows, &mut scratch);
            let mut u = vec![0.0; self.dimension];
            rows.add_to(i, 1.0, &mut u);
            let mut column = DVector::zeros(n);
            self.lift(&u, &mut column);
            inverse.set_column(i, &column);
        }
        inverse
    }

    /// The G-orthogonal projector P on the complement of ker A ∩ ker N (T1), for rows already reduced;
    /// only the rows listed count.
    pub(crate) fn projector(&self, rows: &Rows, ids: &[usize]) -> DMatrix<f64> {
        let n = self.block_of.len();
        let mut columns = vec![0.0; self.dimension * ids.len()];
        for (k, &i) in ids.iter().enumerate() {
            rows.add_to(i, 1.0, &mut columns[k * self.dimension..(k + 1) * self.dimension]);
        }
        let span = PivotedQr::new(self.dimension, ids.len(), columns, self.tolerance);
        let mut p = DMatrix::identity(n, n);
        for j in 0..n {
            let mut unit = DVector::zeros(n);
            unit[j] = 1.0;
            let mut z = self.project_down(&unit);
            // Keep what no row sees: P = I − L⁻ᵀ Z̃ (I − V Vᵀ) Z̃ᵀ Lᵀ.
            span.apply_transposed(&mut z);
            z[..span.rank].fill(0.0);
            span.apply(&mut z);
            let mut free = DVector::zeros(n);
            self.lift(&z, &mut free);
            p.column_mut(j).axpy(-1.0, &free, 1.0);
        }
        p
    }
}

/// Space that reducing many rows uses again and again.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    coefficients: Vec<f64>,
    touched: Vec<usize>,
    part: Vec<f64>,
    entries: Vec<(usize, f64)>,
    lengths: Vec<f64>,
}
