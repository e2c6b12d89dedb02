//! Features of bodies with flats, edges and corners, and how a contact of two features moves.
//!
//! Such a body touches by a corner, an edge, a rim or a face, each perhaps grown by a ball. Two features that stay the same make a contact
//! that is smooth in time, however sharp the body is:
//!
//! ```text
//! corner or rim and face:  g = n·(x₂ − x₁) − r,   n fixed in the body of the face
//! edge and edge:           g = n·(x₂ − x₁) − r,   n = ±d₁×d₂/|d₁×d₂|
//! ```
//!
//! with x₁, x₂ on the features without their rounding, whose radii together are r. Faces are taken as whole planes and edges as whole lines here: how far they
//! reach is another question ([`margin`]).
//!
//! **Derivatives.** g is the stationary value of n·(x₂ − x₁), so that any path of n, x₁, x₂ that is right to first order gives it to third
//! order. With e_i the velocities of the closest points over the features and y_i their paths there (a circle on a rim, else straight),
//!
//! ```text
//! ṅ = ω×n of the face's body, or across both edges ṅ·d_i = (ω_i×n)·d_i;    e₂ = S (ω₂×n − ṅ) on a rim, zero at a corner
//! g''  = n·Δa + 2n·(ω₂×e₂ − ω₁×e₁) + n·Δÿ + g|ṅ|²
//! g''' = n·Δj + 3n·Δ[ω̇×e + ω×(ω×e)] + 3n·Δ(ω×ÿ) + 3ṅ·Δ(a + 2ω×e + ÿ) − 3|ṅ|²v + n·Δy⃛
//! ```
//!
//! with S = R/ρ t tᵀ, ρ the part of n across the rim's axis and t along the rim.
//!
//! **How it fails.** There is no contact between features whose normal they do not determine: parallel edges, a rim that lies in a plane, a
//! corner on an edge or on a corner. These are `None`.

use nalgebra::{Matrix3, Vector3};

use super::kinematics::{Facing, Fit, Kinematics, Moving};
use crate::body::State;
use crate::gap::Gap;
use crate::shape::{Convex, Polyhedron, Shape, Sharp, length, unit};

/// Which features of two sides touch, by their numbers; zero is all of a side.
pub type Features = [u16; 2];

/// The part of the surface of a body by which it touches, without its rounding, in the body's axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Feature {
    /// A corner, a tip, a point of a rim, or the end of a capsule.
    Corner(Vector3<f64>),
    /// A circle about the axis z.
    Rim {
        /// Its radius.
        radius: f64,
        /// Its place on the axis.
        height: f64,
    },
    /// A straight edge, by its middle and half of it.
    Edge {
        /// Its middle.
        middle: Vector3<f64>,
        /// From there to one end.
        half: Vector3<f64>,
    },
    /// A flat face, by its outward unit normal and a point of it.
    Face {
        /// The outward unit normal.
        normal: Vector3<f64>,
        /// A point of it.
        point: Vector3<f64>,
    },
}

/// A box has corners from here on, edges, and faces.
const CORNERS: u16 = 1;
const EDGES: u16 = 9;
const FACES: u16 = 21;

/// A polyhedron has corners from here on, then edges, then faces; the numbers below belong to points of rims.
const OF_POLYHEDRON: u16 = 1000;

/// A polyhedron of more edges has no features that are searched for: pairs of edges are as many as the product of their numbers.
pub const MOST_EDGES: usize = 64;

/// Points of the lower and of the upper rim.
const RIM_POINTS: [u16; 2] = [100, 200];

/// How many points of a rim stand for it where it lies in a plane.
pub const POINTS_OF_RIM: u16 = 16;

/// A rim lies in a plane where the normal is off its axis by less.
const LIES: f64 = 1e-9;

/// The sine of the angle between edges that have no common normal.
const PARALLEL: f64 = 1e-6;

