//! The first contact, against contacts constructed exactly and in closed form.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod flying;

use carom::body::{Body, State};
use carom::motion::{Anchored, Flight, Motion};
use carom::pairs::{Other, Query, first_contacts};
use carom::shape::{Convex, HalfSpace, Shape};
use carom::toi::periodic::Periodic;
use carom::toi::{Meeting, Moving, Touch, Window, first_contact, first_contact_with_plane};
use flying::{flight, vector};
use nalgebra::{Matrix3, Unit, UnitQuaternion, Vector3};
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

fn random(source: &mut ChaCha8Rng, size: f64) -> Vector3<f64> {
    Vector3::from_fn(|_, _| size * source.random_range(-1.0..1.0))
}

fn body(shape: Shape) -> Body {
    Body { shape, mass: 1.0, inertia: shape.unit_inertia(), fixed: false }
}

#[test]
fn spheres_meet_at_the_root_of_a_quadratic() {
    let (mut hits, mut misses, mut most) = (0, 0, 0);
    for seed in 0..5000 {
        let mut source = ChaCha8Rng::seed_from_u64(seed);
        let radii = [0; 2].map(|_| source.random_range(0.1..1.0));
        // Both fly towards the middle, more or less.
        let states = [0; 2].map(|_| {
            let position = random(&mut source, 3.0);
            let velocity = random(&mut source, 1.0) - position;
            let angular_velocity = random(&mut source, 50.0);
            State { position, orientation: UnitQuaternion::identity(), velocity, angular_velocity }
        });
        // The same gravity for both changes nothing.
        let gravity = random(&mut source, 3.0);
        let shapes = radii.map(|radius| Shape::Sphere { radius });
        let flights = [0, 1].map(|k: usize| Flight::new(&body(shapes[k]), &states[k], &gravity));
        let [first, second] = [0, 1].map(|k| Moving::new(&shapes[k], &flights[k]));
        let search = first_contact(first, second, Window::new(0.0, 3.0));
        let (x, v) = (states[1].position - states[0].position, states[1].velocity - states[0].velocity);
        let (c, b, a) = (x.norm_squared() - (radii[0] + radii[1]).powi(2), x.dot(&v), v.norm_squared());
        let root = c / (-b + (b * b - a * c).sqrt());
        match search.meeting {
            Meeting::At(contact) => {
                hits += 1;
                most = most.max(search.evaluations);
                // The quadratic loses digits that the distance itself does not.
                let apart = x + v * root;
                let (gap, rate) = (apart.norm() - radii[0] - radii[1], apart.dot(&v) / apart.norm());
                let error = (contact.time - (root - gap / rate)).abs();
                let data = 4.0 * f64::EPSILON * (x.norm() + v.norm() * root) / -rate;
                assert!(error <= contact.time_error + data, "seed {seed}: {error:e} {contact:?}");
            }
            Meeting::Apart => {
                misses += 1;
                assert!(b >= 0.0 || b * b < a * c || root > 3.0, "seed {seed}: {root}");
            }
            Meeting::Overlapping(depth) => {
                assert!((depth - (radii[0] + radii[1] - x.norm())).abs() < 1e-14, "seed {seed}");
            }
            Meeting::Undecided(_) => panic!("seed {seed}"),
        }
    }
    println!("{hits} hits, {misses} misses, at most {most} gaps");
    assert!(hits > 1000 && misses > 1000, "{hits} {misses}");
}

#[test]
fn a_ball_thrown_at_a_ceiling_does_not_pass_through_it() {
    // Gravity pulls it away again: by the end of the window it would be back on its side.
    let ball = Shape::Sphere { radius: 0.5 };
    let ceiling = HalfSpace { normal: -Vector3::z_axis(), offset: -2.0 };
    for (speed, meets) in [(1.0, false), (3.0, true), (5.0, true), (50.0, true)] {
        let mut state = State::at(Vector3::zeros());
        state.velocity = Vector3::new(0.0, 0.0, speed);
        let flight = Flight::new(&body(ball), &state, &Vector3::new(0.0, 0.0, -2.0));
        let found =
            first_contact_with_plane(Moving::new(&ball, &flight), &ceiling, Window::new(0.0, 2.0 * speed));
        // 1.5 = v t − t².
        let root = 3.0 / (speed + (speed * speed - 6.0).max(0.0).sqrt());
        match found.meeting {
            Meeting::At(contact) => {
                assert!(meets && (contact.time - root).abs() <= contact.time_error, "{speed}")
            }
            other => assert!(!meets && other == Meeting::Apart, "{speed}: {other:?}"),
        }
    }
}

/// A body that swings about a place: no uniform acceleration, and more than any of it.
struct Swinging {
    place: Vector3<f64>,
    amplitude: Vector3<f64>,
    rate: f64,
}

impl Motion for Swinging {
    fn at(&self, t: f64) -> State {
        let (s, c) = (self.rate * t).sin_cos();
        let mut state = State::at(self.place + self.amplitude * c);
        state.velocity = -self.amplitude * (s * self.rate);
        state
    }

