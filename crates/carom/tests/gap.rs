//! The gap: published numbers, bodies placed at a known gap, dense sampling, and identities. Error statistics are
//! printed; `cargo test --test gap -- --nocapture` shows them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Instant;

use carom::gap::{Gap, gap, gap_to_plane};
use carom::shape::{HalfSpace, Shape};
use nalgebra::{Isometry3, Matrix3, Quaternion, Rotation3, Translation3, Unit, UnitQuaternion, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

// ---------------------------------------------------------------------------------------------------------
// Published numbers

fn vector(value: &Value) -> Vector3<f64> {
    Vector3::from_fn(|i, _| value[i].as_f64().unwrap())
}

fn pose(value: &Value) -> Isometry3<f64> {
    let q = [0, 1, 2, 3].map(|i| value["quat_wxyz"][i].as_f64().unwrap());
    let rotation = UnitQuaternion::from_quaternion(Quaternion::new(q[0], q[1], q[2], q[3]));
    Isometry3::from_parts(Translation3::from(vector(&value["center"])), rotation)
}

fn shape(value: &Value) -> Shape {
    let semi_axes = vector(&value["semi_axes"]).into();
    Shape::Superellipsoid { semi_axes, exponent: value["exponent"].as_f64().unwrap() }
}

#[test]
fn reference_gaps() {
    let file: Value = serde_json::from_str(include_str!("../../../cases/contacts/gap.json")).unwrap();
    let tolerance = file["tolerance"].as_f64().unwrap();
    let (mut worst, mut worst_normal, mut worst_point) = (0.0_f64, 0.0_f64, 0.0_f64);
    for case in file["cases"].as_array().unwrap() {
        let shapes = [0, 1].map(|i| shape(&case["shapes"][i]));
        let poses = [0, 1].map(|i| pose(&case["poses"][i]));
        let found = gap((&shapes[0], &poses[0]), (&shapes[1], &poses[1])).unwrap();
        let error = (found.gap - case["gap"].as_f64().unwrap()).abs();
        assert!(error <= tolerance, "{}: gap off by {error:e}", case["name"]);
        worst = worst.max(error);
        worst_normal = worst_normal.max((found.normal - vector(&case["normal"])).norm());
        for i in 0..2 {
            worst_point = worst_point.max((found.points[i] - vector(&case["points"][i])).norm());
        }
    }
    println!("reference: gap {worst:.1e}, normal {worst_normal:.1e}, points {worst_point:.1e}");
    assert!(worst_normal < 1e-11 && worst_point < 1e-11);
}

/// [SP]: ellipsoids over planes, gap, contact point and support height.
#[test]
fn reference_planes() {
    let file: Value = serde_json::from_str(include_str!("../../../cases/laws/reference.json")).unwrap();
    let mut seen = 0;
    let mut worst = 0.0_f64;
    for case in file["cases"].as_array().unwrap() {
        let (inputs, expected) = (&case["inputs"], &case["expected"]);
        let planes = inputs["planes_abcd"].as_array();
        let Some(planes) = planes.filter(|_| case["id"].as_str().unwrap().starts_with("p2_")) else {
            continue;
        };
        let rows =
            if expected["rotation_A"].is_array() { &expected["rotation_A"] } else { &inputs["rotation_A"] };
        let matrix = Matrix3::from_fn(|i, j| rows[i][j].as_f64().unwrap());
        let rotation = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(matrix));
        let pose = Isometry3::from_parts(Translation3::from(vector(&inputs["R0"])), rotation);
        let shape = Shape::Ellipsoid { semi_axes: vector(&inputs["semi_axes"]).into() };
        for (k, plane) in planes.iter().enumerate() {
            let row = vector(plane);
            let offset = -plane[3].as_f64().unwrap() / row.norm();
            let plane = HalfSpace { normal: Unit::new_normalize(row), offset };
            let found = gap_to_plane(&shape, &pose, &plane);
            let contact = if expected["gap"].is_number() { expected } else { &expected["contacts"][k] };
            if let Some(gap) = contact["gap"].as_f64() {
                worst = worst.max((found.gap - gap).abs());
                seen += 1;
            }
            for name in ["nearest_point_space", "point_space"] {
                if contact[name].is_array() {
                    worst = worst.max((found.points[0] - vector(&contact[name])).norm());
                    seen += 1;
                }
            }
            assert!((found.points[0] - found.points[1] - found.normal * found.gap).norm() < 1e-15);
            assert!(plane.height(&found.points[1]).abs() < 8e-15);
        }
    }
    println!("planes: {seen} numbers, worst {worst:.1e}");
    assert!(seen >= 15 && worst < 1e-14, "{seen} {worst:e}");
}

