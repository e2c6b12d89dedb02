//! Motion through impacts, event by event: a run as a value, to be begun, stepped and asked.
//!
//! ```
//! use carom::record::Memory;
//! use carom_answers::{Input, run};
//!
//! let text = "carom = 1
//! [[body]]
//! name = 'ball'
//! shape = { sphere = { radius = 0.1 } }
//! mass = 2
//! position = [0, 0, 1.1]
//! [[plane]]
//! name = 'floor'
//! normal = [0, 0, 1]
//! [world]
//! gravity = [0, 0, -2]
//! [run]
//! until = 2
//! ";
//! let subject = Input::of_text("ball.toml", text.to_string(), None).scene()?;
//! let mut running = run::Running::begin(subject, run::Changes::default(), |_| true)?;
//! let mut memory = Memory::default();
//! while running.step(&mut memory) {
//!     // Time to look at the clock, and to call `running.interrupt()`.
//! }
//! assert!((memory.events[0].time - 1.0).abs() < 1e-12);
//! let document = running.document("1.0", 0.0, running.notes());
//! let whole = serde_json::to_value(document.with(&running.scene, &memory, false)).unwrap();
//! assert_eq!(whole["stopped"], "until");
//! # Ok::<(), carom_answers::InputError>(())
//! ```

mod averages;
mod changes;
mod derivatives;
mod document;
mod engine;
mod entries;
mod frames;
mod limits;
mod notes;
pub mod replicas;
mod settings;
mod sink;
mod validation;

use std::sync::Arc;

use carom::fill::{self, Stage};
use carom::impact::Options;
use carom::impact::mechanism::Mechanism;
use carom::run::{Cause, Stopped, World};
use carom::scene::Diagnostic;
use carom::scene::model::Scene;

use crate::{Input, InputError, Subject, Verdict};
use derivatives::{Derivation, Taped};
use limits::Limits;
use sink::{Watch, Watched};

pub use averages::{Estimates, ObservablesEntry};
pub use changes::{Changes, cores, named_law, named_loop, on_paradox};
pub use derivatives::{DerivativesEntry, EventRow, StateRows, UndefinedEntry};
pub use document::{AuditEntry, Document, Entries, Rows, Whole, smallest_gap};
pub use engine::{Engine, Loop, Snapshot};
pub use entries::{EventEntry, ReactionEntry, SampleEntry, ShapeEntry, StateEntry, moment_name};
pub use frames::{Frame, Frames};
pub use limits::{LIMIT, Limited, Violation};
pub use notes::violation_in_words;
pub use settings::{Paradox, Settings};
pub use sink::Sink;
pub use validation::check;

/// A run, begun and perhaps ended.
pub struct Running {
    /// The scene's text.
    pub input: Input,
    /// The scene, with the changes made and the fills placed; shared with recorders.
    pub scene: Arc<Scene>,
    /// How it is run.
    pub settings: Settings,
    /// The loop.
    pub engine: Engine,
    /// What has no effect.
    pub warnings: Vec<Diagnostic>,
    limits: Limits,
    watch: Watch,
    end: Option<End>,
    derivation: Option<Derivation>,
}

impl Running {
    /// Prepares a scene's run: makes the changes, places the fills, chooses the loop, and finds the start sound. `placing` hears
    /// how far the fills are, and says whether to go on.
    pub fn begin(
        subject: Subject,
        changes: Changes,
        placing: impl FnMut(Stage) -> bool,
    ) -> Result<Self, InputError> {
        Self::begin_in(subject, changes, placing, |_, world| Ok(world))
    }

    /// [`Running::begin`] in a world that the caller builds from the scene's, with its own forces.
    pub fn begin_in(
        mut subject: Subject,
        changes: Changes,
        mut placing: impl FnMut(Stage) -> bool,
        make: impl FnOnce(&Scene, World) -> Result<World, InputError>,
    ) -> Result<Self, InputError> {
        changes.apply(&mut subject.scene)?;
        check(&subject)?;
        let warnings = validation::warnings(&subject);
        let threads = changes.threads.unwrap_or_else(cores);
        match fill::place_by(&subject.scene, threads, &mut placing) {
            Ok(scene) => subject.scene = scene,
            Err(unplaced) => return Err(validation::unplaced(&subject, unplaced)),
        }
        if changes.project {
            project(&mut subject.scene);
        }
        let scene = &mut subject.scene;
        let (world, states) = World::of(scene);
        let world = make(scene, world)?;
        let which = match changes.which {
            None => Loop::of(scene, &world),
            Some(Loop::Simulation) => Loop::Simulation,
            Some(Loop::Edmd) => match engine::unsuited(scene, &world) {
                None => Loop::Edmd,
                Some(why) => {
                    let message = format!("this scene cannot use the many-body loop: {why}");
                    return Err(InputError::of_option(Some("loop"), &message, Some("simulation")));
                }
            },
        };
        if which == Loop::Edmd && scene.run.contact_time.is_none() {
            scene.run.contact_time = engine::contact_time(&world, &states);
        }
        let settings = Settings {
            replica: changes.replica,
            law: changes.law,
            ..Settings::of(&scene.run, changes.strict)
        };
        match Engine::new(which, world, &states, settings) {
            Ok(mut engine) => {
                engine.set_threads(threads);
                Ok(Self::new(subject, settings, engine, Watch::default(), warnings))
            }
            Err(unfit) => Err(validation::invalid_start(&subject, &unfit)),
        }
    }

