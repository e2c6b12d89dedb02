//! Extended XYZ as OVITO reads it: for each frame the number of bodies, a line of keys, and a line a body.
//!
//! The keys are `Lattice` (the periodic box, row by row; an open direction gets the extent of the bodies), `pbc`, `Properties`
//! and `Time`. OVITO knows the columns `species`, `pos`, `orientation` (x y z w), `aspherical_shape` (semi-axes),
//! `velo` and `omega` by these names, and keeps `superquadric_roundness` as it is; `image` counts the boxes that a place was put back
//! by. OVITO's superquadric is (|x/a|^{2/φ} + |y/b|^{2/φ})^{φ/θ} + |z/c|^{2/θ} ≤ 1, so both roundnesses are 2/p. Numbers are the
//! shortest that read back the same.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use carom::scene::model::Scene;
use carom::shape::Shape;
use nalgebra::Vector3;

use super::{Frame, each_frame, fold, kind};
use crate::run::ShapeEntry;

const PROPERTIES: &str = "species:S:1:pos:R:3:orientation:R:4:aspherical_shape:R:3:superquadric_roundness:R:2:velo:R:3:omega:R:3:image:I:3";

/// Writes the samples of a file.
pub fn write(file: File, scene: &Scene, samples: &Path) -> io::Result<File> {
    let mut out = BufWriter::new(file);
    let constant: Vec<String> = scene.bodies.iter().map(|body| shape_columns(&body.body.shape)).collect();
    let kinds: Vec<String> = scene.bodies.iter().map(|body| kind(&body.name)).collect();
    each_frame(samples, scene, |frame| write_frame(&mut out, scene, &kinds, &constant, frame))?;
    out.into_inner().map_err(io::IntoInnerError::into_error)
}

fn shape_columns(shape: &Shape) -> String {
    let ShapeEntry { semi_axes: [a, b, c], exponent, .. } = ShapeEntry::of(shape);
    let roundness = 2.0 / exponent;
    format!("{a} {b} {c} {roundness} {roundness}")
}

fn write_frame(
    out: &mut impl Write,
    scene: &Scene,
    kinds: &[String],
    shapes: &[String],
    frame: &Frame,
) -> io::Result<()> {
    writeln!(out, "{}", frame.states.len())?;
    let (lengths, origin) = cell(scene, frame);
    let [x, y, z] = lengths.into();
    let [u, v, w] = origin.into();
    let periodic = |i: usize| if scene.periodic.is_some_and(|lengths| lengths[i] > 0.0) { "T" } else { "F" };
    writeln!(
        out,
        "Lattice=\"{x} 0 0 0 {y} 0 0 0 {z}\" Origin=\"{u} {v} {w}\" pbc=\"{} {} {}\" Properties={PROPERTIES} Time={}",
        periodic(0),
        periodic(1),
        periodic(2),
        frame.time
    )?;
    for ((state, kind), shape) in frame.states.iter().zip(kinds).zip(shapes) {
        let (place, [i, j, k]) = fold(scene.periodic, &state.position);
        let q = state.orientation.quaternion();
        let (v, spin) = (&state.velocity, &state.angular_velocity);
        writeln!(
            out,
            "{kind} {} {} {} {} {} {} {} {shape} {} {} {} {} {} {} {i} {j} {k}",
            place.x, place.y, place.z, q.i, q.j, q.k, q.w, v.x, v.y, v.z, spin.x, spin.y, spin.z
        )?;
    }
    Ok(())
}

/// The lengths and the lowest corner of the cell that is drawn.
fn cell(scene: &Scene, frame: &Frame) -> (Vector3<f64>, Vector3<f64>) {
    let (mut lengths, mut origin) = (Vector3::zeros(), Vector3::zeros());
    for i in 0..3 {
        let length = scene.periodic.map_or(0.0, |lengths| lengths[i]);
        if length > 0.0 {
            lengths[i] = length;
            continue;
        }
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for (state, body) in frame.states.iter().zip(&scene.bodies) {
            let reach = body.body.shape.circumradius();
            low = low.min(state.position[i] - reach);
            high = high.max(state.position[i] + reach);
        }
        let extent = high - low;
        (lengths[i], origin[i]) = if extent > 0.0 { (extent, low) } else { (1.0, 0.0) };
    }
    (lengths, origin)
}
