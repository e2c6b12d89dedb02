//! Which contacts hold and which part: complementarity of forces and accelerations.
//!
//! At g = 0, g' = 0 of every contact,
//!
//! ```text
//! 0 ≤ λ  ⟂  g'' ≥ 0,     g'' = g''_free + W λ
//! ```
//!
//! In coordinates of unit mass this is the shortest change u of the accelerations with C u ≥ −g''_free, the same problem as an
//! impact's ([`impact::active`](crate::impact)): always solvable if any motion keeps the bodies apart, unique in the accelerations
//! at any rank, and with forces that need not be unique. With friction that slides, forces are not along the rows and
//! neither existence nor uniqueness is certain; then contacts are let go and taken back one at a time until all signs are
//! right, for as many rounds as there could be changes.
//!
//! Where λ and g'' both vanish (the paradox; a wall that a body leans on as soon as the group moves) the next derivative decides,
//! with the other contacts held:
//!
//! ```text
//! 0 ≤ λ'  ⟂  g''' ≥ 0,     g''' = g'''_(λ constant) + W λ'
//! ```
//!
//! What that leaves open too, and all such contacts beside friction, joints, loads or flats, is held until it parts.

use super::system::{Level, System};
use super::{Flow, Mode, Obstacle, Part};
use crate::body::State;
use crate::contact::Surface;
use crate::impact::active::{Requirement, nearest};
use crate::metric::Rows;

/// What contacts do from here on.
#[derive(Debug, Clone, PartialEq)]
pub struct Holding {
    /// Which hold.
    pub holds: Vec<bool>,
    /// λ of each; zero where it parts.
    pub forces: Vec<f64>,
    /// g'' of each; zero where it holds.
    pub accelerations: Vec<f64>,
    /// Those with neither: the rate of the force decided, or nothing did, and they are held.
    pub marginal: Vec<bool>,
    /// λ' of those that it decided to hold, else zero.
    pub rates: Vec<f64>,
}

/// Rounding of forces and accelerations here, beside what they are made of.
const LEVEL: f64 = 1e-13;

/// A contact without force in the relaxation parts with an acceleration above this, over the accelerations at hand.
const TRUSTED: f64 = 1e-9;

/// A unit row's rest below this counts as dependent on the others.
const DEPENDENT: f64 = 1e-10;

impl Flow {
    /// The same group with some of its contacts.
    #[must_use]
    pub fn keeping(&self, holds: &[bool]) -> Self {
        let (loose, rolling) = self.contacts.split_at(self.loose);
        let kept = loose.iter().zip(holds).filter(|(_, holds)| **holds).map(|(contact, _)| *contact);
        let mut contacts: Vec<_> = kept.collect();
        let gone = self.loose - contacts.len();
        contacts.extend_from_slice(rolling);
        let joints = self.joints.iter().map(|part| match *part {
            Part::Contact(i) => Part::Contact(i - gone),
            tie @ Part::Tie(_) => tie,
        });
        Self { contacts, loose: self.loose - gone, joints: joints.collect(), ..self.clone() }
    }

    /// Which contacts hold at states with g = 0 and g' = 0 of all of them.
    ///
    /// # Errors
    ///
    /// An obstacle: a contact without surface or rocking on a flat; a contradiction where no motion keeps the bodies apart; a
    /// jam where friction leaves no consistent choice.
    pub fn holding(&self, states: &[State]) -> Result<Holding, Obstacle> {
        if self.loose == 0 {
            return Ok(Holding {
                holds: vec![],
                forces: vec![],
                accelerations: vec![],
                marginal: vec![],
                rates: vec![],
            });
        }
        let mut system = System::new(self, self.modes_without_friction());
        system.place(states);
        system.find_flats(&[]);
        system.touch()?;
        self.slip_or_stick(&mut system, states)?;
        let mut states = states.to_vec();
        self.end_slow_slips(&mut system, &mut states)?;
        let smooth = system.modes.iter().all(|mode| *mode == Mode::Smooth);
        let mut found = if smooth {
            self.without_friction(&mut system)?
        } else {
            self.with_friction(&mut system, &states)?
        };
        if found.marginal.contains(&true) {
            self.settle_marginal(&states, &mut found)?;
        }
        Ok(found)
    }