    fn acceleration(&self) -> Vector3<f64> {
        Vector3::zeros()
    }

    fn acceleration_bound(&self) -> f64 {
        self.amplitude.norm() * self.rate * self.rate
    }

    fn turning_bound(&self) -> f64 {
        0.0
    }
}

#[test]
fn a_motion_that_is_no_flight_is_followed_by_its_bounds() {
    let ball = Shape::Sphere { radius: 0.5 };
    let still = Flight::new(&body(ball), &State::at(Vector3::zeros()), &Vector3::zeros());
    for k in 0..40 {
        let rate = 0.5 + f64::from(k);
        // Between 2 + 1.5 and 2 − 1.5, it meets the other where it is 1 away, and the plane likewise.
        let swinging =
            Swinging { place: Vector3::new(2.0, 0.0, 0.0), amplitude: Vector3::new(1.5, 0.0, 0.0), rate };
        let root = libm::acos(-1.0 / 1.5) / rate;
        let other = Moving::new(&ball, &swinging);
        let wall = HalfSpace { normal: Vector3::x_axis(), offset: 0.5 };
        for found in [
            first_contact(Moving::new(&ball, &still), other, Window::new(0.0, 20.0)),
            first_contact_with_plane(other, &wall, Window::new(0.0, 20.0)),
        ] {
            let Meeting::At(contact) = found.meeting else { panic!("{rate}: {found:?}") };
            assert!((contact.time - root).abs() <= contact.time_error, "{rate}: {contact:?}");
        }
        // It just does not reach a wall a little farther.
        let wall = HalfSpace { normal: Vector3::x_axis(), offset: -1e-9 };
        let found = first_contact_with_plane(other, &wall, Window::new(0.0, 20.0));
        assert_eq!(found.meeting, Meeting::Apart, "{rate}");
    }
}

/// A ball whose centre is not the body's: nothing is symmetric about the body's centre.
struct Offset {
    centre: Vector3<f64>,
    radius: f64,
}

impl Convex for Offset {
    fn support(&self, n: &Vector3<f64>) -> Vector3<f64> {
        self.centre + n.normalize() * self.radius
    }

    fn support_hessian(&self, n: &Vector3<f64>) -> Matrix3<f64> {
        let u = n.normalize();
        (Matrix3::identity() - u * u.transpose()) * (self.radius / n.norm())
    }

    fn circumradius(&self) -> f64 {
        self.radius + self.centre.norm()
    }

    fn inradius(&self) -> f64 {
        self.radius - self.centre.norm()
    }
}

#[test]
fn a_shape_of_ones_own_that_is_not_symmetric() {
    // Loaded balls: their own centres go round the bodies', and they meet as plain balls on those paths do.
    let mut met = 0;
    for seed in 0..300 {
        let mut source = ChaCha8Rng::seed_from_u64(seed);
        let shapes = [0; 2].map(|_| Offset { centre: random(&mut source, 0.4), radius: 1.0 });
        let place = random(&mut source, 1.0).normalize() * 5.0;
        let states = [(Vector3::zeros(), 0.0), (place, -2.0)].map(|(position, speed)| State {
            position,
            orientation: UnitQuaternion::from_scaled_axis(random(&mut source, 3.0)),
            velocity: place.normalize() * speed + random(&mut source, 0.3),
            angular_velocity: random(&mut source, 8.0),
        });
        let round = Body { inertia: Vector3::new(1.0, 1.0, 1.0), ..body(Shape::Point) };
        let flights = states.map(|state| Flight::new(&round, &state, &Vector3::zeros()));
        let gap = |t: f64| {
            let [a, b] =
                [0, 1].map(|k: usize| flights[k].at(t).pose() * nalgebra::Point3::from(shapes[k].centre));
            (b - a).norm() - 2.0
        };
        let [first, second] = [0, 1].map(|k| Moving::new(&shapes[k], &flights[k]));
        let found = first_contact(first, second, Window::new(0.0, 3.0));
        let end = match found.meeting {
            Meeting::At(contact) => {
                met += 1;
                assert!(gap(contact.time).abs() < 1e-13, "seed {seed}: {:e}", gap(contact.time));
                contact.time
            }
            Meeting::Apart => 3.0,
            other => panic!("seed {seed}: {other:?}"),
        };
        for k in 0..1000 {
            assert!(gap(end * f64::from(k) / 1000.0) > 0.0, "seed {seed}");
        }
    }
    assert!(met > 150, "{met}");
}

#[test]
fn anchors_shift_times_and_nothing_else() {
    let file: Value =
        serde_json::from_str(include_str!("../../../cases/contacts/first_contact.json")).unwrap();
    let case = file["cases"].as_array().unwrap().iter().find(|case| case["approach"] != 0.0).unwrap();
    let [first, second] = [0, 1].map(|k| flight(&case["bodies"][k]));
    let time = case["time"].as_f64().unwrap();
    // The second as it is at a quarter, told from there.
    let state = second.1.at(0.25);
    let later = Flight::new(&Body { mass: 1.0, ..body(second.0) }, &state, &Vector3::zeros());
    let one = Anchored { motion: first.1, since: 8.0 };
    let two = Anchored { motion: later, since: 8.25 };
    let found =
        first_contact(Moving::new(&first.0, &one), Moving::new(&second.0, &two), Window::new(8.25, 9.0));
    let Meeting::At(contact) = found.meeting else { panic!("{found:?}") };
    assert!((contact.time - 8.0 - time).abs() <= contact.time_error, "{contact:?}");
}

