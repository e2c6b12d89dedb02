//! Looking for a body's next event: neighbours one by one, and searches for contacts that have no closed form.
//!
//! Nothing is changed by it: what it finds besides the event is handed over as well.

use nalgebra::{Matrix3, Vector3};
use wide::f64x2;

use super::neighbours::Link;
use super::next_event::{NextEvent, PLANE};
use super::overlay::Overlay;
use super::predict::{CLOSE, Parted, WORD, has_parted};
use super::rotation::{Course, SpinOf};
use super::shape_class::ShapeClass;
use super::spheres;
use super::storage::{Path, Two};
use super::{Cold, Edmd, index};
use crate::shape::{Convex, HalfSpace, unit};
use crate::toi::{self, Meeting, Start, Touch, Window, first_contact_near, first_contact_with_plane};

/// What looking finds besides the next event, and room for its lists.
#[derive(Debug, Clone, Default)]
pub(super) struct Sight {
    candidates: Vec<Candidate>,
    pub marks: Vec<Mark>,
    /// Neighbours that a body touches within rounding: body, neighbour, image.
    pub close: Vec<(u32, u32, u16)>,
    pub searches: u64,
    pub gaps: u64,
    /// The deepest overlap.
    pub deepest: f64,
    /// A pair whose search came to nothing.
    pub lost: Option<(u32, u32, u16)>,
}

impl Sight {
    pub fn clear(&mut self) {
        self.marks.clear();
        self.close.clear();
        (self.searches, self.gaps, self.deepest, self.lost) = (0, 0, 0.0, None);
    }
}

/// How far a body and a neighbour must come together before they can touch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Mark {
    pub body: u32,
    /// The neighbour's place in the body's list.
    pub at: u32,
    pub way: f32,
}

/// A pair to be searched.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    with: u32,
    image: u16,
    /// Its place in the body's list.
    at: u32,
    /// When the balls about the two touch and part, from now on.
    window: [f64; 2],
    /// When balls between the largest inside and the smallest about the bodies would touch: a guess of who comes first.
    guess: f64,
}

/// What a mark is less than it might be, so that rounding does not matter.
const MARK: f64 = 1e-6;

