//! The gap's derivatives in closed form against its Taylor series through the exact motion, against the exact gap,
//! and against what must not change them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod touching;

use carom::body::Body;
use carom::contact::kinematics::{Facing, Fit, Kinematics, Moving, effective_inverse_mass, kinematics};
use carom::contact::series::{Path, gap_series, gap_to_plane_series};
use carom::gap::{gap, gap_to_plane};
use carom::motion::{Derivatives, Flight};
use carom::shape::{HalfSpace, Shape};
use nalgebra::{Unit, Vector3};
use touching::{Flying, Source, of_pair, scale_of};

fn count() -> usize {
    std::env::var("CAROM_CONTACTS").map_or(10_000, |text| text.parse().unwrap())
}

/// The condition of the system for the rolling velocities, H₁ + H₂ + g H₂H₁ across n, beside sizes of about one.
fn condition_of(k: &Kinematics) -> f64 {
    let (h1, h2) = (k.curvature_1, k.curvature_2);
    let coupled = h1 + h2 + h2 * h1 * k.gap + k.normal * k.normal.transpose() * (h1 + h2).norm().max(1.0);
    let values = coupled.singular_values();
    values.max().max(1.0) / values.min()
}

/// How ill-conditioned that may be for 1e-9; beyond it, rounding of the contact point grows with its square.
const CONDITION: f64 = 1e3;

#[test]
fn derivatives_of_the_gap_equal_its_taylor_series() {
    let mut source = Source::new(1);
    let (mut worst, mut worst_flat, mut tried, mut known) = ([0.0_f64; 3], 0.0_f64, 0, 0);
    while known < count() {
        tried += 1;
        let gravity = source.vector(1.0);
        // At contact, apart and overlapping a little.
        let lift = [0.0, 0.0, 0.05, -0.02][tried % 4];
        let [one, two] = source.pair(lift);
        let at = gap((&one.body.shape, &one.state.pose()), (&two.body.shape, &two.state.pose())).unwrap();
        assert!((at.gap - lift).abs() <= 1e-13, "{:e}", at.gap - lift);
        let ours = of_pair(&one, &two, &gravity);
        let paths = [&one, &two].map(|b| Path::<4>::new(&b.body, &b.state, &gravity));
        let theirs = gap_series((&one.body.shape, &paths[0]), (&two.body.shape, &paths[1]), &at).unwrap();
        let scale = scale_of(&ours, &one, &two, &gravity);
        let condition = condition_of(&ours);
        assert_eq!(ours.fit, Fit::Curved);
        for (k, value) in [ours.v, ours.g2, ours.g3].into_iter().enumerate() {
            let error = (value - theirs.derivative(k + 1).unwrap()).abs() / scale[k].max(value.abs());
            if condition <= CONDITION {
                worst[k] = worst[k].max(error);
                assert!(error <= 1e-9, "g^({}): {value:e}, off by {error:e}; {one:?} {two:?}", k + 1);
            } else {
                worst_flat = worst_flat.max(error / (condition * condition));
                assert!(error <= 1e-15 * condition * condition, "{error:e} {condition:e}; {one:?} {two:?}");
            }
        }
        known += usize::from(condition <= CONDITION);
    }
    println!("{known} of {tried} contacts: v {:.1e}, g2 {:.1e}, g3 {:.1e}", worst[0], worst[1], worst[2]);
    println!("the others {worst_flat:.1e} times the square of the condition of K");
}

