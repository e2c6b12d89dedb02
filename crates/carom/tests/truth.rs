//! Hard cases for the flags: what an outcome says about itself must be true.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, reason = "not every test uses all of it")]
mod random;

use carom::audit::audit;
use carom::impact::{Friction, Law, Note, Options, Order, Outcome, Problem};
use carom::{Error, Fault};
use nalgebra::{DMatrix, DVector, dmatrix, dvector};
use random::Source;

fn solve(problem: &Problem, law: Law) -> Outcome {
    problem.solve(&Options { law, ..Options::default() }).unwrap()
}

#[track_caller]
fn close(a: &[f64], b: &[f64]) {
    assert!(a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12), "{a:?} {b:?}");
}

#[test]
fn friction_in_one_contact_leaves_the_others_to_the_law() {
    let contacts = dmatrix![0.0, 1.0, 0.0; 1.0, 0.0, 0.0; 0.0, 0.0, 1.0];
    let mut problem =
        Problem::new(DMatrix::identity(3, 3), contacts, dvector![1.0, -1.0, -1.0]).with_restitution(0.5);
    problem.friction = vec![Friction { normal: 0, tangent: vec![1], coefficient: 0.1 }];
    for law in Law::ALL {
        let outcome = solve(&problem, law);
        close(&[outcome.separation[0], outcome.separation[2]], &[0.5, 0.5]);
        assert!(outcome.admissible && outcome.velocity_unique, "{law}: {:?}", outcome.notes);
    }
}

#[test]
fn tangential_rows_beside_friction_are_refused() {
    let mut problem =
        Problem::new(DMatrix::identity(3, 3), DMatrix::identity(3, 3), dvector![-1.0, 1.0, 1.0]);
    problem.friction = vec![Friction { normal: 0, tangent: vec![1], coefficient: 0.1 }];
    problem.tangential = vec![2];
    let Err(Error { fault, .. }) = problem.solve(&Options::default()) else { panic!("accepted") };
    assert_eq!(fault, Fault::LooseTangents);
}

/// n particles on walls of their own, and the first wall once more with another coefficient.
fn walls(n: usize) -> Problem {
    let contacts = DMatrix::from_fn(n + 1, n, |i, j| f64::from(u8::from(i == j || (i == n && j == 0))));
    let mut problem = Problem::new(DMatrix::identity(n, n), contacts, DVector::from_element(n, -1.0));
    problem.restitution = (0..=n).map(|i| if i == n { 0.0 } else { 1.0 }).collect();
    problem
}

#[test]
fn poisson_is_said_not_to_be_unique_at_any_size() {
    for n in [2, 20, 47, 48, 60, 200, 450] {
        let outcome = solve(&walls(n), Law::Poisson);
        assert!(!outcome.velocity_unique, "{n}");
        assert!(solve(&walls(n).with_restitution(0.5), Law::Poisson).velocity_unique, "{n}");
    }
}

#[test]
fn impulses_are_said_to_be_unique_at_any_size() {
    // A particle in a corner whose third plane cannot push: dependent rows, but only one way to share.
    for n in [0, 40, 60, 300] {
        let d = n + 2;
        let mut contacts = DMatrix::zeros(n + 3, d);
        for i in 0..d {
            contacts[(i, i)] = 1.0;
        }
        contacts[(n + 2, n)] = 1.0;
        contacts[(n + 2, n + 1)] = 1.0;
        let mut velocity = DVector::from_element(d, -1.0);
        velocity[n + 1] = 0.0;
        let problem = Problem::new(DMatrix::identity(d, d), contacts, velocity).with_restitution(1.0);
        let outcome = solve(&problem, Law::NewtonLcp);
        assert!(outcome.impulse_unique && outcome.self_stresses.is_empty(), "{n}: {:?}", outcome.notes);
    }
}

#[test]
fn an_order_that_matters_is_noticed_whichever_order_is_asked_for() {
    let contacts = dmatrix![1.0, 0.0; 1.0, 1.0; 0.0, 1.0];
    let mut problem = Problem::new(DMatrix::identity(2, 2), contacts, dvector![-1.0, -1.0]);
    problem.restitution = vec![1.0, 0.0, 1.0];
    for order in [Order::Given, Order::Reversed, Order::Fastest, Order::Rows(vec![1, 0, 2])] {
        let options = Options { law: Law::Sequential, order, ..Options::default() };
        let outcome = problem.solve(&options).unwrap();
        assert!(!outcome.velocity_unique, "{:?}: {:?}", options.order, outcome.notes);
    }
    // Two equal contacts: the motion is the same, who pushes is not.
    let same = Problem::new(dmatrix![1.0], dmatrix![1.0; 1.0], dvector![-1.0]).with_restitution(0.5);
    let outcome = solve(&same, Law::Sequential);
    assert!(outcome.velocity_unique && !outcome.impulse_unique, "{:?}", outcome.notes);
}

