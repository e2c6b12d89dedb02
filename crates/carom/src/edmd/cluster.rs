//! Contacts at the same time, resolved as one impact.

use super::contact_pair::ContactPair;
use super::encounter::{Cluster, Encounter};
use super::next_event::{NextEvent, PLANE};
use super::predict::{CLOSE, Parted};
use super::rotation::Rotation;
use super::storage::Trajectory;
use super::system::System;
use super::{Cause, Edmd};
use crate::record::Recorder;
use crate::run::tolerances::{SIMULTANEOUS, STILL};

impl System {
    /// The cluster of all contacts that are simultaneous with one; `None` if the gap of that one could not be computed.
    fn gather(&self, pair: &ContactPair, t: f64) -> Option<Cluster> {
        let mut cluster = Cluster::default();
        self.add_bodies(&mut cluster, pair, t);
        let first = self.encounter(pair, t, &cluster)?;
        let time_error = self.gap_rounding(pair, t) / first.approach.abs();
        cluster.contacts.push(first);
        let mut next = 0;
        while let Some(&body) = cluster.bodies.get(next) {
            next += 1;
            let i = self.particles.place(body);
            for neighbour in self.neighbours(i) {
                let other = self.pair(i, neighbour.partner, neighbour.image);
                if cluster.contacts.iter().any(|contact| contact.key == other)
                    || self.near_gap(&other, t, CLOSE).is_none()
                {
                    continue;
                }
                let count = cluster.bodies.len();
                self.add_bodies(&mut cluster, &other, t);
                let contact = self.encounter(&other, t, &cluster);
                match contact.filter(|contact| self.is_simultaneous(contact, time_error, t, &cluster)) {
                    Some(contact) => cluster.contacts.push(contact),
                    None => {
                        cluster.bodies.truncate(count);
                        cluster.before.truncate(count);
                        cluster.after.truncate(count);
                    }
                }
            }
        }
        Some(cluster)
    }

    /// Whether a contact touches and does not part, or will touch within the error bounds of the times.
    fn is_simultaneous(&self, contact: &Encounter, time_error: f64, t: f64, cluster: &Cluster) -> bool {
        let longest = SIMULTANEOUS * self.clock.passage();
        let (gap, rounding) = (contact.found.gap, self.gap_rounding(&contact.key, t));
        let still = STILL * self.surface_speed(&contact.key, cluster);
        let wait = -gap.max(0.0) / contact.approach;
        // At the start, whatever touches takes part, whether it closes or parts.
        let touches = gap <= rounding && (contact.approach <= still || self.clock.epoch + t == 0.0);
        let soon =
            contact.approach < -still && wait <= (time_error + rounding / -contact.approach).min(longest);
        touches || soon
    }
}

impl Edmd {
    /// Resolves all contacts that are simultaneous with one as one impact. False if there is only that one.
    #[cold]
    pub(super) fn resolve_cluster(
        &mut self,
        pair: &ContactPair,
        t: f64,
        recorder: &mut impl Recorder,
    ) -> bool {
        let system = &self.system;
        let Some(mut cluster) = system.gather(pair, t) else { return false };
        if cluster.contacts.len() < 2 {
            return false;
        }
        // In an order that does not depend on how they were found.
        cluster.contacts.sort_by_key(|contact| {
            let ContactPair { first, second, image } = contact.key;
            let scene_index = |i: u32| system.particles.scene_index(i as usize);
            let first = if first >= PLANE { (0, first as usize) } else { (1, scene_index(first)) };
            (first, scene_index(second), image)
        });
        if !cluster.resolve(&system.world) {
            self.fail(pair, Cause::Law);
            return true;
        }
        self.monitor.counts.clusters += 1;
        for &body in &cluster.bodies {
            self.clear_next_event(self.system.particles.place(body));
        }
        self.start_motions(&cluster, t);
        self.predict_cluster(&cluster, t);
        self.buffers.close.clear();
        self.schedule_closing(&cluster, t);
        self.monitor.record_impact(&self.system, &cluster, t, recorder);
        true
    }

    /// Starts the motions of a cluster's bodies after the impact.
    fn start_motions(&mut self, cluster: &Cluster, t: f64) {
        for ((&body, before), after) in cluster.bodies.iter().zip(&cluster.before).zip(&cluster.after) {
            let i = self.system.particles.place(body);
            if self.system.particles.class(i).is_fixed() {
                continue;
            }
            if before.angular_velocity != after.angular_velocity {
                let rotation = Rotation::new(self.system.body(i), after, t);
                self.system.particles.rotations.set(i, &rotation);
            }
            let particles = &mut self.system.particles;
            particles.kinematics[i].trajectory =
                Trajectory { position: before.position, velocity: after.velocity, since: t };
            particles.event_data[i].last_collision = t;
            particles.continue_path(i, t);
        }
    }

    /// Predicts the next events of a cluster's bodies, which part from their contacts.
    fn predict_cluster(&mut self, cluster: &Cluster, t: f64) {
        let mut parted: Vec<Parted> = Vec::new();
        for &body in &cluster.bodies {
            let i = self.system.particles.places[body];
            parted.clear();
            for contact in &cluster.contacts {
                let ContactPair { first, second, image } = contact.key;
                if first == i {
                    parted.push(Parted { partner: second, image, normal: contact.found.normal });
                } else if second == i {
                    let image = if first >= PLANE { image } else { self.system.opposite(image) };
                    parted.push(Parted { partner: first, image, normal: -contact.found.normal });
                }
            }
            self.predict(i as usize, t, &parted);
        }
    }

    /// Some laws leave contacts closing: these are resolved next, at the same time.
    fn schedule_closing(&mut self, cluster: &Cluster, t: f64) {
        for contact in &cluster.contacts {
            if contact.separation < -STILL * self.system.surface_speed(&contact.key, cluster) {
                let ContactPair { first, second, image } = contact.key;
                let event = |partner| NextEvent { time: t, partner, image, sinks: false };
                if first >= PLANE {
                    self.set_next_event(second as usize, event(first));
                } else {
                    self.schedule(first as usize, event(second));
                }
            }
        }
    }
}
