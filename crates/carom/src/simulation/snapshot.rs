//! The whole state of a run at an event, as plain numbers: what is resumed from it goes on to the bit.
//!
//! Free flights are prepared anew from the states at which they began, and held motion from where its piece began, both
//! of which give the same bits again. What is due is kept as it was computed.

use serde::{Deserialize, Serialize};

use super::constrained::SingularPassages;
use super::group::{Group, GroupRecord};
use super::queue::{Entry, Pair};
use super::resolution::Persistence;
use super::rolling::RollingDemand;
use super::{BodyMotion, Simulation, Trajectory};
use crate::body::State;
use crate::run::index;
use crate::run::{Clock, Counts, Ledger, SnapshotMismatch, StateRecord, Stopped, World};
use crate::scene::model::RunSettings;

/// A run's state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    clock: Clock,
    bodies: Vec<BodyRecord>,
    groups: Vec<Option<GroupRecord>>,
    standing: Vec<(Pair, Persistence)>,
    /// Contacts that are rolling joints as long as friction lets them.
    rolling: Vec<(Pair, u32)>,
    demands: Vec<RollingDemand>,
    #[serde(default)]
    singular: Vec<SingularPassages>,
    /// Each body's cell, where there is a grid.
    cells: Option<Vec<[i32; 3]>>,
    queue: Vec<Entry>,
    ledger: Ledger,
    counts: Counts,
    stopped: Option<Stopped>,
    pieces: u32,
    piece_mark: f64,
    unbalanced: bool,
    #[serde(default)]
    looked: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct BodyRecord {
    course: CourseRecord,
    since: f64,
    version: u32,
    boxes: [i32; 3],
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum CourseRecord {
    /// Where a flight began.
    Flight(StateRecord),
    /// A member of a group.
    Held { group: u32, member: u32 },
}

impl Simulation {
    /// The state of the run.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let bodies = self
            .motions
            .iter()
            .map(|motion| BodyRecord {
                course: match &motion.course {
                    Trajectory::Flight(flight) => CourseRecord::Flight(StateRecord::from(flight.start())),
                    Trajectory::Held { group, member } => {
                        CourseRecord::Held { group: *group, member: *member }
                    }
                },
                since: motion.since,
                version: motion.version,
                boxes: motion.boxes,
            })
            .collect();
        Snapshot {
            clock: self.clock,
            bodies,
            groups: self.groups.iter().map(|group| group.as_ref().map(Group::record)).collect(),
            standing: self.standing.iter().map(|(pair, standing)| (*pair, *standing)).collect(),
            rolling: self.rolling.iter().map(|(pair, joint)| (*pair, index(*joint))).collect(),
            demands: self.demands.values().copied().collect(),
            singular: self.singular.values().copied().collect(),
            cells: self.cells.as_ref().map(|cells| (0..self.motions.len()).map(|i| cells.of(i)).collect()),
            queue: self.queue.sorted(),
            ledger: self.ledger.clone(),
            counts: self.counts,
            stopped: self.stopped,
            pieces: self.pieces,
            piece_mark: self.piece_mark,
            unbalanced: self.unbalanced,
            looked: self.looked,
        }
    }

    /// The run that a snapshot was taken of, in the same world and with the same settings.
    ///
    /// # Errors
    /// If the snapshot does not fit the world.
    pub fn resume(
        world: World,
        settings: RunSettings,
        snapshot: &Snapshot,
    ) -> Result<Self, SnapshotMismatch> {
        let count = world.bodies.len();
        let fits = snapshot.bodies.len() == count
            && snapshot.cells.as_ref().is_none_or(|cells| cells.len() == count)
            && snapshot.bodies.iter().all(|body| match body.course {
                CourseRecord::Flight(_) => true,
                CourseRecord::Held { group, member } => snapshot
                    .groups
                    .get(group as usize)
                    .and_then(Option::as_ref)
                    .is_some_and(|g| g.has(member)),
            })
            && snapshot.groups.iter().flatten().all(|group| group.fits(&world))
            && snapshot
                .queue
                .iter()
                .all(|entry| entry.fits(count, world.planes.len(), snapshot.groups.len()))
            && snapshot.standing.iter().all(|(pair, _)| pair.fits(count, world.planes.len()))
            && snapshot.rolling.iter().all(|(pair, joint)| {
                pair.fits(count, world.planes.len()) && (*joint as usize) < world.joints.len()
            });
        if !fits {
            return Err(SnapshotMismatch);
        }
        let motions = snapshot
            .bodies
            .iter()
            .enumerate()
            .map(|(i, body)| BodyMotion {
                course: match &body.course {
                    CourseRecord::Flight(start) => {
                        Trajectory::Flight(Box::new(world.flight(i, &State::from(start))))
                    }
                    CourseRecord::Held { group, member } => {
                        Trajectory::Held { group: *group, member: *member }
                    }
                },
                since: body.since,
                version: body.version,
                boxes: body.boxes,
            })
            .collect();
        let groups = snapshot
            .groups
            .iter()
            .map(|group| {
                group.as_ref().map(|group| Group::of(group, &world).ok_or(SnapshotMismatch)).transpose()
            })
            .collect::<Result<_, _>>()?;
        let mut simulation = Self {
            clock: snapshot.clock,
            settings,
            motions,
            groups,
            standing: snapshot.standing.iter().copied().collect(),
            rolling: snapshot.rolling.iter().map(|(pair, joint)| (*pair, *joint as usize)).collect(),
            demands: snapshot.demands.iter().map(|demand| (demand.joint, *demand)).collect(),
            singular: snapshot.singular.iter().map(|passages| (passages.body, *passages)).collect(),
            cells: None,
            queue: snapshot.queue.iter().copied().collect(),
            ledger: snapshot.ledger.clone(),
            counts: snapshot.counts,
            stopped: snapshot.stopped,
            failure: None,
            pieces: snapshot.pieces,
            piece_mark: snapshot.piece_mark,
            unbalanced: snapshot.unbalanced,
            looked: snapshot.looked,
            found: Vec::new(),
            world,
        };
        if let Some(cells) = &snapshot.cells {
            simulation.build_cells();
            if let Some(grid) = &mut simulation.cells {
                for (body, cell) in cells.iter().enumerate() {
                    grid.transfer(body, *cell);
                }
            }
        }
        Ok(simulation)
    }
}
