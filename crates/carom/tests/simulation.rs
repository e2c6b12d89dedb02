//! Runs against closed forms, reference states and invariants.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod running;

use carom::body::{Body, State};
use carom::gap::gap;
use carom::record::{Kind, Memory};
use carom::scene::model::{OnParadox, RunSettings};
use carom::scene::{Format, file};
use carom::shape::Shape;
use carom::simulation::Simulation;

use carom::run::{Stopped, World};
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use running::{run, scene, start};
use serde_json::Value;

fn reference() -> Value {
    serde_json::from_str(include_str!("../../../cases/simulation/contacts.json")).unwrap()
}

fn vector(value: &Value) -> Vector3<f64> {
    Vector3::from_fn(|i, _| value[i].as_f64().unwrap())
}

fn state(value: &Value) -> State {
    let q = &value["orientation"];
    let q = [0, 1, 2, 3].map(|i| q[i].as_f64().unwrap());
    State {
        position: vector(&value["position"]),
        orientation: UnitQuaternion::new_normalize(Quaternion::new(q[0], q[1], q[2], q[3])),
        velocity: vector(&value["velocity"]),
        angular_velocity: vector(&value["angular_velocity"]),
    }
}

fn body(value: &Value) -> Body {
    let axes = &value["semi_axes"];
    let semi_axes = [0, 1, 2].map(|i| axes[i].as_f64().unwrap());
    let shape = Shape::Superellipsoid { semi_axes, exponent: value["exponent"].as_f64().unwrap() };
    let mass = value["mass"].as_f64().unwrap();
    Body { shape, mass, inertia: shape.unit_inertia() * mass, fixed: false }
}

/// The distance of two states: lengths and speeds, orientations by their quaternions up to sign.
fn difference(a: &State, b: &State) -> f64 {
    let (p, q) = (a.orientation.coords, b.orientation.coords);
    let turn = (p - q).norm().min((p + q).norm());
    (a.position - b.position)
        .norm()
        .max(turn)
        .max((a.velocity - b.velocity).norm())
        .max((a.angular_velocity - b.angular_velocity).norm())
}

fn free(bodies: &[Body]) -> World {
    let mut scene =
        scene("carom = 1\n[[body]]\nname = \"any\"\nshape = { point = {} }\nmass = 1\ninertia = [1, 1, 1]\n");
    scene.bodies = bodies
        .iter()
        .enumerate()
        .map(|(i, body)| carom::scene::model::SceneBody {
            name: format!("body{i}"),
            body: *body,
            state: State::at(Vector3::zeros()),
            body_spin: None,
        })
        .collect();
    World::of(&scene).0
}

fn until(until: f64) -> RunSettings {
    RunSettings { until, sample: 0.0, ..RunSettings::default() }
}

#[test]
fn the_reference_collision_comes_out_of_a_run() {
    let case = &reference()["normal"];
    let bodies = [0, 1].map(|k| body(&case["bodies"][k]));
    let states = [0, 1].map(|k| state(&case["bodies"][k]));
    let time = case["time"].as_f64().unwrap();
    let later = case["later"]["time"].as_f64().unwrap();
    let mut simulation = Simulation::new(free(&bodies), &states, until(time + later)).unwrap();
    let mut memory = Memory::default();
    assert_eq!(simulation.run(&mut memory, |_| true), Stopped::Until);
    let [event] = &memory.events[..] else { panic!("{:?}", memory.events) };
    assert_eq!(event.kind, Kind::Impact);
    println!("time off by {:e}, bound {:e}", event.time - time, event.time_error);
    assert!((event.time - time).abs() <= 1e-14);
    assert!((event.impulse - case["impulse"].as_f64().unwrap()).abs() < 1e-13);
    assert!((event.approach - case["approach"].as_f64().unwrap()).abs() < 1e-13);
    assert!((event.point - vector(&case["point"])).norm() < 1e-13);
    for (k, found) in simulation.states().iter().enumerate() {
        let error = difference(found, &state(&case["later"]["bodies"][k]));
        println!("body {k} off by {error:e} at the end");
        assert!(error < 1e-13);
    }
    let audit = simulation.audit();
    assert!(audit.energy_error_max.value < 1e-14 && audit.linear_error_max.value < 1e-14, "{audit:?}");
    assert!(audit.angular_error_max.unwrap().value < 1e-14 && audit.gap_min > -1e-14, "{audit:?}");
}

