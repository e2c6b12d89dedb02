//! Free motion: reference values, identities of the elliptic functions, a Taylor integration beside the closed form, and
//! the limits of symmetry, separatrix and no spin. Errors are printed; `cargo test --test motion -- --nocapture`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Instant;

use carom::body::{Body, State};
use carom::motion::elliptic::{Jacobi, carlson_rf};
use carom::motion::{Derivatives, Flight};
use carom::shape::Shape;
use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

fn body(moments: [f64; 3]) -> Body {
    let shape = Shape::Sphere { radius: 1.0 };
    Body { shape, mass: 1.5, inertia: Vector3::from(moments), fixed: false }
}

fn spinning(spin: [f64; 3]) -> State {
    State { angular_velocity: Vector3::from(spin), ..State::at(Vector3::zeros()) }
}

fn flight(moments: [f64; 3], spin: [f64; 3]) -> Flight {
    Flight::new(&body(moments), &spinning(spin), &Vector3::zeros())
}

fn matrix(state: &State) -> Matrix3<f64> {
    *state.orientation.to_rotation_matrix().matrix()
}

fn turn_error(a: &State, b: &State) -> f64 {
    (matrix(a) - matrix(b)).amax()
}

fn reference() -> Value {
    serde_json::from_str(include_str!("../../../cases/motion/motion.json")).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

struct Source(ChaCha8Rng);

impl Source {
    fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    fn within(&mut self, low: f64, high: f64) -> f64 {
        self.0.random_range(low..high)
    }

    fn decades(&mut self, low: f64, high: f64) -> f64 {
        10f64.powf(self.within(low, high))
    }

    fn vector(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.within(-1.0, 1.0))
    }

    fn state(&mut self) -> State {
        let q = Quaternion::new(self.within(-1.0, 1.0), self.within(-1.0, 1.0), self.within(-1.0, 1.0), 0.3);
        State {
            position: self.vector(),
            orientation: UnitQuaternion::from_quaternion(q),
            velocity: self.vector(),
            angular_velocity: self.vector() * 2.0,
        }
    }
}

// ---------------------------------------------------------------------------------------------------------
// Elliptic functions

#[test]
fn elliptic_functions_against_reference() {
    let (mut worst, mut worst_far, mut quarter) = (0f64, 0f64, 0f64);
    for case in reference()["functions"].as_array().unwrap() {
        let complement = number(&case["complement"]);
        let functions = Jacobi::new(1.0 - complement, complement);
        let (u, k) = (number(&case["u"]), number(&case["K"]));
        let values = functions.at(u);
        for i in 0..3 {
            let error = (values[i] - number(&case["sn_cn_dn"][i])).abs();
            // The argument itself is known to rounding: one period or a thousand.
            if u.abs() < 8.0 {
                worst = worst.max(error);
            }
            worst_far = worst_far.max(error / (1.0 + u.abs()));
        }
        quarter = quarter.max((functions.quarter_period() / k - 1.0).abs());
    }
    println!("sn, cn, dn: |u| < 8 {worst:.1e}, any u over 1+|u| {worst_far:.1e}; K {quarter:.1e}");
    assert!(worst < 2e-15 && worst_far < 2e-15 && quarter < 5e-16);
}

#[test]
fn elliptic_functions_identities() {
    let mut source = Source::new(1);
    let mut worst = 0f64;
    for _ in 0..100_000 {
        let complement =
            if source.within(0.0, 1.0) < 0.5 { source.within(0.0, 1.0) } else { source.decades(-15.0, 0.0) };
        let functions = Jacobi::new(1.0 - complement, complement);
        let k = functions.quarter_period();
        let u = source.within(-6.0, 6.0) * k;
        let [sn, cn, dn] = functions.at(u);
        let [sn_next, cn_next, dn_next] = functions.at(u + k);
        let errors = [
            sn * sn + cn * cn - 1.0,
            dn * dn - complement - (1.0 - complement) * cn * cn,
            // A quarter period on: sn(u+K) dn u = cn u, dn(u+K) dn u = k', cn(u+K) dn u = −k' sn u.
            (sn_next * dn - cn) / 8.0 / k,
            (dn_next * dn - complement.sqrt()) / 8.0 / k,
            (cn_next * dn + complement.sqrt() * sn) / 8.0 / k,
        ];
        for error in errors {
            worst = worst.max(error.abs());
        }
    }
    println!("identities of sn, cn, dn: {worst:.1e}");
    assert!(worst < 2e-15);
    // R_F(0, 1, 2) = Γ(1/4)²/√(32π) and R_F(x, x, x) = 1/√x.
    assert!((carlson_rf(0.0, 1.0, 2.0) - 1.311_028_777_146_059_9).abs() < 1e-15);
    assert!((carlson_rf(4.0, 4.0, 4.0) - 0.5).abs() < 1e-16);
    assert!(carlson_rf(0.0, 0.0, 1.0).is_infinite());
}

