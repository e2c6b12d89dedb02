//! `carom weak-form SCENE`: the weak form of the equations of motion, held against a run.

use std::path::PathBuf;

use carom_answers::{Verdict, weak};

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

    /// Run to this time, instead of the scene's `run.until`
    #[arg(long, value_name = "T")]
    until: Option<f64>,

    /// Print one JSON document and nothing else
    #[arg(long)]
    pub json: bool,
}

const AFTER_HELP: &str = "\
A motion with collisions is a weak solution if the integral of (dL/dx) psi + (dL/dx') psi' vanishes for every test function psi that joints \
and, at the instant of an impact, contacts allow (Treschev and Zubelevich, eq. 2.4). The integral, over that of its terms' sizes, is told for \
the worst of a basis of such functions about each impact; the control is a function along the contact's normal, which is not allowed and must \
show the impulse.

Examples:
  carom weak-form cases/gallery/nonholonomic_pendulum.toml --until 2
  carom weak-form cases/gallery/rolling_between_rough_walls.toml --until 3 --json";

/// Runs, integrates, prints.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let found = weak::answer(&read_scene(&arguments.scene)?, arguments.until)?;
    if arguments.json {
        print_json(&found)?;
    } else {
        print(|out| report::weak::write(out, &found, Style::of_stdout(false)))?;
    }
    Ok(Verdict::Done)
}
