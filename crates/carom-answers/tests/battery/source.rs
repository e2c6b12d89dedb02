//! The random numbers of a scene, and what scenes of every kind draw from them.

use std::f64::consts::PI;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::scene::{Body, Plane, Shape, Surface, Turn, Vector};

/// The acceleration of free fall.
pub const GRAVITY: f64 = 9.81;

pub struct Source(ChaCha8Rng);

impl Source {
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    pub fn number(&mut self, low: f64, high: f64) -> f64 {
        self.0.random_range(low..high)
    }

    /// Uniform in the logarithm.
    pub fn scale(&mut self, low: f64, high: f64) -> f64 {
        self.number(low.ln(), high.ln()).exp()
    }

    /// Below n.
    pub fn pick(&mut self, n: usize) -> usize {
        self.0.random_range(0..n)
    }

    /// From the least to the most, small ones as often as large ones.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "small and positive"
    )]
    pub fn count(&mut self, least: usize, most: usize) -> usize {
        (self.scale(least as f64, (most + 1) as f64) as usize).clamp(least, most)
    }

    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.pick(choices.len())]
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        self.number(0.0, 1.0) < probability
    }

    pub fn vector(&mut self, size: f64) -> Vector {
        Vector::from_fn(|_, _| self.number(-1.0, 1.0)) * size
    }

    /// Any orientation, each as likely as another.
    pub fn turn(&mut self) -> Turn {
        loop {
            let [w, x, y, z] = [0; 4].map(|_| self.number(-1.0, 1.0));
            let quaternion = nalgebra::Quaternion::new(w, x, y, z);
            if (0.01..1.0).contains(&quaternion.norm_squared()) {
                return Turn::from_quaternion(quaternion);
            }
        }
    }

    /// A turn about the vertical.
    pub fn heading(&mut self) -> Turn {
        let angle = if self.chance(0.3) { 0.0 } else { self.number(-PI, PI) };
        Turn::new(Vector::z() * angle)
    }

    /// A radius or semi-axis, in metres: marbles, fists, boulders.
    pub fn size(&mut self) -> f64 {
        self.one_of(&[0.02, 0.1, 0.5])
    }

    pub fn restitution(&mut self) -> f64 {
        match self.pick(8) {
            0 => 0.0,
            1 => 1.0,
            _ => self.number(0.0, 1.0),
        }
    }

    pub fn surface(&mut self) -> Surface {
        match self.pick(6) {
            0 | 1 => Surface::Smooth,
            2 => Surface::Rough,
            _ => Surface::Coulomb(self.number(0.1, 0.8)),
        }
    }

    pub fn ball(&mut self, size: f64) -> Shape {
        Shape::Sphere(size * self.number(0.5, 1.0))
    }

    pub fn ellipsoid(&mut self, size: f64) -> Shape {
        Shape::Ellipsoid(Vector::from_fn(|_, _| size * self.number(0.4, 1.0)))
    }

    pub fn pillow(&mut self, size: f64) -> Shape {
        let axes = Vector::from_fn(|_, _| size * self.number(0.4, 1.0));
        Shape::Superellipsoid(axes, self.one_of(&[4.0, 5.0, 6.0, 8.0, 10.0]))
    }

    /// A ball, an ellipsoid or a pillow.
    pub fn shape(&mut self, size: f64) -> Shape {
        match self.pick(3) {
            0 => self.ball(size),
            1 => self.ellipsoid(size),
            _ => self.pillow(size),
        }
    }
}

/// A body at rest, of the density of water where it would be a box of its semi-axes.
pub fn body(name: String, shape: Shape, position: Vector) -> Body {
    let axes = shape.semi_axes();
    Body {
        name,
        shape,
        mass: 1000.0 * axes.x * axes.y * axes.z,
        inertia: None,
        position,
        orientation: Turn::identity(),
        velocity: Vector::zeros(),
        spin: Vector::zeros(),
        spin_in_body: false,
        fixed: false,
    }
}

/// The half-space above a height.
pub fn floor(height: f64) -> Plane {
    Plane { name: "floor".to_string(), normal: Vector::z(), offset: height }
}

/// Four upright planes about the origin.
pub fn walls(half_width: [f64; 2]) -> Vec<Plane> {
    let wall = |name: &str, normal: Vector, offset: f64| Plane { name: name.to_string(), normal, offset };
    vec![
        wall("left", Vector::x(), -half_width[0]),
        wall("right", -Vector::x(), -half_width[0]),
        wall("front", Vector::y(), -half_width[1]),
        wall("back", -Vector::y(), -half_width[1]),
    ]
}

/// Moves a body along a unit normal until its farthest point is this far from the plane.
pub fn put_on(plane: &Plane, gap: f64, body: &mut Body) {
    let foot = body.farthest(&-plane.normal);
    body.position += plane.normal * (gap + plane.offset - plane.normal.dot(&foot));
}
