//! Shapes, and the mass that a homogeneous one has.

use std::fmt::Display;

use super::super::diagnostic::Log;
use super::super::document::{Kind, Value};
use super::super::fields::{self, names};
use super::super::reader::{self, Fields};
use crate::shape::{EXPONENTS, Shape};

/// How a shape is written.
pub(super) const EXPECTED: &str = "such as { sphere = { radius = 1 } }, { ellipsoid = { semi_axes = [2, 1, 1] } }, \
     { superellipsoid = { semi_axes = [1, 2, 3], exponent = 4 } } or { point = {} }";

pub(super) fn shape(value: &Value, path: &dyn Display, log: &mut Log<'_>) -> Option<Shape> {
    let known = names(&fields::SHAPE);
    let hint = |key: &str| match key {
        "radius" => Some("`sphere = { radius = … }`"),
        "semi_axes" | "exponent" => Some("it inside `ellipsoid = { … }` or `superellipsoid = { … }`"),
        "ball" => Some("`sphere`"),
        "box" | "cuboid" | "cube" => Some("a `superellipsoid` with a large exponent"),
        "cylinder" | "capsule" | "cone" | "torus" => Some(
            "a smooth body instead: `sphere`, `ellipsoid` or `superellipsoid`; this one is not among the shapes",
        ),
        "mesh" | "polyhedron" | "convex" | "hull" => {
            Some("a smooth body instead: `sphere`, `ellipsoid` or `superellipsoid`; meshes are not read")
        }
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
        _ => Fields::of(value, &path, &[], |_| None, log).map(|_| Shape::Point),
    }
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
    // Beyond the normal numbers the mass would lose its digits, or all of its value.
    if !mass.is_normal() {
        let message = format!("gives a mass of {mass:e}, beyond the range of 64-bit floats");
        log.report(value.span.clone(), &table.path(name), message, "another density, or another size");
        return None;
    }
    Some(mass)
}
