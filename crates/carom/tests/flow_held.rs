//! Bodies kept in contact: the paradox and its kin against reference integrations, resting, rocking, sliding off, and what
//! must be kept all along. Figures are printed; `cargo test --test flow_held -- --nocapture`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use carom::body::{Body, State};
use carom::contact::{Side, Surface};
use carom::flow::{Ending, Flow, Held, Piece};
use carom::gap::{gap, gap_to_plane};
use carom::shape::{HalfSpace, Shape};
use nalgebra::{Quaternion, Unit, UnitQuaternion, Vector3};
use serde_json::Value;

fn numbers<const N: usize>(value: &Value) -> [f64; N] {
    let list: Vec<f64> = value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    list.try_into().unwrap()
}

fn state(value: &Value) -> State {
    let [w, x, y, z] = numbers(&value["orientation"]);
    State {
        position: Vector3::from(numbers(&value["position"])),
        orientation: UnitQuaternion::new_normalize(Quaternion::new(w, x, y, z)),
        velocity: Vector3::from(numbers(&value["velocity"])),
        angular_velocity: Vector3::from(numbers(&value["angular_velocity"])),
    }
}

fn body(value: &Value) -> Body {
    let semi_axes = numbers(&value["semi_axes"]);
    let exponent = value["exponent"].as_f64().unwrap();
    let shape = if exponent == 2.0 {
        Shape::Ellipsoid { semi_axes }
    } else {
        Shape::Superellipsoid { semi_axes, exponent }
    };
    let mass = value["mass"].as_f64().unwrap();
    Body { shape, mass, inertia: Vector3::from(numbers(&value["inertia"])), fixed: false }
}

fn solid(shape: Shape, mass: f64) -> Body {
    Body { shape, mass, inertia: shape.unit_inertia() * mass, fixed: false }
}

fn plane(normal: [f64; 3], offset: f64) -> HalfSpace {
    HalfSpace { normal: Unit::new_normalize(Vector3::from(normal)), offset }
}

fn smooth(sides: [Side; 2]) -> Held {
    Held::new(sides, Surface::Smooth)
}

/// Pieces until something ends them other than the accuracy.
fn run(flow: &Flow, states: &[State], until: f64) -> Vec<Piece> {
    let mut pieces = vec![flow.advance(states, 0.0, until).unwrap()];
    while pieces.last().unwrap().ending == Ending::Step {
        let next = flow.follow(pieces.last().unwrap(), until).unwrap();
        pieces.push(next);
    }
    pieces
}

/// Momentum and angular momentum about the origin.
fn momentum(bodies: &[Body], states: &[State]) -> [Vector3<f64>; 2] {
    let mut sum = [Vector3::zeros(); 2];
    for (body, state) in bodies.iter().zip(states) {
        let (linear, angular) = body.momentum(state, &Vector3::zeros());
        sum[0] += linear;
        sum[1] += angular;
    }
    sum
}

fn at(piece: &Piece, bodies: usize, t: f64) -> Vec<State> {
    (0..bodies).map(|b| piece.at(b, t)).collect()
}

fn reference() -> Value {
    serde_json::from_str(include_str!("../../../cases/flow/held.json")).unwrap()
}

