//! Bodies, planes, joints, loads, rules and contacts in another order, under other names.

use crate::answer::Question;
use crate::draw::Draw;
use crate::frame::{Frame, reordered};
use crate::scene::World;
use crate::survey::survey;

fn ask_in_another_order(question: Question, make: impl Fn(&mut Draw) -> World) {
    survey(question, make, |case, seed, findings| {
        let world = &case.world;
        // Contacts that are taken one at a time are taken in the order of the scene, and that is said.
        let one_by_one = question == Question::Solve && (world.law == "sequential" || world.has_coulomb());
        let (other, names) = reordered(world, &mut Draw::new(seed + 2_000_000), !one_by_one);
        let answer = question.ask(&other, &names);
        // Where the law leaves the velocity open, any of its answers will do.
        let open = case.own.answer.facts.get("velocity_unique").is_some_and(|unique| unique == "false");
        let left_out = |key: &str| open && case.own.answer.quantities.contains_key(key);
        findings.extend(case.finding(seed, "reordered", (&Frame::same(), &other), &answer, left_out));
    });
}

#[test]
fn gaps() {
    ask_in_another_order(Question::Gap, Draw::anywhere);
}

#[test]
fn first_contacts() {
    ask_in_another_order(Question::Toi, Draw::flight);
}

#[test]
fn classifications() {
    ask_in_another_order(Question::Classify, Draw::touching);
}

#[test]
fn impacts() {
    ask_in_another_order(Question::Solve, Draw::instant);
}

#[test]
fn runs() {
    ask_in_another_order(Question::Run, Draw::run);
}
