//! The impact of the two bodies at one contact, by the law and the surface chosen.
//!
//! A smooth contact is the closed form of [`crate::impact::pair`], on which all laws agree (T6). With W the Delassus matrix of the normal and two
//! tangents and y the relative velocity, a rough contact that pushes gets p = −(1+k) W⁻¹ y by every law but the decoupled one, and one with
//! friction the passage of [`crate::impact::coulomb`]. All else goes to the impact solver.

use nalgebra::{Matrix3, Unit, Vector3};

use super::encounter::Impact;
use super::{Scattering, inverse_mass};
use crate::body::{Body, State};
use crate::contact::{Contact, Side, Surface};
use crate::impact::Law;
use crate::impact::coulomb::pass;
use crate::impact::pair::{FreeBody, strike};
use crate::joint::across;
use crate::shape::Convex;
use crate::toi;

impl Scattering {
    /// An impact; none if the law has no answer.
    pub(super) fn struck(&self, contact: &toi::Contact, states: &[State; 2], time: f64) -> Option<Impact> {
        let (normal, point) = (Unit::new_normalize(contact.normal), contact.point);
        let (after, impulse) = match self.surface {
            Surface::Smooth => Some(self.smooth(&normal, &point, states)),
            Surface::Coulomb(friction) => Some(self.with_friction(friction, &normal, &point, states)),
            Surface::Rough => self.rough(&normal, &point, states),
        }
        .or_else(|| self.generally(&normal, &point, states))?;
        let finite =
            |state: &State| state.velocity.iter().chain(state.angular_velocity.iter()).all(|x| x.is_finite());
        after.iter().all(finite).then_some(Impact {
            time,
            point,
            normal: *normal,
            gap: contact.gap,
            impulse,
            before: *states,
            after,
        })
    }

    fn smooth(
        &self,
        normal: &Unit<Vector3<f64>>,
        point: &Vector3<f64>,
        states: &[State; 2],
    ) -> ([State; 2], Vector3<f64>) {
        let [first, second] = [0, 1].map(|i| {
            let (body, state) = (&self.world.bodies[i], &states[i]);
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
            if self.world.bodies[i].shape.ball().is_none() {
                state.angular_velocity = outcome.angular_velocity[i];
            }
        }
        (after, **normal * outcome.impulse)
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
        let impulse = frame.w.cholesky()?.solve(&frame.y) * -(1.0 + self.restitution);
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
        let passage = pass(&frame.w, &frame.y, friction, self.restitution, self.world.options.termination);
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
            restitution: self.restitution,
            surface: self.surface,
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

/// I⁻¹ in world axes, zero if immovable.
pub(super) fn inverse_inertia(body: &Body, state: &State) -> Matrix3<f64> {
    if body.fixed {
        return Matrix3::zeros();
    }
    let axes = state.orientation.to_rotation_matrix();
    axes.matrix() * Matrix3::from_diagonal(&body.inertia.map(f64::recip)) * axes.matrix().transpose()
}
