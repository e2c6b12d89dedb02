//! Where the group touches, and the rows that its contacts make.
//!
//! For the normal of a contact row and bias are g'' ([`contact::kinematics`](crate::contact::kinematics)); where nothing slips,
//! the slip u is kept at zero,
//!
//! ```text
//! t·u' = t·[c₂'' + ω₂'×q + ω₂×(ω₂×q + e₂)] − t·[c₁'' + ω₁'×p + ω₁×(ω₁×p + e₁)]
//! ```
//!
//! with e₁, e₂ the velocities of the contact point over the two bodies; where it slides, friction −μλ u/|u| joins the normal
//! force.

use nalgebra::{Unit, Vector3};

use super::frame::BodyFrame;
use super::system::System;
use super::{Mode, Obstacle};
use crate::contact::Side;
use crate::contact::feature::feature_kinematics;
use crate::contact::kinematics::{Facing, Fit, Kinematics, Moving, kinematics};
use crate::gap::{gap, gap_near, gap_to_plane};
use crate::joint::across;
use crate::motion::Derivatives;
use crate::shape::{Shape, unit};

/// A row to keep: a linear form on the velocities of one or two bodies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
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

pub(super) const NO_DERIVATIVES: Derivatives = Derivatives {
    acceleration: Vector3::new(0.0, 0.0, 0.0),
    jerk: Vector3::new(0.0, 0.0, 0.0),
    angular_acceleration: Vector3::new(0.0, 0.0, 0.0),
    angular_jerk: Vector3::new(0.0, 0.0, 0.0),
};

impl System<'_> {
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
            tie.lines(&self.placed, self.flow.tie_length(tie), self.pace, &mut self.lines);
        }
        self.first_tie_line.push(self.lines.len());
        self.flat_lines();
        Ok(())
    }

    /// A contact's kinematics under given accelerations.
    pub fn contact(
        &self,
        i: usize,
        derivatives: impl Fn(usize) -> Derivatives,
    ) -> Result<Kinematics, Obstacle> {
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
        if contact.features != [0; 2] {
            let first = match contact.sides[0] {
                Side::Plane(plane) => Facing::Plane(&self.flow.planes[plane]),
                Side::Body(a) => Facing::Body(moving(a)),
            };
            let Side::Body(b) = contact.sides[1] else { return None };
            let mut second = moving(b);
            second.state.position += contact.offset;
            return feature_kinematics(&first, &second, contact.features);
        }
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
            Row { bodies, parts: parts(&touch.normal), push, bias: touch.bias, residual: Some(touch.gap) };
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
                self.lines.push(Row { bodies, parts: parts(&tangent), push: None, bias, residual: None });
            }
        }
    }

    /// The direction of slip, continued through a slip of zero: `along` says which way it was.
    pub fn slide_direction(&self, i: usize, along: &Vector3<f64>) -> Vector3<f64> {
        let slip = self.slip(i);
        let still = if self.carries { 0.0 } else { self.still };
        if self.straight || slip.norm() <= still {
            let normal = &self.touches[i].normal;
            return unit(&(along - normal * normal.dot(along)));
        }
        let slip = unit(&slip);
        if slip.dot(along) < 0.0 { -slip } else { slip }
    }
}

/// A linear form in unit-mass coordinates.
pub(super) fn write(row: &mut [f64], placed: &[BodyFrame], line: &Row, parts: &[[Vector3<f64>; 2]; 2]) {
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

/// The columns of a row: those of its bodies that move, in the order of their places.
pub(super) fn columns(placed: &[BodyFrame], line: &Row) -> [(usize, usize); 2] {
    let slot = |k: usize| line.bodies[k].and_then(|b| placed[b].slot);
    let run = |slot: usize| (6 * slot, 6);
    match [slot(0), slot(1)] {
        [Some(one), Some(two)] if one == two => [run(one), (0, 0)],
        [Some(one), Some(two)] => [run(one.min(two)), run(one.max(two))],
        [Some(slot), None] | [None, Some(slot)] => [run(slot), (0, 0)],
        [None, None] => [(0, 0), (0, 0)],
    }
}

/// A linear form in unit-mass coordinates, in its [`columns`] alone.
pub(super) fn write_runs(row: &mut [f64], placed: &[BodyFrame], line: &Row, parts: &[[Vector3<f64>; 2]; 2]) {
    let [(first, _), _] = columns(placed, line);
    for (body, [linear, angular]) in line.bodies.iter().zip(parts) {
        let Some(placed) = body.map(|b| &placed[b]) else { continue };
        let Some(slot) = placed.slot else { continue };
        let at = if 6 * slot == first { 0 } else { 6 };
        let turn = placed.axes.tr_mul(angular).component_mul(&placed.root_inertia);
        for k in 0..3 {
            row[at + k] += linear[k] * placed.root_mass;
            row[at + 3 + k] += turn[k];
        }
    }
}
