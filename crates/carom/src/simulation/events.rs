//! What is told of an event: to the ledger, to the recorder, and to the counts.

use std::sync::Arc;

use nalgebra::Vector3;

use super::Simulation;
use super::queue::Party;
use super::touch::{Cluster, Encounter};
use super::verdict::Verdict;
use crate::contact::{Side, Surface};
use crate::record::{Blow, Event, JointImpulse, Kind, Moment, Recorder, Sample};

impl Simulation {
    /// Events, samples before and after, and the ledger.
    /// Returns whether there was anything to record.
    pub(super) fn record(
        &mut self,
        cluster: &Cluster,
        closing: bool,
        verdicts: &[Verdict],
        t: f64,
        recorder: &mut impl Recorder,
    ) -> bool {
        let number = self.counts.events;
        let energy_before = self.ledger.energy();
        let mut change = 0.0;
        for (i, &body) in cluster.bodies.iter().enumerate() {
            change +=
                self.world.energy(body, &cluster.after[i]) - self.world.energy(body, &cluster.before[i]);
        }
        self.ledger.take_energy(change, number);
        let energy_after = self.ledger.energy();
        let tied = cluster.bodies.iter().any(|&body| self.world.tied(body));
        let mut events = Vec::new();
        for (contact, verdict) in cluster.contacts.iter().zip(verdicts) {
            let sides = Self::sides(&contact.pair);
            let external = match sides {
                [Side::Plane(_), _] => Some(1.0),
                [Side::Body(one), Side::Body(two)] => {
                    let fixed = [one, two].map(|body| self.world.bodies[body].fixed);
                    if fixed[0] { Some(1.0) } else { fixed[1].then_some(-1.0) }
                }
                _ => None,
            };
            if let Some(sign) = external {
                let point = self.meeting_point(contact);
                self.ledger.take_impulse(&(contact.impulse_vector * sign), &point);
            }
            if closing && contact.impulse != 0.0 {
                let (impulse_vector, between) = (contact.impulse_vector, self.between(cluster, contact));
                recorder.blow(&Blow { sides, impulse_vector, between });
            }
            let (restitution, surface) = self.world.answer(sides);
            if closing && cluster.contacts.len() == 1 && surface == Surface::Smooth && !contact.rests {
                let met = (contact.separation + restitution * contact.before.v) / contact.before.v;
                self.ledger.audit.restitution_error_max.note(met.abs(), number);
            }
            let held = self.held_impulse(&contact.pair, t);
            for (kind, class) in verdict.kinds(contact, closing) {
                let (impulse, impulse_vector, force_slope) = match (kind, held) {
                    (Kind::Impact | Kind::Rest, _) => (contact.impulse, contact.impulse_vector, None),
                    (Kind::HoldEnd, Some((sum, slope))) => (sum, Vector3::zeros(), slope),
                    _ => (0.0, Vector3::zeros(), verdict.force_slope),
                };
                events.push(Event {
                    impulse,
                    impulse_vector,
                    class,
                    g2: verdict.g2,
                    g3: verdict.g3.filter(|_| !tied),
                    force_slope,
                    limit: verdict.limit.map(|[wait, error]| [self.clock.absolute(t + wait), error]),
                    ..self.event(contact, kind, t, [energy_before, energy_after])
                });
            }
            if cluster.slipped.contains(&contact.pair) {
                events.push(self.event(contact, Kind::Slip, t, [energy_before, energy_after]));
            }
        }
        if events.is_empty() {
            return false;
        }
        let joints: Arc<[JointImpulse]> = cluster.joints.as_slice().into();
        for event in events.iter_mut().filter(|event| matches!(event.kind, Kind::Impact | Kind::Rest)) {
            event.joints = joints.clone();
        }
        self.tell(cluster, &events, recorder);
        true
    }

    /// What there is to say of a contact at any event; the rest is to be filled in.
    pub(super) fn event(
        &self,
        contact: &Encounter,
        kind: Kind,
        t: f64,
        [energy_before, energy_after]: [f64; 2],
    ) -> Event {
        Event {
            number: self.counts.events,
            time: self.clock.absolute(t),
            time_error: contact.error,
            kind,
            sides: Self::sides(&contact.pair),
            image: contact.pair.image,
            point: self.meeting_point(contact),
            normal: contact.found.normal,
            gap: contact.found.gap,
            approach: contact.before.v,
            separation: contact.separation,
            impulse: contact.impulse,
            impulse_vector: contact.impulse_vector,
            class: "normal",
            g2: None,
            g3: None,
            force_slope: None,
            limit: None,
            joints: Arc::new([]),
            energy_before,
            energy_after,
        }
    }

    /// From the centre of a contact's first body to that of its second's image; zero for a plane.
    fn between(&self, cluster: &Cluster, contact: &Encounter) -> Vector3<f64> {
        let place = |body: u32| cluster.before[cluster.place(body as usize)].position;
        match contact.pair.first {
            Party::Plane(_) => Vector3::zeros(),
            Party::Body(first) => {
                place(contact.pair.second) + self.displacement(&contact.pair) - place(first)
            }
        }
    }

    /// Counts an event and hands it on.
    pub(super) fn tell(&mut self, cluster: &Cluster, events: &[Event], recorder: &mut impl Recorder) {
        let Some(Event { number, time, .. }) = events.first() else { return };
        self.count(events);
        if self.settings.record_events {
            self.record_states(cluster, *number, *time, recorder);
            recorder.events(events);
        }
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
                state.position -= self.world.boxes(self.movers[body].boxes);
                samples.push(Sample { time, moment, body, state });
            }
        }
        recorder.samples(&samples);
    }

    /// The whole against the ledger, often enough for every event to be near a check, seldom enough to cost little.
    pub(super) fn audit_now_and_then(&mut self) {
        let every = (self.movers.len() / 8).max(1) as u64;
        if self.counts.events.is_multiple_of(every) {
            self.check();
        }
    }
}
