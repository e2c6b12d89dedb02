//! What an outcome says of itself against its own numbers.

use serde::Serialize;

use super::solutions::{Change, Rows};
use crate::impact::{Law, Note, Outcome, Problem, Status, Step};

/// In a longer sequence only this many steps, the first ones, are looked at.
const STEPS: usize = 32;

/// Something that an outcome says of itself and that its numbers contradict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Contradiction {
    /// `velocity_unique` is true although another velocity is stated, or the law did not finish.
    #[error("velocity_unique is true, but another velocity is stated or the law did not finish")]
    VelocityUnique,
    /// `velocity_unique` is false although no other velocity is stated.
    #[error("velocity_unique is false, but no other velocity is stated")]
    VelocityNotUnique,
    /// `impulse_unique` is true although other impulses are stated.
    #[error("impulse_unique is true, but other impulses are stated")]
    ImpulsesUniqueBesideOthers,
    /// `impulse_unique` is true although other impulses solve the law's equations too.
    #[error("impulse_unique is true, but other impulses solve the law's equations too")]
    ImpulsesUnique,
    /// Self-stresses are stated although no other impulses are possible.
    #[error("self-stresses are stated, but no other impulses are possible")]
    SelfStresses,
    /// `impulse_unique` does not agree with the self-stresses.
    #[error("impulse_unique does not agree with the self-stresses")]
    ImpulsesAgainstSelfStresses,
    /// A self-stress is not in balance.
    #[error("a self-stress is not in balance")]
    UnbalancedSelfStress,
    /// `consistent` does not agree with the status and the notes.
    #[error("consistent does not agree with the status and the notes")]
    ConsistencyAgainstNotes,
    /// `consistent` is false although the law's equations hold.
    #[error("consistent is false, but the law's equations hold")]
    Inconsistent,
    /// `consistent` is true although the law's equations do not hold.
    #[error("consistent is true, but the law's equations do not hold")]
    Consistent,
    /// `admissible` is true although a contact pulls or closes, or the law did not finish.
    #[error("admissible is true, but a contact pulls or closes, or the law did not finish")]
    Admissible,
    /// `admissible` is true although energy is gained.
    #[error("admissible is true, but energy is gained")]
    AdmissibleWithGain,
    /// `admissible` is false although nothing is wrong.
    #[error("admissible is false, but nothing is wrong")]
    Inadmissible,
}

