//! A run's folder read back: its scene, what happened, and the states on the way.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use carom::record::Recorder;
use carom::scene::model::Scene;
use carom_answers::Refusal;
use carom_answers::tables::read::{Names, events, samples};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::super::input::read_scene;
use super::folder;
use super::shelf::is_part;
use super::whole::at;
use crate::Failure;

/// A run that is in a folder, ended or not.
pub struct Recording {
    /// Its scene.
    pub scene: Scene,
    /// The scene's text.
    pub text: String,
    /// The document of the result, where the run has come to an end.
    pub document: Option<Vec<u8>>,
    path: PathBuf,
}

impl Recording {
    /// Opens a folder.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        if path.is_file() {
            let message = format!("{} is a file, and a run is a folder", path.display());
            let around = path.parent().filter(|parent| folder::scene_file(parent).is_some());
            let expected = around.map_or_else(
                || "a folder that `carom run -o` wrote".to_string(),
                |folder| {
                    format!(
                        "its folder, {}",
                        if folder == Path::new("") { Path::new(".") } else { folder }.display()
                    )
                },
            );
            return Err(Refusal::of_option(None, &message, Some(&expected)).into());
        }
        let scene = folder::scene_file(path).ok_or_else(|| {
            if let Some(copy) = folder::copies(path).first() {
                let message = format!("{} holds copies of a run", path.display());
                let expected = format!(
                    "one of them, as {}; `carom plot --what g-r`, msd or vacf takes them together",
                    copy.display()
                );
                return Refusal::of_option(None, &message, Some(&expected));
            }
            let message = format!("{} holds no run", path.display());
            Refusal::of_option(None, &message, Some("a folder that `carom run -o` wrote"))
        })?;
        let subject = read_scene(&scene)?;
        let scene = carom::fill::populate(&subject.scene);
        let document = fs::read(path.join(folder::RESULT)).ok();
        Ok(Self { scene, text: subject.input.text, document, path: path.to_path_buf() })
    }

    /// Plays everything that was recorded, table by table.
    pub fn play(&self, recorder: &mut impl Recorder) -> io::Result<()> {
        let names = Names::of(&self.scene);
        self.each_batch("samples", |batch| {
            let samples = samples(batch, &names)?;
            recorder.samples(&samples);
            Some(())
        })?;
        self.each_batch("events", |batch| {
            // An event's contacts are taken together.
            let events = events(batch, &names)?;
            for contacts in events.chunk_by(|a, b| a.number == b.number) {
                recorder.events(contacts);
            }
            Some(())
        })
    }

    /// The files of a table in their order: the whole, or the parts of a run that did not come to its end.
    fn files(&self, table: &str) -> io::Result<Vec<PathBuf>> {
        let whole = self.path.join(format!("{table}.parquet"));
        if whole.exists() {
            return Ok(vec![whole]);
        }
        let mut parts = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let name = entry?.file_name();
            if let Some(number) = is_part(&name.to_string_lossy(), table) {
                parts.push((number, self.path.join(name)));
            }
        }
        parts.sort_unstable();
        Ok(parts.into_iter().map(|(_, path)| path).collect())
    }

    fn each_batch(&self, table: &str, mut take: impl FnMut(&RecordBatch) -> Option<()>) -> io::Result<()> {
        for file in self.files(table)? {
            let place = |error: &io::Error| at(&file, error);
            let open = File::open(&file).map_err(|error| place(&error))?;
            let reader = ParquetRecordBatchReaderBuilder::try_new(open).and_then(|builder| builder.build());
            for batch in reader.map_err(|error| place(&io::Error::other(error)))? {
                let batch = batch.map_err(|error| place(&io::Error::other(error)))?;
                take(&batch).ok_or_else(|| place(&io::Error::other("not a table of this scene's run")))?;
            }
        }
        Ok(())
    }
}
