//! Whether a scene can be run, and what is wrong with it where it cannot, in words and with places.

use std::collections::HashSet;

use carom::contact::feature::{MOST_EDGES, numbers};
use carom::fill::{self, Unplaced};
use carom::joint::Kind as JointKind;
use carom::run::InvalidStart;
use carom::scene::Diagnostic;
use carom::scene::model::{Scene, Start};
use carom::shape::Shape;

use super::notes::obstacle_in_words;
use crate::overlap::{self, Overlap};
use crate::rolling::off_plane;
use crate::words::number;
use crate::{InputError, Subject};

/// The most samples of each body: more would not end in anybody's time.
const MOST_SAMPLES: f64 = 1e9;

/// Balls that are grown at random jam at about this packing fraction.
const RANDOM: f64 = 0.64;

/// Checks that a scene can be run.
pub fn check(subject: &Subject) -> Result<(), InputError> {
    let (scene, source) = (&subject.scene, subject.source());
    let mut diagnostics = Vec::new();
    for (k, _) in
        scene.joints.iter().enumerate().filter(|(_, joint)| matches!(joint.kind, JointKind::Rows(_)))
    {
        let message = "holds at this instant only: rows do not say how they move with the bodies";
        let expected = "a hinge, ball, slider, weld, rolling or knife_edge, or `carom solve` for the instant";
        diagnostics.push(source.explain(&format!("joint[{k}].kind"), message, expected));
    }
    if scene.run.sample > 0.0 && scene.run.until / scene.run.sample > MOST_SAMPLES {
        let message = format!("makes more than {MOST_SAMPLES:.0e} samples until {}", scene.run.until);
        diagnostics.push(source.explain("run.sample", &message, "a longer interval, or 0 for events only"));
    }
    let flats = |shape: &Shape| shape.has_flats();
    let fills = scene.fills.iter().map(|fill| &fill.shape).enumerate();
    for (k, _) in fills.filter(|(_, shape)| flats(shape)) {
        let message = "has flats or edges, which fills cannot place yet";
        let expected = "a sphere, an ellipsoid or a superellipsoid, or bodies placed one by one";
        diagnostics.push(source.explain(&format!("fill[{k}].shape"), message, expected));
    }
    for (k, body) in scene.bodies.iter().enumerate() {
        if flats(&body.body.shape) && numbers(&body.body.shape).supporting.is_empty() {
            let message = "has flats or edges that runs cannot follow yet";
            let expected =
                format!("a polyhedron of at most {MOST_EDGES} edges, or `carom toi` for the first contacts");
            diagnostics.push(source.explain(&format!("body[{k}].shape"), message, &expected));
        }
    }
    for (k, joint) in scene.joints.iter().enumerate() {
        let rolls = matches!(joint.kind, JointKind::Rolling { .. });
        if rolls && joint.bodies.iter().any(|&body| flats(&scene.bodies[body].body.shape)) {
            let message = "rolls a body that has flats or edges, whose contact is more than one point";
            let expected = "no joint, and a surface of kind \"rough\": the body then rolls while it touches";
            diagnostics.push(source.explain(&format!("joint[{k}].kind"), message, expected));
        }
    }
    if diagnostics.is_empty() { Ok(()) } else { Err(subject.input.error(diagnostics)) }
}

/// What has no effect in a run.
pub fn warnings(subject: &Subject) -> Vec<Diagnostic> {
    if subject.scene.contacts.is_empty() {
        return Vec::new();
    }
    let message = "has no effect here: a run finds its contacts itself";
    let expected = "`carom solve` to use it, or `[surface]` to say how contacts respond";
    vec![subject.source().explain("contact[0]", message, expected)]
}

/// The error of fills that cannot be placed.
pub fn unplaced(subject: &Subject, unplaced: Unplaced) -> InputError {
    let (scene, source) = (&subject.scene, subject.source());
    let packing = || match scene.fills.iter().position(|fill| fill.packing_fraction.is_some()) {
        Some(fill) => format!("fill[{fill}].packing_fraction"),
        None => "fill[0].count".to_string(),
    };
    let diagnostic = match unplaced {
        Unplaced::Open { axis } => {
            let message =
                format!("is open along {}, and no two planes bound the fill there", ["x", "y", "z"][axis]);
            source.explain("world.periodic", &message, "a length, or planes on both sides along that axis")
        }
        Unplaced::BoxTooShort { fill, least } => {
            let message = "is too large for the periodic box: a body could touch its own image";
            // Without a box of its own the scene's is as large as its bodies make it.
            let more = if scene.periodic.is_none() { "more bodies, or " } else { "" };
            let expected = format!("{more}a box longer than {} along every axis", number(least));
            source.explain(&format!("fill[{fill}].shape"), message, &expected)
        }
        Unplaced::Crowded { reached, wanted } => {
            let message = format!(
                "no lattice has room for a packing fraction of {}: the best reaches {}",
                number(wanted),
                number(reached)
            );
            let mut expected = "a lower density".to_string();
            if wanted < RANDOM {
                expected += ", or `start = \"random\"`";
            } else if are_equal_balls(scene) && wanted > DENSEST {
                expected += &format!(": no packing of equal balls is denser than {DENSEST:.4}");
            } else if let Some([fewer, more]) = full_lattices(scene, wanted) {
                expected += &format!(
                    ", or a count that fills a face-centred lattice, 4 n³: {fewer} or {more} bodies"
                );
            }
            source.explain(&packing(), &message, &expected)
        }
        Unplaced::Jammed { reached, wanted } => {
            let message = format!(
                "the bodies jam at a packing fraction of {}, before they reach {}",
                number(reached),
                number(wanted)
            );
            let expected = match (has_lattice(scene), full_lattices(scene, wanted)) {
                (true, _) => "a lower density, or `start = \"lattice\"`".to_string(),
                (false, Some([fewer, more])) => format!(
                    "a lower density, or `start = \"lattice\"` with {fewer} or {more} bodies, which fill a face-centred lattice"
                ),
                (false, None) if are_equal_balls(scene) && wanted > DENSEST => {
                    format!("a lower density: no packing of equal balls is denser than {DENSEST:.4}")
                }
                (false, None) => "a lower density: no lattice has room for it either".to_string(),
            };
            source.explain(&packing(), &message, &expected)
        }
        Unplaced::Failed => {
            let message = "the motion of the bodies while they were placed could not be followed";
            source.explain("fill[0]", message, "another seed, or a lower density")
        }
        Unplaced::Interrupted => {
            let message = "was interrupted while its bodies were placed: nothing was run";
            source.explain("fill[0]", message, "time to place them")
        }
    };
    subject.input.error(vec![diagnostic])
}

