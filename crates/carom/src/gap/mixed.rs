//! Contact points where neither the normal nor the points will do for unknowns.
//!
//! The conditions are those of `primal`, n₁ = −m₂ = n and r = g n, but each body is described by coordinates θ in which both
//! its point and its normal are smooth (`chart`). n is the mean of n₁ and −m₂. With X = ∂x/∂θ and N = ∂n/∂θ of each body,
//! across n,
//!
//! ```text
//! X₁ δθ₁ − X₂ δθ₂ + ½g (N₁ δθ₁ − N₂ δθ₂) = r,   N₁ δθ₁ + N₂ δθ₂ = −m₂ − n₁
//! ```
//!
//! and against a point, which faces whatever it meets, (X₁ + g N₁) δθ₁ = r. Newton's method, each step halved until it makes
//! the residual smaller. Where both bodies are flat the points are undetermined along the flat; a tiny curvature of both
//! divides the difference. Starts that are far off may end in a place without contact: then nothing is returned.

use nalgebra::{Matrix4, Vector2, Vector3, Vector4};

use super::Found;
use super::chart::{Chart, Patch};
use super::dual::Pair;
use crate::shape::{Convex, tangents};

/// The most steps, and how often one is halved.
const MOST_STEPS: u32 = 20;
const MOST_HALVINGS: u32 = 6;

/// The longest step, in strides of the charts.
const LONGEST: f64 = 0.5;

/// The least curvature, times the smaller body's size. Close to the end rounding can take a step far along two flats; the
/// larger ones do without that.
const FLATTEST: [f64; 3] = [1e-14, 1e-11, 1e-8];

/// The residual below which that is the end.
const CLOSE: f64 = 1e-6;

/// The residual, in roundings, that counts as rounding.
const SETTLED: f64 = 64.0;

/// The residual, an angle and a length over the smaller body's size, that counts as solved.
const SOLVED: f64 = 1e-11;

#[derive(Clone, Copy)]
struct Stand {
    charts: [Option<Chart>; 2],
    patches: [Patch; 2],
    normal: Vector3<f64>,
    basis: [Vector3<f64>; 2],
    gap: f64,
    /// r across n
    apart: Vector2<f64>,
    /// −m₂ − n₁ across n
    turn: Vector2<f64>,
    error: f64,
}

struct Solve<'a, A, B> {
    pair: &'a Pair<'a, A, B>,
    /// The smaller body's.
    size: f64,
}

