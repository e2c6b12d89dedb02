//! The bodies and contacts of one impact that goes by the states of the bodies: one contact, or all that touch at the same time.

use nalgebra::Vector3;

use super::contact_event::ContactPair;
use super::next_event::{NextEvent, PLANE};
use super::predict::Parted;
use super::rotation::Spin;
use super::speculate::{SpeculationFailure, SpeculativeEvent};
use super::storage::Line;
use super::{Cause, Edmd, Stopped};
use crate::collision::{self, AuditContext, EventContext};
use crate::contact::Side;
use crate::contact::kinematics::{Facing, Moving, kinematics};
use crate::motion::Derivatives;
use crate::record::{Event, Kind, Recorder};
use crate::run::tolerances::{GAP_ROUNDING, SIMULTANEOUS, STILL};

/// An approach beyond this share of the speeds is no graze: there the gap changes by more than rounding, however the bodies curve.
const GRAZING: f64 = 1e-5;

pub(super) type ClusterContact = collision::ClusterContact<ContactPair>;

pub(super) type Cluster = collision::Cluster<ContactPair>;

impl Edmd {
    /// The contact of a pair with the states of a cluster.
    pub(super) fn encounter(&self, pair: &ContactPair, t: f64, cluster: &Cluster) -> Option<ClusterContact> {
        let state = |i: u32| cluster.before[cluster.place(self.name(i))];
        let found = self.gap_of(pair, t, &state)?;
        let [first, second] =
            if pair.first >= PLANE { [found.points[1], found.points[0]] } else { found.points };
        let shift = self.images.shift(pair.image);
        let there = state(pair.second);
        let arm = second - there.position - shift;
        let mut speed = found.normal.dot(&(there.velocity + there.angular_velocity.cross(&arm)));
        let mut reach = found.normal.dot(&arm);
        if pair.first < PLANE {
            let here = state(pair.first);
            let arm = first - here.position;
            speed -= found.normal.dot(&(here.velocity + here.angular_velocity.cross(&arm)));
            reach -= found.normal.dot(&arm);
        }
        let growing = -reach * self.settings.growth / self.size_at(t);
        let approach = speed - growing;
        let (restitution, surface, _) = self.answer(pair, t);
        Some(ClusterContact {
            key: *pair,
            sides: self.sides(pair),
            image: self.images.boxes(pair.image),
            shift: *shift,
            found,
            restitution,
            surface,
            growing,
            approach,
            separation: approach,
            impulse: 0.0,
            impulse_vector: Vector3::zeros(),
            by_joint: false,
        })
    }

    /// The speeds at a contact.
    pub(super) fn speed(&self, pair: &ContactPair, cluster: &Cluster) -> f64 {
        let of = |i: u32| {
            if i >= PLANE {
                return 0.0;
            }
            let state = &cluster.before[cluster.place(self.name(i))];
            let growth = self.settings.growth.abs();
            state.velocity.norm() + (state.angular_velocity.norm() + growth) * self.radius(i as usize)
        };
        of(pair.first) + of(pair.second)
    }

    /// Any one contact; as speculative, if it was.
    pub(super) fn resolve_contact(
        &mut self,
        pair: &ContactPair,
        [sinks, soon]: [bool; 2],
        t: f64,
        speculative: Option<&mut SpeculativeEvent>,
        recorder: &mut impl Recorder,
    ) {
        if let Some(speculative) = speculative {
            return self.resolve_as_speculated(pair, [sinks, soon], t, speculative, recorder);
        }
        let mut speculative = std::mem::take(&mut self.scratch.speculative);
        match self.speculate_contact(pair, t, &mut speculative) {
            Ok(()) => self.resolve_as_speculated(pair, [sinks, soon], t, &mut speculative, recorder),
            // It would be due again at once, for ever.
            Err(SpeculationFailure::Gapless) => self.lose(self.sides(pair), Cause::Search),
            Err(SpeculationFailure::Collapsed) => {
                self.stopped.get_or_insert(Stopped::Stalled);
            }
            Err(SpeculationFailure::Lawless) => self.lose(self.sides(pair), Cause::Law),
        }
        self.scratch.speculative = speculative;
    }

