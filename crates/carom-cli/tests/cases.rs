//! The example problems in `cases/laws`: each runs through the program, passes its audit and shows what it is there
//! to show.
// Helpers of tests fail the test, as tests themselves do.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// A file, and the check that its result shows what it is there for.
type Case = (&'static str, fn(&Value));

/// Every file, each under the law it names.
const CASES: [Case; 8] = [
    ("cradle.toml", cradle),
    ("energy_gain.toml", energy_gain),
    ("hinged_frames.toml", hinged_frames),
    ("poisson_not_unique.toml", poisson_not_unique),
    ("rod_coulomb.toml", rod_coulomb),
    ("rolling_ball_at_wall.toml", rolling_ball_at_wall),
    ("unequal_circuit.toml", unequal_circuit),
    ("wedge_decoupled.toml", wedge_decoupled),
];

const DONE: i32 = 0;
const NO_ANSWER: i32 = 3;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/laws")
}

/// The exit code and the result.
fn carom(file: &str, options: &[&str]) -> (i32, Value) {
    let output = Command::new(env!("CARGO_BIN_EXE_carom"))
        .arg("generalized")
        .arg(folder().join(file))
        .arg("--json")
        .args(options)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let result = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}: {text}"));
    (output.status.code().unwrap(), result)
}

/// The result under another law than the file's.
fn under(law: &str, file: &str) -> Value {
    let (code, result) = carom(file, &["--law", law]);
    assert_eq!((code, &result["audit"]["passed"]), (DONE, &true.into()), "{file} under {law}");
    result
}

#[track_caller]
fn close(found: &Value, expected: &[f64]) {
    let numbers: Vec<f64> = match found {
        Value::Array(entries) => entries.iter().map(|x| x.as_f64().unwrap()).collect(),
        number => vec![number.as_f64().unwrap()],
    };
    let near = numbers.len() == expected.len()
        && numbers.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-14 * b.abs().max(1.0));
    assert!(near, "{numbers:?} is not {expected:?}");
}

#[track_caller]
fn notes(result: &Value, words: &str) {
    let notes = result["notes"].as_array().unwrap();
    assert!(notes.iter().any(|note| note.as_str().unwrap().contains(words)), "no '{words}' in {notes:?}");
}

#[track_caller]
fn flags(result: &Value, expected: &[(&str, bool)]) {
    for (flag, value) in expected {
        assert_eq!(result[flag], *value, "{flag}");
    }
}

#[test]
fn every_case_runs_and_shows_its_point() {
    let is_problem = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "toml");
    let paths = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).filter(is_problem);
    let mut files: Vec<String> =
        paths.map(|path| path.file_name().unwrap().to_str().unwrap().to_string()).collect();
    files.sort_unstable();
    assert_eq!(files, CASES.map(|(file, _)| file), "every file has its point tested, in the files' order");
    for (file, point) in CASES {
        println!("{file}");
        let (code, result) = carom(file, &[]);
        assert_eq!(code, if file == "unequal_circuit.toml" { NO_ANSWER } else { DONE }, "{file}");
        assert_eq!(result["audit"]["passed"], true, "{file}: {}", result["audit"]);
        assert!(result["title"].is_string() && result["source"].is_string(), "{file} says what it is");
        point(&result);
    }
}

fn cradle(result: &Value) {
    let together = [-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0];
    close(&result["velocity"], &together);
    close(&result["energy"]["change"], &[0.0]);
    for law in ["newton", "poisson"] {
        close(&under(law, "cradle.toml")["velocity"], &together);
    }
    for law in ["sequential", "reflection"] {
        close(&under(law, "cradle.toml")["velocity"], &[0.0, 0.0, 1.0]);
    }
}

