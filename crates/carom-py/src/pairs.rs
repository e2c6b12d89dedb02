//! Gaps and first contacts of many pairs.
//!
//! Each pair is by itself, as if the others were not there: pair i is row i of the first bodies (or planes) and row i of the
//! second. The answers are those of `carom gap` and `carom toi`, bit for bit; touches without approach are sharpened and named as
//! there.

use std::time::Instant;

use carom::body::Body;
use carom::contact::classify::Type;
use carom::gap::{Gap, gap, gap_to_plane};
use carom::impact::pair::{Strike, strike};
use carom::motion::{Flight, Given};
use carom::pairs::{Other, Query};
use carom::shape::Shape;
use carom::toi::periodic::Periodic;
use carom::toi::{Meeting, Moving, Search, Window, first_contact};
use carom_answers::touch::{First, Pair};
use nalgebra::{Isometry3, Unit, Vector3};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArrayDyn};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

use crate::batch::{self, BLOCK};
use crate::columns::{BadRow, Bodies, BodyArrays, FirstArrays, Firsts, Rows, numbers};
use crate::pool::on_all_cores;
use crate::strikes::free;

/// Adds what is here to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("TYPES", Type::ALL.map(Type::name).to_vec())?;
    module.add_function(wrap_pyfunction!(gap_many, module)?)?;
    module.add_function(wrap_pyfunction!(toi_many, module)?)?;
    module.add_function(wrap_pyfunction!(toi_seconds, module)?)
}

/// What came of a search for a first contact.
#[derive(Debug, Clone, Copy)]
pub enum Status {
    Apart,
    Overlapping,
    Undecided,
    Met(Type),
}

impl Status {
    /// Its number in NumPy's columns, which the Python side knows: 10 + k is a contact of the k-th type of `TYPES`.
    pub fn code(self) -> u8 {
        match self {
            Self::Apart => 0,
            Self::Overlapping => 1,
            Self::Undecided => 2,
            Self::Met(kind) => {
                (10..).zip(Type::ALL).find(|(_, listed)| *listed == kind).map_or(u8::MAX, |(code, _)| code)
            }
        }
    }
}

/// A periodic box, unless all its directions are open.
fn box_of(lengths: [f64; 3]) -> PyResult<Option<Periodic>> {
    if lengths.iter().any(|length| !(length.is_finite() && *length >= 0.0)) {
        return Err(PyValueError::new_err("periodic: expected finite lengths, 0 for an open direction"));
    }
    Ok((lengths != [0.0; 3]).then_some(Periodic { lengths: lengths.into() }))
}

/// Rows of three as an array of two dimensions, without a copy.
pub fn three<'py>(py: Python<'py>, rows: Vec<[f64; 3]>) -> PyResult<Bound<'py, PyAny>> {
    let count = rows.len();
    Ok(PyArray1::from_vec(py, rows.into_flattened()).reshape([count, 3])?.into_any())
}

