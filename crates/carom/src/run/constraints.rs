//! Who is tied to whom: bodies that joints, springs and other forces make one system, and which pairs a joint keeps from colliding.
//!
//! ConstraintGraph do not change during a run. A joint is what it is in the states at the start, carried along with its bodies. A rolling
//! joint on a surface with Coulomb friction is no tie: it is a contact that begins without slip, and lasts as long as friction
//! lets it ([`simulation`](crate::simulation)).

use std::collections::BTreeSet;

use crate::body::State;
use crate::contact::{Side, Surface};
use crate::flow::Load;
use crate::joint::{Joint, Kind};
use nalgebra::Unit;

use super::world::World;

/// Who is tied to whom.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConstraintGraph {
    /// The states in which the joints are given.
    pub start: Vec<State>,
    /// The system of each movable body that is tied.
    system_of: Vec<Option<u32>>,
    systems: Vec<System>,
    /// The pairs that joints keep from colliding, the smaller number first; of planes, with their bodies.
    joined: BTreeSet<[usize; 2]>,
    rolling: BTreeSet<[usize; 2]>,
    /// One number for all bodies that welds make one.
    rigid: Vec<usize>,
}

/// Bodies tied to one another, directly or through others.
#[derive(Debug, Clone, Default)]
pub(crate) struct System {
    /// The bodies, immovable ones included, in order.
    pub bodies: Vec<usize>,
    /// The joints.
    pub joints: Vec<usize>,
    /// Whether forces from outside act on it: through joints with the ground or an immovable body, or as loads.
    pub external: bool,
}

impl ConstraintGraph {
    pub fn of(world: &World, start: &[State]) -> Self {
        let count = world.bodies.len();
        let mut root: Vec<usize> = (0..count).collect();
        let mut tied = vec![false; count];
        let mut join = |bodies: &[usize]| {
            let mut movable = bodies.iter().copied().filter(|&b| !world.bodies[b].fixed);
            let Some(first) = movable.next() else { return };
            tied[first] = true;
            let one = find(&root, first);
            for other in movable {
                tied[other] = true;
                let two = find(&root, other);
                root[one.max(two)] = one.min(two);
            }
        };
        for joint in world.joints.iter().filter(|joint| world.keeps(joint)) {
            join(&joint.bodies);
        }
        for load in &world.loads {
            join(&load.bodies().into_iter().flatten().collect::<Vec<_>>());
        }
        for (bodies, _) in &world.forces {
            join(bodies);
        }
        let mut constraints = Self {
            start: start.to_vec(),
            system_of: vec![None; count],
            rigid: (0..count).collect(),
            ..Self::default()
        };
        for joint in &world.joints {
            match (&joint.kind, joint.bodies.as_slice()) {
                (Kind::Rolling { plane, .. }, [body, ..]) if world.keeps(joint) => {
                    constraints.rolling.insert([*plane, *body]);
                }
                (kind, &[a, b]) => {
                    constraints.joined.insert([a.min(b), a.max(b)]);
                    if *kind == Kind::Weld {
                        let [one, two] = [find(&constraints.rigid, a), find(&constraints.rigid, b)];
                        constraints.rigid[one.max(two)] = one.min(two);
                    }
                }
                _ => {}
            }
        }
        constraints.rigid = (0..count).map(|body| find(&constraints.rigid, body)).collect();
        let mut number_of = vec![None; count];
        for body in (0..count).filter(|&b| tied[b]) {
            let number = *number_of[find(&root, body)].get_or_insert_with(|| {
                constraints.systems.push(System::default());
                constraints.systems.len() - 1
            });
            constraints.systems[number].bodies.push(body);
            constraints.system_of[body] = Some(super::index(number));
        }
        for (k, joint) in world.joints.iter().enumerate().filter(|(_, joint)| world.keeps(joint)) {
            let Some(system) = joint.bodies.iter().find_map(|&b| constraints.system_of[b]) else { continue };
            let system = &mut constraints.systems[system as usize];
            system.joints.push(k);
            system.external |= joint.bodies.len() == 1;
            for &body in joint.bodies.iter().filter(|&&b| world.bodies[b].fixed) {
                system.external = true;
                if !system.bodies.contains(&body) {
                    system.bodies.push(body);
                }
            }
        }
        let named = world.loads.iter().map(|load| (load.bodies(), load.is_internal()));
        let forced = world.forces.iter().map(|(bodies, _)| ([bodies.first().copied(), None], false));
        for (bodies, internal) in named.chain(forced) {
            let fixed = bodies.iter().flatten().any(|&b| world.bodies[b].fixed);
            for system in bodies.iter().flatten().filter_map(|&b| constraints.system_of[b]) {
                constraints.systems[system as usize].external |= fixed || !internal;
            }
        }
        for load in &world.loads {
            let bodies: Vec<usize> = load.bodies().into_iter().flatten().collect();
            constraints.bring(&bodies);
        }
        for (bodies, _) in &world.forces {
            constraints.bring(bodies);
        }
        for system in &mut constraints.systems {
            system.bodies.sort_unstable();
        }
        constraints
    }

