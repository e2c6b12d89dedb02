//! The program as a user runs it: `carom solve`, `compare` and `schema`, their exit codes, streams and texts.
// Helpers of tests fail the test, as tests themselves do.
#![allow(clippy::unwrap_used)]

mod golden;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use golden::Run;
use serde_json::Value;

const DROP: &str = "\
carom = 1
[[body]]
name = 'ball'
shape = { sphere = { radius = 0.1 } }
mass = 2
position = [0, 0, 0.1]
velocity = [0.5, 0, -3]
[[plane]]
name = 'floor'
normal = [0, 0, 1]
[surface]
restitution = 0.8
";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/papers")
}

/// Runs in the folder of the papers' scenes, with a text on standard input.
fn carom(arguments: &[&str], input: &str) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_carom"))
        .args(arguments)
        .current_dir(folder())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that refuses its arguments does not wait for its input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap().into()
}

/// Runs and expects a result and no words on standard error.
#[track_caller]
fn done(arguments: &[&str], input: &str) -> Run {
    let run = carom(arguments, input);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{arguments:?}");
    run
}

/// The document of `carom solve - --json`.
#[track_caller]
fn solve(options: &[&str], input: &str) -> Value {
    done(&[&["solve", "-", "--json"], options].concat(), input).json()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

#[track_caller]
fn close(found: &Value, expected: &[f64]) {
    let found = numbers(found);
    let near =
        found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12);
    assert!(near, "{found:?} is not {expected:?}");
}

/// One error for people and programs alike, naming the place.
#[track_caller]
fn refused(arguments: &[&str], input: &str, field: &str, words: &[&str]) {
    let run = carom(arguments, input);
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{arguments:?}");
    for word in words {
        assert!(run.err.contains(word), "{word}: {}", run.err);
    }
    let run = carom(&[arguments, &["--json"]].concat(), input);
    let errors = &run.json()["errors"];
    assert_eq!((run.code, errors.as_array().unwrap().len()), (Some(2), 1), "{errors}");
    assert_eq!(errors[0]["field"], field, "{errors}");
    assert!(errors[0]["line"].is_u64(), "{errors}");
}

/// Residuals are rounding: their digits are not for storing.
fn without_residuals(text: &str) -> String {
    let cut = |line: &str| match line.split_once(": residuals of") {
        Some((start, _)) if line.starts_with("audit") => format!("{start}\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(cut).collect()
}

#[test]
fn solutions_read_as_stored() {
    for scene in ["tz_rolling_ball_elastic", "sp_corner", "sp_two_planes_one_leaving", "dps_singular_frames"]
    {
        let run = done(&["solve", &format!("{scene}.toml")], "");
        golden::check(&format!("solve_{scene}.txt"), &without_residuals(&run.out));
    }
}

#[test]
fn comparisons_read_as_stored() {
    for scene in ["sp_two_planes", "sp_corner"] {
        let run = done(&["compare", &format!("{scene}.toml")], "");
        golden::check(&format!("compare_{scene}.txt"), &run.out);
    }
}

#[test]
fn every_scene_of_the_papers_is_solved() {
    let mut count = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let json = done(&["solve", &name, "--json"], "").json();
        assert_eq!(json["audit"]["passed"], true, "{name}");
        assert_eq!(json["admissible"], true, "{name}");
        assert!(json["title"].is_string() && json["source"].is_string(), "{name} says what it is");
        count += 1;
    }
    assert_eq!(count, 21);
}

#[test]
fn fields_of_the_contract() {
    let json = done(&["solve", "dps_hinged_frames.toml", "--json"], "").json();
    for field in [
        "law",
        "time",
        "bodies",
        "contacts",
        "joints",
        "energy",
        "momentum",
        "rank",
        "contacts_active",
        "velocity_unique",
        "impulse_unique",
        "consistent",
        "admissible",
        "notes",
    ] {
        assert!(json.get(field).is_some(), "{field}");
    }
    for name in ["first", "second"] {
        for field in ["velocity", "angular_velocity"] {
            assert_eq!(numbers(&json["bodies"][name][field]).len(), 3);
        }
    }
    let contact = &json["contacts"][0];
    for field in [
        "name",
        "bodies",
        "point",
        "normal",
        "approach",
        "separation",
        "impulse",
        "impulse_vector",
        "restitution",
    ] {
        assert!(contact.get(field).is_some(), "{field}");
    }
    for joint in ["O1", "O2"] {
        let joint = &json["joints"][joint];
        assert_eq!(numbers(&joint["impulse"]).len(), 5, "one number per row of a hinge");
        assert_eq!((numbers(&joint["linear"]).len(), numbers(&joint["angular"]).len()), (3, 3));
    }
    for field in ["before", "after", "loss"] {
        assert!(json["energy"][field].is_f64(), "{field}");
    }
    for field in ["linear_residual", "angular_residual"] {
        assert!(json["momentum"][field].is_f64(), "{field}");
    }
    assert_eq!(
        (&json["rank"], &json["contacts_active"], &json["law"]),
        (&2.into(), &3.into(), &"newton_lcp".into())
    );
    assert_eq!((&json["velocity_unique"], &json["impulse_unique"]), (&true.into(), &false.into()));
}

#[test]
fn standard_input_in_both_languages() {
    let toml = solve(&[], DROP);
    close(&toml["bodies"]["ball"]["velocity"], &[0.5, 0.0, 2.4]);
    let json = r#"{"carom": 1, "body": [{"name": "ball", "shape": {"sphere": {"radius": 0.1}}, "mass": 2,
        "position": [0, 0, 0.1], "velocity": [0.5, 0, -3]}], "plane": [{"name": "floor", "normal": [0, 0, 1]}],
        "surface": {"restitution": 0.8}}"#;
    assert_eq!(solve(&[], json), toml);
    assert!(done(&["solve", "-"], DROP).out.contains("floor-ball strikes"));
}

