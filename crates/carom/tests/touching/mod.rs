//! Random bodies that really touch: a point and an outward normal on each, turned and placed to meet.
#![allow(dead_code, reason = "each test file uses a part")]

use carom::body::{Body, State};
use carom::contact::kinematics::{Facing, Kinematics, Moving, kinematics};
use carom::gap::gap;
use carom::motion::Derivatives;
use carom::shape::Shape;
use nalgebra::{UnitQuaternion, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

#[derive(Debug, Clone, Copy)]
pub struct Flying {
    pub body: Body,
    pub state: State,
}

impl Flying {
    pub fn moving(&self, gravity: &Vector3<f64>) -> Moving<'_> {
        let derivatives = Derivatives::new(&self.body, &self.state, gravity);
        Moving { shape: &self.body.shape, state: self.state, derivatives }
    }
}

pub fn of_pair(one: &Flying, two: &Flying, gravity: &Vector3<f64>) -> Kinematics {
    let at = gap((&one.body.shape, &one.state.pose()), (&two.body.shape, &two.state.pose())).unwrap();
    kinematics(&Facing::Body(one.moving(gravity)), &two.moving(gravity), &at)
}

/// What rounding of v, g'' and g''' is relative to: the sizes of the terms that they are sums of.
pub fn scale_of(k: &Kinematics, one: &Flying, two: &Flying, gravity: &Vector3<f64>) -> [f64; 3] {
    let sides = [one, two].map(|b| {
        let d = Derivatives::new(&b.body, &b.state, gravity);
        let (spin, arm) = (b.state.angular_velocity.norm(), b.body.shape.circumradius());
        let (rate, second) = (d.angular_acceleration.norm(), d.angular_jerk.norm());
        (
            b.state.velocity.norm() + spin * arm,
            gravity.norm() + (rate + spin * spin) * arm,
            (second + 3.0 * rate * spin + spin * spin * spin) * arm,
            spin,
            rate + spin * spin,
        )
    });
    let sum = |f: fn(&(f64, f64, f64, f64, f64)) -> f64| f(&sides[0]) + f(&sides[1]);
    let roll = k.rolling[0].norm() + k.rolling[1].norm() + k.relative_velocity.norm();
    let turn = k.normal_rate.norm() + sum(|s| s.3);
    let bend = k.curvature_1.norm() + k.curvature_2.norm();
    [
        sum(|s| s.0),
        sum(|s| s.1) + turn * roll + bend * roll * roll,
        sum(|s| s.2)
            + (sum(|s| s.4) + turn * turn) * roll
            + turn * sum(|s| s.1)
            + bend * bend * roll * roll * roll
            + bend * roll * sum(|s| s.1),
    ]
}

pub struct Source(pub ChaCha8Rng);

impl Source {
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    pub fn vector(&mut self, size: f64) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.0.random_range(-size..size))
    }

    pub fn direction(&mut self) -> Vector3<f64> {
        loop {
            let v = self.vector(1.0);
            if v.norm() > 0.1 && v.norm() < 1.0 {
                return v.normalize();
            }
        }
    }

    pub fn turn(&mut self) -> UnitQuaternion<f64> {
        UnitQuaternion::from_axis_angle(
            &nalgebra::Unit::new_normalize(self.direction()),
            self.0.random_range(0.0..6.0),
        )
    }

    pub fn shape(&mut self) -> Shape {
        let semi_axes = [(); 3].map(|()| self.0.random_range(0.5..2.0));
        match self.0.random_range(0..6) {
            0 => Shape::Sphere { radius: semi_axes[0] },
            1 => Shape::Ellipsoid { semi_axes },
            2 => Shape::Superellipsoid {
                semi_axes,
                exponent: [3.0, 4.0, 6.0, 10.0][self.0.random_range(0..4)],
            },
            _ => Shape::Superellipsoid {
                semi_axes,
                exponent: 2.0 * 10.0_f64.powf(self.0.random_range(0.0..1.0)),
            },
        }
    }

    pub fn body(&mut self) -> Body {
        let shape = self.shape();
        let mass = self.0.random_range(0.3..3.0);
        Body { shape, mass, inertia: shape.unit_inertia() * mass, fixed: false }
    }

    /// A surface point away from the rings, where the third derivatives of p < 3 are infinite and the curvature of
    /// large p is zero.
    pub fn point(&mut self, shape: &Shape) -> Vector3<f64> {
        loop {
            let x = self.direction();
            let point = shape.osculate(&x).point;
            let most = point.amax();
            if (0..3).all(|i| point[i].abs() > 0.05 * most) && shape.curvature(&point).norm() > 1e-3 {
                return point;
            }
        }
    }

    /// Two bodies whose gap is `lift`, moving at random.
    pub fn pair(&mut self, lift: f64) -> [Flying; 2] {
        let bodies = [self.body(), self.body()];
        self.placed(bodies, lift)
    }

    pub fn placed(&mut self, bodies: [Body; 2], lift: f64) -> [Flying; 2] {
        let local = bodies.map(|body| self.point(&body.shape));
        self.placed_at(bodies, local, lift)
    }

    /// The same with the touching points given, in body axes.
    pub fn placed_at(&mut self, bodies: [Body; 2], local: [Vector3<f64>; 2], lift: f64) -> [Flying; 2] {
        let normals = [0, 1].map(|k| bodies[k].shape.normal(&local[k]));
        let first = self.turn();
        let n = first * normals[0];
        let facing = UnitQuaternion::rotation_between(&(normals[1]), &-n).unwrap();
        let spin = UnitQuaternion::from_scaled_axis(n * self.0.random_range(0.0..6.0));
        let second = spin * facing;
        let centre = self.vector(1.0);
        let touch = centre + first * local[0];
        let mut state = |position, orientation| State {
            position,
            orientation,
            velocity: self.vector(1.0),
            angular_velocity: self.vector(1.5),
        };
        [
            Flying { body: bodies[0], state: state(centre, first) },
            Flying { body: bodies[1], state: state(touch + n * lift - second * local[1], second) },
        ]
    }
}
