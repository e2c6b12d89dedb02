//! A group: bodies that active contacts, joints and loads connect, directly or through others. [`crate::flow`] integrates their motion
//! together.
//!
//! Contact searches use the bounds of the present dense-output step and look no further than its end: contacts are certified for
//! the motion as integrated, whose own error is at most the accuracy of the steps, a few rounding errors of sizes and speeds each.

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use super::pair::{Pair, PairSide};
use super::stepping::Stepping;
use crate::body::{Body, State};
use crate::contact::{Side, Surface};
use crate::flow::{Correction, DenseStep, Expected, Flow, Held, Points, Reaction};
use crate::motion::Flight;
use crate::run::constraints::local_index;
use crate::run::{StateRecord, World};
use crate::scene::model::OnTrouble;
use crate::shape::Convex;

/// Connected bodies, and how they move.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// The bodies, immovable ones included, in ascending order, which is the flow's.
    pub bodies: Vec<u32>,
    /// The active contacts in ascending order, which is the flow's.
    pub pairs: Vec<Pair>,
    pub flow: Flow,
    /// The flow's zero of time, since the epoch.
    pub zero: f64,
    /// The same in the time of the run: loads may depend on it.
    pub begun: f64,
    /// The states at the flow's zero, and the contact points there where they lie near a flat.
    pub origin: Vec<State>,
    pub points: Points,
    /// What was expected of the motion then.
    pub expected: Expected,
    /// How many steps have followed the first since then.
    pub follows: u32,
    /// The present dense-output step.
    pub step: DenseStep,
    /// How balls without friction turn: as in free flight, whatever their contacts. The flow has them without spin.
    pub spins: Vec<Option<Flight>>,
    /// The integral of each contact's normal force up to the beginning of this step.
    pub impulses: Vec<f64>,
    /// The slope with which each contact force began, where it began at zero.
    pub slopes: Vec<Option<f64>>,
    /// The work without a potential in this step that the ledger has already.
    pub booked: f64,
    /// The joints, in the order of the flow's.
    pub joints: Vec<usize>,
    pub version: u32,
    /// How it is carried on by time steps, where it is.
    pub stepping: Option<Stepping>,
}

/// A group as plain numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct GroupRecord {
    bodies: Vec<u32>,
    pairs: Vec<Pair>,
    zero: f64,
    begun: f64,
    origin: Vec<StateRecord>,
    /// Contact points near flats: of contacts, then of joints.
    #[serde(default)]
    points: [Vec<Option<[[f64; 3]; 2]>>; 2],
    #[serde(default)]
    expected: Expected,
    follows: u32,
    impulses: Vec<f64>,
    slopes: Vec<Option<f64>>,
    booked: f64,
    version: u32,
    #[serde(default)]
    stepping: Option<Stepping>,
}

impl GroupRecord {
    /// Whether it has this member.
    pub fn has(&self, member: u32) -> bool {
        (member as usize) < self.bodies.len()
    }

    /// Whether the bodies and planes that it names exist, and its lists agree.
    pub fn fits(&self, world: &World) -> bool {
        let (bodies, planes) = (world.bodies.len(), world.planes.len());
        !self.bodies.is_empty()
            && self.bodies.iter().all(|&body| (body as usize) < bodies)
            && self.bodies.is_sorted()
            && self.pairs.is_sorted()
            && self.origin.len() == self.bodies.len()
            && self.impulses.len() == self.pairs.len()
            && self.slopes.len() == self.pairs.len()
            && self.pairs.iter().all(|pair| pair.exists(bodies, planes) && self.contains(pair))
    }

    fn contains(&self, pair: &Pair) -> bool {
        pair.bodies().all(|body| local_index(&self.bodies, body).is_some())
    }
}

