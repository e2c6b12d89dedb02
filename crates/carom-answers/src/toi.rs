//! The first time of impact of every pair of a scene in free flight, with its error bound.

use carom::contact::Side;
use carom::contact::classify::Type;
use carom::motion::Flight;
use carom::pairs::{Other, Query, first_contacts};
use carom::scene::instant::name;
use carom::scene::model::Scene;
use carom::shape::Shape;
use carom::toi::periodic::Periodic;
use carom::toi::{Meeting, Moving, Search, Window};
use nalgebra::Vector3;
use serde::{Serialize, Serializer};

use crate::options::END;
use crate::overlap::{self, Overlap};
use crate::touch::{self, First};
use crate::{InputError, Subject, Verdict};

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
    /// The first time of impact, of a graze that of the least gap; none when they do not meet.
    pub time: Option<f64>,
    /// A bound on its error, by the search and by the rounding of the data.
    pub time_error: Option<f64>,
    /// No contact is before this time: that of the contact, the end of the search, or where it gave up.
    pub searched_until: f64,
    /// Whether the search gave up before it came to a contact or to its end.
    pub undecided: bool,
    /// The gap left at that time.
    pub gap: Option<f64>,
    /// From the first to the second.
    pub normal: Option<[f64; 3]>,
    /// Where they touch.
    pub point: Option<[f64; 3]>,
    /// Normal relative velocity; negative: closing.
    pub approach: Option<f64>,
    /// As `classify` tells it: `normal` where they approach; `None` if they do not meet.
    #[serde(rename = "type", serialize_with = "name_of")]
    pub kind: Option<Type>,
    /// Of a graze: the time before which the gap is above zero by more than its rounding and that of the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_zero: Option<f64>,
    /// Of a graze: when the gap is least, and how large it is then, which may be below zero by rounding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<Minimum>,
    /// In a periodic box, the displacement of the second body that is met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<[f64; 3]>,
    /// How often the gap was evaluated.
    pub evaluations: u32,
}

/// A type by its name.
#[expect(clippy::ref_option, reason = "serde gives a reference to the field")]
fn name_of<S: Serializer>(kind: &Option<Type>, serializer: S) -> Result<S::Ok, S::Error> {
    kind.map(Type::name).serialize(serializer)
}

/// The least gap of a graze.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Minimum {
    /// When.
    pub time: f64,
    /// How large.
    pub gap: f64,
}

impl Answer {
    /// Whether there is an answer for every pair.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        if self.pairs.iter().any(|pair| pair.undecided) { Verdict::NoAnswer } else { Verdict::Done }
    }
}

/// Follows every pair until a time, by default the scene's `run.until`.
pub fn answer(subject: &Subject, until: Option<f64>) -> Result<Answer, InputError> {
    let scene = &subject.scene;
    END.check_some("until", until)?;
    if !scene.joints.is_empty() {
        return Err(subject.error_at(
            "joint[0]",
            "keeps bodies from flying freely",
            "a scene without joints",
        ));
    }
    let until = until.unwrap_or(scene.run.until);
    let found = Found::of(scene, until);
    if !found.overlaps.is_empty() {
        return Err(subject.input.error(overlap::explain(&subject.source(), scene, found.overlaps)));
    }
    Ok(Answer { title: scene.title.clone(), until, pairs: found.pairs })
}

/// What came of every pair that can meet.
#[derive(Default)]
struct Found {
    pairs: Vec<Pair>,
    /// Those that overlap already.
    overlaps: Vec<Overlap>,
}

impl Found {
    /// Follows them.
    fn of(scene: &Scene, until: f64) -> Self {
        let flights: Vec<Flight> = scene.bodies.iter().map(|b| b.flight(&scene.gravity)).collect();
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
            if let Meeting::Overlapping(depth) = found.meeting {
                all.overlaps.push(Overlap { first, second, depth });
                continue;
            }
            let touch = touch_of(scene, &flights, (first, second), found.image);
            let image = periodic.filter(|_| matches!(first, Side::Body(_))).map(|_| found.image.into());
            let bodies = [first, Side::Body(second)].map(|side| name(scene, side).to_string());
            all.pairs.push(pair(bodies, &touch, &found, until, image));
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
    let flying = |i: usize| scene.bodies[i].given(&flights[i]);
    let first = match first {
        Side::Plane(k) => First::Plane(&scene.planes[k].half_space),
        Side::Body(i) => First::Body(flying(i)),
    };
    touch::Pair { first, second: flying(second), gravity: scene.gravity, image }
}

/// One pair's answer.
fn pair(
    bodies: [String; 2],
    touch: &touch::Pair,
    found: &Search,
    until: f64,
    image: Option<[f64; 3]>,
) -> Pair {
    let mut pair = Pair {
        bodies,
        time: None,
        time_error: None,
        searched_until: until,
        undecided: false,
        gap: None,
        normal: None,
        point: None,
        approach: None,
        kind: None,
        first_zero: None,
        minimum: None,
        image: None,
        evaluations: found.evaluations,
    };
    if let Meeting::Undecided(reached) = found.meeting {
        pair.searched_until = reached;
        pair.undecided = true;
    }
    let Meeting::At(contact) = found.meeting else { return pair };
    let touch::Told { contact, kind, first_zero } = touch.told(&contact, until);
    pair.time = Some(contact.time);
    pair.time_error = Some(contact.time_error);
    pair.searched_until = contact.time;
    pair.gap = Some(contact.gap);
    pair.normal = Some(contact.normal.into());
    pair.point = Some(contact.point.into());
    pair.approach = Some(contact.approach);
    pair.kind = Some(kind);
    pair.first_zero = first_zero;
    pair.minimum = first_zero.map(|_| Minimum { time: contact.time, gap: contact.gap });
    pair.image = image;
    pair
}
