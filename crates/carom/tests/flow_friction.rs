//! Rolling, sliding and sticking of held contacts against their closed forms. Figures are printed;
//! `cargo test --test flow_friction -- --nocapture`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use carom::body::{Body, State};
use carom::contact::{Side, Surface};
use carom::flow::{Ending, Flow, Held, Mode, Obstacle, Piece};
use carom::gap::gap_to_plane;
use carom::shape::{HalfSpace, Shape};
use nalgebra::{Unit, UnitQuaternion, Vector3};

const G: f64 = 9.81;

fn down() -> Vector3<f64> {
    Vector3::new(0.0, 0.0, -G)
}

fn solid(shape: Shape, mass: f64) -> Body {
    Body { shape, mass, inertia: shape.unit_inertia() * mass, fixed: false }
}

fn plane(normal: Vector3<f64>, offset: f64) -> HalfSpace {
    HalfSpace { normal: Unit::new_normalize(normal), offset }
}

fn on_plane(surface: Surface) -> [Held; 1] {
    [Held::new([Side::Plane(0), Side::Body(0)], surface)]
}

/// Pieces until the time or a lift-off, through all changes of friction.
fn run(flow: &Flow, states: &[State], until: f64) -> Vec<Piece> {
    let mut pieces = vec![flow.advance(states, 0.0, until).unwrap()];
    while !matches!(pieces.last().unwrap().ending, Ending::Until | Ending::LiftOff { .. }) {
        let next = flow.follow(pieces.last().unwrap(), until).unwrap();
        pieces.push(next);
        assert!(pieces.len() < 1000);
    }
    pieces
}

/// On an incline of angle β a ball with J = κ m r² rolls with a = g sin β/(1 + κ), and needs friction κ/(1+κ) m g sin β.
#[test]
fn a_ball_rolls_down_an_incline() {
    for kappa in [0.1, 0.4, 2.0 / 3.0, 1.0] {
        let slope: f64 = 0.3;
        let normal = Vector3::new(slope.sin(), 0.0, slope.cos());
        let downhill = Vector3::new(slope.cos(), 0.0, -slope.sin());
        let (radius, mass) = (0.2, 1.7);
        let mut ball = solid(Shape::Sphere { radius }, mass);
        ball.inertia = Vector3::repeat(kappa * mass * radius * radius);
        let flow = Flow::new(&[ball], &[plane(normal, 0.0)], down(), &on_plane(Surface::Rough));
        let start = State::at(normal * radius);
        let until = 3.0;
        let pieces = run(&flow, &[start], until);
        let acceleration = G * slope.sin() / (1.0 + kappa);
        let end = pieces.last().unwrap().end()[0];
        let moved = end.position - start.position;
        let expected = downhill * (0.5 * acceleration * until * until);
        println!(
            "κ = {kappa:.2}: {} pieces, off by {:.1e}",
            pieces.len(),
            (moved - expected).norm() / expected.norm()
        );
        assert!((moved - expected).norm() < 1e-13 * expected.norm());
        let turn = normal.cross(&downhill) * (acceleration * until / radius);
        assert!((end.angular_velocity - turn).norm() < 1e-13 * turn.norm());
        for piece in &pieces {
            let force = piece.force(0, 0.5 * (piece.from + piece.until));
            let weight = mass * G;
            assert!((force.normal - weight * slope.cos()).abs() < 1e-12 * weight);
            let friction = downhill * (-kappa / (1.0 + kappa) * weight * slope.sin());
            assert!((force.friction - friction).norm() < 1e-12 * weight);
            assert!(piece.friction_work(0, piece.until).abs() < 1e-13 * weight);
        }
    }
}

