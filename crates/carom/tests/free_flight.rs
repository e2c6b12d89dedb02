//! Flight and gap together: bodies that fly freely, against gaps computed with 50 digits at many times.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use carom::body::{Body, State};
use carom::gap::gap;
use carom::motion::Flight;
use carom::shape::Shape;
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use serde_json::Value;

fn vector(value: &Value) -> Vector3<f64> {
    Vector3::from_iterator(value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()))
}

fn flight(value: &Value) -> (Shape, Flight) {
    let semi_axes = vector(&value["semi_axes"]).into();
    let exponent = value["exponent"].as_f64().unwrap();
    let shape = Shape::Superellipsoid { semi_axes, exponent };
    let mass = value.get("mass").map_or(1.0, |m| m.as_f64().unwrap());
    let inertia = value.get("inertia").map_or_else(|| shape.unit_inertia() * mass, vector);
    let q: Vec<f64> = value["orientation"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    let state = State {
        position: vector(&value["position"]),
        orientation: UnitQuaternion::from_quaternion(Quaternion::new(q[0], q[1], q[2], q[3])),
        velocity: vector(&value["velocity"]),
        angular_velocity: vector(&value["angular_velocity"]),
    };
    (shape, Flight::new(&Body { shape, mass, inertia, fixed: false }, &state, &Vector3::zeros()))
}

#[test]
fn gaps_of_flying_bodies_equal_fifty_digit_ones() {
    let file: Value = serde_json::from_str(include_str!("../../../cases/contacts/free_flight.json")).unwrap();
    let (mut worst, mut worst_point, mut count) = (0.0_f64, 0.0_f64, 0);
    for case in file["cases"].as_array().unwrap() {
        let [first, second] = [0, 1].map(|k| flight(&case["bodies"][k]));
        for entry in case["gaps"].as_array().unwrap() {
            let t = entry["t"].as_f64().unwrap();
            let found = gap((&first.0, &first.1.at(t).pose()), (&second.0, &second.1.at(t).pose())).unwrap();
            let error = (found.gap - entry["gap"].as_f64().unwrap()).abs();
            assert!(error <= 2e-14, "{} at {t}: {:e} off by {error:e}", case["name"], found.gap);
            worst = worst.max(error);
            count += 1;
            if entry.get("points").is_some() {
                let off = (found.normal - vector(&entry["normal"])).norm();
                let points = (0..2).map(|k| (found.points[k] - vector(&entry["points"][k])).norm());
                worst_point = points.fold(worst_point.max(off), f64::max);
            }
        }
    }
    println!("{count} gaps: worst {worst:e}, points and normals {worst_point:e}");
    assert!(count > 60 && worst_point <= 1e-13, "{count} {worst_point:e}");
}
