//! What the page must know of a run before anything moves.

use carom::scene::model::Scene;
use serde::Serialize;

use super::chunk;
use crate::run::ShapeEntry;

#[derive(Serialize)]
struct Header<'a> {
    title: Option<&'a str>,
    source: Option<&'a str>,
    text: &'a str,
    until: f64,
    sample: f64,
    /// Whether the page may ask what happened between two samples.
    repeatable: bool,
    on_paradox: &'static str,
    gravity: [f64; 3],
    periodic: Option<[f64; 3]>,
    floats_per_body: usize,
    bodies: Vec<HeaderBody<'a>>,
    planes: Vec<HeaderPlane<'a>>,
    joints: Vec<HeaderJoint<'a>>,
}

#[derive(Serialize)]
struct HeaderBody<'a> {
    name: &'a str,
    fixed: bool,
    mass: f64,
    inertia: [f64; 3],
    shape: ShapeEntry,
}

#[derive(Serialize)]
struct HeaderPlane<'a> {
    name: &'a str,
    normal: [f64; 3],
    offset: f64,
}

#[derive(Serialize)]
struct HeaderJoint<'a> {
    name: &'a str,
    bodies: Vec<&'a str>,
}

/// The chunk of a scene's header.
pub(super) fn header(scene: &Scene, text: &str, sample: f64, repeatable: bool) -> Vec<u8> {
    let header = Header {
        title: scene.title.as_deref(),
        source: scene.source.as_deref(),
        text,
        until: scene.run.until,
        sample,
        repeatable,
        on_paradox: scene.run.on_paradox.name(),
        gravity: scene.gravity.into(),
        periodic: scene.periodic.map(Into::into),
        floats_per_body: chunk::floats_per_body(scene.bodies.len()),
        bodies: scene
            .bodies
            .iter()
            .map(|b| HeaderBody {
                name: &b.name,
                fixed: b.body.fixed,
                mass: b.body.mass,
                inertia: b.body.inertia.into(),
                shape: ShapeEntry::of(&b.body.shape),
            })
            .collect(),
        planes: scene
            .planes
            .iter()
            .map(|plane| HeaderPlane {
                name: &plane.name,
                normal: plane.half_space.normal.into_inner().into(),
                offset: plane.half_space.offset,
            })
            .collect(),
        joints: scene
            .joints
            .iter()
            .map(|joint| HeaderJoint {
                name: &joint.name,
                bodies: joint.bodies.iter().map(|&body| scene.bodies[body].name.as_str()).collect(),
            })
            .collect(),
    };
    chunk::json(chunk::Kind::Header, &header)
}
