//! The equations of motion of a group of bodies with rows to keep.
//!
//! Unknowns of every free body are c, v, q (its quaternion) and L, the angular momentum about its centre in world axes:
//!
//! ```text
//! c' = v,   m v' = m g + f + Σ λ_i J_i,   q' = ½ ω q,   L' = τ + Σ λ_i (moment of J_i),   ω = R I⁻¹ Rᵀ L
//! ```
//!
//! so that momentum and angular momentum are linear and quadratic in the unknowns, which Gauss's method keeps to the last
//! rounding, and |q| as well. Of any length of q only the direction is used. The multipliers follow from the rows' second
//! derivatives, which are affine in the accelerations: row · (accelerations) + bias = 0. For the normal of a contact row and
//! bias are g'' ([`contact::kinematics`](crate::contact::kinematics)); where nothing slips, the slip u is kept at zero,
//!
//! ```text
//! t·u' = t·[c₂'' + ω₂'×q + ω₂×(ω₂×q + e₂)] − t·[c₁'' + ω₁'×p + ω₁×(ω₁×p + e₁)]
//! ```
//!
//! with e₁, e₂ the velocities of the contact point over the two bodies; where it slides, friction −μλ u/|u| joins the normal
//! force.
//!
//! Steps that roll across flats run in σ with dt/dσ = s, the pace ([`flat`](super::flat)): time and the contact points of flats
//! are unknowns too, and all rates, accelerations and forces here are s times what they are in time. Elsewhere s is one.
//!
//! In the coordinates √m v, √I Rᵀω the mass matrix is the unit matrix, which is what [`balance`](super::balance) works in.

use core::ops::Range;

use nalgebra::{Matrix3, Quaternion, Unit, UnitQuaternion, Vector3};

use super::balance::{Balance, Failure};
use super::flat::Flat;
use super::gauss::Field;
use super::{Flow, Mode, Obstacle, Wrench};
use crate::body::State;
use crate::contact::Side;
use crate::contact::kinematics::{Facing, Fit, Kinematics, Moving, kinematics};
use crate::gap::{gap, gap_near, gap_to_plane};
use crate::joint::across;
use crate::motion::Derivatives;
use crate::shape::{Shape, unit};

/// Unknowns of a free body.
pub(super) const PER_BODY: usize = 13;

/// Integrals along with each contact: ∫λ, ∫ of the friction on the second side (three), and its work.
pub(super) const PER_CONTACT: usize = 5;

/// Integrals along with each joint: of its force and its torque on the first body.
pub(super) const PER_TIE: usize = 6;

/// Unknowns of a flat that is rolled across: its points in the axes of both bodies.
pub(super) const PER_FLAT: usize = 6;

/// Unknowns of a contact that slips: its slip.
pub(super) const PER_SLIP: usize = 3;

/// A body where it is now, and what it would do without the rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed {
    pub state: State,
    pub axes: Matrix3<f64>,
    /// Its place among the free bodies.
    pub slot: Option<usize>,
    /// 1/√m and 1/√I.
    root_mass: f64,
    root_inertia: Vector3<f64>,
    pub acceleration: Vector3<f64>,
    pub spin_rate: Vector3<f64>,
    pub torque: Vector3<f64>,
}

/// A row to keep: a linear form on the velocities of one or two bodies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    pub bodies: [Option<usize>; 2],
    /// Coefficients of velocity and angular velocity, of each body.
    pub parts: [[Vector3<f64>; 2]; 2],
    /// The same for the force, where it is not along the row.
    pub push: Option<[[Vector3<f64>; 2]; 2]>,
    /// What the row's derivative has besides accelerations.
    pub bias: f64,
    /// What must vanish in position, if the row is the derivative of something.
    pub residual: Option<f64>,
}

/// At which level rows are to be met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Position,
    Velocity,
    Acceleration,
}

