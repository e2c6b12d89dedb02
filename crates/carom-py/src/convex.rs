//! A user's shape in Python: a smooth, strictly convex body by its support point s(n) = ∇h(n) and the Hessian ∇²h(n).
//!
//! The search for a gap asks for both some ten times, a first contact some hundred times, each time through Python and with its
//! lock: such pairs are taken one by one. The first exception ends the call; until then what is asked for is not a number, which
//! every search takes for an end.

use std::cell::RefCell;

use carom::contact::classify::Type;
use carom::gap::{Gap, gap, gap_to_plane};
use carom::motion::Flight;
use carom::shape::{Convex, MassProperties, Osculation, Shape, mass_properties};
use carom::toi::{Contact, Meeting, Moving, Search, Touch, Window, first_contact, first_contact_with_plane};
use nalgebra::{Isometry3, Matrix3, Vector3};
use numpy::ndarray::ArrayViewD;
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArrayDyn};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::{Bodies, BodyArrays, FirstArrays, Firsts, Rows, numbers};
use crate::pairs::{Status, three};

/// Adds what is here to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(user_gap, module)?)?;
    module.add_function(wrap_pyfunction!(user_toi, module)?)?;
    module.add_function(wrap_pyfunction!(user_mass, module)?)
}

/// A user's shape, as Python gives it.
#[derive(FromPyObject)]
struct UserShape<'py> {
    support: Bound<'py, PyAny>,
    support_hessian: Bound<'py, PyAny>,
    circumradius: f64,
    inradius: f64,
    #[pyo3(default)]
    raised: Raised,
}

/// The first exception.
#[derive(Default)]
struct Raised(RefCell<Option<PyErr>>);

impl<'a, 'py> FromPyObject<'a, 'py> for Raised {
    type Error = PyErr;

    fn extract(_: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self::default())
    }
}

impl UserShape<'_> {
    fn check(&self) -> PyResult<()> {
        if let Some(error) = self.raised.0.take() {
            return Err(error);
        }
        let right =
            self.inradius > 0.0 && self.inradius <= self.circumradius && self.circumradius.is_finite();
        if right {
            return Ok(());
        }
        let (near, far) = (self.inradius, self.circumradius);
        Err(PyValueError::new_err(format!(
            "inradius {near} and circumradius {far}: expected 0 < inradius ≤ circumradius"
        )))
    }

    fn ask<T>(&self, nothing: T, question: impl FnOnce(Python<'_>) -> PyResult<T>) -> T {
        if self.raised.0.borrow().is_some() {
            return nothing;
        }
        question(self.support.py()).unwrap_or_else(|error| {
            self.raised.0.replace(Some(error));
            nothing
        })
    }
}

fn direction<'py>(py: Python<'py>, n: &Vector3<f64>) -> Bound<'py, PyArray1<f64>> {
    PyArray1::from_slice(py, n.as_slice())
}

/// What is wrong with what a user's function says.
fn odd(name: &str, expected: &str, n: &Vector3<f64>, said: &ArrayViewD<'_, f64>) -> PyErr {
    let [x, y, z] = (*n).into();
    let found = if said.iter().all(|x| x.is_finite()) {
        format!("an array of shape {:?}", said.shape())
    } else {
        "what is not finite".to_string()
    };
    PyValueError::new_err(format!("{name}([{x}, {y}, {z}]) is {found}, expected {expected}"))
}

impl Convex for UserShape<'_> {
    fn support(&self, n: &Vector3<f64>) -> Vector3<f64> {
        self.ask(Vector3::repeat(f64::NAN), |py| {
            let said: PyReadonlyArrayDyn<'_, f64> = self.support.call1((direction(py, n),))?.extract()?;
            let said = said.as_array();
            if said.shape() != [3] || !said.iter().all(|x| x.is_finite()) {
                return Err(odd("support", "three finite numbers", n, &said));
            }
            Ok(Vector3::from_fn(|i, _| said[[i].as_slice()]))
        })
    }

    fn support_hessian(&self, n: &Vector3<f64>) -> Matrix3<f64> {
        self.ask(Matrix3::repeat(f64::NAN), |py| {
            let said: PyReadonlyArrayDyn<'_, f64> =
                self.support_hessian.call1((direction(py, n),))?.extract()?;
            let said = said.as_array();
            if said.shape() != [3, 3] || !said.iter().all(|x| x.is_finite()) {
                return Err(odd("support_hessian", "three rows of three finite numbers", n, &said));
            }
            Ok(Matrix3::from_fn(|i, j| said[[i, j].as_slice()]))
        })
    }

    fn circumradius(&self) -> f64 {
        self.circumradius
    }

    fn inradius(&self) -> f64 {
        self.inradius
    }
}

/// A shape of the library, or a user's.
enum Side<'s, 'py> {
    Known(Shape),
    User(&'s UserShape<'py>),
}

