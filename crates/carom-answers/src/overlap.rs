//! Bodies that overlap, where no question has an answer but [`crate::gap`]: one place, one measure and one wording,
//! whichever question found them.
//!
//! The place is the position of the second of the two, the plane or the body that stands first in the scene being the
//! first. The depth is that of the gap at the scene's instant, in a periodic box of the deepest image: searches stop at
//! the first overlap that they see.

use carom::contact::Side;
use carom::gap::{gap, gap_to_plane};
use carom::scene::Diagnostic;
use carom::scene::file::Source;
use carom::scene::instant::name;
use carom::scene::model::{Fill, Scene};
use carom::toi::periodic::Periodic;
use nalgebra::Vector3;

use crate::words::number;

/// What would be right.
const EXPECTED: &str = "bodies that touch or are apart";

/// Two that overlap, as somebody found them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overlap {
    /// A plane or a body.
    pub first: Side,
    /// A body.
    pub second: usize,
    /// How deep.
    pub depth: f64,
}

/// What is to be said of those that overlap, each pair once, in the order of the scene.
pub fn explain(source: &Source, scene: &Scene, found: impl IntoIterator<Item = Overlap>) -> Vec<Diagnostic> {
    let mut pairs: Vec<Overlap> = found.into_iter().map(in_order).collect();
    let key = |pair: &Overlap| match pair.first {
        Side::Plane(k) => (pair.second, 0, k),
        Side::Body(k) => (pair.second, 1, k),
    };
    // The deepest of several images first, which is the one that stays.
    pairs.sort_by(|a, b| key(a).cmp(&key(b)).then(b.depth.total_cmp(&a.depth)));
    pairs.dedup_by_key(|pair| key(pair));
    pairs.into_iter().map(|pair| explain_one(source, scene, pair)).collect()
}

fn explain_one(source: &Source, scene: &Scene, pair: Overlap) -> Diagnostic {
    let (depth, image) = measure(scene, pair).unwrap_or((pair.depth, Vector3::zeros()));
    let [first, second] = [pair.first, Side::Body(pair.second)].map(|side| name(scene, side));
    let depth = number(depth);
    if pair.first == Side::Body(pair.second) {
        let message = format!("`{second}` overlaps its own image in the next box by {depth}");
        let expected = "a box in which bodies touch or are apart";
        return source.explain("world.periodic", &message, expected);
    }
    let across = if image == Vector3::zeros() { "" } else { " across the periodic box" };
    let message = format!("`{second}` overlaps `{first}`{across} by {depth}");
    source.explain(&position_of(scene, pair.second), &message, EXPECTED)
}

/// Of two bodies, the one that stands first in the scene is the first.
fn in_order(pair: Overlap) -> Overlap {
    match pair.first {
        Side::Body(first) if first > pair.second => {
            Overlap { first: Side::Body(pair.second), second: first, ..pair }
        }
        _ => pair,
    }
}

/// How deep they overlap at the scene's instant, and by which displacement of the second; `None` if there are too many
/// images to look at.
fn measure(scene: &Scene, pair: Overlap) -> Option<(f64, Vector3<f64>)> {
    let of = |body: usize| (&scene.bodies[body].body.shape, scene.bodies[body].state.pose());
    let (shape, pose) = of(pair.second);
    let (found, image) = match (pair.first, scene.periodic.map(|lengths| Periodic { lengths })) {
        (Side::Plane(k), _) => (gap_to_plane(shape, &pose, &scene.planes[k].half_space), Vector3::zeros()),
        (Side::Body(first), Some(periodic)) if first == pair.second => {
            periodic.nearest_own((shape, &pose))?
        }
        (Side::Body(first), periodic) => {
            let (beside, place) = of(first);
            let (one, two) = ((beside, &place), (shape, &pose));
            match periodic {
                Some(periodic) => periodic.nearest(one, two)?,
                None => (gap(one, two)?, Vector3::zeros()),
            }
        }
    };
    (found.gap < 0.0).then_some((-found.gap, image))
}

/// The entry that says where a body is.
fn position_of(scene: &Scene, body: usize) -> String {
    let place = place(scene, body);
    if place.starts_with("body") { format!("{place}.position") } else { place }
}

/// The entry of a body, or of the fill that it is of: those of fills have names with numbers, `gas[0]`.
pub fn place(scene: &Scene, body: usize) -> String {
    let name = &scene.bodies[body].name;
    let of = |fill: &Fill| name.strip_prefix(&fill.name).is_some_and(|rest| rest.starts_with('['));
    match scene.fills.iter().position(of) {
        Some(fill) => format!("fill[{fill}]"),
        None => format!("body[{body}]"),
    }
}
