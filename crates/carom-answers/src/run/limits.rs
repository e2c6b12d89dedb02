//! What an audited run must keep to.
//!
//! Energy, momentum and angular momentum against the ledger, and what is checked of each event by itself (contact points, impulses,
//! work, restitution, unilaterality, energy gained), may be off by [`LIMIT`] of their size; bodies may overlap by [`LIMIT`] of the
//! smallest body, unless they were let pass into one another. With `--strict` the first violation ends the run. A value that is not
//! finite ends every run.

use carom::contact::Side;
use carom::run::{Audit, Worst};
use carom::scene::model::Scene;
use serde::{Serialize, Serializer};

/// The largest relative error allowed.
pub const LIMIT: f64 = 1e-9;

/// What an audit limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limited {
    /// That values are finite.
    Finite,
    /// [`Audit::energy_error_max`]
    Energy,
    /// [`Audit::linear_error_max`]
    Linear,
    /// [`Audit::angular_error_max`]
    Angular,
    /// [`Audit::points_error_max`]
    Points,
    /// [`Audit::impulse_error_max`]
    Impulse,
    /// [`Audit::work_error_max`]
    Work,
    /// [`Audit::restitution_error_max`]
    Restitution,
    /// [`Audit::unilateral_error_max`]
    Unilateral,
    /// [`Audit::energy_gain_max`]
    EnergyGain,
    /// [`Audit::joint_error_max`]
    Joint,
    /// [`Audit::gap_min`]
    Gap,
}

impl Limited {
    /// Its name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Finite => "finite",
            Self::Energy => "energy_error_max",
            Self::Linear => "linear_error_max",
            Self::Angular => "angular_error_max",
            Self::Points => "points_error_max",
            Self::Impulse => "impulse_error_max",
            Self::Work => "work_error_max",
            Self::Restitution => "restitution_error_max",
            Self::Unilateral => "unilateral_error_max",
            Self::EnergyGain => "energy_gain_max",
            Self::Joint => "joint_error_max",
            Self::Gap => "gap_min",
        }
    }
}

impl Serialize for Limited {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A quantity of the audit that is not within its limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Violation {
    /// The quantity, by its name in the audit.
    pub quantity: Limited,
    /// Its value; `None` if it is not finite.
    pub value: Option<f64>,
    /// The limit that it passed.
    pub limit: f64,
    /// The event at or after which it was seen.
    pub event: u64,
    /// Between whom, where it is of one contact or pair.
    #[serde(skip)]
    pub sides: Option<[Side; 2]>,
}

impl Violation {
    /// A value of an event that is not finite.
    pub fn not_finite(event: u64) -> Self {
        Self { quantity: Limited::Finite, value: None, limit: f64::MAX, event, sides: None }
    }
}

/// The limits of a scene.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    strict: bool,
    /// The lowest gap allowed.
    gap: f64,
}

impl Limits {
    /// The scene's limits; without `strict` only values that are not finite count.
    pub fn of(scene: &Scene, strict: bool) -> Self {
        let sizes = scene.bodies.iter().map(|body| body.body.shape.circumradius()).filter(|&size| size > 0.0);
        let smallest = sizes.fold(f64::INFINITY, f64::min);
        Self { strict, gap: if smallest.is_finite() { -LIMIT * smallest } else { 0.0 } }
    }

    /// What ends the run: a value that is not finite, and with `strict` any beyond its limit. Of several the earliest is told.
    pub fn violation(&self, audit: &Audit) -> Option<Violation> {
        let earliest = |violation: &Violation| violation.event;
        self.beyond(audit, self.strict).min_by_key(earliest)
    }

    /// What the engine got wrong, whether that ends the run or not: all but the energy that a law may gain.
    pub fn failure(&self, audit: &Audit) -> Option<Violation> {
        let wrong = |violation: &Violation| violation.quantity != Limited::EnergyGain;
        self.beyond(audit, true).filter(wrong).min_by_key(|violation| violation.event)
    }

    /// The quantities that are not within their limits; without `limited` those that are not finite.
    fn beyond(&self, audit: &Audit, limited: bool) -> impl Iterator<Item = Violation> + use<> {
        let overlap = audit.overlap_max;
        let lowest =
            Worst { value: if overlap.value > 0.0 { -overlap.value } else { audit.gap_min }, ..overlap };
        let gap = self.gap;
        let errors = [
            (Limited::Energy, audit.energy_error_max),
            (Limited::Linear, audit.linear_error_max),
            (Limited::Angular, audit.angular_error_max.unwrap_or_default()),
            (Limited::Points, audit.points_error_max),
            (Limited::Impulse, audit.impulse_error_max),
            (Limited::Work, audit.work_error_max),
            (Limited::Restitution, audit.restitution_error_max),
            (Limited::Unilateral, audit.unilateral_error_max),
            (Limited::EnergyGain, audit.energy_gain_max),
            (Limited::Joint, audit.joint_error_max.unwrap_or_default()),
        ]
        .map(|(quantity, worst)| (quantity, worst, LIMIT, worst.value > LIMIT));
        let all = errors.into_iter().chain([(Limited::Gap, lowest, gap, overlap.value > -gap)]);
        all.filter(move |(_, worst, _, beyond)| !worst.value.is_finite() || limited && *beyond).map(
            |(quantity, worst, limit, _)| Violation {
                quantity,
                value: worst.value.is_finite().then_some(worst.value),
                limit,
                event: worst.event,
                sides: worst.sides,
            },
        )
    }
}
