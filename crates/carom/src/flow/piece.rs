//! One step of a flow: its states at any time, its forces, bounds for those who ask what it meets, and how it ends.
//!
//! The step's polynomial is good to the accuracy asked for at every time, so a state within costs one sum. The integral of
//! each contact's force is one of the unknowns; the force itself is that unknown's rate, a Legendre series. Its first
//! fall below zero is found from bounds on its bend, so that no short dip is missed, and polished by Newton's method on
//! the force at the state itself. Friction that no longer suffices, and slip that comes to rest, are found in the same way.

use nalgebra::Vector3;

use super::gauss::{Demand, Field, Gauss, Halt, Leg};
use super::series::{MOST_TERMS, first_fall, sum_and_slope};
use super::system::{Correction, Level, PER_BODY, PER_CONTACT, Placed, System, pack, unpack};
use super::{Flow, Mode, Obstacle};
use crate::body::{Body, State};
use crate::contact::Surface;
use crate::shape::unit;

/// How a piece ends, at its `until`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ending {
    /// At the time asked for.
    Until,
    /// Where the accuracy ends the step; it goes on with [`Flow::follow`].
    Step,
    /// A contact's force returns to zero: it lets go. Ends at the piece's start if the contact could only pull.
    LiftOff {
        /// The contact.
        contact: usize,
        /// A bound on the error of the time.
        time_error: f64,
    },
    /// A slip comes to rest.
    Stick {
        /// The contact.
        contact: usize,
        /// A bound on the error of the time.
        time_error: f64,
    },
    /// Sticking would take more friction than there is.
    Slip {
        /// The contact.
        contact: usize,
        /// A bound on the error of the time.
        time_error: f64,
    },
}

/// The force of a contact at an instant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Force {
    /// λ, along the normal.
    pub normal: f64,
    /// The friction on the second side.
    pub friction: Vector3<f64>,
}

/// What bounds a body's motion within a piece.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bounds {
    acceleration: f64,
    turning: f64,
}

/// One step of a flow.
#[derive(Debug, Clone)]
pub struct Piece {
    /// When it begins.
    pub from: f64,
    /// When it ends.
    pub until: f64,
    /// How.
    pub ending: Ending,
    /// How far the states given were from the contacts; rounding, unless they came from elsewhere.
    pub given: Correction,
    /// How far the step's end was from them before it was put back.
    pub drift: Correction,
    leg: Leg,
    modes: Vec<Mode>,
    bodies: Vec<Body>,
    start: Vec<State>,
    end: Vec<State>,
    bounds: Vec<Bounds>,
    contact_base: usize,
    next_length: f64,
    /// λ' at the start.
    start_rates: Option<Vec<f64>>,
}

/// Rounding of a force beside the terms it is the difference of.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// A slip below this is none, relative to the speeds.
const STILL: f64 = 1e-13;

/// How far friction may exceed its limit and still stick.
const MARGIN: f64 = 1e-10;

/// What is watched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Watch {
    LiftOff(usize),
    Slip(usize),
    Stick(usize),
}

/// Sizes of the motion that rounding is measured by.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    length: f64,
    speed: f64,
    acceleration: f64,
}

impl Piece {
    /// A body's state at a time within the piece.
    #[must_use]
    pub fn at(&self, body: usize, t: f64) -> State {
        if t >= self.until {
            return self.end[body];
        }
        if t <= self.from || self.bodies[body].fixed {
            return self.start[body];
        }
        let slot = self.slot(body);
        let mut y = [0.0; PER_BODY];
        self.leg.at(t, slot * PER_BODY..(slot + 1) * PER_BODY, &mut y);
        unpack(&y, &self.bodies[body].inertia)
    }

    /// The states at its start: those given, put on the contacts.
    #[must_use]
    pub fn start(&self) -> &[State] {
        &self.start
    }

    /// The states at its end, on the contacts.
    #[must_use]
    pub fn end(&self) -> &[State] {
        &self.end
    }

    /// What each contact does along its tangent.
    #[must_use]
    pub fn modes(&self) -> &[Mode] {
        &self.modes
    }

