//! The scenes of cases/gallery, each run with `--strict`, and the point of each checked where it is a number.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod running;

use std::fs;
use std::path::{Path, PathBuf};

use running::run;
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/gallery")
}

/// The document of a scene's run.
#[track_caller]
fn document(name: &str) -> Value {
    run(&folder().join(name).with_extension("toml"), &["--strict", "--json", "--samples"]).well().json()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn vector(value: &Value) -> [f64; 3] {
    [0, 1, 2].map(|i| number(&value[i]))
}

fn events(document: &Value) -> &Vec<Value> {
    document["events"].as_array().unwrap()
}

#[track_caller]
fn assert_near(ours: f64, theirs: f64, tolerance: f64) {
    assert!(
        (ours - theirs).abs() <= tolerance,
        "{ours} against {theirs}, off by {:e}",
        (ours - theirs).abs()
    );
}

#[track_caller]
fn assert_kinds(document: &Value, kinds: &[&str]) {
    let ours: Vec<&str> = events(document).iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(ours, kinds);
}

/// Checks a scene's point on its document.
type Check = fn(&Value);

const SCENES: [(&str, Check); 32] = [
    ("box", box_of_ellipsoids),
    ("break_shot", break_shot),
    ("collision", collision),
    ("corner", corner),
    ("corner_of_a_ball", corner_of_a_ball),
    ("die", die),
    ("double_pendulum_at_a_wall", double_pendulum),
    ("dropping_ellipsoid", dropping_ellipsoid),
    ("dzhanibekov", dzhanibekov),
    ("ellipsoid_gas", ellipsoid_gas),
    ("gas", gas),
    ("graze", graze),
    ("hinged_frames", hinged_frames),
    ("inelastic_gas", inelastic_gas),
    ("needle", needle),
    ("newtons_cradle", cradle),
    ("newtons_cradle_on_strings", cradle_on_strings),
    ("newtons_cradle_together", cradle_together),
    ("newtons_cradle_touching", cradle_touching),
    ("nonholonomic_pendulum", pendulum),
    ("nonholonomic_pendulum_at_rest", pendulum_at_rest),
    ("paradox", |document| paradox(document, 0, 1e-9)),
    ("paradox_of_a_pillow", |document| paradox(document, 1, 1e-9)),
    ("paradox_of_ellipsoids", |document| paradox(document, 2, 1e-9)),
    ("rocking_block", rocking_block),
    ("rolling_between_rough_walls", rolling_between_rough_walls),
    ("sleigh_in_a_box", sleigh_in_a_box),
    ("sphere_gas", sphere_gas),
    ("spring_at_a_wall", spring_at_a_wall),
    ("staircase", staircase),
    ("superball_under_table", superball),
    ("wobbling_egg", wobbling_egg),
];

#[test]
fn every_scene_runs_strictly_and_makes_its_point() {
    let mut failures = Vec::new();
    for (name, check) in SCENES {
        let checked = std::panic::catch_unwind(|| check(&document(name)));
        if checked.is_err() {
            failures.push(name);
        }
    }
    assert!(failures.is_empty(), "{failures:?}");
}

#[test]
fn every_scene_is_checked_and_says_its_point_first() {
    let mut names: Vec<String> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_string())
        .collect();
    names.sort();
    assert_eq!(names, SCENES.map(|(name, _)| name));
    for name in names {
        let text = fs::read_to_string(folder().join(&name).with_extension("toml")).unwrap();
        let first = text.lines().next().unwrap();
        assert!(
            first.starts_with("# ") && first.ends_with('.') && text.contains("\ntitle = "),
            "{name}: {first}"
        );
    }
}

/// Nothing is lost, and the joints hold.
fn assert_kept(document: &Value) {
    assert_eq!(document["stopped"], "until");
    assert!(number(&document["audit"]["energy_error_max"]) < 1e-13);
    assert!(number(&document["audit"]["joint_error_max"]) < 1e-13);
}

/// It ends at rest on one of its faces.
fn die(document: &Value) {
    assert_eq!(document["stopped"], "until");
    let last = &document["final"]["die"];
    assert_near(vector(&last["position"])[2], 0.6, 1e-12);
    assert!(vector(&last["angular_velocity"]).iter().all(|x| x.abs() < 1e-12));
}

