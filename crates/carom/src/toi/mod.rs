//! The first time the gap of two flying bodies closes, with a bound on the error.
//!
//! For a fixed unit n the separation n·(c₂−c₁) − h₁(R₁ᵀn) − h₂(−R₂ᵀn) is a lower bound of the gap. Over a step τ
//! from an instant whose best n, velocities and spins are known, with A_i ≥ |ω̇| + |ω|² at all times and R_i the
//! circumradius,
//!
//! ```text
//! sep(τ) ≥ n·(Δc + Δv τ + ½Δg τ²) − h₁(R₁ᵀ(n + τ n×ω₁)) − h₂(−R₂ᵀ(n + τ n×ω₂)) − ½(A₁R₁ + A₂R₂) τ²
//! ```
//!
//! The right side is concave in τ and exact to first order at τ = 0: up to its root nothing can touch, so stepping
//! there never jumps over a contact, and near one the remaining gap is squared at each step. While the
//! circumscribed spheres are apart, their first touch is a safe step as well. The last digits are Newton's, on g
//! with g' = n·(v_Q − v_P), which is exact at the closest points.
//!
//! What is certified: no contact before the time returned, up to the rounding of the gap, about 1e-14 of the sizes
//! and distances; the time's error follows from that rounding and the approach speed, or from the curvature of the
//! gap where the bodies only graze.

use nalgebra::Vector3;

use crate::body::State;
use crate::gap::{Gap, gap, gap_to_plane};
use crate::motion::Flight;
use crate::shape::{HalfSpace, Shape};

/// The other party of a body.
#[derive(Debug, Clone, Copy)]
pub enum Other<'a> {
    /// Another body.
    Body(&'a Shape, &'a Flight),
    /// A plane.
    Plane(&'a HalfSpace),
}

/// What became of a pair over a window of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Meeting {
    /// They meet.
    At(Contact),
    /// They do not meet in the window.
    Apart,
    /// They overlap at its start by this depth.
    Overlapping(f64),
    /// The bound on the work was reached at this time, without contact until then.
    Undecided(f64),
}

/// A first contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact {
    /// When.
    pub time: f64,
    /// A bound on the error of the time.
    pub time_error: f64,
    /// The gap left at that time, rounding.
    pub gap: f64,
    /// From the first to the second; for a plane, the plane's own.
    pub normal: Vector3<f64>,
    /// Where they touch.
    pub point: Vector3<f64>,
    /// n·(v_second − v_first), or n·v of a body at a plane; negative: closing.
    pub approach: f64,
    /// How they touch.
    pub touch: Touch,
}

/// How two bodies touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// They approach: an impact.
    Approaching,
    /// Without approach, within what rounding resolves, and free flight parts them.
    Grazing,
    /// Without approach, and free flight would let them overlap.
    Sinking,
}

/// A meeting and what it took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    /// What became of the pair.
    pub meeting: Meeting,
    /// How often the gap was evaluated.
    pub evaluations: u32,
}

/// The most evaluations of the gap for one pair.
const MOST_EVALUATIONS: u32 = 100_000;

/// Rounding of a gap, relative to sizes and distances.
const ROUNDING: f64 = 1e-14;

struct Pair<'a> {
    shape: &'a Shape,
    flight: &'a Flight,
    other: Other<'a>,
    /// ½(A₁R₁ + A₂R₂).
    bend: f64,
    /// R₁ + R₂.
    size: f64,
    /// The sum of the inscribed radii, as a radius of curvature.
    roundness: f64,
    /// The difference of the accelerations of the centres.
    pull: Vector3<f64>,
}

/// The pair at an instant.
struct Instant {
    states: [State; 2],
    found: Gap,
    approach: f64,
    curvature: f64,
    scale: f64,
}

