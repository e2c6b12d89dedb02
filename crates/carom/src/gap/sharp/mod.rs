//! The gap of bodies with flats, edges and corners.
//!
//! Their roundings are taken off first and subtracted in the end, so that what is left is a [`Sharp`](crate::shape::Sharp) body, or a smooth one.
//! The maximum of f lies on one of few kinds of places of the unit sphere, which are tried one after another (`feature`):
//!
//! - the normal of a face of either body,
//! - where an edge or a side of one crosses an edge or a side of the other: two rings of directions n·e = k,
//! - on a ring, where f is smooth along it: an edge or a side against a corner, a rim or a smooth body,
//! - anywhere, where f is smooth: corners, rims, smooth bodies among each other.
//!
//! A candidate n is a local maximum if and only if the parts of both bodies that are exposed to n, once they are moved together
//! by g n, have a point in common: then Q − P = g n. That is tested, to rounding, for every n that is tried (`face`), and there
//! is no other test. Apart, this proves the global maximum: |Q − P| = g is an upper bound, f(n) = g a lower one.
//!
//! What is near comes from a direction that is known to be close, or from the search of Gilbert, Johnson and Keerthi (`approach`)
//! for the point of the bodies' difference next to the origin, and in overlap from a polytope that grows in the difference
//! (`expand`; van den Bergen 2001), whose faces bound the depth from below. Where the deepest bound meets the depth of the
//! candidate, it is the global maximum; only between curved sides in deep overlap a gap of 10⁻⁶ of the size between the two may
//! remain.

mod approach;
mod difference;
mod expand;
mod face;
mod feature;
mod simplex;

use nalgebra::Vector3;

use super::Found;
use crate::shape::{Convex, unit};
use approach::{Approach, Outcome};
use difference::Difference;
pub(super) use difference::Side;
use expand::Polytope;

/// How far from a known direction features are looked for.
const AROUND: f64 = 0.5;

/// How close, in units of the size, bounds are brought before what is near is tried.
const LADDER: [f64; 4] = [1e-2, 1e-4, 1e-8, 0.0];

/// Directions that differ by more than this lead to another maximum.
const ELSEWHERE: f64 = 0.02;

/// The gap of two bodies without their roundings, from a direction that is likely close, if there is one. An overlap deeper
/// than `depth` need only be told to be one.
pub(super) fn search<A: Convex, B: Convex>(
    one: &Side<A>,
    two: &Side<B>,
    offset: &Vector3<f64>,
    near: Option<&Vector3<f64>>,
    depth: f64,
) -> Found {
    let pair = Difference::new(one, two, offset);
    let mut wasted = 0;
    if let Some(n) = near.map(unit).filter(|n| n.norm() > 0.5) {
        let found = feature::best_near(&pair, &n, AROUND);
        // A false maximum in overlap is no nearer to zero than the true one is on the other side.
        let shallow = found.gap >= -16.0 * pair.slack;
        if found.settled && (shallow || found.gap < -depth) {
            return found;
        }
        wasted = found.iterations;
    }
    let mut approach = Approach::new(&pair);
    let mut best: Option<Found> = None;
    for closeness in LADDER {
        match approach.run(&pair, closeness) {
            Outcome::Apart(n) => {
                let found = feature::best_near(&pair, &n, AROUND);
                wasted += found.iterations;
                best = Some(best.map_or(found, |best| best.or_better(found, pair.slack)));
                if best.is_some_and(|best| best.settled && best.gap >= -16.0 * pair.slack) {
                    break;
                }
            }
            Outcome::Overlapping => {
                let found = overlapping(&pair, &approach);
                wasted += found.iterations;
                best = Some(best.map_or(found, |best| best.or_better(found, pair.slack)));
                break;
            }
        }
    }
    let found = best.unwrap_or_else(|| feature::at(&pair, &Vector3::x(), false));
    Found { iterations: wasted + approach.steps(), ..found }
}

/// The depth of an overlap.
fn overlapping<A: Convex, B: Convex>(pair: &Difference<A, B>, approach: &Approach) -> Found {
    let mut polytope = match Polytope::new(pair, approach.simplex()) {
        Ok(polytope) => polytope,
        // The difference is flat: nothing is deep.
        Err(normal) => {
            let n = if normal.dot(pair.offset) < 0.0 { -normal } else { normal };
            return feature::best_near(pair, &n, ELSEWHERE);
        }
    };
    let mut best: Option<Found> = None;
    for closeness in LADDER {
        let bound = polytope.grow(pair, closeness);
        let mut iterations = 0;
        let depth = best.map_or(f64::INFINITY, |best| -best.gap);
        for n in polytope.nearest_normals(depth.min(bound + closeness)) {
            let known = best.filter(|best| best.settled && (best.normal - n).norm() < ELSEWHERE);
            if known.is_none() {
                let found = feature::best_near(pair, &n, AROUND);
                iterations += found.iterations;
                best = Some(best.map_or(found, |best| best.or_better(found, pair.slack)));
            }
        }
        if let Some(best) = &mut best {
            best.iterations += iterations;
            if best.settled && -best.gap <= bound + 64.0 * pair.slack {
                break;
            }
        }
        if polytope.is_full() {
            break;
        }
    }
    let found = best.unwrap_or_else(|| feature::at(pair, &Vector3::x(), false));
    Found { iterations: found.iterations + polytope.steps(), ..found }
}
