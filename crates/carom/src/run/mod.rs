//! What both engines build on: the world, the clock, the ledger with its audit, the status of a run, and states as plain numbers.

pub(crate) mod clock;
pub(crate) mod constraints;
mod energies;
pub(crate) mod ledger;
mod snapshot;
mod status;
pub(crate) mod tolerances;
mod world;

pub(crate) use clock::Clock;
pub use energies::Energies;
pub(crate) use ledger::Ledger;
pub use ledger::{Audit, Rest, Worst};
pub use snapshot::SnapshotMismatch;
pub(crate) use snapshot::StateRecord;
pub use status::{Cause, Counts, Failure, InvalidStart, Stopped};
pub use world::World;

/// The number of a body, plane or joint in 32 bits.
pub(crate) fn index(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
