//! Contacts that last: held by a force, touching without one, or passed through.
//!
//! A contact that neither closes nor parts is decided by the accelerations: where free flight would let the bodies sink
//! into one another, now or, at a paradox, in the next moment, a workless normal force keeps them touching until it
//! returns to zero. Bodies that hold on to one another, directly or through others, are a group and are moved together
//! by [`crate::flow`].

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use super::predict::index;
use super::queue::{Due, Pair, Party};
use super::snapshot::StateRecord;
use super::touch::{Cluster, Encounter};
use super::world::World;
use super::{Cause, Course, Simulation, Stopped};
use crate::body::{Body, State};
use crate::contact::Side;
use crate::contact::kinematics::{Kinematics, effective_inverse_mass};
use crate::flow::{Ending, Flow, Held, Holding, Obstacle, Piece};
use crate::motion::{Flight, Motion};
use crate::record::{Kind, Recorder};
use crate::scene::model::OnParadox;

/// How a contact lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Standing {
    /// By a force, in this group.
    Held(u32),
    /// Without any force, and nothing drives it apart or together.
    Neutral,
    /// The bodies overlap, as asked.
    Passing,
}

/// What becomes of a contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It opens.
    Parts,
    /// It closes again at once: the law left it closing.
    Closes,
    /// A force holds it.
    Holds,
    /// It stays without a force.
    Stays,
    /// The bodies pass into one another.
    Passes,
    /// The run ends here.
    Stops,
}

/// What was decided of a contact, and why.
#[derive(Debug, Clone, Copy)]
pub(super) struct Verdict {
    pub fate: Fate,
    /// Whether it stood before, and was held.
    pub was_held: bool,
    /// Whether the bodies had overlapped.
    pub exits: bool,
    pub class: &'static str,
    pub g2: Option<f64>,
    pub g3: Option<f64>,
    pub force_slope: Option<f64>,
    /// The time until bounces end, with its error.
    pub limit: Option<[f64; 2]>,
}

impl Verdict {
    fn new(fate: Fate, class: &'static str) -> Self {
        Self {
            fate,
            was_held: false,
            exits: false,
            class,
            g2: None,
            g3: None,
            force_slope: None,
            limit: None,
        }
    }

    /// Whether the pair goes on apart.
    pub fn parts(&self) -> bool {
        self.fate == Fate::Parts
    }

    /// Whether the pair needs no search while it lasts.
    pub fn stands(&self) -> bool {
        matches!(self.fate, Fate::Holds | Fate::Stays | Fate::Passes)
    }

    /// What is to be recorded of a contact.
    pub fn kinds(&self, contact: &Encounter, closing: bool) -> impl Iterator<Item = (Kind, &'static str)> {
        let struck = closing && (contact.impulse != 0.0 || (contact.new && contact.before.v < 0.0));
        // What was held already has no bounces to end.
        let rests = contact.rests && !self.was_held && self.fate == Fate::Holds;
        let blow = if rests { Kind::Rest } else { Kind::Impact };
        let begins = !self.was_held && !rests;
        let then = match self.fate {
            Fate::Parts if self.exits => Some(Kind::PassEnd),
            Fate::Parts if self.was_held => Some(Kind::HoldEnd),
            Fate::Parts if !closing && self.class == "graze" => Some(Kind::Graze),
            Fate::Holds if begins => Some(Kind::HoldBegin),
            Fate::Passes => Some(Kind::PassBegin),
            Fate::Stops => Some(Kind::Stop),
            _ => None,
        };
        let struck = struck.then_some((blow, "normal"));
        struck.into_iter().chain(then.map(|kind| (kind, self.class)))
    }
}

/// The second derivative of a gap that is none, over the accelerations at hand, and the third over theirs.
const NONE: f64 = 1e-9;

impl Simulation {
    /// The contacts that stand at a body, passing ones not.
    pub(super) fn standing_of(&self, body: usize) -> Vec<Pair> {
        let concerns = |pair: &Pair| {
            pair.second as usize == body || matches!(pair.first, Party::Body(first) if first as usize == body)
        };
        let here = |(pair, standing): (&Pair, &Standing)| {
            (concerns(pair) && *standing != Standing::Passing).then_some(*pair)
        };
        self.standing.iter().filter_map(here).collect()
    }

