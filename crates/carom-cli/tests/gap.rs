//! The program as a user runs it: `carom gap` and `carom toi`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/papers")
}

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_carom")).args(arguments).current_dir(folder()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn pairs(arguments: &[&str]) -> Vec<Value> {
    let (code, out, err) = run(&[&["gap", "--json"], arguments].concat());
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let document: Value = serde_json::from_str(&out).unwrap();
    document["pairs"].as_array().unwrap().clone()
}

#[test]
fn the_paradox_before_at_and_after_contact() {
    let file: Value = serde_json::from_str(include_str!("../../../cases/contacts/free_flight.json")).unwrap();
    for entry in file["cases"][0]["gaps"].as_array().unwrap() {
        let found = pairs(&["pvwz_paradox.toml", "--at", &entry["t"].to_string()]);
        let [pair] = found.as_slice() else { panic!("{found:?}") };
        let (ours, theirs) = (pair["gap"].as_f64().unwrap(), entry["gap"].as_f64().unwrap());
        assert!((ours - theirs).abs() <= 2e-14, "t = {}: {ours} against {theirs}", entry["t"]);
        assert_eq!(pair["bodies"], serde_json::json!(["superellipsoid", "ellipsoid"]));
        for field in ["normal", "points", "iterations"] {
            assert!(!pair[field].is_null(), "{field}");
        }
    }
}

#[test]
fn planes_come_first_and_their_normal_points_to_the_body() {
    for pair in pairs(&["sp_corner.toml"]) {
        let (gap, normal) = (pair["gap"].as_f64().unwrap(), pair["normal"].as_array().unwrap());
        assert!(gap.abs() < 1e-14 && normal.iter().map(|x| x.as_f64().unwrap()).sum::<f64>() == 1.0);
        assert_eq!(pair["bodies"][1], "ellipsoid");
    }
    let before = pairs(&["sp_corner.toml", "--at", "-0.1"]);
    assert_eq!(before.len(), 3);
    for pair in before {
        let point = |k: usize, i: usize| pair["points"][k][i].as_f64().unwrap();
        let along: f64 =
            (0..3).map(|i| pair["normal"][i].as_f64().unwrap() * (point(1, i) - point(0, i))).sum();
        assert!(pair["gap"].as_f64().unwrap() > 0.0 && (along - pair["gap"].as_f64().unwrap()).abs() < 1e-14);
    }
}

#[test]
fn for_people_and_with_wrong_arguments() {
    let (code, out, _) = run(&["gap", "pvwz_paradox.toml", "--at", "0.2"]);
    assert!(code == Some(0) && out.contains("overlap by") && out.contains("t = 0.2"), "{out}");
    for arguments in [["sp_corner.toml", "--at", "soon"], ["dps_hinged_frames.toml", "--at", "1"]] {
        let (code, out, err) = run(&[&["gap"], arguments.as_slice()].concat());
        assert!(code == Some(2) && out.is_empty() && err.contains("--at"), "{err}");
    }
}

/// The document of `carom toi` on a scene given as text.
fn toi(scene: &str, options: &[&str]) -> (Option<i32>, String, String) {
    let path = std::env::temp_dir().join(format!("carom-toi-{}-{}.toml", std::process::id(), scene.len()));
    std::fs::write(&path, scene).unwrap();
    let result = run(&[&["toi", path.to_str().unwrap()], options].concat());
    std::fs::remove_file(&path).unwrap();
    result
}

const DROP: &str = "\
carom = 1
[world]
gravity = [0, 0, -2]
[[body]]
name = 'ball'
shape = { sphere = { radius = 0.5 } }
mass = 2
position = [0, 0, 1.75]
velocity = [1, 0, -2]
[[plane]]
name = 'floor'
normal = [0, 0, 1]
";

#[test]
fn a_falling_ball_meets_the_floor_when_it_should() {
    let (code, out, err) = toi(DROP, &["--json"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let document: Value = serde_json::from_str(&out).unwrap();
    let pair = &document["pairs"][0];
    // 1.25 − 2 t − t² = 0.
    assert!((pair["time"].as_f64().unwrap() - 0.5).abs() <= pair["time_error"].as_f64().unwrap());
    assert!((pair["approach"].as_f64().unwrap() + 3.0).abs() < 1e-14);
    assert_eq!((&pair["type"], &pair["bodies"]), (&"normal".into(), &serde_json::json!(["floor", "ball"])));
    for field in ["gap", "normal", "point"] {
        assert!(!pair[field].is_null(), "{field}");
    }
    let (_, out, _) = toi(DROP, &["--json", "--until", "0.25"]);
    let document: Value = serde_json::from_str(&out).unwrap();
    assert!(document["pairs"][0]["time"].is_null());
    let (_, out, _) = toi(DROP, &[]);
    assert!(out.contains("floor and ball meet at t = 0.5"), "{out}");
    let (code, _, err) = toi(&DROP.replace("1.75", "0.25"), &[]);
    assert!(code == Some(2) && err.contains("overlaps `floor` by 0.25"), "{err}");
}

#[test]
fn the_paradox_touches_at_once_without_a_type() {
    let (code, out, _) = run(&["toi", "pvwz_paradox.toml", "--json"]);
    let document: Value = serde_json::from_str(&out).unwrap();
    let pair = &document["pairs"][0];
    assert!(code == Some(0) && pair["time"].as_f64().unwrap().abs() <= pair["time_error"].as_f64().unwrap());
    assert!(pair["type"].is_null(), "{pair}");
    let (code, _, err) = run(&["toi", "dps_hinged_frames.toml"]);
    assert!(code == Some(2) && err.contains("flying freely"), "{err}");
}
