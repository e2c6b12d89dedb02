//! What a run reports: counts, the ledger with its audit, events to the recorder, and why the run ended.

use std::sync::Arc;

use nalgebra::Vector3;

use super::cluster::{Cluster, ClusterContact};
use super::constrained::SingularConfigurations;
use super::dynamics::Dynamics;
use super::group::Group;
use super::pair::Pair;
use super::persistent::Persistence;
use super::resolution::ContactResolution;
use super::rolling::RollingDemands;
use super::stepping::SteppedInterval;
use crate::audit::pairs::Surroundings;
use crate::body::State;
use crate::collision::{AuditContext, EventContext};
use crate::contact::Side;
use crate::flow::StoppedSlips;
use crate::record::{Event, JointImpulse, Kind, Moment, Recorder, Sample};
use crate::run::ledger::PairAudit;
use crate::run::{Cause, Counts, Failure, Ledger, Rest, Stopped, World};

/// Up to this many bodies all pairs are audited at every event and sample.
const FEW: usize = 16;

/// Events per body between two audits of all pairs where there are more bodies.
const AUDIT_INTERVAL: usize = 4;

/// The books of a run.
#[derive(Debug, Clone)]
pub(super) struct Bookkeeping {
    pub ledger: Ledger,
    pub counts: Counts,
    pub stopped: Option<Stopped>,
    pub failure: Option<Failure>,
    /// The friction that rolling joints have needed.
    pub demands: RollingDemands,
    pub singular: SingularConfigurations,
    /// Whether external forces that the ledger does not integrate have acted since the last check.
    pub unbalanced: bool,
    /// The number of events at the last audit of all pairs.
    pub pairs_audited: u64,
    /// The intervals in which bodies were carried on by time steps.
    pub stepped: Vec<SteppedInterval>,
}

impl Bookkeeping {
    /// Opens the books.
    pub fn new(world: &World, states: &[State]) -> Self {
        Self {
            ledger: Ledger::open(world, states),
            counts: Counts::default(),
            stopped: None,
            failure: None,
            demands: RollingDemands::default(),
            singular: SingularConfigurations::default(),
            unbalanced: false,
            pairs_audited: 0,
            stepped: Vec::new(),
        }
    }

    /// Ends the run, unless it has ended already.
    pub fn stop(&mut self, why: Stopped) {
        self.stopped.get_or_insert(why);
    }

    /// Ends the run because something could not be followed, unless it has ended already.
    pub fn fail(&mut self, time: f64, sides: [Side; 2], cause: Cause) {
        if self.stopped.is_none() {
            self.stopped = Some(Stopped::Failed);
            self.failure = Some(Failure { time, sides, cause });
        }
    }

    /// Audits an event and reports it to the recorder. Returns whether there was anything to report.
    pub fn record(
        &mut self,
        dynamics: &Dynamics,
        cluster: &Cluster,
        closing: bool,
        resolutions: &[ContactResolution],
        t: f64,
        recorder: &mut impl Recorder,
    ) -> bool {
        let energy_before = self.ledger.energy();
        self.audit_event(dynamics, cluster, closing);
        let energy_after = self.ledger.energy();
        cluster.book_external(&dynamics.world, &mut self.ledger);
        let energies = [energy_before, energy_after];
        let constrained = cluster.is_constrained(dynamics);
        let mut events = Vec::new();
        for (contact, resolution) in cluster.contacts.iter().zip(resolutions) {
            let active = dynamics.contact_impulse(&contact.key.pair, t);
            for (kind, class) in resolution.kinds(contact, closing) {
                let (impulse, impulse_vector, force_slope) = match (kind, active) {
                    (Kind::Impact | Kind::Rest, _) => (contact.impulse, contact.impulse_vector, None),
                    (Kind::HoldEnd, Some((sum, slope))) => (sum, Vector3::zeros(), slope),
                    _ => (0.0, Vector3::zeros(), resolution.force_slope),
                };
                events.push(Event {
                    impulse,
                    impulse_vector,
                    class,
                    g2: resolution.g2,
                    g3: resolution.g3.filter(|_| !constrained),
                    force_slope,
                    limit: resolution.limit.map(|[wait, error]| [dynamics.clock.absolute(t + wait), error]),
                    ..self.event(dynamics, cluster, contact, kind, t, energies)
                });
            }
            if contact.key.slipped {
                events.push(self.event(dynamics, cluster, contact, Kind::Slip, t, energies));
            }
        }
        if events.is_empty() {
            return false;
        }
        let joints: Option<Arc<[JointImpulse]>> =
            (!cluster.joints.is_empty()).then(|| cluster.joints.as_slice().into());
        for event in events.iter_mut().filter(|event| matches!(event.kind, Kind::Impact | Kind::Rest)) {
            event.joints = joints.clone();
        }
        self.report(dynamics, cluster, &events, recorder);
        true
    }

