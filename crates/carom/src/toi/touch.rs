//! Touches: what kind a contact is, how well its time is known, and how to get away from one.
//!
//! With an approach the time follows from the gap's rounding δ as δ/|v|. Without one the gap stays within rounding of
//! zero for a while. A graze is placed where the gap is lowest, which its rate tells far better than the gap does, and its
//! error is how long it takes until the gap is plainly not rounding any more.

use super::pair::Instant;
use super::{Contact, Course, Meeting, Next, Touch};
use crate::motion::Motion;
use crate::shape::Convex;

impl<A: Convex, M: Motion, B: Convex, N: Motion> Course<'_, '_, A, M, B, N> {
    /// The contact at an instant whose gap is zero within rounding.
    pub(super) fn contact(&mut self, now: Instant) -> Contact {
        let mut now = now;
        let (time, time_error, touch) = if now.is_slow() {
            now = self.lowest(now);
            let (error, touch) = self.settle(&now, now.gap().abs() + now.unsure);
            (now.time, error, touch)
        } else {
            // What is left of the gap is a last correction, too small to be worth another gap.
            let time = (now.time - now.gap() / now.approach).clamp(self.window.from, self.window.until);
            (time, 1.1 * now.unsure / -now.approach, Touch::Approaching)
        };
        Contact {
            time,
            time_error: time_error + 2.0 * f64::EPSILON * now.time.abs(),
            gap: now.gap(),
            normal: now.found.normal,
            point: self.pair.point(&now.found),
            approach: now.approach,
            touch,
        }
    }

    /// The shortest time in which the gap can change by more than its rounding, if it does not change now.
    fn shortest(&self, now: &Instant) -> f64 {
        let window = self.window.until - self.window.from;
        libm::sqrt(now.unsure / now.curvature.max(f64::MIN_POSITIVE))
            .min(window)
            .max(8.0 * f64::EPSILON * now.time.abs())
            .max(1e-15 * window)
    }

    /// From a touch within rounding that still closes, on to where the gap is lowest, if it stays within rounding until
    /// there: the rate tells that place far better than the gap.
    fn lowest(&mut self, now: Instant) -> Instant {
        let mut low = now;
        let mut away = self.shortest(&now);
        let mut high = loop {
            if low.approach >= 0.0 {
                return low;
            }
            let time = (low.time + away).min(self.window.until);
            let Ok(then) = self.at(time, Some(&low)) else { return now };
            if then.gap() < -2.0 * then.unsure || time >= self.window.until {
                return now;
            }
            if then.approach >= 0.0 {
                break then;
            }
            low = then;
            away *= 2.0;
        };
        for round in 0..MOST_ROUNDS {
            let part = if round % 2 == 0 { low.approach / (low.approach - high.approach) } else { 0.5 };
            let time = low.time + part * (high.time - low.time);
            if time <= low.time || time >= high.time {
                break;
            }
            let Ok(then) = self.at(time, Some(&low)) else { break };
            if then.gap() < -2.0 * then.unsure {
                return now;
            }
            let settled = then.approach.abs() <= 1e-3 * now.approach.abs();
            *(if then.approach < 0.0 { &mut low } else { &mut high }) = then;
            if settled {
                break;
            }
        }
        if -low.approach < high.approach { low } else { high }
    }

    /// How far from a touch without approach the gap is plainly not rounding any more, on the slower side: the time
    /// is known to that. Afterwards the gap is positive, or it is not a graze. Looks no further than the window.
    fn settle(&mut self, now: &Instant, unsure: f64) -> (f64, Touch) {
        let mut worst: f64 = 0.0;
        let mut touch = Touch::Grazing;
        for (sign, room) in [(-1.0, now.time - self.window.from), (1.0, self.window.until - now.time)] {
            let mut away = self.shortest(now).min(room);
            loop {
                if away <= 0.0 {
                    break;
                }
                let Ok(then) = self.at(now.time + sign * away, Some(now)) else { break };
                let plain = then.gap().abs() > 2.0 * unsure;
                if sign > 0.0 && (plain || away >= room) && then.gap() < 0.0 {
                    touch = Touch::Sinking;
                }
                if plain || away >= room {
                    break;
                }
                away = (2.0 * away).min(room);
            }
            worst = worst.max(away);
        }
        (worst, touch)
    }

    /// Away from a contact that parts, when its own rate does not say how far it is clear: to where the gap is first
    /// plainly above rounding.
    pub(super) fn step_out(&mut self, from: Instant) -> Next {
        let left = self.window.until - from.time;
        let level = 8.0 * from.unsure;
        let mut last = from;
        let mut away = self.shortest(&from);
        loop {
            let away_now = away.min(left);
            let then = self.at(from.time + away_now, Some(&last))?;
            if then.gap() > level {
                return Ok(then);
            }
            // They did not part, or parted by no more than rounding and met again.
            if then.gap() < -level.max(2.0 * from.gap().abs()) {
                let found = self.crossing(last, then)?;
                return Err(Meeting::At(self.contact(found)));
            }
            if away_now >= left {
                return Err(Meeting::Apart);
            }
            last = then;
            away *= 2.0;
        }
    }

    /// By halves, the last instant that does not plainly overlap.
    fn crossing(&mut self, mut low: Instant, mut high: Instant) -> Next {
        for _ in 0..MOST_HALVINGS {
            let middle = 0.5 * (low.time + high.time);
            if middle <= low.time || middle >= high.time {
                break;
            }
            let then = self.at(middle, Some(&low))?;
            if then.gap() < -then.unsure {
                high = then;
            } else {
                low = then;
            }
        }
        Ok(low)
    }
}

const MOST_ROUNDS: u32 = 20;
const MOST_HALVINGS: u32 = 60;
