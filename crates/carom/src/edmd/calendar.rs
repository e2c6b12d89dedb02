//! What is due next: one event a body, found in constant time.
//!
//! A calendar of weeks of equal width (R. Brown 1988; for event-driven dynamics G. Paul, "A complexity O(1) priority queue
//! for event driven molecular dynamics simulations", 2007): an event is noted in the week of its time, and weeks pass in
//! order. When a week comes its notes are put in order of time, on the agenda. What is still added to a week that has come
//! waits in a heap beside the agenda. Notes beyond the last week lie in a pile of their own, which is looked through twice a
//! year.
//!
//! Each body has exactly one event. A note is never taken back: it is void when the body's event is no longer at its time.
//! So whoever gets another event costs one note, at the end of a week's, and there are so few weeks that their ends are near
//! the processor; and the agenda tells what will be wanted soon (`ahead`). Of two events at one time, the body of the smaller
//! index is first.

use core::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use bytemuck::{Pod, Zeroable};

use super::huge_pages::HugePageArray;
use super::next_event::NOBODY;
use super::storage::Hot;

/// That a body has an event at a time, or had.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct QueueEntry {
    pub time: f64,
    pub body: u32,
    /// With whom, as the event has it.
    pub with: u32,
}

impl Ord for QueueEntry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.time.total_cmp(&other.time).then(self.body.cmp(&other.body))
    }
}

impl PartialOrd for QueueEntry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for QueueEntry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for QueueEntry {}

impl QueueEntry {
    /// Whether the event is still due.
    #[inline(always)]
    pub fn holds(&self, hot: &[Hot]) -> bool {
        hot[self.body as usize].due == self.time
    }
}

/// Notes of the events of all bodies; the events themselves are with the bodies.
#[derive(Debug, Clone)]
pub(super) struct Calendar {
    /// The weeks of a year, by their number modulo the year, and last what comes later than that.
    weeks: Vec<Week>,
    pages: Pages,
    /// How many notes there are in weeks to come and beyond.
    waiting: usize,
    /// The notes of the weeks that have come, in order, and how many of them are past.
    agenda: Vec<QueueEntry>,
    past: usize,
    /// How many notes have left the agenda.
    gone: u64,
    /// What was added to those weeks since.
    added: BinaryHeap<Reverse<QueueEntry>>,
    per_width: f64,
    /// Weeks since time zero, up to the latest that has come.
    week: u64,
}

/// The notes of a week: its last page, and the notes on that.
#[derive(Debug, Clone, Copy)]
struct Week {
    page: u32,
    notes: u32,
}

impl Week {
    const EMPTY: Self = Self { page: NOBODY, notes: PAGE };
}

/// Notes on a page.
const PAGE: u32 = 16;

/// Pages for notes, each with the number of the page before.
#[derive(Debug, Clone, Default)]
struct Pages {
    notes: HugePageArray<[QueueEntry; PAGE as usize]>,
    before: Vec<u32>,
    /// The first of those that nobody uses.
    free: Option<u32>,
}

impl Pages {
    #[inline(always)]
    fn write(&mut self, week: &mut Week, note: QueueEntry) {
        if week.notes == PAGE {
            *week = Week { page: self.take(week.page), notes: 0 };
        }
        self.notes[week.page as usize][week.notes as usize] = note;
        week.notes += 1;
    }

    /// A page that follows another.
    fn take(&mut self, before: u32) -> u32 {
        if let Some(page) = self.free {
            let next = std::mem::replace(&mut self.before[page as usize], before);
            self.free = (next != NOBODY).then_some(next);
            return page;
        }
        let page = self.notes.len();
        self.notes.fill_up(Zeroable::zeroed(), page + 1);
        self.before.push(before);
        super::index(page)
    }

    /// Reads the notes of a week, the last page first, and frees its pages. How many there were.
    fn tear_out(&mut self, week: Week, mut read: impl FnMut(&QueueEntry)) -> usize {
        let (mut page, mut notes, mut count) = (week.page, week.notes, 0);
        while page != NOBODY {
            self.notes[page as usize][..notes as usize].iter().for_each(&mut read);
            count += notes as usize;
            let before = std::mem::replace(&mut self.before[page as usize], self.free.unwrap_or(NOBODY));
            self.free = Some(page);
            (page, notes) = (before, PAGE);
        }
        count
    }
}

/// Notes on the agenda, at least: those who read ahead want to see some.
const AHEAD: usize = 64;

/// Notes that wait, a body, at most: of a time that does not come near, void ones could pile up.
const MOST: usize = 16;

/// The most events of a week.
const A_WEEK: f64 = 1024.0;

/// Mean waiting times in a year.
const A_YEAR: f64 = 4.0;

impl Calendar {
    pub fn new() -> Self {
        Self {
            weeks: vec![Week::EMPTY; 3],
            pages: Pages::default(),
            waiting: 0,
            agenda: Vec::new(),
            past: 0,
            gone: 0,
            added: BinaryHeap::new(),
            per_width: 1.0,
            week: 0,
        }
    }

    /// Weeks of a year, a power of two.
    #[inline(always)]
    fn year(&self) -> u64 {
        self.weeks.len() as u64 - 1
    }

