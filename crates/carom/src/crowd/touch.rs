//! A contact: who takes part, what it does, and how everyone goes on.
//!
//! Two smooth balls are dealt with on the spot. Everything else goes by the states of the bodies: one smooth contact by
//! the closed form of [`crate::impact::pair`], any other by the impact solver. Bodies that touch others at the same time,
//! within the error bounds of the times, make one impact with them, as in the simulation; whether there are any is seen
//! when the two look for their next events, and then the collision is taken back and the whole resolved.
//!
//! While bodies grow, contacts are smooth and come one at a time.

use nalgebra::{Matrix3, Unit, Vector3};

use super::calendar::{Due, PLANE};
use super::course::Spin;
use super::{COLLAPSED, Cause, Collision, Crowd, Hot, Stopped, Watcher, index};
use crate::body::{Body, State};
use crate::contact::{Contact, Side, Surface};
use crate::gap::{Gap, gap, gap_to_plane};
use crate::impact::mechanism::Mechanism;

/// Rounding of a gap and of a relative velocity, relative to what they are differences of; as in the simulation.
const ROUNDING: f64 = 4e-14;
const STILL: f64 = 1e-13;

/// Contacts further apart in time than this, in epochs, are not simultaneous.
const SIMULTANEOUS: f64 = 1e-12;

/// Two that meet: the first a body or a plane, the second a body of a larger number in the scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Met {
    pub first: u32,
    pub second: u32,
    /// The image of the second.
    pub image: u16,
}

/// A contact with the states of its bodies.
#[derive(Debug, Clone, Copy)]
struct Encounter {
    met: Met,
    found: Gap,
    approach: f64,
    /// What part of it is growth.
    growing: f64,
    separation: f64,
    impulse: f64,
    impulse_vector: Vector3<f64>,
    restitution: f64,
}

/// The bodies and contacts of one impact.
#[derive(Debug, Clone, Default)]
struct Cluster {
    bodies: Vec<u32>,
    before: Vec<State>,
    after: Vec<State>,
    contacts: Vec<Encounter>,
}

impl Cluster {
    fn place(&self, body: u32) -> usize {
        // Clusters are small; a body of a contact is always in its cluster.
        self.bodies.iter().position(|&b| b == body).unwrap_or(0)
    }
}

impl Crowd {
    /// A pair as it is told of: planes first, then smaller numbers.
    pub(super) fn met(&self, i: usize, with: u32, image: u16) -> Met {
        let number = index(i);
        if with >= PLANE || self.cold[with as usize].name < self.cold[i].name {
            let image = if with >= PLANE { image } else { self.images.opposite(image) };
            Met { first: with, second: number, image }
        } else {
            Met { first: number, second: with, image }
        }
    }

    pub(super) fn sides(&self, met: &Met) -> [Side; 2] {
        let body = |i: u32| Side::Body(self.cold[i as usize].name as usize);
        let first =
            if met.first >= PLANE { Side::Plane((met.first - PLANE) as usize) } else { body(met.first) };
        [first, body(met.second)]
    }

    /// The size of a pair.
    pub(super) fn size_of(&self, met: &Met, t: f64) -> f64 {
        let first = if met.first >= PLANE { 0.0 } else { self.hot[met.first as usize].radius };
        (first + self.hot[met.second as usize].radius) * self.size_at(t)
    }

    #[inline(always)]
    fn inverse_mass(&self, i: u32) -> f64 {
        self.solids[self.cold[i as usize].kind as usize].inverse_mass
    }

    fn body(&self, i: u32) -> &Body {
        &self.world.bodies[self.cold[i as usize].name as usize]
    }

    /// The gap of a pair at a time, if the balls about the two are nearer than so many sizes.
    pub(super) fn near_gap(&self, met: &Met, t: f64, near: f64) -> Option<f64> {
        let second = self.hot[met.second as usize].at(t);
        let size = self.size_of(met, t);
        let away = if met.first >= PLANE {
            self.world.planes[(met.first - PLANE) as usize].height(&second) - size
        } else {
            let first = self.hot[met.first as usize].at(t);
            (second + self.images.shift(met.image) - first).norm() - size
        };
        if away > near * size {
            return None;
        }
        let balls = met.first >= PLANE || self.cold[met.first as usize].ball;
        if balls && self.cold[met.second as usize].ball {
            return Some(away);
        }
        let states = |i: u32| self.state(i as usize, t);
        self.gap_of(met, t, &states).map(|found| found.gap)
    }

