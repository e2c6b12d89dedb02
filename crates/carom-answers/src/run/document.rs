//! The result of a run for programs.

use carom::body::State;
use carom::contact::Side;
use carom::record::Memory;
use carom::scene::instant::name;
use carom::scene::model::Scene;
use carom::simulation::{RollingDemand, SteppedInterval};

use carom::run::{Audit, Counts, Rest, Worst};
use serde::{Serialize, Serializer};

use super::averages::ObservablesEntry;
use super::derivatives::DerivativesEntry;
use super::engine::Loop;
use super::entries::{EventEntry, ReactionEntry, SampleEntry, StateEntry};
use super::limits::Violation;
use super::settings::Settings;
use super::{End, Running};

/// The document without the events and samples.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    title: Option<&'a str>,
    source: Option<&'a str>,
    version: &'a str,
    /// The hash of the scene's text.
    scene: String,
    settings: Settings,
    #[serde(rename = "loop")]
    which: Loop,
    law: &'static str,
    termination: &'static str,
    /// The time at the end.
    time: f64,
    stopped: &'static str,
    #[serde(rename = "final")]
    states: States<'a>,
    audit: AuditEntry,
    /// The intervals in which bodies were carried on by time steps.
    stepped: Vec<SteppedEntry<'a>>,
    /// What rolling joints asked of their surfaces, by name.
    #[serde(skip_serializing_if = "Rolling::is_empty")]
    rolling: Rolling<'a>,
    /// Averages, in a box.
    #[serde(skip_serializing_if = "Option::is_none")]
    observables: Option<ObservablesEntry>,
    /// Where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    derivatives: Option<DerivativesEntry<'a>>,
    /// What ended the run before its time.
    violation: Option<ViolationEntry<'a>>,
    notes: Vec<String>,
    /// The rows of the tables, where there are files.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<Rows>,
    performance: Performance,
}

impl Running {
    /// The document of the run as it stands, without events and samples. `notes` are all that it says, [`Running::notes`]
    /// and what the caller adds; a run that has not ended counts as interrupted.
    pub fn document<'a>(&'a self, version: &'a str, wall_s: f64, notes: Vec<String>) -> Document<'a> {
        let (scene, engine) = (&*self.scene, &self.engine);
        let end = self.end().unwrap_or(End::INTERRUPTED);
        Document {
            title: scene.title.as_deref(),
            source: scene.source.as_deref(),
            version,
            scene: self.input.hash(),
            settings: self.settings,
            which: engine.which(),
            law: scene.impact.law.name(),
            termination: scene.impact.termination.name(),
            time: engine.time(),
            stopped: end.name(),
            states: States { scene, states: engine.states() },
            audit: AuditEntry::of(&engine.audit()),
            stepped: engine.stepped().iter().map(|interval| SteppedEntry::of(scene, interval)).collect(),
            rolling: Rolling { scene, demands: engine.rolling_demands() },
            observables: engine
                .observer
                .as_ref()
                .map(|observer| ObservablesEntry::of(&observer.observables())),
            derivatives: self.derivatives(),
            violation: end.violation().map(|violation| ViolationEntry {
                bodies: violation.sides.map(|sides| sides.map(|side| name(scene, side))),
                violation,
            }),
            notes,
            rows: None,
            performance: Performance::of(&engine.counts(), wall_s),
        }
    }
}

/// An interval in which bodies were carried on by time steps, in the scene's names.
#[derive(Debug, Serialize)]
struct SteppedEntry<'a> {
    from: f64,
    until: f64,
    bodies: Vec<&'a str>,
    steps: u64,
    /// The smallest gap at the ends of steps; none where no two came near each other.
    gap_min: Option<f64>,
    /// The largest difference that halving a step made, in velocities over the speeds.
    error: f64,
}

impl<'a> SteppedEntry<'a> {
    fn of(scene: &'a Scene, interval: &SteppedInterval) -> Self {
        Self {
            from: interval.from,
            until: interval.until,
            bodies: interval.bodies.iter().map(|&body| name(scene, Side::Body(body as usize))).collect(),
            steps: interval.steps,
            gap_min: interval.gap_min.is_finite().then_some(interval.gap_min),
            error: interval.error,
        }
    }
}

