//! The general engine: predict, move, resolve contacts, audit, record.
//!
//! Bodies fly in closed form between events; nothing is stepped. [`Simulation::step`] takes the next event from the queue: a pair whose
//! bounding spheres come close is searched for its first contact with the certificate of [`crate::toi`], a body that leaves its
//! cell gets new neighbours, and a contact is resolved. Contacts that are simultaneous within the error bounds of their times, and
//! the persistent contacts of the bodies concerned, are one event (`contact_event`). A contact that cannot end by an impulse persists
//! (`decide`): a body at rest or sliding on a plane, and the paradox of two smooth bodies.
//!
//! **Parts.** [`Simulation`] ties together three parts with state of their own: `dynamics`, how every body moves now, the groups and the
//! persistent contacts; `predict`, the event queue and the grid of cells; `bookkeeping`, the ledger, the counts and the reason why the
//! run ended.
//!
//! **Groups.** Bodies that joints and loads constrain are moved by [`crate::flow`] from the start, and so are bodies in persistent contact
//! while it lasts. Their contacts are searched for with the same certificate, on the motion as integrated; their impacts are those
//! of the whole mechanism, in which the joints carry their share.
//!
//! **Trouble.** Where the exact motion has no continuation, or would take more work than it is worth, the bodies concerned are carried on
//! by time steps for a while (`stepping`), if the scene does not ask to stop there.
//!
//! **Time.** The clock has two parts, an epoch and the time since. The epoch moves on by powers of two before the time
//! since grows long, so that a long run keeps the resolution of a short one: times, positions and gaps of the millionth
//! event are as exact as the first's.
//!
//! **Same scene, same bytes.** Everything that is computed depends on the states alone, and entries of one time are ordered by
//! their contents. A [`Snapshot`] holds the whole state; a run resumed from it continues to the same bits.

mod bookkeeping;
mod cells;
mod cluster;
mod constrained;
mod contact_event;
mod decide;
mod dynamics;
mod formation;
mod grip;
mod group;
mod group_event;
mod groups;
mod impact;
mod interpenetration;
mod motion;
mod neighbours;
mod pair;
mod persistent;
mod predict;
mod queue;
mod resolution;
mod rolling;
mod snapshot;
#[cfg(test)]
mod spoiled;
mod start;
mod stepping;

use crate::body::State;
use crate::record::{Moment, Recorder, Sample};
use crate::run::{Audit, Counts, Failure, InvalidStart, Stopped, World};
use crate::scene::model::RunSettings;
use crate::watch::{Task, Watch, Work};
use bookkeeping::Bookkeeping;
use dynamics::Dynamics;
use predict::Predictor;
use queue::NextEvent;

pub use constrained::SingularPassages;
pub use rolling::RollingDemand;
pub use snapshot::Snapshot;
pub use stepping::SteppedInterval;

/// A run in progress.
#[derive(Debug, Clone)]
pub struct Simulation {
    settings: RunSettings,
    dynamics: Dynamics,
    predictor: Predictor,
    books: Bookkeeping,
}

/// Events in a row without progress that end a run.
const MOST_STALLED: u64 = 20_000;

/// At most so many queue entries, or sampled states, between two returns to the caller.
const MOST_ENTRIES: usize = 1000;
const MOST_SAMPLES: usize = 100_000;

/// From this many bodies on a grid of cells pays in an open world.
const MANY: usize = 48;

impl Simulation {
    /// Prepares a run.
    ///
    /// # Errors
    /// Why the initial states are invalid: overlaps, a box too short, motions that floats do not hold.
    pub fn new(mut world: World, states: &[State], settings: RunSettings) -> Result<Self, Vec<InvalidStart>> {
        world.on_trouble = settings.on_trouble;
        let invalid = world.invalid_start(states);
        if !invalid.is_empty() {
            return Err(invalid);
        }
        let books = Bookkeeping::new(&world, states);
        let dynamics = Dynamics::new(world, states, settings.until, settings.rest_speed);
        let mut simulation = Self { settings, dynamics, predictor: Predictor::default(), books };
        if simulation.world().periodic.is_some() || states.len() >= MANY {
            simulation.predictor.build_cells(&simulation.dynamics);
        }
        simulation.start()?;
        simulation.books.audit_pairs(&simulation.dynamics, 0.0);
        Ok(simulation)
    }

