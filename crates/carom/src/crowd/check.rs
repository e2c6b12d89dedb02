//! The whole against the ledger: energy, momentum, and the smallest gap of neighbours.

use super::due::PLANE;
use super::{Crowd, index};

impl Crowd {
    /// Compares the bodies with the ledger, and looks at every pair of neighbours whose balls overlap. A run does so by itself
    /// now and then.
    #[cold]
    pub fn compare(&mut self) {
        let mut states = Vec::with_capacity(self.hot.len());
        self.states_into(&mut states);
        self.ledger.check(&self.world, &states, self.time(), self.counts.collisions);
        let least = self.least_gap();
        self.ledger.see_gap(least, self.counts.collisions);
    }

    /// The smallest gap of neighbours that are near enough for their balls to touch; at most the size of a body.
    fn least_gap(&self) -> f64 {
        let t = self.clock.now;
        let mut least = f64::MAX;
        for i in 0..self.hot.len() {
            for link in self.links(i) {
                if link.with < PLANE && link.with < index(i) {
                    continue;
                }
                let met = self.met(i, link.with, link.image);
                if let Some(gap) = self.near_gap(&met, t, 0.0) {
                    // What is no number is the least of all.
                    if gap < least || gap.is_nan() {
                        least = gap;
                    }
                }
            }
        }
        least
    }
}