impl Serialize for Contradiction {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Whether the impulses are a single point of their solution set, where that is clear; and the first contradiction.
pub(super) fn check(
    problem: &Problem,
    outcome: &Outcome,
    allowed: f64,
) -> (Option<bool>, Option<Contradiction>) {
    let margin = outcome.rank_margin;
    let clear_cut =
        margin.amplification < 1e3 && margin.smallest_kept > 1e-6 && margin.largest_dropped < 1e-12;
    let rows = Rows::new(problem);
    let decided = rows.as_ref().filter(|_| clear_cut);
    let point = decided.and_then(|rows| impulses_are_a_point(problem, outcome, rows));
    let contradiction = unique(problem, outcome, point)
        .or_else(|| consistent(problem, outcome, allowed))
        .or_else(|| admissible(problem, outcome, rows.as_ref(), allowed));
    (point, contradiction)
}

fn noted(outcome: &Outcome, is: impl Fn(&Note) -> bool) -> bool {
    outcome.notes.iter().any(is)
}

/// Whether contacts were taken one at a time because of friction, whatever the law.
fn in_turn(outcome: &Outcome) -> bool {
    noted(outcome, |note| matches!(note, Note::SeveralWithFriction { .. }))
}

fn unique(problem: &Problem, outcome: &Outcome, point: Option<bool>) -> Option<Contradiction> {
    let witness = noted(outcome, |note| {
        matches!(note, Note::PoissonNotUnique { .. } | Note::OrderMatters { .. } | Note::UniquenessUndecided)
    });
    let ended = outcome.consistent && outcome.status != Status::StepsExhausted;
    if outcome.velocity_unique && (witness || !ended) {
        return Some(Contradiction::VelocityUnique);
    }
    if !outcome.velocity_unique && !witness && ended {
        return Some(Contradiction::VelocityNotUnique);
    }
    let shared = noted(outcome, |note| matches!(note, Note::OrderSharesImpulses));
    if outcome.impulse_unique && (shared || !outcome.velocity_unique) {
        return Some(Contradiction::ImpulsesUniqueBesideOthers);
    }
    if outcome.impulse_unique == (outcome.self_stresses.is_empty() && outcome.velocity_unique && !shared) {
        match point {
            Some(false) if outcome.impulse_unique => {
                return Some(Contradiction::ImpulsesUnique);
            }
            Some(true) if !outcome.self_stresses.is_empty() => {
                return Some(Contradiction::SelfStresses);
            }
            _ => {}
        }
    } else {
        return Some(Contradiction::ImpulsesAgainstSelfStresses);
    }
    outcome
        .self_stresses
        .iter()
        .any(|s| !balanced(problem, &s.contacts, &s.bilateral))
        .then_some(Contradiction::UnbalancedSelfStress)
}

/// Nᵀp + Aᵀλ = 0.
fn balanced(problem: &Problem, contacts: &[f64], bilateral: &[f64]) -> bool {
    (0..problem.mass.nrows()).all(|j| {
        let (mut sum, mut size) = (0.0, 0.0_f64);
        for (matrix, impulses) in [(&problem.contacts, contacts), (&problem.bilateral, bilateral)] {
            for (i, p) in impulses.iter().enumerate() {
                sum += matrix[(i, j)] * p;
                size += (matrix[(i, j)] * p).abs();
            }
        }
        // A coordinate that hardly takes part has only rounding to balance.
        let whole: f64 = contacts.iter().chain(bilateral).map(|p| p.abs()).sum();
        let widest = problem.contacts.column(j).amax().max(if problem.bilateral.nrows() > 0 {
            problem.bilateral.column(j).amax()
        } else {
            0.0
        });
        sum.abs() <= 1e-6 * size.max(1e-3 * whole * widest)
    })
}

/// Whether the law admits no other impulses than those of the steps; `None` if that is not clear.
fn impulses_are_a_point(problem: &Problem, outcome: &Outcome, rows: &Rows) -> Option<bool> {
    if outcome.steps.is_empty() || !outcome.consistent {
        return None;
    }
    let mut point = (outcome.steps.len() <= STEPS).then_some(true);
    let push = |step: &Step| {
        let pushes = step.rows.iter().zip(&step.impulses).map(|(&row, p)| p.abs() * rows.length(row));
        pushes.fold(0.0, f64::max)
    };
    let most = outcome.steps.iter().map(push).fold(0.0, f64::max);
    for step in outcome.steps.iter().take(STEPS) {
        // Steps that change next to nothing, such as the last of many, are the rounding of others.
        if square(step) <= 1e-16 * outcome.energy.before || push(step) <= 1e-6 * most {
            point = None;
            continue;
        }
        match changes(problem, outcome, rows, step).and_then(|changes| rows.only_solution(&changes)) {
            Some(true) => {}
            Some(false) => return Some(false),
            None => point = None,
        }
    }
    point
}

/// |u|² = pᵀ W p = Σ p (y⁺ − y⁻) of a step.
fn square(step: &Step) -> f64 {
    step.impulses
        .iter()
        .zip(step.separation.iter().zip(&step.approach))
        .map(|(p, (after, before))| p * (after - before))
        .sum()
}

/// How the impulses of a step may change under the law: rows with slack stay at zero.
fn changes(problem: &Problem, outcome: &Outcome, rows: &Rows, step: &Step) -> Option<Vec<(usize, Change)>> {
    let mut normal = vec![false; problem.contacts.nrows()];
    problem.contact_list().iter().for_each(|contact| normal[contact.normal] = true);
    let mut changes = Vec::new();
    // Blocked rows can load the joints.
    changes.extend(outcome.blocked.iter().map(|&row| (row, Change::Up)));
    if problem.friction.iter().any(|f| f.tangent.iter().any(|row| step.rows.contains(row))) {
        // The passage through friction has one course.
        return Some(changes);
    }
    let uniform = step.rows.iter().all(|&row| problem.restitution[row] == problem.restitution[step.rows[0]]);
    match outcome.law {
        // Some steps may be equalities, others of one contact alone.
        Law::Newton if in_turn(outcome) => return None,
        Law::Newton => {
            changes.extend(step.rows.iter().map(|&row| (row, Change::Free)));
            return Some(changes);
        }
        Law::Decoupled => return None,
        Law::Poisson if !uniform => return None,
        _ => {}
    }
    let push = |k: usize| step.impulses[k] * rows.length(step.rows[k]);
    let most = (0..step.rows.len()).fold(0.0, |m: f64, k| m.max(push(k).abs()));
    let size = square(step).max(0.0).sqrt();
    // The joints shorten a row by the amplification at most.
    let (threshold, shortened) = (outcome.rank_margin.threshold, outcome.rank_margin.amplification);
    for (k, &row) in step.rows.iter().enumerate() {
        if !normal[row] {
            changes.push((row, Change::Free));
            continue;
        }
        let asked = problem.restitution[row] * step.approach[k].min(0.0);
        let slack = (step.separation[k] + asked) / (rows.length(row) * size);
        if push(k) > 1e-8 * most {
            changes.push((row, Change::Free));
        } else if slack > 10.0 * threshold {
            continue;
        } else if push(k) < 1e-13 * most && slack * shortened < 0.1 * threshold {
            changes.push((row, Change::Up));
        } else {
            return None;
        }
    }
    Some(changes)
}

fn consistent(problem: &Problem, outcome: &Outcome, allowed: f64) -> Option<Contradiction> {
    let said = noted(outcome, |note| matches!(note, Note::Inconsistent { .. }));
    if outcome.consistent == said || (outcome.consistent && outcome.status == Status::Inconsistent) {
        return Some(Contradiction::ConsistencyAgainstNotes);
    }
    let (Law::Newton, [step]) = (outcome.law, outcome.steps.as_slice()) else { return None };
    if in_turn(outcome) || problem.friction.iter().any(|f| step.rows.contains(&f.normal)) {
        return None;
    }
    // y⁺ = −K y⁻ on every row.
    let fastest = step.approach.iter().chain(&step.separation).fold(0.0, |m: f64, y| m.max(y.abs()));
    let missed = step.rows.iter().enumerate().fold(0.0, |m: f64, (k, &row)| {
        m.max((step.separation[k] + problem.restitution[row] * step.approach[k]).abs())
    });
    if !outcome.consistent && missed <= 1e-15 * fastest {
        return Some(Contradiction::Inconsistent);
    }
    // Rows of very different size have no common scale: only for those alike is a miss clear.
    let lengths = step.rows.iter().map(|&row| problem.contacts.row(row).norm());
    let (least, most) = lengths.fold((f64::MAX, 0.0_f64), |(a, b), x| (a.min(x), b.max(x)));
    (outcome.consistent && most < 1e3 * least && missed > 1e3 * allowed * fastest)
        .then_some(Contradiction::Consistent)
}

fn admissible(
    problem: &Problem,
    outcome: &Outcome,
    rows: Option<&Rows>,
    allowed: f64,
) -> Option<Contradiction> {
    let speed = (2.0 * outcome.energy.before).sqrt();
    let length = |row: usize| rows.map_or_else(|| problem.contacts.row(row).norm(), |rows| rows.length(row));
    let most = (0..outcome.impulses.len())
        .fold(0.0, |m: f64, row| m.max((outcome.impulses[row] * length(row)).abs()));
    let (mut pull, mut closing, mut slightest) = (0.0_f64, 0.0_f64, false);
    for contact in problem.contact_list() {
        let row = contact.normal;
        let (p, y) = (outcome.impulses[row], outcome.separation[row]);
        slightest |= p < 0.0 || y < 0.0;
        if most > 0.0 {
            pull = pull.max(-p * length(row) / most);
        }
        if rows.is_some() && speed > 0.0 && !outcome.blocked.contains(&row) {
            closing = closing.max(-y / (length(row) * speed));
        }
    }
    let exhausted = outcome.status == Status::StepsExhausted;
    // None closing means within the rounding that the outcome states.
    if outcome.admissible && (exhausted || pull > allowed || closing > 2.0 * outcome.rounding.min(allowed)) {
        return Some(Contradiction::Admissible);
    }
    let efforts = outcome.steps.iter().flat_map(|step| {
        let speeds =
            step.approach.iter().zip(&step.separation).map(|(before, after)| before.abs() + after.abs());
        step.impulses.iter().zip(speeds).map(|(p, speed)| 0.5 * p.abs() * speed)
    });
    let effort = outcome.energy.before.max(outcome.energy.after).max(efforts.sum());
    if outcome.admissible && outcome.energy.change > 2.0 * allowed * effort {
        return Some(Contradiction::AdmissibleWithGain);
    }
    let named = noted(outcome, |note| {
        matches!(note, Note::Pulling { .. } | Note::StillClosing { .. } | Note::EnergyGained { .. })
    });
    let wrong = named && (slightest || outcome.energy.change > 0.0);
    (!outcome.admissible && !exhausted && !wrong).then_some(Contradiction::Inadmissible)
}