impl Overlay<'_> {
    /// A body's next event. Neighbours in `parted` have just been touched and part. `None` if the body cannot collide.
    pub fn look(&self, i: usize, t: f64, parted: &[Parted], sight: &mut Sight) -> Option<NextEvent> {
        if !self.shape_class(index(i)).can_collide {
            return None;
        }
        Some(match (self.mixed, self.settings.growth != 0.0) {
            (false, false) => self.look_as::<false, false>(i, t, parted, sight),
            (false, true) => self.look_as::<false, true>(i, t, parted, sight),
            (true, false) => self.look_as::<true, false>(i, t, parted, sight),
            (true, true) => self.look_as::<true, true>(i, t, parted, sight),
        })
    }

    #[inline]
    fn look_as<const MIXED: bool, const GROWS: bool>(
        &self,
        i: usize,
        t: f64,
        parted: &[Parted],
        sight: &mut Sight,
    ) -> NextEvent {
        let own = self.hot(i).line;
        let own_radius = self.radius(i);
        let here = own.at(t);
        let (size, growth) = if GROWS { (self.size_at(t), self.settings.growth) } else { (1.0, 0.0) };
        let mut best = NextEvent::home(self.leaves_home(i, t));
        sight.candidates.clear();
        let mut within = Within::new(self.neighbours(i));
        loop {
            let wanted = |links: &[Link], first| {
                if MIXED && !GROWS { self.in_reach(i, t, best.time, links, first) } else { !0 }
            };
            let Some((at, link)) = within.next(wanted) else { break };
            if link.with >= PLANE {
                let plane = &self.world.planes[(link.with - PLANE) as usize];
                let height = plane.height(&here) - own_radius * size;
                let speed = plane.normal.dot(&own.velocity) - own_radius * growth;
                if MIXED && link.searched() {
                    let wait = if height <= 0.0 {
                        0.0
                    } else if speed < 0.0 {
                        (height / -speed) * (1.0 - 1e-9)
                    } else {
                        f64::INFINITY
                    };
                    if t + wait < best.time {
                        let window = [wait, f64::INFINITY];
                        sight.candidates.push(Candidate {
                            with: link.with,
                            image: link.image,
                            at: index(at),
                            window,
                            guess: wait,
                        });
                    }
                    continue;
                }
                if has_parted(parted, link.with, link.image) {
                    continue;
                }
                if height <= CLOSE * own_radius * size {
                    sight.close.push((index(i), link.with, link.image));
                }
                if speed < 0.0 {
                    let time = t + height.max(0.0) / -speed;
                    if time < best.time {
                        best = NextEvent { time, with: link.with, image: link.image, sinks: false };
                    }
                }
                continue;
            }
            let theirs = self.hot(link.with as usize);
            let other = &theirs.line;
            let radii = own_radius + self.equal.unwrap_or_else(|| self.radii[link.with as usize]);
            let x = other.at(t) + self.images.shift(link.image) - here;
            let v = other.velocity - own.velocity;
            let sum = radii * size;
            let rate = if GROWS { radii * growth } else { 0.0 };
            if MIXED && link.searched() {
                let limit = best.time.min(theirs.due);
                // Neither can have come so far.
                let way = self.path(i).at(limit) + self.path(link.with as usize).at(limit);
                if !GROWS && way < self.marks_of(i).map_or(f64::NEG_INFINITY, |marks| f64::from(marks[at])) {
                    continue;
                }
                let Some(window) = spheres::window(&x, &v, sum, rate) else { continue };
                if t + window[0] >= limit {
                    continue;
                }
                let middle =
                    0.5 * (sum + inside(&self.shape_classes, &self.cold, [i, link.with as usize]) * size);
                let apart = x.norm_squared() - middle * middle;
                let guess = if apart > 0.0 { spheres::touch(&x, &v, apart, middle, rate) } else { 0.0 };
                sight.candidates.push(Candidate {
                    with: link.with,
                    image: link.image,
                    at: index(at),
                    window,
                    guess,
                });
                continue;
            }
            let apart = x.norm_squared() - sum * sum;
            if apart <= CLOSE * sum * sum && !has_parted(parted, link.with, link.image) {
                sight.close.push((index(i), link.with, link.image));
            }
            if !GROWS && spheres::later(x.dot(&v), v.norm_squared(), apart, best.time - t) {
                continue;
            }
            let tau = spheres::touch(&x, &v, apart, sum, rate);
            let time = t + tau;
            if time < best.time && time < theirs.due && !has_parted(parted, link.with, link.image) {
                best = NextEvent { time, with: link.with, image: link.image, sinks: false };
            }
        }
        if MIXED && !sight.candidates.is_empty() {
            best = self.search_all(i, t, &here, best, parted, sight);
        }
        best
    }

    /// Which neighbours of a list, from a place in it on, may have to be looked at: bits. Left out are those that must be searched
    /// and either have not come far enough until then or have no contact of the balls about them; until then is until a time or
    /// until the neighbour's own event. Two at a time, and without a branch that could be guessed wrong.
    fn in_reach(&self, i: usize, t: f64, until: f64, links: &[Link], first: usize) -> u64 {
        let own = self.hot(i).line;
        let own_path = self.path(i);
        let own_radius = self.radius(i);
        let marks = self.marks_of(i);
        let both = f64x2::splat;
        let (now, latest) = (both(t), both(until));
        let [here, velocity] = [own.at(t), own.velocity].map(|x| [0, 1, 2].map(|k| both(x[k])));
        let mut reached = 0;
        let mut look = |at: [usize; 2]| {
            let two = at.map(|at| links[at]);
            // Planes are looked at anyway; anyone will do in their place.
            let bodies = two.map(|link| if link.with < PLANE { link.with as usize } else { i });
            let [one_may, other_may] = two.map(|link| u32::from(link.searched() && link.with < PLANE));
            let shifts = two.map(|link| self.images.shift(link.image));
            let seen = Two::seen(bodies.map(|k| &self.hot[k]), shifts, now, &here, &velocity);
            let [towards, square, distance] = seen.products();
            let sum = (both(own_radius) + f64x2::new(bodies.map(|k| self.radius(k)))) * both(spheres::MARGIN);
            let apart = distance - sum * sum;
            let limit = latest.fast_min(seen.due);
            let later = spheres::both_later(towards, square, apart, limit - now);
            let paths = bodies.map(|k| self.path[k]);
            let of = |of: fn(&Path) -> f64| f64x2::new([of(&paths[0]), of(&paths[1])]);
            let theirs = of(|path| path.length) + of(|path| path.rate) * (limit - of(|path| path.since));
            let way = both(own_path.length) + both(own_path.rate) * (limit - both(own_path.since)) + theirs;
            let mark = f64x2::new(
                at.map(|at| marks.map_or(f64::NEG_INFINITY, |marks| f64::from(marks[first + at]))),
            );
            let left_out = (later & apart.simd_gt(f64x2::ZERO)) | way.simd_lt(mark);
            let may = one_may | other_may << 1;
            reached |= u64::from(!(left_out.to_bitmask() & may) & 0b11) << at[0];
        };
        for at in (0..links.len()).step_by(2) {
            // Of an odd number the last stands for two.
            look([at, (at + 1).min(links.len() - 1)]);
        }
        // Who changes is seen as it will be.
        for changed in self.changed() {
            for (at, link) in links.iter().enumerate() {
                reached |= u64::from(link.with == changed.body) << at;
            }
        }
        reached
    }

    /// How a body moves from a time on, seen from a place.
    fn course(&self, i: usize, t: f64, from: &Vector3<f64>, wanted_now: bool) -> Course<'_> {
        let line = &self.hot(i).line;
        let turning = match self.spin(i) {
            SpinOf::Ball(_) => None,
            SpinOf::Turning(turning) => Some((&turning.flight, t - turning.since)),
        };
        let now = match self.spin(i) {
            SpinOf::Turning(turning) if wanted_now => turning.at(t),
            _ => (nalgebra::UnitQuaternion::identity(), Vector3::zeros()),
        };
        let (size, growth) = (self.size_at(t), self.settings.growth);
        Course { centre: line.at(t) - from, velocity: line.velocity, turning, now, size, growth }
    }

    /// Searches the candidates for the first contact, in the order in which their balls touch, and no farther than to the
    /// earliest event that is known.
    fn search_all(
        &self,
        i: usize,
        t: f64,
        here: &Vector3<f64>,
        best: NextEvent,
        parted: &[Parted],
        sight: &mut Sight,
    ) -> NextEvent {
        let mut best = best;
        for candidate in &sight.candidates {
            if candidate.with < PLANE {
                self.spins.ask_for(candidate.with as usize);
            }
        }
        sight.candidates.sort_unstable_by(|a, b| {
            a.guess.total_cmp(&b.guess).then((a.with, a.image).cmp(&(b.with, b.image)))
        });
        let own = self.course(i, t, here, true);
        let own_form = form(self.shape_class(index(i)), &own);
        for k in 0..sight.candidates.len() {
            let candidate = sight.candidates[k];
            let is_plane = candidate.with >= PLANE;
            let parting = parted.iter().find(|&p| (p.with, p.image) == (candidate.with, candidate.image));
            let parts = parting.is_some();
            let theirs = if is_plane { f64::INFINITY } else { self.hot(candidate.with as usize).due };
            let mut until = (best.time.min(theirs) - t).min(candidate.window[1]);
            if until.is_infinite() {
                until = self.clock.length;
                best = NextEvent::look(t + until);
            }
            let from = candidate.window[0];
            if until <= from {
                continue;
            }
            let start = if parts { Start::Parting } else { Start::Anywhere };
            let window = Window { from, until, start };
            let shape = &self.shape_classes[self.cold[i].kind as usize];
            let found = if is_plane {
                let plane = &self.world.planes[(candidate.with - PLANE) as usize];
                // Overlay from a place on it the plane stays where it is, whatever the size.
                let course = Course { centre: here - plane.nearest(here), ..own };
                let plane = HalfSpace { offset: 0.0, ..*plane };
                first_contact_with_plane(toi::Moving::new(shape, &course), &plane, window)
            } else {
                let k = candidate.with as usize;
                let other = self.course(k, t, &(here - self.images.shift(candidate.image)), from == 0.0);
                let their_shape = &self.shape_classes[self.cold[k].kind as usize];
                let normal = match parting {
                    Some(parted) => parted.normal,
                    None => {
                        likely_normal(&(own_form + form(their_shape, &other)), &(other.centre - own.centre))
                    }
                };
                if from == 0.0 && !parts && own.growth == 0.0 {
                    // Along any direction the two are apart by at least this, and turning can close it only so fast.
                    let apart = separation((shape, &own), (their_shape, &other), &normal);
                    let closing = (other.velocity - own.velocity).dot(&normal);
                    let turning =
                        self.spin(i).speed() * shape.lever + self.spin(k).speed() * their_shape.lever;
                    let least = apart.min(apart + (closing - turning) * until);
                    if least > MARK * self.radius(i) {
                        let way = self.path(i).at(t) + self.path(k).at(t) + apart;
                        sight.marks.push(self.mark(i, candidate.at, way));
                        continue;
                    }
                }
                let normal = (from == 0.0).then_some(normal);
                first_contact_near(
                    toi::Moving::new(shape, &own),
                    toi::Moving::new(their_shape, &other),
                    window,
                    normal,
                )
            };
            sight.searches += 1;
            sight.gaps += u64::from(found.evaluations);
            if !is_plane && found.at_start.is_finite() {
                let from = t + from;
                let way = self.path(i).at(from) + self.path(candidate.with as usize).at(from);
                sight.marks.push(self.mark(i, candidate.at, way + found.at_start));
            }
            if !parts && found.at_start <= CLOSE * own_size(self, i, candidate.with) {
                sight.close.push((index(i), candidate.with, candidate.image));
            }
            let due = |time: f64, sinks: bool| NextEvent {
                time,
                with: candidate.with,
                image: candidate.image,
                sinks,
            };
            match found.meeting {
                Meeting::At(contact) => {
                    let time = t + contact.time;
                    if time < best.time && time < theirs {
                        best = due(time, contact.touch == Touch::Sinking);
                    }
                }
                Meeting::Apart => {}
                Meeting::Undecided(reached) if reached > 0.0 && t + reached > t => {
                    if t + reached < best.time {
                        best = NextEvent::look(t + reached);
                    }
                }
                Meeting::Undecided(_) => {
                    sight.lost.get_or_insert((index(i), candidate.with, candidate.image));
                }
                Meeting::Overlapping(depth) => {
                    sight.deepest = sight.deepest.max(depth);
                    best = due(t, false);
                }
            }
        }
        best
    }

    /// A mark for a neighbour at a place in a body's list, that far along their paths.
    fn mark(&self, i: usize, at: u32, way: f64) -> Mark {
        #[expect(clippy::cast_possible_truncation, reason = "less by more than this rounds")]
        let way = (way - MARK * (way.abs() + self.radius(i))) as f32;
        Mark { body: index(i), at, way }
    }
}

