//! The folder of a run: files that are whole at every moment, and a state to go on from.
//!
//! | file | holds |
//! | --- | --- |
//! | `scene.toml` or `scene.json` | the scene's text |
//! | `events-00001.parquet` …, `samples-00001.parquet` … | what happened, in parts, while the run is under way |
//! | `joint_impulses-00001.parquet` …, `reactions-00001.parquet` … | the same of joints, where there are any |
//! | `checkpoint.json` | the state to go on from, and which parts belong to it |
//! | `events.parquet`, `samples.parquet`, with joints `joint_impulses.parquet` and `reactions.parquet`, `run.json` | the result |
//! | `observables.parquet` | in a box, the averages over each block |
//! | `trajectory.xyz` or `trajectory.gsd` | the samples for other programs, where asked for |
//!
//! A file is written under another name, brought to the disk and renamed, so that a kill at any moment leaves none that is
//! half written. A checkpoint comes after its parts: parts that it does not know are from later, and are dropped when
//! the run goes on from it. At the end the parts become one file, whose bytes do not depend on them; the checkpoint says
//! so before the parts go, and goes last.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use carom::observe::BlockMeans;
use carom::record::{Event, JointReaction, Sample};
use carom::scene::Format as Language;
use carom::scene::model::Scene;
use carom_answers::run::{Rows, Running, Settings, Snapshot};
use carom_answers::tables::file::{file, of_arrow};
use carom_answers::tables::{self, JointRow};
use carom_answers::{Input, Refusal};
use serde::{Deserialize, Serialize};

use super::shelf::{Metadata, Shelf, is_part, part_name};
use super::trajectory::{self, Format};
use super::whole::{UNFINISHED, at, replace, sync, write};
use crate::{Failure, VERSION};

const CHECKPOINT: &str = "checkpoint.json";
/// The file of the result.
pub const RESULT: &str = "run.json";
const SCENES: [(&str, Language); 2] = [("scene.toml", Language::Toml), ("scene.json", Language::Json)];
const TABLES: [&str; 4] = ["events", "samples", "joint_impulses", "reactions"];

/// What is made of the rest at the end.
const MADE: [&str; 3] = ["observables.parquet", "trajectory.xyz", "trajectory.gsd"];

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

/// What a checkpoint says besides the files.
#[derive(Debug)]
pub struct Standing {
    settings: Settings,
    /// The time taken so far, in seconds.
    wall_s: f64,
    /// How many derivatives of gaps were not finite.
    unbounded: u64,
    /// The trajectory that is written at the end.
    trajectory: Option<Format>,
    snapshot: Snapshot,
}

impl Standing {
    /// How a run stands that has taken so many seconds, and ends with a trajectory in a format.
    pub fn of(running: &Running, wall_s: f64, trajectory: Option<Format>) -> Self {
        let (settings, unbounded) = (running.settings, running.unbounded());
        Self { settings, wall_s, unbounded, trajectory, snapshot: running.engine.snapshot() }
    }
}

/// An open folder.
pub struct Folder {
    path: PathBuf,
    hash: String,
    /// For the metadata of files.
    about: Metadata,
    events: Shelf<Event>,
    samples: Shelf<Sample>,
    /// Only where there are joints.
    joints: Option<JointShelves>,
    /// Held as long as the run is at work here.
    _lock: File,
}

/// The tables of joints.
struct JointShelves {
    impulses: Shelf<JointRow>,
    reactions: Shelf<JointReaction>,
}

impl Folder {
    /// Makes a folder ready for a new run. An older run there goes only with `force`.
    pub fn create(path: &Path, input: &Input, scene: &Scene, force: bool) -> Result<Self, Failure> {
        fs::create_dir_all(path).map_err(|error| at(path, &error))?;
        make_room(path, force)?;
        let name =
            SCENES.iter().find(|(_, format)| *format == input.format).map_or(SCENES[0].0, |(name, _)| name);
        replace(&path.join(name), input.text.as_bytes())?;
        let lock = lock(&path.join(name))?.ok_or_else(|| busy(path))?;
        Ok(Self::new(path, lock, input, scene))
    }

    fn new(path: &Path, lock: File, input: &Input, scene: &Scene) -> Self {
        let hash = input.hash();
        let title = scene.title.clone().unwrap_or_default();
        let about = [("version", VERSION.to_string()), ("scene", hash.clone()), ("title", title)];
        let events = Shelf::new(TABLES[0], &about, tables::events);
        let samples = Shelf::new(TABLES[1], &about, tables::samples);
        Self {
            path: path.to_path_buf(),
            hash,
            events,
            samples,
            joints: (!scene.joints.is_empty()).then(|| JointShelves {
                impulses: Shelf::new(TABLES[2], &about, tables::joint_impulses),
                reactions: Shelf::new(TABLES[3], &about, tables::reactions),
            }),
            about,
            _lock: lock,
        }
    }

