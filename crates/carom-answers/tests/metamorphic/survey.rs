//! Many random scenes, each changed and asked again.

use crate::answer::Question;
use crate::compare::{Case, Finding, report};
use crate::draw::Draw;
use crate::scene::World;

/// Draws scenes, lets each be changed and asked, and fails where something was found.
pub fn survey(
    question: Question,
    make: impl Fn(&mut Draw) -> World,
    change: impl Fn(&Case, u64, &mut Vec<Finding>),
) {
    let mut findings = Vec::new();
    let (mut unclear, mut refused) = (0, 0);
    let seeds = crate::seeds(question);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        match Case::draw(question, seed, &make) {
            None => unclear += 1,
            Some(case) => {
                refused += u64::from(case.own.answer.facts.contains_key("refused"));
                change(&case, seed, &mut findings);
            }
        }
    }
    println!(
        "{question:?}: {count} scenes, {unclear} unclear, {refused} refused, {} changed",
        findings.len()
    );
    report(&findings);
    // Most scenes must be fit for the question, or it has not been asked.
    assert!(20 * (unclear + refused) <= count + 20, "{unclear} unclear, {refused} refused of {count}");
}
