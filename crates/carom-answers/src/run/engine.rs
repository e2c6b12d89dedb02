//! The engine that runs a scene: `simulation`, the general one, with persistent contacts, gravity and joints; `edmd`, event-driven
//! molecular dynamics, for very many free bodies.
//!
//! Both stop on the way where something is to be measured or sampled. The times of these stops depend on the scene
//! alone, so a run that was interrupted makes the same ones.

use carom::body::State;
use carom::edmd::{self, Edmd, Unsuited};
use carom::observe::Observer;
use carom::record::{Event, JointReaction, Moment, Recorder, Sample};
use carom::scene::model::Scene;
use carom::simulation::{self, RollingDemand, Simulation, SingularPassages, SteppedInterval};
use carom::watch::Watch;

use carom::run::{Audit, Counts, Failure, InvalidStart, Stopped, World};
use serde::{Deserialize, Serialize};

use super::settings::Settings;
use super::sink::Sink;

/// Which loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loop {
    /// The general one.
    Simulation,
    /// That of very many bodies.
    #[serde(alias = "crowd")]
    Edmd,
}

impl Loop {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Simulation, Self::Edmd];

    /// Its name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Simulation => "simulation",
            Self::Edmd => "edmd",
        }
    }

    /// The one for a scene: very many bodies, if nothing about them needs the general one.
    pub fn of(scene: &Scene, world: &World) -> Self {
        let many = !scene.fills.is_empty() || scene.bodies.len() >= MANY;
        if many && unsuited(scene, world).is_none() { Self::Edmd } else { Self::Simulation }
    }
}

/// From this many bodies on a scene is run by `edmd`, if it can be.
const MANY: usize = 200;

/// Collisions at most between two looks at the clock on the wall.
const AT_A_TIME: u64 = 500;

/// Why a scene cannot use the many-body engine, in words.
pub fn unsuited(scene: &Scene, world: &World) -> Option<&'static str> {
    if !scene.joints.is_empty() {
        return Some("it has joints");
    }
    if !scene.loads.is_empty() {
        return Some("it has loads");
    }
    match Edmd::suits(world) {
        Ok(()) => None,
        Err(Unsuited::Gravity) => Some("there is gravity, under which bodies come to rest on one another"),
        Err(Unsuited::Flats) => Some("a body has flats or edges, which touch in more than one point"),
        Err(Unsuited::Number) => Some("it has too many bodies or planes"),
    }
}

/// A contact lasts this share of the mean time between two collisions of a body, where the scene does not say.
const CONTACT_SHARE: f64 = 1e-5;

/// How long a collision is taken to last, where energy is lost in any.
pub fn contact_time(world: &World, states: &[State]) -> Option<f64> {
    let rules = &world.surface;
    let loses = rules.restitution < 1.0 || rules.pairs.iter().any(|pair| pair.restitution < 1.0);
    let time = carom::observe::collision_time(world, states).filter(|time| time.is_finite())?;
    loses.then_some(CONTACT_SHARE * time)
}

/// A run under way.
pub struct Engine {
    runner: Runner,
    /// What it measures, in a box.
    pub observer: Option<Observer>,
    settings: Settings,
    /// Samples taken of a many-body run.
    samples: u64,
    stopped: Option<Stopped>,
    /// Room for states.
    states: Vec<State>,
}

enum Runner {
    Simulation(Box<Simulation>),
    Edmd(Box<Edmd>),
}

/// The whole state of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    state: RunnerSnapshot,
    observer: Option<carom::observe::Record>,
    samples: u64,
    stopped: Option<Stopped>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RunnerSnapshot {
    Simulation(Box<simulation::Snapshot>),
    #[serde(alias = "crowd")]
    Edmd(Box<edmd::Snapshot>),
}

impl Engine {
    /// Prepares a run.
    pub fn new(
        which: Loop,
        world: World,
        states: &[State],
        settings: Settings,
    ) -> Result<Self, Vec<InvalidStart>> {
        let observer = Observer::new(&world, states, settings.until, settings.max_events as u64);
        let runner = match which {
            Loop::Simulation => Runner::Simulation(Box::new(Simulation::new(world, states, settings.run())?)),
            Loop::Edmd => Runner::Edmd(Box::new(Edmd::new(world, states, settings.edmd())?)),
        };
        Ok(Self { runner, observer, settings, samples: 0, stopped: None, states: Vec::new() })
    }

