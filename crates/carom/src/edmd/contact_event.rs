//! A contact event: who takes part, and how it is resolved.
//!
//! Two smooth spheres are resolved by their closed form. Every other contact is resolved from the states of the bodies: one smooth contact
//! by the closed form of [`crate::impact::pair`], any other by the impact solver (`collision`). Bodies that touch others at the same time,
//! within the error bounds of the times, take part in one impact with them, as in the simulation (`cluster`). Whether there are such bodies
//! turns out when the two predict their next events; then the cluster is resolved instead.
//!
//! While bodies grow, contacts are smooth and are resolved one at a time.

use nalgebra::Vector3;

use super::contact_pair::{ContactPair, Response};
use super::monitor::is_small;
use super::next_event::NextEvent;
use super::predict::Parted;
use super::speculate::{SpeculationFailure, SpeculativeEvent};
use super::storage::Trajectory;
use super::system::System;
use super::{Cause, Edmd};
use crate::collision::spheres::{SphereImpact, Spheres};
use crate::contact::Surface;
use crate::contact::classify::Type;
use crate::record::{Event, Kind, Recorder};
use crate::run::tolerances::{GAP_ROUNDING, STILL};

/// Two spheres at the time of their contact.
#[derive(Debug, Clone, Copy)]
struct SphereContact {
    bodies: [usize; 2],
    /// The trajectories before, and the centres.
    before: [Trajectory; 2],
    centres: [Vector3<f64>; 2],
    /// The circumradii at the start.
    radii: [f64; 2],
    spheres: Spheres,
    approach: f64,
    gap: f64,
}

impl SphereContact {
    #[inline(always)]
    fn new(system: &System, pair: &ContactPair, t: f64) -> Self {
        let bodies = [pair.first as usize, pair.second as usize];
        let before = bodies.map(|i| *system.particles.trajectory(i));
        let radii = bodies.map(|i| system.particles.radius(i));
        let centres = before.map(|trajectory| trajectory.at(t));
        let x = centres[1] + system.shift(pair.image) - centres[0];
        let square = x.norm_squared();
        let distance = square.sqrt();
        let spheres = Spheres {
            x,
            v: before[1].velocity - before[0].velocity,
            square,
            distance,
            growing: (radii[0] + radii[1]) * system.settings.growth,
            inverse_masses: bodies.map(|i| system.particles.class(i).inverse_mass),
        };
        let gap = distance - (radii[0] + radii[1]) * system.scale_at(t);
        Self { bodies, before, centres, radii, spheres, approach: spheres.approach(), gap }
    }

    /// The velocities after an impulse on the second sphere, and the opposite one on the first.
    #[inline(always)]
    fn velocities_after(&self, impulse: &Vector3<f64>) -> [Vector3<f64>; 2] {
        let [first, second] = self.spheres.inverse_masses;
        [self.before[0].velocity - impulse * first, self.before[1].velocity + impulse * second]
    }

    /// Whether the approach is rounding of the velocities.
    #[inline(always)]
    fn is_still(&self) -> bool {
        let squares = self.before[0].velocity.norm_squared() + self.before[1].velocity.norm_squared();
        self.approach * self.approach <= 2.0 * STILL * STILL * squares
    }
}

impl Edmd {
    /// A body touches its partner.
    #[inline]
    pub(super) fn contact_event(
        &mut self,
        i: usize,
        next: &NextEvent,
        event: Option<&mut SpeculativeEvent>,
        recorder: &mut impl Recorder,
    ) {
        let t = next.time;
        let pair = self.system.pair(i, next.partner, next.image);
        self.system.clock.now = self.system.clock.now.max(t);
        let response = self.system.response(&pair, t);
        if self.system.are_spheres(&pair) && response.surface == Surface::Smooth {
            self.resolve_spheres(&pair, t, &response, recorder);
        } else {
            self.resolve_contact(&pair, [next.sinks, response.by_contact_time], t, event, recorder);
        }
    }

    /// Any other contact than that of two smooth spheres, as it was speculated if it was.
    fn resolve_contact(
        &mut self,
        pair: &ContactPair,
        [sinks, by_contact_time]: [bool; 2],
        t: f64,
        event: Option<&mut SpeculativeEvent>,
        recorder: &mut impl Recorder,
    ) {
        if let Some(event) = event {
            return self.commit_contact(pair, [sinks, by_contact_time], t, event, recorder);
        }
        let mut event = std::mem::take(&mut self.buffers.event);
        match self.system.speculate_contact(pair, t, &mut event) {
            Ok(()) => self.commit_contact(pair, [sinks, by_contact_time], t, &mut event, recorder),
            // Otherwise the event would recur at once, for ever.
            Err(SpeculationFailure::Gap) => self.fail(pair, Cause::Search),
            Err(SpeculationFailure::Collapse) => self.monitor.stall(),
            Err(SpeculationFailure::Law) => self.fail(pair, Cause::Law),
        }
        self.buffers.event = event;
    }

