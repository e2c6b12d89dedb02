//! What can be tested of the GPU without one: the kernels are made of the sources as they are, numbers keep their bits on the way there and back,
//! and what cannot be done is said.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../xtask/src/ptx/sources.rs"]
mod sources;

use std::path::Path;

use carom::scatter::words::{SAMPLE_WORDS, TOTALS_WORDS, WORTH_WORDS};
use carom::scatter::worth::Worth;
use carom::scatter::{Moments, Sample, Scattering, Setup, Totals};
use carom::scene::{Format, file};
use carom_gpu::unsuited;

fn scattering(first: &str, second: &str, surface: &str) -> Scattering {
    let text = format!(
        "carom = 1
        surface = {{ kind = {surface} }}
        scatter = {{ temperature = 1 }}
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

const ROD: &str = "{ ellipsoid = { semi_axes = [1, 0.5, 0.5] } }";
const BOX: &str = "{ superellipsoid = { semi_axes = [1, 0.5, 0.5], exponent = 4 } }";

/// The hash kept beside the kernels / that of the sources: `cargo xtask ptx` renews it.
#[test]
fn the_kernels_are_made_of_these_sources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let kept = std::fs::read_to_string(root.join("crates/carom-gpu/ptx/sources.txt")).unwrap();
    let now = sources::hash(&root).unwrap();
    assert_eq!(kept.trim(), now, "the sources of the kernels have changed: run `cargo xtask ptx`");
}

/// Setups, samples, what they add and their sums / the same from their words.
#[test]
fn words_keep_all_bits() {
    for shapes in [[ROD, ROD], [BOX, BOX]] {
        let scattering = scattering(shapes[0], shapes[1], "'smooth'");
        let setup = scattering.setup();
        let words = setup.words().unwrap();
        let (again, _) = Setup::of_words(|k| words[k]);
        assert_eq!(&again, setup);
        let mut totals = Totals::new();
        let mut from_words = Totals::new();
        let mut moments = [Moments::default(); carom::scatter::worth::QUANTITIES];
        for number in 0..200 {
            let sample = scattering.sample(number);
            let mut words = [0; SAMPLE_WORDS];
            sample.write(|k, word| words[k] = word);
            assert_eq!(Sample::read(number, |k| words[k]), Some(sample));
            totals.add(setup, &sample);
            let mut words = [0; WORTH_WORDS];
            setup.worth(&sample).write(|k, word| words[k] = word);
            from_words.count(&Worth::read(number, |k| words[k]));
            for (quantity, moments) in moments.iter_mut().enumerate() {
                moments.add_some(Worth::read_pair(quantity, |k| words[k]));
            }
        }
        let written = |totals: &Totals| {
            let mut words = [0; TOTALS_WORDS];
            totals.write(|k, word| words[k] = word);
            words
        };
        let whole = written(&totals);
        assert_eq!(Totals::read(|k| whole[k]), totals);
        // The kernels put the moments and the rest together so.
        let mut parts = written(&from_words);
        for (quantity, moments) in moments.iter().enumerate() {
            let at = carom::scatter::words::MOMENTS_AT + carom::scatter::words::MOMENTS_WORDS * quantity;
            moments.write(|k, word| parts[at + k] = word);
        }
        assert_eq!(parts, whole);
    }
}

/// What a GPU does not do is said of the body at fault.
#[test]
fn unsuited_bodies_are_named() {
    let of = |first, second, surface| unsuited(&scattering(first, second, surface)).map(|(body, _)| body);
    assert_eq!(of(ROD, ROD, "'smooth'"), None);
    assert_eq!(of(BOX, BOX, "'smooth'"), None);
    assert_eq!(of(ROD, ROD, "'rough'"), Some(0));
    assert_eq!(of(ROD, BOX, "'smooth'"), Some(1));
    assert_eq!(of(ROD, "{ sphere = { radius = 1 } }", "'smooth'"), Some(1));
    assert_eq!(of("{ ellipsoid = { semi_axes = [1, 0.7, 0.4] } }", ROD, "'smooth'"), Some(0));
}