/// A curvature that is infinite.
const SHARPEST: f64 = 1e100;

/// Rounding of a sum beside the sizes of its terms.
const FORWARD: f64 = 32.0 * f64::EPSILON;

/// The features of a body that touch a plane: zero alone if it is touched as a whole.
#[must_use]
pub fn at_plane(shape: &Shape) -> core::ops::RangeInclusive<u16> {
    if !shape.has_flats() {
        return 0..=0;
    }
    match shape.sharp() {
        Some((Sharp::Box(_), _)) => CORNERS..=EDGES - 1,
        Some((Sharp::Polyhedron(polyhedron), _)) => {
            let corners = of_polyhedron(&polyhedron).supporting;
            corners.start..=corners.end - 1
        }
        Some((Sharp::Cylinder { half_length: 0.0, .. }, _)) => 1..=1,
        Some((Sharp::Cylinder { .. } | Sharp::Cone { .. }, _)) => 1..=2,
        _ => 0..=0,
    }
}

/// The numbers of a body's features.
#[derive(Debug, Clone)]
pub struct Numbers {
    /// Corners and rims, and a ball as a whole.
    pub supporting: core::ops::Range<u16>,
    /// Edges.
    pub edges: core::ops::Range<u16>,
    /// Faces.
    pub faces: core::ops::Range<u16>,
}

/// The numbers of a body's features, by which it touches other bodies; none if it is smooth and no ball, or has more than [`MOST_EDGES`].
#[must_use]
pub fn numbers(shape: &Shape) -> Numbers {
    let of = |supporting, edges, faces| Numbers { supporting, edges, faces };
    match shape.sharp() {
        Some((Sharp::Point, _)) => of(1..2, 0..0, 0..0),
        Some((Sharp::Box(_), _)) => of(CORNERS..EDGES, EDGES..FACES, FACES..27),
        Some((Sharp::Cylinder { radius: 0.0, .. }, _)) => of(1..3, 3..4, 0..0),
        Some((Sharp::Cylinder { half_length: 0.0, .. }, _)) => of(1..2, 0..0, 3..5),
        Some((Sharp::Cylinder { .. }, _)) => of(1..3, 0..0, 3..5),
        Some((Sharp::Cone { .. }, _)) => of(1..3, 0..0, 3..4),
        Some((Sharp::Polyhedron(polyhedron), _)) if polyhedron.edge_count() <= MOST_EDGES => {
            of_polyhedron(&polyhedron)
        }
        Some((Sharp::Polyhedron(_), _)) | None => of(0..0, 0..0, 0..0),
    }
}

/// A polyhedron has no more than [`MOST_CORNERS`](crate::hull::MOST_CORNERS) corners, hence less than three times as many edges, and all its
/// numbers fit.
fn of_polyhedron(polyhedron: &Polyhedron) -> Numbers {
    let count = |k: usize| u16::try_from(k).unwrap_or(u16::MAX);
    let edges = OF_POLYHEDRON.saturating_add(count(polyhedron.corner_count()));
    let faces = edges.saturating_add(count(polyhedron.edge_count()));
    let end = faces.saturating_add(count(polyhedron.face_count()));
    Numbers { supporting: OF_POLYHEDRON..edges, edges: edges..faces, faces: faces..end }
}

fn feature_of_polyhedron(polyhedron: &Polyhedron, number: u16) -> Option<Feature> {
    let numbers = of_polyhedron(polyhedron);
    let place =
        |range: &core::ops::Range<u16>| range.contains(&number).then(|| usize::from(number - range.start));
    if let Some(k) = place(&numbers.supporting) {
        return polyhedron.corner(k).map(Feature::Corner);
    }
    if let Some(k) = place(&numbers.edges) {
        let [from, to] = polyhedron.edge(k)?;
        return Some(Feature::Edge { middle: (from + to) * 0.5, half: (to - from) * 0.5 });
    }
    let (normal, point) = polyhedron.face(place(&numbers.faces)?)?;
    Some(Feature::Face { normal, point })
}

