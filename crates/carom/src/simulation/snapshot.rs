//! The whole state of a run at an event, as plain numbers: a run resumed from it continues to the same bits.
//!
//! Free flights are prepared again from the states at which they began, and the motion of groups from where the flow began; both
//! give the same bits. The queue is stored as it was computed.

use serde::{Deserialize, Serialize};

use super::bookkeeping::Bookkeeping;
use super::constrained::SingularPassages;
use super::dynamics::Dynamics;
use super::group::GroupRecord;
use super::groups::Groups;
use super::motion::{BodyMotion, Effort, Trajectory};
use super::pair::Pair;
use super::persistent::{Persistence, PersistentContacts};
use super::predict::Predictor;
use super::queue::Entry;
use super::rolling::RollingDemand;
use super::stepping::SteppedInterval;
use super::{RunSettings, Simulation};
use crate::body::State;
use crate::run::index;
use crate::run::{Clock, Counts, Ledger, SnapshotMismatch, StateRecord, Stopped, World};

/// The state of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    clock: Clock,
    bodies: Vec<BodyRecord>,
    groups: Vec<Option<GroupRecord>>,
    #[serde(rename = "standing")]
    contacts: Vec<(Pair, Persistence)>,
    /// The contacts that are rolling joints with Coulomb friction.
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
    #[serde(rename = "pieces")]
    steps: u32,
    #[serde(rename = "piece_mark")]
    headway_mark: f64,
    unbalanced: bool,
    #[serde(default, rename = "looked")]
    pairs_audited: u64,
    #[serde(default)]
    stepped: Vec<SteppedInterval>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct BodyRecord {
    #[serde(rename = "course")]
    trajectory: TrajectoryRecord,
    since: f64,
    version: u32,
    boxes: [i32; 3],
    #[serde(default)]
    effort: Effort,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum TrajectoryRecord {
    /// The state at which a flight began.
    Flight(StateRecord),
    /// A member of a group.
    #[serde(rename = "Held")]
    Grouped { group: u32, member: u32 },
}

impl BodyRecord {
    fn of(motion: &BodyMotion) -> Self {
        let trajectory = match &motion.trajectory {
            Trajectory::Flight(flight) => TrajectoryRecord::Flight(StateRecord::from(flight.start())),
            Trajectory::Grouped { group, member } => {
                TrajectoryRecord::Grouped { group: *group, member: *member }
            }
        };
        let BodyMotion { since, version, boxes, effort, .. } = *motion;
        Self { trajectory, since, version, boxes, effort }
    }

    fn motion(&self, body: usize, world: &World) -> BodyMotion {
        let trajectory = match &self.trajectory {
            TrajectoryRecord::Flight(start) => {
                Trajectory::Flight(Box::new(world.flight(body, &State::from(start))))
            }
            TrajectoryRecord::Grouped { group, member } => {
                Trajectory::Grouped { group: *group, member: *member }
            }
        };
        let Self { since, version, boxes, effort, .. } = *self;
        BodyMotion { trajectory, since, version, boxes, effort }
    }
}

impl Snapshot {
    /// Whether everything that the snapshot names exists in a world.
    fn fits(&self, world: &World) -> bool {
        let (bodies, planes) = (world.bodies.len(), world.planes.len());
        let group = |number: u32| self.groups.get(number as usize).and_then(Option::as_ref);
        let contact_fits = |(pair, persistence): &(Pair, Persistence)| {
            pair.exists(bodies, planes)
                && match persistence {
                    Persistence::Active(number) => group(*number).is_some(),
                    Persistence::Inactive | Persistence::Interpenetrating => true,
                }
        };
        self.bodies.len() == bodies
            && self.cells.as_ref().is_none_or(|cells| cells.len() == bodies)
            && self.bodies.iter().all(|body| match body.trajectory {
                TrajectoryRecord::Flight(_) => true,
                TrajectoryRecord::Grouped { group: number, member } => {
                    group(number).is_some_and(|group| group.has(member))
                }
            })
            && self.groups.iter().flatten().all(|group| group.fits(world))
            && self.queue.iter().all(|entry| entry.exists(bodies, planes, self.groups.len()))
            && self.contacts.iter().all(contact_fits)
            && self
                .rolling
                .iter()
                .all(|(pair, joint)| pair.exists(bodies, planes) && (*joint as usize) < world.joints.len())
    }
}

impl Simulation {
    /// The state of the run.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let Self { dynamics, predictor, books, .. } = self;
        let (groups, steps, headway_mark) = dynamics.groups.record();
        let cells = predictor.cells.as_ref();
        Snapshot {
            clock: dynamics.clock,
            bodies: dynamics.motions.iter().map(BodyRecord::of).collect(),
            groups,
            contacts: dynamics.contacts.iter().collect(),
            rolling: dynamics.rolling.iter().map(|(pair, joint)| (*pair, index(*joint))).collect(),
            demands: books.demands.iter().copied().collect(),
            singular: books.singular.iter().copied().collect(),
            cells: cells.map(|cells| dynamics.bodies().map(|body| cells.of(body)).collect()),
            queue: predictor.queue.sorted(),
            ledger: books.ledger.clone(),
            counts: books.counts,
            stopped: books.stopped,
            steps,
            headway_mark,
            unbalanced: books.unbalanced,
            pairs_audited: books.pairs_audited,
            stepped: books.stepped.clone(),
        }
    }

    /// The run that a snapshot was taken of, in the same world and with the same settings.
    ///
    /// # Errors
    /// If the snapshot does not fit the world.
    pub fn resume(
        mut world: World,
        settings: RunSettings,
        snapshot: &Snapshot,
    ) -> Result<Self, SnapshotMismatch> {
        world.on_trouble = settings.on_trouble;
        if !snapshot.fits(&world) {
            return Err(SnapshotMismatch);
        }
        let groups = Groups::restore(&snapshot.groups, snapshot.steps, snapshot.headway_mark, &world)?;
        let mut contacts = PersistentContacts::new(world.bodies.len());
        for &(pair, persistence) in &snapshot.contacts {
            contacts.insert(pair, persistence);
        }
        let motions = snapshot.bodies.iter().enumerate();
        let dynamics = Dynamics {
            clock: snapshot.clock,
            until: settings.until,
            rest_speed: settings.rest_speed,
            motions: motions.map(|(body, record)| record.motion(body, &world)).collect(),
            groups,
            contacts,
            rolling: snapshot.rolling.iter().map(|(pair, joint)| (*pair, *joint as usize)).collect(),
            world,
        };
        let mut predictor =
            Predictor { queue: snapshot.queue.iter().copied().collect(), ..Predictor::default() };
        if let Some(cells) = &snapshot.cells {
            predictor.build_cells(&dynamics);
            if let Some(grid) = &mut predictor.cells {
                for (body, cell) in cells.iter().enumerate() {
                    grid.transfer(body, *cell);
                }
            }
        }
        let books = Bookkeeping {
            ledger: snapshot.ledger.clone(),
            counts: snapshot.counts,
            // What was interrupted goes on.
            stopped: snapshot.stopped.filter(|&why| why != Stopped::Interrupted),
            failure: None,
            demands: snapshot.demands.iter().copied().collect(),
            singular: snapshot.singular.iter().copied().collect(),
            unbalanced: snapshot.unbalanced,
            pairs_audited: snapshot.pairs_audited,
            stepped: snapshot.stepped.clone(),
        };
        Ok(Self { settings, dynamics, predictor, books })
    }
}