#[test]
fn the_command_line_goes_before_the_scene() {
    let energy = |options: &[&str]| {
        let arguments = [&["solve", "sp_two_planes.toml", "--json"], options].concat();
        done(&arguments, "").json()["energy"]["loss"].as_f64().unwrap()
    };
    assert!((energy(&["--law", "decoupled"]) - 850.100_146_004_345_2).abs() < 1e-9);
    assert!(energy(&[]).abs() < 1e-9);
}

#[test]
fn the_order_is_one_of_contacts() {
    let velocity = |order: &str| {
        let arguments = ["solve", "sp_two_planes.toml", "--json", "--law", "sequential", "--order", order];
        numbers(&done(&arguments, "").json()["bodies"]["ellipsoid"]["velocity"])
    };
    assert_eq!(velocity("0,1"), velocity("given"));
    assert_eq!(velocity("1,0"), velocity("reversed"));
    assert_ne!(velocity("0,1"), velocity("1,0"));
    // Rough contacts have three rows each; their numbers stay those of contacts.
    let rough = DROP.replace("[surface]", "[surface]\nkind = 'rough'");
    solve(&["--law", "sequential", "--order", "0"], &rough);
    for wrong in ["0", "0,0", "0,2", "0,1,2"] {
        let run = carom(&["solve", "sp_two_planes.toml", "--order", wrong], "");
        assert_eq!(run.code, Some(2), "{wrong}");
        assert!(run.err.contains("not an order of the 2 contacts"), "{}", run.err);
    }
}

#[test]
fn how_close_is_touching() {
    let near = DROP.replace("0, 0.1]", "0, 0.1001]");
    assert_eq!(solve(&[], &near)["contacts"].as_array().unwrap().len(), 0);
    assert_eq!(solve(&["--touching", "0.01"], &near)["contacts"].as_array().unwrap().len(), 1);
    assert_eq!(carom(&["solve", "-", "--touching", "2"], DROP).code, Some(2));
}

#[test]
fn no_contact_is_an_answer() {
    let apart = DROP.replace("0, 0.1]", "0, 0.35]");
    let json = solve(&["--strict"], &apart);
    close(&json["bodies"]["ball"]["velocity"], &[0.5, 0.0, -3.0]);
    assert_eq!((&json["rank"], &json["contacts_active"]), (&0.into(), &0.into()));
    let text = done(&["solve", "-"], &apart).out;
    assert!(text.contains("Nothing touches") && text.contains("`floor` and `ball`, 0.25 apart"), "{text}");
    let leaving = DROP.replace("-3]", "3]");
    assert!(done(&["solve", "-"], &leaving).out.contains("Nothing is closing"));
    assert!(done(&["compare", "-"], &apart).out.contains("Nothing touches: no impact"));
}

