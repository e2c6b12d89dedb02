//! What a run changes in its scene.

use carom::impact::Law;
use carom::scene::model::{OnParadox, Scene};

use super::engine::Loop;
use crate::InputError;
use crate::options::{AT_LEAST_ONE, NOT_NEGATIVE, THREADS};

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
    /// The impact law.
    pub law: Option<Law>,
    /// The loop that runs it.
    pub which: Option<Loop>,
    /// How many threads work on it; none: as many as there are cores. It changes no result.
    pub threads: Option<usize>,
    /// What is added to the seeds.
    pub replica: u64,
    /// Whether the velocities are projected on the joints first.
    pub project: bool,
    /// Whether the first violation ends the run.
    pub strict: bool,
}

/// As many as there are cores.
pub fn cores() -> usize {
    let most = usize::try_from(THREADS.most).unwrap_or(usize::MAX);
    std::thread::available_parallelism().map_or(1, core::num::NonZero::get).min(most)
}

/// What happens at a paradox, by its name.
pub fn on_paradox(name: &str) -> Result<OnParadox, InputError> {
    let found = OnParadox::ALL.into_iter().find(|listed| listed.name() == name);
    found.ok_or_else(|| {
        InputError::of_value("on_paradox", name, &OnParadox::ALL.map(OnParadox::name).join(", "))
    })
}

/// An impact law, by its name.
pub fn named_law(name: &str) -> Result<Law, InputError> {
    Law::from_name(name).ok_or_else(|| InputError::of_value("law", name, &Law::ALL.map(Law::name).join(", ")))
}

/// A loop, by its name.
pub fn named_loop(name: &str) -> Result<Loop, InputError> {
    let found = Loop::ALL.into_iter().find(|listed| listed.name() == name);
    found.ok_or_else(|| InputError::of_value("loop", name, &Loop::ALL.map(Loop::name).join(", ")))
}

impl Changes {
    /// Makes them, if they have a meaning.
    pub fn apply(self, scene: &mut Scene) -> Result<(), InputError> {
        NOT_NEGATIVE.check_some("until", self.until)?;
        NOT_NEGATIVE.check_some("sample", self.sample)?;
        AT_LEAST_ONE.check_some("max_events", self.max_events)?;
        THREADS.check_some("threads", self.threads)?;
        let run = &mut scene.run;
        run.until = self.until.unwrap_or(run.until);
        run.max_events = self.max_events.unwrap_or(run.max_events);
        run.sample = self.sample.unwrap_or(run.sample);
        run.on_paradox = self.on_paradox.unwrap_or(run.on_paradox);
        scene.impact.law = self.law.unwrap_or(scene.impact.law);
        for fill in &mut scene.fills {
            fill.seed = fill.seed.wrapping_add(self.replica);
        }
        Ok(())
    }
}
