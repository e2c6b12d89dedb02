//! The program as a user runs it: `carom run`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod running;

use running::{Place, carom, run, run_text};
use serde_json::Value;

const DROP: &str = "\
carom = 1
title = 'a ball dropped'
[world]
gravity = [0, 0, -2]
[[body]]
name = 'ball'
shape = { sphere = { radius = 0.5 } }
mass = 2
position = [0, 0, 1.5]
[[plane]]
name = 'floor'
normal = [0, 0, 1]
[run]
until = 6
sample = 0.5
";

#[test]
fn a_bouncing_ball_keeps_its_times_and_its_document_its_fields() {
    let document = run_text("bounce", DROP, &["--json", "--samples"]).well().json();
    // Falls from height 1 in time 1, and every bounce takes 2.
    let events = document["events"].as_array().unwrap();
    assert_eq!(events.len(), 3);
    for (n, event) in events.iter().enumerate() {
        let time = 1.0 + 2.0 * n as f64;
        assert!((event["time"].as_f64().unwrap() - time).abs() <= 1e-15 * time, "{event}");
        assert_eq!(
            (&event["number"], &event["kind"], &event["type"]),
            (&n.into(), &"impact".into(), &"normal".into())
        );
        assert_eq!(event["bodies"], serde_json::json!(["floor", "ball"]));
        assert_eq!(event["normal"], serde_json::json!([0.0, 0.0, 1.0]));
        for (field, value) in [
            ("approach", -2.0),
            ("separation", 2.0),
            ("impulse", 8.0),
            ("energy_before", 6.0),
            ("energy_after", 6.0),
        ] {
            assert!((event[field].as_f64().unwrap() - value).abs() < 1e-14, "{field}: {event}");
        }
        for field in ["time_error", "point", "gap", "impulse_vector"] {
            assert!(!event[field].is_null(), "{field}");
        }
        for field in ["g2", "g3", "force_slope", "limit"] {
            assert!(event.as_object().unwrap().contains_key(field), "{field}");
        }
        assert!(event.get("image").is_none());
    }
    assert_eq!((&document["stopped"], &document["time"]), (&"until".into(), &6.0.into()));
    let ball = &document["final"]["ball"];
    assert!((ball["position"][2].as_f64().unwrap() - 1.5).abs() < 1e-14);
    assert_eq!(ball["orientation"], serde_json::json!([1.0, 0.0, 0.0, 0.0]));
    assert!(ball["velocity"][2].as_f64().unwrap().abs() < 1e-14 && ball["angular_velocity"][2] == 0.0);
    for (field, limit) in
        [("energy_error_max", 1e-15), ("linear_error_max", 1e-15), ("restitution_error_max", 0.0)]
    {
        assert!(document["audit"][field].as_f64().unwrap() <= limit, "{field}");
        assert!(document["audit"]["at"][field].is_u64());
    }
    assert!(document["audit"]["angular_error_max"].is_null(), "gravity turns angular momentum");
    assert!(document["audit"]["gap_min"].as_f64().unwrap().abs() < 1e-15);
    let performance = &document["performance"];
    assert_eq!((&performance["events"], &performance["impacts"]), (&3.into(), &3.into()));
    for field in ["wall_s", "impacts_per_s", "searches", "gaps"] {
        assert!(performance[field].as_f64().unwrap() > 0.0, "{field}");
    }
    // Every half second from 0 to 6, and before and after each event.
    let samples = document["samples"].as_array().unwrap();
    let of = |moment: &str| samples.iter().filter(|sample| sample["moment"] == moment).count();
    assert_eq!((of("sample"), of("before"), of("after")), (13, 3, 3));
    let times: Vec<f64> = samples.iter().map(|sample| sample["time"].as_f64().unwrap()).collect();
    assert!(times.is_sorted());
    for sample in samples {
        let (time, height) = (sample["time"].as_f64().unwrap(), sample["position"][2].as_f64().unwrap());
        // The time since the ball was last at its highest.
        let fall = (time + 1.0).rem_euclid(2.0) - 1.0;
        assert!((height - 1.5 + fall * fall).abs() < 1e-14, "{sample}");
    }
}

