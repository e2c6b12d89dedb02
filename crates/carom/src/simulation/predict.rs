//! Who may touch whom, and when: bounding spheres first, the certified search only where they overlap.

use nalgebra::Vector3;

use super::cells::Cells;
use super::queue::{Due, Entry, Pair, PairSide};
use super::resolution::Persistence;
use super::{Simulation, Trajectory};
use crate::body::State;
use crate::contact::Side;
use crate::motion::{Anchored, Flight, Motion};
use crate::run::index;
use crate::toi::{self, Meeting, Start, Window, first_contact, first_contact_with_plane};

/// Bounding spheres are taken a little larger, so that no rounding of their touch matters.
const MARGIN: f64 = 1.0 + 1e-9;

/// How far a search looks, in passages of the pair's size: beyond that most contacts never happen, because something else
/// comes between.
const PASSAGES: f64 = 16.0;

/// A body's motion over the time that a search looks at.
#[derive(Clone, Copy)]
pub(super) enum SearchMotion<'a> {
    /// A free flight.
    Flight(Anchored<&'a Flight>),
    /// A held body's.
    Held(super::persistent::HeldMotion<'a>),
}

impl Motion for SearchMotion<'_> {
    fn at(&self, t: f64) -> State {
        match self {
            Self::Flight(motion) => motion.at(t),
            Self::Held(motion) => motion.at(t),
        }
    }

    fn acceleration(&self) -> Vector3<f64> {
        match self {
            Self::Flight(motion) => motion.acceleration(),
            Self::Held(motion) => motion.acceleration(),
        }
    }

    fn acceleration_bound(&self) -> f64 {
        match self {
            Self::Flight(motion) => motion.acceleration_bound(),
            Self::Held(motion) => motion.acceleration_bound(),
        }
    }

    fn turning_bound(&self) -> f64 {
        match self {
            Self::Flight(motion) => motion.turning_bound(),
            Self::Held(motion) => motion.turning_bound(),
        }
    }

    fn angular_acceleration_bound(&self) -> f64 {
        match self {
            Self::Flight(motion) => motion.angular_acceleration_bound(),
            Self::Held(motion) => motion.angular_acceleration_bound(),
        }
    }
}

