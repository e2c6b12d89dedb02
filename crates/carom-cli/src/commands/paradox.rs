//! `carom paradox --shapes A B`: initial conditions of a paradox for given shapes, as a scene.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use carom::body::{Body, State};
use carom::contact::classify::Type;
use carom::contact::paradox::{Outcome, Paradox, Quest, find};
use carom::motion::Flight;
use carom::shape::Shape;
use clap::ValueEnum;
use nalgebra::Vector3;
use serde::Serialize;
use serde_json::{Value, json};

use crate::diagnostics::Refusal;
use crate::report::paradox as report;
use crate::{Failure, Verdict};

/// The command's arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The two shapes, homogeneous and of unit mass
    #[arg(long, num_args = 2, value_names = ["SHAPE", "SHAPE"], required = true, value_parser = parse_shape)]
    shapes: Vec<Shape>,

    /// The type of paradox
    #[arg(long = "type", value_enum, default_value_t = Sort::TwoBStar)]
    kind: Sort,

    /// Motion in the plane of the first two axes of both bodies
    #[arg(long)]
    planar: bool,

    /// Another seed finds another paradox; the same seed the same
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Start the scene this long before the contact
    #[arg(long, value_name = "T", default_value_t = 0.0, value_parser = parse_before)]
    before: f64,

    /// Write the scene to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print one JSON document and nothing else
    #[arg(long)]
    pub json: bool,
}

