//! `carom plot DIR --out FILE`: static pictures of a run, for pages that do not move.

mod averages;
pub mod canvas;
mod charts;
mod filmstrip;
mod sweep;
mod track;

use std::path::PathBuf;

use carom::contact::Side;
use carom::scene::instant::name;
use carom_answers::folder::Recording;
use carom_answers::{InputError, Verdict};
use clap::ValueEnum;

use super::input::read_scene;
use crate::Failure;
use averages::{Curves, Function};
use canvas::{DrawError, Picture};
use track::Track;

/// The command's arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// A folder that `carom run -o` or `carom sweep -o` wrote; for g-r, msd and vacf also one written with --replicas
    run: PathBuf,

    /// The file to write: .svg or .png
    #[arg(long, short = 'o', value_name = "FILE")]
    out: PathBuf,

    /// What to draw
    #[arg(long, value_enum, default_value_t = What::Energies)]
    what: What,

    /// The bodies to draw, by name, for forces and phase; by default the first six of those that move
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    body: Vec<String>,

    /// The pair whose gap to draw: two names, A,B; more than one may be given. By default the pairs that come closest
    #[arg(long, value_name = "A,B")]
    pair: Vec<String>,

    /// The phase portrait's coordinate: x, y or z of the position against the velocity, or spin, the body's own components of
    /// the angular velocity
    #[arg(long, value_enum, default_value_t = Coordinate::X)]
    coordinate: Coordinate,

    /// How many frames a filmstrip has
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=60))]
    frames: u32,

    /// Draw from this time, lag or distance
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    from: Option<f64>,

    /// Draw to this time, lag or distance
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    to: Option<f64>,

    /// The size in pixels, WIDTHxHEIGHT; by default what suits the picture
    #[arg(long, value_name = "WxH", value_parser = parse_size)]
    size: Option<(u32, u32)>,

    /// Of a sweep: the column along x; alone it makes a histogram
    #[arg(long, value_name = "COLUMN")]
    x: Option<String>,

    /// Of a sweep: the column along y
    #[arg(long, value_name = "COLUMN", requires = "x")]
    y: Option<String>,

    /// Of a sweep: the column that colours tell; where x and y make a grid, a heat map
    #[arg(long, value_name = "COLUMN", requires = "y")]
    value: Option<String>,

    /// Print one JSON document, saying what was drawn, and nothing else
    #[arg(long)]
    pub json: bool,
}

const AFTER_HELP: &str = "\
A picture is drawn from the samples and events in the folder: a run with `run.sample` = 0 has nothing to draw but g-r, msd and vacf, which \
come from run.json. These also take a folder of `carom run --replicas`; of the others draw one copy, DIR/replica-0.

Examples:
  carom run cases/papers/paradox.toml --until 0.4 -o paradox
  carom plot paradox --out energies.svg
  carom plot paradox --what gaps --out gap.png
  carom plot paradox --what filmstrip --frames 5 --out strip.svg
  carom run cases/gallery/sphere_gas.toml --replicas 4 -o gases
  carom plot gases --what g-r --out g.svg
  carom sweep ball.toml -o sweep --vary \"surface.restitution=grid(0, 1, 101)\"
  carom plot sweep --x surface.restitution --y impacts --out impacts.svg";

/// What a picture shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// Kinetic, potential and total energy over time
    Energies,
    /// Gaps of pairs over time
    Gaps,
    /// Forces on bodies over time, and the impulses of events
    Forces,
    /// Velocity against position, or the spin in the body's frame
    Phase,
    /// The bodies themselves at several times
    Filmstrip,
    /// The pair correlation function of a gas; with --replicas that of each copy and their mean
    #[value(name = "g-r")]
    Pairs,
    /// The mean-square displacement of a gas over the lag, likewise
    #[value(name = "msd")]
    Displacement,
    /// The velocity autocorrelation of a gas over the lag, likewise
    #[value(name = "vacf")]
    Velocities,
}

