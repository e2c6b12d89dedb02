//! Several contacts, smooth, rough and with Coulomb friction: what holds for every outcome, checked here and not by the library.

use carom::audit::audit;
use carom::impact::coulomb::{Mode, Termination};
use carom::impact::{Friction, Law, Options, Outcome, Problem, Rough, Status, Surface};
use nalgebra::{DMatrix, DVector};

use super::random::Source;
use super::{systems, words};

/// Contacts with one row, or with a normal and one or two tangents, between a few coordinates; some rows are made of others.
fn problem(source: &mut Source) -> Problem {
    let n = source.pick(3, 8);
    let mass = {
        let decades = [0.0, 2.0][source.pick(0, 1)];
        source.mass(n, decades)
    };
    let mut rows: Vec<DVector<f64>> = Vec::new();
    let (mut friction, mut rough) = (Vec::new(), Vec::new());
    for k in 0..source.pick(1, 4) {
        let normal = rows.len();
        let row = if !rows.is_empty() && source.chance(0.15) {
            rows[source.pick(0, normal - 1)].clone()
        } else {
            DVector::from_fn(n, |_, _| source.signed())
        };
        rows.push(row);
        let tangents: Vec<usize> = (0..source.pick(1, 2)).map(|i| normal + 1 + i).collect();
        let kind = if k == 0 { 1 } else { source.pick(0, 3) };
        if kind == 0 {
            continue;
        }
        for _ in &tangents {
            rows.push(DVector::from_fn(n, |_, _| source.signed()));
        }
        if kind == 3 && source.chance(0.5) {
            rough.push(Rough { normal, tangent: tangents });
        } else {
            let coefficient = [0.0, 0.1, 0.3, 0.8, 2.0][source.pick(0, 4)];
            friction.push(Friction { normal, tangent: tangents, coefficient });
        }
    }
    let contacts = DMatrix::from_fn(rows.len(), n, |i, j| rows[i][j]);
    let velocity = DVector::from_fn(n, |i, _| source.signed() / mass[(i, i)].sqrt());
    let mut problem = Problem::new(mass, contacts, velocity);
    problem.restitution = (0..problem.contacts.nrows()).map(|_| source.restitution()).collect();
    // Rough contacts with unequal coefficients can gain energy (T3).
    if !rough.is_empty() {
        let common = problem.restitution[0];
        problem.restitution.fill(common);
    }
    (problem.friction, problem.rough) = (friction, rough);
    problem
}

/// Σ of a row's entries over the rows of a step.
fn of(rows: &[usize], values: &[f64], row: usize) -> f64 {
    rows.iter().zip(values).filter(|(r, _)| **r == row).map(|(_, x)| x).sum()
}

/// Everything that must hold, computed from the problem's matrices alone.
fn check(problem: &Problem, options: &Options, outcome: &Outcome, context: &str) {
    let context = || format!("{context}: {:?}\n{problem:?}\n{outcome:?}", words(outcome));
    let level = outcome.rounding.max(1e-13);
    assert!(level < 1e-6, "{}", context());
    let (p, v) = (DVector::from_vec(outcome.impulses.clone()), DVector::from_vec(outcome.velocity.clone()));
    let change = &problem.mass * (&v - &problem.velocity);
    let push = problem.contacts.tr_mul(&p);
    let speeds = v.abs() + problem.velocity.abs();
    let size = (problem.mass.abs() * speeds).norm() + problem.contacts.abs().tr_mul(&p.abs()).norm();
    assert!((change - push).norm() <= level * size, "momentum: {}", context());
    let before = (problem.velocity.transpose() * &problem.mass * &problem.velocity)[0];
    let after = (v.transpose() * &problem.mass * &v)[0];
    let unsafe_law = matches!(options.law, Law::Newton | Law::Decoupled);
    if options.termination == Termination::Stronge && !unsafe_law {
        assert!(
            after <= before * (1.0 + 10.0 * level),
            "energy gained {:e}: {}",
            after / before - 1.0,
            context()
        );
    }
    let locked = words(outcome).iter().any(|note| note.contains("friction holds"));
    let ended = outcome.status != Status::StepsExhausted && !locked && outcome.consistent;
    let inverse = problem.mass.clone().try_inverse().unwrap();
    for contact in problem.contact_list() {
        let row = problem.contacts.row(contact.normal);
        let length = (row * &inverse * row.transpose())[0].sqrt();
        let y = (row * &v)[0];
        if ended && !unsafe_law {
            assert!(y >= -level * length * before.sqrt(), "closing {y:e}: {}", context());
            assert!(p[contact.normal] >= -level * p.amax(), "pulling: {}", context());
        }
        let Surface::Coulomb(mu) = contact.surface else { continue };
        let total = p[contact.normal];
        let slack = mu.max(1.0) * (1e-10 * total + 1e-12 * p.amax());
        for step in outcome.steps.iter().filter(|step| step.rows.contains(&contact.normal)) {
            let normal = of(&step.rows, &step.impulses, contact.normal);
            let pair = |list: &[f64]| {
                DVector::from_fn(2, |i, _| contact.tangent.get(i).map_or(0.0, |&t| of(&step.rows, list, t)))
            };
            let tangent = pair(&step.impulses);
            assert!(tangent.norm() <= mu * normal + slack, "cone: {}", context());
            if normal <= slack {
                continue;
            }
            let (slip, slip_after) = (pair(&step.approach), pair(&step.separation));
            let same = slip.norm() > 1e-9
                && slip_after.norm() > 1e-9
                && (slip.normalize() - slip_after.normalize()).norm() < 1e-12;
            if same {
                // It slipped all along, in one direction.
                assert!(
                    (&tangent + slip.normalize() * (mu * normal)).norm() <= slack,
                    "slips: {}",
                    context()
                );
            }
        }
        // Slipping one way throughout all steps: all of μ p_n.
        let mut histories = outcome.friction.iter().filter(|history| history.normal == contact.normal);
        let only_slips = histories.all(|h| h.phases.iter().all(|p| matches!(p.mode, Mode::Slip | Mode::Jam)));
        if only_slips && contact.tangent.len() == 1 && total > 0.0 {
            let steps = outcome.steps.iter().filter(|step| step.rows.contains(&contact.tangent[0]));
            let signs: Vec<f64> =
                steps.map(|step| of(&step.rows, &step.approach, contact.tangent[0]).signum()).collect();
            if signs.windows(2).all(|w| w[0] == w[1]) {
                let t = p[contact.tangent[0]];
                assert!((t.abs() - mu * total).abs() <= slack, "{} of {}: {}", t, mu * total, context());
            }
        }
    }
    let audit = audit(problem, outcome);
    assert!(audit.passed, "{audit:?} {}", context());
}

