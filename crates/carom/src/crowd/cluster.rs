//! The bodies and contacts of one impact that goes by the states of the bodies: one contact, or all that touch at the same time.

use nalgebra::Vector3;

use super::course::Spin;
use super::due::{Due, PLANE};
use super::foresee::{Foreseen, Unforeseen};
use super::kept::Line;
use super::predict::Parted;
use super::touch::{Met, STILL};
use super::{Cause, Collision, Crowd, Stopped, Watcher};
use crate::audit::event::{Event, Member, Struck, examine};
use crate::body::State;
use crate::contact::Side;
use crate::gap::Gap;

/// Contacts further apart in time than this, in epochs, are not simultaneous.
const SIMULTANEOUS: f64 = 1e-12;

/// A contact with the states of its bodies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Encounter {
    pub met: Met,
    pub found: Gap,
    pub approach: f64,
    /// What part of it is growth.
    pub growing: f64,
    pub separation: f64,
    pub impulse: f64,
    pub impulse_vector: Vector3<f64>,
    pub restitution: f64,
}

/// The bodies and contacts of one impact.
#[derive(Debug, Clone, Default)]
pub(super) struct Cluster {
    pub bodies: Vec<u32>,
    pub before: Vec<State>,
    pub after: Vec<State>,
    pub contacts: Vec<Encounter>,
}

impl Cluster {
    pub fn clear(&mut self) {
        self.bodies.clear();
        self.before.clear();
        self.after.clear();
        self.contacts.clear();
    }

    pub fn place(&self, body: u32) -> usize {
        // Clusters are small; a body of a contact is always in its cluster.
        self.bodies.iter().position(|&b| b == body).unwrap_or(0)
    }
}

impl Crowd {
    /// The contact of a pair with the states of a cluster.
    pub(super) fn encounter(&self, met: &Met, t: f64, cluster: &Cluster) -> Option<Encounter> {
        let state = |i: u32| cluster.before[cluster.place(i)];
        let found = self.gap_of(met, t, &state)?;
        let [first, second] = self.ends(met, &found);
        let shift = self.images.shift(met.image);
        let there = state(met.second);
        let arm = second - there.position - shift;
        let mut speed = found.normal.dot(&(there.velocity + there.angular_velocity.cross(&arm)));
        let mut reach = found.normal.dot(&arm);
        if met.first < PLANE {
            let here = state(met.first);
            let arm = first - here.position;
            speed -= found.normal.dot(&(here.velocity + here.angular_velocity.cross(&arm)));
            reach -= found.normal.dot(&arm);
        }
        let growing = -reach * self.settings.growth / self.size_at(t);
        let approach = speed - growing;
        let (restitution, ..) = self.answer(met, t);
        Some(Encounter {
            met: *met,
            found,
            approach,
            growing,
            separation: approach,
            impulse: 0.0,
            impulse_vector: Vector3::zeros(),
            restitution,
        })
    }

    /// The closest points on the first and on the second.
    pub(super) fn ends(&self, met: &Met, found: &Gap) -> [Vector3<f64>; 2] {
        if met.first >= PLANE { [found.points[1], found.points[0]] } else { found.points }
    }

    /// Where a contact's impulse acts.
    pub(super) fn meeting_point(&self, contact: &Encounter) -> Vector3<f64> {
        if contact.met.first >= PLANE {
            contact.found.points[0]
        } else {
            (contact.found.points[0] + contact.found.points[1]) * 0.5
        }
    }

    /// The speeds at a contact.
    pub(super) fn speed(&self, met: &Met, cluster: &Cluster) -> f64 {
        let of = |i: u32| {
            if i >= PLANE {
                return 0.0;
            }
            let state = &cluster.before[cluster.place(i)];
            let growth = self.settings.growth.abs();
            state.velocity.norm() + (state.angular_velocity.norm() + growth) * self.radius(i as usize)
        };
        of(met.first) + of(met.second)
    }

