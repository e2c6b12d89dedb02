//! What a run records, as Arrow tables: the columns of the program's Parquet files and of the Python package's tables.
//!
//! | table | a row is | columns |
//! | --- | --- | --- |
//! | `events` | one contact of an event | `number`, `time`, `time_error`, `kind`, `first`, `second`, `image_x` …, `point_x` …, `normal_x` …, `gap`, `approach`, `separation`, `impulse`, `impulse_x` …, `type`, `g2`, `g3`, `force_slope`, `limit_time`, `limit_error`, `energy_before`, `energy_after` |
//! | `observables` | one block of a gas's averages | `block`, `begin`, `end`, `collisions`, `compressibility`, `collision_rate`, `temperature_translational`, `temperature_rotational`, `packing_fraction`, `pressure`, `mean_free_path`, `nematic_order` |
//! | `samples` | one body at one moment | `time`, `body`, `moment`, `event`, `px` …, `qw`, `qx` …, `vx` …, `wx` … |
//! | `derivatives` | one number's derivative by one parameter | `parameter`, `body`, `event`, `quantity` (`px` … of a body, `time` and `impulse` of an event), `value` (null where there is none) |
//! | `joint_impulses` | one joint in one impact | `number`, `time`, `joint`, `impulse` (a list, one for each row), `linear_x` …, `angular_x` …, `point_x` …, `determined` |
//! | `reactions` | one joint at one sample | `time`, `joint`, `force_x` …, `torque_x` …, `point_x` … |
//!
//! Every number's unit is in its field's metadata under `unit`. Names are dictionaries. [`mod@file`] writes Parquet, and
//! [`read`] makes events, samples and the rest of tables again.

pub mod encounters;
pub mod file;
pub mod read;

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, ListBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, RecordBatch, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use carom::observe::{BlockMeans, Quantity};
use carom::record::{Event, JointImpulse, JointReaction, Moment, Sample};
use carom::scene::instant;
use carom::scene::model::Scene;

use crate::run::{DerivativesEntry, moment_name};

/// What a table's metadata says besides its name: keys, which get `carom.` before them, and values.
pub type About<'a> = [(&'a str, String)];

/// Columns that are being put together, each with its field.
pub(crate) struct Columns<'a, T> {
    rows: &'a [T],
    fields: Vec<Field>,
    columns: Vec<ArrayRef>,
}

impl<'a, T> Columns<'a, T> {
    pub(crate) fn new(rows: &'a [T]) -> Self {
        Self { rows, fields: Vec::new(), columns: Vec::new() }
    }

    pub(crate) fn push(&mut self, field: Field, column: ArrayRef) {
        self.fields.push(field);
        self.columns.push(column);
    }

    pub(crate) fn number(&mut self, name: &str, unit: &str, value: impl Fn(&T) -> f64) {
        let field = with_unit(Field::new(name, DataType::Float64, false), unit);
        self.push(field, Arc::new(Float64Array::from_iter_values(self.rows.iter().map(value))));
    }

    pub(crate) fn optional(&mut self, name: &str, unit: &str, value: impl Fn(&T) -> Option<f64>) {
        let field = with_unit(Field::new(name, DataType::Float64, true), unit);
        self.push(field, Arc::new(self.rows.iter().map(value).collect::<Float64Array>()));
    }

    /// Three numbers, or four, under names of their own.
    fn numbers<const N: usize>(&mut self, names: [&str; N], unit: &str, value: impl Fn(&T) -> [f64; N]) {
        for (i, name) in names.into_iter().enumerate() {
            self.number(name, unit, |row| value(row)[i]);
        }
    }

    pub(crate) fn whole(&mut self, name: &str, value: impl Fn(&T) -> u64) {
        let column = UInt64Array::from_iter_values(self.rows.iter().map(value));
        self.push(Field::new(name, DataType::UInt64, false), Arc::new(column));
    }

    pub(crate) fn name<'v>(&mut self, name: &str, value: impl Fn(&'a T) -> &'v str) {
        let words = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let column: DictionaryArray<Int32Type> = self.rows.iter().map(value).collect();
        self.push(Field::new(name, words, false), Arc::new(column));
    }

    pub(crate) fn table(self, name: &str, about: &About) -> Result<RecordBatch, ArrowError> {
        let mut metadata = HashMap::from([("carom.table".to_string(), name.to_string())]);
        metadata.extend(about.iter().map(|(key, value)| (format!("carom.{key}"), value.clone())));
        RecordBatch::try_new(Arc::new(Schema::new_with_metadata(self.fields, metadata)), self.columns)
    }
}

pub(crate) fn with_unit(field: Field, unit: &str) -> Field {
    field.with_metadata(HashMap::from([("unit".to_string(), unit.to_string())]))
}

/// One row for every contact of an event.
pub fn events(scene: &Scene, rows: &[Event], about: &About) -> Result<RecordBatch, ArrowError> {
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
    columns.name("type", |event| event.class.name());
    columns.optional("g2", "m/s^2", |event| event.g2);
    columns.optional("g3", "m/s^3", |event| event.g3);
    columns.optional("force_slope", "N/s", |event| event.force_slope);
    columns.optional("limit_time", "s", |event| event.limit.map(|[time, _]| time));
    columns.optional("limit_error", "s", |event| event.limit.map(|[_, error]| error));
    columns.number("energy_before", "J", |event| event.energy_before);
    columns.number("energy_after", "J", |event| event.energy_after);
    columns.table("events", about)
}

/// One row for every body at every moment.
pub fn samples(scene: &Scene, rows: &[Sample], about: &About) -> Result<RecordBatch, ArrowError> {
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
    columns.table("samples", about)
}

