//! What a question is asked of: a text with its name and its language, and the scene that it says.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use carom::scene::document::LONGEST;
use carom::scene::file::{self, Source};
use carom::scene::meshes::Meshes;
use carom::scene::model::Scene;
use carom::scene::{Diagnostic, Format};

use crate::InputError;
use crate::mesh;

/// A text that has been read from somewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// Its name for messages.
    pub name: String,
    /// What it says.
    pub text: String,
    /// Its language.
    pub format: Format,
    /// The meshes whose files it names.
    pub meshes: Meshes,
}

impl Input {
    /// A text at hand, in a language that is known, or guessed by its first character.
    pub fn of_text(name: &str, text: String, format: Option<Format>) -> Self {
        let format = format.unwrap_or_else(|| Format::guess(&text));
        Self { name: name.to_string(), text, format, meshes: Meshes::default() }
    }

    /// The same with the meshes that it names by files, whose paths are from a folder. What is wrong with one is said where the scene
    /// names it.
    pub fn in_folder(self, folder: &Path) -> Self {
        Self { meshes: mesh::of_text(&self.text, self.format, folder), ..self }
    }

    /// Reads a file, and the meshes that it names. Its language is that of its extension, else it is guessed.
    pub fn read(path: &Path) -> Result<Self, InputError> {
        let name = path.display().to_string();
        if path.is_dir() {
            return Err(InputError::of_unreadable(name, "a directory, not a file"));
        }
        match File::open(path) {
            Ok(file) => {
                let extension = path.extension().and_then(|extension| extension.to_str());
                let input = Self::read_from(file, name, extension.and_then(Format::from_extension))?;
                Ok(input.in_folder(path.parent().unwrap_or(Path::new(""))))
            }
            Err(error) => Err(InputError::of_unreadable(name, &format!("cannot be read: {error}"))),
        }
    }

    /// Reads what is open already.
    pub fn read_from(reader: impl Read, name: String, format: Option<Format>) -> Result<Self, InputError> {
        // One byte more than a document may have, so that its reader says so; a device may never end.
        let limit = LONGEST as u64 + 1;
        let mut bytes = Vec::new();
        match reader.take(limit).read_to_end(&mut bytes).map(|_| String::from_utf8(bytes)) {
            Ok(Ok(text)) => Ok(Self::of_text(&name, text, format)),
            Ok(Err(error)) => {
                let offset = error.utf8_error().valid_up_to();
                let message = format!("not a text file in UTF-8 (byte {offset} is not)");
                Err(InputError::of_unreadable(name, &message))
            }
            Err(error) => Err(InputError::of_unreadable(name, &format!("cannot be read: {error}"))),
        }
    }

    /// The scene in the text. Its warnings are in [`Scene::warnings`], for the caller to show.
    pub fn scene(self) -> Result<Subject, InputError> {
        match file::read_with(&self.text, self.format, &self.meshes) {
            Ok(scene) => Ok(Subject { input: self, scene }),
            Err(diagnostics) => Err(self.error(diagnostics)),
        }
    }

    /// Tells texts apart: FNV-1a with 128 bits (Fowler, Noll, Vo).
    pub fn hash(&self) -> String {
        const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
        const PRIME: u128 = (1 << 88) + 0x13b;
        let next = |hash: u128, byte: u8| (hash ^ u128::from(byte)).wrapping_mul(PRIME);
        let meshes = mesh::document(&self.meshes).unwrap_or_default();
        format!("fnv1a-128:{:032x}", self.text.bytes().chain(meshes).fold(OFFSET, next))
    }

    /// The error of what is wrong with it.
    pub fn error(&self, diagnostics: Vec<Diagnostic>) -> InputError {
        InputError::of_text(self.name.clone(), self.text.clone(), diagnostics)
    }
}

/// A scene, with the text to point into.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The text.
    pub input: Input,
    /// The scene, as the text says it or as it has become.
    pub scene: Scene,
}

impl Subject {
    /// Finds the places of several findings.
    pub fn source(&self) -> Source<'_> {
        Source::new(&self.input.text, self.input.format)
    }

    /// The error of one mistake, at a path of the document.
    pub fn error_at(&self, path: &str, message: &str, expected: &str) -> InputError {
        self.input.error(vec![self.source().explain(path, message, expected)])
    }
}

#[cfg(test)]
mod tests {
    use super::Input;

    #[test]
    fn hashes_are_the_published_ones() {
        let hash = |text: &str| Input::of_text("", text.to_string(), None).hash();
        assert_eq!(hash(""), "fnv1a-128:6c62272e07bb014262b821756295c58d");
        assert_eq!(hash("foobar"), "fnv1a-128:343e1662793c64bf6f0d3597ba446f18");
    }
}
