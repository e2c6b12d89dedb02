//! The half-space: an immovable body without mass properties, bounded by the plane normal · x = offset.

use nalgebra::Vector3;

use super::HalfSpace;

impl HalfSpace {
    /// The signed distance of a point to the plane, positive on the free side: normal · x − offset.
    #[must_use]
    pub fn height(&self, x: &Vector3<f64>) -> f64 {
        self.normal.dot(x) - self.offset
    }

    /// The point of the plane nearest to x.
    #[must_use]
    pub fn nearest(&self, x: &Vector3<f64>) -> Vector3<f64> {
        x - *self.normal * self.height(x)
    }
}
