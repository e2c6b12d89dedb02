//! The multipliers of many rows, each of which moves two bodies at most, at a cost in proportion to the contacts.
//!
//! Rows at unit length Ĉ, pushes at unit length D̂, both sparse. Of all λ with ĈD̂ᵀλ = r the one nearest to a reference λ₀ is the limit
//! of the proximal iteration
//!
//! ```text
//! λ ← λ + (ĈD̂ᵀ + E)⁻¹ ρ,    ρ = r − Ĉu,    u = D̂ᵀλ,    E = ε diag(e)
//! ```
//!
//! (B. Martinet 1970, R. T. Rockafellar 1976; also iterative refinement of a regularised factorisation). The matrix is never singular,
//! whatever rows depend on one another. A row combination of length σ converges by ε/(σ² + ε) a round, and what is dependent stays
//! where λ₀ has it: e weighs multipliers so that it is those of the rows as given that are nearest. u is summed up along with λ, so that its
//! residual is that of the rows themselves and not of their squares. The factors of an earlier, similar matrix serve as well, in a round
//! or two more; within one step of a motion they are made once.
//!
//! Rows that belong together (the same two bodies) are one block. Blocks are eliminated in the order of least degree (W. F. Tinney
//! and J. W. Walker 1967), with pivoting inside a block only.
//!
//! **How it fails.** Nearly dependent rows, σ² ≲ ε, converge slowly, and sliding friction may make the blocks singular. Then
//! [`Found::Unsettled`] leaves the rows to [`dense`](super::dense).

use core::ops::Range;

use super::{Balance, Failure};

/// The regularisation, beside rows of unit length.
const EPSILON: f64 = 1e-7;

/// Weights of multipliers range down to this.
const LEAST_WEIGHT: f64 = 1e-3;

/// A residual below this, beside the terms that it is the difference of, is rounding; and where no round makes it less, beside the terms
/// that these are the sums of.
const MET: f64 = 4.0 * f64::EPSILON;
const ROUNDED: f64 = 32.0 * f64::EPSILON;

/// Rounds, and what one must leave at most of a residual: with factors made for another matrix, and with its own.
const MOST_ROUNDS: u32 = 24;
const STALE: f64 = 0.03;
const STALLED: f64 = 0.5;

/// A change of λ that changes u by less than this share of the residual moves dependent rows only.
const DEPENDENT: f64 = 1e-2;

/// Residuals of dependent rows above this, beside the change, contradict each other.
const CONTRADICTION: f64 = 1e-8;

/// The most rows of one block.
const LARGEST: usize = 6;

/// Terms of a row below this share of the largest row's count as this much.
const SMALL: f64 = 1e-4;

/// What came of the iteration.
pub(super) enum Found {
    Settled,
    /// It does not converge.
    Unsettled,
}

/// Rows that move the same two bodies.
#[derive(Debug, Clone, Copy)]
struct Block {
    first: usize,
    count: usize,
}

/// A block's matrix beside another's: the other block, and where it stands.
#[derive(Debug, Clone, Copy)]
struct Neighbour {
    block: usize,
    /// Of the other's rows and this one's columns; and transposed.
    below: usize,
    right: usize,
}

/// The factors, and room to work in.
#[derive(Debug, Clone, Default)]
pub(super) struct Sparse {
    /// The columns that the rows touch, for which the order was found.
    pattern: Vec<[usize; 2]>,
    blocks: Vec<Block>,
    order: Vec<usize>,
    /// For each block, those eliminated after it, as a range of one list.
    ranges: Vec<(usize, usize)>,
    neighbours: Vec<Neighbour>,
    /// Where the block of each pair stands among the values.
    place: Vec<usize>,
    values: Vec<f64>,
    factored: bool,
    /// Whether earlier factors have not served.
    stale: bool,
    /// The blocks at each body: its column, and a range of the list of members.
    meeting: Vec<(usize, Range<usize>)>,
    members: Vec<usize>,
    lines: Vec<Line>,
    residual: Vec<f64>,
    solution: Vec<f64>,
    last: Vec<f64>,
    sizes: Vec<f64>,
    gross: Vec<f64>,
}

/// A row at unit length.
#[derive(Debug, Clone, Copy)]
struct Line {
    row: [Run; 2],
    push: [Run; 2],
    right: f64,
    /// What row and push were divided by.
    length: f64,
    span: f64,
    weight: f64,
}

