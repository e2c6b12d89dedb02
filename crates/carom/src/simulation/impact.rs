//! The impact of a cluster: the closed form for one smooth contact, the impact solver for everything else.

use nalgebra::{Matrix3, Unit, Vector3};

use super::Simulation;
use super::group::spins_freely;
use super::queue::{Pair, Party};
use super::touch::{Cluster, Encounter};
use crate::body::{Body, State};
use crate::contact::{Contact, Side, Surface};
use crate::impact::mechanism::BodyOutcome;
use crate::impact::pair::{FreeBody, strike};
use crate::joint::Joint;
use crate::record::JointImpulse;
use crate::run::index;
use crate::shape::Convex;

/// Bounces no higher than this, relative to the body, have accumulated.
const ACCUMULATED: f64 = 1e-12;

impl Simulation {
    /// The impact law; false if it has no answer.
    pub(super) fn resolve(&mut self, cluster: &mut Cluster) -> bool {
        if !self.apply_law(cluster) {
            return false;
        }
        // Bounces that accumulate end in rest: those impacts are perfectly inelastic.
        let mut again = false;
        for k in 0..cluster.contacts.len() {
            let contact = &cluster.contacts[k];
            let (restitution, _) = self.world.answer(Self::sides(&contact.pair));
            if restitution <= 0.0 || contact.separation <= 0.0 || contact.impulse <= 0.0 {
                continue;
            }
            let after = self.kinematics_of(&contact.pair, cluster, &cluster.after, &contact.found);
            // Where other contacts stand, what presses the bodies together may come through them.
            let supported = cluster.contacts.iter().any(|other| !other.new || other.rests);
            let pull = if supported { after.g2.abs().max(self.world.gravity.norm()) } else { -after.g2 };
            let height = contact.separation * contact.separation / (2.0 * pull);
            let accumulated = restitution < 1.0 && height <= ACCUMULATED * self.size(&contact.pair);
            // A bounce that rounding hides is none, whatever the coefficient.
            if pull > 0.0 && (accumulated || contact.separation <= self.slow(&contact.pair, &after)) {
                cluster.contacts[k].rests = true;
                again = true;
            }
        }
        !again || self.apply_law(cluster)
    }

    /// Applies the law to the states before.
    fn apply_law(&self, cluster: &mut Cluster) -> bool {
        if cluster.bodies.iter().any(|&body| self.world.tied(body))
            || cluster.contacts.iter().any(|contact| self.rolling.contains_key(&contact.pair))
        {
            return self.strike_mechanism(cluster);
        }
        if let [contact] = &cluster.contacts[..] {
            let sides = Self::sides(&contact.pair);
            let (restitution, surface) = self.world.answer(sides);
            if surface == Surface::Smooth {
                let restitution = if contact.rests { 0.0 } else { restitution };
                self.strike(cluster, restitution);
                return true;
            }
        }
        let contacts: Vec<Contact> =
            cluster.contacts.iter().map(|contact| self.contact_of(cluster, contact)).collect();
        let Some(outcome) = self.solve(cluster, contacts, &[]) else { return false };
        cluster.after = outcome.states;
        for (contact, result) in cluster.contacts.iter_mut().zip(&outcome.contacts) {
            contact.impulse = result.impulse;
            contact.impulse_vector = result.impulse_vector;
            contact.separation = result.separation;
        }
        cluster.after.iter().all(|state| state.velocity.iter().all(|x| x.is_finite()))
    }

    /// Asks the impact solver. Spins that no contact can change are kept from it, and its rounding from them.
    fn solve(&self, cluster: &Cluster, contacts: Vec<Contact>, joints: &[Joint]) -> Option<BodyOutcome> {
        self.apart_from_spins(cluster, &cluster.before, |bodies| self.world.strike(bodies, joints, contacts))
    }

    /// Asks an impact solver about the bodies of a cluster at some states, keeping from it the spins that no contact can change.
    pub(super) fn apart_from_spins(
        &self,
        cluster: &Cluster,
        states: &[State],
        solve: impl FnOnce(&[(Body, State)]) -> Option<BodyOutcome>,
    ) -> Option<BodyOutcome> {
        let free: Vec<bool> = cluster.bodies.iter().map(|&body| self.keeps_spin(cluster, body)).collect();
        let without = |(k, (&body, state)): (usize, (&usize, &State))| {
            let spin = if free[k] { Vector3::zeros() } else { state.angular_velocity };
            (self.world.bodies[body], State { angular_velocity: spin, ..*state })
        };
        let bodies: Vec<(Body, State)> = cluster.bodies.iter().zip(states).enumerate().map(without).collect();
        let mut outcome = solve(&bodies)?;
        for (k, state) in outcome.states.iter_mut().enumerate().filter(|(k, _)| free[*k]) {
            state.angular_velocity = states[k].angular_velocity;
        }
        Some(outcome)
    }

    /// Whether no contact of the cluster can change the spin of a body.
    fn keeps_spin(&self, cluster: &Cluster, body: usize) -> bool {
        spins_freely(&self.world, index(body), cluster.contacts.iter().map(|contact| contact.pair))
    }

