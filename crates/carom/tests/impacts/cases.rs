//! Single systems that were once answered wrongly.

use carom::audit::audit;
use carom::impact::{Friction, Law, Note, Options, Problem, Rough, Status};
use nalgebra::{DMatrix, DVector, Rotation3, Vector3, dmatrix, dvector};

use super::random::Source;
use super::{solve, systems, words};

#[test]
fn the_support_of_one_solution_does_not_tell_that_it_is_unique() {
    // p = (0.96, 0.02, 0) and (1, 0, 0.02) both stop the particle.
    let contacts = dmatrix![0.0, -1.0; 1.0, -2.0; 1.0, 0.0];
    let problem = Problem::new(DMatrix::identity(2, 2), contacts, dvector![-0.02, 1.0]);
    for law in [Law::NewtonLcp, Law::Newton, Law::Poisson, Law::Reflection] {
        let outcome = solve(&problem, law);
        assert!(outcome.velocity_unique && !outcome.impulse_unique, "{law}");
        assert_eq!(outcome.self_stresses.len(), 1, "{law}");
        let audit = audit(&problem, &outcome);
        assert!(audit.passed && audit.impulse_set_is_a_point == Some(false), "{law}: {audit:?}");
    }
}

#[test]
fn a_coulomb_contact_that_is_pressed_again_carries_its_friction_again() {
    let contacts = dmatrix![1.0, 0.0, 0.0; 0.0, 0.0, 1.0; -0.8, 0.6, 0.0];
    let mut problem = Problem::new(DMatrix::identity(3, 3), contacts, dvector![-1.0, -1.0, 5.0]);
    problem.friction = vec![Friction { normal: 0, tangent: vec![1], coefficient: 0.3 }];
    for law in Law::ALL {
        let outcome = solve(&problem, law);
        let p = &outcome.impulses;
        assert!((p[0] - 7.0 / 3.0).abs() < 1e-11, "{law}: {p:?}");
        assert!((p[1] + 0.7).abs() < 1e-11, "{law}: it slips throughout, so |p_t| is μ p_n: {p:?}");
        assert!(outcome.admissible && audit(&problem, &outcome).passed, "{law}");
        assert!(words(&outcome).iter().any(|note| note.contains("one at a time")), "{law}");
    }
}

#[test]
fn a_bystander_with_friction_leaves_the_law_of_the_others() {
    // Newton's cradle, and beside it a point that strikes a floor with friction.
    let mut contacts = DMatrix::zeros(4, 5);
    (contacts[(0, 0)], contacts[(0, 1)], contacts[(1, 1)], contacts[(1, 2)]) = (-1.0, 1.0, -1.0, 1.0);
    (contacts[(2, 3)], contacts[(3, 4)]) = (1.0, 1.0);
    let velocity = dvector![1.0, 0.0, 0.0, -1.0, 2.0];
    let mut problem = Problem::new(DMatrix::identity(5, 5), contacts, velocity).with_restitution(1.0);
    problem.friction = vec![Friction { normal: 2, tangent: vec![3], coefficient: 0.2 }];
    for law in [Law::NewtonLcp, Law::Newton, Law::Poisson] {
        let outcome = solve(&problem, law);
        let third = 1.0 / 3.0;
        for (v, expected) in outcome.velocity.iter().zip([-third, 2.0 * third, 2.0 * third, 1.0, 1.6]) {
            assert!((v - expected).abs() < 1e-14, "{law}: {:?}", outcome.velocity);
        }
        assert!(outcome.velocity_unique, "{law}: {:?}", words(&outcome));
        assert!(!words(&outcome).iter().any(|note| note.contains("one at a time")), "{law}");
    }
}

