//! Results of the measurements: means with errors, curves, and both over several runs.

use serde::Serialize;

use super::correlation::Curve;
use super::{Block, Observer, Record};
use crate::fill::theory;

/// A mean and its standard error; `None` without data.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Estimate {
    /// The mean.
    pub mean: Option<f64>,
    /// The standard error of the mean; `None` with fewer than two blocks or runs.
    pub error: Option<f64>,
}

/// A quantity that is averaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Quantity {
    /// Z = PV/(N k_B T).
    Compressibility,
    /// Collisions of one body per time.
    CollisionRate,
    /// k_B T of the translations.
    TemperatureTranslational,
    /// k_B T of the active spins.
    TemperatureRotational,
    /// The fraction of the volume that bodies fill.
    PackingFraction,
    /// P.
    Pressure,
    /// The path of a body between two collisions.
    MeanFreePath,
    /// S.
    NematicOrder,
}

impl Quantity {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Compressibility,
        Self::CollisionRate,
        Self::TemperatureTranslational,
        Self::TemperatureRotational,
        Self::PackingFraction,
        Self::Pressure,
        Self::MeanFreePath,
        Self::NematicOrder,
    ];

    /// Its name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compressibility => "compressibility",
            Self::CollisionRate => "collision_rate",
            Self::TemperatureTranslational => "temperature_translational",
            Self::TemperatureRotational => "temperature_rotational",
            Self::PackingFraction => "packing_fraction",
            Self::Pressure => "pressure",
            Self::MeanFreePath => "mean_free_path",
            Self::NematicOrder => "nematic_order",
        }
    }

    /// Its unit.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Compressibility | Self::PackingFraction | Self::NematicOrder => "1",
            Self::CollisionRate => "1/s",
            Self::TemperatureTranslational | Self::TemperatureRotational => "J",
            Self::Pressure => "Pa",
            Self::MeanFreePath => "m",
        }
    }
}

/// The means over one block.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockMeans {
    /// When it begins.
    pub begin: f64,
    /// When it ends.
    pub end: f64,
    /// Its collisions.
    pub collisions: u64,
    /// The quantities, in the order of [`Quantity::ALL`].
    pub means: [Option<f64>; 8],
}

/// g(r), and the pressure that follows from it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Neighbours {
    /// Distances.
    pub r: Vec<f64>,
    /// g at these distances.
    pub g: Vec<f64>,
    /// Configurations counted.
    pub configurations: u64,
    /// For equal spheres, g at contact: from a parabola fitted to ln g close to it.
    pub contact: Option<f64>,
    /// Z = 1 + 4 φ g at contact: an estimate that uses no impulse.
    pub compressibility: Option<f64>,
}

/// Everything measured.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Observables {
    /// The quantities, in the order of [`Quantity::ALL`].
    pub estimates: [Estimate; 8],
    /// The number of blocks that the errors come from.
    pub blocks: u64,
    /// The length of a block.
    pub block_time: f64,
    /// The time measured.
    pub time: f64,
    /// The time between measurements.
    pub interval: f64,
    /// For equal elastic spheres, Z from the collision rate by Γ = 4σ²n g √(πT/m) and Z = 1 + 4φg: another estimate without impulses.
    pub compressibility_from_rate: Option<f64>,
    /// g(r); `None` if no configuration was counted.
    pub neighbours: Option<Neighbours>,
    /// The mean-square displacement.
    pub displacement: Curve,
    /// The velocity autocorrelation.
    pub velocities: Curve,
}

/// How far from contact, in diameters, g(r) is fitted.
const FITTED: f64 = 0.15;

impl Observer {
    /// The quantities averaged over a block.
    #[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
    fn means(&self, block: &Block) -> [Option<f64>; 8] {
        let gas = &self.gas;
        let intervals = block.intervals as f64;
        if block.intervals == 0 {
            return [None; 8];
        }
        let time = intervals * self.record.interval;
        let kinetic = block.means.translational / intervals;
        let rate = block.sides as f64 / (gas.count * time);
        let virial = block.virial / time;
        let speed = block.means.speed / intervals;
        Quantity::ALL.map(|quantity| match quantity {
            Quantity::Compressibility => (kinetic > 0.0).then(|| 1.0 + virial / (2.0 * kinetic)),
            Quantity::CollisionRate => Some(rate),
            Quantity::TemperatureTranslational => Some(kinetic / (1.5 * gas.count)),
            Quantity::TemperatureRotational => {
                (gas.spins > 0.0).then(|| 2.0 * block.means.rotational / intervals / gas.spins)
            }
            Quantity::PackingFraction => Some(gas.packing),
            Quantity::Pressure => Some((2.0 * kinetic + virial) / (3.0 * gas.volume)),
            Quantity::MeanFreePath => (rate > 0.0).then(|| speed / rate),
            Quantity::NematicOrder => {
                gas.axes.iter().any(Option::is_some).then(|| block.means.order / intervals)
            }
        })
    }