/// The flow of a group: its contacts, and the joints and loads among its bodies. `begun` is the time of the run at the flow's zero.
pub(super) fn flow_of(world: &World, bodies: &[u32], pairs: &[Pair], begun: f64) -> Flow {
    let constants: Vec<Body> = bodies.iter().map(|&body| world.bodies[body as usize]).collect();
    let member = |body: u32| Side::Body(local_index(bodies, body as usize).unwrap_or(0));
    let contacts: Vec<Held> = pairs
        .iter()
        .map(|pair| {
            let first = match pair.first {
                PairSide::Plane(k) => Side::Plane(k as usize),
                PairSide::Body(body) => member(body),
            };
            let (_, surface) = world.contact_properties(pair.sides());
            let contact = Held::new([first, member(pair.second)], surface);
            Held { offset: pair.shift(world), ..contact }
        })
        .collect();
    let mut flow = Flow::new(&constants, &world.planes, world.gravity, &contacts)
        .with_watch(world.options.watch.clone());
    // Where time steps take over, a step need not be made at any price.
    if world.on_trouble == OnTrouble::Step {
        let contacts = u32::try_from(contacts.len()).unwrap_or(u32::MAX);
        flow = flow.with_patience((PATIENCE / contacts.max(1)).max(LEAST_PATIENCE));
    }
    if !bodies.iter().any(|&body| world.constrained(body as usize)) {
        return flow;
    }
    let start: Vec<State> = bodies.iter().map(|&body| world.constraints.start[body as usize]).collect();
    let joints: Vec<_> = world.joints_of(bodies).iter().map(|&k| world.joint_among(k, bodies)).collect();
    flow.with_joints(&joints, &start).with_loads(&world.loads_of(bodies, begun))
}

/// The states of a group without the spins that its contacts cannot change, and how those bodies turn: balls without joints and loads
/// whose contacts are all smooth.
pub(super) fn without_spin(
    world: &World,
    bodies: &[u32],
    pairs: &[Pair],
    states: &[State],
) -> (Vec<State>, Vec<Option<Flight>>) {
    let mut smooth = vec![true; bodies.len()];
    for pair in pairs {
        if world.contact_properties(pair.sides()).1 != Surface::Smooth {
            for body in pair.bodies() {
                if let Some(member) = local_index(bodies, body) {
                    smooth[member] = false;
                }
            }
        }
    }
    let turned = bodies.iter().zip(states).zip(smooth).map(|((&body, state), smooth)| {
        let constants = &world.bodies[body as usize];
        let turns = !constants.fixed
            && state.angular_velocity != Vector3::zeros()
            && smooth
            && constants.shape.ball().is_some()
            && !world.constrained(body as usize);
        if turns {
            let still = State { angular_velocity: Vector3::zeros(), ..*state };
            (still, Some(Flight::new(constants, state, &world.gravity)))
        } else {
            (*state, None)
        }
    });
    turned.unzip()
}

/// The sides that a failure of a group names: those of its first contact, or its first two bodies.
pub(super) fn failing_sides(bodies: &[u32], pairs: &[Pair]) -> [Side; 2] {
    let body = |k: usize| Side::Body(bodies[k.min(bodies.len() - 1)] as usize);
    pairs.first().map_or_else(|| [body(0), body(1)], Pair::sides)
}

impl Group {
    pub fn record(&self) -> GroupRecord {
        GroupRecord {
            bodies: self.bodies.clone(),
            pairs: self.pairs.clone(),
            zero: self.zero,
            begun: self.begun,
            origin: self.origin.iter().map(StateRecord::from).collect(),
            points: [&self.points.contacts, &self.points.joints]
                .map(|points| points.iter().map(|sides| sides.map(|sides| sides.map(Into::into))).collect()),
            expected: self.expected,
            follows: self.follows,
            impulses: self.impulses.clone(),
            slopes: self.slopes.clone(),
            booked: self.booked,
            version: self.version,
            stepping: self.stepping,
        }
    }

    /// Restores a group; `None` if its motion cannot be computed.
    pub fn of(record: &GroupRecord, world: &World) -> Option<Self> {
        let flow = flow_of(world, &record.bodies, &record.pairs, record.begun).expecting(record.expected);
        let origin: Vec<State> = record.origin.iter().map(State::from).collect();
        let (still, spins) = without_spin(world, &record.bodies, &record.pairs, &origin);
        let [contacts, joints] = record.points.clone().map(|points| {
            points.into_iter().map(|sides| sides.map(|sides| sides.map(Vector3::from))).collect()
        });
        let points = Points { contacts, joints };
        if let Some(stepping) = record.stepping {
            return Self::of_stepping(record, world, flow, origin, stepping);
        }
        let mut step = flow.advance_at(&still, &points, 0.0, FOREVER).ok()?;
        for _ in 0..record.follows {
            step = flow.follow(&step, FOREVER).ok()?;
        }
        Some(Self {
            bodies: record.bodies.clone(),
            pairs: record.pairs.clone(),
            flow,
            zero: record.zero,
            begun: record.begun,
            origin,
            points,
            expected: record.expected,
            follows: record.follows,
            step,
            spins,
            impulses: record.impulses.clone(),
            slopes: record.slopes.clone(),
            booked: record.booked,
            joints: world.joints_of(&record.bodies),
            version: record.version,
            stepping: None,
        })
    }

