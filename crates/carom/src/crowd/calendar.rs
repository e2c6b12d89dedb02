//! What is due next: one event a body, found in constant time.
//!
//! A calendar of days of equal width (R. Brown 1988; for event-driven dynamics G. Paul, "A complexity O(1) priority queue
//! for event driven molecular dynamics simulations", 2007): an event stands on the day of its time, and days pass in
//! order. The width is such that a day holds a few events, so that the earliest of a day is found by looking at all of
//! them. Events beyond the last day wait in a heap of their own, which is looked through twice a year.
//!
//! Each body has exactly one event. Entries are chained through the bodies' own records, so that moving one costs a few
//! writes and no memory. Of two events at one time, the body of the smaller index is first.

use serde::{Deserialize, Serialize};

/// No body: the end of a chain.
pub(super) const NOBODY: u32 = u32::MAX;

/// A body's next event.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Due {
    /// When; infinite if nothing is due.
    pub time: f64,
    /// With whom, or one of the codes below.
    pub with: u32,
    /// Which image of it.
    pub image: u16,
    /// Whether the search for it ended where the bodies touch without approach and sink.
    pub sinks: bool,
}

/// The body leaves its neighbourhood.
pub(super) const HOME: u32 = u32::MAX - 1;
/// The body looks anew.
pub(super) const LOOK: u32 = u32::MAX - 2;
/// From here on, planes: the number of a plane added.
pub(super) const PLANE: u32 = 1 << 31;

impl Due {
    pub const NEVER: Self = Self { time: f64::INFINITY, with: LOOK, image: 0, sinks: false };
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    due: Due,
    next: u32,
    previous: u32,
    /// Where it stands; [`NOBODY`] nowhere.
    day: u32,
}

/// The events of all bodies.
#[derive(Debug, Clone)]
pub(super) struct Calendar {
    entries: Vec<Entry>,
    /// The first of each day, and last those beyond.
    days: Vec<u32>,
    width: f64,
    per_width: f64,
    /// Days since time zero.
    today: u64,
}

/// Events a day, about.
const A_DAY: f64 = 2.0;

/// Days a body.
const DAYS: usize = 2;

impl Calendar {
    pub fn new(bodies: usize) -> Self {
        let days = (DAYS * bodies).next_power_of_two().max(16);
        let entry = Entry { due: Due::NEVER, next: NOBODY, previous: NOBODY, day: NOBODY };
        Self {
            entries: vec![entry; bodies],
            days: vec![NOBODY; days + 1],
            width: 1.0,
            per_width: 1.0,
            today: 0,
        }
    }

    /// A body's event.
    #[inline(always)]
    pub fn due(&self, body: u32) -> &Due {
        &self.entries[body as usize].due
    }

    /// When a body's event is due.
    #[inline(always)]
    pub fn time(&self, body: u32) -> f64 {
        self.entries[body as usize].due.time
    }

    /// Gives a body another event.
    #[inline]
    pub fn set(&mut self, body: u32, due: Due) {
        self.unchain(body);
        self.entries[body as usize].due = due;
        self.chain(body);
    }

    /// Takes a body's event away for now.
    #[inline]
    pub fn clear(&mut self, body: u32) {
        self.unchain(body);
        self.entries[body as usize].due = Due::NEVER;
    }

    #[inline]
    fn year(&self) -> u64 {
        self.days.len() as u64 - 1
    }

