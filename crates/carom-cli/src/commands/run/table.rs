//! Events and samples as Arrow tables in Parquet files.
//!
//! | table | a row is | columns |
//! | --- | --- | --- |
//! | `events` | one contact of an event | `number`, `time`, `time_error`, `kind`, `first`, `second`, `image_x` …, `point_x` …, `normal_x` …, `gap`, `approach`, `separation`, `impulse`, `impulse_x` …, `type`, `g2`, `g3`, `force_slope`, `limit_time`, `limit_error`, `energy_before`, `energy_after` |
//! | `observables` | one block of a gas's averages | `block`, `begin`, `end`, `collisions`, `compressibility`, `collision_rate`, `temperature_translational`, `temperature_rotational`, `packing_fraction`, `pressure`, `mean_free_path`, `nematic_order` |
//! | `samples` | one body at one moment | `time`, `body`, `moment`, `event`, `px` …, `qw`, `qx` …, `vx` …, `wx` … |
//! | `joint_impulses` | one joint in one impact | `number`, `time`, `joint`, `impulse` (a list, one for each row), `linear_x` …, `angular_x` …, `point_x` …, `determined` |
//! | `reactions` | one joint at one sample | `time`, `joint`, `force_x` …, `torque_x` …, `point_x` … |
//!
//! Every number's unit is in its field's metadata under `unit`. Names are dictionaries. A file's bytes depend on its
//! rows alone: rows are written in runs of one length, whatever pieces they came in.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, ListBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, RecordBatch, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use carom::observe::{BlockMeans, Quantity};
use carom::record::{Event, JointImpulse, JointReaction, Moment, Sample};
use carom::scene::instant;
use carom::scene::model::Scene;
use carom_answers::run::moment_name;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

/// Rows written at a time; a power of two that divides [`GROUP`].
const RUN: usize = 1 << 13;

/// Rows of a row group.
const GROUP: usize = 1 << 17;

/// The size from which a column of distinct numbers is no longer written as a dictionary, in bytes.
const DICTIONARY: usize = 1 << 16;

/// A table's name, columns and file metadata.
#[derive(Debug, Clone)]
pub struct Table {
    /// Its name, and that of its file.
    pub name: &'static str,
    schema: SchemaRef,
    properties: WriterProperties,
}

impl Table {
    /// The table of events; `about` goes into the metadata of its files.
    pub fn of_events(about: &[(&str, String)]) -> Self {
        let [x, y, z] = ["x", "y", "z"];
        let mut fields = vec![
            whole("number", false),
            number("time", "s"),
            number("time_error", "s"),
            name("kind"),
            name("first"),
            name("second"),
        ];
        fields.extend(
            [x, y, z].map(|axis| with_unit(Field::new(format!("image_{axis}"), DataType::Int32, false), "1")),
        );
        fields.extend([x, y, z].map(|axis| number(&format!("point_{axis}"), "m")));
        fields.extend([x, y, z].map(|axis| number(&format!("normal_{axis}"), "1")));
        fields.extend([number("gap", "m"), number("approach", "m/s"), number("separation", "m/s")]);
        fields.push(number("impulse", "N s"));
        fields.extend([x, y, z].map(|axis| number(&format!("impulse_{axis}"), "N s")));
        fields.push(name("type"));
        fields.extend([("g2", "m/s^2"), ("g3", "m/s^3"), ("force_slope", "N/s")].map(optional));
        fields.extend([("limit_time", "s"), ("limit_error", "s")].map(optional));
        fields.extend([number("energy_before", "J"), number("energy_after", "J")]);
        Self::new("events", fields, about)
    }

    /// The table of samples.
    pub fn of_samples(about: &[(&str, String)]) -> Self {
        let mut fields = vec![number("time", "s"), name("body"), name("moment"), whole("event", true)];
        fields.extend(["px", "py", "pz"].map(|axis| number(axis, "m")));
        fields.extend(["qw", "qx", "qy", "qz"].map(|axis| number(axis, "1")));
        fields.extend(["vx", "vy", "vz"].map(|axis| number(axis, "m/s")));
        fields.extend(["wx", "wy", "wz"].map(|axis| number(axis, "rad/s")));
        Self::new("samples", fields, about)
    }

