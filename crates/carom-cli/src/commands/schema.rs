//! `carom schema`: the JSON Schema of the scene, for editors that complete from it, and of every command's document.

use std::io::{self, Write};

use carom_answers::Verdict;
use carom_answers::schema::{self, ANSWERS};

use crate::Failure;

/// The command's arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The document that this command prints with --json, instead of the scene; `error` is what any prints with exit code 2
    #[arg(long, value_name = "COMMAND", value_parser = ANSWERS)]
    answer: Option<String>,

    /// Has no effect, as the schema is JSON anyway; accepted as for the other commands
    #[arg(long)]
    pub json: bool,
}

const AFTER_HELP: &str = "\
Examples:
  carom schema > scene.schema.json
  carom schema --answer run > run.schema.json

In an editor with a TOML or JSON language server, name it in the first line of a scene:
  #:schema ./scene.schema.json";

/// Prints the schema.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let schema = arguments.answer.as_deref().map_or_else(|| Ok(schema::answer()), schema::of_answer)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    serde_json::to_writer_pretty(&mut out, &schema).map_err(io::Error::from)?;
    writeln!(out)?;
    out.flush()?;
    Ok(Verdict::Done)
}
