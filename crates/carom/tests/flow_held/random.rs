//! Bodies of random shape and motion, and the same motion in other accuracies and units.

use carom::body::{Body, State};
use carom::contact::Side;
use carom::flow::{Ending, Flow};
use carom::gap::gap;
use carom::motion::Flight;
use carom::shape::Shape;
use nalgebra::{UnitQuaternion, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{at, body, momentum, reference, run, smooth, solid, state};

/// The same motion in two accuracies, and in two units of length, mass and time.
#[test]
fn accuracy_and_units_do_not_change_the_motion() {
    for case in reference()["cases"].as_array().unwrap() {
        let bodies: Vec<Body> = case["bodies"].as_array().unwrap().iter().map(body).collect();
        let states: Vec<State> = case["bodies"].as_array().unwrap().iter().map(state).collect();
        let contacts = [smooth([Side::Body(0), Side::Body(1)])];
        let fine = Flow::new(&bodies, &[], Vector3::zeros(), &contacts);
        let coarse = fine.clone().with_accuracy(1e-12);
        let [one, two] = [&fine, &coarse].map(|flow| run(flow, &states, 10.0));
        let [one, two] = [one.last().unwrap(), two.last().unwrap()];
        println!("{}: lift-off differs by {:.1e}", case["name"], one.until - two.until);
        assert!((one.until - two.until).abs() < 1e-12);
        for b in 0..2 {
            assert!((one.end()[b].velocity - two.end()[b].velocity).norm() < 1e-12);
            assert!((one.end()[b].angular_velocity - two.end()[b].angular_velocity).norm() < 2e-12);
        }
        let (length, mass, time) = (1e3, 1e-4, 7.0);
        let scaled: Vec<Body> = bodies
            .iter()
            .map(|b| Body {
                shape: b.shape.scaled(length),
                mass: b.mass * mass,
                inertia: b.inertia * (mass * length * length),
                fixed: false,
            })
            .collect();
        let moved: Vec<State> = states
            .iter()
            .map(|s| State {
                position: s.position * length,
                orientation: s.orientation,
                velocity: s.velocity * (length / time),
                angular_velocity: s.angular_velocity / time,
            })
            .collect();
        let flow = Flow::new(&scaled, &[], Vector3::zeros(), &contacts);
        let pieces = run(&flow, &moved, 10.0 * time);
        assert!((pieces.last().unwrap().until / time - one.until).abs() < 1e-13);
    }
}

/// Bodies of random shape, mass and motion set on a fixed one or on a free one under gravity: until they part, energy, momentum, the gap and the
/// sign of the force are what they must be, and free flight takes them apart.
#[test]
fn random_bodies_slide_until_they_part() {
    let mut source = ChaCha8Rng::seed_from_u64(11);
    let rounds = std::env::var("CAROM_HOLDS").map_or(20, |n| n.parse::<u32>().unwrap());
    let (mut parted, mut kept, mut obstacles) = (0, 0, 0);
    let mut worst = [0.0f64; 3];
    for round in 0..rounds {
        let mut vector = || Vector3::from_fn(|_, _| source.random_range(-1.0..1.0));
        let (shape_of, turns, pushes): (Vec<_>, Vec<_>, Vec<_>) = (
            (0..2).map(|_| vector()).collect(),
            (0..2).map(|_| vector() * 3.0).collect(),
            (0..4).map(|_| vector()).collect(),
        );
        let make = |k: usize| {
            let semi_axes = [0, 1, 2].map(|i| 1.0 + 0.5 * shape_of[k][i]);
            let shape = if (round + u32::try_from(k).unwrap()) % 3 == 0 {
                Shape::Superellipsoid { semi_axes, exponent: 2.5 }
            } else {
                Shape::Ellipsoid { semi_axes }
            };
            solid(shape, 1.0 + 0.5 * shape_of[k].x)
        };
        let mut bodies = [make(0), make(1)];
        bodies[0].fixed = round % 2 == 0;
        let poses = [0, 1].map(|k| UnitQuaternion::from_scaled_axis(turns[k]));
        let mut states = [0, 1].map(|k| State {
            orientation: poses[k],
            velocity: pushes[2 * k],
            angular_velocity: pushes[2 * k + 1],
            ..State::at(Vector3::new(0.0, 0.0, 0.0))
        });
        // The second is let down onto the first along a direction not far from up.
        let side = Vector3::new(0.3 * turns[0].x, 0.3 * turns[0].y, 3.0).normalize();
        states[1].position = side * 5.0;
        for _ in 0..60 {
            let found =
                gap((&bodies[0].shape, &states[0].pose()), (&bodies[1].shape, &states[1].pose())).unwrap();
            states[1].position -= side * (found.gap / found.normal.dot(&side).max(0.2));
        }
        if bodies[0].fixed {
            (states[0].velocity, states[0].angular_velocity) = (Vector3::zeros(), Vector3::zeros());
        }
        let gravity = Vector3::new(0.0, 0.0, if bodies[0].fixed { -9.81 } else { 0.0 });
        let flow = Flow::new(&bodies, &[], gravity, &[smooth([Side::Body(0), Side::Body(1)])]);
        flow.project(&mut states).unwrap();
        let energy = flow.energy(&states);
        let scale = energy.abs() + 9.81 * bodies[1].mass;
        let before = momentum(&bodies, &states);
        let mut piece = flow.advance(&states, 0.0, 5.0).unwrap();
        let mut first = true;
        loop {
            for i in 0..=4 {
                let t = piece.from + (piece.until - piece.from) * f64::from(i) / 4.0;
                let now = at(&piece, 2, t);
                let found =
                    gap((&bodies[0].shape, &now[0].pose()), (&bodies[1].shape, &now[1].pose())).unwrap();
                worst[0] = worst[0].max(found.gap.abs());
                worst[1] = worst[1].max((flow.energy(&now) - energy).abs() / scale);
                if !bodies[0].fixed {
                    let after = momentum(&bodies, &now);
                    for k in 0..2 {
                        worst[2] = worst[2].max((after[k] - before[k]).norm() / (1.0 + before[k].norm()));
                    }
                }
                // A contact that could only pull ends where it begins.
                assert!(piece.until == 0.0 || piece.force(0, t).normal > -1e-10);
            }
            match piece.ending {
                Ending::Step => match flow.follow(&piece, 5.0) {
                    Ok(next) => piece = next,
                    Err(_) => {
                        obstacles += 1;
                        break;
                    }
                },
                Ending::LiftOff { .. } => {
                    parted += 1;
                    // Free flight takes them apart: by the cube of the time where the force fell to zero, by its square where
                    // there was none from the start.
                    let flights = [0, 1].map(|b| Flight::new(&bodies[b], &piece.end()[b], &gravity));
                    for t in [1e-3, 3e-3] {
                        let later = flights.map(|flight| flight.at(t).pose());
                        let found =
                            gap((&bodies[0].shape, &later[0]), (&bodies[1].shape, &later[1])).unwrap();
                        assert!(found.gap > -1e-14, "round {round}, first {first}: {:e}", found.gap);
                    }
                    break;
                }
                _ => {
                    kept += 1;
                    break;
                }
            }
            first = false;
        }
    }
    println!(
        "{parted} parted, {kept} kept, {obstacles} stopped; gap {:.1e}, energy {:.1e}, momentum {:.1e}",
        worst[0], worst[1], worst[2]
    );
    assert!(parted > rounds / 2 && obstacles <= rounds / 20);
    assert!(worst[0] < 1e-14 && worst[1] < 1e-13 && worst[2] < 1e-13);
}
