//! One contact with Coulomb friction: published numbers, an independent integrator, and identities.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use carom::audit::audit;
use carom::impact::coulomb::{Mode, Passage, Phase, Termination, pass};
use carom::impact::{Friction, Law, Options, Problem};
use nalgebra::{DMatrix, DVector, Matrix3, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

// ---------------------------------------------------------------------------------------------------------
// Published numbers

/// The reference numbers are printed with 17 digits; the closed forms reach them to this, relative to the
/// largest number of their kind.
const CLOSED_FORM: f64 = 2e-15;

/// The same for a slip that turns.
const TURNING: f64 = 4e-15;

struct Case {
    id: String,
    mass: DMatrix<f64>,
    rows: DMatrix<f64>,
    velocity: DVector<f64>,
    friction: f64,
    restitution: f64,
    expected: Value,
}

impl Case {
    fn delassus(&self) -> Matrix3<f64> {
        let w = &self.rows * self.mass.clone().try_inverse().unwrap() * self.rows.transpose();
        Matrix3::from_fn(|i, j| if i < w.nrows() && j < w.nrows() { w[(i, j)] } else { 0.0 })
    }

    fn approach(&self) -> Vector3<f64> {
        let y = &self.rows * &self.velocity;
        Vector3::from_fn(|i, _| if i < y.len() { y[i] } else { 0.0 })
    }

    fn pass(&self, termination: Termination) -> Passage {
        pass(&self.delassus(), &self.approach(), self.friction, self.restitution, termination)
    }

    fn velocity_after(&self, passage: &Passage) -> DVector<f64> {
        let p = passage.impulse.rows(0, self.rows.nrows()).into_owned();
        &self.velocity + self.mass.clone().try_inverse().unwrap() * self.rows.transpose() * p
    }

    fn energy_change(&self, after: &DVector<f64>) -> f64 {
        let energy = |v: &DVector<f64>| 0.5 * v.dot(&(&self.mass * v));
        energy(after) - energy(&self.velocity)
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// The cases whose id begins so.
fn published(file: &str, id: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(file).unwrap();
    let cases = file["cases"].as_array().unwrap();
    cases.iter().filter(|case| case["id"].as_str().unwrap().starts_with(id)).cloned().collect()
}

/// The cases given as bodies.
fn cases() -> Vec<Case> {
    published(include_str!("../../../cases/laws/reference.json"), "ext_").iter().map(case).collect()
}

fn case(value: &Value) -> Case {
    let inputs = &value["inputs"];
    let get = |name: &str| inputs[name].as_f64().unwrap();
    let m = get("m");
    let (mass, rows, velocity) = if inputs.get("theta").is_some() {
        let (l, theta) = (get("l"), get("theta"));
        let (rx, ry) = (-l * theta.cos(), -l * theta.sin());
        (
            DMatrix::from_diagonal(&DVector::from_vec(vec![m, m, m * l * l / 3.0])),
            DMatrix::from_row_slice(2, 3, &[0.0, 1.0, rx, 1.0, 0.0, -ry]),
            DVector::from_vec(vec![get("vx"), get("vy"), get("omega")]),
        )
    } else {
        let (r, j) = (get("r"), get("J"));
        let rows =
            [[0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0, -r, 0.0], [0.0, 1.0, 0.0, r, 0.0, 0.0]];
        (
            DMatrix::from_diagonal(&DVector::from_vec(vec![m, m, m, j, j, j])),
            DMatrix::from_row_slice(3, 6, &rows.concat()),
            DVector::from_vec(numbers(&inputs["v_minus"])),
        )
    };
    Case {
        id: value["id"].as_str().unwrap().to_owned(),
        mass,
        rows,
        velocity,
        friction: get("mu_friction"),
        restitution: get("e"),
        expected: value["expected"].clone(),
    }
}

/// The largest difference relative to the largest expected number.
fn relative_error(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
    found.iter().zip(expected).fold(0.0_f64, |a, (x, y)| a.max((x - y).abs())) / scale
}

#[track_caller]
fn assert_near(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    let error = relative_error(found, expected);
    assert!(error <= tolerance, "{what}: {found:?}, expected {expected:?}: off by {error:e}");
}

#[test]
fn spheres_on_a_floor_equal_their_closed_form() {
    let spheres: Vec<_> = cases().into_iter().filter(|case| case.expected.get("laws").is_none()).collect();
    assert_eq!(spheres.len(), 3);
    for case in spheres {
        for termination in Termination::ALL {
            let passage = case.pass(termination);
            let after = case.velocity_after(&passage);
            let expected = &case.expected;
            let what = |name: &str| format!("{} {} {name}", case.id, termination.name());
            assert_near(&what("p"), passage.impulse.as_slice(), &numbers(&expected["p_n_x_y"]), CLOSED_FORM);
            assert_near(&what("v"), after.as_slice(), &numbers(&expected["v_plus"]), CLOSED_FORM);
            let change = expected["dT"].as_f64().unwrap();
            assert_near(&what("dT"), &[case.energy_change(&after)], &[change], CLOSED_FORM);
            let sticks = passage.phases.iter().any(|phase| phase.mode == Mode::Stick);
            assert_eq!(sticks, expected["sticks"].as_bool().unwrap(), "{}", what("sticks"));
        }
    }
}

#[test]
fn rods_equal_routh_with_every_termination() {
    let rods: Vec<_> = cases().into_iter().filter(|case| case.expected.get("laws").is_some()).collect();
    assert_eq!(rods.len(), 4);
    for case in rods {
        for termination in Termination::ALL {
            let passage = case.pass(termination);
            let after = case.velocity_after(&passage);
            let expected = &case.expected["laws"][termination.name()];
            let get = |name: &str| expected[name].as_f64().unwrap();
            let what = |name: &str| format!("{} {} {name}", case.id, termination.name());
            let p = [passage.impulse[0], passage.impulse[1]];
            let y = [passage.separation[0], passage.separation[1]];
            assert_near(&what("p"), &p, &[get("p_n"), get("p_t")], CLOSED_FORM);
            assert_near(&what("y"), &y, &[get("y_n_plus"), get("y_t_plus")], CLOSED_FORM);
            assert_near(&what("p_c"), &[passage.compression_impulse], &[get("p_c")], CLOSED_FORM);
            assert_near(&what("v"), after.as_slice(), &numbers(&expected["v_plus"]), CLOSED_FORM);
            assert_near(&what("dT"), &[case.energy_change(&after)], &[get("dT")], CLOSED_FORM);
            let work = passage.normal_work[0] + passage.normal_work[1];
            assert_near(&what("W_n"), &[work], &[get("W_n")], CLOSED_FORM);
            check_events(&what("events"), &passage, expected["events"].as_array().unwrap());
        }
    }
}

#[test]
fn turning_slips_equal_forty_digit_integration() {
    let turning = published(include_str!("../../../cases/laws/turning_slip.json"), "turning_slip");
    assert_eq!(turning.len(), 6);
    for value in turning {
        let inputs = &value["inputs"];
        let rows: Vec<f64> = inputs["W"].as_array().unwrap().iter().flat_map(numbers).collect();
        let (w, y) = (Matrix3::from_row_slice(&rows), Vector3::from_vec(numbers(&inputs["y_minus"])));
        let (mu, e) = (inputs["mu_friction"].as_f64().unwrap(), inputs["e"].as_f64().unwrap());
        for termination in Termination::ALL {
            let passage = pass(&w, &y, mu, e, termination);
            let expected = &value["expected"]["laws"][termination.name()];
            let get = |name: &str| expected[name].as_f64().unwrap();
            let what = format!("{} {}", value["id"], termination.name());
            assert_near(&what, passage.impulse.as_slice(), &numbers(&expected["impulse"]), TURNING);
            assert_near(&what, passage.separation.as_slice(), &numbers(&expected["separation"]), TURNING);
            assert_near(&what, &[passage.compression_impulse], &[get("p_c")], TURNING);
            let [compression, recovered] = passage.normal_work;
            let error = (compression + recovered - get("W_n")).abs() / -compression;
            assert!(error <= TURNING, "{what}: W_n off by {error:e}");
            assert!(
                passage.phases.iter().all(|phase| matches!(phase.mode, Mode::Slip | Mode::Jam)),
                "{what}"
            );
        }
    }
}

#[test]
fn the_solver_gives_what_the_passage_gives_under_every_law() {
    for case in cases() {
        let mut problem = Problem::new(case.mass.clone(), case.rows.clone(), case.velocity.clone())
            .with_restitution(case.restitution);
        let tangent = (1..case.rows.nrows()).collect();
        problem.friction = vec![Friction { normal: 0, tangent, coefficient: case.friction }];
        for (law, termination) in Law::ALL.into_iter().flat_map(|law| Termination::ALL.map(|end| (law, end)))
        {
            let outcome = problem.solve(&Options { law, termination, ..Options::default() }).unwrap();
            let what = |name: &str| format!("{} {law} {} {name}", case.id, termination.name());
            let expected = case.expected.get("laws").map_or(&case.expected, |laws| &laws[termination.name()]);
            assert_near(&what("v"), &outcome.velocity, &numbers(&expected["v_plus"]), 2.0 * CLOSED_FORM);
            let change = expected["dT"].as_f64().unwrap();
            assert_near(&what("dT"), &[outcome.energy.change], &[change], 4.0 * CLOSED_FORM);
            assert!(
                (outcome.work.iter().sum::<f64>() - change).abs() <= 1e-14 * change.abs(),
                "{}",
                what("work")
            );
            assert!(audit(&problem, &outcome).passed, "{}", what("audit"));
            assert_eq!(outcome.friction.len(), 1, "{}", what("history"));
            assert!(
                outcome.velocity_unique && outcome.notes.is_empty(),
                "{}: {:?}",
                what("notes"),
                outcome.notes
            );
        }
    }
}

fn check_events(what: &str, passage: &Passage, events: &[Value]) {
    let stops = |mode: Mode| matches!(mode, Mode::Stick | Mode::ReverseSlip);
    for event in events {
        let p = event["p"].as_f64().unwrap();
        let phase: &Phase = match event["event"].as_str().unwrap() {
            "slip_end" => passage.phases.iter().rfind(|phase| !stops(phase.mode)),
            "end_compression" => passage.phases.iter().rfind(|phase| !phase.restitution),
            "termination" => passage.phases.last(),
            other => panic!("{what}: unknown event {other}"),
        }
        .unwrap();
        assert_near(what, &[phase.to], &[p], CLOSED_FORM);
        if let Some(mode) = event.get("mode") {
            assert_eq!(mode.as_str().unwrap() == "stick", phase.mode == Mode::Stick, "{what}");
        }
    }
    let stopped = events.iter().any(|event| event["event"] == "slip_end");
    assert_eq!(stopped, passage.phases.iter().any(|phase| stops(phase.mode)), "{what}");
}

// ---------------------------------------------------------------------------------------------------------
// An independent integrator: Runge–Kutta in Cartesian velocities, dp = |y_t| dτ, small steps

/// y, p_t, ∫ y_n dp, p.
type Course = [f64; 7];

struct Oracle {
    w: Matrix3<f64>,
    friction: f64,
}

impl Oracle {
    /// d(course)/dτ while sliding.
    fn rate(&self, x: &Course) -> Course {
        let speed = x[1].hypot(x[2]);
        let push = Vector3::new(speed, -self.friction * x[1], -self.friction * x[2]);
        let y = self.w * push;
        [y[0], y[1], y[2], push[1], push[2], x[0] * speed, speed]
    }

    fn step(&self, x: &Course, h: f64) -> Course {
        let add = |k: &Course, h: f64| -> Course { std::array::from_fn(|i| x[i] + h * k[i]) };
        let k1 = self.rate(x);
        let k2 = self.rate(&add(&k1, 0.5 * h));
        let k3 = self.rate(&add(&k2, 0.5 * h));
        let k4 = self.rate(&add(&k3, h));
        std::array::from_fn(|i| x[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]))
    }

    /// The part of the step after which `goal` first reaches zero.
    fn cut(&self, x: &Course, h: f64, goal: impl Fn(&Course) -> f64) -> Course {
        let (mut low, mut high) = (0.0, h);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if goal(&self.step(x, middle)) < 0.0 { low = middle } else { high = middle }
        }
        self.step(x, high)
    }

    /// The friction per normal impulse after sliding has stopped, by bisection.
    fn rest_rate(&self) -> [f64; 2] {
        let (a, b, d) = (self.w[(1, 1)], self.w[(1, 2)], self.w[(2, 2)]);
        let (n1, n2) = (self.w[(0, 1)], self.w[(0, 2)]);
        let solve = |shift: f64, mu: f64| {
            let (a, b, d) = (mu * a + shift, mu * b, mu * d + shift);
            let det = a * d - b * b;
            [(d * n1 - b * n2) / det, (a * n2 - b * n1) / det]
        };
        let hold = solve(0.0, 1.0);
        if hold[0].hypot(hold[1]) <= self.friction {
            return [-hold[0], -hold[1]];
        }
        let (mut low, mut high) = (0.0, n1.hypot(n2));
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            let s = solve(middle, self.friction);
            if s[0].hypot(s[1]) > 1.0 { low = middle } else { high = middle }
        }
        solve(high, self.friction).map(|s| -self.friction * s)
    }

    /// The course at the end, and p_c; None where compression comes back, which this oracle does not follow.
    fn run(&self, y: &Vector3<f64>, e: f64, termination: Termination, h: f64) -> Option<(Course, f64)> {
        let mut x: Course = [y[0], y[1], y[2], 0.0, 0.0, 0.0, 0.0];
        let mut compression: Option<Course> = None;
        let goal = |x: &Course, compression: &Option<Course>| match compression {
            None => x[0],
            Some(c) => match termination {
                Termination::Newton => x[0] + e * y[0],
                Termination::Poisson => x[6] - (1.0 + e) * c[6],
                Termination::Stronge => x[5] - (1.0 - e * e) * c[5],
            },
        };
        while x[1].hypot(x[2]) > 1e-13 {
            let next = self.step(&x, h);
            if compression.is_some() && next[0] < 0.0 {
                return None;
            }
            if goal(&next, &compression) < 0.0 {
                x = next;
                continue;
            }
            x = self.cut(&x, h, |x| goal(x, &compression));
            match compression {
                Some(c) => return Some((x, c[6])),
                None => compression = Some(x),
            }
        }
        let rate = self.rest_rate();
        let slope = self.w * Vector3::new(1.0, rate[0], rate[1]);
        let go = |x: &Course, p: f64| -> Course {
            let work = x[5] + p * (x[0] + 0.5 * slope[0] * p);
            [
                x[0] + slope[0] * p,
                x[1] + slope[1] * p,
                x[2] + slope[2] * p,
                x[3] + rate[0] * p,
                x[4] + rate[1] * p,
                work,
                x[6] + p,
            ]
        };
        let c = match compression {
            Some(c) => c,
            None => {
                x = go(&x, -x[0] / slope[0]);
                x
            }
        };
        let left = match termination {
            Termination::Newton => (-e * y[0] - x[0]) / slope[0],
            Termination::Poisson => (1.0 + e) * c[6] - x[6],
            Termination::Stronge => {
                let left = (1.0 - e * e) * c[5] - x[5];
                ((x[0] * x[0] + 2.0 * slope[0] * left).sqrt() - x[0]) / slope[0]
            }
        };
        Some((go(&x, left), c[6]))
    }
}

