//! Bodies in free flight as the cases in `cases/contacts` give them.

use carom::body::{Body, State};
use carom::motion::Flight;
use carom::shape::Shape;
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use serde_json::Value;

pub fn vector(value: &Value) -> Vector3<f64> {
    Vector3::from_iterator(value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()))
}

/// Its shape and its flight, without gravity; unit mass and a homogeneous body unless it says otherwise.
pub fn flight(value: &Value) -> (Shape, Flight) {
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
