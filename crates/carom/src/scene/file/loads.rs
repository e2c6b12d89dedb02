//! Loads: forces besides gravity.

use std::fmt::Display;

use nalgebra::Vector3;

use super::super::diagnostic::Log;
use super::super::document::Value;
use super::super::fields::{self, names};
use super::super::model::{LoadKind, SceneLoad};
use super::super::reader::{self, Fields};
use super::names::{Names, counted, name};

const EXPECTED: &str = "such as { force = { body = \"ball\", vector = [0, 0, 1] } }, { torque = { body = \"ball\", vector = [0, 0, 1] } } \
     or { spring = { bodies = [\"ball\"], points = [[0, 0, 1], [0, 0, 2]], stiffness = 100 } }";

pub(super) fn load(value: &Value, path: &str, all: &Names<'_>, log: &mut Log<'_>) -> Option<SceneLoad> {
    let hint = |key: &str| match key {
        "force" | "torque" | "spring" => Some("it inside `kind = { … }`"),
        "body" | "bodies" | "vector" | "point" | "points" | "stiffness" | "length" | "damping" => {
            Some("it inside the kind, `kind = { … = { … } }`")
        }
        _ => None,
    };
    let table = Fields::of(value, &path, &names(&fields::LOAD), hint, log)?;
    let name = table.need("name", "a name of its own", log, name);
    let kind = table.need("kind", EXPECTED, log, |value, path, log| kind(value, path, all, log));
    Some(SceneLoad { name: name?, kind: kind? })
}

fn kind(value: &Value, path: &dyn Display, all: &Names<'_>, log: &mut Log<'_>) -> Option<LoadKind> {
    let known = names(&fields::LOAD_KIND);
    let table = Fields::of(value, path, &known, |_| None, log)?;
    let (kind, value) = table.one_of(&known, EXPECTED, log)?;
    let path = table.path(kind);
    let body = |value: &Value, path: &dyn Display, log: &mut Log<'_>| all.body(value, path, log);
    let (a_body, a_vector) = ("the name of a body", "a vector [x, y, z]");
    match kind {
        "force" => {
            let table = Fields::of(value, &path, &names(&fields::FORCE), |_| None, log)?;
            let body = table.need("body", a_body, log, body);
            let vector = table.need("vector", a_vector, log, reader::vector);
            let point =
                table.or("point", None, log, |value, path, log| reader::vector(value, path, log).map(Some));
            Some(LoadKind::Force { body: body?, vector: vector?, point: point? })
        }
        "torque" => {
            let table = Fields::of(value, &path, &names(&fields::TORQUE), |_| None, log)?;
            let body = table.need("body", a_body, log, body);
            let vector = table.need("vector", a_vector, log, reader::vector);
            Some(LoadKind::Torque { body: body?, vector: vector? })
        }
        _ => spring(value, &path, all, log),
    }
}

fn spring(value: &Value, path: &str, all: &Names<'_>, log: &mut Log<'_>) -> Option<LoadKind> {
    let table = Fields::of(value, &path, &names(&fields::SPRING), |_| None, log)?;
    let expected = "the name of one body, tied to the ground, or of two";
    let bodies = table.need("bodies", expected, log, |value, path, log| {
        let values = reader::list(value, path, expected, log)?;
        if !matches!(values.len(), 1 | 2) {
            log.report(value.span.clone(), path, counted(values.len()), expected);
            return None;
        }
        let read = |(i, value)| all.body(value, &format_args!("{path}[{i}]"), log);
        let bodies: Vec<usize> = values.iter().enumerate().filter_map(read).collect();
        (bodies.len() == values.len()).then_some([bodies.first().copied(), bodies.get(1).copied()])
    });
    let expected = "two points [[x, y, z], [x, y, z]], where it ends at the start";
    let points = table.need("points", expected, log, |value, path, log| {
        let values = reader::list(value, path, expected, log)?;
        let [one, two] = values else {
            log.report(value.span.clone(), path, counted(values.len()), expected);
            return None;
        };
        let one = reader::vector(one, &format_args!("{path}[0]"), log);
        let two = reader::vector(two, &format_args!("{path}[1]"), log);
        Some([one?, two?])
    });
    let stiffness = table.need("stiffness", "a number, at least 0", log, reader::not_negative);
    let length =
        table.or("length", None, log, |value, path, log| reader::not_negative(value, path, log).map(Some));
    let damping = table.or("damping", 0.0, log, reader::not_negative);
    let (bodies, points, length): (_, [Vector3<f64>; 2], _) = (bodies?, points?, length?);
    let (stiffness, damping) = (stiffness?, damping?);
    Some(LoadKind::Spring { bodies, points, stiffness, length, damping })
}
