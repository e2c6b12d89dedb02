//! The multipliers of a few rows, by orthogonalisation with pivoting: the rank comes from C at unit row length, never from C Cᵀ. Sliding
//! rows by elimination, or by singular values where C Dᵀ is singular.

use nalgebra::{DMatrix, DVector};

use super::{Balance, Failure};
use crate::metric::norm;

/// A unit row's rest below this counts as dependent on the others.
const DEPENDENT: f64 = 1e-10;

/// A row whose rest is below this is nearly dependent: what rounding asks of it would move far.
const WEAK: f64 = 1e-3;

/// Room to work in.
#[derive(Debug, Clone, Default)]
pub(super) struct Room {
    /// Rows and pushes with all their zeros.
    rows: Vec<f64>,
    pushes: Vec<f64>,
    lengths: Vec<f64>,
    spans: Vec<f64>,
    order: Vec<usize>,
    /// Orthonormal directions, one after the other.
    basis: Vec<f64>,
    /// R of Cᵀ = Q R, column by column in the order of the pivots, `count` apart.
    triangle: Vec<f64>,
    second: Vec<f64>,
    along: Vec<f64>,
}

impl Room {
    /// Solves for u and λ.
    pub fn solve(&mut self, balance: &mut Balance) -> Result<(), Failure> {
        let (m, d) = (balance.count(), balance.dimension);
        self.rows.clear();
        self.rows.resize(m * d, 0.0);
        self.pushes.clear();
        for i in 0..m {
            for (column, c) in balance.entries(i) {
                self.rows[i * d + column] += c;
            }
        }
        if !balance.sliding {
            return self.solve_symmetric(balance);
        }
        self.pushes.resize(m * d, 0.0);
        for i in 0..m {
            for (column, c) in balance.force_entries(i) {
                self.pushes[i * d + column] += c;
            }
        }
        self.solve_sliding(balance)
    }

    fn solve_symmetric(&mut self, balance: &mut Balance) -> Result<(), Failure> {
        let (m, d) = (balance.count(), balance.dimension);
        self.lengths.clear();
        for i in 0..m {
            self.lengths.push(norm(&self.rows[i * d..(i + 1) * d]));
        }
        self.orthogonalise(m, d);
        let rank = self.basis.len() / d.max(1);
        balance.rank = rank;
        balance.volume = (0..rank).map(|k| libm::log(self.triangle[k * m + k])).sum();
        // R₁ᵀ y = r on the pivots, row by row at unit length.
        self.along.clear();
        for k in 0..rank {
            let column = &self.triangle[k * m..k * m + k];
            let sum: f64 = column.iter().zip(&self.along).map(|(r, y)| r * y).sum();
            let (row, rest) = (self.order[k], self.triangle[k * m + k]);
            let asked = balance.right[row] / self.lengths[row] - sum;
            let rounding = rest < WEAK && asked.abs() <= balance.slack[row] / self.lengths[row];
            self.along.push(if rounding { 0.0 } else { asked / rest });
        }
        for k in 0..rank {
            for (u, q) in balance.change.iter_mut().zip(&self.basis[k * d..(k + 1) * d]) {
                *u += self.along[k] * q;
            }
        }
        if rank == m {
            // R λ = y.
            for k in (0..m).rev() {
                let sum: f64 = (k + 1..m).map(|j| self.triangle[j * m + k] * self.along[j]).sum();
                self.along[k] = (self.along[k] - sum) / self.triangle[k * m + k];
            }
            for k in 0..m {
                let row = self.order[k];
                balance.multipliers[row] = self.along[k] / self.lengths[row];
            }
            return Ok(());
        }
        let scale = norm(&balance.change);
        for &row in &self.order[rank..] {
            let met: f64 = balance.entries(row).map(|(column, c)| c * balance.change[column]).sum();
            let miss = met - balance.right[row];
            if miss.abs() > 1e-8 * self.lengths[row] * scale + balance.noise[row] {
                return Err(Failure::Contradiction);
            }
        }
        self.least_norm(balance, rank);
        Ok(())
    }

