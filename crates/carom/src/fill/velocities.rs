//! Velocities of a gas: Maxwell's distribution, scaled so that the temperature is exact, with zero total momentum.
//!
//! Active degrees of freedom ([`crate::fill::freedom`]) get k_B T each, the others none:
//!
//! ```text
//! Σ ½ m v² = (3/2) N T,     Σ ½ ω·Iω = (f/2) N T,     f = 0 (sphere), 2 (body of revolution) or 3
//! ```
//!
//! The bodies of one fill have no total momentum, except for a fill of one body. The other fills compensate its momentum by a common
//! velocity if their energy allows it.

use nalgebra::Vector3;

use super::freedom::active_spins;
use super::random::Random;
use crate::body::{Body, State};
use crate::contact::Surface;

/// The bodies of one fill: the constants that they share, their number and their temperature.
#[derive(Debug, Clone, Copy)]
pub struct Species {
    /// The constants.
    pub body: Body,
    /// The number of bodies.
    pub count: usize,
    /// k_B T.
    pub temperature: f64,
}

/// Draws a velocity and a spin for every body. The states are those of the fills, one after another; each fill has a stream of random
/// numbers.
pub fn draw(species: &[Species], surface: Surface, states: &mut [State], random: &mut [Random]) {
    let mut rest = &mut *states;
    for (one, random) in species.iter().zip(random.iter_mut()) {
        let (own, others) = rest.split_at_mut(one.count.min(rest.len()));
        rest = others;
        draw_one(one, surface, own, random);
    }
    cancel_momentum(species, states);
}

/// One fill by itself: exact energies, and no momentum if it has two bodies or more.
#[expect(clippy::cast_precision_loss, reason = "fewer bodies than 2^53")]
fn draw_one(species: &Species, surface: Surface, states: &mut [State], random: &mut Random) {
    let Species { body, temperature, .. } = *species;
    let active = active_spins(&body.shape, surface);
    let count = states.len() as f64;
    for state in states.iter_mut() {
        state.velocity = random.normal_vector();
        let spin = random.normal_vector();
        let spin =
            Vector3::from_fn(|i, _| if active[i] { spin[i] / libm::sqrt(body.inertia[i]) } else { 0.0 });
        state.angular_velocity = state.orientation * spin;
    }
    if states.len() > 1 {
        let mean = states.iter().map(|state| state.velocity).sum::<Vector3<f64>>() / count;
        states.iter_mut().for_each(|state| state.velocity -= mean);
    }
    let moving: f64 = states.iter().map(|state| state.velocity.norm_squared()).sum::<f64>() * body.mass;
    let turning: f64 = states
        .iter()
        .map(|state| {
            let spin = state.orientation.inverse_transform_vector(&state.angular_velocity);
            spin.component_mul(&body.inertia).dot(&spin)
        })
        .sum();
    let factor = |wanted: f64, found: f64| if found > 0.0 { libm::sqrt(wanted / found) } else { 0.0 };
    let spins = active.iter().filter(|active| **active).count() as f64;
    let (move_by, turn_by) =
        (factor(3.0 * count * temperature, moving), factor(spins * count * temperature, turning));
    for state in states.iter_mut() {
        state.velocity *= move_by;
        state.angular_velocity *= turn_by;
    }
}

/// Compensates the momentum of fills of one body by that of the other fills, at the same energy.
#[expect(clippy::cast_precision_loss, reason = "fewer bodies than 2^53")]
fn cancel_momentum(species: &[Species], states: &mut [State]) {
    let mut alone = Vector3::zeros();
    let mut mass = 0.0;
    let mut start = 0;
    for one in species {
        match one.count {
            1 => alone += states[start].velocity * one.body.mass,
            count => mass += one.body.mass * count as f64,
        }
        start += one.count;
    }
    if alone == Vector3::zeros() || mass == 0.0 {
        return;
    }
    let drift: Vector3<f64> = -alone / mass;
    let several = || species.iter().filter(|one| one.count > 1);
    // The mean energy 3T/2 of a body, less that of the drift, over 3T/2.
    let left = |one: &Species| 1.0 - one.body.mass * drift.norm_squared() / (3.0 * one.temperature);
    if several().any(|one| one.temperature <= 0.0 || left(one) <= 0.0) {
        return;
    }
    let mut start = 0;
    for one in species {
        if one.count > 1 {
            let factor = libm::sqrt(left(one));
            for state in &mut states[start..start + one.count] {
                state.velocity = state.velocity * factor + drift;
            }
        }
        start += one.count;
    }
}