/// A point that leaves a floor with friction; beside it a wall that it strikes (−1), leaves (1) or that is not there.
fn leaving(wall: Option<f64>) -> Problem {
    let mut rows = vec![0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    rows.extend(wall.into_iter().flat_map(|s| [s, 0.0, 0.0]));
    let contacts = DMatrix::from_row_slice(rows.len() / 3, 3, &rows);
    let mut problem =
        Problem::new(DMatrix::identity(3, 3), contacts, dvector![1.0, 0.0, 2.0]).with_restitution(0.5);
    problem.friction = vec![Friction { normal: 0, tangent: vec![1, 2], coefficient: 0.3 }];
    problem
}

#[test]
fn a_coulomb_contact_that_separates_is_left_alone_by_every_law() {
    for law in Law::ALL {
        let outcome = solve(&leaving(None), law);
        assert_eq!(outcome.status, Status::NoImpact, "{law}");
        assert_eq!(outcome.velocity, [1.0, 0.0, 2.0], "{law}");
        assert_eq!(words(&outcome), ["no contact is closing: no impact"], "{law}");
        let problem = leaving(Some(-1.0));
        let outcome = solve(&problem, law);
        assert_eq!(outcome.velocity, [-0.5, 0.0, 2.0], "{law}");
        assert_eq!(outcome.impulses[..3], [0.0; 3], "{law}");
        assert_eq!(
            words(&outcome),
            ["separating before the impact, left out and checked afterwards: row 0"],
            "{law}"
        );
        assert!(audit(&problem, &outcome).passed, "{law}");
    }
    // The equality pulls at a smooth wall, as it says; not at the floor.
    let outcome = solve(&leaving(Some(1.0)), Law::Newton);
    assert_eq!(outcome.impulses[..3], [0.0; 3]);
    assert!(!outcome.admissible && outcome.impulses[3] == -1.5);
}

#[test]
fn steps_that_run_out_name_what_still_closes() {
    let (count, mut exhausted) = (systems(3000), 0);
    for seed in 0..count {
        let problem = Source::new(seed).problem(false);
        for law in [Law::NewtonLcp, Law::Sequential] {
            let outcome = solve(&problem, law);
            for note in &outcome.notes {
                if let Note::StepsExhausted { steps, rows } = note {
                    assert_eq!(*steps, 1000 + 50 * problem.contact_list().len());
                    assert!(
                        !rows.is_empty() && rows.iter().all(|&row| outcome.separation[row] < 0.0),
                        "seed {seed}"
                    );
                    exhausted += 1;
                }
            }
        }
    }
    assert!(exhausted > count / 30, "{exhausted}");
}

#[test]
fn long_cascades_end_within_rounding_that_does_not_grow_with_their_steps() {
    let (count, mut long, mut worst) = (systems(4000), 0, 0.0_f64);
    for seed in 0..count {
        let problem = Source::new(seed).problem(false);
        for law in [Law::NewtonLcp, Law::Poisson, Law::Sequential, Law::Reflection] {
            let outcome = solve(&problem, law);
            if outcome.status == Status::StepsExhausted {
                assert!(!outcome.admissible);
                continue;
            }
            let inverse = carom::metric::Metric::new(&problem.mass, &problem.bilateral, 1e-10).unwrap();
            let inverse = inverse.constrained_inverse();
            let speed = (2.0 * outcome.energy.before).sqrt();
            let magnified = outcome.rank_margin.amplification;
            for (row, y) in
                outcome.separation.iter().enumerate().filter(|(row, _)| !outcome.blocked.contains(row))
            {
                let n = problem.contacts.row(row);
                let length = (n * &inverse * n.transpose())[0].sqrt();
                let closing = -y / (length * speed);
                assert!(!outcome.admissible || closing <= outcome.rounding, "seed {seed} {law}: {closing:e}");
                worst = worst.max(closing / magnified);
            }
            long += u64::from(outcome.steps.len() > 100);
        }
    }
    println!("{long} long cascades, at most {worst:e} left closing");
    assert!(long > count / 8 && worst < 1e-12, "{long} {worst:e}");
}

/// A rough ball of radius ½ against planes with these inward normals, tangents chosen by the world's axes.
fn rough_ball(normals: &[Vector3<f64>], velocity: [Vector3<f64>; 2], restitution: &[f64]) -> Problem {
    let mut contacts = DMatrix::zeros(3 * normals.len(), 6);
    let mut rough = Vec::new();
    for (i, n) in normals.iter().enumerate() {
        let axis = if n.x.abs() < 0.6 { Vector3::x() } else { Vector3::y() };
        let t = n.cross(&axis).normalize();
        for (k, direction) in [*n, t, n.cross(&t)].iter().enumerate() {
            let moment = (-n * 0.5).cross(direction);
            contacts.fixed_view_mut::<1, 3>(3 * i + k, 0).copy_from(&direction.transpose());
            contacts.fixed_view_mut::<1, 3>(3 * i + k, 3).copy_from(&moment.transpose());
        }
        rough.push(Rough { normal: 3 * i, tangent: vec![3 * i + 1, 3 * i + 2] });
    }
    let mut mass = DMatrix::identity(6, 6);
    mass.fill_diagonal(0.1);
    mass.view_mut((0, 0), (3, 3)).fill_diagonal(1.0);
    let velocity = DVector::from_fn(6, |i, _| velocity[i / 3][i % 3]);
    let mut problem = Problem::new(mass, contacts, velocity);
    problem.restitution = restitution.iter().flat_map(|&k| [k; 3]).collect();
    problem.rough = rough;
    problem
}

#[test]
fn flags_of_a_rough_ball_on_planes_do_not_turn_with_the_world() {
    let (mut compared, mut not_unique) = (0, 0);
    for seed in 0..1500 {
        let source = &mut Source::new(seed);
        let mut vector = || Vector3::new(source.signed(), source.signed(), source.signed());
        let normals = [vector().normalize(), vector().normalize(), vector().normalize()];
        let (v, w, angles) = (vector(), vector(), vector() * 3.0);
        let count = source.pick(2, 3);
        let normals = &normals[..count];
        let v = if source.chance(0.3) { -normals.iter().sum::<Vector3<f64>>() } else { v };
        let w = if source.chance(0.3) { Vector3::zeros() } else { w };
        let restitution: Vec<f64> = match source.pick(0, 2) {
            0 => vec![0.5; count],
            1 => [0.0, 1.0, 0.5][..count].to_vec(),
            _ => (0..count).map(|_| source.unit()).collect(),
        };
        let turn = Rotation3::from_euler_angles(angles.x, angles.y, angles.z);
        let turned: Vec<Vector3<f64>> = normals.iter().map(|n| turn * n).collect();
        let problem = rough_ball(normals, [v, w], &restitution);
        let other = rough_ball(&turned, [turn * v, turn * w], &restitution);
        for law in [Law::Poisson, Law::NewtonLcp, Law::Newton, Law::Reflection] {
            let options = Options { law, ..Options::default() };
            let (a, b) = (problem.solve(&options).unwrap(), other.solve(&options).unwrap());
            let flags = |o: &carom::impact::Outcome| {
                (o.status, o.velocity_unique, o.impulse_unique, o.consistent, o.admissible, o.rank)
            };
            assert_eq!(
                a.velocity_unique,
                b.velocity_unique,
                "seed {seed} {law}: {:?} {:?}",
                words(&a),
                words(&b)
            );
            compared += 1;
            not_unique += usize::from(!a.velocity_unique && law == Law::Poisson);
            // Three rough planes with unequal coefficients can throw the ball about for ever, one way or another.
            if a.steps.len().max(b.steps.len()) > 10 {
                continue;
            }
            assert_eq!(flags(&a), flags(&b), "seed {seed} {law}: {:?} {:?}", words(&a), words(&b));
            let kinds = |o: &carom::impact::Outcome| {
                // What a rough contact would need is said of impulses that need not be the only ones.
                let said = o.notes.iter().filter(|note| !matches!(note, Note::FrictionDemand { .. }));
                said.map(std::mem::discriminant).collect::<Vec<_>>()
            };
            assert_eq!(kinds(&a), kinds(&b), "seed {seed} {law}: {:?} {:?}", words(&a), words(&b));
        }
    }
    assert!(compared == 6000 && not_unique > 200, "{not_unique}");
}
