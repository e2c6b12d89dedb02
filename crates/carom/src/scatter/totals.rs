//! Sums over samples, in numbers of a fixed size.
#![deny(clippy::disallowed_methods, clippy::std_instead_of_core, clippy::std_instead_of_alloc)]

use super::moments::Moments;
use super::sample::{End, Sample};
use super::setup::Setup;

/// Bins of cos χ from −1 to 1.
pub const BINS: usize = 50;

/// The worst relative errors over the samples.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(not(target_arch = "nvptx64"), derive(serde::Serialize))]
pub struct Audit {
    /// Of the energy, against the work of the impulses.
    pub energy_error_max: f64,
    /// Of the linear momentum.
    pub linear_error_max: f64,
    /// Of the angular momentum about the centre of mass.
    pub angular_error_max: f64,
    /// What the audit of single impacts found: contact points, momenta, work, restitution, friction.
    pub impact_error_max: f64,
    /// The sample with the worst of these errors.
    pub worst_sample: Option<u64>,
}

impl Audit {
    fn worst(&self) -> f64 {
        [self.energy_error_max, self.linear_error_max, self.angular_error_max, self.impact_error_max]
            .into_iter()
            .fold(0.0, larger)
    }

    fn note(&mut self, other: &Self) {
        let (own, new) = (self.worst(), other.worst());
        if new > own || (new.is_nan() && !own.is_nan()) {
            self.worst_sample = other.worst_sample;
        }
        self.energy_error_max = larger(self.energy_error_max, other.energy_error_max);
        self.linear_error_max = larger(self.linear_error_max, other.linear_error_max);
        self.angular_error_max = larger(self.angular_error_max, other.angular_error_max);
        self.impact_error_max = larger(self.impact_error_max, other.impact_error_max);
    }

    /// Whether all errors are below a limit.
    #[must_use]
    pub fn is_within(&self, limit: f64) -> bool {
        self.worst() <= limit
    }
}

/// The larger of two errors; NaN counts as the largest.
fn larger(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

/// Sums over samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Totals {
    pub(super) samples: u64,
    pub(super) hits: u64,
    pub(super) unresolved: u64,
    pub(super) continued: u64,
    /// Of some of the unresolved.
    pub(super) first_unresolved: Option<u64>,
    pub(super) hash: u64,
    pub(super) audit: Audit,
    pub(super) impacts: Moments,
    /// (E − E', E), (E_r' − E_r, E), (g·(g − g'), g²).
    pub(super) energy_loss: Moments,
    pub(super) exchange: Moments,
    pub(super) drag: Moments,
    pub(super) exchange_squared: Moments,
    /// E_t, E_r before; E_t', E_r' after.
    pub(super) energies: [Moments; 2],
    pub(super) angle: Moments,
    /// 1 − cos χ and 1 − cos²χ over all samples.
    pub(super) transport: [Moments; 2],
    pub(super) chord: Moments,
    pub(super) bins: [u64; BINS],
}

impl Totals {
    /// No samples.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "an empty sum is asked for by name")]
    pub fn new() -> Self {
        let zero = Moments::default();
        Self {
            samples: 0,
            hits: 0,
            unresolved: 0,
            continued: 0,
            first_unresolved: None,
            hash: 0,
            audit: Audit::default(),
            impacts: zero,
            energy_loss: zero,
            exchange: zero,
            drag: zero,
            exchange_squared: zero,
            energies: [zero; 2],
            angle: zero,
            transport: [zero; 2],
            chord: zero,
            bins: [0; BINS],
        }
    }

    /// Adds a sample.
    pub fn add(&mut self, setup: &Setup, sample: &Sample) {
        self.samples += 1;
        self.hash = self.hash.wrapping_add(sample.hash());
        self.continued += u64::from(sample.continued);
        self.hits += u64::from(sample.is_hit());
        if let Some(chord) = sample.chord {
            self.chord.add(chord, 0.0);
        }
        let mut transport = [0.0; 2];
        match sample.end {
            End::Missed => {}
            End::Unresolved => {
                self.unresolved += 1;
                self.first_unresolved.get_or_insert(sample.number);
                return;
            }
            End::Parted => {
                let exchange = setup.exchange(sample);
                let [g, after] = exchange.relative;
                let ([t, t_after], [r, r_after]) = (exchange.translation, exchange.rotation);
                let (before, gain) = (t + r, r_after - r);
                self.impacts.add(f64::from(sample.impacts), 0.0);
                self.energy_loss.add(before - (t_after + r_after), before);
                self.exchange.add(gain, before);
                self.exchange_squared.add(gain * gain, 0.0);
                self.drag.add(g.dot(&(g - after)), g.norm_squared());
                self.energies[0].add(t, t_after);
                self.energies[1].add(r, r_after);
                let angle = sample.angle();
                let cos = libm::cos(angle);
                self.angle.add(angle, 0.0);
                transport = [1.0 - cos, (1.0 - cos) * (1.0 + cos)];
                self.bins[bin(cos)] += 1;
                let [linear, angular, energy] = setup.invariants(sample);
                self.audit.note(&Audit {
                    energy_error_max: energy,
                    linear_error_max: linear,
                    angular_error_max: angular,
                    impact_error_max: sample.audit_error,
                    worst_sample: Some(sample.number),
                });
            }
        }
        for (moments, x) in self.transport.iter_mut().zip(transport) {
            moments.add(x, 0.0);
        }
    }

    /// Adds the samples that follow.
    pub fn merge(&mut self, next: &Self) {
        self.samples += next.samples;
        self.hits += next.hits;
        self.unresolved += next.unresolved;
        self.continued += next.continued;
        self.first_unresolved = self.first_unresolved.or(next.first_unresolved);
        self.hash = self.hash.wrapping_add(next.hash);
        self.audit.note(&next.audit);
        self.impacts.merge(&next.impacts);
        self.energy_loss.merge(&next.energy_loss);
        self.exchange.merge(&next.exchange);
        self.drag.merge(&next.drag);
        self.exchange_squared.merge(&next.exchange_squared);
        for (moments, next) in self.energies.iter_mut().zip(&next.energies) {
            moments.merge(next);
        }
        self.angle.merge(&next.angle);
        for (moments, next) in self.transport.iter_mut().zip(&next.transport) {
            moments.merge(next);
        }
        self.chord.merge(&next.chord);
        for (bin, next) in self.bins.iter_mut().zip(next.bins) {
            *bin += next;
        }
    }

    /// How many samples there are.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.samples
    }
}

/// The bin of a cosine.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a small whole number, not negative"
)]
fn bin(cos: f64) -> usize {
    (((cos + 1.0) * (0.5 * BINS as f64)).max(0.0) as usize).min(BINS - 1)
}
