//! The gap of bodies with flats, edges and corners: certified pair by pair where they are apart, against dense sampling where
//! they overlap, and against values of 50 digits.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod count;
mod edged;

use carom::gap::{Gap, gap, gap_near, gap_to_plane};
use carom::hull::Axes;
use carom::shape::{Cone, HalfSpace, Polyhedron, Shape};
use edged::Source;
use nalgebra::{Isometry3, Matrix3, Quaternion, Unit, UnitQuaternion, Vector3};
use serde_json::Value;

type Placed<'a> = (&'a Shape, &'a Isometry3<f64>);

/// f(n) = n·(c₂ − c₁) − h₁(n) − h₂(−n), a lower bound of the gap for any unit n.
fn separation(first: Placed, second: Placed, n: &Vector3<f64>) -> f64 {
    let height = |(shape, pose): Placed, n: &Vector3<f64>| {
        shape.support_height(&pose.rotation.inverse_transform_vector(n))
    };
    n.dot(&(second.1.translation.vector - first.1.translation.vector))
        - height(first, n)
        - height(second, &-n)
}

/// How far outside a body a point is, no less than it is; by its gauge, or by the distance to what it is grown from.
fn outside((shape, pose): Placed, x: &Vector3<f64>) -> f64 {
    let local = pose.inverse_transform_point(&(*x).into()).coords;
    match shape.sharp() {
        Some((sharp, rounding)) => (local - sharp.nearest(&local)).norm() - rounding,
        None => (1.0 - shape.gauge(&local).recip()) * local.norm(),
    }
}

/// What an answer claims, checked with nothing but support heights and distances to single bodies: an upper bound of the gap
/// from the two points, a lower one from the normal. Returns how far the two are apart.
fn certified(first: Placed, second: Placed, found: &Gap) -> f64 {
    let [p, q] = found.points;
    let lower = separation(first, second, &found.normal);
    let facing = (q - p - found.normal * found.gap).norm();
    let out = outside(first, &p).max(outside(second, &q)).max(0.0);
    (lower - found.gap).abs().max(facing).max(out).max((found.normal.norm() - 1.0).abs())
}

#[test]
fn random_pairs_apart_meet_their_bounds() {
    meet_their_bounds(1, 1, Source::edged);
}

#[test]
fn polyhedra_meet_their_bounds() {
    meet_their_bounds(11, 4, Source::any_polyhedron);
}

fn meet_their_bounds(seed: u64, part: usize, second: fn(&mut Source) -> Shape) {
    let mut source = Source::new(seed);
    // Where discs are parallel but for rounding, the points on their rims are known less well than the gap.
    let (mut worst, mut apart, mut touching) = (0.0_f64, 0, 0);
    for case in 0..count::cases("CAROM_PAIRS", 20_000) / part {
        let shapes = [source.shape(), second(&mut source)];
        let poses = [source.pose(0.3), source.pose(2.5)];
        let (first, second) = ((&shapes[0], &poses[0]), (&shapes[1], &poses[1]));
        let mut found = gap(first, second).unwrap();
        let mut poses = poses;
        // One in two is moved to all but touch.
        if source.pick(2) == 0 && found.gap > 0.0 {
            let distance = [0.0, 1e-14, 1e-9, 1e-4][source.pick(4)];
            poses[1].translation.vector -= found.normal * (found.gap - distance);
            found = gap((&shapes[0], &poses[0]), (&shapes[1], &poses[1])).unwrap();
            assert!((found.gap - distance).abs() < 2e-14, "{case}: moved to {distance:e}, found {found:?}");
            touching += 1;
        }
        if found.gap <= 0.0 {
            continue;
        }
        apart += 1;
        let error = certified((&shapes[0], &poses[0]), (&shapes[1], &poses[1]), &found);
        assert!(error < 1e-11, "{case}: {shapes:?} {poses:?} {found:?}: off by {error:e}");
        worst = worst.max(error);
    }
    println!("{apart} pairs apart, {touching} of them moved close: bounds at most {worst:.1e} apart");
    assert!(apart * 10 > count::cases("CAROM_PAIRS", 20_000) / part, "{apart}");
}

#[test]
fn random_overlaps_are_deepest_along_their_normal() {
    are_deepest_along_their_normal(2, 1, Source::edged);
}

#[test]
fn polyhedra_are_deepest_along_their_normal() {
    are_deepest_along_their_normal(12, 4, Source::any_polyhedron);
}

