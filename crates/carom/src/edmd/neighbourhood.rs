//! Neighbourhoods: which bodies can touch before one of them has moved far.
//!
//! Each body has a reference position, where its list was made, and a neighbourhood: all points that it can reach while its centre is
//! within the skin of the reference position (A. Donev, S. Torquato, F. H. Stillinger, J. Comput. Phys. 202, 2005). Two bodies are
//! neighbours if their neighbourhoods overlap; bodies that are not neighbours cannot touch. Only a body that leaves its neighbourhood looks
//! for its neighbours again.
//!
//! In a periodic box a neighbour is an image of a body. In a small box one list may hold several images of the same body.

use nalgebra::Vector3;

use super::grid::Grid;
use super::images::Images;
use super::index;
use super::lists::{ListSpan, Neighbour, NeighbourLists};
use super::next_event::PLANE;
use super::storage::Particles;
use crate::run::World;

/// How many neighbours a list should have, for spheres and for other bodies: short lists cost less to look through, long ones last longer.
const TARGET_NEIGHBOURS: [f64; 2] = [15.0, 30.0];

/// The least skin, relative to a body's radius.
const MIN_SKIN: f64 = 0.1;

/// Lists reach a little farther than they must, so that rounding does not matter.
const MARGIN: f64 = 1.0 + 1e-9;

/// A reference position of a body, with its neighbourhood.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reference {
    pub position: Vector3<f64>,
    /// The time at which the body was there.
    pub since: f64,
    /// By how many boxes the body was outside the box.
    pub outside: [i32; 3],
    pub neighbourhood_radius: f64,
}

/// A body's neighbourhood at a new reference position.
#[derive(Debug, Clone, Default)]
pub(super) struct NewNeighbourhood {
    pub reference: Reference,
    pub neighbours: Vec<Neighbour>,
    /// The cells in which neighbours were looked for.
    pub cells: Vec<u32>,
    /// The bodies near by, with their images.
    near: Vec<(u32, u16)>,
}

impl NewNeighbourhood {
    pub fn clear(&mut self) {
        self.neighbours.clear();
        self.cells.clear();
    }
}

/// Neighbour lists, and what they are made from.
#[derive(Debug, Clone)]
pub(super) struct Neighbourhoods {
    pub lists: NeighbourLists,
    pub grid: Grid,
    pub images: Images,
    /// How far a centre may move from its reference position.
    pub skin: f64,
    /// The largest circumradius at the start.
    pub largest_radius: f64,
    /// The distance for which the images were tabulated.
    pub image_distance: f64,
}

impl Neighbourhoods {
    pub fn empty() -> Self {
        Self {
            lists: NeighbourLists::default(),
            grid: Grid::new(None, 1.0, core::iter::empty()),
            images: Images::new(None, 1.0),
            skin: 0.0,
            largest_radius: 0.0,
            image_distance: 1.0,
        }
    }

    /// A body's neighbours.
    #[inline(always)]
    pub fn of(&self, particles: &Particles, i: usize) -> &[Neighbour] {
        self.lists.get(particles.event_data[i].list)
    }

    /// The largest distance of the reference positions of neighbours.
    pub fn cutoff(&self, scale: f64) -> f64 {
        let distance = 2.0 * (self.largest_radius * scale + self.skin) * MARGIN;
        if distance > 0.0 { distance } else { 1.0 }
    }

    /// The reference position that a body takes if it leaves its neighbourhood at a time: where it is then, in the box.
    pub fn reference_at(&self, particles: &Particles, i: usize, t: f64, scale: f64) -> Reference {
        let here = particles.trajectory(i).at(t);
        let outside = self.images.boxes_outside(&here);
        let position = if outside == [0; 3] { here } else { here - self.images.displacement(outside) };
        let neighbourhood_radius = self.skin + particles.radius(i) * scale;
        Reference { position, since: t, outside, neighbourhood_radius }
    }

