//! The folder of a run: files that are whole at every moment, and a state to go on from.
//!
//! | file | holds |
//! | --- | --- |
//! | `scene.toml` or `scene.json` | the scene's text |
//! | `events-00001.parquet` …, `samples-00001.parquet` … | what happened, in parts, while the run is under way |
//! | `joint_impulses-00001.parquet` …, `reactions-00001.parquet` … | the same for joints, if there are any |
//! | `checkpoint.json` | the state to go on from, and which parts belong to it |
//! | `events.parquet`, `samples.parquet`, with joints `joint_impulses.parquet` and `reactions.parquet`, `run.json` | the result |
//! | `observables.parquet` | in a box, the averages over each block |
//! | `trajectory.xyz` or `trajectory.gsd` | the samples for other programs, where asked for |
//!
//! Every file is written atomically ([`atomic_file`]), so that a kill at any moment leaves none that is half written. A checkpoint
//! comes after its parts: parts that it does not know are from later, and are dropped when the run goes on from it. At the end the
//! parts become one file, whose bytes do not depend on them; the checkpoint says so before the parts go, and goes last.
//!
//! A [`Folder`] is written while the run goes on; a [`Recording`] reads one back, ended or not; [`Files`] are those of a run that has
//! ended, all in memory.

pub mod atomic_file;
mod files;
mod names;
mod recording;
mod table_writer;
pub mod trajectory;

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use carom::observe::Observer;
use carom::record::{Event, JointReaction, Sample};
use carom::scene::model::Scene;
use serde::{Deserialize, Serialize};

use crate::run::{Document, End, Rows, Running, Settings, Snapshot};
use crate::tables::file::{file, of_arrow};
use crate::tables::{self, JointRow};
use crate::{Input, InputError, VERSION};
use atomic_file::{at, replace, sync};
use names::{
    CHECKPOINT, Metadata, OBSERVABLES, TABLES, entries, is_made, is_ours, is_part, metadata, part_name,
    part_number, remove_all, scene_among, scene_name, table_name,
};
use table_writer::TableWriter;
use trajectory::Format;

pub use files::{Contents, Files};
pub use names::{COPY, RESULT, copies, copy, scene_file};
pub use recording::Recording;

/// Why a folder cannot be used.
#[derive(Debug)]
pub enum Error {
    /// It is not what was asked for.
    Input(Box<InputError>),
    /// It cannot be read or written.
    Io(io::Error),
}

