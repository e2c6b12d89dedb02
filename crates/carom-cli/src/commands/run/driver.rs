//! Drives a run from event to event: progress, checkpoints, and the document at the end.

use std::io;
use std::time::{Duration, Instant};

use carom_answers::folder::Folder;
use carom_answers::run::Running;
use carom_answers::words::number;

use super::Before;
use super::arguments::Arguments;
use super::progress::{self, Progress};
use super::recorder::{Output, RunRecorder};
use crate::VERSION;

/// Drives a run.
pub struct Driver {
    /// Whether progress is shown.
    shown: bool,
    start: Instant,
    wall_before: f64,
    /// The least time between checkpoints.
    every: Duration,
    last: Instant,
    /// What the last one took.
    took: Duration,
}

/// Checkpoints take at most about this share of a long run's time, and a run has at most a few hundred parts.
const CHECKPOINT_SHARE: f64 = 0.01;

/// Nor more than this share where one takes longer than that, because there are very many bodies.
const CHECKPOINT_COST: f64 = 0.05;
const CHECKPOINT_LONG: Duration = Duration::from_secs(1);

/// What a folder is good for whose run was ended within an event.
fn within_an_event(folder: &Folder) -> String {
    format!(
        "the run was interrupted within an event: {path} keeps what came before t = {}, the last checkpoint, and `carom run --resume {path}` continues from there",
        number(folder.time_at_checkpoint()),
        path = folder.path().display(),
    )
}

impl Driver {
    /// One that starts now.
    pub fn new(arguments: &Arguments, before: &Before, shown: bool) -> Self {
        let now = Instant::now();
        Self {
            shown,
            start: now,
            wall_before: before.wall_s,
            every: Duration::try_from_secs_f64(arguments.checkpoint).unwrap_or(Duration::MAX),
            last: now,
            took: Duration::ZERO,
        }
    }

    /// How long the run has taken, in seconds.
    pub fn wall_s(&self) -> f64 {
        self.wall_before + self.start.elapsed().as_secs_f64()
    }

    /// Runs to the end, with checkpoints on the way.
    pub fn drive(&mut self, running: &mut Running, recorder: &mut RunRecorder) -> io::Result<()> {
        self.checkpoint(running, recorder)?;
        let mut progress = Progress::new(&running.engine, running.settings.max_events, self.shown);
        running.engine.set_watch(&progress.watch(&running.scene));
        loop {
            let more = running.step(recorder);
            recorder.checked()?;
            if !more {
                break;
            }
            if progress::interrupted() {
                running.interrupt();
                break;
            }
            let now = Instant::now();
            progress.show(&running.engine, now);
            let share = CHECKPOINT_SHARE * self.wall_s();
            let took = if self.took > CHECKPOINT_LONG { self.took.as_secs_f64() } else { 0.0 };
            let wait = self.every.as_secs_f64().max(share).max(took / CHECKPOINT_COST);
            if (now - self.last).as_secs_f64() >= wait {
                self.checkpoint(running, recorder)?;
            }
        }
        progress.end();
        Ok(())
    }

    fn checkpoint(&mut self, running: &Running, recorder: &mut RunRecorder) -> io::Result<()> {
        if let Output::Files(folder) = &mut recorder.output {
            let begun = Instant::now();
            folder.checkpoint(running, self.wall_s())?;
            self.last = Instant::now();
            self.took = self.last - begun;
        }
        Ok(())
    }

    /// The document without events and samples, written to the folder if there is one, and its notes.
    pub fn finish(
        &self,
        running: &Running,
        recorder: &mut RunRecorder,
    ) -> io::Result<(Vec<u8>, Vec<String>)> {
        let wall_s = self.wall_s();
        let mut notes = running.notes();
        // A state within an event is none to go on from: the folder stays as the last checkpoint left it.
        let whole = !running.engine.gave_up();
        if let Output::Files(folder) = &recorder.output
            && !whole
        {
            notes.push(within_an_event(folder));
        }
        if let Output::Files(folder) = &recorder.output {
            let left_out = folder.trajectory.and_then(|format| format.leaves_out(&running.scene));
            notes.extend(left_out.map(str::to_string));
        }
        let mut document = running.document(VERSION, wall_s, notes.clone());
        if let Output::Files(folder) = &mut recorder.output
            && whole
        {
            folder.finish(running, wall_s, &mut document)?;
        }
        Ok((serde_json::to_vec(&document)?, notes))
    }
}
