//! Homes: where lists of neighbours are made, one body's or everyone's.

use nalgebra::Vector3;

use super::huge_pages::HugePageArray;
use super::neighbours::{Grid, Images, Link, Lists, Row, along_curve};
use super::next_event::{NextEvent, PLANE, REPREDICT};
use super::spheres;
use super::storage::Line;
use super::{Edmd, InvalidStart, Path, index};
use crate::contact::Side;
use crate::run::tolerances::TOUCHING;

/// How many neighbours a list should have, of balls and of others: fewer cost less to look at, more last longer.
const NEIGHBOURS: [f64; 2] = [15.0, 30.0];

/// The least skin, relative to a body.
const LEAST_SLACK: f64 = 0.1;

/// Lists reach a little farther than they must, so that no rounding matters.
const MARGIN: f64 = 1.0 + 1e-9;

/// Where a body is at home.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    pub home: Vector3<f64>,
    pub since: f64,
    /// By how many boxes it was out of the box.
    out: [i32; 3],
    /// The radius of the neighbourhood.
    pub reach: f64,
}

/// A body's next home.
#[derive(Debug, Clone, Default)]
pub(super) struct Moved {
    pub place: Place,
    pub links: Vec<Link>,
    /// The cells where neighbours were looked for.
    pub cells: Vec<u32>,
    /// Who was near: body, image.
    found: Vec<(u32, u16)>,
}

impl Moved {
    pub fn clear(&mut self) {
        self.links.clear();
        self.cells.clear();
    }
}

impl Edmd {
    /// A body leaves its neighbourhood: it looks around, and is put back into the box.
    pub(super) fn move_neighbourhood(&mut self, i: usize, t: f64) {
        let mut moved = std::mem::take(&mut self.scratch.speculative.moved);
        self.speculate_neighbourhood(i, t, &mut moved);
        self.settle_anew(i, &moved);
        self.scratch.speculative.moved = moved;
        self.predict(i, t, &[]);
        self.scratch.close.clear();
    }

    /// The home that a body will have at a time, and its list there.
    pub(super) fn speculate_neighbourhood(&self, i: usize, t: f64, moved: &mut Moved) {
        moved.place = self.place_at(i, t);
        self.find(i, t, moved, |_| true);
    }

    /// A body takes its new home.
    pub(super) fn settle_anew(&mut self, i: usize, moved: &Moved) {
        self.counts.moves += 1;
        let number = index(i);
        self.clear_next_event(number);
        self.changes.of_cell(self.grid.leave(i));
        for k in 0..self.links(i).len() {
            let link = self.links(i)[k];
            if link.with < PLANE {
                let row = &mut self.cold[link.with as usize].row;
                self.lists.remove(row, number, self.images.opposite(link.image));
                self.changes.of_list(link.with as usize);
            }
        }
        self.cold[i].row.clear();
        self.settle(i, &moved.place);
        self.changes.of_cell(self.grid.enter(i, &moved.place.home));
        for link in &moved.links {
            self.join(i, *link);
        }
        if self.lists.is_wasteful() {
            self.lists.compact(self.cold.iter_mut().map(|cold| &mut cold.row));
        }
    }

    /// Where a body is at a time, in the box, and the neighbourhood there.
    fn place_at(&self, i: usize, t: f64) -> Place {
        let here = self.hot[i].line.at(t);
        let out = self.images.out(&here);
        let home = if out == [0; 3] { here } else { here - self.images.displacement(out) };
        Place { home, since: t, out, reach: self.skin + self.radius(i) * self.size_at(t) }
    }

    /// Makes a place a body's home.
    fn settle(&mut self, i: usize, place: &Place) {
        for (boxes, out) in self.boxes[i].iter_mut().zip(place.out) {
            *boxes = boxes.saturating_add(out);
        }
        let line = &mut self.hot[i].line;
        (line.position, line.since) = (place.home, place.since);
        (self.cold[i].home, self.cold[i].reach) = (place.home, place.reach);
    }

    /// Lists the neighbours that a body has or would have at a place, as far as they are wanted, and the cells that they may be in.
    #[inline(always)]
    fn find(&self, i: usize, t: f64, moved: &mut Moved, wanted: impl Fn(u32) -> bool) {
        moved.clear();
        let Moved { place, links, cells, found } = moved;
        let size = self.size_at(t);
        let own = self.radius(i) * size;
        let solid = self.shape_class(index(i));
        let number = index(i);
        for (k, plane) in self.world.planes.iter().enumerate() {
            if !solid.is_fixed() && plane.height(&place.home) < (own + self.skin) * MARGIN {
                let image = self.images.code([0; 3]).unwrap_or(0);
                links.push(Link::new(PLANE + index(k), image, !solid.is_ball));
            }
        }
        let farthest = (own + self.largest * size + 2.0 * self.skin) * MARGIN;
        let cold = &self.cold[..];
        let mut count = 0;
        self.grid.cells(&place.home, farthest, |cell, boxes| {
            let Some(image) = self.images.code(boxes) else { return };
            cells.push(cell);
            let here = place.home - self.images.shift(image);
            for other in self.grid.of(cell) {
                if found.len() == count {
                    found.push((0, 0));
                }
                // Who is near cannot be guessed, so nothing branches on it here.
                let theirs = &cold[other as usize];
                let distance = (place.reach + theirs.reach) * MARGIN;
                let near = (theirs.home - here).norm_squared() < distance * distance;
                found[count] = (other, image);
                count += usize::from(near & (other != number));
            }
        });
        for &(other, image) in &found[..count] {
            let theirs = &self.shape_classes[cold[other as usize].kind as usize];
            if wanted(other) && !(solid.is_fixed() && theirs.is_fixed()) {
                links.push(Link::new(other, image, !(solid.is_ball && theirs.is_ball)));
            }
        }
    }

