//! The program `carom` as the package has it: the same commands, `python -m carom` and the command `carom` that pip installs.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Adds what is here to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(run_program, module)?)
}

/// Does what the arguments say, the program's name being the first; returns the exit code.
#[pyfunction]
fn run_program(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| carom_cli::run_with(arguments))
}
