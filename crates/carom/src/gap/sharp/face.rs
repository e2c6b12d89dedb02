//! What of two bodies faces a direction, moved together along it: whether the two have a point in common.

use nalgebra::Vector3;

use super::difference::Difference;
use super::simplex::Simplex;
use crate::shape::Convex;

const MOST_STEPS: u32 = 60;

/// The distance across n of what faces n on the first body and −n on the second, with a point of each, as near as they come.
/// Zero if and only if n is a local maximum of f.
pub(super) fn apart<A: Convex, B: Convex>(
    pair: &Difference<A, B>,
    n: &Vector3<f64>,
    segments: bool,
) -> (f64, [Vector3<f64>; 2]) {
    let across = |x: &Vector3<f64>| x - n * n.dot(x);
    // The middle of each, to begin with.
    let mut simplex = Simplex::EMPTY;
    simplex.push(pair.vertex(n));
    let mut nearest = across(&simplex.vertices()[0].apart);
    for _ in 0..MOST_STEPS {
        let distance = nearest.norm();
        if distance <= 0.25 * pair.slack {
            break;
        }
        let vertex = pair.vertex_of_face(n, segments, &(nearest / distance));
        let gained = distance - across(&vertex.apart).dot(&nearest) / distance;
        if gained <= 0.25 * pair.slack || simplex.has(&vertex) {
            break;
        }
        let before = simplex;
        simplex.push(vertex);
        let next = simplex.reduce(across);
        if next.norm() >= distance {
            simplex = before;
            break;
        }
        nearest = next;
    }
    (nearest.norm(), simplex.points())
}