// ---------------------------------------------------------------------------------------------------------
// Random contacts

struct Random(ChaCha8Rng);

impl Random {
    fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0.random_range(low..high)
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.0.random_range(0..choices.len())]
    }

    /// The rows of a contact with `dimensions` degrees of freedom: W = C Cᵀ.
    fn rows(&mut self, dimensions: usize) -> DMatrix<f64> {
        DMatrix::from_fn(3, dimensions, |_, _| self.between(-1.0, 1.0))
    }

    /// A well-conditioned anisotropic contact, W and y.
    fn contact(&mut self) -> (Matrix3<f64>, Vector3<f64>) {
        let c = self.rows(4);
        let w = &c * c.transpose();
        let w = Matrix3::from_fn(|i, j| w[(i, j)] + if i == j { 0.1 } else { 0.0 });
        let y = Vector3::new(-self.between(0.2, 1.5), self.between(-2.0, 2.0), self.between(-2.0, 2.0));
        (w, y)
    }
}

fn turned(w: &Matrix3<f64>, y: &Vector3<f64>, angle: f64) -> (Matrix3<f64>, Vector3<f64>) {
    let r = turn(angle);
    let w = r * w * r.transpose();
    (0.5 * (w + w.transpose()), r * y)
}

/// The turn of the tangents by an angle.
fn turn(angle: f64) -> Matrix3<f64> {
    let (s, c) = angle.sin_cos();
    Matrix3::new(1.0, 0.0, 0.0, 0.0, c, -s, 0.0, s, c)
}

