//! `carom generalized FILE`: the impact problem given as matrices.

use std::io::{self, Write};
use std::path::PathBuf;

use carom::audit::{Audit, audit};
use carom::impact::{Options, Order, Outcome, Problem};
use carom::scene::generalized::{self as file, Request};
use nalgebra::DMatrix;
use serde::{Serialize, Serializer};

use super::input::Input;
use super::law::LawArguments;
use crate::diagnostics::Refusal;
use crate::report::{self, Style};
use crate::{Failure, Verdict};

/// The command's arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The problem, TOML or JSON; `-` reads standard input
    file: PathBuf,

    /// Print one JSON document and nothing else
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    law: LawArguments,
}

const AFTER_HELP: &str = "\
A file: three equal balls in a row, the first one moving. Rows of `contacts` make y = N v, negative
when closing.

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
  max_steps   = 5000                   # of a cascade or sequence
  title       = \"free text\"
  source      = \"citation, equation, figure\"

Examples:
  carom generalized cases/laws/cradle.toml
  carom generalized cases/laws/cradle.toml --law sequential --order reversed
  carom generalized - --json < problem.json";

/// Reads, solves, prints.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let input = Input::read(&arguments.file)?;
    let mut request = match file::read(&input.text, input.format) {
        Ok(request) => request,
        Err(diagnostics) => return Err(input.refuse(diagnostics).into()),
    };
    arguments.adjust(&request.problem, &mut request.options)?;

    let report = match Report::of(&request, arguments.json) {
        Ok(report) => report,
        Err(error) => {
            let diagnostic = file::explain(&input.text, input.format, &error);
            return Err(input.refuse(vec![diagnostic]).into());
        }
    };
    let verdict = arguments.law.rest.verdict(&report.outcome, Some(&report.audit));
    report.print(arguments.json)?;
    Ok(verdict)
}

impl Arguments {
    /// What the command line says goes before what the file says.
    fn adjust(&self, problem: &Problem, options: &mut Options) -> Result<(), Refusal> {
        options.law = self.law.law.unwrap_or(options.law);
        self.law.rest.adjust(options);
        if let Some(order) = &self.law.rest.order {
            if let Order::Rows(rows) = order
                && let Some(fault) = file::order_fault(problem, rows)
            {
                return Err(Refusal::of_command_line(
                    Some("--order"),
                    &fault,
                    Some("every normal's row once"),
                ));
            }
            options.order = order.clone();
        }
        Ok(())
    }
}

/// What is printed.
#[derive(Serialize)]
struct Report<'a> {
    title: Option<&'a str>,
    source: Option<&'a str>,
    #[serde(flatten)]
    outcome: Outcome,
    #[serde(serialize_with = "rows")]
    delassus: DMatrix<f64>,
    #[serde(serialize_with = "rows")]
    projector: DMatrix<f64>,
    audit: Audit,
    #[serde(skip)]
    request: &'a Request,
}

impl<'a> Report<'a> {
    /// The matrices are for machines only: on large problems they cost as much as the rest.
    fn of(request: &'a Request, matrices: bool) -> Result<Self, carom::Error> {
        let Request { problem, options, .. } = request;
        let outcome = problem.solve(options)?;
        let none = DMatrix::zeros(0, 0);
        Ok(Self {
            title: request.title.as_deref(),
            source: request.source.as_deref(),
            audit: audit(problem, &outcome),
            outcome,
            delassus: if matrices { problem.delassus(options)? } else { none.clone() },
            projector: if matrices { problem.projector(options)? } else { none },
            request,
        })
    }

    fn print(&self, json: bool) -> io::Result<()> {
        let mut out = io::BufWriter::new(io::stdout().lock());
        if json {
            serde_json::to_writer(&mut out, self)?;
            writeln!(out)?;
        } else {
            let style = Style::of_stdout();
            report::generalized::write(&mut out, self.request, &self.outcome, &self.audit, style)?;
        }
        out.flush()
    }
}

/// A matrix as an array of its rows.
fn rows<S: Serializer>(matrix: &DMatrix<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(matrix.row_iter().map(|row| row.iter().copied().collect::<Vec<_>>()))
}
