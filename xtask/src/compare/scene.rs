//! A probe: a scene that carom reads as it is, and the request that every other engine gets, with nothing left to default.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Failure;

/// What an engine is asked, as `comparison/engines/protocol.py` has it.
#[derive(Serialize)]
pub struct Request {
    pub probe: String,
    pub gravity: [f64; 3],
    pub until: f64,
    pub bodies: Vec<Body>,
    pub planes: Vec<Plane>,
    pub contacts: Vec<Contact>,
    pub steps: Vec<f64>,
}

#[derive(Serialize)]
pub struct Body {
    pub name: String,
    pub semi_axes: [f64; 3],
    pub mass: f64,
    pub inertia: [f64; 3],
    #[serde(flatten)]
    pub state: State,
}

/// Where a body is and how it moves, in world axes; the quaternion has its scalar first.
#[derive(Clone, Deserialize, Serialize)]
pub struct State {
    pub position: [f64; 3],
    pub orientation: [f64; 4],
    pub velocity: [f64; 3],
    pub angular_velocity: [f64; 3],
}

#[derive(Clone, Deserialize, Serialize)]
pub struct Plane {
    pub name: String,
    pub normal: [f64; 3],
    #[serde(default)]
    pub offset: f64,
}

/// Two names, the plane's or the earlier body's first.
#[derive(Serialize)]
pub struct Contact {
    pub bodies: [String; 2],
    pub restitution: f64,
    pub surface: String,
}

/// The part of a scene that probes use. A field that is not here is refused, lest engines be asked something else than carom.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scene {
    #[serde(rename = "carom")]
    _version: u32,
    #[serde(rename = "title")]
    _title: String,
    #[serde(default, rename = "source")]
    _source: String,
    #[serde(default)]
    world: World,
    body: Vec<SceneBody>,
    #[serde(default)]
    plane: Vec<Plane>,
    #[serde(default)]
    surface: Surface,
    run: Run,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct World {
    gravity: [f64; 3],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SceneBody {
    name: String,
    shape: Shape,
    mass: f64,
    inertia: [f64; 3],
    position: [f64; 3],
    #[serde(default = "upright")]
    orientation: [f64; 4],
    #[serde(default)]
    velocity: [f64; 3],
    #[serde(default)]
    angular_velocity: [f64; 3],
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Shape {
    Sphere { radius: f64 },
    Ellipsoid { semi_axes: [f64; 3] },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Surface {
    #[serde(default = "one")]
    restitution: f64,
    #[serde(default = "smooth")]
    kind: String,
    #[serde(default)]
    pair: Vec<Pair>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pair {
    bodies: [String; 2],
    restitution: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    until: f64,
}

fn upright() -> [f64; 4] {
    [1.0, 0.0, 0.0, 0.0]
}

fn one() -> f64 {
    1.0
}

fn smooth() -> String {
    "smooth".to_string()
}

impl Default for Surface {
    fn default() -> Surface {
        Surface { restitution: one(), kind: smooth(), pair: Vec::new() }
    }
}

/// Reads a probe.
pub fn read(path: &Path, probe: &str, steps: &[f64]) -> Result<Request, Failure> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let scene: Scene = toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let bodies: Vec<Body> = scene.body.into_iter().map(body).collect();
    let mut pairs: Vec<[String; 2]> = Vec::new();
    for (number, body) in bodies.iter().enumerate() {
        pairs.extend(scene.plane.iter().map(|plane| [plane.name.clone(), body.name.clone()]));
        pairs.extend(bodies[..number].iter().map(|earlier| [earlier.name.clone(), body.name.clone()]));
    }
    let contacts = pairs.into_iter().map(|names| {
        let own = scene.surface.pair.iter().find(|pair| names.iter().all(|name| pair.bodies.contains(name)));
        let restitution = own.map_or(scene.surface.restitution, |pair| pair.restitution);
        Contact { bodies: names, restitution, surface: scene.surface.kind.clone() }
    });
    Ok(Request {
        probe: probe.to_string(),
        gravity: scene.world.gravity,
        until: scene.run.until,
        contacts: contacts.collect(),
        bodies,
        planes: scene.plane,
        steps: steps.to_vec(),
    })
}

fn body(body: SceneBody) -> Body {
    let semi_axes = match body.shape {
        Shape::Sphere { radius } => [radius; 3],
        Shape::Ellipsoid { semi_axes } => semi_axes,
    };
    let state = State {
        position: body.position,
        orientation: body.orientation,
        velocity: body.velocity,
        angular_velocity: body.angular_velocity,
    };
    Body { name: body.name, semi_axes, mass: body.mass, inertia: body.inertia, state }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    #[test]
    fn a_pair_has_its_own_restitution_whatever_the_order_of_its_names() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let request = read(&root.join("comparison/probes/corner.toml"), "corner", &[0.1]).unwrap();
        let asked: Vec<f64> = request.contacts.iter().map(|contact| contact.restitution).collect();
        assert_eq!(asked, [0.9, 0.5, 0.2]);
        assert_eq!(request.contacts[0].bodies, ["OYZ", "ellipsoid"]);
    }
}
