//! Writes one table of a run's folder: rows in memory, parts of some thousand rows on the disk, and one file at the end.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use carom::scene::model::Scene;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::atomic_file::{at, replace, write};
use super::names::{Metadata, part_name, table_name};
use crate::tables::About;
use crate::tables::file::{RUN, Writer, file, of_arrow, of_parquet};

/// The most rows of a table kept in memory.
const ROWS: usize = 1 << 16;

/// Makes a table of rows.
type RowsOf<T> = fn(&Scene, &[T], &About) -> Result<RecordBatch, ArrowError>;

/// Writes one table.
pub(super) struct TableWriter<T> {
    folder: PathBuf,
    name: &'static str,
    about: Metadata,
    scene: Arc<Scene>,
    rows_of: RowsOf<T>,
    buffer: Vec<T>,
    /// How many parts there are.
    pub parts: u32,
    /// Their rows.
    pub rows: u64,
}

impl<T: Clone> TableWriter<T> {
    /// A writer of a table that is still empty.
    pub fn new(
        folder: &Path,
        name: &'static str,
        about: &Metadata,
        scene: &Arc<Scene>,
        rows_of: RowsOf<T>,
    ) -> Self {
        let (folder, about, scene) = (folder.to_path_buf(), about.clone(), scene.clone());
        Self { folder, name, about, scene, rows_of, buffer: Vec::new(), parts: 0, rows: 0 }
    }

    /// Takes rows.
    pub fn take(&mut self, rows: &[T]) -> io::Result<()> {
        self.buffer.extend_from_slice(rows);
        if self.buffer.len() >= ROWS { self.flush() } else { Ok(()) }
    }

    /// Writes the rows in memory as a part.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let rows = (self.rows_of)(&self.scene, &self.buffer, &self.about).map_err(of_arrow)?;
        let part = self.parts + 1;
        replace(&self.folder.join(part_name(self.name, part)), &file(&rows)?)?;
        self.parts = part;
        self.rows += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Makes one file of the parts.
    pub fn merge(&self) -> io::Result<()> {
        let schema = (self.rows_of)(&self.scene, &[], &self.about).map_err(of_arrow)?.schema();
        write(&self.folder.join(table_name(self.name)), |out| {
            let mut writer = Writer::new(schema, out)?;
            for part in (1..=self.parts).map(|part| self.folder.join(part_name(self.name, part))) {
                add(&mut writer, &part).map_err(|error| at(&part, &error))?;
            }
            writer.finish()
        })
    }
}

/// Adds the rows of a part.
fn add(writer: &mut Writer<File>, part: &Path) -> io::Result<()> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(part)?).map_err(of_parquet)?;
    for rows in reader.with_batch_size(RUN).build().map_err(of_parquet)? {
        writer.push(rows.map_err(of_arrow)?)?;
    }
    Ok(())
}