/// The group at an instant, and room to work in.
#[derive(Debug, Clone)]
pub(super) struct System<'a> {
    pub flow: &'a Flow,
    pub modes: Vec<Mode>,
    pub placed: Vec<Placed>,
    pub touches: Vec<Kinematics>,
    pub lines: Vec<Line>,
    pub balance: Balance,
    /// The normal of each contact as it was last.
    normals: Vec<Option<Vector3<f64>>>,
    /// The first line of each contact.
    pub first_line: Vec<usize>,
    /// The first line of each joint, and one past the last.
    pub first_tie_line: Vec<usize>,
    /// A slip below this has the direction given, not its own.
    pub still: f64,
    /// Whether the slips of contacts that slip are unknowns, what they are, and whether friction keeps the directions given.
    pub carries: bool,
    pub slips: Vec<Vector3<f64>>,
    straight: bool,
    /// The forces, λ and friction, to which those of dependent rows are to be nearest; none where there are none.
    pub reference: Vec<(f64, Vector3<f64>)>,
    /// Whether dependent rows are met as well as they can be: while stages are sought, which meet them only in the end.
    pub lenient: bool,
    /// The time of states placed as such, and of a clock's zero.
    pub time: f64,
    /// The contacts that are nearly flat, and the rows of those that lie: contact, axis, line.
    pub flats: Vec<Option<Flat>>,
    pub flat_rows: Vec<(usize, usize, usize)>,
    /// Whether the step runs by a clock, the rate c that it has where nothing runs, and dt/dσ.
    pub clock: bool,
    pub tempo: f64,
    pub pace: f64,
    states: Vec<State>,
    wrenches: Vec<Wrench>,
}

impl<'a> System<'a> {
    pub fn new(flow: &'a Flow, modes: Vec<Mode>) -> Self {
        Self {
            flow,
            modes,
            placed: Vec::with_capacity(flow.bodies.len()),
            touches: Vec::with_capacity(flow.contacts.len()),
            lines: Vec::with_capacity(3 * flow.contacts.len()),
            balance: Balance::default(),
            normals: vec![None; flow.contacts.len()],
            first_line: Vec::with_capacity(flow.contacts.len()),
            first_tie_line: Vec::with_capacity(flow.ties.len() + 1),
            still: 0.0,
            carries: false,
            slips: vec![Vector3::zeros(); flow.contacts.len()],
            straight: false,
            reference: Vec::new(),
            lenient: false,
            time: 0.0,
            flats: vec![None; flow.contacts.len()],
            flat_rows: Vec::new(),
            clock: false,
            tempo: 1.0,
            pace: 1.0,
            states: Vec::with_capacity(flow.bodies.len()),
            wrenches: Vec::with_capacity(flow.bodies.len()),
        }
    }

    /// The bodies at given states.
    pub fn place(&mut self, states: &[State]) {
        self.placed.clear();
        let mut slot = 0;
        for (body, state) in self.flow.bodies.iter().zip(states) {
            self.placed.push(Placed::new(body, state, &self.flow.gravity, slot));
            slot += usize::from(!body.fixed);
        }
        self.load(self.time);
    }

    /// Forces besides gravity.
    fn load(&mut self, t: f64) {
        if self.flow.loads.is_empty() {
            return;
        }
        self.states.clear();
        self.states.extend(self.placed.iter().map(|placed| placed.state));
        self.wrenches.clear();
        self.wrenches.resize(self.placed.len(), Wrench::zero());
        for load in &self.flow.loads {
            load.apply(t, &self.states, &mut self.wrenches);
        }
        for (placed, wrench) in self.placed.iter_mut().zip(&self.wrenches) {
            placed.pull(wrench);
        }
    }

    /// The bodies at given unknowns; the fixed ones stay where they were placed.
    pub fn place_unknowns(&mut self, t: f64, y: &[f64]) {
        for (body, placed) in self.flow.bodies.iter().zip(&mut self.placed) {
            if let Some(slot) = placed.slot {
                let state = unpack(&y[slot * PER_BODY..(slot + 1) * PER_BODY], &body.inertia);
                *placed = Placed::new(body, &state, &self.flow.gravity, slot);
            }
        }
        let mut time = t;
        if self.clock {
            let extras = &y[self.flow.contact_unknown(0, 0)..];
            time = self.time + extras[0];
            for (k, flat) in self.flats.iter_mut().flatten().enumerate() {
                let at = &extras[1 + k * PER_FLAT..1 + (k + 1) * PER_FLAT];
                flat.points = [Vector3::new(at[0], at[1], at[2]), Vector3::new(at[3], at[4], at[5])];
            }
        }
        if self.carries {
            let mut at = self.first_slip();
            for i in 0..self.modes.len() {
                if self.slides(i) {
                    self.slips[i] = Vector3::new(y[at], y[at + 1], y[at + 2]);
                    at += PER_SLIP;
                }
            }
        }
        self.load(time);
    }

    /// Whether a contact slips against friction.
    pub fn slides(&self, i: usize) -> bool {
        matches!(self.modes[i], Mode::Slip { .. })
    }

    /// How many unknowns the clock, the points of flats and slips take.
    pub fn extras(&self) -> usize {
        let slips = if self.carries { (0..self.modes.len()).filter(|&i| self.slides(i)).count() } else { 0 };
        self.clock_extras() + PER_SLIP * slips
    }

