//! Sums over samples, in numbers of a fixed size.
#![deny(clippy::disallowed_methods, clippy::std_instead_of_core, clippy::std_instead_of_alloc)]

use super::moments::Moments;
use super::sample::{End, Sample};
use super::setup::Setup;
use super::worth::{QUANTITIES, Worth};

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

    pub(super) fn note(&mut self, other: &Self) {
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
    /// In the order of [`Quantity`](super::worth::Quantity).
    pub(super) moments: [Moments; QUANTITIES],
    pub(super) bins: [u64; BINS],
}

impl Totals {
    /// No samples.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "an empty sum is asked for by name")]
    pub fn new() -> Self {
        Self {
            samples: 0,
            hits: 0,
            unresolved: 0,
            continued: 0,
            first_unresolved: None,
            hash: 0,
            audit: Audit::default(),
            moments: [Moments::default(); QUANTITIES],
            bins: [0; BINS],
        }
    }

    /// Adds a sample.
    pub fn add(&mut self, setup: &Setup, sample: &Sample) {
        let worth = setup.worth(sample);
        self.count(&worth);
        for (moments, pair) in self.moments.iter_mut().zip(worth.pairs) {
            moments.add_some(pair);
        }
    }

    /// Adds all of a sample but its moments.
    pub fn count(&mut self, worth: &Worth) {
        self.samples += 1;
        self.hash = self.hash.wrapping_add(worth.hash);
        self.continued += u64::from(worth.continued);
        self.hits += u64::from(worth.hit);
        if worth.end == End::Unresolved {
            self.unresolved += 1;
            self.first_unresolved.get_or_insert(worth.number);
        }
        if let Some(bin) = worth.bin {
            self.bins[bin] += 1;
            self.audit.note(&Audit { worst_sample: Some(worth.number), ..worth.audit });
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
        for (moments, next) in self.moments.iter_mut().zip(&next.moments) {
            moments.merge(next);
        }
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
