//! The memory of what comes next.
//!
//! Events that follow one another in time lie anywhere in space, so in a large crowd almost everything that an event reads
//! is far from the processor, and to wait for it piece by piece, each when it is wanted, would be most of the work. But the
//! agenda tells what will be wanted: bodies, lists and neighbours of events to come are asked for some events ahead, so that
//! the memory brings them while other events are worked on. What one stage has asked for, the next one reads. A processor
//! that has asked for some twenty lines at once waits before it asks for more, so a contact's two bodies are asked for one at
//! a time: half before an event, half in the midst of it. No result depends on any of it.

use prefetch_index::prefetch_index;

use super::Edmd;
use super::calendar::QueueEntry;
use super::neighbours::Link;
use super::next_event::{LEAVE, PLANE};

/// Crowds smaller than this are near the processor anyhow: of balls, and of others, whose turning is kept as well.
const LARGE: [usize; 2] = [16_384, 1024];

/// What is asked for, each from what was asked for before.
#[derive(Debug, Clone, Copy)]
enum Stage {
    /// The body.
    Body,
    /// Its list.
    List,
    /// Who is on the list.
    Neighbours,
    /// Of a body that leaves home, who else may be near.
    Surroundings,
}

/// The stages, and how many notes ahead each is: near enough that what comes is still there when it is wanted.
const STAGES: [(Stage, u64); 4] =
    [(Stage::Body, 16), (Stage::List, 10), (Stage::Neighbours, 6), (Stage::Surroundings, 4)];

/// The notes up to which each stage has come.
pub(super) type Reached = [u64; STAGES.len()];

impl Edmd {
    /// Asks for what the events to come will want, `over` notes from now on.
    #[inline]
    pub(super) fn prefetch(&mut self, over: u64) {
        if self.hot.len() < LARGE[usize::from(self.mixed)] {
            return;
        }
        let now = self.calendar.page() + over;
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
    fn ask_for(&self, stage: Stage, note: &QueueEntry) {
        let (hot, cold, body) = (&self.hot[..], &self.cold[..], note.body as usize);
        match stage {
            Stage::Body => {
                prefetch_index(hot, body);
                prefetch_index(cold, body);
            }
            _ if !note.holds(hot) => {}
            Stage::List => self.lists.ask_for(cold[body].row),
            Stage::Neighbours => self.ask_for_neighbours(note),
            Stage::Surroundings if note.with == LEAVE => self.ask_for_surroundings(note),
            Stage::Surroundings => {}
        }
    }

    #[inline(always)]
    fn ask_for_neighbours(&self, note: &QueueEntry) {
        let hot = &self.hot[..];
        for link in self.bodies_near(note.body) {
            prefetch_index(hot, link.with as usize);
        }
        if note.with == LEAVE {
            for link in self.bodies_near(note.body) {
                prefetch_index(&self.cold[..], link.with as usize);
            }
            self.cells_around(note, |cell| self.grid.ask_for(cell));
        }
    }

    fn ask_for_surroundings(&self, note: &QueueEntry) {
        let cold = &self.cold[..];
        for link in self.bodies_near(note.body) {
            self.lists.ask_for(cold[link.with as usize].row);
        }
        self.cells_around(note, |cell| self.grid.of(cell).for_each(|j| prefetch_index(cold, j as usize)));
    }

    /// The cells about where a body will be.
    fn cells_around(&self, note: &QueueEntry, mut visit: impl FnMut(u32)) {
        let there = self.hot[note.body as usize].line.at(note.time);
        self.grid.cells(&there, self.farthest(note.time), |cell, _| visit(cell));
    }

    #[inline(always)]
    fn bodies_near(&self, body: u32) -> impl Iterator<Item = &Link> {
        self.links(body as usize).iter().filter(|link| link.with < PLANE)
    }
}
