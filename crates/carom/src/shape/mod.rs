//! Shapes: one file each, with support, mass properties and sizes.
//!
//! Placeholder signatures; the mathematics follows.

use nalgebra::{Unit, Vector3};

/// A body's shape, in its own principal axes about its centre of mass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// No extent: only explicit contacts and joints touch it.
    Point,
    /// A ball.
    Sphere {
        /// Its radius.
        radius: f64,
    },
    /// Σ (x_i/a_i)² ≤ 1.
    Ellipsoid {
        /// a, b, c.
        semi_axes: [f64; 3],
    },
    /// Σ |x_i/a_i|^p ≤ 1, p ≥ 2.
    Superellipsoid {
        /// a, b, c.
        semi_axes: [f64; 3],
        /// p.
        exponent: f64,
    },
}

/// An immovable half-space, free where normal · x > offset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HalfSpace {
    /// The outward unit normal.
    pub normal: Unit<Vector3<f64>>,
    /// normal · x on the surface.
    pub offset: f64,
}
