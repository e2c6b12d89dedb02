//! Contact points of slender bodies on flats: pairs built so that the points are known, by formulas of this file alone, and
//! references of 34 digits.
//!
//! On Σ|x_i/a_i|^p = 1 with u_i = x_i/a_i and w_i = σ_i|u_i|^{p−1}, the normal is along (w_i/a_i). A point of the first
//! body is chosen by some of its u, along which it is flat, and by the w of the rest; the second body, an ellipsoid,
//! touches there or at a distance with its own point of the opposite normal. Bodies apart have no other closest points.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use carom::body::{Body, State};
use carom::gap::{Gap, gap, gap_near, gap_to_plane};
use carom::impact::pair::{FreeBody, strike};
use carom::motion::Flight;
use carom::shape::{HalfSpace, Shape};
use carom::toi::{Meeting, Moving, Window, first_contact};
use nalgebra::{Isometry3, Matrix3, Quaternion, Translation3, Unit, UnitQuaternion, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

struct Source(ChaCha8Rng);

impl Source {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0.random_range(low..high)
    }

    /// Evenly in the logarithm.
    fn spread(&mut self, low: f64, high: f64) -> f64 {
        self.between(low.ln(), high.ln()).exp()
    }

    fn chance(&mut self, share: f64) -> bool {
        self.between(0.0, 1.0) < share
    }

    fn direction(&mut self) -> Vector3<f64> {
        loop {
            let v = Vector3::from_fn(|_, _| self.between(-1.0, 1.0));
            if v.norm() > 0.1 && v.norm() < 1.0 {
                return v.normalize();
            }
        }
    }

    fn turn(&mut self) -> UnitQuaternion<f64> {
        if self.chance(0.1) {
            return UnitQuaternion::identity();
        }
        UnitQuaternion::from_scaled_axis(self.direction() * self.between(0.0, 3.1))
    }

    /// Semi-axes of which the longest is one: needles, plates, and all between, of aspect up to a thousand.
    fn axes(&mut self) -> [f64; 3] {
        let thin = self.spread(1e-3, 1.0);
        let middle = match self.0.random_range(0..3) {
            0 => thin,
            1 => 1.0,
            _ => self.spread(thin.min(0.999), 1.0),
        };
        let turn = self.0.random_range(0..3);
        core::array::from_fn(|i| [thin, middle, 1.0][(i + turn) % 3])
    }
}

/// A superellipsoid, and a point of it with its normal, in its own axes.
struct Spot {
    axes: [f64; 3],
    exponent: f64,
    point: Vector3<f64>,
    normal: Vector3<f64>,
}

impl Spot {
    /// Somewhere on a face, an edge or a corner.
    fn random(source: &mut Source) -> Self {
        let axes = source.axes();
        let exponent = source.spread(2.0, 1000.0);
        let sharp = source.0.random_range(0..3);
        let (mut u, mut w) = ([0.0; 3], [0.0; 3]);
        let mut rest = 1.0;
        let mut weights = [0.0_f64; 3];
        for i in 0..3 {
            // Flat enough that the other axes are left a share of the surface.
            if i != sharp && source.chance(0.6) {
                u[i] = source.between(-1.0, 1.0) * 0.4_f64.powf(1.0 / exponent);
                w[i] = u[i].abs().powf(exponent - 1.0).copysign(u[i]);
                rest -= u[i].abs().powf(exponent);
            } else {
                weights[i] = source.between(-1.0, 1.0);
            }
        }
        weights[sharp] = if weights[sharp] < 0.0 { -1.0 } else { 1.0 };
        let conjugate = exponent / (exponent - 1.0);
        let total: f64 = weights.iter().map(|w| w.abs().powf(conjugate)).sum();
        let factor = (rest / total).powf(1.0 / conjugate);
        for i in 0..3 {
            if weights[i] != 0.0 {
                w[i] = weights[i] * factor;
                u[i] = w[i].abs().powf(1.0 / (exponent - 1.0)).copysign(w[i]);
            }
        }
        let point = Vector3::from_fn(|i, _| axes[i] * u[i]);
        let normal = Vector3::from_fn(|i, _| w[i] / axes[i]).normalize();
        Self { axes, exponent, point, normal }
    }

