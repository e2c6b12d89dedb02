//! Who is near: lists of neighbours, and the grid that they are made from.
//!
//! Each body has a home, the place where its list was made, and a neighbourhood: all places that it can reach while its
//! centre is within the skin of home (A. Donev, S. Torquato, F. H. Stillinger, J. Comput. Phys. 202, 2005). Two are
//! neighbours if their neighbourhoods overlap; whoever is none cannot be touched. Only a body that leaves its
//! neighbourhood looks around again.
//!
//! In a periodic box a neighbour is an image of a body, given by its place in a table of displacements by whole boxes.
//! A small box may hold several images of one body in one list.

use bytemuck::{Pod, Zeroable};
use nalgebra::Vector3;
use prefetch_index::prefetch_index;

use super::huge_pages::HugePageArray;
use super::index;
use super::next_event::NOBODY;

/// A neighbour: a body, or a plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Link {
    /// The body's index, or `PLANE` and the plane's number.
    pub with: u32,
    /// Which image of it.
    pub image: u16,
    searched: u16,
}

impl Link {
    pub fn new(with: u32, image: u16, searched: bool) -> Self {
        Self { with, image, searched: u16::from(searched) }
    }

    /// Whether there is no closed form for when the two touch.
    #[inline(always)]
    pub fn searched(&self) -> bool {
        self.searched != 0
    }
}

/// Where a list is.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Row {
    start: u32,
    /// How many are in it, and above `LEN` bits what room it has.
    size: u32,
}

const LEN: u32 = 26;

/// Rooms of lists: the first, and each half as large again as the one before.
const ROOMS: [u32; 40] = {
    let mut rooms = [0; 40];
    rooms[1] = 20;
    let mut k = 2;
    while k < 40 {
        rooms[k] = rooms[k - 1] + rooms[k - 1] / 2;
        k += 1;
    }
    rooms
};

impl Row {
    #[inline(always)]
    fn len(self) -> u32 {
        self.size & ((1 << LEN) - 1)
    }

    #[inline(always)]
    fn range(self) -> core::ops::Range<usize> {
        self.start as usize..self.start as usize + self.len() as usize
    }

    fn room(self) -> u32 {
        ROOMS[(self.size >> LEN) as usize]
    }

    /// Empties the list.
    pub fn clear(&mut self) {
        self.size -= self.len();
    }
}

/// The lists, one after another.
#[derive(Debug, Clone, Default)]
pub(super) struct Lists {
    links: HugePageArray<Link>,
    /// How long the paths of the two together must be before they can touch; empty where all are balls.
    marks: HugePageArray<f32>,
    marked: bool,
    /// Room that nobody uses any more.
    waste: usize,
}

/// Links in a line of the cache.
const LINE: usize = 8;

impl Lists {
    /// For `n` bodies.
    pub fn new(bodies: usize, marked: bool) -> Self {
        let room = bodies * (ROOMS[1] as usize + 2);
        let marks = HugePageArray::with_room(if marked { room } else { 0 });
        Self { links: HugePageArray::with_room(room), marks, marked, waste: 0 }
    }

    /// The marks of a list.
    pub fn marks(&self, row: Row) -> &[f32] {
        &self.marks[row.range()]
    }

    /// Marks one of a list.
    pub fn mark(&mut self, row: Row, at: u32, mark: f32) {
        self.marks[(row.start + at) as usize] = mark;
    }

    /// A list.
    #[inline(always)]
    pub fn of(&self, row: Row) -> &[Link] {
        &self.links[row.range()]
    }

    /// Asks the memory for a list.
    #[inline(always)]
    pub fn ask_for(&self, row: Row) {
        for at in row.range().step_by(LINE) {
            prefetch_index(&self.links[..], at);
        }
        prefetch_index(&self.links[..], row.range().end);
    }

    pub fn add(&mut self, row: &mut Row, link: Link) {
        if row.len() == row.room() {
            self.enlarge(row);
        }
        let at = row.range().end;
        self.links[at] = link;
        if self.marked {
            self.marks[at] = f32::NEG_INFINITY;
        }
        row.size += 1;
    }

