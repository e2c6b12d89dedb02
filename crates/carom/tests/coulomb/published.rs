//! Published numbers, as passages and through the solver.

use carom::audit::audit;
use carom::impact::coulomb::{Mode, Passage, Phase, Termination, pass};
use carom::impact::{Friction, Law, Options, Problem};
use nalgebra::{DMatrix, DVector, Matrix3, Vector3};
use serde_json::Value;

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
    published(include_str!("../../../../cases/laws/reference.json"), "ext_").iter().map(case).collect()
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
    let turning = published(include_str!("../../../../cases/laws/turning_slip.json"), "turning_slip");
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
