//! The loop: ask the law for a step, apply it, until it has none left.

use nalgebra::DVector;

use super::active::{Requirement, nearest};
use super::law::{Resolution, Situation};
use super::options::{Law, Options, Order};
use super::outcome::{FrictionHistory, Step};
use super::problem::{Contact, Surface};
use super::system::System;
use crate::metric::norm;

/// Once the steps have multiplied the velocities by this, more steps will not end the impact.
const RUNAWAY: f64 = 1e6;

/// A law carried through: what it did step by step.
pub(super) struct Course {
    /// The change of the reduced velocity in all.
    pub(super) u: Vec<f64>,
    /// Of each part, the sum over the steps of the sizes, in units of √(2T), that leave their rounding in it.
    pub(super) sizes: Vec<f64>,
    /// Σ ½|p|(|y⁻| + |y⁺|) over the steps: the scale of energy gained or lost.
    pub(super) effort: f64,
    pub(super) approach: Vec<f64>,
    pub(super) impulses: Vec<f64>,
    pub(super) work: Vec<f64>,
    pub(super) change: f64,
    pub(super) steps: Vec<Step>,
    pub(super) exhausted: bool,
    /// The normals of the contacts that close where the bound on the steps is reached.
    pub(super) unfinished: Vec<usize>,
    pub(super) residual: Option<f64>,
    /// Circuits along which impulses of some step can be shifted.
    pub(super) circuits: Vec<Vec<(usize, f64)>>,
    pub(super) alternative: Option<Vec<f64>>,
    /// Whether there may be one that was not looked for.
    pub(super) undecided: bool,
    /// Whether contacts were taken one at a time.
    pub(super) in_order: bool,
    pub(super) friction: Vec<FrictionHistory>,
    pub(super) locked: Vec<usize>,
    /// Contacts that met at once, friction acting in at least one of them.
    pub(super) met_with_friction: Vec<usize>,
    /// The parts in which contacts were taken in turn because of friction.
    pub(super) in_turn: Vec<usize>,
    /// Rows where the law missed the restitution it promises.
    pub(super) missed: Vec<usize>,
}

impl Course {
    pub(super) fn run(
        system: &System,
        contacts: &[Contact],
        loose: &[usize],
        options: &Options,
        order: &Order,
    ) -> Self {
        let approach: Vec<f64> = (&system.problem.contacts * &system.velocity).iter().copied().collect();
        let rows = approach.len();
        let mut course = Self {
            u: vec![0.0; system.rows.dimension],
            sizes: system.part_speeds.clone(),
            effort: 0.0,
            impulses: vec![0.0; rows],
            work: vec![0.0; rows],
            change: 0.0,
            steps: Vec::new(),
            exhausted: false,
            unfinished: Vec::new(),
            residual: None,
            circuits: Vec::new(),
            alternative: None,
            undecided: false,
            in_order: false,
            friction: Vec::new(),
            locked: Vec::new(),
            met_with_friction: Vec::new(),
            in_turn: Vec::new(),
            missed: Vec::new(),
            approach,
        };
        let mut y = course.approach.clone();
        let (mut last, mut stuck, mut acted) = (None, 0, false);
        loop {
            let situation = Situation {
                system,
                contacts,
                loose,
                y: &y,
                order,
                termination: options.termination,
                sizes: &course.sizes,
                acted,
                last,
                in_turn: &course.in_turn,
            };
            let Some(resolution) = options.law.step(&situation) else { break };
            let grown = |(size, speed): (f64, &f64)| size > RUNAWAY * speed;
            let runaway = course.steps.len() > 1
                && system.sizes(&course.u).into_iter().zip(&system.part_speeds).any(grown);
            let given_up = options.watch.gives_up();
            if course.steps.len() >= options.step_bound(contacts.len()) || given_up || runaway {
                course.exhausted = true;
                let closing = situation.closing_contacts();
                course.unfinished = closing.into_iter().map(|c| contacts[c].normal).collect();
                break;
            }
            // Contacts at the level of rounding, some just above and some just below it, can stand against one
            // another so that nothing moves: then that level is set too low.
            let speed = resolution.rows.iter().map(|&row| system.speed_of(row)).fold(0.0, f64::max);
            if norm(&resolution.u) <= 16.0 * f64::EPSILON * speed {
                if stuck == 4 {
                    break;
                }
                stuck += 1;
                course.sizes.iter_mut().for_each(|size| *size *= 4.0);
                continue;
            }
            acted |= resolution.met.is_none();
            last = resolution.single.or(last);
            y = course.apply(system, resolution, &y, options.law);
            if course.residual.is_some() || y.iter().any(|y| !y.is_finite()) {
                return course;
            }
        }
        if options.law.promises_admissible() && !course.exhausted {
            course.finish(system, contacts, y, options.law);
        }
        course
    }

