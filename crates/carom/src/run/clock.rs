//! Time as an epoch and the time since.
//!
//! The epoch is a sum of powers of two, so it is exact, and it moves on before the time since grows long: times, positions and
//! gaps of the millionth event are as exact as the first's.

use serde::{Deserialize, Serialize};

/// Time as an epoch and the time since.
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

    /// The length of an epoch, a power of two, for the time in which a body passes its own size.
    pub fn length_for(passage: f64) -> f64 {
        (PASSAGES * passage).log2().round().clamp(-300.0, 300.0).exp2()
    }

    /// The time in which a body passes its own size.
    pub fn passage(&self) -> f64 {
        self.length / PASSAGES
    }

    /// Moves the epoch on by its length, or by more if the next event comes after the time `idle`. Returns by how much.
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
