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

/// What `carom toi` says of a scene given as text.
fn toi(scene: &str, options: &[&str]) -> (Option<i32>, String, String) {
    ask("toi", scene, options)
}

/// What a command says of a scene given as text.
fn ask(command: &str, scene: &str, options: &[&str]) -> (Option<i32>, String, String) {
    let name = format!("carom-{command}-{}-{}.toml", std::process::id(), scene.len());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, scene).unwrap();
    let result = run(&[&[command, path.to_str().unwrap()], options].concat());
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

/// A needle comes down aslant on the middle of a face that is flat to 10⁻²⁶.
const NEEDLE: &str = "\
carom = 1
[[body]]
name = 'needle'
shape = { ellipsoid = { semi_axes = [0.001, 0.001, 1] } }
mass = 1
inertia = [0.2000002, 0.2000002, 4e-7]
position = [0.296, 0.2, 3]
orientation = [0.9887710779360422, 0, 0.14943813247359922, 0]
velocity = [0, 0, -1]
[[body]]
name = 'block'
shape = { superellipsoid = { semi_axes = [1, 1, 1], exponent = 50 } }
fixed = true
[run]
until = 1.5
";

/// The needle's lowest point is c + r with r = (sin θ cos θ (a² − c²)/h, 0, −h), h² = a² sin²θ + c² cos²θ, and with restitution
/// one the impulse is 2/(1/m + r_x²/I).
#[test]
fn a_needle_on_a_face_bounces_off_its_tip() {
    let document = |command: &str| -> Value {
        let (code, out, err) = ask(command, NEEDLE, &["--json"]);
        assert_eq!((code, err.as_str()), (Some(0), ""));
        serde_json::from_str(&out).unwrap()
    };
    let (w, y): (f64, f64) = (0.988_771_077_936_042_2, 0.149_438_132_473_599_22);
    let (sine, cosine) = (2.0 * w * y, (w - y) * (w + y));
    let height = (1e-6 * sine * sine + cosine * cosine).sqrt();
    let lever = sine * cosine * (1e-6 - 1.0) / height;
    let impulse = 2.0 / (1.0 + lever * lever / 0.200_000_2);
    assert!((impulse - 1.3921).abs() < 5e-5, "{impulse}");

    let close = |found: &Value, wanted: f64, to: f64, what: &str| {
        let found = found.as_f64().unwrap();
        assert!((found - wanted).abs() <= to, "{what}: {found} against {wanted}");
    };
    let place = [0.296 + lever, 0.2, 1.0];
    let pair = &document("gap")["pairs"][0];
    assert_eq!(pair["bodies"], serde_json::json!(["needle", "block"]));
    close(&pair["gap"], 2.0 - height, 1e-15, "gap");
    for i in 0..3 {
        let below = if i == 2 { 2.0 - height } else { 0.0 };
        close(&pair["normal"][i], if i == 2 { -1.0 } else { 0.0 }, 1e-15, "normal");
        close(&pair["points"][0][i], place[i] + below, 1e-12, "on the needle");
        close(&pair["points"][1][i], place[i], 1e-12, "on the block");
    }
    let pair = &document("toi")["pairs"][0];
    close(&pair["time"], 2.0 - height, pair["time_error"].as_f64().unwrap(), "time");
    close(&pair["approach"], -1.0, 1e-15, "approach");
    for i in 0..3 {
        close(&pair["point"][i], place[i], 1e-12, "point");
    }
    let ran = document("run");
    let event = &ran["events"][0];
    close(&event["impulse"], impulse, 1e-13, "impulse");
    close(&event["separation"], 1.0, 1e-13, "separation");
    for i in 0..3 {
        close(&event["point"][i], place[i], 1e-12, "point of the impact");
    }
    close(&ran["final"]["needle"]["velocity"][2], impulse - 1.0, 1e-13, "velocity after");
}