/// With less friction than rolling needs it slides: a = g (sin β − μ cos β), ω' = μ m g r cos β/J.
#[test]
fn a_ball_slides_down_a_slippery_incline() {
    let slope: f64 = 0.6;
    let normal = Vector3::new(slope.sin(), 0.0, slope.cos());
    let downhill = Vector3::new(slope.cos(), 0.0, -slope.sin());
    let (radius, mass) = (0.2, 1.7);
    let ball = solid(Shape::Sphere { radius }, mass);
    let needed = 2.0 / 7.0 * slope.tan();
    let until = 2.0;
    for (coefficient, sticks) in [(1.001 * needed, true), (0.999 * needed, false), (0.5 * needed, false)] {
        let surface = Surface::Coulomb(coefficient);
        let flow = Flow::new(&[ball], &[plane(normal, 0.0)], down(), &on_plane(surface));
        let start = State::at(normal * radius);
        let pieces = run(&flow, &[start], until);
        assert_eq!(pieces[0].modes()[0] == Mode::Stick, sticks);
        assert!(pieces.iter().all(|p| matches!(p.ending, Ending::Until | Ending::Step)));
        let (acceleration, spin) = if sticks {
            (5.0 / 7.0 * G * slope.sin(), 5.0 / 7.0 * G * slope.sin() / radius)
        } else {
            (
                G * (slope.sin() - coefficient * slope.cos()),
                coefficient * mass * G * radius * slope.cos() / ball.inertia.x,
            )
        };
        let end = pieces.last().unwrap().end()[0];
        assert!((end.velocity - downhill * (acceleration * until)).norm() < 1e-13 * acceleration * until);
        assert!(
            (end.angular_velocity - normal.cross(&downhill) * (spin * until)).norm() < 1e-12 * spin * until
        );
        // What friction took is what is missing.
        let work: f64 = pieces.iter().map(|p| p.friction_work(0, p.until)).sum();
        let lost = flow.energy(&[end]) - flow.energy(&[start]);
        assert!((work - lost).abs() < 1e-12 * mass * G, "{work} {lost}");
        assert_eq!(work < -1e-6, !sticks);
    }
}

/// Thrown along a floor with spin of any direction: the slip keeps its direction and falls at (7/2) μ g, so it ends after
/// 2|u|/(7 μ g); from there the ball rolls with 5/7 of v and 2/7 of the spin's part.
#[test]
fn a_thrown_ball_comes_to_roll() {
    let (radius, mass, coefficient) = (0.11, 6.0, 0.13);
    let ball = solid(Shape::Sphere { radius }, mass);
    let flow =
        Flow::new(&[ball], &[plane(Vector3::z(), 0.0)], down(), &on_plane(Surface::Coulomb(coefficient)));
    for (velocity, spin) in [
        (Vector3::new(7.0, 0.0, 0.0), Vector3::zeros()),
        (Vector3::new(7.0, 0.5, 0.0), Vector3::new(20.0, -30.0, 5.0)),
        (Vector3::new(1.0, 0.0, 0.0), Vector3::new(0.0, -100.0, 0.0)),
    ] {
        let start = State { velocity, angular_velocity: spin, ..State::at(Vector3::new(0.0, 0.0, radius)) };
        let slip = velocity + spin.cross(&Vector3::new(0.0, 0.0, -radius));
        let time = 2.0 * slip.norm() / (7.0 * coefficient * G);
        let pieces = run(&flow, &[start], 2.0 * time);
        let stuck = pieces.iter().position(|p| matches!(p.ending, Ending::Stick { .. })).unwrap();
        let Ending::Stick { contact: 0, time_error } = pieces[stuck].ending else { panic!() };
        let found = pieces[stuck].until;
        println!(
            "rolls after {found:.15}, off by {:.1e} ± {time_error:.1e}, {} pieces",
            found - time,
            pieces.len()
        );
        assert!((found - time).abs() < time_error.min(1e-13));
        let after = pieces[stuck].end()[0];
        let expected = velocity - slip.normalize() * (coefficient * G * time);
        assert!((after.velocity - expected).norm() < 1e-13 * velocity.norm().max(slip.norm()));
        assert_eq!(pieces[stuck + 1].modes()[0], Mode::Stick);
        let end = pieces.last().unwrap().end()[0];
        assert!((end.velocity - expected).norm() < 1e-13 * slip.norm());
        // Spin about the vertical is nobody's business.
        assert!((end.angular_velocity.z - spin.z).abs() < 1e-12);
        let before = flow.energy(&[start]);
        let work: f64 = pieces.iter().map(|p| p.friction_work(0, p.until)).sum();
        assert!((flow.energy(&[end]) - before - work).abs() < 1e-13 * before);
    }
}