/// A feature of a body by its number, with the radius of its rounding; `None` if there is none.
#[must_use]
pub fn feature(shape: &Shape, number: u16) -> Option<(Feature, f64)> {
    let (sharp, rounding) = shape.sharp()?;
    let on_rim = |k: u16, radius: f64, height: f64| {
        let (sin, cos) = libm::sincos(core::f64::consts::TAU * f64::from(k) / f64::from(POINTS_OF_RIM));
        Feature::Corner(Vector3::new(radius * cos, radius * sin, height))
    };
    let points = |low: u16| low..low + POINTS_OF_RIM;
    let [lower, upper] = RIM_POINTS;
    let found = match sharp {
        Sharp::Point => (number == 1).then(|| Feature::Corner(Vector3::zeros())),
        Sharp::Box(a) => of_box(Vector3::from(a), number),
        Sharp::Cylinder { radius, half_length } => match number {
            1 | 2 => {
                let height = if number == 1 { -half_length } else { half_length };
                Some(if radius == 0.0 {
                    Feature::Corner(Vector3::z() * height)
                } else {
                    Feature::Rim { radius, height }
                })
            }
            3 if radius == 0.0 => {
                Some(Feature::Edge { middle: Vector3::zeros(), half: Vector3::z() * half_length })
            }
            3 => Some(Feature::Face { normal: -Vector3::z(), point: -Vector3::z() * half_length }),
            4 if radius > 0.0 => {
                Some(Feature::Face { normal: Vector3::z(), point: Vector3::z() * half_length })
            }
            k if radius > 0.0 && points(lower).contains(&k) => Some(on_rim(k - lower, radius, -half_length)),
            k if radius > 0.0 && points(upper).contains(&k) => Some(on_rim(k - upper, radius, half_length)),
            _ => None,
        },
        Sharp::Cone { radius, base, tip } => match number {
            1 => Some(Feature::Corner(Vector3::z() * tip)),
            2 => Some(Feature::Rim { radius, height: base }),
            3 => Some(Feature::Face { normal: -Vector3::z(), point: Vector3::z() * base }),
            k if points(upper).contains(&k) => Some(on_rim(k - upper, radius, base)),
            _ => None,
        },
        Sharp::Polyhedron(polyhedron) => feature_of_polyhedron(&polyhedron, number),
    };
    found.map(|feature| (feature, rounding))
}

fn of_box(a: Vector3<f64>, number: u16) -> Option<Feature> {
    let sign = |bits: u16, k: usize| if bits >> k & 1 == 0 { -1.0 } else { 1.0 };
    match number {
        CORNERS..EDGES => {
            let bits = number - CORNERS;
            Some(Feature::Corner(Vector3::from_fn(|k, _| a[k] * sign(bits, k))))
        }
        EDGES..FACES => {
            let (axis, bits) = (usize::from((number - EDGES) / 4), (number - EDGES) % 4);
            let mut middle = Vector3::zeros();
            middle[(axis + 1) % 3] = a[(axis + 1) % 3] * sign(bits, 0);
            middle[(axis + 2) % 3] = a[(axis + 2) % 3] * sign(bits, 1);
            let mut half = Vector3::zeros();
            half[axis] = a[axis];
            Some(Feature::Edge { middle, half })
        }
        FACES..=26 => {
            let (axis, bits) = (usize::from((number - FACES) / 2), (number - FACES) % 2);
            let mut normal = Vector3::zeros();
            normal[axis] = sign(bits, 0);
            Some(Feature::Face { normal, point: normal * a[axis] })
        }
        _ => None,
    }
}