    /// What becomes of each contact of a cluster, with the states after; none where accelerations have no answer.
    pub(super) fn settle(
        &self,
        cluster: &Cluster,
        closing: bool,
        leaving: Option<Pair>,
        t: f64,
    ) -> Result<Vec<Verdict>, Obstacle> {
        let mut verdicts = Vec::with_capacity(cluster.contacts.len());
        let mut resting: Vec<usize> = Vec::new();
        let mut after: Vec<Kinematics> = Vec::with_capacity(cluster.contacts.len());
        for (k, contact) in cluster.contacts.iter().enumerate() {
            let now = self.kinematics_of(&contact.pair, cluster, &cluster.after, &contact.found);
            let speed = self.speed(&contact.pair, |body| {
                let at = cluster.place(body);
                let (a, b) = (&cluster.before[at], &cluster.after[at]);
                if a.velocity.norm() > b.velocity.norm() { *a } else { *b }
            });
            let slow = self.slow(&contact.pair, &now, speed);
            let class = if closing { "normal" } else { "separating" };
            let mut verdict = if leaving == Some(contact.pair) {
                Verdict::new(Fate::Parts, "separating")
            } else if contact.rests || now.v.abs() <= slow {
                resting.push(k);
                Verdict::new(Fate::Parts, "graze")
            } else if now.v > 0.0 {
                Verdict::new(Fate::Parts, class)
            } else {
                Verdict::new(Fate::Closes, class)
            };
            verdict.was_held = matches!(self.standing.get(&contact.pair), Some(Standing::Held(_)));
            after.push(now);
            verdicts.push(verdict);
        }
        if !resting.is_empty() {
            self.weigh(cluster, &resting, &after, &mut verdicts, t)?;
        }
        for (contact, verdict) in cluster.contacts.iter().zip(&mut verdicts) {
            if contact.rests && contact.new && verdict.fate == Fate::Holds {
                verdict.limit = self.limit(contact, verdict);
            }
        }
        Ok(verdicts)
    }

    /// When bounces that end here would have ended by themselves: 2v⁺/(|g''|(1−k)), a geometric series whose ratio is
    /// constant but for the change of g''.
    fn limit(&self, contact: &Encounter, verdict: &Verdict) -> Option<[f64; 2]> {
        let (restitution, _) = self.world.answer(Self::sides(&contact.pair));
        let (g2, g3) = (verdict.g2?, verdict.g3?);
        let wait = 2.0 * restitution * contact.before.v.abs() / (g2.abs() * (1.0 - restitution));
        // An error of this impact's time is one of its speed, and so are those of the impacts before.
        let unsure = contact.error * (1.0 + restitution) / ((1.0 - restitution) * (1.0 - restitution));
        let error = wait * (wait * g3.abs() / g2.abs()).min(1.0) + unsure;
        (wait.is_finite() && error.is_finite()).then_some([wait, error])
    }

    /// Lets accelerations decide: what would sink is held, what opens parts. False where they have no answer.
    fn weigh(
        &self,
        cluster: &Cluster,
        resting: &[usize],
        after: &[Kinematics],
        verdicts: &mut [Verdict],
        t: f64,
    ) -> Result<(), Obstacle> {
        for &k in resting {
            // The numbers of the classification are those of free flight.
            (verdicts[k].g2, verdicts[k].g3) = (Some(after[k].g2), Some(after[k].g3));
        }
        if resting.len() > 1 {
            let holding = self.weigh_together(cluster, resting)?;
            for (i, &k) in resting.iter().enumerate() {
                let scale = self.scales(cluster, &cluster.contacts[k]);
                verdicts[k].fate = if holding.holds[i] && !holding.marginal[i] {
                    Fate::Holds
                } else if holding.accelerations[i] > NONE * scale[0] {
                    Fate::Parts
                } else {
                    self.foresee(cluster, &cluster.contacts[k], t)
                };
                verdicts[k].class = Self::standing_class(&cluster.contacts[k], verdicts[k].fate);
            }
            return Ok(());
        }
        let k = resting[0];
        let (contact, now, verdict) = (&cluster.contacts[k], &after[k], &mut verdicts[k]);
        let scale = self.scales(cluster, contact);
        if now.g2 < -NONE * scale[0] {
            verdict.fate = Fate::Holds;
            verdict.class = Self::standing_class(contact, Fate::Holds);
        } else if now.g2 > NONE * scale[0] {
            verdict.fate = Fate::Parts;
        } else if now.g3 < -NONE * scale[1] {
            self.at_paradox(cluster, contact, now, verdict);
        } else if now.g3 > NONE * scale[1] {
            verdict.fate = Fate::Parts;
        } else {
            verdict.fate = self.foresee(cluster, contact, t);
            verdict.class = "degenerate";
        }
        Ok(())
    }

