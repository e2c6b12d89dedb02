//! The program prints the documents of `carom-answers`, and nothing else: each question asked both ways, byte by byte.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod running;

use std::fs;
use std::path::{Path, PathBuf};

use carom::record::Memory;
use carom::scene::instant::TOUCHING;
use carom_answers::compare::Comparison;
use carom_answers::run::replicas::{Pool, Replica};
use carom_answers::run::{Changes, Running};
use carom_answers::solve::Prepared;
use carom_answers::{Input, InputError, Resolution, classify, gap, generalized, paper, paradox, toi};
use running::carom;
use serde::Serialize;

fn cases(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases").join(folder);
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|kind| kind == "toml"));
    files.sort();
    assert!(files.len() > 5);
    files
}

/// What the program prints.
fn printed(question: &str, path: &Path, options: &[&str]) -> String {
    let output = carom().arg(question).arg(path).args(options).arg("--json").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// What it should print.
fn document(answer: Result<impl Serialize, InputError>) -> String {
    let text = match answer {
        Ok(answer) => serde_json::to_string(&answer),
        // Options are spelled otherwise on the command line; these errors are of texts.
        Err(error) => serde_json::to_string(&error.document(|option| option.to_string())),
    };
    text.unwrap() + "\n"
}

#[test]
fn every_scene_gets_the_same_answers() {
    let as_is = Resolution::default();
    for path in cases("papers") {
        let subject = Input::read(&path).unwrap().scene().unwrap();
        assert_eq!(printed("gap", &path, &[]), document(gap::answer(&subject, 0.0)), "{path:?}");
        assert_eq!(printed("toi", &path, &[]), document(toi::answer(&subject, None)), "{path:?}");
        let request = classify::Request { span: Some(0.01), ..classify::Request::default() };
        let found = classify::answer(&subject, &request);
        let found = found.as_ref().map(|found| found.document()).map_err(InputError::clone);
        assert_eq!(printed("classify", &path, &["--span", "0.01"]), document(found), "{path:?}");
        let prepared = Prepared::of(subject, TOUCHING).unwrap();
        let solved = prepared.solved(&as_is);
        let solved = solved.as_ref().map(|solved| solved.document(true)).map_err(InputError::clone);
        assert_eq!(printed("solve", &path, &["--screws"]), document(solved), "{path:?}");
        let comparison = Comparison::of(&prepared, &as_is, |_| ());
        let comparison =
            comparison.as_ref().map(|comparison| comparison.document()).map_err(InputError::clone);
        assert_eq!(printed("compare", &path, &[]), document(comparison), "{path:?}");
    }
    for path in cases("laws") {
        let answer = generalized::answer(&Input::read(&path).unwrap(), &as_is, true);
        assert_eq!(printed("generalized", &path, &[]), document(answer), "{path:?}");
    }
    for paper in &paper::PAPERS {
        let answer = paper::answer(paper.name);
        assert_eq!(printed("paper", Path::new(paper.name), &[]), document(answer), "{}", paper.name);
    }
    let shapes = ["ellipsoid(2,1,1)", "superellipsoid(1,2,3;4)"];
    let request = paradox::Request {
        shapes: shapes.map(|shape| paradox::parse_shape(shape).unwrap()),
        kind: paradox::parse_kind("2b").unwrap(),
        planar: false,
        seed: 5,
        before: 0.1,
    };
    let options = ["superellipsoid(1,2,3;4)", "--type", "2b", "--seed", "5", "--before", "0.1"];
    let output = carom().args(["paradox", "--json", "--shapes", shapes[0]]).args(options).output().unwrap();
    let answer = paradox::answer(&request).map(|answer| answer.document());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), document(answer));
}

/// A document without how long the run took.
fn lasting(text: &str) -> &str {
    text.split("\"wall_s\":").next().unwrap()
}

#[test]
fn every_run_is_the_same() {
    for path in cases("gallery") {
        let version = carom().arg("--version").output().unwrap();
        let version = String::from_utf8(version.stdout).unwrap();
        let version = version.trim().trim_start_matches("carom ");
        let subject = Input::read(&path).unwrap().scene().unwrap();
        let changes = Changes { max_events: Some(30), ..Changes::default() };
        let mut running = Running::begin(subject, changes, |_| true).unwrap();
        let mut memory = Memory::default();
        while running.step(&mut memory) {}
        let document = running.document(version, 0.0, running.notes());
        let ours = serde_json::to_string(&document.with(&running.scene, &memory, true)).unwrap();
        let theirs = printed("run", &path, &["--max-events", "30", "--samples"]);
        assert!(theirs.contains("\"wall_s\":"), "{path:?}");
        assert!(lasting(&ours) == lasting(&theirs), "{path:?}");
    }
}

#[test]
fn copies_are_pooled_the_same() {
    let path = cases("gallery").into_iter().find(|path| path.ends_with("sphere_gas.toml")).unwrap();
    let subject = Input::read(&path).unwrap().scene().unwrap();
    let copy = |replica| {
        let changes = Changes { until: Some(0.5), replica, ..Changes::default() };
        let mut running = Running::begin(subject.clone(), changes, |_| true).unwrap();
        while running.step(&mut ()) {}
        Replica::of(&running, 0.0, running.notes())
    };
    let copies = [copy(0), copy(1), copy(2)];
    let ours = serde_json::to_value(Pool::of(&copies).unwrap().document("")).unwrap();
    let theirs = printed("run", &path, &["--until", "0.5", "--replicas", "3"]);
    let mut theirs: serde_json::Value = serde_json::from_str(&theirs).unwrap();
    theirs["version"] = "".into();
    for replica in theirs["replicas"].as_array_mut().unwrap() {
        replica["wall_s"] = 0.0.into();
    }
    assert_eq!(ours, theirs);
    assert_eq!(ours["replicas"].as_array().unwrap().len(), 3);
}