// ---------------------------------------------------------------------------------------------------------
// Rotation against references

#[test]
fn rotation_against_reference() {
    for case in reference()["rotation"].as_array().unwrap() {
        let moments = [0, 1, 2].map(|i| number(&case["inertia"][i]));
        let q = [0, 1, 2, 3].map(|i| number(&case["quaternion_wxyz"][i]));
        let spin = Vector3::from([0, 1, 2].map(|i| number(&case["spin"][i])));
        let orientation = UnitQuaternion::new_unchecked(Quaternion::new(q[0], q[1], q[2], q[3]));
        let start = State { orientation, angular_velocity: spin, ..State::at(Vector3::zeros()) };
        let flight = Flight::new(&body(moments), &start, &Vector3::zeros());
        let mut errors = Vec::new();
        for row in case["states"].as_array().unwrap() {
            let t = number(&row["t"]);
            let state = flight.at(t);
            let axes = Matrix3::from_fn(|i, j| number(&row["turn"][3 * i + j]));
            let omega = Vector3::from([0, 1, 2].map(|i| number(&row["spin"][i])));
            let error =
                (matrix(&state) - axes).amax().max((state.angular_velocity - omega).amax() / spin.norm());
            errors.push(error);
        }
        let complement = number(&case["complement"]);
        println!(
            "{moments:?} 1-m {complement:.1e}: {}",
            errors.iter().map(|e| format!("{e:.1e} ")).collect::<String>()
        );
        // The initial phase is a number of size K rounded once; nothing grows with time.
        assert!(errors.iter().all(|e| *e < 4e-15), "{moments:?} {spin} {errors:?}");
    }
}

/// A body integrated in steps; the sums are compensated, for near the separatrix rounding grows like 1/(1−m).
struct Integration {
    turn: Matrix3<f64>,
    spin: Vector3<f64>,
    turn_rest: Matrix3<f64>,
    spin_rest: Vector3<f64>,
}

impl Integration {
    fn new(turn: Matrix3<f64>, spin: Vector3<f64>) -> Self {
        Self { turn, spin, turn_rest: Matrix3::zeros(), spin_rest: Vector3::zeros() }
    }

    fn step(&mut self, moments: &Vector3<f64>, h: f64) {
        let (turn, spin) = taylor_increment(moments, &self.turn, &self.spin, h);
        let change = turn + self.turn_rest;
        let next = self.turn + change;
        self.turn_rest = change - (next - self.turn);
        self.turn = next;
        let change = spin + self.spin_rest;
        let next = self.spin + change;
        self.spin_rest = change - (next - self.spin);
        self.spin = next;
    }
}

/// One Taylor step of order 24 of Euler's equations in body axes with R' = R [ω].
fn taylor_increment(
    moments: &Vector3<f64>,
    turn: &Matrix3<f64>,
    spin: &Vector3<f64>,
    h: f64,
) -> (Matrix3<f64>, Vector3<f64>) {
    const ORDER: usize = 24;
    let shares = [
        (moments.y - moments.z) / moments.x,
        (moments.z - moments.x) / moments.y,
        (moments.x - moments.y) / moments.z,
    ];
    let mut w = [[0.0; 3]; ORDER + 1];
    let mut r = [Matrix3::zeros(); ORDER + 1];
    w[0] = [spin.x, spin.y, spin.z];
    r[0] = *turn;
    for k in 0..ORDER {
        let mut next = [0.0; 3];
        let mut matrix = Matrix3::zeros();
        for j in 0..=k {
            for a in 0..3 {
                next[a] += w[j][(a + 1) % 3] * w[k - j][(a + 2) % 3];
            }
            matrix += r[j] * Vector3::from(w[k - j]).cross_matrix();
        }
        let n = (k + 1) as f64;
        for a in 0..3 {
            w[k + 1][a] = shares[a] * next[a] / n;
        }
        r[k + 1] = matrix / n;
    }
    let (mut sum, mut omega) = (r[ORDER], Vector3::from(w[ORDER]));
    for k in (1..ORDER).rev() {
        sum = sum * h + r[k];
        omega = omega * h + Vector3::from(w[k]);
    }
    (sum * h, omega * h)
}

