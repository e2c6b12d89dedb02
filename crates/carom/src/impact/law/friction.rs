//! Contacts with Coulomb friction, which every law hands to the Darboux–Keller passage.
//!
//! One such contact, alone, is decided by the rigid model and the termination. Several contacts that meet at once, friction
//! acting in any of them, are not. They are taken one at a time in the stated order, each through its whole impact, until none
//! closes, and the outcome says so: those that close, and with them every contact that merely touches and would be pressed. So no
//! step presses a contact without its friction. Contacts that share no body with these, not even by way of others, follow the law.

use nalgebra::{Matrix3, Vector3};

use super::{Friction, Resolution, Situation, complementarity};
use crate::impact::coulomb;
use crate::impact::outcome::FrictionHistory;
use crate::impact::problem::Surface;

/// The parts of the system in which a contact with friction closes.
pub(super) fn parts_closing(situation: &Situation) -> Vec<usize> {
    if !(0..situation.contacts.len()).any(|c| has_friction(situation, c)) {
        return Vec::new();
    }
    let closing = |&c: &usize| has_friction(situation, c);
    situation.closing_contacts().iter().filter(|c| closing(c)).map(|&c| situation.part_of(c)).collect()
}

/// The parts in which a step of the law would press a contact with friction, which merely touches.
pub(super) fn parts_pressed(situation: &Situation, step: &Resolution) -> Vec<usize> {
    let system = situation.system;
    let pressed = |c: usize| {
        let row = situation.contacts[c].normal;
        let impulses = step.rows.iter().zip(&step.impulses).filter(|(r, _)| **r == row);
        let push: f64 = impulses.map(|(_, p)| p.abs()).sum();
        push * system.lengths[row] * system.lengths[row] > system.noise(row, 2.0 * system.speed_of(row))
    };
    (0..situation.contacts.len())
        .filter(|&c| has_friction(situation, c) && pressed(c))
        .map(|c| situation.part_of(c))
        .collect()
}

fn has_friction(situation: &Situation, contact: usize) -> bool {
    matches!(situation.contacts[contact].surface, Surface::Coulomb(_))
}

/// The next closing contact of these parts by itself; nothing when none closes there.
pub(super) fn step(situation: &Situation, parts: &[usize]) -> Option<Resolution> {
    if parts.is_empty() {
        return None;
    }
    let contact = situation.next_in_order(|c| parts.contains(&situation.part_of(c)))?;
    // Alone in its part a contact is decided, whatever meets elsewhere.
    let mut met = situation.meeting_contacts();
    met.retain(|&c| parts.contains(&situation.part_of(c)));
    let parts_met: Vec<usize> = met.iter().map(|&c| situation.part_of(c)).collect();
    met.retain(|&c| parts_met.iter().filter(|&&part| part == situation.part_of(c)).count() > 1);
    let met = met.into_iter().map(|c| situation.contacts[c].normal).collect();
    let Surface::Coulomb(coefficient) = situation.contacts[contact].surface else {
        let mut resolution = complementarity::newton(situation, &[contact]);
        resolution.single = Some(contact);
        resolution.met = Some(met);
        return Some(resolution);
    };
    let system = situation.system;
    let rows: Vec<usize> = situation.contacts[contact].rows().collect();
    let mut w = Matrix3::zeros();
    let mut y = Vector3::zeros();
    for (a, &i) in rows.iter().enumerate() {
        y[a] = situation.y[i];
        for (b, &j) in rows.iter().enumerate() {
            w[(a, b)] = system.lengths[i] * system.lengths[j] * system.rows.inner(i, j);
        }
    }
    let restitution = situation.restitution(rows[0]);
    let passage = coulomb::pass(&w, &y, coefficient, restitution, situation.termination);
    let impulses: Vec<f64> = passage.impulse.iter().copied().take(rows.len()).collect();
    let u = system.reduced_impulse(&rows, &impulses);
    // The tangents' work together stands at the first of them: the passage does not share it out.
    let mean = |a: usize| 0.5 * passage.impulse[a] * (y[a] + passage.separation[a]);
    let normal = passage.normal_work[0] + passage.normal_work[1];
    let mut work = vec![0.0; rows.len()];
    work[0] = normal;
    work[1] = (0..3).map(mean).sum::<f64>() - normal;
    let history = FrictionHistory {
        normal: rows[0],
        termination: situation.termination,
        compression_impulse: passage.compression_impulse,
        phases: passage.phases,
    };
    Some(Resolution {
        rows,
        impulses,
        u,
        single: Some(contact),
        met: Some(met),
        friction: Some(Friction { history, work, locked: passage.locked }),
        ..Resolution::default()
    })
}