    /// How many the clock and the points of flats take.
    pub fn clock_extras(&self) -> usize {
        if self.clock { 1 + PER_FLAT * self.flats.iter().flatten().count() } else { 0 }
    }

    /// Where slips stand among the unknowns.
    pub fn first_slip(&self) -> usize {
        self.flow.contact_unknown(0, 0) + self.clock_extras()
    }

    /// The slip of a contact, as it is carried or as the velocities tell.
    pub fn slip(&self, i: usize) -> Vector3<f64> {
        let touch = &self.touches[i];
        if self.carries && self.slides(i) {
            self.slips[i] - touch.normal * touch.normal.dot(&self.slips[i])
        } else {
            touch.slip
        }
    }

    /// Writes the clock's start, the points of flats and slips.
    pub fn pack_extras(&self, y: &mut [f64]) {
        if self.carries {
            let out = y[self.first_slip()..].chunks_mut(PER_SLIP);
            for (i, out) in (0..self.modes.len()).filter(|&i| self.slides(i)).zip(out) {
                out.copy_from_slice(self.slips[i].as_slice());
            }
        }
        if self.clock {
            let base = self.flow.contact_unknown(0, 0);
            y[base] = 0.0;
            for (k, flat) in self.flats.iter().flatten().enumerate() {
                let out = &mut y[base + 1 + k * PER_FLAT..];
                out[..3].copy_from_slice(flat.points[0].as_slice());
                out[3..6].copy_from_slice(flat.points[1].as_slice());
            }
        }
    }

    /// Where everything touches and which rows that makes.
    pub fn touch(&mut self) -> Result<(), Obstacle> {
        self.touches.clear();
        self.lines.clear();
        self.first_line.clear();
        for i in 0..self.flow.contacts.len() {
            let mut touch = self.contact(i, |_| NO_DERIVATIVES)?;
            self.normals[i] = Some(touch.normal);
            self.roll(i, &mut touch);
            self.touches.push(touch);
        }
        self.set_pace();
        for i in 0..self.touches.len() {
            let touch = self.touches[i];
            self.first_line.push(self.lines.len());
            self.contact_lines(i, &touch);
        }
        self.first_tie_line.clear();
        for tie in &self.flow.ties {
            self.first_tie_line.push(self.lines.len());
            tie.lines(&self.placed, &mut self.lines);
        }
        self.first_tie_line.push(self.lines.len());
        self.flat_lines();
        Ok(())
    }

    /// A contact's kinematics under given accelerations.
    fn contact(&self, i: usize, derivatives: impl Fn(usize) -> Derivatives) -> Result<Kinematics, Obstacle> {
        let found = self.kinematics(i, derivatives).ok_or(Obstacle::NoSurface { contact: i })?;
        if self.flats[i].is_none() {
            if found.fit == Fit::Rocking {
                return Err(Obstacle::Rocking { contact: i });
            }
            if !found.bias.is_finite() {
                return Err(Obstacle::NoSurface { contact: i });
            }
        }
        Ok(found)
    }

    /// The kinematics of a contact as it is, whatever it is.
    pub fn plain_contact(&self, i: usize) -> Option<Kinematics> {
        self.kinematics(i, |_| NO_DERIVATIVES)
    }

    fn kinematics(&self, i: usize, derivatives: impl Fn(usize) -> Derivatives) -> Option<Kinematics> {
        let contact = &self.flow.contacts[i];
        let moving = |b: usize| Moving {
            shape: &self.flow.bodies[b].shape,
            state: self.placed[b].state,
            derivatives: derivatives(b),
        };
        let found = match contact.sides {
            [Side::Plane(plane), Side::Body(b)] => {
                let half_space = &self.flow.planes[plane];
                let body = moving(b);
                let mut at = gap_to_plane(body.shape, &body.state.pose(), half_space);
                if let Some(flat) = &self.flats[i] {
                    let point = self.flat_point(flat, b, &at.normal);
                    let lowest = body.state.position + self.placed[b].axes * point;
                    at.points = [lowest, lowest - at.normal * at.gap];
                }
                kinematics(&Facing::Plane(half_space), &body, &at)
            }
            [Side::Body(a), Side::Body(b)] => {
                let first = moving(a);
                let mut second = moving(b);
                second.state.position += contact.offset;
                let sides = [first.state.pose(), second.state.pose()];
                let (one, two) = ((first.shape, &sides[0]), (second.shape, &sides[1]));
                // From the normal of the instant looked at before.
                let mut at = match self.normals[i] {
                    Some(near) => gap_near(one, two, &near),
                    None => gap(one, two),
                }?;
                if let Some(flat) = self.flats[i].as_ref().filter(|_| self.clock) {
                    let axes = [&self.placed[a].axes, &self.placed[b].axes];
                    let out = |k: usize, shape: &Shape| axes[k] * shape.normal(&flat.points[k]);
                    at.normal = unit(&(out(0, first.shape) - out(1, second.shape)));
                    at.points = [
                        first.state.position + axes[0] * flat.points[0],
                        second.state.position + axes[1] * flat.points[1],
                    ];
                }
                kinematics(&Facing::Body(first), &second, &at)
            }
            _ => return None,
        };
        Some(found)
    }

