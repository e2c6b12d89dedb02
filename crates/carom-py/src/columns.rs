//! Arrays of Python as columns of rows: one row that holds for all, or one for each.
//!
//! The memory is NumPy's own, borrowed for the time of a call; nothing is copied. Rows are checked where they are read: what is
//! not a finite number, or has no meaning, is named with its place.

use std::fmt;

use carom::body::{Body, State};
use carom::shape::{Cone, EXPONENTS, HalfSpace, Polyhedron, Shape};
use nalgebra::{Quaternion, Unit, UnitQuaternion, Vector3, Vector4};
use numpy::PyReadonlyArrayDyn;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A row that has no meaning.
#[derive(Debug)]
pub struct BadRow {
    /// The array.
    pub name: &'static str,
    /// The row.
    pub row: usize,
    /// What is wrong with it, and what would be right.
    pub message: String,
}

impl fmt::Display for BadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}] {}", self.name, self.row, self.message)
    }
}

impl From<BadRow> for PyErr {
    fn from(bad: BadRow) -> Self {
        PyValueError::new_err(bad.to_string())
    }
}

/// Rows of W numbers.
#[derive(Clone, Copy)]
pub struct Rows<'a, const W: usize> {
    rows: &'a [[f64; W]],
    name: &'static str,
}

impl<'a, const W: usize> Rows<'a, W> {
    /// One row, or one for each of `count`.
    pub fn new(numbers: &'a [f64], count: usize, name: &'static str) -> PyResult<Self> {
        let (rows, rest) = numbers.as_chunks();
        if !rest.is_empty() || !(rows.len() == 1 || rows.len() == count) {
            let found = numbers.len();
            return Err(PyValueError::new_err(format!(
                "{name} has {found} numbers, expected {W} for all or {W} for each of {count}"
            )));
        }
        Ok(Self { rows, name })
    }

    /// The row of an index, as it stands.
    pub fn get(&self, index: usize) -> &'a [f64; W] {
        if let [only] = self.rows { only } else { &self.rows[index] }
    }

    /// The row of an index, if all of it is finite.
    pub fn finite(&self, index: usize) -> Result<&'a [f64; W], BadRow> {
        let row = self.get(index);
        match row.iter().find(|number| !number.is_finite()) {
            None => Ok(row),
            Some(number) => Err(self.bad(index, format!("has {number}, expected finite numbers"))),
        }
    }

    /// The row of an index, if all of it is finite and greater than zero.
    pub fn positive(&self, index: usize) -> Result<&'a [f64; W], BadRow> {
        let row = self.get(index);
        match row.iter().find(|number| !(number.is_finite() && **number > 0.0)) {
            None => Ok(row),
            Some(number) => Err(self.bad(index, format!("has {number}, expected numbers greater than 0"))),
        }
    }

    /// Says what is wrong with a row.
    pub fn bad(&self, index: usize, message: String) -> BadRow {
        BadRow { name: self.name, row: if self.rows.len() == 1 { 0 } else { index }, message }
    }
}

impl Rows<'_, 3> {
    /// The row of an index as a vector.
    pub fn vector(&self, index: usize) -> Result<Vector3<f64>, BadRow> {
        Ok(Vector3::from(*self.finite(index)?))
    }

    /// The row of an index at unit length.
    pub fn unit(&self, index: usize) -> Result<Unit<Vector3<f64>>, BadRow> {
        let given = self.vector(index)?;
        // The squares of very large or small components would leave the range of the numbers.
        let largest = given.amax();
        if largest == 0.0 {
            return Err(self.bad(index, "is zero and no direction".to_string()));
        }
        Ok(Unit::new_normalize(given / largest))
    }
}

impl Rows<'_, 4> {
    /// The row of an index as an orientation: a quaternion, scalar first, normalised as a scene's is.
    pub fn orientation(&self, index: usize) -> Result<UnitQuaternion<f64>, BadRow> {
        let given = Vector4::from(*self.finite(index)?);
        let largest = given.amax();
        if largest == 0.0 {
            return Err(self.bad(index, "is zero and no orientation".to_string()));
        }
        let [w, x, y, z] = (given / largest).into();
        Ok(UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z)))
    }
}

