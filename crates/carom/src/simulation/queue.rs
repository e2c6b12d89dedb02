//! The event queue, the earliest entry first.
//!
//! Stale entries stay in the queue: each carries the versions of the bodies it was computed from, and the loop drops it when
//! a body's trajectory has changed since. Entries of the same time are ordered by their contents, so that no run depends on how the
//! heap was filled.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use super::pair::Pair;

/// The next event of a body, a pair or a group.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum NextEvent {
    /// The clock's zero moves.
    Epoch,
    /// A body leaves its cell.
    Cross {
        /// The body.
        body: u32,
        /// The axis of the face.
        axis: u8,
        /// Whether the body moves towards larger coordinates.
        up: bool,
    },
    /// The dense-output step of a group ends.
    #[serde(rename = "DenseStep")]
    StepEnd {
        /// The group.
        group: u32,
    },
    /// From here on a pair may touch.
    Search(Pair),
    /// A pair that interpenetrates separates.
    #[serde(rename = "Part")]
    Exit(Pair),
    /// A pair touches.
    #[serde(rename = "Touch")]
    Contact {
        /// The pair.
        pair: Pair,
        /// The bound on the error of the time.
        error: f64,
    },
}

/// An event predicted for a time, valid as long as the bodies or the group concerned have these versions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The time, since the epoch.
    pub time: f64,
    /// The event.
    #[serde(rename = "due")]
    pub event: NextEvent,
    /// The versions that it was computed from; zero where there is none.
    pub versions: [u32; 2],
}

impl Entry {
    /// Whether the bodies, planes and groups that it names exist.
    pub fn exists(&self, bodies: usize, planes: usize, groups: usize) -> bool {
        match self.event {
            NextEvent::Epoch => true,
            NextEvent::Cross { body, axis, .. } => (body as usize) < bodies && axis < 3,
            NextEvent::StepEnd { group } => (group as usize) < groups,
            NextEvent::Search(pair) | NextEvent::Exit(pair) | NextEvent::Contact { pair, .. } => {
                pair.exists(bodies, planes)
            }
        }
    }

    /// The order among entries of one time: housekeeping first, contacts last; then by content.
    fn rank(&self) -> (u8, [u32; 2], [i32; 3]) {
        match self.event {
            NextEvent::Epoch => (0, [0; 2], [0; 3]),
            NextEvent::Cross { body, axis, up } => (1, [body, u32::from(axis)], [i32::from(up), 0, 0]),
            NextEvent::StepEnd { group } => (2, [group, 0], [0; 3]),
            NextEvent::Search(pair) => (3, pair.numbers(), pair.image),
            NextEvent::Exit(pair) => (4, pair.numbers(), pair.image),
            NextEvent::Contact { pair, .. } => (5, pair.numbers(), pair.image),
        }
    }

    /// The bound on the error of a contact's time. A pair may be predicted from both of its bodies, for one time with two bounds;
    /// ordering by the bound keeps the order of entries independent of how the heap was filled.
    fn error(&self) -> f64 {
        if let NextEvent::Contact { error, .. } = self.event { error } else { 0.0 }
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.time
            .total_cmp(&other.time)
            .then_with(|| self.rank().cmp(&other.rank()))
            .then_with(|| self.versions.cmp(&other.versions))
            .then_with(|| self.error().total_cmp(&other.error()))
    }
}

/// The event queue.
#[derive(Debug, Clone, Default)]
pub struct Queue {
    heap: BinaryHeap<Reverse<Entry>>,
}

impl Queue {
    /// Adds an entry.
    pub fn push(&mut self, entry: Entry) {
        self.heap.push(Reverse(entry));
    }

    /// The earliest entry.
    pub fn peek(&self) -> Option<&Entry> {
        self.heap.peek().map(|Reverse(entry)| entry)
    }

    /// Removes the earliest entry.
    pub fn pop(&mut self) -> Option<Entry> {
        self.heap.pop().map(|Reverse(entry)| entry)
    }

    /// Moves all times back and drops stale entries.
    pub fn shift(&mut self, by: f64, valid: impl Fn(&Entry) -> bool) {
        let entries = std::mem::take(&mut self.heap).into_vec();
        let keep = entries.into_iter().filter(|Reverse(entry)| valid(entry));
        self.heap = keep.map(|Reverse(entry)| Reverse(Entry { time: entry.time - by, ..entry })).collect();
    }

    /// All entries, the earliest first.
    pub fn sorted(&self) -> Vec<Entry> {
        let mut entries: Vec<Entry> = self.heap.iter().map(|Reverse(entry)| *entry).collect();
        entries.sort_unstable();
        entries
    }
}

impl FromIterator<Entry> for Queue {
    fn from_iter<T: IntoIterator<Item = Entry>>(entries: T) -> Self {
        Self { heap: entries.into_iter().map(Reverse).collect() }
    }
}