#[test]
fn paradoxes_are_held() {
    for case in reference()["cases"].as_array().unwrap() {
        let bodies: Vec<Body> = case["bodies"].as_array().unwrap().iter().map(body).collect();
        let states: Vec<State> = case["bodies"].as_array().unwrap().iter().map(state).collect();
        let flow = Flow::new(&bodies, &[], Vector3::zeros(), &[smooth([Side::Body(0), Side::Body(1)])]);
        let pieces = run(&flow, &states, 10.0);
        let last = pieces.last().unwrap();
        let number = |name: &str| case[name].as_f64().unwrap();
        let Ending::LiftOff { contact: 0, time_error } = last.ending else { panic!("{:?}", last.ending) };
        let slope = pieces[0].force_rate(0, 0.0);
        let impulse: f64 = pieces.iter().map(|p| p.impulse(0, p.until).normal).sum();
        println!(
            "{}: {} pieces, {:?} stages",
            case["name"],
            pieces.len(),
            pieces.iter().map(Piece::iterations).sum::<u32>() * 16
        );
        println!("  slope {slope:.15} lift-off {:.16} ± {time_error:.1e} impulse {impulse:.16}", last.until);
        // The reference's integral is the trapezoidal sum over 2000 intervals; ours is the integral.
        let force = |t: f64| pieces.iter().find(|p| t <= p.until).unwrap_or(last).force(0, t).normal;
        let trapezoids = |n: u32| {
            let h = last.until / f64::from(n);
            (1..n).map(|i| force(f64::from(i) * h)).sum::<f64>() * h
        };
        let energy = flow.energy(&states);
        let before = momentum(&bodies, &states);
        let (mut worst_gap, mut worst_energy, mut worst_momentum): (f64, f64, f64) = (0.0, 0.0, 0.0);
        for piece in &pieces {
            for i in 0..=40 {
                let t = piece.from + (piece.until - piece.from) * f64::from(i) / 40.0;
                let now = at(piece, 2, t);
                let found =
                    gap((&bodies[0].shape, &now[0].pose()), (&bodies[1].shape, &now[1].pose())).unwrap();
                worst_gap = worst_gap.max(found.gap.abs());
                worst_energy = worst_energy.max((flow.energy(&now) / energy - 1.0).abs());
                let after = momentum(&bodies, &now);
                worst_momentum = worst_momentum
                    .max((after[0] - before[0]).norm() / before[0].norm())
                    .max((after[1] - before[1]).norm() / before[1].norm());
            }
        }
        println!("  gap {worst_gap:.1e} energy {worst_energy:.1e} momentum {worst_momentum:.1e}");
        let mut worst: f64 = 0.0;
        let mut worst_force: f64 = 0.0;
        for row in case["table"].as_array().unwrap() {
            let t = row["time"].as_f64().unwrap();
            let Some(piece) = pieces.iter().find(|p| p.from <= t && t <= p.until) else { continue };
            worst_force = worst_force.max((piece.force(0, t).normal - row["force"].as_f64().unwrap()).abs());
            for (b, expected) in row["bodies"].as_array().unwrap().iter().enumerate() {
                let (found, expected) = (piece.at(b, t), state(expected));
                worst = worst
                    .max((found.position - expected.position).amax())
                    .max((found.velocity - expected.velocity).amax())
                    .max((found.angular_velocity - expected.angular_velocity).amax());
            }
        }
        for (piece, next) in pieces.iter().zip(&pieces[1..]) {
            // The closed form of λ' at a start, and the series before it: both sides of one instant.
            let (series, closed) = (piece.force_rate(0, piece.until), next.force_rate(0, next.from));
            println!("  λ' {closed:.6}: {:.1e}", series - closed);
            assert!((series - closed).abs() < 1e-9 * slope, "{series} {closed}");
        }
        println!("  table: states {worst:.1e}, forces {worst_force:.1e}");
        println!("  steps {:?}", pieces.iter().map(|p| p.until - p.from).collect::<Vec<_>>());
        // Richardson's extrapolation of the sums leaves h⁴.
        let integral = (4.0 * trapezoids(4000) - trapezoids(2000)) / 3.0;
        assert!((impulse - integral).abs() < 1e-13 * (1.0 + impulse), "{impulse} {integral}");
        assert!((slope / number("slope") - 1.0).abs() < 2e-14);
        assert!((last.until - number("lift_off")).abs() < 1e-11);
        if case["impulse"].is_number() {
            assert!((trapezoids(2000) - number("impulse")).abs() < 1e-15);
        }
        assert!(worst_gap < 1e-14 && worst_energy < 1e-14 && worst_momentum < 1e-14);
        assert!(worst < 1e-11 && worst_force < 1e-10);
    }
}

