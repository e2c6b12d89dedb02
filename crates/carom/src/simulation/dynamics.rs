//! The bodies in motion: the trajectory of each, the groups, and the contacts that persist. Everything that is decided or predicted
//! is computed from here.

use std::collections::BTreeMap;

use nalgebra::Vector3;

use super::group::{Group, flow_of};
use super::groups::Groups;
use super::motion::{BodyMotion, Effort, MemberMotion, SearchMotion, Trajectory};
use super::pair::{Pair, PairSide};
use super::persistent::{Persistence, PersistentContacts};
use super::queue::{Entry, NextEvent};
use crate::body::State;
use crate::contact::feature::feature_kinematics;
use crate::contact::kinematics::{Facing, Kinematics, Moving, kinematics};
use crate::gap::Gap;
use crate::motion::{Anchored, Derivatives, Motion};
use crate::run::constraints::local_index;
use crate::run::{Clock, World, index};

/// The bodies in motion.
#[derive(Debug, Clone)]
pub(super) struct Dynamics {
    pub world: World,
    pub clock: Clock,
    /// The time at which the run ends.
    pub until: f64,
    /// Impacts slower than this are plastic; `None`: by default.
    pub rest_speed: Option<f64>,
    pub motions: Vec<BodyMotion>,
    pub groups: Groups,
    pub contacts: PersistentContacts,
    /// The contacts that are rolling joints on surfaces with Coulomb friction, as long as they do not slip.
    pub rolling: BTreeMap<Pair, usize>,
}

impl Dynamics {
    /// All bodies in free flight.
    pub fn new(world: World, states: &[State], until: f64, rest_speed: Option<f64>) -> Self {
        let flight = |(body, state)| BodyMotion {
            trajectory: Trajectory::Flight(Box::new(world.flight(body, state))),
            since: 0.0,
            version: 1,
            boxes: [0; 3],
            effort: Effort::default(),
        };
        let motions = states.iter().enumerate().map(flight).collect();
        let mut dynamics = Self {
            clock: Clock::start(),
            until,
            rest_speed,
            motions,
            groups: Groups::new(),
            contacts: PersistentContacts::new(states.len()),
            rolling: BTreeMap::new(),
            world,
        };
        dynamics.clock.length = dynamics.epoch_length();
        for body in 0..states.len() {
            dynamics.wrap(body);
        }
        dynamics
    }

    /// The time of the run.
    pub fn time(&self) -> f64 {
        self.clock.absolute(self.clock.now)
    }

    /// The end of the run, since the epoch.
    pub fn end(&self) -> f64 {
        self.clock.local(self.until)
    }

    /// The bodies.
    pub fn bodies(&self) -> core::ops::Range<usize> {
        0..self.motions.len()
    }

    /// A body's state, in the box where its trajectory began.
    pub fn state(&self, body: usize, t: f64) -> State {
        let motion = &self.motions[body];
        match &motion.trajectory {
            Trajectory::Flight(flight) => flight.at(t - motion.since),
            Trajectory::Grouped { group, member } => self.member(*group, *member).at(t),
        }
    }

