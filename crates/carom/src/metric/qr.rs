//! Householder QR with column pivoting, for small dense matrices.
//!
//! A Π = Q R with |R₀₀| ≥ |R₁₁| ≥ …; the factorisation stops at the first diagonal entry below a tolerance
//! relative to R₀₀, which is the numerical rank. Q is kept as reflectors, so that applying it, and the part of
//! it that spans the complement of A's columns, costs no storage. Column norms are recomputed at each step
//! rather than downdated: the rank must not rest on cancelled digits.

/// A pivoted QR factorisation, m×n, column-major.
#[derive(Debug, Clone)]
pub(crate) struct PivotedQr {
    m: usize,
    n: usize,
    /// R above and on the diagonal; below it the reflectors, whose first entries are 1 and not stored.
    a: Vec<f64>,
    scale: Vec<f64>,
    /// The column of A that stands at each place.
    pub order: Vec<usize>,
    /// The numerical rank.
    pub rank: usize,
}

impl PivotedQr {
    /// Factorises the m×n column-major matrix `a`.
    pub fn new(m: usize, n: usize, mut a: Vec<f64>, tolerance: f64) -> Self {
        debug_assert_eq!(a.len(), m * n);
        let mut order: Vec<usize> = (0..n).collect();
        let mut scale = Vec::with_capacity(m.min(n));
        let mut rank = 0;
        let mut largest = 0.0;
        for k in 0..m.min(n) {
            let (pivot, length) = (k..n)
                .map(|j| (j, norm(&a[j * m + k..(j + 1) * m])))
                .fold((k, -1.0), |best, next| if next.1 > best.1 { next } else { best });
            if k == 0 {
                largest = length;
            }
            if length <= tolerance * largest || length == 0.0 {
                break;
            }
            if pivot != k {
                order.swap(pivot, k);
                let (left, right) = a.split_at_mut(pivot * m);
                left[k * m..(k + 1) * m].swap_with_slice(&mut right[..m]);
            }
            let (head, tail) = a.split_at_mut((k + 1) * m);
            let column = &mut head[k * m + k..];
            let beta = if column[0] > 0.0 { -length } else { length };
            let first = column[0] - beta;
            for x in &mut column[1..] {
                *x /= first;
            }
            let tau = -first / beta;
            column[0] = beta;
            for j in 0..n - k - 1 {
                reflect(&column[1..], tau, &mut tail[j * m + k..(j + 1) * m]);
            }
            scale.push(tau);
            rank += 1;
        }
        Self { m, n, a, scale, order, rank }
    }

    /// R_ij, for i < rank, in pivoted columns.
    pub fn r(&self, i: usize, j: usize) -> f64 {
        if i <= j { self.a[j * self.m + i] } else { 0.0 }
    }

    /// x ← Qᵀ x.
    pub fn apply_transposed(&self, x: &mut [f64]) {
        for k in 0..self.rank {
            reflect(&self.a[k * self.m + k + 1..(k + 1) * self.m], self.scale[k], &mut x[k..]);
        }
    }

    /// x ← Q x.
    pub fn apply(&self, x: &mut [f64]) {
        for k in (0..self.rank).rev() {
            reflect(&self.a[k * self.m + k + 1..(k + 1) * self.m], self.scale[k], &mut x[k..]);
        }
    }

    /// x ← R₁⁻¹ x on the leading rank×rank triangle.
    pub fn solve(&self, x: &mut [f64]) {
        for i in (0..self.rank).rev() {
            let sum: f64 = (i + 1..self.rank).map(|j| self.r(i, j) * x[j]).sum();
            x[i] = (x[i] - sum) / self.r(i, i);
        }
    }

    /// x ← R₁⁻ᵀ x on the leading rank×rank triangle.
    pub fn solve_transposed(&self, x: &mut [f64]) {
        for i in 0..self.rank {
            let sum: f64 = (0..i).map(|j| self.r(j, i) * x[j]).sum();
            x[i] = (x[i] - sum) / self.r(i, i);
        }
    }

    /// The x that brings A x nearest to g, A having full column rank.
    pub fn least_squares(&self, g: &[f64]) -> Vec<f64> {
        let mut g = g.to_vec();
        self.apply_transposed(&mut g);
        self.solve(&mut g);
        let mut x = vec![0.0; self.rank];
        for (place, &i) in self.order.iter().enumerate().take(self.rank) {
            x[i] = g[place];
        }
        x
    }

    /// The shortest p, of the given size, with Aᵀ p = w, A having full column rank.
    pub fn least_norm(&self, w: &[f64], size: usize) -> Vec<f64> {
        let mut p: Vec<f64> = self.order.iter().take(self.rank).map(|&i| w[i]).collect();
        self.solve_transposed(&mut p);
        p.resize(size, 0.0);
        self.apply(&mut p);
        p
    }

    /// The transpose of the rank×n trapezium R, columns back in the order of A and each multiplied by its
    /// `weight`, factorised in turn: the complete orthogonal factorisation behind least-norm solutions.
    pub fn transposed(&self, weight: &[f64], tolerance: f64) -> Self {
        let mut t = vec![0.0; self.n * self.rank];
        for (place, &column) in self.order.iter().enumerate() {
            for i in 0..self.rank.min(place + 1) {
                t[i * self.n + column] = self.r(i, place) * weight[column];
            }
        }
        Self::new(self.n, self.rank, t, tolerance)
    }
}

/// x ← (I − τ h hᵀ) x with h = (1, tail).
fn reflect(tail: &[f64], tau: f64, x: &mut [f64]) {
    let (first, rest) = x.split_at_mut(1);
    let dot: f64 = first[0] + tail.iter().zip(rest.iter()).map(|(h, x)| h * x).sum::<f64>();
    let step = tau * dot;
    first[0] -= step;
    for (x, h) in rest.iter_mut().zip(tail) {
        *x -= step * h;
    }
}

/// Euclidean length, safe from overflow and underflow.
pub(crate) fn norm(x: &[f64]) -> f64 {
    let square: f64 = x.iter().map(|x| x * x).sum();
    if square > 1e-280 && square < 1e280 {
        return square.sqrt();
    }
    let largest = x.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    largest * x.iter().map(|x| (x / largest) * (x / largest)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_times_r_is_the_matrix_and_dependent_columns_lower_the_rank() {
        // Third column = first + second.
        let a = vec![1.0, 2.0, 2.0, 0.5, -1.0, 4.0, 3.0, 1.0, 0.0, 6.0, 5.0, 1.5];
        let qr = PivotedQr::new(4, 3, a.clone(), 1e-12);
        assert_eq!(qr.rank, 2);
        for (place, &column) in qr.order.iter().enumerate() {
            let mut x = vec![0.0; 4];
            for (i, x) in x.iter_mut().enumerate().take(2) {
                *x = qr.r(i, place);
            }
            qr.apply(&mut x);
            for i in 0..4 {
                assert!((x[i] - a[column * 4 + i]).abs() < 1e-14);
            }
            qr.apply_transposed(&mut x);
            assert!(x[2].abs() < 1e-14 && x[3].abs() < 1e-14);
        }
    }
}
