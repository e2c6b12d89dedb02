//! A body's next event: the earliest of its contacts with neighbours, and of its leaving its neighbourhood.
//!
//! Contacts that come after the partner's own event are left out: when that event comes, the partner looks at this body
//! again.

use nalgebra::{Matrix3, Vector3};
use wide::f64x2;

use super::balls;
use super::course::{Course, Spin};
use super::due::{Due, PLANE};
use super::kept::Hot;
use super::neighbours::Link;
use super::solid::Solid;
use super::{Cause, Cold, Crowd, index};
use crate::shape::{Convex, HalfSpace, unit};
use crate::toi::{self, Meeting, Start, Touch, Window, first_contact_near, first_contact_with_plane};

/// Room for lists, kept for reuse.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    candidates: Vec<Candidate>,
    marks: Vec<(u32, f64)>,
    /// Neighbours that a body touches within rounding: body, neighbour, image.
    pub close: Vec<(u32, u32, u16)>,
    pairs: [Pair; WORD / 2],
    /// Who is near a body that makes its list: body, image.
    pub found: Vec<(u32, u16)>,
}

/// Two neighbours that are looked at together: what [`balls::root`] asks of each.
#[derive(Debug, Clone, Copy, Default)]
struct Pair {
    towards: [f64; 2],
    square: [f64; 2],
    apart: [f64; 2],
}

/// As many neighbours as a word has bits.
const WORD: usize = 64;

/// A neighbour that has just been touched and parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parted {
    pub with: u32,
    pub image: u16,
    /// The normal towards it; balls need none.
    pub normal: Vector3<f64>,
}

