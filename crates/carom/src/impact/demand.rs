//! How much friction the surfaces would need to give the impulses that a rough contact or a rolling joint asks of
//! them (the caveat of T1).
//!
//! A grip carries a normal impulse c and a tangential one a; a real surface gives it only if |a| ≤ μ c. Where the
//! impulses are not unique, x = x₀ + s ξ, some sharing may need less: with one self-stress the least common μ
//! over all s is found (for each μ the admissible s form an interval, so bisection decides); it may be a limit that
//! no finite impulse attains.

use nalgebra::Vector2;

use super::mechanism::{Assembly, Mechanism};
use super::outcome::Outcome;
use crate::contact::Surface;
use crate::joint::Kind;

/// A place where the surfaces must grip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grip {
    /// The rough contact of this number.
    Contact(usize),
    /// The rolling joint of this number.
    Joint(usize),
}

/// The friction that the grips need.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand {
    /// |a|/c of each grip for the impulses reported; infinite where the normal does not push.
    pub reported: Vec<(Grip, f64)>,
    /// The least common coefficient over all impulses that give the same velocities, when that family has one
    /// parameter; infinite when no sharing pushes at all grips.
    pub least: Option<f64>,
}

/// Impulses of one grip: at s they are (normal + s normal', tangent + s tangent').
struct Share {
    normal: [f64; 2],
    tangent: [Vector2<f64>; 2],
}

impl Share {
    /// |a| − μ c at s.
    fn excess(&self, s: f64, coefficient: f64) -> f64 {
        let normal = self.normal[0] + s * self.normal[1];
        (self.tangent[0] + self.tangent[1] * s).norm() - coefficient * normal
    }
}

/// What the rough contacts and rolling joints of a mechanism need.
#[must_use]
pub fn demand(mechanism: &Mechanism, assembly: &Assembly, outcome: &Outcome) -> Demand {
    let mut grips = Vec::new();
    let mut shares = Vec::new();
    // Joint rows of a rolling body are (t₁, t₂, n), contact rows (n, t₁, t₂).
    let stress = match outcome.self_stresses.as_slice() {
        [one] => Some(one),
        _ => None,
    };
    let mut push = |grip: Grip, normal: usize, tangent: [usize; 2], of_joint: bool| {
        let pick = |row: usize| {
            let (now, shift) = if of_joint {
                (outcome.bilateral_impulses[row], stress.map_or(0.0, |s| s.bilateral[row]))
            } else {
                (outcome.impulses[row], stress.map_or(0.0, |s| s.contacts[row]))
            };
            [now, shift]
        };
        let (n, t1, t2) = (pick(normal), pick(tangent[0]), pick(tangent[1]));
        grips.push(grip);
        shares.push(Share { normal: n, tangent: [Vector2::new(t1[0], t2[0]), Vector2::new(t1[1], t2[1])] });
    };
    for (k, (contact, rows)) in mechanism.contacts.iter().zip(&assembly.contact_rows).enumerate() {
        if contact.surface == Surface::Rough {
            push(Grip::Contact(k), rows.start, [rows.start + 1, rows.start + 2], false);
        }
    }
    for (k, (joint, rows)) in mechanism.joints.iter().zip(&assembly.joint_rows).enumerate() {
        if matches!(joint.kind, Kind::Rolling { .. }) {
            push(Grip::Joint(k), rows.start + 2, [rows.start, rows.start + 1], true);
        }
    }
    let size = shares.iter().fold(0.0, |m: f64, s| m.max(s.normal[0].abs()).max(s.tangent[0].norm()));
    let negligible = 1e-12 * size;
    let reported = grips
        .into_iter()
        .zip(&shares)
        .filter(|(_, share)| share.normal[0].abs() > negligible || share.tangent[0].norm() > negligible)
        .map(|(grip, share)| {
            let tangent = share.tangent[0].norm();
            let needed = if tangent <= negligible {
                0.0
            } else if share.normal[0] > negligible {
                tangent / share.normal[0]
            } else {
                f64::INFINITY
            };
            (grip, needed)
        })
        .collect();
    let least = (stress.is_some() && size > 0.0).then(|| least_common(&shares, size));
    Demand { reported, least }
}

/// The least μ for which some s satisfies every grip, by bisection; infinite beyond a million.
fn least_common(shares: &[Share], size: f64) -> f64 {
    const MOST: f64 = 1e6;
    let feasible = |coefficient: f64| {
        // The worst excess is convex in s: ternary search. Impulses far beyond the reported ones count as a limit.
        let worst = |s: f64| shares.iter().map(|share| share.excess(s, coefficient)).fold(f64::MIN, f64::max);
        let (mut low, mut high) = (-1e9 * size, 1e9 * size);
        for _ in 0..300 {
            let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if worst(a) < worst(b) {
                high = b;
            } else {
                low = a;
            }
        }
        worst(0.5 * (low + high)) <= 1e-12 * size
    };
    if !feasible(MOST) {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (0.0, MOST);
    for _ in 0..100 {
        let middle: f64 = 0.5 * (low + high);
        if feasible(middle) {
            high = middle;
        } else {
            low = middle;
        }
        if high - low <= 1e-12 * high {
            break;
        }
    }
    high
}
