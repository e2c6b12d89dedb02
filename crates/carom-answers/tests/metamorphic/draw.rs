//! Random scenes of every kind. All that a scene must satisfy follows from the numbers drawn: bodies are put where they touch, and
//! get velocities that their joints allow. So every drawn number can be nudged.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::scene::{
    Body, Contact, Joint, JointKind, Load, LoadKind, Plane, Rule, Shape, Surface, Turn, Vector, World,
};

pub struct Draw {
    source: ChaCha8Rng,
    nudge: Option<(ChaCha8Rng, f64)>,
}

impl Draw {
    pub fn new(seed: u64) -> Self {
        Self { source: ChaCha8Rng::seed_from_u64(seed), nudge: None }
    }

    /// The same draws, every number changed by up to this part of its range.
    pub fn nudged(seed: u64, which: u64, nudge: f64) -> Self {
        let nudges = ChaCha8Rng::seed_from_u64(seed.wrapping_mul(31).wrapping_add(which + 1));
        Self { nudge: Some((nudges, nudge)), ..Self::new(seed) }
    }

    pub fn number(&mut self, low: f64, high: f64) -> f64 {
        let x: f64 = self.source.random_range(low..high);
        match &mut self.nudge {
            None => x,
            Some((source, size)) => {
                let by = if source.random_range(0.0..1.0) < 0.5 { -*size } else { *size };
                x + by * low.abs().max(high.abs())
            }
        }
    }

