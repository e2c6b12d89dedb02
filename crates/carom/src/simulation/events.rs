//! What is told of an event: to the ledger, to the recorder, and to the counts.

use std::sync::Arc;

use nalgebra::Vector3;

use super::queue::{Pair, Party};
use super::touch::{Cluster, Encounter};
use super::verdict::{Standing, Verdict};
use super::{Simulation, World};
use crate::audit;
use crate::audit::event::{Carried, Member, Struck, examine};
use crate::audit::pairs::Surroundings;
use crate::body::State;
use crate::contact::Side;
use crate::record::{Blow, Event, JointImpulse, Kind, Moment, Recorder, Sample};
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
        verdicts: &[Verdict],
        t: f64,
        recorder: &mut impl Recorder,
    ) -> bool {
        let energy_before = self.ledger.energy();
        self.audit_event(cluster, closing);
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

    /// Checks an event by the states before and after, and takes its energy into the ledger: that of its impulses' work, so that the
    /// ledger does not drift with the bodies.
    pub(super) fn audit_event(&mut self, cluster: &Cluster, closing: bool) {
        let members: Vec<Member> = (cluster.bodies.iter().zip(&cluster.before).zip(&cluster.after))
            .map(|((&body, before), after)| Member {
                body: &self.world.bodies[body],
                before: *before,
                after: *after,
            })
            .collect();
        let contacts: Vec<Struck> =
            cluster.contacts.iter().map(|contact| self.struck(cluster, contact)).collect();
        let carried = |result: &JointImpulse| {
            let bodies = &self.world.joints[result.joint].bodies;
            Carried {
                first: cluster.place(bodies[0]),
                second: bodies.get(1).map(|&body| cluster.place(body)),
                linear: result.linear,
                angular: result.angular,
                point: result.point,
            }
        };
        let joints: Vec<Carried> = cluster.joints.iter().map(carried).collect();
        let event = audit::event::Event {
            members: &members,
            planes: &self.world.planes,
            contacts: &contacts,
            joints: &joints,
            size: 1.0,
            impact: closing,
            unilateral: closing && self.world.options.law.promises_admissible(),
        };
        let findings = examine(&event);
        let expected = event.expected_work();
        let sides = |k: usize| cluster.contacts.get(k).map_or([Side::Plane(0); 2], |c| Self::sides(&c.pair));
        let number = self.counts.events;
        self.ledger.take_findings(&findings, sides, number);
        self.ledger.see_energy(findings.kinetic_energy);
        self.ledger.take_energy_as(expected, findings.energy_change, number);
        self.ledger.see_gain(findings.energy_change, number);
        if self.is_few() {
            self.ledger.struck.extend_from_slice(&cluster.bodies);
        }
    }

    /// A contact for the audit.
    pub(super) fn struck(&self, cluster: &Cluster, contact: &Encounter) -> Struck {
        let sides = Self::sides(&contact.pair);
        let (restitution, surface) = self.world.answer(sides);
        let found = &contact.found;
        let rolls = self.rolling.contains_key(&contact.pair) && !cluster.slipped.contains(&contact.pair);
        Struck {
            sides: sides.map(|side| match side {
                Side::Body(body) => Side::Body(cluster.place(body)),
                Side::Plane(k) => Side::Plane(k),
            }),
            image: self.displacement(&contact.pair),
            points: match contact.pair.first {
                // The gap to a plane has the body's point first.
                Party::Plane(_) => [found.points[1], found.points[0]],
                Party::Body(_) => found.points,
            },
            normal: found.normal,
            gap: found.gap,
            impulse: if rolls { Vector3::zeros() } else { contact.impulse_vector },
            restitution: if contact.rests { 0.0 } else { restitution },
            surface,
            growing: 0.0,
        }
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

    /// The whole against the ledger, often enough for every event to be near a check, seldom enough to cost little; and all pairs,
    /// at every event where bodies are few.
    pub(super) fn audit_now_and_then(&mut self) {
        let bodies = self.movers.len();
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
        self.movers.len() <= FEW
    }

    /// Looks at all pairs at a time on the present courses.
    pub(super) fn look_around(&mut self, t: f64) {
        let states: Vec<State> = (0..self.movers.len()).map(|body| self.state(body, t)).collect();
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
            standing.iter().any(|(pair, standing)| *standing == Standing::Passing && here(pair))
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
        let bodies = self.movers.len() as u64;
        if self.is_few() || self.counts.events >= self.looked + 4 * bodies {
            self.look_around(t);
        }
    }
}
