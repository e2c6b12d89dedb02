//! Bodies and planes.

use std::fmt::Display;

use nalgebra::{Matrix3, Quaternion, Rotation3, UnitQuaternion, Vector3, Vector4};

use super::super::diagnostic::Log;
use super::super::document::{Kind, Value};
use super::super::fields::{self, names};
use super::super::meshes::Meshes;
use super::super::model::{SceneBody, ScenePlane};
use super::super::reader::{self, Fields};
use super::names::name;
use super::shapes::{self, Polyhedra, shape};
use crate::body::{Body, State, bryan_matrix, bryan_orientation};
use crate::hull::Axes;
use crate::shape::{HalfSpace, Shape};

/// How far a quaternion, an axis or a normal may be from unit length before it is worth a word.
pub(super) const UNIT_TOLERANCE: f64 = 1e-6;

/// By how much, relatively, a moment may exceed the sum of the other two: a flat body written in decimals.
const TRIANGLE_SLACK: f64 = 1e-9;

pub(super) fn body(
    value: &Value,
    path: &str,
    meshes: &Meshes,
    log: &mut Log<'_>,
    warnings: &mut Log<'_>,
) -> Option<SceneBody> {
    let hint = |key: &str| match key {
        "radius" => Some("`shape = { sphere = { radius = … } }`"),
        "semi_axes" => Some("`shape = { ellipsoid = { semi_axes = … } }`"),
        "axes" | "bryan" => Some("it inside `orientation = { … }`"),
        "restitution" | "kind" => Some("it in `[surface]` or in a `[[contact]]`"),
        "friction" | "mu" | "coulomb" => {
            Some("`kind = { coulomb = … }` in `[surface]`, or in a `[[surface.pair]]` with this body")
        }
        "mesh" | "file" | "vertices" => Some("`shape = { polyhedron = { … } }`"),
        _ => None,
    };
    let table = Fields::of(value, &path, &names(&fields::BODY), hint, log)?;
    let name = table.need("name", "a name of its own", log, name);
    let fixed = table.or("fixed", false, log, reader::boolean);
    // A body that turns freely is described in its principal axes.
    let free = fixed == Some(false) && table.get("inertia").is_none();
    let axes = if free { Axes::Principal } else { Axes::Given };
    let shape = table.need("shape", shapes::EXPECTED, log, |value, path, log| {
        shape(value, path, Polyhedra { meshes, axes }, log)
    });
    let constants = constants(&table, shape.as_ref(), fixed, log);

    let zero = Vector3::zeros();
    let position = table.or("position", zero, log, reader::vector);
    let mut angles = None;
    let orientation = table.or("orientation", UnitQuaternion::identity(), log, |value, path, log| {
        orientation(value, path, log, warnings, &mut angles)
    });
    let velocity = table.or("velocity", zero, log, |value, path, log| motion(value, path, fixed, log));
    let kinds = ["angular_velocity", "angular_velocity_body", "bryan_rates"];
    let given = match table.at_most_one_of(&kinds, log) {
        Some((kind, value)) => {
            let path = table.path(kind);
            if kind == "bryan_rates" && angles.is_none() && orientation.is_some() {
                let message = "are the rates of angles that are not given";
                let expected = "`orientation = { bryan = [psi, theta, phi] }`, or `angular_velocity`";
                log.report(value.span.clone(), &path, message, expected);
            }
            motion(value, &path, fixed, log).map(|spin| (kind, spin))
        }
        None => Some(("angular_velocity", zero)),
    };
    let (mass, inertia) = constants?;
    let (given_orientation, shape) = (orientation?, shape?);
    let turn = own_axes(&table, &shape, warnings);
    let orientation = given_orientation * turn;
    let (angular_velocity, body_spin) = match given? {
        ("angular_velocity_body", spin) => (given_orientation * spin, Some(turn.inverse() * spin)),
        ("bryan_rates", rates) => {
            let spin = bryan_matrix(&angles?) * rates;
            (given_orientation * spin, Some(turn.inverse() * spin))
        }
        (_, spin) => (spin, None),
    };
    Some(SceneBody {
        name: name?,
        body: Body { shape, mass, inertia, fixed: fixed? },
        state: State { position: position?, orientation, velocity: velocity?, angular_velocity },
        body_spin,
    })
}

