//! How far the rounding of its data may move a body in flight.
//!
//! A number in a file is known to half a unit in its last place, and an orientation is normalised when it is read. With δx
//! the rounding of a datum x, a point at the arm r from the centre moves along a direction n by
//!
//! ```text
//! n·δc + t n·δv + ½t² n·δg + (r×n)·δθ(t)
//! ```
//!
//! δθ(t) is the turn by which the attitude at t differs, and it grows: with the phase everywhere, near the separatrix
//! exponentially. With s₁ = (I₂−I₃)/I₁ and so on, Euler's equations for a difference, in body axes, are
//!
//! ```text
//! δω₁' = s₁(ω₃δω₂ + ω₂δω₃) + δs₁ω₂ω₃, …        δθ' = δθ×ω + δω
//! ```
//!
//! **A bound in closed form.** Let N² = Σ wᵢδωᵢ² with wᵢ = Iᵢ/dᵢ, and eᵢ = wᵢsᵢ. Then
//! N N' = (e₁+e₂) ω₃ δω₁δω₂ + … + Σ wᵢ δωᵢ δsᵢ ωⱼωₖ, and as |δω₁δω₂| ≤ N²/2√(w₁w₂),
//!
//! ```text
//! N' ≤ ΛN + F,   Λ = ½|ω| √Σ (eᵢ+eⱼ)²/wᵢwⱼ,   F = ½|ω|² √Σ wᵢδsᵢ²
//! |δθ(t)| ≤ |δθ(0)| + [N(0)(e^x − 1)/Λ + F(e^x − 1 − x)/Λ²]/√w_min,   x = Λt
//! ```
//!
//! For dᵢ = |Iⱼ−Iₖ| two of the three sums eᵢ+eⱼ vanish, and Λ is the rate at which a spin about the middle axis leaves it; a
//! floor under dᵢ keeps the weights of a nearly symmetric body within bounds.
//!
//! **The derivatives.** Where that is too much, the closed form of the flight itself is asked, with each datum moved: by a
//! thousand times its rounding, so that the form's own rounding does not count, or where the motion bends within that, by the
//! rounding itself. Where even that turns the body visibly, its data do not determine where it is, and there is no answer.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

use super::Flight;
use super::rotation::{Rotation, unit_quaternion};
use crate::body::{Body, State};
use crate::shape::length;

/// Half a unit in the last place, relative to the number.
const HALF_ULP: f64 = 0.5 * f64::EPSILON;

/// How far apart the relative roundings of two components of a quaternion may be, which was written, scaled and normalised.
const OF_ORIENTATION: f64 = 4.0 * f64::EPSILON;

/// The relative rounding of a moment of inertia, which may have been computed from sizes.
const OF_MOMENT: f64 = 3.0 * f64::EPSILON;

/// Differences dᵢ of moments are no less than these shares of their largest difference, and of the largest moment.
const LEAST_DIFFERENCE: [f64; 2] = [1.0 / 16.0, 1e-3];

/// A datum is moved by this many times its rounding; by at least two, as half a unit cannot be added.
const FAR: f64 = 1024.0;
const NEAR: f64 = 2.0;

/// A turn by more is not small any more.
const SMALL: f64 = 1.0 / 128.0;

/// How many data a flight has: three numbers each for position, velocity, gravity, angular velocity, moments of inertia and
/// orientation.
pub const DATA: usize = 18;

/// A flight with the data that it was prepared from.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// The body.
    pub body: &'a Body,
    /// Its flight.
    pub flight: &'a Flight,
    /// The angular velocity in body axes, where that is what was integrated.
    body_spin: Option<Vector3<f64>>,
}

/// What is moved.
#[derive(Clone, Copy)]
enum Datum {
    Spin(usize),
    Moment(usize),
    Orientation(usize),
}

impl<'a> Given<'a> {
    /// A body's flight, and what [`Flight::given`] was told besides its state.
    #[must_use]
    pub fn new(body: &'a Body, flight: &'a Flight, body_spin: Option<&Vector3<f64>>) -> Self {
        Self { body, flight, body_spin: body_spin.copied().filter(|spin| is_spin_of(flight.start(), spin)) }
    }

