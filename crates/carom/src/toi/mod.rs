//! The first time the gap of two moving bodies closes, with a bound on the error.
//!
//! **Never jumping over a contact.** From any instant, the separation along the normal found there has a lower bound
//! that is concave in time and exact to first order (`bound`): up to its root nothing can touch. The same bound looks
//! back from a later instant. So a step goes farther than the bound reaches, and is accepted if the bound from its end
//! reaches back to where the first left off. Close to a contact inverse cubics find the root of g, with
//! g' = n·(v_Q − v_P), which is exact at the closest points; the bound from the root back certifies that it is the
//! first. While the balls about the bodies are apart, their first touch is a safe step as well, and costs no gap; nor does it
//! to see that two stay apart along a direction that is known to be a good one ([`first_contact_near`]).
//!
//! **Touches without approach.** Where the gap is below 10⁻⁶ of the bodies and hardly changes, the bound crawls. There the
//! gap is followed by cubics through gaps and rates (`follow`), and their minimum tells a graze, a miss and an impact
//! apart. That rests on the cubics foretelling the gap halfway, not on a bound.
//!
//! **What is certified.** No contact before the time returned, but for touches as above, and up to the rounding of the
//! gap: some 10⁻¹⁵ of sizes, distances and ways flown. The time's error follows from that rounding and the approach
//! speed; where there is no approach, from how long the gap stays within rounding of zero.
#![deny(clippy::disallowed_methods, clippy::std_instead_of_core, clippy::std_instead_of_alloc)]

mod bound;
mod brief;
mod follow;
mod pair;
pub mod periodic;
mod rates;
#[cfg(test)]
mod tests;
mod touch;

use nalgebra::Vector3;

use crate::motion::Motion;
use crate::shape::{Convex, HalfSpace};
use bound::first_root;
pub use brief::{Progress, Walk, first_contact_in_brief};
use pair::{Against, Instant, Near, Pair};

/// A body on its way.
#[derive(Debug)]
pub struct Moving<'a, S, M> {
    /// Its shape.
    pub shape: &'a S,
    /// Its motion.
    pub motion: &'a M,
    /// A constant displacement: zero, or that of a periodic image.
    pub image: Vector3<f64>,
}

impl<'a, S, M> Moving<'a, S, M> {
    /// The body itself.
    #[must_use]
    pub fn new(shape: &'a S, motion: &'a M) -> Self {
        Self { shape, motion, image: Vector3::zeros() }
    }

    /// Its image.
    #[must_use]
    pub fn displaced(self, image: Vector3<f64>) -> Self {
        Self { image, ..self }
    }
}

impl<S, M> Clone for Moving<'_, S, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, M> Copy for Moving<'_, S, M> {}

/// The time to search. Motions are not asked for a state outside it. One without an end is undecided, one that ends before
/// it begins has no contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Its beginning.
    pub from: f64,
    /// Its end.
    pub until: f64,
    /// What is known of its beginning.
    pub start: Start,
}

/// What is known of the beginning of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// Nothing: a contact there counts.
    Anywhere,
    /// The bodies touch and are known to part: an impact just resolved, a graze (g'' > 0), or a touch with g'' = 0 and
    /// g''' > 0. The contact does not count, a later one does. Assumed is that the gap grows until it is first seen
    /// plainly above its rounding.
    Parting,
}

impl Window {
    /// From a time until another, nothing being known.
    #[must_use]
    pub fn new(from: f64, until: f64) -> Self {
        Self { from, until, start: Start::Anywhere }
    }

    /// From a contact that parts.
    #[must_use]
    pub fn parting(from: f64, until: f64) -> Self {
        Self { from, until, start: Start::Parting }
    }
}

/// What became of a pair over a window of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Meeting {
    /// They meet.
    At(Contact),
    /// They do not meet in the window.
    Apart,
    /// They overlap at its start by this depth.
    Overlapping(f64),
    /// The bound on the work was reached at this time, without contact until then.
    Undecided(f64),
}

