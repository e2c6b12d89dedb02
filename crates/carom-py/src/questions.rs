//! The questions that the program answers, each from a text to the document that `--json` prints.
//!
//! The Python side makes objects of the documents when they are looked at. Numbers are written so that they read back as they were,
//! to the bit.

use std::path::Path;
use std::time::Instant;

use carom::contact::classify::Tolerances;
use carom::impact::coulomb::Termination;
use carom::impact::{Law, Order};
use carom::scene::{Diagnostic, Format};
use carom_answers::compare::Comparison;
use carom_answers::solve::Prepared;
use carom_answers::{
    Input, InputError, Resolution, Subject, Verdict, classify, gap, generalized, paper, paradox, schema, toi,
};
use pyo3::prelude::*;
use serde::Serialize;

use crate::exceptions::{exception, unwritten};
use crate::sections::{Sections, cut};

/// Adds what is here to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("TOUCHING", carom::scene::instant::TOUCHING)?;
    module.add("RATES", Tolerances::default().rates)?;
    module.add("LAWS", Law::ALL.map(Law::name).to_vec())?;
    module.add_function(wrap_pyfunction!(ask_solve, module)?)?;
    module.add_function(wrap_pyfunction!(solve_seconds, module)?)?;
    module.add_function(wrap_pyfunction!(ask_compare, module)?)?;
    module.add_function(wrap_pyfunction!(ask_classify, module)?)?;
    module.add_function(wrap_pyfunction!(ask_gap, module)?)?;
    module.add_function(wrap_pyfunction!(ask_toi, module)?)?;
    module.add_function(wrap_pyfunction!(ask_generalized, module)?)?;
    module.add_function(wrap_pyfunction!(ask_paradox, module)?)?;
    module.add_function(wrap_pyfunction!(ask_paper, module)?)?;
    module.add_function(wrap_pyfunction!(ask_schema, module)?)?;
    module.add_function(wrap_pyfunction!(ask_document, module)?)
}

/// A text, as Python gives it.
#[derive(FromPyObject)]
pub struct Text {
    name: String,
    text: String,
    /// Whether it is JSON, where that is known.
    json: Option<bool>,
}

impl Text {
    /// The input of a question.
    pub fn input(self) -> Input {
        let format = self.json.map(|json| if json { Format::Json } else { Format::Toml });
        let input = Input::of_text(&self.name, self.text, format);
        // The name is a path where the text is that of a file.
        let path = Path::new(&self.name);
        match path.parent() {
            Some(folder) if path.is_file() => input.in_folder(folder),
            _ => input,
        }
    }

    /// The scene that it says.
    pub fn subject(self) -> Result<Subject, InputError> {
        self.input().scene()
    }
}

/// How an impact is resolved, as Python gives it.
#[derive(FromPyObject, Default)]
pub struct ResolutionOptions {
    law: Option<String>,
    termination: Option<String>,
    order: Option<OrderOption>,
    tolerance: Option<f64>,
    max_steps: Option<usize>,
    project: bool,
    strict: bool,
}

#[derive(FromPyObject)]
enum OrderOption {
    Name(String),
    Rows(Vec<usize>),
}

impl ResolutionOptions {
    /// The same in the library's words.
    pub fn resolution(&self) -> Result<Resolution, InputError> {
        let law = self.law.as_deref().map(|name| {
            let expected = Law::ALL.map(Law::name).join(", ");
            Law::from_name(name).ok_or_else(|| InputError::of_value("law", name, &expected))
        });
        let termination = self.termination.as_deref().map(|name| {
            let expected = Termination::ALL.map(Termination::name).join(", ");
            Termination::from_name(name).ok_or_else(|| InputError::of_value("termination", name, &expected))
        });
        let order = self.order.as_ref().map(|order| match order {
            OrderOption::Rows(rows) => Ok(Order::Rows(rows.clone())),
            OrderOption::Name(name) => carom_answers::resolution::parse_order(name)
                .map_err(|_| InputError::of_value("order", name, "given, reversed, fastest, or numbers")),
        });
        Ok(Resolution {
            law: law.transpose()?,
            termination: termination.transpose()?,
            order: order.transpose()?,
            tolerance: self.tolerance,
            max_steps: self.max_steps,
            project: self.project,
        })
    }
}

