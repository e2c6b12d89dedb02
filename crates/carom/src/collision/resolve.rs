//! The impact law on a cluster: a closed form for one smooth contact of free bodies, the impact solver for everything else.

use nalgebra::{Matrix3, Unit, Vector3};

use super::Cluster;
use crate::body::{Body, State};
use crate::contact::{Contact, Side, Surface};
use crate::impact::mechanism::BodyOutcome;
use crate::impact::pair::{FreeBody, strike_growing};
use crate::run::World;
use crate::shape::Convex;

const UNMOVED: FreeBody = FreeBody {
    inverse_mass: 0.0,
    inverse_inertia: Matrix3::new(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    velocity: Vector3::new(0.0, 0.0, 0.0),
    angular_velocity: Vector3::new(0.0, 0.0, 0.0),
    arm: Vector3::new(0.0, 0.0, 0.0),
};

impl<K> Cluster<K> {
    /// Resolves the contacts of free bodies; false if the law has no solution.
    pub fn resolve(&mut self, world: &World) -> bool {
        if let [contact] = &self.contacts[..]
            && contact.surface == Surface::Smooth
        {
            self.resolve_pair(world);
            return true;
        }
        self.resolve_generally(world)
    }

    /// As above, by the impact solver for any contacts.
    pub fn resolve_generally(&mut self, world: &World) -> bool {
        let all: Vec<usize> = (0..self.contacts.len()).collect();
        let contacts = all.iter().map(|&k| self.contact(k)).collect();
        let solve = |bodies: &[(Body, State)]| world.resolve_impact(bodies, &[], contacts);
        let Some(outcome) = self.solve(world, &self.before, solve) else { return false };
        self.take(outcome, &all);
        self.is_finite()
    }

    /// Takes over the outcome for these contacts.
    pub fn take(&mut self, outcome: BodyOutcome, contacts: &[usize]) {
        self.after = outcome.states;
        for (&k, result) in contacts.iter().zip(&outcome.contacts) {
            let contact = &mut self.contacts[k];
            contact.impulse = result.impulse;
            contact.impulse_vector = result.impulse_vector;
            contact.separation = result.separation;
        }
    }

    /// Whether the velocities after are finite.
    pub fn is_finite(&self) -> bool {
        self.after.iter().all(|state| state.velocity.iter().all(|x| x.is_finite()))
    }

    /// Calls an impact solver for the bodies at some states, without the spins that no contact can change: so they keep their bits.
    pub fn solve(
        &self,
        world: &World,
        states: &[State],
        solve: impl FnOnce(&[(Body, State)]) -> Option<BodyOutcome>,
    ) -> Option<BodyOutcome> {
        let keeps_spin = self.keeps_spin(world);
        let without = |(k, (&body, state)): (usize, (&usize, &State))| {
            let spin = if keeps_spin[k] { Vector3::zeros() } else { state.angular_velocity };
            (world.bodies[body], State { angular_velocity: spin, ..*state })
        };
        let bodies: Vec<(Body, State)> = self.bodies.iter().zip(states).enumerate().map(without).collect();
        let mut outcome = solve(&bodies)?;
        for (k, state) in outcome.states.iter_mut().enumerate().filter(|(k, _)| keeps_spin[*k]) {
            state.angular_velocity = states[k].angular_velocity;
        }
        Some(outcome)
    }

    /// The bodies whose spins no contact can change: balls without joints and loads whose contacts are all smooth.
    pub(crate) fn keeps_spin(&self, world: &World) -> Vec<bool> {
        let is_free_ball =
            |&body: &usize| world.bodies[body].shape.ball().is_some() && !world.constrained(body);
        let mut keeps: Vec<bool> = self.bodies.iter().map(is_free_ball).collect();
        for contact in self.contacts.iter().filter(|contact| contact.surface != Surface::Smooth) {
            for side in contact.sides {
                if let Side::Body(body) = side {
                    keeps[self.place(body)] = false;
                }
            }
        }
        keeps
    }

    /// A contact in the impact solver's terms.
    pub fn contact(&self, k: usize) -> Contact {
        let contact = &self.contacts[k];
        Contact {
            name: String::new(),
            sides: contact.sides.map(|side| self.local(side)),
            point: contact.point(),
            normal: Unit::new_normalize(contact.found.normal),
            restitution: contact.restitution,
            surface: contact.surface,
            images: [Vector3::zeros(), contact.shift],
        }
    }

    /// One smooth contact of free bodies in closed form.
    fn resolve_pair(&mut self, world: &World) {
        let contact = &self.contacts[0];
        let point = contact.point();
        let free = |side: Side, shift: &Vector3<f64>| {
            let Side::Body(body) = side else { return UNMOVED };
            let (constants, state) = (&world.bodies[body], &self.before[self.place(body)]);
            let ball = constants.shape.ball().is_some();
            let inverse_inertia = if constants.fixed || ball {
                Matrix3::zeros()
            } else {
                let axes = state.orientation.to_rotation_matrix();
                let inverse = Matrix3::from_diagonal(&constants.inertia.map(f64::recip));
                axes.matrix() * inverse * axes.matrix().transpose()
            };
            FreeBody {
                inverse_mass: if constants.fixed { 0.0 } else { constants.mass.recip() },
                inverse_inertia,
                velocity: state.velocity,
                angular_velocity: if ball { Vector3::zeros() } else { state.angular_velocity },
                arm: point - state.position - shift,
            }
        };
        let normal = contact.found.normal;
        let first = free(contact.sides[0], &Vector3::zeros());
        let second = free(contact.sides[1], &contact.shift);
        let outcome = strike_growing(&first, &second, &normal, contact.restitution, contact.growing);
        for (k, side) in contact.sides.into_iter().enumerate() {
            let Side::Body(body) = side else { continue };
            let at = self.place(body);
            self.after[at].velocity = outcome.velocity[k];
            // The spin of a smooth ball stays what it was.
            if world.bodies[body].shape.ball().is_none() {
                self.after[at].angular_velocity = outcome.angular_velocity[k];
            }
        }
        let contact = &mut self.contacts[0];
        contact.impulse = outcome.impulse;
        contact.impulse_vector = normal * outcome.impulse;
        contact.separation = outcome.separation;
    }
}
