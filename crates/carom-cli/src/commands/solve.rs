//! `carom solve SCENE`: the impact at the scene's instant.

use std::path::PathBuf;

use carom_answers::Verdict;
use carom_answers::options::{TOUCHING, TOUCHING_SHOWN};
use carom_answers::solve::Prepared;

use super::input::read_scene;
use super::law::LawArguments;
use super::output::{print, print_json};
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
    law: LawArguments,

    #[command(flatten)]
    touch: TouchArguments,

    /// Also show the contacts as screws: inertances, wrenches, Plücker coordinates
    #[arg(long)]
    screws: bool,
}

/// How close counts as touching.
#[derive(Debug, clap::Args)]
pub struct TouchArguments {
    /// How close, relative to the sizes of two bodies, counts as touching when contacts are detected
    #[arg(long, value_name = "X", default_value = TOUCHING_SHOWN, value_parser = |text: &str| TOUCHING.parse(text))]
    pub touching: f64,
}

const AFTER_HELP: &str = "\
A scene: a ball dropping on the floor.

  carom = 1
  [[body]]
  name = \"ball\"
  shape = { sphere = { radius = 0.1 } }
  mass = 2
  position = [0, 0, 0.1]
  velocity = [0.5, 0, -3]
  [[plane]]
  name = \"floor\"
  normal = [0, 0, 1]
  [surface]
  restitution = 0.8

Examples:
  carom solve ball.toml
  carom solve ball.toml --law poisson --json
  carom solve ball.toml --screws";

/// Reads, solves, prints.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let prepared = Prepared::of(read_scene(&arguments.scene)?, arguments.touch.touching)?;
    let solved = prepared.solved(&arguments.law.resolution())?;
    if arguments.json {
        print_json(&solved.document(arguments.screws))?;
    } else {
        print(|out| report::solve::write(out, &solved, arguments.screws, Style::of_stdout(arguments.wide)))?;
    }
    Ok(solved.verdict(arguments.law.rest.strict))
}
