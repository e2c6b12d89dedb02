//! The world turned, moved, mirrored, boosted and in other units.

use crate::answer::{Names, Question};
use crate::compare::{Case, along_planes};
use crate::draw::Draw;
use crate::frame::Frame;
use crate::scene::{Units, World};
use crate::survey::survey;

/// All frames that a world can be seen from.
fn frames(world: &World, draw: &mut Draw) -> Vec<(&'static str, Frame)> {
    let mut frames = vec![("turned by a quarter", Frame::of_a_cube(draw))];
    if world.periodic.is_none() {
        frames.push(("turned", Frame::turned(draw.turn())));
        frames.push(("mirrored", Frame::mirror(&draw.direction())));
    }
    let far = draw.one_of(&[1.0, 100.0]);
    frames.push(("moved", Frame::moved(draw.vector(far))));
    let smooth = world.planes.is_empty() || !world.has_friction();
    if smooth
        && !world.is_anchored()
        && let Some(direction) = along_planes(world, draw)
    {
        frames.push(("boosted", Frame::boosted(direction * draw.one_of(&[1.0, 30.0]))));
    }
    let two = |draw: &mut Draw| 2f64.powi(i32::try_from(draw.pick(60)).unwrap_or(0) - 30);
    let units = Units { length: two(draw), mass: two(draw), time: two(draw) };
    frames.push(("in units of powers of two", Frame::rescaled(units)));
    let ten = |draw: &mut Draw| 10f64.powf(draw.number(-9.0, 9.0));
    let units = Units { length: ten(draw), mass: ten(draw), time: ten(draw) };
    frames.push(("in other units", Frame::rescaled(units)));
    frames
}

/// Asks of random scenes in all frames.
fn ask_everywhere(question: Question, make: impl Fn(&mut Draw) -> World) {
    survey(question, make, |case, seed, findings| {
        let planes = !case.world.planes.is_empty();
        for (what, frame) in frames(&case.world, &mut Draw::new(seed + 1_000_000)) {
            let seen = frame.of(&case.world);
            let answer = question.ask(&seen, &Names::new());
            // A plane stays where it is: the slip over it, and what is measured by it, are others.
            let left_out = |key: &str| {
                let by_a_plane = ["slip", "scale of", "nearest"].iter().any(|word| key.contains(word));
                what == "boosted" && planes && by_a_plane
            };
            findings.extend(case.finding(seed, what, (&frame, &seen), &answer, left_out));
        }
    });
}

#[test]
fn gaps() {
    ask_everywhere(Question::Gap, Draw::anywhere);
}

#[test]
fn first_contacts() {
    ask_everywhere(Question::Toi, Draw::flight);
}

#[test]
fn classifications() {
    ask_everywhere(Question::Classify, Draw::touching);
}

#[test]
fn impacts() {
    ask_everywhere(Question::Solve, Draw::instant);
}

#[test]
fn runs() {
    ask_everywhere(Question::Run, Draw::run);
}

/// Had the comparison no teeth, everything would pass.
#[test]
fn a_wrong_answer_is_noticed() {
    for question in [Question::Gap, Question::Toi, Question::Solve, Question::Run] {
        let make = match question {
            Question::Gap => Draw::anywhere,
            Question::Toi => Draw::flight,
            Question::Solve => Draw::instant,
            _ => Draw::run,
        };
        let case = (0..).find_map(|seed| Case::draw(question, seed, &make)).unwrap();
        assert!(case.own.differences(&Frame::same(), &case.own.answer, 0.0, |_| false).is_empty());
        for key in case.own.answer.quantities.keys() {
            let mut spoiled = case.own.answer.clone();
            let quantity = spoiled.quantities.get_mut(key).unwrap();
            let size = quantity.values.iter().fold(1e-3, |most: f64, x| most.max(x.abs()));
            quantity.values[0] += 1e-6 * size;
            let found = case.own.differences(&Frame::same(), &spoiled, crate::compare::ROUNDINGS, |_| false);
            assert_eq!(found.len(), 1, "{question:?} {key}");
        }
        for key in case.own.answer.facts.keys() {
            let mut spoiled = case.own.answer.clone();
            spoiled.facts.insert(key.clone(), "spoiled".to_string());
            let found = case.own.differences(&Frame::same(), &spoiled, crate::compare::ROUNDINGS, |_| false);
            assert_eq!(found.len(), 1, "{question:?} {key}");
        }
    }
}