fn are_deepest_along_their_normal(seed: u64, part: usize, second: fn(&mut Source) -> Shape) {
    let mut source = Source::new(seed);
    let directions: Vec<Vector3<f64>> = (0..2000).map(|_| source.direction()).collect();
    let (mut worst, mut beaten, mut cases) = (0.0_f64, 0.0_f64, 0);
    for case in 0..count::cases("CAROM_PAIRS", 20_000) / part {
        let shapes = [source.shape(), second(&mut source)];
        let poses = [source.pose(0.3), source.pose(0.8)];
        let (first, second) = ((&shapes[0], &poses[0]), (&shapes[1], &poses[1]));
        let found = gap(first, second).unwrap();
        if found.gap >= 0.0 {
            continue;
        }
        cases += 1;
        let error = certified(first, second, &found);
        assert!(error < 1e-11, "{case}: {shapes:?} {poses:?} {found:?}: off by {error:e}");
        worst = worst.max(error);
        // Axes, their products, and a fan, none of them better; in a small share of cases the whole fan.
        let columns = poses.map(|pose| pose.rotation.to_rotation_matrix().into_inner());
        let axes = [0, 1].map(|i| [0, 1, 2].map(|k| columns[i].column(k).into_owned()));
        let mut tried: Vec<Vector3<f64>> = axes.concat();
        for one in &axes[0] {
            tried.extend(axes[1].iter().filter_map(|two| one.cross(two).try_normalize(1e-9)));
        }
        tried.extend(directions.iter().skip(case % 7).step_by(7));
        // Climb from the best of them by small random steps.
        let mut best = (f64::NEG_INFINITY, Vector3::x());
        for n in tried.iter().flat_map(|n| [*n, -n]) {
            let value = separation(first, second, &n);
            if value > best.0 {
                best = (value, n);
            }
        }
        let mut step = 0.1;
        for _ in 0..300 {
            let n = (best.1 + source.direction() * step).normalize();
            let value = separation(first, second, &n);
            if value > best.0 {
                best = (value, n);
            } else {
                step *= 0.96;
            }
        }
        let higher = best.0 - found.gap;
        beaten = beaten.max(higher);
        assert!(
            higher < 1e-14,
            "{case}: {shapes:?} {poses:?} {found:?}: {:?} is higher by {higher:e}",
            best.1
        );
    }
    println!("{cases} overlaps: off by {worst:.1e}, beaten by {beaten:.1e}");
    assert!(cases * 10 > count::cases("CAROM_PAIRS", 20_000) / part, "{cases}");
}

#[test]
fn exchange_motion_and_hints_change_nothing() {
    do_not_change(3, 1, Source::edged);
}

#[test]
fn polyhedra_do_not_change() {
    do_not_change(13, 4, Source::any_polyhedron);
}

fn do_not_change(seed: u64, part: usize, second: fn(&mut Source) -> Shape) {
    let mut source = Source::new(seed);
    let mut worst = [0.0_f64; 3];
    for case in 0..count::cases("CAROM_PAIRS", 20_000) / 4 / part {
        let shapes = [source.shape(), second(&mut source)];
        let poses = [source.pose(0.3), source.pose(2.0)];
        let found = gap((&shapes[0], &poses[0]), (&shapes[1], &poses[1])).unwrap();
        let exchanged = gap((&shapes[1], &poses[1]), (&shapes[0], &poses[0])).unwrap();
        let moved = Isometry3::from_parts(source.direction().into(), source.orientation());
        let carried = poses.map(|pose| moved * pose);
        let elsewhere = gap((&shapes[0], &carried[0]), (&shapes[1], &carried[1])).unwrap();
        let near = (found.normal + source.direction() * 0.05).normalize();
        let hinted = gap_near((&shapes[0], &poses[0]), (&shapes[1], &poses[1]), &near).unwrap();
        // A hint in overlap leads to the same depth: the search is global.
        for (k, other) in [exchanged, elsewhere, hinted].iter().enumerate() {
            let error = (other.gap - found.gap).abs();
            worst[k] = worst[k].max(error);
            assert!(error < 3e-14, "{case}, {k}: {shapes:?} {poses:?}: {found:?}, {other:?}");
        }
    }
    println!("exchange {:.1e}, motion {:.1e}, hint {:.1e}", worst[0], worst[1], worst[2]);
}

#[test]
fn planes_are_boxes_of_great_extent() {
    touch_planes_like_boxes(4, 1, Source::edged);
}

#[test]
fn polyhedra_touch_planes_like_boxes() {
    touch_planes_like_boxes(14, 4, Source::any_polyhedron);
}

