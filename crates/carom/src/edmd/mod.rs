//! Event-driven molecular dynamics of many free bodies: hard spheres, ellipsoids and superellipsoids, and mixtures of them.
//!
//! The physics is that of [`crate::simulation`] where no contact persists: without gravity, touches without approach part. Only prediction
//! differs: it is organised so that the cost per collision does not grow with the number of bodies.
//!
//! * **One event per body**, the earlier of its next contact and of its leaving its neighbourhood (B. D. Lubachevsky,
//!   J. Comput. Phys. 94, 1991). A contact is the next event of both its bodies. If a body's partner collides with someone else first, the
//!   body re-predicts when its own event comes due, not before. At all times no pair touches before the earlier of its bodies' two
//!   events.
//! * **Neighbour lists** (`neighbours`) and a **calendar queue** (`calendar`) find candidates and the next event in constant time.
//! * **Asynchronous states.** A body's position is that of its last collision; only the two that collide are moved.
//! * **Windows.** Nothing is searched beyond the earliest event already known to either body, nor while the bounding spheres are
//!   apart. Two spheres meet at the root of a quadratic; every other contact is searched for in its window with the certificate of
//!   [`crate::toi`], from a direction that is likely to separate the two: along it most pairs that stay apart are seen to do so without
//!   evaluating a gap.
//! * **Memory.** What prediction reads of a body is one cache line, what its own events read besides is another, and bodies near in
//!   space are near in memory: they are sorted along a space-filling curve, at the start and now and then. Long arrays are on huge
//!   pages (`huge_pages`), and what coming events will read is prefetched (`prefetch`).
//!
//! **Threads.** For non-spherical bodies each event is computed speculatively, without side effects (`speculate`), and then committed. With
//! [`Edmd::set_threads`] several threads speculate on the next events at once (`parallel`); results are the same to the bit.
//!
//! **Growth.** With `growth` the bodies' sizes are (1 + growth·t) (B. D. Lubachevsky and F. H. Stillinger, J. Stat. Phys. 60,
//! 1990). Masses and moments stay; the surfaces' own speed takes part in approach and separation, so that bodies part.
//!
//! **Collapse.** With k < 1 collisions can accumulate at one time. `contact_time` makes a collision elastic that follows the
//! last one of either body within that time (the TC model of S. Luding and S. McNamara, Granular Matter 1, 1998); without it
//! a run whose clock no longer moves, or whose bodies close at next to no speed, ends as [`Stopped::Stalled`].
//!
//! **Time** is kept as in the simulation: an epoch, moved on by powers of two, and what has passed since. **Audit**: each
//! collision's restitution and energy, and now and then the totals.

mod audit;
mod calendar;
mod cluster;
mod contact_event;
mod huge_pages;
mod neighbourhood;
mod neighbours;
mod next_event;
mod overlay;
mod parallel;
mod predict;
mod prefetch;
mod rotation;
mod search;
mod shape_class;
mod snapshot;
mod speculate;
mod spheres;
#[cfg(test)]
mod spoiled;
mod storage;

use core::ops::DerefMut;

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use crate::body::{Body, State};
use crate::contact::Side;
use crate::record::Recorder;
use crate::run::{
    Audit, Cause, Clock, Counts, Failure, InvalidStart, Ledger, SnapshotMismatch, Stopped, World, index,
};
use calendar::Calendar;
use huge_pages::HugePageArray;
use neighbours::{Grid, Images, Link, Lists};
use next_event::{LEAVE, PLANE, REPREDICT};
use parallel::Changes;
use rotation::Spins;
use shape_class::ShapeClass;
use speculate::{Outcome, SpeculativeEvent};
use storage::{Cold, Hot, Path};

pub use snapshot::Snapshot;

/// How a crowd is run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The number of impacts to stop at.
    pub max_events: u64,
    /// The rate of relative size: sizes are (1 + growth·t). Zero, or anything less: none.
    pub growth: f64,
    /// A collision within this time of the last one of either body is elastic. Zero: none is.
    pub contact_time: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { max_events: u64::MAX, growth: 0.0, contact_time: 0.0 }
    }
}

/// What makes a world unsuited to a crowd.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsuited {
    /// There is gravity: bodies would come to rest on one another.
    Gravity,
    /// More bodies or planes than 31 bits count.
    Number,
}

/// Why nothing more happens for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Halt {
    /// The run has stopped.
    Stopped(Stopped),
    /// The collisions asked for are used up, and there is more to come.
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

