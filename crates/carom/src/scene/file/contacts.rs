//! Explicit contacts, and what detected ones get.

use std::collections::BTreeMap;
use std::fmt::Display;

use nalgebra::{Unit, Vector3};

use super::super::diagnostic::Log;
use super::super::document::{Kind, Value};
use super::super::fields::{self, names};
use super::super::model::{SurfacePair, SurfaceRules};
use super::super::reader::{self, Fields};
use super::bodies::UNIT_TOLERANCE;
use super::each;
use super::names::{Names, name};
use crate::contact::{Contact, Side, Surface};
use crate::shape::HalfSpace;

/// The rules of `[surface]`.
pub(super) fn surface(root: &Fields<'_>, all: &Names<'_>, log: &mut Log<'_>) -> Option<SurfaceRules> {
    let default = SurfaceRules::default();
    let Some(value) = root.get("surface") else { return Some(default) };
    let table = Fields::of(value, &"surface", &names(&fields::SURFACE), surface_hint, log)?;
    let restitution = table.or("restitution", default.restitution, log, restitution);
    let kind = table.or("kind", default.kind, log, kind);
    let mut first: BTreeMap<[(bool, usize); 2], usize> = BTreeMap::new();
    let pairs = each(&table, "pair", log, |value, path, log| {
        let table = Fields::of(value, &path, &names(&fields::SURFACE_PAIR), surface_hint, log)?;
        let expected = "the names of two bodies, or of a body and a plane";
        let sides = table.need("bodies", expected, log, |value, path, log| {
            let (sides, _) = all.sides(value, path, log)?;
            let earlier = *first.entry(unordered(sides)).or_insert(value.span.start);
            if earlier != value.span.start {
                let message = format!("names the pair of line {} again", log.line(earlier));
                log.report(value.span.clone(), path, message, "every pair once, in either order");
            }
            Some(sides)
        });
        // Where a default is wrong it has been reported: any will do to go on.
        let restitution = table.or("restitution", restitution.unwrap_or_default(), log, self::restitution);
        let kind = table.or("kind", kind.unwrap_or(Surface::Smooth), log, self::kind);
        Some(SurfacePair { sides: sides?, restitution: restitution?, kind: kind? })
    });
    Some(SurfaceRules { restitution: restitution?, kind: kind?, pairs: super::all(pairs)? })
}

fn surface_hint(key: &str) -> Option<&'static str> {
    match key {
        "friction" | "coulomb" | "mu" => Some("`kind = { coulomb = … }`"),
        "surface" => Some("`kind`"),
        "name" => Some("`bodies`"),
        _ => None,
    }
}

/// The same for a pair in either order.
fn unordered(sides: [Side; 2]) -> [(bool, usize); 2] {
    let mut keys = sides.map(|side| match side {
        Side::Body(number) => (false, number),
        Side::Plane(number) => (true, number),
    });
    keys.sort_unstable();
    keys
}

