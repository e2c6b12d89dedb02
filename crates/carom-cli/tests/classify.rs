//! The program as a user runs it: `carom classify`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod golden;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use golden::Run;
use serde_json::{Value, json};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/papers")
}

fn carom(arguments: &[&str], input: &str) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_carom"))
        .args(arguments)
        .current_dir(folder())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap().into()
}

#[track_caller]
fn classify(arguments: &[&str], input: &str) -> Value {
    let run = carom(&[&["classify", "--json"], arguments].concat(), input);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    run.json()
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(entries) => entries.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

#[track_caller]
fn close(found: &Value, expected: &Value, scale: f64) {
    let (found, expected) = (numbers(found), numbers(expected));
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(&expected) {
        assert!((a - b).abs() <= 1e-12 * b.abs().max(scale), "{a} {b}");
    }
}

#[test]
fn the_papers_contacts_with_every_field() {
    let file: Value = serde_json::from_str(include_str!("../../../cases/contacts/classify.json")).unwrap();
    for (scene, name) in [
        ("paradox.toml", "paper"),
        ("pvwz_two_ellipses.toml", "E1_paradox_2b_two_ellipses_planar"),
        ("pvwz_overlapping.toml", "U1_type2a_unrealizable"),
    ] {
        let document = classify(&[scene], "");
        let contacts = document["contacts"].as_array().unwrap();
        let [contact] = contacts.as_slice() else { panic!("{document}") };
        let expected = file["cases"].as_array().unwrap().iter().find(|case| case["name"] == name).unwrap();
        assert_eq!((&contact["type"], &contact["standing"]), (&expected["type"], &json!("touching")));
        for (field, scale) in [
            ("point", 1.0),
            ("normal", 1.0),
            ("v", 10.0),
            ("a", 50.0),
            ("w", 10.0),
            ("threshold", 50.0),
            ("g2", 50.0),
            ("g3", 100.0),
            ("slip", 10.0),
            ("effective_inverse_mass", 0.0),
        ] {
            close(&contact[field], &expected[field], scale);
        }
        for field in
            ["curvature_1", "curvature_2", "scales", "ratios", "nearest_type", "rolling", "normal_rate"]
        {
            assert!(!contact[field].is_null(), "{field}");
        }
        assert!(contact.get("neighbourhood").is_none());
    }
}

const BALLS: &str = "\
carom = 1
[[body]]
name = 'left'
shape = { sphere = { radius = 1 } }
mass = 1
position = [0, 0, 0]
velocity = [1, 0, 0]
[[body]]
name = 'right'
shape = { sphere = { radius = 1 } }
mass = 1
position = [2, 0, 0]
";

#[test]
fn balls_closing_parting_grazing_and_apart() {
    let kind = |text: &str| classify(&["-"], text)["contacts"][0]["type"].clone();
    assert_eq!(kind(BALLS), "normal");
    assert_eq!(kind(&BALLS.replace("[1, 0, 0]", "[-1, 0, 0]")), "separating");
    assert_eq!(kind(&BALLS.replace("[1, 0, 0]", "[0, 1, 0]")), "graze");
    assert_eq!(kind(&BALLS.replace("[1, 0, 0]", "[0, 0, 0]")), "degenerate");

    let apart = classify(&["-"], &BALLS.replace("[2, 0, 0]", "[2.5, 0, 0]"));
    assert_eq!(apart["contacts"], json!([]));
    assert_eq!(apart["nearest"], json!({ "bodies": ["left", "right"], "gap": 0.5 }));
    // Looser, the same two touch.
    let loose = classify(&["-", "--touching", "0.1"], &BALLS.replace("[2, 0, 0]", "[2.1, 0, 0]"));
    assert_eq!(loose["contacts"][0]["type"], "normal");
    let slow = BALLS.replace("[1, 0, 0]", "[1e-6, 1, 0]").replace("mass = 1", "mass = 2");
    assert_eq!(classify(&["-"], &slow)["contacts"][0]["type"], "normal");
    assert_eq!(classify(&["-", "--tolerance", "1e-5"], &slow)["contacts"][0]["type"], "graze");
}

/// The exact outline against the ellipse of second order, as the time gets short.
#[test]
fn the_neighbourhood_is_an_ellipse_about_the_deepest_point() {
    let document = classify(&["pvwz_overlapping.toml", "--span", "1e-3"], "");
    let picture = &document["contacts"][0]["neighbourhood"];
    let patches = picture["patches"].as_array().unwrap();
    assert_eq!(patches.len(), 8);
    for patch in patches {
        let (gap, predicted) = (patch["gap"].as_f64().unwrap(), patch["predicted_gap"].as_f64().unwrap());
        assert!(gap < 0.0 && (gap / predicted - 1.0).abs() < 1e-3, "{gap:e} {predicted:e}");
        let pair = |value: &Value| [value[0].as_f64().unwrap(), value[1].as_f64().unwrap()];
        let (centre, exact, axis) =
            (pair(&patch["predicted_deepest"]), pair(&patch["deepest"]), pair(&patch["axis"]));
        let [a, b] = pair(&patch["semi_axes"]);
        assert!((centre[0] - exact[0]).hypot(centre[1] - exact[1]) < 2e-3 * a);
        let outline = patch["outline"].as_array().unwrap();
        assert_eq!(outline.len(), 96);
        for point in outline.iter().map(pair) {
            let [x, y] = [point[0] - centre[0], point[1] - centre[1]];
            let (along, across) = (x * axis[0] + y * axis[1], y * axis[0] - x * axis[1]);
            let level = (along / a).hypot(across / b);
            assert!((level - 1.0).abs() < 5e-3, "{level}");
        }
    }
    // Of the paradox nothing enters before, and something after.
    let document = classify(&["paradox.toml", "--span", "0.01"], "");
    for patch in document["contacts"][0]["neighbourhood"]["patches"].as_array().unwrap() {
        let (time, outline) = (patch["time"].as_f64().unwrap(), patch["outline"].as_array().unwrap());
        assert_eq!(outline.is_empty(), time < 0.0, "{patch}");
    }
}

#[test]
fn the_picture_is_written() {
    let path = std::env::temp_dir().join(format!("carom-classify-{}.svg", std::process::id()));
    let text = BALLS.replace("'left'", "'<left> & co'").replace("[1, 0, 0]", "[0, 1, 0]");
    let run = carom(&["classify", "-", "--svg", path.to_str().unwrap()], &text);
    let svg = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"), "{svg}");
    assert!(
        svg.contains("&lt;left&gt; &amp; co and right: graze") && svg.contains("nothing enters"),
        "{svg}"
    );
    let run = carom(&["classify", "-", "--svg", "/nowhere/at/all.svg"], &text);
    assert!(run.code == Some(2) && run.out.is_empty() && run.err.contains("--svg"), "{}", run.err);
}

#[test]
fn flats_joints_and_wrong_files() {
    let block = "\
carom = 1
[[body]]
name = 'block'
shape = { superellipsoid = { semi_axes = [1, 1, 1], exponent = 8 } }
mass = 1
position = [0, 0, 1]
[[plane]]
name = 'floor'
normal = [0, 0, 1]
";
    let document = classify(&["-"], block);
    let contact = &document["contacts"][0];
    assert_eq!((&contact["type"], &contact["fit"]), (&json!("degenerate"), &json!("flat")));
    assert!(document["notes"][0].as_str().unwrap().contains("flat where they touch"), "{document}");
    let tipping = block.replace("[0, 0, 1]\n[[plane", "[0, 0, 1]\nangular_velocity = [1, 0, 0]\n[[plane");
    let contact = &classify(&["-"], &tipping)["contacts"][0];
    assert_eq!((&contact["type"], &contact["g2"]), (&json!("unrealizable"), &Value::Null));

    let rolling = classify(&["tz_rolling_ball.toml"], "");
    assert!(
        rolling["notes"].as_array().unwrap().iter().any(|n| n.as_str().unwrap().contains("held by joints"))
    );
    let run = carom(
        &["classify", "-"],
        "carom = 1\n[[fill]]\nname = 'gas'\ncount = 3\nshape = { sphere = { radius = 1 } }\nmass = 1\npacking_fraction = 0.1\n",
    );
    assert!(run.code == Some(2) && run.out.is_empty() && run.err.contains("no bodies yet"), "{}", run.err);
    let run = carom(&["classify", "paradox.toml", "--tolerance", "2"], "");
    assert!(run.code == Some(2) && run.err.contains("--tolerance"), "{}", run.err);
}

#[test]
fn read_as_stored() {
    for scene in ["paradox", "pvwz_overlapping", "sp_corner"] {
        let run = carom(&["classify", &format!("{scene}.toml")], "");
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
        golden::check(&format!("classify_{scene}.txt"), &run.out);
    }
    let apart = carom(&["classify", "-"], &BALLS.replace("[2, 0, 0]", "[2.5, 0, 0]"));
    assert_eq!(apart.out, "Nothing touches; left and right are nearest, 0.5 apart.\n");
}

/// All coefficients of the expansion of \[PVWZ\], against polynomial algebra with thirty digits.
#[test]
fn the_coefficients_of_the_expansion() {
    let json = classify(&["pvwz_overlapping.toml"], "");
    let contact = &json["contacts"][0];
    let near = |value: &Value, expected: f64| {
        let found = value.as_f64().unwrap();
        assert!((found - expected).abs() < 1e-13, "{found} is not {expected}");
    };
    for (k, [v_e, v_3e, a_2e, a_3e, a_4e]) in [
        [
            0.37672416053997,
            -0.0241784903980303,
            -0.00318922705289081,
            -0.0744667406310557,
            0.0121330570110608,
        ],
        [0.0, 0.180337961238759, -0.123974223991797, -0.232502061545851, 0.0617029426334127],
    ]
    .into_iter()
    .enumerate()
    {
        let along = &contact["coefficients"][k];
        near(&along["v_e"], v_e);
        let model = &along["model"];
        near(&model["v_3e"], v_3e);
        near(&model["v_4e"], 0.0);
        near(&model["a_2e"], a_2e);
        near(&model["a_3e"], a_3e);
        near(&model["a_4e"], a_4e);
        near(&model["j"], -0.486_291_742_016_04);
        let (slope, direction) = (numbers(&contact["a_vector"]), numbers(&along["direction"]));
        near(&along["a_e"], slope.iter().zip(direction).map(|(a, e)| a * e).sum());
    }
    // n·M·n of the tensor M.
    let (n, m) = (numbers(&contact["normal"]), numbers(&contact["inverse_mass_tensor"]));
    let along = (0..9).map(|k| n[k / 3] * m[k] * n[k % 3]).sum::<f64>();
    near(&contact["effective_inverse_mass"], along);
}
