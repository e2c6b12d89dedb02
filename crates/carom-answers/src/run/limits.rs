//! What an audited run must keep to.
//!
//! Energy, momentum and angular momentum against the ledger, the restitution of single smooth contacts and the energy gained
//! by an event may be off by [`LIMIT`] of their size; bodies may overlap by [`LIMIT`] of the smallest body. With `--strict`
//! the first violation ends the run. A number that is none ends every run.

use carom::scene::model::Scene;
use carom::simulation::{Audit, Worst};
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
}

impl Violation {
    /// Numbers of an event that are none.
    pub fn not_finite(event: u64) -> Self {
        Self { quantity: "finite", value: None, limit: f64::MAX, event }
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

    /// The first quantity that is not within its limit.
    pub fn violation(&self, audit: &Audit) -> Option<Violation> {
        let angular = audit.angular_error_max.unwrap_or_default();
        let quantities: [(&'static str, Worst); 6] = [
            ("energy_error_max", audit.energy_error_max),
            ("linear_error_max", audit.linear_error_max),
            ("angular_error_max", angular),
            ("restitution_error_max", audit.restitution_error_max),
            ("energy_gain_max", audit.energy_gain_max),
            ("joint_error_max", audit.joint_error_max.unwrap_or_default()),
        ];
        let within = |value: f64, bound: f64| value.is_finite() && (!self.strict || value <= bound);
        let of = |quantity, value: f64, limit, event| Violation {
            quantity,
            value: value.is_finite().then_some(value),
            limit,
            event,
        };
        let gap = (!within(-audit.gap_min, -self.gap))
            .then(|| of("gap_min", audit.gap_min, self.gap, audit.gap_min_event));
        let mut errors = quantities
            .into_iter()
            .filter(|(_, worst)| !within(worst.value, LIMIT))
            .map(|(quantity, worst)| of(quantity, worst.value, LIMIT, worst.event));
        errors.next().or(gap)
    }
}
