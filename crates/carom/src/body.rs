//! A rigid body's constants, and its state at an instant.
//!
//! **Bryan angles** β = (ψ, θ, φ) turn body axes to world axes by A = Rx(ψ) Ry(θ) Rz(φ) (\[SP\] (8) to (11)), and their
//! rates give the angular velocity in body axes by
//!
//! ```text
//! ω = Q β̇,   Q = [φᵀθᵀu_ψ, φᵀu_θ, u_φ] = ⎡ cos φ cos θ   sin φ  0 ⎤
//!                                        ⎢ −sin φ cos θ  cos φ  0 ⎥
//!                                        ⎣ sin θ         0      1 ⎦
//! ```
//!
//! ((16) and (19), corrected). Where cos θ = 0 the angles are not unique and rates need not exist.

use nalgebra::{Isometry3, Matrix3, Quaternion, Translation3, UnitQuaternion, Vector3};

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

/// cos θ at most this: the axes of ψ and φ are one.
const LOCKED: f64 = 1e-12;

/// The orientation of Bryan angles (ψ, θ, φ).
#[must_use]
pub fn bryan_orientation(angles: &[f64; 3]) -> UnitQuaternion<f64> {
    let turn = |axis: usize| {
        let (sine, cosine) = libm::sincos(0.5 * angles[axis]);
        let mut vector = Vector3::zeros();
        vector[axis] = sine;
        UnitQuaternion::from_quaternion(Quaternion::from_parts(cosine, vector))
    };
    turn(0) * turn(1) * turn(2)
}

/// The Bryan angles (ψ, θ, φ) of an orientation, |θ| ≤ π/2; where cos θ = 0, those with φ = 0.
#[must_use]
pub fn bryan_angles(orientation: &UnitQuaternion<f64>) -> [f64; 3] {
    let a = orientation.to_rotation_matrix();
    let cosine = libm::hypot(a[(0, 0)], a[(0, 1)]);
    let theta = libm::atan2(a[(0, 2)], cosine);
    let (psi, phi) = if cosine <= LOCKED {
        (libm::atan2(a[(2, 1)], a[(1, 1)]), 0.0)
    } else {
        (libm::atan2(-a[(1, 2)], a[(2, 2)]), libm::atan2(-a[(0, 1)], a[(0, 0)]))
    };
    // No negative zero.
    [psi + 0.0, theta + 0.0, phi + 0.0]
}

/// Q of Bryan angles: the angular velocity in body axes is Q times their rates.
#[must_use]
pub fn bryan_matrix(angles: &[f64; 3]) -> Matrix3<f64> {
    let ((st, ct), (sp, cp)) = (libm::sincos(angles[1]), libm::sincos(angles[2]));
    Matrix3::new(cp * ct, sp, 0.0, -sp * ct, cp, 0.0, st, 0.0, 1.0)
}

impl State {
    /// The rates of the Bryan angles; `None` if cos θ = 0.
    #[must_use]
    pub fn bryan_rates(&self) -> Option<[f64; 3]> {
        let [_, theta, phi] = bryan_angles(&self.orientation);
        let ((st, ct), (sp, cp)) = (libm::sincos(theta), libm::sincos(phi));
        if ct <= LOCKED {
            return None;
        }
        let spin = self.orientation.inverse_transform_vector(&self.angular_velocity);
        let psi = (cp * spin.x - sp * spin.y) / ct;
        Some([psi, sp * spin.x + cp * spin.y, spin.z - st * psi])
    }

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
