//! Published and recomputed numbers as data: every case of `cases/laws/reference.json` given as matrices, for
//! every law it lists, within the case's own tolerance.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use carom::impact::{Law, Options, Outcome, Problem};
use nalgebra::{DMatrix, DVector};
use serde_json::Value;

const CASES: &str = include_str!("../../../cases/laws/reference.json");

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn matrix(value: &Value, columns: usize) -> DMatrix<f64> {
    let rows: Vec<Vec<f64>> = value.as_array().map_or(Vec::new(), |rows| rows.iter().map(numbers).collect());
    DMatrix::from_row_iterator(rows.len(), columns, rows.into_iter().flatten())
}

fn problem(generic: &Value, restitution: &[f64]) -> Problem {
    let velocity = DVector::from_vec(numbers(&generic["v_minus"]));
    let n = velocity.len();
    let mut problem = Problem::new(matrix(&generic["G"], n), matrix(&generic["N"], n), velocity);
    problem.bilateral = matrix(&generic["A"], n);
    problem.restitution = restitution.to_vec();
    problem
}

fn solve(problem: &Problem, law: Law) -> Outcome {
    problem.solve(&Options { law, ..Options::default() }).unwrap()
}

/// The worst deviation so far, by quantity, relative to the tolerance asked for.
#[derive(Default)]
struct Table {
    compared: usize,
    worst: Vec<(String, f64)>,
}

impl Table {
    fn close(&mut self, what: &str, ours: &[f64], theirs: &[f64], scale: f64, tolerance: f64) {
        assert_eq!(ours.len(), theirs.len(), "{what}: sizes");
        let size = theirs.iter().fold(scale, |m: f64, x| m.max(x.abs()));
        for (i, (a, b)) in ours.iter().zip(theirs).enumerate() {
            let error = (a - b).abs() / size;
            assert!(error <= tolerance, "{what}[{i}]: {a:e} against {b:e}, relative error {error:e}");
            let quantity = what.rsplit(' ').next().unwrap_or(what).to_owned();
            match self.worst.iter_mut().find(|(name, _)| *name == quantity) {
                Some((_, worst)) => *worst = worst.max(error),
                None => self.worst.push((quantity, error)),
            }
            self.compared += 1;
        }
    }
}

/// The case's own tolerance, or ours where the solver does better: the reference holds 17 digits.
fn tolerance(case: &Value) -> f64 {
    case["rel_tol"].as_f64().unwrap().min(2e-14)
}

fn law_of(name: &str) -> Option<Law> {
    match name {
        "newton_equality_pinv" | "coupled_newton" => Some(Law::Newton),
        "newton_lcp" => Some(Law::NewtonLcp),
        "poisson_lcp" => Some(Law::Poisson),
        "decoupled" | "decoupled_eq23_signfixed" => Some(Law::Decoupled),
        _ => None,
    }
}

/// v⁺ in the order of the matrices, whatever the case calls its parts.
fn velocity_after(expected: &Value) -> Vec<f64> {
    let join = |a: &str, b: &str| [numbers(&expected[a]), numbers(&expected[b])].concat();
    if expected.get("v_plus").is_some() {
        numbers(&expected["v_plus"])
    } else if expected.get("v1_plus").is_some() {
        join("v1_plus", "v2_plus")
    } else {
        join("omega_body_plus", "v_space_plus")
    }
}

