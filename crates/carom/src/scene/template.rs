//! A scene as a template: its text read once, numbers replaced at paths, and the scene that this makes.
//!
//! A path names tables and fields with dots, the entries of lists of tables by their names, and entries of lists of numbers by indices:
//! `body.ball.velocity[0]`, `surface.restitution`, `plane.floor.offset`, `surface.pair[0].restitution`. A name with dots or brackets stands in
//! double quotes. What the scene leaves out is put in: a table, a vector of zeros, a number.

use super::diagnostic::{Diagnostic, Log, nearest};
use super::document::{self, Entry, Format, Kind, Value};
use super::file;
use super::meshes::Meshes;
use super::model::{Scene, SweepSettings, Vary};

/// A scene's text, read once.
#[derive(Debug, Clone)]
pub struct Template {
    text: String,
    format: Format,
    root: Value,
    meshes: Meshes,
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Name(String),
    Index(usize),
}

/// A table of the text.
pub(crate) struct Table<'a>(&'a Value);

impl Table<'_> {
    /// Whether it has a field.
    pub(crate) fn has(&self, field: &str) -> bool {
        self.0.get(field).is_some()
    }

    /// A list of numbers, by the names that lead to it.
    pub(crate) fn numbers(&self, names: &[&str]) -> Option<Vec<f64>> {
        let list = names.iter().try_fold(self.0, |value, name| value.get(name))?;
        let Kind::Array(values) = &list.kind else { return None };
        let number = |value: &Value| match value.kind {
            Kind::Number { value, .. } => Some(value),
            _ => None,
        };
        values.iter().map(number).collect()
    }
}

/// The longest list of numbers that a path makes.
const LONGEST: usize = 4;

impl Template {
    /// Reads a text, which need not be a scene before numbers are put in.
    ///
    /// # Errors
    /// Why it is neither TOML nor JSON.
    pub fn new(text: &str, format: Format) -> Result<Self, Vec<Diagnostic>> {
        let mut log = Log::new(text);
        match document::parse(text, format, &mut log) {
            Some(root) => Ok(Self { text: text.to_string(), format, root, meshes: Meshes::default() }),
            None => Err(log.finish()),
        }
    }

    /// The same with the meshes whose files it names.
    #[must_use]
    pub fn with_meshes(self, meshes: Meshes) -> Self {
        Self { meshes, ..self }
    }

    /// The table of a name in one of the scene's lists.
    pub(crate) fn table(&self, list: &str, name: &str) -> Option<Table<'_>> {
        let Some(Value { kind: Kind::Array(tables), .. }) = self.root.get(list) else { return None };
        let named = |table: &&Value| matches!(table.get("name"), Some(Value { kind: Kind::String(own), .. }) if own == name);
        tables.iter().find(named).map(Table)
    }

    /// Whether a pair of surfaces has a field of its own.
    pub(crate) fn pair_has(&self, pair: usize, field: &str) -> bool {
        let pairs = self.root.get("surface").and_then(|surface| surface.get("pair"));
        pairs.and_then(|pairs| pairs.at(pair)).is_some_and(|table| table.get(field).is_some())
    }

    /// What it varies, with `more` as further entries, in JSON: a list of tables like those of `[[sweep.vary]]`.
    ///
    /// # Errors
    /// What is wrong with `[sweep]`; what is wrong with the further entries comes without a place.
    pub fn sweep(&self, more: &str) -> Result<SweepSettings, Vec<Diagnostic>> {
        let mut settings = file::read_sweep(&self.text, &self.root)?;
        if more.is_empty() {
            return Ok(settings);
        }
        let mut log = Log::new(more);
        let entries = document::parse(more, Format::Json, &mut log);
        if let Some(Value { kind: Kind::Array(entries), .. }) = &entries {
            for (i, entry) in entries.iter().enumerate() {
                let path = match entry.get("path").map(|path| &path.kind) {
                    Some(Kind::String(path)) => Some(path.as_str()),
                    _ => None,
                };
                // An entry of the file gives way to one of the same path, in its place: the command line comes before the file.
                let same = |vary: &Vary| path.is_some() && vary.path.as_deref() == path;
                let at = settings.vary.iter().position(same).unwrap_or(settings.vary.len());
                let mut known = file::Known::of(&settings.vary[..at]);
                let Some(vary) = file::read_vary(entry, &format!("vary[{i}]"), &mut known, &mut log) else {
                    continue;
                };
                // Its places are those of another text.
                let vary = Vary { span: 0..0, ..vary };
                match settings.vary.get_mut(at) {
                    None => settings.vary.push(vary),
                    // Expressions know numbers by their places.
                    Some(old) if old.how.width() == vary.how.width() => {
                        let name = old.name.take();
                        *old = Vary { name: vary.name.clone().or(name), ..vary };
                    }
                    Some(_) => log.report(
                        entry.span.clone(),
                        &format_args!("vary[{i}]"),
                        "varies as many numbers as the scene's own entry does not",
                        "the same kind of number",
                    ),
                }
            }
        } else if log.is_empty() {
            log.report(
                0..0,
                &"vary",
                "is not a list of tables",
                "[{\"path\": \"body.ball.mass\", \"uniform\": [1, 2]}]",
            );
        }
        if log.is_empty() { Ok(settings) } else { Err(log.finish()) }
    }

    /// The scene with numbers in place: of each entry with a path as many as it is [wide](super::model::Varied::width).
    ///
    /// # Errors
    /// What is wrong with it then; a path that leads nowhere.
    pub fn scene(&self, vary: &[Vary], numbers: &[f64]) -> Result<Scene, Vec<Diagnostic>> {
        let mut log = Log::new(&self.text);
        let mut root = self.root.clone();
        let mut rest = numbers;
        for vary in vary {
            let (own, others) = rest.split_at(vary.how.width().min(rest.len()));
            rest = others;
            let Some(path) = &vary.path else { continue };
            if let Err((message, expected)) = put(&mut root, path, own, vary) {
                log.report(vary.span.clone(), &path, message, expected);
            }
        }
        if !log.is_empty() {
            return Err(log.finish());
        }
        // `[sweep]` has been read, and takes as long as the rest of a short scene.
        if let Kind::Table(entries) = &mut root.kind {
            entries.retain(|entry| entry.key != "sweep");
        }
        file::read_tree(&self.text, self.format, &root, &self.meshes)
    }
}

