//! Sums over samples, and the cross-sections and the kernel that they make.
//!
//! With p the share of hits of the N samples, B the radius of the disc, g and g' the relative velocities before and after, χ the angle between
//! them, and ⟨…⟩ the mean over the hits that were resolved,
//!
//! ```text
//! σ = πB² p,      dσ/dΩ = πB² p_k/(2π Δcos χ)       in each of equal bins of cos χ
//! Q₁ = ∫(1 − cos χ) dσ,   Q₂ = ∫(1 − cos²χ) dσ       for diffusion and for viscosity
//! energy_loss = ⟨E − E'⟩/⟨E⟩,   exchange = ⟨E_r' − E_r⟩/⟨E⟩,   drag = ⟨g·(g − g')⟩/⟨g²⟩
//! V_ex = πB² · 2 ⟨chord⟩ over all samples,   B₂ = V_ex/2
//! ```
//!
//! with E = E_t + E_r, the energies of the relative motion and of the spins. Errors are standard errors; those of ratios to first order.

use core::f64::consts::PI;

use serde::Serialize;

use super::moments::{Estimate, Moments};
use super::sample::{End, Sample};
use super::{Scattering, mean_speed};

/// Bins of cos χ from −1 to 1.
pub const BINS: usize = 50;

/// The worst relative errors over the samples.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
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
    samples: u64,
    hits: u64,
    unresolved: u64,
    continued: u64,
    /// Of some of the unresolved.
    first_unresolved: Option<u64>,
    hash: u64,
    audit: Audit,
    impacts: Moments,
    /// (E − E', E), (E_r' − E_r, E), (g·(g − g'), g²).
    energy_loss: Moments,
    exchange: Moments,
    drag: Moments,
    exchange_squared: Moments,
    /// E_t, E_r before; E_t', E_r' after.
    energies: [Moments; 2],
    angle: Moments,
    /// 1 − cos χ and 1 − cos²χ over all samples.
    transport: [Moments; 2],
    chord: Moments,
    bins: [u64; BINS],
}

impl Totals {
    /// No samples.
    pub(super) fn new() -> Self {
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
    pub(super) fn add(&mut self, scattering: &Scattering, sample: &Sample) {
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
                let exchange = scattering.setup.exchange(sample);
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
                let [linear, angular, energy] = scattering.setup.invariants(sample);
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
    pub(super) fn merge(&mut self, next: &Self) {
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

    /// What they make.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "fewer samples than 2^53")]
    pub fn kernel(&self, scattering: &Scattering) -> Kernel {
        let disc = PI * scattering.setup.reach * scattering.setup.reach;
        let all = self.samples as f64;
        let share = |count: u64| {
            let p = count as f64 / all;
            Estimate { mean: p, error: libm::sqrt(p * (1.0 - p) / (all - 1.0)) }
        };
        let cross_section = share(self.hits).times(disc);
        let width = 2.0 / BINS as f64;
        let edge = |k: usize| (2.0 * k as f64 - BINS as f64) / BINS as f64;
        let angle = self.bins.iter().enumerate().map(|(k, &count)| AngleBin {
            cos_from: edge(k),
            cos_to: edge(k + 1),
            count,
            differential_cross_section: share(count).times(disc / (2.0 * PI * width)),
        });
        let volume = self.chord.mean().map(|chord| chord.times(2.0 * disc));
        let [diffusion, viscosity] = self.transport.map(|moments| moments.mean().map(|x| x.times(disc)));
        let [translation, rotation] = self.energies;
        let flux = mean_speed(scattering.settings.translation, scattering.setup.reduced_mass);
        Kernel {
            samples: self.samples,
            hits: self.hits,
            unresolved: self.unresolved,
            first_unresolved: self.first_unresolved,
            continued: self.continued,
            cross_section,
            rate: cross_section.times(flux),
            diffusion_cross_section: diffusion,
            viscosity_cross_section: viscosity,
            impacts: self.impacts.mean(),
            energy_loss: self.energy_loss.ratio(),
            exchange: self.exchange.ratio(),
            exchange_squared: self.exchange_squared.mean(),
            drag: self.drag.ratio(),
            translation_before: translation.mean(),
            translation_after: translation.swapped().mean(),
            rotation_before: rotation.mean(),
            rotation_after: rotation.swapped().mean(),
            mean_angle: self.angle.mean(),
            angle: angle.collect(),
            excluded_volume: volume,
            second_virial_coefficient: volume.map(|volume| volume.times(0.5)),
            audit: self.audit,
            hash: self.hash,
        }
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

/// Cross-sections, and means over the hits.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    /// How many samples.
    pub samples: u64,
    /// How many of them touched.
    pub hits: u64,
    /// How many could not be followed until the bodies parted; they count as hits if they touched, and in no mean over hits.
    pub unresolved: u64,
    /// The first of those.
    pub first_unresolved: Option<u64>,
    /// How many were run by the general engine.
    pub continued: u64,
    /// σ.
    pub cross_section: Estimate,
    /// σ⟨g⟩: encounters per time of one pair in unit volume.
    pub rate: Estimate,
    /// Q₁.
    pub diffusion_cross_section: Option<Estimate>,
    /// Q₂.
    pub viscosity_cross_section: Option<Estimate>,
    /// Impacts of an encounter.
    pub impacts: Option<Estimate>,
    /// ⟨E − E'⟩/⟨E⟩.
    pub energy_loss: Option<Estimate>,
    /// ⟨E_r' − E_r⟩/⟨E⟩.
    pub exchange: Option<Estimate>,
    /// ⟨(E_r' − E_r)²⟩.
    pub exchange_squared: Option<Estimate>,
    /// ⟨g·(g − g')⟩/⟨g²⟩.
    pub drag: Option<Estimate>,
    /// ⟨E_t⟩.
    pub translation_before: Option<Estimate>,
    /// ⟨E_t'⟩.
    pub translation_after: Option<Estimate>,
    /// ⟨E_r⟩.
    pub rotation_before: Option<Estimate>,
    /// ⟨E_r'⟩.
    pub rotation_after: Option<Estimate>,
    /// ⟨χ⟩.
    pub mean_angle: Option<Estimate>,
    /// The distribution of cos χ.
    pub angle: Vec<AngleBin>,
    /// The volume that one body excludes the other's centre from, averaged over orientations.
    pub excluded_volume: Option<Estimate>,
    /// Half of it.
    pub second_virial_coefficient: Option<Estimate>,
    /// The audit.
    pub audit: Audit,
    /// Of the bits of all samples, the same in whatever order they are summed.
    pub hash: u64,
}

/// A bin of cos χ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AngleBin {
    /// Its lower edge.
    pub cos_from: f64,
    /// Its upper edge.
    pub cos_to: f64,
    /// How many hits.
    pub count: u64,
    /// dσ/dΩ.
    pub differential_cross_section: Estimate,
}