    fn gap_of(&self, met: &Met, t: f64, state: &impl Fn(u32) -> State) -> Option<Gap> {
        let solid = |i: u32| &self.solids[self.cold[i as usize].kind as usize];
        let grown = |i: u32| self.body(i).shape.scaled(self.size_at(t));
        let grows = self.settings.growth != 0.0;
        let mut second = state(met.second);
        if met.first >= PLANE {
            let plane = &self.world.planes[(met.first - PLANE) as usize];
            let pose = second.pose();
            return Some(if grows {
                gap_to_plane(&grown(met.second), &pose, plane)
            } else {
                gap_to_plane(solid(met.second), &pose, plane)
            });
        }
        second.position += self.images.shift(met.image);
        let (here, there) = (state(met.first).pose(), second.pose());
        if grows {
            gap((&grown(met.first), &here), (&grown(met.second), &there))
        } else {
            gap((solid(met.first), &here), (solid(met.second), &there))
        }
    }

    /// What rounding leaves of a gap.
    fn level(&self, met: &Met, t: f64) -> f64 {
        ROUNDING * (self.size_of(met, t) + self.hot[met.second as usize].position.norm())
    }

    /// Restitution and surface of a contact now, and whether it is elastic only because it follows another too soon.
    #[inline]
    fn answer(&self, met: &Met, t: f64) -> (f64, Surface, bool) {
        let (restitution, surface) = self.world.answer(self.sides(met));
        let surface = if self.settings.growth == 0.0 { surface } else { Surface::Smooth };
        let last = |i: u32| if i < PLANE { self.cold[i as usize].last } else { f64::NEG_INFINITY };
        let soon = self.settings.contact_time > 0.0
            && restitution < 1.0
            && t - last(met.first).max(last(met.second)) < self.settings.contact_time;
        (if soon { 1.0 } else { restitution }, surface, soon)
    }

    /// A pair touches.
    #[inline]
    pub(super) fn touch(&mut self, i: usize, due: &Due, watcher: &mut impl Watcher) {
        let t = due.time;
        let met = self.met(i, due.with, due.image);
        self.clock.now = self.clock.now.max(t);
        let (restitution, surface, soon) = self.answer(&met, t);
        let both_balls =
            met.first < PLANE && self.cold[met.first as usize].ball && self.cold[met.second as usize].ball;
        if both_balls && surface == Surface::Smooth {
            self.strike_balls(&met, t, restitution, soon, watcher);
        } else {
            self.strike(&met, t, due.sinks, soon, watcher);
        }
    }

    /// Whether an approach is slower than anything but collapse makes it; that ends the run.
    #[inline(always)]
    fn has_collapsed(&mut self, met: &Met, t: f64, approach: f64) -> bool {
        let collapsed = approach < 0.0 && -approach * self.clock.length < COLLAPSED * self.size_of(met, t);
        if collapsed {
            self.stopped.get_or_insert(Stopped::Stalled);
        }
        collapsed
    }

