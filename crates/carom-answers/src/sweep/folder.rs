//! The folder of a sweep.
//!
//! `sweep.json` says which sweep it is, `scene.toml` (or `.json`) is its scene. Rows go to part files as they come, each written whole or not at all, and
//! in the end to `samples.parquet`; a shard's to `samples-2-of-8.parquet`, from which [`merge`] makes the same `samples.parquet`. A sweep that was
//! ended in the midst goes on after its last part. A file's bytes depend on its rows alone, so that they are the same however often that happened.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde::{Deserialize, Serialize};

use super::{Row, Sweep};
use crate::folder::atomic_file::{UNFINISHED, at, replace, write};
use crate::mesh;
use crate::tables::file::{RUN, Writer, file, of_arrow, of_parquet};
use crate::{InputError, VERSION};

/// The file that says which sweep it is.
pub(super) const SWEEP: &str = "sweep.json";

/// The table of all samples.
pub const SAMPLES: &str = "samples.parquet";

/// Rows are written when there are so many, or after so long; later after this share of the time that the sweep has taken, so that there are a
/// few hundred parts at most.
const ROWS: usize = 1 << 13;
const EVERY: Duration = Duration::from_secs(2);
const SHARE: u32 = 100;

/// One of several parts of a sweep that are run by themselves, counted from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which.
    pub number: u64,
    /// Of how many.
    pub count: u64,
}

impl Shard {
    /// The whole sweep.
    pub const WHOLE: Self = Self { number: 1, count: 1 };

    /// Reads `2/8`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let expected = "expected i/n, as 2/8, with i from 1 to n";
        let (number, count) = text.split_once('/').ok_or(expected)?;
        let whole = |text: &str| text.trim().parse::<u64>().map_err(|_| expected.to_string());
        let shard = Self { number: whole(number)?, count: whole(count)? };
        let good = shard.count <= 1_000_000 && (1..=shard.count).contains(&shard.number);
        if good { Ok(shard) } else { Err(expected.to_string()) }
    }

    /// Its samples.
    pub fn range(self, samples: u64) -> Range<u64> {
        let until = |number: u64| {
            let share = u128::from(samples) * u128::from(number) / u128::from(self.count);
            u64::try_from(share).unwrap_or(samples)
        };
        until(self.number - 1)..until(self.number)
    }

    /// The name of its table, without the ending.
    fn stem(self) -> String {
        match self {
            Self::WHOLE => "samples".to_string(),
            Self { number, count } => format!("samples-{number}-of-{count}"),
        }
    }
}

/// Which sweep a folder has.
#[derive(Debug, Serialize, Deserialize, PartialEq)]
struct Description {
    version: String,
    sweep: String,
    scene: String,
    title: Option<String>,
    samples: u64,
    seed: u64,
    varied: Vec<String>,
}

impl Description {
    fn of(sweep: &Sweep) -> Self {
        Self {
            version: VERSION.to_string(),
            sweep: sweep.identity.clone(),
            scene: sweep.input.hash(),
            title: sweep.title.clone(),
            samples: sweep.samples(),
            seed: sweep.plan.settings().seed,
            varied: sweep.plan.columns().to_vec(),
        }
    }
}

/// A sweep's folder, open for the rows of one shard.
#[derive(Debug)]
pub struct Folder<'a> {
    path: PathBuf,
    sweep: &'a Sweep,
    shard: Shard,
    /// The parts, by the samples that they hold.
    parts: Vec<Range<u64>>,
    buffer: Vec<Row>,
    start: Instant,
    last: Instant,
}

impl<'a> Folder<'a> {
    /// Opens a folder, or makes it, for a shard of a sweep. Parts that are there already are gone on from; `force` begins anew.
    pub fn open(
        path: &Path,
        sweep: &'a Sweep,
        shard: Shard,
        force: bool,
    ) -> Result<Self, crate::folder::Error> {
        fs::create_dir_all(path).map_err(|error| at(path, &error))?;
        if force {
            clear(path)?;
        }
        describe(path, sweep)?;
        let now = Instant::now();
        let mut folder = Self {
            path: path.to_path_buf(),
            sweep,
            shard,
            parts: Vec::new(),
            buffer: Vec::new(),
            start: now,
            last: now,
        };
        if folder.is_finished() {
            // It may have been ended after its table was there, and before its parts were gone.
            folder.remove_parts()?;
        } else {
            folder.parts = folder.parts_there()?;
        }
        Ok(folder)
    }

