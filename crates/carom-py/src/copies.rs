//! Independent copies of a run on all cores, and their averages together: what `carom run --replicas` prints.
//!
//! The copies run on threads that know no Python, while the thread that asked looks at signals. Ctrl-C ends them where they are.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use carom_answers::options::REPLICAS;
use carom_answers::run::replicas::{Pool, Replica, check};
use carom_answers::run::{Changes, Running};
use carom_answers::{InputError, Subject, VERSION};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::exceptions::{exception, unwritten};
use crate::pool::pool;
use crate::questions::{Text, ask, named, warnings};
use crate::runs::ChangeOptions;
use crate::sections::{Sections, cut};

/// Adds what is here to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(ask_replicas, module)?)
}

/// How often the thread that asked looks at signals.
const LOOK: Duration = Duration::from_millis(20);

/// Runs a number of copies, whose fills have the seeds seed, seed + 1, …
#[pyfunction]
#[pyo3(signature = (text, changes, replicas, progress=None))]
fn ask_replicas(
    py: Python<'_>,
    text: Text,
    changes: ChangeOptions,
    replicas: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Sections, &'static str, Vec<String>)> {
    let (subject, changes) = ask(py, || {
        let subject = text.subject()?;
        check(&subject)?;
        REPLICAS.check("replicas", replicas)?;
        Ok((subject, changes.changes()?))
    })?;
    let threads = pool(py)?;
    let (stop, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let (copies, raised) = py.detach(|| {
        thread::scope(|scope| {
            let work = scope.spawn(|| {
                let one = |i| {
                    if stop.load(Ordering::Relaxed) {
                        return None;
                    }
                    let replica = changes.replica.wrapping_add(i);
                    let copy = Changes { replica, threads: Some(1), ..changes };
                    let copy = run(subject.clone(), copy, &stop);
                    done.fetch_add(1, Ordering::Relaxed);
                    // One that was ended while its bodies were placed has nothing to say.
                    if copy.is_err() && stop.load(Ordering::Relaxed) { None } else { Some(copy) }
                };
                let all = || {
                    let copies = (0..replicas).into_par_iter().filter_map(one);
                    copies.collect::<Result<Vec<Replica>, InputError>>()
                };
                threads.install(all)
            });
            let mut raised = None;
            while !work.is_finished() {
                thread::sleep(LOOK);
                if raised.is_some() {
                    continue;
                }
                let looked = Python::attach(|py| {
                    py.check_signals()?;
                    progress.as_ref().map_or(Ok(()), |progress| {
                        progress.call1(py, (done.load(Ordering::Relaxed), replicas)).map(drop)
                    })
                });
                if let Err(error) = looked {
                    raised = Some(error);
                    stop.store(true, Ordering::Relaxed);
                }
            }
            (work.join(), raised)
        })
    });
    let copies = copies.map_err(|_| PyRuntimeError::new_err("a copy of the run broke down"))?;
    let copies = match (copies, raised) {
        (Err(_), Some(error)) => return Err(error),
        (Err(error), None) => return Err(exception(py, &error)),
        // What was reached counts.
        (Ok(copies), Some(error)) if error.is_instance_of::<PyKeyboardInterrupt>(py) => copies,
        (Ok(_), Some(error)) => return Err(error),
        (Ok(copies), None) => copies,
    };
    let Some(pool) = Pool::of(&copies) else {
        return Err(PyKeyboardInterrupt::new_err("no copy had begun to run"));
    };
    let document = cut(&pool.document(VERSION)).map_err(|error| unwritten(&error))?;
    Ok((document, named(pool.end.verdict()), warnings(&subject)))
}

/// One copy, of which averages are kept and nothing else.
fn run(subject: Subject, changes: Changes, stop: &AtomicBool) -> Result<Replica, InputError> {
    let start = Instant::now();
    let mut running = Running::begin(subject, changes, |_| !stop.load(Ordering::Relaxed))?;
    while running.step(&mut ()) {
        if stop.load(Ordering::Relaxed) {
            running.interrupt();
        }
    }
    Ok(Replica::of(&running, start.elapsed().as_secs_f64(), running.notes()))
}
