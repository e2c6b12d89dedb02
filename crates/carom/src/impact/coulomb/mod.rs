//! One contact with Coulomb friction, carried through its impact.
//!
//! # Equations
//!
//! The impact is resolved in the normal impulse p, not in time (Darboux 1880, Routh 1891, Keller 1986). With the
//! Delassus matrix W of (n, t₁, t₂) and the relative velocity y = (y_n, y_t):
//!
//! - **slip**, y_t = σ s ≠ 0: the friction impulse is −μ s dp, so dy/dp = W (1, −μ s);
//! - **stick**, y_t = 0 and |W_tt⁻¹ W_tn| ≤ μ: dy_n/dp = W_nn − W_nt W_tt⁻¹ W_tn;
//! - **slip from rest**, y_t = 0 otherwise: along the one unit s with W_tn − μ W_tt s = ρ s, ρ > 0.
//!
//! Compression ends when y_n = 0. Restitution ends by one of three rules: y_n = −e y_n⁻ (Newton), p = (1+e) p_c
//! (Poisson), ∫ y_n dp recovered = e² of that of compression (Stronge 1990).
//!
//! # How it is solved
//!
//! Slip along a constant direction, stick and slip from rest have constant rates: closed forms (`course`).
//! Planar contacts have nothing else. A slip that turns is integrated as a Taylor series (`curve`); its
//! direction always settles (the rate of turning is a trigonometric polynomial of zero mean), and once what is
//! left to turn is below rounding the rest is a closed form too.
//!
//! Before all that the problem is made dimensionless by powers of two (no rounding), and the tangents are turned
//! to the principal axes of W_tt.
//!
//! # Assumptions
//!
//! W is symmetric positive semidefinite and 0 ≤ e ≤ 1, μ ≥ 0: numbers outside are taken to the nearest one
//! inside. W ≥ 0 is what makes the passage end: while y_n falls (jam), sliding slows down, and after sliding has
//! stopped y_n never falls.
//!
//! A slip that turns may jam *in restitution* and close the contact again. Then compression goes on: restitution
//! is measured from the greatest compression (the least ∫ y_n dp), and the contact never ends while y_n < 0.
//!
//! # Tolerances, and how it fails
//!
//! `NEGLIGIBLE` = 1e-12, relative, in two decisions. (1) A principal tangent i with W_ii below it, in units of
//! the other tangent's W_jj, and W_ni below it, in units of √(W_nn W_jj), cannot move: it takes no friction
//! unless it already slides faster than that fraction of |y|. (2) A normal rate below it, in units of W_nn, in a
//! phase that does not end by itself (stick, or a slip whose speed does not change either), is zero: friction
//! holds the contact, [`Passage::locked`]. With y in the range of W this happens at y_n = 0 (to 1e-6 of
//! the fastest y_n at that kinetic energy where W is singular only within the tolerance); if y is not in it,
//! y_n stays as it is.
//!
//! Close to these thresholds (a wedge about to lock) impulses grow like 1/(1 − the ratio) and the velocities
//! carry the rounding of W p. If y/W overflows so does the impulse.

mod course;
mod curve;

use nalgebra::{Matrix3, Vector3};

use course::Course;

pub use crate::impact::options::Termination;
pub use crate::impact::outcome::{Mode, Phase};

/// What is zero, relative to the scale the module's header names for each decision.
const NEGLIGIBLE: f64 = 1e-12;

/// A contact's passage through compression and restitution.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Passage {
    /// The impulse (normal, tangent 1, tangent 2).
    pub impulse: Vector3<f64>,
    /// The relative velocity after (normal, tangent 1, tangent 2).
    pub separation: Vector3<f64>,
    /// The normal impulse at greatest compression.
    pub compression_impulse: f64,
    /// The work of the normal impulse up to the greatest compression (≤ 0) and since (≥ 0).
    pub normal_work: [f64; 2],
    /// The phases in order, each beginning where the one before ends.
    pub phases: Vec<Phase>,
    /// Whether friction holds the contact so that it cannot rebound.
    pub locked: bool,
}

