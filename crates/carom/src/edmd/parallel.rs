//! Several threads for one run.
//!
//! Events are committed one after another in the order of their times, whatever the number of threads, so results are the same to the bit.
//! But an event depends on a few bodies only, and in a large system the next events are far from one another. So the threads work in
//! rounds: they speculate on the next events (`speculate`), reading the system as it is; then one of them processes these events in order.
//! A speculated event is committed if none of its bodies and their neighbours has changed since the round began; otherwise it is computed
//! again.
//!
//! This pays if an event is much work, as it is where contacts have to be searched for. An event of spheres is over sooner than another
//! thread could be told of it.

use core::cell::OnceCell;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::{self, Thread};

use super::speculate::{EventKey, SpeculativeEvent};
use super::{Edmd, Halt};
use crate::record::Recorder;

/// Bodies per event of a round, and the least and the most events per thread in a round.
const BODIES_PER_EVENT: usize = 400;
const EVENTS_PER_THREAD: [usize; 2] = [4, 64];

/// The fewest bodies per thread, and the most threads: the work that one thread has to do alone limits their use.
const BODIES_PER_THREAD: usize = 500;
pub(super) const MAX_THREADS: usize = 16;

/// Events that one thread processes before others are started: there may be only a few.
const ALONE: usize = 16;

/// What the threads share.
struct SpeculationRound<'a> {
    edmd: RwLock<&'a mut Edmd>,
    /// The events of the round.
    events: Vec<Mutex<SpeculativeEvent>>,
    /// How many of them are in use, have been begun, and are done.
    wanted: AtomicUsize,
    begun: AtomicUsize,
    done: AtomicUsize,
    /// The number of rounds so far.
    round: AtomicUsize,
    over: AtomicBool,
}

/// Calls a function when it goes out of scope, in whatever way.
struct Finally<F: FnMut()>(F);

impl<F: FnMut()> Drop for Finally<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits: first by spinning, then by yielding, and at last by calling `rest`.
fn wait(condition: impl Fn() -> bool, rest: impl Fn()) {
    let mut tries = 0_u32;
    while condition() {
        tries = tries.saturating_add(1);
        match tries {
            0..500 => core::hint::spin_loop(),
            500..1000 => thread::yield_now(),
            _ => rest(),
        }
    }
}

impl<'a> SpeculationRound<'a> {
    fn new(edmd: &'a mut Edmd, events: usize) -> Self {
        Self {
            edmd: RwLock::new(edmd),
            events: (0..events).map(|_| Mutex::default()).collect(),
            wanted: AtomicUsize::new(0),
            begun: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            over: AtomicBool::new(false),
        }
    }

    /// Speculates on events of the round until none is left.
    fn speculate(&self) {
        let edmd = self.edmd.read().unwrap_or_else(PoisonError::into_inner);
        loop {
            let k = self.begun.fetch_add(1, Ordering::Relaxed);
            if k >= self.wanted.load(Ordering::Relaxed) {
                return;
            }
            let _done = Finally(|| {
                self.done.fetch_add(1, Ordering::Release);
            });
            edmd.system.speculate(edmd.changes.round(), &mut lock(&self.events[k]));
        }
    }

    /// Speculates in every round until the run is over.
    fn help(&self) {
        let mut round = 0;
        let now = || self.round.load(Ordering::Acquire);
        let over = || self.over.load(Ordering::Relaxed);
        while !over() {
            wait(|| now() == round && !over(), thread::park);
            round = now();
            self.speculate();
        }
    }

