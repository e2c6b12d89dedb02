//! Structure-aware fuzzing of `carom generalized`: documents of every shape, with entries chosen to hurt, half of
//! them damaged, are read and solved. Nothing may panic, take long, or give a number that is not finite.
//!
//! `CAROM_FUZZ` sets how many documents (default one million); `CAROM_FUZZ_SEED` repeats a single one.

mod fuzzing;

use std::fmt::Write;

use carom::impact::coulomb::Termination;
use carom::impact::{Law, Outcome};
use carom::scene::Format;
use carom::scene::generalized::{explain, read};
use fuzzing::{Document, Ending, entry};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

#[test]
fn documents_are_read_and_solved_without_panic() {
    fuzzing::fuzz(document, tried);
}

/// Reads and solves; an error is a broken promise.
fn tried(document: &Document) -> Result<Ending, String> {
    let Document { text, format, .. } = document;
    let mut request = match read(text, *format) {
        Ok(request) => request,
        Err(diagnostics) => return fuzzing::refused(document, &diagnostics),
    };
    request.options.project = document.seed.is_multiple_of(4);
    match request.problem.solve(&request.options) {
        Ok(outcome) => finite(&outcome).map(|()| Ending::Solved),
        Err(error) if explain(text, *format, &error).message.is_empty() => Err("no words".to_string()),
        Err(_) => Ok(Ending::Unsolvable),
    }
}

/// Every number of an outcome is finite, but for the friction that a contact without normal impulse would need.
fn finite(outcome: &Outcome) -> Result<(), String> {
    // JSON has no number for what is not finite, and says null.
    let mut value = serde_json::to_value(outcome).map_err(|error| error.to_string())?;
    if let Some(fields) = value.as_object_mut() {
        fields.remove("friction_demand");
    }
    if value.to_string().contains("null") { Err(format!("not finite: {outcome:#?}")) } else { Ok(()) }
}

fn document(seed: u64) -> Document {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let format = if rng.random() { Format::Toml } else { Format::Json };
    let text = write(&fields(&mut rng, format), format);
    Document::new(seed, text, format, &mut rng)
}

/// The fields of a problem that makes sense, values in JSON or TOML where they differ.
fn fields(rng: &mut ChaCha8Rng, format: Format) -> Vec<(&'static str, String)> {
    let n = rng.random_range(1..=6);
    let r = rng.random_range(0..=5_usize);
    let k = if rng.random() { 0 } else { rng.random_range(0..=3) };
    let bilateral = rows(rng, k, n);
    let mut contacts = rows(rng, r, n);
    if k > 0 && r > 0 && rng.random_bool(0.1) {
        contacts[0].clone_from(&bilateral[0]);
    }
    let velocity: Vec<String> =
        (0..n).map(|_| if rng.random_bool(0.3) { "0".into() } else { entry(rng) }).collect();
    let mut fields = vec![
        ("mass", matrix(&mass(rng, n))),
        ("contacts", matrix(&contacts)),
        ("velocity", format!("[{}]", velocity.join(", "))),
    ];
    if k > 0 || rng.random() {
        fields.push(("bilateral", matrix(&bilateral)));
    }

    // Each row gets at most one role, the normals first.
    let mut free: Vec<usize> = (0..r).collect();
    let mut draw =
        |rng: &mut ChaCha8Rng| (!free.is_empty()).then(|| free.swap_remove(rng.random_range(0..free.len())));
    let (mut tangential, mut rough, mut friction) = (Vec::new(), Vec::new(), Vec::new());
    let (mark, set) = if format == Format::Json { ("\"", ": ") } else { ("", " = ") };
    while rng.random_bool(0.4) {
        let Some(first) = draw(rng) else { break };
        if rng.random_bool(0.3) {
            tangential.push(first.to_string());
            continue;
        }
        let Some(second) = draw(rng) else { break };
        let tangent = match draw(rng).filter(|_| rng.random()) {
            Some(third) => format!("[{second}, {third}]"),
            None if rng.random() => format!("[{second}]"),
            None => second.to_string(),
        };
        let contact = format!("{mark}normal{mark}{set}{first}, {mark}tangent{mark}{set}{tangent}");
        if rng.random_bool(0.3) {
            rough.push(format!("{{{contact}}}"));
        } else {
            let coefficient = ["0", "0.3", "1", "2.5", "1e-300", "1e300"][rng.random_range(0..6)];
            friction.push(format!("{{{contact}, {mark}coefficient{mark}{set}{coefficient}}}"));
        }
    }
    // Tangents without a normal of their own do not go with friction.
    if !friction.is_empty() {
        tangential.clear();
    }
    for (name, entries) in [("tangential", tangential), ("rough", rough), ("friction", friction)] {
        if !entries.is_empty() || rng.random_bool(0.1) {
            fields.push((name, format!("[{}]", entries.join(", "))));
        }
    }

    let coefficient = |rng: &mut ChaCha8Rng| ["0", "1", "0.5", "0.9999999", "1e-300"][rng.random_range(0..5)];
    let one = coefficient(rng).to_string();
    let several: Vec<&str> = (0..r).map(|_| coefficient(rng)).collect();
    fields.push(("restitution", if rng.random() { one } else { format!("[{}]", several.join(", ")) }));
    if rng.random_bool(0.8) {
        fields.push(("law", format!("\"{}\"", Law::ALL[rng.random_range(0..Law::ALL.len())])));
    }
    if rng.random_bool(0.6) {
        fields.push(("termination", format!("\"{}\"", Termination::ALL[rng.random_range(0..3)].name())));
    }
    if rng.random_bool(0.3) {
        fields.push((
            "order",
            ["\"given\"", "\"reversed\"", "\"fastest\""][rng.random_range(0..3)].to_string(),
        ));
    }
    if rng.random_bool(0.2) {
        fields.push(("tolerance", ["1e-2", "1e-6", "1e-12", "1e-14"][rng.random_range(0..4)].to_string()));
    }
    if rng.random_bool(0.2) {
        fields.push(("max_steps", ["1", "2", "50"][rng.random_range(0..3)].to_string()));
    }
    if rng.random_bool(0.1) {
        fields.push(("title", "\"é \\\" \\u00e9 x\"".to_string()));
    }
    fields
}