    /// Two smooth balls.
    #[inline]
    fn strike_balls(&mut self, met: &Met, t: f64, restitution: f64, soon: bool, watcher: &mut impl Watcher) {
        let (a, b) = (met.first as usize, met.second as usize);
        let (one, two) = (self.hot[a], self.hot[b]);
        let (here, there) = (one.at(t), two.at(t));
        let x = there + self.images.shift(met.image) - here;
        let v = two.velocity - one.velocity;
        let square = x.norm_squared();
        let distance = square.sqrt();
        let growing = (one.radius + two.radius) * self.settings.growth;
        let approach = x.dot(&v) / distance - growing;
        let gap = distance - (one.radius + two.radius) * self.size_at(t);
        self.calendar.clear(met.first);
        self.calendar.clear(met.second);
        let seen = [(met.second, met.image), (met.first, self.images.opposite(met.image))];
        if self.has_collapsed(met, t, approach) {
            return;
        }
        if approach >= 0.0 {
            self.counts.grazes += 1;
            self.predict(a, t, &seen[..1]);
            self.predict(b, t, &seen[1..]);
            self.scratch.close.clear();
            return;
        }
        let (light, other) = (self.inverse_mass(met.first), self.inverse_mass(met.second));
        let impulse = -(1.0 + restitution) * approach / (light + other);
        let normal = x / distance;
        // Not along the normal, which rounding makes a little longer or shorter than one: energy would drift.
        let vector =
            x * (-(1.0 + restitution) * (x.dot(&v) - growing * distance) / (square * (light + other)));
        let velocities = [one.velocity - vector * light, two.velocity + vector * other];
        self.hot[a] = Hot { position: here, velocity: velocities[0], since: t, ..one };
        self.hot[b] = Hot { position: there, velocity: velocities[1], since: t, ..two };
        let last = [self.cold[a].last, self.cold[b].last];
        (self.cold[a].last, self.cold[b].last) = (t, t);
        self.follow_path(a, t);
        self.follow_path(b, t);
        self.predict(a, t, &seen[..1]);
        self.predict(b, t, &seen[1..]);
        if !self.scratch.close.is_empty() {
            // Others may touch at the same time: taken back, and looked at together.
            self.scratch.close.clear();
            let tried = [self.hot[a], self.hot[b]];
            (self.hot[a], self.hot[b]) =
                (Hot { position: here, since: t, ..one }, Hot { position: there, since: t, ..two });
            (self.cold[a].last, self.cold[b].last) = (last[0], last[1]);
            if self.settings.growth == 0.0 && self.strike_together(met, t, watcher) {
                return;
            }
            (self.hot[a], self.hot[b]) = (tried[0], tried[1]);
            (self.cold[a].last, self.cold[b].last) = (t, t);
        }
        let kinetic = |inverse: f64, v: &Vector3<f64>| {
            if inverse > 0.0 { 0.5 * v.norm_squared() / inverse } else { 0.0 }
        };
        let change = kinetic(light, &velocities[0]) - kinetic(light, &one.velocity)
            + (kinetic(other, &velocities[1]) - kinetic(other, &two.velocity));
        let separation = normal.dot(&(velocities[1] - velocities[0])) - growing;
        let expected = 0.5 * impulse * ((1.0 - restitution) * approach + 2.0 * growing);
        let speed = v.norm() + growing;
        let number = self.counts.collisions;
        let energy_before = self.ledger.energy();
        self.ledger.take_energy_as(expected, change, number);
        self.ledger.see_gap(gap, number);
        let missed = (separation + restitution * approach).abs() / speed;
        self.ledger.audit.restitution_error_max.note(missed, number);
        if light == 0.0 || other == 0.0 {
            let sign = if light == 0.0 { 1.0 } else { -1.0 };
            self.ledger.take_impulse(&(vector * sign), &(here + normal * (one.radius * self.size_at(t))));
        }
        self.counts.collisions += 1;
        self.counts.elastic += u64::from(soon);
        watcher.collision(&Collision {
            number,
            time: self.clock.epoch + t,
            time_error: (ROUNDING * (distance + here.norm()) + gap.abs()) / -approach,
            sides: self.sides(met),
            image: self.images.boxes(met.image),
            point: here + normal * (one.radius * self.size_at(t) + 0.5 * gap),
            normal,
            between: x,
            gap,
            approach,
            separation,
            impulse,
            impulse_vector: vector,
            energy_before,
            energy_after: self.ledger.energy(),
        });
    }

