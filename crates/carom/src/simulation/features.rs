//! Which features of two sides touch, and which may come to touch while others do.
//!
//! A body with flats, edges and corners touches a plane by each corner and rim on its own ([`Pair::with_plane`]). Two such bodies are
//! searched for their first contact as wholes; once they touch, the contact is that of their features that touch along the common normal,
//! each one a [`Pair`] of its own: a corner or a rim on a face, an edge across an edge. While some of these persist, the rest of both bodies
//! is searched part by part: every corner and rim against the other body, and edges against edges.
//!
//! A contact on a face or an edge lasts as long as its point stays within ([`margin`]); where it leaves, the set of features is found anew.
//!
//! **What is not covered.** Where no two features have a common normal (a corner on a corner or an edge, edges along each other, an edge
//! along the side of a cylinder) the bodies touch as wholes, along the normal of their gap. An impact is resolved so; a contact that
//! would have to persist there is carried on by time steps.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

use super::dynamics::Dynamics;
use super::motion::SearchMotion;
use super::pair::{Pair, PairSide};
use crate::body::State;
use crate::contact::feature::{Feature, feature, feature_gap, lying, margin, numbers, points_of, rim_of};
use crate::gap::{Gap, gap};
use crate::motion::Motion;
use crate::run::World;
use crate::shape::Shape;

/// Normals this close are one.
const ALIGNED: f64 = 1e-12;

/// A contact has left a face or an edge that it was well within when it is outside by this share of the size, and one that was on
/// its border by the other.
const LEFT: f64 = 1e-12;
const BORDER: f64 = 1e-9;

/// Features whose gap is within so many roundings touch.
const TOUCHING: f64 = 16.0;

/// The time over which a margin's rate is taken, over that in which a body passes its own size.
const INSTANT: f64 = 1e-6;

/// What is looked for among the features of two bodies.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    /// The gap within which features touch.
    reach: f64,
    /// Least cosine of their normal with the gap's own.
    aligned: f64,
    /// Whether features that leave each other's faces and edges count.
    leaving: bool,
}

impl Pair {
    /// Whether it is a pair of bodies that can touch by features.
    pub fn has_features(&self, world: &World) -> bool {
        let flat = |body: u32| world.bodies[body as usize].shape.has_flats();
        match self.first {
            PairSide::Plane(_) => false,
            PairSide::Body(first) => flat(first) || flat(self.second),
        }
    }

