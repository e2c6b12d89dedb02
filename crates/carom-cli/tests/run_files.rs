//! The files of `carom run -o`: whole at every moment, the same on every run, and good to go on from.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../carom/tests/count/mod.rs"]
mod count;
mod running;

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use running::{Place, carom, run, start};
use serde_json::Value;

/// Four bodies in a box, without end: some thousand events in a second or so.
const MANY: &str = include_str!("scenes/many.toml");

/// Contacts that last, beside others that strike without end.
const TABLE: &str = include_str!("scenes/table.toml");

/// Cells, images, and pairs that are found from both sides.
const GAS: &str = include_str!("../../../cases/gallery/gas.toml");

const EVENTS: &str = "3000";

fn rows(path: &Path) -> Vec<RecordBatch> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    reader.with_batch_size(1 << 20).build().unwrap().map(Result::unwrap).collect()
}

fn count(path: &Path) -> usize {
    rows(path).iter().map(RecordBatch::num_rows).sum()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .map(|entries| entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect())
        .unwrap_or_default();
    names.sort();
    names
}

/// What a run's folder holds, less the numbers that the clock makes.
fn result(folder: &Path) -> (Vec<String>, Vec<u8>, Vec<u8>, Value) {
    let mut document: Value = serde_json::from_slice(&fs::read(folder.join("run.json")).unwrap()).unwrap();
    let performance = document["performance"].as_object_mut().unwrap();
    for clocked in ["wall_s", "impacts_per_s", "events_per_s"] {
        assert!(performance.remove(clocked).unwrap().as_f64().unwrap() > 0.0);
    }
    let table = |name: &str| fs::read(folder.join(name)).unwrap();
    (names(folder), table("events.parquet"), table("samples.parquet"), document)
}

#[track_caller]
fn assert_same(ours: &Path, theirs: &Path) {
    let (ours, theirs) = (result(ours), result(theirs));
    assert_eq!((&ours.0, &ours.3), (&theirs.0, &theirs.3));
    assert!(ours.1 == theirs.1, "events differ");
    assert!(ours.2 == theirs.2, "samples differ");
}

#[test]
fn same_scene_same_bytes_wherever_the_checkpoints_fall() {
    let place = Place::new("bytes");
    let scene = place.file("many.toml", MANY);
    let folders = ["2", "0", "0.05"].map(|checkpoint| {
        let folder = place.path(checkpoint);
        let options = ["-o", folder.to_str().unwrap(), "--max-events", "400", "--checkpoint", checkpoint];
        run(&scene, &options).well();
        folder
    });
    assert_eq!(names(&folders[0]), ["events.parquet", "run.json", "samples.parquet", "scene.toml"]);
    assert_eq!(fs::read_to_string(folders[0].join("scene.toml")).unwrap(), MANY);
    assert_same(&folders[0], &folders[1]);
    assert_same(&folders[0], &folders[2]);
}