/// Each impact takes the same share of the spin.
fn rocking_block(document: &Value) {
    assert_eq!(document["stopped"], "until");
    let ratio = 1.0 - 1.5 * 0.04 / (0.04 + 0.64);
    let fast = |event: &&Value| event["kind"] == "impact" && number(&event["approach"]) < -1e-6;
    let mut approaches: Vec<f64> =
        events(document).iter().filter(fast).map(|event| number(&event["approach"])).collect();
    // Both corners of an edge.
    approaches.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
    assert!(approaches.len() >= 10);
    for pair in approaches.windows(2) {
        assert_near(pair[1] / pair[0], ratio, 1e-9);
    }
}

fn double_pendulum(document: &Value) {
    assert_kept(document);
    for name in ["upper", "lower"] {
        assert!(events(document).iter().any(|event| event["bodies"][1] == name), "{name}");
    }
    for event in events(document) {
        let joints = &event["joints"];
        // The elbow has no torque, and the shoulder carries what the elbow and the wall do not.
        assert!(vector(&joints["elbow"]["angular"]).iter().all(|x| x.abs() < 1e-13));
        assert_eq!(joints["shoulder"]["impulse"].as_array().unwrap().len(), 5);
    }
    let reactions = document["reactions"].as_array().unwrap();
    assert_eq!(reactions.len(), 2 * 1001);
}

fn hinged_frames(document: &Value) {
    assert_eq!(document["stopped"], "until");
    assert!(number(&document["audit"]["joint_error_max"]) < 1e-13);
    let impacts: Vec<&Value> = events(document).iter().filter(|event| event["kind"] == "impact").collect();
    assert!(impacts.len() >= 9 && impacts.len().is_multiple_of(3), "{}", impacts.len());
    for three in impacts.chunks(3) {
        assert!(three.iter().all(|event| event["number"] == three[0]["number"]));
        assert_eq!(three[0]["joints"]["hinge of the first"]["determined"], false);
        for event in three {
            assert_near(number(&event["separation"]), -0.9 * number(&event["approach"]), 1e-12);
        }
    }
}

fn cradle_on_strings(document: &Value) {
    assert_kept(document);
    let pairs: Vec<[&str; 2]> =
        events(document).iter().map(|e| [0, 1].map(|i| e["bodies"][i].as_str().unwrap())).collect();
    let through = [["one", "two"], ["two", "three"], ["three", "four"], ["four", "five"]];
    assert_eq!(pairs[..4], through);
    // The last goes out as fast as the first came in, but for the gaps.
    let (first, last) = (&events(document)[0], &events(document)[3]);
    assert_near(number(&last["separation"]), -number(&first["approach"]), 2e-3);
    assert_eq!(pairs[4], ["four", "five"]);
}

fn rolling_between_rough_walls(document: &Value) {
    assert_kept(document);
    assert!(events(document).len() > 15);
    assert!(document["rolling"]["rolling"]["pulls"].is_f64());
    // The velocity along each wall changes, that across it turns round.
    for event in events(document) {
        assert_near(number(&event["separation"]), -number(&event["approach"]), 1e-13);
    }
    let ball = &document["final"]["ball"];
    let (v, w) = (vector(&ball["velocity"]), vector(&ball["angular_velocity"]));
    assert_near(v[0], 0.05 * w[1], 1e-13);
    assert_near(v[1], -0.05 * w[0], 1e-13);
}

fn sleigh_in_a_box(document: &Value) {
    assert_kept(document);
    assert!(events(document).len() >= 8);
    // The edge has no velocity across itself.
    for sample in document["samples"].as_array().unwrap() {
        let q: Vec<f64> = sample["orientation"].as_array().unwrap().iter().map(number).collect();
        let [c, s] = [q[0] * q[0] - q[3] * q[3], 2.0 * q[0] * q[3]];
        let (v, w) = (vector(&sample["velocity"]), vector(&sample["angular_velocity"]));
        assert_near(-s * v[0] + c * v[1], 0.2 * w[2], 1e-13);
    }
}

