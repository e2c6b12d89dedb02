//! Velocities of a gas: Maxwell's distribution, scaled so that the temperature is exact, with no momentum in all.
//!
//! Active degrees of freedom ([`crate::fill::freedom`]) get k_B T each, the others none:
//!
//! ```text
//! Σ ½ m v² = (3/2) N T,     Σ ½ ω·Iω = (f/2) N T,     f = 0 (ball), 2 (body of revolution) or 3
//! ```
//!
//! Bodies of one fill have no momentum in all. A fill of one body can't be so; what it has is taken by the other fills, as a
//! common velocity, where their energy allows it.

use nalgebra::Vector3;

use super::freedom::active_spins;
use super::random::Random;
use crate::body::{Body, State};
use crate::contact::Surface;

/// The bodies of one fill: their constants, which are the same for all, and what they are to have.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// The constants.
    pub body: Body,
    /// How many.
    pub count: usize,
    /// k_B T.
    pub temperature: f64,
}

/// Gives every body a velocity and a spin. The states are those of the fills, one after the other, with a stream of
/// random numbers for each fill.
pub fn draw(kinds: &[Kind], surface: Surface, states: &mut [State], random: &mut [Random]) {
    let mut rest = &mut *states;
    for (kind, random) in kinds.iter().zip(random.iter_mut()) {
        let (own, others) = rest.split_at_mut(kind.count.min(rest.len()));
        rest = others;
        draw_one(kind, surface, own, random);
    }
    cancel_momentum(kinds, states);
}

/// One fill by itself: no momentum where it has two bodies or more, and the energies exact.
#[expect(clippy::cast_precision_loss, reason = "fewer bodies than 2^53")]
fn draw_one(kind: &Kind, surface: Surface, states: &mut [State], random: &mut Random) {
    let Kind { body, temperature, .. } = *kind;
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

/// Lets the fills of several bodies take the momentum of those of one, at the same energy.
#[expect(clippy::cast_precision_loss, reason = "fewer bodies than 2^53")]
fn cancel_momentum(kinds: &[Kind], states: &mut [State]) {
    let mut alone = Vector3::zeros();
    let mut mass = 0.0;
    let mut start = 0;
    for kind in kinds {
        match kind.count {
            1 => alone += states[start].velocity * kind.body.mass,
            count => mass += kind.body.mass * count as f64,
        }
        start += kind.count;
    }
    if alone == Vector3::zeros() || mass == 0.0 {
        return;
    }
    let drift: Vector3<f64> = -alone / mass;
    let several = || kinds.iter().filter(|kind| kind.count > 1);
    // What a body has on average, 3T/2, less what the drift takes of it.
    let left = |kind: &Kind| 1.0 - kind.body.mass * drift.norm_squared() / (3.0 * kind.temperature);
    if several().any(|kind| kind.temperature <= 0.0 || left(kind) <= 0.0) {
        return;
    }
    let mut start = 0;
    for kind in kinds {
        if kind.count > 1 {
            let factor = libm::sqrt(left(kind));
            for state in &mut states[start..start + kind.count] {
                state.velocity = state.velocity * factor + drift;
            }
        }
        start += kind.count;
    }
}