impl Simulation {
    pub(super) fn trajectory(&self, body: usize) -> SearchMotion<'_> {
        let motion = &self.motions[body];
        match &motion.course {
            Trajectory::Flight(flight) => {
                SearchMotion::Flight(Anchored { motion: flight, since: motion.since })
            }
            Trajectory::Held { group, member } => SearchMotion::Held(self.held_motion(*group, *member)),
        }
    }

    /// The time until which a body's course is known.
    pub(super) fn known_until(&self, body: usize) -> f64 {
        match self.motions[body].course {
            Trajectory::Flight(_) => f64::INFINITY,
            Trajectory::Held { group, .. } => self.step_end(group),
        }
    }

    pub(super) fn build_cells(&mut self) {
        let solid = |i: &usize| self.world.solid(*i);
        let radius = (0..self.motions.len()).filter(solid).map(|i| self.world.radius[i]).fold(0.0, f64::max);
        let diameter = if radius > 0.0 { 2.0 * radius * MARGIN } else { 1.0 };
        let t = self.clock.now;
        let positions: Vec<Vector3<f64>> =
            (0..self.motions.len()).map(|body| self.state(body, t).position).collect();
        self.cells = Some(Cells::new(diameter, self.world.periodic.as_ref(), &positions));
    }

    /// A body has a new course: everything it may meet is looked at anew, pairs in `parting` as just leaving contact.
    pub(super) fn meet_all(&mut self, body: usize, t: f64, parting: &[Pair]) {
        if !self.world.solid(body) {
            return;
        }
        self.enter_cell(body, t);
        let number = index(body);
        if !self.world.bodies[body].fixed {
            for plane in 0..self.world.planes.len() {
                let pair = Pair { first: PairSide::Plane(index(plane)), second: number, image: [0; 3] };
                if !self.is_joined(Self::sides(&pair), pair.image) {
                    self.meet(pair, t, parting);
                }
            }
        }
        self.meet_bodies(body, t, |_| true, parting);
    }

    /// The bodies in some of the neighbouring cells, or all bodies where there are no cells or the body is held.
    fn meet_bodies(&mut self, body: usize, t: f64, wanted: impl Fn([i32; 3]) -> bool, parting: &[Pair]) {
        let mut found = std::mem::take(&mut self.found);
        self.each_neighbour(body, wanted, |pair| found.push(pair));
        for pair in found.drain(..) {
            self.meet(pair, t, parting);
        }
        self.found = found;
    }

    /// Visits the pairs of a body with those in some of the neighbouring cells, or with all where there are no cells.
    pub(super) fn each_neighbour(
        &self,
        body: usize,
        wanted: impl Fn([i32; 3]) -> bool,
        mut visit: impl FnMut(Pair),
    ) {
        let number = index(body);
        let mut take = |other: u32, image: [i32; 3]| {
            if let Some(pair) = self.pair_of(number, other, image) {
                visit(pair);
            }
        };
        match &self.cells {
            // A held body may leave its cell on a curve: everyone counts, by the images about the nearest.
            Some(cells) if self.flies(body) => {
                let all = wanted([0; 3]);
                cells.neighbours(body, wanted, |other, image| {
                    if self.flies(other as usize) {
                        take(other, image);
                    }
                });
                // A body that enters new cells knows the held ones already.
                if all {
                    let here = self.state(body, self.clock.now).position;
                    let held = (0..self.motions.len()).filter(|&other| !self.flies(other));
                    held.for_each(|other| self.each_image(&here, other, |image| take(index(other), image)));
                }
            }
            _ => {
                let here = self.state(body, self.clock.now).position;
                for other in 0..self.motions.len() {
                    self.each_image(&here, other, |image| take(index(other), image));
                }
            }
        }
    }

    /// Visits the images of a body about the one nearest to a place.
    fn each_image(&self, here: &Vector3<f64>, other: usize, mut visit: impl FnMut([i32; 3])) {
        let Some(lengths) = self.world.periodic else { return visit([0; 3]) };
        let there = self.state(other, self.clock.now).position;
        let spread = |i: usize| {
            if lengths[i] > 0.0 {
                #[expect(clippy::cast_possible_truncation, reason = "bodies are kept near the box")]
                let nearest = ((here[i] - there[i]) / lengths[i]).round() as i32;
                nearest - 1..=nearest + 1
            } else {
                0..=0
            }
        };
        for x in spread(0) {
            for y in spread(1) {
                for z in spread(2) {
                    visit([x, y, z]);
                }
            }
        }
    }

    /// The pair of two bodies, the smaller number first; none if it cannot meet.
    fn pair_of(&self, one: u32, other: u32, image: [i32; 3]) -> Option<Pair> {
        let fixed = |body: u32| self.world.bodies[body as usize].fixed;
        if one == other || (fixed(one) && fixed(other)) || !self.world.solid(other as usize) {
            return None;
        }
        let pair = if one < other {
            Pair { first: PairSide::Body(one), second: other, image }
        } else {
            Pair { first: PairSide::Body(other), second: one, image: image.map(|boxes| -boxes) }
        };
        (!self.is_joined(Self::sides(&pair), image)).then_some(pair)
    }

    /// Puts a pair on the list for when it may touch.
    pub(super) fn meet(&mut self, pair: Pair, t: f64, parting: &[Pair]) {
        match self.standing.get(&pair) {
            Some(Persistence::Passing) => return self.await_exit(pair, t),
            Some(_) => return,
            None => {}
        }
        if parting.contains(&pair) {
            self.search_from(pair, t, Start::Parting);
        } else if let Some(time) = self.reach(&pair, t) {
            self.push(time, Due::Search(pair), self.versions(&pair));
        }
    }

    /// Adds an entry, unless it lies beyond the end.
    pub(super) fn push(&mut self, time: f64, due: Due, versions: [u32; 2]) {
        if time <= self.clock.local(self.settings.until) {
            self.queue.push(Entry { time, due, versions });
        }
    }

    /// A time before which the bounding spheres do not touch; none if they never do on these courses.
    fn reach(&self, pair: &Pair, t: f64) -> Option<f64> {
        let second = pair.second as usize;
        let (two, here) = (self.trajectory(second), self.state(second, t));
        let known = self.known_until(second);
        let size = self.world.radius[second] * MARGIN;
        let wait = match pair.first {
            PairSide::Plane(k) => {
                let plane = &self.world.planes[k as usize];
                let height = plane.height(&here.position) - size;
                let speed = plane.normal.dot(&here.velocity);
                let pull = plane.normal.dot(&two.acceleration()) - two.acceleration_bound();
                first_zero(height, speed, pull)
            }
            PairSide::Body(first) => {
                let first = first as usize;
                let (one, there) = (self.trajectory(first), self.state(first, t));
                let known = known.min(self.known_until(first));
                let size = size + self.world.radius[first] * MARGIN;
                let x = here.position + self.displacement(pair) - there.position;
                let v = here.velocity - there.velocity;
                let pull = (two.acceleration() - one.acceleration()).norm()
                    + one.acceleration_bound()
                    + two.acceleration_bound();
                let wait = if pull == 0.0 {
                    spheres_meet(&x, &v, size)
                } else {
                    // As if it were thrown and pulled straight at us.
                    first_zero(x.norm() - size, -v.norm(), -pull)
                };
                return wait.map(|wait| t + wait).filter(|&time| time <= known);
            }
        };
        wait.map(|wait| t + wait).filter(|&time| time <= known)
    }

    /// The bounding spheres may touch now: looks for the contact.
    pub(super) fn search(&mut self, pair: Pair, t: f64) {
        if !self.standing.contains_key(&pair) {
            self.search_from(pair, t, Start::Anywhere);
        }
    }

    /// The same for a pair that has just been in contact and parts.
    pub(super) fn search_parting(&mut self, pair: Pair, t: f64) {
        self.search_from(pair, t, Start::Parting);
    }

    fn search_from(&mut self, pair: Pair, t: f64, start: Start) {
        let second = pair.second as usize;
        let end = self.clock.local(self.settings.until);
        let versions = self.versions(&pair);
        let two = self.trajectory(second);
        let here = two.at(t);
        let radius = self.world.radius[second];
        let swiftness = |state: &State, bend: f64, radius: f64| state.velocity.norm() + bend.sqrt() * radius;
        let (speed, size, known) = match pair.first {
            PairSide::Plane(_) => {
                (swiftness(&here, two.turning_bound(), radius), radius, self.known_until(second))
            }
            PairSide::Body(first) => {
                let first = first as usize;
                let one = self.trajectory(first);
                let there = one.at(t);
                let relative = (here.velocity - there.velocity).norm()
                    + two.turning_bound().sqrt() * radius
                    + one.turning_bound().sqrt() * self.world.radius[first];
                (
                    relative,
                    radius + self.world.radius[first],
                    self.known_until(second).min(self.known_until(first)),
                )
            }
        };
        let pull = self.world.gravity.norm();
        let passage = if speed > 0.0 { size / speed } else { f64::INFINITY };
        let passage = if pull > 0.0 { passage.min((size / pull).sqrt()) } else { passage };
        let until = end.min(known).min(t + PASSAGES * passage);
        let window = Window { from: t, until, start };
        let bodies = &self.world.bodies;
        let motion = toi::Moving::new(&bodies[second].shape, &two).displaced(self.displacement(&pair));
        let found = match pair.first {
            PairSide::Plane(k) => first_contact_with_plane(motion, &self.world.planes[k as usize], window),
            PairSide::Body(first) => {
                let one = self.trajectory(first as usize);
                first_contact(toi::Moving::new(&bodies[first as usize].shape, &one), motion, window)
            }
        };
        self.counts.searches += 1;
        self.counts.gaps += u64::from(found.evaluations);
        match found.meeting {
            Meeting::At(contact) => {
                let due = Due::Touch { pair, error: contact.time_error };
                self.push(contact.time, due, versions);
            }
            Meeting::Apart if until < end && until < known => {
                // Their spheres may have parted for good in the meantime.
                if let Some(time) = self.reach(&pair, until) {
                    self.push(time, Due::Search(pair), versions);
                }
            }
            Meeting::Apart => {}
            // Work was bounded: go on from there.
            Meeting::Undecided(time) if time > t => self.push(time, Due::Search(pair), versions),
            Meeting::Undecided(_) => {
                self.lose(&pair, super::Cause::Search);
            }
            Meeting::Overlapping(depth) => {
                self.ledger.see_gap(-depth, self.counts.events);
                self.push(t, Due::Touch { pair, error: 0.0 }, versions);
            }
        }
    }

    /// Where a body stands now, and when it leaves.
    pub(super) fn enter_cell(&mut self, body: usize, t: f64) {
        if self.cells.is_none() {
            return;
        }
        let position = self.state(body, t).position;
        if let Some(cells) = &mut self.cells {
            let cell = cells.at(&position);
            cells.transfer(body, cell);
        }
        self.leave_cell(body, t);
    }

    /// When a flying body leaves its cell, by which face.
    fn leave_cell(&mut self, body: usize, t: f64) {
        let Some(cells) = &self.cells else { return };
        if self.world.bodies[body].fixed {
            return;
        }
        let cell = cells.of(body);
        let (state, pull) = (self.state(body, t), self.trajectory(body).acceleration());
        let mut first: Option<(f64, usize, bool)> = None;
        for axis in 0..3 {
            let [low, high] = cells.bounds(&cell, axis);
            let (x, v, a) = (state.position[axis], state.velocity[axis], pull[axis]);
            for (up, wait) in [(true, leaves(high - x, -v, -a)), (false, leaves(x - low, v, a))] {
                if let Some(wait) = wait
                    && first.is_none_or(|(soonest, ..)| wait < soonest)
                {
                    first = Some((wait, axis, up));
                }
            }
        }
        if let Some((wait, axis, up)) = first {
            #[expect(clippy::cast_possible_truncation, reason = "below three")]
            let due = Due::Cross { body: index(body), axis: axis as u8, up };
            self.push(t + wait, due, [self.motions[body].version, 0]);
        }
    }

    /// A body goes over into the next cell and meets who is new there.
    pub(super) fn cross(&mut self, body: usize, axis: usize, up: bool, t: f64) {
        let Some(cells) = &mut self.cells else { return };
        let step = if up { 1 } else { -1 };
        let mut cell = cells.of(body);
        cell[axis] += step;
        cells.transfer(body, cell);
        self.leave_cell(body, t);
        self.meet_bodies(body, t, |offset| offset[axis] == step, &[]);
    }

    /// The sides of a pair.
    pub(super) fn sides(pair: &Pair) -> [Side; 2] {
        let first = match pair.first {
            PairSide::Plane(k) => Side::Plane(k as usize),
            PairSide::Body(k) => Side::Body(k as usize),
        };
        [first, Side::Body(pair.second as usize)]
    }
}

