//! The multipliers of rows, in coordinates in which the mass matrix is the unit matrix.
//!
//! Rows C (m × d), asked-for values r: the shortest change u with C u = r is u = Cᵀλ. Rows may depend on one another: of all λ with Cᵀλ = u
//! the one of least norm is given, or the nearest to a λ given as reference. Dependent rows whose values contradict each other have
//! no answer.
//!
//! Where friction slides, the force of a row is not along the row: u = Dᵀλ with C Dᵀ λ = r, which need not have an answer
//! even for independent rows (Painlevé). If C Dᵀ is singular and r agrees with it, λ is again near the reference; u
//! then depends on that choice, if it is sliding contacts that share a load.
//!
//! Few rows are solved as a [`dense`] matrix, which tells their rank; many as a [`sparse`] one.
//!
//! Nothing is allocated once the room has been made, but where C Dᵀ is singular.

mod dense;
mod sparse;

use core::ops::Range;

use sparse::{Found, Sparse};

/// From this many rows on the sparse matrix is the less work.
const MANY: usize = 7;

/// Why rows have no multipliers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Dependent rows ask for different things.
    Contradiction,
    /// Sliding friction leaves none, or not one.
    Jam,
}

/// Where a row's values stand, and their columns: up to two runs, each with its first column and its length.
#[derive(Debug, Clone, Copy, Default)]
struct Span {
    at: usize,
    blocks: [(usize, usize); 2],
}

/// Rows, what is asked of them, and the answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Balance {
    dimension: usize,
    spans: Vec<Span>,
    /// C, row by row, what is not zero.
    rows: Vec<f64>,
    /// D likewise, where some row's force is not along it.
    pushes: Vec<f64>,
    /// Whether D differs from C.
    pub sliding: bool,
    /// r.
    pub right: Vec<f64>,
    /// The λ to which that of dependent rows is to be nearest.
    pub reference: Vec<f64>,
    /// What counts as rounding in r: dependent rows may miss it by so much.
    pub noise: Vec<f64>,
    /// What of r a nearly dependent row is not asked for, because it is rounding.
    pub slack: Vec<f64>,
    /// Whether the rank is asked for, or nearly dependent rows are to be expected: the matrix is dense whatever its size.
    pub dense: bool,
    /// How many rows are independent, and the logarithm of the volume that these span at unit length; of a dense matrix.
    pub rank: usize,
    pub volume: f64,
    /// λ.
    pub multipliers: Vec<f64>,
    /// u.
    pub change: Vec<f64>,
    room: dense::Room,
    sparse: Sparse,
    /// Whether the sparse matrix has failed.
    unsettled: bool,
}

impl Balance {
    /// No rows of this dimension yet.
    pub fn clear(&mut self, dimension: usize) {
        self.dimension = dimension;
        self.sliding = false;
        self.spans.clear();
        self.rows.clear();
        self.pushes.clear();
        self.right.clear();
        self.reference.clear();
        self.noise.clear();
        self.slack.clear();
        (self.rank, self.volume) = (0, 0.0);
    }

    /// How many rows there are.
    pub fn count(&self) -> usize {
        self.spans.len()
    }

    /// The number of columns.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Adds a row of zeros, to be written to.
    pub fn push(&mut self) -> &mut [f64] {
        self.push_blocks([(0, self.dimension), (0, 0)])
    }

    /// Adds a row that is zero outside of two runs of columns, each given by its first column and its length; to be written to, one run
    /// after the other.
    pub fn push_blocks(&mut self, blocks: [(usize, usize); 2]) -> &mut [f64] {
        let at = self.rows.len();
        self.spans.push(Span { at, blocks });
        self.rows.resize(at + blocks[0].1 + blocks[1].1, 0.0);
        self.right.push(0.0);
        self.reference.push(0.0);
        self.noise.push(0.0);
        self.slack.push(0.0);
        &mut self.rows[at..]
    }

    /// The forces of all rows, which are zero where the rows are; to be written to. From now on they count.
    pub fn push_forces(&mut self, mut write: impl FnMut(usize, &mut [f64])) {
        self.sliding = true;
        self.pushes.clear();
        self.pushes.resize(self.rows.len(), 0.0);
        for i in 0..self.count() {
            let range = self.range(i);
            write(i, &mut self.pushes[range]);
        }
    }

    fn range(&self, i: usize) -> Range<usize> {
        let Span { at, blocks } = self.spans[i];
        at..at + blocks[0].1 + blocks[1].1
    }

