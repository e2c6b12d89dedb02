//! Drives a run from event to event: progress, checkpoints, and the document at the end.

use std::io;
use std::time::{Duration, Instant};

use carom_answers::run::{End, Running};

use super::Before;
use super::arguments::Arguments;
use super::folder::{Folder, Standing};
use super::progress::{self, Progress};
use super::tape::{Keep, Tape};
use super::trajectory::Format;
use crate::VERSION;

/// Drives a run.
pub struct Driver {
    trajectory: Option<Format>,
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

impl Driver {
    /// One that starts now.
    pub fn new(arguments: &Arguments, before: &Before, shown: bool) -> Self {
        let now = Instant::now();
        Self {
            trajectory: arguments.trajectory.or(before.trajectory),
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
    pub fn drive(&mut self, running: &mut Running, tape: &mut Tape) -> io::Result<()> {
        self.checkpoint(running, tape)?;
        let mut progress = Progress::new(&running.engine, running.settings.max_events, self.shown);
        loop {
            let more = running.step(tape);
            tape.checked()?;
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
                self.checkpoint(running, tape)?;
            }
        }
        progress.end();
        Ok(())
    }

    fn checkpoint(&mut self, running: &Running, tape: &mut Tape) -> io::Result<()> {
        if let Keep::Files(folder) = &mut tape.keep {
            let begun = Instant::now();
            folder.checkpoint(&running.scene, &Standing::of(running, self.wall_s(), self.trajectory))?;
            self.last = Instant::now();
            self.took = self.last - begun;
        }
        Ok(())
    }

    /// The document without events and samples, written to the folder if there is one, and its notes.
    pub fn finish(&self, running: &Running, tape: &mut Tape) -> io::Result<(Vec<u8>, Vec<String>)> {
        let wall_s = self.wall_s();
        let scene = &running.scene;
        let mut notes = running.notes();
        notes.extend(self.trajectory.and_then(|format| format.leaves_out(scene)).map(str::to_string));
        let mut document = running.document(VERSION, wall_s, notes.clone());
        if let Keep::Files(folder) = &mut tape.keep {
            let can_go_on = running.end() == Some(End::INTERRUPTED);
            let more = |folder: &Folder| {
                if let Some(observer) = &running.engine.observer {
                    folder.write_blocks(scene, &observer.blocks())?;
                }
                self.trajectory.map_or(Ok(()), |format| folder.write_trajectory(format, scene))
            };
            folder.finish(
                scene,
                &Standing::of(running, wall_s, self.trajectory),
                can_go_on,
                more,
                |rows| {
                    document.set_rows(rows);
                    serde_json::to_vec(&document).map_err(io::Error::from)
                },
            )?;
        }
        let text = serde_json::to_vec(&document)?;
        Ok((text, notes))
    }
}
