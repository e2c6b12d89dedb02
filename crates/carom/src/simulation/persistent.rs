//! The groups of a run: how they form, move on piece by piece, let go and dissolve, and what their forces have done.

use nalgebra::Vector3;

use super::contact_event::Cluster;
use super::group::{FOREVER, Group, flow_of, without_spin};
use super::queue::{Due, Pair};
use super::resolution::{ContactResolution, Outcome, Persistence};
use super::{Cause, Simulation, Trajectory};
use crate::body::State;
use crate::contact::Side;
use crate::flow::{Ending, Force, Mode, Obstacle, Points};
use crate::motion::Motion;
use crate::record::Recorder;
use crate::run::index;

/// So many pieces of held motion must come forward by this share of an epoch, and of the time that is left: beyond that a run takes
/// more pieces than anyone waits for.
const LOOK_BACK: u32 = 512;

const HEADWAY: f64 = 1e-5;

const HEADWAY_LEFT: f64 = 1e-13;

/// After so many pieces a flow sets out anew, so that a snapshot need not go back further.
const MOST_FOLLOWS: u32 = 64;

/// A held body's motion over the present piece.
#[derive(Clone, Copy)]
pub(super) struct HeldMotion<'a> {
    group: &'a Group,
    member: usize,
}

/// What groups that are no more leave to those that follow.
#[derive(Default)]
pub(super) struct History {
    contacts: Vec<Past>,
    /// Of each joint, where it touched, if that was near a flat.
    joints: Vec<(usize, Option<[Vector3<f64>; 2]>)>,
}

/// A held contact as it was.
struct Past {
    pair: Pair,
    /// What its force had added up to.
    impulse: f64,
    /// The slope with which the force began.
    slope: Option<f64>,
    /// Where it touched, if that was near a flat.
    points: Option<[Vector3<f64>; 2]>,
}

impl History {
    fn joint(&self, joint: usize) -> Option<[Vector3<f64>; 2]> {
        self.joints.iter().find(|(known, _)| *known == joint).and_then(|(_, points)| *points)
    }
}

