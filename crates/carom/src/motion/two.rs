//! Numbers of two doubles: a high part and what it leaves out, about 32 digits.
//!
//! A spin of 1 rad/s has turned 10⁶ rad after 10⁶ s: a rate known to 16 digits leaves its phase 10⁻¹⁰ wrong. The two
//! rates of a flight are therefore prepared to 32 digits, and the product of rate and time is reduced before it is
//! rounded. The error-free sum is Knuth's, the error-free product Dekker's (T. J. Dekker, "A floating-point technique
//! for extending the available precision", 1971): no fused multiply-add, so that every machine gives the same bits.
//! Fails, like any splitting, for factors above 10²⁹¹.

use core::ops::{Add, Div, Mul, Sub};

/// A number `hi + lo`, |lo| at most half a unit in the last place of `hi`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Two {
    pub hi: f64,
    pub lo: f64,
}

/// a + b = sum + error, exactly.
fn exact_sum(a: f64, b: f64) -> Two {
    let hi = a + b;
    let of_b = hi - a;
    Two { hi, lo: (a - (hi - of_b)) + (b - of_b) }
}

/// a + b = sum + error, exactly, for |a| ≥ |b|.
fn renormalised(a: f64, b: f64) -> Two {
    let hi = a + b;
    Two { hi, lo: b - (hi - a) }
}

/// a into two halves of 26 bits.
fn halves(a: f64) -> (f64, f64) {
    let spread = 134_217_729.0 * a;
    let upper = spread - (spread - a);
    (upper, a - upper)
}

/// a b = product + error, exactly.
pub(crate) fn exact_product(a: f64, b: f64) -> Two {
    let hi = a * b;
    let ((a1, a2), (b1, b2)) = (halves(a), halves(b));
    Two { hi, lo: ((a1 * b1 - hi) + a1 * b2 + a2 * b1) + a2 * b2 }
}

impl Two {
    pub const ZERO: Self = Self { hi: 0.0, lo: 0.0 };
    pub const ONE: Self = Self { hi: 1.0, lo: 0.0 };
    /// 1/π.
    pub const FRAC_1_PI: Self = Self { hi: core::f64::consts::FRAC_1_PI, lo: -1.967_867_667_518_248_6e-17 };

    pub fn sqrt(self) -> Self {
        if self.hi <= 0.0 {
            return Self::ZERO;
        }
        // One Newton step from the double's root doubles its digits.
        let root = libm::sqrt(self.hi);
        let rest = self - exact_product(root, root);
        renormalised(root, rest.hi / (2.0 * root))
    }

    pub fn scaled(self, power_of_two: f64) -> Self {
        Self { hi: self.hi * power_of_two, lo: self.lo * power_of_two }
    }
}

impl From<f64> for Two {
    fn from(hi: f64) -> Self {
        Self { hi, lo: 0.0 }
    }
}

impl Add for Two {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (sum, rest) = (exact_sum(self.hi, other.hi), exact_sum(self.lo, other.lo));
        let part = renormalised(sum.hi, sum.lo + rest.hi);
        renormalised(part.hi, part.lo + rest.lo)
    }
}

impl Sub for Two {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + Self { hi: -other.hi, lo: -other.lo }
    }
}

impl Mul for Two {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let product = exact_product(self.hi, other.hi);
        renormalised(product.hi, product.lo + (self.hi * other.lo + self.lo * other.hi))
    }
}

impl Div for Two {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let first = self.hi / other.hi;
        let rest = self - other * Self::from(first);
        let second = rest.hi / other.hi;
        let rest = rest - other * Self::from(second);
        let quotient = renormalised(first, second);
        quotient + Self::from(rest.hi / other.hi)
    }
}
