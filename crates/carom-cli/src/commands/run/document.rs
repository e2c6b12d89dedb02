//! The result of a run for programs.

use std::sync::Arc;

use carom::body::State;
use carom::observe::{Curve, Estimate, Neighbours, Observables, Quantity};
use carom::record::{Event, JointImpulse, JointReaction, Moment, Sample};
use carom::scene::instant::name;
use carom::scene::model::Scene;
use carom::simulation::{Audit, RollingDemand, Worst};
use serde::{Serialize, Serializer};

use super::engine::{Counts, Engine, Loop};
use super::settings::Settings;
use super::strict::Violation;
use super::table::moment_name;
use crate::VERSION;

/// The document without the events and samples.
#[derive(Serialize)]
pub struct Document<'a> {
    title: Option<&'a str>,
    source: Option<&'a str>,
    version: &'static str,
    /// The hash of the scene's text.
    scene: &'a str,
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
    audit: JsonAudit,
    /// What rolling joints asked of their surfaces, by name.
    #[serde(skip_serializing_if = "Rolling::is_empty")]
    rolling: Rolling<'a>,
    /// Averages, in a box.
    #[serde(skip_serializing_if = "Option::is_none")]
    observables: Option<JsonObservables>,
    /// What ended the run before its time.
    violation: Option<Violation>,
    notes: Vec<String>,
    /// The rows of the tables, where there are files.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<Rows>,
    performance: Performance,
}

/// What the document is made of.
pub struct Parts<'a> {
    pub scene: &'a Scene,
    pub hash: &'a str,
    pub settings: Settings,
    pub engine: &'a Engine,
    pub stopped: &'static str,
    pub violation: Option<Violation>,
    pub notes: Vec<String>,
    pub wall_s: f64,
}

impl<'a> Document<'a> {
    /// Puts it together.
    pub fn of(parts: Parts<'a>) -> Self {
        let Parts { scene, hash, settings, engine, stopped, violation, notes, wall_s } = parts;
        Self {
            title: scene.title.as_deref(),
            source: scene.source.as_deref(),
            version: VERSION,
            scene: hash,
            settings,
            which: engine.which(),
            law: scene.impact.law.name(),
            termination: scene.impact.termination.name(),
            time: engine.time(),
            stopped,
            states: States { scene, states: engine.states() },
            audit: JsonAudit::of(&engine.audit()),
            rolling: Rolling { scene, demands: engine.rolling_demands() },
            observables: engine
                .observer
                .as_ref()
                .map(|observer| JsonObservables::of(&observer.observables())),
            violation,
            notes,
            rows: None,
            performance: Performance::of(&engine.counts(), wall_s),
        }
    }

    /// Says how many rows the tables have.
    pub fn set_rows(&mut self, rows: Rows) {
        self.rows = Some(rows);
    }
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
struct Rolling<'a> {
    scene: &'a Scene,
    demands: Vec<RollingDemand>,
}

impl Rolling<'_> {
    fn is_empty(&self) -> bool {
        self.demands.is_empty()
    }
}

#[derive(Serialize)]
struct JsonDemand {
    /// The largest friction over normal force or impulse.
    friction_needed: f64,
    time: f64,
    /// When it first had to pull.
    pulls: Option<f64>,
}

impl Serialize for Rolling<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.demands.iter().map(|demand| {
            let RollingDemand { joint, coefficient, time, pulls } = *demand;
            (&self.scene.joints[joint].name, JsonDemand { friction_needed: coefficient, time, pulls })
        }))
    }
}

/// The states by name, in the order of the scene.
struct States<'a> {
    scene: &'a Scene,
    states: Vec<State>,
}

impl Serialize for States<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = self.scene.bodies.iter().map(|body| &body.name);
        serializer.collect_map(names.zip(self.states.iter().map(JsonState::from)))
    }
}

/// A body's state.
#[derive(Serialize)]
pub struct JsonState {
    position: [f64; 3],
    /// Scalar first.
    orientation: [f64; 4],
    velocity: [f64; 3],
    angular_velocity: [f64; 3],
}

