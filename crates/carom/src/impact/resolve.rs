//! The loop: ask the law for a step, apply it, until it has none left; then say what is true of the result.

use nalgebra::{DMatrix, DVector};

use super::determinacy::Dependence;
use super::law::{Law, Resolution, Situation};
use super::outcome::{
    Circuit, Energy, FrictionDemand, FrictionHistory, Note, Outcome, SelfStress, Status, Step,
};
use super::problem::{Contact, Options, Order, Problem, Surface};
use super::system::System;
use crate::error::{Error, Fault, Place};
use crate::metric::norm;

impl Problem {
    /// Resolves the impact.
    ///
    /// ```
    /// use carom::impact::{Options, Problem};
    /// use nalgebra::{dmatrix, dvector};
    /// // A ball of mass 2 meets one of mass 1 at rest; y = v₂ − v₁.
    /// let problem = Problem::new(dmatrix![2.0, 0.0; 0.0, 1.0], dmatrix![-1.0, 1.0], dvector![3.0, 0.0])
    ///     .with_restitution(1.0);
    /// let outcome = problem.solve(&Options::default())?;
    /// assert!((outcome.velocity[0] - 1.0).abs() < 1e-15 && (outcome.velocity[1] - 4.0).abs() < 1e-15);
    /// # Ok::<(), carom::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the problem has no meaning: see [`Fault`]. What the law cannot decide is part of the outcome.
    pub fn solve(&self, options: &Options) -> Result<Outcome, Error> {
        let system = System::new(self, options)?;
        let contacts = self.contact_list();
        let loose: &[usize] = if contacts.len() > 1 { &self.tangential } else { &[] };
        let course = Course::run(&system, &contacts, loose, options, &options.order);
        let outcome = report(&system, &contacts, loose, options, course);
        if outcome_is_finite(&outcome) {
            Ok(outcome)
        } else {
            Err(Error::new(Place::field("mass"), Fault::Unrepresentable))
        }
    }

    /// The Delassus matrix W = N G_A⁻¹ Nᵀ of all contact rows; rows blocked by the joints are exactly zero.
    ///
    /// # Errors
    /// As [`solve`](Self::solve).
    pub fn delassus(&self, options: &Options) -> Result<DMatrix<f64>, Error> {
        let system = System::new(self, options)?;
        finite(system.delassus())
    }

    /// The G-orthogonal projector P on the complement of ker A ∩ ker N (T1).
    ///
    /// # Errors
    /// As [`solve`](Self::solve).
    pub fn projector(&self, options: &Options) -> Result<DMatrix<f64>, Error> {
        let system = System::new(self, options)?;
        finite(system.metric.projector(&system.rows, &system.free_rows()))
    }
}

fn finite(matrix: DMatrix<f64>) -> Result<DMatrix<f64>, Error> {
    if matrix.iter().all(|x| x.is_finite()) {
        Ok(matrix)
    } else {
        Err(Error::new(Place::field("mass"), Fault::Unrepresentable))
    }
}

/// A law carried through: what it did step by step.
struct Course {
    /// The change of the reduced velocity in all.
    u: Vec<f64>,
    /// The sum over the steps of the sizes, in units of √(2T), that leave their rounding in it.
    size: f64,
    approach: Vec<f64>,
    impulses: Vec<f64>,
    work: Vec<f64>,
    change: f64,
    steps: Vec<Step>,
    exhausted: bool,
    residual: Option<f64>,
    circuits: Vec<Vec<(usize, f64)>>,
    shiftable: bool,
    alternative: Option<Vec<f64>>,
    /// Whether contacts were taken one at a time.
    in_order: bool,
    friction: Vec<FrictionHistory>,
    locked: Vec<usize>,
    /// Contacts, friction in at least one of them, that met at once.
    met_with_friction: Vec<usize>,
    /// Rows where the law missed the restitution it promises.
    missed: Vec<usize>,
}