    /// The type of a contact that no impulse decides.
    fn standing_class(contact: &Encounter, fate: Fate) -> &'static str {
        let fresh = contact.new && !contact.rests && contact.impulse == 0.0;
        match fate {
            // Free flight would overlap on both sides of now: no first contact, but a contact that stands.
            Fate::Holds if fresh => "unrealizable",
            Fate::Holds => "normal",
            Fate::Parts => "graze",
            _ => "degenerate",
        }
    }

    /// Where no derivative decides, the gap in free flight does: the first that is more than rounding.
    fn foresee(&self, cluster: &Cluster, contact: &Encounter, t: f64) -> Fate {
        let pair = &contact.pair;
        let speed = self.speed(pair, |body| cluster.after[cluster.place(body)]);
        let passage = self.size(pair) / speed;
        if !passage.is_finite() {
            return Fate::Stays;
        }
        let level = 4.0 * self.level(pair, &contact.found.points[0]) + contact.found.gap.abs();
        let flight = |body: usize| {
            Flight::new(&self.world.bodies[body], &cluster.after[cluster.place(body)], &self.world.gravity)
        };
        let second = flight(pair.second as usize);
        let first = match pair.first {
            Party::Plane(_) => None,
            Party::Body(first) => Some(flight(first as usize)),
        };
        let mut wait = 1e-6 * passage;
        let end = self.clock.local(self.settings.until) - t;
        while wait < passage.min(end) {
            let state = |body: usize| match &first {
                Some(flight) if body != pair.second as usize => flight.at(wait),
                _ => second.at(wait),
            };
            let Some(found) = self.gap_between(pair, state) else { break };
            if found.gap > level {
                return Fate::Parts;
            }
            if found.gap < -level {
                return Fate::Holds;
            }
            wait *= 2.0;
        }
        Fate::Stays
    }

    fn at_paradox(&self, cluster: &Cluster, contact: &Encounter, now: &Kinematics, verdict: &mut Verdict) {
        let speed = self.speed(&contact.pair, |body| cluster.after[cluster.place(body)]);
        let small = |x: f64, scale: f64| x <= 1e-8 * scale;
        verdict.class = if !small(now.w.norm(), speed / self.size(&contact.pair)) {
            "paradox_marginal"
        } else if small(now.slip.norm(), speed) {
            "paradox_2b_star"
        } else {
            "paradox_2b"
        };
        verdict.force_slope = Some(-now.g3 / self.inverse_mass(cluster, contact));
        verdict.fate = match self.world.on_paradox {
            OnParadox::Hold => Fate::Holds,
            OnParadox::Pass => Fate::Passes,
            OnParadox::Stop => Fate::Stops,
        };
    }

    /// Which of several resting contacts hold: 0 ≤ λ ⟂ g'' ≥ 0 for all of them together.
    fn weigh_together(&self, cluster: &Cluster, resting: &[usize]) -> Result<Holding, Obstacle> {
        let bodies: Vec<u32> = cluster.bodies.iter().map(|&body| index(body)).collect();
        let pairs: Vec<Pair> = resting.iter().map(|&k| cluster.contacts[k].pair).collect();
        let flow = flow_of(&self.world, &bodies, &pairs);
        let mut states = cluster.after.clone();
        flow.project(&mut states)?;
        flow.holding(&states)
    }

    /// n·M·n of a contact.
    fn inverse_mass(&self, cluster: &Cluster, contact: &Encounter) -> f64 {
        let second = contact.pair.second as usize;
        let mut there = cluster.after[cluster.place(second)];
        there.position += self.displacement(&contact.pair);
        let points = contact.before.points;
        let other = Some((&self.world.bodies[second], &there));
        match contact.pair.first {
            Party::Plane(_) => effective_inverse_mass([None, other], &points, &contact.found.normal),
            Party::Body(first) => {
                let first = first as usize;
                let one = Some((&self.world.bodies[first], &cluster.after[cluster.place(first)]));
                effective_inverse_mass([one, other], &points, &contact.found.normal)
            }
        }
    }

    /// The sizes of second and third derivatives at a contact, for what counts as none.
    pub(super) fn scales(&self, cluster: &Cluster, contact: &Encounter) -> [f64; 2] {
        let speed = self.speed(&contact.pair, |body| cluster.after[cluster.place(body)]);
        let size = self.size(&contact.pair);
        let rate = speed / size;
        let acceleration = speed * rate + self.world.gravity.norm();
        [acceleration, acceleration * rate]
    }
}

