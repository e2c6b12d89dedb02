//! The program as a user runs it: `carom run --derivatives`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod running;

use running::{Place, carom, run_text};
use serde_json::{Value, json};

const DROP: &str = "\
carom = 1
[world]
gravity = [0, 0, -2]
[surface]
restitution = 0.5
[[body]]
name = 'ball'
shape = { sphere = { radius = 0.5 } }
mass = 2
position = [0, 0, 1.5]
[[plane]]
name = 'floor'
normal = [0, 0, 1]
[run]
until = 1.5
sample = 0.5
";

fn near(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap();
    assert!((found - expected).abs() < 1e-13, "{found} {expected}");
}

/// Falls from 1 in time 1 at speed 2; after that z = ½ + 2e(t−1) − (t−1)², t₁ = v + √(v² + h) beside one.
#[test]
fn derivatives_are_in_the_document() {
    let paths = "body.ball.velocity,surface.restitution,body.ball.position[2],run.until,body.ball.mass";
    let document =
        run_text("derivatives_derivatives", DROP, &["--json", "--derivatives", paths]).well().json();
    let found = &document["derivatives"];
    let names = [
        "body.ball.velocity[0]",
        "body.ball.velocity[1]",
        "body.ball.velocity[2]",
        "surface.restitution",
        "body.ball.position[2]",
        "run.until",
        "body.ball.mass",
    ];
    assert_eq!(found["parameters"], json!(names));
    assert_eq!(found["undefined"], json!([]));
    let ball = &found["final"]["ball"];
    // v₀: t₁ grows by ½ + 0 = 0.5, and the speed there by 0; e: the height by 2·½, the speed by 2; h: t₁ by ½, the speed by 1.
    near(&ball["position"][0][0], 1.5);
    near(&ball["position"][2][2], 0.0);
    near(&found["events"][0]["time"][2], 0.5);
    near(&ball["position"][2][3], 1.0);
    near(&ball["velocity"][2][3], 2.0);
    near(&found["events"][0]["time"][4], 0.5);
    near(&ball["position"][2][5], 0.0);
    near(&ball["velocity"][2][5], -2.0);
    near(&ball["position"][2][6], 0.0);
    near(&found["events"][0]["impulse"][3], 4.0);
    near(&found["events"][0]["impulse"][6], 3.0);
    assert_eq!(ball["orientation"].as_array().unwrap().len(), 4);
    assert!(found["rounding"]["ball"]["growth"].as_f64().unwrap() < 100.0);
    // Without the option there is nothing.
    assert!(
        run_text("derivatives_derivatives", DROP, &["--json"]).well().json().get("derivatives").is_none()
    );
    let told =
        run_text("derivatives_derivatives", DROP, &["--derivatives", "surface.restitution"]).well().out;
    assert!(told.contains("derivatives of ball") && told.contains("surface.restitution"), "{told}");
}

#[test]
fn where_there_is_none_the_document_says_so() {
    let plastic = DROP.replace("0.5\n[[body]]", "0\n[[body]]");
    let document =
        run_text("derivatives_where", &plastic, &["--json", "--derivatives", "world.gravity"]).well().json();
    let found = &document["derivatives"];
    assert!(found["final"]["ball"].is_null() && found["events"][0]["time"].is_null(), "{found}");
    assert_eq!(found["undefined"][0]["cause"], "persistent");
    assert_eq!(
        (&found["undefined"][0]["bodies"], &found["undefined"][0]["uncovered"]),
        (&json!(["ball"]), &json!(true))
    );
    let told = run_text("derivatives_where", &plastic, &["--derivatives", "world.gravity"]).well().out;
    assert!(told.contains("no derivatives") && told.contains("not computed yet"), "{told}");
}

#[test]
fn a_folder_has_a_table_of_them() {
    let place = Place::new("derivative_tables");
    let scene = place.path("drop.toml");
    std::fs::write(&scene, DROP).unwrap();
    let folder = place.path("run");
    let [scene, out] = [scene.to_str().unwrap(), folder.to_str().unwrap()];
    let options =
        ["run", scene, "--derivatives", "body.ball.position,surface.restitution", "-o", out, "--json"];
    let document = running::Ran::from(carom().args(options).output().unwrap()).well().json();
    let file = std::fs::File::open(folder.join("derivatives.parquet")).unwrap();
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let rows: usize = reader.build().unwrap().map(|batch| batch.unwrap().num_rows()).sum();
    // Thirteen numbers of the ball and two of each event, by four parameters.
    let events = document["derivatives"]["events"].as_array().unwrap().len();
    assert_eq!(rows, 4 * (13 + 2 * events));
}

#[test]
fn wrong_paths_are_refused_with_what_would_be_right() {
    let refused = |text: &str, path: &str, words: &[&str]| {
        let ran = run_text("derivatives_wrong", text, &["--derivatives", path]);
        assert_eq!(ran.code, Some(2), "{path}: {}", ran.err);
        let message = ran
            .err
            .split_whitespace()
            .filter(|word| !matches!(*word, "|" | "│"))
            .collect::<Vec<_>>()
            .join(" ");
        for word in words {
            assert!(message.contains(word), "{path}: {message}");
        }
    };
    refused(DROP, "body.bal.mass", &["--derivatives", "there is no body `bal`", "ball"]);
    refused(DROP, "body.ball.velocity[3]", &["has the index 3", "below 3"]);
    refused(DROP, "body.ball.density", &["`mass`"]);
    refused(DROP, "body.ball.inertia", &["leaves it to the shape"]);
    refused(DROP, "surface.kind.coulomb", &["no friction"]);
    refused(DROP, "body.ball.shape.ellipsoid.semi_axes", &["is not a size of the body"]);
    refused(DROP, "plane.wall.offset", &["no plane `wall`", "floor"]);
    refused(DROP, "nothing", &["is not in the scene"]);
    refused(DROP, "body.ball.mass,body.ball.mass", &["each number once"]);
    let joint = format!(
        "{DROP}[[joint]]\nname = 'pin'\nbodies = ['ball']\nkind = {{ ball = {{ point = [0, 0, 2] }} }}\n"
    );
    refused(&joint, "body.ball.mass", &["joint `pin`", "not computed yet"]);
}