impl Course {
    fn run(system: &System, contacts: &[Contact], loose: &[usize], options: &Options, order: &Order) -> Self {
        let approach: Vec<f64> = (&system.problem.contacts * &system.velocity).iter().copied().collect();
        let rows = approach.len();
        let mut course = Self {
            u: vec![0.0; system.rows.dimension],
            size: system.speed,
            impulses: vec![0.0; rows],
            work: vec![0.0; rows],
            change: 0.0,
            steps: Vec::new(),
            exhausted: false,
            residual: None,
            circuits: Vec::new(),
            shiftable: false,
            alternative: None,
            in_order: false,
            friction: Vec::new(),
            locked: Vec::new(),
            met_with_friction: Vec::new(),
            missed: Vec::new(),
            approach,
        };
        let mut y = course.approach.clone();
        let (mut last, mut stuck) = (None, 0);
        loop {
            let situation = Situation {
                system,
                contacts,
                loose,
                y: &y,
                order,
                termination: options.termination,
                size: course.size,
                steps: course.steps.len(),
                last,
            };
            let Some(resolution) = options.law.step(&situation) else { break };
            if course.steps.len() >= options.step_bound(contacts.len()) {
                course.exhausted = true;
                break;
            }
            // Contacts at the level of rounding, some just above and some just below it, can stand against one
            // another so that nothing moves: then that level is set too low.
            if norm(&resolution.u) <= 16.0 * f64::EPSILON * system.speed {
                if stuck == 4 {
                    break;
                }
                stuck += 1;
                course.size *= 4.0;
                continue;
            }
            last = resolution.single.or(last);
            y = course.apply(system, contacts, resolution, &y, options.law);
            if course.residual.is_some() || y.iter().any(|y| !y.is_finite()) {
                break;
            }
        }
        course
    }

    /// Adds a step; returns y after it.
    fn apply(
        &mut self,
        system: &System,
        contacts: &[Contact],
        resolution: Resolution,
        before: &[f64],
        law: Law,
    ) -> Vec<f64> {
        let Resolution { rows, impulses, u, .. } = resolution;
        for (total, more) in self.u.iter_mut().zip(&u) {
            *total += more;
        }
        // Large impulses that nearly cancel leave more rounding than the velocities they make.
        let largest = rows.iter().zip(&impulses).map(|(&row, p)| (p * system.lengths[row]).abs());
        self.size += system.speed.max(largest.fold(0.0, f64::max));
        let after = system.relative_velocity(&self.approach, &self.u);
        let mut change = 0.0;
        for (k, (&row, &p)) in rows.iter().zip(&impulses).enumerate() {
            let work = match &resolution.friction {
                Some(friction) => friction.work[k],
                None => 0.5 * p * (before[row] + after[row]),
            };
            self.impulses[row] += p;
            self.work[row] += work;
            change += work;
            let wanted = -system.problem.restitution[row] * before[row];
            let allowed = system.tolerance * (system.lengths[row] * system.speed).max(wanted.abs());
            if law.promises_restitution()
                && resolution.friction.is_none()
                && p != 0.0
                && (after[row] - wanted).abs() > allowed
            {
                self.missed.push(row);
            }
        }
        self.change += change;
        self.steps.push(Step {
            approach: rows.iter().map(|&row| before[row]).collect(),
            separation: rows.iter().map(|&row| after[row]).collect(),
            rows,
            impulses,
            energy_change: change,
        });
        self.residual = self.residual.or(resolution.residual);
        self.shiftable |= resolution.shiftable;
        if self.circuits.is_empty() {
            self.circuits = resolution.circuits;
        }
        if self.alternative.is_none()
            && let Some(other) = resolution.alternative
        {
            // The steps before stay as they are.
            self.alternative =
                Some(self.u.iter().zip(&u).zip(other).map(|((all, u), o)| all - u + o).collect());
        }
        self.in_order |= resolution.single.is_some();
        if let Some(friction) = resolution.friction {
            let row = friction.history.normal;
            if friction.locked && !self.locked.contains(&row) {
                self.locked.push(row);
            }
            if !friction.others.is_empty() && self.met_with_friction.is_empty() {
                self.met_with_friction = friction.others.iter().map(|&c| contacts[c].normal).collect();
                self.met_with_friction.push(row);
                self.met_with_friction.sort_unstable();
            }
            self.friction.push(friction.history);
        }
        after
    }

