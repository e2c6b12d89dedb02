//! The first contact: against contacts constructed exactly, and against dense sampling.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod flying;

use carom::body::{Body, State};
use carom::gap::{gap, gap_to_plane};
use carom::motion::Flight;
use carom::shape::{HalfSpace, Shape};
use carom::toi::{Meeting, Moving, Touch, Window, first_contact, first_contact_with_plane};
use flying::{flight, vector};
use nalgebra::{Unit, UnitQuaternion, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

#[test]
fn contacts_constructed_exactly_are_found_at_their_times() {
    let file: Value =
        serde_json::from_str(include_str!("../../../cases/contacts/first_contact.json")).unwrap();
    for case in file["cases"].as_array().unwrap() {
        let [first, second] = [0, 1].map(|k| flight(&case["bodies"][k]));
        let search = first_contact(
            Moving::new(&first.0, &first.1),
            Moving::new(&second.0, &second.1),
            Window::new(0.0, 1.0),
        );
        let Meeting::At(contact) = search.meeting else { panic!("{}: {search:?}", case["name"]) };
        let error = (contact.time - case["time"].as_f64().unwrap()).abs();
        println!(
            "{}: off by {error:e}, bound {:e}, {} gaps",
            case["name"], contact.time_error, search.evaluations
        );
        assert!(error <= contact.time_error, "{}: {error:e} of {:e}", case["name"], contact.time_error);
        let approach = case["approach"].as_f64().unwrap();
        let touch = if approach == 0.0 { Touch::Sinking } else { Touch::Approaching };
        assert_eq!(contact.touch, touch, "{}", case["name"]);
        if approach < 0.0 {
            assert!(error <= 1e-14 && contact.time_error <= 1e-12, "{error:e}");
            assert!((contact.approach - approach).abs() < 1e-13);
            assert!((contact.point - vector(&case["point"])).norm() < 1e-13);
            assert!((contact.normal - vector(&case["normal"])).norm() < 1e-13);
        }
    }
}

struct Source(ChaCha8Rng);

impl Source {
    fn signed(&mut self) -> f64 {
        self.0.random_range(-1.0..1.0)
    }

    fn vector(&mut self, size: f64) -> Vector3<f64> {
        Vector3::new(self.signed(), self.signed(), self.signed()) * size
    }

    fn shape(&mut self) -> Shape {
        let semi_axes = [0; 3].map(|_| 10f64.powf(0.4 * self.signed()));
        match self.0.random_range(0..4) {
            0 => Shape::Sphere { radius: semi_axes[0] },
            1 | 2 => Shape::Ellipsoid { semi_axes },
            _ => Shape::Superellipsoid { semi_axes, exponent: self.0.random_range(2.0..8.0) },
        }
    }

    fn flight(&mut self, place: Vector3<f64>, aim: Vector3<f64>, gravity: &Vector3<f64>) -> (Shape, Flight) {
        let shape = self.shape();
        let state = State {
            position: place,
            orientation: UnitQuaternion::from_scaled_axis(self.vector(3.0)),
            velocity: aim + self.vector(0.3),
            angular_velocity: self.vector(6.0),
        };
        let body = Body { shape, mass: 1.0, inertia: shape.unit_inertia(), fixed: false };
        (shape, Flight::new(&body, &state, gravity))
    }
}

#[test]
fn no_contact_is_missed_and_none_is_late() {
    let (mut hits, mut misses, mut evaluations) = (0, 0, Vec::new());
    for seed in 0..3000 {
        let mut source = Source(ChaCha8Rng::seed_from_u64(seed));
        let gravity = if source.signed() > 0.0 { Vector3::zeros() } else { Vector3::new(0.0, 0.0, -1.0) };
        let place = source.vector(1.0).normalize() * 6.0;
        let first = source.flight(Vector3::zeros(), Vector3::zeros(), &gravity);
        let second = source.flight(place, -place.normalize() * 2.0, &gravity);
        let until = 4.0;
        let against_plane = seed % 4 == 0;
        let plane = HalfSpace {
            normal: Unit::new_normalize(source.vector(1.0)),
            offset: -3.5 - 0.5 * source.signed(),
        };
        let at = |t: f64| {
            if against_plane {
                gap_to_plane(&second.0, &second.1.at(t).pose(), &plane).gap
            } else {
                gap((&first.0, &first.1.at(t).pose()), (&second.0, &second.1.at(t).pose())).unwrap().gap
            }
        };
        let search = if against_plane {
            first_contact_with_plane(Moving::new(&second.0, &second.1), &plane, Window::new(0.0, until))
        } else {
            first_contact(
                Moving::new(&first.0, &first.1),
                Moving::new(&second.0, &second.1),
                Window::new(0.0, until),
            )
        };
        let end = match search.meeting {
            Meeting::At(contact) => {
                hits += 1;
                evaluations.push(search.evaluations);
                assert!(contact.gap.abs() <= 1e-13 && contact.approach <= 1e-6, "seed {seed}: {contact:?}");
                assert!(
                    contact.touch != Touch::Approaching
                        || contact.time_error <= 1e-13 / -contact.approach * 2.0 + 1e-14,
                    "seed {seed}"
                );
                contact.time
            }
            Meeting::Apart => {
                misses += 1;
                until
            }
            Meeting::Overlapping(depth) => {
                assert!(at(0.0) < 0.0 && depth > 0.0, "seed {seed}");
                continue;
            }
            Meeting::Undecided(t) => panic!("seed {seed}: undecided at {t}"),
        };
        for k in 0..300 {
            let t = end * f64::from(k) / 300.0;
            assert!(at(t) >= -1e-13, "seed {seed}: overlap {:e} at {t}, before {end}", at(t));
        }
    }
    evaluations.sort_unstable();
    let mean = evaluations.iter().copied().map(f64::from).sum::<f64>() / f64::from(hits);
    let at = |part: usize| evaluations[evaluations.len() * part / 100];
    println!(
        "{hits} hits, {misses} misses; gaps per hit: median {}, mean {mean:.1}, one in ten above {}, most {}",
        at(50),
        at(90),
        at(99)
    );
    assert!(hits > 1000 && misses > 300, "{hits} {misses}");
}

#[test]
fn a_graze_is_called_one() {
    // Two unit spheres passing at exactly their contact distance, and just more and just less.
    let ball = Shape::Sphere { radius: 1.0 };
    let body = Body { shape: ball, mass: 1.0, inertia: ball.unit_inertia(), fixed: false };
    let still = Flight::new(&body, &State::at(Vector3::zeros()), &Vector3::zeros());
    for (offset, expected) in [(0.0, Some(Touch::Grazing)), (1e-9, None), (-1e-6, Some(Touch::Approaching))] {
        let mut state = State::at(Vector3::new(-3.0, 2.0 + offset, 0.0));
        state.velocity = Vector3::new(1.0, 0.0, 0.0);
        let passing = Flight::new(&body, &state, &Vector3::zeros());
        let search =
            first_contact(Moving::new(&ball, &still), Moving::new(&ball, &passing), Window::new(0.0, 10.0));
        let found = match search.meeting {
            Meeting::At(contact) => {
                let error = (contact.time - 3.0).abs();
                assert!(
                    offset != 0.0 || error <= contact.time_error,
                    "{error:e} of {:e}",
                    contact.time_error
                );
                Some(contact.touch)
            }
            _ => None,
        };
        assert_eq!(found, expected, "{offset}: {search:?}");
    }
}
