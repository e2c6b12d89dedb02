//! How an impact is to be resolved: the law, the end of a contact with friction, order, tolerance and bounds.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::watch::Watch;

/// How to resolve an impact.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The impact law.
    pub law: Law,
    /// How a Coulomb contact ends.
    pub termination: Termination,
    /// The order in which `sequential`, and several Coulomb contacts, are taken.
    pub order: Order,
    /// The one tolerance of every rank, consistency and admissibility decision, relative to scales of the data
    /// (so that no answer depends on the units). See [`DEFAULT_TOLERANCE`].
    pub tolerance: f64,
    /// The largest number of steps of a cascade or sequence; by default 1000, and 50 more for each contact.
    pub max_steps: Option<usize>,
    /// Project the velocity on A v = 0 first, instead of refusing one that violates it.
    pub project: bool,
    /// Who watches, and may end the impact before it is resolved: as if the largest number of steps had been reached.
    pub watch: Watch,
}

/// The default of [`Options::tolerance`].
///
/// Rows are compared at unit length in the kinetic metric. Rounding leaves about 1e-15 there, while genuinely
/// independent contacts of bodies whose masses differ by a factor q come as close as 1/√q: 1e-10 keeps both
/// apart for masses over twenty decades.
pub const DEFAULT_TOLERANCE: f64 = 1e-10;

/// The tolerances accepted: below, rounding would decide; above, contacts at a visible angle would count as one.
pub const TOLERANCES: std::ops::RangeInclusive<f64> = 1e-14..=1e-2;

impl Default for Options {
    fn default() -> Self {
        Self {
            law: Law::NewtonLcp,
            termination: Termination::Stronge,
            order: Order::Given,
            tolerance: DEFAULT_TOLERANCE,
            max_steps: None,
            project: false,
            watch: Watch::default(),
        }
    }
}

impl Options {
    /// The largest number of steps for this many contacts.
    #[must_use]
    pub fn step_bound(&self, contacts: usize) -> usize {
        self.max_steps.unwrap_or_else(|| contacts.saturating_mul(50).saturating_add(1000))
    }
}

/// The order in which contacts are resolved one at a time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Order {
    /// As their normals stand in the contact rows; after the last, the first again.
    #[default]
    Given,
    /// The same from the last to the first.
    Reversed,
    /// Always the contact closing fastest (relative to its row's length in the kinetic metric).
    Fastest,
    /// The normals' rows in this order; each normal once.
    Rows(Vec<usize>),
}

/// An impact law.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Law {
    /// 0 ≤ p ⟂ y⁺ + K y⁻ ≥ 0 (T4): the default.
    NewtonLcp,
    /// y⁺ = −K y⁻ on all rows (T2).
    Newton,
    /// Compression and expansion, each a complementarity problem (T5).
    Poisson,
    /// One closing contact at a time, in a stated order.
    Sequential,
    /// All closing contacts together, repeatedly.
    Reflection,
    /// Each contact as if it were alone (T7): to compare with, never a default.
    Decoupled,
}

impl Law {
    /// Every law, the default first.
    pub const ALL: [Self; 6] =
        [Self::NewtonLcp, Self::Newton, Self::Poisson, Self::Sequential, Self::Reflection, Self::Decoupled];

    /// The law's name in files and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NewtonLcp => "newton_lcp",
            Self::Newton => "newton",
            Self::Poisson => "poisson",
            Self::Sequential => "sequential",
            Self::Reflection => "reflection",
            Self::Decoupled => "decoupled",
        }
    }

    /// Whether the law promises y⁺ = −k y⁻ wherever an impulse acts.
    pub(super) const fn promises_restitution(self) -> bool {
        matches!(self, Self::NewtonLcp | Self::Newton | Self::Decoupled)
    }

    /// Whether the law promises that contacts only push and that none closes afterwards.
    #[must_use]
    pub const fn promises_admissible(self) -> bool {
        !matches!(self, Self::Newton | Self::Decoupled)
    }

    /// Whether the law acts on separating contacts too.
    pub(super) const fn acts_on_all(self) -> bool {
        matches!(self, Self::Newton)
    }

    /// The law of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|law| law.name() == name)
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

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
