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

use nalgebra::{Matrix2, Vector2, Vector3};

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

/// Both touches and what is wrong with them.
#[derive(Clone, Copy)]
struct Stand {
    one: Osculation,
    other: Option<Osculation>,
    normal: Vector3<f64>,
    gap: f64,
    basis: [Vector3<f64>; 2],
    /// r across n
    apart: Vector2<f64>,
    /// −m₂ − n₁ across n
    turn: Vector2<f64>,
    error: f64,
}

fn stand<A: Convex, B: Convex>(
    pair: &Pair<A, B>,
    one: Osculation,
    other: Option<Osculation>,
    size: f64,
) -> Stand {
    let between = pair.offset + other.map_or_else(Vector3::zeros, |other| other.point) - one.point;
    let facing = other.map_or(one.normal, |other| -other.normal);
    let normal = (one.normal + facing).normalize();
    let basis = tangents(&normal);
    let across = |v: &Vector3<f64>| Vector2::new(basis[0].dot(v), basis[1].dot(v));
    let (apart, turn) = (across(&between), across(&(facing - one.normal)));
    let error = libm::hypot(apart.norm() / size, turn.norm());
    // Normals that look away from each other are no contact, whatever their components across n.
    let error = if one.normal.dot(&facing) > 0.0 { error } else { f64::INFINITY };
    Stand { one, other, normal, gap: normal.dot(&between), basis, apart, turn, error }
}

impl Stand {
    fn curvature(&self, touch: &Osculation, floor: f64) -> Matrix2<f64> {
        let (a, b) = (touch.curvature * self.basis[0], touch.curvature * self.basis[1]);
        let cross = self.basis[0].dot(&b);
        Matrix2::new(self.basis[0].dot(&a) + floor, cross, cross, self.basis[1].dot(&b) + floor)
    }

    /// Newton's t₁ and t₂; `None` where the matrix is singular or the step no number.
    fn step(&self, size: f64) -> Option<[Vector3<f64>; 2]> {
        let floor = FLATTEST / size;
        let h1 = self.curvature(&self.one, floor);
        let stretch = Matrix2::identity() + h1 * self.gap;
        let (t1, t2) = match &self.other {
            None => (stretch.try_inverse()? * self.apart, Vector2::zeros()),
            Some(other) => {
                let h2 = self.curvature(other, floor);
                let t1 = (h1 + h2 + h2 * h1 * self.gap).try_inverse()? * (self.turn + h2 * self.apart);
                (t1, stretch * t1 - self.apart)
            }
        };
        let along = |t: Vector2<f64>| self.basis[0] * t.x + self.basis[1] * t.y;
        (t1.norm() + t2.norm()).is_finite().then(|| [along(t1), along(t2)])
    }

    /// Whether f is largest here among its neighbours: H₁⁻¹ + H₂⁻¹ + g I positive. Apart it always is.
    fn is_maximum(&self, size: f64) -> bool {
        let radii = |touch: &Osculation| self.curvature(touch, FLATTEST / size).try_inverse();
        let other = self.other.as_ref().map_or(Some(Matrix2::zeros()), radii);
        let Some(bend) =
            radii(&self.one).zip(other).map(|(one, other)| one + other + Matrix2::identity() * self.gap)
        else {
            return false;
        };
        self.gap >= 0.0 || (bend.trace() > 0.0 && bend.determinant() >= 0.0)
    }
}

/// Solves for the points from those of `from`; `None` if that does not lead to a maximum at least as high. Also says how
/// many steps it took.
pub(super) fn polish<A: Convex, B: Convex>(pair: &Pair<A, B>, from: &Found) -> (Option<Found>, u32) {
    let size = pair.other.map_or(f64::INFINITY, |other| other.circumradius).min(pair.one.circumradius);
    let start = pair.one.osculate(&from.points[0]);
    let mut now = stand(pair, start, pair.other.map(|other| other.osculate(&from.points[1])), size);
    let mut steps = 0;
    while steps < MOST_STEPS {
        let Some(step) = now.step(size) else { break };
        steps += 1;
        match shortened(pair, &now, &step, size) {
            Some(next) => now = next,
            None => break,
        }
    }
    let rounding = pair.rounding();
    let value = pair.value(&now.normal);
    // f at the common normal bounds the gap from below: it must be the gap, and no lower than where we came from.
    let sound = now.error <= SOLVED
        && (now.gap - value).abs() <= 64.0 * rounding
        && value >= from.gap - 64.0 * rounding
        && now.is_maximum(size);
    let points = [now.one.point, now.other.map_or_else(Vector3::zeros, |other| other.point)];
    (
        sound.then_some(Found { gap: now.gap, normal: now.normal, points, iterations: steps, settled: true }),
        steps,
    )
}

/// The longest part of the step, by halves, that makes the error smaller; at first no more than half a body.
fn shortened<A: Convex, B: Convex>(
    pair: &Pair<A, B>,
    now: &Stand,
    step: &[Vector3<f64>; 2],
    size: f64,
) -> Option<Stand> {
    let longest = pair.one.gauge(&step[0]).max(pair.other.map_or(0.0, |other| other.gauge(&step[1])));
    let mut part = (0.5 / longest).min(1.0);
    for _ in 0..8 {
        let one = pair.one.osculate(&(now.one.point + step[0] * part));
        let other =
            pair.other.zip(now.other).map(|(body, touch)| body.osculate(&(touch.point + step[1] * part)));
        let next = stand(pair, one, other, size);
        if next.error < now.error {
            return Some(next);
        }
        part *= 0.5;
    }
    None
}
