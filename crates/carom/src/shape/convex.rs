//! What the gap and the time of impact ask of a body: the support function h(n) = max n·x with its derivatives.
//!
//! [`Convex`] is for smooth, strictly convex bodies of any origin. A body is given about its centre of mass in its
//! principal axes; the centre lies inside, but nothing need be symmetric about it: h(−n) is not h(n). Four functions
//! are asked for, the rest follow from them:
//!
//! ```text
//! s(n) = ∇h(n),   ∇²h(n),   R = max h over unit n,   r = min h over unit n
//! ```
//!
//! The surface point on a ray x (for [`Convex::osculate`] and [`Convex::gauge`]) is found from these by minimising h
//! over the plane n·x̂ = 1. That is a convex problem: its minimum has s(n) along x̂, and |s| = h there. Newton's method
//! with halving solves it from anywhere. A body with flat points, where ∇²h is infinite, should bring its own
//! `osculate`, smooth in the point, and say how flat it is by [`Convex::exponent`].

use nalgebra::{Matrix2, Matrix3, Vector2, Vector3};

use super::{Osculation, Sharp, length, tangents, unit};

/// A smooth, strictly convex body about its centre of mass, in its principal axes. Directions are of any length but
/// zero.
pub trait Convex {
    /// The point farthest along n, s(n) = ∇h(n): homogeneous of degree zero.
    fn support(&self, n: &Vector3<f64>) -> Vector3<f64>;

    /// ∇²h(n) = ∇s(n): symmetric, zero along n, homogeneous of degree −1; on the tangent plane of a unit n its
    /// eigenvalues are the radii of curvature. Always finite, see [`Convex::exponent`].
    fn support_hessian(&self, n: &Vector3<f64>) -> Matrix3<f64>;

    /// The radius of a ball about the centre that holds the body; the smaller, the better.
    fn circumradius(&self) -> f64;

    /// The radius of a ball about the centre inside the body; the larger, the better.
    fn inradius(&self) -> f64;

    /// The support function h(n) = n·s(n).
    fn support_height(&self, n: &Vector3<f64>) -> f64 {
        n.dot(&self.support(n))
    }

    /// s and ∇²h at once, where they share work.
    fn support_and_hessian(&self, n: &Vector3<f64>) -> (Vector3<f64>, Matrix3<f64>) {
        (self.support(n), self.support_hessian(n))
    }

    /// The surface point on the ray through x ≠ 0, with its normal and curvature.
    fn osculate(&self, x: &Vector3<f64>) -> Osculation {
        osculate_by_support(self, x)
    }

    /// The gauge ‖x‖: below one inside, one on the surface, homogeneous of degree one.
    fn gauge(&self, x: &Vector3<f64>) -> f64 {
        let far = length(x);
        if far == 0.0 { 0.0 } else { far / length(&self.osculate(x).point) }
    }

    /// A radius such that a ball of it rolls all over the inside of the surface: a lower bound of the radii of
    /// curvature. Two bodies that overlap by less than their rolling radii have one gap, found at once; deeper, and
    /// with the zero that is always right, the search starts from many directions.
    fn rolling_radius(&self) -> f64 {
        0.0
    }

    /// The greatest lever of a normal force about the centre, max |s(n)×n| over unit n, or more: how fast h changes
    /// when the body turns.
    fn lever(&self) -> f64 {
        let (far, near) = (self.circumradius(), self.inradius());
        // |s|² = h² + |s×n|².
        libm::sqrt((far - near) * (far + near))
    }

    /// The radius, if the body is a ball about its centre; zero for a point. Such a body is searched for by its
    /// centre, and none of the above is asked of it.
    fn ball(&self) -> Option<f64> {
        None
    }

    /// A length within a factor of two of the circumradius, for scaling and rounding: the circumradius itself, unless
    /// another is cheaper.
    fn size(&self) -> f64 {
        self.circumradius()
    }

    /// Whether x and −x are alike, h(−n) = h(n): half the directions need not be tried then.
    fn is_symmetric(&self) -> bool {
        false
    }