#[test]
fn closed_form_and_taylor_integration() {
    let mut source = Source::new(2);
    let mut worst = 0f64;
    for top in 0..60 {
        let moments = if top == 0 {
            [1.0, 2.0, 3.0]
        } else {
            [source.within(0.3, 3.0), source.within(0.3, 3.0), source.within(0.3, 3.0)]
        };
        let mut start = source.state();
        if top == 0 {
            start.angular_velocity = Vector3::new(0.01, 2.0, 0.01);
            start.orientation = UnitQuaternion::identity();
        }
        let flight = Flight::new(&body(moments), &start, &Vector3::zeros());
        let spin = start.orientation.inverse_transform_vector(&start.angular_velocity);
        let mut path = Integration::new(matrix(&start), spin);
        let steps = 6400;
        let h = 1.0 / 256.0;
        for k in 1..=steps {
            path.step(&Vector3::from(moments), h);
            if k % 800 == 0 {
                let state = flight.at(h * k as f64);
                worst = worst.max((matrix(&state) - path.turn).amax());
                worst = worst.max((state.angular_velocity - path.turn * path.spin).amax());
            }
        }
    }
    println!("closed form / Taylor integration over 25 s: {worst:.1e}");
    assert!(worst < 1e-12);
}

#[test]
fn dzhanibekov_top() {
    let top = body([1.0, 2.0, 3.0]);
    let start = spinning([0.01, 2.0, 0.01]);
    let flight = Flight::new(&top, &start, &Vector3::zeros());
    let (_, momentum) = top.momentum(&start, &Vector3::zeros());
    let energy = top.kinetic_energy(&start);
    for (end, tolerance) in [(100.0, 1e-14), (1e6, 1e-12)] {
        let (mut of_momentum, mut of_energy) = (0f64, 0f64);
        for k in 0..=20_000 {
            let state = flight.at(end * f64::from(k) / 20_000.0);
            let (_, now) = top.momentum(&state, &Vector3::zeros());
            of_momentum = of_momentum.max((now - momentum).norm() / momentum.norm());
            of_energy = of_energy.max((top.kinetic_energy(&state) / energy - 1.0).abs());
        }
        println!("Dzhanibekov top to {end:e} s: momentum {of_momentum:.1e}, energy {of_energy:.1e}");
        assert!(of_momentum < tolerance && of_energy < tolerance);
    }
}

// ---------------------------------------------------------------------------------------------------------
// Identities