// ---------------------------------------------------------------------------------------------------------
// Random bodies

struct Source(ChaCha8Rng);

impl Source {
    fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0.random_range(low..high)
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
        UnitQuaternion::from_scaled_axis(self.direction() * self.between(0.0, 3.1))
    }

    /// Axes within a factor 10^spread of one another, on either side of one.
    fn axes(&mut self, spread: f64) -> [f64; 3] {
        [(); 3].map(|()| 10.0_f64.powf(self.between(-0.5, 0.5) * spread))
    }

    fn shape(&mut self, exponents: &[f64], spread: f64) -> Shape {
        let kind = self.0.random_range(0..8);
        match kind {
            0 => Shape::Sphere { radius: self.axes(spread)[0] },
            1 => Shape::Point,
            2 | 3 => Shape::Ellipsoid { semi_axes: self.axes(spread) },
            _ => self.superellipsoid(exponents, spread),
        }
    }

    fn superellipsoid(&mut self, exponents: &[f64], spread: f64) -> Shape {
        let exponent = exponents[self.0.random_range(0..exponents.len())];
        Shape::Superellipsoid { semi_axes: self.axes(spread), exponent }
    }
}

fn value_at(shapes: &[Shape; 2], poses: &[Isometry3<f64>; 2], n: &Vector3<f64>) -> f64 {
    let height = |i: usize| shapes[i].support_height(&poses[i].rotation.inverse_transform_vector(n));
    n.dot(&(poses[1].translation.vector - poses[0].translation.vector)) - height(0) - height(1)
}

fn size_of(shapes: &[Shape; 2], poses: &[Isometry3<f64>; 2]) -> f64 {
    let apart = poses[1].translation.vector - poses[0].translation.vector;
    shapes[0].circumradius().max(shapes[1].circumradius()).max(apart.norm())
}

fn of(shapes: &[Shape; 2], poses: &[Isometry3<f64>; 2]) -> Option<Gap> {
    gap((&shapes[0], &poses[0]), (&shapes[1], &poses[1]))
}

/// By how much the best of many sampled directions, refined by a pattern search, beats the gap.
fn beaten_by(
    source: &mut Source,
    shapes: &[Shape; 2],
    poses: &[Isometry3<f64>; 2],
    found: &Gap,
    count: u32,
) -> f64 {
    let value = |n: &Vector3<f64>| value_at(shapes, poses, n);
    let mut best: Vec<(f64, Vector3<f64>)> =
        (0..count).map(|_| source.direction()).map(|n| (value(&n), n)).collect();
    best.sort_by(|a, b| b.0.total_cmp(&a.0));
    best.truncate(3);
    best.push((value(&found.normal), found.normal));
    let mut most = f64::NEG_INFINITY;
    for (mut height, mut n) in best {
        let mut step = 0.1;
        for _ in 0..250 {
            let next = (n + source.direction() * step).normalize();
            let other = value(&next);
            if other > height {
                (height, n) = (other, next);
                step *= 1.5;
            } else {
                step *= 0.85;
            }
        }
        most = most.max(height);
    }
    most - found.gap
}

/// Quantiles of a list of errors.
fn spread(mut errors: Vec<f64>) -> String {
    errors.sort_by(f64::total_cmp);
    let at = |thousandths: usize| errors[(errors.len() - 1) * thousandths / 1000];
    format!("median {:.1e}, 99% {:.1e}, 99.9% {:.1e}, worst {:.1e}", at(500), at(990), at(999), at(1000))
}

