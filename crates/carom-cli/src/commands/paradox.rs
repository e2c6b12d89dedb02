//! `carom paradox --shapes A B`: initial conditions of a paradox for given shapes, as a scene.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use carom::contact::classify::Type;
use carom::shape::Shape;
use carom_answers::options::DELAY;
use carom_answers::paradox::{self, Answer, Request, parse_shape};
use carom_answers::{InputError, Verdict};
use clap::ValueEnum;

use super::output::{print, print_json};
use crate::Failure;

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

    /// The seed of the search: another seed finds another paradox, the same seed the same one
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Start the scene this long before the contact
    #[arg(long, value_name = "T", default_value_t = 0.0, value_parser = |text: &str| DELAY.parse(text))]
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

The bodies touch with nothing closing, v = g'' = 0, and g''' < 0: apart before, and free flight penetrates after. Both are certified by the \
exact gap, and stated in the scene. If no such paradox exists, or none is found, the exit code is 3.

Examples:
  carom paradox --shapes \"superellipsoid(1,2,3;4)\" \"ellipsoid(2,1,1)\"
  carom paradox --shapes \"ellipsoid(3,1,1)\" \"ellipsoid(1.5,0.7,1)\" --type 2b --planar
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

/// Searches and writes the scene.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let &[first, second] = arguments.shapes.as_slice() else {
        return Err(InputError::of_option(Some("shapes"), "expected two shapes", None).into());
    };
    let request = Request {
        shapes: [first, second],
        kind: arguments.kind.kind(),
        planar: arguments.planar,
        seed: arguments.seed,
        before: arguments.before,
    };
    let answer = paradox::answer(&request)?;
    let text = match &answer {
        Answer::Found(found) => found.toml(),
        Answer::Absent(absence) if !arguments.json => {
            // Standard output is for scenes.
            writeln!(io::stderr(), "no {} of these shapes: {}", absence.quest.kind.name(), absence.cause)?;
            return Ok(answer.verdict());
        }
        Answer::Absent(_) => String::new(),
    };
    if let (Some(path), Answer::Found(_)) = (&arguments.output, &answer) {
        fs::write(path, &text).map_err(|error| {
            let message = format!("`{}` cannot be written: {error}", path.display());
            InputError::of_option(Some("output"), &message, None)
        })?;
    }
    if arguments.json {
        print_json(&answer.document())?;
    } else if let (Some(_), Answer::Found(found)) = (&arguments.output, &answer) {
        print(|out| {
            writeln!(out, "{}", found.scene.title)?;
            found.lines().iter().try_for_each(|line| writeln!(out, "{line}"))
        })?;
    } else {
        print(|out| out.write_all(text.as_bytes()))?;
    }
    Ok(answer.verdict())
}
