//! Initial conditions of a paradox for given shapes, as a scene.

use std::fmt::{self, Write as _};

use carom::body::{Body, State};
use carom::contact::classify::Type;
use carom::contact::paradox::{Impossibility, Outcome, Paradox, Quest, find};
use carom::motion::Flight;
use carom::shape::Shape;
use nalgebra::Vector3;
use serde::Serialize;
use serde_json::{Value, json};

use crate::options::DELAY;
use crate::words::{number, residual};
use crate::{InputError, Verdict};

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request {
    /// The two shapes, homogeneous and of unit mass.
    pub shapes: [Shape; 2],
    /// The type of paradox.
    pub kind: Type,
    /// Whether the motion is to be in the plane of the first two axes of both bodies.
    pub planar: bool,
    /// Another seed finds another paradox; the same seed the same.
    pub seed: u64,
    /// How long before the contact the scene starts.
    pub before: f64,
}

/// The types of paradox by the names that questions have for them, the default first.
pub const KINDS: [(&str, Type); 3] =
    [("2b_star", Type::Paradox2bStar), ("2b", Type::Paradox2b), ("marginal", Type::ParadoxMarginal)];

/// A type of paradox by its name, short or in full.
pub fn parse_kind(name: &str) -> Option<Type> {
    let short = name.strip_prefix("paradox_").unwrap_or(name);
    KINDS.into_iter().find(|(own, _)| *own == short).map(|(_, kind)| kind)
}

/// The sizes a shape may have: what the search resolves.
const SIZES: std::ops::RangeInclusive<f64> = 1e-3..=1e3;

/// The exponents it may have.
const EXPONENTS: std::ops::RangeInclusive<f64> = 2.0..=100.0;

/// A shape as in `ellipsoid(2,1,1)`.
pub fn parse_shape(text: &str) -> Result<Shape, String> {
    const FORMS: &str = "expected sphere(r), ellipsoid(a,b,c) or superellipsoid(a,b,c;p)";
    let wrong = || FORMS.to_string();
    let (name, rest) = text.trim().split_once('(').ok_or_else(wrong)?;
    let inside = rest.strip_suffix(')').ok_or_else(wrong)?;
    let numbers: Vec<f64> = inside
        .split([',', ';'])
        .map(|number| {
            number.trim().parse().map_err(|_| format!("`{}` is not a number; {FORMS}", number.trim()))
        })
        .collect::<Result<_, String>>()?;
    let shape = match (name.trim(), numbers.as_slice()) {
        ("sphere", &[radius]) => Shape::Sphere { radius },
        ("ellipsoid", &[a, b, c]) => Shape::Ellipsoid { semi_axes: [a, b, c] },
        ("superellipsoid", &[a, b, c, exponent]) => Shape::Superellipsoid { semi_axes: [a, b, c], exponent },
        _ => return Err(wrong()),
    };
    sized(&shape).map(|()| shape).map_err(|expected| format!("expected {expected}"))
}

/// Whether the search resolves a shape, or what it expects.
fn sized(shape: &Shape) -> Result<(), &'static str> {
    let (sizes, exponent) = match *shape {
        Shape::Point => return Err("a shape with a surface"),
        Shape::Sphere { radius } => ([radius; 3], 2.0),
        Shape::Ellipsoid { semi_axes } => (semi_axes, 2.0),
        Shape::Superellipsoid { semi_axes, exponent } => (semi_axes, exponent),
        Shape::Box { .. }
        | Shape::Cylinder { .. }
        | Shape::Capsule { .. }
        | Shape::Cone(_)
        | Shape::Disc { .. }
        | Shape::Polyhedron(_) => {
            return Err("a sphere, an ellipsoid or a superellipsoid");
        }
    };
    if !sizes.iter().all(|size| SIZES.contains(size)) {
        return Err("sizes from 0.001 to 1000");
    }
    if EXPONENTS.contains(&exponent) { Ok(()) } else { Err("an exponent from 2 to 100") }
}

/// A body of the scene.
#[derive(Debug, Clone, Serialize)]
pub struct SceneBody {
    /// Its name.
    pub name: &'static str,
    /// Its shape as the scene has it.
    pub shape: Value,
    /// One.
    pub mass: f64,
    /// Its state at the scene's start.
    pub position: [f64; 3],
    /// Scalar first.
    pub orientation: [f64; 4],
    /// Of the centre.
    pub velocity: [f64; 3],
    /// In world axes.
    pub angular_velocity: [f64; 3],
}