fn has_parted(parted: &[Parted], with: u32, image: u16) -> bool {
    parted.iter().any(|parted| parted.with == with && parted.image == image)
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

/// A gap below this share of the size may be a contact now.
pub(super) const CLOSE: f64 = 1e-11;

/// What a mark is less than it might be, so that rounding does not matter.
const MARK: f64 = 1e-6;

impl Crowd {
    /// Finds a body's next event, and sets it. Neighbours in `parted` have just been touched and part.
    #[inline]
    pub(super) fn predict(&mut self, i: usize, t: f64, parted: &[Parted]) {
        self.counts.predictions += 1;
        match (self.mixed, self.settings.growth != 0.0) {
            (false, false) if self.world.planes.is_empty() => match self.equal {
                Some(_) => self.predict_balls::<true>(i, t, parted),
                None => self.predict_balls::<false>(i, t, parted),
            },
            (false, false) => self.predict_as::<false, false>(i, t, parted),
            (false, true) => self.predict_as::<false, true>(i, t, parted),
            (true, false) => self.predict_as::<true, false>(i, t, parted),
            (true, true) => self.predict_as::<true, true>(i, t, parted),
        }
    }

    /// Balls of fixed size among themselves. First those that come too late are put aside, two at a time and without a branch
    /// that could be guessed wrong, so that the memory of all neighbours is asked for at once; then the roots of the few that
    /// are left. Too late is after the body has left home, or after the neighbour's own event.
    #[inline]
    fn predict_balls<const EQUAL: bool>(&mut self, i: usize, t: f64, parted: &[Parted]) {
        if !self.solid(index(i)).is_solid {
            return;
        }
        let hot = &self.hot[..];
        let own = hot[i].line;
        let mut best = Due::home(self.leaves(i, t));
        let own_radius = self.radius(i);
        let radius = |link: Link| if EQUAL { own_radius } else { self.radii[link.with as usize] };
        let both = f64x2::splat;
        let (now, horizon) = (both(t), both(best.time - t));
        let [here, velocity] = [own.at(t), own.velocity].map(|x| [0, 1, 2].map(|k| both(x[k])));
        let pairs = &mut self.scratch.pairs;
        for links in self.lists.of(self.cold[i].row).chunks(WORD) {
            let mut late = 0;
            let mut look = |at: usize, two: [Link; 2], pair: &mut Pair| {
                let hot = two.map(|link| &hot[link.with as usize]);
                let [one, other] = hot.map(bytemuck::cast_ref::<Hot, [f64x2; 4]>);
                let [[px, py], [pz, since], [vx, vy], [vz, due]] =
                    [0, 1, 2, 3].map(|k| f64x2::transpose([one[k], other[k]]));
                let shifts = two.map(|link| self.images.shift(link.image));
                let (position, rate, gone) = ([px, py, pz], [vx, vy, vz], now - since);
                let x = [0, 1, 2].map(|k| {
                    position[k] + rate[k] * gone + f64x2::new([shifts[0][k], shifts[1][k]]) - here[k]
                });
                let v = [0, 1, 2].map(|k| rate[k] - velocity[k]);
                let dot = |a: [f64x2; 3], b: [f64x2; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
                let sum = both(own_radius) + f64x2::new(two.map(radius));
                let size = sum * sum;
                let (towards, square, apart) = (dot(x, v), dot(v, v), dot(x, x) - size);
                let horizon = horizon.fast_min(due - now);
                let later = balls::both_later(towards, square, apart, horizon);
                let far = apart.simd_gt(both(CLOSE) * size);
                late |= u64::from((later & far).to_bitmask()) << (2 * at);
                *pair =
                    Pair { towards: towards.to_array(), square: square.to_array(), apart: apart.to_array() };
            };
            let (twos, rest) = links.as_chunks::<2>();
            for (at, (two, pair)) in twos.iter().zip(pairs.iter_mut()).enumerate() {
                look(at, *two, pair);
            }
            // Of an odd number the last stands for two.
            if let [last] = rest {
                look(twos.len(), [*last; 2], &mut pairs[twos.len()]);
            }
            let mut wanted = !late & (!0 >> (WORD - links.len()));
            while wanted != 0 {
                let at = wanted.trailing_zeros() as usize;
                wanted &= wanted - 1;
                let link = links[at];
                let pair = &pairs[at / 2];
                let [towards, square, apart] =
                    [&pair.towards, &pair.square, &pair.apart].map(|two| two[at % 2]);
                let sum = own_radius + radius(link);
                if apart <= CLOSE * (sum * sum) && !has_parted(parted, link.with, link.image) {
                    self.scratch.close.push((index(i), link.with, link.image));
                }
                let time = t + balls::root(towards, square, apart);
                if time < best.time
                    && time < hot[link.with as usize].due
                    && !has_parted(parted, link.with, link.image)
                {
                    best = Due { time, with: link.with, image: link.image, sinks: false };
                }
            }
        }
        self.schedule(index(i), best);
    }

    #[inline]
    fn predict_as<const MIXED: bool, const GROWS: bool>(&mut self, i: usize, t: f64, parted: &[Parted]) {
        let hot = &self.hot[..];
        let own = hot[i].line;
        let own_radius = self.radius(i);
        let here = own.at(t);
        let (size, growth) = if GROWS { (self.size_at(t), self.settings.growth) } else { (1.0, 0.0) };
        if !self.solid(index(i)).is_solid {
            return;
        }
        let mut best = Due::home(self.leaves(i, t));
        let close = &mut self.scratch.close;
        let candidates = &mut self.scratch.candidates;
        candidates.clear();
        for (at, link) in self.lists.of(self.cold[i].row).iter().enumerate() {
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
                        candidates.push(Candidate {
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
                    close.push((index(i), link.with, link.image));
                }
                if speed < 0.0 {
                    let time = t + height.max(0.0) / -speed;
                    if time < best.time {
                        best = Due { time, with: link.with, image: link.image, sinks: false };
                    }
                }
                continue;
            }
            let other = &hot[link.with as usize].line;
            let radii = own_radius + self.equal.unwrap_or_else(|| self.radii[link.with as usize]);
            let x = other.at(t) + self.images.shift(link.image) - here;
            let v = other.velocity - own.velocity;
            let sum = radii * size;
            let rate = if GROWS { radii * growth } else { 0.0 };
            if MIXED && link.searched() {
                let Some(window) = balls::window(&x, &v, sum, rate) else { continue };
                let limit = best.time.min(hot[link.with as usize].due);
                if t + window[0] >= limit {
                    continue;
                }
                // Neither can have come so far.
                let way = self.path[i].at(limit) + self.path[link.with as usize].at(limit);
                if !GROWS && way < f64::from(self.lists.marks(self.cold[i].row)[at]) {
                    continue;
                }
                let middle = 0.5 * (sum + inside(&self.solids, &self.cold, [i, link.with as usize]) * size);
                let apart = x.norm_squared() - middle * middle;
                let guess = if apart > 0.0 { balls::touch(&x, &v, apart, middle, rate) } else { 0.0 };
                candidates.push(Candidate {
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
                close.push((index(i), link.with, link.image));
            }
            if !GROWS && balls::later(x.dot(&v), v.norm_squared(), apart, best.time - t) {
                continue;
            }
            let tau = balls::touch(&x, &v, apart, sum, rate);
            let time = t + tau;
            if time < best.time
                && time < hot[link.with as usize].due
                && !has_parted(parted, link.with, link.image)
            {
                best = Due { time, with: link.with, image: link.image, sinks: false };
            }
        }
        if MIXED && !self.scratch.candidates.is_empty() {
            best = self.search_all(i, t, &here, best, parted);
        }
        self.schedule(index(i), best);
    }

    /// Sets an event, for both bodies of a pair.
    #[inline]
    pub(super) fn schedule(&mut self, body: u32, due: Due) {
        self.set_due(body, due);
        if due.with < PLANE {
            let image = self.images.opposite(due.image);
            self.set_due(due.with, Due { with: body, image, ..due });
        }
    }

    /// How a body moves from a time on, seen from a place.
    fn course(&self, i: usize, t: f64, from: &Vector3<f64>, wanted_now: bool) -> Course<'_> {
        let line = &self.hot[i].line;
        let turning = match &self.spin[i] {
            Spin::Ball { .. } => None,
            Spin::Turning(turning) => Some((&turning.flight, t - turning.since)),
        };
        let now = match &self.spin[i] {
            Spin::Turning(turning) if wanted_now => turning.at(t),
            _ => (nalgebra::UnitQuaternion::identity(), Vector3::zeros()),
        };
        let (size, growth) = (self.size_at(t), self.settings.growth);
        Course { centre: line.at(t) - from, velocity: line.velocity, turning, now, size, growth }
    }

    /// Searches the candidates for the first contact, in the order in which their balls touch, and no farther than to the
    /// earliest event that is known.
    fn search_all(&mut self, i: usize, t: f64, here: &Vector3<f64>, best: Due, parted: &[Parted]) -> Due {
        let mut best = best;
        let mut candidates = std::mem::take(&mut self.scratch.candidates);
        let mut close = std::mem::take(&mut self.scratch.close);
        let mut marks = std::mem::take(&mut self.scratch.marks);
        candidates.sort_unstable_by(|a, b| {
            a.guess.total_cmp(&b.guess).then((a.with, a.image).cmp(&(b.with, b.image)))
        });
        let (mut searches, mut gaps, mut deepest) = (0, 0, 0.0_f64);
        let mut lost = None;
        let own = self.course(i, t, here, true);
        let own_form = form(self.solid(index(i)), &own);
        for candidate in &candidates {
            let is_plane = candidate.with >= PLANE;
            let parting = parted.iter().find(|&p| (p.with, p.image) == (candidate.with, candidate.image));
            let parts = parting.is_some();
            let theirs = if is_plane { f64::INFINITY } else { self.hot[candidate.with as usize].due };
            let mut until = (best.time.min(theirs) - t).min(candidate.window[1]);
            if until.is_infinite() {
                until = self.clock.length;
                best = Due::look(t + until);
            }
            let from = candidate.window[0];
            if until <= from {
                continue;
            }
            let start = if parts { Start::Parting } else { Start::Anywhere };
            let window = Window { from, until, start };
            let shape = &self.solids[self.cold[i].kind as usize];
            let found = if is_plane {
                let plane = &self.world.planes[(candidate.with - PLANE) as usize];
                // Seen from a place on it the plane stays where it is, whatever the size.
                let course = Course { centre: here - plane.nearest(here), ..own };
                let plane = HalfSpace { offset: 0.0, ..*plane };
                first_contact_with_plane(toi::Moving::new(shape, &course), &plane, window)
            } else {
                let k = candidate.with as usize;
                let other = self.course(k, t, &(here - self.images.shift(candidate.image)), from == 0.0);
                let their_shape = &self.solids[self.cold[k].kind as usize];
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
                        self.spin[i].speed() * shape.lever + self.spin[k].speed() * their_shape.lever;
                    let least = apart.min(apart + (closing - turning) * until);
                    if least > MARK * self.radius(i) {
                        marks.push((candidate.at, self.path[i].at(t) + self.path[k].at(t) + apart));
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
            searches += 1;
            gaps += u64::from(found.evaluations);
            if !is_plane && found.at_start.is_finite() {
                let from = t + from;
                let way = self.path[i].at(from) + self.path[candidate.with as usize].at(from);
                marks.push((candidate.at, way + found.at_start));
            }
            if !parts && found.at_start <= CLOSE * own_size(self, i, candidate.with) {
                close.push((index(i), candidate.with, candidate.image));
            }
            let due =
                |time: f64, sinks: bool| Due { time, with: candidate.with, image: candidate.image, sinks };
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
                        best = Due::look(t + reached);
                    }
                }
                Meeting::Undecided(_) => lost = Some((candidate.with, candidate.image)),
                Meeting::Overlapping(depth) => {
                    deepest = deepest.max(depth);
                    best = due(t, false);
                }
            }
        }
        if deepest > 0.0 {
            self.ledger.see_gap(-deepest, self.counts.collisions);
        }
        for (at, mark) in marks.drain(..) {
            #[expect(clippy::cast_possible_truncation, reason = "less by more than this rounds")]
            let mark = (mark - MARK * (mark.abs() + self.radius(i))) as f32;
            self.lists.mark(self.cold[i].row, at, mark);
        }
        (self.scratch.candidates, self.scratch.close, self.scratch.marks) = (candidates, close, marks);
        self.counts.searches += searches;
        self.counts.gaps += gaps;
        if let Some((with, image)) = lost {
            let met = self.met(i, with, image);
            self.lose(self.sides(&met), Cause::Search);
        }
        best
    }
}

/// The sum of the circumradii of a body and what it meets.
fn own_size(crowd: &Crowd, i: usize, with: u32) -> f64 {
    crowd.radius(i) + if with < PLANE { crowd.radius(with as usize) } else { 0.0 }
}

/// The sum of the inscribed radii of two bodies.
fn inside(solids: &[Solid], cold: &[Cold], pair: [usize; 2]) -> f64 {
    pair.iter().map(|&i| solids[cold[i].kind as usize].inradius()).sum()
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
fn form(solid: &Solid, course: &Course) -> Matrix3<f64> {
    let axes = course.now.0.to_rotation_matrix().into_inner();
    axes * Matrix3::from_diagonal(&solid.squares) * axes.transpose()
}

/// A lower bound of the gap now: along a direction.
fn separation(
    (shape, own): (&Solid, &Course),
    (other, theirs): (&Solid, &Course),
    normal: &Vector3<f64>,
) -> f64 {
    let turned = |course: &Course, way: &Vector3<f64>| course.now.0.inverse_transform_vector(way);
    let reach = shape.support_height(&turned(own, normal)) + other.support_height(&turned(theirs, &-normal));
    normal.dot(&(theirs.centre - own.centre)) - reach
}
