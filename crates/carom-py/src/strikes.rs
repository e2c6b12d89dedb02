//! Impacts of many pairs of free bodies, or of bodies with planes, at one smooth contact each: the closed form of
//! [`carom::impact::pair`].

use carom::body::{Body, State};
use carom::impact::pair::{FreeBody, Strike, strike};
use carom::shape::Shape;
use nalgebra::{Matrix3, Vector3};
use numpy::{PyArray1, PyReadonlyArrayDyn};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

use crate::batch::{self, BLOCK};
use crate::columns::{BadRow, Bodies, BodyArrays, FirstArrays, Firsts, Rows, numbers};
use crate::pairs::three;

/// Adds what is here to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(strike_many, module)?)
}

/// A body at its contact.
pub fn free(body: &Body, state: &State, point: &Vector3<f64>) -> FreeBody {
    if body.fixed {
        return at_rest();
    }
    let turn = state.orientation.to_rotation_matrix();
    let turn = turn.matrix();
    FreeBody {
        inverse_mass: body.mass.recip(),
        inverse_inertia: turn * Matrix3::from_diagonal(&body.inertia.map(f64::recip)) * turn.transpose(),
        velocity: state.velocity,
        angular_velocity: state.angular_velocity,
        arm: point - state.position,
    }
}

/// How far, relative to a body's size, a contact point may be off its surface.
const OFF: f64 = 1e-6;

/// How far a point is off a body's surface where `outward` is to be the normal, in parts of its size; nothing for a point body, which has
/// no surface.
fn off(body: &Body, state: &State, point: &Vector3<f64>, outward: &Vector3<f64>) -> Option<f64> {
    if body.shape == Shape::Point {
        return None;
    }
    let to_body = |v: Vector3<f64>| state.orientation.inverse_transform_vector(&v);
    let (place, normal) = (to_body(point - state.position), to_body(*outward));
    let below = body.shape.support(&normal).dot(&normal) - place.dot(&normal);
    // From the centre the surface is met once, so that this also finds points beside a flat.
    let radial = (body.shape.gauge(&place) - 1.0).abs();
    Some((below.abs() / body.shape.circumradius()).max(radial))
}

/// What does not move.
fn at_rest() -> FreeBody {
    let zero = Vector3::zeros();
    FreeBody {
        inverse_mass: 0.0,
        inverse_inertia: Matrix3::zeros(),
        velocity: zero,
        angular_velocity: zero,
        arm: zero,
    }
}

/// A pair that does not meet: it flies on.
fn missed(firsts: &Firsts, seconds: &Bodies, i: usize) -> Result<Strike, BadRow> {
    let two = seconds.state(i)?;
    let (velocity, spin) = match firsts {
        Firsts::Planes(_) => (Vector3::zeros(), Vector3::zeros()),
        Firsts::Bodies(bodies) => bodies.state(i).map(|state| (state.velocity, state.angular_velocity))?,
    };
    Ok(Strike {
        impulse: 0.0,
        approach: f64::NAN,
        separation: f64::NAN,
        energy_change: 0.0,
        effective_inverse_mass: f64::NAN,
        velocity: [velocity, two.velocity],
        angular_velocity: [spin, two.angular_velocity],
    })
}