    /// Resumes a run; `None` if the snapshot does not fit the world.
    pub fn resume(world: World, settings: Settings, snapshot: &Snapshot) -> Option<Self> {
        let observer = match &snapshot.observer {
            Some(record) => Some(Observer::resume(&world, record.clone())?),
            None => None,
        };
        let runner = match &snapshot.state {
            RunnerSnapshot::Simulation(state) => {
                Runner::Simulation(Box::new(Simulation::resume(world, settings.run(), state).ok()?))
            }
            RunnerSnapshot::Edmd(state) => {
                Runner::Edmd(Box::new(Edmd::resume(world, settings.edmd(), state).ok()?))
            }
        };
        // What was interrupted goes on.
        let (samples, stopped) =
            (snapshot.samples, snapshot.stopped.filter(|&why| why != Stopped::Interrupted));
        Some(Self { runner, observer, settings, samples, stopped, states: Vec::new() })
    }

    /// Uses this many threads where the engine can; one by default.
    pub fn set_threads(&mut self, threads: usize) {
        if let Runner::Edmd(edmd) = &mut self.runner {
            edmd.set_threads(threads);
        }
    }

    /// Lets a caller see what is being worked on, and end the run within an event. The many-body engine returns often enough.
    pub fn set_watch(&mut self, watch: &Watch) {
        if let Runner::Simulation(simulation) = &mut self.runner {
            simulation.set_watch(watch);
        }
    }

    /// Whether the run was ended within an event, so that it cannot go on from here.
    pub fn gave_up(&self) -> bool {
        matches!(&self.runner, Runner::Simulation(simulation) if simulation.gave_up())
    }

    /// The whole state.
    pub fn snapshot(&self) -> Snapshot {
        let state = match &self.runner {
            Runner::Simulation(simulation) => RunnerSnapshot::Simulation(Box::new(simulation.snapshot())),
            Runner::Edmd(edmd) => RunnerSnapshot::Edmd(Box::new(edmd.snapshot())),
        };
        let observer = self.observer.as_ref().map(|observer| observer.record().clone());
        Snapshot { state, observer, samples: self.samples, stopped: self.stopped }
    }

    /// Goes on for a while, and returns whether there may be more.
    pub fn step(&mut self, sink: &mut impl Sink) -> bool {
        if self.stopped.is_some() {
            return false;
        }
        let stop = self.observer.as_ref().map_or(f64::INFINITY, Observer::next).min(self.settings.until);
        match &mut self.runner {
            Runner::Simulation(simulation) => {
                let more = {
                    let keeps = self.settings.record_events;
                    simulation.step_to(stop, &mut Both { sink, observer: self.observer.as_mut(), keeps })
                };
                if more {
                    return true;
                }
                match simulation.stopped() {
                    None => self.reach(stop, sink),
                    Some(Stopped::Until) => {
                        self.reach(stop, sink);
                        self.stopped = Some(Stopped::Until);
                    }
                    other => self.stopped = other,
                }
            }
            Runner::Edmd(edmd) => {
                let sampled = self.settings.sample > 0.0 && sink.wants_samples();
                #[expect(clippy::cast_precision_loss, reason = "fewer samples than 2^53")]
                let sample = if sampled { self.samples as f64 * self.settings.sample } else { f64::INFINITY };
                let stop = stop.min(sample);
                let ended = {
                    let keeps = self.settings.record_events;
                    let mut recorder = Both { sink, observer: self.observer.as_mut(), keeps };
                    edmd.advance_unchecked(stop, AT_A_TIME, &mut recorder)
                };
                match ended {
                    None => {}
                    Some(Stopped::Until) => self.reach(stop, sink),
                    Some(other) => self.stopped = Some(other),
                }
            }
        }
        if let (Some(_), Runner::Edmd(edmd)) = (self.stopped, &mut self.runner) {
            edmd.check();
        }
        self.stopped.is_none()
    }

    /// Measures and samples what is due at a stop.
    fn reach(&mut self, stop: f64, sink: &mut impl Sink) {
        let mut states = std::mem::take(&mut self.states);
        match &self.runner {
            Runner::Simulation(simulation) => states = simulation.states(),
            Runner::Edmd(edmd) => edmd.states_into(&mut states),
        }
        if let Some(mut observer) = self.observer.take() {
            if observer.next() <= stop {
                observer.measure(self.world(), &states);
            }
            self.observer = Some(observer);
        }
        #[expect(clippy::cast_precision_loss, reason = "fewer samples than 2^53")]
        let time = self.samples as f64 * self.settings.sample;
        if matches!(self.runner, Runner::Edmd(_))
            && self.settings.sample > 0.0
            && time <= stop
            && sink.wants_samples()
        {
            self.samples += 1;
            if let Runner::Edmd(edmd) = &mut self.runner {
                edmd.check_pairs_at_sample();
            }
            let sample =
                |(body, &state): (usize, &State)| Sample { time, moment: Moment::Sample, body, state };
            let batch: Vec<Sample> = states.iter().enumerate().map(sample).collect();
            sink.samples(&batch);
        }
        if stop >= self.settings.until && !self.has_more_at(stop, sink) {
            self.stopped = Some(Stopped::Until);
        }
        self.states = states;
    }