/// The scene, as TOML or JSON.
#[derive(Debug, Clone, Serialize)]
pub struct Scene {
    carom: u32,
    /// What it is.
    pub title: String,
    /// How it was found.
    pub source: String,
    /// The two bodies.
    pub body: [SceneBody; 2],
}

/// The result of a search.
#[derive(Debug)]
pub enum Answer {
    /// A paradox.
    Found(Box<Found>),
    /// None.
    Absent(Box<Absence>),
}

/// A paradox that was found.
#[derive(Debug)]
pub struct Found {
    /// What was searched for.
    pub quest: Quest,
    /// The paradox.
    pub paradox: Paradox,
    /// Its scene.
    pub scene: Scene,
    /// How long before the contact the scene starts.
    pub before: f64,
}

/// Why there is no paradox to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// It is proved that none exists.
    Impossible(Impossibility),
    /// None was found at this many contacts.
    NotFound(u32),
}

impl Cause {
    /// Its name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Impossible(_) => "impossible",
            Self::NotFound(_) => "not_found",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Impossible(reason) => reason.fmt(f),
            Self::NotFound(tries) => write!(f, "none was found at {tries} contacts; it may not exist"),
        }
    }
}

/// A search without a result.
#[derive(Debug)]
pub struct Absence {
    /// What was searched for.
    pub quest: Quest,
    /// Why there is none.
    pub cause: Cause,
}

/// Searches for a paradox.
pub fn answer(request: &Request) -> Result<Answer, InputError> {
    let Request { shapes, kind, planar, seed, before } = *request;
    DELAY.check("before", before)?;
    if !KINDS.iter().any(|(_, own)| *own == kind) {
        return Err(InputError::of_value("type", kind.name(), "2b_star, 2b or marginal"));
    }
    for shape in &shapes {
        sized(shape).map_err(|expected| {
            InputError::of_option(Some("shapes"), "is beyond what the search resolves", Some(expected))
        })?;
    }
    let body = |shape: Shape| Body { shape, mass: 1.0, inertia: shape.unit_inertia(), fixed: false };
    let quest = Quest { bodies: shapes.map(body), kind, planar, seed };
    Ok(match find(&quest) {
        Outcome::Found(paradox) => {
            let scene = scene(&quest, &paradox, before);
            Answer::Found(Box::new(Found { quest, paradox: *paradox, scene, before }))
        }
        Outcome::Impossible(reason) => {
            Answer::Absent(Box::new(Absence { quest, cause: Cause::Impossible(reason) }))
        }
        Outcome::NotFound(tries) => {
            Answer::Absent(Box::new(Absence { quest, cause: Cause::NotFound(tries) }))
        }
    })
}

impl Answer {
    /// Whether there is one.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Found(_) => Verdict::Done,
            Self::Absent(_) => Verdict::NoAnswer,
        }
    }

    /// The answer for programs.
    pub fn document(&self) -> Value {
        match self {
            Self::Found(found) => found.document(),
            Self::Absent(absence) => json!({
                "type": absence.quest.kind.name(), "planar": absence.quest.planar, "seed": absence.quest.seed,
                "outcome": absence.cause.name(), "reason": absence.cause.to_string(),
            }),
        }
    }
}

fn scene(quest: &Quest, paradox: &Paradox, before: f64) -> Scene {
    let name = quest.kind.name();
    let named = |k: usize| {
        let state: State = if before == 0.0 {
            paradox.states[k]
        } else {
            Flight::new(&quest.bodies[k], &paradox.states[k], &Vector3::zeros()).at(-before)
        };
        let q = state.orientation.quaternion();
        SceneBody {
            name: ["first", "second"][k],
            shape: shape(&quest.bodies[k].shape),
            mass: quest.bodies[k].mass,
            position: state.position.into(),
            orientation: [q.w, q.i, q.j, q.k],
            velocity: state.velocity.into(),
            angular_velocity: state.angular_velocity.into(),
        }
    };
    let plane = if quest.planar { " in the plane" } else { "" };
    Scene {
        carom: 1,
        title: format!("A contact of type {name}{plane}"),
        source: format!("carom paradox, seed {}", quest.seed),
        body: [named(0), named(1)],
    }
}

