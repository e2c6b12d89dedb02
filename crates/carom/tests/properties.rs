//! Identities of the impact laws over random systems. Each test names both sides.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod count;
mod random;

use carom::audit::audit;
use carom::impact::{Law, Options, Outcome, Problem, Status};
use carom::metric::Metric;
use nalgebra::{DMatrix, DVector};
use random::Source;

/// How many random systems each identity is tried on.
fn systems() -> u64 {
    count::cases("CAROM_SYSTEMS", 20_000)
}

fn solve(problem: &Problem, law: Law) -> Outcome {
    problem.solve(&Options { law, ..Options::default() }).unwrap_or_else(|e| panic!("{e}\n{problem:?}"))
}

/// |a − b| in the kinetic metric, relative to √(2T) before.
fn apart(problem: &Problem, a: &[f64], b: &[f64]) -> f64 {
    let metric = Metric::new(&problem.mass, &problem.bilateral, 1e-10).unwrap();
    let difference = DVector::from_fn(a.len(), |i, _| a[i] - b[i]);
    (metric.square(&difference) / metric.square(&problem.velocity)).sqrt()
}

/// What rounding may do to v⁺, as the outcome itself says; more where a law gains energy.
fn rounding(outcome: &Outcome) -> f64 {
    outcome.rounding * (outcome.energy.after / outcome.energy.before).max(1.0).sqrt()
}

#[derive(Default)]
struct Worst(f64, u64);

impl Worst {
    fn see(&mut self, value: f64, seed: u64) {
        if value > self.0 || value.is_nan() {
            *self = Self(value, seed);
        }
    }
}

#[test]
fn newton_lcp_never_gains_energy_nor_leaves_a_contact_closing() {
    let (mut energy, mut closing) = (Worst::default(), Worst::default());
    let (mut deficient, mut blocked, mut cascades) = (0, 0, 0);
    for seed in 0..systems() {
        let problem = Source::new(seed).problem(false);
        let outcome = solve(&problem, Law::NewtonLcp);
        let ended = outcome.status != Status::StepsExhausted;
        assert!(outcome.consistent && outcome.velocity_unique == ended, "seed {seed}: {:?}", outcome.notes);
        let size = outcome.energy.before;
        energy.see(outcome.energy.change / size / rounding(&outcome), seed);
        energy.see((outcome.energy.after - outcome.energy.before) / size / rounding(&outcome), seed);
        assert!(energy.0 <= 1.0, "seed {seed}: gained {:e} of rounding", energy.0);
        deficient += u64::from(outcome.rank + outcome.blocked.len() < problem.contacts.nrows());
        blocked += u64::from(!outcome.blocked.is_empty());
        cascades += u64::from(outcome.steps.len() > 1);
        if outcome.status == Status::StepsExhausted {
            continue;
        }
        // y⁺ of each row relative to the largest it could be at this energy.
        let metric = Metric::new(&problem.mass, &problem.bilateral, 1e-10).unwrap();
        let inverse = metric.constrained_inverse();
        for (row, y) in outcome.separation.iter().enumerate() {
            if outcome.blocked.contains(&row) {
                continue;
            }
            let n = problem.contacts.row(row);
            let length = (n * &inverse * n.transpose())[0].sqrt();
            closing.see(-y / (length * (2.0 * size).sqrt()) / rounding(&outcome), seed);
            assert!(closing.0 <= 1.0, "seed {seed} row {row}: {y:e}, {:e} of rounding", closing.0);
        }
        assert!(outcome.admissible, "seed {seed}: {:?}", outcome.notes);
    }
    println!(
        "energy {:e}, closing {:e} of rounding (seed {}); {deficient} deficient, {blocked} blocked, {cascades} cascades",
        energy.0, closing.0, closing.1
    );
    assert!(deficient > systems() / 5 && blocked > systems() / 20 && cascades > systems() / 40);
}

#[test]
fn poisson_never_gains_energy_nor_leaves_a_contact_closing() {
    let mut energy = Worst::default();
    let mut not_unique = 0;
    for seed in 0..systems() {
        let problem = Source::new(seed).problem(false);
        let outcome = solve(&problem, Law::Poisson);
        energy.see(outcome.energy.change / outcome.energy.before / rounding(&outcome), seed);
        assert!(energy.0 <= 1.0, "seed {seed}: gained {:e} of rounding", energy.0);
        assert!(
            outcome.admissible || outcome.status == Status::StepsExhausted,
            "seed {seed}: {:?}",
            outcome.notes
        );
        not_unique += u64::from(!outcome.velocity_unique);
    }
    println!("energy {:e} of rounding; {not_unique} not unique", energy.0);
    assert!(not_unique > systems() / 200);
}

