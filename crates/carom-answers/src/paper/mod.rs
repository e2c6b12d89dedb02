//! The published examples reproduced, what is printed beside what is computed.
//!
//! Every computed value comes from the library at run time, out of the scenes in `cases/papers/`, which this crate
//! carries with it. What is printed is a formula or a value, in the version of the paper that the row names, and the
//! formula is evaluated on the same scene. Every verdict is a comparison of numbers: the print with the computation,
//! and, where the print is not right, the corrected formula with the computation too.

mod dragna_pandrea_stanescu;
mod palffy_muhoray;
mod scenes;
mod stanescu_pandrea;
mod treschev_zubelevich;

use carom::scene::Format;
use serde::{Serialize, Serializer};

use crate::{Input, InputError, Subject};

/// A paper that can be reproduced.
#[derive(Debug)]
pub struct Paper {
    /// Its name in questions.
    pub name: &'static str,
    /// Its citation.
    pub citation: &'static str,
    /// The version of it that is quoted.
    pub version: &'static str,
    rows: fn() -> Result<Vec<Row>, InputError>,
}

/// All of them.
pub static PAPERS: [Paper; 4] = [
    treschev_zubelevich::PAPER,
    stanescu_pandrea::PAPER,
    dragna_pandrea_stanescu::PAPER,
    palffy_muhoray::PAPER,
];

/// The verdict on a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// What is printed is what is computed.
    Agrees,
    /// A slip: what is meant is clear.
    Misprint,
    /// What is printed does not hold.
    Wrong,
    /// What is printed holds as the paper scopes it, and more is true.
    Narrow,
    /// Not in the paper.
    Beyond,
}

impl Verdict {
    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Misprint => "misprint",
            Self::Wrong => "wrong",
            Self::Narrow => "narrow",
            Self::Beyond => "beyond",
        }
    }
}

/// Something printed or computed: a formula, numbers, or both.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Shown {
    /// A formula.
    pub text: Option<&'static str>,
    /// One number or several.
    #[serde(serialize_with = "number_or_list")]
    pub value: Vec<f64>,
}

fn number_or_list<S: Serializer>(value: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        [] => serializer.serialize_none(),
        [one] => serializer.serialize_f64(*one),
        list => list.serialize(serializer),
    }
}

/// One statement of a paper.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The scene it is computed from, a file of `cases/papers/`.
    pub scene: &'static str,
    /// That scene's title.
    pub title: String,
    /// The version of the paper that is quoted.
    pub version: &'static str,
    /// Its equation, theorem or section.
    pub equation: &'static str,
    /// What it is about.
    pub quantity: &'static str,
    /// The formula or value that the paper prints, and its value on the scene; empty beyond the paper.
    pub printed: Shown,
    /// What should come out by this project's own theory, beyond the paper.
    pub closed_form: Option<Shown>,
    /// What the library computes.
    pub computed: Shown,
    /// The value of the corrected formula, where the print is not right.
    #[serde(serialize_with = "number_or_list")]
    pub corrected: Vec<f64>,
    /// The verdict on it.
    pub verdict: Verdict,
    /// What is wrong with the print, and what is right.
    pub erratum: Option<&'static str>,
    /// What else is to be known.
    pub note: Option<&'static str>,
    /// The size beside which a difference is rounding, where it is not the numbers' own.
    pub scale: f64,
    /// How much of it is rounding.
    pub tolerance: f64,
}

impl Row {
    fn new(scene: &'static str, title: String, equation: &'static str, quantity: &'static str) -> Self {
        Self {
            scene,
            title,
            version: "",
            equation,
            quantity,
            printed: Shown::default(),
            closed_form: None,
            computed: Shown::default(),
            corrected: Vec::new(),
            verdict: Verdict::Agrees,
            erratum: None,
            note: None,
            scale: 0.0,
            tolerance: 1e-12,
        }
    }

    /// What the paper prints: a formula with its value on the scene; no formula where it prints just numbers.
    fn printed(mut self, text: &'static str, value: impl Into<Vec<f64>>) -> Self {
        self.printed = Shown { text: (!text.is_empty()).then_some(text), value: value.into() };
        self
    }

    /// What the library finds.
    fn computed(mut self, value: impl Into<Vec<f64>>) -> Self {
        self.computed.value = value.into();
        self
    }

    /// The size of what the numbers are differences of, where it is not their own.
    const fn among(mut self, scale: f64) -> Self {
        self.scale = scale;
        self
    }