/// A document, the verdict on it (empty: an answer), and warnings about the scene.
type Reply = (Sections, &'static str, Vec<String>);

/// What a verdict is called by the Python side.
pub const fn named(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Done => "",
        Verdict::NoAnswer => "no answer",
        Verdict::AuditFailed => "audit",
        Verdict::Violated(quantity) => quantity.name(),
    }
}

/// An answer, or why there is none.
pub enum Unanswered {
    /// The question is refused.
    Input(Box<InputError>),
    /// The document could not be written.
    Unwritten(serde_json::Error),
}

impl From<InputError> for Unanswered {
    fn from(error: InputError) -> Self {
        Self::Input(Box::new(error))
    }
}

impl From<serde_json::Error> for Unanswered {
    fn from(error: serde_json::Error) -> Self {
        Self::Unwritten(error)
    }
}

/// Asks without Python's lock.
pub fn ask<T: Send>(py: Python<'_>, question: impl FnOnce() -> Result<T, Unanswered> + Send) -> PyResult<T> {
    py.detach(question).map_err(|unanswered| match unanswered {
        Unanswered::Input(error) => exception(py, &error),
        Unanswered::Unwritten(error) => unwritten(&error),
    })
}

/// The warnings about a scene, in words.
pub fn warnings(subject: &Subject) -> Vec<String> {
    in_words(&subject.input, &subject.scene.warnings)
}

/// Diagnostics with their places, in words.
pub fn in_words<'a>(input: &Input, diagnostics: impl IntoIterator<Item = &'a Diagnostic>) -> Vec<String> {
    let say = |d: &Diagnostic| {
        let field = d.field.as_deref().unwrap_or_default();
        format!("{}:{}:{}: {field} {}", input.name, d.line, d.column, d.message)
    };
    diagnostics.into_iter().map(say).collect()
}

fn written(document: &impl Serialize) -> Result<Sections, Unanswered> {
    Ok(cut(document)?)
}

/// The impact at the scene's instant.
#[pyfunction]
fn ask_solve(
    py: Python<'_>,
    text: Text,
    options: Option<ResolutionOptions>,
    touching: f64,
    screws: bool,
) -> PyResult<Reply> {
    let options = options.unwrap_or_default();
    ask(py, || {
        let prepared = Prepared::of(text.subject()?, touching)?;
        let solved = prepared.solved(&options.resolution()?)?;
        let verdict = named(solved.verdict(options.strict));
        Ok((written(&solved.document(screws))?, verdict, warnings(&prepared.subject)))
    })
}

/// What one solve of many takes in Rust alone, from the text to the document, in seconds: the baseline of the package's
/// benchmark.
#[pyfunction]
fn solve_seconds(py: Python<'_>, text: Text, repeats: u32) -> PyResult<f64> {
    ask(py, || {
        let input = text.input();
        let start = Instant::now();
        for _ in 0..repeats {
            let prepared = Prepared::of(input.clone().scene()?, carom::scene::instant::TOUCHING)?;
            let solved = prepared.solved(&Resolution::default())?;
            std::hint::black_box(serde_json::to_string(&solved.document(false))?);
        }
        Ok(start.elapsed().as_secs_f64() / f64::from(repeats))
    })
}

/// Every law on the same scene.
#[pyfunction]
fn ask_compare(
    py: Python<'_>,
    text: Text,
    options: Option<ResolutionOptions>,
    touching: f64,
) -> PyResult<Reply> {
    let options = options.unwrap_or_default();
    ask(py, || {
        let prepared = Prepared::of(text.subject()?, touching)?;
        let comparison = Comparison::of(&prepared, &options.resolution()?, |_| ())?;
        let verdict = named(comparison.verdict(options.strict));
        Ok((written(&comparison.document())?, verdict, warnings(&prepared.subject)))
    })
}

