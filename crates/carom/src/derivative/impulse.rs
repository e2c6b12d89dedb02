//! The impulse of one contact, with its derivatives.
//!
//! In axes (n, t₁, t₂) at the contact let W be the inverse mass, W P the change of the relative velocity y. With one contact of
//! free bodies every law makes the same impulse (T6), and which of these it is depends on the surface:
//!
//! ```text
//! smooth   P = (−(1+e) y_n/W_nn, 0, 0)
//! rough    P = −(1+e) W⁻¹ y
//! Coulomb  the passage of Darboux and Keller: `passage`
//! ```
//!
//! The derivative holds for as long as the contact goes through the same phases. Where neighbours go through others it has none,
//! and [`super::undefined`] says why.

use nalgebra::{Matrix3, SMatrix, Vector3};

use super::passage;
use super::undefined::Cause;
use crate::contact::Surface;
use crate::impact::coulomb::Termination;

/// The inputs of an impulse: W_nn, W_nt₁, W_nt₂, W_t₁t₁, W_t₁t₂, W_t₂t₂, y, e, μ.
pub(super) const INPUTS: usize = 11;

/// Where each entry of W stands among the inputs.
pub(super) const ENTRIES: [[usize; 3]; 3] = [[0, 1, 2], [1, 3, 4], [2, 4, 5]];

/// An impulse and its derivatives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Impulse {
    /// P.
    pub value: Vector3<f64>,
    /// ∂P by the inputs.
    pub slope: SMatrix<f64, 3, INPUTS>,
}

/// The impulse of a contact with inverse mass W and relative velocity y.
pub(super) fn impulse(
    w: &Matrix3<f64>,
    y: &Vector3<f64>,
    restitution: f64,
    surface: Surface,
    termination: Termination,
) -> Result<Impulse, Cause> {
    let mut slope = SMatrix::zeros();
    match surface {
        Surface::Smooth => {
            let (w, y) = (w[(0, 0)], y[0]);
            let value = -(1.0 + restitution) * y / w;
            slope[(0, 0)] = -value / w;
            slope[(0, 6)] = -(1.0 + restitution) / w;
            slope[(0, 9)] = -y / w;
            Ok(Impulse { value: Vector3::new(value, 0.0, 0.0), slope })
        }
        Surface::Rough => {
            let Some(inverse) = w.try_inverse() else { return Err(Cause::Degenerate) };
            let value = inverse * y * -(1.0 + restitution);
            for i in 0..3 {
                for j in 0..3 {
                    // δP = −W⁻¹ δW P.
                    let change = -inverse.column(i) * value[j];
                    let mut column = slope.column_mut(ENTRIES[i][j]);
                    column += change;
                }
            }
            slope.fixed_columns_mut::<3>(6).copy_from(&(inverse * -(1.0 + restitution)));
            slope.set_column(9, &-(inverse * y));
            Ok(Impulse { value, slope })
        }
        Surface::Coulomb(coefficient) => passage::impulse(w, y, coefficient, restitution, termination),
    }
}
