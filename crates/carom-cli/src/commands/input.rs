//! The file that a command names: its name for messages, its text, its format.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use carom::scene::document::LONGEST;
use carom::scene::model::Scene;
use carom::scene::{Format, file};

use crate::diagnostics::{Refusal, warn};

/// A file that has been read.
pub struct Input {
    /// Its name for messages.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Its language, by its extension or its first character.
    pub format: Format,
}

impl Input {
    /// Reads a file, or standard input for `-`.
    pub fn read(path: &Path) -> Result<Self, Refusal> {
        let standard_input = path == Path::new("-");
        let name = if standard_input { "<stdin>".to_string() } else { path.display().to_string() };
        if path.is_dir() {
            return Err(Refusal::of_unreadable(name, "a directory, not a file"));
        }
        // One byte more than the reader takes, so that it says so; a device may never end.
        let limit = LONGEST as u64 + 1;
        let mut bytes = Vec::new();
        let read = if standard_input {
            io::stdin().lock().take(limit).read_to_end(&mut bytes)
        } else {
            File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes))
        };
        let text = match read.map(|_| String::from_utf8(bytes)) {
            Ok(Ok(text)) => text,
            Ok(Err(error)) => {
                let offset = error.utf8_error().valid_up_to();
                let message = format!("not a text file in UTF-8 (byte {offset} is not)");
                return Err(Refusal::of_unreadable(name, &message));
            }
            Err(error) => return Err(Refusal::of_unreadable(name, &format!("cannot be read: {error}"))),
        };
        let extension = path.extension().and_then(|extension| extension.to_str());
        let format = extension.and_then(Format::from_extension).unwrap_or_else(|| Format::guess(&text));
        Ok(Self { name, text, format })
    }

    /// The scene that it holds; warnings go to standard error.
    pub fn scene(self) -> Result<(Self, Scene), Refusal> {
        match file::read(&self.text, self.format) {
            Ok(scene) => {
                warn(&self.name, &scene.warnings);
                Ok((self, scene))
            }
            Err(diagnostics) => Err(self.refuse(diagnostics)),
        }
    }

    /// Refuses the file.
    pub fn refuse(self, diagnostics: Vec<carom::scene::Diagnostic>) -> Refusal {
        Refusal::of_file(self.name, self.text, diagnostics)
    }
}
