//! The integrator alone: Kepler's problem, the free top, the pendulum, the accuracy as a ladder, and where it must stop.
//! Figures are printed; `cargo test --test flow_gauss -- --nocapture`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use carom::body::{Body, State};
use carom::integrate::gauss::{Demand, Field, Gauss, Halt, Leg};
use carom::integrate::series;
use carom::motion::Flight;
use carom::motion::elliptic::carlson_rf;
use carom::shape::Shape;
use nalgebra::{Quaternion, UnitQuaternion, Vector3};

/// What the integrator is asked to follow, and how often it asked.
struct Counted<F> {
    rate: F,
    size: usize,
    calls: u64,
}

impl<F: FnMut(f64, &[f64], &mut [f64]) -> Result<(), &'static str>> Field for Counted<F> {
    type Obstacle = &'static str;

    fn size(&self) -> usize {
        self.size
    }

    fn rate(&mut self, t: f64, y: &[f64], rate: &mut [f64]) -> Result<(), &'static str> {
        self.calls += 1;
        (self.rate)(t, y, rate)
    }
}

struct Run {
    legs: Vec<Leg>,
    end: Vec<f64>,
}

/// Steps to a time, keeping every leg.
fn run<F: Field<Obstacle = &'static str>>(
    field: &mut F,
    stages: usize,
    accuracy: f64,
    start: &[f64],
    until: f64,
) -> Result<Run, Halt<&'static str>> {
    let mut gauss = Gauss::new(stages);
    let scales = vec![1.0; start.len()];
    let (mut t, mut y, mut length) = (0.0, start.to_vec(), 0.01);
    let mut legs: Vec<Leg> = Vec::new();
    while t < until {
        let demand = Demand { accuracy, scales: &scales, length, longest: until - t, implicit: false };
        let (leg, next) = gauss.step(field, t, &y, &demand, legs.last())?;
        // The last step ends at the time asked for, not within rounding of it.
        t = if leg.length == until - t { until } else { t + leg.length };
        let size = y.len();
        leg.at(leg.from + leg.length, 0..size, &mut y);
        length = next;
        legs.push(leg);
    }
    Ok(Run { legs, end: y })
}

fn kepler(_: f64, y: &[f64], rate: &mut [f64]) -> Result<(), &'static str> {
    let r = y[0].hypot(y[1]);
    rate.copy_from_slice(&[y[2], y[3], -y[0] / (r * r * r), -y[1] / (r * r * r)]);
    Ok(())
}

/// Position by Kepler's equation E − e sin E = t, from the pericentre.
fn kepler_exact(e: f64, t: f64) -> [f64; 2] {
    let mut anomaly = t;
    for _ in 0..50 {
        anomaly -= (anomaly - e * anomaly.sin() - t) / (1.0 - e * anomaly.cos());
    }
    [anomaly.cos() - e, (1.0 - e * e).sqrt() * anomaly.sin()]
}

#[test]
fn nodes_and_weights_integrate_polynomials() {
    for n in 2..=31 {
        let (nodes, weights) = series::gauss(n);
        for power in 0..2 * n {
            let found: f64 =
                nodes.iter().zip(&weights).map(|(x, w)| w * x.powi(i32::try_from(power).unwrap())).sum();
            let exact = if power % 2 == 0 { 2.0 / (power as f64 + 1.0) } else { 0.0 };
            assert!((found - exact).abs() < 2e-15, "{n} nodes, power {power}: {found} against {exact}");
        }
    }
}

#[test]
fn kepler_inside_the_steps_and_at_their_ends() {
    for e in [0.0f64, 0.3, 0.6, 0.9] {
        let start = [1.0 - e, 0.0, 0.0, ((1.0 + e) / (1.0 - e)).sqrt()];
        let mut field = Counted { rate: kepler, size: 4, calls: 0 };
        let found = run(&mut field, 16, 1e-16, &start, std::f64::consts::TAU).unwrap();
        let mut worst: f64 = 0.0;
        for leg in &found.legs {
            for i in 0..=20 {
                let t = leg.from + leg.length * f64::from(i) / 20.0;
                let mut y = [0.0; 2];
                leg.at(t, 0..2, &mut y);
                let exact = kepler_exact(e, t);
                worst = worst.max((y[0] - exact[0]).hypot(y[1] - exact[1]));
            }
        }
        let energy = |y: &[f64]| 0.5 * (y[2] * y[2] + y[3] * y[3]) - 1.0 / y[0].hypot(y[1]);
        let drift = (energy(&found.end) - energy(&start)).abs();
        println!(
            "kepler e = {e}: {} steps, {} rates, error {worst:.1e}, energy {drift:.1e}",
            found.legs.len(),
            field.calls
        );
        // A relative change of rounding at the pericentre moves the far side by e/(1−e)² more.
        assert!(worst < 1e-14 / (1.0 - e).powi(2), "{worst:e}");
        assert!(drift < 2e-15 / (1.0 - e), "{drift:e}");
    }
}

