//! Sliding off, rocking, spinning and pushing apart, against closed forms and what must be kept.

use carom::body::State;
use carom::contact::Side;
use carom::flow::{Ending, Flow};
use carom::gap::gap_to_plane;
use carom::shape::Shape;
use nalgebra::{UnitQuaternion, Vector3};

use super::{plane, run, smooth, solid};

/// From rest at θ₀ on a fixed smooth sphere, a smooth sphere leaves where cos θ = ⅔ cos θ₀.
#[test]
fn a_sphere_slides_off_a_sphere() {
    for (start_angle, radii) in [(0.1f64, [1.0, 0.5]), (0.5, [2.0, 0.1]), (0.01, [0.3, 1.0])] {
        let reach: f64 = radii[0] + radii[1];
        let mut below = solid(Shape::Sphere { radius: radii[0] }, 1.0);
        below.fixed = true;
        let above = solid(Shape::Sphere { radius: radii[1] }, 0.7);
        let gravity = Vector3::new(0.0, 0.0, -9.81);
        let flow = Flow::new(&[below, above], &[], gravity, &[smooth([Side::Body(0), Side::Body(1)])]);
        let states = [
            State::at(Vector3::zeros()),
            State::at(Vector3::new(start_angle.sin(), 0.0, start_angle.cos()) * reach),
        ];
        let pieces = run(&flow, &states, 100.0);
        let last = pieces.last().unwrap();
        assert!(matches!(last.ending, Ending::LiftOff { contact: 0, .. }));
        let end = last.end()[1];
        let cosine = end.position.z / reach;
        println!(
            "from {start_angle}: {} pieces, cos θ − ⅔ cos θ₀ = {:.1e}",
            pieces.len(),
            cosine - 2.0 / 3.0 * start_angle.cos()
        );
        assert!((cosine - 2.0 / 3.0 * start_angle.cos()).abs() < 2e-15);
        // v² = 2 g (R+r)(cos θ₀ − cos θ).
        let square = 2.0 * 9.81 * reach * (start_angle.cos() - cosine);
        assert!((end.velocity.norm_squared() / square - 1.0).abs() < 1e-14);
        assert!(end.angular_velocity.norm() < 1e-14);
    }
}

/// The period of an ellipsoid of semi-axes a, b in the plane of its motion, rocking without friction from rest at θ₀:
/// ½(m h'² + I) θ'² + m g h = m g h₀ with h² = a² sin²θ + b² cos²θ, the centre staying above its place.
fn rocking_period(mass: f64, inertia: f64, a: f64, b: f64, gravity: f64, start: f64) -> f64 {
    let height = |x: f64| (a * x.sin()).hypot(b * x.cos());
    let slope = |x: f64| (a * a - b * b) * x.sin() * x.cos() / height(x);
    // θ = θ₀ sin φ, and h₀ − h = (a²−b²)(sin²θ₀ − sin²θ)/(h₀ + h) with sin²θ₀ − sin²θ = sin(θ₀+θ) sin(θ₀−θ), θ₀ − θ =
    // θ₀ (1 − sin φ) = 2 θ₀ sin²((π/2 − φ)/2).
    let integrand = |phi: f64| {
        let x = start * phi.sin();
        let less = 2.0 * start * (0.5 * (std::f64::consts::FRAC_PI_2 - phi)).sin().powi(2);
        let fall = (a * a - b * b) * (start + x).sin() * less.sin() / (height(start) + height(x));
        ((mass * slope(x).powi(2) + inertia) / (2.0 * mass * gravity * fall)).sqrt() * start * phi.cos()
    };
    let (nodes, weights) = carom::integrate::series::gauss(31);
    let pieces = 8;
    let width = std::f64::consts::FRAC_PI_2 / f64::from(pieces);
    let mut sum = 0.0;
    for i in 0..pieces {
        for (x, w) in nodes.iter().zip(&weights) {
            sum += 0.5 * width * w * integrand(width * (f64::from(i) + 0.5 * (x + 1.0)));
        }
    }
    4.0 * sum
}

