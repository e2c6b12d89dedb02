//! The derivative of a free flight.
//!
//! ```text
//! δx(t) = δx + δv t + ½ δg t²,    δv(t) = δv + δg t
//! δθ(t) = δθ + R(t) φ,            δω(t) = δθ(t) × ω(t) + R(t) δω_b
//! ```
//!
//! with φ and δω_b of [`turning`](super::turning) from δω_b(0) = Rᵀ(δω − δθ × ω): a turn of the whole start turns the whole
//! flight. Both are linear, and their transposes carry adjoints back.

use nalgebra::{Matrix3, Vector3};

use super::change::{BodyChange, StateChange};
use super::turning::Turning;
use crate::body::{Body, State};
use crate::motion::Flight;

/// A flight's derivative, prepared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FlightMap {
    time: f64,
    /// R(0) and R(t).
    axes: [Matrix3<f64>; 2],
    /// ω(0) and ω(t).
    spins: [Vector3<f64>; 2],
    turning: Turning,
    /// Nothing moves a fixed body.
    fixed: bool,
}

impl FlightMap {
    /// From the start of a flight over a time.
    pub fn new(body: &Body, flight: &Flight, time: f64) -> Self {
        let at = |t: f64| -> (Matrix3<f64>, Vector3<f64>) {
            let (orientation, spin) = flight.turned(t);
            (*orientation.to_rotation_matrix().matrix(), spin)
        };
        let (start, end) = (at(0.0), at(time));
        let turning = Turning::over(flight, &body.inertia, time.max(0.0));
        Self { time, axes: [start.0, end.0], spins: [start.1, end.1], turning, fixed: body.fixed }
    }

    /// What becomes of a change of the state at the start, of the constants, and of gravity.
    pub fn forward(&self, start: &StateChange, body: &BodyChange, gravity: &Vector3<f64>) -> StateChange {
        if self.fixed {
            return *start;
        }
        let Self { time: t, axes, spins, turning, .. } = self;
        let own = axes[0].tr_mul(&(start.angular_velocity - start.turn.cross(&spins[0])));
        let rates = turning.rates * own + turning.rates_by_moments * body.inertia;
        let turns = turning.turns * own + turning.turns_by_moments * body.inertia;
        let turn = start.turn + axes[1] * turns;
        StateChange {
            position: start.position + (start.velocity + gravity * (0.5 * t)) * *t,
            turn,
            velocity: start.velocity + gravity * *t,
            angular_velocity: turn.cross(&spins[1]) + axes[1] * rates,
        }
    }

    /// The transpose: from weights of the state at the end to those of the start, of the moments and of gravity.
    pub fn backward(&self, end: &StateChange) -> (StateChange, Vector3<f64>, Vector3<f64>) {
        if self.fixed {
            return (*end, Vector3::zeros(), Vector3::zeros());
        }
        let Self { time: t, axes, spins, turning, .. } = self;
        // The transpose of a × ω by a is b ↦ ω × b.
        let turn = end.turn + spins[1].cross(&end.angular_velocity);
        let (turns, rates) = (axes[1].tr_mul(&turn), axes[1].tr_mul(&end.angular_velocity));
        let own = turning.rates.tr_mul(&rates) + turning.turns.tr_mul(&turns);
        let moments = turning.rates_by_moments.tr_mul(&rates) + turning.turns_by_moments.tr_mul(&turns);
        let spin = axes[0] * own;
        let start = StateChange {
            position: end.position,
            turn: turn - spins[0].cross(&spin),
            velocity: end.velocity + end.position * *t,
            angular_velocity: spin,
        };
        (start, moments, end.position * (0.5 * t * t) + end.velocity * *t)
    }
}

/// How fast a flying body's state changes: v, ω, the acceleration, ω'.
pub(super) fn rate(body: &Body, state: &State, gravity: &Vector3<f64>) -> StateChange {
    if body.fixed {
        return StateChange::zero();
    }
    let spin = state.orientation.inverse_transform_vector(&state.angular_velocity);
    let [i, j, k] = [body.inertia.x, body.inertia.y, body.inertia.z];
    let own = Vector3::new(
        (j - k) / i * spin.y * spin.z,
        (k - i) / j * spin.z * spin.x,
        (i - j) / k * spin.x * spin.y,
    );
    StateChange {
        position: state.velocity,
        turn: state.angular_velocity,
        velocity: *gravity,
        angular_velocity: state.orientation * own,
    }
}
