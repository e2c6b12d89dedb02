//! A battery of ordinary scenes full of contacts, each run to its end and judged from outside.
//!
//! ```sh
//! cargo test -p carom-answers --test battery -- --nocapture
//! CAROM_BATTERY=600 CAROM_BATTERY_SEED=new cargo test --release -p carom-answers --test battery -- --nocapture
//! CAROM_BATTERY_DUMP=17,target cargo test -p carom-answers --test battery && carom run target/0017_slide.toml
//! ```
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../carom/tests/count/mod.rs"]
mod count;
mod judge;
mod kinds;
mod linked;
#[path = "../metamorphic/scene.rs"]
#[allow(dead_code, reason = "the metamorphic tests use all of it")]
mod scene;
mod source;
mod table;
mod toml;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use carom_answers::Input;
use carom_answers::run::{Changes, Running};
use judge::{Outcome, judge};
use kinds::{Case, Kind};
use table::{Row, show};

/// Whether every scene must end, in time and without a fault. Until then a run may be too slow, stall or fail.
const STRICT: bool = false;

/// Scenes of a run that nobody asked for.
const SCENES: u64 = 60;

/// The CPU time that a scene with `bodies` bodies may take.
fn limit(bodies: usize) -> Duration {
    if !STRICT && std::env::var_os("CAROM_BATTERY").is_none() {
        return Duration::from_millis(500);
    }
    Duration::from_secs(if bodies <= 8 { 6 } else { 30 })
}

/// The number that `CAROM_BATTERY_SEED` gives; with `new` another one every time.
fn seed() -> u64 {
    match std::env::var("CAROM_BATTERY_SEED").as_deref() {
        Err(_) => 1,
        Ok("new") => {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
            now.as_secs() % 1_000_000_000
        }
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("CAROM_BATTERY_SEED={text} is no number")),
    }
}

/// Writes the scenes that `CAROM_BATTERY_DUMP=N,folder` or `FROM..TO,folder` names; returns whether it names any.
fn dump(seed: u64) -> bool {
    let Ok(text) = std::env::var("CAROM_BATTERY_DUMP") else { return false };
    let read = || {
        let (which, folder) = text.split_once(',')?;
        let (from, to) = which.split_once("..").unwrap_or((which, ""));
        let from: u64 = from.parse().ok()?;
        Some((from..if to.is_empty() { from + 1 } else { to.parse().ok()? }, folder))
    };
    let (range, folder) =
        read().unwrap_or_else(|| panic!("CAROM_BATTERY_DUMP={text} is not N,folder or FROM..TO,folder"));
    std::fs::create_dir_all(folder).unwrap();
    for number in range {
        let case = Case::draw(seed, number);
        let path = Path::new(folder).join(case.file_name());
        std::fs::write(&path, &case.text).unwrap();
        println!("{}", path.display());
    }
    true
}

/// Judges the scenes, as many at a time as there are cores.
fn run(seed: u64, count: u64) -> Vec<Row> {
    let (next, rows) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                break;
            }
            let case = Case::draw(seed, number);
            let judged = judge(&case, limit(case.bodies));
            rows.lock().unwrap().push(Row { case, judged });
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let mut rows = rows.into_inner().unwrap();
    rows.sort_by_key(|row| row.case.number);
    rows
}

#[test]
fn contact_rich_scenes_run_to_their_end() {
    let seed = seed();
    if dump(seed) {
        return;
    }
    let rows = run(seed, count::cases("CAROM_BATTERY", SCENES));
    println!("{}", show(seed, &rows));
    let count = |is: fn(&Row) -> bool| rows.iter().filter(|row| is(row)).count();
    let which = |is: fn(&Row) -> bool| {
        rows.iter().filter(|row| is(row)).map(|row| row.case.file_name()).collect::<Vec<_>>()
    };
    assert_eq!(which(|row| row.judged.outcome == Outcome::Panicked), [""; 0], "panicked");
    assert_eq!(which(|row| row.judged.outcome == Outcome::Ended && row.overlaps()), [""; 0], "overlap");
    if STRICT {
        let stopped = |row: &Row| matches!(row.judged.outcome, Outcome::Stalled | Outcome::Failed);
        assert_eq!(which(stopped), [""; 0], "stalled or failed");
        // Of a hundred scenes one may be too slow.
        assert!(100 * count(|row| row.judged.outcome != Outcome::Ended) <= rows.len(), "not ended");
        assert_eq!(which(Row::gains_energy), [""; 0], "energy gained");
        assert_eq!(which(Row::loses_momentum), [""; 0], "momentum out of balance");
        let stepped: f64 = rows.iter().map(|row| row.judged.stepped).sum();
        assert!(stepped <= 0.01 * rows.len() as f64, "stepped for {stepped} of {} runs", rows.len());
    }
}

/// Every scene is valid input, is drawn again the same, and there are all kinds, sizes and surfaces of them.
#[test]
fn scenes_are_valid_and_of_every_kind() {
    let cases: Vec<Case> = (0..150).map(|number| Case::draw(7, number)).collect();
    for case in &cases {
        let subject = Input::of_text(&case.file_name(), case.text.clone(), None).scene().unwrap();
        assert_eq!(subject.scene.bodies.len(), case.bodies);
        assert_eq!(Case::draw(7, case.number).text, case.text);
        // To begin with many contacts at once takes long.
        if case.bodies <= 5 && case.number < 60 {
            let begun = Running::begin(subject, Changes::default(), |_| true);
            assert!(begun.is_ok(), "{}: {:?}", case.file_name(), begun.err().map(|error| error.diagnostics));
        }
    }
    for kind in Kind::ALL {
        assert!(cases.iter().filter(|case| case.kind == kind).count() >= 10, "{kind:?}");
    }
    for surface in ["kind = \"smooth\"", "kind = \"rough\"", "coulomb = "] {
        assert!(cases.iter().filter(|case| case.text.contains(surface)).count() >= 15, "{surface}");
    }
    assert_eq!(cases.iter().map(|case| case.bodies).min(), Some(1));
    assert!(cases.iter().map(|case| case.bodies).max() > Some(30));
}
