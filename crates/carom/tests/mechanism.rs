//! Identities of impacts spoken in bodies, over random mechanisms. Each test names both sides.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, reason = "only the source of numbers is used here")]
mod random;

use carom::body::{Body, State};
use carom::contact::{Contact, Side, Surface};
use carom::impact::mechanism::{BodyOutcome, Mechanism};
use carom::impact::{Law, Options, Status};
use carom::joint::{Joint, Kind};
use carom::shape::{HalfSpace, Shape};
use nalgebra::{Isometry3, Translation3, Unit, UnitQuaternion, Vector3};
use random::Source;

struct World {
    bodies: Vec<(Body, State)>,
    joints: Vec<Joint>,
    contacts: Vec<Contact>,
}

impl World {
    fn mechanism(&self) -> Mechanism<'_> {
        Mechanism { bodies: &self.bodies, joints: &self.joints, contacts: &self.contacts }
    }

    /// Velocities projected on the joints first.
    fn solve(&self, law: Law) -> BodyOutcome {
        self.mechanism().solve(&Options { law, project: true, ..Options::default() }).unwrap()
    }
}

fn vector(source: &mut Source) -> Vector3<f64> {
    Vector3::new(source.signed(), source.signed(), source.signed())
}

fn unit(source: &mut Source) -> Unit<Vector3<f64>> {
    Unit::new_normalize(vector(source) + Vector3::new(0.0, 0.0, 1e-3))
}

/// Two to four bodies; joints between them and, if `ground`, to the ground; contacts between bodies, and with a
/// plane if `ground`.
fn world(seed: u64, ground: bool) -> World {
    let mut source = Source::new(seed);
    let count = source.pick(2, 4);
    let bodies: Vec<(Body, State)> = (0..count)
        .map(|_| {
            let axes = [0.5 + source.unit(), 0.5 + source.unit(), 0.5 + source.unit()];
            let shape = Shape::Ellipsoid { semi_axes: axes };
            let mass = 10f64.powf(source.signed());
            let state = State {
                position: vector(&mut source) * 3.0,
                orientation: UnitQuaternion::from_scaled_axis(vector(&mut source) * 3.0),
                velocity: vector(&mut source),
                angular_velocity: vector(&mut source),
            };
            (Body { shape, mass, inertia: shape.unit_inertia() * mass, fixed: false }, state)
        })
        .collect();
    let mut joints = Vec::new();
    for number in 0..source.pick(0, 3) {
        let first = source.pick(0, count - 1);
        let second = (first + source.pick(1, count - 1)) % count;
        let alone = ground && source.chance(0.5);
        let point = vector(&mut source) * 2.0;
        let kind = match source.pick(0, 6) {
            0 => Kind::Hinge { point, axis: unit(&mut source) },
            1 => Kind::Ball { point },
            2 => Kind::Slider { axis: unit(&mut source) },
            3 => Kind::Weld,
            4 if alone => {
                // A plane that the body touches, so that it can roll on it.
                let (body, state) = &bodies[first];
                let normal = unit(&mut source);
                let down = state.orientation.inverse_transform_vector(&-normal.into_inner());
                let offset = normal.dot(&state.position) - body.shape.support_height(&down);
                Kind::Rolling { plane: 0, half_space: HalfSpace { normal, offset } }
            }
            5 => {
                let length = if alone { 6 } else { 12 };
                Kind::Rows(vec![(0..length).map(|_| source.signed()).collect()])
            }
            _ => Kind::KnifeEdge { point, normal: unit(&mut source) },
        };
        // Any rows between bodies would break the balance of momentum, as nothing says they come in pairs.
        let alone = alone || matches!(kind, Kind::Rolling { .. });
        if matches!(kind, Kind::Rows(_)) && !ground {
            continue;
        }
        let bodies = if alone { vec![first] } else { vec![first, second] };
        joints.push(Joint { name: number.to_string(), bodies, kind });
    }
    let restitution = source.restitution();
    let contacts = (0..source.pick(1, 4))
        .map(|number| {
            let first = source.pick(0, count - 1);
            let second = (first + source.pick(1, count - 1)) % count;
            let with_plane = ground && source.chance(0.3);
            Contact {
                name: number.to_string(),
                sides: [if with_plane { Side::Plane(0) } else { Side::Body(first) }, Side::Body(second)],
                point: vector(&mut source) * 2.0,
                normal: unit(&mut source),
                restitution,
                surface: if source.chance(0.3) { Surface::Rough } else { Surface::Smooth },
                images: [Vector3::zeros(); 2],
            }
        })
        .collect();
    World { bodies, joints, contacts }
}

