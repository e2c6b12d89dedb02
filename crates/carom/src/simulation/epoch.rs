//! When the zero of time moves on.

use super::queue::{Due, Entry};
use super::{Simulation, Trajectory};
use crate::run::Clock;

impl Simulation {
    /// How long an epoch may be: some passages of the bodies' own sizes, a power of two.
    pub(super) fn epoch_length(&self) -> f64 {
        let mut shortest = f64::INFINITY;
        for (i, motion) in self.motions.iter().enumerate() {
            let (speed, size) = match &motion.course {
                Trajectory::Flight(flight) => {
                    let size = self.world.radius[i];
                    (flight.start().velocity.norm() + flight.spin_bound() * size, size)
                }
                Trajectory::Held { .. } if self.world.constrained(i) => {
                    let [size, speed] = self.sizes_of(&[crate::run::index(i)], self.clock.now);
                    (speed, size)
                }
                Trajectory::Held { .. } => continue,
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
        for motion in &mut self.motions {
            motion.since -= by;
        }
        self.shift_groups(by);
        self.clock.length = self.epoch_length();
        self.queue.push(Entry { time: self.clock.length, due: Due::Epoch, versions: [0; 2] });
    }
}
