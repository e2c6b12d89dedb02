//! Time correlations: the mean-square displacement and the velocity autocorrelation, averaged over time origins.
//!
//! ```text
//! msd(τ) = ⟨|c(t+τ) − c(t)|²⟩,   vacf(τ) = ⟨v(t+τ)·v(t)⟩,   D = lim msd/(6τ) = ∫ vacf dτ / 3
//! ```
//!
//! Lags grow in levels, as in the order-n scheme of Frenkel and Smit: level l uses every 8^l-th measurement and keeps the last 16 of them, so
//! the lags are 1 to 15 measurements, then 16 to 120 in steps of 8, and so on. Positions are not averaged between levels. Up to
//! [`MAX_TRACKED`] bodies, evenly spaced in the scene, are tracked.
//!
//! **Errors.** All sums are also kept by blocks of time, 32 to 64 of them. Leaving out one group of blocks after another gives the error of D
//! (the jackknife). A group is twice as long as the longest lag that enters D, so that groups are nearly independent; bodies are not
//! independent and are not counted as such. With fewer than [`GROUPS`] groups there is no error. D from displacements is the slope up to a
//! lag of 1/32 of the time, or of 16 measurements if that is longer.

use serde::{Deserialize, Serialize};

use crate::body::State;
use crate::run::World;
use crate::shape::Shape;

/// The most bodies tracked.
pub const MAX_TRACKED: usize = 1000;

/// Measurements that a level keeps.
const HISTORY: usize = 16;

/// The ratio of the strides of two levels.
pub(super) const RATIO: u64 = 8;

/// The most levels: lags up to 4·10⁶ measurements.
const LEVELS: u32 = 7;

/// When there are this many blocks of time, they are merged in pairs.
const MOST_BLOCKS: usize = 64;

/// The fewest groups of blocks that give an error.
const GROUPS: u64 = 8;

/// The length of a group of blocks over the longest lag.
const INDEPENDENT: u64 = 2;

/// The time over the longest lag that enters the diffusion coefficient.
const SHARE: u64 = 32;

/// Sums of squared displacements and of products of velocities, and the number of origins.
type Sum = (f64, f64, u64);

/// The bodies tracked, and their sums.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Correlation {
    /// The bodies tracked.
    tracked: Vec<u32>,
    levels: Vec<Level>,
    /// The sum of ⟨v²⟩ over the measurements, and their number.
    square: (f64, u64),
    /// The same by blocks of time, and the number of measurements in a block.
    #[serde(default)]
    blocks: Vec<Block>,
    #[serde(default)]
    span: u64,
}

/// The sums of one block of time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Block {
    square: (f64, u64),
    /// By level and lag.
    levels: Vec<Vec<Sum>>,
}