    /// Takes away the closing that the rounding of many steps, or of large impulses, has hidden: what is left is the rounding of
    /// the velocities themselves, however many the steps.
    ///
    /// The velocity goes to the nearest one with no such contact closing, which is where ever smaller impacts lead. Parts with a
    /// Coulomb contact are left as they are: a push there would take friction too.
    fn finish(&mut self, system: &System, contacts: &[Contact], mut y: Vec<f64>, law: Law) {
        let with_friction = contacts.iter().filter(|contact| matches!(contact.surface, Surface::Coulomb(_)));
        let left: Vec<usize> = with_friction.map(|contact| system.part[contact.normal]).collect();
        // Twice at most in practice: the first leaves its own rounding, which is far smaller.
        for _ in 0..4 {
            let level = system.sizes(&self.u);
            let noise = |row: usize| system.noise(row, level[system.part[row]]);
            let normals: Vec<usize> = contacts
                .iter()
                .map(|contact| contact.normal)
                .filter(|&row| !system.blocked[row] && !left.contains(&system.part[row]))
                .filter(|&row| y[row] <= system.noise(row, self.sizes[system.part[row]]))
                .collect();
            if normals.iter().all(|&row| y[row] >= -noise(row)) {
                return;
            }
            // Rounding itself is not asked for: contacts that face one another may disagree in it.
            let least = |row: usize| -(y[row] + 0.5 * noise(row)) / system.lengths[row];
            let requirements: Vec<Requirement> =
                normals.iter().map(|&row| Requirement { row, least: least(row), equality: false }).collect();
            let found = nearest(&system.rows, &requirements, system.tolerance);
            let impulses = normals.iter().zip(&found.p).map(|(&row, p)| p / system.lengths[row]).collect();
            let resolution = Resolution { rows: normals, impulses, u: found.u, ..Resolution::default() };
            y = self.apply(system, resolution, &y, law);
        }
    }

    /// Adds a step; returns y after it.
    fn apply(&mut self, system: &System, resolution: Resolution, before: &[f64], law: Law) -> Vec<f64> {
        let Resolution { rows, impulses, u, .. } = resolution;
        for (total, more) in self.u.iter_mut().zip(&u) {
            *total += more;
        }
        // Large impulses that nearly cancel leave more rounding than the velocities they make.
        let mut sizes = vec![0.0; self.sizes.len()];
        for (&row, p) in rows.iter().zip(&impulses) {
            let size: &mut f64 = &mut sizes[system.part[row]];
            *size = size.max(system.speed_of(row)).max((p * system.lengths[row]).abs());
        }
        for (total, size) in self.sizes.iter_mut().zip(sizes) {
            *total += size;
        }
        let after = system.relative_velocity(&self.approach, &self.u);
        let mut change = 0.0;
        for (k, (&row, &p)) in rows.iter().zip(&impulses).enumerate() {
            let work = match &resolution.friction {
                Some(friction) => friction.work[k],
                None => 0.5 * p * (before[row] + after[row]),
            };
            self.effort += 0.5 * p.abs() * (before[row].abs() + after[row].abs());
            self.impulses[row] += p;
            self.work[row] += work;
            change += work;
            let wanted = -system.problem.restitution[row] * before[row];
            let allowed = system.tolerance * (system.lengths[row] * system.speed_of(row)).max(wanted.abs());
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
        self.undecided |= resolution.undecided;
        self.circuits.extend(resolution.circuits);
        if self.alternative.is_none()
            && let Some(other) = resolution.alternative
        {
            // The steps before stay as they are.
            self.alternative =
                Some(self.u.iter().zip(&u).zip(other).map(|((all, u), o)| all - u + o).collect());
        }
        self.in_order |= resolution.single.is_some();
        if let Some(met) = resolution.met {
            self.in_turn
                .extend(self.steps.last().and_then(|step| step.rows.first()).map(|&row| system.part[row]));
            if self.met_with_friction.is_empty() {
                self.met_with_friction = met;
            }
        }
        if let Some(friction) = resolution.friction {
            let row = friction.history.normal;
            if friction.locked && !self.locked.contains(&row) {
                self.locked.push(row);
            }
            self.friction.push(friction.history);
        }
        after
    }

    pub(super) fn velocity(&self, system: &System, u: &[f64]) -> DVector<f64> {
        let mut velocity = system.velocity.clone();
        system.metric.lift(u, &mut velocity);
        velocity
    }
}
