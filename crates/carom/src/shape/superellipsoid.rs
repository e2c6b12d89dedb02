//! The superellipsoid Σ |x_i/a_i|^p ≤ 1, p > 2.
//!
//! With q = p/(p−1), y_i = a_i n_i, w_i = |y_i|/h and σ_i the sign of n_i:
//!
//! ```text
//! h(n) = (Σ |y_i|^q)^{1/q},   s_i = σ_i a_i w_i^{q−1},   ∇²h = (q−1)/h · [diag(a_i² w_i^{q−2}) − s sᵀ]
//! ```
//!
//! On the rings n_i = 0, which are the rings x_i = 0 of the surface, q < 2 makes ∇²h infinite: there the surface has
//! no curvature across the ring. The curvature as a function of the *point* is smooth everywhere: use it there.

use nalgebra::{Matrix3, Vector3};

use libm::tgamma as gamma;

use super::{Osculation, length};

/// The least w_i that [`support_hessian`] sees: it keeps ∇²h finite on the rings, at most about a²/(ε h).
const FLATTEST: f64 = f64::EPSILON;

/// V = 8abc Γ(1+1/p)³/Γ(1+3/p)
pub(super) fn volume(a: [f64; 3], p: f64) -> f64 {
    let third = gamma(1.0 + 1.0 / p);
    8.0 * (a[0] * a[1] * a[2]) * (third * third * third / gamma(1.0 + 3.0 / p))
}

/// ⟨x_i²⟩ = a_i² Γ(3/p)Γ(1+3/p)/[Γ(1/p)Γ(1+5/p)], written by Γ(1+x) = xΓ(x) with every argument between 1 and 7/2,
/// where nothing grows with p.
pub(super) fn unit_inertia(a: [f64; 3], p: f64) -> Vector3<f64> {
    let middle = gamma(1.0 + 3.0 / p);
    let k = middle * middle / (3.0 * gamma(1.0 + 1.0 / p) * gamma(1.0 + 5.0 / p));
    let square = a.map(|a| a * a);
    Vector3::new(square[1] + square[2], square[2] + square[0], square[0] + square[1]) * k
}

/// h, and per axis w_i and w_i^{q−1}, for one n; everything the support function and its derivatives are made of.
struct Tangent {
    height: f64,
    share: [f64; 3],
    power: [f64; 3],
}

/// Four powers in all: with u = |y|/max|y|, u_i^{q−1} and t = (Σu^q)^{−1/p} give h = max|y| Σu^q t and
/// w_i^{q−1} = u_i^{q−1} t, because (q−1)/q = 1/p.
fn tangent(a: [f64; 3], p: f64, n: &Vector3<f64>) -> Option<Tangent> {
    let scale = n.amax();
    if scale == 0.0 {
        return None;
    }
    let y: [f64; 3] = core::array::from_fn(|i| a[i] * (n[i] / scale).abs());
    let most = y[0].max(y[1]).max(y[2]);
    let u = y.map(|y| y / most);
    let power = u.map(|u| libm::pow(u, 1.0 / (p - 1.0)));
    let sum = u[0] * power[0] + u[1] * power[1] + u[2] * power[2];
    let t = libm::pow(sum, -1.0 / p);
    let height = sum * t;
    Some(Tangent { height: most * height * scale, share: u.map(|u| u / height), power: power.map(|e| e * t) })
}

pub(super) fn support_height(a: [f64; 3], p: f64, n: &Vector3<f64>) -> f64 {
    tangent(a, p, n).map_or(0.0, |tangent| tangent.height)
}

pub(super) fn support(a: [f64; 3], p: f64, n: &Vector3<f64>) -> Vector3<f64> {
    tangent(a, p, n).map_or_else(Vector3::zeros, |tangent| {
        Vector3::from_fn(|i, _| (a[i] * tangent.power[i]).copysign(n[i]))
    })
}

/// The diagonal is written as a_i² w_i^{q−2} Σ_{j≠i} w_j^q, which does not cancel where s_i is close to a_i.
pub(super) fn support_hessian(a: [f64; 3], p: f64, n: &Vector3<f64>) -> Matrix3<f64> {
    let Some(Tangent { height, share, power }) = tangent(a, p, n) else {
        return Matrix3::zeros();
    };
    Matrix3::from_fn(|i, j| {
        let (k, l) = ((i + 1) % 3, (i + 2) % 3);
        let weight = if i == j {
            // w^{q−2} falls with w, so its value at the floor bounds it from there on.
            let steep = if share[i] < FLATTEST {
                libm::pow(FLATTEST, 1.0 / (p - 1.0) - 1.0)
            } else {
                power[i] / share[i]
            };
            steep * (share[k] * power[k] + share[l] * power[l])
        } else {
            -power[i].copysign(n[i]) * power[j].copysign(n[j])
        };
        a[i] * weight * (a[j] / height) / (p - 1.0)
    })
}

/// (Σ |x_i/a_i|^p)^{1/p}
pub(super) fn gauge(a: [f64; 3], p: f64, x: &Vector3<f64>) -> f64 {
    let u: [f64; 3] = core::array::from_fn(|i| (x[i] / a[i]).abs());
    let most = u[0].max(u[1]).max(u[2]);
    if most == 0.0 {
        return 0.0;
    }
    let sum: f64 = u.iter().map(|u| libm::pow(u / most, p)).sum();
    most * libm::pow(sum, 1.0 / p)
}

/// With w_i = |x_i/a_i|/gauge: G_i = σ_i w_i^{p−1}/a_i and H = P diag((p−1) w_i^{p−2}/a_i²) P/|G|.
pub(super) fn osculate(a: [f64; 3], p: f64, x: &Vector3<f64>) -> Osculation {
    let size = gauge(a, p, x);
    let share: [f64; 3] = core::array::from_fn(|i| x[i] / a[i] / size);
    let power = share.map(|w| libm::pow(w.abs(), p - 2.0));
    let gradient = Vector3::from_fn(|i, _| share[i] * power[i] / a[i]);
    let steepness = length(&gradient);
    let normal = gradient / steepness;
    let tangent = Matrix3::identity() - normal * normal.transpose();
    let bending =
        Matrix3::from_diagonal(&Vector3::from_fn(|i, _| (p - 1.0) * power[i] / (a[i] * a[i]) / steepness));
    Osculation { point: x / size, normal, curvature: tangent * bending * tangent }
}

/// By Hölder: max Σx² = (Σ a_i^{2s})^{1/s} with s = p/(p−2) conjugate to p/2.
pub(super) fn circumradius(a: [f64; 3], p: f64) -> f64 {
    let most = a[0].max(a[1]).max(a[2]);
    let twice = 2.0 * p / (p - 2.0);
    let sum: f64 = a.iter().map(|a| libm::pow(a / most, twice)).sum();
    most * libm::pow(sum, 1.0 / twice)
}

/// A lower bound of the least radius of curvature. In y the Hessian of h is at least (q−1)/h times the projection
/// across y, because every w_i ≤ 1 and q ≤ 2; a tangent unit vector t has |At × An| ≥ a_min a_mid; and |An| ≤ h ≤ R.
/// So ∇²h ≥ (q−1)(a_min a_mid)²/R³ on the tangent plane.
pub(super) fn rolling_radius(a: [f64; 3], p: f64) -> f64 {
    let mut sorted = a;
    sorted.sort_unstable_by(f64::total_cmp);
    let radius = circumradius(a, p);
    let (least, middle) = (sorted[0] / radius, sorted[1] / radius);
    radius * (least * middle) * (least * middle) / (p - 1.0)
}