    fn contact_lines(&mut self, i: usize, touch: &Kinematics) {
        let bodies = self.flow.contacts[i].sides.map(|side| match side {
            Side::Body(b) => Some(b),
            Side::Plane(_) => None,
        });
        let [p, q] = touch.arms;
        let parts =
            |direction: &Vector3<f64>| [[-direction, -p.cross(direction)], [*direction, q.cross(direction)]];
        let push = match self.modes[i] {
            Mode::Slip { coefficient, along } => {
                Some(parts(&(touch.normal - self.slide_direction(i, &along) * coefficient)))
            }
            Mode::Smooth | Mode::Stick => None,
        };
        let normal =
            Line { bodies, parts: parts(&touch.normal), push, bias: touch.bias, residual: Some(touch.gap) };
        self.lines.push(normal);
        if self.modes[i] == Mode::Stick {
            let spin =
                |k: usize| bodies[k].map_or_else(Vector3::zeros, |b| self.placed[b].state.angular_velocity);
            let swing = |k: usize| {
                let spin = spin(k);
                spin.cross(&(spin.cross(&touch.arms[k]) * self.pace + touch.rolling[k]))
            };
            let bias = swing(1) - swing(0);
            for tangent in across(&Unit::new_unchecked(touch.normal)) {
                let bias = tangent.dot(&bias);
                self.lines.push(Line { bodies, parts: parts(&tangent), push: None, bias, residual: None });
            }
        }
    }

    /// Solves the rows at one level.
    pub fn balance(&mut self, level: Level) -> Result<(), Obstacle> {
        let free = self.placed.iter().filter(|p| p.slot.is_some()).count();
        self.balance.clear(6 * free);
        for line in &self.lines {
            if level == Level::Position && line.residual.is_none() {
                continue;
            }
            write(self.balance.push(), &self.placed, line, &line.parts);
            let (mut value, mut size) = match level {
                Level::Position => (line.residual.unwrap_or(0.0), 0.0),
                Level::Velocity => (0.0, 0.0),
                Level::Acceleration => (line.bias, line.bias.abs()),
            };
            if level != Level::Position {
                for (body, [linear, angular]) in line.bodies.iter().zip(&line.parts) {
                    let Some(b) = body else { continue };
                    let placed = &self.placed[*b];
                    let (one, two) = if level == Level::Velocity {
                        (linear.dot(&placed.state.velocity), angular.dot(&placed.state.angular_velocity))
                    } else {
                        (
                            linear.dot(&placed.acceleration) * self.pace,
                            angular.dot(&placed.spin_rate) * self.pace,
                        )
                    };
                    value += one + two;
                    size += one.abs() + two.abs();
                }
            }
            let last = self.balance.count() - 1;
            self.balance.right[last] = -value;
            // Dependent rows that are off by rounding, each its own way, are met as well as they can be.
            let strict = level == Level::Acceleration && !self.lenient;
            self.balance.noise[last] = if strict { 1e-12 * size } else { f64::INFINITY };
        }
        if level == Level::Acceleration && self.lines.iter().any(|line| line.push.is_some()) {
            self.balance.sliding = true;
            let d = 6 * free;
            self.balance.pushes.resize(self.lines.len() * d, 0.0);
            for (i, line) in self.lines.iter().enumerate() {
                let row = &mut self.balance.pushes[i * d..(i + 1) * d];
                write(row, &self.placed, line, line.push.as_ref().unwrap_or(&line.parts));
            }
        }
        if level == Level::Acceleration {
            self.refer();
        }
        self.balance.solve().map_err(|failure| match failure {
            Failure::Contradiction => Obstacle::Contradiction,
            Failure::Jam => Obstacle::Jam,
        })
    }

    /// The forces to which those of dependent rows are to be nearest, row by row.
    fn refer(&mut self) {
        for (i, (pushing, friction)) in self.reference.iter().enumerate() {
            let line = self.first_line[i];
            self.balance.reference[line] = pushing * self.pace;
            if self.modes[i] == Mode::Stick {
                for k in 1..3 {
                    self.balance.reference[line + k] =
                        self.lines[line + k].parts[1][0].dot(friction) * self.pace;
                }
            }
        }
    }

