//! The JSON Schema of a scene against the reader: what the schema rejects, the reader refuses.

use std::path::{Path, PathBuf};

use carom::scene::Format;
use carom::scene::file::read;
use carom::scene::schema::schema;
use jsonschema::Validator;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

fn validator() -> Validator {
    jsonschema::draft202012::new(&schema()).expect("a schema of draft 2020-12")
}

/// Every file under a folder that is a scene: it has bodies or fills.
fn scenes(folder: &Path) -> Vec<(PathBuf, String, Value)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(scenes(&path));
            continue;
        }
        let Some(format) = path.extension().and_then(|e| Format::from_extension(&e.to_string_lossy())) else {
            continue;
        };
        let text = std::fs::read_to_string(&path).expect("text");
        let value: Option<Value> = match format {
            Format::Toml => toml::from_str(&text).ok(),
            Format::Json => serde_json::from_str(&text).ok(),
        };
        if let Some(value) = value.filter(|value| value.get("body").is_some() || value.get("fill").is_some())
        {
            found.push((path, text, value));
        }
    }
    found
}

fn all_scenes() -> Vec<(PathBuf, String, Value)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = scenes(&root.join("tests/scenes"));
    all.extend(scenes(&root.join("../../cases")));
    all
}

#[test]
fn the_schema_is_one() {
    jsonschema::meta::validate(&schema()).expect("valid by the schema of schemas");
    let text = schema().to_string();
    for word in ["description", "default", "exclusiveMinimum", "oneOf", "enum", "additionalProperties"] {
        assert!(text.contains(word), "{word}");
    }
}

#[test]
fn scenes_that_the_reader_accepts() {
    let validator = validator();
    let all = all_scenes();
    assert!(all.len() >= 3, "{}", all.len());
    for (path, text, value) in all {
        let format = Format::from_extension(&path.extension().unwrap_or_default().to_string_lossy());
        if read(&text, format.expect("as found")).is_ok() {
            let errors: Vec<String> =
                validator.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect();
            assert!(errors.is_empty(), "{}: {errors:#?}", path.display());
        }
    }
}

fn good() -> Value {
    toml::from_str(include_str!("scenes/everything.toml")).expect("TOML")
}

#[test]
fn bad_scenes() {
    let validator = validator();
    assert!(validator.is_valid(&good()));
    for (pointer, value) in [
        ("/carom", json!(2)),
        ("/title", json!(1)),
        ("/colour", json!("red")),
        ("/world/gravity", json!([0, 0])),
        ("/world/periodic/0", json!(-1)),
        ("/body", json!({})),
        ("/body/0/name", json!("")),
        ("/body/0/mass", json!(0)),
        ("/body/0/density", json!(1)),
        ("/body/1/density", json!(-1)),
        ("/body/0/inertia/1", json!(0)),
        ("/body/0/shape", json!("sphere")),
        ("/body/0/shape", json!({})),
        ("/body/0/shape", json!({ "cube": {} })),
        ("/body/0/shape", json!({ "sphere": { "semi_axes": [1, 1, 1] } })),
        ("/body/0/shape/superellipsoid/exponent", json!(1.9)),
        ("/body/1/shape/sphere/radius", json!(0)),
        ("/body/1/shape/ellipsoid", json!({ "semi_axes": [1, 1, 1] })),
        ("/body/0/orientation", json!([1, 0, 0])),
        ("/body/0/orientation", json!({ "euler": [1, 0, 0] })),
        ("/body/0/angular_velocity", json!([1, 0, 0])),
        ("/body/2/fixed", json!(false)),
        ("/body/2/fixed", json!("yes")),
        ("/plane/0/normal", json!("up")),
        ("/joint/0/bodies", json!([])),
        ("/joint/0/kind", json!({ "hinge": { "point": [0, 0, 0] } })),
        ("/joint/0/kind", json!({ "weld": true })),
        ("/joint/6/kind/rows", json!([[1, 2, 3]])),
        ("/contact/0/bodies", json!(["rotor", "rotor"])),
        ("/contact/0/restitution", json!(1.1)),
        ("/contact/0/surface", json!("coulomb")),
        ("/contact/1/kind/coulomb", json!(-0.1)),
        ("/fill/0/count", json!(0)),
        ("/fill/0/packing_fraction", json!(1)),
        ("/fill/0/mass", json!(1)),
        ("/fill/0/start", json!("grid")),
        ("/surface/kind", json!("hard")),
        ("/surface/pair/0/bodies", json!(["ball"])),
        ("/impact/law", json!("magic")),
        ("/run/until", json!(-1)),
        ("/run/record_events", json!(1)),
        ("/run/on_paradox", json!("wait")),
    ] {
        let mut scene = good();
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
        match scene.pointer_mut(parent).expect(pointer) {
            Value::Array(list) => list[key.parse::<usize>().expect("a number")] = value,
            table => table[key] = value,
        }
        assert!(!validator.is_valid(&scene), "{pointer}");
        assert!(read(&scene.to_string(), Format::Json).is_err(), "{pointer}");
    }
}

#[test]
fn what_the_schema_rejects_the_reader_refuses() {
    let validator = validator();
    let originals = all_scenes();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let (mut rejected, mut refused) = (0, 0);
    for _ in 0..5000 {
        let (path, _, original) = &originals[rng.random_range(0..originals.len())];
        let mut scene = original.clone();
        let change = mutate(&mut scene, &mut rng);
        let by_reader = read(&scene.to_string(), Format::Json);
        refused += u32::from(by_reader.is_err());
        if !validator.is_valid(&scene) {
            rejected += 1;
            assert!(by_reader.is_err(), "{}: {change}: {scene:#}", path.display());
        }
    }
    // The rest of what the reader refuses is names and physics: the schema sees most of what is structure.
    assert!(rejected > 1000 && refused < 2 * rejected, "{rejected} rejected, {refused} refused");
}

/// Removes, renames or retypes an entry somewhere; says what was done.
fn mutate(scene: &mut Value, rng: &mut ChaCha8Rng) -> String {
    let mut pointers = Vec::new();
    collect(scene, String::new(), &mut pointers);
    let pointer = pointers.swap_remove(rng.random_range(0..pointers.len()));
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    let values =
        [json!(null), json!(true), json!("x"), json!([]), json!({}), json!(-1), json!(0.5), json!([1, 2, 3])];
    let new = values[rng.random_range(0..values.len())].clone();
    let action = rng.random_range(0..3);
    match scene.pointer_mut(parent).expect("as collected") {
        Value::Object(table) => match action {
            0 => drop(table.remove(key)),
            1 => {
                let value = table.remove(key).expect("as collected");
                table.insert(format!("{key}_"), value);
            }
            _ => drop(table.insert(key.to_string(), new.clone())),
        },
        Value::Array(list) => {
            let i: usize = key.parse().expect("a number");
            match action {
                0 => drop(list.remove(i)),
                1 => list.push(list[i].clone()),
                _ => list[i] = new.clone(),
            }
        }
        _ => {}
    }
    format!("{} {pointer} ({new})", ["removed", "renamed or doubled", "retyped"][action])
}

fn collect(value: &Value, path: String, pointers: &mut Vec<String>) {
    let mut entry = |key: &str, value: &Value| {
        let path = format!("{path}/{key}");
        pointers.push(path.clone());
        collect(value, path, pointers);
    };
    match value {
        Value::Object(table) => table.iter().for_each(|(key, value)| entry(key, value)),
        Value::Array(list) => list.iter().enumerate().for_each(|(i, value)| entry(&i.to_string(), value)),
        _ => {}
    }
}
