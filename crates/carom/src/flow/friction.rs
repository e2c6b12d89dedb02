//! Which contacts with friction stick and which slip.
//!
//! A contact that slips is pulled by −μλ along its slip. One at rest sticks if the friction f that this takes is at most μλ;
//! otherwise it starts to slip in the direction s of its own acceleration under −μλ s, the one fixed direction of the map
//! from s to the acceleration's. Of several contacts, relaxation ([`friction_cone`](super::friction_cone)) tells which stick and which slip, and
//! gives the forces to which those that are not unique are to be nearest; what then still exceeds its friction is let go, the worst
//! first.
//!
//! A rough contact does not slip, whatever force that takes, unless it would have to be pulled: pressed against its surface, and yet
//! without a force that presses while it does not slip, it has no grip and slips without friction. It grips again at the next event
//! of its group, if the impulse that stops the slip presses.
//!
//! Contacts are points: there is no friction against turning about the normal.

use core::f64::consts::{FRAC_PI_2, TAU};

use nalgebra::{DMatrix, DVector, Unit};

use super::system::{Level, System};
use super::{DenseStep, Flow, Mode, Obstacle};
use crate::body::State;
use crate::contact::Surface;
use crate::joint::across;
use crate::shape::unit;

/// A slip below this is none, relative to the speeds.
pub(super) const STILL: f64 = 1e-13;

/// Rounds in search of directions, and what they may still turn by in the later half of these.
const MOST_DIRECTIONS: u32 = 80;
const VAGUE: f64 = 1e-9;

/// Rounds of Newton's method for directions, and the angle of its differences.
const MOST_SOLVING: u32 = 30;
const SLIGHT: f64 = 1e-7;

/// Contacts whose directions are searched for all around, where there is another way.
const FEW: usize = 2;

/// Rounds of the search all around, and looks in each.
const MOST_SEARCHES: u32 = 20;
const LOOKS: u32 = 64;

/// A force that is none beside the largest, and an acceleration of slip beside those at hand.
const NO_FORCE: f64 = 1e-12;

/// A slip of a rough contact that is rounding, relative to the speeds.
pub(crate) const NO_SLIP: f64 = 1e-9;

/// A force of a rough contact that is none, as an acceleration beside those at hand.
const NO_GRIP: f64 = 1e-9;

/// How far friction may exceed its limit and still stick.
const MARGIN: f64 = 1e-10;

impl Flow {
    /// The mode of every contact at states: slip where there is some, else stick where friction suffices.
    pub(super) fn modes(&self, system: &mut System, states: &[State]) -> Result<Vec<Mode>, Obstacle> {
        if !self.contacts.iter().any(|c| matches!(c.surface, Surface::Coulomb(_))) {
            return Ok(system.modes.clone());
        }
        self.slip_or_stick(system, states)?;
        self.settle_friction(system, states)
    }

    /// Slip where there is some, else stick.
    pub(super) fn slip_or_stick(&self, system: &mut System, states: &[State]) -> Result<(), Obstacle> {
        system.place(states);
        system.touch()?;
        let still = STILL * self.sizes(system).speed;
        for (i, contact) in self.contacts.iter().enumerate() {
            let Surface::Coulomb(coefficient) = contact.surface else { continue };
            let slip = system.touches[i].slip;
            system.modes[i] = if coefficient == 0.0 {
                Mode::Smooth
            } else if slip.norm() > still {
                Mode::Slip { coefficient, along: unit(&slip) }
            } else {
                Mode::Stick
            };
        }
        Ok(())
    }

    /// Which of the contacts that do not slip stick, and in which directions the others start to slip: by relaxation if there are several,
    /// then exactly, the worst first.
    pub(super) fn settle_friction(
        &self,
        system: &mut System,
        states: &[State],
    ) -> Result<Vec<Mode>, Obstacle> {
        system.place(states);
        system.touch()?;
        system.still = STILL * self.sizes(system).speed;
        let rests: Vec<bool> = (0..self.contacts.len())
            .map(|i| {
                matches!(self.contacts[i].surface, Surface::Coulomb(_)) && system.modes[i] == Mode::Stick
            })
            .collect();
        if self.loose > 1 && rests.contains(&true) {
            self.settle_by_relaxing(system)?;
        }
        for _ in 0..=2 * self.contacts.len() {
            self.find_directions(system, &rests)?;
            let mut worst: Option<(f64, usize, Mode)> = None;
            let largest = (0..self.contacts.len()).map(|i| system.force(i).0).fold(0.0, f64::max);
            for (i, contact) in self.contacts.iter().enumerate().filter(|(i, _)| rests[*i]) {
                let Surface::Coulomb(coefficient) = contact.surface else { continue };
                let (pushing, friction) = system.force(i);
                let limit = coefficient * pushing.max(0.0) * (1.0 + MARGIN);
                let excess = friction.norm() - limit - NO_FORCE * largest;
                if system.modes[i] == Mode::Stick && excess > worst.map_or(0.0, |w| w.0) {
                    worst = Some((excess, i, Mode::Slip { coefficient, along: -unit(&friction) }));
                }
            }
            let Some((_, i, mode)) = worst else { break };
            system.modes[i] = mode;
        }
        Ok(system.modes.clone())
    }

