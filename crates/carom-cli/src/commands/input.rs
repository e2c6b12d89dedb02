//! The file that a command names.

use std::io;
use std::path::Path;

use carom_answers::{Input, InputError, Subject};

use crate::diagnostics::warn;

/// Reads a file, or standard input for `-`.
pub fn read(path: &Path) -> Result<Input, InputError> {
    if path == Path::new("-") {
        // Meshes are looked for where the program is run.
        Ok(Input::read_from(io::stdin().lock(), "<stdin>".to_string(), None)?.in_folder(Path::new("")))
    } else {
        Input::read(path)
    }
}

/// The scene in it; warnings go to standard error.
pub fn read_scene(path: &Path) -> Result<Subject, InputError> {
    scene(read(path)?)
}

/// The scene in what was read; warnings go to standard error.
pub fn scene(input: Input) -> Result<Subject, InputError> {
    let subject = input.scene()?;
    warn(&subject.input.name, &subject.scene.warnings);
    Ok(subject)
}
