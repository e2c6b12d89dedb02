//! `carom scatter` and `carom sweep`: the same numbers and the same bytes however they are run.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod running;

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, UInt64Type};
use arrow_array::{RecordBatch, StringArray};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use running::{Place, Ran, carom, run};

const RODS: &str = include_str!("../../../cases/ensembles/rods.toml");

/// A ball that bounces in a box, with a speed and a place that vary; one in four samples starts inside the wall.
const BOX: &str = r#"
carom = 1
run = { until = 5 }
surface = { restitution = 0.9 }
[world]
gravity = [0, 0, -9.81]
[[body]]
name = "ball"
shape = { ellipsoid = { semi_axes = [0.1, 0.1, 0.2] } }
mass = 1
position = [0, 0, 1]
angular_velocity = [1, 2, 3]
[[plane]]
name = "floor"
normal = [0, 0, 1]
[[plane]]
name = "wall"
normal = [1, 0, 0]
offset = -1
[sweep]
samples = 400
seed = 3
collect = ["first_event"]
[[sweep.vary]]
path = "body.ball.position[0]"
values = [0, 1, 2, -1]
[[sweep.vary]]
path = "body.ball.velocity"
direction = 2
[[sweep.vary]]
name = "drop"
uniform = [0.5, 1.5]
[[sweep.vary]]
path = "body.ball.position[2]"
expression = "drop + body.ball.position[0] ^ 2"
[[sweep.vary]]
path = "body.ball.orientation"
orientation = "uniform"
"#;

fn rows(path: &Path) -> RecordBatch {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let mut batches = reader.with_batch_size(1 << 20).build().unwrap();
    let first = batches.next().unwrap().unwrap();
    assert!(batches.next().is_none());
    first
}

fn numbers(rows: &RecordBatch, name: &str) -> Vec<f64> {
    let column = rows.column_by_name(name).unwrap_or_else(|| panic!("no {name}"));
    column.as_primitive::<Float64Type>().iter().map(|x| x.unwrap_or(f64::NAN)).collect()
}

fn words(rows: &RecordBatch, name: &str) -> Vec<String> {
    let column = rows.column_by_name(name).unwrap();
    let names = column.as_dictionary::<Int32Type>().downcast_dict::<StringArray>().unwrap();
    names.into_iter().map(|name| name.unwrap_or_default().to_string()).collect()
}

fn sweep(arguments: &[&str]) -> Ran {
    carom().arg("sweep").args(arguments).output().unwrap().into()
}

fn scatter(arguments: &[&str]) -> Ran {
    carom().arg("scatter").args(arguments).output().unwrap().into()
}

#[test]
fn a_scattering_has_its_quantities() {
    let place = Place::new("scatter");
    let (scene, table) = (place.file("rods.toml", RODS), place.path("rows.parquet"));
    let scene = scene.to_str().unwrap();
    let found =
        scatter(&[scene, "--samples", "5000", "--json", "--rows", table.to_str().unwrap()]).well().json();
    let alone = scatter(&[scene, "--samples", "5000", "--json", "--threads", "1"]).well().json();
    for name in ["cross_section", "impacts", "energy_loss", "exchange", "drag", "second_virial_coefficient"] {
        for part in ["mean", "error"] {
            assert!(found[name][part].as_f64().unwrap().is_finite(), "{name}");
        }
        assert_eq!(found[name], alone[name], "{name}");
    }
    assert_eq!(found["hash"], alone["hash"]);
    assert_eq!(found["angle"], alone["angle"]);
    assert_eq!(found["audit"]["passed"], true);
    let hits = found["hits"].as_u64().unwrap();
    let counted: u64 =
        found["angle"].as_array().unwrap().iter().map(|bin| bin["count"].as_u64().unwrap()).sum();
    assert_eq!((found["samples"].as_u64(), hits), (Some(5000), counted));
    let other = scatter(&[scene, "--samples", "5000", "--json", "--seed", "2"]).well().json();
    assert_ne!(other["hash"], found["hash"]);

    // The rows say the same as the sums.
    let rows = rows(&table);
    assert_eq!(rows.num_rows(), 5000);
    let hit: Vec<usize> =
        words(&rows, "end").iter().enumerate().filter(|(_, end)| *end == "parted").map(|(k, _)| k).collect();
    assert_eq!(hit.len() as u64, hits);
    let [before, after] = ["rotation_before", "rotation_after"].map(|name| numbers(&rows, name));
    let energy = numbers(&rows, "energy_before");
    let gain: f64 = hit.iter().map(|&k| after[k] - before[k]).sum();
    let all: f64 = hit.iter().map(|&k| energy[k]).sum();
    let exchange = found["exchange"]["mean"].as_f64().unwrap();
    assert!((gain / all - exchange).abs() < 1e-12 * exchange.abs().max(1.0));

    // For people.
    let told = scatter(&[scene, "--samples", "5000"]).well().out;
    assert!(told.contains("cross section") && told.contains(found["hash"].as_str().unwrap()), "{told}");
}

