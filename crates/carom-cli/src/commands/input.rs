//! The file that a command names, and what is printed of its answer.

use std::io::{self, Write};
use std::path::Path;

use carom_answers::{Input, Refusal, Subject};
use serde::Serialize;

use crate::diagnostics::warn;

/// Reads a file, or standard input for `-`.
pub fn read(path: &Path) -> Result<Input, Refusal> {
    if path == Path::new("-") {
        Input::read_from(io::stdin().lock(), "<stdin>".to_string(), None)
    } else {
        Input::read(path)
    }
}

/// The scene in it; warnings go to standard error.
pub fn read_scene(path: &Path) -> Result<Subject, Refusal> {
    scene(read(path)?)
}

/// The scene in what was read; warnings go to standard error.
pub fn scene(input: Input) -> Result<Subject, Refusal> {
    let subject = input.scene()?;
    warn(&subject.input.name, &subject.scene.warnings);
    Ok(subject)
}

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