    /// Cᵀ = Q R by modified Gram and Schmidt, twice each, the longest rest first; rows at unit length.
    fn orthogonalise(&mut self, m: usize, d: usize) {
        self.order.clear();
        self.order.extend(0..m);
        self.basis.clear();
        self.triangle.clear();
        self.triangle.resize(m * m, 0.0);
        self.second.clear();
        // Rests of all rows, at unit length.
        for i in 0..m {
            let length = self.lengths[i];
            let unit = if length > 0.0 { 1.0 / length } else { 0.0 };
            self.second.extend(self.rows[i * d..(i + 1) * d].iter().map(|c| c * unit));
        }
        for k in 0..m {
            let mut best = (k, 0.0);
            for place in k..m {
                let row = self.order[place];
                let rest = norm(&self.second[row * d..(row + 1) * d]);
                // The order is not to hang on rounding.
                if rest > 1.01 * best.1 {
                    best = (place, rest);
                }
            }
            if best.1 <= DEPENDENT {
                break;
            }
            self.swap(k, best.0, m);
            let row = self.order[k];
            // The rest once more against the whole basis, then to unit length.
            for j in 0..k {
                let dot = dot(&self.basis[j * d..(j + 1) * d], &self.second[row * d..(row + 1) * d]);
                self.triangle[k * m + j] += dot;
                for i in 0..d {
                    self.second[row * d + i] -= dot * self.basis[j * d + i];
                }
            }
            let length = norm(&self.second[row * d..(row + 1) * d]);
            self.triangle[k * m + k] = length;
            for i in 0..d {
                self.basis.push(self.second[row * d + i] / length);
            }
            for place in k + 1..m {
                let row = self.order[place];
                let dot = dot(&self.basis[k * d..(k + 1) * d], &self.second[row * d..(row + 1) * d]);
                self.triangle[place * m + k] += dot;
                for i in 0..d {
                    self.second[row * d + i] -= dot * self.basis[k * d + i];
                }
            }
        }
    }

    /// Exchanges two places of the pivot order, with their columns of R.
    fn swap(&mut self, a: usize, b: usize, m: usize) {
        self.order.swap(a, b);
        for k in 0..m {
            self.triangle.swap(a * m + k, b * m + k);
        }
    }

    /// The λ nearest to the reference with R diag(lengths) λ = y: Gram and Schmidt once more, on the rows of R.
    fn least_norm(&mut self, balance: &mut Balance, rank: usize) {
        let m = balance.count();
        self.second.clear();
        self.second.resize(rank * m, 0.0);
        for k in 0..rank {
            for place in 0..m {
                self.second[k * m + place] = self.triangle[place * m + k] * self.lengths[self.order[place]];
                self.along[k] -= self.second[k * m + place] * balance.reference[self.order[place]];
            }
        }
        balance.multipliers.clone_from(&balance.reference);
        // Rows of R to orthonormal p_k, y along with them; λ = Σ z_k p_k.
        for k in 0..rank {
            for _ in 0..2 {
                for j in 0..k {
                    let dot = dot(&self.second[j * m..(j + 1) * m], &self.second[k * m..(k + 1) * m]);
                    for i in 0..m {
                        self.second[k * m + i] -= dot * self.second[j * m + i];
                    }
                    self.along[k] -= dot * self.along[j];
                }
            }
            let length = norm(&self.second[k * m..(k + 1) * m]);
            for i in 0..m {
                self.second[k * m + i] /= length;
            }
            self.along[k] /= length;
        }
        for k in 0..rank {
            for place in 0..m {
                balance.multipliers[self.order[place]] += self.along[k] * self.second[k * m + place];
            }
        }
    }

