//! Bodies carried on by time steps, where their exact motion has no continuation within its budget.
//!
//! A group that cannot be formed or cannot go on, an impact without a solution, and groups whose steps make no headway are handed to
//! [`Flow::time_step`](crate::flow::Flow::time_step): all bodies that constraints, groups and persistent contacts connect become one group of another kind,
//! whose steps have constant velocities. Its contacts are all pairs of its bodies that could meet within a step. Everything else goes on as
//! before: contacts with other bodies are found by the same search, and are events.
//!
//! After a while the bodies are moved apart, as far as they overlap, and the exact way is tried again: what touches is one event, with its
//! impact and its decisions. If that fails too, the next try comes after twice the time. What was stepped is reported
//! ([`SteppedInterval`]).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Simulation;
use super::cluster::Cluster;
use super::dynamics::Dynamics;
use super::group::{Group, flow_of};
use super::motion::Trajectory;
use super::pair::{Pair, PairSide};
use super::persistent::Persistence;
use super::predict::Predictor;
use crate::body::State;
use crate::contact::Side;
use crate::flow::{Expected, Flow, Obstacle, Points, Restitution};
use crate::record::Recorder;
use crate::run::{Cause, World, index};
use crate::scene::model::OnTrouble;
use crate::watch::Task;

/// The length of a time step, over the time in which a body falls or passes its own size.
const LENGTH: f64 = 2e-3;

/// A run that would take more time steps than this to end has no end that anyone waits for.
const MOST_STEPS: f64 = 1e8;

/// Time steps before the exact way is tried again, at first and at most.
const FIRST_WAIT: f64 = 8.0;
const LONGEST_WAIT: f64 = 512.0;

/// Evaluations of stages after which a body's groups must have come forward by the time in which it falls over its own size, or passes it.
/// Steps that nothing cuts short take a tenth of that.
const BUDGET: u32 = 10_000;

/// Events in a row at one time, and sixteen per body, after which the exact way has no continuation.
const STANDSTILL: u64 = 200;

/// Gaps below this, over the size, are looked at by a step whatever the speeds.
const NEAR: f64 = 1e-7;

/// An overlap that is left after bodies were moved apart, over the size.
const OVERLAP: f64 = 1e-12;

/// Impacts are plastic below this share of the speeds at hand.
const REST: f64 = 1e-6;

/// The share of the speed of earlier impacts that is remembered at the next.
const REMEMBERED: f64 = 0.9;

/// Intervals reported one by one; later ones extend the last.
const MOST_INTERVALS: usize = 1000;

/// An interval in which bodies were carried on by time steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SteppedInterval {
    /// When it began.
    pub from: f64,
    /// When it ended, or how far it has come.
    pub until: f64,
    /// The bodies.
    pub bodies: Vec<u32>,
    /// The number of steps.
    pub steps: u64,
    /// The smallest gap of their contacts at the ends of steps.
    pub gap_min: f64,
    /// The largest difference that halving a step made, in velocities over the speeds.
    pub error: f64,
}

/// How a group is carried on by time steps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Stepping {
    /// The length of its steps.
    pub length: f64,
    /// The time of the run at which the exact way is tried again.
    retry: f64,
    /// The rest speed.
    rest_speed: f64,
    /// The number of its interval.
    interval: u32,
}

impl Stepping {
    /// How its contacts respond to impacts.
    pub fn restitution(&self, world: &World, pairs: &[Pair]) -> Restitution {
        let coefficients = pairs.iter().map(|pair| world.contact_properties(pair.sides()).0).collect();
        Restitution { coefficients, rest_speed: self.rest_speed }
    }
}

impl Dynamics {
    /// The speed of approach below which impacts of a pair are plastic.
    pub fn rest_speed(&self, pair: &Pair) -> f64 {
        if let Some(speed) = self.rest_speed {
            return speed;
        }
        let fall = (self.world.gravity.norm() * pair.size(&self.world)).sqrt();
        let lately = pair.movable(&self.world).map(|body| self.motions[body].effort.approach);
        REST * lately.fold(fall, f64::max)
    }

