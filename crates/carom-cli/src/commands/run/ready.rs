//! A scene ready to run: its fills placed, its loop chosen, its start found sound.

use std::io;
use std::time::{Duration, Instant};

use carom::fill;
use carom::scene::model::{OnParadox, Scene};
use carom::simulation::{Stopped, World};

use super::super::input::Input;
use super::engine::{self, Engine, Loop};
use super::progress::Placing;
use super::settings::Settings;
use super::strict::Limits;
use super::{Document, Driver, End, Parts, fit, folder, refuse, refuse_fills};
use crate::diagnostics::Refusal;

/// What is to be different from what the scene says.
#[derive(Debug, Clone, Copy, Default)]
pub struct Changes {
    /// The time to stop at.
    pub until: Option<f64>,
    /// The number of events to stop at.
    pub max_events: Option<usize>,
    /// The interval of samples.
    pub sample: Option<f64>,
    /// What happens at a paradox.
    pub on_paradox: Option<OnParadox>,
    /// The loop that runs it.
    pub which: Option<Loop>,
    /// What is added to the seeds.
    pub replica: u64,
    /// Whether the first violation ends the run.
    pub strict: bool,
}

impl Changes {
    /// Makes them.
    pub fn apply(self, scene: &mut Scene) {
        let run = &mut scene.run;
        run.until = self.until.unwrap_or(run.until);
        run.max_events = self.max_events.unwrap_or(run.max_events);
        run.sample = self.sample.unwrap_or(run.sample);
        run.on_paradox = self.on_paradox.unwrap_or(run.on_paradox);
        for fill in &mut scene.fills {
            fill.seed = fill.seed.wrapping_add(self.replica);
        }
    }
}

/// A scene ready to run.
pub struct Ready {
    /// Its text.
    pub input: Input,
    /// The scene, with the changes made and the fills placed.
    pub scene: Scene,
    /// How it is run.
    pub settings: Settings,
    /// The run at its start.
    pub engine: Engine,
}

impl Ready {
    /// Prepares a scene; `shown`: progress is.
    pub fn of(input: Input, mut scene: Scene, changes: Changes, shown: bool) -> Result<Self, Refusal> {
        changes.apply(&mut scene);
        let input = fit(input, &scene)?;
        let placing = Placing::new(shown && !scene.fills.is_empty());
        let placed = fill::place(&scene, &mut |stage| placing.show(stage));
        placing.end();
        let mut scene = match placed {
            Ok(scene) => scene,
            Err(unplaced) => return Err(refuse_fills(input, &scene, unplaced)),
        };
        let (world, states) = World::of(&scene);
        let which = match changes.which {
            None => Loop::of(&scene, &world),
            Some(Loop::Simulation) => Loop::Simulation,
            Some(Loop::Crowd) => match engine::unsuited(&scene, &world) {
                None => Loop::Crowd,
                Some(why) => {
                    let message = format!("the scene is none for a crowd: {why}");
                    return Err(Refusal::of_command_line(Some("--loop"), &message, Some("simulation")));
                }
            },
        };
        if which == Loop::Crowd && scene.run.contact_time.is_none() {
            scene.run.contact_time = engine::contact_time(&world, &states);
        }
        let settings = Settings { replica: changes.replica, ..Settings::of(&scene.run, changes.strict) };
        match Engine::new(which, world, &states, settings) {
            Ok(engine) => Ok(Self { input, scene, settings, engine }),
            Err(unfit) => Err(refuse(input, &scene, &unfit)),
        }
    }

    /// The document of the run as it stands, without events and samples; `notes` are added to its own.
    pub fn document(&self, wall_s: f64, notes: Vec<String>) -> io::Result<Vec<u8>> {
        let now = Instant::now();
        let driver = Driver {
            scene: &self.scene,
            settings: self.settings,
            trajectory: None,
            shown: false,
            limits: Limits::of(&self.scene, false),
            start: now,
            wall_before: wall_s,
            every: Duration::MAX,
            last: now,
            took: Duration::ZERO,
        };
        let end = End::Stopped(self.engine.stopped().unwrap_or(Stopped::Interrupted));
        let mut all = driver.notes(0, &self.engine);
        all.extend(notes);
        let hash = folder::hash(self.input.text.as_bytes());
        let document = Document::of(Parts {
            scene: &self.scene,
            hash: &hash,
            settings: self.settings,
            engine: &self.engine,
            stopped: end.name(),
            violation: None,
            notes: all,
            wall_s,
        });
        Ok(serde_json::to_vec(&document)?)
    }
}