/// Symmetric positive definite, and now and then not.
fn mass(rng: &mut ChaCha8Rng, n: usize) -> Vec<Vec<String>> {
    let scale = |rng: &mut ChaCha8Rng| match rng.random_range(0..10) {
        0 => 1e-300,
        1 => 1e300,
        2 => 1e-8,
        3 => 1e8,
        _ => 1.0,
    };
    let common = scale(rng);
    let mut mass = vec![vec!["0".to_string(); n]; n];
    for (i, row) in mass.iter_mut().enumerate() {
        let own = if rng.random_bool(0.1) { scale(rng) } else { common };
        row[i] = format!("{:?}", own * f64::from(rng.random_range(1..=20_u32)));
    }
    if rng.random_bool(0.3) && n > 1 {
        // Weak enough to stay positive definite where the scales agree.
        let (i, coupling) = (rng.random_range(1..n), format!("{:?}", common * 0.5));
        mass[i][i - 1].clone_from(&coupling);
        mass[i - 1][i] = coupling;
    }
    if rng.random_bool(0.05) {
        let (i, j) = (rng.random_range(0..n), rng.random_range(0..n));
        mass[i][j] = entry(rng);
    }
    mass
}

fn rows(rng: &mut ChaCha8Rng, count: usize, n: usize) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = Vec::with_capacity(count);
    for i in 0..count {
        let row = match rng.random_range(0..10) {
            0 => vec!["0".to_string(); n],
            1 if i > 0 => rows[rng.random_range(0..i)].clone(),
            // The sum of two rows of small integers is dependent on them.
            2 if i > 1 => {
                let sum = |j: usize| {
                    let of = |row: &Vec<String>| row[j].parse::<f64>().unwrap_or(0.0);
                    format!("{:?}", (of(&rows[i - 1]) + of(&rows[i - 2])).clamp(-1e300, 1e300))
                };
                (0..n).map(sum).collect()
            }
            3 => (0..n).map(|_| entry(rng)).collect(),
            _ => (0..n).map(|_| rng.random_range(-2..=2_i32).to_string()).collect(),
        };
        rows.push(row);
    }
    rows
}

fn matrix(rows: &[Vec<String>]) -> String {
    let rows: Vec<String> = rows.iter().map(|row| format!("[{}]", row.join(", "))).collect();
    format!("[{}]", rows.join(", "))
}

fn write(fields: &[(&str, String)], format: Format) -> String {
    let mut text = String::new();
    for (i, (key, value)) in fields.iter().enumerate() {
        let comma = if i + 1 < fields.len() { "," } else { "" };
        let written = match format {
            Format::Toml => writeln!(text, "{key} = {value}"),
            Format::Json => writeln!(text, "  \"{key}\": {value}{comma}"),
        };
        written.expect("a string takes all");
    }
    if format == Format::Json { format!("{{\n{text}}}\n") } else { text }
}
