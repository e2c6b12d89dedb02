//! Work against precision of the integrator: Gauss–Legendre collocation here, DOP853 of the crate differential-equations.
//!
//! `cargo bench -p carom --bench flow`. The same right-hand sides for both, as plain functions; each method at the settings that
//! reach an error with the least time, chosen from a ladder (accuracies, and for Gauss stages too). Errors are those of the end
//! state, against closed forms (pendulum, sleigh) and against Gauss with 20 stages at rounding (double pendulum). Gauss gives the motion
//! inside its steps at the same accuracy; DOP853 here gives its end alone. Without `--bench` every case runs once, as a test.
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::cell::Cell;
use std::hint::black_box;
use std::time::Instant;

use carom::integrate::gauss::{Demand, Field, Gauss, Leg};
use carom::motion::elliptic::carlson_rf;
use differential_equations::prelude::{ExplicitRungeKutta, IVP, ODE};

const G: f64 = 9.81;

/// A right-hand side that counts.
struct Problem<const D: usize> {
    name: &'static str,
    f: fn(&[f64; D], &mut [f64; D]),
    calls: Cell<u64>,
    start: [f64; D],
    until: f64,
    /// The end state.
    exact: [f64; D],
}

impl<const D: usize> Field for &Problem<D> {
    type Obstacle = ();

    fn size(&self) -> usize {
        D
    }

    fn rate(&mut self, _: f64, y: &[f64], rate: &mut [f64]) -> Result<(), ()> {
        self.calls.set(self.calls.get() + 1);
        let (state, out): (&[f64; D], &mut [f64; D]) = (y.try_into().unwrap(), rate.try_into().unwrap());
        (self.f)(state, out);
        Ok(())
    }
}

impl<const D: usize> ODE<f64, [f64; D]> for Problem<D> {
    fn diff(&self, _: f64, y: &[f64; D], rate: &mut [f64; D]) {
        self.calls.set(self.calls.get() + 1);
        (self.f)(y, rate);
    }
}

/// What one setting costs and reaches.
#[derive(Clone)]
struct Point {
    label: String,
    error: f64,
    calls: u64,
    seconds: f64,
}

impl<const D: usize> Problem<D> {
    fn gauss(&self, stages: usize, accuracy: f64) -> [f64; D] {
        let mut gauss = Gauss::new(stages);
        let mut field = self;
        let (mut t, mut y) = (0.0, self.start);
        let (mut length, mut before): (f64, Option<Leg>) = (0.1, None);
        while t < self.until {
            let longest = self.until - t;
            let demand = Demand { accuracy, scales: &[1.0; D], length, longest, implicit: false };
            let (leg, next) = gauss.step(&mut field, t, &y, &demand, before.as_ref()).unwrap();
            t = if leg.length >= longest { self.until } else { t + leg.length };
            leg.at(t, 0..D, &mut y);
            length = next;
            before = Some(leg);
        }
        y
    }

    fn peer(&self, tolerance: f64) -> Option<[f64; D]> {
        let method = ExplicitRungeKutta::dop853().rtol(tolerance).atol(tolerance).max_steps(10_000_000);
        let solution = IVP::ode(self, 0.0, self.until, self.start).method(method).solve().ok()?;
        solution.y.last().copied()
    }

