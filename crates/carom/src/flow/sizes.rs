//! Sizes of a motion: what rounding and accuracy are measured by.

use nalgebra::Vector3;

use super::Flow;
use super::system::System;
use super::tie::Tie;
use super::unknowns::PER_BODY;
use crate::body::Body;

/// Rounding of a force beside the terms it is the difference of.
pub(super) const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Sizes of the motion that rounding is measured by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub length: f64,
    pub speed: f64,
    pub acceleration: f64,
}

impl Flow {
    /// The sizes of a motion: for contacts just touched.
    pub(super) fn sizes(&self, system: &System) -> Sizes {
        let mut sizes = Sizes { length: self.length(), speed: 0.0, acceleration: 0.0 };
        for (b, placed) in system.placed.iter().enumerate() {
            if placed.slot.is_none() {
                continue;
            }
            let length = self.lengths[b];
            let spin = placed.state.angular_velocity.norm();
            sizes.speed = sizes.speed.max(placed.state.velocity.norm() + length * spin);
            let acceleration = placed.acceleration.norm() + length * (placed.spin_rate.norm() + spin * spin);
            sizes.acceleration = sizes.acceleration.max(acceleration);
        }
        for (i, line) in system.lines.iter().enumerate() {
            // What flats add may be infinite, and passes.
            let flat = |k: usize| system.flats[k].is_some() && system.first_line[k] == i;
            if line.residual.is_some()
                && line.parts[0][0] != Vector3::zeros()
                && !(0..self.contacts.len()).any(flat)
            {
                // By a clock, it is times the pace.
                sizes.acceleration = sizes.acceleration.max(line.bias.abs() / system.pace);
            }
        }
        // What rests is as fast as it would fall over its own size.
        sizes.speed = sizes.speed.max(libm::sqrt(sizes.length * sizes.acceleration));
        if sizes.speed == 0.0 {
            sizes.speed = sizes.length;
        }
        sizes
    }

    /// What counts as one for each unknown.
    pub(super) fn scales(&self, sizes: &Sizes, system: &System) -> Vec<f64> {
        let extras = system.extras();
        let mut scales = vec![1.0; self.unknowns(extras)];
        let mut heaviest: f64 = 0.0;
        let free = self.bodies.iter().zip(&self.lengths).filter(|(body, _)| !body.fixed);
        for (slot, (body, &length)) in free.enumerate() {
            let out = &mut scales[slot * PER_BODY..(slot + 1) * PER_BODY];
            out[..3].fill(length);
            out[3..6].fill(sizes.speed);
            out[10..13].fill(body.inertia.max() * sizes.speed / length);
            heaviest = heaviest.max(body.mass);
        }
        let base = self.contact_unknown(0, 0);
        if system.clock {
            // The clock, then points.
            scales[base] = sizes.length / sizes.speed;
            scales[base + 1..base + system.clock_extras()].fill(sizes.length);
        }
        scales[base + system.clock_extras()..base + extras].fill(sizes.speed);
        for i in 0..self.contacts.len() {
            let base = self.contact_unknown(extras, i);
            scales[base..base + 4].fill(heaviest * sizes.speed);
            scales[base + 4] = heaviest * sizes.speed * sizes.speed;
        }
        for i in 0..self.ties.len() {
            let base = self.tie_unknown(extras, i);
            scales[base..base + 3].fill(heaviest * sizes.speed);
            scales[base + 3..base + 6].fill(heaviest * sizes.speed * sizes.length);
        }
        scales
    }

    /// The size of a body; zero if it is immovable and has none.
    pub(super) fn body_length(body: &Body) -> f64 {
        let gyration = if body.fixed { 0.0 } else { libm::sqrt(body.inertia.max() / body.mass) };
        body.shape.circumradius().max(gyration)
    }

    /// The arc along which a joint's turns are measured: the size of the larger of its bodies that move.
    pub(super) fn tie_length(&self, tie: &Tie) -> f64 {
        let movable = tie.bodies.iter().flatten().filter(|&&b| !self.bodies[b].fixed);
        let length = movable.map(|&b| self.lengths[b]).fold(0.0, f64::max);
        if length > 0.0 { length } else { 1.0 }
    }

    /// The largest size in the group.
    pub(super) fn length(&self) -> f64 {
        let length = self.lengths.iter().copied().fold(0.0, f64::max);
        if length > 0.0 { length } else { 1.0 }
    }
}