    /// The whole mechanism of all bodies concerned, their joints carried to where they are. Rolling joints with friction are
    /// joints as long as their impulses stay within it.
    fn strike_mechanism(&self, cluster: &mut Cluster) -> bool {
        let numbers: Vec<u32> = cluster.bodies.iter().map(|&body| index(body)).collect();
        let kept = self.world.joints_of(&numbers);
        loop {
            let rolls = |contact: &Encounter| {
                self.rolling.get(&contact.pair).filter(|_| !cluster.slipped.contains(&contact.pair)).copied()
            };
            let rolling: Vec<(Pair, usize)> = cluster
                .contacts
                .iter()
                .filter_map(|contact| rolls(contact).map(|joint| (contact.pair, joint)))
                .collect();
            let all: Vec<usize> =
                kept.iter().copied().chain(rolling.iter().map(|(_, joint)| *joint)).collect();
            let joints: Vec<Joint> =
                all.iter().map(|&k| self.world.joint_now(k, &numbers, &cluster.before)).collect();
            let struck: Vec<usize> =
                (0..cluster.contacts.len()).filter(|&k| rolls(&cluster.contacts[k]).is_none()).collect();
            let contacts = struck.iter().map(|&k| self.contact_of(cluster, &cluster.contacts[k])).collect();
            let Some(outcome) = self.solve(cluster, contacts, &joints) else { return false };
            let of_rolling = rolling.iter().zip(&outcome.joints[kept.len()..]);
            let overdrawn: Vec<Pair> = of_rolling
                .filter(|((pair, _), joint)| self.overdraws(pair, joint))
                .map(|((pair, _), _)| *pair)
                .collect();
            if !overdrawn.is_empty() {
                cluster.slipped.extend(overdrawn);
                continue;
            }
            cluster.after = outcome.states;
            cluster.joints = all
                .iter()
                .zip(&outcome.joints)
                .map(|(&joint, result)| JointImpulse::new(joint, result))
                .collect();
            cluster.joints.sort_by_key(|result| result.joint);
            for (&k, result) in struck.iter().zip(&outcome.contacts) {
                let contact = &mut cluster.contacts[k];
                contact.impulse = result.impulse;
                contact.impulse_vector = result.impulse_vector;
                contact.separation = result.separation;
            }
            for ((pair, _), joint) in rolling.iter().zip(&outcome.joints[kept.len()..]) {
                for contact in cluster.contacts.iter_mut().filter(|contact| contact.pair == *pair) {
                    contact.impulse = joint.linear.dot(&contact.found.normal);
                    contact.impulse_vector = joint.linear;
                    contact.separation = 0.0;
                }
            }
            return cluster.after.iter().all(|state| state.velocity.iter().all(|x| x.is_finite()));
        }
    }

    /// One smooth contact: the closed form.
    fn strike(&self, cluster: &mut Cluster, restitution: f64) {
        let contact = &cluster.contacts[0];
        let (pair, normal) = (contact.pair, contact.found.normal);
        let point = self.meeting_point(contact);
        let free = |body: usize, shift: Vector3<f64>| {
            let (constants, state) = (&self.world.bodies[body], &cluster.before[cluster.place(body)]);
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
        let second = pair.second as usize;
        let other = free(second, self.displacement(&pair));
        let first = match pair.first {
            Party::Body(first) => free(first as usize, Vector3::zeros()),
            Party::Plane(_) => FreeBody {
                inverse_mass: 0.0,
                inverse_inertia: Matrix3::zeros(),
                velocity: Vector3::zeros(),
                angular_velocity: Vector3::zeros(),
                arm: Vector3::zeros(),
            },
        };
        let blow = strike(&first, &other, &normal, restitution);
        // The spin of a smooth ball stays what it was.
        let struck = |body: usize, before: &State, side: usize| {
            let ball = self.world.bodies[body].shape.ball().is_some();
            let angular_velocity = if ball { before.angular_velocity } else { blow.angular_velocity[side] };
            State { velocity: blow.velocity[side], angular_velocity, ..*before }
        };
        if let Party::Body(first) = pair.first {
            let at = cluster.place(first as usize);
            cluster.after[at] = struck(first as usize, &cluster.before[at], 0);
        }
        let at = cluster.place(second);
        cluster.after[at] = struck(second, &cluster.before[at], 1);
        let contact = &mut cluster.contacts[0];
        contact.impulse = blow.impulse;
        contact.impulse_vector = normal * blow.impulse;
        contact.separation = blow.separation;
    }

    /// Where a contact's impulse acts: on the body at a plane, in the middle between two bodies.
    pub(super) fn meeting_point(&self, contact: &Encounter) -> Vector3<f64> {
        match contact.pair.first {
            Party::Plane(_) => contact.found.points[0],
            Party::Body(_) => (contact.found.points[0] + contact.found.points[1]) * 0.5,
        }
    }

    /// A contact of the cluster in the impact solver's terms.
    pub(super) fn contact_of(&self, cluster: &Cluster, contact: &Encounter) -> Contact {
        let sides = Self::sides(&contact.pair);
        let (restitution, surface) = self.world.answer(sides);
        let local = |side: Side| match side {
            Side::Body(body) => Side::Body(cluster.place(body)),
            Side::Plane(k) => Side::Plane(k),
        };
        Contact {
            name: String::new(),
            sides: sides.map(local),
            point: self.meeting_point(contact),
            normal: Unit::new_normalize(contact.found.normal),
            restitution: if contact.rests { 0.0 } else { restitution },
            surface,
            images: [Vector3::zeros(), self.displacement(&contact.pair)],
        }
    }
}
