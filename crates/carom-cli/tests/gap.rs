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
        let found = pairs(&["paradox.toml", "--at", &entry["t"].to_string()]);
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
    let (code, out, _) = run(&["gap", "paradox.toml", "--at", "0.2"]);
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
fn the_paradox_touches_at_once_and_is_called_so() {
    let (code, out, _) = run(&["toi", "paradox.toml", "--json"]);
    let document: Value = serde_json::from_str(&out).unwrap();
    let pair = &document["pairs"][0];
    assert!(code == Some(0) && pair["time"].as_f64().unwrap().abs() <= pair["time_error"].as_f64().unwrap());
    assert_eq!(pair["type"], "paradox_2b_star", "{pair}");
    assert!(pair["time_error"].as_f64().unwrap() < 1e-13, "{pair}");
    let (code, _, err) = run(&["toi", "dps_hinged_frames.toml"]);
    assert!(code == Some(2) && err.contains("flying freely"), "{err}");
}

/// A document of `carom gap` or `carom toi` on a scene given as text.
fn document(command: &str, scene: &str, options: &[&str]) -> Value {
    let name = format!("carom-{command}-{}-{}.toml", std::process::id(), scene.len());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, scene).unwrap();
    let (code, out, err) = run(&[&[command, path.to_str().unwrap(), "--json"], options].concat());
    std::fs::remove_file(&path).unwrap();
    assert_eq!((code, err.as_str()), (Some(0), ""));
    serde_json::from_str(&out).unwrap()
}

const BOX: &str = "\
carom = 1
[world]
periodic = [10, 4, 0]
[[body]]
name = 'long'
shape = { ellipsoid = { semi_axes = [0.5, 1.75, 0.5] } }
mass = 1
position = [1, 2, 0]
[[body]]
name = 'ball'
shape = { sphere = { radius = 0.5 } }
mass = 1
position = [7, 2, 0]
velocity = [3, 100, 0]
";

#[test]
fn a_fast_ball_meets_the_right_image() {
    // The ball passes 25 boxes along y while it comes up to the image at x = 11, and meets it head on: at t = 1 the
    // centres are level, and 1 apart.
    let found = document("toi", BOX, &["--until", "5"]);
    let pair = &found["pairs"].as_array().unwrap().iter().find(|p| p["bodies"][1] == "ball").unwrap();
    let number = |value: &Value| value.as_f64().unwrap();
    let time = number(&pair["time"]);
    assert!((time - 1.0).abs() <= number(&pair["time_error"]), "{time}");
    assert_eq!(pair["image"], serde_json::json!([-10.0, -100.0, 0.0]));
    assert!((number(&pair["approach"]) + 3.0).abs() < 1e-13, "{pair}");
    // Started a little higher it meets a later one, elsewhere.
    let found = document("toi", &BOX.replace("[7, 2, 0]", "[7, 4, 0]"), &["--until", "5"]);
    let pair = &found["pairs"].as_array().unwrap().iter().find(|p| p["bodies"][1] == "ball").unwrap();
    let time = number(&pair["time"]);
    let image = [0, 1, 2].map(|i| number(&pair["image"][i]));
    assert!(image[0] == -10.0 && image[1] % 4.0 == 0.0 && time > 1.0, "{pair}");
    // The point is on the ellipse x²/0.25 + y²/3.0625 = 1, half a unit from the ball's centre.
    let centre = [7.0 + 3.0 * time + image[0] - 1.0, 4.0 + 100.0 * time + image[1] - 2.0];
    let point = [0, 1].map(|i| number(&pair["point"][i]) - [1.0, 2.0][i]);
    let ellipse = point[0] * point[0] / 0.25 + point[1] * point[1] / 3.0625;
    let distance = (centre[0] - point[0]).hypot(centre[1] - point[1]);
    assert!((ellipse - 1.0).abs() < 1e-12 && (distance - 0.5).abs() < 1e-12, "{ellipse} {distance}");
}

#[test]
fn the_least_gap_is_not_always_that_of_the_nearest_centre() {
    // The long one reaches 1.75 along y: at x = 1.5 the centre at y = 4 is farther, and its body nearer.
    let scene = BOX.replace("position = [7, 2, 0]", "position = [1.5, 3.9, 3]").replace("velocity", "#");
    let tilted = scene.replace(
        "mass = 1\nposition = [1, 2, 0]",
        "mass = 1\norientation = [0.8, -0.6, 0, 0]\nposition = [1, 2, 0]",
    );
    let found = document("gap", &tilted, &[]);
    let pair = found["pairs"].as_array().unwrap().iter().find(|p| p["bodies"][1] == "ball").unwrap().clone();
    let at = |k: i32| {
        let moved = tilted
            .replace("periodic = [10, 4, 0]", "")
            .replace("3.9", &(3.9 + 4.0 * f64::from(k)).to_string());
        document("gap", &moved, &[])["pairs"][0]["gap"].as_f64().unwrap()
    };
    let gaps = [-2, -1, 0, 1].map(at);
    let least = gaps.iter().copied().fold(f64::INFINITY, f64::min);
    // By centre the image at 3.9 − 4 is at y − 2 = −2.1, the body itself at 1.9.
    assert!(gaps[1] < gaps[2] && least == gaps[1], "{gaps:?}");
    assert!((pair["gap"].as_f64().unwrap() - least).abs() < 1e-14, "{pair} {gaps:?}");
    assert_eq!(pair["image"][1], -4.0);
}

#[test]
fn a_long_body_meets_its_own_image_as_it_turns() {
    // Semi-axes 1.75 and 2.25 in a box of 4: turning, the long axis comes to lie along the box.
    let scene = "\
carom = 1
[world]
periodic = [0, 4, 0]
[[body]]
name = 'long'
shape = { ellipsoid = { semi_axes = [2.25, 0.5, 0.5] } }
mass = 1
angular_velocity = [0, 0, 1]
";
    let found = document("toi", scene, &["--until", "3"]);
    let pair = &found["pairs"][0];
    assert_eq!(pair["bodies"], serde_json::json!(["long", "long"]));
    let time = pair["time"].as_f64().unwrap();
    // Two parallel ellipses touch where the gauge of half their distance is one.
    let (s, c) = time.sin_cos();
    let gauge = (2.0 * s / 2.25).powi(2) + (2.0 * c / 0.5).powi(2);
    assert!((gauge - 1.0).abs() < 1e-12, "{gauge}");
    let short = document("toi", &scene.replace("2.25", "1.75"), &["--until", "3"]);
    assert_eq!(short["pairs"], serde_json::json!([]));
}
