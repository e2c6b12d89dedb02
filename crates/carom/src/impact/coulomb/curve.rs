//! A slip that turns, as one Taylor series.
//!
//! In the variable τ with dp = σ dτ/S the slip is polynomial in (cos θ, sin θ) and regular down to σ → 0, where
//! p as the variable is singular (μ W_tt/S = diag(m₁, m₂), W_nt/S = (a, b), S the scale of both):
//!
//! ```text
//! θ'  = g = b cos θ − a sin θ + (m₁ − m₂) cos θ sin θ
//! σ'  = σ f,   f = a cos θ + b sin θ − m₂ − (m₁ − m₂) cos² θ
//! p'  = σ/S,   friction' = −μ p' (cos θ, sin θ),     work' = y_n p'
//! ```
//!
//! Every coefficient follows from the ones before by products of series. The step is where the last two terms
//! fall below rounding (Jorba and Zou 2005), so the series is its own dense output and events are its roots.

use super::{Contact, dot, unit};

/// The order of the series: near the cheapest for full double precision.
const ORDER: usize = 24;

/// The longest turn of one series, in radians, so that y_n' changes its slope at most once on it.
const MAX_TURN: f64 = 1.5;

/// The slowest change told from none, in units of the slip's scale.
const MIN_RATE: f64 = 1e-6;

/// A truncated Taylor series in τ.
#[derive(Debug, Clone, Copy)]
pub(super) struct Series([f64; ORDER + 1]);

/// One stretch of a turning slip, 0 ≤ τ ≤ span.
#[derive(Debug, Clone, Copy)]
pub(super) struct Curve {
    /// cos θ and sin θ.
    direction: [Series; 2],
    /// σ.
    speed: Series,
    /// p, from zero.
    pub(super) impulse: Series,
    /// The friction impulse, from zero.
    pub(super) friction: [Series; 2],
    /// y_n.
    pub(super) normal: Series,
    /// ∫ y_n dp, from zero.
    pub(super) work: Series,
    /// Where the series stops being exact to rounding.
    pub(super) span: f64,
}

impl Series {
    const ZERO: Self = Self([0.0; ORDER + 1]);

    pub(super) fn at(&self, x: f64) -> f64 {
        self.0.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
    }

    fn slope_at(&self, x: f64) -> f64 {
        let mut order = 0.0;
        let mut power = 1.0;
        let mut sum = 0.0;
        for coefficient in &self.0[1..] {
            order += 1.0;
            sum += order * coefficient * power;
            power *= x;
        }
        sum
    }

    /// Where the series, monotone between `from` and `to`, takes a value it brackets: Newton's method, halving
    /// the bracket where that leaves it.
    pub(super) fn root(&self, value: f64, from: f64, to: f64) -> f64 {
        let rises = self.at(to) >= self.at(from);
        let (mut low, mut high) = (from, to);
        let mut x = 0.5 * (from + to);
        for _ in 0..200 {
            let excess = self.at(x) - value;
            if excess == 0.0 {
                return x;
            }
            if (excess < 0.0) == rises {
                low = x;
            } else {
                high = x;
            }
            let newton = x - excess / self.slope_at(x);
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (next - x).abs() <= 0.5 * f64::EPSILON * x.abs() || next <= low || next >= high {
                return next;
            }
            x = next;
        }
        x
    }

    /// Σ |coefficient| x^k from the first order on: a bound on the change up to x.
    fn change_bound(&self, x: f64) -> f64 {
        self.0[1..].iter().rev().fold(0.0, |sum, coefficient| (sum + coefficient.abs()) * x)
    }

    /// Coefficient k of a product.
    fn product(&self, other: &Self, k: usize) -> f64 {
        self.0[..=k].iter().zip(other.0[..=k].iter().rev()).map(|(a, b)| a * b).sum()
    }
}

