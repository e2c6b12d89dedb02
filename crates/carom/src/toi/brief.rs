//! The usual course of a search as a loop that evaluates the gap in one place, for machines on which many searches run in step.
//!
//! On a GPU 32 searches share one sequence of instructions: where they differ they wait for each other, and the way that one of them in a thousand takes
//! costs all of them its registers. Here each turn of the loop moves both bodies to a time, finds the gap there from what is known nearby, and
//! then settles what the instant is for and where to look next. What [`first_contact`](super::first_contact) does rarely (touches without approach, crawling,
//! overlaps, gaps that take more than one climb) is left to it: the search gives up, and nothing is returned. Every answer that is, has the
//! same bits; a test holds the two together.

use super::pair::{Against, Instant, Near, Pair};
use super::{
    Contact, MOST_CRAWLING, MOST_ROOT_STEPS, Meeting, Moving, NEAR, OVERLAP, OVERLAP_PARTING, STRIDE,
};
use super::{Start, Touch, Window, inverse_cubic, predicted};
use crate::motion::Motion;
use crate::shape::Convex;

/// The first contact of two bodies that are free from outside accelerations or not, as [`first_contact`](super::first_contact) finds it, to the
/// bit; nothing where that takes one of its rarer ways.
#[must_use]
pub fn first_contact_in_brief<A: Convex, M: Motion, B: Convex, N: Motion>(
    first: Moving<A, M>,
    second: Moving<B, N>,
    window: Window,
) -> Option<Meeting> {
    run(&Pair::new(first, Against::Body(second)), window)
}

/// What the gap is evaluated for.
#[derive(Clone, Copy, PartialEq)]
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

fn run<A: Convex, M: Motion, B: Convex, N: Motion>(
    pair: &Pair<A, M, B, N>,
    window: Window,
) -> Option<Meeting> {
    let Window { from, until, start } = window;
    if !pair.can_meet() || until <= from {
        return Some(Meeting::Apart);
    }
    let states = pair.states(from);
    if !((until - from).is_finite() && pair.is_finite(&states)) {
        return None;
    }
    let clear = pair.balls_apart(&states, until - from);
    if clear >= until - from {
        return Some(Meeting::Apart);
    }
    let parting = start == Start::Parting;
    let begins = clear == 0.0 || parting;
    let mut purpose = if begins { Purpose::Begin } else { Purpose::Arrive };
    let mut time = if begins { from } else { from + clear };
    // Up to which the step under way is safe, and how often its root was looked for.
    let (mut certified, mut rounds) = (from, 0);
    let mut crawling = 0;
    let mut before: Option<Instant> = None;
    let mut now: Option<Instant> = None;
    let mut last: Option<Instant> = None;
    for _ in 0..MOST_EVALUATIONS {
        let near = match (purpose, &now, &last) {
            (Purpose::Root, _, Some(last)) => Near::Loosely(last),
            (Purpose::Stride, Some(now), _) => Near::Loosely(now),
            (_, Some(now), _) => Near::Instant(now),
            _ => Near::Nothing,
        };
        let here = pair.seen_at_once(time, pair.states(time), near).filter(Instant::is_sound)?;
        match purpose {
            Purpose::Begin => {
                let depth = if parting { OVERLAP_PARTING } else { OVERLAP } * pair.size;
                if here.gap() < -depth.max(4.0 * here.unsure) {
                    return None;
                }
                if here.gap() <= 4.0 * here.unsure {
                    let leaves = here.approach > 0.0
                        && here.approach * here.approach > 64.0 * here.unsure * here.curvature;
                    let tau = if leaves { pair.way_out(&here, until - here.time)? } else { return None };
                    (purpose, time, now) = (Purpose::Part, here.time + tau, Some(here));
                    continue;
                }
                now = Some(here);
            }
            Purpose::Part => {
                if here.gap() <= 4.0 * here.unsure {
                    return None;
                }
                now = Some(here);
            }
            Purpose::Arrive => {
                before = now;
                now = Some(here);
            }
            Purpose::Stride | Purpose::Root => {
                let from = now.as_ref()?;
                let mut then = here;
                if purpose == Purpose::Root {
                    let known = last.as_ref().unwrap_or(from);
                    let closer = here.gap().abs() < 0.5 * known.gap().abs();
                    rounds += 1;
                    let mut next = f64::NAN;
                    if closer
                        && here.approach < 0.0
                        && here.gap().abs() > 0.25 * here.unsure
                        && rounds < MOST_ROOT_STEPS
                    {
                        next = inverse_cubic(known, &here).unwrap_or(here.time - here.gap() / here.approach);
                    }
                    if !closer && here.gap() <= 0.0 {
                        then = *known;
                    }
                    if !(next.is_nan() || next < from.time || next > until || next == here.time) {
                        (last, time) = (Some(then), next);
                        continue;
                    }
                }
                let mut arrived = false;
                if pair.holds_back(&then, then.time - certified) {
                    if then.is_root() {
                        return contact(pair, window, &then);
                    }
                    arrived = then.gap() > 0.0 && then.time > from.time;
                }
                if !arrived {
                    (purpose, time) = (Purpose::Arrive, certified);
                    continue;
                }
                before = now;
                now = Some(then);
            }
        }
        // From a new instant, on.
        let here = now.as_ref()?;
        let left = until - here.time;
        if left <= 0.0 {
            return Some(Meeting::Apart);
        }
        if here.gap() <= 2.0 * here.unsure {
            return contact(pair, window, here);
        }
        let clear = pair.balls_apart(&here.states, left);
        let safe = pair.safe_step(here, left);
        if clear.max(safe) >= left {
            return Some(Meeting::Apart);
        }
        crawling = if here.gap() <= NEAR * pair.size { crawling + 1 } else { 0 };
        if clear > STRIDE * safe {
            (purpose, time) = (Purpose::Arrive, here.time + clear);
        } else if here.time + safe <= here.time || crawling > MOST_CRAWLING {
            return None;
        } else {
            certified = here.time + safe;
            let ahead = predicted(before.as_ref(), here);
            if ahead <= STRIDE * safe && here.time + ahead <= until {
                (purpose, time, last, rounds) = (Purpose::Root, here.time + ahead, Some(*here), 0);
            } else {
                (purpose, time) = (Purpose::Stride, (here.time + STRIDE * safe).min(until));
            }
        }
    }
    None
}

/// The contact at an instant whose gap is zero within rounding, if it closes plainly.
fn contact<A: Convex, M: Motion, B: Convex, N: Motion>(
    pair: &Pair<A, M, B, N>,
    window: Window,
    now: &Instant,
) -> Option<Meeting> {
    if now.is_slow() {
        return None;
    }
    let time = (now.time - now.gap() / now.approach).clamp(window.from, window.until);
    Some(Meeting::At(Contact {
        time,
        time_error: 1.1 * now.unsure / -now.approach + 2.0 * f64::EPSILON * now.time.abs(),
        gap: now.gap(),
        normal: now.found.normal,
        point: pair.point(&now.found),
        approach: now.approach,
        touch: Touch::Approaching,
    }))
}
