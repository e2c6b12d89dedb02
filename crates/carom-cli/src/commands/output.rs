//! What a command prints on standard output, whole and at once.

use std::io::{self, Write};

use serde::Serialize;

/// Prints one JSON document.
pub fn print_json(document: &impl Serialize) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    serde_json::to_writer(&mut out, document)?;
    writeln!(out)?;
    out.flush()
}

/// Prints what `write` writes.
pub fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    write(&mut out)?;
    out.flush()
}