/// Ten thousand tops of all kinds: momentum and energy kept, start met, group property, reversal, bounds.
#[test]
fn random_tops() {
    let mut source = Source::new(3);
    let (mut kept, mut kept_plain, mut met, mut group, mut back, mut reach, mut pace) =
        (0f64, 0f64, 0f64, 0f64, 0f64, 0f64, 0f64);
    for top in 0..10_000 {
        let mut moments = [source.decades(-1.0, 1.0), source.decades(-1.0, 1.0), source.decades(-1.0, 1.0)];
        let mut start = source.state();
        match top % 7 {
            1 => moments[1] = moments[0],
            2 => moments[2] = moments[1] * (1.0 + source.decades(-16.0, -1.0)),
            3 => moments = [moments[0]; 3],
            4 => start.angular_velocity[top % 3] = 0.0,
            5 => start.orientation = UnitQuaternion::identity(),
            6 => {
                start.orientation = UnitQuaternion::identity();
                start.angular_velocity *= source.decades(-12.0, 0.0);
                start.angular_velocity[top % 3] = 1.0;
            }
            _ => {}
        }
        let top = body(moments);
        let gravity = source.vector();
        let flight = Flight::new(&top, &start, &gravity);
        let origin = flight.at(0.0);
        met = met.max(turn_error(&origin, &start));
        met = met
            .max((origin.angular_velocity - start.angular_velocity).norm() / start.angular_velocity.norm());
        let momentum = top.world_inertia(&start.orientation) * start.angular_velocity;
        let turning = |state: &State| top.kinetic_energy(&State { velocity: Vector3::zeros(), ..*state });
        for _ in 0..5 {
            let t = source.within(-30.0, 30.0);
            let state = flight.at(t);
            let now = top.world_inertia(&state.orientation) * state.angular_velocity;
            // A spin about the least axis: ω itself is rounded, and the largest moment multiplies that.
            let size = top.inertia.max() * start.angular_velocity.norm();
            kept = kept.max((now - momentum).norm() / size);
            kept =
                kept.max((turning(&state) - turning(&start)).abs() / (size * start.angular_velocity.norm()));
            kept_plain = kept_plain.max((now - momentum).norm() / momentum.norm());
            kept_plain = kept_plain.max((turning(&state) / turning(&start) - 1.0).abs());
            let rates = Derivatives::new(&top, &state, &gravity);
            assert!(state.angular_velocity.norm() <= flight.spin_bound());
            // Where the rate is itself rounding, so is the bound.
            let rounding = 1e-13 * flight.spin_bound().powi(2);
            assert!(rates.angular_acceleration.norm() <= flight.angular_acceleration_bound() + rounding);
            reach = reach.max(state.angular_velocity.norm() / flight.spin_bound());
            if flight.angular_acceleration_bound() > 1e-3 {
                pace = pace.max(rates.angular_acceleration.norm() / flight.angular_acceleration_bound());
            }
            assert!(flight.spin_bound() <= momentum.norm() / top.inertia.min() * (1.0 + 1e-12));
            assert!(
                flight.spin_bound() <= (2.0 * turning(&start) / top.inertia.min()).sqrt() * (1.0 + 1e-12)
            );
        }
        // Rounding the state between is a change of the data: amplified by growth e^(rate t), so over short spans.
        let (first, second) = (source.within(-1.0, 1.0), source.within(-1.0, 1.0));
        let between = flight.at(first);
        let onward = Flight::new(&top, &between, &gravity).at(second);
        let direct = flight.at(first + second);
        group = group.max(turn_error(&onward, &direct)).max((onward.position - direct.position).amax());
        // Reversed velocities run the film backwards.
        let mut reversed = flight.at(first);
        reversed.velocity = -reversed.velocity;
        reversed.angular_velocity = -reversed.angular_velocity;
        let returned = Flight::new(&top, &reversed, &gravity).at(first);
        back = back.max(turn_error(&returned, &start)).max((returned.velocity + start.velocity).amax());
    }
    println!(
        "start met {met:.1e}; momentum, energy {kept:.1e} of I_max, {kept_plain:.1e} relative; group {group:.1e}; reversal {back:.1e}"
    );
    println!("bounds attained: |ω| {reach:.6}, |ω'| {pace:.6}");
    assert!(met < 2e-14 && kept < 1e-14 && kept_plain < 1e-13 && group < 1e-11 && back < 1e-11);
}

/// Moments over twelve decades, spins over twelve: the start is met, the spin kept within its bound, L kept.
#[test]
fn extreme_bodies() {
    let mut source = Source::new(6);
    let (mut met, mut kept) = (0f64, 0f64);
    for _ in 0..20_000 {
        let top = body([0; 3].map(|_| source.decades(-6.0, 6.0)));
        let mut start = spinning([0.0; 3]);
        for axis in 0..3 {
            start.angular_velocity[axis] = source.decades(-12.0, 0.0) * source.within(-1.0, 1.0).signum();
        }
        let path = Flight::new(&top, &start, &Vector3::zeros());
        let speed = start.angular_velocity.norm();
        let origin = path.at(0.0);
        met = met.max(turn_error(&origin, &start));
        // An error of the phase counts by what the spin can become.
        met = met.max((origin.angular_velocity - start.angular_velocity).norm() / path.spin_bound());
        let momentum = top.inertia.component_mul(&start.angular_velocity);
        for _ in 0..3 {
            let state = path.at(source.within(-100.0, 100.0) / speed);
            assert!(state.angular_velocity.norm() <= path.spin_bound());
            let now = top.world_inertia(&state.orientation) * state.angular_velocity;
            let size = top.inertia.max() * path.spin_bound();
            kept = kept.max((now - momentum).norm() / size);
        }
    }
    println!("extreme bodies: start met {met:.1e}, momentum kept {kept:.1e} of I_max |ω|");
    assert!(met < 2e-14 && kept < 1e-14);
}

