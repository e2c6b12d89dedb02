//! One tree for TOML and JSON: every value with its place in the text.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::diagnostic::Log;
use super::json;
use super::meant;

/// The language of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// TOML 1.1.
    Toml,
    /// JSON, RFC 8259, nothing more: no comments, no trailing commas, no key twice.
    Json,
}

impl Format {
    /// The format that a file's extension names, in any case of letters.
    #[must_use]
    pub fn from_extension(extension: &str) -> Option<Self> {
        [("toml", Self::Toml), ("json", Self::Json)]
            .into_iter()
            .find_map(|(name, format)| extension.eq_ignore_ascii_case(name).then_some(format))
    }

    /// The format of a text without a name: JSON if it begins with a brace, which no TOML does.
    #[must_use]
    pub fn guess(text: &str) -> Self {
        let start = text.trim_start_matches('\u{feff}').trim_start();
        if start.starts_with('{') { Self::Json } else { Self::Toml }
    }
}

/// The longest text read, in bytes: enough for a dense mass matrix of a few thousand degrees of freedom.
pub const LONGEST: usize = 256 << 20;

/// The deepest nesting read. The formats need four levels; unbounded nesting would exhaust the stack.
pub(crate) const DEEPEST: usize = 100;

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Value {
    pub(crate) span: Range<usize>,
    pub(crate) kind: Kind,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// A number; `whole` when it is written as a whole number ≥ 0 and can be one.
    Number {
        value: f64,
        whole: Option<usize>,
    },
    String(String),
    Boolean(bool),
    Array(Vec<Value>),
    Table(Vec<Entry>),
    /// Something that only one of the languages has, in words.
    Other(&'static str),
}

/// A key with its value; a table has no key twice.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_span: Range<usize>,
    pub(crate) value: Value,
}

impl Value {
    /// What this is, in words.
    pub(crate) const fn describe(&self) -> &'static str {
        match self.kind {
            Kind::Number { .. } => "a number",
            Kind::String(_) => "a string",
            Kind::Boolean(_) => "a boolean",
            Kind::Array(_) => "a list",
            Kind::Table(_) => "a table",
            Kind::Other(words) => words,
        }
    }

    /// The value of a key, when this is a table that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match &self.kind {
            Kind::Table(entries) => entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value),
            _ => None,
        }
    }

    /// An entry of a list, when this is a list that has it.
    pub(crate) fn at(&self, index: usize) -> Option<&Self> {
        match &self.kind {
            Kind::Array(values) => values.get(index),
            _ => None,
        }
    }
}

/// The tree of a text; none, with the reasons in the log, when it is not in the language.
pub(crate) fn parse(text: &str, format: Format, log: &mut Log<'_>) -> Option<Value> {
    if text.len() > LONGEST {
        log.report(0..0, &"", "the file is too long", format!("at most {} MiB of text", LONGEST >> 20));
        return None;
    }
    match format {
        Format::Toml => parse_toml(text, log),
        Format::Json => json::parse(text, log),
    }
}

fn parse_toml(text: &str, log: &mut Log<'_>) -> Option<Value> {
    let (table, errors) = DeTable::parse_recoverable(text);
    // After the first error the parser guesses, and most of what it adds is noise; a bracket left open is not,
    // because it is found only where the text ends.
    let unclosed = errors.iter().skip(1).find(|error| error.message().starts_with("unclosed"));
    for error in errors.first().into_iter().chain(unclosed) {
        let span = error.span().unwrap_or(0..0);
        match meant::slip_at(text, span.start) {
            Some(slip) => log.report(slip.span, &"", format!("not TOML: {}", slip.message), slip.expected),
            None => log.report(span, &"", format!("not TOML: {}", error.message()), ""),
        }
    }
    if !errors.is_empty() {
        return None;
    }
    let kind = from_table(table.into_inner(), 0).ok_or_else(|| {
        log.report(0..0, &"", format!("nested more than {DEEPEST} levels deep"), "");
    });
    Some(Value { span: 0..text.len(), kind: kind.ok()? })
}

fn from_table(table: DeTable<'_>, depth: usize) -> Option<Kind> {
    let entries = table.into_iter().map(|(key, value)| {
        let (key_span, value) = (key.span(), from_value(value, depth + 1)?);
        Some(Entry { key: key.into_inner().into_owned(), key_span, value })
    });
    entries.collect::<Option<_>>().map(Kind::Table)
}

fn from_value(value: Spanned<DeValue<'_>>, depth: usize) -> Option<Value> {
    if depth > DEEPEST {
        return None;
    }
    let span = value.span();
    let kind = match value.into_inner() {
        DeValue::Integer(integer) => match integer.radix() {
            10 => number(integer.as_str()),
            // Exact up to 128 bits and rounded once; no quantity of this program has more bits than that.
            radix => match u128::from_str_radix(integer.as_str(), radix) {
                Ok(whole) => Kind::Number { value: whole as f64, whole: whole.try_into().ok() },
                Err(_) => Kind::Other("an integer of more than 128 bits"),
            },
        },
        DeValue::Float(float) => number(float.as_str()),
        DeValue::String(string) => Kind::String(string.into_owned()),
        DeValue::Boolean(boolean) => Kind::Boolean(boolean),
        DeValue::Datetime(_) => Kind::Other("a date or time"),
        DeValue::Array(array) => {
            Kind::Array(array.into_iter().map(|value| from_value(value, depth + 1)).collect::<Option<_>>()?)
        }
        DeValue::Table(table) => from_table(table, depth)?,
    };
    Some(Value { span, kind })
}

/// A decimal number, correctly rounded; the caller has checked its grammar.
pub(crate) fn number(digits: &str) -> Kind {
    match digits.parse() {
        Ok(value) => Kind::Number { value, whole: digits.parse().ok() },
        Err(_) => Kind::Other("a malformed number"),
    }
}
