//! The scene file: bodies, planes, joints, contacts and settings, in TOML or JSON.
//!
//! The fields, their units and meanings are those of [`schema`](super::schema::schema). Where a field is left out:
//!
//! | field | without it |
//! | --- | --- |
//! | `world.gravity` | zero |
//! | `world.periodic` | no box, unless a `fill` makes one |
//! | `body.position`, `velocity`, `angular_velocity` | zero |
//! | `body.orientation` | unturned |
//! | `body.inertia` | that of a homogeneous body; a `point` that is not fixed needs it |
//! | `plane.offset` | zero |
//! | `load.kind.force.point` | the centre of mass |
//! | `load.kind.spring.length`, `damping` | the distance of its ends at the start, zero |
//! | `contact.name` | the names of the two sides, `a-b`, numbered from the second of a pair |
//! | `contact.normal` | the plane's; needed between two bodies |
//! | `contact.restitution`, `kind` | what `[surface]` says of the pair |
//! | `fill.temperature`, `start`, `seed` | 1, `random`, 0 |
//! | `fill.equilibrate` | 50 collisions of each body after a random start, none on a lattice |
//! | `[surface]`, `[impact]`, `[run]`, `[scatter]` | [`SurfaceRules`](super::model::SurfaceRules), [`ImpactSettings`](super::model::ImpactSettings), [`RunSettings`](super::model::RunSettings), [`ScatterSettings`](super::model::ScatterSettings) by default |
//!
//! `carom`, the version, must be there. A plane's `offset` is measured along its normalised normal. The number of
//! a body, plane, joint or contact in [`Scene`] is its place in the file, so that what is found later can be
//! pointed at in the text: see [`Source`].

mod bodies;
mod contacts;
mod fills;
mod joints;
mod loads;
mod names;
mod settings;
mod shapes;
mod sweep;

use super::diagnostic::{Diagnostic, Log};
use super::document::{self, Format, Kind, Value};
use super::fields::{self, names};
use super::meshes::Meshes;
use super::model::{Scene, SweepSettings, Vary};
use super::reader::{self, Fields};
use names::Names;

pub(super) use sweep::Known;

pub(super) use fills::{MOST_BODIES, MOST_COLLISIONS};

/// The version of the format that this library reads.
pub const VERSION: usize = 1;

/// Reads a scene's text. What is allowed but worth saying is in [`Scene::warnings`].
///
/// # Errors
/// Everything that is wrong with it, in the order of the text.
pub fn read(text: &str, format: Format) -> Result<Scene, Vec<Diagnostic>> {
    read_with(text, format, &Meshes::default())
}

/// As [`read`], of a scene that names files of [meshes](super::meshes).
///
/// # Errors
/// Everything that is wrong with it, in the order of the text.
pub fn read_with(text: &str, format: Format, meshes: &Meshes) -> Result<Scene, Vec<Diagnostic>> {
    let (mut log, warnings) = (Log::new(text), Log::new(text));
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        log.report(0..0, &"", "the file is empty", "`carom = 1` and at least one `[[body]]` or `[[fill]]`");
        return Err(log.finish());
    }
    match document::parse(text, format, &mut log) {
        Some(root) => read_into(format, &root, meshes, log, warnings),
        None => Err(log.finish()),
    }
}

/// Reads the tree of a text in which numbers may have been replaced.
pub(super) fn read_tree(
    text: &str,
    format: Format,
    root: &Value,
    meshes: &Meshes,
) -> Result<Scene, Vec<Diagnostic>> {
    read_into(format, root, meshes, Log::new(text), Log::new(text))
}

fn read_into<'a>(
    format: Format,
    root: &Value,
    meshes: &Meshes,
    mut log: Log<'a>,
    mut warnings: Log<'a>,
) -> Result<Scene, Vec<Diagnostic>> {
    match scene(root, format, meshes, &mut log, &mut warnings) {
        Some(scene) if log.is_empty() => Ok(Scene { warnings: warnings.finish(), ..scene }),
        _ => Err(log.finish()),
    }
}

