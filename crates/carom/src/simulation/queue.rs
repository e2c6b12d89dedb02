//! What is due, the earliest first.
//!
//! Entries are never taken out when they become stale: each carries the versions of the bodies it was computed from, and
//! the loop drops it when a body has moved on since. Of two entries at the same time the order is that of their contents,
//! so that no run depends on how the heap was filled.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

/// Who may touch whom: a plane or a body, and a body or one of its images.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Pair {
    /// The first.
    pub first: PairSide,
    /// The second, a body.
    pub second: u32,
    /// The image of the second, in whole boxes from where it is.
    pub image: [i32; 3],
}

/// The first side of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PairSide {
    /// A plane.
    Plane(u32),
    /// A body of a smaller number than the second.
    Body(u32),
}

/// What is due.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Due {
    /// The clock's zero moves.
    Epoch,
    /// A body leaves its cell.
    Cross {
        /// The body.
        body: u32,
        /// Through which face: axis, and towards larger or smaller.
        axis: u8,
        /// Towards larger.
        up: bool,
    },
    /// The integrated motion of a group of held bodies ends.
    DenseStep {
        /// The group.
        group: u32,
    },
    /// From here on a pair may touch.
    Search(Pair),
    /// A pair that overlaps is apart again.
    Part(Pair),
    /// A pair touches.
    Touch {
        /// The pair.
        pair: Pair,
        /// The bound on the error of the time.
        error: f64,
    },
}

/// Something due at a time, as long as the bodies concerned are of these versions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When.
    pub time: f64,
    /// What.
    pub due: Due,
    /// The versions of the bodies concerned; zero where there is none.
    pub versions: [u32; 2],
}

impl Entry {
    /// Whether it names bodies, planes and groups that exist.
    pub fn fits(&self, bodies: usize, planes: usize, groups: usize) -> bool {
        match self.due {
            Due::Epoch => true,
            Due::Cross { body, axis, .. } => (body as usize) < bodies && axis < 3,
            Due::DenseStep { group } => (group as usize) < groups,
            Due::Search(pair) | Due::Part(pair) | Due::Touch { pair, .. } => pair.fits(bodies, planes),
        }
    }

    /// Among entries of one time: housekeeping first, touches last; then by content.
    fn rank(&self) -> (u8, [u32; 2], [i32; 3]) {
        match self.due {
            Due::Epoch => (0, [0; 2], [0; 3]),
            Due::Cross { body, axis, up } => (1, [body, u32::from(axis)], [i32::from(up), 0, 0]),
            Due::DenseStep { group } => (2, [group, 0], [0; 3]),
            Due::Search(pair) => (3, pair.numbers(), pair.image),
            Due::Part(pair) => (4, pair.numbers(), pair.image),
            Due::Touch { pair, .. } => (5, pair.numbers(), pair.image),
        }
    }

    /// A pair may be found from both of its bodies, at one time with two bounds: those decide then, so that no two entries
    /// that differ are equal and their order does not depend on how the heap came about.
    fn error(&self) -> f64 {
        if let Due::Touch { error, .. } = self.due { error } else { 0.0 }
    }
}

impl Pair {
    /// Whether it names bodies and planes that exist.
    pub fn fits(&self, bodies: usize, planes: usize) -> bool {
        let first = match self.first {
            PairSide::Plane(k) => (k as usize) < planes,
            PairSide::Body(k) => (k as usize) < bodies,
        };
        first && (self.second as usize) < bodies
    }

    fn numbers(&self) -> [u32; 2] {
        let first = match self.first {
            PairSide::Plane(k) => k,
            PairSide::Body(k) => k | 1 << 31,
        };
        [first, self.second]
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

/// The queue.
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

    /// Takes the earliest entry.
    pub fn pop(&mut self) -> Option<Entry> {
        self.heap.pop().map(|Reverse(entry)| entry)
    }

    /// Moves all times back and drops what is stale.
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