#[test]
fn many_at_once_are_each_by_themselves() {
    let shape = Shape::Ellipsoid { semi_axes: [0.4, 0.5, 0.7] };
    let mut source = ChaCha8Rng::seed_from_u64(3);
    let flights: Vec<Flight> = (0..40)
        .map(|_| {
            let state = State {
                position: random(&mut source, 5.0),
                orientation: UnitQuaternion::from_scaled_axis(random(&mut source, 3.0)),
                velocity: random(&mut source, 3.0),
                angular_velocity: random(&mut source, 5.0),
            };
            Flight::new(&body(shape), &state, &Vector3::zeros())
        })
        .collect();
    let plane = HalfSpace { normal: Unit::new_normalize(Vector3::new(1.0, 2.0, 2.0)), offset: -12.0 };
    let periodic = Periodic { lengths: Vector3::new(10.0, 10.0, 10.0) };
    let mut queries = Vec::new();
    for (i, flight) in flights.iter().enumerate() {
        let first = Moving::new(&shape, flight);
        let window = Window::new(0.0, 2.0);
        queries.push(Query { first, other: Other::Plane(&plane), window });
        for other in &flights[i + 1..] {
            let second = Moving::new(&shape, other);
            queries.push(Query { first, other: Other::Body(second), window });
            queries.push(Query { first, other: Other::Images(second, periodic), window });
        }
    }
    let alone: Vec<_> = queries.iter().map(Query::first_contact).collect();
    assert!(alone.iter().filter(|search| matches!(search.meeting, Meeting::At(_))).count() > 20);
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| first_contacts(&queries)), alone, "{threads} threads");
    }
}

#[test]
fn motions_that_floats_do_not_hold_are_undecided() {
    let shape = Shape::Ellipsoid { semi_axes: [1.0, 2.0, 3.0] };
    let still = Flight::new(&body(shape), &State::at(Vector3::zeros()), &Vector3::zeros());
    for (place, speed) in [(f64::NAN, 0.0), (5.0, f64::NAN), (f64::INFINITY, -1.0), (5.0, f64::NEG_INFINITY)]
    {
        let mut state = State::at(Vector3::new(place, 0.0, 0.0));
        state.velocity.x = speed;
        let moving = Flight::new(&body(shape), &state, &Vector3::zeros());
        let found =
            first_contact(Moving::new(&shape, &still), Moving::new(&shape, &moving), Window::new(0.0, 1.0));
        assert_eq!(found.meeting, Meeting::Undecided(0.0), "{place} {speed}");
    }
    let one = Moving::new(&shape, &still);
    let two = one.displaced(Vector3::new(9.0, 0.0, 0.0));
    let periodic = Periodic { lengths: Vector3::new(20.0, 20.0, 0.0) };
    for (until, expected) in [
        (f64::INFINITY, Meeting::Undecided(0.0)),
        (f64::NAN, Meeting::Undecided(0.0)),
        (-1.0, Meeting::Apart),
    ] {
        assert_eq!(first_contact(one, two, Window::new(0.0, until)).meeting, expected, "{until}");
        assert_eq!(periodic.first_contact(one, two, Window::new(0.0, until)).meeting, expected, "{until}");
    }
}

#[test]
fn no_normal_has_a_longer_lever() {
    let mut source = ChaCha8Rng::seed_from_u64(11);
    for k in 0..200 {
        let semi_axes = [0; 3].map(|_| source.random_range(0.1..3.0));
        let exponent = source.random_range(2.1..20.0);
        let ellipsoid = k % 2 == 0;
        let shape = if ellipsoid {
            Shape::Ellipsoid { semi_axes }
        } else {
            Shape::Superellipsoid { semi_axes, exponent }
        };
        let lever = |n: &Vector3<f64>| shape.support(n).cross(n).norm();
        for _ in 0..500 {
            let n = random(&mut source, 1.0).normalize();
            assert!(lever(&n) <= shape.lever() * (1.0 + 1e-14), "{shape:?}");
        }
        if ellipsoid {
            // In the plane of the longest and the shortest axis, n² there as 1/a to 1/c, it is as long.
            let order = |sign: f64| {
                (0..3).max_by(|&i, &j| (sign * semi_axes[i]).total_cmp(&(sign * semi_axes[j]))).unwrap()
            };
            let (long, short) = (order(1.0), order(-1.0));
            let mut n = Vector3::zeros();
            n[long] = semi_axes[short].sqrt();
            n[short] = semi_axes[long].sqrt();
            assert!((lever(&n.normalize()) - shape.lever()).abs() <= 1e-14 * semi_axes[long], "{shape:?}");
        }
    }
}
