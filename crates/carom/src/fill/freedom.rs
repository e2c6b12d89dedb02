//! Degrees of freedom that a gas shares its energy among.
//!
//! A degree of freedom is active when impacts can change it. Smooth bodies push along their normals only: a ball then never
//! turns, and a body of revolution keeps its spin about its axis. Rough surfaces and friction change every spin.

use crate::contact::Surface;
use crate::shape::Shape;

/// Which spins, about the body's own axes, impacts can change.
#[must_use]
pub fn active_spins(shape: &Shape, surface: Surface) -> [bool; 3] {
    if surface != Surface::Smooth {
        return [*shape != Shape::Point; 3];
    }
    match axis_kind(shape) {
        AxisKind::Ball => [false; 3],
        AxisKind::Revolution(axis) => [0, 1, 2].map(|i| i != axis),
        AxisKind::General => [true; 3],
    }
}

/// The symmetry of a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisKind {
    /// All directions are alike.
    Ball,
    /// A body of revolution about this axis.
    Revolution(usize),
    /// Neither.
    General,
}

/// What symmetry a shape has.
#[must_use]
pub fn axis_kind(shape: &Shape) -> AxisKind {
    let [a, b, c] = match *shape {
        Shape::Point | Shape::Sphere { .. } => return AxisKind::Ball,
        Shape::Superellipsoid { exponent, .. } if exponent > 2.0 => return AxisKind::General,
        Shape::Ellipsoid { semi_axes } | Shape::Superellipsoid { semi_axes, .. } => semi_axes,
    };
    match (a == b, b == c, c == a) {
        (true, true, _) => AxisKind::Ball,
        (true, ..) => AxisKind::Revolution(2),
        (_, true, _) => AxisKind::Revolution(0),
        (.., true) => AxisKind::Revolution(1),
        _ => AxisKind::General,
    }
}

/// How many spins of a body are active.
#[must_use]
pub fn active_count(shape: &Shape, surface: Surface) -> usize {
    active_spins(shape, surface).iter().filter(|active| **active).count()
}
