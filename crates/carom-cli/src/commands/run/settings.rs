//! How a scene is run: what the file says and the command line changes, as it goes into files.

use carom::scene::model::{OnParadox, RunSettings};
use serde::{Deserialize, Serialize};

/// The settings of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The time to stop at.
    pub until: f64,
    /// The number of events to stop at.
    pub max_events: usize,
    /// The interval of samples; zero: events only.
    pub sample: f64,
    /// Whether events are kept.
    pub record_events: bool,
    /// What happens at a paradox.
    pub on_paradox: Paradox,
    /// Whether the first violation ends the run.
    pub strict: bool,
}

/// What happens at a paradox, by its name in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Paradox {
    /// [`OnParadox::Hold`]
    Hold,
    /// [`OnParadox::Pass`]
    Pass,
    /// [`OnParadox::Stop`]
    Stop,
}

impl Settings {
    /// Those of a scene.
    pub fn of(run: &RunSettings, strict: bool) -> Self {
        let RunSettings { until, max_events, sample, record_events, on_paradox } = *run;
        let on_paradox = match on_paradox {
            OnParadox::Hold => Paradox::Hold,
            OnParadox::Pass => Paradox::Pass,
            OnParadox::Stop => Paradox::Stop,
        };
        Self { until, max_events, sample, record_events, on_paradox, strict }
    }

    /// The same in the library's terms.
    pub fn run(&self) -> RunSettings {
        let Self { until, max_events, sample, record_events, on_paradox, strict: _ } = *self;
        let on_paradox = match on_paradox {
            Paradox::Hold => OnParadox::Hold,
            Paradox::Pass => OnParadox::Pass,
            Paradox::Stop => OnParadox::Stop,
        };
        RunSettings { until, max_events, sample, record_events, on_paradox }
    }
}
