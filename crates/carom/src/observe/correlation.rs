//! Correlations in time: the mean-square displacement and the velocity autocorrelation, from every origin.
//!
//! ```text
//! msd(τ) = ⟨|c(t+τ) − c(t)|²⟩,   vacf(τ) = ⟨v(t+τ)·v(t)⟩,   D = lim msd/(6τ) = ∫ vacf dτ / 3
//! ```
//!
//! Lags grow in levels, as in Frenkel and Smit's order-n scheme: level l looks at every 8^l-th measurement, back over the last 16
//! of them, so the lags are 1 to 15 measurements, then 16 to 120 in steps of 8, and so on. Places are compared as they
//! are, nothing is averaged on the way up. Up to [`MOST_TRACKED`] bodies, evenly taken, are followed.

use serde::{Deserialize, Serialize};

use crate::body::State;
use crate::shape::Shape;
use crate::simulation::World;

/// The most bodies followed.
pub const MOST_TRACKED: usize = 1000;

/// Measurements of a level that are kept.
const KEPT: usize = 16;

/// The ratio of the strides of two levels.
pub(super) const RATIO: u64 = 8;

/// The most levels: lags up to 4·10⁶ measurements.
const LEVELS: u32 = 7;

/// What is followed, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Correlation {
    /// The bodies.
    tracked: Vec<u32>,
    levels: Vec<Level>,
    /// ⟨v²⟩ added up over the measurements, and their number.
    square: (f64, u64),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Level {
    /// The last measurements, the newest at the end: place and velocity of each body.
    kept: std::collections::VecDeque<Vec<[f64; 6]>>,
    /// By lag: displacement squared, velocities multiplied, and the number of origins.
    sums: Vec<(f64, f64, u64)>,
}

/// A function of the lag.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Curve {
    /// The lags.
    pub time: Vec<f64>,
    /// The values.
    pub value: Vec<f64>,
    /// The diffusion coefficient that follows, where the curve is long enough.
    pub diffusion: Option<f64>,
}

impl Correlation {
    /// Begins at the states of the start.
    #[must_use]
    pub fn new(world: &World, states: &[State]) -> Self {
        let free: Vec<usize> = (0..world.bodies.len())
            .filter(|&i| !world.bodies[i].fixed && world.bodies[i].shape != Shape::Point)
            .collect();
        let every = free.len().div_ceil(MOST_TRACKED).max(1);
        let tracked = free.into_iter().step_by(every).filter_map(|i| u32::try_from(i).ok()).collect();
        let mut correlation = Self { tracked, levels: Vec::new(), square: (0.0, 0) };
        correlation.take(0, 1, states);
        correlation
    }

    /// Whether it can have been made in a world.
    #[must_use]
    pub fn fits(&self, world: &World) -> bool {
        let whole = |kept: &Vec<[f64; 6]>| kept.len() == self.tracked.len();
        self.tracked.iter().all(|&i| (i as usize) < world.bodies.len())
            && self.levels.iter().all(|level| level.kept.iter().all(whole) && level.sums.len() == KEPT)
    }

    /// Forgets the lags that are shorter than so many measurements: they would be averages over another time than the others.
    pub fn forget_below(&mut self, every: u64) {
        let mut stride = 1;
        for level in &mut self.levels {
            if stride < every {
                level.kept.clear();
                level.sums.fill((0.0, 0.0, 0));
            }
            stride *= RATIO;
        }
    }

