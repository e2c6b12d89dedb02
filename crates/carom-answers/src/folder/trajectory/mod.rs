//! Trajectories for other programs, made of a run's samples when it ends or is interrupted.
//!
//! | format | file | quaternion | shape |
//! | --- | --- | --- | --- |
//! | xyz | `trajectory.xyz`, extended XYZ as OVITO reads it | x y z w | semi-axes; roundness of superellipsoids |
//! | gsd | `trajectory.gsd`, HOOMD's schema | w x y z | by type: spheres and ellipsoids |
//! | parquet | `samples.parquet`, which is there anyway | w x y z | – |
//!
//! Positions are wrapped into the periodic box; image counts are stored alongside.

mod gsd;
mod xyz;

use std::io;
use std::path::Path;

use carom::scene::model::Scene;
use carom::shape::Shape;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use super::atomic_file::write;
use super::names::{TRAJECTORIES, table_name};
use super::recording::each_batch;
use crate::run::{Frame, Frames};
use crate::tables::read::{Names, samples};

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

    /// Writes the samples of a run's folder in it.
    pub(super) fn write(self, folder: &Path, scene: &Scene) -> io::Result<()> {
        let samples = folder.join(table_name("samples"));
        let [xyz, gsd] = TRAJECTORIES.map(|name| folder.join(name));
        match self {
            Self::Parquet => Ok(()),
            Self::Xyz => write(&xyz, |file| xyz::write(file, scene, &samples)),
            Self::Gsd => write(&gsd, |file| gsd::write(file, scene, &samples)),
        }
    }

    /// What it does not say of a scene, in words.
    pub fn leaves_out(self, scene: &Scene) -> Option<&'static str> {
        let any = |kind: fn(&Shape) -> bool| scene.bodies.iter().any(|body| kind(&body.body.shape));
        let turned =
            |shape: &Shape| matches!(shape, Shape::Cylinder { .. } | Shape::Cone(_) | Shape::Disc { .. });
        match self {
            Self::Gsd
                if any(
                    |shape| matches!(shape, Shape::Superellipsoid { exponent, .. } if *exponent > 2.0),
                ) =>
            {
                Some(
                    "GSD cannot describe superellipsoids: their type has no shape in trajectory.gsd; --trajectory xyz writes it",
                )
            }
            Self::Gsd if any(turned) => Some(
                "GSD cannot describe cylinders, cones and discs: their types have no shape in trajectory.gsd",
            ),
            Self::Xyz if any(Shape::has_flats) => Some(
                "extended XYZ cannot describe bodies with flats and edges: trajectory.xyz has ellipsoids of their extents",
            ),
            _ => None,
        }
    }
}

/// The kind of a body, by which programs colour it: its fill's name, or its own. White space would end it in a text.
fn kind(name: &str) -> String {
    let fill = name.strip_suffix(']').and_then(|name| name.rsplit_once('[')).map_or(name, |(fill, _)| fill);
    fill.replace(char::is_whitespace, "_")
}

/// A position wrapped into the box, with its image counts, along the periodic directions.
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
fn each_frame(path: &Path, scene: &Scene, mut take: impl FnMut(&Frame) -> io::Result<()>) -> io::Result<()> {
    let (names, mut frames) = (Names::of(scene), Frames::new(scene.bodies.len()));
    each_batch(path, |batch| {
        let samples = samples(batch, &names).ok_or_else(|| io::Error::other("not a table of samples"))?;
        samples.iter().filter_map(|sample| frames.take(sample)).try_for_each(|frame| take(&frame))
    })
}