    /// Remembers how fast the impacts of a cluster's bodies were.
    pub fn note_approaches(&mut self, cluster: &Cluster) {
        for contact in cluster.contacts.iter().filter(|contact| contact.impulse > 0.0) {
            for body in contact.key.pair.bodies() {
                let approach = &mut self.motions[body].effort.approach;
                *approach = (REMEMBERED * *approach).max(-contact.approach);
            }
        }
    }

    /// The time of the run until which a body is carried on by time steps, if it is.
    pub fn stepped_until(&self, body: usize) -> Option<f64> {
        let Trajectory::Grouped { group, .. } = self.motions[body].trajectory else { return None };
        self.groups.named(group).stepping.map(|stepping| stepping.retry)
    }

    /// The time in which some bodies fall over their size, or pass it.
    fn passage(&self, bodies: &[u32], states: &[State]) -> f64 {
        let mut passage = f64::INFINITY;
        for (&body, state) in bodies.iter().zip(states) {
            let body = body as usize;
            if self.world.bodies[body].fixed {
                continue;
            }
            let size = self.world.extent(body);
            let speed = state.velocity.norm() + size * state.angular_velocity.norm();
            let fall = (self.world.gravity.norm() * size).sqrt();
            passage = passage.min(size / speed.max(fall));
        }
        if passage.is_finite() && passage > 0.0 { passage } else { self.clock.length }
    }

    /// Counts the work of some bodies' motion, in evaluations of stages.
    ///
    /// # Errors
    /// [`Obstacle::Endless`] if it makes no headway.
    pub fn count_work(
        &mut self,
        bodies: &[u32],
        states: &[State],
        t: f64,
        evaluations: u32,
    ) -> Result<(), Obstacle> {
        let now = self.clock.absolute(t);
        let least = self.passage(bodies, states).min(self.until - now);
        let mut lost = false;
        for &body in bodies {
            let effort = &mut self.motions[body as usize].effort;
            effort.work = effort.work.saturating_add(evaluations);
            if effort.work >= BUDGET {
                lost |= now - effort.since < least;
                (effort.work, effort.since) = (0, now);
            }
        }
        if lost { Err(Obstacle::Endless) } else { Ok(()) }
    }

    /// All bodies that constraints, groups and persistent contacts connect to some, movable ones only.
    fn connected(&self, bodies: &[usize]) -> BTreeSet<usize> {
        let world = &self.world;
        let mut found: BTreeSet<usize> = BTreeSet::new();
        let mut open: Vec<usize> = bodies.to_vec();
        while let Some(body) = open.pop() {
            if world.bodies[body].fixed || !found.insert(body) {
                continue;
            }
            if let Some(system) = world.constraints.system(body) {
                open.extend(&system.bodies);
            }
            if let Trajectory::Grouped { group, .. } = self.motions[body].trajectory {
                open.extend(self.groups.named(group).bodies.iter().map(|&body| body as usize));
            }
            for (pair, how) in self.contacts.of(body) {
                if how != Persistence::Interpenetrating {
                    open.extend(pair.bodies());
                }
            }
        }
        found
    }

    /// The immovable bodies of pairs and constraints of some bodies, with these, in order.
    fn with_immovable(&self, movable: &BTreeSet<usize>, pairs: &BTreeSet<Pair>) -> Vec<u32> {
        let mut all = movable.clone();
        all.extend(pairs.iter().flat_map(Pair::bodies));
        for &body in movable {
            if let Some(system) = self.world.constraints.system(body) {
                all.extend(&system.bodies);
            }
        }
        all.into_iter().map(index).collect()
    }
}