    /// Opens the folder of a run that did not come to its end: its scene's text, and where it stands.
    pub fn reopen(path: &Path) -> Result<(Input, Checkpoint, File), Failure> {
        let refuse = |message: &str, expected: &str| {
            let message = format!("{} {message}", path.display());
            Failure::from(Refusal::of_option(Some("resume"), &message, Some(expected)))
        };
        if !path.join(CHECKPOINT).exists() {
            let copies = copies(path);
            let waiting = copies.iter().find(|copy| copy.join(CHECKPOINT).exists());
            return Err(if let Some(copy) = waiting {
                refuse(
                    "holds copies of a run, which go on one by one",
                    &format!("one of them, as {}", copy.display()),
                )
            } else if !copies.is_empty() {
                refuse(
                    "holds copies of a run, all of which have ended",
                    "the folder of a run that was interrupted",
                )
            } else if path.join(RESULT).exists() {
                refuse("holds a run that has come to its end", "the folder of a run that was interrupted")
            } else {
                refuse("holds no run to go on with", "a folder that `carom run -o` wrote")
            });
        }
        let Some((name, format)) = SCENES.iter().find(|(name, _)| path.join(name).exists()) else {
            return Err(refuse("has lost its scene", "`scene.toml` or `scene.json` there"));
        };
        let mut input = Input::read(&path.join(name))?;
        input.format = *format;
        let lock = lock(&path.join(name))?.ok_or_else(|| busy(path))?;
        let file = path.join(CHECKPOINT);
        let text = fs::read(&file).map_err(|error| at(&file, &error))?;
        let unreadable =
            |message: &str| Failure::from(Refusal::of_unreadable(file.display().to_string(), message));
        let checkpoint: Checkpoint = serde_json::from_slice(&text)
            .map_err(|error| unreadable(&format!("not a checkpoint that this version reads: {error}")))?;
        if checkpoint.scene != input.hash() {
            return Err(unreadable("belongs to another scene: the one beside it has changed"));
        }
        Ok((input, checkpoint, lock))
    }

