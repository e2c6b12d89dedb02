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

use super::{Osculation, across};

/// The least w_i that [`support_and_hessian`] sees: it keeps ∇²h finite on the rings, at most about a²/(ε h).
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

/// With u = |y|/max|y|, u_i^{q−1} and t = (Σu^q)^{−1/p} give h = max|y| Σu^q t and w_i^{q−1} = u_i^{q−1} t, because
/// (q−1)/q = 1/p.
#[inline(always)]
fn tangent(a: [f64; 3], p: f64, n: &Vector3<f64>) -> Option<Tangent> {
    let mut scale = 1.0;
    let mut y: [f64; 3] = core::array::from_fn(|i| a[i] * n[i].abs());
    let mut most = y[0].max(y[1]).max(y[2]);
    if !(LENGTHS.0..LENGTHS.1).contains(&most) {
        scale = n.amax();
        if scale == 0.0 {
            return None;
        }
        y = core::array::from_fn(|i| a[i] * (n[i] / scale).abs());
        most = y[0].max(y[1]).max(y[2]);
    }
    let u = y.map(|y| y / most);
    let power = u.map(|u| raised(u, 1.0 / (p - 1.0)));
    let sum = u[0] * power[0] + u[1] * power[1] + u[2] * power[2];
    let root = root(sum, p);
    let t = 1.0 / root;
    let height = sum * t;
    Some(Tangent { height: most * height * scale, share: u.map(|u| u / height), power: power.map(|e| e * t) })
}

/// Lengths between these can be divided and multiplied without leaving the range of numbers.
const LENGTHS: (f64, f64) = (1e-200, 1e200);

/// u^s for u in [0, 1] and s > 0, to ε/2 or so of one rather than of u^s: of a sum in which another term is one, that is
/// what counts. A third of the time of `libm::pow`, whose last digits would be lost.
fn raised(u: f64, s: f64) -> f64 {
    if u == 1.0 { 1.0 } else { libm::exp(s * libm::log(u)) }
}

/// x^{1/p} for x in [1, 3]; on a flat x is close to one, and a few terms of the binomial series do.
fn root(x: f64, p: f64) -> f64 {
    let e = x - 1.0;
    if e < FEW_TERMS {
        let c = p.recip();
        let rest = 1.0 + (c - 2.0) / 3.0 * e * (1.0 + (c - 3.0) / 4.0 * e * (1.0 + (c - 4.0) / 5.0 * e));
        return 1.0 + c * e * (1.0 + (c - 1.0) / 2.0 * e * rest);
    }
    if p == 4.0 { libm::sqrt(libm::sqrt(x)) } else { libm::exp(libm::log(x) / p) }
}

/// Below it the fifth power is rounding.
const FEW_TERMS: f64 = 1e-3;

/// [`raised`] for three at once; whole and half exponents by multiplication, from the highest bit down.
#[inline(always)]
fn all_raised(u: [f64; 3], s: f64) -> [f64; 3] {
    if s > MOST_MULTIPLIED || s + s != libm::floor(s + s) {
        return u.map(|u| raised(u, s));
    }
    let mut power = [1.0; 3];
    let mut rest = s;
    for bit in [16.0, 8.0, 4.0, 2.0, 1.0] {
        power = power.map(|x| x * x);
        if rest >= bit {
            rest -= bit;
            power = core::array::from_fn(|i| power[i] * u[i]);
        }
    }
    if rest == 0.5 { core::array::from_fn(|i| power[i] * libm::sqrt(u[i])) } else { power }
}

/// Beyond this, repeated squaring adds up more rounding than it saves time.
const MOST_MULTIPLIED: f64 = 31.5;

pub(super) fn support_height(a: [f64; 3], p: f64, n: &Vector3<f64>) -> f64 {
    tangent(a, p, n).map_or(0.0, |tangent| tangent.height)
}

pub(super) fn support(a: [f64; 3], p: f64, n: &Vector3<f64>) -> Vector3<f64> {
    tangent(a, p, n).map_or_else(Vector3::zeros, |tangent| tangent.point(a, n))
}

