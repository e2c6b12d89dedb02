//! The time of impact against parry's, side by side in one run: `cargo bench -p carom --bench toi`.
//!
//! - *side by side*: ellipsoids with semi-axes from ½ to 2 flying at each other, turning up to some three radians before they
//!   meet. parry3d-f64 casts hulls of 500 vertices of the same ellipsoids along the same motions; as it knows steady
//!   rotation only, the bodies have the inertia of a ball. The limit: 30 times faster at the median. Its error in time is
//!   the difference from ours, which is exact to its own bound. Pairs that it does not find are counted.
//! - *shapes*: the same axes, turns and motions with other shapes. The limit: superellipsoids within five times the
//!   ellipsoids.
//! - *tumbling*: the ellipsoids with their own inertia, in free flight by elliptic functions.
//!
//! Every pair is timed by itself; medians are over pairs.
#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]

use std::hint::black_box;
use std::time::Instant;

use carom::body::{Body, State};
use carom::motion::Flight;
use carom::shape::Shape;
use carom::toi::{Meeting, Moving, Search, Window, first_contact};
use nalgebra::{UnitQuaternion, Vector3};
use parry3d_f64::math::{Pose, Vector};
use parry3d_f64::query::{NonlinearRigidMotion, cast_shapes_nonlinear};
use parry3d_f64::shape::ConvexPolyhedron;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const VERTICES: u32 = 500;
const UNTIL: f64 = 2.0;

struct Case {
    semi_axes: [[f64; 3]; 2],
    states: [State; 2],
}

impl Case {
    fn new(seed: u64) -> Self {
        let mut source = ChaCha8Rng::seed_from_u64(seed);
        let mut vector = |size: f64| Vector3::from_fn(|_, _| size * source.random_range(-1.0..1.0));
        let semi_axes = [(); 2].map(|()| vector(1.0).map(f64::exp2).into());
        let mut states = [(); 2].map(|()| State {
            position: Vector3::zeros(),
            orientation: UnitQuaternion::from_scaled_axis(vector(3.0)),
            velocity: vector(0.5),
            angular_velocity: vector(3.0),
        });
        let away = vector(1.0).normalize();
        states[1].position = away * 4.5;
        states[1].velocity -= away * 3.0;
        Self { semi_axes, states }
    }

    fn flights(&self, shapes: &[Shape; 2], round: bool) -> [Flight; 2] {
        [0, 1].map(|k| {
            let inertia = if round { Vector3::new(1.0, 1.0, 1.0) } else { shapes[k].unit_inertia() };
            let body = Body { shape: shapes[k], mass: 1.0, inertia, fixed: false };
            Flight::new(&body, &self.states[k], &Vector3::zeros())
        })
    }

    fn motion(&self, k: usize) -> NonlinearRigidMotion {
        let plain = |v: &Vector3<f64>| Vector::new(v.x, v.y, v.z);
        let state = &self.states[k];
        let start = Pose::new(plain(&state.position), plain(&state.orientation.scaled_axis()));
        NonlinearRigidMotion::new(start, Vector::ZERO, plain(&state.velocity), plain(&state.angular_velocity))
    }

    /// So many points spread evenly over the ellipsoid's parameters.
    fn hull(&self, k: usize) -> ConvexPolyhedron {
        let [a, b, c] = self.semi_axes[k];
        let points: Vec<Vector> = (0..VERTICES)
            .map(|i| {
                let z = 1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(VERTICES);
                let (s, t) = (2.399_963_229_728_653 * f64::from(i)).sin_cos();
                let across = (1.0 - z * z).sqrt();
                Vector::new(a * across * t, b * across * s, c * z)
            })
            .collect();
        ConvexPolyhedron::from_convex_hull(&points).unwrap()
    }
}

/// The shortest of a few rounds, each long enough for the clock, in microseconds.
fn time<T>(rounds: u32, repeats: u32, mut f: impl FnMut() -> T) -> f64 {
    (0..rounds)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..repeats {
                black_box(f());
            }
            start.elapsed().as_secs_f64() * 1e6 / f64::from(repeats)
        })
        .fold(f64::INFINITY, f64::min)
}

fn median(list: &[f64]) -> f64 {
    let mut list = list.to_vec();
    list.sort_by(f64::total_cmp);
    list[list.len() / 2]
}

