//! Impacts that are spoiled, and bodies that are moved: the audit of a crowd must see each.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use nalgebra::Vector3;

use super::cluster::Cluster;
use super::next_event::PLANE;
use super::{Edmd, Settings, World};
use crate::collision::spoiled::{failed, spoil};
use crate::contact::Side;
use crate::scene::{Format, file};

fn crowd(text: &str) -> Edmd {
    let scene = file::read(&format!("carom = 1\n{text}"), Format::Toml).unwrap();
    let (world, states) = World::of(&scene);
    Edmd::new(world, &states, Settings::default()).unwrap()
}

/// A crowd at its first contact, and that impact.
fn impact(text: &str) -> (Edmd, Cluster, f64) {
    let mut crowd = crowd(text);
    loop {
        let (body, t) = crowd.first().unwrap();
        let due = crowd.next_event(body);
        let body = body as usize;
        if due.with == super::LEAVE {
            crowd.move_neighbourhood(body, t);
            continue;
        }
        if due.with == super::REPREDICT {
            crowd.repredict(body, t, None);
            continue;
        }
        let pair = crowd.pair(body, due.with, due.image);
        let mut cluster = Cluster::default();
        crowd.take_in(&mut cluster, &pair, t);
        let contact = crowd.encounter(&pair, t, &cluster).unwrap();
        cluster.contacts.push(contact);
        assert!(cluster.resolve(&crowd.world));
        crowd.clock.now = t;
        return (crowd, cluster, t);
    }
}

fn wrong(crowd: &Edmd, cluster: &Cluster, t: f64) -> Vec<&'static str> {
    let mut crowd = crowd.clone();
    crowd.audit_event(cluster, t);
    failed(&crowd.audit())
}

const EGGS: &str = "
[[body]]
name = 'a'
shape = { ellipsoid = { semi_axes = [1, 0.5, 0.4] } }
mass = 2
orientation = [0.9, 0.1, 0.3, 0.2]
velocity = [0.4, 0, 0]
angular_velocity = [0.2, 0.3, -0.4]
[[body]]
name = 'b'
shape = { superellipsoid = { semi_axes = [0.5, 0.7, 0.6], exponent = 4 } }
mass = 1
position = [3, 0.3, 0.2]
velocity = [-1, 0, 0.1]
[surface]
restitution = 0.6
";

const WALL: &str = "
[[body]]
name = 'egg'
shape = { ellipsoid = { semi_axes = [1, 0.5, 0.4] } }
mass = 2
position = [0, 0, 2]
orientation = [0.9, 0.1, 0.3, 0.2]
velocity = [0.4, 0, -1]
[[plane]]
name = 'floor'
normal = [0, 0, 1]
";

#[test]
fn a_good_impact_passes_and_each_spoiled_one_fails() {
    for (name, text) in
        [("eggs", EGGS), ("wall", WALL), ("rubbing", &format!("{EGGS}kind = {{ coulomb = 0.2 }}"))]
    {
        let (crowd, good, t) = impact(text);
        assert_eq!(wrong(&crowd, &good, t), Vec::<&str>::new(), "{name}");
        for (what, fails, bad) in spoil(&crowd.world, &good) {
            let found = wrong(&crowd, &bad, t);
            assert!(found.contains(&fails), "{name}, {what}: {found:?}");
        }
    }
}

#[test]
fn a_body_moved_into_another_or_into_a_wall_is_seen() {
    for (text, sides) in [(EGGS, [Side::Body(0), Side::Body(1)]), (WALL, [Side::Plane(0), Side::Body(0)])] {
        let mut crowd = crowd(text);
        crowd.look_around();
        assert!(crowd.audit().gap_min > 0.0);
        let last = crowd.place[crowd.place.len() - 1] as usize;
        crowd.hot[last].line.position = Vector3::new(0.9, 0.0, 0.3);
        crowd.compare();
        let audit = crowd.audit();
        assert!(audit.gap_min < -0.01, "{audit:?}");
        assert_eq!(audit.overlap_max.sides, Some(sides));
    }
}

/// Two balls touch and close, and nothing is due: that they were left out is seen before they overlap.
#[test]
fn a_contact_that_is_left_out_is_seen() {
    let ball = |name: &str, x: f64| {
        format!(
            "[[body]]\nname = '{name}'\nshape = {{ sphere = {{ radius = 0.5 }} }}\nmass = 1\nposition = [{x}, 0, 0]\n"
        )
    };
    let mut crowd = crowd(&[ball("a", 0.0), ball("b", 1.0), ball("c", 5.0)].concat());
    let a = crowd.place[0];
    crowd.hot[a as usize].line.velocity = Vector3::x();
    crowd.ledger.involved.extend([0, 1]);
    crowd.look_around();
    assert!(crowd.audit().unilateral_error_max.value == 0.0, "not overdue yet");
    assert!(a < PLANE);
    crowd.clock.now = 1e-9;
    crowd.look_around();
    let audit = crowd.audit();
    assert!(audit.unilateral_error_max.value > 0.5, "{audit:?}");
    assert_eq!(audit.unilateral_error_max.sides, Some([Side::Body(0), Side::Body(1)]));
}