/// Pairs against sampling.
const PAIRS: u32 = 20_000;

const EXPONENTS: [f64; 7] = [2.0, 2.5, 3.0, 4.0, 6.0, 10.0, 20.0];

/// No sampled direction beats the gap, and the gap is attained: f at the normal, and by the points.
#[test]
fn random_pairs_against_sampling() {
    let mut source = Source::new(4);
    let (mut beaten, mut attained, mut joined) = (Vec::new(), Vec::new(), Vec::new());
    let (mut apart, mut overlapping, mut missed) = (0, 0, 0);
    let mut times = [Vec::new(), Vec::new()];
    while apart + overlapping < PAIRS {
        let spread = source.between(0.0, 1.5);
        let shapes = [(); 2].map(|()| source.shape(&EXPONENTS, spread));
        let mut turns = [(); 2].map(|()| source.turn());
        let mut distance = source.between(0.0, 1.5) * (shapes[0].circumradius() + shapes[1].circumradius());
        // Symmetric places, where a start can sit on a saddle of f.
        match source.0.random_range(0..20) {
            0 => distance = 0.0,
            1 => turns[1] = turns[0],
            2 => (distance, turns[1]) = (0.0, turns[0]),
            _ => {}
        }
        let centres = [Vector3::zeros(), source.direction() * distance];
        let poses = [0, 1].map(|i| Isometry3::from_parts(Translation3::from(centres[i]), turns[i]));
        let start = Instant::now();
        let Some(found) = of(&shapes, &poses) else {
            assert!(shapes == [Shape::Point; 2]);
            continue;
        };
        times[usize::from(found.gap < 0.0)].push(start.elapsed().as_secs_f64() * 1e6);
        let size = size_of(&shapes, &poses);
        if found.gap >= 0.0 {
            apart += 1;
        } else {
            overlapping += 1;
        }
        let over = beaten_by(&mut source, &shapes, &poses, &found, 400) / size;
        if over > 1e-13 {
            missed += 1;
            println!("beaten by {over:.1e} at gap {:.3} of {shapes:?} {poses:?}", found.gap);
        }
        beaten.push(over.max(0.0));
        attained.push((value_at(&shapes, &poses, &found.normal) - found.gap).abs() / size);
        joined.push((found.points[1] - found.points[0] - found.normal * found.gap).norm() / size);
        assert!((found.normal.norm() - 1.0).abs() < 4e-15);
        for i in 0..2 {
            if shapes[i] != Shape::Point {
                let local = poses[i].inverse() * nalgebra::Point3::from(found.points[i]);
                let gauge = shapes[i].gauge(&local.coords);
                assert!((gauge - 1.0).abs() * shapes[i].inradius() < 1e-13 * size, "{gauge}");
            }
        }
    }
    println!("{apart} apart, {overlapping} overlapping, {missed} beaten");
    let [apart, overlapping] = times;
    println!("µs apart: {}\nµs overlapping: {}", spread(apart), spread(overlapping));
    println!("beaten by: {}", spread(beaten));
    println!("f(n) − g: {}", spread(attained));
    println!("Q − P − g n: {}", spread(joined.clone()));
    assert!(joined.iter().all(|error| *error < 1e-11));
    assert_eq!(missed, 0);
}

/// Bodies placed so that a chosen normal is the answer: opposite normals at chosen surface points, moved apart by a
/// chosen gap. Apart, and overlapping by less than the rolling radii, that gap is exact by theory.
fn placed(source: &mut Source, shapes: &[Shape; 2], n: &Vector3<f64>, gap: f64) -> [Isometry3<f64>; 2] {
    let turns = [(); 2].map(|()| source.turn());
    let foot =
        |i: usize, n: &Vector3<f64>| turns[i] * shapes[i].support(&turns[i].inverse_transform_vector(n));
    let centre = foot(0, n) + n * gap - foot(1, &-n);
    [
        Isometry3::from_parts(Translation3::identity(), turns[0]),
        Isometry3::from_parts(centre.into(), turns[1]),
    ]
}

