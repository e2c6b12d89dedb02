//! Crowds against the simulation, closed forms, and what must be kept.
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

/// How many collisions, from the environment.
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

fn by_crowd(world: &World, states: &[State], until: f64) -> (Edmd, Memory) {
    let mut crowd = Edmd::new(world.clone(), states, Settings::default()).unwrap();
    let mut memory = Memory::default();
    assert_eq!(crowd.advance(until, u64::MAX, &mut memory), Some(Stopped::Until));
    (crowd, memory)
}

/// The distance of two states, orientations by their quaternions up to sign.
fn difference(a: &State, b: &State) -> f64 {
    let (p, q) = (a.orientation.coords, b.orientation.coords);
    (a.position - b.position)
        .norm()
        .max((p - q).norm().min((p + q).norm()))
        .max((a.velocity - b.velocity).norm())
        .max((a.angular_velocity - b.angular_velocity).norm())
}

/// Both on one scene: the same collisions in the same order, times, impulses and final states within a tolerance that
/// leaves room for how chaos magnifies rounding.
fn same(world: &World, states: &[State], until: f64, tolerance: f64) -> usize {
    let (simulation, events) = by_simulation(world, states, until);
    let (crowd, memory) = by_crowd(world, states, until);
    assert!(events.len() > 5, "{} collisions say little", events.len());
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
    for (a, b) in simulation.states().iter().zip(crowd.states()) {
        worst = worst.max(difference(a, &b));
    }
    println!("{} collisions, off by {worst:e}; {:?}", events.len(), crowd.counts());
    assert!(worst < tolerance, "{worst:e}");
    let audit = crowd.audit();
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

/// One has more neighbours than are looked at in one go, of several kinds.
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
    // And one that stands fast.
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
    let mut crowd = Edmd::new(world(&bodies, None), &states, Settings::default()).unwrap();
    let mut memory = Memory::default();
    assert_eq!(crowd.advance(2.0, u64::MAX, &mut memory), Some(Stopped::Until));
    let speeds: Vec<f64> = crowd.states().iter().map(|state| state.velocity.x).collect();
    // Newton's law takes both contacts at once.
    for (speed, expected) in speeds.iter().zip([-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]) {
        assert!((speed - expected).abs() < 1e-14, "{speeds:?}");
    }
    assert_eq!((crowd.counts().clusters, memory.events.len()), (1, 2));
}

#[test]
fn a_resumed_crowd_goes_on_to_the_bit() {
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
        let mut crowd = Edmd::new(small, &states, settings).unwrap();
        assert_eq!(crowd.advance(1.0, u64::MAX, &mut ()), Some(Stopped::Until));
        assert_eq!(crowd.size(), 1.3);
        let (audit, counts) = (crowd.audit(), crowd.counts());
        println!("{counts:?} {audit:?}");
        assert!(counts.collisions > 100);
        assert!(audit.gap_min > -1e-12 && audit.restitution_error_max.value < 1e-12, "{audit:?}");
        assert!(audit.energy_error_max.value < 1e-12 && audit.linear_error_max.value < 1e-12, "{audit:?}");
        // At their new size they are a start without overlap of their own.
        let mut bodies = crowd.world().bodies.clone();
        for body in &mut bodies {
            body.shape = body.shape.scaled(crowd.size());
        }
        let grown = world(&bodies, crowd.world().periodic);
        assert!(Edmd::new(grown, &crowd.states(), Settings::default()).is_ok());
    }
}

/// Two balls that grow: they meet when the gap that growth and approach leave is closed, and part by what growth adds.
#[test]
fn growing_balls_meet_in_closed_form() {
    let bodies = [body(SPHERE, 1.0), body(SPHERE, 3.0)];
    let mut states = [0.0, 4.0].map(|x| State::at(Vector3::new(x, 0.0, 0.0)));
    states[1].velocity.x = -0.5;
    let settings = Settings { growth: 0.25, ..Settings::default() };
    let mut crowd = Edmd::new(world(&bodies, None), &states, settings).unwrap();
    let mut memory = Memory::default();
    crowd.advance(5.0, 1, &mut memory);
    // 4 − t/2 = 1 + t/4.
    let [collision] = &memory.events[..] else { panic!("{:?}", memory.events) };
    assert!((collision.time - 4.0).abs() < 1e-14);
    assert!((collision.approach + 0.75).abs() < 1e-14 && (collision.separation - 0.75).abs() < 1e-14);
    // Relative velocity from −1/2 to 1/4 + 3/4, by reduced mass 3/4.
    assert!((collision.impulse - 1.5 * 0.75).abs() < 1e-14);
}

