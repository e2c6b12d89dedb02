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
//! derivatives, which are affine in the accelerations: row · (accelerations) + bias = 0 (`lines`). Unknowns and their rates are
//! in `unknowns`, what the rows do once they are balanced in `forces`.
//!
//! Steps that roll across flats run in σ with dt/dσ = s, the pace ([`flat`](super::flat)), and so do steps in which a slow slip turns
//! ([`slips`](super::slips)): time and the contact points of flats are unknowns too, and all rates, accelerations and forces here are s times what they are in time. Elsewhere s is one.
//!
//! In the coordinates √m v, √I Rᵀω the mass matrix is the unit matrix, which is what [`balance`](crate::integrate::balance) works in.

use nalgebra::Vector3;

use super::flat::Flat;
use super::frame::{BodyFrame, turned};
use super::rows::{Row, columns, write_runs};
use super::slips::StoppedSlips;
use super::{Flow, Mode, Obstacle, Wrench};
use crate::body::State;
use crate::contact::kinematics::Kinematics;
use crate::integrate::balance::{Balance, Failure};

/// Rounding of a row's residual and of a velocity along it, beside the terms that these are the difference of.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

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
    pub placed: Vec<BodyFrame>,
    pub touches: Vec<Kinematics>,
    pub lines: Vec<Row>,
    pub balance: Balance,
    /// The normal of each contact as it was last.
    pub normals: Vec<Option<Vector3<f64>>>,
    /// The first line of each contact.
    pub first_line: Vec<usize>,
    /// The first line of each joint, and one past the last.
    pub first_tie_line: Vec<usize>,
    /// A slip below this has the direction given, not its own.
    pub still: f64,
    /// Whether the slips of contacts that slip are unknowns, what they are, and whether friction keeps the directions given.
    pub carries: bool,
    pub slips: Vec<Vector3<f64>>,
    pub straight: bool,
    /// The forces, λ and friction, to which those of dependent rows are to be nearest; none where there are none.
    pub reference: Vec<(f64, Vector3<f64>)>,
    /// The impulses, of λ and friction, that ended slips at the start of a step; none where nothing did.
    pub kicks: Vec<(f64, Vector3<f64>)>,
    /// The slips that were stopped at the start of a step.
    pub stopped: StoppedSlips,
    /// Whether dependent rows are met as well as they can be: while stages are sought, which meet them only in the end.
    pub lenient: bool,
    /// Whether states are put on the rows before their rates are taken: near a singular configuration (`passage`).
    pub onto: bool,
    /// How much that magnifies the rounding of rates.
    pub magnified: f64,
    /// The time of states placed as such, and of a clock's zero.
    pub time: f64,
    /// The contacts that are nearly flat, and the rows of those that lie: contact, axis, line.
    pub flats: Vec<Option<Flat>>,
    pub flat_rows: Vec<(usize, usize, usize)>,
    /// Whether the step runs by a clock, the rate c that it has where nothing runs, and dt/dσ.
    pub clock: bool,
    pub tempo: f64,
    pub pace: f64,
    /// How fast each slip that turns changes, where the clock follows it; else zero.
    pub slip_tempo: Vec<f64>,
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
            kicks: Vec::new(),
            stopped: StoppedSlips::default(),
            lenient: false,
            onto: false,
            magnified: 1.0,
            time: 0.0,
            flats: vec![None; flow.contacts.len()],
            flat_rows: Vec::new(),
            clock: false,
            tempo: 1.0,
            pace: 1.0,
            slip_tempo: vec![0.0; flow.contacts.len()],
            states: Vec::with_capacity(flow.bodies.len()),
            wrenches: Vec::with_capacity(flow.bodies.len()),
        }
    }

    /// The bodies at given states.
    pub fn place(&mut self, states: &[State]) {
        self.placed.clear();
        let mut slot = 0;
        for (body, state) in self.flow.bodies.iter().zip(states) {
            self.placed.push(BodyFrame::new(body, state, &self.flow.gravity, slot));
            slot += usize::from(!body.fixed);
        }
        self.load(self.time);
    }

    /// Forces besides gravity.
    pub fn load(&mut self, t: f64) {
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

    /// Solves the rows at one level.
    pub fn balance(&mut self, level: Level) -> Result<(), Obstacle> {
        if self.flow.watch.gives_up() {
            return Err(Obstacle::Interrupted);
        }
        let free = self.placed.iter().filter(|p| p.slot.is_some()).count();
        self.balance.clear(6 * free);
        // Where ranks are asked for, and beside flats, whose rows may depend on others as nearly as can be.
        self.balance.dense = self.flow.looped || !self.flat_rows.is_empty();
        for line in &self.lines {
            if level == Level::Position && line.residual.is_none() {
                continue;
            }
            let columns = columns(&self.placed, line);
            write_runs(self.balance.push_blocks(columns), &self.placed, line, &line.parts);
            let (mut value, mut size) = match level {
                Level::Position => (line.residual.unwrap_or(0.0), self.extent(line)),
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
            self.balance.slack[last] = if level == Level::Acceleration { 0.0 } else { ROUNDING * size };
        }
        if level == Level::Acceleration && self.lines.iter().any(|line| line.push.is_some()) {
            let (lines, placed) = (&self.lines, &self.placed);
            self.balance.push_forces(|i, row| {
                write_runs(row, placed, &lines[i], lines[i].push.as_ref().unwrap_or(&lines[i].parts));
            });
        }
        if level == Level::Acceleration {
            self.refer();
        }
        self.balance.solve().map_err(|failure| match failure {
            Failure::Contradiction => Obstacle::Contradiction,
            Failure::Jam => Obstacle::Jam,
        })
    }

    /// What a row's residual is the difference of: places and sizes of its bodies.
    fn extent(&self, line: &Row) -> f64 {
        let of = |b: &usize| self.placed[*b].state.position.amax() + self.flow.lengths[*b];
        line.bodies.iter().flatten().map(of).fold(0.0, f64::max)
    }

    /// Moves the bodies onto the rows to first order, position and then velocity: enough where an iteration does it again.
    pub fn put_on_rows(&mut self, t: f64) -> Result<(), Obstacle> {
        for level in [Level::Position, Level::Velocity] {
            self.touch()?;
            self.balance(level)?;
            for (b, body) in self.flow.bodies.iter().enumerate() {
                let placed = &self.placed[b];
                let (Some(slot), Some((shift, turn))) = (placed.slot, placed.move_by(&self.balance.change))
                else {
                    continue;
                };
                let mut state = placed.state;
                if level == Level::Position {
                    state.position += shift;
                    state.orientation = turned(&state.orientation, &turn);
                } else {
                    state.velocity += shift;
                    state.angular_velocity += turn;
                }
                self.placed[b] = BodyFrame::new(body, &state, &self.flow.gravity, slot);
            }
        }
        self.load(t);
        Ok(())
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

    /// [`System::project`] where slips have just ended: what that takes is part of the contacts' impulses.
    pub fn stop(&mut self, states: &mut [State]) -> Result<(), Obstacle> {
        self.project(states)?;
        self.kicks.resize(self.flow.contacts.len(), (0.0, Vector3::zeros()));
        for i in 0..self.kicks.len() {
            let (normal, friction) = self.force(i);
            self.kicks[i].0 += normal;
            // One that slips on is pushed along its normal alone.
            if self.modes[i] == Mode::Stick {
                self.kicks[i].1 += friction;
            }
        }
        Ok(())
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
