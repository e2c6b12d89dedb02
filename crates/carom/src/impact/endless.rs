//! The limit of a sequence of steps that never ends.
//!
//! With k < 1 contacts that face one another can go on without end: a light ball between a heavy one and a wall, three balls in line
//! below the critical restitution (Bernu and Mazighi 1990; McNamara and Young 1992), bodies in a wedge that take friction in turn. A
//! round of steps maps the velocities linearly, so that after some rounds each makes every impulse the same fraction r < 1 of what it
//! was in the round before. What is left is a geometric series,
//!
//! ```text
//! Σ_{j ≥ 1} rʲ p = r/(1 − r) p,
//! ```
//!
//! which is added as one step. Impulses that push push in the sum, and those in a friction cone stay in it. Contacts that take part
//! without end have no velocity left: y⁺ = 0 at all rows whose velocity goes to zero. r is known to some digits only, and so the sum
//! is corrected by the least impulses that make these velocities zero; friction at contacts that slide on keeps its ratio to the normal
//! impulse.
//!
//! Where rounds do not become alike (k = 1, or close to the critical restitution) there is no limit to take, and the bound on the steps
//! holds.

use nalgebra::{DMatrix, DVector};

use super::law::Resolution;
use super::outcome::Step;
use super::problem::Contact;
use super::system::System;

/// Steps after which rounds are compared for the first time; then at every doubling.
const FIRST: usize = 64;

/// The longest round, over the number of contacts.
const LONGEST: usize = 4;

/// How alike the impulses of two rounds must be, over what changes from one to the next: directions that turn by less do not turn far enough
/// to end the impact before it is rounding.
const ALIKE: f64 = 1e-3;

/// The same where friction acts: its share of the sum is not corrected.
const ALIKE_WITH_FRICTION: f64 = 1e-6;

/// A velocity vanishes with the impulses if what does not is smaller than this, over its change in a round.
const VANISHING: f64 = 1e-3;

/// A singular value below this, over the largest, is none: the rows depend on one another.
const DEPENDENT: f64 = 1e-10;

/// The largest correction, over the sum.
const CORRECTION: f64 = 1e-2;

/// Whether to look for a limit after so many steps since the last.
pub(super) fn is_due(steps: usize) -> bool {
    steps >= FIRST && steps.is_power_of_two()
}

/// What all further steps do together, if they go on without end; `y` is the relative velocity now.
pub(super) fn limit(system: &System, contacts: &[Contact], steps: &[Step], y: &[f64]) -> Option<Resolution> {
    let longest = (LONGEST * contacts.len()).min(steps.len() / 3);
    let round = (1..=longest).find(|&round| repeats(steps, round))?;
    let [before, last] = [2, 1].map(|back| &steps[steps.len() - back * round..][..round]);
    let ratio = ratio(system, before, last)?;
    let factor = ratio / (1.0 - ratio);
    // The rows that take part, their impulses to come, and whether their velocities vanish.
    let rows: Vec<usize> = {
        let mut rows: Vec<usize> = last.iter().flat_map(|step| step.rows.iter().copied()).collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    };
    let place = |row: usize| rows.binary_search(&row).ok();
    let mut sum = vec![0.0; rows.len()];
    let mut vanishes = vec![true; rows.len()];
    for (old, new) in before.iter().zip(last) {
        for (k, &row) in new.rows.iter().enumerate() {
            let Some(i) = place(row) else { continue };
            sum[i] += factor * new.impulses[k];
            let left = (new.approach[k] - ratio * old.approach[k]).abs();
            vanishes[i] &= left <= VANISHING * (1.0 - ratio) * old.approach[k].abs();
        }
    }
    let impulses = corrected(system, contacts, &rows, &sum, &vanishes, y)?;
    let u = system.reduced_impulse(&rows, &impulses);
    Some(Resolution { rows, impulses, u, limit: true, ..Resolution::default() })
}

