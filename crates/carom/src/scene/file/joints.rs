//! Joints.

use std::fmt::Display;

use super::super::diagnostic::Log;
use super::super::document::{Kind as ValueKind, Value};
use super::super::fields::{self, names};
use super::super::reader::{self, Fields};
use super::names::{Names, counted, name};
use crate::joint::{Joint, Kind};
use crate::shape::HalfSpace;

const EXPECTED: &str = "such as { hinge = { point = [0, 0, 0], axis = [0, 0, 1] } }, { ball = { point = [0, 0, 0] } }, \
     { slider = { axis = [1, 0, 0] } }, { weld = {} }, { rolling = { plane = \"floor\" } }, \
     { knife_edge = { point = [0, 0, 0], normal = [0, 1, 0] } } or { rows = [[1, 0, 0, 0, 0, 0]] }";

pub(super) fn joint(
    value: &Value,
    path: &str,
    all: &Names<'_>,
    planes: &[Option<HalfSpace>],
    log: &mut Log<'_>,
) -> Option<Joint> {
    let hint = |key: &str| match key {
        "hinge" | "ball" | "slider" | "weld" | "rolling" | "knife_edge" | "rows" => {
            Some("it inside `kind = { … }`")
        }
        "body" => Some("`bodies = [\"…\"]`"),
        "point" | "axis" | "normal" => Some("it inside the kind, `kind = { … = { … } }`"),
        _ => None,
    };
    let table = Fields::of(value, &path, &names(&fields::JOINT), hint, log)?;
    let name = table.need("name", "a name of its own", log, name);
    let expected = "the name of one body, joined to the ground, or of two";
    let bodies =
        table.need("bodies", expected, log, |value, path, log| bodies(value, path, expected, all, log));
    // The kind is checked against the number of bodies even where their names are wrong.
    let count = match table.get("bodies").map(|value| &value.kind) {
        Some(ValueKind::Array(values)) if matches!(values.len(), 1 | 2) => Some(values.len()),
        _ => None,
    };
    let kind =
        table.need("kind", EXPECTED, log, |value, path, log| kind(value, path, count, all, planes, log));
    Some(Joint { name: name?, bodies: bodies?, kind: kind? })
}

fn bodies(
    value: &Value,
    path: &dyn Display,
    expected: &str,
    all: &Names<'_>,
    log: &mut Log<'_>,
) -> Option<Vec<usize>> {
    let values = reader::list(value, path, expected, log)?;
    if !matches!(values.len(), 1 | 2) {
        log.report(value.span.clone(), path, counted(values.len()), expected);
        return None;
    }
    let read = |(i, value)| all.body(value, &format_args!("{path}[{i}]"), log);
    let bodies: Vec<usize> = values.iter().enumerate().filter_map(read).collect();
    if bodies.len() < values.len() {
        return None;
    }
    if let [first, second] = bodies[..]
        && first == second
    {
        log.report(value.span.clone(), path, "names the same body twice", expected);
        return None;
    }
    Some(bodies)
}

/// `count` is the number of bodies, where it is known.
fn kind(
    value: &Value,
    path: &dyn Display,
    count: Option<usize>,
    all: &Names<'_>,
    planes: &[Option<HalfSpace>],
    log: &mut Log<'_>,
) -> Option<Kind> {
    let known = names(&fields::JOINT_KIND);
    let hint = |key: &str| match key {
        "revolute" => Some("`hinge`"),
        "spherical" => Some("`ball`"),
        "prismatic" => Some("`slider`"),
        "fixed" => Some("`weld`"),
        _ => None,
    };
    let table = Fields::of(value, path, &known, hint, log)?;
    let (kind, value) = table.one_of(&known, EXPECTED, log)?;
    let path = table.path(kind);
    let fields = |names: &[&'static str], log: &mut Log<'_>| Fields::of(value, &path, names, |_| None, log);
    let (a_point, an_axis) = ("a point [x, y, z]", "a direction [x, y, z]");
    match kind {
        "hinge" => {
            let table = fields(&names(&fields::HINGE), log)?;
            let point = table.need("point", a_point, log, reader::vector);
            let axis = table.need("axis", an_axis, log, reader::unit);
            Some(Kind::Hinge { point: point?, axis: axis? })
        }
        "ball" => {
            let table = fields(&names(&fields::BALL), log)?;
            Some(Kind::Ball { point: table.need("point", a_point, log, reader::vector)? })
        }
        "slider" => {
            let table = fields(&names(&fields::SLIDER), log)?;
            Some(Kind::Slider { axis: table.need("axis", an_axis, log, reader::unit)? })
        }
        "weld" => fields(&[], log).map(|_| Kind::Weld),
        "rolling" => {
            if count == Some(2) {
                let expected = "one body in `bodies`: it rolls on the plane";
                log.report(value.span.clone(), &path, "is a joint of one body", expected);
            }
            let table = fields(&names(&fields::ROLLING), log)?;
            let find = |value: &Value, path: &dyn Display, log: &mut Log<'_>| all.plane(value, path, log);
            let plane = table.need("plane", "the name of a plane", log, find)?;
            let half_space = (*planes.get(plane)?)?;
            Some(Kind::Rolling { plane, half_space })
        }
        "knife_edge" => {
            let table = fields(&names(&fields::KNIFE_EDGE), log)?;
            let point = table.need("point", a_point, log, reader::vector);
            let normal = table.need("normal", an_axis, log, reader::unit);
            Some(Kind::KnifeEdge { point: point?, normal: normal? })
        }
        _ => rows(value, &path, count, log),
    }
}

fn rows(value: &Value, path: &dyn Display, count: Option<usize>, log: &mut Log<'_>) -> Option<Kind> {
    let columns = match count {
        Some(1) => Some((6, "linear then angular")),
        Some(_) => Some((12, "linear then angular, of the first body and then of the second")),
        None => None,
    };
    let rows = reader::list(value, path, "a list of rows, each of 6 numbers per body", log)?;
    if rows.is_empty() {
        log.report(value.span.clone(), path, "has no row, and forbids nothing", "at least one row");
        return None;
    }
    let read = |(i, row)| reader::numbers(row, &format_args!("{path}[{i}]"), columns, log);
    let read: Vec<_> = rows.iter().enumerate().filter_map(read).collect();
    (read.len() == rows.len()).then_some(Kind::Rows(read))
}