/// [TZ] Theorem 5.2: the ball between floor and table, without gravity; v_x goes 1, 3/7, −31/49, −333/343.
#[test]
fn a_superball_under_a_table_turns_back() {
    let scene = scene(
        r#"
carom = 1
[[body]]
name = "ball"
shape = { sphere = { radius = 0.05 } }
mass = 0.2
position = [0, 0, 0.4]
velocity = [2, 0, -6]
[[plane]]
name = "floor"
normal = [0, 0, 1]
[[plane]]
name = "table"
normal = [0, 0, -1]
offset = -0.8
[surface]
kind = "rough"
restitution = 1
[run]
until = 0.35
sample = 0
"#,
    );
    let (simulation, memory) = run(&scene);
    let mut time = 0.35 / 6.0;
    let speeds = [3.0 / 7.0, -31.0 / 49.0, -333.0 / 343.0];
    assert_eq!(memory.events.len(), 3);
    for (event, expected) in memory.events.iter().zip(speeds) {
        assert!((event.time - time).abs() < 1e-13 * time, "{} {time}", event.time);
        time += 0.7 / 6.0;
        let after = memory.samples.iter().rfind(|s| s.time == event.time).unwrap();
        assert!((after.state.velocity.x / 2.0 - expected).abs() < 1e-14);
    }
    assert!(simulation.audit().energy_error_max.value < 1e-14);
}

/// [TZ] 5.2.1: with ω = r m v/J the ball returns along its own parabola.
#[test]
fn the_nonholonomic_pendulum_swings_for_a_hundred_bounces() {
    let scene = scene(
        r#"
carom = 1
[world]
gravity = [0, 0, -9.81]
[[body]]
name = "ball"
shape = { sphere = { radius = 0.05 } }
mass = 0.2
inertia = [0.0002, 0.0002, 0.0002]
position = [0, 0, 0.05]
velocity = [0.6, 0, 2]
angular_velocity = [0, -30, 0]
[[plane]]
name = "floor"
normal = [0, 0, 1]
[surface]
kind = "rough"
restitution = 1
[run]
until = 40.9
sample = 0
"#,
    );
    let (_, memory) = run(&scene);
    let flight = 2.0 * 2.0 / 9.81;
    assert_eq!(memory.events.len(), 100);
    for (k, event) in memory.events.iter().enumerate() {
        let time = flight * (k + 1) as f64;
        assert!((event.time - time).abs() < 1e-13 * time, "{k}: {} {time}", event.time);
        let place = if k % 2 == 0 { 0.6 * flight } else { 0.0 };
        assert!((event.point.x - place).abs() < 1e-11, "{k}: {} {place}", event.point.x);
    }
}

#[test]
fn a_cradle_with_gaps_hands_on_the_blow() {
    let mut text = String::from("carom = 1\n[run]\nuntil = 10\nsample = 0\n");
    for k in 0..5 {
        let (x, v) = if k == 0 { (-1.0, 1.0) } else { (f64::from(k) * 0.21, 0.0) };
        text += &format!(
            "[[body]]\nname = \"b{k}\"\nshape = {{ sphere = {{ radius = 0.1 }} }}\nmass = 1\nposition = [{x}, 0, 0]\nvelocity = [{v}, 0, 0]\n"
        );
    }
    let (simulation, memory) = run(&scene(&text));
    assert_eq!(memory.events.len(), 4);
    for (k, state) in simulation.states().iter().enumerate() {
        assert!((state.velocity.x - if k == 4 { 1.0 } else { 0.0 }).abs() < 1e-14);
    }
}

