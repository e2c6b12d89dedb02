//! Whether a file is right, before anything is asked of it: everything that is wrong with it at once, or what is in it and which
//! questions it can answer.
//!
//! A scene with explicit contacts, or with joints that hold at an instant only, is checked as `solve` would; any other as `run` would
//! before its first event, but for fills, which are placed only when a scene is run.

use carom::joint::Kind;
use carom::scene::instant::TOUCHING;
use carom::scene::model::Scene;
use carom::scene::{Diagnostic, file, generalized};
use serde::Serialize;

use crate::run::{Changes, Running, check as check_run};
use crate::solve::Prepared;
use crate::words::number;
use crate::{Input, InputError, Subject};

/// With more bodies than this the contacts of the start are not counted.
const MANY: usize = 2000;

/// A file that is right.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// The file's name.
    pub file: String,
    /// What it is.
    pub kind: Kindred,
    /// Its title.
    pub title: Option<String>,
    /// How many of each part it has; of matrices their rows.
    pub parts: Vec<Part>,
    /// How many contacts there are at the start, where that is known.
    pub contacts: Option<usize>,
    /// Where there are none, the nearest pair.
    pub nearest: Option<Nearest>,
    /// The commands that it is for.
    pub commands: Vec<&'static str>,
    /// What is allowed but worth a look.
    pub warnings: Vec<Warning>,
    /// What else to know.
    pub notes: Vec<String>,
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kindred {
    /// A scene.
    Scene,
    /// An impact problem given as matrices.
    Matrices,
}

/// How many there are of something.
#[derive(Debug, Clone, Serialize)]
pub struct Part {
    /// What.
    pub name: &'static str,
    /// How many.
    pub count: usize,
}

/// The nearest pair.
#[derive(Debug, Clone, Serialize)]
pub struct Nearest {
    /// The names, a plane first.
    pub bodies: [String; 2],
    /// How far they are apart, in metres.
    pub gap: f64,
}

/// Something that is allowed but worth a look.
#[derive(Debug, Clone, Serialize)]
pub struct Warning {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The entry.
    pub field: Option<String>,
    /// What is to be said of it.
    pub message: String,
    /// What would be better.
    pub expected: Option<String>,
}

impl From<&Diagnostic> for Warning {
    fn from(diagnostic: &Diagnostic) -> Self {
        let Diagnostic { line, column, field, message, expected, .. } = diagnostic.clone();
        Self { line, column, field, message, expected }
    }
}

/// Checks a file.
pub fn answer(input: Input) -> Result<Answer, InputError> {
    match file::read_with(&input.text, input.format, &input.meshes) {
        Ok(scene) => of_scene(Subject { input, scene }),
        Err(of_scene) => match generalized::read(&input.text, input.format) {
            Ok(request) => {
                let problem = &request.problem;
                Ok(Answer {
                    file: input.name,
                    kind: Kindred::Matrices,
                    title: request.title,
                    parts: parts([
                        ("degree of freedom", problem.velocity.len()),
                        ("bilateral row", problem.bilateral.nrows()),
                        ("contact row", problem.contacts.nrows()),
                    ]),
                    contacts: None,
                    nearest: None,
                    commands: vec!["generalized"],
                    warnings: Vec::new(),
                    notes: Vec::new(),
                })
            }
            // What lacks bodies and has a mass matrix was to be matrices.
            Err(of_matrices) => {
                let lacks = |found: &[Diagnostic], field: &str| {
                    found.iter().any(|d| d.field.as_deref() == Some(field) && d.value.is_none())
                };
                let matrices = lacks(&of_scene, "body") && !lacks(&of_matrices, "mass");
                Err(input.error(if matrices { of_matrices } else { of_scene }))
            }
        },
    }
}

fn of_scene(subject: Subject) -> Result<Answer, InputError> {
    let scene = &subject.scene;
    let rows = scene.joints.iter().any(|joint| matches!(joint.kind, Kind::Rows(_)));
    let (instant, filled) = (rows || !scene.contacts.is_empty(), !scene.fills.is_empty());
    let mut answer = Answer {
        file: subject.input.name.clone(),
        kind: Kindred::Scene,
        title: scene.title.clone(),
        parts: parts(counts(scene)),
        contacts: None,
        nearest: None,
        commands: Vec::new(),
        warnings: scene.warnings.iter().map(Warning::from).collect(),
        notes: Vec::new(),
    };
    if filled {
        check_run(&subject)?;
        answer.notes.push("the bodies of fills are placed only when the scene is run".to_string());
        answer.commands.push("run");
        return Ok(answer);
    }
    if instant || scene.bodies.len() <= MANY {
        let prepared = Prepared::of(subject.clone(), TOUCHING)?;
        let contacts = prepared.instant.contacts.len();
        answer.contacts = Some(contacts);
        if contacts > 0 {
            answer.commands.extend(["solve", "compare"]);
        }
        if contacts > 0 && prepared.instant.detected {
            answer.commands.push("classify");
        }
        answer.nearest = prepared.instant.nearest.map(|(sides, gap)| Nearest {
            bodies: sides.map(|side| carom::scene::instant::name(scene, side).to_string()),
            gap,
        });
    }
    if !instant {
        let running = Running::begin(subject.clone(), Changes::default(), |_| true)?;
        answer.notes.extend(running.notes());
        answer.commands.push("run");
    }
    answer.commands.push("gap");
    if scene.joints.is_empty() {
        answer.commands.push("toi");
    }
    Ok(answer)
}

fn counts(scene: &Scene) -> [(&'static str, usize); 6] {
    [
        ("body", scene.bodies.len()),
        ("plane", scene.planes.len()),
        ("joint", scene.joints.len()),
        ("load", scene.loads.len()),
        ("explicit contact", scene.contacts.len()),
        ("body of fills", scene.fills.iter().map(|fill| fill.count).sum()),
    ]
}

fn parts<const N: usize>(all: [(&'static str, usize); N]) -> Vec<Part> {
    all.into_iter().filter(|(_, count)| *count > 0).map(|(name, count)| Part { name, count }).collect()
}

impl Answer {
    /// What the file holds, in a sentence.
    pub fn contents(&self) -> String {
        let plural = |name: &str| match name {
            "body" => "bodies".to_string(),
            "body of fills" => "bodies of fills".to_string(),
            "degree of freedom" => "degrees of freedom".to_string(),
            name => format!("{name}s"),
        };
        let word = |part: &Part| match part.count {
            1 => format!("1 {}", part.name),
            count => format!("{count} {}", plural(part.name)),
        };
        self.parts.iter().map(word).collect::<Vec<_>>().join(", ")
    }

    /// What touches at the start, in a sentence; nothing where that is not known.
    pub fn touching(&self) -> Option<String> {
        match (self.contacts?, &self.nearest) {
            (0, Some(Nearest { bodies: [first, second], gap })) => Some(format!(
                "Nothing touches at the start; {first} and {second} are nearest, {} apart.",
                number(*gap)
            )),
            (0, None) => Some("Nothing touches at the start.".to_string()),
            (1, _) => Some("One contact at the start.".to_string()),
            (count, _) => Some(format!("{count} contacts at the start.")),
        }
    }
}