/// From rest at θ₀ on a fixed rough sphere a solid ball rolls off where cos θ = 10/17 cos θ₀. With Coulomb friction it
/// starts to slip before, where 2 sin θ = μ (17 cos θ − 10 cos θ₀).
#[test]
fn a_ball_rolls_off_a_sphere() {
    let (radii, start_angle): ([f64; 2], f64) = ([1.0, 0.25], 0.2);
    let reach = radii[0] + radii[1];
    let mut below = solid(Shape::Sphere { radius: radii[0] }, 1.0);
    below.fixed = true;
    let above = solid(Shape::Sphere { radius: radii[1] }, 0.7);
    let direction = Vector3::new(start_angle.sin() * 0.6, start_angle.sin() * 0.8, start_angle.cos());
    let states = [State::at(Vector3::zeros()), State::at(direction * reach)];
    let contact = |surface| [Held::new([Side::Body(0), Side::Body(1)], surface)];
    let rough = Flow::new(&[below, above], &[], down(), &contact(Surface::Rough));
    let pieces = run(&rough, &states, 10.0);
    let last = pieces.last().unwrap();
    assert!(matches!(last.ending, Ending::LiftOff { contact: 0, .. }));
    let cosine = last.end()[1].position.z / reach;
    println!("rolls off: cos θ − 10/17 cos θ₀ = {:.1e}", cosine - 10.0 / 17.0 * start_angle.cos());
    assert!((cosine - 10.0 / 17.0 * start_angle.cos()).abs() < 4e-15);
    assert!((rough.energy(last.end()) / rough.energy(&states) - 1.0).abs() < 1e-14);

    let coefficient = 0.3;
    let sliding = Flow::new(&[below, above], &[], down(), &contact(Surface::Coulomb(coefficient)));
    let pieces = run(&sliding, &states, 10.0);
    let slips = pieces.iter().position(|p| matches!(p.ending, Ending::Slip { .. })).unwrap();
    let cosine = pieces[slips].end()[1].position.z / reach;
    let sine = pieces[slips].end()[1].position.xy().norm() / reach;
    let excess = 2.0 * sine - coefficient * (17.0 * cosine - 10.0 * start_angle.cos());
    println!("slips at {:.3} rad, off by {excess:.1e}", sine.atan2(cosine));
    assert!(excess.abs() < 1e-14);
    assert!(matches!(pieces[slips + 1].modes()[0], Mode::Slip { .. }));
    let last = pieces.last().unwrap();
    assert!(matches!(last.ending, Ending::LiftOff { contact: 0, .. }));
    // It leaves later than a smooth one would, sooner than one that rolls.
    let cosine = last.end()[1].position.z / reach;
    assert!(cosine < 2.0 / 3.0 * start_angle.cos() && cosine > 10.0 / 17.0 * start_angle.cos(), "{cosine}");
    let work: f64 = pieces.iter().map(|p| p.friction_work(0, p.until)).sum();
    let lost = sliding.energy(last.end()) - sliding.energy(&states);
    println!("  leaves at {:.3} rad, friction took {work:.6}, off by {:.1e}", cosine.acos(), work - lost);
    assert!((work - lost).abs() < 1e-13);
}

/// An ellipsoid rolling on a rough plane: no slip, no loss.
#[test]
fn an_ellipsoid_rolls() {
    let egg = solid(Shape::Ellipsoid { semi_axes: [1.0, 0.8, 0.6] }, 1.3);
    let floor = plane(Vector3::z(), 0.0);
    let flow = Flow::new(&[egg], &[floor], down(), &on_plane(Surface::Rough));
    let mut states = [State {
        orientation: UnitQuaternion::from_scaled_axis(Vector3::new(0.3, 0.4, -0.2)),
        angular_velocity: Vector3::new(1.6, -0.4, 1.0),
        ..State::at(Vector3::new(0.0, 0.0, 0.7))
    }];
    flow.project(&mut states).unwrap();
    let energy = flow.energy(&states);
    let pieces = run(&flow, &states, 30.0);
    let mut worst = [0.0f64; 3];
    for piece in &pieces {
        for i in 0..=3 {
            let now = piece.at(0, piece.from + (piece.until - piece.from) * f64::from(i) / 3.0);
            let at = gap_to_plane(&egg.shape, &now.pose(), &floor);
            worst[0] = worst[0].max((flow.energy(&[now]) / energy - 1.0).abs());
            worst[1] = worst[1].max(at.gap.abs());
            worst[2] = worst[2].max(now.velocity_at(&at.points[0]).norm());
        }
    }
    println!(
        "rolling egg: {} pieces to {}, energy {:.1e}, gap {:.1e}, slip {:.1e}",
        pieces.len(),
        pieces.last().unwrap().until,
        worst[0],
        worst[1],
        worst[2]
    );
    assert_eq!(pieces.last().unwrap().ending, Ending::Until);
    assert!(worst[0] < 1e-13 && worst[1] < 5e-15 && worst[2] < 2e-14);
}

