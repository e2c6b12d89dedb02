//! `[[fill]]` as users write it: each field wrong in turn, densities that nothing reaches, Ctrl-C while bodies are placed, and what
//! is said of averages that are not of an equilibrium.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod running;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use running::{Place, carom, run, run_text};
use serde_json::Value;

const FIELDS: [(&str, &str); 9] = [
    ("name", "'gas'"),
    ("count", "20"),
    ("shape", "{ sphere = { radius = 0.5 } }"),
    ("mass", "1"),
    ("packing_fraction", "0.3"),
    ("temperature", "1"),
    ("start", "'random'"),
    ("seed", "1"),
    ("equilibrate", "1"),
];

/// A scene of one fill in which some fields are otherwise.
fn fill(changes: &[(&str, &str)]) -> String {
    let line = |&(field, value): &(&str, &str)| {
        let value = changes.iter().find(|(other, _)| *other == field).map_or(value, |(_, value)| value);
        format!("{field} = {value}\n")
    };
    let lines: String = FIELDS.iter().map(line).collect();
    format!("carom = 1\n[[fill]]\n{lines}[run]\nuntil = 1\n")
}

#[test]
fn every_field_that_is_wrong_is_named_with_its_line_its_value_and_what_would_be_right() {
    for (field, value, at, message, expected) in [
        ("name", "''", "name", "is empty", "a name"),
        ("count", "0", "count", "is zero", "from 1 to 100000000"),
        ("count", "-3", "count", "is negative", "at least 1"),
        ("count", "1e3", "count", "is not written as a whole number", "at least 1"),
        ("count", "1000000000", "count", "is out of range", "from 1 to 100000000"),
        ("shape", "{ point = {} }", "shape", "fills nothing", "a volume"),
        ("shape", "{ sphere = { radius = 0 } }", "shape.sphere.radius", "is zero", "greater than 0"),
        ("shape", "{ sphere = { radius = 1e-120 } }", "shape", "a volume of 0e0", "other units"),
        ("shape", "{ sphere = { radius = 1e200 } }", "shape", "a volume of inf", "other units"),
        ("mass", "-1", "mass", "is negative", "greater than 0"),
        ("packing_fraction", "1.2", "packing_fraction", "is out of range", "between 0 and 1"),
        ("temperature", "-1", "temperature", "is negative", "0 or a number greater"),
        ("start", "'latice'", "start", "latice", "`lattice`"),
        ("seed", "-1", "seed", "is negative", "at least 0"),
        ("equilibrate", "1e300", "equilibrate", "is out of range", "from 0 to 1e6"),
        ("equilibrate", "-1", "equilibrate", "is negative", "from 0 to 1e6"),
    ] {
        let ran = run_text("fill-wrong", &fill(&[(field, value)]), &["--json"]);
        assert_eq!(ran.code, Some(2), "{field} = {value}: {}", ran.err);
        let errors = &ran.json()["errors"];
        assert_eq!(errors.as_array().unwrap().len(), 1, "{errors}");
        let error = &errors[0];
        assert_eq!(error["field"], format!("fill[0].{at}"), "{error}");
        let line = 3 + FIELDS.iter().position(|(other, _)| *other == field).unwrap();
        assert_eq!(error["line"], line, "{error}");
        assert!(error["message"].as_str().unwrap().contains(message), "{error}");
        assert!(error["expected"].as_str().unwrap().contains(expected), "{error}");
        assert!(ran.err.contains(value.split(' ').next().unwrap()) || value.starts_with('{'), "{}", ran.err);
    }
}

#[test]
fn what_is_wrong_with_every_body_of_a_fill_is_said_once() {
    let ran = run_text("fill-hot", &fill(&[("temperature", "1e308")]), &["--json"]);
    let errors = &ran.json()["errors"];
    assert_eq!((ran.code, errors.as_array().unwrap().len()), (Some(2), 1), "{errors}");
}

