//! GSD, the file of HOOMD-blue: chunks of numbers, an index of them, and a list of their names.
//!
//! | part | bytes |
//! | --- | --- |
//! | header | 256: magic, index (place, entries), names (place, entries), schema and file version, application, schema |
//! | chunks | the numbers of each, little-endian, row by row |
//! | index | 32 an entry: frame, rows, place, columns, name, type, flags; sorted by frame and name |
//! | names | 64 an entry: the names one after the other, each ended by a zero |
//!
//! File version 2.0, schema `hoomd` 1.4 (<https://gsd.readthedocs.io>, "File layer", "HOOMD schema"). A chunk that does not change
//! stands in the first frame only. The schema has 32-bit floats; the time, and places in full, are under `log/`. The box is centred
//! at the origin there, so places are moved by half of it. Shapes go by type: `Sphere`, `Ellipsoid`; the schema has none for
//! superellipsoids, whose type gets an empty one. The diameter is the longest.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use carom::scene::model::Scene;
use carom::shape::Shape;
use nalgebra::Vector3;
use serde_json::json;

use super::{Frame, each_frame, fold, kind};
use crate::run::ShapeEntry;

const MAGIC: u64 = 0x65DF_65DF_65DF_65DF;
const VERSION: u32 = 2 << 16;
const SCHEMA_VERSION: u32 = (1 << 16) | 4;
const HEADER: u64 = 256;
const NAME: usize = 64;

/// The names, in rising order so that the index is sorted by them too.
const NAMES: [&str; 17] = [
    "configuration/box",
    "configuration/dimensions",
    "configuration/step",
    "log/particles/angular_velocity",
    "log/particles/position",
    "log/time",
    "particles/N",
    "particles/diameter",
    "particles/image",
    "particles/mass",
    "particles/moment_inertia",
    "particles/orientation",
    "particles/position",
    "particles/type_shapes",
    "particles/typeid",
    "particles/types",
    "particles/velocity",
];

/// Numbers of a chunk.
enum Numbers {
    U8(Vec<u8>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    I8(Vec<i8>),
    I32(Vec<i32>),
    F32(Vec<f32>),
    F64(Vec<f64>),
}

impl Numbers {
    /// The type's number in the index, how many numbers there are, and their bytes.
    fn encoded(&self) -> (u8, usize, Vec<u8>) {
        match self {
            Self::U8(numbers) => (1, numbers.len(), numbers.clone()),
            Self::U32(numbers) => (3, numbers.len(), numbers.iter().flat_map(|x| x.to_le_bytes()).collect()),
            Self::U64(numbers) => (4, numbers.len(), numbers.iter().flat_map(|x| x.to_le_bytes()).collect()),
            Self::I8(numbers) => (5, numbers.len(), numbers.iter().flat_map(|x| x.to_le_bytes()).collect()),
            Self::I32(numbers) => (7, numbers.len(), numbers.iter().flat_map(|x| x.to_le_bytes()).collect()),
            Self::F32(numbers) => (9, numbers.len(), numbers.iter().flat_map(|x| x.to_le_bytes()).collect()),
            Self::F64(numbers) => (10, numbers.len(), numbers.iter().flat_map(|x| x.to_le_bytes()).collect()),
        }
    }
}

/// A file that is being written.
struct Writer {
    out: BufWriter<File>,
    place: u64,
    index: Vec<u8>,
    entries: u64,
}

impl Writer {
    fn new(file: File) -> io::Result<Self> {
        let mut out = BufWriter::new(file);
        out.write_all(&[0; 256])?;
        Ok(Self { out, place: HEADER, index: Vec::new(), entries: 0 })
    }

    /// Writes a chunk with a number of columns. Those of a frame come in the order of [`NAMES`].
    fn chunk(&mut self, frame: u64, name: &str, columns: usize, numbers: &Numbers) -> io::Result<()> {
        let number =
            NAMES.iter().position(|known| *known == name).and_then(|number| u16::try_from(number).ok());
        let number = number.ok_or_else(|| io::Error::other("a chunk without a name"))?;
        let (kind, count, bytes) = numbers.encoded();
        let wide = u32::try_from(columns).map_err(io::Error::other)?;
        self.out.write_all(&bytes)?;
        self.index.extend(frame.to_le_bytes());
        self.index.extend(((count / columns) as u64).to_le_bytes());
        self.index.extend(self.place.to_le_bytes());
        self.index.extend(wide.to_le_bytes());
        self.index.extend(number.to_le_bytes());
        self.index.extend([kind, 0]);
        self.place += bytes.len() as u64;
        self.entries += 1;
        Ok(())
    }