/// The numbers of an array, in the order of its rows.
pub fn numbers<'a, T: numpy::Element>(array: &'a PyReadonlyArrayDyn<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| PyValueError::new_err("expected an array in C order"))
}

/// The shapes of many bodies, as Python gives them.
#[derive(FromPyObject)]
pub struct ShapeArrays<'py> {
    /// Which formulas: 0 a point, 1 a sphere, 2 an ellipsoid, 3 a superellipsoid, 4 a box, 5 a cylinder, 6 a capsule, 7 a cone, 8 a
    /// disc, 9 a polyhedron.
    kind: PyReadonlyArrayDyn<'py, u8>,
    /// Semi-axes or half-extents, three a row; radii twice and a half-length or height; or radii. Of a
    /// polyhedron its number, from 1.
    axes: PyReadonlyArrayDyn<'py, f64>,
    /// How many numbers a row of `axes` has, one or three.
    width: usize,
    /// Exponents, or roundings.
    exponent: PyReadonlyArrayDyn<'py, f64>,
}

/// The shapes of many bodies.
#[derive(Clone, Copy)]
pub struct Shapes<'a> {
    kinds: &'a [u8],
    axes: Axes<'a>,
    exponents: Rows<'a, 1>,
}

#[derive(Clone, Copy)]
enum Axes<'a> {
    Radii(Rows<'a, 1>),
    Three(Rows<'a, 3>),
}

/// Which formulas a shape has.
#[derive(Debug, Clone, Copy)]
enum ShapeKind {
    Point,
    Sphere,
    Ellipsoid,
    Superellipsoid,
    Box,
    Cylinder,
    Capsule,
    Cone,
    Disc,
    Polyhedron,
}

impl ShapeKind {
    /// That of a code in [`ShapeArrays`].
    const fn of(code: u8) -> Self {
        match code {
            0 => Self::Point,
            1 => Self::Sphere,
            2 => Self::Ellipsoid,
            3 => Self::Superellipsoid,
            4 => Self::Box,
            5 => Self::Cylinder,
            6 => Self::Capsule,
            7 => Self::Cone,
            8 => Self::Disc,
            _ => Self::Polyhedron,
        }
    }
}

impl<'a> Shapes<'a> {
    /// Of `count` bodies.
    pub fn new(arrays: &'a ShapeArrays<'_>, count: usize) -> PyResult<Self> {
        let kinds = numbers(&arrays.kind)?;
        if kinds.len() != 1 && kinds.len() != count {
            let found = kinds.len();
            return Err(PyValueError::new_err(format!("{found} shapes, expected one for all or {count}")));
        }
        let axes = numbers(&arrays.axes)?;
        let axes = if arrays.width == 1 {
            Axes::Radii(Rows::new(axes, count, "radius")?)
        } else {
            Axes::Three(Rows::new(axes, count, "semi_axes")?)
        };
        Ok(Self { kinds, axes, exponents: Rows::new(numbers(&arrays.exponent)?, count, "exponent")? })
    }

    /// The rounding of an index, which stands where others have an exponent.
    fn rounding(&self, index: usize) -> Result<f64, BadRow> {
        let [rounding] = *self.exponents.get(index);
        if rounding.is_finite() && rounding >= 0.0 {
            return Ok(rounding);
        }
        Err(self.exponents.bad(index, format!("is {rounding}, expected a rounding of at least 0")))
    }

    /// The shape of an index.
    pub fn get(&self, index: usize) -> Result<Shape, BadRow> {
        let semi_axes = || match &self.axes {
            Axes::Radii(radii) => radii.positive(index).map(|[radius]| [*radius; 3]),
            Axes::Three(rows) => rows.positive(index).copied(),
        };
        match ShapeKind::of(if let [only] = self.kinds { *only } else { self.kinds[index] }) {
            ShapeKind::Point => Ok(Shape::Point),
            ShapeKind::Sphere => semi_axes().map(|[radius, ..]| Shape::Sphere { radius }),
            ShapeKind::Ellipsoid => semi_axes().map(|semi_axes| Shape::Ellipsoid { semi_axes }),
            ShapeKind::Superellipsoid => {
                let semi_axes = semi_axes()?;
                let [exponent] = *self.exponents.get(index);
                if !EXPONENTS.contains(&exponent) {
                    let message =
                        format!("is {exponent}, expected from {} to {}", EXPONENTS.start(), EXPONENTS.end());
                    return Err(self.exponents.bad(index, message));
                }
                Ok(Shape::Superellipsoid { semi_axes, exponent })
            }
            ShapeKind::Box => Ok(Shape::Box { half_extents: semi_axes()?, rounding: self.rounding(index)? }),
            ShapeKind::Cylinder => {
                let ([radius, _, half_length], rounding) = (semi_axes()?, self.rounding(index)?);
                Ok(Shape::Cylinder { radius, half_length, rounding })
            }
            ShapeKind::Capsule => {
                let [radius, _, half_length] = semi_axes()?;
                Ok(Shape::Capsule { radius, half_length })
            }
            ShapeKind::Cone => {
                let [radius, _, height] = semi_axes()?;
                Ok(Shape::Cone(Cone::new(radius, height, self.rounding(index)?)))
            }
            ShapeKind::Disc => {
                let [radius, ..] = semi_axes()?;
                Ok(Shape::Disc { radius, rounding: self.rounding(index)? })
            }
            ShapeKind::Polyhedron => {
                let [number, ..] = semi_axes()?;
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
                let place = (number - 1.0) as u32;
                let bad = || self.exponents.bad(index, "is no polyhedron that was made".to_string());
                Polyhedron::numbered(place).map(Shape::Polyhedron).ok_or_else(bad)
            }
        }
    }
}

/// Many bodies and their states, as Python gives them.
#[derive(FromPyObject)]
pub struct BodyArrays<'py> {
    shapes: ShapeArrays<'py>,
    position: PyReadonlyArrayDyn<'py, f64>,
    orientation: PyReadonlyArrayDyn<'py, f64>,
    velocity: PyReadonlyArrayDyn<'py, f64>,
    angular_velocity: PyReadonlyArrayDyn<'py, f64>,
    mass: PyReadonlyArrayDyn<'py, f64>,
    /// Empty: that of the homogeneous body.
    inertia: PyReadonlyArrayDyn<'py, f64>,
    fixed: PyReadonlyArrayDyn<'py, bool>,
}