fn box_of(count: usize, shape: &str, speed: f64, spin: f64, seed: u64) -> String {
    use rand::{RngExt, SeedableRng};
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let side = (1..).find(|side: &usize| side.pow(3) >= count).unwrap();
    let pitch = 3.0;
    let length = side as f64 * pitch;
    let mut text = String::from("carom = 1\n");
    let mut placed = 0;
    'all: for i in 0..side {
        for j in 0..side {
            for k in 0..side {
                if placed == count {
                    break 'all;
                }
                let mut draw = |size: f64| {
                    let v = [0; 3].map(|_| size * random.random_range(-1.0..1.0));
                    format!("[{}, {}, {}]", v[0], v[1], v[2])
                };
                text += &format!(
                    "[[body]]\nname = \"b{placed}\"\nshape = {shape}\nmass = 1\nposition = [{}, {}, {}]\nvelocity = {}\nangular_velocity = {}\n",
                    (i as f64 + 0.5) * pitch,
                    (j as f64 + 0.5) * pitch,
                    (k as f64 + 0.5) * pitch,
                    draw(speed),
                    draw(spin)
                );
                placed += 1;
            }
        }
    }
    for (name, normal, offset) in [
        ("left", "[1, 0, 0]", 0.0),
        ("right", "[-1, 0, 0]", -length),
        ("front", "[0, 1, 0]", 0.0),
        ("back", "[0, -1, 0]", -length),
        ("floor", "[0, 0, 1]", 0.0),
        ("lid", "[0, 0, -1]", -length),
    ] {
        text += &format!("[[plane]]\nname = \"{name}\"\nnormal = {normal}\noffset = {offset:?}\n");
    }
    text
}

const SUPER: &str = "{ superellipsoid = { semi_axes = [1, 0.7, 0.5], exponent = 4 } }";

#[test]
fn superellipsoids_in_a_box_keep_their_energy() {
    let events: usize = std::env::var("CAROM_IMPACTS").map_or(10_000, |text| text.parse().unwrap());
    let mut scene = scene(&box_of(10, SUPER, 1.0, 2.0, 1));
    scene.run = RunSettings { max_events: events, until: 1e9, sample: 0.0, ..RunSettings::default() };
    let mut simulation = start(&scene);
    let began = std::time::Instant::now();
    let stopped = simulation.run(&mut (), |_| true);
    let audit = simulation.audit();
    println!("{:?} {:?} {:?} t = {}", began.elapsed(), simulation.counts(), audit, simulation.time());
    assert_eq!(stopped, Stopped::MaxEvents);
    assert!(audit.energy_error_max.value < 1e-11);
    assert!(audit.gap_min > -1e-12);
    // No overlap now either, by looking at every pair.
    let states = simulation.states();
    for i in 0..states.len() {
        for j in 0..i {
            let shape = |k: usize| &scene.bodies[k].body.shape;
            let found = gap((shape(i), &states[i].pose()), (shape(j), &states[j].pose())).unwrap();
            assert!(found.gap > -1e-12, "{i} {j}: {:e}", found.gap);
        }
    }
}

#[test]
fn the_paradoxes_are_held_until_their_force_returns_to_zero() {
    for case in reference()["paradoxes"].as_array().unwrap() {
        let bodies = [0, 1].map(|k| body(&case["bodies"][k]));
        let states = [0, 1].map(|k| state(&case["bodies"][k]));
        let hold = &case["hold"];
        let table = hold["table"].as_array().unwrap();
        let lift_off = hold["lift_off"].as_f64().unwrap();
        let mut simulation = Simulation::new(free(&bodies), &states, until(2.0 * lift_off)).unwrap();
        let mut memory = Memory::default();
        simulation.run(&mut memory, |_| true);
        let kinds: Vec<Kind> = memory.events.iter().map(|event| event.kind).collect();
        println!("{}: {kinds:?} {:?}", case["name"], simulation.audit());
        assert_eq!(&kinds[..2], [Kind::HoldBegin, Kind::HoldEnd]);
        let [begin, end] = [&memory.events[0], &memory.events[1]];
        assert_eq!(begin.class.name(), case["type"].as_str().unwrap());
        let slope = begin.force_slope.unwrap();
        println!("  slope {slope} lift-off {} ± {:e} impulse {}", end.time, end.time_error, end.impulse);
        assert!((slope / hold["slope"].as_f64().unwrap() - 1.0).abs() < 1e-12);
        assert!((end.time - lift_off).abs() < 1e-11, "{} {lift_off}", end.time);
        // The reference is good to about 1e-12.
        let after: Vec<_> = memory.samples.iter().filter(|sample| sample.time == end.time).collect();
        for sample in after {
            let expected = state(&table[table.len() - 1]["bodies"][sample.body]);
            let error = difference(&sample.state, &expected);
            println!("  off by {error:e}");
            assert!(error < 1e-10);
        }
        let audit = simulation.audit();
        assert!(audit.energy_error_max.value < 1e-14 && audit.linear_error_max.value < 1e-14, "{audit:?}");
        assert!(audit.angular_error_max.unwrap().value < 1e-14, "{audit:?}");
        assert!(audit.gap_min > -1e-14, "{audit:?}");
    }
}