    /// Writes the index and the names, and says in the header where they are.
    fn finish(mut self) -> io::Result<File> {
        let index_at = self.place;
        self.out.write_all(&self.index)?;
        let names_at = index_at + self.index.len() as u64;
        let mut names: Vec<u8> = NAMES.iter().flat_map(|name| name.bytes().chain([0])).collect();
        let blocks = names.len() / NAME + 1;
        names.resize(blocks * NAME, 0);
        self.out.write_all(&names)?;
        let mut header = Vec::new();
        for number in [MAGIC, index_at, self.entries, names_at, blocks as u64] {
            header.extend(number.to_le_bytes());
        }
        header.extend(SCHEMA_VERSION.to_le_bytes());
        header.extend(VERSION.to_le_bytes());
        for text in ["carom", "hoomd"] {
            header.extend(text.bytes().chain(std::iter::repeat(0)).take(NAME));
        }
        header.resize(256, 0);
        let mut file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&header)?;
        Ok(file)
    }
}

/// Writes the samples of a file.
pub fn write(file: File, scene: &Scene, samples: &Path) -> io::Result<File> {
    let mut writer = Writer::new(file)?;
    let kinds = Kinds::of(scene);
    let mut number = 0;
    each_frame(samples, scene, |frame| {
        write_frame(&mut writer, scene, &kinds, number, frame)?;
        number += 1;
        Ok(())
    })?;
    writer.finish()
}

#[expect(clippy::cast_possible_truncation, reason = "the schema has 32-bit floats")]
fn short(x: f64) -> f32 {
    x as f32
}

fn shorts(numbers: impl Iterator<Item = [f64; 3]>) -> Numbers {
    Numbers::F32(numbers.flatten().map(short).collect())
}

fn write_frame(
    writer: &mut Writer,
    scene: &Scene,
    kinds: &Kinds,
    number: u64,
    frame: &Frame,
) -> io::Result<()> {
    let first = number == 0;
    let lengths = cell(scene, frame);
    let folded: Vec<(Vector3<f64>, [i32; 3])> =
        frame.states.iter().map(|state| fold(scene.periodic, &state.position)).collect();
    if first || scene.periodic.is_none_or(|lengths| lengths.min() == 0.0) {
        let sides = lengths.iter().copied().map(short).chain([0.0; 3]);
        writer.chunk(number, "configuration/box", 1, &Numbers::F32(sides.collect()))?;
    }
    if first {
        writer.chunk(number, "configuration/dimensions", 1, &Numbers::U8(vec![3]))?;
    }
    writer.chunk(number, "configuration/step", 1, &Numbers::U64(vec![number]))?;
    let spins = frame.states.iter().map(|state| state.angular_velocity.into());
    writer.chunk(number, "log/particles/angular_velocity", 3, &shorts(spins))?;
    let full = frame.states.iter().flat_map(|state| [state.position.x, state.position.y, state.position.z]);
    writer.chunk(number, "log/particles/position", 3, &Numbers::F64(full.collect()))?;
    writer.chunk(number, "log/time", 1, &Numbers::F64(vec![frame.time]))?;
    if first {
        let count = u32::try_from(frame.states.len()).map_err(io::Error::other)?;
        writer.chunk(number, "particles/N", 1, &Numbers::U32(vec![count]))?;
        let longest = |shape: &Shape| 2.0 * ShapeEntry::of(shape).semi_axes.into_iter().fold(0.0, f64::max);
        let diameters = scene.bodies.iter().map(|body| short(longest(&body.body.shape))).collect();
        writer.chunk(number, "particles/diameter", 1, &Numbers::F32(diameters))?;
    }
    let images = folded.iter().flat_map(|(_, image)| *image).collect();
    writer.chunk(number, "particles/image", 3, &Numbers::I32(images))?;
    if first {
        let bodies = || scene.bodies.iter().map(|body| &body.body);
        // Those of infinite mass weigh nothing here: the schema's readers want numbers.
        let finite = |x: f64| if x.is_finite() { x } else { 0.0 };
        let masses = bodies().map(|body| short(finite(body.mass))).collect();
        writer.chunk(number, "particles/mass", 1, &Numbers::F32(masses))?;
        let moments = bodies().map(|body| body.inertia.map(finite).into());
        writer.chunk(number, "particles/moment_inertia", 3, &shorts(moments))?;
    }
    let turns = frame.states.iter().flat_map(|state| {
        let q = state.orientation.quaternion();
        [q.w, q.i, q.j, q.k].map(short)
    });
    writer.chunk(number, "particles/orientation", 4, &Numbers::F32(turns.collect()))?;
    let half =
        Vector3::from_fn(
            |i, _| if scene.periodic.is_some_and(|l| l[i] > 0.0) { 0.5 * lengths[i] } else { 0.0 },
        );
    let places = folded.iter().map(|(place, _)| (place - half).into());
    writer.chunk(number, "particles/position", 3, &shorts(places))?;
    if first {
        writer.texts(number, "particles/type_shapes", &kinds.shapes)?;
        writer.chunk(number, "particles/typeid", 1, &Numbers::U32(kinds.of_body.clone()))?;
        writer.texts(number, "particles/types", &kinds.names)?;
    }
    let velocities = frame.states.iter().map(|state| state.velocity.into());
    writer.chunk(number, "particles/velocity", 3, &shorts(velocities))
}

