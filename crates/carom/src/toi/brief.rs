//! The usual course of a search as a loop that evaluates the gap in one place, for machines on which many searches run in step.
//!
//! On a GPU 32 searches share one sequence of instructions: where they differ they wait for each other, and the way that one of them in a thousand takes
//! costs all of them its registers. Here each turn of the loop moves both bodies to a time, finds the gap there from what is known nearby, and
//! then settles what the instant is for and where to look next. What [`first_contact`](super::first_contact) does rarely (touches without approach, crawling,
//! overlaps, gaps that take more than one climb) is left to it: the search gives up, and nothing is returned. Every answer that is, has the
//! same bits; a test holds the two together.

use super::pair::{Against, Instant, Near, Pair};
use super::{
    Before, Contact, MOST_CRAWLING, MOST_ROOT_STEPS, Meeting, Moving, NEAR, OVERLAP, OVERLAP_PARTING, STRIDE,
};
use super::{Start, Touch, Window, inverse_cubic, predicted};
use crate::motion::Motion;
use crate::shape::Convex;

/// The first contact of two bodies, as [`first_contact`](super::first_contact) finds it, to the bit; nothing where that takes one of its rarer
/// ways.
#[must_use]
pub fn first_contact_in_brief<A: Convex, M: Motion, B: Convex, N: Motion>(
    first: Moving<A, M>,
    second: Moving<B, N>,
    window: Window,
) -> Option<Meeting> {
    let mut walk = Walk::new(window);
    let mut progress = walk.begin(first, second);
    loop {
        match progress {
            Progress::On => progress = walk.turn(first, second),
            Progress::Over(meeting) => return Some(meeting),
            Progress::Left => return None,
        }
    }
}

/// How far a search has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Progress {
    /// It goes on.
    On,
    /// It has ended.
    Over(Meeting),
    /// It is not for this search to say.
    Left,
}

/// A search between two evaluations of the gap.
#[derive(Debug, Clone, Copy)]
pub struct Walk {
    window: Window,
    purpose: Purpose,
    time: f64,
    /// Up to which the step under way is safe.
    certified: f64,
    /// How often its root was looked for.
    rounds: u32,
    crawling: u32,
    evaluations: u32,
    before: Option<Before>,
    now: Option<Instant>,
    last: Option<Instant>,
    ended: Option<Meeting>,
}

/// What the gap is evaluated for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Purpose {
    /// The beginning.
    Begin,
    /// Whether a contact at the beginning has parted.
    Part,
    /// The end of a step that is safe.
    Arrive,
    /// The end of a stride, which must be safe when looked back from.
    Stride,
    /// The root that the gap should have.
    Root,
}

/// The most evaluations before a search gives up.
const MOST_EVALUATIONS: u32 = 100;

impl Walk {
    /// A search of a window.
    #[must_use]
    pub fn new(window: Window) -> Self {
        Self {
            window,
            purpose: Purpose::Begin,
            time: window.from,
            certified: window.from,
            rounds: 0,
            crawling: 0,
            evaluations: 0,
            before: None,
            now: None,
            last: None,
            ended: None,
        }
    }

    /// Keeps how it has ended.
    pub fn end(&mut self, meeting: Meeting) {
        self.ended = Some(meeting);
    }

    /// How it has ended, if that was kept.
    #[must_use]
    pub fn ended(&self) -> Option<Meeting> {
        self.ended
    }

    /// What can be said without a gap.
    pub fn begin<A: Convex, M: Motion, B: Convex, N: Motion>(
        &mut self,
        first: Moving<A, M>,
        second: Moving<B, N>,
    ) -> Progress {
        let pair = Pair::new(first, Against::Body(second));
        let Window { from, until, start } = self.window;
        if !pair.can_meet() || until <= from {
            return Progress::Over(Meeting::Apart);
        }
        let states = pair.states(from);
        if !((until - from).is_finite() && pair.is_finite(&states)) {
            return Progress::Left;
        }
        let clear = pair.balls_apart(&states, until - from);
        if clear >= until - from {
            return Progress::Over(Meeting::Apart);
        }
        if clear > 0.0 && start != Start::Parting {
            (self.purpose, self.time) = (Purpose::Arrive, from + clear);
        }
        Progress::On
    }

    /// One evaluation of the gap, and what follows from it. The bodies must be those that the search began with.
    #[inline(always)]
    pub fn turn<A: Convex, M: Motion, B: Convex, N: Motion>(
        &mut self,
        first: Moving<A, M>,
        second: Moving<B, N>,
    ) -> Progress {
        let pair = Pair::new(first, Against::Body(second));
        let near = match (self.purpose, &self.now, &self.last) {
            (Purpose::Root, _, Some(last)) => Near::Loosely(last),
            (Purpose::Root | Purpose::Stride, Some(now), None) | (Purpose::Stride, Some(now), _) => {
                Near::Loosely(now)
            }
            (_, Some(now), _) => Near::Instant(now),
            _ => Near::Nothing,
        };
        let here = pair.seen_at_once(self.time, pair.states(self.time), near);
        let Some(here) = here.filter(|here| here.is_sound() && self.evaluations < MOST_EVALUATIONS) else {
            return Progress::Left;
        };
        self.evaluations += 1;
        match self.settle(&pair, here) {
            Settled::New => self.go_on(&pair),
            Settled::Again => Progress::On,
            Settled::Contact(then) => contact(&pair, self.window, &then),
            Settled::Left => Progress::Left,
        }
    }