    /// The columns and values of a row, taken from values that stand as the rows do.
    fn entries_of<'a>(&self, values: &'a [f64], i: usize) -> impl Iterator<Item = (usize, f64)> + use<'a> {
        let Span { at, blocks: [(one, first), (two, second)] } = self.spans[i];
        let columns = (one..one + first).chain(two..two + second);
        columns.zip(values[at..].iter().copied())
    }

    /// The first columns of a row's runs; `usize::MAX` for none.
    fn columns(&self, i: usize) -> [usize; 2] {
        self.spans[i].blocks.map(|(column, length)| if length > 0 { column } else { usize::MAX })
    }

    /// The columns and values of a row.
    pub fn entries(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.entries_of(&self.rows, i)
    }

    /// The columns and values of a row's force.
    pub fn force_entries(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.entries_of(if self.sliding { &self.pushes } else { &self.rows }, i)
    }

    /// The square of a row's length: what one unit of its force does along it.
    pub fn response(&self, i: usize) -> f64 {
        self.rows[self.range(i)].iter().map(|c| c * c).sum()
    }

    /// A row's length.
    pub fn length(&self, i: usize) -> f64 {
        crate::metric::norm(&self.rows[self.range(i)])
    }

    /// Solves for u and λ.
    pub fn solve(&mut self) -> Result<(), Failure> {
        self.multipliers.clear();
        self.multipliers.resize(self.count(), 0.0);
        self.change.clear();
        self.change.resize(self.dimension, 0.0);
        if self.count() >= MANY && !self.dense && !self.unsettled {
            let mut sparse = core::mem::take(&mut self.sparse);
            let found = sparse.solve(self);
            self.sparse = sparse;
            match found? {
                Found::Settled => return Ok(()),
                Found::Unsettled => {
                    // One way for all the instants of a step, so that they are alike.
                    self.unsettled = true;
                    self.multipliers.fill(0.0);
                    self.change.fill(0.0);
                }
            }
        }
        let mut room = core::mem::take(&mut self.room);
        let solved = room.solve(self);
        self.room = room;
        solved
    }
}

#[cfg(test)]
mod tests {
    use super::{Balance, Failure};

    fn balance(rows: &[&[f64]], right: &[f64]) -> Balance {
        let mut balance = Balance::default();
        balance.clear(rows[0].len());
        for (row, right) in rows.iter().zip(right) {
            balance.push().copy_from_slice(row);
            *balance.right.last_mut().unwrap() = *right;
        }
        balance
    }

    fn entry(balance: &Balance, i: usize, k: usize) -> f64 {
        balance.entries(i).filter(|(column, _)| *column == k).map(|(_, c)| c).sum()
    }

    #[test]
    fn independent_rows_are_met() {
        let mut b = balance(&[&[1.0, 2.0, 0.0], &[0.0, 1.0, -1.0]], &[3.0, -2.0]);
        b.solve().unwrap();
        for i in 0..2 {
            let met: f64 = b.entries(i).map(|(k, c)| c * b.change[k]).sum();
            assert!((met - b.right[i]).abs() < 1e-15);
        }
        for k in 0..3 {
            let pushed: f64 = (0..2).map(|i| b.multipliers[i] * entry(&b, i, k)).sum();
            assert!((pushed - b.change[k]).abs() < 1e-15);
        }
    }

    #[test]
    fn dependent_rows_share_by_least_norm() {
        // The third row is the sum of the first two; λ is perpendicular to (1, 1, −1).
        let mut b = balance(&[&[1.0, 0.0, 0.0], &[0.0, 2.0, 0.0], &[1.0, 2.0, 0.0]], &[1.0, 2.0, 3.0]);
        b.solve().unwrap();
        assert!((b.multipliers[0] + b.multipliers[1] - b.multipliers[2]).abs() < 1e-15);
        for k in 0..3 {
            let pushed: f64 = (0..3).map(|i| b.multipliers[i] * entry(&b, i, k)).sum();
            assert!((pushed - b.change[k]).abs() < 1e-15);
        }
        assert!((b.change[0] - 1.0).abs() < 1e-15 && (b.change[1] - 1.0).abs() < 1e-15);
    }

    #[test]
    fn contradictions_are_seen() {
        let mut b = balance(&[&[1.0, 0.0], &[2.0, 0.0]], &[1.0, 1.0]);
        assert_eq!(b.solve(), Err(Failure::Contradiction));
    }

    #[test]
    fn sliding_pushes_beside_the_row() {
        let mut b = balance(&[&[1.0, 0.0], &[0.0, 1.0]], &[1.0, 2.0]);
        let push = |b: &mut Balance, first: f64| {
            b.push_forces(|i, out| out.copy_from_slice(&[[first, 0.5], [0.0, 1.0]][i]));
        };
        push(&mut b, 1.0);
        b.solve().unwrap();
        assert!((b.multipliers[0] - 1.0).abs() < 1e-15 && (b.multipliers[1] - 1.5).abs() < 1e-15);
        assert!((b.change[0] - 1.0).abs() < 1e-15 && (b.change[1] - 2.0).abs() < 1e-15);
        push(&mut b, 0.0);
        assert_eq!(b.solve(), Err(Failure::Jam));
    }
}
