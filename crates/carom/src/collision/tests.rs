//! The closed forms against the impact solver, on the same contacts.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use nalgebra::{Unit, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::spheres::Spheres;
use super::{Cluster, ClusterContact};
use crate::body::{Body, State};
use crate::contact::{Side, Surface};
use crate::gap::{gap, gap_to_plane};
use crate::run::World;
use crate::scene::{Format, file};
use crate::shape::{HalfSpace, Shape};

fn vector(source: &mut ChaCha8Rng) -> Vector3<f64> {
    Vector3::from_fn(|_, _| source.random_range(-1.0..1.0))
}

fn shape(source: &mut ChaCha8Rng, ball: bool) -> Shape {
    let mut axis = || source.random_range(0.3..1.2);
    let semi_axes = [axis(), axis(), axis()];
    match source.random_range(0..3) {
        _ if ball => Shape::Sphere { radius: semi_axes[0] },
        0 => Shape::Sphere { radius: semi_axes[0] },
        1 => Shape::Ellipsoid { semi_axes },
        _ => Shape::Superellipsoid { semi_axes, exponent: 4.0 },
    }
}

/// Two bodies, or a body and a plane, brought to touch, closing; the second of two may stand fast.
fn touching(source: &mut ChaCha8Rng, balls: bool) -> (World, Cluster<()>) {
    let empty = "carom = 1\n[[body]]\nname = 'b'\nshape = { point = {} }\nmass = 1\ninertia = [1, 1, 1]\n";
    let (mut world, _) = World::of(&file::read(empty, Format::Toml).unwrap());
    let mut body = |fixed: bool| {
        let shape = shape(source, balls);
        let mass = source.random_range(0.1..10.0);
        let mut state = State::at(vector(source));
        state.orientation = Unit::new_normalize(nalgebra::Quaternion::new(
            1.0,
            source.random_range(-1.0..1.0),
            source.random_range(-1.0..1.0),
            source.random_range(-1.0..1.0),
        ));
        if !fixed {
            (state.velocity, state.angular_velocity) = (vector(source), vector(source));
        }
        (Body { shape, mass, inertia: shape.unit_inertia() * mass, fixed }, state)
    };
    let (first, second) = (body(false), body(false));
    let with_plane = !balls && source.random_range(0..3) == 0;
    let stands_fast = source.random_range(0..4) == 0;
    let (mut bodies, mut states) = (vec![first.0, second.0], vec![first.1, second.1]);
    let away = Unit::new_normalize(vector(source));
    let (sides, found) = if with_plane {
        (bodies, states) = (vec![first.0], vec![first.1]);
        let plane = HalfSpace { normal: away, offset: 0.0 };
        let high = gap_to_plane(&bodies[0].shape, &states[0].pose(), &plane).gap;
        world.planes = vec![plane];
        states[0].position -= away.into_inner() * high;
        ([Side::Plane(0), Side::Body(0)], gap_to_plane(&bodies[0].shape, &states[0].pose(), &plane))
    } else {
        bodies[1].fixed = stands_fast;
        if stands_fast {
            (states[1].velocity, states[1].angular_velocity) = (Vector3::zeros(), Vector3::zeros());
        }
        states[1].position = states[0].position + away.into_inner() * 5.0;
        let measure = |states: &[State]| {
            gap((&bodies[0].shape, &states[0].pose()), (&bodies[1].shape, &states[1].pose())).unwrap()
        };
        // Along the normal, which turns a little each time.
        for _ in 0..60 {
            let far = measure(&states);
            states[1].position -= far.normal * far.gap;
        }
        ([Side::Body(0), Side::Body(1)], measure(&states))
    };
    let mut contact = ClusterContact {
        key: (),
        sides,
        image: [0; 3],
        shift: Vector3::zeros(),
        found,
        restitution: source.random_range(0.0..1.0),
        surface: Surface::Smooth,
        growing: 0.0,
        approach: 0.0,
        separation: 0.0,
        impulse: 0.0,
        impulse_vector: Vector3::zeros(),
        by_joint: false,
    };
    let rate = |states: &[State]| {
        let of = |side: Side| match side {
            Side::Body(b) => states[b].velocity_at(&contact.point()).dot(&found.normal),
            Side::Plane(_) => 0.0,
        };
        of(sides[1]) - of(sides[0])
    };
    if rate(&states) > 0.0 {
        states.iter_mut().for_each(|state| {
            (state.velocity, state.angular_velocity) = (-state.velocity, -state.angular_velocity);
        });
    }
    contact.approach = rate(&states);
    world.radius = bodies.iter().map(|body| body.shape.circumradius()).collect();
    world.bodies = bodies;
    let members = (0..states.len()).collect();
    let cluster = Cluster {
        bodies: members,
        before: states.clone(),
        after: states,
        contacts: vec![contact],
        joints: Vec::new(),
    };
    (world, cluster)
}

/// How far two outcomes of one cluster are apart, over the speeds and impulses there.
fn apart(one: &Cluster<()>, two: &Cluster<()>) -> f64 {
    let speed = one.before.iter().map(|s| s.velocity.norm() + s.angular_velocity.norm()).sum::<f64>();
    let states = one.after.iter().zip(&two.after).map(|(a, b)| {
        ((a.velocity - b.velocity).norm() + (a.angular_velocity - b.angular_velocity).norm()) / speed
    });
    let impulse = one.contacts[0].impulse;
    let impulses = (one.contacts[0].impulse_vector - two.contacts[0].impulse_vector).norm() / impulse;
    states.fold(impulses, f64::max)
}

#[test]
fn closed_form_of_a_pair_and_impact_solver() {
    let mut source = ChaCha8Rng::seed_from_u64(22);
    let mut worst: f64 = 0.0;
    for case in 0..2000 {
        let (world, cluster) = touching(&mut source, false);
        if cluster.contacts[0].approach == 0.0 {
            continue;
        }
        let (mut closed, mut general) = (cluster.clone(), cluster);
        assert!(closed.resolve(&world) && general.resolve_generally(&world), "{case}");
        worst = worst.max(apart(&closed, &general));
        assert!(worst < 1e-12, "{case}: {worst:e}");
    }
    println!("closed form and solver are apart by {worst:.1e} at most");
}

#[test]
fn closed_form_of_spheres_and_impact_solver() {
    let mut source = ChaCha8Rng::seed_from_u64(23);
    let mut worst: f64 = 0.0;
    for case in 0..2000 {
        let (world, cluster) = touching(&mut source, true);
        let contact = &cluster.contacts[0];
        let (one, two) = (&cluster.before[0], &cluster.before[1]);
        let x = two.position - one.position;
        let inverse = |k: usize| if world.bodies[k].fixed { 0.0 } else { world.bodies[k].mass.recip() };
        let spheres = Spheres {
            x,
            v: two.velocity - one.velocity,
            square: x.norm_squared(),
            distance: x.norm(),
            growing: 0.0,
            inverse_masses: [inverse(0), inverse(1)],
        };
        let (impulse, vector) = spheres.impulse(contact.restitution);
        let mut closed = cluster.clone();
        closed.after[0].velocity -= vector * inverse(0);
        closed.after[1].velocity += vector * inverse(1);
        (closed.contacts[0].impulse, closed.contacts[0].impulse_vector) = (impulse, vector);
        let mut general = cluster;
        assert!(general.resolve_generally(&world), "{case}");
        worst = worst.max(apart(&closed, &general));
        assert!(worst < 1e-12, "{case}: {worst:e}");
    }
    println!("closed form of spheres and solver are apart by {worst:.1e} at most");
}
