//! Rings over which a motion is not smooth, and legs that end on them.
//!
//! Where a contact point crosses a ring x_i = 0 of a superellipsoid the curvature is ∝ |x_i|^{p−2}, and so are the rates of every
//! motion that rolls there, flat or not. For an exponent p that is not even they have a kink. A leg that goes beyond the ring by x
//! is wrong by
//!
//! ```text
//! δ ∝ x^{p−1}
//! ```
//!
//! and its coefficients need not tell: what lies before the first of Gauss's nodes or after the last, half a percent of
//! the leg on either side, is seen by none of them. So a leg ends on the first such ring, to an x with x^{p−1} below rounding, and
//! the next one sets out from there. The first length tried is aimed at the ring, as the point runs at the start.
//!
//! **How it fails.** Looks are a sixteenth of the leg apart, and a parabola through three of them finds a dip between; a dip that
//! this misses too is crossed as it comes.

use nalgebra::Vector3;

use super::Flow;
use super::system::System;
use crate::contact::Side;
use crate::integrate::gauss::{Field, Leg};
use crate::integrate::series::count;
use crate::shape::Convex;

/// What a leg may be wrong by for having a kink within, relative to sizes.
const KINK: f64 = 1e-17;

/// Looks for a sign within a leg.
const LOOKS: usize = 16;

/// A component of a contact point: of a contact, on one of its sides, along an axis of that body.
#[derive(Debug, Clone, Copy)]
struct Across {
    contact: usize,
    side: usize,
    body: usize,
    /// Within this distance of the ring a leg may end on either side of it.
    tolerance: f64,
}

impl Flow {
    /// The sides of contacts that have kinks.
    fn kinks(&self) -> impl Iterator<Item = Across> + '_ {
        self.contacts.iter().enumerate().flat_map(move |(contact, held)| {
            held.sides.iter().enumerate().filter_map(move |(side, part)| {
                let Side::Body(body) = *part else { return None };
                let exponent = self.bodies[body].shape.exponent();
                if exponent <= 2.0 || 2.0 * libm::floor(0.5 * exponent) == exponent {
                    return None;
                }
                let tolerance = self.lengths[body] * libm::pow(KINK, 1.0 / (exponent - 1.0));
                Some(Across { contact, side, body, tolerance })
            })
        })
    }

    /// How far it is to the first ring with a kink, as contact points run now: for contacts just touched.
    pub(super) fn kink_ahead(&self, system: &System) -> Option<f64> {
        let mut first: Option<f64> = None;
        for at in self.kinks() {
            let point = system.body_point(&at);
            let rate = system.placed[at.body].axes.tr_mul(&system.touches[at.contact].rolling[at.side]);
            for k in 0..3 {
                let way = -point[k] / rate[k];
                if point[k].abs() > at.tolerance && way > 0.0 && first.is_none_or(|first| way < first) {
                    first = Some(way);
                }
            }
        }
        first
    }

    /// Where a leg first crosses a ring with a kink. It should end there, and the next one set out from there.
    pub(super) fn first_kink(&self, system: &mut System, leg: &Leg) -> Option<f64> {
        let mut first: Option<f64> = None;
        let mut y = vec![0.0; system.coupled()];
        for at in self.kinks() {
            let mut look = |place: f64| {
                leg.at(place, 0..y.len(), &mut y);
                system.place_unknowns(place, &y);
                system.body_point(&at)
            };
            let place = |k: usize| leg.from + leg.length * (count(k) / count(LOOKS));
            let points: [Vector3<f64>; LOOKS + 1] = core::array::from_fn(|k| look(place(k)));
            for axis in 0..3 {
                let values = points.map(|point| point[axis]);
                let found = first_change(&values, at.tolerance, |k: f64| {
                    look(leg.from + leg.length * (k / count(LOOKS)))[axis]
                });
                if let Some(k) = found {
                    let place = leg.from + leg.length * (k / count(LOOKS));
                    first = Some(first.map_or(place, |first| first.min(place)));
                }
            }
        }
        first
    }
}

impl System<'_> {
    /// A contact point in the axes of one of its bodies: as carried, or as the bodies lie.
    fn body_point(&self, at: &Across) -> Vector3<f64> {
        if let Some(flat) = self.flats[at.contact].as_ref().filter(|_| self.clock) {
            return flat.points[at.side];
        }
        let touch = self.plain_contact(at.contact);
        touch.map_or_else(Vector3::zeros, |touch| self.placed[at.body].axes.tr_mul(&touch.arms[at.side]))
    }
}

/// Where something first changes its sign by more than a tolerance, from its values at 0, 1, 2 …, and anywhere between.
fn first_change(values: &[f64], tolerance: f64, mut at: impl FnMut(f64) -> f64) -> Option<f64> {
    // The last value beyond the tolerance, and where.
    let mut known: Option<(f64, f64)> = None;
    for (k, &value) in values.iter().enumerate() {
        if value.abs() <= tolerance {
            continue;
        }
        let here = count(k);
        if let Some((low, before)) = known {
            if before * value < 0.0 {
                return Some(root([low, before], [here, value], tolerance, at));
            }
            // A dip between: the vertex of the parabola through the last three looks.
            if k >= 2 {
                let [a, b, c] = [values[k - 2], values[k - 1], value];
                let bend = a - 2.0 * b + c;
                let off = 0.5 * (a - c) / bend;
                if bend * value > 0.0 && off.abs() < 1.0 && (b - 0.5 * bend * off * off) * value < 0.0 {
                    let vertex = here - 1.0 + off;
                    let dip = at(vertex);
                    if dip * value < 0.0 && dip.abs() > tolerance {
                        let (from, start) = if off < 0.0 { (here - 2.0, a) } else { (here - 1.0, b) };
                        return Some(root([from, start], [vertex, dip], tolerance, at));
                    }
                }
            }
        }
        known = Some((here, value));
    }
    None
}

/// A place between two of different signs at which a value is within half the tolerance of zero, or as near as places tell.
fn root(
    [mut low, mut under]: [f64; 2],
    [mut high, mut over]: [f64; 2],
    tolerance: f64,
    mut at: impl FnMut(f64) -> f64,
) -> f64 {
    for round in 0..100 {
        let middle = 0.5 * (low + high);
        let chord = low - under * (high - low) / (over - under);
        let next = if round % 3 < 2 && chord > low && chord < high { chord } else { middle };
        if next <= low || next >= high {
            break;
        }
        let found = at(next);
        if found.abs() <= 0.5 * tolerance {
            return next;
        }
        if found * under > 0.0 {
            (low, under) = (next, found);
        } else {
            (high, over) = (next, found);
        }
    }
    high
}