fn shape(shape: &Shape) -> Value {
    match *shape {
        Shape::Point => json!({ "point": {} }),
        Shape::Sphere { radius } => json!({ "sphere": { "radius": radius } }),
        Shape::Ellipsoid { semi_axes } => json!({ "ellipsoid": { "semi_axes": semi_axes } }),
        Shape::Superellipsoid { semi_axes, exponent } => {
            json!({ "superellipsoid": { "semi_axes": semi_axes, "exponent": exponent } })
        }
        Shape::Box { half_extents, rounding } => {
            json!({ "box": { "half_extents": half_extents, "rounding": rounding } })
        }
        Shape::Cylinder { radius, half_length, rounding } => {
            json!({ "cylinder": { "radius": radius, "half_length": half_length, "rounding": rounding } })
        }
        Shape::Capsule { radius, half_length } => {
            json!({ "capsule": { "radius": radius, "half_length": half_length } })
        }
        Shape::Cone(cone) => {
            json!({ "cone": { "radius": cone.radius(), "height": cone.height(), "rounding": cone.rounding() } })
        }
        Shape::Disc { radius, rounding } => json!({ "disc": { "radius": radius, "rounding": rounding } }),
        Shape::Polyhedron(polyhedron) => {
            let vertices: Vec<[f64; 3]> = polyhedron.corners().map(Into::into).collect();
            json!({ "polyhedron": { "vertices": vertices, "rounding": polyhedron.rounding() } })
        }
    }
}

impl Found {
    /// The scene with what is known of it in comments.
    pub fn toml(&self) -> String {
        let mut text = String::new();
        for line in self.lines() {
            let _ = writeln!(text, "# {line}");
        }
        let scene = &self.scene;
        let _ = writeln!(text, "carom = 1\ntitle = \"{}\"\nsource = \"{}\"", scene.title, scene.source);
        for body in &scene.body {
            let _ = writeln!(text, "\n[[body]]\nname = \"{}\"", body.name);
            let _ = writeln!(text, "shape = {}", inline(&body.shape));
            let _ = writeln!(text, "mass = {:?}", body.mass);
            let _ = writeln!(text, "position = {:?}", body.position);
            let _ = writeln!(text, "orientation = {:?}", body.orientation);
            let _ = writeln!(text, "velocity = {:?}", body.velocity);
            let _ = writeln!(text, "angular_velocity = {:?}", body.angular_velocity);
        }
        text
    }

    /// What is known of it.
    pub fn lines(&self) -> Vec<String> {
        let (class, proof) = (&self.paradox.class, &self.paradox.certificate);
        let k = &class.kinematics;
        let times = |list: &[(f64, f64)]| {
            let words: Vec<String> = list.iter().map(|(t, gap)| format!("{:.2e} at {t:.2e}", gap)).collect();
            words.join(", ")
        };
        let when =
            if self.before == 0.0 { "now".to_string() } else { format!("at t = {}", number(self.before)) };
        vec![
            format!(
                "They touch {when} with v = {}, g'' = {}, g''' = {}, slip {}, |w| {}.",
                residual(k.v),
                residual(k.g2),
                number(k.g3),
                number(k.slip.norm()),
                number(k.w.norm())
            ),
            "Gaps of the exact flight, times from the contact:".to_string(),
            format!("before {}; nothing touches from {:.2e} on", times(&proof.before), proof.apart_since),
            format!("after, flying on freely: {}", times(&proof.after)),
        ]
    }

    fn document(&self) -> Value {
        let (class, proof) = (&self.paradox.class, &self.paradox.certificate);
        let k = &class.kinematics;
        let list = |times: &[(f64, f64)]| -> Vec<Value> {
            times.iter().map(|(time, gap)| json!({ "time": time, "gap": gap })).collect()
        };
        json!({
            "outcome": "found",
            "type": class.kind.name(),
            "planar": self.quest.planar,
            "seed": self.quest.seed,
            "tries": self.paradox.tries,
            "contact_time": self.before,
            "contact": {
                "point": k.points[0].as_slice(), "normal": k.normal.as_slice(), "slip": k.slip.as_slice(), "w": k.w.as_slice(),
                "v": k.v, "g2": k.g2, "g3": k.g3, "gap": k.gap,
            },
            "certificate": {
                "before": list(&proof.before), "after": list(&proof.after), "apart_since": proof.apart_since,
            },
            "scene": self.scene,
        })
    }
}

/// A JSON value as an inline TOML one.
/// A shape as a scene has it.
pub(crate) fn inline_shape(given: &Shape) -> String {
    inline(&shape(given))
}

fn inline(value: &Value) -> String {
    match value {
        Value::Object(entries) => {
            let words: Vec<String> =
                entries.iter().map(|(key, value)| format!("{key} = {}", inline(value))).collect();
            if words.is_empty() { "{}".to_string() } else { format!("{{ {} }}", words.join(", ")) }
        }
        Value::Array(entries) => {
            let words: Vec<String> = entries.iter().map(inline).collect();
            format!("[{}]", words.join(", "))
        }
        other => other.to_string(),
    }
}
