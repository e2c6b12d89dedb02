//! `carom toi SCENE`: the first time of impact of every pair in free flight, with its error bound.

use std::path::PathBuf;

use carom_answers::options::END;
use carom_answers::{Verdict, toi};

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

    /// The time at which the search ends, instead of the scene's `run.until`
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = |text: &str| END.parse(text))]
    until: Option<f64>,

    /// Print one JSON document and nothing else
    #[arg(long)]
    pub json: bool,

    /// Show every column of every table, however narrow the terminal
    #[arg(long)]
    wide: bool,
}

const AFTER_HELP: &str = "\
Each pair flies freely, as if the others were not there; no contact of it is missed. A contact without approach has the type that \
`carom classify` gives it: a graze when free flight parts the bodies again, a paradox where it would let them overlap.

The error covers the search and the rounding of the scene's numbers. A search that takes too many gaps is given up: its pair is undecided, \
with the time until which it has no contact, and the exit code is 3.

In a periodic box every image is followed, a body's own as well, and `image` is how far the second body is displaced.

Examples:
  carom toi cases/papers/paradox.toml
  carom toi ball.toml --until 2 --json";

/// Reads, searches, prints.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let answer = toi::answer(&read_scene(&arguments.scene)?, arguments.until)?;
    if arguments.json {
        print_json(&answer)?;
    } else {
        print(|out| report::toi::write(out, &answer, Style::of_stdout(arguments.wide)))?;
    }
    Ok(answer.verdict())
}
