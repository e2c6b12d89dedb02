//! What the fuzzers share: documents whole and damaged, run through a reader and what follows it on two threads.
//!
//! `CAROM_FUZZ` sets how many documents (default one million); `CAROM_FUZZ_SEED` repeats a single one.

#[path = "../count/mod.rs"]
mod count;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use carom::scene::{Diagnostic, Format};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

const THREADS: usize = 2;

/// The most failures shown in full, of each thread.
const MOST_FAILURES: usize = 5;

/// All documents are small: anything slower than this has run away.
const LONGEST: Duration = Duration::from_secs(5);

/// A text to be tried.
pub struct Document {
    pub seed: u64,
    pub text: String,
    pub format: Format,
    /// Whether the text is as it was made: then it must be readable.
    pub whole: bool,
}

impl Document {
    /// The text, damaged every other time.
    pub fn new(seed: u64, text: String, format: Format, rng: &mut ChaCha8Rng) -> Self {
        let whole: bool = rng.random();
        let text = if whole { text } else { damaged(text, rng) };
        Self { seed, text, format, whole }
    }
}

/// What became of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Refused,
    #[allow(dead_code, reason = "one fuzzer solves a sample only")]
    Read,
    Unsolvable,
    Solved,
}

/// A refusal must come with places and words, and never be of a document that is whole.
pub fn refused(document: &Document, diagnostics: &[Diagnostic]) -> Result<Ending, String> {
    if document.whole {
        return Err(format!("refused: {diagnostics:#?}"));
    }
    let good = |d: &Diagnostic| !d.message.is_empty() && document.text.get(d.span.clone()).is_some();
    match diagnostics.iter().find(|d| !good(d)) {
        None if !diagnostics.is_empty() => Ok(Ending::Refused),
        bad => Err(format!("a diagnostic without place or words: {bad:?}")),
    }
}

/// Tries documents by their seeds; an error of `tried` is a broken promise, and so is a panic.
pub fn fuzz(
    document: impl Fn(u64) -> Document + Sync,
    tried: impl Fn(&Document) -> Result<Ending, String> + Sync,
) {
    let variable = |name| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    if let Some(seed) = variable("CAROM_FUZZ_SEED") {
        let document = document(seed);
        println!("{}", document.text);
        println!("{:?}", tried(&document));
        return;
    }
    let count = count::cases("CAROM_FUZZ", 1_000_000_u64);
    let start = Instant::now();
    let tallies: Vec<Tally> = std::thread::scope(|scope| {
        let (document, tried) = (&document, &tried);
        let run = |thread| scope.spawn(move || run((thread..count).step_by(THREADS), document, tried));
        let threads: Vec<_> = (0..THREADS as u64).map(run).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("only documents panic, and are caught"))
            .collect()
    });
    let total = tallies.into_iter().fold(Tally::default(), Tally::and);
    println!(
        "{count} documents in {:.1?}: {} read, {} solved; slowest {:.1?} (seed {})",
        start.elapsed(),
        total.read,
        total.solved,
        total.slowest.0,
        total.slowest.1
    );
    assert!(total.failed == 0, "{} documents failed:\n{}", total.failed, total.failures.join("\n"));
    // A fuzzer that no longer gets past the reader tests nothing.
    assert!(count < 1000 || total.read > count / 3, "only {} of {count} could be read", total.read);
}

#[derive(Default)]
struct Tally {
    read: u64,
    solved: u64,
    failed: u64,
    failures: Vec<String>,
    slowest: (Duration, u64),
}

impl Tally {
    fn and(self, other: Self) -> Self {
        Self {
            read: self.read + other.read,
            solved: self.solved + other.solved,
            failed: self.failed + other.failed,
            failures: [self.failures, other.failures].concat(),
            slowest: self.slowest.max(other.slowest),
        }
    }
}

fn run(
    seeds: impl Iterator<Item = u64>,
    document: impl Fn(u64) -> Document,
    tried: impl Fn(&Document) -> Result<Ending, String>,
) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let document = document(seed);
        let start = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| tried(&document)));
        let time = start.elapsed();
        tally.slowest = tally.slowest.max((time, seed));
        let complaint = match result {
            Ok(Ok(_)) if time > LONGEST => format!("took {time:?}"),
            Ok(Ok(ending)) => {
                tally.read += u64::from(ending != Ending::Refused);
                tally.solved += u64::from(ending == Ending::Solved);
                continue;
            }
            Ok(Err(complaint)) => complaint,
            Err(_) => "panicked".to_string(),
        };
        tally.failed += 1;
        if tally.failures.len() < MOST_FAILURES {
            let Document { format, text, .. } = &document;
            tally.failures.push(format!("CAROM_FUZZ_SEED={seed} ({format:?}): {complaint}\n{text}"));
        }
    }
    tally
}

/// A number, often one that hurts.
pub fn entry(rng: &mut ChaCha8Rng) -> String {
    match rng.random_range(0..12) {
        0 => "0".to_string(),
        1 => "-0.0".to_string(),
        2 => "1e-300".to_string(),
        3 => "-1e-300".to_string(),
        4 => "1e300".to_string(),
        5 => "-1e300".to_string(),
        6 => "5e-324".to_string(),
        7 => "1e-16".to_string(),
        8 | 9 => rng.random_range(-3..=3_i32).to_string(),
        _ => format!("{:?}", rng.random_range(-10.0..10.0_f64)),
    }
}

/// The text with a few bytes or tokens changed.
fn damaged(text: String, rng: &mut ChaCha8Rng) -> String {
    const TOKENS: [&str; 25] = [
        "nan",
        "-inf",
        "1e999",
        "-1",
        "1.5",
        "[",
        "]",
        "{",
        "}",
        "\"",
        ",",
        "=",
        ":",
        "\n",
        "#",
        "null",
        "true",
        "é",
        "\0",
        "\u{feff}",
        "99999999999999999999",
        "[[friction]]",
        "[[body]]",
        "''",
        "\\u",
    ];
    let mut bytes = text.into_bytes();
    for _ in 0..rng.random_range(1..=3) {
        let at = rng.random_range(0..bytes.len());
        let end = (at + rng.random_range(0..6)).min(bytes.len());
        match rng.random_range(0..6) {
            0 => bytes[at] = rng.random(),
            1 => drop(bytes.drain(at..end)),
            2 => drop(bytes.splice(at..at, TOKENS[rng.random_range(0..TOKENS.len())].bytes())),
            3 => drop(bytes.splice(at..end, TOKENS[rng.random_range(0..TOKENS.len())].bytes())),
            4 => {
                let piece = bytes[at..end].to_vec();
                let to = rng.random_range(0..bytes.len());
                bytes.splice(to..to, piece);
            }
            // A digit for a digit mostly leaves a readable file with other numbers.
            _ => {
                if let Some(digit) = bytes[at..].iter_mut().find(|byte| byte.is_ascii_digit()) {
                    *digit = b'0' + rng.random_range(0..10);
                }
            }
        }
        if bytes.is_empty() {
            break;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
