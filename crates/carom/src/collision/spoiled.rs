//! Collisions spoiled in one quantity at a time: the audit of either engine must find each.

use nalgebra::Vector3;

use super::Cluster;
use crate::contact::Surface;
use crate::run::{Audit, World};

/// The largest error allowed.
pub(crate) const LIMIT: f64 = 1e-9;

/// The checks that an audit fails.
pub(crate) fn failed(audit: &Audit) -> Vec<&'static str> {
    let all = [
        ("points", audit.points_error_max),
        ("impulse", audit.impulse_error_max),
        ("work", audit.work_error_max),
        ("restitution", audit.restitution_error_max),
        ("unilateral", audit.unilateral_error_max),
        ("energy", audit.energy_error_max),
    ];
    all.into_iter()
        .filter(|(_, worst)| worst.value > LIMIT || worst.value.is_nan())
        .map(|(name, _)| name)
        .collect()
}

/// How a collision is spoiled, the check that must fail, and the collision.
pub(crate) type Spoiled<K> = (&'static str, &'static str, Cluster<K>);

/// A good collision spoiled in every way.
pub(crate) fn spoil<K: Clone>(world: &World, good: &Cluster<K>) -> Vec<Spoiled<K>> {
    let mut all: Vec<Spoiled<K>> = Vec::new();
    let mut with = |what: &'static str, fails: &'static str, change: &dyn Fn(&mut Cluster<K>)| {
        let mut bad = good.clone();
        change(&mut bad);
        all.push((what, fails, bad));
    };
    let last = good.bodies.iter().rposition(|&body| !world.bodies[body].fixed).unwrap_or(0);
    let aside = Vector3::new(1e-6, 2e-6, -1e-6);
    let surface = good.contacts[0].surface;
    with("the first point moved", "points", &|bad| bad.contacts[0].found.points[0] += aside);
    with("the second point moved", "points", &|bad| bad.contacts[0].found.points[1] += aside);
    with("both points moved", "points", &|bad| {
        bad.contacts[0].found.points.iter_mut().for_each(|point| *point += aside);
    });
    with("the normal tilted", "points", &|bad| {
        bad.contacts[0].found.normal = (bad.contacts[0].found.normal + aside * 1e3).normalize();
    });
    with("a gap", "points", &|bad| bad.contacts[0].found.gap += 1e-6);
    with("an impulse scaled", "impulse", &|bad| bad.contacts[0].impulse_vector *= 1.000_001);
    with("an impulse turned", "impulse", &|bad| bad.contacts[0].impulse_vector += aside);
    with("a velocity changed", "impulse", &|bad| bad.after[last].velocity += aside);
    with("a spin changed", "impulse", &|bad| bad.after[last].angular_velocity += aside);
    with("energy", "work", &|bad| bad.after[last].velocity *= 1.000_01);
    with("not a number", "impulse", &|bad| bad.after[last].velocity.x = f64::NAN);
    if good.contacts.len() > 1 {
        with("a contact left out of the list", "impulse", &|bad| {
            bad.contacts.remove(0);
        });
    } else if surface == Surface::Smooth {
        // Everything a little stronger, and consistent in itself: only the restitution is wrong.
        with("a restitution", "restitution", &|bad| {
            let more = 1.000_001;
            for (after, before) in bad.after.iter_mut().zip(&bad.before) {
                after.velocity = before.velocity + (after.velocity - before.velocity) * more;
                let change = after.angular_velocity - before.angular_velocity;
                after.angular_velocity = before.angular_velocity + change * more;
            }
            bad.contacts[0].impulse_vector *= more;
            for joint in &mut bad.joints {
                joint.linear *= more;
                joint.angular *= more;
            }
        });
    }
    with("no impact", "unilateral", &|bad| {
        bad.after.clone_from(&bad.before);
        bad.contacts.iter_mut().for_each(|contact| contact.impulse_vector = Vector3::zeros());
        bad.joints.clear();
    });
    with("a pull", "unilateral", &|bad| bad.contacts[0].impulse_vector *= -1.0);
    if let Surface::Coulomb(coefficient) = surface {
        with("too much friction", "unilateral", &|bad| {
            let contact = &mut bad.contacts[0];
            let normal = contact.found.normal;
            let aside = normal.cross(&contact.impulse_vector);
            contact.impulse_vector += aside.normalize() * ((coefficient + 0.1) * contact.impulse);
        });
    }
    if !good.joints.is_empty() {
        with("a joint's impulse", "impulse", &|bad| bad.joints[0].linear += aside);
        with("a joint's moment", "impulse", &|bad| bad.joints[0].angular += aside);
    }
    all
}