/// The steps of a path.
pub(crate) fn steps(path: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('[') {
            let (index, after) =
                after.split_once(']').ok_or_else(|| format!("`{path}` has a `[` without `]`"))?;
            let index = index.trim().parse().map_err(|_| format!("`{index}` is no index"))?;
            steps.push(Step::Index(index));
            rest = after.strip_prefix('.').unwrap_or(after);
        } else if let Some(after) = rest.strip_prefix('"') {
            let (name, after) =
                after.split_once('"').ok_or_else(|| format!("`{path}` has a quote that is not closed"))?;
            steps.push(Step::Name(name.to_string()));
            rest = after.strip_prefix('.').unwrap_or(after);
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            if name.is_empty() {
                return Err(format!("`{path}` has an empty name"));
            }
            steps.push(Step::Name(name.to_string()));
            rest = after.strip_prefix('.').unwrap_or(after);
        }
    }
    Ok(steps)
}

/// What is wrong with a path, and what would be right.
type Wrong = (String, String);

fn put(root: &mut Value, path: &str, numbers: &[f64], vary: &Vary) -> Result<(), Wrong> {
    let span = vary.span.clone();
    let expected = || "the path of a number, as body.ball.velocity[0]".to_string();
    let steps = steps(path).map_err(|message| (message, expected()))?;
    if steps.is_empty() {
        return Err(("is empty".to_string(), expected()));
    }
    let new = |kind: Kind| Value { span: span.clone(), kind };
    let mut value = root;
    for (k, step) in steps.iter().enumerate() {
        let next = steps.get(k + 1);
        let found = value.describe();
        match step {
            Step::Index(index) => {
                let Kind::Array(list) = &mut value.kind else {
                    return Err((format!("has an index into {found}"), "an index into a list".to_string()));
                };
                let length = list.len();
                value = list.get_mut(*index).ok_or_else(|| {
                    (
                        format!("has the index {index}, and the list has {length} entries"),
                        format!("an index below {length}"),
                    )
                })?;
            }
            Step::Name(name) => match &mut value.kind {
                // A table's field, made if it is not there.
                Kind::Table(entries) => {
                    let at = match entries.iter().position(|entry| entry.key == *name) {
                        Some(at) => at,
                        None => {
                            let kind = match next {
                                None => Kind::Number { value: 0.0, whole: None },
                                Some(Step::Name(_)) => Kind::Table(Vec::new()),
                                Some(Step::Index(index)) if *index < LONGEST => {
                                    let zero = || new(Kind::Number { value: 0.0, whole: Some(0) });
                                    Kind::Array((0..(*index + 1).max(3)).map(|_| zero()).collect())
                                }
                                Some(Step::Index(_)) => {
                                    return Err((format!("`{name}` is not in the scene"), expected()));
                                }
                            };
                            entries.push(Entry {
                                key: name.clone(),
                                key_span: span.clone(),
                                value: new(kind),
                            });
                            entries.len() - 1
                        }
                    };
                    value = &mut entries[at].value;
                }
                Kind::Array(tables) => {
                    let named = |table: &Value| matches!(table.get("name"), Some(Value { kind: Kind::String(own), .. }) if own == name);
                    let Some(at) = tables.iter().position(named) else {
                        let known: Vec<&str> = tables
                            .iter()
                            .filter_map(|table| match &table.get("name")?.kind {
                                Kind::String(name) => Some(name.as_str()),
                                _ => None,
                            })
                            .collect();
                        let right = nearest(name, known.iter().copied()).map_or_else(
                            || format!("one of {}", super::reader::listed(&known)),
                            |name| format!("`{name}`"),
                        );
                        return Err((format!("there is no `{name}` in the scene"), right));
                    };
                    value = &mut tables[at];
                }
                _ => {
                    return Err((format!("has the field `{name}` of {found}"), expected()));
                }
            },
        }
    }
    let number = |x: f64| {
        /// Whole numbers up to here are exact.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let whole = x >= 0.0 && x.fract() == 0.0 && x <= EXACT;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number in range"
        )]
        let whole = whole.then_some(x as usize);
        new(Kind::Number { value: x, whole })
    };
    *value = match (numbers, &value.kind) {
        ([x], Kind::Number { .. }) => number(*x),
        ([_], _) => return Err((format!("is {}", value.describe()), expected())),
        (many, _) => new(Kind::Array(many.iter().map(|&x| number(x)).collect())),
    };
    Ok(())
}
