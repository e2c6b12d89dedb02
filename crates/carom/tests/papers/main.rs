//! The reference cases spoken in bodies: each is written as a scene, read, prepared and solved, and compared within
//! the case's own tolerance: contact points and normals, inertances, impulses, joint impulses, velocities, energies.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod ball;
mod ellipsoid;
mod frames;
mod particles;

use carom::impact::coulomb::Termination;
use carom::impact::mechanism::BodyOutcome;
use carom::impact::{Law, Options};
use carom::scene::Format;
use carom::scene::file::read;
use carom::scene::instant::{Instant, TOUCHING};
use nalgebra::Vector3;
use serde_json::Value;

const CASES: &str = include_str!("../../../../cases/laws/reference.json");

fn cases(prefix: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(CASES).unwrap();
    let cases = file["cases"].as_array().unwrap();
    cases.iter().filter(|case| case["id"].as_str().unwrap().starts_with(prefix)).cloned().collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn vector(value: &Value) -> Vector3<f64> {
    Vector3::from_vec(numbers(value))
}

fn prepare(scene: &str) -> Instant {
    let scene = read(scene, Format::Toml).unwrap_or_else(|errors| panic!("{errors:#?}\n{scene}"));
    Instant::of(&scene, TOUCHING).unwrap_or_else(|findings| panic!("{findings:#?}"))
}

fn solve(scene: &str, law: Law, termination: Termination) -> (Instant, BodyOutcome) {
    let instant = prepare(scene);
    let options = Options { law, termination, ..Options::default() };
    let result = instant.mechanism().solve(&options).unwrap_or_else(|error| panic!("{error}\n{scene}"));
    let size = result.contacts.iter().fold(0.0, |m: f64, c| m.max(c.impulse_vector.norm()));
    assert!(result.linear_residual <= 1e-13 * size, "{scene}");
    (instant, result)
}

#[track_caller]
fn close(what: &str, ours: &[f64], theirs: &[f64], scale: f64, tolerance: f64) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    let size = theirs.iter().fold(scale, |m: f64, x| m.max(x.abs()));
    for (a, b) in ours.iter().zip(theirs) {
        assert!((a - b).abs() <= tolerance * size, "{what}: {ours:?} against {theirs:?}");
    }
}

/// The case's own tolerance, or ours where the solver does better.
fn tolerance(case: &Value) -> f64 {
    number(&case["rel_tol"]).min(1e-13)
}

/// Velocity and angular velocity of the only body.
fn motion(result: &BodyOutcome) -> Vec<f64> {
    let state = &result.states[0];
    state.velocity.iter().chain(state.angular_velocity.iter()).copied().collect()
}
