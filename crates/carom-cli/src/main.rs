//! The program `carom`: reads, runs, writes, shows errors.

mod commands;
mod diagnostics;
mod report;

use std::io::{self, Write};
use std::process::ExitCode;

use carom_answers::run::Limited;
use carom_answers::{InputError, VERSION, Verdict, folder};
use clap::{Parser, Subcommand};

use crate::commands::{
    classify, compare, gap, generalized, paper, paradox, plot, run, scatter, schema, solve, sweep, toi, view,
    weak,
};

/// The reference engine for rigid-body impact.
#[derive(Debug, Parser)]
#[command(name = "carom", version = VERSION, after_help = AFTER_HELP, max_term_width = 110)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Exit codes:
  0  done
  1  anything else
  2  the command line or the file is wrong
  3  the physics has no answer under the chosen law

Example: carom generalized cases/laws/cradle.toml --law sequential";

#[derive(Debug, Subcommand)]
enum Command {
    /// Resolves the impact at the scene's instant
    Solve(solve::Arguments),
    /// Resolves it by every law, side by side
    Compare(compare::Arguments),
    /// Finds every contact's kinematics and its type
    Classify(classify::Arguments),
    /// Measures the signed distance of every pair, now or after free flight
    Gap(gap::Arguments),
    /// Finds the first time of impact of every pair in free flight, with its error bound
    Toi(toi::Arguments),
    /// Simulates, event by event
    Run(run::Arguments),
    /// Runs a scene and checks the weak form of its equations of motion about every impact
    WeakForm(weak::Arguments),
    /// Runs a scene many times, with numbers that vary
    Sweep(sweep::Arguments),
    /// Scatters two bodies by each other: cross-sections and the collision kernel
    Scatter(scatter::Arguments),
    /// Resolves the impact problem given as matrices
    Generalized(generalized::Arguments),
    /// Lists, or reproduces, published examples: printed value, computed value, erratum
    Paper(paper::Arguments),
    /// Finds initial conditions of a paradox for given shapes
    Paradox(paradox::Arguments),
    /// Prints the JSON Schema of the scene
    Schema(schema::Arguments),
    /// Draws static pictures of a run
    Plot(plot::Arguments),
    /// Shows the gallery, a scene or a run in the browser
    View(view::Arguments),
}

/// Why a command has no result.
#[derive(Debug)]
enum Failure {
    /// The command line or the file is wrong.
    Input(Box<InputError>),
    /// The result could not be written.
    Output(io::Error),
    /// Something else, in a sentence.
    Other(String),
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        Self::Input(Box::new(error))
    }
}

impl From<folder::Error> for Failure {
    fn from(error: folder::Error) -> Self {
        match error {
            folder::Error::Input(error) => Self::Input(error),
            folder::Error::Io(error) => Self::Output(error),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

const FAILED: u8 = 1;
const WRONG_INPUT: u8 = 2;
const NO_ANSWER: u8 = 3;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return wrong_command_line(&error),
    };
    let (result, json) = match &arguments.command {
        Command::Solve(arguments) => (solve::run(arguments), arguments.json),
        Command::Classify(arguments) => (classify::run(arguments), arguments.json),
        Command::Gap(arguments) => (gap::run(arguments), arguments.json),
        Command::Toi(arguments) => (toi::run(arguments), arguments.json),
        Command::Run(arguments) => (run::run(arguments), arguments.json),
        Command::WeakForm(arguments) => (weak::run(arguments), arguments.json),
        Command::Sweep(arguments) => (sweep::run(arguments), arguments.json),
        Command::Scatter(arguments) => (scatter::run(arguments), arguments.json),
        Command::Compare(arguments) => (compare::run(arguments), arguments.json),
        Command::Paper(arguments) => (paper::run(arguments), arguments.json),
        Command::Paradox(arguments) => (paradox::run(arguments), arguments.json),
        Command::Schema(arguments) => (schema::run(), arguments.json),
        Command::Plot(arguments) => (plot::run(arguments), arguments.json),
        Command::View(arguments) => (view::run(arguments), false),
        Command::Generalized(arguments) => (generalized::run(arguments), arguments.json),
    };
    match result {
        Ok(Verdict::Done) => ExitCode::SUCCESS,
        Ok(Verdict::NoAnswer) => ExitCode::from(NO_ANSWER),
        Ok(Verdict::AuditFailed) => {
            let _ = writeln!(
                io::stderr(),
                "error: the result does not pass its own audit; please report the file"
            );
            ExitCode::from(FAILED)
        }
        Ok(Verdict::Violated(quantity)) => {
            let name = quantity.name();
            let _ = writeln!(io::stderr(), "error: the run violates its audit ({name}) and was ended there");
            ExitCode::from(if quantity == Limited::Finite { FAILED } else { NO_ANSWER })
        }
        Err(Failure::Input(error)) => {
            diagnostics::show(&error, json);
            ExitCode::from(WRONG_INPUT)
        }
        // The reader of our output has closed it.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(Failure::Other(message)) => {
            let _ = writeln!(io::stderr(), "error: {message}");
            ExitCode::from(FAILED)
        }
        Err(Failure::Output(error)) => {
            let _ = writeln!(io::stderr(), "error: cannot write the result: {error}");
            ExitCode::from(FAILED)
        }
    }
}

/// Also used for `--help` and `--version`.
fn wrong_command_line(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    if !error.use_stderr() {
        return ExitCode::SUCCESS;
    }
    if std::env::args_os().any(|argument| argument == "--json") {
        let text = error.to_string();
        let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
        diagnostics::print_json(&InputError::of_option(None, message, None));
    }
    ExitCode::from(WRONG_INPUT)
}