    /// All contacts that belong with one, as one impact. False if there is only that one.
    #[cold]
    pub(super) fn resolve_cluster(
        &mut self,
        pair: &ContactPair,
        t: f64,
        recorder: &mut impl Recorder,
    ) -> bool {
        let mut cluster = Cluster::default();
        self.take_in(&mut cluster, pair, t);
        let Some(first) = self.encounter(pair, t, &cluster) else { return false };
        let patience = SIMULTANEOUS * self.clock.passage();
        let error = self.level(pair, t) / first.approach.abs();
        cluster.contacts.push(first);
        let mut next = 0;
        while let Some(&body) = cluster.bodies.get(next) {
            next += 1;
            let body = self.place[body] as usize;
            for k in 0..self.links(body).len() {
                let link = self.links(body)[k];
                let other = self.pair(body, link.with, link.image);
                if cluster.contacts.iter().any(|contact| contact.key == other)
                    || self.near_gap(&other, t, super::predict::CLOSE).is_none()
                {
                    continue;
                }
                let count = cluster.bodies.len();
                self.take_in(&mut cluster, &other, t);
                let contact = self.encounter(&other, t, &cluster);
                let belongs = contact.filter(|contact| {
                    let (gap, level) = (contact.found.gap, self.level(&other, t));
                    let still = STILL * self.speed(&other, &cluster);
                    let late = -gap.max(0.0) / contact.approach;
                    // What touches at the start is dealt with first, whether it closes or leaves.
                    let touches = gap <= level && (contact.approach <= still || self.clock.epoch + t == 0.0);
                    let soon = contact.approach < -still
                        && late <= (error + level / -contact.approach).min(patience);
                    touches || soon
                });
                match belongs {
                    Some(contact) => cluster.contacts.push(contact),
                    None => {
                        cluster.bodies.truncate(count);
                        cluster.before.truncate(count);
                        cluster.after.truncate(count);
                    }
                }
            }
        }
        if cluster.contacts.len() < 2 {
            return false;
        }
        // In an order that does not depend on how they were found.
        cluster.contacts.sort_by_key(|contact| {
            let ContactPair { first, second, image } = contact.key;
            let first = if first >= PLANE { (0, first as usize) } else { (1, self.name(first)) };
            (first, self.name(second), image)
        });
        if !cluster.resolve(&self.world) {
            self.lose(self.sides(pair), Cause::Law);
            return true;
        }
        self.counts.clusters += 1;
        for k in 0..cluster.bodies.len() {
            self.clear_next_event(self.place[cluster.bodies[k]]);
        }
        self.launch(&cluster, t);
        self.go_on(&cluster, t);
        self.scratch.close.clear();
        // Some laws leave contacts closing: those go on at once.
        for k in 0..cluster.contacts.len() {
            let contact = cluster.contacts[k];
            if contact.separation < -STILL * self.speed(&contact.key, &cluster) {
                let ContactPair { first, second, image } = contact.key;
                let due = |with, image| NextEvent { time: t, with, image, sinks: false };
                if first >= PLANE {
                    self.set_next_event(second, due(first, image));
                } else {
                    self.schedule(first, due(second, image));
                }
            }
        }
        self.record(&cluster, t, recorder);
        true
    }

    /// Adds the bodies of a pair to a cluster.
    pub(super) fn take_in(&self, cluster: &mut Cluster, pair: &ContactPair, t: f64) {
        for i in [pair.first, pair.second] {
            if i < PLANE && !cluster.bodies.contains(&self.name(i)) {
                let state = self.state(i as usize, t);
                cluster.bodies.push(self.name(i));
                cluster.before.push(state);
                cluster.after.push(state);
            }
        }
    }

    /// Sets everyone of a cluster on a new course.
    fn launch(&mut self, cluster: &Cluster, t: f64) {
        for ((&body, before), after) in cluster.bodies.iter().zip(&cluster.before).zip(&cluster.after) {
            let i = self.place[body];
            if self.shape_class(i).is_fixed() {
                continue;
            }
            if before.angular_velocity != after.angular_velocity {
                let spin = Spin::new(self.body(i), after, t);
                self.spins.set(i as usize, &spin);
            }
            let i = i as usize;
            self.hot[i].line = Line { position: before.position, velocity: after.velocity, since: t };
            self.cold[i].last = t;
            self.follow_path(i, t);
        }
    }

