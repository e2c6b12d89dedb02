//! Shapes, and the mass that a homogeneous one has.

use std::fmt::Display;

use nalgebra::Vector3;

use super::super::diagnostic::Log;
use super::super::document::{Kind, Value};
use super::super::fields::{self, names};
use super::super::meshes::Meshes;
use super::super::reader::{self, Fields};
use crate::hull::Axes;
use crate::shape::{Cone, EXPONENTS, Polyhedron, Shape};

/// How a shape is written.
pub(super) const EXPECTED: &str = "such as { sphere = { radius = 1 } }, { ellipsoid = { semi_axes = [2, 1, 1] } }, \
     { superellipsoid = { semi_axes = [1, 2, 3], exponent = 4 } }, { box = { half_extents = [1, 2, 3] } }, \
     { cylinder = { radius = 1, half_length = 2 } }, { capsule = { radius = 1, half_length = 2 } }, \
     { cone = { radius = 1, height = 2 } }, { disc = { radius = 1 } }, { polyhedron = { vertices = [[0, 0, 0], …] } } or { point = {} }";

/// What polyhedra are made with.
#[derive(Clone, Copy)]
pub(super) struct Polyhedra<'a> {
    pub meshes: &'a Meshes,
    pub axes: Axes,
}

pub(super) fn shape(
    value: &Value,
    path: &dyn Display,
    polyhedra: Polyhedra<'_>,
    log: &mut Log<'_>,
) -> Option<Shape> {
    let known = names(&fields::SHAPE);
    let hint = |key: &str| match key {
        "radius" => Some("`sphere = { radius = … }`"),
        "semi_axes" | "exponent" => Some("it inside `ellipsoid = { … }` or `superellipsoid = { … }`"),
        "ball" => Some("`sphere`"),
        "cuboid" | "cube" | "brick" => Some("`box = { half_extents = … }`"),
        "half_extents" => Some("`box = { half_extents = … }`"),
        "half_length" => Some("it inside `cylinder = { … }` or `capsule = { … }`"),
        "rod" | "spherocylinder" => Some("`capsule = { radius = …, half_length = … }`"),
        "disk" => Some("`disc`"),
        "torus" => Some("a convex shape: `sphere`, `cylinder`, `capsule` or another"),
        "mesh" | "convex" | "hull" | "convex_hull" => {
            Some("`polyhedron = { vertices = … }` or `polyhedron = { file = … }`")
        }
        "vertices" | "file" => Some("it inside `polyhedron = { … }`"),
        "plane" | "halfspace" | "half_space" => Some("a `[[plane]]`, which is no body"),
        _ => None,
    };
    if let Kind::String(name) = &value.kind {
        let shown: String = name.chars().take(40).collect();
        let message = format!("is the name `{shown}` without its sizes");
        log.report(value.span.clone(), path, message, hint(name).unwrap_or(EXPECTED));
        return None;
    }
    let table = Fields::of(value, path, &known, hint, log)?;
    let (kind, value) = table.one_of(&known, EXPECTED, log)?;
    let path = table.path(kind);
    match kind {
        "sphere" => {
            let hint = |key: &str| match key {
                "semi_axes" => Some("`radius`; semi-axes belong to an `ellipsoid` or a `superellipsoid`"),
                "exponent" => Some("`radius`; an exponent belongs to a `superellipsoid`"),
                "diameter" => Some("`radius`, half of it"),
                _ => None,
            };
            let sphere = Fields::of(value, &path, &names(&fields::SPHERE), hint, log)?;
            let radius = sphere.need("radius", "a number greater than 0", log, reader::positive)?;
            Some(Shape::Sphere { radius })
        }
        "ellipsoid" => {
            let hint = |key: &str| match key {
                "radius" => Some("`semi_axes`; a radius belongs to a `sphere`"),
                "exponent" => Some("`semi_axes` alone; an exponent belongs to a `superellipsoid`"),
                _ => None,
            };
            let ellipsoid = Fields::of(value, &path, &names(&fields::ELLIPSOID), hint, log)?;
            Some(Shape::Ellipsoid { semi_axes: semi_axes(&ellipsoid, log)? })
        }
        "superellipsoid" => {
            let hint = |key: &str| {
                (key == "radius").then_some("`semi_axes` and `exponent`; a radius belongs to a `sphere`")
            };
            let table = Fields::of(value, &path, &names(&fields::SUPERELLIPSOID), hint, log)?;
            let semi_axes = semi_axes(&table, log);
            let expected = "from 2 (an ellipsoid) to 1000";
            let exponent = table.need("exponent", expected, log, |value, path, log| {
                reader::number_where(value, path, |exponent| EXPONENTS.contains(&exponent), expected, log)
            });
            Some(Shape::Superellipsoid { semi_axes: semi_axes?, exponent: exponent? })
        }
        "box" => {
            let hint = |key: &str| match key {
                "semi_axes" | "half_extent" | "half_lengths" => Some("`half_extents`"),
                "size" | "extents" | "lengths" => Some("`half_extents`, half the lengths of its edges"),
                "radius" => Some("`rounding`, for a box with round edges"),
                _ => None,
            };
            let table = Fields::of(value, &path, &names(&fields::BOX), hint, log)?;
            let expected = "three numbers greater than 0";
            let half_extents = table.need("half_extents", expected, log, reader::positive_vector);
            let rounding = rounding(&table, log);
            Some(Shape::Box { half_extents: half_extents?.into(), rounding: rounding? })
        }
        "cylinder" => {
            let table = Fields::of(value, &path, &names(&fields::CYLINDER), elongated, log)?;
            let (radius, half_length) = (length(&table, "radius", log), length(&table, "half_length", log));
            let rounding = rounding(&table, log);
            Some(Shape::Cylinder { radius: radius?, half_length: half_length?, rounding: rounding? })
        }
        "capsule" => {
            let hint = |key: &str| match key {
                "rounding" => Some("`radius`, which is the rounding of a capsule"),
                _ => elongated(key),
            };
            let table = Fields::of(value, &path, &names(&fields::CAPSULE), hint, log)?;
            let (radius, half_length) = (length(&table, "radius", log), length(&table, "half_length", log));
            Some(Shape::Capsule { radius: radius?, half_length: half_length? })
        }
        "cone" => {
            let hint = |key: &str| match key {
                "half_length" | "length" | "half_height" => Some("`height`, from the base to the tip"),
                _ => elongated(key),
            };
            let table = Fields::of(value, &path, &names(&fields::CONE), hint, log)?;
            let (radius, height) = (length(&table, "radius", log), length(&table, "height", log));
            let rounding = rounding(&table, log);
            Some(Shape::Cone(Cone::new(radius?, height?, rounding?)))
        }
        "disc" => {
            let hint = |key: &str| match key {
                "half_length" | "thickness" => Some("a `cylinder`, which has a thickness"),
                _ => elongated(key),
            };
            let table = Fields::of(value, &path, &names(&fields::DISC), hint, log)?;
            let radius = length(&table, "radius", log);
            let rounding = rounding(&table, log);
            Some(Shape::Disc { radius: radius?, rounding: rounding? })
        }
        "polyhedron" => polyhedron(value, &path, polyhedra, log).map(Shape::Polyhedron),
        _ => Fields::of(value, &path, &[], |_| None, log).map(|_| Shape::Point),
    }
}

