//! Bodies tied by joints and loads in a run: their start, their accelerations, their reactions, and how well the joints hold.

use nalgebra::Vector3;

use super::group::flow_of;
use super::persistent::History;
use super::{InvalidStart, Simulation};
use crate::body::State;
use crate::contact::Side;
use crate::joint::Kind;
use crate::motion::Derivatives;
use crate::record::JointReaction;
use crate::run::constraints::{System, place};
use crate::run::index;
use serde::{Deserialize, Serialize};

/// How far off a start may be and still be put right: rounding of what a person writes, relative to sizes and speeds.
const ROUNDING: f64 = 1e-9;

/// The singular configurations that a linkage has passed, where branches of its motion meet: each time along the branch that
/// continues the motion.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SingularPassages {
    /// The first body of the linkage.
    pub body: usize,
    /// How many there were.
    pub count: u64,
    /// When the first was.
    pub first: f64,
    /// When the last was.
    pub last: f64,
}

impl Simulation {
    /// Ties up the bodies at the start, each system a group of its own.
    pub(super) fn tie_up(&mut self) -> Result<(), Vec<InvalidStart>> {
        let mut invalid = self.wrong_joints();
        if !invalid.is_empty() {
            return Err(invalid);
        }
        for system in self.world.constraints.systems().to_vec() {
            let states = system.bodies.iter().map(|&body| self.state(body, 0.0)).collect();
            let bodies: Vec<u32> = system.bodies.iter().map(|&body| index(body)).collect();
            if let Err((_, obstacle)) = self.form_group(bodies, states, &[], &History::default(), 0.0) {
                invalid.push(InvalidStart::Tied { body: system.bodies[0], obstacle });
            }
        }
        if invalid.is_empty() { Ok(()) } else { Err(invalid) }
    }