    fn velocity(&self, system: &System, u: &[f64]) -> DVector<f64> {
        let mut velocity = system.velocity.clone();
        system.metric.lift(u, &mut velocity);
        velocity
    }
}

/// Everything that is true of the result.
fn report(
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
    let size = if system.speed > 0.0 { course.size / system.speed } else { 1.0 };
    let condition =
        system.metric.bilateral_condition() * rank_margin.amplification / rank_margin.smallest_kept;
    let rounding = 64.0 * f64::EPSILON * size * condition;
    let consistent = course.residual.is_none();
    let mut notes = Vec::new();
    if let Some(violation) = system.projected {
        notes.push(Note::Projected { violation });
    }
    let acted = !course.steps.is_empty();
    if !acted && !course.exhausted {
        notes.push(Note::NoImpact);
    }
    course.say_how(system, contacts, loose, options, &mut notes);
    let unequal = unequal_circuits(system);
    if let Some(residual) = course.residual {
        notes.push(Note::Inconsistent { circuits: unequal.clone(), residual });
    } else if options.law.acts_on_all() && !unequal.is_empty() {
        notes.push(Note::UnequalCircuits { circuits: unequal.clone() });
    }
    let blocked: Vec<usize> = (0..problem.contacts.nrows()).filter(|&i| system.blocked[i]).collect();
    if !blocked.is_empty() {
        notes.push(Note::Blocked { rows: blocked.clone() });
    }
    let mut velocity_unique = consistent;
    if let Some(other) = &course.alternative {
        velocity_unique = false;
        notes
            .push(Note::PoissonNotUnique { other: course.velocity(system, other).iter().copied().collect() });
    }
    let mut order_shares = false;
    match course.other_order(system, contacts, loose, options) {
        OtherOrder::Same => {}
        OtherOrder::OtherImpulses => {
            order_shares = true;
            notes.push(Note::OrderSharesImpulses);
        }
        OtherOrder::OtherVelocity(other) => {
            velocity_unique = false;
            notes.push(Note::OrderMatters { other });
        }
    }
    let self_stresses = if acted { self_stresses(system, &course, &blocked) } else { Vec::new() };
    let impulse_unique = self_stresses.is_empty() && velocity_unique && !order_shares;
    if !self_stresses.is_empty() {
        notes.push(Note::ImpulsesUndetermined { dimension: self_stresses.len() });
    }
    let admissible = judge(system, contacts, options, &course, &separation, energy, &mut notes);
    let friction_demand = demand(contacts, &course.impulses, impulse_unique, &mut notes);
    let status = if course.exhausted {
        Status::StepsExhausted
    } else if !consistent {
        Status::Inconsistent
    } else if acted {
        Status::Resolved
    } else {
        Status::NoImpact
    };
    Outcome {
        law: options.law,
        status,
        velocity_before: system.velocity.iter().copied().collect(),
        velocity: velocity.iter().copied().collect(),
        impulses: course.impulses,
        bilateral_impulses: bilateral_impulses.iter().copied().collect(),
        approach: course.approach,
        separation,
        work: course.work,
        energy,
        rank,
        rank_margin,
        rounding,
        blocked,
        velocity_unique,
        impulse_unique,
        consistent,
        admissible,
        self_stresses,
        unequal_circuits: unequal
            .into_iter()
            .map(|rows| Circuit { restitution: rows.iter().map(|&r| problem.restitution[r]).collect(), rows })
            .collect(),
        steps: course.steps,
        friction: course.friction,
        friction_demand,
        notes,
    }
}

