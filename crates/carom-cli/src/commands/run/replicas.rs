//! Independent copies of a run, in parallel, each with a folder of its own where there are folders.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use carom_answers::run::replicas::{Pool, Replica, check};
use carom_answers::{Refusal, Subject, Verdict};

use super::super::input::read_scene;
use super::super::output::print;
use super::driver::Driver;
use super::folder::COPY;
use super::progress::Copies;
use super::tape::{Keep, Tape};
use super::whole::{at, replace};
use super::{Arguments, Before, Copy, Prepared, begin, progress};
use crate::report::replicas::Together;
use crate::report::{self, Style};
use crate::{Failure, VERSION};

/// Runs the copies and reports them together.
pub fn run(path: &Path, count: u64, arguments: &Arguments) -> Result<Verdict, Failure> {
    progress::watch();
    let subject = read_scene(path)?;
    check(&subject)?;
    if let Some(folder) = &arguments.out {
        make_room(folder, arguments.force)?;
    }
    let bar = Copies::new(count);
    let (next, finished) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let threads = (arguments.threads() as u64).min(count);
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
                    bar.done();
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
    bar.end();
    let mut finished = finished.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    finished.sort_by_key(|(number, _)| *number);
    if progress::interrupted() && finished.iter().any(|(_, outcome)| outcome.is_ok()) {
        // Those that were interrupted while they were placed have nothing to say.
        finished.retain(|(_, outcome)| outcome.is_ok());
    }
    let copies = finished.into_iter().map(|(_, outcome)| outcome).collect::<Result<Vec<_>, _>>()?;
    report(&copies, count, arguments)
}

fn name(number: u64, count: u64) -> String {
    let width = (count - 1).to_string().len();
    format!("{COPY}{number:0width$}")
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
) -> Result<Replica, Failure> {
    let copy = Copy { number, folder, shown: false };
    let Prepared { mut running, folder, .. } = begin(subject, arguments, &copy)?;
    let keep = folder.map_or(Keep::Nothing, |folder| Keep::Files(Box::new(folder)));
    let mut tape = Tape::new(running.scene.clone(), keep);
    let mut driver = Driver::new(arguments, &Before::default(), false);
    driver.drive(&mut running, &mut tape)?;
    let (_, notes) = driver.finish(&running, &mut tape)?;
    Ok(Replica::of(&running, driver.wall_s(), notes))
}

fn report(copies: &[Replica], asked: u64, arguments: &Arguments) -> Result<Verdict, Failure> {
    let Some(pool) = Pool::of(copies) else {
        return Err(io::Error::other("interrupted before the first copy began").into());
    };
    let text = serde_json::to_vec(&pool.document(VERSION)).map_err(io::Error::from)?;
    if let Some(folder) = &arguments.out {
        let path: PathBuf = folder.join("run.json");
        replace(&path, &text)?;
    }
    let first = |number: u64| arguments.out.as_ref().map(|folder| folder.join(name(number, asked)));
    let interrupted = pool.interrupted.first().copied().and_then(first);
    let ended = Together {
        pool: &pool,
        asked,
        folder: arguments.out.as_deref(),
        interrupted: interrupted.as_deref(),
    };
    let style = Style::of_stdout();
    print(|out| {
        if arguments.json {
            out.write_all(&text)?;
            return writeln!(out);
        }
        report::replicas::write(out, &ended, style)
    })?;
    Ok(pool.end.verdict())
}