/// Many bodies and their states.
#[derive(Clone, Copy)]
pub struct Bodies<'a> {
    shapes: Shapes<'a>,
    position: Rows<'a, 3>,
    orientation: Rows<'a, 4>,
    velocity: Rows<'a, 3>,
    angular_velocity: Rows<'a, 3>,
    mass: Rows<'a, 1>,
    inertia: Option<Rows<'a, 3>>,
    fixed: &'a [bool],
}

/// How much a moment may exceed the sum of the other two, as in a scene.
const TRIANGLE_SLACK: f64 = 1e-9;

impl<'a> Bodies<'a> {
    /// Of `count` bodies.
    pub fn new(arrays: &'a BodyArrays<'_>, count: usize) -> PyResult<Self> {
        let inertia = numbers(&arrays.inertia)?;
        let fixed = numbers(&arrays.fixed)?;
        if fixed.len() != 1 && fixed.len() != count {
            let found = fixed.len();
            return Err(PyValueError::new_err(format!(
                "fixed has {found} entries, expected one for all or {count}"
            )));
        }
        let rows = |array, name| Rows::new(numbers(array)?, count, name);
        Ok(Self {
            shapes: Shapes::new(&arrays.shapes, count)?,
            position: rows(&arrays.position, "position")?,
            orientation: Rows::new(numbers(&arrays.orientation)?, count, "orientation")?,
            velocity: rows(&arrays.velocity, "velocity")?,
            angular_velocity: rows(&arrays.angular_velocity, "angular_velocity")?,
            mass: Rows::new(numbers(&arrays.mass)?, count, "mass")?,
            inertia: if inertia.is_empty() { None } else { Some(Rows::new(inertia, count, "inertia")?) },
            fixed,
        })
    }

    /// The shape of an index.
    pub fn shape(&self, index: usize) -> Result<Shape, BadRow> {
        self.shapes.get(index)
    }