impl From<InputError> for Error {
    fn from(error: InputError) -> Self {
        Self::Input(Box::new(error))
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The state to go on from.
#[derive(Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The version of the program.
    pub version: String,
    /// How the scene is run.
    pub settings: Settings,
    /// The hash of the scene's text.
    pub scene: String,
    /// The time that the run has taken so far, in seconds.
    pub wall_s: f64,
    /// How many derivatives of gaps were not finite.
    pub unbounded: u64,
    /// The trajectory that is written at the end.
    #[serde(default)]
    pub trajectory: Option<Format>,
    /// The parts that belong to it, of each table.
    parts: [u32; 4],
    /// Their rows.
    rows: [u64; 4],
    /// Whether the parts have become one file each.
    merged: bool,
    /// The state itself.
    pub snapshot: Snapshot,
}

/// The folder of an interrupted run.
#[derive(Debug)]
pub struct Unfinished {
    path: PathBuf,
    lock: File,
    /// The scene's text.
    pub input: Input,
    /// Where the run stands.
    pub checkpoint: Checkpoint,
}

impl Unfinished {
    /// Opens it.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let refuse = |message: &str, expected: &str| {
            let message = format!("{} {message}", path.display());
            Error::from(InputError::of_option(Some("resume"), &message, Some(expected)))
        };
        if !path.join(CHECKPOINT).exists() {
            let copies = copies(path);
            let waiting = copies.iter().find(|copy| copy.join(CHECKPOINT).exists());
            return Err(if let Some(copy) = waiting {
                refuse(
                    "holds copies of a run, which are resumed one by one",
                    &format!("one of them, as {}", copy.display()),
                )
            } else if !copies.is_empty() {
                refuse(
                    "holds copies of a run, all of which have ended",
                    "the folder of a run that was interrupted",
                )
            } else if path.join(RESULT).exists() {
                refuse("holds a finished run", "the folder of a run that was interrupted")
            } else {
                refuse("holds no run to resume", "a folder that `carom run -o` wrote")
            });
        }
        let Some((name, format)) = scene_among(|name| path.join(name).exists()) else {
            return Err(refuse("has lost its scene", "`scene.toml` or `scene.json` there"));
        };
        let mut input = Input::read(&path.join(name))?;
        input.format = format;
        let lock = lock(&path.join(name))?.ok_or_else(|| busy(path))?;
        let file = path.join(CHECKPOINT);
        let text = fs::read(&file).map_err(|error| at(&file, &error))?;
        let unreadable = |message: &str| InputError::of_unreadable(file.display().to_string(), message);
        let checkpoint: Checkpoint = serde_json::from_slice(&text)
            .map_err(|error| unreadable(&format!("not a checkpoint that this version reads: {error}")))?;
        if checkpoint.scene != input.hash() {
            return Err(unreadable("belongs to another scene: the one beside it has changed").into());
        }
        Ok(Self { path: path.to_path_buf(), lock, input, checkpoint })
    }

    /// Why its checkpoint is not one of its scene.
    pub fn mismatch(&self) -> InputError {
        let message = format!("the checkpoint in {} does not fit its scene", self.path.display());
        InputError::of_option(Some("resume"), &message, Some("a folder that `carom run -o` wrote"))
    }

    /// Takes up the files where the checkpoint left them.
    pub fn resume(self, running: &Running) -> io::Result<Folder> {
        let Self { path, lock, checkpoint, .. } = self;
        let mut folder = Folder::new(&path, lock, running, checkpoint.trajectory);
        if checkpoint.merged {
            // The one file becomes the first part again. Where that has happened already, nothing is left to do.
            for table in TABLES {
                let merged = path.join(table_name(table));
                if merged.exists() {
                    remove_all(&path, |name| part_number(name, table).is_some())?;
                    let first = path.join(part_name(table, 1));
                    fs::rename(&merged, &first).map_err(|error| at(&first, &error))?;
                }
            }
            sync(&path)?;
        }
        let parts = match (checkpoint.merged, folder.has_joints()) {
            (false, _) => checkpoint.parts,
            (true, true) => [1; 4],
            (true, false) => [1, 1, 0, 0],
        };
        folder.set_written(parts, checkpoint.rows);
        remove_all(&path, |name| {
            let later =
                |(table, parts): (&str, u32)| part_number(name, table).is_some_and(|part| part > parts);
            name.ends_with(atomic_file::UNFINISHED)
                || is_made(name)
                || TABLES.into_iter().zip(parts).any(later)
        })?;
        Ok(folder)
    }
}

/// The folder of a run under way.
pub struct Folder {
    path: PathBuf,
    hash: String,
    about: Metadata,
    scene: Arc<Scene>,
    events: TableWriter<Event>,
    samples: TableWriter<Sample>,
    /// Written only where there are joints, as are the reactions.
    impulses: TableWriter<JointRow>,
    reactions: TableWriter<JointReaction>,
    /// The trajectory that is written at the end.
    pub trajectory: Option<Format>,
    /// The time of the run at the last checkpoint.
    checkpoint_time: f64,
    /// Held as long as the run is in progress here.
    _lock: File,
}

impl Folder {
    /// Makes a folder ready for a new run. An older run there goes only with `force`.
    pub fn create(path: &Path, running: &Running, force: bool) -> Result<Self, Error> {
        fs::create_dir_all(path).map_err(|error| at(path, &error))?;
        make_room(path, force)?;
        let scene = path.join(scene_name(running.input.format));
        replace(&scene, running.input.text.as_bytes())?;
        let lock = lock(&scene)?.ok_or_else(|| busy(path))?;
        Ok(Self::new(path, lock, running, None))
    }

