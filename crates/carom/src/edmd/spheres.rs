//! Spheres on straight lines: when they touch, in closed form.
//!
//! With x from the first centre to the second, v its rate, and a sum of radii σ that grows at the rate σ̇,
//!
//! ```text
//! |x + vτ| = σ + σ̇τ:    (v² − σ̇²) τ² + 2 (x·v − σσ̇) τ + (x² − σ²) = 0
//! τ = (x² − σ²) / (√D − b),    b = x·v − σσ̇ < 0,    D = b² − (v² − σ̇²)(x² − σ²)
//! ```
//!
//! is the first root, in the form without cancellation. Where b ≥ 0 the spheres part, unless growth overtakes them later. The error of the
//! numerator is about ε x², so the gap at contact is zero within about ε times the distance. A graze whose D is negative by rounding is
//! missed with an overlap of no more than that.
//!
//! In the code `clearance` is x² − σ², `x_dot_v` and `v_squared` are what they say.

use nalgebra::Vector3;
use wide::f64x2;

/// The first τ ≥ 0 at which two spheres touch; infinite if they do not. Spheres that overlap by rounding touch at once if they approach.
#[inline(always)]
pub(super) fn contact_time(
    x: &Vector3<f64>,
    v: &Vector3<f64>,
    clearance: f64,
    size: f64,
    growth: f64,
) -> f64 {
    let b = x.dot(v) - size * growth;
    let square = v.norm_squared() - growth * growth;
    let discriminant = b * b - square * clearance;
    // One branch instead of two: whether the spheres approach is hard to predict, that they do not touch is not.
    if (b < 0.0) & (discriminant >= 0.0) {
        return (clearance / (discriminant.sqrt() - b)).max(0.0);
    }
    // Spheres that part can touch only if they grow faster.
    if growth > 0.0 && square < 0.0 && clearance > 0.0 {
        return (b + discriminant.max(0.0).sqrt()) / -square;
    }
    f64::INFINITY
}

/// [`contact_time`] for spheres of fixed size.
#[inline(always)]
pub(super) fn fixed_contact_time(x_dot_v: f64, v_squared: f64, clearance: f64) -> f64 {
    let discriminant = x_dot_v * x_dot_v - v_squared * clearance;
    if (x_dot_v < 0.0) & (discriminant >= 0.0) {
        (clearance / (discriminant.sqrt() - x_dot_v)).max(0.0)
    } else {
        f64::INFINITY
    }
}

/// Whether two spheres of fixed size touch later than a time or never, without computing a root: the quadratic is positive up to that
/// time and has not passed its minimum. A contact at exactly that time may count as later by rounding.
#[inline(always)]
pub(super) fn touch_later(x_dot_v: f64, v_squared: f64, clearance: f64, time: f64) -> bool {
    let then = clearance + time * (2.0 * x_dot_v + v_squared * time);
    let slope = x_dot_v + v_squared * time;
    let least = |a: f64, b: f64| if a < b { a } else { b };
    // Spheres that part never touch.
    (x_dot_v >= 0.0) | (least(least(clearance, then), -slope) > 0.0)
}

/// [`touch_later`] for two pairs of spheres: where it holds, all bits are set.
#[inline(always)]
pub(super) fn pairs_touch_later(x_dot_v: f64x2, v_squared: f64x2, clearance: f64x2, time: f64x2) -> f64x2 {
    let then = clearance + time * (f64x2::splat(2.0) * x_dot_v + v_squared * time);
    let slope = x_dot_v + v_squared * time;
    let least = clearance.fast_min(then).fast_min(-slope);
    x_dot_v.simd_ge(f64x2::ZERO) | least.simd_gt(f64x2::ZERO)
}

/// The last τ at which a point is still within a sphere about its reference position. `from` is the displacement from there, `radius` the
/// sphere's radius, which shrinks at the rate `shrinking`.
#[inline(always)]
pub(super) fn exit_time(from: &Vector3<f64>, v: &Vector3<f64>, radius: f64, shrinking: f64) -> f64 {
    let square = v.norm_squared() - shrinking * shrinking;
    let along = from.dot(v) + radius * shrinking;
    let left = (radius * radius - from.norm_squared()).max(0.0);
    if radius <= 0.0 {
        return 0.0;
    }
    let root = (along * along + square * left).max(0.0).sqrt();
    // The first positive root of square τ² + 2 along τ = left, in the form without cancellation. Which form that is cannot be predicted, so
    // both share one division.
    let (numerator, denominator) = if along > 0.0 { (left, along + root) } else { (root - along, square) };
    if denominator > 0.0 { numerator / denominator } else { f64::INFINITY }
}

