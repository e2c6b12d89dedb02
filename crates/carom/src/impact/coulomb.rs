//! One contact with Coulomb friction (placeholder types; the physics follows).

use nalgebra::{Matrix3, Vector3};
use serde::Serialize;

/// When a Coulomb contact ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Termination {
    /// The work of the normal impulse in restitution is −e² of that in compression; never gains energy.
    #[default]
    Stronge,
    /// The normal impulse in restitution is e times that in compression.
    Poisson,
    /// y_n⁺ = −e y_n⁻.
    Newton,
}

impl Termination {
    /// Every termination, the default first.
    pub const ALL: [Self; 3] = [Self::Stronge, Self::Poisson, Self::Newton];

    /// The name in files and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stronge => "stronge",
            Self::Poisson => "poisson",
            Self::Newton => "newton",
        }
    }

    /// The termination of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.name() == name)
    }
}

/// What the contact point does along the tangent during a stretch of the normal impulse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Sliding as before the impact.
    Slip,
    /// Sliding while the normal velocity falls further: friction is self-locking.
    Jam,
    /// Sliding stopped.
    Stick,
    /// Sliding again after a stop, in the direction it came from or any other that the contact forces choose.
    ReverseSlip,
}

/// One stretch of the normal impulse with one mode.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Phase {
    /// What the contact point does.
    pub mode: Mode,
    /// The normal impulse at which the phase begins.
    pub from: f64,
    /// The normal impulse at which it ends.
    pub to: f64,
    /// Whether y_n ≥ 0 was reached before this phase: false in compression, true in restitution.
    pub restitution: bool,
}

/// A contact's passage through compression and restitution.
#[derive(Debug, Clone, PartialEq)]
pub struct Passage {
    /// The impulse (normal, tangent 1, tangent 2).
    pub impulse: Vector3<f64>,
    /// The relative velocity after (normal, tangent 1, tangent 2).
    pub separation: Vector3<f64>,
    /// The normal impulse at greatest compression.
    pub compression_impulse: f64,
    /// The work of the normal impulse in compression (≤ 0) and in restitution (≥ 0).
    pub normal_work: [f64; 2],
    /// The phases in order.
    pub phases: Vec<Phase>,
    /// Whether friction holds the contact so that it cannot rebound.
    pub locked: bool,
}

/// Carries one closing contact through its impact.
///
/// `w` is the Delassus matrix of (normal, tangent 1, tangent 2) and `y` the relative velocity, y_n < 0. A planar
/// contact has zeros in the last row and column.
#[must_use]
pub fn pass(
    w: &Matrix3<f64>,
    y: &Vector3<f64>,
    coefficient: f64,
    restitution: f64,
    termination: Termination,
) -> Passage {
    let _ = (w, y, coefficient, restitution, termination);
    Passage {
        impulse: Vector3::zeros(),
        separation: *y,
        compression_impulse: 0.0,
        normal_work: [0.0; 2],
        phases: Vec::new(),
        locked: false,
    }
}
