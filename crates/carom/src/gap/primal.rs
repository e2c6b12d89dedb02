//! Polishing with the surface points as unknowns.
//!
//! With outward normals n₁ at x₁ and m₂ at x₂, curvatures H₁, H₂ and r = d + x₂ − x₁, the conditions are n₁ = −m₂ = n
//! and r = g n. Tangent steps t₁, t₂ change n₁ by H₁t₁ and m₂ by H₂t₂, so that across n
//!
//! ```text
//! H₁t₁ + H₂t₂ = −m₂ − n₁,   r + t₂ − t₁ = g H₁t₁
//! (H₁ + H₂ + g H₂H₁) t₁ = −m₂ − n₁ + H₂ r,   t₂ = (I + g H₁) t₁ − r
//! ```
//!
//! and against a point, where only the second remains with t₂ = 0: (I + g H₁) t₁ = r. H is smooth where the support
//! function is not, and may vanish: then the points are undetermined along the flat, and a tiny H in its place divides
//! the difference between the bodies.

use nalgebra::{Matrix2, Matrix3, Vector2, Vector3};

use super::Found;
use super::dual::Pair;
use crate::shape::{Convex, Osculation, tangents};

/// The most steps. Where both bodies are flat at the contact Newton is linear, the gap's error falling by a factor of
/// about e a step.
const MOST_STEPS: u32 = 60;

/// The least curvature, times the body's size.
const FLATTEST: f64 = 1e-14;

/// The residual, an angle and a length over the body's size, that counts as solved.
const SOLVED: f64 = 1e-11;

/// The residual, in roundings, at which the common normal is both surfaces' own.
const ARRIVED: f64 = 64.0;

/// How hard to try.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// How often a step is halved before it is given up.
    patience: u32,
    /// The residual, in roundings, that needs no further step.
    end: f64,
}

/// To the last digit: where the bodies are nearly flat, the points are as good as the residual is small.
pub(super) const PATIENT: Effort = Effort { patience: 8, end: 1.0 };

/// From points given beforehand, which are left sooner, as the climb is there to fall back on.
pub(super) const HASTY: Effort = Effort { patience: 3, end: 8.0 };

/// Both surfaces at the points reached, and what is wrong with them.
#[derive(Clone, Copy)]
struct Stand {
    /// Curvatures in each body's own axes.
    surfaces: [Osculation; 2],
    normal: Vector3<f64>,
    gap: f64,
    basis: [Vector3<f64>; 2],
    /// r across n
    apart: Vector2<f64>,
    /// −m₂ − n₁ across n
    turn: Vector2<f64>,
    error: f64,
}

/// Solves for the points of one pair.
struct Polish<'a, A, B> {
    pair: &'a Pair<'a, A, B>,
    /// The smaller body's.
    size: f64,
    rounding: f64,
    effort: Effort,
}

