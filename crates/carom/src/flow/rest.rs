//! A group at rest under forces in balance that all push: it stays, and its piece is straight.

use nalgebra::Vector3;

use super::dense_step::{Bounds, DenseStep, Ending};
use super::frame::BodyFrame;
use super::sizes::{ROUNDING, Sizes};
use super::system::{Correction, System};
use super::{Flow, Load, Obstacle};
use crate::body::State;
use crate::contact::Surface;
use crate::integrate::gauss::{Field, Leg};

/// Speeds below this, relative to a fall over the size, are rest where forces are in balance.
const AT_REST: f64 = 1e-14;

impl Flow {
    /// The states and the straight leg of a group at rest under forces in balance that all push. Speeds that are rounding
    /// beside a fall over the size are none.
    pub(super) fn rest(
        &self,
        system: &mut System,
        start: &[State],
        [from, until]: [f64; 2],
        bodies: &[f64],
        sizes: &Sizes,
    ) -> Result<Option<(Vec<State>, Leg)>, Obstacle> {
        let still = |placed: &BodyFrame| {
            let length = sizes.length;
            placed.state.velocity.norm() + length * placed.state.angular_velocity.norm()
                <= AT_REST * sizes.speed
        };
        let timed = self.loads.iter().any(|load| matches!(load, Load::Custom(_)));
        if timed || until.is_nan() || until <= from || !system.placed.iter().all(still) {
            return Ok(None);
        }
        let zero = Vector3::zeros();
        let rested: Vec<State> =
            start.iter().map(|state| State { velocity: zero, angular_velocity: zero, ..*state }).collect();
        let clock = core::mem::replace(&mut system.clock, false);
        system.carries = false;
        system.place(&rested);
        let leg = self.resting_leg(system, &rested, [from, until], bodies, sizes);
        (system.clock, system.carries) = (clock, true);
        if !matches!(leg, Ok(Some(_))) {
            system.place(start);
            system.touch()?;
        }
        Ok(leg?.map(|leg| (rested, leg)))
    }

    fn resting_leg(
        &self,
        system: &mut System,
        rested: &[State],
        [from, until]: [f64; 2],
        bodies: &[f64],
        sizes: &Sizes,
    ) -> Result<Option<Leg>, Obstacle> {
        let mut y = vec![0.0; self.unknowns(0)];
        y[..bodies.len()].copy_from_slice(&self.pack(rested));
        system.pack_kicks(&mut y);
        let mut rate = vec![0.0; y.len()];
        system.rate(from, &y, &mut rate)?;
        if !system.overloaded_flats().is_empty() {
            return Ok(None);
        }
        let level = ROUNDING * sizes.acceleration;
        for (b, placed) in system.placed.iter().enumerate().filter(|(_, placed)| placed.slot.is_some()) {
            let (acceleration, torque) = system.reaction(b);
            let turn = (torque + placed.torque).norm() * self.lengths[b];
            if (placed.acceleration + acceleration).norm() > level
                || turn > level * self.bodies[b].inertia.min()
            {
                return Ok(None);
            }
        }
        for i in 0..self.loose {
            let (pushing, friction) = system.force(i);
            let limit = match self.contacts[i].surface {
                Surface::Coulomb(coefficient) => coefficient * pushing,
                Surface::Smooth | Surface::Rough => f64::INFINITY,
            };
            if pushing < 0.0 || friction.norm() > limit {
                return Ok(None);
            }
        }
        rate[..self.contact_unknown(0, 0)].fill(0.0);
        Ok(Some(Leg::straight(from, until - from, &y, &rate)))
    }

    /// The piece of a group at rest.
    pub(super) fn resting(
        &self,
        system: System,
        rested: Vec<State>,
        leg: Leg,
        given: Correction,
    ) -> DenseStep {
        let none = Bounds { acceleration: 0.0, turning: 0.0 };
        DenseStep {
            from: leg.from,
            until: leg.from + leg.length,
            ending: Ending::Until,
            given,
            drift: Correction { position: 0.0, velocity: 0.0 },
            clock: None,
            last: leg.from + leg.length,
            loose: self.loose,
            flats: system.flats,
            slips: vec![None; self.contacts.len()],
            reference: system.reference,
            modes: system.modes,
            bodies: self.bodies.clone(),
            start: rested.clone(),
            carried: self.pack(&rested),
            end: rested,
            bounds: vec![none; self.bodies.len()],
            contact_base: self.contact_unknown(0, 0),
            joints: self.joint_bases(0),
            next_length: leg.length,
            onto: false,
            near: true,
            passage: None,
            start_rates: Some(vec![0.0; self.contacts.len()]),
            stopped: system.stopped,
            leg,
        }
    }
}
