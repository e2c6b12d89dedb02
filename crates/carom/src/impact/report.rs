//! What is true of a result: unique or not, consistent or not, admissible or not, and what the reader should know.

use nalgebra::DVector;

use super::determinacy::Dependence;
use super::note::Note;
use super::options::{Options, Order};
use super::outcome::{Circuit, Energy, FrictionDemand, Outcome, RankMargin, SelfStress, Status};
use super::problem::{Contact, Surface};
use super::resolve::Course;
use super::system::System;
use crate::metric::norm;

/// Everything that is true of the result.
pub(super) fn report(
    system: &System,
    contacts: &[Contact],
    loose: &[usize],
    options: &Options,
    course: Course,
) -> Outcome {
    let problem = system.problem;
    let velocity = course.velocity(system, &course.u);
    let separation: Vec<f64> = (&problem.contacts * &velocity).iter().copied().collect();
    let force = problem.contacts.tr_mul(&DVector::from_column_slice(&course.impulses));
    let bilateral_impulses = system.metric.bilateral_impulses(&force);
    let energy = Energy {
        before: 0.5 * system.speed * system.speed,
        after: 0.5 * system.metric.square(&velocity),
        change: course.change,
    };
    let (rank, rank_margin) = system.rank();
    let rounding = rounding(system, &course, rank_margin);
    let unequal = unequal_circuits(system);
    let blocked: Vec<usize> = (0..problem.contacts.nrows()).filter(|&i| system.blocked[i]).collect();
    let mut notes = Vec::new();
    course.note_steps(system, contacts, loose, options, &mut notes);
    course.note_rows(options, &unequal, &blocked, rank_margin, &mut notes);
    let unique = course.uniqueness(system, contacts, loose, options, &blocked, &mut notes);
    let mut admissible = judge(system, contacts, options, &course, &separation, rounding, &mut notes);
    // Against the work of the impulses, not the energy: a fast frame or bystander hides no gain.
    // Where no digit is vouched for, a gain is still one if it is visible.
    if energy.change > options.tolerance.max(rounding.min(1e-6)) * course.effort {
        admissible = false;
        notes.push(Note::EnergyGained { change: energy.change, before: energy.before });
    }
    let friction_demand = demand(contacts, &course.impulses, unique.impulses, &mut notes);
    Outcome {
        law: options.law,
        status: course.status(),
        velocity_before: system.velocity.iter().copied().collect(),
        velocity: velocity.iter().copied().collect(),
        bilateral_impulses: bilateral_impulses.iter().copied().collect(),
        separation,
        energy,
        rank,
        rank_margin,
        rounding,
        blocked,
        velocity_unique: unique.velocity,
        impulse_unique: unique.impulses,
        consistent: course.residual.is_none(),
        admissible,
        self_stresses: unique.self_stresses,
        unequal_circuits: unequal
            .into_iter()
            .map(|rows| Circuit { restitution: rows.iter().map(|&r| problem.restitution[r]).collect(), rows })
            .collect(),
        impulses: course.impulses,
        approach: course.approach,
        work: course.work,
        steps: course.steps,
        friction: course.friction,
        friction_demand,
        notes,
    }
}

/// What the law determines.
struct Uniqueness {
    velocity: bool,
    impulses: bool,
    /// A basis of the impulses that can be added without changing a velocity.
    self_stresses: Vec<SelfStress>,
}

impl Course {
    /// How the resolution ended.
    fn status(&self) -> Status {
        if self.exhausted {
            Status::StepsExhausted
        } else if self.residual.is_some() {
            Status::Inconsistent
        } else if self.steps.is_empty() {
            Status::NoImpact
        } else {
            Status::Resolved
        }
    }

