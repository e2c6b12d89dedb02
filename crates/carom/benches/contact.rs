//! The gap and the flight against their limits, side by side in one run: `cargo bench -p carom --bench contact`.
//!
//! - `gap`: 256 pairs of bodies of aspect ratio to 10, a twentieth of their size apart, the same axes and turns for every
//!   shape. *Cold* knows nothing; *warm* has the normal of an instant before, when both bodies were turned by a
//!   hundredth and moved by a hundredth of their size. The limits: ellipsoids cold 3 µs, warm 1 µs; superellipsoids
//!   within five times the ellipsoids.
//! - `pose`: position, attitude and velocities of a tumbling body at a time. The limit is 300 ns.
#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]

use carom::body::{Body, State};
use carom::gap::{gap, gap_near};
use carom::motion::Flight;
use carom::shape::Shape;
use divan::{AllocProfiler, Bencher, black_box};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

#[global_allocator]
static ALLOC: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// Shapes by name: one exponent for both bodies.
const SHAPES: [&str; 6] = ["sphere", "p=2", "p=4", "p=2.5", "p=7.3", "p=20"];

fn shape(name: &str, semi_axes: [f64; 3]) -> Shape {
    match name {
        "sphere" => Shape::Sphere { radius: semi_axes[0] },
        "p=2" => Shape::Ellipsoid { semi_axes },
        _ => Shape::Superellipsoid { semi_axes, exponent: name[2..].parse().unwrap() },
    }
}

struct Case {
    shapes: [Shape; 2],
    poses: [Isometry3<f64>; 2],
    /// Of the instant before.
    normal: Vector3<f64>,
}

fn vector(source: &mut ChaCha8Rng) -> Vector3<f64> {
    Vector3::from_fn(|_, _| source.random_range(-1.0..1.0))
}

fn cases(name: &str) -> Vec<Case> {
    let mut source = ChaCha8Rng::seed_from_u64(4);
    (0..256)
        .map(|_| {
            let shapes = [(); 2]
                .map(|()| [(); 3].map(|()| 10.0_f64.powf(source.random_range(-0.5..0.5))))
                .map(|axes| shape(name, axes));
            let turns = [(); 2].map(|()| UnitQuaternion::from_scaled_axis(vector(&mut source) * 3.0));
            let n = vector(&mut source).normalize();
            let foot = |i: usize, n: &Vector3<f64>| {
                turns[i] * shapes[i].support(&turns[i].inverse_transform_vector(n))
            };
            let size = shapes[0].circumradius().max(shapes[1].circumradius());
            let centre = foot(0, &n) + n * (0.05 * size) - foot(1, &-n);
            let poses = [
                Isometry3::from_parts(Translation3::identity(), turns[0]),
                Isometry3::from_parts(centre.into(), turns[1]),
            ];
            let before = poses.map(|pose| {
                let turn = UnitQuaternion::from_scaled_axis(vector(&mut source).normalize() * 0.01);
                let moved = pose.translation.vector + vector(&mut source).normalize() * (0.01 * size);
                Isometry3::from_parts(moved.into(), turn * pose.rotation)
            });
            let normal = gap((&shapes[0], &before[0]), (&shapes[1], &before[1])).unwrap().normal;
            Case { shapes, poses, normal }
        })
        .collect()
}

/// One of the cases a call, in turn.
fn over(bencher: Bencher, name: &str, measure: impl Fn(&Case) -> f64) {
    let cases = cases(name);
    let mut k = 0;
    bencher.bench_local(|| {
        k = (k + 1) % cases.len();
        measure(black_box(&cases[k]))
    });
}

#[divan::bench(args = SHAPES, sample_size = 256)]
fn gap_cold(bencher: Bencher, name: &str) {
    over(bencher, name, |case| {
        gap((&case.shapes[0], &case.poses[0]), (&case.shapes[1], &case.poses[1])).unwrap().gap
    });
}

#[divan::bench(args = SHAPES, sample_size = 256)]
fn gap_warm(bencher: Bencher, name: &str) {
    over(bencher, name, |case| {
        let [first, second] = [0, 1].map(|i| (&case.shapes[i], &case.poses[i]));
        gap_near(first, second, &case.normal).unwrap().gap
    });
}

/// A body of three different moments, and one of two equal ones.
#[divan::bench(args = [[1.0, 2.0, 3.0], [1.0, 2.0, 2.0]])]
fn pose(bencher: Bencher, moments: [f64; 3]) {
    let body = Body { shape: Shape::Point, mass: 1.0, inertia: moments.into(), fixed: false };
    let state = State { angular_velocity: Vector3::new(0.3, 2.0, 0.1), ..State::at(Vector3::zeros()) };
    let flight = Flight::new(&body, &state, &Vector3::new(0.0, 0.0, -9.81));
    let mut t = 0.0;
    bencher.bench_local(|| {
        t += 0.37;
        flight.at(black_box(t))
    });
}