#[test]
fn kepler_for_a_thousand_periods() {
    let e: f64 = 0.3;
    let start = [1.0 - e, 0.0, 0.0, ((1.0 + e) / (1.0 - e)).sqrt()];
    let mut field = Counted { rate: kepler, size: 4, calls: 0 };
    let found = run(&mut field, 16, 1e-16, &start, 1000.0 * std::f64::consts::TAU).unwrap();
    let energy = |y: &[f64]| 0.5 * (y[2] * y[2] + y[3] * y[3]) - 1.0 / y[0].hypot(y[1]);
    let turning = |y: &[f64]| y[0] * y[3] - y[1] * y[2];
    let mut y = [0.0; 4];
    let (mut worst, mut worst_turning): (f64, f64) = (0.0, 0.0);
    for leg in &found.legs {
        leg.at(leg.from + leg.length, 0..4, &mut y);
        worst = worst.max((energy(&y) - energy(&start)).abs());
        worst_turning = worst_turning.max((turning(&y) - turning(&start)).abs());
    }
    println!("{} steps, energy {worst:.1e}, angular momentum {worst_turning:.1e}", found.legs.len());
    assert!(worst < 1e-13 && worst_turning < 1e-13);
}

#[test]
fn accuracy_is_a_ladder() {
    let e: f64 = 0.5;
    let start = [1.0 - e, 0.0, 0.0, ((1.0 + e) / (1.0 - e)).sqrt()];
    let mut steps = usize::MAX;
    for power in [16, 14, 12, 10, 8, 6, 4] {
        let accuracy = 10f64.powi(-power);
        let mut field = Counted { rate: kepler, size: 4, calls: 0 };
        let found = run(&mut field, 16, accuracy, &start, 10.0).unwrap();
        let exact = kepler_exact(e, 10.0 - std::f64::consts::TAU);
        let error = (found.end[0] - exact[0]).hypot(found.end[1] - exact[1]);
        println!(
            "accuracy {accuracy:.0e}: {} steps, {} rates, error {error:.1e}",
            found.legs.len(),
            field.calls
        );
        assert!(error < 100.0 * accuracy + 2e-14);
        assert!(found.legs.len() <= steps);
        steps = found.legs.len();
    }
}

/// Euler's free top in the unknowns of a held body: quaternion and world angular momentum.
#[test]
fn the_free_top_against_its_closed_form() {
    let inertia = Vector3::new(1.0, 2.0, 2.7);
    let body = Body { shape: Shape::Sphere { radius: 1.0 }, mass: 1.0, inertia, fixed: false };
    let state = State { angular_velocity: Vector3::new(1.0, 0.7, 1.9), ..State::at(Vector3::zeros()) };
    let flight = Flight::new(&body, &state, &Vector3::zeros());
    let momentum = body.momentum(&state, &Vector3::zeros()).1;
    let rate = move |_: f64, y: &[f64], rate: &mut [f64]| {
        let q = Quaternion::new(y[0], y[1], y[2], y[3]);
        let turn = UnitQuaternion::new_normalize(q);
        let spin = turn * turn.inverse_transform_vector(&momentum).component_div(&inertia);
        let dq = Quaternion::from_imag(spin) * q * 0.5;
        rate.copy_from_slice(&[dq.w, dq.i, dq.j, dq.k]);
        Ok(())
    };
    let mut field = Counted { rate, size: 4, calls: 0 };
    let found = run(&mut field, 16, 1e-16, &[1.0, 0.0, 0.0, 0.0], 30.0).unwrap();
    // What a change of one rounding in the data does: the attitude's own condition.
    let nudges = [Vector3::x(), Vector3::y(), Vector3::z()].map(|axis| {
        let nudged = State { angular_velocity: state.angular_velocity + axis * 4e-16, ..state };
        Flight::new(&body, &nudged, &Vector3::zeros())
    });
    let mut worst: f64 = 0.0;
    let mut sensitive: f64 = 0.0;
    for leg in &found.legs {
        for i in 0..=8 {
            let t = leg.from + leg.length * f64::from(i) / 8.0;
            let mut y = [0.0; 4];
            leg.at(t, 0..4, &mut y);
            let turn = UnitQuaternion::new_normalize(Quaternion::new(y[0], y[1], y[2], y[3]));
            let exact = flight.at(t).orientation;
            let difference = turn.to_rotation_matrix().matrix() - exact.to_rotation_matrix().matrix();
            worst = worst.max(difference.amax());
            for other in &nudges {
                let moved = other.at(t).orientation;
                let spread = moved.to_rotation_matrix().matrix() - exact.to_rotation_matrix().matrix();
                sensitive = sensitive.max(spread.amax());
            }
        }
    }
    println!(
        "free top: {} steps, {} rates, error {worst:.1e}, one rounding makes {sensitive:.1e}",
        found.legs.len(),
        field.calls
    );
    assert!(worst < 20.0 * sensitive, "{worst:e}");
}