fn spring_at_a_wall(document: &Value) {
    let last = events(document).last().unwrap();
    assert_eq!(last["kind"], "rest");
    assert!(events(document).len() > 15);
    // Pressed against the wall, with the spring stretched by an eighth.
    assert_near(number(&document["final"]["ball"]["position"][0]), 1.125, 1e-14);
    assert!(number(&document["audit"]["energy_error_max"]) < 1e-13);
}

fn box_of_ellipsoids(document: &Value) {
    assert_eq!(document["performance"]["impacts"], 1000);
    assert!(number(&document["audit"]["energy_error_max"]) < 1e-13);
    assert!(number(&document["audit"]["gap_min"]) > -1e-14);
}

/// Whether an observable is within five of its errors, or a share of the value.
#[track_caller]
fn assert_observed(document: &Value, name: &str, value: f64, share: f64) {
    let found = &document["observables"][name];
    let (mean, error) = (number(&found["mean"]), number(&found["error"]));
    assert!((mean - value).abs() <= 5.0 * error + share * value, "{name}: {mean} ± {error} against {value}");
}

fn sphere_gas(document: &Value) {
    assert_eq!(document["loop"], "edmd");
    assert_observed(document, "compressibility", 12.156, 0.005);
    assert_near(number(&document["observables"]["temperature_translational"]["mean"]), 1.0, 1e-12);
}

fn ellipsoid_gas(document: &Value) {
    assert_observed(document, "compressibility", 4.5, 0.01);
    assert_observed(document, "temperature_translational", 1.0, 0.01);
    assert_observed(document, "temperature_rotational", 1.0, 0.01);
}

fn inelastic_gas(document: &Value) {
    // 1/τ = (1 − k²)/6 of the collision rate 4 n g √π at the start.
    let (k, packing) = (0.9, 0.1);
    let density: f64 = 6.0 * packing / std::f64::consts::PI;
    let contact = (1.0 - 0.5 * packing) / (1.0 - packing).powi(3);
    let rate = 4.0 * density * contact * std::f64::consts::PI.sqrt();
    let tau = 6.0 / ((1.0 - k * k) * rate);
    for time in [0, 4, 8, 20] {
        let at = f64::from(time);
        let samples = document["samples"].as_array().unwrap().iter().filter(|sample| sample["time"] == at);
        let squares: Vec<f64> =
            samples.map(|sample| vector(&sample["velocity"]).iter().map(|x| x * x).sum()).collect();
        assert_eq!(squares.len(), 500);
        let temperature = squares.iter().sum::<f64>() / 1500.0;
        assert_near(temperature.sqrt() * (1.0 + at / tau), 1.0, 0.08);
    }
}

fn gas(document: &Value) {
    assert_eq!(document["performance"]["impacts"], 2000);
    for error in ["energy_error_max", "linear_error_max"] {
        assert!(number(&document["audit"][error]) < 2e-14, "{error}");
    }
    // Somebody meets somebody through the wall.
    assert!(events(document).iter().any(|event| event["image"] != serde_json::json!([0, 0, 0])));
}

fn break_shot(document: &Value) {
    let ball = |number: usize| &document["final"][format!("ball{number}")];
    for (left, right) in [(2, 3), (4, 6), (7, 10), (8, 9), (11, 15), (12, 14)] {
        for field in ["position", "velocity"] {
            let (a, b) = (vector(&ball(left)[field]), vector(&ball(right)[field]));
            assert_near(a[0], b[0], 1e-11);
            assert_near(a[1], -b[1], 1e-11);
        }
    }
    // The corners take most of it.
    assert!(vector(&ball(11)["velocity"])[0] > 4.0 && vector(&ball(5)["velocity"])[0] < 0.1);
}

fn reference() -> Value {
    serde_json::from_str(include_str!("../../../cases/simulation/contacts.json")).unwrap()
}

