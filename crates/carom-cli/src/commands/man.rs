//! `carom man`: the manual pages, of the program and of each command.

use std::fs;
use std::io;
use std::path::PathBuf;

use carom_answers::{InputError, Verdict};
use clap::{Command, CommandFactory};
use clap_mangen::Man;

use super::output::print;
use crate::Failure;

/// The command's arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The command whose page to print; without it, the page of the program
    #[arg(conflicts_with = "out")]
    command: Option<String>,

    /// Write all pages into this folder instead
    #[arg(short = 'o', long = "out", value_name = "DIR")]
    out: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Examples:
  carom man run | man -l -
  carom man -o ~/.local/share/man/man1";

/// Prints a page, or writes all.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let program = program();
    if let Some(folder) = &arguments.out {
        let mut files = Vec::new();
        fs::create_dir_all(folder)?;
        for command in std::iter::once(&program).chain(program.get_subcommands()) {
            let name = command.get_display_name().unwrap_or_else(|| command.get_name());
            let file = folder.join(format!("{name}.1"));
            fs::write(&file, page(command)?)?;
            files.push(file);
        }
        print(|out| files.iter().try_for_each(|file| writeln!(out, "{}", file.display())))?;
        return Ok(Verdict::Done);
    }
    let command = match &arguments.command {
        None => &program,
        Some(name) => program.find_subcommand(name).ok_or_else(|| {
            let message = format!("there is no command `{name}`");
            let known: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
            InputError::of_option(Some("command"), &message, Some(&known.join(", ")))
        })?,
    };
    let text = page(command)?;
    print(|out| out.write_all(&text))?;
    Ok(Verdict::Done)
}

/// The program, complete with `help` and what options say of themselves.
fn program() -> Command {
    let mut program = crate::Arguments::command().disable_help_subcommand(true);
    program.build();
    program
}

/// A page in roff.
fn page(command: &Command) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    Man::new(command.clone()).render(&mut text)?;
    Ok(text)
}
