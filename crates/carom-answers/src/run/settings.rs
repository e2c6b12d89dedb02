//! How a scene is run: what the file says and the command line changes, as it goes into files.

use carom::edmd;
use carom::impact::Law;
use carom::scene::model::{OnParadox, OnTrouble, RunSettings};
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
    /// How long a collision of very many bodies is taken to last, where it was given.
    pub contact_time: Option<f64>,
    /// The speed below which impacts are plastic, where it was given.
    #[serde(default)]
    pub rest_speed: Option<f64>,
    /// What happens where the exact motion has no continuation.
    #[serde(default)]
    pub on_trouble: Trouble,
    /// What was added to the seeds of the fills.
    pub replica: u64,
    /// The impact law, where it is not the scene's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub law: Option<Law>,
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

/// What happens where the exact motion has no continuation, by its name in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    /// [`OnTrouble::Step`]
    #[default]
    Step,
    /// [`OnTrouble::Stop`]
    Stop,
}

impl Settings {
    /// The scene's settings.
    pub fn of(run: &RunSettings, strict: bool) -> Self {
        let RunSettings {
            until,
            max_events,
            sample,
            record_events,
            on_paradox,
            contact_time,
            rest_speed,
            on_trouble,
        } = *run;
        // Approximate motion is against what was asked for.
        let on_trouble = match on_trouble {
            OnTrouble::Step if !strict => Trouble::Step,
            OnTrouble::Step | OnTrouble::Stop => Trouble::Stop,
        };
        let on_paradox = match on_paradox {
            OnParadox::Hold => Paradox::Hold,
            OnParadox::Pass => Paradox::Pass,
            OnParadox::Stop => Paradox::Stop,
        };
        Self {
            until,
            max_events,
            sample,
            record_events,
            on_paradox,
            strict,
            contact_time,
            rest_speed,
            on_trouble,
            replica: 0,
            law: None,
        }
    }

    /// The same in the library's terms.
    pub fn run(&self) -> RunSettings {
        let Self { until, max_events, sample, record_events, on_paradox, contact_time, rest_speed, .. } =
            *self;
        let on_trouble = match self.on_trouble {
            Trouble::Step => OnTrouble::Step,
            Trouble::Stop => OnTrouble::Stop,
        };
        let on_paradox = match on_paradox {
            Paradox::Hold => OnParadox::Hold,
            Paradox::Pass => OnParadox::Pass,
            Paradox::Stop => OnParadox::Stop,
        };
        RunSettings {
            until,
            max_events,
            sample,
            record_events,
            on_paradox,
            contact_time,
            rest_speed,
            on_trouble,
        }
    }

    /// As above, for the many-body engine.
    pub fn edmd(&self) -> edmd::Settings {
        edmd::Settings {
            max_events: self.max_events as u64,
            growth: 0.0,
            contact_time: self.contact_time.unwrap_or(0.0),
        }
    }
}
