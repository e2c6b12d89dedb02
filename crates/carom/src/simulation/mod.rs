//! The general loop: predict, fly, touch, classify, resolve, audit, record.
//!
//! Bodies fly in closed form between events; nothing is stepped. [`Simulation::step`] takes what is due next from the
//! queue: a pair whose bounding spheres come within reach is searched for its first contact with the certificate of
//! [`crate::toi`], a body that leaves its cell meets new neighbours, and a contact is resolved. Contacts that are
//! simultaneous within the error bounds of their times, and contacts that stand between the bodies concerned, make
//! one impact (`touch`). A contact that cannot end by an impulse is held (`resolution`, `held`): a body at rest or sliding on a
//! plane, and the paradox of two smooth bodies.
//!
//! **Tied bodies.** What joints and loads make one system (`ties`) is moved by [`crate::flow`] from the start, and only that. Its
//! contacts are searched for with the same certificate, on the motion as integrated; its impacts are those of the whole mechanism,
//! and the joints carry their share.
//!
//! **Time.** The clock has two parts, an epoch and the time since. The epoch moves on by powers of two before the time
//! since grows long, so that a long run keeps the resolution of a short one: times, positions and gaps of the millionth
//! event are as exact as the first's.
//!
//! **Same scene, same bytes.** Everything that is computed depends on the states alone, and entries of one time are taken
//! in the order of their contents. A [`Snapshot`] holds the whole state; what is resumed from it goes on to the bit.

mod cells;
mod constrained;
mod contact_event;
mod epoch;
mod events;
mod grip;
mod group;
mod impact;
mod interpenetration;
mod motion;
mod persistent;
mod predict;
mod queue;
mod resolution;
mod rolling;
mod snapshot;
#[cfg(test)]
mod spoiled;
mod start;

use std::collections::BTreeMap;

use crate::body::State;
use crate::contact::Side;
use crate::record::{Moment, Recorder, Sample};
use crate::run::{Audit, Cause, Clock, Counts, Failure, InvalidStart, Ledger, Stopped, World};
use crate::scene::model::RunSettings;
use cells::Cells;
use group::Group;
use motion::{BodyMotion, Trajectory};
use queue::{Due, Entry, Pair, Queue};
use resolution::Persistence;

pub use constrained::SingularPassages;
pub use rolling::RollingDemand;
pub use snapshot::Snapshot;

/// A run under way.
#[derive(Debug, Clone)]
pub struct Simulation {
    world: World,
    settings: RunSettings,
    clock: Clock,
    motions: Vec<BodyMotion>,
    groups: Vec<Option<Group>>,
    /// Contacts that last.
    standing: BTreeMap<Pair, Persistence>,
    /// Contacts that are rolling joints, as long as friction lets them roll.
    rolling: BTreeMap<Pair, usize>,
    /// What the other rolling joints have asked of their surfaces.
    demands: BTreeMap<usize, RollingDemand>,
    /// The singular configurations that linkages have passed, by the first body of each.
    singular: BTreeMap<usize, SingularPassages>,
    cells: Option<Cells>,
    queue: Queue,
    ledger: Ledger,
    counts: Counts,
    stopped: Option<Stopped>,
    failure: Option<Failure>,
    /// Goes up with every piece of held motion.
    pieces: u32,
    /// The time when pieces were last looked back at.
    piece_mark: f64,
    /// Whether forces that nobody adds up have acted from outside since the last check.
    unbalanced: bool,
    /// Room for a list of pairs, kept for reuse.
    found: Vec<Pair>,
    /// The number of events when all pairs were last looked at.
    looked: u64,
}

/// Events in a row without progress that end a run.
const MOST_STALLED: u64 = 20_000;

/// So many entries of the queue, or states sampled, at most between two returns to whoever drives the run.
const MOST_CHORES: usize = 1000;
const MOST_SAMPLES: usize = 100_000;

/// From this many bodies on a grid of cells pays in an open world.
const MANY: usize = 48;