/// The size of the velocities that W p is made of: what rounding of the result is relative to.
fn velocity_scale(w: &Matrix3<f64>, y: &Vector3<f64>, passage: &Passage) -> f64 {
    y.amax() + w.amax() * passage.impulse.amax()
}

/// Everything that holds for every passage, whatever the data.
#[track_caller]
fn check_identities(
    w: &Matrix3<f64>,
    y: &Vector3<f64>,
    mu: f64,
    e: f64,
    by: Termination,
    tolerance: f64,
) -> Passage {
    let passage = pass(w, y, mu, e, by);
    let context = || format!("W {w:?} y {y:?} μ {mu:e} e {e} {}: {passage:?}", by.name());
    let all = passage.impulse.iter().chain(passage.separation.iter()).chain(&passage.normal_work);
    assert!(all.chain([&passage.compression_impulse]).all(|x| x.is_finite()), "finite: {}", context());
    let scale = velocity_scale(w, y, &passage);
    let residual = (passage.separation - y - w * passage.impulse).amax();
    assert!(residual <= tolerance * scale, "y⁺ = y⁻ + W p off by {:e}: {}", residual / scale, context());
    let [p, t1, t2] = [passage.impulse[0], passage.impulse[1], passage.impulse[2]];
    assert!(p >= 0.0 && t1.hypot(t2) <= mu * p * (1.0 + tolerance) + tolerance * p, "cone: {}", context());
    if y[0] < 0.0 && w[(0, 0)] > 0.0 && !passage.locked {
        assert!(passage.separation[0] >= -tolerance * scale, "still closing: {}", context());
    }
    let work = 0.5 * passage.impulse.dot(&(y + passage.separation));
    let normal_work = passage.normal_work[0] + passage.normal_work[1];
    let slack = tolerance * passage.impulse.amax() * scale;
    if by == Termination::Stronge {
        assert!(work <= slack, "energy gained {work:e}: {}", context());
        if !passage.locked && p > 0.0 {
            let [compression, recovered] = passage.normal_work;
            assert!((recovered + e * e * compression).abs() <= slack, "Stronge: {}", context());
        }
    }
    assert!(work <= normal_work + slack, "friction does no positive work: {}", context());
    let mut at = 0.0;
    for phase in &passage.phases {
        assert!(phase.from == at && phase.to >= phase.from, "phases: {}", context());
        at = phase.to;
    }
    assert!(at == p, "phases end at p: {}", context());
    passage
}