    /// The force of a contact after [`System::balance`] at the level of accelerations: λ, and the friction on the
    /// second side.
    pub fn force(&self, i: usize) -> (f64, Vector3<f64>) {
        let line = self.first_line[i];
        let pushing = self.balance.multipliers[line];
        let friction = match self.modes[i] {
            Mode::Smooth => Vector3::zeros(),
            Mode::Slip { coefficient, along } => self.slide_direction(i, &along) * (-coefficient * pushing),
            Mode::Stick => {
                self.lines[line + 1].parts[1][0] * self.balance.multipliers[line + 1]
                    + self.lines[line + 2].parts[1][0] * self.balance.multipliers[line + 2]
            }
        };
        (pushing, friction)
    }

    /// The force and torque of a joint on its first body, likewise.
    pub fn tie_force(&self, tie: usize) -> [Vector3<f64>; 2] {
        let mut sum = [Vector3::zeros(); 2];
        for i in self.first_tie_line[tie]..self.first_tie_line[tie + 1] {
            for k in 0..2 {
                sum[k] += self.lines[i].parts[0][k] * self.balance.multipliers[i];
            }
        }
        sum
    }

    /// The direction of slip, continued through a slip of zero: `along` says which way it was.
    fn slide_direction(&self, i: usize, along: &Vector3<f64>) -> Vector3<f64> {
        let slip = self.slip(i);
        let still = if self.carries { 0.0 } else { self.still };
        if self.straight || slip.norm() <= still {
            let normal = &self.touches[i].normal;
            return unit(&(along - normal * normal.dot(along)));
        }
        let slip = unit(&slip);
        if slip.dot(along) < 0.0 { -slip } else { slip }
    }

    /// u' across the normal, after [`System::balance`] at the level of accelerations.
    pub fn slip_rate(&self, i: usize) -> Vector3<f64> {
        let touch = &self.touches[i];
        let of = |k: usize| {
            let Side::Body(b) = self.flow.contacts[i].sides[k] else { return Vector3::zeros() };
            let placed = &self.placed[b];
            let (acceleration, torque) = self.reaction(b);
            let spin = placed.state.angular_velocity;
            let push =
                placed.axes * placed.axes.tr_mul(&torque).component_mul(&placed.root_inertia.map(|r| r * r));
            placed.acceleration * self.pace
                + acceleration
                + (placed.spin_rate * self.pace + push).cross(&touch.arms[k])
                + spin.cross(&(spin.cross(&touch.arms[k]) * self.pace + touch.rolling[k]))
        };
        let rate = of(1) - of(0);
        rate - touch.normal * touch.normal.dot(&rate)
    }

    /// g'' of one of this system's contacts, times its pace, under the accelerations of another system of the same bodies.
    pub fn row_acceleration(&self, i: usize, other: &System) -> f64 {
        let line = &self.lines[self.first_line[i]];
        let mut value = line.bias;
        for (body, [linear, angular]) in line.bodies.iter().zip(&line.parts) {
            let Some(b) = *body else { continue };
            let placed = &other.placed[b];
            let (acceleration, turn) = other.total_acceleration(b);
            let total = placed.acceleration * other.pace + acceleration;
            value += (linear.dot(&total) + angular.dot(&turn)) * (self.pace / other.pace);
        }
        value
    }

    /// What the rows add to a body's acceleration, and its whole angular acceleration.
    fn total_acceleration(&self, body: usize) -> (Vector3<f64>, Vector3<f64>) {
        let placed = &self.placed[body];
        let (acceleration, torque) = self.reaction(body);
        let push =
            placed.axes * placed.axes.tr_mul(&torque).component_mul(&placed.root_inertia.map(|r| r * r));
        (acceleration, placed.spin_rate * self.pace + push)
    }

    /// What the rows add to a body's acceleration, and the torque they exert.
    pub fn reaction(&self, body: usize) -> (Vector3<f64>, Vector3<f64>) {
        let placed = &self.placed[body];
        let Some(slot) = placed.slot else { return (Vector3::zeros(), Vector3::zeros()) };
        let u = &self.balance.change[6 * slot..6 * slot + 6];
        let turn = Vector3::new(u[3], u[4], u[5]);
        (
            Vector3::new(u[0], u[1], u[2]) * placed.root_mass,
            placed.axes * turn.component_div(&placed.root_inertia),
        )
    }

