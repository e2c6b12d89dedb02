//! A pair of moving bodies, or a body and a plane: its gap at an instant, and the steps that are safe from there.

use nalgebra::{Matrix3, Vector3};

use super::Moving;
use super::bound::{Bound, Drift, Extent, Mode, first_root};
use super::rates::{Rates, predicted_points};
use crate::body::State;
use crate::gap::{Closest, Gap, Hint, closest, closest_at_once, gap_to_plane};
use crate::motion::Motion;
use crate::shape::{Convex, HalfSpace, length, unit};

/// What a body is searched against.
pub(super) enum Against<'a, B, N> {
    Body(Moving<'a, B, N>),
    Plane(&'a HalfSpace),
}

/// A body and what it is searched against.
pub(super) struct Pair<'a, A, M, B, N> {
    first: Moving<'a, A, M>,
    second: Against<'a, B, N>,
    extents: [Extent; 2],
    /// Whether a body has flats.
    flat: bool,
    /// R₁ + R₂.
    pub size: f64,
    /// The sum of the inscribed radii, as a radius of curvature.
    roundness: f64,
    /// ½(A₁E₁ + A₂E₂): how fast turning can bend the gap.
    turning: f64,
    /// The difference of the uniform accelerations of the centres.
    pull: Vector3<f64>,
    /// U₁ + U₂.
    acceleration_bound: f64,
}

/// The pair at an instant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instant {
    pub time: f64,
    pub states: [State; 2],
    pub found: Gap,
    /// g' = n·(v_Q − v_P).
    pub approach: f64,
    /// How fast the gap can curve, about: by turning and falling, and by passing along a rounded body.
    pub curvature: f64,
    /// The rounding of the gap.
    pub unsure: f64,
    /// Of bodies with flats.
    pub rates: Option<Rates>,
}