    /// The force of a contact at a time within.
    #[must_use]
    pub fn force(&self, contact: usize, t: f64) -> Force {
        let base = self.contact_base + contact * PER_CONTACT;
        let mut rate = [0.0; 4];
        self.leg.rate(t.clamp(self.from, self.until), base..base + 4, &mut rate);
        Force { normal: rate[0], friction: Vector3::new(rate[1], rate[2], rate[3]) }
    }

    /// λ' at a time within: at the start in closed form where all contacts are smooth, elsewhere from the series, which
    /// loses some digits.
    #[must_use]
    pub fn force_rate(&self, contact: usize, t: f64) -> f64 {
        if let Some(rates) = self.start_rates.as_ref().filter(|_| t <= self.from) {
            return rates[contact];
        }
        self.leg.rate_and_slope(t.clamp(self.from, self.until), self.contact_base + contact * PER_CONTACT).1
    }

    /// The integral of a contact's force from the start to a time.
    #[must_use]
    pub fn impulse(&self, contact: usize, t: f64) -> Force {
        let base = self.contact_base + contact * PER_CONTACT;
        let mut sum = [0.0; 4];
        self.leg.at(t.clamp(self.from, self.until), base..base + 4, &mut sum);
        Force { normal: sum[0], friction: Vector3::new(sum[1], sum[2], sum[3]) }
    }

    /// The work of a contact's friction from the start to a time: at most zero.
    #[must_use]
    pub fn friction_work(&self, contact: usize, t: f64) -> f64 {
        let base = self.contact_base + contact * PER_CONTACT + 4;
        let mut sum = [0.0];
        self.leg.at(t.clamp(self.from, self.until), base..base + 1, &mut sum);
        sum[0]
    }

    /// A bound of |c''| of a body over the piece: the sum of its polynomial's coefficients.
    #[must_use]
    pub fn acceleration_bound(&self, body: usize) -> f64 {
        self.bounds[body].acceleration
    }

    /// A bound of |ω'| + |ω|² of a body over the piece, likewise.
    #[must_use]
    pub fn turning_bound(&self, body: usize) -> f64 {
        self.bounds[body].turning
    }

    /// Whether nothing moves, and never will under the forces there are.
    #[must_use]
    pub fn rests(&self) -> bool {
        self.ending == Ending::Until && self.bounds.iter().all(|b| b.acceleration == 0.0 && b.turning == 0.0)
    }

    /// How many times the stages were evaluated.
    #[must_use]
    pub fn iterations(&self) -> u32 {
        self.leg.iterations
    }

