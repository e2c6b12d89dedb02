//! `carom plot`: pictures of a run's folder, in two formats that show the same.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod running;

use std::fs;
use std::path::Path;

use running::{Place, carom};

const KINDS: [&str; 5] = ["energies", "gaps", "forces", "phase", "filmstrip"];

fn drawn(place: &Place, arguments: &[&str]) -> std::process::Output {
    carom().arg("plot").arg(place.path("run")).args(arguments).output().unwrap()
}

fn run(place: &Place, scene: &str, arguments: &[&str]) {
    let scene = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases").join(scene);
    let output =
        carom().arg("run").arg(scene).args(arguments).arg("-o").arg(place.path("run")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The coordinates of all lines of a colour in an SVG.
fn lines(svg: &str, colour: &str) -> Vec<Vec<(f64, f64)>> {
    svg.lines()
        .filter(|line| line.contains("<polyline") && line.contains(&format!("stroke=\"{colour}\"")))
        .map(|line| {
            let points = line.split("points=\"").nth(1).unwrap().split('"').next().unwrap();
            let number = |text: &str| text.parse::<f64>().unwrap();
            points
                .split_whitespace()
                .map(|p| p.split_once(',').map(|(x, y)| (number(x), number(y))).unwrap())
                .collect()
        })
        .collect()
}

#[test]
fn every_picture_in_both_formats() {
    let place = Place::new("plot-all");
    run(&place, "gallery/dropping_ellipsoid.toml", &["--until", "0.8"]);
    for kind in KINDS {
        for ending in ["svg", "png"] {
            let file = place.path(&format!("{kind}.{ending}"));
            let output = drawn(&place, &["--what", kind, "--out", file.to_str().unwrap()]);
            assert!(output.status.success(), "{kind}: {}", String::from_utf8_lossy(&output.stderr));
            let bytes = fs::read(&file).unwrap();
            if ending == "svg" {
                let text = String::from_utf8(bytes).unwrap();
                assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"));
                assert!(!text.contains("NaN") && !text.contains("inf"), "{kind}");
            } else {
                let image = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
                assert!(image.info().width >= 600, "{kind}");
            }
            // The same bytes every time.
            let again = place.path(&format!("again.{ending}"));
            drawn(&place, &["--what", kind, "--out", again.to_str().unwrap()]);
            assert_eq!(fs::read(&file).unwrap(), fs::read(&again).unwrap(), "{kind}.{ending}");
        }
    }
}

#[test]
fn the_force_of_the_paradox_is_the_curve_that_is_drawn() {
    let place = Place::new("plot-force");
    run(&place, "papers/paradox.toml", &["--until", "0.3", "--sample", "0.001"]);
    let file = place.path("forces.svg");
    let output = drawn(&place, &["--what", "forces", "--body", "ellipsoid", "--out", file.to_str().unwrap()]);
    assert!(output.status.success());
    let svg = fs::read_to_string(&file).unwrap();
    // The first colour of the palette; the longest of its lines is the curve.
    let curve = lines(&svg, "#0072B2").into_iter().max_by_key(Vec::len).unwrap();
    let base = curve.last().unwrap().1;
    // Pixels are whole: the peak is the middle of those at the top.
    let peak = curve.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
    let top: Vec<f64> = curve.iter().filter(|p| p.1 == peak).map(|p| p.0).collect();
    let peak_at = 0.5 * (top[0] + top[top.len() - 1]);
    let (left, right) = (curve[0].0, curve.last().unwrap().0);
    let time = 0.0005 + (peak_at - left) / (right - left) * (0.2995 - 0.0005);
    assert!((time - 0.0683).abs() < 0.002, "{time}");
    // Lift-off, where the curve comes back to the base line.
    let lift_off =
        curve.iter().filter(|p| base - p.1 > 0.02 * (base - peak)).map(|p| p.0).fold(0.0, f64::max);
    let time = 0.0005 + (lift_off - left) / (right - left) * (0.2995 - 0.0005);
    assert!((time - 0.14077).abs() < 0.003, "{time}");
}

#[test]
fn mistakes_are_named() {
    let place = Place::new("plot-mistakes");
    run(&place, "gallery/collision.toml", &["--until", "0.2"]);
    let file = place.path("x.svg");
    let out = file.to_str().unwrap();
    for (arguments, word) in [
        (vec!["--out", "x.pdf"], ".svg or .png"),
        (vec!["--out", out, "--body", "nobody"], "there is no body `nobody`"),
        (vec!["--out", out, "--what", "gaps", "--pair", "a"], "is not a pair"),
        (vec!["--out", out, "--from", "7", "--to", "8"], "no samples"),
        (vec!["--out", out, "--size", "3x3"], "WIDTHxHEIGHT"),
    ] {
        let output = drawn(&place, &arguments);
        let text = String::from_utf8_lossy(&output.stderr).to_string();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(word), "{arguments:?}: {text}");
    }
    for (path, word) in [
        (place.path("run/run.json"), place.path("run").display().to_string()),
        (place.file("a", ""), "`carom run -o`".into()),
    ] {
        let output = carom().arg("plot").arg(path).args(["--out", out]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).replace('\n', " ");
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("is a file, and a run is a folder") && text.contains(&word), "{text}");
    }
    let output = carom().arg("plot").arg(place.path("nothing")).args(["--out", out]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let output = drawn(&place, &["--out", place.path("no/such/folder.svg").to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn functions_of_a_gas_are_drawn_of_a_run_and_of_copies_with_their_mean() {
    let place = Place::new("plot-gas");
    let short = ["--until", "1", "--sample", "0", "--replicas", "3"];
    run(&place, "gallery/ellipsoid_gas.toml", &short);
    let document = |folder: &str| -> serde_json::Value {
        serde_json::from_slice(&fs::read(place.path(folder).join("run.json")).unwrap()).unwrap()
    };
    let all = document("run");
    for (what, name, y) in [("g-r", "g_r", "g"), ("msd", "msd", "value"), ("vacf", "vacf", "value")] {
        for (folder, runs) in [("run", 3), ("run/replica-1", 1)] {
            let file = place.path("function.svg");
            let output = carom()
                .arg("plot")
                .arg(place.path(folder))
                .args(["--what", what, "--to", "100", "--json", "--out", file.to_str().unwrap()])
                .output()
                .unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(told["runs"], runs);
            let svg = fs::read_to_string(&file).unwrap();
            // Each copy behind their mean; one run alone has no copies behind it.
            let mean = lines(&svg, "#0072B2");
            let points = told["points"].as_u64().unwrap();
            assert!(mean.iter().any(|line| line.len() as u64 == points), "{what}: {points} points");
            let thin = lines(&svg, "#BEBEBE").iter().filter(|line| line.len() as u64 == points).count();
            assert_eq!(thin, if runs == 1 { 0 } else { 3 }, "{what}");
            // The greatest value of the mean is drawn highest: at the same point as in the document.
            let curve = mean.iter().find(|line| line.len() as u64 == points).unwrap();
            let value = |i: usize, k: usize| all["replicas"][k]["observables"][name][y][i].as_f64().unwrap();
            let average = |i: usize| match runs {
                1 => value(i, 1),
                _ => (0..3).map(|k| value(i, k)).sum::<f64>() / 3.0,
            };
            let highest = (0..curve.len()).max_by(|&i, &j| average(i).total_cmp(&average(j))).unwrap();
            let top = curve.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
            assert!((curve[highest].1 - top).abs() < 1e-9, "{what}: {highest}");
        }
    }
    // What takes states wants one run of them.
    let output = drawn(&place, &["--out", place.path("x.svg").to_str().unwrap()]);
    let text = String::from_utf8_lossy(&output.stderr).replace('\n', " ");
    assert_eq!(output.status.code(), Some(2));
    assert!(text.contains("holds copies of a run") && text.contains("replica-0"), "{text}");
    // And a run without a box has no such function.
    let open = Place::new("plot-open");
    run(&open, "gallery/collision.toml", &["--until", "0.2"]);
    let output = drawn(&open, &["--what", "msd", "--out", open.path("x.svg").to_str().unwrap()]);
    let text = String::from_utf8_lossy(&output.stderr).replace('\n', " ");
    assert!(output.status.code() == Some(2) && text.contains("observables.msd"), "{text}");
}