/// The convex hull of points, given or read from a file.
fn polyhedron(
    value: &Value,
    path: &dyn Display,
    Polyhedra { meshes, axes }: Polyhedra<'_>,
    log: &mut Log<'_>,
) -> Option<Polyhedron> {
    let hint = |key: &str| match key {
        "points" | "corners" | "verts" => Some("`vertices`"),
        "faces" | "triangles" | "indices" | "edges" => {
            Some("`vertices` alone: the body is their convex hull")
        }
        "path" | "mesh" | "obj" | "stl" | "filename" => Some("`file`"),
        "radius" => Some("`rounding`, the radius of a ball that it is grown by"),
        _ => None,
    };
    let table = Fields::of(value, path, &names(&fields::POLYHEDRON), hint, log)?;
    let expected = "its `vertices`, or the `file` of a mesh";
    let source = table.one_of(&["vertices", "file"], expected, log);
    let scale = table.or("scale", 1.0, log, reader::positive);
    let rounding = rounding(&table, log);
    let (kind, value) = source?;
    let path = table.path(kind);
    let points = if kind == "file" { mesh(value, &path, meshes, log) } else { points(value, &path, log) };
    let (points, scale, rounding) = (points?, scale?, rounding?);
    let points: Vec<Vector3<f64>> = points.into_iter().map(|x| x * scale).collect();
    match Polyhedron::new(&points, rounding, axes) {
        Ok(polyhedron) => Some(polyhedron),
        Err(defect) => {
            log.report(value.span.clone(), &path, defect.to_string(), defect.expected());
            None
        }
    }
}

