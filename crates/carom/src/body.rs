//! A rigid body's constants, and its state at an instant.

use nalgebra::{Isometry3, Matrix3, Translation3, UnitQuaternion, Vector3};

use crate::shape::Shape;

/// What does not change about a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Body {
    /// Its shape.
    pub shape: Shape,
    /// Its mass; unused when fixed.
    pub mass: f64,
    /// Its principal moments of inertia about the centre of mass, in its own axes; unused when fixed.
    pub inertia: Vector3<f64>,
    /// Whether it is immovable, of infinite mass.
    pub fixed: bool,
}

/// Where a body is and how it moves, in the world frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct State {
    /// The centre of mass.
    pub position: Vector3<f64>,
    /// The turn from body axes to world axes.
    pub orientation: UnitQuaternion<f64>,
    /// Velocity of the centre of mass.
    pub velocity: Vector3<f64>,
    /// Angular velocity.
    pub angular_velocity: Vector3<f64>,
}

impl State {
    /// At rest at a place, unturned.
    #[must_use]
    pub fn at(position: Vector3<f64>) -> Self {
        Self {
            position,
            orientation: UnitQuaternion::identity(),
            velocity: Vector3::zeros(),
            angular_velocity: Vector3::zeros(),
        }
    }

    /// The pose: body coordinates to world coordinates.
    #[must_use]
    pub fn pose(&self) -> Isometry3<f64> {
        Isometry3::from_parts(Translation3::from(self.position), self.orientation)
    }

    /// The velocity of the body's material at a world point.
    #[must_use]
    pub fn velocity_at(&self, point: &Vector3<f64>) -> Vector3<f64> {
        self.velocity + self.angular_velocity.cross(&(point - self.position))
    }
}

impl Body {
    /// The inertia tensor about the centre of mass in world axes.
    #[must_use]
    pub fn world_inertia(&self, orientation: &UnitQuaternion<f64>) -> Matrix3<f64> {
        let axes = orientation.to_rotation_matrix();
        let tensor = axes.matrix() * Matrix3::from_diagonal(&self.inertia) * axes.matrix().transpose();
        // Symmetric to the bit, as a mass matrix must be.
        (tensor + tensor.transpose()) * 0.5
    }

    /// Kinetic energy; zero for a fixed body.
    #[must_use]
    pub fn kinetic_energy(&self, state: &State) -> f64 {
        if self.fixed {
            return 0.0;
        }
        let spin = state.orientation.inverse_transform_vector(&state.angular_velocity);
        0.5 * self.mass * state.velocity.norm_squared() + 0.5 * spin.component_mul(&self.inertia).dot(&spin)
    }

    /// Linear momentum, and angular momentum about a point.
    #[must_use]
    pub fn momentum(&self, state: &State, about: &Vector3<f64>) -> (Vector3<f64>, Vector3<f64>) {
        if self.fixed {
            return (Vector3::zeros(), Vector3::zeros());
        }
        let linear = state.velocity * self.mass;
        let spin = self.world_inertia(&state.orientation) * state.angular_velocity;
        (linear, (state.position - about).cross(&linear) + spin)
    }
}