#[test]
fn tables_hold_what_the_document_says_with_units() {
    let place = Place::new("tables");
    let scene = place.file("many.toml", MANY);
    let folder = place.path("out");
    run(&scene, &["-o", folder.to_str().unwrap(), "--max-events", "60"]).well();
    let document = run(&scene, &["--json", "--samples", "--max-events", "60"]).well().json();

    let events = rows(&folder.join("events.parquet")).remove(0);
    let told = document["events"].as_array().unwrap();
    assert_eq!(events.num_rows(), told.len());
    let number = |name: &str, row: usize| {
        let column = events.column_by_name(name).unwrap().as_primitive::<Float64Type>();
        if column.is_null(row) { Value::Null } else { Value::from(column.value(row)) }
    };
    let word = |batch: &RecordBatch, name: &str, row: usize| {
        let column = batch.column_by_name(name).unwrap().as_dictionary::<Int32Type>();
        let words = column.downcast_dict::<arrow_array::StringArray>().unwrap();
        words.into_iter().nth(row).unwrap().unwrap().to_string()
    };
    for (row, event) in told.iter().enumerate() {
        let numbers = events.column_by_name("number").unwrap().as_primitive::<UInt64Type>();
        assert_eq!(numbers.value(row), event["number"].as_u64().unwrap());
        for name in
            ["time", "time_error", "gap", "approach", "separation", "impulse", "g2", "g3", "force_slope"]
        {
            assert_eq!(number(name, row), event[name], "{name}");
        }
        for name in ["energy_before", "energy_after"] {
            assert_eq!(number(name, row), event[name], "{name}");
        }
        for (k, axis) in ["x", "y", "z"].into_iter().enumerate() {
            for (column, field) in [("point", "point"), ("normal", "normal"), ("impulse", "impulse_vector")] {
                assert_eq!(number(&format!("{column}_{axis}"), row), event[field][k]);
            }
        }
        for (column, value) in [
            ("kind", &event["kind"]),
            ("type", &event["type"]),
            ("first", &event["bodies"][0]),
            ("second", &event["bodies"][1]),
        ] {
            assert_eq!(word(&events, column, row), value.as_str().unwrap());
        }
    }

    let samples = rows(&folder.join("samples.parquet")).remove(0);
    let told = document["samples"].as_array().unwrap();
    assert_eq!(samples.num_rows(), told.len());
    for (row, sample) in told.iter().enumerate().step_by(7) {
        let number =
            |name: &str| samples.column_by_name(name).unwrap().as_primitive::<Float64Type>().value(row);
        assert_eq!(number("time"), sample["time"]);
        for (names, field) in [
            (["px", "py", "pz"].as_slice(), "position"),
            (&["qw", "qx", "qy", "qz"], "orientation"),
            (&["vx", "vy", "vz"], "velocity"),
            (&["wx", "wy", "wz"], "angular_velocity"),
        ] {
            for (k, name) in names.iter().enumerate() {
                assert_eq!(number(name), sample[field][k], "{name}");
            }
        }
        assert_eq!(word(&samples, "body", row), sample["body"].as_str().unwrap());
        assert_eq!(word(&samples, "moment", row), sample["moment"].as_str().unwrap());
        let event = samples.column_by_name("event").unwrap().as_primitive::<UInt64Type>();
        assert_eq!(event.is_null(row), sample["event"].is_null());
        assert_eq!(sample["moment"] == "sample", event.is_null(row));
    }

    for (file, table) in [("events.parquet", &events), ("samples.parquet", &samples)] {
        for field in table.schema().fields() {
            let has_unit = field.metadata().contains_key("unit");
            assert_eq!(
                has_unit,
                field.data_type().is_floating() || field.name().starts_with("image"),
                "{field:?}"
            );
        }
        let open = File::open(folder.join(file)).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(open).unwrap();
        let metadata = reader.metadata().file_metadata().key_value_metadata().unwrap();
        let of = |key: &str| metadata.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.clone());
        let written: Value = serde_json::from_slice(&fs::read(folder.join("run.json")).unwrap()).unwrap();
        assert_eq!(of("carom.scene").unwrap(), written["scene"]);
        assert_eq!(of("carom.version").unwrap(), written["version"]);
        assert_eq!(format!("{}.parquet", of("carom.table").unwrap()), file);
        assert_eq!(of("carom.title").unwrap(), written["title"]);
    }
}

/// Numbers for the moments of the kills; the kills themselves fall where the machine lets them.
fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / (1_u64 << 53) as f64
}

#[test]
fn killed_at_random_moments_and_resumed_it_comes_to_the_same_result() {
    let kills: u32 = count::cases("CAROM_KILLS", 50);
    kill_and_resume("many", MANY, EVENTS, kills - 2 * (kills / 3));
    kill_and_resume("table", TABLE, "1200", kills / 3);
    kill_and_resume("gas", GAS, "800", kills / 3);
}