    /// Bodies that a load names belong to its system, movable or not.
    fn bring(&mut self, bodies: &[usize]) {
        let Some(system) = bodies.iter().find_map(|&b| self.system_of[b]) else { return };
        let system = &mut self.systems[system as usize];
        for body in bodies {
            if !system.bodies.contains(body) {
                system.bodies.push(*body);
            }
        }
    }

    /// The systems.
    pub fn systems(&self) -> &[System] {
        &self.systems
    }

    /// The system of a body; none for one that is not tied.
    pub fn system(&self, body: usize) -> Option<&System> {
        self.system_of.get(body).copied().flatten().map(|system| &self.systems[system as usize])
    }
}

fn find(root: &[usize], body: usize) -> usize {
    let mut body = body;
    while root[body] != body {
        body = root[body];
    }
    body
}

impl World {
    /// Whether a body is moved by joints or loads, and so never flies freely.
    pub(crate) fn constrained(&self, body: usize) -> bool {
        self.constraints.system(body).is_some()
    }

    /// Whether a joint is kept whatever it takes; otherwise friction limits it.
    pub(crate) fn keeps(&self, joint: &Joint) -> bool {
        match (&joint.kind, joint.bodies.as_slice()) {
            (Kind::Rolling { plane, .. }, [body, ..]) => {
                !matches!(self.answer([Side::Plane(*plane), Side::Body(*body)]).1, Surface::Coulomb(_))
            }
            _ => true,
        }
    }

    /// Whether joints keep two sides from colliding: those that one constraints, and bodies that welds make one.
    pub(crate) fn joined(&self, sides: [Side; 2]) -> bool {
        let constraints = &self.constraints;
        match sides {
            [Side::Plane(plane), Side::Body(body)] => constraints.rolling.contains(&[plane, body]),
            [Side::Body(a), Side::Body(b)] => {
                constraints.rigid[a] == constraints.rigid[b]
                    || constraints.joined.contains(&[a.min(b), a.max(b)])
            }
            _ => false,
        }
    }

    /// The joints among some bodies that are kept, in their order.
    pub(crate) fn joints_of(&self, bodies: &[u32]) -> Vec<usize> {
        let here = |body: &usize| bodies.contains(&super::index(*body));
        let kept = |joint: &Joint| {
            joint.bodies.iter().all(here)
                && self.keeps(joint)
                && joint.bodies.iter().any(|&body| !self.bodies[body].fixed)
        };
        (0..self.joints.len()).filter(|&k| kept(&self.joints[k])).collect()
    }

    /// A joint among bodies numbered anew.
    pub(crate) fn joint_among(&self, joint: usize, bodies: &[u32]) -> Joint {
        let joint = &self.joints[joint];
        let place = |body: &usize| place(bodies, *body);
        Joint {
            name: String::new(),
            bodies: joint.bodies.iter().map(place).collect(),
            kind: joint.kind.clone(),
        }
    }