#[test]
fn options_go_before_what_the_scene_says() {
    let place = Place::new("options");
    let scene = place.file("drop.toml", DROP);
    let document = |options: &[&str]| run(&scene, &[&["--json"], options].concat()).well().json();
    assert_eq!(document(&["--until", "0.5"])["events"], serde_json::json!([]));
    assert!((document(&["--until", "0.5"])["audit"]["gap_min"].as_f64().unwrap() - 0.75).abs() < 1e-14);
    let two = document(&["--max-events", "2", "--sample", "0"]);
    assert_eq!((&two["stopped"], two["events"].as_array().unwrap().len()), (&"max_events".into(), 2));
    assert_eq!(two["performance"]["samples"], 0);
    let quiet = place.file("quiet.toml", &DROP.replace("[run]", "[run]\nrecord_events = false"));
    let ran = run(&quiet, &["--json", "--samples"]).well().json();
    assert_eq!((ran["events"].as_array().unwrap().len(), &ran["performance"]["events"]), (0, &3.into()));
    assert!(ran["samples"].as_array().unwrap().iter().all(|sample| sample["moment"] == "sample"));
    for options in [
        ["--until", "-1"],
        ["--until", "soon"],
        ["--max-events", "0"],
        ["--sample", "nan"],
        ["--on-paradox", "cry"],
    ] {
        let ran = run(&scene, &options);
        assert!(ran.code == Some(2) && ran.err.contains(options[0]), "{}", ran.err);
    }
    let ran: running::Ran = carom().args(["run"]).output().unwrap().into();
    assert!(ran.code == Some(2) && ran.err.contains("SCENE"), "{}", ran.err);
    let ran = run(&scene, &["--resume", "x"]);
    assert!(ran.code == Some(2) && ran.err.contains("--resume"), "{}", ran.err);
}

#[test]
fn scenes_without_a_run_are_refused_at_their_place() {
    let tied = format!(
        "{DROP}[[joint]]\nname = 'pin'\nbodies = ['ball']\nkind = {{ rows = [[1, 0, 0, 0, 0, 0]] }}\n"
    );
    let sunk = DROP.replace("1.5]", "0.25]");
    let narrow = DROP.replace("gravity = [0, 0, -2]", "periodic = [0.9, 5, 5]");
    let fast = DROP.replace("position", "velocity = [1e200, 0, 0]\nposition");
    let fine = DROP.replace("sample = 0.5", "sample = 1e-12");
    for (scene, field, words) in [
        (&tied, "joint[0].kind", "holds at this instant only"),
        (&sunk, "body[0].position", "`ball` overlaps `floor` by 0.25"),
        (&narrow, "body[0]", "its own image"),
        (&fast, "body[0]", "beyond the range of 64-bit floats"),
        (&fine, "run.sample", "samples until 6"),
    ] {
        let ran = run_text("refused", scene, &["--json"]);
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        let error = &ran.json()["errors"][0];
        assert_eq!(error["field"], field);
        assert!(
            error["message"].as_str().unwrap().contains(words) && error["line"].as_u64().unwrap() > 1,
            "{error}"
        );
        assert!(ran.err.contains(words));
    }
    let given = format!("{DROP}[[contact]]\nbodies = ['floor', 'ball']\npoint = [0, 0, 0]\n");
    let ran = run_text("given", &given, &["--json"]);
    assert!(ran.code == Some(0) && ran.err.contains("has no effect here"), "{}", ran.err);
    assert!(ran.json()["notes"][0].as_str().unwrap().contains("explicit contacts"));
}

/// Newton's equality with unequal coefficients, where it gains a third of the energy (T3): two walls with normals 60 degrees
/// apart, struck together.
const GAIN: &str = "\
carom = 1
[[body]]
name = 'ball'
shape = { sphere = { radius = 0.5 } }
mass = 1
position = [1.5, 0, 0]
velocity = [-1, 0, 0]
[[plane]]
name = 'a'
normal = [1, 0, 0]
[[plane]]
name = 'b'
normal = [0.5, 0.8660254037844386, 0]
offset = -0.25
[surface]
restitution = 1
[[surface.pair]]
bodies = ['b', 'ball']
restitution = 0
[impact]
law = 'newton'
[run]
until = 4
";

#[test]
fn strict_ends_a_run_at_the_first_violation() {
    let loose = run_text("loose", GAIN, &["--json"]).well().json();
    assert!(
        (loose["audit"]["energy_gain_max"].as_f64().unwrap() - 1.0 / 3.0).abs() < 1e-9,
        "{}",
        loose["audit"]
    );
    assert_eq!((&loose["stopped"], &loose["violation"]), (&"until".into(), &Value::Null));
    let strict = run_text("strict", GAIN, &["--json", "--strict"]);
    assert!(strict.code == Some(3) && strict.err.contains("violates its audit"), "{}", strict.err);
    let document = strict.json();
    assert_eq!(document["stopped"], "violation");
    let violation = &document["violation"];
    assert_eq!((&violation["quantity"], &violation["event"]), (&"energy_gain_max".into(), &0.into()));
    assert_eq!(violation["limit"], 1e-9);
    assert!(document["time"].as_f64().unwrap() < 1.1);
    let told = run_text("told", GAIN, &["--strict"]);
    let words = "an event gains energy at event 0: energy_gain_max is 3.3e-1, and the limit 1.0e-9";
    assert!(told.code == Some(3) && told.out.contains(words), "{}", told.out);
    run_text("fine", DROP, &["--strict"]).well();
}