impl What {
    /// The function of a gas that it is, which needs no samples.
    fn function(self) -> Option<Function> {
        match self {
            Self::Pairs => Some(Function::Pairs),
            Self::Displacement => Some(Function::Displacement),
            Self::Velocities => Some(Function::Velocities),
            Self::Energies | Self::Gaps | Self::Forces | Self::Phase | Self::Filmstrip => None,
        }
    }
}

/// What a phase portrait is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Coordinate {
    /// x and its velocity
    X,
    /// y and its velocity
    Y,
    /// z and its velocity
    Z,
    /// The angular velocity in the body's frame, over time
    Spin,
}

fn parse_size(text: &str) -> Result<(u32, u32), String> {
    let sides = text.split_once('x').and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    match sides {
        Some((w, h)) if (100..=8000).contains(&w) && (100..=8000).contains(&h) => Ok((w, h)),
        _ => Err("expected WIDTHxHEIGHT, each from 100 to 8000".to_string()),
    }
}

/// Reads, draws, writes.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let mut picture = Picture::new(&arguments.out).ok_or_else(|| {
        let message = format!("{} is neither .svg nor .png", arguments.out.display());
        InputError::of_option(Some("out"), &message, Some("a name that ends in .svg or .png"))
    })?;
    let is_sweep = carom_answers::sweep::is_sweep(&arguments.run);
    if let Some(x) = arguments.x.as_deref().filter(|_| is_sweep) {
        return draw_sweep(picture, x, arguments);
    }
    if is_sweep || arguments.x.is_some() {
        let (message, expected) = if is_sweep {
            (format!("{} is the folder of a sweep", arguments.run.display()), "--x COLUMN, and --y, --value")
        } else {
            (
                format!("{} is not the folder of a sweep", arguments.run.display()),
                "a folder that `carom sweep -o` wrote",
            )
        };
        return Err(InputError::of_option(Some("x"), &message, Some(expected)).into());
    }
    if let Some(function) = arguments.what.function() {
        return draw_function(picture, function, arguments);
    }
    let recording = Recording::open(&arguments.run, read_scene)?;
    let track = Track::of(&recording, arguments.from, arguments.to).map_err(|error| {
        Failure::Other(format!("the run in {} cannot be read: {error}", arguments.run.display()))
    })?;
    if track.frames.is_empty() {
        let message = format!("{} has no samples in that time", arguments.run.display());
        let expected = "a run with `run.sample` above 0, and times within it";
        return Err(InputError::of_option(None, &message, Some(expected)).into());
    }
    let scene = &recording.scene;
    let bodies = bodies(arguments, scene)?;
    let drawn = match arguments.what {
        What::Energies => charts::energies(&mut picture, arguments.size, scene, &track),
        What::Gaps => {
            let pairs = pairs(arguments, scene, &track)?;
            charts::gaps(&mut picture, arguments.size, scene, &track, &pairs)
        }
        What::Forces => charts::forces(&mut picture, arguments.size, scene, &track, &bodies),
        What::Phase => {
            charts::phase(&mut picture, arguments.size, scene, &track, &bodies, arguments.coordinate)
        }
        // The functions of a gas are drawn by now.
        What::Filmstrip | What::Pairs | What::Displacement | What::Velocities => {
            filmstrip::draw(&mut picture, arguments.size, scene, &track, arguments.frames as usize)
        }
    };
    write(&picture, drawn, arguments)?;
    if arguments.json {
        let told = serde_json::json!({
            "out": arguments.out.display().to_string(),
            "frames": track.frames.len(),
            "events": track.events.len(),
            "from": track.span().0,
            "to": track.span().1,
        });
        println!("{told}");
    }
    Ok(Verdict::Done)
}

/// A function that a gas was measured to have.
fn draw_function(
    mut picture: Picture,
    function: Function,
    arguments: &Arguments,
) -> Result<Verdict, Failure> {
    let curves = Curves::read(&arguments.run, function, arguments.from, arguments.to)?;
    let drawn = curves.draw(&mut picture, arguments.size);
    write(&picture, drawn, arguments)?;
    if arguments.json {
        let mean = curves.mean();
        let told = serde_json::json!({
            "out": arguments.out.display().to_string(),
            "runs": curves.count(),
            "points": mean.len(),
            "from": mean.first().map(|point| point.0),
            "to": mean.last().map(|point| point.0),
        });
        println!("{told}");
    }
    Ok(Verdict::Done)
}