#[test]
fn a_paradox_that_is_passed_follows_the_free_gap() {
    for case in reference()["paradoxes"].as_array().unwrap() {
        let bodies = [0, 1].map(|k| body(&case["bodies"][k]));
        let states = [0, 1].map(|k| state(&case["bodies"][k]));
        for row in case["pass"].as_array().unwrap() {
            let [time, expected] = [0, 1].map(|k| row[k].as_f64().unwrap());
            if time <= 0.0 {
                continue;
            }
            let mut world = free(&bodies);
            world.on_paradox = OnParadox::Pass;
            let mut simulation = Simulation::new(world, &states, until(time)).unwrap();
            let mut memory = Memory::default();
            simulation.run(&mut memory, |_| true);
            assert_eq!(memory.events[0].kind, Kind::PassBegin);
            let [one, two] = [0, 1].map(|k| simulation.states()[k].pose());
            let found = gap((&bodies[0].shape, &one), (&bodies[1].shape, &two)).unwrap().gap;
            assert!((found - expected).abs() < 2e-13, "{} at {time}: {found} {expected}", case["name"]);
            if expected < 0.0 {
                assert!(simulation.audit().gap_min <= expected);
            }
        }
        let mut world = free(&bodies);
        world.on_paradox = OnParadox::Stop;
        let mut simulation = Simulation::new(world, &states, until(1.0)).unwrap();
        assert_eq!(simulation.run(&mut (), |_| true), Stopped::Paradox);
        assert_eq!(simulation.time(), 0.0);
    }
}

#[test]
fn bodies_fly_into_their_paradox() {
    for case in reference()["paradoxes"].as_array().unwrap() {
        let earlier = &case["earlier"];
        if earlier.is_null() {
            continue;
        }
        let bodies = [0, 1].map(|k| body(&case["bodies"][k]));
        let states = [0, 1].map(|k| state(&earlier["bodies"][k]));
        let time = -earlier["time"].as_f64().unwrap();
        let lift_off = case["hold"]["lift_off"].as_f64().unwrap();
        let mut simulation = Simulation::new(free(&bodies), &states, until(time + 1.5 * lift_off)).unwrap();
        let mut memory = Memory::default();
        simulation.run(&mut memory, |_| true);
        for event in &memory.events {
            println!(
                "{:?} {} ± {:e} {} v {:e}",
                event.kind,
                event.time - time,
                event.time_error,
                event.class.name(),
                event.approach
            );
        }
        println!("{:?}", simulation.audit());
        let [begin, end] = &memory.events[..] else { panic!("{:?}", memory.events) };
        assert_eq!((begin.kind, end.kind), (Kind::HoldBegin, Kind::HoldEnd));
        assert_eq!(begin.class.name(), case["type"].as_str().unwrap());
        assert!((begin.time - time).abs() < 1e-10);
        assert!((end.time - time - lift_off).abs() < 1e-9);
        assert!(simulation.audit().energy_error_max.value < 1e-14);
        assert!(simulation.audit().gap_min > -1e-14);
    }
}