/// What the gap of an instant is searched from.
#[derive(Clone, Copy)]
pub(super) enum Near<'a> {
    Nothing,
    /// A normal that is likely close.
    Normal(Vector3<f64>),
    /// An instant not far off.
    Instant(&'a Instant),
    /// The same, where a deep overlap need only be told to be one.
    Loosely(&'a Instant),
}

impl Instant {
    pub fn gap(&self) -> f64 {
        self.found.gap
    }

    /// Whether everything is a number, and the points are contact points: the approach is measured at them.
    pub fn is_sound(&self) -> bool {
        !(self.found.gap.is_nan() || self.approach.is_nan() || self.curvature.is_nan())
            && self.found.residual <= UNSOLVED * self.unsure
    }

    /// Whether the gap is zero within rounding, and plainly closing.
    pub fn is_root(&self) -> bool {
        self.found.gap.abs() <= 2.0 * self.unsure && !self.is_slow()
    }

    /// Whether the approach is too slow for the time of contact to follow from it.
    pub fn is_slow(&self) -> bool {
        self.approach >= 0.0 || self.approach * self.approach <= 8.0 * self.unsure * self.curvature
    }
}

/// Points count as not found if they are more than this many roundings from facing each other.
const UNSOLVED: f64 = 1e5;

/// The velocity at a point of a body's surface, of what the gap can tell: the spin of a ball moves its material only.
fn surface_velocity<S: Convex>(shape: &S, state: &State, point: &Vector3<f64>) -> Vector3<f64> {
    if shape.ball().is_some() { state.velocity } else { state.velocity_at(point) }
}

/// Below this share of the sizes the bound along a turning normal is the better one, beyond it that along a fixed one.
const CLOSE: f64 = 0.1;

/// How far beyond the root of its tangent a bound is asked for, against rounding.
const BEYOND: f64 = 1.01;

/// The rounding of a gap: of sizes, and of distances and ways flown.
const ROUNDING_OF_SIZE: f64 = 8.0 * f64::EPSILON;
const ROUNDING_OF_PLACE: f64 = f64::EPSILON;

impl<'a, A: Convex, M: Motion, B: Convex, N: Motion> Pair<'a, A, M, B, N> {
    pub fn new(first: Moving<'a, A, M>, second: Against<'a, B, N>) -> Self {
        let of_first = Extent::new(first.shape, first.motion.angular_acceleration_bound());
        let own = 0.5 * first.motion.turning_bound() * of_first.lever;
        let (extents, turning, pull, acceleration_bound) = match &second {
            Against::Body(body) => {
                let of_second = Extent::new(body.shape, body.motion.angular_acceleration_bound());
                (
                    [of_first, of_second],
                    own + 0.5 * body.motion.turning_bound() * of_second.lever,
                    body.motion.acceleration() - first.motion.acceleration(),
                    body.motion.acceleration_bound() + first.motion.acceleration_bound(),
                )
            }
            Against::Plane(_) => {
                let nothing =
                    Extent { circumradius: 0.0, inradius: 0.0, rolling: 0.0, lever: 0.0, spin_rate: 0.0 };
                ([of_first, nothing], own, first.motion.acceleration(), first.motion.acceleration_bound())
            }
        };
        let inside = extents[0].inradius + extents[1].inradius;
        let flat = match &second {
            Against::Body(body) => first.shape.exponent().max(body.shape.exponent()) > 2.0,
            Against::Plane(_) => false,
        };
        Self {
            first,
            second,
            flat,
            extents,
            size: extents[0].circumradius + extents[1].circumradius,
            roundness: if inside > 0.0 { inside } else { f64::INFINITY },
            turning,
            pull,
            acceleration_bound,
        }
    }

    /// Two points never meet, nor does a point meet a plane.
    pub fn can_meet(&self) -> bool {
        self.size > 0.0
    }

    /// The states at a time.
    pub fn states(&self, t: f64) -> [State; 2] {
        let mut first = self.first.motion.at(t);
        first.position += self.first.image;
        let second = match &self.second {
            Against::Body(body) => {
                let mut second = body.motion.at(t);
                second.position += body.image;
                second
            }
            Against::Plane(_) => first,
        };
        [first, second]
    }

    /// Whether the motions have numbers where the bodies have these states.
    pub fn is_finite(&self, states: &[State; 2]) -> bool {
        let sum = |v: &Vector3<f64>| v.x + v.y + v.z;
        let numbers = states.map(|s| sum(&s.position) + sum(&s.velocity) + sum(&s.angular_velocity));
        (numbers[0] + numbers[1] + sum(&self.pull) + self.turning + self.acceleration_bound).is_finite()
    }

    /// The pair at a time; nothing between two points.
    pub fn at(&self, time: f64, near: Near) -> Option<Instant> {
        self.seen(time, self.states(time), near)
    }

    /// As above, with known states.
    pub fn seen(&self, time: f64, states: [State; 2], near: Near) -> Option<Instant> {
        self.seen_as::<false>(time, states, near)
    }

    /// As above, if the gap is [found at once](closest_at_once).
    #[inline(always)]
    pub fn seen_at_once(&self, time: f64, states: [State; 2], near: Near) -> Option<Instant> {
        self.seen_as::<true>(time, states, near)
    }

    #[inline(always)]
    fn seen_as<const AT_ONCE: bool>(&self, time: f64, states: [State; 2], near: Near) -> Option<Instant> {
        let [first, second] = &states;
        let place = |state: &State| length(&state.position) + length(&state.velocity) * time.abs();
        let unsure = |places: f64| ROUNDING_OF_SIZE * self.size + ROUNDING_OF_PLACE * places;
        let (found, passing, unsure, rates) = match &self.second {
            Against::Body(body) => {
                let unsure = unsure(place(first) + place(second));
                let one = (self.first.shape, &first.pose());
                let two = (body.shape, &second.pose());
                let hint = match near {
                    Near::Nothing => Hint::NOTHING,
                    Near::Normal(normal) => Hint { normal: Some(normal), ..Hint::NOTHING },
                    Near::Instant(near) => self.hint(near, time, &states, f64::INFINITY),
                    Near::Loosely(near) => self.hint(near, time, &states, 4.0 * unsure),
                };
                let Closest { gap: found, curvatures } =
                    if AT_ONCE { closest_at_once(one, two, &hint) } else { closest(one, two, &hint) }?;
                let passing = surface_velocity(body.shape, second, &found.points[1])
                    - surface_velocity(self.first.shape, first, &found.points[0]);
                (found, passing, unsure, self.rates(body, &states, &found, curvatures, &passing))
            }
            Against::Plane(plane) => {
                let found = gap_to_plane(self.first.shape, &first.pose(), plane);
                // What is along the plane has no part in the gap, nor in its rounding.
                let across = |x: &Vector3<f64>| found.normal.component_mul(x).abs().sum();
                let place = across(&first.position) + across(&first.velocity) * time.abs();
                let passing = surface_velocity(self.first.shape, first, &found.points[0]);
                let passing = found.normal * found.normal.dot(&passing);
                (found, passing, unsure(place + plane.offset.abs()), None)
            }
        };
        Some(Instant {
            time,
            states,
            found,
            approach: found.normal.dot(&passing),
            curvature: 2.0 * self.turning
                + length(&self.pull)
                + self.acceleration_bound
                + passing.norm_squared() / self.roundness,
            unsure,
            rates,
        })
    }

    /// What an instant tells of the gap at another time, when the bodies have these states.
    fn hint(&self, near: &Instant, time: f64, states: &[State; 2], depth: f64) -> Hint {
        let points = self.flat.then(|| predicted_points(near, time, states, self.size));
        Hint { normal: Some(near.found.normal), points, depth }
    }

    /// The rates of the normal and the points, for bodies with flats; balls need none.
    fn rates(
        &self,
        second: &Moving<B, N>,
        states: &[State; 2],
        found: &Gap,
        curvatures: Option<[Matrix3<f64>; 2]>,
        passing: &Vector3<f64>,
    ) -> Option<Rates> {
        if !self.flat || self.first.shape.ball().is_some() || second.shape.ball().is_some() {
            return None;
        }
        let local = |i: usize| {
            let state: &State = &states[i];
            state.orientation.inverse_transform_vector(&(found.points[i] - state.position))
        };
        let curvatures = curvatures.unwrap_or_else(|| {
            [self.first.shape.osculate(&local(0)).curvature, second.shape.osculate(&local(1)).curvature]
        });
        Rates::new(states, found, &curvatures, passing, self.size)
    }

    /// The lower bound of the separation from an instant on, or back from it.
    pub fn bound(&self, now: &Instant, sign: f64, modes: [Mode; 2]) -> Bound<'a, A, B> {
        let rates = [now.found.gap.max(0.0), sign * now.approach];
        self.bound_along(&now.states, &now.found.normal, rates, sign, modes)
    }

    /// The same along any unit normal; the rates are the bound's value and slope now.
    fn bound_along(
        &self,
        [first, second]: &[State; 2],
        n: &Vector3<f64>,
        rates: [f64; 2],
        sign: f64,
        modes: [Mode; 2],
    ) -> Bound<'a, A, B> {
        let bend = 0.5 * (n.dot(&self.pull) - self.acceleration_bound);
        match &self.second {
            Against::Body(body) => {
                let height = n.dot(&(second.position - first.position));
                let speed = sign * n.dot(&(second.velocity - first.velocity));
                Bound::new(height, speed, bend, rates)
                    .with_first((self.first.shape, &self.extents[0], first), n, sign, modes[0])
                    .with_second((body.shape, &self.extents[1], second), &-n, sign, modes[1])
            }
            Against::Plane(plane) => {
                Bound::new(plane.height(&first.position), sign * n.dot(&first.velocity), bend, rates)
                    .with_first((self.first.shape, &self.extents[0], first), &-n, sign, modes[0])
            }
        }
    }

    /// The bound along a normal that turns as the gap's own does, for a span; only for bodies with flats.
    pub fn drifting_bound(&self, now: &Instant, sign: f64, span: f64) -> Option<Bound<'a, A, B>> {
        let Against::Body(body) = &self.second else { return None };
        let drift = now.rates?.normal * sign;
        let n = now.found.normal;
        let [first, second] = &now.states;
        let apart = second.position - first.position;
        let speed = (second.velocity - first.velocity) * sign;
        let longest = 1.0 + 0.5 * drift.norm_squared() * span * span;
        let falling =
            n.dot(&self.pull) - self.acceleration_bound * longest - drift.dot(&self.pull).abs() * span;
        let rates = [now.found.gap.max(0.0), sign * now.approach];
        let modes = [drift, -drift].map(|rate| Mode::Drifting(Drift { rate, span }));
        let bound = Bound::new(
            n.dot(&apart),
            n.dot(&speed) + drift.dot(&apart),
            drift.dot(&speed) + 0.5 * falling,
            rates,
        )
        .with_first((self.first.shape, &self.extents[0], first), &n, sign, modes[0])
        .with_second((body.shape, &self.extents[1], second), &-n, sign, modes[1]);
        Some(bound)
    }

    /// The separation now along a direction, if it is more than a multiple of the sizes and positive all the way to the end of a span:
    /// then nothing touches meanwhile, and no gap is searched for. What begins at contact and ends apart has parted, as the
    /// bound is concave.
    pub fn parted_along(
        &self,
        direction: &Vector3<f64>,
        states: &[State; 2],
        least: f64,
        span: f64,
    ) -> Option<f64> {
        let n = unit(direction);
        let bound = self.bound_along(states, &n, [0.0; 2], 1.0, [Mode::Turning; 2]);
        let now = bound.value(0.0);
        (now > least * self.size && bound.holds(span)).then_some(now)
    }

    /// How long nothing can touch from an instant on, up to a limit.
    pub fn safe_step(&self, now: &Instant, limit: f64) -> f64 {
        let drifts = now.approach < 0.0 && now.gap() < CLOSE * self.size;
        let span = limit.min(BEYOND * now.gap() / -now.approach);
        let mut best = drifts
            .then(|| self.drifting_bound(now, 1.0, span))
            .flatten()
            .unwrap_or_else(|| self.bound(now, 1.0, [Mode::Turning; 2]))
            .reach(limit);
        for (fast, modes) in
            [[Mode::Ball, Mode::Turning], [Mode::Turning, Mode::Ball]].into_iter().enumerate()
        {
            // A body may turn so fast that only its ball tells where it is not.
            let spin = now.states[fast].angular_velocity.norm_squared();
            if best < limit && self.extents[fast].lever > 0.0 && best * best * spin > 0.25 {
                best = self.bound(now, 1.0, modes).reach_beyond(best, limit);
            }
        }
        best
    }

    /// Whether nothing can touch between an instant and so long before it, if nothing overlaps at it.
    pub fn holds_back(&self, then: &Instant, span: f64) -> bool {
        span <= 0.0
            || self.drifting_bound(then, -1.0, span).is_some_and(|bound| bound.holds(span))
            || self.bound(then, -1.0, [Mode::Turning; 2]).holds(span)
    }

    /// From contact: a time until which the bodies are certain to have parted.
    pub fn way_out(&self, now: &Instant, limit: f64) -> Option<f64> {
        self.bound(now, 1.0, [Mode::Turning; 2]).way_out(limit)
    }

    /// How long the balls about the bodies stay apart from states on, up to a limit; zero if they meet now.
    pub fn balls_apart(&self, [first, second]: &[State; 2], limit: f64) -> f64 {
        match &self.second {
            Against::Body(_) => {
                let (apart, speed) = (second.position - first.position, second.velocity - first.velocity);
                clear_of(&apart, &speed, &self.pull, self.acceleration_bound, self.size, limit)
            }
            Against::Plane(plane) => {
                let n = *plane.normal;
                let height = plane.height(&first.position) - self.size;
                if height <= 0.0 {
                    return 0.0;
                }
                let bend = 0.5 * (n.dot(&self.pull) - self.acceleration_bound);
                let root = first_root(height, n.dot(&first.velocity), bend);
                if root * SHORT >= limit { limit } else { root * SHORT }
            }
        }
    }

    /// Where they touch.
    pub fn point(&self, found: &Gap) -> Vector3<f64> {
        match &self.second {
            Against::Body(_) => (found.points[0] + found.points[1]) * 0.5,
            Against::Plane(_) => found.points[0],
        }
    }
}