#[test]
fn bodies_placed_at_a_known_gap() {
    let mut source = Source::new(5);
    for (what, exponents, spread_of, bound) in [
        ("ellipsoids", &[2.0][..], 1.0, 2e-15),
        ("ellipsoids to 100:1", &[2.0][..], 4.0, 2e-15),
        ("exponents to 10", &EXPONENTS[..6], 1.0, 4e-15),
        ("exponent 20", &EXPONENTS[6..], 1.0, 4e-15),
    ] {
        let (mut errors, mut normals, mut joined, mut steps) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut times = Vec::new();
        for k in 0..4000 {
            let ratio = if k % 4 == 0 { 1e4 } else { 1.0 };
            let shapes = [
                source.superellipsoid(exponents, spread_of),
                source.superellipsoid(exponents, spread_of).scaled(ratio),
            ];
            let n = source.direction();
            let rolling = shapes[0].rolling_radius() + shapes[1].rolling_radius();
            let gaps =
                [0.0, 1e-13, 1e-10, 1e-6, 1e-3, 1.0, 1e3, -1e-13, -1e-8, -0.3 * rolling, -0.9 * rolling];
            let expected = gaps[k % gaps.len()];
            let poses = placed(&mut source, &shapes, &n, expected);
            let start = Instant::now();
            let found = of(&shapes, &poses).unwrap();
            times.push(start.elapsed().as_secs_f64() * 1e6);
            let size = size_of(&shapes, &poses);
            errors.push((found.gap - expected).abs() / size);
            normals.push((found.normal - n).norm());
            joined.push((found.points[1] - found.points[0] - found.normal * found.gap).norm() / size);
            steps.push(f64::from(found.iterations));
        }
        steps.sort_by(f64::total_cmp);
        let worst = errors.iter().fold(0.0_f64, |a, b| a.max(*b));
        println!(
            "{what}: steps median {} most {}\n  µs: {}\n  gap: {}\n  normal: {}\n  Q − P − g n: {}",
            steps[steps.len() / 2],
            steps[steps.len() - 1],
            spread(times),
            spread(errors),
            spread(normals),
            spread(joined)
        );
        assert!(worst <= bound, "{what}: {worst:e}");
    }
}

/// Face to face: normals along or a hair beside the flat poles and rings, with a lateral offset inside the flat.
#[test]
fn flat_faces() {
    let mut source = Source::new(6);
    for exponent in [2.5, 4.0, 6.0, 10.0, 20.0] {
        let (mut errors, mut joined, mut steps) = (Vec::new(), Vec::new(), Vec::new());
        for k in 0..1000 {
            let turn = source.turn();
            let flat = |source: &mut Source| Shape::Superellipsoid { semi_axes: source.axes(1.0), exponent };
            let mut shapes = [flat(&mut source), flat(&mut source)];
            if k % 3 == 0 {
                shapes[1] = Shape::Sphere { radius: 0.3 };
            }
            // Surface points with the same normal, near the pole z: x₁ chosen, its normal taken, x₂ its support.
            let lateral = 10.0_f64.powf(source.between(-6.0, 0.0)) * 0.5;
            let inradius = shapes[0].inradius();
            let height = shapes[0].support(&Vector3::z()).z;
            let mut x = source.direction() * lateral * inradius;
            x.z = height;
            if k % 5 == 0 {
                x.x = 0.0;
            }
            x /= shapes[0].gauge(&x);
            let n = shapes[0].normal(&x);
            let expected = [0.0, 1e-13, 1e-6, 0.1, 10.0, -1e-9][k % 6];
            let hair = if k % 2 == 0 {
                UnitQuaternion::identity()
            } else {
                UnitQuaternion::from_scaled_axis(source.direction() * 1e-7)
            };
            let centre = x + n * expected + hair * shapes[1].support(&hair.inverse_transform_vector(&n));
            let poses = [
                Isometry3::from_parts(Translation3::identity(), turn),
                Isometry3::from_parts((turn * centre).into(), turn * hair),
            ];
            let found = of(&shapes, &poses).unwrap();
            let size = size_of(&shapes, &poses);
            errors.push((found.gap - expected).abs() / size);
            joined.push((found.points[1] - found.points[0] - found.normal * found.gap).norm() / size);
            steps.push(found.iterations);
        }
        steps.sort_unstable();
        let worst = errors.iter().fold(0.0_f64, |a, b| a.max(*b));
        println!(
            "flat, exponent {exponent}: steps median {} most {}\n  gap: {}\n  Q − P − g n: {}",
            steps[500],
            steps[999],
            spread(errors),
            spread(joined)
        );
        assert!(worst <= 4e-15, "{exponent}: {worst:e}");
    }
}

