//! Checks a result from outside: plain arithmetic on the problem and the outcome, never a law.
//!
//! Residuals are relative: each is divided by the sum of the absolute values of the terms it is the balance of,
//! so rounding leaves about 1e-16 of it whatever the units. A coordinate's velocity counts with at least the
//! size that the kinetic energy before allows it, √(2T/G_jj): one that a joint holds at zero has no size of its own.
//!
//! What the outcome says of itself is checked too. `friction`: every step that presses a Coulomb contact carries its friction.
//! `flags`: unique, consistent and admissible are what the numbers say; whether the impulses are unique is asked of their
//! solution set, by a search of its own (`solutions`).

mod flags;
mod friction;
mod solutions;

pub mod event;
pub mod pairs;

pub use flags::Contradiction;
use nalgebra::DMatrix;
use serde::Serialize;

use crate::impact::coulomb::Termination;
use crate::impact::{Law, Note, Outcome, Problem, Status};

/// What the audit found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Audit {
    /// G (v⁺ − v⁻) − Nᵀp − Aᵀλ, the worst coordinate.
    pub momentum_residual: f64,
    /// A v⁺, the worst bilateral row.
    pub bilateral_residual: f64,
    /// ½ (v⁺ − v⁻)ᵀ G (v⁺ + v⁻).
    pub energy_change_from_velocities: f64,
    /// ½ pᵀ (y⁻ + y⁺).
    pub energy_change_from_impulses: f64,
    /// The difference of the two, relative to the terms they are made of.
    pub energy_mismatch: f64,
    /// How far normal impulses pull and contacts close after: the worst of both, relative. Zero when admissible.
    pub unilateral_residual: f64,
    /// p (y⁺ + k y⁻) of each step, the worst row, by the smaller factor; absent for laws that do not ask for it to vanish.
    pub complementarity_residual: Option<f64>,
    /// How far what the outcome says (y⁻, y⁺, energies, work, the sum of its steps) is from what its velocities and
    /// impulses give, the worst of all, relative.
    pub statement_residual: f64,
    /// How far the impulses of Coulomb contacts are from Coulomb's law, step by step: outside the cone |p_t| ≤ μ p_n, not
    /// against the slip, or less than μ p_n where the contact slips all along; relative to μ times the contact's whole normal
    /// impulse. Absent where no such contact was pressed.
    pub friction_residual: Option<f64>,
    /// Whether the audit's own search finds that the law admits no other impulses; absent where it is not clear, or where the
    /// search does not cover the law or the number of rows.
    pub impulse_set_is_a_point: Option<bool>,
    /// The first thing that the outcome says of itself and that its numbers contradict.
    pub contradiction: Option<Contradiction>,
    /// Whether momentum, bilateral rows, the energy's two forms, the outcome's own statements, complementarity and Coulomb's law
    /// all hold, nothing contradicts what the outcome says of itself, and, for a law that promises it, no contact pulls or keeps
    /// closing and no energy is gained.
    pub passed: bool,
}

/// The largest relative residual that passes, unless the outcome itself expects more rounding.
pub const AUDIT_TOLERANCE: f64 = 1e-9;

/// The most that an outcome's own estimate of rounding can add to that.
const LARGEST_ALLOWANCE: f64 = 1e-6;

/// A balance: the sum of some terms, and of their sizes.
#[derive(Default, Clone, Copy)]
struct Balance {
    sum: f64,
    size: f64,
}

impl Balance {
    fn add(&mut self, term: f64) {
        self.sum += term;
        self.size += term.abs();
    }

    fn relative(self) -> f64 {
        if self.size > 0.0 { self.sum.abs() / self.size } else { 0.0 }
    }
}

