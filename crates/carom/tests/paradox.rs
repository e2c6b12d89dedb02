//! Paradoxes found by the search, each verified by the exact gap on both sides; and cases in which none exists.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use carom::body::{Body, State};
use carom::contact::classify::Type;
use carom::contact::paradox::{Outcome, Paradox, Quest, find};
use carom::gap::gap;
use carom::motion::{Derivatives, Flight};
use carom::shape::Shape;
use nalgebra::Vector3;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn body(shape: Shape) -> Body {
    Body { shape, mass: 1.0, inertia: shape.unit_inertia(), fixed: false }
}

fn superellipsoid(semi_axes: [f64; 3], exponent: f64) -> Shape {
    Shape::Superellipsoid { semi_axes, exponent }
}

fn ellipsoid(semi_axes: [f64; 3]) -> Shape {
    Shape::Ellipsoid { semi_axes }
}

/// The search's answer, checked from outside: gaps of the exact flight before and after, and its cubic law.
fn checked(shapes: [Shape; 2], kind: Type, planar: bool, seed: u64) -> Paradox {
    let bodies = shapes.map(body);
    let Outcome::Found(found) = find(&Quest { bodies, kind, planar, seed }) else {
        panic!("none of {shapes:?}, {kind:?}, planar {planar}, seed {seed}");
    };
    let flights = [0, 1].map(|k| Flight::new(&bodies[k], &found.states[k], &Vector3::zeros()));
    let gap_at = |t: f64| {
        gap((&shapes[0], &flights[0].at(t).pose()), (&shapes[1], &flights[1].at(t).pose())).unwrap().gap
    };
    assert_eq!(found.class.kind, kind);
    assert!(gap_at(0.0).abs() <= 1e-13);
    let proof = &found.certificate;
    for (before, after) in proof.before.iter().zip(&proof.after) {
        assert!(before.0 < 0.0 && gap_at(before.0) == before.1 && before.1 > 0.0);
        assert!(after.0 > 0.0 && gap_at(after.0) == after.1 && after.1 < 0.0);
    }
    let (t, depth) = proof.after[0];
    let cubic = found.class.kinematics.g3 * t * t * t / 6.0;
    assert!((depth / cubic - 1.0).abs() < 0.5, "{depth:e} {cubic:e}");
    // All the way from afar: no contact on a fine grid of times either.
    for i in 1..200 {
        let t = proof.apart_since + (proof.before[0].0 - proof.apart_since) * f64::from(i) / 200.0;
        assert!(gap_at(t) > 0.0, "{t}");
    }
    if planar {
        for state in &found.states {
            assert!(state.position.z == 0.0 && state.velocity.z.abs() < 1e-15);
            assert!(state.angular_velocity.x == 0.0 && state.angular_velocity.y == 0.0);
        }
    }
    *found
}

#[test]
fn twenty_of_each_type() {
    let mut source = ChaCha8Rng::seed_from_u64(1);
    let mut axes = || [(); 3].map(|()| source.random_range(0.5..2.5));
    for seed in 0..24 {
        let exponent = [3.0, 4.0, 5.5, 8.0][usize::try_from(seed % 4).unwrap()];
        let mixed = [superellipsoid(axes(), exponent), ellipsoid(axes())];
        let pairs = [mixed, [mixed[1], mixed[0]], [mixed[0], superellipsoid(axes(), 2.5)]];
        let shapes = pairs[usize::try_from(seed % 3).unwrap()];
        for kind in [Type::Paradox2bStar, Type::Paradox2b, Type::ParadoxMarginal] {
            checked(shapes, kind, false, seed);
        }
    }
}

#[test]
fn two_ellipsoids_and_the_plane() {
    let mut source = ChaCha8Rng::seed_from_u64(2);
    // In the plane the search can come back empty for nearly round ellipses: these are not.
    let mut axes =
        || [source.random_range(2.0..3.0), source.random_range(0.5..1.0), source.random_range(0.5..2.5)];
    for seed in 0..24 {
        let shapes = [ellipsoid(axes()), ellipsoid(axes())];
        for kind in [Type::Paradox2b, Type::ParadoxMarginal] {
            for planar in [false, true] {
                checked(shapes, kind, planar, seed);
            }
        }
        checked([superellipsoid(axes(), 4.0), ellipsoid(axes())], Type::Paradox2b, true, seed);
    }
}

