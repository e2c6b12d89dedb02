//! What an audited run must keep to.
//!
//! Energy, momentum and angular momentum against the ledger, and what is checked of each event by itself (contact points, impulses,
//! work, restitution, unilaterality, energy gained), may be off by [`LIMIT`] of their size; bodies may overlap by [`LIMIT`] of the
//! smallest body, unless they were let pass into one another. With `--strict` the first violation ends the run. A value that is not
//! finite ends every run.

use carom::contact::Side;
use carom::run::{Audit, Worst};
use carom::scene::model::Scene;
use serde::Serialize;

/// The largest relative error allowed.
pub const LIMIT: f64 = 1e-9;

/// A quantity of the audit that is not within its limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Violation {
    /// The quantity, by its name in the audit; `finite` for a number that is none.
    pub quantity: &'static str,
    /// Its value; none when it is no number.
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
    /// Numbers of an event that are none.
    pub fn not_finite(event: u64) -> Self {
        Self { quantity: "finite", value: None, limit: f64::MAX, event, sides: None }
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
    /// Those of a scene; without `strict` only what is no number counts.
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
        let wrong = |violation: &Violation| violation.quantity != "energy_gain_max";
        self.beyond(audit, true).filter(wrong).min_by_key(|violation| violation.event)
    }

    /// The quantities that are not within their limits; without `limited` those that are not finite.
    fn beyond(&self, audit: &Audit, limited: bool) -> impl Iterator<Item = Violation> + use<> {
        let overlap = audit.overlap_max;
        let lowest =
            Worst { value: if overlap.value > 0.0 { -overlap.value } else { audit.gap_min }, ..overlap };
        let gap = self.gap;
        let errors = [
            ("energy_error_max", audit.energy_error_max),
            ("linear_error_max", audit.linear_error_max),
            ("angular_error_max", audit.angular_error_max.unwrap_or_default()),
            ("points_error_max", audit.points_error_max),
            ("impulse_error_max", audit.impulse_error_max),
            ("work_error_max", audit.work_error_max),
            ("restitution_error_max", audit.restitution_error_max),
            ("unilateral_error_max", audit.unilateral_error_max),
            ("energy_gain_max", audit.energy_gain_max),
            ("joint_error_max", audit.joint_error_max.unwrap_or_default()),
        ]
        .map(|(quantity, worst)| (quantity, worst, LIMIT, worst.value > LIMIT));
        let all = errors.into_iter().chain([("gap_min", lowest, gap, overlap.value > -gap)]);
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
