//! How rounding grows through a run: beside the parameters' columns a few more go through the same maps, to which every event
//! adds changes of random sign as large as rounding. What they have become at the end is an estimate of what rounding did to
//! the run, to within a third, and its ratio to the rounding of the last step is the growth.

use nalgebra::DMatrix;

use super::change::STATE;

/// The columns that carry rounding.
pub(super) const COPIES: usize = 8;

/// What rounding has grown to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rounding {
    /// Of the position.
    pub position: f64,
    /// Of the attitude, as an angle.
    pub orientation: f64,
    /// Of the velocity.
    pub velocity: f64,
    /// Of the angular velocity.
    pub angular_velocity: f64,
    /// By how much a relative change, as rounding is one, has grown; about one where nothing grows. A derivative's relative error
    /// is of the order of this times 2·10⁻¹⁶.
    pub growth: f64,
}

/// Signs that are as good as random, and the same every time: Marsaglia's xorshift, of 64 bits.
pub(super) struct Noise(u64);

impl Noise {
    pub fn new() -> Self {
        Self(0x9E37_79B9_7F4A_7C15)
    }

    fn sign(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        if self.0 >> 63 == 0 { 1.0 } else { -1.0 }
    }

    /// Adds rounding to the columns after the first `count`.
    pub fn add(&mut self, matrix: &mut DMatrix<f64>, count: usize, scale: &[f64; 4]) {
        for j in count..matrix.ncols() {
            for i in 0..STATE {
                matrix[(i, j)] += self.sign() * 0.5 * f64::EPSILON * scale[i / 3];
            }
        }
    }
}

impl Rounding {
    pub(super) fn of(matrix: &DMatrix<f64>, count: usize, scale: &[f64; 4]) -> Self {
        let copies = matrix.columns(count, COPIES);
        let of = |part: usize| {
            let square = copies.rows(3 * part, 3).norm_squared();
            libm::sqrt(square / COPIES as f64)
        };
        let all = [of(0), of(1), of(2), of(3)];
        let ratio =
            |part: usize| if scale[part] > 0.0 { all[part] / (f64::EPSILON * scale[part]) } else { 0.0 };
        Self {
            position: all[0],
            orientation: all[1],
            velocity: all[2],
            angular_velocity: all[3],
            growth: (0..4).map(ratio).fold(0.0, f64::max),
        }
    }
}