/// What a row is at one body.
type Run = [f64; RUN];
const RUN: usize = 6;

const NONE: usize = usize::MAX;

impl Sparse {
    /// Solves for the multipliers and the change of a balance.
    pub fn solve(&mut self, balance: &mut Balance) -> Result<Found, Failure> {
        if !self.read(balance) {
            return Ok(Found::Unsettled);
        }
        self.find_order(balance);
        let mut own = false;
        if !self.factored || self.stale {
            if !self.factor() {
                return Ok(Found::Unsettled);
            }
            own = true;
        }
        let count = self.lines.len();
        balance.change.fill(0.0);
        for i in 0..count {
            balance.multipliers[i] = balance.reference[i] * self.lines[i].span;
            if balance.multipliers[i] != 0.0 {
                self.add(i, balance.multipliers[i], &mut balance.change);
            }
        }
        let (mut before, mut rounds) = (f64::INFINITY, 0);
        loop {
            let Some(worst) = self.find_residual(&balance.change) else {
                return Ok(Found::Unsettled);
            };
            if self.is_met() {
                break;
            }
            let slow = if own { STALLED } else { STALE };
            if worst > slow * before || rounds >= MOST_ROUNDS {
                if !own {
                    // What the other factors did so far is a start as good as any.
                    if !self.factor() {
                        return Ok(Found::Unsettled);
                    }
                    (own, self.stale, before, rounds) = (true, true, f64::INFINITY, 0);
                    continue;
                }
                if self.is_rounding(balance) {
                    break;
                }
                return self.judge(balance, rounds);
            }
            before = worst;
            rounds += 1;
            self.apply();
            for i in 0..count {
                balance.multipliers[i] += self.solution[i];
                self.add(i, self.solution[i], &mut balance.change);
            }
        }
        for (multiplier, line) in balance.multipliers.iter_mut().zip(&self.lines) {
            *multiplier /= line.span;
        }
        (balance.rank, balance.volume) = (count, 0.0);
        Ok(Found::Settled)
    }

    /// A residual that stays: of dependent rows, which may be off by what counts as rounding, or of nearly dependent ones.
    fn judge(&mut self, balance: &mut Balance, rounds: u32) -> Result<Found, Failure> {
        self.last.clear();
        self.last.extend_from_slice(&self.residual);
        self.apply();
        // What the residual would still do to u.
        let mut moved = vec![0.0; balance.change.len()];
        for i in 0..self.lines.len() {
            self.add(i, self.solution[i], &mut moved);
        }
        let worst = self.last.iter().fold(0.0, |m: f64, r| m.max(r.abs()));
        let effect = (0..self.lines.len()).map(|i| self.along(i, &moved).0.abs()).fold(0.0, f64::max);
        if effect > DEPENDENT * worst {
            return Ok(Found::Unsettled);
        }
        let scale = crate::metric::norm(&balance.change);
        for (i, line) in self.lines.iter().enumerate() {
            if self.last[i].abs() > CONTRADICTION * scale + balance.noise[i] / line.length {
                return Err(if balance.sliding { Failure::Jam } else { Failure::Contradiction });
            }
        }
        // Every round moved the multipliers of dependent rows by as much: back to where they are nearest.
        for (i, line) in self.lines.iter().enumerate() {
            balance.multipliers[i] -= f64::from(rounds) * self.solution[i];
            balance.multipliers[i] /= line.span;
        }
        (balance.rank, balance.volume) = (self.lines.len(), 0.0);
        Ok(Found::Settled)
    }

