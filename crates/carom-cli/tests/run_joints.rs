//! Joints in `carom run`: impulses and reactions in the document and in the tables, what rolling takes, and starts that joints
//! forbid.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod running;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use running::{Place, carom, run, run_text, start};
use serde_json::Value;

fn scene(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/gallery").join(name).with_extension("toml")
}

fn rows(path: &Path) -> RecordBatch {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let mut batches: Vec<RecordBatch> =
        reader.with_batch_size(1 << 20).build().unwrap().map(Result::unwrap).collect();
    assert_eq!(batches.len(), 1);
    batches.remove(0)
}

fn numbers(table: &RecordBatch, column: &str) -> Vec<f64> {
    table[column].as_primitive::<Float64Type>().values().to_vec()
}

fn names(table: &RecordBatch, column: &str) -> Vec<String> {
    let names =
        table[column].as_dictionary::<Int32Type>().downcast_dict::<arrow_array::StringArray>().unwrap();
    (0..names.len()).map(|i| arrow_array::ArrayAccessor::value(&names, i).to_string()).collect()
}

#[test]
fn tables_of_joints_hold_what_the_document_says() {
    let place = Place::new("joints");
    let folder = place.path("out");
    let pendulum = scene("double_pendulum_at_a_wall");
    run(&pendulum, &["-o", folder.to_str().unwrap(), "--until", "6"]).well();
    let document = run(&pendulum, &["--json", "--samples", "--until", "6"]).well().json();

    let impulses = rows(&folder.join("joint_impulses.parquet"));
    let (joints, linear) = (names(&impulses, "joint"), numbers(&impulses, "linear_x"));
    let angular = numbers(&impulses, "angular_y");
    let event = impulses["number"].as_primitive::<UInt64Type>();
    let lists = impulses["impulse"].as_list::<i32>();
    let events = document["events"].as_array().unwrap();
    assert_eq!(impulses.num_rows(), 2 * events.len());
    for k in 0..impulses.num_rows() {
        let ours = &events[usize::try_from(event.value(k)).unwrap()]["joints"][&joints[k]];
        assert_eq!(ours["linear"][0], linear[k]);
        assert_eq!(ours["angular"][1], angular[k]);
        let list: Vec<f64> = lists.value(k).as_primitive::<Float64Type>().values().to_vec();
        assert_eq!(ours["impulse"], serde_json::json!(list));
        assert_eq!(ours["determined"], true);
    }
    let reactions = rows(&folder.join("reactions.parquet"));
    let (joints, force) = (names(&reactions, "joint"), numbers(&reactions, "force_z"));
    let ours = document["reactions"].as_array().unwrap();
    assert_eq!(reactions.num_rows(), ours.len());
    for (k, reaction) in ours.iter().enumerate() {
        assert_eq!(
            (&reaction["joint"], &reaction["force"][2]),
            (&Value::from(joints[k].as_str()), &Value::from(force[k]))
        );
    }
    let result: Value = serde_json::from_slice(&fs::read(folder.join("run.json")).unwrap()).unwrap();
    assert_eq!(result["rows"]["joint_impulses"], impulses.num_rows());
    assert_eq!(result["rows"]["reactions"], reactions.num_rows());
    assert!(result["audit"]["joint_error_max"].as_f64().unwrap() < 1e-13);
}