/// A first contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact {
    /// When.
    pub time: f64,
    /// A bound on the error of the time, for the motions as they are: by the rounding of the gap. What the rounding of the data
    /// does that the motions were prepared from is in [`Given`](crate::motion::Given).
    pub time_error: f64,
    /// The gap left at that time, rounding.
    pub gap: f64,
    /// From the first to the second; for a plane, the plane's own.
    pub normal: Vector3<f64>,
    /// Where they touch.
    pub point: Vector3<f64>,
    /// n·(v_second − v_first), or n·v of a body at a plane; negative: closing.
    pub approach: f64,
    /// How they touch.
    pub touch: Touch,
}

/// How two bodies touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// They approach: an impact.
    Approaching,
    /// Without approach, within what rounding resolves, and the motion parts them.
    Grazing,
    /// Without approach, and the motion would let them overlap.
    Sinking,
}

/// A meeting and what it took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    /// What became of the pair.
    pub meeting: Meeting,
    /// In a periodic box, the displacement of the second body that is met or overlaps; else zero.
    pub image: Vector3<f64>,
    /// How often the gap was evaluated.
    pub evaluations: u32,
    /// The gap at the beginning, or less where the bodies plainly stay apart; infinite where it was not looked at, because the
    /// balls about the bodies were apart.
    pub at_start: f64,
}

/// The most evaluations of the gap for one pair.
const MOST_EVALUATIONS: u32 = 100_000;

/// Overlaps up to this share of the sizes are contacts: at the start of a search, and where it starts from a contact
/// that parts.
const OVERLAP: f64 = 1e-12;
const OVERLAP_PARTING: f64 = 1e-9;

/// A separation of more than this share of the sizes is plain, whatever rounding does.
const PLAIN: f64 = 1e-9;

/// The first contact of two bodies.
#[must_use]
pub fn first_contact<A: Convex, M: Motion, B: Convex, N: Motion>(
    first: Moving<A, M>,
    second: Moving<B, N>,
    window: Window,
) -> Search {
    search(&Pair::new(first, Against::Body(second)), window, None)
}

/// [`first_contact`] where the normal at the beginning of the window is nearly known; the same answer to rounding, sooner.
#[must_use]
pub fn first_contact_near<A: Convex, M: Motion, B: Convex, N: Motion>(
    first: Moving<A, M>,
    second: Moving<B, N>,
    window: Window,
    normal: Option<Vector3<f64>>,
) -> Search {
    search(&Pair::new(first, Against::Body(second)), window, normal)
}

/// The first contact of a body with a plane.
#[must_use]
pub fn first_contact_with_plane<S: Convex, M: Motion>(
    body: Moving<S, M>,
    plane: &HalfSpace,
    window: Window,
) -> Search {
    search(&Pair::new(body, Against::<S, M>::Plane(plane)), window, None)
}

fn search<A: Convex, M: Motion, B: Convex, N: Motion>(
    pair: &Pair<A, M, B, N>,
    window: Window,
    normal: Option<Vector3<f64>>,
) -> Search {
    let at_start = f64::INFINITY;
    let mut course = Course { pair, window, normal, reached: window.from, evaluations: 0, at_start };
    let meeting = course.run().unwrap_or_else(|early| early);
    let Course { evaluations, at_start, .. } = course;
    Search { meeting, image: Vector3::zeros(), evaluations, at_start }
}

/// A search under way.
struct Course<'p, 'a, A, M, B, N> {
    pair: &'p Pair<'a, A, M, B, N>,
    window: Window,
    /// Nearly that of the gap at the beginning, if known.
    normal: Option<Vector3<f64>>,
    /// No contact until then.
    reached: f64,
    evaluations: u32,
    at_start: f64,
}

/// The next instant, or how the search ends without it.
type Next = Result<Instant, Meeting>;