    /// g'' of a contact if it were let go and the others hold, at states with g = 0 and g' = 0 of all of them.
    ///
    /// # Errors
    ///
    /// An obstacle, as for [`Flow::holding`].
    pub fn acceleration_without(&self, states: &[State], contact: usize) -> Result<f64, Obstacle> {
        let mut system = System::new(self, self.modes_without_friction());
        system.place(states);
        system.find_flats(&[]);
        self.slip_or_stick(&mut system, states)?;
        let others: Vec<bool> = (0..self.loose).map(|i| i != contact).collect();
        let group = self.keeping(&others);
        let kept = (0..system.modes.len()).filter(|&i| i != contact).map(|i| system.modes[i]);
        let mut trial = System::new(&group, kept.collect());
        trial.place(states);
        trial.find_flats(&[]);
        trial.modes = group.settle_friction(&mut trial, states)?;
        trial.touch()?;
        trial.balance(Level::Acceleration)?;
        Ok(system.row_acceleration(contact, &trial) / system.pace)
    }

    fn without_friction(&self, system: &mut System) -> Result<Holding, Obstacle> {
        system.touch()?;
        // The right sides are −g''_free whatever comes of the equalities.
        let _ = system.balance(Level::Acceleration);
        let balance = &system.balance;
        let size = self.size_of_accelerations(system);
        let count = self.loose;
        let lengths: Vec<f64> = (0..balance.count()).map(|i| balance.length(i)).collect();
        let mut rows = Rows::new(balance.dimension());
        let mut requirements = Vec::with_capacity(lengths.len());
        // Contacts first, all smooth here; then the rows of joints, which hold whatever it takes.
        for (i, length) in lengths.iter().enumerate() {
            rows.push(balance.entries(i).map(|(column, c)| (column, c / length)));
            let least = balance.right[i] / length;
            requirements.push(Requirement { row: i, least, equality: i >= count });
        }
        let answer = nearest(&rows, &requirements, DEPENDENT);
        if !answer.feasible {
            return Err(Obstacle::Contradiction);
        }
        let lengths = &lengths[..count];
        // Where a flat is about to be crossed, everything is times the pace of its clock.
        let pace = system.pace;
        let forces: Vec<f64> = answer.p.iter().zip(lengths).map(|(p, length)| p / length / pace).collect();
        let accelerations: Vec<f64> =
            answer.slack.iter().zip(lengths).map(|(s, length)| s * length / pace).collect();
        let level: Vec<f64> = lengths.iter().map(|length| LEVEL * size / (length * length)).collect();
        Ok(Holding::new(forces, accelerations, &level, LEVEL * size))
    }

    fn with_friction(&self, system: &mut System, states: &[State]) -> Result<Holding, Obstacle> {
        let count = self.loose;
        system.place(states);
        system.touch()?;
        // Only its rows are used.
        let _ = system.balance(Level::Acceleration);
        let size = self.size_of_accelerations(system);
        let mut holds = vec![true; count];
        let mut released = vec![false; count];
        if count > 1 {
            system.touch()?;
            let relaxed = self.relax(system, 1.0)?;
            for i in 0..count {
                holds[i] = relaxed.forces[i].0 > 0.0 || relaxed.accelerations[i] <= TRUSTED * size;
            }
        }
        for _ in 0..4 * count + 4 {
            let group = self.keeping(&holds);
            let kept = (0..system.modes.len()).filter(|&i| i >= count || holds[i]).map(|i| system.modes[i]);
            let mut trial = System::new(&group, kept.collect());
            trial.still = system.still;
            trial.place(states);
            trial.find_flats(&[]);
            trial.modes = group.settle_friction(&mut trial, states)?;
            trial.touch()?;
            trial.balance(Level::Acceleration)?;
            let (mut forces, mut accelerations) = (vec![0.0; count], vec![0.0; count]);
            let mut place = 0;
            let mut worst: Option<(f64, usize)> = None;
            let level = LEVEL * size;
            let mut note = |miss: f64, i: usize| {
                if miss > worst.map_or(level, |w| w.0) {
                    worst = Some((miss, i));
                }
            };
            for i in 0..count {
                let row = system.balance.length(system.first_line[i]);
                if holds[i] {
                    forces[i] = trial.force(place).0 / trial.pace;
                    place += 1;
                    note(-forces[i] * row * row, i);
                } else {
                    accelerations[i] = system.row_acceleration(i, &trial) / system.pace;
                    note(-accelerations[i], i);
                }
            }
            match worst {
                Some((_, i)) => {
                    holds[i] = !holds[i];
                    // Rough, it would have to pull in order not to slip; free, it would sink: it has no grip.
                    if holds[i] && released[i] && self.contacts[i].surface == Surface::Rough {
                        system.modes[i] = Mode::Smooth;
                    }
                    released[i] = true;
                }
                None => {
                    let rows = (0..count).map(|i| system.balance.length(system.first_line[i]));
                    let levels: Vec<f64> = rows.map(|row| level / (row * row)).collect();
                    return Ok(Holding::new(forces, accelerations, &levels, level));
                }
            }
        }
        Err(Obstacle::Jam)
    }

