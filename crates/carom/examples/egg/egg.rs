//! An egg by its support function, for want of a better formula.
//!
//! For a body of revolution about z, with w = n_z/|n|:
//!
//! ```text
//! h(n) = |n| f(w),   f = a + b w² + c w³ − k w
//! ∇h = u (f − w f') + z f',   ∇²h = [(f − w f')(I − uuᵀ) + f'' (z − w u)(z − w u)ᵀ]/|n|,   u = n/|n|
//! ```
//!
//! b stretches it, c makes one end blunter than the other, and k shifts it along its axis. The radii of curvature are
//! f − w f' around the axis and f − w f' + (1 − w²) f'' along it; where both are positive it is an egg.

use carom::shape::{Convex, mass_properties};
use nalgebra::{Matrix3, Vector3};

/// An egg about its centre of mass.
#[derive(Debug, Clone, Copy)]
pub struct Egg {
    a: f64,
    b: f64,
    c: f64,
    /// The height of the centre of mass over the origin of f.
    k: f64,
    /// The principal moments of unit mass; the axes are those of the formula, by symmetry.
    pub unit_inertia: Vector3<f64>,
    pub volume: f64,
    rolling: f64,
}

impl Egg {
    /// `None` where the numbers do not make a convex body around the origin.
    pub fn new(a: f64, b: f64, c: f64) -> Option<Self> {
        let mut egg = Self { a, b, c, k: 0.0, unit_inertia: Vector3::zeros(), volume: 0.0, rolling: 0.0 };
        // Both radii are cubic in w: the least is at an end or where the derivative is zero.
        let around = extremes([a, 0.0, -b, -2.0 * c]);
        let along = extremes([a + 2.0 * b, 6.0 * c, -3.0 * b, -8.0 * c]);
        egg.rolling = around.0.min(along.0);
        // Written so that what is not a number is refused as well.
        if !(egg.rolling > 0.0 && egg.inradius() > 0.0) {
            return None;
        }
        let mass = mass_properties(&egg, 1e-14);
        egg.k = mass.centre.z;
        egg.volume = mass.volume;
        egg.unit_inertia = mass.unit_inertia.diagonal();
        Some(egg)
    }

    /// How far the centre of mass lies towards the blunt end or the sharp one, from the origin of f.
    pub fn shift(&self) -> f64 {
        self.k
    }

    /// f, f' and f''.
    fn profile(&self, w: f64) -> [f64; 3] {
        [
            self.a + w * (w * (self.b + w * self.c) - self.k),
            w * (2.0 * self.b + w * 3.0 * self.c) - self.k,
            2.0 * self.b + w * 6.0 * self.c,
        ]
    }
}

/// The least and the largest value of a cubic on [−1, 1].
fn extremes(p: [f64; 4]) -> (f64, f64) {
    let value = |w: f64| p[0] + w * (p[1] + w * (p[2] + w * p[3]));
    let mut found = (value(-1.0).min(value(1.0)), value(-1.0).max(value(1.0)));
    // 3 p₃ w² + 2 p₂ w + p₁ = 0, by the form that does not cancel.
    let root = (p[2] * p[2] - 3.0 * p[3] * p[1]).max(0.0).sqrt();
    let q = -(p[2] + root.copysign(p[2]));
    for w in [q / (3.0 * p[3]), p[1] / q] {
        if w.abs() <= 1.0 {
            found = (found.0.min(value(w)), found.1.max(value(w)));
        }
    }
    found
}

impl Convex for Egg {
    fn support(&self, n: &Vector3<f64>) -> Vector3<f64> {
        self.support_and_hessian(n).0
    }

    fn support_hessian(&self, n: &Vector3<f64>) -> Matrix3<f64> {
        self.support_and_hessian(n).1
    }

    fn support_and_hessian(&self, n: &Vector3<f64>) -> (Vector3<f64>, Matrix3<f64>) {
        let length = n.norm();
        let u = n / length;
        let [f, slope, bend] = self.profile(u.z);
        let round = f - u.z * slope;
        let rise = Vector3::z() - u * u.z;
        let hessian = (Matrix3::identity() - u * u.transpose()) * round + rise * rise.transpose() * bend;
        (u * round + Vector3::z() * slope, hessian / length)
    }

    fn support_height(&self, n: &Vector3<f64>) -> f64 {
        let length = n.norm();
        length * self.profile(n.z / length)[0]
    }

    /// The largest of the support function is the farthest point.
    fn circumradius(&self) -> f64 {
        extremes([self.a, -self.k, self.b, self.c]).1
    }

    fn inradius(&self) -> f64 {
        extremes([self.a, -self.k, self.b, self.c]).0
    }

    /// Shifting it changes no curvature.
    fn rolling_radius(&self) -> f64 {
        self.rolling
    }
}
