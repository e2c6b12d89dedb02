//! A step of the group: from states on the contacts to a [`Piece`].

use nalgebra::Vector3;

use super::friction::STILL;
use super::gauss::{Demand, Field, Gauss, Halt, Leg};
use super::piece::{Bounds, Ending, Piece};
use super::series::MOST_TERMS;
use super::sizes::{ROUNDING, Sizes};
use super::system::{Correction, PER_BODY, Placed, System, pack, unpack};
use super::{Flow, Mode, Obstacle};
use crate::body::State;
use crate::contact::Surface;
use crate::shape::unit;

impl Flow {
    /// Moves the group on from states at a time, at most until another: one step, ended early where a contact lets go or
    /// friction changes its mode.
    ///
    /// # Errors
    ///
    /// The obstacle, if there is no motion from here.
    pub fn advance(&self, states: &[State], from: f64, until: f64) -> Result<Piece, Obstacle> {
        let mut system = System::new(self, self.modes_without_friction());
        let mut start = states.to_vec();
        let given = system.project(&mut start)?;
        system.modes = self.modes(&mut system, &start)?;
        let unknowns = self.pack(&start);
        self.go(system, &start, unknowns, [from, until], given, None)
    }

    /// Goes on after a piece. After a change of friction it goes on in the new mode; after a lift-off the contact has to be
    /// left out first, by [`Flow::advance`] of another group.
    ///
    /// # Errors
    ///
    /// The obstacle, if there is no motion from here.
    pub fn follow(&self, piece: &Piece, until: f64) -> Result<Piece, Obstacle> {
        let mut system = System::new(self, piece.modes.clone());
        system.place(&piece.end);
        system.touch()?;
        let mut before = Some(piece);
        match piece.ending {
            Ending::Stick { contact, .. } => {
                before = None;
                system.modes[contact] = Mode::Stick;
                system.modes = self.settle_friction(&mut system, &piece.end)?;
            }
            Ending::Slip { contact, .. } => {
                before = None;
                let friction = piece.force(contact, piece.until).friction;
                if let Surface::Coulomb(coefficient) = self.contacts[contact].surface {
                    system.modes[contact] = Mode::Slip { coefficient, along: -unit(&friction) };
                }
            }
            Ending::Until | Ending::Step | Ending::LiftOff { .. } => {}
        }
        for (mode, touch) in system.modes.iter_mut().zip(&system.touches) {
            if let Mode::Slip { along, .. } = mode
                && touch.slip != Vector3::zeros()
                && touch.slip.dot(along) > 0.0
            {
                *along = unit(&touch.slip);
            }
        }
        let mut start = piece.end.clone();
        let given = system.project(&mut start)?;
        let mut unknowns = piece.carried.clone();
        self.shift(&mut unknowns, &piece.end, &start);
        self.go(system, &start, unknowns, [piece.until, until], given, before)
    }