impl Tangent {
    fn point(&self, a: [f64; 3], n: &Vector3<f64>) -> Vector3<f64> {
        Vector3::from_fn(|i, _| (a[i] * self.power[i]).copysign(n[i]))
    }
}

/// The diagonal is written as a_i² w_i^{q−2} Σ_{j≠i} w_j^q, which does not cancel where s_i is close to a_i.
#[inline(always)]
pub(super) fn support_and_hessian(a: [f64; 3], p: f64, n: &Vector3<f64>) -> (Vector3<f64>, Matrix3<f64>) {
    let Some(tangent) = tangent(a, p, n) else {
        return (Vector3::zeros(), Matrix3::zeros());
    };
    let point = tangent.point(a, n);
    let Tangent { height, share, power } = tangent;
    let parts: [f64; 3] = core::array::from_fn(|i| share[i] * power[i]);
    // a_i a_j/h in this order: the square of an axis may not fit.
    let b = a.map(|a| a / height / (p - 1.0));
    let diagonal = |i: usize| {
        // w^{q−2} falls with w, so its value at the floor bounds it from there on.
        let steep = if share[i] < FLATTEST {
            libm::exp((1.0 / (p - 1.0) - 1.0) * libm::log(FLATTEST))
        } else {
            power[i] / share[i]
        };
        a[i] * steep * (parts[(i + 1) % 3] + parts[(i + 2) % 3]) * b[i]
    };
    let across = |i: usize, j: usize| -point[i] * power[j].copysign(n[j]) * b[j];
    let [xy, yz, zx] = [across(0, 1), across(1, 2), across(2, 0)];
    (point, Matrix3::new(diagonal(0), xy, zx, xy, diagonal(1), yz, zx, yz, diagonal(2)))
}

/// (Σ |x_i/a_i|^p)^{1/p}
pub(super) fn gauge(a: [f64; 3], p: f64, x: &Vector3<f64>) -> f64 {
    let u: [f64; 3] = core::array::from_fn(|i| (x[i] / a[i]).abs());
    let most = u[0].max(u[1]).max(u[2]);
    if most == 0.0 {
        return 0.0;
    }
    let power = all_raised(u.map(|u| u / most), p);
    most * root(power[0] + power[1] + power[2], p)
}

/// With u = |x/a| over its largest, S = Σu^p and t = S^{1/p}, the point on the ray has |x_i/a_i| = u_i/t. There the gradient
/// goes as G_i = σ_i u_i^{p−1}/a_i, and H = P diag((p−1) u_i^{p−2}/a_i²) P t/|G|.
#[inline(always)]
pub(super) fn osculate(a: [f64; 3], p: f64, x: &Vector3<f64>) -> Osculation {
    let b = a.map(f64::recip);
    let v: [f64; 3] = core::array::from_fn(|i| x[i] * b[i]);
    let most = v[0].abs().max(v[1].abs()).max(v[2].abs());
    let per_most = most.recip();
    let u = v.map(|v| v * per_most);
    let power = all_raised(u.map(f64::abs), p - 2.0);
    let sum = u[0] * u[0] * power[0] + u[1] * u[1] * power[1] + u[2] * u[2] * power[2];
    let root = root(sum, p);
    let gradient = Vector3::from_fn(|i, _| u[i] * power[i] * b[i]);
    // The largest u is one: squares stay in range.
    let per_steepness = libm::sqrt(gradient.norm_squared()).recip();
    let normal = gradient * per_steepness;
    let bent = (p - 1.0) * (root * per_steepness);
    let bending = Vector3::from_fn(|i, _| bent * b[i] * power[i] * b[i]);
    Osculation { point: x * (per_most / root), normal, curvature: across(&bending, &normal) }
}

/// By Hölder: max Σx² = (Σ a_i^{2s})^{1/s} with s = p/(p−2) conjugate to p/2.
pub(super) fn circumradius(a: [f64; 3], p: f64) -> f64 {
    let most = a[0].max(a[1]).max(a[2]);
    let twice = 2.0 * p / (p - 2.0);
    let sum: f64 = a.iter().map(|a| raised(a / most, twice)).sum();
    most * root(sum, twice)
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