/// On a ring x_i = 0 the curvature across it vanishes; an ellipsoid on the other side keeps K regular.
#[test]
fn rings_of_even_exponents() {
    let mut source = Source::new(7);
    let (zero, mut worst) = (Vector3::zeros(), 0.0_f64);
    for i in 0..600 {
        let exponent = [4.0, 6.0, 8.0][i % 3];
        let shape = Shape::Superellipsoid { semi_axes: [1.0, 0.7, 1.4], exponent };
        let other = Shape::Ellipsoid { semi_axes: [0.9, 1.2, 0.6] };
        let bodies = [shape, other].map(|shape| Body {
            shape,
            mass: 1.0,
            inertia: shape.unit_inertia(),
            fixed: false,
        });
        let mut x = source.direction();
        x[i % 2] = 0.0;
        let local = [shape.osculate(&x).point, source.point(&other)];
        let [one, two] = source.placed_at(bodies, local, 0.0);
        let at = gap((&shape, &one.state.pose()), (&other, &two.state.pose())).unwrap();
        let ours = of_pair(&one, &two, &zero);
        let paths = [&one, &two].map(|b| Path::<4>::new(&b.body, &b.state, &zero));
        let theirs = gap_series((&shape, &paths[0]), (&other, &paths[1]), &at).unwrap();
        let scale = scale_of(&ours, &one, &two, &zero);
        for (k, value) in [ours.v, ours.g2, ours.g3].into_iter().enumerate() {
            let error = (value - theirs.derivative(k + 1).unwrap()).abs() / scale[k].max(value.abs());
            worst = worst.max(error);
            assert!(error <= 1e-9, "g^({}): {value:e}, off by {error:e}; {one:?} {two:?}", k + 1);
        }
    }
    println!("rings: {worst:.1e}");
}

#[test]
fn the_series_continues_the_gap_of_the_exact_flight() {
    let mut source = Source::new(2);
    let zero = Vector3::zeros();
    for _ in 0..200 {
        let [one, two] = source.pair(0.1);
        let flights = [&one, &two].map(|b| Flight::new(&b.body, &b.state, &zero));
        let at = |t: f64| {
            gap((&one.body.shape, &flights[0].at(t).pose()), (&two.body.shape, &flights[1].at(t).pose()))
                .unwrap()
        };
        let paths = [&one, &two].map(|b| Path::<16>::new(&b.body, &b.state, &zero));
        let start = at(0.0);
        let series = gap_series((&one.body.shape, &paths[0]), (&two.body.shape, &paths[1]), &start).unwrap();
        // Within a tenth of the radius that the last coefficients suggest, nothing is left beyond rounding.
        let radius = (8..16).map(|k| series.0[k].abs().powf(-1.0 / k as f64)).fold(f64::INFINITY, f64::min);
        for t in [-0.07 * radius, 0.05 * radius] {
            let value = series.0.iter().rev().fold(0.0, |sum, c| sum * t + c);
            assert!((value - at(t).gap).abs() <= 2e-14, "{t}: {value:e} {:e}", at(t).gap);
        }
    }
}

#[test]
fn a_body_and_a_plane() {
    let mut source = Source::new(3);
    let (mut worst, mut known) = ([0.0_f64; 3], 0);
    for _ in 0..2000 {
        let gravity = source.vector(1.0);
        let [flying, still] = source.pair(0.0);
        let plane = HalfSpace { normal: Unit::new_normalize(source.direction()), offset: 0.3 };
        // The plane through the body's point, so that it stays away from the rings.
        let at = of_pair(&flying, &still, &gravity);
        let plane = HalfSpace { normal: Unit::new_normalize(-at.normal), ..plane };
        let found = gap_to_plane(&flying.body.shape, &flying.state.pose(), &plane);
        let ours = kinematics(&Facing::Plane(&plane), &flying.moving(&gravity), &found);
        if condition_of(&ours) > CONDITION {
            continue;
        }
        known += 1;
        let path = Path::<4>::new(&flying.body, &flying.state, &gravity);
        let theirs = gap_to_plane_series(&flying.body.shape, &path, &plane).unwrap();
        let scale = scale_of(&ours, &flying, &still, &gravity);
        for (k, value) in [ours.v, ours.g2, ours.g3].into_iter().enumerate() {
            let error = (value - theirs.derivative(k + 1).unwrap()).abs() / scale[k].max(value.abs());
            worst[k] = worst[k].max(error);
            assert!(error <= 1e-9, "g^({}): {value:e}, off by {error:e}; {flying:?}", k + 1);
        }
        assert_eq!(ours.normal_rate, Vector3::zeros());
    }
    println!("{known} contacts: v {:.1e}, g2 {:.1e}, g3 {:.1e}", worst[0], worst[1], worst[2]);
    assert!(known > 1000);
}

/// A body with accelerations that are not those of free flight.
fn accelerated(body: &Flying, acceleration: Vector3<f64>, angular_acceleration: Vector3<f64>) -> Moving<'_> {
    let free = body.moving(&Vector3::zeros());
    Moving { derivatives: Derivatives { acceleration, angular_acceleration, ..free.derivatives }, ..free }
}

