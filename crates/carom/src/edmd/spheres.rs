//! Balls on straight lines: when they touch, in closed form.
//!
//! With x the way from the first centre to the second and v its rate, and a sum of radii σ that grows at the rate σ̇,
//!
//! ```text
//! |x + vτ| = σ + σ̇τ:    (v² − σ̇²) τ² + 2 (x·v − σσ̇) τ + (x² − σ²) = 0
//! τ = (x² − σ²) / (√D − b),    b = x·v − σσ̇ < 0,    D = b² − (v² − σ̇²)(x² − σ²)
//! ```
//!
//! is the first root, in the form that does not cancel. Where b ≥ 0 they part, unless growth overtakes them later. The
//! numerator has an error of some ε x², so the gap is pair within some ε of the distance; a graze whose D rounding makes
//! negative is missed by no more overlap than that.

use nalgebra::Vector3;
use wide::f64x2;

/// The first τ ≥ 0 at which two balls touch; infinite if they do not. `apart` is x² − σ². Balls that overlap by
/// rounding touch now if they close.
#[inline(always)]
pub(super) fn touch(x: &Vector3<f64>, v: &Vector3<f64>, apart: f64, size: f64, growth: f64) -> f64 {
    let towards = x.dot(v) - size * growth;
    let square = v.norm_squared() - growth * growth;
    let discriminant = towards * towards - square * apart;
    // One question instead of two: that they close is as likely as not, that they touch is not.
    if (towards < 0.0) & (discriminant >= 0.0) {
        return (apart / (discriminant.sqrt() - towards)).max(0.0);
    }
    // Only growth that is faster than they part can still close the gap.
    if growth > 0.0 && square < 0.0 && apart > 0.0 {
        return (towards + discriminant.max(0.0).sqrt()) / -square;
    }
    f64::INFINITY
}

/// [`touch`] of balls of fixed size: `towards` is x·v, `square` v².
#[inline(always)]
pub(super) fn root(towards: f64, square: f64, apart: f64) -> f64 {
    let discriminant = towards * towards - square * apart;
    if (towards < 0.0) & (discriminant >= 0.0) {
        (apart / (discriminant.sqrt() - towards)).max(0.0)
    } else {
        f64::INFINITY
    }
}

/// Whether two balls of fixed size touch later than a time, if at all, or never: the quadratic is positive then, and has not
/// turned. `towards` is x·v, `square` v². No root is drawn. Rounding may take a touch at that very time for a later one.
#[inline(always)]
pub(super) fn later(towards: f64, square: f64, apart: f64, time: f64) -> bool {
    let then = apart + time * (2.0 * towards + square * time);
    let turned = towards + square * time;
    let least = |a: f64, b: f64| if a < b { a } else { b };
    // While they part there is nothing to wait for.
    (towards >= 0.0) | (least(least(apart, then), -turned) > 0.0)
}

/// [`later`] of two pairs of balls: all bits of those are set of which it is true.
#[inline(always)]
pub(super) fn both_later(towards: f64x2, square: f64x2, apart: f64x2, time: f64x2) -> f64x2 {
    let then = apart + time * (f64x2::splat(2.0) * towards + square * time);
    let turned = towards + square * time;
    let least = apart.fast_min(then).fast_min(-turned);
    towards.simd_ge(f64x2::ZERO) | least.simd_gt(f64x2::ZERO)
}

/// The last τ at which a body within a ball of radius `room` about home is still in it, when the room shrinks at a rate;
/// `from` is the way from home.
#[inline(always)]
pub(super) fn leave(from: &Vector3<f64>, v: &Vector3<f64>, room: f64, shrinks: f64) -> f64 {
    let square = v.norm_squared() - shrinks * shrinks;
    let along = from.dot(v) + room * shrinks;
    let left = (room * room - from.norm_squared()).max(0.0);
    if room <= 0.0 {
        return 0.0;
    }
    let root = (along * along + square * left).max(0.0).sqrt();
    // square τ² + 2 along τ = left, the first root after now, in the form that does not cancel. Which one that is cannot be
    // guessed, so there is one division for both.
    let (over, under) = if along > 0.0 { (left, along + root) } else { (root - along, square) };
    if under > 0.0 { over / under } else { f64::INFINITY }
}