/// From the axes that a body has in the library to those that its shape is given in: they differ for polyhedra whose axes are not
/// principal.
fn own_axes(table: &Fields<'_>, shape: &Shape, warnings: &mut Log<'_>) -> UnitQuaternion<f64> {
    let Shape::Polyhedron(polyhedron) = shape else { return UnitQuaternion::identity() };
    let turn = polyhedron.turn();
    if turn != UnitQuaternion::identity()
        && let Some(value) = table.get("shape")
    {
        let [w, x, y, z] = [turn.w, turn.i, turn.j, turn.k];
        let message = "is given in axes that are not principal: orientations in answers are those of its principal axes";
        let expected =
            format!("vertices in principal axes; these are turned to them by [{w}, {x}, {y}, {z}]");
        warnings.report(value.span.clone(), &table.path("shape"), message, expected);
    }
    turn
}

/// Mass and moments; infinite for a fixed body, whatever is given.
fn constants(
    table: &Fields<'_>,
    shape: Option<&Shape>,
    fixed: Option<bool>,
    log: &mut Log<'_>,
) -> Option<(f64, Vector3<f64>)> {
    // Where it is not known whether the body is fixed, nothing is said to be missing.
    let free = fixed == Some(false);
    let given = ["mass", "density"].iter().any(|name| table.get(name).is_some());
    let mass = if free || given { shapes::mass(table, shape, log) } else { None };
    let inertia = match table.get("inertia") {
        Some(value) => inertia(value, &table.path("inertia"), log),
        None if !free => None,
        None if shape == Some(&Shape::Point) => {
            let expected = "the three principal moments, which a point does not have of its own";
            table.required("inertia", expected, log);
            None
        }
        None => shape.zip(mass).and_then(|(shape, mass)| {
            let inertia = shape.unit_inertia() * mass;
            if !inertia.iter().all(|moment| moment.is_normal()) {
                let message = "has moments of inertia beyond the range of 64-bit floats";
                table.report(message, "another size or mass, or `inertia`", log);
                return None;
            }
            Some(inertia)
        }),
    };
    match fixed? {
        true => Some((f64::INFINITY, Vector3::repeat(f64::INFINITY))),
        false => Some((mass?, inertia?)),
    }
}

/// Principal moments that a distribution of mass can have.
fn inertia(value: &Value, path: &dyn Display, log: &mut Log<'_>) -> Option<Vector3<f64>> {
    let moments = reader::positive_vector(value, path, log)?;
    let mut sorted = [moments.x, moments.y, moments.z];
    sorted.sort_by(f64::total_cmp);
    let [least, middle, largest] = sorted;
    if largest > (least + middle) * (1.0 + TRIANGLE_SLACK) {
        let message = format!("breaks the triangle inequality: {largest} > {least} + {middle}");
        let expected = "no moment greater than the sum of the other two; no body has such moments";
        log.report(value.span.clone(), path, message, expected);
        return None;
    }
    Some(moments)
}

/// A velocity, which a fixed body does not have.
fn motion(value: &Value, path: &dyn Display, fixed: Option<bool>, log: &mut Log<'_>) -> Option<Vector3<f64>> {
    let velocity = reader::vector(value, path, log)?;
    if fixed == Some(true) && velocity != Vector3::zeros() {
        log.report(value.span.clone(), path, "moves a fixed body", "zero, or `fixed = false`");
        return None;
    }
    Some(velocity)
}

fn orientation(
    value: &Value,
    path: &dyn Display,
    log: &mut Log<'_>,
    warnings: &mut Log<'_>,
    angles: &mut Option<[f64; 3]>,
) -> Option<UnitQuaternion<f64>> {
    const EXPECTED: &str =
        "a quaternion [w, x, y, z], { axes = [[…], […], […]] } or { bryan = [psi, theta, phi] }";
    match value.kind {
        Kind::Array(_) => quaternion(value, path, log, warnings),
        Kind::Table(_) => {
            let known = names(&fields::ORIENTATION);
            let table = Fields::of(value, path, &known, |_| None, log)?;
            let (kind, value) = table.one_of(&known, EXPECTED, log)?;
            let path = table.path(kind);
            if kind == "axes" {
                axes(value, &path, log)
            } else {
                *angles = bryan(value, &path, log);
                angles.as_ref().map(bryan_orientation)
            }
        }
        _ => reader::wrong_kind(value, path, EXPECTED, log),
    }
}

