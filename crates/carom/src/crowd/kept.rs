//! What is kept of a body, in lines of the cache: what prediction reads of it and of its neighbours, what its own events read
//! besides, and how far its surface has moved.

use bytemuck::{Pod, Zeroable};
use nalgebra::Vector3;

use super::due::LOOK;
use super::index;
use super::neighbours::Row;
use crate::body::State;
use crate::simulation::World;

/// What prediction reads of a body: one line of the cache.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
pub(super) struct Hot {
    pub line: Line,
    /// When its next event is due; infinite if nothing is.
    pub due: f64,
}

/// How a centre moves; in this order, that numbers may be read two by two.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Line {
    /// The centre at the time `since`, in the box where home is.
    pub position: Vector3<f64>,
    pub since: f64,
    pub velocity: Vector3<f64>,
}

impl Line {
    #[inline(always)]
    pub fn at(&self, t: f64) -> Vector3<f64> {
        self.position + self.velocity * (t - self.since)
    }
}

impl Hot {
    pub fn new(world: &World, body: usize, state: &State) -> Self {
        let velocity = if world.bodies[body].fixed { Vector3::zeros() } else { state.velocity };
        Self { line: Line { position: state.position, velocity, since: 0.0 }, due: f64::INFINITY }
    }
}

/// What a body's events read of it: another line.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
pub(super) struct Cold {
    pub home: Vector3<f64>,
    /// The radius of the neighbourhood.
    pub reach: f64,
    /// The last collision.
    pub last: f64,
    /// Its number in the scene.
    pub name: u32,
    /// Its shape and mass, among the kinds.
    pub kind: u32,
    /// Where its list of neighbours is.
    pub row: Row,
    /// With whom its next event is, or another code of [`super::due::Due`].
    pub with: u32,
    /// Which image of it.
    pub image: u16,
    /// Whether it sinks there: one or zero.
    pub sinks: u16,
}

impl Cold {
    pub fn new(number: usize, kind: u32) -> Self {
        Self {
            home: Vector3::zeros(),
            reach: 0.0,
            last: f64::NEG_INFINITY,
            name: index(number),
            kind,
            row: Row::default(),
            with: LOOK,
            image: 0,
            sinks: 0,
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