    /// Takes up the files where a checkpoint left them.
    pub fn resume(
        path: &Path,
        lock: File,
        input: &Input,
        scene: &Scene,
        checkpoint: &Checkpoint,
    ) -> io::Result<Self> {
        let mut folder = Self::new(path, lock, input, scene);
        let parts = |table: &'static str| folder.path.join(format!("{table}.parquet"));
        if checkpoint.merged {
            // The one file becomes the first part again. Where that has happened already, nothing is left to do.
            for table in TABLES {
                let whole = parts(table);
                if whole.exists() {
                    remove_all(path, |name| is_part(name, table).is_some())?;
                    let first = path.join(part_name(table, 1));
                    fs::rename(&whole, &first).map_err(|error| at(&first, &error))?;
                }
            }
            sync(path)?;
        }
        let known = if checkpoint.merged { [1; 4] } else { checkpoint.parts };
        (folder.events.parts, folder.samples.parts) = (known[0], known[1]);
        (folder.events.rows, folder.samples.rows) = (checkpoint.rows[0], checkpoint.rows[1]);
        if let Some(JointShelves { impulses, reactions }) = &mut folder.joints {
            (impulses.parts, reactions.parts) = (known[2], known[3]);
            (impulses.rows, reactions.rows) = (checkpoint.rows[2], checkpoint.rows[3]);
        }
        remove_all(path, |name| {
            let later = |k: usize| is_part(name, TABLES[k]).is_some_and(|part| part > known[k]);
            let made = name == RESULT || MADE.contains(&name);
            name.ends_with(UNFINISHED) || made || (0..TABLES.len()).any(later)
        })?;
        Ok(folder)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many rows there are.
    pub fn rows(&self) -> Rows {
        Rows {
            events: self.events.rows,
            samples: self.samples.rows,
            joint_impulses: self.joints.as_ref().map(|joints| joints.impulses.rows),
            reactions: self.joints.as_ref().map(|joints| joints.reactions.rows),
        }
    }

    fn parts(&self) -> [u32; 4] {
        let joints = self.joints.as_ref().map_or([0; 2], |j| [j.impulses.parts, j.reactions.parts]);
        [self.events.parts, self.samples.parts, joints[0], joints[1]]
    }

    /// Writes the means of blocks.
    pub fn write_blocks(&self, scene: &Scene, blocks: &[BlockMeans]) -> io::Result<()> {
        let rows = tables::observables(scene, blocks, &self.about).map_err(of_arrow)?;
        replace(&self.path.join(MADE[0]), &file(&rows)?)
    }

    /// Writes the samples in another format.
    pub fn write_trajectory(&self, format: Format, scene: &Scene) -> io::Result<()> {
        let samples = self.path.join("samples.parquet");
        match format {
            Format::Parquet => Ok(()),
            Format::Xyz => {
                write(&self.path.join(MADE[1]), |file| trajectory::xyz::write(file, scene, &samples))
            }
            Format::Gsd => {
                write(&self.path.join(MADE[2]), |file| trajectory::gsd::write(file, scene, &samples))
            }
        }
    }

    /// Takes events, and what the joints carried in them.
    pub fn take_events(&mut self, scene: &Scene, events: &[Event]) -> io::Result<()> {
        if let Some(joints) = &mut self.joints {
            joints.impulses.take(&self.path, scene, &JointRow::of(events))?;
        }
        self.events.take(&self.path, scene, events)
    }

    /// Takes reactions.
    pub fn take_reactions(&mut self, scene: &Scene, reactions: &[JointReaction]) -> io::Result<()> {
        self.joints.as_mut().map_or(Ok(()), |joints| joints.reactions.take(&self.path, scene, reactions))
    }

    /// Takes samples.
    pub fn take_samples(&mut self, scene: &Scene, samples: &[Sample]) -> io::Result<()> {
        self.samples.take(&self.path, scene, samples)
    }

    /// Writes everything taken so far, then the state that goes with it.
    pub fn checkpoint(&mut self, scene: &Scene, standing: &Standing) -> io::Result<()> {
        self.events.flush(&self.path, scene)?;
        self.samples.flush(&self.path, scene)?;
        if let Some(joints) = &mut self.joints {
            joints.impulses.flush(&self.path, scene)?;
            joints.reactions.flush(&self.path, scene)?;
        }
        self.write_checkpoint(standing, self.parts(), false)
    }

    fn write_checkpoint(&self, standing: &Standing, parts: [u32; 4], merged: bool) -> io::Result<()> {
        let path = self.path.join(CHECKPOINT);
        let checkpoint = Checkpoint {
            version: VERSION.to_string(),
            settings: standing.settings,
            scene: self.hash.clone(),
            wall_s: standing.wall_s,
            unbounded: standing.unbounded,
            trajectory: standing.trajectory,
            parts,
            rows: [
                self.events.rows,
                self.samples.rows,
                self.joints.as_ref().map_or(0, |joints| joints.impulses.rows),
                self.joints.as_ref().map_or(0, |joints| joints.reactions.rows),
            ],
            merged,
            snapshot: standing.snapshot.clone(),
        };
        let text = serde_json::to_vec(&checkpoint).map_err(|error| at(&path, &error.into()))?;
        // JSON has no word for numbers that are not finite, so a state that holds one must not pass for a good one.
        match serde_json::from_slice::<Checkpoint>(&text) {
            Ok(read) if read.snapshot == checkpoint.snapshot => replace(&path, &text),
            _ => Err(at(&path, &io::Error::other("the state of the run cannot be written down exactly"))),
        }
    }

    /// Tells the user, after a failure, what the folder is good for.
    pub fn say_what_stays(&self) {
        if self.path.join(CHECKPOINT).exists() {
            let _ = writeln!(
                io::stderr(),
                "note: what was written before stays readable; `carom run --resume {}` goes on from there",
                self.path.display()
            );
        }
    }

    /// Makes one file of each table's parts, lets `more` write what is made of them, and writes the result, which is told
    /// how many rows there are. The checkpoint stays if the run can go on.
    pub fn finish(
        &mut self,
        scene: &Scene,
        standing: &Standing,
        can_go_on: bool,
        more: impl FnOnce(&Self) -> io::Result<()>,
        result: impl FnOnce(Rows) -> io::Result<Vec<u8>>,
    ) -> io::Result<()> {
        self.checkpoint(scene, standing)?;
        self.events.merge(&self.path, scene)?;
        self.samples.merge(&self.path, scene)?;
        if let Some(joints) = &self.joints {
            joints.impulses.merge(&self.path, scene)?;
            joints.reactions.merge(&self.path, scene)?;
        }
        more(self)?;
        replace(&self.path.join(RESULT), &result(self.rows())?)?;
        self.write_checkpoint(standing, [0; 4], true)?;
        remove_all(&self.path, |name| TABLES.iter().any(|table| is_part(name, table).is_some()))?;
        if !can_go_on {
            remove_all(&self.path, |name| name == CHECKPOINT)?;
        }
        sync(&self.path)
    }
}

/// The file of the scene in a run's folder.
pub fn scene_file(path: &Path) -> Option<PathBuf> {
    SCENES.iter().map(|(name, _)| path.join(name)).find(|file| file.is_file())
}

/// The folders of copies in one that `--replicas` wrote, in their order.
pub fn copies(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let is_copy = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().starts_with(COPY));
        name == Some(true) && scene_file(path).is_some()
    };
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_copy).collect();
    found.sort_unstable();
    found
}