#[test]
fn turning_slip_equals_runge_kutta() {
    let mut random = Random::new(1);
    let (mut compared, mut worst) = (0, 0.0_f64);
    while compared < 60 {
        let (w, y) = random.contact();
        let (mu, e) = (random.between(0.1, 1.2), random.between(0.0, 1.0));
        for termination in Termination::ALL {
            let oracle = Oracle { w, friction: mu };
            let Some((expected, p_c)) = oracle.run(&y, e, termination, 1e-3) else { continue };
            let passage = pass(&w, &y, mu, e, termination);
            let scale = velocity_scale(&w, &y, &passage);
            let separation = passage.separation - Vector3::new(expected[0], expected[1], expected[2]);
            let impulse = passage.impulse - Vector3::new(expected[6], expected[3], expected[4]);
            let error = (separation.amax() / scale)
                .max(impulse.amax() / passage.impulse.amax())
                .max((passage.compression_impulse / p_c - 1.0).abs());
            assert!(
                error <= 1e-10,
                "off by {error:e}: W {w:?} y {y:?} μ {mu} e {e} {termination:?} {passage:?}"
            );
            worst = worst.max(error);
            compared += 1;
        }
    }
    println!("Taylor / Runge–Kutta: worst relative difference {worst:e} of {compared}");
}

