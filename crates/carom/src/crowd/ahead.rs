//! The memory of what comes next.
//!
//! Events that follow one another in time lie anywhere in space, so in a large crowd almost everything that an event reads
//! is far from the processor, and to wait for it piece by piece, each when it is wanted, would be most of the work. But the
//! agenda tells what will be wanted: bodies, lists and neighbours of events to come are asked for some events ahead, so that
//! the memory brings them while other events are worked on. What one stage has asked for, the next one reads. No result
//! depends on any of it.

use prefetch_index::prefetch_index;

use super::Crowd;
use super::calendar::Note;
use super::due::{HOME, PLANE};
use super::neighbours::Link;

/// Crowds smaller than this are near the processor anyhow.
const LARGE: usize = 16_384;

/// What is asked for, each from what was asked for before.
#[derive(Debug, Clone, Copy)]
enum Stage {
    /// The bodies.
    Bodies,
    /// Their lists.
    Lists,
    /// Who is on the lists.
    Neighbours,
    /// Of a body that leaves home, who else may be near.
    Surroundings,
}

/// The stages, and how many notes ahead each is: near enough that what comes is still there when it is wanted.
const STAGES: [(Stage, u64); 4] =
    [(Stage::Bodies, 9), (Stage::Lists, 6), (Stage::Neighbours, 3), (Stage::Surroundings, 2)];

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
            let mut number = self.ahead[at].max(now);
            while number < now + ahead
                && let Some(note) = self.calendar.coming(number)
            {
                self.ask_for(stage, note);
                number += 1;
            }
            self.ahead[at] = number;
        }
    }

    #[inline(always)]
    fn ask_for(&self, stage: Stage, note: &Note) {
        let hot = &self.hot[..];
        if !note.holds(hot) {
            return;
        }
        let partner = (note.with < PLANE).then_some(note.with);
        let both = [Some(note.body), partner].into_iter().flatten();
        match stage {
            // Of a pair's two notes one is enough.
            Stage::Lists | Stage::Neighbours
                if note.with < note.body && hot[note.with as usize].due == note.time => {}
            Stage::Bodies => both.for_each(|i| {
                prefetch_index(hot, i as usize);
                prefetch_index(&self.cold[..], i as usize);
            }),
            Stage::Lists => both.for_each(|i| self.lists.ask_for(self.cold[i as usize].row)),
            Stage::Neighbours => both.for_each(|i| self.ask_for_neighbours(i, note)),
            Stage::Surroundings => self.ask_for_surroundings(note),
        }
    }

    #[inline(always)]
    fn ask_for_neighbours(&self, body: u32, note: &Note) {
        let hot = &self.hot[..];
        for link in self.bodies_near(body) {
            prefetch_index(hot, link.with as usize);
        }
        if note.with == HOME {
            for link in self.bodies_near(body) {
                prefetch_index(&self.cold[..], link.with as usize);
            }
            let there = self.hot[body as usize].line.at(note.time);
            self.grid.cells(&there, self.farthest(note.time), |cell, _| self.grid.ask_for(cell));
        }
    }

    #[inline(always)]
    fn ask_for_surroundings(&self, note: &Note) {
        if note.with == HOME {
            for link in self.bodies_near(note.body) {
                self.lists.ask_for(self.cold[link.with as usize].row);
            }
            let there = self.hot[note.body as usize].line.at(note.time);
            let cold = &self.cold[..];
            self.grid.cells(&there, self.farthest(note.time), |cell, _| {
                self.grid.of(cell).for_each(|j| prefetch_index(cold, j as usize));
            });
        }
    }

    #[inline(always)]
    fn bodies_near(&self, body: u32) -> impl Iterator<Item = &Link> {
        self.links(body as usize).iter().filter(|link| link.with < PLANE)
    }
}
