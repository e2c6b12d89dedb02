//! The memory of what comes next.
//!
//! Events that follow one another in time lie anywhere in space, so in a large crowd almost everything that an event reads
//! is far from the processor, and to wait for it piece by piece, each when it is wanted, would be most of the work. But the
//! agenda tells what will be wanted: bodies, lists and neighbours of events to come are asked for some events ahead, so that
//! the memory brings them while other events are worked on. What one stage has asked for, the next one reads. No result
//! depends on any of it.

use prefetch_index::prefetch_index;

use super::Crowd;
use super::calendar::{Due, HOME, PLANE};
use super::neighbours::Link;

/// Crowds smaller than this are near the processor anyhow.
const LARGE: usize = 16_384;

/// What is asked for, each from what was asked for before.
#[derive(Debug, Clone, Copy)]
enum Stage {
    /// The event itself.
    Event,
    /// Its bodies.
    Bodies,
    /// Their lists.
    Lists,
    /// Who is on the lists.
    Neighbours,
    /// Of a body that leaves home, who else may be near.
    Surroundings,
}

/// The stages, and how many notes ahead each is: near enough that what comes is still there when it is wanted.
const STAGES: [(Stage, u64); 5] = [
    (Stage::Event, 10),
    (Stage::Bodies, 8),
    (Stage::Lists, 6),
    (Stage::Neighbours, 3),
    (Stage::Surroundings, 2),
];

/// The notes up to which each stage has come.
pub(super) type Reached = [u64; STAGES.len()];

impl Crowd {
    /// Asks for what the events to come will want.
    #[inline]
    pub(super) fn look_ahead(&mut self) {
        if self.hot.len() < LARGE {
            return;
        }
        let now = self.calendar.page();
        for (at, (stage, ahead)) in STAGES.into_iter().enumerate() {
            let mut note = self.ahead[at].max(now);
            while note < now + ahead
                && let Some(body) = self.calendar.coming(note)
            {
                self.ask_for(stage, body);
                note += 1;
            }
            self.ahead[at] = note;
        }
    }

    #[inline(always)]
    fn ask_for(&self, stage: Stage, body: u32) {
        if matches!(stage, Stage::Event) {
            return self.calendar.ask_for(body);
        }
        let due = *self.calendar.due(body);
        let partner = (due.with < PLANE).then_some(due.with);
        let both = [Some(body), partner].into_iter().flatten();
        if matches!(stage, Stage::Bodies) {
            return both.for_each(|i| self.ask_for_body(i));
        }
        // A pair has two notes.
        if partner.is_some_and(|with| with < body && self.calendar.due(with).with == body) {
            return;
        }
        match stage {
            Stage::Event | Stage::Bodies => {}
            Stage::Lists => both.for_each(|i| self.lists.ask_for(i as usize)),
            Stage::Neighbours => both.for_each(|i| self.ask_for_neighbours(i, &due)),
            Stage::Surroundings => self.ask_for_surroundings(body, &due),
        }
    }

    #[inline(always)]
    fn ask_for_body(&self, body: u32) {
        let i = body as usize;
        prefetch_index(&self.hot, i);
        prefetch_index(&self.cold, i);
        self.lists.ask_for_row(i);
        self.calendar.ask_for(body);
    }

    #[inline(always)]
    fn ask_for_neighbours(&self, body: u32, due: &Due) {
        for link in self.neighbours_of(body) {
            prefetch_index(&self.hot, link.with as usize);
            self.calendar.ask_for(link.with);
        }
        if due.with == HOME {
            for link in self.neighbours_of(body) {
                prefetch_index(&self.cold, link.with as usize);
                self.lists.ask_for_row(link.with as usize);
            }
            self.grid.ask_around(&self.hot[body as usize].at(due.time), self.farthest(due.time));
        }
    }

    #[inline(always)]
    fn ask_for_surroundings(&self, body: u32, due: &Due) {
        if due.with == HOME {
            for link in self.neighbours_of(body) {
                self.lists.ask_for(link.with as usize);
            }
            let there = self.hot[body as usize].at(due.time);
            self.grid.around(&there, self.farthest(due.time), |j, _| prefetch_index(&self.cold, j as usize));
        }
    }

    #[inline(always)]
    fn neighbours_of(&self, body: u32) -> impl Iterator<Item = &Link> {
        self.lists.of(body as usize).iter().filter(|link| link.with < PLANE)
    }
}