/// A step to a root in closed form, short of it by what rounding could be, and of grazes by a little.
const SHORT: f64 = 1.0 - 1e-6;
const MOST_TANGENTS: u32 = 60;

/// How long a point that starts at x with velocity v and acceleration a, unsteady by u, stays farther than a radius from
/// the origin: up to a limit; zero if it is not farther now.
///
/// Straight motion in closed form. Otherwise by tangent planes of the ball, each left behind at the root of a
/// parabola.
pub(super) fn clear_of(
    x: &Vector3<f64>,
    v: &Vector3<f64>,
    a: &Vector3<f64>,
    u: f64,
    radius: f64,
    limit: f64,
) -> f64 {
    let square = |x: &Vector3<f64>| x.norm_squared();
    if *a == Vector3::zeros() && u == 0.0 {
        let apart = square(x) - radius * radius;
        let towards = x.dot(v);
        if apart <= 0.0 {
            return 0.0;
        }
        let discriminant = towards * towards - square(v) * apart;
        // A discriminant that is zero up to rounding is a graze, which must not be passed by.
        let rounding = 16.0 * f64::EPSILON * square(v) * square(x);
        if towards >= 0.0 || discriminant < -rounding {
            return limit;
        }
        // Squares beyond the range of floats say nothing.
        if discriminant.is_nan() {
            return 0.0;
        }
        // The smaller root, in the form that does not cancel.
        return (apart / (libm::sqrt(discriminant.max(0.0)) - towards) * SHORT).min(limit);
    }
    let mut elapsed = 0.0;
    for _ in 0..MOST_TANGENTS {
        let here = x + (v + a * (0.5 * elapsed)) * elapsed;
        let distance = libm::sqrt(square(&here));
        let height = distance - 0.5 * u * elapsed * elapsed - radius;
        if height <= 0.0 {
            break;
        }
        let n = here / distance;
        // What u does from the start on: ½u(elapsed + τ)².
        let slope = n.dot(&(v + a * elapsed)) - u * elapsed;
        let step = first_root(height, slope, 0.5 * (n.dot(a) - u)) * SHORT;
        if elapsed + step >= limit {
            return limit;
        }
        if step <= 1e-3 * elapsed {
            break;
        }
        elapsed += step;
    }
    elapsed
}
