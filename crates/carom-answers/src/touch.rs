//! When two in flight touch, how well the data tell it, and what kind of touch it is.
//!
//! Where the gap has a double root, its values say little of the time: they are nothing within rounding for as long as
//! √ε of a turn. The velocities say more. So the search's contact is taken to the [`moment`] at which v = g' is zero and
//! is classified there.
//!
//! **Data.** The search bounds the error of the time for the motions as they were prepared. The numbers that they were
//! prepared from are rounded as well. With S = ∂g/∂x δx for the rounding δx of a datum x, the time moves by
//!
//! ```text
//! Σ|S|/|g'|      where they approach, as long as g' hardly changes meanwhile
//! Σ|S'|/g''      where the gap is least, which is where g' = 0
//! Σ|S''|/|g'''|  where g'' = 0: the paradox
//! ```
//!
//! Derivatives of S in time are differences of S, with the normal and the points as they are then.

use carom::contact::classify::{Tolerances, Type, classify};
use carom::contact::kinematics::{self, Facing, Kinematics, kinematics};
use carom::contact::moment::{Sizes, moment};
use carom::gap::{Gap, gap, gap_to_plane};
use carom::motion::{DATA, Derivatives, Given};
use carom::shape::HalfSpace;
use carom::toi::{Contact, Touch};
use nalgebra::Vector3;

/// The closed-form bound is used if it is at most this many times the search's own error; otherwise the derivatives are evaluated.
const ENOUGH: f64 = 4.0;

/// What the data do to first order, times this, is more than they do.
const MARGIN: f64 = 1.5;

/// The rounding of what a body reaches along a normal, by that of its sizes and its exponent.
const OF_SIZE: f64 = 2.0 * f64::EPSILON;

/// The rounding of a plane's normal, which is normalised, and of its offset; and of the way to an image.
const OF_PLACE: f64 = 2.0 * f64::EPSILON;

/// The least rounding of a gap, relative to the circumradii, that a search allows for.
const OF_GAP: f64 = 8.0 * f64::EPSILON;

/// Differences in time are over this part of the time in which the bodies pass, or fall, their own size.
const STEP: f64 = 1.0 / 32.0;

/// How many data have a part in a gap: those of both flights, and what is around them.
const EFFECTS: usize = 2 * DATA + SURROUNDINGS;

/// Those of both sizes, and of the plane or the box.
const SURROUNDINGS: usize = 6;

/// What stands first in a pair.
#[derive(Debug, Clone, Copy)]
pub enum First<'a> {
    /// A plane.
    Plane(&'a HalfSpace),
    /// A body.
    Body(Given<'a>),
}

/// Two of which a search from t = 0 found the first contact.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'a> {
    /// A plane or a body.
    pub first: First<'a>,
    /// A body.
    pub second: Given<'a>,
    /// What pulls both.
    pub gravity: Vector3<f64>,
    /// The displacement of the second body that is met.
    pub image: Vector3<f64>,
}

/// A contact as it is told.
#[derive(Debug, Clone, Copy)]
pub struct Told {
    /// With its time, and a bound on the error of that with the rounding of the data in it.
    pub contact: Contact,
    /// Its type.
    pub kind: Type,
    /// When the gap of a graze, which is least at the time of the contact and may be below zero by rounding, can first be zero.
    pub first_zero: Option<f64>,
}

/// A contact without approach, looked at closely.
struct Sharp {
    contact: Contact,
    kind: Type,
    kinematics: Kinematics,
    sizes: Sizes,
}

