//! Coulomb's law, step by step: |p_t| ≤ μ p_n, against the slip, and all of μ p_n where the contact slips throughout.
//!
//! With the directions of slip a before and b after a step, and the stretches of normal impulse that the outcome calls slip,
//! stick and renewed slip:
//!
//! - a and b the same: the slip neither stopped nor turned (its direction changes monotonically, and after a stop it is another),
//!   so p_t = −μ p_n a, whatever the outcome calls it;
//! - slip only, at most a quarter turn from a to b: −p_t/(μ p_n) is a mean of directions between them (beyond that they may be on
//!   either side, and only the cone is left to check);
//! - one tangent: p_t = −μ (a Δp_slip + b Δp_again) up to μ Δp_stick; two: |p_t + μ b Δp_again| ≤ μ (Δp_slip + Δp_stick).

use crate::impact::coulomb::{Mode, Phase};
use crate::impact::{Friction, Outcome, Problem, Step};

/// A slip below this fraction of the fastest in the outcome has no direction of its own.
const STOPPED: f64 = 1e-9;

/// The worst excess over all steps of all Coulomb contacts, relative to μ times the whole normal impulse of the contact.
pub(super) fn residual(problem: &Problem, outcome: &Outcome) -> Option<f64> {
    let mut worst: Option<f64> = None;
    let length = |row: usize| super::length(problem, row);
    let pushes = outcome.steps.iter().flat_map(|step| step.rows.iter().zip(&step.impulses));
    let most = pushes.fold(0.0, |m: f64, (&row, p)| m.max(p.abs() * length(row)));
    for contact in &problem.friction {
        let pressing = outcome.steps.iter().filter(|step| step.rows.contains(&contact.normal));
        let total: f64 = pressing.clone().map(|step| of(step, &step.impulses, contact.normal).abs()).sum();
        if total == 0.0 {
            continue;
        }
        let mut histories = outcome.friction.iter().filter(|history| history.normal == contact.normal);
        let rows = outcome.approach.iter().chain(&outcome.separation);
        let still = STOPPED * rows.fold(0.0, |m: f64, y| m.max(y.abs()));
        for step in pressing {
            let with_tangents = contact.tangent.iter().all(|row| step.rows.contains(row));
            // A step of the law may list a contact that it does not press.
            let phases = if with_tangents {
                histories.next().map_or([].as_slice(), |history| history.phases.as_slice())
            } else {
                &[]
            };
            // A contact that is hardly pressed carries the rounding of those that are.
            let excess = excess(contact, step, phases, still) * length(contact.normal)
                / (total * length(contact.normal)).max(1e-3 * most);
            let seen = if excess.is_nan() { f64::INFINITY } else { excess };
            worst = Some(worst.unwrap_or(0.0).max(seen));
        }
        // The work of friction stands at the first tangent.
        let work = contact.tangent.first().map_or(0.0, |&row| outcome.work[row]);
        if outcome.energy.before > 0.0 {
            worst = Some(worst.unwrap_or(0.0).max(work / outcome.energy.before));
        }
    }
    worst
}

/// A row's entry in a list of a step; zero for one that takes no part.
fn of(step: &Step, list: &[f64], row: usize) -> f64 {
    step.rows.iter().zip(list).filter(|(r, _)| **r == row).map(|(_, x)| x).sum()
}

/// How far the impulses of one step are from Coulomb's law, in units of a normal impulse.
fn excess(contact: &Friction, step: &Step, phases: &[Phase], still: f64) -> f64 {
    let normal = of(step, &step.impulses, contact.normal);
    if !contact.tangent.iter().all(|row| step.rows.contains(row)) {
        // Pressed without friction, which is right only if the contact has none.
        return if contact.coefficient > 0.0 { normal.abs() } else { (-normal).max(0.0) };
    }
    let pair = |list: &[f64]| -> [f64; 2] {
        let mut rows = contact.tangent.iter().map(|&row| of(step, list, row));
        [rows.next().unwrap_or(0.0), rows.next().unwrap_or(0.0)]
    };
    let [p, before, after] = [pair(&step.impulses), pair(&step.approach), pair(&step.separation)];
    if contact.coefficient == 0.0 {
        return p[0].hypot(p[1]).max(-normal);
    }
    // −p_t/μ: within the normal impulse, and a mean of directions of slip times it.
    let x = p.map(|p| -p / contact.coefficient);
    let mut worst = (x[0].hypot(x[1]) - normal).max(-normal);
    let mut see = |excess: f64| worst = worst.max(excess);
    let (a, b) = (direction(before, still), direction(after, still));
    let (mut slip, mut stick, mut again, mut end) = (0.0, 0.0, 0.0, 0.0);
    for phase in phases {
        let length = phase.to - phase.from;
        match phase.mode {
            Mode::Slip | Mode::Jam => slip += length,
            Mode::Stick => stick += length,
            Mode::ReverseSlip => again += length,
        }
        see((phase.from - end).abs());
        end = phase.to;
    }
    see((end - normal).abs());
    if let (Some(a), Some(b)) = (a, b) {
        let sum = [a[0] + b[0], a[1] + b[1]];
        let half = 0.5 * sum[0].hypot(sum[1]);
        let same = (a[0] - b[0]).hypot(a[1] - b[1]) <= STOPPED;
        let only_slips = stick == 0.0 && again == 0.0;
        // A quarter turn at most: cos of half the angle.
        if same || (only_slips && half >= std::f64::consts::FRAC_1_SQRT_2) {
            see(half * normal - (x[0] * sum[0] + x[1] * sum[1]) / (2.0 * half));
        }
    }
    let rest = |slip_along: Option<[f64; 2]>, again_along: Option<[f64; 2]>| {
        let (mut rest, mut free) = (x, stick);
        for (along, length) in [(slip_along, slip), (again_along, again)] {
            match along {
                Some(s) => rest = [rest[0] - s[0] * length, rest[1] - s[1] * length],
                None => free += length,
            }
        }
        rest[0].hypot(rest[1]) - free
    };
    see(rest(if contact.tangent.len() == 1 { a } else { None }, b));
    worst
}

/// The direction of a slip, unless it is too slow to have one.
fn direction(slip: [f64; 2], still: f64) -> Option<[f64; 2]> {
    let speed = slip[0].hypot(slip[1]);
    (speed > still).then(|| slip.map(|x| x / speed))
}
