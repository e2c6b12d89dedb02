//! `carom completions SHELL`: what completes the program's commands, options and their values in a shell.

use std::io::{self, Write};

use carom_answers::Verdict;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::Failure;

/// The command's arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The shell
    shell: Shell,
}

const AFTER_HELP: &str = "\
Examples:
  carom completions bash > ~/.local/share/bash-completion/completions/carom
  carom completions zsh > ~/.zfunc/_carom
  carom completions fish > ~/.config/fish/completions/carom.fish";

/// Prints the completions.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::Arguments::command(), "carom", &mut script);
    let mut out = io::stdout().lock();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Verdict::Done)
}