impl<A: Convex, B: Convex> Solve<'_, A, B> {
    fn stand(&self, first: Chart, second: Option<Chart>) -> Stand {
        let one = first.patch(self.pair.one);
        let other = match self.pair.other.zip(second) {
            Some((body, chart)) => chart.patch(body),
            // A point faces whatever it meets.
            None => Patch {
                point: Vector3::zeros(),
                normal: -one.normal,
                point_rates: [Vector3::zeros(); 2],
                normal_rates: [Vector3::zeros(); 2],
            },
        };
        let between = self.pair.offset + other.point - one.point;
        let normal = (one.normal - other.normal).normalize();
        let basis = tangents(&normal);
        let across = |v: &Vector3<f64>| Vector2::new(basis[0].dot(v), basis[1].dot(v));
        let (apart, turn) = (across(&between), across(&-(other.normal + one.normal)));
        let error = libm::sqrt(apart.norm_squared() / (self.size * self.size) + turn.norm_squared());
        // Normals that look away from each other make no contact, whatever their components across n.
        let error = if one.normal.dot(&other.normal) < 0.0 { error } else { f64::INFINITY };
        let (charts, patches) = ([Some(first), second], [one, other]);
        Stand { charts, patches, normal, basis, gap: normal.dot(&between), apart, turn, error }
    }

    /// Newton's δθ₁ and δθ₂ for bodies that are nowhere flatter than so.
    fn step(&self, at: &Stand, flattest: f64) -> Option<[Vector2<f64>; 2]> {
        let [one, other] = &at.patches;
        let mut matrix = Matrix4::zeros();
        let floor = flattest / self.size;
        for k in 0..2 {
            let half = 0.5 * at.gap;
            let columns = [
                (
                    one.point_rates[k] + one.normal_rates[k] * half,
                    one.normal_rates[k] + one.point_rates[k] * floor,
                ),
                (
                    -other.point_rates[k] - other.normal_rates[k] * half,
                    other.normal_rates[k] + other.point_rates[k] * floor,
                ),
            ];
            for (body, (apart, turn)) in columns.into_iter().enumerate() {
                for (row, t) in at.basis.iter().enumerate() {
                    matrix[(row, 2 * body + k)] = t.dot(&apart) / self.size;
                    matrix[(2 + row, 2 * body + k)] = t.dot(&turn);
                }
            }
        }
        let apart = at.apart / self.size;
        let mut right = Vector4::new(apart.x, apart.y, at.turn.x, at.turn.y);
        if self.pair.other.is_none() {
            // Only the first body's point is sought, and its normal is the common one.
            for (k, row) in [(0, 2), (1, 3)] {
                for (j, t) in at.basis.iter().enumerate() {
                    matrix[(j, k)] += 0.5 * at.gap * t.dot(&one.normal_rates[k]) / self.size;
                }
                matrix.row_mut(row).fill(0.0);
                matrix[(row, row)] = 1.0;
                right[row] = 0.0;
            }
        }
        let scales = Vector4::from_fn(|k, _| matrix.column(k).amax());
        for k in 0..4 {
            let mut column = matrix.column_mut(k);
            column /= scales[k];
        }
        let step = matrix.full_piv_lu().solve(&right)?.component_div(&scales);
        let sum: f64 = step.iter().sum();
        sum.is_finite().then(|| [Vector2::new(step[0], step[1]), Vector2::new(step[2], step[3])])
    }

    /// The longest part of the step, by halves, that makes the error smaller.
    fn shortened(&self, now: &Stand, step: &[Vector2<f64>; 2]) -> Option<Stand> {
        let first = now.charts[0]?;
        let second = self.pair.other.zip(now.charts[1]);
        let longest = first
            .strides(self.pair.one, &step[0])
            .max(second.map_or(0.0, |(body, chart)| chart.strides(body, &step[1])));
        let mut part = if longest > LONGEST { LONGEST / longest } else { 1.0 };
        for _ in 0..MOST_HALVINGS {
            let moved = first.moved(self.pair.one, &(step[0] * part));
            let other = second.map(|(body, chart)| chart.moved(body, &(step[1] * part)));
            if let Some(first) = moved
                && other.is_none_or(|other| other.is_some())
            {
                let next = self.stand(first, other.flatten());
                if next.error < now.error {
                    return Some(next);
                }
            }
            part *= 0.5;
        }
        None
    }
}

/// Solves for the points from what a search came to; also says how many steps it took. `None` if that does not lead to a
/// value of f at least as high.
pub(super) fn solve<A: Convex, B: Convex>(pair: &Pair<A, B>, from: &Found) -> (Option<Found>, u32) {
    let size = pair.other.map_or(f64::INFINITY, |other| other.size).min(pair.one.size);
    let rounding = pair.rounding();
    let Some(first) = Chart::new(pair.one, &from.normal, &from.points[0]) else { return (None, 0) };
    let second = pair.other.map(|other| Chart::new(other, &-from.normal, &from.points[1]));
    if second.is_some_and(|second| second.is_none()) {
        return (None, 0);
    }
    let solve = Solve { pair, size };
    let mut now = solve.stand(first, second.flatten());
    let mut steps = 0;
    while steps < MOST_STEPS && now.error * size > rounding {
        steps += 1;
        let floors = if now.error < CLOSE { &FLATTEST[..] } else { &FLATTEST[..1] };
        let next = floors.iter().find_map(|floor| solve.shortened(&now, &solve.step(&now, *floor)?));
        let Some(next) = next else { break };
        now = next;
    }
    let exact = now.error * size <= SETTLED * rounding;
    let sound = (exact
        || (now.error <= SOLVED && (now.gap - pair.value(&now.normal)).abs() <= SETTLED * rounding))
        && now.gap >= from.gap - SETTLED * rounding;
    let found = Found {
        gap: now.gap,
        normal: now.normal,
        points: now.patches.map(|patch| patch.point),
        iterations: steps,
        residual: now.apart.norm(),
        settled: exact,
        curvatures: None,
    };
    (sound.then_some(found), steps)
}