    /// Rows and pushes at unit length; false if some have none.
    fn read(&mut self, balance: &Balance) -> bool {
        self.lines.clear();
        let zero = [0.0; RUN];
        let runs = |values: &[f64], blocks: [(usize, usize); 2]| {
            let (one, two) = values.split_at(blocks[0].1);
            [one, two].map(|run| <Run>::try_from(run).unwrap_or(zero))
        };
        let norm = |runs: &[Run; 2]| libm::sqrt(runs.iter().flatten().map(|c| c * c).sum::<f64>());
        let mut least = f64::INFINITY;
        for i in 0..balance.count() {
            let blocks = balance.spans[i].blocks;
            if blocks.iter().any(|(_, length)| ![0, RUN].contains(length)) {
                return false;
            }
            let range = balance.range(i);
            let row = runs(&balance.rows[range.clone()], blocks);
            let push = if balance.sliding { runs(&balance.pushes[range], blocks) } else { row };
            let length = norm(&row);
            let span = if balance.sliding { norm(&push) } else { length };
            if !(length > 0.0 && length.is_finite() && span > 0.0 && span.is_finite()) {
                return false;
            }
            least = least.min(span);
            self.lines.push(Line {
                row: row.map(|run| run.map(|c| c / length)),
                push: push.map(|run| run.map(|c| c / span)),
                right: balance.right[i] / length,
                length,
                span,
                weight: 0.0,
            });
        }
        for line in &mut self.lines {
            let weight = least / line.span;
            line.weight = (weight * weight).max(LEAST_WEIGHT) * EPSILON;
        }
        true
    }

    /// u ← u + factor · a push.
    fn add(&self, i: usize, factor: f64, change: &mut [f64]) {
        for (column, run) in self.pattern[i].iter().zip(&self.lines[i].push) {
            if let Some(out) = change.get_mut(*column..column.saturating_add(RUN)) {
                for (u, c) in out.iter_mut().zip(run) {
                    *u += factor * c;
                }
            }
        }
    }

    /// A row times u, and the size of the terms.
    fn along(&self, i: usize, change: &[f64]) -> (f64, f64) {
        let (mut sum, mut size) = (0.0, 0.0);
        for (column, run) in self.pattern[i].iter().zip(&self.lines[i].row) {
            if let Some(values) = change.get(*column..column.saturating_add(RUN)) {
                for (u, c) in values.iter().zip(run) {
                    let term = u * c;
                    sum += term;
                    size += term.abs();
                }
            }
        }
        (sum, size)
    }

    /// The residual of every row, with the sizes of what it is the difference of; returns the largest, if all are numbers.
    fn find_residual(&mut self, change: &[f64]) -> Option<f64> {
        self.residual.clear();
        self.sizes.clear();
        let mut worst: f64 = 0.0;
        for i in 0..self.lines.len() {
            let right = self.lines[i].right;
            let (sum, size) = self.along(i, change);
            let rest = right - sum;
            if rest.is_nan() {
                return None;
            }
            self.residual.push(rest);
            self.sizes.push(size + right.abs());
            worst = worst.max(rest.abs());
        }
        Some(worst)
    }

    /// Whether all residuals are rounding of the terms that they are the difference of.
    fn is_met(&self) -> bool {
        let largest = self.sizes.iter().fold(0.0, |m: f64, size| m.max(*size));
        let both = self.residual.iter().zip(&self.sizes);
        both.into_iter().all(|(rest, size)| rest.abs() <= MET * (size + SMALL * largest))
    }

    /// Whether all residuals are rounding of what u is the sum of, which may cancel.
    fn is_rounding(&mut self, balance: &Balance) -> bool {
        self.gross.clear();
        self.gross.resize(balance.change.len(), 0.0);
        for (i, line) in self.lines.iter().enumerate() {
            for (column, run) in self.pattern[i].iter().zip(&line.push) {
                if let Some(out) = self.gross.get_mut(*column..column.saturating_add(RUN)) {
                    for (sum, c) in out.iter_mut().zip(run) {
                        *sum += (balance.multipliers[i] * c).abs();
                    }
                }
            }
        }
        (0..self.lines.len()).all(|i| {
            let size = self.lines[i].right.abs() + self.along(i, &self.gross).1;
            self.residual[i].abs() <= ROUNDED * size
        })
    }

