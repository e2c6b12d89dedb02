//! Predicts which pairs may touch, and when: bounding spheres first, the certified search only where they overlap.

use std::collections::BTreeSet;

use nalgebra::Vector3;

use super::bookkeeping::Bookkeeping;
use super::cells::Cells;
use super::dynamics::Dynamics;
use super::features::{PartMotion, part};
use super::interpenetration::exit;
use super::pair::{Pair, PairSide};
use super::persistent::Persistence;
use super::queue::{Entry, NextEvent, Queue};
use crate::contact::feature::Part;
use crate::motion::Motion;
use crate::run::tolerances::SIMULTANEOUS;
use crate::run::{Cause, index};
use crate::toi::{self, Meeting, Start, Window, first_contact, first_contact_with_plane};

/// Bounding spheres are taken a little larger, so that rounding cannot make them miss each other.
pub(super) const MARGIN: f64 = 1.0 + 1e-9;

/// The time that a search covers, in passages of the pair's size: later contacts mostly never happen, because another event changes
/// a trajectory first.
const PASSAGES: f64 = 16.0;

/// The predicted events, and the grid that finds neighbours.
#[derive(Debug, Clone, Default)]
pub(super) struct Predictor {
    pub queue: Queue,
    pub cells: Option<Cells>,
    /// Room for a list of pairs, kept for reuse.
    pub pairs: Vec<Pair>,
}

impl Predictor {
    /// Adds an event to the queue, unless it lies beyond the end of the run.
    pub fn push(&mut self, dynamics: &Dynamics, time: f64, event: NextEvent, versions: [u32; 2]) {
        if time <= dynamics.end() {
            self.queue.push(Entry { time, event, versions });
        }
    }

    /// Adds the contact of a pair to the queue.
    pub fn push_contact(&mut self, dynamics: &Dynamics, time: f64, pair: Pair, error: f64) {
        self.push(dynamics, time, NextEvent::Contact { pair, error }, dynamics.versions(&pair));
    }

    /// Adds the end of the clock's present epoch to the queue.
    pub fn push_epoch(&mut self, dynamics: &Dynamics) {
        self.queue.push(Entry { time: dynamics.clock.length, event: NextEvent::Epoch, versions: [0; 2] });
    }

    /// Adds the end of a group's present step to the queue.
    pub fn push_step_end(&mut self, dynamics: &Dynamics, group: u32) {
        let named = dynamics.groups.named(group);
        self.push(dynamics, named.end(), NextEvent::StepEnd { group }, [named.version, 0]);
    }

    /// The time of the next entry.
    pub fn next_time(&self) -> f64 {
        self.queue.peek().map_or(f64::INFINITY, |entry| entry.time)
    }

    /// The contacts that are simultaneous with a contact, each pair once, and that contact itself. They leave the queue.
    pub fn simultaneous(
        &mut self,
        dynamics: &Dynamics,
        books: &mut Bookkeeping,
        t: f64,
        (pair, error): (Pair, f64),
    ) -> Vec<(Pair, f64)> {
        let mut found = vec![(pair, error)];
        let mut known = BTreeSet::from([pair]);
        let window = simultaneity_window(dynamics);
        while let Some(&entry) = self.queue.peek() {
            if !dynamics.is_current(&entry) {
                self.queue.pop();
                continue;
            }
            match entry.event {
                NextEvent::Contact { pair, error: other }
                    if entry.time <= t + (error + other).min(window) && other <= window =>
                {
                    self.queue.pop();
                    if known.insert(pair) {
                        found.push((pair, other));
                    }
                }
                NextEvent::Search(pair) if entry.time <= t => {
                    self.queue.pop();
                    self.search(dynamics, books, pair, entry.time);
                }
                NextEvent::Cross { body, axis, up } if entry.time <= t => {
                    self.queue.pop();
                    self.cross(dynamics, books, body as usize, usize::from(axis), up, entry.time);
                }
                _ => break,
            }
        }
        found
    }

    /// Predicts again all contacts of a body; the pairs in `separating`, in ascending order, are just leaving contact.
    pub fn predict_body(
        &mut self,
        dynamics: &Dynamics,
        books: &mut Bookkeeping,
        body: usize,
        t: f64,
        separating: &[Pair],
    ) {
        let world = &dynamics.world;
        if !world.can_collide(body) {
            return;
        }
        self.enter_cell(dynamics, body, t);
        if !world.bodies[body].fixed {
            for plane in 0..world.planes.len() {
                for pair in Pair::with_plane(world, index(plane), index(body)) {
                    if !world.is_joined(pair.sides(), pair.image) {
                        self.predict_pair(dynamics, books, pair, t, separating);
                    }
                }
            }
        }
        self.predict_neighbours(dynamics, books, body, t, |_| true, separating);
    }