    /// Goes on to the next event, or for a while if none comes, and returns whether there may be more. Reports to the recorder.
    pub fn step(&mut self, recorder: &mut impl Recorder) -> bool {
        self.step_to(f64::INFINITY, recorder)
    }

    /// [`Simulation::step`], but not beyond a time to pause at: if that comes first, the clock stands there, the run has not
    /// stopped, and the result is false.
    pub fn step_to(&mut self, pause: f64, recorder: &mut impl Recorder) -> bool {
        for _ in 0..MOST_ENTRIES {
            if self.books.stopped.is_none() && self.world().watch().wants_end() {
                self.interrupt();
            }
            if self.books.stopped.is_some() {
                return false;
            }
            let end = self.dynamics.clock.local(self.settings.until.min(pause));
            let next = self.predictor.next_time();
            if !self.sample(next.min(end), recorder) {
                return true;
            }
            if next > end {
                self.reach(end, pause < self.settings.until);
                return false;
            }
            let Some(entry) = self.predictor.queue.pop() else { continue };
            if !self.dynamics.is_current(&entry) {
                continue;
            }
            let (t, dynamics, books) = (entry.time, &self.dynamics, &mut self.books);
            match entry.event {
                NextEvent::Epoch => self.next_epoch(),
                NextEvent::Cross { body, axis, up } => {
                    self.predictor.cross(dynamics, books, body as usize, usize::from(axis), up, t);
                }
                NextEvent::Search(pair) => self.predictor.search(dynamics, books, pair, t),
                NextEvent::StepEnd { group } => {
                    // A dense-output step costs more than other entries: return to the caller after each.
                    self.step_end_event(group, recorder);
                    self.books.audit_pairs_of_few(&self.dynamics);
                    return self.goes_on();
                }
                NextEvent::Exit(pair) => {
                    self.exit_event(pair, t, recorder);
                    return self.goes_on();
                }
                NextEvent::Contact { pair, error } => {
                    let happened = self.contact_event(t, pair, error, recorder);
                    if !self.goes_on() || happened {
                        return self.books.stopped.is_none();
                    }
                }
            }
        }
        true
    }

    /// Puts the clock at a time before the next event: a pause, or the end of the run.
    fn reach(&mut self, end: f64, pauses: bool) {
        let clock = &mut self.dynamics.clock;
        if pauses {
            clock.now = clock.now.max(end);
            return;
        }
        clock.now = end;
        self.books.audit_pairs(&self.dynamics, end);
        self.books.check(&mut self.dynamics);
        self.books.stopped = Some(Stopped::Until);
    }

    /// Runs to the end; calls `go_on` after each event, and now and then if none comes.
    pub fn run(&mut self, recorder: &mut impl Recorder, mut go_on: impl FnMut(&Self) -> bool) -> Stopped {
        while self.step(recorder) {
            if !go_on(self) {
                self.interrupt();
            }
        }
        self.books.stopped.unwrap_or(Stopped::Interrupted)
    }

    /// Ends the run here.
    pub fn interrupt(&mut self) {
        self.books.stop(Stopped::Interrupted);
    }

    /// Lets a run that was interrupted between two events, or that reached its last event, go on to another. The time to stop at stays, as
    /// nothing beyond it is predicted: to stop on the way, call [`Simulation::step_to`].
    pub fn go_on(&mut self, max_events: usize) {
        self.settings.max_events = max_events;
        if self.gave_up() {
            return;
        }
        if matches!(self.books.stopped, Some(Stopped::Interrupted | Stopped::MaxEvents)) {
            self.books.stopped = None;
        }
    }

    /// Ends the run after its last event, or if it makes no progress; returns whether it goes on.
    fn goes_on(&mut self) -> bool {
        self.has_given_up();
        if self.books.counts.events >= self.settings.max_events as u64 {
            self.books.stop(Stopped::MaxEvents);
        }
        if self.books.counts.stalled > MOST_STALLED {
            self.books.stop(Stopped::Stalled);
        }
        self.books.stopped.is_none()
    }

    /// Lets a caller see what is being worked on, and end the run within an event: see [`crate::watch`].
    pub fn set_watch(&mut self, watch: &Watch) {
        self.dynamics.world.options.watch = watch.clone();
        self.dynamics.groups.set_watch(watch);
    }

