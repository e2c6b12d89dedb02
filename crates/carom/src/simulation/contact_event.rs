//! Contact events: all contacts that are simultaneous make one event, which is resolved, decided, recorded, and changes trajectories.
//!
//! Contacts predicted for the same time, within the error bounds of their times, and the persistent contacts of the bodies concerned are
//! one event (`cluster`). If a contact closes, the impact law is applied (`impact`); contacts that then neither close nor separate
//! are decided by accelerations (`decide`).

use std::collections::BTreeSet;

use super::cluster::{Cluster, ClusterContact, Predicted};
use super::decide::Decision;
use super::dynamics::Dynamics;
use super::formation::{ActiveContact, GroupFailure, components};
use super::groups::History;
use super::pair::{Pair, PairSide, residue};
use super::persistent::Persistence;
use super::predict::simultaneity_window;
use super::resolution::{ContactResolution, Outcome};
use super::{Simulation, grip, impact};
use crate::contact::classify::Type;
use crate::contact::moment::{Sizes, moment};
use crate::record::Recorder;
use crate::run::tolerances::PARADOX;
use crate::run::{Cause, Rest, Stopped};
use crate::watch::Task;

impl Simulation {
    /// Handles the contact of a pair. Returns whether that was an event.
    pub(super) fn contact_event(
        &mut self,
        t: f64,
        pair: Pair,
        error: f64,
        recorder: &mut impl Recorder,
    ) -> bool {
        let (mut t, mut error) = (t, error);
        // The time of a contact without approach has a large error, as the gap is flat there; the gap's rate gives a better time.
        if error > simultaneity_window(&self.dynamics) {
            let (better, bound) = refine_time(&self.dynamics, &pair, t, error);
            if better > t && self.predictor.next_time() <= better {
                self.predictor.push_contact(&self.dynamics, better, pair, bound);
                return false;
            }
            (t, error) = (better.max(self.dynamics.clock.now), bound);
        }
        if let Some(retry) = pair.bodies().find_map(|body| self.dynamics.stepped_until(body)) {
            self.advance_clock(t);
            self.join_stepping(&pair, t, retry);
            return false;
        }
        let simultaneous = self.predictor.simultaneous(&self.dynamics, &mut self.books, t, (pair, error));
        let cluster = self.gather(t, &simultaneous);
        self.advance_clock(t);
        self.resolve_event(cluster, t, None, recorder)
    }

    /// Gathers the cluster of some simultaneous contacts; those that do not belong to it return to the queue.
    pub(super) fn gather(&mut self, t: f64, simultaneous: &[Predicted]) -> Cluster {
        let (cluster, apart) = Cluster::gather(&self.dynamics, t, simultaneous);
        for (pair, error) in apart {
            self.predictor.push_contact(&self.dynamics, t, pair, error);
        }
        for contact in &cluster.contacts {
            self.books.ledger.note_gap(contact.found.gap, self.books.counts.events);
        }
        cluster
    }

    /// Resolves the contacts that close, decides the others by accelerations, and changes trajectories.
    /// `leaving` is an active contact whose force has returned to zero. Returns whether there was anything to record.
    pub(super) fn resolve_event(
        &mut self,
        cluster: Cluster,
        t: f64,
        leaving: Option<Pair>,
        recorder: &mut impl Recorder,
    ) -> bool {
        self.resolve_changes(cluster, t, leaving, false, recorder)
    }

    /// [`Simulation::resolve_event`]; `changed`: trajectories change whatever happens.
    pub(super) fn resolve_changes(
        &mut self,
        mut cluster: Cluster,
        t: f64,
        leaving: Option<Pair>,
        changed: bool,
        recorder: &mut impl Recorder,
    ) -> bool {
        if self.stands_still(&cluster, t) {
            return true;
        }
        let closing = cluster.contacts.iter().any(|contact| closes(&self.dynamics, &cluster, contact));
        self.begin_work(Task::Impact, &cluster.numbers(), t);
        if closing {
            let Some(rest) = impact::resolve(&self.dynamics, &mut cluster) else {
                self.event_trouble(&cluster, t, Cause::Law);
                return true;
            };
            self.books.ledger.book_rest(rest);
            self.dynamics.note_approaches(&cluster);
        }
        let decision = Decision { dynamics: &self.dynamics, cluster: &cluster, t };
        let mut resolutions = match decision.resolutions(closing, leaving) {
            Ok(resolutions) => resolutions,
            Err(obstacle) => {
                self.event_trouble(&cluster, t, Cause::PersistentContact(obstacle));
                return true;
            }
        };
        if self.has_given_up() {
            return true;
        }
        self.books.ledger.book_rest(kept_closed(&self.dynamics, &cluster, &resolutions));
        let Some(gripped) = grip::stop_slips(&self.dynamics, &mut cluster, &mut resolutions) else {
            self.event_trouble(&cluster, t, Cause::Law);
            return true;
        };
        let closing = closing || gripped;
        let happened = self.books.record(&self.dynamics, &cluster, closing, &resolutions, t, recorder);
        for (contact, resolution) in cluster.contacts.iter().zip(&resolutions) {
            if resolution.outcome != Outcome::Active || contact.key.slipped {
                self.dynamics.rolling.remove(&contact.key.pair);
            }
        }
        let time = self.dynamics.clock.absolute(t);
        self.books.demands.note_impact(&self.dynamics.world, &cluster, time);
        self.change_trajectories(&cluster, &resolutions, changed || closing || leaving.is_some(), t);
        self.release_slipping(t, recorder);
        if resolutions.iter().any(|resolution| resolution.outcome == Outcome::Stops) {
            self.books.stop(Stopped::Paradox);
        }
        if happened {
            self.books.audit_periodically(&mut self.dynamics);
        }
        happened
    }