/// Momentum of all bodies, linear and about the origin.
fn momentum(world: &World, states: &[State]) -> (Vector3<f64>, Vector3<f64>) {
    let mut total = (Vector3::zeros(), Vector3::zeros());
    for ((body, _), state) in world.bodies.iter().zip(states) {
        let (linear, angular) = body.momentum(state, &Vector3::zeros());
        total = (total.0 + linear, total.1 + angular);
    }
    total
}

/// The largest velocity and spin of a list of states.
fn size(states: &[State]) -> f64 {
    states.iter().fold(0.0, |m: f64, s| m.max(s.velocity.norm()).max(s.angular_velocity.norm()))
}

fn apart(a: &[State], b: &[State]) -> f64 {
    a.iter().zip(b).fold(0.0, |m: f64, (a, b)| {
        m.max((a.velocity - b.velocity).norm()).max((a.angular_velocity - b.angular_velocity).norm())
    })
}

/// What rounding may leave, with the magnification that the outcome itself states.
fn level(result: &BodyOutcome) -> f64 {
    10.0 * result.outcome.rounding
}

const SYSTEMS: u64 = 4000;

#[test]
fn what_a_joint_forbids_stays_forbidden_and_its_resultant_balances_every_body() {
    for seed in 0..SYSTEMS {
        let world = world(seed, true);
        let result = world.solve(Law::NewtonLcp);
        let speed = size(&result.before).max(size(&result.states));
        if speed < 1e-9 {
            continue;
        }
        let force = result.contacts.iter().fold(0.0, |m: f64, c| m.max(c.impulse_vector.norm()));
        let load = result.joints.iter().fold(force, |m: f64, j| m.max(j.linear.norm()).max(j.angular.norm()));
        let allowed = level(&result);
        assert!(
            result.linear_residual <= allowed * (load + speed),
            "seed {seed}: {:e}",
            result.linear_residual
        );
        assert!(result.angular_residual <= allowed * 10.0 * (load + speed), "seed {seed}");
        for joint in &world.joints {
            let after = |k: usize| joint.bodies.get(k).map(|&b| result.states[b]);
            let first = after(0).unwrap();
            let spin = first.angular_velocity - after(1).map_or(Vector3::zeros(), |s| s.angular_velocity);
            let slip = |point: &Vector3<f64>| {
                first.velocity_at(point) - after(1).map_or(Vector3::zeros(), |s| s.velocity_at(point))
            };
            let held = match &joint.kind {
                Kind::Hinge { point, axis } => slip(point).norm().max(spin.cross(axis).norm()),
                Kind::Ball { point } => slip(point).norm(),
                Kind::Slider { axis } => slip(&first.position).cross(axis).norm().max(spin.norm()),
                Kind::Weld => slip(&first.position).norm().max(spin.norm()),
                Kind::Rolling { .. } => slip(&joint.point(&world.bodies)).norm(),
                Kind::KnifeEdge { point, normal } => slip(point).dot(normal).abs(),
                Kind::Rows(_) => 0.0,
            };
            assert!(held <= allowed * 10.0 * speed, "seed {seed} {joint:?}: {held:e}");
        }
    }
}

#[test]
fn mechanisms_free_in_space_keep_linear_and_angular_momentum() {
    for seed in 0..SYSTEMS {
        let world = world(seed, false);
        let result = world.solve(Law::NewtonLcp);
        let (before, after) = (momentum(&world, &result.before), momentum(&world, &result.states));
        let force = result.contacts.iter().fold(1.0, |m: f64, c| m.max(c.impulse_vector.norm()));
        let allowed = level(&result) * force;
        assert!((after.0 - before.0).norm() <= allowed, "seed {seed}");
        assert!((after.1 - before.1).norm() <= 10.0 * allowed, "seed {seed}");
        if result.outcome.consistent && result.outcome.status == Status::Resolved {
            // One coefficient for all rows, tangents included: no law may gain energy (T1, T4).
            assert!(result.outcome.energy.change <= allowed * result.outcome.energy.before, "seed {seed}");
        }
    }
}

