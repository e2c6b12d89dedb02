//! Contacts near the flats of superellipsoids: those that roll across, and those that lie along.
//!
//! Over a ring x_i = 0 of a superellipsoid (p > 2) the curvature across vanishes like |x_i|^{p−2}. On a plane the contact
//! point runs over it with infinite speed, e = −K⁻¹w, and the force λ ∝ wᵀK⁻¹w is infinite; both can be integrated,
//!
//! ```text
//! x ∝ sign(t)|t|^{1/(p−1)},   λ ∝ |t|^{−(p−2)/(p−1)},   v − v₀ ∝ sign(t)|t|^{1/(p−1)}
//! ```
//!
//! and the motion is as well defined as anywhere. Three things make it smooth to integrate.
//!
//! **A clock** (Sundman's). Such steps run in σ, the way of the contact point beside the time, and t is an unknown:
//!
//! ```text
//! dt/dσ = s = 1/√(c² + Σ|e|²/ℓ²)        s e, s λ and all the rates times s are finite; analytic for even p (else `kink`)
//! ```
//!
//! with c and ℓ the motion's rate and size. Everything of [`System`] that is a rate, an acceleration or a force is s times
//! that; in ordinary steps s is one.
//!
//! **Points carried.** The orientation tells x only to ε^{1/(p−1)} there. In σ the point itself is an unknown, x' = Rᵀ(s e),
//! set out from where the orientation tells it well. A group that is formed anew in the midst of a flat, because another of its
//! contacts let go, sets out from the points of the last one ([`Points`]). The curvature is a function of the point. In body axes, with normal m
//! and bends d_i = (p−1)|x_i/a_i|^{p−2}/(a_i²|G|), each good to its own last digits, e is the least of ½Σd_i e_i² + w·e across m:
//!
//! ```text
//! e_i = −(w_i − μ m_i)/d_i,   μ = (Σ m_i w_i/d_i)/(Σ m_i²/d_i)
//! ```
//!
//! **Flats that lie.** A body that lies along a ring or on its flat, without turning across, would rock with the amplitude of
//! its rounding, and the smaller that is the faster. Where the normal's part m_i and its rate are below [`ALONG`] they are kept
//! at zero by a row of their own. Its moment M is that of a contact point at x_i = M/λ, within the flat; this is allowed as
//! long as the orientation that belongs to x_i is below [`ALONG`] too, and then differs from the true motion by no more.
//!
//! Two bodies are flat together only where ring meets ring along one line; their points are carried as well, but nothing is
//! locked, and K comes from world axes, so that it is good to 10⁻¹⁶ of the greater curvature.

use nalgebra::{Matrix2, Unit, Vector2, Vector3};

use super::rows::Row;
use super::system::System;
use super::{Flow, Part};
use crate::contact::Side;
use crate::contact::kinematics::Kinematics;
use crate::joint::across;
use crate::shape::{Convex, Shape};

/// A contact that is nearly flat.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Flat {
    /// From each body's centre to the contact point, in its own axes; zero for a plane.
    pub points: [Vector3<f64>; 2],
    /// The axes of the second body that lie along a plane.
    pub locked: [bool; 3],
}

/// Where contacts near flats are, which the states of bodies tell only to ε^{1/(p−1)}: from each body's centre to the contact point,
/// in its own axes; zero for a plane. None of a contact that its states tell.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Points {
    /// Of each contact that may let go.
    pub contacts: Vec<Option<[Vector3<f64>; 2]>>,
    /// Of each joint.
    pub joints: Vec<Option<[Vector3<f64>; 2]>>,
}

/// The greatest relative curvature, times the size, that is followed as flat.
const FLAT: f64 = 0.25;

/// How little a flat may be turned, and turn in a passage, to lie: rounding.
pub(super) const ALONG: f64 = 1e-13;

/// A part of the normal that tells its part of the point well enough.
const FINE: f64 = 1e-5;

/// The relative curvature of two bodies, times the size, above which their gap tells the points well enough.
const DETERMINED: f64 = 1e-4;

/// The least turn, below the rounding of an orientation.
const LEAST_TURN: f64 = 1e-17;

/// A curvature that stands for none.
const NO_CURVATURE: f64 = 1e-100;

/// How far the moment of a flat that lies may exceed its limit by rounding, beside the weight times the size.
const MOMENT_NOISE: f64 = 1e-12;

