//! Independent copies of a run, in parallel, and what they say together.
//!
//! Copy i has the fills' seeds plus i. Copies share nothing while they run, so what each does depends neither on the number
//! of threads nor on the order in which they are taken up. The pooled mean is that of the copies' means, and its error the
//! standard error between them: no correlation in time is left in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use carom::observe::{Estimate, Observables, Quantity, pool};
use carom_answers::run::{AuditEntry, End, Estimates, Loop, ObservablesEntry, Settings};
use carom_answers::{Refusal, Subject, Verdict};
use serde::Serialize;

use super::super::input::read_scene;
use super::super::output::print;
use super::driver::Driver;
use super::tape::{Keep, Tape};
use super::whole::{at, replace};
use super::{Arguments, Copy, Prepared, begin, progress};
use crate::report::{self, Style};
use crate::{Failure, VERSION};

/// What one copy came to.
struct Outcome {
    end: End,
    observables: Option<Observables>,
    json: Replica,
    settings: Settings,
    which: Loop,
    hash: String,
    title: Option<String>,
}

/// A copy for programs.
#[derive(Serialize)]
struct Replica {
    replica: u64,
    seeds: Vec<u64>,
    stopped: &'static str,
    time: f64,
    impacts: u64,
    elastic: u64,
    audit: AuditEntry,
    observables: Option<ObservablesEntry>,
    notes: Vec<String>,
    wall_s: f64,
}

/// All of them.
#[derive(Serialize)]
struct Document<'a> {
    title: Option<&'a str>,
    version: &'static str,
    scene: &'a str,
    settings: Settings,
    #[serde(rename = "loop")]
    which: Loop,
    stopped: &'static str,
    observables: Estimates,
    replicas: Vec<&'a Replica>,
}

/// Runs the copies and reports them together.
pub fn run(path: &Path, count: u64, arguments: &Arguments) -> Result<Verdict, Failure> {
    progress::watch();
    let subject = read_scene(path)?;
    if subject.scene.fills.is_empty() {
        let message = "has no fill, whose seed is all that copies of a run differ in";
        return Err(subject.refuse_at("fill", message, "a `[[fill]]`, or a run without --replicas").into());
    }
    if let Some(folder) = &arguments.out {
        make_room(folder, arguments.force)?;
    }
    let (next, finished) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64).min(count);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count || (number > 0 && progress::interrupted()) {
                        return;
                    }
                    let folder = arguments.out.as_ref().map(|folder| folder.join(name(number, count)));
                    let outcome = run_one(subject.clone(), number, folder.as_deref(), arguments);
                    let failed = outcome.is_err();
                    if let Ok(mut finished) = finished.lock() {
                        finished.push((number, outcome));
                    }
                    if failed {
                        // No more are begun after one that failed.
                        next.store(count, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let mut finished = finished.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    finished.sort_by_key(|(number, _)| *number);
    let mut outcomes = Vec::new();
    for (_, outcome) in finished {
        outcomes.push(outcome?);
    }
    report(&outcomes, arguments)
}

fn name(number: u64, count: u64) -> String {
    let width = (count - 1).to_string().len();
    format!("replica-{number:0width$}")
}

/// The folder of the copies' folders.
fn make_room(folder: &Path, force: bool) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| at(folder, &error))?;
    let mut entries = fs::read_dir(folder).map_err(|error| at(folder, &error))?;
    if entries.next().is_some() && !force {
        let message = format!("{} is not empty", folder.display());
        let expected = "an empty or a new folder, or --force to write over older copies";
        return Err(Refusal::of_option(Some("o"), &message, Some(expected)).into());
    }
    Ok(())
}

fn run_one(
    subject: Subject,
    number: u64,
    folder: Option<&Path>,
    arguments: &Arguments,
) -> Result<Outcome, Failure> {
    let copy = Copy { number, folder, shown: false };
    let Prepared { mut running, folder, .. } = begin(subject, arguments, &copy)?;
    let keep = folder.map_or(Keep::Nothing, |folder| Keep::Files(Box::new(folder)));
    let mut tape = Tape::new(running.scene.clone(), keep);
    let mut driver = Driver::new(arguments, 0.0, false);
    driver.drive(&mut running, &mut tape)?;
    let (_, notes) = driver.finish(&running, &mut tape)?;
    let end = running.end().unwrap_or(End::INTERRUPTED);
    let (scene, engine) = (&running.scene, &running.engine);
    let observables = engine.observer.as_ref().map(carom::observe::Observer::observables);
    let counts = engine.counts();
    let json = Replica {
        replica: number,
        seeds: scene.fills.iter().map(|fill| fill.seed).collect(),
        stopped: end.name(),
        time: engine.time(),
        impacts: counts.impacts,
        elastic: counts.elastic,
        audit: AuditEntry::of(&engine.audit()),
        observables: observables.as_ref().map(ObservablesEntry::of),
        notes,
        wall_s: driver.wall_s(),
    };
    let (which, title) = (engine.which(), scene.title.clone());
    let (settings, hash) = (running.settings, running.input.hash());
    Ok(Outcome { end, observables, json, settings, which, hash, title })
}

fn report(outcomes: &[Outcome], arguments: &Arguments) -> Result<Verdict, Failure> {
    let Some(first) = outcomes.first() else {
        return Err(io::Error::other("interrupted before the first copy began").into());
    };
    let measured: Vec<Observables> =
        outcomes.iter().filter_map(|outcome| outcome.observables.clone()).collect();
    let pooled = pool(&measured);
    // The one that came least far speaks for all.
    let worst = outcomes.iter().find(|outcome| outcome.end.verdict() != Verdict::Done);
    let interrupted = outcomes.iter().find(|outcome| outcome.end.name() == "interrupted");
    let end = worst.or(interrupted).unwrap_or(first).end;
    let document = Document {
        title: first.title.as_deref(),
        version: VERSION,
        scene: &first.hash,
        settings: Settings { replica: 0, ..first.settings },
        which: first.which,
        stopped: end.name(),
        observables: Estimates(pooled),
        replicas: outcomes.iter().map(|outcome| &outcome.json).collect(),
    };
    let text = serde_json::to_vec(&document).map_err(io::Error::from)?;
    if let Some(folder) = &arguments.out {
        let path: PathBuf = folder.join("run.json");
        replace(&path, &text)?;
    }
    let style = Style::of_stdout();
    print(|out| {
        if arguments.json {
            out.write_all(&text)?;
            return writeln!(out);
        }
        let impacts: u64 = outcomes.iter().map(|outcome| outcome.json.impacts).sum();
        style.write_title(out, first.title.as_deref())?;
        let by = first.which.name();
        writeln!(out, "{} runs by the loop `{by}`, {impacts} impacts in all.", outcomes.len())?;
        report::run::write_estimates(out, &pooled, "the spread of the runs", style)?;
        if let Some(folder) = &arguments.out {
            writeln!(out, "{}: run.json, and a folder a run", folder.display())?;
        }
        Ok(())
    })?;
    Ok(end.verdict())
}

/// The quantities that have a mean, with it.
pub fn known(estimates: &[Estimate; Quantity::ALL.len()]) -> Vec<(Quantity, f64, Option<f64>)> {
    let known =
        |(quantity, estimate): (Quantity, &Estimate)| Some((quantity, estimate.mean?, estimate.error));
    Quantity::ALL.into_iter().zip(estimates).filter_map(known).collect()
}