    /// Predicts a body's pairs with the bodies in some of the neighbouring cells.
    pub fn predict_neighbours(
        &mut self,
        dynamics: &Dynamics,
        books: &mut Bookkeeping,
        body: usize,
        t: f64,
        wanted: impl Fn([i32; 3]) -> bool,
        separating: &[Pair],
    ) {
        let mut pairs = std::mem::take(&mut self.pairs);
        self.each_neighbour(dynamics, body, wanted, |pair| pairs.push(pair));
        for pair in pairs.drain(..) {
            self.predict_pair(dynamics, books, pair, t, separating);
        }
        self.pairs = pairs;
    }

    /// Predicts when a pair may touch.
    pub fn predict_pair(
        &mut self,
        dynamics: &Dynamics,
        books: &mut Bookkeeping,
        pair: Pair,
        t: f64,
        separating: &[Pair],
    ) {
        if !pair.is_of_features() && dynamics.touch_by_features(&pair) {
            if dynamics.is_stepped(&pair) {
                return;
            }
            for part in pair.parts(&dynamics.world) {
                self.predict_part(dynamics, books, part, t, separating);
            }
            return;
        }
        if dynamics.lying_points(&pair).is_some_and(|points| points > 0) {
            return;
        }
        match dynamics.contacts.get(&pair) {
            Some(Persistence::Interpenetrating) => return self.predict_exit(dynamics, books, pair, t),
            Some(_) => return,
            None => {}
        }
        if separating.binary_search(&pair).is_ok() {
            self.search_from(dynamics, books, pair, t, Start::Parting);
        } else if let Some(time) = earliest_contact(dynamics, &pair, t) {
            self.push(dynamics, time, NextEvent::Search(pair), dynamics.versions(&pair));
        }
    }

    /// Predicts when a part of a body may touch another that it touches by other features.
    fn predict_part(
        &mut self,
        dynamics: &Dynamics,
        books: &mut Bookkeeping,
        part: Pair,
        t: f64,
        separating: &[Pair],
    ) {
        let touches = dynamics.of_bodies(&part).any(|known| known.searched(&dynamics.world) == part);
        if touches {
            return;
        }
        // What touches without being a contact of features, such as edges that meet in a corner on the border of a face, is none now.
        if separating.binary_search(&part).is_ok() || dynamics.parts_touch(&part, t) {
            self.search_from(dynamics, books, part, t, Start::Parting);
        } else if let Some(time) = earliest_contact(dynamics, &part, t) {
            self.push(dynamics, time, NextEvent::Search(part), dynamics.versions(&part));
        }
    }

    /// Predicts when the contacts of a group leave the faces and edges that they are on.
    pub fn predict_leaving(&mut self, dynamics: &Dynamics, group: u32, t: f64) {
        let pairs = dynamics.groups.named(group).pairs.iter();
        let leaving: Vec<(Pair, f64)> =
            pairs.filter_map(|pair| dynamics.leaves(pair, t).map(|time| (*pair, time))).collect();
        for (pair, time) in leaving {
            self.push_contact(dynamics, time, pair, 0.0);
        }
    }

    /// Predicts when an interpenetration ends, and notes its depth.
    fn predict_exit(&mut self, dynamics: &Dynamics, books: &mut Bookkeeping, pair: Pair, t: f64) {
        let Some((exit, deepest)) = exit(dynamics, &pair, t) else { return };
        books.ledger.note_interpenetration(deepest, books.counts.events);
        if let Some(exit) = exit {
            self.push(dynamics, exit, NextEvent::Exit(pair), dynamics.versions(&pair));
        }
    }

    /// Monitors an inactive contact for as long as the trajectories of its bodies are known, at most until they have passed each
    /// other: it becomes an event when its gap is no longer zero, or at the end of that time.
    pub fn monitor(&mut self, dynamics: &Dynamics, pair: Pair, t: f64) {
        if let Some(time) = dynamics.leaves(&pair, t) {
            self.push_contact(dynamics, time, pair, 0.0);
        }
        let world = &dynamics.world;
        let (mut known, mut acceleration) = (dynamics.end(), 0.0);
        for body in pair.movable(world) {
            known = known.min(dynamics.known_until(body));
            acceleration += dynamics.motion(body).acceleration_bound();
        }
        let (size, speed) = (pair.size(world), pair.speed(world, |body| dynamics.state(body, t)));
        let passage = (size / speed).min((size / acceleration).sqrt());
        let span = passage.min(known - t);
        let departure = pair.gap_departure(world, span, |body, wait| dynamics.state(body, t + wait));
        let again = departure.map_or(span, |(wait, _)| wait);
        // Contacts of groups are monitored again when the groups' steps end.
        if t + again > t && (departure.is_some() || passage < known - t) {
            self.push_contact(dynamics, t + again, pair, 0.0);
        }
    }