/// When the balls about two bodies touch, and when they part for good: bounds for a search. None if they do not touch.
/// The sum of radii is taken a little larger than it is, so that no rounding matters.
pub(super) fn window(x: &Vector3<f64>, v: &Vector3<f64>, size: f64, growth: f64) -> Option<[f64; 2]> {
    let (size, growth) = (size * MARGIN, growth * MARGIN);
    let apart = x.norm_squared() - size * size;
    let from = if apart <= 0.0 { 0.0 } else { touch(x, v, apart, size, growth) };
    if from == f64::INFINITY {
        return None;
    }
    let square = v.norm_squared() - growth * growth;
    let towards = x.dot(v) - size * growth;
    let root = (towards * towards - square * apart).max(0.0).sqrt();
    let until = if square > 0.0 { (root - towards) / square } else { f64::INFINITY };
    Some([from, until])
}

pub(super) const MARGIN: f64 = 1.0 + 1e-9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balls_touch_where_they_should() {
        let x = Vector3::new(5.0, 0.0, 0.0);
        let apart = |size: f64| x.norm_squared() - size * size;
        let v = Vector3::new(-1.0, 0.0, 0.0);
        assert_eq!(touch(&x, &v, apart(2.0), 2.0, 0.0), 3.0);
        assert_eq!(touch(&x, &-v, apart(2.0), 2.0, 0.0), f64::INFINITY);
        // They part at 1 and grow at 2: 5 + τ = 2 + 2τ.
        assert_eq!(touch(&x, &-v, apart(2.0), 2.0, 2.0), 3.0);
        assert_eq!(touch(&x, &Vector3::zeros(), apart(2.0), 2.0, 1.0), 3.0);
        // Side by side at √3 · ½ · 2: x² + ... a glancing blow.
        let glance = Vector3::new(-1.0, 0.2, 0.0);
        let tau = touch(&x, &glance, apart(2.0), 2.0, 0.0);
        assert!(((x + glance * tau).norm() - 2.0).abs() < 1e-14);
        let late = |v: &Vector3<f64>, apart: f64, time: f64| later(x.dot(v), v.norm_squared(), apart, time);
        assert!(late(&glance, apart(2.0), 0.99 * tau) && !late(&glance, apart(2.0), 1.01 * tau));
        assert!(late(&-v, apart(2.0), 100.0) && !late(&v, 0.0, 1.0));
        let two = |f: &dyn Fn(&Vector3<f64>) -> f64| f64x2::new([f(&glance), f(&-v)]);
        let (towards, square, gaps) = (two(&|v| x.dot(v)), two(&Vector3::norm_squared), two(&|_| apart(2.0)));
        for (time, expected) in [(0.99 * tau, 0b11), (1.01 * tau, 0b10)] {
            let later = both_later(towards, square, gaps, f64x2::splat(time));
            assert_eq!(later.to_bitmask(), expected);
        }
        assert_eq!(root(x.dot(&glance), glance.norm_squared(), apart(2.0)), tau);
        let [from, until] = window(&x, &glance, 2.0, 0.0).unwrap_or([0.0; 2]);
        assert!((from - tau).abs() < 1e-7 && ((x + glance * until).norm() - 2.0).abs() < 1e-7);
    }

    #[test]
    fn a_body_leaves_home_when_it_should() {
        let from = Vector3::new(0.5, 0.0, 0.0);
        let v = Vector3::new(1.0, 0.0, 0.0);
        assert_eq!(leave(&from, &v, 1.0, 0.0), 0.5);
        assert_eq!(leave(&from, &-v, 1.0, 0.0), 1.5);
        // 0.5 + τ = 1 − τ.
        assert_eq!(leave(&from, &v, 1.0, 1.0), 0.25);
        assert_eq!(leave(&from, &Vector3::zeros(), 1.0, 0.0), f64::INFINITY);
        assert_eq!(leave(&from, &Vector3::zeros(), 1.0, 2.0), 0.25);
        for v in [Vector3::new(0.3, -0.2, 0.9), Vector3::new(-0.3, 0.1, -0.4)] {
            let tau = leave(&from, &v, 1.0, 0.1);
            assert!(((from + v * tau).norm() - (1.0 - 0.1 * tau)).abs() < 1e-15, "{tau}");
        }
    }
}