// ---------------------------------------------------------------------------------------------------------
// Identities

#[test]
fn swap_move_turn_and_scale() {
    let mut source = Source::new(7);
    let (mut swapped, mut moved, mut scaled) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..3000 {
        let shapes = [(); 2].map(|()| source.shape(&EXPONENTS, 1.0));
        if shapes == [Shape::Point; 2] {
            continue;
        }
        let turns = [(); 2].map(|()| source.turn());
        let centres = [Vector3::zeros(), source.direction() * source.between(0.3, 6.0)];
        let poses = [0, 1].map(|i| Isometry3::from_parts(Translation3::from(centres[i]), turns[i]));
        let found = of(&shapes, &poses).unwrap();
        let size = size_of(&shapes, &poses);
        let other = of(&[shapes[1], shapes[0]], &[poses[1], poses[0]]).unwrap();
        swapped.push((other.gap - found.gap).abs() / size);
        let motion = Isometry3::from_parts(Translation3::from(source.direction() * 3.0), source.turn());
        let elsewhere = of(&shapes, &[motion * poses[0], motion * poses[1]]).unwrap();
        moved.push((elsewhere.gap - found.gap).abs() / size);
        for scale in [1e-100, 7.0, 1e100] {
            let larger = [0, 1].map(|i| Isometry3::from_parts((centres[i] * scale).into(), turns[i]));
            let shapes = shapes.map(|shape| shape.scaled(scale));
            scaled.push((of(&shapes, &larger).unwrap().gap / scale - found.gap).abs() / size);
        }
        // Directions too, where the answer is the only one.
        if found.gap > 0.0 {
            let error = (other.normal + found.normal).norm();
            assert!(error < 1e-12, "swap: {error:e} {shapes:?} {poses:?}");
            let error = (elsewhere.normal - motion.rotation * found.normal).norm();
            assert!(error < 1e-12, "move: {error:e} {shapes:?} {poses:?}");
            for i in 0..2 {
                let error = (other.points[1 - i] - found.points[i]).norm();
                assert!(error < 1e-6 * size, "swap: {error:e} {shapes:?} {poses:?}");
            }
        }
    }
    println!("swap: {}", spread(swapped.clone()));
    println!("move: {}", spread(moved.clone()));
    println!("scale: {}", spread(scaled.clone()));
    for error in swapped.into_iter().chain(moved).chain(scaled) {
        assert!(error < 1e-13, "{error:e}");
    }
}

