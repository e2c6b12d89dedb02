//! The unknowns of a step, and their rates: the system as the [field](Field) that [`gauss`](crate::integrate::gauss) integrates.
//!
//! In this order: of every free body c, v, q and L; the clock and the points of flats, where a step runs by a clock; the slips
//! that are carried; of every contact ∫λ, the impulse of its friction and the work of that; of every joint the impulse of its
//! force and of its torque.

use core::ops::Range;

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

use super::frame::BodyFrame;
use super::system::{Level, System};
use super::{Flow, Mode, Obstacle};
use crate::body::State;
use crate::contact::Side;
use crate::integrate::gauss::Field;

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

impl System<'_> {
    /// The bodies at given unknowns; the fixed ones stay where they were placed.
    pub fn place_unknowns(&mut self, t: f64, y: &[f64]) {
        for (body, placed) in self.flow.bodies.iter().zip(&mut self.placed) {
            if let Some(slot) = placed.slot {
                let state = unpack(&y[slot * PER_BODY..(slot + 1) * PER_BODY], &body.inertia);
                *placed = BodyFrame::new(body, &state, &self.flow.gravity, slot);
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

    /// Writes the contacts' impulses at the start of a step.
    pub fn pack_kicks(&self, y: &mut [f64]) {
        let extras = self.extras();
        for (i, (normal, friction)) in self.kicks.iter().enumerate() {
            let out = &mut y[self.flow.contact_unknown(extras, i)..];
            out[0] = *normal;
            out[1..4].copy_from_slice(friction.as_slice());
            // The work of all of them together.
            if i == 0 {
                out[4] = -self.stopped.energy;
            }
        }
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
}

impl Field for System<'_> {
    type Obstacle = Obstacle;

    fn size(&self) -> usize {
        self.flow.unknowns(self.extras())
    }

    fn coupled(&self) -> usize {
        self.flow.contact_unknown(self.extras(), 0)
    }

    /// Reactions of joints may have a pole at a singular configuration.
    fn judged(&self) -> usize {
        if self.onto { self.flow.tie_unknown(self.extras(), 0) } else { self.size() }
    }

    fn magnified(&self) -> f64 {
        self.magnified
    }

    /// What is hard about linkages is their singular configurations, where Newton's method fails as well.
    fn stiff(&self) -> bool {
        !self.flow.may_be_singular(self)
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
        if self.onto {
            self.put_on_rows(t)?;
        }
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

impl Flow {
    /// The bodies' unknowns of states.
    pub(super) fn pack(&self, states: &[State]) -> Vec<f64> {
        let mut y = vec![0.0; self.contact_unknown(0, 0)];
        for (slot, (body, state)) in
            self.bodies.iter().zip(states).filter(|(body, _)| !body.fixed).enumerate()
        {
            pack(state, &body.inertia, &mut y[slot * PER_BODY..(slot + 1) * PER_BODY]);
        }
        y
    }

    /// The states of unknowns.
    pub(super) fn unpack(&self, y: &[f64], states: &mut [State]) {
        for (slot, (body, state)) in
            self.bodies.iter().zip(states).filter(|(body, _)| !body.fixed).enumerate()
        {
            *state = unpack(&y[slot * PER_BODY..(slot + 1) * PER_BODY], &body.inertia);
        }
    }

    /// Moves the bodies' unknowns as states moved. Going through the states instead would round the
    /// angular momentum once more at every step, always the same way.
    pub(super) fn shift(&self, y: &mut [f64], before: &[State], after: &[State]) {
        let (before, after) = (self.pack(before), self.pack(after));
        for ((y, before), after) in y.iter_mut().zip(&before).zip(&after) {
            *y += after - before;
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
