//! Steps that run by a clock: when is what, how far a piece may go, and what bounds it.
//!
//! Within such a step velocities are smooth in σ, not in t: across a ring c'' is infinite, and no bound of it holds. So a leg is
//! cut into pieces, towards the ring and away from it, over each of which dt/dσ = s changes by a bounded factor; there
//!
//! ```text
//! |c''| = |dv/dσ|/s ≤ max|dv/dσ| / min s
//! ```
//!
//! from the coefficients of both on a few panels. The piece that holds the ring itself is so short that all that the velocity
//! changes within, D, moves nothing in its time T by more than rounding:
//!
//! ```text
//! |c(t₁) − c(t₀) − v(t₀)(t₁−t₀)| ≤ D T ≤ 10⁻¹⁵ ℓ
//! ```
//!
//! Its bound is that of an equal acceleration over its own length, 2D/T: what it leaves out is below the rounding of a gap.
//! The same holds for spins.

use nalgebra::Vector3;

use super::Flow;
use super::dense_step::Bounds;
use super::unknowns::{PER_BODY, unpack};
use crate::integrate::gauss::{Gauss, Leg};
use crate::integrate::series::{MOST_TERMS, count};

/// How much the pace may fall below its mean within a piece.
const STEEPEST: f64 = 300.0;

/// What a piece across a ring may leave out, beside the size.
const NOTHING: f64 = 1e-15;

/// The parts in which a piece is bounded.
const PANELS: usize = 8;

/// Places at which the pace is looked at.
const LOOKS: usize = 64;

/// The place of a leg at which an unknown that grows has a value, no later than another place.
pub(super) fn place_of(leg: &Leg, unknown: usize, value: f64, last: f64) -> f64 {
    let at = |place: f64| {
        let mut found = [0.0];
        leg.at(place, unknown..unknown + 1, &mut found);
        found[0] - value
    };
    let (mut low, mut high) = (leg.from, last);
    let (mut under, mut over) = (at(low), at(high));
    if under >= 0.0 {
        return low;
    }
    if over <= 0.0 {
        return high;
    }
    for round in 0..200 {
        let middle = 0.5 * (low + high);
        let chord = low - under * (high - low) / (over - under);
        let next = if round % 2 == 0 && chord > low && chord < high { chord } else { middle };
        if next <= low || next >= high {
            break;
        }
        let found = at(next);
        if found < 0.0 {
            (low, under) = (next, found);
        } else {
            (high, over) = (next, found);
        }
        if found == 0.0 || high - low <= f64::EPSILON * leg.length.abs() {
            break;
        }
    }
    if -under < over { low } else { high }
}

/// How a body's velocities change over a part of a leg: bounds of |dv/dσ|, |dω/dσ| and |ω|.
#[derive(Debug, Clone, Copy)]
struct Swing {
    velocity: f64,
    spin: f64,
    most_spin: f64,
}

