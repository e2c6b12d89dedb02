//! The program `carom`: reads, runs, writes, shows errors. A library only so that the Python package has the same command.

mod commands;
mod diagnostics;
mod report;

use std::ffi::OsString;
use std::io::{self, Write};

use carom_answers::run::Limited;
use carom_answers::{InputError, VERSION, Verdict, folder};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Parser, Subcommand};

use crate::commands::{
    check, classify, compare, completions, gap, generalized, man, new, paper, paradox, plot, run, scatter,
    schema, solve, sweep, toi, view, weak,
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

Examples:
  carom new ball
  carom run ball.toml
  carom generalized cases/laws/cradle.toml --law sequential";

#[derive(Debug, Subcommand)]
enum Command {
    /// Writes a file to begin with
    New(new::Arguments),
    /// Finds everything that is wrong with a file, or says what is in it
    Check(check::Arguments),
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
    /// Prints the JSON Schema of the scene, or of a command's document
    Schema(schema::Arguments),
    /// Draws static pictures of a run
    Plot(plot::Arguments),
    /// Shows the gallery, a scene or a run in the browser
    View(view::Arguments),
    /// Prints what completes commands and options in a shell
    Completions(completions::Arguments),
    /// Prints the manual pages
    Man(man::Arguments),
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

const DONE: u8 = 0;
const FAILED: u8 = 1;
const WRONG_INPUT: u8 = 2;
const NO_ANSWER: u8 = 3;

/// Does what the arguments say, the program's name being the first; returns the exit code.
pub fn run_with(given: impl IntoIterator<Item = OsString>) -> u8 {
    let code = answer(&given.into_iter().collect::<Vec<OsString>>());
    // Nothing else may do so where the process is not the program's own.
    let _ = io::stdout().flush();
    code
}

fn answer(given: &[OsString]) -> u8 {
    let arguments = match Arguments::try_parse_from(given) {
        Ok(arguments) => arguments,
        Err(error) => return wrong_command_line(&error, given),
    };
    let (result, json) = match &arguments.command {
        Command::New(arguments) => (new::run(arguments), arguments.json),
        Command::Check(arguments) => (check::run(arguments), arguments.json),
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
        Command::Schema(arguments) => (schema::run(arguments), arguments.json),
        Command::Plot(arguments) => (plot::run(arguments), arguments.json),
        Command::View(arguments) => (view::run(arguments), false),
        Command::Completions(arguments) => (completions::run(arguments), false),
        Command::Man(arguments) => (man::run(arguments), false),
        Command::Generalized(arguments) => (generalized::run(arguments), arguments.json),
    };
    match result {
        Ok(Verdict::Done) => DONE,
        Ok(Verdict::NoAnswer) => NO_ANSWER,
        Ok(Verdict::AuditFailed) => {
            let _ = writeln!(
                io::stderr(),
                "error: the result does not pass its own audit; please report the file"
            );
            FAILED
        }
        Ok(Verdict::Violated(quantity)) => {
            let name = quantity.name();
            let _ = writeln!(io::stderr(), "error: the run violates its audit ({name}) and was ended there");
            if quantity == Limited::Finite { FAILED } else { NO_ANSWER }
        }
        Err(Failure::Input(error)) => {
            diagnostics::show(&error, json);
            WRONG_INPUT
        }
        // The reader of our output has closed it.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => DONE,
        Err(Failure::Other(message)) => {
            let _ = writeln!(io::stderr(), "error: {message}");
            FAILED
        }
        Err(Failure::Output(error)) => {
            // Errors of our own making say themselves what failed, as that no GPU can be used.
            let what = if error.kind() == io::ErrorKind::Other { "" } else { "cannot write the result: " };
            let _ = writeln!(io::stderr(), "error: {what}{error}");
            FAILED
        }
    }
}

/// Also used for `--help` and `--version`.
fn wrong_command_line(error: &clap::Error, given: &[OsString]) -> u8 {
    let _ = error.print();
    if let Some(said) = said_of(error) {
        let _ = writeln!(io::stderr(), "\n  note: {said}");
    }
    if !error.use_stderr() {
        return DONE;
    }
    if given.iter().any(|argument| argument == "--json") {
        let text = error.to_string();
        let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
        diagnostics::print_json(&InputError::of_option(None, message, said_of(error)));
    }
    WRONG_INPUT
}

/// What to say of options that other programs have.
fn said_of(error: &clap::Error) -> Option<&'static str> {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidArg) else { return None };
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    OTHERS.iter().find(|(names, _)| names.contains(&name.as_str())).map(|(_, said)| *said)
}

/// Options of other programs, with what there is instead.
const OTHERS: [(&[&str], &str); 5] = [
    (
        &["--dt", "--timestep", "--time-step", "--step", "--steps"],
        "there is no time step: a run goes from event to event, each at its exact time; --sample is the interval of its output",
    ),
    (&["--output", "--output-dir", "--dir"], "`carom run` writes into a folder with -o DIR"),
    (&["--time", "--duration", "--tmax", "--t-end", "--end"], "the time to stop at is --until"),
    (&["--seed"], "the seed of a [[fill]] is in the scene; --replicas runs copies with seeds of their own"),
    (
        &["--restitution", "--friction", "--gravity", "--mu"],
        "that is part of the scene: [surface] has restitution and kind, [world] gravity",
    ),
];

#[cfg(test)]
mod tests {
    use super::Arguments;
    use clap::CommandFactory;

    /// Help is wrapped once, by the terminal's width: a paragraph is one line of its text, and what stands in columns is narrow.
    #[test]
    fn help_is_wrapped_once() {
        let mut program = Arguments::command();
        program.build();
        for command in std::iter::once(&program).chain(program.get_subcommands()) {
            let Some(text) = command.get_after_help().map(ToString::to_string) else { continue };
            let lines: Vec<&str> = text.lines().collect();
            for (line, next) in lines.iter().zip(lines.iter().skip(1).chain([&""])) {
                let name = command.get_name();
                assert!(!line.starts_with(' ') || line.chars().count() <= 100, "{name}: {line}");
                let prose = !line.is_empty() && !line.starts_with(' ') && !line.ends_with(':');
                assert!(!prose || next.is_empty(), "{name}: {line}\n{next}");
            }
        }
    }

    #[test]
    fn help_fits_and_has_numbers_as_people_write_them() {
        let mut program = Arguments::command().term_width(80);
        program.build();
        for command in std::iter::once(&program).chain(program.get_subcommands()) {
            let text = command.clone().term_width(80).render_long_help().to_string();
            assert!(!text.contains("0.0000"), "{text}");
            let widest =
                text.lines().filter(|line| !line.starts_with("  ")).map(|line| line.chars().count()).max();
            assert!(widest.is_none_or(|widest| widest <= 80), "{text}");
        }
    }
}
