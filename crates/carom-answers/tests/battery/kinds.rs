//! The kinds of scenes: what people try first with an engine of rigid bodies.

use std::f64::consts::{FRAC_PI_2, SQRT_2};

use serde_json::{Value, json};

use crate::linked::{chain, hanging_cradle, springs};
use crate::scene::{Body, Plane, Shape, Surface, Turn, Vector, World};
use crate::source::{GRAVITY, Source, body, floor, put_on, walls};
use crate::toml;

/// How long every scene runs, in seconds.
pub const UNTIL: f64 = 5.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Bodies dropped into a box of a floor and four walls.
    Box,
    /// A column of bodies.
    Stack,
    /// A pyramid of balls.
    Pyramid,
    /// Bodies on an inclined plane with a wall at its foot.
    Incline,
    /// One to three bodies that slide, spin and rock on a floor.
    Slide,
    /// Balls in line that touch, or nearly: on strings, on a floor, or afloat.
    Cradle,
    /// A chain of hinged links.
    Chain,
    /// Bodies on springs over a floor.
    Spring,
    /// A rack of balls, struck.
    Break,
    /// A ball between a floor and a heavy one that falls on it.
    Squeeze,
    /// Balls in line that collapse without gravity.
    Collapse,
}

impl Kind {
    pub const ALL: [Self; 11] = [
        Self::Box,
        Self::Stack,
        Self::Pyramid,
        Self::Incline,
        Self::Slide,
        Self::Cradle,
        Self::Chain,
        Self::Spring,
        Self::Break,
        Self::Squeeze,
        Self::Collapse,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Box => "box",
            Self::Stack => "stack",
            Self::Pyramid => "pyramid",
            Self::Incline => "incline",
            Self::Slide => "slide",
            Self::Cradle => "cradle",
            Self::Chain => "chain",
            Self::Spring => "spring",
            Self::Break => "break",
            Self::Squeeze => "squeeze",
            Self::Collapse => "collapse",
        }
    }

    /// The kind of a battery's scene: every kind comes round, boxes and chains more often.
    fn of(number: u64) -> Self {
        const ROUND: [Kind; 15] = [
            Kind::Box,
            Kind::Stack,
            Kind::Slide,
            Kind::Box,
            Kind::Chain,
            Kind::Pyramid,
            Kind::Cradle,
            Kind::Box,
            Kind::Incline,
            Kind::Break,
            Kind::Spring,
            Kind::Box,
            Kind::Chain,
            Kind::Squeeze,
            Kind::Collapse,
        ];
        ROUND[usize::try_from(number % 15).unwrap_or(0)]
    }
}

/// A scene of the battery.
pub struct Case {
    /// Its place in the battery.
    pub number: u64,
    pub kind: Kind,
    pub bodies: usize,
    /// The scene file, in TOML.
    pub text: String,
}

impl Case {
    /// A scene of the battery that a seed gives.
    pub fn draw(seed: u64, number: u64) -> Self {
        let kind = Kind::of(number);
        let mut source = Source::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(number));
        let mut world = World {
            gravity: Vector::z() * -GRAVITY,
            restitution: source.restitution(),
            surface: source.surface(),
            until: UNTIL,
            max_events: 1_000_000,
            ..World::default()
        };
        let source = &mut source;
        match kind {
            Kind::Box => dropped_into_a_box(source, &mut world),
            Kind::Stack => stack(source, &mut world),
            Kind::Pyramid => pyramid(source, &mut world),
            Kind::Incline => incline(source, &mut world),
            Kind::Slide => slide(source, &mut world),
            Kind::Cradle => cradle(source, &mut world),
            Kind::Chain => chain(source, &mut world),
            Kind::Spring => springs(source, &mut world),
            Kind::Break => break_shot(source, &mut world),
            Kind::Squeeze => squeeze(source, &mut world),
            Kind::Collapse => collapse(source, &mut world),
        }
        let bodies = world.bodies.len();
        let surface = match world.surface {
            Surface::Smooth => "smooth".to_string(),
            Surface::Rough => "rough".to_string(),
            Surface::Coulomb(coefficient) => format!("friction {coefficient:.2}"),
        };
        let title = format!(
            "{} {seed}/{number}: {bodies} {}, {surface}, restitution {:.2}",
            kind.name(),
            if bodies == 1 { "body" } else { "bodies" },
            world.restitution
        );
        Self { number, kind, bodies, text: toml::text(&document(&world, title)) }
    }

    /// The name of its file.
    pub fn file_name(&self) -> String {
        format!("{:04}_{}.toml", self.number, self.kind.name())
    }
}

