//! A contact: who takes part, what it does, and how everyone goes on.
//!
//! The contacts that are due at the same time, within the error bounds of their times, and the contacts that stand
//! between the bodies concerned, are one impact. If anything closes, the impact law is asked; what then neither closes
//! nor parts is left to the accelerations (`resolution`).

use nalgebra::Vector3;

use super::queue::{Due, Pair, PairSide};
use super::resolution::{ContactResolution, Outcome, Persistence};
use super::{Cause, Simulation, Stopped, Trajectory};
use crate::body::State;
use crate::collision;
use crate::contact::Side;
use crate::contact::kinematics::{Facing, Kinematics, Moving, kinematics};
use crate::contact::moment::{Sizes, moment};
use crate::gap::{Gap, gap, gap_to_plane};
use crate::motion::Motion;
use crate::record::Recorder;
use crate::run::tolerances::{GAP_ROUNDING, PARADOX, RESIDUE, SIMULTANEOUS};
use crate::shape::Convex;

/// What this engine knows a contact of a cluster by.
#[derive(Debug, Clone)]
pub(super) struct Key {
    pub pair: Pair,
    /// Whether it has just come about.
    pub new: bool,
    /// The bound on the error of its time.
    pub error: f64,
    /// As the bodies come.
    pub before: Kinematics,
    /// Whether bounces end here.
    pub rests: bool,
    /// Whether its slip was stopped, without approach.
    pub gripped: bool,
    /// Whether it is a rolling joint that the impact made slip.
    pub slipped: bool,
}

pub(super) type Encounter = collision::Encounter<Key>;

pub(super) type Cluster = collision::Cluster<Key>;

/// The velocity along a contact's normal that rounding leaves.
pub(super) fn residue(k: &Kinematics) -> f64 {
    RESIDUE * k.rounding[0]
}

impl Simulation {
    /// A pair touches. Returns whether that was an event.
    pub(super) fn touch(&mut self, t: f64, pair: Pair, error: f64, recorder: &mut impl Recorder) -> bool {
        let mut t = t;
        let mut error = error;
        // A touch without approach is known roughly in time, as the gap is flat there: its velocity knows better.
        if error > self.patience() {
            let (better, bound) = self.polished(&pair, t, error);
            if better > t && self.queue.peek().is_some_and(|next| next.time <= better) {
                self.push(better, Due::Touch { pair, error: bound }, self.versions(&pair));
                return false;
            }
            (t, error) = (better.max(self.clock.now), bound);
        }
        let due = self.due_with(t, pair, error);
        let cluster = self.cluster(t, &due);
        self.advance_clock(t);
        self.resolve_and_go_on(cluster, t, None, recorder)
    }

    fn patience(&self) -> f64 {
        SIMULTANEOUS * self.clock.passage()
    }

    pub(super) fn advance_clock(&mut self, t: f64) {
        self.counts.stalled = if t > self.clock.now { 0 } else { self.counts.stalled + 1 };
        self.clock.now = self.clock.now.max(t);
    }

    /// All that is due with a contact, each pair once; what has nothing to do with it goes back.
    fn due_with(&mut self, t: f64, pair: Pair, error: f64) -> Vec<(Pair, f64)> {
        let mut due = vec![(pair, error)];
        let patience = self.patience();
        while let Some(&entry) = self.queue.peek() {
            if !self.is_valid(&entry) {
                self.queue.pop();
                continue;
            }
            match entry.due {
                Due::Touch { pair, error: other }
                    if entry.time <= t + (error + other).min(patience) && other <= patience =>
                {
                    self.queue.pop();
                    if !due.iter().any(|(known, _)| *known == pair) {
                        due.push((pair, other));
                    }
                }
                Due::Search(pair) if entry.time <= t => {
                    self.queue.pop();
                    self.search(pair, entry.time);
                }
                Due::Cross { body, axis, up } if entry.time <= t => {
                    self.queue.pop();
                    self.cross(body as usize, usize::from(axis), up, entry.time);
                }
                _ => break,
            }
        }
        due
    }

