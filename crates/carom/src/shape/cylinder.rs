//! The cylinder x² + y² ≤ R², |z| ≤ l, grown by a ball of radius r: capsules with R = 0, discs with l = 0.

use core::f64::consts::FRAC_PI_2;

use nalgebra::Vector3;

use super::turned::{Part, Turned, turned};

/// In units of the size, so that powers stay in range.
fn properties(radius: f64, half_length: f64, rounding: f64) -> (Turned, f64) {
    let size = radius.max(half_length) + rounding;
    let [radius, high, rounding] = [radius, half_length, rounding].map(|x| x / size);
    let wide = radius + rounding;
    let parts = [
        Part::Arc([radius, -high], rounding, [-FRAC_PI_2, 0.0]),
        Part::Line([wide, -high], [wide, high]),
        Part::Arc([radius, high], rounding, [0.0, FRAC_PI_2]),
    ];
    (turned(&parts), size)
}

/// Zero for a disc without thickness.
pub(super) fn volume(radius: f64, half_length: f64, rounding: f64) -> f64 {
    let (Turned { volume, .. }, size) = properties(radius, half_length, rounding);
    volume * size * size * size
}

/// I₁ = I₂ = ⟨x²⟩ + ⟨z²⟩, I₃ = 2⟨x²⟩; of a disc ⟨x²⟩ = R²/4, ⟨z²⟩ = 0.
pub(super) fn unit_inertia(radius: f64, half_length: f64, rounding: f64) -> Vector3<f64> {
    if half_length == 0.0 && rounding == 0.0 {
        let across = 0.25 * radius * radius;
        return Vector3::new(across, across, 2.0 * across);
    }
    let (Turned { across, along, .. }, size) = properties(radius, half_length, rounding);
    Vector3::new(across + along, across + along, 2.0 * across) * size * size
}