/// `[[contact]]`. `rules` is `None` if they could not be read.
pub(super) fn contacts(
    root: &Fields<'_>,
    all: &Names<'_>,
    planes: &[Option<HalfSpace>],
    rules: Option<&SurfaceRules>,
    log: &mut Log<'_>,
    warnings: &mut Log<'_>,
) -> Vec<Option<Contact>> {
    let default = SurfaceRules::default();
    let rules = rules.unwrap_or(&default);
    let mut of_pair: BTreeMap<[(bool, usize); 2], usize> = BTreeMap::new();
    each(root, "contact", log, |value, path, log| {
        let hint = |key: &str| match key {
            "friction" | "coulomb" | "mu" => Some("`kind = { coulomb = … }`"),
            _ => None,
        };
        let table = Fields::of(value, &path, &names(&fields::CONTACT), hint, log)?;
        let expected = "the names of two bodies, or of a body and a plane";
        let sides = table.need("bodies", expected, log, |value, path, log| all.sides(value, path, log));
        let named = table.or("name", None, log, |value, path, log| name(value, path, log).map(Some));
        let point = table.need("point", "where they touch, [x, y, z]", log, reader::vector);
        let normal = normal(&table, sides.map(|(sides, _)| sides), planes, log, warnings);
        let (usual_restitution, usual_surface) =
            sides.map_or((rules.restitution, rules.kind), |(sides, _)| rules.of(sides));
        let restitution = table.or("restitution", usual_restitution, log, restitution);
        let surface = match table.at_most_one_of(&["kind", "surface"], log) {
            Some((name, value)) => {
                let path = table.path(name);
                if name == "surface" {
                    let message = "is an older name of `kind`, as `[surface]` has it";
                    warnings.report(value.span.clone(), &path, message, "`kind`");
                }
                kind(value, &path, log)
            }
            None => Some(usual_surface),
        };
        let (sides, [first, second]) = sides?;
        let earlier = of_pair.entry(unordered(sides)).or_default();
        *earlier += 1;
        let name = named?.unwrap_or_else(|| match earlier {
            1 => format!("{first}-{second}"),
            number => format!("{first}-{second} {number}"),
        });
        Some(Contact {
            images: [Vector3::zeros(); 2],
            name,
            sides,
            point: point?,
            normal: normal?,
            restitution: restitution?,
            surface: surface?,
        })
    })
}

/// The normal as given, or the plane's, which the given one must then be up to its sign.
fn normal(
    table: &Fields<'_>,
    sides: Option<[Side; 2]>,
    planes: &[Option<HalfSpace>],
    log: &mut Log<'_>,
    warnings: &mut Log<'_>,
) -> Option<Unit<Vector3<f64>>> {
    let path = table.path("normal");
    let given = table.get("normal").map(|value| (value, reader::direction(value, &path, log)));
    if let Some((value, Some((_, length)))) = given
        && (length - 1.0).abs() > UNIT_TOLERANCE
    {
        let message = format!("has length {length}, and was normalised");
        warnings.report(value.span.clone(), &path, message, "a unit vector");
    }
    let plane = sides?.into_iter().find_map(|side| match side {
        Side::Plane(number) => Some(number),
        Side::Body(_) => None,
    });
    let Some(plane) = plane else {
        let expected = "the unit normal from the first body to the second";
        return table.required("normal", expected, log).and(given?.1).map(|(normal, _)| normal);
    };
    // A plane that is wrong has been reported.
    let own = planes.get(plane).copied().flatten()?.normal;
    match given {
        Some((_, None)) => None,
        Some((value, Some((normal, _)))) if own.cross(&normal).norm() > UNIT_TOLERANCE => {
            let message = "is not the normal of the plane";
            let expected = format!("[{}, {}, {}], or none: it is the plane's", own.x, own.y, own.z);
            log.report(value.span.clone(), &path, message, expected);
            None
        }
        _ => Some(own),
    }
}

fn restitution(value: &Value, path: &dyn Display, log: &mut Log<'_>) -> Option<f64> {
    reader::number_where(value, path, |k| (0.0..=1.0).contains(&k), "between 0 and 1", log)
}

/// How a surface answers.
fn kind(value: &Value, path: &dyn Display, log: &mut Log<'_>) -> Option<Surface> {
    const EXPECTED: &str = "\"smooth\", \"rough\" or { coulomb = 0.3 }";
    match &value.kind {
        Kind::String(name) if name == "coulomb" => {
            log.report(value.span.clone(), path, "lacks its coefficient", "such as { coulomb = 0.3 }");
            None
        }
        Kind::String(_) => {
            let choices = [("smooth", Surface::Smooth), ("rough", Surface::Rough)];
            reader::choice(value, path, &choices, log)
        }
        Kind::Table(_) => {
            let hint = |key: &str| {
                ["smooth", "rough"].contains(&key).then_some("the name alone: \"smooth\" or \"rough\"")
            };
            let table = Fields::of(value, path, &["coulomb"], hint, log)?;
            let coefficient = table.need("coulomb", EXPECTED, log, reader::not_negative)?;
            Some(Surface::Coulomb(coefficient))
        }
        _ => reader::wrong_kind(value, path, EXPECTED, log),
    }
}
