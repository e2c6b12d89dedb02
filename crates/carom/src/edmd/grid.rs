//! The cell grid of reference positions, from which neighbour lists are made, and a space-filling curve.

use nalgebra::Vector3;
use prefetch_index::prefetch_index;

use super::huge_pages::HugePageArray;
use super::index;
use super::next_event::NONE;

/// A grid of cells, each with a linked list of its bodies.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    low: Vector3<f64>,
    edge: Vector3<f64>,
    count: [i32; 3],
    periodic: [bool; 3],
    /// The first body of each cell.
    heads: HugePageArray<u32>,
    /// The next body in the same cell, of each body.
    next: HugePageArray<u32>,
    /// Each body's cell.
    cell: HugePageArray<u32>,
}

impl Grid {
    /// An empty grid that covers these reference positions, with cells about as long as the cutoff of the neighbour lists.
    pub fn new(
        periodic: Option<&Vector3<f64>>,
        cutoff: f64,
        positions: impl Iterator<Item = Vector3<f64>> + Clone,
    ) -> Self {
        let bodies = positions.clone().count();
        let (mut low, mut high) = (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY));
        for position in positions {
            low = low.inf(&position);
            high = high.sup(&position);
        }
        let lengths = periodic.copied().unwrap_or_else(Vector3::zeros);
        let is_periodic = core::array::from_fn(|i| lengths[i] > 0.0);
        let mut span = Vector3::zeros();
        for i in 0..3 {
            if is_periodic[i] {
                (low[i], span[i]) = (0.0, lengths[i]);
            } else if bodies > 0 {
                span[i] = (high[i] - low[i]).max(cutoff);
            } else {
                (low[i], span[i]) = (0.0, cutoff);
            }
        }
        // At most a few cells per body.
        #[expect(clippy::cast_precision_loss, reason = "a count of bodies")]
        let max_cells = 4.0 * bodies as f64 + 64.0;
        let mut target = cutoff;
        while (span / target).map(|n| n.floor().max(1.0)).product() > max_cells {
            target *= 1.25;
        }
        #[expect(clippy::cast_possible_truncation, reason = "bounded above")]
        let count: [i32; 3] = core::array::from_fn(|i| (span[i] / target).floor().max(1.0) as i32);
        let edge = Vector3::from_fn(|i, _| span[i] / f64::from(count[i]));
        let cells = count.iter().map(|&n| usize::try_from(n).unwrap_or(1)).product();
        Self {
            low,
            edge,
            count,
            periodic: is_periodic,
            heads: HugePageArray::filled(NONE, cells),
            next: HugePageArray::filled(NONE, bodies),
            cell: HugePageArray::filled(NONE, bodies),
        }
    }

    fn coordinates(&self, x: &Vector3<f64>) -> [i32; 3] {
        core::array::from_fn(|i| {
            #[expect(clippy::cast_possible_truncation, reason = "saturates, and is clamped")]
            let cell = ((x[i] - self.low[i]) / self.edge[i]).floor() as i32;
            // Reference positions are in the box up to rounding; along open directions the outermost cells are unbounded.
            cell.clamp(0, self.count[i] - 1)
        })
    }

    fn number(&self, cell: [i32; 3]) -> u32 {
        let number = (cell[0] * self.count[1] + cell[1]) * self.count[2] + cell[2];
        u32::try_from(number).unwrap_or(0)
    }

    /// Inserts a body at its reference position. Returns the cell.
    pub fn insert(&mut self, body: usize, position: &Vector3<f64>) -> u32 {
        let cell = self.number(self.coordinates(position));
        self.cell[body] = cell;
        self.next[body] = self.heads[cell as usize];
        self.heads[cell as usize] = index(body);
        cell
    }

    /// Removes a body. Returns the cell, or `NONE` if it was in none.
    pub fn remove(&mut self, body: usize) -> u32 {
        let cell = self.cell[body];
        if cell == NONE {
            return cell;
        }
        let number = index(body);
        let mut at = self.heads[cell as usize];
        if at == number {
            self.heads[cell as usize] = self.next[body];
        } else {
            while at != NONE {
                let next = self.next[at as usize];
                if next == number {
                    self.next[at as usize] = self.next[body];
                    break;
                }
                at = next;
            }
        }
        self.cell[body] = NONE;
        cell
    }

    /// The bodies in a cell.
    #[inline(always)]
    pub fn bodies(&self, cell: u32) -> impl Iterator<Item = u32> {
        let next = &self.next[..];
        let body = |at: u32| (at != NONE).then_some(at);
        core::iter::successors(body(self.heads[cell as usize]), move |&at| body(next[at as usize]))
    }

    /// Prefetches the head of a cell.
    #[inline(always)]
    pub fn prefetch(&self, cell: u32) {
        prefetch_index(&self.heads[..], cell as usize);
    }

    /// Visits the cells of all bodies that may be within a distance of a position, each with the displacement, in boxes, of the image
    /// in question.
    #[inline]
    pub fn visit_cells(&self, position: &Vector3<f64>, distance: f64, mut visit: impl FnMut(u32, [i32; 3])) {
        let own = self.coordinates(position);
        #[expect(clippy::cast_possible_truncation, reason = "a few cells")]
        let extent: [i32; 3] =
            core::array::from_fn(|i| ((distance / self.edge[i]).ceil() as i32).clamp(1, 1 << 12));
        // The cells along each axis, and the box of each. Divisions are slow, so there is one per axis.
        let along = |i: usize| {
            let (from, to) = if self.periodic[i] {
                (own[i] - extent[i], own[i] + extent[i])
            } else {
                ((own[i] - extent[i]).max(0), (own[i] + extent[i]).min(self.count[i] - 1))
            };
            let count = self.count[i];
            let (mut cell, mut boxes) = (from.rem_euclid(count), from.div_euclid(count));
            (from..=to).map(move |_| {
                let current = (cell, boxes);
                cell += 1;
                if cell == count {
                    (cell, boxes) = (0, boxes + 1);
                }
                current
            })
        };
        for (x, box_x) in along(0) {
            for (y, box_y) in along(1) {
                for (z, box_z) in along(2) {
                    visit(self.number([x, y, z]), [box_x, box_y, box_z]);
                }
            }
        }
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        self.heads.bytes() + self.next.bytes() + self.cell.bytes()
    }
}

/// The order of positions along the Morton curve: the bits of the coordinates interleaved.
pub(super) fn morton_order(positions: &[Vector3<f64>]) -> Vec<u32> {
    let (mut low, mut high) = (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY));
    for x in positions {
        low = low.inf(x);
        high = high.sup(x);
    }
    let span = (high - low).max().max(f64::MIN_POSITIVE);
    let key = |x: &Vector3<f64>| {
        let spread = |i: usize| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "21 bits")]
            let mut bits = ((x[i] - low[i]) / span * 2_097_151.0) as u64 & 0x1f_ffff;
            bits = (bits | bits << 32) & 0x001f_0000_0000_ffff;
            bits = (bits | bits << 16) & 0x001f_0000_ff00_00ff;
            bits = (bits | bits << 8) & 0x100f_00f0_0f00_f00f;
            bits = (bits | bits << 4) & 0x10c3_0c30_c30c_30c3;
            (bits | bits << 2) & 0x1249_2492_4924_9249
        };
        spread(0) | spread(1) << 1 | spread(2) << 2
    };
    let mut keyed: Vec<(u64, u32)> = positions.iter().enumerate().map(|(i, x)| (key(x), index(i))).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, i)| i).collect()
}
