//! Why a question has no answer: what is wrong with the text, with a file, or with an option of the question.

use carom::scene::Diagnostic;
use serde::Serialize;

/// What is wrong with the input.
#[derive(Debug, Clone, PartialEq)]
pub struct InputError {
    /// What is at fault.
    pub fault: Fault,
    /// What is wrong, one by one.
    pub diagnostics: Vec<Diagnostic>,
}

/// What is at fault.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// A text that says something wrong.
    Text {
        /// Its name.
        name: String,
        /// What it says, for the places of the diagnostics.
        text: String,
    },
    /// A file that cannot be read. Its diagnostics have no places.
    Unreadable {
        /// Its name.
        name: String,
    },
    /// An option of the question, which the diagnostics' fields name. They have no places.
    Option,
}

impl InputError {
    /// A text that says something wrong.
    pub fn of_text(name: String, text: String, diagnostics: Vec<Diagnostic>) -> Self {
        Self { fault: Fault::Text { name, text }, diagnostics }
    }

    /// A file that cannot be read.
    pub fn of_unreadable(name: String, message: &str) -> Self {
        Self { fault: Fault::Unreadable { name }, diagnostics: vec![unplaced(None, None, message, None)] }
    }

    /// An option that is wrong, by its name without dashes, or a question that is.
    pub fn of_option(option: Option<&str>, message: &str, expected: Option<&str>) -> Self {
        Self { fault: Fault::Option, diagnostics: vec![unplaced(option, None, message, expected)] }
    }

    /// An option whose value is not among those expected.
    pub fn of_value(option: &str, value: &str, expected: &str) -> Self {
        let diagnostic = unplaced(Some(option), Some(value), "is out of range", Some(expected));
        Self { fault: Fault::Option, diagnostics: vec![diagnostic] }
    }

    /// The name of the text or file at fault.
    pub fn name(&self) -> Option<&str> {
        match &self.fault {
            Fault::Text { name, .. } | Fault::Unreadable { name } => Some(name),
            Fault::Option => None,
        }
    }

    /// The text at fault, to which the places of the diagnostics refer.
    pub fn text(&self) -> Option<&str> {
        match &self.fault {
            Fault::Text { text, .. } => Some(text),
            Fault::Unreadable { .. } | Fault::Option => None,
        }
    }

    /// The error for programs: `{"errors": [...]}`; `spell` writes an option's name as the caller's user does.
    pub fn document(&self, spell: impl Fn(&str) -> String) -> Document<'_> {
        let placed = self.text().is_some();
        let errors = self.diagnostics.iter().map(|diagnostic| Entry {
            file: self.name(),
            line: placed.then_some(diagnostic.line),
            column: placed.then_some(diagnostic.column),
            field: diagnostic.field.as_deref().map(|field| match self.fault {
                Fault::Option => spell(field),
                Fault::Text { .. } | Fault::Unreadable { .. } => field.to_string(),
            }),
            value: diagnostic.value.as_deref(),
            message: &diagnostic.message,
            expected: diagnostic.expected.as_deref(),
        });
        Document { errors: errors.collect() }
    }
}

fn unplaced(field: Option<&str>, value: Option<&str>, message: &str, expected: Option<&str>) -> Diagnostic {
    Diagnostic {
        span: 0..0,
        line: 1,
        column: 1,
        field: field.map(str::to_string),
        value: value.map(str::to_string),
        message: message.to_string(),
        expected: expected.map(str::to_string),
    }
}

/// An input error for programs.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    errors: Vec<Entry<'a>>,
}

#[derive(Debug, Serialize)]
struct Entry<'a> {
    file: Option<&'a str>,
    line: Option<usize>,
    column: Option<usize>,
    field: Option<String>,
    value: Option<&'a str>,
    message: &'a str,
    expected: Option<&'a str>,
}
