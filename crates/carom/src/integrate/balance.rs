//! The multipliers of rows, in coordinates in which the mass matrix is the unit matrix.
//!
//! Rows C (m × d), asked-for values r: the shortest change u with C u = r is u = Cᵀλ. Rows may depend on one another: the rank
//! comes from C at unit row length, by orthogonalisation with pivoting, never from C Cᵀ; of all λ with Cᵀλ = u the
//! one of least norm is given, or the nearest to a λ given as reference. Dependent rows whose values contradict each other have
//! no answer.
//!
//! Where friction slides, the force of a row is not along the row: u = Dᵀλ with C Dᵀ λ = r, which need not have an answer
//! even for independent rows (Painlevé). If C Dᵀ is singular and r agrees with it, λ is again the nearest to the reference; u
//! then depends on that choice, if it is sliding contacts that share a load.
//!
//! Nothing is allocated once the room has been made, but where C Dᵀ is singular.

use nalgebra::{DMatrix, DVector};

use crate::metric::norm;

/// A unit row's rest below this counts as dependent on the others.
const DEPENDENT: f64 = 1e-10;

/// A row whose rest is below this is nearly dependent: what rounding asks of it would move far.
const WEAK: f64 = 1e-3;

/// Why rows have no multipliers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Dependent rows ask for different things.
    Contradiction,
    /// Sliding friction leaves none, or not one.
    Jam,
}

/// Rows, what is asked of them, and the answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Balance {
    dimension: usize,
    count: usize,
    /// C, row by row.
    pub rows: Vec<f64>,
    /// D, where some row's force is not along it.
    pub pushes: Vec<f64>,
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
    /// How many rows are independent, and the logarithm of the volume that these span at unit length.
    pub rank: usize,
    pub volume: f64,
    /// λ.
    pub multipliers: Vec<f64>,
    /// u.
    pub change: Vec<f64>,
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

impl Balance {
    /// No rows of this dimension yet.
    pub fn clear(&mut self, dimension: usize) {
        self.dimension = dimension;
        self.count = 0;
        self.sliding = false;
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
        self.count
    }

    /// Adds a row of zeros, to be written to.
    pub fn push(&mut self) -> &mut [f64] {
        self.count += 1;
        let from = self.rows.len();
        self.rows.resize(from + self.dimension, 0.0);
        self.right.push(0.0);
        self.reference.push(0.0);
        self.noise.push(0.0);
        self.slack.push(0.0);
        &mut self.rows[from..]
    }

    /// One row.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.rows[i * self.dimension..(i + 1) * self.dimension]
    }

    /// Solves for u and λ.
    pub fn solve(&mut self) -> Result<(), Failure> {
        self.multipliers.clear();
        self.multipliers.resize(self.count, 0.0);
        self.change.clear();
        self.change.resize(self.dimension, 0.0);
        if self.sliding { self.solve_sliding() } else { self.solve_symmetric() }
    }

    fn solve_symmetric(&mut self) -> Result<(), Failure> {
        let (m, d) = (self.count, self.dimension);
        self.lengths.clear();
        for i in 0..m {
            self.lengths.push(norm(&self.rows[i * d..(i + 1) * d]));
        }
        self.orthogonalise();
        let rank = self.basis.len() / d.max(1);
        self.rank = rank;
        self.volume = (0..rank).map(|k| libm::log(self.triangle[k * m + k])).sum();
        // R₁ᵀ y = r on the pivots, row by row at unit length.
        self.along.clear();
        for k in 0..rank {
            let column = &self.triangle[k * m..k * m + k];
            let sum: f64 = column.iter().zip(&self.along).map(|(r, y)| r * y).sum();
            let (row, rest) = (self.order[k], self.triangle[k * m + k]);
            let asked = self.right[row] / self.lengths[row] - sum;
            let rounding = rest < WEAK && asked.abs() <= self.slack[row] / self.lengths[row];
            self.along.push(if rounding { 0.0 } else { asked / rest });
        }
        for k in 0..rank {
            for (u, q) in self.change.iter_mut().zip(&self.basis[k * d..(k + 1) * d]) {
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
                self.multipliers[row] = self.along[k] / self.lengths[row];
            }
            return Ok(());
        }
        let scale = norm(&self.change);
        for &row in &self.order[rank..] {
            let miss: f64 =
                self.row(row).iter().zip(&self.change).map(|(c, u)| c * u).sum::<f64>() - self.right[row];
            if miss.abs() > 1e-8 * self.lengths[row] * scale + self.noise[row] {
                return Err(Failure::Contradiction);
            }
        }
        self.least_norm(rank);
        Ok(())
    }

    /// Cᵀ = Q R by modified Gram and Schmidt, twice each, the longest rest first; rows at unit length.
    fn orthogonalise(&mut self) {
        let (m, d) = (self.count, self.dimension);
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
            self.swap(k, best.0);
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
    fn swap(&mut self, a: usize, b: usize) {
        let m = self.count;
        self.order.swap(a, b);
        for k in 0..m {
            self.triangle.swap(a * m + k, b * m + k);
        }
    }

    /// The λ nearest to the reference with R diag(lengths) λ = y: Gram and Schmidt once more, on the rows of R.
    fn least_norm(&mut self, rank: usize) {
        let m = self.count;
        self.second.clear();
        self.second.resize(rank * m, 0.0);
        for k in 0..rank {
            for place in 0..m {
                self.second[k * m + place] = self.triangle[place * m + k] * self.lengths[self.order[place]];
                self.along[k] -= self.second[k * m + place] * self.reference[self.order[place]];
            }
        }
        self.multipliers.copy_from_slice(&self.reference);
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
                self.multipliers[self.order[place]] += self.along[k] * self.second[k * m + place];
            }
        }
    }

    /// C Dᵀ λ = r by elimination with pivoting, rows and pushes at about unit length: by powers of two, which round nothing, so that
    /// contacts that mirror one another stay so.
    fn solve_sliding(&mut self) -> Result<(), Failure> {
        let (m, d) = (self.count, self.dimension);
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
        self.along.extend(self.right.iter().zip(&self.lengths).map(|(right, length)| right / length));
        for k in 0..m {
            let mut best = (k, 0.0);
            for i in k..m {
                let size = self.second[i * m + k].abs();
                if size > best.1 {
                    best = (i, size);
                }
            }
            if best.1.is_nan() || best.1 <= DEPENDENT {
                return self.solve_dependent();
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
            let sum: f64 = (k + 1..m).map(|j| self.second[k * m + j] * self.multipliers[j]).sum();
            self.multipliers[k] = (self.along[k] - sum) / self.second[k * m + k];
        }
        for k in 0..m {
            self.multipliers[k] /= self.spans[k];
            for (u, push) in self.change.iter_mut().zip(&self.pushes[k * d..(k + 1) * d]) {
                *u += self.multipliers[k] * push;
            }
        }
        Ok(())
    }
}