    /// The contact of a pair with the states of a cluster.
    fn encounter(&self, met: &Met, t: f64, cluster: &Cluster) -> Option<Encounter> {
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
    fn ends(&self, met: &Met, found: &Gap) -> [Vector3<f64>; 2] {
        if met.first >= PLANE { [found.points[1], found.points[0]] } else { found.points }
    }

    /// Where a contact's impulse acts.
    fn meeting_point(&self, contact: &Encounter) -> Vector3<f64> {
        if contact.met.first >= PLANE {
            contact.found.points[0]
        } else {
            (contact.found.points[0] + contact.found.points[1]) * 0.5
        }
    }

    /// The speeds at a contact.
    fn speed(&self, met: &Met, cluster: &Cluster) -> f64 {
        let of = |i: u32| {
            if i >= PLANE {
                return 0.0;
            }
            let state = &cluster.before[cluster.place(i)];
            let growth = self.settings.growth.abs();
            state.velocity.norm() + (state.angular_velocity.norm() + growth) * self.hot[i as usize].radius
        };
        of(met.first) + of(met.second)
    }

    /// Any one contact.
    fn strike(&mut self, met: &Met, t: f64, sinks: bool, soon: bool, watcher: &mut impl Watcher) {
        let bodies: Vec<u32> = [met.first, met.second].into_iter().filter(|&i| i < PLANE).collect();
        let before: Vec<State> = bodies.iter().map(|&i| self.state(i as usize, t)).collect();
        let mut cluster = Cluster { bodies, after: before.clone(), before, contacts: Vec::new() };
        let Some(contact) = self.encounter(met, t, &cluster) else { return };
        cluster.contacts.push(contact);
        if self.has_collapsed(met, t, contact.approach) {
            return;
        }
        let closes = contact.approach < -STILL * self.speed(met, &cluster);
        if closes && !self.apply_law(&mut cluster, t) {
            return self.lose(self.sides(met), Cause::Law);
        }
        for &i in &cluster.bodies {
            self.calendar.clear(i);
        }
        if !closes {
            if sinks {
                self.stopped.get_or_insert(Stopped::Paradox);
            }
            self.ledger.see_gap(contact.found.gap, self.counts.collisions);
            self.counts.grazes += 1;
            self.go_on(&cluster, t);
            self.scratch.close.clear();
            return;
        }
        let saved = self.launch(&cluster, t);
        self.go_on(&cluster, t);
        if !self.scratch.close.is_empty() {
            self.scratch.close.clear();
            let tried = self.put_back(&cluster, saved);
            if self.settings.growth == 0.0 && self.strike_together(met, t, watcher) {
                return;
            }
            self.put_back(&cluster, tried);
        }
        self.counts.elastic += u64::from(soon);
        self.record(&cluster, t, watcher);
    }

    /// Everyone of a cluster looks for the next event, contacts of the cluster counting as just left.
    fn go_on(&mut self, cluster: &Cluster, t: f64) {
        let mut parted: Vec<(u32, u16)> = Vec::new();
        for &i in &cluster.bodies {
            parted.clear();
            for contact in &cluster.contacts {
                let Met { first, second, image } = contact.met;
                if first == i {
                    parted.push((second, image));
                } else if second == i {
                    parted.push((first, if first >= PLANE { image } else { self.images.opposite(image) }));
                }
            }
            self.predict(i as usize, t, &parted);
        }
    }

    /// Sets everyone of a cluster on a new course, and returns the old ones.
    fn launch(&mut self, cluster: &Cluster, t: f64) -> Vec<(Hot, Spin, f64)> {
        let mut saved = Vec::with_capacity(cluster.bodies.len());
        for ((&i, before), after) in cluster.bodies.iter().zip(&cluster.before).zip(&cluster.after) {
            let i = i as usize;
            let hot = self.hot[i];
            let turned = before.angular_velocity != after.angular_velocity;
            let spin = if turned && !self.cold[i].fixed {
                let spin = Spin::new(self.body(index(i)), after, t);
                std::mem::replace(&mut self.spin[i], spin)
            } else {
                self.spin[i].clone()
            };
            saved.push((hot, spin, self.cold[i].last));
            if !self.cold[i].fixed {
                self.hot[i] = Hot { position: before.position, velocity: after.velocity, since: t, ..hot };
                self.cold[i].last = t;
                self.follow_path(i, t);
            }
        }
        saved
    }

    /// Exchanges the courses of a cluster.
    fn put_back(&mut self, cluster: &Cluster, saved: Vec<(Hot, Spin, f64)>) -> Vec<(Hot, Spin, f64)> {
        let mut now = Vec::with_capacity(saved.len());
        for (&i, (hot, spin, last)) in cluster.bodies.iter().zip(saved) {
            let i = i as usize;
            now.push((
                std::mem::replace(&mut self.hot[i], hot),
                std::mem::replace(&mut self.spin[i], spin),
                std::mem::replace(&mut self.cold[i].last, last),
            ));
        }
        now
    }

    /// All contacts that belong with one, as one impact. False if there is only that one.
    #[cold]
    fn strike_together(&mut self, met: &Met, t: f64, watcher: &mut impl Watcher) -> bool {
        let mut cluster = Cluster::default();
        self.take_in(&mut cluster, met, t);
        let Some(first) = self.encounter(met, t, &cluster) else { return false };
        let patience = SIMULTANEOUS * self.clock.length;
        let error = self.level(met, t) / first.approach.abs();
        cluster.contacts.push(first);
        let mut next = 0;
        while let Some(&body) = cluster.bodies.get(next) {
            next += 1;
            for k in 0..self.lists.of(body as usize).len() {
                let link = self.lists.of(body as usize)[k];
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
            self.calendar.clear(i);
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
                    self.calendar.set(second, due(first, image));
                } else {
                    self.schedule(first, due(second, image));
                }
            }
        }
        self.record(&cluster, t, watcher);
        true
    }