#[test]
fn identities_hold_on_random_contacts() {
    let mut random = Random::new(2);
    for _ in 0..20_000 {
        let (w, y) = random.contact();
        let e = random.one_of(&[0.0, 1.0, 0.5, 1e-6]);
        let mu = random.one_of(&[0.0, 1e-3, 0.2, 0.6, 1.0, 2.0, 50.0]);
        let passage = check_identities(&w, &y, mu, e, random.one_of(&Termination::ALL), 1e-13);
        if e == 0.0 {
            assert_eq!(passage.separation[0], 0.0);
        }
    }
}

#[test]
fn degenerate_contacts_stay_finite_and_consistent() {
    let mut random = Random::new(3);
    let mut locked = 0;
    for round in 0..20_000 {
        let dimensions = 1 + round % 4;
        let mut c = random.rows(dimensions);
        // Near-dependent rows, blocked rows and rows of very different size.
        for row in 0..3 {
            let factor = random.one_of(&[1.0, 1.0, 1.0, 0.0, 1e-13, 1e-6, 1e-3, 1e3]);
            c.row_mut(row).scale_mut(if row == 0 && factor == 0.0 { 1.0 } else { factor });
        }
        if random.one_of(&[true, false, false]) {
            let near =
                c.row(0) * random.between(-2.0, 2.0) + c.row(1) * random.one_of(&[0.0, 1e-14, 1e-9, 1e-4]);
            c.row_mut(1).copy_from(&near);
        }
        let z = DVector::from_fn(dimensions, |_, _| random.between(-1.0, 1.0));
        let fastest = c.row(0).norm() * z.norm();
        let w = &c * c.transpose();
        let y = &c * z;
        let (w, mut y) = (Matrix3::from_fn(|i, j| w[(i, j)]), Vector3::new(y[0], y[1], y[2]));
        if y[0] > 0.0 {
            y = -y;
        }
        let change = random.one_of(&[None, None, Some(1), Some(2)]);
        if let Some(tangent) = change {
            y[tangent] *= random.one_of(&[0.0, 1e-15, 1e-9]);
        }
        let mu = random.one_of(&[0.0, 1e-9, 0.1, 0.5, 1.0, 3.0, 1e6, 1e300]);
        let e = random.one_of(&[0.0, 0.3, 1.0]);
        let by = random.one_of(&Termination::ALL);
        let passage = check_identities(&w, &y, mu, e, by, 1e-11);
        if passage.locked && change.is_none() {
            // y = C z: a contact that W cannot open does not close either, to the root of the tolerance on W.
            let closing = -passage.separation[0] / fastest;
            assert!(closing <= 2e-6, "{closing:e}: W {w:?} y {y:?} μ {mu} e {e} {by:?}: {passage:?}");
            locked += 1;
        }
    }
    assert!(locked > 100, "{locked}");
}

