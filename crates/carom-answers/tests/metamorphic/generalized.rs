//! Problems given as matrices: in other coordinates and units, in another order, beside a bystander, with joints given twice.

use carom_answers::{Input, Resolution, generalized};
use nalgebra::{DMatrix, DVector};
use serde_json::{Value, json};

use crate::answer::{Answer, ENERGY, IMPULSE, Kind, Quantity, Question, SPEED, Unit, steps};
use crate::compare::{Finding, ROUNDINGS, Scales, Sensitive, report};
use crate::draw::Draw;
use crate::frame::Frame;

/// A contact with Coulomb friction: its normal row, its tangents' rows, its coefficient.
#[derive(Debug, Clone)]
struct Friction {
    normal: usize,
    tangent: Vec<usize>,
    coefficient: f64,
}

#[derive(Debug, Clone)]
struct Problem {
    mass: DMatrix<f64>,
    bilateral: DMatrix<f64>,
    contacts: DMatrix<f64>,
    velocity: DVector<f64>,
    restitution: Vec<f64>,
    friction: Vec<Friction>,
    law: &'static str,
}

/// A matrix as an array of its rows.
fn rows(matrix: &DMatrix<f64>) -> Vec<Vec<f64>> {
    matrix.row_iter().map(|row| row.iter().copied().collect()).collect()
}

impl Problem {
    fn draw(draw: &mut Draw) -> Self {
        let n = 1 + draw.pick(6);
        let matrix = |draw: &mut Draw, rows, columns| {
            DMatrix::from_iterator(
                rows,
                columns,
                (0..rows * columns).map(|_| draw.number(-1.0, 1.0)).collect::<Vec<_>>(),
            )
        };
        let b = matrix(draw, n, n);
        let scale =
            DVector::from_iterator(n, (0..n).map(|_| 10f64.powf(draw.number(-1.0, 1.0))).collect::<Vec<_>>());
        let mass = DMatrix::from_diagonal(&scale)
            * (DMatrix::identity(n, n) + &b * b.transpose())
            * DMatrix::from_diagonal(&scale);
        let mass = (&mass + mass.transpose()) * 0.5;
        let joints = draw.pick(2.min(n));
        let bilateral = matrix(draw, joints, n);
        let normals = 1 + draw.pick(4);
        let mut contacts: Vec<DVector<f64>> = Vec::new();
        for k in 0..normals {
            // Now and then a row that depends on those before it.
            let row = if k > 1 && draw.chance(0.25) {
                &contacts[k - 1] * draw.one_of(&[1.0, 0.5]) + &contacts[k - 2] * draw.one_of(&[1.0, 2.0])
            } else {
                matrix(draw, n, 1).column(0).into_owned()
            };
            contacts.push(row);
        }
        let any = matrix(draw, n, 1).column(0).into_owned();
        let velocity = if joints == 0 {
            any
        } else {
            let square = &bilateral * bilateral.transpose();
            let part = square.lu().solve(&(&bilateral * &any)).unwrap();
            &any - bilateral.transpose() * part
        };
        let mut friction = Vec::new();
        if draw.chance(0.4) {
            let normal = draw.pick(normals);
            let tangents = 1 + draw.pick(2);
            let tangent = (0..tangents).map(|k| normals + k).collect();
            for _ in 0..tangents {
                contacts.push(matrix(draw, n, 1).column(0).into_owned());
            }
            friction.push(Friction { normal, tangent, coefficient: draw.number(0.05, 1.0) });
        }
        let common = draw.chance(0.4);
        let first = draw.number(0.0, 1.0);
        let restitution = (0..contacts.len()).map(|_| {
            let other = draw.number(0.0, 1.0);
            if common { first } else { other }
        });
        let restitution = restitution.collect();
        let law = draw.one_of(&[
            "newton_lcp",
            "newton_lcp",
            "newton",
            "poisson",
            "sequential",
            "reflection",
            "decoupled",
        ]);
        let contacts = DMatrix::from_fn(contacts.len(), n, |i, j| contacts[i][j]);
        Self { mass, bilateral, contacts, velocity, restitution, friction, law }
    }

    fn text(&self) -> String {
        let friction: Vec<Value> = self
            .friction
            .iter()
            .map(|f| json!({ "normal": f.normal, "tangent": f.tangent, "coefficient": f.coefficient }))
            .collect();
        json!({
            "mass": rows(&self.mass),
            "bilateral": rows(&self.bilateral),
            "contacts": rows(&self.contacts),
            "velocity": self.velocity.as_slice(),
            "restitution": self.restitution,
            "friction": friction,
            "law": self.law,
        })
        .to_string()
    }