/// Recomputes every balance of an outcome.
#[must_use]
pub fn audit(problem: &Problem, outcome: &Outcome) -> Audit {
    let (before, after) = (&outcome.velocity_before, &outcome.velocity);
    let momentum_residual = momentum(problem, outcome);
    let from_velocities = energy_from_velocities(problem, outcome);
    let bilateral_residual = rows(problem, outcome, &problem.bilateral, after)
        .iter()
        .fold(0.0, |worst: f64, balance| worst.max(balance.relative()));
    let approach = rows(problem, outcome, &problem.contacts, before);
    let separation = rows(problem, outcome, &problem.contacts, after);
    let mut from_impulses = Balance::default();
    for (row, p) in outcome.impulses.iter().enumerate() {
        from_impulses.add(0.5 * p * approach[row].sum);
        from_impulses.add(0.5 * p * separation[row].sum);
    }
    let size = from_velocities.size.max(from_impulses.size).max(outcome.energy.before);
    let difference = (from_velocities.sum - from_impulses.sum).abs();
    let energy_mismatch = if size > 0.0 { difference / size } else { 0.0 };
    let unilateral_residual = unilateral(problem, outcome, &approach, &separation);
    let complementarity_residual = complementarity(problem, outcome, &approach);
    let statement_residual = statements(outcome, &approach, &separation, from_velocities, size);
    let friction_residual = friction::residual(problem, outcome);
    // The outcome may expect more rounding than usual, but not so much that anything passes.
    let allowed = AUDIT_TOLERANCE.max(outcome.rounding.min(LARGEST_ALLOWANCE));
    let gains = from_velocities.sum > allowed * from_velocities.size.max(outcome.energy.before);
    let (impulse_set_is_a_point, contradiction) = flags::check(problem, outcome, allowed);
    let passed = momentum_residual <= allowed
        && bilateral_residual <= allowed
        && energy_mismatch <= allowed
        && statement_residual <= allowed
        && !(promises_unilateral(outcome) && unilateral_residual > allowed)
        && complementarity_residual.is_none_or(|r| r <= allowed)
        && friction_residual.is_none_or(|r| r <= allowed)
        && contradiction.is_none()
        && !(promises_dissipation(problem, outcome) && gains);
    Audit {
        momentum_residual,
        bilateral_residual,
        energy_change_from_velocities: from_velocities.sum,
        energy_change_from_impulses: from_impulses.sum,
        energy_mismatch,
        unilateral_residual,
        complementarity_residual,
        statement_residual,
        friction_residual,
        impulse_set_is_a_point,
        contradiction,
        passed,
    }
}

/// G (v⁺ − v⁻) − Nᵀp − Aᵀλ, the worst coordinate.
fn momentum(problem: &Problem, outcome: &Outcome) -> f64 {
    let (before, after) = (&outcome.velocity_before, &outcome.velocity);
    let mut worst: f64 = 0.0;
    for i in 0..problem.velocity.len() {
        // A coordinate that hardly takes part has only rounding to balance: its share of the energy is the scale.
        let share = (2.0 * outcome.energy.before * problem.mass[(i, i)]).sqrt();
        let mut balance = Balance { sum: 0.0, size: share };
        for j in 0..problem.velocity.len() {
            let g = problem.mass[(i, j)];
            balance.add(g * after[j]);
            balance.add(-g * before[j]);
        }
        for (row, p) in outcome.impulses.iter().enumerate() {
            balance.add(-problem.contacts[(row, i)] * p);
        }
        for (row, lambda) in outcome.bilateral_impulses.iter().enumerate() {
            balance.add(-problem.bilateral[(row, i)] * lambda);
        }
        worst = worst.max(balance.relative());
    }
    worst
}

/// ½ (v⁺ − v⁻)ᵀ G (v⁺ + v⁻).
fn energy_from_velocities(problem: &Problem, outcome: &Outcome) -> Balance {
    let (before, after) = (&outcome.velocity_before, &outcome.velocity);
    let mut energy = Balance::default();
    for i in 0..problem.velocity.len() {
        for j in 0..problem.velocity.len() {
            energy.add(0.5 * (after[i] - before[i]) * problem.mass[(i, j)] * (after[j] + before[j]));
        }
    }
    energy
}

/// The rows of a matrix times a velocity.
fn rows(problem: &Problem, outcome: &Outcome, matrix: &DMatrix<f64>, v: &[f64]) -> Vec<Balance> {
    (0..matrix.nrows())
        .map(|i| {
            let mut balance = Balance::default();
            for (j, v) in v.iter().enumerate() {
                let a = matrix[(i, j)];
                balance.add(a * v);
                balance.size += a.abs() * (2.0 * outcome.energy.before / problem.mass[(j, j)]).sqrt();
            }
            balance
        })
        .collect()
}

/// How far normal impulses pull, relative to the largest impulse, and contacts that can move close after: the worst of both.
fn unilateral(problem: &Problem, outcome: &Outcome, approach: &[Balance], separation: &[Balance]) -> f64 {
    let mut worst: f64 = 0.0;
    let largest = outcome.impulses.iter().fold(0.0, |m: f64, p| m.max(p.abs()));
    for contact in problem.contact_list() {
        let row = contact.normal;
        if largest > 0.0 {
            worst = worst.max(-outcome.impulses[row] / largest);
        }
        let (y, scale) = (separation[row].sum, separation[row].size.max(approach[row].size));
        if scale > 0.0 && !outcome.blocked.contains(&row) {
            worst = worst.max(-y / scale);
        }
    }
    worst
}

