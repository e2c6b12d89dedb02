//! A body of the group where it is now: its axes, its mass in the coordinates √m v, √I Rᵀω, and what it would do without the
//! rows.

use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};

use super::Wrench;
use crate::body::{Body, State};
use crate::motion::Derivatives;

/// A body where it is now, and what it would do without the rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct BodyFrame {
    pub state: State,
    pub axes: Matrix3<f64>,
    /// Its place among the free bodies.
    pub slot: Option<usize>,
    /// 1/√m and 1/√I.
    pub root_mass: f64,
    pub root_inertia: Vector3<f64>,
    pub acceleration: Vector3<f64>,
    pub spin_rate: Vector3<f64>,
    pub torque: Vector3<f64>,
}

impl BodyFrame {
    pub fn new(body: &Body, state: &State, gravity: &Vector3<f64>, slot: usize) -> Self {
        let axes = *state.orientation.to_rotation_matrix().matrix();
        if body.fixed {
            let zero = Vector3::zeros();
            return Self {
                state: State { velocity: zero, angular_velocity: zero, ..*state },
                axes,
                slot: None,
                root_mass: 0.0,
                root_inertia: zero,
                acceleration: zero,
                spin_rate: zero,
                torque: zero,
            };
        }
        let free = Derivatives::new(body, state, gravity);
        Self {
            state: *state,
            axes,
            slot: Some(slot),
            root_mass: 1.0 / libm::sqrt(body.mass),
            root_inertia: body.inertia.map(|i| 1.0 / libm::sqrt(i)),
            acceleration: free.acceleration,
            spin_rate: free.angular_acceleration,
            torque: Vector3::zeros(),
        }
    }

    /// Adds a force and a torque to what it would do without the rows.
    pub fn pull(&mut self, wrench: &Wrench) {
        if self.slot.is_some() {
            self.acceleration += wrench.force * (self.root_mass * self.root_mass);
            self.torque += wrench.torque;
            let inverse = self.root_inertia.map(|r| r * r);
            self.spin_rate += self.axes * self.axes.tr_mul(&wrench.torque).component_mul(&inverse);
        }
    }

    /// A change in unit-mass coordinates as one of the twist.
    pub fn move_by(&self, change: &[f64]) -> Option<(Vector3<f64>, Vector3<f64>)> {
        let u = &change[6 * self.slot?..];
        let turn = Vector3::new(u[3], u[4], u[5]).component_mul(&self.root_inertia);
        Some((Vector3::new(u[0], u[1], u[2]) * self.root_mass, self.axes * turn))
    }
}

/// An orientation turned further by a rotation vector.
pub(super) fn turned(orientation: &UnitQuaternion<f64>, turn: &Vector3<f64>) -> UnitQuaternion<f64> {
    let half = 0.5 * turn.norm();
    // sin x/x, which is one where x is below the root of rounding.
    let ratio = if half < 1e-8 { 1.0 } else { libm::sin(half) / half };
    let further = Quaternion::from_parts(libm::cos(half), turn * (0.5 * ratio));
    UnitQuaternion::new_normalize(further * orientation.into_inner())
}