/// The impacts of many pairs: a dictionary of columns.
#[pyfunction]
#[pyo3(signature = (count, first, second, point, normal, restitution, met=None, progress=None))]
#[allow(clippy::too_many_arguments, reason = "the arguments of the Python function")]
fn strike_many<'py>(
    py: Python<'py>,
    count: usize,
    first: FirstArrays<'py>,
    second: BodyArrays<'py>,
    point: PyReadonlyArrayDyn<'py, f64>,
    normal: PyReadonlyArrayDyn<'py, f64>,
    restitution: PyReadonlyArrayDyn<'py, f64>,
    met: Option<PyReadonlyArrayDyn<'py, bool>>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (firsts, seconds) = (Firsts::new(&first, count)?, Bodies::new(&second, count)?);
    let points = Rows::<3>::new(numbers(&point)?, count, "point")?;
    let normals = Rows::<3>::new(numbers(&normal)?, count, "normal")?;
    let restitutions = Rows::<1>::new(numbers(&restitution)?, count, "restitution")?;
    let met = met.as_ref().map(numbers).transpose()?;
    let resolved = |i: usize| -> Result<Strike, BadRow> {
        if met.is_some_and(|met| !met[i]) {
            return missed(&firsts, &seconds, i);
        }
        let (point, normal) = (points.vector(i)?, normals.unit(i)?);
        let [restitution] = *restitutions.get(i);
        if !(0.0..=1.0).contains(&restitution) {
            return Err(restitutions.bad(i, format!("is {restitution}, expected from 0 to 1")));
        }
        let refuse = |which: &str, off: f64| {
            let message = format!(
                "is {off:.1e} of the {which} body's size off its surface, or the normal is not the surface's there: `toi_many(…).strike(…)` \
                 flies the bodies to their contact first, as `Bodies.at(time)` does"
            );
            points.bad(i, message)
        };
        let one = match &firsts {
            Firsts::Planes(_) => at_rest(),
            Firsts::Bodies(bodies) => {
                let (body, state) = (bodies.body(i)?, bodies.state(i)?);
                if let Some(off) = off(&body, &state, &point, &normal).filter(|off| *off > OFF) {
                    return Err(refuse("first", off));
                }
                free(&body, &state, &point)
            }
        };
        let (body, state) = (seconds.body(i)?, seconds.state(i)?);
        if let Some(off) = off(&body, &state, &point, &-normal.into_inner()).filter(|off| *off > OFF) {
            return Err(refuse("second", off));
        }
        let two = free(&body, &state, &point);
        Ok(strike(&one, &two, &normal, restitution))
    };
    let zeros = || vec![0.0; count];
    let vectors = || vec![[0.0; 3]; count];
    let (mut impulses, mut approaches, mut separations, mut changes) = (zeros(), zeros(), zeros(), zeros());
    let mut masses = zeros();
    let (mut velocity_1, mut velocity_2, mut spin_1, mut spin_2) =
        (vectors(), vectors(), vectors(), vectors());
    batch::run(py, count, progress.as_ref(), |range| {
        let start = range.start;
        (
            impulses[range.clone()].par_chunks_mut(BLOCK),
            approaches[range.clone()].par_chunks_mut(BLOCK),
            separations[range.clone()].par_chunks_mut(BLOCK),
            changes[range.clone()].par_chunks_mut(BLOCK),
            masses[range.clone()].par_chunks_mut(BLOCK),
            velocity_1[range.clone()].par_chunks_mut(BLOCK),
            velocity_2[range.clone()].par_chunks_mut(BLOCK),
            spin_1[range.clone()].par_chunks_mut(BLOCK),
            spin_2[range].par_chunks_mut(BLOCK),
        )
            .into_par_iter()
            .enumerate()
            .try_for_each(
                |(block, (impulse, approach, separation, change, mass, v_1, v_2, w_1, w_2))| {
                    for k in 0..impulse.len() {
                        let done = resolved(start + block * BLOCK + k)?;
                        impulse[k] = done.impulse;
                        approach[k] = done.approach;
                        separation[k] = done.separation;
                        change[k] = done.energy_change;
                        mass[k] = done.effective_inverse_mass;
                        [v_1[k], v_2[k]] = done.velocity.map(Into::into);
                        [w_1[k], w_2[k]] = done.angular_velocity.map(Into::into);
                    }
                    Ok(())
                },
            )
    })?;
    let columns = PyDict::new(py);
    for (name, column) in [
        ("impulse", impulses),
        ("approach", approaches),
        ("separation", separations),
        ("energy_change", changes),
        ("effective_inverse_mass", masses),
    ] {
        columns.set_item(name, PyArray1::from_vec(py, column))?;
    }
    for (name, column) in [
        ("first_velocity", velocity_1),
        ("second_velocity", velocity_2),
        ("first_angular_velocity", spin_1),
        ("second_angular_velocity", spin_2),
    ] {
        columns.set_item(name, three(py, column)?)?;
    }
    Ok(columns)
}
