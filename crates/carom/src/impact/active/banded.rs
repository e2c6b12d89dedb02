//! The Gram matrix of the active rows, Cholesky-factorised within its envelope.
//!
//! In an order that follows the contact graph (Cuthill–McKee) rows that share a body stand near one another,
//! and the factor keeps the envelope: entering, leaving and solving cost the number of rows times the square of
//! the bandwidth. The Gram matrix squares the condition of the rows; refinement through the rows
//! themselves (corrected seminormal equations, Björck 1987) gives back what that loses.

use crate::metric::{Rows, norm};

/// A Cholesky factor with the profile of the Gram matrix.
pub(in crate::impact) struct Banded<'a> {
    rows: &'a Rows,
    /// Members in ascending order of `position`.
    members: Vec<usize>,
    /// Each row's position in the fill-reducing order.
    position: Vec<usize>,
    /// Each row's neighbours (itself included) with their inner products.
    gram: Vec<Vec<(usize, f64)>>,
    /// The factor row by row: the place of its first entry, then the entries up to the diagonal.
    first: Vec<usize>,
    factor: Vec<Vec<f64>>,
    /// Each row's place among the members.
    place: Vec<usize>,
    residual: Vec<f64>,
}

const OUTSIDE: usize = usize::MAX;

impl<'a> Banded<'a> {
    /// None when the rows are coupled too densely for an envelope to pay.
    pub fn new(rows: &'a Rows, ids: &[usize]) -> Option<Self> {
        let by_column = rows.by_column(ids);
        // A column shared by many rows makes a clique; its square bounds the work below.
        let limit = ids.len() / 4;
        if by_column.iter().any(|list| list.len() > limit) {
            return None;
        }
        let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); ids.len()];
        for list in &by_column {
            for &a in list {
                neighbours[a].extend(list.iter().copied());
            }
        }
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
        }
        let order = cuthill_mckee(&neighbours);
        let mut at = vec![0; ids.len()];
        for (position, &k) in order.iter().enumerate() {
            at[k] = position;
        }
        let envelope: usize = (0..ids.len())
            .map(|k| at[k] - neighbours[k].iter().map(|&j| at[j]).min().unwrap_or(at[k]).min(at[k]))
            .sum();
        if envelope > ids.len() * ids.len() / 8 {
            return None;
        }
        let mut position = vec![OUTSIDE; rows.len()];
        let mut gram = vec![Vec::new(); rows.len()];
        for (k, &id) in ids.iter().enumerate() {
            position[id] = at[k];
            gram[id] = neighbours[k].iter().map(|&j| (ids[j], rows.inner(id, ids[j]))).collect();
        }
        Some(Self {
            rows,
            members: Vec::new(),
            position,
            gram,
            first: Vec::new(),
            factor: Vec::new(),
            place: vec![OUTSIDE; rows.len()],
            residual: vec![0.0; ids.len()],
        })
    }

    pub fn members(&self) -> &[usize] {
        &self.members
    }

    pub fn split(&mut self, id: usize, share: &mut Vec<f64>, rest: &mut [f64]) -> f64 {
        rest.fill(0.0);
        self.rows.add_to(id, 1.0, rest);
        share.clear();
        share.resize(self.members.len(), 0.0);
        // The first pass solves, the others refine: each projects what is left of the row.
        for _ in 0..3 {
            let mut step = std::mem::take(&mut self.residual);
            step.clear();
            step.extend(self.members.iter().map(|&m| self.rows.dot(m, rest)));
            self.solve_gram(&mut step);
            for ((share, &step), &m) in share.iter_mut().zip(&step).zip(&self.members) {
                *share += step;
                self.rows.add_to(m, -step, rest);
            }
            self.residual = step;
        }
        norm(rest)
    }

    /// Makes the listed rows the members, all at once; false, and no members, when the rest of one is too small
    /// for the Gram matrix to vouch for.
    pub fn fill(&mut self, ids: impl Iterator<Item = usize>) -> bool {
        // A rest r stands in the Gram matrix as r², known to ε: from here on it has ten digits.
        const SMALLEST: f64 = 1e-3;
        for &m in &self.members {
            self.place[m] = OUTSIDE;
        }
        self.members.clear();
        self.members.extend(ids);
        let position = &self.position;
        self.members.sort_unstable_by_key(|&m| position[m]);
        self.refactor(0);
        let smallest = self.factor.iter().map(|row| row[row.len() - 1]).fold(1.0, f64::min);
        if smallest < SMALLEST {
            self.fill(std::iter::empty());
        }
        smallest >= SMALLEST
    }

    /// An estimate of the members' smallest singular value, by inverse iteration on the Gram matrix.
    pub fn smallest_singular_value(&self) -> f64 {
        // Any start with all frequencies in it will do; this one is the same every time.
        let mut x: Vec<f64> =
            (0..self.members.len()).map(|i| if (i * i + i / 3) % 7 < 4 { 1.0 } else { -0.5 }).collect();
        let mut growth = 1.0;
        for _ in 0..6 {
            let length = norm(&x);
            for x in &mut x {
                *x /= length;
            }
            self.solve_gram(&mut x);
            growth = norm(&x);
        }
        (1.0 / growth).sqrt().min(1.0)
    }

    pub fn push(&mut self, id: usize) {
        let at = self.members.partition_point(|&m| self.position[m] < self.position[id]);
        self.members.insert(at, id);
        self.refactor(at);
    }

    pub fn remove(&mut self, place: usize) {
        self.place[self.members[place]] = OUTSIDE;
        self.members.remove(place);
        self.refactor(place);
    }

    pub fn solve(&mut self, h: &[f64], p: &mut Vec<f64>, u: &mut [f64]) {
        p.clear();
        p.resize(self.members.len(), 0.0);
        u.fill(0.0);
        for _ in 0..3 {
            let mut step = std::mem::take(&mut self.residual);
            step.clear();
            step.extend(self.members.iter().zip(h).map(|(&m, h)| h - self.rows.dot(m, u)));
            self.solve_gram(&mut step);
            for ((p, &step), &m) in p.iter_mut().zip(&step).zip(&self.members) {
                *p += step;
                self.rows.add_to(m, step, u);
            }
            self.residual = step;
        }
    }

    /// Factorises again from the member at `from` on.
    fn refactor(&mut self, from: usize) {
        self.first.truncate(from);
        self.factor.truncate(from);
        for (place, &m) in self.members.iter().enumerate().skip(from) {
            self.place[m] = place;
        }
        for i in from..self.members.len() {
            let gram = &self.gram[self.members[i]];
            let first = gram
                .iter()
                .map(|&(j, _)| self.place[j])
                .filter(|&j| j != OUTSIDE)
                .min()
                .map_or(i, |j| j.min(i));
            let mut row = vec![0.0; i + 1 - first];
            for &(j, value) in gram {
                let j = self.place[j];
                if j <= i {
                    row[j - first] = value;
                }
            }
            for j in first..i {
                let start = first.max(self.first[j]);
                let other = &self.factor[j];
                let dot: f64 = (start..j).map(|k| row[k - first] * other[k - self.first[j]]).sum();
                row[j - first] = (row[j - first] - dot) / other[j - self.first[j]];
            }
            let square: f64 = row[..i - first].iter().map(|x| x * x).sum();
            // A row enters only with a rest above the tolerance; the Gram matrix may not resolve its square.
            row[i - first] = (row[i - first] - square).max(f64::EPSILON).sqrt();
            self.first.push(first);
            self.factor.push(row);
        }
    }

    /// x ← (C_P C_Pᵀ)⁻¹ x.
    fn solve_gram(&self, x: &mut [f64]) {
        for i in 0..x.len() {
            let (first, row) = (self.first[i], &self.factor[i]);
            let dot: f64 = (first..i).map(|k| row[k - first] * x[k]).sum();
            x[i] = (x[i] - dot) / row[i - first];
        }
        for i in (0..x.len()).rev() {
            let (first, row) = (self.first[i], &self.factor[i]);
            x[i] /= row[i - first];
            for k in first..i {
                x[k] -= row[k - first] * x[i];
            }
        }
    }
}

/// An order in which neighbours stand close: breadth first from a vertex at the rim of each component.
fn cuthill_mckee(neighbours: &[Vec<usize>]) -> Vec<usize> {
    let n = neighbours.len();
    let mut order = Vec::with_capacity(n);
    let mut seen = vec![false; n];
    for start in 0..n {
        if seen[start] {
            continue;
        }
        // Twice to the farthest vertex: the second is at the rim.
        let mut rim = start;
        for _ in 0..2 {
            let mut visited = vec![rim];
            seen[rim] = true;
            let mut next = 0;
            while next < visited.len() {
                for &j in &neighbours[visited[next]] {
                    if !seen[j] {
                        seen[j] = true;
                        visited.push(j);
                    }
                }
                next += 1;
            }
            rim = visited[visited.len() - 1];
            for j in visited {
                seen[j] = false;
            }
        }
        let mut next = order.len();
        order.push(rim);
        seen[rim] = true;
        while next < order.len() {
            let mut ring: Vec<usize> =
                neighbours[order[next]].iter().copied().filter(|&j| !seen[j]).collect();
            ring.sort_by_key(|&j| neighbours[j].len());
            for j in ring {
                seen[j] = true;
                order.push(j);
            }
            next += 1;
        }
    }
    order
}