fn touch_planes_like_boxes(seed: u64, part: usize, second: fn(&mut Source) -> Shape) {
    let mut source = Source::new(seed);
    for case in 0..count::cases("CAROM_PAIRS", 20_000) / 4 / part {
        let shape = second(&mut source);
        let pose = source.pose(2.0);
        let n = if source.pick(3) == 0 { Vector3::z() } else { source.direction() };
        let plane = HalfSpace { normal: Unit::new_normalize(n), offset: source.between(-1.0, 1.0) };
        let found = gap_to_plane(&shape, &pose, &plane);
        // A slab under the plane, wide enough for the body.
        let slab = Shape::Box { half_extents: [16.0, 16.0, 4.0], rounding: 0.0 };
        let turn = UnitQuaternion::rotation_between(&Vector3::z(), &n)
            .unwrap_or_else(|| UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI));
        let foot = plane.nearest(&pose.translation.vector) - n * 4.0;
        let other = gap((&slab, &Isometry3::from_parts(foot.into(), turn)), (&shape, &pose)).unwrap();
        // Deep in a slab of finite extent another face may be nearer.
        if found.gap > -1.5 {
            assert!(
                (found.gap - other.gap).abs() < 1e-13,
                "{case}: {shape:?} {pose:?}: {found:?}, {other:?}"
            );
        }
    }
}

fn numbers<const N: usize>(value: &Value) -> [f64; N] {
    std::array::from_fn(|i| value[i].as_f64().unwrap())
}

/// A shape as scenes have it.
fn shape(value: &Value) -> Shape {
    let (kind, sizes) = value.as_object().unwrap().iter().next().unwrap();
    let size = |name: &str| sizes[name].as_f64().unwrap_or(0.0);
    let (radius, half_length, rounding) = (size("radius"), size("half_length"), size("rounding"));
    match kind.as_str() {
        "sphere" => Shape::Sphere { radius },
        "box" => Shape::Box { half_extents: numbers(&sizes["half_extents"]), rounding },
        "cylinder" => Shape::Cylinder { radius, half_length, rounding },
        "capsule" => Shape::Capsule { radius, half_length },
        "cone" => Shape::Cone(Cone::new(radius, size("height"), rounding)),
        "disc" => Shape::Disc { radius, rounding },
        _ => panic!("{kind}"),
    }
}

fn placed(value: &Value) -> Isometry3<f64> {
    let [w, x, y, z] = numbers(&value["orientation"]);
    let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
    Isometry3::from_parts(Vector3::from(numbers(&value["position"])).into(), turn)
}

fn number(value: &Value) -> f64 {
    value.as_str().unwrap().parse().unwrap()
}

/// `cases/contacts/edged.py` says how the values were found.
fn reference() -> Value {
    serde_json::from_str(include_str!("../../../cases/contacts/edged.json")).unwrap()
}

#[test]
fn values_of_fifty_digits_are_met() {
    let mut worst = 0.0_f64;
    for (number_of, case) in reference()["gaps"].as_array().unwrap().iter().enumerate() {
        let shapes = [0, 1].map(|i| shape(&case["shapes"][i]));
        let poses = [0, 1].map(|i| placed(&case["poses"][i]));
        let found = gap((&shapes[0], &poses[0]), (&shapes[1], &poses[1])).unwrap();
        let error = (found.gap - number(&case["gap"])).abs();
        worst = worst.max(error);
        // Sizes and distances are about two.
        assert!(error < 2e-15, "{number_of}: {found:?}, expected {}, off by {error:e}", case["gap"]);
    }
    println!("off by {worst:.1e}");
}

#[test]
fn mass_properties_of_fifty_digits_are_met() {
    for case in reference()["mass"].as_array().unwrap() {
        let shape = shape(&case["shape"]);
        let close = |found: f64, expected: f64| {
            assert!((found / expected - 1.0).abs() < 4e-15, "{shape:?}: {found}, expected {expected}");
        };
        close(shape.volume(), number(&case["volume"]));
        for i in 0..3 {
            close(shape.unit_inertia()[i], number(&case["unit_inertia"][i]));
        }
        if let Shape::Cone(cone) = shape {
            assert!((cone.base() - number(&case["base"])).abs() < 1e-15 * cone.height());
        }
        // In other units.
        let (small, large) = (shape.scaled(1e-60), shape.scaled(1e60));
        close(small.volume() * 1e180, shape.volume());
        close(large.unit_inertia().x * 1e-120, shape.unit_inertia().x);
    }
    let flat = Shape::Disc { radius: 2.0, rounding: 0.0 };
    assert_eq!((flat.volume(), flat.unit_inertia()), (0.0, Vector3::new(1.0, 1.0, 2.0)));
}

/// h is convex and homogeneous, its gradient the support point, its Hessian the gradient's; the surface has the normal of its
/// support plane and lies on it; curvature is the normal's change along it.
#[test]
fn support_and_surface_belong_together() {
    have_their_surface(5, 1, Source::edged);
}

#[test]
fn polyhedra_have_their_surface() {
    have_their_surface(15, 4, Source::any_polyhedron);
}