/// The first τ ≥ 0 at which a + bτ + ½cτ² is not positive; none if it never is.
fn first_zero(a: f64, b: f64, c: f64) -> Option<f64> {
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

/// When a body at a distance a from a face crosses it outwards. Rounding may have put it beyond the face that it has just
/// come in by.
fn leaves(a: f64, b: f64, c: f64) -> Option<f64> {
    if a > 0.0 {
        return first_zero(a, b, c);
    }
    if b > 0.0 {
        return (c < 0.0).then(|| -2.0 * b / c);
    }
    (b < 0.0 || c < 0.0).then_some(0.0)
}

/// The first touch of two spheres on straight lines.
fn spheres_meet(x: &Vector3<f64>, v: &Vector3<f64>, size: f64) -> Option<f64> {
    let apart = x.norm_squared() - size * size;
    if apart <= 0.0 {
        return Some(0.0);
    }
    let towards = x.dot(v);
    let discriminant = towards * towards - v.norm_squared() * apart;
    // Spheres have a margin: one that is missed by rounding is not needed.
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
        assert_eq!(leaves(-1e-17, 1.0, -2.0), Some(1.0));
        assert_eq!(leaves(-1e-17, 1.0, 0.0), None);
        assert_eq!(leaves(0.0, -1.0, 0.0), Some(0.0));
        assert_eq!(leaves(0.0, 0.0, 0.0), None);
    }
}
