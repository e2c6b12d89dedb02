//! What the reader should know about an outcome, as values and as sentences.

use std::fmt;

use serde::Serialize;

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
        f.write_str(&self.describe(&|row| format!("row {row}")))
    }
}

impl Note {
    /// The note as a sentence, with contact rows called as their owner knows them.
    #[must_use]
    pub fn describe(&self, name: &dyn Fn(usize) -> String) -> String {
        let list = |rows: &[usize]| rows.iter().map(|&row| name(row)).collect::<Vec<_>>().join(", ");
        let groups = |sets: &[Vec<usize>]| sets.iter().map(|rows| list(rows)).collect::<Vec<_>>().join("; ");
        match self {
            Self::NoImpact => "no contact is closing: no impact".to_owned(),
            Self::Projected { violation } => format!(
                "the velocity violated the bilateral rows (by {violation:.3e} of its scale) and was projected on them"
            ),
            Self::LeftOut { rows } => {
                format!("separating before the impact, left out and checked afterwards: {}", list(rows))
            }
            Self::Cascade { steps } => format!("the impact took {steps} steps, each listed in order"),
            Self::StepsExhausted { steps, rows } => {
                format!("stopped after {steps} steps with contacts still closing: {}", list(rows))
            }
            Self::Blocked { rows } => {
                format!("blocked by the joints, which they can load without changing the motion: {}", list(rows))
            }
            Self::Inconsistent { circuits, residual } => {
                let unequal = match circuits.as_slice() {
                    [] => String::new(),
                    sets => format!("; dependent contacts with unequal restitution: {}", groups(sets)),
                };
                format!(
                    "the law's equations have no solution (relative residual {residual:.3e}); the numbers are the least-squares surrogate{unequal}"
                )
            }
            Self::UnequalCircuits { circuits } => format!(
                "dependent contacts have unequal restitution: {}; the Newton equality is solvable for these velocities but not for all",
                groups(circuits)
            ),
            Self::ImpulsesUndetermined { dimension } => format!(
                "the rigid model does not determine the impulses: {dimension} independent self-stress{} can be added, as long as every contact pushes, without changing any velocity",
                if *dimension == 1 { "" } else { "es" }
            ),
            Self::PoissonNotUnique { other } => format!(
                "Poisson's law does not determine the velocity: dependent contacts with unequal restitution share the compression in more than one way, and another way gives v+ = {}",
                numbers(other)
            ),
            Self::OrderMatters { other } => format!(
                "the answer depends on the order of the contacts, which the rigid model does not decide; another order gives v+ = {}",
                numbers(other)
            ),
            Self::RankUnclear { kept, dropped } => format!(
                "the rank is not clear cut: among the row directions at unit length, the smallest singular value counted is {} and the largest left out {}; masses or normals are too far apart or too nearly dependent to say",
                short(*kept),
                short(*dropped)
            ),
            Self::UniquenessUndecided => "dependent contacts have unequal restitution; with this many contacts carom does not decide whether another velocity is possible".to_owned(),
            Self::OrderSharesImpulses => "the velocities do not depend on the order of the contacts, but the order decides how the contacts share the impulses, and the rigid model does not determine it".to_owned(),
            Self::EnergyGained { change, before } => {
                let share =
                    if *before > 0.0 { format!(" ({:+.1} %)", 100.0 * change / before) } else { String::new() };
                format!("this law gains kinetic energy here: {}{share}", short(*change))
            }
            Self::Pulling { rows } => format!("impulses that pull, although contacts can only push: {}", list(rows)),
            Self::StillClosing { rows } => format!("still closing after the impact: {}", list(rows)),
            Self::RestitutionMissed { rows } => format!(
                "the separation is not the one that the coefficient of restitution asks for: {}",
                list(rows)
            ),
            Self::SeveralWithFriction { rows } => format!(
                "several contacts meet at once, closing or touching, and friction acts in at least one ({}): the rigid model does not decide what happens; they were resolved one at a time in the stated order",
                list(rows)
            ),
            Self::FrictionLocks { row } => format!(
                "friction holds the contact at {}: no impulse makes it rebound, so it ends at rest",
                name(*row)
            ),
            Self::FrictionDemand { row, coefficient, unique } => format!(
                "the rough contact at {} would need a friction coefficient of {}{}; real surfaces seldom exceed 1",
                name(*row),
                short(*coefficient),
                if *unique { "" } else { " for these impulses, which are not the only ones possible" },
            ),
            Self::LooseTangents { rows } => format!(
                "tangential rows tied to no normal act whenever any contact does: {}; tie them with `rough`",
                list(rows)
            ),
            Self::JamWithoutApproach { row } => format!(
                "the contact at {} touches without closing, and friction jams it: an impact without collision (Painlevé) is possible but was not carried out",
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
