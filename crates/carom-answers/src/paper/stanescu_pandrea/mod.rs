//! \[SP\]: an ellipsoid against one, two and three planes.
//!
//! The paper prints no velocities: those of the scenes, and the impulses and energies that follow, are this project's.

mod collisions;
mod kinematics;
mod touching;

use carom::shape::Shape;
use nalgebra::{Matrix3, Vector3};

use super::scenes::Case;
use super::{Paper, Row};
use crate::InputError;

pub const PAPER: Paper = Paper {
    name: "stanescu-pandrea",
    citation: "N.-D. Stănescu, N. Pandrea, Simple and multi-collision of an ellipsoid with planar surfaces. \
               Part I: Theory, 2017",
    version: "Analele Universității Eftimie Murgu Reșița, year XXIV, no. 1, 2017",
    rows,
};

fn rows() -> Result<Vec<Row>, InputError> {
    let mut rows = touching::horizontal_plane()?;
    rows.extend(collisions::horizontal_plane()?);
    rows.extend(touching::oblique_plane()?);
    rows.extend(kinematics::rows()?);
    rows.extend(touching::section_6()?);
    rows.extend(collisions::two_planes()?);
    rows.extend(touching::aligned()?);
    rows.extend(collisions::aligned()?);
    rows.extend(collisions::one_leaving()?);
    rows.extend(collisions::two_oblique_planes()?);
    rows.extend(collisions::corner()?);
    Ok(rows)
}

/// A of the scene's body.
fn turn(case: &Case) -> Matrix3<f64> {
    *case.prepared.instant.bodies[0].1.orientation.to_rotation_matrix().matrix()
}

/// a, b, c.
fn semi_axes(case: &Case) -> Vector3<f64> {
    match case.prepared.instant.bodies[0].0.shape {
        Shape::Ellipsoid { semi_axes } => Vector3::from(semi_axes),
        _ => Vector3::zeros(),
    }
}
