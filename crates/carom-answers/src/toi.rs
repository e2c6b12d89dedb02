//! The first time of impact of every pair of a scene in free flight, with its error bound.

use carom::contact::Side;
use carom::contact::classify::Type;
use carom::motion::Flight;
use carom::pairs::{Other, Query, first_contacts};
use carom::scene::instant::name;
use carom::scene::model::Scene;
use carom::shape::Shape;
use carom::toi::periodic::Periodic;
use carom::toi::{Meeting, Moving, Search, Touch, Window};
use nalgebra::Vector3;
use serde::Serialize;

use crate::options::END;
use crate::overlap::{self, Overlap};
use crate::touch::{self, First, Flying};
use crate::words::number;
use crate::{Refusal, Subject};

/// The first contacts of a scene.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// The scene's title.
    pub title: Option<String>,
    /// The time looked until.
    pub until: f64,
    /// Every pair that can meet.
    pub pairs: Vec<Pair>,
}

/// One pair.
#[derive(Debug, Clone, Serialize)]
pub struct Pair {
    /// The names, a plane first.
    pub bodies: [String; 2],
    /// The first time of impact; none when they do not meet.
    pub time: Option<f64>,
    /// A bound on its error.
    pub time_error: Option<f64>,
    /// The gap left at that time.
    pub gap: Option<f64>,
    /// From the first to the second.
    pub normal: Option<[f64; 3]>,
    /// Where they touch.
    pub point: Option<[f64; 3]>,
    /// Normal relative velocity; negative: closing.
    pub approach: Option<f64>,
    /// As `classify` names it: `normal` where they approach; none when they do not meet.
    #[serde(rename = "type")]
    pub kind: Option<&'static str>,
    /// In a periodic box, the displacement of the second body that is met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<[f64; 3]>,
    /// How often the gap was evaluated.
    pub evaluations: u32,
}

/// Follows every pair until a time, by default the scene's `run.until`.
pub fn answer(subject: &Subject, until: Option<f64>) -> Result<Answer, Refusal> {
    let scene = &subject.scene;
    END.check_some("until", until)?;
    if !scene.joints.is_empty() {
        return Err(subject.refuse_at(
            "joint[0]",
            "keeps bodies from flying freely",
            "a scene without joints",
        ));
    }
    let until = until.unwrap_or(scene.run.until);
    let found = Found::of(scene, until);
    if !found.overlaps.is_empty() || !found.lost.is_empty() {
        let source = subject.source();
        let mut diagnostics = overlap::explain(&source, scene, found.overlaps);
        diagnostics.extend(found.lost.iter().map(|(body, message)| {
            source.explain(&format!("body[{body}]"), message, "a motion that can be computed")
        }));
        return Err(subject.input.refuse(diagnostics));
    }
    Ok(Answer { title: scene.title.clone(), until, pairs: found.pairs })
}

/// What came of every pair that can meet.
#[derive(Default)]
struct Found {
    pairs: Vec<Pair>,
    /// Those that overlap already.
    overlaps: Vec<Overlap>,
    /// Those that cannot be followed: the second body's number and what to say.
    lost: Vec<(usize, String)>,
}

impl Found {
    /// Follows them.
    fn of(scene: &Scene, until: f64) -> Self {
        let flights: Vec<Flight> =
            scene.bodies.iter().map(|b| Flight::new(&b.body, &b.state, &scene.gravity)).collect();
        let moving = |i: usize| Moving::new(&scene.bodies[i].body.shape, &flights[i]);
        let periodic = scene.periodic.map(|lengths| Periodic { lengths });
        let (mut sides, mut queries) = (Vec::new(), Vec::new());
        let mut ask = |first: Side, second: usize, body: usize, other| {
            sides.push((first, second));
            queries.push(Query { first: moving(body), other, window: Window::new(0.0, until) });
        };
        let solid = |i: usize| scene.bodies[i].body.shape != Shape::Point;
        for i in (0..scene.bodies.len()).filter(|&i| solid(i)) {
            let fixed = scene.bodies[i].body.fixed;
            if !fixed {
                for (k, plane) in scene.planes.iter().enumerate() {
                    ask(Side::Plane(k), i, i, Other::Plane(&plane.half_space));
                }
                // A body shorter than the box never meets itself.
                if let Some(periodic) =
                    periodic.filter(|periodic| periodic.is_spanned_by(&scene.bodies[i].body.shape))
                {
                    ask(Side::Body(i), i, i, Other::OwnImages(periodic));
                }
            }
            for j in (i + 1..scene.bodies.len()).filter(|&j| solid(j)) {
                if !(fixed && scene.bodies[j].body.fixed) {
                    let other = match periodic {
                        Some(periodic) => Other::Images(moving(j), periodic),
                        None => Other::Body(moving(j)),
                    };
                    ask(Side::Body(i), j, i, other);
                }
            }
        }
        let mut all = Self::default();
        for ((first, second), found) in sides.into_iter().zip(first_contacts(&queries)) {
            match found.meeting {
                Meeting::At(_) | Meeting::Apart => {
                    let touch = touch_of(scene, &flights, (first, second), found.image);
                    let image =
                        periodic.filter(|_| matches!(first, Side::Body(_))).map(|_| found.image.into());
                    let bodies = [first, Side::Body(second)].map(|side| name(scene, side).to_string());
                    all.pairs.push(pair(bodies, &touch, &found, image));
                }
                Meeting::Overlapping(depth) => all.overlaps.push(Overlap { first, second, depth }),
                Meeting::Undecided(t) => {
                    let [one, two] = [first, Side::Body(second)].map(|side| name(scene, side));
                    all.lost.push((second, format!(
                    "`{one}` and `{two}` could not be followed beyond t = {}: their motion is too fast, or its magnitudes too far apart",
                    number(t)
                )));
                }
            }
        }
        all
    }
}

/// A pair, as its flight leads it to a touch.
fn touch_of<'a>(
    scene: &'a Scene,
    flights: &'a [Flight],
    (first, second): (Side, usize),
    image: Vector3<f64>,
) -> touch::Pair<'a> {
    let flying = |i: usize| Flying { body: &scene.bodies[i].body, flight: &flights[i] };
    let first = match first {
        Side::Plane(k) => First::Plane(&scene.planes[k].half_space),
        Side::Body(i) => First::Body(flying(i)),
    };
    touch::Pair { first, second: flying(second), gravity: scene.gravity, image }
}

/// One pair's answer. A touch without approach is known better by its velocities than by its gap.
fn pair(bodies: [String; 2], touch: &touch::Pair, found: &Search, image: Option<[f64; 3]>) -> Pair {
    let mut pair = Pair {
        bodies,
        time: None,
        time_error: None,
        gap: None,
        normal: None,
        point: None,
        approach: None,
        kind: None,
        image: None,
        evaluations: found.evaluations,
    };
    let Meeting::At(mut contact) = found.meeting else { return pair };
    let mut kind = Type::Normal;
    if contact.touch != Touch::Approaching {
        (contact, kind) = touch.sharpened(&contact).unwrap_or((contact, Type::Degenerate));
    }
    pair.time = Some(contact.time);
    pair.time_error = Some(contact.time_error);
    pair.gap = Some(contact.gap);
    pair.normal = Some(contact.normal.into());
    pair.point = Some(contact.point.into());
    pair.approach = Some(contact.approach);
    pair.kind = Some(kind.name());
    pair.image = image;
    pair
}