    /// The rates of the clock and of the points of flats.
    fn write_flat_rates(&self, out: &mut [f64]) {
        out[0] = self.pace;
        let flats = (0..self.flats.len()).filter(|&i| self.flats[i].is_some());
        for (place, i) in flats.enumerate() {
            let out = &mut out[1 + place * PER_FLAT..1 + (place + 1) * PER_FLAT];
            for (k, side) in self.flow.contacts[i].sides.iter().enumerate() {
                let rate = match *side {
                    Side::Body(b) => self.placed[b].axes.tr_mul(&self.touches[i].rolling[k]),
                    Side::Plane(_) => Vector3::zeros(),
                };
                out[3 * k..3 * k + 3].copy_from_slice(rate.as_slice());
            }
        }
    }

    /// The rates of slips: u' across the normal, and what keeps them across it as it turns.
    fn write_slip_rates(&self, out: &mut [f64]) {
        let slips = (0..self.modes.len()).filter(|&i| self.slides(i));
        for (i, out) in slips.zip(out.chunks_mut(PER_SLIP)) {
            let touch = &self.touches[i];
            let mut rate = self.slip_rate(i);
            if let (true, Mode::Slip { along, .. }) = (self.straight, self.modes[i]) {
                rate = along * along.dot(&rate);
            }
            rate -= touch.normal * (touch.normal_rate.dot(&self.slips[i]) * self.pace);
            out.copy_from_slice(rate.as_slice());
        }
    }

    /// λ' of every contact, where all are smooth: what keeps g''' = 0.
    ///
    /// With forces F = Σ λn and torques τ = Σ λ q×n, and F', τ' those without λ', the bodies' jerks make g'''; then
    /// W λ' = −g'''.
    pub fn force_rates(&mut self) -> Result<Option<Vec<f64>>, Obstacle> {
        let plain =
            self.flow.ties.is_empty() && self.flow.loads.is_empty() && self.flats.iter().all(Option::is_none);
        if !plain || self.modes.iter().any(|mode| *mode != Mode::Smooth) {
            return Ok(None);
        }
        self.touch()?;
        self.balance(Level::Acceleration)?;
        let mut derivatives = Vec::with_capacity(self.placed.len());
        for b in 0..self.placed.len() {
            derivatives.push(self.derivatives(b));
        }
        let multipliers = self.balance.multipliers.clone();
        for i in 0..self.touches.len() {
            let touch = self.contact(i, |b| derivatives[b])?;
            self.balance.right[i] = -touch.g3;
            self.balance.noise[i] = f64::INFINITY;
        }
        self.balance.solve().map_err(|_| Obstacle::Contradiction)?;
        let rates = core::mem::replace(&mut self.balance.multipliers, multipliers);
        Ok(Some(rates))
    }

    /// A body's accelerations under the forces of smooth contacts, and its jerks while these forces stay what they are along
    /// their normals.
    fn derivatives(&self, body: usize) -> Derivatives {
        let placed = &self.placed[body];
        if placed.slot.is_none() {
            return NO_DERIVATIVES;
        }
        let (mut force_rate, mut torque, mut torque_rate) =
            (Vector3::zeros(), Vector3::zeros(), Vector3::zeros());
        let spin = placed.state.angular_velocity;
        for (i, touch) in self.touches.iter().enumerate() {
            for (k, sign) in [(0, -1.0), (1, 1.0)] {
                if self.flow.contacts[i].sides[k] != Side::Body(body) {
                    continue;
                }
                let push = sign * self.balance.multipliers[i];
                let arm = &touch.arms[k];
                let arm_rate = spin.cross(arm) + touch.rolling[k];
                force_rate += touch.normal_rate * push;
                torque += arm.cross(&touch.normal) * push;
                torque_rate += (arm_rate.cross(&touch.normal) + arm.cross(&touch.normal_rate)) * push;
            }
        }
        let inverse = placed.root_inertia.map(|r| r * r);
        let to_body = |x: &Vector3<f64>| placed.axes.tr_mul(x);
        let local = to_body(&spin);
        let momentum = local.component_div(&inverse);
        let rate = to_body(&placed.spin_rate) + to_body(&torque).component_mul(&inverse);
        // I ω̇ = τ − ω×M, and its derivative, in body axes; in the world ω'' gains ω×ω'.
        let change = to_body(&(torque_rate - spin.cross(&torque)))
            - rate.cross(&momentum)
            - local.cross(&rate.component_div(&inverse));
        let second = change.component_mul(&inverse);
        let (acceleration, _) = self.reaction(body);
        Derivatives {
            acceleration: placed.acceleration + acceleration,
            jerk: force_rate * (placed.root_mass * placed.root_mass),
            angular_acceleration: placed.axes * rate,
            angular_jerk: placed.axes * (second + local.cross(&rate)),
        }
    }

