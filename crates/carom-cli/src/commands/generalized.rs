//! `carom generalized FILE`: the impact problem given as matrices.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use carom::audit::{Audit, audit};
use carom::impact::coulomb::Termination;
use carom::impact::{Law, Options, Order, Outcome, Problem, Status, TOLERANCES};
use carom::scene::document::{Format, LONGEST};
use carom::scene::generalized::{self as file, Request};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use nalgebra::DMatrix;
use serde::{Serialize, Serializer};

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

    /// The impact law, instead of the file's
    #[arg(long, value_name = "NAME", value_parser = law_parser())]
    law: Option<Law>,

    /// How a contact with Coulomb friction ends, instead of the file's
    #[arg(long, value_name = "NAME", value_parser = termination_parser())]
    termination: Option<Termination>,

    /// The order of contacts taken one at a time: given, reversed, fastest, or the normals' rows as in 0,2,1
    #[arg(long, value_parser = parse_order)]
    order: Option<Order>,

    /// The tolerance of rank, consistency and admissibility, relative to the data; from 1e-14 to 0.01
    #[arg(long, value_name = "X", value_parser = parse_tolerance)]
    tolerance: Option<f64>,

    /// Project the velocity on the bilateral rows first, instead of refusing one that violates them
    #[arg(long)]
    project: bool,

    /// Exit with 3 also when the result is not admissible or the steps ran out
    #[arg(long)]
    strict: bool,
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
  carom generalized cradle.toml
  carom generalized cradle.toml --law sequential --order reversed
  carom generalized - --json < cradle.json";

fn law_parser() -> impl TypedValueParser<Value = Law> {
    PossibleValuesParser::new(Law::ALL.map(Law::name))
        .map(|name| Law::from_name(&name).unwrap_or(Law::NewtonLcp))
}

fn termination_parser() -> impl TypedValueParser<Value = Termination> {
    PossibleValuesParser::new(Termination::ALL.map(Termination::name))
        .map(|name| Termination::from_name(&name).unwrap_or_default())
}

fn parse_order(text: &str) -> Result<Order, String> {
    match text {
        "given" => Ok(Order::Given),
        "reversed" => Ok(Order::Reversed),
        "fastest" => Ok(Order::Fastest),
        rows => rows
            .split(',')
            .map(|row| row.trim().parse())
            .collect::<Result<_, _>>()
            .map(Order::Rows)
            .map_err(|_| "expected given, reversed, fastest, or row numbers as in 0,2,1".to_string()),
    }
}

fn parse_tolerance(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(tolerance) if TOLERANCES.contains(&tolerance) => Ok(tolerance),
        _ => Err(format!("expected a number from {:e} to {}", TOLERANCES.start(), TOLERANCES.end())),
    }
}

/// Reads, solves, prints.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let (name, text) = read(&arguments.file)?;
    let extension = arguments.file.extension().and_then(|extension| extension.to_str());
    let format = extension.and_then(Format::from_extension).unwrap_or_else(|| Format::guess(&text));
    let mut request = match file::read(&text, format) {
        Ok(request) => request,
        Err(diagnostics) => return Err(Refusal::of_file(name, text, diagnostics).into()),
    };
    arguments.adjust(&request.problem, &mut request.options)?;

    let report = match Report::of(&request, arguments.json) {
        Ok(report) => report,
        Err(error) => {
            let diagnostic = file::explain(&text, format, &error);
            return Err(Refusal::of_file(name, text, vec![diagnostic]).into());
        }
    };
    let verdict = report.verdict(arguments.strict);
    report.print(arguments.json)?;
    Ok(verdict)
}

impl Arguments {
    /// What the command line says goes before what the file says.
    fn adjust(&self, problem: &Problem, options: &mut Options) -> Result<(), Refusal> {
        options.law = self.law.unwrap_or(options.law);
        options.termination = self.termination.unwrap_or(options.termination);
        options.tolerance = self.tolerance.unwrap_or(options.tolerance);
        options.project = self.project;
        if let Some(order) = &self.order {
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

/// The file's name for messages, and its text.
fn read(path: &Path) -> Result<(String, String), Refusal> {
    let standard_input = path == Path::new("-");
    let name = if standard_input { "<stdin>".to_string() } else { path.display().to_string() };
    if path.is_dir() {
        return Err(Refusal::of_unreadable(name, "a directory, not a file"));
    }
    // One byte more than the reader takes, so that it says so; a device may never end.
    let limit = LONGEST as u64 + 1;
    let mut bytes = Vec::new();
    let read = if standard_input {
        io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes))
    };
    match read.map(|_| String::from_utf8(bytes)) {
        Ok(Ok(text)) => Ok((name, text)),
        Ok(Err(error)) => {
            let offset = error.utf8_error().valid_up_to();
            Err(Refusal::of_unreadable(name, &format!("not a text file in UTF-8 (byte {offset} is not)")))
        }
        Err(error) => Err(Refusal::of_unreadable(name, &format!("cannot be read: {error}"))),
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

    fn verdict(&self, strict: bool) -> Verdict {
        let Outcome { consistent, admissible, status, .. } = self.outcome;
        if !consistent || (strict && (!admissible || status == Status::StepsExhausted)) {
            Verdict::NoAnswer
        } else {
            Verdict::Done
        }
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