/// The outward normal at a surface point, in body axes, and the bends along them.
fn bends(shape: &Shape, x: &Vector3<f64>) -> Option<[Vector3<f64>; 2]> {
    let Shape::Superellipsoid { semi_axes, exponent } = shape else { return None };
    let u = x.component_div(&Vector3::from(*semi_axes));
    let power = u.map(|u| libm::pow(u.abs(), exponent - 2.0));
    let gradient = Vector3::from_fn(|i, _| u[i] * power[i] / semi_axes[i]);
    let steepness = gradient.norm();
    let bend = |i: usize| (exponent - 1.0) * power[i] / (semi_axes[i] * semi_axes[i]) / steepness;
    Some([gradient / steepness, Vector3::new(bend(0), bend(1), bend(2))])
}

impl Flow {
    /// Points as the flats of contacts that carried them.
    pub(super) fn carried(&self, points: &Points) -> Vec<Option<Flat>> {
        let mut carried = points.contacts.clone();
        carried.resize(self.contacts.len(), None);
        for (part, known) in self.joints.iter().zip(&points.joints) {
            if let Part::Contact(i) = *part {
                carried[i] = *known;
            }
        }
        let flat = |points: [Vector3<f64>; 2]| Flat { points, locked: [false; 3] };
        carried.into_iter().map(|points| points.map(flat)).collect()
    }

    /// The smaller size of a contact's sides, if one of them has flats.
    fn flat_size(&self, contact: usize) -> Option<f64> {
        let mut size = f64::INFINITY;
        let mut flat = false;
        for side in &self.contacts[contact].sides {
            if let Side::Body(b) = *side {
                let shape = &self.bodies[b].shape;
                size = size.min(shape.circumradius());
                flat |= shape.exponent() > 2.0;
            }
        }
        flat.then_some(size)
    }
}

