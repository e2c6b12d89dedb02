//! Spoiled impacts, and bodies that were moved: the audit must find each of them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use nalgebra::Vector3;

use super::encounter::Cluster;
use super::{Edmd, LEAVE, REPREDICT, Settings, World};
use crate::collision::spoiled::{failed, spoil};
use crate::contact::Side;
use crate::scene::{Format, file};

fn edmd(text: &str) -> Edmd {
    let scene = file::read(&format!("carom = 1\n{text}"), Format::Toml).unwrap();
    let (world, states) = World::of(&scene);
    Edmd::new(world, &states, Settings::default()).unwrap()
}

/// A run at its first contact, and that impact.
fn impact(text: &str) -> (Edmd, Cluster, f64) {
    let mut edmd = edmd(text);
    loop {
        let (body, t) = edmd.first_event().unwrap();
        let i = body as usize;
        let next = edmd.system.particles.next_event(i);
        if next.partner == LEAVE {
            edmd.leave_neighbourhood(i, t);
            continue;
        }
        if next.partner == REPREDICT {
            edmd.repredict(i, t, None);
            continue;
        }
        let pair = edmd.system.pair(i, next.partner, next.image);
        let mut cluster = Cluster::default();
        edmd.system.add_bodies(&mut cluster, &pair, t);
        let contact = edmd.system.encounter(&pair, t, &cluster).unwrap();
        cluster.contacts.push(contact);
        assert!(cluster.resolve(&edmd.system.world));
        edmd.system.clock.now = t;
        return (edmd, cluster, t);
    }
}

fn wrong(edmd: &Edmd, cluster: &Cluster, t: f64) -> Vec<&'static str> {
    let mut edmd = edmd.clone();
    edmd.monitor.audit_impact(&edmd.system, cluster, t);
    failed(&edmd.audit())
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
        let (edmd, good, t) = impact(text);
        assert_eq!(wrong(&edmd, &good, t), Vec::<&str>::new(), "{name}");
        for (what, fails, bad) in spoil(&edmd.system.world, &good) {
            let found = wrong(&edmd, &bad, t);
            assert!(found.contains(&fails), "{name}, {what}: {found:?}");
        }
    }
}

#[test]
fn a_body_moved_into_another_or_into_a_wall_is_found() {
    for (text, sides) in [(EGGS, [Side::Body(0), Side::Body(1)]), (WALL, [Side::Plane(0), Side::Body(0)])] {
        let mut edmd = edmd(text);
        edmd.check_pairs();
        assert!(edmd.audit().gap_min > 0.0);
        let particles = &mut edmd.system.particles;
        let last = particles.place(particles.len() - 1);
        particles.kinematics[last].trajectory.position = Vector3::new(0.9, 0.0, 0.3);
        edmd.check();
        let audit = edmd.audit();
        assert!(audit.gap_min < -0.01, "{audit:?}");
        assert_eq!(audit.overlap_max.sides, Some(sides));
    }
}

/// Two spheres touch and approach, but have no event: this is found before they overlap.
#[test]
fn a_contact_without_an_event_is_found() {
    let sphere = |name: &str, x: f64| {
        format!(
            "[[body]]\nname = '{name}'\nshape = {{ sphere = {{ radius = 0.5 }} }}\nmass = 1\nposition = [{x}, 0, 0]\n"
        )
    };
    let mut edmd = edmd(&[sphere("a", 0.0), sphere("b", 1.0), sphere("c", 5.0)].concat());
    let particles = &mut edmd.system.particles;
    let a = particles.place(0);
    particles.kinematics[a].trajectory.velocity = Vector3::x();
    edmd.monitor.ledger.involved.extend([0, 1]);
    edmd.check_pairs();
    assert!(edmd.audit().unilateral_error_max.value == 0.0, "not overdue yet");
    edmd.system.clock.now = 1e-9;
    edmd.check_pairs();
    let audit = edmd.audit();
    assert!(audit.unilateral_error_max.value > 0.5, "{audit:?}");
    assert_eq!(audit.unilateral_error_max.sides, Some([Side::Body(0), Side::Body(1)]));
}