/// The scene with its title and samples to judge it by; without entries that say nothing.
fn document(world: &World, title: String) -> Value {
    let mut document: Value = serde_json::from_str(&world.text()).expect("a scene that was just written");
    document["title"] = json!(title);
    document["run"]["sample"] = json!(0.02);
    let at_rest = json!([0.0, 0.0, 0.0]);
    for body in document["body"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        body.retain(|key, value| match key.as_str() {
            "fixed" => *value != json!(false),
            "velocity" | "angular_velocity" => *value != at_rest,
            "orientation" => *value != json!([1.0, 0.0, 0.0, 0.0]),
            _ => true,
        });
    }
    document
}

/// Bodies of one family, or of all, in layers of random cells above the floor.
fn dropped_into_a_box(source: &mut Source, world: &mut World) {
    let (count, size, family) = (source.count(1, 40), source.size(), source.pick(5));
    let alike = source.ball(size);
    let shapes: Vec<_> = (0..count)
        .map(|_| match family {
            0 => alike,
            1 => source.ball(size),
            2 => source.ellipsoid(size),
            3 => source.pillow(size),
            _ => source.shape(size),
        })
        .collect();
    let reach = shapes.iter().map(|shape| shape.reach()).fold(0.0, f64::max);
    let cell = 2.02 * reach;
    // From a shaft one body wide to a tray one layer deep.
    let mut columns = 1;
    while columns * columns < count && source.chance(0.6) {
        columns += 1;
    }
    let half_width = 0.5 * cell * columns as f64 + size * source.number(0.0, 1.0);
    let drop = size * source.number(0.0, 5.0);
    let speed = if source.chance(0.5) { 0.0 } else { (GRAVITY * size).sqrt() };
    for (k, shape) in shapes.into_iter().enumerate() {
        let place = [k % columns, k / columns % columns, k / (columns * columns)].map(|i| i as f64 + 0.5);
        let corner = Vector::new(-0.5, -0.5, 0.0) * columns as f64;
        let spare = 0.5 * cell - shape.reach();
        let position = (Vector::from(place) + corner) * cell + Vector::z() * drop + source.vector(spare);
        let mut new = body(format!("b{k}"), shape, position);
        new.orientation = source.turn();
        new.velocity = source.vector(speed);
        new.spin = source.vector(speed / size);
        world.bodies.push(new);
    }
    world.planes.push(floor(0.0));
    world.planes.extend(walls([half_width; 2]));
}

/// A column that touches, or that closes its gaps as it falls; upright to the bit, or not quite.
fn stack(source: &mut Source, world: &mut World) {
    let (count, size, family) = (source.count(2, 12), source.size(), source.pick(4));
    let touching = source.chance(0.5);
    let off = if touching || source.chance(0.5) { 0.0 } else { size * source.scale(1e-6, 0.1) };
    world.planes.push(floor(0.0));
    let mut top = 0.0;
    for k in 0..count {
        let shape = match family {
            0 => source.ball(size),
            1 => source.pillow(size),
            2 if k % 2 == 0 => source.pillow(size),
            2 => source.ball(size),
            _ => source.shape(size),
        };
        top += if touching { 0.0 } else { size * source.scale(1e-4, 0.3) };
        let sideways = source.vector(off).component_mul(&Vector::new(1.0, 1.0, 0.0));
        let half = shape.semi_axes().z;
        let mut new = body(format!("b{k}"), shape, sideways + Vector::z() * (top + half));
        new.orientation = source.heading();
        top += 2.0 * half;
        world.bodies.push(new);
    }
}

/// Of a square base, or in a plane between walls; now and then a ball falls on it.
fn pyramid(source: &mut Source, world: &mut World) {
    let radius = source.size();
    let apart = if source.chance(0.5) { 0.0 } else { radius * source.scale(1e-6, 0.05) };
    let step = 2.0 * radius + apart;
    let shape = Shape::Sphere(radius);
    let (flat, side) =
        if source.chance(0.5) { (false, source.count(2, 4)) } else { (true, source.count(2, 7)) };
    let rise = if flat { step * 0.75_f64.sqrt() } else { step / SQRT_2 };
    let mut add = |place: Vector| {
        let name = format!("b{}", world.bodies.len());
        world.bodies.push(body(name, shape, place + Vector::z() * (radius + apart)));
    };
    for layer in 0..side {
        let along = side - layer;
        let middle = 0.5 * (along as f64 - 1.0);
        for i in 0..along {
            for j in 0..if flat { 1 } else { along } {
                let y = if flat { 0.0 } else { j as f64 - middle };
                add(Vector::new((i as f64 - middle) * step, y * step, layer as f64 * rise));
            }
        }
    }
    if source.chance(0.4) {
        let above = side as f64 * rise + radius * source.number(0.5, 4.0);
        add(Vector::new(radius * source.number(-0.3, 0.3), radius * source.number(-0.3, 0.3), above));
    }
    world.planes.push(floor(0.0));
    if source.chance(0.5) {
        let half = 0.5 * step * (side as f64 - 1.0) + radius + apart;
        let room = if source.chance(0.5) { 0.0 } else { radius * source.number(0.0, 2.0) };
        world.planes.extend(walls([half + room, if flat { 3.0 * radius } else { half + room }]));
    }
}