#[test]
fn a_misspelt_field() {
    let words = ["radios", "radius"];
    refused(&["solve", "-"], &DROP.replace("radius", "radios"), "body[0].shape.sphere.radios", &words);
}

#[test]
fn bodies_that_overlap() {
    let deep = DROP.replace("0, 0.1]", "0, 0.06]");
    let words = ["`ball` overlaps `floor` by 0.04", "bodies that touch or are apart"];
    for command in ["solve", "compare", "classify", "toi", "run"] {
        refused(&[command, "-"], &deep, "body[0].position", &words);
    }
}

#[test]
fn velocities_that_a_joint_forbids() {
    let joint = "[[joint]]\nname = 'pin'\nbodies = ['ball']\nkind = { ball = { point = [0, 0, 0.1] } }\n";
    let pinned = format!("{DROP}{joint}");
    refused(&["solve", "-"], &pinned, "joint[0]", &["violate the joint `pin`", "option `project`"]);
    let json = solve(&["--project"], &pinned);
    close(&json["bodies"]["ball"]["velocity"], &[0.0, 0.0, 0.0]);
}

#[test]
fn no_answer_is_3() {
    let torn = |k: &str| {
        let text = std::fs::read_to_string(folder().join("dps_hinged_frames.toml")).unwrap();
        text.replacen("restitution = 0.6", k, 1)
    };
    let run = carom(&["solve", "-", "--json", "--law", "newton"], &torn("restitution = 0.9"));
    assert_eq!((run.code, &run.json()["consistent"]), (Some(3), &false.into()));
    let run = carom(&["solve", "-", "--law", "newton"], &torn("restitution = 0.9"));
    assert!(run.out.contains("has no solution here"), "{}", run.out);
    assert_eq!(carom(&["solve", "-"], &torn("restitution = 0.9")).code, Some(0), "by the default law");
}

#[test]
fn inadmissible_is_3_only_when_strict() {
    let decoupled = ["solve", "sp_two_oblique_planes.toml", "--law", "decoupled"];
    let run = done(&decoupled, "");
    assert!(run.out.contains("Not admissible."), "{}", run.out);
    assert_eq!(carom(&[&decoupled[..], &["--strict"]].concat(), "").code, Some(3));
    done(&["compare", "sp_two_oblique_planes.toml"], "");
    assert_eq!(carom(&["compare", "sp_two_oblique_planes.toml", "--strict"], "").code, Some(3));
}

#[test]
fn the_screw_view() {
    let run = done(&["solve", "sp_two_planes.toml", "--screws"], "");
    for word in ["contact lines", "unit wrenches", "inertances", "0.0039852941"] {
        assert!(run.out.contains(word), "{word}: {}", run.out);
    }
    let json = done(&["solve", "sp_two_planes.toml", "--screws", "--json"], "").json();
    close(&json["screws"]["inertances"][0], &[0.003_985_294_117_647_059, -0.000_875_075_026_795_421_9]);
    let without = done(&["solve", "sp_two_planes.toml", "--json"], "").json();
    assert!(without.get("screws").is_none());
}

#[test]
fn a_comparison_for_programs() {
    let json = done(&["compare", "sp_two_planes.toml", "--json"], "").json();
    let laws = json["laws"].as_object().unwrap();
    assert_eq!(laws.len(), 6);
    for (name, law) in laws {
        for field in ["approach", "separation", "impulse"] {
            assert_eq!(numbers(&law[field]).len(), 2, "{name} {field}");
        }
        for field in ["energy_change", "linear_residual", "angular_residual"] {
            assert!(law[field].is_f64(), "{name} {field}");
        }
    }
    let lost = laws["decoupled"]["energy_change"].as_f64().unwrap();
    assert!((lost + 850.100_146_004_345_2).abs() < 1e-9, "{lost}");
}

