//! One table of a run's folder on its way to the disk: rows, parts of some thousand rows, and one file at the end.

use std::fs::File;
use std::io;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use carom::scene::model::Scene;
use carom_answers::tables::About;
use carom_answers::tables::file::{RUN, Writer, file, of_arrow, of_parquet};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::whole::{at, replace, write};

/// The most rows of a table kept in memory.
const ROWS: usize = 1 << 16;

/// For the metadata of files.
pub type Metadata = [(&'static str, String); 3];

/// Makes a table of rows.
type RowsOf<T> = fn(&Scene, &[T], &About) -> Result<RecordBatch, ArrowError>;

/// One table's rows on their way to its parts.
pub struct Shelf<T> {
    name: &'static str,
    about: Metadata,
    rows_of: RowsOf<T>,
    buffer: Vec<T>,
    /// How many parts there are.
    pub parts: u32,
    /// Their rows.
    pub rows: u64,
}

impl<T: Clone> Shelf<T> {
    /// An empty one of a table with a name, which is that of its file.
    pub fn new(name: &'static str, about: &Metadata, rows_of: RowsOf<T>) -> Self {
        Self { name, about: about.clone(), rows_of, buffer: Vec::new(), parts: 0, rows: 0 }
    }

    /// Takes rows.
    pub fn take(&mut self, path: &Path, scene: &Scene, rows: &[T]) -> io::Result<()> {
        self.buffer.extend_from_slice(rows);
        if self.buffer.len() >= ROWS { self.flush(path, scene) } else { Ok(()) }
    }

    /// Writes what was taken.
    pub fn flush(&mut self, path: &Path, scene: &Scene) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let rows = (self.rows_of)(scene, &self.buffer, &self.about).map_err(of_arrow)?;
        let part = self.parts + 1;
        replace(&path.join(part_name(self.name, part)), &file(&rows)?)?;
        self.parts = part;
        self.rows += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Makes one file of the parts.
    pub fn merge(&self, path: &Path, scene: &Scene) -> io::Result<()> {
        let schema = (self.rows_of)(scene, &[], &self.about).map_err(of_arrow)?.schema();
        let whole = path.join(format!("{}.parquet", self.name));
        write(&whole, |out| {
            let mut writer = Writer::new(schema, out)?;
            for part in (1..=self.parts).map(|part| path.join(part_name(self.name, part))) {
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

/// The name of a part.
pub fn part_name(table: &str, part: u32) -> String {
    format!("{table}-{part:05}.parquet")
}

/// The number of a part, if the name is that of one.
pub fn is_part(name: &str, table: &str) -> Option<u32> {
    let part = name.strip_prefix(table)?.strip_prefix('-')?.strip_suffix(".parquet")?.parse().ok()?;
    (name == part_name(table, part)).then_some(part)
}

#[cfg(test)]
mod tests {
    use super::is_part;

    #[test]
    fn parts_have_numbers() {
        assert_eq!(is_part("events-00012.parquet", "events"), Some(12));
        assert_eq!(is_part("events-00012.parquet", "samples"), None);
        assert_eq!(is_part("events-12.parquet", "events"), None);
    }
}
