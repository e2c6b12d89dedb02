//! `carom compare SCENE`: every impact law on the same scene, side by side.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use carom::impact::Law;
use carom_answers::Verdict;
use carom_answers::compare::Comparison;
use carom_answers::solve::Prepared;

use super::input::read_scene;
use super::law::RestArguments;
use super::output::{print, print_json};
use super::solve::TouchArguments;
use crate::Failure;
use crate::report::{self, Style};

/// The command's arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The scene, TOML or JSON; `-` reads standard input
    scene: PathBuf,

    /// Print one JSON document and nothing else
    #[arg(long)]
    pub json: bool,

    /// Show every column of every table, however narrow the terminal
    #[arg(long)]
    wide: bool,

    #[command(flatten)]
    rest: RestArguments,

    #[command(flatten)]
    touch: TouchArguments,
}

const AFTER_HELP: &str = "\
Laws that pull, gain energy, leave a contact closing or have no solution are marked; the exit code is 0 all the same, as the comparison is \
the answer, unless --strict asks for every law to be admissible.

Examples:
  carom compare corner.toml
  carom compare corner.toml --json";

/// Reads, solves by every law, prints.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let prepared = Prepared::of(read_scene(&arguments.scene)?, arguments.touch.touching)?;
    let watched = io::stderr().is_terminal();
    let mut number = 0;
    let comparison = Comparison::of(&prepared, &arguments.rest.resolution(), |law| {
        number += 1;
        if watched {
            // Only seen where it takes its time.
            let _ = write!(io::stderr(), "\r\x1b[K{number} of {}: {law} …", Law::ALL.len());
        }
    });
    if watched {
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
    let comparison = comparison?;
    if arguments.json {
        print_json(&comparison.document())?;
    } else {
        print(|out| report::compare::write(out, &comparison, Style::of_stdout(arguments.wide)))?;
    }
    Ok(comparison.verdict(arguments.rest.strict))
}