/// The points that stand for a rim that lies in a plane with this normal; empty if it does not lie, or is no rim.
#[must_use]
pub fn lying(shape: &Shape, number: u16, normal: &Vector3<f64>, state: &State) -> core::ops::Range<u16> {
    let Some((Feature::Rim { .. }, _)) = feature(shape, number) else { return 0..0 };
    let n = state.orientation.inverse_transform_vector(normal);
    if libm::hypot(n.x, n.y) > LIES {
        return 0..0;
    }
    points_of(number)
}

/// The points that stand for the first or the second rim.
#[must_use]
pub fn points_of(rim: u16) -> core::ops::Range<u16> {
    let low = RIM_POINTS[usize::from(rim.saturating_sub(1)).min(1)];
    low..low + POINTS_OF_RIM
}

/// The rim that a point stands for, if it is one of a rim.
#[must_use]
pub fn rim_of(number: u16) -> Option<u16> {
    (1..=2).find(|&rim| points_of(rim).contains(&number))
}

/// A corner or a rim of a body as a body by itself, for the search of its contacts with planes.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    feature: Feature,
    rounding: f64,
}

impl Part {
    /// A feature of a body; `None` if there is none of this number.
    #[must_use]
    pub fn new(shape: &Shape, number: u16) -> Option<Self> {
        feature(shape, number).map(|(feature, rounding)| Self { feature, rounding })
    }

    /// The point of the feature without rounding that is farthest along n.
    fn core(&self, n: &Vector3<f64>) -> Vector3<f64> {
        match self.feature {
            Feature::Corner(at) => at,
            Feature::Rim { radius, height } => {
                let rho = libm::hypot(n.x, n.y);
                let out = if rho == 0.0 { Vector3::x() } else { Vector3::new(n.x / rho, n.y / rho, 0.0) };
                out * radius + Vector3::z() * height
            }
            Feature::Edge { middle, half } => middle + half * if half.dot(n) < 0.0 { -1.0 } else { 1.0 },
            Feature::Face { point, .. } => point,
        }
    }

    fn extent(&self) -> f64 {
        match self.feature {
            Feature::Corner(at) => length(&at),
            Feature::Rim { radius, height } => libm::hypot(radius, height),
            Feature::Edge { middle, half } => libm::hypot(length(&middle), length(&half)),
            Feature::Face { point, .. } => length(&point),
        }
    }
}

impl Convex for Part {
    fn support(&self, n: &Vector3<f64>) -> Vector3<f64> {
        let core = self.core(n);
        if self.rounding == 0.0 { core } else { core + unit(n) * self.rounding }
    }

    fn support_hessian(&self, _n: &Vector3<f64>) -> Matrix3<f64> {
        Matrix3::zeros()
    }

    fn circumradius(&self) -> f64 {
        self.extent() + self.rounding
    }

    /// Below zero, as the centre lies outside: h(n) is no less.
    fn inradius(&self) -> f64 {
        self.rounding - self.extent()
    }

    fn support_height(&self, n: &Vector3<f64>) -> f64 {
        n.dot(&self.core(n)) + self.rounding * length(n)
    }

    fn lever(&self) -> f64 {
        self.extent()
    }
}

/// A side of a contact at an instant.
struct Touching {
    state: State,
    feature: Feature,
    rounding: f64,
}

impl Touching {
    fn of(body: &Moving, number: u16) -> Option<Self> {
        let (feature, rounding) = feature(body.shape, number)?;
        Some(Self { state: body.state, feature, rounding })
    }

    fn world(&self, x: &Vector3<f64>) -> Vector3<f64> {
        self.state.position + self.state.orientation * x
    }

    /// The face's outward normal in the world, and one of its points.
    fn face(&self) -> Option<(Vector3<f64>, Vector3<f64>)> {
        match self.feature {
            Feature::Face { normal, point } => Some((self.state.orientation * normal, self.world(&point))),
            _ => None,
        }
    }

