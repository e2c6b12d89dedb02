//! Independent copies of a run, and what they say together.
//!
//! Copy i has the fills' seeds plus i. Copies share nothing while they run, so what each does depends neither on the number
//! of threads nor on the order in which they are taken up. The pooled mean is that of the copies' means, and its error the
//! standard error between them: no correlation in time is left in it.

use carom::observe::{Estimate, Observables, Observer, Quantity, pool};
use serde::Serialize;

use super::averages::{Estimates, ObservablesEntry};
use super::document::AuditEntry;
use super::engine::Loop;
use super::settings::Settings;
use super::{End, Running};
use crate::{InputError, Subject, Verdict};

/// Refuses a scene whose copies would all be the same.
pub fn check(subject: &Subject) -> Result<(), InputError> {
    if subject.scene.fills.is_empty() {
        let message = "has no fill, whose seed is all that copies of a run differ in";
        return Err(subject.error_at("fill", message, "a `[[fill]]`, or one run without copies"));
    }
    Ok(())
}

/// What one copy came to.
#[derive(Debug)]
pub struct Replica {
    end: End,
    observables: Option<Observables>,
    entry: Entry,
    settings: Settings,
    which: Loop,
    hash: String,
    title: Option<String>,
}

/// A copy for programs.
#[derive(Debug, Serialize)]
struct Entry {
    replica: u64,
    seeds: Vec<u64>,
    stopped: &'static str,
    time: f64,
    impacts: u64,
    elastic: u64,
    audit: AuditEntry,
    observables: Option<ObservablesEntry>,
    notes: Vec<String>,
    wall_s: f64,
}

impl Replica {
    /// That of a run which was begun with [`Changes::replica`](super::Changes::replica), as it stands.
    pub fn of(running: &Running, wall_s: f64, notes: Vec<String>) -> Self {
        let Running { scene, engine, settings, .. } = running;
        let end = running.end().unwrap_or(End::INTERRUPTED);
        let observables = engine.observer.as_ref().map(Observer::observables);
        let counts = engine.counts();
        let entry = Entry {
            replica: settings.replica,
            seeds: scene.fills.iter().map(|fill| fill.seed).collect(),
            stopped: end.name(),
            time: engine.time(),
            impacts: counts.impacts,
            elastic: counts.elastic,
            audit: AuditEntry::of(&engine.audit()),
            observables: observables.as_ref().map(ObservablesEntry::of),
            notes,
            wall_s,
        };
        let (hash, title) = (running.input.hash(), scene.title.clone());
        Self { end, observables, entry, settings: *settings, which: engine.which(), hash, title }
    }
}

/// The copies together.
#[derive(Debug)]
pub struct Pool<'a> {
    /// The first copy's title.
    pub title: Option<&'a str>,
    /// The loop that ran them.
    pub which: Loop,
    /// Means and errors.
    pub estimates: [Estimate; Quantity::ALL.len()],
    /// Impacts of all copies.
    pub impacts: u64,
    /// How they ended: the one that came least far speaks for all.
    pub end: End,
    /// The numbers of those that were interrupted.
    pub interrupted: Vec<u64>,
    /// What else is to be said, with the number of the copy that says it.
    pub notes: Vec<(u64, &'a str)>,
    /// The largest error of the energy in any of them.
    pub energy_error: f64,
    /// The smallest gap in any of them.
    pub gap: Option<f64>,
    first: &'a Replica,
    replicas: &'a [Replica],
}

impl<'a> Pool<'a> {
    /// Pools copies in the order of their numbers; `None` if there are none.
    pub fn of(replicas: &'a [Replica]) -> Option<Self> {
        let first = replicas.first()?;
        let measured: Vec<Observables> =
            replicas.iter().filter_map(|replica| replica.observables.clone()).collect();
        let worst = replicas.iter().find(|replica| replica.end.verdict() != Verdict::Done);
        let interrupted: Vec<&Replica> =
            replicas.iter().filter(|replica| replica.end == End::INTERRUPTED).collect();
        let audits = || replicas.iter().map(|replica| &replica.entry.audit);
        let notes = replicas
            .iter()
            .flat_map(|Replica { entry, .. }| entry.notes.iter().map(|note| (entry.replica, note.as_str())));
        Some(Self {
            title: first.title.as_deref(),
            which: first.which,
            estimates: pool(&measured),
            impacts: replicas.iter().map(|replica| replica.entry.impacts).sum(),
            end: worst.or(interrupted.first().copied()).unwrap_or(first).end,
            interrupted: interrupted.iter().map(|replica| replica.entry.replica).collect(),
            notes: notes.collect(),
            energy_error: audits().map(|audit| audit.energy_error_max).fold(0.0, f64::max),
            gap: audits().filter_map(|audit| audit.gap_min).min_by(f64::total_cmp),
            first,
            replicas,
        })
    }

    /// How many copies there are.
    pub fn count(&self) -> u64 {
        self.replicas.len() as u64
    }

    /// The copies together for programs.
    pub fn document(&self, version: &'a str) -> PoolDocument<'a> {
        PoolDocument {
            title: self.title,
            version,
            scene: &self.first.hash,
            settings: Settings { replica: 0, ..self.first.settings },
            which: self.which,
            stopped: self.end.name(),
            observables: Estimates(self.estimates),
            replicas: self.replicas.iter().map(|replica| &replica.entry).collect(),
        }
    }
}

/// The copies together for programs.
#[derive(Debug, Serialize)]
pub struct PoolDocument<'a> {
    title: Option<&'a str>,
    version: &'a str,
    scene: &'a str,
    settings: Settings,
    #[serde(rename = "loop")]
    which: Loop,
    stopped: &'static str,
    observables: Estimates,
    replicas: Vec<&'a Entry>,
}
