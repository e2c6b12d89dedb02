//! Event-driven molecular dynamics of many free bodies: hard spheres, ellipsoids and superellipsoids, and mixtures of them.
//!
//! The physics is that of [`crate::simulation`] where no contact persists: without gravity, bodies that touch without approach part. Only
//! prediction differs: it is organised so that the cost per collision does not grow with the number of bodies.
//!
//! * **One event per body**, the earlier of its next contact and of its leaving its neighbourhood (B. D. Lubachevsky,
//!   J. Comput. Phys. 94, 1991). A contact is the next event of both its bodies. If a body's partner collides with someone else first, the
//!   body re-predicts when its own event comes due, not before. At all times no pair touches before the earlier of its bodies' two
//!   events.
//! * **Neighbour lists** (`neighbourhood`) and a **calendar queue** (`calendar`) find candidates and the next event in constant time.
//! * **Asynchronous states.** A body's position is that of its last collision; only the two that collide are moved.
//! * **Windows.** Nothing is searched beyond the earliest event already known to either body, nor while the bounding spheres are
//!   apart. Two spheres meet at the root of a quadratic. Every other contact is searched for in its window with the certificate of
//!   [`crate::toi`], from a direction that is likely to separate the two: along it most pairs that stay apart are seen to do so without
//!   evaluating a gap.
//! * **Memory.** What prediction reads of a body is one cache line, what its own events read besides is another, and bodies near in
//!   space are near in memory: they are sorted along a space-filling curve at the start and from time to time. Long arrays are on huge
//!   pages (`huge_pages`), and what coming events will read is prefetched (`prefetch`).
//!
//! **Threads.** For non-spherical bodies each event is computed speculatively, without side effects (`speculate`), and then committed. With
//! [`Edmd::set_threads`] several threads speculate on the next events at once (`parallel`); results are the same to the bit.
//!
//! **Growth.** With `growth` the bodies' sizes are (1 + growth·t) times those at the start (B. D. Lubachevsky and F. H. Stillinger,
//! J. Stat. Phys. 60, 1990). Masses and moments of inertia stay; the surfaces' own speed takes part in approach and separation, so that
//! bodies part.
//!
//! **Collapse.** With k < 1 collisions can accumulate at one time. `contact_time` makes a collision elastic if it follows the last one of
//! either body within that time (the TC model of S. Luding and S. McNamara, Granular Matter 1, 1998). Without it a run whose clock no longer
//! advances, or whose bodies approach at next to no speed, ends as [`Stopped::Stalled`].
//!
//! **Time** is stored as in the simulation: an epoch, which moves by powers of two, and the time since then. **Audit**: the restitution and
//! energy of each collision, and from time to time the totals and the gaps of all pairs.

mod calendar;
mod changes;
mod cluster;
mod commit;
mod contact_event;
mod contact_pair;
mod encounter;
mod grid;
mod huge_pages;
mod images;
mod lists;
mod monitor;
mod neighbourhood;
mod next_event;
mod overlay;
mod parallel;
mod predict;
mod prefetch;
mod relocate;
mod rotation;
mod schedule;
mod search;
mod settings;
mod shape_class;
mod snapshot;
mod speculate;
mod spheres;
#[cfg(test)]
mod spoiled;
mod storage;
mod system;

use core::ops::DerefMut;

use crate::body::State;
use crate::record::Recorder;
use crate::run::{
    Audit, Cause, Counts, Failure, InvalidStart, Ledger, SnapshotMismatch, Stopped, World, index,
};
use calendar::CalendarQueue;
use changes::Changes;
use monitor::{Monitor, is_small};
use next_event::{LEAVE, REPREDICT};
use predict::{ClosePairs, QuadraticBuffer};
use prefetch::Prefetcher;
use search::Findings;
use speculate::{Outcome, SpeculativeEvent};
use system::System;

pub use settings::{Settings, Unsuited};
pub use snapshot::Snapshot;

/// Why no event is processed for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Halt {
    /// The run has stopped.
    Stopped(Stopped),
    /// The number of collisions asked for is reached, and the run can go on.
    Paused,
}

impl Halt {
    fn stopped(self) -> Option<Stopped> {
        match self {
            Self::Stopped(stopped) => Some(stopped),
            Self::Paused => None,
        }
    }
}

/// A run of many bodies.
#[derive(Debug, Clone)]
pub struct Edmd {
    system: System,
    queue: CalendarQueue,
    changes: Changes,
    prefetcher: Prefetcher,
    monitor: Monitor,
    buffers: Buffers,
    threads: usize,
}