#[test]
fn the_schema_is_printed() {
    let run = done(&["schema"], "");
    assert_eq!(run.json()["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(done(&["schema", "--json"], "").out, run.out);
}

/// Two rough spheres that meet through the wall of a periodic box, and the same pair side by side.
#[test]
fn images_in_a_periodic_box_are_the_bodies_themselves() {
    let scene = |world: &str, place: &str| {
        format!(
            "carom = 1\n{world}[[body]]\nname = 'a'\nshape = {{ sphere = {{ radius = 1 }} }}\nmass = 1\nposition = [0.5, 5, 0]\n\
             velocity = [-1, 0, 0]\nangular_velocity = [0, 0, 1]\n[[body]]\nname = 'b'\nshape = {{ sphere = {{ radius = 1 }} }}\n\
             mass = 3\nposition = {place}\nvelocity = [1, 0.3, 0]\n[surface]\nrestitution = 0.5\nkind = 'rough'\n"
        )
    };
    let through = solve(&[], &scene("[world]\nperiodic = [10, 10, 0]\n", "[8.5, 5, 0]"));
    let beside = solve(&[], &scene("", "[-1.5, 5, 0]"));
    for body in ["a", "b"] {
        for field in ["velocity", "angular_velocity"] {
            let expected: Vec<f64> = beside["bodies"][body][field]
                .as_array()
                .unwrap()
                .iter()
                .map(|x| x.as_f64().unwrap())
                .collect();
            close(&through["bodies"][body][field], &expected);
        }
    }
    close(&through["bodies"]["a"]["velocity"], &[1.25, 0.417_857_142_857_142_86, 0.0]);
    // Touching on both sides of the box: two contacts, one of them closing.
    let both = "carom = 1\n[world]\nperiodic = [4, 10, 10]\n[[body]]\nname = 'a'\nshape = { sphere = { radius = 1 } }\nmass = 1\n\
                position = [1, 5, 5]\nvelocity = [1, 0, 0]\n[[body]]\nname = 'b'\nshape = { sphere = { radius = 1 } }\nmass = 1\n\
                position = [3, 5, 5]\nvelocity = [-1, 0, 0]\n[surface]\nrestitution = 0\n";
    let json = solve(&[], both);
    assert_eq!(json["contacts"].as_array().unwrap().len(), 2);
    close(&json["bodies"]["a"]["velocity"], &[0.0, 0.0, 0.0]);
    let small = "carom = 1\n[world]\nperiodic = [1.5, 0, 0]\n[[body]]\nname = 'a'\nshape = { sphere = { radius = 1 } }\nmass = 1\n";
    refused(&["solve", "-"], small, "world.periodic", &["its own image", "0.5"]);
}

#[test]
fn a_smooth_contact_tells_its_slip() {
    let json = solve(&[], DROP);
    close(&json["contacts"][0]["slip_before"], &[0.5, 0.0, 0.0]);
    close(&json["contacts"][0]["slip_after"], &[0.5, 0.0, 0.0]);
}

fn matrix(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(numbers).collect()
}

#[test]
fn the_scattering_matrix_of_a_pair() {
    let json = done(&["solve", "pvwz_collision.toml", "--json"], "").json();
    let (p, s) = (matrix(&json["projector"]), matrix(&json["scattering_matrix"]));
    assert_eq!((p.len(), s.len(), s[0].len()), (12, 12, 12));
    let product =
        |a: &[Vec<f64>], b: &[Vec<f64>], i: usize, j: usize| (0..12).map(|k| a[i][k] * b[k][j]).sum::<f64>();
    for i in 0..12 {
        for j in 0..12 {
            let one = f64::from(u8::from(i == j));
            assert!((product(&p, &p, i, j) - p[i][j]).abs() < 1e-13, "P² = P");
            assert!((product(&s, &s, i, j) - one).abs() < 1e-13, "(I − 2P)² = I");
            assert!((s[i][j] - (one - 2.0 * p[i][j])).abs() < 1e-15, "I − (1+k)P, k = 1");
        }
    }
    // It takes the velocities before to those after.
    let before = [0.2, 0.4, -0.1, 0.3, -0.2, 0.5, -0.6, -1.3, 0.2, 0.7, 0.1, -0.4];
    let after: Vec<f64> = ["superellipsoid", "ellipsoid"]
        .iter()
        .flat_map(|name| {
            ["velocity", "angular_velocity"].map(|part| numbers(&json["bodies"][name][part])).concat()
        })
        .collect();
    for (row, expected) in s.iter().zip(after) {
        assert!((row.iter().zip(before).map(|(a, b)| a * b).sum::<f64>() - expected).abs() < 1e-13);
    }
    // With different coefficients there is no such matrix.
    let corner = done(&["solve", "sp_corner.toml", "--json"], "").json();
    assert!(corner["projector"].is_array() && corner["scattering_matrix"].is_null());
}

#[test]
fn bryan_angles_and_rates_after_an_impact() {
    let text = DROP.replace(
        "velocity = [0.5",
        "orientation = { bryan = [0.3, -0.5, 0.8] }\nbryan_rates = [1, 2, 3]\nvelocity = [0.5",
    );
    let json = solve(&[], &text);
    close(&json["bodies"]["ball"]["bryan"], &[0.3, -0.5, 0.8]);
    // A smooth floor does not turn a ball.
    close(&json["bodies"]["ball"]["bryan_rates"], &[1.0, 2.0, 3.0]);
    let locked = text.replace("-0.5, 0.8]", "1.5707963267948966, 0.8]");
    assert!(solve(&[], &locked)["bodies"]["ball"]["bryan_rates"].is_null());
    let plain = text.replace("orientation = { bryan = [0.3, -0.5, 0.8] }\n", "");
    refused(
        &["solve", "-"],
        &plain,
        "body[0].bryan_rates",
        &["angles that are not given", "orientation = { bryan"],
    );
}

/// The screws of two hinged frames are those of the paper, and the parts add up.
#[test]
fn screws_of_hinged_frames() {
    let json = done(&["solve", "dps_hinged_frames.toml", "--screws", "--json"], "").json();
    let screws = &json["screws"];
    let [first, second] = [0, 1].map(|k| &screws["bodies"][k]);
    close(&first["Q"][0], &[0.0, 0.0, 1.0, -0.4, 0.0, 0.0]);
    close(&second["Q"][0], &[0.0, 0.0, 1.0, 0.5, 0.0, 0.0]);
    close(&first["S"][0], &[1.0, 0.0, 0.0, 0.0, 0.0, 0.4]);
    close(&first["S"][2], &[0.0, 0.0, 1.0, -0.4, 0.0, 0.0]);
    close(&first["M_red"][0], &[0.4]);
    close(&second["M_red"][0], &[0.86]);
    for i in 0..3 {
        let [one, two] = [first, second].map(|body| numbers(&body["G"][i]));
        let sum: Vec<f64> = one.iter().zip(two).map(|(a, b)| a + b).collect();
        close(&screws["inertances"][i], &sum);
    }
    assert_eq!(numbers(&first["xi"]), numbers(&json["joints"]["O1"]["impulse"]));
    // A body that is free has every freedom.
    let free = done(&["solve", "sp_two_planes.toml", "--screws", "--json"], "").json();
    assert_eq!(free["screws"]["bodies"][0]["Q"].as_array().unwrap().len(), 6);
    assert_eq!(free["screws"]["bodies"][0]["S"].as_array().unwrap().len(), 0);
}

#[test]
fn the_weak_form_holds_of_runs() {
    for (scene, until, impacts, functions) in [
        ("rolling_between_rough_walls", "3", 4, 1),
        ("nonholonomic_pendulum", "2", 4, 3),
        ("superball_under_table", "1", 1, 3),
    ] {
        let path = format!("../gallery/{scene}.toml");
        let json = done(&["weak-form", &path, "--until", until, "--json"], "").json();
        let found = json["impacts"].as_array().unwrap();
        assert!(found.len() >= impacts, "{json}");
        assert!(json["residual_max"].as_f64().unwrap() < 1e-10, "{json}");
        for impact in found {
            assert_eq!(impact["functions"].as_u64().unwrap(), functions, "{json}");
            // A test function that the contact forbids shows the impulse.
            assert!(impact["control"].as_f64().unwrap() > 1e-2, "{json}");
        }
    }
    refused(
        &["weak-form", "-"],
        &format!(
            "{DROP}[[load]]\nname = 'push'\nkind = {{ force = {{ body = 'ball', vector = [1, 0, 0] }} }}\n"
        ),
        "load[0]",
        &["Lagrangian"],
    );
}
