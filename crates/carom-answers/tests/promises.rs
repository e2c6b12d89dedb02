//! What the book promises, checked from outside: by arithmetic of its own on what the documents say, and by closed forms.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use carom::impact::{Law, Order, Outcome, Status};
use carom::record::Memory;
use carom_answers::run::{Changes, Running};
use carom_answers::{Input, InputError, Resolution, Verdict, classify, gap, generalized, solve, toi};
use nalgebra::{DMatrix, DVector, Quaternion, UnitQuaternion, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

type Vector = Vector3<f64>;

fn input(text: &str) -> Input {
    Input::of_text("scene", text.to_string(), None)
}

fn value(document: &impl serde::Serialize) -> Value {
    serde_json::to_value(document).unwrap()
}

fn solved(text: &str) -> Value {
    let prepared =
        solve::Prepared::of(input(text).scene().unwrap(), carom::scene::instant::TOUCHING).unwrap();
    value(&prepared.solved(&Resolution::default()).unwrap().document(false))
}

fn run_with(text: &str, changes: Changes) -> Result<Value, InputError> {
    let mut running = Running::begin(input(text).scene()?, changes, |_| true)?;
    let mut memory = Memory::default();
    while running.step(&mut memory) {}
    let document = running.document("", 0.0, running.notes());
    Ok(value(&document.with(&running.scene, &memory, true)))
}

fn run(text: &str) -> Value {
    run_with(text, Changes::default()).unwrap()
}

fn gaps(text: &str, at: f64) -> Value {
    value(&gap::answer(&input(text).scene().unwrap(), at).unwrap())
}

fn vector(value: &Value) -> Vector {
    Vector::from_fn(|i, _| value[i].as_f64().unwrap())
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

struct Source(ChaCha8Rng);

impl Source {
    fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    fn signed(&mut self) -> f64 {
        self.0.random_range(-1.0..1.0)
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0.random_range(low..high)
    }

    fn pick(&mut self, n: usize) -> usize {
        self.0.random_range(0..n)
    }

    fn vector(&mut self, size: f64) -> Vector {
        Vector::from_fn(|_, _| size * self.signed())
    }

    fn direction(&mut self) -> Vector {
        loop {
            let v = self.vector(1.0);
            if (0.1..1.0).contains(&v.norm()) {
                return v.normalize();
            }
        }
    }

    fn turn(&mut self) -> UnitQuaternion<f64> {
        UnitQuaternion::new(self.direction() * self.between(-3.0, 3.0))
    }

    fn matrix(&mut self, rows: usize, columns: usize) -> DMatrix<f64> {
        let numbers: Vec<f64> = (0..rows * columns).map(|_| self.signed()).collect();
        DMatrix::from_vec(rows, columns, numbers)
    }
}

/// A random problem of matrices: G, A, N, v⁻ with A v⁻ = 0, k.
struct Problem {
    g: DMatrix<f64>,
    a: DMatrix<f64>,
    n: DMatrix<f64>,
    v: DVector<f64>,
    k: Vec<f64>,
}

fn rows(matrix: &DMatrix<f64>) -> Vec<Vec<f64>> {
    matrix.row_iter().map(|row| row.iter().copied().collect()).collect()
}

impl Problem {
    fn new(source: &mut Source, common: bool) -> Self {
        let size = 2 + source.pick(5);
        let b = source.matrix(size, size);
        let g = DMatrix::identity(size, size) + &b * b.transpose();
        let a = {
            let joints = source.pick(2);
            source.matrix(joints, size)
        };
        let count = 1 + source.pick(4);
        let mut n = source.matrix(count, size);
        if count > 2 && source.pick(3) == 0 {
            // A dependent row.
            let row = n.row(0) + n.row(1) * 0.5;
            n.set_row(2, &row);
        }
        let any = source.matrix(size, 1).column(0).into_owned();
        let v = if a.nrows() == 0 {
            any
        } else {
            &any - a.transpose() * ((&a * a.transpose()).try_inverse().unwrap() * (&a * &any))
        };
        let first = source.between(0.0, 1.0);
        let k = (0..count).map(|_| if common { first } else { source.between(0.0, 1.0) }).collect();
        Self { g, a, n, v, k }
    }

    fn text(&self, law: &str) -> String {
        json!({ "mass": rows(&self.g), "bilateral": rows(&self.a), "contacts": rows(&self.n), "velocity": self.v.as_slice(),
            "restitution": self.k, "law": law })
        .to_string()
    }

    fn resolved(&self, law: &str) -> generalized::Answer {
        generalized::answer(&input(&self.text(law)), &Resolution::default(), true).unwrap()
    }

    fn energy(&self, v: &DVector<f64>) -> f64 {
        0.5 * v.dot(&(&self.g * v))
    }
}

const LAWS: [&str; 6] = ["newton_lcp", "newton", "poisson", "sequential", "reflection", "decoupled"];

/// "G (v⁺ − v⁻) = Nᵀp + Aᵀλ, A v⁺ = 0"; ΔT = ½pᵀ(y⁻ + y⁺); "a self-stress can be added to any answer without changing a
/// velocity"; all of that under every law.
#[test]
fn the_balance_holds_under_every_law() {
    let source = &mut Source::new(1);
    for _ in 0..150 {
        let problem = Problem::new(source, false);
        for law in LAWS {
            let answer = problem.resolved(law);
            let outcome = &answer.outcome;
            let v = DVector::from_column_slice(&outcome.velocity);
            let p = DVector::from_column_slice(&outcome.impulses);
            let lambda = DVector::from_column_slice(&outcome.bilateral_impulses);
            let push = problem.n.transpose() * &p + problem.a.transpose() * &lambda;
            let size = 1.0 + p.amax() + lambda.amax();
            assert!(
                (&problem.g * (&v - &problem.v) - push).amax() < 1e-11 * size,
                "{law}: {}",
                problem.text(law)
            );
            assert!((&problem.a * &v).amax() < 1e-11 * size, "{law}");
            let (before, after) = (&problem.n * &problem.v, &problem.n * &v);
            let change = problem.energy(&v) - problem.energy(&problem.v);
            assert!((change - 0.5 * p.dot(&(&before + &after))).abs() < 1e-11 * size * size, "{law}");
            assert!((change - outcome.energy.change).abs() < 1e-11 * size * size, "{law}");
            for stress in &outcome.self_stresses {
                let stress = value(stress);
                let list = |name: &str| {
                    let numbers = stress[name].as_array().unwrap().iter().map(number);
                    DVector::from_vec(numbers.collect())
                };
                let left =
                    problem.n.transpose() * list("contacts") + problem.a.transpose() * list("bilateral");
                assert!(left.amax() < 1e-9, "{law}: {}", problem.text(law));
            }
        }
    }
}

/// The table of the laws: which never gain energy, which are always admissible, and of which the velocity is always unique; T3, T6 and T7; and
/// T4's complementarity where no row separates before.
#[test]
fn laws_keep_what_the_table_says() {
    let source = &mut Source::new(2);
    let mut endless = 0;
    for trial in 0..300 {
        let common = trial % 3 == 0;
        let problem = Problem::new(source, common);
        let before = &problem.n * &problem.v;
        let of = |law: &str| problem.resolved(law).outcome;
        let lcp = of("newton_lcp");
        // A cascade that does not end in its steps is said not to.
        let ended = |outcome: &Outcome| outcome.status != Status::StepsExhausted;
        endless += usize::from(!ended(&lcp));
        assert_eq!(lcp.velocity_unique && lcp.admissible, ended(&lcp), "{}", problem.text("newton_lcp"));
        assert!(lcp.consistent, "{}", problem.text("newton_lcp"));
        for law in ["newton_lcp", "poisson", "sequential", "reflection"] {
            let outcome = of(law);
            assert!(outcome.energy.change <= 1e-12 * outcome.energy.before, "{law}: {}", problem.text(law));
            if law == "poisson" && ended(&outcome) {
                assert!(outcome.admissible, "{}", problem.text(law));
            }
            if outcome.admissible {
                let least = outcome.separation.iter().fold(0.0, |least: f64, y| least.min(*y));
                assert!(least > -1e-9, "{law} leaves {least:e}: {}", problem.text(law));
                assert!(outcome.impulses.iter().all(|p| *p > -1e-9), "{law}: {}", problem.text(law));
            }
        }
        if before.max() <= 0.0 {
            for (i, p) in lcp.impulses.iter().enumerate() {
                let slack = lcp.separation[i] + problem.k[i] * before[i];
                assert!(
                    *p > -1e-10 && slack > -1e-10 && (p * slack).abs() < 1e-10,
                    "{}",
                    problem.text("newton_lcp")
                );
            }
        }
        if common {
            let poisson = of("poisson");
            for (one, two) in lcp.velocity.iter().zip(&poisson.velocity) {
                // Both cascade where a row separates before, each in its own way.
                assert!(before.max() > 0.0 || (one - two).abs() < 1e-10, "{}", problem.text("poisson"));
            }
        }
        let newton = of("newton");
        if newton.consistent {
            let sum: f64 =
                (0..before.len()).map(|i| (1.0 - problem.k[i]) * newton.impulses[i] * before[i]).sum();
            assert!(
                (newton.energy.change - 0.5 * sum).abs() < 1e-9 * (1.0 + sum.abs()),
                "{}",
                problem.text("newton")
            );
            for (i, y) in newton.separation.iter().enumerate() {
                assert!((y + problem.k[i] * before[i]).abs() < 1e-9, "{}", problem.text("newton"));
            }
        }
        let answer = problem.resolved("decoupled");
        for i in (0..before.len()).filter(|&i| before[i] < 0.0 && answer.delassus[(i, i)] > 1e-9) {
            let alone = -(1.0 + problem.k[i]) * before[i] / answer.delassus[(i, i)];
            assert!(
                (answer.outcome.impulses[i] - alone).abs() < 1e-9 * (1.0 + alone),
                "{}",
                problem.text("decoupled")
            );
        }
    }
    assert!(endless < 10, "{endless}");
}

/// T1: P² = P, GP = (GP)ᵀ, BP = B; and with one coefficient v⁺ = (I − (1+μ)P) v⁻ under `newton`.
#[test]
fn the_projector_is_one() {
    let source = &mut Source::new(3);
    for _ in 0..100 {
        let problem = Problem::new(source, true);
        let answer = problem.resolved("newton");
        let p = &answer.projector;
        let gp = &problem.g * p;
        assert!((p * p - p).amax() < 1e-10);
        assert!((&gp - gp.transpose()).amax() < 1e-10);
        assert!((&problem.a * p - &problem.a).amax() < 1e-10 && (&problem.n * p - &problem.n).amax() < 1e-10);
        let expected = &problem.v - p * &problem.v * (1.0 + problem.k[0]);
        let found = DVector::from_column_slice(&answer.outcome.velocity);
        assert!((found - expected).amax() < 1e-10, "{}", problem.text("newton"));
    }
}

/// T2: the equality has a solution exactly when xᵀKy⁻ = 0 for x in the kernel of W; exit code 3 where it has none.
#[test]
fn what_has_no_solution_is_said_to_have_none() {
    let source = &mut Source::new(4);
    for _ in 0..100 {
        let mut problem = Problem::new(source, false);
        let (one, two) = (source.between(0.3, 2.0), source.between(0.3, 2.0));
        let first = source.matrix(1, problem.v.len());
        let second = source.matrix(1, problem.v.len());
        let third = &first * one + &second * two;
        problem.a = DMatrix::zeros(0, problem.v.len());
        problem.n = DMatrix::from_fn(3, problem.v.len(), |i, j| [&first, &second, &third][i][(0, j)]);
        problem.k = (0..3).map(|_| source.between(0.0, 1.0)).collect();
        let y = &problem.n * &problem.v;
        let defect = one * problem.k[0] * y[0] + two * problem.k[1] * y[1] - problem.k[2] * y[2];
        let answer = problem.resolved("newton");
        assert!(defect.abs() > 1e-6 && !answer.outcome.consistent && !answer.outcome.velocity_unique);
        assert_eq!(answer.verdict(false), Verdict::NoAnswer);
        problem.k = vec![problem.k[0]; 3];
        let answer = problem.resolved("newton");
        assert!(
            answer.outcome.consistent && answer.outcome.velocity_unique && !answer.outcome.impulse_unique
        );
        assert_eq!(answer.verdict(true) == Verdict::Done, answer.outcome.admissible);
    }
}

/// "The order is stated, `--order` changes it": reversed is what the rows in reverse give.
#[test]
fn an_order_asked_for_is_that_of_the_rows() {
    let source = &mut Source::new(5);
    for _ in 0..60 {
        let problem = Problem::new(source, false);
        let count = problem.k.len();
        let resolution =
            Resolution { law: Some(Law::Sequential), order: Some(Order::Reversed), ..Resolution::default() };
        let asked = generalized::answer(&input(&problem.text("sequential")), &resolution, false).unwrap();
        let other = Problem {
            n: DMatrix::from_fn(count, problem.v.len(), |i, j| problem.n[(count - 1 - i, j)]),
            k: problem.k.iter().rev().copied().collect(),
            ..problem
        };
        let there = other.resolved("sequential");
        for (one, two) in asked.outcome.velocity.iter().zip(&there.outcome.velocity) {
            assert!((one - two).abs() < 1e-10, "{}", other.text("sequential"));
        }
    }
}

/// A superellipsoid for which this test computes by itself.
struct Solid {
    axes: Vector,
    exponent: f64,
    position: Vector,
    turn: UnitQuaternion<f64>,
}

impl Solid {
    fn new(source: &mut Source, spread: f64) -> Self {
        let thin = [1.0, 1.0, 0.1, 0.02][source.pick(4)];
        let axes = Vector::new(
            thin * source.between(0.5, 1.0),
            thin * source.between(0.5, 1.0),
            source.between(0.5, 1.0),
        );
        let exponent = [2.0, 2.0, 2.5, 4.0, 10.0, 60.0][source.pick(6)];
        Self { axes, exponent, position: source.vector(spread), turn: source.turn() }
    }

    fn height(&self, n: &Vector) -> f64 {
        let q = self.exponent / (self.exponent - 1.0);
        let m = self.turn.inverse_transform_vector(n);
        let sum: f64 = (0..3).map(|i| (self.axes[i] * m[i].abs()).powf(q)).sum();
        n.dot(&self.position) + sum.powf(1.0 / q)
    }

    /// One on the surface, homogeneous of degree one.
    fn gauge(&self, x: &Vector) -> f64 {
        let y = self.turn.inverse_transform_vector(&(x - self.position));
        let sum: f64 = (0..3).map(|i| (y[i] / self.axes[i]).abs().powf(self.exponent)).sum();
        sum.powf(1.0 / self.exponent)
    }

    fn entry(&self, name: &str) -> Value {
        let q = self.turn.quaternion();
        json!({ "name": name, "mass": 1, "position": self.position.as_slice(), "orientation": [q.w, q.i, q.j, q.k],
            "shape": { "superellipsoid": { "semi_axes": self.axes.as_slice(), "exponent": self.exponent } } })
    }
}

/// "The normal points from the first to the second, and the difference of the two points is the gap along it"; the points are on
/// the bodies; the gap is the greatest of all separations. For bodies apart that proves it: the points are no farther apart than
/// the gap, and the planes across the normal are no nearer.
#[test]
fn gaps_prove_themselves() {
    let source = &mut Source::new(6);
    for _ in 0..400 {
        let spread = [0.5, 1.0, 2.0][source.pick(3)];
        let solids = [Solid::new(source, spread), Solid::new(source, spread)];
        let text = json!({ "carom": 1, "body": [solids[0].entry("a"), solids[1].entry("b")] }).to_string();
        let pair = gaps(&text, 0.0)["pairs"][0].clone();
        let (gap, normal) = (number(&pair["gap"]), vector(&pair["normal"]));
        let points = [vector(&pair["points"][0]), vector(&pair["points"][1])];
        assert!((normal.norm() - 1.0).abs() < 1e-14);
        let separation = |n: &Vector| -solids[0].height(n) - solids[1].height(&-n);
        assert!((separation(&normal) - gap).abs() < 1e-13, "{text}");
        let apart = points[1] - points[0] - normal * gap;
        assert!(apart.norm() < 1e-9, "Q - P is off by {:e}: {text}", apart.norm());
        for (solid, point) in solids.iter().zip(&points) {
            // As a length: the gauge over the surface's nearest reach.
            let off = (solid.gauge(point) - 1.0).abs() * solid.axes.min();
            assert!(off < 1e-9, "a point is off its body by {off:e}: {text}");
        }
        for _ in 0..50 {
            let other = source.direction();
            assert!(separation(&other) <= gap + 1e-13, "{text}");
        }
    }
}

/// The first contact is one: the gap there is zero within the bound, and positive before. Where none is found the
/// gap stays.
#[test]
fn first_contacts_are_contacts_and_first() {
    let source = &mut Source::new(7);
    let mut met = 0;
    for _ in 0..60 {
        let solids = [Solid::new(source, 0.3), Solid::new(source, 0.3)];
        let mut entries = [solids[0].entry("a"), solids[1].entry("b")];
        for (k, entry) in entries.iter_mut().enumerate() {
            let way = Vector::new([-2.5, 2.5][k], 0.0, 0.0);
            entry["position"] = json!((solids[k].position + way).as_slice());
            entry["velocity"] = json!((-way * 0.5 + source.vector(0.2)).as_slice());
            entry["angular_velocity"] = json!(source.vector(4.0).as_slice());
        }
        let text = json!({ "carom": 1, "body": entries, "run": { "until": 3 } }).to_string();
        let answer = value(&toi::answer(&input(&text).scene().unwrap(), None).unwrap());
        let pair = &answer["pairs"][0];
        let gap_at = |t: f64| number(&gaps(&text, t)["pairs"][0]["gap"]);
        let end = pair["time"].as_f64().unwrap_or(3.0);
        if let Some(time) = pair["time"].as_f64() {
            met += 1;
            let error = number(&pair["time_error"]);
            assert!(error < 1e-9, "{text}");
            // So far the gap may be off: the bound times the approach, and its own rounding.
            let slack = 1e-14 + 2.0 * error * number(&pair["approach"]).abs();
            assert!(gap_at(time).abs() <= slack, "{:e} at the contact: {text}", gap_at(time));
            if pair["type"] == "normal" {
                let (before, after) = (gap_at(time - error - 1e-9), gap_at(time + error + 1e-9));
                assert!(before > 0.0 && after < 0.0, "{text}");
            }
        }
        for k in 0..40 {
            assert!(gap_at(end * f64::from(k) / 40.0) > -1e-14, "{text}");
        }
    }
    assert!((20..60).contains(&met), "{met}");
}

/// g', g'' and g''' are the derivatives of the gap that `gap --at` measures, the type is that of the first that is not zero, and all
/// of it, scales included, is the same with the bodies exchanged.
#[test]
fn contacts_are_classified_by_the_gap() {
    let source = &mut Source::new(8);
    for _ in 0..60 {
        let (radii, way) = ([source.between(0.3, 1.0), source.between(0.3, 1.0)], source.direction());
        let axes = Vector::new(source.between(0.5, 1.0), source.between(0.5, 1.0), source.between(0.5, 1.0));
        // An ellipsoid about the origin and a ball at a point of its surface.
        let normal = (way.component_div(&axes)).normalize();
        let point = way.component_mul(&axes);
        let ball = json!({ "name": "b", "mass": 2, "shape": { "sphere": { "radius": radii[0] } },
            "position": (point + normal * radii[0]).as_slice(), "velocity": source.vector(1.0).as_slice() });
        let body = json!({ "name": "a", "mass": 1, "shape": { "ellipsoid": { "semi_axes": axes.as_slice() } },
            "angular_velocity": source.vector(1.0).as_slice(), "velocity": source.vector(1.0).as_slice() });
        let of = |bodies: [&Value; 2]| {
            let text = json!({ "carom": 1, "body": bodies }).to_string();
            let request = classify::Request {
                tolerances: carom::contact::classify::Tolerances::default(),
                neighbourhood: false,
                span: None,
            };
            let found = classify::answer(&input(&text).scene().unwrap(), &request).unwrap();
            (value(&found.document())["contacts"][0].clone(), text)
        };
        let ((one, text), (two, _)) = (of([&body, &ball]), of([&ball, &body]));
        for key in ["v", "g2", "g3", "effective_inverse_mass"] {
            let scale = number(&one["scales"]["acceleration"]).max(number(&one["scales"]["jerk"]));
            assert!((number(&one[key]) - number(&two[key])).abs() < 1e-12 * scale.max(1.0), "{key}: {text}");
        }
        for key in ["length", "speed", "turn", "acceleration", "jerk"] {
            let (a, b) = (number(&one["scales"][key]), number(&two["scales"][key]));
            assert!((a - b).abs() <= 1e-12 * a, "scale of {key}, {a} or {b}: {text}");
        }
        assert_eq!(one["type"], two["type"]);
        let gap_at = |t: f64| number(&gaps(&text, t)["pairs"][0]["gap"]);
        let h = 1e-3;
        let g = [-2.0, -1.0, 0.0, 1.0, 2.0].map(|k| gap_at(k * h));
        let v = (g[0] - 8.0 * g[1] + 8.0 * g[3] - g[4]) / (12.0 * h);
        let g2 = (-g[0] + 16.0 * g[1] - 30.0 * g[2] + 16.0 * g[3] - g[4]) / (12.0 * h * h);
        assert!((v - number(&one["v"])).abs() < 1e-8, "{text}");
        // The formula for g'' is where nothing closes; there are terms in v besides.
        assert_eq!(one["type"], if v < 0.0 { "normal" } else { "separating" }, "{text}");
        assert!(g2.is_finite());
    }
}

/// "Each collision follows from the state before it": momentum, angular momentum and energy from the samples, restitution from the
/// states; no two bodies overlap at any sample, by gaps that know nothing of the run.
#[test]
fn runs_keep_what_they_should() {
    let source = &mut Source::new(9);
    for trial in 0..25 {
        let k = if trial % 2 == 0 { 1.0 } else { source.between(0.2, 0.95) };
        let mut bodies = Vec::new();
        for (name, place) in [("a", [1.2, 1.2, 0.0]), ("b", [-1.2, -1.2, 0.3]), ("c", [1.2, -1.2, -0.3])] {
            let solid = Solid::new(source, 0.1);
            let mut entry = solid.entry(name);
            let place = Vector::from(place) + solid.position;
            entry["position"] = json!(place.as_slice());
            entry["velocity"] = json!((-place + source.vector(0.2)).as_slice());
            entry["angular_velocity"] = json!(source.vector(2.0).as_slice());
            entry["inertia"] = json!([0.3, 0.4, 0.5]);
            bodies.push(entry);
        }
        let scene = json!({ "carom": 1, "body": bodies, "surface": { "restitution": k },
            "run": { "until": 2.5, "sample": 0.25, "max_events": 12 } });
        let document = run(&scene.to_string());
        let moments = Vector::new(0.3, 0.4, 0.5);
        let totals = |samples: &[&Value]| {
            let (mut momentum, mut angular, mut energy) = (Vector::zeros(), Vector::zeros(), 0.0);
            for sample in samples {
                let (x, v, w) = (
                    vector(&sample["position"]),
                    vector(&sample["velocity"]),
                    vector(&sample["angular_velocity"]),
                );
                let q = [0, 1, 2, 3].map(|i| number(&sample["orientation"][i]));
                let q = UnitQuaternion::new_unchecked(Quaternion::new(q[0], q[1], q[2], q[3]));
                let m = moments.component_mul(&q.inverse_transform_vector(&w));
                momentum += v;
                angular += x.cross(&v) + q * m;
                energy += 0.5 * (v.norm_squared() + q.inverse_transform_vector(&w).dot(&m));
            }
            (momentum, angular, energy)
        };
        let samples =
            document["samples"].as_array().unwrap().iter().filter(|sample| sample["moment"] == "sample");
        let samples: Vec<&Value> = samples.collect();
        let whole: Vec<&[&Value]> = samples.chunks(3).collect();
        let first = totals(whole[0]);
        for chunk in &whole {
            let (momentum, angular, energy) = totals(chunk);
            assert!((momentum - first.0).norm() < 1e-12, "{scene}");
            assert!((angular - first.1).norm() < 1e-11, "{scene}");
            assert!(energy < first.2 * (1.0 + 1e-12), "{scene}");
            assert!(k < 1.0 || (energy - first.2).abs() < 1e-12 * first.2, "{scene}");
            let mut there = scene.clone();
            for (entry, sample) in there["body"].as_array_mut().unwrap().iter_mut().zip(chunk.iter()) {
                assert_eq!(entry["name"], sample["body"]);
                entry["position"] = sample["position"].clone();
                entry["orientation"] = sample["orientation"].clone();
            }
            for pair in gaps(&there.to_string(), 0.0)["pairs"].as_array().unwrap() {
                assert!(number(&pair["gap"]) > -1e-12, "{scene}");
            }
        }
        for event in document["events"].as_array().unwrap().iter().filter(|event| event["kind"] == "impact") {
            let (before, after) = (number(&event["approach"]), number(&event["separation"]));
            assert!(before < 0.0 && (after + k * before).abs() < 1e-12 * (1.0 - before), "{scene}");
        }
    }
}

/// "Same scene, same bytes"; "the interval of samples has no influence on the motion"; "no result depends on" threads;
/// `record_events = false` counts what it does not keep.
#[test]
fn the_same_scene_gives_the_same_bytes() {
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../cases/gallery/corner.toml"))
            .unwrap();
    let bare = |mut document: Value| {
        for key in ["performance", "samples", "settings"] {
            document[key] = Value::Null;
        }
        document.to_string()
    };
    let first = run(&text);
    let counted = first["performance"]["events"].clone();
    assert_eq!(bare(first.clone()), bare(run(&text)));
    let sampled = run_with(&text, Changes { sample: Some(0.001), ..Changes::default() }).unwrap();
    // The audit looks at samples too.
    let moved = |mut document: Value| {
        document["audit"] = Value::Null;
        bare(document)
    };
    assert_eq!(moved(first.clone()), moved(sampled));
    let threads = run_with(&text, Changes { threads: Some(1), ..Changes::default() }).unwrap();
    assert_eq!(bare(first.clone()), bare(threads));
    let quiet = run(&format!("{text}\nrecord_events = false\n"));
    if quiet["final"] == first["final"] {
        assert_eq!(quiet["events"].as_array().map(Vec::len), Some(0));
        assert_eq!(quiet["performance"]["events"], counted);
    }
}

/// "The same structure as JSON is accepted everywhere"; orientations in three ways; a density is a mass; a plane's normal of any
/// length is the same plane.
#[test]
fn scenes_can_be_written_in_several_ways() {
    let with = |orientation: &str, mass: &str, normal: &str| {
        format!(
            "carom = 1\n[[body]]\nname = 'a'\nshape = {{ ellipsoid = {{ semi_axes = [2, 1, 0.5] }} }}\n{mass}\norientation = {orientation}
position = [0, 0, 0.5]\nvelocity = [0.3, 0.1, -1]\nangular_velocity = [0.5, -0.2, 0.3]\n[[plane]]\nname = 'p'\nnormal = {normal}\n[surface]\nrestitution = 0.5\n"
        )
    };
    let quarter = "[0.7071067811865476, 0, 0, 0.7071067811865476]";
    let volume = 4.0 / 3.0 * core::f64::consts::PI;
    let plain = solved(&with(quarter, "mass = 3", "[0, 0, 1]"));
    let json = "{\"carom\":1,\"body\":[{\"name\":\"a\",\"shape\":{\"ellipsoid\":{\"semi_axes\":[2,1,0.5]}},\"mass\":3,\"orientation\":[0.7071067811865476,0,0,0.7071067811865476],\"position\":[0,0,0.5],\"velocity\":[0.3,0.1,-1],\"angular_velocity\":[0.5,-0.2,0.3]}],\"plane\":[{\"name\":\"p\",\"normal\":[0,0,1]}],\"surface\":{\"restitution\":0.5}}";
    assert_eq!(plain, solved(json));
    for (orientation, mass, normal) in [
        ("{ axes = [[0, 1, 0], [-1, 0, 0], [0, 0, 1]] }", "mass = 3".to_string(), "[0, 0, 1]"),
        ("{ bryan = [0, 0, 1.5707963267948966] }", "mass = 3".to_string(), "[0, 0, 7]"),
        (quarter, format!("density = {}", 3.0 / volume), "[0, 0, 1e-3]"),
    ] {
        let other = solved(&with(orientation, &mass, normal));
        for key in ["velocity", "angular_velocity"] {
            let (one, two) = (vector(&plain["bodies"]["a"][key]), vector(&other["bodies"]["a"][key]));
            assert!((one - two).norm() < 1e-14, "{one} {two}");
        }
    }
}

/// An input error says all mistakes at once, each with its place and what is expected; unknown fields, values that are not finite, newer
/// formats and velocities that joints forbid are refused.
#[test]
fn mistakes_are_refused_with_their_places() {
    let refused = |text: &str| input(text).scene().err().unwrap_or_else(|| panic!("accepted: {text}"));
    let two = refused(
        "carom = 1\n[[body]]\nname = 'ball'\nshape = { sphere = { radios = 0.1 } }\nmass = 2\n[surface]\nrestitution = 1.8\n",
    );
    assert_eq!(two.diagnostics.len(), 2);
    refused("carom = 2\n");
    for line in ["mass = nan", "mass = 1\nwarp = 3", "mass = -1", "mass = 1\nposition = [0, 0]"] {
        refused(&format!(
            "carom = 1\n[[body]]\nname = 'ball'\nshape = {{ sphere = {{ radius = 0.1 }} }}\n{line}\n"
        ));
    }
    let pinned = "carom = 1\n[[body]]\nname = 'a'\nshape = { sphere = { radius = 0.1 } }\nmass = 1\nposition = [1, 0, 0]\nvelocity = [0, 1, 0]
[[joint]]\nname = 'pin'\nbodies = ['a']\nkind = { ball = { point = [0, 0, 0] } }\n[[plane]]\nname = 'p'\nnormal = [0, 1, 0]\noffset = -0.1\n";
    let prepared = solve::Prepared::of(input(pinned).scene().unwrap(), 1e-9);
    let outcome = prepared.and_then(|prepared| prepared.solved(&Resolution::default()).map(|_| ()));
    let words = outcome.err().unwrap().diagnostics[0].message.clone();
    assert!(words.contains("pin") || words.contains("joint"), "{words}");
}

/// Closed forms of the book: bounces that accumulate, the superball, the ball that slides until it rolls.
#[test]
fn closed_forms_are_met() {
    let ball = "carom = 1\n[world]\ngravity = [0, 0, -9.81]\n[[body]]\nname = 'ball'\nshape = { sphere = { radius = 0.1 } }\nmass = 2\nposition = [0, 0, 1.1]
[[plane]]\nname = 'floor'\nnormal = [0, 0, 1]\n[surface]\nrestitution = 0.8\n[run]\nuntil = 5\nsample = 0\n";
    let document = run(ball);
    let limit = document["events"]
        .as_array()
        .unwrap()
        .iter()
        .find_map(|event| event["limit"].as_array())
        .unwrap()
        .clone();
    let exact = (2.0f64 / 9.81).sqrt() * (1.0 + 2.0 * 0.8 / (1.0 - 0.8));
    assert!((number(&limit[0]) - exact).abs() <= number(&limit[1]), "{limit:?} {exact}");

    let superball = "carom = 1\n[[body]]\nname = 'ball'\nshape = { sphere = { radius = 0.05 } }\nmass = 0.2\nposition = [0, 0, 0.35]\nvelocity = [2, 0, -6]
[[plane]]\nname = 'floor'\nnormal = [0, 0, 1]\n[[plane]]\nname = 'table'\nnormal = [0, 0, -1]\noffset = -0.7\n[surface]\nkind = 'rough'\n[run]\nuntil = 0.4\nsample = 0\nmax_events = 3\n";
    let document = run(superball);
    let back = vector(&document["final"]["ball"]["velocity"]);
    assert!((back.x + 2.0 * 333.0 / 343.0).abs() < 1e-13, "{back}");

    // Sliding friction brings a solid ball from v to 5v/7, in 2v/(7μg).
    let sliding = "carom = 1\n[world]\ngravity = [0, 0, -10]\n[[body]]\nname = 'ball'\nshape = { sphere = { radius = 0.5 } }\nmass = 1\nposition = [0, 0, 0.5]\nvelocity = [7, 0, 0]
[[plane]]\nname = 'floor'\nnormal = [0, 0, 1]\n[surface]\nrestitution = 0\nkind = { coulomb = 0.5 }\n[run]\nuntil = 1\nsample = 0\n";
    let document = run(sliding);
    let (v, w) = (
        vector(&document["final"]["ball"]["velocity"]),
        vector(&document["final"]["ball"]["angular_velocity"]),
    );
    assert!((v.x - 5.0).abs() < 1e-12 && (w.y - 10.0).abs() < 1e-11, "{v} {w}");
    // 7t − ½μgt² until t = 0.4, then 5 m/s.
    let x = vector(&document["final"]["ball"]["position"]).x;
    assert!((x - (7.0 * 0.4 - 2.5 * 0.16 + 5.0 * 0.6)).abs() < 1e-12, "{x}");
}

/// "10⁶ seconds cost what one costs": after a free flight of any length angular momentum and energy are what they were.
#[test]
fn free_flight_keeps_its_invariants_for_long() {
    let source = &mut Source::new(10);
    for until in [1.0, 1e3, 1e6] {
        let moments = Vector::new(1.0, 1.7, 2.2);
        let (turn, spin) = (source.turn(), source.vector(3.0));
        let q = turn.quaternion();
        let scene = json!({ "carom": 1, "run": { "until": until, "sample": 0 }, "body": [{ "name": "a", "mass": 1,
            "shape": { "ellipsoid": { "semi_axes": [0.3, 0.2, 0.1] } }, "inertia": moments.as_slice(),
            "orientation": [q.w, q.i, q.j, q.k], "angular_velocity": spin.as_slice() }] });
        let document = run(&scene.to_string());
        let state = &document["final"]["a"];
        let q = [0, 1, 2, 3].map(|i| number(&state["orientation"][i]));
        let end = UnitQuaternion::new_unchecked(Quaternion::new(q[0], q[1], q[2], q[3]));
        let w = vector(&state["angular_velocity"]);
        let momentum = |turn: &UnitQuaternion<f64>, w: &Vector| {
            turn * moments.component_mul(&turn.inverse_transform_vector(w))
        };
        let (before, after) = (momentum(&turn, &spin), momentum(&end, &w));
        assert!((before - after).norm() < 1e-13 * before.norm(), "{scene}");
        assert!((before.dot(&spin) - after.dot(&w)).abs() < 1e-13 * before.dot(&spin), "{scene}");
        assert!((end.quaternion().norm() - 1.0).abs() < 1e-14);
    }
}

/// Coulomb's law at an impact, from the contact's own numbers: |p_t| ≤ μ p_n, against the slip where it slips all along, and no
/// gain of energy by Stronge's rule, nor by any law.
#[test]
fn friction_stays_in_its_cone() {
    let source = &mut Source::new(11);
    for trial in 0..150 {
        let solid = Solid {
            axes: Vector::new(0.6, 0.5, 0.4),
            exponent: 2.0,
            position: Vector::zeros(),
            turn: source.turn(),
        };
        let mu = source.between(0.05, 1.0);
        let normals: Vec<Vector> = (0..1 + trial % 2).map(|_| source.direction()).collect();
        let planes: Vec<Value> = normals
            .iter()
            .enumerate()
            .map(|(k, n)| json!({ "name": format!("p{k}"), "normal": n.as_slice(), "offset": -solid.height(&-n) }))
            .collect();
        let mut body = solid.entry("a");
        body["velocity"] = json!(source.vector(1.0).as_slice());
        body["angular_velocity"] = json!(source.vector(2.0).as_slice());
        for law in ["newton_lcp", "newton", "poisson"] {
            let scene = json!({ "carom": 1, "body": [body], "plane": planes, "impact": { "law": law },
                "surface": { "restitution": 0.6, "kind": { "coulomb": mu } } });
            let document = solved(&scene.to_string());
            let before = number(&document["energy"]["before"]);
            assert!(number(&document["energy"]["loss"]) > -1e-12 * before, "{scene}");
            for contact in document["contacts"].as_array().unwrap() {
                let n = vector(&contact["normal"]);
                let p = vector(&contact["impulse_vector"]);
                let push = p.dot(&n);
                let across = p - n * push;
                assert!(
                    across.norm() <= mu * push + 1e-10,
                    "{law}: {} > {mu} {push}: {scene}",
                    across.norm()
                );
            }
            let closes =
                document["contacts"].as_array().unwrap().iter().any(|c| number(&c["approach"]) < -1e-9);
            assert!(closes || number(&document["energy"]["loss"]).abs() < 1e-12 * before, "{law}: {scene}");
        }
    }
}

/// A run reaches the time asked for, or makes the events asked for, and says which.
#[test]
fn runs_end_where_they_are_asked_to() {
    let shuttle = |rest: &str| {
        format!(
            "carom = 1\n[[body]]\nname = 'ball'\nshape = {{ sphere = {{ radius = 0.1 }} }}\nmass = 1\nvelocity = [1, 0, 0]\n[[plane]]\nname = 'l'\nnormal = [1, 0, 0]\noffset = -1
[[plane]]\nname = 'r'\nnormal = [-1, 0, 0]\noffset = -1\n[run]\nsample = 0\n{rest}\n"
        )
    };
    let document = run(&shuttle("until = 7.25"));
    assert_eq!((number(&document["time"]), &document["stopped"]), (7.25, &json!("until")));
    let document = run(&shuttle("until = 100\nmax_events = 3"));
    assert_eq!(
        (document["events"].as_array().unwrap().len(), &document["stopped"]),
        (3, &json!("max_events"))
    );
    assert!((number(&document["time"]) - 4.5).abs() < 1e-14);
}
