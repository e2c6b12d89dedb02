//! A free rotation in 32 digits, by Taylor series of Euler's equations and of the quaternion's.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// A number of two doubles.
#[derive(Debug, Clone, Copy)]
pub struct Precise {
    pub hi: f64,
    pub lo: f64,
}

fn sum(a: f64, b: f64) -> Precise {
    let hi = a + b;
    let of_b = hi - a;
    Precise { hi, lo: (a - (hi - of_b)) + (b - of_b) }
}

fn quick(a: f64, b: f64) -> Precise {
    let hi = a + b;
    Precise { hi, lo: b - (hi - a) }
}

impl Precise {
    /// a b, exactly.
    pub fn product(a: f64, b: f64) -> Self {
        let split = |x: f64| {
            let spread = 134_217_729.0 * x;
            let upper = spread - (spread - x);
            (upper, x - upper)
        };
        let hi = a * b;
        let ((a1, a2), (b1, b2)) = (split(a), split(b));
        Self { hi, lo: ((a1 * b1 - hi) + a1 * b2 + a2 * b1) + a2 * b2 }
    }

    pub fn sqrt(self) -> Self {
        let root = self.hi.sqrt();
        let rest = self - Self::product(root, root);
        quick(root, rest.hi / (2.0 * root))
    }
}

impl From<f64> for Precise {
    fn from(hi: f64) -> Self {
        Self { hi, lo: 0.0 }
    }
}

impl Neg for Precise {
    type Output = Self;
    fn neg(self) -> Self {
        Self { hi: -self.hi, lo: -self.lo }
    }
}

impl Add for Precise {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (large, small) = (sum(self.hi, other.hi), sum(self.lo, other.lo));
        let part = quick(large.hi, large.lo + small.hi);
        quick(part.hi, part.lo + small.lo)
    }
}

impl Sub for Precise {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Precise {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let product = Self::product(self.hi, other.hi);
        quick(product.hi, product.lo + (self.hi * other.lo + self.lo * other.hi))
    }
}

impl Div for Precise {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let first = self.hi / other.hi;
        let rest = self - other * Self::from(first);
        let second = rest.hi / other.hi;
        let rest = rest - other * Self::from(second);
        quick(first, second) + Self::from(rest.hi / other.hi)
    }
}

/// A decimal number of up to 30 places less a double.
pub fn difference(digits: &str, x: f64) -> f64 {
    let (whole, places) = digits.split_once('.').unwrap();
    let mut value = Precise::from(whole.parse::<f64>().unwrap()) - Precise::from(x);
    let mut unit = Precise::from(1.0);
    for part in places.as_bytes().chunks(10) {
        let part = std::str::from_utf8(part).unwrap();
        unit = unit / Precise::from(1e10);
        value = value + unit * Precise::from(part.parse::<f64>().unwrap());
    }
    value.hi
}

/// The rows of the turn from the world into body axes, of a quaternion of any length.
fn rows(q: &[Precise; 4]) -> [[Precise; 3]; 3] {
    let [w, x, y, z] = *q;
    let square = w * w + x * x + y * y + z * z;
    let two = Precise::from(2.0);
    [
        [w * w + x * x - y * y - z * z, two * (x * y + w * z), two * (x * z - w * y)],
        [two * (x * y - w * z), w * w - x * x + y * y - z * z, two * (y * z + w * x)],
        [two * (x * z + w * y), two * (y * z - w * x), w * w - x * x - y * y + z * z],
    ]
    .map(|row| row.map(|entry| entry / square))
}

pub fn in_body_axes(q: &[Precise; 4], v: &[Precise; 3]) -> [Precise; 3] {
    rows(q).map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
}

/// A vector in body axes as one of the world, rounded.
pub fn in_world(q: &[f64; 4], v: &[f64; 3]) -> [f64; 3] {
    let rows = rows(&q.map(Precise::from));
    core::array::from_fn(|i| {
        (0..3).fold(Precise::from(0.0), |sum, k| sum + rows[k][i] * Precise::from(v[k])).hi
    })
}

const ORDER: usize = 30;

/// A turning body.
pub struct Top {
    shares: [Precise; 3],
    spin: [Precise; 3],
    q: [Precise; 4],
    /// Coefficients of spin and quaternion.
    series: [[Precise; ORDER + 1]; 7],
}

impl Top {
    pub fn new(inertia: [f64; 3], orientation: [f64; 4], spin: [f64; 3], in_body: bool) -> Self {
        let [i, j, k] = inertia.map(Precise::from);
        let (q, spin) = (orientation.map(Precise::from), spin.map(Precise::from));
        Self {
            shares: [(j - k) / i, (k - i) / j, (i - j) / k],
            spin: if in_body { spin } else { in_body_axes(&q, &spin) },
            q,
            series: [[Precise::from(0.0); ORDER + 1]; 7],
        }
    }

    /// The quaternion at a time.
    pub fn turned(&mut self, t: f64) -> [Precise; 4] {
        let mut now = Precise::from(0.0);
        loop {
            self.expand();
            // So far that what is left out is below 32 digits.
            let last =
                self.series.iter().map(|c| c[ORDER].hi.abs() + c[ORDER - 1].hi.abs()).fold(1e-300, f64::max);
            let reach = (1e-34 / last).powf(1.0 / ORDER as f64);
            let left = Precise::from(t) - now;
            let step = if left.hi <= reach { left } else { Precise::from(reach) };
            let at =
                |c: &[Precise; ORDER + 1]| c.iter().rev().fold(Precise::from(0.0), |sum, c| sum * step + *c);
            let values = self.series.each_ref().map(at);
            self.spin = [values[0], values[1], values[2]];
            self.q = [values[3], values[4], values[5], values[6]];
            if left.hi <= reach {
                return self.q;
            }
            now = now + step;
        }
    }

    fn expand(&mut self) {
        for k in 0..3 {
            self.series[k][0] = self.spin[k];
        }
        for k in 0..4 {
            self.series[3 + k][0] = self.q[k];
        }
        for n in 0..ORDER {
            let of = |a: usize, b: usize| {
                (0..=n).fold(Precise::from(0.0), |sum, m| sum + self.series[a][m] * self.series[b][n - m])
            };
            let next = Precise::from((n + 1) as f64);
            let half = Precise::from(2.0 * (n + 1) as f64);
            let [x, y, z, a, b, c, d] = [0, 1, 2, 3, 4, 5, 6];
            let new = [
                self.shares[0] * of(y, z) / next,
                self.shares[1] * of(z, x) / next,
                self.shares[2] * of(x, y) / next,
                (-of(b, x) - of(c, y) - of(d, z)) / half,
                (of(a, x) + of(c, z) - of(d, y)) / half,
                (of(a, y) - of(b, z) + of(d, x)) / half,
                (of(a, z) + of(b, y) - of(c, x)) / half,
            ];
            for (series, new) in self.series.iter_mut().zip(new) {
                series[n + 1] = new;
            }
        }
    }
}
