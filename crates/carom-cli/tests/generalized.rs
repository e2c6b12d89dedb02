//! The program as a user runs it: `carom generalized`, its exit codes, its streams and its diagnostics.
// Helpers of tests fail the test, as tests themselves do.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const CRADLE: &str = "\
title = 'cradle'
mass = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
contacts = [[-1, 1, 0], [0, -1, 1]]
velocity = [1, 0, 0]
restitution = 1
";

/// Two contacts that are one and the same, to rebound by unequal coefficients.
const TORN: &str =
    "mass = [[1]]\ncontacts = [[-1], [-1]]\nvelocity = [1]\nrestitution = [1, 0]\nlaw = 'newton'";

/// Theory T3: unequal coefficients gain energy.
const GAINING: &str = "\
mass = [[1, 0], [0, 1]]
contacts = [[1, 0], [0.5, 0.8660254037844386]]
velocity = [-1, 0]
restitution = [1, 0]
law = 'newton'
";

struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the program writes UTF-8");
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Run {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }
}

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_carom"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs with a text on standard input.
fn carom(arguments: &[&str], input: &str) -> Run {
    let mut child = program(arguments).spawn().unwrap();
    // A program that refuses its arguments does not wait for its input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap().into()
}

fn generalized(options: &[&str], input: &str) -> Run {
    carom(&[&["generalized", "-"], options].concat(), input)
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn close(found: &[f64], expected: &[f64]) -> bool {
    found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12)
}

/// A file of its own for a test, by its name.
fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn a_result_for_people() {
    let run = generalized(&[], CRADLE);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    assert!(
        run.out.starts_with("cradle\nResolved by the law newton_lcp: 2 of 2 contact rows carry"),
        "{}",
        run.out
    );
    for word in ["approach", "-0.33333333", "velocities unique", "admissible", "audit  passed"] {
        assert!(run.out.contains(word), "{word}: {}", run.out);
    }
    assert!(!run.out.contains('\x1b'), "no colour into a pipe");
}

#[test]
fn a_long_result_is_cut_for_people_only() {
    let n = 30;
    let row = |i: usize, x: i32| (0..n).map(|j| if i == j { x } else { 0 }).collect::<Vec<_>>();
    let matrix = |x| format!("{:?}", (0..n).map(|i| row(i, x)).collect::<Vec<_>>());
    let velocity = format!("{:?}", vec![1; n]);
    let input =
        format!("mass = {}\ncontacts = {}\nvelocity = {velocity}\nrestitution = 0.5", matrix(1), matrix(-1));
    let run = generalized(&[], &input);
    assert!(run.out.contains("… 10 more; --json has all"), "{}", run.out);
    assert_eq!(numbers(&generalized(&["--json"], &input).json()["impulses"]), [1.5; 30]);
}

#[test]
fn a_result_for_programs() {
    let run = generalized(&["--json"], CRADLE);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let json = run.json();
    assert!(close(&numbers(&json["velocity"]), &[-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]), "{json}");
    assert!(close(&numbers(&json["delassus"][0]), &[2.0, -1.0]), "{json}");
    assert!(close(&numbers(&json["approach"]), &[-1.0, 0.0]), "{json}");
    assert_eq!(json["projector"].as_array().unwrap().len(), 3);
    for field in [
        "velocity",
        "impulses",
        "bilateral_impulses",
        "approach",
        "separation",
        "delassus",
        "projector",
        "rank",
        "velocity_unique",
        "impulse_unique",
        "consistent",
        "admissible",
        "law",
        "notes",
        "audit",
        "title",
        "work",
        "steps",
    ] {
        assert!(json.get(field).is_some(), "{field}");
    }
    for field in ["before", "after", "change"] {
        assert!(json["energy"][field].is_f64(), "{field}");
    }
}

