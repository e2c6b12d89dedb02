//! Lagrangian systems in generalised coordinates, with constraints and walls: \[TZ\] in its own generality.
//!
//! A [`System`] says what it is: the mass matrix G(q), the potential V(q), constraints φ(q) = 0 and A(q) v = 0, and walls
//! g(q) ≥ 0. It is written once, generic over its [`Scalar`]; derivatives come from [`Dual`] numbers. A [`Run`] does the rest:
//!
//! ```text
//! d/dt ∂T/∂v − ∂T/∂q + ∂V/∂q = Q + Cᵀλ,   2T = vᵀG v,   C v = 0           (Lagrange and d'Alembert)
//! that is   G v' + c(q, v) + ∂V/∂q = Q + Cᵀλ,   c_i = Σ (∂_k G_ij − ½ ∂_i G_jk) v_j v_k,   C v' + C' v = 0
//! ```
//!
//! with C the rows ∇φ, A, and those of the walls that are held. The multipliers λ, which are the reactions, follow from the
//! last equation at every instant; after each step positions and velocities are put back on φ = 0 and C v = 0 by the
//! shortest way in the kinetic metric, so that neither drifts. Dependent rows are no obstacle. Steps are those of
//! [`gauss`](crate::integrate::gauss): good to the accuracy asked for at every instant within.
//!
//! **Walls.** A step is searched for the first time at which a wall is reached (`crossing`). What closes there is an
//! [`impact`](crate::impact) with all rows at once, constraints included, by the law in [`Settings`]: \[TZ\]'s v⁺ = (I − (1+μ)P) v⁻ for
//! one wall, smooth or rough, and any of the laws for several. Bounces that accumulate are recognised, and the wall is held: it
//! pushes with its multiplier until that returns to zero.
//!
//! **How far it is certified.** That no wall is reached before the time given is proven for the step's polynomial, from bounds of
//! g'' over stretches of it by [`Interval`] arithmetic. What the polynomial itself is off by is the integrator's accuracy, which
//! is estimated from its last coefficients, not proven. Where no bound exists (a root or quotient at the edge of its domain)
//! the search rests on the gap's own series instead; the event and the [`Audit`] say so.
//!
//! **How it fails.** Meaningless input is an [`Error`](crate::Error). What the motion runs into is an [`Obstacle`], a
//! value: a mass matrix that becomes singular (Euler angles at their pole), constraints that contradict each other, numbers beyond
//! floating point. A wall with Coulomb friction takes part in impacts but is not held, since sliding friction is left to
//! [`flow`](crate::flow): that too is an obstacle.

mod collision;
mod crossing;
mod dual;
mod dynamics;
mod holding;
mod interval;
mod run;
mod scalar;
mod start;

pub use dual::Dual;
pub use interval::Interval;
pub use run::{Accumulation, Audit, DenseStep, Event, Kind, Reactions, Run, Step};
pub use scalar::{Scalar, mass_of};

use crate::contact::Surface;
use crate::impact::Options;

/// A mechanical system in N generalised coordinates.
///
/// Functions that write to a slice find it as long as [`System::counts`] and [`System::walls`] say, filled with zeros. The time
/// does not enter but through [`System::force`].
pub trait System<const N: usize> {
    /// G(q): symmetric, positive definite wherever the system goes. [`mass_of`] makes it of a kinetic energy.
    fn mass<S: Scalar>(&self, q: &[S; N]) -> [[S; N]; N];

    /// V(q).
    fn potential<S: Scalar>(&self, q: &[S; N]) -> S {
        let _ = q;
        S::constant(0.0)
    }

    /// Forces Q that have no potential, by coordinate; as smooth as the motion is to be exact.
    fn force(&self, t: f64, q: &[f64; N], v: &[f64; N]) -> [f64; N] {
        let _ = (t, q, v);
        [0.0; N]
    }

    /// How many constraints there are: φ of positions, and rows A of velocities.
    fn counts(&self) -> Counts {
        Counts::default()
    }

    /// Writes φ(q), the holonomic constraints φ = 0.
    fn holonomic<S: Scalar>(&self, q: &[S; N], phi: &mut [S]) {
        let _ = (q, phi);
    }