#[test]
fn advice_on_densities_can_be_followed() {
    let advice = |changes: &[(&str, &str)]| {
        let ran = run_text("fill-dense", &fill(changes), &["--json"]);
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        ran.json()["errors"][0]["expected"].as_str().unwrap().to_string()
    };
    let (lattice, dense) = (("start", "'lattice'"), ("packing_fraction", "0.72"));
    // Beyond π/√18 there is nothing; below it there is the face-centred lattice, where the count fills it.
    for changes in [vec![("packing_fraction", "0.75")], vec![("packing_fraction", "0.75"), lattice]] {
        assert!(advice(&changes).contains("denser than 0.7405"));
    }
    for changes in [vec![dense], vec![dense, lattice]] {
        let said = advice(&changes);
        assert!(said.contains("4 or 32 bodies"), "{said}");
    }
    for count in ["4", "32"] {
        run_text("fill-full", &fill(&[dense, lattice, ("count", count)]), &["--json"]).well();
    }
    // A box that is given is not made larger by more bodies.
    let text = fill(&[("packing_fraction", "0.3"), ("count", "2")]).replace("packing_fraction = 0.3\n", "");
    let short = text.replace("[run]", "[world]\nperiodic = [0.9, 8, 8]\n[run]");
    let ran = run_text("fill-short", &short, &["--json"]);
    let said = ran.json()["errors"][0]["expected"].as_str().unwrap().to_string();
    assert_eq!(said, "a box longer than 1 along every axis");
}

#[cfg(unix)]
#[test]
fn a_signal_while_bodies_are_placed_is_heard_at_once_and_said() {
    let place = Place::new("fill-signal");
    let text = fill(&[("count", "100000"), ("packing_fraction", "0.5"), ("equilibrate", "10000")]);
    let scene = place.file("gas.toml", &text);
    let folder = place.path("gas");
    for copies in [None, Some("2")] {
        let mut command = carom();
        command.arg("run").arg(&scene).arg("-o").arg(&folder).stdout(Stdio::null()).stderr(Stdio::piped());
        command.args(copies.into_iter().flat_map(|count| ["--replicas", count]));
        let child = command.spawn().unwrap();
        std::thread::sleep(Duration::from_secs(2));
        let sent = Instant::now();
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("interrupted while the bodies of the fills were placed"), "{said}");
        assert!(said.contains("nothing was run"), "{said}");
        assert!(sent.elapsed() < Duration::from_secs(20), "{:?}", sent.elapsed());
        assert!(!folder.join("run.json").exists() && !folder.join("replica-0").exists());
    }
}

fn notes(document: &Value) -> String {
    document["notes"].to_string()
}

#[test]
fn averages_over_what_is_no_equilibrium_are_said_to_be_that() {
    let lattice = fill(&[("start", "'lattice'")]);
    let equilibrated = run_text("fill-even", &lattice, &["--json"]).well().json();
    assert_eq!(notes(&equilibrated), "[]");
    let fresh =
        run_text("fill-lattice", &lattice.replace("equilibrate = 1\n", ""), &["--json"]).well().json();
    assert!(notes(&fresh).contains("begin on the lattice"), "{}", fresh["notes"]);
    // On the lattice there are blocks without a collision; the error of the mean free path knows what to do with them.
    let path = &fresh["observables"]["mean_free_path"];
    assert!(path["error"].as_f64().unwrap() < path["mean"].as_f64().unwrap(), "{path}");
    let lossy = fill(&[]).replace("until = 1", "until = 20") + "[surface]\nrestitution = 0.5\n";
    let cooled = run_text("fill-cooled", &lossy, &["--json"]).well().json();
    assert!(notes(&cooled).contains("the gas cools"), "{}", cooled["notes"]);
}

#[test]
fn copies_tell_their_audit_and_go_on_one_by_one() {
    let place = Place::new("fill-copies");
    let scene = place.file("gas.toml", &fill(&[]));
    let folder = place.path("copies");
    let ran = run(&scene, &["--replicas", "2", "-o", folder.to_str().unwrap()]).well();
    assert!(
        ran.out.contains("largest errors of all runs: energy ") && ran.out.contains("smallest gap"),
        "{}",
        ran.out
    );
    let ran = carom().args(["run", "--resume"]).arg(&folder).output().unwrap();
    let said = String::from_utf8(ran.stderr).unwrap().replace("\n  |", "");
    assert!(
        ran.status.code() == Some(2) && said.contains("copies of a run, all of which have ended"),
        "{said}"
    );
}
