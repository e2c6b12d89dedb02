//! Rolling joints on surfaces with Coulomb friction: a contact that rolls as long as friction lets it.
//!
//! Such a joint is a contact that touches without slip from the start. Between impacts the flow holds it, and watches
//! (μλ)² − f² ≥ 0 and λ ≥ 0. In an impact it is first a joint, as rolling without slip wants it (\[TZ\], section 5); if its impulse
//! would pull, or its friction exceed μ times its normal part, the joint is released and the contact struck with the others. From
//! then on it is an ordinary contact.
//!
//! On any other surface a rolling joint holds whatever it takes; what it takes is noted, as the greatest |f|/λ over the motion, found
//! between the looks at a piece by golden sections. Where λ passes zero and f does not, that is infinite.

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use super::Simulation;
use super::contact_event::Cluster;
use super::queue::{Pair, PairSide};
use crate::contact::Surface;
use crate::flow::{DenseStep, Mode};
use crate::impact::mechanism::JointOutcome;
use crate::integrate::golden::least;
use crate::joint::Kind as JointKind;
use crate::record::{Event, Kind, Recorder};

/// What rolling without slip has asked of a surface.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RollingDemand {
    /// The joint.
    pub joint: usize,
    /// The largest friction over normal force or impulse, where the surface pushes; infinite where the normal force passes zero
    /// and friction does not.
    #[serde(with = "unbounded")]
    pub coefficient: f64,
    /// When that was.
    pub time: f64,
    /// When the joint first had to pull, which no friction gives.
    pub pulls: Option<f64>,
}

/// A number that may be infinite, as formats have it that know finite ones only.
mod unbounded {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    pub fn serialize<S: Serializer>(x: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        Some(*x).filter(|x| x.is_finite()).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
    }
}

/// Forces below this, beside what weight and speed make of them, are none.
const NONE: f64 = 1e-12;

/// So many times within a piece a rolling joint is looked at before the greatest is sought between the looks: forces there are
/// polynomials of no higher degree.
const LOOKS: u32 = 16;

/// Friction over its limit by no more than this has not slipped.
const ROUNDING: f64 = 1e-12;

impl Simulation {
    /// Marks the contacts that rolling joints with friction are.
    pub(super) fn mark_rolling(&mut self) {
        for (k, joint) in self.world.joints.iter().enumerate().filter(|(_, joint)| !self.world.keeps(joint)) {
            if let (JointKind::Rolling { plane, .. }, [body, ..]) = (&joint.kind, &joint.bodies[..]) {
                let first = PairSide::Plane(crate::run::index(*plane));
                let pair = Pair { first, second: crate::run::index(*body), image: [0; 3] };
                self.rolling.insert(pair, k);
            }
        }
    }

