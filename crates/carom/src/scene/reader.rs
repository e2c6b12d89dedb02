//! Typed reading of a document's values: each function reports what is wrong to the log and goes on, so that one
//! reading finds every mistake.
//!
//! Paths of fields are passed as [`Display`] and written out only when something is wrong.

use std::fmt::Display;

use nalgebra::{DMatrix, Unit, Vector3};

use super::diagnostic::{Log, nearest};
use super::document::{Entry, Kind, Value};
use super::meant;

/// The most degrees of freedom, and the most rows of any matrix. All algebra here is dense: far below this
/// limit a problem already takes minutes, and a short file with very many rows would ask for its square.
pub(super) const MOST_ROWS: usize = 10_000;

/// A table whose keys are all known.
pub(super) struct Fields<'a> {
    table: &'a Value,
    path: String,
    /// Known names that unknown keys come near to.
    misspelt: Vec<&'static str>,
    /// Whether there are keys, and all of them are unknown.
    strange: bool,
}

impl<'a> Fields<'a> {
    /// Checks a table's keys; `None` if the value is not a table. `hint` may say more about an unknown key.
    pub(super) fn of(
        value: &'a Value,
        path: &dyn Display,
        names: &[&'static str],
        hint: impl Fn(&str) -> Option<&'static str>,
        log: &mut Log<'_>,
    ) -> Option<Self> {
        let Kind::Table(entries) = &value.kind else {
            let expected = match names {
                [] => "an empty table, {}".to_string(),
                names => format!("a table with {}", listed(names)),
            };
            log.report(value.span.clone(), path, format!("found {}", value.describe()), expected);
            return None;
        };
        let mut misspelt = Vec::new();
        let strange = !entries.is_empty() && !entries.iter().any(|entry| names.contains(&entry.key.as_str()));
        for Entry { key, key_span, .. } in entries.iter().filter(|entry| !names.contains(&entry.key.as_str()))
        {
            if log.is_full() {
                log.report(key_span.clone(), &"", "", "");
                continue;
            }
            let near = nearest(key, names.iter().copied()).or_else(|| meant::name_for(key, names));
            misspelt.extend(near);
            let said = hint(key).or_else(|| meant::said_of(key).filter(|_| near.is_none()));
            let expected = match (said, near) {
                (Some(said), _) => said.to_string(),
                (None, Some(name)) => format!("`{name}`"),
                (None, None) if names.is_empty() => "no field at all: {}".to_string(),
                (None, None) => format!("one of {}", listed(names)),
            };
            let shown: String = key.chars().take(40).collect();
            log.report(key_span.clone(), &join(path, &shown), format!("unknown field `{shown}`"), expected);
        }
        Some(Self { table: value, path: path.to_string(), misspelt, strange })
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.table.get(name)
    }

    /// The path of a field of this table.
    pub(super) fn path(&self, name: &str) -> String {
        join(&self.path, &name)
    }

    /// Reports a fault of the table as a whole.
    pub(super) fn report(&self, message: impl Into<String>, expected: impl Into<String>, log: &mut Log<'_>) {
        log.report(self.table.span.clone(), &self.path, message, expected);
    }

    /// A field that must be there. Its absence is reported at the table, or at the start of the file; not at all
    /// where an unknown field is plainly meant to be it.
    pub(super) fn required(&self, name: &str, expected: &str, log: &mut Log<'_>) -> Option<&'a Value> {
        let value = self.get(name);
        if value.is_none() && !self.misspelt.contains(&name) {
            let path = self.path(name);
            let span = if path == name { 0..0 } else { self.table.span.clone() };
            log.report(span, &path, "is missing", expected);
        }
        value
    }

    /// What a field that must be there says; none when it is missing or wrong, which is reported.
    pub(super) fn need<T>(
        &self,
        name: &str,
        expected: &str,
        log: &mut Log<'_>,
        read: impl FnOnce(&'a Value, &dyn Display, &mut Log<'_>) -> Option<T>,
    ) -> Option<T> {
        self.required(name, expected, log).and_then(|value| read(value, &self.path(name), log))
    }

    /// What a field says, or what holds without it; none when it is wrong, which is reported.
    pub(super) fn or<T>(
        &self,
        name: &str,
        default: T,
        log: &mut Log<'_>,
        read: impl FnOnce(&'a Value, &dyn Display, &mut Log<'_>) -> Option<T>,
    ) -> Option<T> {
        match self.get(name) {
            Some(value) => read(value, &self.path(name), log),
            None => Some(default),
        }
    }

    /// The one field given of several that exclude each other; `None` if none is. If several are given, all but the
    /// first are reported.
    pub(super) fn at_most_one_of(
        &self,
        names: &[&'static str],
        log: &mut Log<'_>,
    ) -> Option<(&'static str, &'a Value)> {
        let mut found = names.iter().filter_map(|&name| Some((name, self.get(name)?)));
        let first = found.next()?;
        for (name, value) in found {
            let message = format!("cannot be given together with `{}`", first.0);
            log.report(
                value.span.clone(),
                &self.path(name),
                message,
                format!("only one of {}", listed(names)),
            );
        }
        Some(first)
    }

    /// As above, where one is required. Its absence is not reported if a misspelt field in its place has been.
    pub(super) fn one_of(
        &self,
        names: &[&'static str],
        expected: &str,
        log: &mut Log<'_>,
    ) -> Option<(&'static str, &'a Value)> {
        let found = self.at_most_one_of(names, log);
        if found.is_none() && !self.strange && !self.misspelt.iter().any(|name| names.contains(name)) {
            self.report(format!("has none of {}", listed(names)), expected, log);
        }
        found
    }
}

/// `path.name`, or the name alone at the top.
fn join(path: &dyn Display, name: &dyn Display) -> String {
    let path = path.to_string();
    if path.is_empty() { name.to_string() } else { format!("{path}.{name}") }
}

/// Names in backquotes, with commas.
pub(super) fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A finite number.
pub(super) fn number(value: &Value, path: &dyn Display, log: &mut Log<'_>) -> Option<f64> {
    match value.kind {
        Kind::Number { value: number, .. } if number.is_finite() => Some(number),
        Kind::Number { value: number, .. } => {
            let message = if number.is_nan() {
                "is not a number"
            } else {
                "is infinite, or too large for a 64-bit float"
            };
            log.report(value.span.clone(), path, message, "a finite number");
            None
        }
        _ => wrong_kind(value, path, "a number", log),
    }
}

/// A finite number in a range; `expected` says which.
pub(super) fn number_where(
    value: &Value,
    path: &dyn Display,
    good: impl Fn(f64) -> bool,
    expected: &str,
    log: &mut Log<'_>,
) -> Option<f64> {
    let number = number(value, path, log)?;
    if good(number) {
        return Some(number);
    }
    let message = if number < 0.0 {
        "is negative"
    } else if number == 0.0 {
        "is zero"
    } else {
        "is out of range"
    };
    log.report(value.span.clone(), path, message, expected);
    None
}

/// A finite number > 0.
pub(super) fn positive(value: &Value, path: &dyn Display, log: &mut Log<'_>) -> Option<f64> {
    number_where(value, path, |number| number > 0.0, "a number greater than 0", log)
}

/// A finite number ≥ 0.
pub(super) fn not_negative(value: &Value, path: &dyn Display, log: &mut Log<'_>) -> Option<f64> {
    number_where(value, path, |number| number >= 0.0, "0 or a number greater than it", log)
}

/// `true` or `false`.
pub(super) fn boolean(value: &Value, path: &dyn Display, log: &mut Log<'_>) -> Option<bool> {
    match value.kind {
        Kind::Boolean(boolean) => Some(boolean),
        _ => wrong_kind(value, path, "`true` or `false`", log),
    }
}

/// The version of a format, which must be the one that is known.
pub(super) fn version(value: &Value, known: usize, log: &mut Log<'_>) {
    let expected = format!("the version of the format, {known}");
    if let Some(version) = whole(value, &"carom", &expected, log)
        && version != known
    {
        let message = if version > known {
            format!(
                "is version {version} of the format, newer than this program, which reads version {known}"
            )
        } else {
            format!("is version {version} of the format, which never existed")
        };
        log.report(value.span.clone(), &"carom", message, known.to_string());
    }
}

/// A whole number ≥ 0.
pub(super) fn whole(value: &Value, path: &dyn Display, expected: &str, log: &mut Log<'_>) -> Option<usize> {
    match value.kind {
        Kind::Number { whole: Some(whole), .. } => Some(whole),
        Kind::Number { value: number, .. } => {
            let message = if number < 0.0 {
                "is negative"
            } else if number.fract() == 0.0 {
                "is not written as a whole number"
            } else {
                "is not a whole number"
            };
            log.report(value.span.clone(), path, message, expected);
            None
        }
        _ => wrong_kind(value, path, expected, log),
    }
}

/// A string.
pub(super) fn string<'a>(value: &'a Value, path: &dyn Display, log: &mut Log<'_>) -> Option<&'a str> {
    match &value.kind {
        Kind::String(string) => Some(string),
        _ => wrong_kind(value, path, "a string", log),
    }
}

/// One of a few names.
pub(super) fn choice<T: Clone>(
    value: &Value,
    path: &dyn Display,
    choices: &[(&'static str, T)],
    log: &mut Log<'_>,
) -> Option<T> {
    let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
    let Kind::String(found) = &value.kind else {
        return wrong_kind(value, path, &format!("one of {}", listed(&names)), log);
    };
    let chosen = choices.iter().find(|(name, _)| name == found).map(|(_, chosen)| chosen.clone());
    if chosen.is_none() {
        let mut expected = format!("one of {}", listed(&names));
        if let Some(name) = nearest(found, names) {
            expected = format!("`{name}`, or {expected}");
        }
        let shown: String = found.chars().take(40).collect();
        log.report(value.span.clone(), path, format!("there is no {path} `{shown}`"), expected);
    }
    chosen
}

/// A list.
pub(super) fn list<'a>(
    value: &'a Value,
    path: &dyn Display,
    expected: &str,
    log: &mut Log<'_>,
) -> Option<&'a [Value]> {
    match &value.kind {
        Kind::Array(values) if values.len() > MOST_ROWS => {
            let message = format!("has {} entries", values.len());
            log.report(value.span.clone(), path, message, format!("at most {MOST_ROWS}"));
            None
        }
        Kind::Array(values) => Some(values),
        _ => wrong_kind(value, path, expected, log),
    }
}

/// A list of whole numbers ≥ 0.
pub(super) fn row_numbers(value: &Value, path: &dyn Display, log: &mut Log<'_>) -> Option<Vec<usize>> {
    let values = list(value, path, "a list of row numbers", log)?;
    let read = |(i, value)| row_number(value, &format_args!("{path}[{i}]"), log);
    all(values.len(), values.iter().enumerate().filter_map(read).collect())
}

/// The number of a contact row.
pub(super) fn row_number(value: &Value, path: &dyn Display, log: &mut Log<'_>) -> Option<usize> {
    whole(value, path, "the number of a row of `contacts`, from 0", log)
}

/// A list of `count` finite numbers; `None` if it is not known how many there should be.
pub(super) fn numbers(
    value: &Value,
    path: &dyn Display,
    count: Option<(usize, &str)>,
    log: &mut Log<'_>,
) -> Option<Vec<f64>> {
    let values = list(value, path, "a list of numbers", log)?;
    if let Some((count, why)) = count
        && values.len() != count
    {
        let message = format!("has {} entr{}", values.len(), if values.len() == 1 { "y" } else { "ies" });
        log.report(value.span.clone(), path, message, format!("{count}, {why}"));
    }
    let read = |(i, value)| number(value, &format_args!("{path}[{i}]"), log);
    let numbers = all(values.len(), values.iter().enumerate().filter_map(read).collect())?;
    count.is_none_or(|(count, _)| count == numbers.len()).then_some(numbers)
}

/// Three finite numbers.
pub(super) fn vector(value: &Value, path: &dyn Display, log: &mut Log<'_>) -> Option<Vector3<f64>> {
    numbers(value, path, Some((3, "x, y and z")), log).map(|numbers| Vector3::from_row_slice(&numbers))
}

/// Three numbers, each > 0.
pub(super) fn positive_vector(value: &Value, path: &dyn Display, log: &mut Log<'_>) -> Option<Vector3<f64>> {
    vector_of(value, path, positive, log)
}

/// Three numbers, each ≥ 0.
pub(super) fn not_negative_vector(
    value: &Value,
    path: &dyn Display,
    log: &mut Log<'_>,
) -> Option<Vector3<f64>> {
    vector_of(value, path, not_negative, log)
}

fn vector_of(
    value: &Value,
    path: &dyn Display,
    check: impl Fn(&Value, &dyn Display, &mut Log<'_>) -> Option<f64>,
    log: &mut Log<'_>,
) -> Option<Vector3<f64>> {
    let vector = vector(value, path, log)?;
    let good = (0..3).filter_map(|i| check(value.at(i)?, &format_args!("{path}[{i}]"), log)).count();
    (good == 3).then_some(vector)
}

/// A vector other than zero, as a unit vector and the length it was given with.
pub(super) fn direction(
    value: &Value,
    path: &dyn Display,
    log: &mut Log<'_>,
) -> Option<(Unit<Vector3<f64>>, f64)> {
    let vector = vector(value, path, log)?;
    // The squares of very large or small components would leave the range of the numbers.
    let largest = vector.amax();
    if largest == 0.0 {
        log.report(value.span.clone(), path, "is zero and has no direction", "a vector other than zero");
        return None;
    }
    let scaled = vector / largest;
    let length = scaled.norm();
    Some((Unit::new_unchecked(scaled / length), length * largest))
}

/// A vector other than zero, as a unit vector.
pub(super) fn unit(value: &Value, path: &dyn Display, log: &mut Log<'_>) -> Option<Unit<Vector3<f64>>> {
    direction(value, path, log).map(|(unit, _)| unit)
}

/// A matrix as a list of its rows, each of `columns` numbers; `None` if that is not known.
pub(super) fn matrix(
    value: &Value,
    path: &dyn Display,
    columns: Option<(usize, &str)>,
    log: &mut Log<'_>,
) -> Option<DMatrix<f64>> {
    let rows = list(value, path, "a matrix: a list of rows, each a list of numbers", log)?;
    let first = rows.first().and_then(|row| match &row.kind {
        Kind::Array(row) => Some(row.len()),
        _ => None,
    });
    let columns = columns.or(first.map(|count| (count, "as in the first row")));
    let read = |(i, row)| numbers(row, &format_args!("{path}[{i}]"), columns, log);
    let read = all(rows.len(), rows.iter().enumerate().filter_map(read).collect())?;
    let (count, _) = columns.unwrap_or_default();
    Some(DMatrix::from_row_iterator(read.len(), count, read.into_iter().flatten()))
}

/// The list, if nothing was left out of it.
fn all<T>(count: usize, list: Vec<T>) -> Option<Vec<T>> {
    (list.len() == count).then_some(list)
}

/// Reports a value of another kind than it should be.
pub(super) fn wrong_kind<T>(
    value: &Value,
    path: &dyn Display,
    expected: &str,
    log: &mut Log<'_>,
) -> Option<T> {
    log.report(value.span.clone(), path, format!("found {}", value.describe()), expected);
    None
}
