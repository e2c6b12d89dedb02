//! Bodies constrained by joints and loads: whether the initial states fulfil the joints, their reactions, and the singular configurations
//! that linkages pass.

use std::collections::BTreeMap;

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use super::dynamics::Dynamics;
use super::group::{Group, flow_of};
use crate::body::State;
use crate::gap::gap_to_plane;
use crate::joint::Kind;
use crate::record::JointReaction;
use crate::run::constraints::System;
use crate::run::{InvalidStart, index};

/// How far off its joints an initial state may be and still be corrected: the rounding of written numbers, relative to sizes and speeds.
const ROUNDING: f64 = 1e-9;

/// The joints that the initial states violate by more than rounding.
pub(super) fn violated_joints(dynamics: &Dynamics) -> Vec<InvalidStart> {
    let violated = |joint| violation(dynamics, joint);
    (0..dynamics.world.joints.len()).filter_map(violated).collect()
}

fn violation(dynamics: &Dynamics, k: usize) -> Option<InvalidStart> {
    let world = &dynamics.world;
    let joint = &world.joints[k];
    if let Kind::Rows(_) = joint.kind {
        return Some(InvalidStart::Instant { joint: k });
    }
    let states: Vec<State> = joint.bodies.iter().map(|&body| dynamics.state(body, 0.0)).collect();
    let bodies: Vec<u32> = joint.bodies.iter().map(|&body| index(body)).collect();
    if let (Kind::Rolling { half_space, .. }, [body, ..]) = (&joint.kind, &joint.bodies[..]) {
        let gap = gap_to_plane(&world.bodies[*body].shape, &states[0].pose(), half_space).gap;
        if gap.is_nan() || gap.abs() > ROUNDING * world.radius[*body] {
            return Some(InvalidStart::OffPlane { joint: k, gap });
        }
    }
    let now = world.joint_among(k, &bodies);
    let with: Vec<_> = joint.bodies.iter().map(|&body| world.bodies[body]).zip(states).collect();
    let [size, speed] = dynamics.size_and_speed(&bodies, 0.0);
    let mut largest: f64 = 0.0;
    let velocity = now.rows(&with).iter().fold(0.0, |m: f64, row| {
        let parts = now.bodies.iter().zip([row.first, row.second]);
        let along: f64 = parts
            .filter(|(body, _)| !with[**body].0.fixed)
            .map(|(&body, [linear, angular])| {
                let state = &with[body].1;
                linear.dot(&state.velocity) + angular.dot(&state.angular_velocity)
            })
            .sum();
        // A row without linear part gives an angular velocity: at the extent of the bodies that is a speed.
        let turns = row.first[0] == Vector3::zeros() && row.second[0] == Vector3::zeros();
        largest = largest.max(along.abs() * if turns { size } else { 1.0 });
        m.max(along.abs())
    });
    (largest > ROUNDING * speed).then_some(InvalidStart::OffJoint { joint: k, velocity })
}

/// The reactions of all joints at a time on the present trajectories.
pub(super) fn reactions(dynamics: &Dynamics, t: f64) -> Vec<JointReaction> {
    let world = &dynamics.world;
    let time = dynamics.clock.absolute(t);
    let mut reactions = Vec::new();
    for group in dynamics.groups.iter() {
        let states = group.states(t);
        for (joint, reaction) in group.reactions(t) {
            let now = world.joint_now(joint, &group.bodies, &states);
            let bodies: Vec<_> =
                group.bodies.iter().map(|&b| world.bodies[b as usize]).zip(states.clone()).collect();
            let point = now.point(&bodies);
            let arm = point - bodies[now.bodies[0]].1.position;
            let torque = reaction.torque - arm.cross(&reaction.force);
            reactions.push(JointReaction { time, joint, point, force: reaction.force, torque });
        }
    }
    reactions.extend(dynamics.rolling.iter().filter_map(|(pair, &joint)| {
        let (force, point) = dynamics.contact_force(pair, t)?;
        Some(JointReaction { time, joint, point, force, torque: Vector3::zeros() })
    }));
    reactions.sort_by_key(|reaction| reaction.joint);
    reactions
}

/// How many rows of the joints depend on others in the present configuration.
pub(super) fn dependent_rows(dynamics: &Dynamics) -> usize {
    let states = dynamics.states(dynamics.clock.now);
    let of = |system: &System| {
        let bodies: Vec<u32> = system.bodies.iter().map(|&body| index(body)).collect();
        let now: Vec<State> = system.bodies.iter().map(|&body| states[body]).collect();
        flow_of(&dynamics.world, &bodies, &[], dynamics.time()).dependent_rows(&now)
    };
    dynamics.world.constraints.systems().iter().map(of).sum()
}

/// The singular configurations that a linkage has passed, where branches of its motion meet: each time along the branch that
/// continues the motion.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SingularPassages {
    /// The first body of the linkage.
    pub body: usize,
    /// How many it has passed.
    pub count: u64,
    /// The time of the first.
    pub first: f64,
    /// The time of the last.
    pub last: f64,
}

/// The singular configurations that linkages have passed, by the first body of each linkage.
#[derive(Debug, Clone, Default)]
pub(super) struct SingularConfigurations(BTreeMap<usize, SingularPassages>);

impl SingularConfigurations {
    pub fn iter(&self) -> impl Iterator<Item = &SingularPassages> {
        self.0.values()
    }

    /// Notes the singular configuration that a group has passed within its present step, up to a time, once.
    pub fn note_step(&mut self, dynamics: &Dynamics, group: &Group, t: f64) {
        let Some(passage) = group.step.singular_passage().filter(|&passage| passage <= group.local(t)) else {
            return;
        };
        let (body, time) = (group.bodies[0] as usize, dynamics.clock.absolute(group.zero + passage));
        let start = SingularPassages { body, count: 0, first: time, last: f64::NEG_INFINITY };
        let passages = self.0.entry(body).or_insert(start);
        // A step is noted more than once.
        if time - passages.last > 0.5 * (group.step.until - group.step.from) {
            (passages.count, passages.last) = (passages.count + 1, time);
        }
    }
}

impl FromIterator<SingularPassages> for SingularConfigurations {
    fn from_iter<T: IntoIterator<Item = SingularPassages>>(passages: T) -> Self {
        Self(passages.into_iter().map(|passages| (passages.body, passages)).collect())
    }
}
