//! What an impact did: velocities, impulses, energy, and the truth about what the model leaves open.

use serde::Serialize;

use crate::impact::note::Note;
use crate::impact::options::{Law, Termination};

/// The result of an impact. Contact quantities have one entry per contact row, in the order given.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Outcome {
    /// The law used.
    pub law: Law,
    /// How the resolution ended.
    pub status: Status,
    /// The velocity before: as given, or as projected on the bilateral rows.
    pub velocity_before: Vec<f64>,
    /// The velocity after.
    pub velocity: Vec<f64>,
    /// The impulse p of each contact row.
    pub impulses: Vec<f64>,
    /// The impulse λ of each bilateral row.
    pub bilateral_impulses: Vec<f64>,
    /// y⁻ = N v⁻ of each contact row; negative: closing.
    pub approach: Vec<f64>,
    /// y⁺ = N v⁺ of each contact row; negative: still closing.
    pub separation: Vec<f64>,
    /// The work done by each contact row's impulse; their sum is the change of energy. For a contact with friction
    /// the work of its tangents together stands at the first tangent.
    pub work: Vec<f64>,
    /// The kinetic energy.
    pub energy: Energy,
    /// The rank of the Delassus matrix of all contact rows.
    pub rank: usize,
    /// How clear the rank is: the row directions' singular values on either side of it.
    pub rank_margin: RankMargin,
    /// The rounding to expect in v⁺, relative to √(2T) before, in the kinetic metric: ε times the size of the
    /// impulses in all steps, what the joints magnify, and the condition of the rows.
    pub rounding: f64,
    /// Contact rows that the bilateral rows block: they cannot move, and load the joints only.
    pub blocked: Vec<usize>,
    /// Whether the law determines v⁺.
    pub velocity_unique: bool,
    /// Whether the law determines every impulse, the bilateral ones included.
    pub impulse_unique: bool,
    /// Whether the law's equations have a solution. Where they have none, the numbers are the least-squares
    /// surrogate.
    pub consistent: bool,
    /// Whether every normal impulse pushes, no contact keeps closing and no energy is gained.
    pub admissible: bool,
    /// A basis of the impulses that the model leaves undetermined: adding any multiple changes no velocity.
    pub self_stresses: Vec<SelfStress>,
    /// Circuits (minimal dependent sets) of contact rows whose unequal coefficients of restitution make the
    /// Newton equality unsolvable for some velocities.
    pub unequal_circuits: Vec<Circuit>,
    /// The steps of the cascade or sequence, in order; one for a plain impact, none if nothing was closing.
    pub steps: Vec<Step>,
    /// What friction did in each Coulomb contact, for each time it was resolved.
    pub friction: Vec<FrictionHistory>,
    /// The friction coefficient that each rough contact would need of a real surface.
    pub friction_demand: Vec<FrictionDemand>,
    /// What the reader should know, in words.
    pub notes: Vec<Note>,
}

impl Outcome {
    /// The outcome where nothing can move.
    #[must_use]
    pub(crate) fn nothing(law: Law, rows: usize, bilateral_rows: usize) -> Self {
        Self {
            law,
            status: Status::NoImpact,
            velocity_before: Vec::new(),
            velocity: Vec::new(),
            impulses: vec![0.0; rows],
            bilateral_impulses: vec![0.0; bilateral_rows],
            approach: vec![0.0; rows],
            separation: vec![0.0; rows],
            work: vec![0.0; rows],
            energy: Energy { before: 0.0, after: 0.0, change: 0.0 },
            rank: 0,
            rank_margin: RankMargin {
                smallest_kept: 1.0,
                largest_dropped: 0.0,
                threshold: 0.0,
                amplification: 1.0,
            },
            rounding: 0.0,
            blocked: Vec::new(),
            velocity_unique: true,
            impulse_unique: true,
            consistent: true,
            admissible: true,
            self_stresses: Vec::new(),
            unequal_circuits: Vec::new(),
            steps: Vec::new(),
            friction: Vec::new(),
            friction_demand: Vec::new(),
            notes: vec![Note::NoImpact],
        }
    }
}

/// How the resolution ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// No contact was closing: nothing happened.
    NoImpact,
    /// The law gave its answer.
    Resolved,
    /// The law's equations have no solution; the numbers are a least-squares surrogate.
    Inconsistent,
    /// Contacts still close where the bound on the number of steps was reached, or where a law that gains energy at every step
    /// had made the velocities a million times what they were.
    StepsExhausted,
}

/// Kinetic energy before and after.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Energy {
    /// ½ v⁻ᵀ G v⁻.
    pub before: f64,
    /// ½ v⁺ᵀ G v⁺.
    pub after: f64,
    /// ½ pᵀ(y⁻ + y⁺) summed over the steps: more accurate than the difference of the two when little changes.
    pub change: f64,
}

/// The singular values on either side of the rank, rows at unit length in the kinetic metric.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RankMargin {
    /// The smallest singular value counted, relative to the largest (1 if none is counted).
    pub smallest_kept: f64,
    /// The largest singular value dropped, relative to the largest (0 if none is dropped).
    pub largest_dropped: f64,
    /// The threshold between them.
    pub threshold: f64,
    /// How much the bilateral rows magnify rounding: the largest ratio of a row's length in the kinetic metric
    /// before and after they take their part.
    pub amplification: f64,
}

/// Impulses in balance with one another: Nᵀp + Aᵀλ = 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SelfStress {
    /// The contact part p, scaled to largest entry ±1 unless it is zero.
    pub contacts: Vec<f64>,
    /// The bilateral part λ.
    pub bilateral: Vec<f64>,
}

/// A circuit of contact rows with unequal coefficients of restitution.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Circuit {
    /// The rows.
    pub rows: Vec<usize>,
    /// Their coefficients.
    pub restitution: Vec<f64>,
}

/// One step of a cascade or sequence.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Step {
    /// The contact rows that took part.
    pub rows: Vec<usize>,
    /// Their impulses in this step.
    pub impulses: Vec<f64>,
    /// Their y before this step.
    pub approach: Vec<f64>,
    /// Their y after this step.
    pub separation: Vec<f64>,
    /// The change of kinetic energy in this step.
    pub energy_change: f64,
}

/// The course of friction through one resolution of one Coulomb contact.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FrictionHistory {
    /// The normal's row.
    pub normal: usize,
    /// How the contact was ended.
    pub termination: Termination,
    /// The normal impulse at greatest compression.
    pub compression_impulse: f64,
    /// The phases in order of growing normal impulse.
    pub phases: Vec<Phase>,
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
    /// Sliding again after a stop (or from rest), in the direction it came from or any other that the contact
    /// forces choose.
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
    /// False in compression (y_n < 0), true in restitution (y_n ≥ 0).
    pub restitution: bool,
}

/// The coefficient of friction that a rough contact's impulses would need.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FrictionDemand {
    /// The normal's row.
    pub normal: usize,
    /// |p_t| / p_n; infinite when the tangent is loaded and the normal is not.
    pub coefficient: f64,
}
