//! Kinetic theory of hard spheres, to estimate times and to compare with.
//!
//! With packing fraction φ, diameter σ, number density n, mass m and temperature T (k_B T):
//!
//! ```text
//! Z(φ) = (1 + φ + φ² − φ³)/(1 − φ)³            Carnahan and Starling 1969
//! g(σ) = (Z − 1)/(4φ) = (1 − φ/2)/(1 − φ)³     the contact value that goes with it
//! Γ = 4 σ² n g(σ) √(πT/m)                       collisions of one sphere per time (Enskog)
//! ```
//!
//! For other bodies Γ is an estimate by spheres of the same volume, good to a factor of two or so.

use crate::body::Body;

/// Carnahan and Starling's Z = PV/NkT of hard spheres.
#[must_use]
pub fn carnahan_starling(packing: f64) -> f64 {
    let free = 1.0 - packing;
    (1.0 + packing + packing * packing - packing * packing * packing) / (free * free * free)
}

/// The contact value of g(r) that goes with [`carnahan_starling`].
#[must_use]
pub fn contact_value(packing: f64) -> f64 {
    let free = 1.0 - packing;
    (1.0 - 0.5 * packing) / (free * free * free)
}

/// Enskog's rate of collisions of one sphere, from the contact value.
#[must_use]
pub fn enskog_rate(diameter: f64, density: f64, contact: f64, temperature: f64, mass: f64) -> f64 {
    let thermal = (core::f64::consts::PI * temperature / mass).sqrt();
    4.0 * diameter * diameter * density * contact * thermal
}

/// The diameter of the sphere with a volume.
#[must_use]
pub fn sphere_diameter(volume: f64) -> f64 {
    libm::cbrt(6.0 * volume / core::f64::consts::PI)
}

/// An estimate of how often a body collides in a volume at a temperature, by spheres of the bodies' mean volume and mass; at least as often
/// as a body crosses the volume.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "fewer bodies than 2^53")]
pub fn estimated_rate(bodies: &[Body], volume: f64, temperature: f64) -> f64 {
    let free = || bodies.iter().filter(|body| !body.fixed);
    let count = free().count().max(1) as f64;
    let filled: f64 = free().map(|body| body.shape.volume()).sum();
    let mass = free().map(|body| body.mass).sum::<f64>() / count;
    let packing = (filled / volume).clamp(0.0, 0.7);
    let diameter = sphere_diameter(filled / count);
    let rate = enskog_rate(diameter, count / volume, contact_value(packing), temperature, mass);
    let crossing = (temperature / mass).sqrt() / libm::cbrt(volume);
    rate.max(crossing)
}