/// The world turned and moved: places, velocities, joints and contacts alike.
fn moved(world: &World, by: &Isometry3<f64>) -> World {
    let place = |x: &Vector3<f64>| by.rotation.transform_vector(x) + by.translation.vector;
    let turn = |x: &Vector3<f64>| by.rotation.transform_vector(x);
    let turn_unit = |x: &Unit<Vector3<f64>>| Unit::new_normalize(turn(x));
    let bodies = world.bodies.iter().map(|(body, s)| {
        let state = State {
            position: place(&s.position),
            orientation: by.rotation * s.orientation,
            velocity: turn(&s.velocity),
            angular_velocity: turn(&s.angular_velocity),
        };
        (*body, state)
    });
    let joints = world.joints.iter().map(|joint| Joint {
        kind: match &joint.kind {
            Kind::Hinge { point, axis } => Kind::Hinge { point: place(point), axis: turn_unit(axis) },
            Kind::Ball { point } => Kind::Ball { point: place(point) },
            Kind::Slider { axis } => Kind::Slider { axis: turn_unit(axis) },
            Kind::Weld => Kind::Weld,
            Kind::Rolling { plane, half_space } => {
                let normal = turn_unit(&half_space.normal);
                let offset = half_space.offset + normal.dot(&by.translation.vector);
                Kind::Rolling { plane: *plane, half_space: HalfSpace { normal, offset } }
            }
            Kind::KnifeEdge { point, normal } => {
                Kind::KnifeEdge { point: place(point), normal: turn_unit(normal) }
            }
            Kind::Rows(rows) => Kind::Rows(
                rows.iter()
                    .map(|row| {
                        row.chunks(3).flat_map(|c| turn(&Vector3::new(c[0], c[1], c[2])).data.0[0]).collect()
                    })
                    .collect(),
            ),
        },
        ..joint.clone()
    });
    let contacts = world.contacts.iter().map(|contact| Contact {
        point: place(&contact.point),
        normal: turn_unit(&contact.normal),
        ..contact.clone()
    });
    World { bodies: bodies.collect(), joints: joints.collect(), contacts: contacts.collect() }
}

#[test]
fn moving_the_world_moves_the_answer_and_swapping_bodies_leaves_it() {
    let mut compared = 0;
    for seed in 0..SYSTEMS {
        let world = world(seed, true);
        let result = world.solve(Law::NewtonLcp);
        if !result.outcome.consistent || result.outcome.steps.len() > 5 {
            continue;
        }
        let speed = size(&result.before).max(size(&result.states));
        let by = Isometry3::from_parts(
            Translation3::new(1.0, -2.0, 0.5),
            UnitQuaternion::from_euler_angles(0.4, -1.0, 2.0),
        );
        let other = moved(&world, &by).solve(Law::NewtonLcp);
        let back: Vec<State> = other
            .states
            .iter()
            .map(|s| State {
                velocity: by.rotation.inverse_transform_vector(&s.velocity),
                angular_velocity: by.rotation.inverse_transform_vector(&s.angular_velocity),
                ..*s
            })
            .collect();
        let allowed = 10.0 * (level(&result) + level(&other)) * speed.max(1e-9);
        assert!(apart(&result.states, &back) <= allowed, "seed {seed}: {:e}", apart(&result.states, &back));
        // Second for first with the normal reversed is the same contact.
        let mut swapped = World {
            bodies: world.bodies.clone(),
            joints: world.joints.clone(),
            contacts: world.contacts.clone(),
        };
        for contact in swapped.contacts.iter_mut().filter(|c| matches!(c.sides[0], Side::Body(_))) {
            contact.sides.swap(0, 1);
            contact.normal = -contact.normal;
        }
        let other = swapped.solve(Law::NewtonLcp);
        assert!(apart(&result.states, &other.states) <= allowed, "seed {seed}");
        // A joint given twice changes no motion; its impulses are no longer determined.
        if let Some(joint) = world.joints.first().cloned() {
            swapped.joints.push(joint);
            let other = swapped.solve(Law::NewtonLcp);
            assert!(apart(&result.states, &other.states) <= allowed, "seed {seed}");
            let struck = other.outcome.status == Status::Resolved;
            assert!(!struck || !other.joints[0].determined, "seed {seed}");
        }
        compared += 1;
    }
    assert!(compared > 3000, "{compared}");
}