    /// Lets go of the grip of rough contacts that slip and would have to pull in order to stop: before a projection. A pull is one
    /// that is more than rounding: where the slip and the normal do not mix, as of a ball, there is none, and the grip holds.
    pub(super) fn slacken_moving(&self, system: &mut System, states: &[State]) -> Result<(), Obstacle> {
        let mut rough = (0..self.loose).filter(|&i| self.contacts[i].surface == Surface::Rough);
        if rough.next().is_none() {
            return Ok(());
        }
        for _ in 0..self.loose {
            system.place(states);
            system.touch()?;
            let moving = NO_SLIP * self.sizes(system).speed;
            system.balance(Level::Velocity)?;
            let push = |i: usize| {
                let line = system.first_line[i];
                system.balance.multipliers[line] * system.balance.response(line)
            };
            let slips = |i: &usize| self.grips(system, *i) && system.touches[*i].slip.norm() > moving;
            let worst = (0..self.loose).filter(slips).min_by(|&a, &b| push(a).total_cmp(&push(b)));
            match worst.filter(|&i| push(i) < -moving) {
                Some(i) => system.modes[i] = Mode::Smooth,
                None => break,
            }
        }
        Ok(())
    }

    /// Lets go of the grip of rough contacts that would have to pull in order not to slip, though they are pressed: friction alone
    /// cannot hold them without a normal force.
    pub(super) fn slacken(&self, system: &mut System, states: &[State]) -> Result<(), Obstacle> {
        let mut parts = vec![false; self.loose];
        loop {
            let worst = if (0..self.loose).any(|i| !parts[i] && self.grips(system, i)) {
                let gripping: Vec<bool> =
                    (0..self.loose).map(|i| !parts[i] && self.grips(system, i)).collect();
                system.place(states);
                self.least_pressed(system, |i| gripping[i])?
            } else {
                None
            };
            let Some(i) = worst else { return Ok(()) };
            system.modes[i] = Mode::Smooth;
            // One that is not pressed without its grip either lifts off.
            if self.least_pressed(system, |other| other == i)?.is_some() {
                system.modes[i] = Mode::Stick;
                parts[i] = true;
            }
        }
    }

    /// The least pressed of some contacts that are not pressed at all, if there are such.
    fn least_pressed(
        &self,
        system: &mut System,
        which: impl Fn(usize) -> bool,
    ) -> Result<Option<usize>, Obstacle> {
        let chosen: Vec<usize> = (0..self.loose).filter(|&i| which(i)).collect();
        system.touch()?;
        system.balance(Level::Acceleration)?;
        let level = NO_GRIP * self.sizes(system).acceleration * system.pace;
        let push = |i: usize| system.force(i).0 * system.balance.response(system.first_line[i]);
        let least = chosen.into_iter().min_by(|&a, &b| push(a).total_cmp(&push(b)));
        Ok(least.filter(|&i| push(i) < level))
    }

    fn grips(&self, system: &System, i: usize) -> bool {
        self.contacts[i].surface == Surface::Rough && system.modes[i] == Mode::Stick
    }

    /// Whether some rough contact slips, for want of a force that presses it.
    #[must_use]
    pub fn is_slack(&self, piece: &DenseStep) -> bool {
        let slack = |i: usize| self.contacts[i].surface == Surface::Rough && piece.modes[i] == Mode::Smooth;
        (0..self.loose).any(slack)
    }

    /// The directions in which contacts at rest start to slip, those of their own accelerations, all together; and the balance of
    /// forces with them.
    fn find_directions(&self, system: &mut System, rests: &[bool]) -> Result<(), Obstacle> {
        let level = NO_FORCE * self.sizes(system).acceleration;
        for round in 0..MOST_DIRECTIONS {
            system.touch()?;
            system.balance(Level::Acceleration)?;
            let mut change: f64 = 0.0;
            // Slower and slower, for those that swing.
            let inertia = libm::ldexp(1.0, (round / 20).cast_signed());
            for i in 0..self.contacts.len() {
                let (true, Mode::Slip { coefficient, along }) = (rests[i], system.modes[i]) else { continue };
                let rate = system.slip_rate(i);
                if rate.norm() <= level * system.pace {
                    continue;
                }
                let towards = unit(&rate);
                let next = unit(&(along * inertia + towards));
                change = change.max((next - along).norm());
                system.modes[i] = Mode::Slip { coefficient, along: next };
            }
            // The direction of a small acceleration has no more digits than the rounding of the large ones it comes from leaves.
            if change < 1e-15 || (round > MOST_DIRECTIONS / 2 && change < VAGUE) {
                return Ok(());
            }
        }
        if self.solve_directions(system, rests)? {
            return Ok(());
        }
        // A search all around each of many contacts is more than a step is worth where something else can go on.
        if self.patience < u32::MAX && rests.iter().filter(|rests| **rests).count() > FEW {
            return Err(Obstacle::Jam);
        }
        self.search_directions(system, rests)
    }