    /// Puts a neighbour onto a body's list, and the body on its.
    #[inline(always)]
    fn join(&mut self, i: usize, link: Link) {
        self.lists.add(&mut self.cold[i].row, link);
        if link.with < PLANE {
            let opposite = Link::new(index(i), self.images.opposite(link.image), link.searched());
            self.lists.add(&mut self.cold[link.with as usize].row, opposite);
            self.changes.of_list(link.with as usize);
        }
    }

    /// Puts all bodies in order along a curve through space, makes everyone at home where they are, and makes all lists.
    /// What is due stays, as nothing comes before it that was not foretold from the old lists; but a body may leave its new
    /// home sooner than it would have left the old one.
    #[cold]
    pub(super) fn reorder(&mut self) {
        self.changes.begin();
        let t = self.clock.now;
        let seen: Vec<[i32; 3]> =
            (0..self.hot.len()).map(|i| self.boxes_of(&self.next_event(index(i)))).collect();
        self.choose_slack(t);
        let boxes = self.boxes.clone();
        for i in 0..self.hot.len() {
            // The line goes on from where it began.
            let (place, line) = (self.place_at(i, t), self.hot[i].line);
            self.settle(i, &place);
            let position = line.position - self.images.displacement(place.out);
            self.hot[i].line = Line { position, ..line };
            self.cold[i].home = self.hot[i].line.at(t);
        }
        self.see_images(&boxes, &seen);
        let places: Vec<Vector3<f64>> = self.cold.iter().map(|cold| cold.home).collect();
        let from = along_curve(&places);
        let mut to = vec![0; from.len()];
        for (k, &old) in from.iter().enumerate() {
            to[old as usize] = index(k);
        }
        self.hot = HugePageArray::collect(from.iter().map(|&k| self.hot[k as usize]));
        self.cold = HugePageArray::collect(from.iter().map(|&k| self.cold[k as usize]));
        for cold in self.cold.iter_mut().filter(|cold| cold.with < PLANE) {
            cold.with = to[cold.with as usize];
        }
        self.radii = from.iter().map(|&k| self.radii[k as usize]).collect();
        self.boxes = from.iter().map(|&k| self.boxes[k as usize]).collect();
        self.spins.put_in_order(&from);
        for (k, cold) in self.cold.iter().enumerate() {
            self.place[cold.name as usize] = index(k);
        }
        self.make_lists(t);
        for i in 0..self.hot.len() {
            let time = self.leaves(&self.hot[i].line, i, t);
            if self.shape_class(index(i)).can_collide && time < self.hot[i].due {
                self.write_next_event(index(i), NextEvent::home(time));
            }
        }
        self.tune_calendar();
    }

    /// Makes the calendar anew, for the events as they are.
    pub(super) fn tune_calendar(&mut self) {
        let cold = &self.cold[..];
        self.calendar.tune(self.clock.now, &self.hot, |i| cold[i].with);
    }

    /// When a body leaves its neighbourhood along a line.
    #[inline(always)]
    pub(super) fn leaves(&self, line: &Line, i: usize, t: f64) -> f64 {
        let cold = &self.cold[i];
        self.leaves_from(&cold.home, cold.reach, line, i, t)
    }

    /// The same from a home that it may have.
    #[inline(always)]
    pub(super) fn leaves_from(&self, home: &Vector3<f64>, reach: f64, line: &Line, i: usize, t: f64) -> f64 {
        let radius = self.radius(i);
        let room = reach - radius * self.size_at(t);
        let shrinks = radius * self.settings.growth;
        t + spheres::leave(&(line.at(t) - home), &line.velocity, room, shrinks)
    }

    /// Events are with images, which change as bodies are put back into the box.
    fn see_images(&mut self, before: &[[i32; 3]], seen: &[[i32; 3]]) {
        let moved =
            |body: usize| core::array::from_fn::<i32, 3, _>(|i| self.boxes[body][i] - before[body][i]);
        for i in 0..self.hot.len() {
            let with = self.cold[i].with;
            if with >= PLANE {
                continue;
            }
            let (own, other) = (moved(i), moved(with as usize));
            let boxes = core::array::from_fn(|k| seen[i][k] + other[k] - own[k]);
            // Who is no neighbour any more is looked for anew at that time.
            match self.images.code(boxes) {
                Some(image) => self.cold[i].image = image,
                None => self.cold[i].with = REPREDICT,
            }
        }
    }