    /// Notes on how the impact proceeded.
    fn note_steps(
        &self,
        system: &System,
        contacts: &[Contact],
        loose: &[usize],
        options: &Options,
        notes: &mut Vec<Note>,
    ) {
        if let Some(violation) = system.projected {
            notes.push(Note::Projected { violation });
        }
        if self.steps.is_empty() && !self.exhausted {
            notes.push(Note::NoImpact);
        }
        let left_out: Vec<usize> = contacts
            .iter()
            .map(|c| c.normal)
            .filter(|&row| self.approach[row] > system.noise(row, system.speed_of(row)))
            .filter(|&row| !system.blocked[row])
            .filter(|&row| !options.law.acts_on_all() || has_friction(system, row))
            .collect();
        if !self.steps.is_empty() && !left_out.is_empty() {
            notes.push(Note::LeftOut { rows: left_out });
        }
        if self.steps.len() > 1 {
            notes.push(Note::Cascade { steps: self.steps.len() });
        }
        if !self.met_with_friction.is_empty() {
            notes.push(Note::SeveralWithFriction { rows: self.met_with_friction.clone() });
        }
        for &row in &self.locked {
            notes.push(Note::FrictionLocks { row });
        }
        if !loose.is_empty() && !self.steps.is_empty() && !options.law.acts_on_all() {
            notes.push(Note::LooseTangents { rows: loose.to_vec() });
        }
        for contact in contacts {
            if jams_without_approach(system, contact, &self.approach) {
                notes.push(Note::JamWithoutApproach { row: contact.normal });
            }
        }
    }

    /// Notes on the rows: those that contradict one another, those that joints block, and a rank that is not clear.
    fn note_rows(
        &self,
        options: &Options,
        unequal: &[Vec<usize>],
        blocked: &[usize],
        margin: RankMargin,
        notes: &mut Vec<Note>,
    ) {
        if let Some(residual) = self.residual {
            notes.push(Note::Inconsistent { circuits: unequal.to_vec(), residual });
        } else if options.law.acts_on_all() && !unequal.is_empty() {
            notes.push(Note::UnequalCircuits { circuits: unequal.to_vec() });
        }
        if !blocked.is_empty() {
            notes.push(Note::Blocked { rows: blocked.to_vec() });
        }
        if rank_is_unclear(margin) {
            notes.push(Note::RankUnclear { kept: margin.smallest_kept, dropped: margin.largest_dropped });
        }
    }

    /// Whether the law determines the velocity and the impulses; what it leaves open is noted.
    fn uniqueness(
        &self,
        system: &System,
        contacts: &[Contact],
        loose: &[usize],
        options: &Options,
        blocked: &[usize],
        notes: &mut Vec<Note>,
    ) -> Uniqueness {
        let mut velocity = self.residual.is_none() && !self.exhausted;
        if let Some(other) = &self.alternative {
            velocity = false;
            let other = self.velocity(system, other).iter().copied().collect();
            notes.push(Note::PoissonNotUnique { other });
        } else if self.undecided {
            velocity = false;
            notes.push(Note::UniquenessUndecided);
        }
        let mut order_shares = false;
        match self.other_order(system, contacts, loose, options) {
            OtherOrder::Same => {}
            OtherOrder::OtherImpulses => {
                order_shares = true;
                notes.push(Note::OrderSharesImpulses);
            }
            OtherOrder::OtherVelocity(other) => {
                velocity = false;
                notes.push(Note::OrderMatters { other });
            }
        }
        let self_stresses =
            if self.steps.is_empty() { Vec::new() } else { self_stresses(system, self, blocked) };
        if !self_stresses.is_empty() {
            notes.push(Note::ImpulsesUndetermined { dimension: self_stresses.len() });
        }
        let impulses = self_stresses.is_empty() && velocity && !order_shares;
        Uniqueness { velocity, impulses, self_stresses }
    }

    /// What another order would change, where contacts were taken in turn.
    fn other_order(
        &self,
        system: &System,
        contacts: &[Contact],
        loose: &[usize],
        options: &Options,
    ) -> OtherOrder {
        if !self.in_order || contacts.len() < 2 || self.exhausted {
            return OtherOrder::Same;
        }
        // Sequences that converge stop at rounding times the number of their steps.
        let level = 100.0 * options.tolerance;
        let unit = |p: &[f64]| -> Vec<f64> { p.iter().zip(&system.lengths).map(|(p, l)| p * l).collect() };
        let ours = unit(&self.impulses);
        let mut shares = false;
        for order in other_orders(contacts, &options.order, self.steps.len()) {
            let other = Self::run(system, contacts, loose, options, &order);
            let apart: Vec<f64> = other.u.iter().zip(&self.u).map(|(a, b)| a - b).collect();
            if norm(&apart) > level * norm(&self.u) {
                let velocity = self.velocity(system, &other.u).iter().copied().collect();
                return OtherOrder::OtherVelocity(velocity);
            }
            let apart: Vec<f64> = ours.iter().zip(unit(&other.impulses)).map(|(a, b)| a - b).collect();
            shares |= norm(&apart) > level * norm(&ours);
        }
        if shares { OtherOrder::OtherImpulses } else { OtherOrder::Same }
    }
}

