//! The event queue: one event per body, the earliest found in constant time.
//!
//! A calendar queue with buckets of equal width (R. Brown 1988; for event-driven dynamics G. Paul, "A complexity O(1) priority queue for
//! event driven molecular dynamics simulations", 2007). An event is entered into the bucket of its time, and the buckets come up in order.
//! When a bucket comes up, its entries are sorted by time and appended to the current entries. Events that are entered later into a bucket
//! that has come up wait in a heap. Entries beyond the last bucket of the year are in an overflow bucket, which is redistributed twice a
//! year.
//!
//! Each body has exactly one event. An entry is never removed early: it is stale once the body's event is no longer at its time. So a new
//! event costs one entry, written at the end of a bucket, and there are so few buckets that their ends stay in the cache. The current
//! entries also tell which memory will be needed soon (`prefetch`). Of two events at the same time, that of the body with the smaller
//! index comes first.

use core::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use bytemuck::{Pod, Zeroable};

use super::huge_pages::HugePageArray;
use super::next_event::NONE;
use super::storage::Kinematics;

/// A body has, or had, an event at a time.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct QueueEntry {
    pub time: f64,
    pub body: u32,
    /// The partner, as in [`super::next_event::NextEvent`].
    pub partner: u32,
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
    /// Whether the body's event is still at this time.
    #[inline(always)]
    pub fn is_valid(&self, kinematics: &[Kinematics]) -> bool {
        kinematics[self.body as usize].event_time == self.time
    }
}

/// Entries for the events of all bodies; the events themselves are stored with the bodies.
#[derive(Debug, Clone)]
pub(super) struct CalendarQueue {
    /// The buckets of a year, by their number modulo the year; the last one is the overflow bucket.
    buckets: Vec<Bucket>,
    blocks: Blocks,
    /// The number of entries in buckets that have not come up, and in the overflow bucket.
    pending: usize,
    /// The entries of the buckets that have come up, in order, and how many of them have been taken.
    current: Vec<QueueEntry>,
    taken: usize,
    /// The number of entries dropped from `current` so far.
    dropped: u64,
    /// Entries that were added to buckets after they had come up.
    late: BinaryHeap<Reverse<QueueEntry>>,
    inverse_width: f64,
    /// The number, counted from time zero, of the last bucket that has come up.
    latest_bucket: u64,
}

/// The entries of a bucket: its last block, and the number of entries in that.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    block: u32,
    entries: u32,
}

impl Bucket {
    const EMPTY: Self = Self { block: NONE, entries: BLOCK };
}

/// Entries in a block.
const BLOCK: u32 = 16;

/// Blocks of entries, each with the number of the previous block of its bucket.
#[derive(Debug, Clone, Default)]
struct Blocks {
    entries: HugePageArray<[QueueEntry; BLOCK as usize]>,
    previous: Vec<u32>,
    /// The first block of the free list.
    free: Option<u32>,
}

impl Blocks {
    #[inline(always)]
    fn push(&mut self, bucket: &mut Bucket, entry: QueueEntry) {
        if bucket.entries == BLOCK {
            *bucket = Bucket { block: self.allocate(bucket.block), entries: 0 };
        }
        self.entries[bucket.block as usize][bucket.entries as usize] = entry;
        bucket.entries += 1;
    }

    /// A new block that follows another.
    fn allocate(&mut self, previous: u32) -> u32 {
        if let Some(block) = self.free {
            let next = std::mem::replace(&mut self.previous[block as usize], previous);
            self.free = (next != NONE).then_some(next);
            return block;
        }
        let block = self.entries.len();
        self.entries.extend_to(block + 1, Zeroable::zeroed());
        self.previous.push(previous);
        super::index(block)
    }

    /// Visits the entries of a bucket, the last block first, and frees its blocks. Returns the number of entries.
    fn drain(&mut self, bucket: Bucket, mut visit: impl FnMut(&QueueEntry)) -> usize {
        let (mut block, mut entries, mut count) = (bucket.block, bucket.entries, 0);
        while block != NONE {
            self.entries[block as usize][..entries as usize].iter().for_each(&mut visit);
            count += entries as usize;
            let previous = std::mem::replace(&mut self.previous[block as usize], self.free.unwrap_or(NONE));
            self.free = Some(block);
            (block, entries) = (previous, BLOCK);
        }
        count
    }
}

