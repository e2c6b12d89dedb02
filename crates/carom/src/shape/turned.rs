//! Volume, centre of mass and moments of bodies of revolution, from their profile in the half-plane (ρ, z).
//!
//! ```text
//! V = π∮ρ² dz,   ∫z dV = π∮ρ²z dz,   ∫z² dV = π∮ρ²z² dz,   ∫x² dV = ¼π∮ρ⁴ dz
//! ```
//!
//! along lines and arcs, by Gauss and Legendre's rule: exact for lines, and for arcs, where the integrands are trigonometric
//! polynomials of degree five, to rounding.

use super::mass::gauss;

/// A part of a profile, upwards along the outside.
#[derive(Clone, Copy)]
pub(super) enum Part {
    /// From (ρ, z) to (ρ, z).
    Line([f64; 2], [f64; 2]),
    /// About (ρ, z), with a radius, from an angle above the plane across the axis to another.
    Arc([f64; 2], f64, [f64; 2]),
}

/// What the integrals come to.
pub(super) struct Turned {
    pub volume: f64,
    /// z of the centre of mass.
    pub centre: f64,
    /// ⟨x²⟩ = ⟨y²⟩.
    pub across: f64,
    /// ⟨(z − centre)²⟩.
    pub along: f64,
}

const POINTS: usize = 24;

pub(super) fn turned(parts: &[Part]) -> Turned {
    let mut sums = [0.0; 4];
    for part in parts {
        for k in 0..POINTS {
            let (x, weight) = gauss(k, POINTS);
            let t = 0.5 * (1.0 + x);
            let ([rho, z], rate) = match *part {
                Part::Line(from, to) => ([0, 1].map(|i| from[i] + (to[i] - from[i]) * t), to[1] - from[1]),
                Part::Arc(centre, radius, [from, to]) => {
                    let (sin, cos) = libm::sincos(from + (to - from) * t);
                    ([centre[0] + radius * cos, centre[1] + radius * sin], radius * cos * (to - from))
                }
            };
            let ring = 0.5 * weight * rate * rho * rho;
            for (sum, term) in sums.iter_mut().zip([ring, ring * z, ring * z * z, ring * rho * rho]) {
                *sum += term;
            }
        }
    }
    let centre = sums[1] / sums[0];
    Turned {
        volume: core::f64::consts::PI * sums[0],
        centre,
        across: 0.25 * sums[3] / sums[0],
        along: sums[2] / sums[0] - centre * centre,
    }
}