    /// The point farthest along a unit vector.
    fn farthest(&self, n: &Vector3<f64>) -> Vector3<f64> {
        let local = self.state.orientation.inverse_transform_vector(n);
        self.world(&Part { feature: self.feature, rounding: 0.0 }.core(&local))
    }
}

/// Where two features face each other: the gap with the normal from the first to the second, and the points without rounding.
struct Meeting {
    gap: f64,
    normal: Vector3<f64>,
    cores: [Vector3<f64>; 2],
    rounding: [f64; 2],
    how: How,
}

#[derive(Clone, Copy)]
enum How {
    /// The face's body: the plane or the first, or the second.
    Face(usize),
    /// The directions of two edges.
    Edges([Vector3<f64>; 2]),
}

fn meeting(first: &Facing, second: &Moving, features: Features) -> Option<Meeting> {
    let two = Touching::of(second, features[1])?;
    match first {
        Facing::Plane(plane) => {
            let normal = *plane.normal;
            let far = two.farthest(&-normal);
            let height = plane.height(&far);
            Some(Meeting {
                gap: height - two.rounding,
                normal,
                cores: [far - normal * height, far],
                rounding: [0.0, two.rounding],
                how: How::Face(0),
            })
        }
        Facing::Body(body) => {
            let one = Touching::of(body, features[0])?;
            let rounding = [one.rounding, two.rounding];
            let radii = one.rounding + two.rounding;
            if let Some((normal, point)) = one.face() {
                let far = two.farthest(&-normal);
                let height = normal.dot(&(far - point));
                let cores = [far - normal * height, far];
                return Some(Meeting { gap: height - radii, normal, cores, rounding, how: How::Face(0) });
            }
            if let Some((out, point)) = two.face() {
                let far = one.farthest(&-out);
                let height = out.dot(&(far - point));
                let cores = [far, far - out * height];
                return Some(Meeting {
                    gap: height - radii,
                    normal: -out,
                    cores,
                    rounding,
                    how: How::Face(1),
                });
            }
            between_edges(&one, &two)
        }
    }
}

/// Two edges as lines. Their normal points the way that the bodies' centres are apart.
fn between_edges(one: &Touching, two: &Touching) -> Option<Meeting> {
    let (Feature::Edge { middle: p, half: d }, Feature::Edge { middle: q, half: e }) =
        (one.feature, two.feature)
    else {
        return None;
    };
    let along = [unit(&(one.state.orientation * d)), unit(&(two.state.orientation * e))];
    let (p, q) = (one.world(&p), two.world(&q));
    let cross = along[0].cross(&along[1]);
    let sine = length(&cross);
    if sine < PARALLEL {
        return None;
    }
    let normal = cross / sine;
    // Out of the first body and into the second.
    let outward = normal.dot(&(p - one.state.position)) - normal.dot(&(q - two.state.position));
    let normal = if outward < 0.0 { -normal } else { normal };
    let apart = q - p;
    let height = normal.dot(&apart);
    // p + s d₁ + h n = q + t d₂.
    let level = apart - normal * height;
    let cosine = along[0].dot(&along[1]);
    let s = (level.dot(&along[0]) - cosine * level.dot(&along[1])) / (sine * sine);
    let t = (cosine * level.dot(&along[0]) - level.dot(&along[1])) / (sine * sine);
    let rounding = [one.rounding, two.rounding];
    Some(Meeting {
        gap: height - rounding[0] - rounding[1],
        normal,
        cores: [p + along[0] * s, q + along[1] * t],
        rounding,
        how: How::Edges(along),
    })
}

/// The gap between two features; at a plane the body's point comes first.
#[must_use]
pub fn feature_gap(first: &Facing, second: &Moving, features: Features) -> Option<Gap> {
    let met = meeting(first, second, features)?;
    let [p, q] = met.points();
    let points = if matches!(first, Facing::Plane(_)) { [q, p] } else { [p, q] };
    Some(Gap { gap: met.gap, normal: met.normal, points, iterations: 0, residual: 0.0 })
}

