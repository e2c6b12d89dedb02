//! Many bodies as a user runs them: fills, averages, trajectories, copies.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod running;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use running::{Place, Ran, carom, run, run_text, start};
use serde_json::Value;

fn gas(count: usize, shape: &str, packing: f64, run: &str) -> String {
    format!(
        "carom = 1\n[[fill]]\nname = 'gas'\ncount = {count}\nshape = {shape}\nmass = 1\npacking_fraction = {packing}\nseed = 3\nequilibrate = 5\n[run]\n{run}\n"
    )
}

const BALL: &str = "{ sphere = { radius = 0.5 } }";
const EGG: &str = "{ ellipsoid = { semi_axes = [0.8, 0.5, 0.4] } }";

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// A document without what differs from run to run.
fn lasting(mut document: Value) -> Value {
    let fields = document.as_object_mut().unwrap();
    fields.remove("performance");
    for replica in fields.get_mut("replicas").and_then(Value::as_array_mut).into_iter().flatten() {
        replica.as_object_mut().unwrap().remove("wall_s");
    }
    document
}

#[test]
fn a_fill_runs_and_its_document_has_its_averages() {
    let text = gas(60, EGG, 0.3, "until = 2\nsample = 0.5");
    let document = run_text("gas-document", &text, &["--json", "--samples", "--strict"]).well().json();
    assert_eq!((&document["loop"], &document["stopped"]), (&"edmd".into(), &"until".into()));
    assert_eq!(document["final"].as_object().unwrap().len(), 60);
    assert!(document["final"]["gas[59]"]["position"][0].is_f64());
    let observables = &document["observables"];
    for name in [
        "compressibility",
        "collision_rate",
        "temperature_translational",
        "temperature_rotational",
        "packing_fraction",
        "pressure",
        "mean_free_path",
        "nematic_order",
    ] {
        assert!(number(&observables[name]["mean"]) > 0.0, "{name}");
        assert!(number(&observables[name]["error"]) >= 0.0, "{name}");
    }
    assert!((number(&observables["packing_fraction"]["mean"]) - 0.3).abs() < 1e-14);
    assert!(number(&observables["blocks"]) >= 32.0);
    // Z and the rate, from the events: all impulses along the line of centres, two bodies a collision.
    let events = document["events"].as_array().unwrap();
    assert_eq!(events.len() as f64, number(&document["performance"]["impacts"]));
    let time = number(&observables["time"]);
    let before = events.iter().filter(|event| number(&event["time"]) <= time).count();
    let rate = 2.0 * before as f64 / (60.0 * time);
    assert!((number(&observables["collision_rate"]["mean"]) / rate - 1.0).abs() < 1e-12);
    let samples = document["samples"].as_array().unwrap();
    assert_eq!(samples.len(), 5 * 60);
    let curve = |name: &str| observables[name]["value"].as_array().unwrap().len();
    assert!(curve("msd") > 15 && curve("vacf") == curve("msd"));
    // Said to people too.
    let told = run_text("gas-told", &text, &["--until", "0.5"]).well();
    for words in ["loop `edmd`", "averages (errors from", "compressibility", "56 more; --json has all"] {
        assert!(told.out.contains(words), "{words}: {}", told.out);
    }
}

#[test]
fn both_loops_tell_the_same() {
    // Chaos parts them after some collisions; before, they agree to rounding, and on the averages.
    let text = gas(40, EGG, 0.2, "until = 1.5\nsample = 0");
    let of =
        |which: &str| run_text(&format!("gas-{which}"), &text, &["--json", "--loop", which]).well().json();
    let (edmd, simulation) = (of("edmd"), of("simulation"));
    assert_eq!((&edmd["loop"], &simulation["loop"]), (&"edmd".into(), &"simulation".into()));
    for i in 0..20 {
        let (a, b) = (&edmd["events"][i], &simulation["events"][i]);
        assert_eq!(a["bodies"], b["bodies"], "event {i}");
        let (s, t) = (number(&a["time"]), number(&b["time"]));
        assert!((s - t).abs() < 1e-11, "event {i}: {s} and {t}");
        assert!((number(&a["impulse"]) - number(&b["impulse"])).abs() < 1e-8, "event {i}");
    }
    for name in ["compressibility", "collision_rate"] {
        let of = |document: &Value| number(&document["observables"][name]["mean"]);
        let error = |document: &Value| number(&document["observables"][name]["error"]);
        let apart = (of(&edmd) - of(&simulation)).abs();
        assert!(apart <= 6.0 * error(&edmd).max(error(&simulation)), "{name}: {apart}");
    }
}