/// Those of a list that are to be looked at, as bits say that are asked for a word at a time.
struct Within<'a> {
    links: &'a [Link],
    /// Where the next word begins, and the bits of this one.
    next: usize,
    bits: u64,
}

impl<'a> Within<'a> {
    fn new(links: &'a [Link]) -> Self {
        Self { links, next: 0, bits: 0 }
    }

    /// The next one and its place; `wanted` says which of some links, the first of which has a place, there are.
    #[inline(always)]
    fn next(&mut self, wanted: impl Fn(&[Link], usize) -> u64) -> Option<(usize, &'a Link)> {
        while self.bits == 0 {
            if self.next >= self.links.len() {
                return None;
            }
            let some = &self.links[self.next..self.links.len().min(self.next + WORD)];
            self.bits = wanted(some, self.next) & (!0 >> (WORD - some.len()));
            self.next += WORD;
        }
        let at = self.next - WORD + self.bits.trailing_zeros() as usize;
        self.bits &= self.bits - 1;
        Some((at, &self.links[at]))
    }
}

/// The sum of the circumradii of a body and what it meets.
fn own_size(crowd: &Edmd, i: usize, with: u32) -> f64 {
    crowd.radius(i) + if with < PLANE { crowd.radius(with as usize) } else { 0.0 }
}