/// What a scene says about a sweep, whatever is wrong with the rest.
pub(super) fn read_sweep(text: &str, root: &Value) -> Result<SweepSettings, Vec<Diagnostic>> {
    let (mut log, mut others) = (Log::new(text), Log::new(text));
    let fields = Fields::of(root, &"", &names(&fields::SCENE), hint, &mut others);
    match fields.map(|fields| sweep::sweep(&fields, &mut log)) {
        Some(Some(settings)) if log.is_empty() => Ok(settings),
        None if log.is_empty() => Err(others.finish()),
        _ => Err(log.finish()),
    }
}

/// One entry of a sweep.
pub(super) fn read_vary(value: &Value, path: &str, known: &mut Known, log: &mut Log<'_>) -> Option<Vary> {
    sweep::vary(value, path, known, log)
}

fn scene(
    root: &Value,
    format: Format,
    meshes: &Meshes,
    log: &mut Log<'_>,
    warnings: &mut Log<'_>,
) -> Option<Scene> {
    let is_scene = ["body", "fill", "plane", "world"].iter().any(|name| root.get(name).is_some());
    let hint = |key: &str| if is_scene { scene_hint(key).or_else(|| hint(key)) } else { hint(key) };
    let fields = Fields::of(root, &"", &names(&fields::SCENE), hint, log)?;
    let how = match format {
        Format::Toml => "`carom = 1`, the version of the format, as the first line",
        Format::Json => "`\"carom\": 1`, the version of the format",
    };
    if let Some(value) = fields.required("carom", how, log) {
        reader::version(value, VERSION, log);
    }
    let text = |name: &str, log: &mut Log<'_>| {
        fields.or(name, None, log, |value, path, log| {
            reader::string(value, path, log).map(|text| Some(text.to_string()))
        })
    };
    let (title, source) = (text("title", log), text("source", log));
    // Editors find the schema by it.
    text("$schema", log);

    let names = Names::collect(root, log);
    let (gravity, periodic) = settings::world(&fields, log);
    let planes = each(&fields, "plane", log, bodies::plane);
    let bodies =
        each(&fields, "body", log, |value, path, log| bodies::body(value, path, meshes, log, warnings));
    let half_spaces: Vec<_> = planes.iter().map(|plane| plane.as_ref().map(|p| p.half_space)).collect();
    let joints =
        each(&fields, "joint", log, |value, path, log| joints::joint(value, path, &names, &half_spaces, log));
    let loads = each(&fields, "load", log, |value, path, log| loads::load(value, path, &names, log));
    let surface = contacts::surface(&fields, &names, log);
    let contacts = contacts::contacts(&fields, &names, &half_spaces, surface.as_ref(), log, warnings);
    let fills = fills::fills(&fields, periodic, meshes, log);
    let impact = settings::impact(&fields, log);
    let run = settings::run(&fields, log);
    let scatter = settings::scatter(&fields, log);
    let sweep = sweep::sweep(&fields, log);
    let none = |name: &str| match fields.get(name).map(|value| &value.kind) {
        None => true,
        Some(Kind::Array(entries)) => entries.is_empty(),
        Some(_) => false,
    };
    if none("body") && none("fill") {
        log.report(0..0, &"body", "is missing", "at least one `[[body]]` or `[[fill]]`");
    }
    Some(Scene {
        title: title?,
        source: source?,
        gravity: gravity?,
        periodic: periodic?.lengths(),
        bodies: all(bodies)?,
        planes: all(planes)?,
        joints: all(joints)?,
        loads: all(loads)?,
        contacts: all(contacts)?,
        fills: all(fills)?,
        surface: surface?,
        impact: impact?,
        run: run?,
        scatter: scatter?,
        sweep: sweep?,
        warnings: Vec::new(),
    })
}

