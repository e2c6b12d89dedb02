//! What is kept of a body, in lines of the cache: what prediction reads of it and of its neighbours, what its own events read
//! besides, and how far its surface has moved.

use bytemuck::{Pod, Zeroable};
use nalgebra::Vector3;
use wide::f64x2;

use super::index;
use super::neighbours::Row;
use super::next_event::REPREDICT;
use crate::body::State;
use crate::run::World;

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

/// Two bodies as seen from a third: the way to each, its rate, and when each has its own event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Two {
    pub x: [f64x2; 3],
    pub v: [f64x2; 3],
    pub due: f64x2,
}

impl Two {
    /// At a time, from a place that moves, each in an image.
    #[inline(always)]
    pub fn seen(
        two: [&Hot; 2],
        shifts: [&Vector3<f64>; 2],
        now: f64x2,
        here: &[f64x2; 3],
        velocity: &[f64x2; 3],
    ) -> Self {
        let [one, other] = two.map(bytemuck::cast_ref::<Hot, [f64x2; 4]>);
        let [[px, py], [pz, since], [vx, vy], [vz, due]] =
            [0, 1, 2, 3].map(|k| f64x2::transpose([one[k], other[k]]));
        let (position, rate, gone) = ([px, py, pz], [vx, vy, vz], now - since);
        let x = [0, 1, 2]
            .map(|k| position[k] + rate[k] * gone + f64x2::new([shifts[0][k], shifts[1][k]]) - here[k]);
        Self { x, v: [0, 1, 2].map(|k| rate[k] - velocity[k]), due }
    }

    /// x·v, v² and x².
    #[inline(always)]
    pub fn products(&self) -> [f64x2; 3] {
        let dot = |a: &[f64x2; 3], b: &[f64x2; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        [dot(&self.x, &self.v), dot(&self.v, &self.v), dot(&self.x, &self.x)]
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
    /// With whom its next event is, or another code of [`super::next_event::NextEvent`].
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
            with: REPREDICT,
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