    /// Searches for the contact of a pair whose bounding spheres may touch now.
    pub fn search(&mut self, dynamics: &Dynamics, books: &mut Bookkeeping, pair: Pair, t: f64) {
        if !dynamics.contacts.contains(&pair) {
            self.search_from(dynamics, books, pair, t, Start::Anywhere);
        }
    }

    /// Searches for the next contact of a pair that separates.
    pub fn search_separating(&mut self, dynamics: &Dynamics, books: &mut Bookkeeping, pair: Pair, t: f64) {
        self.search_from(dynamics, books, pair, t, Start::Parting);
    }

    fn search_from(
        &mut self,
        dynamics: &Dynamics,
        books: &mut Bookkeeping,
        pair: Pair,
        t: f64,
        start: Start,
    ) {
        let world = &dynamics.world;
        let end = dynamics.end();
        let versions = dynamics.versions(&pair);
        let known = pair.bodies().map(|body| dynamics.known_until(body)).fold(f64::INFINITY, f64::min);
        let until = end.min(known).min(t + PASSAGES * passage(dynamics, &pair, t));
        let window = Window { from: t, until, start };
        let second = pair.second as usize;
        let two = dynamics.motion(second);
        let moving = toi::Moving::new(&world.bodies[second].shape, &two).displaced(pair.shift(world));
        let found = match pair.first {
            PairSide::Plane(k) => {
                let plane = &world.planes[k as usize];
                match Part::new(&world.bodies[second].shape, pair.features[1]) {
                    Some(part) if pair.is_of_features() => {
                        first_contact_with_plane(toi::Moving::new(&part, &two), plane, window)
                    }
                    _ => first_contact_with_plane(moving, plane, window),
                }
            }
            PairSide::Body(first) => {
                let first = first as usize;
                let one = dynamics.motion(first);
                let shapes = [&world.bodies[first].shape, &world.bodies[second].shape];
                if pair.is_of_features()
                    && let [Some((a, pose)), Some((b, there))] =
                        [part(shapes[0], pair.features[0]), part(shapes[1], pair.features[1])]
                {
                    let one = PartMotion { body: one, pose };
                    let two = PartMotion { body: two, pose: there };
                    let second = toi::Moving::new(&b, &two).displaced(pair.shift(world));
                    first_contact(toi::Moving::new(&a, &one), second, window)
                } else {
                    first_contact(toi::Moving::new(shapes[0], &one), moving, window)
                }
            }
        };
        books.counts.searches += 1;
        books.counts.gaps += u64::from(found.evaluations);
        match found.meeting {
            Meeting::At(contact) => self.push_contact(dynamics, contact.time, pair, contact.time_error),
            Meeting::Apart if until < end && until < known => {
                // The bounding spheres may have separated for good in the meantime.
                if let Some(time) = earliest_contact(dynamics, &pair, until) {
                    self.push(dynamics, time, NextEvent::Search(pair), versions);
                }
            }
            Meeting::Apart => {}
            // The search has a bounded number of evaluations: continue from there.
            Meeting::Undecided(time) if time > t => {
                self.push(dynamics, time, NextEvent::Search(pair), versions);
            }
            // Edges along each other, say: the event decides what becomes of the bodies.
            Meeting::Undecided(_) if pair.has_features(world) => self.push_contact(dynamics, t, pair, 0.0),
            Meeting::Undecided(_) => books.fail(dynamics.time(), pair.sides(), Cause::Search),
            Meeting::Overlapping(_)
                if pair.has_features(world) && pair.is_of_features() && start == Start::Parting => {}
            Meeting::Overlapping(depth) => {
                // How deep a corner is in a body says nothing of how deep the bodies overlap.
                if !(pair.has_features(world) && pair.is_of_features()) {
                    books.ledger.note_gap(-depth, books.counts.events);
                }
                self.push_contact(dynamics, t, pair, 0.0);
            }
        }
    }
}

/// Contacts further apart in time than this are not simultaneous, however large the errors of their times.
pub(super) fn simultaneity_window(dynamics: &Dynamics) -> f64 {
    SIMULTANEOUS * dynamics.clock.passage()
}