/// The sum of the inscribed radii of two bodies.
fn inside(shape_classes: &[ShapeClass], cold: &[Cold], pair: [usize; 2]) -> f64 {
    pair.iter().map(|&i| shape_classes[cold[i].kind as usize].inradius()).sum()
}

/// A direction along which the separation is nearly the gap: if the bodies were ellipsoids of quadratic forms A and B, in the
/// world, that of (A + B)⁻¹ d with d from centre to centre.
fn likely_normal(sum: &Matrix3<f64>, between: &Vector3<f64>) -> Vector3<f64> {
    // By minors: the sum is symmetric and positive, and only the direction matters.
    let (a, b, c) = (sum.column(0), sum.column(1), sum.column(2));
    let solved = Matrix3::from_columns(&[b.cross(&c), c.cross(&a), a.cross(&b)]).tr_mul(between);
    unit(&solved)
}

/// The quadratic form of a body as if it were an ellipsoid, now.
fn form(solid: &ShapeClass, course: &Course) -> Matrix3<f64> {
    let axes = course.now.0.to_rotation_matrix().into_inner();
    axes * Matrix3::from_diagonal(&solid.squares) * axes.transpose()
}

/// A lower bound of the gap now: along a direction.
fn separation(
    (shape, own): (&ShapeClass, &Course),
    (other, theirs): (&ShapeClass, &Course),
    normal: &Vector3<f64>,
) -> f64 {
    let turned = |course: &Course, way: &Vector3<f64>| course.now.0.inverse_transform_vector(way);
    let reach = shape.support_height(&turned(own, normal)) + other.support_height(&turned(theirs, &-normal));
    normal.dot(&(theirs.centre - own.centre)) - reach
}
