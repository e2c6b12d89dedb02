//! The coefficients of \[PVWZ\], with their errata corrected, for comparison.
//!
//! A point of the second body's surface, ε along a geodesic that leaves the contact point in the tangent direction
//! ê, moves with its body; its signed distance to the first body, at contact, is
//!
//! ```text
//! x(ε,t) = v t + x_2ε ε² + v_ε ε t + ½ a t² + x_3ε ε³ + v_2ε ε² t + ½ a_ε ε t² + j t³/6 + …
//! ```
//!
//! With Ω = ω₂ − ω₁, d the signed distance to the first body and b = a_Q − a_P − 2ω₁×u the acceleration that it sees:
//!
//! ```text
//! x_2ε = ½ ê·Kê          v_ε = w·ê                       (34); not (42), which has 2H₁u in w
//! a    = n·b + u·H₁u     v_2ε = (Ω×ê)·H₁ê + ½ D³d₁[ê,ê,u]
//! a_ε  = a⃗·ê,           a⃗ = H₁b + n×(ω̇₂−ω̇₁) + ω₂×(ω₂×n) − ω₁×(ω₁×n) + 2(H₁u − n×ω₁)×Ω + D³d₁[u,u,·]
//! j    = n·[Δj − 3(ω̇₁× + ω₁×ω₁×)u − 3ω₁×b] + 3u·H₁b + D³d₁[u,u,u]
//!      = n·Δj + 3ṅ₁·Δa + 3n̈₁·u + 3u·H₁Δa + 3u·Ḣ₁u + D³d₁[u,u,u]     (theory, section 3)
//! x_3ε = (D³d₁[ê,ê,ê] + D³d₂[ê,ê,ê])/6
//! ```
//!
//! The shape terms D³d are missing in the paper; they vanish with u. Stationary in ε, at the rate e = −K⁻¹w:
//!
//! ```text
//! g'' = a − wᵀK⁻¹w,      g''' = j + 3a⃗·e + 6v_2ε(e) + 6x_3ε(e)
//! ```
//!
//! which expands [`kinematics`](mod@super::kinematics) in the first body's frame. None of these is the same with
//! the bodies exchanged; only g', g'', g''' are. At contact, v = 0 (j is without the terms of v).
//!
//! **The quadratic model.** \[PVWZ\] (18) to (20) take F₁ = n₁·δ + ½ δ·H₁·δ for the distance and ε = ê ε + h ε² n₁,
//! h = ½ ê·H₂ê, for the neighbour. To the second order in t that is a polynomial in ε of the fourth degree, (28). With
//! T(x) = Ω×x and S(x) = (ω̇₂× + ω₂×ω₂×)x − (ω̇₁× + ω₁×ω₁×)x − 2ω₁×T(x), which are how the first body sees a vector
//! of the second change, (72) to (78) become
//!
//! ```text
//! v_2ε = Tê·H₁ê            v_3ε = h Tn·H₁ê                       v_4ε = 0
//! a_ε  = n·Sê + b·H₁ê + 2u·H₁Tê
//! a_2ε = h n·Sn + Sê·H₁ê + 2h u·H₁Tn + Tê·H₁Tê
//! a_3ε = h Sn·H₁ê + 2h Tê·H₁Tn                a_4ε = h² Tn·H₁Tn
//! ```
//!
//! [`Model`] holds them. The model has no third-order terms of the shapes, so where u ≠ 0 its v_2ε, a_ε and j are not
//! those of the distance; [`Coefficients`] has those.

use nalgebra::{Matrix3, Vector3};

use super::kinematics::{Facing, Moving, Tangent, kinematics, surfaces};
use crate::gap::Gap;

/// The coefficients for one direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coefficients {
    /// x_2ε = ½ ê·Kê.
    pub x_2e: f64,
    /// x_3ε.
    pub x_3e: f64,
    /// v.
    pub v: f64,
    /// v_ε = w·ê.
    pub v_e: f64,
    /// v_2ε.
    pub v_2e: f64,
    /// a.
    pub a: f64,
    /// a_ε = a⃗·ê.
    pub a_e: f64,
    /// j.
    pub j: f64,
    /// j without `D³d₁[u,u,u]`, as the paper has it.
    pub j_without_shape: f64,
    /// Δa = a_Q − a_P.
    pub relative_acceleration: Vector3<f64>,
    /// Δj, the difference of the materials' jerks at Q and P.
    pub relative_jerk: Vector3<f64>,
    /// ṅ₁ = ω₁×n of the first body's normal, which turns with it.
    pub normal_rate: Vector3<f64>,
    /// n̈₁ = ω̇₁×n + ω₁×(ω₁×n).
    pub normal_acceleration: Vector3<f64>,
    /// Ḣ₁ of the first body's curvature, which turns with it: \[ω₁\]H₁ − H₁\[ω₁\].
    pub curvature_rate: Matrix3<f64>,
}

/// The coefficients of the quadratic model along a unit direction: (27) and (28), misprints corrected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    /// ê, across n and of unit length.
    pub direction: Vector3<f64>,
    /// h = ½ ê·H₂ê.
    pub h: f64,
    /// x_2ε = h + ½ ê·H₁ê.
    pub x_2e: f64,
    /// v.
    pub v: f64,
    /// v_ε.
    pub v_e: f64,
    /// v_2ε.
    pub v_2e: f64,
    /// v_3ε.
    pub v_3e: f64,
    /// v_4ε, which is zero: n·Ḣ₁·n = 0.
    pub v_4e: f64,
    /// a.
    pub a: f64,
    /// a_ε.
    pub a_e: f64,
    /// a_2ε.
    pub a_2e: f64,
    /// a_3ε.
    pub a_3e: f64,
    /// a_4ε.
    pub a_4e: f64,
    /// j, without `D³d₁[u,u,u]`.
    pub j: f64,
}