fn collision(document: &Value) {
    assert_kinds(document, &["impact"]);
    let (event, expected) = (&events(document)[0], &reference()["normal"]);
    for field in ["time", "impulse", "approach"] {
        assert_near(number(&event[field]), number(&expected[field]), 1e-13);
    }
    for (k, name) in ["superellipsoid", "ellipsoid"].into_iter().enumerate() {
        let after = |sample: &&Value| sample["moment"] == "after" && sample["body"] == name;
        let after = document["samples"].as_array().unwrap().iter().find(after).unwrap();
        for field in ["velocity", "angular_velocity"] {
            for (a, b) in vector(&after[field]).into_iter().zip(vector(&expected["after"][k][field])) {
                assert_near(a, b, 1e-13);
            }
        }
    }
}

fn paradox(document: &Value, case: usize, tolerance: f64) {
    let expected = &reference()["paradoxes"][case];
    assert_kinds(document, &["hold_begin", "hold_end"]);
    let [begin, end] = events(document).as_slice() else { panic!() };
    assert_eq!((&begin["time"], &begin["type"]), (&0.0.into(), &expected["type"]));
    assert_near(number(&begin["force_slope"]), number(&expected["hold"]["slope"]), 5e-11);
    assert_near(number(&end["time"]), number(&expected["hold"]["lift_off"]), tolerance);
    if case == 0 {
        // The reference's own quadrature is good to about 1e-8; tests/run.rs measures it in another way.
        assert_near(number(&end["impulse"]), 0.026_443_03, 1e-8);
    }
    for error in ["energy_error_max", "linear_error_max", "angular_error_max"] {
        assert!(number(&document["audit"][error]) < 1e-14, "{error}");
    }
    assert!(number(&document["audit"]["gap_min"]) > -1e-14);
}

fn corner(document: &Value) {
    assert_kinds(document, &["impact"; 3]);
    let last = vector(&document["final"]["ellipsoid"]["velocity"]);
    assert!(last.iter().all(|v| *v > 0.0));
    let sine = (last[0] * 1.2 - last[1] * 1.5).abs() / (last[0].hypot(last[1]) * 1.2_f64.hypot(1.5));
    assert!(sine > 0.05, "{sine}");
}

fn corner_of_a_ball(document: &Value) {
    assert_kinds(document, &["impact"; 3]);
    assert_eq!(vector(&document["final"]["ball"]["velocity"]), [1.5, 1.2, 1.0]);
}

fn dropping_ellipsoid(document: &Value) {
    // The fall takes √(2h/g); the bounces 2 k/(1−k) times as long.
    let fall = (2.0 / 9.81_f64).sqrt();
    assert_near(number(&events(document)[0]["time"]), fall, 1e-15);
    let rest = events(document).last().unwrap();
    assert_eq!(rest["kind"], "rest");
    assert_near(number(&rest["limit"][0]), 3.0 * fall, number(&rest["limit"][1]).min(2e-11));
    let last = &document["final"]["ellipsoid"];
    assert_near(number(&last["position"][2]), 0.1, 1e-15);
    assert!(vector(&last["velocity"]).iter().all(|v| v.abs() < 1e-15));
}

fn dzhanibekov(document: &Value) {
    // The side that the brick spins towards, seen from itself: the component of its middle axis along the spin.
    let mut turns = 0;
    let mut side = 1.0;
    for sample in document["samples"].as_array().unwrap() {
        let q = [0, 1, 2, 3].map(|i| number(&sample["orientation"][i]));
        let spin = vector(&sample["angular_velocity"]);
        let [w, x, y, z] = q;
        let middle = [2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)];
        let along: f64 = middle.iter().zip(spin).map(|(a, b)| a * b).sum();
        if along * side < -1.0 {
            (turns, side) = (turns + 1, -side);
        }
    }
    assert!(turns >= 5, "{turns}");
    let first = number(&events(document)[0]["time"]);
    assert!(number(&document["audit"]["energy_error_max"]) < 1e-13 && first > 1.0);
}

fn graze(document: &Value) {
    assert_kinds(document, &["graze"]);
    let event = &events(document)[0];
    assert_near(number(&event["time"]), 2.0, 1e-14);
    assert_eq!((&event["impulse"], &event["gap"]), (&0.0.into(), &0.0.into()));
    assert_eq!(vector(&document["final"]["flying"]["velocity"]), [1.0, 0.0, 0.0]);
}

