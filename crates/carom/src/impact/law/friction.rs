//! Contacts with Coulomb friction, which every law hands to the Darboux–Keller passage.
//!
//! One such contact, alone, is decided by the rigid model and the termination. Several contacts at once with
//! friction in any of them are not: they are taken one at a time in the stated order, each through its whole
//! impact, until none closes, and the outcome says so.

use nalgebra::{Matrix3, Vector3};

use super::{Friction, Resolution, Situation, complementarity};
use crate::impact::coulomb;
use crate::impact::outcome::FrictionHistory;
use crate::impact::problem::Surface;

/// The step when friction acts in a contact that closes; nothing when it does not.
pub(super) fn step(situation: &Situation) -> Option<Resolution> {
    let acts = |c: usize| matches!(situation.contacts[c].surface, Surface::Coulomb(_));
    if !situation.closing_contacts().into_iter().any(acts) {
        return None;
    }
    let contact = situation.next_in_order()?;
    let others: Vec<usize> = situation.meeting_contacts().into_iter().filter(|&c| c != contact).collect();
    let Surface::Coulomb(coefficient) = situation.contacts[contact].surface else {
        let mut resolution = complementarity::newton(situation, &[contact]);
        resolution.single = Some(contact);
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
        friction: Some(Friction { history, work, locked: passage.locked, others }),
        ..Resolution::default()
    })
}
