//! Runs backwards, and from their own middle: as a new scene, and by a snapshot.

use carom::record::Memory;
use carom_answers::Input;
use carom_answers::run::{Changes, Running, Snapshot};
use nalgebra::Quaternion;
use serde_json::Value;

use crate::answer::{Answer, Names, Question};
use crate::compare::{Finding, ROUNDINGS};
use crate::draw::Draw;
use crate::frame::Frame;
use crate::scene::{JointKind, LoadKind, Turn, Vector, World};
use crate::survey::survey;

/// The world where a run of it has ended, with its joints and loads where they are then; or with all velocities reversed.
fn at_the_end(world: &World, document: &Value, reversed: bool) -> World {
    let mut end = world.clone();
    let sign = if reversed { -1.0 } else { 1.0 };
    for body in end.bodies.iter_mut().filter(|body| !body.fixed) {
        let state = &document["final"][&body.name];
        let number = |field: &str, i: usize| state[field][i].as_f64().unwrap();
        let vector = |field: &str| Vector::from_fn(|i, _| number(field, i));
        let q = [0, 1, 2, 3].map(|i| number("orientation", i));
        body.position = vector("position");
        body.orientation = Turn::from_quaternion(Quaternion::new(q[0], q[1], q[2], q[3]));
        body.velocity = vector("velocity") * sign;
        body.spin = vector("angular_velocity") * sign;
    }
    let turned = |name: &str, v: &Vector| {
        let (before, after) = (world.body(name).unwrap(), end.body(name).unwrap());
        after.orientation * before.orientation.inverse_transform_vector(v)
    };
    let carried = |name: &str, point: &Vector| {
        end.body(name).unwrap().position + turned(name, &(point - world.body(name).unwrap().position))
    };
    let mut joints = world.joints.clone();
    for joint in &mut joints {
        // What is fixed to the ground stays; else it goes with the first body.
        let first = joint.bodies[0].clone();
        let grounded = joint.bodies.len() == 1;
        match &mut joint.kind {
            JointKind::Hinge { point, axis } if !grounded => {
                *point = carried(&first, point);
                *axis = turned(&first, axis);
            }
            JointKind::Ball { point } if !grounded => *point = carried(&first, point),
            JointKind::Slider { axis } if !grounded => *axis = turned(&first, axis),
            JointKind::KnifeEdge { point, normal } => {
                *point = carried(&first, point);
                *normal = turned(&first, normal);
            }
            _ => {}
        }
    }
    let mut loads = world.loads.clone();
    for load in &mut loads {
        match &mut load.kind {
            LoadKind::Force { body, point: Some(point), .. } => *point = carried(body, point),
            LoadKind::Spring { bodies, points, .. } => {
                for (name, point) in bodies.iter().zip(points) {
                    *point = carried(name, point);
                }
            }
            _ => {}
        }
    }
    World { joints, loads, ..end }
}

/// Whether a fact or quantity is of a body's state at the end.
fn is_state(key: &str) -> bool {
    !key.contains('|') && ["position", "orientation", "velocity", "spin"].iter().any(|end| key.ends_with(end))
}

/// Runs that reach their end, with as many events as it takes.
fn long(make: impl Fn(&mut Draw) -> World) -> impl Fn(&mut Draw) -> World {
    move |draw| World { max_events: 12, ..make(draw) }
}

fn reached_its_end(answer: &Answer) -> bool {
    answer.facts.get("stopped").is_some_and(|stopped| stopped == "\"until\"")
}

#[test]
fn runs_go_on_from_their_middle() {
    survey(Question::Run, long(Draw::run), |case, seed, findings| {
        // Whether a rough contact has lost its grip is not in the state.
        let held = case.own.answer.facts.get("holds").is_none_or(|holds| holds != "0");
        if !reached_its_end(&case.own.answer) || (held && case.world.has_rough()) {
            return;
        }
        let half = 0.5 * case.world.until;
        let first = World { until: half, ..case.world.clone() };
        let document = Question::Run.document(&first).unwrap();
        let rest = World { until: case.world.until - half, ..at_the_end(&case.world, &document, false) };
        let answer = Question::Run.ask(&rest, &Names::new());
        let frame = Frame::same();
        findings
            .extend(case.finding(seed, "from the middle", (&frame, &rest), &answer, |key| !is_state(key)));
    });
}