    /// The means over each complete block.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
    pub fn blocks(&self) -> Vec<BlockMeans> {
        let Record { blocks, span, interval, .. } = &self.record;
        let length = *span as f64 * interval;
        blocks
            .iter()
            .enumerate()
            .map(|(i, block)| BlockMeans {
                begin: i as f64 * length,
                end: (i + 1) as f64 * length,
                collisions: block.collisions,
                means: self.means(block),
            })
            .collect()
    }

    /// Everything measured so far.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
    pub fn observables(&self) -> Observables {
        let Record { blocks, block, span, interval, measured, every, histogram, correlation, .. } =
            &self.record;
        let mut whole = *block;
        blocks.iter().for_each(|block| whole.merge(block));
        let all = self.means(&whole);
        let parts: Vec<[Option<f64>; 8]> = blocks.iter().map(|block| self.means(block)).collect();
        let mut estimates = [Estimate::default(); 8];
        for (i, estimate) in estimates.iter_mut().enumerate() {
            let values: Vec<f64> = match (Quantity::ALL[i], all[i], all[1]) {
                // λ is a ratio, and a block may have no collision at all: its error is that of |v| − λΓ over Γ.
                (Quantity::MeanFreePath, Some(path), Some(rate)) => blocks
                    .iter()
                    .zip(&parts)
                    .filter_map(|(block, part)| {
                        Some((block.means.speed / block.intervals as f64 - path * part[1]?) / rate)
                    })
                    .collect(),
                _ => parts.iter().filter_map(|part| part[i]).collect(),
            };
            *estimate = Estimate { mean: all[i], error: standard_error(&values) };
        }
        let gas = &self.gas;
        // A gas that cools has no single temperature and no diffusion coefficient.
        let steady = |curve: Curve| {
            if gas.elastic { curve } else { Curve { diffusion: None, diffusion_error: None, ..curve } }
        };
        let diameter = gas.diameter.filter(|_| gas.elastic);
        let from_rate = diameter.zip(all[1]).zip(all[2]).and_then(|((diameter, rate), temperature)| {
            let ideal = theory::enskog_rate(diameter, gas.count / gas.volume, 1.0, temperature, gas.mass);
            (ideal > 0.0).then(|| 1.0 + 4.0 * gas.packing * rate / ideal)
        });
        let neighbours = histogram.as_ref().filter(|histogram| histogram.pairs() > 0).map(|histogram| {
            let points = histogram.g_r(gas.volume);
            let contact = gas.diameter.and_then(|diameter| contact(&points, diameter));
            Neighbours {
                r: points.iter().map(|point| point.0).collect(),
                g: points.iter().map(|point| point.1).collect(),
                configurations: histogram.configurations(),
                contact,
                compressibility: contact.map(|g| 1.0 + 4.0 * gas.packing * g),
            }
        });
        Observables {
            estimates,
            blocks: blocks.len() as u64,
            block_time: *span as f64 * interval,
            time: (*measured - *every) as f64 * interval,
            interval: *interval,
            compressibility_from_rate: from_rate,
            neighbours,
            displacement: steady(correlation.displacement(*interval)),
            velocities: steady(correlation.velocities(*interval)),
        }
    }
}

/// The standard error of the mean of some values.
#[expect(clippy::cast_precision_loss, reason = "few values")]
fn standard_error(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    if values.iter().all(|value| value == &values[0]) {
        // Exactly zero, without the rounding of the mean.
        return Some(0.0);
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (count - 1.0);
    Some((variance / count).sqrt())
}

/// g at contact, from ln g = a + b x + c x² by least squares over the first shells. `None` if a shell is empty, or if g falls so fast that
/// the shells do not resolve it, as it does close to jamming.
fn contact(points: &[(f64, f64)], diameter: f64) -> Option<f64> {
    let close: Vec<(f64, f64)> = points
        .iter()
        .filter(|(r, _)| *r > diameter && *r < (1.0 + FITTED) * diameter)
        .map(|&(r, g)| (r / diameter - 1.0, libm::log(g)))
        .collect();
    if close.len() < 6 || close.iter().any(|(_, value)| !value.is_finite()) {
        return None;
    }
    if close[0].1 - close[3].1 > core::f64::consts::LN_2 {
        return None;
    }
    let mut normal = nalgebra::Matrix3::zeros();
    let mut right = nalgebra::Vector3::zeros();
    for (x, value) in close {
        let powers = nalgebra::Vector3::new(1.0, x, x * x);
        normal += powers * powers.transpose();
        right += powers * value;
    }
    let solution: nalgebra::Vector3<f64> = normal.cholesky()?.solve(&right);
    Some(libm::exp(solution.x))
}

/// Pools independent runs: the mean of their means, with its standard error.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "few runs")]
pub fn pool(runs: &[Observables]) -> [Estimate; 8] {
    let mut pooled = [Estimate::default(); 8];
    for (i, estimate) in pooled.iter_mut().enumerate() {
        let values: Vec<f64> = runs.iter().filter_map(|run| run.estimates[i].mean).collect();
        if !values.is_empty() {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            *estimate = Estimate { mean: Some(mean), error: standard_error(&values) };
        }
    }
    pooled
}