    fn enlarge(&mut self, row: &mut Row) {
        let old = row.range();
        self.waste += row.room() as usize;
        let start = self.links.len();
        *row = Row { start: index(start), size: row.size + (1 << LEN) };
        let room = start + row.room() as usize;
        self.links.fill_up(Link::new(NOBODY, 0, false), room);
        self.links.copy_within(old.clone(), start);
        if self.marked {
            self.marks.fill_up(f32::NEG_INFINITY, room);
            self.marks.copy_within(old, start);
        }
    }

    /// Whether much of the room is used by nobody.
    pub fn is_wasteful(&self) -> bool {
        2 * self.waste > self.links.len() && self.waste > 10_000
    }

    /// Leaves no room that nobody uses; all lists there are.
    #[cold]
    pub fn compact<'a>(&mut self, rows: impl Iterator<Item = &'a mut Row>) {
        let room = self.links.len() - self.waste;
        let mut links = HugePageArray::filled(Link::new(NOBODY, 0, false), room);
        let mut marks = HugePageArray::filled(f32::NEG_INFINITY, if self.marked { room } else { 0 });
        let mut start = 0;
        for row in rows {
            let old = row.range();
            row.start = index(start);
            links[row.range()].copy_from_slice(&self.links[old.clone()]);
            if self.marked {
                marks[row.range()].copy_from_slice(&self.marks[old]);
            }
            start += row.room() as usize;
        }
        (self.links, self.marks, self.waste) = (links, marks, 0);
    }

    pub fn remove(&mut self, row: &mut Row, with: u32, image: u16) {
        let range = row.range();
        let links = &mut self.links[range.clone()];
        if let Some(at) = links.iter().position(|link| link.with == with && link.image == image) {
            let last = links.len() - 1;
            links[at] = links[last];
            if self.marked {
                let marks = &mut self.marks[range];
                marks[at] = marks[last];
            }
            row.size -= 1;
        }
    }

    /// Bytes taken.
    pub fn bytes(&self) -> usize {
        self.links.bytes() + self.marks.bytes()
    }
}

/// The displacements by whole boxes, and their places in a table.
#[derive(Debug, Clone)]
pub(super) struct Images {
    /// How many boxes are looked at to each side.
    reach: [i32; 3],
    shifts: Vec<Vector3<f64>>,
    lengths: Vector3<f64>,
}

/// The most boxes to each side.
const MOST_BOXES: f64 = 15.0;

impl Images {
    /// For bodies that are neighbours up to a distance of their homes.
    pub fn new(periodic: Option<&Vector3<f64>>, distance: f64) -> Self {
        let lengths = periodic.copied().unwrap_or_else(Vector3::zeros);
        let reach = core::array::from_fn(|i| {
            if lengths[i] > 0.0 {
                #[expect(clippy::cast_possible_truncation, reason = "at most 15")]
                let boxes = (distance / lengths[i]).ceil().clamp(1.0, MOST_BOXES) as i32;
                boxes
            } else {
                0
            }
        });
        let mut images = Self { reach, shifts: Vec::new(), lengths };
        for x in -reach[0]..=reach[0] {
            for y in -reach[1]..=reach[1] {
                for z in -reach[2]..=reach[2] {
                    images.shifts.push(Vector3::from_fn(|i, _| {
                        let boxes = [x, y, z][i];
                        if boxes == 0 { 0.0 } else { f64::from(boxes) * lengths[i] }
                    }));
                }
            }
        }
        images
    }

    /// The longest distance of homes that a table can serve in a box.
    pub fn longest(periodic: Option<&Vector3<f64>>) -> f64 {
        periodic.map_or(f64::INFINITY, |lengths| {
            lengths.iter().filter(|&&l| l > 0.0).fold(f64::INFINITY, |least, &l| least.min(l * MOST_BOXES))
        })
    }

    /// How many images there are.
    pub fn count(&self) -> usize {
        self.shifts.len()
    }