impl Pair<'_> {
    /// The two sides at a time, and their gap; none of two points.
    fn at<T>(&self, t: f64, ask: impl FnOnce(&Facing, &kinematics::Moving, &Gap) -> T) -> Option<T> {
        let two = self.flying(&self.second, t, &self.image);
        let (facing, found) = match &self.first {
            First::Plane(plane) => (Facing::Plane(plane), gap_to_plane(two.shape, &two.state.pose(), plane)),
            First::Body(first) => {
                let one = self.flying(first, t, &Vector3::zeros());
                let found = gap((one.shape, &one.state.pose()), (two.shape, &two.state.pose()))?;
                (Facing::Body(one), found)
            }
        };
        Some(ask(&facing, &two, &found))
    }

    /// A body at a time with its derivatives, displaced.
    fn flying<'a>(&self, it: &Given<'a>, t: f64, image: &Vector3<f64>) -> kinematics::Moving<'a> {
        let mut state = it.flight.at(t);
        state.position += image;
        let derivatives = Derivatives::new(it.body, &state, &self.gravity);
        kinematics::Moving { shape: &it.body.shape, state, derivatives }
    }

    /// A contact of the search as it is to be told: where it is without approach, at the time that its velocities tell; with its
    /// type; and with the rounding of the data in its error. What the data do not determine at all is known to the span that
    /// was searched.
    #[must_use]
    pub fn told(&self, found: &Contact, span: f64) -> Told {
        let sharp = if found.touch == Touch::Approaching { None } else { self.sharpened(found) };
        let mut contact = sharp.as_ref().map_or(*found, |sharp| sharp.contact);
        let kind = match (&sharp, found.touch) {
            (Some(sharp), _) => sharp.kind,
            (None, Touch::Approaching) => Type::Normal,
            (None, _) => Type::Degenerate,
        };
        let by_data = match (kind, &sharp) {
            (Type::Graze, Some(sharp)) => self.of_derivative(sharp, 1),
            (Type::Paradox2b | Type::Paradox2bStar | Type::ParadoxMarginal, Some(sharp)) => {
                self.of_derivative(sharp, 2)
            }
            (Type::Normal, _) => self.of_approach(&contact),
            // The gap goes as a power of the time that is at least the first.
            _ => {
                self.gap_error(&contact, 0.0).map(|error| contact.time_error * error / (OF_GAP * self.size()))
            }
        };
        contact.time_error = (contact.time_error + by_data.unwrap_or(span)).min(span.max(found.time_error));
        let first_zero = sharp.filter(|_| kind == Type::Graze).map(|sharp| {
            let rounding = OF_GAP * self.size() + self.gap_error(&contact, 0.0).unwrap_or(0.0);
            let before = (2.0 * (rounding - contact.gap).max(0.0) / sharp.kinematics.g2).sqrt();
            (contact.time - before).max(0.0)
        });
        Told { contact, kind, first_zero }
    }

    /// A contact without approach, at the time that its velocities tell, and its type.
    fn sharpened(&self, contact: &Contact) -> Option<Sharp> {
        let class = |t: f64| self.at(t, |one, two, at| classify(one, two, at, Tolerances::default()));
        let scales = class(contact.time)?.scales;
        let sizes = Sizes { length: scales.length, speed: scales.speed };
        let none = Tolerances::default().rates * scales.speed;
        let look = |t: f64| self.at(t, kinematics);
        let (time, time_error) = moment(look, contact.time, contact.time_error, sizes, |_| none);
        // The search began at zero.
        let time = time.max(0.0);
        let class = class(time)?;
        let k = class.kinematics;
        let point = match &self.first {
            First::Plane(_) => k.points[1],
            First::Body(_) => (k.points[0] + k.points[1]) * 0.5,
        };
        let contact =
            Contact { time, time_error, gap: k.gap, normal: k.normal, point, approach: k.v, ..*contact };
        Some(Sharp { contact, kind: class.kind, kinematics: k, sizes })
    }

    /// The first body, if that is what stands first, and the second.
    fn bodies(&self) -> impl Iterator<Item = &Given<'_>> {
        let first = match &self.first {
            First::Plane(_) => None,
            First::Body(first) => Some(first),
        };
        first.into_iter().chain(core::iter::once(&self.second))
    }

    /// The circumradii.
    fn size(&self) -> f64 {
        self.bodies().map(|it| it.body.shape.circumradius()).sum()
    }

    /// From the centres to points, at a time.
    fn arms(&self, t: f64, points: &[Vector3<f64>; 2]) -> [Vector3<f64>; 2] {
        let first = match &self.first {
            First::Plane(_) => Vector3::zeros(),
            First::Body(first) => points[0] - first.flight.at(t).position,
        };
        [first, points[1] - self.second.flight.at(t).position - self.image]
    }

    /// What the rounding of the data does to the gap at a contact, at most: by the bound in closed form where that is within
    /// `enough`. `None` if the data do not determine where the bodies are.
    fn gap_error(&self, contact: &Contact, enough: f64) -> Option<f64> {
        let (t, n, points) = (contact.time, contact.normal, [contact.point; 2]);
        let arms = self.arms(t, &points);
        let around: f64 = self.surroundings(&n, &arms, &points[1]).iter().map(|effect| effect.abs()).sum();
        let mut bound = around + self.second.shift_bound(t, &arms[1], &n);
        let mut form = self.second.form_shift(&arms[1], &n);
        if let First::Body(first) = &self.first {
            bound += first.shift_bound(t, &arms[0], &n);
            form += first.form_shift(&arms[0], &n);
        }
        if bound <= enough {
            return Some(bound + form);
        }
        let effects = self.effects(t, &n, &points)?;
        Some(bound.min(MARGIN * effects.iter().map(|effect| effect.abs()).sum::<f64>()) + form)
    }

    /// What the rounding of each datum does to the gap, to first order, with its sign.
    fn effects(&self, t: f64, n: &Vector3<f64>, points: &[Vector3<f64>; 2]) -> Option<[f64; EFFECTS]> {
        let arms = self.arms(t, points);
        let mut effects = [0.0; EFFECTS];
        effects[..DATA].copy_from_slice(&self.second.shifts(t, &arms[1], n)?);
        if let First::Body(first) = &self.first {
            effects[DATA..2 * DATA].copy_from_slice(&first.shifts(t, &arms[0], &-n)?);
        }
        effects[2 * DATA..].copy_from_slice(&self.surroundings(n, &arms, &points[1]));
        Some(effects)
    }

    /// That of sizes, and of the plane or the box.
    fn surroundings(
        &self,
        n: &Vector3<f64>,
        arms: &[Vector3<f64>; 2],
        point: &Vector3<f64>,
    ) -> [f64; SURROUNDINGS] {
        let (along, offset) = match &self.first {
            First::Plane(plane) => (n.component_mul(point), plane.offset),
            First::Body(_) => (n.component_mul(&self.image), 0.0),
        };
        let place = [along.x, along.y, along.z, offset].map(|x| x * OF_PLACE);
        [arms[0].dot(n) * OF_SIZE, arms[1].dot(n) * OF_SIZE, place[0], place[1], place[2], place[3]]
    }

    /// What the data do to the time where the bodies approach.
    fn of_approach(&self, contact: &Contact) -> Option<f64> {
        let speed = contact.approach.abs();
        let error = self.gap_error(contact, ENOUGH * contact.time_error * speed)?;
        // How fast the gap can curve at most: by turning, falling, and passing along what is round.
        let (mut curvature, mut passing, mut inside) = (self.gravity.norm(), 0.0, 0.0);
        for it in self.bodies() {
            let radius = it.body.shape.circumradius();
            curvature += it.flight.turning_bound() * radius;
            passing += it.flight.at(contact.time).velocity.norm() + it.flight.spin_bound() * radius;
            inside += it.body.shape.inradius();
        }
        curvature += passing * passing / inside;
        if speed * speed > 8.0 * error * curvature {
            return Some(1.1 * error / speed);
        }
        // As fast as it does there, and twice that: the root of the parabola, or all of the time for which it is that low.
        let bent = 2.0 * self.at(contact.time, kinematics)?.g2.abs();
        let discriminant = speed * speed - 2.0 * bent * error;
        Some(if discriminant > 0.0 {
            2.0 * error / (speed + discriminant.sqrt())
        } else {
            4.0 * (2.0 * error / bent).sqrt()
        })
    }

    /// What they do where a derivative of the gap, the first or the second, is zero.
    fn of_derivative(&self, sharp: &Sharp, order: u32) -> Option<f64> {
        let (t, k) = (sharp.contact.time, &sharp.kinematics);
        let Sizes { length, speed } = sharp.sizes;
        let step = STEP * (length / speed).min((length / k.g2.abs()).sqrt());
        let look = |t: f64| {
            let k = self.at(t, kinematics)?;
            self.effects(t, &k.normal, &k.points)
        };
        let [before, now, after] = [look(t - step)?, look(t)?, look(t + step)?];
        let sum = |change: &dyn Fn(usize) -> f64| (0..EFFECTS).map(|i| change(i).abs()).sum::<f64>();
        let moved = if order == 1 {
            sum(&|i| after[i] - before[i]) / (2.0 * step * k.g2.abs())
        } else {
            sum(&|i| after[i] - 2.0 * now[i] + before[i]) / (step * step * k.g3.abs())
        };
        Some(MARGIN * moved)
    }
}