    /// The table of joint impulses.
    pub fn of_joint_impulses(about: &[(&str, String)]) -> Self {
        let mut fields = vec![
            whole("number", false),
            number("time", "s"),
            name("joint"),
            Field::new(
                "impulse",
                DataType::List(Arc::new(Field::new("item", DataType::Float64, true))),
                false,
            ),
        ];
        fields.extend(["x", "y", "z"].map(|axis| number(&format!("linear_{axis}"), "N s")));
        fields.extend(["x", "y", "z"].map(|axis| number(&format!("angular_{axis}"), "N m s")));
        fields.extend(["x", "y", "z"].map(|axis| number(&format!("point_{axis}"), "m")));
        fields.push(Field::new("determined", DataType::Boolean, false));
        Self::new("joint_impulses", fields, about)
    }

    /// The table of reactions.
    pub fn of_reactions(about: &[(&str, String)]) -> Self {
        let mut fields = vec![number("time", "s"), name("joint")];
        fields.extend(["x", "y", "z"].map(|axis| number(&format!("force_{axis}"), "N")));
        fields.extend(["x", "y", "z"].map(|axis| number(&format!("torque_{axis}"), "N m")));
        fields.extend(["x", "y", "z"].map(|axis| number(&format!("point_{axis}"), "m")));
        Self::new("reactions", fields, about)
    }

    /// The table of blocks of a gas's averages.
    pub fn of_observables(about: &[(&str, String)]) -> Self {
        let mut fields =
            vec![whole("block", false), number("begin", "s"), number("end", "s"), whole("collisions", false)];
        fields.extend(Quantity::ALL.map(|quantity| optional((quantity.name(), quantity.unit()))));
        Self::new("observables", fields, about)
    }

