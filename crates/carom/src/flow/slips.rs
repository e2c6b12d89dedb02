//! Slips that end, and how fast they turn.

use nalgebra::Vector3;

use super::friction::STILL;
use super::sizes::Sizes;
use super::system::System;
use super::unknowns::PER_SLIP;
use super::{Flow, Mode, Obstacle};
use crate::body::State;
use crate::integrate::gauss::{Field, Gauss, Leg};
use crate::shape::unit;

/// A slip that has come below this, relative to the speeds, is over: friction takes the rest away in as short a time. The impulse
/// of that is counted ([`System::stop`]), and what it leaves out is of second order.
pub(super) const STOPPED: f64 = 1e-9;

/// The same where no step can be made: what it leaves out is still below the rounding of energies.
const SLOW: f64 = 1e-7;

/// A slip that turns by less in a step keeps its direction.
const STRAIGHT: f64 = 1e-6;

impl Flow {
    /// Ends slips that no step can follow, if they are so slow that friction ends them in no time. Returns whether there were such.
    pub(super) fn bring_to_rest(
        &self,
        system: &mut System,
        states: &mut [State],
        sizes: &Sizes,
    ) -> Result<bool, Obstacle> {
        (system.carries, system.lenient) = (false, false);
        system.place(states);
        system.touch()?;
        let slow = |i: &usize| system.slides(*i) && system.touches[*i].slip.norm() <= SLOW * sizes.speed;
        let slow: Vec<usize> = (0..self.contacts.len()).filter(slow).collect();
        if slow.iter().all(|&i| system.slips[i] == Vector3::zeros()) {
            return Ok(false);
        }
        for i in slow {
            system.modes[i] = Mode::Stick;
            system.slips[i] = Vector3::zeros();
        }
        system.stop(states)?;
        system.modes = self.settle_friction(system, states)?;
        Ok(true)
    }

    /// The contact whose slip is as good as over at a place of a leg, and how long it would go on. One that keeps its direction is
    /// left to the next leg, which goes through zero.
    pub(super) fn comes_to_rest(
        &self,
        system: &System,
        leg: &Leg,
        place: f64,
        sizes: &Sizes,
    ) -> Option<(usize, f64)> {
        let (mut slip, mut rate) = ([0.0; PER_SLIP], [0.0; PER_SLIP]);
        let mut slides = (0..self.contacts.len()).filter(|&i| system.slides(i)).enumerate();
        slides.find_map(|(at, i)| {
            let base = system.first_slip() + at * PER_SLIP;
            let first = Vector3::from_column_slice(&leg.start()[base..base + PER_SLIP]);
            leg.at(place, base..base + PER_SLIP, &mut slip);
            leg.rate(place, base..base + PER_SLIP, &mut rate);
            let (slip, rate) = (Vector3::from(slip), Vector3::from(rate));
            let turned = unit(&slip).cross(&unit(&first)).norm() > STRAIGHT;
            let over = if turned { STOPPED } else { STILL };
            let ends = slip.norm() <= over * sizes.speed && slip.dot(&rate) < 0.0;
            // By so much the slip itself may be off.
            ends.then(|| (i, (slip.norm() + system.still) / rate.norm()))
        })
    }

    /// The time in which friction would turn the slowest slip around, unless it comes to rest.
    pub(super) fn slip_time(&self, system: &mut System, y: &[f64], from: f64) -> Result<f64, Obstacle> {
        if !(0..self.contacts.len()).any(|i| system.slides(i)) {
            return Ok(f64::INFINITY);
        }
        let mut rate = vec![0.0; y.len()];
        system.rate(from, y, &mut rate)?;
        let mut time = f64::INFINITY;
        for i in 0..self.contacts.len() {
            let Mode::Slip { coefficient, .. } = system.modes[i] else { continue };
            let slip = system.slip(i).norm();
            let row = system.balance.row(system.first_line[i]);
            let response: f64 = row.iter().map(|c| c * c).sum();
            // What sets out has no such time, nor what comes to rest without turning.
            let (along, rate) = (unit(&system.slip(i)), unit(&system.slip_rate(i)));
            let straight = along.dot(&rate) < 0.0 && along.cross(&rate).norm() < STRAIGHT;
            if slip > 0.0 && coefficient > 0.0 && !straight {
                time = time.min(slip / (coefficient * system.force(i).0.abs() * response));
            }
        }
        Ok(time)
    }

    /// Whether a slip turns about within a leg other than through zero: friction is then not continued rightly.
    pub(super) fn turns_about(&self, system: &System, gauss: &Gauss, leg: &Leg, sizes: &Sizes) -> bool {
        let mut slip = [0.0; PER_SLIP];
        let slides = (0..self.contacts.len()).filter(|&i| system.slides(i));
        for (place, i) in slides.enumerate() {
            let Mode::Slip { along, .. } = system.modes[i] else { continue };
            let base = system.first_slip() + place * PER_SLIP;
            let (mut turned, mut aside): (bool, f64) = (false, 0.0);
            for &x in gauss.nodes() {
                leg.at(leg.time(x), base..base + PER_SLIP, &mut slip);
                let slip = Vector3::from(slip);
                let ahead = slip.dot(&along);
                turned |= ahead < 0.5 * slip.norm();
                aside = aside.max((slip - along * ahead).norm());
            }
            if turned && aside > STOPPED * sizes.speed {
                return true;
            }
        }
        false
    }
}
