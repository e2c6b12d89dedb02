//! `carom gap SCENE`: signed distance, closest points and normal of every pair, now or after free flight.

use std::io::{self, Write};
use std::path::PathBuf;

use carom::contact::Side;
use carom::gap::{Gap, gap, gap_to_plane};
use carom::motion::Flight;
use carom::scene::file;
use carom::scene::instant::name;
use carom::scene::model::Scene;
use carom::shape::Shape;
use carom::toi::periodic::Periodic;
use nalgebra::Vector3;
use serde::Serialize;

use super::input::Input;
use crate::diagnostics::Refusal;
use crate::report::{self, Style};
use crate::{Failure, Verdict};

/// The command's arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The scene, TOML or JSON; `-` reads standard input
    scene: PathBuf,

    /// The time to fly to, freely and through one another; negative: back
    #[arg(long, value_name = "T", default_value_t = 0.0, allow_negative_numbers = true, value_parser = parse_time)]
    at: f64,

    /// Print one JSON document and nothing else
    #[arg(long)]
    pub json: bool,
}

const AFTER_HELP: &str = "\
The gap is the distance of two bodies that are apart, and minus the depth of two that overlap. The normal points
from the first to the second. Points have no gap, and neither have two fixed bodies. In a periodic box the image with
the least gap counts, and `image` is how far the second body is displaced.

Examples:
  carom gap cases/papers/sp_corner.toml
  carom gap cases/papers/sp_corner.toml --at -0.5 --json";

fn parse_time(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(t) if f64::is_finite(t) => Ok(t),
        _ => Err("expected a finite number".to_string()),
    }
}

/// One pair.
#[derive(Serialize)]
pub struct Pair {
    /// The names, a plane first.
    pub bodies: [String; 2],
    /// Distance, or minus the depth.
    pub gap: f64,
    /// From the first to the second.
    pub normal: [f64; 3],
    /// On the first and on the second.
    pub points: [[f64; 3]; 2],
    /// In a periodic box, the displacement of the second body that is nearest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<[f64; 3]>,
    /// Steps of the search.
    pub iterations: u32,
}

#[derive(Serialize)]
struct Document<'a> {
    title: Option<&'a str>,
    time: f64,
    pairs: &'a [Pair],
}

/// Reads, flies, measures, prints.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let (input, scene) = Input::read(&arguments.scene)?.scene()?;
    if arguments.at != 0.0 && !scene.joints.is_empty() {
        let message = "joints keep bodies from flying freely";
        return Err(Refusal::of_command_line(Some("--at"), message, Some("0 for a scene with joints")).into());
    }
    let pairs = match pairs(&scene, arguments.at) {
        Ok(pairs) => pairs,
        Err(message) => {
            let path = "world.periodic";
            let expected = "lengths of the order of the bodies";
            let diagnostic = file::explain(&input.text, input.format, path, &message, expected);
            return Err(input.refuse(vec![diagnostic]).into());
        }
    };
    if let Some(pair) = pairs.iter().find(|pair| !pair.gap.is_finite()) {
        let message = format!(
            "the gap of `{}` and `{}` is beyond the range of 64-bit floats",
            pair.bodies[0], pair.bodies[1]
        );
        let diagnostic =
            file::explain(&input.text, input.format, "body[0]", &message, "a motion that can be computed");
        return Err(input.refuse(vec![diagnostic]).into());
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    if arguments.json {
        let document = Document { title: scene.title.as_deref(), time: arguments.at, pairs: &pairs };
        serde_json::to_writer(&mut out, &document).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        report::gap::write(&mut out, &scene, arguments.at, &pairs, Style::of_stdout())?;
    }
    out.flush()?;
    Ok(Verdict::Done)
}

/// Every pair that has a gap, or what is wrong with the box.
fn pairs(scene: &Scene, t: f64) -> Result<Vec<Pair>, String> {
    let poses: Vec<_> =
        scene.bodies.iter().map(|b| Flight::new(&b.body, &b.state, &scene.gravity).at(t).pose()).collect();
    let periodic = scene.periodic.map(|lengths| Periodic { lengths });
    let mut pairs = Vec::new();
    let mut push = |sides: [Side; 2], found: Gap, points: [Vector3<f64>; 2], image: Option<Vector3<f64>>| {
        pairs.push(Pair {
            bodies: sides.map(|side| name(scene, side).to_string()),
            gap: found.gap,
            normal: found.normal.into(),
            points: points.map(Into::into),
            image: image.map(Into::into),
            iterations: found.iterations,
        });
    };
    for (i, first) in scene.bodies.iter().enumerate().filter(|(_, b)| b.body.shape != Shape::Point) {
        let one = (&first.body.shape, &poses[i]);
        if !first.body.fixed {
            for (k, plane) in scene.planes.iter().enumerate() {
                let found = gap_to_plane(one.0, one.1, &plane.half_space);
                let [on_body, on_plane] = found.points;
                push([Side::Plane(k), Side::Body(i)], found, [on_plane, on_body], None);
            }
        }
        for (j, second) in scene.bodies.iter().enumerate().skip(i) {
            if second.body.shape == Shape::Point || (first.body.fixed && second.body.fixed) {
                continue;
            }
            let sides = [Side::Body(i), Side::Body(j)];
            let two = (&second.body.shape, &poses[j]);
            let Some(periodic) = periodic else {
                if i != j
                    && let Some(found) = gap(one, two)
                {
                    push(sides, found, found.points, None);
                }
                continue;
            };
            // A body shorter than the box never meets itself.
            if i == j && !periodic.is_spanned_by(one.0) {
                continue;
            }
            let nearest = if i == j { periodic.nearest_own(one) } else { periodic.nearest(one, two) };
            let Some((found, image)) = nearest else {
                return Err(format!("is too small for `{}` and `{}`", first.name, second.name));
            };
            push(sides, found, found.points, Some(image));
        }
    }
    Ok(pairs)
}