    fn shape(&self) -> Shape {
        Shape::Superellipsoid { semi_axes: self.axes, exponent: self.exponent }
    }
}

/// The point of an ellipsoid whose outward normal is n, in its own axes.
fn foot(axes: [f64; 3], n: &Vector3<f64>) -> Vector3<f64> {
    let y = Vector3::from_fn(|i, _| axes[i] * n[i]);
    Vector3::from_fn(|i, _| axes[i] * y[i]) / y.norm()
}

/// Two bodies, and what their gap must be.
struct Known {
    shapes: [Shape; 2],
    poses: [Isometry3<f64>; 2],
    gap: f64,
    normal: Vector3<f64>,
    points: [Vector3<f64>; 2],
}

/// A slender ellipsoid, or a ball, on a flat at a gap in units of the smaller body.
fn known(source: &mut Source, gaps: &[f64]) -> Known {
    let spot = Spot::random(source);
    let scale = if source.chance(0.5) { 1.0 } else { source.spread(0.01, 100.0) };
    let (shape, axes) = if source.chance(0.1) {
        (Shape::Sphere { radius: scale }, [scale; 3])
    } else {
        let axes = source.axes().map(|a| a * scale);
        (Shape::Ellipsoid { semi_axes: axes }, axes)
    };
    let turns = [source.turn(), source.turn()];
    let centre = if source.chance(0.5) { Vector3::zeros() } else { source.direction() };
    let gap = gaps[source.0.random_range(0..gaps.len())] * scale.min(1.0);
    let normal = turns[0] * spot.normal;
    let first = turns[0] * spot.point;
    let second = turns[1] * foot(axes, &turns[1].inverse_transform_vector(&-normal));
    let places = [centre, centre + first + normal * gap - second];
    Known {
        shapes: [spot.shape(), shape],
        poses: [0, 1].map(|i| Isometry3::from_parts(Translation3::from(places[i]), turns[i])),
        gap,
        normal,
        points: [centre + first, centre + first + normal * gap],
    }
}

impl Known {
    /// The second body moved along the normal, to another gap.
    fn moved(mut self, gap: f64) -> Self {
        self.poses[1].translation.vector += self.normal * (gap - self.gap);
        self.points[1] += self.normal * (gap - self.gap);
        self.gap = gap;
        self
    }

    fn exchanged(self) -> Self {
        let [one, other] = self.shapes;
        let [here, there] = self.poses;
        let [p, q] = self.points;
        Self {
            shapes: [other, one],
            poses: [there, here],
            normal: -self.normal,
            points: [q, p],
            gap: self.gap,
        }
    }

    fn found(&self) -> Gap {
        gap((&self.shapes[0], &self.poses[0]), (&self.shapes[1], &self.poses[1])).unwrap()
    }

    fn size(&self) -> f64 {
        let apart = self.poses[1].translation.vector - self.poses[0].translation.vector;
        self.shapes.map(|shape| shape.circumradius()).into_iter().fold(apart.norm(), f64::max)
    }

    /// How far a point is off a body's surface, or less: of its gauge less one, the shortest semi-axis.
    fn off_surface(&self, i: usize, point: &Vector3<f64>) -> f64 {
        let local = self.poses[i].inverse_transform_point(&(*point).into()).coords;
        let (axes, exponent) = match self.shapes[i] {
            Shape::Point => ([0.0; 3], 2.0),
            Shape::Sphere { radius } => ([radius; 3], 2.0),
            Shape::Ellipsoid { semi_axes } => (semi_axes, 2.0),
            Shape::Superellipsoid { semi_axes, exponent } => (semi_axes, exponent),
            _ => unreachable!("these shapes are smooth"),
        };
        let u: [f64; 3] = core::array::from_fn(|k| (local[k] / axes[k]).abs());
        let most = u[0].max(u[1]).max(u[2]);
        let gauge = most * u.map(|u| (u / most).powf(exponent)).iter().sum::<f64>().powf(1.0 / exponent);
        (gauge - 1.0).abs() * axes[0].min(axes[1]).min(axes[2])
    }