fn search(shapes: &[Shape; 2], flights: &[Flight; 2]) -> Search {
    let [first, second] = [0, 1].map(|k| Moving::new(&shapes[k], &flights[k]));
    first_contact(first, second, Window::new(0.0, UNTIL))
}

fn side_by_side(pairs: u64) {
    let (mut ours, mut theirs, mut errors, mut ratios, mut gaps) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut lost, mut worst) = (0, 0.0_f64);
    for case in (0..pairs).map(Case::new) {
        let shapes = case.semi_axes.map(|semi_axes| Shape::Ellipsoid { semi_axes });
        let flights = case.flights(&shapes, true);
        let found = search(&shapes, &flights);
        let Meeting::At(contact) = found.meeting else { continue };
        worst = worst.max(contact.time_error);
        let (motions, hulls) = ([0, 1].map(|k| case.motion(k)), [0, 1].map(|k| case.hull(k)));
        let cast = || {
            cast_shapes_nonlinear(&motions[0], &hulls[0], &motions[1], &hulls[1], 0.0, UNTIL, true).unwrap()
        };
        let us = time(5, 10, || search(black_box(&shapes), black_box(&flights)));
        let them = time(10, 1, cast);
        ours.push(us);
        theirs.push(them);
        ratios.push(them / us);
        gaps.push(f64::from(found.evaluations));
        match cast() {
            Some(hit) => errors.push((hit.time_of_impact - contact.time).abs()),
            None => lost += 1,
        }
    }
    println!("side by side: {} pairs that meet", ours.len());
    println!("  carom  median {:.2} µs, {} gaps, error at most {worst:.1e}", median(&ours), median(&gaps));
    println!(
        "  parry  median {:.1} µs, error: median {:.1e}, most {:.1e}; {lost} not found",
        median(&theirs),
        median(&errors),
        errors.iter().copied().fold(0.0, f64::max)
    );
    println!(
        "  ratio of the medians {:.1}, median of the ratios {:.1} (limit 30)",
        median(&theirs) / median(&ours),
        median(&ratios)
    );
}

fn shapes(pairs: u64) {
    println!("shapes, steady rotation: median over pairs that meet");
    let mut ellipsoids = 0.0;
    for name in ["ellipsoid", "sphere", "p=4", "p=2.5", "p=7.3", "p=20"] {
        let (mut times, mut gaps) = (Vec::new(), Vec::new());
        for case in (0..pairs).map(Case::new) {
            let shapes = case.semi_axes.map(|semi_axes| match name {
                "ellipsoid" => Shape::Ellipsoid { semi_axes },
                "sphere" => Shape::Sphere { radius: semi_axes[0] },
                _ => Shape::Superellipsoid { semi_axes, exponent: name[2..].parse().unwrap() },
            });
            let flights = case.flights(&shapes, true);
            let found = search(&shapes, &flights);
            if matches!(found.meeting, Meeting::At(_)) {
                times.push(time(5, 10, || search(black_box(&shapes), black_box(&flights))));
                gaps.push(f64::from(found.evaluations));
            }
        }
        let here = median(&times);
        ellipsoids = if name == "ellipsoid" { here } else { ellipsoids };
        println!(
            "  {name:<10} {here:>7.2} µs, {} gaps, {:.2} of the ellipsoids",
            median(&gaps),
            here / ellipsoids
        );
    }
}

fn tumbling(pairs: u64) {
    let (mut times, mut gaps) = (Vec::new(), Vec::new());
    for case in (0..pairs).map(Case::new) {
        let shapes = case.semi_axes.map(|semi_axes| Shape::Ellipsoid { semi_axes });
        let flights = case.flights(&shapes, false);
        let found = search(&shapes, &flights);
        if matches!(found.meeting, Meeting::At(_)) {
            times.push(time(5, 10, || search(black_box(&shapes), black_box(&flights))));
            gaps.push(f64::from(found.evaluations));
        }
    }
    println!("tumbling ellipsoids: median {:.2} µs, {} gaps", median(&times), median(&gaps));
}

fn main() {
    // `cargo bench` passes this; without it a few pairs show that all works.
    let pairs = if std::env::args().any(|argument| argument == "--bench") { 400 } else { 3 };
    side_by_side(pairs);
    shapes(pairs);
    tumbling(pairs);
}