    /// A bound of what the rounding of all data together does at time t to the place along `n` of the point at `arm` from the
    /// centre, in world axes: quick, and large or infinite after many turns.
    #[must_use]
    pub fn shift_bound(&self, t: f64, arm: &Vector3<f64>, n: &Vector3<f64>) -> f64 {
        let places: f64 = self.places(t, n).iter().map(|shift| shift.abs()).sum();
        let lever = length(&arm.cross(n));
        if lever == 0.0 { places } else { places + lever * self.turn_bound(t.abs()) }
    }

    /// What the rounding of the closed form itself may do there.
    #[must_use]
    pub fn form_shift(&self, arm: &Vector3<f64>, n: &Vector3<f64>) -> f64 {
        length(&arm.cross(n)) * self.flight.attitude_rounding()
    }

    /// What the rounding of each datum does there, to first order, with a sign that is the same at all times. Nothing where the
    /// rounding of a datum turns the body visibly: then the data do not say where the point is.
    #[must_use]
    pub fn shifts(&self, t: f64, arm: &Vector3<f64>, n: &Vector3<f64>) -> Option<[f64; DATA]> {
        let mut shifts = [0.0; DATA];
        shifts[..9].copy_from_slice(&self.places(t, n));
        let axis = arm.cross(n);
        if axis == Vector3::zeros() {
            return Some(shifts);
        }
        for k in 0..3 {
            for (place, datum) in
                [Datum::Spin(k), Datum::Moment(k), Datum::Orientation(k)].into_iter().enumerate()
            {
                shifts[9 + 3 * place + k] = self.turn_by(datum, t)?.dot(&axis);
            }
        }
        Some(shifts)
    }

    /// The part of the centre: position, velocity and gravity. A fixed body has no velocity.
    fn places(&self, t: f64, n: &Vector3<f64>) -> [f64; 9] {
        let start = self.flight.start();
        let (position, velocity, gravity) =
            (start.position, start.velocity * t, self.flight.acceleration() * (0.5 * t * t));
        let mut shifts = [0.0; 9];
        for k in 0..3 {
            shifts[k] = HALF_ULP * n[k] * position[k];
            shifts[3 + k] = HALF_ULP * n[k] * velocity[k];
            shifts[6 + k] = HALF_ULP * n[k] * gravity[k];
        }
        shifts
    }

    /// The bound of |δθ(t)|.
    fn turn_bound(&self, t: f64) -> f64 {
        let turned = length(&self.orientation_rounding());
        let spin = self.flight.spin_bound();
        if spin == 0.0 {
            return turned;
        }
        let moments = self.body.inertia;
        let next = |k: usize| (moments[(k + 1) % 3], moments[(k + 2) % 3]);
        let differences = [0, 1, 2].map(|k| next(k).0 - next(k).1);
        let largest = differences.iter().fold(0.0_f64, |most, d| most.max(d.abs()));
        let floor = (LEAST_DIFFERENCE[0] * largest).max(LEAST_DIFFERENCE[1] * moments.amax());
        let (mut weights, mut shares, mut forced) = ([0.0; 3], [0.0; 3], 0.0);
        for k in 0..3 {
            let d = differences[k].abs().max(floor);
            weights[k] = moments[k] / d;
            shares[k] = differences[k] / d;
            let (a, b) = next(k);
            let share = OF_MOMENT * (a + b + differences[k].abs()) / moments[k];
            forced += weights[k] * share * share;
        }
        let mut coupled = 0.0;
        for k in 0..3 {
            let j = (k + 1) % 3;
            let sum = shares[k] + shares[j];
            coupled += sum * sum / (weights[k] * weights[j]);
        }
        let rate = 0.5 * spin * libm::sqrt(coupled);
        let force = 0.5 * spin * spin * libm::sqrt(forced);
        let [least, most] = [
            weights.iter().fold(f64::INFINITY, |a, &b| a.min(b)),
            weights.iter().fold(0.0_f64, |a, &b| a.max(b)),
        ];
        let start = match &self.body_spin {
            Some(spin) => HALF_ULP * libm::sqrt((0..3).map(|k| weights[k] * spin[k] * spin[k]).sum()),
            None => (HALF_ULP + turned) * libm::sqrt(most) * length(&self.flight.start().angular_velocity),
        };
        let x = rate * t;
        let [once, twice] = if x < 1e-4 {
            [t * (1.0 + x), 0.5 * t * t * (1.0 + x)]
        } else {
            [libm::expm1(x) / rate, (libm::expm1(x) - x) / (rate * rate)]
        };
        turned + (start * once + force * twice) / libm::sqrt(least)
    }

