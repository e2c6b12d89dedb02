//! The impact problem given as matrices: the file of `carom generalized`.
//!
//! | field | what | default |
//! | --- | --- | --- |
//! | `mass` | G, n×n | required |
//! | `contacts` | N, r×n, one list per row, or `[]` | required |
//! | `velocity` | v⁻, n numbers | required |
//! | `restitution` | one number, or one per row of `contacts` | required unless `contacts` is empty |
//! | `bilateral` | A, k×n | none |
//! | `tangential` | rows of `contacts` that are equalities | none |
//! | `rough` | `[{normal, tangent}]`: tangential rows tied to a normal | none |
//! | `friction` | `[{normal, tangent, coefficient}]`: Coulomb contacts | none |
//! | `law`, `termination` | by name | `newton_lcp`, `stronge` |
//! | `order` | `given`, `reversed`, `fastest`, or the normals' rows | `given` |
//! | `tolerance`, `max_steps` | see [`Options`] | [`Options::default`] |
//! | `title`, `source` | free text | none |
//! | `carom` | the version of the format | [`VERSION`] |

use std::fmt::Display;

use nalgebra::{DMatrix, DVector};

use super::diagnostic::{Diagnostic, Log};
use super::document::{self, Format, Kind, Value};
use super::reader::{self, Fields};
use crate::error::{Error, Fault};
use crate::impact::coulomb::Termination;
use crate::impact::{Friction, Law, Options, Order, Problem, Rough, TOLERANCES};

/// The version of the format that this library reads.
pub const VERSION: usize = 1;

const FIELDS: [&str; 16] = [
    "carom",
    "mass",
    "bilateral",
    "contacts",
    "velocity",
    "restitution",
    "law",
    "tangential",
    "rough",
    "friction",
    "termination",
    "order",
    "tolerance",
    "max_steps",
    "title",
    "source",
];

/// What a file asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The problem, without [faults](Problem::faults).
    pub problem: Problem,
    /// How to resolve it.
    pub options: Options,
    /// Free text.
    pub title: Option<String>,
    /// Where the problem comes from.
    pub source: Option<String>,
}

/// Reads a file's text.
///
/// # Errors
/// Everything that is wrong with it, in the order of the text.
pub fn read(text: &str, format: Format) -> Result<Request, Vec<Diagnostic>> {
    let mut log = Log::new(text);
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        log.report(0..0, &"", "the file is empty", "`mass`, `contacts`, `velocity` and `restitution`");
        return Err(log.finish());
    }
    match document::parse(text, format, &mut log).and_then(|root| request(&root, &mut log)) {
        Some(request) if log.is_empty() => Ok(request),
        _ => Err(log.finish()),
    }
}

/// Points into a file's text at what [`Problem::solve`] refused.
#[must_use]
pub fn explain(text: &str, format: Format, error: &Error) -> Diagnostic {
    let mut log = Log::new(text);
    // The tree was dropped before solving, to leave the memory to the algebra.
    if let Some(root) = document::parse(text, format, &mut Log::new(text)) {
        report(&root, error, &mut log);
    } else {
        log.report(0..0, &error.place, error.fault.to_string(), "");
    }
    log.finish().swap_remove(0)
}

/// Why these rows are not an order of the problem's normals, if they are not. The problem must have no
/// [faults](Problem::faults).
#[must_use]
pub fn order_fault(problem: &Problem, rows: &[usize]) -> Option<String> {
    let normals: Vec<usize> = problem.contact_list().iter().map(|contact| contact.normal).collect();
    let mut sorted = rows.to_vec();
    sorted.sort_unstable();
    if sorted == normals {
        return None;
    }
    if let Some(stranger) = sorted.iter().find(|&row| normals.binary_search(row).is_err()) {
        return Some(format!("row {stranger} is not a normal"));
    }
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Some(format!("row {} stands in it twice", pair[0]));
    }
    normals.iter().find(|&row| sorted.binary_search(row).is_err()).map(|row| format!("row {row} is left out"))
}