    /// Writes the rows of A(q), the nonholonomic constraints A v = 0.
    fn nonholonomic<S: Scalar>(&self, q: &[S; N], rows: &mut [[S; N]]) {
        let _ = (q, rows);
    }

    /// The walls.
    fn walls(&self) -> &[Wall] {
        &[]
    }

    /// Writes the gaps g(q) of all walls, g ≥ 0.
    fn gaps<S: Scalar>(&self, q: &[S; N], gaps: &mut [S]) {
        let _ = (q, gaps);
    }

    /// Writes the tangential rows of one wall: velocities of slip, in the units of dg/dt.
    fn tangents<S: Scalar>(&self, wall: usize, q: &[S; N], rows: &mut [[S; N]]) {
        let _ = (wall, q, rows);
    }

    /// What counts as one in each coordinate: 1 for angles, the size of the system for lengths. Accuracies are relative to
    /// these.
    fn scales(&self) -> [f64; N] {
        [1.0; N]
    }
}

/// How many constraints a system has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Those of positions, φ.
    pub holonomic: usize,
    /// Those of velocities, rows of A.
    pub nonholonomic: usize,
}

/// A wall g ≥ 0: how it responds to an impact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wall {
    /// The coefficient of restitution along the normal, in [0, 1].
    pub restitution: f64,
    /// How it answers along the tangents.
    pub surface: Surface,
    /// How many tangential rows it has: any number where it is rough, one or two with friction, none where it is smooth.
    pub tangents: usize,
    /// The coefficient along the tangents of a rough wall, in [−1, 1]; \[TZ\]'s is that of the normal.
    pub tangential_restitution: f64,
}

impl Wall {
    /// A smooth wall.
    #[must_use]
    pub const fn smooth(restitution: f64) -> Self {
        Self { restitution, surface: Surface::Smooth, tangents: 0, tangential_restitution: 0.0 }
    }

    /// \[TZ\]'s rough wall: one coefficient for all its rows.
    #[must_use]
    pub const fn rough(restitution: f64, tangents: usize) -> Self {
        Self { restitution, surface: Surface::Rough, tangents, tangential_restitution: restitution }
    }

    /// A wall with Coulomb friction.
    #[must_use]
    pub const fn coulomb(restitution: f64, coefficient: f64, tangents: usize) -> Self {
        Self { restitution, surface: Surface::Coulomb(coefficient), tangents, tangential_restitution: 0.0 }
    }
}

/// How a run is to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The last coefficients of a step's polynomial, relative to the system's scales: from the rounding unit, 2⁻⁵², to 1e-2. The
    /// default is near rounding.
    pub accuracy: f64,
    /// The stages of a step, 6 to 24.
    pub stages: usize,
    /// The time at the start.
    pub start: f64,
    /// The law of impacts, and its options.
    pub impact: Options,
}

impl Default for Settings {
    fn default() -> Self {
        Self { accuracy: 4e-16, stages: 16, start: 0.0, impact: Options::default() }
    }
}

/// Why a motion cannot go on.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Obstacle {
    /// The mass matrix is not positive definite here: a coordinate has lost its meaning.
    #[error("the mass matrix is not positive definite (pivot {pivot:e} in coordinate {coordinate})")]
    Mass {
        /// The coordinate at which the factorisation ends.
        coordinate: usize,
        /// Its pivot, relative to its diagonal.
        pivot: f64,
    },
    /// Dependent rows ask for different things.
    #[error("constraints contradict each other")]
    Contradiction,
    /// Something is not finite.
    #[error("a number is not finite")]
    NotFinite,
    /// The step does not settle, however short.
    #[error("no step is short enough")]
    Rough,
    /// A wall with Coulomb friction would have to be held.
    #[error("wall {wall} with friction would be held")]
    Friction {
        /// The wall.
        wall: usize,
    },
    /// Which of the walls that are touched push is not decided by the signs of their multipliers.
    #[error("which walls hold is not decided")]
    Undecided,
    /// An impact had no meaning under its law.
    #[error("the impact: {0}")]
    Impact(crate::Error),
}