impl Balance {
    /// C Dᵀ λ = r where C Dᵀ is singular: by singular values, at unit lengths of rows and pushes.
    fn solve_dependent(&mut self) -> Result<(), Failure> {
        let (m, d) = (self.count, self.dimension);
        let row = |i: usize| &self.rows[i * d..(i + 1) * d];
        let push = |i: usize| &self.pushes[i * d..(i + 1) * d];
        let (lengths, spans): (Vec<f64>, Vec<f64>) = (0..m).map(|i| (norm(row(i)), norm(push(i)))).unzip();
        if lengths.iter().chain(&spans).any(|length| length.is_nan() || *length <= 0.0) {
            return Err(Failure::Jam);
        }
        let matrix = DMatrix::from_fn(m, m, |i, j| dot(row(i), push(j)) / (lengths[i] * spans[j]));
        let reference = DVector::from_fn(m, |j, _| self.reference[j] * spans[j]);
        let right = DVector::from_fn(m, |i, _| self.right[i] / lengths[i]);
        let Some(further) = matrix
            .clone()
            .try_svd(true, true, f64::EPSILON, 1000)
            .and_then(|svd| svd.solve(&(&right - &matrix * &reference), DEPENDENT).ok())
        else {
            return Err(Failure::Jam);
        };
        let found = reference + further;
        let (miss, scale) = (&matrix * &found - &right, right.norm() + found.norm());
        if (0..m).any(|i| miss[i].abs() > 1e-8 * scale + self.noise[i] / lengths[i]) {
            return Err(Failure::Jam);
        }
        for k in 0..m {
            self.multipliers[k] = found[k] / spans[k];
            for (u, push) in self.change.iter_mut().zip(&self.pushes[k * d..(k + 1) * d]) {
                *u += self.multipliers[k] * push;
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

    #[test]
    fn independent_rows_are_met() {
        let mut b = balance(&[&[1.0, 2.0, 0.0], &[0.0, 1.0, -1.0]], &[3.0, -2.0]);
        b.solve().unwrap();
        for i in 0..2 {
            let met: f64 = b.row(i).iter().zip(&b.change).map(|(c, u)| c * u).sum();
            assert!((met - b.right[i]).abs() < 1e-15);
        }
        for k in 0..3 {
            let pushed: f64 = (0..2).map(|i| b.multipliers[i] * b.row(i)[k]).sum();
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
            let pushed: f64 = (0..3).map(|i| b.multipliers[i] * b.row(i)[k]).sum();
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
        b.pushes = vec![1.0, 0.5, 0.0, 1.0];
        b.sliding = true;
        b.solve().unwrap();
        assert!((b.multipliers[0] - 1.0).abs() < 1e-15 && (b.multipliers[1] - 1.5).abs() < 1e-15);
        assert!((b.change[0] - 1.0).abs() < 1e-15 && (b.change[1] - 2.0).abs() < 1e-15);
        b.pushes = vec![0.0, 0.5, 0.0, 1.0];
        assert_eq!(b.solve(), Err(Failure::Jam));
    }
}
