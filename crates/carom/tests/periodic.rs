//! Bodies in a periodic box, against every image tried by itself.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use carom::body::{Body, State};
use carom::gap::gap;
use carom::motion::Flight;
use carom::shape::Shape;
use carom::toi::periodic::Periodic;
use carom::toi::{Meeting, Moving, Window, first_contact};
use nalgebra::{UnitQuaternion, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

struct Source(ChaCha8Rng);

impl Source {
    fn signed(&mut self) -> f64 {
        self.0.random_range(-1.0..1.0)
    }

    fn vector(&mut self, size: f64) -> Vector3<f64> {
        Vector3::new(self.signed(), self.signed(), self.signed()) * size
    }

    fn body(&mut self, speed: f64, gravity: &Vector3<f64>) -> (Shape, Flight) {
        let semi_axes = [0; 3].map(|_| 0.4 * 10f64.powf(0.3 * self.signed()));
        let shape = Shape::Ellipsoid { semi_axes };
        let state = State {
            position: self.vector(20.0).component_mul(&Vector3::new(1.0, 1.0, 0.05)),
            orientation: UnitQuaternion::from_scaled_axis(self.vector(3.0)),
            velocity: self.vector(speed),
            angular_velocity: self.vector(3.0),
        };
        let fixed = self.0.random_range(0..4) == 0;
        let body = Body { shape, mass: 1.0, inertia: shape.unit_inertia(), fixed };
        (shape, Flight::new(&body, &state, gravity))
    }
}

/// All images whose centre is within a number of boxes.
fn images(lengths: &Vector3<f64>, apart: &Vector3<f64>, boxes: i32) -> Vec<Vector3<f64>> {
    let nearest = Periodic { lengths: *lengths }.nearest_centre(apart);
    let range = |i: usize| if lengths[i] > 0.0 { -boxes..=boxes } else { 0..=0 };
    let mut list = Vec::new();
    for i in range(0) {
        for j in range(1) {
            for k in range(2) {
                let by = Vector3::new(f64::from(i), f64::from(j), f64::from(k));
                list.push(nearest + by.component_mul(lengths));
            }
        }
    }
    list
}

#[test]
fn the_first_of_all_images() {
    let (mut hits, mut far) = (0, 0);
    for seed in 0..300 {
        let mut source = Source(ChaCha8Rng::seed_from_u64(seed));
        let gravity = if seed % 3 == 0 { Vector3::new(0.0, -1.0, 0.5) } else { Vector3::zeros() };
        let lengths = Vector3::new(3.0, 4.0, if seed % 2 == 0 { 0.0 } else { 5.0 });
        let (one, two) = (source.body(2.0, &gravity), source.body(8.0, &gravity));
        let (first, second) = (Moving::new(&one.0, &one.1), Moving::new(&two.0, &two.1));
        let window = Window::new(0.0, 1.0);
        let found = Periodic { lengths }.first_contact(first, second, window);
        let apart = two.1.at(0.0).position - one.1.at(0.0).position;
        // The centres move by less than 18 against each other: 6 boxes.
        let mut best: Option<(f64, Vector3<f64>)> = None;
        let mut overlaps = false;
        for image in images(&lengths, &apart, 8) {
            match first_contact(first, second.displaced(image), window).meeting {
                Meeting::At(contact) if best.is_none_or(|(time, _)| contact.time < time) => {
                    best = Some((contact.time, image));
                }
                Meeting::Overlapping(_) => overlaps = true,
                Meeting::Undecided(_) => panic!("seed {seed}"),
                _ => {}
            }
        }
        match found.meeting {
            Meeting::At(contact) => {
                let (time, image) = best.unwrap();
                assert!((contact.time - time).abs() <= 2.0 * contact.time_error, "seed {seed}");
                assert!((found.image - image).norm() < 1e-12, "seed {seed}: {} {image}", found.image);
                hits += 1;
                far += u32::from(found.image != Periodic { lengths }.nearest_centre(&apart));
            }
            Meeting::Apart => assert!(best.is_none() && !overlaps, "seed {seed}: {best:?}"),
            Meeting::Overlapping(_) => assert!(overlaps, "seed {seed}"),
            Meeting::Undecided(t) => panic!("seed {seed}: undecided at {t}"),
        }
    }
    println!("{hits} hits, {far} of them with another image than the nearest at the start");
    assert!(hits > 50 && far > 20);
}

#[test]
fn the_least_gap_of_all_images() {
    let mut other = 0;
    for seed in 0..2000 {
        let mut source = Source(ChaCha8Rng::seed_from_u64(seed));
        let lengths = Vector3::new(2.2, 2.5, if seed % 2 == 0 { 0.0 } else { 3.0 });
        let (one, two) = (source.body(0.0, &Vector3::zeros()), source.body(0.0, &Vector3::zeros()));
        let (first, second) = (one.1.at(0.0).pose(), two.1.at(0.0).pose());
        let (found, image) = Periodic { lengths }.nearest((&one.0, &first), (&two.0, &second)).unwrap();
        let apart = second.translation.vector - first.translation.vector;
        let mut least = f64::INFINITY;
        for image in images(&lengths, &apart, 2) {
            let mut pose = second;
            pose.translation.vector += image;
            least = least.min(gap((&one.0, &first), (&two.0, &pose)).unwrap().gap);
        }
        assert!((found.gap - least).abs() < 1e-14, "seed {seed}: {} {least}", found.gap);
        other += u32::from(image != Periodic { lengths }.nearest_centre(&apart));
    }
    println!("{other} with another image than the nearest centre's");
    assert!(other > 30);
}

#[test]
fn a_body_turning_in_a_box_meets_itself() {
    // Parallel ellipses a distance L apart touch where the gauge of half of that is one.
    let shape = Shape::Ellipsoid { semi_axes: [2.25, 0.5, 0.75] };
    let body = Body { shape, mass: 1.0, inertia: shape.unit_inertia(), fixed: false };
    let mut state = State::at(Vector3::new(1.0, 2.0, 3.0));
    state.angular_velocity = Vector3::new(0.0, 0.0, 2.0);
    state.velocity = Vector3::new(5.0, 0.3, 0.1);
    let flight = Flight::new(&body, &state, &Vector3::new(0.0, 0.0, -3.0));
    let periodic = Periodic { lengths: Vector3::new(0.0, 4.0, 0.0) };
    assert!(periodic.is_spanned_by(&shape));
    let found = periodic.first_contact_with_own(Moving::new(&shape, &flight), Window::new(0.0, 2.0));
    let Meeting::At(contact) = found.meeting else { panic!("{found:?}") };
    let (s, c) = (2.0 * contact.time).sin_cos();
    let gauge = (2.0 * s / 2.25).powi(2) + (2.0 * c / 0.5).powi(2);
    assert!((gauge - 1.0).abs() < 1e-13, "{gauge}");
    assert_eq!(found.image, Vector3::new(0.0, 4.0, 0.0));
}

#[test]
fn boxes_too_small_are_not_counted_through() {
    let shape = Shape::Sphere { radius: 1.0 };
    let body = Body { shape, mass: 1.0, inertia: shape.unit_inertia(), fixed: false };
    let flight = Flight::new(&body, &State::at(Vector3::zeros()), &Vector3::zeros());
    let periodic = Periodic { lengths: Vector3::new(1e-9, 1e-9, 1e-9) };
    let moving = Moving::new(&shape, &flight);
    let pose = flight.at(0.0).pose();
    // Concentric balls overlap most, whatever the images are.
    let (found, image) = periodic.nearest((&shape, &pose), (&shape, &pose)).unwrap();
    assert_eq!((found.gap, image), (-2.0, Vector3::zeros()));
    assert!(periodic.nearest_own((&shape, &pose)).is_some());
    let needle = Shape::Ellipsoid { semi_axes: [100.0, 1e-3, 1e-3] };
    assert!(periodic.nearest((&needle, &pose), (&needle, &pose)).is_none());
    for found in [
        periodic.first_contact(moving, moving, Window::new(0.0, 1.0)),
        periodic.first_contact_with_own(moving, Window::new(0.0, 1.0)),
    ] {
        assert_eq!(found.meeting, Meeting::Undecided(0.0));
    }
}