impl Flow {
    /// How far a piece of a leg may go, at most until a place, and its bounds.
    pub(super) fn cut(&self, gauss: &Gauss, leg: &Leg, last: f64) -> (f64, Vec<Bounds>) {
        let clock = self.contact_unknown(0, 0);
        let elapsed = |place: f64| {
            let mut time = [0.0];
            leg.at(place, clock..clock + 1, &mut time);
            time[0]
        };
        let swings = self.swings(gauss, leg, [leg.from, last]);
        let swing = swings.iter().zip(&self.lengths).map(|(s, length)| s.velocity + length * s.spin);
        let swing: f64 = swing.fold(0.0, f64::max);
        // What the whole of it leaves out grows with the place.
        let left_out = |place: f64| swing * (place - leg.from) * elapsed(place);
        let nothing = NOTHING * self.length();
        let tiny = if left_out(last) <= nothing {
            last
        } else {
            let (mut low, mut high) = (leg.from, last);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if left_out(middle) <= nothing {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            low
        };
        let mut even = self.even(leg, clock, last);
        while even > tiny {
            if let Some(bounds) = self.clocked_bounds(gauss, leg, even) {
                return (even, bounds);
            }
            even = leg.from + 0.5 * (even - leg.from);
        }
        // By D and T of its own.
        let time = elapsed(tiny).max(f64::MIN_POSITIVE);
        let way = tiny - leg.from;
        let equal = |s: &Swing| Bounds {
            acceleration: 2.0 * s.velocity * way / time,
            turning: 2.0 * s.spin * way / time + s.most_spin * s.most_spin,
        };
        (tiny, self.swings(gauss, leg, [leg.from, tiny]).iter().map(equal).collect())
    }

    /// The farthest place until which the pace stays within a factor of its mean.
    fn even(&self, leg: &Leg, clock: usize, last: f64) -> f64 {
        let mut end = last;
        // Where the first look is too far already, closer ones are taken.
        for _ in 0..12 {
            let width = (end - leg.from) / count(LOOKS);
            let (mut least, mut sum, mut reached) = (f64::INFINITY, 0.0, 0);
            for k in 0..=LOOKS {
                let mut pace = [0.0];
                leg.rate(leg.from + width * count(k), clock..clock + 1, &mut pace);
                least = least.min(pace[0]);
                sum += pace[0];
                if least <= 0.0 || sum / count(k + 1) > STEEPEST * least {
                    break;
                }
                reached = k;
            }
            if reached > 0 {
                return if reached == LOOKS { end } else { leg.from + width * count(reached) };
            }
            end = leg.from + width;
        }
        leg.from
    }

    /// Bounds over a leg until a place; none where the pace is not bounded away from zero.
    fn clocked_bounds(&self, gauss: &Gauss, leg: &Leg, end: f64) -> Option<Vec<Bounds>> {
        let clock = self.contact_unknown(0, 0);
        let mut bounds = vec![Bounds { acceleration: 0.0, turning: 0.0 }; self.bodies.len()];
        let width = (end - leg.from) / count(PANELS);
        for panel in 0..PANELS {
            let part = [leg.from + width * count(panel), leg.from + width * count(panel + 1)];
            let mut values = [0.0; MOST_TERMS];
            for (value, place) in values.iter_mut().zip(places(gauss, part)) {
                let mut pace = [0.0];
                leg.rate(place, clock..clock + 1, &mut pace);
                *value = pace[0];
            }
            let mut series = [0.0; MOST_TERMS];
            gauss.analyse(&values[..gauss.stages()], &mut series);
            let least = series[0] - series[1..].iter().map(|a| a.abs()).sum::<f64>();
            if least.is_nan() || least <= 0.0 {
                return None;
            }
            for (bound, swing) in bounds.iter_mut().zip(self.swings(gauss, leg, part)) {
                bound.acceleration = bound.acceleration.max(swing.velocity / least);
                bound.turning = bound.turning.max(swing.spin / least + swing.most_spin * swing.most_spin);
            }
        }
        Some(bounds)
    }

    /// How the bodies' velocities change over a part of a leg.
    fn swings(&self, gauss: &Gauss, leg: &Leg, part: [f64; 2]) -> Vec<Swing> {
        let mut slot = 0;
        let mut swings = Vec::with_capacity(self.bodies.len());
        for body in &self.bodies {
            if body.fixed {
                swings.push(Swing { velocity: 0.0, spin: 0.0, most_spin: 0.0 });
                continue;
            }
            let base = slot * PER_BODY;
            slot += 1;
            // dv/dσ, ω and dω/dσ at the nodes, component by component.
            let mut values = [[[0.0; MOST_TERMS]; 3]; 3];
            let (mut y, mut dy) = ([0.0; PER_BODY], [0.0; PER_BODY]);
            for (i, place) in places(gauss, part).enumerate() {
                leg.at(place, base..base + PER_BODY, &mut y);
                leg.rate(place, base..base + PER_BODY, &mut dy);
                let state = unpack(&y, &body.inertia);
                let spin = state.angular_velocity;
                let momentum = Vector3::new(y[10], y[11], y[12]);
                // q' = ½ (s ω) q tells the pace of this body's turn.
                let turn = turn_of(&y, &dy);
                let torque = Vector3::new(dy[10], dy[11], dy[12]) - turn.cross(&momentum);
                let local = state.orientation.inverse_transform_vector(&torque).component_div(&body.inertia);
                let rate = state.orientation * local;
                for k in 0..3 {
                    values[0][k][i] = dy[3 + k];
                    values[1][k][i] = rate[k];
                    values[2][k][i] = spin[k];
                }
            }
            let most = |values: &[[f64; MOST_TERMS]; 3]| {
                let mut series = [[0.0; MOST_TERMS]; 3];
                for k in 0..3 {
                    gauss.analyse(&values[k][..gauss.stages()], &mut series[k]);
                }
                bound(&series, gauss.stages())
            };
            swings.push(Swing {
                velocity: most(&values[0]),
                spin: most(&values[1]),
                most_spin: most(&values[2]),
            });
        }
        swings
    }
}

/// Gauss's nodes on a part of a leg.
fn places(gauss: &Gauss, [a, b]: [f64; 2]) -> impl Iterator<Item = f64> + '_ {
    gauss.nodes().iter().map(move |x| a + 0.5 * (b - a) * (x + 1.0))
}

/// The rotation vector's rate 2 q' q⁻¹ of a quaternion among a body's unknowns.
fn turn_of(y: &[f64; PER_BODY], dy: &[f64; PER_BODY]) -> Vector3<f64> {
    let q = nalgebra::Quaternion::new(y[6], y[7], y[8], y[9]);
    let rate = nalgebra::Quaternion::new(dy[6], dy[7], dy[8], dy[9]);
    (rate * q.conjugate()).imag() * (2.0 / q.norm_squared())
}

/// Σ |a_k| of a vector's series: |P_k| ≤ 1. The last is counted twice for what follows it.
pub(super) fn bound(series: &[[f64; MOST_TERMS]; 3], terms: usize) -> f64 {
    let length = |k: usize| Vector3::new(series[0][k], series[1][k], series[2][k]).norm();
    let sum: f64 = (0..terms).map(length).sum();
    (sum + length(terms - 1)) * (1.0 + 1e-12)
}
