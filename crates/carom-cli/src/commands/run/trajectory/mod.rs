//! Trajectories for other programs, made of a run's samples when it ends or is interrupted.
//!
//! | format | file | quaternion | shape |
//! | --- | --- | --- | --- |
//! | [`xyz`] | `trajectory.xyz`, extended XYZ as OVITO reads it | x y z w | semi-axes; roundness of superellipsoids |
//! | [`gsd`] | `trajectory.gsd`, HOOMD's schema | w x y z | by type: spheres and ellipsoids |
//! | parquet | `samples.parquet`, which is there anyway | w x y z | – |
//!
//! Places are put back into the periodic box, and the whole boxes that they had gone are beside them.

pub mod gsd;
pub mod xyz;

use std::fs::File;
use std::io;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type};
use carom::body::State;
use carom::scene::model::Scene;
use carom::shape::Shape;
use carom_answers::tables::file::{of_arrow, of_parquet};
use nalgebra::{Quaternion, Unit, Vector3};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde::{Deserialize, Serialize};

use super::whole::at;

/// A format of trajectories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Extended XYZ.
    Xyz,
    /// GSD.
    Gsd,
    /// The table of samples.
    Parquet,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Xyz, Self::Gsd, Self::Parquet];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Xyz => "xyz",
            Self::Gsd => "gsd",
            Self::Parquet => "parquet",
        }
    }

    /// What it does not say of a scene, in words.
    pub fn leaves_out(self, scene: &Scene) -> Option<&'static str> {
        let rounded =
            |shape: &Shape| matches!(shape, Shape::Superellipsoid { exponent, .. } if *exponent > 2.0);
        (self == Self::Gsd && scene.bodies.iter().any(|body| rounded(&body.body.shape))).then_some(
            "GSD has no shape for superellipsoids: their type has none in trajectory.gsd; --trajectory xyz writes it",
        )
    }
}

/// All bodies at one time.
pub struct Frame {
    /// The time.
    pub time: f64,
    /// The states, in the scene's order.
    pub states: Vec<State>,
}

/// The semi-axes of a shape.
fn semi_axes(shape: &Shape) -> [f64; 3] {
    match *shape {
        Shape::Point => [0.0; 3],
        Shape::Sphere { radius } => [radius; 3],
        Shape::Ellipsoid { semi_axes } | Shape::Superellipsoid { semi_axes, .. } => semi_axes,
    }
}

/// The kind of a body, by which programs colour it: its fill's name, or its own. White space would end it in a text.
fn kind(name: &str) -> String {
    let fill = name.strip_suffix(']').and_then(|name| name.rsplit_once('[')).map_or(name, |(fill, _)| fill);
    fill.replace(char::is_whitespace, "_")
}

/// A place put back into the box, and the boxes that it was away, along the directions that repeat.
fn fold(lengths: Option<Vector3<f64>>, place: &Vector3<f64>) -> (Vector3<f64>, [i32; 3]) {
    let (mut inside, mut image) = (*place, [0; 3]);
    for i in 0..3 {
        let length = lengths.map_or(0.0, |lengths| lengths[i]);
        if length > 0.0 {
            let boxes = (place[i] / length).floor();
            inside[i] -= boxes * length;
            #[expect(
                clippy::cast_possible_truncation,
                reason = "saturates, and boxes are counted in 32 bits"
            )]
            let whole = boxes as i32;
            image[i] = whole;
        }
    }
    (inside, image)
}

/// Calls for each frame of the samples in a file.
fn each_frame(path: &Path, bodies: usize, mut take: impl FnMut(&Frame) -> io::Result<()>) -> io::Result<()> {
    let place = |error: io::Error| at(path, &error);
    let file = File::open(path).map_err(place)?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).and_then(|reader| reader.build());
    let mut frame = Frame { time: 0.0, states: Vec::with_capacity(bodies) };
    for batch in reader.map_err(|error| place(of_parquet(error)))? {
        let batch = batch.map_err(|error| place(of_arrow(error)))?;
        let rows = Rows::of(&batch).ok_or_else(|| place(io::Error::other("not a table of samples")))?;
        for row in 0..batch.num_rows() {
            if !rows.is_sample(row) {
                continue;
            }
            frame.time = rows.numbers[0].value(row);
            frame.states.push(rows.state(row));
            if frame.states.len() == bodies {
                take(&frame)?;
                frame.states.clear();
            }
        }
    }
    Ok(())
}

/// The columns of a batch of samples.
struct Rows<'a> {
    moments: &'a arrow_array::DictionaryArray<Int32Type>,
    names: &'a arrow_array::StringArray,
    /// The time, place, orientation, velocity and spin.
    numbers: Vec<&'a arrow_array::Float64Array>,
}

impl<'a> Rows<'a> {
    fn of(batch: &'a RecordBatch) -> Option<Self> {
        const COLUMNS: [&str; 14] =
            ["time", "px", "py", "pz", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz"];
        let moments = batch.column_by_name("moment")?.as_dictionary_opt::<Int32Type>()?;
        let names = moments.values().as_string_opt::<i32>()?;
        let number = |name| batch.column_by_name(name)?.as_primitive_opt::<Float64Type>();
        let numbers = COLUMNS.into_iter().map(number).collect::<Option<_>>()?;
        Some(Self { moments, names, numbers })
    }

    fn is_sample(&self, row: usize) -> bool {
        self.moments.key(row).is_some_and(|key| self.names.value(key) == "sample")
    }

    fn state(&self, row: usize) -> State {
        let number = |column: usize| self.numbers[column].value(row);
        let vector = |first: usize| Vector3::new(number(first), number(first + 1), number(first + 2));
        State {
            position: vector(1),
            // As it was, not normalised again.
            orientation: Unit::new_unchecked(Quaternion::new(number(4), number(5), number(6), number(7))),
            velocity: vector(8),
            angular_velocity: vector(11),
        }
    }
}
