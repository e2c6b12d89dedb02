//! The impact of a cluster: the closed form for one smooth contact, the impact solver for everything else.

use nalgebra::Vector3;

use super::Simulation;
use super::contact_event::Cluster;
use crate::body::{Body, State};
use crate::impact::mechanism::JointOutcome;
use crate::joint::Joint;
use crate::record::JointImpulse;
use crate::run::index;
use crate::run::tolerances::ACCUMULATED;

/// The share of a velocity that is left by rounding where an impact takes all of it.
const DEAD: f64 = 64.0 * f64::EPSILON;

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
            let (restitution, _) = self.world.answer(Self::sides(&contact.key.pair));
            if restitution <= 0.0 || contact.separation <= 0.0 || contact.impulse <= 0.0 {
                continue;
            }
            let after = self.kinematics_of(&contact.key.pair, cluster, &cluster.after, &contact.found);
            // Where other contacts stand, what presses the bodies together may come through them.
            let supported = cluster.contacts.iter().any(|other| !other.key.new || other.key.rests);
            let pull = if supported { after.g2.abs().max(self.world.gravity.norm()) } else { -after.g2 };
            let height = contact.separation * contact.separation / (2.0 * pull);
            let accumulated = restitution < 1.0 && height <= ACCUMULATED * self.size(&contact.key.pair);
            // A bounce that rounding hides is none, whatever the coefficient.
            if pull > 0.0
                && (accumulated || contact.separation <= self.velocity_threshold(&contact.key.pair, &after))
            {
                cluster.contacts[k].key.rests = true;
                cluster.contacts[k].restitution = 0.0;
                again = true;
            }
        }
        if again && !self.apply_law(cluster) {
            return false;
        }
        self.stop_dead(cluster);
        true
    }

    /// Where an impact stops all the bodies that it concerns, what it leaves of their velocities is rounding, and is taken away:
    /// nothing else could tell what becomes of them.
    fn stop_dead(&self, cluster: &mut Cluster) {
        let most = |k: usize| {
            let State { velocity, angular_velocity, .. } = &cluster.before[k];
            DEAD * (velocity.norm() + self.world.radius[cluster.bodies[k]] * angular_velocity.norm())
        };
        if (0..cluster.bodies.len()).any(|k| cluster.after[k].velocity.norm() > most(k)) {
            return;
        }
        let turns: Vec<bool> =
            cluster.bodies.iter().map(|&body| !cluster.keeps_spin(&self.world, body)).collect();
        let spin = |k: usize| self.world.radius[cluster.bodies[k]] * cluster.after[k].angular_velocity.norm();
        if (0..cluster.bodies.len()).any(|k| turns[k] && spin(k) > most(k)) {
            return;
        }
        for (k, state) in cluster.after.iter_mut().enumerate() {
            state.velocity = Vector3::zeros();
            if turns[k] {
                state.angular_velocity = Vector3::zeros();
            }
        }
    }

    /// Applies the law to the states before.
    fn apply_law(&self, cluster: &mut Cluster) -> bool {
        let tied = cluster.bodies.iter().any(|&body| self.world.constrained(body));
        if tied || cluster.contacts.iter().any(|contact| self.rolling.contains_key(&contact.key.pair)) {
            self.strike_mechanism(cluster)
        } else {
            cluster.resolve(&self.world)
        }
    }

    /// The whole mechanism of all bodies concerned, their joints carried to where they are. Rolling joints with friction are
    /// joints as long as their impulses stay within it.
    fn strike_mechanism(&self, cluster: &mut Cluster) -> bool {
        let numbers: Vec<u32> = cluster.bodies.iter().map(|&body| index(body)).collect();
        let kept = self.world.joints_of(&numbers);
        loop {
            let (rolling, struck): (Vec<usize>, Vec<usize>) =
                (0..cluster.contacts.len()).partition(|&k| cluster.contacts[k].by_joint);
            let joint_of = |k: &usize| self.rolling.get(&cluster.contacts[*k].key.pair).copied();
            let all: Vec<usize> = kept.iter().copied().chain(rolling.iter().filter_map(joint_of)).collect();
            let joints: Vec<Joint> =
                all.iter().map(|&k| self.world.joint_now(k, &numbers, &cluster.before)).collect();
            let contacts = struck.iter().map(|&k| cluster.contact(k)).collect();
            let solve = |bodies: &[(Body, State)]| self.world.strike(bodies, &joints, contacts);
            let Some(outcome) = cluster.ask(&self.world, &cluster.before, solve) else { return false };
            let of_rolling: Vec<(usize, JointOutcome)> =
                rolling.iter().copied().zip(outcome.joints[kept.len()..].iter().cloned()).collect();
            let mut slips = false;
            for (k, joint) in &of_rolling {
                let contact = &mut cluster.contacts[*k];
                if self.overdraws(&contact.key.pair, joint) {
                    (contact.key.slipped, contact.by_joint, slips) = (true, false, true);
                }
            }
            if slips {
                continue;
            }
            let carried = |(&joint, result)| JointImpulse::new(joint, result);
            cluster.joints = all.iter().zip(&outcome.joints).map(carried).collect();
            cluster.joints.sort_by_key(|result| result.joint);
            cluster.take(outcome, &struck);
            for (k, joint) in of_rolling {
                let contact = &mut cluster.contacts[k];
                contact.impulse = joint.linear.dot(&contact.found.normal);
                contact.impulse_vector = joint.linear;
                contact.separation = 0.0;
            }
            return cluster.is_finite();
        }
    }
}