    /// Of the gap, the normal and the points; and what [`Known::unsound`] says.
    fn errors(&self, found: &Gap) -> [f64; 4] {
        let size = self.size();
        let points = [0, 1].map(|i| (found.points[i] - self.points[i]).norm() / size);
        [
            (found.gap - self.gap).abs() / size,
            (found.normal - self.normal).norm(),
            points[0].max(points[1]),
            self.unsound(found),
        ]
    }

    /// What is wrong with an answer whatever it should be, in units of the size: Q − P − g n, and points off their surfaces.
    fn unsound(&self, found: &Gap) -> f64 {
        let join = (found.points[1] - found.points[0] - found.normal * found.gap).norm();
        let off = |i: usize| self.off_surface(i, &found.points[i]);
        join.max(off(0)).max(off(1)) / self.size()
    }
}

/// Points that were solved for with 70 digits, by other equations.
#[test]
fn reference_points() {
    let file: Value = serde_json::from_str(include_str!("../../../cases/contacts/slender.json")).unwrap();
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| value.as_str().unwrap().parse().unwrap());
    let vector = |value: &Value| Vector3::from_fn(|i, _| number(&value[i]));
    let mut worst = [0.0_f64; 4];
    let cases = file["cases"].as_array().unwrap();
    for (k, case) in cases.iter().enumerate() {
        let shape = |i: usize| {
            let semi_axes = vector(&case["shapes"][i]).into();
            Shape::Superellipsoid { semi_axes, exponent: number(&case["shapes"][i][3]) }
        };
        let pose = |i: usize, centre: Vector3<f64>| {
            let [w, x, y, z] = [0, 1, 2, 3].map(|j| number(&case["turns"][i][j]));
            let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
            Isometry3::from_parts(Translation3::from(centre), turn)
        };
        let case = Known {
            shapes: [shape(0), shape(1)],
            poses: [pose(0, Vector3::zeros()), pose(1, vector(&case["centre"]))],
            gap: number(&case["gap"]),
            normal: vector(&case["normal"]),
            points: [0, 1].map(|i| vector(&case["points"][i])),
        };
        let errors = case.errors(&case.found());
        let told = format!("{k}: {errors:?} {:?} {:?}", case.shapes, case.gap);
        assert!(errors[0] < 4e-15 && errors[2] < 1e-9 && errors[3] < 1e-13, "{told}");
        worst = core::array::from_fn(|i| worst[i].max(errors[i]));
    }
    assert_eq!(cases.len(), 200);
    println!("worst gap, normal, points, Q − P − g n and gauge: {worst:?}");
}

/// How many of the largest family; `CAROM_CONTACTS` sets another number.
fn contacts() -> usize {
    std::env::var("CAROM_CONTACTS").map_or(10_000, |count| count.parse().unwrap())
}

#[test]
fn slender_bodies_on_flats() {
    let mut source = Source(ChaCha8Rng::seed_from_u64(20));
    let gaps = [0.0, 1e-13, 1e-9, 1e-4, 0.1, 1.0, 10.0];
    let (mut worst, mut steps) = ([0.0_f64; 4], 0);
    for k in 0..contacts() {
        let mut case = known(&mut source, &gaps);
        if k % 2 == 1 {
            case = case.exchanged();
        }
        let found = case.found();
        let errors = case.errors(&found);
        let told = format!("{k}: {errors:?} {:?} {:?}", case.shapes, case.gap);
        assert!(errors[0] < 4e-15 && errors[2] < 1e-9 && errors[3] < 1e-13, "{told}");
        steps = steps.max(found.iterations);
        worst = core::array::from_fn(|i| worst[i].max(errors[i]));
    }
    println!("worst gap, normal, points, Q − P − g n and gauge: {worst:?}; steps at most {steps}");
}

