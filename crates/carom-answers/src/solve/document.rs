//! A resolved impact for programs.

use std::collections::BTreeMap;

use carom::audit::Audit;
use carom::body::bryan_angles;
use carom::contact::Surface;
use carom::impact::{Energy, Options, Outcome};
use carom::scene::instant::name;
use nalgebra::DMatrix;
use serde::Serialize;

use super::{Screws, Solved};

/// A resolved impact for programs.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    law: &'static str,
    time: f64,
    title: Option<&'a str>,
    source: Option<&'a str>,
    bodies: BTreeMap<&'a str, MotionEntry>,
    contacts: Vec<ContactEntry<'a>>,
    joints: BTreeMap<&'a str, JointEntry<'a>>,
    energy: EnergyEntry,
    momentum: MomentumEntry,
    rank: usize,
    contacts_active: usize,
    contacts_detected: bool,
    velocity_unique: bool,
    impulse_unique: bool,
    consistent: bool,
    admissible: bool,
    friction_demand: BTreeMap<String, f64>,
    friction_least: Option<f64>,
    notes: Vec<String>,
    /// The same in generalised velocities, with steps, self-stresses and friction phases.
    outcome: &'a Outcome,
    audit: Option<&'a Audit>,
    /// P of joints and contacts, by rows; none of more than [`MOST_COORDINATES`].
    projector: Option<Vec<Vec<f64>>>,
    /// I − (1+k)P where all contacts have one k, likewise.
    scattering_matrix: Option<Vec<Vec<f64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    screws: Option<Screws>,
}

/// Matrices of more coordinates, six a body, are not written.
pub const MOST_COORDINATES: usize = 60;

#[derive(Debug, Serialize)]
struct MotionEntry {
    velocity: [f64; 3],
    angular_velocity: [f64; 3],
    bryan: [f64; 3],
    bryan_rates: Option<[f64; 3]>,
}

#[derive(Debug, Serialize)]
struct ContactEntry<'a> {
    name: &'a str,
    bodies: [&'a str; 2],
    point: [f64; 3],
    normal: [f64; 3],
    approach: f64,
    separation: f64,
    impulse: f64,
    impulse_vector: [f64; 3],
    restitution: f64,
    surface: serde_json::Value,
    slip_before: [f64; 3],
    slip_after: [f64; 3],
    work: f64,
    determined: bool,
}

#[derive(Debug, Serialize)]
struct JointEntry<'a> {
    impulse: &'a [f64],
    linear: [f64; 3],
    angular: [f64; 3],
    point: [f64; 3],
    determined: bool,
}

#[derive(Debug, Serialize)]
struct EnergyEntry {
    before: f64,
    after: f64,
    loss: f64,
}

#[derive(Debug, Serialize)]
struct MomentumEntry {
    linear_residual: f64,
    angular_residual: f64,
}

impl Solved<'_> {
    /// The result for programs; `screws`: with the contacts as screws.
    pub fn document(&self, screws: bool) -> Document<'_> {
        let (scene, instant) = (self.scene(), &self.prepared.instant);
        let outcome = &self.result.outcome;
        let bodies = scene.bodies.iter().zip(&self.result.states).map(|(body, state)| {
            let motion = MotionEntry {
                velocity: state.velocity.into(),
                angular_velocity: state.angular_velocity.into(),
                bryan: bryan_angles(&state.orientation),
                bryan_rates: state.bryan_rates(),
            };
            (body.name.as_str(), motion)
        });
        let contacts =
            instant.contacts.iter().zip(&self.result.contacts).map(|(contact, result)| ContactEntry {
                name: &contact.name,
                bodies: contact.sides.map(|side| name(scene, side)),
                point: contact.point.into(),
                normal: contact.normal.into_inner().into(),
                approach: result.approach,
                separation: result.separation,
                impulse: result.impulse,
                impulse_vector: result.impulse_vector.into(),
                restitution: contact.restitution,
                surface: surface(contact.surface),
                slip_before: result.slip_before.into(),
                slip_after: result.slip_after.into(),
                work: result.work,
                determined: result.determined,
            });
        let joints = instant.joints.iter().zip(&self.result.joints).map(|(joint, result)| {
            let entry = JointEntry {
                impulse: &result.impulse,
                linear: result.linear.into(),
                angular: result.angular.into(),
                point: result.point.into(),
                determined: result.determined,
            };
            (joint.name.as_str(), entry)
        });
        let Energy { before, after, change } = outcome.energy;
        let (projector, scattering) = self.matrices();
        Document {
            law: outcome.law.name(),
            time: 0.0,
            title: scene.title.as_deref(),
            source: scene.source.as_deref(),
            bodies: bodies.collect(),
            contacts: contacts.collect(),
            joints: joints.collect(),
            energy: EnergyEntry { before, after, loss: 0.0 - change },
            momentum: MomentumEntry {
                linear_residual: self.result.linear_residual,
                angular_residual: self.result.angular_residual,
            },
            rank: outcome.rank,
            contacts_active: self.active(),
            contacts_detected: instant.detected,
            velocity_unique: outcome.velocity_unique,
            impulse_unique: outcome.impulse_unique,
            consistent: outcome.consistent,
            admissible: outcome.admissible,
            friction_demand: self.demand.reported.iter().map(|(grip, x)| (self.grip(*grip), *x)).collect(),
            friction_least: self.demand.least,
            notes: self.notes(),
            outcome,
            audit: self.audit.as_ref(),
            projector: projector.as_ref().map(listed),
            scattering_matrix: scattering.as_ref().map(listed),
            screws: screws.then(|| Screws::of(self)),
        }
    }

    /// P and I − (1+k)P.
    fn matrices(&self) -> (Option<DMatrix<f64>>, Option<DMatrix<f64>>) {
        let problem = &self.prepared.assembly.problem;
        let n = problem.velocity.len();
        if n == 0 || n > MOST_COORDINATES {
            return (None, None);
        }
        let projector = problem.projector(&Options { project: true, ..Options::default() }).ok();
        let one = problem.restitution.first().filter(|k| problem.restitution.iter().all(|other| other == *k));
        let scattering = projector.as_ref().zip(one).map(|(p, k)| DMatrix::identity(n, n) - p * (1.0 + k));
        (projector, scattering)
    }
}

/// A matrix by rows.
fn listed(matrix: &DMatrix<f64>) -> Vec<Vec<f64>> {
    matrix.row_iter().map(|row| row.iter().copied().collect()).collect()
}

fn surface(surface: Surface) -> serde_json::Value {
    match surface {
        Surface::Smooth => "smooth".into(),
        Surface::Rough => "rough".into(),
        Surface::Coulomb(coefficient) => serde_json::json!({ "coulomb": coefficient }),
    }
}
