//! What the table of a sweep says as a whole.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, UInt64Type};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde::Serialize;

use super::Sweep;
use crate::VERSION;
use crate::folder::atomic_file::at;
use crate::tables::file::{of_arrow, of_parquet};

/// Reasons that are told.
const REASONS: usize = 5;

/// The columns that are read.
const COLUMNS: [&str; 7] =
    ["sample", "stopped", "reason", "events", "impacts", "energy_error_max", "gap_min"];

/// A table in short.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Summary {
    /// Its rows.
    pub rows: u64,
    /// How many ended how.
    pub stopped: BTreeMap<String, u64>,
    /// The first samples that did not end as they should, and why.
    pub reasons: Vec<(u64, String)>,
    /// Events of all.
    pub events: u64,
    /// Impacts of all.
    pub impacts: u64,
    /// The worst of the audits' errors of the energy.
    pub energy_error_max: f64,
    /// The smallest gap.
    pub gap_min: Option<f64>,
}

impl Summary {
    /// That of a table on the disk.
    pub fn read(path: &Path) -> io::Result<Self> {
        let file = File::open(path).map_err(|error| at(path, &error))?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(of_parquet)?;
        let mask = ProjectionMask::columns(builder.parquet_schema(), COLUMNS);
        let mut summary = Self::default();
        for rows in builder.with_projection(mask).build().map_err(of_parquet)? {
            summary.add(&rows.map_err(of_arrow)?);
        }
        Ok(summary)
    }

    /// Adds some rows.
    pub fn add(&mut self, rows: &RecordBatch) {
        self.rows += rows.num_rows() as u64;
        let column = |name: &str| rows.column_by_name(name);
        if let Some(names) = column("stopped").and_then(|c| c.as_dictionary_opt::<Int32Type>())
            && let Some(names) = names.downcast_dict::<arrow_array::StringArray>()
        {
            for name in names.into_iter().flatten() {
                *self.stopped.entry(name.to_string()).or_default() += 1;
            }
        }
        if let (Some(samples), Some(reasons)) = (
            column("sample").and_then(|c| c.as_primitive_opt::<UInt64Type>()),
            column("reason").and_then(|c| c.as_string_opt::<i32>()),
        ) {
            let told =
                samples.values().iter().zip(reasons).filter_map(|(&k, why)| Some((k, why?.to_string())));
            self.reasons.extend(told.take(REASONS.saturating_sub(self.reasons.len())));
        }
        let whole = |name: &str| {
            let counts = column(name).and_then(|c| c.as_primitive_opt::<UInt64Type>());
            counts.map_or(0, |counts| counts.iter().flatten().sum::<u64>())
        };
        self.events += whole("events");
        self.impacts += whole("impacts");
        let numbers = |name: &str| column(name).and_then(|c| c.as_primitive_opt::<Float64Type>());
        if let Some(errors) = numbers("energy_error_max") {
            let worst = |worst: f64, error: f64| if error > worst || error.is_nan() { error } else { worst };
            self.energy_error_max = errors.iter().flatten().fold(self.energy_error_max, worst);
        }
        if let Some(gaps) = numbers("gap_min") {
            self.gap_min = gaps.iter().flatten().chain(self.gap_min).min_by(f64::total_cmp);
        }
    }
}

/// A sweep for programs.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    title: Option<&'a str>,
    version: &'static str,
    scene: String,
    sweep: &'a str,
    varied: &'a [String],
    samples: u64,
    seed: u64,
    shard: Option<[u64; 2]>,
    finished: bool,
    /// The samples of the shard that have rows.
    done: u64,
    table: Option<String>,
    summary: Option<&'a Summary>,
    performance: Performance,
}

#[derive(Debug, Serialize)]
struct Performance {
    samples: u64,
    wall_s: f64,
    samples_per_s: f64,
    threads: usize,
}

/// What there is to report of one call.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// Which part of the sweep.
    pub shard: super::Shard,
    /// The samples of the shard that have rows.
    pub done: u64,
    /// Those of them that this call has run.
    pub run: u64,
    /// The table, once it is there.
    pub table: Option<&'a Path>,
    /// What it says.
    pub summary: Option<&'a Summary>,
    /// How long it took.
    pub wall_s: f64,
    /// How many threads worked.
    pub threads: usize,
}

impl Sweep {
    /// For programs.
    #[expect(clippy::cast_precision_loss, reason = "fewer samples than 2^53")]
    pub fn document<'a>(&'a self, call: &Call<'a>) -> Document<'a> {
        Document {
            title: self.title(),
            version: VERSION,
            scene: self.input.hash(),
            sweep: &self.identity,
            varied: self.plan.columns(),
            samples: self.samples(),
            seed: self.plan.settings().seed,
            shard: (call.shard != super::Shard::WHOLE).then_some([call.shard.number, call.shard.count]),
            finished: call.table.is_some(),
            done: call.done,
            table: call.table.map(|path| path.display().to_string()),
            summary: call.summary,
            performance: Performance {
                samples: call.run,
                wall_s: call.wall_s,
                samples_per_s: call.run as f64 / call.wall_s,
                threads: call.threads,
            },
        }
    }
}