    /// Processes the events of a round, and collects those of the next one in `keys`. `Some` when no event is to be processed.
    fn process(
        &self,
        until: f64,
        last: u64,
        keys: &mut Vec<EventKey>,
        recorder: &mut impl Recorder,
    ) -> Option<Halt> {
        let mut edmd = self.edmd.write().unwrap_or_else(PoisonError::into_inner);
        let end = keys.last().map_or(f64::NEG_INFINITY, |&(_, time)| time);
        while edmd.first_event().is_some_and(|(_, time)| time <= end) {
            let speculated = |body: u32, time: f64| {
                let at = keys.iter().position(|&key| key == (body, time))?;
                Some(lock(&self.events[at]))
            };
            if let ended @ Some(_) = edmd.step(until, last, speculated, recorder) {
                return ended;
            }
        }
        edmd.changes.begin_round();
        keys.clear();
        collect_keys(&edmd, until, self.events.len(), keys);
        if keys.is_empty() {
            // At the end or at that of an epoch, or the next event was only just scheduled.
            return edmd.step(until, last, |_, _| None::<&mut SpeculativeEvent>, recorder);
        }
        for (event, &key) in self.events.iter().zip(&*keys) {
            lock(event).key = key;
        }
        self.wanted.store(keys.len(), Ordering::Relaxed);
        self.begun.store(0, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
        None
    }

    /// Runs round after round; `wake` wakes the helpers.
    fn run(&self, until: f64, last: u64, wake: impl Fn(), recorder: &mut impl Recorder) -> Halt {
        let mut keys = Vec::with_capacity(self.events.len());
        loop {
            if let Some(halt) = self.process(until, last, &mut keys, recorder) {
                return halt;
            }
            if !keys.is_empty() {
                self.round.fetch_add(1, Ordering::Release);
                wake();
                self.speculate();
                wait(|| self.done.load(Ordering::Acquire) < keys.len(), thread::yield_now);
            }
        }
    }
}

/// Runs as [`Edmd::advance_unchecked`] does, with several threads. `None`, with no event processed, if that does not pay.
pub(super) fn advance(edmd: &mut Edmd, until: f64, last: u64, recorder: &mut impl Recorder) -> Option<Halt> {
    let bodies = edmd.system.particles.len();
    let threads = edmd.threads.min(bodies / BODIES_PER_THREAD);
    if threads < 2 || !edmd.system.particles.nonspherical {
        return None;
    }
    for _ in 0..ALONE {
        if let ended @ Some(_) = edmd.step(until, last, |_, _| None::<&mut SpeculativeEvent>, recorder) {
            return ended;
        }
    }
    let [least, most] = EVENTS_PER_THREAD.map(|events| events * threads);
    edmd.changes.track(bodies);
    let shared = SpeculationRound::new(edmd, (bodies / BODIES_PER_EVENT).clamp(least, most));
    Some(thread::scope(|scope| {
        let helpers: OnceCell<Vec<_>> = OnceCell::new();
        let wake = || helpers.get().into_iter().flatten().for_each(|helper: &Thread| helper.unpark());
        let _over = Finally(|| {
            shared.over.store(true, Ordering::Relaxed);
            wake();
        });
        // If the system has no more threads, there are fewer.
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, || shared.help()).ok();
        let started = (1..threads).map_while(spawn).map(|helper| helper.thread().clone());
        let _ = helpers.set(started.collect());
        shared.run(until, last, wake, recorder)
    }))
}

/// Collects the next events, at most as many as `most`.
fn collect_keys(edmd: &Edmd, until: f64, most: usize, keys: &mut Vec<EventKey>) {
    let (queue, kinematics) = (&edmd.queue, &edmd.system.particles.kinematics);
    let end = (until - edmd.system.clock.epoch).min(edmd.system.clock.length);
    let mut number = queue.position();
    while keys.len() < most
        && let Some(entry) = queue.entry(number)
    {
        number += 1;
        if entry.time >= end {
            return;
        }
        // One of a pair's two entries is enough.
        let is_second =
            entry.partner < entry.body && kinematics[entry.partner as usize].event_time == entry.time;
        if entry.is_valid(kinematics) && !is_second {
            keys.push((entry.body, entry.time));
        }
    }
}
