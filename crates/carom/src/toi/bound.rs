//! A lower bound of the separation of two moving bodies, concave in time.
//!
//! For a fixed unit n the separation n·(c₂−c₁) − h₁(m₁) − h₂(m₂), with m₁ = R₁ᵀn and m₂ = −R₂ᵀn, is a lower bound of
//! the gap. The centres' part is a parabola, with −½Uτ² for what is not uniform in their acceleration. A body's
//! direction m obeys m' = m×Ω in its own axes. With Ω held at its start, θ = |Ω|τ and k = |m×Ω|/|Ω|,
//!
//! ```text
//! m(τ) = m + τm' + r,    |r| ≤ ½kθ²,    −r·m(τ) = k²[(1−cos θ) cos θ + (θ−sin θ) sin θ] ≥ 0.38 k²θ²   for θ ≤ 1,
//! ```
//!
//! and the true direction is within an angle ½Wτ² of it, W ≥ |Ω'|. Let a ball of radius ρ roll inside the body, so that
//! η(m) = h(m) − ρ|m| is convex too, r₀ and E bound h from below and |∇h| across m from above, over unit m. Then
//!
//! ```text
//! h(m(τ)) ≤ ρ + η(m + τm') + τ²[½WE + |Ω|²k (½E − 0.38 (r₀−ρ) k)₊]
//! ```
//!
//! by convexity of η at m(τ). The right side is convex in τ and exact to first order; a ball has E = 0 and no term at
//! all. The bound of theory.md, section 3, is the case ρ = r₀ = 0, E = R with the greatest |Ω|. Where a body turns too
//! fast for this, h ≤ R serves.
//!
//! **Along a turning normal.** A flat that turns against a fixed n swings its edges out: its h grows at once, though the gap
//! does not. Any n(τ) will do, of any length, because a positive separation along it parts the bodies all the same. Along
//! n + τν, with ν across n, the centres' part is (n + τν)·(Δc + τΔv + ½τ²a), and a body's direction, with μ = ±Rᵀν,
//! b = m×Ω and Ω held at its start,
//!
//! ```text
//! m(τ) = m + τ(b + μ) + τ²q + r,    q = ½ b×Ω + μ×Ω,    |r| ≤ τ³|Ω|(|Ω||b| + 4|μ×Ω|)/6    for |Ω|τ ≤ 1.
//! ```
//!
//! With α = q·m, and as m(τ) is within an angle (|b| + |μ|)τ of m, convexity of η at m(τ) gives for τ ≤ T
//!
//! ```text
//! h(m(τ)) ≤ ρ + η(m + τ(b + μ)) + τ²[H α + E|q − αm| + T C + ½ρ|ν|² + ½WE(1 + ½|ν|²T²)],
//! H = R−ρ for α > 0, else r₀−ρ,    C = (R−ρ+E)|q|(|b| + |μ|) + R|Ω|(|Ω||b| + 4|μ×Ω|)/6
//! ```
//!
//! It is exact to first order for any ν, because Q − P = g n has no part along ν; and to second order in the shapes where ν
//! is the rate of the gap's own normal. A concave bound ends no later than its tangent now, which limits T.

use nalgebra::Vector3;

use crate::body::State;
use crate::shape::Convex;

/// What the bound needs to know of a body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    /// R.
    pub circumradius: f64,
    /// r₀.
    pub inradius: f64,
    /// ρ.
    pub rolling: f64,
    /// E.
    pub lever: f64,
    /// W.
    pub spin_rate: f64,
}

impl Extent {
    pub fn new<S: Convex>(shape: &S, spin_rate: f64) -> Self {
        if let Some(radius) = shape.ball() {
            return Self { circumradius: radius, inradius: radius, rolling: radius, lever: 0.0, spin_rate };
        }
        let (circumradius, inradius) = (shape.circumradius(), shape.inradius());
        let rolling = shape.rolling_radius().min(inradius);
        Self { circumradius, inradius, rolling, lever: shape.lever(), spin_rate }
    }
}

/// How a body's reach along the normal is bounded.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mode {
    /// As it turns, for up to a radian.
    Turning,
    /// By the ball that holds it, for ever.
    Ball,
    /// As it turns, along a direction that drifts.
    Drifting(Drift),
}

/// How a direction d drifts: d + τδ, for no longer than a span.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drift {
    /// δ, across d.
    pub rate: Vector3<f64>,
    /// T.
    pub span: f64,
}

/// A body's reach along the normal as it turns, less its rolling ball.
struct Swing<'a, S> {
    shape: &'a S,
    rolling: f64,
    direction: Vector3<f64>,
    rate: Vector3<f64>,
}

impl<S: Convex> Swing<'_, S> {
    fn height(&self, tau: f64) -> f64 {
        let direction = self.direction + self.rate * tau;
        let rolling =
            if self.rolling == 0.0 { 0.0 } else { self.rolling * libm::sqrt(direction.norm_squared()) };
        self.shape.support_height(&direction) - rolling
    }
}

