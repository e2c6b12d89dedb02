//! The ellipsoid Σ (x_i/a_i)² ≤ 1, in closed form with square roots only.
//!
//! With y_i = a_i n_i and w = y/|y|:
//!
//! ```text
//! h(n) = |y|,   s(n) = ∇h = (a_i w_i),   ∇²h = [diag(a_i²) − s sᵀ]/h
//! ```

use nalgebra::{Matrix3, Vector3};

use super::{Osculation, length, unit};

pub(super) fn volume(a: [f64; 3]) -> f64 {
    4.0 / 3.0 * core::f64::consts::PI * (a[0] * a[1] * a[2])
}

/// I₁ = (a₂² + a₃²)/5, cyclic: ⟨x_i²⟩ = a_i²/5.
pub(super) fn unit_inertia(a: [f64; 3]) -> Vector3<f64> {
    let square = a.map(|a| a * a);
    Vector3::new(square[1] + square[2], square[2] + square[0], square[0] + square[1]) / 5.0
}

pub(super) fn support_height(a: [f64; 3], n: &Vector3<f64>) -> f64 {
    let scale = n.amax();
    if scale == 0.0 { 0.0 } else { length(&(n / scale).component_mul(&Vector3::from(a))) * scale }
}

pub(super) fn support(a: [f64; 3], n: &Vector3<f64>) -> Vector3<f64> {
    direction(a, n).component_mul(&Vector3::from(a))
}

/// The diagonal is written as a_i² Σ_{j≠i} w_j²/h, which does not cancel where s_i is close to a_i.
pub(super) fn support_hessian(a: [f64; 3], n: &Vector3<f64>) -> Matrix3<f64> {
    let w = direction(a, n);
    let h = support_height(a, n);
    Matrix3::from_fn(|i, j| {
        let (k, l) = ((i + 1) % 3, (i + 2) % 3);
        let weight = if i == j { w[k] * w[k] + w[l] * w[l] } else { -w[i] * w[j] };
        a[i] * weight * (a[j] / h)
    })
}

/// H = P diag(1/a_i²) P/|G| with G_i = x_i/a_i², P the projection on the tangent plane.
pub(super) fn osculate(a: [f64; 3], x: &Vector3<f64>) -> Osculation {
    let w = unit(&x.component_div(&Vector3::from(a)));
    let gradient = w.component_div(&Vector3::from(a));
    let steepness = length(&gradient);
    let normal = gradient / steepness;
    let tangent = Matrix3::identity() - normal * normal.transpose();
    let bending = Matrix3::from_diagonal(&Vector3::from_fn(|i, _| 1.0 / (a[i] * a[i]) / steepness));
    Osculation { point: w.component_mul(&Vector3::from(a)), normal, curvature: tangent * bending * tangent }
}

/// Where curvature is greatest, at the tip of the longest axis across the shortest, its radius is min²/max.
pub(super) fn rolling_radius(a: [f64; 3]) -> f64 {
    let (least, most) = (a[0].min(a[1]).min(a[2]), a[0].max(a[1]).max(a[2]));
    least * (least / most)
}

/// w = y/|y|
fn direction(a: [f64; 3], n: &Vector3<f64>) -> Vector3<f64> {
    let scale = n.amax();
    if scale == 0.0 { Vector3::zeros() } else { unit(&(n / scale).component_mul(&Vector3::from(a))) }
}
