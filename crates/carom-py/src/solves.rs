//! One scene, many velocities: the impact at a scene's instant for each of them, under any law.
//!
//! Places, joints and contacts are the scene's, so that every row has the same contacts.

use carom::impact::Options;
use carom::scene::instant::Instant;
use carom_answers::solve::Prepared;
use nalgebra::Vector3;
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArrayDyn};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

use crate::batch;
use crate::columns::{BadRow, numbers};
use crate::questions::{ResolutionOptions, Text, ask, warnings};

/// Adds what is here to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(solve_many, module)?)
}

/// What is kept of an impact.
struct Kept {
    velocity: Vec<[f64; 3]>,
    angular_velocity: Vec<[f64; 3]>,
    impulse: Vec<f64>,
    impulse_vector: Vec<[f64; 3]>,
    energy: [f64; 2],
    flags: [bool; 4],
}

/// Velocities for every body of every row, or nothing: those of the scene.
fn velocities<'a>(
    array: &'a Option<PyReadonlyArrayDyn<'_, f64>>,
    name: &str,
    count: usize,
    bodies: usize,
) -> PyResult<Option<&'a [[f64; 3]]>> {
    let Some(array) = array else { return Ok(None) };
    let (rows, _) = numbers(array)?.as_chunks();
    if rows.len() == count.saturating_mul(bodies) {
        return Ok(Some(rows));
    }
    let found = array.as_array().shape().to_vec();
    Err(PyValueError::new_err(format!("{name} has shape {found:?}, expected [{count}, {bodies}, 3]")))
}

fn resolve(
    instant: &mut Instant,
    options: &Options,
    row: usize,
    velocity: Option<&[[f64; 3]]>,
    spin: Option<&[[f64; 3]]>,
) -> Result<Kept, BadRow> {
    let bad = |name, message: String| BadRow { name, row, message };
    let bodies = instant.bodies.len();
    for (name, given, is_spin) in [("velocity", velocity, false), ("angular_velocity", spin, true)] {
        let Some(given) = given else { continue };
        for (k, (body, state)) in instant.bodies.iter_mut().enumerate() {
            let vector = Vector3::from(given[row * bodies + k]);
            if !vector.iter().all(|x| x.is_finite()) {
                return Err(bad(name, format!("[{k}] is not finite")));
            }
            if body.fixed && vector != Vector3::zeros() {
                return Err(bad(name, format!("[{k}] moves a fixed body")));
            }
            if is_spin {
                state.angular_velocity = vector;
            } else {
                state.velocity = vector;
            }
        }
    }
    let done = instant.mechanism().solve(options).map_err(|error| bad("velocity", error.to_string()))?;
    let outcome = &done.outcome;
    Ok(Kept {
        velocity: done.states.iter().map(|state| state.velocity.into()).collect(),
        angular_velocity: done.states.iter().map(|state| state.angular_velocity.into()).collect(),
        impulse: done.contacts.iter().map(|contact| contact.impulse).collect(),
        impulse_vector: done.contacts.iter().map(|contact| contact.impulse_vector.into()).collect(),
        energy: [outcome.energy.before, outcome.energy.after],
        flags: [outcome.consistent, outcome.admissible, outcome.velocity_unique, outcome.impulse_unique],
    })
}

/// Names of bodies and of contacts, columns, warnings.
type Solved<'py> = (Vec<String>, Vec<String>, Bound<'py, PyDict>, Vec<String>);

/// The impacts of one scene at many velocities: names of bodies and contacts, a dictionary of columns, and warnings.
#[pyfunction]
#[pyo3(signature = (text, options, touching, count, velocity=None, angular_velocity=None, progress=None))]
#[allow(clippy::too_many_arguments, reason = "the arguments of the Python function")]
fn solve_many<'py>(
    py: Python<'py>,
    text: Text,
    options: Option<ResolutionOptions>,
    touching: f64,
    count: usize,
    velocity: Option<PyReadonlyArrayDyn<'py, f64>>,
    angular_velocity: Option<PyReadonlyArrayDyn<'py, f64>>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Solved<'py>> {
    let options = options.unwrap_or_default();
    let (prepared, options) = ask(py, || {
        let prepared = Prepared::of(text.subject()?, touching)?;
        let options = prepared.options(&options.resolution()?)?;
        Ok((prepared, options))
    })?;
    let instant = &prepared.instant;
    let (bodies, contacts) = (instant.bodies.len(), instant.contacts.len());
    let moved = velocities(&velocity, "velocity", count, bodies)?;
    let turned = velocities(&angular_velocity, "angular_velocity", count, bodies)?;
    let mut kept: Vec<Kept> = Vec::with_capacity(count);
    batch::run(py, count, progress.as_ref(), |range| {
        let piece: Result<Vec<Kept>, BadRow> = range
            .into_par_iter()
            .with_min_len(16)
            .map_init(|| instant.clone(), |instant, row| resolve(instant, &options, row, moved, turned))
            .collect();
        kept.extend(piece?);
        Ok(())
    })?;
    let columns = PyDict::new(py);
    let vectors = |name, width, rows: Vec<[f64; 3]>| -> PyResult<()> {
        let array = PyArray1::from_vec(py, rows.into_flattened());
        columns.set_item(name, array.reshape([count, width, 3])?)
    };
    vectors("velocity", bodies, kept.iter().flat_map(|k| k.velocity.iter().copied()).collect())?;
    let spins = kept.iter().flat_map(|k| k.angular_velocity.iter().copied()).collect();
    vectors("angular_velocity", bodies, spins)?;
    let pushes = kept.iter().flat_map(|k| k.impulse_vector.iter().copied()).collect();
    vectors("impulse_vector", contacts, pushes)?;
    let impulses: Vec<f64> = kept.iter().flat_map(|k| k.impulse.iter().copied()).collect();
    columns.set_item("impulse", PyArray1::from_vec(py, impulses).reshape([count, contacts])?)?;
    for (i, name) in ["energy_before", "energy_after"].into_iter().enumerate() {
        columns.set_item(name, PyArray1::from_iter(py, kept.iter().map(|k| k.energy[i])))?;
    }
    for (i, name) in ["consistent", "admissible", "velocity_unique", "impulse_unique"].into_iter().enumerate()
    {
        columns.set_item(name, PyArray1::from_iter(py, kept.iter().map(|k| k.flags[i])))?;
    }
    let bodies = prepared.scene().bodies.iter().map(|body| body.name.clone()).collect();
    let contacts = instant.contacts.iter().map(|contact| contact.name.clone()).collect();
    Ok((bodies, contacts, columns, warnings(&prepared.subject)))
}