/// Whether the last steps were three rounds of this many steps on the same rows.
fn repeats(steps: &[Step], round: usize) -> bool {
    let last = &steps[steps.len() - 3 * round..];
    last.iter().all(|step| !step.limit) && last.iter().zip(&last[round..]).all(|(a, b)| a.rows == b.rows)
}

/// The fraction that the impulses of a round are of those of the round before.
fn ratio(system: &System, before: &[Step], last: &[Step]) -> Option<f64> {
    let pairs = || {
        let both = before.iter().zip(last);
        both.flat_map(|(old, new)| {
            let impulses = old.impulses.iter().zip(&new.impulses);
            new.rows
                .iter()
                .zip(impulses)
                .map(|(&row, (a, b))| (a * system.lengths[row], b * system.lengths[row]))
        })
    };
    let square: f64 = pairs().map(|(a, _)| a * a).sum();
    let ratio = pairs().map(|(a, b)| a * b).sum::<f64>() / square;
    let largest = pairs().fold(0.0, |m: f64, (a, _)| m.max(a.abs()));
    let friction = &system.problem.friction;
    let rubs = last.iter().flat_map(|step| &step.rows).any(|row| friction.iter().any(|f| f.normal == *row));
    let allowed = if rubs { ALIKE_WITH_FRICTION } else { ALIKE };
    let alike = pairs().all(|(a, b)| (b - ratio * a).abs() <= allowed * (1.0 - ratio) * largest);
    (ratio > 0.0 && ratio < 1.0 && alike).then_some(ratio)
}

/// The impulses nearest to a sum after which no velocity is left at the rows where it vanishes.
fn corrected(
    system: &System,
    contacts: &[Contact],
    rows: &[usize],
    sum: &[f64],
    vanishes: &[bool],
    y: &[f64],
) -> Option<Vec<f64>> {
    let place = |row: usize| rows.binary_search(&row).ok();
    let free: Vec<usize> = (0..rows.len()).filter(|&i| vanishes[i] && !system.blocked[rows[i]]).collect();
    if free.is_empty() {
        return None;
    }
    // In unit rows: what one more unit of each free row brings, with the friction of a contact that slides on in proportion.
    let mut brings: Vec<Vec<(usize, f64)>> = free.iter().map(|&i| vec![(i, 1.0)]).collect();
    for contact in contacts {
        let Some(normal) = place(contact.normal) else { continue };
        let Some(column) = free.iter().position(|&i| i == normal) else { continue };
        let push = sum[normal] * system.lengths[rows[normal]];
        for tangent in contact.tangent.iter().filter_map(|&row| place(row)).filter(|&i| !vanishes[i]) {
            let along = sum[tangent] * system.lengths[rows[tangent]];
            if push > 0.0 {
                brings[column].push((tangent, along / push));
            }
        }
    }
    let inner = |i: usize, j: usize| system.rows.inner(rows[i], rows[j]);
    let matrix = DMatrix::from_fn(free.len(), free.len(), |i, j| {
        brings[j].iter().map(|&(k, share)| inner(free[i], k) * share).sum::<f64>()
    });
    let units: Vec<f64> = rows.iter().zip(sum).map(|(&row, p)| p * system.lengths[row]).collect();
    let lack = DVector::from_iterator(
        free.len(),
        free.iter().map(|&i| {
            let made: f64 = units.iter().enumerate().map(|(j, p)| p * inner(i, j)).sum();
            -y[rows[i]] / system.lengths[rows[i]] - made
        }),
    );
    let decomposition = matrix.svd(true, true);
    let largest = decomposition.singular_values.iter().fold(0.0, |m: f64, &x| m.max(x));
    let more = decomposition.solve(&lack, DEPENDENT * largest).ok()?;
    let mut total = units.clone();
    for (column, more) in brings.iter().zip(more.iter()) {
        for &(k, share) in column {
            total[k] += share * more;
        }
    }
    let size = units.iter().fold(0.0, |m: f64, p| m.max(p.abs()));
    let near = units.iter().zip(&total).all(|(a, b)| (a - b).abs() <= CORRECTION * size);
    near.then(|| rows.iter().zip(total).map(|(&row, p)| p / system.lengths[row]).collect())
}