/// The gaps of many pairs: a dictionary of columns.
#[pyfunction]
#[pyo3(signature = (count, first, second, at, gravity, periodic, progress=None))]
#[allow(clippy::too_many_arguments, reason = "the arguments of the Python function")]
fn gap_many<'py>(
    py: Python<'py>,
    count: usize,
    first: FirstArrays<'py>,
    second: BodyArrays<'py>,
    at: Option<PyReadonlyArrayDyn<'py, f64>>,
    gravity: PyReadonlyArrayDyn<'py, f64>,
    periodic: [f64; 3],
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let at = at.as_ref().map(|at| Rows::new(numbers(at)?, count, "at")).transpose()?;
    let standing = Standing {
        firsts: Firsts::new(&first, count)?,
        seconds: Bodies::new(&second, count)?,
        flight: at
            .map(|at| Ok::<_, PyErr>((at, Rows::new(numbers(&gravity)?, count, "gravity")?)))
            .transpose()?,
        periodic: box_of(periodic)?,
    };
    let periodic = &standing.periodic;
    let mut gaps = vec![f64::NAN; count];
    let mut normals = vec![[f64::NAN; 3]; count];
    let mut on_first = vec![[f64::NAN; 3]; count];
    let mut on_second = vec![[f64::NAN; 3]; count];
    let mut images = vec![[0.0; 3]; count];
    let mut iterations = vec![0_u32; count];
    batch::run(py, count, progress.as_ref(), |range| {
        let start = range.start;
        (
            gaps[range.clone()].par_chunks_mut(BLOCK),
            normals[range.clone()].par_chunks_mut(BLOCK),
            on_first[range.clone()].par_chunks_mut(BLOCK),
            on_second[range.clone()].par_chunks_mut(BLOCK),
            images[range.clone()].par_chunks_mut(BLOCK),
            iterations[range].par_chunks_mut(BLOCK),
        )
            .into_par_iter()
            .enumerate()
            .try_for_each(|(block, (gaps, normals, on_first, on_second, images, iterations))| {
                for k in 0..gaps.len() {
                    // Two points have no gap.
                    let i = start + block * BLOCK + k;
                    let Some((found, image)) = standing.measure(i)? else {
                        continue;
                    };
                    gaps[k] = found.gap;
                    normals[k] = found.normal.into();
                    on_first[k] = found.points[0].into();
                    on_second[k] = found.points[1].into();
                    iterations[k] = found.iterations;
                    images[k] = image.into();
                }
                Ok(())
            })
    })?;
    let columns = PyDict::new(py);
    columns.set_item("gap", PyArray1::from_vec(py, gaps))?;
    columns.set_item("normal", three(py, normals)?)?;
    columns.set_item("on_first", three(py, on_first)?)?;
    columns.set_item("on_second", three(py, on_second)?)?;
    columns.set_item("iterations", PyArray1::from_vec(py, iterations))?;
    if periodic.is_some() {
        columns.set_item("image", three(py, images)?)?;
    }
    Ok(columns)
}

/// Many pairs at an instant.
struct Standing<'a> {
    firsts: Firsts<'a>,
    seconds: Bodies<'a>,
    /// The time to fly to, and the gravity; without it, bodies are where they are given.
    flight: Option<(Rows<'a, 1>, Rows<'a, 3>)>,
    periodic: Option<Periodic>,
}

impl Standing<'_> {
    fn pose(&self, bodies: &Bodies<'_>, i: usize) -> Result<Isometry3<f64>, BadRow> {
        let state = bodies.state(i)?;
        Ok(match &self.flight {
            None => state.pose(),
            Some((at, gravity)) => {
                let flight = Flight::new(&bodies.body(i)?, &state, &gravity.vector(i)?);
                flight.at(at.finite(i)?[0]).pose()
            }
        })
    }

    /// The gap of one pair, a plane's own point first, and the displacement of the second body.
    fn measure(&self, i: usize) -> Result<Option<(Gap, Vector3<f64>)>, BadRow> {
        let (shape, pose) = (self.seconds.shape(i)?, self.pose(&self.seconds, i)?);
        let none = Vector3::zeros();
        match &self.firsts {
            Firsts::Planes(planes) => {
                let mut found = gap_to_plane(&shape, &pose, &planes.get(i)?);
                found.points.swap(0, 1);
                Ok(Some((found, none)))
            }
            Firsts::Bodies(bodies) => {
                let (one, place) = (bodies.shape(i)?, self.pose(bodies, i)?);
                let (first, second) = ((&one, &place), (&shape, &pose));
                Ok(match &self.periodic {
                    Some(periodic) => periodic.nearest(first, second),
                    None => gap(first, second).map(|found| (found, none)),
                })
            }
        }
    }
}

/// Many pairs in flight.
struct Flights<'a> {
    firsts: Firsts<'a>,
    seconds: Bodies<'a>,
    gravity: Rows<'a, 3>,
    until: Rows<'a, 1>,
    periodic: Option<Periodic>,
}

/// A body on its way, by value.
struct Course {
    body: Body,
    flight: Flight,
}

impl Course {
    fn new(bodies: &Bodies<'_>, i: usize, gravity: &Vector3<f64>) -> Result<Self, BadRow> {
        let body = bodies.body(i)?;
        let flight = Flight::new(&body, &bodies.state(i)?, gravity);
        Ok(Self { body, flight })
    }

    fn moving(&self) -> Moving<'_, Shape, Flight> {
        Moving::new(&self.body.shape, &self.flight)
    }

    fn given(&self) -> Given<'_> {
        Given::new(&self.body, &self.flight, None)
    }
}

