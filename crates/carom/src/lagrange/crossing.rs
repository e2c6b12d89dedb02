//! When a wall is first reached within a step.
//!
//! Along the step's polynomial g has a value and a slope at any time, and over a stretch [t, t + w] a lower bound −M of g'' by interval
//! arithmetic, from enclosures of q, v and v' there. Then
//!
//! ```text
//! g(t + τ) ≥ g(t) + g'(t) τ − ½ M τ²,    so that no wall is reached before   τ = (g' + √(g'² + 2 M g))/M
//! ```
//!
//! which is a safe step, and near a crossing Newton's. Stretches grow and shrink with the steps made. Enclosures: v' stays
//! within its Legendre coefficients, |Σ_{k≥1} b_k P_k| ≤ Σ |b_k|; v and q follow from their middle values by the mean value theorem.

use core::ops::ControlFlow;

use super::dynamics::{Dynamics, halves};
use super::{Dual, Interval, System};
use crate::integrate::gauss::{Gauss, Leg};
use crate::integrate::series::{MOST_TERMS, first_fall};

/// A wall reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Crossing {
    pub wall: usize,
    pub time: f64,
    pub time_error: f64,
    /// Whether it is proven for the step's polynomial that the wall is not reached before.
    pub certified: bool,
}

/// A gap's rounding, relative to what the coordinates' scales make of it.
pub(super) const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Slopes below this, relative to the motion's, count as zero when a search begins at a wall.
const LEVEL: f64 = 1e-9;

/// The steps that a search makes before it turns to the series instead.
const MOST_STEPS: u32 = 4000;

/// Stretches shorter than this part of the step are not bounded any better than this.
const SHORTEST: f64 = 1e-9;

/// A wall to be found.
#[derive(Clone, Copy)]
struct Target {
    wall: usize,
    /// The end of the search.
    until: f64,
    /// What the coordinates' scales make of the gap.
    reach: f64,
    /// The gap's rounding.
    noise: f64,
}

/// A gap and its slope at a time.
#[derive(Clone, Copy)]
struct Point {
    time: f64,
    gap: f64,
    slope: f64,
}

/// Working space, used again for every point.
struct Space {
    y: Vec<f64>,
    gaps: Vec<Dual<Dual<f64, 1>, 1>>,
}

/// The time in which a gap with g'' ≥ −`bend` cannot close.
fn safe_step(now: Point, bend: f64) -> f64 {
    let (height, slope) = (now.gap.max(0.0), now.slope);
    let root = libm::sqrt(slope * slope + 2.0 * bend * height);
    if slope < 0.0 {
        2.0 * height / (root - slope)
    } else if bend > 0.0 {
        (slope + root) / bend
    } else {
        f64::INFINITY
    }
}

/// One leg being searched.
pub(super) struct Search<'a, M, const N: usize> {
    pub dynamics: &'a mut Dynamics<M, N>,
    pub gauss: &'a Gauss,
    pub leg: &'a Leg,
    pub tempo: f64,
    pub accuracy: f64,
    /// Whether every search so far had its bounds.
    pub certain: bool,
}

