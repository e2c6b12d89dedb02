//! The impact laws: one file each, one signature.

use std::fmt;

use serde::Serialize;

/// An impact law.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Law {
    /// 0 ≤ p ⟂ y⁺ + K y⁻ ≥ 0 (theory T4): the default.
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
    pub const ALL: [Self; 6] = [
        Self::NewtonLcp,
        Self::Newton,
        Self::Poisson,
        Self::Sequential,
        Self::Reflection,
        Self::Decoupled,
    ];

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
