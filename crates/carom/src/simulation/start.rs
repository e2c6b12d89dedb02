//! The start of a run: what overlaps has no meaning, what touches is dealt with first.

use super::queue::{Due, Entry, Pair, PairSide};
use super::{InvalidStart, Simulation};
use crate::contact::Side;
use crate::run::index;
use crate::run::tolerances::TOUCHING;

impl Simulation {
    /// Looks at every pair near enough to touch, and puts everything on the list.
    pub(super) fn begin(&mut self) -> Result<(), Vec<InvalidStart>> {
        self.queue.push(Entry { time: self.clock.length, due: Due::Epoch, versions: [0; 2] });
        self.tie_up()?;
        self.mark_rolling();
        let mut invalid = Vec::new();
        let mut touching = Vec::new();
        for body in 0..self.motions.len() {
            if !self.world.solid(body) {
                continue;
            }
            for pair in self.pairs_from(body) {
                let size = self.size(&pair);
                if self.spheres_apart(&pair) > TOUCHING * size {
                    continue;
                }
                let Some(found) = self.gap_between(&pair, |body| self.state(body, 0.0)) else { continue };
                self.ledger.see_gap(found.gap, 0);
                if found.gap.is_nan() {
                    invalid.push(InvalidStart::Motion { body });
                } else if found.gap < -TOUCHING * size {
                    let [first, second] = Self::sides(&pair);
                    let Side::Body(second) = second else { continue };
                    invalid.push(InvalidStart::Overlap { first, second, depth: -found.gap });
                } else if found.gap <= TOUCHING * size {
                    touching.push(pair);
                }
            }
        }
        if !invalid.is_empty() {
            return Err(invalid);
        }
        for pair in &touching {
            self.push(0.0, Due::Touch { pair: *pair, error: 0.0 }, self.versions(pair));
        }
        for body in 0..self.motions.len() {
            if self.world.solid(body) {
                self.enter_cell(body, 0.0);
            }
        }
        for body in 0..self.motions.len() {
            for pair in self.pairs_from(body) {
                if !touching.contains(&pair) {
                    self.meet(pair, 0.0, &[]);
                }
            }
        }
        Ok(())
    }

    /// The pairs of a body with planes and with bodies of a larger number.
    fn pairs_from(&self, body: usize) -> Vec<Pair> {
        let number = index(body);
        let mut pairs = Vec::new();
        if !self.world.solid(body) {
            return pairs;
        }
        if !self.world.bodies[body].fixed {
            let planes = 0..index(self.world.planes.len());
            let planes = planes.map(|k| Pair { first: PairSide::Plane(k), second: number, image: [0; 3] });
            pairs.extend(planes.filter(|pair| !self.is_joined(Self::sides(pair), pair.image)));
        }
        self.each_neighbour(
            body,
            |_| true,
            |pair| {
                if pair.first == PairSide::Body(number) {
                    pairs.push(pair);
                }
            },
        );
        pairs
    }

    /// How far the bounding sphere of a pair's second is from that of its first.
    fn spheres_apart(&self, pair: &Pair) -> f64 {
        let second = pair.second as usize;
        let place = self.state(second, self.clock.now).position + self.displacement(pair);
        let away = match pair.first {
            PairSide::Plane(k) => self.world.planes[k as usize].height(&place),
            PairSide::Body(first) => (place - self.state(first as usize, self.clock.now).position).norm(),
        };
        away - self.size(pair)
    }
}