    /// Whether its table is complete.
    pub fn is_finished(&self) -> bool {
        self.table().exists()
    }

    /// The table of its shard.
    pub fn table(&self) -> PathBuf {
        self.path.join(format!("{}.parquet", self.shard.stem()))
    }

    /// The samples of its shard.
    pub fn range(&self) -> Range<u64> {
        self.shard.range(self.sweep.samples())
    }

    /// The samples that are not written yet.
    pub fn left(&self) -> Range<u64> {
        let range = self.range();
        self.parts.last().map_or(range.start, |part| part.end)..range.end
    }

    /// Takes the next row.
    pub fn take(&mut self, row: Row) -> io::Result<()> {
        self.buffer.push(row);
        let wait = EVERY.max((self.last - self.start) / SHARE);
        if self.buffer.len() >= ROWS || self.last.elapsed() >= wait { self.flush() } else { Ok(()) }
    }

    /// Writes the rows in memory.
    pub fn flush(&mut self) -> io::Result<()> {
        self.last = Instant::now();
        let (Some(first), Some(last)) = (self.buffer.first(), self.buffer.last()) else { return Ok(()) };
        let part = first.sample..last.sample + 1;
        let rows = self.sweep.table(&self.buffer).map_err(of_arrow)?;
        replace(&self.part(&part), &file(&rows)?)?;
        self.parts.push(part);
        self.buffer.clear();
        Ok(())
    }

    /// Makes one file of the parts, once all rows are there.
    pub fn finish(&mut self) -> io::Result<()> {
        self.flush()?;
        let parts: Vec<PathBuf> = self.parts.iter().map(|part| self.part(part)).collect();
        join(self.sweep, &parts, &self.table())?;
        self.remove_parts()
    }

    /// Removes the parts of its shard, and what was left of one that was being written.
    fn remove_parts(&self) -> io::Result<()> {
        let beginning = format!("{}.part-", self.shard.stem());
        for name in names(&self.path)?.iter().filter(|name| name.starts_with(&beginning)) {
            let file = self.path.join(name);
            fs::remove_file(&file).map_err(|error| at(&file, &error))?;
        }
        Ok(())
    }

    fn part(&self, part: &Range<u64>) -> PathBuf {
        self.path.join(format!("{}.part-{:015}-{:015}.parquet", self.shard.stem(), part.start, part.end))
    }

    /// The parts of its shard, one after another without a gap.
    fn parts_there(&self) -> io::Result<Vec<Range<u64>>> {
        let beginning = format!("{}.part-", self.shard.stem());
        let mut found: Vec<Range<u64>> = names(&self.path)?
            .iter()
            .filter_map(|name| {
                let (from, until) =
                    name.strip_prefix(&beginning)?.strip_suffix(".parquet")?.split_once('-')?;
                Some(from.parse().ok()?..until.parse().ok()?)
            })
            .collect();
        found.sort_by_key(|part| part.start);
        let mut due = self.range().start;
        found.retain(|part| {
            let follows = part.start == due && part.end > due;
            due = if follows { part.end } else { due };
            follows
        });
        Ok(found)
    }
}

