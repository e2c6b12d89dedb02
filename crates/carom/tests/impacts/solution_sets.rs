//! Degenerate systems whose set of impulses is known by construction: which rows carry an impulse in some solution, and how many
//! independent ways there are to share it.
//!
//! In coordinates of unit mass three orthogonal parts of space: E, spanned by the rows that surely push (p > 0, u = Σ p c ∈ E); F,
//! where rows stick out of E that could push and do not; and one direction e more. With one k for all binding rows and
//! z = −u/(1+k) + θ e every row in E ⊕ F is binding, and every row with a positive part along e has slack. A group of rows in F
//! either lies on one side (some w with c·w > 0 on all: none of them ever pushes) or is a simplex around the origin (all push in
//! some solution, though none in the one it was made from).

use carom::audit::audit;
use carom::impact::{Law, Outcome, Problem, Rough};
use nalgebra::{DMatrix, DVector};

use super::random::Source;
use super::{solve, systems, words};

/// A problem, and what is known of it.
struct Known {
    problem: Problem,
    /// The velocity after.
    velocity: DVector<f64>,
    /// The dimension of the set of impulses, joints included, under the laws with complementarity.
    dimension: usize,
    /// Whether all rows are independent, and binding: then the equality has the same solution, unique or not.
    equality: Option<bool>,
}

/// A random vector in the span of some axes.
fn within(source: &mut Source, d: usize, axes: &[usize]) -> DVector<f64> {
    let mut x = DVector::zeros(d);
    for &axis in axes {
        x[axis] = source.signed();
    }
    x
}

fn known(seed: u64) -> Option<Known> {
    let source = &mut Source::new(seed);
    let (r, f) = (source.pick(1, 4), source.pick(0, 3));
    let joints = source.pick(0, 1);
    let d = r + f + 1;
    let e: Vec<usize> = (0..r).collect();
    let out: Vec<usize> = (r..r + f).collect();
    // Rows that push: a basis of E, then some that depend on it, each with a positive part along u in the end.
    let count = r + [0, 0, 1, 2][source.pick(0, 3)];
    let mut rows: Vec<DVector<f64>> = Vec::new();
    for k in 0..count {
        let row = match source.pick(0, 3) {
            0 if k >= r => rows[source.pick(0, k - 1)].clone() * 2.0,
            1 if k < r => {
                // Integers, so that dependences are exact.
                let mut x = DVector::zeros(d);
                x[k] = 1.0;
                x
            }
            _ => within(source, d, &e),
        };
        rows.push(row);
    }
    let span = DMatrix::from_columns(&rows).rows(0, r).into_owned();
    if span.singular_values().min() < 0.05 && count == r {
        return None;
    }
    if span.svd(false, false).rank(0.05) < r {
        return None;
    }
    // Tangents of a rough contact push either way.
    let tangents = if count > 1 && source.chance(0.3) { source.pick(1, 2.min(count - 1)) } else { 0 };
    let mut u = DVector::zeros(d);
    for (k, row) in rows.iter().enumerate() {
        let p = 0.1 + source.unit();
        let sign = if k > 0 && k <= tangents && source.chance(0.5) { -1.0 } else { 1.0 };
        u += row * (p * sign);
    }
    if rows.iter().enumerate().any(|(k, c)| (k == 0 || k > tangents) && c.dot(&u) < 0.02) {
        return None;
    }
    let mut carriers = count;
    let mut span_of_carriers = r;
    // What sticks out of E.
    if f > 0 {
        let simplex = source.chance(0.5);
        let group = if simplex { f + 1 } else { source.pick(1, 4) };
        let side = within(source, d, &out);
        if side.norm() < 0.1 {
            return None;
        }
        let mut sum = DVector::zeros(d);
        let mut group_rows = Vec::new();
        for k in 0..group {
            let mut along = if simplex && k == f { -&sum } else { within(source, d, &out) };
            if !simplex {
                let part = along.dot(&side) / side.norm();
                if part.abs() < 0.1 {
                    return None;
                }
                along *= part.signum();
            }
            sum += &along * (0.2 + source.unit());
            if along.norm() < 0.1 {
                return None;
            }
            group_rows.push(along);
        }
        if simplex {
            let matrix = DMatrix::from_columns(&group_rows[..f]);
            if matrix.svd(false, false).rank(0.1) < f {
                return None;
            }
            carriers += group;
            span_of_carriers += f;
        }
        for along in group_rows {
            let mut inside = within(source, d, &e);
            let part = inside.dot(&u);
            // Closing: a positive part along u.
            inside *= part.signum();
            if inside.dot(&u) < 0.02 {
                return None;
            }
            rows.push(along + inside);
        }
    }
    let binding = rows.len();
    // Rows with slack.
    for _ in 0..source.pick(0, 2) {
        let mut row = within(source, d, &(0..d).collect::<Vec<_>>());
        if row.dot(&u) < 0.0 {
            row = -row;
        }
        row[d - 1] = 0.2 + source.unit();
        rows.push(row);
    }
    let k = [0.0, 1.0, 0.5, source.unit()][source.pick(0, 3)];
    let mut z = &u * (-1.0 / (1.0 + k));
    z[d - 1] = if source.chance(0.5) { 0.3 } else { 1.0 };
    let mut restitution = vec![k; rows.len()];
    for c in &rows[binding..] {
        restitution.push(0.0);
        let y = c.dot(&z);
        // Left alone by both laws, closing or not.
        if c.dot(&u) + (1.0 + k) * y.min(0.0) < 0.02 || y + c.dot(&u) < 0.02 {
            return None;
        }
    }
    restitution.truncate(rows.len());
    // Any masses, units, order, and joints that take one coordinate more.
    let n = d + joints;
    let decades = [0.0, 2.0, 6.0][source.pick(0, 2)];
    let mass = source.mass(n, decades);
    let lower = mass.clone().cholesky()?.unpack();
    let turn = DMatrix::from_fn(n, n, |_, _| source.signed()).qr().q();
    let lift = |x: &DVector<f64>, more: f64| {
        let mut y = DVector::zeros(n);
        y.rows_mut(0, d).copy_from(x);
        if joints > 0 {
            y[d] = more;
        }
        &turn * y
    };
    let velocity = lower.tr_solve_lower_triangular(&lift(&z, 0.0))?;
    let after = lower.tr_solve_lower_triangular(&lift(&(&z + &u), 0.0))?;
    let mut order: Vec<usize> = (0..rows.len()).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, source.pick(0, i));
    }
    let mut contacts = DMatrix::zeros(rows.len(), n);
    for (place, &from) in order.iter().enumerate() {
        let more = if joints > 0 { source.signed() } else { 0.0 };
        let row = &lower * lift(&rows[from], more) * 10f64.powf(2.0 * source.signed());
        contacts.row_mut(place).copy_from(&row.transpose());
    }
    let place = |row: usize| order.iter().position(|&from| from == row).unwrap();
    let mut problem = Problem::new(mass, contacts, velocity);
    problem.restitution = order.iter().map(|&from| restitution[from]).collect();
    let mut dimension = carriers - span_of_carriers;
    if joints > 0 {
        let mut axis = DVector::zeros(n);
        axis[d] = 1.0;
        let row = (&lower * &turn * axis).transpose();
        let twice = source.chance(0.2);
        let list = if twice { vec![row.clone(), row * 3.0] } else { vec![row] };
        problem.bilateral = DMatrix::from_rows(&list);
        dimension += usize::from(twice);
    }
    if tangents > 0 {
        problem.rough = vec![Rough { normal: place(0), tangent: (1..=tangents).map(place).collect() }];
    }
    let independent =
        DMatrix::from_columns(&rows[..binding]).svd(false, false).rank(1e-8) == binding && dimension == 0;
    let equality = (binding == rows.len()).then_some(independent);
    Some(Known { problem, velocity: after, dimension, equality })
}