    /// The constants of an index, with moments that a distribution of mass can have.
    pub fn body(&self, index: usize) -> Result<Body, BadRow> {
        let body = self.any_body(index)?;
        if let Some(rows) = self.inertia.filter(|_| !body.fixed) {
            let mut sorted = *rows.get(index);
            sorted.sort_by(f64::total_cmp);
            let [least, middle, largest] = sorted;
            if largest > (least + middle) * (1.0 + TRIANGLE_SLACK) {
                let message = format!("breaks the triangle inequality: {largest} > {least} + {middle}");
                return Err(rows.bad(index, message));
            }
        }
        Ok(body)
    }

    /// The constants of an index, with any positive moments.
    pub fn any_body(&self, index: usize) -> Result<Body, BadRow> {
        let shape = self.shapes.get(index)?;
        let fixed = self.fixed(index);
        if fixed {
            let inertia = Vector3::repeat(f64::INFINITY);
            return Ok(Body { shape, mass: f64::INFINITY, inertia, fixed });
        }
        let [mass] = *self.mass.positive(index)?;
        let inertia = match &self.inertia {
            Some(rows) => Vector3::from(*rows.positive(index)?),
            None => shape.unit_inertia() * mass,
        };
        if !inertia.iter().all(|moment| moment.is_normal()) {
            let message =
                "gives moments of inertia beyond the range of 64-bit floats, or none; give `inertia`";
            return Err(self.mass.bad(index, message.to_string()));
        }
        Ok(Body { shape, mass, inertia, fixed })
    }

    fn fixed(&self, index: usize) -> bool {
        if let [only] = self.fixed { *only } else { self.fixed[index] }
    }

    /// The state of an index; a fixed body has no velocity.
    pub fn state(&self, index: usize) -> Result<State, BadRow> {
        if self.fixed(index) {
            for rows in [&self.velocity, &self.angular_velocity] {
                if rows.vector(index)? != Vector3::zeros() {
                    let message = "moves a fixed body, expected zero, or `fixed=False`".to_string();
                    return Err(rows.bad(index, message));
                }
            }
        }
        Ok(State {
            position: self.position.vector(index)?,
            orientation: self.orientation.orientation(index)?,
            velocity: self.velocity.vector(index)?,
            angular_velocity: self.angular_velocity.vector(index)?,
        })
    }
}

/// Many planes, as Python gives them.
#[derive(FromPyObject)]
pub struct PlaneArrays<'py> {
    normal: PyReadonlyArrayDyn<'py, f64>,
    offset: PyReadonlyArrayDyn<'py, f64>,
}

/// Many planes.
#[derive(Clone, Copy)]
pub struct Planes<'a> {
    normal: Rows<'a, 3>,
    offset: Rows<'a, 1>,
}

impl<'a> Planes<'a> {
    /// Of `count` planes.
    pub fn new(arrays: &'a PlaneArrays<'_>, count: usize) -> PyResult<Self> {
        Ok(Self {
            normal: Rows::new(numbers(&arrays.normal)?, count, "normal")?,
            offset: Rows::new(numbers(&arrays.offset)?, count, "offset")?,
        })
    }

    /// The plane of an index.
    pub fn get(&self, index: usize) -> Result<HalfSpace, BadRow> {
        Ok(HalfSpace { normal: self.normal.unit(index)?, offset: self.offset.finite(index)?[0] })
    }
}

/// What stands first in a pair: a plane, or a body.
#[derive(FromPyObject)]
pub enum FirstArrays<'py> {
    /// A body: tried first, since a plane has none of its fields.
    Body(BodyArrays<'py>),
    /// A plane.
    Plane(PlaneArrays<'py>),
}

/// What stands first in many pairs.
#[derive(Clone, Copy)]
#[allow(clippy::large_enum_variant, reason = "there is one a call")]
pub enum Firsts<'a> {
    /// Bodies.
    Bodies(Bodies<'a>),
    /// Planes.
    Planes(Planes<'a>),
}

impl<'a> Firsts<'a> {
    /// Of `count` pairs.
    pub fn new(arrays: &'a FirstArrays<'_>, count: usize) -> PyResult<Self> {
        match arrays {
            FirstArrays::Body(bodies) => Ok(Self::Bodies(Bodies::new(bodies, count)?)),
            FirstArrays::Plane(planes) => Ok(Self::Planes(Planes::new(planes, count)?)),
        }
    }
}
