//! The whole state of a crowd as plain numbers: what is resumed from it goes on to the bit.
//!
//! Lists are made anew from the homes, and turnings from where they began, both of which give the same again. What is due
//! is kept as it was computed.

use serde::{Deserialize, Serialize};

use super::neighbours::Images;
use super::next_event::{NextEvent, PLANE, REPREDICT};
use super::rotation::Spin;
use super::storage::Line;
use super::{Clock, Cold, Counts, Edmd, Hot, Settings, SnapshotMismatch, Stopped, World, index};
use crate::body::State;
use crate::run::{Ledger, StateRecord};

/// A crowd's state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    clock: Clock,
    skin: f64,
    largest: f64,
    /// The images are made for this distance.
    image_distance: f64,
    /// In the order in memory.
    bodies: Vec<BodyRecord>,
    ledger: Ledger,
    counts: Counts,
    ordered: u64,
    checked: u64,
    #[serde(default)]
    looked: u64,
    headway: (u64, f64),
    stopped: Option<Stopped>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct BodyRecord {
    name: u32,
    position: [f64; 3],
    velocity: [f64; 3],
    since: f64,
    turning: StateRecord,
    turning_since: f64,
    home: [f64; 3],
    reach: f64,
    /// The last collision; none before the first.
    last: Option<f64>,
    boxes: [i32; 3],
    /// What is due; nothing where nothing is.
    due: Option<NextEvent>,
}

impl Edmd {
    /// The state of the run.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let bodies = (0..self.hot.len())
            .map(|i| {
                let (line, cold) = (&self.hot[i].line, &self.cold[i]);
                let (turning, turning_since) = self.spins.of(i).start();
                let due = self.next_event(index(i));
                BodyRecord {
                    name: cold.name,
                    position: line.position.into(),
                    velocity: line.velocity.into(),
                    since: line.since,
                    turning: StateRecord::from(&turning),
                    turning_since,
                    home: cold.home.into(),
                    reach: cold.reach,
                    last: cold.last.is_finite().then_some(cold.last),
                    boxes: self.boxes[i],
                    due: due.time.is_finite().then_some(due),
                }
            })
            .collect();
        Snapshot {
            clock: self.clock,
            skin: self.skin,
            largest: self.largest,
            image_distance: self.image_distance,
            bodies,
            ledger: self.ledger.clone(),
            counts: self.counts,
            ordered: self.ordered,
            checked: self.checked,
            looked: self.looked,
            headway: self.headway,
            stopped: self.stopped,
        }
    }

    /// The run that a snapshot was taken of, in the same world and with the same settings.
    ///
    /// # Errors
    /// The snapshot does not fit the world.
    pub fn resume(world: World, settings: Settings, snapshot: &Snapshot) -> Result<Self, SnapshotMismatch> {
        let count = world.bodies.len();
        let images = Images::new(world.periodic.as_ref(), snapshot.image_distance);
        let mut known = vec![false; count];
        for record in &snapshot.bodies {
            let name = known.get_mut(record.name as usize).ok_or(SnapshotMismatch)?;
            if std::mem::replace(name, true) {
                return Err(SnapshotMismatch);
            }
            if let Some(due) = &record.due {
                let with = due.with as usize;
                let plane = due.with.checked_sub(PLANE).map(|k| k as usize);
                let fits = match plane {
                    None => with < count && (due.image as usize) < images.count(),
                    Some(plane) => plane < world.planes.len() || due.with >= REPREDICT,
                };
                if !fits {
                    return Err(SnapshotMismatch);
                }
            }
        }
        if snapshot.bodies.len() != count {
            return Err(SnapshotMismatch);
        }
        let mut starts = vec![State::at(nalgebra::Vector3::zeros()); count];
        for record in &snapshot.bodies {
            starts[record.name as usize] = State::from(&record.turning);
        }
        let mut crowd = Self::at_start(world, &starts, settings).map_err(|_| SnapshotMismatch)?;
        let kinds: Vec<u32> = crowd.cold.iter().map(|cold| cold.kind).collect();
        for (i, record) in snapshot.bodies.iter().enumerate() {
            let name = record.name as usize;
            let body = &crowd.world.bodies[name];
            let (position, velocity) = (record.position.into(), record.velocity.into());
            crowd.hot[i] = Hot { line: Line { position, velocity, since: record.since }, due: f64::INFINITY };
            crowd.radii[i] = crowd.world.radius[name];
            crowd.boxes[i] = record.boxes;
            let start = State::from(&record.turning);
            let spin = Spin::given(body, &start, crowd.world.body_spin(name), record.turning_since);
            crowd.spins.set(i, &spin);
            crowd.cold[i] = Cold {
                home: record.home.into(),
                reach: record.reach,
                last: record.last.unwrap_or(f64::NEG_INFINITY),
                ..Cold::new(name, kinds[name])
            };
            crowd.place[name] = index(i);
        }
        crowd.clock = snapshot.clock;
        (crowd.skin, crowd.largest) = (snapshot.skin, snapshot.largest);
        (crowd.images, crowd.image_distance) = (images, snapshot.image_distance);
        crowd.ledger = snapshot.ledger.clone();
        crowd.counts = snapshot.counts;
        (crowd.ordered, crowd.checked, crowd.looked, crowd.headway) =
            (snapshot.ordered, snapshot.checked, snapshot.looked, snapshot.headway);
        crowd.stopped = snapshot.stopped;
        crowd.make_lists(crowd.clock.now);
        for (i, record) in snapshot.bodies.iter().enumerate() {
            if let Some(due) = record.due {
                crowd.write_next_event(index(i), due);
            }
        }
        crowd.tune_calendar();
        Ok(crowd)
    }
}