impl Predictor {
    /// The pairs of movable bodies with one another, with immovable ones and with planes, whose gap is below what a motion at their speeds
    /// could close in a time, with these gaps.
    fn near_pairs(
        &self,
        dynamics: &Dynamics,
        movable: &BTreeSet<usize>,
        state: impl Fn(usize) -> State,
        time: f64,
    ) -> Vec<(Pair, f64)> {
        let world = &dynamics.world;
        let mut pairs: BTreeSet<Pair> = BTreeSet::new();
        for &body in movable {
            if !world.can_collide(body) {
                continue;
            }
            for plane in 0..index(world.planes.len()) {
                let pair = Pair { first: PairSide::Plane(plane), second: index(body), image: [0; 3] };
                if !world.is_joined(pair.sides(), pair.image) {
                    pairs.insert(pair);
                }
            }
            self.each_neighbour(
                dynamics,
                body,
                |_| true,
                |pair| {
                    let inside = |body: usize| movable.contains(&body) || world.bodies[body].fixed;
                    if pair.bodies().all(inside) {
                        pairs.insert(pair);
                    }
                },
            );
        }
        let near = |pair: Pair| {
            if dynamics.contacts.get(&pair) == Some(Persistence::Interpenetrating) {
                return None;
            }
            let size = pair.size(world);
            let speed = pair.speed(world, &state);
            let reach = 2.0 * time * (speed + world.gravity.norm() * time) + NEAR * size;
            let apart = match pair.first {
                PairSide::Plane(_) => 0.0,
                PairSide::Body(first) => {
                    let there = pair.displaced(world, &state(pair.second as usize)).position;
                    (there - state(first as usize).position).norm() - size
                }
            };
            if apart > reach {
                return None;
            }
            let gap = pair.gap(world, &state)?.gap;
            (gap <= reach).then_some((pair, gap))
        };
        pairs.into_iter().filter_map(near).collect()
    }
}

impl Simulation {
    /// An event of a cluster that has no resolution: its bodies are carried on by time steps, from the states before it.
    pub(super) fn event_trouble(&mut self, cluster: &Cluster, t: f64, cause: Cause) {
        let sides = cluster.contacts.first().map_or([Side::Body(0); 2], |contact| contact.key.pair.sides());
        self.trouble(&cluster.bodies, t, sides, cause);
    }

    /// Carries bodies on by time steps, because their exact motion ends here; or ends the run, if the scene asks.
    pub(super) fn trouble(&mut self, bodies: &[usize], t: f64, sides: [Side; 2], cause: Cause) {
        if self.has_given_up() {
            return;
        }
        let time = self.dynamics.clock.absolute(t);
        if self.settings.on_trouble == OnTrouble::Stop {
            return self.books.fail(time, sides, cause);
        }
        if self.begin_stepping(bodies, t, None).is_err() {
            self.books.fail(time, sides, cause);
        }
    }

    /// Takes the bodies of a pair that touches into time-stepping, where one of them is.
    pub(super) fn join_stepping(&mut self, pair: &Pair, t: f64, retry: f64) {
        let bodies: Vec<usize> = pair.movable(&self.dynamics.world).collect();
        if self.begin_stepping(&bodies, t, Some(retry)).is_err() {
            let cause = Cause::PersistentContact(Obstacle::NotFinite);
            self.books.fail(self.dynamics.clock.absolute(t), pair.sides(), cause);
        }
    }

    /// Hands the bodies of a cluster to time-stepping if the clock has stood still for too many events. Returns whether it did.
    pub(super) fn stands_still(&mut self, cluster: &Cluster, t: f64) -> bool {
        let most = STANDSTILL + 16 * self.dynamics.motions.len() as u64;
        if self.settings.on_trouble == OnTrouble::Stop || self.books.counts.stalled <= most {
            return false;
        }
        self.books.counts.stalled = 0;
        self.event_trouble(cluster, t, Cause::PersistentContact(Obstacle::Endless));
        true
    }