#[test]
fn uniform_restitution_newton_lcp_is_poisson_and_reflected_projection() {
    let mut worst = Worst::default();
    for seed in 0..systems() {
        let problem = Source::new(seed).problem(true);
        let (newton, poisson) = (solve(&problem, Law::NewtonLcp), solve(&problem, Law::Poisson));
        if newton.status == Status::StepsExhausted || newton.steps.len() > 1 {
            continue;
        }
        assert!(poisson.velocity_unique, "seed {seed}: {:?}", poisson.notes);
        worst.see(apart(&problem, &newton.velocity, &poisson.velocity) / rounding(&newton), seed);
        assert!(worst.0 <= 1.0, "seed {seed}: {:e} of rounding", worst.0);
        // Moreau: v⁺ = −k v⁻ + (1+k) proj v⁻, the projection being the law at k = 0.
        let plastic = solve(&problem.clone().with_restitution(0.0), Law::NewtonLcp);
        if plastic.steps.len() > 1 {
            continue;
        }
        let k = problem.restitution[0];
        let moreau: Vec<f64> =
            plastic.velocity.iter().zip(&problem.velocity).map(|(p, v)| -k * v + (1.0 + k) * p).collect();
        worst.see(apart(&problem, &newton.velocity, &moreau) / rounding(&newton), seed);
        assert!(worst.0 <= 1.0, "seed {seed}: {:e} of rounding", worst.0);
    }
    println!("{:e} of rounding, seed {}", worst.0, worst.1);
}

#[test]
fn velocity_after_ignores_row_scaling_row_order_and_redundant_rows() {
    let mut worst = Worst::default();
    let mut compared = 0;
    for seed in 0..systems() {
        let mut source = Source::new(seed);
        let problem = source.problem(false);
        for law in [Law::NewtonLcp, Law::Poisson, Law::Reflection, Law::Newton] {
            let outcome = solve(&problem, law);
            if !outcome.velocity_unique || !outcome.consistent || outcome.steps.len() > 20 {
                continue;
            }
            let rows = problem.contacts.nrows();
            // Scaling each row, and taking them in another order.
            let mut changed = problem.clone();
            let mut order: Vec<usize> = (0..rows).collect();
            for i in (1..rows).rev() {
                order.swap(i, source.pick(0, i));
            }
            for (i, &from) in order.iter().enumerate() {
                let factor = 10f64.powf(6.0 * source.signed());
                changed.contacts.set_row(i, &(problem.contacts.row(from) * factor));
                changed.restitution[i] = problem.restitution[from];
            }
            // A redundant joint, and a contact that asks for no more than others do.
            let joints = problem.bilateral.nrows();
            if joints > 0 {
                let sum = problem.bilateral.row(0) * 2.0 + problem.bilateral.row(joints - 1);
                changed.bilateral = changed.bilateral.insert_row(0, 0.0);
                changed.bilateral.set_row(0, &sum);
            }
            if law == Law::NewtonLcp {
                changed.contacts = changed.contacts.insert_row(rows, 0.0);
                let row = changed.contacts.row(0) * 3.0;
                changed.contacts.set_row(rows, &row);
                changed.restitution.push(0.5 * changed.restitution[0]);
            }
            let other = solve(&changed, law);
            if outcome.steps.len() != other.steps.len() {
                // A contact at rest to the last digit may or may not start another step of zero size.
                assert!(
                    outcome.steps.len().abs_diff(other.steps.len()) <= 2 || outcome.steps.len() > 3,
                    "seed {seed} {law}"
                );
            }
            let allowed = rounding(&outcome) + rounding(&other);
            worst.see(apart(&problem, &outcome.velocity, &other.velocity) / allowed, seed);
            assert!(worst.0 <= 1.0, "seed {seed} {law}: {:e} of rounding", worst.0);
            compared += 1;
        }
    }
    println!("{compared} compared, {:e} of rounding, seed {}", worst.0, worst.1);
    assert!(compared > 2 * systems());
}

