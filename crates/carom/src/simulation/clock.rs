//! Time as an epoch and what has passed since.
//!
//! The epoch is a sum of powers of two, so it is exact, and it moves on before the time since grows long: times, positions and
//! gaps of the millionth event are as exact as the first's.

use serde::{Deserialize, Serialize};

use super::queue::{Due, Entry};
use super::{Course, Simulation, predict};

/// Time as an epoch and what has passed since.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Clock {
    /// A sum of powers of two, exact.
    pub epoch: f64,
    /// When the epoch moves next, a power of two.
    pub length: f64,
    /// The time since the epoch of the latest event.
    pub now: f64,
}

/// Passages of a body's own size in an epoch.
const PASSAGES: f64 = 64.0;

impl Clock {
    /// At zero.
    pub fn start() -> Self {
        Self { epoch: 0.0, length: 1.0, now: 0.0 }
    }

    pub fn absolute(&self, local: f64) -> f64 {
        self.epoch + local
    }

    pub fn local(&self, absolute: f64) -> f64 {
        absolute - self.epoch
    }

    /// The length of an epoch, a power of two, where a body takes so long to pass its own size.
    pub fn length_for(passage: f64) -> f64 {
        (PASSAGES * passage).log2().round().clamp(-300.0, 300.0).exp2()
    }

    /// Moves the epoch on by its length, or by more where nothing is due before the time `idle`. Returns by how much.
    pub fn move_on(&mut self, idle: f64) -> f64 {
        let mut by = self.length;
        while 2.0 * by <= idle {
            by *= 2.0;
        }
        self.epoch += by;
        self.now -= by;
        by
    }
}

impl Simulation {
    /// How long an epoch may be: some passages of the bodies' own sizes, a power of two.
    pub(super) fn epoch_length(&self) -> f64 {
        let mut shortest = f64::INFINITY;
        for (i, mover) in self.movers.iter().enumerate() {
            let (speed, size) = match &mover.course {
                Course::Flight(flight) => {
                    let size = self.world.radius[i];
                    (flight.start().velocity.norm() + flight.spin_bound() * size, size)
                }
                Course::Held { .. } if self.world.tied(i) => {
                    let [size, speed] = self.sizes_of(&[predict::index(i)], self.clock.now);
                    (speed, size)
                }
                Course::Held { .. } => continue,
            };
            let pull = self.world.pull(i).norm();
            if size > 0.0 && speed > 0.0 {
                shortest = shortest.min(size / speed);
            }
            if size > 0.0 && pull > 0.0 {
                shortest = shortest.min((size / pull).sqrt());
            }
        }
        if !shortest.is_finite() || shortest <= 0.0 {
            shortest = 1.0;
        }
        Clock::length_for(shortest)
    }

    /// Moves the zero of time.
    pub(super) fn next_epoch(&mut self) {
        // Where nothing is due for long, epochs are passed by together.
        let next = self.queue.peek().map_or(f64::INFINITY, |entry| entry.time);
        let by = self.clock.move_on(next.min(self.clock.local(self.settings.until)));
        let mut queue = std::mem::take(&mut self.queue);
        queue.shift(by, |entry| self.is_valid(entry));
        self.queue = queue;
        for mover in &mut self.movers {
            mover.since -= by;
        }
        self.shift_groups(by);
        self.clock.length = self.epoch_length();
        self.queue.push(Entry { time: self.clock.length, due: Due::Epoch, versions: [0; 2] });
    }
}