const AFTER_HELP: &str = "\
Shapes: sphere(r), ellipsoid(a,b,c), superellipsoid(a,b,c;p).
The bodies touch with nothing closing, v = g'' = 0, and g''' < 0: apart before, and free flight penetrates after. Both
are certified by the exact gap, and stated in the scene. Where there is none, or none is found, the exit code is 3.

Examples:
  carom paradox --shapes \"superellipsoid(1,2,3;4)\" \"ellipsoid(2,1,1)\"
  carom paradox --shapes \"ellipsoid(3,1,1)\" \"ellipsoid(1.5,0.7,1)\" --type 2b --planar --seed 3 -o ellipses.toml
  carom classify ellipses.toml";

/// The types of paradox by their names on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Sort {
    /// No slip, w = 0
    #[value(name = "2b_star", alias = "paradox_2b_star")]
    TwoBStar,
    /// Slip, w = 0
    #[value(name = "2b", alias = "paradox_2b")]
    TwoB,
    /// Slip, w ≠ 0
    #[value(name = "marginal", alias = "paradox_marginal")]
    Marginal,
}

impl Sort {
    const fn kind(self) -> Type {
        match self {
            Self::TwoBStar => Type::Paradox2bStar,
            Self::TwoB => Type::Paradox2b,
            Self::Marginal => Type::ParadoxMarginal,
        }
    }
}

fn parse_before(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(t) if f64::is_finite(t) && t >= 0.0 => Ok(t),
        _ => Err("expected a time of 0 or more".to_string()),
    }
}

/// The sizes a shape on the command line may have: what the search resolves.
const SIZES: std::ops::RangeInclusive<f64> = 1e-3..=1e3;

/// The exponents it may have.
const EXPONENTS: std::ops::RangeInclusive<f64> = 2.0..=100.0;

fn parse_shape(text: &str) -> Result<Shape, String> {
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
    let sized = |sizes: &[f64]| {
        let fits = sizes.iter().all(|size| SIZES.contains(size));
        if fits { Ok(()) } else { Err("expected sizes from 0.001 to 1000".to_string()) }
    };
    match (name.trim(), numbers.as_slice()) {
        ("sphere", [radius]) => sized(&[*radius]).map(|()| Shape::Sphere { radius: *radius }),
        ("ellipsoid", &[a, b, c]) => sized(&[a, b, c]).map(|()| Shape::Ellipsoid { semi_axes: [a, b, c] }),
        ("superellipsoid", &[a, b, c, exponent]) => {
            sized(&[a, b, c])?;
            if !EXPONENTS.contains(&exponent) {
                return Err("expected an exponent from 2 to 100".to_string());
            }
            Ok(Shape::Superellipsoid { semi_axes: [a, b, c], exponent })
        }
        _ => Err(wrong()),
    }
}

/// A body of the scene.
#[derive(Serialize)]
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
#[derive(Serialize)]
pub struct Scene {
    carom: u32,
    /// What it is.
    pub title: String,
    /// How it was found.
    pub source: String,
    /// The two bodies.
    pub body: [SceneBody; 2],
}

/// What the text and the document are made of.
pub struct Found<'a> {
    /// The paradox.
    pub paradox: &'a Paradox,
    /// Its scene.
    pub scene: Scene,
    /// How long before the contact the scene starts.
    pub before: f64,
}

/// Searches and writes the scene.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let body = |shape: Shape| Body { shape, mass: 1.0, inertia: shape.unit_inertia(), fixed: false };
    let [first, second] = arguments.shapes.as_slice() else {
        return Err(Refusal::of_command_line(Some("--shapes"), "expected two shapes", None).into());
    };
    let quest = Quest {
        bodies: [body(*first), body(*second)],
        kind: arguments.kind.kind(),
        planar: arguments.planar,
        seed: arguments.seed,
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    let paradox = match find(&quest) {
        Outcome::Found(paradox) => paradox,
        Outcome::Impossible(reason) => {
            say_none(&mut out, &quest, arguments.json, "impossible", reason)?;
            return Ok(Verdict::NoAnswer);
        }
        Outcome::NotFound(tries) => {
            let reason = format!("none was found at {tries} contacts; it may not exist");
            say_none(&mut out, &quest, arguments.json, "not_found", &reason)?;
            return Ok(Verdict::NoAnswer);
        }
    };
    let found = Found {
        scene: scene(&quest, &paradox, arguments.before),
        paradox: &paradox,
        before: arguments.before,
    };
    let text = report::toml(&found);
    if let Some(path) = &arguments.output {
        fs::write(path, &text).map_err(|error| {
            let message = format!("`{}` cannot be written: {error}", path.display());
            Refusal::of_command_line(Some("--output"), &message, None)
        })?;
    }
    if arguments.json {
        serde_json::to_writer(&mut out, &document(&quest, &found)).map_err(io::Error::from)?;
        writeln!(out)?;
    } else if arguments.output.is_some() {
        report::write(&mut out, &found)?;
    } else {
        out.write_all(text.as_bytes())?;
    }
    out.flush()?;
    Ok(Verdict::Done)
}

/// That there is none: in the document, or on standard error, as standard output is for scenes.
fn say_none(out: &mut dyn Write, quest: &Quest, json: bool, outcome: &str, reason: &str) -> io::Result<()> {
    let kind = quest.kind.name();
    if json {
        let document = json!({ "type": kind, "planar": quest.planar, "seed": quest.seed, "outcome": outcome, "reason": reason });
        writeln!(out, "{document}")?;
        out.flush()
    } else {
        writeln!(io::stderr(), "no {kind} of these shapes: {reason}")
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
    }
}

fn document(quest: &Quest, found: &Found) -> Value {
    let (class, proof) = (&found.paradox.class, &found.paradox.certificate);
    let k = &class.kinematics;
    let list = |times: &[(f64, f64)]| -> Vec<Value> {
        times.iter().map(|(time, gap)| json!({ "time": time, "gap": gap })).collect()
    };
    json!({
        "outcome": "found",
        "type": class.kind.name(),
        "planar": quest.planar,
        "seed": quest.seed,
        "tries": found.paradox.tries,
        "contact_time": found.before,
        "contact": {
            "point": k.points[0].as_slice(), "normal": k.normal.as_slice(), "slip": k.slip.as_slice(), "w": k.w.as_slice(),
            "v": k.v, "g2": k.g2, "g3": k.g3, "gap": k.gap,
        },
        "certificate": {
            "before": list(&proof.before), "after": list(&proof.after), "apart_since": proof.apart_since,
        },
        "scene": found.scene,
    })
}