#[test]
fn rotating_tangents_rotates_the_answer() {
    let mut random = Random::new(4);
    for _ in 0..3000 {
        let (w, y) = random.contact();
        let (mu, e, angle) = (random.between(0.0, 1.5), random.between(0.0, 1.0), random.between(-3.0, 3.0));
        let by = random.one_of(&Termination::ALL);
        let given = pass(&w, &y, mu, e, by);
        let (w, y) = turned(&w, &y, angle);
        let rotated = pass(&w, &y, mu, e, by);
        let difference = (turn(angle) * given.impulse - rotated.impulse).amax() / given.impulse.amax();
        assert!(difference <= 1e-12, "{difference:e}: W {w:?} y {y:?} μ {mu} e {e} {by:?}");
    }
}

#[test]
fn scaling_units_scales_the_answer() {
    let mut random = Random::new(5);
    for _ in 0..1000 {
        let (w, y) = random.contact();
        let (mu, e) = (random.between(0.0, 1.5), random.between(0.0, 1.0));
        let by = random.one_of(&Termination::ALL);
        let given = pass(&w, &y, mu, e, by);
        // Powers of two, from 1e-100 to 1e100: the answer is the same to the last bit.
        let (inertance, velocity) =
            (random.between(-332.0, 332.0).floor(), random.between(-332.0, 332.0).floor());
        let (inertance, velocity) = (inertance.exp2(), velocity.exp2());
        let scaled = pass(&(w * inertance), &(y * velocity), mu, e, by);
        let impulse = velocity / inertance;
        let same = |a: f64, b: f64| (a - b).abs() <= 4.0 * f64::EPSILON * b.abs();
        assert!(scaled.impulse.iter().zip(given.impulse.iter()).all(|(a, b)| same(*a, b * impulse)));
        assert!(scaled.separation.iter().zip(given.separation.iter()).all(|(a, b)| same(*a, b * velocity)));
        assert!(same(scaled.compression_impulse, given.compression_impulse * impulse));
    }
}

