//! The impulse that stops the slip of a rough contact.
//!
//! A rough contact that is held does not slip. One that begins to be held while it slips, without any approach, is stopped at once: it is
//! the limit of impacts whose approach goes to zero, each of which takes the slip to −k of what it was, without time between them. What they
//! add up to is an impact without restitution at all held contacts of the bodies concerned, y⁺ = 0 for their rows; a contact that would
//! have to pull for it has no grip, or, if it is smooth, parts.

use super::Simulation;
use super::contact_event::Cluster;
use super::resolution::{ContactResolution, Outcome};
use crate::contact::{Contact, Surface};
use crate::flow::NO_SLIP;
use crate::impact::mechanism::Mechanism;
use crate::impact::{Law, Options};
use crate::joint::Joint;
use crate::record::JointImpulse;
use crate::run::index;

impl Simulation {
    /// Stops the slip of the rough contacts of a cluster that are to be held. Returns whether there was any; none where the impact
    /// has no answer.
    pub(super) fn stop_slips(
        &self,
        cluster: &mut Cluster,
        resolutions: &mut [ContactResolution],
    ) -> Option<bool> {
        let slips = |k: usize| {
            let pair = &cluster.contacts[k].key.pair;
            if resolutions[k].outcome != Outcome::Holds || self.rolling.contains_key(pair) {
                return false;
            }
            let (_, surface) = self.world.answer(Self::sides(pair));
            let now = self.kinematics_of(pair, cluster, &cluster.after, &cluster.contacts[k].found);
            surface == Surface::Rough && now.slip.norm() > NO_SLIP * self.fastest(cluster)
        };
        let slipping: Vec<usize> = (0..cluster.contacts.len()).filter(|&k| slips(k)).collect();
        if slipping.is_empty() {
            return Some(false);
        }
        let mut held: Vec<usize> = (0..cluster.contacts.len())
            .filter(|&k| {
                resolutions[k].outcome == Outcome::Holds
                    && !self.rolling.contains_key(&cluster.contacts[k].key.pair)
            })
            .collect();
        let mut contacts: Vec<Contact> =
            held.iter().map(|&k| Contact { restitution: 0.0, ..cluster.contact(k) }).collect();
        let numbers: Vec<u32> = cluster.bodies.iter().map(|&body| index(body)).collect();
        let rolling = cluster.contacts.iter().filter(|contact| contact.by_joint);
        let rolling = rolling.filter_map(|contact| self.rolling.get(&contact.key.pair).copied());
        let kept: Vec<usize> = self.world.joints_of(&numbers).into_iter().chain(rolling).collect();
        let joints: Vec<Joint> =
            kept.iter().map(|&k| self.world.joint_now(k, &numbers, &cluster.after)).collect();
        let options = Options { law: Law::Newton, ..self.world.options.clone() };
        let still = NO_SLIP * self.fastest(cluster);
        let outcome = loop {
            let outcome = cluster.ask(&self.world, &cluster.after, |bodies| {
                Mechanism { bodies, joints: &joints, contacts: &contacts }.solve(&options).ok()
            })?;
            // What the impulse would change along the contact's own normal says whether it is more than rounding.
            let pull = |i: usize| {
                outcome.contacts[i].impulse * self.inverse_mass(cluster, &cluster.contacts[held[i]])
            };
            let worst = (0..held.len()).min_by(|&a, &b| pull(a).total_cmp(&pull(b)));
            let Some(i) = worst.filter(|&i| pull(i) < -still) else { break outcome };
            if contacts[i].surface == Surface::Rough {
                contacts[i].surface = Surface::Smooth;
            } else {
                held.remove(i);
                contacts.remove(i);
            }
        };
        cluster.after.clone_from(&outcome.states);
        for (&k, result) in held.iter().zip(&outcome.contacts) {
            let contact = &mut cluster.contacts[k];
            contact.key.gripped = slipping.contains(&k) && result.impulse_vector.norm() > 0.0;
            contact.impulse += result.impulse;
            contact.impulse_vector += result.impulse_vector;
            contact.separation = result.separation;
        }
        for (&joint, result) in kept.iter().zip(&outcome.joints) {
            match cluster.joints.iter_mut().find(|known| known.joint == joint) {
                Some(known) => {
                    known.impulse.iter_mut().zip(&result.impulse).for_each(|(sum, more)| *sum += more);
                    known.linear += result.linear;
                    known.angular += result.angular;
                    known.determined &= result.determined;
                }
                None => cluster.joints.push(JointImpulse::new(joint, result)),
            }
        }
        cluster.joints.sort_by_key(|result| result.joint);
        for k in 0..cluster.contacts.len() {
            let contact = &cluster.contacts[k];
            let now = self.kinematics_of(&contact.key.pair, cluster, &cluster.after, &contact.found);
            let slow = self.velocity_threshold(&contact.key.pair, &now).max(still);
            let outcome = &mut resolutions[k].outcome;
            match outcome {
                Outcome::Holds | Outcome::Stays | Outcome::Parts if now.v < -slow => {
                    *outcome = Outcome::Closes
                }
                Outcome::Holds | Outcome::Stays if now.v > slow => *outcome = Outcome::Parts,
                _ => {}
            }
        }
        Some(cluster.contacts.iter().any(|contact| contact.key.gripped))
    }

    /// The largest speed of a cluster's bodies after the event, that of their surfaces as they turn counted in.
    fn fastest(&self, cluster: &Cluster) -> f64 {
        let speed = |(&body, state): (&usize, &crate::body::State)| {
            state.velocity.norm() + state.angular_velocity.norm() * self.world.radius[body]
        };
        cluster.bodies.iter().zip(&cluster.after).map(speed).fold(0.0, f64::max)
    }
}