    /// The largest p such that somewhere the surface leaves a tangent plane like |t|^p: two where every curvature is
    /// positive. Above two the gap is finished with the surface points as unknowns, by [`Convex::osculate`].
    fn exponent(&self) -> f64 {
        2.0
    }

    /// The semi-axes a_i and the exponent p ≥ 2 of a body Σ|x_i/a_i|^p ≤ 1: its contact points are then found in
    /// coordinates that suit both its flats and its edges, however large p or a ratio of axes.
    fn superellipsoid(&self) -> Option<([f64; 3], f64)> {
        None
    }

    /// The body as a sharp one grown by a ball, if it is that. Its gap is then found from its faces, edges and corners.
    fn sharp(&self) -> Option<(Sharp, f64)> {
        None
    }

    /// The body with no exponent above p, if it has such a relative: bodies that look like boxes are approached
    /// through rounder ones.
    fn rounded(&self, exponent: f64) -> Option<Self>
    where
        Self: Sized,
    {
        let _ = exponent;
        None
    }
}

/// The most Newton steps to the normal of a ray.
const MOST_STEPS: u32 = 100;

/// The surface point on a ray from the support function alone.
fn osculate_by_support<S: Convex + ?Sized>(shape: &S, x: &Vector3<f64>) -> Osculation {
    let ray = unit(x);
    let across = tangents(&ray);
    let mut n = ray;
    let (mut point, mut hessian) = shape.support_and_hessian(&n);
    for _ in 0..MOST_STEPS {
        let height = n.dot(&point);
        let slope = components(&across, &point);
        let full = solve(&form(&across, &hessian), &-slope);
        let fall = -slope.dot(&full);
        let hidden = 8.0 * f64::EPSILON * height;
        // Not a number where the Hessian is singular: no better place is known then.
        if slope.norm() <= f64::EPSILON * height || fall.is_nan() || fall <= 0.0 {
            break;
        }
        let mut part = 1.0;
        let next = loop {
            let tried = n + across[0] * (part * full.x) + across[1] * (part * full.y);
            let (point, hessian) = shape.support_and_hessian(&tried);
            let gained = height - tried.dot(&point);
            // Where h is flat to rounding the slope decides.
            let better = if part * fall <= hidden {
                components(&across, &point).norm() < 0.5 * slope.norm()
            } else {
                gained >= 0.1 * part * fall
            };
            if better {
                break Some((tried, point, hessian));
            }
            if part * fall <= hidden {
                break None;
            }
            part *= 0.5;
        };
        let Some(next) = next else { break };
        (n, point, hessian) = next;
    }
    let normal = unit(&n);
    let frame = tangents(&normal);
    // ∇²h is of degree −1, and n·ray = 1.
    let radii = form(&frame, &hessian) * n.dot(&normal);
    let bend = radii.try_inverse().unwrap_or_else(Matrix2::zeros);
    let curvature = frame[0] * frame[0].transpose() * bend.m11
        + (frame[0] * frame[1].transpose() + frame[1] * frame[0].transpose()) * (0.5 * (bend.m12 + bend.m21))
        + frame[1] * frame[1].transpose() * bend.m22;
    Osculation { point: ray * n.dot(&point), normal, curvature }
}

fn components(basis: &[Vector3<f64>; 2], v: &Vector3<f64>) -> Vector2<f64> {
    Vector2::new(basis[0].dot(v), basis[1].dot(v))
}

/// A symmetric matrix on the plane of a basis.
fn form(basis: &[Vector3<f64>; 2], m: &Matrix3<f64>) -> Matrix2<f64> {
    let (a, b) = (m * basis[0], m * basis[1]);
    let cross = basis[0].dot(&b);
    Matrix2::new(basis[0].dot(&a), cross, cross, basis[1].dot(&b))
}

fn solve(m: &Matrix2<f64>, b: &Vector2<f64>) -> Vector2<f64> {
    let determinant = m.m11 * m.m22 - m.m12 * m.m21;
    Vector2::new(m.m22 * b.x - m.m12 * b.y, m.m11 * b.y - m.m21 * b.x) / determinant
}