impl From<&State> for JsonState {
    fn from(state: &State) -> Self {
        let q = state.orientation.quaternion();
        Self {
            position: state.position.into(),
            orientation: [q.w, q.i, q.j, q.k],
            velocity: state.velocity.into(),
            angular_velocity: state.angular_velocity.into(),
        }
    }
}

/// Averages of a gas.
#[derive(Serialize)]
pub struct JsonObservables {
    #[serde(flatten)]
    estimates: Estimates,
    /// Blocks that the errors come from, and their length.
    blocks: u64,
    block_time: f64,
    time: f64,
    interval: f64,
    compressibility_from_rate: Option<f64>,
    g_r: Option<Neighbours>,
    msd: Curve,
    vacf: Curve,
}

/// The quantities under their names.
pub struct Estimates(pub [Estimate; Quantity::ALL.len()]);

impl Serialize for Estimates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Quantity::ALL.map(Quantity::name).into_iter().zip(&self.0))
    }
}

impl JsonObservables {
    /// In the names of files.
    pub fn of(observables: &Observables) -> Self {
        Self {
            estimates: Estimates(observables.estimates),
            blocks: observables.blocks,
            block_time: observables.block_time,
            time: observables.time,
            interval: observables.interval,
            compressibility_from_rate: observables.compressibility_from_rate,
            g_r: observables.neighbours.clone(),
            msd: observables.displacement.clone(),
            vacf: observables.velocities.clone(),
        }
    }
}

/// The worst values, and the events where they were seen.
#[derive(Serialize)]
pub struct JsonAudit {
    energy_error_max: f64,
    linear_error_max: f64,
    /// None where angular momentum is not conserved.
    angular_error_max: Option<f64>,
    /// None where no gap was measured, because nothing met.
    gap_min: Option<f64>,
    restitution_error_max: f64,
    energy_gain_max: f64,
    /// How far bodies were off their joints; none where there are no joints.
    #[serde(skip_serializing_if = "Option::is_none")]
    joint_error_max: Option<f64>,
    checks: u64,
    at: AuditEvents,
}

#[derive(Serialize)]
struct AuditEvents {
    energy_error_max: u64,
    linear_error_max: u64,
    angular_error_max: Option<u64>,
    gap_min: Option<u64>,
    restitution_error_max: u64,
    energy_gain_max: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    joint_error_max: Option<u64>,
}

/// The smallest gap and where it was seen, if any was measured.
pub fn smallest_gap(audit: &Audit) -> Option<Worst> {
    (audit.gap_min < f64::MAX).then_some(Worst { value: audit.gap_min, event: audit.gap_min_event })
}

impl JsonAudit {
    /// In the names of files.
    pub fn of(audit: &Audit) -> Self {
        let gap = smallest_gap(audit);
        Self {
            energy_error_max: audit.energy_error_max.value,
            linear_error_max: audit.linear_error_max.value,
            angular_error_max: audit.angular_error_max.map(|worst| worst.value),
            gap_min: gap.map(|worst| worst.value),
            restitution_error_max: audit.restitution_error_max.value,
            energy_gain_max: audit.energy_gain_max.value,
            joint_error_max: audit.joint_error_max.map(|worst| worst.value),
            checks: audit.checks,
            at: AuditEvents {
                energy_error_max: audit.energy_error_max.event,
                linear_error_max: audit.linear_error_max.event,
                angular_error_max: audit.angular_error_max.map(|worst| worst.event),
                gap_min: gap.map(|worst| worst.event),
                restitution_error_max: audit.restitution_error_max.event,
                energy_gain_max: audit.energy_gain_max.event,
                joint_error_max: audit.joint_error_max.map(|worst| worst.event),
            },
        }
    }
}