    /// Makes one group, carried on by time steps, of all bodies that are connected to some.
    fn begin_stepping(&mut self, bodies: &[usize], t: f64, retry: Option<f64>) -> Result<(), Obstacle> {
        let movable = self.dynamics.connected(bodies);
        if movable.is_empty() {
            return Err(Obstacle::Contradiction);
        }
        let states: Vec<(usize, State)> =
            movable.iter().map(|&body| (body, self.dynamics.state(body, t))).collect();
        // All of them leave their groups and contacts, and are where they were.
        for &(body, state) in &states {
            if let Trajectory::Grouped { group, .. } = self.dynamics.motions[body].trajectory {
                self.books.book_work(&mut self.dynamics, group, t);
                for member in self.dynamics.groups.remove(group).map_or_else(Vec::new, |group| group.bodies) {
                    self.release_member(member as usize, &states, t);
                }
            } else {
                self.release_member(body, &[(body, state)], t);
            }
            let contacts: Vec<(Pair, Persistence)> = self.dynamics.contacts.of(body).collect();
            for (pair, how) in contacts {
                if how != Persistence::Interpenetrating {
                    self.dynamics.contacts.remove(&pair);
                }
            }
        }
        self.books.ledger.excuse(|body| movable.contains(&body));
        let numbers: Vec<u32> = movable.iter().map(|&body| index(body)).collect();
        let only: Vec<State> = states.iter().map(|(_, state)| *state).collect();
        let length = LENGTH * self.dynamics.passage(&numbers, &only);
        let now = self.dynamics.clock.absolute(t);
        // What moves too fast for the time asked for is beyond time steps too.
        if self.settings.until - now > MOST_STEPS * length {
            return Err(Obstacle::Endless);
        }
        let mut wait: f64 = 0.0;
        for &body in &movable {
            let effort = &mut self.dynamics.motions[body].effort;
            let soon = now - effort.troubled <= 4.0 * effort.wait;
            wait = wait.max(if soon { 2.0 * effort.wait } else { 0.0 });
        }
        let wait = wait.clamp(FIRST_WAIT * length, LONGEST_WAIT * length);
        for &body in movable.iter().filter(|_| retry.is_none()) {
            let effort = &mut self.dynamics.motions[body].effort;
            (effort.troubled, effort.wait, effort.work, effort.since) = (now, wait, 0, now);
        }
        let rest_speed = self.dynamics.rest_speed.unwrap_or_else(|| {
            let of = |&(body, _): &(usize, State)| {
                let fall = (self.dynamics.world.gravity.norm() * self.dynamics.world.extent(body)).sqrt();
                REST * fall.max(self.dynamics.motions[body].effort.approach)
            };
            states.iter().map(of).fold(0.0, f64::max)
        });
        let interval = self.open_interval(now, &numbers);
        let stepping = Stepping { length, retry: retry.unwrap_or(now + wait), rest_speed, interval };
        self.form_stepped_group(&movable, &only, stepping, t)
    }

    /// Puts a body into free flight from its state, in the box where it is.
    fn release_member(&mut self, body: usize, states: &[(usize, State)], t: f64) {
        if self.dynamics.world.bodies[body].fixed {
            return;
        }
        if let Some((_, state)) = states.iter().find(|(known, _)| *known == body) {
            let boxes = self.dynamics.motions[body].boxes;
            self.dynamics.fly(body, state, t);
            self.dynamics.motions[body].boxes = boxes;
        }
    }