/// Within the rolling radii an overlap has one answer as well.
#[test]
fn slender_bodies_a_little_inside_flats() {
    let mut source = Source(ChaCha8Rng::seed_from_u64(22));
    let mut worst = [0.0_f64; 4];
    for k in 0..contacts() / 5 {
        let touching = known(&mut source, &[0.0]);
        let rolling = touching.shapes.map(|shape| shape.rolling_radius());
        let case = touching.moved(-0.5 * (rolling[0] + rolling[1]));
        let errors = case.errors(&case.found());
        let told = format!("{k}: {errors:?} {:?} {:?}", case.shapes, case.gap);
        assert!(errors[0] < 4e-15 && errors[2] < 1e-9 && errors[3] < 1e-13, "{told}");
        worst = core::array::from_fn(|i| worst[i].max(errors[i]));
    }
    println!("worst gap, normal, points, Q − P − g n and gauge: {worst:?}");
}

/// A search that starts from a normal close by finds the same points.
#[test]
fn points_from_a_normal_close_by() {
    let mut source = Source(ChaCha8Rng::seed_from_u64(23));
    for k in 0..contacts() / 5 {
        let case = known(&mut source, &[0.0, 1e-6, 0.1]);
        let aside = case.normal + source.direction() * source.spread(1e-12, 0.3);
        let [one, two] = [0, 1].map(|i| (&case.shapes[i], &case.poses[i]));
        let errors = case.errors(&gap_near(one, two, &aside).unwrap());
        let told = format!("{k}: {errors:?} {:?} {:?}", case.shapes, case.gap);
        assert!(errors[0] < 4e-15 && errors[2] < 1e-9 && errors[3] < 1e-13, "{told}");
    }
}

/// Two faces that are parallel, exactly or to a hair: the points may be anywhere on what the faces share.
#[test]
fn face_on_face() {
    let mut source = Source(ChaCha8Rng::seed_from_u64(24));
    let mut worst = 0.0_f64;
    for k in 0..contacts() / 5 {
        let shapes = [(); 2].map(|()| {
            let scale = source.spread(0.1, 10.0);
            let semi_axes = source.axes().map(|a| a * scale);
            Shape::Superellipsoid { semi_axes, exponent: source.spread(4.0, 1000.0) }
        });
        let heights = shapes.map(|shape| shape.support_height(&Vector3::z()));
        let widths = shapes.map(|shape| [Vector3::x(), Vector3::y()].map(|n| shape.support_height(&n)));
        let gap = [0.0, 1e-13, 1e-6, 0.1, 3.0][k % 5] * heights[0].min(heights[1]);
        // Some of each face is above the other.
        let aside = [0, 1].map(|i| source.between(-0.9, 0.9) * (widths[0][i] + widths[1][i]));
        let hair = if k % 3 == 0 { 0.0 } else { source.spread(1e-16, 1e-9) };
        let turn = source.turn();
        let tilt = UnitQuaternion::from_scaled_axis(source.direction() * hair);
        let offset = Vector3::new(aside[0], aside[1], heights[0] + heights[1] + gap);
        let poses = [(Vector3::zeros(), turn), (turn * offset, turn * tilt)]
            .map(|(centre, turn)| Isometry3::from_parts(Translation3::from(centre), turn));
        let case = Known { shapes, poses, gap, normal: turn * Vector3::z(), points: [Vector3::zeros(); 2] };
        let found = case.found();
        let error = case.unsound(&found);
        assert!(error < 1e-13, "{k}: {error:e} {shapes:?} {poses:?} {found:?}");
        worst = worst.max(error);
    }
    println!("worst Q − P − g n and gauge: {worst:e}");
}

