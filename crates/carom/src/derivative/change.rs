//! What changes with a parameter: tangents of states and of constants.

use nalgebra::{Quaternion, SMatrix, SVector, UnitQuaternion, Vector3};

/// The numbers of a [`StateChange`].
pub const STATE: usize = 12;

/// How a body's state changes, per unit of a parameter, all in world axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StateChange {
    /// δx.
    pub position: Vector3<f64>,
    /// δθ, the turn of the attitude: δR = \[δθ\] R.
    pub turn: Vector3<f64>,
    /// δv.
    pub velocity: Vector3<f64>,
    /// δω.
    pub angular_velocity: Vector3<f64>,
}

/// How a body's constants change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BodyChange {
    /// Of the mass.
    pub mass: f64,
    /// Of the principal moments.
    pub inertia: Vector3<f64>,
    /// Of the radius (the first) or the semi-axes.
    pub sizes: Vector3<f64>,
}

impl StateChange {
    /// None.
    #[must_use]
    pub fn zero() -> Self {
        let zero = Vector3::zeros();
        Self { position: zero, turn: zero, velocity: zero, angular_velocity: zero }
    }

    /// From the numbers in the order of the fields.
    #[must_use]
    pub fn from_numbers(numbers: &SVector<f64, STATE>) -> Self {
        let part = |k: usize| numbers.fixed_rows::<3>(3 * k).into_owned();
        Self { position: part(0), turn: part(1), velocity: part(2), angular_velocity: part(3) }
    }

    /// The numbers in the order of the fields.
    #[must_use]
    pub fn numbers(&self) -> SVector<f64, STATE> {
        let parts = [self.position, self.turn, self.velocity, self.angular_velocity];
        SVector::from_fn(|i, _| parts[i / 3][i % 3])
    }

    /// The change of the unit quaternion, scalar first: δq = ½ (0, δθ) q.
    #[must_use]
    pub fn quaternion(&self, orientation: &UnitQuaternion<f64>) -> [f64; 4] {
        let change = Quaternion::from_parts(0.0, self.turn * 0.5) * orientation.quaternion();
        [change.w, change.i, change.j, change.k]
    }
}

impl BodyChange {
    /// None.
    #[must_use]
    pub fn zero() -> Self {
        Self { mass: 0.0, inertia: Vector3::zeros(), sizes: Vector3::zeros() }
    }
}

/// The rows of changes of the quaternion that a matrix of state changes gives.
#[must_use]
pub fn quaternion_rows(orientation: &UnitQuaternion<f64>) -> SMatrix<f64, 4, 3> {
    let row = |axis: usize| {
        let mut change = StateChange::zero();
        change.turn[axis] = 1.0;
        change.quaternion(orientation)
    };
    let columns = [row(0), row(1), row(2)];
    SMatrix::from_fn(|i, j| columns[j][i])
}
