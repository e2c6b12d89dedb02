//! The two bodies and their beam in plain numbers: all that a sample is made of.
#![deny(clippy::disallowed_methods, clippy::std_instead_of_core, clippy::std_instead_of_alloc)]

use crate::body::Body;
use crate::contact::Surface;
use crate::scene::model::{Spin, Translation};

/// Two bodies and their beam.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setup {
    /// The bodies.
    pub bodies: [Body; 2],
    /// How fast they approach each other.
    pub translation: Translation,
    /// How fast they spin.
    pub spin: Spin,
    /// The key of the random numbers.
    pub key: [u32; 8],
    /// k.
    pub restitution: f64,
    /// How the surface responds.
    pub surface: Surface,
    /// Whether the law promises that contacts push, and that none closes afterwards.
    pub unilateral: bool,
    /// B.
    pub reach: f64,
    /// μ.
    pub reduced_mass: f64,
}

impl Setup {
    /// The two bodies.
    pub(super) fn bodies(&self) -> [&Body; 2] {
        [&self.bodies[0], &self.bodies[1]]
    }

    /// Whether the bodies turn before they meet.
    pub(super) fn spins(&self) -> bool {
        match self.spin {
            Spin::Speed(spin) => spin > 0.0,
            Spin::Temperature(temperature) => temperature > 0.0,
        }
    }
}

/// 1/m, zero if immovable.
pub(super) fn inverse_mass(body: &Body) -> f64 {
    if body.fixed { 0.0 } else { body.mass.recip() }
}
