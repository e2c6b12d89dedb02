//! Bodies that hold on to one another or are tied, directly or through others, and are moved together by [`crate::flow`].
//!
//! A group has contacts that are held, joints and loads, or both. Searches see its bodies through the bounds of the present
//! piece, and know no more than that piece: contacts are certified for the motion as the integrator has it, whose own error is at
//! most the accuracy of its steps, a few rounding errors of sizes and speeds each.

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use super::Simulation;
use super::queue::{Pair, PairSide};
use crate::body::{Body, State};
use crate::contact::{Side, Surface};
use crate::flow::{Correction, DenseStep, Flow, Held, Points, Reaction};
use crate::motion::Flight;
use crate::run::StateRecord;
use crate::run::World;
use crate::shape::Convex;

/// Bodies that hold on to one another, and how they move.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// The bodies, immovable ones included, in the order of the flow's.
    pub bodies: Vec<u32>,
    /// The contacts, in the order of the flow's.
    pub pairs: Vec<Pair>,
    pub flow: Flow,
    /// The flow's zero of time, since the epoch.
    pub zero: f64,
    /// The same in the time of the run, when the flow set out: forces may depend on it.
    pub begun: f64,
    /// The states from which the flow set out, at its zero, with contact points near flats, and how many pieces have followed the
    /// first.
    pub origin: Vec<State>,
    pub points: Points,
    pub follows: u32,
    pub piece: DenseStep,
    /// How balls without friction turn: as in free flight, whatever holds them. The flow knows them without spin.
    pub spins: Vec<Option<Flight>>,
    /// What each contact's normal force has added up to before this piece.
    pub impulses: Vec<f64>,
    /// The slope with which each force began, where that says something.
    pub slopes: Vec<Option<f64>>,
    /// What of this piece's friction the ledger knows.
    pub booked: f64,
    /// Its joints, in the order of the flow's.
    pub joints: Vec<usize>,
    pub version: u32,
}

/// A group as plain numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct GroupRecord {
    bodies: Vec<u32>,
    pairs: Vec<Pair>,
    zero: f64,
    begun: f64,
    origin: Vec<StateRecord>,
    /// Of contacts, then of joints.
    #[serde(default)]
    points: [Vec<Option<[[f64; 3]; 2]>>; 2],
    follows: u32,
    impulses: Vec<f64>,
    slopes: Vec<Option<f64>>,
    booked: f64,
    version: u32,
}

impl GroupRecord {
    /// Whether it has this member.
    pub fn has(&self, member: u32) -> bool {
        (member as usize) < self.bodies.len()
    }

    /// Whether it names what exists.
    pub fn fits(&self, world: &World) -> bool {
        let (bodies, planes) = (world.bodies.len(), world.planes.len());
        !self.bodies.is_empty()
            && self.bodies.iter().all(|&body| (body as usize) < bodies)
            && self.origin.len() == self.bodies.len()
            && self.impulses.len() == self.pairs.len()
            && self.slopes.len() == self.pairs.len()
            && self.pairs.iter().all(|pair| pair.fits(bodies, planes) && self.holds(pair))
    }

    fn holds(&self, pair: &Pair) -> bool {
        self.bodies.contains(&pair.second)
            && match pair.first {
                PairSide::Plane(_) => true,
                PairSide::Body(first) => self.bodies.contains(&first),
            }
    }
}

/// The flow of a group: its contacts, and the joints and loads among its bodies. `begun` is the time of the run at its zero.
pub(super) fn flow_of(world: &World, bodies: &[u32], pairs: &[Pair], begun: f64) -> Flow {
    let constants: Vec<Body> = bodies.iter().map(|&body| world.bodies[body as usize]).collect();
    let place = |body: u32| Side::Body(bodies.iter().position(|&b| b == body).unwrap_or(0));
    let held: Vec<Held> = pairs
        .iter()
        .map(|pair| {
            let first = match pair.first {
                PairSide::Plane(k) => Side::Plane(k as usize),
                PairSide::Body(body) => place(body),
            };
            let (_, surface) = world.answer(Simulation::sides(pair));
            let contact = Held::new([first, place(pair.second)], surface);
            Held { offset: world.boxes(pair.image), ..contact }
        })
        .collect();
    let flow = Flow::new(&constants, &world.planes, world.gravity, &held);
    if !bodies.iter().any(|&body| world.constrained(body as usize)) {
        return flow;
    }
    let start: Vec<State> = bodies.iter().map(|&body| world.constraints.start[body as usize]).collect();
    let joints: Vec<_> = world.joints_of(bodies).iter().map(|&k| world.joint_among(k, bodies)).collect();
    flow.with_joints(&joints, &start).with_loads(&world.loads_of(bodies, begun))
}

/// Whether contacts leave the spin of a body alone: a ball that is not tied, at which all of them are smooth.
pub(super) fn spins_freely(world: &World, body: u32, pairs: impl IntoIterator<Item = Pair>) -> bool {
    let at = |pair: &Pair| pair.second == body || pair.first == PairSide::Body(body);
    let smooth = |pair: Pair| world.answer(Simulation::sides(&pair)).1 == Surface::Smooth;
    world.bodies[body as usize].shape.ball().is_some()
        && !world.constrained(body as usize)
        && pairs.into_iter().filter(at).all(smooth)
}