/// The first contact of a body with another party between two times.
#[must_use]
pub fn first_contact(shape: &Shape, flight: &Flight, other: Other, from: f64, until: f64) -> Search {
    let pair = Pair::new(shape, flight, other);
    let mut t = from;
    let mut evaluations = 1;
    let Some(mut now) = pair.at(t) else {
        return Search { meeting: Meeting::Apart, evaluations };
    };
    let level = |now: &Instant| 4.0 * ROUNDING * now.scale;
    // Motions that floating point does not hold have no gap to follow.
    if now.found.gap.is_nan() || now.approach.is_nan() || pair.bend.is_nan() {
        return Search { meeting: Meeting::Undecided(from), evaluations };
    }
    if now.found.gap < -level(&now).max(1e-12 * pair.size) {
        return Search { meeting: Meeting::Overlapping(-now.found.gap), evaluations };
    }
    loop {
        // Within rounding of contact, and not on the way out: here it is.
        if now.found.gap <= level(&now) && !pair.leaves(&now) {
            let contact = pair.polish(t, now, from, until, &mut evaluations);
            return Search { meeting: Meeting::At(contact), evaluations };
        }
        let left = until - t;
        if left <= 0.0 {
            return Search { meeting: Meeting::Apart, evaluations };
        }
        let step = pair.sphere_step(&now, left).max(pair.safe_step(&now, left));
        if step >= left {
            return Search { meeting: Meeting::Apart, evaluations };
        }
        // A step that no longer moves the clock has arrived as far as floating point goes.
        let next = t + step;
        if next <= t || evaluations >= MOST_EVALUATIONS {
            let meeting = if now.found.gap <= 100.0 * level(&now) {
                Meeting::At(pair.polish(t, now, from, until, &mut evaluations))
            } else {
                Meeting::Undecided(t)
            };
            return Search { meeting, evaluations };
        }
        t = next;
        evaluations += 1;
        match pair.at(t) {
            Some(then) if then.found.gap.is_nan() || then.approach.is_nan() => {
                return Search { meeting: Meeting::Undecided(t), evaluations };
            }
            Some(then) => now = then,
            None => return Search { meeting: Meeting::Apart, evaluations },
        }
    }
}

impl<'a> Pair<'a> {
    fn new(shape: &'a Shape, flight: &'a Flight, other: Other<'a>) -> Self {
        let own = flight.turning_bound() * shape.circumradius();
        let (bend, size, pull) = match other {
            Other::Body(shape2, flight2) => (
                own + flight2.turning_bound() * shape2.circumradius(),
                shape.circumradius() + shape2.circumradius(),
                flight2.acceleration() - flight.acceleration(),
            ),
            Other::Plane(_) => (own, shape.circumradius(), flight.acceleration()),
        };
        let inside = match other {
            Other::Body(shape2, _) => shape.inradius() + shape2.inradius(),
            Other::Plane(_) => shape.inradius(),
        };
        // Two points have none, and never meet either.
        let roundness = if inside > 0.0 { inside } else { f64::INFINITY };
        Self { shape, flight, other, bend: 0.5 * bend, size, roundness, pull }
    }

    fn at(&self, t: f64) -> Option<Instant> {
        let first = self.flight.at(t);
        let (second, found, distance) = match self.other {
            Other::Body(shape, flight) => {
                let second = flight.at(t);
                let found = gap((self.shape, &first.pose()), (shape, &second.pose()))?;
                (second, found, first.position.norm() + second.position.norm())
            }
            Other::Plane(plane) => {
                (first, gap_to_plane(self.shape, &first.pose(), plane), first.position.norm())
            }
        };
        let passing = match self.other {
            Other::Body(..) => second.velocity_at(&found.points[1]) - first.velocity_at(&found.points[0]),
            Other::Plane(_) => first.velocity_at(&found.points[0]),
        };
        Some(Instant {
            states: [first, second],
            approach: found.normal.dot(&passing),
            // How fast the gap can curve: by turning and falling, and by passing along a rounded body.
            curvature: 2.0 * self.bend + self.pull.norm() + passing.norm_squared() / self.roundness,
            found,
            scale: self.size + distance,
        })
    }

    /// Whether a pair at contact is on its way out: then the first moments are safe, and the search goes on.
    fn leaves(&self, now: &Instant) -> bool {
        now.approach > 0.0 && now.approach * now.approach > 64.0 * ROUNDING * now.scale * now.curvature
    }

    /// The lower bound of the separation after τ.
    fn bound(&self, now: &Instant, tau: f64) -> f64 {
        let n = now.found.normal;
        let [first, second] = &now.states;
        let turned = |state: &State, n: Vector3<f64>, sign: f64| {
            let swung = n + n.cross(&state.angular_velocity) * tau;
            state.orientation.inverse_transform_vector(&(swung * sign))
        };
        let pull = n.dot(&self.pull) * 0.5 * tau * tau;
        match self.other {
            Other::Body(shape, _) => {
                let apart = second.position - first.position + (second.velocity - first.velocity) * tau;
                n.dot(&apart) + pull
                    - self.shape.support_height(&turned(first, n, 1.0))
                    - shape.support_height(&turned(second, n, -1.0))
                    - self.bend * tau * tau
            }
            Other::Plane(plane) => {
                let apart = n.dot(&(first.position + first.velocity * tau)) - plane.offset;
                apart + pull - self.shape.support_height(&turned(first, n, -1.0)) - self.bend * tau * tau
            }
        }
    }