impl Convex for Side<'_, '_> {
    fn support(&self, n: &Vector3<f64>) -> Vector3<f64> {
        match self {
            Self::Known(shape) => shape.support(n),
            Self::User(shape) => shape.support(n),
        }
    }

    fn support_hessian(&self, n: &Vector3<f64>) -> Matrix3<f64> {
        match self {
            Self::Known(shape) => shape.support_hessian(n),
            Self::User(shape) => shape.support_hessian(n),
        }
    }

    fn circumradius(&self) -> f64 {
        match self {
            Self::Known(shape) => shape.circumradius(),
            Self::User(shape) => shape.circumradius,
        }
    }

    fn inradius(&self) -> f64 {
        match self {
            Self::Known(shape) => shape.inradius(),
            Self::User(shape) => shape.inradius,
        }
    }

    fn osculate(&self, x: &Vector3<f64>) -> Osculation {
        match self {
            Self::Known(shape) => shape.osculate(x),
            Self::User(shape) => shape.osculate(x),
        }
    }

    fn gauge(&self, x: &Vector3<f64>) -> f64 {
        match self {
            Self::Known(shape) => shape.gauge(x),
            Self::User(shape) => shape.gauge(x),
        }
    }

    fn rolling_radius(&self) -> f64 {
        match self {
            Self::Known(shape) => shape.rolling_radius(),
            Self::User(shape) => shape.rolling_radius(),
        }
    }

    fn lever(&self) -> f64 {
        match self {
            Self::Known(shape) => shape.lever(),
            Self::User(shape) => shape.lever(),
        }
    }

    fn ball(&self) -> Option<f64> {
        match self {
            Self::Known(shape) => shape.ball(),
            Self::User(_) => None,
        }
    }

    fn is_symmetric(&self) -> bool {
        matches!(self, Self::Known(_))
    }

    fn exponent(&self) -> f64 {
        match self {
            Self::Known(shape) => shape.exponent(),
            Self::User(_) => 2.0,
        }
    }

    fn rounded(&self, exponent: f64) -> Option<Self> {
        match self {
            Self::Known(shape) => shape.rounded(exponent).map(Self::Known),
            Self::User(_) => None,
        }
    }
}

/// The users' shapes of a pair's sides; without one the arrays have the shape.
type Users<'py> = (Option<UserShape<'py>>, Option<UserShape<'py>>);

fn side<'s, 'py>(user: &'s Option<UserShape<'py>>, bodies: &Bodies<'_>, i: usize) -> PyResult<Side<'s, 'py>> {
    Ok(match user {
        Some(shape) => Side::User(shape),
        None => Side::Known(bodies.shape(i)?),
    })
}

fn checked(py: Python<'_>, users: &Users<'_>) -> PyResult<()> {
    for shape in [&users.0, &users.1].into_iter().flatten() {
        shape.check()?;
    }
    py.check_signals()
}

/// The gaps of pairs with users' shapes, one by one: the columns of `gap_many`.
#[pyfunction]
#[pyo3(signature = (count, first, second, users, progress=None))]
fn user_gap<'py>(
    py: Python<'py>,
    count: usize,
    first: FirstArrays<'py>,
    second: BodyArrays<'py>,
    users: Users<'py>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (firsts, seconds) = (Firsts::new(&first, count)?, Bodies::new(&second, count)?);
    checked(py, &users)?;
    let mut found: Vec<Gap> = Vec::new();
    for i in 0..count {
        let (two, pose) = (side(&users.1, &seconds, i)?, seconds.state(i)?.pose());
        let one = match &firsts {
            Firsts::Planes(planes) => {
                let mut gap = gap_to_plane(&two, &pose, &planes.get(i)?);
                gap.points.swap(0, 1);
                Some(gap)
            }
            Firsts::Bodies(bodies) => {
                let (one, place): (_, Isometry3<f64>) = (side(&users.0, bodies, i)?, bodies.state(i)?.pose());
                gap((&one, &place), (&two, &pose))
            }
        };
        let nothing = [Vector3::repeat(f64::NAN); 2];
        found.push(one.unwrap_or(Gap {
            gap: f64::NAN,
            normal: nothing[0],
            points: nothing,
            iterations: 0,
            residual: f64::NAN,
        }));
        checked(py, &users)?;
        if let Some(progress) = &progress {
            progress.call1((i + 1, count))?;
        }
    }
    let columns = PyDict::new(py);
    columns.set_item("gap", PyArray1::from_iter(py, found.iter().map(|gap| gap.gap)))?;
    columns.set_item("normal", three(py, found.iter().map(|gap| gap.normal.into()).collect())?)?;
    columns.set_item("on_first", three(py, found.iter().map(|gap| gap.points[0].into()).collect())?)?;
    columns.set_item("on_second", three(py, found.iter().map(|gap| gap.points[1].into()).collect())?)?;
    columns.set_item("iterations", PyArray1::from_iter(py, found.iter().map(|gap| gap.iterations)))?;
    Ok(columns)
}

