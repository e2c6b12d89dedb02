//! What an answer is worth: its differences from the exact one.
//!
//! The error of a motion is measured in the kinetic metric, √(T(v − v*) / T(v*)) with T(v) = ½ Σ m|v|² + ω·R J Rᵀω over all bodies
//! at the exact attitude: one number without a unit for velocities and spins together. The energy counts the potential of gravity. The
//! time of impact is where the flights before and after it meet along the plane's normal, which can be told of any engine from its
//! first and last state:
//!
//! ```text
//! s₀ + u₀ t + ½ γ t² = s + u (t − T) + ½ γ (t − T)²,    so    t = (s − u T + ½ γ T² − s₀) / (u₀ − u + γ T).
//! ```

use std::collections::BTreeMap;

use super::scene::{Body, Request, State};

/// Bodies and how they move at the end.
pub type Final = BTreeMap<String, State>;

/// How far an answer is from the exact one.
pub struct Errors {
    /// √(T(v − v*) / T(v*)).
    pub motion: f64,
    /// |E − E*| / T*.
    pub energy: f64,
    /// |Σ m (v − v*)| over √(2 T* Σ m), the momentum of all that mass at that energy.
    pub momentum: f64,
    /// |L − L*| / |L*| about the centres of mass, where bodies spin.
    pub spin: f64,
    /// The largest angle between an attitude and the exact one, in radians.
    pub attitude: f64,
}

/// Measures an answer; nothing where a body is missing from it.
pub fn errors(request: &Request, exact: &Final, given: &Final) -> Option<Errors> {
    let mut difference = 0.0;
    let mut kinetic = 0.0;
    let mut energy = [0.0; 2];
    let mut momentum = [0.0; 3];
    let mut spin = [0.0; 2];
    let mut attitude: f64 = 0.0;
    let mut mass = 0.0;
    for body in &request.bodies {
        let (exact, given) = (exact.get(&body.name)?, given.get(&body.name)?);
        let velocity = minus(given.velocity, exact.velocity);
        let turning = minus(given.angular_velocity, exact.angular_velocity);
        difference += energy_of_motion(body, exact.orientation, velocity, turning);
        kinetic += energy_of_motion(body, exact.orientation, exact.velocity, exact.angular_velocity);
        for (total, state) in energy.iter_mut().zip([exact, given]) {
            *total += energy_of_motion(body, state.orientation, state.velocity, state.angular_velocity)
                - body.mass * dot(request.gravity, state.position);
        }
        for (total, part) in momentum.iter_mut().zip(velocity) {
            *total += body.mass * part;
        }
        let [right, own] = [exact, given].map(|state| angular_momentum(body, state));
        spin[0] += norm(minus(own, right));
        spin[1] += norm(right);
        attitude = attitude.max(angle(exact.orientation, given.orientation));
        mass += body.mass;
    }
    Some(Errors {
        motion: (difference / kinetic).sqrt(),
        energy: ((energy[1] - energy[0]) / kinetic).abs(),
        momentum: norm(momentum) / (2.0 * kinetic * mass).sqrt(),
        spin: if spin[1] > 0.0 { spin[0] / spin[1] } else { 0.0 },
        attitude,
    })
}

/// The time of the one impact of one body with one plane.
pub fn time_of_impact(request: &Request, given: &Final) -> Option<f64> {
    let ([body], [plane]) = (&request.bodies[..], &request.planes[..]) else { return None };
    let state = given.get(&body.name)?;
    let along = |vector: [f64; 3]| dot(plane.normal, vector);
    let (start, speed) = (along(body.state.position), along(body.state.velocity));
    let (end, left) = (along(state.position), along(state.velocity));
    let (pull, until) = (along(request.gravity), request.until);
    Some((end - left * until + pull * until * until / 2.0 - start) / (speed - left + pull * until))
}

fn energy_of_motion(body: &Body, orientation: [f64; 4], velocity: [f64; 3], spin: [f64; 3]) -> f64 {
    let spin = to_body(orientation, spin);
    let turning: f64 = (0..3).map(|i| body.inertia[i] * spin[i] * spin[i]).sum();
    (body.mass * dot(velocity, velocity) + turning) / 2.0
}

fn angular_momentum(body: &Body, state: &State) -> [f64; 3] {
    let spin = to_body(state.orientation, state.angular_velocity);
    let inner = [0, 1, 2].map(|i| body.inertia[i] * spin[i]);
    let [w, x, y, z] = state.orientation;
    // Back to world axes, by the opposite turn.
    to_body([w, -x, -y, -z], inner)
}

