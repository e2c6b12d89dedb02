//! `carom check SCENE`: everything that is wrong with a file, or what is in it.

use std::io::{self, Write};
use std::path::PathBuf;

use carom_answers::Verdict;
use carom_answers::check::{Answer, Kindred, answer};

use super::input::read;
use super::output::{print, print_json};
use crate::Failure;
use crate::report::Style;

/// The command's arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The scene, or a file of `carom generalized`, TOML or JSON; `-` reads standard input
    scene: PathBuf,

    /// Print one JSON document and nothing else
    #[arg(long)]
    pub json: bool,
}

const AFTER_HELP: &str = "\
Everything that is wrong is told at once, with its line and what would be right, and the exit code is 2. That covers what commands find before \
they begin: overlapping bodies, velocities that joints forbid, a body too large for its box. A scene with explicit contacts, or with joints \
given as rows, is checked as `carom solve` would; any other as `carom run` would.

Examples:
  carom check ball.toml
  carom check ball.toml --json";

/// Reads, checks, prints.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let answer = answer(read(&arguments.scene)?)?;
    if arguments.json {
        print_json(&answer)?;
    } else {
        print(|out| write(out, &answer, Style::of_stdout(false)))?;
    }
    Ok(Verdict::Done)
}

fn write(out: &mut dyn Write, answer: &Answer, style: Style) -> io::Result<()> {
    style.write_title(out, answer.title.as_deref())?;
    let kind = match answer.kind {
        Kindred::Scene => "a scene without fault",
        Kindred::Matrices => "an impact problem without fault",
    };
    writeln!(out, "{}: {kind}: {}.", answer.file, answer.contents())?;
    if let Some(touching) = answer.touching() {
        writeln!(out, "{touching}")?;
    }
    let commands: Vec<String> = answer.commands.iter().map(|name| format!("carom {name}")).collect();
    writeln!(out, "For: {}.", commands.join(", "))?;
    for warning in &answer.warnings {
        let field = warning.field.as_deref().unwrap_or_default();
        let expected = warning.expected.as_deref().map_or_else(String::new, |e| format!(" (expected {e})"));
        writeln!(out, "  - line {}: {field}: {}{expected}", warning.line, warning.message)?;
    }
    answer.notes.iter().try_for_each(|note| writeln!(out, "  - {note}"))
}