#[test]
fn an_ellipsoid_rocks_for_many_periods() {
    let semi_axes = [1.0, 0.8, 0.6];
    let egg = solid(Shape::Ellipsoid { semi_axes }, 1.3);
    let floor = plane([0.0, 0.0, 1.0], 0.0);
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    let flow = Flow::new(&[egg], &[floor], gravity, &[smooth([Side::Body(0), Side::Plane(0)])]);
    let angle: f64 = 0.7;
    let height = (semi_axes[0] * angle.sin()).hypot(semi_axes[2] * angle.cos());
    let start = State {
        orientation: UnitQuaternion::from_scaled_axis(Vector3::new(0.0, angle, 0.0)),
        ..State::at(Vector3::new(0.2, -0.1, height))
    };
    let period = rocking_period(egg.mass, egg.inertia.y, semi_axes[0], semi_axes[2], 9.81, angle);
    let periods = std::env::var("CAROM_PERIODS").map_or(100.0, |n| n.parse::<f64>().unwrap());
    let energy = flow.energy(&[start]);
    let (mut worst_energy, mut worst_gap, mut count): (f64, f64, u32) = (0.0, 0.0, 0);
    let until = periods * period;
    let mut piece = flow.advance(&[start], 0.0, until).unwrap();
    let mut once = None;
    let clock = std::time::Instant::now();
    loop {
        count += 1;
        worst_energy = worst_energy.max((flow.energy(piece.end()) / energy - 1.0).abs());
        worst_gap = worst_gap.max(gap_to_plane(&egg.shape, &piece.end()[0].pose(), &floor).gap.abs());
        if piece.from <= period && period < piece.until {
            once = Some(piece.at(0, period));
        }
        if piece.ending != Ending::Step {
            break;
        }
        piece = flow.follow(&piece, until).unwrap();
    }
    assert_eq!(piece.ending, Ending::Until);
    // ω over its rate is how late it is.
    let rate =
        egg.mass * 9.81 * (semi_axes[0].powi(2) - semi_axes[2].powi(2)) * angle.sin() * angle.cos() / height;
    let slope = (semi_axes[0].powi(2) - semi_axes[2].powi(2)) * angle.sin() * angle.cos() / height;
    let rate = rate / (egg.mass * slope * slope + egg.inertia.y);
    let late = |state: &State| state.angular_velocity.y / rate;
    let (first, last) = (late(&once.unwrap()), late(&piece.end()[0]));
    println!("rocking: period {period:.15}, {count} pieces, {:.2} s", clock.elapsed().as_secs_f64());
    println!(
        "  late by {first:.1e} after one, {last:.1e} after {periods}; energy {worst_energy:.1e}, gap {worst_gap:.1e}"
    );
    assert!(first.abs() < 1e-14 * period && last.abs() < 1e-12 * until);
    assert!(worst_energy < 1e-12 && worst_gap < 2e-15);
    let aside = piece.end()[0].position - start.position;
    assert!(aside.x.abs() < 1e-10 && aside.y.abs() < 1e-10);
}

/// Sliding, rocking and spinning in space: energy, horizontal momentum and the angular momentum about the vertical.
#[test]
fn an_ellipsoid_slides_and_spins_on_a_plane() {
    let egg = solid(Shape::Ellipsoid { semi_axes: [1.0, 0.8, 0.6] }, 1.3);
    let floor = plane([0.0, 0.0, 1.0], 0.0);
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    let flow = Flow::new(&[egg], &[floor], gravity, &[smooth([Side::Body(0), Side::Plane(0)])]);
    let mut states = [State {
        orientation: UnitQuaternion::from_scaled_axis(Vector3::new(0.3, 0.4, -0.2)),
        velocity: Vector3::new(0.5, 0.2, 0.0),
        angular_velocity: Vector3::new(0.6, -0.4, 2.0),
        ..State::at(Vector3::new(0.0, 0.0, 0.7))
    }];
    flow.project(&mut states).unwrap();
    let energy = flow.energy(&states);
    let spin = egg.world_inertia(&states[0].orientation) * states[0].angular_velocity;
    let pieces = run(&flow, &states, 100.0);
    let mut worst = [0.0f64; 4];
    for piece in &pieces {
        for i in 0..=4 {
            let t = piece.from + (piece.until - piece.from) * f64::from(i) / 4.0;
            let now = piece.at(0, t);
            let turned = egg.world_inertia(&now.orientation) * now.angular_velocity;
            worst[0] = worst[0].max((flow.energy(&[now]) / energy - 1.0).abs());
            worst[1] = worst[1].max((now.velocity - states[0].velocity).xy().norm());
            worst[2] = worst[2].max((turned.z / spin.z - 1.0).abs());
            worst[3] = worst[3].max(gap_to_plane(&egg.shape, &now.pose(), &floor).gap.abs());
            // What bounds the motion does.
            let step = 1e-5;
            let later = piece.at(0, (t + step).min(piece.until));
            let earlier = piece.at(0, (t - step).max(piece.from));
            let spread = (t + step).min(piece.until) - (t - step).max(piece.from);
            let rate = (later.angular_velocity - earlier.angular_velocity) / spread;
            let bound = piece.turning_bound(0);
            assert!(rate.norm() + now.angular_velocity.norm_squared() <= bound * (1.0 + 1e-6));
            let push = (later.velocity - earlier.velocity) / spread;
            assert!(push.norm() <= piece.acceleration_bound(0) * (1.0 + 1e-6) + 1e-8);
        }
    }
    println!(
        "sliding: {} pieces, energy {:.1e}, momentum {:.1e}, spin {:.1e}, gap {:.1e}",
        pieces.len(),
        worst[0],
        worst[1],
        worst[2],
        worst[3]
    );
    assert!(worst[0] < 1e-13 && worst[1] < 1e-13 && worst[2] < 1e-13 && worst[3] < 5e-15);
}

