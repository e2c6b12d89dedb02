//! `carom compare SCENE`: every impact law on the same scene, side by side.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use carom::impact::mechanism::BodyOutcome;
use carom::impact::{Law, Outcome};
use carom::scene::model::Scene;
use serde::Serialize;

use super::input::Input;
use super::law::RestArguments;
use super::solve::{Prepared, Solved, TouchArguments};
use crate::report::{self, Style};
use crate::{Failure, Verdict};

/// The command's arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The scene, TOML or JSON; `-` reads standard input
    scene: PathBuf,

    /// Print one JSON document and nothing else
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    rest: RestArguments,

    #[command(flatten)]
    touch: TouchArguments,
}

const AFTER_HELP: &str = "\
Laws that pull, gain energy, leave a contact closing or have no solution are marked; the exit code is 0 all
the same, as the comparison is the answer, unless --strict asks for every law to be admissible.

Examples:
  carom compare corner.toml
  carom compare corner.toml --json";

/// Reads, solves by every law, prints.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let prepared = Prepared::read(&arguments.scene, &arguments.touch)?;
    let mut results: Vec<BodyOutcome> = Vec::new();
    let watched = io::stderr().is_terminal();
    for (k, law) in Law::ALL.into_iter().enumerate() {
        if watched {
            // Only seen where it takes its time.
            let _ = write!(io::stderr(), "{} of {}: {law} …", k + 1, Law::ALL.len());
        }
        let options = prepared.options(Some(law), &arguments.rest)?;
        let result = prepared.solve(&options);
        if watched {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
        match result {
            Ok(result) => results.push(result),
            Err(diagnostic) => return Err(prepared.input.refuse(vec![*diagnostic]).into()),
        }
    }
    let solved: Vec<Solved> = results.into_iter().map(|result| Solved::new(&prepared, result)).collect();
    let mut out = io::BufWriter::new(io::stdout().lock());
    if arguments.json {
        serde_json::to_writer(&mut out, &document(&solved)).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        report::compare::write(&mut out, &solved, Style::of_stdout())?;
    }
    out.flush()?;
    let good = |s: &Solved| s.result.outcome.consistent && s.result.outcome.admissible;
    Ok(if arguments.rest.strict && !solved.iter().all(good) { Verdict::NoAnswer } else { Verdict::Done })
}

/// Every law on a scene, as a document; none where it cannot be resolved.
pub fn json(input: Input, scene: Scene, touching: f64) -> Option<Vec<u8>> {
    let prepared = Prepared::of_scene(input, scene, touching).ok()?;
    let solve = |law: Law| {
        let options = prepared.options(Some(law), &RestArguments::default()).ok()?;
        Some(Solved::new(&prepared, prepared.solve(&options).ok()?))
    };
    let solved: Vec<Solved> = Law::ALL.into_iter().filter_map(solve).collect();
    if solved.is_empty() { None } else { serde_json::to_vec(&document(&solved)).ok() }
}

#[derive(Serialize)]
struct Document<'a> {
    title: Option<&'a str>,
    source: Option<&'a str>,
    contacts: Vec<&'a str>,
    laws: BTreeMap<&'static str, Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    bodies: BTreeMap<&'a str, [[f64; 3]; 2]>,
    approach: Vec<f64>,
    separation: Vec<f64>,
    impulse: Vec<f64>,
    energy_before: f64,
    energy_after: f64,
    energy_change: f64,
    linear_residual: f64,
    angular_residual: f64,
    velocity_unique: bool,
    impulse_unique: bool,
    consistent: bool,
    admissible: bool,
    steps: usize,
    notes: Vec<String>,
}

fn document<'a>(solved: &'a [Solved<'a>]) -> Document<'a> {
    let scene = &solved[0].prepared.scene;
    let laws = solved.iter().map(|s| {
        let outcome: &Outcome = &s.result.outcome;
        let bodies = scene.bodies.iter().zip(&s.result.states).map(|(body, state)| {
            (body.name.as_str(), [state.velocity.into(), state.angular_velocity.into()])
        });
        let entry = Entry {
            bodies: bodies.collect(),
            approach: s.result.contacts.iter().map(|c| c.approach).collect(),
            separation: s.result.contacts.iter().map(|c| c.separation).collect(),
            impulse: s.result.contacts.iter().map(|c| c.impulse).collect(),
            energy_before: outcome.energy.before,
            energy_after: outcome.energy.after,
            energy_change: outcome.energy.change,
            linear_residual: s.result.linear_residual,
            angular_residual: s.result.angular_residual,
            velocity_unique: outcome.velocity_unique,
            impulse_unique: outcome.impulse_unique,
            consistent: outcome.consistent,
            admissible: outcome.admissible,
            steps: outcome.steps.len(),
            notes: s.notes(),
        };
        (outcome.law.name(), entry)
    });
    Document {
        title: scene.title.as_deref(),
        source: scene.source.as_deref(),
        contacts: solved[0].prepared.instant.contacts.iter().map(|c| c.name.as_str()).collect(),
        laws: laws.collect(),
    }
}
