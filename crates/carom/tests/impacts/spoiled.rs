//! The audit fails on an outcome that has been spoiled, whatever was spoiled.

use carom::audit::audit;
use carom::impact::coulomb::Termination;
use carom::impact::{Friction, Law, Options, Outcome, Problem, Status};
use nalgebra::{DMatrix, DVector, dmatrix, dvector};

use super::random::Source;
use super::solve;

/// Recomputes everything that follows from velocities and impulses, so that only the law can be violated.
fn carried_through(problem: &Problem, outcome: &mut Outcome, scale: impl Fn(usize) -> f64) {
    let inverse = problem.mass.clone().try_inverse().unwrap();
    let mut v = problem.velocity.clone();
    let mut work = vec![0.0; outcome.impulses.len()];
    outcome.impulses.fill(0.0);
    for step in &mut outcome.steps {
        let before = &problem.contacts * &v;
        for (row, p) in step.rows.iter().zip(&mut step.impulses) {
            *p *= scale(*row);
            v += &inverse * problem.contacts.row(*row).transpose() * *p;
            outcome.impulses[*row] += *p;
        }
        let after = &problem.contacts * &v;
        step.energy_change = 0.0;
        for (k, &row) in step.rows.iter().enumerate() {
            (step.approach[k], step.separation[k]) = (before[row], after[row]);
            let done = 0.5 * step.impulses[k] * (before[row] + after[row]);
            work[row] += done;
            step.energy_change += done;
        }
    }
    outcome.work = work;
    outcome.separation = (&problem.contacts * &v).iter().copied().collect();
    outcome.energy.after = 0.5 * (v.transpose() * &problem.mass * &v)[0];
    outcome.energy.change = outcome.steps.iter().map(|step| step.energy_change).sum();
    outcome.velocity = v.iter().copied().collect();
}

fn passes(problem: &Problem, outcome: &Outcome) -> bool {
    audit(problem, outcome).passed
}

#[test]
fn a_flipped_flag_fails() {
    let (mut flipped, mut kept) = (0, 0);
    for seed in 0..1500 {
        let problem = Source::new(seed).problem(false);
        for law in Law::ALL {
            let outcome = solve(&problem, law);
            assert!(passes(&problem, &outcome), "seed {seed} {law}: {:?}", audit(&problem, &outcome));
            let spoil: [fn(&mut Outcome); 4] = [
                |o| o.velocity_unique = !o.velocity_unique,
                |o| o.consistent = !o.consistent,
                |o| o.admissible = !o.admissible,
                |o| o.impulse_unique = !o.impulse_unique,
            ];
            for (k, spoil) in spoil.iter().enumerate() {
                let mut other = outcome.clone();
                spoil(&mut other);
                assert!(!passes(&problem, &other), "seed {seed} {law}: flag {k}");
                flipped += 1;
            }
            // The flag and the self-stresses together: only the solution set can tell.
            if !outcome.self_stresses.is_empty() && outcome.velocity_unique {
                let mut other = outcome.clone();
                other.impulse_unique = true;
                other.self_stresses.clear();
                let clear = audit(&problem, &outcome).impulse_set_is_a_point.is_some();
                assert!(!clear || !passes(&problem, &other), "seed {seed} {law}");
                kept += usize::from(clear);
            }
        }
    }
    assert!(flipped == 36_000 && kept > 300, "{kept}");
}

#[test]
fn a_self_stress_invented_fails() {
    let problem = Problem::new(DMatrix::identity(2, 2), dmatrix![1.0, 0.0; 0.0, 1.0], dvector![-1.0, -1.0]);
    let mut outcome = solve(&problem, Law::NewtonLcp);
    assert_eq!(audit(&problem, &outcome).impulse_set_is_a_point, Some(true));
    // One that is another problem's: three rows, the third their sum.
    let other =
        Problem::new(DMatrix::identity(2, 2), dmatrix![1.0, 0.0; 0.0, 1.0; 1.0, 1.0], dvector![-1.0, -1.0]);
    outcome.self_stresses = solve(&other, Law::NewtonLcp).self_stresses;
    outcome.self_stresses[0].contacts.truncate(2);
    outcome.impulse_unique = false;
    assert!(!passes(&problem, &outcome));
}

