//! Rolling joints on surfaces with Coulomb friction: a contact that rolls as long as friction lets it.
//!
//! Such a joint is a contact that touches without slip from the start. Between impacts the flow holds it, and watches
//! (μλ)² − f² ≥ 0 and λ ≥ 0. In an impact it is first a joint, as rolling without slip wants it (\[TZ\], section 5); if its impulse
//! would pull, or its friction exceed μ times its normal part, the joint is released and the contact struck with the others. From
//! then on it is an ordinary contact.
//!
//! On any other surface a rolling joint holds whatever it takes; what it takes is noted, as |f|/λ.

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use super::Simulation;
use super::group::Group;
use super::queue::{Pair, Party};
use super::touch::Cluster;
use crate::contact::Surface;
use crate::flow::Mode;
use crate::impact::mechanism::JointOutcome;
use crate::joint::Kind as JointKind;
use crate::record::{Event, Kind, Recorder};

/// What rolling without slip has asked of a surface.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RollingDemand {
    /// The joint.
    pub joint: usize,
    /// The largest friction over normal force or impulse, where the surface pushes.
    pub coefficient: f64,
    /// When that was.
    pub time: f64,
    /// When the joint first had to pull, which no friction gives.
    pub pulls: Option<f64>,
}

/// Forces below this, beside what weight and speed make of them, are none.
const NONE: f64 = 1e-12;

/// So many times within a piece a rolling joint is looked at.
const LOOKS: u32 = 8;

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

    /// Rolling joints whose contacts have begun to slip where a piece begins.
    pub(super) fn release_slipping(&mut self, t: f64, recorder: &mut impl Recorder) {
        let slips = |pair: &&Pair| self.held_mode(pair).is_some_and(|mode| matches!(mode, Mode::Slip { .. }));
        let slipping: Vec<Pair> = self.rolling.keys().filter(slips).copied().collect();
        for pair in slipping {
            self.slip(pair, t, 0.0, recorder);
        }
    }

    /// What the rolling joints of all bodies have asked for, by their numbers.
    pub fn rolling_demands(&self) -> impl Iterator<Item = &RollingDemand> {
        self.demands.values()
    }

    fn note_demand(&mut self, joint: usize, force: &Vector3<f64>, none: f64, time: f64) {
        let JointKind::Rolling { half_space, .. } = &self.world.joints[joint].kind else { return };
        let push = half_space.normal.dot(force);
        let friction = (force - half_space.normal.into_inner() * push).norm();
        if push.abs() + friction <= none {
            return;
        }
        let start = RollingDemand { joint, coefficient: 0.0, time, pulls: None };
        let demand = self.demands.entry(joint).or_insert(start);
        if push <= none {
            demand.pulls.get_or_insert(time);
        } else if friction > demand.coefficient * push {
            (demand.coefficient, demand.time) = (friction / push, time);
        }
    }

    /// Notes what a group's rolling joints take within its piece.
    pub(super) fn note_rolling(&mut self, number: usize, t: f64) {
        let Some(group) = &self.groups[number] else { return };
        let rolls = |joint: usize| matches!(self.world.joints[joint].kind, JointKind::Rolling { .. });
        if !group.joints.iter().any(|&joint| rolls(joint)) {
            return;
        }
        let [from, until] = [group.start(), t.min(group.end())];
        let mut seen = Vec::new();
        for look in 0..=LOOKS {
            let time = from + (until - from) * f64::from(look) / f64::from(LOOKS);
            let reactions = Group::reactions(group, time).filter(|(joint, _)| rolls(*joint));
            seen.extend(reactions.map(|(joint, reaction)| (joint, reaction.force, time)));
        }
        for (joint, force, time) in seen {
            let body = self.world.joints[joint].bodies[0];
            let [size, speed] = self.sizes_of(&[super::predict::index(body)], time);
            let acceleration = self.world.gravity.norm() + speed * speed / size;
            let none = NONE * self.world.bodies[body].mass * acceleration;
            self.note_demand(joint, &force, none, self.clock.absolute(time));
        }
    }

    /// Notes what rolling joints took in an impact.
    pub(super) fn note_rolling_impulses(&mut self, cluster: &Cluster, t: f64) {
        for result in &cluster.joints {
            let body = self.world.joints[result.joint].bodies[0];
            let none =
                NONE * self.world.bodies[body].mass * cluster.before[cluster.place(body)].velocity.norm();
            self.note_demand(result.joint, &result.linear, none, self.clock.absolute(t));
        }
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
