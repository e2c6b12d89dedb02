//! The impact of the two bodies at one contact that is not smooth, by the law and the surface chosen.
//!
//! With W the Delassus matrix of the normal and two
//! tangents and y the relative velocity, a rough contact that pushes gets p = −(1+k) W⁻¹ y by every law but the decoupled one, and one with
//! friction the passage of [`crate::impact::coulomb`]. All else goes to the impact solver.

use nalgebra::{Matrix3, Unit, Vector3};

use super::Scattering;
use super::setup::inverse_mass;
use super::smooth::inverse_inertia;
use crate::body::State;
use crate::contact::{Contact, Side, Surface};
use crate::impact::Law;
use crate::impact::coulomb::pass;
use crate::joint::across;

impl Scattering {
    /// What an impact does that is none of two smooth bodies: the states after it, and the impulse on the second body. None if the law has no
    /// answer.
    pub(super) fn struck(
        &self,
        normal: &Unit<Vector3<f64>>,
        point: &Vector3<f64>,
        states: &[State; 2],
    ) -> Option<([State; 2], Vector3<f64>)> {
        match self.setup.surface {
            Surface::Smooth => None,
            Surface::Coulomb(friction) => Some(self.with_friction(friction, normal, point, states)),
            Surface::Rough => self.rough(normal, point, states),
        }
        .or_else(|| self.generally(normal, point, states))
    }

    fn rough(
        &self,
        normal: &Unit<Vector3<f64>>,
        point: &Vector3<f64>,
        states: &[State; 2],
    ) -> Option<([State; 2], Vector3<f64>)> {
        if self.world.options.law == Law::Decoupled {
            return None;
        }
        let frame = self.frame(normal, point, states);
        let impulse = frame.w.cholesky()?.solve(&frame.y) * -(1.0 + self.setup.restitution);
        // A contact that would have to pull has no grip.
        (impulse[0] > 0.0).then(|| self.pushed(&frame.world(&impulse), point, states))
    }

    fn with_friction(
        &self,
        friction: f64,
        normal: &Unit<Vector3<f64>>,
        point: &Vector3<f64>,
        states: &[State; 2],
    ) -> ([State; 2], Vector3<f64>) {
        let frame = self.frame(normal, point, states);
        let passage =
            pass(&frame.w, &frame.y, friction, self.setup.restitution, self.world.options.termination);
        self.pushed(&frame.world(&passage.impulse), point, states)
    }

    /// By the impact solver.
    pub(super) fn generally(
        &self,
        normal: &Unit<Vector3<f64>>,
        point: &Vector3<f64>,
        states: &[State; 2],
    ) -> Option<([State; 2], Vector3<f64>)> {
        let contact = Contact {
            name: String::new(),
            sides: [Side::Body(0), Side::Body(1)],
            point: *point,
            normal: *normal,
            restitution: self.setup.restitution,
            surface: self.setup.surface,
            images: [Vector3::zeros(); 2],
        };
        let bodies = [0, 1].map(|i| (self.world.bodies[i], states[i]));
        let outcome = self.world.resolve_impact(&bodies, &[], vec![contact])?;
        let impulse = outcome.contacts.first()?.impulse_vector;
        let &[first, second] = &outcome.states[..] else { return None };
        Some(([first, second], impulse))
    }

    /// The states after an impulse on the second body, and its opposite on the first.
    fn pushed(
        &self,
        impulse: &Vector3<f64>,
        point: &Vector3<f64>,
        states: &[State; 2],
    ) -> ([State; 2], Vector3<f64>) {
        let mut after = *states;
        for (i, (state, sign)) in after.iter_mut().zip([-1.0, 1.0]).enumerate() {
            let body = &self.world.bodies[i];
            let arm = point - state.position;
            let turn = inverse_inertia(body, &states[i]) * arm.cross(impulse);
            state.velocity += impulse * (sign * inverse_mass(body));
            state.angular_velocity += turn * sign;
        }
        (after, *impulse)
    }

    /// The contact in the coordinates of its normal and two tangents.
    fn frame(&self, normal: &Unit<Vector3<f64>>, point: &Vector3<f64>, states: &[State; 2]) -> Frame {
        let [t1, t2] = across(normal);
        let axes = Matrix3::from_columns(&[**normal, t1, t2]);
        let mut compliance = Matrix3::zeros();
        for (body, state) in self.world.bodies.iter().zip(states) {
            let arm = (point - state.position).cross_matrix();
            compliance +=
                Matrix3::from_diagonal_element(inverse_mass(body)) - arm * inverse_inertia(body, state) * arm;
        }
        let relative = states[1].velocity_at(point) - states[0].velocity_at(point);
        let w = axes.transpose() * compliance * axes;
        Frame { w: (w + w.transpose()) * 0.5, y: axes.transpose() * relative, axes }
    }
}

/// A contact in the coordinates of its normal and two tangents.
struct Frame {
    w: Matrix3<f64>,
    y: Vector3<f64>,
    axes: Matrix3<f64>,
}

impl Frame {
    fn world(&self, impulse: &Vector3<f64>) -> Vector3<f64> {
        self.axes * impulse
    }
}
