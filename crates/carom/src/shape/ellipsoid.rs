//! The ellipsoid Σ (x_i/a_i)² ≤ 1, in closed form with square roots only.
//!
//! With y_i = a_i n_i and w = y/|y|:
//!
//! ```text
//! h(n) = |y|,   s(n) = ∇h = (a_i w_i),   ∇²h = [diag(a_i²) − s sᵀ]/h
//! ```

use nalgebra::{Matrix3, Vector3};

use super::{Osculation, across, length, unit};

pub(super) fn volume(a: [f64; 3]) -> f64 {
    4.0 / 3.0 * core::f64::consts::PI * (a[0] * a[1] * a[2])
}

/// I₁ = (a₂² + a₃²)/5, cyclic: ⟨x_i²⟩ = a_i²/5.
pub(super) fn unit_inertia(a: [f64; 3]) -> Vector3<f64> {
    let square = a.map(|a| a * a);
    Vector3::new(square[1] + square[2], square[2] + square[0], square[0] + square[1]) / 5.0
}

pub(super) fn support_height(a: [f64; 3], n: &Vector3<f64>) -> f64 {
    tangent(a, n).0
}

pub(super) fn support(a: [f64; 3], n: &Vector3<f64>) -> Vector3<f64> {
    tangent(a, n).1.component_mul(&Vector3::from(a))
}

/// The diagonal is written as a_i² Σ_{j≠i} w_j²/h, which does not cancel where s_i is close to a_i.
#[inline(always)]
pub(super) fn support_and_hessian(a: [f64; 3], n: &Vector3<f64>) -> (Vector3<f64>, Matrix3<f64>) {
    let (h, w) = tangent(a, n);
    let [x, y, z] = [w.x * w.x, w.y * w.y, w.z * w.z];
    let point = w.component_mul(&Vector3::from(a));
    // a_i a_j/h in this order: the square of an axis may not fit.
    let b = a.map(|a| a / h);
    let [xy, yz, zx] = [-point.x * w.y * b[1], -point.y * w.z * b[2], -point.z * w.x * b[0]];
    let diagonal = [a[0] * (y + z) * b[0], a[1] * (z + x) * b[1], a[2] * (x + y) * b[2]];
    (point, Matrix3::new(diagonal[0], xy, zx, xy, diagonal[1], yz, zx, yz, diagonal[2]))
}

/// H = P diag(1/a_i²) P/|G| with G_i = x_i/a_i², P the projection on the tangent plane.
pub(super) fn osculate(a: [f64; 3], x: &Vector3<f64>) -> Osculation {
    let w = unit(&x.component_div(&Vector3::from(a)));
    let gradient = w.component_div(&Vector3::from(a));
    let steepness = length(&gradient);
    let normal = gradient / steepness;
    let bending = Vector3::from_fn(|i, _| 1.0 / (a[i] * a[i]) / steepness);
    Osculation { point: w.component_mul(&Vector3::from(a)), normal, curvature: across(&bending, &normal) }
}

/// Where curvature is greatest, at the tip of the longest axis across the shortest, its radius is min²/max.
pub(super) fn rolling_radius(a: [f64; 3]) -> f64 {
    let (least, most) = (a[0].min(a[1]).min(a[2]), a[0].max(a[1]).max(a[2]));
    least * (least / most)
}

/// h = |y| and w = y/|y|; zero for zero.
#[inline(always)]
fn tangent(a: [f64; 3], n: &Vector3<f64>) -> (f64, Vector3<f64>) {
    let y = n.component_mul(&Vector3::from(a));
    let square = y.norm_squared();
    if (SQUARES.0..SQUARES.1).contains(&square) {
        let h = libm::sqrt(square);
        return (h, y * h.recip());
    }
    // Squares that are out of range, or n itself near the end of it.
    let scale = n.amax();
    if scale == 0.0 {
        return (0.0, Vector3::zeros());
    }
    let y = (n / scale).component_mul(&Vector3::from(a));
    (length(&y) * scale, unit(&y))
}

/// Squares of lengths between these neither overflow nor lose digits of what counts.
const SQUARES: (f64, f64) = (1e-250, 1e250);