impl System<'_> {
    /// Looks for contacts that are nearly flat, for bodies placed. `before` are those of the step that led here, with the
    /// points they carried.
    pub fn find_flats(&mut self, before: &[Option<Flat>]) {
        self.flats.clear();
        self.flats.resize(self.flow.contacts.len(), None);
        (self.clock, self.pace) = (false, 1.0);
        self.slip_tempo.fill(0.0);
        for i in 0..self.flow.contacts.len() {
            let Some(size) = self.flow.flat_size(i) else { continue };
            let Some(touch) = self.plain_contact(i) else { continue };
            let least = touch.relative_curvature[0] * size;
            if least.is_nan() || least >= FLAT {
                continue;
            }
            let known = before.get(i).copied().flatten();
            self.flats[i] = match self.flow.contacts[i].sides {
                [Side::Plane(_), Side::Body(b)] => Some(self.flat_on_plane(b, &touch, known.as_ref())),
                [Side::Body(a), Side::Body(b)] => {
                    let local = |b: usize, k: usize| self.placed[b].axes.tr_mul(&touch.arms[k]);
                    let known = known.filter(|_| least < DETERMINED);
                    let points = known.map_or([local(a, 0), local(b, 1)], |known| known.points);
                    Some(Flat { points, locked: [false; 3] })
                }
                _ => None,
            };
        }
        self.set_clock();
    }

    /// The flat of a body on a plane.
    fn flat_on_plane(&self, b: usize, touch: &Kinematics, known: Option<&Flat>) -> Flat {
        let placed = &self.placed[b];
        let shape = &self.flow.bodies[b].shape;
        let spin = placed.state.angular_velocity;
        let mut normal = -placed.axes.tr_mul(&touch.normal);
        let rates = -placed.axes.tr_mul(&touch.normal.cross(&spin));
        let length = self.flow.lengths[b];
        let speed = placed.state.velocity.norm() + length * spin.norm();
        let passage = speed.max(libm::sqrt(length * placed.acceleration.norm())) / length;
        let mut locked = [false; 3];
        for k in 0..3 {
            locked[k] = normal[k].abs() <= ALONG && rates[k].abs() <= ALONG * passage;
            if !locked[k] && normal[k].abs() < LEAST_TURN && rates[k] != 0.0 {
                normal[k] = LEAST_TURN.copysign(rates[k]);
            }
        }
        let told = shape.support(&normal);
        let point = Vector3::from_fn(|k, _| match known {
            _ if locked[k] => 0.0,
            Some(known) if normal[k].abs() < FINE => known.points[1][k],
            _ => told[k],
        });
        Flat { points: [Vector3::zeros(), point / shape.gauge(&point)], locked }
    }

    /// Whether some flat is rolled across, so that the step needs a clock.
    fn set_clock(&mut self) {
        self.slip_tempo.fill(0.0);
        self.clock = (0..self.flats.len()).any(|i| {
            let (Some(flat), Some(size)) = (&self.flats[i], self.flow.flat_size(i)) else { return false };
            let [Side::Plane(_), Side::Body(b)] = self.flow.contacts[i].sides else { return true };
            let Some([normal, bends]) = bends(&self.flow.bodies[b].shape, &flat.points[1]) else {
                return true;
            };
            (0..3).any(|k| !flat.locked[k] && normal[k].abs() < 0.7 && bends[k] * size < FLAT)
        });
    }

    /// The point of a flat on a plane, in body axes: as carried, or as the orientation tells.
    pub fn flat_point(&self, flat: &Flat, b: usize, normal: &Vector3<f64>) -> Vector3<f64> {
        if self.clock {
            return flat.points[1];
        }
        let out = -self.placed[b].axes.tr_mul(normal);
        self.flow.bodies[b].shape.support(&Vector3::from_fn(|k, _| if flat.locked[k] { 0.0 } else { out[k] }))
    }

    /// How the contact point runs, for flats that kinematics take as they come: e₂, then what follows from it.
    pub fn roll(&self, i: usize, touch: &mut Kinematics) {
        let Some(flat) = &self.flats[i] else { return };
        let sides = self.flow.contacts[i].sides;
        let spin = sides.map(|side| match side {
            Side::Body(b) => self.placed[b].state.angular_velocity,
            Side::Plane(_) => Vector3::zeros(),
        });
        let turn = spin.map(|spin| spin.cross(&touch.normal));
        let e2 = match sides {
            [Side::Plane(_), Side::Body(b)] => {
                let placed = &self.placed[b];
                let point = self.flat_point(flat, b, &touch.normal);
                let w = -placed.axes.tr_mul(&turn[1]);
                match bends(&self.flow.bodies[b].shape, &point) {
                    Some([normal, bends]) => placed.axes * run(&normal, &bends, &w, &flat.locked),
                    None => Vector3::zeros(),
                }
            }
            _ => self.run_between(touch),
        };
        let e1 = touch.slip + e2;
        touch.rolling = [e1, e2];
        touch.normal_rate = turn[0] + touch.curvature_1 * e1;
        let slide = touch.normal_rate.dot(&touch.slip) - e2.dot(&turn[1]) + e1.dot(&turn[0]);
        let swing = |k: usize| spin[k].cross(&spin[k].cross(&touch.arms[k]));
        touch.bias = touch.normal.dot(&(swing(1) - swing(0))) + slide;
    }

    /// e₂ between two bodies, from K in world axes. Along a direction without curvature in which nothing turns, nothing runs.
    fn run_between(&self, touch: &Kinematics) -> Vector3<f64> {
        let basis = across(&Unit::new_unchecked(touch.normal));
        let bend = touch.curvature_1 + touch.curvature_2;
        let entry = |i: usize, j: usize| basis[i].dot(&(bend * basis[j]));
        let k = Matrix2::new(entry(0, 0), entry(0, 1), entry(1, 0), entry(1, 1));
        let w = Vector2::new(basis[0].dot(&touch.w), basis[1].dot(&touch.w));
        let eigen = k.symmetric_eigen();
        let mut e = Vector3::zeros();
        for j in 0..2 {
            let axis = eigen.eigenvectors.column(j);
            let along = w.dot(&axis);
            let value = eigen.eigenvalues[j].max(NO_CURVATURE);
            let still = value < ALONG * bend.norm() && along.abs() <= 1e-12 * touch.w.norm();
            if !still {
                e -= (basis[0] * axis[0] + basis[1] * axis[1]) * (along / value);
            }
        }
        e
    }

    /// Rows that keep flats lying: m_i, times the body's size, stays zero.
    pub fn flat_lines(&mut self) {
        self.flat_rows.clear();
        for i in 0..self.flats.len() {
            let (Some(flat), [_, Side::Body(b)]) = (&self.flats[i], self.flow.contacts[i].sides) else {
                continue;
            };
            let (normal, length) = (self.touches[i].normal, self.flow.lengths[b]);
            for k in (0..3).filter(|&k| flat.locked[k]) {
                let axis = self.placed[b].axes.column(k).into_owned();
                let spin = self.placed[b].state.angular_velocity;
                let zero = [Vector3::zeros(); 2];
                self.flat_rows.push((i, k, self.lines.len()));
                self.lines.push(Row {
                    bodies: [None, Some(b)],
                    parts: [zero, [Vector3::zeros(), axis.cross(&normal) * length]],
                    push: None,
                    // n·(ω×(ω×a)).
                    bias: normal.dot(&spin.cross(&spin.cross(&axis))) * length * self.pace,
                    residual: Some(axis.dot(&normal) * length),
                });
            }
        }
    }

    /// How far along an axis a flat that lies may have its point.
    fn flat_reach(&self, b: usize, flat: &Flat, axis: usize) -> f64 {
        let shape = &self.flow.bodies[b].shape;
        let mut turned = shape.normal(&flat.points[1]);
        turned[axis] = ALONG;
        shape.support(&turned)[axis]
    }

    /// The flats, by contact and axis, whose moment is more than they can carry, after [`System::balance`] at the level of
    /// accelerations.
    pub fn overloaded_flats(&self) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for &(i, k, line) in &self.flat_rows {
            let (Some(flat), [_, Side::Body(b)]) = (&self.flats[i], self.flow.contacts[i].sides) else {
                continue;
            };
            let (pushing, _) = self.force(i);
            let moment = self.balance.multipliers[line] * self.flow.lengths[b];
            let weight = self.flow.bodies[b].mass * self.placed[b].acceleration.norm();
            let noise = MOMENT_NOISE * self.flow.lengths[b] * weight * self.pace;
            if moment.abs() > self.flat_reach(b, flat, k) * pushing.max(0.0) + noise {
                found.push((i, k));
            }
        }
        found
    }

    /// Lets go of flats, after [`System::balance`] at the level of accelerations. Their points set out from where the moment
    /// has them, within reach.
    pub fn release_flats(&mut self, released: &[(usize, usize)]) {
        for place in 0..self.flat_rows.len() {
            let (i, k, line) = self.flat_rows[place];
            let (Some(mut flat), [_, Side::Body(b)]) = (self.flats[i], self.flow.contacts[i].sides) else {
                continue;
            };
            if !released.contains(&(i, k)) {
                continue;
            }
            let (pushing, _) = self.force(i);
            let moment = self.balance.multipliers[line] * self.flow.lengths[b];
            let reach = self.flat_reach(b, &flat, k);
            flat.locked[k] = false;
            flat.points[1][k] = if pushing > 0.0 { (moment / pushing).clamp(-reach, reach) } else { 0.0 };
            flat.points[1] /= self.flow.bodies[b].shape.gauge(&flat.points[1]);
            self.flats[i] = Some(flat);
        }
        self.set_clock();
    }

    /// The pace of the clock, from how fast the points of flats run beside their sizes, and slips change beside themselves.
    pub fn set_pace(&mut self) {
        self.pace = 1.0;
        if self.clock {
            let mut rate = self.tempo;
            for i in 0..self.flats.len() {
                if let (Some(_), Some(size)) = (&self.flats[i], self.flow.flat_size(i)) {
                    rate = libm::hypot(rate, self.touches[i].rolling[1].norm() / size);
                }
                if self.slip_tempo[i] > 0.0 {
                    rate = libm::hypot(rate, self.slip_tempo[i] / self.slip(i).norm());
                }
            }
            self.pace = rate.recip();
        }
        for touch in &mut self.touches {
            touch.rolling = touch.rolling.map(|e| e * self.pace);
            touch.bias *= self.pace;
        }
    }
}

/// The velocity e of a contact point over a plane, in body axes.
fn run(m: &Vector3<f64>, d: &Vector3<f64>, w: &Vector3<f64>, locked: &[bool; 3]) -> Vector3<f64> {
    let inverse = Vector3::from_fn(|i, _| if locked[i] { 0.0 } else { d[i].max(NO_CURVATURE).recip() });
    let (mut along, mut length) = (0.0, 0.0);
    for i in 0..3 {
        along += m[i] * w[i] * inverse[i];
        length += m[i] * m[i] * inverse[i];
    }
    let share = along / length;
    Vector3::from_fn(|i, _| (share * m[i] - w[i]) * inverse[i])
}