impl<'a> Flights<'a> {
    fn new(
        count: usize,
        first: &'a FirstArrays<'_>,
        second: &'a BodyArrays<'_>,
        until: &'a PyReadonlyArrayDyn<'_, f64>,
        gravity: &'a PyReadonlyArrayDyn<'_, f64>,
        periodic: [f64; 3],
    ) -> PyResult<Self> {
        Ok(Self {
            firsts: Firsts::new(first, count)?,
            seconds: Bodies::new(second, count)?,
            gravity: Rows::new(numbers(gravity)?, count, "gravity")?,
            until: Rows::new(numbers(until)?, count, "until")?,
            periodic: box_of(periodic)?,
        })
    }

    /// The first contact of a pair as it is told.
    fn first_contact(&self, i: usize) -> Result<Met, BadRow> {
        let gravity = self.gravity.vector(i)?;
        let window = Window::new(0.0, self.until.positive(i)?[0]);
        let second = Course::new(&self.seconds, i, &gravity)?;
        let met = |first: First<'_>, found: Search| {
            let pair = Pair { first, second: second.given(), gravity, image: found.image };
            named(found, &pair, window.until)
        };
        Ok(match &self.firsts {
            Firsts::Planes(planes) => {
                let plane = planes.get(i)?;
                let query = Query { first: second.moving(), other: Other::Plane(&plane), window };
                met(First::Plane(&plane), query.first_contact())
            }
            Firsts::Bodies(bodies) => {
                let first = Course::new(bodies, i, &gravity)?;
                let other = match self.periodic {
                    Some(periodic) => Other::Images(second.moving(), periodic),
                    None => Other::Body(second.moving()),
                };
                met(
                    First::Body(first.given()),
                    Query { first: first.moving(), other, window }.first_contact(),
                )
            }
        })
    }
}

/// What came of a search, as it is told.
struct Met {
    found: Search,
    status: Status,
    /// No contact is before this time.
    searched_until: f64,
    /// When the gap of a graze may first be zero.
    first_zero: f64,
}

/// A search with its result, and its contact as it is reported.
fn named(mut found: Search, pair: &Pair<'_>, until: f64) -> Met {
    let (mut searched_until, mut first_zero) = (until, f64::NAN);
    let status = match found.meeting {
        Meeting::Apart => Status::Apart,
        Meeting::Overlapping(_) => {
            searched_until = 0.0;
            Status::Overlapping
        }
        Meeting::Undecided(reached) => {
            searched_until = reached;
            Status::Undecided
        }
        Meeting::At(contact) => {
            let told = pair.told(&contact, until);
            found.meeting = Meeting::At(told.contact);
            searched_until = told.contact.time;
            first_zero = told.first_zero.unwrap_or(f64::NAN);
            Status::Met(told.kind)
        }
    };
    Met { found, status, searched_until, first_zero }
}