    fn new(path: &Path, lock: File, running: &Running, trajectory: Option<Format>) -> Self {
        let scene = &running.scene;
        let about = metadata(&running.input, scene);
        Self {
            path: path.to_path_buf(),
            checkpoint_time: running.engine.time(),
            hash: running.input.hash(),
            events: TableWriter::new(path, TABLES[0], &about, scene, tables::events),
            samples: TableWriter::new(path, TABLES[1], &about, scene, tables::samples),
            impulses: TableWriter::new(path, TABLES[2], &about, scene, tables::joint_impulses),
            reactions: TableWriter::new(path, TABLES[3], &about, scene, tables::reactions),
            about,
            scene: scene.clone(),
            trajectory,
            _lock: lock,
        }
    }

    fn has_joints(&self) -> bool {
        !self.scene.joints.is_empty()
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many rows there are.
    pub fn rows(&self) -> Rows {
        let joints = self.has_joints();
        Rows {
            events: self.events.rows,
            samples: self.samples.rows,
            joint_impulses: joints.then_some(self.impulses.rows),
            reactions: joints.then_some(self.reactions.rows),
        }
    }

    /// The parts and rows of each table, in the order of [`TABLES`].
    fn written(&self) -> ([u32; 4], [u64; 4]) {
        let Self { events, samples, impulses, reactions, .. } = self;
        (
            [events.parts, samples.parts, impulses.parts, reactions.parts],
            [events.rows, samples.rows, impulses.rows, reactions.rows],
        )
    }

    fn set_written(&mut self, parts: [u32; 4], rows: [u64; 4]) {
        let Self { events, samples, impulses, reactions, .. } = self;
        [events.parts, samples.parts, impulses.parts, reactions.parts] = parts;
        [events.rows, samples.rows, impulses.rows, reactions.rows] = rows;
    }

    /// Takes events, and what the joints carried in them.
    pub fn take_events(&mut self, events: &[Event]) -> io::Result<()> {
        if self.has_joints() {
            self.impulses.take(&JointRow::of(events))?;
        }
        self.events.take(events)
    }

    /// Takes samples.
    pub fn take_samples(&mut self, samples: &[Sample]) -> io::Result<()> {
        self.samples.take(samples)
    }

    /// Takes reactions.
    pub fn take_reactions(&mut self, reactions: &[JointReaction]) -> io::Result<()> {
        if self.has_joints() { self.reactions.take(reactions) } else { Ok(()) }
    }

    /// Writes everything taken so far, then the state that goes with it.
    pub fn checkpoint(&mut self, running: &Running, wall_s: f64) -> io::Result<()> {
        self.flush(running, wall_s).map(drop)
    }

    fn flush(&mut self, running: &Running, wall_s: f64) -> io::Result<Checkpoint> {
        self.events.flush()?;
        self.samples.flush()?;
        self.impulses.flush()?;
        self.reactions.flush()?;
        let (parts, rows) = self.written();
        let checkpoint = Checkpoint {
            version: VERSION.to_string(),
            settings: running.settings,
            scene: self.hash.clone(),
            wall_s,
            unbounded: running.unbounded(),
            trajectory: self.trajectory,
            parts,
            rows,
            merged: false,
            snapshot: running.engine.snapshot(),
        };
        self.write_checkpoint(&checkpoint)?;
        self.checkpoint_time = running.engine.time();
        Ok(checkpoint)
    }

    fn write_checkpoint(&self, checkpoint: &Checkpoint) -> io::Result<()> {
        let path = self.path.join(CHECKPOINT);
        let text = serde_json::to_vec(checkpoint).map_err(|error| at(&path, &error.into()))?;
        // JSON cannot hold numbers that are not finite, so a state with one must not pass for a good one.
        match serde_json::from_slice::<Checkpoint>(&text) {
            Ok(read) if read.snapshot == checkpoint.snapshot => replace(&path, &text),
            _ => Err(at(&path, &io::Error::other("the state of the run cannot be written exactly"))),
        }
    }

    /// The time that the run had at the last checkpoint: what a run that was ended within an event goes on from.
    pub fn time_at_checkpoint(&self) -> f64 {
        self.checkpoint_time
    }

    /// Whether the run can go on from here, whatever failed.
    pub fn can_go_on(&self) -> bool {
        self.path.join(CHECKPOINT).exists()
    }

    /// Makes one file of each table's parts, writes what is made of them, and the document, which is told how many rows there are.
    /// The checkpoint stays if the run was interrupted.
    pub fn finish(&mut self, running: &Running, wall_s: f64, document: &mut Document) -> io::Result<()> {
        let mut checkpoint = self.flush(running, wall_s)?;
        self.events.merge()?;
        self.samples.merge()?;
        if self.has_joints() {
            self.impulses.merge()?;
            self.reactions.merge()?;
        }
        if let Some(blocks) = running.engine.observer.as_ref().map(Observer::blocks) {
            let rows = tables::observables(&self.scene, &blocks, &self.about).map_err(of_arrow)?;
            replace(&self.path.join(table_name(OBSERVABLES)), &file(&rows)?)?;
        }
        if let Some(format) = self.trajectory {
            format.write(&self.path, &self.scene)?;
        }
        document.set_rows(self.rows());
        replace(&self.path.join(RESULT), &serde_json::to_vec(document)?)?;
        (checkpoint.parts, checkpoint.merged) = ([0; 4], true);
        self.write_checkpoint(&checkpoint)?;
        remove_all(&self.path, is_part)?;
        if running.end() != Some(End::INTERRUPTED) {
            remove_all(&self.path, |name| name == CHECKPOINT)?;
        }
        sync(&self.path)
    }
}

/// Makes room in a folder for a new run: removes an older one, with `force`, and nothing else.
fn make_room(path: &Path, force: bool) -> Result<(), Error> {
    let names = entries(path)?;
    let has = |name: &str| names.iter().any(|entry| entry == name);
    let refuse = |message: &str, expected: &str| {
        let message = format!("{} {message}", path.display());
        Error::from(InputError::of_option(Some("o"), &message, Some(expected)))
    };
    let is_run = has(CHECKPOINT) || has(RESULT);
    if !is_run && names.iter().any(|name| !is_ours(name)) {
        return Err(refuse("holds other files", "an empty or a new folder"));
    }
    if is_busy(path)? {
        return Err(busy(path).into());
    }
    if !force && has(CHECKPOINT) {
        let expected = "--resume instead of -o to continue it, or --force to start again";
        return Err(refuse("holds an interrupted run", expected));
    }
    if !force && has(RESULT) {
        return Err(refuse("holds a finished run", "another folder, or --force to write over it"));
    }
    Ok(clear(path)?)
}

/// Removes a run from a folder.
fn clear(path: &Path) -> io::Result<()> {
    // The checkpoint first: without it the rest is not taken for a run.
    remove_all(path, |name| name == CHECKPOINT)?;
    remove_all(path, is_ours)
}

/// Makes a folder ready for the folders of copies; one that is not empty only with `force`.
pub fn make_room_for_copies(path: &Path, force: bool) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(|error| at(path, &error))?;
    if !force && !entries(path)?.is_empty() {
        let message = format!("{} is not empty", path.display());
        let expected = "an empty or a new folder, or --force to write over older copies";
        return Err(InputError::of_option(Some("o"), &message, Some(expected)).into());
    }
    Ok(())
}

fn busy(path: &Path) -> InputError {
    let message = format!("another run is in progress in {}", path.display());
    InputError::of_option(None, &message, Some("it to end, or another folder"))
}

/// Whether a run is in progress in a folder.
fn is_busy(path: &Path) -> io::Result<bool> {
    // A lock that is free is let go again at once.
    scene_file(path).map_or(Ok(false), |scene| Ok(lock(&scene)?.is_none()))
}

/// Locks a file against other runs; none if another run has it.
fn lock(path: &Path) -> io::Result<Option<File>> {
    let file = File::open(path).map_err(|error| at(path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        // A file system without locks cannot tell.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(Some(file)),
        Err(TryLockError::Error(error)) => Err(at(path, &error)),
    }
}