    fn measure(
        &self,
        label: String,
        measured: bool,
        mut solve: impl FnMut() -> Option<[f64; D]>,
    ) -> Option<Point> {
        self.calls.set(0);
        let end = solve()?;
        let calls = self.calls.get();
        let error = end.iter().zip(&self.exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // The best of several, each long enough for the clock.
        let mut seconds = f64::INFINITY;
        for _ in 0..if measured { 7 } else { 1 } {
            let rounds = if measured { 1 + 20_000 / u32::try_from(calls).unwrap_or(u32::MAX) } else { 1 };
            let began = Instant::now();
            for _ in 0..rounds {
                black_box(solve());
            }
            seconds = seconds.min(began.elapsed().as_secs_f64() / f64::from(rounds));
        }
        Some(Point { label, error, calls, seconds })
    }

    fn compare(&self, measured: bool) {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let stages: &[usize] = if measured { &[6, 8, 10, 12, 14, 16, 20, 24] } else { &[8, 16] };
        let exponents: &[i32] =
            if measured { &[-4, -6, -8, -9, -10, -11, -12, -13, -14, -15] } else { &[-8, -14] };
        for &exponent in exponents {
            let accuracy = 10f64.powi(exponent);
            for &s in stages {
                let label = format!("{s} at 1e{exponent}");
                ours.extend(self.measure(label, measured, || Some(self.gauss(s, accuracy))));
            }
            theirs.extend(self.measure(format!("1e{exponent}"), measured, || self.peer(accuracy)));
        }
        for target in [1e-6, 1e-8, 1e-10, 1e-12, 1e-13] {
            let best = |points: &[Point]| {
                let reached = points.iter().filter(|p| p.error <= target);
                reached.min_by(|a, b| a.seconds.total_cmp(&b.seconds)).cloned()
            };
            let show = |p: &Option<Point>| match p {
                Some(p) => format!("{:>12}{:>9.1e}{:>9}{:>10.1}", p.label, p.error, p.calls, 1e6 * p.seconds),
                None => format!("{:>40}", "not reached"),
            };
            let (a, b) = (best(&ours), best(&theirs));
            let ratio = match (&a, &b) {
                (Some(a), Some(b)) => format!("{:>8.2}", b.seconds / a.seconds),
                _ => format!("{:>8}", "-"),
            };
            println!("{:<16}{target:>8.0e}{}{}{ratio}", self.name, show(&a), show(&b));
        }
        assert!(ours.iter().any(|p| p.error < 1e-11), "{}", self.name);
    }
}

fn main() {
    let measured = std::env::args().any(|argument| argument == "--bench");
    println!("                             Gauss (stages at accuracy)              DOP853 (tolerance)");
    println!(
        "problem           error     setting    error    calls        us     setting    error    calls        us   ratio"
    );
    let angle = 1.5f64;
    let period = 4.0 / G.sqrt() * carlson_rf(0.0, 1.0 - (0.5 * angle).sin().powi(2), 1.0);
    Problem {
        name: "pendulum",
        f: |y: &[f64; 2], rate: &mut [f64; 2]| *rate = [y[1], -G * libm::sin(y[0])],
        calls: Cell::new(0),
        start: [angle, 0.0],
        until: 10.0 * period,
        exact: [angle, 0.0],
    }
    .compare(measured);
    sleigh().compare(measured);
    let mut double = Problem {
        name: "double pendulum",
        f: double_pendulum,
        calls: Cell::new(0),
        start: [1.0, -0.8, 0.0, 0.0],
        until: 10.0,
        exact: [0.0; 4],
    };
    double.exact = double.gauss(20, 4e-16);
    double.compare(measured);
}

/// (x, y, θ, v, ω): v along the edge; v' = a ω², ω' = −a v ω/q², q² = a² + J/m.
fn sleigh() -> Problem<5> {
    const ARM: f64 = 0.25;
    const SQUARE: f64 = ARM * ARM + 0.3 / 1.7;
    let (speed, first): (f64, f64) = (1.4, -2.0);
    let rate = ARM * speed / SQUARE;
    let at = |t: f64| {
        let tau = rate * t + first;
        (speed * tau.tanh(), speed / SQUARE.sqrt() / tau.cosh())
    };
    // θ = ∫ω = (q/a) (gd τ − gd τ₀); the edge's place by Gauss's rule on (v cos θ, v sin θ).
    let turned = |t: f64| {
        let gd = |tau: f64| 2.0 * (0.5 * tau).tanh().atan();
        SQUARE.sqrt() / ARM * (gd(rate * t + first) - gd(first))
    };
    let until = 4.0;
    let (mut x, mut y) = (0.0, 0.0);
    let (nodes, weights) = carom::integrate::series::gauss(30);
    for piece in 0..40 {
        for (node, weight) in nodes.iter().zip(&weights) {
            let t = until / 40.0 * (f64::from(piece) + 0.5 * (node + 1.0));
            let step = 0.5 * weight * until / 40.0 * at(t).0;
            x += step * turned(t).cos();
            y += step * turned(t).sin();
        }
    }
    let ((v, w), (v1, w1)) = (at(0.0), at(until));
    Problem {
        name: "sleigh",
        f: |y: &[f64; 5], rate: &mut [f64; 5]| {
            let (sin, cos) = libm::sincos(y[2]);
            *rate = [y[3] * cos, y[3] * sin, y[4], ARM * y[4] * y[4], -ARM * y[3] * y[4] / SQUARE];
        },
        calls: Cell::new(0),
        start: [0.0, 0.0, 0.0, v, w],
        until,
        exact: [x, y, turned(until), v1, w1],
    }
}

fn double_pendulum(y: &[f64; 4], rate: &mut [f64; 4]) {
    let ([m1, m2], [a, l, b]): ([f64; 2], [f64; 3]) = ([1.0, 0.6], [0.4, 0.9, 0.3]);
    let (s, c) = libm::sincos(y[0] - y[1]);
    let (m11, m22, m12) = (0.05 + m1 * a * a + m2 * l * l, 0.02 + m2 * b * b, m2 * l * b * c);
    let f1 = -m2 * l * b * s * y[3] * y[3] - (m1 * a + m2 * l) * G * libm::sin(y[0]);
    let f2 = m2 * l * b * s * y[2] * y[2] - m2 * b * G * libm::sin(y[1]);
    let d = m11 * m22 - m12 * m12;
    *rate = [y[2], y[3], (f1 * m22 - f2 * m12) / d, (f2 * m11 - f1 * m12) / d];
}