fn kill_and_resume(name: &str, text: &str, events: &str, kills: u32) {
    let place = Place::new(&format!("kill-{name}"));
    let scene = place.file("scene.toml", text);
    let (whole, folder) = (place.path("whole"), place.path("killed"));
    let begin = Instant::now();
    run(&scene, &["-o", whole.to_str().unwrap(), "--max-events", events]).well();
    let all = begin.elapsed();
    let [scene, out] = [&scene, &folder].map(|path| path.to_str().unwrap());
    let (mut seed, mut killed, mut finished, mut torn) = (2026, 0, 0, 0);
    while killed < kills || finished == 0 {
        let resumable = folder.join("checkpoint.json").exists();
        let mut child = if resumable {
            start(&["--resume", out, "--checkpoint", "0.01"])
        } else {
            start(&[scene, "-o", out, "--max-events", events, "--checkpoint", "0.01"])
        };
        // Some kills fall into the first moments, where the folder is made, and some into the end, where parts are merged.
        let wait = all.mul_f64(random(&mut seed).powi(2) * 0.6);
        let since = Instant::now();
        let ended = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break Some(status);
            }
            if killed < kills && since.elapsed() >= wait {
                break None;
            }
            sleep(Duration::from_micros(500));
        };
        if let Some(status) = ended {
            assert_eq!(status.code(), Some(0));
            assert_same(&folder, &whole);
            fs::remove_dir_all(&folder).unwrap();
            finished += 1;
            continue;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        killed += 1;
        if folder.join("run.json").exists() && !folder.join("checkpoint.json").exists() {
            // Too late: everything was written.
            assert_same(&folder, &whole);
            fs::remove_dir_all(&folder).unwrap();
            finished += 1;
            continue;
        }
        for name in names(&folder) {
            let path = folder.join(&name);
            if name.ends_with(".parquet") {
                assert!(count(&path) > 0 || name == "events.parquet" || name == "samples.parquet");
            } else if name.ends_with(".json") {
                serde_json::from_slice::<Value>(&fs::read(&path).unwrap()).unwrap();
            } else if name.ends_with(".tmp") {
                torn += 1;
            } else {
                assert_eq!(fs::read_to_string(&path).unwrap(), text);
            }
        }
    }
    println!(
        "{name}: {killed} kills, {torn} files torn, {finished} runs to the end in {:.1?}",
        begin.elapsed()
    );
}

#[cfg(unix)]
#[test]
fn signals_end_a_run_cleanly_and_it_goes_on() {
    let place = Place::new("signals");
    let scene = place.file("many.toml", MANY);
    let whole = place.path("whole");
    run(&scene, &["-o", whole.to_str().unwrap(), "--max-events", EVENTS]).well();
    for signal in ["-INT", "-TERM"] {
        let folder = place.path(signal);
        let out = folder.to_str().unwrap();
        let child = {
            let mut command = carom();
            command.arg("run").arg(&scene).args([
                "-o",
                out,
                "--max-events",
                EVENTS,
                "--json",
                "--checkpoint",
                "0.01",
            ]);
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap()
        };
        // Once there is a part the handler stands, and the end is still far.
        while !names(&folder).iter().any(|name| name == "events-00001.parquet") {
            sleep(Duration::from_millis(1));
        }
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()));
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["stopped"], "interrupted");
        assert!(document["performance"]["events"].as_u64().unwrap() < EVENTS.parse().unwrap());
        let held = ["checkpoint.json", "events.parquet", "run.json", "samples.parquet", "scene.toml"];
        assert_eq!(names(&folder), held);
        assert_eq!(
            count(&folder.join("events.parquet")) as u64,
            document["rows"]["events"].as_u64().unwrap()
        );
        let ran: running::Ran = carom().args(["run", "--resume", out]).output().unwrap().into();
        assert!(ran.well().out.contains("Taken up at t ="));
        assert_same(&folder, &whole);
    }
}