    /// The day of a time, counted from zero.
    #[inline]
    fn day_of(&self, time: f64) -> u64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, as meant")]
        let day = (time * self.per_width) as u64;
        day.max(self.today)
    }

    #[inline]
    fn chain(&mut self, body: u32) {
        let time = self.entries[body as usize].due.time;
        if time == f64::INFINITY {
            return;
        }
        let (day, year) = (self.day_of(time), self.year());
        let place = if day - self.today >= year { year } else { day & (year - 1) };
        #[expect(clippy::cast_possible_truncation, reason = "no more than the days of a year")]
        let at = place as usize;
        let first = self.days[at];
        self.days[at] = body;
        if first != NOBODY {
            self.entries[first as usize].previous = body;
        }
        let entry = &mut self.entries[body as usize];
        (entry.next, entry.previous) = (first, NOBODY);
        entry.day = super::index(at);
    }

    #[inline]
    fn unchain(&mut self, body: u32) {
        let Entry { next, previous, day, .. } = self.entries[body as usize];
        if day == NOBODY {
            return;
        }
        if previous == NOBODY {
            self.days[day as usize] = next;
        } else {
            self.entries[previous as usize].next = next;
        }
        if next != NOBODY {
            self.entries[next as usize].previous = previous;
        }
        self.entries[body as usize].day = NOBODY;
    }

    /// The body whose event is first; none if nothing is due at all.
    #[inline]
    pub fn first(&mut self) -> Option<u32> {
        let year = self.year();
        let mut empty = 0;
        loop {
            #[expect(clippy::cast_possible_truncation, reason = "no more than the days of a year")]
            let at = (self.today & (year - 1)) as usize;
            let mut body = self.days[at];
            if body != NOBODY {
                let mut best = body;
                let mut soonest = self.entries[body as usize].due.time;
                loop {
                    body = self.entries[body as usize].next;
                    if body == NOBODY {
                        return Some(best);
                    }
                    let time = self.entries[body as usize].due.time;
                    if time < soonest || time == soonest && body < best {
                        (best, soonest) = (body, time);
                    }
                }
            }
            self.today += 1;
            empty += 1;
            if self.today & (year / 2 - 1) == 0 {
                self.call_in();
            }
            if empty > year {
                self.skip()?;
                empty = 0;
            }
        }
    }

    /// Puts events from beyond the year onto its days.
    #[cold]
    fn call_in(&mut self) {
        let beyond = self.days.len() - 1;
        let mut body = self.days[beyond];
        while body != NOBODY {
            let Entry { next, due, .. } = self.entries[body as usize];
            if self.day_of(due.time) - self.today < self.year() {
                self.unchain(body);
                self.chain(body);
            }
            body = next;
        }
    }

    /// Goes on to the first event beyond the year; none if there is none.
    #[cold]
    fn skip(&mut self) -> Option<()> {
        let mut body = self.days[self.days.len() - 1];
        let mut soonest = f64::INFINITY;
        while body != NOBODY {
            let entry = &self.entries[body as usize];
            soonest = soonest.min(entry.due.time);
            body = entry.next;
        }
        if soonest == f64::INFINITY {
            return None;
        }
        self.today = self.day_of(soonest);
        self.call_in();
        Some(())
    }

    /// Makes days anew, for the events as they are, from a time on.
    pub fn tune(&mut self, now: f64) {
        let mut waits: Vec<f64> =
            self.entries.iter().map(|entry| entry.due.time - now).filter(|wait| wait.is_finite()).collect();
        self.width = 1.0;
        if !waits.is_empty() {
            let count = waits.len();
            let (_, median, _) = waits.select_nth_unstable_by(count / 2, f64::total_cmp);
            // The median of an exponential distribution, as that of waiting times is, is ln 2 of its mean.
            #[expect(clippy::cast_precision_loss, reason = "a count of bodies")]
            let width = *median / core::f64::consts::LN_2 / count as f64 * A_DAY;
            // Days are counted in 64 bits.
            self.width = width.max(1e-15 * (now + *median)).max(f64::MIN_POSITIVE * 1e20);
        }
        self.per_width = self.width.recip();
        self.today = 0;
        self.today = self.day_of(now);
        self.days.fill(NOBODY);
        for body in 0..self.entries.len() {
            self.entries[body].day = NOBODY;
            self.chain(super::index(body));
        }
    }

    /// Moves the zero of time.
    pub fn shift(&mut self, by: f64, now: f64) {
        for entry in &mut self.entries {
            entry.due.time -= by;
        }
        self.tune(now);
    }

    /// Puts the bodies into another order: `from[k]` is the old index of what becomes k, `to` the other way.
    pub fn reorder(&mut self, from: &[u32], to: &[u32], now: f64) {
        let old: Vec<Due> = self.entries.iter().map(|entry| entry.due).collect();
        for (entry, &k) in self.entries.iter_mut().zip(from) {
            entry.due = old[k as usize];
            if entry.due.with < PLANE {
                entry.due.with = to[entry.due.with as usize];
            }
        }
        self.tune(now);
    }

    /// All events.
    pub fn all(&self) -> impl Iterator<Item = &Due> {
        self.entries.iter().map(|entry| &entry.due)
    }

    /// Another image of the partner, after bodies were put back into the box; none if it is no neighbour any more, and the
    /// body looks anew at that time.
    pub fn see_image(&mut self, body: u32, image: Option<u16>) {
        let due = &mut self.entries[body as usize].due;
        match image {
            Some(image) => due.image = image,
            None => due.with = LOOK,
        }
    }

    /// Bytes taken.
    pub fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>() + self.days.capacity() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random events, set, moved and taken: always the earliest comes out.
    #[test]
    fn the_earliest_comes_first() {
        let mut seed = 12345_u64;
        let mut draw = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from(u32::try_from(seed >> 33).unwrap_or(0)) / f64::from(1_u32 << 31)
        };
        let count = 50_u32;
        let mut calendar = Calendar::new(count as usize);
        let due = |time| Due { time, ..Due::NEVER };
        for body in 0..count {
            calendar.set(body, due(-10.0 * draw().max(1e-9).ln()));
        }
        calendar.tune(0.0);
        let mut now = 0.0;
        for round in 0..20_000 {
            let body = calendar.first();
            let soonest = calendar.all().map(|due| due.time).fold(f64::INFINITY, f64::min);
            let Some(body) = body else { panic!("nothing due") };
            assert_eq!(calendar.time(body), soonest);
            assert!(soonest >= now);
            now = soonest;
            let far = if draw() < 0.01 { 1e4 } else { 1.0 };
            calendar.set(body, due(now - far * draw().max(1e-9).ln()));
            let other = (draw() * f64::from(count)).floor();
            let other = (0..count).find(|&k| f64::from(k) == other).unwrap_or(0);
            calendar.set(other, due(now + draw()));
            if round % 1000 == 999 {
                calendar.shift(now, 0.0);
                now = 0.0;
            }
        }
        for body in 0..count {
            calendar.clear(body);
        }
        assert_eq!(calendar.first(), None);
    }
}