#[test]
fn change_of_basis_changes_the_coordinates_only() {
    let mut worst = Worst::default();
    for seed in 0..systems() {
        let mut source = Source::new(seed);
        let problem = source.problem(false);
        let n = problem.velocity.len();
        // v = B w with B a rotation of well-conditioned size times scales: G → BᵀGB, N → NB, A → AB.
        let lower = DMatrix::from_fn(n, n, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Greater => 0.5 * source.signed(),
            std::cmp::Ordering::Equal => 1.0,
            std::cmp::Ordering::Less => 0.0,
        });
        let units =
            DMatrix::from_fn(n, n, |i, j| if i == j { 10f64.powf(3.0 * source.signed()) } else { 0.0 });
        // Mixing coordinates whose masses differ by decades loses those decades; then only the units change.
        let scales: Vec<f64> = (0..n).map(|i| problem.mass[(i, i)]).collect();
        let spread = scales.iter().fold(0.0, |m: f64, s| m.max(*s))
            / scales.iter().fold(f64::MAX, |m: f64, s| m.min(*s));
        let b = if spread < 1e3 { &lower * units } else { units };
        let mut changed = problem.clone();
        changed.mass = b.transpose() * &problem.mass * &b;
        changed.mass = (&changed.mass + changed.mass.transpose()) * 0.5;
        changed.contacts = &problem.contacts * &b;
        changed.bilateral = &problem.bilateral * &b;
        let Some(inverse) = b.clone().try_inverse() else { continue };
        changed.velocity = inverse * &problem.velocity;
        for law in [Law::NewtonLcp, Law::Poisson, Law::Newton] {
            let outcome = solve(&problem, law);
            if !outcome.velocity_unique || !outcome.consistent || outcome.steps.len() > 20 {
                continue;
            }
            let other = solve(&changed, law);
            let back = &b * DVector::from_vec(other.velocity);
            worst.see(apart(&problem, &outcome.velocity, back.as_slice()) / rounding(&outcome), seed);
            assert!(worst.0 <= 1.0, "seed {seed} {law}: {:e} of rounding", worst.0);
        }
    }
    println!("{:e} of rounding, seed {}", worst.0, worst.1);
}

#[test]
fn energy_change_is_half_impulse_times_sum_of_velocities_and_the_audit_agrees() {
    let mut worst = Worst::default();
    for seed in 0..systems() {
        let problem = Source::new(seed).problem(false);
        for law in Law::ALL {
            let outcome = solve(&problem, law);
            let audit = audit(&problem, &outcome);
            let size = outcome.energy.before.max(outcome.energy.after);
            let products =
                outcome.impulses.iter().zip(&outcome.approach).map(|(p, y)| (p * y).abs()).sum::<f64>();
            let difference = (audit.energy_change_from_impulses - outcome.energy.change).abs();
            worst.see(difference / size.max(products) / rounding(&outcome), seed);
            worst.see(audit.energy_mismatch / rounding(&outcome), seed);
            worst.see(audit.momentum_residual / rounding(&outcome), seed);
            assert!(worst.0 <= 1.0, "seed {seed} {law}: {:e} of rounding\n{audit:?}\n{outcome:?}", worst.0);
            assert!(audit.passed, "seed {seed} {law}: {audit:?}");
            let work: f64 = outcome.work.iter().sum();
            assert!((work - outcome.energy.change).abs() <= 1e-12 * size, "seed {seed} {law}");
        }
    }
    println!("{:e} of rounding, seed {}", worst.0, worst.1);
}

