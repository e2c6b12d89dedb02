//! The cone about z, from a disc of radius R up to a tip at the height H above it, grown by a ball of radius r.
//!
//! Bodies are given about their centre of mass: without rounding a quarter of the height above the disc.

use core::f64::consts::FRAC_PI_2;

use nalgebra::Vector3;

use super::Sharp;
use super::turned::{Part, Turned, turned};

/// A cone about its centre of mass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cone {
    radius: f64,
    height: f64,
    rounding: f64,
    /// z of the disc.
    base: f64,
}

impl Cone {
    /// From the radius of its disc, its height, and the radius of the ball it is grown by, zero for none.
    #[must_use]
    pub fn new(radius: f64, height: f64, rounding: f64) -> Self {
        let base = if rounding == 0.0 {
            -0.25 * height
        } else {
            let (Turned { centre, .. }, size) = properties(radius, height, rounding);
            -centre * size
        };
        Self { radius, height, rounding, base }
    }

    /// The radius of its disc.
    #[must_use]
    pub const fn radius(&self) -> f64 {
        self.radius
    }

    /// From the disc to the tip, without rounding.
    #[must_use]
    pub const fn height(&self) -> f64 {
        self.height
    }

    /// The radius of the ball it is grown by.
    #[must_use]
    pub const fn rounding(&self) -> f64 {
        self.rounding
    }

    /// How far the disc is below the centre of mass, as a negative number.
    #[must_use]
    pub const fn base(&self) -> f64 {
        self.base
    }

    pub(super) fn sharp(&self) -> Sharp {
        Sharp::Cone { radius: self.radius, base: self.base, tip: self.base + self.height }
    }

    pub(super) fn scaled(&self, factor: f64) -> Self {
        Self {
            radius: self.radius * factor,
            height: self.height * factor,
            rounding: self.rounding * factor,
            base: self.base * factor,
        }
    }
}

/// Above the disc, in units of the size.
fn properties(radius: f64, height: f64, rounding: f64) -> (Turned, f64) {
    let size = radius.max(height) + rounding;
    let [radius, height, rounding] = [radius, height, rounding].map(|x| x / size);
    let steep = libm::atan2(radius, height);
    let (sin, cos) = libm::sincos(steep);
    let parts = [
        Part::Arc([radius, 0.0], rounding, [-FRAC_PI_2, steep]),
        Part::Line([radius + rounding * cos, rounding * sin], [rounding * cos, height + rounding * sin]),
        Part::Arc([0.0, height], rounding, [steep, FRAC_PI_2]),
    ];
    (turned(&parts), size)
}

pub(super) fn volume(radius: f64, height: f64, rounding: f64) -> f64 {
    let (Turned { volume, .. }, size) = properties(radius, height, rounding);
    volume * size * size * size
}

/// I₁ = I₂ = ⟨x²⟩ + ⟨z²⟩, I₃ = 2⟨x²⟩: 3R²/20 + 3H²/80 and 3R²/10 without rounding.
pub(super) fn unit_inertia(radius: f64, height: f64, rounding: f64) -> Vector3<f64> {
    let (Turned { across, along, .. }, size) = properties(radius, height, rounding);
    Vector3::new(across + along, across + along, 2.0 * across) * size * size
}
