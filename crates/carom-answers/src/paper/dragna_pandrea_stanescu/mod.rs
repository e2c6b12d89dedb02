//! \[DPS\]: two bodies on hinges that touch at three points.
//!
//! Letters: a₁ to a₅ lengths of the frames, n_i = (α_i, β_i, γ_i) the directions of the impulses, C the centres, O the
//! hinges, A the contact points; the paper's v₁₂ₙ is −y. The example is symbolic but for its singular case: the lengths,
//! masses and velocities of the scenes are this project's.

mod example;
mod screws;
mod solutions;

use carom::joint::Kind;
use nalgebra::{DMatrix, DVector, SMatrix, SVector, Vector3};

use super::scenes::Case;
use super::{Paper, Row};
use crate::InputError;

pub const PAPER: Paper = Paper {
    name: "dragna-pandrea-stanescu",
    citation: "I.-B. Dragna, N. Pandrea, N.-D. Stănescu, Three points frictionless simultaneous collision of rigid solid",
    version: "the undated text of the National University of Science and Technology Politehnica Bucharest, which cites work of 2021",
    rows,
};

fn rows() -> Result<Vec<Row>, InputError> {
    let mut rows = screws::rows()?;
    rows.extend(example::rows()?);
    rows.extend(solutions::hinged()?);
    rows.extend(solutions::singular()?);
    rows.extend(solutions::cylindrical()?);
    rows.extend(solutions::spherical()?);
    Ok(rows)
}

/// The frames of a scene: places, lengths and the paper's matrices. A twist is (ω, v), a wrench (force, moment), both
/// at the body's centre.
struct Frames {
    centres: [Vector3<f64>; 2],
    hinges: [Vector3<f64>; 2],
    points: [Vector3<f64>; 3],
    normals: [Vector3<f64>; 3],
    masses: [f64; 2],
    inertias: [Vector3<f64>; 2],
    /// ω₁₀, ω₂₀: about −z.
    turning: [f64; 2],
}

/// A body's S of a hinge about z.
type Restriction = SMatrix<f64, 6, 5>;

impl Frames {
    fn of(case: &Case) -> Self {
        let instant = &case.prepared.instant;
        let hinge = |k: usize| match &instant.joints[k].kind {
            Kind::Hinge { point, .. } | Kind::Ball { point } => *point,
            _ => Vector3::zeros(),
        };
        let body = |k: usize| &instant.bodies[k];
        Self {
            centres: [0, 1].map(|k| body(k).1.position),
            hinges: [hinge(0), hinge(1)],
            points: [0, 1, 2].map(|i| instant.contacts[i].point),
            normals: [0, 1, 2].map(|i| instant.contacts[i].normal.into_inner()),
            masses: [0, 1].map(|k| body(k).0.mass),
            inertias: [0, 1].map(|k| body(k).0.inertia),
            turning: [0, 1].map(|k| -body(k).1.angular_velocity.z),
        }
    }

    /// a₁ to a₅.
    fn lengths(&self) -> [f64; 5] {
        let [_, c2] = &self.centres;
        [-self.hinges[0].y, self.points[0].z, -self.points[2].z, c2.y, self.hinges[1].y - c2.y]
    }

    /// C_kA_i × n_i.
    fn moment(&self, k: usize, i: usize) -> Vector3<f64> {
        (self.points[i] - self.centres[k]).cross(&self.normals[i])
    }

    /// U_k of (29), the moments from the places.
    fn lines(&self, k: usize) -> SMatrix<f64, 6, 3> {
        SMatrix::from_fn(|row, i| if row < 3 { self.normals[i][row] } else { self.moment(k, i)[row - 3] })
    }

    /// Q_k of (21), (22): the twist that the hinge leaves.
    fn freedom(&self, k: usize) -> SVector<f64, 6> {
        let [a1, .., a5] = self.lengths();
        SVector::from([0.0, 0.0, 1.0, if k == 0 { -a1 } else { a5 }, 0.0, 0.0])
    }

    /// S_k of (21), (22).
    fn restriction(&self, k: usize) -> Restriction {
        let [a1, .., a5] = self.lengths();
        let a = if k == 0 { a1 } else { -a5 };
        let mut s = Restriction::zeros();
        for (row, column, value) in
            [(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (3, 2, -a), (3, 3, 1.0), (4, 4, 1.0), (5, 0, a)]
        {
            s[(row, column)] = value;
        }
        s
    }

    /// M_k of (32): twists to momenta.
    fn mass(&self, k: usize) -> SMatrix<f64, 6, 6> {
        let mut m = SMatrix::zeros();
        for i in 0..3 {
            m[(i, i + 3)] = self.masses[k];
            m[(i + 3, i)] = self.inertias[k][i];
        }
        m
    }

    /// M_kred of (12).
    fn reduced(&self, k: usize) -> f64 {
        let q = self.freedom(k);
        (q.transpose() * eta() * self.mass(k) * q)[(0, 0)]
    }

    /// Q_k M_kred⁻¹ Q_kᵀ η U_k: twists per unit impulse.
    fn mobility(&self, k: usize) -> SMatrix<f64, 6, 3> {
        let q = self.freedom(k);
        q * (q.transpose() * eta() * self.lines(k)) / self.reduced(k)
    }

    /// G_k of (6).
    fn inertances(&self, k: usize) -> SMatrix<f64, 3, 3> {
        self.lines(k).transpose() * eta() * self.mobility(k)
    }
}

/// η of (1).
fn eta() -> SMatrix<f64, 6, 6> {
    SMatrix::from_fn(|i, j| if (i + 3) % 6 == j { 1.0 } else { 0.0 })
}

/// The library's G_k: the contact rows of one body with what its joint leaves it.
fn computed_inertances(case: &Case, k: usize) -> Result<DMatrix<f64>, InputError> {
    let inverse = case.constrained_inverse()?;
    let rows = case.prepared.assembly.problem.contacts.columns(6 * k, 6).into_owned();
    Ok(&rows * inverse.view((6 * k, 6 * k), (6, 6)) * rows.transpose())
}

fn upper(m: &DMatrix<f64>) -> Vec<f64> {
    [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)].map(|(i, j)| m[(i, j)]).to_vec()
}

fn fixed_upper(m: &SMatrix<f64, 3, 3>) -> Vec<f64> {
    [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)].map(|(i, j)| m[(i, j)]).to_vec()
}

fn vector(values: &[f64]) -> DVector<f64> {
    DVector::from_column_slice(values)
}
