//! What the rows do once they are [balanced](System::balance): forces of contacts and joints, the accelerations they make, and the
//! rates of forces.

use nalgebra::Vector3;

use super::rows::NO_DERIVATIVES;
use super::system::{Level, System};
use super::{Mode, Obstacle};
use crate::contact::Side;
use crate::motion::Derivatives;

impl System<'_> {
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

    /// λ' of every contact, where all are smooth: what keeps g''' = 0.
    ///
    /// W λ' = −g''', that of [`System::gap_jerks`].
    pub fn force_rates(&mut self) -> Result<Option<Vec<f64>>, Obstacle> {
        let Some(jerks) = self.gap_jerks()? else { return Ok(None) };
        let multipliers = self.balance.multipliers.clone();
        for (i, [jerk, _]) in jerks.into_iter().enumerate() {
            self.balance.right[i] = -jerk;
            self.balance.noise[i] = f64::INFINITY;
        }
        self.balance.solve().map_err(|_| Obstacle::Contradiction)?;
        let rates = core::mem::replace(&mut self.balance.multipliers, multipliers);
        Ok(Some(rates))
    }

    /// g''' of every contact while the forces λ stay what they are, and the size of what it is made of; where all contacts are smooth
    /// and nothing else acts.
    ///
    /// With forces F = Σ λn and torques τ = Σ λ q×n, and F', τ' those without λ', the bodies' jerks make g'''.
    pub fn gap_jerks(&mut self) -> Result<Option<Vec<[f64; 2]>>, Obstacle> {
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
        let mut jerks = Vec::with_capacity(self.touches.len());
        for i in 0..self.touches.len() {
            let touch = self.contact(i, |b| derivatives[b])?;
            jerks.push([touch.g3, touch.magnitudes[2]]);
        }
        Ok(Some(jerks))
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
}