/// R' = ω × R, ω' and ω'' by differences of `at` / by Euler's equations at the state.
#[test]
fn derivatives_by_differences() {
    let mut source = Source::new(4);
    let mut worst = [0f64; 3];
    for _ in 0..500 {
        let top = body([source.within(0.5, 3.0), source.within(0.5, 3.0), source.within(0.5, 3.0)]);
        let start = source.state();
        let flight = Flight::new(&top, &start, &Vector3::zeros());
        let t = source.within(-20.0, 20.0);
        let h = 5e-3;
        let states = [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0].map(|k| flight.at(t + k * h));
        // Sixth-order central differences.
        let first = |f: &dyn Fn(&State) -> Matrix3<f64>| {
            let d = |k: usize| f(&states[3 + k]) - f(&states[3 - k]);
            (d(1) * 45.0 - d(2) * 9.0 + d(3)) / (60.0 * h)
        };
        let column = |v: Vector3<f64>| Matrix3::from_columns(&[v, v, v]);
        let state = &states[3];
        let rates = Derivatives::new(&top, state, &Vector3::zeros());
        let turning = first(&matrix) - state.angular_velocity.cross_matrix() * matrix(state);
        let rate = first(&|s| column(s.angular_velocity)) - column(rates.angular_acceleration);
        let jerk = first(&|s| column(Derivatives::new(&top, s, &Vector3::zeros()).angular_acceleration))
            - column(rates.angular_jerk);
        for (worst, error) in worst.iter_mut().zip([turning, rate, jerk]) {
            *worst = worst.max(error.amax());
        }
    }
    println!("R' {:.1e}, ω' {:.1e}, ω'' {:.1e}", worst[0], worst[1], worst[2]);
    assert!(worst.iter().all(|e| *e < 2e-8));
}

/// Rotate the world / rotate the answer; relabel the body's axes / the same motion; scale units / scale the answer.
#[test]
fn symmetries() {
    let mut source = Source::new(5);
    let (mut rotated, mut scaled) = (0f64, 0f64);
    for _ in 0..2000 {
        let top = body([source.within(0.5, 3.0), source.within(0.5, 3.0), source.within(0.5, 3.0)]);
        let start = source.state();
        let t = source.within(-10.0, 10.0);
        let state = Flight::new(&top, &start, &Vector3::zeros()).at(t);
        let world = source.state().orientation;
        let elsewhere = State {
            orientation: world * start.orientation,
            angular_velocity: world * start.angular_velocity,
            ..start
        };
        let there = Flight::new(&top, &elsewhere, &Vector3::zeros()).at(t);
        rotated = rotated.max((world * state.angular_velocity - there.angular_velocity).amax());
        for (inertia, time) in [(1e-30, 1.0), (1e12, 1e9), (3.0, 1e-100), (1.0, 1e60)] {
            let unit = Body { inertia: top.inertia * inertia, ..top };
            let slow = State { angular_velocity: start.angular_velocity / time, ..start };
            let again = Flight::new(&unit, &slow, &Vector3::zeros()).at(t * time);
            scaled = scaled.max(turn_error(&state, &again));
        }
    }
    println!("rotated world {rotated:.1e}, scaled units {scaled:.1e}");
    assert!(rotated < 2e-11 && scaled < 2e-11);
}

// ---------------------------------------------------------------------------------------------------------
// Limits

/// I₁ = I₂(1 ± 10^−k): the motion tends to the symmetric body's as the difference does.
#[test]
fn near_symmetric_bodies() {
    let t = 7.3;
    for (free, spin) in
        [(1.7, [0.3, -1.2, 0.8]), (0.4, [0.3, -1.2, 0.8]), (1.7, [0.5, 0.2, 0.0]), (1.7, [0.0, 0.2, 1e-9])]
    {
        let limit = flight([1.0, 1.0, free], spin).at(t);
        for k in 2..=16 {
            let small = 10f64.powi(-k);
            for moment in [1.0 + small, 1.0 - small] {
                for moments in [[moment, 1.0, free], [1.0, moment, free]] {
                    let near = flight(moments, spin).at(t);
                    assert!(turn_error(&near, &limit) < 30.0 * small + 2e-14, "{moments:?} {spin:?}");
                }
            }
        }
        // The symmetric body's own elementary form: Rodrigues about L, then about its axis.
        let momentum = Vector3::new(spin[0], spin[1], spin[2] * free);
        let about_axis = spin[2] * (1.0 - free);
        let turn = UnitQuaternion::from_scaled_axis(momentum * t)
            * UnitQuaternion::from_scaled_axis(Vector3::z() * (about_axis * t));
        let error = (matrix(&limit) - turn.to_rotation_matrix().matrix()).amax();
        assert!(error < 1e-14, "{error:e}");
    }
    // All three moments near one another: the spherical top's steady turn.
    let sphere = flight([1.0; 3], [0.3, -1.2, 0.8]).at(t);
    for k in 2..=16 {
        let small = 10f64.powi(-k);
        let near = flight([1.0 - small, 1.0, 1.0 + small], [0.3, -1.2, 0.8]).at(t);
        assert!(turn_error(&near, &sphere) < 30.0 * small + 2e-14);
    }
}