#[test]
fn elastic_runs_come_back() {
    survey(Question::Run, long(Draw::elastic_run), |case, seed, findings| {
        if !reached_its_end(&case.own.answer) {
            return;
        }
        let document = Question::Run.document(&case.world).unwrap();
        let back = at_the_end(&case.world, &document, true);
        let answer = Question::Run.ask(&back, &Names::new());
        // What should be found at the end is the start, with its velocities reversed. What was rounded on the way there goes back
        // with the bodies; what grows is what the way back makes of the rounding of its own start. Joints would not allow that to be
        // nudged: there the growth on the way there stands for it, as the flow keeps volumes.
        let mut differences = Vec::new();
        const NUDGE: f64 = 1e-8;
        let nudged: Vec<Answer> = (0..if back.joints.is_empty() { 3 } else { 0 })
            .map(|k| {
                let mut draw = Draw::new(seed + 6_000_000 + k);
                let mut other = back.clone();
                for body in other.bodies.iter_mut().filter(|body| !body.fixed) {
                    body.position += draw.vector(NUDGE);
                    body.velocity += draw.vector(NUDGE);
                    body.spin += draw.vector(NUDGE);
                    body.orientation = Turn::new(draw.vector(NUDGE)) * body.orientation;
                }
                Question::Run.ask(&other, &Names::new())
            })
            .collect();
        if nudged.iter().any(|other| other.facts != answer.facts) {
            return;
        }
        for body in case.world.bodies.iter().filter(|body| !body.fixed) {
            let q = body.orientation.quaternion();
            let sign = answer.quantities.get(&format!("{} orientation", body.name)).map_or(1.0, |found| {
                (found.values[0] * q.w
                    + found.values[1] * q.i
                    + found.values[2] * q.j
                    + found.values[3] * q.k)
                    .signum()
            });
            let start = [
                ("position", body.position.as_slice().to_vec()),
                ("orientation", [q.w, q.i, q.j, q.k].map(|x| x * sign).to_vec()),
                ("velocity", (-body.velocity).as_slice().to_vec()),
                ("spin", (-body.spin).as_slice().to_vec()),
            ];
            for (name, expected) in start {
                let key = format!("{} {name}", body.name);
                let Some(found) = answer.quantities.get(&key) else {
                    differences.push(format!("{key} is not there"));
                    continue;
                };
                let error =
                    found.values.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                let change = nudged.iter().map(|other| {
                    let there = &other.quantities[&key].values;
                    let apart = |sign: f64| {
                        found.values.iter().zip(there).map(|(a, b)| (a - sign * b).abs()).fold(0.0, f64::max)
                    };
                    if name == "orientation" { apart(1.0).min(apart(-1.0)) } else { apart(1.0) }
                });
                let condition = change.fold(0.0, f64::max) / NUDGE;
                let growth = if nudged.is_empty() { case.own.growth() } else { 1.0 };
                let largest = expected.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
                let local = largest * case.own.scales.length * found.sharpness;
                let size = growth * case.own.size(found.unit);
                let missed =
                    case.own.size(found.unit) * found.late * case.own.scales.speed / case.own.scales.length;
                let allowed = ROUNDINGS * f64::EPSILON * (condition + size + local) + 2.0 * missed;
                // Not a number is not within bounds.
                let within = error <= allowed;
                if !within {
                    differences.push(format!(
                        "{key}: {expected:?} became {:?}, off by {error:.2e}, {:.1} times what rounding allows",
                        found.values,
                        error / allowed
                    ));
                }
            }
        }
        for key in ["stopped", "impacts"] {
            if answer.facts.get(key) != case.own.answer.facts.get(key) {
                differences.push(format!("{key}: {:?}", answer.facts.get(key)));
            }
        }
        if !differences.is_empty() {
            let (before, after) = (case.world.text(), back.text());
            findings.push(Finding { seed, what: "reversed".to_string(), differences, before, after });
        }
    });
}

#[test]
fn runs_are_taken_up_to_the_bit() {
    for seed in crate::seeds(Question::Run).step_by(4) {
        let world = Draw::new(seed).run();
        let subject = || Input::of_text("scene", world.text(), None).scene().unwrap();
        let Ok(mut running) = Running::begin(subject(), Changes::default(), |_| true) else { continue };
        let mut memory = Memory::default();
        while running.step(&mut memory) {}
        let text = |running: &Running, memory: &Memory| {
            let document = running.document("", 0.0, running.notes());
            let mut value = serde_json::to_value(document.with(&running.scene, memory, true)).unwrap();
            value["performance"] = Value::Null;
            value.to_string()
        };
        let whole = text(&running, &memory);

        let mut memory = Memory::default();
        let mut running = Running::begin(subject(), Changes::default(), |_| true).unwrap();
        let mut ended = false;
        while !ended {
            // After every step the run is put away and taken up again.
            let more = running.step(&mut memory);
            ended = !more;
            if more {
                let snapshot = serde_json::to_string(&running.engine.snapshot()).unwrap();
                let snapshot: Snapshot = serde_json::from_str(&snapshot).unwrap();
                let again = Running::resume(subject(), running.settings, &snapshot, running.unbounded());
                running = again.unwrap().unwrap();
            }
        }
        assert_eq!(whole, text(&running, &memory), "seed {seed}: {}", world.text());
    }
}
