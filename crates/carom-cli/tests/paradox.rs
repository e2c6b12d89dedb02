//! The program as a user runs it: `carom paradox`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod golden;

use std::process::Command;

use golden::Run;
use serde_json::Value;

fn carom(arguments: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_carom"));
    command.args(arguments).current_dir(env!("CARGO_TARGET_TMPDIR")).output().unwrap().into()
}

const SHAPES: [&str; 3] = ["--shapes", "superellipsoid(1,2,3;4)", "ellipsoid(2, 1, 1)"];
const ELLIPSES: [&str; 3] = ["--shapes", "ellipsoid(3,1,1)", "ellipsoid(1.5,0.7,1)"];

#[test]
fn the_scene_is_a_paradox_to_the_other_commands() {
    for (shapes, kind, planar) in [
        (SHAPES, "2b_star", false),
        (SHAPES, "2b", false),
        (SHAPES, "marginal", false),
        (ELLIPSES, "2b", true),
        (ELLIPSES, "marginal", false),
    ] {
        let mut arguments = [&["paradox"], shapes.as_slice(), &["--type", kind, "--seed", "5"]].concat();
        if planar {
            arguments.push("--planar");
        }
        let run = carom(&arguments);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{kind}");
        let name = format!("paradox-{kind}-{planar}-{}.toml", std::process::id());
        let file = format!("{}/{name}", env!("CARGO_TARGET_TMPDIR"));
        std::fs::write(&file, &run.out).unwrap();
        let found = carom(&["classify", &name, "--json"]).json();
        assert_eq!(found["contacts"][0]["type"], format!("paradox_{kind}"), "{}", run.out);
        // From before: the exact gap is positive there, and the flight passes through the contact.
        let early = carom(&[&arguments[..], &["--before", "0.05", "-o", &name]].concat());
        assert!(early.code == Some(0) && early.out.contains("They touch at t = 0.05"), "{}", early.out);
        let gap =
            |t: &str| carom(&["gap", &name, "--at", t, "--json"]).json()["pairs"][0]["gap"].as_f64().unwrap();
        assert!(gap("0") > 0.0 && gap("0.05").abs() < 1e-14 && gap("0.1") < 0.0);
        std::fs::remove_file(&file).unwrap();
    }
}

#[test]
fn for_programs() {
    let run = carom(&[&["paradox"], SHAPES.as_slice(), &["--json"]].concat());
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let json = run.json();
    assert_eq!((&json["outcome"], &json["type"]), (&"found".into(), &"paradox_2b_star".into()));
    let sign = |list: &Value| {
        list.as_array().unwrap().iter().map(|e| e["gap"].as_f64().unwrap()).collect::<Vec<_>>()
    };
    assert!(sign(&json["certificate"]["before"]).iter().all(|g| *g > 0.0));
    assert!(sign(&json["certificate"]["after"]).iter().all(|g| *g < 0.0));
    assert!(
        json["contact"]["g3"].as_f64().unwrap() < 0.0
            && json["certificate"]["apart_since"].as_f64().unwrap() < 0.0
    );
    // The scene in the document is a scene.
    let file = format!("{}/paradox-{}.json", env!("CARGO_TARGET_TMPDIR"), std::process::id());
    std::fs::write(&file, json["scene"].to_string()).unwrap();
    let found = carom(&["classify", &file, "--json"]).json();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(found["contacts"][0]["type"], "paradox_2b_star");
}

#[test]
fn where_there_is_none_it_says_why() {
    let run = carom(&[&["paradox"], ELLIPSES.as_slice()].concat());
    assert_eq!((run.code, run.out.as_str()), (Some(3), ""));
    assert!(
        run.err.contains("no paradox_2b_star") && run.err.contains("homogeneous ellipsoid"),
        "{}",
        run.err
    );
    let run = carom(&[&["paradox"], ELLIPSES.as_slice(), &["--json"]].concat());
    assert_eq!((run.code, &run.json()["outcome"]), (Some(3), &"impossible".into()));
    let balls = carom(&["paradox", "--shapes", "sphere(1)", "sphere(2)", "--type", "marginal"]);
    assert!(balls.code == Some(3) && balls.err.contains("two balls"), "{}", balls.err);
}

#[test]
fn wrong_arguments() {
    for (shape, word) in [
        ("ellipsoid(1,2)", "expected sphere(r)"),
        ("cube(1)", "expected sphere(r)"),
        ("ellipsoid(1,2,x)", "`x` is not a number"),
        ("sphere(-1)", "sizes"),
        ("sphere(nan)", "sizes"),
        ("superellipsoid(1,1,1;1.5)", "exponent"),
    ] {
        let run = carom(&["paradox", "--shapes", shape, "sphere(1)"]);
        assert!(run.code == Some(2) && run.out.is_empty() && run.err.contains(word), "{shape}: {}", run.err);
    }
    assert_eq!(carom(&["paradox", "--shapes", "sphere(1)"]).code, Some(2));
    assert_eq!(carom(&[&["paradox"], SHAPES.as_slice(), &["--before", "-1"]].concat()).code, Some(2));
    let run = carom(&[&["paradox"], SHAPES.as_slice(), &["-o", "/nowhere/at/all.toml"]].concat());
    assert!(run.code == Some(2) && run.err.contains("--output"), "{}", run.err);
}

/// A text with its numbers left out, which the last bit of a search may change.
fn masked(text: &str) -> String {
    let words = text.split_inclusive([' ', '\n', ',', ';', '[', ']']);
    words
        .map(|word| {
            let end = word.trim_end_matches([' ', '\n', ',', ';', '[', ']', '.']);
            if end.parse::<f64>().is_ok() { word.replacen(end, "#", 1) } else { word.to_string() }
        })
        .collect()
}

#[test]
fn read_as_stored() {
    let run = carom(&[&["paradox"], SHAPES.as_slice(), &["--seed", "1"]].concat());
    golden::check("paradox.txt", &masked(&run.out));
}