    /// One step in given modes.
    fn go(
        &self,
        mut system: System,
        start: &[State],
        mut y: Vec<f64>,
        [from, until]: [f64; 2],
        given: Correction,
        before: Option<&Piece>,
    ) -> Result<Piece, Obstacle> {
        system.place(start);
        system.touch()?;
        let sizes = self.sizes(&system);
        system.still = STILL * sizes.speed;
        let scales = self.scales(&sizes);
        let mut gauss = self.gauss.clone();
        let mut length = before.map_or(0.2 * sizes.length / sizes.speed, |piece| piece.next_length);
        let halt = |halt: Halt<Obstacle>| match halt {
            Halt::Obstacle(obstacle) => obstacle,
            Halt::Rough => Obstacle::Rough,
        };
        if let Some(leg) = self.rest(&mut system, from, until, &y, &sizes)? {
            return Ok(self.resting(system, start, y, leg, given));
        }
        // The rounding of an acceleration moves a body by its square of the time: steps no longer than a fall over the
        // size keep that below the rounding of the size.
        let longest = (until - from).max(0.0).min(2.0 * libm::sqrt(sizes.length / sizes.acceleration));
        // Where slip begins its direction hangs on differences that the fixed-point iteration cannot follow.
        let begins = |i: usize| {
            matches!(system.modes[i], Mode::Slip { .. }) && system.touches[i].slip.norm() <= system.still
        };
        let implicit = (0..self.contacts.len()).any(begins);
        let (mut leg, mut next_length);
        let mut tries = 0;
        loop {
            let demand = Demand { accuracy: self.accuracy, scales: &scales, length, longest, implicit };
            (leg, next_length) =
                gauss.step(&mut system, from, &y, &demand, before.map(|piece| &piece.leg)).map_err(halt)?;
            // A first step of a length guessed far too short is made again.
            tries += 1;
            if before.is_some() || tries > 2 || leg.length >= longest || next_length < 1.8 * leg.length {
                break;
            }
            length = next_length;
        }
        let (mut end_time, mut ending) = if leg.length >= until - from {
            (until, Ending::Until)
        } else {
            (from + leg.length, Ending::Step)
        };
        if let Some((time, early)) = self.first_event(&mut system, &mut gauss, &leg, &sizes)? {
            (end_time, ending) = (time.min(end_time), early);
        }
        let bounds = self.bounds(&gauss, &leg);
        system.place(start);
        let start_rates = system.force_rates()?;
        let mut end = start.to_vec();
        leg.at(end_time, 0..self.unknowns(), &mut y);
        self.unpack(&y, &mut end);
        let unprojected = end.clone();
        let drift = system.project(&mut end)?;
        self.shift(&mut y, &unprojected, &end);
        Ok(Piece {
            from,
            until: end_time,
            ending,
            given,
            drift,
            leg,
            modes: system.modes,
            bodies: self.bodies.clone(),
            start: start.to_vec(),
            end,
            bounds,
            contact_base: self.contact_unknown(0),
            next_length,
            carried: y,
            start_rates,
        })
    }

    /// The unknowns of states, with no impulse yet.
    fn pack(&self, states: &[State]) -> Vec<f64> {
        let mut y = vec![0.0; self.unknowns()];
        for (slot, (body, state)) in
            self.bodies.iter().zip(states).filter(|(body, _)| !body.fixed).enumerate()
        {
            pack(state, &body.inertia, &mut y[slot * PER_BODY..(slot + 1) * PER_BODY]);
        }
        y
    }

    /// The states of unknowns.
    fn unpack(&self, y: &[f64], states: &mut [State]) {
        for (slot, (body, state)) in
            self.bodies.iter().zip(states).filter(|(body, _)| !body.fixed).enumerate()
        {
            *state = unpack(&y[slot * PER_BODY..(slot + 1) * PER_BODY], &body.inertia);
        }
    }

    /// Moves unknowns as states moved, and starts the impulses anew. Going through the states instead would round the
    /// angular momentum once more at every step, always the same way.
    fn shift(&self, y: &mut [f64], before: &[State], after: &[State]) {
        let (before, after) = (self.pack(before), self.pack(after));
        for ((y, before), after) in y.iter_mut().zip(&before).zip(&after) {
            *y += after - before;
        }
        y[self.contact_unknown(0)..].fill(0.0);
    }

    /// The straight leg of a group at rest under forces in balance that all push.
    fn rest(
        &self,
        system: &mut System,
        from: f64,
        until: f64,
        y: &[f64],
        sizes: &Sizes,
    ) -> Result<Option<Leg>, Obstacle> {
        let still = |placed: &Placed| {
            placed.state.velocity == Vector3::zeros() && placed.state.angular_velocity == Vector3::zeros()
        };
        if until.is_nan() || until <= from || !system.placed.iter().all(still) {
            return Ok(None);
        }
        let mut rate = vec![0.0; self.unknowns()];
        system.rate(from, y, &mut rate)?;
        let level = ROUNDING * sizes.acceleration;
        for (b, placed) in system.placed.iter().enumerate().filter(|(_, placed)| placed.slot.is_some()) {
            let (acceleration, torque) = system.reaction(b);
            let turn = (torque + placed.torque).norm() * Self::body_length(&self.bodies[b]);
            if (placed.acceleration + acceleration).norm() > level
                || turn > level * self.bodies[b].inertia.min()
            {
                return Ok(None);
            }
        }
        for i in 0..self.contacts.len() {
            let (pushing, friction) = system.force(i);
            let limit = match self.contacts[i].surface {
                Surface::Coulomb(coefficient) => coefficient * pushing,
                Surface::Smooth | Surface::Rough => f64::INFINITY,
            };
            if pushing < 0.0 || friction.norm() > limit {
                return Ok(None);
            }
        }
        rate[..self.contact_unknown(0)].fill(0.0);
        Ok(Some(Leg::straight(from, until - from, y, &rate)))
    }