/// π/√18: no packing of equal balls is denser (Hales 2005).
const DENSEST: f64 = 0.740_480_489_693_061;

fn are_equal_balls(scene: &Scene) -> bool {
    let mut shapes = scene.fills.iter().map(|fill| fill.shape);
    let first = shapes.next();
    matches!(first, Some(Shape::Sphere { .. })) && shapes.all(|shape| Some(shape) == first)
}

/// The numbers of equal balls next to the one asked for that fill a face-centred lattice in a cube, where that would have room.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at most 1e8 bodies, and not negative"
)]
#[expect(clippy::cast_precision_loss, reason = "at most 1e8 bodies")]
fn full_lattices(scene: &Scene, wanted: f64) -> Option<[usize; 2]> {
    let alone = scene.bodies.is_empty() && scene.planes.is_empty() && scene.periodic.is_none();
    if !(alone && are_equal_balls(scene) && wanted < DENSEST * (1.0 - 1e-8)) {
        return None;
    }
    let count: usize = scene.fills.iter().map(|fill| fill.count).sum();
    let cells = (count as f64 / 4.0).cbrt().floor().max(1.0) as usize;
    Some([cells, cells + 1].map(|n| 4 * n * n * n))
}

/// Whether the fills would have room on a lattice.
fn has_lattice(scene: &Scene) -> bool {
    let mut scene = scene.clone();
    for fill in &mut scene.fills {
        (fill.start, fill.equilibrate) = (Start::Lattice, Some(0.0));
    }
    fill::place(&scene, &mut |_| true).is_ok()
}

/// The error of bodies and joints that make the initial states invalid.
pub fn invalid_start(subject: &Subject, unfit: &[InvalidStart]) -> InputError {
    let (scene, source) = (&subject.scene, subject.source());
    let place = |body: usize| overlap::place(scene, body);
    let overlaps = unfit.iter().filter_map(|unfit| match *unfit {
        InvalidStart::Overlap { first, second, depth } => Some(Overlap { first, second, depth }),
        _ => None,
    });
    let overlaps = overlap::explain(&source, scene, overlaps);
    let say = |unfit: &InvalidStart| {
        Some(match unfit {
            InvalidStart::BoxTooShort { body } => {
                let radius = scene.bodies[*body].body.shape.circumradius();
                let message = "is too large for the periodic box: it could touch its own image";
                let expected = format!("`world.periodic` lengths above {}", number(2.0 * radius));
                source.explain(&place(*body), message, &expected)
            }
            // Said below, all at once.
            InvalidStart::Overlap { .. } => return None,
            InvalidStart::OffPlane { joint, gap } => off_plane(&source, scene, *joint, *gap),
            InvalidStart::OffJoint { joint, velocity } => {
                let message = format!("forbids a velocity of {} that its bodies have", number(*velocity));
                let expected =
                    "velocities that the joint allows, or the option `project` to take the nearest";
                source.explain(&format!("joint[{joint}]"), &message, expected)
            }
            InvalidStart::Instant { joint } => {
                let message = "holds at this instant only: rows do not say how they move with the bodies";
                source.explain(&format!("joint[{joint}].kind"), message, "a joint that moves with its bodies")
            }
            InvalidStart::Constrained { body, obstacle } => {
                let message = format!("cannot move from here: {}", obstacle_in_words(*obstacle));
                source.explain(&format!("body[{body}]"), &message, "joints that some motion can keep")
            }
            InvalidStart::Motion { body } => {
                let message = "moves beyond the range of 64-bit floats";
                source.explain(&place(*body), message, "a motion that can be computed")
            }
        })
    };
    // What is wrong with one body of a fill is mostly wrong with all of them.
    let mut told = HashSet::new();
    let said = unfit.iter().filter_map(say).chain(overlaps);
    subject.input.error(said.filter(|said| told.insert((said.field.clone(), said.message.clone()))).collect())
}
