//! A run's folder read back: its scene, what happened, and the states on the way.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use carom::record::Recorder;
use carom::scene::model::Scene;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::atomic_file::at;
use super::names::{RESULT, copies, part_number, scene_file, table_name};
use crate::tables::file::{of_arrow, of_parquet};
use crate::tables::read::{Names, events, samples};
use crate::{InputError, Subject};

/// A run that is in a folder, ended or not.
pub struct Recording {
    /// Its scene.
    pub scene: Scene,
    /// The scene's text.
    pub text: String,
    /// The document of the result, if the run has ended.
    pub document: Option<Vec<u8>>,
    path: PathBuf,
}

impl Recording {
    /// Opens a folder; `read` reads the file of its scene.
    pub fn open(
        path: &Path,
        read: impl Fn(&Path) -> Result<Subject, InputError>,
    ) -> Result<Self, InputError> {
        let refuse = |message: &str, expected: &str| {
            let message = format!("{} {message}", path.display());
            Err(InputError::of_option(None, &message, Some(expected)))
        };
        if path.is_file() {
            let around = path.parent().filter(|parent| scene_file(parent).is_some());
            let here = |folder| if folder == Path::new("") { Path::new(".") } else { folder };
            let expected = around.map(|folder| format!("its folder, {}", here(folder).display()));
            let message = "is a file, and a run is a folder";
            return refuse(message, expected.as_deref().unwrap_or("a folder that `carom run -o` wrote"));
        }
        let Some(scene) = scene_file(path) else {
            let Some(copy) = copies(path).into_iter().next() else {
                return refuse("holds no run", "a folder that `carom run -o` wrote");
            };
            let others = "`carom plot --what g-r`, msd or vacf takes them together";
            return refuse("holds copies of a run", &format!("one of them, as {}; {others}", copy.display()));
        };
        let subject = read(&scene)?;
        let scene = carom::fill::populate(&subject.scene);
        let document = fs::read(path.join(RESULT)).ok();
        Ok(Self { scene, text: subject.input.text, document, path: path.to_path_buf() })
    }

    /// Plays everything that was recorded, table by table.
    pub fn play(&self, recorder: &mut impl Recorder) -> io::Result<()> {
        let names = Names::of(&self.scene);
        self.each_batch("samples", |batch| {
            recorder.samples(&samples(batch, &names)?);
            Some(())
        })?;
        self.each_batch("events", |batch| {
            // An event's contacts are taken together.
            for contacts in events(batch, &names)?.chunk_by(|a, b| a.number == b.number) {
                recorder.events(contacts);
            }
            Some(())
        })
    }

    /// The files of a table in their order: the whole, or the parts of an unfinished run.
    fn files(&self, table: &str) -> io::Result<Vec<PathBuf>> {
        let merged = self.path.join(table_name(table));
        if merged.exists() {
            return Ok(vec![merged]);
        }
        let mut parts = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let name = entry?.file_name();
            if let Some(number) = part_number(&name.to_string_lossy(), table) {
                parts.push((number, self.path.join(name)));
            }
        }
        parts.sort_unstable();
        Ok(parts.into_iter().map(|(_, path)| path).collect())
    }

    fn each_batch(&self, table: &str, mut take: impl FnMut(&RecordBatch) -> Option<()>) -> io::Result<()> {
        for file in self.files(table)? {
            each_batch(&file, |batch| {
                take(batch).ok_or_else(|| io::Error::other("not a table of this scene's run"))
            })?;
        }
        Ok(())
    }
}

/// Calls for each batch of a table's file.
pub(super) fn each_batch(
    path: &Path,
    mut take: impl FnMut(&RecordBatch) -> io::Result<()>,
) -> io::Result<()> {
    let mut read = || -> io::Result<()> {
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?).map_err(of_parquet)?;
        for batch in reader.build().map_err(of_parquet)? {
            take(&batch.map_err(of_arrow)?)?;
        }
        Ok(())
    };
    read().map_err(|error| at(path, &error))
}