    /// Resumes a run from a snapshot; `None` if that does not fit the scene. `unbounded` is
    /// [`Running::unbounded`] at the time.
    pub fn resume(
        mut subject: Subject,
        settings: Settings,
        snapshot: &Snapshot,
        unbounded: u64,
    ) -> Result<Option<Self>, InputError> {
        check(&subject)?;
        let warnings = validation::warnings(&subject);
        // Where the bodies of fills are, the snapshot knows.
        subject.scene = fill::populate(&subject.scene);
        subject.scene.run = settings.run();
        subject.scene.impact.law = settings.law.unwrap_or(subject.scene.impact.law);
        let (world, _) = World::of(&subject.scene);
        Ok(Engine::resume(world, settings, snapshot).map(|engine| {
            let watch = Watch::since(engine.counts().events, unbounded);
            Self::new(subject, settings, engine, watch, warnings)
        }))
    }

    fn new(
        subject: Subject,
        settings: Settings,
        engine: Engine,
        watch: Watch,
        warnings: Vec<Diagnostic>,
    ) -> Self {
        let Subject { input, scene } = subject;
        let limits = Limits::of(&scene, settings.strict);
        let scene = Arc::new(scene);
        Self { input, scene, settings, engine, warnings, limits, watch, end: None, derivation: None }
    }

    /// Goes on for a while, an event or some thousand collisions of many bodies, and returns whether there may be more.
    pub fn step(&mut self, sink: &mut impl Sink) -> bool {
        if self.end.is_some() {
            return false;
        }
        let mut taped = Taped { derivation: self.derivation.as_mut(), sink };
        let more = self.engine.step(&mut Watched { watch: &mut self.watch, sink: &mut taped });
        let violation = self.watch.fault.or_else(|| self.limits.violation(&self.engine.audit()));
        self.end = match violation {
            Some(violation) => Some(End::Violation(violation)),
            None if more => None,
            None => Some(self.engine.stopped().map_or(End::INTERRUPTED, |stopped| self.ended(stopped))),
        };
        self.end.is_none()
    }

    /// How a run has ended that has stopped so: what the many-body engine cannot hold is where a run may have been meant to end.
    fn ended(&self, stopped: Stopped) -> End {
        let unheld = self.engine.failure().is_some_and(|trouble| trouble.cause == Cause::Unsupported);
        let asked = self.settings.on_paradox == Paradox::Stop;
        End::Stopped(if unheld && asked { Stopped::Paradox } else { stopped })
    }

    /// Ends the run where it is.
    pub fn interrupt(&mut self) {
        self.end.get_or_insert(End::INTERRUPTED);
    }

    /// Why it has ended, if it has.
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// How many derivatives of gaps were not finite so far.
    pub fn unbounded(&self) -> u64 {
        self.watch.unbounded
    }
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum End {
    /// The simulation says so.
    Stopped(Stopped),
    /// The audit does.
    Violation(Violation),
}

impl End {
    /// Somebody wished so.
    pub const INTERRUPTED: Self = Self::Stopped(Stopped::Interrupted);

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stopped(Stopped::Until) => "until",
            Self::Stopped(Stopped::MaxEvents) => "max_events",
            Self::Stopped(Stopped::Paradox) => "paradox",
            Self::Stopped(Stopped::Interrupted) => "interrupted",
            Self::Stopped(Stopped::Stalled) => "stalled",
            Self::Stopped(Stopped::Failed) => "lost",
            Self::Violation(_) => "violation",
        }
    }

    /// The violation, where that is why.
    pub fn violation(self) -> Option<Violation> {
        match self {
            Self::Stopped(_) => None,
            Self::Violation(violation) => Some(violation),
        }
    }

    /// The verdict on the run.
    pub fn verdict(self) -> Verdict {
        match self {
            Self::Stopped(Stopped::Stalled | Stopped::Failed) => Verdict::NoAnswer,
            Self::Stopped(_) => Verdict::Done,
            Self::Violation(violation) => Verdict::Violated(violation.quantity),
        }
    }
}

/// Takes the nearest velocities that the joints allow, nearest in the kinetic metric. If there are none, as when a joint has no
/// meaningful rows, the velocities stay, and the run says what is wrong with them.
fn project(scene: &mut Scene) {
    let bodies: Vec<_> = scene.bodies.iter().map(|body| (body.body, body.state)).collect();
    let mechanism = Mechanism { bodies: &bodies, joints: &scene.joints, contacts: &[] };
    let options = Options { project: true, ..Options::default() };
    if let Ok(outcome) = mechanism.solve(&options) {
        for (body, state) in scene.bodies.iter_mut().zip(outcome.states) {
            body.state = state;
        }
    }
}
