//! Worlds and initial states for the tests of event-driven molecular dynamics.
#![allow(dead_code, reason = "each test file uses its share")]

use carom::body::{Body, State};
use carom::run::World;
use carom::scene::model::{Scene, SceneBody};
use carom::scene::{Format, file};
use carom::shape::Shape;
use nalgebra::{UnitQuaternion, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub fn scene(text: &str) -> Scene {
    file::read(text, Format::Toml).unwrap()
}

pub fn body(shape: Shape, mass: f64) -> Body {
    Body { shape, mass, inertia: shape.unit_inertia() * mass, fixed: false }
}

/// A world of bodies, in a periodic box if lengths are given.
pub fn world(bodies: &[Body], lengths: Option<Vector3<f64>>) -> World {
    let mut scene =
        scene("carom = 1\n[[body]]\nname = \"any\"\nshape = { point = {} }\nmass = 1\ninertia = [1, 1, 1]\n");
    scene.bodies = bodies
        .iter()
        .map(|body| SceneBody {
            name: String::new(),
            body: *body,
            state: State::at(Vector3::zeros()),
            body_spin: None,
        })
        .collect();
    scene.periodic = lengths;
    World::of(&scene).0
}

/// 4 n³ bodies of one shape on a face-centred lattice, stretched like the shape, at a packing fraction in a periodic box, with Maxwell's
/// velocities. All have the same orientation, which keeps them apart at any density.
pub fn lattice(n: u32, shape: Shape, packing: f64, seed: u64) -> (World, Vec<State>) {
    let axes = match shape {
        Shape::Ellipsoid { semi_axes } | Shape::Superellipsoid { semi_axes, .. } => Vector3::from(semi_axes),
        Shape::Sphere { radius } => Vector3::repeat(radius),
        Shape::Point => Vector3::repeat(1.0),
        _ => unreachable!("these shapes are smooth"),
    };
    let count = 4 * n * n * n;
    let volume = shape.volume() * f64::from(count) / packing;
    let stretch = axes * (volume / axes.product()).cbrt() / f64::from(n);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let body = body(shape, 1.0);
    let mut states = Vec::new();
    for k in 0..count {
        let (cell, site) = (k / 4, k % 4);
        let corner = Vector3::new(cell % n, cell / n % n, cell / n / n).map(f64::from);
        let within = [[0.25; 3], [0.25, 0.75, 0.75], [0.75, 0.25, 0.75], [0.75, 0.75, 0.25]][site as usize];
        let position = (corner + Vector3::from(within)).component_mul(&stretch);
        let mut normal = || gaussian(&mut random);
        let velocity = Vector3::from_fn(|_, _| normal());
        let spin = Vector3::from_fn(|i, _| normal() / body.inertia[i].sqrt());
        let spin = if matches!(shape, Shape::Sphere { .. }) { Vector3::zeros() } else { spin };
        states.push(State {
            position,
            orientation: UnitQuaternion::identity(),
            velocity,
            angular_velocity: spin,
        });
    }
    let mean = states.iter().map(|state| state.velocity).sum::<Vector3<f64>>() / f64::from(count);
    for state in &mut states {
        state.velocity -= mean;
    }
    (world(&vec![body; count as usize], Some(stretch * f64::from(n))), states)
}

fn turn(random: &mut ChaCha8Rng) -> UnitQuaternion<f64> {
    UnitQuaternion::from_scaled_axis(Vector3::from_fn(|_, _| 2.0 * gaussian(random)))
}

/// Bodies of several shapes at random positions in a periodic box, without overlap.
pub fn mixture(shapes: &[Shape], count: usize, length: f64, seed: u64) -> (World, Vec<State>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let bodies: Vec<_> = (0..count).map(|k| body(shapes[k % shapes.len()], 1.0 + k as f64 / 7.0)).collect();
    let mut states: Vec<State> = Vec::new();
    while states.len() < count {
        let radius = bodies[states.len()].shape.circumradius();
        let position = Vector3::from_fn(|_, _| random.random_range(0.0..length));
        let clear = states.iter().zip(&bodies).all(|(state, body)| {
            let apart = (position - state.position).map(|x| x - length * (x / length).round());
            apart.norm() > radius + body.shape.circumradius()
        });
        if clear {
            states.push(State {
                position,
                orientation: turn(&mut random),
                velocity: Vector3::from_fn(|_, _| gaussian(&mut random)),
                angular_velocity: Vector3::from_fn(|_, _| gaussian(&mut random)),
            });
        }
    }
    (world(&bodies, Some(Vector3::repeat(length))), states)
}

/// A normally distributed number, by the Box–Muller method.
pub fn gaussian(random: &mut ChaCha8Rng) -> f64 {
    let (u, v): (f64, f64) = (random.random_range(f64::MIN_POSITIVE..1.0), random.random_range(0.0..1.0));
    (-2.0 * u.ln()).sqrt() * (2.0 * core::f64::consts::PI * v).cos()
}
