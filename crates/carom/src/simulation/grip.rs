//! The impulse that stops the slip of a rough contact.
//!
//! An active rough contact does not slip. One that becomes active while it slips, without any approach, is stopped at once. This is
//! the limit of impacts whose approach goes to zero, each of which takes the slip to −k of what it was, without time between them. Their
//! sum is an impact without restitution at all active contacts of the bodies concerned, y⁺ = 0 for their rows; a contact that would
//! have to pull for it has no grip, or, if it is smooth, separates.

use super::cluster::Cluster;
use super::dynamics::Dynamics;
use super::resolution::{ContactResolution, Outcome};
use crate::contact::{Contact, Surface};
use crate::flow::NO_SLIP;
use crate::impact::mechanism::{JointOutcome, Mechanism};
use crate::impact::{Law, Options};
use crate::joint::Joint;
use crate::record::JointImpulse;

/// Stops the slip of a cluster's rough contacts that become active. Returns whether there was any; `None` if the impact has no solution.
pub(super) fn stop_slips(
    dynamics: &Dynamics,
    cluster: &mut Cluster,
    resolutions: &mut [ContactResolution],
) -> Option<bool> {
    let world = &dynamics.world;
    let still = NO_SLIP * cluster.largest_speed(dynamics);
    let mut active: Vec<usize> = (0..cluster.contacts.len())
        .filter(|&k| {
            resolutions[k].outcome == Outcome::Active
                && !dynamics.rolling.contains_key(&cluster.contacts[k].key.pair)
        })
        .collect();
    let slips = |&k: &usize| {
        let (_, surface) = world.contact_properties(cluster.contacts[k].sides);
        surface == Surface::Rough && cluster.kinematics_after(dynamics, k).slip.norm() > still
    };
    let slipping: Vec<usize> = active.iter().copied().filter(slips).collect();
    if slipping.is_empty() {
        return Some(false);
    }
    let mut contacts: Vec<Contact> =
        active.iter().map(|&k| Contact { restitution: 0.0, ..cluster.contact(k) }).collect();
    let numbers = cluster.numbers();
    let rolling = cluster.contacts.iter().filter(|contact| contact.by_joint);
    let rolling = rolling.filter_map(|contact| dynamics.rolling.get(&contact.key.pair).copied());
    let kept: Vec<usize> = world.joints_of(&numbers).into_iter().chain(rolling).collect();
    let joints: Vec<Joint> = kept.iter().map(|&k| world.joint_now(k, &numbers, &cluster.after)).collect();
    let options = Options { law: Law::Newton, ..world.options.clone() };
    let outcome = loop {
        let outcome = cluster.solve(world, &cluster.after, |bodies| {
            Mechanism { bodies, joints: &joints, contacts: &contacts }.solve(&options).ok()
        })?;
        // The velocity that the impulse would change along the contact's own normal shows whether it exceeds rounding.
        let pull = |i: usize| {
            outcome.contacts[i].impulse * cluster.inverse_mass(dynamics, &cluster.contacts[active[i]])
        };
        let worst = (0..active.len()).min_by(|&a, &b| pull(a).total_cmp(&pull(b)));
        let Some(i) = worst.filter(|&i| pull(i) < -still) else { break outcome };
        if contacts[i].surface == Surface::Rough {
            contacts[i].surface = Surface::Smooth;
        } else {
            active.remove(i);
            contacts.remove(i);
        }
    };
    cluster.after.clone_from(&outcome.states);
    for (&k, result) in active.iter().zip(&outcome.contacts) {
        let contact = &mut cluster.contacts[k];
        contact.key.gripped = slipping.binary_search(&k).is_ok() && result.impulse_vector.norm() > 0.0;
        contact.impulse += result.impulse;
        contact.impulse_vector += result.impulse_vector;
        contact.separation = result.separation;
    }
    add_joint_impulses(cluster, &kept, &outcome.joints);
    for k in 0..cluster.contacts.len() {
        let now = cluster.kinematics_after(dynamics, k);
        let slow = cluster.contacts[k].key.pair.velocity_threshold(world, &now).max(still);
        let outcome = &mut resolutions[k].outcome;
        match outcome {
            Outcome::Active | Outcome::Inactive | Outcome::Separates if now.v < -slow => {
                *outcome = Outcome::Closes;
            }
            Outcome::Active | Outcome::Inactive if now.v > slow => *outcome = Outcome::Separates,
            _ => {}
        }
    }
    Some(cluster.contacts.iter().any(|contact| contact.key.gripped))
}

/// Adds the joints' impulses to those that they carried in the impact before.
fn add_joint_impulses(cluster: &mut Cluster, joints: &[usize], outcomes: &[JointOutcome]) {
    let before = cluster.joints.len();
    for (&joint, result) in joints.iter().zip(outcomes) {
        match cluster.joints[..before].binary_search_by_key(&joint, |known| known.joint) {
            Ok(place) => {
                let known = &mut cluster.joints[place];
                known.impulse.iter_mut().zip(&result.impulse).for_each(|(sum, more)| *sum += more);
                known.linear += result.linear;
                known.angular += result.angular;
                known.determined &= result.determined;
            }
            Err(_) => cluster.joints.push(JointImpulse::new(joint, result)),
        }
    }
    cluster.joints.sort_by_key(|result| result.joint);
}