    /// The displacement of an image.
    #[inline(always)]
    pub fn shift(&self, image: u16) -> &Vector3<f64> {
        &self.shifts[image as usize]
    }

    /// The image of the first as seen from the second.
    #[inline(always)]
    pub fn opposite(&self, image: u16) -> u16 {
        #[expect(clippy::cast_possible_truncation, reason = "at most 31³ images")]
        let last = (self.shifts.len() - 1) as u16;
        last - image
    }

    /// The place of an image in the table; none if it is not there.
    pub fn code(&self, boxes: [i32; 3]) -> Option<u16> {
        let mut code = 0;
        for i in 0..3 {
            if boxes[i].abs() > self.reach[i] {
                return None;
            }
            code = code * (2 * self.reach[i] + 1) + boxes[i] + self.reach[i];
        }
        u16::try_from(code).ok()
    }

    /// How many boxes an image is away.
    pub fn boxes(&self, image: u16) -> [i32; 3] {
        let mut code = i32::from(image);
        let mut boxes = [0; 3];
        for i in (0..3).rev() {
            let span = 2 * self.reach[i] + 1;
            boxes[i] = code % span - self.reach[i];
            code /= span;
        }
        boxes
    }

    /// By how many boxes a place is out of the box.
    pub fn out(&self, x: &Vector3<f64>) -> [i32; 3] {
        core::array::from_fn(|i| {
            if self.lengths[i] > 0.0 {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "saturates; bodies are kept near the box"
                )]
                let boxes = (x[i] / self.lengths[i]).floor() as i32;
                boxes
            } else {
                0
            }
        })
    }

    /// A displacement by any number of boxes.
    pub fn displacement(&self, boxes: [i32; 3]) -> Vector3<f64> {
        Vector3::from_fn(|i, _| if boxes[i] == 0 { 0.0 } else { f64::from(boxes[i]) * self.lengths[i] })
    }
}

/// A grid of cells that hold the homes.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    low: Vector3<f64>,
    edge: Vector3<f64>,
    count: [i32; 3],
    periodic: [bool; 3],
    heads: HugePageArray<u32>,
    next: HugePageArray<u32>,
    cell: HugePageArray<u32>,
}