    /// Asks. `back` takes a velocity to the coordinates of the answer, `order` says which rows of it its rows are.
    fn ask(&self, back: &DMatrix<f64>, order: &[usize], row_scales: &[f64], units: Units) -> Answer {
        let input = Input::of_text("problem", self.text(), None);
        let mut answer = Answer::default();
        match generalized::answer(&input, &Resolution::default(), false) {
            Err(error) => {
                let words: Vec<&str> = error.diagnostics.iter().map(|d| d.message.as_str()).collect();
                answer.facts.insert("refused".to_string(), words.join("\n"));
            }
            Ok(found) => {
                let outcome = &found.outcome;
                for (name, fact) in [
                    ("rank", outcome.rank.to_string()),
                    ("velocity_unique", outcome.velocity_unique.to_string()),
                    ("impulse_unique", outcome.impulse_unique.to_string()),
                    ("consistent", outcome.consistent.to_string()),
                    ("admissible", outcome.admissible.to_string()),
                    ("status", format!("{:?}", outcome.status)),
                    ("steps", steps(outcome.steps.len())),
                    ("self-stresses", outcome.self_stresses.len().to_string()),
                    ("audit", found.audit.passed.to_string()),
                    ("notes", outcome.notes.len().to_string()),
                ] {
                    answer.facts.insert(name.to_string(), fact);
                }
                // What the outcome says of its rounding, relative to √(2T), as a velocity in the coordinates of the answer.
                let lightest = self.mass.clone().symmetric_eigenvalues().min();
                let longest = self.contacts.row_iter().zip(row_scales).map(|(row, scale)| row.norm() / scale);
                let longest = longest.fold(back.norm(), f64::max);
                let stated = outcome.rounding * (2.0 * outcome.energy.before / lightest).sqrt() * longest
                    / units.speed;
                let mut put = |name: &str, unit: Unit, values: Vec<f64>| {
                    let bound = if unit == SPEED { stated } else { 0.0 };
                    let quantity =
                        Quantity { kind: Kind::Scalar, unit, values, bound, sharpness: 0.0, late: 0.0 };
                    answer.quantities.insert(name.to_string(), quantity);
                };
                let velocity = back * DVector::from_column_slice(&outcome.velocity) / units.speed;
                put("velocity", SPEED, velocity.as_slice().to_vec());
                let sorted = |values: &[f64], power: i32| {
                    let mut sorted = vec![0.0; order.len()];
                    for (k, &row) in order.iter().enumerate() {
                        sorted[row] = values[k] * row_scales[k].powi(power);
                    }
                    sorted
                };
                let scaled =
                    |values: Vec<f64>, by: f64| values.into_iter().map(|x| x / by).collect::<Vec<_>>();
                let pushed = scaled(sorted(&outcome.impulses, 1), units.mass * units.speed);
                put(
                    if outcome.impulse_unique { "impulses" } else { "impulses of least norm" },
                    IMPULSE,
                    pushed,
                );
                put("approach", SPEED, scaled(sorted(&outcome.approach, -1), units.speed));
                put("separation", SPEED, scaled(sorted(&outcome.separation, -1), units.speed));
                let joules = units.mass * units.speed * units.speed;
                put("energy", ENERGY, vec![outcome.energy.before / joules, outcome.energy.after / joules]);
                put("change", ENERGY, vec![outcome.energy.change / joules]);
            }
        }
        answer
    }
}

#[derive(Debug, Clone, Copy)]
struct Units {
    mass: f64,
    speed: f64,
}

const SAME: Units = Units { mass: 1.0, speed: 1.0 };

