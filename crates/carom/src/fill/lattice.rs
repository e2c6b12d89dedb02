//! Positions on a lattice: face-centred cubic, stretched to the box and to the bodies.
//!
//! All bodies have the same orientation. Two equal, centrally symmetric convex bodies displaced by d from each other touch if ‖d‖ = 2 in
//! their own gauge; for unequal bodies the gap is computed. The lattice has n₁ × n₂ × n₃ cells of 4 sites (face-centred), 2 (body-centred)
//! or 1 (primitive). Of the lattices with enough sites, the one whose bodies are farthest apart is taken; the types are tried in that order,
//! so that a box of spheres gets the face-centred lattice and a dense box of near-cubes the primitive one.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

use super::region::Region;
use crate::gap::gap;
use crate::shape::{Convex, Shape};

/// The sites in a cell of each type of lattice, in cell lengths.
const TYPES: [&[[f64; 3]]; 3] = [
    &[[0.25, 0.25, 0.25], [0.75, 0.75, 0.25], [0.75, 0.25, 0.75], [0.25, 0.75, 0.75]],
    &[[0.25, 0.25, 0.25], [0.75, 0.75, 0.75]],
    &[[0.5, 0.5, 0.5]],
];

/// The least distance of surfaces on a lattice, relative to the bodies.
const ROOM: f64 = 1e-9;

/// Along each axis, how many numbers of cells are tried on either side of the proportionate one.
const SPREAD: usize = 3;

/// A lattice that fits a region.
#[derive(Debug, Clone, Copy)]
pub struct Lattice {
    lattice_type: usize,
    cells: [usize; 3],
}

/// A lattice with at least `count` sites on which bodies of these shapes do not overlap. If there is none, the largest factor by which all
/// sizes would have to be multiplied.
pub fn fit(shapes: &[Shape], count: usize, region: &Region) -> Result<Lattice, f64> {
    let mut reached = 0.0;
    for lattice_type in 0..TYPES.len() {
        let mut best: Option<(f64, Lattice)> = None;
        for cells in candidates(shapes, count, region, TYPES[lattice_type].len()) {
            let lattice = Lattice { lattice_type, cells };
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

/// Numbers of cells that give enough sites, with cells of about the bodies' proportions.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded, positive and small")]
#[expect(clippy::cast_precision_loss, reason = "fewer bodies than 2^53")]
fn candidates(shapes: &[Shape], count: usize, region: &Region, sites: usize) -> Vec<[usize; 3]> {
    let extent = Vector3::from_fn(|i, _| {
        let mut n = Vector3::zeros();
        n[i] = 1.0;
        shapes.iter().map(|shape| shape.support_height(&n)).fold(0.0, f64::max)
    });
    let relative = region.lengths.component_div(&extent);
    let cells = (count as f64 / sites as f64).max(1.0);
    let step = libm::cbrt(relative.product() / cells);
    let around = |i: usize| {
        let proportionate = ((relative[i] / step) as usize).max(1);
        proportionate.saturating_sub(SPREAD).max(1)..=proportionate + SPREAD
    };
    let mut found = Vec::new();
    for x in around(0) {
        for y in around(1) {
            // The fewest layers that give enough sites: more would only be closer together.
            let z = count.div_ceil(sites * x * y).max(1);
            found.push([x, y, z]);
        }
    }
    for z in around(2) {
        for x in around(0) {
            found.push([x, count.div_ceil(sites * x * z).max(1), z]);
        }
    }
    found
}

impl Lattice {
    /// The factor by which all bodies could grow before two touch, or one touches its own image.
    fn room(&self, shapes: &[Shape], region: &Region) -> f64 {
        let step = Vector3::from_fn(|i, _| region.lengths[i] / small(self.cells[i]));
        let sites = TYPES[self.lattice_type];
        let mut least = f64::INFINITY;
        let origin = Vector3::from(sites[0]);
        for site in sites {
            for x in -1i8..=1 {
                for y in -1i8..=1 {
                    for z in -1i8..=1 {
                        let cell = Vector3::new(f64::from(x), f64::from(y), f64::from(z));
                        let displacement = (Vector3::from(*site) + cell - origin).component_mul(&step);
                        if displacement == Vector3::zeros() {
                            continue;
                        }
                        for (i, a) in shapes.iter().enumerate() {
                            for b in &shapes[i..] {
                                least = least.min(growth(a, b, &displacement));
                            }
                        }
                    }
                }
            }
        }
        // At walls: a body is at least a quarter of a cell away from the ends of the region.
        let lowest = |i: usize| sites.iter().map(|site| site[i]).fold(f64::INFINITY, f64::min);
        for i in (0..3).filter(|&i| !region.periodic[i]) {
            let mut n = Vector3::zeros();
            n[i] = 1.0;
            for shape in shapes {
                least = least.min(lowest(i) * step[i] / shape.support_height(&n));
            }
        }
        least
    }

    /// The positions of all sites.
    pub fn positions(&self, region: &Region) -> Vec<Vector3<f64>> {
        let step = Vector3::from_fn(|i, _| region.lengths[i] / small(self.cells[i]));
        let [nx, ny, nz] = self.cells;
        let mut found = Vec::with_capacity(nx * ny * nz * TYPES[self.lattice_type].len());
        for x in 0..nx {
            for y in 0..ny {
                for z in 0..nz {
                    let cell = Vector3::new(small(x), small(y), small(z));
                    found.extend(
                        TYPES[self.lattice_type]
                            .iter()
                            .map(|site| region.low + (cell + Vector3::from(*site)).component_mul(&step)),
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

/// The factor by which two bodies of the same orientation, displaced from each other, could grow before they touch.
fn growth(a: &Shape, b: &Shape, displacement: &Vector3<f64>) -> f64 {
    if a == b && a.is_symmetric() {
        return 0.5 * a.gauge(displacement);
    }
    // The gap falls with a common factor s; bisection suffices for the few shapes of a mixture.
    let touches = |s: f64| {
        let pose = |x: Vector3<f64>| Isometry3::from_parts(Translation3::from(x), UnitQuaternion::identity());
        gap((&a.scaled(s), &pose(Vector3::zeros())), (&b.scaled(s), &pose(*displacement)))
            .is_none_or(|found| found.gap <= 0.0)
    };
    let (mut low, mut high) = (
        displacement.norm() / (a.circumradius() + b.circumradius()),
        displacement.norm() / (a.inradius() + b.inradius()),
    );
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if touches(middle) { high = middle } else { low = middle }
    }
    low
}
