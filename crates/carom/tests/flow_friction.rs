//! Rolling, sliding and sticking of held contacts against their closed forms. Figures are printed;
//! `cargo test --test flow_friction -- --nocapture`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use carom::body::{Body, State};
use carom::contact::{Side, Surface};
use carom::flow::{DenseStep, Ending, Expected, Flow, Held, Mode, Obstacle};
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
fn run(flow: &Flow, states: &[State], until: f64) -> Vec<DenseStep> {
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

/// ∫λ dt and the impulse of friction / what momentum changed by, through slips that turn until they end: an egg thrown along a floor.
#[test]
fn impulses_are_what_momentum_changes_by() {
    let mass = 1.3;
    let egg = solid(Shape::Ellipsoid { semi_axes: [0.3, 0.2, 0.25] }, mass);
    let (mut worst, mut stops): (f64, usize) = (0.0, 0);
    for k in 0..24 {
        let k = f64::from(k);
        let coefficient = 0.3 + 0.02 * k;
        let surface = on_plane(Surface::Coulomb(coefficient));
        let flow = Flow::new(&[egg], &[plane(Vector3::z(), 0.0)], down(), &surface);
        let start = State {
            velocity: Vector3::new((0.9 * k).cos(), (0.9 * k).sin(), 0.0) * 0.6,
            angular_velocity: Vector3::new((1.7 * k).sin(), (2.3 * k).cos(), 1.0) * 1.5,
            ..State::at(Vector3::new(0.0, 0.0, 0.25))
        };
        let pieces = run(&flow, &[start], 0.6);
        stops += pieces.iter().filter(|piece| matches!(piece.ending, Ending::Stick { .. })).count();
        let mut sum = Vector3::zeros();
        for piece in &pieces {
            let impulse = piece.impulse(0, piece.until);
            sum += Vector3::z() * impulse.normal + impulse.friction;
        }
        let last = pieces.last().unwrap();
        let gained = (last.end()[0].velocity - start.velocity - down() * last.until) * mass;
        worst = worst.max((sum - gained).norm() / (mass * G * last.until));
    }
    println!("impulses through {stops} ends of slip: off by {worst:.1e}");
    assert!(stops >= 20 && worst < 1e-13);
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

/// What friction took over pieces, at all contacts.
fn friction_work(pieces: &[DenseStep], contacts: usize) -> f64 {
    pieces.iter().map(|p| (0..contacts).map(|i| p.friction_work(i, p.until)).sum::<f64>()).sum()
}

/// A body that does not turn slides to rest in v²/(2μg): here by an inertia beside which friction's moment is nothing. An
/// ellipsoid set down on an axis.
#[test]
fn a_body_that_does_not_turn_slides_to_rest() {
    let (speed, coefficient): (f64, f64) = (3.0, 0.4);
    let mut body = solid(Shape::Ellipsoid { semi_axes: [0.5, 0.3, 0.2] }, 1.0);
    body.inertia = Vector3::repeat(1e17);
    let surface = Surface::Coulomb(coefficient);
    let flow = Flow::new(&[body], &[plane(Vector3::z(), 0.0)], down(), &on_plane(surface));
    let start = State { velocity: Vector3::new(speed, 0.0, 0.0), ..State::at(Vector3::new(0.0, 0.0, 0.2)) };
    let pieces = run(&flow, &[start], 5.0);
    let end = pieces.last().unwrap().end()[0];
    let way = speed * speed / (2.0 * coefficient * G);
    println!("slides {:.15}, off by {:.1e}", end.position.x, end.position.x - way);
    assert!((end.position.x - way).abs() < 1e-13 && end.velocity.norm() < 1e-14);
    let stop = pieces.iter().find(|p| matches!(p.ending, Ending::Stick { .. })).unwrap();
    assert!((stop.until - speed / (coefficient * G)).abs() < 1e-13);
    assert!((friction_work(&pieces, 1) + 0.5 * speed * speed).abs() < 1e-13);
}

/// A ball in a V-groove whose sides have the angle β with the horizontal: N = mg/(2 cos β) at each side. Thrown along the groove it
/// slides with a = −μg/cos β and turns with ω' = (5/2) μg/r; the slip v − ωr cos β comes to rest after
/// v / (μg (1/cos β + (5/2) cos β)), and from there it rolls.
#[test]
fn a_ball_in_a_groove_slides_and_rolls() {
    let (radius, mass, coefficient, speed) = (0.5, 1.3, 0.3, 1.0);
    for tilt in [0.3f64, std::f64::consts::FRAC_PI_4, 1.1] {
        let (sine, cosine) = tilt.sin_cos();
        let sides = [Vector3::new(0.0, sine, cosine), Vector3::new(0.0, -sine, cosine)];
        let ball = solid(Shape::Sphere { radius }, mass);
        let contacts: Vec<Held> = (0..2)
            .map(|k| Held::new([Side::Plane(k), Side::Body(0)], Surface::Coulomb(coefficient)))
            .collect();
        let planes = sides.map(|normal| plane(normal, 0.0));
        let flow = Flow::new(&[ball], &planes, down(), &contacts);
        let velocity = Vector3::new(speed, 0.0, 0.0);
        let start = State { velocity, ..State::at(Vector3::new(0.0, 0.0, radius / cosine)) };
        assert_eq!(flow.holding(&[start]).unwrap().holds, [true, true]);
        let pieces = run(&flow, &[start], 1.0);
        let time = speed / (coefficient * G * (1.0 / cosine + 2.5 * cosine));
        let stuck = pieces.iter().position(|p| matches!(p.ending, Ending::Stick { .. })).unwrap();
        let found = &pieces[stuck];
        let pace = speed - coefficient * G * time / cosine;
        let spin = 2.5 * coefficient * G * time / radius;
        let after = found.end()[0];
        println!(
            "groove {tilt:.2}: rolls after {time:.6}, off by {:.1e}; speed off by {:.1e}, spin by {:.1e}; {} pieces",
            found.until - time,
            after.velocity.x - pace,
            after.angular_velocity.norm() - spin,
            pieces.len()
        );
        assert!((found.until - time).abs() < 1e-13);
        assert!((after.velocity.x - pace).abs() < 1e-13);
        assert!((after.angular_velocity - Vector3::new(0.0, spin, 0.0)).norm() < 1e-12);
        let end = pieces.last().unwrap();
        assert_eq!(end.modes(), [Mode::Stick, Mode::Stick]);
        assert!((end.end()[0].velocity.x - pace).abs() < 1e-13);
        let middle = 0.5 * (pieces[0].from + pieces[0].until);
        for k in 0..2 {
            let force = pieces[0].force(k, middle);
            assert!((force.normal - mass * G / (2.0 * cosine)).abs() < 1e-12 * mass * G);
            assert!((force.friction.x + coefficient * force.normal).abs() < 1e-12 * mass * G);
            // Rolling, the friction that is not unique is within its limit.
            let rolling = end.force(k, end.until);
            assert!(rolling.normal > 0.0 && rolling.friction.norm() <= coefficient * rolling.normal);
        }
        let lost = flow.energy(end.end()) - flow.energy(&[start]);
        assert!((friction_work(&pieces, 2) - lost).abs() < 1e-14 * mass * G);
    }
}

/// In a groove that falls at the angle α, from rest: it rolls with a = g sin α/(1 + (2/5)/cos²β) if that takes no more friction
/// than there is, (2/5) a m/cos²β ≤ μ m g cos α/cos β, and slides otherwise with a = g (sin α − μ cos α/cos β).
#[test]
fn a_ball_in_a_falling_groove() {
    let (radius, mass, tilt, fall) = (0.2, 0.7, 0.6f64, 0.4f64);
    let cosine = tilt.cos();
    let gravity = Vector3::new(G * fall.sin(), 0.0, -G * fall.cos());
    let rolling = G * fall.sin() / (1.0 + 0.4 / (cosine * cosine));
    let needed = 0.4 * rolling / (cosine * G * fall.cos());
    for share in [0.5, 0.99, 1.01, 2.0] {
        let coefficient = share * needed;
        let ball = solid(Shape::Sphere { radius }, mass);
        let sides = [Vector3::new(0.0, tilt.sin(), cosine), Vector3::new(0.0, -tilt.sin(), cosine)];
        let contacts: Vec<Held> = (0..2)
            .map(|k| Held::new([Side::Plane(k), Side::Body(0)], Surface::Coulomb(coefficient)))
            .collect();
        let flow = Flow::new(&[ball], &sides.map(|n| plane(n, 0.0)), gravity, &contacts);
        let start = State::at(Vector3::new(0.0, 0.0, radius / cosine));
        let pieces = run(&flow, &[start], 1.0);
        let end = pieces.last().unwrap().end()[0];
        let expected =
            if share > 1.0 { rolling } else { G * (fall.sin() - coefficient * fall.cos() / cosine) };
        println!("falling groove, {share} of the friction: off by {:.1e}", end.velocity.x - expected);
        assert!((end.velocity.x - expected).abs() < 1e-12);
        let lost = flow.energy(&[end]) - flow.energy(&[start]);
        assert!((friction_work(&pieces, 2) - lost).abs() < 1e-13 * mass * G);
    }
}

/// An ellipsoid of revolution that spins upright on its pole: a point contact has no moment about the normal.
#[test]
fn an_upright_spin_goes_on() {
    let egg = solid(Shape::Ellipsoid { semi_axes: [0.4, 0.4, 0.3] }, 1.0);
    let flow = Flow::new(&[egg], &[plane(Vector3::z(), 0.0)], down(), &on_plane(Surface::Coulomb(0.5)));
    let spin = Vector3::new(0.0, 0.0, 2.0);
    let start = State { angular_velocity: spin, ..State::at(Vector3::new(0.0, 0.0, 0.3)) };
    let pieces = run(&flow, &[start], 10.0);
    let end = pieces.last().unwrap().end()[0];
    assert!((end.angular_velocity - spin).norm() < 1e-13 && end.velocity.norm() < 1e-13);
    assert!(friction_work(&pieces, 1).abs() < 1e-15);
}

/// Eggs of all kinds thrown and spun on a floor with friction: what is missing is what friction took, whatever slips, sticks and
/// slips again, and friction is within its limit.
#[test]
fn eggs_rub() {
    let mut most = [0.0f64; 2];
    let mut changes = [0usize; 2];
    for k in 0..24u32 {
        let x = |i: u32| f64::from((k * 7919 + i * 104_729 + 13) % 1000) / 1000.0;
        let semi_axes = [0.2 + 0.5 * x(0), 0.2 + 0.5 * x(1), 0.2 + 0.5 * x(2)];
        let egg = solid(Shape::Ellipsoid { semi_axes }, 0.5 + x(3));
        let coefficient = 0.05 + 0.5 * x(4);
        let floor = plane(Vector3::z(), 0.0);
        let flow = Flow::new(&[egg], &[floor], down(), &on_plane(Surface::Coulomb(coefficient)));
        let mut states = [State {
            orientation: UnitQuaternion::from_scaled_axis(Vector3::new(x(5), 2.0 * x(6), x(7))),
            velocity: Vector3::new(x(8) - 0.5, x(9) - 0.5, 0.0) * 2.0,
            angular_velocity: Vector3::new(x(10) - 0.5, x(11) - 0.5, x(12) - 0.5) * 2.0,
            ..State::at(Vector3::new(0.0, 0.0, 0.4))
        }];
        let found = gap_to_plane(&egg.shape, &states[0].pose(), &floor);
        states[0].position.z -= found.gap;
        flow.project(&mut states).unwrap();
        let pieces = run(&flow, &states, 2.0);
        let energy = flow.energy(&states);
        let lost = flow.energy(pieces.last().unwrap().end()) - energy;
        most[0] = most[0].max((friction_work(&pieces, 1) - lost).abs() / energy);
        for piece in &pieces {
            changes[0] += usize::from(matches!(piece.ending, Ending::Stick { .. }));
            changes[1] += usize::from(matches!(piece.ending, Ending::Slip { .. }));
            let force = piece.force(0, 0.5 * (piece.from + piece.until));
            most[1] = most[1].max(force.friction.norm() / (coefficient * force.normal) - 1.0);
        }
    }
    println!(
        "eggs: {changes:?} ends of slip and of sticking, energy {:.1e}, friction {:.1e}",
        most[0], most[1]
    );
    assert!(changes[0] >= 10 && changes[1] >= 10);
    assert!(most[0] < 1e-13 && most[1] < 1e-6);
}

/// A ball at rest in the corner of three planes with friction stays; the forces are not unique. Those shown balance the weight,
/// push, and are within their cones.
#[test]
fn a_ball_rests_in_a_corner() {
    let (radius, mass, coefficient) = (0.3, 2.0, 0.2);
    let ball = solid(Shape::Sphere { radius }, mass);
    let planes = [Vector3::x(), Vector3::y(), Vector3::z()].map(|normal| plane(normal, 0.0));
    let contacts: Vec<Held> =
        (0..3).map(|k| Held::new([Side::Plane(k), Side::Body(0)], Surface::Coulomb(coefficient))).collect();
    let gravity = Vector3::new(-3.0, -4.0, -G);
    let flow = Flow::new(&[ball], &planes, gravity, &contacts);
    let start = State::at(Vector3::repeat(radius));
    let piece = flow.advance(&[start], 0.0, 100.0).unwrap();
    assert!(piece.rests() && piece.until == 100.0);
    let (mut sum, mut moment) = (gravity * mass, Vector3::zeros());
    for (k, plane) in planes.iter().enumerate() {
        let force = piece.force(k, 50.0);
        assert!(force.normal > 0.0 && force.friction.norm() <= coefficient * force.normal);
        let total = *plane.normal * force.normal + force.friction;
        sum += total;
        moment += (-*plane.normal * radius).cross(&total);
    }
    assert!(sum.norm() < 1e-13 * mass * G && moment.norm() < 1e-13 * mass * G);
}

/// A rough contact that would have to be pulled in order not to slip has no grip: it goes on in contact, slips and keeps its
/// energy.
#[test]
fn a_rough_contact_can_lose_its_grip() {
    let egg = solid(Shape::Ellipsoid { semi_axes: [0.5, 0.3, 0.2] }, 1.0);
    let floor = plane(Vector3::z(), 0.0);
    let gravity = Vector3::new(-3.0, -4.0, -G);
    let flow = Flow::new(&[egg], &[floor], gravity, &on_plane(Surface::Rough));
    let (mut lost, mut lifted) = (0, 0);
    for k in 0..40u32 {
        let x = |i: u32| f64::from((k * 7919 + i * 104_729 + 13) % 1000) / 1000.0 - 0.5;
        let mut states = [State {
            orientation: UnitQuaternion::from_scaled_axis(Vector3::new(x(0), x(1), x(2)) * 4.0),
            angular_velocity: Vector3::new(x(3), x(4), x(5)) * 6.0,
            ..State::at(Vector3::new(0.0, 0.0, 1.0))
        }];
        let found = gap_to_plane(&egg.shape, &states[0].pose(), &floor);
        states[0].position.z -= found.gap;
        flow.project(&mut states).unwrap();
        let pieces = run(&flow, &states, 1.5);
        let last = pieces.last().unwrap();
        if !matches!(last.ending, Ending::LiftOff { .. }) {
            continue;
        }
        // Its force has come down to nothing. Either the body rises from here, or it is pressed as soon as it slips.
        let without = flow.acceleration_without(last.end(), 0).unwrap();
        let piece = flow.advance(last.end(), 0.0, 0.05).unwrap();
        assert_eq!(flow.is_slack(&piece), without < 0.0);
        if without < 0.0 {
            lost += 1;
            assert!(piece.until > 0.0 && piece.force(0, 0.0).normal > 0.0);
            assert!((flow.energy(piece.end()) / flow.energy(piece.start()) - 1.0).abs() < 1e-13);
        } else {
            lifted += 1;
        }
    }
    println!("{lost} lose their grip, {lifted} lift off");
    assert!(lost > 0 && lifted > 0);
}

/// A ball on a floor beside a smooth wall, drawn away from it by less than friction could hold. While it slips away from the wall
/// friction presses it there, with μ m g − m a; once the slip has stopped it rolls off, with 5/7 a. A slip below the rest speed is stopped
/// where it is decided which contacts hold, as in the motion that follows.
#[test]
fn a_slip_below_the_rest_speed_does_not_press_a_ball_to_a_wall() {
    let (radius, mass, friction, pull) = (0.2, 1.7, 0.3, 1.1);
    let ball = solid(Shape::Sphere { radius }, mass);
    let contacts = [
        Held::new([Side::Plane(0), Side::Body(0)], Surface::Coulomb(friction)),
        Held::new([Side::Plane(1), Side::Body(0)], Surface::Smooth),
    ];
    let planes = [plane(Vector3::z(), 0.0), plane(Vector3::x(), 0.0)];
    let flow = Flow::new(&[ball], &planes, Vector3::new(pull, 0.0, -G), &contacts);
    let slip = 1e-7;
    let start = State {
        angular_velocity: Vector3::new(0.0, -slip / radius, 0.0),
        ..State::at(Vector3::new(radius, 0.0, radius))
    };
    let pressed = flow.holding(&[start]).unwrap();
    assert_eq!(pressed.holds, [true, true]);
    assert!((pressed.forces[1] - mass * (friction * G - pull)).abs() < 1e-12, "{pressed:?}");
    let stopping = flow.expecting(Expected { rest_slip: 1e-6, ..Expected::default() });
    let found = stopping.holding(&[start]).unwrap();
    assert_eq!(found.holds, [true, false]);
    assert!((found.accelerations[1] - 5.0 / 7.0 * pull).abs() < 1e-12, "{found:?}");
    // Spoiled: a slip above the rest speed is none of these.
    let faster = State { angular_velocity: start.angular_velocity * 100.0, ..start };
    assert_eq!(stopping.holding(&[faster]).unwrap().holds, [true, true]);
}
