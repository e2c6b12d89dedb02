//! Rolling joints on surfaces with Coulomb friction: a contact that rolls as long as friction lets it.
//!
//! Such a joint is a contact that touches without slip from the start. Between impacts the flow holds it, and watches
//! (μλ)² − f² ≥ 0 and λ ≥ 0. In an impact it is first a joint, as rolling without slip wants it ([TZ], section 5); if its impulse
//! would pull, or its friction exceed μ times its normal part, the joint is released and the contact struck with the others. From
//! then on it is an ordinary contact.

use nalgebra::Vector3;

use super::Simulation;
use super::queue::{Pair, Party};
use super::touch::Cluster;
use crate::contact::Surface;
use crate::impact::mechanism::JointOutcome;
use crate::joint::Kind as JointKind;
use crate::record::{Event, Kind, Recorder};

/// Friction over its limit by no more than this has not slipped.
const ROUNDING: f64 = 1e-12;

impl Simulation {
    /// Marks the contacts that rolling joints with friction are.
    pub(super) fn mark_rolling(&mut self) {
        for (k, joint) in self.world.joints.iter().enumerate().filter(|(_, joint)| !self.world.keeps(joint)) {
            if let (JointKind::Rolling { plane, .. }, [body, ..]) = (&joint.kind, &joint.bodies[..]) {
                let first = Party::Plane(super::predict::index(*plane));
                let pair = Pair { first, second: super::predict::index(*body), image: [0; 3] };
                self.rolling.insert(pair, k);
            }
        }
    }

    /// Whether a rolling joint's impulse is more than its surface gives.
    pub(super) fn overdraws(&self, pair: &Pair, outcome: &JointOutcome) -> bool {
        let Party::Plane(plane) = pair.first else { return false };
        let (_, Surface::Coulomb(coefficient)) = self.world.answer(Self::sides(pair)) else { return false };
        let normal = self.world.planes[plane as usize].normal.into_inner();
        let push = normal.dot(&outcome.linear);
        let friction = (outcome.linear - normal * push).norm();
        friction - coefficient * push > ROUNDING * outcome.linear.norm()
    }

    /// The force of a held contact on its second side, and where it acts.
    pub(super) fn contact_force(&self, pair: &Pair, t: f64) -> Option<(Vector3<f64>, Vector3<f64>)> {
        let force = self.held_force(pair, t)?;
        let found = self.gap_between(pair, |body| self.state(body, t))?;
        Some((found.normal * force.normal + force.friction, found.points[0]))
    }

    /// A rolling joint begins to slip while it is held.
    pub(super) fn slip(&mut self, pair: Pair, t: f64, time_error: f64, recorder: &mut impl Recorder) {
        self.rolling.remove(&pair);
        let cluster = self.cluster(t, &[(pair, time_error)]);
        let Some(contact) = cluster.contacts.iter().find(|contact| contact.pair == pair) else { return };
        let impulse = self.held_impulse(&pair, t).map_or(0.0, |(sum, _)| sum);
        let energy = self.ledger.energy();
        let event = Event { impulse, time_error, ..self.event(contact, Kind::Slip, t, [energy, energy]) };
        self.advance_clock(t);
        self.tell(&cluster, &[event], recorder);
    }

    /// Rolling joints that an impact has released, or whose contacts part.
    pub(super) fn released(&self, cluster: &Cluster, holds: impl Fn(usize) -> bool) -> Vec<Pair> {
        let marked =
            |(k, pair): (usize, &Pair)| (self.rolling.contains_key(pair) && !holds(k)).then_some(*pair);
        cluster.contacts.iter().map(|contact| &contact.pair).enumerate().filter_map(marked).collect()
    }
}
