//! Signed distance, closest points and normal of every pair of a scene, now or after free flight.

use carom::body::State;
use carom::contact::Side;
use carom::gap::{Gap, gap, gap_to_plane};
use carom::scene::instant::name;
use carom::scene::model::Scene;
use carom::shape::Shape;
use carom::toi::periodic::Periodic;
use nalgebra::{Translation3, Vector3};
use serde::Serialize;

use crate::options::TIME;
use crate::{InputError, Subject};

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
pub fn answer(subject: &Subject, at: f64) -> Result<Answer, InputError> {
    let scene = &subject.scene;
    TIME.check("at", at)?;
    if at != 0.0 && !scene.joints.is_empty() {
        let message = "joints keep bodies from flying freely";
        return Err(InputError::of_option(Some("at"), message, Some("0 for a scene with joints")));
    }
    let pairs = pairs(scene, at).map_err(|message| {
        subject.error_at("world.periodic", &message, "lengths of the order of the bodies")
    })?;
    if let Some(pair) = pairs.iter().find(|pair| !pair.gap.is_finite()) {
        let [first, second] = &pair.bodies;
        let message = format!("the gap of `{first}` and `{second}` is beyond the range of 64-bit floats");
        return Err(subject.error_at("body[0]", &message, "a motion that can be computed"));
    }
    Ok(Answer { title: scene.title.clone(), time: at, pairs })
}

/// Every pair that has a gap, or what is wrong with the box.
fn pairs(scene: &Scene, t: f64) -> Result<Vec<Pair>, String> {
    let poses: Vec<_> = scene.bodies.iter().map(|b| b.flight(&scene.gravity).at(t).pose()).collect();
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

/// The gap of one pair, a plane first, the bodies being where `state` says; in a periodic box that of the images whose
/// centres are nearest. Not a number where the pair has none.
pub fn between(scene: &Scene, sides: [Side; 2], state: impl Fn(usize) -> State) -> f64 {
    let Side::Body(second) = sides[1] else { return f64::NAN };
    let (shape, pose) = (&scene.bodies[second].body.shape, state(second).pose());
    match sides[0] {
        Side::Plane(k) => gap_to_plane(shape, &pose, &scene.planes[k].half_space).gap,
        Side::Body(first) => {
            let beside = state(first).pose();
            let apart = pose.translation.vector - beside.translation.vector;
            let shift = scene.periodic.map_or_else(Vector3::zeros, |lengths| nearest_image(&apart, &lengths));
            let found =
                gap((&scene.bodies[first].body.shape, &beside), (shape, &(Translation3::from(shift) * pose)));
            found.map_or(f64::NAN, |found| found.gap)
        }
    }
}

/// How far the image of a body is displaced whose centre is nearest, being `apart` from the other; a length of zero is an
/// open axis.
fn nearest_image(apart: &Vector3<f64>, lengths: &Vector3<f64>) -> Vector3<f64> {
    apart.zip_map(lengths, |x, length| if length > 0.0 { -(x / length).round() * length } else { 0.0 })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::{Side, answer, between};
    use crate::Input;

    /// Two balls at the ends of a box touch through its wall, however many boxes away one of them is.
    #[test]
    fn the_gap_of_a_pair_is_the_one_of_the_list() {
        let text = "carom = 1
            world = { periodic = [10, 10, 10] }
            body = [
                { name = 'a', shape = { sphere = { radius = 1 } }, mass = 1, position = [1, 0, 0] },
                { name = 'b', shape = { sphere = { radius = 2 } }, mass = 1, position = [8.5, 0.5, 0] },
            ]
            plane = [{ name = 'floor', normal = [0, 0, 1], offset = -3 }]";
        let subject = Input::of_text("balls", text.replace("\n            ", "\n"), None).scene().unwrap();
        let scene = &subject.scene;
        let listed = answer(&subject, 0.0).unwrap().pairs;
        let gap = |sides, boxes: f64| {
            between(scene, sides, |body| {
                let mut state = scene.bodies[body].state;
                state.position.x += if body == 1 { boxes * 10.0 } else { 0.0 };
                state
            })
        };
        let of = |names: [&str; 2]| listed.iter().find(|pair| pair.bodies == names).unwrap().gap;
        for boxes in [0.0, 1.0, -7.0] {
            let error = gap([Side::Body(0), Side::Body(1)], boxes) - of(["a", "b"]);
            assert!(error.abs() < 1e-13, "{boxes}: {error:e}");
        }
        assert_eq!(gap([Side::Plane(0), Side::Body(1)], 0.0), of(["floor", "b"]));
        assert!(gap([Side::Body(0), Side::Plane(0)], 0.0).is_nan());
    }
}
