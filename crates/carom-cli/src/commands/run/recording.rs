//! A run's folder read back: its scene, what happened, and the states on the way.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use carom::body::State;
use carom::contact::Side;
use carom::contact::classify::Type;
use carom::record::{Event, Kind, Moment, Recorder, Sample};
use carom::scene::model::Scene;
use carom_answers::Refusal;
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::super::input::read_scene;
use super::folder;
use super::shelf::is_part;
use super::whole::at;
use crate::Failure;

/// A run that is in a folder, ended or not.
pub struct Recording {
    /// Its scene.
    pub scene: Scene,
    /// The scene's text.
    pub text: String,
    /// The document of the result, where the run has come to an end.
    pub document: Option<Vec<u8>>,
    path: PathBuf,
}

impl Recording {
    /// Opens a folder.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        if path.is_file() {
            let message = format!("{} is a file, and a run is a folder", path.display());
            let around = path.parent().filter(|parent| folder::scene_file(parent).is_some());
            let expected = around.map_or_else(
                || "a folder that `carom run -o` wrote".to_string(),
                |folder| {
                    format!(
                        "its folder, {}",
                        if folder == Path::new("") { Path::new(".") } else { folder }.display()
                    )
                },
            );
            return Err(Refusal::of_option(None, &message, Some(&expected)).into());
        }
        let scene = folder::scene_file(path).ok_or_else(|| {
            if let Some(copy) = folder::copies(path).first() {
                let message = format!("{} holds copies of a run", path.display());
                let expected = format!(
                    "one of them, as {}; `carom plot --what g-r`, msd or vacf takes them together",
                    copy.display()
                );
                return Refusal::of_option(None, &message, Some(&expected));
            }
            let message = format!("{} holds no run", path.display());
            Refusal::of_option(None, &message, Some("a folder that `carom run -o` wrote"))
        })?;
        let subject = read_scene(&scene)?;
        let scene = carom::fill::populate(&subject.scene);
        let document = fs::read(path.join(folder::RESULT)).ok();
        Ok(Self { scene, text: subject.input.text, document, path: path.to_path_buf() })
    }

    /// Plays everything that was recorded, table by table.
    pub fn play(&self, recorder: &mut impl Recorder) -> io::Result<()> {
        let names = Names::of(&self.scene);
        self.each_batch("samples", |batch| {
            let samples = samples(batch, &names)?;
            recorder.samples(&samples);
            Some(())
        })?;
        self.each_batch("events", |batch| {
            // An event's contacts are taken together.
            let events = events(batch, &names)?;
            for contacts in events.chunk_by(|a, b| a.number == b.number) {
                recorder.events(contacts);
            }
            Some(())
        })
    }

    /// The files of a table in their order: the whole, or the parts of a run that did not come to its end.
    fn files(&self, table: &str) -> io::Result<Vec<PathBuf>> {
        let whole = self.path.join(format!("{table}.parquet"));
        if whole.exists() {
            return Ok(vec![whole]);
        }
        let mut parts = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let name = entry?.file_name();
            if let Some(number) = is_part(&name.to_string_lossy(), table) {
                parts.push((number, self.path.join(name)));
            }
        }
        parts.sort_unstable();
        Ok(parts.into_iter().map(|(_, path)| path).collect())
    }

    fn each_batch(&self, table: &str, mut take: impl FnMut(&RecordBatch) -> Option<()>) -> io::Result<()> {
        for file in self.files(table)? {
            let place = |error: &io::Error| at(&file, error);
            let open = File::open(&file).map_err(|error| place(&error))?;
            let reader = ParquetRecordBatchReaderBuilder::try_new(open).and_then(|builder| builder.build());
            for batch in reader.map_err(|error| place(&io::Error::other(error)))? {
                let batch = batch.map_err(|error| place(&io::Error::other(error)))?;
                take(&batch).ok_or_else(|| place(&io::Error::other("not a table of this scene's run")))?;
            }
        }
        Ok(())
    }
}

/// Bodies and planes by name.
struct Names<'a>(std::collections::HashMap<&'a str, Side>);

impl<'a> Names<'a> {
    fn of(scene: &'a Scene) -> Self {
        let bodies = scene.bodies.iter().enumerate().map(|(i, body)| (body.name.as_str(), Side::Body(i)));
        let planes = scene.planes.iter().enumerate().map(|(i, plane)| (plane.name.as_str(), Side::Plane(i)));
        Self(bodies.chain(planes).collect())
    }
}

/// A column of numbers.
fn numbers<'a>(batch: &'a RecordBatch, name: &str) -> Option<&'a [f64]> {
    Some(batch.column_by_name(name)?.as_primitive_opt::<Float64Type>()?.values())
}

