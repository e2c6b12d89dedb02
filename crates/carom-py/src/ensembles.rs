//! Ensembles: the samples of a sweep, any range of them at a time, and two bodies thrown at each other many times.

use std::io;
use std::sync::Arc;

use carom::scene::model::Collect;
use carom_answers::InputError;
use carom_answers::options::THREADS;
use carom_answers::run::cores;
use carom_answers::scatter::{Changes, Device, Prepared};
use carom_answers::sweep::{Request, Row, Sweep as Plan, parse_vary};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::exceptions::unwritten;
use crate::questions::{Text, ask, named, warnings};
use crate::sections::{Sections, cut};
use crate::tables::Table;
use crate::watched::watched;

/// Adds what is here to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("COLLECT", Collect::ALL.map(Collect::name).to_vec())?;
    module.add_class::<Sweep>()?;
    module.add_function(wrap_pyfunction!(vary_entry, module)?)?;
    module.add_function(wrap_pyfunction!(ask_scatter, module)?)
}

fn failed(error: &io::Error) -> PyErr {
    PyRuntimeError::new_err(format!("the samples cannot be taken: {error}"))
}

/// What varies, in one line, as an entry like those of `[[sweep.vary]]`, in JSON.
#[pyfunction]
fn vary_entry(line: &str) -> PyResult<String> {
    parse_vary(line).map(|entry| entry.to_string()).map_err(PyValueError::new_err)
}

/// A sweep ready to go.
#[pyclass(frozen, module = "carom._carom")]
struct Sweep {
    plan: Arc<Plan>,
}

#[pymethods]
impl Sweep {
    /// Reads what varies; `vary` is a list of entries in JSON, or empty.
    #[new]
    fn new(
        py: Python<'_>,
        text: Text,
        vary: String,
        samples: Option<u64>,
        seed: Option<u64>,
        collect: Vec<String>,
    ) -> PyResult<Self> {
        let plan = ask(py, || {
            let collect = collect.iter().map(|name| {
                let expected = Collect::ALL.map(Collect::name).join(", ");
                Collect::ALL
                    .into_iter()
                    .find(|what| what.name() == name)
                    .ok_or_else(|| InputError::of_value("collect", name, &expected))
            });
            let collect = collect.collect::<Result<_, _>>()?;
            Ok(Plan::new(Request { input: text.input(), vary, samples, seed, collect })?)
        })?;
        Ok(Self { plan: Arc::new(plan) })
    }

    /// How many samples.
    #[getter]
    fn samples(&self) -> u64 {
        self.plan.samples()
    }

    /// The names of the numbers that vary.
    #[getter]
    fn varied(&self) -> Vec<String> {
        self.plan.plan().columns().to_vec()
    }

    /// Where the samples' numbers come from.
    #[getter]
    fn seed(&self) -> u64 {
        self.plan.plan().settings().seed
    }

    /// Tells sweeps apart that would not have the same rows.
    #[getter]
    fn identity(&self) -> &str {
        self.plan.identity()
    }

    /// Runs the samples from `start` up to `stop`. After Ctrl-C there are fewer rows, those without a gap from `start` on.
    #[pyo3(signature = (start, stop, threads=None, progress=None))]
    fn rows(
        &self,
        py: Python<'_>,
        start: u64,
        stop: u64,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Table, Option<PyErr>)> {
        let threads = ask(py, || {
            THREADS.check_some("threads", threads)?;
            Ok(threads.unwrap_or_else(cores))
        })?;
        let stop = stop.min(self.plan.samples());
        let ((done, rows), raised) = watched(py, stop.saturating_sub(start), progress.as_ref(), |watch| {
            let mut rows: Vec<Row> = Vec::new();
            let done = self.plan.in_order(start..stop, threads, &|| watch.goes_on(), |row| {
                rows.push(row);
                watch.one_more();
                Ok(())
            });
            (done, rows)
        });
        done.map_err(|error| failed(&error))?;
        Ok((Table::of(self.plan.table(&rows))?, raised))
    }
}

/// What a scattering says: the document, the rows where they are wanted, the verdict, warnings about the scene, and what ended it early.
type Scattered = (Sections, Option<Table>, &'static str, Vec<String>, Option<PyErr>);

/// Throws two bodies at each other.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "the arguments of the Python function")]
#[pyo3(signature = (text, samples, seed, threads, device, rows, progress=None))]
fn ask_scatter(
    py: Python<'_>,
    text: Text,
    samples: Option<u64>,
    seed: Option<u64>,
    threads: Option<usize>,
    device: &str,
    rows: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Scattered> {
    let prepared = ask(py, || {
        let changes = Changes { samples, seed, threads, device: Device::named(device)? };
        Ok(Prepared::of(text.subject()?, changes)?)
    })?;
    let whole = prepared.scattering.settings().samples;
    let (answer, raised) = watched(py, whole, progress.as_ref(), |watch| {
        let go_on = |done: u64| {
            watch.reached(done);
            watch.goes_on()
        };
        let answer = if rows {
            prepared.run_with_rows(go_on)
        } else {
            prepared.run(go_on).map(|answer| (answer, None))
        };
        if watch.goes_on() {
            watch.reached(whole);
        }
        answer
    });
    let (answer, table) = answer.map_err(|error| failed(&error))?;
    let document = cut(&answer.document()).map_err(|error| unwritten(&error))?;
    let table = table.map(|rows| Table::of(Ok(rows))).transpose()?;
    Ok((document, table, named(answer.verdict()), warnings(&prepared.subject), raised))
}
