//! The energies, momentum and angular momentum of a world's bodies at given states.

use nalgebra::Vector3;

use super::World;
use crate::body::State;

/// Energies and momenta of all movable bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Energies {
    /// Kinetic energy, of translation and rotation.
    pub kinetic: f64,
    /// Kinetic and gravitational energy.
    mechanical: f64,
    /// The potential of springs and other loads that have one.
    pub loads: f64,
    /// Momentum.
    pub momentum: Vector3<f64>,
    /// Angular momentum about the origin.
    pub angular_momentum: Vector3<f64>,
    /// The sum of the bodies' |momentum|, and of the terms of their angular momenta: the scales of rounding.
    pub(crate) scales: [f64; 2],
}

impl Energies {
    /// Kinetic and potential energy.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.mechanical + self.loads
    }

    /// The potential of gravity and loads.
    #[must_use]
    pub fn potential(&self) -> f64 {
        self.total() - self.kinetic
    }
}

impl World {
    /// The energies and momenta of all bodies at given states.
    #[must_use]
    pub fn energies(&self, states: &[State]) -> Energies {
        let mut sum = Energies {
            kinetic: 0.0,
            mechanical: 0.0,
            loads: 0.0,
            momentum: Vector3::zeros(),
            angular_momentum: Vector3::zeros(),
            scales: [0.0; 2],
        };
        for (body, state) in self.bodies.iter().zip(states).filter(|(body, _)| !body.fixed) {
            let (linear, angular) = body.momentum(state, &Vector3::zeros());
            let kinetic = body.kinetic_energy(state);
            sum.mechanical += kinetic - body.mass * self.gravity.dot(&state.position);
            sum.kinetic += kinetic;
            sum.momentum += linear;
            sum.angular_momentum += angular;
            let spin = state.orientation.inverse_transform_vector(&state.angular_velocity);
            sum.scales[0] += linear.norm();
            sum.scales[1] += state.position.norm() * linear.norm() + spin.component_mul(&body.inertia).norm();
        }
        sum.loads = self.loads.iter().map(|load| load.potential(states)).sum();
        sum
    }
}