/// What rests, rests, under its weight.
#[test]
fn a_sphere_rests_on_a_plane() {
    let ball = solid(Shape::Sphere { radius: 0.5 }, 2.0);
    let floor = plane([0.0, 0.0, 1.0], 0.25);
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    let flow = Flow::new(&[ball], &[floor], gravity, &[smooth([Side::Body(0), Side::Plane(0)])]);
    let start = State::at(Vector3::new(1.0, 2.0, 0.75));
    let pieces = run(&flow, &[start], 100.0);
    assert_eq!(pieces.len(), 1);
    assert!(pieces[0].rests());
    assert_eq!(pieces.last().unwrap().end()[0], start);
    for piece in &pieces {
        assert!((piece.force(0, piece.until).normal - 2.0 * 9.81).abs() < 1e-13);
    }
    let impulse: f64 = pieces.iter().map(|p| p.impulse(0, p.until).normal).sum();
    assert!((impulse - 200.0 * 9.81).abs() < 1e-11);
    // Spinning and sliding without friction changes nothing but the place.
    let velocity = Vector3::new(0.3, -0.2, 0.0);
    let moving = State { velocity, angular_velocity: Vector3::new(3.0, 2.0, 1.0), ..start };
    let pieces = run(&flow, &[moving], 10.0);
    let end = pieces.last().unwrap().end()[0];
    assert!((end.position - start.position - velocity * 10.0).norm() < 1e-13);
    assert!((end.angular_velocity - moving.angular_velocity).norm() < 1e-13);
    assert!(pieces.iter().all(|p| p.drift.position < 1e-15 && p.drift.velocity < 1e-14));
}

/// Without gravity a body that spins about a vertical axis on a plane presses on it with nothing, and stays; pulled up, it
/// leaves at once.
#[test]
fn nothing_holds_what_nothing_presses() {
    let ball = solid(Shape::Sphere { radius: 0.5 }, 2.0);
    let floor = plane([0.0, 0.0, 1.0], 0.0);
    let start = State {
        velocity: Vector3::new(1.0, 0.5, 0.0),
        angular_velocity: Vector3::new(0.3, 0.2, 5.0),
        ..State::at(Vector3::new(0.0, 0.0, 0.5))
    };
    let contact = smooth([Side::Body(0), Side::Plane(0)]);
    let still = Flow::new(&[ball], &[floor], Vector3::zeros(), &[contact]);
    assert_eq!(run(&still, &[start], 10.0).last().unwrap().ending, Ending::Until);
    let pulled = Flow::new(&[ball], &[floor], Vector3::new(0.0, 0.0, 1e-9), &[contact]);
    let piece = pulled.advance(&[start], 0.0, 1.0).unwrap();
    assert!(matches!(piece.ending, Ending::LiftOff { contact: 0, .. }) && piece.until == 0.0);
}

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
    let (nodes, weights) = carom::flow::series::gauss(31);
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

/// Four contacts on one ball: rank three, and the forces of least norm. A ball in a trough closed by a third plane and pressed
/// by none: the dependent ones share.
#[test]
fn dependent_contacts_share() {
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    let directions = [[1.0, 0.0, 1.0], [-1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.0, -1.0, 1.0]];
    let planes = directions.map(|d| plane(d, 0.0));
    let contacts: Vec<Held> = (0..4).map(|i| smooth([Side::Plane(i), Side::Body(0)])).collect();
    let ball = solid(Shape::Sphere { radius: 0.5 }, 2.0);
    let flow = Flow::new(&[ball], &planes, gravity, &contacts);
    let rest = State::at(Vector3::new(0.0, 0.0, 0.5 * 2f64.sqrt()));
    let piece = flow.advance(&[rest], 0.0, 1.0).unwrap();
    for contact in 0..4 {
        let share = 2.0 * 9.81 / (2.0 * 2f64.sqrt());
        assert!((piece.force(contact, 0.5).normal - share).abs() < 1e-13);
    }
}

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

/// Which contacts hold in a corner depends on where gravity points.
#[test]
fn contacts_hold_or_part() {
    let planes = [plane([1.0, 0.0, 0.0], 0.0), plane([0.0, 0.0, 1.0], 0.0)];
    let contacts = [smooth([Side::Plane(0), Side::Body(0)]), smooth([Side::Plane(1), Side::Body(0)])];
    let ball = solid(Shape::Sphere { radius: 0.5 }, 2.0);
    let start = State::at(Vector3::new(0.5, 0.0, 0.5));
    for (gravity, holds) in [
        ([-1.0, 0.0, -1.0], [true, true]),
        ([1.0, 0.0, -1.0], [false, true]),
        ([-1.0, 0.0, 1.0], [true, false]),
        ([1.0, 0.0, 1.0], [false, false]),
    ] {
        let flow = Flow::new(&[ball], &planes, Vector3::from(gravity), &contacts);
        let found = flow.holding(&[start]).unwrap();
        assert_eq!(found.holds, holds);
        assert_eq!(found.marginal, [false, false]);
        for i in 0..2 {
            let pull = [gravity[0], gravity[2]][i];
            assert!((found.forces[i] - (-2.0 * pull).max(0.0)).abs() < 1e-14);
            assert!((found.accelerations[i] - pull.max(0.0)).abs() < 1e-14);
        }
    }
}