/// Many bodies on their way.
#[derive(Debug, Clone)]
pub struct Edmd {
    world: World,
    settings: Settings,
    clock: Clock,
    /// By the order in memory, as everything below but `place`.
    hot: HugePageArray<Hot>,
    cold: HugePageArray<Cold>,
    /// The circumradii, at the size of the start.
    radii: Vec<f64>,
    /// That of all, where they are equal.
    equal: Option<f64>,
    /// How many boxes each is beyond where it is kept.
    boxes: Vec<[i32; 3]>,
    spins: Spins,
    /// How far each body's surface has moved at most; empty where all are balls.
    path: Vec<Path>,
    /// The kinds of shapes.
    shape_classes: Vec<ShapeClass>,
    /// Where the body of each number in the scene is.
    place: Vec<u32>,
    calendar: Calendar,
    lists: Lists,
    grid: Grid,
    images: Images,
    /// How far a body may go from home.
    skin: f64,
    /// The largest circumradius, at the size of the start.
    largest: f64,
    /// What the images are made for.
    image_distance: f64,
    /// Whether any contact has to be searched for.
    mixed: bool,
    ledger: Ledger,
    counts: Counts,
    /// The number of collisions at which the bodies were last put in order, and the whole last compared.
    ordered: u64,
    checked: u64,
    /// The same when all pairs were last looked at.
    looked: u64,
    /// Collisions and grazes, and the time, when it was last seen that the clock moves.
    headway: (u64, f64),
    stopped: Option<Stopped>,
    failure: Option<Failure>,
    scratch: predict::Scratch,
    /// How many threads work on it, and what changes while they do.
    threads: usize,
    changes: Changes,
    /// The notes up to which memory has been read ahead.
    ahead: prefetch::Reached,
}

/// Collisions after which the clock must have moved.
const HEADWAY: u64 = 20_000;
/// By this much, in epochs.
const STALLED: f64 = 1e-13;

/// Approaches below this share of a passage have accumulated: only collapse makes them so slow.
const COLLAPSED: f64 = 1e-30;

/// Collisions a body between two times that the bodies are put in order, and that the whole is compared.
const ORDERED: u64 = 200;
const CHECKED: u64 = 16;