/// Bounces of ratio k: the k-th flight takes 2 v kⁿ/g, all of them 2 v k/(g(1−k)) after the first impact.
#[test]
fn a_bouncing_ball_comes_to_rest_at_the_limit_of_its_bounces() {
    let scene = scene(
        r#"
carom = 1
[world]
gravity = [0, 0, -10]
[[body]]
name = "ball"
shape = { sphere = { radius = 0.5 } }
mass = 2
position = [0, 0, 5.5]
velocity = [0.25, 0, 0]
[[plane]]
name = "floor"
normal = [0, 0, 1]
[surface]
restitution = 0.5
[run]
until = 8
sample = 0
"#,
    );
    let (simulation, memory) = run(&scene);
    let last = memory.events.last().unwrap();
    for event in &memory.events {
        println!(
            "{:?} {} ± {:e} v {:e} gap {:e}",
            event.kind, event.time, event.time_error, event.approach, event.gap
        );
    }
    println!("{} events, {:?} at {} limit {:?}", memory.events.len(), last.kind, last.time, last.limit);
    assert_eq!(last.kind, Kind::Rest);
    let [limit, error] = last.limit.unwrap();
    assert!((limit - 3.0).abs() <= error && error < 1e-8, "{limit} {error:e}");
    assert!(memory.events.len() < 40);
    let state = simulation.states()[0];
    println!("{state:?} {:?}", simulation.audit());
    assert!((state.position - Vector3::new(2.0, 0.0, 0.5)).norm() < 1e-12);
    assert!((state.velocity - Vector3::new(0.25, 0.0, 0.0)).norm() < 1e-12);
    assert!(simulation.audit().energy_error_max.value < 1e-14);
    // And it rolls off no floor: the end is the time asked for.
    assert_eq!(simulation.stopped(), Some(Stopped::Until));
}

#[test]
fn an_ellipsoid_dropped_on_the_floor_comes_to_rest_rocking() {
    let scene = scene(
        r#"
carom = 1
[world]
gravity = [0, 0, -9.81]
[[body]]
name = "egg"
shape = { ellipsoid = { semi_axes = [0.3, 0.2, 0.15] } }
mass = 1
position = [0, 0, 0.6]
orientation = { bryan = [0.4, 0.3, 0.2] }
angular_velocity = [1, 2, 0.5]
[[plane]]
name = "floor"
normal = [0, 0, 1]
[surface]
restitution = 0.6
[run]
until = 20
sample = 0
"#,
    );
    let (simulation, memory) = run(&scene);
    for event in memory.events.iter().rev().take(12).rev() {
        println!(
            "{:?} {} v {:e} {:e} g2 {:?}",
            event.kind, event.time, event.approach, event.separation, event.g2
        );
    }
    println!("{} events {:?} {:?}", memory.events.len(), simulation.audit(), simulation.counts());
    assert_eq!(simulation.stopped(), Some(Stopped::Until));
    assert!(simulation.audit().energy_error_max.value < 1e-12);
    assert!(simulation.audit().gap_min > -1e-13);
}

#[test]
fn a_run_resumed_from_a_snapshot_goes_on_to_the_bit() {
    let mut scene = scene(&box_of(8, SUPER, 1.0, 2.0, 3));
    scene.gravity = Vector3::new(0.0, 0.0, -0.3);
    scene.surface.restitution = 0.7;
    scene.run = RunSettings { max_events: 3000, until: 200.0, sample: 0.25, ..RunSettings::default() };
    let (whole, memory) = run(&scene);
    println!("{:?} {:?} t = {} {:?}", whole.counts(), whole.audit(), whole.time(), whole.stopped());
    let mut parts = Memory::default();
    let mut simulation = start(&scene);
    let mut steps = 0;
    loop {
        let more = simulation.step(&mut parts);
        steps += 1;
        if steps % 97 == 0 {
            let text = serde_json::to_string(&simulation.snapshot()).unwrap();
            let snapshot = serde_json::from_str(&text).unwrap();
            simulation = Simulation::resume(World::of(&scene).0, scene.run, &snapshot).unwrap();
            assert_eq!(serde_json::to_string(&simulation.snapshot()).unwrap(), text);
        }
        if !more {
            break;
        }
    }
    assert_eq!(memory.events.len(), parts.events.len());
    for (a, b) in memory.events.iter().zip(&parts.events) {
        assert_eq!(a, b);
    }
    assert_eq!(memory.samples, parts.samples);
    assert_eq!(whole.states(), simulation.states());
}

