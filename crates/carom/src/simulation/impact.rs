//! The impact of a cluster: the closed form for one smooth contact, the impact solver for everything else.

use nalgebra::Vector3;

use super::cluster::Cluster;
use super::dynamics::Dynamics;
use super::rolling::exceeds_friction;
use crate::body::{Body, State};
use crate::impact::mechanism::JointOutcome;
use crate::joint::Joint;
use crate::record::JointImpulse;
use crate::run::Rest;
use crate::run::tolerances::ACCUMULATED;

/// The share of a velocity that rounding leaves where an impact takes all of it.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Resolves the impact of a cluster, and returns what the rest speed took; `None` if the law has no solution.
pub(super) fn resolve(dynamics: &Dynamics, cluster: &mut Cluster) -> Option<Rest> {
    let rest = make_slow_impacts_plastic(dynamics, cluster);
    if !apply_law(dynamics, cluster) {
        return None;
    }
    // Accumulated bounces end in rest: those impacts are perfectly inelastic.
    let world = &dynamics.world;
    // Where other contacts persist, the force that presses the bodies together may come through them.
    let supported = cluster.contacts.iter().any(|other| !other.key.new);
    let mut again = false;
    for k in 0..cluster.contacts.len() {
        let contact = &cluster.contacts[k];
        let pair = contact.key.pair;
        let (restitution, _) = world.contact_properties(contact.sides);
        if contact.restitution <= 0.0
            || restitution <= 0.0
            || contact.separation <= 0.0
            || contact.impulse <= 0.0
        {
            continue;
        }
        let after = cluster.kinematics_after(dynamics, k);
        let pull = if supported || again { after.g2.abs().max(world.gravity.norm()) } else { -after.g2 };
        let height = contact.separation * contact.separation / (2.0 * pull);
        let accumulated = restitution < 1.0 && height <= ACCUMULATED * pair.size(world);
        // A bounce within rounding does not count, whatever the coefficient.
        if pull > 0.0 && (accumulated || contact.separation <= pair.velocity_threshold(world, &after)) {
            cluster.contacts[k].key.rests = true;
            cluster.contacts[k].restitution = 0.0;
            again = true;
        }
    }
    if again && !apply_law(dynamics, cluster) {
        return None;
    }
    remove_residual_velocities(dynamics, cluster);
    Some(rest)
}

/// Impacts slower than the rest speed are plastic. The energy is what each would have given back by itself.
fn make_slow_impacts_plastic(dynamics: &Dynamics, cluster: &mut Cluster) -> Rest {
    let mut rest = Rest::default();
    for k in 0..cluster.contacts.len() {
        let contact = &cluster.contacts[k];
        let (speed, restitution) = (-contact.approach, contact.restitution);
        let elastic = restitution <= 0.0 || restitution >= 1.0;
        // Approaches within rounding are none.
        let rounding = contact.key.pair.velocity_threshold(&dynamics.world, &contact.key.before);
        let slow = speed > rounding && speed < dynamics.rest_speed(&contact.key.pair);
        if elastic || contact.by_joint || !slow {
            continue;
        }
        rest.count += 1;
        rest.speed_max = rest.speed_max.max(speed);
        let back = restitution * speed;
        rest.energy += 0.5 * back * back / cluster.inverse_mass(dynamics, contact);
        cluster.contacts[k].restitution = 0.0;
    }
    rest
}

/// Where an impact stops all the bodies that it concerns, what it leaves of their velocities is rounding, and is removed: it would
/// decide how the contacts go on.
fn remove_residual_velocities(dynamics: &Dynamics, cluster: &mut Cluster) {
    let world = &dynamics.world;
    let most = |k: usize| {
        let State { velocity, angular_velocity, .. } = &cluster.before[k];
        ROUNDING * (velocity.norm() + world.radius[cluster.bodies[k]] * angular_velocity.norm())
    };
    if (0..cluster.bodies.len()).any(|k| cluster.after[k].velocity.norm() > most(k)) {
        return;
    }
    let keeps_spin = cluster.keeps_spin(world);
    let spin = |k: usize| world.radius[cluster.bodies[k]] * cluster.after[k].angular_velocity.norm();
    if (0..cluster.bodies.len()).any(|k| !keeps_spin[k] && spin(k) > most(k)) {
        return;
    }
    for (state, keeps_spin) in cluster.after.iter_mut().zip(keeps_spin) {
        state.velocity = Vector3::zeros();
        if !keeps_spin {
            state.angular_velocity = Vector3::zeros();
        }
    }
}

/// Applies the law to the states before.
fn apply_law(dynamics: &Dynamics, cluster: &mut Cluster) -> bool {
    let rolls = |pair| dynamics.rolling.contains_key(pair);
    if cluster.is_constrained(dynamics) || cluster.contacts.iter().any(|contact| rolls(&contact.key.pair)) {
        resolve_mechanism(dynamics, cluster)
    } else {
        cluster.resolve(&dynamics.world)
    }
}

/// Resolves the impact of the whole mechanism, with its joints in their present configuration. Rolling joints with friction are
/// joints as long as their impulses stay within the friction cone.
fn resolve_mechanism(dynamics: &Dynamics, cluster: &mut Cluster) -> bool {
    let world = &dynamics.world;
    let numbers = cluster.numbers();
    let permanent = world.joints_of(&numbers);
    loop {
        let (rolling, contacting): (Vec<usize>, Vec<usize>) =
            (0..cluster.contacts.len()).partition(|&k| cluster.contacts[k].by_joint);
        let joint_of = |k: &usize| dynamics.rolling.get(&cluster.contacts[*k].key.pair).copied();
        let all: Vec<usize> = permanent.iter().copied().chain(rolling.iter().filter_map(joint_of)).collect();
        let joints: Vec<Joint> = all.iter().map(|&k| world.joint_now(k, &numbers, &cluster.before)).collect();
        let contacts = contacting.iter().map(|&k| cluster.contact(k)).collect();
        let solve = |bodies: &[(Body, State)]| world.resolve_impact(bodies, &joints, contacts);
        let Some(outcome) = cluster.solve(world, &cluster.before, solve) else { return false };
        let of_rolling: Vec<(usize, JointOutcome)> =
            rolling.iter().copied().zip(outcome.joints[permanent.len()..].iter().cloned()).collect();
        let mut slips = false;
        for (k, joint) in &of_rolling {
            let contact = &mut cluster.contacts[*k];
            if exceeds_friction(world, &contact.key.pair, joint) {
                (contact.key.slipped, contact.by_joint, slips) = (true, false, true);
            }
        }
        if slips {
            continue;
        }
        let carried = |(&joint, result)| JointImpulse::new(joint, result);
        cluster.joints = all.iter().zip(&outcome.joints).map(carried).collect();
        cluster.joints.sort_by_key(|result| result.joint);
        cluster.take(outcome, &contacting);
        for (k, joint) in of_rolling {
            let contact = &mut cluster.contacts[k];
            contact.impulse = joint.linear.dot(&contact.found.normal);
            contact.impulse_vector = joint.linear;
            contact.separation = 0.0;
        }
        return cluster.is_finite();
    }
}