#[cfg(unix)]
#[test]
fn a_disk_that_fills_is_named_and_what_was_written_goes_on() {
    let place = Place::new("full");
    let scene = place.file("many.toml", MANY);
    let (whole, folder) = (place.path("whole"), place.path("out"));
    run(&scene, &["-o", whole.to_str().unwrap(), "--max-events", EVENTS]).well();
    // No file may grow to the size of the samples as a whole: the parts fit, and what they are put together in does not.
    // Shells count in blocks of 512 or of 1024 bytes.
    let blocks = fs::metadata(whole.join("samples.parquet")).unwrap().len() / 3 / 512;
    let limited = |blocks: u64, program: &str| {
        let line = format!("trap '' XFSZ; ulimit -f {blocks}; exec {program}");
        running::Ran::from(Command::new("sh").args(["-c", &line]).output().unwrap())
    };
    let program = env!("CARGO_BIN_EXE_carom");
    let (from, to) = (scene.display(), folder.display());
    let full =
        limited(blocks, &format!("{program} run {from} -o {to} --max-events {EVENTS} --checkpoint 0.01"));
    assert_eq!((full.code, full.out.as_str()), (Some(1), ""), "{}", full.err);
    assert!(full.err.contains("samples.parquet: File too large"), "{}", full.err);
    assert!(full.err.contains("--resume"), "{}", full.err);
    let kept: usize =
        names(&folder).iter().filter(|n| n.starts_with("events-")).map(|n| count(&folder.join(n))).sum();
    assert!(kept > 0 && !names(&folder).iter().any(|name| name.ends_with(".tmp")), "{kept}");
    // Still no room, for a checkpoint this time.
    let full = limited(1, &format!("{program} run --resume {to}"));
    assert!(full.code == Some(1) && full.err.contains("File too large"), "{}", full.err);
    let ran: running::Ran =
        carom().args(["run", "--resume", folder.to_str().unwrap()]).output().unwrap().into();
    ran.well();
    assert_same(&folder, &whole);
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let place = Place::new("unwritable");
    let scene = place.file("many.toml", MANY);
    let file = place.file("file", "");
    for folder in [file.join("out"), file.clone()] {
        let ran = run(&scene, &["-o", folder.to_str().unwrap()]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
        assert!(ran.err.contains(folder.to_str().unwrap()), "{}", ran.err);
    }
    assert_eq!(fs::read(&file).unwrap(), b"");
    #[cfg(target_os = "linux")]
    {
        // A document that finds no room.
        let line = format!(
            "exec {} run {} --max-events 9 --json > /dev/full",
            env!("CARGO_BIN_EXE_carom"),
            scene.display()
        );
        let ran = running::Ran::from(Command::new("sh").args(["-c", &line]).output().unwrap());
        assert!(ran.code == Some(1) && ran.err.contains("No space left on device"), "{}", ran.err);
    }
}

#[test]
fn folders_are_not_written_over_by_accident() {
    let place = Place::new("accident");
    let scene = place.file("many.toml", MANY);
    let folder = place.path("out");
    let out = folder.to_str().unwrap();
    let options = ["-o", out, "--max-events", "20"];
    let refused = |options: &[&str], words: &str| {
        let ran = run(&scene, options);
        assert!(ran.code == Some(2) && ran.err.contains(words), "{}", ran.err);
    };
    // Somebody else's files.
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("thesis.txt"), "years").unwrap();
    for options in [&options[..], &[&options[..], &["--force"]].concat()] {
        refused(options, "holds other files");
    }
    assert_eq!(names(&folder), ["thesis.txt"]);
    fs::remove_file(folder.join("thesis.txt")).unwrap();
    // A finished run, beside which something else may lie.
    run(&scene, &options).well();
    fs::write(folder.join("plot.svg"), "").unwrap();
    refused(&options, "holds a finished run");
    let resume = |words: &str| {
        let ran: running::Ran = carom().args(["run", "--resume", out]).output().unwrap().into();
        assert!(ran.code == Some(2) && ran.err.contains(words), "{}", ran.err);
    };
    resume("holds a finished run");
    run(&scene, &[&options[..], &["--force"]].concat()).well();
    assert!(names(&folder).contains(&"plot.svg".to_string()));
    fs::remove_dir_all(&folder).unwrap();
    resume("holds no run");
    // One at work.
    let mut child = start(&[scene.to_str().unwrap(), "-o", out, "--checkpoint", "0"]);
    while !folder.join("checkpoint.json").exists() {
        sleep(Duration::from_millis(1));
    }
    resume("another run is in progress");
    refused(&[&options[..], &["--force"]].concat(), "another run is in progress");
    child.kill().unwrap();
    child.wait().unwrap();
    refused(&options, "holds an interrupted run");
    // A scene that is no longer the one of the checkpoint.
    fs::write(folder.join("scene.toml"), MANY.replace("restitution", "restitution ")).unwrap();
    resume("another scene");
    fs::write(folder.join("checkpoint.json"), "{").unwrap();
    resume("not a checkpoint");
}