fn request(root: &Value, log: &mut Log<'_>) -> Option<Request> {
    let fields = Fields::of(root, &"", &FIELDS, hint, log)?;
    if let Some(value) = fields.get("carom") {
        reader::version(value, VERSION, log);
    }
    let text = |name: &'static str, log: &mut Log<'_>| {
        fields.get(name).and_then(|value| reader::string(value, &name, log)).map(str::to_string)
    };
    let (title, source) = (text("title", log), text("source", log));
    let options = options(&fields, log);
    let problem = problem(&fields, log);
    let (Some(problem), Some(options), true) = (problem, options, log.is_empty()) else {
        return None;
    };
    for fault in problem.faults() {
        report(root, &fault, log);
    }
    if !log.is_empty() {
        return None;
    }
    if let Order::Rows(rows) = &options.order
        && let (Some(fault), Some(value)) = (order_fault(&problem, rows), fields.get("order"))
    {
        log.report(value.span.clone(), &"order", fault, "every normal's row once");
    }
    Some(Request { problem, options, title, source })
}

/// A scene is the likeliest wrong file. (Its `contact` is left out: here that is a misspelt `contacts`.)
fn hint(key: &str) -> Option<&'static str> {
    ["world", "body", "plane", "joint", "fill", "surface", "impact", "run"]
        .contains(&key)
        .then_some("matrices; this field belongs to a scene, which other commands read")
}

fn problem(fields: &Fields<'_>, log: &mut Log<'_>) -> Option<Problem> {
    let mass = fields.required("mass", "the n×n mass matrix, a list of rows", log);
    // What the other fields are measured against, even where the mass matrix has faults of its own.
    let columns =
        mass.and_then(length).filter(|&n| n > 0).map(|n| (n, "one per degree of freedom (row of `mass`)"));

    let mass = mass.and_then(|value| square(value, log));
    let contacts = fields
        .required("contacts", "the contact rows, each a list of n numbers, or []", log)
        .and_then(|value| rows_of("contacts", value, columns, log));
    let bilateral = match fields.get("bilateral") {
        Some(value) => rows_of("bilateral", value, columns, log),
        None => columns.map(|(n, _)| DMatrix::zeros(0, n)),
    };
    let velocity = fields
        .required("velocity", "n numbers", log)
        .and_then(|value| reader::numbers(value, &"velocity", columns, log));
    let restitution = restitution(fields, log);

    let tangential = match fields.get("tangential") {
        Some(value) => reader::row_numbers(value, &"tangential", log),
        None => Some(Vec::new()),
    };
    let rough = contact_tables(fields, "rough", &["normal", "tangent"], log);
    let friction = contact_tables(fields, "friction", &["normal", "tangent", "coefficient"], log);

    Some(Problem {
        mass: mass?,
        bilateral: bilateral?,
        contacts: contacts?,
        velocity: DVector::from_vec(velocity?),
        restitution: restitution?,
        tangential: tangential?,
        rough: rough?.into_iter().map(|(normal, tangent, _)| Rough { normal, tangent }).collect(),
        friction: friction?
            .into_iter()
            .map(|(normal, tangent, coefficient)| Friction { normal, tangent, coefficient })
            .collect(),
    })
}

fn length(value: &Value) -> Option<usize> {
    if let Kind::Array(values) = &value.kind { Some(values.len()) } else { None }
}

/// The mass matrix. A flat list is taken for its diagonal, and the answer says how to write that.
fn square(value: &Value, log: &mut Log<'_>) -> Option<DMatrix<f64>> {
    if let Kind::Array(rows) = &value.kind
        && let Some(diagonal) = flat(rows)
    {
        const SHOWN: usize = 4;
        let expected = if (1..=SHOWN).contains(&diagonal.len()) {
            let row = |i: usize| {
                let entry = |j: usize| if i == j { diagonal[i].to_string() } else { "0".to_string() };
                format!("[{}]", (0..diagonal.len()).map(entry).collect::<Vec<_>>().join(", "))
            };
            let rows: Vec<String> = (0..diagonal.len()).map(row).collect();
            format!("one list per row; a diagonal matrix is mass = [{}]", rows.join(", "))
        } else {
            "one list per row; a diagonal matrix is mass = [[m1, 0, …], [0, m2, …], …]".to_string()
        };
        log.report(value.span.clone(), &"mass", "is a flat list of numbers, not a matrix", expected);
        return None;
    }
    let n = length(value);
    if n == Some(0) {
        log.report(value.span.clone(), &"mass", Fault::Empty.to_string(), "");
        return None;
    }
    reader::matrix(value, &"mass", n.map(|n| (n, "as many as `mass` has rows")), log)
}