    fn shapes<'w>(&self, world: &'w World) -> Option<[&'w Shape; 2]> {
        let PairSide::Body(first) = self.first else { return None };
        Some([&world.bodies[first as usize].shape, &world.bodies[self.second as usize].shape])
    }

    /// The features that touch at given states, of a pair that touches there: itself where it is one contact.
    pub fn touching(&self, world: &World, state: impl Fn(usize) -> State) -> Vec<Self> {
        match self.first {
            PairSide::Plane(_) => self.touching_plane(world, state),
            PairSide::Body(_) if !self.has_features(world) => vec![*self],
            PairSide::Body(_) => {
                let whole = self.whole();
                let Some(found) = whole.gap(world, &state) else { return vec![whole] };
                let reach = TOUCHING * whole.gap_rounding(world, &found.points[0]) + 2.0 * found.gap.abs();
                let wanted = Wanted { reach, aligned: 1.0 - ALIGNED, leaving: false };
                let along = whole.facing(world, &state, &found, wanted);
                if !along.is_empty() {
                    return along;
                }
                // A corner that passes over an edge: the gap's normal is one of many, and the motion chooses the features.
                let entered =
                    whole.facing(world, &state, &found, Wanted { aligned: f64::NEG_INFINITY, ..wanted });
                if entered.is_empty() { vec![whole] } else { entered }
            }
        }
    }

    /// The features that a time step has to look at: those that could meet within a reach.
    pub fn near(&self, world: &World, state: impl Fn(usize) -> State, reach: f64) -> Vec<Self> {
        if !self.has_features(world) {
            return vec![*self];
        }
        let Some(found) = self.gap(world, &state) else { return vec![*self] };
        let size = self.size(world);
        let least = 1.0 - (0.5 * reach / size).clamp(1e-6, 0.5);
        let found = self.facing(world, &state, &found, Wanted { reach, aligned: least, leaving: true });
        if found.is_empty() { vec![*self] } else { found }
    }

    /// What a time step looks at of a contact with a plane, with the gaps: the points of a rim that nearly lies, else the contact itself.
    pub fn near_plane(
        self,
        world: &World,
        state: impl Fn(usize) -> State,
        gap: f64,
        reach: f64,
    ) -> Vec<(Self, f64)> {
        let PairSide::Plane(plane) = self.first else { return vec![(self, gap)] };
        let normal = *world.planes[plane as usize].normal;
        let body = self.second as usize;
        let Some((Feature::Rim { radius, .. }, _)) = feature(&world.bodies[body].shape, self.features[1])
        else {
            return vec![(self, gap)];
        };
        let n = state(body).orientation.inverse_transform_vector(&normal);
        if radius * libm::hypot(n.x, n.y) > reach {
            return vec![(self, gap)];
        }
        let points = points_of(self.features[1]).map(|number| Self { features: [0, number], ..self });
        points.filter_map(|pair| pair.gap(world, &state).map(|found| (pair, found.gap))).collect()
    }

    /// At a plane: the corners and rims of the body that touch within rounding besides this one, and the points of rims that lie.
    fn touching_plane(&self, world: &World, state: impl Fn(usize) -> State) -> Vec<Self> {
        let PairSide::Plane(plane) = self.first else { return vec![*self] };
        if !self.is_of_features() {
            return vec![*self];
        }
        let shape = &world.bodies[self.second as usize].shape;
        let at = state(self.second as usize);
        let normal = *world.planes[plane as usize].normal;
        let mut found = Vec::new();
        for pair in Self::with_plane(world, plane, self.second) {
            let Some(gap) = pair.gap(world, &state) else { continue };
            let near = gap.gap <= TOUCHING * pair.gap_rounding(world, &gap.points[0]);
            if pair != *self && !near {
                continue;
            }
            let points = lying(shape, pair.features[1], &normal, &at);
            if points.is_empty() {
                found.push(pair);
            } else {
                found.extend(points.map(|number| Self { features: [0, number], ..pair }));
            }
        }
        if rim_of(self.features[1]).is_some() && !found.contains(self) {
            found.push(*self);
        }
        found
    }

    /// The features of two bodies that face each other along the normal of their gap.
    fn facing(
        &self,
        world: &World,
        state: &impl Fn(usize) -> State,
        found: &Gap,
        wanted: Wanted,
    ) -> Vec<Self> {
        let Some(shapes) = self.shapes(world) else { return Vec::new() };
        let [one, two] = shapes.map(numbers);
        let mut kept: Vec<(Self, Vector3<f64>, Vector3<f64>)> = Vec::new();
        let candidates = one
            .supporting
            .clone()
            .flat_map(|k| two.faces.clone().map(move |f| [k, f]))
            .chain(one.faces.clone().flat_map(|f| two.supporting.clone().map(move |k| [f, k])))
            .chain(one.edges.clone().flat_map(|d| two.edges.clone().map(move |e| [d, e])));
        let (first, second) = self.resting(world, state);
        let slack = wanted.reach;
        for features in candidates {
            let pair = Self { features, ..*self };
            let Some(gap) = feature_gap(&first, &second, features) else { continue };
            if gap.gap.abs() > slack || gap.normal.dot(&found.normal) < wanted.aligned {
                continue;
            }
            let any = wanted.aligned == f64::NEG_INFINITY;
            if any
                && (kept.first().is_some_and(|known| known.2.dot(&gap.normal) < 1.0 - ALIGNED)
                    || self.separation(world, state, &gap.normal) < -slack)
            {
                continue;
            }
            let Some(inside) = margin(&first, &second, features) else { continue };
            if inside < -slack {
                continue;
            }
            if !wanted.leaving && inside <= slack {
                let rate = pair.margin_rate(world, state, inside);
                let crossing = one.edges.contains(&features[0]) && two.edges.contains(&features[1]);
                if rate < 0.0 || (crossing && rate <= 0.0) {
                    continue;
                }
            }
            // Where features share a point, one contact is enough.
            let point = gap.points[1];
            if kept.iter().all(|(_, known, _)| (known - point).norm() > slack) {
                kept.push((pair, point, gap.normal));
            }
        }
        kept.into_iter().map(|(pair, ..)| pair).collect()
    }

    /// The separation of two bodies along a direction.
    fn separation(&self, world: &World, state: &impl Fn(usize) -> State, n: &Vector3<f64>) -> f64 {
        let (Some(shapes), PairSide::Body(first)) = (self.shapes(world), self.first) else { return f64::NAN };
        let second = self.second as usize;
        let [one, two] = [state(first as usize), self.displaced(world, &state(second))];
        let reach = |shape: &Shape, at: &State, n: Vector3<f64>| {
            shape.support_height(&at.orientation.inverse_transform_vector(&n))
        };
        n.dot(&(two.position - one.position)) - reach(shapes[0], &one, *n) - reach(shapes[1], &two, -n)
    }

    /// How fast the margin of a contact of features changes; changes within rounding count as none.
    fn margin_rate(&self, world: &World, state: &impl Fn(usize) -> State, now: f64) -> f64 {
        let speed = self.speed(world, state);
        if speed <= 0.0 {
            return 0.0;
        }
        let wait = INSTANT * self.size(world) / speed;
        let later =
            |body: usize| if world.bodies[body].fixed { state(body) } else { advanced(&state(body), wait) };
        let (first, second) = self.resting(world, later);
        let Some(then) = margin(&first, &second, self.features) else { return 0.0 };
        let change = then - now;
        if change.abs() <= 1e-3 * INSTANT * self.size(world) { 0.0 } else { change / wait }
    }

    /// How far a contact of features lies within its faces and edges; infinite for other contacts.
    pub fn margin(&self, world: &World, state: impl Fn(usize) -> State) -> f64 {
        if !self.is_of_features() || !matches!(self.first, PairSide::Body(_)) {
            return f64::INFINITY;
        }
        let (first, second) = self.resting(world, state);
        margin(&first, &second, self.features).unwrap_or(f64::INFINITY)
    }

    /// How much slower than its point a contact's bodies may be: the sine of the angle between two edges, else one.
    fn spread(&self, world: &World, state: impl Fn(usize) -> State) -> f64 {
        let (Some(shapes), PairSide::Body(first)) = (self.shapes(world), self.first) else { return 1.0 };
        let bodies = [first as usize, self.second as usize];
        let along = |k: usize| match feature(shapes[k], self.features[k]) {
            Some((Feature::Edge { half, .. }, _)) => Some((state(bodies[k]).orientation * half).normalize()),
            _ => None,
        };
        match (along(0), along(1)) {
            (Some(d), Some(e)) => d.cross(&e).norm(),
            _ => 1.0,
        }
    }

    /// Whether the derivatives of a whole pair's gap are those of its surfaces: not on a sharp edge or corner.
    pub fn is_regular(&self, world: &World, state: impl Fn(usize) -> State, found: &Gap) -> bool {
        if self.is_of_features() || !self.has_features(world) {
            return true;
        }
        let Some(shapes) = self.shapes(world) else { return true };
        let PairSide::Body(first) = self.first else { return true };
        let second = self.second as usize;
        let states = [state(first as usize), self.displaced(world, &state(second))];
        (0..2).all(|k| {
            let sharp =
                shapes[k].has_flats() && shapes[k].sharp().is_some_and(|(_, rounding)| rounding == 0.0);
            let local =
                states[k].orientation.inverse_transform_vector(&(found.points[k] - states[k].position));
            let out = states[k].orientation * shapes[k].normal(&local);
            let along = if k == 0 { out.dot(&found.normal) } else { -out.dot(&found.normal) };
            !sharp || along > 1.0 - ALIGNED
        })
    }

    /// The pair under which a contact of features is searched for: the corner, rim or edge alone.
    pub fn searched(&self, world: &World) -> Self {
        let Some(shapes) = self.shapes(world) else { return *self };
        let face = |k: usize| matches!(feature(shapes[k], self.features[k]), Some((Feature::Face { .. }, _)));
        Self { features: core::array::from_fn(|k| if face(k) { 0 } else { self.features[k] }), ..*self }
    }

    /// The parts of two bodies by which they may come to touch besides the features by which they do.
    pub fn parts(&self, world: &World) -> Vec<Self> {
        let Some(shapes) = self.shapes(world) else { return Vec::new() };
        let [one, two] = shapes.map(numbers);
        let with = |features| Self { features, ..*self };
        let corners = one.supporting.clone().map(|k| with([k, 0]));
        let others = two.supporting.clone().map(|k| with([0, k]));
        let edges = one.edges.clone().flat_map(|d| two.edges.clone().map(move |e| [d, e])).map(with);
        corners.chain(others).chain(edges).collect()
    }
}