impl Meeting {
    fn points(&self) -> [Vector3<f64>; 2] {
        [self.cores[0] + self.normal * self.rounding[0], self.cores[1] - self.normal * self.rounding[1]]
    }
}

/// The path of a closest point without rounding: the material there, and the way over the feature.
struct Path {
    velocity: Vector3<f64>,
    centripetal: Vector3<f64>,
    acceleration: Vector3<f64>,
    jerk: Vector3<f64>,
    spin: Vector3<f64>,
    spin_rate: Vector3<f64>,
    /// e, ÿ and y⃛.
    along: [Vector3<f64>; 3],
    /// Of the centre: velocity, acceleration, jerk.
    centre: [Vector3<f64>; 3],
    /// What turning adds to velocity, acceleration and jerk, at most.
    turning: [f64; 3],
    place: f64,
    size: f64,
}

impl Path {
    fn of_plane() -> Self {
        let zero = Vector3::zeros();
        Self {
            velocity: zero,
            centripetal: zero,
            acceleration: zero,
            jerk: zero,
            spin: zero,
            spin_rate: zero,
            along: [zero; 3],
            centre: [zero; 3],
            turning: [0.0; 3],
            place: 0.0,
            size: f64::INFINITY,
        }
    }

    fn of(body: &Moving, core: &Vector3<f64>) -> Self {
        let Moving { shape, state, derivatives } = body;
        let (arm, spin) = (core - state.position, state.angular_velocity);
        let (rate, bend) = (derivatives.angular_acceleration, derivatives.angular_jerk);
        let turning = spin.cross(&arm);
        let centripetal = spin.cross(&turning);
        let (reach, turns) = (length(&arm), length(&spin));
        let (rates, bends) = (length(&rate), length(&bend));
        Self {
            velocity: state.velocity + turning,
            centripetal,
            acceleration: derivatives.acceleration + rate.cross(&arm) + centripetal,
            jerk: derivatives.jerk
                + bend.cross(&arm)
                + rate.cross(&turning) * 2.0
                + spin.cross(&rate.cross(&arm))
                + spin.cross(&centripetal),
            spin,
            spin_rate: rate,
            along: [Vector3::zeros(); 3],
            centre: [state.velocity, derivatives.acceleration, derivatives.jerk],
            turning: [
                turns * reach,
                (rates + turns * turns) * reach,
                (bends + 3.0 * rates * turns + turns * turns * turns) * reach,
            ],
            place: length(&state.position),
            size: shape.circumradius(),
        }
    }

    /// Runs around a rim about an axis, as the normal turns against the body by `turn`.
    fn run(
        &mut self,
        feature: &Feature,
        axes: &nalgebra::UnitQuaternion<f64>,
        outward: &Vector3<f64>,
        turn: &Vector3<f64>,
    ) {
        let Feature::Rim { radius, .. } = *feature else { return };
        let axis = axes * Vector3::z();
        let level = outward - axis * axis.dot(outward);
        let rho = length(&level);
        let out = unit(&level);
        let around = axis.cross(&out);
        let e = around * (radius / rho * around.dot(turn));
        let square = e.norm_squared() / radius;
        self.along = [e, -out * square, -e * (square / radius)];
    }
}