    /// Lets the rates of forces decide which marginal contacts hold.
    fn settle_marginal(&self, states: &[State], found: &mut Holding) -> Result<(), Obstacle> {
        let held: Vec<usize> = (0..found.holds.len()).filter(|&i| found.holds[i]).collect();
        if held.iter().any(|&i| !found.marginal[i] && self.contacts[i].surface != Surface::Smooth) {
            return Ok(());
        }
        let group = self.keeping(&found.holds);
        let mut system = System::new(&group, group.modes_without_friction());
        system.place(states);
        system.find_flats(&[]);
        let Some(jerks) = system.gap_jerks()? else { return Ok(()) };
        let lengths: Vec<f64> = (0..held.len()).map(|k| system.balance.length(k)).collect();
        let mut rows = Rows::new(system.balance.dimension());
        let mut requirements = Vec::with_capacity(held.len());
        let mut level: f64 = 0.0;
        for (k, (&i, length)) in held.iter().zip(&lengths).enumerate() {
            rows.push(system.balance.entries(k).map(|(column, c)| (column, c / length)));
            let [jerk, size] = jerks[k];
            requirements.push(Requirement { row: k, least: -jerk / length, equality: !found.marginal[i] });
            level = level.max(LEVEL * size);
        }
        let answer = nearest(&rows, &requirements, DEPENDENT);
        if !answer.feasible {
            return Ok(());
        }
        for (k, (&i, length)) in
            held.iter().zip(&lengths).enumerate().filter(|(_, (i, _))| found.marginal[**i])
        {
            let (rate, jerk) = (answer.p[k] / length, answer.slack[k] * length);
            found.holds[i] = jerk <= level;
            found.rates[i] = if rate * length * length > level { rate } else { 0.0 };
        }
        Ok(())
    }

    /// The size of what the second derivatives of gaps, and of joints, are made of.
    fn size_of_accelerations(&self, system: &System) -> f64 {
        let contact = |line: usize| (0..self.contacts.len()).find(|&i| system.first_line[i] == line);
        let mut size: f64 = 0.0;
        for (k, line) in system.lines.iter().enumerate().filter(|(_, line)| line.residual.is_some()) {
            let bias = match contact(k) {
                // What flats add may be infinite, and passes.
                Some(i) if system.flats[i].is_some() => 0.0,
                Some(i) => system.touches[i].magnitudes[1],
                None => line.bias.abs() / system.pace,
            };
            let parts =
                line.bodies.iter().zip(&line.parts).filter_map(|(body, part)| body.map(|b| (b, part)));
            let sum = parts.map(|(b, [linear, angular])| {
                let placed = &system.placed[b];
                linear.norm() * placed.acceleration.norm() + angular.norm() * placed.spin_rate.norm()
            });
            size = size.max(bias + sum.sum::<f64>());
        }
        size
    }
}

impl Holding {
    fn new(forces: Vec<f64>, accelerations: Vec<f64>, force_level: &[f64], level: f64) -> Self {
        let zero_force = forces.iter().zip(force_level).map(|(force, level)| *force <= *level);
        let parting = accelerations.iter().map(|acceleration| *acceleration > level);
        let holds: Vec<bool> = parting.clone().map(|parting| !parting).collect();
        let marginal: Vec<bool> = zero_force.zip(parting).map(|(zero, parting)| zero && !parting).collect();
        let rates = vec![0.0; marginal.len()];
        Self { holds, forces, accelerations, marginal, rates }
    }
}
