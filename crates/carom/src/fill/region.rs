//! The region of space that fills are placed in.

use nalgebra::Vector3;

use super::Unplaced;
use crate::scene::model::{Fill, Scene};
use crate::shape::HalfSpace;

/// A box: periodic along some axes, between planes along the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Region {
    /// Its lowest corner.
    pub low: Vector3<f64>,
    /// Its lengths.
    pub lengths: Vector3<f64>,
    /// Along which axes it is periodic.
    pub periodic: [bool; 3],
}

/// How much a plane's normal may deviate from an axis.
const ALIGNED: f64 = 1e-12;

/// The volume of all bodies of a fill.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "fewer bodies than 2^53")]
pub fn volume(fill: &Fill) -> f64 {
    fill.shape.volume() * fill.count as f64
}

/// The periodic lengths of a scene: as given, or those of the cube that the packing fraction of a fill defines.
#[must_use]
pub fn lengths(scene: &Scene) -> Option<Vector3<f64>> {
    scene.periodic.or_else(|| {
        let fill = scene.fills.iter().find_map(|fill| Some(volume(fill) / fill.packing_fraction?))?;
        Some(Vector3::repeat(libm::cbrt(fill)))
    })
}

impl Region {
    /// The region of a scene; `None` without a box.
    ///
    /// # Errors
    /// An open direction that is not bounded by two planes.
    pub fn of(scene: &Scene) -> Result<Option<Self>, Unplaced> {
        let Some(lengths) = lengths(scene) else { return Ok(None) };
        let planes: Vec<HalfSpace> = scene.planes.iter().map(|plane| plane.half_space).collect();
        Self::between(lengths, &planes).map(Some)
    }

    /// A box of these lengths, between planes where a length is zero.
    ///
    /// # Errors
    /// An open direction that is not bounded by two planes.
    pub fn between(lengths: Vector3<f64>, planes: &[HalfSpace]) -> Result<Self, Unplaced> {
        let mut region =
            Self { low: Vector3::zeros(), lengths, periodic: [0, 1, 2].map(|i| lengths[i] > 0.0) };
        for axis in (0..3).filter(|&axis| lengths[axis] == 0.0) {
            // Free where normal · x > offset.
            let along = |sign: f64| {
                let facing = |plane: &&HalfSpace| (sign * plane.normal[axis] - 1.0).abs() < ALIGNED;
                let offsets = planes.iter().filter(facing).map(|plane| plane.offset);
                offsets.fold(f64::NEG_INFINITY, f64::max)
            };
            let (low, high) = (along(1.0), -along(-1.0));
            if !(low.is_finite() && high.is_finite() && high > low) {
                return Err(Unplaced::Open { axis });
            }
            (region.low[axis], region.lengths[axis]) = (low, high - low);
        }
        Ok(region)
    }

    /// Its volume.
    #[must_use]
    pub fn volume(&self) -> f64 {
        self.lengths.product()
    }

    /// The shortest displacement that differs from one by whole boxes.
    #[must_use]
    pub fn shortest(&self, apart: Vector3<f64>) -> Vector3<f64> {
        Vector3::from_fn(|i, _| {
            if self.periodic[i] {
                apart[i] - self.lengths[i] * libm::rint(apart[i] / self.lengths[i])
            } else {
                apart[i]
            }
        })
    }
}
