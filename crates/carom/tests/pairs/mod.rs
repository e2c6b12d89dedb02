#![allow(dead_code, reason = "each test file uses a part")]
//! Random pairs that may meet, of every kind, and the dense sampling that first contacts are checked against.

use carom::body::{Body, State};
use carom::gap::{gap, gap_to_plane};
use carom::hull::Axes;
use carom::motion::Flight;
use carom::shape::{Cone, HalfSpace, Polyhedron, Shape};
use carom::toi::{Moving, Search, Window, first_contact, first_contact_with_plane};
use nalgebra::{Unit, UnitQuaternion, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What a pair is made to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Bodies of like size, turning about as fast as they fly.
    Plain,
    /// Many turns in the window.
    Spinning,
    /// A small body, fast, past a large one: sizes up to a thousandfold.
    Unequal,
    /// A body and a plane; gravity towards it, away from it or along it.
    Plane,
    /// One held fast, gravity pulling the other.
    Falling,
}

pub const KINDS: [Kind; 5] = [Kind::Plain, Kind::Spinning, Kind::Unequal, Kind::Plane, Kind::Falling];

/// Two bodies, or a body and a plane.
#[derive(Clone)]
pub struct Pair {
    pub bodies: [(Body, State); 2],
    pub gravity: Vector3<f64>,
    pub flights: [Flight; 2],
    pub plane: Option<HalfSpace>,
    pub until: f64,
}

impl Pair {
    pub fn new(seed: u64, kind: Kind) -> Self {
        Source(ChaCha8Rng::seed_from_u64(seed), Shapes::Smooth).pair(kind)
    }

    /// Of bodies of which one at least has flats, edges and corners.
    pub fn edged(seed: u64, kind: Kind) -> Self {
        Source(ChaCha8Rng::seed_from_u64(seed), Shapes::Edged).pair(kind)
    }

    /// Of polyhedra.
    pub fn of_polyhedra(seed: u64, kind: Kind) -> Self {
        Source(ChaCha8Rng::seed_from_u64(seed), Shapes::Polyhedra).pair(kind)
    }

    /// The same with the second body, or the only one, started elsewhere.
    pub fn shifted(&self, by: &Vector3<f64>) -> Self {
        let mut pair = self.clone();
        pair.bodies[1].1.position += by;
        pair.prepare()
    }

    /// The same in a world that is turned about the origin.
    pub fn turned(&self, turn: &UnitQuaternion<f64>) -> Self {
        let mut pair = self.clone();
        for (_, state) in &mut pair.bodies {
            state.position = turn * state.position;
            state.orientation = turn * state.orientation;
            state.velocity = turn * state.velocity;
            state.angular_velocity = turn * state.angular_velocity;
        }
        pair.gravity = turn * pair.gravity;
        if let Some(plane) = &mut pair.plane {
            plane.normal = Unit::new_normalize(turn * *plane.normal);
        }
        pair.prepare()
    }

    fn prepare(mut self) -> Self {
        for k in 0..2 {
            self.flights[k] = Flight::new(&self.bodies[k].0, &self.bodies[k].1, &self.gravity);
        }
        self
    }

    pub fn shape(&self, k: usize) -> &Shape {
        &self.bodies[k].0.shape
    }

    pub fn search(&self, window: Window) -> Search {
        let [first, second] = [0, 1].map(|k| Moving::new(self.shape(k), &self.flights[k]));
        match &self.plane {
            Some(plane) => first_contact_with_plane(second, plane, window),
            None => first_contact(first, second, window),
        }
    }

    /// The gap, searched for from nothing.
    pub fn gap(&self, t: f64) -> f64 {
        gap_of(&self.plane, [self.shape(0), self.shape(1)], [0, 1].map(|k| self.flights[k].at(t)))
    }

