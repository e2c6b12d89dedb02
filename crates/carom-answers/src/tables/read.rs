//! Tables made events, samples, impulses and reactions again.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use bytes::Bytes;
use carom::body::State;
use carom::contact::Side;
use carom::contact::classify::Type;
use carom::record::{Event, JointImpulse, JointReaction, Kind, Memory, Moment, Sample};
use carom::scene::model::Scene;
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::JointRow;

/// Bodies, planes and joints by name.
pub struct Names<'a> {
    sides: HashMap<&'a str, Side>,
    joints: HashMap<&'a str, usize>,
}

impl<'a> Names<'a> {
    /// Those of a scene whose fills have their bodies.
    pub fn of(scene: &'a Scene) -> Self {
        let bodies = scene.bodies.iter().enumerate().map(|(i, body)| (body.name.as_str(), Side::Body(i)));
        let planes = scene.planes.iter().enumerate().map(|(i, plane)| (plane.name.as_str(), Side::Plane(i)));
        let joints = scene.joints.iter().enumerate().map(|(k, joint)| (joint.name.as_str(), k));
        Self { sides: bodies.chain(planes).collect(), joints: joints.collect() }
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

/// The samples of a table; `None` if it does not belong to this scene.
pub fn samples(batch: &RecordBatch, names: &Names) -> Option<Vec<Sample>> {
    let (time, body, moment) = (numbers(batch, "time")?, words(batch, "body")?, words(batch, "moment")?);
    let event = batch.column_by_name("event")?.as_primitive_opt::<UInt64Type>()?;
    let position = vectors(batch, ["px", "py", "pz"])?;
    let (w, axis) = (numbers(batch, "qw")?, vectors(batch, ["qx", "qy", "qz"])?);
    let velocity = vectors(batch, ["vx", "vy", "vz"])?;
    let angular_velocity = vectors(batch, ["wx", "wy", "wz"])?;
    (0..batch.num_rows())
        .map(|row| {
            let Side::Body(body) = *names.sides.get(body(row))? else { return None };
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

/// The events of a table, likewise, without what joints carried.
pub fn events(batch: &RecordBatch, names: &Names) -> Option<Vec<Event>> {
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
                sides: [*names.sides.get(first(row))?, *names.sides.get(second(row))?],
                image: images.map(|axis| axis[row]),
                point: point(row),
                normal: normal(row),
                gap: gap[row],
                approach: approach[row],
                separation: separation[row],
                impulse: impulse[row],
                impulse_vector: impulse_vector(row),
                class: Type::ALL.into_iter().find(|own| own.name() == class(row))?,
                g2: g2(row),
                g3: g3(row),
                force_slope: force_slope(row),
                joints: None,
                between: Vector3::zeros(),
                limit: limit.0(row).zip(limit.1(row)).map(|(time, error)| [time, error]),
                energy_before: energy.0[row],
                energy_after: energy.1[row],
            })
        })
        .collect()
}

/// What joints carried, likewise.
pub fn joint_impulses(batch: &RecordBatch, names: &Names) -> Option<Vec<JointRow>> {
    let number = batch.column_by_name("number")?.as_primitive_opt::<UInt64Type>()?.values();
    let (time, joint) = (numbers(batch, "time")?, words(batch, "joint")?);
    let impulses = batch.column_by_name("impulse")?.as_list_opt::<i32>()?;
    let linear = vectors(batch, ["linear_x", "linear_y", "linear_z"])?;
    let angular = vectors(batch, ["angular_x", "angular_y", "angular_z"])?;
    let point = vectors(batch, ["point_x", "point_y", "point_z"])?;
    let determined = batch.column_by_name("determined")?.as_boolean_opt()?;
    (0..batch.num_rows())
        .map(|row| {
            let impulse = JointImpulse {
                joint: *names.joints.get(joint(row))?,
                impulse: impulses.value(row).as_primitive_opt::<Float64Type>()?.values().to_vec(),
                linear: linear(row),
                angular: angular(row),
                point: point(row),
                determined: determined.value(row),
            };
            Some(JointRow { number: number[row], time: time[row], impulse })
        })
        .collect()
}

/// Reactions, likewise.
pub fn reactions(batch: &RecordBatch, names: &Names) -> Option<Vec<JointReaction>> {
    let (time, joint) = (numbers(batch, "time")?, words(batch, "joint")?);
    let point = vectors(batch, ["point_x", "point_y", "point_z"])?;
    let force = vectors(batch, ["force_x", "force_y", "force_z"])?;
    let torque = vectors(batch, ["torque_x", "torque_y", "torque_z"])?;
    (0..batch.num_rows())
        .map(|row| {
            Some(JointReaction {
                time: time[row],
                joint: *names.joints.get(joint(row))?,
                point: point(row),
                force: force(row),
                torque: torque(row),
            })
        })
        .collect()
}

/// Everything that files in memory say, found by the names of their tables; or what is wrong with which.
pub fn memory(scene: &Scene, file: impl Fn(&str) -> Option<Vec<u8>>) -> Result<Memory, String> {
    let names = Names::of(scene);
    let mut memory = Memory::default();
    each_batch("samples", &file, |batch| {
        memory.samples.extend(samples(batch, &names)?);
        Some(())
    })?;
    let mut carried: HashMap<u64, Vec<JointImpulse>> = HashMap::new();
    each_batch("joint_impulses", &file, |batch| {
        for row in joint_impulses(batch, &names)? {
            carried.entry(row.number).or_default().push(row.impulse);
        }
        Some(())
    })?;
    // The contacts of an event share what its joints carried.
    let carried: HashMap<u64, Arc<[JointImpulse]>> =
        carried.into_iter().map(|(number, impulses)| (number, impulses.into())).collect();
    each_batch("events", &file, |batch| {
        memory.events.extend(events(batch, &names)?.into_iter().map(
            |event| match carried.get(&event.number) {
                Some(joints) => Event { joints: Some(joints.clone()), ..event },
                None => event,
            },
        ));
        Some(())
    })?;
    each_batch("reactions", &file, |batch| {
        memory.reactions.extend(reactions(batch, &names)?);
        Some(())
    })?;
    Ok(memory)
}

fn each_batch(
    table: &str,
    file: impl Fn(&str) -> Option<Vec<u8>>,
    mut take: impl FnMut(&RecordBatch) -> Option<()>,
) -> Result<(), String> {
    let name = format!("{table}.parquet");
    let Some(bytes) = file(&name) else { return Ok(()) };
    let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes)).and_then(|found| found.build());
    for batch in reader.map_err(|error| format!("{name}: {error}"))? {
        let batch = batch.map_err(|error| format!("{name}: {error}"))?;
        take(&batch).ok_or_else(|| format!("{name}: not a table of this scene's run"))?;
    }
    Ok(())
}
