//! `carom schema`: the JSON Schema of the scene, for editors that complete from it.

use std::io::{self, Write};

use carom_answers::{Verdict, schema};

use crate::Failure;

/// The command's arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// Has no effect, as the schema is JSON anyway; accepted as for the other commands
    #[arg(long)]
    pub json: bool,
}

const AFTER_HELP: &str = "\
Example:
  carom schema > scene.schema.json

In an editor with a TOML or JSON language server, name it in the first line of a scene:
  #:schema ./scene.schema.json";

/// Prints the schema.
pub fn run() -> Result<Verdict, Failure> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    serde_json::to_writer_pretty(&mut out, &schema::answer()).map_err(io::Error::from)?;
    writeln!(out)?;
    out.flush()?;
    Ok(Verdict::Done)
}
