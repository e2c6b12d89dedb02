//! The states of a sample before its encounter, from the seed and the sample's number alone.
//!
//! Drawn in this order from the stream of that number: the impact parameter, the two orientations, the spins, the relative speed. With the
//! temperature T, the flux-weighted speeds f(g) ∝ g³ exp(−μg²/2T) are g² = −(2T/μ) ln(u₁u₂), a sum of two exponential numbers.

use core::f64::consts::{PI, TAU};

use nalgebra::Vector3;

use super::setup::{Setup, inverse_mass};
use crate::body::{Body, State};
use crate::fill::freedom::active_spins;
use crate::fill::random::Random;
use crate::scene::model::{Spin, Translation};

/// How far apart the centres are along the beam at the start, over B.
pub(super) const APART: f64 = 2.0;

/// The beam of a sample.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beam {
    /// From the first body's line to the second's, in the plane of y and z.
    pub offset: [f64; 2],
    /// g.
    pub speed: f64,
    pub states: [State; 2],
}

impl Setup {
    /// The beam of a sample.
    pub(super) fn beam(&self, number: u64) -> Beam {
        let mut random = Random::keyed(&self.key, number);
        let distance = self.reach * libm::sqrt(random.uniform());
        let (sin, cos) = libm::sincos(TAU * random.uniform());
        let offset = [distance * cos, distance * sin];
        let orientations = [random.orientation(), random.orientation()];
        let spins = [0, 1].map(|i| self.spin(&self.bodies[i], &mut random));
        let speed = self.speed(&mut random);

        let apart = Vector3::new(-APART * self.reach, offset[0], offset[1]);
        let relative = Vector3::new(speed, 0.0, 0.0);
        let states = [0, 1].map(|i| {
            let body = &self.bodies[i];
            // The first moves against the beam, the second with it; an immovable one stays in the middle.
            let share = self.reduced_mass * inverse_mass(body);
            let share = if i == 0 { -share } else { share };
            let spin = match spins[i] {
                Drawn::World(spin) => spin,
                Drawn::Body(spin) => orientations[i] * spin,
            };
            State {
                position: apart * share,
                orientation: orientations[i],
                velocity: relative * share,
                angular_velocity: spin,
            }
        });
        Beam { offset, speed, states }
    }

    fn spin(&self, body: &Body, random: &mut Random) -> Drawn {
        if body.fixed {
            return Drawn::World(Vector3::zeros());
        }
        match self.spin {
            Spin::Speed(size) => {
                let z = 2.0 * random.uniform() - 1.0;
                let (sin, cos) = libm::sincos(TAU * random.uniform());
                let across = libm::sqrt((1.0 - z) * (1.0 + z));
                Drawn::World(Vector3::new(across * cos, across * sin, z) * size)
            }
            Spin::Temperature(temperature) => {
                let active = active_spins(&body.shape, self.surface);
                let normal = random.normal_vector();
                let spin = |i: usize| normal[i] * libm::sqrt(temperature / body.inertia[i]);
                Drawn::Body(Vector3::from_fn(|i, _| if active[i] { spin(i) } else { 0.0 }))
            }
        }
    }

    fn speed(&self, random: &mut Random) -> f64 {
        match self.translation {
            Translation::Speed(speed) => speed,
            Translation::Temperature(temperature) => {
                // 1 − u is never zero, and both are zero together once in 2^106 draws.
                let product = (1.0 - random.uniform()) * (1.0 - random.uniform());
                libm::sqrt(-2.0 * temperature / self.reduced_mass * libm::log(product))
            }
        }
    }
}

/// An angular velocity in the axes in which it was drawn.
enum Drawn {
    World(Vector3<f64>),
    Body(Vector3<f64>),
}

/// ⟨g⟩ without the weight of the flux: the rate at which one body sweeps σ is σ⟨g⟩. With a temperature √(8T/πμ).
#[must_use]
pub fn mean_speed(translation: Translation, reduced_mass: f64) -> f64 {
    match translation {
        Translation::Speed(speed) => speed,
        Translation::Temperature(temperature) => libm::sqrt(8.0 * temperature / (PI * reduced_mass)),
    }
}
