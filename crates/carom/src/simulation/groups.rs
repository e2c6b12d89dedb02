//! The groups of a run, and what groups that dissolve leave to those that follow.

use std::collections::BTreeMap;

use nalgebra::Vector3;

use super::group::{Group, GroupRecord};
use super::pair::Pair;
use crate::run::{Clock, SnapshotMismatch, World, index};
use crate::watch::Watch;

/// The groups of a run. A group keeps its number while it lasts; the numbers of dissolved groups are used again.
#[derive(Debug, Clone)]
pub(super) struct Groups {
    slots: Vec<Option<Group>>,
    /// The dense-output steps that all groups have made. Each step's number is its group's version.
    steps: u32,
    /// The time of the run at the last check for headway.
    mark: f64,
}

/// So many steps in a row must advance the run by this share of an epoch, and of the time that is left: a run that advances less would
/// take too many steps to end.
const HEADWAY_STEPS: u32 = 512;

const HEADWAY: f64 = 1e-5;

const HEADWAY_LEFT: f64 = 1e-13;

impl Groups {
    pub fn new() -> Self {
        Self { slots: Vec::new(), steps: 0, mark: -1.0 }
    }

    /// Restores the groups of a snapshot.
    pub fn restore(
        records: &[Option<GroupRecord>],
        steps: u32,
        mark: f64,
        world: &World,
    ) -> Result<Self, SnapshotMismatch> {
        let restore = |record: &Option<GroupRecord>| {
            record.as_ref().map(|record| Group::of(record, world).ok_or(SnapshotMismatch)).transpose()
        };
        Ok(Self { slots: records.iter().map(restore).collect::<Result<_, _>>()?, steps, mark })
    }

    /// The groups as plain numbers, with the number of steps and the time of the last check for headway.
    pub fn record(&self) -> (Vec<Option<GroupRecord>>, u32, f64) {
        (self.slots.iter().map(|group| group.as_ref().map(Group::record)).collect(), self.steps, self.mark)
    }

    /// The number that the next group gets.
    pub fn vacant(&self) -> u32 {
        index(self.slots.iter().position(Option::is_none).unwrap_or(self.slots.len()))
    }

    /// Adds a group under a number that is vacant.
    pub fn insert(&mut self, number: u32, group: Group) {
        let number = number as usize;
        if number == self.slots.len() {
            self.slots.push(Some(group));
        } else {
            self.slots[number] = Some(group);
        }
    }

    /// Removes a group.
    pub fn remove(&mut self, number: u32) -> Option<Group> {
        self.slots[number as usize].take()
    }

    /// The version of the next step.
    pub fn next_version(&mut self) -> u32 {
        self.steps += 1;
        self.steps
    }

    pub fn get(&self, number: u32) -> Option<&Group> {
        self.slots[number as usize].as_ref()
    }

    pub fn get_mut(&mut self, number: u32) -> Option<&mut Group> {
        self.slots[number as usize].as_mut()
    }

    /// The group that a body's trajectory or an active contact names; it exists.
    pub fn named(&self, number: u32) -> &Group {
        match self.get(number) {
            Some(group) => group,
            None => unreachable!("a grouped body names an existing group"),
        }
    }

    /// Lets a caller end what the groups compute.
    pub fn set_watch(&mut self, watch: &Watch) {
        for group in self.slots.iter_mut().flatten() {
            group.flow = group.flow.clone().with_watch(watch.clone());
        }
    }

    /// All groups.
    pub fn iter(&self) -> impl Iterator<Item = &Group> {
        self.slots.iter().flatten()
    }

    /// The numbers that groups have or had.
    pub fn numbers(&self) -> core::ops::Range<u32> {
        0..index(self.slots.len())
    }

    /// Moves the zero of time.
    pub fn shift(&mut self, by: f64) {
        for group in self.slots.iter_mut().flatten() {
            group.zero -= by;
        }
    }

    /// Whether the latest steps have advanced the run; checked every so many steps.
    pub fn makes_headway(&mut self, clock: &Clock, until: f64) -> bool {
        if !self.steps.is_multiple_of(HEADWAY_STEPS) {
            return true;
        }
        let (now, before) = (clock.absolute(clock.now), self.mark);
        self.mark = now;
        let left = until - now;
        let far = if left.is_finite() { HEADWAY_LEFT * left } else { 0.0 };
        let stalled = now - before < (HEADWAY * clock.length).max(far);
        !stalled
    }
}

/// What dissolved groups leave to those that follow.
#[derive(Default)]
pub(super) struct History {
    contacts: BTreeMap<Pair, PastContact>,
    /// Of each joint, the contact points, if they lay near a flat.
    joints: BTreeMap<usize, Option<[Vector3<f64>; 2]>>,
}

/// An active contact as it was.
pub(super) struct PastContact {
    /// The integral of its normal force.
    pub impulse: f64,
    /// The slope with which the force began.
    pub slope: Option<f64>,
    /// The contact points, if they lay near a flat.
    pub points: Option<[Vector3<f64>; 2]>,
}

impl History {
    /// Takes in a group that dissolves.
    pub fn take(&mut self, group: &Group, t: f64) {
        let points = group.step.points(group.local(t));
        for (k, pair) in group.pairs.iter().enumerate() {
            let past = PastContact {
                impulse: group.impulse(k, t),
                slope: group.slopes[k],
                points: points.contacts[k],
            };
            self.contacts.insert(*pair, past);
        }
        self.joints.extend(group.joints.iter().copied().zip(points.joints));
    }

    /// A contact, if it was active.
    pub fn contact(&self, pair: &Pair) -> Option<&PastContact> {
        self.contacts.get(pair)
    }

    /// The contact points of a joint, if they lay near a flat.
    pub fn joint(&self, joint: usize) -> Option<[Vector3<f64>; 2]> {
        self.joints.get(&joint).copied().flatten()
    }
}
