//! The third-order term of a surface: how its curvature changes along it.
//!
//! With d the signed distance to the body, its third derivative along a tangent t of the surface F = 0 is
//!
//! ```text
//! D³d[t,t,t] = D³F[t,t,t]/|∇F| − 3 (t·∇²F t)(n·∇²F t)/|∇F|²        (theory, section 3)
//! ```
//!
//! which is the change of the curvature t·H t along the geodesic that starts with t. A curve on the surface with
//! velocity t and tangential acceleration zero has n·x''' = −`D³d[t,t,t]`.

use nalgebra::Vector3;

use super::{Kind, Shape, length, rounded, superellipsoid};

impl Shape {
    /// `D³d[t,t,t]` at the surface point on the ray through x ≠ 0, for t in the tangent plane there.
    ///
    /// Where 2 < p < 3 it is infinite on the rings x_i = 0 for a t across them, and at p = 3 it jumps there: the
    /// mean of both sides is given, zero.
    #[must_use]
    pub fn curvature_change(&self, x: &Vector3<f64>, t: &Vector3<f64>) -> f64 {
        match self.kind() {
            Kind::Point | Kind::Sphere(_) => 0.0,
            Kind::Ellipsoid(a) => change(a, 2.0, length(&x.component_div(&Vector3::from(a))), x, t),
            Kind::Superellipsoid(a, p) => change(a, p, superellipsoid::gauge(a, p, x), x, t),
            Kind::Rounded(sharp, rounding) => rounded::curvature_change(&sharp, rounding, x, t),
        }
    }
}

/// With w_i = x_i/a_i over the gauge and everything divided by p: F_i = σ w^{p−1}/a, F_ii = (p−1) w^{p−2}/a²,
/// F_iii = σ (p−1)(p−2) w^{p−3}/a³.
fn change(a: [f64; 3], p: f64, gauge: f64, x: &Vector3<f64>, t: &Vector3<f64>) -> f64 {
    let share: [f64; 3] = core::array::from_fn(|i| x[i] / a[i] / gauge);
    let step: [f64; 3] = core::array::from_fn(|i| t[i] / a[i]);
    let power = share.map(|w| libm::pow(w.abs(), p - 2.0));
    let gradient = Vector3::from_fn(|i, _| share[i] * power[i] / a[i]);
    let steepness = length(&gradient);
    let (mut second, mut mixed, mut third) = (0.0, 0.0, 0.0);
    for i in 0..3 {
        let bend = (p - 1.0) * power[i] * step[i] / steepness;
        second += bend * step[i];
        mixed += bend / a[i] * (gradient[i] / steepness);
        // Nothing moves across the ring, or the surface is a quadric: no term, whatever its coefficient.
        if step[i] != 0.0 && p > 2.0 {
            // σ w^{p−3}, which is w^{p−2}/w but on a ring.
            let steep = match share[i] {
                0.0 if p >= 3.0 => 0.0,
                0.0 => f64::INFINITY.copysign(share[i]),
                w => power[i] / w,
            };
            third += (p - 1.0) * (p - 2.0) * steep * step[i] * step[i] * step[i] / steepness;
        }
    }
    third - 3.0 * second * mixed
}