/// Every state of a periodic gas, shifted by whole boxes, is the same gas.
#[test]
fn a_periodic_gas_keeps_energy_and_momentum_and_never_overlaps() {
    let mut text = box_of(27, "{ ellipsoid = { semi_axes = [1, 0.6, 0.5] } }", 1.0, 2.0, 5);
    text.truncate(text.find("[[plane]]").unwrap());
    let mut scene = scene(&text);
    for lengths in [Vector3::new(9.0, 9.0, 9.0), Vector3::new(9.0, 0.0, 9.0)] {
        scene.periodic = Some(lengths);
        scene.run = RunSettings { max_events: 2000, until: 300.0, sample: 0.0, ..RunSettings::default() };
        let mut simulation = start(&scene);
        simulation.run(&mut (), |_| true);
        let audit = simulation.audit();
        println!("{:?} {:?} t = {}", simulation.counts(), audit, simulation.time());
        assert!(audit.energy_error_max.value < 1e-12 && audit.linear_error_max.value < 1e-13);
        assert!(audit.gap_min > -1e-13);
        let states = simulation.states();
        let mut least = f64::INFINITY;
        for i in 0..states.len() {
            for j in 0..i {
                let mut pose = states[j].pose();
                let apart = states[i].position - states[j].position;
                for k in 0..3 {
                    if lengths[k] > 0.0 {
                        pose.translation.vector[k] += (apart[k] / lengths[k]).round() * lengths[k];
                    }
                }
                let shape = &scene.bodies[i].body.shape;
                least = least.min(gap((shape, &states[i].pose()), (shape, &pose)).unwrap().gap);
            }
        }
        assert!(least > -1e-12, "{least:e}");
    }
}

#[test]
fn bodies_many_enough_for_cells_meet_the_same_as_all_pairs() {
    // Twice the same gas: once beside far away spectators that make cells worth while.
    let text = box_of(27, "{ sphere = { radius = 0.9 } }", 1.0, 0.0, 9);
    let mut few = scene(&text);
    few.run = RunSettings { until: 10.0, sample: 0.0, ..RunSettings::default() };
    let mut many = few.clone();
    for k in 0..40 {
        let mut spectator = few.bodies[0].clone();
        spectator.name = format!("far{k}");
        spectator.state = State::at(Vector3::new(-1000.0 - 5.0 * f64::from(k), 4.0, 4.0));
        spectator.body.fixed = true;
        many.bodies.push(spectator);
    }
    let (one, first) = run(&few);
    let (two, second) = run(&many);
    assert!(first.events.len() > 100);
    assert_eq!(first.events.len(), second.events.len());
    for (a, b) in first.events.iter().zip(&second.events) {
        assert!((a.time - b.time).abs() < 1e-6 && a.sides == b.sides, "{a:?} {b:?}");
    }
    println!("{:?}\n{:?}", one.counts(), two.counts());
}

/// Elastic motion is reversible: with velocities reversed it runs back to its start, for as long as chaos lets rounding
/// stay small. Between ellipsoids an error grows about tenfold at every impact of a body.
#[test]
fn a_reversed_run_returns_to_its_start_within_the_horizon_of_chaos() {
    let scene = scene(&box_of(10, SUPER, 1.0, 2.0, 1));
    let (world, states) = World::of(&scene);
    let mut horizon = 0;
    for (duration, allowed) in
        [(5.0, 1e-12), (10.0, 1e-9), (15.0, 1e-4), (20.0, f64::INFINITY), (25.0, f64::INFINITY)]
    {
        let mut forth = Simulation::new(world.clone(), &states, until(duration)).unwrap();
        forth.run(&mut (), |_| true);
        let turned: Vec<State> = forth
            .states()
            .iter()
            .map(|state| State {
                velocity: -state.velocity,
                angular_velocity: -state.angular_velocity,
                ..*state
            })
            .collect();
        let mut back = Simulation::new(world.clone(), &turned, until(duration)).unwrap();
        back.run(&mut (), |_| true);
        let error = back
            .states()
            .iter()
            .zip(&states)
            .map(|(a, b)| (a.position - b.position).norm())
            .fold(0.0, f64::max);
        let events = forth.counts().events;
        println!("{duration} time units, {events} impacts: back at the start to {error:e}");
        assert!(error <= allowed, "{duration}: {error:e}");
        if error < 1e-3 {
            horizon = events;
        }
    }
    println!("horizon: {horizon} impacts");
}

