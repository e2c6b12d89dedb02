//! The numbers that a system is written in: floats, and whatever else the engine puts in their place.
//!
//! A [`System`](super::System) is generic over its scalar, so that the same text gives values (`f64`), derivatives of any order
//! ([`Dual`](super::Dual), nested) and enclosures over a stretch of motion ([`Interval`](super::Interval)).

use core::fmt::Debug;
use core::ops::{Add, Div, Mul, Neg, Sub};

/// A number that sums, products and the elementary functions are defined for. Comparisons are missing on purpose: a branch has no
/// derivative.
pub trait Scalar:
    Copy
    + Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
{
    /// A constant.
    #[must_use]
    fn constant(x: f64) -> Self;

    /// Sine and cosine.
    #[must_use]
    fn sin_cos(self) -> (Self, Self);

    /// The square root.
    #[must_use]
    fn sqrt(self) -> Self;

    /// The exponential.
    #[must_use]
    fn exp(self) -> Self;

    /// The natural logarithm.
    #[must_use]
    fn ln(self) -> Self;

    /// The arc tangent.
    #[must_use]
    fn atan(self) -> Self;

    /// A whole power. For the square of a quantity this is sharper than the product, where scalars are intervals.
    #[must_use]
    fn powi(self, n: i32) -> Self;

    /// Sine.
    #[must_use]
    fn sin(self) -> Self {
        self.sin_cos().0
    }

    /// Cosine.
    #[must_use]
    fn cos(self) -> Self {
        self.sin_cos().1
    }

    /// Tangent.
    #[must_use]
    fn tan(self) -> Self {
        let (sin, cos) = self.sin_cos();
        sin / cos
    }
}

impl Scalar for f64 {
    fn constant(x: f64) -> Self {
        x
    }

    fn sin_cos(self) -> (Self, Self) {
        libm::sincos(self)
    }

    fn sqrt(self) -> Self {
        libm::sqrt(self)
    }

    fn exp(self) -> Self {
        libm::exp(self)
    }

    fn ln(self) -> Self {
        libm::log(self)
    }

    fn atan(self) -> Self {
        libm::atan(self)
    }

    fn powi(self, n: i32) -> Self {
        let mut power = 1.0;
        let mut square = self;
        let mut left = n.unsigned_abs();
        while left > 0 {
            if left & 1 == 1 {
                power *= square;
            }
            square *= square;
            left >>= 1;
        }
        if n < 0 { 1.0 / power } else { power }
    }
}

/// The matrix of a quadratic form: G of 2T = vᵀG v, from T as a function of the velocities. By polarisation,
/// G_ij = ½(T(e_i + e_j) − T(e_i − e_j)), so that a kinetic energy written in velocities of points will do.
#[must_use]
pub fn mass_of<S: Scalar, const N: usize>(kinetic_energy: impl Fn(&[S; N]) -> S) -> [[S; N]; N] {
    let zero = S::constant(0.0);
    let mut mass = [[zero; N]; N];
    for i in 0..N {
        let mut v = [zero; N];
        v[i] = S::constant(1.0);
        mass[i][i] = kinetic_energy(&v) * 2.0;
        for j in 0..i {
            v[j] = S::constant(1.0);
            let together = kinetic_energy(&v);
            v[j] = S::constant(-1.0);
            let against = kinetic_energy(&v);
            v[j] = zero;
            mass[i][j] = (together - against) * 0.5;
            mass[j][i] = mass[i][j];
        }
    }
    mass
}