fn check(seed: u64, law: Law, known: &Known, outcome: &Outcome, unique: bool) {
    let context = || format!("seed {seed} {law}: {:?}\n{:?}", words(outcome), known.problem);
    assert!(outcome.velocity_unique && outcome.consistent, "{}", context());
    assert_eq!(outcome.impulse_unique, unique, "{}", context());
    let difference = DVector::from_vec(outcome.velocity.clone()) - &known.velocity;
    let apart = (difference.transpose() * &known.problem.mass * &difference)[0].sqrt();
    let speed = (2.0 * outcome.energy.before).sqrt();
    assert!(apart <= outcome.rounding.max(1e-11) * speed, "{apart:e} {}", context());
    let audit = audit(&known.problem, outcome);
    assert!(audit.passed, "{audit:?} {}", context());
}

#[test]
fn flags_on_degenerate_systems_are_those_of_the_construction() {
    let (count, mut tried) = (systems(10_000), 0);
    let (mut many, mut decided, mut equalities) = (0, 0, 0);
    for seed in 0.. {
        if tried == count {
            break;
        }
        let Some(known) = known(seed) else { continue };
        tried += 1;
        many += u64::from(known.dimension > 0);
        for law in [Law::NewtonLcp, Law::Reflection, Law::Poisson] {
            let outcome = solve(&known.problem, law);
            check(seed, law, &known, &outcome, known.dimension == 0);
            assert!(outcome.admissible, "seed {seed} {law}: {:?}", words(&outcome));
            assert_eq!(outcome.self_stresses.len(), known.dimension, "seed {seed} {law}");
            if let Some(point) = audit(&known.problem, &outcome).impulse_set_is_a_point {
                decided += 1;
                assert_eq!(point, known.dimension == 0, "seed {seed} {law}: the audit's search");
            }
        }
        if let Some(independent) = known.equality {
            equalities += 1;
            check(seed, Law::Newton, &known, &solve(&known.problem, Law::Newton), independent);
        }
    }
    println!("{many} of {tried} not unique; {decided} decided by the audit; {equalities} as equalities");
    assert!(many > count * 3 / 10 && tried - many > count / 5);
    assert!(decided > count * 5 / 2 && equalities > count / 5);
}