/// A state moved on by its velocities.
fn advanced(state: &State, wait: f64) -> State {
    let turn = UnitQuaternion::from_scaled_axis(state.angular_velocity * wait);
    State {
        position: state.position + state.velocity * wait,
        orientation: turn * state.orientation,
        ..*state
    }
}

/// A part of a body as a body by itself, and where it is in the body's axes.
pub(super) fn part(shape: &Shape, number: u16) -> Option<(Shape, Isometry3<f64>)> {
    if number == 0 {
        return Some((*shape, Isometry3::identity()));
    }
    let (feature, radius) = feature(shape, number)?;
    let at = |x: Vector3<f64>| Isometry3::from_parts(Translation3::from(x), UnitQuaternion::identity());
    match feature {
        Feature::Corner(x) => Some((Shape::Sphere { radius }, at(x))),
        Feature::Rim { radius: wide, height } => {
            Some((Shape::Disc { radius: wide, rounding: radius }, at(Vector3::z() * height)))
        }
        Feature::Edge { middle, half } => {
            let turn = UnitQuaternion::rotation_between(&Vector3::z(), &half).unwrap_or_else(|| {
                UnitQuaternion::from_axis_angle(&Vector3::x_axis(), core::f64::consts::PI)
            });
            let pose = Isometry3::from_parts(Translation3::from(middle), turn);
            Some((Shape::Capsule { radius, half_length: half.norm() }, pose))
        }
        Feature::Face { .. } => None,
    }
}