/// Counts, and the only numbers that differ from run to run.
#[derive(Serialize)]
struct Performance {
    events: u64,
    impacts: u64,
    grazes: u64,
    holds: u64,
    searches: u64,
    gaps: u64,
    samples: u64,
    /// Collisions of a crowd made elastic because they followed another too soon.
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

/// One contact of an event.
#[derive(Serialize)]
pub struct JsonEvent<'a> {
    number: u64,
    time: f64,
    time_error: f64,
    kind: &'static str,
    bodies: [&'a str; 2],
    /// Which image of the second body, in a periodic box.
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<[i32; 3]>,
    point: [f64; 3],
    normal: [f64; 3],
    gap: f64,
    approach: f64,
    separation: f64,
    impulse: f64,
    impulse_vector: [f64; 3],
    #[serde(rename = "type")]
    class: &'static str,
    g2: Option<f64>,
    g3: Option<f64>,
    force_slope: Option<f64>,
    /// The time at which bounces end, and its error.
    limit: Option<[f64; 2]>,
    /// What the joints carried, by name.
    #[serde(skip_serializing_if = "Joints::is_empty")]
    joints: Joints<'a>,
    energy_before: f64,
    energy_after: f64,
}

/// Joint impulses by name.
struct Joints<'a> {
    scene: &'a Scene,
    impulses: Arc<[JointImpulse]>,
}

impl Joints<'_> {
    fn is_empty(&self) -> bool {
        self.impulses.is_empty()
    }
}

#[derive(Serialize)]
struct JsonJoint<'a> {
    /// The impulse of each row.
    impulse: &'a [f64],
    /// The resultant on the first body.
    linear: [f64; 3],
    /// The moment about the point.
    angular: [f64; 3],
    point: [f64; 3],
    determined: bool,
}

impl Serialize for Joints<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.impulses.iter().map(|joint| {
            let entry = JsonJoint {
                impulse: &joint.impulse,
                linear: joint.linear.into(),
                angular: joint.angular.into(),
                point: joint.point.into(),
                determined: joint.determined,
            };
            (&self.scene.joints[joint.joint].name, entry)
        }))
    }
}

/// What a joint exerts at a time.
#[derive(Serialize)]
pub struct JsonReaction<'a> {
    time: f64,
    joint: &'a str,
    point: [f64; 3],
    force: [f64; 3],
    torque: [f64; 3],
}

impl<'a> JsonReaction<'a> {
    /// A reaction in the scene's names.
    pub fn of(scene: &'a Scene, reaction: &JointReaction) -> Self {
        Self {
            time: reaction.time,
            joint: &scene.joints[reaction.joint].name,
            point: reaction.point.into(),
            force: reaction.force.into(),
            torque: reaction.torque.into(),
        }
    }
}

impl<'a> JsonEvent<'a> {
    /// An event in the scene's names.
    pub fn of(scene: &'a Scene, event: &Event) -> Self {
        // Those that are not finite are counted, and a note says so.
        let finite = |x: Option<f64>| x.filter(|x| x.is_finite());
        Self {
            number: event.number,
            time: event.time,
            time_error: event.time_error,
            kind: event.kind.name(),
            bodies: event.sides.map(|side| name(scene, side)),
            image: scene.periodic.map(|_| event.image),
            point: event.point.into(),
            normal: event.normal.into(),
            gap: event.gap,
            approach: event.approach,
            separation: event.separation,
            impulse: event.impulse,
            impulse_vector: event.impulse_vector.into(),
            class: event.class,
            g2: finite(event.g2),
            g3: finite(event.g3),
            force_slope: finite(event.force_slope),
            limit: event.limit,
            joints: Joints { scene, impulses: event.joints.clone() },
            energy_before: event.energy_before,
            energy_after: event.energy_after,
        }
    }
}

/// One body at one moment.
#[derive(Serialize)]
pub struct JsonSample<'a> {
    time: f64,
    body: &'a str,
    moment: &'static str,
    event: Option<u64>,
    #[serde(flatten)]
    state: JsonState,
}

impl<'a> JsonSample<'a> {
    /// A sample in the scene's names.
    pub fn of(scene: &'a Scene, sample: &Sample) -> Self {
        Self {
            time: sample.time,
            body: &scene.bodies[sample.body].name,
            moment: moment_name(sample.moment),
            event: match sample.moment {
                Moment::Sample => None,
                Moment::Before(number) | Moment::After(number) => Some(number),
            },
            state: JsonState::from(&sample.state),
        }
    }
}
