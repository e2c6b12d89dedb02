//! How the normal and the contact points of two moving bodies change, to first order.
//!
//! With ω₁, ω₂ the angular velocities, u = v_Q − v_P that of the points' material, H₁, H₂ the curvatures and e₁, e₂ the
//! velocities of the points over their bodies, the conditions of the gap (`gap::primal`) differentiated in time are, across n,
//!
//! ```text
//! n' = ω₁×n + H₁e₁ = ω₂×n − H₂e₂,   u + e₂ − e₁ = g n'
//! (H₁ + H₂ + g H₂H₁) e₁ = (ω₂ − ω₁)×n + H₂(u − g ω₁×n),   e₂ = e₁ + g n' − u
//! ```
//!
//! Nothing rests on these rates: they tell where to start a search, and which normal to bound the gap along. Where both
//! bodies are flat they are undetermined along the flat, and a tiny H divides the difference.

use nalgebra::{Matrix2, Matrix3, Vector2, Vector3};

use super::pair::Instant;
use crate::body::State;
use crate::gap::Gap;
use crate::shape::tangents;

/// The least curvature, times the bodies' size.
const FLATTEST: f64 = 1e-9;

/// The farthest that a point is predicted to move over its body, as a share of the bodies' size.
const FARTHEST: f64 = 0.25;

/// First rates, in world axes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rates {
    /// n'.
    pub normal: Vector3<f64>,
    /// e₁ and e₂.
    points: [Vector3<f64>; 2],
}

impl Rates {
    /// From the curvatures at the points, each in its body's own axes; `None` if they are not finite.
    pub fn new(
        states: &[State; 2],
        found: &Gap,
        curvatures: &[Matrix3<f64>; 2],
        passing: &Vector3<f64>,
        size: f64,
    ) -> Option<Self> {
        let n = found.normal;
        let basis = tangents(&n);
        let across = |v: &Vector3<f64>| Vector2::new(basis[0].dot(v), basis[1].dot(v));
        let floor = Matrix2::from_diagonal_element(FLATTEST / size);
        let [h1, h2] = [0, 1].map(|i| {
            let [a, b] = basis.map(|v| states[i].orientation.inverse_transform_vector(&v));
            let (bent_a, bent_b) = (curvatures[i] * a, curvatures[i] * b);
            let mixed = a.dot(&bent_b);
            Matrix2::new(a.dot(&bent_a), mixed, mixed, b.dot(&bent_b)) + floor
        });
        let turns = states.map(|state| across(&state.angular_velocity.cross(&n)));
        let (g, passing) = (found.gap, across(passing));
        let inverse = (h1 + h2 + h2 * h1 * g).try_inverse()?;
        let first = inverse * (turns[1] - turns[0] + h2 * (passing - turns[0] * g));
        let normal = turns[0] + h1 * first;
        let second = first + normal * g - passing;
        let sum = normal.norm_squared() + first.norm_squared() + second.norm_squared();
        let along = |t: Vector2<f64>| basis[0] * t.x + basis[1] * t.y;
        sum.is_finite().then(|| Self { normal: along(normal), points: [along(first), along(second)] })
    }
}

/// Where the contact points of an instant should be at another time, when the bodies have these states: turned with the
/// bodies, and moved over them. From each body's centre, in world axes.
pub(super) fn predicted_points(
    from: &Instant,
    time: f64,
    states: &[State; 2],
    size: f64,
) -> [Vector3<f64>; 2] {
    let tau = time - from.time;
    let rates = from.rates.map_or([Vector3::zeros(); 2], |rates| rates.points);
    [0, 1].map(|i| {
        let far = rates[i].norm() * tau.abs();
        let part = if far > FARTHEST * size { FARTHEST * size / far } else { 1.0 };
        let moved = from.found.points[i] - from.states[i].position + rates[i] * (part * tau);
        states[i].orientation * from.states[i].orientation.inverse_transform_vector(&moved)
    })
}