#[test]
fn planar_embedded_in_space_equals_planar() {
    let mut random = Random::new(6);
    for _ in 0..3000 {
        let (mut w, mut y) = random.contact();
        let (mu, e, angle) = (random.between(0.0, 1.5), random.between(0.0, 1.0), random.between(-3.0, 3.0));
        let by = random.one_of(&Termination::ALL);
        for i in 0..3 {
            w[(i, 2)] = 0.0;
            w[(2, i)] = 0.0;
        }
        y[2] = 0.0;
        let planar = pass(&w, &y, mu, e, by);
        // The other tangent free to move, but not driven: the slip stays straight.
        w[(2, 2)] = random.one_of(&[0.0, 1e-13, 0.3, 2.0]);
        let (w, y) = turned(&w, &y, angle);
        let embedded = pass(&w, &y, mu, e, by);
        let difference = (turn(angle) * planar.impulse - embedded.impulse).amax() / planar.impulse.amax();
        assert!(
            difference <= 1e-12,
            "{difference:e}: W {w:?} y {y:?} μ {mu} e {e} {by:?} {planar:?} {embedded:?}"
        );
    }
}

#[test]
fn without_friction_the_terminations_agree_with_the_smooth_contact() {
    let mut random = Random::new(7);
    for _ in 0..1000 {
        let (w, y) = random.contact();
        let e = random.between(0.0, 1.0);
        for by in Termination::ALL {
            let passage = pass(&w, &y, 0.0, e, by);
            let p = -(1.0 + e) * y[0] / w[(0, 0)];
            assert!((passage.impulse - Vector3::new(p, 0.0, 0.0)).amax() <= 1e-14 * p);
        }
    }
}