/// A vector of world axes in body axes: v − 2w (q × v) + 2 q × (q × v), for a quaternion made of unit length.
fn to_body(orientation: [f64; 4], vector: [f64; 3]) -> [f64; 3] {
    let length = orientation.iter().map(|part| part * part).sum::<f64>().sqrt();
    let [w, x, y, z] = orientation.map(|part| part / length);
    let once = cross([x, y, z], vector);
    let twice = cross([x, y, z], once);
    [0, 1, 2].map(|i| vector[i] - 2.0 * w * once[i] + 2.0 * twice[i])
}

/// The angle of the turn from one attitude to another.
fn angle(one: [f64; 4], other: [f64; 4]) -> f64 {
    let length = |q: [f64; 4]| q.iter().map(|part| part * part).sum::<f64>().sqrt();
    let (one, other) = (one.map(|part| part / length(one)), other.map(|part| part / length(other)));
    // The chords to both quaternions of the attitude: accurate for small angles, where a cosine is not.
    let chord = |sign: f64| (0..4).map(|i| (one[i] - sign * other[i]).powi(2)).sum::<f64>().sqrt();
    4.0 * (chord(1.0).min(chord(-1.0)) / 2.0).min(1.0).asin()
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn norm(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::compare::scene::Plane;

    /// A ball of unit mass that falls from rest at height 1 for two seconds, with gravity −1, and bounces once on the floor.
    fn falling() -> Request {
        let state = State {
            position: [0.0, 0.0, 1.0],
            orientation: [1.0, 0.0, 0.0, 0.0],
            velocity: [0.0; 3],
            angular_velocity: [0.0, 0.0, 2.0],
        };
        let body = Body { name: "ball".into(), semi_axes: [0.5; 3], mass: 1.0, inertia: [0.1; 3], state };
        Request {
            probe: "falling".into(),
            gravity: [0.0, 0.0, -1.0],
            until: 1.5,
            bodies: vec![body],
            planes: vec![Plane { name: "floor".into(), normal: [0.0, 0.0, 1.0], offset: 0.0 }],
            contacts: Vec::new(),
            steps: Vec::new(),
        }
    }

    fn end(request: &Request, impact: f64) -> Final {
        let (height, speed, left) = (1.0 - impact * impact / 2.0, impact, request.until - impact);
        let state = State {
            position: [0.0, 0.0, height + speed * left - left * left / 2.0],
            velocity: [0.0, 0.0, speed - left],
            ..request.bodies[0].state.clone()
        };
        [("ball".to_string(), state)].into()
    }

    #[test]
    fn flights_before_and_after_meet_at_the_impact() {
        let request = falling();
        for impact in [0.7, 1.0, 1.2] {
            let found = time_of_impact(&request, &end(&request, impact)).unwrap();
            assert!((found - impact).abs() < 1e-15, "{found} {impact}");
        }
    }

    #[test]
    fn a_late_bounce_keeps_the_energy_and_changes_the_motion() {
        let request = falling();
        let (exact, late) = (end(&request, 1.0), end(&request, 1.1));
        let errors = errors(&request, &exact, &late).unwrap();
        assert!(errors.energy < 1e-15, "{}", errors.energy);
        // Twice the delay in speed, over √(2T*) with T* = ½ 0.5² + ½ 0.1·2².
        assert!((errors.motion - 0.2 / 0.65_f64.sqrt()).abs() < 1e-15, "{}", errors.motion);
        assert!((errors.momentum - errors.motion).abs() < 1e-15);
        assert_eq!((errors.spin, errors.attitude), (0.0, 0.0));
    }

    #[test]
    fn attitudes_differ_by_the_angle_of_the_turn_between_them() {
        for turn in [1e-12_f64, 0.3, 3.0] {
            let other = [(turn / 2.0).cos(), 0.0, (turn / 2.0).sin(), 0.0];
            let found = angle([1.0, 0.0, 0.0, 0.0], other);
            assert!((found - turn).abs() < 1e-14 * (1.0 + turn), "{found} {turn}");
            let found = angle([1.0, 0.0, 0.0, 0.0], other.map(|part| -part));
            assert!((found - turn).abs() < 1e-14 * (1.0 + turn), "{found} {turn}");
        }
    }
}