    /// How long the bound stays positive, a little less. Concavity: once it is positive at the end it is so all the way,
    /// and a chord's root never passes the true one.
    fn safe_step(&self, now: &Instant, left: f64) -> f64 {
        if self.bound(now, left) > 0.0 {
            return left;
        }
        let (mut low, mut high) = (0.0, left);
        let mut at_low = now.found.gap.max(0.0);
        let mut at_high = self.bound(now, left);
        // On the way out from contact the bound rises first: find a place where it is positive.
        if at_low <= 4.0 * ROUNDING * now.scale && now.approach > 0.0 {
            let mut tau = left.min(now.approach / (2.0 * self.bend + f64::MIN_POSITIVE));
            for _ in 0..60 {
                let value = self.bound(now, tau);
                if value > 0.0 {
                    (low, at_low) = (tau, value);
                    break;
                }
                (high, at_high) = (tau, value);
                tau *= 0.5;
            }
        }
        for round in 0..200 {
            if high - low <= 1e-6 * low || high - low <= f64::MIN_POSITIVE {
                break;
            }
            // Chords from the left are safe but may crawl where the curve is steep at the far end: halve now and then.
            let tau = if round % 3 == 2 {
                0.5 * (low + high)
            } else {
                low + (high - low) * at_low / (at_low - at_high)
            };
            if tau <= low || tau >= high {
                break;
            }
            let value = self.bound(now, tau);
            if value > 0.0 {
                // A chord that lands on the root to rounding is as far as it goes.
                let arrived = value <= 1e-3 * at_low.min(now.found.gap.abs()) && round % 3 != 2;
                (low, at_low) = (tau, value);
                if arrived {
                    break;
                }
            } else {
                (high, at_high) = (tau, value);
            }
        }
        low
    }

    /// The first touch of the circumscribed spheres, or of the sphere and the plane, if nothing pulls them.
    fn sphere_step(&self, now: &Instant, left: f64) -> f64 {
        let Other::Body(..) = self.other else { return 0.0 };
        if self.pull != Vector3::zeros() {
            return 0.0;
        }
        let [first, second] = &now.states;
        let (x, v) = (second.position - first.position, second.velocity - first.velocity);
        let apart = x.norm_squared() - self.size * self.size;
        let towards = x.dot(&v);
        if apart <= 0.0 {
            return 0.0;
        }
        let square = v.norm_squared();
        let discriminant = towards * towards - square * apart;
        // A discriminant that is zero up to rounding is a graze, which must not be passed by.
        if towards >= 0.0 || discriminant < -1e-12 * towards * towards {
            return left;
        }
        // The smaller root, in the form that does not cancel, a little less.
        (apart / (-towards + discriminant.max(0.0).sqrt()) * (1.0 - 1e-6)).min(left)
    }

    /// Newton on the gap, kept in the window; then the contact and its error.
    fn polish(&self, t: f64, now: Instant, from: f64, until: f64, evaluations: &mut u32) -> Contact {
        let (mut time, mut best) = (t, now);
        let slow = (8.0 * ROUNDING * best.scale * best.curvature).sqrt();
        for _ in 0..4 {
            if best.approach >= -slow {
                break;
            }
            let next = (time - best.found.gap / best.approach).clamp(from, until);
            if next == time {
                break;
            }
            let Some(then) = self.at(next) else { break };
            *evaluations += 1;
            if then.found.gap.abs() >= best.found.gap.abs() {
                break;
            }
            (time, best) = (next, then);
        }
        let unsure = best.found.gap.abs() + ROUNDING * best.scale;
        let (time_error, touch) = if best.approach >= -slow {
            self.settle(time, unsure, until - from, evaluations)
        } else {
            (unsure / -best.approach + 4.0 * f64::EPSILON * time.abs(), Touch::Approaching)
        };
        let point = match self.other {
            Other::Body(..) => (best.found.points[0] + best.found.points[1]) * 0.5,
            Other::Plane(_) => best.found.points[0],
        };
        Contact {
            time,
            time_error,
            gap: best.found.gap,
            normal: best.found.normal,
            point,
            approach: best.approach,
            touch,
        }
    }

    /// How far from a touch without approach the gap is plainly not rounding any more, on the slower side: the time
    /// is known to that. Afterwards the gap is positive, or it is not a graze.
    fn settle(&self, time: f64, unsure: f64, window: f64, evaluations: &mut u32) -> (f64, Touch) {
        let mut worst: f64 = 0.0;
        let mut touch = Touch::Grazing;
        for sign in [-1.0, 1.0] {
            let mut away = (4.0 * f64::EPSILON * time.abs()).max(1e-12 * window);
            while away < window {
                *evaluations += 1;
                let Some(then) = self.at(time + sign * away) else { break };
                if then.found.gap.abs() > 2.0 * unsure {
                    if sign > 0.0 && then.found.gap < 0.0 {
                        touch = Touch::Sinking;
                    }
                    break;
                }
                away *= 2.0;
            }
            worst = worst.max(away.min(window));
        }
        (worst, touch)
    }
}
