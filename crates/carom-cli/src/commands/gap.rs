//! `carom gap SCENE`: signed distance, closest points and normal of every pair, now or after free flight.

use std::io::{self, Write};
use std::path::PathBuf;

use carom::contact::Side;
use carom::gap::{gap, gap_to_plane};
use carom::motion::Flight;
use carom::scene::file;
use carom::scene::instant::{name, nearest_image};
use carom::scene::model::Scene;
use carom::shape::Shape;
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
from the first to the second. Points have no gap, and neither have two fixed bodies. In a periodic box the nearest
image counts.

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
    let pairs = pairs(&scene, arguments.at);
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

/// Every pair that has a gap.
fn pairs(scene: &Scene, t: f64) -> Vec<Pair> {
    let states: Vec<_> =
        scene.bodies.iter().map(|b| Flight::new(&b.body, &b.state, &scene.gravity).at(t)).collect();
    let mut pairs = Vec::new();
    let mut push =
        |sides: [Side; 2], gap: f64, normal: Vector3<f64>, points: [Vector3<f64>; 2], iterations| {
            pairs.push(Pair {
                bodies: sides.map(|side| name(scene, side).to_string()),
                gap,
                normal: normal.into(),
                points: points.map(Into::into),
                iterations,
            });
        };
    for (i, first) in scene.bodies.iter().enumerate().filter(|(_, b)| b.body.shape != Shape::Point) {
        if !first.body.fixed {
            for (k, plane) in scene.planes.iter().enumerate() {
                let found = gap_to_plane(&first.body.shape, &states[i].pose(), &plane.half_space);
                let [on_body, on_plane] = found.points;
                push(
                    [Side::Plane(k), Side::Body(i)],
                    found.gap,
                    found.normal,
                    [on_plane, on_body],
                    found.iterations,
                );
            }
        }
        for (j, second) in scene.bodies.iter().enumerate().skip(i + 1) {
            if second.body.shape == Shape::Point || (first.body.fixed && second.body.fixed) {
                continue;
            }
            let pose = nearest_image(scene, &states[i], &states[j]);
            if let Some(found) = gap((&first.body.shape, &states[i].pose()), (&second.body.shape, &pose)) {
                push([Side::Body(i), Side::Body(j)], found.gap, found.normal, found.points, found.iterations);
            }
        }
    }
    pairs
}