/// Forces and accelerations of an ellipsoid among planes that all touch it, against the best of all subsets.
#[test]
fn holding_is_complementary() {
    let directions = [[1.0, 0.0, 0.5], [-1.0, 0.3, 0.4], [0.1, -1.0, 0.7], [0.2, 0.9, -0.5], [0.0, 0.1, 1.0]];
    let egg = solid(Shape::Ellipsoid { semi_axes: [1.0, 0.8, 0.6] }, 1.3);
    for round in 0..40 {
        let angle = f64::from(round);
        let pose = UnitQuaternion::from_scaled_axis(Vector3::new(angle.sin(), angle.cos(), 0.3 * angle));
        let start = State {
            orientation: pose,
            angular_velocity: Vector3::new((2.0 * angle).sin(), (3.0 * angle).cos(), 0.5),
            ..State::at(Vector3::zeros())
        };
        // Planes tangent to the body; those whose contact does not close are moved along with a velocity that keeps them.
        let planes: Vec<HalfSpace> = directions
            .iter()
            .map(|&d| {
                let floor = plane(d, 0.0);
                let at = gap_to_plane(&egg.shape, &start.pose(), &floor);
                HalfSpace { offset: floor.offset + at.gap, ..floor }
            })
            .collect();
        let contacts: Vec<Held> =
            (0..planes.len()).map(|i| smooth([Side::Plane(i), Side::Body(0)])).collect();
        let gravity = Vector3::new((1.3 * angle).cos() * 3.0, (0.7 * angle).sin() * 3.0, -9.81);
        let flow = Flow::new(&[egg], &planes, gravity, &contacts);
        let mut rest = [State { angular_velocity: Vector3::zeros(), ..start }];
        let Ok(found) = flow.holding(&rest) else { continue };
        assert!(found.forces.iter().all(|f| *f >= 0.0));
        assert!(found.accelerations.iter().all(|a| *a > -1e-12));
        for i in 0..planes.len() {
            assert!(found.forces[i] * found.accelerations[i] < 1e-12);
            assert_eq!(found.holds[i], found.accelerations[i] <= 1e-10);
        }
        // The group that holds moves on with the same forces, none of which pulls.
        let group = flow.keeping(&found.holds);
        if !group.contacts().is_empty() {
            group.project(&mut rest).unwrap();
            let piece = group.advance(&rest, 0.0, 1e-3).unwrap();
            let held: Vec<usize> = (0..planes.len()).filter(|&i| found.holds[i]).collect();
            if held.len() < 6 && !found.marginal.contains(&true) {
                for (place, &i) in held.iter().enumerate() {
                    assert!((piece.force(place, 0.0).normal - found.forces[i]).abs() < 1e-9);
                }
            }
        }
    }
}

/// At a paradox neither force nor acceleration decides, and the force's rate does: backwards in time the same contact parts.
#[test]
fn a_paradox_is_marginal() {
    for case in reference()["cases"].as_array().unwrap() {
        let bodies: Vec<Body> = case["bodies"].as_array().unwrap().iter().map(body).collect();
        let mut states: Vec<State> = case["bodies"].as_array().unwrap().iter().map(state).collect();
        let flow = Flow::new(&bodies, &[], Vector3::zeros(), &[smooth([Side::Body(0), Side::Body(1)])]);
        let found = flow.holding(&states).unwrap();
        assert_eq!((found.holds[0], found.marginal[0]), (true, true));
        for state in &mut states {
            state.velocity = -state.velocity;
            state.angular_velocity = -state.angular_velocity;
        }
        let found = flow.holding(&states).unwrap();
        assert_eq!((found.holds[0], found.marginal[0]), (false, true));
        let piece = flow.advance(&states, 0.0, 1.0).unwrap();
        assert!(matches!(piece.ending, Ending::LiftOff { contact: 0, .. }) && piece.until == 0.0);
    }
}