impl Writer {
    /// Texts, one a row, as wide as the longest and its zero.
    fn texts(&mut self, frame: u64, name: &str, texts: &[String]) -> io::Result<()> {
        let width = texts.iter().map(String::len).max().unwrap_or(0) + 1;
        let padded = texts.iter().flat_map(|text| text.bytes().chain(std::iter::repeat(0)).take(width));
        let bytes = padded.map(|byte| i8::from_le_bytes([byte])).collect();
        self.chunk(frame, name, width, &Numbers::I8(bytes))
    }
}

/// The types of bodies: one for each name of a fill or a body, with its shape.
struct Kinds {
    names: Vec<String>,
    shapes: Vec<String>,
    of_body: Vec<u32>,
}

impl Kinds {
    fn of(scene: &Scene) -> Self {
        let mut numbers = std::collections::BTreeMap::new();
        let mut kinds = Self { names: Vec::new(), shapes: Vec::new(), of_body: Vec::new() };
        for body in &scene.bodies {
            let name = kind(&body.name);
            let number = *numbers.entry(name.clone()).or_insert_with(|| {
                kinds.names.push(name);
                kinds.shapes.push(shape(&body.body.shape));
                kinds.names.len() - 1
            });
            kinds.of_body.push(u32::try_from(number).unwrap_or(u32::MAX));
        }
        kinds
    }
}

fn shape(shape: &Shape) -> String {
    let value = match *shape {
        Shape::Sphere { radius } => json!({ "type": "Sphere", "diameter": 2.0 * radius }),
        Shape::Ellipsoid { semi_axes: [a, b, c] } => json!({ "type": "Ellipsoid", "a": a, "b": b, "c": c }),
        Shape::Superellipsoid { semi_axes: [a, b, c], exponent } if exponent <= 2.0 => {
            json!({ "type": "Ellipsoid", "a": a, "b": b, "c": c })
        }
        // HOOMD's schema: convex polyhedra by vertices and a rounding radius; a capsule is one of two vertices.
        Shape::Box { half_extents: [a, b, c], rounding } => {
            let corner = |k: u32| {
                let side = |bit: u32, reach: f64| if k & bit == 0 { -reach } else { reach };
                [side(1, a), side(2, b), side(4, c)]
            };
            let vertices: Vec<[f64; 3]> = (0..8).map(corner).collect();
            json!({ "type": "ConvexPolyhedron", "rounding_radius": rounding, "vertices": vertices })
        }
        Shape::Polyhedron(polyhedron) => {
            let vertices: Vec<[f64; 3]> = polyhedron.corners().map(Into::into).collect();
            json!({
                "type": "ConvexPolyhedron",
                "rounding_radius": polyhedron.rounding(),
                "vertices": vertices,
            })
        }
        Shape::Capsule { radius, half_length } => json!({
            "type": "ConvexPolyhedron",
            "rounding_radius": radius,
            "vertices": [[0.0, 0.0, -half_length], [0.0, 0.0, half_length]],
        }),
        Shape::Point
        | Shape::Superellipsoid { .. }
        | Shape::Cylinder { .. }
        | Shape::Cone(_)
        | Shape::Disc { .. } => json!({}),
    };
    value.to_string()
}

/// The lengths of the cell: where nothing repeats, twice as far as the farthest body reaches.
fn cell(scene: &Scene, frame: &Frame) -> Vector3<f64> {
    Vector3::from_fn(|i, _| {
        let length = scene.periodic.map_or(0.0, |lengths| lengths[i]);
        if length > 0.0 {
            return length;
        }
        let reach = |(state, body): (&carom::body::State, &carom::scene::model::SceneBody)| {
            state.position[i].abs() + body.body.shape.circumradius()
        };
        let farthest = frame.states.iter().zip(&scene.bodies).map(reach).fold(0.0, f64::max);
        if farthest > 0.0 { 2.0 * farthest } else { 1.0 }
    })
}
