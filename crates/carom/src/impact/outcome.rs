//! What an impact did: velocities, impulses, energy, and the truth about what the model leaves open.

use std::fmt;

use serde::Serialize;

use crate::impact::coulomb::{Phase, Termination};
use crate::impact::law::Law;

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
    /// The smallest singular value counted, relative to the largest (1 when there is none).
    pub smallest_kept: f64,
    /// The largest singular value dropped, relative to the largest (0 when there is none).
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

/// The coefficient of friction that a rough contact's impulses would need.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FrictionDemand {
    /// The normal's row.
    pub normal: usize,
    /// |p_t| / p_n; infinite when the tangent is loaded and the normal is not.
    pub coefficient: f64,
}

/// Something the reader should know about an outcome.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Note {
    /// No contact closes.
    NoImpact,
    /// The velocity was projected on the bilateral rows first.
    Projected {
        /// The largest violation before, relative to its row's scale.
        violation: f64,
    },
    /// Contacts separating before the impact were left out.
    LeftOut {
        /// Their rows.
        rows: Vec<usize>,
    },
    /// The impact needed more than one step.
    Cascade {
        /// How many.
        steps: usize,
    },
    /// The bound on the steps was reached, or velocities grew without one.
    StepsExhausted {
        /// The steps made.
        steps: usize,
        /// The contact rows still closing.
        rows: Vec<usize>,
    },
    /// Rows blocked by the bilateral rows.
    Blocked {
        /// The rows.
        rows: Vec<usize>,
    },
    /// The law's equations have no solution here.
    Inconsistent {
        /// The rows of the circuits responsible, each circuit by itself; empty when none is.
        circuits: Vec<Vec<usize>>,
        /// |residual| relative to the required change of velocity.
        residual: f64,
    },
    /// Circuits with unequal restitution, on data that happen to be consistent.
    UnequalCircuits {
        /// The rows of each circuit.
        circuits: Vec<Vec<usize>>,
    },
    /// Impulses are not unique although velocities are.
    ImpulsesUndetermined {
        /// The number of independent self-stresses.
        dimension: usize,
    },
    /// Poisson's law admits another velocity.
    PoissonNotUnique {
        /// Another velocity after, by the same law with other compression impulses.
        other: Vec<f64>,
    },
    /// The law depends on the order of the contacts.
    OrderMatters {
        /// The velocity after in another order.
        other: Vec<f64>,
    },
    /// The rank of the rows is not clear cut.
    RankUnclear {
        /// The smallest singular value counted, relative to the largest.
        kept: f64,
        /// The largest one dropped.
        dropped: f64,
    },
    /// Another velocity may be possible under the law, and was not looked for.
    UniquenessUndecided,
    /// The order of the contacts decides how they share the impulses, though not the velocities.
    OrderSharesImpulses,
    /// Kinetic energy was gained.
    EnergyGained {
        /// How much.
        change: f64,
        /// The kinetic energy before.
        before: f64,
    },
    /// Normal impulses that pull.
    Pulling {
        /// The rows.
        rows: Vec<usize>,
    },
    /// Contacts that still close.
    StillClosing {
        /// The rows.
        rows: Vec<usize>,
    },
    /// Contacts whose restitution differs from the one asked for.
    RestitutionMissed {
        /// The rows.
        rows: Vec<usize>,
    },
    /// Several contacts met at once, closing or touching, and Coulomb friction acts in at least one of them.
    SeveralWithFriction {
        /// The normals' rows.
        rows: Vec<usize>,
    },
    /// Friction holds the contact: no impulse can make it rebound.
    FrictionLocks {
        /// The normal's row.
        row: usize,
    },
    /// A rough contact would need more friction than most real surfaces have.
    FrictionDemand {
        /// The normal's row.
        row: usize,
        /// The coefficient needed.
        coefficient: f64,
        /// Whether the impulses are unique; otherwise another sharing of them needs more or less.
        unique: bool,
    },
    /// Loose tangential rows with several normals.
    LooseTangents {
        /// The tangential rows.
        rows: Vec<usize>,
    },
    /// A touching contact with friction jams without approach (Painlevé).
    JamWithoutApproach {
        /// The normal's row.
        row: usize,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &|row| format!("row {row}"))
    }
}