    /// Ends an interpenetration.
    pub(super) fn exit_event(&mut self, pair: Pair, t: f64, recorder: &mut impl Recorder) {
        self.dynamics.contacts.remove(&pair);
        let cluster = self.gather(t, &[(pair, f64::EPSILON * self.dynamics.clock.length)]);
        self.advance_clock(t);
        let mut resolution = ContactResolution::new(Outcome::Separates, Type::Separating);
        resolution.exits = true;
        let resolutions = vec![resolution; cluster.contacts.len()];
        self.books.record(&self.dynamics, &cluster, false, &resolutions, t, recorder);
        self.predictor.search_separating(&self.dynamics, &mut self.books, pair, t);
        self.books.audit_periodically(&mut self.dynamics);
    }

    /// Puts bodies on their trajectories after an event, and predicts what comes next. `broken` says that velocities or active
    /// contacts have changed.
    fn change_trajectories(
        &mut self,
        cluster: &Cluster,
        resolutions: &[ContactResolution],
        broken: bool,
        t: f64,
    ) {
        let both = || cluster.contacts.iter().zip(resolutions);
        let persisted = |contact: &ClusterContact| self.dynamics.contacts.contains(&contact.key.pair);
        if !broken && both().all(|(contact, resolution)| resolution.persists() == persisted(contact)) {
            return self.continue_after_graze(cluster, resolutions, t);
        }
        let history = self.dissolve(cluster, t);
        let before = self.fly_apart(cluster, resolutions, t);
        self.rewrap_interpenetrating(cluster, &before);
        let next: Vec<(Pair, Outcome)> = both()
            .map(|(contact, resolution)| {
                (rewrapped(&self.dynamics, contact.key.pair, cluster, &before), resolution.outcome)
            })
            .collect();
        for &(pair, outcome) in &next {
            match outcome {
                Outcome::Inactive => self.dynamics.contacts.insert(pair, Persistence::Inactive),
                Outcome::Interpenetrates => {
                    self.dynamics.contacts.insert(pair, Persistence::Interpenetrating);
                }
                _ => {}
            }
        }
        // Members of groups are not wrapped, nor are their contacts.
        let active: Vec<ActiveContact> = both()
            .filter(|(_, resolution)| resolution.outcome == Outcome::Active)
            .map(|(contact, resolution)| (contact.key.pair, resolution.force_slope))
            .collect();
        for component in components(&self.dynamics, cluster, &active) {
            let bodies: Vec<usize> = component.bodies.iter().map(|&body| body as usize).collect();
            if let Err(GroupFailure { sides, cause }) = self.form_group(component, &history, t) {
                self.trouble(&bodies, t, sides, cause);
            }
        }
        let mut separating: Vec<Pair> = next
            .iter()
            .filter(|(_, outcome)| *outcome == Outcome::Separates)
            .map(|(pair, _)| *pair)
            .collect();
        separating.sort_unstable();
        for &body in &cluster.bodies {
            if !self.dynamics.world.bodies[body].fixed {
                self.predictor.predict_body(&self.dynamics, &mut self.books, body, t, &separating);
            }
        }
        for (pair, outcome) in next {
            match outcome {
                // Some laws leave contacts closing: the next event follows at once.
                Outcome::Closes => self.predictor.push_contact(&self.dynamics, t, pair, 0.0),
                Outcome::Inactive => self.predictor.monitor(&self.dynamics, pair, t),
                _ => {}
            }
        }
    }

    /// After a graze no trajectory changes, and only the pairs concerned are predicted again.
    fn continue_after_graze(&mut self, cluster: &Cluster, resolutions: &[ContactResolution], t: f64) {
        let both = || cluster.contacts.iter().zip(resolutions);
        for (contact, _) in both().filter(|(_, resolution)| resolution.outcome == Outcome::Separates) {
            self.predictor.search_separating(&self.dynamics, &mut self.books, contact.key.pair, t);
        }
        for (contact, _) in both().filter(|(_, resolution)| resolution.outcome == Outcome::Inactive) {
            self.predictor.monitor(&self.dynamics, contact.key.pair, t);
        }
    }

    /// Dissolves the groups of a cluster and ends its persistent contacts. Returns what the groups that follow need to know.
    fn dissolve(&mut self, cluster: &Cluster, t: f64) -> History {
        let mut history = History::default();
        let numbers = self.dynamics.groups_of(cluster);
        for contact in &cluster.contacts {
            self.dynamics.contacts.remove(&contact.key.pair);
        }
        for number in numbers {
            self.books.book_work(&mut self.dynamics, number, t);
            if let Some(group) = self.dynamics.groups.remove(number) {
                self.dynamics.note_duration(&group, t);
                history.take(&group, t);
            }
        }
        history
    }

