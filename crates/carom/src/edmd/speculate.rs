//! Speculation: what an event will change, computed before it happens and without side effects.
//!
//! This depends on the bodies of the event and on their neighbours only; for a body that leaves its neighbourhood also on the bodies near
//! its new reference position. So several threads can compute the next events at once (`parallel`), and a result is committed if nothing it
//! depends on has changed by then.

use super::changes::Changes;
use super::contact_pair::ContactPair;
use super::encounter::Cluster;
use super::lists::Neighbour;
use super::neighbourhood::NewNeighbourhood;
use super::next_event::{LEAVE, NextEvent, PLANE, REPREDICT};
use super::overlay::{ChangedBody, Overlay};
use super::predict::Parted;
use super::rotation::Rotation;
use super::search::Findings;
use super::storage::{Kinematics, SurfacePath, Trajectory};
use super::system::System;
use crate::contact::Surface;

/// An event to be speculated: body and time.
pub(super) type EventKey = (u32, f64);

/// An event that was computed speculatively.
#[derive(Debug, Clone, Default)]
pub(super) struct SpeculativeEvent {
    pub key: EventKey,
    /// The round in which it was computed.
    pub round: u32,
    /// `None` if it could not be computed.
    pub outcome: Option<Outcome>,
    /// The new neighbourhood of a body that leaves its own.
    pub moved: NewNeighbourhood,
    /// The bodies of a contact.
    pub cluster: Cluster,
    /// Whether that contact closes; otherwise it is a graze.
    pub closes: bool,
    /// The bodies that change, those of the cluster first.
    pub changed: Vec<ChangedBody>,
    pub rotations: Vec<Rotation>,
    /// New next events.
    pub next_events: Vec<(u32, NextEvent)>,
    pub findings: Findings,
}

/// What kind of event it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// A body re-predicts.
    Repredict,
    /// A body leaves its neighbourhood.
    Leave,
    /// Two sides touch.
    Contact,
}

/// Why a contact could not be computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpeculationFailure {
    /// The gap could not be computed.
    Gap,
    /// The contact results from inelastic collapse.
    Collapse,
    /// The impact law found no outcome.
    Law,
}

impl SpeculativeEvent {
    /// The bodies whose event it is.
    fn bodies(&self) -> impl Iterator<Item = u32> {
        let count = self.cluster.bodies.len().max(1);
        self.changed[..count].iter().map(|changed| changed.body)
    }

    /// Whether nothing that the event depends on has changed since it was computed.
    pub fn is_valid(&self, outcome: Outcome, system: &System, changes: &Changes) -> bool {
        let unchanged =
            |other: &Neighbour| other.partner >= PLANE || changes.is_body_unchanged(other.partner as usize);
        self.round == changes.round()
            && self.bodies().all(|i| {
                let i = i as usize;
                changes.is_body_unchanged(i)
                    && changes.is_list_unchanged(i)
                    && system.neighbours(i).iter().all(&unchanged)
            })
            && (outcome != Outcome::Leave
                || self.moved.neighbours.iter().all(&unchanged)
                    && self.moved.cells.iter().all(|&cell| changes.is_cell_unchanged(cell)))
    }

    /// Whether computing the event again gives the same.
    pub fn is_reproducible(&self, system: &System) -> bool {
        let mut again = Self { key: self.key, ..Self::default() };
        system.speculate(self.round, &mut again);
        let what = |event: &Self| {
            (
                event.next_events.clone(),
                event.findings.displacement_bounds.clone(),
                event.moved.neighbours.clone(),
                event.cluster.after.clone(),
                event.closes,
            )
        };
        what(self) == what(&again)
    }

    fn clear(&mut self) {
        (self.outcome, self.closes) = (None, false);
        self.moved.clear();
        self.cluster.clear();
        self.changed.clear();
        self.rotations.clear();
        self.next_events.clear();
        self.findings.clear();
    }
}

impl System {
    /// Computes the event of a body, in a round.
    pub fn speculate(&self, round: u32, event: &mut SpeculativeEvent) {
        let (body, time) = event.key;
        event.outcome = None;
        event.round = round;
        let i = body as usize;
        let next = self.particles.next_event(i);
        if next.partner == LEAVE {
            self.speculate_leave(body, time, event);
        } else if next.partner == REPREDICT || !self.is_mutual(i, &next) {
            self.speculate_repredict(body, time, event);
        } else {
            let pair = self.pair(i, next.partner, next.image);
            let is_smooth = self.response(&pair, time).surface == Surface::Smooth;
            if !(self.are_spheres(&pair) && is_smooth) {
                // A failure is dealt with when the event comes.
                let _ = self.speculate_contact(&pair, time, event);
            }
        }
    }