fn names(path: &Path) -> io::Result<Vec<String>> {
    let entries = fs::read_dir(path).map_err(|error| at(path, &error))?;
    entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

/// Removes what earlier sweeps have written.
fn clear(path: &Path) -> io::Result<()> {
    let old = |name: &String| {
        let table = name.starts_with("samples") && name.trim_end_matches(UNFINISHED).ends_with(".parquet");
        table || name == SWEEP
    };
    for name in names(path)?.iter().filter(|name| old(name)) {
        let file = path.join(name);
        fs::remove_file(&file).map_err(|error| at(&file, &error))?;
    }
    Ok(())
}

/// Writes which sweep it is, or finds it to be this one.
fn describe(path: &Path, sweep: &Sweep) -> Result<(), crate::folder::Error> {
    let description = Description::of(sweep);
    let name = path.join(SWEEP);
    if name.exists() {
        let found = read(path)?;
        let message = if found.sweep != description.sweep {
            "holds another sweep (its scene, samples, seed or what varies differ)".to_string()
        } else if found.version != description.version {
            format!("holds a sweep that was begun by carom {}, and this is {VERSION}", found.version)
        } else {
            return Ok(());
        };
        let message = format!("{} {message}", path.display());
        return Err(InputError::of_option(Some("out"), &message, Some("another folder, or --force")).into());
    }
    let scene = match sweep.input.format {
        carom::scene::Format::Toml => "scene.toml",
        carom::scene::Format::Json => "scene.json",
    };
    replace(&path.join(scene), sweep.input.text.as_bytes())?;
    if let Some(meshes) = mesh::document(&sweep.input.meshes) {
        replace(&path.join(mesh::KEPT), &meshes)?;
    }
    let text = serde_json::to_vec_pretty(&description).map_err(io::Error::from)?;
    Ok(replace(&name, &text)?)
}

fn read(path: &Path) -> Result<Description, InputError> {
    let name = path.join(SWEEP);
    let text = fs::read(&name).map_err(|error| {
        InputError::of_unreadable(name.display().to_string(), &format!("cannot be read: {error}"))
    })?;
    serde_json::from_slice(&text).map_err(|error| {
        InputError::of_unreadable(
            name.display().to_string(),
            &format!("is not a sweep's description: {error}"),
        )
    })
}

/// Makes `samples.parquet` of the tables of all shards; returns how many there were, and its path.
pub fn merge(path: &Path) -> Result<(u64, PathBuf), crate::folder::Error> {
    let description = read(path)?;
    let refuse =
        |message: String, expected: &str| InputError::of_option(Some("merge"), &message, Some(expected));
    let all = names(path)?;
    let counts = all.iter().filter_map(|name| {
        let (_, count) = name.strip_prefix("samples-")?.strip_suffix(".parquet")?.split_once("-of-")?;
        count.parse::<u64>().ok()
    });
    let Some(count) = counts.clone().max() else {
        let message = format!("{} has no tables of shards", path.display());
        return Err(refuse(message, "a folder to which `carom sweep --shard i/n` has written").into());
    };
    if counts.min() != Some(count) {
        let message = format!("{} has shards of sweeps that were divided differently", path.display());
        return Err(refuse(message, "one n in all of --shard i/n").into());
    }
    let shard = |number: u64| path.join(format!("{}.parquet", Shard { number, count }.stem()));
    let missing: Vec<String> =
        (1..=count).filter(|&number| !shard(number).exists()).map(|number| number.to_string()).collect();
    if !missing.is_empty() {
        let message =
            format!("{} has no table of the shards {} of {count}", path.display(), missing.join(", "));
        return Err(refuse(message, "all shards; the same command again finishes one").into());
    }
    let files: Vec<PathBuf> = (1..=count).map(shard).collect();
    let mut schema = None;
    let mut rows = 0;
    for name in &files {
        let builder = open(name)?;
        let found = builder.schema().clone();
        if found.metadata().get("carom.sweep") != Some(&description.sweep) {
            let message = format!("{} is not of the sweep that {SWEEP} describes", name.display());
            return Err(refuse(message, "shards of one sweep").into());
        }
        rows += builder.metadata().file_metadata().num_rows();
        schema.get_or_insert(found);
    }
    if u64::try_from(rows).ok() != Some(description.samples) {
        let message = format!("the shards have {rows} rows, and the sweep {} samples", description.samples);
        return Err(refuse(message, "shards of one sweep").into());
    }
    let table = path.join(SAMPLES);
    if let Some(schema) = schema {
        write(&table, |out| concatenate(Writer::new(schema, out)?, &files))?;
    }
    Ok((count, table))
}

fn join(sweep: &Sweep, parts: &[PathBuf], table: &Path) -> io::Result<()> {
    let schema = sweep.table(&[]).map_err(of_arrow)?.schema();
    write(table, |out| concatenate(Writer::new(schema, out)?, parts))
}

fn concatenate(mut writer: Writer<File>, parts: &[PathBuf]) -> io::Result<File> {
    for part in parts {
        let reader = open(part)?.with_batch_size(RUN).build().map_err(of_parquet)?;
        for rows in reader {
            writer.push(rows.map_err(of_arrow)?)?;
        }
    }
    writer.finish()
}

fn open(part: &Path) -> io::Result<ParquetRecordBatchReaderBuilder<File>> {
    let file = File::open(part).map_err(|error| at(part, &error))?;
    ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| at(part, &of_parquet(error)))
}
