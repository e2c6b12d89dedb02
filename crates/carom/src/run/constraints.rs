//! The constraint graph: which bodies joints, springs and other forces connect into one system, and which pairs joints keep from
//! colliding.
//!
//! The graph does not change during a run. Joints are given in the initial states and move with their bodies. A rolling
//! joint on a surface with Coulomb friction is not in the graph: it is a contact that begins without slip, and rolls as long as friction
//! suffices ([`simulation`](crate::simulation)).

use std::collections::BTreeSet;

use crate::body::State;
use crate::contact::{Side, Surface};
use crate::flow::Load;
use crate::joint::{Joint, Kind};
use nalgebra::Unit;

use super::world::World;

/// The constraint graph.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConstraintGraph {
    /// The states in which the joints are given.
    pub start: Vec<State>,
    /// The system of each movable body that is constrained.
    system_of: Vec<Option<u32>>,
    systems: Vec<System>,
    /// The pairs that joints keep from colliding, the smaller number first; of planes, with their bodies.
    joined: BTreeSet<[usize; 2]>,
    rolling: BTreeSet<[usize; 2]>,
    /// One number for all bodies that welds connect.
    rigid: Vec<usize>,
}

/// Bodies that constraints connect, directly or through others.
#[derive(Debug, Clone, Default)]
pub(crate) struct System {
    /// The bodies, immovable ones included, in order.
    pub bodies: Vec<usize>,
    /// The joints.
    pub joints: Vec<usize>,
    /// Whether external forces act on it: through joints with the ground or an immovable body, or as loads.
    pub external: bool,
}

impl ConstraintGraph {
    pub fn of(world: &World, start: &[State]) -> Self {
        let count = world.bodies.len();
        let mut root: Vec<usize> = (0..count).collect();
        let mut constrained = vec![false; count];
        let mut join = |bodies: &[usize]| {
            let mut movable = bodies.iter().copied().filter(|&b| !world.bodies[b].fixed);
            let Some(first) = movable.next() else { return };
            constrained[first] = true;
            let one = find(&root, first);
            for other in movable {
                constrained[other] = true;
                let two = find(&root, other);
                root[one.max(two)] = one.min(two);
            }
        };
        for joint in world.joints.iter().filter(|joint| world.is_permanent(joint)) {
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
                (Kind::Rolling { plane, .. }, [body, ..]) if world.is_permanent(joint) => {
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
        for body in (0..count).filter(|&b| constrained[b]) {
            let number = *number_of[find(&root, body)].get_or_insert_with(|| {
                constraints.systems.push(System::default());
                constraints.systems.len() - 1
            });
            constraints.systems[number].bodies.push(body);
            constraints.system_of[body] = Some(super::index(number));
        }
        for (k, joint) in world.joints.iter().enumerate().filter(|(_, joint)| world.is_permanent(joint)) {
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
            constraints.include(&bodies);
        }
        for (bodies, _) in &world.forces {
            constraints.include(bodies);
        }
        for system in &mut constraints.systems {
            system.bodies.sort_unstable();
        }
        constraints
    }

    /// Adds the bodies that a load names to its system, movable or not.
    fn include(&mut self, bodies: &[usize]) {
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

    /// The system of a body; `None` if it is free.
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
    /// Whether joints or loads act on a body, so that it never flies freely.
    pub(crate) fn constrained(&self, body: usize) -> bool {
        self.constraints.system(body).is_some()
    }

    /// Whether a joint holds whatever force it needs; otherwise friction limits it.
    pub(crate) fn is_permanent(&self, joint: &Joint) -> bool {
        match (&joint.kind, joint.bodies.as_slice()) {
            (Kind::Rolling { plane, .. }, [body, ..]) => !matches!(
                self.contact_properties([Side::Plane(*plane), Side::Body(*body)]).1,
                Surface::Coulomb(_)
            ),
            _ => true,
        }
    }

    /// Whether a pair may never collide: joints keep it from colliding. The images of constrained bodies in a periodic box may.
    pub(crate) fn is_joined(&self, sides: [Side; 2], image: [i32; 3]) -> bool {
        image == [0; 3] && !self.joints.is_empty() && self.joined(sides)
    }

    /// Whether joints keep two sides from colliding: the bodies of one joint, and bodies that welds connect.
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

    /// The permanent joints among some bodies, in their order. The bodies are in ascending order, or few.
    pub(crate) fn joints_of(&self, bodies: &[u32]) -> Vec<usize> {
        let here = |body: &usize| local_index(bodies, *body).is_some();
        let permanent = |joint: &Joint| {
            joint.bodies.iter().all(here)
                && self.is_permanent(joint)
                && joint.bodies.iter().any(|&body| !self.bodies[body].fixed)
        };
        (0..self.joints.len()).filter(|&k| permanent(&self.joints[k])).collect()
    }

    /// A joint with its bodies numbered by their places in a list.
    pub(crate) fn joint_among(&self, joint: usize, bodies: &[u32]) -> Joint {
        let joint = &self.joints[joint];
        let place = |body: &usize| local_index(bodies, *body).unwrap_or(0);
        Joint {
            name: String::new(),
            bodies: joint.bodies.iter().map(place).collect(),
            kind: joint.kind.clone(),
        }
    }

    /// As above, in the present configuration: points and axes move with the body that they are fixed in.
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

    /// The loads among some bodies, numbered by their places in the list; `zero` is the time of the run at the flow's zero.
    pub(crate) fn loads_of(&self, bodies: &[u32], zero: f64) -> Vec<Load> {
        let here = |body: usize| local_index(bodies, body).is_some();
        let place = |body: usize| local_index(bodies, body).unwrap_or(0);
        let mut loads = Vec::new();
        for load in &self.loads {
            if load.bodies().into_iter().flatten().all(here) {
                loads.push(load.renumbered(place));
            }
        }
        for (named, force) in self.forces.iter().filter(|(named, _)| named.iter().all(|&b| here(b))) {
            let places: Vec<usize> = named.iter().map(|&body| place(body)).collect();
            loads.push(force.among(places, zero));
        }
        loads
    }
}

/// The place of a body in a list in ascending order; a list of few bodies may have any order.
pub(crate) fn local_index(bodies: &[u32], body: usize) -> Option<usize> {
    let number = super::index(body);
    if bodies.len() <= FEW {
        bodies.iter().position(|&b| b == number)
    } else {
        debug_assert!(bodies.is_sorted(), "many bodies are in ascending order");
        bodies.binary_search(&number).ok()
    }
}

/// Up to this many bodies a linear search is faster.
const FEW: usize = 8;

impl World {
    /// The extent of a body from its centre: to its surface, and to the points of its joints and loads.
    pub(crate) fn extent(&self, body: usize) -> f64 {
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

    /// The scale of the energy of constrained bodies that start at rest: their weight times their extent, and their loads' potential.
    pub(crate) fn constrained_energy(&self, states: &[State]) -> f64 {
        let constrained = (0..self.bodies.len()).filter(|&body| self.constrained(body));
        let weight = constrained.map(|body| self.bodies[body].mass * self.gravity.norm() * self.extent(body));
        let potential = self.loads.iter().map(|load| load.potential(states).abs());
        weight.chain(potential).sum()
    }
}