#[test]
fn collapse_is_told_and_the_contact_time_lifts_it() {
    // Three balls on a line, k small: collisions accumulate.
    let bodies = [body(SPHERE, 1.0); 3];
    let mut states = [0.0, 1.5, 3.2].map(|x| State::at(Vector3::new(x, 0.0, 0.0)));
    states[0].velocity.x = 1.0;
    states[2].velocity.x = -1.0;
    let mut world = world(&bodies, None);
    world.surface.restitution = 0.05;
    let mut crowd = Edmd::new(world.clone(), &states, Settings::default()).unwrap();
    let ended = crowd.advance(100.0, 1_000_000, &mut ());
    println!("{ended:?} {:?} {:?}", crowd.counts(), crowd.audit());
    assert_eq!(ended, Some(Stopped::Stalled));
    assert!(crowd.audit().gap_min > -1e-13 && crowd.audit().restitution_error_max.value < 1e-13);
    let settings = Settings { contact_time: 1e-3, ..Settings::default() };
    let mut crowd = Edmd::new(world, &states, settings).unwrap();
    assert_eq!(crowd.advance(100.0, 1_000_000, &mut ()), Some(Stopped::Until));
    assert!(crowd.counts().elastic > 0 && crowd.audit().gap_min > -1e-13, "{:?}", crowd.audit());
}

#[test]
fn what_does_not_suit_is_said() {
    let mut world = world(&[body(SPHERE, 1.0)], None);
    assert_eq!(Edmd::suits(&world), Ok(()));
    world.gravity.z = -9.81;
    assert_eq!(Edmd::suits(&world), Err(Unsuited::Gravity));
    let text = "carom = 1\n[world]\nperiodic = [3, 3, 3]\n[[body]]\nname = \"a\"\nmass = 1\nshape = { sphere = { radius = 1 } }\n[[body]]\nname = \"b\"\nmass = 1\nposition = [1, 0, 0]\nshape = { sphere = { radius = 1 } }\n";
    let (world, states) = World::of(&scene(text));
    let unfit = Edmd::new(world, &states, Settings::default()).unwrap_err();
    println!("{unfit:?}");
    assert!(!unfit.is_empty());
}

/// Whatever the order in memory and however often it is made anew, the same run comes out.
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
    let mut crowd = Edmd::new(world, &states, Settings::default()).unwrap();
    assert_eq!(crowd.advance(f64::MAX, collisions("CAROM_SPHERES", 500_000), &mut ()), None);
    let audit = crowd.audit();
    println!("{:?} {audit:?} t = {}", crowd.counts(), crowd.time());
    assert!(audit.energy_error_max.value < 1e-10 && audit.gap_min > -1e-12, "{audit:?}");
    assert!(audit.linear_error_max.value < 1e-12 && audit.restitution_error_max.value < 1e-13, "{audit:?}");
    // 2 (v₁² + v₂²)·... every collision keeps the energy of its pair: what is left is rounding.
    assert!(audit.checks > 4);
}

#[test]
fn a_gas_of_ellipsoids_keeps_its_energy_and_never_overlaps() {
    let (world, states) = lattice(5, RICE, 0.5, 1);
    let mut crowd = Edmd::new(world, &states, Settings::default()).unwrap();
    assert_eq!(crowd.advance(f64::MAX, collisions("CAROM_ELLIPSOIDS", 10_000), &mut ()), None);
    let audit = crowd.audit();
    println!("{:?} {audit:?} t = {}", crowd.counts(), crowd.time());
    assert!(audit.energy_error_max.value < 1e-10 && audit.gap_min > -1e-12, "{audit:?}");
    assert!(audit.linear_error_max.value < 1e-12 && audit.restitution_error_max.value < 1e-12, "{audit:?}");
}

/// Large enough that memory is asked for ahead, and that the calendar has many weeks.
#[test]
fn a_large_crowd_keeps_what_it_must() {
    let (world, states) = lattice(17, SPHERE, 0.3, 11);
    let mut crowd = Edmd::new(world, &states, Settings::default()).unwrap();
    assert_eq!(crowd.advance(f64::MAX, 60_000, &mut ()), None);
    let (counts, audit) = (crowd.counts(), crowd.audit());
    assert!(states.len() > 16_384 && counts.moves > 10_000, "{counts:?}");
    assert!(audit.energy_error_max.value < 1e-13 && audit.linear_error_max.value < 1e-13, "{audit:?}");
    assert!(audit.gap_min > -1e-13 && audit.restitution_error_max.value < 1e-13, "{audit:?}");
    // Nobody has been left out: no two overlap.
    let bodies = crowd.world().clone();
    Edmd::new(bodies, &crowd.states(), Settings::default()).unwrap();
}

/// Both loops on a scene in which several touch at the same time: the same rows under the same numbers, and the same end.
#[track_caller]
fn same_rows(world: &World, states: &[State], until: f64) -> Vec<u64> {
    let (simulation, events) = by_simulation(world, states, until);
    let (crowd, memory) = by_crowd(world, states, until);
    // Contacts that part without speed may touch again by rounding.
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
    for (a, b) in simulation.states().iter().zip(crowd.states()) {
        assert!(difference(a, &b) < 1e-11, "{a:?} {b:?}");
    }
    for audit in [simulation.audit(), crowd.audit()] {
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

/// One ball strikes two, three and seven that touch, a row, a lattice, and one that leans on a wall; 200 bystanders make the
/// scene one for crowds.
#[test]
fn several_that_touch_are_one_event_in_both_loops() {
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