    /// Blocks of rows and the order in which they are eliminated, unless these rows are like the last.
    fn find_order(&mut self, balance: &Balance) {
        let pattern = (0..balance.count()).map(|i| balance.columns(i));
        if self.pattern.len() == balance.count() && pattern.clone().eq(self.pattern.iter().copied()) {
            return;
        }
        (self.factored, self.stale) = (false, false);
        self.pattern.clear();
        self.pattern.extend(pattern);
        self.blocks.clear();
        for i in 0..self.pattern.len() {
            match self.blocks.last_mut() {
                Some(last) if self.pattern[last.first] == self.pattern[i] && last.count < LARGEST => {
                    last.count += 1
                }
                _ => self.blocks.push(Block { first: i, count: 1 }),
            }
        }
        let count = self.blocks.len();
        // The blocks at each body.
        let mut at: Vec<(usize, usize)> = Vec::with_capacity(2 * count);
        for (k, block) in self.blocks.iter().enumerate() {
            at.extend(
                self.pattern[block.first].iter().filter(|column| **column != NONE).map(|column| (*column, k)),
            );
        }
        at.sort_unstable();
        self.meeting.clear();
        self.members.clear();
        let mut from = 0;
        while from < at.len() {
            let to = at[from..]
                .iter()
                .position(|(column, _)| *column != at[from].0)
                .map_or(at.len(), |n| from + n);
            self.meeting.push((at[from].0, self.members.len()..self.members.len() + to - from));
            self.members.extend(at[from..to].iter().map(|(_, block)| *block));
            from = to;
        }
        self.eliminate();
    }

    /// The order of least degree, and the blocks that fill in.
    fn eliminate(&mut self) {
        let count = self.blocks.len();
        let words = count.div_ceil(64);
        let mut beside = vec![0_u64; count * words];
        for (_, range) in &self.meeting {
            for &a in &self.members[range.clone()] {
                for &b in &self.members[range.clone()] {
                    if a != b {
                        beside[a * words + b / 64] |= 1 << (b % 64);
                    }
                }
            }
        }
        let degree = |beside: &[u64], k: usize| -> u32 {
            beside[k * words..(k + 1) * words].iter().map(|word| word.count_ones()).sum()
        };
        let mut degrees: Vec<u32> = (0..count).map(|k| degree(&beside, k)).collect();
        let mut done = vec![false; count];
        self.order.clear();
        self.ranges.clear();
        self.ranges.resize(count, (0, 0));
        self.neighbours.clear();
        self.place.clear();
        self.place.resize(count * count, NONE);
        let mut size = 0;
        let room = |a: &Block, b: &Block, size: &mut usize| {
            let at = *size;
            *size += a.count * b.count;
            at
        };
        let mut own = vec![0_u64; words];
        for _ in 0..count {
            let Some(k) = (0..count).filter(|&k| !done[k]).min_by_key(|&k| degrees[k]) else { break };
            done[k] = true;
            self.order.push(k);
            self.place[k * count + k] = room(&self.blocks[k], &self.blocks[k], &mut size);
            own.copy_from_slice(&beside[k * words..(k + 1) * words]);
            let from = self.neighbours.len();
            for other in 0..count {
                if own[other / 64] & (1 << (other % 64)) == 0 {
                    continue;
                }
                let below = room(&self.blocks[other], &self.blocks[k], &mut size);
                let right = room(&self.blocks[k], &self.blocks[other], &mut size);
                (self.place[other * count + k], self.place[k * count + other]) = (below, right);
                self.neighbours.push(Neighbour { block: other, below, right });
                let row = &mut beside[other * words..(other + 1) * words];
                for (word, own) in row.iter_mut().zip(&own) {
                    *word |= own;
                }
                row[other / 64] &= !(1 << (other % 64));
                row[k / 64] &= !(1 << (k % 64));
                degrees[other] = degree(&beside, other);
            }
            self.ranges[k] = (from, self.neighbours.len());
        }
        self.values.clear();
        self.values.resize(size, 0.0);
    }

