//! Signed distance, closest points and normal of every pair of a scene, now or after free flight.

use carom::contact::Side;
use carom::gap::{Gap, gap, gap_to_plane};
use carom::motion::Flight;
use carom::scene::instant::name;
use carom::scene::model::Scene;
use carom::shape::Shape;
use carom::toi::periodic::Periodic;
use nalgebra::Vector3;
use serde::Serialize;

use crate::options::TIME;
use crate::{Refusal, Subject};

/// The gaps of a scene.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// The scene's title.
    pub title: Option<String>,
    /// The time of free flight.
    pub time: f64,
    /// Every pair that has a gap.
    pub pairs: Vec<Pair>,
}

/// One pair.
#[derive(Debug, Clone, Serialize)]
pub struct Pair {
    /// The names, a plane first.
    pub bodies: [String; 2],
    /// Distance, or minus the depth.
    pub gap: f64,
    /// From the first to the second.
    pub normal: [f64; 3],
    /// On the first and on the second.
    pub points: [[f64; 3]; 2],
    /// In a periodic box, the displacement of the second body that is nearest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<[f64; 3]>,
    /// Steps of the search.
    pub iterations: u32,
}

/// Measures every pair after free flight to a time, through one another; negative: back.
pub fn answer(subject: &Subject, at: f64) -> Result<Answer, Refusal> {
    let scene = &subject.scene;
    TIME.check("at", at)?;
    if at != 0.0 && !scene.joints.is_empty() {
        let message = "joints keep bodies from flying freely";
        return Err(Refusal::of_option(Some("at"), message, Some("0 for a scene with joints")));
    }
    let pairs = pairs(scene, at).map_err(|message| {
        subject.refuse_at("world.periodic", &message, "lengths of the order of the bodies")
    })?;
    if let Some(pair) = pairs.iter().find(|pair| !pair.gap.is_finite()) {
        let [first, second] = &pair.bodies;
        let message = format!("the gap of `{first}` and `{second}` is beyond the range of 64-bit floats");
        return Err(subject.refuse_at("body[0]", &message, "a motion that can be computed"));
    }
    Ok(Answer { title: scene.title.clone(), time: at, pairs })
}

/// Every pair that has a gap, or what is wrong with the box.
fn pairs(scene: &Scene, t: f64) -> Result<Vec<Pair>, String> {
    let poses: Vec<_> =
        scene.bodies.iter().map(|b| Flight::new(&b.body, &b.state, &scene.gravity).at(t).pose()).collect();
    let periodic = scene.periodic.map(|lengths| Periodic { lengths });
    let mut pairs = Vec::new();
    let mut push = |sides: [Side; 2], found: Gap, points: [Vector3<f64>; 2], image: Option<Vector3<f64>>| {
        pairs.push(Pair {
            bodies: sides.map(|side| name(scene, side).to_string()),
            gap: found.gap,
            normal: found.normal.into(),
            points: points.map(Into::into),
            image: image.map(Into::into),
            iterations: found.iterations,
        });
    };
    for (i, first) in scene.bodies.iter().enumerate().filter(|(_, b)| b.body.shape != Shape::Point) {
        let one = (&first.body.shape, &poses[i]);
        if !first.body.fixed {
            for (k, plane) in scene.planes.iter().enumerate() {
                let found = gap_to_plane(one.0, one.1, &plane.half_space);
                let [on_body, on_plane] = found.points;
                push([Side::Plane(k), Side::Body(i)], found, [on_plane, on_body], None);
            }
        }
        for (j, second) in scene.bodies.iter().enumerate().skip(i) {
            if second.body.shape == Shape::Point || (first.body.fixed && second.body.fixed) {
                continue;
            }
            let sides = [Side::Body(i), Side::Body(j)];
            let two = (&second.body.shape, &poses[j]);
            let Some(periodic) = periodic else {
                if i != j
                    && let Some(found) = gap(one, two)
                {
                    push(sides, found, found.points, None);
                }
                continue;
            };
            // A body shorter than the box never meets itself.
            if i == j && !periodic.is_spanned_by(one.0) {
                continue;
            }
            let nearest = if i == j { periodic.nearest_own(one) } else { periodic.nearest(one, two) };
            let Some((found, image)) = nearest else {
                return Err(format!("is too small for `{}` and `{}`", first.name, second.name));
            };
            push(sides, found, found.points, Some(image));
        }
    }
    Ok(pairs)
}