/// Carries one closing contact through its impact.
///
/// `w` is the Delassus matrix of (normal, tangent 1, tangent 2) and `y` the relative velocity, y_n < 0. A planar
/// contact has zeros in the last row and column. A contact that does not close (y_n ≥ 0), cannot move along its
/// normal (W_nn = 0) or is not given in finite numbers gets no impulse.
#[must_use]
pub fn pass(
    w: &Matrix3<f64>,
    y: &Vector3<f64>,
    coefficient: f64,
    restitution: f64,
    termination: Termination,
) -> Passage {
    let closing = y[0] < 0.0 && w[(0, 0)] > 0.0;
    if !closing || w.iter().chain(y.iter()).any(|x| !x.is_finite()) {
        return Passage {
            impulse: Vector3::zeros(),
            separation: *y,
            compression_impulse: 0.0,
            normal_work: [0.0; 2],
            phases: Vec::new(),
            locked: false,
        };
    }
    // The geometric mean keeps the work y_n²/W of a contact that slides very much faster than it closes.
    let velocity_unit = power_of_two((-y[0]).sqrt() * y.amax().sqrt());
    let inertance_unit = power_of_two(w.diagonal().amax());
    let impulse_unit = velocity_unit / inertance_unit;

    let (axis, contact, slip) =
        Contact::reduced(&(w / inertance_unit), &(y / velocity_unit), within(coefficient, MAX_FRICTION));
    let mut course = Course::new(contact, y[0] / velocity_unit, slip, within(restitution, 1.0), termination);
    course.run();

    let friction = axis.outward(course.friction);
    let impulse = Vector3::new(course.impulse, friction[0], friction[1]) * impulse_unit;
    // A tangent that does not move was left out of the problem, so its velocity is not in the course.
    let left_out = w * impulse + y;
    let left_out = axis.inward([left_out[1], left_out[2]]);
    let slip = axis
        .outward([0, 1].map(|i| if contact.moves(i) { course.slip[i] * velocity_unit } else { left_out[i] }));
    for phase in &mut course.phases {
        phase.from *= impulse_unit;
        phase.to *= impulse_unit;
    }
    Passage {
        impulse,
        separation: Vector3::new(course.normal * velocity_unit, slip[0], slip[1]),
        compression_impulse: course.compression_impulse * impulse_unit,
        normal_work: course.work.map(|work| work * impulse_unit * velocity_unit),
        phases: course.phases,
        locked: course.locked,
    }
}

/// The largest coefficient of friction told from a larger one: sliding stops within rounding of no impulse.
const MAX_FRICTION: f64 = 1e16;

/// The number from 0 to `most` nearest to x; 0 for a NaN.
fn within(x: f64, most: f64) -> f64 {
    if x > 0.0 { x.min(most) } else { 0.0 }
}

/// The power of two at or below a positive number.
fn power_of_two(x: f64) -> f64 {
    const EXPONENT: u64 = 0x7FF0_0000_0000_0000;
    f64::from_bits(x.to_bits() & EXPONENT).max(f64::MIN_POSITIVE)
}

/// The contact's constants, dimensionless, with tangents along the principal axes of W_tt.
#[derive(Debug, Clone, Copy)]
struct Contact {
    /// W_nn > 0.
    normal: f64,
    /// W_nt.
    coupling: [f64; 2],
    /// The eigenvalues of W_tt.
    tangent: [f64; 2],
    /// μ.
    friction: f64,
}

/// How the velocities change per normal impulse while sliding along one direction.
#[derive(Debug, Clone, Copy)]
struct SlipRates {
    /// dy_n/dp.
    normal: f64,
    /// f = dσ/dp.
    speed: f64,
    /// g = σ dθ/dp.
    turn: f64,
    /// dg/dθ: negative where the direction settles.
    turn_slope: f64,
}

/// What follows when sliding has stopped.
#[derive(Debug, Clone, Copy)]
struct Release {
    mode: Mode,
    /// The friction impulse per normal impulse.
    friction_rate: [f64; 2],
    /// dy_n/dp ≥ 0.
    normal_rate: f64,
}

impl Contact {
    /// The contact in principal tangents, with what cannot move left out; its axes and its slip velocity.
    fn reduced(w: &Matrix3<f64>, y: &Vector3<f64>, friction: f64) -> (Axes, Self, [f64; 2]) {
        let normal = w[(0, 0)];
        let (axes, tangent) = Axes::principal(w[(1, 1)], 0.5 * (w[(1, 2)] + w[(2, 1)]), w[(2, 2)]);
        let tangent = tangent.map(|x| x.max(0.0));
        let coupling = axes.inward([0.5 * (w[(0, 1)] + w[(1, 0)]), 0.5 * (w[(0, 2)] + w[(2, 0)])]);
        let mut slip = axes.inward([y[1], y[2]]);
        let mut contact = Self { normal, coupling, tangent, friction };
        for i in 0..2 {
            let widest = tangent[1 - i];
            let blocked = tangent[i] <= NEGLIGIBLE * widest
                && coupling[i].abs() <= NEGLIGIBLE * normal.sqrt() * widest.sqrt();
            if blocked || tangent[i] == 0.0 {
                contact.tangent[i] = 0.0;
                contact.coupling[i] = 0.0;
                if slip[i].abs() <= NEGLIGIBLE * y.amax() {
                    slip[i] = 0.0;
                }
            }
            // Rounding of W may take it out of the semidefinite cone, where a jam would have no end.
            let bound = normal.sqrt() * contact.tangent[i].sqrt();
            contact.coupling[i] = contact.coupling[i].clamp(-bound, bound);
        }
        (axes, contact, slip)
    }

    /// Whether the contact point can move along tangent `i`.
    fn moves(&self, i: usize) -> bool {
        self.tangent[i] > 0.0
    }

    /// How much faster than the normal the lightest tangent moves at the same kinetic energy.
    fn lightness(&self) -> f64 {
        (self.tangent[0].max(self.tangent[1]) / self.normal).sqrt()
    }

    /// The size of the terms that make up the rates of slip.
    fn slip_scale(&self) -> f64 {
        self.coupling[0].abs() + self.coupling[1].abs() + self.friction * self.tangent[0].max(self.tangent[1])
    }

