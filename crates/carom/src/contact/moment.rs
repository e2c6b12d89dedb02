//! When two bodies touch without approach.
//!
//! Near such a touch the gap is flat: rounding ε of it leaves the time open by √(ε/g''), or by ∛(ε/g''') where g'' vanishes too.
//! Its derivatives know better. A graze is where g' = 0, good to ε/g''; and where free flight would let the bodies sink into one
//! another, which without approach takes g'' = 0 and g''' < 0 (the paradox), it is where g'' changes sign, good to ε/g'''. Newton's
//! method finds either from the kinematics of free flight.

use super::kinematics::Kinematics;

/// The sizes that rounding is measured by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sizes {
    /// Of the bodies.
    pub length: f64,
    /// Of the velocities at the contact.
    pub speed: f64,
}

/// The relative velocity, over the speeds, that counts as zero where the derivatives decide.
const STILL: f64 = 1e-9;

/// Rounding of a velocity or an acceleration, relative.
const ROUNDING: f64 = 1e-15;

/// A better time for a touch, with a bound on its error; from one that is good to `error`, by the kinematics at any time near. Where
/// neither derivative has its zero within the error, or the bodies approach there after all, it is the zero of the gap.
pub fn moment(
    at: impl Fn(f64) -> Option<Kinematics>,
    time: f64,
    error: f64,
    sizes: Sizes,
    slow: impl Fn(&Kinematics) -> f64,
) -> (f64, f64) {
    let Some(first) = at(time) else { return (time, error) };
    let acceleration = sizes.speed * sizes.speed / sizes.length;
    let inflection = |k: &Kinematics| if k.g3 < 0.0 { -k.g2 / k.g3 } else { f64::INFINITY };
    let lowest = |k: &Kinematics| if k.g2 > 0.0 { -k.v / k.g2 } else { f64::INFINITY };
    for kind in [Zero::Inflection, Zero::Lowest] {
        let (mut t, mut k) = (time, first);
        let mut last = f64::INFINITY;
        for _ in 0..8 {
            let by = match kind {
                Zero::Inflection => inflection(&k),
                Zero::Lowest => lowest(&k),
            };
            if by.is_nan() || by.abs() > 4.0 * error || by.abs() >= last {
                break;
            }
            last = by.abs();
            let Some(next) = at(t + by) else { break };
            (t, k) = (t + by, next);
        }
        let settled = last <= 1e-4 * error && (t - time).abs() <= 4.0 * error;
        if settled && k.v.abs() <= slow(&k).max(STILL * sizes.speed) {
            let floor = match kind {
                Zero::Inflection => ROUNDING * acceleration / k.g3.abs(),
                Zero::Lowest => ROUNDING * sizes.speed / k.g2.abs(),
            };
            return (t, last.max(floor).max(4.0 * f64::EPSILON * t.abs()));
        }
    }
    root(at, (time, first), error, slow)
}

/// Which derivative vanishes.
#[derive(Clone, Copy)]
enum Zero {
    /// g''.
    Inflection,
    /// g'.
    Lowest,
}

/// What approaches after all is where the gap is zero.
fn root(
    at: impl Fn(f64) -> Option<Kinematics>,
    (mut time, mut k): (f64, Kinematics),
    error: f64,
    slow: impl Fn(&Kinematics) -> f64,
) -> (f64, f64) {
    for _ in 0..4 {
        if k.v >= -slow(&k) || k.gap == 0.0 {
            break;
        }
        let Some(next) = at(time - k.gap / k.v) else { break };
        if next.gap.abs() >= k.gap.abs() {
            break;
        }
        (time, k) = (time - k.gap / k.v, next);
    }
    (time, error)
}
