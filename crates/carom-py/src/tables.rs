//! What a run recorded, as tables: the columns of the program's Parquet files, for pyarrow, pandas and polars through the Arrow
//! PyCapsule interface without a copy, and as NumPy columns for everyone.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, ListBuilder};
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch,
    RecordBatchIterator, StringArray, UInt8Array, UInt32Array, UInt64Array,
};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use carom::record::{Event, JointReaction, Moment, Sample};
use carom::scene::instant;
use carom::scene::model::Scene;
use carom_answers::run::moment_name;
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
    Ok(Table { batch: made().map_err(|error| broken(&error))? })
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
            let codes = PyArray1::from_slice(py, column.keys().values());
            let words: Vec<&str> =
                column.values().as_string::<i32>().iter().map(Option::unwrap_or_default).collect();
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

/// Columns that are being put together.
struct Columns<'a, T> {
    rows: &'a [T],
    fields: Vec<Field>,
    columns: Vec<ArrayRef>,
}

impl<'a, T> Columns<'a, T> {
    fn new(rows: &'a [T]) -> Self {
        Self { rows, fields: Vec::new(), columns: Vec::new() }
    }

    fn push(&mut self, field: Field, column: ArrayRef) {
        self.fields.push(field);
        self.columns.push(column);
    }

    fn number(&mut self, name: &str, unit: &str, value: impl Fn(&T) -> f64) {
        let field = with_unit(Field::new(name, DataType::Float64, false), unit);
        self.push(field, Arc::new(Float64Array::from_iter_values(self.rows.iter().map(value))));
    }

    fn optional(&mut self, name: &str, unit: &str, value: impl Fn(&T) -> Option<f64>) {
        let field = with_unit(Field::new(name, DataType::Float64, true), unit);
        self.push(field, Arc::new(self.rows.iter().map(value).collect::<Float64Array>()));
    }

    /// Three numbers, or four, under names of their own.
    fn numbers<const N: usize>(&mut self, names: [&str; N], unit: &str, value: impl Fn(&T) -> [f64; N]) {
        for (i, name) in names.into_iter().enumerate() {
            self.number(name, unit, |row| value(row)[i]);
        }
    }

    fn whole(&mut self, name: &str, value: impl Fn(&T) -> u64) {
        let column = UInt64Array::from_iter_values(self.rows.iter().map(value));
        self.push(Field::new(name, DataType::UInt64, false), Arc::new(column));
    }

    fn name<'v>(&mut self, name: &str, value: impl Fn(&'a T) -> &'v str) {
        let words = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let column: DictionaryArray<Int32Type> = self.rows.iter().map(value).collect();
        self.push(Field::new(name, words, false), Arc::new(column));
    }

    fn table(self, name: &str) -> PyResult<Table> {
        let about = HashMap::from([("carom.table".to_string(), name.to_string())]);
        let schema = Arc::new(Schema::new_with_metadata(self.fields, about));
        let batch = RecordBatch::try_new(schema, self.columns).map_err(|error| broken(&error))?;
        Ok(Table { batch })
    }
}

fn with_unit(field: Field, unit: &str) -> Field {
    field.with_metadata(HashMap::from([("unit".to_string(), unit.to_string())]))
}

/// One row for every contact of an event.
pub fn events(scene: &Scene, rows: &[Event]) -> PyResult<Table> {
    let mut columns = Columns::new(rows);
    columns.whole("number", |event| event.number);
    columns.number("time", "s", |event| event.time);
    columns.number("time_error", "s", |event| event.time_error);
    columns.name("kind", |event| event.kind.name());
    columns.name("first", |event| instant::name(scene, event.sides[0]));
    columns.name("second", |event| instant::name(scene, event.sides[1]));
    for (i, name) in ["image_x", "image_y", "image_z"].into_iter().enumerate() {
        let field = with_unit(Field::new(name, DataType::Int32, false), "1");
        let column = Int32Array::from_iter_values(rows.iter().map(|event| event.image[i]));
        columns.push(field, Arc::new(column));
    }
    columns.numbers(["point_x", "point_y", "point_z"], "m", |event| event.point.into());
    columns.numbers(["normal_x", "normal_y", "normal_z"], "1", |event| event.normal.into());
    columns.number("gap", "m", |event| event.gap);
    columns.number("approach", "m/s", |event| event.approach);
    columns.number("separation", "m/s", |event| event.separation);
    columns.number("impulse", "N s", |event| event.impulse);
    columns.numbers(["impulse_x", "impulse_y", "impulse_z"], "N s", |event| event.impulse_vector.into());
    columns.name("type", |event| event.class);
    columns.optional("g2", "m/s^2", |event| event.g2);
    columns.optional("g3", "m/s^3", |event| event.g3);
    columns.optional("force_slope", "N/s", |event| event.force_slope);
    columns.optional("limit_time", "s", |event| event.limit.map(|[time, _]| time));
    columns.optional("limit_error", "s", |event| event.limit.map(|[_, error]| error));
    columns.number("energy_before", "J", |event| event.energy_before);
    columns.number("energy_after", "J", |event| event.energy_after);
    columns.table("events")
}

