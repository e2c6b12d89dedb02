//! The brief search / the general one, and the kinds of bodies with types of their own / the shapes they are: the same bits.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "count/mod.rs"]
mod count;

use carom::scatter::{Sample, Scattering};
use carom::scene::{Format, file};
use carom::shape::single::{Ellipsoid, Single, Sizes, Superellipsoid};
use carom::shape::{Convex, Shape};

fn scattering(first: &str, second: &str, scatter: &str, restitution: f64) -> Scattering {
    let text = format!(
        "carom = 1
        surface = {{ restitution = {restitution} }}
        scatter = {{ {scatter} }}
        [[body]]
        name = 'a'
        shape = {first}
        mass = 1.5
        [[body]]
        name = 'b'
        shape = {second}
        mass = 0.8"
    );
    Scattering::new(&file::read(&text, Format::Toml).unwrap()).unwrap()
}

const RODS: &str = "{ ellipsoid = { semi_axes = [1, 0.5, 0.5] } }";
const TRIAXIAL: &str = "{ ellipsoid = { semi_axes = [1, 0.7, 0.4] } }";
const ROUND_BOX: &str = "{ superellipsoid = { semi_axes = [1, 0.5, 0.5], exponent = 4 } }";
const FLAT: &str = "{ superellipsoid = { semi_axes = [0.6, 0.5, 0.8], exponent = 3 } }";

/// How many samples of how many the brief search leaves, and how many differ.
fn compare<A: Convex, B: Convex>(
    scattering: &Scattering,
    samples: u64,
    shapes: &impl Fn(&Shape, &Shape) -> (A, B),
) -> u64 {
    let [first, second] = scattering.bodies().map(|body| body.shape);
    let (first, second) = shapes(&first, &second);
    let mut left = 0;
    for number in 0..samples {
        let Some(brief) = scattering.setup().sample_in_brief(number, &first, &second) else {
            left += 1;
            continue;
        };
        let full = scattering.sample(number);
        assert_eq!(bits(&brief), bits(&full), "sample {number}");
    }
    left
}

fn bits(sample: &Sample) -> (u64, [u64; 6], bool) {
    let numbers = [
        sample.ahead,
        sample.chord.unwrap_or(f64::NAN),
        sample.virial,
        sample.work,
        sample.audit_error,
        sample.contact_time.unwrap_or(f64::NAN),
    ];
    (sample.hash(), numbers.map(f64::to_bits), sample.continued)
}

fn single<A: Single, B: Single>(first: &Shape, second: &Shape) -> (A, B) {
    (A::of(first, Sizes::of(first)).unwrap(), B::of(second, Sizes::of(second)).unwrap())
}

#[test]
fn brief_samples_are_the_same() {
    let samples = count::cases("CAROM_SCATTERINGS", 5_000_u64);
    let hot = "temperature = 1, spin_temperature = 1";
    for (first, second) in [(RODS, RODS), (TRIAXIAL, RODS), (TRIAXIAL, TRIAXIAL)] {
        for (scatter, k) in [(hot, 1.0), ("speed = 1", 0.7), ("speed = 1, spin = 5", 1.0)] {
            let scattering = scattering(first, second, scatter, k);
            let left = compare(&scattering, samples, &single::<Ellipsoid, Ellipsoid>);
            println!("{first} {second} {scatter} k = {k}: {left} of {samples} left");
            assert!(left * 50 < samples, "{left} of {samples} left");
        }
    }
    for (first, second) in [(ROUND_BOX, ROUND_BOX), (FLAT, ROUND_BOX)] {
        let scattering = scattering(first, second, hot, 1.0);
        let left = compare(&scattering, samples, &single::<Superellipsoid, Superellipsoid>);
        println!("{first} {second}: {left} of {samples} left");
        assert!(left * 7 < samples, "{left} of {samples} left");
    }
    let mixed = scattering(TRIAXIAL, ROUND_BOX, hot, 1.0);
    let left = compare(&mixed, samples, &single::<Ellipsoid, Superellipsoid>);
    println!("mixed: {left} of {samples} left");
    assert!(left * 7 < samples, "{left} of {samples} left");
}
