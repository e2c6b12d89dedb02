//! Bilateral constraints as rows on the bodies' velocities.
//!
//! A body's six coordinates are (velocity of the centre of mass, angular velocity), world frame. A joint of two
//! bodies constrains the motion of the first relative to the second, one of a single body relative to the ground.
//! Its impulse, row by row, acts on the first body; its resultant there is Σ λ_i (force part, moment part).

use nalgebra::{Unit, Vector3};

use crate::body::{Body, State};
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

/// One constraint row of a joint: a linear form on the velocities of its bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// Coefficients of the first body's velocity and angular velocity.
    pub first: [Vector3<f64>; 2],
    /// As above, for the second body; zero if there is none.
    pub second: [Vector3<f64>; 2],
}

impl Row {
    /// Relative velocity along a direction at a point.
    fn along(direction: Vector3<f64>, point: &Vector3<f64>, centres: &[Vector3<f64>]) -> Self {
        let part = |centre: &Vector3<f64>| [direction, (point - centre).cross(&direction)];
        let second = centres.get(1).map_or([Vector3::zeros(); 2], |c| part(c).map(|x| -x));
        Self { first: part(&centres[0]), second }
    }

    /// Relative angular velocity about a direction.
    fn about(direction: Vector3<f64>, centres: &[Vector3<f64>]) -> Self {
        let second = if centres.len() > 1 { -direction } else { Vector3::zeros() };
        Self { first: [Vector3::zeros(), direction], second: [Vector3::zeros(), second] }
    }
}

impl Joint {
    /// The joint's rows in the present pose, `bodies` being all bodies of the scene.
    #[must_use]
    pub fn rows(&self, bodies: &[(Body, State)]) -> Vec<Row> {
        let centres: Vec<Vector3<f64>> = self.bodies.iter().map(|&b| bodies[b].1.position).collect();
        let at = |point: &Vector3<f64>, axes: &[Vector3<f64>]| -> Vec<Row> {
            axes.iter().map(|&axis| Row::along(axis, point, &centres)).collect()
        };
        let turns = |axes: &[Vector3<f64>]| -> Vec<Row> {
            axes.iter().map(|&axis| Row::about(axis, &centres)).collect()
        };
        let world = [Vector3::x(), Vector3::y(), Vector3::z()];
        match &self.kind {
            Kind::Hinge { point, axis } => [at(point, &world), turns(&across(axis))].concat(),
            Kind::Ball { point } => at(point, &world),
            Kind::Slider { axis } => [at(&centres[0], &across(axis)), turns(&world)].concat(),
            Kind::Weld => [at(&centres[0], &world), turns(&world)].concat(),
            Kind::Rolling { half_space, .. } => {
                let [t1, t2] = across(&half_space.normal);
                at(&self.rolling_point(bodies, half_space), &[t1, t2, half_space.normal.into_inner()])
            }
            Kind::KnifeEdge { point, normal } => at(point, &[normal.into_inner()]),
            Kind::Rows(rows) => rows
                .iter()
                .map(|row| {
                    let part = |from: usize| {
                        let at = |i: usize| row.get(from + i).copied().unwrap_or(0.0);
                        [Vector3::new(at(0), at(1), at(2)), Vector3::new(at(3), at(4), at(5))]
                    };
                    Row { first: part(0), second: part(6) }
                })
                .collect(),
        }
    }

    /// The point at which the joint's resultant is given: its own point, the contact point of a rolling body, or
    /// the first body's centre of mass.
    #[must_use]
    pub fn point(&self, bodies: &[(Body, State)]) -> Vector3<f64> {
        match &self.kind {
            Kind::Hinge { point, .. } | Kind::Ball { point } | Kind::KnifeEdge { point, .. } => *point,
            Kind::Rolling { half_space, .. } => self.rolling_point(bodies, half_space),
            Kind::Slider { .. } | Kind::Weld | Kind::Rows(_) => bodies[self.bodies[0]].1.position,
        }
    }

    /// Where a rolling body is nearest to its plane.
    fn rolling_point(&self, bodies: &[(Body, State)], half_space: &HalfSpace) -> Vector3<f64> {
        let (body, state) = &bodies[self.bodies[0]];
        let down = state.orientation.inverse_transform_vector(&-half_space.normal.into_inner());
        state.position + state.orientation.transform_vector(&body.shape.support(&down))
    }
}

/// Two unit vectors that make a right-handed frame (t₁, t₂, n) with a unit normal.
#[must_use]
pub fn across(normal: &Unit<Vector3<f64>>) -> [Vector3<f64>; 2] {
    // The world axis least along the normal, so that the cross product is never small.
    let axis = match normal.iamin() {
        0 => Vector3::x(),
        1 => Vector3::y(),
        _ => Vector3::z(),
    };
    let first = axis.cross(normal).normalize();
    [first, normal.cross(&first)]
}