    /// Reports that an active rolling joint begins to slip.
    pub fn record_slip(
        &mut self,
        dynamics: &Dynamics,
        cluster: &Cluster,
        contact: &ClusterContact,
        t: f64,
        recorder: &mut impl Recorder,
    ) {
        let impulse = dynamics.contact_impulse(&contact.key.pair, t).map_or(0.0, |(sum, _)| sum);
        let energy = self.ledger.energy();
        let event = self.event(dynamics, cluster, contact, Kind::Slip, t, [energy, energy]);
        self.report(dynamics, cluster, &[Event { impulse, ..event }], recorder);
    }

    /// Audits an event by the states before and after.
    pub fn audit_event(&mut self, dynamics: &Dynamics, cluster: &Cluster, impact: bool) {
        let context =
            AuditContext { event: self.counts.events, size: 1.0, impact, few: has_few_bodies(dynamics) };
        cluster.audit(&dynamics.world, &mut self.ledger, context);
    }

    /// What every kind of event reports of a contact.
    fn event(
        &self,
        dynamics: &Dynamics,
        cluster: &Cluster,
        contact: &ClusterContact,
        kind: Kind,
        t: f64,
        energies: [f64; 2],
    ) -> Event {
        let context = EventContext {
            number: self.counts.events,
            time: dynamics.clock.absolute(t),
            time_error: contact.key.error,
            energies,
        };
        cluster.event(contact, kind, &context)
    }

    /// Counts an event and hands it to the recorder.
    fn report(
        &mut self,
        dynamics: &Dynamics,
        cluster: &Cluster,
        events: &[Event],
        recorder: &mut impl Recorder,
    ) {
        let Some(Event { number, time, .. }) = events.first() else { return };
        self.count(events);
        if recorder.wants_states() {
            recorder.samples(&states_around(dynamics, cluster, *number, *time));
        }
        recorder.events(events);
    }

    fn count(&mut self, events: &[Event]) {
        let any = |kind: Kind| u64::from(events.iter().any(|event| event.kind == kind));
        self.counts.events += 1;
        self.counts.impacts += any(Kind::Impact).max(any(Kind::Rest));
        self.counts.grazes += any(Kind::Graze);
        self.counts.holds += any(Kind::HoldBegin).max(any(Kind::Rest));
    }

    /// Checks totals against the ledger, often enough for every event to be near a check, seldom enough to cost little; and audits all
    /// pairs, at every event if bodies are few.
    pub fn audit_periodically(&mut self, dynamics: &mut Dynamics) {
        let bodies = dynamics.motions.len();
        let every = |events: usize| self.counts.events.is_multiple_of(events.max(1) as u64);
        let pairs = has_few_bodies(dynamics) || every(AUDIT_INTERVAL * bodies);
        let totals = every(bodies / 8);
        if pairs {
            self.audit_pairs(dynamics, dynamics.clock.now);
        }
        if totals {
            self.check(dynamics);
        }
    }

    /// Audits the gaps of all pairs at a time on the present trajectories.
    pub fn audit_pairs(&mut self, dynamics: &Dynamics, t: f64) {
        let states: Vec<State> = dynamics.bodies().map(|body| dynamics.state(body, t)).collect();
        let world = &dynamics.world;
        let World { bodies, radius, planes, periodic, .. } = world;
        let around = Surroundings { bodies, radii: radius, states: &states, planes, periodic: *periodic };
        let audit = PairAudit {
            time: dynamics.clock.absolute(t),
            event: self.counts.events,
            always: has_few_bodies(dynamics),
            unilateral: world.options.law.promises_admissible(),
        };
        let interpenetrates = |sides: [Side; 2], image: &Vector3<f64>| {
            let here = |pair: &Pair| pair.sides() == sides && pair.shift(world) == *image;
            let Side::Body(second) = sides[1] else { return false };
            let mut contacts = dynamics.contacts.of(second);
            contacts.any(|(pair, how)| how == Persistence::Interpenetrating && here(&pair))
        };
        // Overlaps of time steps are reported with these.
        let stepped = |sides: [Side; 2], image: &Vector3<f64>| {
            let here = |pair: &Pair| pair.sides() == sides && pair.shift(world) == *image;
            let Side::Body(second) = sides[1] else { return false };
            let active = |how: Persistence| match how {
                Persistence::Active(number) => dynamics.groups.named(number).stepping.is_some(),
                Persistence::Inactive | Persistence::Interpenetrating => false,
            };
            dynamics.contacts.of(second).any(|(pair, how)| active(how) && here(&pair))
        };
        let joined = |sides: [Side; 2], image: &Vector3<f64>| {
            !world.joints.is_empty() && *image == Vector3::zeros() && world.joined(sides)
        };
        let may_overlap = |sides: [Side; 2], image: &Vector3<f64>| {
            joined(sides, image) || interpenetrates(sides, image) || stepped(sides, image)
        };
        self.ledger.audit_pairs(world, &around, audit, may_overlap);
        self.pairs_audited = self.counts.events;
    }