/// The least number of current entries: prefetching looks this far ahead.
const LOOKAHEAD: usize = 64;

/// The most pending entries per body. Without a limit, stale entries of a distant time could accumulate.
const MAX_PENDING: usize = 16;

/// The most events per bucket.
const MAX_PER_BUCKET: f64 = 1024.0;

/// The length of a year in mean waiting times.
const YEAR: f64 = 4.0;

impl CalendarQueue {
    pub fn new() -> Self {
        Self {
            buckets: vec![Bucket::EMPTY; 3],
            blocks: Blocks::default(),
            pending: 0,
            current: Vec::new(),
            taken: 0,
            dropped: 0,
            late: BinaryHeap::new(),
            inverse_width: 1.0,
            latest_bucket: 0,
        }
    }

    /// The number of buckets in a year, a power of two.
    #[inline(always)]
    fn year(&self) -> u64 {
        self.buckets.len() as u64 - 1
    }

    /// The bucket of a time, counted from time zero.
    #[inline(always)]
    fn bucket_at(&self, time: f64) -> u64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, as intended")]
        let bucket = (time * self.inverse_width) as u64;
        bucket
    }

    /// The place of a bucket in the year.
    #[inline(always)]
    fn place(&self, bucket: u64) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "less than the number of buckets in a year")]
        let place = (bucket & (self.year() - 1)) as usize;
        place
    }

    /// Enters an event.
    #[inline]
    pub fn insert(&mut self, entry: QueueEntry, kinematics: &[Kinematics]) {
        let bucket = self.bucket_at(entry.time);
        if bucket <= self.latest_bucket {
            self.insert_late(entry, kinematics);
        } else if entry.time < f64::INFINITY {
            if self.pending > MAX_PENDING * kinematics.len() + BLOCK as usize {
                self.purge(kinematics);
            }
            let overflow = self.buckets.len() - 1;
            let place = if bucket - self.latest_bucket < self.year() { self.place(bucket) } else { overflow };
            self.blocks.push(&mut self.buckets[place], entry);
            self.pending += 1;
        }
    }

    fn insert_late(&mut self, entry: QueueEntry, kinematics: &[Kinematics]) {
        // Stale entries of a distant time would accumulate.
        if self.late.len() > 2 * kinematics.len() + LOOKAHEAD {
            self.late.retain(|Reverse(entry)| entry.is_valid(kinematics));
        }
        self.late.push(Reverse(entry));
    }

    /// The body with the earliest event; `None` if there is no event at all.
    #[inline]
    pub fn first(&mut self, kinematics: &[Kinematics]) -> Option<u32> {
        loop {
            while self.current.get(self.taken).is_some_and(|entry| !entry.is_valid(kinematics)) {
                self.taken += 1;
            }
            if self.current.len() - self.taken < LOOKAHEAD && self.pending > 0 {
                self.open_next_bucket(kinematics);
                continue;
            }
            while self.late.peek().is_some_and(|Reverse(entry)| !entry.is_valid(kinematics)) {
                self.late.pop();
            }
            return match (self.current.get(self.taken), self.late.peek()) {
                (Some(entry), Some(Reverse(other))) => Some(entry.min(other).body),
                (Some(entry), None) | (None, Some(Reverse(entry))) => Some(entry.body),
                (None, None) => None,
            };
        }
    }

    /// The number of the next current entry, counted from the beginning of the run.
    #[inline(always)]
    pub fn position(&self) -> u64 {
        self.dropped + self.taken as u64
    }

    /// A current entry by its number.
    #[inline(always)]
    pub fn entry(&self, number: u64) -> Option<&QueueEntry> {
        #[expect(clippy::cast_possible_truncation, reason = "a current entry, or beyond the last one")]
        let at = (number - self.dropped) as usize;
        self.current.get(at)
    }

    /// Appends the valid entries of the next bucket that has any to the current ones.
    fn open_next_bucket(&mut self, kinematics: &[Kinematics]) {
        self.current.drain(..self.taken);
        self.dropped += self.taken as u64;
        self.taken = 0;
        let mut empty = 0;
        loop {
            self.latest_bucket += 1;
            if self.latest_bucket & (self.year() / 2 - 1) == 0 {
                self.redistribute_overflow(kinematics);
            }
            let place = self.place(self.latest_bucket);
            if self.buckets[place].block != NONE {
                let sorted = self.current.len();
                let current = &mut self.current;
                let bucket = std::mem::replace(&mut self.buckets[place], Bucket::EMPTY);
                self.pending -= self.blocks.drain(bucket, |entry| {
                    if entry.is_valid(kinematics) {
                        current.push(*entry);
                    }
                });
                self.current[sorted..].sort_unstable();
                return;
            }
            empty += 1;
            if empty > self.year() {
                self.skip_to_overflow(kinematics);
                return;
            }
        }
    }

    /// Moves entries from the overflow bucket into the buckets of the year.
    #[cold]
    fn redistribute_overflow(&mut self, kinematics: &[Kinematics]) {
        for entry in self.drain_overflow(kinematics) {
            self.insert(entry, kinematics);
        }
    }

    fn drain_overflow(&mut self, kinematics: &[Kinematics]) -> Vec<QueueEntry> {
        let overflow = self.buckets.len() - 1;
        let bucket = std::mem::replace(&mut self.buckets[overflow], Bucket::EMPTY);
        let mut entries = Vec::new();
        self.pending -= self.blocks.drain(bucket, |entry| {
            if entry.is_valid(kinematics) {
                entries.push(*entry);
            }
        });
        entries
    }

    /// Removes stale entries from all buckets.
    #[cold]
    fn purge(&mut self, kinematics: &[Kinematics]) {
        let mut entries = Vec::new();
        for bucket in &mut self.buckets {
            let bucket = std::mem::replace(bucket, Bucket::EMPTY);
            self.pending -= self.blocks.drain(bucket, |entry| {
                if entry.is_valid(kinematics) {
                    entries.push(*entry);
                }
            });
        }
        for entry in entries {
            self.insert(entry, kinematics);
        }
    }

    /// Advances to the bucket before the first event of the overflow bucket.
    #[cold]
    fn skip_to_overflow(&mut self, kinematics: &[Kinematics]) {
        let entries = self.drain_overflow(kinematics);
        let soonest = entries.iter().map(|entry| entry.time).fold(f64::INFINITY, f64::min);
        if soonest < f64::INFINITY {
            self.latest_bucket = self.latest_bucket.max(self.bucket_at(soonest).saturating_sub(1));
        }
        for entry in entries {
            self.insert(entry, kinematics);
        }
    }

    /// Chooses the width and number of buckets for the bodies' present events and enters these, from a time on. `partner` gives the partner
    /// of a body's event.
    pub fn rebuild(&mut self, now: f64, kinematics: &[Kinematics], partner: impl Fn(usize) -> u32) {
        let mut waits: Vec<f64> =
            kinematics.iter().map(|body| body.event_time - now).filter(|wait| wait.is_finite()).collect();
        let mut width = 1.0;
        let mut year = 2;
        if !waits.is_empty() {
            let count = waits.len();
            let (_, median, _) = waits.select_nth_unstable_by(count / 2, f64::total_cmp);
            // Waiting times are distributed exponentially, so the median is ln 2 times the mean.
            let mean = *median / core::f64::consts::LN_2;
            #[expect(clippy::cast_precision_loss, reason = "a count of bodies")]
            let per_mean = count as f64 / (count as f64).sqrt().min(MAX_PER_BUCKET);
            // Buckets are counted in 64 bits.
            width = (mean / per_mean).max(1e-15 * (now + *median)).max(f64::MIN_POSITIVE * 1e20);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "fewer than bodies")]
            let buckets = (YEAR * per_mean).ceil() as usize;
            year = buckets.next_power_of_two();
        }
        *self = Self {
            buckets: vec![Bucket::EMPTY; year + 1],
            dropped: self.dropped + self.current.len() as u64,
            inverse_width: width.recip(),
            ..Self::new()
        };
        self.latest_bucket = self.bucket_at(now);
        for (k, body) in kinematics.iter().enumerate() {
            let entry = QueueEntry { time: body.event_time, body: super::index(k), partner: partner(k) };
            self.insert(entry, kinematics);
        }
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        self.buckets.capacity() * size_of::<Bucket>()
            + self.blocks.entries.bytes()
            + self.blocks.previous.capacity() * size_of::<u32>()
            + (self.current.capacity() + self.late.capacity()) * size_of::<QueueEntry>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(queue: &mut CalendarQueue, kinematics: &mut [Kinematics], body: u32, time: f64) {
        kinematics[body as usize].event_time = time;
        queue.insert(QueueEntry { time, body, partner: NONE }, kinematics);
    }

    /// Random events are set, moved and taken, for few bodies and for many: the earliest always comes first.
    #[test]
    fn the_earliest_event_comes_first() {
        for (count, rounds) in [(50_u32, 20_000), (3000, 10_000)] {
            let mut seed = 12345_u64;
            let mut draw = || {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                f64::from(u32::try_from(seed >> 33).unwrap_or(0)) / f64::from(1_u32 << 31)
            };
            let mut queue = CalendarQueue::new();
            let mut bodies: Vec<Kinematics> = vec![Zeroable::zeroed(); count as usize];
            for body in 0..count {
                set(&mut queue, &mut bodies, body, -10.0 * draw().max(1e-9).ln());
            }
            queue.rebuild(0.0, &bodies, |_| NONE);
            let mut now = 0.0;
            for round in 0..rounds {
                let body = queue.first(&bodies);
                let soonest = bodies.iter().map(|body| body.event_time).fold(f64::INFINITY, f64::min);
                let Some(body) = body else { panic!("no event") };
                assert_eq!(bodies[body as usize].event_time, soonest);
                assert!(soonest >= now);
                now = soonest;
                let far = if draw() < 0.01 { 1e4 } else { 1.0 };
                set(&mut queue, &mut bodies, body, now - far * draw().max(1e-9).ln());
                let other = (draw() * f64::from(count)).floor();
                let other = (0..count).find(|&k| f64::from(k) == other).unwrap_or(0);
                set(&mut queue, &mut bodies, other, now + draw());
                if round % 1000 == 999 {
                    for body in &mut bodies {
                        body.event_time -= now;
                    }
                    queue.rebuild(0.0, &bodies, |_| NONE);
                    now = 0.0;
                }
                // A long wait: all events near by are taken away.
                if round % 5000 == 4999 {
                    for body in &mut bodies[1..] {
                        body.event_time = f64::INFINITY;
                    }
                    set(&mut queue, &mut bodies, 0, now + 1e6);
                    assert_eq!(queue.first(&bodies), Some(0));
                    for body in 0..count {
                        set(&mut queue, &mut bodies, body, now - 10.0 * draw().max(1e-9).ln());
                    }
                }
            }
            for body in &mut bodies {
                body.event_time = f64::INFINITY;
            }
            assert_eq!(queue.first(&bodies), None);
        }
    }

    /// Events are postponed over and over.
    #[test]
    fn stale_entries_do_not_accumulate() {
        let mut queue = CalendarQueue::new();
        let mut bodies: Vec<Kinematics> = vec![Zeroable::zeroed(); 10];
        bodies.iter_mut().for_each(|body| body.event_time = f64::INFINITY);
        queue.rebuild(0.0, &bodies, |_| NONE);
        for round in 0..100_000_u32 {
            for body in 0..10 {
                set(&mut queue, &mut bodies, body, 1e3 + 1e-9 * f64::from(round));
            }
            assert_eq!(queue.first(&bodies), Some(0));
        }
        assert!(queue.bytes() < 100_000, "{}", queue.bytes());
    }
}
