//! Every command's document against the JSON Schema that `carom schema --answer` prints of it, with no field more and no field less.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod running;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use jsonschema::Validator;
use running::{Place, Ran, carom};
use serde_json::Value;

fn ask(arguments: &[&str]) -> Ran {
    carom().args(arguments).output().unwrap().into()
}

/// The schema, closed: nothing that it does not name is allowed.
fn closed(answer: &str) -> (Value, Validator) {
    let mut schema = ask(&["schema", "--answer", answer]).well().json();
    jsonschema::meta::validate(&schema).unwrap();
    close(&mut schema);
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    (schema, validator)
}

fn close(schema: &mut Value) {
    match schema {
        Value::Object(table) => {
            if table.contains_key("properties") {
                table.insert("additionalProperties".to_string(), Value::Bool(false));
            }
            table.values_mut().for_each(close);
        }
        Value::Array(list) => list.iter_mut().for_each(close),
        _ => {}
    }
}

#[track_caller]
fn fits(validator: &Validator, document: &Value, what: &str) {
    let errors: Vec<String> = validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .take(3)
        .collect();
    assert!(errors.is_empty(), "{what}: {errors:#?}");
}

fn cases(folder: &str, kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases").join(folder);
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|found| found == kind));
    files.sort();
    files
}

/// The documents of a command on files; what is wrong with some of them fits the schema of errors.
fn check(answer: &str, files: &[PathBuf], options: &[&str]) {
    let ((_, own), (_, error)) = (closed(answer), closed("error"));
    let mut answered = 0;
    for path in files {
        let ran: Ran = carom().arg(answer).arg(path).args(options).arg("--json").output().unwrap().into();
        let wrong = ran.code == Some(2);
        answered += usize::from(!wrong);
        fits(if wrong { &error } else { &own }, &ran.json(), &format!("{answer} {}", path.display()));
    }
    assert!(answered > 5 || answered == files.len(), "{answer}: {answered}");
}

#[test]
fn answers_about_an_instant() {
    let papers = cases("papers", "toml");
    check("solve", &papers, &["--screws"]);
    check("solve", &papers, &[]);
    check("compare", &papers, &[]);
    check("classify", &papers, &["--span", "0.01"]);
    check("classify", &papers, &[]);
    check("gap", &papers, &[]);
    check("toi", &papers, &[]);
    check("generalized", &cases("laws", "toml"), &[]);
}

#[test]
fn answers_about_a_run() {
    let files = [cases("gallery", "toml"), cases("simulation", "json")].concat();
    check("run", &files, &["--max-events", "40", "--samples"]);
    check("run", &cases("papers", "toml"), &["--until", "0.1", "--law", "poisson"]);
    // With derivatives, defined and not.
    let thrown = cases("gallery", "toml")
        .into_iter()
        .filter(|path| ["dropping_ellipsoid.toml", "graze.toml"].iter().any(|name| path.ends_with(name)));
    check("run", &thrown.collect::<Vec<_>>(), &["--max-events", "5", "--derivatives", "world.gravity"]);
    check("check", &[cases("gallery", "toml"), cases("laws", "toml")].concat(), &[]);
    check("gap", &cases("gallery", "toml"), &[]);
    check("toi", &cases("gallery", "toml"), &["--until", "0.5"]);
    let gas = cases("gallery", "toml").into_iter().find(|path| path.ends_with("sphere_gas.toml")).unwrap();
    let gas = gas.to_str().unwrap();
    let (_, replicas) = closed("replicas");
    fits(&replicas, &ask(&["run", gas, "--replicas", "2", "--until", "0.1", "--json"]).json(), "replicas");
    let place = Place::new("schemas");
    let (_, run) = closed("run");
    let folder = place.path("gas");
    let with_files =
        ask(&["run", gas, "--until", "0.1", "--json", "-o", folder.to_str().unwrap()]).well().json();
    // Events and samples are in tables there.
    assert!(with_files.get("events").is_none() && with_files["rows"]["events"].is_u64());
    let mut whole = with_files;
    whole["events"] = Value::Array(Vec::new());
    fits(&run, &whole, "run -o");
    let (_, weak) = closed("weak-form");
    let rolling =
        cases("gallery", "toml").into_iter().find(|path| path.ends_with("nonholonomic_pendulum.toml"));
    let rolling = rolling.unwrap();
    fits(
        &weak,
        &ask(&["weak-form", rolling.to_str().unwrap(), "--until", "1", "--json"]).json(),
        "weak-form",
    );
}