/// An ellipsoid thrown along a floor with friction slides, rolls and slides again as its shape demands; what friction takes is
/// what is missing, and friction never exceeds its limit.
#[test]
fn an_ellipsoid_with_friction() {
    let egg = solid(Shape::Ellipsoid { semi_axes: [0.5, 0.45, 0.4] }, 1.3);
    let floor = plane(Vector3::z(), 0.0);
    let coefficient = 0.25;
    let flow = Flow::new(&[egg], &[floor], down(), &on_plane(Surface::Coulomb(coefficient)));
    let mut states = [State {
        orientation: UnitQuaternion::from_scaled_axis(Vector3::new(0.3, 0.4, -0.2)),
        velocity: Vector3::new(1.0, 0.3, 0.0),
        angular_velocity: Vector3::new(0.6, -0.4, 1.0),
        ..State::at(Vector3::new(0.0, 0.0, 0.45))
    }];
    flow.project(&mut states).unwrap();
    let pieces = run(&flow, &states, 10.0);
    let changes: Vec<Ending> = pieces.iter().map(|p| p.ending).filter(|e| *e != Ending::Step).collect();
    let work: f64 = pieces.iter().map(|p| p.friction_work(0, p.until)).sum();
    let lost = flow.energy(pieces.last().unwrap().end()) - flow.energy(&states);
    println!("egg with friction: {} pieces to {}, {changes:?}", pieces.len(), pieces.last().unwrap().until);
    println!("  work {work:.9}, off by {:.1e}", work - lost);
    assert!((work - lost).abs() < 1e-12);
    for piece in &pieces {
        for i in 0..=5 {
            let force = piece.force(0, piece.from + (piece.until - piece.from) * f64::from(i) / 5.0);
            // The direction hangs on the last digits of the slip where that comes to rest.
            assert!(force.friction.norm() <= coefficient * force.normal * (1.0 + 1e-6));
        }
    }
}

/// A ball at rest under friction, on an incline that it would roll down: it does; a ball on the flat rests.
#[test]
fn rest_with_friction() {
    let ball = solid(Shape::Sphere { radius: 0.5 }, 1.0);
    let start = State::at(Vector3::new(0.0, 0.0, 0.5));
    let flow = Flow::new(&[ball], &[plane(Vector3::z(), 0.0)], down(), &on_plane(Surface::Coulomb(0.3)));
    let piece = flow.advance(&[start], 0.0, 50.0).unwrap();
    assert!(piece.rests() && piece.until == 50.0);
}

/// A thin rod dragged at a slant with much friction: sliding would need a force that pulls (Painlevé).
#[test]
fn friction_can_jam() {
    let rod = solid(Shape::Ellipsoid { semi_axes: [1.0, 0.01, 0.01] }, 1.0);
    let angle: f64 = 0.9;
    let height = (angle.sin()).hypot(0.01 * angle.cos());
    let mut states = [State {
        orientation: UnitQuaternion::from_scaled_axis(Vector3::new(0.0, angle, 0.0)),
        velocity: Vector3::new(2.0, 0.0, 0.0),
        ..State::at(Vector3::new(0.0, 0.0, height))
    }];
    let floor = plane(Vector3::z(), 0.0);
    let flow = Flow::new(&[rod], &[floor], down(), &on_plane(Surface::Coulomb(2.5)));
    flow.project(&mut states).unwrap();
    let forward = flow.advance(&states, 0.0, 1.0).map(|piece| piece.ending);
    states[0].velocity.x = -2.0;
    let backward = flow.advance(&states, 0.0, 1.0).map(|piece| piece.ending);
    println!("{forward:?} {backward:?}");
    assert!((forward == Err(Obstacle::Jam)) != (backward == Err(Obstacle::Jam)));
}
