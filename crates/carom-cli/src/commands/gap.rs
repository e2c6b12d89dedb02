//! `carom gap SCENE`: signed distance, closest points and normal of every pair, now or after free flight.

use std::path::PathBuf;

use carom_answers::options::TIME;
use carom_answers::{Verdict, gap};

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

    /// Let the bodies first fly to this time, freely and through one another; backwards if negative
    #[arg(long, value_name = "T", default_value_t = 0.0, allow_negative_numbers = true, value_parser = |text: &str| TIME.parse(text))]
    at: f64,

    /// Print one JSON document and nothing else
    #[arg(long)]
    pub json: bool,

    /// Show every column of every table, however narrow the terminal
    #[arg(long)]
    wide: bool,
}

const AFTER_HELP: &str = "\
The gap is the distance of two bodies that are apart, and minus the depth of two that overlap. The normal points \
from the first to the second. Points have no gap, and neither have two fixed bodies. In a periodic box the image with \
the least gap counts, and `image` is how far the second body is displaced.

Examples:
  carom gap cases/papers/sp_corner.toml
  carom gap cases/papers/sp_corner.toml --at -0.5 --json";

/// Reads, flies, measures, prints.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let answer = gap::answer(&read_scene(&arguments.scene)?, arguments.at)?;
    if arguments.json {
        print_json(&answer)?;
    } else {
        print(|out| report::gap::write(out, &answer, Style::of_stdout(arguments.wide)))?;
    }
    Ok(Verdict::Done)
}