#[test]
fn from_rest_with_much_friction_the_contact_sticks_throughout() {
    let mut random = Random::new(8);
    for _ in 0..1000 {
        let (w, mut y) = random.contact();
        y[1] = 0.0;
        y[2] = 0.0;
        let e = random.between(0.0, 1.0);
        let wtt = w.fixed_view::<2, 2>(1, 1).into_owned();
        let hold = wtt.try_inverse().unwrap() * w.fixed_view::<2, 1>(1, 0);
        let effective = w[(0, 0)] - hold.dot(&w.fixed_view::<2, 1>(1, 0));
        let p = -(1.0 + e) * y[0] / effective;
        for by in Termination::ALL {
            let passage = pass(&w, &y, hold.norm() * (1.0 + 1e-9), e, by);
            let expected = Vector3::new(p, -hold[0] * p, -hold[1] * p);
            assert!((passage.impulse - expected).amax() <= 1e-12 * expected.amax());
            assert!(passage.phases.iter().all(|phase| phase.mode == Mode::Stick));
        }
    }
}

#[test]
fn sliding_with_ever_more_friction_tends_to_a_stop_at_once() {
    let (w, y) = Random::new(9).contact();
    // Past the stop the contact sticks, so that what is left depends on μ only through the stop.
    let reach = |mu: f64| pass(&w, &y, mu, 0.5, Termination::Stronge);
    let limit = reach(1e12);
    for mu in [1e3, 1e5, 1e7] {
        let stop = reach(mu).phases.iter().rfind(|phase| phase.mode != Mode::Stick).unwrap().to;
        assert!(stop <= 100.0 / mu, "{stop:e}");
        let difference = (reach(mu).impulse - limit.impulse).amax() / limit.impulse.amax();
        assert!(difference <= 100.0 / mu, "{difference:e}");
    }
}

#[test]
fn newton_may_gain_energy_where_stronge_does_not() {
    // Kane's kind: sliding reverses, and restoring y_n costs more than compression took.
    let mut random = Random::new(10);
    let (mut gains, mut gain) = (0, 0.0_f64);
    for _ in 0..20_000 {
        let (mut w, mut y) = random.contact();
        for i in 0..3 {
            w[(i, 2)] = 0.0;
            w[(2, i)] = 0.0;
        }
        y[2] = 0.0;
        let mu = random.between(0.1, 1.5);
        let work = |by| {
            let passage = pass(&w, &y, mu, 1.0, by);
            0.5 * passage.impulse.dot(&(y + passage.separation)) / (y[0] * y[0] / w[(0, 0)])
        };
        assert!(work(Termination::Stronge) <= 1e-13);
        let newton = work(Termination::Newton);
        gains += usize::from(newton > 1e-6);
        gain = gain.max(newton);
    }
    assert!(gains > 100 && gain > 0.01, "{gains} gains, at most {gain}");
}

#[test]
fn newton_gains_energy_on_this_contact() {
    let w = Matrix3::new(1.0, -0.9, 0.0, -0.9, 1.0, 0.0, 0.0, 0.0, 0.0);
    let y = Vector3::new(-1.0, 1.0, 0.0);
    let work = |by| {
        let passage = pass(&w, &y, 0.5, 1.0, by);
        0.5 * passage.impulse.dot(&(y + passage.separation))
    };
    assert!(work(Termination::Newton) > 0.01);
    assert!(work(Termination::Stronge) < 0.0);
}

#[test]
fn every_mode_is_reached() {
    let mut random = Random::new(11);
    let mut seen = std::collections::HashMap::new();
    let mut again = 0;
    for _ in 0..20_000 {
        let (w, y) = random.contact();
        let passage = pass(&w, &y, random.between(0.1, 3.0), 0.9, random.one_of(&Termination::ALL));
        for phase in &passage.phases {
            *seen.entry(format!("{:?} {}", phase.mode, phase.restitution)).or_insert(0) += 1;
        }
        again += usize::from(passage.phases.windows(2).any(|w| w[0].restitution && !w[1].restitution));
    }
    // A turning slip may jam in restitution and close the contact again.
    assert!(again > 0);
    for mode in [Mode::Slip, Mode::Jam, Mode::Stick, Mode::ReverseSlip] {
        assert!(seen.keys().any(|key| key.starts_with(&format!("{mode:?} "))), "{mode:?}");
    }
}