    /// Moves the bodies onto the rows, position first, then velocity, by the shortest way in the kinetic metric. Returns
    /// how far off they were.
    pub fn project(&mut self, states: &mut [State]) -> Result<Correction, Obstacle> {
        let mut off = Correction { position: 0.0, velocity: 0.0 };
        for round in 0..4 {
            self.place(states);
            self.touch()?;
            let worst =
                self.lines.iter().filter_map(|line| line.residual).fold(0.0, |m: f64, g| m.max(g.abs()));
            if round == 0 {
                off.position = worst;
            } else if round == 3 && worst > 1e-9 * self.flow.length() {
                return Err(Obstacle::Contradiction);
            }
            // The second round only removes what the first, linear one left.
            if worst == 0.0 || (round > 1 && worst < 1e-13 * self.flow.length()) {
                break;
            }
            self.balance(Level::Position)?;
            for (placed, state) in self.placed.iter().zip(states.iter_mut()) {
                let Some((shift, turn)) = placed.move_by(&self.balance.change) else { continue };
                state.position += shift;
                state.orientation = turned(&state.orientation, &turn);
            }
        }
        self.place(states);
        self.touch()?;
        self.balance(Level::Velocity)?;
        off.velocity = self.balance.right.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        for (placed, state) in self.placed.iter().zip(states.iter_mut()) {
            let Some((shift, turn)) = placed.move_by(&self.balance.change) else { continue };
            state.velocity += shift;
            state.angular_velocity += turn;
        }
        self.place(states);
        Ok(off)
    }
}

/// How far states were from the rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correction {
    /// The largest gap, or other residual in position.
    pub position: f64,
    /// The largest velocity along a row.
    pub velocity: f64,
}

const NO_DERIVATIVES: Derivatives = Derivatives {
    acceleration: Vector3::new(0.0, 0.0, 0.0),
    jerk: Vector3::new(0.0, 0.0, 0.0),
    angular_acceleration: Vector3::new(0.0, 0.0, 0.0),
    angular_jerk: Vector3::new(0.0, 0.0, 0.0),
};

impl Placed {
    fn new(body: &crate::body::Body, state: &State, gravity: &Vector3<f64>, slot: usize) -> Self {
        let axes = *state.orientation.to_rotation_matrix().matrix();
        if body.fixed {
            let zero = Vector3::zeros();
            return Self {
                state: State { velocity: zero, angular_velocity: zero, ..*state },
                axes,
                slot: None,
                root_mass: 0.0,
                root_inertia: zero,
                acceleration: zero,
                spin_rate: zero,
                torque: zero,
            };
        }
        let free = Derivatives::new(body, state, gravity);
        Self {
            state: *state,
            axes,
            slot: Some(slot),
            root_mass: 1.0 / libm::sqrt(body.mass),
            root_inertia: body.inertia.map(|i| 1.0 / libm::sqrt(i)),
            acceleration: free.acceleration,
            spin_rate: free.angular_acceleration,
            torque: Vector3::zeros(),
        }
    }

    /// Adds a force and a torque to what it would do without the rows.
    fn pull(&mut self, wrench: &Wrench) {
        if self.slot.is_some() {
            self.acceleration += wrench.force * (self.root_mass * self.root_mass);
            self.torque += wrench.torque;
            let inverse = self.root_inertia.map(|r| r * r);
            self.spin_rate += self.axes * self.axes.tr_mul(&wrench.torque).component_mul(&inverse);
        }
    }

    /// A change in unit-mass coordinates as one of the twist.
    fn move_by(&self, change: &[f64]) -> Option<(Vector3<f64>, Vector3<f64>)> {
        let u = &change[6 * self.slot?..];
        let turn = Vector3::new(u[3], u[4], u[5]).component_mul(&self.root_inertia);
        Some((Vector3::new(u[0], u[1], u[2]) * self.root_mass, self.axes * turn))
    }
}

/// An orientation turned further by a rotation vector.
fn turned(orientation: &UnitQuaternion<f64>, turn: &Vector3<f64>) -> UnitQuaternion<f64> {
    let half = 0.5 * turn.norm();
    // sin x/x, which is one where x is below the root of rounding.
    let ratio = if half < 1e-8 { 1.0 } else { libm::sin(half) / half };
    let further = Quaternion::from_parts(libm::cos(half), turn * (0.5 * ratio));
    UnitQuaternion::new_normalize(further * orientation.into_inner())
}