/// The time window of a search: when the bounding spheres of two bodies touch, and when they part for good. `None` if they do not touch.
/// The sum of radii is enlarged a little so that rounding does not matter.
pub(super) fn contact_window(x: &Vector3<f64>, v: &Vector3<f64>, size: f64, growth: f64) -> Option<[f64; 2]> {
    let (size, growth) = (size * MARGIN, growth * MARGIN);
    let clearance = x.norm_squared() - size * size;
    let from = if clearance <= 0.0 { 0.0 } else { contact_time(x, v, clearance, size, growth) };
    if from == f64::INFINITY {
        return None;
    }
    let square = v.norm_squared() - growth * growth;
    let b = x.dot(v) - size * growth;
    let root = (b * b - square * clearance).max(0.0).sqrt();
    let until = if square > 0.0 { (root - b) / square } else { f64::INFINITY };
    Some([from, until])
}

/// The factor by which bounding spheres are enlarged.
pub(super) const MARGIN: f64 = 1.0 + 1e-9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contact_times_of_spheres() {
        let x = Vector3::new(5.0, 0.0, 0.0);
        let clearance = |size: f64| x.norm_squared() - size * size;
        let v = Vector3::new(-1.0, 0.0, 0.0);
        assert_eq!(contact_time(&x, &v, clearance(2.0), 2.0, 0.0), 3.0);
        assert_eq!(contact_time(&x, &-v, clearance(2.0), 2.0, 0.0), f64::INFINITY);
        // They part at 1 and grow at 2: 5 + τ = 2 + 2τ.
        assert_eq!(contact_time(&x, &-v, clearance(2.0), 2.0, 2.0), 3.0);
        assert_eq!(contact_time(&x, &Vector3::zeros(), clearance(2.0), 2.0, 1.0), 3.0);
        // A glancing collision.
        let glance = Vector3::new(-1.0, 0.2, 0.0);
        let tau = contact_time(&x, &glance, clearance(2.0), 2.0, 0.0);
        assert!(((x + glance * tau).norm() - 2.0).abs() < 1e-14);
        let late = |v: &Vector3<f64>, clearance: f64, time: f64| {
            touch_later(x.dot(v), v.norm_squared(), clearance, time)
        };
        assert!(late(&glance, clearance(2.0), 0.99 * tau) && !late(&glance, clearance(2.0), 1.01 * tau));
        assert!(late(&-v, clearance(2.0), 100.0) && !late(&v, 0.0, 1.0));
        let two = |f: &dyn Fn(&Vector3<f64>) -> f64| f64x2::new([f(&glance), f(&-v)]);
        let (products, squares, clearances) =
            (two(&|v| x.dot(v)), two(&Vector3::norm_squared), two(&|_| clearance(2.0)));
        for (time, expected) in [(0.99 * tau, 0b11), (1.01 * tau, 0b10)] {
            let later = pairs_touch_later(products, squares, clearances, f64x2::splat(time));
            assert_eq!(later.to_bitmask(), expected);
        }
        assert_eq!(fixed_contact_time(x.dot(&glance), glance.norm_squared(), clearance(2.0)), tau);
        let [from, until] = contact_window(&x, &glance, 2.0, 0.0).unwrap_or([0.0; 2]);
        assert!((from - tau).abs() < 1e-7 && ((x + glance * until).norm() - 2.0).abs() < 1e-7);
    }

    #[test]
    fn exit_times_from_a_neighbourhood() {
        let from = Vector3::new(0.5, 0.0, 0.0);
        let v = Vector3::new(1.0, 0.0, 0.0);
        assert_eq!(exit_time(&from, &v, 1.0, 0.0), 0.5);
        assert_eq!(exit_time(&from, &-v, 1.0, 0.0), 1.5);
        // 0.5 + τ = 1 − τ.
        assert_eq!(exit_time(&from, &v, 1.0, 1.0), 0.25);
        assert_eq!(exit_time(&from, &Vector3::zeros(), 1.0, 0.0), f64::INFINITY);
        assert_eq!(exit_time(&from, &Vector3::zeros(), 1.0, 2.0), 0.25);
        for v in [Vector3::new(0.3, -0.2, 0.9), Vector3::new(-0.3, 0.1, -0.4)] {
            let tau = exit_time(&from, &v, 1.0, 0.1);
            assert!(((from + v * tau).norm() - (1.0 - 0.1 * tau)).abs() < 1e-15, "{tau}");
        }
    }
}
