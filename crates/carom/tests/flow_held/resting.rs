//! What rests, what parts, and how contacts share the load.

use carom::body::State;
use carom::contact::Side;
use carom::flow::{Ending, Flow, Held};
use carom::gap::gap_to_plane;
use carom::shape::{HalfSpace, Shape};
use nalgebra::{UnitQuaternion, Vector3};

use super::{plane, run, smooth, solid};

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
    // However long it is asked to rest, its weight is carried at every moment.
    let forever = flow.advance(&[start], 0.0, 1e300).unwrap();
    assert!((forever.impulse(0, 10.0).normal - 20.0 * 9.81).abs() < 1e-12);
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

/// Forces and accelerations of an ellipsoid at rest among planes that all touch it: none pulls, none closes, and no contact has both.
#[test]
fn holding_is_complementary() {
    let directions = [[1.0, 0.0, 0.5], [-1.0, 0.3, 0.4], [0.1, -1.0, 0.7], [0.2, 0.9, -0.5], [0.0, 0.1, 1.0]];
    let egg = solid(Shape::Ellipsoid { semi_axes: [1.0, 0.8, 0.6] }, 1.3);
    let mut held = 0;
    for round in 0..40 {
        let angle = f64::from(round);
        let pose = UnitQuaternion::from_scaled_axis(Vector3::new(angle.sin(), angle.cos(), 0.3 * angle));
        let mut rest = [State { orientation: pose, ..State::at(Vector3::zeros()) }];
        // Planes that all touch the body.
        let planes: Vec<HalfSpace> = directions
            .iter()
            .map(|&d| {
                let floor = plane(d, 0.0);
                let at = gap_to_plane(&egg.shape, &rest[0].pose(), &floor);
                HalfSpace { offset: floor.offset + at.gap, ..floor }
            })
            .collect();
        let contacts: Vec<Held> =
            (0..planes.len()).map(|i| smooth([Side::Plane(i), Side::Body(0)])).collect();
        let gravity = Vector3::new((1.3 * angle).cos() * 3.0, (0.7 * angle).sin() * 3.0, -9.81);
        let flow = Flow::new(&[egg], &planes, gravity, &contacts);
        let Ok(found) = flow.holding(&rest) else { continue };
        held += 1;
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
    assert!(held > 20, "{held}");
}
