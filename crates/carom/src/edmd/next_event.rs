//! A body's next event. Each body has exactly one; of a contact, both have it.
//!
//! Its time stands with the body's motion, which whoever looks at the body as a neighbour reads as well; the rest with what
//! only its own events read. That it is due is noted in the calendar.

use serde::{Deserialize, Serialize};

use super::Edmd;
use super::calendar::QueueEntry;

/// No body: the end of a chain.
pub(super) const NOBODY: u32 = u32::MAX;
/// The body leaves its neighbourhood.
pub(super) const LEAVE: u32 = u32::MAX - 1;
/// The body looks anew.
pub(super) const REPREDICT: u32 = u32::MAX - 2;
/// From here on, planes: the number of a plane added.
pub(super) const PLANE: u32 = 1 << 31;

/// A body's next event.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct NextEvent {
    /// When; infinite if nothing is due.
    pub time: f64,
    /// With whom, or one of the codes above.
    pub with: u32,
    /// Which image of it.
    pub image: u16,
    /// Whether the search for it ended where the bodies touch without approach and sink.
    pub sinks: bool,
}

impl NextEvent {
    pub const NEVER: Self = Self { time: f64::INFINITY, with: REPREDICT, image: 0, sinks: false };

    /// That a body leaves its neighbourhood.
    pub fn home(time: f64) -> Self {
        Self { time, with: LEAVE, ..Self::NEVER }
    }

    /// That a body looks anew.
    pub fn look(time: f64) -> Self {
        Self { time, ..Self::NEVER }
    }
}

impl Edmd {
    /// A body's event.
    #[inline(always)]
    pub(super) fn next_event(&self, body: u32) -> NextEvent {
        let cold = &self.cold[body as usize];
        let time = self.hot[body as usize].due;
        NextEvent { time, with: cold.with, image: cold.image, sinks: cold.sinks != 0 }
    }

    /// Gives a body another event.
    #[inline]
    pub(super) fn set_next_event(&mut self, body: u32, due: NextEvent) {
        self.write_next_event(body, due);
        self.calendar.note(QueueEntry { time: due.time, body, with: due.with }, &self.hot);
    }

    /// Takes a body's event away for now.
    #[inline]
    pub(super) fn clear_next_event(&mut self, body: u32) {
        self.write_next_event(body, NextEvent::NEVER);
    }

    /// Sets an event, which the calendar does not learn of.
    #[inline(always)]
    pub(super) fn write_next_event(&mut self, body: u32, due: NextEvent) {
        self.hot[body as usize].due = due.time;
        let cold = &mut self.cold[body as usize];
        (cold.with, cold.image, cold.sinks) = (due.with, due.image, u16::from(due.sinks));
        self.changes.of_body(body as usize);
    }

    /// Whether the partner of a body's event has the same event.
    #[inline]
    pub(super) fn is_mutual(&self, body: u32, due: &NextEvent) -> bool {
        if due.with >= PLANE {
            return true;
        }
        let theirs = self.next_event(due.with);
        theirs.with == body && theirs.time == due.time && theirs.image == self.images.opposite(due.image)
    }
}
