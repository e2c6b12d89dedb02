//! Scenes with joints and springs.

use crate::scene::{Joint, JointKind, Load, LoadKind, Shape, Turn, Vector, World};
use crate::source::{GRAVITY, Source, body, floor};

/// Balls on strings, side by side; one or two of them pulled out.
pub fn hanging_cradle(source: &mut Source, world: &mut World, count: usize, radius: f64, apart: f64) {
    let length = radius * source.number(4.0, 12.0);
    let pulled = source.count(1, 2);
    let angle = source.number(0.1, 1.2);
    let other_side = source.chance(0.3);
    for k in 0..count {
        let pivot = Vector::x() * (k as f64 * (2.0 * radius + apart));
        let swing = if k < pulled {
            angle
        } else if other_side && k + 1 == count {
            -angle * source.one_of(&[1.0, 0.5])
        } else {
            0.0
        };
        let string = Vector::new(-swing.sin(), 0.0, -swing.cos()) * length;
        let name = format!("b{k}");
        let (bodies, kind) = (vec![name.clone()], JointKind::Ball { point: pivot });
        world.joints.push(Joint { name: format!("string{k}"), bodies, kind });
        world.bodies.push(body(name, Shape::Sphere(radius), pivot + string));
    }
}

/// Links in a vertical plane, hinged end to end, straight or bent: hung up by one end or both, thrown, or dropped on a floor.
pub fn chain(source: &mut Source, world: &mut World) {
    let (count, size) = (source.count(2, 16), source.size());
    let axes = Vector::new(1.0, source.number(0.15, 0.4), source.number(0.15, 0.4)) * size;
    let shape = match source.pick(3) {
        0 => Shape::Superellipsoid(axes, source.one_of(&[4.0, 6.0])),
        _ => Shape::Ellipsoid(axes),
    };
    let beyond = size * source.number(0.3, 0.6);
    let hinged = source.chance(0.6);
    let lean = source.number(-0.8, 0.8);
    let bend = if source.chance(0.5) { 0.0 } else { source.number(0.0, 0.6) };
    let mut end = Vector::zeros();
    for k in 0..count {
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        let angle = lean + sign * bend;
        let along = Vector::new(angle.cos(), 0.0, -angle.sin());
        if k > 0 {
            let bodies = vec![format!("link{}", k - 1), format!("link{k}")];
            world.joints.push(Joint { name: format!("joint{k}"), bodies, kind: joint(hinged, end) });
        }
        let mut link = body(format!("link{k}"), shape, end + along * (size + beyond));
        link.orientation = Turn::new(Vector::y() * angle);
        world.bodies.push(link);
        end += along * (2.0 * (size + beyond));
    }
    let hung = source.chance(0.5);
    if hung {
        let bodies = vec!["link0".to_string()];
        world.joints.push(Joint { name: "nail".to_string(), bodies, kind: joint(hinged, Vector::zeros()) });
        if count > 2 && source.chance(0.3) {
            let bodies = vec![format!("link{}", count - 1)];
            world.joints.push(Joint { name: "hook".to_string(), bodies, kind: joint(hinged, end) });
        }
    } else {
        // It moves as one body, which every joint allows.
        let speed = (GRAVITY * size).sqrt();
        let (velocity, spin) = if source.chance(0.5) {
            (Vector::zeros(), Vector::zeros())
        } else {
            (source.vector(2.0 * speed), Vector::y() * (source.number(-1.0, 1.0) * speed / size))
        };
        let middle = end * 0.5;
        for link in &mut world.bodies {
            link.spin = spin;
            link.velocity = velocity + spin.cross(&(link.position - middle));
        }
    }
    if source.chance(0.7) {
        let lowest = |link: &crate::scene::Body| link.farthest(&-Vector::z()).z;
        let least = world.bodies.iter().map(lowest).fold(f64::INFINITY, f64::min);
        world.planes.push(floor(least - size * source.number(0.1, 4.0)));
    }
}

fn joint(hinged: bool, point: Vector) -> JointKind {
    if hinged { JointKind::Hinge { point, axis: Vector::y() } } else { JointKind::Ball { point } }
}

/// Bodies one above another over a floor, each on a spring to the next, the last perhaps to the ceiling.
pub fn springs(source: &mut Source, world: &mut World) {
    let (count, size) = (source.count(1, 6), source.size());
    let damped = source.chance(0.6);
    let ceiling = count == 1 || source.chance(0.5);
    let mut height = size * source.number(1.8, 4.0);
    for k in 0..count {
        let shape = source.shape(size);
        let aside = source.vector(0.3 * size).component_mul(&Vector::new(1.0, 1.0, 0.0));
        let mut new = body(format!("b{k}"), shape, aside + Vector::z() * height);
        new.orientation = source.turn();
        world.bodies.push(new);
        height += size * source.number(3.6, 6.0);
    }
    let mass: f64 = world.bodies.iter().map(|body| body.mass).sum();
    for k in 0..count {
        let here = world.bodies[k].position;
        let (bodies, there) = match world.bodies.get(k + 1) {
            Some(next) => (vec![format!("b{k}"), next.name.clone()], next.position),
            None if ceiling => (vec![format!("b{k}")], here + Vector::z() * (5.0 * size)),
            None => break,
        };
        let stiffness = mass * GRAVITY / size * source.scale(0.5, 20.0);
        let period = (mass / stiffness).sqrt();
        // Fastened off the centres, so that it turns them.
        let fastening = source.vector(0.3 * size);
        let kind = LoadKind::Spring {
            bodies,
            points: [here + fastening, there],
            stiffness,
            length: (there - here).norm() * source.number(0.7, 1.1),
            damping: if damped { stiffness * period * source.number(0.02, 0.5) } else { 0.0 },
        };
        world.loads.push(Load { name: format!("spring{k}"), kind });
    }
    world.planes.push(floor(0.0));
}