    /// What reading and normalising the orientation may have turned it by, about each of the body's axes: of a quaternion whose
    /// components are rounded by relative dᵢ, 2q₀qᵢ(dᵢ−d₀) and 2qⱼqₖ(dₖ−dⱼ) together. None that is written exactly is turned.
    fn orientation_rounding(&self) -> Vector3<f64> {
        let q = self.flight.start().orientation;
        let (w, v) = (q.w, q.imag());
        Vector3::from_fn(|k, _| {
            2.0 * OF_ORIENTATION * ((w * v[k]).abs() + (v[(k + 1) % 3] * v[(k + 2) % 3]).abs())
        })
    }

    /// δθ(t) by the rounding of a datum.
    fn turn_by(&self, datum: Datum, t: f64) -> Option<Vector3<f64>> {
        let zero = Vector3::zeros();
        let start = self.flight.start();
        let turns = !self.body.fixed && self.flight.spin_bound() != 0.0;
        match datum {
            // It turns all that follows, if the angular velocity does not depend on it.
            Datum::Orientation(k) if !turns || self.body_spin.is_some() => {
                let mut axis = zero;
                axis[k] = self.orientation_rounding()[k];
                return Some(start.orientation * axis);
            }
            Datum::Orientation(k) if self.orientation_rounding()[k] == 0.0 => return Some(zero),
            _ if !turns => return Some(zero),
            Datum::Spin(k) if self.spin()[k] == 0.0 => return Some(zero),
            _ => {}
        }
        let (now, _) = self.flight.turned(t);
        let difference = |times: f64| turn_between(&now, &self.moved(datum, times, t));
        let far = difference(FAR);
        if length(&far) <= SMALL {
            return Some(far / FAR);
        }
        // The motion bends within that: by the rounding itself, up and down.
        let [up, down] = [difference(NEAR), difference(-NEAR)];
        let near = if up.norm_squared() >= down.norm_squared() { up } else { -down };
        (length(&near) <= SMALL).then_some(near)
    }

    /// The angular velocity in the axes in which it was given.
    fn spin(&self) -> Vector3<f64> {
        self.body_spin.unwrap_or(self.flight.start().angular_velocity)
    }

    /// The attitude at t with a datum moved by `times` its rounding.
    fn moved(&self, datum: Datum, times: f64, t: f64) -> UnitQuaternion<f64> {
        let start = self.flight.start();
        let (mut moments, mut orientation) = (self.body.inertia, start.orientation);
        let (mut spin, mut own) = (start.angular_velocity, self.body_spin);
        match datum {
            Datum::Spin(k) => {
                let factor = 1.0 + times * HALF_ULP;
                match &mut own {
                    Some(own) => {
                        own[k] *= factor;
                        spin = orientation * *own;
                    }
                    None => spin[k] *= factor,
                }
            }
            Datum::Moment(k) => moments[k] *= 1.0 + times * OF_MOMENT,
            Datum::Orientation(k) => {
                let mut half = Vector3::zeros();
                half[k] = 0.5 * times * self.orientation_rounding()[k];
                orientation = unit_quaternion(orientation.quaternion() * Quaternion::from_parts(1.0, half));
            }
        }
        Rotation::new(&moments, &orientation, &spin, own.as_ref()).at(t).0
    }
}

/// Whether a state's angular velocity is, to the bit, this one in body axes.
pub(super) fn is_spin_of(state: &State, body_spin: &Vector3<f64>) -> bool {
    state.orientation * body_spin == state.angular_velocity
}

/// The turn from an attitude to another close by, in world axes.
fn turn_between(from: &UnitQuaternion<f64>, to: &UnitQuaternion<f64>) -> Vector3<f64> {
    let between = to.quaternion() * from.quaternion().conjugate();
    between.imag() * if between.w < 0.0 { -2.0 } else { 2.0 }
}
