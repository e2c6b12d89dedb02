//! The degrees of freedom among which a gas shares its energy.
//!
//! A degree of freedom is active if impacts can change it. Smooth bodies exert forces along their normals only, so the spin of a sphere
//! never changes, nor that of a body of revolution about its axis. Rough surfaces and friction change every spin.

use crate::contact::Surface;
use crate::shape::Shape;

/// Which components of the spin, in body axes, impacts can change.
#[must_use]
pub fn active_spins(shape: &Shape, surface: Surface) -> [bool; 3] {
    if surface != Surface::Smooth {
        return [*shape != Shape::Point; 3];
    }
    match axis_kind(shape) {
        AxisKind::Sphere => [false; 3],
        AxisKind::Revolution(axis) => [0, 1, 2].map(|i| i != axis),
        AxisKind::General => [true; 3],
    }
}

/// A symmetry of rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisKind {
    /// All directions are equivalent.
    Sphere,
    /// A body of revolution about this axis.
    Revolution(usize),
    /// Any other.
    General,
}

/// The symmetry of a shape about its axes.
#[must_use]
pub fn axis_kind(shape: &Shape) -> AxisKind {
    let [a, b, c] = match *shape {
        Shape::Point | Shape::Sphere { .. } => return AxisKind::Sphere,
        Shape::Superellipsoid { exponent, .. } if exponent > 2.0 => return AxisKind::General,
        Shape::Box { .. } | Shape::Polyhedron(_) => return AxisKind::General,
        Shape::Cylinder { .. } | Shape::Capsule { .. } | Shape::Cone(_) | Shape::Disc { .. } => {
            return AxisKind::Revolution(2);
        }
        Shape::Ellipsoid { semi_axes } | Shape::Superellipsoid { semi_axes, .. } => semi_axes,
    };
    match (a == b, b == c, c == a) {
        (true, true, _) => AxisKind::Sphere,
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
