//! One table of a run's folder on its way to the disk: rows, parts of some thousand rows, and one file at the end.

use std::io;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use carom::scene::model::Scene;

use super::table::Table;
use super::whole::{replace, write};

/// The most rows of a table kept in memory.
const ROWS: usize = 1 << 16;

/// One table's rows on their way to its parts.
pub struct Shelf<T> {
    table: Table,
    rows_of: fn(&Table, &Scene, &[T]) -> io::Result<RecordBatch>,
    buffer: Vec<T>,
    /// How many parts there are.
    pub parts: u32,
    /// Their rows.
    pub rows: u64,
}

impl<T: Clone> Shelf<T> {
    /// An empty one.
    pub fn new(table: Table, rows_of: fn(&Table, &Scene, &[T]) -> io::Result<RecordBatch>) -> Self {
        Self { table, rows_of, buffer: Vec::new(), parts: 0, rows: 0 }
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
        let rows = (self.rows_of)(&self.table, scene, &self.buffer)?;
        let part = self.parts + 1;
        replace(&path.join(part_name(self.table.name, part)), &self.table.file(&rows)?)?;
        self.parts = part;
        self.rows += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Makes one file of the parts.
    pub fn merge(&self, path: &Path) -> io::Result<()> {
        let parts: Vec<PathBuf> =
            (1..=self.parts).map(|part| path.join(part_name(self.table.name, part))).collect();
        let whole = path.join(format!("{}.parquet", self.table.name));
        write(&whole, |file| self.table.merge(&parts, file))
    }
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
