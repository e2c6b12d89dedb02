//! What a run recorded, as tables: the columns of the program's Parquet files, for pyarrow, pandas and polars through the Arrow
//! PyCapsule interface without a copy, and as NumPy columns for everyone.

use std::sync::Arc;

use arrow_array::builder::{Float64Builder, ListBuilder};
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch,
    RecordBatchIterator, StringArray, UInt8Array, UInt32Array,
};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

/// Adds what is here to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Table>()?;
    module.add_function(wrap_pyfunction!(table, module)?)
}

/// A table in memory.
#[pyclass(frozen, module = "carom._carom")]
pub struct Table {
    batch: RecordBatch,
}

impl Table {
    /// The table of a run, as the answers have it.
    pub fn of(rows: Result<RecordBatch, ArrowError>) -> PyResult<Self> {
        Ok(Self { batch: rows.map_err(|error| broken(&error))? })
    }
}

fn broken(error: &ArrowError) -> PyErr {
    PyRuntimeError::new_err(format!("the table cannot be handed over: {error}"))
}

#[pymethods]
impl Table {
    /// The table as a stream of one batch, whose memory is shared.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer that cannot convert ignore what is asked for.
        drop(requested_schema);
        let reader = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Its schema alone.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema =
            FFI_ArrowSchema::try_from(self.batch.schema().as_ref()).map_err(|error| broken(&error))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// How many rows.
    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// The columns by name: arrays of NumPy, or for names pairs of codes and words; lists for what is a list.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (field, column) in self.batch.schema().fields().iter().zip(self.batch.columns()) {
            columns.set_item(field.name(), column_of(py, column)?)?;
        }
        Ok(columns)
    }
}

/// A column of NumPy, for a table.
#[derive(FromPyObject)]
enum Given<'py> {
    Numbers(PyReadonlyArray1<'py, f64>),
    Flags(PyReadonlyArray1<'py, bool>),
    Bytes(PyReadonlyArray1<'py, u8>),
    Counts(PyReadonlyArray1<'py, u32>),
    Short(PyReadonlyArray1<'py, i32>),
    Whole(PyReadonlyArray1<'py, i64>),
    /// Codes, and the words that they stand for.
    Words(PyReadonlyArray1<'py, i32>, Vec<String>),
    Lists(Vec<Vec<f64>>),
}

impl Given<'_> {
    fn column(self) -> Result<ArrayRef, ArrowError> {
        Ok(match self {
            Self::Numbers(array) => {
                Arc::new(Float64Array::from_iter_values(array.as_array().iter().copied()))
            }
            Self::Flags(array) => Arc::new(BooleanArray::from(array.as_array().to_vec())),
            Self::Bytes(array) => Arc::new(UInt8Array::from_iter_values(array.as_array().iter().copied())),
            Self::Counts(array) => Arc::new(UInt32Array::from_iter_values(array.as_array().iter().copied())),
            Self::Short(array) => Arc::new(Int32Array::from_iter_values(array.as_array().iter().copied())),
            Self::Whole(array) => Arc::new(Int64Array::from_iter_values(array.as_array().iter().copied())),
            Self::Words(codes, words) => {
                let codes = Int32Array::from_iter_values(codes.as_array().iter().copied());
                Arc::new(DictionaryArray::try_new(codes, Arc::new(StringArray::from(words)))?)
            }
            Self::Lists(rows) => {
                let mut lists = ListBuilder::new(Float64Builder::new());
                for row in rows {
                    lists.values().append_slice(&row);
                    lists.append(true);
                }
                Arc::new(lists.finish())
            }
        })
    }
}

/// A table of NumPy columns of one length, copied once.
#[pyfunction]
fn table(columns: Vec<(String, Given<'_>)>) -> PyResult<Table> {
    let made = || -> Result<RecordBatch, ArrowError> {
        let columns = columns
            .into_iter()
            .map(|(name, given)| Ok((name, given.column()?)))
            .collect::<Result<Vec<_>, ArrowError>>()?;
        let fields: Vec<Field> = columns
            .iter()
            .map(|(name, column)| Field::new(name, column.data_type().clone(), false))
            .collect();
        let columns = columns.into_iter().map(|(_, column)| column).collect();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
    };
    Table::of(made())
}

fn column_of<'py>(py: Python<'py>, column: &ArrayRef) -> PyResult<Bound<'py, PyAny>> {
    Ok(match column.data_type() {
        DataType::Float64 => {
            let column = column.as_primitive::<Float64Type>();
            let numbers = column.iter().map(|number| number.unwrap_or(f64::NAN));
            PyArray1::from_iter(py, numbers).into_any()
        }
        DataType::Int32 => PyArray1::from_slice(py, column.as_primitive::<Int32Type>().values()).into_any(),
        // Numbers of events; none is −1.
        DataType::UInt64 => {
            let column = column.as_primitive::<UInt64Type>();
            let numbers = column
                .iter()
                .map(|number| number.map_or(-1, |number| i64::try_from(number).unwrap_or(i64::MAX)));
            PyArray1::from_iter(py, numbers).into_any()
        }
        DataType::Boolean => {
            PyArray1::from_iter(py, column.as_boolean().iter().map(|flag| flag.unwrap_or(false))).into_any()
        }
        DataType::Dictionary(..) => {
            let column = column.as_dictionary::<Int32Type>();
            let mut words: Vec<&str> =
                column.values().as_string::<i32>().iter().map(Option::unwrap_or_default).collect();
            // What is missing is an empty word.
            let missing = i32::try_from(words.len()).unwrap_or(i32::MAX);
            if column.null_count() > 0 {
                words.push("");
            }
            let codes = PyArray1::from_iter(py, column.keys().iter().map(|code| code.unwrap_or(missing)));
            (codes, words).into_pyobject(py)?.into_any()
        }
        DataType::Utf8 => {
            let words: Vec<&str> = column.as_string::<i32>().iter().map(Option::unwrap_or_default).collect();
            let codes = PyArray1::from_iter(py, 0..i32::try_from(words.len()).unwrap_or(i32::MAX));
            (codes, words).into_pyobject(py)?.into_any()
        }
        _ => {
            let lists = column.as_list::<i32>().iter().map(|row| {
                let numbers = row.map(|row| row.as_primitive::<Float64Type>().values().to_vec());
                PyArray1::from_vec(py, numbers.unwrap_or_default())
            });
            PyList::new(py, lists.collect::<Vec<_>>())?.into_any()
        }
    })
}
