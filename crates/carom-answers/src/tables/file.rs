//! Tables as Parquet files. A file's bytes depend on its rows alone: rows are written in runs of one length, whatever pieces
//! they come in.

use std::io::{self, Write};

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::concat::concat_batches;
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

/// Rows written at a time; a power of two that divides `GROUP`.
pub const RUN: usize = 1 << 13;

/// Rows of a row group.
const GROUP: usize = 1 << 17;

/// The size from which a column of distinct numbers is no longer written as a dictionary, in bytes.
const DICTIONARY: usize = 1 << 16;

/// A file of some rows, whole, in memory.
pub fn file(rows: &RecordBatch) -> io::Result<Vec<u8>> {
    let mut writer = Writer::new(rows.schema(), Vec::new())?;
    writer.push(rows.clone())?;
    writer.finish()
}

/// Twice, in the schema and here: some readers look at the file's metadata, and some at the schema's.
fn properties(schema: &SchemaRef) -> WriterProperties {
    let mut metadata: Vec<_> = schema.metadata().iter().collect();
    metadata.sort();
    let metadata = metadata.into_iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
    WriterProperties::builder()
        .set_max_row_group_row_count(Some(GROUP))
        .set_dictionary_page_size_limit(DICTIONARY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_key_value_metadata(Some(metadata.collect()))
        .build()
}

/// Writes rows in runs of one length, so that pages and row groups fall in the same places however the rows come.
pub struct Writer<W: Write + Send> {
    schema: SchemaRef,
    writer: ArrowWriter<W>,
    pending: Vec<RecordBatch>,
    rows: usize,
}

impl<W: Write + Send> Writer<W> {
    /// Begins a file of tables with this schema.
    pub fn new(schema: SchemaRef, out: W) -> io::Result<Self> {
        let writer = ArrowWriter::try_new(out, schema.clone(), Some(properties(&schema)));
        Ok(Self { schema, writer: writer.map_err(of_parquet)?, pending: Vec::new(), rows: 0 })
    }

    /// Takes rows.
    pub fn push(&mut self, batch: RecordBatch) -> io::Result<()> {
        self.rows += batch.num_rows();
        self.pending.push(batch);
        if self.rows < RUN {
            return Ok(());
        }
        let whole = concat_batches(&self.schema, &self.pending).map_err(of_arrow)?;
        let mut start = 0;
        while self.rows >= RUN {
            self.writer.write(&whole.slice(start, RUN)).map_err(of_parquet)?;
            (start, self.rows) = (start + RUN, self.rows - RUN);
        }
        self.pending = vec![whole.slice(start, self.rows)];
        Ok(())
    }

    /// Ends the file.
    pub fn finish(mut self) -> io::Result<W> {
        if self.rows > 0 {
            let rest = concat_batches(&self.schema, &self.pending).map_err(of_arrow)?;
            self.writer.write(&rest).map_err(of_parquet)?;
        }
        self.writer.into_inner().map_err(of_parquet)
    }
}

/// The error of the file itself where there is one.
pub fn of_parquet(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(cause) => *cause,
            Err(cause) => io::Error::other(cause),
        },
        other => io::Error::other(other),
    }
}

/// Likewise.
pub fn of_arrow(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, cause) => cause,
        ArrowError::ExternalError(cause) => match cause.downcast::<ParquetError>() {
            Ok(cause) => of_parquet(*cause),
            Err(cause) => io::Error::other(cause),
        },
        other => io::Error::other(other),
    }
}
