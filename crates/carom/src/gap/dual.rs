//! Climbing f(n) = n·d − h₁(n) − h₂(−n) over unit normals.
//!
//! With r = d − s₁(n) + s₂(−n) and r_T its part across n, the value along a tangent step δ is
//!
//! ```text
//! f(n + δ) ≈ f + r_T·δ − ½ δᵀ(C + f I)δ,   C = ∇²h₁(n) + ∇²h₂(−n) on the tangent plane
//! ```
//!
//! A trust-region Newton step maximises that, shifted until it is concave and within reach.

use nalgebra::{Matrix2, Matrix3, Vector2, Vector3};

use super::{Found, Turned};
use crate::shape::{Convex, tangents};

/// The first body at the origin, and the second, or a point, at `offset`.
pub(super) struct Pair<'a, A, B> {
    pub one: &'a Turned<'a, A>,
    pub other: Option<&'a Turned<'a, B>>,
    pub offset: &'a Vector3<f64>,
}

impl<A: Convex, B: Convex> Pair<'_, A, B> {
    /// f(n) for a unit n: a lower bound of the gap.
    pub fn value(&self, n: &Vector3<f64>) -> f64 {
        n.dot(self.offset) - self.one.height(n) - self.other.map_or(0.0, |other| other.height(&-n))
    }

    /// The larger exponent.
    pub fn sharpest(&self) -> f64 {
        self.one.shape.exponent().max(self.other.map_or(2.0, |other| other.shape.exponent()))
    }

    /// What rounding leaves of any sum of these lengths.
    pub fn rounding(&self) -> f64 {
        let sizes = self.one.size + self.other.map_or(0.0, |other| other.size);
        f64::EPSILON * (sizes + self.offset.norm())
    }
}

/// The most steps; what has not converged by then moves by less than rounding in f.
const MOST_STEPS: u32 = 100;

/// A slope below this many roundings counts as zero.
const SETTLED: f64 = 64.0;

/// A climb under way.
pub(super) struct Ascent<'a, A, B> {
    pair: &'a Pair<'a, A, B>,
    at: Place,
    reach: f64,
    steps: u32,
    rounding: f64,
}

#[derive(Clone, Copy)]
struct Place {
    normal: Vector3<f64>,
    /// From each body's own centre.
    points: [Vector3<f64>; 2],
    /// ∇²h₁(n) and ∇²h₂(−n), each in its body's own axes.
    hessians: [Matrix3<f64>; 2],
    value: f64,
    /// r_T
    slope: Vector3<f64>,
    /// |r_T|
    steepness: f64,
}

impl<'a, A: Convex, B: Convex> Ascent<'a, A, B> {
    pub fn new(pair: &'a Pair<'a, A, B>, start: &Vector3<f64>) -> Self {
        Self { pair, at: place(pair, *start), reach: 1.0, steps: 0, rounding: pair.rounding() }
    }

    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// |r_T|
    pub fn steepness(&self) -> f64 {
        self.at.steepness
    }

    pub fn found(&self) -> Found {
        let Place { value, normal, points, steepness, .. } = self.at;
        let settled = steepness <= SETTLED * self.rounding;
        let (iterations, residual) = (self.steps, steepness);
        Found { gap: value, normal, points, iterations, residual, settled, curvatures: None }
    }

    /// Takes a step; false when rounding would hide any further one.
    pub fn step(&mut self) -> bool {
        let at = &self.at;
        if at.steepness <= self.rounding || self.steps >= MOST_STEPS {
            return false;
        }
        let basis = tangents(&at.normal);
        let slope = Vector2::new(basis[0].dot(&at.slope), basis[1].dot(&at.slope));
        let bend = self.bend(&basis);
        while self.steps < MOST_STEPS {
            self.steps += 1;
            let step = bounded_step(&bend, &slope, self.reach);
            let expected = slope.dot(&step) - 0.5 * step.dot(&(bend * step));
            let next = place(self.pair, unit_of(at.normal + basis[0] * step.x + basis[1] * step.y));
            let gained = next.value - at.value;
            let hidden = expected <= 8.0 * self.rounding;
            // Close to the maximum f itself is flat to rounding, and the slope decides.
            let better = if hidden {
                next.steepness < 0.5 * at.steepness && gained >= -8.0 * self.rounding
            } else {
                gained >= 0.1 * expected
            };
            if better {
                if self.reach < 1.0 && gained >= 0.7 * expected {
                    self.reach = self.reach.max(2.0 * step.norm()).min(1.0);
                }
                self.at = next;
                return true;
            }
            if hidden {
                return false;
            }
            self.reach = 0.25 * step.norm().min(self.reach);
        }
        false
    }

    /// C + f I in a basis of the tangent plane.
    fn bend(&self, basis: &[Vector3<f64>; 2]) -> Matrix2<f64> {
        let one = self.pair.one.form(&self.at.hessians[0], basis);
        let other = match self.pair.other {
            Some(other) => other.form(&self.at.hessians[1], basis),
            None => Matrix2::zeros(),
        };
        one + other + Matrix2::from_diagonal_element(self.at.value)
    }
}

// Inlined, as what it calls: handing the vectors over by memory takes as long as the arithmetic.
#[inline(always)]
fn place<A: Convex, B: Convex>(pair: &Pair<A, B>, normal: Vector3<f64>) -> Place {
    let one = pair.one.facing(&normal);
    let other = match pair.other {
        Some(other) => other.facing(&-normal),
        None => (Vector3::zeros(), Matrix3::zeros()),
    };
    let between = pair.offset + other.0 - one.0;
    let value = normal.dot(&between);
    let slope = between - normal * value;
    let steepness = libm::sqrt(slope.norm_squared());
    Place { normal, points: [one.0, other.0], hessians: [one.1, other.1], value, slope, steepness }
}

/// x/|x| for an x that is no shorter than one.
fn unit_of(x: Vector3<f64>) -> Vector3<f64> {
    x * libm::sqrt(x.norm_squared()).recip()
}

/// The maximiser of slope·δ − ½δᵀBδ where B is positive and it lies within reach; else that of a B shifted by enough.
fn bounded_step(bend: &Matrix2<f64>, slope: &Vector2<f64>, reach: f64) -> Vector2<f64> {
    let determinant = bend.m11 * bend.m22 - bend.m12 * bend.m12;
    if bend.m11 + bend.m22 > 0.0 && determinant > 0.0 {
        let step = solve(bend, slope);
        if step.norm_squared() <= reach * reach {
            return step;
        }
    }
    let mean = 0.5 * (bend.m11 + bend.m22);
    let half = 0.5 * (bend.m11 - bend.m22);
    let least = mean - libm::sqrt(half * half + bend.m12 * bend.m12);
    solve(&(bend + Matrix2::identity() * (slope.norm() / reach - least)), slope)
}

fn solve(m: &Matrix2<f64>, b: &Vector2<f64>) -> Vector2<f64> {
    let determinant = m.m11 * m.m22 - m.m12 * m.m21;
    Vector2::new(m.m22 * b.x - m.m12 * b.y, m.m11 * b.y - m.m21 * b.x) / determinant
}
