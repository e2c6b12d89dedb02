//! Input errors as Python's exceptions.

use carom_answers::InputError;
use carom_answers::input_error::Fault;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// The exception of an input error: `carom.SceneError` for a text, with every mistake and its place, `carom.OptionError` for an option.
pub fn exception(py: Python<'_>, input: &InputError) -> PyErr {
    let raised = || -> PyResult<PyErr> {
        let errors = py.import("carom.errors")?;
        let list: Vec<_> = input
            .diagnostics
            .iter()
            .map(|d| {
                let (field, value) = (d.field.as_deref(), d.value.as_deref());
                (d.line, d.column, field, value, d.message.as_str(), d.expected.as_deref())
            })
            .collect();
        let error = match &input.fault {
            Fault::Text { name, .. } | Fault::Unreadable { name } => {
                errors.getattr("SceneError")?.call1((name, list))?
            }
            Fault::Option => errors.getattr("OptionError")?.call1((list,))?,
        };
        Ok(PyErr::from_value(error))
    };
    // What cannot be raised is raised instead.
    raised().unwrap_or_else(|error| error)
}

/// The exception of a document that cannot be written, which is a bug.
pub fn unwritten(error: &serde_json::Error) -> PyErr {
    PyRuntimeError::new_err(format!("the answer has no text: {error}"))
}
