//! Several threads for one crowd.
//!
//! Events happen one after another, in the order of their times, whatever the number of threads: so results are the same
//! to the bit. But what an event brings depends on a few bodies only, and in a large crowd the next events are far from one
//! another. So threads work in rounds: of the events that come next, each thread foresees some (`speculate`), looking at the crowd as
//! it stands; then one of them lets the events happen. An event comes out as it was speculative if none of its bodies and of
//! their neighbours has changed since the round began; otherwise it is worked out again.
//!
//! This pays where an event is much work, which it is where contacts are searched for. An event of balls is over sooner than
//! another thread could be told of it.

use core::cell::OnceCell;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::{self, Thread};

use super::neighbours::Link;
use super::next_event::{LEAVE, PLANE, REPREDICT};
use super::speculate::{Outcome, SpeculativeEvent};
use super::{Edmd, Halt};
use crate::contact::Surface;
use crate::record::Recorder;

/// Bodies changed in this round; empty if untracked.
#[derive(Debug, Clone, Default)]
pub(super) struct Changes {
    /// The round in which each body's course or event was last changed, and that of its list.
    bodies: Vec<u32>,
    lists: Vec<u32>,
    /// The cells whose bodies have changed in this round.
    cells: Vec<u32>,
    round: u32,
}

impl Changes {
    /// A body's course or event changes.
    #[inline(always)]
    pub fn of_body(&mut self, i: usize) {
        if let Some(round) = self.bodies.get_mut(i) {
            *round = self.round;
        }
    }

    /// A body's list changes.
    #[inline(always)]
    pub fn of_list(&mut self, i: usize) {
        if let Some(round) = self.lists.get_mut(i) {
            *round = self.round;
        }
    }

    /// A cell's bodies change.
    #[inline(always)]
    pub fn of_cell(&mut self, cell: u32) {
        if !self.bodies.is_empty() {
            self.cells.push(cell);
        }
    }

    /// Begins a round: nothing that was speculative before holds any more.
    pub fn begin(&mut self) {
        self.round = self.round.wrapping_add(1);
        self.cells.clear();
        if self.round == 0 {
            self.round = 1;
            self.bodies.fill(0);
            self.lists.fill(0);
        }
    }

    /// For `n` bodies.
    fn ask(&mut self, bodies: usize) {
        self.bodies.resize(bodies, 0);
        self.lists.resize(bodies, 0);
    }

    pub fn bytes(&self) -> usize {
        (self.bodies.capacity() + self.lists.capacity() + self.cells.capacity()) * size_of::<u32>()
    }
}

/// An event to be speculative: whose, and when.
pub(super) type Wanted = (u32, f64);

/// Bodies to an event of a round, and how many events a thread has in one, at least and at most.
const SPREAD: usize = 400;
const SHARE: [usize; 2] = [4, 64];

/// Bodies to a thread, at least, and the most threads: what one thread has to do alone leaves no work for more.
const BODIES: usize = 500;
const MOST: usize = 16;

/// Events before others are called: it may be only a few.
const ALONE: usize = 16;

/// What the threads share.
struct SpeculationRound<'a> {
    crowd: RwLock<&'a mut Edmd>,
    /// Events of the round.
    places: Vec<Mutex<SpeculativeEvent>>,
    /// How many there are, how many have been begun, and how many are done.
    wanted: AtomicUsize,
    begun: AtomicUsize,
    done: AtomicUsize,
    /// Rounds so far.
    round: AtomicUsize,
    over: AtomicBool,
}

/// Does something when it goes out of scope, by whatever way.
struct Finally<F: FnMut()>(F);

impl<F: FnMut()> Drop for Finally<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits: a moment at the ready, then so that others may work, and at last as `rest` has it.
fn wait(while_so: impl Fn() -> bool, rest: impl Fn()) {
    let mut tries = 0_u32;
    while while_so() {
        tries = tries.saturating_add(1);
        match tries {
            0..500 => core::hint::spin_loop(),
            500..1000 => thread::yield_now(),
            _ => rest(),
        }
    }
}

impl<'a> SpeculationRound<'a> {
    fn new(crowd: &'a mut Edmd, places: usize) -> Self {
        Self {
            crowd: RwLock::new(crowd),
            places: (0..places).map(|_| Mutex::default()).collect(),
            wanted: AtomicUsize::new(0),
            begun: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            over: AtomicBool::new(false),
        }
    }

    /// Foresees events of the round until none is left.
    fn speculate(&self) {
        let crowd = self.crowd.read().unwrap_or_else(PoisonError::into_inner);
        loop {
            let k = self.begun.fetch_add(1, Ordering::Relaxed);
            if k >= self.wanted.load(Ordering::Relaxed) {
                return;
            }
            let _done = Finally(|| {
                self.done.fetch_add(1, Ordering::Release);
            });
            crowd.speculate(&mut lock(&self.places[k]));
        }
    }

    /// Helps in every round until all is over.
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

