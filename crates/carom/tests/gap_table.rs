//! The gap against 50-digit values: `cases/contacts/gap_table.json`, made by `generate.py` beside it. Errors are printed;
//! `cargo test --test gap_table -- --nocapture` shows them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use carom::gap::{Gap, gap, gap_near, gap_to_plane};
use carom::shape::{HalfSpace, Shape};
use nalgebra::{Isometry3, Quaternion, Unit, UnitQuaternion, Vector3};
use serde_json::Value;

fn numbers<const N: usize>(value: &Value) -> [f64; N] {
    core::array::from_fn(|i| value[i].as_f64().unwrap())
}

fn shape(value: &Value) -> Shape {
    let [a, b, c, exponent] = numbers(value);
    if a == b && b == c && exponent == 2.0 {
        return Shape::Sphere { radius: a };
    }
    Shape::Superellipsoid { semi_axes: [a, b, c], exponent }
}

fn turn(value: &Value) -> UnitQuaternion<f64> {
    let [w, x, y, z] = numbers(value);
    UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z))
}

/// What one pair came to, cold, and warm from a normal a tenth off.
fn found(case: &Value) -> (Gap, Gap, f64) {
    let centre = Vector3::from(numbers(&case["centre"]));
    let shapes = case["shapes"].as_array().unwrap();
    let first = shape(&shapes[0]);
    let at = |k: usize, centre: Vector3<f64>| Isometry3::from_parts(centre.into(), turn(&case["turns"][k]));
    if case["plane"].is_array() {
        let [x, y, z, offset] = numbers(&case["plane"]);
        let plane = HalfSpace { normal: Unit::new_normalize(Vector3::new(x, y, z)), offset };
        let found = gap_to_plane(&first, &at(0, centre), &plane);
        return (found, found, first.circumradius().max(centre.norm()).max(offset.abs()));
    }
    let second = shape(&shapes[1]);
    let poses = [at(0, Vector3::zeros()), at(1, centre)];
    let cold = gap((&first, &poses[0]), (&second, &poses[1])).unwrap();
    let aside = Vector3::from(numbers(&case["normal"])) + Vector3::new(0.06, -0.06, 0.05);
    let warm = gap_near((&first, &poses[0]), (&second, &poses[1]), &aside).unwrap();
    (cold, warm, first.circumradius().max(second.circumradius()).max(centre.norm()))
}

/// The error of the gap is within 1e-13 of the size of the larger body, or of the distance where that is larger: a gap of
/// a thousand has no more digits. Measured errors are a hundred times smaller, and held to that.
#[test]
fn gaps_to_fifty_digits() {
    let file: Value = serde_json::from_str(include_str!("../../../cases/contacts/gap_table.json")).unwrap();
    let cases = file["cases"].as_array().unwrap();
    let mut worst: BTreeMap<&str, (usize, f64, f64, f64)> = BTreeMap::new();
    for case in cases {
        let expected: f64 = case["gap"].as_str().unwrap().parse().unwrap();
        let normal = Vector3::from(numbers(&case["normal"]));
        let (cold, warm, size) = found(case);
        let errors = [cold, warm].map(|found| (found.gap - expected).abs() / size);
        let kind = case["kind"].as_str().unwrap();
        let entry = worst.entry(kind).or_insert((0, 0.0, 0.0, 0.0));
        entry.0 += 1;
        entry.1 = entry.1.max(errors[0]);
        entry.2 = entry.2.max(errors[1]);
        entry.3 = entry.3.max((cold.normal - normal).norm());
        assert!(errors[0] <= 2e-15 && errors[1] <= 2e-15, "{case}: {errors:?}");
    }
    for (kind, (count, cold, warm, normal)) in worst {
        println!("{kind}: {count} pairs, gap off by {cold:.1e}, warm by {warm:.1e}, normal by {normal:.1e}");
    }
    assert!(cases.len() >= 500, "{}", cases.len());
}

/// The table holds what it is there for.
#[test]
fn the_table_is_wide() {
    let file: Value = serde_json::from_str(include_str!("../../../cases/contacts/gap_table.json")).unwrap();
    let cases = file["cases"].as_array().unwrap();
    let gaps: Vec<f64> = cases.iter().map(|case| case["gap"].as_str().unwrap().parse().unwrap()).collect();
    let least = |sign: f64| gaps.iter().map(|gap| gap * sign).filter(|gap| *gap > 0.0).fold(1.0, f64::min);
    assert!(gaps.iter().any(|gap| *gap > 999.0) && gaps.iter().any(|gap| *gap < -0.299));
    assert!(least(1.0) < 2e-13 && least(-1.0) < 2e-13, "{:e} {:e}", least(1.0), least(-1.0));
    let (mut exponents, mut aspect, mut ratio) = (Vec::new(), 1.0_f64, 1.0_f64);
    for case in cases {
        let sizes: Vec<f64> = case["shapes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|value| {
                let [a, b, c, exponent] = numbers(value);
                exponents.push(exponent);
                aspect = aspect.max(a.max(b).max(c) / a.min(b).min(c));
                a.max(b).max(c)
            })
            .collect();
        ratio = ratio.max(sizes[sizes.len() - 1] / sizes[0]);
    }
    assert!(aspect >= 99.9 && ratio >= 1e4, "{aspect} {ratio}");
    for exponent in [2.0, 2.5, 4.0, 6.0, 10.0, 20.0] {
        assert!(exponents.iter().filter(|p| **p == exponent).count() >= 50, "{exponent}");
    }
}