    /// The piece of a group at rest.
    fn resting(&self, system: System, start: &[State], y: Vec<f64>, leg: Leg, given: Correction) -> Piece {
        let none = Bounds { acceleration: 0.0, turning: 0.0 };
        Piece {
            from: leg.from,
            until: leg.from + leg.length,
            ending: Ending::Until,
            given,
            drift: Correction { position: 0.0, velocity: 0.0 },
            modes: system.modes,
            bodies: self.bodies.clone(),
            start: start.to_vec(),
            end: start.to_vec(),
            bounds: vec![none; self.bodies.len()],
            contact_base: self.contact_unknown(0),
            next_length: leg.length,
            carried: y,
            start_rates: Some(vec![0.0; self.contacts.len()]),
            leg,
        }
    }

    /// Bounds of every body's motion over a step.
    fn bounds(&self, gauss: &Gauss, leg: &Leg) -> Vec<Bounds> {
        let stages = gauss.stages();
        let mut slot = 0;
        let mut bounds = Vec::with_capacity(self.bodies.len());
        for body in &self.bodies {
            if body.fixed {
                bounds.push(Bounds { acceleration: 0.0, turning: 0.0 });
                continue;
            }
            let base = slot * PER_BODY;
            slot += 1;
            // ω and ω' at the nodes, component by component.
            let mut spins = [[0.0; MOST_TERMS]; 3];
            let mut rates = [[0.0; MOST_TERMS]; 3];
            let (mut y, mut dy) = ([0.0; PER_BODY], [0.0; PER_BODY]);
            for (i, &x) in gauss.nodes().iter().enumerate() {
                let t = leg.time(x);
                leg.at(t, base..base + PER_BODY, &mut y);
                leg.rate(t, base..base + PER_BODY, &mut dy);
                let state = unpack(&y, &body.inertia);
                let spin = state.angular_velocity;
                let momentum = Vector3::new(y[10], y[11], y[12]);
                let torque = Vector3::new(dy[10], dy[11], dy[12]) - spin.cross(&momentum);
                let local = state.orientation.inverse_transform_vector(&torque).component_div(&body.inertia);
                let rate = state.orientation * local;
                for k in 0..3 {
                    spins[k][i] = spin[k];
                    rates[k][i] = rate[k];
                }
            }
            let most = |values: &[[f64; MOST_TERMS]; 3]| {
                let mut series = [[0.0; MOST_TERMS]; 3];
                for k in 0..3 {
                    gauss.analyse(&values[k][..stages], &mut series[k]);
                }
                bound(&series, stages)
            };
            let (spin, rate) = (most(&spins), most(&rates));
            let velocity = [3, 4, 5].map(|k| leg.series(base + k).0);
            bounds.push(Bounds { acceleration: bound(&velocity, stages), turning: rate + spin * spin });
        }
        bounds
    }
}

/// Σ |a_k| of a vector's series: |P_k| ≤ 1. The last is counted twice for what follows it.
fn bound(series: &[[f64; MOST_TERMS]; 3], terms: usize) -> f64 {
    let length = |k: usize| Vector3::new(series[0][k], series[1][k], series[2][k]).norm();
    let sum: f64 = (0..terms).map(length).sum();
    (sum + length(terms - 1)) * (1.0 + 1e-12)
}