    fn member(&self, group: u32, member: u32) -> MemberMotion<'_> {
        MemberMotion { group: self.groups.named(group), member: member as usize }
    }

    /// A body's state, with a position that runs on beyond the walls of a periodic box.
    fn unwrapped(&self, body: usize, t: f64) -> State {
        let mut state = self.state(body, t);
        state.position -= self.world.boxes(self.motions[body].boxes);
        state
    }

    /// All bodies' states, with positions that run on beyond the walls of a periodic box.
    pub fn states(&self, t: f64) -> Vec<State> {
        self.bodies().map(|body| self.unwrapped(body, t)).collect()
    }

    /// A body's motion as the contact search needs it.
    pub fn motion(&self, body: usize) -> SearchMotion<'_> {
        let motion = &self.motions[body];
        match &motion.trajectory {
            Trajectory::Flight(flight) => {
                SearchMotion::Flight(Anchored { motion: flight, since: motion.since })
            }
            Trajectory::Grouped { group, member } => SearchMotion::Member(self.member(*group, *member)),
        }
    }

    /// The time until which a body's trajectory is known.
    pub fn known_until(&self, body: usize) -> f64 {
        match self.motions[body].trajectory {
            Trajectory::Flight(_) => f64::INFINITY,
            Trajectory::Grouped { group, .. } => self.groups.named(group).end(),
        }
    }

    /// Whether a body is in free flight.
    pub fn is_flying(&self, body: usize) -> bool {
        matches!(self.motions[body].trajectory, Trajectory::Flight(_))
    }

    /// The versions of a pair's trajectories; zero for a plane.
    pub fn versions(&self, pair: &Pair) -> [u32; 2] {
        let first = match pair.first {
            PairSide::Plane(_) => 0,
            PairSide::Body(body) => self.motions[body as usize].version,
        };
        [first, self.motions[pair.second as usize].version]
    }

    /// Whether an entry was predicted from the present trajectories.
    pub fn is_current(&self, entry: &Entry) -> bool {
        match entry.event {
            NextEvent::Epoch => true,
            NextEvent::StepEnd { group } => {
                self.groups.get(group).is_some_and(|group| group.version == entry.versions[0])
            }
            NextEvent::Cross { body, .. } => self.motions[body as usize].version == entry.versions[0],
            // Both bodies of a pair may have predicted it.
            NextEvent::Exit(pair) => self.contacts.contains(&pair) && self.versions(&pair) == entry.versions,
            NextEvent::Search(pair) | NextEvent::Contact { pair, .. } => {
                self.versions(&pair) == entry.versions
            }
        }
    }

    /// Puts a body into free flight from a state, wrapped into the box.
    pub fn fly(&mut self, body: usize, state: &State, t: f64) {
        let flight = self.world.flight(body, state);
        let motion = &mut self.motions[body];
        motion.trajectory = Trajectory::Flight(Box::new(flight));
        motion.since = t;
        motion.change();
        self.wrap(body);
    }

    /// Wraps a flying body into the box, by whole boxes, at the start of its trajectory.
    fn wrap(&mut self, body: usize) {
        let Some(lengths) = self.world.periodic else { return };
        // Constrained bodies stay together, wherever that is.
        if self.world.constrained(body) {
            return;
        }
        let motion = &mut self.motions[body];
        let Trajectory::Flight(flight) = &motion.trajectory else { return };
        let mut start = *flight.start();
        let mut moved = false;
        for i in 0..3 {
            if lengths[i] > 0.0 {
                let boxes = (start.position[i] / lengths[i]).floor();
                if boxes != 0.0 {
                    moved = true;
                    start.position[i] -= boxes * lengths[i];
                    #[expect(
                        clippy::cast_possible_truncation,
                        reason = "boxes crossed are counted in 32 bits"
                    )]
                    let whole = boxes as i32;
                    motion.boxes[i] = motion.boxes[i].saturating_sub(whole);
                }
            }
        }
        if moved {
            let flight = self.world.flight(body, &start);
            motion.trajectory = Trajectory::Flight(Box::new(flight));
        }
    }

    /// The length of an epoch, a power of two: the time in which the bodies pass their own sizes several times.
    pub fn epoch_length(&self) -> f64 {
        let mut shortest = f64::INFINITY;
        for (i, motion) in self.motions.iter().enumerate() {
            let (speed, size) = match &motion.trajectory {
                Trajectory::Flight(flight) => {
                    let size = self.world.radius[i];
                    (flight.start().velocity.norm() + flight.spin_bound() * size, size)
                }
                Trajectory::Grouped { .. } if self.world.constrained(i) => {
                    let [size, speed] = self.size_and_speed(&[index(i)], self.clock.now);
                    (speed, size)
                }
                Trajectory::Grouped { .. } => continue,
            };
            let acceleration = self.world.free_acceleration(i).norm();
            if size > 0.0 && speed > 0.0 {
                shortest = shortest.min(size / speed);
            }
            if size > 0.0 && acceleration > 0.0 {
                shortest = shortest.min((size / acceleration).sqrt());
            }
        }
        if !shortest.is_finite() || shortest <= 0.0 {
            shortest = 1.0;
        }
        Clock::length_for(shortest)
    }

    /// Moves the zero of time.
    pub fn shift(&mut self, by: f64) {
        for motion in &mut self.motions {
            motion.since -= by;
        }
        self.groups.shift(by);
        self.clock.length = self.epoch_length();
    }

    /// The size of some bodies and their speed, spin included.
    pub fn size_and_speed(&self, bodies: &[u32], t: f64) -> [f64; 2] {
        bodies.iter().map(|&body| body as usize).filter(|&body| !self.world.bodies[body].fixed).fold(
            [0.0, 0.0],
            |[size, speed]: [f64; 2], body| {
                let (extent, state) = (self.world.extent(body), self.state(body, t));
                let moving = state.velocity.norm() + state.angular_velocity.norm() * extent;
                [size.max(extent), speed.max(moving)]
            },
        )
    }

    /// The gap of a pair at a time.
    pub fn gap(&self, pair: &Pair, t: f64) -> Option<Gap> {
        pair.gap(&self.world, |body| self.state(body, t))
    }

    /// The kinematics of a pair without contact forces: in free flight, or under the joints and loads of its bodies.
    pub fn kinematics(&self, pair: &Pair, state: impl Fn(usize) -> State, found: &Gap) -> Kinematics {
        let moving = |body: usize, placed: State| Moving {
            shape: &self.world.bodies[body].shape,
            state: placed,
            derivatives: self.derivatives(body, &state),
        };
        let second = pair.second as usize;
        let first = match pair.first {
            PairSide::Plane(k) => Facing::Plane(&self.world.planes[k as usize]),
            PairSide::Body(first) => Facing::Body(moving(first as usize, state(first as usize))),
        };
        let second = moving(second, pair.displaced(&self.world, &state(second)));
        let of_features = pair.is_of_features().then(|| feature_kinematics(&first, &second, pair.features));
        of_features.flatten().unwrap_or_else(|| kinematics(&first, &second, found))
    }

    /// The accelerations of a body without contact forces: in free flight, or under its joints and loads. `state` must know all bodies
    /// that constraints connect it to.
    fn derivatives(&self, body: usize, state: &impl Fn(usize) -> State) -> Derivatives {
        let free = || Derivatives::new(&self.world.bodies[body], &state(body), &self.world.gravity);
        let Some(system) = self.world.constraints.system(body) else { return free() };
        let bodies: Vec<u32> = system.bodies.iter().map(|&body| index(body)).collect();
        let states: Vec<State> = system.bodies.iter().map(|&body| state(body)).collect();
        let flow = flow_of(&self.world, &bodies, &[], self.time());
        let member = local_index(&bodies, body).unwrap_or(0);
        flow.accelerations(&states).map_or_else(|_| free(), |all| all[member])
    }

    /// The group of an active contact, and the contact's place in it.
    pub fn active(&self, pair: &Pair) -> Option<(&Group, usize)> {
        let Some(Persistence::Active(number)) = self.contacts.get(pair) else { return None };
        let group = self.groups.named(number);
        group.contact(pair).map(|contact| (group, contact))
    }

    /// The integral of an active contact's normal force, and the slope with which the force began.
    pub fn contact_impulse(&self, pair: &Pair, t: f64) -> Option<(f64, Option<f64>)> {
        self.active(pair).map(|(group, k)| (group.impulse(k, t), group.slopes[k]))
    }

    /// The force of an active contact on its second side, and where it acts.
    pub fn contact_force(&self, pair: &Pair, t: f64) -> Option<(Vector3<f64>, Vector3<f64>)> {
        let (group, k) = self.active(pair)?;
        let force = group.step.force(k, group.local(t));
        let found = self.gap(pair, t)?;
        Some((found.normal * force.normal + force.friction, found.points[0]))
    }

    /// Whether planes, immovable bodies or external forces act on some group.
    pub fn has_external_forces(&self) -> bool {
        self.groups.iter().any(|group| group.is_external(&self.world))
    }
}