#[test]
fn every_law_of_every_case_given_as_matrices() {
    let file: Value = serde_json::from_str(CASES).unwrap();
    let mut table = Table::default();
    let (mut cases, mut laws) = (0, 0);
    for case in file["cases"].as_array().unwrap() {
        let (Some(generic), Some(list)) = (case.get("generic"), case["expected"]["laws"].as_array()) else {
            continue;
        };
        cases += 1;
        let id = case["id"].as_str().unwrap();
        let tolerance = tolerance(case);
        for entry in list {
            let restitution = numbers(&entry["k"]);
            let problem = problem(generic, &restitution);
            for (name, expected) in entry.as_object().unwrap() {
                let Some(law) = law_of(name) else {
                    assert_eq!(name, "k", "{id}: a law this test does not know");
                    continue;
                };
                laws += 1;
                let outcome = solve(&problem, law);
                let what = |quantity: &str| format!("{id} {restitution:?} {law} {quantity}");
                // Some cases come to rest: there the scale is the velocity before.
                let moved = outcome.velocity_before.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
                table.close(&what("v+"), &outcome.velocity, &velocity_after(expected), moved, tolerance);
                let separation = match expected.get("y_plus") {
                    Some(y) => numbers(y),
                    None => numbers(&expected["v12n_plus"]).iter().map(|v| -v).collect(),
                };
                let speed = outcome.approach.iter().fold(0.0, |m: f64, y| m.max(y.abs()));
                table.close(&what("y+"), &outcome.separation, &separation, speed, tolerance);
                let change = [expected["dT"].as_f64().unwrap()];
                table.close(&what("dT"), &[outcome.energy.change], &change, outcome.energy.before, tolerance);
                // Impulses: exact where they are unique; where they are not, both choose the least norm, except that
                // the total of Poisson's law is not itself of least norm.
                let impulses = numbers(expected.get("p").unwrap_or_else(|| &expected["P"]));
                if outcome.rank == impulses.len() || law != Law::Poisson {
                    table.close(&what("p"), &outcome.impulses, &impulses, 0.0, tolerance);
                }
                let xi: Vec<f64> =
                    ["xi_1", "xi_2"].iter().filter_map(|x| expected.get(*x)).flat_map(numbers).collect();
                if !xi.is_empty() && outcome.rank == impulses.len() {
                    table.close(&what("lambda"), &outcome.bilateral_impulses, &xi, 0.0, tolerance);
                }
                if let Some(consistent) = expected.get("consistent") {
                    assert_eq!(
                        outcome.consistent,
                        consistent.as_bool().unwrap(),
                        "{id} {restitution:?} {law}"
                    );
                }
                // The reference calls admissible what pushes and separates; ours also asks for no energy gained.
                let gained = outcome.energy.change > 1e-12 * outcome.energy.before;
                let admissible = expected["admissible"].as_bool().unwrap() && !gained;
                assert_eq!(outcome.admissible, admissible, "{id} {restitution:?} {law}: {:?}", outcome.notes);
            }
        }
    }
    println!("{cases} cases, {laws} laws, {} numbers; worst: {:?}", table.compared, table.worst);
    assert_eq!((cases, laws), (18, 247));
}