    /// Two smooth spheres.
    #[inline]
    fn resolve_spheres(
        &mut self,
        pair: &ContactPair,
        t: f64,
        response: &Response,
        recorder: &mut impl Recorder,
    ) {
        let contact = SphereContact::new(&self.system, pair, t);
        let [a, b] = contact.bodies;
        self.clear_next_event(a);
        self.clear_next_event(b);
        let parted = [(pair.second, pair.image), (pair.first, self.system.opposite(pair.image))]
            .map(|(partner, image)| Parted { partner, image, normal: Vector3::zeros() });
        if self.system.has_collapsed(pair, t, contact.approach) {
            self.monitor.stall();
            return;
        }
        if contact.approach >= 0.0 {
            self.monitor.counts.grazes += 1;
            self.predict(a, t, &parted[..1]);
            self.predict(b, t, &parted[1..]);
            self.buffers.close.clear();
            return;
        }
        let (impulse, vector) = contact.spheres.impulse(response.restitution);
        let velocities = contact.velocities_after(&vector);
        let last_collisions = [a, b].map(|i| self.system.particles.event_data[i].last_collision);
        self.set_trajectories(&contact, velocities, t, [t, t]);
        self.system.particles.continue_path(a, t);
        self.system.particles.continue_path(b, t);
        self.predict(a, t, &parted[..1]);
        // Half of the event is over.
        self.prefetcher.prefetch(&self.queue, &self.system, 1);
        self.predict(b, t, &parted[1..]);
        let still = contact.is_still();
        if !self.buffers.close.is_empty() {
            self.buffers.close.clear();
            if !still
                && self.resolve_cluster_instead(pair, &contact, velocities, last_collisions, t, recorder)
            {
                return;
            }
        }
        // An approach that is rounding is no event, but it was reversed so that it does not recur.
        if still {
            self.monitor.counts.grazes += 1;
            return;
        }
        self.monitor.counts.elastic += u64::from(response.by_contact_time);
        self.record_spheres(pair, &contact, velocities, response.restitution, (impulse, vector), t, recorder);
    }

    /// Lets two spheres move on from their contact at a time, with these velocities and times of their last collisions.
    #[inline(always)]
    fn set_trajectories(
        &mut self,
        contact: &SphereContact,
        velocities: [Vector3<f64>; 2],
        t: f64,
        last_collisions: [f64; 2],
    ) {
        let particles = &mut self.system.particles;
        for k in 0..2 {
            let i = contact.bodies[k];
            particles.kinematics[i].trajectory =
                Trajectory { position: contact.centres[k], velocity: velocities[k], since: t };
            particles.event_data[i].last_collision = last_collisions[k];
        }
    }

    /// Takes the impact of two spheres back, and resolves it together with other contacts at the same time. False, with the impact restored,
    /// if there are none.
    #[cold]
    fn resolve_cluster_instead(
        &mut self,
        pair: &ContactPair,
        contact: &SphereContact,
        velocities: [Vector3<f64>; 2],
        last_collisions: [f64; 2],
        t: f64,
        recorder: &mut impl Recorder,
    ) -> bool {
        let before = contact.before.map(|trajectory| trajectory.velocity);
        self.set_trajectories(contact, before, t, last_collisions);
        if self.system.settings.growth == 0.0 && self.resolve_cluster(pair, t, recorder) {
            return true;
        }
        self.set_trajectories(contact, velocities, t, [t, t]);
        false
    }

    /// Audits, counts and records an impact of two spheres.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "what the impact was made of")]
    fn record_spheres(
        &mut self,
        pair: &ContactPair,
        contact: &SphereContact,
        velocities: [Vector3<f64>; 2],
        restitution: f64,
        (impulse, impulse_vector): (f64, Vector3<f64>),
        t: f64,
        recorder: &mut impl Recorder,
    ) {
        let SphereContact { bodies, before, centres: [here, _], radii, spheres, approach, gap } = *contact;
        let (system, ledger) = (&self.system, &mut self.monitor.ledger);
        let number = self.monitor.counts.events;
        let normal = spheres.x / spheres.distance;
        let energy_before = ledger.energy();
        let separation = normal.dot(&(velocities[1] - velocities[0])) - spheres.growing;
        let found = SphereImpact { approach, separation, restitution, impulse, gap };
        let velocities_before = before.map(|trajectory| trajectory.velocity);
        spheres.audit(ledger, &found, [&velocities_before, &velocities], number);
        if is_small(system) {
            ledger.involved.extend(bodies.map(|i| system.particles.scene_index(i)));
        }
        let [first, second] = spheres.inverse_masses;
        let radius = radii[0] * system.scale_at(t);
        if first == 0.0 || second == 0.0 {
            let sign = if first == 0.0 { 1.0 } else { -1.0 };
            ledger.book_impulse(&(impulse_vector * sign), &(here + normal * radius));
        }
        let energy_after = ledger.energy();
        let counts = &mut self.monitor.counts;
        counts.collisions += 1;
        counts.events += 1;
        counts.impacts += 1;
        recorder.events(&[Event {
            number,
            time: system.clock.epoch + t,
            time_error: (GAP_ROUNDING * (spheres.distance + here.norm()) + gap.abs()) / -approach,
            kind: Kind::Impact,
            sides: system.sides(pair),
            image: system.neighbourhoods.images.boxes(pair.image),
            point: here + normal * (radius + 0.5 * gap),
            normal,
            between: spheres.x,
            gap,
            approach,
            separation,
            impulse,
            impulse_vector,
            class: Type::Normal,
            g2: None,
            g3: None,
            force_slope: None,
            limit: None,
            joints: None,
            energy_before,
            energy_after,
        }]);
    }
}