impl Simulation {
    /// Prepares a run.
    ///
    /// # Errors
    /// Why the initial states are invalid: overlaps, a box too short, motions that floats do not hold.
    pub fn new(world: World, states: &[State], settings: RunSettings) -> Result<Self, Vec<InvalidStart>> {
        let invalid = world.invalid_start(states);
        if !invalid.is_empty() {
            return Err(invalid);
        }
        let motions = states
            .iter()
            .enumerate()
            .map(|(i, state)| BodyMotion {
                course: Trajectory::Flight(Box::new(world.flight(i, state))),
                since: 0.0,
                version: 1,
                boxes: [0; 3],
            })
            .collect();
        let ledger = Ledger::open(&world, states);
        let mut simulation = Self {
            clock: Clock::start(),
            settings,
            motions,
            groups: Vec::new(),
            standing: BTreeMap::new(),
            rolling: BTreeMap::new(),
            demands: BTreeMap::new(),
            singular: BTreeMap::new(),
            cells: None,
            queue: Queue::default(),
            ledger,
            counts: Counts::default(),
            stopped: None,
            failure: None,
            pieces: 0,
            piece_mark: -1.0,
            unbalanced: false,
            found: Vec::new(),
            looked: 0,
            world,
        };
        simulation.clock.length = simulation.epoch_length();
        for body in 0..states.len() {
            simulation.wrap(body);
        }
        if simulation.world.periodic.is_some() || states.len() >= MANY {
            simulation.build_cells();
        }
        simulation.begin()?;
        simulation.look_around(0.0);
        Ok(simulation)
    }

    /// Goes on to the next event, or for a while where none comes, and returns whether there may be more. What happens goes
    /// to the recorder.
    pub fn step(&mut self, recorder: &mut impl Recorder) -> bool {
        self.step_to(f64::INFINITY, recorder)
    }

    /// [`Simulation::step`], but not beyond a time to look around at: where that comes first, the clock stands there,
    /// nothing has stopped, and false is returned.
    pub fn step_to(&mut self, pause: f64, recorder: &mut impl Recorder) -> bool {
        for _ in 0..MOST_CHORES {
            if self.stopped.is_some() {
                return false;
            }
            let end = self.clock.local(self.settings.until.min(pause));
            let due = self.queue.peek().map_or(f64::INFINITY, |entry| entry.time);
            if !self.sample(due.min(end), recorder) {
                return true;
            }
            if due > end && pause < self.settings.until {
                self.clock.now = self.clock.now.max(end);
                return false;
            }
            if due > end {
                self.clock.now = end;
                self.check_end();
                self.stopped = Some(Stopped::Until);
                return false;
            }
            let Some(entry) = self.queue.pop() else { continue };
            if !self.is_valid(&entry) {
                continue;
            }
            match entry.due {
                Due::Epoch => self.next_epoch(),
                Due::Cross { body, axis, up } => self.cross(body as usize, usize::from(axis), up, entry.time),
                Due::Search(pair) => self.search(pair, entry.time),
                Due::DenseStep { group } => {
                    // Held motion costs more than a chore: whoever drives the run is asked after each piece.
                    self.end_step(group as usize, recorder);
                    if self.is_few() {
                        self.look_around(self.clock.now);
                    }
                    return self.after_event();
                }
                Due::Part(pair) => {
                    self.exit(pair, entry.time, recorder);
                    return self.after_event();
                }
                Due::Touch { pair, error } => {
                    let happened = self.touch(entry.time, pair, error, recorder);
                    if !self.after_event() || happened {
                        return self.stopped.is_none();
                    }
                }
            }
        }
        true
    }

    /// Runs to the end; `go_on` is asked after each event, and now and then where none comes.
    pub fn run(&mut self, recorder: &mut impl Recorder, mut go_on: impl FnMut(&Self) -> bool) -> Stopped {
        while self.step(recorder) {
            if !go_on(self) {
                self.interrupt();
            }
        }
        self.stopped.unwrap_or(Stopped::Interrupted)
    }

    /// Ends the run here.
    pub fn interrupt(&mut self) {
        self.stopped.get_or_insert(Stopped::Interrupted);
    }