impl<'a, A: Convex, M: Motion, B: Convex, N: Motion> Course<'_, 'a, A, M, B, N> {
    fn run(&mut self) -> Result<Meeting, Meeting> {
        if !self.pair.can_meet() {
            return Ok(Meeting::Apart);
        }
        let (from, until) = (self.window.from, self.window.until);
        if until <= from {
            return Ok(Meeting::Apart);
        }
        let states = self.pair.states(from);
        if !((until - from).is_finite() && self.pair.is_finite(&states)) {
            return Ok(Meeting::Undecided(from));
        }
        // Where the balls stay apart there is nothing to evaluate.
        let clear = self.pair.balls_apart(&states, until - from);
        if clear >= until - from {
            return Ok(Meeting::Apart);
        }
        // Balls that just touch may count as apart, and are left like any others.
        let begins = clear == 0.0 || self.window.start == Start::Parting;
        // A direction that is likely to part the bodies may do so all the way.
        let least = if self.window.start == Start::Parting { -OVERLAP_PARTING } else { PLAIN };
        if begins
            && let Some(normal) = &self.normal
            && let Some(apart) = self.pair.parted_along(normal, &states, least, until - from)
        {
            self.at_start = apart;
            return Ok(Meeting::Apart);
        }
        let mut now;
        if begins {
            now =
                self.taken(self.pair.seen(from, states, self.normal.map_or(Near::Nothing, Near::Normal)))?;
            self.at_start = now.gap();
            now = self.begin(now)?;
        } else {
            now = self.at(from + clear, None)?;
        }
        let mut before = None;
        let mut crawling = 0;
        loop {
            self.reached = now.time;
            let left = until - now.time;
            if left <= 0.0 {
                return Ok(Meeting::Apart);
            }
            if now.gap() <= 2.0 * now.unsure {
                return Ok(Meeting::At(self.contact(now)));
            }
            let clear = self.pair.balls_apart(&now.states, left);
            let safe = self.pair.safe_step(&now, left);
            if clear.max(safe) >= left {
                return Ok(Meeting::Apart);
            }
            crawling = if now.gap() <= NEAR * self.pair.size { crawling + 1 } else { 0 };
            let then = if clear > STRIDE * safe {
                self.at(now.time + clear, Some(&now))?
            } else if now.time + safe <= now.time {
                return Ok(self.stuck(now));
            } else if crawling > MOST_CRAWLING {
                crawling = 0;
                self.follow(now, safe)?
            } else {
                self.step(before, &now, safe)?
            };
            before = Some(Before::of(&now));
            now = then;
        }
    }

    /// The pair at a time, near an instant whose normal is a good guess; undecided if the motion is not finite, or the
    /// work too much.
    fn at(&mut self, t: f64, near: Option<&Instant>) -> Next {
        self.evaluate(t, near.map_or(Near::Nothing, Near::Instant))
    }

    /// As above, where no answer depends on how deep a deep overlap is.
    fn about(&mut self, t: f64, near: &Instant) -> Next {
        self.evaluate(t, Near::Loosely(near))
    }

    fn evaluate(&mut self, t: f64, near: Near) -> Next {
        self.taken(self.pair.at(t, near))
    }

    /// An instant that was evaluated, if it is one.
    fn taken(&mut self, found: Option<Instant>) -> Next {
        self.evaluations += 1;
        found
            .filter(|now| now.is_sound() && self.evaluations < MOST_EVALUATIONS)
            .ok_or(Meeting::Undecided(self.reached))
    }

    /// Deals with a beginning at contact.
    fn begin(&mut self, now: Instant) -> Next {
        let parting = self.window.start == Start::Parting;
        let depth = if parting { OVERLAP_PARTING } else { OVERLAP } * self.pair.size;
        if now.gap() < -depth.max(4.0 * now.unsure) {
            return Err(Meeting::Overlapping(-now.gap()));
        }
        if now.gap() > 4.0 * now.unsure {
            return Ok(now);
        }
        let leaves = now.approach > 0.0 && now.approach * now.approach > 64.0 * now.unsure * now.curvature;
        if leaves && let Some(tau) = self.pair.way_out(&now, self.window.until - now.time) {
            let then = self.at(now.time + tau, Some(&now))?;
            if then.gap() > 4.0 * then.unsure {
                return Ok(then);
            }
        }
        if parting { self.step_out(now) } else { Err(Meeting::At(self.contact(now))) }
    }

    /// On to a root predicted within a stride, which ends the search if it is certain to be the first; else a stride: as
    /// far beyond what is safe from here as is safe from there, or just as far as is safe.
    fn step(&mut self, before: Option<Before>, now: &Instant, safe: f64) -> Next {
        let certified = now.time + safe;
        let ahead = predicted(before, now);
        let then = if ahead <= STRIDE * safe && now.time + ahead <= self.window.until {
            self.root(now, ahead)?
        } else {
            self.about((now.time + STRIDE * safe).min(self.window.until), now)?
        };
        if self.pair.holds_back(&then, then.time - certified) {
            if then.is_root() {
                return Err(Meeting::At(self.contact(then)));
            }
            if then.gap() > 0.0 && then.time > now.time {
                return Ok(then);
            }
        }
        self.at(certified, Some(now))
    }

    /// Towards a predicted root of the gap, by inverse cubics through the last two gaps and rates: the last instant
    /// of the search, a root or not.
    fn root(&mut self, from: &Instant, ahead: f64) -> Next {
        let mut last = *from;
        let mut next = last.time + ahead;
        for _ in 0..MOST_ROOT_STEPS {
            let here = self.about(next, &last)?;
            let before = last;
            let closer = here.gap().abs() < 0.5 * before.gap().abs();
            if closer || here.gap() > 0.0 {
                last = here;
            }
            if !closer || here.approach >= 0.0 || here.gap().abs() <= 0.25 * here.unsure {
                break;
            }
            next = inverse_cubic(&before, &here).unwrap_or(here.time - here.gap() / here.approach);
            if next.is_nan() || next < from.time || next > self.window.until || next == here.time {
                break;
            }
        }
        Ok(last)
    }

    /// A step that no longer moves the clock has arrived as far as floating point goes.
    fn stuck(&mut self, now: Instant) -> Meeting {
        if now.gap() <= 100.0 * now.unsure {
            Meeting::At(self.contact(now))
        } else {
            Meeting::Undecided(now.time)
        }
    }
}

