//! A user's force in Python: called at every stage of every step of the flow, with the lock taken each time.
//!
//! The function gets the time and the states of its bodies as arrays and returns forces, or forces and torques about the centres
//! of mass. Its first exception ends the run; until the step under way ends, the force is zero.

use std::sync::{Arc, Mutex, PoisonError};

use carom::body::State;
use carom::flow::{Custom, Wrench};
use carom::run::World;
use carom::scene::model::Scene;
use carom_answers::InputError;
use nalgebra::Vector3;
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::pairs::three;

/// The first exception that any force has raised.
#[derive(Clone, Default)]
pub struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Takes it, if there is one.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn is_some(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn put(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// Bodies by name, and the force on them.
pub type Forces = Vec<(Vec<String>, Py<PyAny>)>;

/// The scene's world with the forces in it.
pub fn put_into(scene: &Scene, world: World, forces: Forces, raised: &Raised) -> Result<World, InputError> {
    let mut world = world;
    for (names, function) in forces {
        let bodies = names.iter().map(|name| {
            let place = scene.bodies.iter().position(|body| body.name == *name && !body.body.fixed);
            place.ok_or_else(|| {
                let message = format!("there is no body `{name}` that can move");
                InputError::of_option(Some("forces"), &message, Some("names of bodies of the scene"))
            })
        });
        let bodies: Vec<usize> = bodies.collect::<Result<_, _>>()?;
        let twice = (1..bodies.len()).find(|&k| bodies[..k].contains(&bodies[k]));
        let wrong = match twice {
            Some(k) => Some(format!("name the body `{}` twice under one function", names[k])),
            None => bodies.is_empty().then(|| "have a function under no body".to_string()),
        };
        if let Some(message) = wrong {
            return Err(InputError::of_option(Some("forces"), &message, Some("names of bodies, each once")));
        }
        world = world.with_force(&bodies, custom(function, raised.clone()));
    }
    Ok(world)
}

fn custom(function: Py<PyAny>, raised: Raised) -> Custom {
    Arc::new(move |t: f64, states: &[State], wrenches: &mut [Wrench]| {
        if raised.is_some() {
            return;
        }
        let done = Python::attach(|py| push(py, function.bind(py), t, states, wrenches));
        if let Err(error) = done {
            raised.put(error);
        }
    })
}

/// Asks the function, and adds what it says.
fn push(
    py: Python<'_>,
    function: &Bound<'_, PyAny>,
    t: f64,
    states: &[State],
    wrenches: &mut [Wrench],
) -> PyResult<()> {
    let turns: Vec<[f64; 4]> = states
        .iter()
        .map(|state| {
            let q = state.orientation;
            [q.w, q.i, q.j, q.k]
        })
        .collect();
    let column = |vector: fn(&State) -> Vector3<f64>| {
        three(py, states.iter().map(|state| vector(state).into()).collect())
    };
    let turns = PyArray1::from_vec(py, turns.into_flattened()).reshape([states.len(), 4])?;
    let position = column(|state| state.position)?;
    let velocity = column(|state| state.velocity)?;
    let spin = column(|state| state.angular_velocity)?;
    let said = function.call1((t, position, turns, velocity, spin))?;
    let (force, torque): (PyReadonlyArray2<'_, f64>, PyReadonlyArray2<'_, f64>) = said.extract()?;
    for (name, array, of) in [("force", &force, 0), ("torque", &torque, 1)] {
        let array = array.as_array();
        if array.shape() != [states.len(), 3] {
            let (count, found) = (states.len(), array.shape());
            return Err(PyValueError::new_err(format!("a {name} of shape {found:?}, expected [{count}, 3]")));
        }
        if let Some(number) = array.iter().find(|number| !number.is_finite()) {
            let message = format!("a {name} has {number} at t = {t}, expected finite numbers");
            return Err(PyValueError::new_err(message));
        }
        for (wrench, row) in wrenches.iter_mut().zip(array.rows()) {
            let vector = Vector3::from_fn(|i, _| row[i]);
            if of == 0 {
                wrench.force += vector;
            } else {
                wrench.torque += vector;
            }
        }
    }
    Ok(())
}
