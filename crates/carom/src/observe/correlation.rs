//! Correlations in time: the mean-square displacement and the velocity autocorrelation, from every origin.
//!
//! ```text
//! msd(τ) = ⟨|c(t+τ) − c(t)|²⟩,   vacf(τ) = ⟨v(t+τ)·v(t)⟩,   D = lim msd/(6τ) = ∫ vacf dτ / 3
//! ```
//!
//! Lags grow in levels, as in Frenkel and Smit's order-n scheme: level l looks at every 8^l-th measurement, back over the last 16
//! of them, so the lags are 1 to 15 measurements, then 16 to 120 in steps of 8, and so on. Places are compared as they
//! are, nothing is averaged on the way up. Up to [`MOST_TRACKED`] bodies, evenly taken, are followed.
//!
//! **Errors.** All sums are also kept by blocks of time, 32 to 64 of them. D of the whole less one group of blocks, for each group in
//! turn, gives its error (the jackknife). Groups are twice as long as the longest lag that D is made of, so that they hardly share
//! a motion; bodies do not count as independent, as they are not. Fewer than [`GROUPS`] such groups give no error. D from
//! displacements is the slope up to a lag of 1/32 of the time, or of 16 measurements where that is more.

use serde::{Deserialize, Serialize};

use crate::body::State;
use crate::run::World;
use crate::shape::Shape;

/// The most bodies followed.
pub const MOST_TRACKED: usize = 1000;

/// Measurements of a level that are kept.
const KEPT: usize = 16;

/// The ratio of the strides of two levels.
pub(super) const RATIO: u64 = 8;

/// The most levels: lags up to 4·10⁶ measurements.
const LEVELS: u32 = 7;

/// The blocks of time are joined two by two when there are so many.
const MOST_BLOCKS: usize = 64;

/// The fewest groups of blocks that make an error.
const GROUPS: u64 = 8;

/// A group of blocks is so many times as long as the longest lag.
const INDEPENDENT: u64 = 2;

/// The time is so many times as long as the longest lag that diffusion is taken from.
const SHARE: u64 = 32;

/// Displacement squared, velocities multiplied, and the number of origins.
type Sum = (f64, f64, u64);

/// What is followed, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Correlation {
    /// The bodies.
    tracked: Vec<u32>,
    levels: Vec<Level>,
    /// ⟨v²⟩ added up over the measurements, and their number.
    square: (f64, u64),
    /// The same by blocks of time, with the measurements of one.
    #[serde(default)]
    blocks: Vec<Block>,
    #[serde(default)]
    span: u64,
}

/// What one block of time adds up.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Block {
    square: (f64, u64),
    /// By level and lag.
    levels: Vec<Vec<Sum>>,
}