impl Course {
    /// Notes on how the impact went.
    fn say_how(
        &self,
        system: &System,
        contacts: &[Contact],
        loose: &[usize],
        options: &Options,
        notes: &mut Vec<Note>,
    ) {
        let left_out: Vec<usize> = contacts
            .iter()
            .map(|c| c.normal)
            .filter(|&row| self.approach[row] > system.noise(row, system.speed) && !system.blocked[row])
            .collect();
        if !self.steps.is_empty() && !left_out.is_empty() && !options.law.acts_on_all() {
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

    /// What the reverse order would change, where contacts were taken in turn.
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
        let order = match &options.order {
            Order::Given => Order::Reversed,
            Order::Reversed | Order::Fastest => Order::Given,
            Order::Rows(rows) => Order::Rows(rows.iter().rev().copied().collect()),
        };
        let other = Self::run(system, contacts, loose, options, &order);
        let apart: Vec<f64> = other.u.iter().zip(&self.u).map(|(a, b)| a - b).collect();
        // Sequences that converge stop at rounding times the number of their steps.
        let level = 100.0 * options.tolerance;
        if norm(&apart) > level * norm(&self.u) {
            return OtherOrder::OtherVelocity(self.velocity(system, &other.u).iter().copied().collect());
        }
        let unit = |p: &[f64]| -> Vec<f64> { p.iter().zip(&system.lengths).map(|(p, l)| p * l).collect() };
        let (ours, theirs) = (unit(&self.impulses), unit(&other.impulses));
        let apart: Vec<f64> = ours.iter().zip(&theirs).map(|(a, b)| a - b).collect();
        if norm(&apart) > level * norm(&ours) { OtherOrder::OtherImpulses } else { OtherOrder::Same }
    }
}

/// What the reverse order of the contacts changes.
enum OtherOrder {
    Same,
    OtherImpulses,
    OtherVelocity(Vec<f64>),
}

/// Circuits among all rows that can move whose coefficients differ.
fn unequal_circuits(system: &System) -> Vec<Vec<usize>> {
    let ids = system.free_rows();
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
    if course.shiftable {
        for circuit in &course.circuits {
            let mut contacts = vec![0.0; rows];
            for &(row, coefficient) in circuit {
                contacts[row] = coefficient;
            }
            push(contacts);
        }
    }
    for &row in blocked {
        if course.approach[row] <= system.noise(row, system.speed) {
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

/// Whether all impulses push, nothing keeps closing and no energy is gained; what does not hold is noted.
fn judge(
    system: &System,
    contacts: &[Contact],
    options: &Options,
    course: &Course,
    separation: &[f64],
    energy: Energy,
    notes: &mut Vec<Note>,
) -> bool {
    let size = norm(&course.u);
    let normals = || contacts.iter().map(|c| c.normal);
    let pulling: Vec<usize> = normals()
        .filter(|&row| course.impulses[row] * system.lengths[row] < -options.tolerance * size)
        .collect();
    let speed = system.speed.max(size);
    let closing: Vec<usize> = normals()
        .filter(|&row| !system.blocked[row])
        .filter(|&row| {
            let allowed = options.tolerance * system.lengths[row] * speed;
            separation[row] < -allowed.max(2.0 * system.noise(row, course.size))
        })
        .collect();
    let gained = energy.change > options.tolerance * energy.before;
    let admissible = pulling.is_empty() && closing.is_empty() && !gained && !course.exhausted;
    if course.exhausted {
        notes.push(Note::StepsExhausted { steps: course.steps.len(), rows: closing.clone() });
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
    if gained {
        notes.push(Note::EnergyGained { change: energy.change, before: energy.before });
    }
    admissible
}

/// What rough contacts would need of a real surface.
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
    if system.blocked[n] || y[n].abs() > system.noise(n, system.speed) {
        return false;
    }
    let slip = norm(&contact.tangent.iter().map(|&t| y[t]).collect::<Vec<_>>());
    let noise = contact.tangent.iter().map(|&t| system.noise(t, system.speed)).fold(0.0, f64::max);
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

fn outcome_is_finite(outcome: &Outcome) -> bool {
    let lists = [
        &outcome.velocity,
        &outcome.impulses,
        &outcome.bilateral_impulses,
        &outcome.approach,
        &outcome.separation,
        &outcome.work,
    ];
    lists.iter().all(|list| list.iter().all(|x| x.is_finite()))
        && [outcome.energy.before, outcome.energy.after, outcome.energy.change].iter().all(|x| x.is_finite())
        && outcome.self_stresses.iter().all(|s| s.contacts.iter().chain(&s.bilateral).all(|x| x.is_finite()))
}