/// Bodies that hold on to one another, and how they move.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// The bodies, immovable ones included, in the order of the flow's.
    bodies: Vec<u32>,
    /// The contacts, in the order of the flow's.
    pairs: Vec<Pair>,
    flow: Flow,
    /// The flow's zero of time, since the epoch.
    zero: f64,
    /// The states from which the flow set out, at its zero, and how many pieces have followed the first.
    origin: Vec<State>,
    follows: u32,
    piece: Piece,
    /// What each contact's normal force has added up to before this piece.
    impulses: Vec<f64>,
    /// The slope with which each force began, where that says something.
    slopes: Vec<Option<f64>>,
    /// What of this piece's friction the ledger knows.
    booked: f64,
    pub version: u32,
}

/// A group as plain numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct GroupRecord {
    bodies: Vec<u32>,
    pairs: Vec<Pair>,
    zero: f64,
    origin: Vec<StateRecord>,
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
        self.bodies.iter().all(|&body| (body as usize) < bodies)
            && self.origin.len() == self.bodies.len()
            && self.impulses.len() == self.pairs.len()
            && self.slopes.len() == self.pairs.len()
            && self.pairs.iter().all(|pair| pair.fits(bodies, planes) && self.holds(pair))
    }

    fn holds(&self, pair: &Pair) -> bool {
        self.bodies.contains(&pair.second)
            && match pair.first {
                Party::Plane(_) => true,
                Party::Body(first) => self.bodies.contains(&first),
            }
    }
}

/// After so many pieces a flow sets out anew, so that a snapshot need not go back further.
const MOST_FOLLOWS: u32 = 64;

fn flow_of(world: &World, bodies: &[u32], pairs: &[Pair]) -> Flow {
    let constants: Vec<Body> = bodies.iter().map(|&body| world.bodies[body as usize]).collect();
    let place = |body: u32| Side::Body(bodies.iter().position(|&b| b == body).unwrap_or(0));
    let held: Vec<Held> = pairs
        .iter()
        .map(|pair| {
            let first = match pair.first {
                Party::Plane(k) => Side::Plane(k as usize),
                Party::Body(body) => place(body),
            };
            let (_, surface) = world.answer(Simulation::sides(pair));
            let contact = Held::new([first, place(pair.second)], surface);
            Held { offset: world.boxes(pair.image), ..contact }
        })
        .collect();
    Flow::new(&constants, &world.planes, world.gravity, &held)
}

impl Group {
    pub fn record(&self) -> GroupRecord {
        GroupRecord {
            bodies: self.bodies.clone(),
            pairs: self.pairs.clone(),
            zero: self.zero,
            origin: self.origin.iter().map(StateRecord::from).collect(),
            follows: self.follows,
            impulses: self.impulses.clone(),
            slopes: self.slopes.clone(),
            booked: self.booked,
            version: self.version,
        }
    }

    /// The group again; none if its motion cannot be had again.
    pub fn of(record: &GroupRecord, world: &World) -> Option<Self> {
        let flow = flow_of(world, &record.bodies, &record.pairs);
        let origin: Vec<State> = record.origin.iter().map(State::from).collect();
        let mut piece = flow.advance(&origin, 0.0, FOREVER).ok()?;
        for _ in 0..record.follows {
            piece = flow.follow(&piece, FOREVER).ok()?;
        }
        Some(Self {
            bodies: record.bodies.clone(),
            pairs: record.pairs.clone(),
            flow,
            zero: record.zero,
            origin,
            follows: record.follows,
            piece,
            impulses: record.impulses.clone(),
            slopes: record.slopes.clone(),
            booked: record.booked,
            version: record.version,
        })
    }

    /// When its piece ends, since the epoch.
    fn end(&self) -> f64 {
        self.zero + self.piece.until
    }

    /// Whether a plane or an immovable body takes part.
    fn is_external(&self, world: &World) -> bool {
        self.pairs.iter().any(|pair| matches!(pair.first, Party::Plane(_)))
            || self.bodies.iter().any(|&body| world.bodies[body as usize].fixed)
    }
}