    /// Rows of blocks; the table must be that of observables.
    pub fn observables(&self, blocks: &[BlockMeans]) -> io::Result<RecordBatch> {
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(UInt64Array::from_iter_values((0..).take(blocks.len()))),
            numbers(blocks, |block| block.begin),
            numbers(blocks, |block| block.end),
            Arc::new(UInt64Array::from_iter_values(blocks.iter().map(|block| block.collisions))),
        ];
        columns.extend((0..Quantity::ALL.len()).map(|i| some_numbers(blocks, |block| block.means[i])));
        RecordBatch::try_new(self.schema.clone(), columns).map_err(of_arrow)
    }

    fn new(name: &'static str, fields: Vec<Field>, about: &[(&str, String)]) -> Self {
        // Twice: some readers look at the file's metadata, and some at the schema's.
        let mut metadata = vec![("carom.table".to_string(), name.to_string())];
        metadata.extend(about.iter().map(|(key, value)| (format!("carom.{key}"), value.clone())));
        let of_file = metadata.iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone())).collect();
        let of_schema: HashMap<String, String> = metadata.into_iter().collect();
        let properties = WriterProperties::builder()
            .set_max_row_group_row_count(Some(GROUP))
            .set_dictionary_page_size_limit(DICTIONARY)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_key_value_metadata(Some(of_file))
            .build();
        Self { name, schema: Arc::new(Schema::new_with_metadata(fields, of_schema)), properties }
    }

    /// A file of some rows, whole, in memory.
    pub fn file(&self, rows: &RecordBatch) -> io::Result<Vec<u8>> {
        let mut merger = Merger::new(self, Vec::new())?;
        merger.push(rows.clone())?;
        merger.finish()
    }

    /// Writes the rows of some files, in their order, into one.
    pub fn merge<W: Write + Send>(&self, parts: &[PathBuf], out: W) -> io::Result<W> {
        let mut merger = Merger::new(self, out)?;
        for part in parts {
            let open = || -> io::Result<_> {
                let file = File::open(part)?;
                let reader = ParquetRecordBatchReaderBuilder::try_new(file).map_err(of_parquet)?;
                reader.with_batch_size(RUN).build().map_err(of_parquet)
            };
            let place = |error: io::Error| super::whole::at(part, &error);
            for batch in open().map_err(place)? {
                merger.push(batch.map_err(|error| place(of_arrow(error)))?)?;
            }
        }
        merger.finish()
    }

    /// Rows of events; the table must be that of events.
    pub fn events(&self, scene: &Scene, events: &[Event]) -> io::Result<RecordBatch> {
        let side = |k: usize| names(events.iter().map(|event| instant::name(scene, event.sides[k])));
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(UInt64Array::from_iter_values(events.iter().map(|event| event.number))),
            numbers(events, |event| event.time),
            numbers(events, |event| event.time_error),
            names(events.iter().map(|event| event.kind.name())),
            side(0),
            side(1),
        ];
        columns.extend((0..3).map(|i| -> ArrayRef {
            Arc::new(Int32Array::from_iter_values(events.iter().map(|event| event.image[i])))
        }));
        columns.extend((0..3).map(|i| numbers(events, |event| event.point[i])));
        columns.extend((0..3).map(|i| numbers(events, |event| event.normal[i])));
        columns.push(numbers(events, |event| event.gap));
        columns.push(numbers(events, |event| event.approach));
        columns.push(numbers(events, |event| event.separation));
        columns.push(numbers(events, |event| event.impulse));
        columns.extend((0..3).map(|i| numbers(events, |event| event.impulse_vector[i])));
        columns.push(names(events.iter().map(|event| event.class)));
        columns.push(some_numbers(events, |event| event.g2));
        columns.push(some_numbers(events, |event| event.g3));
        columns.push(some_numbers(events, |event| event.force_slope));
        columns.push(some_numbers(events, |event| event.limit.map(|[time, _]| time)));
        columns.push(some_numbers(events, |event| event.limit.map(|[_, error]| error)));
        columns.push(numbers(events, |event| event.energy_before));
        columns.push(numbers(events, |event| event.energy_after));
        RecordBatch::try_new(self.schema.clone(), columns).map_err(of_arrow)
    }

    /// Rows of samples; the table must be that of samples.
    pub fn samples(&self, scene: &Scene, samples: &[Sample]) -> io::Result<RecordBatch> {
        let event = |sample: &Sample| match sample.moment {
            Moment::Sample => None,
            Moment::Before(number) | Moment::After(number) => Some(number),
        };
        let mut columns: Vec<ArrayRef> = vec![
            numbers(samples, |sample| sample.time),
            names(samples.iter().map(|sample| scene.bodies[sample.body].name.as_str())),
            names(samples.iter().map(|sample| moment_name(sample.moment))),
            Arc::new(samples.iter().map(event).collect::<UInt64Array>()),
        ];
        columns.extend((0..3).map(|i| numbers(samples, |sample| sample.state.position[i])));
        columns.extend((0..4).map(|i| numbers(samples, |sample| scalar_first(sample)[i])));
        columns.extend((0..3).map(|i| numbers(samples, |sample| sample.state.velocity[i])));
        columns.extend((0..3).map(|i| numbers(samples, |sample| sample.state.angular_velocity[i])));
        RecordBatch::try_new(self.schema.clone(), columns).map_err(of_arrow)
    }
}

impl Table {
    /// Rows of joint impulses; the table must be that of joint impulses.
    pub fn joint_impulses(&self, scene: &Scene, rows: &[JointRow]) -> io::Result<RecordBatch> {
        let mut impulses = ListBuilder::new(Float64Builder::new());
        for row in rows {
            impulses.values().append_slice(&row.impulse.impulse);
            impulses.append(true);
        }
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.number))),
            numbers(rows, |row| row.time),
            names(rows.iter().map(|row| scene.joints[row.impulse.joint].name.as_str())),
            Arc::new(impulses.finish()),
        ];
        columns.extend((0..3).map(|i| numbers(rows, |row| row.impulse.linear[i])));
        columns.extend((0..3).map(|i| numbers(rows, |row| row.impulse.angular[i])));
        columns.extend((0..3).map(|i| numbers(rows, |row| row.impulse.point[i])));
        let determined: Vec<bool> = rows.iter().map(|row| row.impulse.determined).collect();
        columns.push(Arc::new(BooleanArray::from(determined)));
        RecordBatch::try_new(self.schema.clone(), columns).map_err(of_arrow)
    }

    /// Rows of reactions; the table must be that of reactions.
    pub fn reactions(&self, scene: &Scene, rows: &[JointReaction]) -> io::Result<RecordBatch> {
        let mut columns: Vec<ArrayRef> = vec![
            numbers(rows, |row| row.time),
            names(rows.iter().map(|row| scene.joints[row.joint].name.as_str())),
        ];
        columns.extend((0..3).map(|i| numbers(rows, |row| row.force[i])));
        columns.extend((0..3).map(|i| numbers(rows, |row| row.torque[i])));
        columns.extend((0..3).map(|i| numbers(rows, |row| row.point[i])));
        RecordBatch::try_new(self.schema.clone(), columns).map_err(of_arrow)
    }
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

