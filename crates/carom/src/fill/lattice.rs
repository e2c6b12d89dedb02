//! Places on a lattice: face-centred cubic, stretched to the box and to the bodies.
//!
//! All bodies stand unturned. Two equal convex bodies with a centre, moved by d against each other, touch when ‖d‖ = 2 in
//! their own gauge; unequal ones are measured with the gap. The lattice has n₁ × n₂ × n₃ cells of 4 places (face-centred),
//! 2 (body-centred) or 1 (primitive); of those with places enough, the one whose bodies are farthest apart is taken, in that
//! order of kinds, so that a box of balls gets the face-centred lattice and a dense box of near-cubes the primitive one.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

use super::region::Region;
use crate::gap::gap;
use crate::shape::Shape;

/// The places in a cell of each kind of lattice, in cell lengths.
const KINDS: [&[[f64; 3]]; 3] = [
    &[[0.25, 0.25, 0.25], [0.75, 0.75, 0.25], [0.75, 0.25, 0.75], [0.25, 0.75, 0.75]],
    &[[0.25, 0.25, 0.25], [0.75, 0.75, 0.75]],
    &[[0.5, 0.5, 0.5]],
];

/// The distance of surfaces that a lattice must leave, relative to the bodies.
const ROOM: f64 = 1e-9;

/// How many numbers of cells on either side of the even one are tried along each axis.
const SPREAD: usize = 3;

/// A lattice that fits a region.
#[derive(Debug, Clone, Copy)]
pub struct Lattice {
    kind: usize,
    cells: [usize; 3],
}

/// The lattice with at least so many places where the bodies of these shapes have room, if there is one; otherwise the
/// largest factor on all sizes that would have room.
pub fn fit(shapes: &[Shape], count: usize, region: &Region) -> Result<Lattice, f64> {
    let mut reached = 0.0;
    for kind in 0..KINDS.len() {
        let mut best: Option<(f64, Lattice)> = None;
        for cells in candidates(shapes, count, region, KINDS[kind].len()) {
            let lattice = Lattice { kind, cells };
            let room = lattice.room(shapes, region);
            if best.is_none_or(|(most, _)| room > most) {
                best = Some((room, lattice));
            }
        }
        if let Some((room, lattice)) = best {
            reached = f64::max(reached, room);
            if room >= 1.0 + ROOM {
                return Ok(lattice);
            }
        }
    }
    Err(reached)
}

/// Numbers of cells that give places enough: about as many along each axis as make cells of the bodies' proportions.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded, positive and small")]
#[expect(clippy::cast_precision_loss, reason = "fewer bodies than 2^53")]
fn candidates(shapes: &[Shape], count: usize, region: &Region, places: usize) -> Vec<[usize; 3]> {
    let extent = Vector3::from_fn(|i, _| {
        let mut n = Vector3::zeros();
        n[i] = 1.0;
        shapes.iter().map(|shape| shape.support_height(&n)).fold(0.0, f64::max)
    });
    let relative = region.lengths.component_div(&extent);
    let cells = (count as f64 / places as f64).max(1.0);
    let step = libm::cbrt(relative.product() / cells);
    let around = |i: usize| {
        let even = ((relative[i] / step) as usize).max(1);
        even.saturating_sub(SPREAD).max(1)..=even + SPREAD
    };
    let mut found = Vec::new();
    for x in around(0) {
        for y in around(1) {
            // The fewest layers that give places enough: more would only be closer.
            let z = count.div_ceil(places * x * y).max(1);
            found.push([x, y, z]);
        }
    }
    for z in around(2) {
        for x in around(0) {
            found.push([x, count.div_ceil(places * x * z).max(1), z]);
        }
    }
    found
}

impl Lattice {
    /// By what factor all bodies could grow before two touch, or one its own image.
    fn room(&self, shapes: &[Shape], region: &Region) -> f64 {
        let step = Vector3::from_fn(|i, _| region.lengths[i] / small(self.cells[i]));
        let places = KINDS[self.kind];
        let mut least = f64::INFINITY;
        let origin = Vector3::from(places[0]);
        for place in places {
            for x in -1i8..=1 {
                for y in -1i8..=1 {
                    for z in -1i8..=1 {
                        let cell = Vector3::new(f64::from(x), f64::from(y), f64::from(z));
                        let away = (Vector3::from(*place) + cell - origin).component_mul(&step);
                        if away == Vector3::zeros() {
                            continue;
                        }
                        for (i, a) in shapes.iter().enumerate() {
                            for b in &shapes[i..] {
                                least = least.min(growth(a, b, &away));
                            }
                        }
                    }
                }
            }
        }
        // Against walls: a body stands at least a quarter of a cell away from an end of the region.
        let lowest = |i: usize| places.iter().map(|place| place[i]).fold(f64::INFINITY, f64::min);
        for i in (0..3).filter(|&i| !region.periodic[i]) {
            let mut n = Vector3::zeros();
            n[i] = 1.0;
            for shape in shapes {
                least = least.min(lowest(i) * step[i] / shape.support_height(&n));
            }
        }
        least
    }

    /// All its places.
    pub fn places(&self, region: &Region) -> Vec<Vector3<f64>> {
        let step = Vector3::from_fn(|i, _| region.lengths[i] / small(self.cells[i]));
        let [nx, ny, nz] = self.cells;
        let mut found = Vec::with_capacity(nx * ny * nz * KINDS[self.kind].len());
        for x in 0..nx {
            for y in 0..ny {
                for z in 0..nz {
                    let cell = Vector3::new(small(x), small(y), small(z));
                    found.extend(
                        KINDS[self.kind]
                            .iter()
                            .map(|place| region.low + (cell + Vector3::from(*place)).component_mul(&step)),
                    );
                }
            }
        }
        found
    }
}

#[expect(clippy::cast_precision_loss, reason = "cells along an axis")]
fn small(count: usize) -> f64 {
    count as f64
}

/// By what factor two unturned bodies whose centres are `away` from each other could grow before they touch.
fn growth(a: &Shape, b: &Shape, away: &Vector3<f64>) -> f64 {
    if a == b {
        return 0.5 * a.gauge(away);
    }
    // The gap is concave in a common factor s and falls at least with the inradii: a secant from below is safe, and
    // bisection does for the few that are asked.
    let touches = |s: f64| {
        let pose = |x: Vector3<f64>| Isometry3::from_parts(Translation3::from(x), UnitQuaternion::identity());
        gap((&a.scaled(s), &pose(Vector3::zeros())), (&b.scaled(s), &pose(*away)))
            .is_none_or(|found| found.gap <= 0.0)
    };
    let (mut low, mut high) =
        (away.norm() / (a.circumradius() + b.circumradius()), away.norm() / (a.inradius() + b.inradius()));
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if touches(middle) { high = middle } else { low = middle }
    }
    low
}