    /// Any one contact; as foreseen, if it was.
    pub(super) fn strike(
        &mut self,
        met: &Met,
        [sinks, soon]: [bool; 2],
        t: f64,
        foreseen: Option<&mut Foreseen>,
        watcher: &mut impl Watcher,
    ) {
        if let Some(foreseen) = foreseen {
            return self.touch_as_foreseen(met, [sinks, soon], t, foreseen, watcher);
        }
        let mut foreseen = std::mem::take(&mut self.scratch.foreseen);
        match self.foresee_touch(met, t, &mut foreseen) {
            Ok(()) => self.touch_as_foreseen(met, [sinks, soon], t, &mut foreseen, watcher),
            // It would be due again at once, for ever.
            Err(Unforeseen::Gapless) => self.lose(self.sides(met), Cause::Search),
            Err(Unforeseen::Collapsed) => {
                self.stopped.get_or_insert(Stopped::Stalled);
            }
            Err(Unforeseen::Lawless) => self.lose(self.sides(met), Cause::Law),
        }
        self.scratch.foreseen = foreseen;
    }

    /// All contacts that belong with one, as one impact. False if there is only that one.
    #[cold]
    pub(super) fn strike_together(&mut self, met: &Met, t: f64, watcher: &mut impl Watcher) -> bool {
        let mut cluster = Cluster::default();
        self.take_in(&mut cluster, met, t);
        let Some(first) = self.encounter(met, t, &cluster) else { return false };
        let patience = SIMULTANEOUS * self.clock.length;
        let error = self.level(met, t) / first.approach.abs();
        cluster.contacts.push(first);
        let mut next = 0;
        while let Some(&body) = cluster.bodies.get(next) {
            next += 1;
            for k in 0..self.links(body as usize).len() {
                let link = self.links(body as usize)[k];
                let other = self.met(body as usize, link.with, link.image);
                if cluster.contacts.iter().any(|contact| contact.met == other)
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
                    let touches = gap <= level && contact.approach <= still;
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
            let first = if contact.met.first >= PLANE {
                (0, contact.met.first)
            } else {
                (1, self.cold[contact.met.first as usize].name)
            };
            (first, self.cold[contact.met.second as usize].name, contact.met.image)
        });
        if !self.apply_law(&mut cluster, t) {
            self.lose(self.sides(met), Cause::Law);
            return true;
        }
        self.counts.clusters += 1;
        for &i in &cluster.bodies {
            self.clear_due(i);
        }
        self.launch(&cluster, t);
        self.go_on(&cluster, t);
        self.scratch.close.clear();
        // Some laws leave contacts closing: those go on at once.
        for k in 0..cluster.contacts.len() {
            let contact = cluster.contacts[k];
            if contact.separation < -STILL * self.speed(&contact.met, &cluster) {
                let Met { first, second, image } = contact.met;
                let due = |with, image| Due { time: t, with, image, sinks: false };
                if first >= PLANE {
                    self.set_due(second, due(first, image));
                } else {
                    self.schedule(first, due(second, image));
                }
            }
        }
        self.record(&cluster, t, watcher);
        true
    }

    /// Adds the bodies of a pair to a cluster.
    pub(super) fn take_in(&self, cluster: &mut Cluster, met: &Met, t: f64) {
        for i in [met.first, met.second] {
            if i < PLANE && !cluster.bodies.contains(&i) {
                let state = self.state(i as usize, t);
                cluster.bodies.push(i);
                cluster.before.push(state);
                cluster.after.push(state);
            }
        }
    }