    /// The factors of ĈD̂ᵀ + E; false if a block is singular.
    fn factor(&mut self) -> bool {
        self.values.fill(0.0);
        let count = self.blocks.len();
        for (column, range) in &self.meeting {
            let run = |i: usize| usize::from(self.pattern[i][0] != *column);
            for &a in &self.members[range.clone()] {
                let one = self.blocks[a];
                let first = run(one.first);
                for &b in &self.members[range.clone()] {
                    let two = self.blocks[b];
                    let second = run(two.first);
                    let mut at = self.place[a * count + b];
                    for i in one.first..one.first + one.count {
                        let row = &self.lines[i].row[first];
                        for j in two.first..two.first + two.count {
                            let push = &self.lines[j].push[second];
                            self.values[at] += (0..RUN).map(|k| row[k] * push[k]).sum::<f64>();
                            at += 1;
                        }
                    }
                }
            }
        }
        for (k, block) in self.blocks.iter().enumerate() {
            let at = self.place[k * count + k];
            for i in 0..block.count {
                self.values[at + i * (block.count + 1)] += self.lines[block.first + i].weight;
            }
        }
        for &k in &self.order {
            let n = self.blocks[k].count;
            let at = self.place[k * count + k];
            if !invert(&mut self.values[at..at + n * n], n) {
                self.factored = false;
                return false;
            }
            let (from, to) = self.ranges[k];
            let mut scaled = [0.0; LARGEST * LARGEST];
            for place in from..to {
                let Neighbour { block, right, .. } = self.neighbours[place];
                let m = self.blocks[block].count;
                for i in 0..n {
                    for j in 0..m {
                        scaled[i * m + j] = (0..n)
                            .map(|l| self.values[at + i * n + l] * self.values[right + l * m + j])
                            .sum();
                    }
                }
                self.values[right..right + n * m].copy_from_slice(&scaled[..n * m]);
            }
            for one in from..to {
                let Neighbour { block: a, below, .. } = self.neighbours[one];
                let rows = self.blocks[a].count;
                for two in from..to {
                    let Neighbour { block: b, right, .. } = self.neighbours[two];
                    let columns = self.blocks[b].count;
                    let target = self.place[a * count + b];
                    for i in 0..rows {
                        for l in 0..n {
                            let factor = self.values[below + i * n + l];
                            for j in 0..columns {
                                let product = factor * self.values[right + l * columns + j];
                                self.values[target + i * columns + j] -= product;
                            }
                        }
                    }
                }
            }
        }
        self.factored = true;
        true
    }

    /// The solution for the residual.
    fn apply(&mut self) {
        let count = self.blocks.len();
        self.solution.clear();
        self.solution.extend_from_slice(&self.residual);
        let mut own = [0.0; LARGEST];
        for &k in &self.order {
            let Block { first, count: n } = self.blocks[k];
            let at = self.place[k * count + k];
            for i in 0..n {
                own[i] = (0..n).map(|l| self.values[at + i * n + l] * self.solution[first + l]).sum();
            }
            self.solution[first..first + n].copy_from_slice(&own[..n]);
            let (from, to) = self.ranges[k];
            for Neighbour { block, below, .. } in &self.neighbours[from..to] {
                let other = self.blocks[*block];
                for i in 0..other.count {
                    let sum: f64 = (0..n).map(|l| self.values[below + i * n + l] * own[l]).sum();
                    self.solution[other.first + i] -= sum;
                }
            }
        }
        for &k in self.order.iter().rev() {
            let Block { first, count: n } = self.blocks[k];
            let (from, to) = self.ranges[k];
            for Neighbour { block, right, .. } in &self.neighbours[from..to] {
                let other = self.blocks[*block];
                for i in 0..n {
                    let sum: f64 = (0..other.count)
                        .map(|j| self.values[right + i * other.count + j] * self.solution[other.first + j])
                        .sum();
                    self.solution[first + i] -= sum;
                }
            }
        }
    }
}

/// The inverse of a small matrix, by elimination with pivoting; false if it is singular.
fn invert(matrix: &mut [f64], n: usize) -> bool {
    if n == 1 {
        let regular = matrix[0] > 0.0;
        matrix[0] = 1.0 / matrix[0];
        return regular && matrix[0].is_finite();
    }
    let mut inverse = [0.0; LARGEST * LARGEST];
    for i in 0..n {
        inverse[i * n + i] = 1.0;
    }
    for k in 0..n {
        let mut best = k;
        for i in k + 1..n {
            if matrix[i * n + k].abs() > matrix[best * n + k].abs() {
                best = i;
            }
        }
        let pivot = matrix[best * n + k];
        if pivot.is_nan() || pivot.abs() < 1e-14 {
            return false;
        }
        for j in 0..n {
            matrix.swap(k * n + j, best * n + j);
            inverse.swap(k * n + j, best * n + j);
        }
        for j in 0..n {
            matrix[k * n + j] /= pivot;
            inverse[k * n + j] /= pivot;
        }
        for i in (0..n).filter(|&i| i != k) {
            let factor = matrix[i * n + k];
            for j in 0..n {
                matrix[i * n + j] -= factor * matrix[k * n + j];
                inverse[i * n + j] -= factor * inverse[k * n + j];
            }
        }
    }
    matrix.copy_from_slice(&inverse[..n * n]);
    true
}