/// What a joint carried in an event.
#[derive(Debug, Clone)]
pub struct JointRow {
    /// The event's number.
    pub number: u64,
    /// Its time.
    pub time: f64,
    /// The impulse.
    pub impulse: JointImpulse,
}

impl JointRow {
    /// Those of some events. All contacts of an event share what its joints carried.
    pub fn of(events: &[Event]) -> Vec<Self> {
        let rows = |event: &Event| {
            let (number, time) = (event.number, event.time);
            let row = move |impulse: &JointImpulse| Self { number, time, impulse: impulse.clone() };
            event.joints().iter().map(row).collect::<Vec<_>>()
        };
        let contacts = events.chunk_by(|a, b| a.number == b.number);
        contacts
            .filter_map(|event| event.iter().find(|contact| !contact.joints().is_empty()))
            .flat_map(rows)
            .collect()
    }
}

/// One row for every joint in every impact.
pub fn joint_impulses(scene: &Scene, rows: &[JointRow], about: &About) -> Result<RecordBatch, ArrowError> {
    let mut columns = Columns::new(rows);
    columns.whole("number", |row| row.number);
    columns.number("time", "s", |row| row.time);
    columns.name("joint", |row| scene.joints[row.impulse.joint].name.as_str());
    let mut impulses = ListBuilder::new(Float64Builder::new());
    for row in rows {
        impulses.values().append_slice(&row.impulse.impulse);
        impulses.append(true);
    }
    let list = DataType::List(Arc::new(Field::new("item", DataType::Float64, true)));
    columns.push(Field::new("impulse", list, false), Arc::new(impulses.finish()));
    columns.numbers(["linear_x", "linear_y", "linear_z"], "N s", |row| row.impulse.linear.into());
    columns.numbers(["angular_x", "angular_y", "angular_z"], "N m s", |row| row.impulse.angular.into());
    columns.numbers(["point_x", "point_y", "point_z"], "m", |row| row.impulse.point.into());
    let determined: Vec<bool> = rows.iter().map(|row| row.impulse.determined).collect();
    columns
        .push(Field::new("determined", DataType::Boolean, false), Arc::new(BooleanArray::from(determined)));
    columns.table("joint_impulses", about)
}

/// One row for every joint at every sample.
pub fn reactions(scene: &Scene, rows: &[JointReaction], about: &About) -> Result<RecordBatch, ArrowError> {
    let mut columns = Columns::new(rows);
    columns.number("time", "s", |row| row.time);
    columns.name("joint", |row| scene.joints[row.joint].name.as_str());
    columns.numbers(["force_x", "force_y", "force_z"], "N", |row| row.force.into());
    columns.numbers(["torque_x", "torque_y", "torque_z"], "N m", |row| row.torque.into());
    columns.numbers(["point_x", "point_y", "point_z"], "m", |row| row.point.into());
    columns.table("reactions", about)
}

/// One derivative.
struct DerivativeRow<'a> {
    parameter: &'a str,
    body: Option<&'a str>,
    event: Option<u64>,
    quantity: &'static str,
    value: Option<f64>,
}

/// The numbers of a state, in the order of its derivatives.
const STATE: [&str; 13] = ["px", "py", "pz", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz"];

/// One row for every number of the final states and of the events, and every parameter.
pub fn derivatives(found: &DerivativesEntry, about: &About) -> Result<RecordBatch, ArrowError> {
    let mut rows = Vec::new();
    for (body, state) in &found.states {
        let numbers: Option<Vec<&Vec<f64>>> = state.as_ref().map(|state| {
            let parts = state.position.iter().chain(&state.orientation);
            parts.chain(&state.velocity).chain(&state.angular_velocity).collect()
        });
        for (i, quantity) in STATE.into_iter().enumerate() {
            for (j, parameter) in found.parameters.iter().enumerate() {
                let value = numbers.as_ref().map(|numbers| numbers[i][j]);
                rows.push(DerivativeRow { parameter, body: Some(*body), event: None, quantity, value });
            }
        }
    }
    for event in &found.events {
        for (quantity, numbers) in [("time", &event.time), ("impulse", &event.impulse)] {
            for (j, parameter) in found.parameters.iter().enumerate() {
                let value = numbers.as_ref().map(|numbers| numbers[j]);
                rows.push(DerivativeRow {
                    parameter,
                    body: None,
                    event: Some(event.number),
                    quantity,
                    value,
                });
            }
        }
    }
    let mut columns = Columns::new(&rows);
    columns.name("parameter", |row| row.parameter);
    let words = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let bodies: DictionaryArray<Int32Type> = rows.iter().map(|row| row.body).collect();
    columns.push(Field::new("body", words, true), Arc::new(bodies));
    let events = rows.iter().map(|row| row.event).collect::<UInt64Array>();
    columns.push(Field::new("event", DataType::UInt64, true), Arc::new(events));
    columns.name("quantity", |row| row.quantity);
    columns.optional("value", "SI", |row| row.value);
    columns.table("derivatives", about)
}

/// One row for every block of a gas's averages.
pub fn observables(_: &Scene, rows: &[BlockMeans], about: &About) -> Result<RecordBatch, ArrowError> {
    let mut columns = Columns::new(rows);
    let numbers = UInt64Array::from_iter_values((0..).take(rows.len()));
    columns.push(Field::new("block", DataType::UInt64, false), Arc::new(numbers));
    columns.number("begin", "s", |block| block.begin);
    columns.number("end", "s", |block| block.end);
    columns.whole("collisions", |block| block.collisions);
    for (i, quantity) in Quantity::ALL.into_iter().enumerate() {
        columns.optional(quantity.name(), quantity.unit(), |block| block.means[i]);
    }
    columns.table("observables", about)
}