/// A quaternion, scalar first, normalised.
fn quaternion(
    value: &Value,
    path: &dyn Display,
    log: &mut Log<'_>,
    warnings: &mut Log<'_>,
) -> Option<UnitQuaternion<f64>> {
    let given = reader::numbers(value, path, Some((4, "the quaternion w, x, y, z")), log)?;
    let given = Vector4::from_row_slice(&given);
    // The squares of very large or small components would leave the range of the numbers.
    let largest = given.amax();
    if largest == 0.0 {
        log.report(value.span.clone(), path, "is zero and no orientation", "a unit quaternion [w, x, y, z]");
        return None;
    }
    let scaled = given / largest;
    let norm = scaled.norm() * largest;
    if (norm - 1.0).abs() > UNIT_TOLERANCE {
        let message = format!("has length {norm}, and was normalised");
        warnings.report(value.span.clone(), path, message, "a unit quaternion");
    }
    let [w, x, y, z] = scaled.into();
    Some(UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z)))
}

/// The three body axes in the world frame: the columns of the rotation from body to world.
fn axes(value: &Value, path: &dyn Display, log: &mut Log<'_>) -> Option<UnitQuaternion<f64>> {
    const EXPECTED: &str = "the three body axes in the world frame, right-handed and orthonormal";
    let rows = reader::matrix(value, path, Some((3, "x, y and z")), log)?;
    if rows.nrows() != 3 {
        let message = format!("has {} axes", rows.nrows());
        log.report(value.span.clone(), path, message, EXPECTED);
        return None;
    }
    let axis = |i: usize| Vector3::new(rows[(i, 0)], rows[(i, 1)], rows[(i, 2)]);
    let mut good = true;
    for i in 0..3 {
        let length = axis(i).norm();
        if (length - 1.0).abs() > UNIT_TOLERANCE
            && let Some(entry) = value.at(i)
        {
            let message = format!("has length {length}");
            log.report(entry.span.clone(), &format_args!("{path}[{i}]"), message, "a unit vector");
            good = false;
        }
    }
    if !good {
        return None;
    }
    for (i, j) in [(0, 1), (1, 2), (2, 0)] {
        let cosine = axis(i).dot(&axis(j));
        if cosine.abs() > UNIT_TOLERANCE {
            let message = format!("has axes {i} and {j} that are not perpendicular (cosine {cosine:e})");
            log.report(value.span.clone(), path, message, EXPECTED);
            good = false;
        }
    }
    let mut matrix = Matrix3::from_columns(&[axis(0), axis(1), axis(2)]);
    if good && matrix.determinant() < 0.0 {
        log.report(value.span.clone(), path, "is left-handed", EXPECTED);
        good = false;
    }
    // Newton's iteration to the nearest rotation squares the error: two steps leave none of 1e-6.
    for _ in 0..2 {
        matrix = matrix * (Matrix3::identity() * 3.0 - matrix.transpose() * matrix) * 0.5;
    }
    good.then(|| UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(matrix)))
}

/// Three angles, or their rates: psi, theta and phi.
fn bryan(value: &Value, path: &dyn Display, log: &mut Log<'_>) -> Option<[f64; 3]> {
    let angles = reader::numbers(value, path, Some((3, "psi, theta and phi")), log)?;
    angles.try_into().ok()
}

pub(super) fn plane(value: &Value, path: &str, log: &mut Log<'_>) -> Option<ScenePlane> {
    let hint = |key: &str| match key {
        "point" | "position" => Some("`offset`: normal · x of any point x of the plane"),
        "friction" | "mu" | "coulomb" => {
            Some("`kind = { coulomb = … }` in `[surface]`, or in a `[[surface.pair]]` with this plane")
        }
        "restitution" | "kind" => Some("it in `[surface]`, or in a `[[surface.pair]]` with this plane"),
        _ => None,
    };
    let table = Fields::of(value, &path, &names(&fields::PLANE), hint, log)?;
    let name = table.need("name", "a name of its own", log, name);
    let normal = table.need("normal", "the normal, into the free side", log, reader::unit);
    let offset = table.or("offset", 0.0, log, reader::number);
    Some(ScenePlane { name: name?, half_space: HalfSpace { normal: normal?, offset: offset? } })
}
