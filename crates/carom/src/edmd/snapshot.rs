//! The whole state of a run as plain numbers: a resumed run continues to the bit.
//!
//! Neighbour lists are made again from the reference positions, and flights from where they began; both give the same as before. Next events
//! are stored as they were computed.

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use super::images::Images;
use super::next_event::{NextEvent, PLANE, REPREDICT};
use super::rotation::Rotation;
use super::storage::{EventData, Kinematics, Trajectory};
use super::{Counts, Edmd, Settings, SnapshotMismatch, Stopped, World, index};
use crate::body::State;
use crate::run::{Clock, Ledger, StateRecord};

/// The state of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    clock: Clock,
    skin: f64,
    #[serde(alias = "largest")]
    largest_radius: f64,
    /// The distance for which the images were tabulated.
    image_distance: f64,
    /// In the order in memory.
    bodies: Vec<BodyRecord>,
    ledger: Ledger,
    counts: Counts,
    #[serde(alias = "ordered")]
    reordered_at: u64,
    #[serde(alias = "checked")]
    totals_checked_at: u64,
    #[serde(default, alias = "looked")]
    pairs_checked_at: u64,
    #[serde(alias = "headway")]
    clock_checked_at: (u64, f64),
    stopped: Option<Stopped>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct BodyRecord {
    #[serde(alias = "name")]
    scene_index: u32,
    position: [f64; 3],
    velocity: [f64; 3],
    since: f64,
    #[serde(alias = "turning")]
    rotation: StateRecord,
    #[serde(alias = "turning_since")]
    rotation_since: f64,
    #[serde(alias = "home")]
    reference_position: [f64; 3],
    #[serde(alias = "reach")]
    neighbourhood_radius: f64,
    /// `None` before the first collision.
    #[serde(alias = "last")]
    last_collision: Option<f64>,
    boxes: [i32; 3],
    #[serde(alias = "due")]
    next_event: Option<NextEvent>,
}

impl Snapshot {
    /// Whether the snapshot can have been taken of a run of a world.
    fn fits(&self, world: &World, images: &Images) -> bool {
        let count = world.bodies.len();
        let mut known = vec![false; count];
        self.bodies.len() == count
            && self.bodies.iter().all(|record| {
                let is_new = known
                    .get_mut(record.scene_index as usize)
                    .is_some_and(|known| !std::mem::replace(known, true));
                is_new
                    && record.next_event.is_none_or(|event| match event.partner.checked_sub(PLANE) {
                        None => (event.partner as usize) < count && (event.image as usize) < images.count(),
                        Some(plane) => (plane as usize) < world.planes.len() || event.partner >= REPREDICT,
                    })
            })
    }
}

impl Edmd {
    /// The state of the run.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let (particles, monitor) = (&self.system.particles, &self.monitor);
        let bodies = (0..particles.len())
            .map(|i| {
                let (trajectory, data) = (particles.trajectory(i), &particles.event_data[i]);
                let (rotation, rotation_since) = particles.rotations.get(i).start();
                let next_event = particles.next_event(i);
                BodyRecord {
                    scene_index: data.scene_index,
                    position: trajectory.position.into(),
                    velocity: trajectory.velocity.into(),
                    since: trajectory.since,
                    rotation: StateRecord::from(&rotation),
                    rotation_since,
                    reference_position: data.reference_position.into(),
                    neighbourhood_radius: data.neighbourhood_radius,
                    last_collision: data.last_collision.is_finite().then_some(data.last_collision),
                    boxes: particles.boxes[i],
                    next_event: next_event.time.is_finite().then_some(next_event),
                }
            })
            .collect();
        Snapshot {
            clock: self.system.clock,
            skin: self.system.neighbourhoods.skin,
            largest_radius: self.system.neighbourhoods.largest_radius,
            image_distance: self.system.neighbourhoods.image_distance,
            bodies,
            ledger: monitor.ledger.clone(),
            counts: monitor.counts,
            reordered_at: monitor.reordered_at,
            totals_checked_at: monitor.totals_checked_at,
            pairs_checked_at: monitor.pairs_checked_at,
            clock_checked_at: monitor.clock_checked_at,
            stopped: monitor.stopped,
        }
    }

    /// The run of which a snapshot was taken, in the same world and with the same settings.
    ///
    /// # Errors
    /// The snapshot does not fit the world.
    pub fn resume(world: World, settings: Settings, snapshot: &Snapshot) -> Result<Self, SnapshotMismatch> {
        let images = Images::new(world.periodic.as_ref(), snapshot.image_distance);
        if !snapshot.fits(&world, &images) {
            return Err(SnapshotMismatch);
        }
        let mut starts = vec![State::at(Vector3::zeros()); world.bodies.len()];
        for record in &snapshot.bodies {
            starts[record.scene_index as usize] = State::from(&record.rotation);
        }
        let mut edmd = Self::unprepared(world, &starts, settings).map_err(|_| SnapshotMismatch)?;
        edmd.restore_bodies(&snapshot.bodies);
        let system = &mut edmd.system;
        system.clock = snapshot.clock;
        system.neighbourhoods.skin = snapshot.skin;
        system.neighbourhoods.largest_radius = snapshot.largest_radius;
        system.neighbourhoods.images = images;
        system.neighbourhoods.image_distance = snapshot.image_distance;
        let monitor = &mut edmd.monitor;
        monitor.ledger = snapshot.ledger.clone();
        monitor.counts = snapshot.counts;
        monitor.reordered_at = snapshot.reordered_at;
        monitor.totals_checked_at = snapshot.totals_checked_at;
        monitor.pairs_checked_at = snapshot.pairs_checked_at;
        monitor.clock_checked_at = snapshot.clock_checked_at;
        monitor.stopped = snapshot.stopped;
        system.rebuild_lists(system.clock.now);
        for (i, record) in snapshot.bodies.iter().enumerate() {
            if let Some(event) = record.next_event {
                system.particles.set_next_event(i, event);
            }
        }
        edmd.rebuild_queue();
        Ok(edmd)
    }

    fn restore_bodies(&mut self, records: &[BodyRecord]) {
        let (particles, world) = (&mut self.system.particles, &self.system.world);
        // The bodies are still in the scene's order.
        let classes: Vec<u32> = particles.event_data.iter().map(|data| data.class).collect();
        for (i, record) in records.iter().enumerate() {
            let scene_index = record.scene_index as usize;
            let (position, velocity) = (record.position.into(), record.velocity.into());
            particles.kinematics[i] = Kinematics {
                trajectory: Trajectory { position, velocity, since: record.since },
                event_time: f64::INFINITY,
            };
            particles.radii[i] = world.radius[scene_index];
            particles.boxes[i] = record.boxes;
            let rotation = Rotation::with_body_spin(
                &world.bodies[scene_index],
                &State::from(&record.rotation),
                world.body_spin(scene_index),
                record.rotation_since,
            );
            particles.rotations.set(i, &rotation);
            particles.event_data[i] = EventData {
                reference_position: record.reference_position.into(),
                neighbourhood_radius: record.neighbourhood_radius,
                last_collision: record.last_collision.unwrap_or(f64::NEG_INFINITY),
                ..EventData::new(scene_index, classes[scene_index])
            };
            particles.places[scene_index] = index(i);
        }
    }
}
