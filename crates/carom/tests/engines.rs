//! Every scene that both engines can run is run by both: scenes of `cases/` and random ones, impacts of several contacts among them.
//! Events, states and audits are compared.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod worlds;

use std::fs;
use std::path::{Path, PathBuf};

use carom::body::State;
use carom::contact::Surface;
use carom::edmd::{Edmd, Settings};
use carom::record::{Event, Kind, Memory};
use carom::run::{Audit, Stopped, World};
use carom::scene::model::RunSettings;
use carom::scene::{Format, file};
use carom::shape::{HalfSpace, Shape};
use carom::simulation::Simulation;
use nalgebra::{Unit, UnitQuaternion, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use worlds::{body, world};

/// Events at most.
const MOST: u32 = 40;

/// What rounding leaves at first, by how much one impact may magnify it, and how far it may go before the rest says nothing.
const ROUNDING: f64 = 1e-12;
const MAGNIFIED: f64 = 1e3;
const CHAOS: f64 = 1e-5;

/// What an engine made of a world.
struct Ran {
    events: Vec<Event>,
    states: Vec<State>,
    audit: Audit,
    stopped: Option<Stopped>,
}

fn by_simulation(world: &World, states: &[State], until: f64) -> Ran {
    let settings = RunSettings { until, sample: 0.0, max_events: MOST as usize, ..RunSettings::default() };
    let mut simulation = Simulation::new(world.clone(), states, settings).unwrap();
    let mut memory = Memory::default();
    let stopped = Some(simulation.run(&mut memory, |_| true));
    Ran { events: memory.events, states: simulation.states(), audit: simulation.audit(), stopped }
}

fn by_edmd(world: &World, states: &[State], until: f64) -> Ran {
    let mut edmd =
        Edmd::new(world.clone(), states, Settings { max_events: u64::from(MOST), ..Settings::default() })
            .unwrap();
    let mut memory = Memory::default();
    let stopped = edmd.advance(until, u64::MAX, &mut memory);
    Ran { events: memory.events, states: edmd.states(), audit: edmd.audit(), stopped }
}

/// Compares the two; how many impacts there were, or none where contacts are held, which only one engine does.
fn compare(name: &str, world: &World, states: &[State], until: f64) -> Option<usize> {
    // Without bounce bodies stay together, which only one engine follows.
    let rules = &world.surface;
    if rules.restitution == 0.0 || rules.pairs.iter().any(|pair| pair.restitution == 0.0) {
        return None;
    }
    let one = by_simulation(world, states, until);
    let lasts = |event: &Event| !matches!(event.kind, Kind::Impact | Kind::Graze);
    if one.events.iter().any(lasts) || one.stopped == Some(Stopped::Stalled) {
        return None;
    }
    let two = by_edmd(world, states, until);
    // Balls that touch and close by rounding strike by rounding, again and again, in an engine that holds nothing.
    if two.stopped == Some(Stopped::Stalled) {
        return None;
    }
    assert_eq!(one.stopped, two.stopped, "{name}: {:?}", two.events.last());
    // A graze is an event of one engine and counted by the other, to whom an approach of its rounding may be an impact: compared is what
    // comes before.
    let first_graze = one.events.iter().position(|event| event.kind == Kind::Graze);
    let impacts: Vec<&Event> = one.events[..first_graze.unwrap_or(one.events.len())].iter().collect();
    let grazes = first_graze.is_some();
    if !grazes {
        assert_eq!(impacts.len(), two.events.len(), "{name}: {impacts:#?} {:#?}", two.events);
    }
    let mut left: Vec<&Event> = two.events.iter().collect();
    let mut off: f64 = 0.0;
    let mut numbers: Vec<[u64; 2]> = Vec::new();
    let speed = states.iter().map(|s| s.velocity.norm() + s.angular_velocity.norm()).fold(0.0, f64::max);
    let mass = world.bodies.iter().map(|body| body.mass).fold(0.0, f64::max);
    for (k, a) in impacts.iter().enumerate() {
        let allowed = (MAGNIFIED * off).max(ROUNDING);
        if allowed > CHAOS {
            return Some(k);
        }
        // What happens at one time in different places has no order.
        let same = |b: &&Event| b.sides == a.sides && (a.time - b.time).abs() * speed < allowed;
        let Some(place) = left.iter().position(same) else {
            panic!("{name}: {k}: {a:?}\nagainst {:?}", two.events.get(k));
        };
        let b = left.remove(place);
        assert_eq!((a.kind, a.class), (b.kind, b.class), "{name}: {k}");
        numbers.push([a.number, b.number]);
        let errors = [
            (a.time - b.time).abs() * speed,
            beside(a.point - b.point, world).norm(),
            (a.normal - b.normal).norm(),
            (a.between - b.between).norm(),
            (a.approach - b.approach).abs() / speed,
            (a.separation - b.separation).abs() / speed,
            (a.impulse - b.impulse).abs() / (mass * speed),
            (a.impulse_vector - b.impulse_vector).norm() / (mass * speed),
            ((a.energy_after - a.energy_before) - (b.energy_after - b.energy_before)).abs()
                / (mass * speed * speed),
        ];
        let worst = errors.into_iter().fold(0.0, f64::max);
        assert!(worst < allowed, "{name}: {k}: {errors:?}\n{a:?}\n{b:?}");
        off = off.max(worst);
    }
    // Contacts of one impact in one engine are of one impact in the other.
    for [a, b] in &numbers {
        let split = numbers.iter().find(|[c, d]| (a == c) != (b == d));
        assert_eq!(split, None, "{name}: {a} {b}");
    }
    if one.stopped == Some(Stopped::Until) && !grazes {
        for (a, b) in one.states.iter().zip(&two.states) {
            let (p, q) = (a.orientation.coords, b.orientation.coords);
            let worst = ((a.position - b.position).norm())
                .max((p - q).norm().min((p + q).norm()))
                .max((a.velocity - b.velocity).norm() / speed);
            assert!(worst < (MAGNIFIED * off).max(ROUNDING), "{name}: {worst:e}");
        }
    }
    for audit in [one.audit, two.audit] {
        let worst = [
            audit.energy_error_max.value,
            audit.linear_error_max.value,
            audit.points_error_max.value,
            audit.impulse_error_max.value,
            audit.work_error_max.value,
            audit.restitution_error_max.value,
            audit.unilateral_error_max.value,
        ];
        assert!(worst.iter().all(|error| *error < 1e-11), "{name}: {audit:?}");
    }
    Some(impacts.len())
}

/// A displacement, whole boxes taken away.
fn beside(displacement: Vector3<f64>, world: &World) -> Vector3<f64> {
    let lengths = world.periodic.unwrap_or_default();
    displacement
        .zip_map(&lengths, |x, length| if length > 0.0 { x - length * (x / length).round() } else { x })
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .collect();
    found.sort();
    found
}

#[test]
fn scenes_of_the_repository() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases");
    let (mut ran, mut impacts) = (0, 0);
    for path in files(&cases) {
        let format = match path.extension().and_then(|x| x.to_str()) {
            Some("toml") => Format::Toml,
            Some("json") => Format::Json,
            _ => continue,
        };
        let Ok(scene) = file::read(&fs::read_to_string(&path).unwrap(), format) else { continue };
        let (world, states) = World::of(&scene);
        let plain = scene.fills.is_empty() && scene.joints.is_empty() && scene.loads.is_empty();
        if !plain || Edmd::suits(&world).is_err() || states.len() > 300 {
            continue;
        }
        let name = path.display().to_string();
        if let Some(count) = compare(&name, &world, &states, scene.run.until) {
            ran += 1;
            impacts += count;
        }
    }
    println!("{ran} scenes, {impacts} impacts");
    assert!(ran >= 10 && impacts >= 100, "{ran} scenes, {impacts} impacts");
}