impl Grid {
    /// For homes that are neighbours up to a distance; whoever is `solid` stands in it.
    pub fn new(
        periodic: Option<&Vector3<f64>>,
        distance: f64,
        homes: impl Iterator<Item = Vector3<f64>> + Clone,
    ) -> Self {
        let bodies = homes.clone().count();
        let (mut low, mut high) = (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY));
        for home in homes {
            low = low.inf(&home);
            high = high.sup(&home);
        }
        let lengths = periodic.copied().unwrap_or_else(Vector3::zeros);
        let is_periodic = core::array::from_fn(|i| lengths[i] > 0.0);
        let mut span = Vector3::zeros();
        for i in 0..3 {
            if is_periodic[i] {
                (low[i], span[i]) = (0.0, lengths[i]);
            } else if bodies > 0 {
                span[i] = (high[i] - low[i]).max(distance);
            } else {
                (low[i], span[i]) = (0.0, distance);
            }
        }
        // No more cells than a few a body.
        #[expect(clippy::cast_precision_loss, reason = "a count of bodies")]
        let most = 4.0 * bodies as f64 + 64.0;
        let mut aim = distance;
        while (span / aim).map(|n| n.floor().max(1.0)).product() > most {
            aim *= 1.25;
        }
        #[expect(clippy::cast_possible_truncation, reason = "bounded above")]
        let count: [i32; 3] = core::array::from_fn(|i| (span[i] / aim).floor().max(1.0) as i32);
        let edge = Vector3::from_fn(|i, _| span[i] / f64::from(count[i]));
        let cells = count.iter().map(|&n| usize::try_from(n).unwrap_or(1)).product();
        Self {
            low,
            edge,
            count,
            periodic: is_periodic,
            heads: HugePageArray::filled(NOBODY, cells),
            next: HugePageArray::filled(NOBODY, bodies),
            cell: HugePageArray::filled(NOBODY, bodies),
        }
    }

    fn place(&self, x: &Vector3<f64>) -> [i32; 3] {
        core::array::from_fn(|i| {
            #[expect(clippy::cast_possible_truncation, reason = "saturates, and is clamped")]
            let cell = ((x[i] - self.low[i]) / self.edge[i]).floor() as i32;
            // Homes are within the box but for rounding; in open directions the outer cells have no end.
            cell.clamp(0, self.count[i] - 1)
        })
    }

    fn number(&self, cell: [i32; 3]) -> u32 {
        let number = (cell[0] * self.count[1] + cell[1]) * self.count[2] + cell[2];
        u32::try_from(number).unwrap_or(0)
    }

    /// Puts a body where its home is: the cell.
    pub fn enter(&mut self, body: usize, home: &Vector3<f64>) -> u32 {
        let cell = self.number(self.place(home));
        self.cell[body] = cell;
        self.next[body] = self.heads[cell as usize];
        self.heads[cell as usize] = index(body);
        cell
    }

    /// Takes a body out: the cell, or nobody's where it was in none.
    pub fn leave(&mut self, body: usize) -> u32 {
        let cell = self.cell[body];
        if cell == NOBODY {
            return cell;
        }
        let number = index(body);
        let mut at = self.heads[cell as usize];
        if at == number {
            self.heads[cell as usize] = self.next[body];
        } else {
            while at != NOBODY {
                let next = self.next[at as usize];
                if next == number {
                    self.next[at as usize] = self.next[body];
                    break;
                }
                at = next;
            }
        }
        self.cell[body] = NOBODY;
        cell
    }

    /// Who is in a cell.
    #[inline(always)]
    pub fn of(&self, cell: u32) -> impl Iterator<Item = u32> {
        let next = &self.next[..];
        let body = |at: u32| (at != NOBODY).then_some(at);
        core::iter::successors(body(self.heads[cell as usize]), move |&at| body(next[at as usize]))
    }

    /// Asks the memory for a cell.
    #[inline(always)]
    pub fn ask_for(&self, cell: u32) {
        prefetch_index(&self.heads[..], cell as usize);
    }

    /// Visits the cells of everyone who may be within a distance of a home, each with the boxes between where it is and the
    /// image that is meant.
    #[inline]
    pub fn cells(&self, home: &Vector3<f64>, distance: f64, mut visit: impl FnMut(u32, [i32; 3])) {
        let own = self.place(home);
        #[expect(clippy::cast_possible_truncation, reason = "a few cells")]
        let reach: [i32; 3] =
            core::array::from_fn(|i| ((distance / self.edge[i]).ceil() as i32).clamp(1, 1 << 12));
        // Cells along each axis: their place, and the box they are in. Divisions are slow, so each is made once.
        let along = |i: usize| {
            let (from, to) = if self.periodic[i] {
                (own[i] - reach[i], own[i] + reach[i])
            } else {
                ((own[i] - reach[i]).max(0), (own[i] + reach[i]).min(self.count[i] - 1))
            };
            let count = self.count[i];
            let (mut place, mut boxes) = (from.rem_euclid(count), from.div_euclid(count));
            (from..=to).map(move |_| {
                let here = (place, boxes);
                place += 1;
                if place == count {
                    (place, boxes) = (0, boxes + 1);
                }
                here
            })
        };
        for (x, in_x) in along(0) {
            for (y, in_y) in along(1) {
                for (z, in_z) in along(2) {
                    visit(self.number([x, y, z]), [in_x, in_y, in_z]);
                }
            }
        }
    }

    /// Bytes taken.
    pub fn bytes(&self) -> usize {
        self.heads.bytes() + self.next.bytes() + self.cell.bytes()
    }
}

/// The order of places along Morton's curve: bits of the coordinates interlaced.
pub(super) fn along_curve(places: &[Vector3<f64>]) -> Vec<u32> {
    let (mut low, mut high) = (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY));
    for x in places {
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
    let mut keyed: Vec<(u64, u32)> = places.iter().enumerate().map(|(i, x)| (key(x), index(i))).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, i)| i).collect()
}
