//! The same world seen otherwise must give the same answers: metamorphic tests, from the text of a scene to the document.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answer;
mod compare;
#[path = "../../../carom/tests/count/mod.rs"]
mod count;
mod draw;
mod frame;
mod scene;
mod survey;

mod company;
mod generalized;
mod order;
mod similar;
mod time;

use answer::Question;

/// The seeds of the random scenes: for each change 200. `CAROM_SCENES=10` makes ten times as many,
/// `CAROM_SCENE=7` repeats one of them.
fn seeds(_: Question) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let count = 200;
    match (number("CAROM_SCENE"), number("CAROM_SCENES")) {
        (Some(seed), _) => seed..seed + 1,
        (None, Some(times)) => 0..count * times,
        (None, None) => 0..count::cases("CAROM_SCENES", count),
    }
}
