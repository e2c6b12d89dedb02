//! Event-driven molecular dynamics against the simulation and closed forms, and what it must conserve.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod worlds;

use carom::body::State;
use carom::contact::{Side, Surface};
use carom::edmd::{Edmd, Settings, Unsuited};

use carom::record::{Event, Kind, Memory};
use carom::run::Stopped;
use carom::scene::model::RunSettings;
use carom::shape::{HalfSpace, Shape};
use carom::simulation::Simulation;

use carom::run::World;
use nalgebra::{Unit, Vector3};
use worlds::{body, lattice, mixture, scene, world};

const SPHERE: Shape = Shape::Sphere { radius: 0.5 };
const RICE: Shape = Shape::Ellipsoid { semi_axes: [1.0, 0.5, 0.5] };
const PILLOW: Shape = Shape::Superellipsoid { semi_axes: [1.0, 0.5, 0.5], exponent: 4.0 };

/// The number of collisions, from the environment.
fn collisions(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn by_simulation(world: &World, states: &[State], until: f64) -> (Simulation, Vec<Event>) {
    let settings = RunSettings { until, sample: 0.0, ..RunSettings::default() };
    let mut simulation = Simulation::new(world.clone(), states, settings).unwrap();
    let mut record = Memory::default();
    assert_eq!(simulation.run(&mut record, |_| true), Stopped::Until);
    let impacts = record.events.into_iter().filter(|event| event.kind == Kind::Impact).collect();
    (simulation, impacts)
}

fn by_edmd(world: &World, states: &[State], until: f64) -> (Edmd, Memory) {
    let mut edmd = Edmd::new(world.clone(), states, Settings::default()).unwrap();
    let mut memory = Memory::default();
    assert_eq!(edmd.advance(until, u64::MAX, &mut memory), Some(Stopped::Until));
    (edmd, memory)
}

/// The largest difference of two states; quaternions are compared up to sign.
fn difference(a: &State, b: &State) -> f64 {
    let (p, q) = (a.orientation.coords, b.orientation.coords);
    (a.position - b.position)
        .norm()
        .max((p - q).norm().min((p + q).norm()))
        .max((a.velocity - b.velocity).norm())
        .max((a.angular_velocity - b.angular_velocity).norm())
}

/// Both engines on one scene: the same collisions in the same order, with times, impulses and final states within a tolerance that allows
/// for the growth of rounding errors by chaos.
fn same(world: &World, states: &[State], until: f64, tolerance: f64) -> usize {
    let (simulation, events) = by_simulation(world, states, until);
    let (edmd, memory) = by_edmd(world, states, until);
    assert!(events.len() > 5, "only {} collisions", events.len());
    assert_eq!(events.len(), memory.events.len());
    let mut worst: f64 = 0.0;
    for (event, collision) in events.iter().zip(&memory.events) {
        assert_eq!(event.sides, collision.sides, "{event:?} {collision:?}");
        let errors = [
            (event.time - collision.time).abs(),
            (event.impulse_vector - collision.impulse_vector).norm(),
            (event.normal - collision.normal).norm(),
            (event.approach - collision.approach).abs(),
            (event.separation - collision.separation).abs(),
            (event.energy_after - collision.energy_after).abs() / event.energy_after,
        ];
        worst = errors.into_iter().fold(worst, f64::max);
        assert!(worst < tolerance, "{errors:?} at {event:?} {collision:?}");
    }
    for (a, b) in simulation.states().iter().zip(edmd.states()) {
        worst = worst.max(difference(a, &b));
    }
    println!("{} collisions, off by {worst:e}; {:?}", events.len(), edmd.counts());
    assert!(worst < tolerance, "{worst:e}");
    let audit = edmd.audit();
    assert!(audit.energy_error_max.value < 1e-13 && audit.linear_error_max.value < 1e-13, "{audit:?}");
    assert!(audit.gap_min > -1e-13 && audit.restitution_error_max.value < 1e-13, "{audit:?}");
    events.len()
}

#[test]
fn spheres_collide_as_in_the_simulation() {
    let (world, states) = lattice(2, SPHERE, 0.3, 5);
    let count = same(&world, &states, 1.0, 1e-10);
    assert!(count > 80);
}

#[test]
fn ellipsoids_collide_as_in_the_simulation() {
    let (world, states) = lattice(2, RICE, 0.3, 7);
    same(&world, &states, 0.4, 1e-10);
}

#[test]
fn superellipsoids_collide_as_in_the_simulation() {
    let (world, states) = lattice(2, PILLOW, 0.2, 7);
    same(&world, &states, 0.4, 1e-10);
}

#[test]
fn mixtures_collide_as_in_the_simulation() {
    let small = Shape::Sphere { radius: 0.3 };
    for (seed, length) in [(1, 5.5), (2, 6.0), (3, 7.0)] {
        let (world, states) = mixture(&[SPHERE, RICE, PILLOW, small], 12, length, seed);
        same(&world, &states, 3.0, 1e-10);
    }
}

/// One body has more neighbours, of several kinds, than a chunk holds.
#[test]
fn a_giant_collides_as_in_the_simulation() {
    let giant = Shape::Ellipsoid { semi_axes: [3.0, 2.5, 2.0] };
    let grains = [Shape::Sphere { radius: 0.3 }, Shape::Ellipsoid { semi_axes: [0.4, 0.2, 0.2] }].repeat(75);
    let shapes: Vec<_> = std::iter::once(giant).chain(grains).collect();
    let (world, states) = mixture(&shapes, shapes.len(), 9.0, 6);
    let count = same(&world, &states, 1.2, 1e-10);
    assert!(count > 60, "{count}");
}

#[test]
fn a_room_of_planes_is_like_that_of_the_simulation() {
    let (mut world, mut states) = mixture(&[SPHERE, RICE, PILLOW], 9, 6.0, 11);
    // Walls across x and y, periodic along z.
    world.periodic = Some(Vector3::new(0.0, 0.0, 6.0));
    for (normal, offset) in
        [(Vector3::x(), -1.1), (-Vector3::x(), -7.1), (Vector3::y(), -1.1), (-Vector3::y(), -7.1)]
    {
        world.planes.push(HalfSpace { normal: Unit::new_normalize(normal), offset });
    }
    same(&world, &states, 4.0, 1e-10);
    // One body is fixed.
    world.bodies[0].fixed = true;
    states[0].velocity = Vector3::zeros();
    states[0].angular_velocity = Vector3::zeros();
    same(&world, &states, 3.0, 1e-10);
}

#[test]
fn rough_and_inelastic_bodies_collide_as_in_the_simulation() {
    let (mut world, states) = mixture(&[SPHERE, RICE, SPHERE], 9, 4.0, 4);
    world.surface.kind = Surface::Rough;
    world.surface.restitution = 0.9;
    world.surface.pairs.push(carom::scene::model::SurfacePair {
        sides: [Side::Body(0), Side::Body(1)],
        restitution: 0.5,
        kind: Surface::Smooth,
    });
    same(&world, &states, 3.0, 1e-10);
    world.surface.kind = Surface::Smooth;
    world.surface.restitution = 0.8;
    same(&world, &states, 3.0, 1e-10);
}

#[test]
fn a_cradle_is_one_impact() {
    let bodies = [body(SPHERE, 1.0); 3];
    let mut states = [0.0, 2.0, 3.0].map(|x| State::at(Vector3::new(x, 0.0, 0.0)));
    states[0].velocity.x = 1.0;
    let mut edmd = Edmd::new(world(&bodies, None), &states, Settings::default()).unwrap();
    let mut memory = Memory::default();
    assert_eq!(edmd.advance(2.0, u64::MAX, &mut memory), Some(Stopped::Until));
    let speeds: Vec<f64> = edmd.states().iter().map(|state| state.velocity.x).collect();
    // Newton's law takes both contacts at once.
    for (speed, expected) in speeds.iter().zip([-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]) {
        assert!((speed - expected).abs() < 1e-14, "{speeds:?}");
    }
    assert_eq!((edmd.counts().clusters, memory.events.len()), (1, 2));
}

#[test]
fn a_resumed_run_continues_to_the_bit() {
    for shape in [SPHERE, RICE] {
        let (world, states) = lattice(3, shape, 0.45, 3);
        let settings = Settings::default();
        let mut whole = Edmd::new(world.clone(), &states, settings).unwrap();
        let count = if shape == SPHERE { 30_000 } else { 3000 };
        whole.advance(f64::MAX, count, &mut ());
        let snapshot = whole.snapshot();
        let text = serde_json::to_string(&snapshot).unwrap();
        let read = serde_json::from_str(&text).unwrap();
        assert_eq!(snapshot, read);
        let mut again = Edmd::resume(world.clone(), settings, &read).unwrap();
        whole.advance(f64::MAX, count, &mut ());
        again.advance(f64::MAX, count, &mut ());
        assert_eq!(whole.states(), again.states());
        assert_eq!((whole.time(), whole.audit()), (again.time(), again.audit()));
        let smaller = lattice(2, shape, 0.45, 3).0;
        assert!(Edmd::resume(smaller, settings, &read).is_err());
    }
}

#[test]
fn growth_reaches_the_size_without_overlap() {
    for (shape, packing) in [(SPHERE, 0.2), (RICE, 0.1), (PILLOW, 0.1)] {
        let (small, states) = lattice(3, shape, packing, 9);
        let settings = Settings { growth: 0.3, ..Settings::default() };
        let mut edmd = Edmd::new(small, &states, settings).unwrap();
        assert_eq!(edmd.advance(1.0, u64::MAX, &mut ()), Some(Stopped::Until));
        assert_eq!(edmd.size(), 1.3);
        let (audit, counts) = (edmd.audit(), edmd.counts());
        println!("{counts:?} {audit:?}");
        assert!(counts.collisions > 100);
        assert!(audit.gap_min > -1e-12 && audit.restitution_error_max.value < 1e-12, "{audit:?}");
        assert!(audit.energy_error_max.value < 1e-12 && audit.linear_error_max.value < 1e-12, "{audit:?}");
        // At their new size they are valid initial states.
        let mut bodies = edmd.world().bodies.clone();
        for body in &mut bodies {
            body.shape = body.shape.scaled(edmd.size());
        }
        let grown = world(&bodies, edmd.world().periodic);
        assert!(Edmd::new(grown, &edmd.states(), Settings::default()).is_ok());
    }
}

/// Two spheres that grow: approach and growth close the gap, and growth adds to the speed of separation.
#[test]
fn growing_spheres_meet_as_in_closed_form() {
    let bodies = [body(SPHERE, 1.0), body(SPHERE, 3.0)];
    let mut states = [0.0, 4.0].map(|x| State::at(Vector3::new(x, 0.0, 0.0)));
    states[1].velocity.x = -0.5;
    let settings = Settings { growth: 0.25, ..Settings::default() };
    let mut edmd = Edmd::new(world(&bodies, None), &states, settings).unwrap();
    let mut memory = Memory::default();
    edmd.advance(5.0, 1, &mut memory);
    // 4 − t/2 = 1 + t/4.
    let [collision] = &memory.events[..] else { panic!("{:?}", memory.events) };
    assert!((collision.time - 4.0).abs() < 1e-14);
    assert!((collision.approach + 0.75).abs() < 1e-14 && (collision.separation - 0.75).abs() < 1e-14);
    // Relative velocity from −1/2 to 1/4 + 3/4, by reduced mass 3/4.
    assert!((collision.impulse - 1.5 * 0.75).abs() < 1e-14);
}

#[test]
fn collapse_is_reported_and_the_contact_time_prevents_it() {
    // Three spheres on a line with small k: collisions accumulate.
    let bodies = [body(SPHERE, 1.0); 3];
    let mut states = [0.0, 1.5, 3.2].map(|x| State::at(Vector3::new(x, 0.0, 0.0)));
    states[0].velocity.x = 1.0;
    states[2].velocity.x = -1.0;
    let mut world = world(&bodies, None);
    world.surface.restitution = 0.05;
    let mut edmd = Edmd::new(world.clone(), &states, Settings::default()).unwrap();
    let ended = edmd.advance(100.0, 1_000_000, &mut ());
    println!("{ended:?} {:?} {:?}", edmd.counts(), edmd.audit());
    assert_eq!(ended, Some(Stopped::Stalled));
    assert!(edmd.audit().gap_min > -1e-13 && edmd.audit().restitution_error_max.value < 1e-13);
    let settings = Settings { contact_time: 1e-3, ..Settings::default() };
    let mut edmd = Edmd::new(world, &states, settings).unwrap();
    assert_eq!(edmd.advance(100.0, 1_000_000, &mut ()), Some(Stopped::Until));
    assert!(edmd.counts().elastic > 0 && edmd.audit().gap_min > -1e-13, "{:?}", edmd.audit());
}

#[test]
fn unsuited_worlds_are_rejected() {
    let mut world = world(&[body(SPHERE, 1.0)], None);
    assert_eq!(Edmd::suits(&world), Ok(()));
    world.gravity.z = -9.81;
    assert_eq!(Edmd::suits(&world), Err(Unsuited::Gravity));
    let text = "carom = 1\n[world]\nperiodic = [3, 3, 3]\n[[body]]\nname = \"a\"\nmass = 1\nshape = { sphere = { radius = 1 } }\n[[body]]\nname = \"b\"\nmass = 1\nposition = [1, 0, 0]\nshape = { sphere = { radius = 1 } }\n";
    let (world, states) = World::of(&scene(text));
    let invalid = Edmd::new(world, &states, Settings::default()).unwrap_err();
    println!("{invalid:?}");
    assert!(!invalid.is_empty());
}

/// However often a run is interrupted, it is the same run.
#[test]
fn a_run_in_pieces_is_the_run() {
    let (world, states) = lattice(2, SPHERE, 0.4, 2);
    let mut whole = Edmd::new(world.clone(), &states, Settings::default()).unwrap();
    whole.advance(f64::MAX, 20_000, &mut ());
    let mut pieces = Edmd::new(world, &states, Settings::default()).unwrap();
    for _ in 0..200 {
        pieces.advance(f64::MAX, 100, &mut ());
    }
    assert_eq!(whole.states(), pieces.states());
}

#[test]
fn a_gas_of_spheres_keeps_its_energy_and_never_overlaps() {
    let (world, states) = lattice(10, SPHERE, 0.49, 1);
    let mut edmd = Edmd::new(world, &states, Settings::default()).unwrap();
    assert_eq!(edmd.advance(f64::MAX, collisions("CAROM_SPHERES", 500_000), &mut ()), None);
    let audit = edmd.audit();
    println!("{:?} {audit:?} t = {}", edmd.counts(), edmd.time());
    assert!(audit.energy_error_max.value < 1e-10 && audit.gap_min > -1e-12, "{audit:?}");
    assert!(audit.linear_error_max.value < 1e-12 && audit.restitution_error_max.value < 1e-13, "{audit:?}");
    // Every collision conserves the energy of its pair; the rest is rounding.
    assert!(audit.checks > 4);
}

#[test]
fn a_gas_of_ellipsoids_keeps_its_energy_and_never_overlaps() {
    let (world, states) = lattice(5, RICE, 0.5, 1);
    let mut edmd = Edmd::new(world, &states, Settings::default()).unwrap();
    assert_eq!(edmd.advance(f64::MAX, collisions("CAROM_ELLIPSOIDS", 10_000), &mut ()), None);
    let audit = edmd.audit();
    println!("{:?} {audit:?} t = {}", edmd.counts(), edmd.time());
    assert!(audit.energy_error_max.value < 1e-10 && audit.gap_min > -1e-12, "{audit:?}");
    assert!(audit.linear_error_max.value < 1e-12 && audit.restitution_error_max.value < 1e-12, "{audit:?}");
}

/// Large enough for prefetching, and for many buckets of the queue.
#[test]
fn a_large_system_conserves_energy_and_momentum() {
    let (world, states) = lattice(17, SPHERE, 0.3, 11);
    let mut edmd = Edmd::new(world, &states, Settings::default()).unwrap();
    assert_eq!(edmd.advance(f64::MAX, 60_000, &mut ()), None);
    let (counts, audit) = (edmd.counts(), edmd.audit());
    assert!(states.len() > 16_384 && counts.moves > 10_000, "{counts:?}");
    assert!(audit.energy_error_max.value < 1e-13 && audit.linear_error_max.value < 1e-13, "{audit:?}");
    assert!(audit.gap_min > -1e-13 && audit.restitution_error_max.value < 1e-13, "{audit:?}");
    // No contact was missed: no two bodies overlap.
    let bodies = edmd.world().clone();
    Edmd::new(bodies, &edmd.states(), Settings::default()).unwrap();
}

/// Both engines on a scene with simultaneous contacts: the same rows with the same event numbers, and the same final states.
#[track_caller]
fn same_rows(world: &World, states: &[State], until: f64) -> Vec<u64> {
    let (simulation, events) = by_simulation(world, states, until);
    let (edmd, memory) = by_edmd(world, states, until);
    // Contacts that part at no speed may touch again by rounding.
    let events: Vec<_> = events.into_iter().filter(|event| event.impulse.abs() > 1e-12).collect();
    let collisions: Vec<_> = memory.events.into_iter().filter(|hit| hit.impulse.abs() > 1e-12).collect();
    let rows: Vec<_> = events.iter().map(|event| (event.number, event.sides)).collect();
    let others: Vec<_> = collisions.iter().map(|collision| (collision.number, collision.sides)).collect();
    assert_eq!(rows, others);
    for (event, collision) in events.iter().zip(&collisions) {
        assert!((event.time - collision.time).abs() < 1e-12, "{event:?} {collision:?}");
        assert!((event.impulse_vector - collision.impulse_vector).norm() < 1e-12, "{event:?} {collision:?}");
        assert!(collision.time_error.is_finite() && collision.time_error < 1e-12, "{collision:?}");
        assert!((event.energy_after - collision.energy_after).abs() < 1e-12 * event.energy_after);
    }
    for (a, b) in simulation.states().iter().zip(edmd.states()) {
        assert!(difference(a, &b) < 1e-11, "{a:?} {b:?}");
    }
    for audit in [simulation.audit(), edmd.audit()] {
        for worst in [
            audit.points_error_max,
            audit.impulse_error_max,
            audit.work_error_max,
            audit.unilateral_error_max,
            audit.energy_error_max,
        ] {
            assert!(worst.value < 1e-12, "{audit:?}");
        }
        assert!(audit.gap_min > -1e-12, "{audit:?}");
    }
    rows.into_iter().map(|(number, _)| number).collect()
}

fn striker(x: f64, y: f64) -> State {
    State { velocity: Vector3::x(), ..State::at(Vector3::new(x, y, 0.0)) }
}

/// One sphere strikes two, three and seven that touch, a row, a lattice, and a row at a wall. With 200 bystanders the program would choose
/// this engine.
#[test]
fn simultaneous_contacts_are_one_event_in_both_engines() {
    let third = 3.0_f64.sqrt() / 2.0;
    let at = |places: &[[f64; 2]]| -> Vec<State> {
        places.iter().map(|&[x, y]| State::at(Vector3::new(x, y, 0.0))).collect()
    };
    let mut seven = vec![[0.0, 0.0]];
    for k in 0..6_u32 {
        let angle = f64::from(k) * std::f64::consts::PI / 3.0;
        seven.push([angle.cos(), angle.sin()]);
    }
    let lattice: Vec<[f64; 2]> =
        (0..3).flat_map(|i| (0..3).map(move |j| [f64::from(i), f64::from(j) - 1.0])).collect();
    let row: Vec<[f64; 2]> = (0..5).map(|i| [f64::from(i), 0.0]).collect();
    let wall = HalfSpace { normal: Unit::new_normalize(-Vector3::x()), offset: -5.5 };
    let cases: [(&str, Vec<State>, f64, bool, usize); 7] = [
        ("two at once", at(&[[0.0, 0.5], [0.0, -0.5]]), 0.0, false, 2),
        ("two at once, apart", at(&[[0.0, 0.6], [0.0, -0.6]]), 0.0, false, 2),
        ("three", at(&[[0.0, 0.5], [0.0, -0.5], [third, 0.0]]), 0.0, false, 4),
        ("seven", at(&seven), 0.0, false, 4),
        ("a lattice", at(&lattice), 0.5, false, 7),
        ("a row", at(&row), 0.0, false, 5),
        ("a row at a wall", at(&[[3.0, 0.0], [4.0, 0.0], [5.0, 0.0]]), 0.0, true, 4),
    ];
    for restitution in [1.0, 0.5] {
        for (name, touched, y, walled, least) in &cases {
            let mut states = vec![striker(-3.0, *y)];
            states.extend(touched);
            let far =
                |k: u32| Vector3::new(f64::from(k % 20) * 1.5 - 40.0, f64::from(k / 20) * 1.5 + 9.0, 30.0);
            states.extend((0..200).map(|k| State::at(far(k))));
            let mut world = world(&vec![body(SPHERE, 1.0); states.len()], None);
            world.surface.restitution = restitution;
            if *walled {
                world.planes.push(wall);
            }
            let numbers = same_rows(&world, &states, 6.0);
            let first = numbers.iter().filter(|number| **number == 0).count();
            println!("{name}: {} rows, {first} in the first event", numbers.len());
            assert!(first >= *least, "{name}: {first} rows in the first event");
        }
    }
}