/// Buffers, kept for reuse.
#[derive(Debug, Clone, Default)]
struct Buffers {
    findings: Findings,
    event: SpeculativeEvent,
    /// Pairs that touch within rounding, found while the bodies of an event are predicted.
    close: ClosePairs,
    quadratics: QuadraticBuffer,
}

impl Edmd {
    /// Whether a world can be run by this engine.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn suits(world: &World) -> Result<(), Unsuited> {
        settings::suits(world)
    }

    /// Prepares a run. Gravity is ignored; call [`Edmd::suits`] first.
    ///
    /// # Errors
    /// Why the initial states are invalid: overlaps, a box that is too short, motions that are out of range.
    pub fn new(world: World, states: &[State], settings: Settings) -> Result<Self, Vec<InvalidStart>> {
        let mut edmd = Self::unprepared(world, states, settings)?;
        edmd.reorder();
        let overlaps = edmd.overlaps();
        if !overlaps.is_empty() {
            return Err(overlaps);
        }
        for i in 0..edmd.system.particles.len() {
            edmd.predict(i, 0.0, &[]);
        }
        edmd.rebuild_queue();
        edmd.buffers.close.clear();
        Ok(edmd)
    }

    /// A run without neighbour lists and events.
    fn unprepared(world: World, states: &[State], settings: Settings) -> Result<Self, Vec<InvalidStart>> {
        let invalid = world.invalid_start(states);
        if !invalid.is_empty() {
            return Err(invalid);
        }
        let monitor = Monitor::new(Ledger::open(&world, states));
        Ok(Self {
            system: System::new(world, states, settings),
            queue: CalendarQueue::new(),
            changes: Changes::default(),
            prefetcher: Prefetcher::default(),
            monitor,
            buffers: Buffers::default(),
            threads: 1,
        })
    }

    /// Sets the number of threads, one by default. It changes no result, and is used where it pays: for many bodies whose contacts have to
    /// be searched for. A snapshot does not contain it.
    pub fn set_threads(&mut self, threads: usize) {
        self.threads = threads.clamp(1, parallel::MAX_THREADS);
        self.changes = Changes::default();
    }

    /// Runs to a time, or for at most `most` collisions. `None` if that many collisions were made and the run can go on. At the time asked
    /// for, totals and gaps are checked as by [`Edmd::check`].
    pub fn advance(&mut self, until: f64, most: u64, recorder: &mut impl Recorder) -> Option<Stopped> {
        let stopped = self.advance_unchecked(until, most, recorder);
        if stopped == Some(Stopped::Until) {
            self.check();
        }
        stopped
    }

    /// As above without the check, which looks at every body and its neighbours, for intermediate stops.
    pub fn advance_unchecked(
        &mut self,
        until: f64,
        most: u64,
        recorder: &mut impl Recorder,
    ) -> Option<Stopped> {
        let last = self.monitor.counts.collisions.saturating_add(most);
        if let Some(halt) = parallel::advance(self, until, last, recorder) {
            return halt.stopped();
        }
        loop {
            if let Some(halt) = self.step(until, last, |_, _| None::<&mut SpeculativeEvent>, recorder) {
                return halt.stopped();
            }
        }
    }

    /// Processes the next event, as it was speculated if `speculated` has it and it is still valid. `Some` when no event is to be processed.
    #[inline]
    fn step<F: DerefMut<Target = SpeculativeEvent>>(
        &mut self,
        until: f64,
        last: u64,
        speculated: impl Fn(u32, f64) -> Option<F>,
        recorder: &mut impl Recorder,
    ) -> Option<Halt> {
        if let Some(stopped) = self.monitor.stopped {
            return Some(Halt::Stopped(stopped));
        }
        if self.monitor.counts.events >= self.system.settings.max_events {
            return Some(Halt::Stopped(Stopped::MaxEvents));
        }
        if self.monitor.counts.collisions >= last {
            return Some(Halt::Paused);
        }
        let end = until - self.system.clock.epoch;
        let Some((body, time)) = self.first_event().filter(|&(_, time)| time <= end) else {
            if end.is_finite() {
                self.system.clock.now = self.system.clock.now.max(end);
            }
            return Some(Halt::Stopped(Stopped::Until));
        };
        if time >= self.system.clock.length {
            self.next_epoch(time.min(end));
            return None;
        }
        self.prefetcher.prefetch(&self.queue, &self.system, 0);
        let mut event = speculated(body, time);
        self.process(body as usize, event.as_deref_mut(), recorder);
        None
    }

    /// The body with the earliest event, and its time.
    #[inline]
    fn first_event(&mut self) -> Option<(u32, f64)> {
        let kinematics = &self.system.particles.kinematics;
        let body = self.queue.first(kinematics)?;
        Some((body, kinematics[body as usize].event_time))
    }

    /// Processes a body's event.
    #[inline]
    fn process(&mut self, i: usize, event: Option<&mut SpeculativeEvent>, recorder: &mut impl Recorder) {
        let next = self.system.particles.next_event(i);
        // A speculated event is used once at most.
        let event = event.map(|event| (event.outcome.take(), event));
        let as_speculated = |outcome: Outcome| {
            let (found, event) = event?;
            let valid = found == Some(outcome) && event.is_valid(outcome, &self.system, &self.changes);
            debug_assert!(!valid || event.is_reproducible(&self.system), "what {i} depends on has changed");
            valid.then_some(event)
        };
        match next.partner {
            LEAVE => match as_speculated(Outcome::Leave) {
                Some(event) => self.commit_leave(i, event),
                None => self.leave_neighbourhood(i, next.time),
            },
            REPREDICT => self.repredict(i, next.time, as_speculated(Outcome::Repredict)),
            _ if self.system.is_mutual(i, &next) => {
                self.contact_event(i, &next, as_speculated(Outcome::Contact), recorder);
                if self.monitor.is_totals_check_due(&self.system) {
                    self.maintain();
                } else if is_small(&self.system) {
                    self.monitor.check_pairs(&self.system);
                }
                self.monitor.check_clock(&self.system);
            }
            // The partner has had another event since.
            _ => self.repredict(i, next.time, as_speculated(Outcome::Repredict)),
        }
    }

    fn repredict(&mut self, i: usize, t: f64, event: Option<&mut SpeculativeEvent>) {
        if let Some(event) = event {
            return self.commit_repredict(i, event);
        }
        self.clear_next_event(i);
        self.predict(i, t, &[]);
        self.buffers.close.clear();
    }

    /// Checks and reordering that are due from time to time.
    #[cold]
    fn maintain(&mut self) {
        self.monitor.check(&self.system);
        if self.monitor.is_reordering_due(&self.system) {
            self.reorder();
        }
    }

    /// Moves the origin of time; by more than one epoch if there is no event for long.
    #[cold]
    fn next_epoch(&mut self, idle: f64) {
        self.changes.begin_round();
        let by = self.system.clock.move_on(idle);
        self.system.particles.shift_time(by);
        self.rebuild_queue();
        self.system.clock.length = self.system.epoch_length();
        if self.system.settings.growth != 0.0 {
            self.reorder();
        }
    }

    /// Checks energy and momentum against the ledger, and the gaps of all pairs. A run does this by itself from time to time.
    #[cold]
    pub fn check(&mut self) {
        self.monitor.check_totals(&self.system);
        self.monitor.check_pairs(&self.system);
    }

    /// Checks the gaps of all pairs where the bodies are now.
    #[cold]
    pub fn check_pairs(&mut self) {
        self.monitor.check_pairs(&self.system);
    }

    /// Checks the gaps of all pairs, unless the bodies are many and have hardly moved since the last check.
    pub fn check_pairs_at_sample(&mut self) {
        self.monitor.check_pairs_at_sample(&self.system);
    }

    /// The time of the latest event, or of the end.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.system.time()
    }

    /// The bodies' size now, over that at the start.
    #[must_use]
    pub fn size(&self) -> f64 {
        self.system.scale_at(self.system.clock.now)
    }

    /// The world, with the bodies at their size at the start.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.system.world
    }

    /// The states of all bodies at the present time, in the scene's order; positions continue beyond the walls of a periodic box.
    #[must_use]
    pub fn states(&self) -> Vec<State> {
        let mut states = Vec::new();
        self.states_into(&mut states);
        states
    }

    /// [`Edmd::states`] into an existing list.
    pub fn states_into(&self, states: &mut Vec<State>) {
        self.system.states_into(states);
    }

    /// The counts so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.monitor.counts
    }

    /// The audit so far.
    #[must_use]
    pub fn audit(&self) -> Audit {
        self.monitor.ledger.audit
    }

    /// What could not be followed, if that ended the run.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        self.monitor.failure
    }

    /// The memory allocated for the bodies, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.system.bytes() + self.queue.bytes() + self.changes.bytes()
    }
}
