//! The start of a run: overlaps are refused, and pairs that touch are the first events.

use std::collections::BTreeSet;

use super::constrained::violated_joints;
use super::formation::{Component, GroupFailure};
use super::groups::History;
use super::pair::{Pair, PairSide};
use super::rolling::rolling_contacts;
use super::{InvalidStart, Simulation};
use crate::contact::Side;
use crate::run::tolerances::TOUCHING;
use crate::run::{Cause, index};

impl Simulation {
    /// Measures every pair close enough to touch, and fills the queue.
    pub(super) fn start(&mut self) -> Result<(), Vec<InvalidStart>> {
        self.predictor.push_epoch(&self.dynamics);
        self.form_constrained_groups()?;
        self.dynamics.rolling = rolling_contacts(&self.dynamics.world);
        let touching = self.touching_pairs()?;
        for &pair in &touching {
            self.predictor.push_contact(&self.dynamics, 0.0, pair, 0.0);
        }
        for body in self.dynamics.bodies() {
            if self.dynamics.world.can_collide(body) {
                self.predictor.enter_cell(&self.dynamics, body, 0.0);
            }
        }
        for body in self.dynamics.bodies() {
            for pair in self.pairs_from(body) {
                if !touching.contains(&pair) {
                    self.predictor.predict_pair(&self.dynamics, &mut self.books, pair, 0.0, &[]);
                }
            }
        }
        Ok(())
    }

    /// Forms a group of each system of constrained bodies.
    fn form_constrained_groups(&mut self) -> Result<(), Vec<InvalidStart>> {
        let mut invalid = violated_joints(&self.dynamics);
        if !invalid.is_empty() {
            return Err(invalid);
        }
        for system in self.dynamics.world.constraints.systems().to_vec() {
            let component = Component {
                bodies: system.bodies.iter().map(|&body| index(body)).collect(),
                states: system.bodies.iter().map(|&body| self.dynamics.state(body, 0.0)).collect(),
                contacts: Vec::new(),
            };
            let formed = self.form_group(component, &History::default(), 0.0);
            if let Err(GroupFailure { cause: Cause::Constrained(obstacle), .. }) = formed {
                invalid.push(InvalidStart::Constrained { body: system.bodies[0], obstacle });
            }
        }
        if invalid.is_empty() { Ok(()) } else { Err(invalid) }
    }

    /// The pairs that touch.
    fn touching_pairs(&mut self) -> Result<BTreeSet<Pair>, Vec<InvalidStart>> {
        let mut invalid = Vec::new();
        let mut touching = BTreeSet::new();
        for body in self.dynamics.bodies() {
            for pair in self.pairs_from(body) {
                let size = pair.size(&self.dynamics.world);
                if self.distance_of_spheres(&pair) > TOUCHING * size {
                    continue;
                }
                let Some(found) = self.dynamics.gap(&pair, 0.0) else { continue };
                self.books.ledger.note_gap(found.gap, 0);
                if found.gap.is_nan() {
                    invalid.push(InvalidStart::Motion { body });
                } else if found.gap < -TOUCHING * size {
                    let [first, second] = pair.sides();
                    let Side::Body(second) = second else { continue };
                    invalid.push(InvalidStart::Overlap { first, second, depth: -found.gap });
                } else if found.gap <= TOUCHING * size {
                    touching.insert(pair);
                }
            }
        }
        if invalid.is_empty() { Ok(touching) } else { Err(invalid) }
    }

    /// The pairs of a body with planes and with bodies of larger numbers.
    fn pairs_from(&self, body: usize) -> Vec<Pair> {
        let (world, number) = (&self.dynamics.world, index(body));
        let mut pairs = Vec::new();
        if !world.can_collide(body) {
            return pairs;
        }
        if !world.bodies[body].fixed {
            let planes = 0..index(world.planes.len());
            let planes = planes.flat_map(|k| Pair::with_plane(world, k, number));
            pairs.extend(planes.filter(|pair| !world.is_joined(pair.sides(), pair.image)));
        }
        self.predictor.each_neighbour(
            &self.dynamics,
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

    /// The distance between the bounding spheres of a pair, or from the second's to the plane.
    fn distance_of_spheres(&self, pair: &Pair) -> f64 {
        let (dynamics, t) = (&self.dynamics, self.dynamics.clock.now);
        let world = &dynamics.world;
        let position = dynamics.state(pair.second as usize, t).position + pair.shift(world);
        let distance = match pair.first {
            PairSide::Plane(k) => world.planes[k as usize].height(&position),
            PairSide::Body(first) => (position - dynamics.state(first as usize, t).position).norm(),
        };
        distance - pair.size(world)
    }
}
