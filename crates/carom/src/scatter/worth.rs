//! What a sample adds to the sums: worked out for each sample by itself, so that adding up is all that has to be done in order.
#![deny(clippy::disallowed_methods, clippy::std_instead_of_core, clippy::std_instead_of_alloc)]

use super::sample::{End, Sample};
use super::setup::Setup;
use super::totals::{Audit, BINS};

/// What means are taken of, with a second number that it is divided by or compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// How many impacts.
    Impacts,
    /// (E − E', E).
    EnergyLoss,
    /// (E_r' − E_r, E).
    Exchange,
    /// (E_r' − E_r)².
    ExchangeSquared,
    /// (g·(g − g'), g²).
    Drag,
    /// (E_t, E_t').
    Translation,
    /// (E_r, E_r').
    Rotation,
    /// χ.
    Angle,
    /// 1 − cos χ, over all samples.
    Diffusion,
    /// 1 − cos²χ, over all samples.
    Viscosity,
    /// The chord, of the samples that have one.
    Chord,
}

/// How many there are.
pub const QUANTITIES: usize = 11;

/// What a sample adds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Worth {
    /// Its number.
    pub number: u64,
    /// How it ended.
    pub end: End,
    /// Whether the bodies touched.
    pub hit: bool,
    /// Whether it was run by the general engine.
    pub continued: bool,
    /// [`Sample::hash`].
    pub hash: u64,
    /// The bin of cos χ, if the bodies touched and parted.
    pub bin: Option<usize>,
    /// Its errors, if they did.
    pub audit: Audit,
    /// What it adds to each [`Quantity`].
    pub pairs: [Option<[f64; 2]>; QUANTITIES],
}

impl Setup {
    /// What a sample adds.
    #[must_use]
    pub fn worth(&self, sample: &Sample) -> Worth {
        let mut worth = Worth {
            number: sample.number,
            end: sample.end,
            hit: sample.is_hit(),
            continued: sample.continued,
            hash: sample.hash(),
            bin: None,
            audit: Audit::default(),
            pairs: [None; QUANTITIES],
        };
        let mut set = |quantity: Quantity, x: f64, y: f64| worth.pairs[quantity as usize] = Some([x, y]);
        if let Some(chord) = sample.chord {
            set(Quantity::Chord, chord, 0.0);
        }
        let mut transport = [0.0; 2];
        match sample.end {
            End::Missed => {}
            End::Unresolved => return worth,
            End::Parted => {
                let exchange = self.exchange(sample);
                let [g, after] = exchange.relative;
                let ([t, t_after], [r, r_after]) = (exchange.translation, exchange.rotation);
                let (before, gain) = (t + r, r_after - r);
                set(Quantity::Impacts, f64::from(sample.impacts), 0.0);
                set(Quantity::EnergyLoss, before - (t_after + r_after), before);
                set(Quantity::Exchange, gain, before);
                set(Quantity::ExchangeSquared, gain * gain, 0.0);
                set(Quantity::Drag, g.dot(&(g - after)), g.norm_squared());
                set(Quantity::Translation, t, t_after);
                set(Quantity::Rotation, r, r_after);
                let angle = sample.angle();
                let cos = libm::cos(angle);
                set(Quantity::Angle, angle, 0.0);
                transport = [1.0 - cos, (1.0 - cos) * (1.0 + cos)];
                worth.bin = Some(bin(cos));
                let [linear, angular, energy] = self.invariants(sample);
                worth.audit = Audit {
                    energy_error_max: energy,
                    linear_error_max: linear,
                    angular_error_max: angular,
                    impact_error_max: sample.audit_error,
                    worst_sample: Some(sample.number),
                };
            }
        }
        worth.pairs[Quantity::Diffusion as usize] = Some([transport[0], 0.0]);
        worth.pairs[Quantity::Viscosity as usize] = Some([transport[1], 0.0]);
        worth
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
