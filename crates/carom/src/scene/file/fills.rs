//! Fills: many bodies of one kind, and the box that they fill.

use nalgebra::Vector3;

use super::super::diagnostic::Log;
use super::super::document::Value;
use super::super::fields::{self, names};
use super::super::meshes::Meshes;
use super::super::model::{Fill, Start};
use super::super::reader::{self, Fields};
use super::each;
use super::names::name;
use super::settings::PeriodicBox;
use super::shapes::{self, Polyhedra, shape};
use crate::hull::Axes;
use crate::shape::Shape;

/// The most bodies of a fill: their states alone would fill the memory of a large machine.
pub(in super::super) const MOST_BODIES: usize = 100_000_000;

/// The most collisions of each body before the run: more would not end in anybody's time.
pub(in super::super) const MOST_COLLISIONS: f64 = 1e6;

/// How far, relatively, a packing fraction may be from that of the box: it is written with a few digits.
const PACKING_SLACK: f64 = 1e-3;

/// `periodic` is `None` if the box could not be read.
pub(super) fn fills(
    root: &Fields<'_>,
    periodic: Option<PeriodicBox>,
    meshes: &Meshes,
    log: &mut Log<'_>,
) -> Vec<Option<Fill>> {
    let fills = each(root, "fill", log, |value, path, log| fill(value, path, meshes, log));
    // The boxes can be compared only where everything about them is known.
    if let Some(periodic) = periodic
        && fills.iter().all(Option::is_some)
        && let Some(tables) = root.get("fill")
    {
        let fills: Vec<(&Fill, &Value)> =
            fills.iter().enumerate().filter_map(|(i, fill)| Some((fill.as_ref()?, tables.at(i)?))).collect();
        check_start(&fills, log);
        match periodic {
            PeriodicBox::Given(lengths) => check_box(&fills, lengths, log),
            PeriodicBox::Absent => check_common_box(&fills, log),
        }
    }
    fills
}

fn fill(value: &Value, path: &str, meshes: &Meshes, log: &mut Log<'_>) -> Option<Fill> {
    let hint = |key: &str| match key {
        "position" | "velocity" | "angular_velocity" | "orientation" => {
            Some("none: the bodies of a fill are placed by `start` and moved by `temperature`")
        }
        "inertia" => Some("none: the bodies of a fill are homogeneous"),
        _ => None,
    };
    let table = Fields::of(value, &path, &names(&fields::FILL), hint, log)?;
    let name = table.need("name", "a name of its own", log, name);
    let expected = "a whole number, at least 1";
    let count = table.need("count", expected, log, |value, path, log| {
        let count = reader::whole(value, path, expected, log)?;
        if !(1..=MOST_BODIES).contains(&count) {
            let message = if count == 0 { "is zero" } else { "is out of range" };
            log.report(value.span.clone(), path, message, format!("from 1 to {MOST_BODIES}"));
            return None;
        }
        Some(count)
    });
    let shape = table.need("shape", shapes::EXPECTED, log, |value, path, log| {
        let shape = shape(value, path, Polyhedra { meshes, axes: Axes::Principal }, log)?;
        if shape == Shape::Point {
            log.report(value.span.clone(), path, "is a point, which fills nothing", "a shape with a volume");
            return None;
        }
        if !(shape.volume() / PACKING_SLACK).is_normal() {
            let message = format!("has a volume of {:e}, which floating point does not hold", shape.volume());
            log.report(
                value.span.clone(),
                path,
                message,
                "other units, in which the bodies are of a size near 1",
            );
            return None;
        }
        Some(shape)
    });
    let mass = shapes::mass(&table, shape.as_ref(), log);
    let packing_fraction = table.or("packing_fraction", None, log, |value, path, log| {
        let inside = |fraction: f64| fraction > 0.0 && fraction < 1.0;
        reader::number_where(value, path, inside, "between 0 and 1, neither of them", log).map(Some)
    });
    let temperature = table.or("temperature", 1.0, log, reader::not_negative);
    let start = table.or("start", Start::Random, log, |value, path, log| {
        reader::choice(value, path, &Start::ALL.map(|start| (start.name(), start)), log)
    });
    let seed = table.or("seed", 0, log, |value, path, log| {
        reader::whole(value, path, "a whole number, at least 0", log)
            .and_then(|seed| u64::try_from(seed).ok())
    });
    let equilibrate = table.or("equilibrate", None, log, |value, path, log| {
        let inside = |collisions: f64| (0.0..=MOST_COLLISIONS).contains(&collisions);
        let expected = format!("collisions of each body, from 0 to {MOST_COLLISIONS:e}");
        reader::number_where(value, path, inside, &expected, log).map(Some)
    });
    Some(Fill {
        name: name?,
        count: count?,
        shape: shape?,
        mass: mass?,
        packing_fraction: packing_fraction?,
        temperature: temperature?,
        start: start?,
        seed: seed?,
        equilibrate: equilibrate?,
    })
}