impl Block {
    fn add(&mut self, other: &Self, sign: f64) {
        let count = |a: u64, b: u64| if sign > 0.0 { a + b } else { a.saturating_sub(b) };
        self.square = (self.square.0 + sign * other.square.0, count(self.square.1, other.square.1));
        if self.levels.len() < other.levels.len() {
            self.levels.resize(other.levels.len(), vec![(0.0, 0.0, 0); HISTORY]);
        }
        for (sum, more) in self.levels.iter_mut().flatten().zip(other.levels.iter().flatten()) {
            *sum = (sum.0 + sign * more.0, sum.1 + sign * more.1, count(sum.2, more.2));
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Level {
    /// The last measurements, the newest at the end: position and velocity of each body.
    #[serde(alias = "kept")]
    history: std::collections::VecDeque<Vec<[f64; 6]>>,
    /// By lag.
    sums: Vec<Sum>,
}

/// A function of the lag.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Curve {
    /// The lags.
    pub time: Vec<f64>,
    /// The values.
    pub value: Vec<f64>,
    /// The diffusion coefficient that follows, if the curve is long enough.
    pub diffusion: Option<f64>,
    /// Its standard error, if the run is long enough.
    pub diffusion_error: Option<f64>,
}

impl Correlation {
    /// Begins with the initial states.
    #[must_use]
    pub fn new(world: &World, states: &[State]) -> Self {
        let free: Vec<usize> = (0..world.bodies.len())
            .filter(|&i| !world.bodies[i].fixed && world.bodies[i].shape != Shape::Point)
            .collect();
        let every = free.len().div_ceil(MAX_TRACKED).max(1);
        let tracked = free.into_iter().step_by(every).filter_map(|i| u32::try_from(i).ok()).collect();
        let mut correlation =
            Self { tracked, levels: Vec::new(), square: (0.0, 0), blocks: Vec::new(), span: 1 };
        correlation.add(0, 1, states);
        correlation
    }

    /// Whether it can belong to a world.
    #[must_use]
    pub fn fits(&self, world: &World) -> bool {
        let is_complete = |entry: &Vec<[f64; 6]>| entry.len() == self.tracked.len();
        self.tracked.iter().all(|&i| (i as usize) < world.bodies.len())
            && self
                .levels
                .iter()
                .all(|level| level.history.iter().all(is_complete) && level.sums.len() == HISTORY)
    }

    /// Discards lags shorter than `every` measurements: they would be averages over another time than the others.
    pub fn discard_below(&mut self, every: u64) {
        let mut stride = 1;
        for level in &mut self.levels {
            if stride < every {
                level.history.clear();
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

    /// The block that a measurement belongs to; `None` for an older record without blocks.
    fn block(&mut self, number: u64) -> Option<&mut Block> {
        if self.span == 0 {
            return None;
        }
        while number / self.span >= MOST_BLOCKS as u64 {
            let pairs = self.blocks.chunks(2).map(|pair| {
                let mut merged = pair[0].clone();
                pair[1..].iter().for_each(|block| merged.add(block, 1.0));
                merged
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

    /// Adds the measurement with a number, one of `every` being made; levels with a shorter stride are not updated.
    pub fn add(&mut self, number: u64, every: u64, states: &[State]) {
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
                self.levels.push(Level { history: Default::default(), sums: vec![(0.0, 0.0, 0); HISTORY] });
            }
            part.levels.push(vec![(0.0, 0.0, 0); HISTORY]);
            if stride >= every {
                self.levels[level].add(&now, count, level == 0, &mut part.levels[level]);
            }
            stride *= RATIO;
        }
        if let Some(block) = self.block(number) {
            block.add(&part, 1.0);
        }
    }

    /// The lags in measurements, with both averages, in ascending order.
    fn averages(&self) -> Vec<Average> {
        averages(self.square, self.levels.iter().map(|level| &level.sums[..]))
    }

    /// The standard error of a function of the averages, by leaving out one group of blocks at a time; `longest` is the longest lag that the
    /// function uses.
    #[expect(clippy::cast_precision_loss, reason = "few groups")]
    fn error(&self, longest: u64, function: impl Fn(&[Average]) -> Option<f64>) -> Option<f64> {
        let length = (INDEPENDENT * longest).div_ceil(self.span.max(1)).max(1);
        let groups: Vec<&[Block]> = self.blocks.chunks_exact(usize::try_from(length).ok()?).collect();
        if (groups.len() as u64) < GROUPS {
            return None;
        }
        let mut whole = Block::default();
        groups.iter().copied().flatten().for_each(|block| whole.add(block, 1.0));
        let without = |group: &&[Block]| {
            let mut rest = whole.clone();
            group.iter().for_each(|block| rest.add(block, -1.0));
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
        // Longer lags have too few independent origins for an error.
        let most = (self.square.1 / SHARE).max(HISTORY as u64);
        let lags = |all: &[Average]| {
            let good = || all.iter().filter(|entry| entry.3 >= ENOUGH && entry.0 <= most);
            let last = good().next_back().filter(|_| good().count() > HISTORY)?.0;
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

    /// The velocity autocorrelation, with D from its integral: Simpson's rule over the first lags, where it decays, and the trapezoidal rule
    /// after that, up to the end of the second level.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "lags below 2^53")]
    pub fn velocities(&self, interval: f64) -> Curve {
        let all = self.averages();
        let even = 2 * ((HISTORY - 1) / 2);
        let enough =
            all.iter().take_while(|entry| entry.3 >= ENOUGH && entry.0 < RATIO * HISTORY as u64).count();
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

/// The averages from some sums, in ascending order of the lags.
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

/// The fewest origins that give an average.
const ENOUGH: u64 = 4;

impl Level {
    fn add(&mut self, now: &[[f64; 6]], count: f64, lowest: bool, part: &mut [Sum]) {
        if self.history.len() == HISTORY {
            self.history.pop_front();
        }
        self.history.push_back(now.to_vec());
        // The shortest lags of a higher level are lags of the one below.
        let first = if lowest { 1 } else { 2 };
        for back in first..self.history.len() {
            let then = &self.history[self.history.len() - 1 - back];
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