/// Orders to try instead of the one asked for: every one of up to four contacts; of more, or in long sequences, the
/// reverse and the rotations of a few.
fn other_orders(contacts: &[Contact], asked: &Order, steps: usize) -> Vec<Order> {
    let given: Vec<usize> = match asked {
        Order::Rows(rows) => rows.clone(),
        _ => contacts.iter().map(|c| c.normal).collect(),
    };
    let n = given.len();
    let mut orders: Vec<Vec<usize>> = vec![given.iter().rev().copied().collect()];
    if *asked == Order::Fastest {
        orders.push(given.clone());
    }
    if n <= 4 && steps <= 50 {
        orders.extend(permutations(&given));
    } else if steps <= 50 {
        orders.extend((1..n.min(8)).map(|k| [&given[k..], &given[..k]].concat()));
    }
    orders.into_iter().map(Order::Rows).collect()
}

/// Every order of a short list.
fn permutations(list: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for &item in list {
        all = all
            .into_iter()
            .flat_map(|partial| {
                (0..=partial.len()).map(move |at| {
                    let mut longer = partial.clone();
                    longer.insert(at, item);
                    longer
                })
            })
            .collect();
    }
    all
}

/// What another order of the contacts changes.
enum OtherOrder {
    Same,
    OtherImpulses,
    OtherVelocity(Vec<f64>),
}

/// Whether a row belongs to a contact with Coulomb friction.
fn has_friction(system: &System, row: usize) -> bool {
    system.problem.friction.iter().any(|f| f.normal == row || f.tangent.contains(&row))
}

/// Circuits among all rows that can move whose coefficients differ.
fn unequal_circuits(system: &System) -> Vec<Vec<usize>> {
    let mut ids = system.free_rows();
    // No equality is asked of a contact with Coulomb friction.
    ids.retain(|&row| !has_friction(system, row));
    let restitution = &system.problem.restitution;
    if ids.iter().all(|&i| restitution[i] == restitution[ids[0]]) {
        return Vec::new();
    }
    Dependence::of(system, &ids).unequal(restitution)
}

/// A basis of the impulses left open: circuits of contacts, blocked rows that took part, dependent joints.
fn self_stresses(system: &System, course: &Course, blocked: &[usize]) -> Vec<SelfStress> {
    let problem = system.problem;
    let rows = problem.contacts.nrows();
    let mut basis = Vec::new();
    let mut push = |contacts: Vec<f64>| {
        let force = problem.contacts.tr_mul(&DVector::from_column_slice(&contacts));
        let bilateral = system.metric.bilateral_impulses(&force).iter().copied().collect();
        basis.push(SelfStress { contacts, bilateral });
    };
    for contacts in independent(&course.circuits, rows) {
        push(contacts);
    }
    for &row in blocked {
        if course.approach[row] <= system.noise(row, system.speed_of(row)) {
            let mut contacts = vec![0.0; rows];
            contacts[row] = 1.0;
            push(contacts);
        }
    }
    for bilateral in system.metric.bilateral_self_stresses() {
        basis.push(SelfStress { contacts: vec![0.0; rows], bilateral });
    }
    basis
}

/// The circuits as impulses of all rows, without those that others combine to.
fn independent(circuits: &[Vec<(usize, f64)>], rows: usize) -> Vec<Vec<f64>> {
    let mut kept: Vec<Vec<f64>> = Vec::new();
    let mut frame: Vec<Vec<f64>> = Vec::new();
    for circuit in circuits {
        let mut contacts = vec![0.0; rows];
        for &(row, coefficient) in circuit {
            contacts[row] = coefficient;
        }
        let mut rest = contacts.clone();
        for _ in 0..2 {
            for q in &frame {
                let along: f64 = q.iter().zip(&rest).map(|(q, x)| q * x).sum();
                rest.iter_mut().zip(q).for_each(|(x, q)| *x -= along * q);
            }
        }
        let length = norm(&rest);
        if length > 1e-9 * norm(&contacts) {
            frame.push(rest.iter().map(|x| x / length).collect());
            kept.push(contacts);
        }
    }
    kept
}