/// The volume of all bodies of a fill.
#[expect(clippy::cast_precision_loss, reason = "at most 1e8 bodies")]
fn volume(fill: &Fill) -> f64 {
    fill.shape.volume() * fill.count as f64
}

/// The bodies of all fills are placed together.
fn check_start(fills: &[(&Fill, &Value)], log: &mut Log<'_>) {
    let Some(((first, _), others)) = fills.split_first() else { return };
    for (i, (fill, table)) in others.iter().enumerate() {
        if fill.start != first.start {
            let span = table.get("start").map_or(table.span.clone(), |value| value.span.clone());
            let message = format!("is `{}`, but fill[0] starts `{}`", fill.start.name(), first.start.name());
            let expected = "one start for all fills, which are placed together";
            log.report(span, &format_args!("fill[{}].start", i + 1), message, expected);
        }
    }
}

/// A given box must have room, and the packing fractions must be those of the box.
fn check_box(fills: &[(&Fill, &Value)], lengths: Vector3<f64>, log: &mut Log<'_>) {
    let open = lengths.iter().any(|&length| length == 0.0);
    for (i, (fill, table)) in fills.iter().enumerate() {
        let own = volume(fill) / lengths.product();
        let path = format!("fill[{i}]");
        if let Some(given) = fill.packing_fraction
            && let Some(value) = table.get("packing_fraction")
        {
            let path = format!("{path}.packing_fraction");
            if open {
                let message = "is a fraction of a box that is open";
                let expected = "none, or a length other than 0 for every direction of `world.periodic`";
                log.report(value.span.clone(), &path, message, expected);
            } else if (given / own - 1.0).abs() > PACKING_SLACK {
                let message = "is not the fraction of `world.periodic` that these bodies fill";
                log.report(value.span.clone(), &path, message, format!("{own:.6}, or none"));
            }
        } else if !open && own >= 1.0 {
            let message = format!("needs {own:.3} times the volume of `world.periodic`");
            log.report(table.span.clone(), &path, message, "fewer or smaller bodies, or a larger box");
        }
    }
}

/// Without a box the packing fractions make one, the same for all fills.
fn check_common_box(fills: &[(&Fill, &Value)], log: &mut Log<'_>) {
    let boxes = || {
        let volume = |(i, (fill, table)): (usize, &(&Fill, &Value))| {
            Some((i, volume(fill) / fill.packing_fraction?, table.get("packing_fraction")?.span.clone()))
        };
        fills.iter().enumerate().filter_map(volume)
    };
    let Some((first, size, _)) = boxes().next() else {
        if let Some((_, table)) = fills.first() {
            let expected =
                "the fraction of a cubic periodic box that they fill, or a box in `world.periodic`";
            log.report(table.span.clone(), &"fill[0].packing_fraction", "is missing", expected);
        }
        return;
    };
    for (i, other, span) in boxes().skip(1) {
        if (other / size - 1.0).abs() > PACKING_SLACK {
            let message = format!("makes a box of volume {other}, but fill[{first}] one of {size}");
            let expected = "one box for all; give the packing fraction of one fill only";
            log.report(span, &format_args!("fill[{i}].packing_fraction"), message, expected);
        }
    }
}