    /// Puts all movable bodies of a cluster into free flight from their states after the event. Returns by how many boxes each had been
    /// wrapped before.
    fn fly_apart(&mut self, cluster: &Cluster, resolutions: &[ContactResolution], t: f64) -> Vec<[i32; 3]> {
        let world = &self.dynamics.world;
        let mut grouped: Vec<bool> = cluster.bodies.iter().map(|&body| world.constrained(body)).collect();
        for (contact, resolution) in cluster.contacts.iter().zip(resolutions) {
            if resolution.outcome == Outcome::Active {
                for body in contact.key.pair.movable(world) {
                    grouped[cluster.place(body)] = true;
                }
            }
        }
        let motions = &self.dynamics.motions;
        let before: Vec<[i32; 3]> = cluster.bodies.iter().map(|&body| motions[body].boxes).collect();
        for (i, (&body, state)) in cluster.bodies.iter().zip(&cluster.after).enumerate() {
            if !self.dynamics.world.bodies[body].fixed {
                self.dynamics.fly(body, state, t);
                // A member of a group stays in the box of its contacts.
                if grouped[i] {
                    self.dynamics.motions[body].boxes = before[i];
                }
            }
        }
        before
    }

    /// Renames the interpenetrating pairs of bodies that were wrapped into the box.
    fn rewrap_interpenetrating(&mut self, cluster: &Cluster, before: &[[i32; 3]]) {
        let dynamics = &mut self.dynamics;
        let movable = cluster.bodies.iter().filter(|&&body| !dynamics.world.bodies[body].fixed);
        let contacts = movable.flat_map(|&body| dynamics.contacts.of(body));
        let pairs: BTreeSet<Pair> =
            contacts.filter(|(_, how)| *how == Persistence::Interpenetrating).map(|(pair, _)| pair).collect();
        for pair in pairs {
            let next = rewrapped(dynamics, pair, cluster, before);
            dynamics.contacts.remove(&pair);
            dynamics.contacts.insert(next, Persistence::Interpenetrating);
        }
    }
}

/// Whether a contact closes: by more than rounding, and at what may be a paradox by more than its data can mean. A persistent
/// contact closes only if others press it together.
fn closes(dynamics: &Dynamics, cluster: &Cluster, contact: &ClusterContact) -> bool {
    let k = &contact.key.before;
    let pair = &contact.key.pair;
    let paradox = k.g3 < -k.rounding[2] && k.g2.abs() <= PARADOX * k.magnitudes[1];
    let none = if !contact.key.new {
        pair.velocity_threshold(&dynamics.world, k)
    } else if paradox {
        let speed = pair.speed(&dynamics.world, |body| cluster.before[cluster.place(body)]);
        residue(k).max(PARADOX * speed)
    } else {
        residue(k)
    };
    k.v < -none
}

/// What keeping persistent contacts closed takes, which an impact elsewhere would open at less than the rest speed.
fn kept_closed(dynamics: &Dynamics, cluster: &Cluster, resolutions: &[ContactResolution]) -> Rest {
    let mut rest = Rest::default();
    for (contact, resolution) in cluster.contacts.iter().zip(resolutions) {
        let speed = contact.separation;
        let rounding = contact.key.pair.velocity_threshold(&dynamics.world, &contact.key.before);
        if resolution.outcome == Outcome::Active && !contact.key.new && speed > rounding {
            rest.count += 1;
            rest.energy += 0.5 * speed * speed / cluster.inverse_mass(dynamics, contact);
            rest.speed_max = rest.speed_max.max(speed);
        }
    }
    rest
}

/// A better time for a contact without approach, with a bound on its error.
fn refine_time(dynamics: &Dynamics, pair: &Pair, t: f64, error: f64) -> (f64, f64) {
    let world = &dynamics.world;
    let at = |time: f64| {
        let found = dynamics.gap(pair, time)?;
        Some(dynamics.kinematics(pair, |body| dynamics.state(body, time), &found))
    };
    let speed = pair.speed(world, |body| dynamics.state(body, t));
    let sizes = Sizes { length: pair.size(world), speed };
    moment(at, t, error, sizes, |k| pair.velocity_threshold(world, k))
}

/// A pair after its bodies were wrapped into the box.
fn rewrapped(dynamics: &Dynamics, pair: Pair, cluster: &Cluster, before: &[[i32; 3]]) -> Pair {
    let back = |body: usize| {
        let place = cluster.find(body);
        place.map_or([0; 3], |k| core::array::from_fn(|i| before[k][i] - dynamics.motions[body].boxes[i]))
    };
    let second = back(pair.second as usize);
    let first = match pair.first {
        PairSide::Plane(_) => return pair,
        PairSide::Body(first) => back(first as usize),
    };
    Pair { image: core::array::from_fn(|i| pair.image[i] + second[i] - first[i]), ..pair }
}