fn needle(document: &Value) {
    assert_kinds(document, &[]);
    let last = &document["final"]["needle"];
    assert_eq!((vector(&last["position"]), vector(&last["velocity"])), ([4.0, 0.0, 0.0], [2.0, 0.0, 0.0]));
}

fn speeds(document: &Value, names: &[&str]) -> Vec<f64> {
    names.iter().map(|name| vector(&document["final"][name]["velocity"])[0]).collect()
}

const BALLS: [&str; 5] = ["one", "two", "three", "four", "five"];

fn cradle(document: &Value) {
    assert_kinds(document, &["impact"; 4]);
    assert_eq!(speeds(document, &BALLS), [0.0, 0.0, 0.0, 0.0, 2.0]);
}

fn cradle_touching(document: &Value) {
    let impacts: Vec<&Value> = events(document).iter().filter(|event| event["kind"] == "impact").collect();
    assert_eq!(impacts.len(), 4);
    assert!(impacts.iter().all(|impact| impact["number"] == impacts[0]["number"] && impact["time"] == 1.0));
    for (ours, theirs) in speeds(document, &BALLS).into_iter().zip([0.0, 0.0, 0.0, 0.0, 2.0]) {
        assert_near(ours, theirs, 1e-14);
    }
}

fn cradle_together(document: &Value) {
    for (ours, theirs) in speeds(document, &BALLS[..3]).into_iter().zip([-2.0 / 3.0, 4.0 / 3.0, 4.0 / 3.0]) {
        assert_near(ours, theirs, 1e-15);
    }
}

fn pendulum(document: &Value) {
    let swing = 2.0 * 2.0 / 9.81;
    assert_eq!(events(document).len(), 24);
    for (n, event) in events(document).iter().enumerate() {
        assert_near(number(&event["time"]), (n + 1) as f64 * swing, 1e-13);
        let place = if n % 2 == 0 { 0.6 * swing } else { 0.0 };
        assert_near(number(&event["point"][0]), place, 1e-13);
    }
}

fn pendulum_at_rest(document: &Value) {
    let rest = events(document).last().unwrap();
    assert_eq!(rest["kind"], "rest");
    assert_near(number(&rest["limit"][0]), 4.0 * 2.0 / 9.81, number(&rest["limit"][1]).min(2e-11));
    let ball = &document["final"]["ball"];
    assert!(
        vector(&ball["velocity"]).iter().chain(&vector(&ball["angular_velocity"])).all(|v| v.abs() < 1e-13)
    );
}

fn staircase(document: &Value) {
    let mut met: Vec<&str> = events(document)
        .iter()
        .map(|event| {
            event["bodies"].as_array().unwrap().iter().find(|name| *name != "ball").unwrap().as_str().unwrap()
        })
        .collect();
    met.dedup();
    assert_eq!(met, ["step1", "step2", "step3", "step4", "step5", "ground"]);
}

fn superball(document: &Value) {
    assert_kinds(document, &["impact"; 3]);
    let after = |sample: &&Value| sample["moment"] == "after";
    let samples = document["samples"].as_array().unwrap();
    let shares = [3.0 / 7.0, -31.0 / 49.0, -333.0 / 343.0];
    for (sample, share) in samples.iter().filter(after).zip(shares) {
        assert_near(number(&sample["velocity"][0]), 2.0 * share, 1e-14);
    }
}

fn wobbling_egg(document: &Value) {
    let rest = events(document).last().unwrap();
    assert_eq!(rest["kind"], "rest");
    let rested = number(&rest["time"]);
    assert!(rested < 0.11);
    // It stays down and rocks: its end rises and falls, and its spin changes sides again and again.
    let (mut side, mut swings) = (1.0, 0);
    for sample in document["samples"].as_array().unwrap().iter().filter(|s| number(&s["time"]) > rested) {
        let spin = number(&sample["angular_velocity"][1]);
        if spin * side < -0.5 {
            (side, swings) = (-side, swings + 1);
        }
    }
    assert!(swings >= 10, "{swings}");
    assert!(number(&document["audit"]["energy_error_max"]) < 1e-14);
}