/// The first contacts of pairs with users' shapes, one by one: the columns of `toi_many`. A touch without approach is not
/// classified, which would take the change of the curvature: its status is that of a degenerate contact.
#[pyfunction]
#[pyo3(signature = (count, first, second, users, until, gravity, progress=None))]
#[allow(clippy::too_many_arguments, reason = "the arguments of the Python function")]
fn user_toi<'py>(
    py: Python<'py>,
    count: usize,
    first: FirstArrays<'py>,
    second: BodyArrays<'py>,
    users: Users<'py>,
    until: PyReadonlyArrayDyn<'py, f64>,
    gravity: PyReadonlyArrayDyn<'py, f64>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (firsts, seconds) = (Firsts::new(&first, count)?, Bodies::new(&second, count)?);
    let until = Rows::<1>::new(numbers(&until)?, count, "until")?;
    let gravity = Rows::<3>::new(numbers(&gravity)?, count, "gravity")?;
    checked(py, &users)?;
    let mut found: Vec<Search> = Vec::new();
    for i in 0..count {
        let (pull, window) = (gravity.vector(i)?, Window::new(0.0, until.positive(i)?[0]));
        let flight = |bodies: &Bodies<'_>| -> PyResult<Flight> {
            Ok(Flight::new(&bodies.body(i)?, &bodies.state(i)?, &pull))
        };
        let (two, motion) = (side(&users.1, &seconds, i)?, flight(&seconds)?);
        let second = Moving::new(&two, &motion);
        found.push(match &firsts {
            Firsts::Planes(planes) => first_contact_with_plane(second, &planes.get(i)?, window),
            Firsts::Bodies(bodies) => {
                let (one, motion) = (side(&users.0, bodies, i)?, flight(bodies)?);
                first_contact(Moving::new(&one, &motion), second, window)
            }
        });
        checked(py, &users)?;
        if let Some(progress) = &progress {
            progress.call1((i + 1, count))?;
        }
    }
    let contact =
        |search: &Search| if let Meeting::At(contact) = search.meeting { Some(contact) } else { None };
    let number = |value: fn(&Contact) -> f64| {
        PyArray1::from_iter(py, found.iter().map(|search| contact(search).map_or(f64::NAN, |c| value(&c))))
    };
    let vector = |value: fn(&Contact) -> Vector3<f64>| {
        let rows = found.iter().map(|search| contact(search).map_or([f64::NAN; 3], |c| value(&c).into()));
        three(py, rows.collect())
    };
    let columns = PyDict::new(py);
    columns.set_item("time", number(|c| c.time))?;
    columns.set_item("time_error", number(|c| c.time_error))?;
    columns.set_item("gap", number(|c| c.gap))?;
    columns.set_item("normal", vector(|c| c.normal)?)?;
    columns.set_item("point", vector(|c| c.point)?)?;
    columns.set_item("approach", number(|c| c.approach))?;
    let status = found.iter().map(|search| match search.meeting {
        Meeting::Apart => Status::Apart,
        Meeting::Overlapping(_) => Status::Overlapping,
        Meeting::Undecided(_) => Status::Undecided,
        Meeting::At(contact) if contact.touch == Touch::Approaching => Status::Met(Type::Normal),
        Meeting::At(_) => Status::Met(Type::Degenerate),
    });
    let status = status.map(Status::code);
    columns.set_item("status", PyArray1::from_iter(py, status))?;
    let ends = found.iter().enumerate().map(|(i, search)| match search.meeting {
        Meeting::Apart => until.positive(i).map_or(f64::NAN, |until| until[0]),
        Meeting::Overlapping(_) => 0.0,
        Meeting::Undecided(reached) => reached,
        Meeting::At(contact) => contact.time,
    });
    columns.set_item("searched_until", PyArray1::from_iter(py, ends))?;
    columns.set_item("first_zero", PyArray1::from_iter(py, found.iter().map(|_| f64::NAN)))?;
    columns
        .set_item("evaluations", PyArray1::from_iter(py, found.iter().map(|search| search.evaluations)))?;
    Ok(columns)
}

/// Volume, centre of mass, inertia tensor of unit mass about it, and the error, by quadrature.
#[pyfunction]
fn user_mass<'py>(
    py: Python<'py>,
    shape: UserShape<'py>,
    accuracy: f64,
) -> PyResult<(f64, [f64; 3], Bound<'py, PyAny>, f64)> {
    shape.check()?;
    let MassProperties { volume, centre, unit_inertia, error } = mass_properties(&shape, accuracy);
    shape.check()?;
    let tensor = PyArray1::from_slice(py, unit_inertia.as_slice()).reshape([3, 3])?.into_any();
    Ok((volume, centre.into(), tensor, error))
}
