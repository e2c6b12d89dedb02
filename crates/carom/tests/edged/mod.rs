//! Random bodies with flats, edges and corners, and others to go with them.
#![allow(dead_code, reason = "each test uses some of it")]

use carom::hull::Axes;
use carom::shape::{Cone, Polyhedron, Shape};
use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub struct Source(ChaCha8Rng);

impl Source {
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0.random_range(low..high)
    }

    pub fn pick(&mut self, count: usize) -> usize {
        self.0.random_range(0..count)
    }

    pub fn direction(&mut self) -> Vector3<f64> {
        loop {
            let x = Vector3::from_fn(|_, _| self.between(-1.0, 1.0));
            if (0.01..1.0).contains(&x.norm_squared()) {
                return x.normalize();
            }
        }
    }

    /// Any orientation; one in three times a multiple of a quarter turn or nearly one, so that faces and edges are parallel.
    pub fn orientation(&mut self) -> UnitQuaternion<f64> {
        let [w, x, y, z] = [0; 4].map(|_| self.between(-1.0, 1.0));
        let any = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
        if self.pick(3) > 0 {
            return any;
        }
        let axis = [Vector3::x_axis(), Vector3::y_axis(), Vector3::z_axis()][self.pick(3)];
        let quarter = [0.0, 0.5, 1.0, 0.25][self.pick(4)] * std::f64::consts::PI;
        let slight = [0.0, 1e-15, 1e-12, 1e-9, 1e-5][self.pick(5)];
        UnitQuaternion::from_axis_angle(&axis, quarter)
            * UnitQuaternion::from_scaled_axis(self.direction() * slight)
    }

    fn rounding(&mut self) -> f64 {
        [0.0, 0.0, 0.1, 0.4][self.pick(4)]
    }

    /// A body with edges.
    pub fn edged(&mut self) -> Shape {
        let [a, b, c] = [0; 3].map(|_| self.between(0.2, 1.2));
        let rounding = self.rounding();
        match self.pick(6) {
            0 | 1 => Shape::Box { half_extents: [a, b, c], rounding },
            2 => Shape::Cylinder { radius: a, half_length: b, rounding },
            3 => Shape::Capsule { radius: 0.5 * a, half_length: b },
            4 => Shape::Cone(Cone::new(a, 2.0 * b, rounding)),
            _ => Shape::Disc { radius: a, rounding },
        }
    }

    /// A polyhedron of any sizes.
    pub fn any_polyhedron(&mut self) -> Shape {
        let sizes = [0; 3].map(|_| self.between(0.2, 1.2));
        let rounding = self.rounding();
        self.polyhedron(sizes, rounding)
    }

    /// The hull of some points, of a prism, or of a box with a corner cut off.
    pub fn polyhedron(&mut self, [a, b, c]: [f64; 3], rounding: f64) -> Shape {
        let mut points: Vec<Vector3<f64>> = Vec::new();
        match self.pick(3) {
            0 => {
                for _ in 0..4 + self.pick(12) {
                    points.push(Vector3::from_fn(|_, _| self.between(-1.0, 1.0)));
                }
            }
            1 => {
                let sides = 3 + self.pick(5);
                for k in 0..sides {
                    let angle = std::f64::consts::TAU * f64::from(u32::try_from(k).unwrap())
                        / f64::from(u32::try_from(sides).unwrap());
                    for z in [-b, b] {
                        points.push(Vector3::new(a * angle.cos(), a * angle.sin(), z));
                    }
                }
            }
            _ => {
                for k in 0..7 {
                    points.push(Vector3::from_fn(|i, _| [-1.0, 1.0][k >> i & 1] * [a, b, c][i]));
                }
                for i in 0..3 {
                    let mut point = Vector3::new(a, b, c);
                    point[i] *= 0.3;
                    points.push(point);
                }
            }
        }
        Shape::Polyhedron(Polyhedron::new(&points, rounding, Axes::Principal).unwrap())
    }

    /// Any body with a surface.
    pub fn shape(&mut self) -> Shape {
        let semi_axes = [0; 3].map(|_| self.between(0.3, 1.2));
        match self.pick(10) {
            0 => Shape::Sphere { radius: semi_axes[0] },
            1 => Shape::Ellipsoid { semi_axes },
            _ => self.edged(),
        }
    }

    pub fn pose(&mut self, reach: f64) -> Isometry3<f64> {
        let place = Vector3::from_fn(|_, _| self.between(-reach, reach));
        // Now and then exactly beside each other.
        let place = if self.pick(4) == 0 { Vector3::new(place.x, 0.0, 0.0) } else { place };
        Isometry3::from_parts(Translation3::from(place), self.orientation())
    }
}