/// Bodies of all shapes on a lattice, in a box, among planes or free; equal balls that touch their neighbours in one of four.
fn random_world(source: &mut ChaCha8Rng) -> (World, Vec<State>) {
    let touching = source.random_range(0..4) == 0;
    let side: usize = source.random_range(2..4);
    let mut bodies = Vec::new();
    let mut states = Vec::new();
    for cell in 0..side * side * source.random_range(1..3) {
        let place = [cell % side, cell / side % side, cell / side / side];
        let position = Vector3::from_fn(|i, _| (place[i] as f64 + 0.5) * if touching { 1.0 } else { 2.6 });
        let mut axis = || source.random_range(0.3..1.0);
        let semi_axes = [axis(), axis(), axis()];
        let shape = match source.random_range(0..3) {
            _ if touching => Shape::Sphere { radius: 0.5 },
            0 => Shape::Sphere { radius: semi_axes[0] },
            1 => Shape::Ellipsoid { semi_axes },
            _ => Shape::Superellipsoid { semi_axes, exponent: 4.0 },
        };
        let mut state = State::at(position);
        let mut number = || source.random_range(-1.0..1.0);
        let turn = Vector3::new(number(), number(), number());
        state.orientation = UnitQuaternion::from_scaled_axis(turn);
        if !touching || cell == 0 {
            state.velocity = Vector3::new(number(), number(), number());
            state.angular_velocity = Vector3::new(number(), number(), number());
        }
        bodies.push(body(shape, if touching { 1.0 } else { source.random_range(0.5..2.0) }));
        states.push(state);
    }
    let length = side as f64 * 2.6 + 0.5;
    let walls = source.random_range(0..3);
    let lengths = (walls == 0 && !touching).then(|| Vector3::repeat(length));
    let mut world = world(&bodies, lengths);
    if walls == 1 {
        for k in 0..6 {
            let normal = Vector3::from_fn(|i, _| if i == k / 2 { [1.0, -1.0][k % 2] } else { 0.0 });
            let offset = if k % 2 == 0 { -0.2 } else { -length };
            world.planes.push(HalfSpace { normal: Unit::new_normalize(normal), offset });
        }
    }
    world.surface.restitution = [1.0, 0.9, 0.5][source.random_range(0..3)];
    world.surface.kind =
        [Surface::Smooth, Surface::Smooth, Surface::Rough, Surface::Coulomb(0.3)][source.random_range(0..4)];
    (world, states)
}

#[test]
fn random_scenes() {
    let count =
        std::env::var("CAROM_SCENES").ok().and_then(|text| text.parse::<u64>().ok()).unwrap_or(1) * 100;
    let (mut ran, mut impacts, mut held) = (0, 0, 0);
    for seed in 0..count {
        let (world, states) = random_world(&mut ChaCha8Rng::seed_from_u64(seed));
        match compare(&format!("seed {seed}"), &world, &states, 4.0) {
            Some(found) => {
                ran += 1;
                impacts += found;
            }
            None => held += 1,
        }
    }
    println!("{ran} scenes, {impacts} impacts; in {held} contacts are held");
    assert!(ran * 2 > count && impacts as u64 > 5 * count, "{ran} scenes, {impacts} impacts, {held} held");
}
