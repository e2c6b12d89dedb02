//! Rolling joints on surfaces with Coulomb friction: contacts that roll as long as friction suffices.
//!
//! Such a joint is a contact that begins without slip. Between impacts it is an active contact, and the flow monitors
//! (μλ)² − f² ≥ 0 and λ ≥ 0. In an impact it is first a joint, as rolling without slip requires (\[TZ\], section 5); if its impulse
//! would pull, or its friction exceed μ times its normal part, the joint is released and the contact resolved with the others. From
//! then on it is an ordinary contact.
//!
//! On any other surface a rolling joint holds whatever friction it needs; that is noted, as the greatest |f|/λ over the motion, found
//! between the nodes of a step by golden sections. Where λ passes zero and f does not, it is infinite.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::cluster::Cluster;
use super::dynamics::Dynamics;
use super::group::Group;
use super::pair::{Pair, PairSide};
use crate::contact::Surface;
use crate::flow::DenseStep;
use crate::impact::mechanism::JointOutcome;
use crate::integrate::golden::least;
use crate::joint::Kind as JointKind;
use crate::run::{World, index};

/// The friction that rolling without slip has needed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RollingDemand {
    /// The joint.
    pub joint: usize,
    /// The largest ratio of friction to normal force or impulse where the surface pushes; infinite where the normal force passes zero
    /// and friction does not.
    #[serde(with = "unbounded")]
    pub coefficient: f64,
    /// The time of that.
    pub time: f64,
    /// The time at which the joint first had to pull, which no surface can.
    pub pulls: Option<f64>,
}

/// A number that may be infinite, for formats that have finite numbers only.
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

/// Forces below this, relative to those that weight and speed cause, count as zero.
const NONE: f64 = 1e-12;

/// The nodes within a step at which the force of a rolling joint is evaluated before the greatest is searched for between them: forces
/// there are polynomials of no higher degree.
const NODES: u32 = 16;

/// Friction that exceeds its limit by no more than this has not slipped.
const ROUNDING: f64 = 1e-12;

/// The contacts that are rolling joints with Coulomb friction, with the number of the joint.
pub(super) fn rolling_contacts(world: &World) -> BTreeMap<Pair, usize> {
    let contact = |(k, joint): (usize, &crate::joint::Joint)| match (&joint.kind, &joint.bodies[..]) {
        (JointKind::Rolling { plane, .. }, [body, ..]) if !world.is_permanent(joint) => Some((
            Pair {
                first: PairSide::Plane(index(*plane)),
                second: index(*body),
                image: [0; 3],
                features: [0; 2],
            },
            k,
        )),
        _ => None,
    };
    world.joints.iter().enumerate().filter_map(contact).collect()
}

/// Whether a rolling joint's impulse exceeds the friction of its surface.
pub(super) fn exceeds_friction(world: &World, pair: &Pair, outcome: &JointOutcome) -> bool {
    let PairSide::Plane(plane) = pair.first else { return false };
    let (_, Surface::Coulomb(coefficient)) = world.contact_properties(pair.sides()) else { return false };
    let normal = world.planes[plane as usize].normal.into_inner();
    let push = normal.dot(&outcome.linear);
    let friction = (outcome.linear - normal * push).norm();
    friction - coefficient * push > ROUNDING * outcome.linear.norm()
}

/// The friction that the rolling joints of a run have needed, by joint.
#[derive(Debug, Clone, Default)]
pub(super) struct RollingDemands(BTreeMap<usize, RollingDemand>);

impl RollingDemands {
    pub fn iter(&self) -> impl Iterator<Item = &RollingDemand> {
        self.0.values()
    }

    fn of(&mut self, joint: usize, time: f64) -> &mut RollingDemand {
        self.0.entry(joint).or_insert(RollingDemand { joint, coefficient: 0.0, time, pulls: None })
    }

