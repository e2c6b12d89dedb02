//! The ball |x| ≤ r: h(n) = r|n|, support point r n/|n|, curvature 1/r in every direction.

use nalgebra::{Matrix3, Vector3};

use super::{Osculation, unit};

pub(super) fn volume(radius: f64) -> f64 {
    4.0 / 3.0 * core::f64::consts::PI * (radius * radius * radius)
}

/// ⟨(x² + y²)⟩ = 2r²/5 about every axis.
pub(super) fn unit_inertia(radius: f64) -> Vector3<f64> {
    Vector3::repeat(0.4 * (radius * radius))
}

pub(super) fn support(radius: f64, n: &Vector3<f64>) -> Vector3<f64> {
    unit(n) * radius
}

/// r (I − n̂n̂ᵀ)/|n|
pub(super) fn support_and_hessian(radius: f64, n: &Vector3<f64>) -> (Vector3<f64>, Matrix3<f64>) {
    let axis = unit(n);
    // |n| = n·n̂ without squaring a component that might overflow.
    (axis * radius, (Matrix3::identity() - axis * axis.transpose()) * (radius / n.dot(&axis)))
}

pub(super) fn osculate(radius: f64, x: &Vector3<f64>) -> Osculation {
    let axis = unit(x);
    let curvature = (Matrix3::identity() - axis * axis.transpose()) / radius;
    Osculation { point: axis * radius, normal: axis, curvature }
}