/// Bodies let go on an incline, touching it or just above.
fn incline(source: &mut Source, world: &mut World) {
    let (count, size) = (source.count(1, 10), source.size());
    let angle = source.number(0.05, 0.8);
    let normal = Vector::new(angle.sin(), 0.0, angle.cos());
    let uphill = Vector::new(-angle.cos(), 0.0, angle.sin());
    let slope = Plane { name: "slope".to_string(), normal, offset: 0.0 };
    let touching = source.chance(0.5);
    let mut along = size * source.number(2.0, 10.0);
    for k in 0..count {
        let shape = source.shape(size);
        along += shape.reach();
        let aside = Vector::y() * size * source.number(-1.0, 1.0);
        let mut new = body(format!("b{k}"), shape, uphill * along + aside);
        new.orientation = if source.chance(0.5) {
            source.turn()
        } else {
            // Flat on the slope.
            Turn::new(Vector::y() * angle) * source.heading()
        };
        put_on(&slope, if touching { 0.0 } else { size * source.scale(1e-3, 1.0) }, &mut new);
        along += shape.reach() + size * source.scale(1e-3, 1.0);
        world.bodies.push(new);
    }
    world.planes.push(slope);
    if source.chance(0.7) {
        let upright = source.chance(0.5);
        let normal = if upright { -Vector::x() } else { uphill };
        world.planes.push(Plane { name: "stop".to_string(), normal, offset: 0.0 });
        // An upright wall at the foot leans over the slope: it is clear of the lowest body.
        let lowest = |body: &Body| normal.dot(&body.farthest(&-normal));
        let least = world.bodies.iter().map(lowest).fold(f64::INFINITY, f64::min);
        if let Some(stop) = world.planes.last_mut() {
            stop.offset = least - size * source.number(0.1, 3.0);
        }
    }
}

/// Bodies that touch a floor without approach, slide along it and spin; flat, or on an edge.
fn slide(source: &mut Source, world: &mut World) {
    let (count, size) = (1 + source.pick(3), source.size());
    let ground = floor(0.0);
    let speed = (GRAVITY * size).sqrt();
    for k in 0..count {
        let shape = source.shape(size);
        let mut new = body(format!("b{k}"), shape, Vector::x() * (4.0 * size * k as f64));
        new.orientation = match source.pick(3) {
            0 => source.heading(),
            1 => Turn::new(Vector::x() * source.scale(1e-3, FRAC_PI_2)) * source.heading(),
            _ => source.turn(),
        };
        put_on(&ground, 0.0, &mut new);
        new.velocity = source.vector(3.0 * speed);
        new.spin = Vector::z() * (source.number(-5.0, 5.0) * speed / size);
        if source.chance(0.5) {
            new.spin += source.vector(speed / size);
        }
        let foot = new.farthest(&-Vector::z());
        new.velocity.z -= new.velocity_at(&foot).z;
        world.bodies.push(new);
    }
    world.planes.push(ground);
}

fn cradle(source: &mut Source, world: &mut World) {
    let (count, radius) = (source.count(3, 8), source.size());
    let apart = if source.chance(0.6) { 0.0 } else { radius * source.scale(1e-6, 0.05) };
    let place = source.pick(4);
    if place < 2 {
        return hanging_cradle(source, world, count, radius, apart);
    }
    let step = 2.0 * radius + apart;
    let first = source.count(1, 2.min(count - 1));
    let speed = (GRAVITY * radius).sqrt() * source.scale(0.3, 5.0);
    for k in 0..count {
        // Those that come in are a little away.
        let away = if k < first { radius * 2.0 } else { 0.0 };
        let place = Vector::new(k as f64 * step - away, 0.0, radius);
        let mut ball = body(format!("b{k}"), Shape::Sphere(radius), place);
        if k < first {
            ball.velocity = Vector::x() * speed;
        }
        world.bodies.push(ball);
    }
    if source.chance(0.3) {
        // One comes from the other side as well.
        if let Some(last) = world.bodies.last_mut() {
            last.position.x += radius;
            last.velocity = -Vector::x() * speed * source.one_of(&[1.0, 0.5]);
        }
    }
    if place == 2 {
        world.planes.push(floor(0.0));
    } else {
        world.gravity = Vector::zeros();
    }
    if source.chance(0.4) {
        world.planes.extend(walls([step * count as f64 + 4.0 * radius, 2.0 * radius]));
    }
}

