//! Two bodies, or a body and a plane, that touch: their sides, gap and surface.

use super::index;
use super::next_event::PLANE;
use super::system::System;
use crate::body::State;
use crate::contact::{Side, Surface};
use crate::gap::{Gap, gap, gap_to_plane};
use crate::run::tolerances::GAP_ROUNDING;

/// Approaches that would take 1e30 epochs to pass a body's size result only from inelastic collapse.
const COLLAPSED: f64 = 1e-30;

/// A contact pair: the first side is a plane or a body, the second a body with a larger number in the scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ContactPair {
    pub first: u32,
    pub second: u32,
    /// The periodic image of the second body.
    pub image: u16,
}

/// How a contact responds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Response {
    pub restitution: f64,
    pub surface: Surface,
    /// Whether it is elastic only because it follows another collision within the contact time.
    pub by_contact_time: bool,
}

impl System {
    /// A body and its partner in the order in which they are reported: planes first, then smaller numbers.
    pub fn pair(&self, i: usize, partner: u32, image: u16) -> ContactPair {
        let number = index(i);
        let data = &self.particles.event_data;
        if partner >= PLANE || data[partner as usize].scene_index < data[i].scene_index {
            let image = if partner >= PLANE { image } else { self.opposite(image) };
            ContactPair { first: partner, second: number, image }
        } else {
            ContactPair { first: number, second: partner, image }
        }
    }

    /// The sides of a pair, by their numbers in the scene.
    pub fn sides(&self, pair: &ContactPair) -> [Side; 2] {
        let body = |i: u32| Side::Body(self.particles.scene_index(i as usize));
        let first =
            if pair.first >= PLANE { Side::Plane((pair.first - PLANE) as usize) } else { body(pair.first) };
        [first, body(pair.second)]
    }

    /// The sum of the circumradii of a pair.
    pub fn pair_size(&self, pair: &ContactPair, t: f64) -> f64 {
        let first = if pair.first >= PLANE { 0.0 } else { self.particles.radius(pair.first as usize) };
        (first + self.particles.radius(pair.second as usize)) * self.scale_at(t)
    }

    /// Whether both sides are spheres.
    #[inline(always)]
    pub fn are_spheres(&self, pair: &ContactPair) -> bool {
        pair.first < PLANE
            && self.particles.class(pair.first as usize).is_sphere
            && self.particles.class(pair.second as usize).is_sphere
    }

    /// The gap of a pair at a time, if the bounding spheres are nearer than `near` times the pair's size.
    pub fn near_gap(&self, pair: &ContactPair, t: f64, near: f64) -> Option<f64> {
        let second = self.particles.trajectory(pair.second as usize).at(t);
        let size = self.pair_size(pair, t);
        let distance = if pair.first >= PLANE {
            self.world.planes[(pair.first - PLANE) as usize].height(&second) - size
        } else {
            let first = self.particles.trajectory(pair.first as usize).at(t);
            (second + self.shift(pair.image) - first).norm() - size
        };
        if distance > near * size {
            return None;
        }
        let first_is_round = pair.first >= PLANE || self.particles.class(pair.first as usize).is_sphere;
        if first_is_round && self.particles.class(pair.second as usize).is_sphere {
            return Some(distance);
        }
        let state = |i: u32| self.state(i as usize, t);
        self.gap_of(pair, t, &state).map(|found| found.gap)
    }

    /// The gap of a pair whose bodies are in the states that `state` gives.
    pub fn gap_of(&self, pair: &ContactPair, t: f64, state: &impl Fn(u32) -> State) -> Option<Gap> {
        let class = |i: u32| self.particles.class(i as usize);
        let grown = |i: u32| self.body(i as usize).shape.scaled(self.scale_at(t));
        let grows = self.settings.growth != 0.0;
        let mut second = state(pair.second);
        if pair.first >= PLANE {
            let plane = &self.world.planes[(pair.first - PLANE) as usize];
            let pose = second.pose();
            return Some(if grows {
                gap_to_plane(&grown(pair.second), &pose, plane)
            } else {
                gap_to_plane(class(pair.second), &pose, plane)
            });
        }
        second.position += self.shift(pair.image);
        let (here, there) = (state(pair.first).pose(), second.pose());
        if grows {
            gap((&grown(pair.first), &here), (&grown(pair.second), &there))
        } else {
            gap((class(pair.first), &here), (class(pair.second), &there))
        }
    }

    /// The rounding error of a gap.
    pub fn gap_rounding(&self, pair: &ContactPair, t: f64) -> f64 {
        let position = &self.particles.trajectory(pair.second as usize).position;
        GAP_ROUNDING * (self.pair_size(pair, t) + position.norm())
    }

    /// How a contact responds at a time.
    #[inline]
    pub fn response(&self, pair: &ContactPair, t: f64) -> Response {
        let (restitution, surface) = self.world.contact_properties(self.sides(pair));
        let surface = if self.settings.growth == 0.0 { surface } else { Surface::Smooth };
        let last = |i: u32| {
            if i < PLANE { self.particles.event_data[i as usize].last_collision } else { f64::NEG_INFINITY }
        };
        let by_contact_time = self.settings.contact_time > 0.0
            && restitution < 1.0
            && t - last(pair.first).max(last(pair.second)) < self.settings.contact_time;
        Response { restitution: if by_contact_time { 1.0 } else { restitution }, surface, by_contact_time }
    }

    /// Whether an approach is so slow that only inelastic collapse can have caused it; this ends a run.
    #[inline(always)]
    pub fn has_collapsed(&self, pair: &ContactPair, t: f64, approach: f64) -> bool {
        approach < 0.0 && -approach * self.clock.length < COLLAPSED * self.pair_size(pair, t)
    }
}