#[test]
fn the_same_seed_gives_the_same_answer() {
    let shapes = [superellipsoid([1.0, 2.0, 3.0], 4.0), ellipsoid([2.0, 1.0, 1.0])];
    let [one, two, other] = [7, 7, 8].map(|seed| checked(shapes, Type::Paradox2bStar, false, seed));
    assert!(one == two && one.states != other.states);
}

#[test]
fn where_there_is_none() {
    let (ball, other) = (Shape::Sphere { radius: 1.0 }, Shape::Sphere { radius: 0.3 });
    let quest =
        |shapes: [Shape; 2], kind, planar| find(&Quest { bodies: shapes.map(body), kind, planar, seed: 0 });
    let two = [ellipsoid([2.0, 1.0, 1.5]), ellipsoid([1.0, 0.5, 0.7])];
    let boxes = [superellipsoid([1.0, 2.0, 3.0], 4.0), superellipsoid([1.0, 1.0, 1.0], 6.0)];
    for (outcome, word) in [
        (quest(two, Type::Paradox2bStar, false), "homogeneous ellipsoid"),
        (quest([two[0], superellipsoid([1.0; 3], 2.0)], Type::Paradox2bStar, false), "homogeneous ellipsoid"),
        (quest(two, Type::Paradox2bStar, true), "in the plane"),
        (quest([ball, other], Type::ParadoxMarginal, false), "two balls"),
        (quest(boxes, Type::Paradox2b, true), "flat"),
        (quest([ball, Shape::Point], Type::Paradox2b, false), "extent"),
        (quest(two, Type::Graze, false), "not a type"),
    ] {
        let Outcome::Impossible(reason) = outcome else { panic!("{outcome:?}") };
        assert!(reason.to_string().contains(word), "{reason}");
    }
}

/// [PVWZ]'s proof, on which the impossibility rests: n·v̇ ≤ 0 everywhere on a free homogeneous ellipsoid.
#[test]
fn the_normal_acceleration_of_a_free_ellipsoid_is_never_positive() {
    let count = std::env::var("CAROM_SAMPLES").map_or(1_000_000, |text| text.parse().unwrap());
    let mut source = ChaCha8Rng::seed_from_u64(3);
    let mut most = f64::NEG_INFINITY;
    for _ in 0..count {
        let body = body(ellipsoid([(); 3].map(|()| 10.0_f64.powf(source.random_range(-1.5..1.5)))));
        let mut vector = || Vector3::from_fn(|_, _| source.random_range(-1.0..1.0));
        let (x, spin) = (vector(), vector());
        let surface = body.shape.osculate(&x);
        let state = State { angular_velocity: spin, ..State::at(Vector3::zeros()) };
        let rate = Derivatives::new(&body, &state, &Vector3::zeros()).angular_acceleration;
        let acceleration = rate.cross(&surface.point) + spin.cross(&spin.cross(&surface.point));
        let size = (rate.norm() + spin.norm_squared()) * surface.point.norm();
        most = most.max(surface.normal.dot(&acceleration) / size);
    }
    println!("{count} samples, the greatest {most:.1e} of its terms");
    assert!(most <= 1e-15, "{most:e}");
    // The same of a superellipsoid is positive at places, which is what the paper's example needs.
    let body = body(superellipsoid([1.0, 2.0, 3.0], 4.0));
    let positive = (0..10_000).any(|_| {
        let mut vector = || Vector3::from_fn(|_, _| source.random_range(-1.0..1.0));
        let (x, spin) = (vector(), vector());
        let surface = body.shape.osculate(&x);
        let state = State { angular_velocity: spin, ..State::at(Vector3::zeros()) };
        let rate = Derivatives::new(&body, &state, &Vector3::zeros()).angular_acceleration;
        surface.normal.dot(&(rate.cross(&surface.point) + spin.cross(&spin.cross(&surface.point)))) > 0.01
    });
    assert!(positive);
}