/// On planes that lie along a face, to a hair or not at all: P is the lowest point of the body, by this file's own formula,
/// and P − Q = g n with Q on the plane.
#[test]
fn bodies_on_planes() {
    let mut source = Source(ChaCha8Rng::seed_from_u64(25));
    let (mut on_body, mut on_plane) = (0.0_f64, 0.0_f64);
    for k in 0..contacts() {
        let axes = source.axes();
        let exponent = source.spread(2.0, 1000.0);
        let shape = Shape::Superellipsoid { semi_axes: axes, exponent };
        let hair = if k % 3 == 0 { 0.0 } else { source.spread(1e-300, 1.0) };
        let along = Vector3::from_fn(|i, _| if i == k % 3 { 1.0 } else { 0.0 });
        let normal = if k % 7 == 0 { source.direction() } else { along + source.direction() * hair };
        let plane = HalfSpace { normal: Unit::new_normalize(normal), offset: source.between(-2.0, 2.0) };
        let turn = if k % 2 == 0 { UnitQuaternion::identity() } else { source.turn() };
        let pose = Isometry3::from_parts(Translation3::from(source.direction()), turn);
        let found = gap_to_plane(&shape, &pose, &plane);
        let case = Known {
            shapes: [shape, Shape::Point],
            poses: [pose, Isometry3::identity()],
            gap: found.gap,
            normal: *plane.normal,
            points: found.points,
        };
        let off =
            case.off_surface(0, &found.points[0]).max((plane.height(&found.points[0]) - found.gap).abs());
        let join = (found.points[0] - found.points[1] - found.normal * found.gap).norm();
        let aside = plane.height(&found.points[1]).abs();
        assert!(
            off < 4e-15 && join < 1e-15 && aside < 4e-15,
            "{k}: {off:e} {join:e} {aside:e} {shape:?} {normal:?}"
        );
        let y = turn.inverse_transform_vector(&-*plane.normal).component_mul(&Vector3::from(axes));
        let conjugate = exponent / (exponent - 1.0);
        let most = y.amax();
        let sum: f64 = y.iter().map(|y| (y.abs() / most).powf(conjugate)).sum();
        let height = most * sum.powf(1.0 / conjugate);
        let error = (plane.height(&pose.translation.vector) - height - found.gap).abs();
        assert!(error < 4e-15, "{k}: {error:e}");
        on_body = on_body.max(off);
        on_plane = on_plane.max(aside);
    }
    println!("off the body {on_body:e}, off the plane {on_plane:e}");
}

/// Anything in any place, in any overlap: whatever the answer is, its points are on the surfaces and Q − P = g n.
#[test]
fn points_anywhere() {
    let mut source = Source(ChaCha8Rng::seed_from_u64(21));
    let (mut worst, mut steps, mut deep) = (0.0_f64, 0, 0);
    for k in 0..contacts() / 3 {
        let shapes = [(); 2].map(|()| {
            let semi_axes = source.axes();
            if source.chance(0.3) {
                Shape::Ellipsoid { semi_axes }
            } else {
                Shape::Superellipsoid { semi_axes, exponent: source.spread(2.0, 1000.0) }
            }
        });
        let turns = [source.turn(), source.turn()];
        let apart = source.direction() * source.spread(1e-4, 3.0);
        let poses = [Vector3::zeros(), apart];
        let poses = [0, 1].map(|i| Isometry3::from_parts(Translation3::from(poses[i]), turns[i]));
        let case = Known { shapes, poses, gap: 0.0, normal: Vector3::zeros(), points: [Vector3::zeros(); 2] };
        let found = case.found();
        let error = case.unsound(&found);
        steps = steps.max(found.iterations);
        deep += u32::from(found.gap < 0.0);
        worst = worst.max(error);
        assert!(error < 1e-13, "{k}: {error:e} {shapes:?} {poses:?} {found:?}");
        // What the answer says of itself is true.
        assert!(found.residual / case.size() < 1e-13);
        let height =
            |i: usize, n: Vector3<f64>| shapes[i].support_height(&turns[i].inverse_transform_vector(&n));
        let attained = found.normal.dot(&apart) - height(0, found.normal) - height(1, -found.normal);
        assert!(
            (attained - found.gap).abs() < 1e-13 * case.size(),
            "{k}: {attained} {shapes:?} {poses:?} {found:?}"
        );
    }
    println!("worst Q − P − g n and gauge: {worst:e}; {deep} overlap; steps at most {steps}");
}