/// States of a group without the spins that its contacts leave alone, and how those bodies turn.
pub(super) fn without_spin(
    world: &World,
    bodies: &[u32],
    pairs: &[Pair],
    states: &[State],
) -> (Vec<State>, Vec<Option<Flight>>) {
    let turned = bodies.iter().zip(states).map(|(&body, state)| {
        let constants = &world.bodies[body as usize];
        let turns = !constants.fixed
            && state.angular_velocity != Vector3::zeros()
            && spins_freely(world, body, pairs.iter().copied());
        if turns {
            let still = State { angular_velocity: Vector3::zeros(), ..*state };
            (still, Some(Flight::new(constants, state, &world.gravity)))
        } else {
            (*state, None)
        }
    });
    turned.unzip()
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
            follows: self.follows,
            impulses: self.impulses.clone(),
            slopes: self.slopes.clone(),
            booked: self.booked,
            version: self.version,
        }
    }

    /// The group again; none if its motion cannot be had again.
    pub fn of(record: &GroupRecord, world: &World) -> Option<Self> {
        let flow = flow_of(world, &record.bodies, &record.pairs, record.begun);
        let origin: Vec<State> = record.origin.iter().map(State::from).collect();
        let (still, spins) = without_spin(world, &record.bodies, &record.pairs, &origin);
        let [contacts, joints] = record.points.clone().map(|points| {
            points.into_iter().map(|sides| sides.map(|sides| sides.map(Vector3::from))).collect()
        });
        let points = Points { contacts, joints };
        let mut piece = flow.advance_at(&still, &points, 0.0, FOREVER).ok()?;
        for _ in 0..record.follows {
            piece = flow.follow(&piece, FOREVER).ok()?;
        }
        Some(Self {
            bodies: record.bodies.clone(),
            pairs: record.pairs.clone(),
            flow,
            zero: record.zero,
            begun: record.begun,
            origin,
            points,
            follows: record.follows,
            piece,
            spins,
            impulses: record.impulses.clone(),
            slopes: record.slopes.clone(),
            booked: record.booked,
            joints: world.joints_of(&record.bodies),
            version: record.version,
        })
    }

    /// When its piece ends, since the epoch.
    pub fn end(&self) -> f64 {
        self.zero + self.piece.until
    }

    /// A time as the flow has it: its piece's end exactly, where it is that.
    pub fn local(&self, t: f64) -> f64 {
        if t >= self.end() { self.piece.until } else { t - self.zero }
    }

    /// When it begins.
    pub fn start(&self) -> f64 {
        self.zero + self.piece.from
    }

    /// Who is named where the group has failure: a contact's sides, or its first two bodies.
    pub fn sides(&self) -> [Side; 2] {
        if let Some(pair) = self.pairs.first() {
            return Simulation::sides(pair);
        }
        let body = |k: usize| Side::Body(self.bodies.get(k).copied().unwrap_or(self.bodies[0]) as usize);
        [body(0), body(1)]
    }

    /// Its reactions at a time, each with the number of its joint.
    pub fn reactions(&self, t: f64) -> impl Iterator<Item = (usize, Reaction)> + '_ {
        let of = move |k: usize| self.flow.reaction(&self.piece, k, self.local(t));
        self.joints.iter().enumerate().map(move |(k, &joint)| (joint, of(k)))
    }

    /// The state of a body at a time.
    pub fn state(&self, member: usize, t: f64) -> State {
        let at = self.local(t);
        let state = self.piece.at(member, at);
        let Some(flight) = &self.spins[member] else { return state };
        let State { orientation, angular_velocity, .. } = flight.at(at);
        State { orientation, angular_velocity, ..state }
    }

    /// The states of its bodies at a time.
    pub fn states(&self, t: f64) -> Vec<State> {
        (0..self.bodies.len()).map(|member| self.state(member, t)).collect()
    }

    /// How far its bodies are off each of its joints; none where it has none.
    pub fn joint_errors(&self, t: f64) -> Option<Vec<Correction>> {
        if self.joints.is_empty() {
            return None;
        }
        self.flow.joint_errors(&self.states(t)).ok()
    }

    /// How far the end of its piece was off before it was put back: position and velocity.
    pub fn drift(&self) -> [f64; 2] {
        [self.piece.drift.position, self.piece.drift.velocity]
    }

    /// Whether a plane, an immovable body or a force from outside takes part.
    pub fn is_external(&self, world: &World) -> bool {
        let tied =
            |&body: &u32| world.constraints.system(body as usize).is_some_and(|system| system.external);
        self.bodies.iter().any(tied)
            || self.pairs.iter().any(|pair| matches!(pair.first, PairSide::Plane(_)))
            || self.bodies.iter().any(|&body| world.bodies[body as usize].fixed)
    }
}

/// No end of its own.
pub(super) const FOREVER: f64 = 1e300;