#[test]
fn the_second_derivative_is_affine_in_the_accelerations() {
    let mut source = Source::new(4);
    for _ in 0..500 {
        let [one, two] = source.pair(0.01);
        let at = gap((&one.body.shape, &one.state.pose()), (&two.body.shape, &two.state.pose())).unwrap();
        let with = |[a, b, c, d]: [Vector3<f64>; 4]| {
            kinematics(&Facing::Body(accelerated(&one, a, b)), &accelerated(&two, c, d), &at)
        };
        let none = with([Vector3::zeros(); 4]);
        assert_eq!(none.g2, none.bias);
        let accelerations = [(); 4].map(|()| source.vector(2.0));
        let some = with(accelerations);
        let expected: f64 = none.bias + (0..4).map(|k| none.row()[k].dot(&accelerations[k])).sum::<f64>();
        assert!((some.g2 - expected).abs() <= 1e-13 * (expected.abs() + 10.0) && some.bias == none.bias);
        // The same row on the velocities is g'.
        let velocities = [&one.state, &two.state].map(|s| [s.velocity, s.angular_velocity]).concat();
        let approach: f64 = (0..4).map(|k| none.row()[k].dot(&velocities[k])).sum();
        assert!((none.v - approach).abs() <= 1e-14 * 10.0);
    }
}

#[test]
fn a_unit_force_moves_the_gap_by_the_effective_inverse_mass() {
    let mut source = Source::new(5);
    for _ in 0..500 {
        let [one, two] = source.pair(0.0);
        let k = of_pair(&one, &two, &Vector3::zeros());
        let push = |b: &Flying, arm: &Vector3<f64>, force: Vector3<f64>| {
            let inertia = b.body.world_inertia(&b.state.orientation).try_inverse().unwrap();
            [force / b.body.mass, inertia * arm.cross(&force)]
        };
        let [a, b] = push(&one, &k.arms[0], -k.normal);
        let [c, d] = push(&two, &k.arms[1], k.normal);
        let moved: f64 = k.row().iter().zip([a, b, c, d]).map(|(row, x)| row.dot(&x)).sum();
        let sides = [Some((&one.body, &one.state)), Some((&two.body, &two.state))];
        let ours = effective_inverse_mass(sides, &k.points, &k.normal);
        assert!((ours - moved).abs() <= 1e-13 * moved, "{ours} {moved}");
        let alone = effective_inverse_mass([None, sides[1]], &k.points, &k.normal);
        let mut fixed = one.body;
        fixed.fixed = true;
        let held = effective_inverse_mass([Some((&fixed, &one.state)), sides[1]], &k.points, &k.normal);
        assert!(alone == held && alone < ours);
    }
}

/// A cube-like body with its flat on a plane.
fn on_its_flat(velocity: Vector3<f64>, angular_velocity: Vector3<f64>) -> Kinematics {
    let shape = Shape::Superellipsoid { semi_axes: [1.0, 1.0, 1.0], exponent: 4.0 };
    let mut flying = Source::new(6).pair(0.0)[0];
    flying.body.shape = shape;
    flying.state = carom::body::State { velocity, angular_velocity, ..carom::body::State::at(Vector3::z()) };
    let floor = HalfSpace { normal: Vector3::z_axis(), offset: 0.0 };
    let found = gap_to_plane(&shape, &flying.state.pose(), &floor);
    kinematics(&Facing::Plane(&floor), &flying.moving(&Vector3::new(0.0, 0.0, -2.0)), &found)
}

#[test]
fn flats_are_answered() {
    // Sliding and spinning about the normal: nothing turns about the flat.
    let still = on_its_flat(Vector3::new(0.5, 0.0, 0.0), Vector3::new(0.0, 0.0, 3.0));
    assert_eq!((still.fit, still.g2, still.threshold), (Fit::Flat, -2.0, 0.0));
    assert_eq!(still.rolling[1], Vector3::zeros());
    // Tipping over: the corner that goes down overlaps like −|t|^{4/3}, on both sides.
    let rocking = on_its_flat(Vector3::zeros(), Vector3::new(1.0, 0.0, 0.0));
    assert_eq!((rocking.fit, rocking.g2, rocking.v), (Fit::Rocking, f64::NEG_INFINITY, 0.0));
    assert!(rocking.g3.is_finite() && rocking.a.is_finite());
}