/// The kinematics and the type of every contact, and a picture where it is asked for.
#[pyfunction]
fn ask_classify(
    py: Python<'_>,
    text: Text,
    touching: f64,
    tolerance: f64,
    picture: bool,
    span: Option<f64>,
) -> PyResult<(Sections, Option<String>, Vec<String>)> {
    ask(py, || {
        let subject = text.subject()?;
        let tolerances = Tolerances { touching, rates: tolerance };
        let found =
            classify::answer(&subject, &classify::Request { tolerances, neighbourhood: picture, span })?;
        let picture = picture.then(|| found.svg());
        Ok((written(&found.document())?, picture, warnings(&subject)))
    })
}

/// The gap of every pair.
#[pyfunction]
fn ask_gap(py: Python<'_>, text: Text, at: f64) -> PyResult<Reply> {
    ask(py, || {
        let subject = text.subject()?;
        Ok((written(&gap::answer(&subject, at)?)?, "", warnings(&subject)))
    })
}

/// The first contact of every pair.
#[pyfunction]
fn ask_toi(py: Python<'_>, text: Text, until: Option<f64>) -> PyResult<Reply> {
    ask(py, || {
        let subject = text.subject()?;
        Ok((written(&toi::answer(&subject, until)?)?, "", warnings(&subject)))
    })
}

/// The impact problem given as matrices.
#[pyfunction]
fn ask_generalized(
    py: Python<'_>,
    text: Text,
    options: Option<ResolutionOptions>,
    matrices: bool,
) -> PyResult<Reply> {
    let options = options.unwrap_or_default();
    ask(py, || {
        let answer = generalized::answer(&text.input(), &options.resolution()?, matrices)?;
        Ok((written(&answer)?, named(answer.verdict(options.strict)), Vec::new()))
    })
}

/// A paradox of two shapes: the document, the scene as TOML where there is one, and the verdict.
#[pyfunction]
fn ask_paradox(
    py: Python<'_>,
    shapes: [String; 2],
    kind: &str,
    planar: bool,
    seed: u64,
    before: f64,
) -> PyResult<(Sections, Option<String>, &'static str)> {
    ask(py, || {
        let shape = |text: &String| {
            paradox::parse_shape(text)
                .map_err(|message| InputError::of_option(Some("shapes"), &message, None))
        };
        let kind = paradox::parse_kind(kind).ok_or_else(|| {
            let expected = paradox::KINDS.map(|(name, _)| name).join(", ");
            InputError::of_value("type", kind, &expected)
        })?;
        let request =
            paradox::Request { shapes: [shape(&shapes[0])?, shape(&shapes[1])?], kind, planar, seed, before };
        let answer = paradox::answer(&request)?;
        let toml = match &answer {
            paradox::Answer::Found(found) => Some(found.toml()),
            paradox::Answer::Absent(_) => None,
        };
        Ok((written(&answer.document())?, toml, named(answer.verdict())))
    })
}

/// A published example reproduced, or the list of them.
#[pyfunction]
#[pyo3(signature = (name=None))]
fn ask_paper(py: Python<'_>, name: Option<&str>) -> PyResult<Sections> {
    ask(py, || match name {
        Some(name) => written(&paper::answer(name)?),
        None => written(&paper::catalogue()?),
    })
}

/// The JSON Schema of a scene.
#[pyfunction]
fn ask_schema(py: Python<'_>) -> PyResult<String> {
    ask(py, || Ok(serde_json::to_string(&schema::answer())?))
}

/// The document of a scene, checked, as JSON: whatever its text is written in.
#[pyfunction]
fn ask_document(py: Python<'_>, text: Text) -> PyResult<(String, Vec<String>)> {
    ask(py, || {
        let subject = text.subject()?;
        let document: serde_json::Value = match subject.input.format {
            Format::Json => serde_json::from_str(&subject.input.text)?,
            // The reader has read it already.
            Format::Toml => toml::from_str(&subject.input.text)
                .map_err(<serde_json::Error as serde::de::Error>::custom)?,
        };
        Ok((serde_json::to_string(&document)?, warnings(&subject)))
    })
}
