//! Intervals: [low, high] certain to hold every value that a formula takes while its arguments stay within theirs.
//!
//! Sums, products, quotients and roots are rounded correctly in floating point, so one step outward is enough; the
//! other functions come from `libm`, whose errors stay below a unit in the last place, and take two. A quotient by an interval
//! that holds zero, and a root or logarithm beyond its domain, is the whole line: the bounds become infinite, and the
//! caller sees that nothing is known.

use core::f64::consts::{FRAC_PI_2, TAU};
use core::ops::{Add, Div, Mul, Neg, Sub};

use super::scalar::Scalar;

/// All numbers between two bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

/// Everything.
const ALL: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };

impl Interval {
    /// The interval of these two bounds, in either order; everything where one is not a number.
    #[must_use]
    pub fn new(a: f64, b: f64) -> Self {
        if a.is_nan() || b.is_nan() { ALL } else { Self { low: a.min(b), high: a.max(b) } }
    }

    /// All within a distance of a middle.
    #[must_use]
    pub fn about(middle: f64, radius: f64) -> Self {
        Self::new(middle - radius, middle + radius).wider()
    }

    /// One step outward.
    fn wider(self) -> Self {
        if self.low.is_nan() || self.high.is_nan() {
            return ALL;
        }
        Self { low: self.low.next_down(), high: self.high.next_up() }
    }

    /// A function that grows, by its values at the ends.
    fn growing(self, f: impl Fn(f64) -> f64) -> Self {
        Self { low: f(self.low), high: f(self.high) }.wider().wider()
    }

    /// Whether some x₀ + 2πk, k whole, may lie within; certain when it says no.
    fn meets(self, x0: f64) -> bool {
        // The quotients are off by some units in the last place of their own size.
        let (from, to) = ((self.low - x0) / TAU, (self.high - x0) / TAU);
        let slack = 8.0 * f64::EPSILON * (1.0 + from.abs().max(to.abs()));
        libm::floor(to + slack) >= libm::ceil(from - slack)
    }
}

impl Add for Interval {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { low: self.low + other.low, high: self.high + other.high }.wider()
    }
}

impl Sub for Interval {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { low: self.low - other.high, high: self.high - other.low }.wider()
    }
}

impl Neg for Interval {
    type Output = Self;

    fn neg(self) -> Self {
        Self { low: -self.high, high: -self.low }
    }
}

impl Mul for Interval {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let none = Self { low: 0.0, high: 0.0 };
        // Nothing times everything is nothing.
        if self == none || other == none {
            return none;
        }
        let products =
            [self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high];
        if products.iter().any(|p| p.is_nan()) {
            return ALL;
        }
        let low = products.iter().copied().fold(f64::INFINITY, f64::min);
        let high = products.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self { low, high }.wider()
    }
}

impl Div for Interval {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        if other.low <= 0.0 && other.high >= 0.0 {
            return ALL;
        }
        self * Self { low: 1.0 / other.high, high: 1.0 / other.low }.wider()
    }
}

impl Add<f64> for Interval {
    type Output = Self;

    fn add(self, x: f64) -> Self {
        self + Self::constant(x)
    }
}

impl Sub<f64> for Interval {
    type Output = Self;

    fn sub(self, x: f64) -> Self {
        self - Self::constant(x)
    }
}

impl Mul<f64> for Interval {
    type Output = Self;

    fn mul(self, x: f64) -> Self {
        self * Self::constant(x)
    }
}

impl Div<f64> for Interval {
    type Output = Self;

    fn div(self, x: f64) -> Self {
        self / Self::constant(x)
    }
}

impl Scalar for Interval {
    fn constant(x: f64) -> Self {
        Self::new(x, x)
    }

    fn sin_cos(self) -> (Self, Self) {
        let unit = Self { low: -1.0, high: 1.0 };
        let narrow = self.high - self.low < TAU && self.low.abs().max(self.high.abs()) < 1e9;
        if !narrow {
            return (unit, unit);
        }
        // Between its turning points the function is monotone: the ends decide, and the turning points within.
        let between = |f: fn(f64) -> f64, top: f64, bottom: f64| {
            let wave = Self::new(f(self.low), f(self.high)).wider().wider();
            Self {
                low: if self.meets(bottom) { -1.0 } else { wave.low.max(-1.0) },
                high: if self.meets(top) { 1.0 } else { wave.high.min(1.0) },
            }
        };
        (between(libm::sin, FRAC_PI_2, -FRAC_PI_2), between(libm::cos, 0.0, 2.0 * FRAC_PI_2))
    }

    fn sqrt(self) -> Self {
        if self.low < 0.0 { ALL } else { self.growing(libm::sqrt) }
    }

    fn exp(self) -> Self {
        self.growing(libm::exp)
    }

    fn ln(self) -> Self {
        if self.low <= 0.0 { ALL } else { self.growing(libm::log) }
    }

    fn atan(self) -> Self {
        self.growing(libm::atan)
    }

    fn powi(self, n: i32) -> Self {
        if n < 0 {
            return Self::constant(1.0) / self.powi(-n);
        }
        // An even power is one of the distance from zero.
        let even = n % 2 == 0;
        let base = if even {
            let far = self.low.abs().max(self.high.abs());
            let near =
                if self.low <= 0.0 && self.high >= 0.0 { 0.0 } else { self.low.abs().min(self.high.abs()) };
            Self { low: near, high: far }
        } else {
            self
        };
        let mut power = Self::constant(1.0);
        for _ in 0..n {
            power = power * base;
        }
        if even { Self { low: power.low.max(0.0), ..power } } else { power }
    }
}

#[cfg(test)]
mod tests {
    use super::{Interval, Scalar};

    fn f<S: Scalar>(x: S, y: S) -> S {
        x.sin() * y.cos() + (x.powi(2) + 1.0).ln() / (y.powi(4) + 0.5).sqrt() - (x * y).exp() * 0.1
            + x.powi(3).atan()
    }

    /// Every value at places within lies within, for boxes of many sizes.
    #[test]
    fn values_lie_within() {
        let mut seed = 1_u64;
        let mut draw = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from(u32::try_from(seed >> 33).unwrap_or(0)) / f64::from(1_u32 << 31)
        };
        for _ in 0..3000 {
            let [x, y] = [8.0 * draw() - 4.0, 4.0 * draw() - 2.0];
            let size = libm::pow(10.0, -12.0 * draw());
            let [xs, ys] = [x, y].map(|m| Interval::about(m, size));
            let all = f(xs, ys);
            for _ in 0..4 {
                let [a, b] = [xs, ys].map(|i| i.low + (i.high - i.low) * draw());
                let value = f(a, b);
                assert!(all.low <= value && value <= all.high, "{a} {b}: {value} in {all:?}");
            }
        }
    }

    #[test]
    fn enclosures_are_sharp_at_points_and_empty_nowhere() {
        let x = Interval::constant(0.3);
        let (sin, cos) = x.sin_cos();
        assert!(sin.high - sin.low < 1e-15 && cos.high - cos.low < 1e-15);
        assert_eq!(Interval::new(-1.0, 2.0).sin().high, 1.0);
        assert_eq!(Interval::new(3.0, 3.3).cos().low, -1.0);
        assert!((Interval::constant(1.0) / Interval::new(-1.0, 1.0)).high.is_infinite());
        assert!(Interval::new(-1.0, 1.0).powi(2).low == 0.0);
        assert!(Interval::new(-1.0, 1.0).sqrt().low.is_infinite());
    }
}
