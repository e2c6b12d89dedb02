//! Independent copies of a run, in parallel, each with a folder of its own where there are folders.

use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use carom_answers::folder::{self, RESULT, atomic_file};
use carom_answers::run::replicas::{Pool, Replica, check};
use carom_answers::{Subject, Verdict};

use super::super::input::read_scene;
use super::super::output::print;
use super::driver::Driver;
use super::progress::Copies;
use super::recorder::{Output, RunRecorder};
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
        folder::make_room_for_copies(folder, arguments.force)?;
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
                    let folder = arguments.out.as_ref().map(|folder| folder::copy(folder, number, count));
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

fn run_one(
    subject: Subject,
    number: u64,
    folder: Option<&Path>,
    arguments: &Arguments,
) -> Result<Replica, Failure> {
    let copy = Copy { number, folder, shown: false };
    let Prepared { mut running, folder, .. } = begin(subject, arguments, &copy)?;
    let output = folder.map_or(Output::Nothing, |folder| Output::Files(Box::new(folder)));
    let mut recorder = RunRecorder::new(output);
    let mut driver = Driver::new(arguments, &Before::default(), false);
    driver.drive(&mut running, &mut recorder)?;
    let (_, notes) = driver.finish(&running, &mut recorder)?;
    Ok(Replica::of(&running, driver.wall_s(), notes))
}

fn report(copies: &[Replica], asked: u64, arguments: &Arguments) -> Result<Verdict, Failure> {
    let Some(pool) = Pool::of(copies) else {
        return Err(io::Error::other("interrupted before the first copy began").into());
    };
    let text = serde_json::to_vec(&pool.document(VERSION)).map_err(io::Error::from)?;
    if let Some(folder) = &arguments.out {
        atomic_file::replace(&folder.join(RESULT), &text)?;
    }
    let first = |number: u64| arguments.out.as_ref().map(|folder| folder::copy(folder, number, asked));
    let interrupted = pool.interrupted.first().copied().and_then(first);
    let ended = Together {
        pool: &pool,
        asked,
        folder: arguments.out.as_deref(),
        interrupted: interrupted.as_deref(),
    };
    let style = Style::of_stdout(arguments.wide);
    print(|out| {
        if arguments.json {
            out.write_all(&text)?;
            return writeln!(out);
        }
        report::replicas::write(out, &ended, style)
    })?;
    Ok(pool.end.verdict())
}
