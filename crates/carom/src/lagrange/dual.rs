//! Dual numbers: a value and its derivatives in K directions, by the rules of differentiation, exact but for rounding.
//!
//! ```text
//! (x + Σ x_k ε_k)(y + Σ y_k ε_k) = x y + Σ (x y_k + x_k y) ε_k,      f(x + Σ x_k ε_k) = f(x) + Σ f'(x) x_k ε_k
//! ```
//!
//! The value is a scalar of any kind. Dual numbers of dual numbers give second derivatives, and so on to any order; of
//! intervals, enclosures of derivatives. The jets of [`contact`](crate::contact::jet) go further along one direction; a
//! gradient needs several.

use core::ops::{Add, Div, Mul, Neg, Sub};

use super::scalar::Scalar;

/// A value and its derivatives in K directions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dual<S, const K: usize> {
    /// The value.
    pub value: S,
    /// The derivatives.
    pub parts: [S; K],
}

impl<S: Scalar, const K: usize> Dual<S, K> {
    /// A value that changes in one direction at unit rate.
    #[must_use]
    pub fn variable(value: S, direction: usize) -> Self {
        let part = |k: usize| S::constant(if k == direction { 1.0 } else { 0.0 });
        Self { value, parts: core::array::from_fn(part) }
    }

    /// A function of it, given the function's value and slope.
    #[inline]
    fn chain(self, value: S, slope: S) -> Self {
        Self { value, parts: self.parts.map(|part| part * slope) }
    }
}

impl<S: Scalar, const K: usize> Add for Dual<S, K> {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self {
            value: self.value + other.value,
            parts: core::array::from_fn(|k| self.parts[k] + other.parts[k]),
        }
    }
}

impl<S: Scalar, const K: usize> Sub for Dual<S, K> {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        Self {
            value: self.value - other.value,
            parts: core::array::from_fn(|k| self.parts[k] - other.parts[k]),
        }
    }
}

impl<S: Scalar, const K: usize> Mul for Dual<S, K> {
    type Output = Self;

    #[inline]
    #[expect(clippy::suspicious_arithmetic_impl, reason = "the product rule")]
    fn mul(self, other: Self) -> Self {
        let part = |k: usize| self.value * other.parts[k] + self.parts[k] * other.value;
        Self { value: self.value * other.value, parts: core::array::from_fn(part) }
    }
}

impl<S: Scalar, const K: usize> Div for Dual<S, K> {
    type Output = Self;

    #[inline]
    #[expect(clippy::suspicious_arithmetic_impl, reason = "the quotient rule")]
    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        let part = |k: usize| (self.parts[k] - value * other.parts[k]) / other.value;
        Self { value, parts: core::array::from_fn(part) }
    }
}

impl<S: Scalar, const K: usize> Neg for Dual<S, K> {
    type Output = Self;

    #[inline]
    fn neg(self) -> Self {
        Self { value: -self.value, parts: self.parts.map(|part| -part) }
    }
}

impl<S: Scalar, const K: usize> Add<f64> for Dual<S, K> {
    type Output = Self;

    #[inline]
    fn add(self, x: f64) -> Self {
        Self { value: self.value + x, ..self }
    }
}

impl<S: Scalar, const K: usize> Sub<f64> for Dual<S, K> {
    type Output = Self;

    #[inline]
    fn sub(self, x: f64) -> Self {
        Self { value: self.value - x, ..self }
    }
}

impl<S: Scalar, const K: usize> Mul<f64> for Dual<S, K> {
    type Output = Self;

    #[inline]
    fn mul(self, x: f64) -> Self {
        Self { value: self.value * x, parts: self.parts.map(|part| part * x) }
    }
}

impl<S: Scalar, const K: usize> Div<f64> for Dual<S, K> {
    type Output = Self;

    #[inline]
    fn div(self, x: f64) -> Self {
        Self { value: self.value / x, parts: self.parts.map(|part| part / x) }
    }
}

impl<S: Scalar, const K: usize> Scalar for Dual<S, K> {
    fn constant(x: f64) -> Self {
        Self { value: S::constant(x), parts: [S::constant(0.0); K] }
    }

    fn sin_cos(self) -> (Self, Self) {
        let (sin, cos) = self.value.sin_cos();
        (self.chain(sin, cos), self.chain(cos, -sin))
    }

    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        self.chain(root, S::constant(0.5) / root)
    }

    fn exp(self) -> Self {
        let power = self.value.exp();
        self.chain(power, power)
    }

    fn ln(self) -> Self {
        self.chain(self.value.ln(), S::constant(1.0) / self.value)
    }

    fn atan(self) -> Self {
        self.chain(self.value.atan(), S::constant(1.0) / (self.value.powi(2) + 1.0))
    }

    fn powi(self, n: i32) -> Self {
        if n == 0 {
            return Self::constant(1.0);
        }
        self.chain(self.value.powi(n), self.value.powi(n - 1) * f64::from(n))
    }
}

#[cfg(test)]
mod tests {
    use super::{Dual, Scalar};

    /// f = e^{sin x} ln(1 + y²)/√x + atan(x y)³, generic.
    fn f<S: Scalar>(x: S, y: S) -> S {
        x.sin().exp() * (y.powi(2) + 1.0).ln() / x.sqrt() + (x * y).atan().powi(3) - y / 3.0 * x.cos()
            + x.tan()
    }

    #[test]
    fn derivatives_against_differences() {
        let (x, y, h) = (0.7, 1.3, 1e-4);
        let at = f(Dual::<f64, 2>::variable(x, 0), Dual::variable(y, 1));
        // Fourth-order differences, good to 1e-12 here.
        let slope = |g: &dyn Fn(f64) -> f64| (8.0 * (g(h) - g(-h)) - (g(2.0 * h) - g(-2.0 * h))) / (12.0 * h);
        assert!((at.parts[0] - slope(&|d| f(x + d, y))).abs() < 1e-10);
        assert!((at.parts[1] - slope(&|d| f(x, y + d))).abs() < 1e-10);
        // The mixed second derivative, nested, against a difference of first ones.
        type Second = Dual<Dual<f64, 1>, 1>;
        let inner = Second { value: Dual::variable(x, 0), parts: [Dual::constant(0.0)] };
        let outer = Second { value: Dual::constant(y), parts: [Dual::constant(1.0)] };
        let mixed = f(inner, outer).parts[0].parts[0];
        let by_difference = slope(&|d| f(Dual::<f64, 1>::variable(x, 0), Dual::constant(y + d)).parts[0]);
        assert!((mixed - by_difference).abs() < 1e-10);
    }
}
