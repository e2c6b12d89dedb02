//! The cross-sections and the collision kernel that sums over samples make.
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

use super::moments::Estimate;
use super::totals::{Audit, BINS, Totals};
use super::worth::Quantity;
use super::{Scattering, mean_speed};

impl Totals {
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
        let of = |quantity: Quantity| &self.moments[quantity as usize];
        let volume = of(Quantity::Chord).mean().map(|chord| chord.times(2.0 * disc));
        let [diffusion, viscosity] = [Quantity::Diffusion, Quantity::Viscosity]
            .map(|quantity| of(quantity).mean().map(|x| x.times(disc)));
        let [translation, rotation] = [of(Quantity::Translation), of(Quantity::Rotation)];
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
            impacts: of(Quantity::Impacts).mean(),
            energy_loss: of(Quantity::EnergyLoss).ratio(),
            exchange: of(Quantity::Exchange).ratio(),
            exchange_squared: of(Quantity::ExchangeSquared).mean(),
            drag: of(Quantity::Drag).ratio(),
            translation_before: translation.mean(),
            translation_after: translation.swapped().mean(),
            rotation_before: rotation.mean(),
            rotation_after: rotation.swapped().mean(),
            mean_angle: of(Quantity::Angle).mean(),
            angle: angle.collect(),
            excluded_volume: volume,
            second_virial_coefficient: volume.map(|volume| volume.times(0.5)),
            audit: self.audit,
            hash: self.hash,
        }
    }
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
