//! Bodies kept in contact: the paradox and its kin against reference integrations, resting, rocking, sliding off, and what
//! must be kept all along. Figures are printed; `cargo test --test flow_held -- --nocapture`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod paradoxes;
mod random;
mod resting;
mod sliding;

use carom::body::{Body, State};
use carom::contact::{Side, Surface};
use carom::flow::{DenseStep, Ending, Flow, Held};
use carom::shape::{HalfSpace, Shape};
use nalgebra::{Quaternion, Unit, UnitQuaternion, Vector3};
use serde_json::Value;

fn numbers<const N: usize>(value: &Value) -> [f64; N] {
    let list: Vec<f64> = value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    list.try_into().unwrap()
}

fn state(value: &Value) -> State {
    let [w, x, y, z] = numbers(&value["orientation"]);
    State {
        position: Vector3::from(numbers(&value["position"])),
        orientation: UnitQuaternion::new_normalize(Quaternion::new(w, x, y, z)),
        velocity: Vector3::from(numbers(&value["velocity"])),
        angular_velocity: Vector3::from(numbers(&value["angular_velocity"])),
    }
}

fn body(value: &Value) -> Body {
    let semi_axes = numbers(&value["semi_axes"]);
    let exponent = value["exponent"].as_f64().unwrap();
    let shape = if exponent == 2.0 {
        Shape::Ellipsoid { semi_axes }
    } else {
        Shape::Superellipsoid { semi_axes, exponent }
    };
    let mass = value["mass"].as_f64().unwrap();
    Body { shape, mass, inertia: Vector3::from(numbers(&value["inertia"])), fixed: false }
}

fn solid(shape: Shape, mass: f64) -> Body {
    Body { shape, mass, inertia: shape.unit_inertia() * mass, fixed: false }
}

fn plane(normal: [f64; 3], offset: f64) -> HalfSpace {
    HalfSpace { normal: Unit::new_normalize(Vector3::from(normal)), offset }
}

fn smooth(sides: [Side; 2]) -> Held {
    Held::new(sides, Surface::Smooth)
}

/// Pieces until something ends them other than the accuracy.
fn run(flow: &Flow, states: &[State], until: f64) -> Vec<DenseStep> {
    let mut pieces = vec![flow.advance(states, 0.0, until).unwrap()];
    while pieces.last().unwrap().ending == Ending::Step {
        let next = flow.follow(pieces.last().unwrap(), until).unwrap();
        pieces.push(next);
    }
    pieces
}

/// Momentum and angular momentum about the origin.
fn momentum(bodies: &[Body], states: &[State]) -> [Vector3<f64>; 2] {
    let mut sum = [Vector3::zeros(); 2];
    for (body, state) in bodies.iter().zip(states) {
        let (linear, angular) = body.momentum(state, &Vector3::zeros());
        sum[0] += linear;
        sum[1] += angular;
    }
    sum
}

fn at(piece: &DenseStep, bodies: usize, t: f64) -> Vec<State> {
    (0..bodies).map(|b| piece.at(b, t)).collect()
}

fn reference() -> Value {
    serde_json::from_str(include_str!("../../../../cases/flow/held.json")).unwrap()
}