/// The time in which a pair passes its own size, or falls through it.
fn passage(dynamics: &Dynamics, pair: &Pair, t: f64) -> f64 {
    let world = &dynamics.world;
    let second = pair.second as usize;
    let two = dynamics.motion(second);
    let here = two.at(t);
    let radius = world.radius[second];
    let speed = match pair.first {
        PairSide::Plane(_) => here.velocity.norm() + two.turning_bound().sqrt() * radius,
        PairSide::Body(first) => {
            let one = dynamics.motion(first as usize);
            (here.velocity - one.at(t).velocity).norm()
                + two.turning_bound().sqrt() * radius
                + one.turning_bound().sqrt() * world.radius[first as usize]
        }
    };
    let size = pair.size(world);
    let gravity = world.gravity.norm();
    let passage = if speed > 0.0 { size / speed } else { f64::INFINITY };
    if gravity > 0.0 { passage.min((size / gravity).sqrt()) } else { passage }
}

/// A time before which the bounding spheres of a pair do not touch; `None` if they never do on the present trajectories.
fn earliest_contact(dynamics: &Dynamics, pair: &Pair, t: f64) -> Option<f64> {
    let world = &dynamics.world;
    let second = pair.second as usize;
    let (two, here) = (dynamics.motion(second), dynamics.state(second, t));
    let known = dynamics.known_until(second);
    let size = world.radius[second] * MARGIN;
    let (wait, known) = match pair.first {
        PairSide::Plane(k) => {
            let plane = &world.planes[k as usize];
            let height = plane.height(&here.position) - size;
            let speed = plane.normal.dot(&here.velocity);
            let acceleration = plane.normal.dot(&two.acceleration()) - two.acceleration_bound();
            (first_zero(height, speed, acceleration), known)
        }
        PairSide::Body(first) => {
            let first = first as usize;
            let place = |body: usize, number: u16| {
                let (shape, pose) = part(&world.bodies[body].shape, number)?;
                Some((shape.circumradius(), PartMotion { body: dynamics.motion(body), pose }))
            };
            let (near, one) = place(first, pair.features[0])?;
            let (far, two) = place(second, pair.features[1])?;
            let (there, here) = (one.at(t), two.at(t));
            let size = (near + far) * MARGIN;
            let x = here.position + pair.shift(world) - there.position;
            let v = here.velocity - there.velocity;
            let acceleration = (two.acceleration() - one.acceleration()).norm()
                + one.acceleration_bound()
                + two.acceleration_bound();
            let wait = if acceleration == 0.0 {
                spheres_touch(&x, &v, size)
            } else {
                // As if velocity and acceleration pointed straight at the other body.
                first_zero(x.norm() - size, -v.norm(), -acceleration)
            };
            (wait, known.min(dynamics.known_until(first)))
        }
    };
    wait.map(|wait| t + wait).filter(|&time| time <= known)
}

/// The first τ ≥ 0 at which a + bτ + ½cτ² is not positive; `None` if it always is.
pub(super) fn first_zero(a: f64, b: f64, c: f64) -> Option<f64> {
    if a <= 0.0 {
        return Some(0.0);
    }
    let discriminant = b * b - 2.0 * a * c;
    if c >= 0.0 && (b >= 0.0 || discriminant < 0.0) {
        return None;
    }
    let root = discriminant.max(0.0).sqrt();
    // 2a/(−b + √) does not cancel for b ≤ 0; for b > 0 and c < 0 the other form does not.
    Some(if b <= 0.0 { 2.0 * a / (root - b) } else { -(b + root) / c })
}

/// The first contact of two spheres on straight lines.
fn spheres_touch(x: &Vector3<f64>, v: &Vector3<f64>, size: f64) -> Option<f64> {
    let apart = x.norm_squared() - size * size;
    if apart <= 0.0 {
        return Some(0.0);
    }
    let towards = x.dot(v);
    let discriminant = towards * towards - v.norm_squared() * apart;
    // Spheres have a margin: a contact that rounding hides is not needed.
    if towards >= 0.0 || discriminant < 0.0 {
        return None;
    }
    Some(apart / (discriminant.sqrt() - towards))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_zero_of_a_parabola_is_found() {
        for (a, b, c, expected) in [
            (1.0, -1.0, 0.0, Some(1.0)),
            (1.0, 1.0, 0.0, None),
            (1.0, 0.0, -2.0, Some(1.0)),
            (2.0, 1.0, -2.0, Some(2.0)),
            (1.0, -2.0, 2.0, Some(1.0)),
            (1.0, -1.0, 2.0, None),
            (0.0, -1.0, 0.0, Some(0.0)),
        ] {
            assert_eq!(first_zero(a, b, c), expected, "{a} {b} {c}");
        }
    }
}
