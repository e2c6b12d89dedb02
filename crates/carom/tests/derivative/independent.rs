//! Runs against differences, in 45 digits, of a computation in another language that shares nothing with the engine:
//! `cases/derivatives/runs.py`.

use serde_json::Value;

use crate::replay::Replay;

fn numbers(value: &Value) -> Vec<f64> {
    let number = |x: &Value| x.as_f64().unwrap_or_else(|| x.as_str().unwrap().parse().unwrap());
    value.as_array().unwrap().iter().map(number).collect()
}

fn scene(case: &Value) -> String {
    let scene = &case["scene"];
    let mut text = format!(
        "carom = 1\nworld = {{ gravity = {} }}\nsurface = {{ restitution = {} }}\nrun = {{ until = {}, sample = 0 }}\n",
        scene["gravity"], scene["restitution"], case["until"]
    );
    for (name, body) in ["a", "b"].iter().zip(scene["bodies"].as_array().unwrap()) {
        text += &format!(
            "[[body]]\nname = '{name}'\nmass = {}\nshape = {{ ellipsoid = {{ semi_axes = {} }} }}\n",
            body["mass"], body["semi_axes"]
        );
        for field in ["position", "orientation", "velocity", "angular_velocity"] {
            text += &format!("{field} = {}\n", body[field]);
        }
    }
    for plane in scene["planes"].as_array().unwrap() {
        text += &format!(
            "[[plane]]\nname = 'floor'\nnormal = {}\noffset = {}\n",
            plane["normal"], plane["offset"]
        );
    }
    text
}

#[test]
fn runs_agree_with_differences_in_45_digits() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../cases/derivatives/runs.json");
    let data: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut seen = 0;
    for case in data["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let replay = Replay::of(&scene(case));
        let times = numbers(&case["times"]);
        assert_eq!(replay.memory.events.len(), times.len(), "{name}");
        let columns = case["derivatives"].as_array().unwrap();
        let paths: Vec<&str> = columns.iter().map(|column| column["path"].as_str().unwrap()).collect();
        let found = replay.derivatives(&paths);
        assert!(found.undefined.is_empty(), "{name}: {:?}", found.undefined);
        // One impact to twelve digits, more to ten, beside the largest of each number's derivatives.
        let tolerance = if times.len() == 1 { 1e-12 } else { 1e-10 };
        let mut worst = 0.0_f64;
        for (body, state) in replay.last.iter().enumerate() {
            let matrix = found.states[body].as_ref().unwrap();
            let turns = carom::derivative::quaternion_rows(&state.orientation) * matrix.rows(3, 3);
            let q = state.orientation;
            let final_state = numbers(&case["final"][body]);
            // The engine's quaternion may have the other sign.
            let sign =
                (q.w * final_state[3] + q.i * final_state[4] + q.j * final_state[5] + q.k * final_state[6])
                    .signum();
            for i in 0..13 {
                let row = |j: usize| match i {
                    0..3 => matrix[(i, j)],
                    3..7 => sign * turns[(i - 3, j)],
                    _ => matrix[(i - 1, j)],
                };
                let expected: Vec<f64> =
                    columns.iter().map(|column| numbers(&column["final"][body])[i]).collect();
                let scale = expected.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
                for (j, expected) in expected.iter().enumerate() {
                    let error = (row(j) - expected).abs() / scale.max(1e-12);
                    worst = worst.max(error);
                    assert!(error <= tolerance, "{name} {} [{i}]: {} {expected}", paths[j], row(j));
                    seen += 1;
                }
            }
        }
        for (k, event) in found.events.iter().enumerate() {
            let time = event.time.as_ref().unwrap();
            let expected: Vec<f64> = columns.iter().map(|column| numbers(&column["times"])[k]).collect();
            let scale = expected.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            for (j, expected) in expected.iter().enumerate() {
                let error = (time[j] - expected).abs() / scale;
                worst = worst.max(error);
                assert!(error <= tolerance, "{name} {} time {k}: {} {expected}", paths[j], time[j]);
            }
        }
        let growth = found.rounding.iter().flatten().fold(0.0_f64, |most, r| most.max(r.growth));
        // What is off is what the growth of rounding says, but for a factor.
        assert!(worst <= 100.0 * growth * f64::EPSILON, "{name}: {worst:e} {growth}");
        println!("{name}: {worst:.1e}, rounding grew by {growth:.1e}");
    }
    assert!(seen >= 800, "{seen}");
}