fn energy_gain(result: &Value) {
    close(&result["impulses"], &[7.0 / 3.0, -2.0 / 3.0]);
    close(&result["energy"]["before"], &[0.5]);
    close(&result["energy"]["after"], &[2.0 / 3.0]);
    notes(result, "gains kinetic energy");
    notes(result, "pull");
    flags(result, &[("admissible", false), ("consistent", true), ("velocity_unique", true)]);
    let (code, _) = carom("energy_gain.toml", &["--strict"]);
    assert_eq!(code, NO_ANSWER, "strict");
    let default = under("newton_lcp", "energy_gain.toml");
    close(&default["velocity"], &[1.0, 0.0]);
    close(&default["energy"]["change"], &[0.0]);
    flags(&default, &[("admissible", true)]);
}

fn hinged_frames(result: &Value) {
    assert_eq!(result["rank"], 1);
    assert_eq!(result["blocked"], serde_json::json!([1]));
    flags(result, &[("velocity_unique", true), ("impulse_unique", false), ("admissible", true)]);
    assert_eq!(result["self_stresses"].as_array().unwrap().len(), 2);
    let (first, second) = (-0.736_184_210_526_315_8, 0.845_394_736_842_105_3);
    close(
        &result["velocity"],
        &[0.0, 0.0, first, -0.5 * first, 0.0, 0.0, 0.0, 0.0, second, 0.5 * second, 0.0, 0.0],
    );
    close(&result["energy"]["change"], &[-0.398_711_842_105_263_17]);
}

fn poisson_not_unique(result: &Value) {
    flags(result, &[("velocity_unique", false), ("impulse_unique", false), ("consistent", true)]);
    close(&result["velocity"], &[0.2]);
    close(&result["impulses"], &[0.4, 0.4]);
    notes(result, "does not determine the velocity");
    let default = under("newton_lcp", "poisson_not_unique.toml");
    close(&default["velocity"], &[1.0]);
    flags(&default, &[("velocity_unique", true)]);
}

fn rod_coulomb(result: &Value) {
    let phases = result["friction"][0]["phases"].as_array().unwrap();
    let modes: Vec<&str> = phases.iter().map(|phase| phase["mode"].as_str().unwrap()).collect();
    assert_eq!(modes, ["slip", "reverse_slip", "reverse_slip"]);
    close(&result["impulses"], &[2.298_746_972_472_298, 0.246_270_103_984_457_84]);
    for (termination, impulse) in [("poisson", 2.293_235_139_717_122_5), ("newton", 2.341_490_362_503_86)] {
        let (_, other) = carom("rod_coulomb.toml", &["--termination", termination]);
        close(&other["impulses"][0], &[impulse]);
    }
}

fn rolling_ball_at_wall(result: &Value) {
    assert_eq!(result["rank"], 2);
    flags(result, &[("velocity_unique", true), ("impulse_unique", false)]);
    close(
        &result["velocity"],
        &[1.3, 0.588_888_888_888_888_9, 0.0, -11.777_777_777_777_779, 26.0, 16.777_777_777_777_78],
    );
    close(&result["energy"]["change"], &[0.0]);
    assert_eq!(result["self_stresses"].as_array().unwrap().len(), 1);
}

fn unequal_circuit(result: &Value) {
    flags(result, &[("consistent", false)]);
    assert_eq!(result["status"], "inconsistent");
    assert_eq!(result["unequal_circuits"][0]["rows"], serde_json::json!([0, 1, 2]));
    notes(result, "no solution");
    close(&under("newton_lcp", "unequal_circuit.toml")["velocity"], &[0.5, 0.4]);
}

fn wedge_decoupled(result: &Value) {
    close(&result["separation"], &[1.5, 1.5]);
    close(&result["energy"]["after"], &[1.5]);
    notes(result, "not the one that the coefficient of restitution asks for");
    notes(result, "gains kinetic energy");
    flags(result, &[("admissible", false)]);
    close(&under("newton_lcp", "wedge_decoupled.toml")["separation"], &[1.0, 0.5]);
}
