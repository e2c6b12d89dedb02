//! Which contacts with friction stick and which slip.
//!
//! A contact that slips is pulled by −μλ along its slip. One at rest sticks if the friction f that this takes is at most μλ;
//! otherwise it starts to slip in the direction s of its own acceleration under −μλ s, the one fixed direction of the map
//! from s to the acceleration's. Of several that would exceed their friction the worst is let go first.

use nalgebra::Vector3;

use super::system::{Level, System};
use super::{Flow, Mode, Obstacle};
use crate::body::State;
use crate::contact::Surface;
use crate::shape::unit;

/// A slip below this is none, relative to the speeds.
pub(super) const STILL: f64 = 1e-13;

/// How far friction may exceed its limit and still stick.
const MARGIN: f64 = 1e-10;

impl Flow {
    /// The mode of every contact at states: slip where there is some, else stick where friction suffices.
    pub(super) fn modes(&self, system: &mut System, states: &[State]) -> Result<Vec<Mode>, Obstacle> {
        if !self.contacts.iter().any(|c| matches!(c.surface, Surface::Coulomb(_))) {
            return Ok(system.modes.clone());
        }
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
        self.settle_friction(system, states)
    }

    /// Lets go, one by one, of the contacts that stick beyond their friction.
    pub(super) fn settle_friction(
        &self,
        system: &mut System,
        states: &[State],
    ) -> Result<Vec<Mode>, Obstacle> {
        system.still = STILL * self.sizes(system).speed;
        for _ in 0..=self.contacts.len() {
            system.place(states);
            system.touch()?;
            system.balance(Level::Acceleration)?;
            let mut worst: Option<(f64, usize, Mode)> = None;
            for (i, contact) in self.contacts.iter().enumerate() {
                let (Surface::Coulomb(coefficient), Mode::Stick) = (contact.surface, system.modes[i]) else {
                    continue;
                };
                let (pushing, friction) = system.force(i);
                let excess = friction.norm() - coefficient * pushing.max(0.0) * (1.0 + MARGIN);
                if excess > worst.map_or(0.0, |w| w.0) {
                    worst = Some((excess, i, Mode::Slip { coefficient, along: -unit(&friction) }));
                }
            }
            let Some((_, i, mode)) = worst else { break };
            system.modes[i] = mode;
            self.find_direction(system, i)?;
        }
        Ok(system.modes.clone())
    }

    /// The direction in which a contact at rest starts to slip: that of its own acceleration.
    fn find_direction(&self, system: &mut System, contact: usize) -> Result<(), Obstacle> {
        for _ in 0..200 {
            let Mode::Slip { coefficient, along } = system.modes[contact] else { return Ok(()) };
            system.touch()?;
            system.balance(Level::Acceleration)?;
            let towards = unit(&system.slip_rate(contact));
            if towards == Vector3::zeros() {
                return Ok(());
            }
            let next = unit(&(along + towards));
            let change = (next - along).norm();
            system.modes[contact] = Mode::Slip { coefficient, along: next };
            if change < 1e-15 {
                return Ok(());
            }
        }
        Err(Obstacle::Jam)
    }
}
