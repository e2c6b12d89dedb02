//! The gap followed closely, where it is near and hardly changes.
//!
//! Over a short time H the gap is nearly the cubic through its values and rates at both ends. The value and rate halfway
//! measure the error e of that cubic; the two cubics of the halves, which have that instant to pass through, are better by
//! an order of magnitude. If their minimum is above ½e the piece is clear. If it is plainly below zero it holds a contact.
//! Between the two it is halved, until e is rounding and the minimum is a touch or none.

use super::pair::Instant;
use super::{Course, Meeting, NEAR, Next};
use crate::motion::Motion;
use crate::shape::Convex;

impl<A: Convex, M: Motion, B: Convex, N: Motion> Course<'_, '_, A, M, B, N> {
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
            let [expected, rate] = whole.at(0.5);
            let error = (middle.gap() - expected).abs().max(0.5 * length * (middle.approach - rate).abs());
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
            if found.gap().abs() > 4.0 * found.unsure && length > shortest {
                length = (0.5 * length).min(0.5 * (touch.time - now.time)).max(shortest);
                continue;
            }
            return Err(Meeting::At(self.contact(found)));
        }
        Err(Meeting::Undecided(now.time))
    }
}

const MOST_PIECES: u32 = 2000;
const MOST_HALVINGS: u32 = 60;

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
        for _ in 0..MOST_HALVINGS {
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