    fn of_stepping(
        record: &GroupRecord,
        world: &World,
        flow: Flow,
        origin: Vec<State>,
        stepping: Stepping,
    ) -> Option<Self> {
        let restitution = stepping.restitution(world, &record.pairs);
        let (step, _) = flow.time_step(&origin, 0.0, stepping.length, &restitution).ok()?;
        Some(Self {
            spins: vec![None; record.bodies.len()],
            bodies: record.bodies.clone(),
            pairs: record.pairs.clone(),
            flow,
            zero: record.zero,
            begun: record.begun,
            origin,
            points: Points::default(),
            expected: record.expected,
            follows: record.follows,
            step,
            impulses: record.impulses.clone(),
            slopes: record.slopes.clone(),
            booked: record.booked,
            joints: world.joints_of(&record.bodies),
            version: record.version,
            stepping: Some(stepping),
        })
    }

    /// The end of the present step, since the epoch.
    pub fn end(&self) -> f64 {
        self.zero + self.step.until
    }

    /// A time as the flow has it; the end of the step exactly, not rounded.
    pub fn local(&self, t: f64) -> f64 {
        if t >= self.end() { self.step.until } else { t - self.zero }
    }

    /// The beginning of the present step, since the epoch.
    pub fn start(&self) -> f64 {
        self.zero + self.step.from
    }

    /// The place of an active contact.
    pub fn contact(&self, pair: &Pair) -> Option<usize> {
        self.pairs.binary_search(pair).ok()
    }

    /// The integral of a contact's normal force up to a time.
    pub fn impulse(&self, contact: usize, t: f64) -> f64 {
        self.impulses[contact] + self.step.impulse(contact, self.local(t)).normal
    }

    /// The joint reactions at a time, each with the number of its joint.
    pub fn reactions(&self, t: f64) -> impl Iterator<Item = (usize, Reaction)> + '_ {
        let of = move |k: usize| self.flow.reaction(&self.step, k, self.local(t));
        self.joints.iter().enumerate().map(move |(k, &joint)| (joint, of(k)))
    }

    /// The state of a member at a time.
    pub fn state(&self, member: usize, t: f64) -> State {
        let at = self.local(t);
        let state = self.step.at(member, at);
        let Some(flight) = &self.spins[member] else { return state };
        let State { orientation, angular_velocity, .. } = flight.at(at);
        State { orientation, angular_velocity, ..state }
    }

    /// The states of all members at a time.
    pub fn states(&self, t: f64) -> Vec<State> {
        (0..self.bodies.len()).map(|member| self.state(member, t)).collect()
    }

    /// How far the bodies are off each joint; `None` if there are no joints.
    pub fn joint_errors(&self, t: f64) -> Option<Vec<Correction>> {
        if self.joints.is_empty() {
            return None;
        }
        self.flow.joint_errors(&self.states(t)).ok()
    }

    /// How far the end of the step was off the constraints before projection: position and velocity.
    pub fn drift(&self) -> [f64; 2] {
        [self.step.drift.position, self.step.drift.velocity]
    }

    /// Whether a plane, an immovable body or an external force acts on it.
    pub fn is_external(&self, world: &World) -> bool {
        let external =
            |&body: &u32| world.constraints.system(body as usize).is_some_and(|system| system.external);
        self.bodies.iter().any(external)
            || self.pairs.iter().any(|pair| matches!(pair.first, PairSide::Plane(_)))
            || self.bodies.iter().any(|&body| world.bodies[body as usize].fixed)
    }
}

/// Iterations of a step, times its contacts, after which time steps are the better way on; and the least of them.
const PATIENCE: u32 = 1500;
const LEAST_PATIENCE: u32 = 150;

/// The end of a step that only the integrator limits.
pub(super) const FOREVER: f64 = 1e300;