/// A linear form in unit-mass coordinates.
fn write(row: &mut [f64], placed: &[Placed], line: &Line, parts: &[[Vector3<f64>; 2]; 2]) {
    for (body, [linear, angular]) in line.bodies.iter().zip(parts) {
        let Some(placed) = body.map(|b| &placed[b]) else { continue };
        let Some(slot) = placed.slot else { continue };
        let turn = placed.axes.tr_mul(angular).component_mul(&placed.root_inertia);
        for k in 0..3 {
            row[6 * slot + k] += linear[k] * placed.root_mass;
            row[6 * slot + 3 + k] += turn[k];
        }
    }
}

/// A body's state from its unknowns.
pub(super) fn unpack(y: &[f64], inertia: &Vector3<f64>) -> State {
    let orientation = UnitQuaternion::new_normalize(Quaternion::new(y[6], y[7], y[8], y[9]));
    let momentum = orientation.inverse_transform_vector(&Vector3::new(y[10], y[11], y[12]));
    State {
        position: Vector3::new(y[0], y[1], y[2]),
        velocity: Vector3::new(y[3], y[4], y[5]),
        orientation,
        angular_velocity: orientation * momentum.component_div(inertia),
    }
}

/// A body's unknowns from its state.
pub(super) fn pack(state: &State, inertia: &Vector3<f64>, y: &mut [f64]) {
    let spin = state.orientation.inverse_transform_vector(&state.angular_velocity);
    let momentum = state.orientation * spin.component_mul(inertia);
    let q = state.orientation;
    y[..3].copy_from_slice(state.position.as_slice());
    y[3..6].copy_from_slice(state.velocity.as_slice());
    y[6..10].copy_from_slice(&[q.w, q.i, q.j, q.k]);
    y[10..13].copy_from_slice(momentum.as_slice());
}

impl Field for System<'_> {
    type Obstacle = Obstacle;

    fn size(&self) -> usize {
        self.flow.unknowns(self.extras())
    }

    fn coupled(&self) -> usize {
        self.flow.contact_unknown(self.extras(), 0)
    }

    fn directions(&self) -> Range<usize> {
        let first = self.first_slip();
        first..first + self.extras() - self.clock_extras()
    }

    /// Slips keep the directions given.
    fn soften(&mut self, on: bool) {
        self.straight = on;
    }

    fn rate(&mut self, t: f64, y: &[f64], rate: &mut [f64]) -> Result<(), Obstacle> {
        self.place_unknowns(t, y);
        self.touch()?;
        self.balance(Level::Acceleration)?;
        for (b, placed) in self.placed.iter().enumerate() {
            let Some(slot) = placed.slot else { continue };
            let (acceleration, torque) = self.reaction(b);
            let out = &mut rate[slot * PER_BODY..(slot + 1) * PER_BODY];
            let s = self.pace;
            out[..3].copy_from_slice((placed.state.velocity * s).as_slice());
            out[3..6].copy_from_slice((placed.acceleration * s + acceleration).as_slice());
            // The quaternion as it stands, at whatever length: the length stays what it is.
            let q = &y[slot * PER_BODY + 6..slot * PER_BODY + 10];
            let turn = Quaternion::from_imag(placed.state.angular_velocity * s)
                * Quaternion::new(q[0], q[1], q[2], q[3]);
            out[6..10].copy_from_slice(&[0.5 * turn.w, 0.5 * turn.i, 0.5 * turn.j, 0.5 * turn.k]);
            out[10..13].copy_from_slice((placed.torque * s + torque).as_slice());
        }
        let extras = self.extras();
        if self.clock {
            self.write_flat_rates(&mut rate[self.flow.contact_unknown(0, 0)..]);
        }
        if self.carries {
            let from = self.first_slip();
            self.write_slip_rates(&mut rate[from..]);
        }
        let base = self.flow.contact_unknown(extras, 0);
        for i in 0..self.flow.contacts.len() {
            let (pushing, friction) = self.force(i);
            let out = &mut rate[base + i * PER_CONTACT..base + (i + 1) * PER_CONTACT];
            out[0] = pushing;
            out[1..4].copy_from_slice(friction.as_slice());
            out[4] = friction.dot(&self.slip(i));
        }
        for i in 0..self.flow.ties.len() {
            let base = self.flow.tie_unknown(extras, i);
            let [force, torque] = self.tie_force(i);
            rate[base..base + 3].copy_from_slice(force.as_slice());
            rate[base + 3..base + 6].copy_from_slice(torque.as_slice());
        }
        if rate.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(Obstacle::NotFinite) }
    }
}