/// The kinematics of a contact of two features. What [`Kinematics`] calls the curvatures is infinite across corners and edges, and stands
/// there as a very large number.
#[must_use]
pub fn feature_kinematics(first: &Facing, second: &Moving, features: Features) -> Option<Kinematics> {
    let met = meeting(first, second, features)?;
    let n = met.normal;
    let mut one = match first {
        Facing::Plane(_) => Path::of_plane(),
        Facing::Body(body) => Path::of(body, &met.cores[0]),
    };
    let mut two = Path::of(second, &met.cores[1]);
    let u = two.velocity - one.velocity;
    let v = n.dot(&u);
    let level = u - n * v;
    let turn = [one.spin.cross(&n), two.spin.cross(&n)];
    let rate = match met.how {
        How::Face(0) => {
            let (feature, _) = feature(second.shape, features[1])?;
            two.run(&feature, &second.state.orientation, &-n, &(turn[1] - turn[0]));
            one.along[0] = level + two.along[0] - turn[0] * met.gap;
            turn[0]
        }
        How::Face(_) => {
            let Facing::Body(body) = first else { return None };
            let (feature, _) = feature(body.shape, features[0])?;
            one.run(&feature, &body.state.orientation, &n, &(turn[1] - turn[0]));
            two.along[0] = one.along[0] - level + turn[1] * met.gap;
            turn[1]
        }
        How::Edges([d, e]) => {
            let cosine = d.dot(&e);
            let square = 1.0 - cosine * cosine;
            let split = |a: f64, b: f64| ((a - cosine * b) / square, (b - cosine * a) / square);
            let (s, t) = split(turn[0].dot(&d), turn[1].dot(&e));
            let rate = d * s + e * t;
            let way = level - rate * met.gap;
            let (s, t) = split(way.dot(&d), way.dot(&e));
            (one.along[0], two.along[0]) = (d * s, -e * t);
            rate
        }
    };
    Some(assemble(&met, [&one, &two], [first_state(first), Some(&second.state)], &rate))
}

fn first_state<'a>(first: &'a Facing) -> Option<&'a State> {
    match first {
        Facing::Plane(_) => None,
        Facing::Body(body) => Some(&body.state),
    }
}

/// All that is known of the contact, from the paths.
fn assemble(
    met: &Meeting,
    [one, two]: [&Path; 2],
    states: [Option<&State>; 2],
    rate: &Vector3<f64>,
) -> Kinematics {
    let n = met.normal;
    let swing = |path: &Path| path.spin.cross(&path.along[0]);
    let bend = |path: &Path| {
        path.spin_rate.cross(&path.along[0]) + path.spin.cross(&swing(path)) + path.spin.cross(&path.along[1])
    };
    let v = n.dot(&(two.velocity - one.velocity));
    let terms = [
        2.0 * n.dot(&swing(two)),
        -2.0 * n.dot(&swing(one)),
        n.dot(&two.along[1]),
        -n.dot(&one.along[1]),
        met.gap * rate.norm_squared(),
    ];
    let slide: f64 = terms.iter().sum();
    let apart = two.acceleration - one.acceleration;
    let way = |path: &Path| swing(path) * 2.0 + path.along[1];
    let g3 = n.dot(&(two.jerk - one.jerk))
        + 3.0 * n.dot(&(bend(two) - bend(one)))
        + 3.0 * rate.dot(&(apart + way(two) - way(one)))
        - 3.0 * rate.norm_squared() * v
        + n.dot(&(two.along[2] - one.along[2]));

    // The material at the points with their rounding, and how the points run over it.
    let points = met.points();
    let paths = [one, two];
    let arms: [Vector3<f64>; 2] =
        core::array::from_fn(|k| states[k].map_or_else(Vector3::zeros, |state| points[k] - state.position));
    let sign = [1.0, -1.0];
    let material: [Vector3<f64>; 2] =
        core::array::from_fn(|k| paths[k].velocity + paths[k].spin.cross(&n) * (sign[k] * met.rounding[k]));
    let rolling = core::array::from_fn(|k| {
        paths[k].along[0] + (rate - paths[k].spin.cross(&n)) * (sign[k] * met.rounding[k])
    });
    let relative_velocity = material[1] - material[0];
    let slip = relative_velocity - n * n.dot(&relative_velocity);

    let along = |x: &Vector3<f64>| n.component_mul(x).abs().sum();
    let turning: [f64; 3] = core::array::from_fn(|k| one.turning[k] + two.turning[k]);
    let centres: [Vector3<f64>; 3] = core::array::from_fn(|k| two.centre[k] - one.centre[k]);
    let bends = length(&bend(one)) + length(&bend(two));
    let magnitudes = [
        v.abs() + turning[0],
        along(&centres[1]) + turning[1] + terms.iter().map(|x| x.abs()).sum::<f64>(),
        along(&centres[2])
            + turning[2]
            + 3.0 * bends
            + 3.0 * length(rate) * (length(&apart) + length(&way(one)) + length(&way(two)))
            + 3.0 * rate.norm_squared() * v.abs()
            + length(&two.along[2])
            + length(&one.along[2]),
    ];
    // Places are rounded as coordinates are, and with them the points of two bodies. Along a plane no place counts.
    let at_plane = one.size.is_infinite();
    let blurred = if at_plane { 0.0 } else { (one.place + two.place) / one.size.min(two.size) };
    let moving = along(&two.centre[0]) + along(&one.centre[0]);
    let rounding = [
        FORWARD * (moving + magnitudes[0] * (1.0 + blurred)),
        FORWARD * magnitudes[1] * (2.0 + blurred),
        FORWARD * magnitudes[2] * (2.0 + blurred),
    ];
    let tangent = Matrix3::identity() - n * n.transpose();
    let curvature = |k: usize| match met.how {
        How::Face(face) if face == k => Matrix3::zeros(),
        How::Face(_) => tangent * SHARPEST,
        How::Edges(edges) => {
            let across = n.cross(&edges[k]);
            across * across.transpose() * SHARPEST
        }
    };
    Kinematics {
        gap: met.gap,
        normal: n,
        points,
        arms,
        relative_velocity,
        slip,
        v,
        a: n.dot(&apart),
        w: (paths[0].spin - paths[1].spin).cross(&n),
        curvature_1: curvature(0),
        curvature_2: curvature(1),
        threshold: n.dot(&apart) - (n.dot(&apart) + slide),
        g2: n.dot(&apart) + slide,
        g3,
        bias: n.dot(&(two.centripetal - one.centripetal)) + slide,
        normal_rate: *rate,
        rolling,
        relative_curvature: [SHARPEST; 2],
        fit: Fit::Curved,
        magnitudes,
        rounding,
    }
}