impl Note {
    /// The note with contact rows called as their owner knows them.
    #[must_use]
    pub fn describe(&self, name: &dyn Fn(usize) -> String) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write(&mut text, name);
        text
    }

    fn write(&self, f: &mut dyn fmt::Write, name: &dyn Fn(usize) -> String) -> fmt::Result {
        let list = |rows: &[usize]| rows.iter().map(|&row| name(row)).collect::<Vec<_>>().join(", ");
        let groups = |sets: &[Vec<usize>]| sets.iter().map(|rows| list(rows)).collect::<Vec<_>>().join("; ");
        match self {
            Self::NoImpact => write!(f, "no contact is closing: no impact"),
            Self::Projected { violation } => {
                write!(
                    f,
                    "the velocity violated the bilateral rows (by {violation:.3e} of its scale) and was projected on them"
                )
            }
            Self::LeftOut { rows } => {
                write!(f, "separating before the impact, left out and checked afterwards: {}", list(rows))
            }
            Self::Cascade { steps } => write!(f, "the impact took {steps} steps, each listed in order"),
            Self::StepsExhausted { steps, rows } => {
                write!(f, "stopped after {steps} steps with contacts still closing: {}", list(rows))
            }
            Self::Blocked { rows } => write!(
                f,
                "blocked by the joints, which they can load without changing the motion: {}",
                list(rows)
            ),
            Self::Inconsistent { circuits, residual } => {
                write!(
                    f,
                    "the law's equations have no solution (relative residual {residual:.3e}); the numbers are the least-squares surrogate"
                )?;
                if !circuits.is_empty() {
                    write!(f, "; dependent contacts with unequal restitution: {}", groups(circuits))?;
                }
                Ok(())
            }
            Self::UnequalCircuits { circuits } => write!(
                f,
                "dependent contacts have unequal restitution: {}; the Newton equality is solvable for these velocities but not for all",
                groups(circuits)
            ),
            Self::ImpulsesUndetermined { dimension } => write!(
                f,
                "the rigid model does not determine the impulses: {dimension} independent self-stress{} can be added, as long as every contact pushes, without changing any velocity",
                if *dimension == 1 { "" } else { "es" }
            ),
            Self::PoissonNotUnique { other } => write!(
                f,
                "Poisson's law does not determine the velocity: dependent contacts with unequal restitution share the compression in more than one way, and another way gives v+ = {}",
                numbers(other)
            ),
            Self::OrderMatters { other } => write!(
                f,
                "the answer depends on the order of the contacts, which the rigid model does not decide; another order gives v+ = {}",
                numbers(other)
            ),
            Self::RankUnclear { kept, dropped } => write!(
                f,
                "the rank is not clear cut: of the directions, at unit length, the least counted has size {} and the largest left out {}; masses or normals are too far apart or too nearly dependent to say",
                short(*kept),
                short(*dropped)
            ),
            Self::UniquenessUndecided => write!(
                f,
                "dependent contacts have unequal restitution; whether another velocity is possible was not decided for so many contacts"
            ),
            Self::OrderSharesImpulses => write!(
                f,
                "the order of the contacts, which the rigid model does not decide, decides how they share the impulses; the velocities do not depend on it"
            ),
            Self::EnergyGained { change, before } => {
                write!(f, "this law gains kinetic energy here: {}", short(*change))?;
                if *before > 0.0 {
                    write!(f, " ({:+.1} %)", 100.0 * change / before)?;
                }
                Ok(())
            }
            Self::Pulling { rows } => write!(f, "impulses that pull, which no contact can: {}", list(rows)),
            Self::StillClosing { rows } => write!(f, "still closing after the impact: {}", list(rows)),
            Self::RestitutionMissed { rows } => {
                write!(
                    f,
                    "the separation is not the one that the coefficient of restitution asks for: {}",
                    list(rows)
                )
            }
            Self::SeveralWithFriction { rows } => write!(
                f,
                "several contacts meet at once, closing or touching, and friction acts in at least one ({}): the rigid model does not decide what happens; they were resolved one at a time in the stated order",
                list(rows)
            ),
            Self::FrictionLocks { row } => {
                write!(
                    f,
                    "friction holds the contact at {}: no impulse makes it rebound, so it ends at rest",
                    name(*row)
                )
            }
            Self::FrictionDemand { row, coefficient, unique } => write!(
                f,
                "the rough contact at {} would need a friction coefficient of {}{}; real surfaces seldom exceed 1",
                name(*row),
                short(*coefficient),
                if *unique { "" } else { " for these impulses, which are not the only ones possible" },
            ),
            Self::LooseTangents { rows } => write!(
                f,
                "tangential rows tied to no normal act whenever any contact does: {}; tie them with `rough`",
                list(rows)
            ),
            Self::JamWithoutApproach { row } => write!(
                f,
                "the contact at {} touches without closing and friction jams it: an impact without collision (Painlevé) is possible and was not made",
                name(*row)
            ),
        }
    }
}

impl Serialize for Note {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Seven digits, for a sentence.
fn short(x: f64) -> String {
    let size = x.abs();
    if size != 0.0 && !(1e-4..1e7).contains(&size) {
        return format!("{x:.6e}");
    }
    let text = format!("{x:.7}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

fn numbers(values: &[f64]) -> String {
    const SHOWN: usize = 12;
    let mut words: Vec<String> = values.iter().take(SHOWN).map(|&x| short(x)).collect();
    if values.len() > SHOWN {
        words.push(format!("… ({} in all)", values.len()));
    }
    format!("[{}]", words.join(", "))
}