    /// Lets the events of a round happen, and says which come next. `Some` when nothing more can happen.
    fn happen(
        &self,
        until: f64,
        last: u64,
        wanted: &mut Vec<Wanted>,
        recorder: &mut impl Recorder,
    ) -> Option<Halt> {
        let mut crowd = self.crowd.write().unwrap_or_else(PoisonError::into_inner);
        let end = wanted.last().map_or(f64::NEG_INFINITY, |&(_, time)| time);
        while crowd.first().is_some_and(|(_, time)| time <= end) {
            let speculative = |body: u32, time: f64| {
                let place = wanted.iter().position(|&event| event == (body, time))?;
                Some(lock(&self.places[place]))
            };
            if let ended @ Some(_) = crowd.step(until, last, speculative, recorder) {
                return ended;
            }
        }
        crowd.changes.begin();
        wanted.clear();
        crowd.collect_wanted(until, self.places.len(), wanted);
        if wanted.is_empty() {
            // At the end or at that of an epoch, or what comes next was only just decided.
            return crowd.step(until, last, |_, _| None::<&mut SpeculativeEvent>, recorder);
        }
        for (place, &event) in self.places.iter().zip(&*wanted) {
            lock(place).event = event;
        }
        self.wanted.store(wanted.len(), Ordering::Relaxed);
        self.begun.store(0, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
        None
    }

    /// Goes on, with those who help when they are called.
    fn go_on(&self, until: f64, last: u64, call: impl Fn(), recorder: &mut impl Recorder) -> Halt {
        let mut wanted = Vec::with_capacity(self.places.len());
        loop {
            if let Some(halt) = self.happen(until, last, &mut wanted, recorder) {
                return halt;
            }
            if !wanted.is_empty() {
                self.round.fetch_add(1, Ordering::Release);
                call();
                self.speculate();
                wait(|| self.done.load(Ordering::Acquire) < wanted.len(), thread::yield_now);
            }
        }
    }
}

impl Edmd {
    /// Lets so many threads work on it, one if nothing is said. It changes no result, and is used where it pays: for many bodies
    /// whose contacts are searched for. A snapshot does not keep it.
    pub fn set_threads(&mut self, threads: usize) {
        self.threads = threads.clamp(1, MOST);
        self.changes = Changes::default();
    }

    /// Goes on as [`Edmd::go_on_to`] does, with several threads, where that pays; otherwise, nothing.
    pub(super) fn advance_in_parallel(
        &mut self,
        until: f64,
        last: u64,
        recorder: &mut impl Recorder,
    ) -> Option<Halt> {
        let threads = self.threads.min(self.hot.len() / BODIES);
        if threads < 2 || !self.mixed {
            return None;
        }
        for _ in 0..ALONE {
            if let ended @ Some(_) = self.step(until, last, |_, _| None::<&mut SpeculativeEvent>, recorder) {
                return ended;
            }
        }
        let [least, most] = SHARE.map(|share| share * threads);
        let places = (self.hot.len() / SPREAD).clamp(least, most);
        self.changes.ask(self.hot.len());
        let table = SpeculationRound::new(self, places);
        Some(thread::scope(|scope| {
            let helpers: OnceCell<Vec<_>> = OnceCell::new();
            let call = || helpers.get().into_iter().flatten().for_each(|helper: &Thread| helper.unpark());
            let _over = Finally(|| {
                table.over.store(true, Ordering::Relaxed);
                call();
            });
            // Where the system has no more threads, there are fewer.
            let spawn = |_| thread::Builder::new().spawn_scoped(scope, || table.help()).ok();
            let started = (1..threads).map_while(spawn).map(|helper| helper.thread().clone());
            let _ = helpers.set(started.collect());
            table.go_on(until, last, call, recorder)
        }))
    }

    /// The events that come next.
    fn collect_wanted(&self, until: f64, most: usize, wanted: &mut Vec<Wanted>) {
        let end = (until - self.clock.epoch).min(self.clock.length);
        let mut number = self.calendar.page();
        while wanted.len() < most
            && let Some(note) = self.calendar.coming(number)
        {
            number += 1;
            if note.time >= end {
                return;
            }
            // Of a pair's two notes one is enough.
            let again = note.with < note.body && self.hot[note.with as usize].due == note.time;
            if note.holds(&self.hot) && !again {
                wanted.push((note.body, note.time));
            }
        }
    }

    /// What a body's event will bring.
    fn speculate(&self, speculative: &mut SpeculativeEvent) {
        let (body, time) = speculative.event;
        speculative.outcome = None;
        speculative.round = self.changes.round;
        let due = self.next_event(body);
        if due.with == LEAVE {
            self.speculate_move(body, time, speculative);
        } else if due.with == REPREDICT || !self.is_mutual(body, &due) {
            self.speculate_repredict(body, time, speculative);
        } else {
            let pair = self.pair(body as usize, due.with, due.image);
            let (_, surface, _) = self.answer(&pair, time);
            if !(self.are_spheres(&pair) && surface == Surface::Smooth) {
                // What cannot be speculative is dealt with when it comes.
                let _ = self.speculate_contact(&pair, time, speculative);
            }
        }
    }

    /// Whether what was speculative would be speculative again.
    pub(super) fn is_certain(&self, speculative: &SpeculativeEvent) -> bool {
        let mut again = SpeculativeEvent::default();
        again.event = speculative.event;
        self.speculate(&mut again);
        again.says_what(speculative)
    }

    /// Whether what was speculative is still so.
    pub(super) fn holds(&self, speculative: &SpeculativeEvent, outcome: Outcome) -> bool {
        let Changes { bodies, lists, cells, round } = &self.changes;
        let same = |changed: &[u32], i: u32| changed[i as usize] != *round;
        let unchanged = |link: &Link| link.with >= PLANE || same(bodies, link.with);
        speculative.round == *round
            && speculative
                .who()
                .all(|i| same(bodies, i) && same(lists, i) && self.links(i as usize).iter().all(&unchanged))
            && (outcome != Outcome::Move
                || speculative.moved.links.iter().all(&unchanged)
                    && !speculative.moved.cells.iter().any(|cell| cells.contains(cell)))
    }
}