    /// Forms the group of a time step, and predicts what its bodies meet.
    fn form_stepped_group(
        &mut self,
        movable: &BTreeSet<usize>,
        states: &[State],
        stepping: Stepping,
        t: f64,
    ) -> Result<(), Obstacle> {
        let of: Vec<(usize, State)> = movable.iter().copied().zip(states.iter().copied()).collect();
        let state = |body: usize| {
            let known = of.binary_search_by_key(&body, |(known, _)| *known);
            known.map_or_else(|_| self.dynamics.state(body, t), |place| of[place].1)
        };
        let pairs: Vec<Pair> = {
            let near = self.predictor.near_pairs(&self.dynamics, movable, state, stepping.length);
            near.into_iter().map(|(pair, _)| pair).collect()
        };
        let set: BTreeSet<Pair> = pairs.iter().copied().collect();
        let bodies = self.dynamics.with_immovable(movable, &set);
        let origin: Vec<State> = bodies.iter().map(|&body| state(body as usize)).collect();
        let begun = self.dynamics.clock.absolute(t);
        let world = &self.dynamics.world;
        let flow = flow_of(world, &bodies, &pairs, begun);
        let restitution = stepping.restitution(world, &pairs);
        let (step, gap) = flow.time_step(&origin, 0.0, stepping.length, &restitution)?;
        let entry = &self.books.stepped[stepping.interval as usize];
        // Every eighth step is compared with two halves.
        let error = if entry.steps.is_multiple_of(8) {
            halving_error(&flow, &origin, stepping.length, &restitution, step.end())
        } else {
            0.0
        };
        let number = self.dynamics.groups.vacant();
        for (member, &body) in bodies.iter().enumerate() {
            if !self.dynamics.world.bodies[body as usize].fixed {
                let motion = &mut self.dynamics.motions[body as usize];
                motion.trajectory = Trajectory::Grouped { group: number, member: index(member) };
                motion.since = t;
                motion.change();
            }
        }
        for pair in &pairs {
            self.dynamics.contacts.insert(*pair, Persistence::Active(number));
        }
        let joints = self.dynamics.world.joints_of(&bodies);
        let count = pairs.len();
        let group = Group {
            spins: vec![None; bodies.len()],
            bodies,
            pairs,
            flow,
            zero: t,
            begun,
            origin,
            points: Points::default(),
            expected: Expected::default(),
            follows: 0,
            step,
            impulses: vec![0.0; count],
            slopes: vec![None; count],
            booked: 0.0,
            joints,
            version: self.dynamics.groups.next_version(),
            stepping: Some(stepping),
        };
        let end = self.dynamics.clock.absolute(group.end());
        self.dynamics.groups.insert(number, group);
        self.books.unbalanced = true;
        let entry = &mut self.books.stepped[stepping.interval as usize];
        entry.steps += 1;
        entry.until = entry.until.max(end.min(self.settings.until));
        entry.gap_min = entry.gap_min.min(gap);
        entry.error = entry.error.max(error);
        self.predictor.push_step_end(&self.dynamics, number);
        for &body in movable {
            self.predictor.predict_body(&self.dynamics, &mut self.books, body, t, &[]);
        }
        Ok(())
    }

    /// The number of the interval that begins at a time: a new one, or the last of these bodies if it ends there.
    fn open_interval(&mut self, now: f64, bodies: &[u32]) -> u32 {
        let shares = |interval: &SteppedInterval| interval.bodies.iter().any(|body| bodies.contains(body));
        let full = self.books.stepped.len() >= MOST_INTERVALS;
        let last = self.books.stepped.iter().rposition(|interval| shares(interval) && interval.until >= now);
        if let Some(place) = last.or(full.then_some(MOST_INTERVALS - 1)) {
            let interval = &mut self.books.stepped[place];
            interval.bodies.extend(bodies);
            interval.bodies.sort_unstable();
            interval.bodies.dedup();
            return index(place);
        }
        self.books.stepped.push(SteppedInterval {
            from: now,
            until: now,
            bodies: bodies.to_vec(),
            steps: 0,
            gap_min: f64::INFINITY,
            error: 0.0,
        });
        index(self.books.stepped.len() - 1)
    }