/// The first contacts of many pairs: a dictionary of columns.
#[pyfunction]
#[pyo3(signature = (count, first, second, until, gravity, periodic, progress=None))]
#[allow(clippy::too_many_arguments, reason = "the arguments of the Python function")]
fn toi_many<'py>(
    py: Python<'py>,
    count: usize,
    first: FirstArrays<'py>,
    second: BodyArrays<'py>,
    until: PyReadonlyArrayDyn<'py, f64>,
    gravity: PyReadonlyArrayDyn<'py, f64>,
    periodic: [f64; 3],
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let flights = Flights::new(count, &first, &second, &until, &gravity, periodic)?;
    let nothing = f64::NAN;
    let mut times = vec![nothing; count];
    let mut errors = vec![nothing; count];
    let mut gaps = vec![nothing; count];
    let mut normals = vec![[nothing; 3]; count];
    let mut points = vec![[nothing; 3]; count];
    let mut approaches = vec![nothing; count];
    let mut statuses = vec![Status::Apart.code(); count];
    let mut evaluations = vec![0_u32; count];
    let mut images = vec![[0.0; 3]; count];
    // Until when there is no contact, and when the gap of a graze may first be zero.
    let mut bounds = vec![[nothing; 2]; count];
    batch::run(py, count, progress.as_ref(), |range| {
        let start = range.start;
        (
            times[range.clone()].par_chunks_mut(BLOCK),
            errors[range.clone()].par_chunks_mut(BLOCK),
            gaps[range.clone()].par_chunks_mut(BLOCK),
            normals[range.clone()].par_chunks_mut(BLOCK),
            points[range.clone()].par_chunks_mut(BLOCK),
            approaches[range.clone()].par_chunks_mut(BLOCK),
            statuses[range.clone()].par_chunks_mut(BLOCK),
            evaluations[range.clone()].par_chunks_mut(BLOCK),
            images[range.clone()].par_chunks_mut(BLOCK),
            bounds[range].par_chunks_mut(BLOCK),
        )
            .into_par_iter()
            .enumerate()
            .try_for_each(
                |(block, (time, error, gap, normal, point, approach, status, evaluated, image, bound))| {
                    for k in 0..time.len() {
                        let met = flights.first_contact(start + block * BLOCK + k)?;
                        let found = met.found;
                        status[k] = met.status.code();
                        bound[k] = [met.searched_until, met.first_zero];
                        evaluated[k] = found.evaluations;
                        image[k] = found.image.into();
                        match found.meeting {
                            Meeting::At(contact) => {
                                time[k] = contact.time;
                                error[k] = contact.time_error;
                                gap[k] = contact.gap;
                                normal[k] = contact.normal.into();
                                point[k] = contact.point.into();
                                approach[k] = contact.approach;
                            }
                            Meeting::Overlapping(depth) => gap[k] = -depth,
                            Meeting::Apart | Meeting::Undecided(_) => {}
                        }
                    }
                    Ok(())
                },
            )
    })?;
    let columns = PyDict::new(py);
    columns.set_item("time", PyArray1::from_vec(py, times))?;
    columns.set_item("time_error", PyArray1::from_vec(py, errors))?;
    columns.set_item("gap", PyArray1::from_vec(py, gaps))?;
    columns.set_item("normal", three(py, normals)?)?;
    columns.set_item("point", three(py, points)?)?;
    columns.set_item("approach", PyArray1::from_vec(py, approaches))?;
    columns.set_item("status", PyArray1::from_vec(py, statuses))?;
    columns.set_item("searched_until", PyArray1::from_iter(py, bounds.iter().map(|bound| bound[0])))?;
    columns.set_item("first_zero", PyArray1::from_iter(py, bounds.iter().map(|bound| bound[1])))?;
    columns.set_item("evaluations", PyArray1::from_vec(py, evaluations))?;
    if flights.periodic.is_some() {
        columns.set_item("image", three(py, images)?)?;
    }
    Ok(columns)
}

/// What the same pairs take in Rust alone, in seconds: the baseline of the package's benchmark, written as a Rust program would
/// be, with one answer a pair and no arrays. With a coefficient of restitution pairs that meet are also struck where they do.
#[pyfunction]
#[pyo3(signature = (count, first, second, until, gravity, restitution=None))]
fn toi_seconds(
    py: Python<'_>,
    count: usize,
    first: FirstArrays<'_>,
    second: BodyArrays<'_>,
    until: PyReadonlyArrayDyn<'_, f64>,
    gravity: PyReadonlyArrayDyn<'_, f64>,
    restitution: Option<f64>,
) -> PyResult<f64> {
    let flights = Flights::new(count, &first, &second, &until, &gravity, [0.0; 3])?;
    let Firsts::Bodies(firsts) = flights.firsts else {
        return Err(PyValueError::new_err("the baseline is for bodies"));
    };
    let gather = |bodies: &Bodies<'_>| {
        (0..count).map(|i| Ok((bodies.body(i)?, bodies.state(i)?))).collect::<Result<Vec<_>, BadRow>>()
    };
    let (one, two) = (gather(&firsts)?, gather(&flights.seconds)?);
    let window = Window::new(0.0, flights.until.positive(0)?[0]);
    let pull = flights.gravity.vector(0)?;
    on_all_cores(py, || {
        let start = Instant::now();
        let found: Vec<(Search, Option<Strike>)> = one
            .par_iter()
            .zip(&two)
            .map(|(one, two)| {
                let [a, b] = [one, two].map(|(body, state)| Flight::new(body, state, &pull));
                let found =
                    first_contact(Moving::new(&one.0.shape, &a), Moving::new(&two.0.shape, &b), window);
                let struck = match (found.meeting, restitution) {
                    (Meeting::At(met), Some(restitution)) => {
                        let [a, b] = [a, b].map(|flight| flight.at(met.time));
                        let sides = [free(&one.0, &a, &met.point), free(&two.0, &b, &met.point)];
                        Some(strike(&sides[0], &sides[1], &Unit::new_unchecked(met.normal), restitution))
                    }
                    _ => None,
                };
                (found, struck)
            })
            .collect();
        std::hint::black_box(&found);
        start.elapsed().as_secs_f64()
    })
}