/// A triangle of balls and one that strikes it, between cushions or not, on a table or afloat.
fn break_shot(source: &mut Source, world: &mut World) {
    let (rows, radius) = (source.count(2, 7), source.size());
    let apart = source.one_of(&[0.0, 0.0, 1e-6, 1e-3]) * radius;
    let step = 2.0 * radius + apart;
    let shape = Shape::Sphere(radius);
    let mut cue = body("cue".to_string(), shape, Vector::new(-6.0 * radius, 0.0, radius));
    cue.velocity = Vector::x() * (GRAVITY * radius).sqrt() * source.scale(1.0, 10.0);
    if source.chance(0.6) {
        cue.position.y = radius * source.number(-0.5, 0.5);
    }
    world.bodies.push(cue);
    for row in 0..rows {
        for k in 0..=row {
            let y = (k as f64 - 0.5 * row as f64) * step;
            let place = Vector::new(row as f64 * step * 0.75_f64.sqrt(), y, radius);
            world.bodies.push(body(format!("b{}", world.bodies.len()), shape, place));
        }
    }
    if source.chance(0.6) {
        world.planes.push(floor(0.0));
    } else {
        world.gravity = Vector::zeros();
    }
    if source.chance(0.6) {
        let half = step * (rows as f64 + 1.0) + 6.0 * radius;
        world.planes.extend(walls([half * source.number(1.0, 2.0), half]));
    }
}

/// One or two light balls under a heavy one.
fn squeeze(source: &mut Source, world: &mut World) {
    let radius = source.size();
    let light = 1 + source.pick(2);
    let exact = source.chance(0.5);
    let mut top = if source.chance(0.5) { 0.0 } else { radius * source.number(0.1, 2.0) };
    for k in 0..light {
        let shape = Shape::Sphere(radius * source.number(0.3, 1.0));
        let half = shape.reach();
        let aside = if exact { Vector::zeros() } else { Vector::x() * radius * source.number(-0.2, 0.2) };
        world.bodies.push(body(format!("b{k}"), shape, aside + Vector::z() * (top + half)));
        top += 2.0 * half + radius * source.number(0.01, 0.5);
    }
    let large = radius * source.number(1.0, 4.0);
    let fall = radius * source.number(0.1, 10.0);
    let mut heavy = body("heavy".to_string(), Shape::Sphere(large), Vector::z() * (top + fall + large));
    heavy.mass = world.bodies[0].mass * source.scale(5.0, 1e4);
    heavy.velocity = -Vector::z() * (GRAVITY * radius).sqrt() * source.number(0.0, 5.0);
    world.bodies.push(heavy);
    world.planes.push(floor(0.0));
    if source.chance(0.3) {
        world.planes.extend(walls([large * source.number(1.0, 1.5); 2]));
    }
}

/// Balls in line, the outer ones faster towards the middle; with little restitution infinitely many impacts in a finite time.
fn collapse(source: &mut Source, world: &mut World) {
    let (count, radius) = (source.count(3, 8), source.size());
    world.gravity = Vector::zeros();
    if source.chance(0.7) {
        world.restitution = source.one_of(&[0.0, 0.02, 0.05, 0.1, 0.2]);
    }
    let speed = radius * source.number(0.5, 3.0);
    let off = if source.chance(0.7) { 0.0 } else { radius * source.scale(1e-6, 0.1) };
    let mut x = 0.0;
    for k in 0..count {
        let mut ball = source.ball(radius);
        if world.bodies.is_empty() || source.chance(0.7) {
            ball = Shape::Sphere(radius);
        }
        x += ball.reach();
        let aside = source.vector(off).component_mul(&Vector::new(0.0, 1.0, 1.0));
        let mut new = body(format!("b{k}"), ball, Vector::x() * x + aside);
        new.velocity.x = speed * (0.5 * (count as f64 - 1.0) - k as f64 + source.number(-0.3, 0.3));
        x += ball.reach() + radius * if source.chance(0.2) { 0.0 } else { source.number(0.01, 1.0) };
        world.bodies.push(new);
    }
}