    /// C Dᵀ λ = r by elimination with pivoting, rows and pushes at about unit length: by powers of two, which round nothing, so that
    /// contacts that mirror one another stay so.
    fn solve_sliding(&mut self, balance: &mut Balance) -> Result<(), Failure> {
        let (m, d) = (balance.count(), balance.dimension);
        self.lengths.clear();
        self.lengths.extend((0..m).map(|i| power_of_two(norm(&self.rows[i * d..(i + 1) * d]))));
        self.spans.clear();
        self.spans.extend((0..m).map(|j| power_of_two(norm(&self.pushes[j * d..(j + 1) * d]))));
        self.second.clear();
        for i in 0..m {
            for j in 0..m {
                let along = dot(&self.rows[i * d..(i + 1) * d], &self.pushes[j * d..(j + 1) * d]);
                self.second.push(along / (self.lengths[i] * self.spans[j]));
            }
        }
        // A force that would pull its own row together leaves no motion, or two.
        if (0..m).any(|i| self.second[i * m + i].is_nan() || self.second[i * m + i] <= 0.0) {
            return Err(Failure::Jam);
        }
        self.along.clear();
        self.along.extend(balance.right.iter().zip(&self.lengths).map(|(right, length)| right / length));
        for k in 0..m {
            let mut best = (k, 0.0);
            for i in k..m {
                let size = self.second[i * m + k].abs();
                if size > best.1 {
                    best = (i, size);
                }
            }
            if best.1.is_nan() || best.1 <= DEPENDENT {
                return self.solve_dependent(balance);
            }
            if best.0 != k {
                for j in 0..m {
                    self.second.swap(k * m + j, best.0 * m + j);
                }
                self.along.swap(k, best.0);
            }
            for i in k + 1..m {
                let factor = self.second[i * m + k] / self.second[k * m + k];
                for j in k..m {
                    self.second[i * m + j] -= factor * self.second[k * m + j];
                }
                self.along[i] -= factor * self.along[k];
            }
        }
        for k in (0..m).rev() {
            let sum: f64 = (k + 1..m).map(|j| self.second[k * m + j] * balance.multipliers[j]).sum();
            balance.multipliers[k] = (self.along[k] - sum) / self.second[k * m + k];
        }
        for k in 0..m {
            balance.multipliers[k] /= self.spans[k];
            for (u, push) in balance.change.iter_mut().zip(&self.pushes[k * d..(k + 1) * d]) {
                *u += balance.multipliers[k] * push;
            }
        }
        Ok(())
    }
}

impl Room {
    /// C Dᵀ λ = r where C Dᵀ is singular: by singular values, at unit lengths of rows and pushes.
    fn solve_dependent(&self, balance: &mut Balance) -> Result<(), Failure> {
        let (m, d) = (balance.count(), balance.dimension);
        let row = |i: usize| &self.rows[i * d..(i + 1) * d];
        let push = |i: usize| &self.pushes[i * d..(i + 1) * d];
        let (lengths, spans): (Vec<f64>, Vec<f64>) = (0..m).map(|i| (norm(row(i)), norm(push(i)))).unzip();
        if lengths.iter().chain(&spans).any(|length| length.is_nan() || *length <= 0.0) {
            return Err(Failure::Jam);
        }
        let matrix = DMatrix::from_fn(m, m, |i, j| dot(row(i), push(j)) / (lengths[i] * spans[j]));
        let reference = DVector::from_fn(m, |j, _| balance.reference[j] * spans[j]);
        let right = DVector::from_fn(m, |i, _| balance.right[i] / lengths[i]);
        let Some(further) = matrix
            .clone()
            .try_svd(true, true, f64::EPSILON, 1000)
            .and_then(|svd| svd.solve(&(&right - &matrix * &reference), DEPENDENT).ok())
        else {
            return Err(Failure::Jam);
        };
        let found = reference + further;
        let (miss, scale) = (&matrix * &found - &right, right.norm() + found.norm());
        if (0..m).any(|i| miss[i].abs() > 1e-8 * scale + balance.noise[i] / lengths[i]) {
            return Err(Failure::Jam);
        }
        for k in 0..m {
            balance.multipliers[k] = found[k] / spans[k];
            for (u, push) in balance.change.iter_mut().zip(&self.pushes[k * d..(k + 1) * d]) {
                *u += balance.multipliers[k] * push;
            }
        }
        Ok(())
    }
}

/// The power of two below a length; one for none.
fn power_of_two(length: f64) -> f64 {
    if length > 0.0 && length.is_finite() { libm::ldexp(1.0, libm::ilogb(length)) } else { 1.0 }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