/// How far the contact of two features lies within the faces and edges that make it, as a length: negative outside. Corners and rims end
/// nowhere, nor do planes.
#[must_use]
pub fn margin(first: &Facing, second: &Moving, features: Features) -> Option<f64> {
    let met = meeting(first, second, features)?;
    let within = |body: &Moving, number: u16, core: &Vector3<f64>| -> Option<f64> {
        let (feature, _) = feature(body.shape, number)?;
        let x = body.state.orientation.inverse_transform_vector(&(core - body.state.position));
        let (sharp, _) = body.shape.sharp()?;
        Some(match (feature, sharp) {
            (Feature::Edge { middle, half }, _) => length(&half) - (x - middle).dot(&unit(&half)).abs(),
            (Feature::Face { normal, .. }, Sharp::Box(a)) => {
                let free = (0..3).filter(|&k| normal[k] == 0.0);
                free.map(|k| a[k] - x[k].abs()).fold(f64::INFINITY, f64::min)
            }
            (Feature::Face { .. }, Sharp::Cylinder { radius, .. } | Sharp::Cone { radius, .. }) => {
                radius - libm::hypot(x.x, x.y)
            }
            (Feature::Face { .. }, Sharp::Polyhedron(polyhedron)) => {
                polyhedron.margin_of_face(usize::from(number - of_polyhedron(&polyhedron).faces.start), &x)
            }
            _ => f64::INFINITY,
        })
    };
    let mut least = within(second, features[1], &met.cores[1])?;
    if let Facing::Body(body) = first {
        least = least.min(within(body, features[0], &met.cores[0])?);
    }
    Some(least)
}
