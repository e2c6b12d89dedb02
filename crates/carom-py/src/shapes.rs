//! Shapes alone: support function, surface and curvature over arrays of directions, volume and inertia.

use std::path::PathBuf;

use carom::hull::Axes;
use carom::shape::{Polyhedron, Shape};
use carom_answers::mesh;
use nalgebra::{Matrix3, Vector3};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArrayDyn};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

use crate::columns::{BadRow, Rows, ShapeArrays, Shapes, numbers};
use crate::pairs::three;
use crate::pool::on_all_cores;

/// Adds what is here to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(shape_sizes, module)?)?;
    module.add_function(wrap_pyfunction!(make_polyhedron, module)?)?;
    module.add_function(wrap_pyfunction!(read_mesh, module)?)?;
    module.add_function(wrap_pyfunction!(shape_scalars, module)?)?;
    module.add_function(wrap_pyfunction!(shape_vectors, module)?)?;
    module.add_function(wrap_pyfunction!(shape_matrices, module)?)
}

/// Volume, moments of inertia of unit mass and radii of one shape.
#[pyfunction]
fn shape_sizes<'py>(py: Python<'py>, shape: ShapeArrays<'py>) -> PyResult<Bound<'py, PyDict>> {
    let shape = Shapes::new(&shape, 1)?.get(0)?;
    let sizes = PyDict::new(py);
    sizes.set_item("volume", shape.volume())?;
    sizes.set_item("unit_inertia", PyArray1::from_slice(py, shape.unit_inertia().as_slice()))?;
    sizes.set_item("circumradius", shape.circumradius())?;
    sizes.set_item("inradius", shape.inradius())?;
    sizes.set_item("rolling_radius", shape.rolling_radius())?;
    Ok(sizes)
}

/// The number of a polyhedron, its centre of mass and the turn from its own axes, in the coordinates of the points, its corners about
/// that centre in its own axes, and its faces.
type Made = (u32, [f64; 3], [f64; 4], Vec<[f64; 3]>, Vec<Vec<u32>>);

/// Makes the convex hull of points, grown by a ball.
#[pyfunction]
fn make_polyhedron(py: Python<'_>, vertices: PyReadonlyArrayDyn<'_, f64>, rounding: f64) -> PyResult<Made> {
    if !(rounding.is_finite() && rounding >= 0.0) {
        return Err(PyValueError::new_err(format!("rounding is {rounding}, expected at least 0")));
    }
    let rows = numbers(&vertices)?;
    let points: Vec<Vector3<f64>> = rows.chunks_exact(3).map(Vector3::from_row_slice).collect();
    let made = py.detach(|| Polyhedron::new(&points, rounding, Axes::Principal));
    let made = made.map_err(|defect| {
        PyValueError::new_err(format!("vertices: {defect}; expected {}", defect.expected()))
    })?;
    let turn = made.turn();
    let faces = made.faces().map(|(_, outline)| outline.to_vec()).collect();
    let corners = made.corners().map(Into::into).collect();
    Ok((made.number(), made.centre().into(), [turn.w, turn.i, turn.j, turn.k], corners, faces))
}

/// The points of a mesh, OBJ or STL.
#[pyfunction]
fn read_mesh<'py>(py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let read = py.detach(|| mesh::read(&path));
    let points = read.map_err(|[message, expected]| {
        PyValueError::new_err(format!("{} {message}; expected {expected}", path.display()))
    })?;
    let rows: Vec<Vec<f64>> = points.iter().map(|x| x.to_vec()).collect();
    Ok(PyArray2::from_vec2(py, &rows)?)
}

/// One answer for every row of three numbers, computed without Python's lock.
fn each<T: Send>(
    py: Python<'_>,
    shape: &ShapeArrays<'_>,
    what: &str,
    rows: &PyReadonlyArrayDyn<'_, f64>,
    nonzero: bool,
    ask: impl Fn(&Shape, &Vector3<f64>) -> T + Sync,
) -> PyResult<Vec<T>> {
    let numbers = numbers(rows)?;
    let count = numbers.len() / 3;
    if count == 0 {
        return Ok(Vec::new());
    }
    // As the Python side calls them: directions n, places x.
    let name = if what.starts_with("support") { "n" } else { "x" };
    let rows = Rows::<3>::new(numbers, count, name)?;
    let shapes = Shapes::new(shape, count)?;
    let answer = |i: usize| -> Result<T, BadRow> {
        let row = rows.vector(i)?;
        if nonzero && row == Vector3::zeros() {
            return Err(rows.bad(i, "is zero and no direction".to_string()));
        }
        Ok(ask(&shapes.get(i)?, &row))
    };
    let answers = || (0..count).into_par_iter().with_min_len(64).map(answer).collect::<Result<_, _>>();
    Ok(on_all_cores(py, answers)??)
}

fn unknown(what: &str) -> PyErr {
    PyValueError::new_err(format!("nothing is called {what}"))
}

/// A number for every row: the support function, the gauge, or the implicit function.
#[pyfunction]
fn shape_scalars<'py>(
    py: Python<'py>,
    shape: ShapeArrays<'py>,
    what: &str,
    rows: PyReadonlyArrayDyn<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let ask: fn(&Shape, &Vector3<f64>) -> f64 = match what {
        "support_height" => |shape, n| shape.support_height(n),
        "gauge" => |shape, x| shape.gauge(x),
        "implicit" => |shape, x| shape.implicit(x),
        _ => return Err(unknown(what)),
    };
    Ok(PyArray1::from_vec(py, each(py, &shape, what, &rows, false, ask)?))
}

/// A vector for every row: the support point, the surface point on a ray, or the normal there.
#[pyfunction]
fn shape_vectors<'py>(
    py: Python<'py>,
    shape: ShapeArrays<'py>,
    what: &str,
    rows: PyReadonlyArrayDyn<'py, f64>,
) -> PyResult<Bound<'py, PyAny>> {
    let ask: fn(&Shape, &Vector3<f64>) -> Vector3<f64> = match what {
        "support" => |shape, n| shape.support(n),
        "surface" => |shape, x| shape.osculate(x).point,
        "normal" => |shape, x| shape.normal(x),
        _ => return Err(unknown(what)),
    };
    three(py, each(py, &shape, what, &rows, true, |shape, x| ask(shape, x).into())?)
}

/// A symmetric matrix for every row: the Hessian of the support function, or the curvature on a ray.
#[pyfunction]
fn shape_matrices<'py>(
    py: Python<'py>,
    shape: ShapeArrays<'py>,
    what: &str,
    rows: PyReadonlyArrayDyn<'py, f64>,
) -> PyResult<Bound<'py, PyAny>> {
    let ask: fn(&Shape, &Vector3<f64>) -> Matrix3<f64> = match what {
        "support_hessian" => |shape, n| shape.support_hessian(n),
        "curvature" => |shape, x| shape.curvature(x),
        _ => return Err(unknown(what)),
    };
    // Symmetric, so that the order of rows and columns does not matter.
    let found: Vec<[f64; 9]> = each(py, &shape, what, &rows, true, |shape, x| {
        let m = ask(shape, x);
        let mut entries = [0.0; 9];
        entries.copy_from_slice(m.as_slice());
        entries
    })?;
    let count = found.len();
    Ok(PyArray1::from_vec(py, found.into_flattened()).reshape([count, 3, 3])?.into_any())
}