    /// Sets everyone of a cluster on a new course.
    fn launch(&mut self, cluster: &Cluster, t: f64) {
        for ((&i, before), after) in cluster.bodies.iter().zip(&cluster.before).zip(&cluster.after) {
            if self.solid(i).is_fixed() {
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
        for &i in &cluster.bodies {
            parted.clear();
            for contact in &cluster.contacts {
                let Met { first, second, image } = contact.met;
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

    /// The ledger and the watcher are told of an impact.
    pub(super) fn record(&mut self, cluster: &Cluster, t: f64, watcher: &mut impl Watcher) {
        let energy_before = self.ledger.energy();
        let number = self.counts.events();
        self.audit_event(cluster, t);
        let energy_after = self.ledger.energy();
        // The time is that of a contact that closes: one that merely touches was there before.
        let closing = cluster.contacts.iter().filter(|contact| self.closes(contact, cluster));
        let bound =
            |contact: &Encounter| (self.level(&contact.met, t) + contact.found.gap.abs()) / -contact.approach;
        let time_error = closing.map(bound).fold(0.0, f64::max);
        let mut told = 0;
        for contact in &cluster.contacts {
            let met = &contact.met;
            self.ledger.see_gap(contact.found.gap, number);
            // Those that touch take part, and are told of where they did something.
            if contact.impulse == 0.0 && !self.closes(contact, cluster) {
                continue;
            }
            let sides = self.sides(met);
            let point = self.meeting_point(contact);
            let fixed = |i: u32| i < PLANE && self.solid(i).is_fixed();
            if met.first >= PLANE || fixed(met.first) {
                self.ledger.take_impulse(&contact.impulse_vector, &point);
            } else if fixed(met.second) {
                self.ledger.take_impulse(&-contact.impulse_vector, &point);
            }
            told += 1;
            let second = cluster.before[cluster.place(met.second)].position;
            let between = if met.first >= PLANE {
                contact.found.normal * (second - contact.found.points[1]).dot(&contact.found.normal)
            } else {
                second + self.images.shift(met.image) - cluster.before[cluster.place(met.first)].position
            };
            watcher.collision(&Collision {
                number,
                time: self.clock.epoch + t,
                time_error,
                sides,
                image: self.images.boxes(met.image),
                point,
                normal: contact.found.normal,
                between,
                gap: contact.found.gap,
                approach: contact.approach,
                separation: contact.separation,
                impulse: contact.impulse,
                impulse_vector: contact.impulse_vector,
                energy_before,
                energy_after,
            });
        }
        self.counts.collisions += told;
        self.counts.shared += told.saturating_sub(1);
    }

    /// Whether a contact closes by more than rounding.
    fn closes(&self, contact: &Encounter, cluster: &Cluster) -> bool {
        contact.approach < -STILL * self.speed(&contact.met, cluster)
    }

    /// Checks an impact by the states before and after, and takes its energy into the ledger.
    pub(super) fn audit_event(&mut self, cluster: &Cluster, t: f64) {
        let member = |k: usize| Member {
            body: self.body(cluster.bodies[k]),
            before: cluster.before[k],
            after: cluster.after[k],
        };
        let contact = |contact: &Encounter| self.struck(cluster, contact, t);
        let (members, contacts): (Vec<Member>, Vec<Struck>);
        let (few_members, few_contacts);
        // One contact, which is the rule, takes no memory from the heap.
        let (members, contacts) = match (&cluster.bodies[..], &cluster.contacts[..]) {
            ([_], [one]) => {
                (few_members, few_contacts) = ([member(0), member(0)], [contact(one)]);
                (&few_members[..1], &few_contacts[..])
            }
            ([_, _], [one]) => {
                (few_members, few_contacts) = ([member(0), member(1)], [contact(one)]);
                (&few_members[..], &few_contacts[..])
            }
            _ => {
                members = (0..cluster.bodies.len()).map(member).collect();
                contacts = cluster.contacts.iter().map(contact).collect();
                (&members[..], &contacts[..])
            }
        };
        let event = Event {
            members,
            planes: &self.world.planes,
            contacts,
            joints: &[],
            size: self.size_at(t),
            impact: true,
            unilateral: self.world.options.law.promises_admissible(),
        };
        let (findings, expected) = (examine(&event), event.expected_work());
        let sides: Vec<[Side; 2]>;
        let one;
        let sides = match &cluster.contacts[..] {
            [contact] => {
                one = [self.sides(&contact.met)];
                &one[..]
            }
            contacts => {
                sides = contacts.iter().map(|contact| self.sides(&contact.met)).collect();
                &sides[..]
            }
        };
        let number = self.counts.events();
        self.ledger.take_findings(&findings, |k| sides[k], number);
        self.ledger.take_energy_as(expected, findings.energy_change, number);
        if self.is_few() {
            let names = cluster.bodies.iter().map(|&i| self.cold[i as usize].name as usize);
            self.ledger.struck.extend(names);
        }
    }

    /// A contact for the audit.
    fn struck(&self, cluster: &Cluster, contact: &Encounter, t: f64) -> Struck {
        let local = |i: u32| {
            if i >= PLANE { Side::Plane((i - PLANE) as usize) } else { Side::Body(cluster.place(i)) }
        };
        let Met { first, second, image } = contact.met;
        Struck {
            sides: [local(first), local(second)],
            image: *self.images.shift(image),
            points: self.ends(&contact.met, &contact.found),
            normal: contact.found.normal,
            gap: contact.found.gap,
            impulse: contact.impulse_vector,
            restitution: contact.restitution,
            surface: self.answer(&contact.met, t).1,
            growing: contact.growing,
        }
    }
}
