//! One run by several threads: all results are those of one thread, to the bit.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod worlds;

use carom::body::State;
use carom::contact::Surface;
use carom::edmd::{Edmd, Settings};
use carom::record::{Event, Memory};
use carom::run::Counts;

use carom::run::Audit;
use carom::run::World;
use carom::shape::{HalfSpace, Shape};
use nalgebra::{Unit, Vector3};
use worlds::{lattice, mixture};

const SPHERE: Shape = Shape::Sphere { radius: 0.5 };
const RICE: Shape = Shape::Ellipsoid { semi_axes: [1.0, 0.5, 0.5] };
const PILLOW: Shape = Shape::Superellipsoid { semi_axes: [1.0, 0.5, 0.5], exponent: 4.0 };

/// All results of a run: its events, final states, counts, audit and time.
type Run = (Vec<Event>, Vec<State>, Counts, Audit, f64);

/// A run of `events` collisions in two parts, and some time after them.
fn run(world: &World, states: &[State], settings: Settings, events: u64, threads: usize) -> Run {
    let mut edmd = Edmd::new(world.clone(), states, settings).unwrap();
    edmd.set_threads(threads);
    let mut memory = Memory::default();
    for part in [events / 3, events - events / 3] {
        assert_eq!(edmd.advance(f64::MAX, part, &mut memory), None, "{:?}", edmd.audit());
    }
    let until = edmd.time() * (1.0 + 1.0 / 64.0);
    edmd.advance(until, u64::MAX, &mut memory);
    (memory.events, edmd.states(), edmd.counts(), edmd.audit(), edmd.time())
}

fn is_the_same(world: &World, states: &[State], settings: Settings, events: u64) -> Run {
    let alone = run(world, states, settings, events, 1);
    for threads in [2, 3] {
        let parallel = run(world, states, settings, events, threads);
        let first = alone.0.iter().zip(&parallel.0).position(|(a, b)| a != b);
        assert!(first.is_none(), "with {threads} threads collision {first:?} differs");
        assert!(alone == parallel, "with {threads} threads: {:?} and {:?}", alone.2, parallel.2);
    }
    alone
}

/// Dense, so that many speculated events are invalidated. More than 1500 bodies, enough for three threads.
#[test]
fn threads_change_nothing_for_ellipsoids() {
    let (world, states) = lattice(8, RICE, 0.5, 3);
    let (.., counts, _, _) = is_the_same(&world, &states, Settings::default(), 6000);
    assert!(counts.moves > 50 && counts.searches > 30_000, "{counts:?}");
}

#[test]
fn threads_change_nothing_for_superellipsoids() {
    let (world, states) = lattice(7, PILLOW, 0.4, 5);
    is_the_same(&world, &states, Settings::default(), 1500);
}

/// Spheres among other bodies; then with walls, a fixed body and rough, inelastic surfaces.
#[test]
fn threads_change_nothing_for_mixtures() {
    let (mut world, mut states) = mixture(&[SPHERE, RICE, PILLOW, SPHERE], 1500, 40.0, 7);
    is_the_same(&world, &states, Settings::default(), 2000);
    world.periodic = Some(Vector3::new(0.0, 40.0, 40.0));
    for (normal, offset) in [(Vector3::x(), -1.1), (-Vector3::x(), -41.1)] {
        world.planes.push(HalfSpace { normal: Unit::new_normalize(normal), offset });
    }
    world.bodies[1].fixed = true;
    (states[1].velocity, states[1].angular_velocity) = (Vector3::zeros(), Vector3::zeros());
    world.surface.kind = Surface::Rough;
    world.surface.restitution = 0.9;
    let settings = Settings { contact_time: 0.1, ..Settings::default() };
    let (.., counts, _, _) = is_the_same(&world, &states, settings, 1500);
    assert!(counts.elastic > 0, "{counts:?}");
}

#[test]
fn threads_change_nothing_for_growth() {
    let (world, states) = lattice(7, RICE, 0.2, 9);
    let settings = Settings { growth: 0.3, ..Settings::default() };
    is_the_same(&world, &states, settings, 1500);
}

/// Impacts of several contacts at once: on a drifting lattice some bodies move straight between their neighbours.
#[test]
fn threads_change_nothing_for_clusters() {
    let (world, mut states) = lattice(7, RICE, 0.4, 11);
    for (k, state) in states.iter_mut().enumerate() {
        let speed = if k % 40 == 0 { 1.0 + 1e-3 * k as f64 } else { 0.0 };
        (state.velocity, state.angular_velocity) = (Vector3::x() * speed + Vector3::y(), Vector3::zeros());
    }
    let (.., counts, _, _) = is_the_same(&world, &states, Settings::default(), 1200);
    assert!(counts.clusters > 0, "{counts:?}");
}
