//! Random numbers: one stream of ChaCha8 for each purpose, so that the same seed gives the same bytes.
#![deny(clippy::disallowed_methods, clippy::std_instead_of_core, clippy::std_instead_of_alloc)]

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

use super::chacha::Stream;

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct Random {
    source: Stream,
    /// The second number of a pair of the Box–Muller method.
    spare: Option<f64>,
}

impl Random {
    /// One of the streams of a key.
    #[must_use]
    pub fn keyed(key: &[u32; 8], stream: u64) -> Self {
        Self { source: Stream::new(key, stream), spare: None }
    }

    /// 64 random bits, as the seed of another stream.
    pub fn bits(&mut self) -> u64 {
        self.source.next()
    }

    /// Uniform in [0, 1), with 53 bits.
    pub fn uniform(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1u64 << 53) as f64;
        #[expect(clippy::cast_precision_loss, reason = "53 bits")]
        let steps = (self.source.next() >> 11) as f64;
        steps * STEP
    }

    /// A whole number below a bound, which must not be zero.
    pub fn below(&mut self, bound: usize) -> usize {
        let wide = u128::from(self.source.next()) * bound as u128;
        // The upper half of the product is below the bound, so it fits.
        usize::try_from(wide >> 64).unwrap_or(0)
    }

    /// From the standard normal distribution, by the Box–Muller method.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        // 1 − u is never zero.
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.uniform()));
        let (sin, cos) = libm::sincos(core::f64::consts::TAU * self.uniform());
        self.spare = Some(radius * sin);
        radius * cos
    }

    /// Three normal numbers.
    pub fn normal_vector(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.normal())
    }

    /// Uniform over all orientations: four normal numbers, normalised.
    pub fn orientation(&mut self) -> UnitQuaternion<f64> {
        loop {
            let [w, x, y, z] = [0; 4].map(|_| self.normal());
            let turn = Quaternion::new(w, x, y, z);
            if turn.norm_squared() > 1e-6 {
                return UnitQuaternion::from_quaternion(turn);
            }
        }
    }

    /// Puts a list into random order.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i + 1));
        }
    }
}