#[test]
fn rough_ball_on_floor_and_wall() {
    let file: Value = serde_json::from_str(CASES).unwrap();
    let mut table = Table::default();
    let mut cases = 0;
    for case in file["cases"].as_array().unwrap() {
        let id = case["id"].as_str().unwrap();
        let Some(generic) = case.get("generic").filter(|_| id.starts_with("p1_")) else { continue };
        cases += 1;
        let expected = &case["expected"];
        let tolerance = tolerance(case);
        let mut problem = problem(generic, &numbers(&generic["k"]));
        // One common coefficient: Newton's equality on all rows, and the rough contact by every law, are one law (T1).
        let normal = if id.contains("floor") { 2 } else { 0 };
        problem.tangential = (0..3).filter(|&row| row != normal).collect();
        for law in Law::ALL {
            let outcome = solve(&problem, law);
            let what = |quantity: &str| format!("{id} {law} {quantity}");
            table.close(&what("v+"), &outcome.velocity, &numbers(&expected["v_plus"]), 0.0, tolerance);
            let change = [expected["dT"].as_f64().unwrap()];
            table.close(&what("dT"), &[outcome.energy.change], &change, outcome.energy.before, tolerance);
            assert!(outcome.consistent && outcome.velocity_unique, "{id} {law}");
            if let Some(rank) = expected.get("rank_W") {
                assert_eq!(outcome.rank, usize::try_from(rank.as_u64().unwrap()).unwrap(), "{id}");
                assert!(!outcome.impulse_unique, "{id}");
                let wall = numbers(&expected["wall_impulse_minnorm_pinvW"]);
                table.close(&what("p"), &outcome.impulses, &wall, 0.0, tolerance);
                let floor = numbers(&expected["floor_impulse_for_that"]);
                table.close(&what("lambda"), &outcome.bilateral_impulses, &floor, 0.0, tolerance);
                let stress = numbers(&expected["nullspace_direction_f_then_w"]);
                let [ours] = outcome.self_stresses.as_slice() else { panic!("{id}: one self-stress") };
                let all = [ours.bilateral.clone(), ours.contacts.clone()].concat();
                let sign = all[0] / stress[0];
                let scaled: Vec<f64> = stress.iter().map(|s| s * sign).collect();
                table.close(&what("self-stress"), &all, &scaled, 0.0, tolerance);
            }
            if let Some(coefficient) = expected.get("min_friction_coefficient") {
                let ours = outcome.friction_demand[0].coefficient;
                table.close(&what("demand"), &[ours], &[coefficient.as_f64().unwrap()], 0.0, tolerance);
            }
            if let Some(impulse) = expected.get("impulse_xyz") {
                table.close(&what("p"), &outcome.impulses, &numbers(impulse), 0.0, tolerance);
            }
        }
        if let Some(p) = expected.get("P") {
            let n = problem.velocity.len();
            let ours = problem.projector(&Options::default()).unwrap();
            let theirs = matrix(p, n);
            table.close(&format!("{id} P"), ours.as_slice(), theirs.as_slice(), 0.0, tolerance);
        }
        if let Some(w) = expected.get("W") {
            let ours = problem.delassus(&Options::default()).unwrap();
            table.close(&format!("{id} W"), ours.as_slice(), matrix(w, 3).as_slice(), 0.0, tolerance);
        }
    }
    println!("{cases} cases, {} numbers; worst: {:?}", table.compared, table.worst);
    assert_eq!(cases, 20);
}

#[test]
fn poisson_is_not_unique_where_the_reference_says_so() {
    let file: Value = serde_json::from_str(CASES).unwrap();
    let case =
        file["cases"].as_array().unwrap().iter().find(|case| case["id"] == "t_poisson_nonunique").unwrap();
    let problem = problem(&case["generic"], &numbers(&case["inputs"]["k"]));
    let expected = &case["expected"];
    let mut table = Table::default();
    let newton = solve(&problem, Law::NewtonLcp);
    table.close("newton v+", &newton.velocity, &numbers(&expected["newton_lcp_v_plus"]), 0.0, 1e-14);
    // The contact with the larger k carries everything; the other one separates and cannot push.
    assert!(newton.velocity_unique && newton.impulse_unique);
    let poisson = solve(&problem, Law::Poisson);
    let least = &expected["poisson_minnorm"];
    table.close("poisson v+", &poisson.velocity, &numbers(&least["v_plus"]), 0.0, 1e-14);
    table.close("poisson p", &poisson.impulses, &numbers(&least["p"]), 0.0, 1e-14);
    assert!(!poisson.velocity_unique, "{:?}", poisson.notes);
    // The witness lies between the two extremes that the reference gives, and is not the answer chosen.
    let [carom::impact::Note::PoissonNotUnique { other }] = poisson
        .notes
        .iter()
        .filter(|n| matches!(n, carom::impact::Note::PoissonNotUnique { .. }))
        .collect::<Vec<_>>()[..]
    else {
        panic!("no witness in {:?}", poisson.notes)
    };
    let range = numbers(&expected["poisson_pc_0half"])[0]..=numbers(&expected["poisson_pc_10"])[0];
    assert!(
        (range.start() - 1e-9..=range.end() + 1e-9).contains(&other[0])
            && (other[0] - poisson.velocity[0]).abs() > 0.1,
        "{other:?}"
    );
}