#[test]
fn a_mechanism_killed_and_resumed_comes_to_the_same_files() {
    let place = Place::new("mechanism");
    let pendulum = scene("double_pendulum_at_a_wall");
    let tables = ["events", "samples", "joint_impulses", "reactions"];
    let read = |folder: &Path| tables.map(|table| fs::read(folder.join(format!("{table}.parquet"))).unwrap());
    let whole = place.path("whole");
    run(&pendulum, &["-o", whole.to_str().unwrap(), "--until", "60"]).well();
    let broken = place.path("broken");
    let folder = broken.to_str().unwrap();
    let mut child = start(&[pendulum.to_str().unwrap(), "-o", folder, "--until", "60", "--checkpoint", "0"]);
    for wait in [20, 40, 10] {
        // Killed some time after its first checkpoint, however slow the machine is, unless it has ended by then.
        while !broken.join("checkpoint.json").exists() && child.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(2));
        }
        sleep(Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
        if !broken.join("checkpoint.json").exists() {
            break;
        }
        child = start(&["--resume", folder, "--checkpoint", "0"]);
    }
    child.wait().unwrap();
    if broken.join("checkpoint.json").exists() {
        carom().args(["run", "--resume", folder]).output().unwrap();
    }
    assert!(read(&whole) == read(&broken), "the files differ");
}

#[test]
fn a_start_that_joints_forbid_is_pointed_at() {
    let ball = |position: &str, velocity: &str| {
        format!(
            "carom = 1\n[[plane]]\nname = 'floor'\nnormal = [0, 0, 1]\n\
             [[body]]\nname = 'ball'\nshape = {{ sphere = {{ radius = 0.5 }} }}\nmass = 1\nposition = {position}\nvelocity = {velocity}\n\
             [[joint]]\nname = 'roll'\nbodies = ['ball']\nkind = {{ rolling = {{ plane = 'floor' }} }}\n"
        )
    };
    for (text, words) in [
        (ball("[0, 0, 0.75]", "[0, 0, 0]"), "`ball` is 0.25 above `floor`"),
        (ball("[0, 0, 0.25]", "[0, 0, 0]"), "`ball` is 0.25 inside `floor`"),
        (ball("[0, 0, 0.5]", "[2, 0, 0]"), "forbids a velocity of 2 that its bodies have"),
    ] {
        let ran = run_text("forbidden", &text, &["--json"]);
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        let error = &ran.json()["errors"][0];
        assert_eq!(error["field"], "joint[0]");
        assert!(error["message"].as_str().unwrap().contains(words), "{error}");
    }
}

#[test]
fn what_rolling_takes_and_what_is_not_determined_is_noted() {
    let notes = |document: &Value| -> Vec<String> {
        document["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap().to_string()).collect()
    };
    let slope = "carom = 1\nworld.gravity = [4, 0, -9]\n[run]\nuntil = 1\nsample = 0\n[[plane]]\nname = 'floor'\nnormal = [0, 0, 1]\n\
        [[body]]\nname = 'ball'\nshape = { sphere = { radius = 0.5 } }\nmass = 1\nposition = [0, 0, 0.5]\n\
        [[joint]]\nname = 'roll'\nbodies = ['ball']\nkind = { rolling = { plane = 'floor' } }\n";
    let document = run_text("takes", slope, &["--json"]).well().json();
    // (g sin β)/(g cos β) · J/(J + m r²) = 4/9 · 2/7
    let needed = document["rolling"]["roll"]["friction_needed"].as_f64().unwrap();
    assert!((needed - 8.0 / 63.0).abs() < 1e-14, "{needed}");
    assert!(
        notes(&document)[0]
            .starts_with("roll: rolling without slip needs a friction coefficient of 0.126984126984")
    );
    let door = "carom = 1\nworld.gravity = [0, 0, -9]\n[run]\nuntil = 1\nsample = 0\n\
        [[body]]\nname = 'door'\nshape = { ellipsoid = { semi_axes = [0.4, 0.5, 0.02] } }\nmass = 3\nposition = [0.4, 0, 0]\n\
        [[joint]]\nname = 'low'\nbodies = ['door']\nkind = { hinge = { point = [0, -0.3, 0], axis = [0, 1, 0] } }\n\
        [[joint]]\nname = 'high'\nbodies = ['door']\nkind = { hinge = { point = [0, 0.3, 0], axis = [0, 1, 0] } }\n";
    let document = run_text("door", door, &["--json"]).well().json();
    assert!(
        notes(&document)[0].starts_with("5 of the joints' rows depend on the others"),
        "{:?}",
        notes(&document)
    );
}