impl Curve {
    /// The slip from a direction, a speed and a normal velocity.
    pub(super) fn new(contact: &Contact, direction: [f64; 2], speed: f64, normal: f64) -> Self {
        let scale = contact.slip_scale();
        let [a, b] = contact.coupling.map(|x| x / scale);
        let [m1, m2] = contact.tangent.map(|x| contact.friction * x / scale);
        let (mut c, mut s, mut sigma) = (Series::ZERO, Series::ZERO, Series::ZERO);
        let (mut f, mut g, mut angle) = (Series::ZERO, Series::ZERO, Series::ZERO);
        let (mut p, mut q1, mut q2) = (Series::ZERO, Series::ZERO, Series::ZERO);
        let (mut y, mut work) = (Series::ZERO, Series::ZERO);
        [c.0[0], s.0[0]] = direction;
        sigma.0[0] = speed;
        y.0[0] = normal;
        let mut order = 0.0;
        for k in 0..ORDER {
            order += 1.0;
            g.0[k] = b * c.0[k] - a * s.0[k] + (m1 - m2) * c.product(&s, k);
            f.0[k] = a * c.0[k] + b * s.0[k] - (m1 - m2) * c.product(&c, k);
            if k == 0 {
                f.0[0] -= m2;
            }
            angle.0[k + 1] = g.0[k] / order;
            c.0[k + 1] = -s.product(&g, k) / order;
            s.0[k + 1] = c.product(&g, k) / order;
            let per_order = 1.0 / (scale * order);
            p.0[k + 1] = sigma.0[k] * per_order;
            q1.0[k + 1] = -contact.friction * sigma.product(&c, k) * per_order;
            q2.0[k + 1] = -contact.friction * sigma.product(&s, k) * per_order;
            work.0[k + 1] = y.product(&sigma, k) * per_order;
            sigma.0[k + 1] = sigma.product(&f, k) / order;
            y.0[k + 1] = contact.normal * p.0[k + 1] + dot(contact.coupling, [q1.0[k + 1], q2.0[k + 1]]);
        }
        // (|last term| / rounding)^(1/k): what the step must be divided by for that term to be below rounding.
        let mut rate: f64 = MIN_RATE;
        for (k, inverse_order) in [(ORDER - 1, 1.0 / (order - 1.0)), (ORDER, 1.0 / order)] {
            let term = c.0[k].abs().max(s.0[k].abs()).max(sigma.0[k].abs() / speed);
            rate = rate.max((term / (0.1 * f64::EPSILON)).powf(inverse_order));
        }
        let mut span = 1.0 / rate;
        // Every rate is at most 2 here, so the bound holds after a few halvings.
        while angle.change_bound(span) > MAX_TURN {
            span *= 0.5;
        }
        Self { direction: [c, s], speed: sigma, impulse: p, friction: [q1, q2], normal: y, work, span }
    }

    /// y_t at τ.
    pub(super) fn slip_at(&self, x: f64) -> [f64; 2] {
        let speed = self.speed.at(x);
        unit([self.direction[0].at(x), self.direction[1].at(x)]).map(|d| d * speed)
    }

    /// Where y_n turns (its rate W_nn − μ W_nt·s changes sign): two places at most, in order, and how many.
    ///
    /// The rate is a sinusoid of θ less a constant, and θ is monotone in τ: it is cut first at the sinusoid's
    /// extreme, then once on either side.
    pub(super) fn normal_turns(&self, contact: &Contact) -> ([f64; 2], usize) {
        let [a, b] = contact.coupling;
        let mut turns = ([0.0; 2], 0);
        if contact.friction * a.hypot(b) < contact.normal {
            return turns;
        }
        let (mut rate, mut slope) = (Series::ZERO, Series::ZERO);
        for k in 0..=ORDER {
            let [c, s] = [self.direction[0].0[k], self.direction[1].0[k]];
            rate.0[k] = -contact.friction * (a * c + b * s);
            slope.0[k] = b * c - a * s;
        }
        rate.0[0] += contact.normal;
        let extreme = if (slope.at(0.0) < 0.0) == (slope.at(self.span) < 0.0) {
            self.span
        } else {
            slope.root(0.0, 0.0, self.span)
        };
        for (from, to) in [(0.0, extreme), (extreme, self.span)] {
            if to > from && (rate.at(from) < 0.0) != (rate.at(to) < 0.0) {
                turns.0[turns.1] = rate.root(0.0, from, to);
                turns.1 += 1;
            }
        }
        turns
    }
}
