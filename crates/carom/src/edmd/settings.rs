//! How a run is made, and which worlds the engine can run.

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use super::next_event::PLANE;
use crate::run::World;

/// The settings of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The number of impacts at which the run stops.
    pub max_events: u64,
    /// The rate of growth: all sizes are multiplied by 1 + growth·t. Zero or less: no growth.
    pub growth: f64,
    /// A collision within this time of the last one of either body is elastic. Zero: no such rule.
    pub contact_time: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { max_events: u64::MAX, growth: 0.0, contact_time: 0.0 }
    }
}

/// Why a world cannot be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsuited {
    /// There is gravity: bodies would come to rest on one another.
    Gravity,
    /// There are more bodies or planes than 31 bits can count.
    Number,
    /// A body has flats, edges or corners, and may touch in several points.
    Flats,
}

/// Whether a world can be run.
pub(super) fn suits(world: &World) -> Result<(), Unsuited> {
    if world.gravity != Vector3::zeros() {
        return Err(Unsuited::Gravity);
    }
    if world.bodies.iter().any(|body| body.shape.has_flats()) {
        return Err(Unsuited::Flats);
    }
    let limit = PLANE as usize - 8;
    if world.bodies.len() >= limit || world.planes.len() >= limit {
        return Err(Unsuited::Number);
    }
    Ok(())
}
