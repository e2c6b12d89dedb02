//! The module `carom._carom`: what the Python package `carom` does in Rust.
//!
//! Each file is one subject: `columns` (arrays in, without copies), `batch` (many at once, on all cores, interruptible),
//! `pool` (the threads),
//! `shapes`, `flight` (exact free rotation), `pairs` (gaps and first contacts of many pairs), `strikes` (impacts of many
//! pairs), `questions` (what the program answers), `sections` (their documents in pieces), `exceptions` (of input errors), `solves` (one scene at many velocities),
//! `runs`, `forces` (a user's own in a run), `tables` (what a run recorded, through the Arrow interface),
//! `convex` (a user's shapes), `program` (the command line), `copies` (of a run, pooled), `ensembles` (sweeps and scatterings), `watched` (work that
//! Ctrl-C ends). The Python sources in `python/carom` check shapes of arrays and make the objects that users see; here numbers are
//! checked, and everything is computed. Nothing a user passes makes it panic: what has no meaning is a `ValueError`.

mod batch;
mod columns;
mod convex;
mod copies;
mod ensembles;
mod exceptions;
mod flight;
mod forces;
mod pairs;
mod pool;
mod program;
mod questions;
mod runs;
mod sections;
mod shapes;
mod solves;
mod strikes;
mod tables;
mod watched;

use pyo3::prelude::*;

/// What the package is made of.
#[pymodule]
fn _carom(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    shapes::register(module)?;
    flight::register(module)?;
    pairs::register(module)?;
    strikes::register(module)?;
    questions::register(module)?;
    solves::register(module)?;
    runs::register(module)?;
    tables::register(module)?;
    convex::register(module)?;
    copies::register(module)?;
    ensembles::register(module)?;
    program::register(module)
}