/// A column of numbers that may be missing.
fn some_numbers<'a>(batch: &'a RecordBatch, name: &str) -> Option<impl Fn(usize) -> Option<f64> + use<'a>> {
    let column = batch.column_by_name(name)?.as_primitive_opt::<Float64Type>()?;
    Some(|row: usize| column.is_valid(row).then(|| column.value(row)))
}

/// Three columns of numbers.
fn vectors<'a>(batch: &'a RecordBatch, names: [&str; 3]) -> Option<impl Fn(usize) -> Vector3<f64> + use<'a>> {
    let [x, y, z] = [numbers(batch, names[0])?, numbers(batch, names[1])?, numbers(batch, names[2])?];
    Some(|row: usize| Vector3::new(x[row], y[row], z[row]))
}

/// A column of names.
fn words<'a>(batch: &'a RecordBatch, name: &str) -> Option<impl Fn(usize) -> &'a str + use<'a>> {
    let column = batch.column_by_name(name)?.as_dictionary_opt::<Int32Type>()?;
    let values = column.values().as_string_opt::<i32>()?;
    Some(|row: usize| column.key(row).map_or("", |key| values.value(key)))
}

fn samples(batch: &RecordBatch, names: &Names) -> Option<Vec<Sample>> {
    let (time, body, moment) = (numbers(batch, "time")?, words(batch, "body")?, words(batch, "moment")?);
    let event = batch.column_by_name("event")?.as_primitive_opt::<UInt64Type>()?;
    let position = vectors(batch, ["px", "py", "pz"])?;
    let (w, axis) = (numbers(batch, "qw")?, vectors(batch, ["qx", "qy", "qz"])?);
    let velocity = vectors(batch, ["vx", "vy", "vz"])?;
    let angular_velocity = vectors(batch, ["wx", "wy", "wz"])?;
    (0..batch.num_rows())
        .map(|row| {
            let Side::Body(body) = *names.0.get(body(row))? else { return None };
            let moment = match moment(row) {
                "sample" => Moment::Sample,
                "before" => Moment::Before(event.value(row)),
                "after" => Moment::After(event.value(row)),
                _ => return None,
            };
            let state = State {
                position: position(row),
                orientation: UnitQuaternion::new_unchecked(Quaternion::from_parts(w[row], axis(row))),
                velocity: velocity(row),
                angular_velocity: angular_velocity(row),
            };
            Some(Sample { time: time[row], moment, body, state })
        })
        .collect()
}

fn events(batch: &RecordBatch, names: &Names) -> Option<Vec<Event>> {
    let number = batch.column_by_name("number")?.as_primitive_opt::<UInt64Type>()?.values();
    let (time, time_error) = (numbers(batch, "time")?, numbers(batch, "time_error")?);
    let (kind, class) = (words(batch, "kind")?, words(batch, "type")?);
    let (first, second) = (words(batch, "first")?, words(batch, "second")?);
    let image = |axis: &str| Some(batch.column_by_name(axis)?.as_primitive_opt::<Int32Type>()?.values());
    let images = [image("image_x")?, image("image_y")?, image("image_z")?];
    let point = vectors(batch, ["point_x", "point_y", "point_z"])?;
    let normal = vectors(batch, ["normal_x", "normal_y", "normal_z"])?;
    let impulse_vector = vectors(batch, ["impulse_x", "impulse_y", "impulse_z"])?;
    let (gap, impulse) = (numbers(batch, "gap")?, numbers(batch, "impulse")?);
    let (approach, separation) = (numbers(batch, "approach")?, numbers(batch, "separation")?);
    let (g2, g3) = (some_numbers(batch, "g2")?, some_numbers(batch, "g3")?);
    let force_slope = some_numbers(batch, "force_slope")?;
    let limit = (some_numbers(batch, "limit_time")?, some_numbers(batch, "limit_error")?);
    let energy = (numbers(batch, "energy_before")?, numbers(batch, "energy_after")?);
    (0..batch.num_rows())
        .map(|row| {
            Some(Event {
                number: number[row],
                time: time[row],
                time_error: time_error[row],
                kind: Kind::ALL.into_iter().find(|own| own.name() == kind(row))?,
                sides: [*names.0.get(first(row))?, *names.0.get(second(row))?],
                image: images.map(|axis| axis[row]),
                point: point(row),
                normal: normal(row),
                gap: gap[row],
                approach: approach[row],
                separation: separation[row],
                impulse: impulse[row],
                impulse_vector: impulse_vector(row),
                class: Type::ALL.into_iter().find(|own| own.name() == class(row))?.name(),
                g2: g2(row),
                g3: g3(row),
                force_slope: force_slope(row),
                joints: Arc::new([]),
                limit: limit.0(row).zip(limit.1(row)).map(|(time, error)| [time, error]),
                energy_before: energy.0[row],
                energy_after: energy.1[row],
            })
        })
        .collect()
}
