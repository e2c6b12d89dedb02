//! Neighbour lists, one after another in one array.

use bytemuck::{Pod, Zeroable};
use prefetch_index::prefetch_index;

use super::huge_pages::HugePageArray;
use super::index;
use super::next_event::NONE;

/// A neighbour: a body or a plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Neighbour {
    /// The body's index, or `PLANE` plus the plane's number.
    pub partner: u32,
    /// Which periodic image of it.
    pub image: u16,
    needs_search: u16,
}

impl Neighbour {
    pub fn new(partner: u32, image: u16, needs_search: bool) -> Self {
        Self { partner, image, needs_search: u16::from(needs_search) }
    }

    /// Whether the time of contact has no closed form.
    #[inline(always)]
    pub fn needs_search(&self) -> bool {
        self.needs_search != 0
    }
}

/// Where a body's list is in the array.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct ListSpan {
    start: u32,
    /// The length in the lower `LENGTH_BITS`, above them the index of the capacity.
    size: u32,
}

const LENGTH_BITS: u32 = 26;

/// Capacities of a list, each half as large again as the one before.
const CAPACITIES: [u32; 40] = {
    let mut capacities = [0; 40];
    capacities[1] = 20;
    let mut k = 2;
    while k < 40 {
        capacities[k] = capacities[k - 1] + capacities[k - 1] / 2;
        k += 1;
    }
    capacities
};

impl ListSpan {
    #[inline(always)]
    fn len(self) -> u32 {
        self.size & ((1 << LENGTH_BITS) - 1)
    }

    #[inline(always)]
    fn range(self) -> core::ops::Range<usize> {
        self.start as usize..self.start as usize + self.len() as usize
    }

    fn capacity(self) -> u32 {
        CAPACITIES[(self.size >> LENGTH_BITS) as usize]
    }

    /// Empties the list.
    pub fn clear(&mut self) {
        self.size -= self.len();
    }
}

/// The lists of all bodies.
#[derive(Debug, Clone, Default)]
pub(super) struct NeighbourLists {
    neighbours: HugePageArray<Neighbour>,
    /// For each entry, the sum of the two bodies' surface path lengths below which they cannot touch; empty if all bodies are spheres.
    displacement_bounds: HugePageArray<f32>,
    has_bounds: bool,
    /// Entries of the array that belong to no list any more.
    unused: usize,
}

/// Entries in a cache line.
const LINE: usize = 8;

impl NeighbourLists {
    /// For `bodies` bodies; `has_bounds` if displacement bounds are kept.
    pub fn new(bodies: usize, has_bounds: bool) -> Self {
        let capacity = bodies * (CAPACITIES[1] as usize + 2);
        Self {
            neighbours: HugePageArray::with_capacity(capacity),
            displacement_bounds: HugePageArray::with_capacity(if has_bounds { capacity } else { 0 }),
            has_bounds,
            unused: 0,
        }
    }

    /// The displacement bounds of a list.
    #[inline(always)]
    pub fn displacement_bounds(&self, span: ListSpan) -> &[f32] {
        &self.displacement_bounds[span.range()]
    }

    /// Sets the displacement bound of one entry of a list.
    pub fn set_displacement_bound(&mut self, span: ListSpan, entry: u32, bound: f32) {
        self.displacement_bounds[(span.start + entry) as usize] = bound;
    }

    /// A list.
    #[inline(always)]
    pub fn get(&self, span: ListSpan) -> &[Neighbour] {
        &self.neighbours[span.range()]
    }

    /// Prefetches a list.
    #[inline(always)]
    pub fn prefetch(&self, span: ListSpan) {
        for at in span.range().step_by(LINE) {
            prefetch_index(&self.neighbours[..], at);
        }
        prefetch_index(&self.neighbours[..], span.range().end);
    }

    /// Appends to a list.
    pub fn push(&mut self, span: &mut ListSpan, neighbour: Neighbour) {
        if span.len() == span.capacity() {
            self.enlarge(span);
        }
        let at = span.range().end;
        self.neighbours[at] = neighbour;
        if self.has_bounds {
            self.displacement_bounds[at] = f32::NEG_INFINITY;
        }
        span.size += 1;
    }

    fn enlarge(&mut self, span: &mut ListSpan) {
        let old = span.range();
        self.unused += span.capacity() as usize;
        let start = self.neighbours.len();
        *span = ListSpan { start: index(start), size: span.size + (1 << LENGTH_BITS) };
        let end = start + span.capacity() as usize;
        self.neighbours.extend_to(end, Neighbour::new(NONE, 0, false));
        self.neighbours.copy_within(old.clone(), start);
        if self.has_bounds {
            self.displacement_bounds.extend_to(end, f32::NEG_INFINITY);
            self.displacement_bounds.copy_within(old, start);
        }
    }

    /// Removes a neighbour from a list.
    pub fn remove(&mut self, span: &mut ListSpan, partner: u32, image: u16) {
        let range = span.range();
        let neighbours = &mut self.neighbours[range.clone()];
        if let Some(at) = neighbours.iter().position(|other| other.partner == partner && other.image == image)
        {
            let last = neighbours.len() - 1;
            neighbours[at] = neighbours[last];
            if self.has_bounds {
                let bounds = &mut self.displacement_bounds[range];
                bounds[at] = bounds[last];
            }
            span.size -= 1;
        }
    }

    /// Whether much of the array is unused.
    pub fn is_fragmented(&self) -> bool {
        2 * self.unused > self.neighbours.len() && self.unused > 10_000
    }

    /// Moves all lists, whose spans are given, together.
    #[cold]
    pub fn compact<'a>(&mut self, spans: impl Iterator<Item = &'a mut ListSpan>) {
        let len = self.neighbours.len() - self.unused;
        let mut neighbours = HugePageArray::filled(Neighbour::new(NONE, 0, false), len);
        let mut bounds = HugePageArray::filled(f32::NEG_INFINITY, if self.has_bounds { len } else { 0 });
        let mut start = 0;
        for span in spans {
            let old = span.range();
            span.start = index(start);
            neighbours[span.range()].copy_from_slice(&self.neighbours[old.clone()]);
            if self.has_bounds {
                bounds[span.range()].copy_from_slice(&self.displacement_bounds[old]);
            }
            start += span.capacity() as usize;
        }
        (self.neighbours, self.displacement_bounds, self.unused) = (neighbours, bounds, 0);
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        self.neighbours.bytes() + self.displacement_bounds.bytes()
    }
}
