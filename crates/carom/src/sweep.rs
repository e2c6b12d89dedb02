//! Many scenes from one: which numbers sample i has.
//!
//! Random numbers come from the stream of the sample's number, in the order of the entries, so that sample i depends on the seed and on i
//! alone. The entries with `values` and `grid` make a grid, of which the last entry varies fastest; sample i lies at point i modulo their number.

use core::f64::consts::TAU;

use nalgebra::Vector3;

use crate::fill::random::Random;
use crate::scene::model::{SweepSettings, Varied};

/// Which samples there are.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    settings: SweepSettings,
    /// The points of the grid.
    points: u64,
    samples: u64,
    /// For each number its names in expressions: the numbers before it, by path and by name.
    columns: Vec<String>,
}

/// Why there are no samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoPlan {
    /// Nothing varies.
    NothingVaries,
    /// Nothing but random numbers varies, and the number of samples is not given.
    NoCount,
    /// The grid has too many points.
    TooMany,
}

/// The most samples.
const MOST: u64 = 1 << 52;

impl Plan {
    /// The samples of a sweep.
    ///
    /// # Errors
    /// If it is not said how many.
    pub fn new(settings: &SweepSettings) -> Result<Self, NoPlan> {
        if settings.vary.is_empty() {
            return Err(NoPlan::NothingVaries);
        }
        let counts = settings.vary.iter().filter_map(|vary| count(&vary.how));
        let points = counts.clone().try_fold(1u64, u64::checked_mul).filter(|&points| points <= MOST);
        let points = points.ok_or(NoPlan::TooMany)?;
        let samples = match settings.samples {
            Some(samples) => samples,
            None if counts.count() > 0 => points,
            None => return Err(NoPlan::NoCount),
        };
        let columns = settings.vary.iter().flat_map(crate::scene::model::Vary::columns).collect();
        Ok(Self { settings: settings.clone(), points, samples, columns })
    }

    /// How many samples.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// What varies.
    #[must_use]
    pub fn settings(&self) -> &SweepSettings {
        &self.settings
    }

    /// The names of the numbers of a sample.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The numbers of a sample.
    #[must_use]
    pub fn numbers(&self, sample: u64) -> Vec<f64> {
        let mut random = Random::new(self.settings.seed, sample);
        let mut numbers = Vec::with_capacity(self.columns.len());
        // The place in the grid, and how many points one value of the next entry of it has.
        let (mut place, mut block) = (sample % self.points, self.points);
        for vary in &self.settings.vary {
            let mut in_grid = |count: u64| {
                block /= count;
                let k = place / block;
                place %= block;
                k
            };
            match &vary.how {
                Varied::Uniform([from, to]) => numbers.push(from + (to - from) * random.uniform()),
                Varied::Normal([mean, deviation]) => numbers.push(mean + deviation * random.normal()),
                Varied::Values(values) => {
                    let k = in_grid(values.len() as u64);
                    numbers.push(
                        usize::try_from(k).ok().and_then(|k| values.get(k)).copied().unwrap_or(f64::NAN),
                    );
                }
                Varied::Grid { from, to, count } => {
                    let k = in_grid(*count);
                    numbers.push(point(*from, *to, k, *count));
                }
                Varied::Direction(length) => {
                    let z = 2.0 * random.uniform() - 1.0;
                    let (sin, cos) = libm::sincos(TAU * random.uniform());
                    let across = libm::sqrt((1.0 - z) * (1.0 + z));
                    let vector = Vector3::new(across * cos, across * sin, z) * *length;
                    numbers.extend(vector.iter());
                }
                Varied::Orientation => {
                    let q = random.orientation();
                    numbers.extend([q.w, q.i, q.j, q.k]);
                }
                Varied::Expression(expression) => numbers.push(expression.value(&numbers)),
            }
        }
        numbers
    }
}

/// How many values an entry of the grid has; none for others.
fn count(how: &Varied) -> Option<u64> {
    match how {
        Varied::Values(values) => Some(values.len() as u64),
        Varied::Grid { count, .. } => Some(*count),
        _ => None,
    }
}

/// The k-th of n values at equal distances, the ends exactly.
#[expect(clippy::cast_precision_loss, reason = "fewer than 2^53")]
fn point(from: f64, to: f64, k: u64, n: u64) -> f64 {
    if k == 0 {
        from
    } else if k + 1 == n {
        to
    } else {
        from + (to - from) * (k as f64 / (n - 1) as f64)
    }
}