/// One row for every body at every moment.
pub fn samples(scene: &Scene, rows: &[Sample]) -> PyResult<Table> {
    let mut columns = Columns::new(rows);
    columns.number("time", "s", |sample| sample.time);
    columns.name("body", |sample| scene.bodies[sample.body].name.as_str());
    columns.name("moment", |sample| moment_name(sample.moment));
    let numbers = rows.iter().map(|sample| match sample.moment {
        Moment::Sample => None,
        Moment::Before(number) | Moment::After(number) => Some(number),
    });
    columns.push(Field::new("event", DataType::UInt64, true), Arc::new(numbers.collect::<UInt64Array>()));
    columns.numbers(["px", "py", "pz"], "m", |sample| sample.state.position.into());
    columns.numbers(["qw", "qx", "qy", "qz"], "1", |sample| {
        let q = sample.state.orientation;
        [q.w, q.i, q.j, q.k]
    });
    columns.numbers(["vx", "vy", "vz"], "m/s", |sample| sample.state.velocity.into());
    columns.numbers(["wx", "wy", "wz"], "rad/s", |sample| sample.state.angular_velocity.into());
    columns.table("samples")
}

/// One row for every joint in every impact.
pub fn joint_impulses(scene: &Scene, events: &[Event]) -> PyResult<Table> {
    // The contacts of an event share what its joints carried.
    let mut last = None;
    let mut rows = Vec::new();
    for event in events {
        if last != Some(event.number) {
            rows.extend(event.joints.iter().map(|joint| (event.number, event.time, joint)));
        }
        last = Some(event.number);
    }
    let mut columns = Columns::new(&rows);
    columns.whole("number", |(number, ..)| *number);
    columns.number("time", "s", |(_, time, _)| *time);
    columns.name("joint", |(.., row)| scene.joints[row.joint].name.as_str());
    let mut impulses = ListBuilder::new(Float64Builder::new());
    for (.., row) in &rows {
        impulses.values().append_slice(&row.impulse);
        impulses.append(true);
    }
    let list = DataType::List(Arc::new(Field::new("item", DataType::Float64, true)));
    columns.push(Field::new("impulse", list, false), Arc::new(impulses.finish()));
    columns.numbers(["linear_x", "linear_y", "linear_z"], "N s", |(.., row)| row.linear.into());
    columns.numbers(["angular_x", "angular_y", "angular_z"], "N m s", |(.., row)| row.angular.into());
    columns.numbers(["point_x", "point_y", "point_z"], "m", |(.., row)| row.point.into());
    let determined: Vec<bool> = rows.iter().map(|(.., row)| row.determined).collect();
    columns
        .push(Field::new("determined", DataType::Boolean, false), Arc::new(BooleanArray::from(determined)));
    columns.table("joint_impulses")
}

/// One row for every joint at every sample.
pub fn reactions(scene: &Scene, rows: &[JointReaction]) -> PyResult<Table> {
    let mut columns = Columns::new(rows);
    columns.number("time", "s", |row| row.time);
    columns.name("joint", |row| scene.joints[row.joint].name.as_str());
    columns.numbers(["force_x", "force_y", "force_z"], "N", |row| row.force.into());
    columns.numbers(["torque_x", "torque_y", "torque_z"], "N m", |row| row.torque.into());
    columns.numbers(["point_x", "point_y", "point_z"], "m", |row| row.point.into());
    columns.table("reactions")
}
