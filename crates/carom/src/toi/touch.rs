//! Touches: what kind a contact is and how well its time is known, how to get away from one, and the gap followed
//! closely where it hardly changes.
//!
//! Over a short time H the gap is nearly the cubic through its values and rates at both ends. The value and rate halfway
//! measure the error e of that cubic; the two cubics of the halves, which have that instant to pass through, are better by
//! an order of magnitude. If their minimum is above ½e the piece is clear, if it is below −½e it holds a contact, and
//! between the two it is halved, until e is rounding.

use super::pair::Instant;
use super::{Contact, Course, Meeting, NEAR, Next, Touch};
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
        let high = loop {
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
        let mut high = high;
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
            if then.approach < 0.0 {
                low = then
            } else {
                high = then
            }
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
        for _ in 0..60 {
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

    /// Follows the gap from an instant, in pieces that start at a few safe steps, until it is no longer near, the window
    /// ends, or they touch.
    pub(super) fn follow(&mut self, mut now: Instant, safe: f64) -> Next {
        let mut length = 8.0 * safe;
        for _ in 0..MOST_PIECES {
            let left = self.window.until - now.time;
            if left <= 0.0 || now.gap() > NEAR * self.pair.size {
                return Ok(now);
            }
            length = length.min(left);
            self.reached = now.time;
            let middle = self.at(now.time + 0.5 * length, Some(&now))?;
            let end = self.at(now.time + length, Some(&middle))?;
            let whole = Cubic::new(&now, &end);
            let [foretold, rate] = whole.at(0.5);
            let error = (middle.gap() - foretold).abs().max(0.5 * length * (middle.approach - rate).abs());
            let halves = [Cubic::new(&now, &middle), Cubic::new(&middle, &end)];
            let lows = [halves[0].lowest(), halves[1].lowest()];
            let half = usize::from(lows[1][1] < lows[0][1]);
            let [x, low] = lows[half];
            // What the halves may be wrong by, and what rounding hides.
            let margin = 0.5 * error;
            let hidden = now.unsure;
            if low > margin + hidden {
                now = end;
                length *= if 8.0 * margin < low { 2.0 } else { 1.0 };
                continue;
            }
            let shortest = 4.0 * f64::EPSILON * now.time.abs();
            if margin > 0.5 * hidden && length > shortest && low > -8.0 * margin {
                length *= 0.5;
                continue;
            }
            if low > hidden {
                now = end;
                continue;
            }
            // The first time a cubic falls to zero, or its lowest where that is zero within rounding.
            let (from, cubic) = if low < -hidden {
                let first = usize::from(lows[0][1] >= -hidden);
                ([now, middle][first], &halves[first])
            } else {
                ([now, middle][half], &halves[half])
            };
            let time = from.time + cubic.length * if low < -hidden { cubic.first_zero() } else { x };
            let touch = self.at(time, Some(&middle))?;
            let found = if touch.is_slow() { touch } else { self.root(&now, touch.time - now.time)? };
            if found.gap() > 4.0 * found.unsure && length > shortest {
                length = (0.5 * length).min(0.5 * (found.time - now.time)).max(shortest);
                continue;
            }
            return Err(Meeting::At(self.contact(found)));
        }
        Err(Meeting::Undecided(now.time))
    }
}

const MOST_PIECES: u32 = 2000;
const MOST_ROUNDS: u32 = 20;

/// The cubic through the gaps and rates of two instants, over x from 0 to 1.
struct Cubic {
    gaps: [f64; 2],
    /// Rates times the length.
    rates: [f64; 2],
    length: f64,
}

impl Cubic {
    fn new(a: &Instant, b: &Instant) -> Self {
        let length = b.time - a.time;
        Self { gaps: [a.gap(), b.gap()], rates: [a.approach * length, b.approach * length], length }
    }

    /// The value, and the rate in time.
    fn at(&self, x: f64) -> [f64; 2] {
        let [a, b] = self.gaps;
        let rise = b - a;
        let [da, db] = [self.rates[0] - rise, self.rates[1] - rise];
        let y = 1.0 - x;
        let value = a + x * rise + x * y * (da * y - db * x);
        let rate = rise + (y - x) * (da * y - db * x) - x * y * (da + db);
        [value, rate / self.length]
    }

    /// Where it is lowest, and how low.
    fn lowest(&self) -> [f64; 2] {
        let [a, b] = self.gaps;
        let rise = b - a;
        // rate(x) = c₀ + 2c₁x + 3c₂x².
        let c0 = self.rates[0];
        let c2 = self.rates[0] + self.rates[1] - 2.0 * rise;
        let c1 = rise - c0 - c2;
        let mut best = if b < a { [1.0, b] } else { [0.0, a] };
        let discriminant = c1 * c1 - 3.0 * c0 * c2;
        if discriminant >= 0.0 {
            let q = -(c1 + libm::sqrt(discriminant).copysign(c1));
            for x in [q / (3.0 * c2), c0 / q] {
                if x > 0.0 && x < 1.0 {
                    let [value, _] = self.at(x);
                    if value < best[1] {
                        best = [x, value];
                    }
                }
            }
        }
        best
    }

    /// Where it first falls to zero on the way to its lowest, by halves.
    fn first_zero(&self) -> f64 {
        let (mut low, mut high) = (0.0, self.lowest()[0]);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if self.at(middle)[0] > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }
}