    /// Whether something else is still due at the same time.
    fn has_more_at(&self, stop: f64, sink: &impl Sink) -> bool {
        let measured = self.observer.as_ref().is_some_and(|observer| observer.next() <= stop);
        #[expect(clippy::cast_precision_loss, reason = "fewer samples than 2^53")]
        let next = self.samples as f64 * self.settings.sample;
        let sampled = matches!(self.runner, Runner::Edmd(_))
            && self.settings.sample > 0.0
            && sink.wants_samples()
            && next <= stop;
        measured || sampled
    }

    /// Which loop it is.
    pub fn which(&self) -> Loop {
        match self.runner {
            Runner::Simulation(_) => Loop::Simulation,
            Runner::Edmd(_) => Loop::Edmd,
        }
    }

    /// What does not change.
    pub fn world(&self) -> &World {
        match &self.runner {
            Runner::Simulation(simulation) => simulation.world(),
            Runner::Edmd(edmd) => edmd.world(),
        }
    }

    /// The time that the run has reached.
    pub fn time(&self) -> f64 {
        match &self.runner {
            Runner::Simulation(simulation) => simulation.time(),
            Runner::Edmd(edmd) => edmd.time(),
        }
    }

    /// The time to stop at.
    pub fn until(&self) -> f64 {
        self.settings.until
    }

    /// The states of all bodies.
    pub fn states(&self) -> Vec<State> {
        match &self.runner {
            Runner::Simulation(simulation) => simulation.states(),
            Runner::Edmd(edmd) => edmd.states(),
        }
    }

    /// The audit so far.
    pub fn audit(&self) -> Audit {
        match &self.runner {
            Runner::Simulation(simulation) => simulation.audit(),
            Runner::Edmd(edmd) => edmd.audit(),
        }
    }

    /// The counts so far.
    pub fn counts(&self) -> Counts {
        match &self.runner {
            Runner::Simulation(simulation) => simulation.counts(),
            Runner::Edmd(edmd) => {
                let mut counts = edmd.counts();
                counts.samples = self.samples;
                counts
            }
        }
    }

    /// What rolling joints have asked of their surfaces.
    pub fn rolling_demands(&self) -> Vec<RollingDemand> {
        match &self.runner {
            Runner::Simulation(simulation) => simulation.rolling_demands().copied().collect(),
            Runner::Edmd(_) => Vec::new(),
        }
    }

    /// The intervals in which bodies were carried on by time steps.
    pub fn stepped(&self) -> &[SteppedInterval] {
        match &self.runner {
            Runner::Simulation(simulation) => simulation.stepped(),
            Runner::Edmd(_) => &[],
        }
    }

    /// The singular configurations that linkages have passed.
    pub fn singular_passages(&self) -> Vec<SingularPassages> {
        match &self.runner {
            Runner::Simulation(simulation) => simulation.singular_passages().copied().collect(),
            Runner::Edmd(_) => Vec::new(),
        }
    }

    /// How many rows of the joints depend on others.
    pub fn dependent_rows(&self) -> usize {
        match &self.runner {
            Runner::Simulation(simulation) => simulation.dependent_rows(),
            Runner::Edmd(_) => 0,
        }
    }

    /// Why it has stopped, if it has.
    pub fn stopped(&self) -> Option<Stopped> {
        self.stopped
    }

    /// What could not be followed, where that ended the run.
    pub fn failure(&self) -> Option<Failure> {
        match &self.runner {
            Runner::Simulation(simulation) => simulation.failure(),
            Runner::Edmd(edmd) => edmd.failure(),
        }
    }
}

/// Passes events to the sink, if they are to be kept, and to the observer in any case.
struct Both<'a, R> {
    sink: &'a mut R,
    observer: Option<&'a mut Observer>,
    keeps: bool,
}

impl<R: Recorder> Recorder for Both<'_, R> {
    #[inline]
    fn events(&mut self, events: &[Event]) {
        if let Some(observer) = &mut self.observer {
            observer.events(events);
        }
        if self.keeps {
            self.sink.events(events);
        }
    }

    fn samples(&mut self, samples: &[Sample]) {
        self.sink.samples(samples);
    }

    fn reactions(&mut self, reactions: &[JointReaction]) {
        self.sink.reactions(reactions);
    }

    fn wants_states(&self) -> bool {
        self.keeps && self.sink.wants_states()
    }
}