    /// The same by Newton's method in the angles of directions, which turns of small accelerations need. Returns whether it arrived.
    fn solve_directions(&self, system: &mut System, rests: &[bool]) -> Result<bool, Obstacle> {
        let slipping: Vec<usize> =
            (0..self.contacts.len()).filter(|&i| rests[i] && system.slides(i)).collect();
        let count = slipping.len();
        let first = system.modes.clone();
        let mut angles = vec![0.0; count];
        // Across each direction, and along it, of the acceleration.
        let mut rates = |angles: &[f64]| -> Result<Vec<[f64; 2]>, Obstacle> {
            let turned = |place: usize, system: &System| {
                let Mode::Slip { coefficient, along } = first[slipping[place]] else { return None };
                let beside = system.touches[slipping[place]].normal.cross(&along);
                let (sine, cosine) = libm::sincos(angles[place]);
                let along = unit(&(along * cosine + beside * sine));
                Some((coefficient, along, system.touches[slipping[place]].normal.cross(&along)))
            };
            for place in 0..count {
                if let Some((coefficient, along, _)) = turned(place, system) {
                    system.modes[slipping[place]] = Mode::Slip { coefficient, along };
                }
            }
            system.touch()?;
            system.balance(Level::Acceleration)?;
            let of = |place: usize| {
                let rate = system.slip_rate(slipping[place]);
                turned(place, system)
                    .map_or([0.0; 2], |(_, along, beside)| [beside.dot(&rate), along.dot(&rate)])
            };
            Ok((0..count).map(of).collect())
        };
        for _ in 0..MOST_SOLVING {
            let now = rates(&angles)?;
            let mut slopes = DMatrix::zeros(count, count);
            for k in 0..count {
                let mut nudged = angles.clone();
                nudged[k] += SLIGHT;
                for (i, rate) in rates(&nudged)?.iter().enumerate() {
                    slopes[(i, k)] = (rate[0] - now[i][0]) / SLIGHT;
                }
            }
            let beside = DVector::from_iterator(count, now.iter().map(|rate| rate[0]));
            let Some(step) = slopes.lu().solve(&beside) else { break };
            let longest = step.amax();
            let part = if longest > 0.5 { 0.5 / longest } else { 1.0 };
            for k in 0..count {
                angles[k] -= part * step[k];
            }
            if longest < 1e-13 {
                return Ok(rates(&angles)?.iter().all(|rate| rate[1] > 0.0));
            }
        }
        system.modes = first;
        Ok(false)
    }

    /// The same where the iteration swings: contact by contact, all around.
    fn search_directions(&self, system: &mut System, rests: &[bool]) -> Result<(), Obstacle> {
        for _ in 0..MOST_SEARCHES {
            let mut change: f64 = 0.0;
            for i in (0..self.contacts.len()).filter(|&i| rests[i]) {
                let Mode::Slip { coefficient, along } = system.modes[i] else { continue };
                let [one, two] = across(&Unit::new_unchecked(system.touches[i].normal));
                let at = |angle: f64| one * libm::cos(angle) + two * libm::sin(angle);
                // Across the direction, and along it, of the acceleration under friction against it.
                let mut turn = |angle: f64| {
                    let along = at(angle);
                    system.modes[i] = Mode::Slip { coefficient, along };
                    system.touch().ok()?;
                    system.balance(Level::Acceleration).ok()?;
                    let rate = system.slip_rate(i);
                    Some((at(angle + FRAC_PI_2).dot(&rate), along.dot(&rate)))
                };
                let step = TAU / f64::from(LOOKS);
                let mut found: Option<f64> = None;
                let mut last = turn(0.0);
                for k in 1..=LOOKS {
                    let angle = step * f64::from(k);
                    let next = turn(angle);
                    // What is beside the direction turns it back.
                    if let (Some((before, _)), Some((after, _)), None) = (last, next, found)
                        && before >= 0.0
                        && after < 0.0
                    {
                        let (mut low, mut high) = (angle - step, angle);
                        for _ in 0..60 {
                            let middle = 0.5 * (low + high);
                            match turn(middle) {
                                Some((beside, _)) if beside >= 0.0 => low = middle,
                                _ => high = middle,
                            }
                        }
                        found = turn(low).filter(|(_, ahead)| *ahead > 0.0).map(|_| low);
                    }
                    last = next;
                }
                let Some(angle) = found else { return Err(Obstacle::Jam) };
                change = change.max((at(angle) - along).norm());
                system.modes[i] = Mode::Slip { coefficient, along: at(angle) };
            }
            if change < VAGUE {
                system.touch()?;
                return system.balance(Level::Acceleration);
            }
        }
        Err(Obstacle::Jam)
    }
}
