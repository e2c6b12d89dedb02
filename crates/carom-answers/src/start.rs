//! What is worth a word about where a scene starts, though it has a meaning: tied bodies that overlap, and springs that push
//! nowhere.

use carom::contact::Side;
use carom::gap::gap;
use carom::scene::instant::{TOUCHING, name, nearest_image};
use carom::scene::model::{LoadKind, Scene};
use carom::shape::Shape;

use crate::words::number;

/// The most pairs that a note names.
const SHOWN: usize = 3;

/// Ends of a spring that are nearer than this share of its rest length have no direction that rounding leaves alone.
const COINCIDENT: f64 = 1e-12;

/// Bodies that a joint ties and that overlap by more than touching: contacts between them are not looked for.
pub fn tied_overlaps(scene: &Scene) -> Option<String> {
    let mut pairs: Vec<([usize; 2], String)> = Vec::new();
    for joint in &scene.joints {
        let &[one, two] = joint.bodies.as_slice() else { continue };
        let key = [one.min(two), one.max(two)];
        if let Some(depth) = depth(scene, key)
            && pairs.iter().all(|(known, _)| *known != key)
        {
            let [first, second] = key.map(|body| name(scene, Side::Body(body)));
            pairs.push((
                key,
                format!("`{first}` and `{second}` by {} (joint `{}`)", number(depth), joint.name),
            ));
        }
    }
    let mut words: Vec<String> = pairs.iter().take(SHOWN).map(|(_, words)| words.clone()).collect();
    if pairs.len() > SHOWN {
        words.push(format!("{} more pairs", pairs.len() - SHOWN));
    }
    (!words.is_empty()).then(|| {
        format!(
            "tied bodies overlap, between which no contact is looked for, as a joint ties them: {}",
            words.join(", ")
        )
    })
}

/// How deep two bodies overlap at the scene's instant, if they do.
fn depth(scene: &Scene, [first, second]: [usize; 2]) -> Option<f64> {
    let [one, two] = [first, second].map(|body| &scene.bodies[body]);
    if one.body.shape == Shape::Point || two.body.shape == Shape::Point {
        return None;
    }
    let pose = nearest_image(scene, &one.state, &two.state);
    let found = gap((&one.body.shape, &one.state.pose()), (&two.body.shape, &pose))?.gap;
    let size = one.body.shape.circumradius() + two.body.shape.circumradius();
    (found < -TOUCHING * size).then_some(-found)
}

/// Springs without length that would push if they had a direction.
pub fn springs_without_direction(scene: &Scene) -> Vec<String> {
    let without = |kind: &LoadKind| match *kind {
        LoadKind::Spring { points: [one, two], length: Some(length), .. } => {
            (length > 0.0 && (two - one).norm() <= COINCIDENT * length).then_some(length)
        }
        _ => None,
    };
    let say = |(spring, length): (&str, f64)| {
        format!(
            "{spring}: the spring has no length at the start, and so no direction in which its rest length of {} could push; what happens to it there is rounding",
            number(length)
        )
    };
    scene.loads.iter().filter_map(|load| Some((load.name.as_str(), without(&load.kind)?))).map(say).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::{springs_without_direction, tied_overlaps};
    use crate::Input;

    fn pair(apart: f64, more: &str) -> carom::scene::model::Scene {
        let text = format!(
            "carom = 1
[[body]]
name = 'a'
shape = {{ sphere = {{ radius = 1 }} }}
mass = 1
[[body]]
name = 'b'
shape = {{ sphere = {{ radius = 1 }} }}
mass = 1
position = [{apart}, 0, 0]
{more}"
        );
        Input::of_text("pair.toml", text, None).scene().unwrap().scene
    }

    #[test]
    fn tied_bodies_that_overlap_are_named_once() {
        let pin =
            "[[joint]]\nname = 'pin'\nbodies = ['b', 'a']\nkind = { ball = { point = [0.75, 0, 0] } }\n";
        let note = tied_overlaps(&pair(1.5, &format!("{pin}{}", pin.replace("'pin'", "'other'")))).unwrap();
        assert!(note.ends_with(": `a` and `b` by 0.5 (joint `pin`)"), "{note}");
        // Touching, apart, or tied to nothing but the ground.
        assert_eq!(tied_overlaps(&pair(2.0, pin)), None);
        assert_eq!(tied_overlaps(&pair(2.5, pin)), None);
        assert_eq!(tied_overlaps(&pair(3.0, &pin.replace("'b', 'a'", "'b'"))), None);
    }

    #[test]
    fn a_spring_without_length_has_no_direction() {
        let spring = |point: f64, length: &str| {
            let kind = format!("points = [[0, 0, 0], [{point}, 0, 0]], stiffness = 2{length}");
            pair(
                3.0,
                &format!(
                    "[[load]]\nname = 'coil'\nkind = {{ spring = {{ bodies = ['a', 'b'], {kind} }} }}\n"
                ),
            )
        };
        let notes = springs_without_direction(&spring(0.0, ", length = 0.5"));
        assert!(notes.len() == 1 && notes[0].starts_with("coil: ") && notes[0].contains("0.5"), "{notes:?}");
        assert!(springs_without_direction(&spring(0.0, "")).is_empty());
        assert!(springs_without_direction(&spring(0.0, ", length = 0")).is_empty());
        assert!(springs_without_direction(&spring(0.1, ", length = 0.5")).is_empty());
    }
}