impl Block {
    fn join(&mut self, other: &Self, sign: f64) {
        let count = |a: u64, b: u64| if sign > 0.0 { a + b } else { a.saturating_sub(b) };
        self.square = (self.square.0 + sign * other.square.0, count(self.square.1, other.square.1));
        if self.levels.len() < other.levels.len() {
            self.levels.resize(other.levels.len(), vec![(0.0, 0.0, 0); KEPT]);
        }
        for (sum, more) in self.levels.iter_mut().flatten().zip(other.levels.iter().flatten()) {
            *sum = (sum.0 + sign * more.0, sum.1 + sign * more.1, count(sum.2, more.2));
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Level {
    /// The last measurements, the newest at the end: place and velocity of each body.
    kept: std::collections::VecDeque<Vec<[f64; 6]>>,
    /// By lag: displacement squared, velocities multiplied, and the number of origins.
    sums: Vec<Sum>,
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
    /// Its standard error, where the run is long enough to tell.
    pub diffusion_error: Option<f64>,
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
        let mut correlation =
            Self { tracked, levels: Vec::new(), square: (0.0, 0), blocks: Vec::new(), span: 1 };
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
        for block in &mut self.blocks {
            let mut stride = 1;
            for level in &mut block.levels {
                if stride < every {
                    level.fill((0.0, 0.0, 0));
                }
                stride *= RATIO;
            }
        }
    }

    /// The block that a measurement belongs to; none where an older record has no blocks.
    fn block(&mut self, number: u64) -> Option<&mut Block> {
        if self.span == 0 {
            return None;
        }
        while number / self.span >= MOST_BLOCKS as u64 {
            let pairs = self.blocks.chunks(2).map(|pair| {
                let mut joined = pair[0].clone();
                pair[1..].iter().for_each(|block| joined.join(block, 1.0));
                joined
            });
            self.blocks = pairs.collect();
            self.span *= 2;
        }
        let place = usize::try_from(number / self.span).ok()?;
        if self.blocks.len() <= place {
            self.blocks.resize(place + 1, Block::default());
        }
        self.blocks.get_mut(place)
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
        let mut part = Block { square: (weight * square, every), levels: Vec::new() };
        let mut stride = 1;
        for level in 0..LEVELS as usize {
            if !number.is_multiple_of(stride) {
                break;
            }
            if level == self.levels.len() {
                self.levels.push(Level { kept: Default::default(), sums: vec![(0.0, 0.0, 0); KEPT] });
            }
            part.levels.push(vec![(0.0, 0.0, 0); KEPT]);
            if stride >= every {
                self.levels[level].take(&now, count, level == 0, &mut part.levels[level]);
            }
            stride *= RATIO;
        }
        if let Some(block) = self.block(number) {
            block.join(&part, 1.0);
        }
    }

    /// The lags in measurements, with both averages, in rising order.
    fn averages(&self) -> Vec<Average> {
        averages(self.square, self.levels.iter().map(|level| &level.sums[..]))
    }

    /// The standard error of what a function makes of the averages, by leaving out one group of blocks at a time; `longest` is the
    /// longest lag that it looks at.
    #[expect(clippy::cast_precision_loss, reason = "few groups")]
    fn error(&self, longest: u64, function: impl Fn(&[Average]) -> Option<f64>) -> Option<f64> {
        let length = (INDEPENDENT * longest).div_ceil(self.span.max(1)).max(1);
        let groups: Vec<&[Block]> = self.blocks.chunks_exact(usize::try_from(length).ok()?).collect();
        if (groups.len() as u64) < GROUPS {
            return None;
        }
        let mut whole = Block::default();
        groups.iter().copied().flatten().for_each(|block| whole.join(block, 1.0));
        let without = |group: &&[Block]| {
            let mut rest = whole.clone();
            group.iter().for_each(|block| rest.join(block, -1.0));
            function(&averages(rest.square, rest.levels.iter().map(|level| &level[..])))
        };
        let values: Vec<f64> = groups.iter().map(without).collect::<Option<_>>()?;
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let spread: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        Some((spread * (count - 1.0) / count).sqrt())
    }

    /// The mean-square displacement, with D from its slope.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "lags below 2^53")]
    pub fn displacement(&self, interval: f64) -> Curve {
        let all = self.averages();
        // Longer lags have too few independent origins to tell an error.
        let most = (self.square.1 / SHARE).max(KEPT as u64);
        let lags = |all: &[Average]| {
            let good = || all.iter().filter(|entry| entry.3 >= ENOUGH && entry.0 <= most);
            let last = good().next_back().filter(|_| good().count() > KEPT)?.0;
            Some((good().map(|entry| entry.0).min_by_key(|lag| (2 * lag).abs_diff(last))?, last))
        };
        let lags = lags(&all).filter(|(middle, last)| middle < last);
        let slope = |all: &[Average]| {
            let (middle, last) = lags?;
            let at = |lag: u64| all.iter().find(|entry| entry.0 == lag).map(|entry| entry.1);
            Some((at(last)? - at(middle)?) / (6.0 * (last - middle) as f64 * interval))
        };
        Curve {
            time: all.iter().map(|entry| entry.0 as f64 * interval).collect(),
            value: all.iter().map(|entry| entry.1).collect(),
            diffusion: slope(&all),
            diffusion_error: lags.and_then(|(_, last)| self.error(last, slope)),
        }
    }

    /// The velocity autocorrelation, with D from its integral: Simpson's rule over the first lags, where it falls, and trapezia
    /// after, up to the end of the second level.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "lags below 2^53")]
    pub fn velocities(&self, interval: f64) -> Curve {
        let all = self.averages();
        let even = 2 * ((KEPT - 1) / 2);
        let enough =
            all.iter().take_while(|entry| entry.3 >= ENOUGH && entry.0 < RATIO * KEPT as u64).count();
        let integral = |all: &[Average]| {
            let value = |i: usize| all.get(i).map(|entry| entry.2);
            let time = |i: usize| all.get(i).map(|entry| entry.0 as f64 * interval);
            let mut sum = 0.0;
            for i in (0..even).step_by(2) {
                sum += (value(i)? + 4.0 * value(i + 1)? + value(i + 2)?) * interval / 3.0;
            }
            for i in even..enough - 1 {
                sum += 0.5 * (value(i)? + value(i + 1)?) * (time(i + 1)? - time(i)?);
            }
            Some(sum / 3.0)
        };
        let long = enough > even;
        Curve {
            time: all.iter().map(|entry| entry.0 as f64 * interval).collect(),
            value: all.iter().map(|entry| entry.2).collect(),
            diffusion: if long { integral(&all) } else { None },
            diffusion_error: if long { self.error(all[enough - 1].0, integral) } else { None },
        }
    }
}

/// A lag in measurements, the mean-square displacement and the product of velocities there, and the number of origins.
type Average = (u64, f64, f64, u64);

/// The averages of some sums, in rising order of the lags.
#[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
fn averages<'a>(square: (f64, u64), levels: impl Iterator<Item = &'a [Sum]>) -> Vec<Average> {
    let mut found = Vec::new();
    if square.1 > 0 {
        found.push((0, 0.0, square.0 / square.1 as f64, square.1));
    }
    let mut stride = 1;
    for level in levels {
        for (back, &(displacement, product, origins)) in (0u64..).zip(level) {
            if origins > 0 {
                let count = origins as f64;
                found.push((back * stride, displacement / count, product / count, origins));
            }
        }
        stride *= RATIO;
    }
    found
}

/// The fewest origins that make an average.
const ENOUGH: u64 = 4;

impl Level {
    fn take(&mut self, now: &[[f64; 6]], count: f64, lowest: bool, part: &mut [Sum]) {
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
            for sum in [&mut self.sums[back], &mut part[back]] {
                *sum = (sum.0 + displacement / count, sum.1 + product / count, sum.2 + 1);
            }
        }
    }
}