/// The pendulum's period is 4 K(sin²(θ₀/2)), K(m) = R_F(0, 1−m, 1).
#[test]
fn the_pendulum_returns_after_its_period() {
    for start in [0.1f64, 1.0, 2.0, 3.0] {
        let m = (0.5 * start).sin().powi(2);
        let period = 4.0 * carlson_rf(0.0, 1.0 - m, 1.0);
        let rate = |_: f64, y: &[f64], rate: &mut [f64]| {
            rate.copy_from_slice(&[y[1], -y[0].sin()]);
            Ok(())
        };
        let mut field = Counted { rate, size: 2, calls: 0 };
        let found = run(&mut field, 16, 1e-16, &[start, 0.0], period).unwrap();
        // θ' there over θ'' is how late it is.
        let late = found.end[1] / start.sin();
        println!(
            "pendulum from {start}: period {period:.15}, late by {late:.1e}, {} steps",
            found.legs.len()
        );
        assert!(late.abs() < 1e-14 * period / (1.0 - m), "{late:e}");
    }
}

#[test]
fn an_obstacle_ends_the_step_as_a_value() {
    // y' = −1/y reaches zero at t = ½ and has no rate beyond.
    let rate = |_: f64, y: &[f64], rate: &mut [f64]| {
        if y[0] <= 0.0 {
            return Err("no rate");
        }
        rate[0] = -1.0 / y[0];
        Ok(())
    };
    let mut field = Counted { rate, size: 1, calls: 0 };
    let halt = run(&mut field, 16, 1e-16, &[1.0], 1.0);
    assert!(matches!(halt, Err(Halt::Obstacle("no rate") | Halt::Rough)));
}

#[test]
fn first_falls() {
    let coefficients = |values: &dyn Fn(f64) -> f64| {
        let gauss = Gauss::new(16);
        let at: Vec<f64> = gauss.nodes().iter().map(|&x| values(x)).collect();
        let mut a = vec![0.0; 16];
        gauss.analyse(&at, &mut a);
        a
    };
    let near = |found: Option<f64>, exact: f64| {
        assert!((found.unwrap() - exact).abs() < 1e-14, "{found:?} against {exact}");
    };
    near(series::first_fall(&coefficients(&|x| 0.3 - x), 1e-15), 0.3);
    near(series::first_fall(&coefficients(&|x| (x + 1.0) * (0.3 - x)), 1e-15), 0.3);
    near(series::first_fall(&coefficients(&|x| (x + 1.0).powi(3) * (0.3 - x)), 1e-15), 0.3);
    near(series::first_fall(&coefficients(&|x| (x + 0.5) * (x - 0.1) * (x - 0.2)), 1e-15), -1.0);
    near(series::first_fall(&coefficients(&|x| -(x + 0.5) * (x - 0.1) * (x - 0.2)), 1e-15), -0.5);
    near(series::first_fall(&coefficients(&|x| -(x + 1.0)), 1e-15), -1.0);
    assert_eq!(series::first_fall(&coefficients(&|x| x * x + 1e-9), 1e-15), None);
    near(series::first_fall(&coefficients(&|x| x * x - 1e-4), 1e-15), -1e-2);
    assert_eq!(series::first_fall(&coefficients(&|x| 1e-17 * x), 1e-15), None);
}

/// y' = −k (y − cos t) by Newton's method, in steps that the fixed-point iteration could not make.
#[test]
fn a_stiff_rate_is_followed() {
    let stiffness = 1e5;
    let rate = |t: f64, y: &[f64], rate: &mut [f64]| {
        rate[0] = -stiffness * (y[0] - t.cos());
        Ok::<(), &'static str>(())
    };
    // The solution without transient: k/(k²+1) (k cos t + sin t).
    let exact = |t: f64| stiffness / (stiffness * stiffness + 1.0) * (stiffness * t.cos() + t.sin());
    let mut field = Counted { rate, size: 1, calls: 0 };
    let mut gauss = Gauss::new(16);
    let (mut t, mut y, mut length, mut steps) = (0.0, [exact(0.0)], 0.1, 0);
    while t < 3.0 {
        let demand = Demand { accuracy: 1e-12, scales: &[1.0], length, longest: 3.0 - t, implicit: true };
        let (leg, next) = gauss.step(&mut field, t, &y, &demand, None).unwrap();
        t += leg.length;
        leg.at(t, 0..1, &mut y);
        length = next;
        steps += 1;
    }
    println!("stiff: {steps} steps, {} rates, error {:.1e}", field.calls, y[0] - exact(t));
    assert!((y[0] - exact(t)).abs() < 1e-11);
    assert!(steps < 30);
}
