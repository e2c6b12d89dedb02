//! Lagrangian systems against closed forms. Figures are printed; `cargo test --test lagrange -- --nocapture`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use carom::lagrange::{Counts, Kind, Run, Scalar, Settings, System, Wall};
use carom::motion::elliptic::carlson_rf;

const G: f64 = 9.81;

/// The number of periods.
fn periods() -> f64 {
    std::env::var("CAROM_PERIODS").map_or(50.0, |n| n.parse::<f64>().unwrap())
}

/// A pendulum in its angle.
struct Angle {
    length: f64,
}

impl System<1> for Angle {
    fn mass<S: Scalar>(&self, _: &[S; 1]) -> [[S; 1]; 1] {
        [[S::constant(self.length * self.length)]]
    }

    fn potential<S: Scalar>(&self, q: &[S; 1]) -> S {
        -q[0].cos() * (G * self.length)
    }
}

/// The same in the plane, on a circle.
struct Circle {
    length: f64,
}

impl System<2> for Circle {
    fn mass<S: Scalar>(&self, _: &[S; 2]) -> [[S; 2]; 2] {
        let [one, zero] = [1.0, 0.0].map(S::constant);
        [[one, zero], [zero, one]]
    }

    fn potential<S: Scalar>(&self, q: &[S; 2]) -> S {
        q[1] * G
    }

    fn counts(&self) -> Counts {
        Counts { holonomic: 1, ..Counts::default() }
    }

    fn holonomic<S: Scalar>(&self, q: &[S; 2], phi: &mut [S]) {
        phi[0] = (q[0].powi(2) + q[1].powi(2) - self.length * self.length) * 0.5;
    }

    fn scales(&self) -> [f64; 2] {
        [self.length; 2]
    }
}

/// The period is 4 √(l/g) K(sin²(θ₀/2)); after it, the velocity over the acceleration is how late the pendulum is.
#[test]
fn the_pendulum_against_the_elliptic_integral() {
    let length: f64 = 0.7;
    let periods = periods();
    for angle in [0.3f64, 1.5, 2.8] {
        let k = (0.5 * angle).sin().powi(2);
        let period = 4.0 * (length / G).sqrt() * carlson_rf(0.0, 1.0 - k, 1.0);
        let mut run = Run::new(Angle { length }, [angle], [0.0], Settings::default()).unwrap();
        run.to(period, |_, _| true).unwrap();
        let late = run.velocity()[0] / (G / length * angle.sin());
        run.to(periods * period, |_, _| true).unwrap();
        let last = run.velocity()[0] / (G / length * angle.sin());
        let audit = *run.audit();
        println!(
            "pendulum from {angle}: late by {late:.1e} after one period, {last:.1e} after {periods}; energy {:.1e}, {} steps, {} evaluations",
            audit.energy, audit.steps, audit.evaluations
        );
        assert!(late.abs() < 1e-12 * period, "{late:e}");
        assert!(last.abs() < 1e-12 * periods * period / (1.0 - k), "{last:e}");
        assert!(audit.energy < 1e-11, "{audit:?}");

        let start = [length * angle.sin(), -length * angle.cos()];
        let mut run = Run::new(Circle { length }, start, [0.0; 2], Settings::default()).unwrap();
        let mut tension: f64 = 0.0;
        run.to(period, |run, step| {
            let t = 0.5 * (step.piece.from + step.piece.until);
            let (q, v) = step.piece.at(t);
            // λ = −(v² − g·q)/l².
            let exact = -(v[0] * v[0] + v[1] * v[1] - G * q[1]) / (length * length);
            let found = run.reactions(&step.piece, t).unwrap().holonomic[0];
            tension = tension.max((found - exact).abs() / (G / length));
            true
        })
        .unwrap();
        let along = run.velocity()[0] * angle.cos() + run.velocity()[1] * angle.sin();
        let late = along / (G * angle.sin());
        run.to(periods * period, |_, _| true).unwrap();
        let audit = *run.audit();
        println!(
            "  on its circle: late by {late:.1e} after one, tension {tension:.1e}; energy {:.1e}, drift {:.1e} {:.1e} a step, {:.1e} {:.1e} left",
            audit.energy, audit.position_drift, audit.velocity_drift, audit.position, audit.velocity
        );
        assert!(late.abs() < 1e-12 * period && tension < 1e-12);
        assert!(audit.energy < 1e-11 && audit.position < 1e-15 && audit.velocity < 1e-14);
        assert!(audit.position_drift < 1e-13 && audit.velocity_drift < 1e-13);
    }
}

/// A point under gravity above a floor, thrown along it.
struct Ball {
    wall: [Wall; 1],
}

impl System<2> for Ball {
    fn mass<S: Scalar>(&self, _: &[S; 2]) -> [[S; 2]; 2] {
        let [m, zero] = [2.0, 0.0].map(S::constant);
        [[m, zero], [zero, m]]
    }

    fn potential<S: Scalar>(&self, q: &[S; 2]) -> S {
        q[1] * (2.0 * G)
    }

    fn walls(&self) -> &[Wall] {
        &self.wall
    }

    fn gaps<S: Scalar>(&self, q: &[S; 2], gaps: &mut [S]) {
        gaps[0] = q[1];
    }
}

/// Bounces at √(2h/g) (1 + 2k + 2k² + …), which accumulate at √(2h/g) (1+k)/(1−k); then it slides on.
#[test]
fn bounces_accumulate_at_their_limit() {
    for k in [0.0, 0.3, 0.5, 0.9] {
        let height: f64 = 0.8;
        let fall = (2.0 * height / G).sqrt();
        let limit = fall * (1.0 + k) / (1.0 - k);
        let ball = Ball { wall: [Wall::smooth(k)] };
        let mut run = Run::new(ball, [0.0, height], [1.5, 0.0], Settings::default()).unwrap();
        let (mut bounces, mut worst, mut ends): (i32, f64, f64) = (0, 0.0, f64::NAN);
        run.to(limit + 1.0, |_, step| {
            if let Some(event) = &step.event {
                let Kind::Impact { accumulated, .. } = &event.kind else { panic!("{event:?}") };
                let expected = fall * (1.0 + 2.0 * (1..=bounces).map(|n| k.powi(n)).sum::<f64>());
                worst = worst.max((event.time - expected).abs());
                assert!(event.certified && (event.time - expected).abs() <= event.time_error + 1e-13);
                bounces += 1;
                if k == 0.0 {
                    ends = event.time;
                } else if let [accumulation] = accumulated[..] {
                    ends = event.time + accumulation.remaining;
                }
            }
            true
        })
        .unwrap();
        let audit = run.audit();
        println!("k = {k}: {bounces} bounces off by {worst:.1e}, limit by {:.1e}; {audit:?}", ends - limit);
        assert!((ends - limit).abs() < 1e-12 * limit);
        assert_eq!(run.held(), &[0]);
        assert!(run.position()[1].abs() < 1e-15 && run.velocity()[1].abs() < 1e-15);
        assert!((run.position()[0] - 1.5 * (limit + 1.0)).abs() < 1e-12);
        assert!(audit.energy < 1e-12 && audit.depth < 1e-14);
    }
}