impl Motion for HeldMotion<'_> {
    fn at(&self, t: f64) -> State {
        self.group.state(self.member, t)
    }

    fn acceleration(&self) -> Vector3<f64> {
        Vector3::zeros()
    }

    fn acceleration_bound(&self) -> f64 {
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

    pub(super) fn step_end(&self, group: u32) -> f64 {
        self.group(group).end()
    }

    pub(super) fn shift_groups(&mut self, by: f64) {
        for group in self.groups.iter_mut().flatten() {
            group.zero -= by;
        }
    }

    /// The groups of a cluster are no more, and its contacts stand no longer. Returns what is to be known of them.
    pub(super) fn dissolve(&mut self, cluster: &Cluster, t: f64) -> History {
        let mut history = History::default();
        let mut numbers: Vec<u32> = Vec::new();
        for contact in &cluster.contacts {
            if let Some(Persistence::Held(number)) = self.standing.remove(&contact.key.pair) {
                numbers.push(number);
            }
        }
        for &body in &cluster.bodies {
            if let Trajectory::Held { group, .. } = self.motions[body].course {
                numbers.push(group);
            }
        }
        for number in numbers {
            self.book_friction(number as usize, t);
            if let Some(group) = self.groups[number as usize].take() {
                let points = group.piece.points(group.local(t));
                for (k, pair) in group.pairs.iter().enumerate() {
                    let last = group.piece.impulse(k, group.local(t)).normal;
                    history.contacts.push(Past {
                        pair: *pair,
                        impulse: group.impulses[k] + last,
                        slope: group.slopes[k],
                        points: points.contacts[k],
                    });
                }
                history.joints.extend(group.joints.iter().copied().zip(points.joints));
            }
        }
        history
    }

    /// What the force of a held contact has added up to.
    pub(super) fn held_impulse(&self, pair: &Pair, t: f64) -> Option<(f64, Option<f64>)> {
        let Some(Persistence::Held(number)) = self.standing.get(pair) else { return None };
        let group = self.group(*number);
        let k = group.pairs.iter().position(|known| known == pair)?;
        Some((group.impulses[k] + group.piece.impulse(k, group.local(t)).normal, group.slopes[k]))
    }

    /// The force of a held contact at a time.
    pub(super) fn held_force(&self, pair: &Pair, t: f64) -> Option<Force> {
        let Some(Persistence::Held(number)) = self.standing.get(pair) else { return None };
        let group = self.group(*number);
        let k = group.pairs.iter().position(|known| known == pair)?;
        Some(group.piece.force(k, group.local(t)))
    }

    /// What a held contact does along its tangent.
    pub(super) fn held_mode(&self, pair: &Pair) -> Option<Mode> {
        let Some(Persistence::Held(number)) = self.standing.get(pair) else { return None };
        let group = self.group(*number);
        let k = group.pairs.iter().position(|known| known == pair)?;
        group.piece.modes().get(k).copied()
    }

    /// Tells the ledger what friction, dampers and other forces without a potential have done so far.
    fn book_friction(&mut self, number: usize, t: f64) {
        self.note_rolling(number, t);
        self.note_singular(number, t);
        if let Some(group) = &mut self.groups[number] {
            let at = group.local(t);
            let friction: f64 = (0..group.pairs.len()).map(|k| group.piece.friction_work(k, at)).sum();
            let work = friction + group.flow.load_work(&group.piece, at);
            if work != group.booked {
                self.ledger.take_work(work - group.booked);
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
        resolutions: &[ContactResolution],
        anew: &[(Pair, Outcome)],
        history: &History,
        t: f64,
    ) {
        let mut held = Vec::new();
        for (contact, (resolution, (pair, _))) in cluster.contacts.iter().zip(resolutions.iter().zip(anew)) {
            match resolution.outcome {
                Outcome::Holds => held.push((contact.key.pair, resolution.force_slope)),
                Outcome::Stays => {
                    self.standing.insert(*pair, Persistence::Neutral);
                }
                Outcome::Passes => {
                    self.standing.insert(*pair, Persistence::Passing);
                }
                Outcome::Parts | Outcome::Closes | Outcome::Stops => {}
            }
        }
        // Whoever is held or tied goes with all those that it is held by or tied to.
        let mut placed = vec![false; cluster.bodies.len()];
        for seed in 0..cluster.bodies.len() {
            let body = cluster.bodies[seed];
            let caught = self.world.constrained(body)
                || held.iter().any(|(pair, _): &(Pair, _)| self.movable(pair).any(|b| b == body));
            if placed[seed] || self.world.bodies[body].fixed || !caught {
                continue;
            }
            let mut bodies = vec![body];
            let mut pairs: Vec<(Pair, Option<f64>)> = Vec::new();
            let mut next = 0;
            while let Some(&body) = bodies.get(next) {
                next += 1;
                let fixed = self.world.bodies[body].fixed;
                let mut more: Vec<usize> = Vec::new();
                if let Some(system) = self.world.constraints.system(body) {
                    more.extend(&system.bodies);
                }
                for contact in held.iter().filter(|_| !fixed) {
                    if self.movable(&contact.0).any(|b| b == body) && !pairs.contains(contact) {
                        pairs.push(*contact);
                        more.extend(Self::sides(&contact.0).into_iter().filter_map(|side| match side {
                            Side::Body(body) => Some(body),
                            Side::Plane(_) => None,
                        }));
                    }
                }
                for body in more {
                    if !bodies.contains(&body) {
                        bodies.push(body);
                    }
                }
            }
            for &body in &bodies {
                placed[cluster.place(body)] = true;
            }
            bodies.sort_unstable();
            pairs.sort_unstable_by_key(|(pair, _)| *pair);
            let states: Vec<State> = bodies.iter().map(|&body| cluster.after[cluster.place(body)]).collect();
            let bodies: Vec<u32> = bodies.into_iter().map(index).collect();
            if let Err((sides, obstacle)) = self.form_group(bodies, states, &pairs, history, t) {
                let cause = if pairs.is_empty() { Cause::Tied(obstacle) } else { Cause::Hold(obstacle) };
                return self.lose_sides(sides, cause);
            }
        }
    }

    /// Sets bodies on a course together.
    pub(super) fn form_group(
        &mut self,
        bodies: Vec<u32>,
        origin: Vec<State>,
        pairs: &[(Pair, Option<f64>)],
        history: &History,
        t: f64,
    ) -> Result<(), ([Side; 2], Obstacle)> {
        let past = |pair: &Pair| history.contacts.iter().find(|past| past.pair == *pair);
        let slopes = pairs.iter().map(|(pair, slope)| past(pair).map_or(*slope, |past| past.slope)).collect();
        let impulses = pairs.iter().map(|(pair, _)| past(pair).map_or(0.0, |past| past.impulse)).collect();
        let pairs: Vec<Pair> = pairs.iter().map(|(pair, _)| *pair).collect();
        let joints = self.world.joints_of(&bodies);
        let points = Points {
            contacts: pairs.iter().map(|pair| past(pair).and_then(|past| past.points)).collect(),
            joints: joints.iter().map(|joint| history.joint(*joint)).collect(),
        };
        let begun = self.clock.absolute(t);
        let flow = flow_of(&self.world, &bodies, &pairs, begun);
        let (still, spins) = without_spin(&self.world, &bodies, &pairs, &origin);
        let piece = match flow.advance_at(&still, &points, 0.0, FOREVER) {
            Ok(piece) => piece,
            Err(obstacle) => {
                let body = |k: usize| Side::Body(bodies[k.min(bodies.len() - 1)] as usize);
                let sides = pairs.first().map_or_else(|| [body(0), body(1)], Self::sides);
                return Err((sides, obstacle));
            }
        };
        // What putting the states on the contacts changed is rounding, and booked like everything else.
        let change: f64 = flow.energy(piece.start()) - flow.energy(&still);
        self.ledger.take_energy(change, self.counts.events);
        let number = self.groups.iter().position(Option::is_none).unwrap_or(self.groups.len());
        for (member, &body) in bodies.iter().enumerate() {
            if !self.world.bodies[body as usize].fixed {
                let motion = &mut self.motions[body as usize];
                motion.course = Trajectory::Held { group: index(number), member: index(member) };
                motion.since = t;
            }
        }
        for pair in &pairs {
            self.standing.insert(*pair, Persistence::Held(index(number)));
        }
        self.pieces += 1;
        let group = Group {
            joints,
            bodies,
            pairs,
            flow,
            zero: t,
            begun,
            origin,
            points,
            follows: 0,
            piece,
            spins,
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
        self.push(end, Due::DenseStep { group: index(number) }, [version, 0]);
        Ok(())
    }

    /// A group's piece is over: it goes on, or a contact lets go. Returns whether that was an event.
    pub(super) fn end_step(&mut self, number: usize, recorder: &mut impl Recorder) -> bool {
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
        self.note_drift(number);
        self.clock.now = self.clock.now.max(t);
        if self.makes_no_headway() {
            if let Some(group) = &self.groups[number] {
                let endless = Obstacle::Endless;
                let cause = if group.pairs.is_empty() { Cause::Tied(endless) } else { Cause::Hold(endless) };
                self.lose_sides(group.sides(), cause);
            }
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
            let states = group.states(t);
            group.begun = self.clock.epoch + t;
            group.flow = flow_of(&self.world, &group.bodies, &group.pairs, group.begun);
            let (still, spins) = without_spin(&self.world, &group.bodies, &group.pairs, &states);
            let piece = group.flow.advance(&still, 0.0, FOREVER);
            (group.origin, group.spins, group.follows, group.zero) = (states, spins, 0, t);
            group.points = Points::default();
            piece
        } else {
            group.follows += 1;
            group.flow.follow(&group.piece, FOREVER)
        };
        let piece = match next {
            Ok(piece) => piece,
            Err(obstacle) => {
                let sides = group.sides();
                let tied = group.pairs.is_empty();
                let cause = if tied { Cause::Tied(obstacle) } else { Cause::Hold(obstacle) };
                self.lose_sides(sides, cause);
                return false;
            }
        };
        self.pieces += 1;
        (group.piece, group.booked, group.version) = (piece, 0.0, self.pieces);
        let (end, version, bodies) = (group.end(), group.version, group.bodies.clone());
        self.push(end, Due::DenseStep { group: index(number) }, [version, 0]);
        for body in bodies.into_iter().map(|body| body as usize) {
            if !self.world.bodies[body].fixed {
                let motion = &mut self.motions[body];
                motion.version = motion.version.wrapping_add(1);
            }
        }
        let bodies = self.groups[number].as_ref().map_or_else(Vec::new, |group| group.bodies.clone());
        for body in bodies.into_iter().map(|body| body as usize) {
            if !self.world.bodies[body].fixed {
                self.meet_all(body, t, &[]);
                for pair in self.standing_of(body) {
                    if self.standing.get(&pair) == Some(&Persistence::Neutral) {
                        self.watch(pair, t);
                    }
                }
            }
        }
        self.release_slipping(t, recorder);
        false
    }

    /// Notes how far a group's piece came off its joints before it was put back.
    fn note_drift(&mut self, number: usize) {
        let Some(group) = &self.groups[number] else { return };
        if group.joints.is_empty() {
            return;
        }
        let (sizes, [position, velocity]) = (self.sizes_of(&group.bodies, group.end()), group.drift());
        self.ledger.see_joint(position, velocity, sizes, self.counts.events);
    }

    /// Whether pieces have become so short that held motion comes to nothing.
    fn makes_no_headway(&mut self) -> bool {
        if !self.pieces.is_multiple_of(LOOK_BACK) {
            return false;
        }
        let (now, before) = (self.time(), self.piece_mark);
        self.piece_mark = now;
        let left = self.settings.until - now;
        let far = if left.is_finite() { HEADWAY_LEFT * left } else { 0.0 };
        now - before < (HEADWAY * self.clock.length).max(far)
    }
}