    fn slot(&self, body: usize) -> usize {
        self.bodies[..body].iter().filter(|b| !b.fixed).count()
    }
}

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
        self.go(system, &start, from, until, given, None)
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
        self.go(system, &start, piece.until, until, given, before)
    }

    /// The mode of every contact at states: slip where there is some, else stick where friction suffices.
    fn modes(&self, system: &mut System, states: &[State]) -> Result<Vec<Mode>, Obstacle> {
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
    fn settle_friction(&self, system: &mut System, states: &[State]) -> Result<Vec<Mode>, Obstacle> {
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

    /// The sizes of a motion: for contacts just touched.
    fn sizes(&self, system: &System) -> Sizes {
        let mut sizes = Sizes { length: self.length(), speed: 0.0, acceleration: 0.0 };
        for (body, placed) in self.bodies.iter().zip(&system.placed) {
            if body.fixed {
                continue;
            }
            let length = Self::body_length(body);
            let spin = placed.state.angular_velocity.norm();
            sizes.speed = sizes.speed.max(placed.state.velocity.norm() + length * spin);
            let acceleration = placed.acceleration.norm() + length * (placed.spin_rate.norm() + spin * spin);
            sizes.acceleration = sizes.acceleration.max(acceleration);
        }
        for touch in &system.touches {
            sizes.acceleration = sizes.acceleration.max(touch.bias.abs());
        }
        // What rests is as fast as it would fall over its own size.
        sizes.speed = sizes.speed.max(libm::sqrt(sizes.length * sizes.acceleration));
        if sizes.speed == 0.0 {
            sizes.speed = sizes.length;
        }
        sizes
    }

    /// What counts as one for each unknown.
    fn scales(&self, sizes: &Sizes) -> Vec<f64> {
        let mut scales = vec![1.0; self.unknowns()];
        let mut slot = 0;
        let mut heaviest: f64 = 0.0;
        for body in self.bodies.iter().filter(|body| !body.fixed) {
            let length = Self::body_length(body);
            let out = &mut scales[slot * PER_BODY..(slot + 1) * PER_BODY];
            out[..3].fill(length);
            out[3..6].fill(sizes.speed);
            out[10..13].fill(body.inertia.max() * sizes.speed / length);
            heaviest = heaviest.max(body.mass);
            slot += 1;
        }
        for i in 0..self.contacts.len() {
            let base = self.contact_unknown(i);
            scales[base..base + 4].fill(heaviest * sizes.speed);
            scales[base + 4] = heaviest * sizes.speed * sizes.speed;
        }
        scales
    }

    /// One step in given modes.
    fn go(
        &self,
        mut system: System,
        start: &[State],
        from: f64,
        until: f64,
        given: Correction,
        before: Option<&Piece>,
    ) -> Result<Piece, Obstacle> {
        system.place(start);
        system.touch()?;
        let sizes = self.sizes(&system);
        system.still = STILL * sizes.speed;
        let scales = self.scales(&sizes);
        let mut y = vec![0.0; self.unknowns()];
        let mut slot = 0;
        for (body, state) in self.bodies.iter().zip(start).filter(|(body, _)| !body.fixed) {
            pack(state, &body.inertia, &mut y[slot * PER_BODY..(slot + 1) * PER_BODY]);
            slot += 1;
        }
        let mut gauss = self.gauss.clone();
        let mut length = before.map_or(0.2 * sizes.length / sizes.speed, |piece| piece.next_length);
        let halt = |halt: Halt<Obstacle>| match halt {
            Halt::Obstacle(obstacle) => obstacle,
            Halt::Rough => Obstacle::Rough,
        };
        if let Some(leg) = self.rest(&mut system, from, until, &y, &sizes)? {
            return Ok(self.resting(system, start, leg, given));
        }
        // The rounding of an acceleration moves a body by its square of the time: steps no longer than a fall over the
        // size keep that below the rounding of the size.
        let longest = (until - from).max(0.0).min(2.0 * libm::sqrt(sizes.length / sizes.acceleration));
        let (mut leg, mut next_length);
        let mut tries = 0;
        loop {
            let demand = Demand { accuracy: self.accuracy, scales: &scales, length, longest };
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
        slot = 0;
        for (body, state) in self.bodies.iter().zip(&mut end).filter(|(body, _)| !body.fixed) {
            *state = unpack(&y[slot * PER_BODY..(slot + 1) * PER_BODY], &body.inertia);
            slot += 1;
        }
        let drift = system.project(&mut end)?;
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
            start_rates,
        })
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
        if !(until > from) || !system.placed.iter().all(still) {
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
    fn resting(&self, system: System, start: &[State], leg: Leg, given: Correction) -> Piece {
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
            start_rates: Some(vec![0.0; self.contacts.len()]),
            leg,
        }
    }

    /// The first change within a step.
    fn first_event(
        &self,
        system: &mut System,
        gauss: &mut Gauss,
        leg: &Leg,
        sizes: &Sizes,
    ) -> Result<Option<(f64, Ending)>, Obstacle> {
        let mut first: Option<(f64, Ending)> = None;
        for i in 0..self.contacts.len() {
            let watches = match (system.modes[i], self.contacts[i].surface) {
                (Mode::Stick, Surface::Coulomb(_)) => [Some(Watch::LiftOff(i)), Some(Watch::Slip(i))],
                (Mode::Slip { .. }, _) => [Some(Watch::LiftOff(i)), Some(Watch::Stick(i))],
                _ => [Some(Watch::LiftOff(i)), None],
            };
            for watch in watches.into_iter().flatten() {
                if let Some((time, ending)) = self.event(system, gauss, leg, sizes, watch)?
                    && first.is_none_or(|first| time < first.0)
                {
                    first = Some((time, ending));
                }
            }
        }
        Ok(first)
    }

    /// When something watched first falls below zero, if it does.
    fn event(
        &self,
        system: &mut System,
        gauss: &mut Gauss,
        leg: &Leg,
        sizes: &Sizes,
        watch: Watch,
    ) -> Result<Option<(f64, Ending)>, Obstacle> {
        let mut y = vec![0.0; self.unknowns()];
        let mut rate = y.clone();
        let (Watch::LiftOff(contact) | Watch::Slip(contact) | Watch::Stick(contact)) = watch;
        // How much one unit of force moves the gap: from the rows at the step's start.
        system.rate(leg.from, leg.start(), &mut rate)?;
        let row = system.balance.row(system.first_line[contact]);
        let response: f64 = row.iter().map(|c| c * c).sum();
        let force_noise = ROUNDING * sizes.acceleration / response;
        let rounding = match watch {
            Watch::LiftOff(_) => force_noise,
            Watch::Slip(_) => force_noise * force_noise.max(system.force(contact).0.abs()),
            Watch::Stick(_) => system.still,
        };
        let mut series = [0.0; MOST_TERMS];
        let terms = if let Watch::LiftOff(_) = watch {
            let (found, terms) = leg.series(self.contact_unknown(contact));
            series = found;
            terms
        } else {
            let mut values = [0.0; MOST_TERMS];
            for (i, value) in values.iter_mut().enumerate().take(gauss.stages()) {
                let t = leg.time(gauss.nodes()[i]);
                *value = self.watched(system, leg, watch, t, &mut y, &mut rate)?;
            }
            let stages = gauss.stages();
            gauss.analyse(&values[..stages], &mut series);
            stages
        };
        // Below its last coefficients the series says nothing.
        let noise = rounding + 4.0 * (series[terms - 1].abs() + series[terms - 2].abs());
        let Some(x) = first_fall(&series[..terms], noise) else { return Ok(None) };
        let slope_at = |t: f64| {
            let x = 2.0 * ((t - leg.from) / leg.length) - 1.0;
            sum_and_slope(&series[..terms], x).1 * 2.0 / leg.length
        };
        let mut time = leg.time(x).max(leg.from);
        if x > -1.0 {
            for _ in 0..3 {
                let value = self.watched(system, leg, watch, time, &mut y, &mut rate)?;
                let next = (time - value / slope_at(time)).clamp(leg.from, leg.from + leg.length);
                let moved = (next - time).abs();
                if next.is_nan() || moved > 1e-3 * leg.length {
                    break;
                }
                time = next;
                if moved <= f64::EPSILON * time.abs() {
                    break;
                }
            }
        }
        let time_error = (rounding / slope_at(time).abs()).min(leg.length) + 4.0 * f64::EPSILON * time.abs();
        let ending = match watch {
            Watch::LiftOff(_) => Ending::LiftOff { contact, time_error },
            Watch::Slip(_) => Ending::Slip { contact, time_error },
            Watch::Stick(_) => Ending::Stick { contact, time_error },
        };
        Ok(Some((time, ending)))
    }

    /// What is watched, at a time within a step.
    fn watched(
        &self,
        system: &mut System,
        leg: &Leg,
        watch: Watch,
        t: f64,
        y: &mut [f64],
        rate: &mut [f64],
    ) -> Result<f64, Obstacle> {
        leg.at(t, 0..self.unknowns(), y);
        system.rate(t, y, rate)?;
        Ok(match watch {
            Watch::LiftOff(i) => system.force(i).0,
            Watch::Slip(i) => {
                let (pushing, friction) = system.force(i);
                let coefficient = match self.contacts[i].surface {
                    Surface::Coulomb(coefficient) => coefficient,
                    Surface::Smooth | Surface::Rough => f64::INFINITY,
                };
                (coefficient * pushing).powi(2) - friction.norm_squared()
            }
            Watch::Stick(i) => match system.modes[i] {
                Mode::Slip { along, .. } => system.touches[i].slip.dot(&along),
                Mode::Smooth | Mode::Stick => 0.0,
            },
        })
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