fn have_their_surface(seed: u64, part: usize, second: fn(&mut Source) -> Shape) {
    let mut source = Source::new(seed);
    let mut bent = 0;
    for _ in 0..2000 / part {
        let shape = second(&mut source);
        let n = source.direction();
        let (point, hessian) = shape.support_and_hessian(&n);
        assert!((n.dot(&point) - shape.support_height(&n)).abs() < 4e-15);
        assert!(point.norm() <= shape.circumradius() * (1.0 + 1e-15) && hessian.amax() < 1e10);
        let step = source.direction() * 1e-6;
        let change = (shape.support(&(n + step)) - shape.support(&(n - step))) * 0.5;
        // Only away from where an edge changes.
        if change.norm() < 1e-3 {
            assert!((change - hessian * step).norm() < 1e-10 * (1.0 + hessian.amax()), "{shape:?} {n:?}");
        }
        let ray = source.direction();
        let surface = shape.osculate(&ray);
        if matches!(shape, Shape::Disc { rounding: 0.0, .. }) {
            continue;
        }
        assert!((shape.gauge(&surface.point) - 1.0).abs() < 1e-13);
        let height = shape.support_height(&surface.normal);
        assert!(
            (surface.normal.dot(&surface.point) - height).abs() < 2e-13,
            "{shape:?} {ray:?}: {surface:?}"
        );
        let across = (step - surface.normal * surface.normal.dot(&step)) * 10.0;
        let [ahead, behind] = [1.0, -1.0].map(|sign| shape.osculate(&(surface.point + across * sign)));
        let turned = (ahead.normal - behind.normal) * 0.5;
        if (ahead.curvature - behind.curvature).norm() < 1e-2 {
            let predicted = surface.curvature * across;
            assert!((turned - predicted).norm() < 1e-9, "{shape:?} {ray:?}: {turned:?} {predicted:?}");
            bent += i32::from(predicted.norm() > 1e-7);
        }
        // The curvature's own change along the surface.
        if (ahead.curvature - behind.curvature).norm() < 1e-3 {
            let along = |o: &carom::shape::Osculation, t: &Vector3<f64>| t.dot(&(o.curvature * t));
            let chord = ahead.point - behind.point;
            let change = along(&ahead, &chord) - along(&behind, &chord);
            let predicted = shape.curvature_change(&ray, &chord);
            assert!(
                (change - predicted).abs() < 1e-3 * chord.norm_squared() * chord.norm() + 1e-20,
                "{shape:?} {ray:?}: {change:e} {predicted:e}"
            );
        }
    }
    assert!(bent * i32::try_from(part).unwrap() > 300);
}

/// `cases/contacts/polyhedra.py` says how the values were found.
fn polyhedra() -> Value {
    serde_json::from_str(include_str!("../../../cases/contacts/polyhedra.json")).unwrap()
}

fn points(value: &Value) -> Vec<Vector3<f64>> {
    value.as_array().unwrap().iter().map(|x| Vector3::from(numbers::<3>(x))).collect()
}

#[test]
fn polyhedra_meet_values_of_fifty_digits() {
    let mut worst = 0.0_f64;
    let table = polyhedra();
    for (number_of, case) in table["gaps"].as_array().unwrap().iter().enumerate() {
        let shapes = [0, 1].map(|i| {
            let given = &case["shapes"][i];
            let rounding = given["rounding"].as_f64().unwrap();
            Polyhedron::new(&points(&given["vertices"]), rounding, Axes::Principal).unwrap()
        });
        // From the axes of the points to the body's own.
        let poses = [0, 1].map(|i| {
            let own = Isometry3::from_parts(shapes[i].centre().into(), shapes[i].turn());
            placed(&case["poses"][i]) * own
        });
        let shapes = shapes.map(Shape::Polyhedron);
        let found = gap((&shapes[0], &poses[0]), (&shapes[1], &poses[1])).unwrap();
        let error = (found.gap - number(&case["gap"])).abs();
        worst = worst.max(error);
        assert!(error < 1e-14, "{number_of}: {found:?}, expected {}, off by {error:e}", case["gap"]);
    }
    println!("off by {worst:.1e}");
    for case in table["mass"].as_array().unwrap() {
        let given = Polyhedron::new(&points(&case["vertices"]), 0.0, Axes::Given).unwrap();
        let own = Polyhedron::new(&points(&case["vertices"]), 0.0, Axes::Principal).unwrap();
        let shape = Shape::Polyhedron(own);
        assert!((shape.volume() / number(&case["volume"]) - 1.0).abs() < 1e-14);
        for i in 0..3 {
            assert!((given.centre()[i] - number(&case["centre"][i])).abs() < 4e-16);
        }
        let turn = own.turn().to_rotation_matrix();
        let tensor =
            turn.matrix() * Matrix3::from_diagonal(&shape.unit_inertia()) * turn.matrix().transpose();
        for (k, (i, j)) in [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0)].into_iter().enumerate() {
            let error = tensor[(i, j)] - number(&case["unit_inertia"][k]);
            assert!(error.abs() < 1e-14, "{i}{j}: off by {error:e}");
        }
    }
}