    /// Takes the measurement of a number, where one of `every` is made: levels that look at more than there are rest.
    pub fn take(&mut self, number: u64, every: u64, states: &[State]) {
        let now: Vec<[f64; 6]> = self
            .tracked
            .iter()
            .map(|&i| {
                let State { position: x, velocity: v, .. } = &states[i as usize];
                [x.x, x.y, x.z, v.x, v.y, v.z]
            })
            .collect();
        if now.is_empty() {
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "at most a thousand")]
        let count = now.len() as f64;
        let square = now.iter().map(|[.., x, y, z]| x * x + y * y + z * z).sum::<f64>() / count;
        #[expect(clippy::cast_precision_loss, reason = "fewer measurements than 2^53")]
        let weight = every as f64;
        self.square.0 += weight * square;
        self.square.1 += every;
        let mut stride = 1;
        for level in 0..LEVELS as usize {
            if !number.is_multiple_of(stride) {
                break;
            }
            if level == self.levels.len() {
                self.levels.push(Level { kept: Default::default(), sums: vec![(0.0, 0.0, 0); KEPT] });
            }
            if stride >= every {
                self.levels[level].take(&now, count, level == 0);
            }
            stride *= RATIO;
        }
    }

    /// The lags in measurements, with both averages, in rising order.
    #[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
    fn averages(&self) -> Vec<(u64, f64, f64, u64)> {
        let mut found = Vec::new();
        if self.square.1 > 0 {
            found.push((0, 0.0, self.square.0 / self.square.1 as f64, self.square.1));
        }
        let mut stride = 1;
        for level in &self.levels {
            for (back, &(displacement, product, origins)) in (0u64..).zip(&level.sums) {
                if origins > 0 {
                    let origins_f = origins as f64;
                    found.push((back * stride, displacement / origins_f, product / origins_f, origins));
                }
            }
            stride *= RATIO;
        }
        found
    }

    /// The mean-square displacement, with D from the slope over the second half of the lags that have origins enough.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "lags below 2^53")]
    pub fn displacement(&self, interval: f64) -> Curve {
        let all = self.averages();
        let good: Vec<(f64, f64)> = all
            .iter()
            .filter(|entry| entry.3 >= ENOUGH)
            .map(|entry| (entry.0 as f64 * interval, entry.1))
            .collect();
        let slope = good.last().filter(|_| good.len() > KEPT).and_then(|&(last, high)| {
            let &(middle, low) =
                good.iter().min_by(|a, b| (a.0 - 0.5 * last).abs().total_cmp(&(b.0 - 0.5 * last).abs()))?;
            (last > middle).then(|| (high - low) / (6.0 * (last - middle)))
        });
        Curve {
            time: all.iter().map(|entry| entry.0 as f64 * interval).collect(),
            value: all.iter().map(|entry| entry.1).collect(),
            diffusion: slope,
        }
    }

    /// The velocity autocorrelation, with D from its integral: Simpson's rule over the first lags, where it falls, and trapezia
    /// after, up to the end of the second level.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "lags below 2^53")]
    pub fn velocities(&self, interval: f64) -> Curve {
        let all = self.averages();
        let time: Vec<f64> = all.iter().map(|entry| entry.0 as f64 * interval).collect();
        let value: Vec<f64> = all.iter().map(|entry| entry.2).collect();
        let even = 2 * ((KEPT - 1) / 2);
        let enough =
            all.iter().take_while(|entry| entry.3 >= ENOUGH && entry.0 < RATIO * KEPT as u64).count();
        let diffusion = (enough > even).then(|| {
            let simpson: f64 = (0..even)
                .step_by(2)
                .map(|i| (value[i] + 4.0 * value[i + 1] + value[i + 2]) * interval / 3.0)
                .sum();
            let rest: f64 =
                (even..enough - 1).map(|i| 0.5 * (value[i] + value[i + 1]) * (time[i + 1] - time[i])).sum();
            (simpson + rest) / 3.0
        });
        Curve { time, value, diffusion }
    }
}

/// The fewest origins that make an average.
const ENOUGH: u64 = 4;

impl Level {
    fn take(&mut self, now: &[[f64; 6]], count: f64, lowest: bool) {
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(now.to_vec());
        // The first lags of a higher level are lags of the one below.
        let first = if lowest { 1 } else { 2 };
        for back in first..self.kept.len() {
            let then = &self.kept[self.kept.len() - 1 - back];
            let (mut displacement, mut product) = (0.0, 0.0);
            for (a, b) in then.iter().zip(now) {
                displacement += (b[0] - a[0]).powi(2) + (b[1] - a[1]).powi(2) + (b[2] - a[2]).powi(2);
                product += a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
            }
            let sum = &mut self.sums[back];
            *sum = (sum.0 + displacement / count, sum.1 + product / count, sum.2 + 1);
        }
    }
}