/// The columns of a sweep.
fn draw_sweep(mut picture: Picture, x: &str, arguments: &Arguments) -> Result<Verdict, Failure> {
    let names = [("x", Some(x)), ("y", arguments.y.as_deref()), ("value", arguments.value.as_deref())];
    let wanted: Vec<(&str, &str)> =
        names.into_iter().filter_map(|(option, name)| Some((option, name?))).collect();
    let columns = carom_answers::sweep::columns(&arguments.run, &wanted)?;
    let labels: Vec<&str> = wanted.iter().map(|(_, name)| *name).collect();
    let chart = sweep::Chart::of(&labels, &columns);
    let drawn = picture.draw(arguments.size.unwrap_or(charts::SIZE), &chart);
    write(&picture, drawn, arguments)?;
    if arguments.json {
        let told = serde_json::json!({
            "out": arguments.out.display().to_string(),
            "kind": chart.kind(),
            "samples": columns.first().map_or(0, Vec::len),
        });
        println!("{told}");
    }
    Ok(Verdict::Done)
}

/// Writes a picture that was drawn.
fn write(picture: &Picture, drawn: Result<(), DrawError>, arguments: &Arguments) -> Result<(), Failure> {
    drawn.map_err(|error| Failure::Other(format!("the picture cannot be drawn: {error}")))?;
    picture.write(&arguments.out).map_err(|error| {
        let message = format!("{} cannot be written: {error}", arguments.out.display());
        Failure::Other(message)
    })
}

/// The most bodies or pairs in one chart, unless they are asked for by name.
const MOST: usize = 6;

type Scene = carom::scene::model::Scene;

fn bodies(arguments: &Arguments, scene: &Scene) -> Result<Vec<usize>, InputError> {
    if arguments.body.is_empty() {
        return Ok((0..scene.bodies.len()).filter(|&i| !scene.bodies[i].body.fixed).take(MOST).collect());
    }
    arguments
        .body
        .iter()
        .map(|wanted| {
            scene.bodies.iter().position(|body| body.name == *wanted).ok_or_else(|| {
                let message = format!("there is no body `{wanted}`");
                InputError::of_option(Some("body"), &message, Some(&some_names(scene)))
            })
        })
        .collect()
}

fn some_names(scene: &Scene) -> String {
    let names: Vec<&str> = scene.bodies.iter().map(|body| body.name.as_str()).take(8).collect();
    let more = if scene.bodies.len() > names.len() { ", …" } else { "" };
    format!("one of {}{more}", names.join(", "))
}

fn pairs(arguments: &Arguments, scene: &Scene, track: &Track) -> Result<Vec<[Side; 2]>, InputError> {
    if arguments.pair.is_empty() {
        return Ok(track.nearest_pairs(scene, MOST));
    }
    arguments
        .pair
        .iter()
        .map(|pair| {
            let side = |wanted: &str| {
                let planes = (0..scene.planes.len()).map(Side::Plane);
                let mut sides = planes.chain((0..scene.bodies.len()).map(Side::Body));
                sides.find(|&side| name(scene, side) == wanted)
            };
            let sides = pair.split_once(',').and_then(|(a, b)| Some([side(a.trim())?, side(b.trim())?]));
            match sides {
                Some([Side::Body(a), Side::Plane(p)]) => Ok([Side::Plane(p), Side::Body(a)]),
                Some([first, second @ Side::Body(_)]) if first != second => Ok([first, second]),
                _ => {
                    let message = format!("`{pair}` is not a pair of this scene");
                    Err(InputError::of_option(Some("pair"), &message, Some("two names, as in ball,floor")))
                }
            }
        })
        .collect()
}