#[test]
fn what_happens_elsewhere_changes_no_answer() {
    // An impact of a mote beside a fast planet.
    let mote = Problem::new(dmatrix![1e12, 0.0; 0.0, 1e-12], dmatrix![0.0, 1.0], dvector![1e5, -1.0]);
    close(&solve(&mote.with_restitution(1.0), Law::NewtonLcp).velocity, &[1e5, 1.0]);
    // T3's gain beside a heavy bystander.
    let mass = DMatrix::from_diagonal(&dvector![1.0, 1.0, 1e3]);
    let contacts = dmatrix![1.0, 0.0, 0.0; 0.5, 0.75f64.sqrt(), 0.0];
    let mut wedge = Problem::new(mass, contacts, dvector![-1.0, 0.0, 1e4]);
    wedge.restitution = vec![1.0, 0.0];
    let outcome = solve(&wedge, Law::Newton);
    assert!(outcome.notes.iter().any(|n| matches!(n, Note::EnergyGained { .. })), "{:?}", outcome.notes);
    // The decoupled law keeps closing whatever else moves.
    let mut obtuse = wedge.clone();
    obtuse.contacts = dmatrix![1.0, 0.0, 0.0; -0.5, 0.75f64.sqrt(), 0.0];
    obtuse.velocity = dvector![-1.0, -2.0, 1e7];
    obtuse.restitution = vec![0.0, 0.0];
    assert!(!solve(&obtuse, Law::Decoupled).admissible);
    // A gain is one in every frame.
    for frame in [0.0, 7800.0] {
        let contacts = DMatrix::from_fn(3, 2, |_, j| if j == 0 { -1.0 } else { 1.0 });
        let problem = Problem::new(DMatrix::identity(2, 2), contacts, dvector![frame + 0.0078125, frame]);
        let outcome = solve(&problem, Law::Decoupled);
        assert!(!outcome.admissible, "{frame}: {:?}", outcome.notes);
    }
}

#[test]
fn self_stresses_are_as_many_as_there_are() {
    // Two pairs of equal contacts, struck in two steps of a cascade.
    let contacts = dmatrix![-1.0, 1.0, 0.0; -1.0, 1.0, 0.0; 0.0, -1.0, 1.0; 0.0, -1.0, 1.0];
    let cascade =
        Problem::new(DMatrix::identity(3, 3), contacts, dvector![1.0, 0.0, 0.1]).with_restitution(1.0);
    assert_eq!(solve(&cascade, Law::NewtonLcp).self_stresses.len(), 2);
    // Two contacts that carry nothing cannot shift anything between them, though they are parallel.
    let contacts = dmatrix![1.0, 1.0; 2.0, 2.0; 1.0, 0.0; 1.0, 0.0];
    let idle = Problem::new(DMatrix::identity(2, 2), contacts, dvector![-1.0, 0.0]).with_restitution(0.5);
    assert_eq!(solve(&idle, Law::NewtonLcp).self_stresses.len(), 1);
}

#[test]
fn a_rank_that_is_a_choice_is_said_to_be_one() {
    let problem = Problem::new(
        DMatrix::from_diagonal(&dvector![3.7e-9, 1.1e12]),
        dmatrix![-2.0, 2.0; 1.2e-4, 0.0],
        dvector![-1.0, -3.0],
    )
    .with_restitution(1.0);
    let outcome = solve(&problem, Law::NewtonLcp);
    let unclear = outcome.notes.iter().any(|n| matches!(n, Note::RankUnclear { .. }));
    assert!(unclear && outcome.rounding >= 1.0, "{:?} {:?}", outcome.rank_margin, outcome.notes);
}

#[test]
fn the_audit_catches_what_is_wrong() {
    let problem = Problem::new(dmatrix![2.0, 0.0; 0.0, 1.0], dmatrix![-1.0, 1.0], dvector![3.0, 0.0])
        .with_restitution(1.0);
    let good = solve(&problem, Law::NewtonLcp);
    assert!(audit(&problem, &good).passed);
    type Spoil = fn(&mut Outcome);
    let spoil: [(&str, Spoil); 9] = [
        ("nothing done", |o| {
            o.velocity = o.velocity_before.clone();
            o.impulses = vec![0.0];
            o.separation = o.approach.clone();
            o.steps.clear();
            o.work = vec![0.0];
            o.energy.change = 0.0;
        }),
        ("velocity", |o| o.velocity[0] += 1e-5),
        ("impulse", |o| o.impulses[0] += 1e-5),
        ("approach", |o| o.approach[0] = -1.0),
        ("separation", |o| o.separation[0] = 123.0),
        ("energy after", |o| o.energy.after = 77.0),
        ("energy change", |o| o.energy.change = -1e6),
        ("work", |o| o.work[0] = 5.0),
        ("steps", |o| o.steps[0].impulses[0] *= 2.0),
    ];
    for (what, change) in spoil {
        let mut bad = good.clone();
        change(&mut bad);
        bad.rounding = 10.0;
        assert!(!audit(&problem, &bad).passed, "{what}");
    }
    // Pulling, consistently told.
    let mut pulled = good.clone();
    pulled.impulses = vec![-1.0];
    pulled.velocity = vec![3.5, -1.0];
    pulled.separation = vec![-4.5];
    pulled.steps[0].impulses = vec![-1.0];
    pulled.steps[0].separation = vec![-4.5];
    pulled.energy.after = 0.5 * (2.0 * 3.5 * 3.5 + 1.0);
    pulled.energy.change = pulled.energy.after - pulled.energy.before;
    pulled.work = vec![pulled.energy.change];
    assert!(!audit(&problem, &pulled).passed);
}

#[test]
fn the_rounding_that_outcomes_state_is_small() {
    let (mut count, mut large) = (0, 0);
    for seed in 0..5000 {
        let problem = Source::new(seed).problem(false);
        let outcome = solve(&problem, Law::NewtonLcp);
        if outcome.steps.len() < 100 {
            count += 1;
            large += u32::from(outcome.rounding > 1e-7);
        }
    }
    assert!(count > 4000 && large < count / 50, "{large} of {count}");
}