    /// Whether the slip's direction changes, up to rounding.
    fn turns(&self, rates: SlipRates) -> bool {
        rates.turn.abs() > 4.0 * f64::EPSILON * self.slip_scale()
    }

    /// The direction near this one in which a slip settles.
    fn settle(&self, mut direction: [f64; 2]) -> [f64; 2] {
        // More than one step: with much friction a tiny component of the direction carries all of the force, and
        // the first leaves it with the rounding of the large one.
        for _ in 0..3 {
            let [c, s] = direction;
            let rates = self.slip_rates(direction);
            let angle = -rates.turn / rates.turn_slope;
            direction = unit([c - angle * s, s + angle * c]);
        }
        direction
    }

    /// dy_n/dp under a friction rate.
    fn normal_rate(&self, friction_rate: [f64; 2]) -> f64 {
        self.normal + dot(self.coupling, friction_rate)
    }

    /// dy_t/dp under a friction rate.
    fn slip_rate(&self, friction_rate: [f64; 2]) -> [f64; 2] {
        [0, 1].map(|i| self.coupling[i] + self.tangent[i] * friction_rate[i])
    }

    /// The rates while sliding along the unit `direction`.
    fn slip_rates(&self, direction: [f64; 2]) -> SlipRates {
        let [c, s] = direction;
        let friction_rate = direction.map(|x| -self.friction * x);
        let anisotropy = self.friction * (self.tangent[0] - self.tangent[1]);
        SlipRates {
            normal: self.normal_rate(friction_rate),
            speed: dot(direction, self.slip_rate(friction_rate)),
            turn: c * self.coupling[1] - s * self.coupling[0] + anisotropy * c * s,
            turn_slope: anisotropy * (c - s) * (c + s) - dot(direction, self.coupling),
        }
    }

    /// Stick if friction can hold the contact point, otherwise slip along the direction it is driven.
    fn release(&self) -> Release {
        let holding = [0, 1].map(|i| ratio(self.coupling[i], self.tangent[i]));
        if holding[0].hypot(holding[1]) <= self.friction {
            return Release {
                mode: Mode::Stick,
                friction_rate: holding.map(|x| -x),
                normal_rate: (self.normal - dot(self.coupling, holding)).max(0.0),
            };
        }
        let direction = self.driven_direction();
        let friction_rate = direction.map(|x| -self.friction * x);
        Release {
            mode: Mode::ReverseSlip,
            friction_rate,
            normal_rate: self.normal_rate(friction_rate).max(0.0),
        }
    }

    /// The unit s with (μ W_tt + ρ) s = W_tn, ρ > 0.
    ///
    /// |s(ρ)| falls from above 1 to below it, and 1/|s(ρ)| is concave: Newton's method on it rises to the root
    /// from the left without overshooting (Moré and Sorensen 1983).
    fn driven_direction(&self) -> [f64; 2] {
        let stiffness = self.tangent.map(|x| self.friction * x);
        let mut rho =
            (self.coupling[0].abs() - stiffness[0]).max(self.coupling[1].abs() - stiffness[1]).max(0.0);
        let mut s = [0.0; 2];
        for _ in 0..100 {
            s = [0, 1].map(|i| ratio(self.coupling[i], stiffness[i] + rho));
            let length = s[0].hypot(s[1]);
            let slope = [0, 1].map(|i| ratio(s[i] / length, stiffness[i] + rho));
            let next = rho + (length - 1.0) / dot(slope, s.map(|x| x / length));
            if next.is_nan() || next <= rho {
                break;
            }
            rho = next;
        }
        unit(s)
    }
}

/// Principal tangents, as a turn of the given ones.
#[derive(Debug, Clone, Copy)]
struct Axes {
    cosine: f64,
    sine: f64,
}

impl Axes {
    /// The principal axes and eigenvalues of [[a, b], [b, d]] (one Jacobi rotation; none for a diagonal matrix).
    fn principal(a: f64, b: f64, d: f64) -> (Self, [f64; 2]) {
        if b == 0.0 {
            return (Self { cosine: 1.0, sine: 0.0 }, [a, d]);
        }
        let cotangent = (d - a) / (2.0 * b);
        let tangent = 1.0_f64.copysign(cotangent) / (cotangent.abs() + cotangent.hypot(1.0));
        let cosine = 1.0 / tangent.hypot(1.0);
        (Self { cosine, sine: tangent * cosine }, [a - tangent * b, d + tangent * b])
    }

    /// From the given tangents to the principal ones.
    fn inward(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [self.cosine * x - self.sine * y, self.sine * x + self.cosine * y]
    }

    /// From the principal tangents to the given ones.
    fn outward(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [self.cosine * x + self.sine * y, self.cosine * y - self.sine * x]
    }
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

/// The vector at unit length.
fn unit(a: [f64; 2]) -> [f64; 2] {
    let length = a[0].hypot(a[1]);
    a.map(|x| x / length)
}

/// a/b, with 0/0 = 0.
fn ratio(a: f64, b: f64) -> f64 {
    if a == 0.0 { 0.0 } else { a / b }
}