    /// The movable bodies of a pair.
    pub(super) fn movable(&self, pair: &Pair) -> impl Iterator<Item = usize> + use<'_> {
        let first = match pair.first {
            PairSide::Plane(_) => None,
            PairSide::Body(first) => Some(first as usize),
        };
        first.into_iter().chain([pair.second as usize]).filter(|&body| !self.world.bodies[body].fixed)
    }

    /// The contacts that belong with the first one: through shared bodies, and through contacts that stand.
    pub(super) fn cluster(&mut self, t: f64, due: &[(Pair, f64)]) -> Cluster {
        let mut bodies: Vec<usize> = self.movable(&due[0].0).collect();
        let mut taken = vec![false; due.len()];
        let mut pairs: Vec<(Pair, bool, f64)> = Vec::new();
        let mut next = 0;
        loop {
            for (k, (pair, error)) in due.iter().enumerate() {
                if !taken[k] && self.movable(pair).any(|body| bodies.contains(&body)) {
                    taken[k] = true;
                    pairs.push((*pair, true, *error));
                    let more: Vec<usize> = self.movable(pair).collect();
                    bodies.extend(more.into_iter().filter(|b| !bodies.contains(b)).collect::<Vec<_>>());
                }
            }
            let Some(&body) = bodies.get(next) else { break };
            next += 1;
            if let Some(system) = self.world.constraints.system(body) {
                let more = system.bodies.iter().filter(|&&b| !self.world.bodies[b].fixed);
                bodies.extend(more.filter(|b| !bodies.contains(b)).copied().collect::<Vec<_>>());
            }
            for pair in self.standing_of(body) {
                if !pairs.iter().any(|(known, ..)| *known == pair) {
                    pairs.push((pair, false, 0.0));
                    let more: Vec<usize> = self.movable(&pair).collect();
                    bodies.extend(more.into_iter().filter(|b| !bodies.contains(b)).collect::<Vec<_>>());
                }
            }
        }
        for (k, (pair, error)) in due.iter().enumerate() {
            if !taken[k] {
                self.push(t, Due::Touch { pair: *pair, error: *error }, self.versions(pair));
            }
        }
        // Immovable bodies stand by.
        for (pair, ..) in &pairs {
            for side in Self::sides(pair) {
                if let Side::Body(body) = side
                    && !bodies.contains(&body)
                {
                    bodies.push(body);
                }
            }
        }
        for body in bodies.clone() {
            let fixed = self.world.constraints.system(body).map_or(&[][..], |system| &system.bodies);
            bodies.extend(fixed.iter().filter(|b| !bodies.contains(b)).copied().collect::<Vec<_>>());
        }
        bodies.sort_unstable();
        pairs.sort_unstable_by_key(|(pair, ..)| *pair);
        let before: Vec<State> = bodies.iter().map(|&body| self.state(body, t)).collect();
        let after = before.clone();
        let mut cluster = Cluster { bodies, after, before, ..Cluster::default() };
        for (pair, new, error) in pairs {
            let Some(found) = self.look(&pair, &cluster, &cluster.before) else { continue };
            let kinematics = self.kinematics_of(&pair, &cluster, &cluster.before, &found);
            self.ledger.see_gap(found.gap, self.counts.events);
            let sides = Self::sides(&pair);
            let (restitution, surface) = self.world.answer(sides);
            cluster.contacts.push(Encounter {
                sides,
                image: pair.image,
                shift: self.displacement(&pair),
                found,
                restitution,
                surface,
                growing: 0.0,
                approach: kinematics.v,
                separation: kinematics.v,
                impulse: 0.0,
                impulse_vector: Vector3::zeros(),
                by_joint: self.rolling.contains_key(&pair),
                key: Key {
                    pair,
                    new,
                    error,
                    before: kinematics,
                    rests: false,
                    gripped: false,
                    slipped: false,
                },
            });
        }
        cluster
    }

    fn displaced(&self, pair: &Pair, state: &State) -> State {
        State { position: state.position + self.displacement(pair), ..*state }
    }

    /// The gap of a pair of the cluster.
    pub(super) fn look(&self, pair: &Pair, cluster: &Cluster, states: &[State]) -> Option<Gap> {
        let second = pair.second as usize;
        let state = states[cluster.place(second)];
        self.gap_between(pair, |body| if body == second { state } else { states[cluster.place(body)] })
    }

    pub(super) fn gap_between(&self, pair: &Pair, state: impl Fn(usize) -> State) -> Option<Gap> {
        let second = pair.second as usize;
        let bodies = &self.world.bodies;
        let there = self.displaced(pair, &state(second)).pose();
        match pair.first {
            PairSide::Plane(k) => {
                Some(gap_to_plane(&bodies[second].shape, &there, &self.world.planes[k as usize]))
            }
            PairSide::Body(first) => {
                let first = first as usize;
                gap((&bodies[first].shape, &state(first).pose()), (&bodies[second].shape, &there))
            }
        }
    }

    pub(super) fn kinematics_of(
        &self,
        pair: &Pair,
        cluster: &Cluster,
        states: &[State],
        found: &Gap,
    ) -> Kinematics {
        self.kinematics_between(pair, |body| states[cluster.place(body)], found)
    }

    /// The kinematics of a pair in free flight, or under the joints and loads of its bodies.
    pub(super) fn kinematics_between(
        &self,
        pair: &Pair,
        state: impl Fn(usize) -> State,
        found: &Gap,
    ) -> Kinematics {
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
        kinematics(&first, &moving(second, self.displaced(pair, &state(second))), found)
    }

    /// The size of a pair.
    pub(super) fn size(&self, pair: &Pair) -> f64 {
        let first = match pair.first {
            PairSide::Plane(_) => 0.0,
            PairSide::Body(first) => self.world.radius[first as usize],
        };
        first + self.world.radius[pair.second as usize]
    }

    /// What rounding leaves of a gap at a point. Along a plane no place counts.
    pub(super) fn level(&self, pair: &Pair, point: &Vector3<f64>) -> f64 {
        let place = match pair.first {
            PairSide::Plane(k) => self.world.planes[k as usize].normal.component_mul(point).abs().sum(),
            PairSide::Body(_) => point.norm(),
        };
        GAP_ROUNDING * (self.size(pair) + place)
    }

    /// The relative velocity that says nothing: it is rounding, or moves the gap by less than rounding before accelerations take
    /// over.
    pub(super) fn velocity_threshold(&self, pair: &Pair, k: &Kinematics) -> f64 {
        let level = self.level(pair, &k.points[1]);
        // Under gravity others may hold one of the two, and then it is gravity that closes the gap.
        let pull = if k.g2.is_finite() { k.g2.abs() } else { 0.0 }.max(self.world.gravity.norm());
        let by_second = (2.0 * level * pull).sqrt();
        let by_third = if k.g3.is_finite() { (level * level * k.g3.abs()).cbrt() } else { 0.0 };
        residue(k).max(by_second).max(by_third)
    }

    /// The speeds that can change the gap of a pair: not those along a plane, nor the spin of a ball.
    pub(super) fn speed(&self, pair: &Pair, state: impl Fn(usize) -> State) -> f64 {
        let turning = |body: usize, state: &State| {
            let ball = self.world.bodies[body].shape.ball().is_some();
            if ball { 0.0 } else { state.angular_velocity.norm() * self.world.radius[body] }
        };
        let second = pair.second as usize;
        let there = state(second);
        match pair.first {
            PairSide::Plane(k) => {
                let normal = self.world.planes[k as usize].normal;
                normal.dot(&there.velocity).abs() + turning(second, &there)
            }
            PairSide::Body(first) => {
                let here = state(first as usize);
                (there.velocity - here.velocity).norm()
                    + turning(first as usize, &here)
                    + turning(second, &there)
            }
        }
    }

    /// A better time for a touch without approach, with a bound on its error.
    fn polished(&self, pair: &Pair, t: f64, error: f64) -> (f64, f64) {
        let speed = self.speed(pair, |body| self.state(body, t));
        let at = |time: f64| {
            let state = |body: usize| self.state(body, time);
            let found = self.gap_between(pair, state)?;
            Some(self.kinematics_between(pair, state, &found))
        };
        let sizes = Sizes { length: self.size(pair), speed };
        moment(at, t, error, sizes, |k| self.velocity_threshold(pair, k))
    }

    /// Resolves what closes, lets accelerations decide the rest, and sets everyone on course.
    /// `leaving` is a held contact whose force has returned to zero. Returns whether anything happened.
    pub(super) fn resolve_and_go_on(
        &mut self,
        mut cluster: Cluster,
        t: f64,
        leaving: Option<Pair>,
        recorder: &mut impl Recorder,
    ) -> bool {
        let closing = cluster.contacts.iter().any(|contact| self.closes(&cluster, contact));
        if closing && !self.resolve(&mut cluster) {
            self.lose(&cluster.contacts[0].key.pair, Cause::Law);
        }
        let mut resolutions = match self.settle(&cluster, closing, leaving, t) {
            Ok(resolutions) => resolutions,
            Err(obstacle) => {
                self.lose(&cluster.contacts[0].key.pair, Cause::Hold(obstacle));
                return true;
            }
        };
        let Some(gripped) = self.stop_slips(&mut cluster, &mut resolutions) else {
            self.lose(&cluster.contacts[0].key.pair, Cause::Law);
            return true;
        };
        let closing = closing || gripped;
        let happened = self.record(&cluster, closing, &resolutions, t, recorder);
        for pair in self.released(&cluster, |k| {
            resolutions[k].outcome == Outcome::Holds && !cluster.contacts[k].key.slipped
        }) {
            self.rolling.remove(&pair);
        }
        self.note_rolling_impulses(&cluster, t);
        self.go_on_from(&cluster, &resolutions, closing || leaving.is_some(), t);
        self.release_slipping(t, recorder);
        if resolutions.iter().any(|resolution| resolution.outcome == Outcome::Stops) {
            self.stopped.get_or_insert(Stopped::Paradox);
        }
        if happened {
            self.audit_now_and_then();
        }
        happened
    }

    /// Whether a contact closes: by more than rounding, and at what may be a paradox by more than its data can mean. A contact
    /// that stands is pressed together by others, if at all.
    fn closes(&self, cluster: &Cluster, contact: &Encounter) -> bool {
        let k = &contact.key.before;
        let paradox = k.g3 < -k.rounding[2] && k.g2.abs() <= PARADOX * k.magnitudes[1];
        let none = if !contact.key.new {
            self.velocity_threshold(&contact.key.pair, k)
        } else if paradox {
            let speed = self.speed(&contact.key.pair, |body| cluster.before[cluster.place(body)]);
            residue(k).max(PARADOX * speed)
        } else {
            residue(k)
        };
        k.v < -none
    }

    /// Courses after an event.
    fn go_on_from(&mut self, cluster: &Cluster, resolutions: &[ContactResolution], broken: bool, t: f64) {
        let which = |wanted: fn(&ContactResolution) -> bool| -> Vec<Pair> {
            let both = cluster.contacts.iter().zip(resolutions);
            both.filter(|(_, resolution)| wanted(resolution)).map(|(contact, _)| contact.key.pair).collect()
        };
        let parting = which(ContactResolution::parts);
        let stands = |pair: &Pair| self.standing.contains_key(pair);
        let changed = broken
            || cluster
                .contacts
                .iter()
                .zip(resolutions)
                .any(|(c, resolution)| resolution.stands() != stands(&c.key.pair));
        if !changed {
            // A graze: everyone flies on, and only the pair looks anew.
            for pair in parting {
                self.search_parting(pair, t);
            }
            for pair in which(|resolution| resolution.outcome == Outcome::Stays) {
                self.watch(pair, t);
            }
            return;
        }
        let history = self.dissolve(cluster, t);
        let held = |body: usize| {
            if self.world.constrained(body) {
                return true;
            }
            let both = cluster.contacts.iter().zip(resolutions);
            both.filter(|(_, v)| v.outcome == Outcome::Holds)
                .any(|(c, _)| self.movable(&c.key.pair).any(|b| b == body))
        };
        let held: Vec<bool> = cluster.bodies.iter().map(|&body| held(body)).collect();
        let before: Vec<[i32; 3]> = cluster.bodies.iter().map(|&body| self.motions[body].boxes).collect();
        for (i, (&body, state)) in cluster.bodies.iter().zip(&cluster.after).enumerate() {
            if !self.world.bodies[body].fixed {
                self.launch(body, state, t);
                // A held body stays in the box where its contacts are.
                if held[i] {
                    self.motions[body].boxes = before[i];
                }
            }
        }
        let moved = |sim: &Self, pair: Pair| sim.seen_anew(pair, cluster, &before);
        self.pass_anew(cluster, &before);
        let stay: Vec<(Pair, Outcome)> = cluster
            .contacts
            .iter()
            .zip(resolutions)
            .map(|(contact, resolution)| (moved(self, contact.key.pair), resolution.outcome))
            .collect();
        let parting: Vec<Pair> = parting.into_iter().map(|pair| moved(self, pair)).collect();
        self.stand(cluster, resolutions, &stay, &history, t);
        for &body in &cluster.bodies {
            if !self.world.bodies[body].fixed {
                self.meet_all(body, t, &parting);
            }
        }
        for (pair, outcome) in stay {
            match outcome {
                // Some laws leave contacts closing: those go on at once.
                Outcome::Closes => self.push(t, Due::Touch { pair, error: 0.0 }, self.versions(&pair)),
                Outcome::Stays => self.watch(pair, t),
                _ => {}
            }
        }
    }

    /// A contact without a force is followed for as long as the courses of its bodies are known, at most until they have passed
    /// each other: it comes back where its gap is no longer zero, or at the end.
    pub(super) fn watch(&mut self, pair: Pair, t: f64) {
        let (mut known, mut bend) = (self.clock.local(self.settings.until), 0.0);
        for body in self.movable(&pair).collect::<Vec<_>>() {
            known = known.min(self.known_until(body));
            bend += self.trajectory(body).acceleration_bound();
        }
        let (size, speed) = (self.size(&pair), self.speed(&pair, |body| self.state(body, t)));
        let passage = (size / speed).min((size / bend).sqrt());
        let span = passage.min(known - t);
        let wait = self.leaves_zero(&pair, span, |body, wait| self.state(body, t + wait));
        let again = wait.map_or(span, |(wait, _)| wait);
        // Groups come back by themselves when their pieces end.
        if t + again > t && (wait.is_some() || passage < known - t) {
            self.push(t + again, Due::Touch { pair, error: 0.0 }, self.versions(&pair));
        }
    }

    /// A pair as it stands after its bodies were put back into the box.
    fn seen_anew(&self, pair: Pair, cluster: &Cluster, before: &[[i32; 3]]) -> Pair {
        let back = |body: usize| {
            let at = cluster.bodies.iter().position(|&b| b == body);
            at.map_or([0; 3], |at| core::array::from_fn(|i| before[at][i] - self.motions[body].boxes[i]))
        };
        let two = back(pair.second as usize);
        let one = match pair.first {
            PairSide::Plane(_) => return pair,
            PairSide::Body(first) => back(first as usize),
        };
        Pair { image: core::array::from_fn(|i| pair.image[i] + two[i] - one[i]), ..pair }
    }

    /// The same for pairs that overlap, as asked.
    fn pass_anew(&mut self, cluster: &Cluster, before: &[[i32; 3]]) {
        let passing: Vec<Pair> = self
            .standing
            .iter()
            .filter(|(pair, standing)| {
                **standing == Persistence::Passing
                    && self.movable(pair).any(|body| cluster.bodies.contains(&body))
            })
            .map(|(pair, _)| *pair)
            .collect();
        for pair in passing {
            let next = self.seen_anew(pair, cluster, before);
            self.standing.remove(&pair);
            self.standing.insert(next, Persistence::Passing);
        }
    }

    /// Whether a body flies freely.
    pub(super) fn flies(&self, body: usize) -> bool {
        matches!(self.motions[body].course, Trajectory::Flight(_))
    }
}