    /// The week of a time, counted from zero.
    #[inline(always)]
    fn week_of(&self, time: f64) -> u64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, as meant")]
        let week = (time * self.per_width) as u64;
        week
    }

    #[inline(always)]
    fn in_year(&self, week: u64) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "less than the weeks of a year")]
        let place = (week & (self.year() - 1)) as usize;
        place
    }

    /// Notes that an event is due.
    #[inline]
    pub fn note(&mut self, note: QueueEntry, hot: &[Hot]) {
        let week = self.week_of(note.time);
        if week <= self.week {
            self.add(note, hot);
        } else if note.time < f64::INFINITY {
            if self.waiting > MOST * hot.len() + PAGE as usize {
                self.tidy(hot);
            }
            let beyond = self.weeks.len() - 1;
            let place = if week - self.week < self.year() { self.in_year(week) } else { beyond };
            self.pages.write(&mut self.weeks[place], note);
            self.waiting += 1;
        }
    }

    fn add(&mut self, note: QueueEntry, hot: &[Hot]) {
        // Void notes of a far time would pile up.
        if self.added.len() > 2 * hot.len() + AHEAD {
            self.added.retain(|Reverse(note)| note.holds(hot));
        }
        self.added.push(Reverse(note));
    }

    /// The body whose event is first; none if nothing is due at all.
    #[inline]
    pub fn first(&mut self, hot: &[Hot]) -> Option<u32> {
        loop {
            while self.agenda.get(self.past).is_some_and(|note| !note.holds(hot)) {
                self.past += 1;
            }
            if self.agenda.len() - self.past < AHEAD && self.waiting > 0 {
                self.next_week(hot);
                continue;
            }
            while self.added.peek().is_some_and(|Reverse(note)| !note.holds(hot)) {
                self.added.pop();
            }
            let planned = self.agenda.get(self.past);
            return match (planned, self.added.peek()) {
                (Some(note), Some(Reverse(other))) => Some(note.min(other).body),
                (Some(note), None) | (None, Some(Reverse(note))) => Some(note.body),
                (None, None) => None,
            };
        }
    }

    /// The number of the next note, counted from the first there ever was on the agenda.
    #[inline(always)]
    pub fn page(&self) -> u64 {
        self.gone + self.past as u64
    }

    /// A note to come, by its number.
    #[inline(always)]
    pub fn coming(&self, number: u64) -> Option<&QueueEntry> {
        #[expect(clippy::cast_possible_truncation, reason = "a place on the agenda, or beyond its end")]
        let place = (number - self.gone) as usize;
        self.agenda.get(place)
    }

    /// Puts the next week that has anything onto the agenda, without the notes that are void by then.
    fn next_week(&mut self, hot: &[Hot]) {
        self.agenda.drain(..self.past);
        self.gone += self.past as u64;
        self.past = 0;
        let mut empty = 0;
        loop {
            self.week += 1;
            if self.week & (self.year() / 2 - 1) == 0 {
                self.call_in(hot);
            }
            let place = self.in_year(self.week);
            if self.weeks[place].page != NOBODY {
                let planned = self.agenda.len();
                let agenda = &mut self.agenda;
                let week = std::mem::replace(&mut self.weeks[place], Week::EMPTY);
                self.waiting -= self.pages.tear_out(week, |note| {
                    if note.holds(hot) {
                        agenda.push(*note);
                    }
                });
                self.agenda[planned..].sort_unstable();
                return;
            }
            empty += 1;
            if empty > self.year() {
                self.skip(hot);
                return;
            }
        }
    }

    /// Puts notes from beyond the year into its weeks.
    #[cold]
    fn call_in(&mut self, hot: &[Hot]) {
        for note in self.take_beyond(hot) {
            self.note(note, hot);
        }
    }

    fn take_beyond(&mut self, hot: &[Hot]) -> Vec<QueueEntry> {
        let beyond = self.weeks.len() - 1;
        let week = std::mem::replace(&mut self.weeks[beyond], Week::EMPTY);
        let mut notes = Vec::new();
        self.waiting -= self.pages.tear_out(week, |note| {
            if note.holds(hot) {
                notes.push(*note);
            }
        });
        notes
    }

    /// Takes void notes out of all weeks.
    #[cold]
    fn tidy(&mut self, hot: &[Hot]) {
        let mut notes = Vec::new();
        for week in &mut self.weeks {
            let week = std::mem::replace(week, Week::EMPTY);
            self.waiting -= self.pages.tear_out(week, |note| {
                if note.holds(hot) {
                    notes.push(*note);
                }
            });
        }
        for note in notes {
            self.note(note, hot);
        }
    }

    /// Goes on to the week before the first event beyond the year.
    #[cold]
    fn skip(&mut self, hot: &[Hot]) {
        let notes = self.take_beyond(hot);
        let soonest = notes.iter().map(|note| note.time).fold(f64::INFINITY, f64::min);
        if soonest < f64::INFINITY {
            self.week = self.week.max(self.week_of(soonest).saturating_sub(1));
        }
        for note in notes {
            self.note(note, hot);
        }
    }

    /// Makes weeks anew, for the events as they are, from a time on. Who an event is with is `with`.
    pub fn tune(&mut self, now: f64, hot: &[Hot], with: impl Fn(usize) -> u32) {
        let mut waits: Vec<f64> =
            hot.iter().map(|hot| hot.due - now).filter(|wait| wait.is_finite()).collect();
        let mut width = 1.0;
        let mut year = 2;
        if !waits.is_empty() {
            let count = waits.len();
            let (_, median, _) = waits.select_nth_unstable_by(count / 2, f64::total_cmp);
            // The median of an exponential distribution, as that of waiting times is, is ln 2 of its mean.
            let mean = *median / core::f64::consts::LN_2;
            #[expect(clippy::cast_precision_loss, reason = "a count of bodies")]
            let weeks = count as f64 / (count as f64).sqrt().min(A_WEEK);
            // Weeks are counted in 64 bits.
            width = (mean / weeks).max(1e-15 * (now + *median)).max(f64::MIN_POSITIVE * 1e20);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "fewer than bodies")]
            let weeks = (A_YEAR * weeks).ceil() as usize;
            year = weeks.next_power_of_two();
        }
        *self = Self {
            weeks: vec![Week::EMPTY; year + 1],
            gone: self.gone + self.agenda.len() as u64,
            per_width: width.recip(),
            ..Self::new()
        };
        self.week = self.week_of(now);
        for (k, body) in hot.iter().enumerate() {
            self.note(QueueEntry { time: body.due, body: super::index(k), with: with(k) }, hot);
        }
    }

    /// Bytes taken.
    pub fn bytes(&self) -> usize {
        self.weeks.capacity() * size_of::<Week>()
            + self.pages.notes.bytes()
            + self.pages.before.capacity() * size_of::<u32>()
            + (self.agenda.capacity() + self.added.capacity()) * size_of::<QueueEntry>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(calendar: &mut Calendar, hot: &mut [Hot], body: u32, time: f64) {
        hot[body as usize].due = time;
        calendar.note(QueueEntry { time, body, with: NOBODY }, hot);
    }

    /// Random events, set, moved and taken: always the earliest comes out, of few bodies and of many.
    #[test]
    fn the_earliest_comes_first() {
        for (count, rounds) in [(50_u32, 20_000), (3000, 10_000)] {
            let mut seed = 12345_u64;
            let mut draw = || {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                f64::from(u32::try_from(seed >> 33).unwrap_or(0)) / f64::from(1_u32 << 31)
            };
            let mut calendar = Calendar::new();
            let mut hot: Vec<Hot> = vec![Zeroable::zeroed(); count as usize];
            for body in 0..count {
                set(&mut calendar, &mut hot, body, -10.0 * draw().max(1e-9).ln());
            }
            calendar.tune(0.0, &hot, |_| NOBODY);
            let mut now = 0.0;
            for round in 0..rounds {
                let body = calendar.first(&hot);
                let soonest = hot.iter().map(|hot| hot.due).fold(f64::INFINITY, f64::min);
                let Some(body) = body else { panic!("nothing due") };
                assert_eq!(hot[body as usize].due, soonest);
                assert!(soonest >= now);
                now = soonest;
                let far = if draw() < 0.01 { 1e4 } else { 1.0 };
                set(&mut calendar, &mut hot, body, now - far * draw().max(1e-9).ln());
                let other = (draw() * f64::from(count)).floor();
                let other = (0..count).find(|&k| f64::from(k) == other).unwrap_or(0);
                set(&mut calendar, &mut hot, other, now + draw());
                if round % 1000 == 999 {
                    for hot in &mut hot {
                        hot.due -= now;
                    }
                    calendar.tune(0.0, &hot, |_| NOBODY);
                    now = 0.0;
                }
                // A long wait: everything near is taken away.
                if round % 5000 == 4999 {
                    for hot in &mut hot[1..] {
                        hot.due = f64::INFINITY;
                    }
                    set(&mut calendar, &mut hot, 0, now + 1e6);
                    assert_eq!(calendar.first(&hot), Some(0));
                    for body in 0..count {
                        set(&mut calendar, &mut hot, body, now - 10.0 * draw().max(1e-9).ln());
                    }
                }
            }
            for hot in &mut hot {
                hot.due = f64::INFINITY;
            }
            assert_eq!(calendar.first(&hot), None);
        }
    }

    /// Events that are put off over and over leave no heap of void notes.
    #[test]
    fn void_notes_do_not_pile_up() {
        let mut calendar = Calendar::new();
        let mut hot: Vec<Hot> = vec![Zeroable::zeroed(); 10];
        hot.iter_mut().for_each(|hot| hot.due = f64::INFINITY);
        calendar.tune(0.0, &hot, |_| NOBODY);
        for round in 0..100_000_u32 {
            for body in 0..10 {
                set(&mut calendar, &mut hot, body, 1e3 + 1e-9 * f64::from(round));
            }
            assert_eq!(calendar.first(&hot), Some(0));
        }
        assert!(calendar.bytes() < 100_000, "{}", calendar.bytes());
    }
}
