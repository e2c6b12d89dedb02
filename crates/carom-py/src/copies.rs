//! Independent copies of a run on all cores, and their averages together: what `carom run --replicas` prints.
//!
//! Ctrl-C ends them where they are.

use std::time::Instant;

use carom_answers::options::REPLICAS;
use carom_answers::run::replicas::{Pool, Replica, check};
use carom_answers::run::{Changes, Running};
use carom_answers::{InputError, Subject, VERSION};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::exceptions::{exception, unwritten};
use crate::pool::pool;
use crate::questions::{Text, ask, named, warnings};
use crate::runs::ChangeOptions;
use crate::sections::{Sections, cut};
use crate::watched::{Watch, watched};

/// Adds what is here to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(ask_replicas, module)?)
}

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
    let (copies, raised) = watched(py, replicas, progress.as_ref(), |watch| {
        let one = |i| {
            if !watch.goes_on() {
                return None;
            }
            let replica = changes.replica.wrapping_add(i);
            let copy = Changes { replica, threads: Some(1), ..changes };
            let copy = run(subject.clone(), copy, watch);
            watch.one_more();
            // One that was ended while its bodies were placed has nothing to say.
            if copy.is_err() && !watch.goes_on() { None } else { Some(copy) }
        };
        let all = || {
            let copies = (0..replicas).into_par_iter().filter_map(one);
            copies.collect::<Result<Vec<Replica>, InputError>>()
        };
        threads.install(all)
    });
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
fn run(subject: Subject, changes: Changes, watch: &Watch) -> Result<Replica, InputError> {
    let start = Instant::now();
    let mut running = Running::begin(subject, changes, |_| watch.goes_on())?;
    while running.step(&mut ()) {
        if !watch.goes_on() {
            running.interrupt();
        }
    }
    Ok(Replica::of(&running, start.elapsed().as_secs_f64(), running.notes()))
}