impl Edmd {
    /// Whether a world can be run as a crowd.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn suits(world: &World) -> Result<(), Unsuited> {
        if world.gravity != Vector3::zeros() {
            return Err(Unsuited::Gravity);
        }
        let most = PLANE as usize - 8;
        if world.bodies.len() >= most || world.planes.len() >= most {
            return Err(Unsuited::Number);
        }
        Ok(())
    }

    /// Prepares a run. Gravity is not looked at; ask [`Edmd::suits`].
    ///
    /// # Errors
    /// Why the initial states are invalid: overlaps, a box too short, motions that floats do not hold.
    pub fn new(world: World, states: &[State], settings: Settings) -> Result<Self, Vec<InvalidStart>> {
        let mut crowd = Self::at_start(world, states, settings)?;
        crowd.reorder();
        let overlaps = crowd.overlaps();
        if !overlaps.is_empty() {
            return Err(overlaps);
        }
        for i in 0..crowd.hot.len() {
            crowd.predict(i, 0.0, &[]);
        }
        crowd.tune_calendar();
        crowd.scratch.close.clear();
        Ok(crowd)
    }

    fn at_start(world: World, states: &[State], settings: Settings) -> Result<Self, Vec<InvalidStart>> {
        let invalid = world.invalid_start(states);
        if !invalid.is_empty() {
            return Err(invalid);
        }
        let hot =
            HugePageArray::collect(states.iter().enumerate().map(|(i, state)| Hot::new(&world, i, state)));
        let (shape_classes, kinds) = shape_class::kinds(&world.bodies);
        let cold = HugePageArray::collect(kinds.into_iter().enumerate().map(|(i, kind)| Cold::new(i, kind)));
        let radii = world.radius.clone();
        let equal = radii.first().copied().filter(|first| radii.iter().all(|radius| radius == first));
        let spins = Spins::new(&world, states);
        let ledger = Ledger::open(&world, states);
        let bodies = hot.len();
        let mut crowd = Self {
            clock: Clock::start(),
            place: (0..index(bodies)).collect(),
            calendar: Calendar::new(),
            lists: Lists::default(),
            grid: Grid::new(None, 1.0, core::iter::empty()),
            images: Images::new(None, 1.0),
            skin: 0.0,
            largest: 0.0,
            image_distance: 1.0,
            mixed: shape_classes.iter().any(|solid| solid.can_collide && !solid.is_ball),
            boxes: vec![[0; 3]; bodies],
            radii,
            equal,
            counts: Counts::default(),
            ordered: 0,
            checked: 0,
            looked: 0,
            headway: (0, 0.0),
            stopped: None,
            failure: None,
            scratch: predict::Scratch::default(),
            threads: 1,
            changes: Changes::default(),
            ahead: prefetch::Reached::default(),
            settings: Settings { growth: settings.growth.max(0.0), ..settings },
            world,
            path: Vec::new(),
            shape_classes,
            hot,
            cold,
            spins,
            ledger,
        };
        crowd.clock.length = crowd.epoch_length();
        Ok(crowd)
    }

    /// Goes on to a time, or for so many collisions. `None`: the collisions are used up, and there is more to come. What comes
    /// to its time is compared as a whole with the ledger.
    pub fn advance(&mut self, until: f64, most: u64, recorder: &mut impl Recorder) -> Option<Stopped> {
        let stopped = self.go_on_to(until, most, recorder);
        if stopped == Some(Stopped::Until) {
            self.compare();
        }
        stopped
    }

    /// The same without that, for stops on the way: a comparison looks at every body and its neighbours.
    pub fn go_on_to(&mut self, until: f64, most: u64, recorder: &mut impl Recorder) -> Option<Stopped> {
        let last = self.counts.collisions.saturating_add(most);
        if let Some(halt) = self.advance_in_parallel(until, last, recorder) {
            return halt.stopped();
        }
        loop {
            if let Some(halt) = self.step(until, last, |_, _| None::<&mut SpeculativeEvent>, recorder) {
                return halt.stopped();
            }
        }
    }

    /// The next event; `Some` when nothing more can happen, and why.
    #[inline]
    fn step<F: DerefMut<Target = SpeculativeEvent>>(
        &mut self,
        until: f64,
        last: u64,
        speculative: impl Fn(u32, f64) -> Option<F>,
        recorder: &mut impl Recorder,
    ) -> Option<Halt> {
        if let Some(stopped) = self.stopped {
            return Some(Halt::Stopped(stopped));
        }
        if self.counts.events >= self.settings.max_events {
            return Some(Halt::Stopped(Stopped::MaxEvents));
        }
        if self.counts.collisions >= last {
            return Some(Halt::Paused);
        }
        let end = until - self.clock.epoch;
        let Some((body, time)) = self.first().filter(|&(_, time)| time <= end) else {
            if end.is_finite() {
                self.clock.now = self.clock.now.max(end);
            }
            return Some(Halt::Stopped(Stopped::Until));
        };
        if time >= self.clock.length {
            self.next_epoch(time.min(end));
            return None;
        }
        self.prefetch(0);
        let mut speculative = speculative(body, time);
        self.happen(body as usize, speculative.as_deref_mut(), recorder);
        None
    }

    /// Whose event is first, and when.
    #[inline]
    fn first(&mut self) -> Option<(u32, f64)> {
        let body = self.calendar.first(&self.hot)?;
        Some((body, self.hot[body as usize].due))
    }

    /// A body's event.
    #[inline]
    fn happen(
        &mut self,
        body: usize,
        speculative: Option<&mut SpeculativeEvent>,
        recorder: &mut impl Recorder,
    ) {
        let due = self.next_event(index(body));
        // Whatever comes of it, what was speculative is over.
        let speculative = speculative.map(|speculative| (speculative.outcome.take(), speculative));
        let as_speculated = |outcome: Outcome| {
            let (found, speculative) = speculative?;
            let holds = found == Some(outcome) && self.holds(speculative, outcome);
            debug_assert!(!holds || self.is_certain(speculative), "what {body} depends on has changed");
            holds.then_some(speculative)
        };
        match due.with {
            LEAVE => match as_speculated(Outcome::Move) {
                Some(speculative) => self.move_as_speculated(index(body), speculative),
                None => self.move_neighbourhood(body, due.time),
            },
            REPREDICT => self.repredict(body, due.time, as_speculated(Outcome::Look)),
            _ if self.is_mutual(index(body), &due) => {
                self.touch(body, &due, as_speculated(Outcome::Touch), recorder);
                if self.counts.collisions - self.checked >= CHECKED * self.hot.len() as u64 {
                    self.keep_house();
                } else if self.is_few() {
                    self.look_around();
                }
                if self.counts.collisions + self.counts.grazes - self.headway.0 >= HEADWAY {
                    self.watch_clock();
                }
            }
            // The partner has gone on to other things.
            _ => self.repredict(body, due.time, as_speculated(Outcome::Look)),
        }
    }

    fn repredict(&mut self, body: usize, t: f64, speculative: Option<&mut SpeculativeEvent>) {
        if let Some(speculative) = speculative {
            return self.repredict_as_speculated(index(body), speculative);
        }
        self.clear_next_event(index(body));
        self.predict(body, t, &[]);
        self.scratch.close.clear();
    }

    /// A body's neighbours.
    #[inline(always)]
    fn links(&self, body: usize) -> &[Link] {
        self.lists.of(self.cold[body].row)
    }

    /// What is done now and then.
    #[cold]
    fn keep_house(&mut self) {
        self.checked = self.counts.collisions;
        self.compare_totals();
        self.look_after(audit::LOOKED);
        if self.counts.collisions - self.ordered >= ORDERED * self.hot.len() as u64 {
            self.ordered = self.counts.collisions;
            self.reorder();
        }
    }

    /// Whether the clock has moved.
    #[cold]
    fn watch_clock(&mut self) {
        let time = self.time();
        if time - self.headway.1 < STALLED * self.clock.length {
            self.stopped.get_or_insert(Stopped::Stalled);
        }
        self.headway = (self.counts.collisions + self.counts.grazes, time);
    }

    /// The time of the latest event, or of the end.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.clock.epoch + self.clock.now
    }

    /// The bodies' size now, over that of the start.
    #[must_use]
    pub fn size(&self) -> f64 {
        self.size_at(self.clock.now)
    }

    #[inline(always)]
    fn size_at(&self, t: f64) -> f64 {
        1.0 + self.settings.growth * (self.clock.epoch + t)
    }

    /// The world, with the bodies at the size of the start.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// All bodies' states at the present time, in the scene's order; positions run on beyond the walls of a periodic
    /// box.
    #[must_use]
    pub fn states(&self) -> Vec<State> {
        let mut states = Vec::new();
        self.states_into(&mut states);
        states
    }

    /// [`Edmd::states`] into a list that is there.
    pub fn states_into(&self, states: &mut Vec<State>) {
        states.clear();
        states.extend(self.place.iter().map(|&i| {
            let mut state = self.state(i as usize, self.clock.now);
            state.position += self.images.displacement(self.boxes[i as usize]);
            state
        }));
    }

    /// A body's state, where it is kept.
    fn state(&self, i: usize, t: f64) -> State {
        let line = &self.hot[i].line;
        let body = &self.world.bodies[self.cold[i].name as usize];
        let (orientation, angular_velocity) = self.spins.of(i).at(body, t);
        State { position: line.at(t), orientation, velocity: line.velocity, angular_velocity }
    }

    /// Begins a body's path anew at its length so far, as its course is now.
    fn follow_path(&mut self, i: usize, t: f64) {
        if self.mixed {
            let lever = self.shape_class(index(i)).lever;
            let rate = self.hot[i].line.velocity.norm() + self.spins.of(i).speed() * lever;
            self.path[i] = Path { length: self.path[i].at(t), rate, since: t };
        }
    }

    /// The counts so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The audit so far.
    #[must_use]
    pub fn audit(&self) -> Audit {
        self.ledger.audit
    }

    /// What could not be followed, where that ended the run.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        self.failure
    }

    /// Bytes held for the bodies, all told.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let bodies = self.hot.len();
        let each = size_of::<u32>() + size_of::<[i32; 3]>() + size_of::<Body>() + 2 * size_of::<f64>();
        let each = each + if self.mixed { size_of::<Path>() } else { 0 };
        bodies * each
            + self.spins.bytes()
            + self.hot.bytes()
            + self.cold.bytes()
            + self.calendar.bytes()
            + self.lists.bytes()
            + self.grid.bytes()
            + self.changes.bytes()
    }

    fn lose(&mut self, sides: [Side; 2], cause: Cause) {
        if self.stopped.is_none() {
            self.stopped = Some(Stopped::Failed);
            self.failure = Some(Failure { time: self.time(), sides, cause });
        }
    }

    /// How long an epoch may be: some passages of the bodies' own size, a power of two.
    fn epoch_length(&self) -> f64 {
        let (mut radius, mut square, mut count) = (0.0, 0.0, 0.0);
        for (i, hot) in self.hot.iter().enumerate() {
            let solid = self.shape_class(index(i));
            if !solid.can_collide || solid.is_fixed() {
                continue;
            }
            let spin = self.spins.of(i).speed() * self.radius(i);
            radius += self.radius(i);
            square += hot.line.velocity.norm_squared() + spin * spin;
            count += 1.0;
        }
        let speed = (square / count).sqrt();
        let passage = radius / count / speed;
        if !(passage.is_finite() && passage > 0.0) {
            return 1.0;
        }
        Clock::length_for(passage)
    }

    /// Moves the zero of time; where nothing is due for long, by more than one epoch.
    #[cold]
    fn next_epoch(&mut self, idle: f64) {
        self.changes.begin();
        let by = self.clock.move_on(idle);
        for hot in self.hot.iter_mut() {
            hot.line.since -= by;
            hot.due -= by;
        }
        for cold in self.cold.iter_mut() {
            cold.last -= by;
        }
        self.spins.shift(by);
        for path in &mut self.path {
            path.since -= by;
        }
        self.tune_calendar();
        self.clock.length = self.epoch_length();
        if self.settings.growth != 0.0 {
            self.reorder();
        }
    }
}
