//! `carom classify SCENE`: the kinematics of every contact and its type.

use std::fs;
use std::path::PathBuf;

use carom::contact::classify::Tolerances;
use carom_answers::classify::{self, Request};
use carom_answers::options::{RATES_SHOWN, SPAN, TOUCHING, TOUCHING_SHOWN};
use carom_answers::{InputError, Verdict};

use super::input::read_scene;
use super::output::{print, print_json};
use crate::Failure;
use crate::report::{self, Style};

/// The command's arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The scene, TOML or JSON; `-` reads standard input
    scene: PathBuf,

    /// How close, relative to the sizes of two bodies, counts as touching
    #[arg(long, value_name = "X", default_value = TOUCHING_SHOWN, value_parser = |text: &str| TOUCHING.parse(text))]
    touching: f64,

    /// The tolerance below which v, g'', g''', slip and w count as zero, relative to the magnitude of their terms
    #[arg(long, value_name = "X", default_value = RATES_SHOWN, value_parser = |text: &str| TOUCHING.parse(text))]
    tolerance: f64,

    /// Draw where, near each contact, the second body would enter the first
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// How long before and after the contact to draw, and to list in --json; by default a small part of a turn
    #[arg(long, value_name = "T", value_parser = |text: &str| SPAN.parse(text))]
    span: Option<f64>,

    /// Print one JSON document and nothing else
    #[arg(long)]
    pub json: bool,

    /// Show every column of every table, however narrow the terminal
    #[arg(long)]
    wide: bool,
}

const AFTER_HELP: &str = "\
Types, by the first derivative of the gap that is not zero in free flight:
  normal            v < 0: an impulse
  separating        v > 0
  graze             v = 0, g'' > 0: touch and part
  unrealizable      v = 0, g'' < 0: overlapping before and after; or a force holds it
  paradox_2b_star   v = g'' = 0, g''' < 0: nothing closes, yet free flight penetrates; no slip
  paradox_2b        the same with slip, the contact point at rest on one body
  paradox_marginal  the same with the contact point moving over both
  degenerate        none of these

Examples:
  carom classify cases/papers/paradox.toml
  carom classify cases/papers/paradox.toml --svg neighbourhood.svg --span 0.1";

/// Reads, classifies, draws, prints.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let request = Request {
        tolerances: Tolerances { touching: arguments.touching, rates: arguments.tolerance },
        neighbourhood: arguments.svg.is_some(),
        span: arguments.span,
    };
    let found = classify::answer(&read_scene(&arguments.scene)?, &request)?;
    if let Some(path) = &arguments.svg {
        fs::write(path, found.svg()).map_err(|error| {
            let message = format!("`{}` cannot be written: {error}", path.display());
            InputError::of_option(Some("svg"), &message, None)
        })?;
    }
    if arguments.json {
        print_json(&found.document())?;
    } else {
        print(|out| report::classify::write(out, &found, Style::of_stdout(arguments.wide)))?;
    }
    Ok(Verdict::Done)
}