/// On a GPU or without one: `auto` has the CPU's bits, `gpu` insists, and what a GPU does not do is said of the body.
#[test]
fn a_gpu_is_used_or_missed() {
    let place = Place::new("gpu");
    let scene = place.file("rods.toml", RODS);
    let scene = scene.to_str().unwrap();
    let cpu = scatter(&[scene, "--samples", "3000", "--json"]).well().json();
    assert_eq!(cpu["performance"]["device"], "CPU");
    let auto = scatter(&[scene, "--samples", "3000", "--json", "--device", "auto"]).well().json();
    assert_eq!(auto["hash"], cpu["hash"]);
    assert_eq!(auto["exchange"], cpu["exchange"]);
    let ran = carom().args(["scatter", scene, "--samples", "3000", "--device", "gpu"]).output().unwrap();
    if auto["performance"]["device"] == "CPU" {
        let note = auto["notes"]
            .as_array()
            .unwrap()
            .iter()
            .any(|note| note.as_str().unwrap().starts_with("followed on the CPU: no GPU can be used: "));
        assert!(note, "{}", auto["notes"]);
        assert!(!ran.status.success());
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(said.contains("no GPU can be used"), "{said}");
    }
    let ball = place.file("ball.toml", &RODS.replacen("ellipsoid = { semi_axes", "box = { half_extents", 1));
    let ran = carom().args(["scatter", ball.to_str().unwrap(), "--device", "gpu"]).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(!ran.status.success() && said.contains("not for a GPU yet"), "{said}");
}

/// A name without a folder is a file of the present one.
#[test]
fn rows_go_to_the_present_folder() {
    let place = Place::new("present");
    let scene = place.file("rods.toml", RODS);
    let mut command = carom();
    command.args(["scatter", scene.to_str().unwrap(), "--samples", "100", "--rows", "rows.parquet"]);
    let folder = scene.parent().unwrap();
    Ran::from(command.current_dir(folder).output().unwrap()).well();
    assert_eq!(rows(&folder.join("rows.parquet")).num_rows(), 100);
}