const SPINNING: &str = "\
carom = 1
[[body]]
name = 'a'
shape = { ellipsoid = { semi_axes = [1, 2, 3] } }
mass = 1
angular_velocity = [0.3, 2, 0.5]
[[body]]
name = 'b'
shape = { ellipsoid = { semi_axes = [1, 2, 3] } }
mass = 1
position = [5.99, 0, 0]
angular_velocity = [1, 0.3, 1.7]
[[body]]
name = 'c'
shape = { sphere = { radius = 0.5 } }
mass = 1
position = [0, 0, 8]
velocity = [0, 0, -1]
";

#[test]
fn a_search_that_gives_up_is_undecided_and_the_others_are_answered() {
    let (code, out, err) = toi(SPINNING, &["--json", "--until", "1e9"]);
    assert_eq!((code, err.as_str()), (Some(3), ""));
    let document: Value = serde_json::from_str(&out).unwrap();
    let [spinning, met, _] = [0, 1, 2].map(|k| &document["pairs"][k]);
    let reached = spinning["searched_until"].as_f64().unwrap();
    assert!(spinning["undecided"] == true && spinning["time"].is_null(), "{spinning}");
    assert!(reached > 1e5 && reached < 1e9, "{spinning}");
    assert!(met["undecided"] == false && met["searched_until"] == met["time"], "{met}");
    assert!((met["time"].as_f64().unwrap() - 4.8878302289907465).abs() < 1e-12, "{met}");
    let (code, out, _) = toi(SPINNING, &["--until", "1e9"]);
    assert_eq!(code, Some(3));
    assert!(out.contains("a and c meet at t = 4.88783022899"), "{out}");
    assert!(out.contains("a and b: undecided; they do not meet before t = "), "{out}");
    // What can be searched to its end is.
    let (code, out, _) = toi(SPINNING, &["--json", "--until", "1e5"]);
    let document: Value = serde_json::from_str(&out).unwrap();
    let pair = &document["pairs"][0];
    assert!(code == Some(0) && pair["undecided"] == false && pair["searched_until"] == 1e5, "{pair}");
}

#[test]
fn a_graze_states_its_minimum_and_its_first_zero() {
    let (code, out, _) = run(&["toi", "../gallery/graze.toml", "--json"]);
    let document: Value = serde_json::from_str(&out).unwrap();
    let pair = &document["pairs"][0];
    assert!(code == Some(0) && pair["type"] == "graze", "{pair}");
    let (time, error) = (pair["time"].as_f64().unwrap(), pair["time_error"].as_f64().unwrap());
    assert!((time - 2.0).abs() <= error && error < 1e-13, "{pair}");
    assert_eq!(pair["minimum"]["time"], pair["time"]);
    assert!(pair["minimum"]["gap"].as_f64().unwrap().abs() < 1e-14, "{pair}");
    // Balls of radius ½ at speed 1: within δ of touching for √(2δ/g'') before.
    let first = pair["first_zero"].as_f64().unwrap();
    assert!(first < 2.0 && 2.0 - first < 1e-6, "{pair}");
    // A ball that is lower by less than any rounding can tell has its first zero in between.
    let lower = "carom = 1\n[[body]]\nname = 'one'\nshape = { sphere = { radius = 0.5 } }\nmass = 1\n[[body]]\nname = 'two'\n\
        shape = { sphere = { radius = 0.5 } }\nmass = 1\nposition = [-2, 0.9999999999999998, 0]\nvelocity = [1, 0, 0]\n";
    let (_, out, _) = toi(lower, &["--json"]);
    let document: Value = serde_json::from_str(&out).unwrap();
    let pair = &document["pairs"][0];
    // (2 − t)² = 1 − (1 − 2ε)², to first order 2·2.2e-16.
    let truth = 2.0 - (2.0 * 2.220446049250313e-16_f64).sqrt();
    assert_eq!(pair["type"], "graze", "{pair}");
    assert!(
        pair["first_zero"].as_f64().unwrap() <= truth && truth <= pair["time"].as_f64().unwrap(),
        "{pair}"
    );
    assert!(pair["minimum"]["gap"].as_f64().unwrap() <= 0.0, "{pair}");
}