impl Model {
    /// F₁ by (27) and (28): every term in ε to the second order in t, and jt³/6.
    #[must_use]
    pub fn distance(&self, e: f64, t: f64) -> f64 {
        let still = self.x_2e * e * e;
        let first = self.v + e * (self.v_e + e * (self.v_2e + e * (self.v_3e + e * self.v_4e)));
        let second = self.a + e * (self.a_e + e * (self.a_2e + e * (self.a_3e + e * self.a_4e)));
        still + t * (first + t * (0.5 * second + t * self.j / 6.0))
    }
}

/// The quadratic model's coefficients along a direction, of which the part across the normal is made a unit vector; none
/// where it has none.
#[must_use]
pub fn model(first: &Facing, second: &Moving, at: &Gap, direction: &Vector3<f64>) -> Option<Model> {
    let n = at.normal;
    let e = (direction - n * n.dot(direction)).try_normalize(f64::MIN_POSITIVE)?;
    let k = kinematics(first, second, at);
    let (_, [one, two]) = surfaces(first, second, at);
    let (u, h1, spin) = (k.slip, one.curvature, two.spin - one.spin);
    let h = 0.5 * e.dot(&(two.curvature * e));
    let seen = two.acceleration - one.acceleration - one.spin.cross(&k.relative_velocity) * 2.0;
    let turn = |x: &Vector3<f64>| spin.cross(x);
    let turn_twice = |x: &Vector3<f64>| two.turn(x) - one.turn(x) - one.spin.cross(&turn(x)) * 2.0;
    let ([te, tn], [se, sn]) = ([turn(&e), turn(&n)], [turn_twice(&e), turn_twice(&n)]);
    let bent = |a: &Vector3<f64>, b: &Vector3<f64>| a.dot(&(h1 * b));
    Some(Model {
        direction: e,
        h,
        x_2e: h + 0.5 * bent(&e, &e),
        v: k.v,
        v_e: k.w.dot(&e),
        v_2e: bent(&te, &e),
        v_3e: h * bent(&tn, &e),
        v_4e: 0.0,
        a: k.a,
        a_e: n.dot(&se) + bent(&seen, &e) + 2.0 * bent(&u, &te),
        a_2e: h * n.dot(&sn) + bent(&se, &e) + 2.0 * h * bent(&u, &tn) + bent(&te, &te),
        a_3e: h * bent(&sn, &e) + 2.0 * h * bent(&te, &tn),
        a_4e: h * h * bent(&tn, &tn),
        j: n.dot(&(two.jerk - one.jerk - (one.turn(&u) + one.spin.cross(&seen)) * 3.0))
            + 3.0 * bent(&u, &seen),
    })
}

/// a⃗, the vector across n of which a_ε = a⃗·ê are the components, shape terms included.
#[must_use]
pub fn slope(first: &Facing, second: &Moving, at: &Gap) -> Vector3<f64> {
    let basis = Tangent::new(&at.normal).basis;
    basis.iter().map(|t| t * coefficients(first, second, at, t).a_e).sum()
}

/// The coefficients for a direction, of which the part across the normal is taken as it is: not made a unit vector.
#[must_use]
pub fn coefficients(first: &Facing, second: &Moving, at: &Gap, direction: &Vector3<f64>) -> Coefficients {
    let n = at.normal;
    let k = kinematics(first, second, at);
    let (points, [one, two]) = surfaces(first, second, at);
    let e = direction - n * n.dot(direction);
    let u = k.slip;
    let (h1, spin) = (one.curvature, two.spin - one.spin);
    let seen = two.acceleration - one.acceleration - one.spin.cross(&k.relative_velocity) * 2.0;
    let shape = |t: &Vector3<f64>| first.curvature_change(&points[0], t);
    // The cubic form's mixed values by its values on sums: f(a+b) − f(a−b) = 6f(a,a,b) + 2f(b).
    let mixed =
        |a: &Vector3<f64>, b: &Vector3<f64>| (shape(&(a + b)) - shape(&(a - b)) - 2.0 * shape(b)) / 6.0;
    let turned = spin.cross(&e);
    let jerk = n.dot(&(two.jerk - one.jerk - (one.turn(&u) + one.spin.cross(&seen)) * 3.0))
        + 3.0 * u.dot(&(h1 * seen));
    Coefficients {
        x_2e: 0.5 * e.dot(&((h1 + two.curvature) * e)),
        x_3e: (shape(&e) + second.curvature_change(&points[1], &e)) / 6.0,
        v: k.v,
        v_e: k.w.dot(&e),
        v_2e: turned.dot(&(h1 * e)) + 0.5 * mixed(&e, &u),
        a: k.a,
        a_e: e.dot(&(h1 * seen))
            + n.dot(&(two.turn(&e) - one.turn(&e) - one.spin.cross(&turned) * 2.0))
            + 2.0 * turned.dot(&(h1 * u))
            + mixed(&u, &e),
        j: jerk + shape(&u),
        j_without_shape: jerk,
        relative_acceleration: two.acceleration - one.acceleration,
        relative_jerk: two.jerk - one.jerk,
        normal_rate: one.spin.cross(&n),
        normal_acceleration: one.turn(&n),
        curvature_rate: one.spin.cross_matrix() * h1 - h1 * one.spin.cross_matrix(),
    }
}