#[test]
fn the_loop_can_be_chosen_where_the_scene_allows_it() {
    let heavy = format!("{}[world]\ngravity = [0, 0, -1]\n", gas(20, BALL, 0.1, "until = 0.2"));
    let ran = run_text("gas-heavy", &heavy, &["--json"]).well().json();
    assert_eq!(ran["loop"], "simulation");
    let ran = run_text("gas-heavy-edmd", &heavy, &["--loop", "edmd"]);
    assert!(ran.code == Some(2) && ran.err.contains("--loop") && ran.err.contains("gravity"), "{}", ran.err);
    let ran = run_text("gas-loop", &heavy, &["--loop", "round"]);
    assert!(ran.code == Some(2) && ran.err.contains("simulation"), "{}", ran.err);
}

#[test]
fn what_cannot_be_placed_is_refused_at_its_place_with_what_was_reached() {
    let packing = "fill[0].packing_fraction";
    let jams = "jam at a packing fraction of 0.";
    let lattice = |packing: f64| gas(108, BALL, packing, "").replace("seed", "start = 'lattice'\nseed");
    for (name, text, field, words, advice) in [
        ("jam", gas(108, BALL, 0.72, ""), packing, jams, "a lower density, or `start = \"lattice\"`"),
        ("full", gas(108, BALL, 0.9, ""), packing, jams, "a lower density: no packing of equal balls"),
        ("lattice", lattice(0.75), packing, "reaches 0.7404", "a lower density"),
        ("short", gas(2, EGG, 0.6, ""), "fill[0].shape", "its own image", "more bodies"),
    ] {
        let ran = run_text(&format!("gas-{name}"), &text, &["--json"]);
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        let error = &ran.json()["errors"][0];
        assert_eq!(error["field"], field);
        assert!(error["message"].as_str().unwrap().contains(words), "{error}");
        assert!(error["expected"].as_str().unwrap().starts_with(advice), "{error}");
        assert!(error["line"].as_u64().unwrap() > 1);
    }
}

