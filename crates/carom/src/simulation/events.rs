//! What is told of an event: to the ledger, to the recorder, and to the counts.

use std::sync::Arc;

use nalgebra::Vector3;

use super::contact_event::{Cluster, Encounter};
use super::queue::Pair;
use super::resolution::{ContactResolution, Persistence};
use super::{Simulation, World};
use crate::audit::pairs::Surroundings;
use crate::body::State;
use crate::collision::{Audited, Told};
use crate::contact::Side;
use crate::record::{Event, JointImpulse, Kind, Moment, Recorder, Sample};
use crate::run::ledger::Look;

/// Up to so many bodies all pairs are looked at in every event and sample.
const FEW: usize = 16;

/// Events of each body between two looks at all pairs where they are more.
const MANY_LOOK: usize = 4;

impl Simulation {
    /// Events, samples before and after, and the ledger.
    /// Returns whether there was anything to record.
    pub(super) fn record(
        &mut self,
        cluster: &Cluster,
        closing: bool,
        resolutions: &[ContactResolution],
        t: f64,
        recorder: &mut impl Recorder,
    ) -> bool {
        let energy_before = self.ledger.energy();
        self.audit_event(cluster, closing);
        let energy_after = self.ledger.energy();
        cluster.book_external(&self.world, &mut self.ledger);
        let energies = [energy_before, energy_after];
        let tied = cluster.bodies.iter().any(|&body| self.world.constrained(body));
        let mut events = Vec::new();
        for (contact, resolution) in cluster.contacts.iter().zip(resolutions) {
            let held = self.held_impulse(&contact.key.pair, t);
            for (kind, class) in resolution.kinds(contact, closing) {
                let (impulse, impulse_vector, force_slope) = match (kind, held) {
                    (Kind::Impact | Kind::Rest, _) => (contact.impulse, contact.impulse_vector, None),
                    (Kind::HoldEnd, Some((sum, slope))) => (sum, Vector3::zeros(), slope),
                    _ => (0.0, Vector3::zeros(), resolution.force_slope),
                };
                events.push(Event {
                    impulse,
                    impulse_vector,
                    class,
                    g2: resolution.g2,
                    g3: resolution.g3.filter(|_| !tied),
                    force_slope,
                    limit: resolution.limit.map(|[wait, error]| [self.clock.absolute(t + wait), error]),
                    ..self.event(cluster, contact, kind, t, energies)
                });
            }
            if contact.key.slipped {
                events.push(self.event(cluster, contact, Kind::Slip, t, energies));
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
        self.tell(cluster, &events, recorder);
        true
    }

    /// Checks an event by the states before and after.
    pub(super) fn audit_event(&mut self, cluster: &Cluster, impact: bool) {
        let audited = Audited { event: self.counts.events, size: 1.0, impact, few: self.is_few() };
        cluster.audit(&self.world, &mut self.ledger, audited);
    }

    /// What there is to say of a contact at any event; the rest is to be filled in.
    pub(super) fn event(
        &self,
        cluster: &Cluster,
        contact: &Encounter,
        kind: Kind,
        t: f64,
        energies: [f64; 2],
    ) -> Event {
        let told = Told {
            number: self.counts.events,
            time: self.clock.absolute(t),
            time_error: contact.key.error,
            energies,
        };
        cluster.event(contact, kind, &told)
    }

    /// Counts an event and hands it on.
    pub(super) fn tell(&mut self, cluster: &Cluster, events: &[Event], recorder: &mut impl Recorder) {
        let Some(Event { number, time, .. }) = events.first() else { return };
        self.count(events);
        if recorder.wants_states() {
            self.record_states(cluster, *number, *time, recorder);
        }
        recorder.events(events);
    }

    pub(super) fn count(&mut self, events: &[Event]) {
        let any = |kind: Kind| u64::from(events.iter().any(|event| event.kind == kind));
        self.counts.events += 1;
        self.counts.impacts += any(Kind::Impact).max(any(Kind::Rest));
        self.counts.grazes += any(Kind::Graze);
        self.counts.holds += any(Kind::HoldBegin).max(any(Kind::Rest));
    }

    fn record_states(&self, cluster: &Cluster, number: u64, time: f64, recorder: &mut impl Recorder) {
        let mut samples = Vec::with_capacity(2 * cluster.bodies.len());
        for (moment, states) in
            [(Moment::Before(number), &cluster.before), (Moment::After(number), &cluster.after)]
        {
            for (&body, state) in cluster.bodies.iter().zip(states) {
                if self.world.bodies[body].fixed {
                    continue;
                }
                let mut state = *state;
                state.position -= self.world.boxes(self.motions[body].boxes);
                samples.push(Sample { time, moment, body, state });
            }
        }
        recorder.samples(&samples);
    }

    /// Checks totals against the ledger, often enough for every event to be near a check, seldom enough to cost little; and all pairs,
    /// at every event where bodies are few.
    pub(super) fn audit_now_and_then(&mut self) {
        let bodies = self.motions.len();
        let often = |events: usize| self.counts.events.is_multiple_of(events.max(1) as u64);
        let (looks, checks) = (self.is_few() || often(MANY_LOOK * bodies), often(bodies / 8));
        if looks {
            self.look_around(self.clock.now);
        }
        if checks {
            self.check();
        }
    }

    /// Whether there are so few bodies that all pairs are looked at in every event.
    pub(super) fn is_few(&self) -> bool {
        self.motions.len() <= FEW
    }

    /// Looks at all pairs at a time on the present courses.
    pub(super) fn look_around(&mut self, t: f64) {
        let states: Vec<State> = (0..self.motions.len()).map(|body| self.state(body, t)).collect();
        let World { bodies, radius, planes, periodic, .. } = &self.world;
        let around = Surroundings { bodies, radii: radius, states: &states, planes, periodic: *periodic };
        let look = Look {
            time: self.clock.absolute(t),
            event: self.counts.events,
            always: self.is_few(),
            unilateral: self.world.options.law.promises_admissible(),
        };
        let (world, standing) = (&self.world, &self.standing);
        let passes = |sides: [Side; 2], image: &Vector3<f64>| {
            let here = |pair: &Pair| Self::sides(pair) == sides && world.boxes(pair.image) == *image;
            standing.iter().any(|(pair, standing)| *standing == Persistence::Passing && here(pair))
        };
        let joined = |sides: [Side; 2], image: &Vector3<f64>| {
            !world.joints.is_empty() && *image == Vector3::zeros() && world.joined(sides)
        };
        self.ledger
            .look_around(world, &around, look, |sides, image| joined(sides, image) || passes(sides, image));
        self.looked = self.counts.events;
    }

    /// Looks at all pairs at a sample, unless they are many and have hardly moved since the last time.
    pub(super) fn look_at_sample(&mut self, t: f64) {
        let bodies = self.motions.len() as u64;
        if self.is_few() || self.counts.events >= self.looked + 4 * bodies {
            self.look_around(t);
        }
    }
}