#[test]
fn every_outcome_with_friction_keeps_coulombs_law_momentum_and_energy() {
    let (mut pressed, mut several, mut exhausted, mut unclear) = (0, 0, 0, 0);
    let count = systems(6000);
    for seed in 0..count {
        let mut source = Source::new(seed);
        let problem = problem(&mut source);
        for law in Law::ALL {
            let termination = Termination::ALL[usize::from(source.chance(0.3)) * source.pick(1, 2)];
            let options = Options { law, termination, ..Options::default() };
            let outcome = problem.solve(&options).unwrap();
            if outcome.rounding > 1e-6 {
                unclear += 1;
                continue;
            }
            exhausted += u64::from(outcome.status == Status::StepsExhausted);
            pressed += u64::from(!outcome.friction.is_empty());
            several += u64::from(words(&outcome).iter().any(|note| note.contains("meet at once")));
            check(&problem, &options, &outcome, &format!("seed {seed} {law} {}", termination.name()));
        }
    }
    println!(
        "friction acts in {pressed}, several meet in {several}, {exhausted} without an end, {unclear} unclear"
    );
    assert!(pressed > 2 * count && several > count && exhausted < count / 4 && unclear < count / 4);
}

/// The contacts of a problem in another order, and which contact is where.
fn reordered(problem: &Problem, source: &mut Source) -> (Problem, Vec<usize>) {
    let mut list = problem.contact_list();
    for i in (1..list.len()).rev() {
        list.swap(i, source.pick(0, i));
    }
    let rows: Vec<usize> = list.iter().flat_map(|contact| contact.rows().collect::<Vec<_>>()).collect();
    let place = |row: usize| rows.iter().position(|&r| r == row).unwrap();
    let mut other = problem.clone();
    other.contacts =
        DMatrix::from_fn(rows.len(), problem.contacts.ncols(), |i, j| problem.contacts[(rows[i], j)]);
    other.restitution = rows.iter().map(|&row| problem.restitution[row]).collect();
    for f in &mut other.friction {
        f.normal = place(f.normal);
        f.tangent.iter_mut().for_each(|t| *t = place(*t));
    }
    for f in &mut other.rough {
        f.normal = place(f.normal);
        f.tangent.iter_mut().for_each(|t| *t = place(*t));
    }
    (other, rows)
}

#[test]
fn the_note_on_contacts_that_meet_names_the_same_ones_in_every_order() {
    let (count, mut compared) = (systems(4000), 0);
    for seed in 0..count {
        let mut source = Source::new(seed);
        let problem = problem(&mut source);
        let (other, rows) = reordered(&problem, &mut source);
        for law in [Law::NewtonLcp, Law::Poisson, Law::Reflection, Law::Newton] {
            let options = Options { law, ..Options::default() };
            let named = |outcome: &Outcome, name: &dyn Fn(usize) -> usize| -> Option<Vec<usize>> {
                outcome.notes.iter().find_map(|note| match note {
                    carom::impact::Note::SeveralWithFriction { rows } => {
                        let mut rows: Vec<usize> = rows.iter().map(|&row| name(row)).collect();
                        rows.sort_unstable();
                        Some(rows)
                    }
                    _ => None,
                })
            };
            let (first, second) = (problem.solve(&options).unwrap(), other.solve(&options).unwrap());
            // In the tail of a long cascade rounding decides who touches.
            if first.steps.len().max(second.steps.len()) > 100 {
                continue;
            }
            let (one, two) = (named(&first, &|row| row), named(&second, &|row| rows[row]));
            assert_eq!(one, two, "seed {seed} {law}");
            compared += u64::from(one.is_some());
        }
    }
    assert!(compared > count * 3 / 4, "{compared}");
}
