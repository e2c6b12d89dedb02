//! The matrix of an impact, and what an audit sees of an encounter that was spoiled.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use nalgebra::{SVector, Vector3};

use super::Scattering;
use super::sample::{End, Sample};
use crate::body::State;
use crate::scene::{Format, file};

fn scattering(surface: &str, restitution: f64, scatter: &str) -> Scattering {
    let text = format!(
        "carom = 1
        surface = {{ restitution = {restitution}, kind = {surface} }}
        scatter = {{ {scatter} }}
        [[body]]
        name = 'a'
        shape = {{ ellipsoid = {{ semi_axes = [1, 0.7, 0.4] }} }}
        mass = 1.5
        [[body]]
        name = 'b'
        shape = {{ superellipsoid = {{ semi_axes = [0.6, 0.5, 0.8], exponent = 3 }} }}
        mass = 0.8"
    );
    Scattering::new(&file::read(&text, Format::Toml).unwrap()).unwrap()
}

fn velocities(states: &[State; 2]) -> SVector<f64, 12> {
    let mut all = SVector::<f64, 12>::zeros();
    for (i, state) in states.iter().enumerate() {
        all.fixed_rows_mut::<3>(6 * i).copy_from(&state.velocity);
        all.fixed_rows_mut::<3>(6 * i + 3).copy_from(&state.angular_velocity);
    }
    all
}

/// S times the velocities before on one side, those after on the other; elastic, S is its own inverse.
#[test]
fn the_matrix_gives_the_velocities_after() {
    for (surface, restitution) in [("'smooth'", 0.7), ("'rough'", 0.7), ("'smooth'", 1.0), ("'rough'", 1.0)] {
        let scattering = scattering(surface, restitution, "spin = 1");
        let mut impacts = 0;
        for impact in (0..100).flat_map(|number| scattering.impacts(number).1) {
            let s = scattering.matrix_of(&impact).unwrap();
            let off = (s * velocities(&impact.before) - velocities(&impact.after)).norm();
            assert!(off < 1e-13 * s.norm() * velocities(&impact.before).norm(), "{off}");
            let identity = nalgebra::SMatrix::<f64, 12, 12>::identity();
            // (I − (1+k)P)² = I − (1−k²)P, and P = (I − S)/(1+k).
            let wanted = identity - (identity - s) * (1.0 - restitution);
            assert!((s * s - wanted).norm() < 1e-12 * s.norm_squared());
            impacts += 1;
        }
        assert!(impacts > 20);
    }
    let friction = scattering("{ coulomb = 0.1 }", 0.5, "spin = 1");
    let impact = (0..100).find_map(|number| friction.impacts(number).1.pop()).unwrap();
    assert!(friction.matrix_of(&impact).is_none());
}

/// What is spoiled is seen by the audit of an encounter.
#[test]
fn spoiled_encounters_are_seen() {
    let scattering = scattering("'smooth'", 0.8, "spin = 1");
    let sample =
        (0..).map(|number| scattering.sample(number)).find(|s| s.end == End::Parted && !s.continued).unwrap();
    assert!(scattering.setup.invariants(&sample).iter().all(|&error| error < 1e-13));
    let spoil = |by: &dyn Fn(&mut Sample)| {
        let mut bad = sample;
        by(&mut bad);
        scattering.setup.invariants(&bad)
    };
    assert!(spoil(&|bad| bad.after[0].velocity += Vector3::new(1e-6, 0.0, 0.0))[0] > 1e-8);
    assert!(spoil(&|bad| bad.after[1].angular_velocity *= 1.000_001)[1] > 1e-9);
    assert!(spoil(&|bad| bad.after[1].angular_velocity *= 1.000_001)[2] > 1e-9);
}
