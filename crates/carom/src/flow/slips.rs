//! Slips that end, and how fast they turn.
//!
//! **A slip that dies while it turns.** With s' = f(e), e = s/|s|, friction turns the direction in a time that goes to zero with the slip,
//! and in t no polynomial follows it to its end. In σ with dt/dσ ∝ |s| direction and log |s| are smooth,
//!
//! ```text
//! d(log|s|)/dσ ∝ e·f(e),     de/dσ ∝ (I − eeᵀ) f(e)
//! ```
//!
//! and the direction goes to a fixed point, f(e) ∥ e (theory, section 5). So such steps run by a clock of that pace, the same as that of
//! [`flat`](super::flat), until the direction no longer turns. From there the slip is straight, and its stop a root in t.

use nalgebra::Vector3;

use super::friction::STILL;
use super::sizes::Sizes;
use super::system::{Level, System};
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

/// A slip whose rate is along it but for this angle goes straight to zero: it passes closer by than the rounding of velocities.
const ALIGNED: f64 = 1e-11;

/// A slip is followed by a clock where friction could turn it around in less than this share of the longest step in t.
const QUICK: f64 = 0.25;

/// Slips that were stopped because they were slower than the rest speed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StoppedSlips {
    /// How many.
    pub count: u64,
    /// The energy that they took with them.
    pub energy: f64,
    /// The fastest.
    pub speed_max: f64,
}

impl Flow {
    /// Stops slips that are slower than the rest speed, if friction slows them; for contacts just touched, in their modes.
    pub(super) fn stop_slow_slips(&self, system: &mut System, states: &mut [State]) -> Result<(), Obstacle> {
        if self.end_slow_slips(system, states)? {
            system.modes = self.settle_friction(system, states)?;
        }
        Ok(())
    }

    /// The same, but which contacts stick is left to be found. Returns whether there were such slips.
    pub(super) fn end_slow_slips(&self, system: &mut System, states: &mut [State]) -> Result<bool, Obstacle> {
        let speed = |system: &System, i: usize| system.touches[i].slip.norm();
        let slow = |system: &System, i: usize| {
            system.slides(i) && speed(system, i) > 0.0 && speed(system, i) < self.expected.rest_slip
        };
        if !(0..self.loose).any(|i| slow(system, i)) {
            return Ok(false);
        }
        system.place(states);
        system.touch()?;
        // Among several, what slows a slip may be the stop of another.
        let several = self.loose > 1;
        if !several {
            system.balance(Level::Acceleration)?;
        }
        let dies = |i: usize| several || system.touches[i].slip.dot(&system.slip_rate(i)) < 0.0;
        let slow: Vec<usize> = (0..self.loose).filter(|&i| slow(system, i) && dies(i)).collect();
        if slow.is_empty() {
            return Ok(false);
        }
        for &i in &slow {
            system.stopped.count += 1;
            system.stopped.speed_max = system.stopped.speed_max.max(speed(system, i));
            system.modes[i] = Mode::Stick;
        }
        self.stop_slips(system, states)?;
        Ok(true)
    }

    /// Puts the states on the rows of contacts whose slips have just been ended, and counts the energy that this takes.
    pub(super) fn stop_slips(&self, system: &mut System, states: &mut [State]) -> Result<(), Obstacle> {
        let before = self.energy(states);
        system.stop(states)?;
        system.stopped.energy += before - self.energy(states);
        Ok(())
    }

    /// Lets the clock of a step follow slips that die while they turn; for contacts just touched.
    pub(super) fn follow_turning_slips(&self, system: &mut System, sizes: &Sizes) -> Result<(), Obstacle> {
        system.slip_tempo.fill(0.0);
        let moves = |i: &usize| system.slides(*i) && system.slips[*i] != Vector3::zeros();
        let sliding: Vec<usize> = (0..self.contacts.len()).filter(moves).collect();
        if sliding.is_empty() {
            return Ok(());
        }
        let clock = core::mem::replace(&mut system.clock, false);
        system.touch()?;
        system.balance(Level::Acceleration)?;
        // What is cut short before a slip has turned needs no such clock.
        let lasts = self.expected.time.map_or(f64::INFINITY, |time| time / QUICK);
        let longest = (2.0 * libm::sqrt(sizes.length / sizes.acceleration)).min(lasts);
        let mut followed = Vec::new();
        for i in sliding {
            let Mode::Slip { coefficient, .. } = system.modes[i] else { continue };
            let (slip, rate) = (system.slip(i), system.slip_rate(i));
            let response = system.balance.response(system.first_line[i]);
            let turned_in = slip.norm() / (coefficient * system.force(i).0.abs() * response);
            let turns = unit(&slip).cross(&unit(&rate)).norm() > ALIGNED;
            let dies = slip.dot(&rate) < 0.0 && system.flats[i].is_none();
            if dies && turns && turned_in < QUICK * longest {
                followed.push((i, rate.norm()));
            }
        }
        system.clock = clock;
        for (i, tempo) in followed {
            (system.slip_tempo[i], system.clock) = (tempo, true);
        }
        system.touch()
    }

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
        let mut pace = [1.0];
        if system.clock {
            let clock = self.contact_unknown(0, 0);
            leg.rate(place, clock..clock + 1, &mut pace);
        }
        let mut slides = (0..self.contacts.len()).filter(|&i| system.slides(i)).enumerate();
        slides.find_map(|(at, i)| {
            let base = system.first_slip() + at * PER_SLIP;
            let first = Vector3::from_column_slice(&leg.start()[base..base + PER_SLIP]);
            leg.at(place, base..base + PER_SLIP, &mut slip);
            leg.rate(place, base..base + PER_SLIP, &mut rate);
            let (slip, rate) = (Vector3::from(slip), Vector3::from(rate));
            let turned = system.slip_tempo[i] > 0.0 || unit(&slip).cross(&unit(&first)).norm() > STRAIGHT;
            let over = if turned {
                (STOPPED * sizes.speed).max(self.expected.rest_slip)
            } else {
                STILL * sizes.speed
            };
            let ends = slip.norm() <= over && slip.dot(&rate) < 0.0;
            // By so much the slip itself may be off.
            ends.then(|| (i, (slip.norm() + system.still) / rate.norm() * pace[0]))
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
            let response = system.balance.response(system.first_line[i]);
            // What sets out has no such time, nor what comes to rest without turning.
            let (along, rate) = (unit(&system.slip(i)), unit(&system.slip_rate(i)));
            let straight = along.dot(&rate) < 0.0 && along.cross(&rate).norm() <= ALIGNED;
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