fn rows_of(
    name: &'static str,
    value: &Value,
    columns: Option<(usize, &str)>,
    log: &mut Log<'_>,
) -> Option<DMatrix<f64>> {
    if let Kind::Array(rows) = &value.kind
        && flat(rows).is_some()
    {
        let expected = format!("one list per row; a single row is {name} = [[…]]");
        log.report(value.span.clone(), &name, "is a flat list of numbers, not a matrix", expected);
        return None;
    }
    reader::matrix(value, &name, columns, log)
}

/// The numbers of a list of nothing but numbers; none for the empty list, which has no shape.
fn flat(values: &[Value]) -> Option<Vec<f64>> {
    let number = |value: &Value| if let Kind::Number { value, .. } = value.kind { Some(value) } else { None };
    values.iter().map(number).collect::<Option<Vec<_>>>().filter(|numbers| !numbers.is_empty())
}

/// One number stands for every row.
fn restitution(fields: &Fields<'_>, log: &mut Log<'_>) -> Option<Vec<f64>> {
    let rows = fields.get("contacts").and_then(length);
    if rows == Some(0) && fields.get("restitution").is_none() {
        return Some(Vec::new());
    }
    let value = fields.required("restitution", "one number, or one per row of `contacts`", log)?;
    match value.kind {
        Kind::Number { .. } => {
            let one = reader::number(value, &"restitution", log)?;
            // Beyond the limit the contacts are refused anyway.
            rows.filter(|&rows| rows <= reader::MOST_ROWS).map(|rows| vec![one; rows])
        }
        Kind::Array(_) => {
            let count = rows.map(|rows| (rows, "one per row of `contacts`, or a single number for all"));
            reader::numbers(value, &"restitution", count, log)
        }
        _ => {
            let message = format!("found {}", value.describe());
            log.report(value.span.clone(), &"restitution", message, "a number, or a list of one per row");
            None
        }
    }
}