#[test]
fn a_run_that_was_killed_goes_on_to_the_same_bytes() {
    let place = Place::new("gas-kill");
    let text = gas(60, EGG, 0.35, "until = 6\nsample = 0.25");
    let scene = place.file("gas.toml", &text);
    let (whole, cut) = (place.path("whole"), place.path("cut"));
    run(&scene, &["-o", whole.to_str().unwrap(), "--trajectory", "gsd"]).well();
    let mut kills = 0;
    // Asked for once: who goes on need not say it again.
    let first = ["-o", cut.to_str().unwrap(), "--checkpoint", "0", "--trajectory", "gsd"];
    let begin = |more: &[&str]| start(&[&[scene.to_str().unwrap()], &first[..], more].concat());
    let mut child = begin(&[]);
    loop {
        std::thread::sleep(std::time::Duration::from_millis(400));
        let over = child.try_wait().unwrap().is_some();
        if over || kills == 5 {
            child.wait().unwrap();
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        if !cut.join("checkpoint.json").exists() {
            // Killed before the first checkpoint.
            child = begin(&["--force"]);
        } else {
            child = start(&["--resume", cut.to_str().unwrap(), "--checkpoint", "0"]);
        }
    }
    let read = |folder: &Path, name: &str| fs::read(folder.join(name)).unwrap();
    for name in ["events.parquet", "samples.parquet", "observables.parquet", "trajectory.gsd"] {
        assert!(read(&whole, name) == read(&cut, name), "{name} after {kills} kills");
    }
    let document = |folder: &Path| -> Value { serde_json::from_slice(&read(folder, "run.json")).unwrap() };
    assert_eq!(lasting(document(&whole)), lasting(document(&cut)));
}

/// Placing, events and averages are the same to the bit, whatever the number of threads.
#[test]
fn threads_change_no_result() {
    let text = gas(1500, EGG, 0.3, "until = 0.1\nsample = 0.05");
    let with = |threads: &str| {
        run_text("gas-threads", &text, &["--json", "--samples", "--threads", threads]).well().json()
    };
    let alone = lasting(with("1"));
    assert!(alone["events"].as_array().unwrap().len() > 300);
    for threads in ["2", "3"] {
        assert!(lasting(with(threads)) == alone, "{threads} threads");
    }
    for bad in ["0", "-1", "1.5", "many", "1025"] {
        let ran = run_text("gas-threads-bad", &text, &["--threads", bad]);
        assert!(ran.code == Some(2) && ran.err.contains("--threads"), "{}", ran.err);
    }
}

#[test]
fn copies_are_the_runs_of_their_seeds() {
    let place = Place::new("gas-copies");
    let text = gas(40, EGG, 0.3, "until = 1\nsample = 0\nrecord_events = false");
    let scene = place.file("gas.toml", &text);
    let folder = place.path("copies");
    let copies = run(&scene, &["--replicas", "3", "--json", "-o", folder.to_str().unwrap()]).well().json();
    assert_eq!(copies["replicas"].as_array().unwrap().len(), 3);
    let mut means = Vec::new();
    for (i, copy) in copies["replicas"].as_array().unwrap().iter().enumerate() {
        let alone =
            run_text("gas-copy", &text.replace("seed = 3", &format!("seed = {}", 3 + i)), &["--json"]);
        let alone = alone.well().json();
        assert_eq!(copy["observables"], alone["observables"], "copy {i}");
        assert_eq!(copy["seeds"][0], 3 + i);
        let file = folder.join(format!("replica-{i}")).join("run.json");
        let file: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        assert_eq!(file["observables"], alone["observables"]);
        means.push(number(&copy["observables"]["compressibility"]["mean"]));
    }
    let mean = means.iter().sum::<f64>() / 3.0;
    let error = (means.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 6.0).sqrt();
    let pooled = &copies["observables"]["compressibility"];
    assert!(
        (number(&pooled["mean"]) - mean).abs() < 1e-12 && (number(&pooled["error"]) - error).abs() < 1e-12
    );
    let again = run(&scene, &["--replicas", "3", "--json"]).well().json();
    assert_eq!(lasting(again), lasting(copies));
    let ran = run(&scene, &["--replicas", "0"]);
    assert!(ran.code == Some(2) && ran.err.contains("--replicas"), "{}", ran.err);
    let lone = "carom = 1\n[[body]]\nname = 'a'\nshape = { sphere = { radius = 1 } }\nmass = 1\n";
    let ran = run_text("gas-no-fill", lone, &["--replicas", "2"]);
    assert!(ran.code == Some(2) && ran.err.contains("has no fill"), "{}", ran.err);
}

#[test]
fn collisions_that_accumulate_are_made_elastic_and_counted() {
    let text = format!(
        "{}[surface]\nrestitution = 0.2\n",
        gas(100, BALL, 0.4, "until = 20\nsample = 0\nrecord_events = false\ncontact_time = 1e-3")
    );
    let document = run_text("gas-collapse", &text, &["--json"]).well().json();
    assert_eq!(document["stopped"], "until");
    let elastic = number(&document["performance"]["elastic"]);
    assert!(elastic > 0.0 && elastic < number(&document["performance"]["impacts"]));
    let note = document["notes"][0].as_str().unwrap();
    assert!(note.contains(&format!("{elastic} of ")) && note.contains("within 0.001"), "{note}");
    assert!(document["observables"]["msd"]["diffusion"].is_null());
}

/// A frame of an extended XYZ file: the keys of the comment, and the columns of each line by name.
type XyzFrame = (BTreeMap<String, String>, Vec<BTreeMap<String, Vec<String>>>);

fn parse_xyz(text: &str) -> Vec<XyzFrame> {
    let mut lines = text.lines();
    let mut frames = Vec::new();
    while let Some(count) = lines.next() {
        let count: usize = count.parse().unwrap();
        let (mut keys, mut rest) = (BTreeMap::new(), lines.next().unwrap());
        while let Some((key, after)) = rest.split_once('=') {
            let (value, after) = match after.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"').unwrap(),
                None => after.split_once(' ').unwrap_or((after, "")),
            };
            keys.insert(key.trim().to_string(), value.to_string());
            rest = after;
        }
        let columns: Vec<&str> = keys["Properties"].split(':').collect();
        let bodies = (0..count)
            .map(|_| {
                let mut words = lines.next().unwrap().split(' ');
                let body = columns
                    .chunks(3)
                    .map(|column| {
                        let width: usize = column[2].parse().unwrap();
                        (
                            column[0].to_string(),
                            (0..width).map(|_| words.next().unwrap().to_string()).collect(),
                        )
                    })
                    .collect();
                assert_eq!(words.next(), None);
                body
            })
            .collect();
        frames.push((keys, bodies));
    }
    frames
}

/// A chunk of a GSD file: rows, columns, type and bytes.
type GsdChunk = (u64, u32, u8, Vec<u8>);

