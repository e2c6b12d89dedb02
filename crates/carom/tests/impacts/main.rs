//! What an outcome says of itself is true: flags on systems whose solution sets are known, friction at several contacts, and an
//! audit that fails on what is not true.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;
#[path = "../count/mod.rs"]
mod count;
mod friction;
#[path = "../random/mod.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod random;
mod solution_sets;
mod spoiled;

use carom::impact::{Law, Options, Outcome, Problem};

fn solve(problem: &Problem, law: Law) -> Outcome {
    problem.solve(&Options { law, ..Options::default() }).unwrap_or_else(|e| panic!("{e}\n{problem:?}"))
}

/// How many random systems: the number given, or `CAROM_SYSTEMS`.
fn systems(default: u64) -> u64 {
    count::cases("CAROM_SYSTEMS", default)
}

/// The notes as sentences.
fn words(outcome: &Outcome) -> Vec<String> {
    outcome.notes.iter().map(ToString::to_string).collect()
}