#[test]
fn other_answers() {
    let (_, paper) = closed("paper");
    fits(&paper, &ask(&["paper", "--json"]).well().json(), "papers");
    for name in ["treschev-zubelevich", "stanescu-pandrea", "dragna-pandrea-stanescu", "palffy-muhoray"] {
        fits(&paper, &ask(&["paper", name, "--json"]).well().json(), name);
    }
    let (_, paradox) = closed("paradox");
    for shapes in [["superellipsoid(1,2,3;4)", "ellipsoid(2,1,1)"], ["sphere(1)", "sphere(2)"]] {
        let ran = ask(&["paradox", "--json", "--shapes", shapes[0], shapes[1]]);
        fits(&paradox, &ran.json(), shapes[0]);
    }
    let (_, new) = closed("new");
    fits(&new, &ask(&["new", "--json"]).well().json(), "new");
    let (_, error) = closed("error");
    fits(&error, &ask(&["run", "no such file", "--json"]).json(), "no file");
    fits(&error, &ask(&["run", "--untill", "1", "--json"]).json(), "no option");
}

#[test]
fn answers_about_ensembles() {
    let (_, scatter) = closed("scatter");
    let (_, encounter) = closed("encounter");
    let place = Place::new("schemas-of-ensembles");
    let rough = place.file("rough.toml", ROUGH);
    let rods = "cases/ensembles/rods.toml";
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let rods = root.join(rods);
    for scene in [rods.to_str().unwrap(), rough.to_str().unwrap()] {
        fits(&scatter, &ask(&["scatter", scene, "--samples", "200", "--json"]).well().json(), scene);
        for sample in ["0", "7"] {
            fits(&encounter, &ask(&["scatter", scene, "--sample", sample, "--json"]).json(), scene);
        }
    }
    let (_, sweep) = closed("sweep");
    let (_, merge) = closed("merge");
    let throws = root.join("cases/ensembles/pegs.toml");
    let out = place.path("throws");
    let ask_sweep = |more: &[&str]| {
        let scene = throws.to_str().unwrap();
        ask(&[&["sweep", scene, "--samples", "6", "-o", out.to_str().unwrap(), "--json"], more].concat())
            .well()
            .json()
    };
    let half = ask_sweep(&["--shard", "1/2"]);
    fits(&sweep, &half, "sweep --shard");
    fits(&sweep, &ask_sweep(&["--shard", "2/2"]), "sweep --shard");
    fits(&merge, &ask(&["sweep", "-o", out.to_str().unwrap(), "--merge", "--json"]).json(), "merge");
}

/// A pair that no case has: a thermal beam of rough bodies.
const ROUGH: &str = "carom = 1
scatter = { samples = 100, temperature = 1 }
surface = { restitution = 0.5, kind = 'rough' }
[[body]]
name = 'one'
shape = { sphere = { radius = 1 } }
mass = 1
[[body]]
name = 'two'
shape = { ellipsoid = { semi_axes = [1, 1, 2] } }
mass = 2
";

/// Every field has a meaning, every part is used, and a field too many or too few is noticed.
#[test]
fn the_schemas_say_all() {
    let names = ask(&["schema", "--help"]).out;
    let mut used = BTreeSet::new();
    let mut parts = BTreeSet::new();
    for answer in carom_answers::schema::ANSWERS {
        assert!(names.contains(answer), "{names}");
        let (schema, _) = closed(answer);
        let mut stack = vec![&schema];
        while let Some(value) = stack.pop() {
            match value {
                Value::Object(table) => {
                    if let Some(Value::String(part)) = table.get("$ref") {
                        used.insert(part.trim_start_matches("#/$defs/").to_string());
                    }
                    if let Some(Value::Object(properties)) = table.get("properties") {
                        for (name, property) in properties {
                            assert!(
                                property["description"].as_str().is_some_and(|text| !text.is_empty()),
                                "{answer}: {name}"
                            );
                        }
                    }
                    stack.extend(table.values());
                }
                Value::Array(list) => stack.extend(list),
                _ => {}
            }
        }
        parts.extend(schema["$defs"].as_object().unwrap().keys().cloned());
    }
    // What is only taken over field by field is not referred to.
    for part in ["estimates", "outcome"] {
        parts.remove(part);
        used.remove(part);
    }
    assert_eq!(parts, used);
    let (_, gap) = closed("gap");
    let mut document: Value = serde_json::json!({ "title": null, "time": 0.0, "pairs": [] });
    assert!(gap.is_valid(&document));
    document["more"] = Value::Null;
    assert!(!gap.is_valid(&document));
    assert!(!gap.is_valid(&serde_json::json!({ "title": null, "pairs": [] })));
    assert_eq!(ask(&["schema", "--answer", "walk"]).code, Some(2));
}