    /// Handles the end of a time step: the next one, or the exact way again.
    pub(super) fn time_step_end(&mut self, number: u32, recorder: &mut impl Recorder) {
        let Some(group) = self.dynamics.groups.get(number) else { return };
        let (Some(stepping), t) = (group.stepping, group.end()) else { return };
        self.begin_work(Task::TimeStep, &group.bodies, t);
        let (sides, bodies) =
            (super::group::failing_sides(&group.bodies, &group.pairs), group.bodies.clone());
        self.books.book_work(&mut self.dynamics, number, t);
        self.advance_clock(t);
        let Some(group) = self.dynamics.groups.remove(number) else { return };
        for pair in &group.pairs {
            self.dynamics.contacts.remove(pair);
        }
        let world = &self.dynamics.world;
        let movable: BTreeSet<usize> =
            bodies.iter().map(|&body| body as usize).filter(|&body| !world.bodies[body].fixed).collect();
        let ended: Vec<(usize, State)> =
            bodies.iter().map(|&body| body as usize).zip(group.step.end().iter().copied()).collect();
        for &body in &movable {
            self.release_member(body, &ended, t);
        }
        let mut states = group.step.end().to_vec();
        let due = self.dynamics.clock.absolute(t) >= stepping.retry;
        if due && self.make_exact(&group, &mut states, &movable, t, recorder) {
            return;
        }
        let only = ended.iter().filter(|(body, _)| movable.contains(body));
        let only: Vec<State> = only.map(|(_, state)| *state).collect();
        // Where the bodies have become slower or faster, so do the steps.
        let numbers: Vec<u32> = movable.iter().map(|&body| index(body)).collect();
        let length = LENGTH * self.dynamics.passage(&numbers, &only);
        if self.form_stepped_group(&movable, &only, Stepping { length, ..stepping }, t).is_err() {
            let cause = Cause::PersistentContact(Obstacle::NotFinite);
            self.books.fail(self.dynamics.time(), sides, cause);
        }
    }

    /// Moves the bodies of a group apart and lets them go on exactly; false if they cannot be moved apart.
    fn make_exact(
        &mut self,
        group: &Group,
        states: &mut [State],
        movable: &BTreeSet<usize>,
        t: f64,
        recorder: &mut impl Recorder,
    ) -> bool {
        let separated = group.flow.separate(states);
        let place = |body: usize| group.bodies.binary_search(&index(body)).ok();
        let rest = |body: usize| self.dynamics.state(body, t);
        let near = self.predictor.near_pairs(
            &self.dynamics,
            movable,
            |body| place(body).map_or_else(|| rest(body), |place| states[place]),
            0.0,
        );
        let world = &self.dynamics.world;
        let overlaps = |(pair, gap): &(Pair, f64)| *gap < -OVERLAP * pair.size(world);
        if separated.is_err() || near.iter().any(overlaps) {
            return false;
        }
        self.books.ledger.excuse(|body| movable.contains(&body));
        let change = group.flow.energy(states) - group.flow.energy(group.step.end());
        self.books.ledger.book_work(change);
        self.books.unbalanced = true;
        let of: Vec<(usize, State)> =
            group.bodies.iter().map(|&body| body as usize).zip(states.iter().copied()).collect();
        for &body in movable {
            self.release_member(body, &of, t);
        }
        let touches = |(pair, gap): &(Pair, f64)| {
            let point =
                of.iter().find(|(body, _)| *body == pair.second as usize).map(|(_, state)| state.position);
            *gap <= 4.0 * pair.gap_rounding(&self.dynamics.world, &point.unwrap_or_default())
        };
        let touching: Vec<Pair> = near.iter().filter(|near| touches(near)).map(|(pair, _)| *pair).collect();
        for &body in movable {
            self.predictor.predict_body(&self.dynamics, &mut self.books, body, t, &touching);
        }
        let cluster = Cluster::of(&self.dynamics, t, movable, &touching);
        self.resolve_changes(cluster, t, None, true, recorder);
        true
    }
}

/// By how much two half steps differ from a step, in velocities over the speeds.
fn halving_error(
    flow: &Flow,
    origin: &[State],
    length: f64,
    restitution: &Restitution,
    end: &[State],
) -> f64 {
    let half = |states: &[State], from: f64| flow.time_step(states, from, 0.5 * length, restitution);
    let Ok((first, _)) = half(origin, 0.0) else { return f64::INFINITY };
    let Ok((second, _)) = half(first.end(), 0.5 * length) else { return f64::INFINITY };
    let speed = origin.iter().chain(end).map(|state| state.velocity.norm()).fold(0.0, f64::max);
    let off = end.iter().zip(second.end()).map(|(one, two)| (one.velocity - two.velocity).norm());
    let off = off.fold(0.0, f64::max);
    if speed > 0.0 { off / speed } else { 0.0 }
}