    /// Whether the run was ended within an event, so that it cannot go on from here.
    #[must_use]
    pub fn gave_up(&self) -> bool {
        self.world().watch().gave_up()
    }

    /// Says what is being worked on.
    fn begin_work(&self, task: Task, bodies: &[u32], t: f64) {
        let time = self.dynamics.clock.absolute(t);
        let count = crate::run::index(bodies.len());
        self.world().watch().begin(&Work {
            task,
            time,
            bodies: count,
            body: bodies.first().copied().unwrap_or(0),
        });
    }

    /// Whether a computation was given up because the caller wants the end; then the run is over.
    fn has_given_up(&mut self) -> bool {
        let gave_up = self.gave_up();
        if gave_up {
            self.interrupt();
        }
        gave_up
    }

    /// Moves the clock to an event.
    fn advance_clock(&mut self, t: f64) {
        let (clock, counts) = (&mut self.dynamics.clock, &mut self.books.counts);
        counts.stalled = if t > clock.now { 0 } else { counts.stalled + 1 };
        clock.now = clock.now.max(t);
    }

    /// Moves the zero of time.
    fn next_epoch(&mut self) {
        // If the next event is far off, several epochs pass at once.
        let idle = self.predictor.next_time().min(self.dynamics.end());
        let by = self.dynamics.clock.move_on(idle);
        self.predictor.queue.shift(by, |entry| self.dynamics.is_current(entry));
        self.dynamics.shift(by);
        self.predictor.push_epoch(&self.dynamics);
    }

    /// The world.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.dynamics.world
    }

    /// The time of the latest event, or of the end.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.dynamics.time()
    }

    /// The time to stop at.
    #[must_use]
    pub fn until(&self) -> f64 {
        self.settings.until
    }

    /// The counts so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.books.counts
    }

    /// The audit so far.
    #[must_use]
    pub fn audit(&self) -> Audit {
        self.books.ledger.audit
    }

    /// Why the run has stopped, if it has.
    #[must_use]
    pub fn stopped(&self) -> Option<Stopped> {
        self.books.stopped
    }

    /// What could not be followed, if that ended the run.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        self.books.failure
    }

    /// All bodies' states at the present time; positions run on beyond the walls of a periodic box.
    #[must_use]
    pub fn states(&self) -> Vec<State> {
        self.dynamics.states(self.dynamics.clock.now)
    }

    /// The intervals in which bodies were carried on by time steps.
    #[must_use]
    pub fn stepped(&self) -> &[SteppedInterval] {
        &self.books.stepped
    }

    /// The friction that the rolling joints have needed, by joint.
    pub fn rolling_demands(&self) -> impl Iterator<Item = &RollingDemand> {
        self.books.demands.iter()
    }

    /// The singular configurations that linkages have passed.
    pub fn singular_passages(&self) -> impl Iterator<Item = &SingularPassages> {
        self.books.singular.iter()
    }

    /// How many rows of the joints depend on others in the present configuration: the reactions are then those of least norm.
    #[must_use]
    pub fn dependent_rows(&self) -> usize {
        constrained::dependent_rows(&self.dynamics)
    }

    /// Takes the samples up to a time; false if there are more to take.
    fn sample(&mut self, until: f64, recorder: &mut impl Recorder) -> bool {
        if self.settings.sample <= 0.0 {
            return true;
        }
        let mut batch = Vec::new();
        for _ in 0..=MOST_SAMPLES / self.dynamics.motions.len().max(1) {
            #[expect(clippy::cast_precision_loss, reason = "fewer samples than 2^53")]
            let time = self.books.counts.samples as f64 * self.settings.sample;
            let local = self.dynamics.clock.local(time);
            if local > until || time > self.settings.until {
                return true;
            }
            self.books.counts.samples += 1;
            batch.clear();
            let states = self.dynamics.states(local).into_iter().enumerate();
            batch.extend(states.map(|(body, state)| Sample { time, moment: Moment::Sample, body, state }));
            recorder.samples(&batch);
            self.books.audit_pairs_at_sample(&self.dynamics, local);
            if !self.world().joints.is_empty() {
                recorder.reactions(&constrained::reactions(&self.dynamics, local));
            }
        }
        false
    }
}