/// Across the separatrix: both sides, down to it, kept and continuous; compared with Taylor integration.
#[test]
fn near_separatrix() {
    // I₃ω₃²(I₃−I₂) = I₁ω₁²(I₂−I₁): ω₁ = √3 ω₃ for moments 1, 2, 3.
    let moments = Vector3::new(1.0, 2.0, 3.0);
    let root = 3f64.sqrt();
    let mut worst = 0f64;
    for k in 0..=18 {
        for side in [-1.0, 1.0] {
            let small = if k == 18 { 0.0 } else { side * 10f64.powi(-k) * 0.5 };
            let spin = [root * 0.3 * (1.0 + small), -1.1, 0.3];
            let closed = flight(moments.into(), spin);
            let mut path = Integration::new(Matrix3::identity(), Vector3::from(spin));
            for _ in 0..8 * 64 {
                path.step(&moments, 1.0 / 64.0);
            }
            worst = worst.max((matrix(&closed.at(8.0)) - path.turn).amax());
        }
    }
    println!("near the separatrix, 8 s, closed form / Taylor: {worst:.1e}");
    assert!(worst < 2e-12);
    // About the middle axis exactly: for ever.
    let still = flight([1.0, 2.0, 3.0], [0.0, 2.0, 0.0]).at(1e6);
    assert_eq!(still.angular_velocity, Vector3::new(0.0, 2.0, 0.0));
    // A wobble of 10^−k about each axis tends to the steady turn.
    for axis in 0..3 {
        for k in [3, 6, 9, 12, 15, 30, 100, 160, 200, 300] {
            let small = 10f64.powi(-k);
            let mut spin = [small, -small, small];
            spin[axis] = -1.5;
            let mut alone = [0.0; 3];
            alone[axis] = -1.5;
            let (near, steady) =
                (flight([1.0, 2.0, 3.0], spin).at(2.0), flight([1.0, 2.0, 3.0], alone).at(2.0));
            assert!(turn_error(&near, &steady) < 100.0 * small + 2e-14, "axis {axis}, 1e-{k}");
        }
    }
}

#[test]
fn tiny_spin_no_spin_and_fixed() {
    for k in [10, 100, 200, 300] {
        let unit = 10f64.powi(-k);
        let state = flight([1.0, 2.0, 3.0], [unit, -unit, 0.5 * unit]).at(3.0);
        assert!(turn_error(&state, &spinning([0.0; 3])) < 20.0 * unit + 1e-15);
        assert!((state.angular_velocity / unit).amax().is_finite());
    }
    let start = spinning([0.0; 3]);
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    let top = body([1.0, 2.0, 3.0]);
    let falling = Flight::new(&top, &start, &gravity);
    assert_eq!(falling.at(2.0).orientation, start.orientation);
    assert!((falling.at(2.0).position.z + 19.62).abs() < 1e-14);
    assert!((falling.at(-2.0).velocity.z - 19.62).abs() < 1e-14);
    assert_eq!(falling.acceleration(), gravity);
    assert_eq!(falling.turning_bound(), 0.0);
    let wall = Flight::new(&Body { fixed: true, ..top }, &start, &gravity);
    assert_eq!(wall.at(1e6), start);
}

#[test]
fn timing() {
    for (name, spin) in [("m < 1/2", [0.2, 0.3, 2.0]), ("m > 1/2", [0.01, 2.0, 0.01])] {
        let path = flight([1.0, 2.0, 3.0], spin);
        let count = 1_000_000;
        let mut sum = 0.0;
        let start = Instant::now();
        for k in 0..count {
            sum += path.at(f64::from(k) * 0.01).orientation.w;
        }
        println!("pose, {name}: {:.0} ns ({sum:.3})", start.elapsed().as_nanos() as f64 / f64::from(count));
    }
    let start = Instant::now();
    let mut sum = 0.0;
    for k in 0..100_000 {
        sum += flight([1.0, 2.0, 3.0], [0.01, 2.0 + f64::from(k) * 1e-6, 0.01]).spin_bound();
    }
    println!("preparation: {:.0} ns ({sum:.3})", start.elapsed().as_nanos() as f64 / 1e5);
}