    /// Adds the bodies of a pair to a cluster.
    fn take_in(&self, cluster: &mut Cluster, met: &Met, t: f64) {
        for i in [met.first, met.second] {
            if i < PLANE && !cluster.bodies.contains(&i) {
                let state = self.state(i as usize, t);
                cluster.bodies.push(i);
                cluster.before.push(state);
                cluster.after.push(state);
            }
        }
    }

    /// The impact law; false if it has no answer.
    fn apply_law(&self, cluster: &mut Cluster, t: f64) -> bool {
        if let [contact] = &cluster.contacts[..] {
            let (_, surface, _) = self.answer(&contact.met, t);
            if surface == Surface::Smooth {
                self.blow(cluster);
                return true;
            }
        }
        let mut contacts: Vec<Contact> = cluster
            .contacts
            .iter()
            .map(|contact| {
                let local = |i: u32| {
                    if i >= PLANE { Side::Plane((i - PLANE) as usize) } else { Side::Body(cluster.place(i)) }
                };
                let (restitution, surface, _) = self.answer(&contact.met, t);
                Contact {
                    name: String::new(),
                    sides: [local(contact.met.first), local(contact.met.second)],
                    point: self.meeting_point(contact),
                    normal: Unit::new_normalize(contact.found.normal),
                    restitution,
                    surface,
                    images: [Vector3::zeros(), *self.images.shift(contact.met.image)],
                }
            })
            .collect();
        let bodies: Vec<(Body, State)> =
            cluster.bodies.iter().zip(&cluster.before).map(|(&i, state)| (*self.body(i), *state)).collect();
        let outcome = loop {
            let mechanism = Mechanism { bodies: &bodies, joints: &[], contacts: &contacts };
            let Ok(outcome) = mechanism.solve(&self.world.options) else { return false };
            // A contact that is not pressed has no grip, however rough.
            let mut slack = false;
            for (contact, result) in contacts.iter_mut().zip(&outcome.contacts) {
                let grips = contact.surface != Surface::Smooth && result.impulse <= 0.0;
                if grips && result.impulse_vector != Vector3::zeros() {
                    contact.surface = Surface::Smooth;
                    slack = true;
                }
            }
            if !slack {
                break outcome;
            }
        };
        cluster.after = outcome.states;
        for (contact, result) in cluster.contacts.iter_mut().zip(&outcome.contacts) {
            contact.impulse = result.impulse;
            contact.impulse_vector = result.impulse_vector;
            contact.separation = result.separation;
        }
        cluster.after.iter().all(|state| state.velocity.iter().all(|x| x.is_finite()))
    }

