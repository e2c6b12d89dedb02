//! Means with their errors, put together from blocks in a fixed order (Chan, Golub and LeVeque 1979).
#![deny(clippy::disallowed_methods, clippy::std_instead_of_core, clippy::std_instead_of_alloc)]

/// A mean and its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(not(target_arch = "nvptx64"), derive(serde::Serialize))]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Its standard error; infinite for fewer than two samples.
    pub error: f64,
}

impl Estimate {
    /// Multiplied by a number.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self { mean: self.mean * factor, error: self.error * factor.abs() }
    }
}

/// The moments of pairs (x, y) up to the second.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Moments {
    pub(super) count: f64,
    pub(super) mean: [f64; 2],
    /// Σ(x − x̄)², Σ(x − x̄)(y − ȳ), Σ(y − ȳ)².
    pub(super) spread: [f64; 3],
}

impl Moments {
    /// Adds a pair.
    pub fn add(&mut self, x: f64, y: f64) {
        self.merge(&Self { count: 1.0, mean: [x, y], spread: [0.0; 3] });
    }

    /// Adds a pair, if there is one.
    pub fn add_some(&mut self, pair: Option<[f64; 2]>) {
        if let Some([x, y]) = pair {
            self.add(x, y);
        }
    }

    /// Adds those of others.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0.0 {
            return;
        }
        let count = self.count + other.count;
        let [x, y] = [0, 1].map(|i| other.mean[i] - self.mean[i]);
        let share = other.count / count;
        let weight = self.count * share;
        for (mean, by) in self.mean.iter_mut().zip([x, y]) {
            *mean += by * share;
        }
        for ((spread, other), by) in self.spread.iter_mut().zip(other.spread).zip([x * x, x * y, y * y]) {
            *spread += other + by * weight;
        }
        self.count = count;
    }

    /// The moments of (y, x).
    pub(super) fn swapped(&self) -> Self {
        let ([x, y], [xx, xy, yy]) = (self.mean, self.spread);
        Self { count: self.count, mean: [y, x], spread: [yy, xy, xx] }
    }

    /// x̄.
    pub(super) fn mean(&self) -> Option<Estimate> {
        (self.count > 0.0).then(|| self.estimate(self.mean[0], self.spread[0]))
    }

    /// x̄/ȳ, with the error to first order.
    pub(super) fn ratio(&self) -> Option<Estimate> {
        let [x, y] = self.mean;
        if self.count == 0.0 || y == 0.0 {
            return None;
        }
        let ratio = x / y;
        let [xx, xy, yy] = self.spread;
        // The spread of x − ratio·y, which rounding may make negative.
        let spread = (xx - 2.0 * ratio * xy + ratio * ratio * yy).max(0.0);
        Some(self.estimate(ratio, spread / (y * y)))
    }

    fn estimate(&self, mean: f64, spread: f64) -> Estimate {
        let error = if self.count > 1.0 {
            libm::sqrt(spread / (self.count * (self.count - 1.0)))
        } else {
            f64::INFINITY
        };
        Estimate { mean, error }
    }
}

#[cfg(test)]
mod tests {
    use super::Moments;

    /// Merged blocks are the moments of all pairs, as the plain sums have them.
    #[test]
    fn merged_moments_are_those_of_all() {
        let pairs: Vec<(f64, f64)> = (0..1000)
            .map(|i| {
                let t = f64::from(i);
                (libm::sin(t) + 0.3, 2.0 + libm::cos(1.7 * t) * libm::sin(t))
            })
            .collect();
        let mut whole = Moments::default();
        for block in pairs.chunks(37) {
            let mut part = Moments::default();
            block.iter().for_each(|&(x, y)| part.add(x, y));
            whole.merge(&part);
        }
        let n = pairs.len() as f64;
        let sum = |f: &dyn Fn(f64, f64) -> f64| pairs.iter().map(|&(x, y)| f(x, y)).sum::<f64>();
        let (x, y) = (sum(&|x, _| x) / n, sum(&|_, y| y) / n);
        let mean = whole.mean().unwrap();
        assert!((mean.mean - x).abs() < 1e-15);
        let square = |a: f64| a * a;
        let error = libm::sqrt(sum(&|a, _| square(a - x)) / (n * (n - 1.0)));
        assert!((mean.error / error - 1.0).abs() < 1e-12);
        let ratio = whole.ratio().unwrap();
        assert!((ratio.mean - x / y).abs() < 1e-15);
        let error = libm::sqrt(sum(&|a, b| square(a - x / y * b)) / (n * (n - 1.0))) / y;
        assert!((ratio.error / error - 1.0).abs() < 1e-12);
    }
}