    /// Below n.
    pub fn pick(&mut self, n: usize) -> usize {
        self.source.random_range(0..n)
    }

    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.pick(choices.len())]
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        self.source.random_range(0.0..1.0) < probability
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.pick(i + 1));
        }
    }

    pub fn vector(&mut self, size: f64) -> Vector {
        Vector::from_fn(|_, _| self.number(-size, size))
    }

    pub fn direction(&mut self) -> Vector {
        let v = self.vector(1.0);
        // Short ones are as good as none; the place stays the same however it is nudged.
        if v.norm() < 0.05 { Vector::x() } else { v.normalize() }
    }

    pub fn turn(&mut self) -> Turn {
        let axis = self.direction();
        let angle = self.number(-3.0, 3.0);
        Turn::new(axis * angle)
    }

    pub fn shape(&mut self, size: f64) -> Shape {
        match self.pick(8) {
            0 | 1 => Shape::Sphere(size * self.number(0.4, 0.8)),
            2 | 3 => Shape::Ellipsoid(self.semi_axes(size)),
            4 => {
                let thin = self.one_of(&[0.1, 0.03, 0.01]);
                Shape::Ellipsoid(Vector::new(thin * size, thin * size, size * self.number(0.6, 1.0)))
            }
            _ => {
                let axes = self.semi_axes(size * 0.8);
                Shape::Superellipsoid(axes, self.one_of(&[2.5, 3.0, 4.0, 6.0, 10.0, 20.0]))
            }
        }
    }

    fn semi_axes(&mut self, size: f64) -> Vector {
        Vector::from_fn(|_, _| size * self.number(0.3, 1.0))
    }

    /// A body at rest at the origin.
    pub fn body(&mut self, name: &str, shape: Shape) -> Body {
        let mass = self.number(0.5, 4.0);
        let inertia = (self.chance(0.4) || shape == Shape::Point).then(|| {
            // Of three mean squares of the coordinates: any of them is possible for some body.
            let size = shape.reach().max(0.3);
            let squares = Vector::from_fn(|_, _| size * size * self.number(0.05, 0.3));
            mass * Vector::new(squares.y + squares.z, squares.z + squares.x, squares.x + squares.y)
        });
        Body {
            name: name.to_string(),
            shape,
            mass,
            inertia,
            position: Vector::zeros(),
            orientation: self.turn(),
            velocity: Vector::zeros(),
            spin: Vector::zeros(),
            spin_in_body: self.chance(0.3),
            fixed: false,
        }
    }

    fn restitution(&mut self) -> f64 {
        match self.pick(4) {
            0 => 0.0,
            1 => 1.0,
            _ => self.number(0.1, 0.95),
        }
    }

    fn surface(&mut self) -> Surface {
        match self.pick(5) {
            0 => Surface::Rough,
            1 | 2 => Surface::Coulomb(self.number(0.05, 1.2)),
            _ => Surface::Smooth,
        }
    }

    /// How surfaces answer: one rule for all, or some pairs with their own.
    fn surfaces(&mut self, world: &mut World) {
        world.restitution = self.restitution();
        world.surface = self.surface();
        let names: Vec<String> = world
            .bodies
            .iter()
            .map(|body| body.name.clone())
            .chain(world.planes.iter().map(|plane| plane.name.clone()))
            .collect();
        for body in 0..world.bodies.len() {
            let other = self.pick(names.len());
            let rule = Rule {
                bodies: [names[body].clone(), names[other].clone()],
                restitution: self.restitution(),
                surface: self.surface(),
            };
            let is_new = world.rules.iter().all(|old| {
                old.bodies != rule.bodies
                    && [&old.bodies[1], &old.bodies[0]] != [&rule.bodies[0], &rule.bodies[1]]
            });
            if other != body && is_new && self.chance(0.5) {
                world.rules.push(rule);
            }
        }
        world.termination = self.one_of(&["stronge", "stronge", "poisson", "newton"]);
    }

    fn law(&mut self) -> &'static str {
        self.one_of(&[
            "newton_lcp",
            "newton_lcp",
            "newton",
            "poisson",
            "sequential",
            "reflection",
            "decoupled",
        ])
    }

    /// A plane that touches a body from outside.
    fn tangent_plane(&mut self, name: &str, body: &Body, normal: Vector) -> Plane {
        Plane { name: name.to_string(), normal, offset: normal.dot(&body.farthest(&-normal)) }
    }

    /// Puts a body where it touches another, on the side of the normal.
    fn put_beside(first: &Body, normal: &Vector, second: &mut Body) {
        second.position = Vector::zeros();
        second.position = first.farthest(normal) - second.farthest(&-normal);
    }

    /// Bodies that touch one another and planes, with any velocities: an instant of several contacts.
    pub fn instant(&mut self) -> World {
        let mut world = match self.pick(4) {
            0 | 1 => self.cluster(),
            2 => self.linkage_at_a_plane(),
            _ => self.given_contacts(),
        };
        self.surfaces(&mut world);
        for contact in &mut world.contacts {
            contact.restitution = self.restitution();
            contact.surface = self.surface();
        }
        world.law = self.law();
        world
    }

    /// An instant with joints.
    pub fn jointed_instant(&mut self) -> World {
        let mut world = self.linkage_at_a_plane();
        self.surfaces(&mut world);
        world.law = self.law();
        world
    }

    /// A run with joints.
    pub fn jointed_run(&mut self) -> World {
        let world = self.linkage_run(false);
        World { until: 0.6 * world.until, max_events: 2, ..world }
    }

    /// Some bodies at one of them, and planes at its other side.
    pub fn cluster(&mut self) -> World {
        let mut world = World::default();
        let shape = self.shape(1.0);
        let mut middle = self.body("m", shape);
        middle.position = self.vector(0.5);
        middle.velocity = self.vector(1.0);
        middle.spin = self.vector(2.0);
        let side = self.direction();
        let count = self.pick(3);
        for k in 0..count {
            let shape = self.shape(0.5);
            let mut other = self.body(["a", "b"][k], shape);
            // The second on the other side of the first, roughly.
            let jitter = self.vector(0.4);
            let normal = (side * [1.0, -1.0][k] + jitter).normalize();
            Self::put_beside(&middle, &normal, &mut other);
            other.velocity = self.vector(1.0);
            other.spin = self.vector(2.0);
            other.fixed = self.chance(0.1);
            if other.fixed {
                other.velocity = Vector::zeros();
                other.spin = Vector::zeros();
            }
            world.bodies.push(other);
        }
        if count < 2 {
            for k in 0..self.pick(3) + usize::from(count == 0) {
                let jitter = self.vector(0.5);
                let normal = (side + jitter).normalize();
                let plane = self.tangent_plane(["p", "q", "r"][k], &middle, normal);
                world.planes.push(plane);
            }
        }
        let place = self.pick(world.bodies.len() + 1);
        world.bodies.insert(place, middle);
        world
    }

    /// Bodies without extent, or with some, with contacts anywhere.
    fn given_contacts(&mut self) -> World {
        let mut world = World::default();
        let count = 1 + self.pick(3);
        for k in 0..count {
            let mut body = self.body(["a", "b", "c"][k], Shape::Point);
            body.position = self.vector(1.0);
            body.velocity = self.vector(1.0);
            body.spin = self.vector(2.0);
            world.bodies.push(body);
        }
        let normal = self.direction();
        world.planes.push(Plane { name: "p".to_string(), normal, offset: self.number(-5.0, -3.0) });
        for k in 0..1 + self.pick(5) {
            let first = self.pick(count);
            let second = self.pick(count + 1);
            let (bodies, normal) = if second == first || second == count {
                (["p".to_string(), world.bodies[first].name.clone()], normal)
            } else {
                ([first, second].map(|i| world.bodies[i].name.clone()), self.direction())
            };
            world.contacts.push(Contact {
                name: format!("c{k}"),
                bodies,
                point: self.vector(1.0),
                normal,
                restitution: 1.0,
                surface: Surface::Smooth,
            });
        }
        world
    }

    /// A chain of bodies with joints, hung up or free, moving as its joints allow.
    pub fn linkage(&mut self, hung: bool) -> World {
        let mut world = World::default();
        let count = 1 + self.pick(3) + usize::from(!hung);
        let along = self.direction();
        let mut end = self.vector(0.3);
        for k in 0..count.min(3) {
            let shape = self.shape(0.5);
            let mut body = self.body(["a", "b", "c"][k], shape);
            let reach = shape.reach();
            let jitter = self.vector(0.3);
            let way = (along + jitter).normalize();
            let point = end + way * (0.1 * reach);
            body.position = point + way * (1.1 * reach);
            end = body.position + way * (1.1 * reach);
            let parent = (k > 0).then(|| world.bodies[k - 1].clone());
            let still = Body { velocity: Vector::zeros(), spin: Vector::zeros(), ..body.clone() };
            let base = parent.as_ref().unwrap_or(&still);
            let axis = self.direction();
            let rate = self.number(-2.0, 2.0);
            let any = self.vector(2.0);
            if k == 0 && !hung {
                body.velocity = self.vector(1.0);
                body.spin = any;
                world.bodies.push(body);
                continue;
            }
            let kind = match self.pick(if parent.is_some() { 6 } else { 5 }) {
                0 | 1 => {
                    body.spin = base.spin + axis * rate;
                    body.velocity = base.velocity_at(&point) + body.spin.cross(&(body.position - point));
                    JointKind::Hinge { point, axis }
                }
                2 | 3 => {
                    body.spin = any;
                    body.velocity = base.velocity_at(&point) + body.spin.cross(&(body.position - point));
                    JointKind::Ball { point }
                }
                4 => {
                    body.spin = base.spin;
                    body.velocity = base.velocity_at(&body.position) + axis * rate;
                    JointKind::Slider { axis }
                }
                _ => {
                    body.spin = base.spin;
                    body.velocity = base.velocity_at(&body.position);
                    JointKind::Weld
                }
            };
            let bodies = parent.iter().map(|parent| parent.name.clone()).chain([body.name.clone()]).collect();
            world.joints.push(Joint { name: format!("j{k}"), bodies, kind });
            world.bodies.push(body);
        }
        world
    }

    /// The end of a linkage touches a plane, or one of its bodies rolls or skates.
    fn linkage_at_a_plane(&mut self) -> World {
        if self.chance(0.25) {
            return self.rolling_ball();
        }
        let hung = self.chance(0.7);
        let mut world = self.linkage(hung);
        if self.chance(0.2) {
            // A skate: no velocity along a normal of one body.
            let mut body = self.body("s", Shape::Sphere(0.3));
            body.position = self.vector(0.5) + Vector::new(8.0, 0.0, 0.0);
            body.spin = self.vector(2.0);
            let (normal, point) = (self.direction(), body.position + self.vector(0.3));
            body.velocity = self.vector(1.0);
            body.velocity -= normal * normal.dot(&body.velocity_at(&point));
            let kind = JointKind::KnifeEdge { point, normal };
            world.joints.push(Joint { name: "edge".to_string(), bodies: vec!["s".to_string()], kind });
            world.bodies.push(body);
        }
        let last = world.bodies[world.bodies.len() - 1].clone();
        let others: Vec<&Body> = world.bodies.iter().filter(|body| body.name != last.name).collect();
        let first = others.first().map_or(last.position, |body| body.position);
        let jitter = self.vector(0.3);
        let normal =
            ((first - last.position).try_normalize(1e-3).unwrap_or(Vector::z()) + jitter).normalize();
        let plane = self.tangent_plane("p", &last, normal);
        world.planes.push(plane);
        world
    }

    /// A ball that rolls on a plane and touches a wall, or another ball.
    fn rolling_ball(&mut self) -> World {
        let mut world = World::default();
        let radius = self.number(0.3, 1.0);
        let mut ball = self.body("a", Shape::Sphere(radius));
        ball.inertia =
            self.chance(0.5).then(|| Vector::repeat(ball.mass * radius * radius * self.number(0.2, 0.6)));
        ball.position = self.vector(1.0);
        let up = self.direction();
        let floor = self.tangent_plane("p", &ball, up);
        ball.spin = self.vector(2.0);
        ball.velocity = -ball.spin.cross(&(-up * radius));
        let side = self.direction().cross(&up).normalize();
        let tilt = up * self.number(-0.3, 0.3);
        let wall = self.tangent_plane("q", &ball, (side + tilt).normalize());
        let kind = JointKind::Rolling { plane: "p".to_string() };
        world.joints.push(Joint { name: "rolls".to_string(), bodies: vec!["a".to_string()], kind });
        world.bodies.push(ball);
        world.planes = vec![floor, wall];
        world
    }

    /// Two bodies, or a body and a plane, that touch: closing, parting, or neither.
    pub fn touching(&mut self) -> World {
        let mut world = self.cluster();
        world.gravity = if self.chance(0.5) { self.vector(5.0) } else { Vector::zeros() };
        let middle = world.bodies.iter().position(|body| body.name == "m").unwrap_or(0);
        // Take away the approach of one contact: what is left is a graze or worse.
        if self.chance(0.6) && world.bodies.iter().all(|body| !body.fixed) {
            let body = world.bodies[middle].clone();
            let contact = match (world.planes.first(), world.bodies.iter().find(|other| other.name != "m")) {
                (Some(plane), _) => Some((plane.normal, body.farthest(&-plane.normal), Vector::zeros())),
                (None, Some(other)) => {
                    // The normal of the contact is not kept, but the point that both have is where it is.
                    let way = other.position - body.position;
                    let normal = Self::common_normal(&body, other, &way);
                    normal.map(|normal| {
                        (-normal, body.farthest(&normal), other.velocity_at(&body.farthest(&normal)))
                    })
                }
                (None, None) => None,
            };
            if let Some((normal, point, there)) = contact {
                let approach = normal.dot(&(body.velocity_at(&point) - there));
                world.bodies[middle].velocity -= normal * approach;
            }
        }
        world
    }

    /// The normal of two bodies that touch, by climbing the separation from a first guess.
    fn common_normal(first: &Body, second: &Body, guess: &Vector) -> Option<Vector> {
        let mut normal = guess.normalize();
        let mut step = 0.2;
        let value = |n: &Vector| n.dot(&(second.farthest(&-n) - first.farthest(n)));
        let mut best = value(&normal);
        for _ in 0..4000 {
            if step < 1e-13 || best.abs() < 1e-15 {
                break;
            }
            let slope = second.farthest(&-normal) - first.farthest(&normal);
            let across = slope - normal * normal.dot(&slope);
            let Some(across) = across.try_normalize(1e-300) else { break };
            let next = (normal + across * step).normalize();
            let found = value(&next);
            if found > best {
                (normal, best) = (next, found);
                step *= 1.3;
            } else {
                step *= 0.5;
            }
        }
        (best.abs() < 1e-12).then_some(normal)
    }

    /// Bodies anywhere, overlapping or not, in a box or not: for gaps.
    pub fn anywhere(&mut self) -> World {
        let mut world = World::default();
        let spread = self.one_of(&[0.3, 1.0, 3.0]);
        for k in 0..2 + self.pick(3) {
            let shape = self.shape(1.0);
            let mut body = self.body(["a", "b", "c", "d"][k], shape);
            body.position = self.vector(spread);
            body.velocity = self.vector(1.0);
            body.spin = self.vector(2.0);
            world.bodies.push(body);
        }
        for k in 0..self.pick(3) {
            let normal = self.direction();
            world.planes.push(Plane {
                name: ["p", "q"][k].to_string(),
                normal,
                offset: self.number(-4.0, 0.0),
            });
        }
        if self.chance(0.2) {
            world.planes.clear();
            world.periodic = Some(Vector::from_fn(|_, _| self.number(4.0, 8.0)));
        }
        world.gravity = if self.chance(0.5) { self.vector(5.0) } else { Vector::zeros() };
        world.at = if self.chance(0.5) { 0.0 } else { self.number(-2.0, 2.0) };
        world
    }

    /// Free bodies that fly towards one another between planes.
    pub fn flight(&mut self) -> World {
        let mut world = World::default();
        let count = 2 + self.pick(3);
        let corners = [[1.0, 1.0, 1.0], [-1.0, -1.0, 1.0], [-1.0, 1.0, -1.0], [1.0, -1.0, -1.0]];
        for k in 0..count {
            let shape = self.shape(0.8);
            let mut body = self.body(["a", "b", "c", "d"][k], shape);
            let place = Vector::from(corners[k]) * 1.2;
            body.position = place + self.vector(0.2);
            body.velocity = -place * self.number(0.3, 1.0) + self.vector(0.4);
            body.spin = self.vector(2.5);
            world.bodies.push(body);
        }
        for k in 0..self.pick(3) {
            let normal = self.direction();
            let offset = -self.number(3.2, 4.0);
            world.planes.push(Plane { name: ["p", "q"][k].to_string(), normal, offset });
        }
        world.gravity = if self.chance(0.5) { self.vector(4.0) } else { Vector::zeros() };
        world.until = self.number(1.0, 3.0);
        world.max_events = 4;
        world
    }

    /// Forces on the bodies of a scene.
    fn loads(&mut self, world: &mut World, damped: bool) {
        let count = world.bodies.len();
        let name = |i: usize| world.bodies[i].name.clone();
        if count > 1 && self.chance(0.5) {
            let first = self.pick(count);
            let second = (first + 1 + self.pick(count - 1)) % count;
            let tip = |draw: &mut Self, i: usize| {
                let body = &world.bodies[i];
                body.position + draw.vector(0.3 * body.shape.reach())
            };
            let points = [tip(self, first), tip(self, second)];
            let kind = LoadKind::Spring {
                bodies: vec![name(first), name(second)],
                points,
                stiffness: self.number(1.0, 10.0),
                length: self.number(0.5, 2.0),
                damping: if damped { self.number(0.0, 1.0) } else { 0.0 },
            };
            world.loads.push(Load { name: "spring".to_string(), kind });
        }
        if self.chance(0.3) {
            let body = self.pick(count);
            let at = world.bodies[body].position + self.vector(0.2);
            let point = self.chance(0.5).then_some(at);
            let kind = LoadKind::Force { body: name(body), vector: self.vector(2.0), point };
            world.loads.push(Load { name: "force".to_string(), kind });
        }
        if damped && self.chance(0.3) {
            let kind = LoadKind::Torque { body: name(self.pick(count)), vector: self.vector(0.5) };
            world.loads.push(Load { name: "torque".to_string(), kind });
        }
    }

    /// A scene to run: free bodies, a linkage that strikes something, or bodies that slide on a floor.
    pub fn run(&mut self) -> World {
        match self.pick(4) {
            0 | 1 => self.free_run(false),
            2 => self.linkage_run(false),
            _ => self.floor_run(),
        }
    }

    /// A run in which no energy is lost.
    pub fn elastic_run(&mut self) -> World {
        match self.pick(5) {
            0 => self.ball_run(),
            1 | 2 => self.free_run(true),
            _ => self.linkage_run(true),
        }
    }

    /// Balls, rough or smooth, that lose nothing.
    fn ball_run(&mut self) -> World {
        let mut world = self.flight();
        for body in &mut world.bodies {
            body.shape = Shape::Sphere(self.number(0.3, 0.7));
            body.inertia = None;
        }
        world.until = self.number(0.8, 2.0);
        self.run_surfaces(&mut world, true);
        world
    }

    fn free_run(&mut self, elastic: bool) -> World {
        let mut world = self.flight();
        world.until = self.number(0.8, 2.0);
        self.run_surfaces(&mut world, elastic);
        if self.chance(0.3) {
            self.loads(&mut world, !elastic);
        }
        world
    }

    fn run_surfaces(&mut self, world: &mut World, elastic: bool) {
        self.surfaces(world);
        if elastic {
            // A rough contact that would have to pull in order not to slip loses its grip, and does not get it back on the way back;
            // of balls without joints none has to.
            let balls = world.bodies.iter().all(|body| matches!(body.shape, Shape::Sphere(_)));
            let rough = balls && world.joints.is_empty();
            let even =
                |surface: Surface| if rough && surface == Surface::Rough { surface } else { Surface::Smooth };
            world.restitution = 1.0;
            world.surface = even(world.surface);
            for rule in &mut world.rules {
                rule.restitution = 1.0;
                rule.surface = even(rule.surface);
            }
        }
    }

    fn linkage_run(&mut self, elastic: bool) -> World {
        let hung = self.chance(0.7);
        let mut world = self.linkage(hung);
        // A ball flies into it.
        let target = world.bodies[self.pick(world.bodies.len())].clone();
        let mut ball = self.body("z", Shape::Sphere(0.4));
        let way = self.direction();
        ball.position = target.position + way * self.number(4.5, 5.5);
        ball.velocity = -way * self.number(6.0, 10.0);
        ball.spin = self.vector(2.0);
        world.bodies.push(ball);
        if self.chance(0.6) {
            let normal = self.direction();
            let least = world
                .bodies
                .iter()
                .map(|body| normal.dot(&body.farthest(&-normal)))
                .fold(f64::INFINITY, f64::min);
            let plane = Plane { name: "p".to_string(), normal, offset: least - self.number(0.1, 0.6) };
            world.planes.push(plane);
        }
        world.gravity = if self.chance(0.6) { self.vector(4.0) } else { Vector::zeros() };
        self.run_surfaces(&mut world, elastic);
        self.loads(&mut world, !elastic);
        world.until = self.number(0.4, 0.8);
        world.max_events = 3;
        world
    }

    /// One or two bodies that touch a floor without approach, and slide, roll or rock there.
    fn floor_run(&mut self) -> World {
        let mut world = World::default();
        let up = self.direction();
        let along = self.direction().cross(&up).normalize();
        for k in 0..1 + self.pick(2) {
            let shape = match self.pick(3) {
                0 => Shape::Sphere(self.number(0.3, 0.6)),
                1 => Shape::Ellipsoid(self.semi_axes(0.6)),
                _ => Shape::Superellipsoid(self.semi_axes(0.5), self.one_of(&[2.5, 4.0, 6.0])),
            };
            let mut body = self.body(["a", "b"][k], shape);
            body.position = along * [-1.0, 1.0][k] + self.vector(0.1);
            let foot = body.farthest(&-up);
            body.position -= up * up.dot(&foot);
            let foot = body.farthest(&-up);
            body.spin = self.vector(1.0);
            body.velocity = self.vector(1.0);
            body.velocity -= up * up.dot(&body.velocity_at(&foot));
            world.bodies.push(body);
        }
        world.planes.push(Plane { name: "p".to_string(), normal: up, offset: 0.0 });
        world.gravity = -up * self.number(4.0, 10.0) + self.vector(1.0);
        self.surfaces(&mut world);
        world.until = self.number(0.2, 0.5);
        world.max_events = 4;
        world
    }
}