    /// One smooth contact, growth included: α = −(1+k) g'/(n·M·n), as [`crate::impact::pair`] has it.
    fn blow(&self, cluster: &mut Cluster) {
        let contact = cluster.contacts[0];
        let normal = contact.found.normal;
        let point = self.meeting_point(&contact);
        let Met { first, second, image } = contact.met;
        let turn = |i: u32, shift: Vector3<f64>| {
            let state = &cluster.before[cluster.place(i)];
            let arm = (point - state.position - shift).cross(&normal);
            let body = self.body(i);
            let spin = if body.fixed || self.cold[i as usize].ball {
                Vector3::zeros()
            } else {
                let axes: Matrix3<f64> = state.orientation.to_rotation_matrix().into_inner();
                axes * axes.tr_mul(&arm).component_div(&body.inertia)
            };
            (arm, spin, self.inverse_mass(i))
        };
        let of_second = turn(second, *self.images.shift(image));
        let of_first = if first < PLANE {
            turn(first, Vector3::zeros())
        } else {
            (Vector3::zeros(), Vector3::zeros(), 0.0)
        };
        let effective =
            of_first.2 + of_second.2 + of_first.0.dot(&of_first.1) + of_second.0.dot(&of_second.1);
        if effective <= 0.0 {
            return;
        }
        let impulse = -(1.0 + contact.restitution) * contact.approach / effective;
        let mut push = |i: u32, (_, spin, light): (Vector3<f64>, Vector3<f64>, f64), sign: f64| {
            let at = cluster.place(i);
            cluster.after[at].velocity += normal * (sign * impulse * light);
            cluster.after[at].angular_velocity += spin * (sign * impulse);
        };
        push(second, of_second, 1.0);
        if first < PLANE {
            push(first, of_first, -1.0);
        }
        // As the bodies really go, not as the formula has it.
        let mut separation = -contact.growing;
        for (i, shift, sign) in [(second, *self.images.shift(image), 1.0), (first, Vector3::zeros(), -1.0)] {
            if i < PLANE {
                let state = &cluster.after[cluster.place(i)];
                let arm = point - state.position - shift;
                separation += sign * normal.dot(&(state.velocity + state.angular_velocity.cross(&arm)));
            }
        }
        let contact = &mut cluster.contacts[0];
        contact.impulse = impulse;
        contact.impulse_vector = normal * impulse;
        contact.separation = separation;
    }

    /// The ledger and the watcher are told of an impact.
    fn record(&mut self, cluster: &Cluster, t: f64, watcher: &mut impl Watcher) {
        let energy_before = self.ledger.energy();
        let mut change = 0.0;
        for ((&i, before), after) in cluster.bodies.iter().zip(&cluster.before).zip(&cluster.after) {
            let name = self.cold[i as usize].name as usize;
            change += self.world.energy(name, after) - self.world.energy(name, before);
        }
        // What one smooth contact should do is known; of several, or rough ones, what they did.
        let single = match &cluster.contacts[..] {
            [contact] if self.answer(&contact.met, t).1 == Surface::Smooth => Some(contact),
            _ => None,
        };
        let expected = single.map_or(change, |contact| {
            let rates = (1.0 - contact.restitution) * contact.approach + 2.0 * contact.growing;
            0.5 * contact.impulse * rates
        });
        self.ledger.take_energy_as(expected, change, self.counts.collisions);
        let energy_after = self.ledger.energy();
        for contact in &cluster.contacts {
            let number = self.counts.collisions;
            let met = &contact.met;
            let sides = self.sides(met);
            let point = self.meeting_point(contact);
            self.ledger.see_gap(contact.found.gap, number);
            let fixed = |i: u32| i < PLANE && self.cold[i as usize].fixed;
            if met.first >= PLANE || fixed(met.first) {
                self.ledger.take_impulse(&contact.impulse_vector, &point);
            } else if fixed(met.second) {
                self.ledger.take_impulse(&-contact.impulse_vector, &point);
            }
            if single.is_some() {
                let missed = (contact.separation + contact.restitution * contact.approach).abs();
                let speed = self.speed(met, cluster);
                self.ledger.audit.restitution_error_max.note(missed / speed, number);
            }
            self.counts.collisions += 1;
            let second = cluster.before[cluster.place(met.second)].position;
            let between = if met.first >= PLANE {
                contact.found.normal * (second - contact.found.points[1]).dot(&contact.found.normal)
            } else {
                second + self.images.shift(met.image) - cluster.before[cluster.place(met.first)].position
            };
            watcher.collision(&Collision {
                number,
                time: self.clock.epoch + t,
                time_error: (self.level(met, t) + contact.found.gap.abs()) / contact.approach.abs(),
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
    }
}