/// What the names of copies' folders begin with.
pub const COPY: &str = "replica-";

/// Whether a run writes files of this name.
fn is_ours(name: &str) -> bool {
    let name = name.strip_suffix(UNFINISHED).unwrap_or(name);
    let whole = |table: &str| name.strip_prefix(table) == Some(".parquet");
    name == CHECKPOINT
        || name == RESULT
        || MADE.contains(&name)
        || SCENES.iter().any(|(scene, _)| name == *scene)
        || TABLES.iter().any(|table| whole(table) || is_part(name, table).is_some())
}

/// Sees to it that nothing of an older run is left in a folder, and that nothing else is lost.
fn make_room(path: &Path, force: bool) -> Result<(), Failure> {
    let names = entries(path)?;
    let has = |name: &str| names.iter().any(|entry| entry == name);
    let refuse = |message: &str, expected: &str| {
        let message = format!("{} {message}", path.display());
        Failure::from(Refusal::of_option(Some("o"), &message, Some(expected)))
    };
    let is_run = has(CHECKPOINT) || has(RESULT);
    if !is_run && names.iter().any(|name| !is_ours(name)) {
        return Err(refuse("holds other files", "an empty or a new folder"));
    }
    for (scene, _) in SCENES.iter().filter(|(scene, _)| has(scene)) {
        // Let go again at once: only whether someone is at work counts here.
        if lock(&path.join(scene))?.is_none() {
            return Err(busy(path));
        }
    }
    if !force && has(CHECKPOINT) {
        let expected = "--resume instead of -o to go on with it, or --force to start anew";
        return Err(refuse("holds a run that did not come to its end", expected));
    }
    if !force && has(RESULT) {
        return Err(refuse("holds a finished run", "another folder, or --force to write over it"));
    }
    // The checkpoint first: what is left without it is not taken for a run.
    remove_all(path, |name| name == CHECKPOINT)?;
    Ok(remove_all(path, is_ours)?)
}

fn busy(path: &Path) -> Failure {
    let message = format!("another run is at work in {}", path.display());
    Refusal::of_option(None, &message, Some("it to end, or another folder")).into()
}

/// Locks a file against other runs; none if one has it.
fn lock(path: &Path) -> io::Result<Option<File>> {
    let file = File::open(path).map_err(|error| at(path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        // A file system without locks has no way to tell.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(Some(file)),
        Err(TryLockError::Error(error)) => Err(at(path, &error)),
    }
}

/// The names in a folder, sorted; what is not Unicode is not ours.
fn entries(path: &Path) -> io::Result<Vec<String>> {
    let read = || -> io::Result<Vec<String>> {
        fs::read_dir(path)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    };
    let mut names = read().map_err(|error| at(path, &error))?;
    names.sort_unstable();
    Ok(names)
}

fn remove_all(path: &Path, wanted: impl Fn(&str) -> bool) -> io::Result<()> {
    for name in entries(path)?.iter().filter(|name| wanted(name)) {
        let file = path.join(name);
        fs::remove_file(&file).map_err(|error| at(&file, &error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_ours;

    #[test]
    fn only_names_that_a_run_writes_are_its_own() {
        for name in [
            "scene.toml",
            "scene.json",
            "checkpoint.json",
            "checkpoint.json.tmp",
            "run.json",
            "events.parquet",
            "events-00001.parquet",
            "samples-123456.parquet.tmp",
        ] {
            assert!(is_ours(name), "{name}");
        }
        for name in
            ["notes.txt", "events-1.parquet", "events-00001.csv", "events-.parquet", "sample.parquet", ".tmp"]
        {
            assert!(!is_ours(name), "{name}");
        }
    }
}