fn points(value: &Value, path: &dyn Display, log: &mut Log<'_>) -> Option<Vec<Vector3<f64>>> {
    let list = reader::list(value, path, "a list of points [x, y, z]", log)?;
    let read = |(i, point)| reader::vector(point, &format_args!("{path}[{i}]"), log);
    let points: Vec<Vector3<f64>> = list.iter().enumerate().filter_map(read).collect();
    (points.len() == list.len()).then_some(points)
}

fn mesh(value: &Value, path: &dyn Display, meshes: &Meshes, log: &mut Log<'_>) -> Option<Vec<Vector3<f64>>> {
    let name = reader::string(value, path, log)?;
    match meshes.get(name) {
        Ok(points) => Some(points.iter().map(|&x| x.into()).collect()),
        Err([message, expected]) => {
            log.report(value.span.clone(), path, message, expected);
            None
        }
    }
}

/// What bodies of revolution about z call their sizes.
fn elongated(key: &str) -> Option<&'static str> {
    match key {
        "diameter" => Some("`radius`, half of it"),
        "length" | "height" => Some("`half_length`, half of it"),
        "half_extents" => Some("`radius` and `half_length`; half-extents belong to a `box`"),
        _ => None,
    }
}

fn length(table: &Fields<'_>, name: &str, log: &mut Log<'_>) -> Option<f64> {
    table.need(name, "a number greater than 0", log, reader::positive)
}

fn rounding(table: &Fields<'_>, log: &mut Log<'_>) -> Option<f64> {
    table.or("rounding", 0.0, log, reader::not_negative)
}

fn semi_axes(table: &Fields<'_>, log: &mut Log<'_>) -> Option<[f64; 3]> {
    table.need("semi_axes", "three numbers greater than 0", log, reader::positive_vector).map(Into::into)
}

/// The mass, as given or by the density.
pub(super) fn mass(table: &Fields<'_>, shape: Option<&Shape>, log: &mut Log<'_>) -> Option<f64> {
    let expected = "its `mass`, or its `density` where the shape has a volume";
    let (name, value) = table.one_of(&["mass", "density"], expected, log)?;
    let quantity = reader::positive(value, &table.path(name), log)?;
    if name == "mass" {
        return Some(quantity);
    }
    let volume = shape?.volume();
    let mass = quantity * volume;
    if volume == 0.0 && shape == Some(&Shape::Point) {
        let expected = "its `mass`: a point has no volume";
        log.report(value.span.clone(), &table.path(name), "is the density of a point", expected);
        return None;
    }
    if volume == 0.0 && matches!(shape, Some(Shape::Disc { .. })) {
        let expected = "its `mass`, or a `rounding` of the disc: without it a disc has no volume";
        log.report(
            value.span.clone(),
            &table.path(name),
            "is the density of a disc without thickness",
            expected,
        );
        return None;
    }
    // Beyond the normal numbers the mass would lose its digits, or all of its value.
    if !mass.is_normal() {
        let message = format!("gives a mass of {mass:e}, beyond the range of 64-bit floats");
        log.report(value.span.clone(), &table.path(name), message, "another density, or another size");
        return None;
    }
    Some(mass)
}