/// The motion of a part of a body.
#[derive(Clone, Copy)]
pub(super) struct PartMotion<'a> {
    pub body: SearchMotion<'a>,
    pub pose: Isometry3<f64>,
}

impl PartMotion<'_> {
    fn reach(&self) -> f64 {
        self.pose.translation.vector.norm()
    }
}

impl Motion for PartMotion<'_> {
    fn at(&self, t: f64) -> State {
        let state = self.body.at(t);
        let arm = state.orientation * self.pose.translation.vector;
        State {
            position: state.position + arm,
            orientation: state.orientation * self.pose.rotation,
            velocity: state.velocity + state.angular_velocity.cross(&arm),
            angular_velocity: state.angular_velocity,
        }
    }

    fn acceleration(&self) -> Vector3<f64> {
        self.body.acceleration()
    }

    fn acceleration_bound(&self) -> f64 {
        self.body.acceleration_bound() + self.body.turning_bound() * self.reach()
    }

    fn turning_bound(&self) -> f64 {
        self.body.turning_bound()
    }

    fn angular_acceleration_bound(&self) -> f64 {
        self.body.angular_acceleration_bound()
    }
}

impl Dynamics {
    /// The pair under which a contact that separates is searched for.
    pub fn searched(&self, pair: &Pair) -> Pair {
        match pair.first {
            PairSide::Plane(_) => rim_of(pair.features[1]).map_or(*pair, |rim| {
                // A rim that lay is one contact again when it stands up.
                Pair { features: [0, rim], ..*pair }
            }),
            PairSide::Body(_) if self.touch_by_features(pair) => pair.searched(&self.world),
            PairSide::Body(_) => pair.whole(),
        }
    }

    /// Whether a contact of features is outside the face or the edge that it was on; `due`: as was predicted for now.
    pub fn has_left(&self, pair: &Pair, t: f64, due: bool) -> bool {
        let least = if due { 0.5 * LEFT } else { 2.0 * BORDER } * pair.size(&self.world);
        pair.margin(&self.world, |body| self.state(body, t)) < -least
    }