    /// A search, or a limit, with a tolerance of its own found the number.
    const fn within(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// What else is to be known.
    const fn note(mut self, note: &'static str) -> Self {
        self.note = Some(note);
        self
    }

    /// The print is right: if the numbers say otherwise, the verdict does too.
    fn agrees(mut self) -> Self {
        self.verdict = if self.agree(&self.printed.value) { Verdict::Agrees } else { Verdict::Wrong };
        self
    }

    /// The print is right as scoped, and more is true, which the note says.
    fn narrow(self, note: &'static str) -> Self {
        let mut row = self.agrees().note(note);
        if row.verdict == Verdict::Agrees {
            row.verdict = Verdict::Narrow;
        }
        row
    }

    /// The paper does not have it; this is what should come out.
    fn beyond(mut self, text: &'static str, value: impl Into<Vec<f64>>) -> Self {
        let expected = Shown { text: Some(text), value: value.into() };
        self.verdict = if self.agree(&expected.value) { Verdict::Beyond } else { Verdict::Wrong };
        self.closed_form = Some(expected);
        self
    }

    /// The print has a slip, provided that the corrected formula's value is the one computed, and the print's is not.
    fn misprint(self, corrected: impl Into<Vec<f64>>, erratum: &'static str) -> Self {
        self.in_error(Verdict::Misprint, corrected.into(), erratum)
    }

    /// What is printed does not hold, provided likewise.
    fn wrong(self, corrected: impl Into<Vec<f64>>, erratum: &'static str) -> Self {
        self.in_error(Verdict::Wrong, corrected.into(), erratum)
    }

    fn in_error(mut self, verdict: Verdict, corrected: Vec<f64>, erratum: &'static str) -> Self {
        if self.agree(&corrected) && !self.agree(&self.printed.value) {
            self.verdict = verdict;
            self.erratum = Some(erratum);
            self.corrected = corrected;
        }
        self
    }

    /// Whether our numbers and others agree; without numbers they do not.
    fn agree(&self, other: &[f64]) -> bool {
        let ours = &self.computed.value;
        !ours.is_empty() && same(other, ours, self.scale, self.tolerance)
    }
}

/// Whether two lists are the same up to a tolerance relative to their largest entry, or a larger scale.
fn same(a: &[f64], b: &[f64], scale: f64, tolerance: f64) -> bool {
    let size = a.iter().chain(b).fold(scale, |m: f64, x| m.max(x.abs()));
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance * size)
}

/// A paper reproduced. It serialises as the document for programs.
#[derive(Debug, Clone, Serialize)]
pub struct Reproduction {
    /// The paper's name.
    pub paper: &'static str,
    /// Its citation.
    pub citation: &'static str,
    /// The version of it that is quoted.
    pub version: &'static str,
    /// Its statements.
    pub rows: Vec<Row>,
}

impl Paper {
    /// The one of a name.
    pub fn find(name: &str) -> Option<&'static Self> {
        PAPERS.iter().find(|paper| paper.name == name)
    }

    /// Computes everything that it states.
    pub fn reproduce(&self) -> Result<Reproduction, InputError> {
        let mut rows = (self.rows)()?;
        for row in &mut rows {
            row.version = self.version;
        }
        Ok(Reproduction { paper: self.name, citation: self.citation, version: self.version, rows })
    }
}

/// Reproduces the paper of a name.
pub fn answer(name: &str) -> Result<Reproduction, InputError> {
    match Paper::find(name) {
        Some(paper) => paper.reproduce(),
        None => {
            let names = PAPERS.each_ref().map(|paper| paper.name).join(", ");
            Err(InputError::of_value("name", name, &format!("one of {names}")))
        }
    }
}

/// A scene of the papers by its file's name in `cases/papers/`.
pub fn scene(name: &str) -> Result<Subject, InputError> {
    match scenes::ALL.iter().find(|file| file.0 == name) {
        Some((name, text)) => Input::of_text(name, (*text).to_string(), Some(Format::Toml)).scene(),
        None => Err(InputError::of_value("scene", name, "a file of cases/papers")),
    }
}

/// All papers reproduced. It serialises as the list for programs, which has the number of rows only.
#[derive(Debug, Clone, Serialize)]
pub struct Catalogue {
    /// The papers.
    #[serde(serialize_with = "entries")]
    pub papers: Vec<Reproduction>,
}

/// Reproduces all papers.
pub fn catalogue() -> Result<Catalogue, InputError> {
    let papers = PAPERS.iter().map(Paper::reproduce).collect::<Result<_, _>>()?;
    Ok(Catalogue { papers })
}

#[derive(Serialize)]
struct Entry {
    name: &'static str,
    citation: &'static str,
    version: &'static str,
    rows: usize,
}

fn entries<S: Serializer>(papers: &[Reproduction], serializer: S) -> Result<S::Ok, S::Error> {
    let entry = |paper: &Reproduction| Entry {
        name: paper.paper,
        citation: paper.citation,
        version: paper.version,
        rows: paper.rows.len(),
    };
    serializer.collect_seq(papers.iter().map(entry))
}
