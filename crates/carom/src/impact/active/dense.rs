//! An orthonormal frame of the active rows: C_Pᵀ = Q R, updated as rows enter and leave.

use crate::metric::{Rows, norm};

/// Q with orthonormal columns and upper triangular R, for a few dozen rows.
pub(in crate::impact) struct Dense<'a> {
    rows: &'a Rows,
    members: Vec<usize>,
    /// Columns of Q, each of the rows' dimension.
    q: Vec<f64>,
    /// Columns of R, `capacity` apart.
    r: Vec<f64>,
    capacity: usize,
    /// Qᵀ c of the row split last, and its rest.
    along: Vec<f64>,
    rest: Vec<f64>,
    rest_length: f64,
}

impl<'a> Dense<'a> {
    pub fn new(rows: &'a Rows, capacity: usize) -> Self {
        Self {
            rows,
            members: Vec::with_capacity(capacity),
            q: Vec::with_capacity(capacity * rows.dimension),
            r: Vec::with_capacity(capacity * capacity),
            capacity,
            along: vec![0.0; capacity],
            rest: vec![0.0; rows.dimension],
            rest_length: 0.0,
        }
    }

    pub fn members(&self) -> &[usize] {
        &self.members
    }

    pub fn split(&mut self, id: usize, share: &mut Vec<f64>, rest: &mut [f64]) -> f64 {
        let (d, size) = (self.rows.dimension, self.members.len());
        self.rest.fill(0.0);
        self.rows.add_to(id, 1.0, &mut self.rest);
        self.along[..size].fill(0.0);
        // Twice is enough: the second pass removes what rounding left of the first.
        for _ in 0..2 {
            for k in 0..size {
                let q = &self.q[k * d..(k + 1) * d];
                let dot: f64 = q.iter().zip(&self.rest).map(|(q, x)| q * x).sum();
                self.along[k] += dot;
                for (x, q) in self.rest.iter_mut().zip(q) {
                    *x -= dot * q;
                }
            }
        }
        self.rest_length = norm(&self.rest);
        rest.copy_from_slice(&self.rest);
        share.clear();
        share.extend_from_slice(&self.along[..size]);
        self.back_substitute(share);
        self.rest_length
    }

    pub fn push(&mut self, id: usize) {
        let size = self.members.len();
        self.members.push(id);
        self.q.extend(self.rest.iter().map(|x| x / self.rest_length));
        self.r.extend_from_slice(&self.along[..size]);
        self.r.push(self.rest_length);
        self.r.resize((size + 1) * self.capacity, 0.0);
    }

    pub fn remove(&mut self, place: usize) {
        let (d, size, step) = (self.rows.dimension, self.members.len(), self.capacity);
        self.members.remove(place);
        self.r.drain(place * step..(place + 1) * step);
        // The columns behind the gap reach one below the diagonal; rotations of neighbouring rows of R, and of
        // the same columns of Q, bring them back.
        for k in place..size - 1 {
            let (a, b) = (self.r[k * step + k], self.r[k * step + k + 1]);
            let length = a.hypot(b);
            if length == 0.0 {
                continue;
            }
            let (c, s) = (a / length, b / length);
            for j in k..size - 1 {
                let (x, y) = (self.r[j * step + k], self.r[j * step + k + 1]);
                self.r[j * step + k] = c * x + s * y;
                self.r[j * step + k + 1] = c * y - s * x;
            }
            for i in 0..d {
                let (x, y) = (self.q[k * d + i], self.q[(k + 1) * d + i]);
                self.q[k * d + i] = c * x + s * y;
                self.q[(k + 1) * d + i] = c * y - s * x;
            }
        }
        self.q.truncate((size - 1) * d);
    }

    pub fn solve(&mut self, h: &[f64], p: &mut Vec<f64>, u: &mut [f64]) {
        let (d, size, step) = (self.rows.dimension, self.members.len(), self.capacity);
        p.clear();
        for k in 0..size {
            let sum: f64 = (0..k).map(|i| self.r[k * step + i] * p[i]).sum();
            p.push((h[k] - sum) / self.r[k * step + k]);
        }
        u.fill(0.0);
        for k in 0..size {
            for (u, q) in u.iter_mut().zip(&self.q[k * d..(k + 1) * d]) {
                *u += p[k] * q;
            }
        }
        self.back_substitute(p);
    }

    /// x ← R⁻¹ x.
    fn back_substitute(&self, x: &mut [f64]) {
        let step = self.capacity;
        for i in (0..x.len()).rev() {
            let sum: f64 = (i + 1..x.len()).map(|j| self.r[j * step + i] * x[j]).sum();
            x[i] = (x[i] - sum) / self.r[i * step + i];
        }
    }
}