    /// The joints that the states at the start violate by more than rounding.
    fn wrong_joints(&mut self) -> Vec<InvalidStart> {
        let mut invalid = Vec::new();
        for k in 0..self.world.joints.len() {
            let joint = self.world.joints[k].clone();
            if let Kind::Rows(_) = joint.kind {
                invalid.push(InvalidStart::Instant { joint: k });
                continue;
            }
            let states: Vec<State> = joint.bodies.iter().map(|&body| self.state(body, 0.0)).collect();
            let bodies: Vec<u32> = joint.bodies.iter().map(|&body| index(body)).collect();
            if let (Kind::Rolling { half_space, .. }, [body, ..]) = (&joint.kind, &joint.bodies[..]) {
                let shape = &self.world.bodies[*body].shape;
                let gap = crate::gap::gap_to_plane(shape, &states[0].pose(), half_space).gap;
                if gap.is_nan() || gap.abs() > ROUNDING * self.world.radius[*body] {
                    invalid.push(InvalidStart::OffPlane { joint: k, gap });
                    continue;
                }
            }
            let now = self.world.joint_among(k, &bodies);
            let with: Vec<_> = joint.bodies.iter().map(|&body| self.world.bodies[body]).zip(states).collect();
            let [size, speed] = self.sizes_of(&bodies, 0.0);
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
                // A row on turns alone is an angular velocity: that of a point at the bodies' reach is a speed.
                let turns = row.first[0] == Vector3::zeros() && row.second[0] == Vector3::zeros();
                largest = largest.max(along.abs() * if turns { size } else { 1.0 });
                m.max(along.abs())
            });
            if largest > ROUNDING * speed {
                invalid.push(InvalidStart::OffJoint { joint: k, velocity });
            }
        }
        invalid
    }

    /// The size of some bodies and their speed, spin included.
    pub(super) fn sizes_of(&self, bodies: &[u32], t: f64) -> [f64; 2] {
        bodies.iter().map(|&body| body as usize).filter(|&body| !self.world.bodies[body].fixed).fold(
            [0.0, 0.0],
            |[size, speed]: [f64; 2], body| {
                let (reach, state) = (self.world.reach(body), self.state(body, t));
                let swift = state.velocity.norm() + state.angular_velocity.norm() * reach;
                [size.max(reach), speed.max(swift)]
            },
        )
    }

    /// The accelerations of a body that no contact touches: in free flight, or under its joints and loads. `state` must know all
    /// bodies that it is tied to.
    pub(super) fn derivatives(&self, body: usize, state: &impl Fn(usize) -> State) -> Derivatives {
        let free = || Derivatives::new(&self.world.bodies[body], &state(body), &self.world.gravity);
        let Some(system) = self.world.constraints.system(body) else { return free() };
        let bodies: Vec<u32> = system.bodies.iter().map(|&body| index(body)).collect();
        let states: Vec<State> = system.bodies.iter().map(|&body| state(body)).collect();
        let flow = flow_of(&self.world, &bodies, &[], self.time());
        flow.accelerations(&states).map_or_else(|_| free(), |all| all[place(&bodies, body)])
    }

    /// How well the joints hold now.
    pub(super) fn check_joints(&mut self) {
        let t = self.clock.now;
        for number in 0..self.groups.len() {
            let Some(group) = &self.groups[number] else { continue };
            let Some(errors) = group.joint_errors(t) else { continue };
            let sizes = self.sizes_of(&group.bodies, t);
            for error in errors {
                self.ledger.see_joint(error.position, error.velocity, sizes, self.counts.events);
            }
        }
    }

    /// What the joints exert at a time on the present courses.
    pub(super) fn reactions_at(&self, t: f64) -> Vec<JointReaction> {
        let time = self.clock.absolute(t);
        let mut reactions = Vec::new();
        for group in self.groups.iter().flatten() {
            let states = group.states(t);
            for (joint, reaction) in group.reactions(t) {
                let now = self.world.joint_now(joint, &group.bodies, &states);
                let bodies: Vec<_> =
                    group.bodies.iter().map(|&b| self.world.bodies[b as usize]).zip(states.clone()).collect();
                let point = now.point(&bodies);
                let arm = point - bodies[now.bodies[0]].1.position;
                let torque = reaction.torque - arm.cross(&reaction.force);
                reactions.push(JointReaction { time, joint, point, force: reaction.force, torque });
            }
        }
        reactions.extend(self.rolling.iter().filter_map(|(pair, &joint)| {
            let (force, point) = self.contact_force(pair, t)?;
            Some(JointReaction { time, joint, point, force, torque: Vector3::zeros() })
        }));
        reactions.sort_by_key(|reaction| reaction.joint);
        reactions
    }

    /// The singular configurations that linkages have passed.
    pub fn singular_passages(&self) -> impl Iterator<Item = &SingularPassages> {
        self.singular.values()
    }

    /// Notes the singular configuration that a group's piece has passed until a time, once.
    pub(super) fn note_singular(&mut self, number: usize, t: f64) {
        let Some(group) = &self.groups[number] else { return };
        let Some(passage) = group.piece.singular_passage().filter(|&passage| passage <= group.local(t))
        else {
            return;
        };
        let (body, time) = (group.bodies[0] as usize, self.clock.absolute(group.zero + passage));
        let start = SingularPassages { body, count: 0, first: time, last: f64::NEG_INFINITY };
        let passages = self.singular.entry(body).or_insert(start);
        // A piece is asked more than once.
        if time - passages.last > 0.5 * (group.piece.until - group.piece.from) {
            (passages.count, passages.last) = (passages.count + 1, time);
        }
    }

    /// How many of the rows of the joints depend on others as they stand now: the reactions are then those of least norm.
    #[must_use]
    pub fn dependent_rows(&self) -> usize {
        let states = self.states();
        let of = |system: &System| {
            let bodies: Vec<u32> = system.bodies.iter().map(|&body| index(body)).collect();
            let now: Vec<State> = system.bodies.iter().map(|&body| states[body]).collect();
            flow_of(&self.world, &bodies, &[], self.time()).dependent_rows(&now)
        };
        self.world.constraints.systems().iter().map(of).sum()
    }

    /// Whether a joint keeps a pair from colliding. Images of tied bodies in a periodic box are others.
    pub(super) fn is_joined(&self, sides: [Side; 2], image: [i32; 3]) -> bool {
        image == [0; 3] && !self.world.joints.is_empty() && self.world.joined(sides)
    }
}