    /// How much a gap at a time can change when every number of the pair is rounded.
    pub fn rounding_of_data(&self, t: f64) -> f64 {
        let of = |k: usize| {
            let (body, start) = &self.bodies[k];
            let way = start.position.norm() + start.velocity.norm() * t + 0.5 * self.gravity.norm() * t * t;
            way + body.shape.circumradius() * (2.0 + 2.0 * self.flights[k].spin_bound() * t)
        };
        f64::EPSILON * (of(0) + of(1))
    }

    /// How fast the gap can change up to a time.
    pub fn lipschitz(&self, t: f64) -> f64 {
        let own = |k: usize| self.flights[k].spin_bound() * self.shape(k).circumradius();
        let [first, second] =
            [0, 1].map(|k| self.bodies[k].1.velocity * f64::from(u8::from(!self.bodies[k].0.fixed)));
        let [a, b] = [0, 1].map(|k| self.flights[k].acceleration());
        match self.plane {
            Some(_) => second.norm() + b.norm() * t + own(1),
            None => (second - first).norm() + (b - a).norm() * t + own(0) + own(1),
        }
    }
}

fn gap_of(plane: &Option<HalfSpace>, shapes: [&Shape; 2], states: [State; 2]) -> f64 {
    match plane {
        Some(plane) => gap_to_plane(shapes[1], &states[1].pose(), plane).gap,
        None => gap((shapes[0], &states[0].pose()), (shapes[1], &states[1].pose())).unwrap().gap,
    }
}

/// The least gap seen between two times by steps that no contact fits into, gap/speed, but for those below a part of the
/// window, which are taken at that length; and how many there were.
pub fn sampled(gap: impl Fn(f64) -> f64, speed: f64, from: f64, until: f64, parts: f64) -> (f64, u32) {
    let shortest = (until - from) / parts;
    let (mut t, mut least, mut samples) = (from, f64::INFINITY, 0);
    while t < until {
        let here = gap(t);
        samples += 1;
        least = least.min(here);
        t += (here / speed).max(shortest);
    }
    (least, samples)
}

/// Which shapes the bodies have.
#[derive(Clone, Copy)]
enum Shapes {
    Smooth,
    Edged,
    Polyhedra,
}

struct Source(ChaCha8Rng, Shapes);

impl Source {
    fn signed(&mut self) -> f64 {
        self.0.random_range(-1.0..1.0)
    }

    fn vector(&mut self, size: f64) -> Vector3<f64> {
        Vector3::new(self.signed(), self.signed(), self.signed()) * size
    }

    fn direction(&mut self) -> Vector3<f64> {
        loop {
            let vector = self.vector(1.0);
            if (0.1..1.0).contains(&vector.norm()) {
                return vector.normalize();
            }
        }
    }

    fn shape(&mut self, size: f64) -> Shape {
        let semi_axes = [0; 3].map(|_| size * 10f64.powf(0.4 * self.signed()));
        match self.1 {
            Shapes::Smooth => {}
            Shapes::Edged => return self.edged_shape(semi_axes),
            Shapes::Polyhedra => return self.polyhedron(semi_axes),
        }
        match self.0.random_range(0..8) {
            0 => Shape::Sphere { radius: semi_axes[0] },
            1..5 => Shape::Ellipsoid { semi_axes },
            5..7 => Shape::Superellipsoid { semi_axes, exponent: self.0.random_range(2.0..8.0) },
            _ => Shape::Superellipsoid { semi_axes, exponent: [4.0, 10.0, 20.0][self.0.random_range(0..3)] },
        }
    }

    /// The hull of points in and on an ellipsoid; one in three rounded.
    fn polyhedron(&mut self, semi_axes: [f64; 3]) -> Shape {
        let points: Vec<Vector3<f64>> = (0..self.0.random_range(4..16))
            .map(|_| (self.vector(0.3) + self.direction()).component_mul(&Vector3::from(semi_axes)))
            .collect();
        let rounding = [0.0, 0.0, 0.3 * semi_axes[0]][self.0.random_range(0..3)];
        Shape::Polyhedron(Polyhedron::new(&points, rounding, Axes::Principal).unwrap())
    }