    /// Lets a run that was interrupted, or that reached its last event, go on to another. The time to stop at stays, as nothing
    /// beyond it is foretold: to stop on the way, ask [`Simulation::step_to`].
    pub fn go_on(&mut self, max_events: usize) {
        self.settings.max_events = max_events;
        if matches!(self.stopped, Some(Stopped::Interrupted | Stopped::MaxEvents)) {
            self.stopped = None;
        }
    }

    fn after_event(&mut self) -> bool {
        if self.counts.events >= self.settings.max_events as u64 {
            self.stopped.get_or_insert(Stopped::MaxEvents);
        }
        if self.counts.stalled > MOST_STALLED {
            self.stopped.get_or_insert(Stopped::Stalled);
        }
        self.stopped.is_none()
    }

    /// The world.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The time of the latest event, or of the end.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.clock.absolute(self.clock.now)
    }

    /// The time to stop at.
    #[must_use]
    pub fn until(&self) -> f64 {
        self.settings.until
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

    /// Why it has stopped, if it has.
    #[must_use]
    pub fn stopped(&self) -> Option<Stopped> {
        self.stopped
    }

    /// What could not be followed, where that ended the run.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        self.failure
    }

    fn lose(&mut self, pair: &Pair, cause: Cause) {
        self.lose_sides(Self::sides(pair), cause);
    }

    fn lose_sides(&mut self, sides: [Side; 2], cause: Cause) {
        if self.stopped.is_none() {
            self.stopped = Some(Stopped::Failed);
            self.failure = Some(Failure { time: self.time(), sides, cause });
        }
    }

    /// All bodies' states at the present time; positions run on beyond the walls of a periodic box.
    #[must_use]
    pub fn states(&self) -> Vec<State> {
        self.states_at(self.clock.now)
    }

    /// Samples up to a time; false if there are more to take.
    fn sample(&mut self, until: f64, recorder: &mut impl Recorder) -> bool {
        if self.settings.sample <= 0.0 {
            return true;
        }
        let mut batch = Vec::new();
        for _ in 0..=MOST_SAMPLES / self.motions.len().max(1) {
            #[expect(clippy::cast_precision_loss, reason = "fewer samples than 2^53")]
            let time = self.counts.samples as f64 * self.settings.sample;
            let local = self.clock.local(time);
            if local > until || time > self.settings.until {
                return true;
            }
            self.counts.samples += 1;
            batch.clear();
            batch.extend(self.states_at(local).into_iter().enumerate().map(|(body, state)| Sample {
                time,
                moment: Moment::Sample,
                body,
                state,
            }));
            recorder.samples(&batch);
            self.look_at_sample(local);
            if !self.world.joints.is_empty() {
                recorder.reactions(&self.reactions_at(local));
            }
        }
        false
    }

    /// Whether an entry was computed from the courses that its bodies are still on.
    fn is_valid(&self, entry: &Entry) -> bool {
        let version = |body: u32| self.motions[body as usize].version;
        match entry.due {
            Due::Epoch => true,
            Due::DenseStep { group } => {
                self.groups[group as usize].as_ref().is_some_and(|group| group.version == entry.versions[0])
            }
            Due::Cross { body, .. } => version(body) == entry.versions[0],
            // Both bodies of a pair may have put it on the list.
            Due::Part(pair) => self.standing.contains_key(&pair) && self.versions(&pair) == entry.versions,
            Due::Search(pair) | Due::Touch { pair, .. } => self.versions(&pair) == entry.versions,
        }
    }

    /// Checks totals against the ledger, and all pairs, at the end.
    fn check_end(&mut self) {
        self.look_around(self.clock.now);
        self.check();
    }

    /// Checks totals against the ledger.
    fn check(&mut self) {
        self.book_all_friction(self.clock.now);
        let states = self.states_at(self.clock.now);
        if self.unbalanced {
            self.ledger.reopen_momentum(&self.world, &states, self.time());
            self.unbalanced = self.is_held_from_outside();
        }
        self.ledger.check(&self.world, &states, self.time(), self.counts.events);
        self.check_joints();
    }
}
