//! Bilateral constraints as rows on the bodies' velocities.
//!
//! A body's six coordinates are (velocity of the centre of mass, angular velocity), world frame. A joint of two
//! bodies constrains the motion of the first relative to the second, one of a single body relative to the ground.
//! Its impulse, row by row, acts on the first body; its resultant there is Σ λ_i (force part, moment part).

use nalgebra::{Unit, Vector3};

use crate::shape::HalfSpace;

/// What a joint forbids.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Turning about one axis only: five rows.
    Hinge {
        /// A point on the axis.
        point: Vector3<f64>,
        /// The axis.
        axis: Unit<Vector3<f64>>,
    },
    /// Turning about one point only: three rows.
    Ball {
        /// The point.
        point: Vector3<f64>,
    },
    /// Sliding along one axis only: five rows.
    Slider {
        /// The axis.
        axis: Unit<Vector3<f64>>,
    },
    /// No relative motion: six rows.
    Weld,
    /// Touching a plane and not slipping on it: three rows. The body's contact point is where it is nearest.
    Rolling {
        /// The number of the plane among the scene's.
        plane: usize,
        /// The plane.
        half_space: HalfSpace,
    },
    /// No velocity along a body-fixed direction at a point: one row, nonholonomic.
    KnifeEdge {
        /// The point.
        point: Vector3<f64>,
        /// The direction.
        normal: Unit<Vector3<f64>>,
    },
    /// Any rows, six numbers per body: linear, then angular.
    Rows(Vec<Vec<f64>>),
}

/// A joint of one body to the ground, or of two.
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    /// Its name.
    pub name: String,
    /// The numbers of its one or two bodies.
    pub bodies: Vec<usize>,
    /// What it forbids.
    pub kind: Kind,
}