/// So many pieces of held motion must come forward by this share of an epoch.
const LOOK_BACK: u32 = 512;
const HEADWAY: f64 = 1e-5;

/// No end of its own.
const FOREVER: f64 = 1e300;

/// A held body's motion over the present piece.
#[derive(Clone, Copy)]
pub(super) struct HeldMotion<'a> {
    group: &'a Group,
    member: usize,
}

impl Motion for HeldMotion<'_> {
    fn at(&self, t: f64) -> State {
        self.group.piece.at(self.member, t - self.group.zero)
    }

    fn acceleration(&self) -> Vector3<f64> {
        Vector3::zeros()
    }

    fn unsteadiness(&self) -> f64 {
        self.group.piece.acceleration_bound(self.member)
    }

    fn turning_bound(&self) -> f64 {
        self.group.piece.turning_bound(self.member)
    }
}

impl Simulation {
    /// A group by its number. One that a body names exists.
    fn group(&self, group: u32) -> &Group {
        match &self.groups[group as usize] {
            Some(group) => group,
            None => unreachable!("a held body names its group"),
        }
    }

    pub(super) fn held_motion(&self, group: u32, member: u32) -> HeldMotion<'_> {
        HeldMotion { group: self.group(group), member: member as usize }
    }

    pub(super) fn held_state(&self, group: u32, member: u32, t: f64) -> State {
        self.held_motion(group, member).at(t)
    }

    pub(super) fn piece_end(&self, group: u32) -> f64 {
        self.group(group).end()
    }

    pub(super) fn shift_groups(&mut self, by: f64) {
        for group in self.groups.iter_mut().flatten() {
            group.zero -= by;
        }
    }

    /// The groups of a cluster are no more, and its contacts stand no longer. Returns what the forces had added up to.
    pub(super) fn dissolve(&mut self, contacts: &[Encounter], t: f64) -> Vec<(Pair, f64, Option<f64>)> {
        let mut history = Vec::new();
        for contact in contacts {
            if let Some(Standing::Held(number)) = self.standing.remove(&contact.pair) {
                self.book_friction(number as usize, t);
                if let Some(group) = self.groups[number as usize].take() {
                    for (k, pair) in group.pairs.iter().enumerate() {
                        let last = group.piece.impulse(k, t - group.zero).normal;
                        history.push((*pair, group.impulses[k] + last, group.slopes[k]));
                    }
                }
            }
        }
        history
    }

    /// What the force of a held contact has added up to.
    pub(super) fn held_impulse(&self, pair: &Pair, t: f64) -> Option<(f64, Option<f64>)> {
        let Some(Standing::Held(number)) = self.standing.get(pair) else { return None };
        let group = self.group(*number);
        let k = group.pairs.iter().position(|known| known == pair)?;
        Some((group.impulses[k] + group.piece.impulse(k, t - group.zero).normal, group.slopes[k]))
    }

    /// Tells the ledger what friction has taken so far.
    fn book_friction(&mut self, number: usize, t: f64) {
        if let Some(group) = &mut self.groups[number] {
            let work: f64 =
                (0..group.pairs.len()).map(|k| group.piece.friction_work(k, t - group.zero)).sum();
            if work != group.booked {
                self.ledger.take_energy(work - group.booked, self.counts.events);
                group.booked = work;
            }
        }
    }

    /// The same of all groups.
    pub(super) fn book_all_friction(&mut self, t: f64) {
        for number in 0..self.groups.len() {
            self.book_friction(number, t);
        }
    }

    /// Whether forces from outside act on some group.
    pub(super) fn is_held_from_outside(&self) -> bool {
        self.groups.iter().flatten().any(|group| group.is_external(&self.world))
    }

    /// Sets up what was decided: groups of bodies that hold on to one another, and contacts that stay or are passed. `anew` has
    /// the pairs as they are after bodies were put back into the box, which those of held bodies are not.
    pub(super) fn stand(
        &mut self,
        cluster: &Cluster,
        verdicts: &[Verdict],
        anew: &[(Pair, Fate)],
        history: &[(Pair, f64, Option<f64>)],
        t: f64,
    ) {
        let mut held = Vec::new();
        for (contact, (verdict, (pair, _))) in cluster.contacts.iter().zip(verdicts.iter().zip(anew)) {
            match verdict.fate {
                Fate::Holds => held.push((contact.pair, verdict.force_slope)),
                Fate::Stays => {
                    self.standing.insert(*pair, Standing::Neutral);
                }
                Fate::Passes => {
                    self.standing.insert(*pair, Standing::Passing);
                }
                Fate::Parts | Fate::Closes | Fate::Stops => {}
            }
        }
        while let Some(first) = held.pop() {
            let mut pairs = vec![first];
            let mut bodies: Vec<usize> = self.movable(&first.0).collect();
            let mut next = 0;
            while let Some(&body) = bodies.get(next) {
                next += 1;
                let (with, without): (Vec<_>, Vec<_>) =
                    held.into_iter().partition(|(pair, _)| self.movable(pair).any(|b| b == body));
                held = without;
                for (pair, slope) in with {
                    let more: Vec<usize> = self.movable(&pair).filter(|b| !bodies.contains(b)).collect();
                    bodies.extend(more);
                    pairs.push((pair, slope));
                }
            }
            pairs.sort_unstable_by_key(|(pair, _)| *pair);
            self.form_group(cluster, &pairs, history, t);
        }
    }

    fn form_group(
        &mut self,
        cluster: &Cluster,
        pairs: &[(Pair, Option<f64>)],
        history: &[(Pair, f64, Option<f64>)],
        t: f64,
    ) {
        let mut bodies: Vec<u32> = Vec::new();
        for side in pairs.iter().flat_map(|(pair, _)| Self::sides(pair)) {
            if let Side::Body(body) = side
                && !bodies.contains(&index(body))
            {
                bodies.push(index(body));
            }
        }
        bodies.sort_unstable();
        let slopes = pairs
            .iter()
            .map(|(pair, slope)| {
                let known = history.iter().find(|(old, ..)| old == pair);
                known.map_or(*slope, |(_, _, slope)| *slope)
            })
            .collect();
        let earlier =
            |pair: &Pair| history.iter().find(|(old, ..)| old == pair).map_or(0.0, |(_, sum, _)| *sum);
        let impulses = pairs.iter().map(|(pair, _)| earlier(pair)).collect();
        let pairs: Vec<Pair> = pairs.iter().map(|(pair, _)| *pair).collect();
        let flow = flow_of(&self.world, &bodies, &pairs);
        let origin: Vec<State> =
            bodies.iter().map(|&body| cluster.after[cluster.place(body as usize)]).collect();
        let piece = match flow.advance(&origin, 0.0, FOREVER) {
            Ok(piece) => piece,
            Err(obstacle) => return self.lose(&pairs[0], Cause::Hold(obstacle)),
        };
        // What putting the states on the contacts changed is rounding, and booked like everything else.
        let change: f64 = flow.energy(piece.start()) - flow.energy(&origin);
        self.ledger.take_energy(change, self.counts.events);
        let number = self.groups.iter().position(Option::is_none).unwrap_or(self.groups.len());
        for (member, &body) in bodies.iter().enumerate() {
            if !self.world.bodies[body as usize].fixed {
                let mover = &mut self.movers[body as usize];
                mover.course = Course::Held { group: index(number), member: index(member) };
                mover.since = t;
            }
        }
        for pair in &pairs {
            self.standing.insert(*pair, Standing::Held(index(number)));
        }
        self.pieces += 1;
        let group = Group {
            bodies,
            pairs,
            flow,
            zero: t,
            origin,
            follows: 0,
            piece,
            impulses,
            slopes,
            booked: 0.0,
            version: self.pieces,
        };
        self.unbalanced |= group.is_external(&self.world);
        let (end, version) = (group.end(), group.version);
        if number == self.groups.len() {
            self.groups.push(Some(group));
        } else {
            self.groups[number] = Some(group);
        }
        self.push(end, Due::Piece { group: index(number) }, [version, 0]);
    }

    /// A group's piece is over: it goes on, or a contact lets go. Returns whether that was an event.
    pub(super) fn end_piece(&mut self, number: usize, recorder: &mut impl Recorder) -> bool {
        let Some(group) = &self.groups[number] else { return false };
        let t = group.end();
        if let Ending::LiftOff { contact, time_error } = group.piece.ending {
            let pair = group.pairs[contact];
            let cluster = self.cluster(t, &[(pair, time_error)]);
            self.advance_clock(t);
            self.resolve_and_go_on(cluster, t, Some(pair), recorder);
            return true;
        }
        self.book_friction(number, t);
        self.clock.now = self.clock.now.max(t);
        if self.makes_no_headway() {
            self.stopped.get_or_insert(Stopped::Stalled);
            return false;
        }
        let Some(group) = &mut self.groups[number] else { return false };
        for (k, sum) in group.impulses.iter_mut().enumerate() {
            *sum += group.piece.impulse(k, group.piece.until).normal;
        }
        let anew = group.follows >= MOST_FOLLOWS && group.piece.ending == Ending::Step;
        let next = if anew {
            let states = group.piece.end().to_vec();
            let piece = group.flow.advance(&states, 0.0, FOREVER);
            (group.origin, group.follows, group.zero) = (states, 0, t);
            piece
        } else {
            group.follows += 1;
            group.flow.follow(&group.piece, FOREVER)
        };
        let piece = match next {
            Ok(piece) => piece,
            Err(obstacle) => {
                let pair = group.pairs[0];
                self.lose(&pair, Cause::Hold(obstacle));
                return false;
            }
        };
        self.pieces += 1;
        (group.piece, group.booked, group.version) = (piece, 0.0, self.pieces);
        let (end, version, bodies) = (group.end(), group.version, group.bodies.clone());
        self.push(end, Due::Piece { group: index(number) }, [version, 0]);
        for body in bodies.into_iter().map(|body| body as usize) {
            if !self.world.bodies[body].fixed {
                let mover = &mut self.movers[body];
                mover.version = mover.version.wrapping_add(1);
            }
        }
        let bodies = self.groups[number].as_ref().map_or_else(Vec::new, |group| group.bodies.clone());
        for body in bodies.into_iter().map(|body| body as usize) {
            if !self.world.bodies[body].fixed {
                self.meet_all(body, t, &[]);
            }
        }
        false
    }

    /// Whether pieces have become so short that held motion comes to nothing.
    fn makes_no_headway(&mut self) -> bool {
        if !self.pieces.is_multiple_of(LOOK_BACK) {
            return false;
        }
        let (now, before) = (self.time(), self.piece_mark);
        self.piece_mark = now;
        now - before < HEADWAY * self.clock.length
    }

    /// Bodies that overlap, as asked, are apart again at some time: looks for it, and notes how deep they are.
    pub(super) fn await_exit(&mut self, pair: Pair, t: f64) {
        let end = self.clock.local(self.settings.until);
        let speed = self.speed(&pair, |body| self.state(body, t));
        let step = self.size(&pair) / speed / 64.0;
        if step <= 0.0 || !step.is_finite() {
            return;
        }
        let Some((exit, deepest)) = self.exit_of(&pair, t, end, step) else { return };
        self.ledger.see_gap(deepest, self.counts.events);
        let Some(exit) = exit else { return };
        self.push(exit, Due::Part(pair), self.versions(&pair));
    }

    /// When an overlap ends, by steps and bisection, and the deepest gap seen before.
    fn exit_of(&self, pair: &Pair, t: f64, end: f64, step: f64) -> Option<(Option<f64>, f64)> {
        let gap_at = |time: f64| self.gap_between(pair, |body| self.state(body, time)).map(|found| found.gap);
        let (mut low, mut deepest) = (t, 0.0_f64);
        let mut high = loop {
            if low >= end {
                return Some((None, deepest));
            }
            let time = low + step;
            let gap = gap_at(time)?;
            deepest = deepest.min(gap);
            // In its first moments an overlap may be too shallow to be seen.
            if gap > 0.0 && low > t {
                break time;
            }
            low = time;
        };
        loop {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                return Some((Some(high), deepest));
            }
            if gap_at(middle)? > 0.0 { high = middle } else { low = middle }
        }
    }

    /// Bodies that had passed into one another are apart.
    pub(super) fn exit(&mut self, pair: Pair, t: f64, recorder: &mut impl Recorder) {
        self.standing.remove(&pair);
        let cluster = self.cluster(t, &[(pair, f64::EPSILON * self.clock.length)]);
        self.advance_clock(t);
        let mut verdict = Verdict::new(Fate::Parts, "separating");
        verdict.exits = true;
        let verdicts = vec![verdict; cluster.contacts.len()];
        self.record(&cluster, false, &verdicts, t, recorder);
        self.search_parting(pair, t);
        self.audit_now_and_then();
    }
}