/// Tables of a normal with its tangents, and a coefficient where there is that key (0 otherwise).
fn contact_tables(
    fields: &Fields<'_>,
    name: &'static str,
    keys: &[&'static str],
    log: &mut Log<'_>,
) -> Option<Vec<(usize, Vec<usize>, f64)>> {
    let Some(value) = fields.get(name) else { return Some(Vec::new()) };
    let tables = reader::list(value, &name, "a list of tables", log)?;
    let mut read = Vec::with_capacity(tables.len());
    for (i, table) in tables.iter().enumerate() {
        let path = format!("{name}[{i}]");
        let Some(fields) = Fields::of(table, &path, keys, |_| None, log) else { continue };
        let normal = fields
            .required("normal", "the normal's row of `contacts`", log)
            .and_then(|value| reader::row_number(value, &format_args!("{path}.normal"), log));
        let tangent = fields
            .required("tangent", "the tangents' rows of `contacts`", log)
            .and_then(|value| tangent(value, &format_args!("{path}.tangent"), log));
        let coefficient = if keys.contains(&"coefficient") {
            fields
                .required("coefficient", "the coefficient of friction", log)
                .and_then(|value| reader::number(value, &format_args!("{path}.coefficient"), log))
        } else {
            Some(0.0)
        };
        if let (Some(normal), Some(tangent), Some(coefficient)) = (normal, tangent, coefficient) {
            read.push((normal, tangent, coefficient));
        }
    }
    (read.len() == tables.len()).then_some(read)
}

/// A row number or a list of them.
fn tangent(value: &Value, path: &dyn Display, log: &mut Log<'_>) -> Option<Vec<usize>> {
    match value.kind {
        Kind::Number { .. } => reader::row_number(value, path, log).map(|row| vec![row]),
        _ => reader::row_numbers(value, path, log),
    }
}

fn options(fields: &Fields<'_>, log: &mut Log<'_>) -> Option<Options> {
    let mut options = Options::default();
    if let Some(value) = fields.get("law") {
        options.law = reader::choice(value, &"law", &Law::ALL.map(|law| (law.name(), law)), log)?;
    }
    if let Some(value) = fields.get("termination") {
        options.termination =
            reader::choice(value, &"termination", &Termination::ALL.map(|end| (end.name(), end)), log)?;
    }
    if let Some(value) = fields.get("order") {
        options.order = order(value, log)?;
    }
    if let Some(value) = fields.get("tolerance") {
        options.tolerance = reader::number(value, &"tolerance", log)?;
        if !TOLERANCES.contains(&options.tolerance) {
            let expected = format!("from {:e} to {}", TOLERANCES.start(), TOLERANCES.end());
            log.report(value.span.clone(), &"tolerance", "is out of range", expected);
        }
    }
    if let Some(value) = fields.get("max_steps") {
        let expected = "a whole number, at least 1";
        options.max_steps = Some(reader::whole(value, &"max_steps", expected, log)?);
        if options.max_steps == Some(0) {
            log.report(value.span.clone(), &"max_steps", "is no step at all", expected);
        }
    }
    Some(options)
}

fn order(value: &Value, log: &mut Log<'_>) -> Option<Order> {
    let names = [("given", Order::Given), ("reversed", Order::Reversed), ("fastest", Order::Fastest)];
    match value.kind {
        Kind::Array(_) => reader::row_numbers(value, &"order", log).map(Order::Rows),
        _ => reader::choice(value, &"order", &names, log),
    }
}

/// Reports a fault of the problem at the entry of the file that it comes from.
fn report(root: &Value, error: &Error, log: &mut Log<'_>) {
    let place = &error.place;
    let mut path = place.field.to_string();
    let mut value = root.get(place.field);
    for index in [place.row, place.column].into_iter().flatten() {
        // One number may stand for a list (`restitution`): then the list's entry is the number itself.
        if let Some(entry) = value.and_then(|value| value.at(index)) {
            value = Some(entry);
            path = format!("{path}[{index}]");
        }
    }
    if let Some((key, entry)) = value.and_then(|table| culprit(table, &error.fault)) {
        value = Some(entry);
        path = format!("{path}.{key}");
    }
    let (message, expected) = match &error.fault {
        Fault::Range { expected, .. } => ("is out of range".to_string(), (*expected).to_string()),
        Fault::Size { what: "tangents", found, .. } => {
            (format!("has {found} rows"), "one (planar) or two".to_string())
        }
        Fault::ViolatesBilateral { residual, relative, .. } => (
            format!("the velocity violates this row: A v = {residual:e}, {relative:.1e} of its scale"),
            "a velocity with A v = 0, or the option `project` to take the nearest one".to_string(),
        ),
        fault => (fault.to_string(), String::new()),
    };
    log.report(value.map_or(0..0, |value| value.span.clone()), &path, message, expected);
}

/// The entry of a `rough` or `friction` table that a fault is about.
fn culprit<'a>(table: &'a Value, fault: &Fault) -> Option<(String, &'a Value)> {
    let entry = |key: &str| table.get(key).map(|value| (key.to_string(), value));
    match fault {
        Fault::Range { .. } => entry("coefficient"),
        Fault::Size { .. } => entry("tangent"),
        Fault::NoSuchRow { index, .. } | Fault::RowTaken { index, .. } => {
            let is_it =
                |value: &Value| matches!(value.kind, Kind::Number { whole, .. } if whole == Some(*index));
            // The last of equal numbers is the one too many.
            let (key, tangent) = entry("tangent")?;
            if let Kind::Array(rows) = &tangent.kind
                && let Some(i) = rows.iter().rposition(is_it)
            {
                return Some((format!("{key}[{i}]"), &rows[i]));
            }
            if is_it(tangent) { Some((key, tangent)) } else { entry("normal") }
        }
        _ => None,
    }
}
