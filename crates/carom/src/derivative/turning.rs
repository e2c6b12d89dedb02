//! The derivative of torque-free rotation, by state and by moments.
//!
//! In body axes let δω be the change of the angular velocity's components and φ that of the attitude, δR = R \[φ\]. Then
//!
//! ```text
//! ω̇₁ = a₁ ω₂ω₃,  a₁ = (I₂ − I₃)/I₁,  cyclic              Euler
//! δω̇₁ = a₁ (δω₂ ω₃ + ω₂ δω₃) + δa₁ ω₂ω₃                   the first variation
//! φ̇  = δω + φ × ω
//! ```
//!
//! linear in (δω, φ), with ω known in closed form. Each step of the integration is one Taylor series about the closed form, so
//! that the trajectory gathers no error on the way; the steps end where the last terms fall below rounding. ω repeats after
//! a period T, and so does the step map: a long flight is the map of one period to a power, by squaring, and a rest.
//!
//! Nothing here divides by a difference of moments, by a wobble or by the distance to the separatrix, so that symmetric bodies,
//! steady spins and the separatrix need no care: derivatives across them (a moment that breaks a symmetry) are as good as
//! any. What grows there, grows in truth.

use nalgebra::{Matrix3, Vector3};

use crate::motion::Flight;

/// The order of the series.
const ORDER: usize = 24;

/// The slowest change told from none, beside the spin.
const MIN_RATE: f64 = 1e-3;

/// From this many periods on a flight is the power of one.
const PERIODS: f64 = 4.0;

/// The derivative of a rotation over a time: of ω in body axes and of the attitude, δR = R \[φ\], at its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Turning {
    /// δω at the end by δω at the start.
    pub rates: Matrix3<f64>,
    /// φ at the end by δω at the start.
    pub turns: Matrix3<f64>,
    /// φ at the end by φ at the start, with ω in body axes unchanged.
    pub carried: Matrix3<f64>,
    /// δω at the end by the moments.
    pub rates_by_moments: Matrix3<f64>,
    /// φ at the end by the moments.
    pub turns_by_moments: Matrix3<f64>,
}

impl Turning {
    fn none() -> Self {
        Self {
            rates: Matrix3::identity(),
            turns: Matrix3::zeros(),
            carried: Matrix3::identity(),
            rates_by_moments: Matrix3::zeros(),
            turns_by_moments: Matrix3::zeros(),
        }
    }

    /// The derivative over the time t ≥ 0 of a flight from its start.
    pub fn over(flight: &Flight, moments: &Vector3<f64>, t: f64) -> Self {
        let period = flight.spin_period().filter(|period| t > PERIODS * period);
        let Some(period) = period else { return Self::stepwise(flight, moments, 0.0, t) };
        let whole = libm::floor(t / period);
        // The rest comes first, on the trajectory as it is; the periods follow from its end.
        let rest = t - whole * period;
        let first = Self::stepwise(flight, moments, 0.0, rest);
        let one = Self::stepwise(flight, moments, rest, rest + period);
        first.then(&one.power(whole))
    }

    /// The derivative from one time to another, by Taylor steps.
    fn stepwise(flight: &Flight, moments: &Vector3<f64>, from: f64, to: f64) -> Self {
        let mut sum = Self::none();
        let mut t = from;
        let mut here = flight.turned(t);
        while t < to {
            let spin = here.0.inverse_transform_vector(&here.1);
            let series = Series::new(&spin, moments);
            let left = to - t;
            let (step, last) = if series.span < left { (series.span, false) } else { (left, true) };
            let next_time = if last { to } else { t + step };
            let next = flight.turned(next_time);
            let mut map = series.at(next_time - t);
            map.carried = *(next.0.inverse() * here.0).to_rotation_matrix().matrix();
            sum = sum.then(&map);
            if next_time <= t {
                break;
            }
            (t, here) = (next_time, next);
        }
        sum
    }

    /// This, and then another.
    fn then(&self, next: &Self) -> Self {
        Self {
            rates: next.rates * self.rates,
            turns: next.carried * self.turns + next.turns * self.rates,
            carried: next.carried * self.carried,
            rates_by_moments: next.rates * self.rates_by_moments + next.rates_by_moments,
            turns_by_moments: next.carried * self.turns_by_moments
                + next.turns * self.rates_by_moments
                + next.turns_by_moments,
        }
    }