/// A needle comes down aslant on the middle of a face: the impulse is that of its tip. The same closed form as in the test of
/// the program.
#[test]
fn a_needle_bounces_off_its_tip() {
    let (w, y): (f64, f64) = (0.988_771_077_936_042_2, 0.149_438_132_473_599_22);
    let (sine, cosine) = (2.0 * w * y, (w - y) * (w + y));
    let height = (1e-6 * sine * sine + cosine * cosine).sqrt();
    let lever = sine * cosine * (1e-6 - 1.0) / height;
    let needle = Body {
        shape: Shape::Ellipsoid { semi_axes: [0.001, 0.001, 1.0] },
        mass: 1.0,
        inertia: Vector3::new(0.200_000_2, 0.200_000_2, 4e-7),
        fixed: false,
    };
    let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, 0.0, y, 0.0));
    let state = State {
        position: Vector3::new(0.296, 0.2, 3.0),
        orientation: turn,
        velocity: -Vector3::z(),
        angular_velocity: Vector3::zeros(),
    };
    let flight = Flight::new(&needle, &state, &Vector3::zeros());
    for exponent in [10.0, 20.0, 50.0, 100.0, 300.0, 1000.0] {
        let block = Body {
            shape: Shape::Superellipsoid { semi_axes: [1.0; 3], exponent },
            mass: 1.0,
            inertia: Vector3::repeat(1.0),
            fixed: true,
        };
        let rest = State {
            position: Vector3::zeros(),
            orientation: UnitQuaternion::identity(),
            velocity: Vector3::zeros(),
            angular_velocity: Vector3::zeros(),
        };
        let still = Flight::new(&block, &rest, &Vector3::zeros());
        let found = first_contact(
            Moving::new(&block.shape, &still),
            Moving::new(&needle.shape, &flight),
            Window::new(0.0, 2.0),
        );
        let Meeting::At(contact) = found.meeting else { panic!("{exponent}: {found:?}") };
        // Where the face is a little lower than its pole and aslant, by 0.2^p of it.
        let fall = 0.2_f64.powf(exponent - 1.0);
        let point = Vector3::new(0.296 + lever, 0.2, 1.0);
        assert!((contact.time - (2.0 - height)).abs() <= fall + contact.time_error);
        assert!((contact.point - point).norm() < 1e-12 + fall, "{exponent}: {}", contact.point);
        let arm = contact.point - flight.at(contact.time).position;
        let frame = turn.to_rotation_matrix().into_inner();
        let inverse = frame * Matrix3::from_diagonal(&needle.inertia.map(f64::recip)) * frame.transpose();
        let free =
            |inverse_mass: f64, inverse_inertia: Matrix3<f64>, velocity: Vector3<f64>, arm: Vector3<f64>| {
                FreeBody { inverse_mass, inverse_inertia, velocity, angular_velocity: Vector3::zeros(), arm }
            };
        let struck = strike(
            &free(0.0, Matrix3::zeros(), Vector3::zeros(), contact.point),
            &free(1.0, inverse, -Vector3::z(), arm),
            &contact.normal,
            1.0,
        );
        let impulse = 2.0 / (1.0 + lever * lever / 0.200_000_2);
        assert!((struck.impulse - impulse).abs() < 1e-12 + 10.0 * fall, "{exponent}: {}", struck.impulse);
        assert!((struck.velocity[1].z - (impulse - 1.0)).abs() < 1e-12 + 10.0 * fall);
    }
}
