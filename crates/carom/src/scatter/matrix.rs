//! The matrix of one impact, S = I − (1+k) P: from the twelve velocities before to those after.
//!
//! P = G⁻¹Bᵀ(B G⁻¹ Bᵀ)⁻¹B projects on the complement of what the contact leaves free (T1): B is the row of the normal for a smooth contact, and has the
//! rows of two tangents besides for a rough one. An impact with friction is not linear and has no such matrix.

use nalgebra::{Matrix3, SMatrix, SVector, Unit, Vector3};

use super::Scattering;
use super::setup::inverse_mass;
use super::smooth::inverse_inertia;
use crate::body::{Body, State};
use crate::contact::Surface;
use crate::joint::across;

/// S for (v₁, ω₁, v₂, ω₂) in world axes; none for friction.
#[must_use]
pub fn scattering_matrix(
    bodies: [&Body; 2],
    states: &[State; 2],
    point: &Vector3<f64>,
    normal: &Vector3<f64>,
    restitution: f64,
    surface: Surface,
) -> Option<SMatrix<f64, 12, 12>> {
    let normal = Unit::new_normalize(*normal);
    let [t1, t2] = across(&normal);
    let directions = match surface {
        Surface::Smooth => &[*normal][..],
        Surface::Rough => &[*normal, t1, t2][..],
        Surface::Coulomb(_) => return None,
    };
    // Rows of B, and columns of G⁻¹Bᵀ.
    let mut rows = [SVector::<f64, 12>::zeros(); 3];
    let mut columns = rows;
    for (k, direction) in directions.iter().enumerate() {
        for (i, sign) in [-1.0, 1.0].into_iter().enumerate() {
            let turn = (point - states[i].position).cross(direction) * sign;
            let move_by = direction * sign;
            rows[k].fixed_rows_mut::<3>(6 * i).copy_from(&move_by);
            rows[k].fixed_rows_mut::<3>(6 * i + 3).copy_from(&turn);
            columns[k].fixed_rows_mut::<3>(6 * i).copy_from(&(move_by * inverse_mass(bodies[i])));
            columns[k]
                .fixed_rows_mut::<3>(6 * i + 3)
                .copy_from(&(inverse_inertia(bodies[i], &states[i]) * turn));
        }
    }
    let count = directions.len();
    let w = Matrix3::from_fn(|i, j| match (i < count, j < count) {
        (true, true) => rows[i].dot(&columns[j]),
        _ => f64::from(u8::from(i == j)),
    });
    let inverse = w.try_inverse()?;
    let mut projector = SMatrix::<f64, 12, 12>::zeros();
    for i in 0..count {
        for j in 0..count {
            projector += columns[i] * rows[j].transpose() * inverse[(i, j)];
        }
    }
    Some(SMatrix::identity() - projector * (1.0 + restitution))
}

impl Scattering {
    /// S of an impact of these bodies; none for friction.
    #[must_use]
    pub fn matrix_of(&self, impact: &super::Impact) -> Option<SMatrix<f64, 12, 12>> {
        let (before, point, normal) = (&impact.before, &impact.point, &impact.normal);
        // A rough contact that would have to pull has no grip: its impact is a smooth one.
        let along = normal * normal.dot(&impact.impulse);
        let slips = (impact.impulse - along).norm() <= 1e-12 * along.norm();
        let surface =
            if self.setup.surface == Surface::Rough && slips { Surface::Smooth } else { self.setup.surface };
        scattering_matrix(self.bodies(), before, point, normal, self.setup.restitution, surface)
    }
}