    /// Lists the neighbours that a body has at a reference position, as far as they are `wanted`, and the cells that they may be in.
    #[inline(always)]
    pub fn find(
        &self,
        particles: &Particles,
        world: &World,
        i: usize,
        scale: f64,
        new: &mut NewNeighbourhood,
        wanted: impl Fn(u32) -> bool,
    ) {
        new.clear();
        let NewNeighbourhood { reference, neighbours, cells, near } = new;
        let radius = particles.radius(i) * scale;
        let class = particles.class(i);
        let number = index(i);
        for (k, plane) in world.planes.iter().enumerate() {
            if !class.is_fixed() && plane.height(&reference.position) < (radius + self.skin) * MARGIN {
                let image = self.images.number([0; 3]).unwrap_or(0);
                neighbours.push(Neighbour::new(PLANE + index(k), image, !class.is_sphere));
            }
        }
        let cutoff = (radius + self.largest_radius * scale + 2.0 * self.skin) * MARGIN;
        let event_data = &particles.event_data[..];
        let mut count = 0;
        self.grid.visit_cells(&reference.position, cutoff, |cell, boxes| {
            let Some(image) = self.images.number(boxes) else { return };
            cells.push(cell);
            let here = reference.position - self.images.shift(image);
            for other in self.grid.bodies(cell) {
                if near.len() == count {
                    near.push((0, 0));
                }
                // Which bodies are near cannot be predicted, so there is no branch on it.
                let theirs = &event_data[other as usize];
                let distance = (reference.neighbourhood_radius + theirs.neighbourhood_radius) * MARGIN;
                let is_near = (theirs.reference_position - here).norm_squared() < distance * distance;
                near[count] = (other, image);
                count += usize::from(is_near & (other != number));
            }
        });
        for &(other, image) in &near[..count] {
            let theirs = particles.class(other as usize);
            if wanted(other) && !(class.is_fixed() && theirs.is_fixed()) {
                let needs_search = !(class.is_sphere && theirs.is_sphere);
                neighbours.push(Neighbour::new(other, image, needs_search));
            }
        }
    }

    /// Adds a neighbour to a body's list, and the body to the neighbour's.
    #[inline(always)]
    pub fn add(&mut self, particles: &mut Particles, i: usize, neighbour: Neighbour) {
        self.lists.push(&mut particles.event_data[i].list, neighbour);
        if neighbour.partner < PLANE {
            let image = self.images.opposite(neighbour.image);
            let opposite = Neighbour::new(index(i), image, neighbour.needs_search());
            self.lists.push(&mut particles.event_data[neighbour.partner as usize].list, opposite);
        }
    }

    /// Makes all lists from the reference positions.
    pub fn rebuild(&mut self, particles: &mut Particles, world: &World, scale: f64) {
        let bodies = particles.len();
        let positions = particles.event_data.iter().map(|data| data.reference_position);
        self.grid = Grid::new(world.periodic.as_ref(), self.cutoff(scale), positions);
        self.lists = NeighbourLists::new(bodies, particles.nonspherical);
        particles.event_data.iter_mut().for_each(|data| data.list = ListSpan::default());
        for i in (0..bodies).filter(|&i| particles.class(i).can_collide) {
            self.grid.insert(i, &particles.event_data[i].reference_position);
        }
        let mut new = NewNeighbourhood::default();
        for i in 0..bodies {
            if !particles.class(i).can_collide {
                continue;
            }
            let (number, data) = (index(i), &particles.event_data[i]);
            new.reference.position = data.reference_position;
            new.reference.neighbourhood_radius = data.neighbourhood_radius;
            self.find(particles, world, i, scale, &mut new, |other| other < number);
            for neighbour in &new.neighbours {
                self.add(particles, i, *neighbour);
            }
        }
    }

    /// Chooses the skin so that lists are neither long nor short-lived, and tabulates the images.
    pub fn choose_skin(&mut self, particles: &Particles, world: &World, t: f64, scale: f64) {
        let (mut radii, mut count, mut largest) = (0.0, 0.0, 0.0_f64);
        let (mut low, mut high) = (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY));
        for i in (0..particles.len()).filter(|&i| particles.class(i).can_collide) {
            radii += particles.radius(i) * scale;
            largest = largest.max(particles.radius(i));
            count += 1.0;
            let here = particles.trajectory(i).at(t);
            low = low.inf(&here);
            high = high.sup(&here);
        }
        self.largest_radius = largest;
        let radius: f64 = if count > 0.0 { radii / count } else { 1.0 };
        let lengths = world.periodic.unwrap_or_else(Vector3::zeros);
        let volume: f64 = (0..3)
            .map(|i| if lengths[i] > 0.0 { lengths[i] } else { (high[i] - low[i]).max(4.0 * radius) })
            .product();
        let target = TARGET_NEIGHBOURS[usize::from(particles.nonspherical)];
        let sphere = target * volume / f64::max(count, 1.0);
        let distance = (sphere * 3.0 / (4.0 * core::f64::consts::PI)).cbrt();
        let longest = Images::max_distance(world.periodic.as_ref());
        let skin = (0.5 * distance - radius).max(MIN_SKIN * radius);
        self.skin = skin.min(0.49 * longest - largest * scale).max(1e-6 * radius);
        self.image_distance = 2.0 * self.cutoff(scale);
        self.images = Images::new(world.periodic.as_ref(), self.image_distance);
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        self.lists.bytes() + self.grid.bytes()
    }
}