/// One encounter by `scatter`, and by `run` of the scene that `scatter` makes of it.
#[test]
fn an_encounter_is_a_scene_to_run() {
    let place = Place::new("encounter");
    let scene = place.file("rods.toml", RODS);
    let scene = scene.to_str().unwrap();
    let sample = (0..100)
        .map(|k| scatter(&[scene, "--sample", &k.to_string(), "--json"]).well().json())
        .find(|sample| sample["impacts"] == 2)
        .unwrap();
    let number = sample["sample"].to_string();
    let text = scatter(&[scene, "--sample", &number, "--scene-of-sample"]).well().out;
    let ran = run(&place.file("encounter.toml", &text), &["--json"]).well().json();
    let impacts: Vec<f64> = ran["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["kind"] == "impact")
        .map(|event| event["time"].as_f64().unwrap())
        .collect();
    let sequence = sample["sequence"].as_array().unwrap();
    assert_eq!((impacts.len(), sequence.len()), (2, 2));
    for (time, impact) in impacts.iter().zip(sequence) {
        assert!((time - impact["time"].as_f64().unwrap()).abs() < 1e-9);
        assert_eq!(impact["scattering_matrix"].as_array().unwrap().len(), 12);
    }
    for (i, body) in ["first", "second"].into_iter().enumerate() {
        for axis in 0..3 {
            let [a, b] = [&ran["final"][body]["velocity"][axis], &sample["after"][i]["velocity"][axis]];
            assert!((a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-9);
        }
    }
}

#[test]
fn what_cannot_be_scattered_is_told_in_its_place() {
    let place = Place::new("unscattered");
    let refused = |more: &str, told: &str| {
        let scene = place.file("scene.toml", &format!("{RODS}\n{more}"));
        let ran = scatter(&[scene.to_str().unwrap(), "--json"]);
        assert_eq!(ran.code, Some(2), "{more}: {}", ran.out);
        assert!(ran.out.contains(told), "{more}: {}", ran.out);
    };
    refused("[world]\ngravity = [0, 0, -1]", "bends the beam");
    refused("[[plane]]\nname = 'p'\nnormal = [0, 0, 1]", "in the way of the beam");
    refused("[[body]]\nname = 'c'\nshape = { sphere = { radius = 1 } }\nmass = 1", "there are 3 bodies");
    let wrong = |from: &str, to: &str, told: &str| {
        let scene = place.file("scene.toml", &RODS.replace(from, to));
        let ran = scatter(&[scene.to_str().unwrap()]);
        assert_eq!(ran.code, Some(2));
        assert!(ran.err.contains(told), "{}", ran.err);
    };
    wrong("temperature = 1", "temperature = -1", "scatter.temperature");
    wrong("temperature = 1", "temperature = 1\nspeed = 2", "only one of `speed`, `temperature`");
    wrong("samples = 20000", "samples = 0", "scatter.samples");
}

/// Threads, shards, a kill in the midst: one table, byte for byte.
#[test]
fn a_sweep_has_the_same_bytes_however_it_is_run() {
    let place = Place::new("sweep");
    let scene = place.file("box.toml", BOX);
    let scene = scene.to_str().unwrap();
    let folder = |name: &str| place.path(name).to_str().unwrap().to_string();
    let table = |name: &str| fs::read(place.path(name).join("samples.parquet")).unwrap();
    let told = sweep(&[scene, "-o", &folder("one"), "--threads", "1"]).well().out;
    assert!(told.contains("400 of 400 samples") && told.contains("invalid"), "{told}");
    sweep(&[scene, "-o", &folder("three"), "--threads", "3"]).well();
    assert!(table("one") == table("three"));
    let mut left: Vec<String> =
        fs::read_dir(folder("one")).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    left.sort();
    assert_eq!(left, ["samples.parquet", "scene.toml", "sweep.json"]);

    let early = sweep(&["-o", &folder("shards"), "--merge"]);
    assert_eq!(early.code, Some(2), "{}", early.err);
    for number in [2, 1] {
        sweep(&[scene, "-o", &folder("shards"), "--shard", &format!("{number}/3")]).well();
    }
    let early = sweep(&["-o", &folder("shards"), "--merge"]);
    assert!(early.code == Some(2) && early.err.contains("shards 3 of 3"), "{}", early.err);
    sweep(&[scene, "-o", &folder("shards"), "--shard", "3/3"]).well();
    let merged = sweep(&["-o", &folder("shards"), "--merge"]).well().out;
    assert!(merged.contains("400 samples of 3 shards"), "{merged}");
    assert!(table("one") == table("shards"));

    // Another sweep does not go on in the same folder, unless it is told to begin anew.
    let other = sweep(&[scene, "-o", &folder("one"), "--seed", "4"]);
    assert!(other.code == Some(2) && other.err.contains("another sweep"), "{}", other.err);
    sweep(&[scene, "-o", &folder("three"), "--seed", "4", "--force"]).well();
    assert!(table("one") != table("three"));
    let there = sweep(&[scene, "-o", &folder("one")]).well().out;
    assert!(there.contains("was there already"), "{there}");
}

#[test]
fn a_sweep_that_is_killed_goes_on_to_the_same_bytes() {
    let place = Place::new("killed");
    let scene = place.file("box.toml", &BOX.replace("samples = 400", "samples = 6000"));
    let scene = scene.to_str().unwrap();
    let (whole, killed) = (place.path("whole"), place.path("killed"));
    sweep(&[scene, "-o", whole.to_str().unwrap()]).well();
    let parts = || {
        let names = fs::read_dir(&killed).map(|entries| entries.filter_map(Result::ok).collect::<Vec<_>>());
        let names = names.unwrap_or_default();
        names.iter().filter(|name| name.file_name().to_string_lossy().contains(".part-")).count()
    };
    let (mut kills, mut parted) = (0, 0);
    loop {
        let mut command = carom();
        command.args(["sweep", scene, "-o", killed.to_str().unwrap(), "--threads", "1"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Until it has written another part, or ended.
        let before = parts();
        let ended = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break Some(status);
            }
            if parts() > before && kills < 3 {
                break None;
            }
            sleep(Duration::from_millis(5));
        };
        if let Some(status) = ended {
            assert!(status.success());
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        parted += usize::from(parts() > before);
    }
    assert_eq!(parts(), 0);
    assert!(
        fs::read(whole.join("samples.parquet")).unwrap() == fs::read(killed.join("samples.parquet")).unwrap()
    );
    // A fast machine may finish before its first part; the shards' test covers joining then.
    assert_eq!(kills, parted);
}

/// A row on one side, `carom run` of the scene with its numbers on the other.
#[test]
fn a_row_is_the_run_of_its_scene() {
    let place = Place::new("row");
    let scene = place.file("box.toml", BOX);
    let folder = place.path("out");
    sweep(&[scene.to_str().unwrap(), "-o", folder.to_str().unwrap(), "--samples", "12"]).well();
    let rows = rows(&folder.join("samples.parquet"));
    let stopped = words(&rows, "stopped");
    let samples = rows.column_by_name("sample").unwrap().as_primitive::<UInt64Type>().values().to_vec();
    assert_eq!(samples, (0..12).collect::<Vec<u64>>());
    let column = |name: &str, k: usize| numbers(&rows, name)[k];
    for k in 0..12 {
        let x = [0.0, 1.0, 2.0, -1.0][k % 4];
        assert_eq!(column("body.ball.position[0]", k), x);
        assert!((column("body.ball.position[2]", k) - column("drop", k) - x * x).abs() < 1e-15);
        let v = [0, 1, 2].map(|i| column(&format!("body.ball.velocity[{i}]"), k));
        assert!((v.iter().map(|v| v * v).sum::<f64>() - 4.0).abs() < 1e-14);
        if x == -1.0 {
            assert_eq!(stopped[k], "invalid");
            assert!(column("time", k).is_nan() && column("ball.px", k).is_nan());
            continue;
        }
        let q = [0, 1, 2, 3].map(|i| column(&format!("body.ball.orientation[{i}]"), k));
        let [before, _] = BOX.split_once("[sweep]").map(|(a, b)| [a, b]).unwrap();
        let text = before.replace(
            "position = [0, 0, 1]",
            &format!(
                "position = [{x:?}, 0, {:?}]\nvelocity = {v:?}\norientation = {q:?}",
                column("body.ball.position[2]", k)
            ),
        );
        let ran = run(&place.file("row.toml", &text), &["--json", "--sample", "0"]).well().json();
        assert_eq!(stopped[k], ran["stopped"].as_str().unwrap());
        for (i, name) in ["ball.px", "ball.py", "ball.pz"].into_iter().enumerate() {
            assert_eq!(
                column(name, k),
                ran["final"]["ball"]["position"][i].as_f64().unwrap(),
                "{name} of {k}"
            );
        }
        assert_eq!(column("first.time", k), ran["events"][0]["time"].as_f64().unwrap());
        assert_eq!(words(&rows, "first.first")[k], ran["events"][0]["bodies"][0].as_str().unwrap());
    }
    let why = rows.column_by_name("reason").unwrap().as_string::<i32>();
    assert!(why.value(3).contains("overlap") || why.value(3).contains("wall"), "{}", why.value(3));
}

#[test]
fn the_command_line_comes_before_the_file() {
    let place = Place::new("vary");
    let scene = place.file("box.toml", BOX);
    let folder = place.path("out");
    let told = sweep(&[
        scene.to_str().unwrap(),
        "-o",
        folder.to_str().unwrap(),
        "--vary",
        "body.ball.position[0]=grid(0, 1, 3)",
        "--vary",
        "surface.restitution=expression(1 - body.ball.position[0] / 2)",
        "--samples",
        "6",
        "--collect",
        "extrema",
        "--json",
    ]);
    let told = told.well().json();
    assert_eq!(told["summary"]["stopped"]["until"], 6);
    let rows = rows(&folder.join("samples.parquet"));
    let [x, k] = ["body.ball.position[0]", "surface.restitution"].map(|name| numbers(&rows, name));
    assert_eq!(x, [0.0, 0.5, 1.0, 0.0, 0.5, 1.0]);
    assert_eq!(k, [1.0, 0.75, 0.5, 1.0, 0.75, 0.5]);
    let [least, last, most] = ["ball.pz.min", "ball.pz", "ball.pz.max"].map(|name| numbers(&rows, name));
    assert!((0..6).all(|i| 0.0 < least[i] && least[i] <= last[i] && last[i] <= most[i]));
}

#[test]
fn mistakes_of_a_sweep_are_told_in_their_places() {
    let place = Place::new("mistakes");
    let folder = place.path("out");
    let refused = |from: &str, to: &str, more: &[&str], told: &[&str]| {
        // Without what refers to the entries that are spoiled.
        let text = if from.is_empty() { BOX.to_string() } else { BOX.replace(from, to) };
        let scene = place.file("box.toml", &text.replace(" + body.ball.position[0] ^ 2", ""));
        let mut arguments = vec![scene.to_str().unwrap(), "-o", folder.to_str().unwrap()];
        arguments.extend(more);
        let ran = sweep(&arguments);
        assert_eq!(ran.code, Some(2), "{to}: {}{}", ran.out, ran.err);
        for told in told {
            assert!(ran.err.contains(told), "{to}: {}", ran.err);
        }
    };
    let path = "\"body.ball.position[0]\"\nvalues";
    refused(path, "\"body.bal.position[0]\"\nvalues", &[], &["there is no `bal` in the scene", "`ball`"]);
    refused(path, "\"body.ball.positio[0]\"\nvalues", &[], &["unknown field `positio`"]);
    refused(path, "\"body.ball.position[3]\"\nvalues", &[], &["index 3"]);
    refused(path, "\"body.ball.name\"\nvalues", &[], &["is a string"]);
    refused(
        "direction = 2",
        "direction = 2\nuniform = [0, 1]",
        &[],
        &["sweep.vary[1].direction", "cannot be given together with `uniform`"],
    );
    refused("drop + ", "drip + ", &[], &["`drip` is neither", "`drop`"]);
    refused("uniform = [0.5, 1.5]", "uniform = [1.5, 0.5]", &[], &["runs backwards"]);
    refused("samples = 400", "samples = 0", &[], &["sweep.samples"]);
    refused("[\"first_event\"]", "[\"first\"]", &[], &["first_event"]);
    refused("", "", &["--shard", "4/3"], &["i from 1 to n"]);
    refused("", "", &["--vary", "surface.restitution=gauss(1)"], &["`gauss` is no way to vary"]);
    refused("", "", &["--vary", "surface.restitution=uniform(0)"], &["vary"]);
    let empty = BOX.split_once("[sweep]").unwrap().0;
    refused(BOX, empty, &[], &["nothing varies"]);
    refused(BOX, empty, &["--vary", "surface.restitution=uniform(0, 1)"], &["how many samples"]);
    assert!(!folder.exists());
}
