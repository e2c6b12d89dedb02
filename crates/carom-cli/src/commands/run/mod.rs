//! `carom run SCENE`: motion through impacts, event by event.

mod arguments;
mod driver;
pub(super) mod progress;
mod recorder;
mod replicas;
mod summary;

use std::io::{self, Write};
use std::path::Path;

use carom::scene::model::Scene;
use carom::watch::Watch;
use carom_answers::folder::{Folder, Unfinished};
use carom_answers::run::{Rows, Running};
use carom_answers::{InputError, Subject, Verdict};

use super::input::{read_scene, scene};
use super::output::print;
use crate::diagnostics::warn;
use crate::report::{self, Style};
use crate::{Failure, VERSION};
use driver::Driver;
use progress::Placing;
use recorder::{JsonStream, Output, RunRecorder};

pub use arguments::Arguments;
pub use summary::{Hold, Summary, TOLD};

/// Where a run is taken up.
#[derive(Debug, Clone, Copy, Default)]
pub struct Before {
    /// The time that it has taken already, in seconds.
    pub wall_s: f64,
    /// The number of events, and the time of the last.
    pub reached: Option<(u64, f64)>,
}

/// A run ready to go.
struct Prepared {
    running: Running,
    folder: Option<Folder>,
    before: Before,
}

/// What there is to report, for people.
pub struct Finished<'a> {
    /// The run.
    pub running: &'a Running,
    /// What happened.
    pub summary: &'a Summary,
    /// What else to say.
    pub notes: &'a [String],
    /// Where it was taken up.
    pub before: Before,
    /// How long it took.
    pub wall_s: f64,
    /// The folder, with the rows of its tables.
    pub folder: Option<(&'a Path, Rows)>,
}

impl<'a> Finished<'a> {
    /// The scene.
    pub fn scene(&self) -> &'a Scene {
        &self.running.scene
    }
}

/// Reads, runs, writes.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    if arguments.trajectory.is_some() && arguments.out.is_none() && arguments.resume.is_none() {
        let expected = Some("-o DIR beside it");
        let message = "a trajectory needs a folder to go to";
        return Err(InputError::of_option(Some("trajectory"), message, expected).into());
    }
    if let (Some(count), Some(scene)) = (arguments.replicas, &arguments.scene) {
        return replicas::run(scene, count, arguments);
    }
    let Prepared { mut running, folder, before } = prepare(arguments)?;
    let output = match folder {
        Some(folder) => Output::Files(Box::new(folder)),
        None if arguments.json => Output::Document(JsonStream::begin(&running.scene, arguments.samples)?),
        None => Output::Nothing,
    };
    let mut recorder = RunRecorder::new(output);
    let mut driver = Driver::new(arguments, &before, true);
    progress::watch();
    let ended = driver.drive(&mut running, &mut recorder);
    let (text, notes) = ended
        .and_then(|()| driver.finish(&running, &mut recorder))
        .inspect_err(|_| note_what_stays(&recorder))?;
    let verdict = running.end().map_or(Verdict::Done, |end| end.verdict());
    let RunRecorder { output, summary, .. } = recorder;
    let folder = match output {
        Output::Document(stream) => {
            stream.end(&text)?;
            return Ok(verdict);
        }
        Output::Files(folder) => Some(folder).filter(|_| !running.engine.gave_up()),
        Output::Nothing => None,
    };
    if arguments.json {
        print(|out| {
            out.write_all(&text)?;
            writeln!(out)
        })?;
    } else {
        let finished = Finished {
            running: &running,
            summary: &summary,
            notes: &notes,
            before,
            wall_s: driver.wall_s(),
            folder: folder.as_ref().map(|folder| (folder.path(), folder.rows())),
        };
        print(|out| report::run::write(out, &finished, Style::of_stdout(arguments.wide)))?;
    }
    Ok(verdict)
}

/// Tells the user, after a failure, what the folder is good for.
fn note_what_stays(recorder: &RunRecorder) {
    if let Output::Files(folder) = &recorder.output
        && folder.can_go_on()
    {
        let _ = writeln!(
            io::stderr(),
            "note: what was written before stays readable; `carom run --resume {}` continues from there",
            folder.path().display()
        );
    }
}

/// Begins a run, or takes one up.
fn prepare(arguments: &Arguments) -> Result<Prepared, Failure> {
    match (&arguments.resume, &arguments.scene) {
        (Some(folder), _) => {
            let mut prepared = take_up(folder, arguments)?;
            prepared.running.engine.set_threads(arguments.threads());
            Ok(prepared)
        }
        (None, Some(scene)) => {
            progress::watch();
            let copy = Copy { number: 0, folder: arguments.out.as_deref(), shown: true };
            begin(read_scene(scene)?, arguments, &copy)
        }
        // The parser asks for one of them.
        (None, None) => Err(InputError::of_option(None, "no scene", Some("a scene")).into()),
    }
}

/// Which of several copies of a run.
struct Copy<'a> {
    /// What is added to the seeds.
    number: u64,
    folder: Option<&'a Path>,
    /// Whether progress is shown.
    shown: bool,
}

/// Prepares a scene for its run.
fn begin(subject: Subject, arguments: &Arguments, copy: &Copy) -> Result<Prepared, Failure> {
    let sample = arguments.sample.unwrap_or(subject.scene.run.sample);
    if sample == 0.0 && arguments.trajectory.is_some() {
        let message = "`sample` is 0, so there is nothing to make a trajectory of";
        return Err(InputError::of_option(Some("trajectory"), message, Some("--sample DT beside it")).into());
    }
    let placing = Placing::new(copy.shown && !subject.scene.fills.is_empty());
    let changes = arguments.changes(copy.number);
    let begun = Running::begin_in(
        subject,
        changes,
        |stage| placing.show(stage),
        |_, world| Ok(world.with_watch(Watch::new(|_| progress::interrupted()))),
    );
    placing.end();
    if begun.is_err() && progress::interrupted() {
        return Err(Failure::Other(placing.interrupted()));
    }
    let running = begun?;
    warn(&running.input.name, &running.warnings);
    let mut folder = match copy.folder {
        Some(folder) => Some(Folder::create(folder, &running, arguments.force)?),
        None => None,
    };
    if let Some(folder) = &mut folder {
        folder.trajectory = arguments.trajectory;
    }
    Ok(Prepared { running, folder, before: Before::default() })
}

/// Takes a run up where its folder left it.
fn take_up(path: &Path, arguments: &Arguments) -> Result<Prepared, Failure> {
    let unfinished = Unfinished::open(path)?;
    let subject = scene(unfinished.input.clone())?;
    let checkpoint = &unfinished.checkpoint;
    if checkpoint.version != VERSION {
        let _ = writeln!(
            io::stderr(),
            "warning: the run was begun by carom {}, and this is {VERSION}: results may differ in their last bits",
            checkpoint.version
        );
    }
    let (settings, snapshot) = (checkpoint.settings, &checkpoint.snapshot);
    let running = Running::resume(subject, settings, snapshot, checkpoint.unbounded)?
        .ok_or_else(|| unfinished.mismatch())?;
    warn(&running.input.name, &running.warnings);
    let reached = Some((running.engine.counts().events, running.engine.time()));
    let before = Before { wall_s: checkpoint.wall_s, reached };
    let mut folder = unfinished.resume(&running)?;
    folder.trajectory = arguments.trajectory.or(folder.trajectory);
    Ok(Prepared { running, folder: Some(folder), before })
}