/// In the corner of two planes: at rest each carries its share of the weight; along the edge it rocks and keeps its energy.
#[test]
fn a_body_held_on_two_planes() {
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    let planes = [plane([1.0, 0.0, 1.0], 0.0), plane([-1.0, 0.0, 1.0], 0.0)];
    let contacts = [smooth([Side::Plane(0), Side::Body(0)]), smooth([Side::Plane(1), Side::Body(0)])];
    let ball = solid(Shape::Sphere { radius: 0.5 }, 2.0);
    let flow = Flow::new(&[ball], &planes, gravity, &contacts);
    let rest = State::at(Vector3::new(0.0, 0.0, 0.5 * 2f64.sqrt()));
    let pieces = run(&flow, &[rest], 10.0);
    for contact in 0..2 {
        let share = 2.0 * 9.81 / 2f64.sqrt();
        assert!((pieces[0].force(contact, 5.0).normal - share).abs() < 1e-14 * share);
    }
    assert!((pieces.last().unwrap().end()[0].position - rest.position).norm() < 1e-14);

    let egg = solid(Shape::Ellipsoid { semi_axes: [0.5, 0.7, 0.55] }, 2.0);
    let flow = Flow::new(&[egg], &planes, gravity, &contacts);
    let mut states = [State {
        orientation: UnitQuaternion::from_scaled_axis(Vector3::new(0.1, 0.2, 0.05)),
        velocity: Vector3::new(0.0, 0.3, 0.0),
        angular_velocity: Vector3::new(0.1, 0.2, 0.3),
        ..State::at(Vector3::new(0.0, 0.0, 0.8))
    }];
    flow.project(&mut states).unwrap();
    let energy = flow.energy(&states);
    let pieces = run(&flow, &states, 30.0);
    let mut worst = [0.0f64; 3];
    for piece in &pieces {
        let now = piece.end()[0];
        worst[0] = worst[0].max((flow.energy(&[now]) / energy - 1.0).abs());
        worst[1] = worst[1].max((now.velocity.y - states[0].velocity.y).abs());
        for plane in &planes {
            worst[2] = worst[2].max(gap_to_plane(&egg.shape, &now.pose(), plane).gap.abs());
        }
    }
    println!(
        "corner: {} pieces to {}, energy {:.1e}, along the edge {:.1e}, gap {:.1e}",
        pieces.len(),
        pieces.last().unwrap().until,
        worst[0],
        worst[1],
        worst[2]
    );
    assert_eq!(pieces.last().unwrap().ending, Ending::Until);
    assert!(worst[0] < 1e-13 && worst[1] < 1e-14 && worst[2] < 2e-15);
}

/// A ball on two others on a smooth floor pushes them apart: three bodies, four contacts, symmetric and workless.
#[test]
fn a_ball_pushes_two_apart() {
    let ball = solid(Shape::Sphere { radius: 0.5 }, 1.0);
    let floor = plane([0.0, 0.0, 1.0], 0.0);
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    let contacts = [
        smooth([Side::Plane(0), Side::Body(0)]),
        smooth([Side::Plane(0), Side::Body(1)]),
        smooth([Side::Body(0), Side::Body(2)]),
        smooth([Side::Body(1), Side::Body(2)]),
    ];
    let flow = Flow::new(&[ball; 3], &[floor], gravity, &contacts);
    let angle: f64 = 0.55;
    let states = [
        State::at(Vector3::new(-angle.sin(), 0.0, 0.5)),
        State::at(Vector3::new(angle.sin(), 0.0, 0.5)),
        State::at(Vector3::new(0.0, 0.0, 0.5 + angle.cos())),
    ];
    let found = flow.holding(&states).unwrap();
    assert_eq!(found.holds, [true; 4]);
    let pieces = run(&flow, &states, 10.0);
    let last = pieces.last().unwrap();
    let Ending::LiftOff { contact: 2 | 3, .. } = last.ending else { panic!("{:?}", last.ending) };
    // By energy, with θ from the vertical and unit distance of centres: (1 + ... ) the force between them is zero where the
    // lower balls are no longer pushed: with ẋ = cos θ θ', ż = −sin θ θ', θ'² = 2g(cos θ₀ − cos θ)/(2cos²θ + sin²θ) and
    // x'' = 0, that is cos θ θ'' = sin θ θ'².
    let end = last.end()[2];
    let cosine = end.position.z - 0.5;
    let sine = (1.0 - cosine * cosine).sqrt();
    let weight = 2.0 * cosine * cosine + sine * sine;
    let square = 2.0 * 9.81 * (angle.cos() - cosine) / weight;
    // θ'' from the derivative of ½(2cos² + sin²)θ'² + g cos θ = const.
    let second = (9.81 * sine + sine * cosine * square) / weight;
    println!(
        "lower balls let go at {:.4} rad; x'' = {:.1e}",
        sine.atan2(cosine),
        cosine * second - sine * square
    );
    assert!((cosine * second - sine * square).abs() < 1e-12);
    assert!((last.end()[1].velocity.x / cosine - square.sqrt()).abs() < 1e-13);
    assert!((last.end()[0].position.x + last.end()[1].position.x).abs() < 1e-14);
    assert!((flow.energy(last.end()) / flow.energy(&states) - 1.0).abs() < 1e-14);
}