    /// Everyone of a cluster looks for the next event, contacts of the cluster counting as just left.
    fn go_on(&mut self, cluster: &Cluster, t: f64) {
        let mut parted: Vec<Parted> = Vec::new();
        for &body in &cluster.bodies {
            let i = self.place[body];
            parted.clear();
            for contact in &cluster.contacts {
                let ContactPair { first, second, image } = contact.key;
                if first == i {
                    parted.push(Parted { with: second, image, normal: contact.found.normal });
                } else if second == i {
                    let image = if first >= PLANE { image } else { self.images.opposite(image) };
                    parted.push(Parted { with: first, image, normal: -contact.found.normal });
                }
            }
            self.predict(i as usize, t, &parted);
        }
    }

    /// The ledger and the recorder are told of an impact.
    pub(super) fn record(&mut self, cluster: &Cluster, t: f64, recorder: &mut impl Recorder) {
        let energy_before = self.ledger.energy();
        let number = self.counts.events;
        self.audit_event(cluster, t);
        // The time is that of a contact that closes: one that merely touches was there before.
        let closing = cluster.contacts.iter().filter(|contact| self.closes(contact, cluster));
        let bound = |contact: &ClusterContact| {
            (self.level(&contact.key, t) + contact.found.gap.abs()) / -contact.approach
        };
        let told = EventContext {
            number,
            time: self.clock.epoch + t,
            time_error: closing.map(bound).fold(0.0, f64::max),
            energies: [energy_before, self.ledger.energy()],
        };
        cluster.book_external(&self.world, &mut self.ledger);
        for contact in &cluster.contacts {
            self.ledger.note_gap(contact.found.gap, number);
        }
        // Those that touch take part, and are told of where they did something.
        let tells = |contact: &&ClusterContact| contact.impulse != 0.0 || self.closes(contact, cluster);
        let event = |contact: &ClusterContact| cluster.event(contact, Kind::Impact, &told);
        let count = match &cluster.contacts[..] {
            [contact] => {
                recorder.events(&[event(contact)]);
                1
            }
            contacts => {
                let events: Vec<Event> = contacts.iter().filter(tells).map(event).collect();
                recorder.events(&events);
                events.len() as u64
            }
        };
        self.counts.collisions += count;
        self.counts.events += count.min(1);
        self.counts.impacts += count.min(1);
    }

    /// Whether a contact closes by more than rounding, of its velocities and of its gap: where bodies part by themselves before the gap has
    /// changed by that, they graze.
    pub(super) fn closes(&self, contact: &ClusterContact, cluster: &Cluster) -> bool {
        let speed = self.speed(&contact.key, cluster);
        contact.approach < -STILL * speed
            && (contact.approach < -GRAZING * speed || !self.grazes(contact, cluster))
    }

    /// Whether g'² < 2 g'' times the rounding of the gap.
    #[cold]
    fn grazes(&self, contact: &ClusterContact, cluster: &Cluster) -> bool {
        if self.settings.growth != 0.0 {
            return false;
        }
        let moving = |body: usize, shift: &Vector3<f64>| {
            let (constants, mut state) = (&self.world.bodies[body], cluster.before[cluster.place(body)]);
            let derivatives = Derivatives::new(constants, &state, &self.world.gravity);
            state.position += shift;
            Moving { shape: &constants.shape, state, derivatives }
        };
        let [first, Side::Body(second)] = contact.sides else { return false };
        let first = match first {
            Side::Plane(k) => Facing::Plane(&self.world.planes[k]),
            Side::Body(body) => Facing::Body(moving(body, &Vector3::zeros())),
        };
        let g2 = kinematics(&first, &moving(second, &contact.shift), &contact.found).g2;
        let level = GAP_ROUNDING * (self.size_of(&contact.key, 0.0) + contact.point().norm());
        contact.approach * contact.approach < 2.0 * level * g2
    }

    /// Checks an impact by the states before and after, and takes its energy into the ledger.
    pub(super) fn audit_event(&mut self, cluster: &Cluster, t: f64) {
        let (event, few) = (self.counts.events, self.is_few());
        let audited = AuditContext { event, size: self.size_at(t), impact: true, few };
        cluster.audit(&self.world, &mut self.ledger, audited);
    }
}
