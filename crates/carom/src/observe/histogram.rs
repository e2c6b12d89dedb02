//! The histogram of pair distances from which g(r) follows.
//!
//! With C pairs in the shell between r and r + δ, in k configurations of N bodies in the volume V,
//!
//! ```text
//! g(r) = C / (k ½ N (N−1)/V · 4π/3 ((r+δ)³ − r³))
//! ```

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use crate::fill::region::Region;

/// Shells per diameter; the diameter is the edge of a shell.
const SHELLS: f64 = 80.0;

/// Counts of pair distances.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// The thickness of a shell.
    width: f64,
    /// Pairs in each shell.
    counts: Vec<u64>,
    /// Configurations counted.
    configurations: u64,
    /// Bodies in each.
    bodies: u64,
}

impl Histogram {
    /// Up to `range` sizes, or to half the box if that is less; `None` for an open region, where g(r) depends on the position.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few hundred")]
    pub fn new(region: &Region, size: f64, range: f64) -> Option<Self> {
        if region.periodic != [true; 3] || !(size > 0.0 && size.is_finite()) {
            return None;
        }
        let width = size / SHELLS;
        let shells = (0.5 * region.lengths.min() / width).floor().min(range * SHELLS) as usize;
        (shells > 0).then(|| Self { width, counts: vec![0; shells], configurations: 0, bodies: 0 })
    }

    #[expect(clippy::cast_precision_loss, reason = "a few hundred shells")]
    fn range(&self) -> f64 {
        self.counts.len() as f64 * self.width
    }

    /// Counts the pairs of one configuration.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "folded into the box first")]
    #[expect(clippy::cast_precision_loss, reason = "cells along an axis")]
    pub fn count(&mut self, region: &Region, places: impl Iterator<Item = Vector3<f64>>) {
        let range = self.range();
        let cells = [0, 1, 2].map(|i| ((region.lengths[i] / range).floor() as usize).clamp(1, 200));
        let fold = |x: f64| x - x.floor();
        let mut sorted: Vec<(usize, Vector3<f64>)> = places
            .map(|place| {
                let share = Vector3::from_fn(|i, _| fold(place[i] / region.lengths[i]));
                let cell = [0, 1, 2].map(|i| ((share[i] * cells[i] as f64) as usize).min(cells[i] - 1));
                ((cell[0] * cells[1] + cell[1]) * cells[2] + cell[2], share.component_mul(&region.lengths))
            })
            .collect();
        // Stable, so that the bodies keep their order.
        sorted.sort_by_key(|(cell, _)| *cell);
        let mut starts = vec![0usize; cells.iter().product::<usize>() + 1];
        for (cell, _) in &sorted {
            starts[cell + 1] += 1;
        }
        for cell in 1..starts.len() {
            starts[cell] += starts[cell - 1];
        }
        let square = range * range;
        let last = self.counts.len() - 1;
        for x in 0..cells[0] {
            for y in 0..cells[1] {
                for z in 0..cells[2] {
                    let here = (x * cells[1] + y) * cells[2] + z;
                    for (other, shift) in neighbours([x, y, z], cells) {
                        // Each pair of cells once.
                        if other < here {
                            continue;
                        }
                        // For all pairs of these two cells the shortest displacement crosses the same walls.
                        let shift = shift.map(|boxes| boxes.component_mul(&region.lengths));
                        for i in starts[here]..starts[here + 1] {
                            let from = if other == here { i + 1 } else { starts[other] };
                            for (_, place) in &sorted[from..starts[other + 1]] {
                                let displacement = place - sorted[i].1;
                                let displacement = shift.map_or_else(
                                    || region.shortest(displacement),
                                    |shift| displacement + shift,
                                );
                                let squared = displacement.norm_squared();
                                if squared < square {
                                    let shell = (squared.sqrt() / self.width) as usize;
                                    self.counts[shell.min(last)] += 1;
                                }
                            }
                        }
                    }
                }
            }
        }
        self.configurations += 1;
        self.bodies = sorted.len() as u64;
    }

    /// The middle of each shell, and g(r) there; empty before the first count.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
    pub fn g_r(&self, volume: f64) -> Vec<(f64, f64)> {
        let count = self.bodies as f64;
        let pairs = self.configurations as f64 * 0.5 * count * (count - 1.0) / volume;
        if pairs <= 0.0 {
            return Vec::new();
        }
        let shell = |(i, pairs_in): (usize, &u64)| {
            let (inner, outer) = (i as f64 * self.width, (i + 1) as f64 * self.width);
            let shell = 4.0 / 3.0 * core::f64::consts::PI * (outer.powi(3) - inner.powi(3));
            (0.5 * (inner + outer), *pairs_in as f64 / (pairs * shell))
        };
        self.counts.iter().enumerate().map(shell).collect()
    }

    /// The total number of pairs counted.
    #[must_use]
    pub fn pairs(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Configurations counted.
    #[must_use]
    pub fn configurations(&self) -> u64 {
        self.configurations
    }
}

/// The numbers of a cell and of those around it, each once, with the displacement in boxes that brings their bodies near. `None` if there are
/// fewer than three cells along an axis, because the displacement then differs from pair to pair.
fn neighbours(cell: [usize; 3], cells: [usize; 3]) -> Vec<(usize, Option<Vector3<f64>>)> {
    let plain = cells.iter().all(|&count| count > 2);
    let mut found: Vec<(usize, Option<Vector3<f64>>)> = (0..27usize)
        .map(|k| {
            let step = [k / 9, k / 3 % 3, k % 3];
            let next = |i: usize| cell[i] + cells[i] + step[i] - 1;
            let [x, y, z] = [0, 1, 2].map(|i| next(i) % cells[i]);
            let boxes = Vector3::from_fn(|i, _| match next(i) / cells[i] {
                0 => -1.0,
                1 => 0.0,
                _ => 1.0,
            });
            ((x * cells[1] + y) * cells[2] + z, plain.then_some(boxes))
        })
        .collect();
    found.sort_unstable_by_key(|(cell, _)| *cell);
    found.dedup_by_key(|(cell, _)| *cell);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_histogram_counts_all_pairs() {
        // Two cells along the short axes, where a pair may be near across both walls; at least five in the other box.
        for (lengths, range) in [([9.0, 4.1, 5.0], 2.0), ([10.0, 12.0, 11.0], 2.0)] {
            let region = Region { low: Vector3::zeros(), lengths: lengths.into(), periodic: [true; 3] };
            let mut seed = 7u64;
            let mut uniform = || {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                f64::from((seed >> 33) as u32) / f64::from(1u32 << 31)
            };
            // Some of them are outside the box.
            let places: Vec<Vector3<f64>> =
                (0..300).map(|_| Vector3::from_fn(|i, _| (3.0 * uniform() - 1.0) * lengths[i])).collect();
            let mut histogram = Histogram::new(&region, 1.0, range).unwrap();
            histogram.count(&region, places.iter().copied());
            let mut counts = vec![0u64; histogram.counts.len()];
            for (i, a) in places.iter().enumerate() {
                for b in &places[i + 1..] {
                    let apart = region.shortest(b - a).norm();
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "a small bin"
                    )]
                    let bin = (apart / histogram.width) as usize;
                    if let Some(count) = counts.get_mut(bin) {
                        *count += 1;
                    }
                }
            }
            assert!(counts.iter().sum::<u64>() > 500);
            assert_eq!(histogram.counts, counts);
        }
    }
}
