//! Structure-aware fuzzing of scenes: files of every field, half of them damaged, are read and solved. Nothing may
//! panic, take long or give a number that is not finite; a whole file must be readable, and a damaged one refused with
//! places and words.
//!
//! `CAROM_FUZZ` sets how many scenes (default one million); `CAROM_FUZZ_SEED` repeats a single one.

mod fuzzing;

use std::fmt::Write;

use carom::impact::demand::demand;
use carom::impact::{Law, Options};
use carom::scene::Format;
use carom::scene::file::{explain, read};
use carom::scene::instant::{Instant, TOUCHING};
use carom::scene::model::Scene;
use fuzzing::{Document, Ending, entry};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value, json};

#[test]
fn scenes_are_read_and_solved_without_panic() {
    fuzzing::fuzz(document, tried);
}

/// Reads, and does what can be done with a scene; an error is a broken promise.
fn tried(document: &Document) -> Result<Ending, String> {
    match read(&document.text, document.format) {
        Ok(scene) => solved(&scene, document),
        Err(diagnostics) => fuzzing::refused(document, &diagnostics),
    }
}

/// What follows the reading.
fn solved(scene: &Scene, document: &Document) -> Result<Ending, String> {
    let finite = |vector: &nalgebra::Vector3<f64>| vector.iter().all(|x| x.is_finite());
    for body in &scene.bodies {
        let turn = body.state.orientation.quaternion().norm();
        if (turn - 1.0).abs() > 1e-12 || !finite(&body.state.position) || !finite(&body.state.velocity) {
            return Err(format!("not a state: {body:?}"));
        }
        let constants = body.body;
        if !constants.fixed && (constants.mass <= 0.0 || !finite(&constants.inertia)) {
            return Err(format!("not a body: {body:?}"));
        }
    }
    for contact in &scene.contacts {
        if (contact.normal.norm() - 1.0).abs() > 1e-12 {
            return Err(format!("not a normal: {contact:?}"));
        }
    }
    // A sample of them, as it reads the text again.
    if document.seed.is_multiple_of(16)
        && explain(&document.text, document.format, "body[0].velocity", "moves", "").message != "moves"
    {
        return Err("no words".to_string());
    }
    // Bodies thrown together at random overlap deeply, where the gap takes its time: a sample of them.
    if !document.seed.is_multiple_of(4) {
        return Ok(Ending::Read);
    }
    let Ok(instant) = Instant::of(scene, TOUCHING) else { return Ok(Ending::Unsolvable) };
    let options = Options {
        law: scene.impact.law,
        termination: scene.impact.termination,
        project: !document.seed.is_multiple_of(16),
        ..Options::default()
    };
    let mechanism = instant.mechanism();
    let Ok(result) = mechanism.solve(&options) else { return Ok(Ending::Unsolvable) };
    let moves = result.states.iter().all(|state| finite(&state.velocity) && finite(&state.angular_velocity));
    let pushes = result.contacts.iter().all(|c| finite(&c.impulse_vector) && c.work.is_finite());
    let holds = result.joints.iter().all(|j| finite(&j.linear) && finite(&j.angular));
    if !(moves && pushes && holds && result.linear_residual.is_finite()) {
        return Err(format!("not finite: {result:#?}"));
    }
    let needed = demand(&mechanism, &mechanism.assemble(), &result.outcome).reported;
    if needed.iter().any(|(_, coefficient)| coefficient.is_nan()) {
        return Err(format!("no coefficient: {needed:?}"));
    }
    Ok(Ending::Solved)
}

fn document(seed: u64) -> Document {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let scene = scene(&mut rng);
    let (format, text) =
        if rng.random() { (Format::Json, scene.to_string()) } else { (Format::Toml, toml(&scene)) };
    Document::new(seed, text, format, &mut rng)
}

/// As a person would write it: tables at the top, the rest inline.
fn toml(scene: &Value) -> String {
    let (mut text, mut tables) = (String::new(), String::new());
    for (key, value) in scene.as_object().expect("a scene is a table") {
        match value {
            Value::Object(fields) => section(&mut tables, &format!("[{key}]"), fields),
            Value::Array(list) => {
                for fields in list.iter().filter_map(Value::as_object) {
                    section(&mut tables, &format!("[[{key}]]"), fields);
                }
            }
            value => writeln!(text, "{key} = {value}").expect("a string takes all"),
        }
    }
    text + &tables
}