    /// Whether a rolling joint's impulse is more than its surface gives.
    pub(super) fn overdraws(&self, pair: &Pair, outcome: &JointOutcome) -> bool {
        let PairSide::Plane(plane) = pair.first else { return false };
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

    /// What a rolling joint has asked for so far.
    fn demand(&mut self, joint: usize, time: f64) -> &mut RollingDemand {
        self.demands.entry(joint).or_insert(RollingDemand { joint, coefficient: 0.0, time, pulls: None })
    }

    fn note_impulse(&mut self, joint: usize, impulse: &Vector3<f64>, none: f64, time: f64) {
        let JointKind::Rolling { half_space, .. } = &self.world.joints[joint].kind else { return };
        let push = half_space.normal.dot(impulse);
        let friction = (impulse - half_space.normal.into_inner() * push).norm();
        if push.abs() + friction <= none {
            return;
        }
        let demand = self.demand(joint, time);
        if push <= none {
            demand.pulls.get_or_insert(time);
        } else if friction > demand.coefficient * push {
            (demand.coefficient, demand.time) = (friction / push, time);
        }
    }

    /// Notes what a group's rolling joints take within its piece: the greatest of |f|/λ, which is infinite where λ passes zero
    /// and friction does not.
    pub(super) fn note_rolling(&mut self, number: usize, t: f64) {
        let Some(group) = &self.groups[number] else { return };
        let rolls = |joint: usize| matches!(self.world.joints[joint].kind, JointKind::Rolling { .. });
        let [from, until] = [group.piece.from, group.local(t.min(group.end()))];
        let mut seen = Vec::new();
        for (k, &joint) in group.joints.iter().enumerate().filter(|(_, joint)| rolls(**joint)) {
            let body = self.world.joints[joint].bodies[0];
            let [size, speed] = self.sizes_of(&[crate::run::index(body)], group.start());
            let acceleration = self.world.gravity.norm() + speed * speed / size;
            let none = NONE * self.world.bodies[body].mass * acceleration;
            seen.extend(greatest_demand(&group.piece, k, [from, until], none).map(|found| (joint, found)));
        }
        let zero = group.zero;
        for (joint, found) in seen {
            let absolute = |time: f64| self.clock.absolute(zero + time);
            let (time, pulls) = (absolute(found.time), found.pulls.map(absolute));
            let demand = self.demand(joint, time);
            if let Some(pulls) = pulls {
                demand.pulls.get_or_insert(pulls);
            }
            if found.coefficient > demand.coefficient {
                (demand.coefficient, demand.time) = (found.coefficient, time);
            }
        }
    }

    /// Notes what rolling joints took in an impact.
    pub(super) fn note_rolling_impulses(&mut self, cluster: &Cluster, t: f64) {
        for result in &cluster.joints {
            let body = self.world.joints[result.joint].bodies[0];
            let none =
                NONE * self.world.bodies[body].mass * cluster.before[cluster.place(body)].velocity.norm();
            self.note_impulse(result.joint, &result.linear, none, self.clock.absolute(t));
        }
    }

    /// A rolling joint begins to slip while it is held.
    pub(super) fn slip(&mut self, pair: Pair, t: f64, time_error: f64, recorder: &mut impl Recorder) {
        self.rolling.remove(&pair);
        let cluster = self.cluster(t, &[(pair, time_error)]);
        let Some(contact) = cluster.contacts.iter().find(|contact| contact.key.pair == pair) else { return };
        let impulse = self.held_impulse(&pair, t).map_or(0.0, |(sum, _)| sum);
        let energy = self.ledger.energy();
        let event =
            Event { impulse, time_error, ..self.event(&cluster, contact, Kind::Slip, t, [energy, energy]) };
        self.advance_clock(t);
        self.tell(&cluster, &[event], recorder);
    }

    /// Rolling joints that an impact has released, or whose contacts part.
    pub(super) fn released(&self, cluster: &Cluster, holds: impl Fn(usize) -> bool) -> Vec<Pair> {
        let marked =
            |(k, pair): (usize, &Pair)| (self.rolling.contains_key(pair) && !holds(k)).then_some(*pair);
        cluster.contacts.iter().map(|contact| &contact.key.pair).enumerate().filter_map(marked).collect()
    }
}

/// The greatest |f|/λ of a rolling joint over a part of a piece, and when λ first passes zero; none where there is no force.
/// `none` is a force that counts as none.
fn greatest_demand(
    piece: &DenseStep,
    joint: usize,
    [from, until]: [f64; 2],
    none: f64,
) -> Option<RollingDemand> {
    let force = |t: f64| {
        piece.rolling_force(joint, t).map_or((0.0, 0.0), |force| (force.normal, force.friction.norm()))
    };
    let ratio = |t: f64| {
        let (push, friction) = force(t);
        if push > none { friction / push } else { 0.0 }
    };
    let time = |look: u32| from + (until - from) * (f64::from(look) / f64::from(LOOKS));
    let looks: Vec<(f64, f64)> = (0..=LOOKS).map(|look| force(time(look))).collect();
    if looks.iter().all(|(push, friction)| push.abs() + friction <= none) {
        return None;
    }
    // A dip below zero may be shorter than the way between looks.
    let falls = piece.first_pull(joint, none).filter(|&t| t <= until);
    let pulled = (0..=LOOKS).find(|&look| looks[look as usize].0 <= none).map(time);
    let pulls = [falls, pulled].into_iter().flatten().min_by(f64::total_cmp);
    let crossing = |look: u32| {
        let [before, after] = [look, look + 1].map(|look| looks[look as usize].0);
        (before * after < 0.0 && before.abs().max(after.abs()) > none)
            .then(|| zero(&|t| force(t).0, time(look), time(look + 1)))
    };
    let crossed = (0..LOOKS).filter_map(crossing).chain(falls.filter(|&t| t > from));
    if let Some(time) = crossed.filter(|&t| force(t).1 > none).min_by(f64::total_cmp) {
        return Some(RollingDemand { joint, coefficient: f64::INFINITY, time, pulls });
    }
    let mut found = RollingDemand { joint, coefficient: 0.0, time: from, pulls };
    let ratios: Vec<f64> = (0..=LOOKS).map(|look| ratio(time(look))).collect();
    for look in 0..=LOOKS {
        let place = look as usize;
        let [before, here, after] =
            [place.saturating_sub(1), place, (place + 1).min(ratios.len() - 1)].map(|k| ratios[k]);
        if here < before || here < after {
            continue;
        }
        let around = [time(look.saturating_sub(1)), time((look + 1).min(LOOKS))];
        let (place, least) = least(&mut |t| -ratio(t), around, f64::INFINITY);
        let sought = (place, -least);
        for (t, value) in [(time(look), here), sought] {
            if value > found.coefficient {
                (found.coefficient, found.time) = (value, t);
            }
        }
    }
    Some(found)
}

/// Where a function changes its sign between two places.
fn zero(of: &impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let rises = of(high) > 0.0;
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return high;
        }
        if (of(middle) > 0.0) == rises { high = middle } else { low = middle }
    }
}