    fn edged_shape(&mut self, [a, b, c]: [f64; 3]) -> Shape {
        let rounding = [0.0, 0.0, 0.3 * a][self.0.random_range(0..3)];
        match self.0.random_range(0..10) {
            0..4 => Shape::Box { half_extents: [a, b, c], rounding },
            4 | 5 => Shape::Cylinder { radius: a, half_length: b, rounding },
            6 => Shape::Capsule { radius: a, half_length: b },
            7 => Shape::Cone(Cone::new(a, b, rounding)),
            8 => Shape::Disc { radius: a, rounding },
            _ => Shape::Ellipsoid { semi_axes: [a, b, c] },
        }
    }

    fn body(&mut self, size: f64, spin: f64, fixed: bool) -> (Body, State) {
        let shape = self.shape(size);
        // Homogeneous, or any moments that a body can have.
        let inertia = if self.signed() > -0.5 {
            shape.unit_inertia()
        } else {
            let spread = Vector3::new(self.signed(), self.signed(), self.signed()).map(|x| 1.1 + x);
            Vector3::new(spread.y + spread.z, spread.z + spread.x, spread.x + spread.y) * (0.2 * size * size)
        };
        let state = State {
            position: Vector3::zeros(),
            orientation: UnitQuaternion::from_scaled_axis(self.vector(3.0)),
            velocity: Vector3::zeros(),
            angular_velocity: self.vector(spin),
        };
        (Body { shape, mass: 1.0, inertia, fixed }, state)
    }

    /// The second body flies at the first from a distance, aimed to pass it, so that hits and misses are about as many.
    fn pair(&mut self, kind: Kind) -> Pair {
        let mut until = 2.0;
        let (mut sizes, mut spins) = ([1.0, 1.0], [3.0, 3.0]);
        match kind {
            Kind::Spinning => spins = [60.0, if self.signed() > 0.0 { 60.0 } else { 0.3 }],
            Kind::Unequal => {
                sizes[1] = 10f64.powf(-1.5 + 1.5 * self.signed());
                spins[1] = 10.0;
                until = 0.5;
            }
            _ => {}
        }
        let fixed = kind == Kind::Falling;
        let mut bodies = [self.body(sizes[0], spins[0], fixed), self.body(sizes[1], spins[1], false)];
        let reach = bodies[0].0.shape.circumradius() + bodies[1].0.shape.circumradius();
        let away = self.direction();
        let gravity = match kind {
            Kind::Plane | Kind::Falling => self.vector(3.0),
            _ if self.signed() > 0.0 => Vector3::zeros(),
            _ => self.vector(2.0),
        };
        let distance = reach + self.0.random_range(0.0..2.0);
        bodies[1].1.position = away * distance;
        // To pass somewhere within reach, about halfway through the window.
        let target = self.direction() * (reach * self.0.random_range(0.0..1.0));
        let time = until * self.0.random_range(0.3..1.0);
        let mut velocity = (target - bodies[1].1.position) / time;
        if fixed {
            velocity -= gravity * (0.5 * time);
        }
        bodies[1].1.velocity = velocity;
        if !fixed {
            let drift = self.vector(1.0);
            for body in &mut bodies {
                body.1.velocity += drift;
            }
        }
        let mut plane = None;
        if kind == Kind::Plane {
            let normal = Unit::new_normalize(away);
            let own = bodies[1].0.shape.circumradius();
            plane = Some(HalfSpace { normal, offset: distance - own - self.0.random_range(0.0..1.0) });
            // Up to once again as fast as what just comes down to it.
            bodies[1].1.velocity = self.vector(1.0) - away * self.0.random_range(0.0..2.0);
        }
        let flights = [0, 1].map(|k: usize| Flight::new(&bodies[k].0, &bodies[k].1, &gravity));
        Pair { bodies, gravity, flights, plane, until }
    }
}
