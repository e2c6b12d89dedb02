//! The search of Gilbert, Johnson and Keerthi: a simplex of the difference moves towards the origin.

use nalgebra::Vector3;

use super::difference::Difference;
use super::simplex::Simplex;
use crate::shape::{Convex, unit};

const MOST_STEPS: u32 = 200;

pub(super) struct Approach {
    simplex: Simplex,
    /// The nearest point of the simplex: its distance is an upper bound of the gap.
    nearest: Vector3<f64>,
    /// The direction with the greatest f so far, a lower bound, and that bound.
    best: (f64, Vector3<f64>),
    steps: u32,
    stalled: bool,
}

/// What an approach came to.
pub(super) enum Outcome {
    /// The best direction so far.
    Apart(Vector3<f64>),
    /// The origin is in the difference, or within rounding of it.
    Overlapping,
}

impl Approach {
    pub fn new<A: Convex, B: Convex>(pair: &Difference<A, B>) -> Self {
        let n = if *pair.offset == Vector3::zeros() { Vector3::x() } else { unit(pair.offset) };
        let mut simplex = Simplex::EMPTY;
        simplex.push(pair.vertex(&n));
        let nearest = simplex.vertices()[0].apart;
        Self { simplex, nearest, best: (pair.value(&n), n), steps: 1, stalled: false }
    }

    /// On until the bounds are within a closeness of each other, or nothing moves any more.
    pub fn run<A: Convex, B: Convex>(&mut self, pair: &Difference<A, B>, closeness: f64) -> Outcome {
        while !self.stalled && self.steps < MOST_STEPS {
            let distance = self.nearest.norm();
            if self.simplex.is_full() || distance <= pair.slack {
                return Outcome::Overlapping;
            }
            if distance - self.best.0 <= closeness {
                break;
            }
            let n = self.nearest / distance;
            let value = pair.value(&n);
            if value > self.best.0 {
                self.best = (value, n);
            }
            let vertex = pair.vertex(&n);
            self.steps += 1;
            if self.simplex.has(&vertex) || distance - value <= pair.slack {
                self.stalled = true;
                break;
            }
            let before = self.simplex;
            self.simplex.push(vertex);
            let nearest = self.simplex.reduce(|x| *x);
            if !self.simplex.is_full() && nearest.norm() >= distance {
                self.simplex = before;
                self.stalled = true;
                break;
            }
            self.nearest = nearest;
        }
        if self.best.0 <= 0.0
            && (self.stalled || self.steps >= MOST_STEPS)
            && self.nearest.norm() <= 1e3 * pair.slack
        {
            return Outcome::Overlapping;
        }
        Outcome::Apart(self.best.1)
    }

    pub fn simplex(&self) -> &Simplex {
        &self.simplex
    }

    pub fn steps(&self) -> u32 {
        self.steps
    }
}
