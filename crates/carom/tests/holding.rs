//! Which contacts hold, in runs: no body sinks into another, however it slides, spins or leans, and bounces end when they should. Gaps
//! are judged by formulas of their own, over all pairs.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod count;
mod running;

use std::fmt::Write;

use carom::body::{Body, State};
use carom::gap::gap;
use carom::record::{Kind, Memory, Moment, Sample};
use carom::scene::model::Scene;
use carom::shape::{HalfSpace, Shape};
use carom::simulation::{Simulation, SteppedInterval};

use carom::run::{Stopped, World};
use nalgebra::{Matrix3, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use running::{run, scene};

/// n·c − offset − h(−n), by the support function of the shape.
fn gap_to(plane: &HalfSpace, body: &Body, state: &State) -> f64 {
    let n = state.orientation.inverse_transform_vector(&plane.normal);
    let height = match body.shape {
        Shape::Point => 0.0,
        Shape::Sphere { radius } => radius,
        Shape::Ellipsoid { semi_axes } => Vector3::from(semi_axes).component_mul(&n).norm(),
        Shape::Superellipsoid { semi_axes, exponent } => {
            let q = exponent / (exponent - 1.0);
            (0..3).map(|i| (semi_axes[i] * n[i].abs()).powf(q)).sum::<f64>().powf(1.0 / q)
        }
        _ => unreachable!("bodies of these groups are smooth"),
    };
    plane.normal.dot(&state.position) - plane.offset - height
}

fn gap_of(one: (&Body, &State), two: (&Body, &State)) -> f64 {
    if let (Shape::Sphere { radius: a }, Shape::Sphere { radius: b }) = (one.0.shape, two.0.shape) {
        return (two.1.position - one.1.position).norm() - a - b;
    }
    gap((&one.0.shape, &one.1.pose()), (&two.0.shape, &two.1.pose())).unwrap().gap
}

/// The deepest overlap of any pair over all samples, beside the sizes.
fn deepest(scene: &Scene, memory: &Memory, stepped: &[SteppedInterval]) -> f64 {
    let bodies: Vec<&Body> = scene.bodies.iter().map(|body| &body.body).collect();
    let mut worst: f64 = 0.0;
    let samples: Vec<&Sample> =
        memory.samples.iter().filter(|sample| sample.moment == Moment::Sample).collect();
    let approximate =
        |time: f64| stepped.iter().any(|interval| (interval.from..=interval.until).contains(&time));
    for states in samples.chunks(bodies.len()).filter(|states| !approximate(states[0].time)) {
        for (i, two) in states.iter().enumerate() {
            assert_eq!(two.body, i);
            let size = bodies[i].shape.circumradius();
            for plane in &scene.planes {
                worst = worst.max(-gap_to(&plane.half_space, bodies[i], &two.state) / size);
            }
            for (j, one) in states[..i].iter().enumerate() {
                let size = size.min(bodies[j].shape.circumradius());
                worst = worst.max(-gap_of((bodies[j], &one.state), (bodies[i], &two.state)) / size);
            }
        }
    }
    worst
}

fn vector(source: &mut ChaCha8Rng, size: f64) -> [f64; 3] {
    [(); 3].map(|()| source.random_range(-size..=size))
}

/// The lower ball moves away from the wall, and as the line of centres tilts the upper one is pressed against it.
#[test]
fn a_ball_leans_on_the_wall_as_soon_as_it_is_pushed() {
    let scene = scene(
        r#"
carom = 1
[world]
gravity = [0, 0, -9.81]
[[body]]
name = "A"
shape = { sphere = { radius = 0.5 } }
mass = 1
position = [0, 0.5, 0.5]
velocity = [0, 0.3, 0]
[[body]]
name = "B"
shape = { sphere = { radius = 0.5 } }
mass = 1
position = [0, 0.5, 1.5]
[[plane]]
name = "floor"
normal = [0, 0, 1]
[[plane]]
name = "wall"
normal = [0, 1, 0]
[run]
until = 0.6
sample = 0.01
"#,
    );
    let (simulation, memory) = run(&scene);
    assert_eq!(simulation.stopped(), Some(Stopped::Until));
    assert!(deepest(&scene, &memory, simulation.stepped()) < 1e-14);
    // B slides down the wall: with s the way of A, z = √(1 − s²), ½(s'² + z'²) + g z is kept.
    let [a, b] = simulation.states()[..] else { panic!() };
    let (s, z) = (a.position.y - 0.5, b.position.z - 0.5);
    assert!((b.position.y - 0.5).abs() < 1e-15 && (s * s + z * z - 1.0).abs() < 1e-14);
    let kinetic = 0.5 * (a.velocity.y.powi(2) + b.velocity.z.powi(2));
    assert!((kinetic + 9.81 * z - (0.5 * 0.09 + 9.81)).abs() < 1e-13);
    assert!((a.velocity.y * s + b.velocity.z * z).abs() < 1e-14);
    // The time that takes: ∫ ds / s'.
    let way = |s: f64| ((0.09 + 2.0 * 9.81 * (1.0 - (1.0 - s * s).sqrt())) * (1.0 - s * s)).sqrt();
    let panels = 2000;
    let time: f64 = (0..panels)
        .map(|k| {
            let (low, high) =
                (s * f64::from(k) / f64::from(panels), s * f64::from(k + 1) / f64::from(panels));
            (high - low) / 6.0 * (1.0 / way(low) + 4.0 / way(0.5 * (low + high)) + 1.0 / way(high))
        })
        .sum();
    assert!((time - 0.6).abs() < 1e-10, "{time}");
}

fn ball_on_floor(text: &str) -> Scene {
    scene(&format!(
        "carom = 1\n{text}\n[[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\n[run]\nsample = 0\nuntil = 3\n"
    ))
}

#[test]
fn a_ball_that_slides_or_spins_fast_stays_on_the_floor() {
    for (radius, gravity, height, velocity, spin, restitution) in [
        (0.5, 10.0, 1.0, 1e4, 0.0, 0.0),
        (0.5, 10.0, 1.0, 1e5, 0.0, 0.0),
        (0.5, 10.0, 1.0, 0.0, 1e6, 0.5),
        (1e-6, 9.81, 1e-5, 200.0, 0.0, 0.0),
    ] {
        let scene = ball_on_floor(&format!(
            "[world]\ngravity = [0, 0, {}]\n[surface]\nrestitution = {restitution}\n[[body]]\nname = \"ball\"\nmass = 1\n\
             shape = {{ sphere = {{ radius = {radius:e} }} }}\nposition = [0, 0, {height:e}]\nvelocity = [{velocity:e}, 0, 0]\n\
             angular_velocity = [0, {spin:e}, 0]",
            -gravity
        ));
        let (simulation, _) = run(&scene);
        let state = simulation.states()[0];
        assert_eq!(simulation.stopped(), Some(Stopped::Until));
        assert!((state.position.z - radius).abs() <= 1e-15 * radius.max(1.0), "{state:?}");
        assert!((state.position.x - 3.0 * velocity).abs() <= 1e-12 * velocity);
        assert!((state.velocity - Vector3::new(velocity, 0.0, 0.0)).norm() <= 1e-15 * (1.0 + velocity));
        assert_eq!(state.angular_velocity.y, spin);
        let audit = simulation.audit();
        assert!(
            audit.energy_error_max.value < 1e-15 && audit.restitution_error_max.value < 1e-9,
            "{audit:?}"
        );
    }
}

/// The same over sizes, speeds, spins and weights of all orders, on floors of any direction: at the end every ball is on its floor.
#[test]
fn balls_of_all_sizes_and_speeds_stay_on_the_floor() {
    let mut source = ChaCha8Rng::seed_from_u64(8);
    let mut decades = |low: f64, high: f64| 10f64.powf(source.random_range(low..high));
    for round in 0..300 {
        let (radius, gravity) = (decades(-6.0, 6.0), decades(-2.0, 3.0));
        let (speed, spin) = (decades(-6.0, 8.0), decades(-3.0, 7.0));
        let height = radius * decades(-3.0, 1.0);
        let restitution = [0.0, 0.3, 0.7][round % 3];
        let fall = (2.0 * height / gravity).sqrt();
        let until = fall * (1.0 + 2.0 * restitution / (1.0 - restitution)) * 1.5;
        // Floors along an axis, and others, where the speeds' own rounding is across the floor.
        let normal = if round % 4 == 3 {
            Vector3::new(decades(-1.0, 0.0), -decades(-1.0, 0.0), decades(-1.0, 0.0)).normalize()
        } else {
            Vector3::z()
        };
        // There coordinates resolve a ball only so far away.
        let speed = if round % 4 == 3 { speed.min(1e4 * radius / until) } else { speed };
        let along = Vector3::new(normal.z, 0.0, -normal.x).normalize();
        let [g, at, v] = [normal * -gravity, normal * (radius + height), along * speed]
            .map(|x| format!("[{:e}, {:e}, {:e}]", x.x, x.y, x.z));
        let scene = scene(&format!(
            "carom = 1\n[world]\ngravity = {g}\n[surface]\nrestitution = {restitution}\n[[body]]\nname = \"ball\"\nmass = 1\n\
             shape = {{ sphere = {{ radius = {radius:e} }} }}\nposition = {at}\nvelocity = {v}\n\
             angular_velocity = [0, {spin:e}, {spin:e}]\n[[plane]]\nname = \"floor\"\nnormal = [{:e}, {:e}, {:e}]\n\
             [run]\nuntil = {until:e}\nsample = 0\n",
            normal.x, normal.y, normal.z
        ));
        let (simulation, memory) = run(&scene);
        let (state, body) = (simulation.states()[0], &scene.bodies[0].body);
        let found = gap_to(&scene.planes[0].half_space, body, &state);
        let way: f64 = (0..3).map(|i| (normal[i] * state.position[i]).abs()).sum();
        let what = format!("{round}: r {radius:e} g {gravity:e} v {speed:e} h {height:e}, gap {found:e}");
        assert_eq!(simulation.stopped(), Some(Stopped::Until), "{what}");
        assert!(found.abs() <= 1e-13 * (radius + way), "{what}");
        let leaving = normal.dot(&state.velocity);
        let data: f64 = (0..3).map(|i| (normal[i] * state.velocity[i]).abs()).sum();
        assert!(leaving.abs() <= 1e-14 * data + 1e-15 * gravity * fall, "{what}: {leaving:e}");
        assert!(matches!(memory.events.last().unwrap().kind, Kind::HoldBegin | Kind::Rest), "{what}");
    }
}

/// Bounces of ratio k from a height h end at t₁(1 + 2k/(1−k)), t₁ = √(2h/g), whatever the ball does besides.
#[test]
fn bounces_end_when_their_series_does() {
    let mut source = ChaCha8Rng::seed_from_u64(15);
    let mut worst: f64 = 0.0;
    for round in 0..60 {
        let mut decades = |low: f64, high: f64| 10f64.powf(source.random_range(low..high));
        let (radius, gravity, height, speed, spin, restitution) = match round {
            0 => (0.1, 9.81, 1.0, 0.3, 0.0, 0.9),
            1 => (0.1, 9.81, 1.0, 3000.0, 0.0, 0.9),
            _ => {
                let radius = decades(-3.0, 3.0);
                let drop = radius * decades(-1.0, 1.5);
                let (gravity, speed, spin) = (decades(-1.0, 2.0), decades(-3.0, 5.0), decades(-2.0, 4.0));
                (radius, gravity, drop, speed, spin, source.random_range(0.05..0.93))
            }
        };
        let first = (2.0 * height / gravity).sqrt();
        let end = first * (1.0 + 2.0 * restitution / (1.0 - restitution));
        let scene = scene(&format!(
            "carom = 1\n[world]\ngravity = [0, 0, {:e}]\n[surface]\nrestitution = {restitution:e}\n[[body]]\nname = \"ball\"\nmass = 2\n\
             shape = {{ sphere = {{ radius = {radius:e} }} }}\nposition = [0, 0, {:e}]\nvelocity = [{speed:e}, 0, 0]\n\
             angular_velocity = [0, {spin:e}, 1]\n[[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\n\
             [run]\nuntil = {:e}\nsample = 0\n",
            -gravity,
            radius + height,
            1.2 * end
        ));
        let (simulation, memory) = run(&scene);
        let last = memory.events.last().unwrap();
        let what = format!("{round}: k {restitution} r {radius:e} h {height:e} v {speed:e}");
        assert_eq!((last.kind, simulation.stopped()), (Kind::Rest, Some(Stopped::Until)), "{what}");
        let [limit, error] = last.limit.unwrap();
        // The last impact is known to the rounding of its place over its speed.
        let off = (limit - end).abs();
        worst = worst.max(off / end);
        assert!(off <= error + 1e-14 * end && error <= 1e-5 * end, "{what}: {off:e} {error:e}");
        // What the last bounce had is taken by an impulse, and booked.
        assert_eq!(last.separation, 0.0, "{what}");
        assert!((last.impulse + 2.0 * last.approach).abs() <= 1e-14 * last.impulse, "{what}");
        let bounces: Vec<_> = memory.events.iter().filter(|event| event.kind == Kind::Impact).collect();
        assert!(bounces.iter().all(|event| event.separation > 0.0), "{what}");
        let state = simulation.states()[0];
        assert!((state.position.z - radius).abs() <= 1e-15 * (radius + height), "{what} {state:?}");
        assert!(
            (state.velocity - Vector3::new(speed, 0.0, 0.0)).norm() <= 1e-15 * (speed + gravity * first),
            "{what} {state:?}"
        );
        let audit = simulation.audit();
        assert!(
            audit.energy_error_max.value < 1e-14 && audit.gap_min > -1e-14 * (radius + height),
            "{what} {audit:?}"
        );
    }
    println!("the ends of 60 series of bounces are off by {worst:.1e} of the time at most");
}

/// A body laid on a rough floor while it slips, without approach, is brought to roll by an impulse: an event with that impulse and the
/// energy that it takes. The impulse is the one at the contact point that leaves the point at rest: p = −K⁻¹ u with K = I/m − r× I⁻¹ r×.
#[test]
fn a_slip_on_a_rough_floor_is_stopped_by_an_event() {
    let mut source = ChaCha8Rng::seed_from_u64(11);
    let (mut told, mut let_go) = (0, 0);
    for case in 0..200 {
        let axes: [f64; 3] = if case % 2 == 0 {
            [source.random_range(0.1..2.0); 3]
        } else {
            [(); 3].map(|()| source.random_range(0.3..1.0))
        };
        let mass = source.random_range(0.1..10.0);
        let [vx, vy, _] = vector(&mut source, 3.0);
        let [wx, wy, wz] = vector(&mut source, if case % 4 < 2 { 4.0 } else { 0.0 });
        let k = [0.0, 0.5, 1.0][case % 3];
        let laid = format!(
            "carom = 1\n[world]\ngravity = [0, 0, -9.81]\n[surface]\nkind = \"rough\"\nrestitution = {k}\n[run]\nuntil = 0.1\nsample = 0\n\
             [[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\n[[body]]\nname = \"b\"\nmass = {mass}\n\
             shape = {{ ellipsoid = {{ semi_axes = {axes:?} }} }}\nposition = [0, 0, {z}]\nvelocity = [{vx}, {vy}, 0]\n\
             angular_velocity = [{wx}, {wy}, {wz}]\n",
            z = axes[2]
        );
        let scene = scene(&laid);
        let (simulation, memory) = run(&scene);
        let audit = simulation.audit();
        assert!(
            audit.energy_error_max.value < 1e-13
                && audit.impulse_error_max.value < 1e-13
                && audit.work_error_max.value < 1e-13
                && audit.unilateral_error_max.value < 1e-12,
            "{laid}\n{audit:?}"
        );
        let Body { mass, inertia, .. } = scene.bodies[0].body;
        let (v, w) = (Vector3::new(vx, vy, 0.0), Vector3::new(wx, wy, wz));
        let r = Vector3::new(0.0, 0.0, -axes[2]);
        let slip = v + w.cross(&r);
        let cross = r.cross_matrix();
        let response =
            Matrix3::identity() / mass - cross * Matrix3::from_diagonal(&inertia.map(f64::recip)) * cross;
        let impulse = -(response.try_inverse().unwrap() * slip);
        let Some(event) = memory.events.iter().find(|event| event.kind == Kind::Impact && event.time == 0.0)
        else {
            // A body whose lowest point would have to be pulled keeps its slip; nothing is lost.
            let_go += 1;
            assert!(case % 2 == 1, "{laid}");
            continue;
        };
        told += 1;
        let scale = impulse.norm();
        assert!((event.impulse_vector - impulse).norm() <= 1e-14 * scale, "{laid}\n{event:?} {impulse:?}");
        let lost = 0.5 * impulse.dot(&slip);
        assert!(
            (event.energy_after - event.energy_before - lost).abs() <= 1e-13 * event.energy_before.abs(),
            "{laid}"
        );
        assert!(
            memory.events.iter().any(|event| event.kind == Kind::HoldBegin && event.time == 0.0),
            "{laid}"
        );
    }
    println!("{told} slips were stopped, {let_go} let go");
    assert!(told > 150);
}

/// A pile of bodies on a floor: balls or ellipsoids in boxes of a lattice that touch one another and the walls, or any bodies, pillows
/// too, dropped beside each other.
fn group(source: &mut ChaCha8Rng) -> String {
    let count = source.random_range(1..=6);
    let axes: [f64; 3] = [(); 3].map(|()| source.random_range(0.3..0.7));
    let radius: f64 = source.random_range(0.3..0.7);
    let kinds = source.random_range(0..4);
    let exponent = [3.0, 4.0, 6.0][source.random_range(0..3)];
    let rough = source.random_range(0..4) == 0;
    let gravity = match source.random_range(0..3) {
        0 => [0.0, 0.0, -9.81],
        1 => [source.random_range(-4.0..4.0), 0.0, -9.81],
        _ => vector(source, 9.0),
    };
    let mut text = format!("carom = 1\n[world]\ngravity = {gravity:?}\n[surface]\nrestitution = 0\n");
    if rough {
        let _ = writeln!(text, "kind = {{ coulomb = {} }}", source.random_range(0.05..0.8));
    }
    let lattice = source.random_range(0..3) > 0;
    let mut taken: Vec<[i32; 3]> = Vec::new();
    while taken.len() < count {
        let cell = [source.random_range(0..2), source.random_range(0..2), source.random_range(0..3)];
        if !taken.contains(&cell) {
            taken.push(cell);
        }
    }
    for (i, cell) in taken.iter().enumerate() {
        let kind = if kinds == 3 { source.random_range(0..3) } else { kinds };
        // On a lattice all have the same boxes.
        let (shape, half) = match kind {
            0 if !lattice || kinds != 3 => (format!("{{ sphere = {{ radius = {radius} }} }}"), [radius; 3]),
            2 if !lattice => {
                (format!("{{ superellipsoid = {{ semi_axes = {axes:?}, exponent = {exponent} }} }}"), axes)
            }
            _ => (format!("{{ ellipsoid = {{ semi_axes = {axes:?} }} }}"), axes),
        };
        let spread = if lattice { 1.0 } else { 2.2 };
        let place: Vec<f64> = (0..3)
            .map(|k| half[k].max(if lattice { 0.0 } else { 0.7 }) * spread * f64::from(2 * cell[k] + 1))
            .collect();
        let _ = writeln!(
            text,
            "[[body]]\nname = \"b{i}\"\nmass = {}\nshape = {shape}\nposition = {place:?}",
            source.random_range(0.5..2.0)
        );
        let moving = source.random_range(0..3);
        if moving > 0 {
            let _ = writeln!(text, "velocity = {:?}", vector(source, [0.0, 0.3, 2.0][moving]));
        }
        if !lattice {
            let [x, y, z] = vector(source, 1.0);
            let _ = writeln!(text, "orientation = [1.3, {x}, {y}, {z}]");
        }
        if moving > 1 || !lattice {
            let _ = writeln!(text, "angular_velocity = {:?}", vector(source, 2.0));
        }
    }
    text.push_str("[[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\n");
    for (k, normal) in [[1, 0, 0], [0, 1, 0]].iter().enumerate() {
        if source.random_range(0..3) > 0 {
            let _ = writeln!(text, "[[plane]]\nname = \"wall{k}\"\nnormal = {normal:?}");
        }
    }
    if source.random_range(0..3) == 0 {
        let [x, y, _] = vector(source, 1.0);
        let _ = writeln!(text, "[[plane]]\nname = \"slope\"\nnormal = [{x}, {y}, 1]\noffset = -1.6");
    }
    text.push_str("[run]\nuntil = 0.8\nsample = 0.01\n");
    text
}

/// Groups of up to six bodies among walls: however they come to hold, lean, slide off and part, nothing overlaps.
#[test]
fn held_groups_do_not_overlap() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let alone = number("CAROM_GROUP");
    let count = if alone.is_some() { 1 } else { count::cases("CAROM_GROUPS", 100) };
    let first = alone.unwrap_or(0);
    let (mut ended, mut stalled, mut lost, mut long, mut no_start) = (0, 0, 0, 0, 0);
    let mut worst: f64 = 0.0;
    let mut failed = Vec::new();
    for seed in first..first + count {
        let text = group(&mut ChaCha8Rng::seed_from_u64(seed));
        if alone.is_some() {
            println!("{text}");
        }
        let scene = scene(&text);
        let (world, states) = World::of(&scene);
        // Slopes may cut into the pile.
        let Ok(mut simulation) = Simulation::new(world, &states, scene.run) else {
            no_start += 1;
            continue;
        };
        let mut memory = Memory::default();
        let mut left = number("CAROM_STEPS").unwrap_or(MOST_STEPS);
        let stopped = simulation.run(&mut memory, |_: &Simulation| {
            left -= 1;
            left > 0
        });
        let deep = deepest(&scene, &memory, simulation.stepped());
        worst = worst.max(deep);
        if deep > 1e-12 {
            failed.push(seed);
            println!("{seed}: overlap {deep:e}, {stopped:?}");
        }
        match stopped {
            Stopped::Stalled => stalled += 1,
            Stopped::Failed => {
                lost += 1;
                println!("{seed}: {:?}", simulation.failure());
            }
            Stopped::Interrupted => long += 1,
            _ => ended += 1,
        }
    }
    println!(
        "{count} groups: {ended} to the end, {stalled} stalled, {lost} lost, {long} cut short, {no_start} no start; deepest overlap {worst:.1e}"
    );
    assert!(failed.is_empty(), "{failed:?}");
}

/// Steps after which a run of a group is cut short.
const MOST_STEPS: u64 = 2000;