/// The chunks by frame and name.
fn parse_gsd(bytes: &[u8]) -> BTreeMap<(u64, String), GsdChunk> {
    let u64_at = |i: usize| u64::from_le_bytes(bytes[i..i + 8].try_into().unwrap());
    let u32_at = |i: usize| u32::from_le_bytes(bytes[i..i + 4].try_into().unwrap());
    assert_eq!(u64_at(0), 0x65DF_65DF_65DF_65DF);
    let [index, entries, names, name_blocks] = [8, 16, 24, 32].map(|i| usize::try_from(u64_at(i)).unwrap());
    assert_eq!((u32_at(40), u32_at(44)), (0x10004, 0x20000));
    assert!(bytes[48..].starts_with(b"carom\0") && bytes[112..].starts_with(b"hoomd\0"));
    let list: Vec<String> = bytes[names..names + 64 * name_blocks]
        .split(|byte| *byte == 0)
        .map(|name| String::from_utf8(name.to_vec()).unwrap())
        .collect();
    let (mut chunks, mut last) = (BTreeMap::new(), (0, 0));
    for entry in 0..entries {
        let at = index + 32 * entry;
        let (frame, rows, place) = (u64_at(at), u64_at(at + 8), usize::try_from(u64_at(at + 16)).unwrap());
        let (columns, id) =
            (u32_at(at + 24), u16::from_le_bytes(bytes[at + 28..at + 30].try_into().unwrap()));
        let kind = bytes[at + 30];
        assert!(entry == 0 || (frame, id) > last, "the index is not sorted");
        last = (frame, id);
        let size = [0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8][usize::from(kind)];
        let length = usize::try_from(rows * u64::from(columns)).unwrap() * size;
        let key = (frame, list[usize::from(id)].clone());
        chunks.insert(key, (rows, columns, kind, bytes[place..place + length].to_vec()));
    }
    chunks
}

#[test]
fn a_trajectory_without_samples_is_refused() {
    let place = Place::new("gas-no-samples");
    let scene = place.file("gas.toml", &gas(30, EGG, 0.2, "until = 3\nsample = 0"));
    let folder = place.path("out");
    for format in ["xyz", "gsd"] {
        let ran = run(&scene, &["-o", folder.to_str().unwrap(), "--trajectory", format]);
        assert!(ran.code == Some(2) && ran.err.contains("`sample` is 0"), "{}", ran.err);
        assert!(!folder.exists());
    }
}

/// Smooth eggs that lose much energy come to rest on one another, which the many-body engine does not hold.
#[test]
fn a_contact_that_must_be_held_is_told() {
    let grain = "{ ellipsoid = { semi_axes = [1, 0.5, 0.4] } }";
    let text = |more: &str| {
        format!("{}\n[surface]\nrestitution = 0.6\n", gas(200, grain, 0.3, &format!("until = 1\n{more}")))
    };
    let lost = run_text("gas-unheld", &text("contact_time = 0"), &["--json"]);
    let document = lost.json();
    assert_eq!((lost.code, &document["stopped"]), (Some(3), &Value::from("lost")));
    assert!(document["notes"].to_string().contains("--loop simulation"), "{}", document["notes"]);
    let asked =
        run_text("gas-unheld-stop", &text("contact_time = 0\non_paradox = 'stop'"), &["--json"]).well();
    let document = asked.json();
    assert_eq!(document["stopped"], "paradox");
    assert!(!document["notes"].to_string().contains("lost at"), "{}", document["notes"]);
    let chatter = run_text("gas-chatter", &text("max_events = 20000"), &["--json"]).well().json();
    assert!(chatter["notes"].to_string().contains("come to rest on one another"), "{}", chatter["notes"]);
}

