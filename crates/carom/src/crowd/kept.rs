//! What is kept of a body, in lines of the cache: what prediction reads, what a collision and a move read besides, and how far
//! its surface has moved.

use nalgebra::Vector3;

use super::index;
use crate::body::{Body, State};
use crate::shape::Shape;
use crate::simulation::World;

/// What prediction reads of a body: one line of the cache.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Hot {
    /// The centre at the time `since`, in the box where home is.
    pub position: Vector3<f64>,
    pub velocity: Vector3<f64>,
    pub since: f64,
    /// The circumradius, at the size of the start.
    pub radius: f64,
}

impl Hot {
    #[inline(always)]
    pub fn at(&self, t: f64) -> Vector3<f64> {
        self.position + self.velocity * (t - self.since)
    }

    pub fn new(world: &World, body: usize, state: &State) -> Self {
        let velocity = if world.bodies[body].fixed { Vector3::zeros() } else { state.velocity };
        Self { position: state.position, velocity, since: 0.0, radius: world.radius[body] }
    }
}

/// What a collision and a move read of a body: another line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Cold {
    pub home: Vector3<f64>,
    /// The radius of the neighbourhood.
    pub reach: f64,
    /// The last collision.
    pub last: f64,
    /// How many boxes the body is beyond where it is kept.
    pub boxes: [i32; 3],
    /// Its number in the scene.
    pub name: u32,
    /// Its shape and mass, among the kinds.
    pub kind: u32,
    /// Whether it is a ball.
    pub ball: bool,
    /// Whether it can touch anything.
    pub solid: bool,
    pub fixed: bool,
}

impl Cold {
    pub fn new(body: &Body, number: usize, kind: u32) -> Self {
        Self {
            home: Vector3::zeros(),
            reach: 0.0,
            last: f64::NEG_INFINITY,
            boxes: [0; 3],
            name: index(number),
            kind,
            ball: matches!(body.shape, Shape::Sphere { .. } | Shape::Point),
            solid: body.shape != Shape::Point,
            fixed: body.fixed,
        }
    }
}

/// A bound of how far any point of a body's surface has moved, turning included, against its first direction: what a gap can
/// have shrunk by.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Path {
    /// At the time `since`.
    pub length: f64,
    pub rate: f64,
    pub since: f64,
}

impl Path {
    #[inline(always)]
    pub fn at(&self, t: f64) -> f64 {
        self.length + self.rate * (t - self.since)
    }
}
