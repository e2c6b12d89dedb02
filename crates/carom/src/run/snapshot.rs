//! States as plain numbers, for snapshots of a run.

use serde::{Deserialize, Serialize};

use crate::body::State;

/// A state as numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct StateRecord {
    position: [f64; 3],
    /// Scalar first.
    orientation: [f64; 4],
    velocity: [f64; 3],
    angular_velocity: [f64; 3],
}

impl From<&State> for StateRecord {
    fn from(state: &State) -> Self {
        let q = state.orientation.quaternion();
        Self {
            position: state.position.into(),
            orientation: [q.w, q.i, q.j, q.k],
            velocity: state.velocity.into(),
            angular_velocity: state.angular_velocity.into(),
        }
    }
}

impl From<&StateRecord> for State {
    fn from(record: &StateRecord) -> Self {
        let [w, i, j, k] = record.orientation;
        Self {
            position: record.position.into(),
            // As it was, not normalised again.
            orientation: nalgebra::Unit::new_unchecked(nalgebra::Quaternion::new(w, i, j, k)),
            velocity: record.velocity.into(),
            angular_velocity: record.angular_velocity.into(),
        }
    }
}

/// A snapshot belongs to another world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the snapshot is of another world")]
pub struct SnapshotMismatch;
