//! Bodies that interpenetrate at a paradox, as the scene asks, until they separate again.

use super::dynamics::Dynamics;
use super::pair::Pair;

/// Steps in the time in which the pair passes its own size.
const STEPS: f64 = 64.0;

/// When an interpenetration ends, by steps and bisection, if it ends before the run does, and the smallest gap before. `None` if that
/// cannot be computed.
pub(super) fn exit(dynamics: &Dynamics, pair: &Pair, t: f64) -> Option<(Option<f64>, f64)> {
    let world = &dynamics.world;
    let end = dynamics.end();
    let speed = pair.speed(world, |body| dynamics.state(body, t));
    let step = pair.size(world) / speed / STEPS;
    if step <= 0.0 || !step.is_finite() {
        return None;
    }
    let gap_at = |time: f64| dynamics.gap(pair, time).map(|found| found.gap);
    let (mut low, mut deepest) = (t, 0.0_f64);
    let mut high = loop {
        if low >= end {
            return Some((None, deepest));
        }
        let time = low + step;
        let gap = gap_at(time)?;
        deepest = deepest.min(gap);
        // At first the overlap may be within rounding.
        if gap > 0.0 && low > t {
            break time;
        }
        low = time;
    };
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return Some((Some(high), deepest));
        }
        if gap_at(middle)? > 0.0 { high = middle } else { low = middle }
    }
}
