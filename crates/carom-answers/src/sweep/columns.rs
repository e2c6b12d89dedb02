//! Columns of numbers of a sweep's table, for pictures.

use std::fs::File;
use std::path::Path;

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_schema::DataType;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::folder::SAMPLES;
use crate::InputError;
use crate::folder::Error;
use crate::folder::atomic_file::at;
use crate::tables::file::{of_arrow, of_parquet};

/// Whether a folder has the table of a sweep.
pub fn is_sweep(folder: &Path) -> bool {
    folder.join(super::folder::SWEEP).exists()
}

/// Columns of the table in a sweep's folder, by their names, each under the option that asks for it. What is missing is not a number.
pub fn columns(folder: &Path, wanted: &[(&str, &str)]) -> Result<Vec<Vec<f64>>, Error> {
    let path = folder.join(SAMPLES);
    if !path.exists() {
        let message = format!("{} has no {SAMPLES}", folder.display());
        let expected = "the folder of a sweep that has come to its end, or whose shards have been merged";
        return Err(InputError::of_option(None, &message, Some(expected)).into());
    }
    let file = File::open(&path).map_err(|error| at(&path, &error))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(of_parquet)?;
    let schema = builder.schema().clone();
    let known: Vec<&str> = schema
        .fields()
        .iter()
        .filter(|field| matches!(field.data_type(), DataType::Float64 | DataType::UInt64))
        .map(|field| field.name().as_str())
        .collect();
    for (option, name) in wanted {
        if !known.contains(name) {
            let message = format!("the sweep has no column of numbers `{name}`");
            let expected = format!("one of {}", known.join(", "));
            return Err(InputError::of_option(Some(option), &message, Some(&expected)).into());
        }
    }
    // By place: a name with dots would be taken for a path.
    let places = wanted.iter().filter_map(|(_, name)| schema.index_of(name).ok());
    let mask = ProjectionMask::roots(builder.parquet_schema(), places);
    let mut found = vec![Vec::new(); wanted.len()];
    for rows in builder.with_projection(mask).build().map_err(of_parquet)? {
        let rows = rows.map_err(of_arrow)?;
        for ((_, name), numbers) in wanted.iter().zip(&mut found) {
            if let Some(column) = rows.column_by_name(name) {
                extend(numbers, column);
            }
        }
    }
    Ok(found)
}

#[expect(clippy::cast_precision_loss, reason = "counts, for pictures")]
fn extend(numbers: &mut Vec<f64>, column: &ArrayRef) {
    if let Some(column) = column.as_primitive_opt::<Float64Type>() {
        numbers.extend(column.iter().map(|x| x.unwrap_or(f64::NAN)));
    } else if let Some(column) = column.as_primitive_opt::<UInt64Type>() {
        numbers.extend(column.iter().map(|x| x.map_or(f64::NAN, |x| x as f64)));
    }
}
