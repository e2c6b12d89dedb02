//! Bodies that hold on to one another, directly or through others, and are moved together by [`crate::flow`].

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use super::predict::index;
use super::queue::{Due, Pair, Party};
use super::snapshot::StateRecord;
use super::touch::{Cluster, Encounter};
use super::verdict::{Fate, Standing, Verdict};
use super::world::World;
use super::{Cause, Course, Simulation, Stopped};
use crate::body::{Body, State};
use crate::contact::Side;
use crate::flow::{Ending, Flow, Held, Piece};
use crate::motion::Motion;
use crate::record::Recorder;

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

/// The flow of a group.
pub(super) fn flow_of(world: &World, bodies: &[u32], pairs: &[Pair]) -> Flow {
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

    /// A time as the flow has it: its piece's end exactly, where it is that.
    fn local(&self, t: f64) -> f64 {
        if t >= self.end() { self.piece.until } else { t - self.zero }
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
        self.group.piece.at(self.member, self.group.local(t))
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
                        let last = group.piece.impulse(k, group.local(t)).normal;
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
        Some((group.impulses[k] + group.piece.impulse(k, group.local(t)).normal, group.slopes[k]))
    }

    /// Tells the ledger what friction has taken so far.
    fn book_friction(&mut self, number: usize, t: f64) {
        if let Some(group) = &mut self.groups[number] {
            let work: f64 =
                (0..group.pairs.len()).map(|k| group.piece.friction_work(k, group.local(t))).sum();
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
        // States alone do not tell where a contact point is on a flat, nor that a contact has lost its grip.
        let bare = !group.flow.is_slack(&group.piece) && !group.piece.nears_flat();
        let anew = group.follows >= MOST_FOLLOWS && group.piece.ending == Ending::Step && bare;
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
}