/// Scenes that once hung, gained energy or never came to rest.
#[test]
fn bodies_that_settle_come_to_rest_with_their_energy_accounted_for() {
    for (name, text) in [
        ("stack", include_str!("../../../cases/simulation/stack.json")),
        ("column", include_str!("../../../cases/simulation/column.json")),
        ("caught", include_str!("../../../cases/simulation/caught.json")),
        ("periodic_hold", include_str!("../../../cases/simulation/periodic_hold.json")),
        ("knocked_off", include_str!("../../../cases/simulation/knocked_off.json")),
        ("pillow", include_str!("../../../cases/simulation/pillow.json")),
        ("box_of_exponent_10", include_str!("../../../cases/simulation/box_of_exponent_10.json")),
        ("box_of_exponent_20", include_str!("../../../cases/simulation/box_of_exponent_20.json")),
    ] {
        let scene = file::read(text, Format::Json).unwrap();
        let (simulation, memory) = run(&scene);
        let (audit, counts) = (simulation.audit(), simulation.counts());
        println!("{name}: {:?} {} events {audit:?}", simulation.stopped(), counts.events);
        assert_eq!(simulation.stopped(), Some(Stopped::Until), "{name}: {:?}", simulation.failure());
        assert!(
            audit.energy_error_max.value < 1e-12 && audit.energy_gain_max.value < 1e-12,
            "{name}: {audit:?}"
        );
        assert!(audit.gap_min > -1e-12, "{name}: {audit:?}");
        assert!(counts.events < 400, "{name}: {counts:?}");
        // What is called a graze does not close.
        for event in memory.events.iter().filter(|event| event.kind == Kind::Graze) {
            assert!(event.approach > -1e-9, "{name}: {event:?}");
        }
    }
}

/// Held contact with friction, at one contact and at several: every run reaches its end with few events, and what is missing of
/// the energy is what impacts and friction took.
#[test]
fn friction_in_held_contact() {
    for (name, text, rests) in [
        ("egg_with_friction", include_str!("../../../cases/simulation/egg_with_friction.json"), false),
        ("corner_with_friction", include_str!("../../../cases/simulation/corner_with_friction.json"), true),
        ("corner_without_bounce", include_str!("../../../cases/simulation/corner_without_bounce.json"), true),
        ("rough_corner", include_str!("../../../cases/simulation/rough_corner.json"), true),
        ("groove", include_str!("../../../cases/simulation/groove.json"), false),
        ("pyramid", include_str!("../../../cases/simulation/pyramid.json"), true),
    ] {
        let scene = file::read(text, Format::Json).unwrap();
        let (simulation, memory) = run(&scene);
        let audit = simulation.audit();
        println!(
            "{name}: {} events, energy {:.1e}, gap {:.1e}",
            memory.events.len(),
            audit.energy_error_max.value,
            audit.gap_min
        );
        assert_eq!(simulation.stopped(), Some(Stopped::Until), "{name}: {:?}", simulation.failure());
        assert!(memory.events.len() < 1000, "{name}");
        assert!(audit.energy_error_max.value < 1e-13 && audit.gap_min > -1e-13, "{name}");
        assert!(audit.energy_gain_max.value < 1e-13, "{name}");
        let still = simulation
            .states()
            .iter()
            .all(|state| state.velocity == Vector3::zeros() && state.angular_velocity == Vector3::zeros());
        assert_eq!(still, rests, "{name}");
    }
}