    /// Notes what a group's rolling joints need within its present step, up to a time.
    pub fn note_step(&mut self, dynamics: &Dynamics, group: &Group, t: f64) {
        let world = &dynamics.world;
        let rolls = |joint: usize| matches!(world.joints[joint].kind, JointKind::Rolling { .. });
        let [from, until] = [group.step.from, group.local(t.min(group.end()))];
        for (k, &joint) in group.joints.iter().enumerate().filter(|(_, joint)| rolls(**joint)) {
            let body = world.joints[joint].bodies[0];
            let [size, speed] = dynamics.size_and_speed(&[index(body)], group.start());
            let acceleration = world.gravity.norm() + speed * speed / size;
            let none = NONE * world.bodies[body].mass * acceleration;
            let Some(found) = greatest_demand(&group.step, k, [from, until], none) else { continue };
            let absolute = |time: f64| dynamics.clock.absolute(group.zero + time);
            let time = absolute(found.time);
            let demand = self.of(joint, time);
            if let Some(pulls) = found.pulls {
                demand.pulls.get_or_insert(absolute(pulls));
            }
            if found.coefficient > demand.coefficient {
                (demand.coefficient, demand.time) = (found.coefficient, time);
            }
        }
    }

    /// Notes what rolling joints need in an impact.
    pub fn note_impact(&mut self, world: &World, cluster: &Cluster, time: f64) {
        for result in &cluster.joints {
            let joint = &world.joints[result.joint];
            let JointKind::Rolling { half_space, .. } = &joint.kind else { continue };
            let body = joint.bodies[0];
            let speed = cluster.before[cluster.place(body)].velocity.norm();
            let none = NONE * world.bodies[body].mass * speed;
            let push = half_space.normal.dot(&result.linear);
            let friction = (result.linear - half_space.normal.into_inner() * push).norm();
            if push.abs() + friction <= none {
                continue;
            }
            let demand = self.of(result.joint, time);
            if push <= none {
                demand.pulls.get_or_insert(time);
            } else if friction > demand.coefficient * push {
                (demand.coefficient, demand.time) = (friction / push, time);
            }
        }
    }
}

impl FromIterator<RollingDemand> for RollingDemands {
    fn from_iter<T: IntoIterator<Item = RollingDemand>>(demands: T) -> Self {
        Self(demands.into_iter().map(|demand| (demand.joint, demand)).collect())
    }
}

/// The greatest |f|/λ of a rolling joint over a part of a step, and when λ first passes zero; `None` if there is no force.
/// `none` is a force that counts as zero.
fn greatest_demand(
    step: &DenseStep,
    joint: usize,
    [from, until]: [f64; 2],
    none: f64,
) -> Option<RollingDemand> {
    let force = |t: f64| {
        step.rolling_force(joint, t).map_or((0.0, 0.0), |force| (force.normal, force.friction.norm()))
    };
    let ratio = |t: f64| {
        let (push, friction) = force(t);
        if push > none { friction / push } else { 0.0 }
    };
    let time = |node: u32| from + (until - from) * (f64::from(node) / f64::from(NODES));
    let forces: Vec<(f64, f64)> = (0..=NODES).map(|node| force(time(node))).collect();
    if forces.iter().all(|(push, friction)| push.abs() + friction <= none) {
        return None;
    }
    // A dip below zero may be shorter than the interval between nodes.
    let falls = step.first_pull(joint, none).filter(|&t| t <= until);
    let pulled = (0..=NODES).find(|&node| forces[node as usize].0 <= none).map(time);
    let pulls = [falls, pulled].into_iter().flatten().min_by(f64::total_cmp);
    let crossing = |node: u32| {
        let [before, after] = [node, node + 1].map(|node| forces[node as usize].0);
        (before * after < 0.0 && before.abs().max(after.abs()) > none)
            .then(|| zero(&|t| force(t).0, time(node), time(node + 1)))
    };
    let crossed = (0..NODES).filter_map(crossing).chain(falls.filter(|&t| t > from));
    if let Some(time) = crossed.filter(|&t| force(t).1 > none).min_by(f64::total_cmp) {
        return Some(RollingDemand { joint, coefficient: f64::INFINITY, time, pulls });
    }
    let mut found = RollingDemand { joint, coefficient: 0.0, time: from, pulls };
    let ratios: Vec<f64> = (0..=NODES).map(|node| ratio(time(node))).collect();
    for node in 0..=NODES {
        let place = node as usize;
        let [before, here, after] =
            [place.saturating_sub(1), place, (place + 1).min(ratios.len() - 1)].map(|k| ratios[k]);
        if here < before || here < after {
            continue;
        }
        let around = [time(node.saturating_sub(1)), time((node + 1).min(NODES))];
        let (place, least) = least(&mut |t| -ratio(t), around, f64::INFINITY);
        for (t, value) in [(time(node), here), (place, -least)] {
            if value > found.coefficient {
                (found.coefficient, found.time) = (value, t);
            }
        }
    }
    Some(found)
}

/// Where a function changes its sign between two times.
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
