//! Checks totals against the ledger: energy, momentum, and the gaps of all pairs, by a search that knows nothing of neighbours.

use std::borrow::Cow;

use super::Edmd;
use crate::audit::pairs::Surroundings;
use crate::body::{Body, State};
use crate::run::ledger::PairAudit;

/// Up to so many bodies all pairs are looked at in every event.
const FEW: usize = 16;

/// Collisions a body after which all pairs are looked at, at a sample and otherwise.
const SAMPLED: u64 = 4;
pub(super) const LOOKED: u64 = 64;

impl Edmd {
    /// Compares the bodies with the ledger, and looks at all pairs. A run does so by itself now and then.
    #[cold]
    pub fn compare(&mut self) {
        self.compare_totals();
        self.look_around();
    }

    /// Compares the bodies with the ledger.
    pub(super) fn compare_totals(&mut self) {
        let mut states = Vec::with_capacity(self.hot.len());
        self.states_into(&mut states);
        self.ledger.check(&self.world, &states, self.time(), self.counts.events);
    }

    /// Whether there are so few bodies that all pairs are looked at in every event.
    #[inline(always)]
    pub(super) fn is_few(&self) -> bool {
        self.hot.len() <= FEW
    }

    /// Looks at all pairs where the bodies are now.
    #[cold]
    pub fn look_around(&mut self) {
        let t = self.clock.now;
        // Where they are kept, not how far they have come: that has more digits.
        let states: Vec<State> = self.place.iter().map(|&i| self.state(i as usize, t)).collect();
        let size = self.size_at(t);
        let grown = |body: &Body| Body { shape: body.shape.scaled(size), ..*body };
        let (bodies, radii) = if self.settings.growth == 0.0 {
            (Cow::Borrowed(&self.world.bodies), Cow::Borrowed(&self.world.radius))
        } else {
            let radii = self.world.radius.iter().map(|radius| radius * size).collect();
            (Cow::Owned(self.world.bodies.iter().map(grown).collect()), Cow::Owned(radii))
        };
        let around = Surroundings {
            bodies: &bodies[..],
            radii: &radii[..],
            states: &states,
            planes: &self.world.planes,
            periodic: self.world.periodic,
        };
        let look = PairAudit {
            time: self.clock.epoch + t,
            event: self.counts.events,
            always: self.is_few() && self.settings.growth == 0.0,
            unilateral: self.world.options.law.promises_admissible(),
        };
        self.ledger.audit_pairs(&self.world, &around, look, |_, _| false);
        self.looked = self.counts.collisions;
    }

    /// Looks at all pairs, unless they are many and have hardly moved since the last time.
    pub fn look_at_sample(&mut self) {
        self.look_after(SAMPLED);
    }

    /// Looks at all pairs where they are few, or have made so many collisions each since the last time.
    pub(super) fn look_after(&mut self, collisions: u64) {
        if self.is_few() || self.counts.collisions >= self.looked + collisions * self.hot.len() as u64 {
            self.look_around();
        }
    }
}
