//! What the bodies of a cluster do to one another: one smooth contact in closed form, anything else by the impact solver.

use nalgebra::{Matrix3, Unit, Vector3};

use super::Crowd;
use super::cluster::Cluster;
use super::due::PLANE;
use super::touch::Met;
use crate::body::{Body, State};
use crate::contact::{Contact, Side, Surface};

impl Crowd {
    /// The impact law; false if it has no answer.
    pub(super) fn apply_law(&self, cluster: &mut Cluster, t: f64) -> bool {
        if let [contact] = &cluster.contacts[..] {
            let (_, surface, _) = self.answer(&contact.met, t);
            if surface == Surface::Smooth {
                self.blow(cluster);
                return true;
            }
        }
        let contacts: Vec<Contact> = cluster
            .contacts
            .iter()
            .map(|contact| {
                let local = |i: u32| {
                    if i >= PLANE { Side::Plane((i - PLANE) as usize) } else { Side::Body(cluster.place(i)) }
                };
                let (restitution, surface, _) = self.answer(&contact.met, t);
                Contact {
                    name: String::new(),
                    sides: [local(contact.met.first), local(contact.met.second)],
                    point: self.meeting_point(contact),
                    normal: Unit::new_normalize(contact.found.normal),
                    restitution,
                    surface,
                    images: [Vector3::zeros(), *self.images.shift(contact.met.image)],
                }
            })
            .collect();
        let bodies: Vec<(Body, State)> =
            cluster.bodies.iter().zip(&cluster.before).map(|(&i, state)| (*self.body(i), *state)).collect();
        let Some(outcome) = self.world.strike(&bodies, &[], contacts) else { return false };
        cluster.after = outcome.states;
        for (contact, result) in cluster.contacts.iter_mut().zip(&outcome.contacts) {
            contact.impulse = result.impulse;
            contact.impulse_vector = result.impulse_vector;
            contact.separation = result.separation;
        }
        cluster.after.iter().all(|state| state.velocity.iter().all(|x| x.is_finite()))
    }

    /// One smooth contact, growth included: α = −(1+k) g'/(n·M·n), as [`crate::impact::pair`] has it.
    pub(super) fn blow(&self, cluster: &mut Cluster) {
        let contact = cluster.contacts[0];
        let normal = contact.found.normal;
        let point = self.meeting_point(&contact);
        let Met { first, second, image } = contact.met;
        let turn = |i: u32, shift: Vector3<f64>| {
            let state = &cluster.before[cluster.place(i)];
            let arm = (point - state.position - shift).cross(&normal);
            let body = self.body(i);
            let spin = if body.fixed || self.solid(i).is_ball {
                Vector3::zeros()
            } else {
                let axes: Matrix3<f64> = state.orientation.to_rotation_matrix().into_inner();
                axes * axes.tr_mul(&arm).component_div(&body.inertia)
            };
            (arm, spin, self.inverse_mass(i))
        };
        let of_second = turn(second, *self.images.shift(image));
        let of_first = if first < PLANE {
            turn(first, Vector3::zeros())
        } else {
            (Vector3::zeros(), Vector3::zeros(), 0.0)
        };
        let effective =
            of_first.2 + of_second.2 + of_first.0.dot(&of_first.1) + of_second.0.dot(&of_second.1);
        if effective <= 0.0 {
            return;
        }
        let impulse = -(1.0 + contact.restitution) * contact.approach / effective;
        let mut push = |i: u32, (_, spin, light): (Vector3<f64>, Vector3<f64>, f64), sign: f64| {
            let at = cluster.place(i);
            cluster.after[at].velocity += normal * (sign * impulse * light);
            cluster.after[at].angular_velocity += spin * (sign * impulse);
        };
        push(second, of_second, 1.0);
        if first < PLANE {
            push(first, of_first, -1.0);
        }
        // As the bodies really go, not as the formula has it.
        let mut separation = -contact.growing;
        for (i, shift, sign) in [(second, *self.images.shift(image), 1.0), (first, Vector3::zeros(), -1.0)] {
            if i < PLANE {
                let state = &cluster.after[cluster.place(i)];
                let arm = point - state.position - shift;
                separation += sign * normal.dot(&(state.velocity + state.angular_velocity.cross(&arm)));
            }
        }
        let contact = &mut cluster.contacts[0];
        contact.impulse = impulse;
        contact.impulse_vector = normal * impulse;
        contact.separation = separation;
    }
}