    /// All lists, from the homes.
    pub(super) fn make_lists(&mut self, t: f64) {
        let bodies = self.hot.len();
        let farthest = self.farthest(t);
        let homes = self.cold.iter().map(|cold| cold.home);
        self.grid = Grid::new(self.world.periodic.as_ref(), farthest, homes);
        self.lists = Lists::new(bodies, self.mixed);
        self.cold.iter_mut().for_each(|cold| cold.row = Row::default());
        self.path.clear();
        if self.mixed {
            self.path.resize(bodies, Path { since: t, ..Path::default() });
        }
        for i in 0..bodies {
            self.follow_path(i, t);
            if self.shape_class(index(i)).can_collide {
                self.grid.enter(i, &self.cold[i].home);
            }
        }
        let mut moved = Moved::default();
        for i in 0..bodies {
            if self.shape_class(index(i)).can_collide {
                let number = index(i);
                (moved.place.home, moved.place.reach) = (self.cold[i].home, self.cold[i].reach);
                self.find(i, t, &mut moved, |other| other < number);
                for link in &moved.links {
                    self.join(i, *link);
                }
            }
        }
    }

    /// The longest distance of homes that makes neighbours.
    pub(super) fn farthest(&self, t: f64) -> f64 {
        let distance = 2.0 * (self.largest * self.size_at(t) + self.skin) * MARGIN;
        if distance > 0.0 { distance } else { 1.0 }
    }

    /// How far bodies may go from home: so that lists are neither long nor short-lived.
    fn choose_slack(&mut self, t: f64) {
        let size = self.size_at(t);
        let (mut radii, mut count, mut largest) = (0.0, 0.0, 0.0_f64);
        let (mut low, mut high) = (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY));
        for (i, hot) in self.hot.iter().enumerate().filter(|&(i, _)| self.shape_class(index(i)).can_collide) {
            radii += self.radius(i) * size;
            largest = largest.max(self.radius(i));
            count += 1.0;
            let here = hot.line.at(t);
            low = low.inf(&here);
            high = high.sup(&here);
        }
        self.largest = largest;
        let radius: f64 = if count > 0.0 { radii / count } else { 1.0 };
        let lengths = self.world.periodic.unwrap_or_else(Vector3::zeros);
        let volume: f64 = (0..3)
            .map(|i| if lengths[i] > 0.0 { lengths[i] } else { (high[i] - low[i]).max(4.0 * radius) })
            .product();
        let sphere = NEIGHBOURS[usize::from(self.mixed)] * volume / f64::max(count, 1.0);
        let reach = (sphere * 3.0 / (4.0 * core::f64::consts::PI)).cbrt();
        let longest = Images::longest(self.world.periodic.as_ref());
        let skin = (0.5 * reach - radius).max(LEAST_SLACK * radius);
        self.skin = skin.min(0.49 * longest - largest * size).max(1e-6 * radius);
        self.image_distance = 2.0 * self.farthest(t);
        self.images = Images::new(self.world.periodic.as_ref(), self.image_distance);
    }

    fn boxes_of(&self, due: &NextEvent) -> [i32; 3] {
        if due.with < PLANE { self.images.boxes(due.image) } else { [0; 3] }
    }

    /// Who overlaps by more than counts as touching, at the start.
    pub(super) fn overlaps(&mut self) -> Vec<InvalidStart> {
        let mut invalid = Vec::new();
        let t = self.clock.now;
        for i in 0..self.hot.len() {
            for k in 0..self.links(i).len() {
                let link = self.links(i)[k];
                if link.with < PLANE && link.with < index(i) {
                    continue;
                }
                let pair = self.pair(i, link.with, link.image);
                let Some(gap) = self.near_gap(&pair, t, TOUCHING) else { continue };
                self.ledger.note_gap(gap, 0);
                let [first, second] = self.sides(&pair);
                let Side::Body(second) = second else { continue };
                if gap.is_nan() {
                    invalid.push(InvalidStart::Motion { body: second });
                } else if gap < -TOUCHING * self.size_of(&pair, t) {
                    invalid.push(InvalidStart::Overlap { first, second, depth: -gap });
                }
            }
        }
        invalid.sort_by_key(|fault| match fault {
            InvalidStart::BoxTooShort { body } | InvalidStart::Motion { body } => (*body, 0),
            InvalidStart::Overlap { first: Side::Body(first), second, .. } => (*first, *second),
            InvalidStart::Overlap { first: Side::Plane(first), second, .. } => (*second, *first),
            // A crowd has no joints.
            _ => (0, 0),
        });
        invalid
    }
}