#[test]
fn a_paradox_is_held_passed_or_the_end() {
    let scene = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/papers/paradox.toml");
    let held = run(&scene, &["--json", "--until", "0.5"]).well().json();
    let kinds = |document: &Value| -> Vec<String> {
        let events = document["events"].as_array().unwrap();
        events.iter().map(|event| event["kind"].as_str().unwrap().to_string()).collect()
    };
    assert_eq!(kinds(&held), ["hold_begin", "hold_end"]);
    assert_eq!(held["events"][0]["type"], "paradox_2b_star");
    let stopped = run(&scene, &["--json", "--until", "0.5", "--on-paradox", "stop"]).well().json();
    assert_eq!((kinds(&stopped), &stopped["stopped"]), (vec!["stop".to_string()], &"paradox".into()));
    let passed = run(&scene, &["--json", "--until", "0.5", "--on-paradox", "pass"]).well().json();
    assert_eq!(kinds(&passed), ["pass_begin", "pass_end"]);
    let end = passed["events"][1]["time"].as_f64().unwrap();
    assert!((end - 0.303_169_568_212_200_76).abs() < 1e-12, "{end}");

    let told = run(&scene, &["--until", "0.5"]).well().out;
    for words in [
        "superellipsoid and ellipsoid stay in contact (paradox_2b_star) from t = 0 to t = 0.14076915 (for 0.14076915)",
        "begins with slope 6.474427",
        "∫λ dt = 0.02644304",
        "The run reached its end at t = 0.5.",
    ] {
        assert!(told.contains(words), "{words}\n{told}");
    }
    let told = run(&scene, &["--until", "0.5", "--on-paradox", "stop"]).well().out;
    assert!(told.contains("at a paradox of superellipsoid and ellipsoid, as asked, at t = 0."), "{told}");
    let told = run(&scene, &["--until", "0.5", "--on-paradox", "pass"]).well().out;
    assert!(told.contains("pass into one another (paradox_2b_star) from t = 0 to t = 0.30316957"), "{told}");
}

#[test]
fn the_impulse_of_a_hold_is_the_length_of_the_velocitys_path() {
    // Nothing but the force accelerates a body of mass 1, so ∫λ dt is the length of the path of its velocity.
    let scene = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/papers/paradox.toml");
    let mut impulse = 0.0;
    let [coarse, fine] = ["4e-5", "2e-5"].map(|interval| {
        let document =
            run(&scene, &["--json", "--samples", "--until", "0.15", "--sample", interval]).well().json();
        impulse = document["events"][1]["impulse"].as_f64().unwrap();
        let samples = document["samples"].as_array().unwrap().iter();
        let path: Vec<[f64; 3]> = samples
            .filter(|sample| sample["body"] == "superellipsoid" && sample["moment"] != "before")
            .map(|sample| [0, 1, 2].map(|i| sample["velocity"][i].as_f64().unwrap()))
            .collect();
        let step = |pair: &[[f64; 3]]| (0..3).map(|i| (pair[1][i] - pair[0][i]).powi(2)).sum::<f64>().sqrt();
        path.windows(2).map(step).sum::<f64>()
    });
    // Chords are shorter by the square of their length.
    let length = fine + (fine - coarse) / 3.0;
    assert!((impulse - length).abs() < 1e-13, "{impulse} against {length}");
}

#[test]
fn long_runs_are_told_by_their_first_and_last_events() {
    let told = run_text("long", DROP, &["--until", "100"]).well().out;
    assert!(told.contains("50 events: 50 impacts. The run reached its end at t = 100."), "{told}");
    let rows: Vec<&str> = told.lines().filter(|line| line.contains("floor")).collect();
    assert_eq!(rows.len(), 8, "{told}");
    assert!(rows[3].trim_start().starts_with("3 ") && rows[4].trim_start().starts_with("46 "), "{told}");
    assert!(told.contains("audit  largest errors: energy"), "{told}");
    // What ended it, and how it can go on, stands at the top; all fits a screen.
    let cut = run_text("cut", DROP, &["--until", "100", "--max-events", "25"]).well().out;
    let first = cut.lines().nth(1).unwrap();
    assert!(
        first.starts_with("The run was cut off at t = ") && first.contains("of 100 by max_events = 25"),
        "{cut}"
    );
    let needed: usize =
        first.split("--max-events ").nth(1).unwrap().split('`').next().unwrap().parse().unwrap();
    let again = run_text("again", DROP, &["--until", "100", "--max-events", &needed.to_string()]).well().out;
    assert!(again.contains("The run reached its end at t = 100."), "{needed}: {again}");
    assert!(cut.lines().count() <= 40, "{cut}");
    let nothing = run_text("nothing", DROP, &["--until", "0.1"]).well().out;
    assert!(nothing.contains("No contacts occurred. The run reached its end at t = 0.1."), "{nothing}");
}