    /// What an instant was evaluated for.
    #[inline(always)]
    fn settle<A: Convex, M: Motion, B: Convex, N: Motion>(
        &mut self,
        pair: &Pair<A, M, B, N>,
        here: Instant,
    ) -> Settled {
        match self.purpose {
            Purpose::Begin => {
                let parting = self.window.start == Start::Parting;
                let depth = if parting { OVERLAP_PARTING } else { OVERLAP } * pair.size;
                if here.gap() < -depth.max(4.0 * here.unsure) {
                    return Settled::Left;
                }
                self.now = Some(here);
                if here.gap() > 4.0 * here.unsure {
                    return Settled::New;
                }
                let leaves = here.approach > 0.0
                    && here.approach * here.approach > 64.0 * here.unsure * here.curvature;
                let out = leaves.then(|| pair.way_out(&here, self.window.until - here.time)).flatten();
                let Some(tau) = out else { return Settled::Left };
                (self.purpose, self.time) = (Purpose::Part, here.time + tau);
                Settled::Again
            }
            Purpose::Part => {
                self.now = Some(here);
                if here.gap() > 4.0 * here.unsure { Settled::New } else { Settled::Left }
            }
            Purpose::Arrive => {
                self.before = self.now.as_ref().map(Before::of);
                self.now = Some(here);
                Settled::New
            }
            Purpose::Stride | Purpose::Root => {
                let Some(from) = &self.now else { return Settled::Left };
                let mut then = here;
                if self.purpose == Purpose::Root {
                    let known = self.last.as_ref().unwrap_or(from);
                    let closer = here.gap().abs() < 0.5 * known.gap().abs();
                    self.rounds += 1;
                    let mut next = f64::NAN;
                    if closer
                        && here.approach < 0.0
                        && here.gap().abs() > 0.25 * here.unsure
                        && self.rounds < MOST_ROOT_STEPS
                    {
                        next = inverse_cubic(known, &here).unwrap_or(here.time - here.gap() / here.approach);
                    }
                    if !closer && here.gap() <= 0.0 {
                        then = *known;
                    }
                    if !(next.is_nan() || next < from.time || next > self.window.until || next == here.time) {
                        (self.last, self.time) = (Some(then), next);
                        return Settled::Again;
                    }
                }
                if pair.holds_back(&then, then.time - self.certified) {
                    if then.is_root() {
                        return Settled::Contact(then);
                    }
                    if then.gap() > 0.0 && then.time > from.time {
                        self.before = Some(Before::of(from));
                        self.now = Some(then);
                        return Settled::New;
                    }
                }
                (self.purpose, self.time) = (Purpose::Arrive, self.certified);
                Settled::Again
            }
        }
    }

    /// On from a new instant.
    #[inline(always)]
    fn go_on<A: Convex, M: Motion, B: Convex, N: Motion>(&mut self, pair: &Pair<A, M, B, N>) -> Progress {
        let until = self.window.until;
        let Some(here) = &self.now else { return Progress::Left };
        let left = until - here.time;
        if left <= 0.0 {
            return Progress::Over(Meeting::Apart);
        }
        if here.gap() <= 2.0 * here.unsure {
            return contact(pair, self.window, here);
        }
        let clear = pair.balls_apart(&here.states, left);
        let safe = pair.safe_step(here, left);
        if clear.max(safe) >= left {
            return Progress::Over(Meeting::Apart);
        }
        self.crawling = if here.gap() <= NEAR * pair.size { self.crawling + 1 } else { 0 };
        if clear > STRIDE * safe {
            (self.purpose, self.time) = (Purpose::Arrive, here.time + clear);
            return Progress::On;
        }
        if here.time + safe <= here.time || self.crawling > MOST_CRAWLING {
            return Progress::Left;
        }
        self.certified = here.time + safe;
        let ahead = predicted(self.before, here);
        if ahead <= STRIDE * safe && here.time + ahead <= until {
            (self.purpose, self.time, self.rounds) = (Purpose::Root, here.time + ahead, 0);
            self.last = None;
        } else {
            (self.purpose, self.time) = (Purpose::Stride, (here.time + STRIDE * safe).min(until));
        }
        Progress::On
    }
}

/// What became of an evaluation.
#[expect(clippy::large_enum_variant, reason = "one at a time, and it is taken apart at once")]
enum Settled {
    /// There is a new instant to go on from.
    New,
    /// The gap is wanted at another time.
    Again,
    /// The bodies touch.
    Contact(Instant),
    /// It is not for this search to say.
    Left,
}

/// The contact at an instant whose gap is zero within rounding, if it closes plainly.
fn contact<A: Convex, M: Motion, B: Convex, N: Motion>(
    pair: &Pair<A, M, B, N>,
    window: Window,
    now: &Instant,
) -> Progress {
    if now.is_slow() {
        return Progress::Left;
    }
    let time = (now.time - now.gap() / now.approach).clamp(window.from, window.until);
    Progress::Over(Meeting::At(Contact {
        time,
        time_error: 1.1 * now.unsure / -now.approach + 2.0 * f64::EPSILON * now.time.abs(),
        gap: now.gap(),
        normal: now.found.normal,
        point: pair.point(&now.found),
        approach: now.approach,
        touch: Touch::Approaching,
    }))
}