#[test]
fn toml_and_json_alike() {
    let json = r#"{"title": "cradle", "mass": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        "contacts": [[-1, 1, 0], [0, -1, 1]], "velocity": [1, 0, 0], "restitution": 1}"#;
    let expected = generalized(&["--json"], CRADLE).out;
    assert_eq!(generalized(&["--json"], json).out, expected);
    for (name, text) in [("alike.toml", CRADLE), ("alike.json", json), ("alike", json)] {
        let path = file(name, text.as_bytes());
        assert_eq!(carom(&["generalized", path.to_str().unwrap(), "--json"], "").out, expected);
    }
}

#[test]
fn the_command_line_goes_before_the_file() {
    let velocity =
        |options: &[&str]| numbers(&generalized(&[&["--json"], options].concat(), CRADLE).json()["velocity"]);
    assert!(close(&velocity(&["--law", "sequential"]), &[0.0, 0.0, 1.0]));
    assert!(close(&velocity(&["--law", "reflection", "--tolerance", "1e-6"]), &[0.0, 0.0, 1.0]));
    assert!(close(&velocity(&["--law", "sequential", "--order", "1,0"]), &[0.0, 0.0, 1.0]));
    assert!(close(
        &velocity(&["--law", "newton", "--termination", "poisson"]),
        &[-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]
    ));
}

#[test]
fn no_answer_is_3_and_still_printed() {
    let run = generalized(&[], TORN);
    assert_eq!((run.code, run.err.as_str()), (Some(3), ""));
    assert!(run.out.starts_with("The law newton has no solution here"), "{}", run.out);
    let run = generalized(&["--json"], TORN);
    assert_eq!((run.code, &run.json()["consistent"]), (Some(3), &Value::Bool(false)));
}

#[test]
fn inadmissible_is_3_only_when_strict() {
    let run = generalized(&[], GAINING);
    assert_eq!(run.code, Some(0));
    assert!(
        run.out.contains("rises by 0.16666667 (33.33 %)") && run.out.contains("not admissible"),
        "{}",
        run.out
    );
    let strict = generalized(&["--strict"], GAINING);
    assert_eq!((strict.code, strict.out), (Some(3), run.out));
    assert_eq!(generalized(&["--strict"], CRADLE).code, Some(0));
    let exhausted = format!("{CRADLE}law = 'sequential'\nmax_steps = 1");
    assert_eq!(generalized(&[], &exhausted).code, Some(0));
    assert_eq!(generalized(&["--strict"], &exhausted).code, Some(3));
}

#[test]
fn what_only_solving_finds_has_its_place_too() {
    let input = "mass = [[1, 2], [2, 1]]\ncontacts = []\nvelocity = [0, 0]";
    let run = generalized(&["--json"], input);
    assert_eq!(run.code, Some(2));
    assert!(run.json()["errors"][0]["field"].as_str().unwrap().starts_with("mass"), "{}", run.out);

    let input = "mass = [[1, 0], [0, 1]]\nbilateral = [\n  [1, 0],\n]\ncontacts = []\nvelocity = [1, 1]";
    let run = generalized(&["--json"], input);
    let error = &run.json()["errors"][0];
    assert_eq!((run.code, &error["field"], &error["line"]), (Some(2), &"bilateral[0]".into(), &3.into()));
    assert!(run.err.contains("bilateral[0]: the velocity violates this row"), "{}", run.err);
    let run = generalized(&["--json", "--project"], input);
    assert_eq!((run.code, numbers(&run.json()["velocity"])), (Some(0), vec![0.0, 1.0]));
}

#[test]
fn errors_for_programs() {
    let run = generalized(&["--json"], &CRADLE.replace("[1, 0, 0]\nrest", "[1, nan, 0]\nrest"));
    assert_eq!(run.code, Some(2));
    assert_eq!(
        run.json(),
        serde_json::json!({"errors": [{
            "file": "<stdin>", "line": 4, "column": 16, "field": "velocity[1]", "value": "nan",
            "message": "is not a number", "expected": "a finite number",
        }]})
    );
    assert!(run.err.contains("velocity[1]: is not a number"), "{}", run.err);
}