fn scalar_first(sample: &Sample) -> [f64; 4] {
    let q = sample.state.orientation.quaternion();
    [q.w, q.i, q.j, q.k]
}

/// Writes rows in runs of one length, so that pages and row groups fall in the same places however the rows come.
struct Merger<'a, W: Write + Send> {
    table: &'a Table,
    writer: ArrowWriter<W>,
    pending: Vec<RecordBatch>,
    rows: usize,
}

impl<'a, W: Write + Send> Merger<'a, W> {
    fn new(table: &'a Table, out: W) -> io::Result<Self> {
        let writer = ArrowWriter::try_new(out, table.schema.clone(), Some(table.properties.clone()));
        Ok(Self { table, writer: writer.map_err(of_parquet)?, pending: Vec::new(), rows: 0 })
    }

    fn push(&mut self, batch: RecordBatch) -> io::Result<()> {
        self.rows += batch.num_rows();
        self.pending.push(batch);
        if self.rows < RUN {
            return Ok(());
        }
        let whole = concat_batches(&self.table.schema, &self.pending).map_err(of_arrow)?;
        let mut start = 0;
        while self.rows >= RUN {
            self.writer.write(&whole.slice(start, RUN)).map_err(of_parquet)?;
            (start, self.rows) = (start + RUN, self.rows - RUN);
        }
        self.pending = vec![whole.slice(start, self.rows)];
        Ok(())
    }

    fn finish(mut self) -> io::Result<W> {
        if self.rows > 0 {
            let rest = concat_batches(&self.table.schema, &self.pending).map_err(of_arrow)?;
            self.writer.write(&rest).map_err(of_parquet)?;
        }
        self.writer.into_inner().map_err(of_parquet)
    }
}

fn with_unit(field: Field, unit: &str) -> Field {
    field.with_metadata(HashMap::from([("unit".to_string(), unit.to_string())]))
}

fn number(name: &str, unit: &str) -> Field {
    with_unit(Field::new(name, DataType::Float64, false), unit)
}

fn optional((name, unit): (&str, &str)) -> Field {
    with_unit(Field::new(name, DataType::Float64, true), unit)
}

fn whole(name: &str, nullable: bool) -> Field {
    Field::new(name, DataType::UInt64, nullable)
}

fn name(name: &str) -> Field {
    Field::new(name, DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)), false)
}

fn numbers<T>(rows: &[T], value: impl Fn(&T) -> f64) -> ArrayRef {
    Arc::new(Float64Array::from_iter_values(rows.iter().map(value)))
}

fn some_numbers<T>(rows: &[T], value: impl Fn(&T) -> Option<f64>) -> ArrayRef {
    Arc::new(rows.iter().map(value).collect::<Float64Array>())
}

fn names<'a>(values: impl Iterator<Item = &'a str>) -> ArrayRef {
    Arc::new(values.collect::<DictionaryArray<Int32Type>>())
}

/// The error of the file itself where there is one.
pub(super) fn of_parquet(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(cause) => *cause,
            Err(cause) => io::Error::other(cause),
        },
        other => io::Error::other(other),
    }
}

pub(super) fn of_arrow(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, cause) => cause,
        ArrowError::ExternalError(cause) => match cause.downcast::<ParquetError>() {
            Ok(cause) => of_parquet(*cause),
            Err(cause) => io::Error::other(cause),
        },
        other => io::Error::other(other),
    }
}
