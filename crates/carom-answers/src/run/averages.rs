//! The averages of a gas for programs.

use carom::observe::{Curve, Estimate, Neighbours, Observables, Quantity};
use serde::{Serialize, Serializer};

/// Averages of a gas.
#[derive(Debug, Serialize)]
pub struct ObservablesEntry {
    #[serde(flatten)]
    estimates: Estimates,
    /// Blocks that the errors come from, and their length.
    blocks: u64,
    block_time: f64,
    time: f64,
    interval: f64,
    compressibility_from_rate: Option<f64>,
    g_r: Option<Neighbours>,
    msd: Curve,
    vacf: Curve,
}

/// The quantities under their names.
#[derive(Debug)]
pub struct Estimates(pub [Estimate; Quantity::ALL.len()]);

impl Serialize for Estimates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Quantity::ALL.map(Quantity::name).into_iter().zip(&self.0))
    }
}

impl ObservablesEntry {
    /// In the names of files.
    pub fn of(observables: &Observables) -> Self {
        Self {
            estimates: Estimates(observables.estimates),
            blocks: observables.blocks,
            block_time: observables.block_time,
            time: observables.time,
            interval: observables.interval,
            compressibility_from_rate: observables.compressibility_from_rate,
            g_r: observables.neighbours.clone(),
            msd: observables.displacement.clone(),
            vacf: observables.velocities.clone(),
        }
    }
}