    /// This many times, a whole number.
    fn power(&self, times: f64) -> Self {
        let (mut result, mut square, mut left) = (Self::none(), *self, times);
        while left >= 1.0 {
            let half = libm::floor(0.5 * left);
            if left - 2.0 * half >= 1.0 {
                result = result.then(&square);
            }
            square = square.then(&square);
            left = half;
        }
        result
    }
}

/// The coefficients of one step, by orders.
struct Series {
    rates: [Matrix3<f64>; ORDER + 1],
    turns: [Matrix3<f64>; ORDER + 1],
    rates_by_moments: [Matrix3<f64>; ORDER + 1],
    turns_by_moments: [Matrix3<f64>; ORDER + 1],
    /// As far as the series is exact to rounding.
    span: f64,
}

impl Series {
    fn new(spin: &Vector3<f64>, moments: &Vector3<f64>) -> Self {
        let zero = [Matrix3::zeros(); ORDER + 1];
        let [i, j, k] = [moments.x, moments.y, moments.z];
        let shares = Vector3::new((j - k) / i, (k - i) / j, (i - j) / k);
        // ∂a by the moments, row by row.
        let by_moments = Matrix3::from_rows(&[
            Vector3::new(-shares.x, 1.0, -1.0).transpose() / i,
            Vector3::new(-1.0, -shares.y, 1.0).transpose() / j,
            Vector3::new(1.0, -1.0, -shares.z).transpose() / k,
        ]);
        let mut w = [Vector3::zeros(); ORDER + 1];
        w[0] = *spin;
        let mut series =
            Self { rates: zero, turns: zero, rates_by_moments: zero, turns_by_moments: zero, span: 0.0 };
        series.rates[0] = Matrix3::identity();
        let mut order = 0.0;
        for n in 0..ORDER {
            order += 1.0;
            let mut products = Vector3::zeros();
            let (mut rate, mut turn) = (Matrix3::zeros(), Matrix3::zeros());
            let (mut moment_rate, mut moment_turn) = (Matrix3::zeros(), Matrix3::zeros());
            for m in 0..=n {
                let (a, b) = (&w[m], &w[n - m]);
                products += Vector3::new(a.y * b.z, a.z * b.x, a.x * b.y);
                // Row 1 of δω̇ is a₁ (ω₃ δω₂ + ω₂ δω₃), cyclic; φ × ω = −[ω] φ.
                let euler = Matrix3::new(
                    0.0,
                    shares.x * a.z,
                    shares.x * a.y,
                    shares.y * a.z,
                    0.0,
                    shares.y * a.x,
                    shares.z * a.y,
                    shares.z * a.x,
                    0.0,
                );
                let carried = a.cross_matrix();
                rate += euler * series.rates[n - m];
                turn -= carried * series.turns[n - m];
                moment_rate += euler * series.rates_by_moments[n - m];
                moment_turn -= carried * series.turns_by_moments[n - m];
            }
            turn += series.rates[n];
            moment_turn += series.rates_by_moments[n];
            moment_rate += Matrix3::from_diagonal(&products) * by_moments;
            w[n + 1] = shares.component_mul(&products) / order;
            series.rates[n + 1] = rate / order;
            series.turns[n + 1] = turn / order;
            series.rates_by_moments[n + 1] = moment_rate / order;
            series.turns_by_moments[n + 1] = moment_turn / order;
        }
        let speed = spin.amax();
        let mut rate = MIN_RATE * speed;
        for (n, inverse_order) in [(ORDER - 1, 1.0 / (order - 1.0)), (ORDER, 1.0 / order)] {
            let term = series.rates[n].amax().max(series.turns[n].amax() * speed).max(if speed > 0.0 {
                w[n].amax() / speed
            } else {
                0.0
            });
            rate = rate.max(libm::pow(term / (0.1 * f64::EPSILON), inverse_order));
        }
        series.span = if rate > 0.0 { 1.0 / rate } else { f64::INFINITY };
        series
    }

    /// The map over a time, but for what carries φ.
    fn at(&self, t: f64) -> Turning {
        let sum = |terms: &[Matrix3<f64>; ORDER + 1]| {
            terms.iter().rev().fold(Matrix3::zeros(), |sum, term| sum * t + term)
        };
        Turning {
            rates: sum(&self.rates),
            turns: sum(&self.turns),
            carried: Matrix3::identity(),
            rates_by_moments: sum(&self.rates_by_moments),
            turns_by_moments: sum(&self.turns_by_moments),
        }
    }
}