    /// A body re-predicts.
    fn speculate_repredict(&self, body: u32, t: f64, event: &mut SpeculativeEvent) {
        event.clear();
        self.take_event(body, event);
        self.speculate_next(body, t, &[], event);
        event.outcome = Some(Outcome::Repredict);
    }

    /// A body leaves its neighbourhood.
    fn speculate_leave(&self, body: u32, t: f64, event: &mut SpeculativeEvent) {
        event.clear();
        let i = body as usize;
        self.find_neighbourhood(i, t, &mut event.moved);
        self.take_event(body, event);
        let trajectory = &mut event.changed[0].kinematics.trajectory;
        (trajectory.position, trajectory.since) = (event.moved.reference.position, t);
        let overlay = Overlay::with(self, &event.changed, &event.rotations).moved(i, &event.moved);
        let next = overlay.next_event(i, t, &[], &mut event.findings);
        event.next_events.extend(next.map(|next| (body, next)));
        event.outcome = Some(Outcome::Leave);
    }

    /// One contact by itself; contacts that are simultaneous with it are found only as pairs that are close.
    pub fn speculate_contact(
        &self,
        pair: &ContactPair,
        t: f64,
        event: &mut SpeculativeEvent,
    ) -> Result<(), SpeculationFailure> {
        event.clear();
        self.add_bodies(&mut event.cluster, pair, t);
        let contact = self.encounter(pair, t, &event.cluster).ok_or(SpeculationFailure::Gap)?;
        event.cluster.contacts.push(contact);
        if self.has_collapsed(pair, t, contact.approach) {
            return Err(SpeculationFailure::Collapse);
        }
        let closes = self.closes(&contact, &event.cluster);
        if closes && !event.cluster.resolve(&self.world) {
            return Err(SpeculationFailure::Law);
        }
        event.closes = closes;
        for k in 0..event.cluster.bodies.len() {
            self.take_event(self.particles.places[event.cluster.bodies[k]], event);
            if closes {
                self.speculate_motion(k, t, event);
            }
        }
        let normal = contact.found.normal;
        for k in 0..event.cluster.bodies.len() {
            let body = self.particles.places[event.cluster.bodies[k]];
            let ContactPair { first, second, image } = *pair;
            let parted = if first == body {
                Parted { partner: second, image, normal }
            } else {
                let image = if first >= PLANE { image } else { self.opposite(image) };
                Parted { partner: first, image, normal: -normal }
            };
            self.speculate_next(body, t, &[parted], event);
        }
        event.outcome = Some(Outcome::Contact);
        Ok(())
    }

    /// Adds a body to those that change, without its next event.
    fn take_event(&self, body: u32, event: &mut SpeculativeEvent) {
        let i = body as usize;
        let particles = &self.particles;
        let kinematics = Kinematics { event_time: f64::INFINITY, ..particles.kinematics[i] };
        let surface_path =
            if particles.nonspherical { particles.surface_paths[i] } else { SurfacePath::default() };
        event.changed.push(ChangedBody { body, kinematics, surface_path, rotation: None });
    }

    /// The motion after the impact of the cluster's k-th body, the last of those that change.
    fn speculate_motion(&self, k: usize, t: f64, event: &mut SpeculativeEvent) {
        let (before, after) = (&event.cluster.before[k], &event.cluster.after[k]);
        let Some(changed) = event.changed.last_mut() else { return };
        let i = changed.body as usize;
        if self.particles.class(i).is_fixed() {
            return;
        }
        changed.kinematics.trajectory =
            Trajectory { position: before.position, velocity: after.velocity, since: t };
        if before.angular_velocity != after.angular_velocity {
            changed.rotation = Some(event.rotations.len());
            event.rotations.push(Rotation::new(self.body(i), after, t));
        }
        if self.particles.nonspherical {
            let rotation = changed
                .rotation
                .map_or_else(|| self.particles.rotations.get(i), |at| event.rotations[at].as_ref());
            let rate = self.particles.path_rate(i, &after.velocity, rotation);
            changed.surface_path = SurfacePath { length: changed.surface_path.at(t), rate, since: t };
        }
    }

    /// Predicts a body's next event, which is its partner's as well.
    fn speculate_next(&self, body: u32, t: f64, parted: &[Parted], event: &mut SpeculativeEvent) {
        let overlay = Overlay::with(self, &event.changed, &event.rotations);
        let Some(next) = overlay.next_event(body as usize, t, parted, &mut event.findings) else { return };
        event.next_events.push((body, next));
        for side in [body, next.partner].into_iter().filter(|&side| side < PLANE) {
            if !event.changed.iter().any(|changed| changed.body == side) {
                self.take_event(side, event);
            }
            for changed in event.changed.iter_mut().filter(|changed| changed.body == side) {
                changed.kinematics.event_time = next.time;
            }
        }
    }
}