fn section(text: &mut String, header: &str, fields: &Map<String, Value>) {
    writeln!(text, "{header}").expect("a string takes all");
    for (key, value) in fields {
        writeln!(text, "{key} = {}", inline(value)).expect("a string takes all");
    }
}

fn inline(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields: Vec<String> = fields.iter().map(|(k, v)| format!("{k} = {}", inline(v))).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        Value::Array(list) => format!("[{}]", list.iter().map(inline).collect::<Vec<_>>().join(", ")),
        value => value.to_string(),
    }
}

/// A scene that makes sense.
fn scene(rng: &mut ChaCha8Rng) -> Value {
    let mut scene = json!({ "carom": 1 });
    let some = |rng: &mut ChaCha8Rng| rng.random_bool(0.3);
    if some(rng) {
        scene["title"] = json!("é \" x");
    }
    let box_given = some(rng);
    if box_given || some(rng) {
        scene["world"] = json!({ "gravity": vector(rng) });
        if box_given {
            scene["world"]["periodic"] = json!([1e3, 1e3, 1e3]);
        }
    }
    let bodies = rng.random_range(1..=4_usize);
    scene["body"] = (0..bodies).map(|i| body(rng, i)).collect();
    let planes = rng.random_range(0..=2_usize);
    if planes > 0 {
        let plane =
            |i: usize| json!({ "name": format!("p{i}"), "normal": direction(rng), "offset": number(rng) });
        scene["plane"] = (0..planes).map(plane).collect();
    }
    let joints = if rng.random() { 0 } else { rng.random_range(1..=3_usize) };
    if joints > 0 {
        scene["joint"] = (0..joints).map(|i| joint(rng, i, bodies, planes)).collect();
    }
    if bodies > 1 || planes > 0 {
        let contacts = rng.random_range(0..=4);
        scene["contact"] = (0..contacts).map(|_| contact(rng, bodies, planes)).collect();
    }
    if some(rng) {
        scene["fill"] = json!([{
            "name": "gas", "count": rng.random_range(1..=100), "temperature": rng.random_range(0.0..2.0),
            "shape": { "ellipsoid": { "semi_axes": [1, 0.5, 0.5] } }, "density": 2,
            "start": pick(rng, ["lattice", "random"]), "seed": rng.random_range(0..10),
        }]);
        if !box_given {
            scene["fill"][0]["packing_fraction"] = json!(rng.random_range(0.01..0.6));
        }
    }
    if some(rng) {
        scene["surface"] = json!({ "restitution": rng.random_range(0.0..=1.0), "kind": surface(rng) });
        if planes > 0 {
            scene["surface"]["pair"] = json!([{ "bodies": ["p0", "b0"], "restitution": 0.25 }]);
        }
    }
    if some(rng) {
        let termination = pick(rng, ["stronge", "poisson", "newton"]);
        let law = Law::ALL[rng.random_range(0..Law::ALL.len())].name();
        scene["impact"] = json!({ "law": law, "termination": termination });
    }
    if some(rng) {
        scene["run"] = json!({
            "until": rng.random_range(0.0..20.0), "max_events": rng.random_range(1..1000), "sample": 0,
            "record_events": rng.random::<bool>(), "on_paradox": pick(rng, ["hold", "pass", "stop"]),
        });
    }
    scene
}