impl<M: System<N>, const N: usize> Search<'_, M, N> {
    /// The first of the walls that are not held to be reached until a time.
    pub fn first(&mut self, until: f64) -> Option<Crossing> {
        let from = self.leg.from;
        let accelerations = self.accelerations();
        let mut gaps = Vec::with_capacity(self.dynamics.walls.len());
        self.enclose(from, until, &accelerations, &mut gaps);
        let near: Vec<bool> = gaps
            .iter()
            .map(|g: &Dual<_, 1>| g.value.value.low.is_nan() || g.value.value.low <= 0.0)
            .collect();
        let mut first: Option<Crossing> = None;
        for wall in (0..near.len()).filter(|&wall| near[wall]) {
            if self.dynamics.held.contains(&wall) {
                continue;
            }
            let end = first.map_or(until, |c| c.time);
            if let Some(found) = self.wall(wall, end, &accelerations, &mut gaps)
                && first.is_none_or(|c| found.time < c.time)
            {
                first = Some(found);
            }
        }
        first
    }

    /// Enclosures of v' over the leg.
    fn accelerations(&self) -> [Interval; N] {
        core::array::from_fn(|i| {
            let (b, terms) = self.leg.series(N + i);
            let rest: f64 = b[1..terms].iter().map(|b| b.abs()).sum();
            Interval::about(b[0], rest * (1.0 + ROUNDING))
        })
    }

    /// Encloses the gaps and their first two derivatives over a stretch.
    fn enclose(&self, from: f64, until: f64, a: &[Interval; N], gaps: &mut Vec<Dual<Dual<Interval, 1>, 1>>) {
        let radius = 0.5 * (until - from);
        let mut y = vec![0.0; 2 * N];
        self.leg.at(from + radius, 0..2 * N, &mut y);
        let (q, v) = halves::<N>(&y);
        let around = Interval::about(0.0, radius * (1.0 + ROUNDING));
        let v: [Interval; N] = core::array::from_fn(|i| {
            let scale = self.dynamics.scales[i] * self.tempo;
            Interval::about(v[i], ROUNDING * scale) + around * a[i]
        });
        let q: [Interval; N] = core::array::from_fn(|i| {
            Interval::about(q[i], ROUNDING * self.dynamics.scales[i]) + around * v[i]
        });
        self.dynamics.gaps_along(&q, &v, a, gaps);
    }

    /// When a wall is first reached, up to a time.
    fn wall(
        &mut self,
        wall: usize,
        until: f64,
        accelerations: &[Interval; N],
        enclosures: &mut Vec<Dual<Dual<Interval, 1>, 1>>,
    ) -> Option<Crossing> {
        let (q, _) = halves::<N>(self.leg.start());
        let (start, gradient) = self.dynamics.gap(wall, &q);
        let reach = self.dynamics.reach(&gradient) + start.abs();
        let target = Target { wall, until, reach, noise: ROUNDING * reach };
        let mut space = Space { y: vec![0.0; 2 * N], gaps: Vec::with_capacity(self.dynamics.walls.len()) };
        let found = match self.leave(target, &mut space) {
            ControlFlow::Continue(start) => self.march(target, start, accelerations, enclosures, &mut space),
            ControlFlow::Break(found) => return found,
        };
        match found {
            ControlFlow::Break(found) => found,
            ControlFlow::Continue(()) => {
                self.certain = false;
                self.by_series(target, &mut space)
            }
        }
    }

    /// A gap and its slope.
    fn at(&self, wall: usize, time: f64, space: &mut Space) -> Point {
        self.leg.at(time, 0..2 * N, &mut space.y);
        let (q, v) = halves::<N>(&space.y);
        self.dynamics.gaps_along(&q, &v, &[0.0; N], &mut space.gaps);
        let gap = space.gaps[wall].value;
        Point { time, gap: gap.value, slope: gap.parts[0] }
    }

    /// The crossing, with the error that the gap's rounding and the step's make of its time.
    fn crossing(&self, target: Target, time: f64, slope: f64, certified: bool) -> Crossing {
        let off = target.noise + 4.0 * self.accuracy * target.reach;
        let time_error = (off / slope.abs()).min(self.leg.length.abs()) + 4.0 * f64::EPSILON * time.abs();
        Crossing { wall: target.wall, time, time_error, certified }
    }

    /// Where the search begins: at the start of the leg, or, where the wall is touched there without approach, as soon as the gap
    /// is beyond rounding. Breaks with the crossing if it is then beyond the wall, or without one if it stays within rounding.
    fn leave(&self, target: Target, space: &mut Space) -> ControlFlow<Option<Crossing>, Point> {
        let from = self.leg.from;
        let start = self.at(target.wall, from, space);
        let touches = start.gap <= target.noise && start.slope.abs() <= LEVEL * target.reach * self.tempo;
        if !touches {
            return ControlFlow::Continue(start);
        }
        let mut away = f64::EPSILON * self.leg.length;
        loop {
            let there = self.at(target.wall, from + away, space);
            if there.gap < -target.noise {
                return ControlFlow::Break(Some(self.crossing(target, from, start.slope, true)));
            }
            if there.gap > target.noise {
                return ControlFlow::Continue(there);
            }
            if from + away >= target.until {
                return ControlFlow::Break(None);
            }
            away = (2.0 * away).min(target.until - from);
        }
    }

    /// Safe steps to the wall or to the end. Continues if no bound is available, or after too many steps.
    fn march(
        &self,
        target: Target,
        start: Point,
        accelerations: &[Interval; N],
        enclosures: &mut Vec<Dual<Dual<Interval, 1>, 1>>,
        space: &mut Space,
    ) -> ControlFlow<Option<Crossing>> {
        let until = target.until;
        let mut now = start;
        let mut width = until - now.time;
        for _ in 0..MOST_STEPS {
            if now.gap <= target.noise && now.slope < 0.0 {
                let last = self.polish(target, now, space);
                return ControlFlow::Break(Some(self.crossing(target, last.time, last.slope, true)));
            }
            let t = now.time;
            if t >= until {
                return ControlFlow::Break(None);
            }
            let window = width.min(until - t);
            self.enclose(t, t + window, accelerations, enclosures);
            let low = enclosures[target.wall].parts[0].parts[0].low;
            if !low.is_finite() {
                width = 0.25 * window;
                if width < SHORTEST * self.leg.length {
                    break;
                }
                continue;
            }
            let safe = safe_step(now, (-low).max(0.0));
            let next = if safe >= window {
                let next = if window < width { until } else { t + window };
                width = 2.0 * window;
                next
            } else if t + safe > t {
                width = 4.0 * safe.max(SHORTEST * self.leg.length);
                t + safe
            } else {
                // It comes no nearer than rounding sees.
                return ControlFlow::Break(Some(self.crossing(target, t, now.slope, true)));
            };
            now = self.at(target.wall, next, space);
        }
        ControlFlow::Continue(())
    }

    /// Newton's last steps, on the polynomial itself.
    fn polish(&self, target: Target, mut now: Point, space: &mut Space) -> Point {
        for _ in 0..3 {
            let next = (now.time - now.gap / now.slope).clamp(self.leg.from, target.until);
            if next == now.time {
                break;
            }
            now = self.at(target.wall, next, space);
        }
        now
    }

    /// The first fall of the gap's own series, which is not certified.
    fn by_series(&self, target: Target, space: &mut Space) -> Option<Crossing> {
        let stages = self.gauss.stages();
        let (mut values, mut series) = ([0.0; MOST_TERMS], [0.0; MOST_TERMS]);
        for i in 0..stages {
            values[i] = self.at(target.wall, self.leg.time(self.gauss.nodes()[i]), space).gap;
        }
        self.gauss.analyse(&values[..stages], &mut series);
        let noise = target.noise + 4.0 * (series[stages - 1].abs() + series[stages - 2].abs());
        let time = self.leg.time(first_fall(&series[..stages], noise)?);
        if time > target.until {
            return None;
        }
        let slope = self.at(target.wall, time, space).slope;
        Some(self.crossing(target, time, slope, false))
    }

    /// When a held wall's multiplier first falls below zero, and the error of that time.
    pub fn lift_off(&mut self, place: usize, until: f64) -> Result<Option<(f64, f64)>, super::Obstacle> {
        let row = self.dynamics.row_of(place);
        let stages = self.gauss.stages();
        let (mut values, mut series) = ([0.0; MOST_TERMS], [0.0; MOST_TERMS]);
        let mut y = vec![0.0; 2 * N];
        let mut response: f64 = 0.0;
        for i in 0..stages {
            values[i] = self.multiplier(row, self.leg.time(self.gauss.nodes()[i]), &mut y)?;
            response = response.max(self.dynamics.balance.response(row));
        }
        self.gauss.analyse(&values[..stages], &mut series);
        // What the rounding of an acceleration makes of the force.
        let reach = self.dynamics.reach(&self.dynamics.rows[row]);
        let rounding = ROUNDING * reach * self.tempo * self.tempo / response;
        let noise = rounding + 4.0 * (series[stages - 1].abs() + series[stages - 2].abs());
        let Some(x) = first_fall(&series[..stages], noise) else { return Ok(None) };
        let mut time = self.leg.time(x);
        if time > until {
            return Ok(None);
        }
        // The slope by a difference over a thousandth of the leg; the value from the equations themselves.
        let apart = 1e-3 * self.leg.length;
        let before = (time - apart).max(self.leg.from);
        let slope = (self.multiplier(row, time + apart, &mut y)? - self.multiplier(row, before, &mut y)?)
            / (time + apart - before);
        if x > -1.0 && slope < 0.0 {
            for _ in 0..6 {
                let value = self.multiplier(row, time, &mut y)?;
                let next = (time - value / slope).clamp(self.leg.from, until);
                if (next - time).abs() > 1e-3 * self.leg.length || next == time {
                    break;
                }
                time = next;
            }
        }
        let error = (rounding / slope.abs()).min(self.leg.length) + 4.0 * f64::EPSILON * time.abs();
        Ok(Some((time, error)))
    }

    fn multiplier(&mut self, row: usize, t: f64, y: &mut [f64]) -> Result<f64, super::Obstacle> {
        self.leg.at(t, 0..2 * N, y);
        let (q, v) = halves::<N>(y);
        self.dynamics.accelerate(t, &q, &v)?;
        Ok(self.dynamics.multiplier(row))
    }
}