#[test]
fn files_that_cannot_be_read() {
    let binary = file("binary.toml", &[b'a', 0xff, 0xfe, 0]);
    let directory = env!("CARGO_TARGET_TMPDIR");
    for (name, words) in [
        ("no such file.toml", "No such file"),
        (directory, "a directory"),
        (binary.to_str().unwrap(), "not a text file in UTF-8 (byte 1"),
    ] {
        let run = carom(&["generalized", name], "");
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""));
        assert!(run.err.contains(words), "{}", run.err);
        let json = carom(&["generalized", name, "--json"], "").json();
        assert_eq!((&json["errors"][0]["file"], &json["errors"][0]["line"]), (&name.into(), &Value::Null));
    }
}

#[test]
fn wrong_command_lines() {
    for (arguments, words) in [
        (vec!["--law", "newtn"], "a similar value exists: 'newton'"),
        (vec!["--tolerance", "0.5"], "to 0.01"),
        (vec!["--order", "0;1"], "numbers as in 0,2,1"),
        (vec!["--order", "0,2"], "row 2 is not a normal"),
        (vec!["--colour"], "unexpected argument"),
    ] {
        let run = generalized(&[&["--json"], arguments.as_slice()].concat(), CRADLE);
        assert_eq!(run.code, Some(2), "{arguments:?}");
        assert!(run.err.contains(words), "{}", run.err);
        assert_eq!(run.json()["errors"].as_array().unwrap().len(), 1);
    }
    assert_eq!(carom(&[], "").code, Some(2));
    assert_eq!(carom(&["generalised", "x"], "").code, Some(2));
}

#[test]
fn version_and_help() {
    let run = carom(&["--version"], "");
    let start = format!("carom {} (", env!("CARGO_PKG_VERSION"));
    let commit = run.out.strip_prefix(start.as_str()).and_then(|rest| rest.strip_suffix(")\n"));
    assert_eq!(run.code, Some(0));
    assert!(
        commit.is_some_and(|c| c == "unknown" || c.chars().all(|c| c.is_ascii_hexdigit())),
        "{}",
        run.out
    );
    assert!(carom(&["--help"], "").out.contains("Exit codes"));
}

#[test]
fn the_help_shows_a_file_that_works() {
    let help = carom(&["generalized", "--help"], "").out;
    let example = help.split("\n\n").find(|block| block.trim_start().starts_with("mass ")).unwrap();
    let run = generalized(&["--json"], example);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(close(&numbers(&run.json()["velocity"]), &[-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]));
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let n = 200;
    let identity: Vec<Vec<u8>> = (0..n).map(|i| (0..n).map(|j| u8::from(i == j)).collect()).collect();
    let input = format!("mass = {identity:?}\ncontacts = []\nvelocity = {:?}", vec![1; n]);
    let path = file("pipe.toml", input.as_bytes());
    let mut child = program(&["generalized", path.to_str().unwrap(), "--json"]).spawn().unwrap();
    drop(child.stdout.take());
    let run = Run::from(child.wait_with_output().unwrap());
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
}

/// Every file in `tests/diagnostics` gives exactly the text beside it. `CAROM_BLESS=1` rewrites the texts.
#[test]
fn diagnostics_read_as_stored() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics");
    let mut count = 0;
    for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap();
        if name.ends_with(".txt") {
            continue;
        }
        let run: Run = program(&["generalized", name]).current_dir(&folder).output().unwrap().into();
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{name}");
        let stored = folder.join(format!("{name}.txt"));
        if std::env::var_os("CAROM_BLESS").is_some() {
            fs::write(&stored, &run.err).unwrap();
        }
        assert_eq!(run.err, fs::read_to_string(&stored).unwrap(), "{name}");
        count += 1;
    }
    assert!(count >= 6, "{count} files");
}
