//! The published examples reproduced, what is printed beside what is computed.
//!
//! Every computed value comes from the library at run time, out of the scenes in `cases/papers/`, which this crate
//! carries with it. A printed formula is evaluated on the same scene. A verdict compares the two wherever both are
//! numbers; where a paper's own wording is not on record, the row says so in words.

mod dragna_pandrea_stanescu;
mod palffy_muhoray;
mod scenes;
mod stanescu_pandrea;
mod treschev_zubelevich;

use serde::{Serialize, Serializer};

use crate::Refusal;

/// A paper that can be reproduced.
#[derive(Debug)]
pub struct Paper {
    /// Its name in questions.
    pub name: &'static str,
    /// Its citation.
    pub citation: &'static str,
    rows: fn() -> Result<Vec<Row>, Refusal>,
}

/// All of them.
pub static PAPERS: [Paper; 4] = [
    treschev_zubelevich::PAPER,
    stanescu_pandrea::PAPER,
    dragna_pandrea_stanescu::PAPER,
    palffy_muhoray::PAPER,
];

/// What a row comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// What is printed is what is computed.
    Agrees,
    /// A slip of the pen.
    Misprint,
    /// What is printed does not hold.
    Wrong,
    /// Nothing printed is on record to compare with.
    Beyond,
}

impl Verdict {
    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Misprint => "misprint",
            Self::Wrong => "wrong",
            Self::Beyond => "beyond",
        }
    }
}

/// Something printed or computed: words, numbers, or both.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Shown {
    /// A formula or words.
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
    /// Its equation, theorem or section.
    pub equation: &'static str,
    /// What it is about.
    pub quantity: &'static str,
    /// What the paper prints; empty where nothing is on record.
    pub printed: Shown,
    /// What should come out by this project's own theory, where nothing printed is on record.
    pub closed_form: Option<Shown>,
    /// What the library computes.
    pub computed: Shown,
    /// What that comes to.
    pub verdict: Verdict,
    /// What is wrong with the print, and what is right.
    pub erratum: Option<&'static str>,
    /// The size beside which a difference is rounding.
    #[serde(skip)]
    pub scale: f64,
    /// How much of it is rounding.
    #[serde(skip)]
    tolerance: f64,
}

impl Row {
    fn new(scene: &'static str, title: String, equation: &'static str, quantity: &'static str) -> Self {
        Self {
            scene,
            title,
            equation,
            quantity,
            printed: Shown::default(),
            closed_form: None,
            computed: Shown::default(),
            verdict: Verdict::Agrees,
            erratum: None,
            scale: 0.0,
            tolerance: 1e-12,
        }
    }

    /// What the paper says, in words or as a formula, with its value on the scene where it has one; no words where
    /// it prints just numbers.
    fn printed(mut self, text: &'static str, value: impl Into<Vec<f64>>) -> Self {
        self.printed = Shown { text: (!text.is_empty()).then_some(text), value: value.into() };
        self
    }

    /// What the library finds.
    fn computed(mut self, value: impl Into<Vec<f64>>) -> Self {
        self.computed.value = value.into();
        self
    }

    /// The same in words, or words before the numbers.
    fn in_words(mut self, text: &'static str) -> Self {
        self.computed.text = Some(text);
        self
    }

    /// The size of what the numbers are differences of, where it is not their own.
    const fn among(mut self, scale: f64) -> Self {
        self.scale = scale;
        self
    }

    /// A search with a tolerance of its own found the number.
    const fn within(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// The print is right: if the numbers say otherwise, the verdict does too.
    fn agrees(mut self) -> Self {
        self.verdict = if self.numbers_agree() == Some(false) { Verdict::Wrong } else { Verdict::Agrees };
        self
    }

    /// Nothing printed is on record; this is what should come out.
    fn beyond(mut self, text: &'static str, value: impl Into<Vec<f64>>) -> Self {
        let expected = Shown { text: Some(text), value: value.into() };
        let fails = self.agree(&expected) == Some(false);
        self.verdict = if fails { Verdict::Wrong } else { Verdict::Beyond };
        self.closed_form = Some(expected);
        self
    }

    /// The print has a slip, provided that our computation bears it out.
    fn misprint(self, borne_out: bool, erratum: &'static str) -> Self {
        self.in_error(Verdict::Misprint, borne_out, erratum)
    }

    /// What is printed does not hold, provided that our computation bears it out.
    fn wrong(self, borne_out: bool, erratum: &'static str) -> Self {
        self.in_error(Verdict::Wrong, borne_out, erratum)
    }

    fn in_error(mut self, verdict: Verdict, borne_out: bool, erratum: &'static str) -> Self {
        if borne_out && self.numbers_agree() != Some(true) {
            self.verdict = verdict;
            self.erratum = Some(erratum);
        }
        self
    }

    fn numbers_agree(&self) -> Option<bool> {
        self.agree(&self.printed)
    }

    /// Whether our numbers and others agree; none where one side has only words.
    fn agree(&self, other: &Shown) -> Option<bool> {
        let (printed, computed) = (&other.value, &self.computed.value);
        (!printed.is_empty() && !computed.is_empty())
            .then(|| same(printed, computed, self.scale, self.tolerance))
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
    /// Its statements.
    pub rows: Vec<Row>,
}

impl Paper {
    /// The one of a name.
    pub fn find(name: &str) -> Option<&'static Self> {
        PAPERS.iter().find(|paper| paper.name == name)
    }

    /// Computes everything that it states.
    pub fn reproduce(&self) -> Result<Reproduction, Refusal> {
        Ok(Reproduction { paper: self.name, citation: self.citation, rows: (self.rows)()? })
    }
}

/// Reproduces the paper of a name.
pub fn answer(name: &str) -> Result<Reproduction, Refusal> {
    match Paper::find(name) {
        Some(paper) => paper.reproduce(),
        None => {
            let names = PAPERS.each_ref().map(|paper| paper.name).join(", ");
            Err(Refusal::of_value("name", name, &format!("one of {names}")))
        }
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
pub fn catalogue() -> Result<Catalogue, Refusal> {
    let papers = PAPERS.iter().map(Paper::reproduce).collect::<Result<_, _>>()?;
    Ok(Catalogue { papers })
}

#[derive(Serialize)]
struct Entry {
    name: &'static str,
    citation: &'static str,
    rows: usize,
}

fn entries<S: Serializer>(papers: &[Reproduction], serializer: S) -> Result<S::Ok, S::Error> {
    let entry =
        |paper: &Reproduction| Entry { name: paper.paper, citation: paper.citation, rows: paper.rows.len() };
    serializer.collect_seq(papers.iter().map(entry))
}