/// The rounding to expect in v⁺, relative to √(2T) of the part it happens in.
fn rounding(system: &System, course: &Course, margin: RankMargin) -> f64 {
    let sizes = course.sizes.iter().zip(&system.part_speeds).filter(|(_, speed)| **speed > 0.0);
    let size = sizes.map(|(size, speed)| size / speed).fold(1.0, f64::max);
    let condition = system.metric.bilateral_condition() * margin.amplification / margin.smallest_kept;
    let level = 64.0 * f64::EPSILON * size * condition;
    // A direction dropped though it is not rounding: then no digit is vouched for.
    if margin.largest_dropped > 1e3 * f64::EPSILON * margin.amplification { level.max(1.0) } else { level }
}

/// Whether singular values stand so near the threshold, or so far above rounding below it, that the rank is a choice.
fn rank_is_unclear(margin: RankMargin) -> bool {
    margin.largest_dropped > 1e3 * f64::EPSILON * margin.amplification
        || margin.smallest_kept < 10.0 * margin.threshold
}

/// Whether all impulses push and nothing keeps closing; what does not hold is noted.
fn judge(
    system: &System,
    contacts: &[Contact],
    options: &Options,
    course: &Course,
    separation: &[f64],
    rounding: f64,
    notes: &mut Vec<Note>,
) -> bool {
    let normals = || contacts.iter().map(|c| c.normal);
    let level = system.sizes(&course.u);
    let mut largest = vec![0.0; system.part_speeds.len()];
    for (row, p) in course.impulses.iter().enumerate() {
        let size: &mut f64 = &mut largest[system.part[row]];
        *size = size.max((p * system.lengths[row]).abs());
    }
    let pulling: Vec<usize> = normals()
        .filter(|&row| {
            course.impulses[row] * system.lengths[row] < -options.tolerance * largest[system.part[row]]
        })
        .collect();
    let closing: Vec<usize> = normals()
        .filter(|&row| !system.blocked[row])
        .filter(|&row| {
            let part = system.part[row];
            let allowed = options.tolerance.min(rounding) * system.lengths[row] * system.part_speeds[part];
            separation[row] < -allowed.max(2.0 * system.noise(row, level[part]))
        })
        .collect();
    let admissible = pulling.is_empty() && closing.is_empty() && !course.exhausted;
    if course.exhausted {
        notes.push(Note::StepsExhausted { steps: course.steps.len(), rows: course.unfinished.clone() });
    }
    if !course.missed.is_empty() && course.residual.is_none() {
        let mut rows = course.missed.clone();
        rows.sort_unstable();
        rows.dedup();
        notes.push(Note::RestitutionMissed { rows });
    }
    if !pulling.is_empty() {
        notes.push(Note::Pulling { rows: pulling });
    }
    if !closing.is_empty() && !course.exhausted {
        notes.push(Note::StillClosing { rows: closing });
    }
    admissible
}

/// The friction coefficients that rough contacts would need from a real surface.
fn demand(
    contacts: &[Contact],
    impulses: &[f64],
    unique: bool,
    notes: &mut Vec<Note>,
) -> Vec<FrictionDemand> {
    let mut demands = Vec::new();
    for contact in contacts.iter().filter(|c| c.surface == Surface::Rough) {
        let tangent = norm(&contact.tangent.iter().map(|&row| impulses[row]).collect::<Vec<_>>());
        let normal = impulses[contact.normal];
        if tangent == 0.0 && normal <= 0.0 {
            continue;
        }
        let coefficient = if normal > 0.0 { tangent / normal } else { f64::INFINITY };
        demands.push(FrictionDemand { normal: contact.normal, coefficient });
        if coefficient > 1.0 {
            notes.push(Note::FrictionDemand { row: contact.normal, coefficient, unique });
        }
    }
    demands
}

/// Whether a contact that touches without closing slides so that its own friction would drive it in (Painlevé).
fn jams_without_approach(system: &System, contact: &Contact, y: &[f64]) -> bool {
    let Surface::Coulomb(coefficient) = contact.surface else { return false };
    let n = contact.normal;
    if system.blocked[n] || y[n].abs() > system.noise(n, system.speed_of(n)) {
        return false;
    }
    let slip = norm(&contact.tangent.iter().map(|&t| y[t]).collect::<Vec<_>>());
    let noise = contact.tangent.iter().map(|&t| system.noise(t, system.speed_of(t))).fold(0.0, f64::max);
    if slip <= noise {
        return false;
    }
    let along: f64 = contact
        .tangent
        .iter()
        .map(|&t| system.lengths[t] / system.lengths[n] * system.rows.inner(n, t) * (y[t] / slip))
        .sum();
    coefficient * along > 1.0
}