/// What was recorded, for programs: the events, and where they are wanted the samples and reactions.
#[derive(Debug, Serialize)]
pub struct Entries<'a> {
    events: Vec<EventEntry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<Vec<SampleEntry<'a>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reactions: Vec<ReactionEntry<'a>>,
}

impl<'a> Entries<'a> {
    /// In the scene's names; `samples`: also samples and reactions.
    pub fn of(scene: &'a Scene, memory: &Memory, samples: bool) -> Self {
        let reactions = if samples { memory.reactions.as_slice() } else { &[] };
        Self {
            events: memory.events.iter().map(|event| EventEntry::of(scene, event)).collect(),
            samples: samples.then(|| memory.samples.iter().map(|s| SampleEntry::of(scene, s)).collect()),
            reactions: reactions.iter().map(|reaction| ReactionEntry::of(scene, reaction)).collect(),
        }
    }
}

/// The document with what was recorded before the rest.
#[derive(Debug, Serialize)]
pub struct Whole<'a> {
    #[serde(flatten)]
    entries: Entries<'a>,
    #[serde(flatten)]
    rest: Document<'a>,
}

impl<'a> Document<'a> {
    /// Puts what was recorded before it; `samples`: also samples and reactions.
    pub fn with(self, scene: &'a Scene, memory: &Memory, samples: bool) -> Whole<'a> {
        Whole { entries: Entries::of(scene, memory, samples), rest: self }
    }

    /// The derivatives, where they were asked for.
    pub fn derivatives(&self) -> Option<&DerivativesEntry<'a>> {
        self.derivatives.as_ref()
    }

    /// Says how many rows the tables have.
    pub fn set_rows(&mut self, rows: Rows) {
        self.rows = Some(rows);
    }
}

/// What ended a run, with the names of those concerned.
#[derive(Debug, Serialize)]
struct ViolationEntry<'a> {
    #[serde(flatten)]
    violation: Violation,
    bodies: Option<[&'a str; 2]>,
}

/// The rows of the tables.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Rows {
    /// Of events.
    pub events: u64,
    /// Of samples.
    pub samples: u64,
    /// Of joint impulses, where there are joints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joint_impulses: Option<u64>,
    /// Of reactions, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reactions: Option<u64>,
}

/// The demands of rolling joints by name.
#[derive(Debug)]
struct Rolling<'a> {
    scene: &'a Scene,
    demands: Vec<RollingDemand>,
}

impl Rolling<'_> {
    fn is_empty(&self) -> bool {
        self.demands.is_empty()
    }
}

#[derive(Debug, Serialize)]
struct DemandEntry {
    /// The largest friction over normal force or impulse; null where it is infinite.
    friction_needed: f64,
    time: f64,
    /// When it first had to pull.
    pulls: Option<f64>,
}

impl Serialize for Rolling<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.demands.iter().map(|demand| {
            let RollingDemand { joint, coefficient, time, pulls } = *demand;
            (&self.scene.joints[joint].name, DemandEntry { friction_needed: coefficient, time, pulls })
        }))
    }
}

/// The states by name, in the order of the scene.
#[derive(Debug)]
struct States<'a> {
    scene: &'a Scene,
    states: Vec<State>,
}

impl Serialize for States<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = self.scene.bodies.iter().map(|body| &body.name);
        serializer.collect_map(names.zip(self.states.iter().map(StateEntry::from)))
    }
}

