//! `carom generalized FILE`: the impact problem given as matrices.

use std::path::PathBuf;

use carom_answers::{Verdict, generalized};

use super::input::read;
use super::law::LawArguments;
use super::output::{print, print_json};
use crate::Failure;
use crate::report::{self, Style};

/// The command's arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The problem, TOML or JSON; `-` reads standard input
    file: PathBuf,

    /// Print one JSON document and nothing else
    #[arg(long)]
    pub json: bool,

    /// Show every column of every table, however narrow the terminal
    #[arg(long)]
    wide: bool,

    #[command(flatten)]
    law: LawArguments,
}

const AFTER_HELP: &str = "\
A file: three equal balls in a row, the first one moving. Rows of `contacts` make y = N v, negative when closing.

  mass        = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
  contacts    = [[-1, 1, 0], [0, -1, 1]]
  velocity    = [1, 0, 0]
  restitution = 1                      # or one number per row

and what may be added:

  bilateral   = [[1, 1, 1]]            # joints: A v = 0
  law         = \"newton_lcp\"           # newton, poisson, sequential, reflection, decoupled
  tangential  = [1]                    # rows of `contacts` that are equalities
  rough       = [{ normal = 0, tangent = 1 }]
  friction    = [{ normal = 0, tangent = [1, 2], coefficient = 0.3 }]
  termination = \"stronge\"              # poisson, newton: how a contact with friction ends
  order       = \"given\"                # reversed, fastest, or a list of the normals' rows
  tolerance   = 1e-10
  max_steps   = 5000                   # otherwise 1000, and 50 more a contact
  title       = \"free text\"
  source      = \"citation, equation, figure\"

Examples:
  carom generalized cases/laws/cradle.toml
  carom generalized cases/laws/cradle.toml --law sequential --order reversed
  carom generalized - --json < problem.json";

/// Reads, solves, prints.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let input = read(&arguments.file)?;
    let answer = generalized::answer(&input, &arguments.law.resolution(), arguments.json)?;
    if arguments.json {
        print_json(&answer)?;
    } else {
        print(|out| report::generalized::write(out, &answer, Style::of_stdout(arguments.wide)))?;
    }
    Ok(answer.verdict(arguments.law.rest.strict))
}
