//! Two free bodies, one smooth contact: the closed form (Palffy-Muhoray, Virga, Wilkinson and Zheng, eqs. 7–10).
//!
//! ```text
//! α = −(1+k) v / (n·M·n),   v = n·(v_Q − v_P),   impulse −α n on the first body, +α n on the second
//! n·M·n = 1/m₁ + 1/m₂ + (p×n)·I₁⁻¹(p×n) + (q×n)·I₂⁻¹(q×n)
//! ```
//!
//! with p, q from the centres of mass to the contact and n from the first body to the second. Newton's, Poisson's
//! and Stronge's laws agree here (T6). Plain arithmetic on the stack: this is the innermost call of a simulation.
//! An immovable body has inverse mass and inverse inertia zero; two of them exchange no impulse.
#![deny(clippy::disallowed_methods, clippy::std_instead_of_core, clippy::std_instead_of_alloc)]

use nalgebra::{Matrix3, Vector3};

/// A free body at the instant of impact, in the world frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FreeBody {
    /// 1/m.
    pub inverse_mass: f64,
    /// I⁻¹ about the centre of mass.
    pub inverse_inertia: Matrix3<f64>,
    /// Velocity of the centre of mass.
    pub velocity: Vector3<f64>,
    /// Angular velocity.
    pub angular_velocity: Vector3<f64>,
    /// From the centre of mass to the contact point.
    pub arm: Vector3<f64>,
}

/// What the impact of two bodies did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Strike {
    /// α ≥ 0.
    pub impulse: f64,
    /// n·(v_Q − v_P) before; negative: closing.
    pub approach: f64,
    /// The same after.
    pub separation: f64,
    /// n·M·n.
    pub effective_inverse_mass: f64,
    /// The change of kinetic energy, ½ α (v⁻ + v⁺).
    pub energy_change: f64,
    /// Velocities of the two centres of mass after.
    pub velocity: [Vector3<f64>; 2],
    /// Angular velocities after.
    pub angular_velocity: [Vector3<f64>; 2],
}

/// Resolves the impact of two bodies at one smooth contact. A contact that is not closing gets no impulse.
#[must_use]
#[inline]
pub fn strike(first: &FreeBody, second: &FreeBody, normal: &Vector3<f64>, restitution: f64) -> Strike {
    strike_growing(first, second, normal, restitution, 0.0)
}

/// As above, for bodies that grow, which closes the gap between them at the rate `growing` by itself: v counts as v − growing.
#[must_use]
#[inline]
pub fn strike_growing(
    first: &FreeBody,
    second: &FreeBody,
    normal: &Vector3<f64>,
    restitution: f64,
    growing: f64,
) -> Strike {
    let turn = [first.arm.cross(normal), second.arm.cross(normal)];
    let spin = [first.inverse_inertia * turn[0], second.inverse_inertia * turn[1]];
    let effective_inverse_mass =
        first.inverse_mass + second.inverse_mass + turn[0].dot(&spin[0]) + turn[1].dot(&spin[1]);
    // n·(ω×p) = ω·(p×n).
    let approach = normal.dot(&(second.velocity - first.velocity)) + second.angular_velocity.dot(&turn[1])
        - first.angular_velocity.dot(&turn[0])
        - growing;
    let impulse = if approach < 0.0 && effective_inverse_mass > 0.0 {
        -(1.0 + restitution) * approach / effective_inverse_mass
    } else {
        0.0
    };
    let separation = approach + impulse * effective_inverse_mass;
    Strike {
        impulse,
        approach,
        separation,
        effective_inverse_mass,
        energy_change: 0.5 * impulse * (approach + separation + 2.0 * growing),
        velocity: [
            first.velocity - normal * (impulse * first.inverse_mass),
            second.velocity + normal * (impulse * second.inverse_mass),
        ],
        angular_velocity: [
            first.angular_velocity - spin[0] * impulse,
            second.angular_velocity + spin[1] * impulse,
        ],
    }
}