#[test]
fn problems_of_matrices() {
    let mut findings = Vec::new();
    let (mut unclear, mut count) = (0, 0);
    for seed in crate::seeds(Question::Solve) {
        count += 1;
        let plain = |problem: &Problem| {
            let (n, r) = (problem.velocity.len(), problem.contacts.nrows());
            problem.ask(&DMatrix::identity(n, n), &(0..r).collect::<Vec<_>>(), &vec![1.0; r], SAME)
        };
        let problem = Problem::draw(&mut Draw::new(seed));
        let (n, r) = (problem.velocity.len(), problem.contacts.nrows());
        let answer = plain(&problem);
        let speed = problem.velocity.amax();
        let scales = Scales { length: 1.0, speed, mass: problem.mass.amax() };
        let nudged = |which, nudge| plain(&Problem::draw(&mut Draw::nudged(seed, which, nudge)));
        let Some(own) = Sensitive::of(answer, scales, [1e-7, 1e-10], nudged) else {
            unclear += 1;
            continue;
        };
        let draw = &mut Draw::new(seed + 7_000_000);
        let mut check = |what: &str, other: &Problem, answer: &Answer, growth: f64, left_out: &[&str]| {
            let left_out = |key: &str| left_out.contains(&key);
            let differences = own.differences(&Frame::same(), answer, ROUNDINGS * growth, left_out);
            if !differences.is_empty() {
                let (before, after) = (problem.text(), other.text());
                findings.push(Finding { seed, what: what.to_string(), differences, before, after });
            }
        };
        let identity = DMatrix::identity(n, n);
        let given: Vec<usize> = (0..r).collect();
        let ones = vec![1.0; r];
        let one_by_one = problem.law == "sequential" || !problem.friction.is_empty();
        let open = own.answer.facts.get("velocity_unique").is_some_and(|unique| unique == "false");

        // Other coordinates: v = S v', and all that is not a velocity stays. Which of many impulses are given hangs on the tolerance at
        // the end of a cascade.
        let s = DMatrix::from_fn(n, n, |i, j| f64::from(u8::from(i == j)) + 0.4 * draw.number(-1.0, 1.0));
        if let Some(inverse) = s.clone().try_inverse() {
            let growth = s.norm() * inverse.norm();
            let mass = s.transpose() * &problem.mass * &s;
            let other = Problem {
                mass: (&mass + mass.transpose()) * 0.5,
                bilateral: &problem.bilateral * &s,
                contacts: &problem.contacts * &s,
                velocity: &inverse * &problem.velocity,
                ..problem.clone()
            };
            check(
                "in other coordinates",
                &other,
                &other.ask(&s, &given, &ones, SAME),
                growth * growth,
                &["impulses of least norm"],
            );
        }

        // Other units of mass and speed, and rows of other lengths but for tangents, whose lengths friction compares. Impulses of
        // least norm are others then.
        let units =
            Units { mass: 10f64.powf(draw.number(-9.0, 9.0)), speed: 10f64.powf(draw.number(-9.0, 9.0)) };
        let with_friction =
            |i: usize| problem.friction.iter().any(|f| f.normal == i || f.tangent.contains(&i));
        let lengths: Vec<f64> = (0..r)
            .map(|i| {
                let length = 10f64.powf(draw.number(-3.0, 3.0));
                if with_friction(i) { 1.0 } else { length }
            })
            .collect();
        let other = Problem {
            mass: &problem.mass * units.mass,
            velocity: &problem.velocity * units.speed,
            contacts: DMatrix::from_fn(r, n, |i, j| problem.contacts[(i, j)] * lengths[i]),
            ..problem.clone()
        };
        let seen = other.ask(&identity, &given, &lengths, units);
        if !open {
            check("in other units", &other, &seen, 1.0, &["impulses of least norm"]);
        }

        // Rows in another order, where the order is not part of the question.
        if !one_by_one && !open {
            let mut order = given.clone();
            draw.shuffle(&mut order);
            let other = Problem {
                contacts: DMatrix::from_fn(r, n, |i, j| problem.contacts[(order[i], j)]),
                restitution: order.iter().map(|&i| problem.restitution[i]).collect(),
                ..problem.clone()
            };
            check("in another order", &other, &other.ask(&identity, &order, &ones, SAME), 1.0, &[]);
        }

        // A bystander with a velocity of its own: energies are not those of the rest.
        let mut wide = problem.clone();
        wide.mass = problem.mass.clone().insert_row(n, 0.0).insert_column(n, 0.0);
        wide.mass[(n, n)] = draw.number(0.1, 100.0);
        wide.contacts = problem.contacts.clone().insert_column(n, 0.0);
        wide.bilateral = problem.bilateral.clone().insert_column(n, 0.0);
        wide.velocity = problem.velocity.clone().insert_row(n, draw.number(-100.0, 100.0));
        let narrow = DMatrix::from_fn(n, n + 1, |i, j| f64::from(u8::from(i == j)));
        check("beside a bystander", &wide, &wide.ask(&narrow, &given, &ones, SAME), 1.0, &["energy"]);

        // Every joint twice, the second time longer.
        let twice = problem.bilateral.row_iter().chain(problem.bilateral.row_iter());
        let k = problem.bilateral.nrows();
        if k > 0 {
            let doubled: Vec<_> = twice.map(|row| row.into_owned()).collect();
            let bilateral = DMatrix::from_fn(2 * k, n, |i, j| doubled[i][j] * if i < k { 1.0 } else { -3.0 });
            let other = Problem { bilateral, ..problem.clone() };
            let left_out = ["impulse_unique", "self-stresses", "notes", "impulses", "impulses of least norm"];
            check("with joints twice", &other, &other.ask(&identity, &given, &ones, SAME), 1.0, &left_out);
        }
    }
    println!("{count} problems, {unclear} unclear, {} changed", findings.len());
    report(&findings);
    assert!(20 * unclear <= count + 20, "{unclear} unclear of {count}");
}