#[test]
fn an_impulse_scaled_or_a_contact_left_out_fails() {
    let mut spoiled = 0;
    for seed in 0..1000 {
        let mut source = Source::new(seed);
        let mut problem = source.problem(false);
        problem.bilateral = DMatrix::zeros(0, problem.velocity.len());
        for law in [Law::NewtonLcp, Law::Reflection, Law::Sequential, Law::Newton] {
            let outcome = solve(&problem, law);
            if outcome.status != Status::Resolved || outcome.rounding > 1e-9 || !outcome.admissible {
                continue;
            }
            let largest = outcome.impulses.iter().fold(0.0, |m: f64, p| m.max(p.abs()));
            let Some(row) = outcome.impulses.iter().position(|p| p.abs() == largest) else { continue };
            // As it stands in the outcome: momentum. Carried through: the law.
            let mut plain = outcome.clone();
            plain.impulses[row] *= 1.0 + 1e-6;
            assert!(!passes(&problem, &plain), "seed {seed} {law}");
            for factor in [0.0, 0.9, 1.1] {
                let mut other = outcome.clone();
                carried_through(&problem, &mut other, |r| if r == row { factor } else { 1.0 });
                assert!(
                    !passes(&problem, &other),
                    "seed {seed} {law} ×{factor}: {:?}",
                    audit(&problem, &other)
                );
                spoiled += 1;
            }
            let mut other = outcome.clone();
            other.velocity[0] += 1e-6 * (2.0 * outcome.energy.before / problem.mass[(0, 0)]).sqrt();
            assert!(!passes(&problem, &other), "seed {seed} {law}: velocity");
        }
    }
    assert!(spoiled > 3000, "{spoiled}");
}

/// A contact with friction between four coordinates.
fn sliding(source: &mut Source, tangents: usize) -> Problem {
    let n = 4;
    let mass = source.mass(n, 0.0);
    let contacts = DMatrix::from_fn(1 + tangents, n, |_, _| source.signed());
    let velocity = DVector::from_fn(n, |_, _| source.signed());
    let mut problem = Problem::new(mass, contacts, velocity).with_restitution(0.5);
    let coefficient = 0.05 + 0.5 * source.unit();
    problem.friction = vec![Friction { normal: 0, tangent: (1..=tangents).collect(), coefficient }];
    problem
}

#[test]
fn friction_left_out_weakened_turned_or_exceeded_fails() {
    let mut spoiled = [0; 4];
    for seed in 0..3000 {
        let mut source = Source::new(seed);
        let tangents = source.pick(1, 2);
        let problem = sliding(&mut source, tangents);
        let options = Options { termination: Termination::ALL[source.pick(0, 2)], ..Options::default() };
        let outcome = problem.solve(&options).unwrap();
        if outcome.status != Status::Resolved {
            continue;
        }
        assert!(passes(&problem, &outcome), "seed {seed}: {:?}", audit(&problem, &outcome));
        let only_slips = outcome.friction[0].phases.iter().all(|phase| {
            matches!(phase.mode, carom::impact::coulomb::Mode::Slip | carom::impact::coulomb::Mode::Jam)
        });
        for (k, factor) in [0.0, 0.8, -1.0, 1.2].into_iter().enumerate() {
            let mut other = outcome.clone();
            carried_through(&problem, &mut other, |row| if row == 0 { 1.0 } else { factor });
            // What sticks may hold with less; what slips throughout may not, nor may it be pushed on.
            if only_slips || (tangents == 1 && factor != 0.8) {
                let failed = !passes(&problem, &other);
                spoiled[k] += usize::from(failed);
                // Turned by more than a right angle the slip may have gone either way round.
                let (before, after) = (&outcome.approach, &other.separation);
                let turned = (1..=tangents).map(|row| before[row] * after[row]).sum::<f64>() < 0.0;
                let clear = only_slips && !(turned && tangents == 2);
                assert!(failed || !clear, "seed {seed} ×{factor}: {:?}", audit(&problem, &other));
            }
        }
        // A step that presses the contact without its tangents.
        let mut other = outcome.clone();
        for step in &mut other.steps {
            step.rows.truncate(1);
            step.impulses.truncate(1);
            step.approach.truncate(1);
            step.separation.truncate(1);
        }
        (1..=tangents).for_each(|row| other.impulses[row] = 0.0);
        assert!(!passes(&problem, &other), "seed {seed}");
    }
    assert!(spoiled.iter().all(|&count| count > 400), "{spoiled:?}");
}

#[test]
fn energy_gained_fails_under_stronge() {
    let problem = Problem::new(DMatrix::identity(1, 1), dmatrix![1.0], dvector![-1.0]).with_restitution(1.0);
    let mut outcome = solve(&problem, Law::NewtonLcp);
    assert!(passes(&problem, &outcome));
    carried_through(&problem, &mut outcome, |_| 1.1);
    assert!(!passes(&problem, &outcome));
}
