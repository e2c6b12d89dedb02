//! Truncated Taylor arithmetic: a [`Jet`] holds the first N coefficients of a function of time, f(t) = Σ c_k t^k.
//!
//! Sums and products are those of polynomials without what is beyond the order; a power follows from
//! x y' = s x' y term by term:
//!
//! ```text
//! y_k = Σ_{j=1..k} ((s+1) j − k) x_j y_{k−j}/(k x₀)
//! ```

use core::ops::{Add, Mul, Neg, Sub};

/// Up to here a whole power is a product.
const LONGEST_PRODUCT: f64 = 64.0;

/// The first N Taylor coefficients of a function of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jet<const N: usize>(pub [f64; N]);

impl<const N: usize> Jet<N> {
    /// A constant.
    #[must_use]
    pub fn constant(x: f64) -> Self {
        Self(core::array::from_fn(|k| if k == 0 { x } else { 0.0 }))
    }

    /// The value at t = 0.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.0[0]
    }

    /// The k-th derivative at t = 0, k! c_k; none beyond the order.
    #[must_use]
    pub fn derivative(&self, k: usize) -> Option<f64> {
        let mut factorial = 1.0;
        let mut j = 0.0;
        for _ in 0..k {
            j += 1.0;
            factorial *= j;
        }
        self.0.get(k).map(|c| c * factorial)
    }

    /// x^s for x that starts positive; not finite otherwise.
    #[must_use]
    pub fn power(&self, s: f64) -> Self {
        let mut power = Self([0.0; N]);
        let mut order = 0.0;
        for k in 0..N {
            if k == 0 {
                power.0[0] = libm::pow(self.0[0], s);
                continue;
            }
            order += 1.0;
            let (mut sum, mut weight) = (0.0, -order);
            for j in 1..=k {
                weight += s + 1.0;
                sum += weight * self.0[j] * power.0[k - j];
            }
            power.0[k] = sum / (order * self.0[0]);
        }
        power
    }

    /// |x|^s with the sign of x, s ≥ 0. Through zero it is smooth for odd whole s only, and not finite for any other.
    #[must_use]
    pub fn signed_power(&self, s: f64) -> Self {
        if *self == Self([0.0; N]) {
            return *self;
        }
        // As a product it loses nothing close to zero, where the quotients of the power would.
        if s <= LONGEST_PRODUCT && libm::fmod(s, 2.0) == 1.0 {
            let (mut product, mut left) = (*self, s - 1.0);
            while left > 0.0 {
                product = product * *self;
                left -= 1.0;
            }
            return product;
        }
        match self.0[0] {
            x if x > 0.0 => self.power(s),
            x if x < 0.0 => -(-*self).power(s),
            _ => Self([f64::NAN; N]),
        }
    }
}

impl<const N: usize> Add for Jet<N> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(core::array::from_fn(|k| self.0[k] + other.0[k]))
    }
}

impl<const N: usize> Sub for Jet<N> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(core::array::from_fn(|k| self.0[k] - other.0[k]))
    }
}

impl<const N: usize> Neg for Jet<N> {
    type Output = Self;

    fn neg(self) -> Self {
        Self(self.0.map(|c| -c))
    }
}

impl<const N: usize> Mul for Jet<N> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self(core::array::from_fn(|k| (0..=k).map(|j| self.0[j] * other.0[k - j]).sum()))
    }
}

impl<const N: usize> Mul<f64> for Jet<N> {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        Self(self.0.map(|c| c * factor))
    }
}