    /// Whether time steps carry on all the movable bodies of a pair: they look at what is near themselves.
    pub fn is_stepped(&self, pair: &Pair) -> bool {
        pair.movable(&self.world).all(|body| self.stepped_until(body).is_some())
    }

    /// Whether bodies that can touch by features do so, in contacts that persist.
    pub fn touch_by_features(&self, pair: &Pair) -> bool {
        pair.has_features(&self.world) && self.of_bodies(pair).next().is_some()
    }

    /// How many points of a lying rim persist, for the contact of a rim with a plane.
    pub fn lying_points(&self, pair: &Pair) -> Option<usize> {
        let PairSide::Plane(_) = pair.first else { return None };
        let rim = pair.features[1];
        if !(1..=2).contains(&rim) {
            return None;
        }
        let same = |other: &Pair| {
            let known = Pair { features: pair.features, ..*other };
            known == *pair && rim_of(other.features[1]) == Some(rim)
        };
        Some(self.contacts.of(pair.second as usize).filter(|(other, _)| same(other)).count())
    }

    /// The persistent contacts of a pair of bodies by their features.
    pub fn of_bodies<'a>(&'a self, pair: &Pair) -> impl Iterator<Item = Pair> + use<'a> {
        let whole = pair.whole();
        let contacts = self.contacts.of(pair.second as usize).map(|(pair, _)| pair);
        contacts.filter(move |other| other.is_of_features() && other.whole() == whole)
    }

    /// Whether two parts of bodies touch within rounding.
    pub fn parts_touch(&self, pair: &Pair, t: f64) -> bool {
        let (world, PairSide::Body(first)) = (&self.world, pair.first) else { return false };
        let place = |body: usize, number: u16| {
            let (shape, pose) = part(&world.bodies[body].shape, number)?;
            Some((shape, PartMotion { body: self.motion(body), pose }.at(t)))
        };
        let second = pair.second as usize;
        let (Some((a, here)), Some((b, there))) =
            (place(first as usize, pair.features[0]), place(second, pair.features[1]))
        else {
            return false;
        };
        let there = pair.displaced(world, &there);
        let found = gap((&a, &here.pose()), (&b, &there.pose()));
        found.is_some_and(|found| found.gap <= TOUCHING * pair.gap_rounding(world, &found.points[0]))
    }

    /// When a contact of two bodies leaves the face or the edge that it is on, as far as their motion is known; within rounding of
    /// where it does.
    pub fn leaves(&self, pair: &Pair, t: f64) -> Option<f64> {
        let known = pair.bodies().map(|body| self.known_until(body)).fold(self.end(), f64::min);
        let at = |time: f64| pair.margin(&self.world, |body| self.state(body, time));
        let mut here = at(t);
        if here.is_infinite() {
            return None;
        }
        // How fast the point can run, at most.
        let speed = |time: f64| {
            let of = |body: usize| {
                let state = self.state(body, time);
                let radius = self.world.radius[body];
                let motion = self.motion(body);
                let gain = motion.acceleration().norm()
                    + motion.acceleration_bound()
                    + motion.turning_bound() * radius;
                state.velocity.norm() + state.angular_velocity.norm() * radius + gain * (known - time)
            };
            pair.movable(&self.world).map(of).sum::<f64>()
        };
        let size = pair.size(&self.world);
        // What runs along a border within rounding stays on it.
        let slack = if here > BORDER * size { LEFT } else { BORDER } * size;
        let mut time = t;
        for _ in 0..4096 {
            let most = speed(time) / pair.spread(&self.world, |body| self.state(body, time));
            if most <= 0.0 {
                return None;
            }
            let next = time + 0.5 * here.max(BORDER * size) / most;
            if next >= known {
                return (at(known) < -slack).then(|| self.margin_zero(&at, time, known, slack));
            }
            let then = at(next);
            if then < -slack {
                return Some(self.margin_zero(&at, time, next, slack));
            }
            (time, here) = (next, then);
        }
        Some(time)
    }

    fn margin_zero(&self, at: &impl Fn(f64) -> f64, mut low: f64, mut high: f64, slack: f64) -> f64 {
        for _ in 0..80 {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if at(middle) < -slack { high = middle } else { low = middle }
        }
        high
    }
}