/// Of a document that is plainly a scene: what belongs into its tables.
fn scene_hint(key: &str) -> Option<&'static str> {
    match key {
        "mass" | "velocity" => Some("it in a `[[body]]`"),
        "restitution" | "e" => Some("it under `[surface]`"),
        "friction" | "mu" | "coulomb" => Some("`[surface]` with `kind = { coulomb = … }`"),
        _ => None,
    }
}

/// The likeliest wrong fields: plurals, and those of the other kind of file.
fn hint(key: &str) -> Option<&'static str> {
    match key {
        "bodies" => Some("`[[body]]`, one table for each"),
        "planes" | "ground" | "floor" | "wall" => Some("`[[plane]]`, one table for each"),
        "joints" | "constraint" | "constraints" => Some("`[[joint]]`, one table for each"),
        "contacts" => Some("`[[contact]]`, one table for each; matrices are what `carom generalized` reads"),
        "simulation" | "settings" | "options" => Some("`[run]`"),
        "mass" | "bilateral" | "velocity" | "restitution" | "tangential" | "friction" => {
            Some("bodies; matrices are what `carom generalized` reads")
        }
        "gravity" | "periodic" => Some("it under `[world]`"),
        "law" | "termination" => Some("it under `[impact]`"),
        "until" | "max_events" | "sample" | "record_events" | "on_paradox" | "contact_time"
        | "rest_speed" | "on_trouble" => Some("it under `[run]`"),
        "vary" | "collect" => Some("it under `[sweep]`"),
        "speed" | "spin" | "spin_temperature" => Some("it under `[scatter]`"),
        _ => None,
    }
}

/// Reads each table of a list; none in the place of those that are wrong.
fn each<'a, T>(
    fields: &Fields<'a>,
    name: &str,
    log: &mut Log<'_>,
    mut read: impl FnMut(&'a Value, &str, &mut Log<'_>) -> Option<T>,
) -> Vec<Option<T>> {
    let Some(value) = fields.get(name) else { return Vec::new() };
    let path = fields.path(name);
    let Kind::Array(tables) = &value.kind else {
        return reader::wrong_kind(value, &path, &format!("a list of tables; in TOML, each [[{path}]]"), log)
            .unwrap_or_default();
    };
    tables.iter().enumerate().map(|(i, table)| read(table, &format!("{path}[{i}]"), log)).collect()
}

/// The list, if nothing is left out of it.
fn all<T>(list: Vec<Option<T>>) -> Option<Vec<T>> {
    list.into_iter().collect()
}

/// A scene's text, to point into at what is found after reading it.
#[derive(Debug)]
pub struct Source<'a> {
    text: &'a str,
    root: Option<Value>,
}

impl<'a> Source<'a> {
    /// Any text; one that cannot be read has only a start to point at.
    #[must_use]
    pub fn new(text: &'a str, format: Format) -> Self {
        Self { text, root: document::parse(text, format, &mut Log::new(text)) }
    }

    /// A diagnostic at an entry, such as `joint[2]`, `body[0].velocity` or `contact[1].normal`. An entry that the
    /// text does not have, because it was left out, is pointed at where it would stand.
    #[must_use]
    pub fn explain(&self, path: &str, message: &str, expected: &str) -> Diagnostic {
        let mut span = 0..0;
        let mut value = self.root.as_ref();
        for step in path.split(['.', '[']).filter(|step| !step.is_empty()) {
            value = value.and_then(|value| match step.strip_suffix(']') {
                Some(index) => index.parse().ok().and_then(|index| value.at(index)),
                None => value.get(step),
            });
            let Some(value) = value else { break };
            span = value.span.clone();
        }
        let mut log = Log::new(self.text);
        log.report(span, &path, message, expected);
        log.finish().swap_remove(0)
    }
}

/// [`Source::explain`] for a single finding.
#[must_use]
pub fn explain(text: &str, format: Format, path: &str, message: &str, expected: &str) -> Diagnostic {
    Source::new(text, format).explain(path, message, expected)
}