impl<A: Convex, B: Convex> Polish<'_, A, B> {
    /// On the rays through the points.
    #[inline(always)]
    fn stand(&self, points: &[Vector3<f64>; 2]) -> Stand {
        let one = self.pair.one.osculate(&points[0]);
        let other = match self.pair.other {
            Some(other) => other.osculate(&points[1]),
            // A point faces whatever it meets.
            None => Osculation { point: Vector3::zeros(), normal: -one.normal, curvature: Matrix3::zeros() },
        };
        let between = self.pair.offset + other.point - one.point;
        let normal = (one.normal - other.normal).normalize();
        let basis = tangents(&normal);
        let across = |v: &Vector3<f64>| Vector2::new(basis[0].dot(v), basis[1].dot(v));
        let (apart, turn) = (across(&between), across(&-(other.normal + one.normal)));
        let error = libm::sqrt(apart.norm_squared() / (self.size * self.size) + turn.norm_squared());
        // Normals that look away from each other make no contact, whatever their components across n.
        let error = if one.normal.dot(&other.normal) < 0.0 { error } else { f64::INFINITY };
        Stand { surfaces: [one, other], normal, gap: normal.dot(&between), basis, apart, turn, error }
    }

    /// H₁ and H₂ on the tangent plane; none for a point.
    fn curvatures(&self, at: &Stand) -> (Matrix2<f64>, Option<Matrix2<f64>>) {
        let floor = Matrix2::from_diagonal_element(FLATTEST / self.size);
        let one = self.pair.one.form(&at.surfaces[0].curvature, &at.basis) + floor;
        (one, self.pair.other.map(|other| other.form(&at.surfaces[1].curvature, &at.basis) + floor))
    }

    /// Newton's t₁ and t₂; `None` where the matrix is singular or the step no number.
    fn step(&self, at: &Stand) -> Option<[Vector3<f64>; 2]> {
        let (h1, h2) = self.curvatures(at);
        let stretch = Matrix2::identity() + h1 * at.gap;
        let (t1, t2) = match h2 {
            None => (stretch.try_inverse()? * at.apart, Vector2::zeros()),
            Some(h2) => {
                let t1 = (h1 + h2 + h2 * h1 * at.gap).try_inverse()? * (at.turn + h2 * at.apart);
                (t1, stretch * t1 - at.apart)
            }
        };
        let along = |t: Vector2<f64>| at.basis[0] * t.x + at.basis[1] * t.y;
        (t1.norm_squared() + t2.norm_squared()).is_finite().then(|| [along(t1), along(t2)])
    }

    /// The longest part of the step, by halves, that makes the error smaller; at first no more than half a body.
    fn shortened(&self, now: &Stand, step: &[Vector3<f64>; 2]) -> Option<Stand> {
        let longest =
            self.pair.one.strides(&step[0]).max(self.pair.other.map_or(0.0, |other| other.strides(&step[1])));
        let mut part = if longest > 0.5 { 0.5 / longest } else { 1.0 };
        // So close, what does not shrink the error at once is rounding.
        let tries = if now.error * self.size <= 16.0 * self.rounding { 1 } else { self.effort.patience };
        for _ in 0..tries {
            let next = self.stand(&[0, 1].map(|i| now.surfaces[i].point + step[i] * part));
            if next.error < now.error {
                return Some(next);
            }
            part *= 0.5;
        }
        None
    }

    /// Whether f is largest here among its neighbours: H₁⁻¹ + H₂⁻¹ + g I positive. Apart it always is.
    fn is_maximum(&self, at: &Stand) -> bool {
        if at.gap >= 0.0 {
            return true;
        }
        let (h1, h2) = self.curvatures(at);
        let Some(radii) = h1.try_inverse().zip(h2.map_or(Some(Matrix2::zeros()), |h2| h2.try_inverse()))
        else {
            return false;
        };
        let bend = radii.0 + radii.1 + Matrix2::from_diagonal_element(at.gap);
        bend.trace() > 0.0 && bend.determinant() >= 0.0
    }
}

/// Solves for the points from some on their rays; `None` if that does not lead to a maximum at least as high as `least`.
/// Also says how many steps it took.
pub(super) fn polish<A: Convex, B: Convex>(
    pair: &Pair<A, B>,
    from: &[Vector3<f64>; 2],
    least: f64,
    effort: Effort,
) -> (Option<Found>, u32) {
    let size = pair.other.map_or(f64::INFINITY, |other| other.size).min(pair.one.size);
    let rounding = pair.rounding();
    let polish = Polish { pair, size, rounding, effort };
    let mut now = polish.stand(from);
    let mut steps = 0;
    while steps < MOST_STEPS && now.error * size > effort.end * rounding {
        let Some(step) = polish.step(&now) else { break };
        steps += 1;
        match polish.shortened(&now, &step) {
            Some(next) => now = next,
            None => break,
        }
    }
    // f at the common normal bounds the gap from below: it must be the gap, and no lower than where we came from. Where the
    // surfaces have that normal to rounding it is.
    let exact = now.error * size <= ARRIVED * rounding;
    let sound = now.error <= SOLVED
        && (exact || (now.gap - pair.value(&now.normal)).abs() <= 64.0 * rounding)
        && now.gap >= least - 64.0 * rounding
        && polish.is_maximum(&now);
    let points = now.surfaces.map(|surface| surface.point);
    let curvatures = Some(now.surfaces.map(|surface| surface.curvature));
    let found = Found {
        gap: now.gap,
        normal: now.normal,
        points,
        iterations: steps,
        residual: now.apart.norm(),
        settled: exact,
        curvatures,
    };
    (sound.then_some(found), steps)
}