/// A rope of links: each step of its motion is one long solve.
fn rope(links: usize) -> String {
    let mut text =
        "carom = 1\nworld.gravity = [0, 0, -9.81]\nrun = { until = 0.4, sample = 0.1 }\n".to_string();
    for i in 0..links {
        let (x, end) = (0.1 * i as f64, 0.1 * i as f64 + 0.05);
        text += &format!(
            "[[body]]\nname = 'l{i}'\nshape = {{ sphere = {{ radius = 0.02 }} }}\nmass = 0.1\nposition = [{end}, 0, 2]\n"
        );
        let bodies = if i == 0 { "'l0'".to_string() } else { format!("'l{}', 'l{i}'", i - 1) };
        text += &format!(
            "[[joint]]\nname = 'j{i}'\nbodies = [{bodies}]\nkind = {{ ball = {{ point = [{x}, 0, 2] }} }}\n"
        );
    }
    text
}

/// Ctrl-C is heard within a long solve: the run ends, says so, and goes on to the same result.
#[cfg(unix)]
#[test]
fn a_signal_within_an_event_is_heard() {
    let place = Place::new("signal-within");
    let scene = place.file("rope.toml", &rope(14));
    let (whole, folder) = (place.path("whole"), place.path("cut"));
    run(&scene, &["-o", whole.to_str().unwrap()]).well();
    let mut within = 0;
    for wait in 1..=5 {
        let _ = fs::remove_dir_all(&folder);
        let mut command = carom();
        command.arg("run").arg(&scene).arg("-o").arg(&folder).arg("--json");
        let child = command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        while !folder.join("checkpoint.json").exists() {
            sleep(Duration::from_millis(1));
        }
        sleep(Duration::from_millis(10 * wait));
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        let (out, err) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(output.status.code(), Some(0), "{err}");
        let document: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(document["stopped"], "interrupted");
        if document["notes"].to_string().contains("interrupted within an event") {
            within += 1;
            assert!(!folder.join("run.json").exists() && folder.join("checkpoint.json").exists());
        }
        let resumed = carom().args(["run", "--resume"]).arg(&folder).output().unwrap();
        assert_eq!(resumed.status.code(), Some(0), "{}", String::from_utf8_lossy(&resumed.stderr));
        let end = |folder: &Path| -> Value {
            let text = fs::read_to_string(folder.join("run.json")).unwrap();
            serde_json::from_str::<Value>(&text).unwrap()["final"].take()
        };
        assert_eq!(end(&folder), end(&whole), "it goes on to another result");
    }
    assert!(within > 0, "no signal came within an event");
}
