//! A scene ready to run, for those who drive it themselves.

use std::io;
use std::time::{Duration, Instant};

use carom::scene::model::{OnParadox, Scene};
use carom::simulation::{Simulation, Stopped, World};

use super::super::input::Input;
use super::settings::Settings;
use super::strict::Limits;
use super::{Document, Driver, End, Parts, fit, folder, refuse};
use crate::diagnostics::Refusal;

/// What is to be different from the scene's `[run]`.
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
}

impl Changes {
    /// Makes them.
    pub fn apply(self, scene: &mut Scene) {
        let run = &mut scene.run;
        run.until = self.until.unwrap_or(run.until);
        run.max_events = self.max_events.unwrap_or(run.max_events);
        run.sample = self.sample.unwrap_or(run.sample);
        run.on_paradox = self.on_paradox.unwrap_or(run.on_paradox);
    }
}

/// A scene ready to run.
pub struct Ready {
    /// The scene, with the changes made.
    pub scene: Scene,
    /// Its text.
    pub text: String,
    /// How it is run.
    pub settings: Settings,
    /// The simulation at its start.
    pub simulation: Simulation,
}

impl Ready {
    /// Prepares a scene.
    pub fn of(input: Input, changes: Changes) -> Result<Self, Refusal> {
        let (input, mut scene) = input.scene()?;
        changes.apply(&mut scene);
        let settings = Settings::of(&scene.run, false);
        let input = fit(input, &scene)?;
        let (world, states) = World::of(&scene);
        match Simulation::new(world, &states, settings.run()) {
            Ok(simulation) => Ok(Self { scene, text: input.text, settings, simulation }),
            Err(unfit) => Err(refuse(input, &scene, &unfit)),
        }
    }

    /// The document of the run as it stands, without events and samples; `notes` are added to its own.
    pub fn document(&self, wall_s: f64, notes: Vec<String>) -> io::Result<Vec<u8>> {
        let now = Instant::now();
        let driver = Driver {
            scene: &self.scene,
            settings: self.settings,
            limits: Limits::of(&self.scene, false),
            start: now,
            wall_before: wall_s,
            every: Duration::MAX,
            last: now,
        };
        let end = End::Stopped(self.simulation.stopped().unwrap_or(Stopped::Interrupted));
        let mut all = driver.notes(0, &self.simulation);
        all.extend(notes);
        let hash = folder::hash(self.text.as_bytes());
        let document = Document::of(Parts {
            scene: &self.scene,
            hash: &hash,
            settings: self.settings,
            simulation: &self.simulation,
            stopped: end.name(),
            violation: None,
            notes: all,
            wall_s,
        });
        Ok(serde_json::to_vec(&document)?)
    }
}
