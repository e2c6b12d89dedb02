//! The impact of the two bodies where they are smooth, in the closed form of [`crate::impact::pair`], on which all laws agree (T6).
#![deny(clippy::disallowed_methods, clippy::std_instead_of_core, clippy::std_instead_of_alloc)]

use nalgebra::{Matrix3, Unit, Vector3};

use super::setup::{Setup, inverse_mass};
use crate::body::{Body, State};
use crate::impact::pair::{FreeBody, strike};
use crate::shape::Convex;

impl Setup {
    /// The states after the impact, and the impulse on the second body.
    pub(super) fn smooth(
        &self,
        normal: &Unit<Vector3<f64>>,
        point: &Vector3<f64>,
        states: &[State; 2],
    ) -> ([State; 2], Vector3<f64>) {
        let [first, second] = [0, 1].map(|i| {
            let (body, state) = (&self.bodies[i], &states[i]);
            // A smooth contact never changes the spin of a ball.
            let ball = body.shape.ball().is_some();
            FreeBody {
                inverse_mass: inverse_mass(body),
                inverse_inertia: if ball { Matrix3::zeros() } else { inverse_inertia(body, state) },
                velocity: state.velocity,
                angular_velocity: if ball { Vector3::zeros() } else { state.angular_velocity },
                arm: point - state.position,
            }
        });
        let outcome = strike(&first, &second, normal, self.restitution);
        let mut after = *states;
        for (i, state) in after.iter_mut().enumerate() {
            state.velocity = outcome.velocity[i];
            if self.bodies[i].shape.ball().is_none() {
                state.angular_velocity = outcome.angular_velocity[i];
            }
        }
        (after, **normal * outcome.impulse)
    }
}

/// I⁻¹ in world axes, zero if immovable.
pub(super) fn inverse_inertia(body: &Body, state: &State) -> Matrix3<f64> {
    if body.fixed {
        return Matrix3::zeros();
    }
    let axes = state.orientation.to_rotation_matrix();
    axes.matrix() * Matrix3::from_diagonal(&body.inertia.map(f64::recip)) * axes.matrix().transpose()
}