#[test]
fn projector_squared_is_itself_symmetric_in_the_metric_and_keeps_the_rows() {
    let mut worst = Worst::default();
    for seed in 0..systems() {
        let problem = Source::new(seed).problem(true);
        let outcome = solve(&problem, Law::NewtonLcp);
        let level = rounding(&outcome);
        let n = problem.velocity.len();
        let p = problem.projector(&Options::default()).unwrap();
        // In coordinates of equal kinetic scale every identity has entries of size one.
        let scale = DMatrix::from_fn(n, n, |i, j| if i == j { problem.mass[(i, i)].sqrt() } else { 0.0 });
        let back =
            DMatrix::from_fn(n, n, |i, j| if i == j { 1.0 / problem.mass[(i, i)].sqrt() } else { 0.0 });
        let p_scaled = &scale * &p * &back;
        worst.see((&p_scaled * &p_scaled - &p_scaled).amax() / level, seed);
        let gp = &back * &problem.mass * &p * &back;
        worst.see((&gp - gp.transpose()).amax() / level, seed);
        for rows in [&problem.bilateral, &problem.contacts] {
            for row in rows.row_iter() {
                let row = row * &back;
                let length = row.norm();
                if length > 0.0 {
                    worst.see((&row * &p_scaled - &row).amax() / length / level, seed);
                }
            }
        }
        // The rank is the trace.
        let metric = Metric::new(&problem.mass, &problem.bilateral, 1e-10).unwrap();
        #[expect(clippy::cast_precision_loss, reason = "small")]
        let rank = (outcome.rank + metric.bilateral_rank()) as f64;
        worst.see((p.trace() - rank).abs() / level, seed);
        assert!(worst.0 <= 1.0, "seed {seed}: {:e} of rounding", worst.0);
        // T1: with one coefficient Newton's law is v⁺ = (I − (1+μ)P) v⁻.
        let newton = solve(&problem, Law::Newton);
        assert!(newton.consistent, "seed {seed}: {:?}", newton.notes);
        let reflected = &problem.velocity - &p * &problem.velocity * (1.0 + problem.restitution[0]);
        worst.see(apart(&problem, &newton.velocity, reflected.as_slice()) / level, seed);
        assert!(worst.0 <= 1.0, "seed {seed}: {:e} of rounding", worst.0);
    }
    println!("{:e}, seed {}", worst.0, worst.1);
}

/// Bodies with two coordinates each, contacts between neighbours, many of them dependent.
fn network(source: &mut Source, bodies: usize) -> Problem {
    let n = 2 * bodies;
    let decades = [0.0, 2.0, 12.0][source.pick(0, 2)];
    let mass =
        DMatrix::from_diagonal(&DVector::from_fn(n, |_, _| 10f64.powf(0.5 * decades * source.signed())));
    let rows = bodies + source.pick(0, 2 * bodies);
    let mut contacts = DMatrix::zeros(rows, n);
    for i in 0..rows {
        let first = source.pick(0, bodies - 2);
        let second = (first + source.pick(1, 3)).min(bodies - 1);
        let (x, y) = if source.chance(0.3) { (1.0, 0.0) } else { (source.signed(), source.signed()) };
        for (body, sign) in [(first, -1.0), (second, 1.0)] {
            contacts[(i, 2 * body)] = sign * x;
            contacts[(i, 2 * body + 1)] = sign * y;
        }
    }
    let velocity = DVector::from_fn(n, |i, _| source.signed() / mass[(i, i)].sqrt());
    // Every contact closes: the sign of a row is free.
    let y = &contacts * &velocity;
    for i in 0..rows {
        if y[i] > 0.0 {
            contacts.row_mut(i).neg_mut();
        }
    }
    let mut problem = Problem::new(mass, contacts, velocity);
    problem.restitution = (0..rows).map(|_| source.restitution()).collect();
    problem
}

#[test]
fn large_sparse_systems_meet_the_conditions_that_define_the_law() {
    let mut worst = Worst::default();
    for seed in 0..200 {
        let mut source = Source::new(seed);
        let bodies = source.pick(30, 120);
        let problem = network(&mut source, bodies);
        let outcome = problem.solve(&Options { max_steps: Some(1), ..Options::default() }).unwrap();
        let level = rounding(&outcome).max(1e-14);
        let delassus = problem.delassus(&Options::default()).unwrap();
        // 0 ≤ p ⟂ y⁺ + K y⁻ ≥ 0 row by row, all in units of √(2T).
        let speed = (2.0 * outcome.energy.before).sqrt();
        let step = &outcome.steps[0];
        for (k, &row) in step.rows.iter().enumerate() {
            let length = delassus[(row, row)].sqrt();
            let slack = (step.separation[k] + problem.restitution[row] * step.approach[k]) / (length * speed);
            let p = step.impulses[k] * length / speed;
            worst.see(-slack / level, seed);
            worst.see(-p / level, seed);
            worst.see(p.min(slack).abs() / level, seed);
        }
        assert!(worst.0 <= 1.0, "seed {seed}: {:e} of rounding\n{:?}", worst.0, outcome.rank_margin);
        let audit = audit(&problem, &outcome);
        assert!(audit.passed, "seed {seed}: {audit:?}");
        assert!(outcome.energy.change <= 1e-12 * outcome.energy.before, "seed {seed}");
    }
    println!("{:e} of rounding, seed {}", worst.0, worst.1);
}