/// Boxes that are open along an axis, or along two, with walls there and without.
#[test]
fn a_box_may_be_open_along_an_axis() {
    let scene = |periodic: &str, walls: bool| {
        let ball = |name: &str, place: &str, velocity: &str| {
            format!(
                "[[body]]\nname = '{name}'\nshape = {{ sphere = {{ radius = 0.5 }} }}\nmass = 1\nposition = {place}\nvelocity = {velocity}\n"
            )
        };
        let walls = if walls {
            "[[plane]]\nname = 'floor'\nnormal = [0, 0, 1]\noffset = -2\n[[plane]]\nname = 'roof'\nnormal = [0, 0, -1]\noffset = -2\n"
        } else {
            ""
        };
        format!(
            "carom = 1\n[world]\nperiodic = {periodic}\n{}{}{walls}[run]\nuntil = 6\n",
            ball("a", "[1, 5, 0]", "[-1, 0, 0.5]"),
            ball("b", "[8, 5, 0]", "[0, 0, 0.5]"),
        )
    };
    for which in ["simulation", "edmd"] {
        for (periodic, walls) in
            [("[10, 10, 0]", false), ("[10, 10, 0]", true), ("[10, 0, 0]", false), ("[10, 0, 0]", true)]
        {
            let name = format!("open-{which}-{walls}");
            let text = scene(periodic, walls);
            let document = run_text(&name, &text, &["--json", "--strict", "--loop", which]).well().json();
            // They meet through the side of the box at t = 2.
            let met = |event: &&Value| event["bodies"] == serde_json::json!(["a", "b"]);
            let event = document["events"].as_array().unwrap().iter().find(met).unwrap();
            assert!((event["time"].as_f64().unwrap() - 2.0).abs() < 1e-12, "{event}");
            assert_eq!(document["final"]["b"]["velocity"][0], -1.0);
            let z = document["final"]["a"]["position"][2].as_f64().unwrap();
            // From 0 up to 1.5 at t = 3, and down to -1.5 there after 6 more.
            assert!((z - if walls { 0.0 } else { 3.0 }).abs() < 1e-12, "{z}");
            assert_eq!(document["observables"].is_null(), !walls || periodic == "[10, 0, 0]");
        }
    }
}

/// Velocities that joints forbid are refused, or projected on those that they allow.
#[test]
fn velocities_can_be_projected_on_the_joints() {
    let text = "\
carom = 1
[[body]]
name = 'bob'
shape = { sphere = { radius = 0.1 } }
mass = 1
position = [1, 0, 0]
velocity = [0.25, 0, -1]
[[joint]]
name = 'pin'
bodies = ['bob']
kind = { ball = { point = [0, 0, 0] } }
[run]
until = 0.5
";
    let refused = run_text("forbidden", text, &[]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.err.contains("forbids a velocity of 1") && refused.err.contains("project"),
        "{}",
        refused.err
    );
    let document =
        run_text("projected", text, &["--project", "--json", "--strict", "--samples"]).well().json();
    let first = &document["samples"][0];
    let number = |value: &Value| value.as_f64().unwrap();
    assert!(number(&first["velocity"][0]).abs() < 1e-15, "{first}");
    // Nearest in the kinetic metric: of the rod's turns about y, (v_z·m·r)/(m r² + 2/5 m·0.01) with r = 1.
    let turn = 1.0 / (1.0 + 0.4 * 0.01);
    assert!((number(&first["velocity"][2]) + turn).abs() < 1e-14, "{first}");
    assert!((number(&first["angular_velocity"][1]) - turn).abs() < 1e-14, "{first}");
}

/// The smallest gap is that of all pairs, whether they meet or not.
#[test]
fn gaps_are_those_of_all_pairs() {
    // Nothing meets, and the smallest gap is that of the start.
    let text = DROP.replace("until = 6", "until = 0.5");
    let document = run_text("apart", &text, &["--json"]).well().json();
    assert!(document["events"].as_array().unwrap().is_empty());
    let audit = &document["audit"];
    assert!((audit["gap_min"].as_f64().unwrap() - 0.75).abs() < 1e-14, "{audit}");
    assert!(audit["pairs"].as_u64().unwrap() >= 2 && audit["gap_searches"].as_u64().unwrap() >= 2, "{audit}");
    for field in ["points_error_max", "impulse_error_max", "work_error_max", "unilateral_error_max"] {
        assert_eq!((&audit[field], &audit["at"][field]), (&0.0.into(), &0.into()), "{field}");
    }
}