/// A gap below this share of the sizes is near, and more steps there than the number below are a crawl.
const NEAR: f64 = 1e-6;
const MOST_CRAWLING: u32 = 3;

const MOST_ROOT_STEPS: u32 = 8;

/// How far a step goes beyond what is safe from its beginning, to be certified from its end.
const STRIDE: f64 = 1.6;

/// What is kept of an instant before.
#[derive(Debug, Clone, Copy)]
struct Before {
    time: f64,
    approach: f64,
}

impl Before {
    fn of(instant: &Instant) -> Self {
        Self { time: instant.time, approach: instant.approach }
    }
}

/// How far ahead the gap should close, from its rate and how that changed since an instant before.
fn predicted(before: Option<Before>, now: &Instant) -> f64 {
    if now.approach >= 0.0 {
        return f64::INFINITY;
    }
    let newton = -now.gap() / now.approach;
    let Some(before) = before else { return newton };
    let bend = 0.5 * (now.approach - before.approach) / (now.time - before.time);
    let root = first_root(now.gap(), now.approach, bend);
    if root.is_finite() { root } else { newton }
}

/// Where the cubic t(g) through two instants, with the slopes 1/g', has g = 0.
fn inverse_cubic(a: &Instant, b: &Instant) -> Option<f64> {
    let (rise, run) = (b.gap() - a.gap(), b.time - a.time);
    // A cubic does not fit rates that differ much.
    let ratio = a.approach / b.approach;
    if rise == 0.0 || !(0.25..=4.0).contains(&ratio) {
        return None;
    }
    // x from a to b as g goes from a's to b's; zero lies at x = −g_a/rise.
    let x = -a.gap() / rise;
    let (da, db) = (rise / a.approach - run, rise / b.approach - run);
    let time = a.time + x * run + x * (1.0 - x) * (da * (1.0 - x) - db * x);
    Some(time)
}