/// The worst values, and the events where they were seen.
#[derive(Debug, Serialize)]
pub struct AuditEntry {
    pub(super) energy_error_max: f64,
    linear_error_max: f64,
    /// `None` if angular momentum is not conserved.
    angular_error_max: Option<f64>,
    /// Of all pairs; `None` if no two bodies can meet, or if there are very many and none are near.
    pub(super) gap_min: Option<f64>,
    /// How far contact points are off their surfaces and off each other.
    points_error_max: f64,
    /// How far the change of a body's momentum and angular momentum is from its impulses.
    impulse_error_max: f64,
    /// How far the change of energy in an event is from the work of its impulses.
    work_error_max: f64,
    restitution_error_max: f64,
    /// How far contacts pull, leave their friction cones, or keep closing.
    unilateral_error_max: f64,
    energy_gain_max: f64,
    /// How far bodies were off their joints; `None` without joints.
    #[serde(skip_serializing_if = "Option::is_none")]
    joint_error_max: Option<f64>,
    /// Impacts that were plastic because they were slow.
    rest: Rest,
    checks: u64,
    /// Searches of all pairs for overlaps, and the pairs that they looked at.
    gap_searches: u64,
    pairs: u64,
    at: AuditEvents,
}

#[derive(Debug, Serialize)]
struct AuditEvents {
    energy_error_max: u64,
    linear_error_max: u64,
    angular_error_max: Option<u64>,
    gap_min: Option<u64>,
    points_error_max: u64,
    impulse_error_max: u64,
    work_error_max: u64,
    restitution_error_max: u64,
    unilateral_error_max: u64,
    energy_gain_max: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    joint_error_max: Option<u64>,
}

/// The smallest gap and where it was seen, if any was measured.
pub fn smallest_gap(audit: &Audit) -> Option<Worst> {
    let worst = Worst { value: audit.gap_min, event: audit.gap_min_event, sides: None };
    (audit.gap_min < f64::MAX).then_some(worst)
}

impl AuditEntry {
    /// In the names of files.
    pub fn of(audit: &Audit) -> Self {
        let gap = smallest_gap(audit);
        Self {
            energy_error_max: audit.energy_error_max.value,
            linear_error_max: audit.linear_error_max.value,
            angular_error_max: audit.angular_error_max.map(|worst| worst.value),
            gap_min: gap.map(|worst| worst.value),
            points_error_max: audit.points_error_max.value,
            impulse_error_max: audit.impulse_error_max.value,
            work_error_max: audit.work_error_max.value,
            restitution_error_max: audit.restitution_error_max.value,
            unilateral_error_max: audit.unilateral_error_max.value,
            energy_gain_max: audit.energy_gain_max.value,
            joint_error_max: audit.joint_error_max.map(|worst| worst.value),
            rest: audit.rest,
            checks: audit.checks,
            gap_searches: audit.searches,
            pairs: audit.pairs,
            at: AuditEvents {
                energy_error_max: audit.energy_error_max.event,
                linear_error_max: audit.linear_error_max.event,
                angular_error_max: audit.angular_error_max.map(|worst| worst.event),
                gap_min: gap.map(|worst| worst.event),
                points_error_max: audit.points_error_max.event,
                impulse_error_max: audit.impulse_error_max.event,
                work_error_max: audit.work_error_max.event,
                restitution_error_max: audit.restitution_error_max.event,
                unilateral_error_max: audit.unilateral_error_max.event,
                energy_gain_max: audit.energy_gain_max.event,
                joint_error_max: audit.joint_error_max.map(|worst| worst.event),
            },
        }
    }
}

/// Counts, and the only numbers that differ from run to run.
#[derive(Debug, Serialize)]
struct Performance {
    events: u64,
    impacts: u64,
    grazes: u64,
    holds: u64,
    searches: u64,
    gaps: u64,
    samples: u64,
    /// Collisions of many bodies made elastic because they followed another too soon.
    elastic: u64,
    wall_s: f64,
    impacts_per_s: f64,
    events_per_s: f64,
}

impl Performance {
    fn of(counts: &Counts, wall_s: f64) -> Self {
        let rate = |count: u64| if wall_s > 0.0 { count as f64 / wall_s } else { 0.0 };
        Self {
            events: counts.events,
            impacts: counts.impacts,
            grazes: counts.grazes,
            holds: counts.holds,
            searches: counts.searches,
            gaps: counts.gaps,
            samples: counts.samples,
            elastic: counts.elastic,
            wall_s,
            impacts_per_s: rate(counts.impacts),
            events_per_s: rate(counts.events),
        }
    }
}
