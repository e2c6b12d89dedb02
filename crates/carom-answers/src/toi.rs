//! The first time of impact of every pair of a scene in free flight, with its error bound.

use carom::contact::Side;
use carom::contact::classify::{Tolerances, classify};
use carom::contact::kinematics::{self, Facing, kinematics};
use carom::contact::moment::{Sizes, moment};
use carom::gap::{Gap, gap, gap_to_plane};
use carom::motion::{Derivatives, Flight};
use carom::pairs::{Other, Query, first_contacts};
use carom::scene::instant::name;
use carom::scene::model::Scene;
use carom::shape::Shape;
use carom::toi::periodic::Periodic;
use carom::toi::{Contact, Meeting, Moving, Search, Touch, Window};
use nalgebra::Vector3;
use serde::Serialize;

use crate::options::END;
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
    let (pairs, overlaps) = pairs(scene, until);
    if !overlaps.is_empty() {
        let source = subject.source();
        let say = |(body, message): &(usize, String)| {
            let expected = "bodies apart, in a motion that can be computed";
            source.explain(&format!("body[{body}]"), message, expected)
        };
        return Err(subject.input.refuse(overlaps.iter().map(say).collect()));
    }
    Ok(Answer { title: scene.title.clone(), until, pairs })
}

/// Every pair that can meet, and those that overlap already or cannot be followed: the second body's number and what
/// to say.
fn pairs(scene: &Scene, until: f64) -> (Vec<Pair>, Vec<(usize, String)>) {
    let flights: Vec<Flight> =
        scene.bodies.iter().map(|b| Flight::new(&b.body, &b.state, &scene.gravity)).collect();
    let flying = Flying { scene, flights: &flights };
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
    let (mut pairs, mut refused) = (Vec::new(), Vec::new());
    for ((first, second), found) in sides.into_iter().zip(first_contacts(&queries)) {
        let bodies = [first, Side::Body(second)].map(|side| name(scene, side).to_string());
        match said_of(&bodies, &found) {
            Some(message) => refused.push((second, message)),
            None => {
                let image = periodic.filter(|_| matches!(first, Side::Body(_))).map(|_| found.image.into());
                pairs.push(pair(&flying, first, second, &found, image));
            }
        }
    }
    (pairs, refused)
}

/// What is wrong with a pair that has no first contact in any sense.
fn said_of([first, second]: &[String; 2], found: &Search) -> Option<String> {
    let image = if found.image == Vector3::zeros() {
        ""
    } else if first == second {
        "its own image "
    } else {
        "an image of "
    };
    match found.meeting {
        Meeting::At(_) | Meeting::Apart => None,
        Meeting::Undecided(t) => Some(format!(
            "`{first}` and `{second}` could not be followed beyond t = {}: their motion is too fast, or its magnitudes too far apart",
            number(t)
        )),
        Meeting::Overlapping(depth) if first == second => {
            Some(format!("`{second}` overlaps {image}by {}", number(depth)))
        }
        Meeting::Overlapping(depth) => {
            Some(format!("`{second}` overlaps {image}`{first}` by {}", number(depth)))
        }
    }
}

/// One pair's answer. A touch without approach is known better by its velocities than by its gap.
fn pair(flying: &Flying, first: Side, second: usize, found: &Search, image: Option<[f64; 3]>) -> Pair {
    let bodies = [first, Side::Body(second)].map(|side| name(flying.scene, side).to_string());
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
    let mut kind = "normal";
    if contact.touch != Touch::Approaching {
        let touch = flying.touch(first, second, &found.image, &contact);
        (contact, kind) = touch.unwrap_or((contact, "degenerate"));
    }
    pair.time = Some(contact.time);
    pair.time_error = Some(contact.time_error);
    pair.gap = Some(contact.gap);
    pair.normal = Some(contact.normal.into());
    pair.point = Some(contact.point.into());
    pair.approach = Some(contact.approach);
    pair.kind = Some(kind);
    pair.image = image;
    pair
}

/// A scene's bodies in flight.
struct Flying<'a> {
    scene: &'a Scene,
    flights: &'a [Flight],
}

impl Flying<'_> {
    /// The two sides at a time, with the second displaced, and their gap.
    fn at<T>(
        &self,
        first: Side,
        second: usize,
        image: &Vector3<f64>,
        t: f64,
        ask: impl FnOnce(&Facing, &kinematics::Moving, &Gap) -> T,
    ) -> Option<T> {
        let moving = |body: usize, shift: Vector3<f64>| {
            let constants = &self.scene.bodies[body].body;
            let mut state = self.flights[body].at(t);
            state.position += shift;
            let derivatives = Derivatives::new(constants, &state, &self.scene.gravity);
            kinematics::Moving { shape: &constants.shape, state, derivatives }
        };
        let two = moving(second, *image);
        let (facing, found) = match first {
            Side::Plane(k) => {
                let plane = &self.scene.planes[k].half_space;
                (Facing::Plane(plane), gap_to_plane(two.shape, &two.state.pose(), plane))
            }
            Side::Body(body) => {
                let one = moving(body, Vector3::zeros());
                let found = gap((one.shape, &one.state.pose()), (two.shape, &two.state.pose()))?;
                (Facing::Body(one), found)
            }
        };
        Some(ask(&facing, &two, &found))
    }

    /// The time and the type of a touch without approach.
    fn touch(
        &self,
        first: Side,
        second: usize,
        image: &Vector3<f64>,
        contact: &Contact,
    ) -> Option<(Contact, &'static str)> {
        let look = |t: f64| self.at(first, second, image, t, kinematics);
        let scales = self.at(first, second, image, contact.time, |one, two, found| {
            classify(one, two, found, Tolerances::default()).scales
        })?;
        let sizes = Sizes { length: scales.length, speed: scales.speed };
        let none = Tolerances::default().rates * scales.speed;
        let (time, time_error) = moment(look, contact.time, contact.time_error, sizes, |_| none);
        // The search began at zero.
        let time = time.max(0.0);
        let class = self.at(first, second, image, time, |one, two, found| {
            classify(one, two, found, Tolerances::default())
        })?;
        let k = class.kinematics;
        let point = match first {
            Side::Plane(_) => k.points[1],
            Side::Body(_) => (k.points[0] + k.points[1]) * 0.5,
        };
        let sharper =
            Contact { time, time_error, gap: k.gap, normal: k.normal, point, approach: k.v, ..*contact };
        Some((sharper, class.kind.name()))
    }
}