    /// Audits all pairs after a dense-output step, if bodies are few.
    pub fn audit_pairs_of_few(&mut self, dynamics: &Dynamics) {
        if has_few_bodies(dynamics) {
            self.audit_pairs(dynamics, dynamics.clock.now);
        }
    }

    /// Audits all pairs at a sample, unless they are many and have hardly moved since the last time.
    pub fn audit_pairs_at_sample(&mut self, dynamics: &Dynamics, t: f64) {
        let bodies = dynamics.motions.len() as u64;
        if has_few_bodies(dynamics) || self.counts.events >= self.pairs_audited + 4 * bodies {
            self.audit_pairs(dynamics, t);
        }
    }

    /// Checks totals against the ledger.
    pub fn check(&mut self, dynamics: &mut Dynamics) {
        let t = dynamics.clock.now;
        for number in dynamics.groups.numbers() {
            self.book_work(dynamics, number, t);
        }
        let states = dynamics.states(t);
        if self.unbalanced {
            self.ledger.reopen_momentum(&dynamics.world, &states, dynamics.time());
            self.unbalanced = dynamics.has_external_forces();
        }
        self.ledger.check(&dynamics.world, &states, dynamics.time(), self.counts.events);
        for group in dynamics.groups.iter() {
            let Some(errors) = group.joint_errors(t) else { continue };
            let sizes = dynamics.size_and_speed(&group.bodies, t);
            for error in errors {
                self.ledger.note_joint(error.position, error.velocity, sizes, self.counts.events);
            }
        }
    }

    /// Books the work that friction, dampers and other forces without a potential have done in a group's present step up to a time, with
    /// what its joints have shown there.
    pub fn book_work(&mut self, dynamics: &mut Dynamics, number: u32, t: f64) {
        if let Some(group) = dynamics.groups.get(number) {
            self.demands.note_step(dynamics, group, t);
            self.singular.note_step(dynamics, group, t);
        }
        if let Some(group) = dynamics.groups.get_mut(number) {
            let at = group.local(t);
            let work = match group.stepping {
                // Time steps do not keep the energy: all that they change is booked.
                Some(_) => group.flow.energy(&group.states(t)) - group.flow.energy(&group.origin),
                None => {
                    let friction = (0..group.pairs.len()).map(|k| group.step.friction_work(k, at));
                    friction.sum::<f64>() + group.flow.load_work(&group.step, at)
                }
            };
            if work != group.booked {
                self.ledger.book_work(work - group.booked);
                group.booked = work;
            }
        }
    }

    /// Books the slips that were stopped where a group's step begins.
    pub fn book_stopped_slips(&mut self, group: &Group) {
        let StoppedSlips { count, energy, speed_max } = group.step.stopped;
        if count > 0 {
            self.ledger.book_rest(Rest { count, energy, speed_max });
        }
    }

    /// Notes how far the end of a group's step was off its joints before projection.
    pub fn note_drift(&mut self, dynamics: &Dynamics, number: u32) {
        let Some(group) = dynamics.groups.get(number).filter(|group| !group.joints.is_empty()) else {
            return;
        };
        let (sizes, [position, velocity]) =
            (dynamics.size_and_speed(&group.bodies, group.end()), group.drift());
        self.ledger.note_joint(position, velocity, sizes, self.counts.events);
    }
}

/// Whether there are so few bodies that all pairs are audited at every event.
fn has_few_bodies(dynamics: &Dynamics) -> bool {
    dynamics.motions.len() <= FEW
}

/// The states of a cluster's movable bodies before and after an event.
fn states_around(dynamics: &Dynamics, cluster: &Cluster, number: u64, time: f64) -> Vec<Sample> {
    let mut samples = Vec::with_capacity(2 * cluster.bodies.len());
    for (moment, states) in
        [(Moment::Before(number), &cluster.before), (Moment::After(number), &cluster.after)]
    {
        for (&body, state) in cluster.bodies.iter().zip(states) {
            if dynamics.world.bodies[body].fixed {
                continue;
            }
            let mut state = *state;
            state.position -= dynamics.world.boxes(dynamics.motions[body].boxes);
            samples.push(Sample { time, moment, body, state });
        }
    }
    samples
}