#[test]
fn spheres_and_points() {
    let at = |x: f64, y: f64, z: f64| Isometry3::translation(x, y, z);
    let (ball, small) = (Shape::Sphere { radius: 2.0 }, Shape::Sphere { radius: 0.5 });
    let found = gap((&ball, &at(1.0, 1.0, 1.0)), (&small, &at(1.0, 4.0, 5.0))).unwrap();
    assert_eq!(found.gap, 2.5);
    assert!((found.normal - Vector3::new(0.0, 0.6, 0.8)).norm() < 1e-15);
    assert!((found.points[0] - Vector3::new(1.0, 2.2, 2.6)).norm() < 1e-15);
    assert!((found.points[1] - Vector3::new(1.0, 3.7, 4.6)).norm() < 1e-15);
    assert_eq!(found.iterations, 0);
    let concentric = gap((&ball, &at(0.0, 0.0, 0.0)), (&small, &at(0.0, 0.0, 0.0))).unwrap();
    assert_eq!(concentric.gap, -2.5);
    assert!(gap((&Shape::Point, &at(0.0, 0.0, 0.0)), (&Shape::Point, &at(1.0, 0.0, 0.0))).is_none());
    let inside = gap((&Shape::Point, &at(0.0, 0.0, 0.5)), (&ball, &at(0.0, 0.0, 0.0))).unwrap();
    assert_eq!((inside.gap, inside.normal), (-1.5, -Vector3::z()));
    // An ellipsoid with equal axes is the sphere, and a point in its centre sees the shortest axis.
    let round = Shape::Ellipsoid { semi_axes: [2.0; 3] };
    let found = gap((&round, &at(1.0, 1.0, 1.0)), (&small, &at(1.0, 4.0, 5.0))).unwrap();
    assert!((found.gap - 2.5).abs() < 1e-15);
    let flat = Shape::Superellipsoid { semi_axes: [3.0, 2.0, 1.0], exponent: 4.0 };
    let found = gap((&flat, &at(0.0, 0.0, 0.0)), (&Shape::Point, &at(0.0, 0.0, 0.0))).unwrap();
    assert!((found.gap + 1.0).abs() < 1e-15 && (found.normal.z.abs() - 1.0).abs() < 1e-15);
}

/// Large exponents are beyond the promise of full accuracy, not beyond a sound answer: f(n) ≤ g ≤ |Q − P|.
#[test]
fn exponents_to_a_thousand() {
    let mut source = Source::new(8);
    for exponent in [30.0, 100.0, 1000.0] {
        let (mut doubt, mut steps) = (Vec::new(), 0);
        for _ in 0..4000 {
            let shapes = [(); 2].map(|()| source.superellipsoid(&[exponent], 1.0));
            let n = source.direction();
            let poses = placed(&mut source, &shapes, &n, 0.1);
            let found = of(&shapes, &poses).unwrap();
            doubt.push((found.gap - 0.1).abs() / size_of(&shapes, &poses));
            steps = steps.max(found.iterations);
        }
        println!("exponent {exponent}: {}, steps at most {steps}", spread(doubt.clone()));
        assert!(doubt.iter().all(|error| *error < 1e-9));
    }
}

/// Two hundred orders of magnitude between the bodies, or between a body and its distance: the small one is a point.
#[test]
fn extreme_sizes() {
    let turn = UnitQuaternion::from_euler_angles(0.3, -0.7, 1.1);
    let at = |x: f64| Isometry3::from_parts(Translation3::new(0.6 * x, 0.0, 0.8 * x), turn);
    let speck = Shape::Superellipsoid { semi_axes: [1e-100, 2e-100, 3e-100], exponent: 4.0 };
    for exponent in [2.0, 4.0, 20.0] {
        for scale in [1e-50, 1.0, 1e100] {
            let shape = Shape::Superellipsoid { semi_axes: [scale, 2.0 * scale, 3.0 * scale], exponent };
            for distance in [0.0, 1e-200, 1.0, 10.0, 1e80] {
                let poses = [at(0.0), at(distance * scale)];
                let point = of(&[shape, Shape::Point], &poses).unwrap();
                let found = of(&[shape, speck], &poses).unwrap();
                let size = scale * distance.max(3.0);
                assert!((found.gap - point.gap).abs() <= 4e-15 * size, "{exponent} {scale:e} {distance:e}");
                assert!((found.points[1] - point.points[1]).norm() <= 1e-12 * size);
            }
        }
    }
    let far = of(&[speck, speck], &[at(0.0), at(1e100)]).unwrap();
    assert!((far.gap / 1e100 - 1.0).abs() < 1e-15 && far.points[1].iter().all(|x| x.is_finite()));
}