/// Whether the law promises that no contact pulls or keeps closing.
fn promises_unilateral(outcome: &Outcome) -> bool {
    matches!(outcome.law, Law::NewtonLcp | Law::Poisson | Law::Sequential | Law::Reflection)
        && outcome.consistent
        && outcome.status != Status::StepsExhausted
        && !outcome.notes.iter().any(|note| matches!(note, Note::FrictionLocks { .. }))
}

/// Whether the law promises that no energy is gained. With Stronge's termination no step of these laws gains any, whatever the
/// friction; with equalities along the tangent they can, unless there is one coefficient.
fn promises_dissipation(problem: &Problem, outcome: &Outcome) -> bool {
    let equalities = !problem.rough.is_empty() || !problem.tangential.is_empty();
    let uniform = problem.restitution.iter().all(|k| *k == problem.restitution[0]);
    promises_unilateral(outcome)
        && (uniform || !equalities)
        && outcome.friction.iter().all(|f| f.termination == Termination::Stronge)
}

/// The worst difference between what the outcome says and what follows from its velocities and impulses.
fn statements(
    outcome: &Outcome,
    approach: &[Balance],
    separation: &[Balance],
    from_velocities: Balance,
    size: f64,
) -> f64 {
    let mut worst: f64 = 0.0;
    let mut see = |difference: f64, scale: f64| {
        if difference != 0.0 {
            worst = worst.max(difference.abs() / scale);
        }
    };
    for (row, (before, after)) in approach.iter().zip(separation).enumerate() {
        let scale = before.size.max(after.size);
        see(outcome.approach[row] - before.sum, scale);
        see(outcome.separation[row] - after.sum, scale);
        let steps = outcome.steps.iter().flat_map(|step| step.rows.iter().zip(&step.impulses));
        let (sum, load) = steps
            .filter(|(r, _)| **r == row)
            .fold((0.0, outcome.impulses[row].abs()), |(sum, load), (_, p)| (sum + p, load + p.abs()));
        see(sum - outcome.impulses[row], load);
    }
    let energy = outcome.energy;
    see(energy.after - energy.before - from_velocities.sum, size);
    // The work of the steps may be far larger than their sum.
    let effort: f64 = outcome.steps.iter().map(|step| step.energy_change.abs()).sum();
    see(energy.change - from_velocities.sum, size.max(effort));
    see(outcome.work.iter().sum::<f64>() - energy.change, size.max(effort));
    worst
}

/// The worst violation of p (y⁺ + k y⁻) = 0 over the rows of every step: the smaller of the two factors, p relative to the largest
/// impulse, both as changes of velocity, and y⁺ + k y⁻ to its terms.
fn complementarity(problem: &Problem, outcome: &Outcome, approach: &[Balance]) -> Option<f64> {
    let asks = matches!(outcome.law, Law::NewtonLcp | Law::Newton | Law::Sequential | Law::Reflection);
    if !asks || !outcome.friction.is_empty() || !outcome.consistent {
        return None;
    }
    let lengths: Vec<f64> = (0..problem.contacts.nrows()).map(|row| length(problem, row)).collect();
    let pushes = outcome.steps.iter().flat_map(|step| step.rows.iter().zip(&step.impulses));
    let most = pushes.fold(0.0, |m: f64, (&row, p)| m.max((p * lengths[row]).abs()));
    let mut worst: f64 = 0.0;
    for step in &outcome.steps {
        for (k, &row) in step.rows.iter().enumerate() {
            let push = (step.impulses[k] * lengths[row]).abs();
            let missed = (step.separation[k] + problem.restitution[row] * step.approach[k]).abs();
            if push > 0.0 && missed > 0.0 {
                worst = worst.max((push / most).min(missed / approach[row].size));
            }
        }
    }
    Some(worst)
}

/// The velocity, in units of √(2T), that a unit impulse along a row makes, joints and couplings of G aside.
fn length(problem: &Problem, row: usize) -> f64 {
    let entries = problem.contacts.row(row);
    entries.iter().enumerate().map(|(j, a)| a * a / problem.mass[(j, j)]).sum::<f64>().sqrt()
}