#[test]
fn trajectories_read_back() {
    let place = Place::new("gas-trajectory");
    let text = format!(
        "{}[[fill]]\nname = 'pillow'\ncount = 10\nshape = {{ superellipsoid = {{ semi_axes = [0.5, 0.5, 0.4], exponent = 4 }} }}\nmass = 2\n",
        gas(30, EGG, 0.2, "until = 3\nsample = 1")
    );
    let scene = place.file("gas.toml", &text);
    let [xyz, gsd] = ["xyz", "gsd"].map(|format| {
        let folder = place.path(format);
        let ran = run(&scene, &["-o", folder.to_str().unwrap(), "--trajectory", format]).well();
        assert_eq!(ran.out.contains("GSD cannot describe superellipsoids"), format == "gsd");
        fs::read(folder.join(format!("trajectory.{format}"))).unwrap()
    });
    let document = run(&scene, &["--json", "--samples"]).well().json();
    let samples: Vec<&Value> = document["samples"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|sample| sample["moment"] == "sample")
        .collect();
    assert_eq!(samples.len(), 4 * 40);

    let frames = parse_xyz(std::str::from_utf8(&xyz).unwrap());
    assert_eq!(frames.len(), 4);
    let length: f64 = frames[0].0["Lattice"].split(' ').next().unwrap().parse().unwrap();
    let chunks = parse_gsd(&gsd);
    let floats = |frame: usize, name: &str, row: usize| -> Vec<f64> {
        let (_, columns, kind, bytes) = &chunks[&(frame as u64, name.to_string())];
        assert_eq!(*kind, 9, "{name}");
        let width = *columns as usize;
        bytes[4 * width * row..4 * width * (row + 1)]
            .chunks(4)
            .map(|x| f64::from(f32::from_le_bytes(x.try_into().unwrap())))
            .collect()
    };
    for (f, (keys, bodies)) in frames.iter().enumerate() {
        assert_eq!((keys["pbc"].as_str(), keys["Time"].as_str()), ("T T T", f.to_string().as_str()));
        assert_eq!(bodies.len(), 40);
        for (i, body) in bodies.iter().enumerate() {
            let sample = samples[40 * f + i];
            let numbers =
                |name: &str| -> Vec<f64> { body[name].iter().map(|x| x.parse().unwrap()).collect() };
            let [px, image] = ["pos", "image"].map(numbers);
            for k in 0..3 {
                assert!((0.0..length).contains(&px[k]));
                let place = px[k] + image[k] * length;
                assert!((place - number(&sample["position"][k])).abs() < 1e-12);
                assert_eq!(numbers("velo")[k], number(&sample["velocity"][k]));
                assert_eq!(numbers("omega")[k], number(&sample["angular_velocity"][k]));
                // The scalar goes last here, and first in GSD, whose box is centred.
                assert_eq!(numbers("orientation")[k], number(&sample["orientation"][k + 1]));
                let centred = floats(f, "particles/position", i)[k];
                assert!((centred + 0.5 * length - px[k]).abs() < 1e-5);
                assert!((floats(f, "particles/velocity", i)[k] - numbers("velo")[k]).abs() < 1e-6);
            }
            assert_eq!(numbers("orientation")[3], number(&sample["orientation"][0]));
            for k in 0..4 {
                let turn = floats(f, "particles/orientation", i)[k];
                assert!((turn - number(&sample["orientation"][k])).abs() < 1e-7);
            }
            let (kind, axes, roundness) =
                if i < 30 { ("gas", [0.8, 0.5, 0.4], 1.0) } else { ("pillow", [0.5, 0.5, 0.4], 0.5) };
            assert_eq!((body["species"][0].as_str(), numbers("aspherical_shape")), (kind, axes.to_vec()));
            assert_eq!(numbers("superquadric_roundness"), [roundness; 2]);
        }
        let (_, _, _, time) = &chunks[&(f as u64, "log/time".to_string())];
        assert_eq!(f64::from_le_bytes(time[..].try_into().unwrap()), f as f64);
    }
    assert_eq!([0, 30].map(|i| floats(0, "particles/diameter", i)[0]), [f64::from(1.6f32), 1.0]);
    let texts = |name: &str| -> Vec<String> {
        let (_, columns, _, bytes) = &chunks[&(0, name.to_string())];
        let text = |row: &[u8]| String::from_utf8(row.to_vec()).unwrap().trim_end_matches('\0').to_string();
        bytes.chunks(*columns as usize).map(text).collect()
    };
    assert_eq!(texts("particles/types"), ["gas", "pillow"]);
    let shapes: Vec<Value> =
        texts("particles/type_shapes").iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    assert_eq!(shapes[0], serde_json::json!({ "type": "Ellipsoid", "a": 0.8, "b": 0.5, "c": 0.4 }));
    assert_eq!(shapes[1], serde_json::json!({}));
    let ran: Ran = carom().arg("run").arg(&scene).args(["--trajectory", "xyz"]).output().unwrap().into();
    assert!(ran.code == Some(2) && ran.err.contains("--trajectory"), "{}", ran.err);
}

#[test]
fn a_run_of_so_many_collisions_is_measured_all_along() {
    let text = gas(60, BALL, 0.3, "until = 1e9\nmax_events = 5000\nsample = 0\nrecord_events = false");
    let document = run_text("gas-events", &text, &["--json"]).well().json();
    assert_eq!(
        (&document["stopped"], &document["performance"]["impacts"]),
        (&"max_events".into(), &5000.into())
    );
    let observables = &document["observables"];
    assert!(number(&observables["blocks"]) >= 32.0);
    assert!(number(&observables["time"]) > 0.9 * number(&document["time"]));
}