fn body(rng: &mut ChaCha8Rng, i: usize) -> Value {
    let length = |rng: &mut ChaCha8Rng| rng.random_range(0.1..5.0);
    let semi_axes = json!([length(rng), length(rng), length(rng)]);
    let kind = rng.random_range(0..4);
    let shape = match kind {
        0 => json!({ "sphere": { "radius": length(rng) } }),
        1 => json!({ "ellipsoid": { "semi_axes": semi_axes } }),
        2 => {
            let exponent = pick(rng, [2.0, 4.0, 3.7, 1000.0]);
            json!({ "superellipsoid": { "semi_axes": semi_axes, "exponent": exponent } })
        }
        _ => json!({ "point": {} }),
    };
    let mut body = json!({ "name": format!("b{i}"), "shape": shape, "position": vector(rng) });
    let quantity = if kind < 3 && rng.random_bool(0.3) { "density" } else { "mass" };
    body[quantity] = json!(pick(rng, [1.0, 1e-8, 1e8, 0.7]));
    if kind == 3 || rng.random_bool(0.2) {
        body["inertia"] = json!(pick(rng, [[1.0, 1.0, 2.0], [3.0, 4.0, 5.0], [1e-9, 1e-9, 1e-9]]));
    }
    match rng.random_range(0..5) {
        0 => body["orientation"] = json!([0.6, 0, 0.8, 0]),
        1 => body["orientation"] = json!([entry_number(rng), number(rng), 1, 0]),
        2 => body["orientation"] = json!({ "bryan": vector(rng) }),
        3 => body["orientation"] = json!({ "axes": [[0, 1, 0], [0, 0, 1], [1, 0, 0]] }),
        _ => {}
    }
    if rng.random_bool(0.15) {
        body["fixed"] = json!(true);
    } else {
        body["velocity"] = vector(rng);
        let frame = if rng.random() { "angular_velocity" } else { "angular_velocity_body" };
        if rng.random() {
            body[frame] = vector(rng);
        }
    }
    body
}

fn joint(rng: &mut ChaCha8Rng, i: usize, bodies: usize, planes: usize) -> Value {
    let first = rng.random_range(0..bodies);
    let mut names = vec![format!("b{first}")];
    if bodies > 1 && rng.random() {
        names.push(format!("b{}", (first + 1) % bodies));
    }
    let kind = match rng.random_range(0..7) {
        0 => json!({ "hinge": { "point": vector(rng), "axis": direction(rng) } }),
        1 => json!({ "slider": { "axis": direction(rng) } }),
        2 => json!({ "weld": {} }),
        3 => json!({ "knife_edge": { "point": vector(rng), "normal": direction(rng) } }),
        4 => {
            let row = |rng: &mut ChaCha8Rng| (0..6 * names.len()).map(|_| number(rng)).collect::<Value>();
            json!({ "rows": [row(rng), row(rng)] })
        }
        5 if planes > 0 => {
            names.truncate(1);
            json!({ "rolling": { "plane": format!("p{}", rng.random_range(0..planes)) } })
        }
        _ => json!({ "ball": { "point": vector(rng) } }),
    };
    json!({ "name": format!("j{i}"), "bodies": names, "kind": kind })
}

fn contact(rng: &mut ChaCha8Rng, bodies: usize, planes: usize) -> Value {
    let first = rng.random_range(0..bodies);
    let with_plane = bodies == 1 || planes > 0 && rng.random();
    let second = if with_plane {
        format!("p{}", rng.random_range(0..planes))
    } else {
        format!("b{}", (first + 1) % bodies)
    };
    let mut names = vec![format!("b{first}"), second];
    if rng.random() {
        names.reverse();
    }
    let mut contact = json!({ "bodies": names, "point": vector(rng) });
    if !with_plane {
        contact["normal"] = direction(rng);
    }
    if rng.random() {
        contact["restitution"] = json!(pick(rng, [0.0, 1.0, 0.5, 1e-300]));
    }
    if rng.random() {
        contact["kind"] = surface(rng);
    }
    contact
}

fn surface(rng: &mut ChaCha8Rng) -> Value {
    match rng.random_range(0..3) {
        0 => json!("smooth"),
        1 => json!("rough"),
        _ => json!({ "coulomb": pick(rng, [0.0, 0.3, 2.0, 1e300]) }),
    }
}

fn vector(rng: &mut ChaCha8Rng) -> Value {
    json!([number(rng), number(rng), number(rng)])
}

fn pick<T: Copy, const N: usize>(rng: &mut ChaCha8Rng, choices: [T; N]) -> T {
    choices[rng.random_range(0..N)]
}

/// Any length but zero.
fn direction(rng: &mut ChaCha8Rng) -> Value {
    let mut direction = json!([number(rng), number(rng), number(rng)]);
    direction[rng.random_range(0..3_usize)] = json!(pick(rng, [1.0, -1.0, 5e-324, 1e300]));
    direction
}

/// Mostly small, now and then one that hurts.
fn number(rng: &mut ChaCha8Rng) -> Value {
    if rng.random_bool(0.1) { entry_number(rng) } else { json!(rng.random_range(-3..=3_i32)) }
}

fn entry_number(rng: &mut ChaCha8Rng) -> Value {
    json!(entry(rng).parse::<f64>().expect("entries are numbers"))
}