    /// The same where its bodies are now: points and axes carried along with the body that they are fixed in.
    pub(crate) fn joint_now(&self, joint: usize, bodies: &[u32], now: &[State]) -> Joint {
        let given = &self.joints[joint];
        let mut moved = self.joint_among(joint, bodies);
        let side = |k: usize| {
            moved.bodies.get(k).map(|&local| (self.constraints.start[given.bodies[k]], now[local]))
        };
        let carry = |k: usize, direction: &Unit<nalgebra::Vector3<f64>>| {
            side(k).map_or(*direction, |(start, now)| {
                let fixed = start.orientation.inverse_transform_vector(direction);
                Unit::new_normalize(now.orientation * fixed)
            })
        };
        let point_now = |point: &nalgebra::Vector3<f64>| {
            side(0).map_or(*point, |(start, now)| {
                let fixed = start.orientation.inverse_transform_vector(&(point - start.position));
                now.position + now.orientation * fixed
            })
        };
        let kind = match &given.kind {
            Kind::Hinge { point, axis } => Kind::Hinge { point: point_now(point), axis: carry(0, axis) },
            Kind::Ball { point } => Kind::Ball { point: point_now(point) },
            // A slider's axis is fixed in its second body, or in the ground.
            Kind::Slider { axis } => Kind::Slider { axis: carry(1, axis) },
            Kind::KnifeEdge { point, normal } => {
                Kind::KnifeEdge { point: point_now(point), normal: carry(0, normal) }
            }
            Kind::Weld | Kind::Rolling { .. } | Kind::Rows(_) => given.kind.clone(),
        };
        moved.kind = kind;
        moved
    }

    /// The loads among some bodies, numbered anew, with the time of the run at the flow's zero.
    pub(crate) fn loads_of(&self, bodies: &[u32], zero: f64) -> Vec<Load> {
        let here = |body: usize| bodies.contains(&super::index(body));
        let mut loads = Vec::new();
        for load in &self.loads {
            if load.bodies().into_iter().flatten().all(here) {
                loads.push(load.renumbered(|body| place(bodies, body)));
            }
        }
        for (named, force) in self.forces.iter().filter(|(named, _)| named.iter().all(|&b| here(b))) {
            let places: Vec<usize> = named.iter().map(|&body| place(bodies, body)).collect();
            loads.push(force.among(places, zero));
        }
        loads
    }
}

/// The place of a body among others; it is there.
pub(crate) fn place(bodies: &[u32], body: usize) -> usize {
    let number = super::index(body);
    bodies.iter().position(|&b| b == number).unwrap_or(0)
}

impl World {
    /// How far a body reaches: to its surface, and to what its joints and loads hold it by.
    pub(crate) fn reach(&self, body: usize) -> f64 {
        let centre = self.constraints.start[body].position;
        let arm = |joint: &Joint| match &joint.kind {
            Kind::Hinge { point, .. } | Kind::Ball { point } | Kind::KnifeEdge { point, .. } => {
                (point - centre).norm()
            }
            Kind::Slider { .. } | Kind::Weld => joint
                .bodies
                .iter()
                .fold(0.0, |m: f64, &b| m.max((self.constraints.start[b].position - centre).norm())),
            Kind::Rolling { .. } | Kind::Rows(_) => 0.0,
        };
        let joints = self.joints.iter().filter(|joint| joint.bodies.contains(&body));
        joints.map(arm).fold(self.radius[body], f64::max)
    }

    /// The size of what tied bodies that start at rest have to give: their weight over their reach, and their loads' potential.
    pub(crate) fn constrained_energy(&self, states: &[State]) -> f64 {
        let tied = (0..self.bodies.len()).filter(|&body| self.constrained(body));
        let weight = tied.map(|body| self.bodies[body].mass * self.gravity.norm() * self.reach(body));
        let potential = self.loads.iter().map(|load| load.potential(states).abs());
        weight.chain(potential).sum()
    }
}
