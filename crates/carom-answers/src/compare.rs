//! Every impact law on the same scene, side by side.

use std::collections::BTreeMap;

use carom::impact::Law;
use serde::Serialize;

use crate::solve::{Prepared, Solved};
use crate::{InputError, Resolution, Verdict};

/// The laws' results, in the order of [`Law::ALL`].
#[derive(Debug, Clone)]
pub struct Comparison<'a> {
    /// The scene.
    pub prepared: &'a Prepared,
    /// One result a law.
    pub solved: Vec<Solved<'a>>,
}

impl<'a> Comparison<'a> {
    /// Resolves the impact by every law; the one that `resolution` may name is of no account. `begin` hears of each law before
    /// its turn.
    pub fn of(
        prepared: &'a Prepared,
        resolution: &Resolution,
        mut begin: impl FnMut(Law),
    ) -> Result<Self, InputError> {
        let mut solved = Vec::new();
        for law in Law::ALL {
            begin(law);
            solved.push(prepared.solved(&Resolution { law: Some(law), ..resolution.clone() })?);
        }
        Ok(Self { prepared, solved })
    }

    /// As above, by the laws that can be applied; `None` if no law can.
    pub fn where_possible(prepared: &'a Prepared) -> Option<Self> {
        let by = |law: Law| prepared.solved(&Resolution { law: Some(law), ..Resolution::default() }).ok();
        let solved: Vec<Solved> = Law::ALL.into_iter().filter_map(by).collect();
        (!solved.is_empty()).then_some(Self { prepared, solved })
    }

    /// The verdict: the comparison is the answer, unless `strict` asks for every law to be admissible.
    pub fn verdict(&self, strict: bool) -> Verdict {
        let good = |s: &Solved| s.result.outcome.consistent && s.result.outcome.admissible;
        if strict && !self.solved.iter().all(good) { Verdict::NoAnswer } else { Verdict::Done }
    }

    /// The comparison for programs.
    pub fn document(&self) -> Document<'_> {
        let scene = self.prepared.scene();
        let laws = self.solved.iter().map(|s| {
            let outcome = &s.result.outcome;
            let bodies = scene.bodies.iter().zip(&s.result.states).map(|(body, state)| {
                (body.name.as_str(), [state.velocity.into(), state.angular_velocity.into()])
            });
            let entry = Entry {
                bodies: bodies.collect(),
                approach: s.result.contacts.iter().map(|c| c.approach).collect(),
                separation: s.result.contacts.iter().map(|c| c.separation).collect(),
                impulse: s.result.contacts.iter().map(|c| c.impulse).collect(),
                energy_before: outcome.energy.before,
                energy_after: outcome.energy.after,
                energy_change: outcome.energy.change,
                linear_residual: s.result.linear_residual,
                angular_residual: s.result.angular_residual,
                velocity_unique: outcome.velocity_unique,
                impulse_unique: outcome.impulse_unique,
                consistent: outcome.consistent,
                admissible: outcome.admissible,
                steps: outcome.steps.len(),
                notes: s.notes(),
            };
            (outcome.law.name(), entry)
        });
        Document {
            title: scene.title.as_deref(),
            source: scene.source.as_deref(),
            contacts: self.prepared.instant.contacts.iter().map(|c| c.name.as_str()).collect(),
            laws: laws.collect(),
        }
    }
}

/// A comparison for programs.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    title: Option<&'a str>,
    source: Option<&'a str>,
    contacts: Vec<&'a str>,
    laws: BTreeMap<&'static str, Entry<'a>>,
}

#[derive(Debug, Serialize)]
struct Entry<'a> {
    bodies: BTreeMap<&'a str, [[f64; 3]; 2]>,
    approach: Vec<f64>,
    separation: Vec<f64>,
    impulse: Vec<f64>,
    energy_before: f64,
    energy_after: f64,
    energy_change: f64,
    linear_residual: f64,
    angular_residual: f64,
    velocity_unique: bool,
    impulse_unique: bool,
    consistent: bool,
    admissible: bool,
    steps: usize,
    notes: Vec<String>,
}