/// constant + slope τ + bend τ² less what the bodies reach.
pub(super) struct Bound<'a, A, B> {
    constant: f64,
    slope: f64,
    bend: f64,
    first: Option<Swing<'a, A>>,
    second: Option<Swing<'a, B>>,
    /// It holds until then.
    horizon: f64,
    /// Its value and its slope now: the gap, and the speed of the points.
    now: [f64; 2],
}

impl<'a, A: Convex, B: Convex> Bound<'a, A, B> {
    /// For centres whose distance along the normal goes as height + speed τ + bend τ², and now the gap and its rate.
    pub fn new(height: f64, speed: f64, bend: f64, now: [f64; 2]) -> Self {
        Self { constant: height, slope: speed, bend, first: None, second: None, horizon: f64::INFINITY, now }
    }

    /// Takes the first body off, along a unit direction in the world. The sign of time is −1 to look back.
    pub fn with_first(
        mut self,
        body: (&'a A, &Extent, &State),
        direction: &Vector3<f64>,
        sign: f64,
        mode: Mode,
    ) -> Self {
        self.first = self.take_off(body, direction, sign, mode);
        self
    }

    /// Takes the second body off likewise.
    pub fn with_second(
        mut self,
        body: (&'a B, &Extent, &State),
        direction: &Vector3<f64>,
        sign: f64,
        mode: Mode,
    ) -> Self {
        self.second = self.take_off(body, direction, sign, mode);
        self
    }

    /// Along a direction that drifts.
    fn take_off_drifting<S: Convex>(
        &mut self,
        (shape, extent, state): (&'a S, &Extent, &State),
        direction: &Vector3<f64>,
        sign: f64,
        drift: &Drift,
    ) -> Option<Swing<'a, S>> {
        let omega = state.angular_velocity * sign;
        let size = |v: &Vector3<f64>| libm::sqrt(v.norm_squared());
        let spin = size(&omega);
        let span = drift.span.min(1.0 / spin);
        self.horizon = self.horizon.min(span);
        let turning = direction.cross(&omega);
        let sheared = drift.rate.cross(&omega);
        let second = turning.cross(&omega) * 0.5 + sheared;
        let along = second.dot(direction);
        let across = size(&(second - direction * along));
        let Extent { circumradius, inradius, rolling, lever, spin_rate } = *extent;
        let height = if along > 0.0 { circumradius - rolling } else { inradius - rolling };
        let third = (circumradius - rolling + lever) * size(&second) * (size(&turning) + size(&drift.rate))
            + circumradius * spin * (spin * size(&turning) + 4.0 * size(&sheared)) / 6.0;
        let bent = along * height + across * lever + third * span;
        let lengthened = 0.5 * drift.rate.norm_squared();
        let unsteady = 0.5 * spin_rate * lever * (1.0 + lengthened * span * span);
        self.bend -= bent.max(0.0) + unsteady + rolling * lengthened;
        self.constant -= rolling;
        let to_body = |v: &Vector3<f64>| state.orientation.inverse_transform_vector(v);
        let rate = turning + drift.rate;
        Some(Swing { shape, rolling, direction: to_body(direction), rate: to_body(&rate) })
    }

    fn take_off<S: Convex>(
        &mut self,
        (shape, extent, state): (&'a S, &Extent, &State),
        direction: &Vector3<f64>,
        sign: f64,
        mode: Mode,
    ) -> Option<Swing<'a, S>> {
        if let Mode::Drifting(drift) = mode {
            return self.take_off_drifting((shape, extent, state), direction, sign, &drift);
        }
        if matches!(mode, Mode::Ball) || extent.lever == 0.0 {
            self.constant -= extent.circumradius;
            return None;
        }
        // n×ω in the world is m×Ω in body axes.
        let rate = direction.cross(&state.angular_velocity) * sign;
        let spin_squared = state.angular_velocity.norm_squared();
        let across_squared = rate.norm_squared();
        let rounded = 0.38 * (extent.inradius - extent.rolling) * across_squared;
        let bent = 0.5 * extent.lever * libm::sqrt(across_squared * spin_squared);
        self.bend -= 0.5 * extent.spin_rate * extent.lever + (bent - rounded).max(0.0);
        self.constant -= extent.rolling;
        self.horizon = self.horizon.min(1.0 / libm::sqrt(spin_squared));
        let to_body = |v: &Vector3<f64>| state.orientation.inverse_transform_vector(v);
        Some(Swing { shape, rolling: extent.rolling, direction: to_body(direction), rate: to_body(&rate) })
    }

    /// Until when it holds.
    #[cfg(test)]
    pub fn horizon(&self) -> f64 {
        self.horizon
    }

    /// The bound after τ.
    pub fn value(&self, tau: f64) -> f64 {
        self.with_bend(tau, self.bend * tau * tau)
    }

    fn with_bend(&self, tau: f64, bent: f64) -> f64 {
        self.constant + self.slope * tau + bent
            - self.first.as_ref().map_or(0.0, |swing| swing.height(tau))
            - self.second.as_ref().map_or(0.0, |swing| swing.height(tau))
    }

    /// Whether the bound stays positive all the way to τ, if it is not negative now. A pull that parts the bodies is
    /// not counted, so that the bound is concave and its end decides.
    pub fn holds(&self, tau: f64) -> bool {
        tau <= self.horizon && self.with_bend(tau, self.bend.min(0.0) * tau * tau) > 0.0
    }

    /// How long the bound stays positive, a few hundredths less, up to a limit.
    pub fn reach(&self, limit: f64) -> f64 {
        let limit = limit.min(self.horizon);
        if self.bend <= 0.0 {
            return concave_root(|tau| self.value(tau), 0.0, self.now[0], self.guess(limit));
        }
        self.by_tangents(0.0, self.now[0], limit)
    }

    /// The same from a later time on, if the bound is positive then.
    pub fn reach_beyond(&self, base: f64, limit: f64) -> f64 {
        let limit = limit.min(self.horizon);
        let value = self.value(base);
        if base >= limit || value.is_nan() || value <= 0.0 {
            return base;
        }
        self.by_tangents(base, value, limit)
    }

    /// Where a pull parts the bodies the parabola is convex: it is taken by its tangents, one after another, each of
    /// which leaves the bound concave and below the true one. One that is concave is its own tangent.
    fn by_tangents(&self, mut base: f64, mut value: f64, limit: f64) -> f64 {
        if self.bend <= 0.0 {
            return concave_root(|tau| self.value(tau), base, value, limit);
        }
        for _ in 0..MOST_TANGENTS {
            let tangent = |tau: f64| self.with_bend(tau, self.bend * base * (2.0 * tau - base));
            let next = concave_root(tangent, base, value, limit);
            if next >= limit || next - base <= CLOSE * next {
                return next;
            }
            base = next;
            value = self.value(base);
            if value.is_nan() || value <= 0.0 {
                break;
            }
        }
        base
    }

    /// No sooner than the root: the heights only curve the bound down.
    fn guess(&self, limit: f64) -> f64 {
        let root = first_root(self.now[0].max(0.0), self.now[1], self.bend);
        // Beyond the rounding of the root itself.
        if root < limit { (root * 1.001).min(limit) } else { limit }
    }

    /// On the way out from contact the bound rises first: a time after which it is positive, if any.
    pub fn way_out(&self, limit: f64) -> Option<f64> {
        let mut tau = limit.min(self.horizon);
        if self.bend < 0.0 {
            tau = tau.min(self.now[1] / (-2.0 * self.bend));
        }
        for _ in 0..MOST_HALVINGS {
            if self.holds(tau) {
                return Some(tau);
            }
            tau *= 0.5;
        }
        None
    }
}

/// How close to the root of the bound is close enough: a step a little shorter costs less than finding the root.
const CLOSE: f64 = 0.04;
const MOST_TANGENTS: u32 = 40;
const MOST_HALVINGS: u32 = 20;
const MOST_ROUNDS: u32 = 60;

/// A place at most at the root of a concave function that is positive at `low`, and not far from it; `high` if it is
/// positive there.
fn concave_root(f: impl Fn(f64) -> f64, mut low: f64, mut at_low: f64, mut high: f64) -> f64 {
    let mut at_high = f(high);
    if at_high > 0.0 {
        return high;
    }
    let start = at_low;
    for round in 0..MOST_ROUNDS {
        if high - low <= CLOSE * low || at_low <= CLOSE * start {
            break;
        }
        // A chord never passes the root, but it may crawl where the curve is steep at the far end. It ends a little
        // short, so that on a straight line rounding does not put it on the other side.
        let chord = low + (1.0 - 0.5 * CLOSE) * (high - low) * at_low / (at_low - at_high);
        let tau = if round % 2 == 1 { 0.5 * (chord + high) } else { chord };
        if tau <= low || tau >= high {
            break;
        }
        let value = f(tau);
        if value > 0.0 {
            (low, at_low) = (tau, value);
        } else {
            (high, at_high) = (tau, value);
        }
    }
    low
}

/// The first τ > 0 at which constant + slope τ + bend τ² falls to zero from a constant ≥ 0; infinity if it does not.
pub(super) fn first_root(constant: f64, slope: f64, bend: f64) -> f64 {
    let discriminant = slope * slope - 4.0 * bend * constant;
    if discriminant < 0.0 {
        return f64::INFINITY;
    }
    let root = libm::sqrt(discriminant);
    if slope < 0.0 {
        2.0 * constant / (root - slope)
    } else if bend < 0.0 {
        (slope + root) / (-2.0 * bend)
    } else {
        f64::INFINITY
    }
}
