//! Exact free rotation: where a body is at any times, in closed form.

use carom::body::State;
use carom::motion::Flight as Motion;
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArrayDyn};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::columns::{BadRow, Bodies, BodyArrays, Rows, numbers};
use crate::pairs::three;
use crate::pool::on_all_cores;

/// Adds what is here to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(fly_many, module)?)?;
    module.add_class::<Flight>()
}

/// Positions, orientations, velocities and angular velocities.
type Columns<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// Many bodies, each flown for a time of its own, in closed form.
#[pyfunction]
fn fly_many<'py>(
    py: Python<'py>,
    count: usize,
    bodies: BodyArrays<'py>,
    times: PyReadonlyArrayDyn<'py, f64>,
    gravity: PyReadonlyArrayDyn<'py, f64>,
) -> PyResult<Columns<'py>> {
    let bodies = Bodies::new(&bodies, count)?;
    let times = Rows::<1>::new(numbers(&times)?, count, "time")?;
    let gravity = Rows::<3>::new(numbers(&gravity)?, count, "gravity")?;
    let fly = |i: usize| -> Result<State, BadRow> {
        let [time] = *times.finite(i)?;
        let (body, state) = (bodies.body(i)?, bodies.state(i)?);
        if body.fixed { Ok(state) } else { Ok(Motion::new(&body, &state, &gravity.vector(i)?).at(time)) }
    };
    let states = on_all_cores(py, || {
        (0..count).into_par_iter().with_min_len(64).map(fly).collect::<Result<Vec<State>, BadRow>>()
    })?;
    columns(py, &states?)
}

/// States as arrays.
fn columns<'py>(py: Python<'py>, states: &[State]) -> PyResult<Columns<'py>> {
    let positions = states.iter().map(|state| state.position.into()).collect();
    let velocities = states.iter().map(|state| state.velocity.into()).collect();
    let spins = states.iter().map(|state| state.angular_velocity.into()).collect();
    let turns: Vec<[f64; 4]> = states
        .iter()
        .map(|state| {
            let q = state.orientation;
            [q.w, q.i, q.j, q.k]
        })
        .collect();
    let count = turns.len();
    let turns = PyArray1::from_vec(py, turns.into_flattened()).reshape([count, 4])?.into_any();
    Ok((three(py, positions)?, turns, three(py, velocities)?, three(py, spins)?))
}

/// A body's free motion, prepared once.
#[pyclass(frozen, module = "carom._carom")]
pub struct Flight {
    motion: Motion,
}

#[pymethods]
impl Flight {
    /// The flight of one body from its state at t = 0; with any positive moments where that is asked for.
    #[new]
    fn new(body: BodyArrays<'_>, gravity: PyReadonlyArrayDyn<'_, f64>, any_inertia: bool) -> PyResult<Self> {
        let bodies = Bodies::new(&body, 1)?;
        let gravity = Rows::new(numbers(&gravity)?, 1, "gravity")?.vector(0)?;
        let body = if any_inertia { bodies.any_body(0)? } else { bodies.body(0)? };
        Ok(Self { motion: Motion::new(&body, &bodies.state(0)?, &gravity) })
    }

    /// The states at many times.
    fn at<'py>(&self, py: Python<'py>, times: PyReadonlyArrayDyn<'py, f64>) -> PyResult<Columns<'py>> {
        let times = numbers(&times)?;
        if let Some(time) = times.iter().find(|time| !time.is_finite()) {
            return Err(PyValueError::new_err(format!("times have {time}, expected finite numbers")));
        }
        let states: Vec<State> =
            on_all_cores(py, || times.par_iter().with_min_len(64).map(|&t| self.motion.at(t)).collect())?;
        columns(py, &states)
    }

    /// The greatest |ω| over all times.
    #[getter]
    fn spin_bound(&self) -> f64 {
        self.motion.spin_bound()
    }

    /// The greatest |ω'| over all times.
    #[getter]
    fn angular_acceleration_bound(&self) -> f64 {
        self.motion.angular_acceleration_bound()
    }
}
