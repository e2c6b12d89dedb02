//! Particle storage, by cache lines: what prediction reads of a body and of its neighbours, what the body's own events read besides, and
//! arrays that few events read.
//!
//! Bodies near in space are near in memory: they are sorted along a space-filling curve.

use bytemuck::{Pod, Zeroable};
use nalgebra::Vector3;
use wide::f64x2;

use super::huge_pages::HugePageArray;
use super::index;
use super::lists::ListSpan;
use super::next_event::{NextEvent, PLANE, REPREDICT};
use super::rotation::{RotationRef, Rotations};
use super::shape_class::{ShapeClass, classify};
use crate::body::State;
use crate::run::World;

/// What prediction reads of a body: one cache line.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
pub(super) struct Kinematics {
    pub trajectory: Trajectory,
    /// The time of the next event; infinite if there is none.
    pub event_time: f64,
}

/// The straight line of a centre. The fields are ordered so that numbers can be read in pairs.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Trajectory {
    /// The centre at the time `since`, in the same periodic box as the reference position.
    pub position: Vector3<f64>,
    pub since: f64,
    pub velocity: Vector3<f64>,
}

impl Trajectory {
    #[inline(always)]
    pub fn at(&self, t: f64) -> Vector3<f64> {
        self.position + self.velocity * (t - self.since)
    }
}

/// Two bodies relative to a third: positions, velocities and the times of their next events.
#[derive(Debug, Clone, Copy)]
pub(super) struct RelativeMotions {
    pub x: [f64x2; 3],
    pub v: [f64x2; 3],
    pub event_time: f64x2,
}

impl RelativeMotions {
    /// At the time `now`, relative to a centre with a velocity, each body displaced by a shift.
    #[inline(always)]
    pub fn new(
        bodies: [&Kinematics; 2],
        shifts: [&Vector3<f64>; 2],
        now: f64x2,
        centre: &[f64x2; 3],
        velocity: &[f64x2; 3],
    ) -> Self {
        let [one, other] = bodies.map(bytemuck::cast_ref::<Kinematics, [f64x2; 4]>);
        let [[px, py], [pz, since], [vx, vy], [vz, event_time]] =
            [0, 1, 2, 3].map(|k| f64x2::transpose([one[k], other[k]]));
        let (position, rate, elapsed) = ([px, py, pz], [vx, vy, vz], now - since);
        let x = [0, 1, 2]
            .map(|k| position[k] + rate[k] * elapsed + f64x2::new([shifts[0][k], shifts[1][k]]) - centre[k]);
        Self { x, v: [0, 1, 2].map(|k| rate[k] - velocity[k]), event_time }
    }

    /// x·v, v² and x².
    #[inline(always)]
    pub fn products(&self) -> [f64x2; 3] {
        let dot = |a: &[f64x2; 3], b: &[f64x2; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        [dot(&self.x, &self.v), dot(&self.v, &self.v), dot(&self.x, &self.x)]
    }
}

impl Kinematics {
    pub fn new(world: &World, body: usize, state: &State) -> Self {
        let velocity = if world.bodies[body].fixed { Vector3::zeros() } else { state.velocity };
        Self {
            trajectory: Trajectory { position: state.position, velocity, since: 0.0 },
            event_time: f64::INFINITY,
        }
    }
}

/// What a body's own events read besides: another cache line.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
pub(super) struct EventData {
    pub reference_position: Vector3<f64>,
    pub neighbourhood_radius: f64,
    /// The time of the last collision.
    pub last_collision: f64,
    /// The body's number in the scene.
    pub scene_index: u32,
    /// Its shape class.
    pub class: u32,
    /// Its neighbour list.
    pub list: ListSpan,
    /// The partner, image and sinking of the next event, as in [`NextEvent`].
    pub partner: u32,
    pub image: u16,
    pub sinks: u16,
}

impl EventData {
    pub fn new(scene_index: usize, class: u32) -> Self {
        Self {
            reference_position: Vector3::zeros(),
            neighbourhood_radius: 0.0,
            last_collision: f64::NEG_INFINITY,
            scene_index: index(scene_index),
            class,
            list: ListSpan::default(),
            partner: REPREDICT,
            image: 0,
            sinks: 0,
        }
    }
}

/// A bound on the length of the path of any point of a body's surface, rotation included: the most by which the body can have reduced a gap.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SurfacePath {
    /// The length at the time `since`.
    pub length: f64,
    pub rate: f64,
    pub since: f64,
}

impl SurfacePath {
    #[inline(always)]
    pub fn at(&self, t: f64) -> f64 {
        self.length + self.rate * (t - self.since)
    }
}

/// All bodies, in the order in memory.
#[derive(Debug, Clone)]
pub(super) struct Particles {
    pub kinematics: HugePageArray<Kinematics>,
    pub event_data: HugePageArray<EventData>,
    /// Circumradii at the start.
    pub radii: Vec<f64>,
    /// The circumradius of all bodies, if it is the same.
    pub common_radius: Option<f64>,
    /// By how many periodic boxes each body is displaced from its stored position.
    pub boxes: Vec<[i32; 3]>,
    pub rotations: Rotations,
    /// Empty if all bodies are spheres.
    pub surface_paths: Vec<SurfacePath>,
    pub classes: Vec<ShapeClass>,
    /// The place in memory of each body of the scene.
    pub places: Vec<u32>,
    /// Whether any contact has to be searched for.
    pub nonspherical: bool,
}

impl Particles {
    /// The bodies of a world in these states, in the scene's order and without neighbours or events.
    pub fn new(world: &World, states: &[State]) -> Self {
        let (classes, class_of) = classify(&world.bodies);
        let radii = world.radius.clone();
        let bodies = states.len();
        Self {
            kinematics: HugePageArray::collect(
                states.iter().enumerate().map(|(i, state)| Kinematics::new(world, i, state)),
            ),
            event_data: HugePageArray::collect(
                class_of.into_iter().enumerate().map(|(i, class)| EventData::new(i, class)),
            ),
            common_radius: radii.first().copied().filter(|first| radii.iter().all(|radius| radius == first)),
            radii,
            boxes: vec![[0; 3]; bodies],
            rotations: Rotations::new(world, states),
            surface_paths: Vec::new(),
            places: (0..index(bodies)).collect(),
            nonspherical: classes.iter().any(|class| class.can_collide && !class.is_sphere),
            classes,
        }
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.kinematics.len()
    }

    #[inline(always)]
    pub fn trajectory(&self, i: usize) -> &Trajectory {
        &self.kinematics[i].trajectory
    }

    #[inline(always)]
    pub fn class(&self, i: usize) -> &ShapeClass {
        &self.classes[self.event_data[i].class as usize]
    }

    /// A body's circumradius at the start.
    #[inline(always)]
    pub fn radius(&self, i: usize) -> f64 {
        self.common_radius.unwrap_or_else(|| self.radii[i])
    }

    /// A body's number in the scene.
    #[inline(always)]
    pub fn scene_index(&self, i: usize) -> usize {
        self.event_data[i].scene_index as usize
    }

    /// The place in memory of a body of the scene.
    #[inline(always)]
    pub fn place(&self, scene_index: usize) -> usize {
        self.places[scene_index] as usize
    }

    /// A body's next event.
    #[inline(always)]
    pub fn next_event(&self, i: usize) -> NextEvent {
        let data = &self.event_data[i];
        let time = self.kinematics[i].event_time;
        NextEvent { time, partner: data.partner, image: data.image, sinks: data.sinks != 0 }
    }

    /// Stores a body's next event.
    #[inline(always)]
    pub fn set_next_event(&mut self, i: usize, event: NextEvent) {
        self.kinematics[i].event_time = event.time;
        let data = &mut self.event_data[i];
        (data.partner, data.image, data.sinks) = (event.partner, event.image, u16::from(event.sinks));
    }

    /// The rate of the surface path of a body that moves and rotates so.
    pub fn path_rate(&self, i: usize, velocity: &Vector3<f64>, rotation: RotationRef) -> f64 {
        velocity.norm() + rotation.speed() * self.class(i).lever
    }

    /// Continues a body's surface path at the rate of its present motion.
    pub fn continue_path(&mut self, i: usize, t: f64) {
        if self.nonspherical {
            let rate = self.path_rate(i, &self.trajectory(i).velocity, self.rotations.get(i));
            self.surface_paths[i] = SurfacePath { length: self.surface_paths[i].at(t), rate, since: t };
        }
    }

    /// Begins all surface paths.
    pub fn start_paths(&mut self, t: f64) {
        self.surface_paths.clear();
        if self.nonspherical {
            self.surface_paths.resize(self.len(), SurfacePath { since: t, ..SurfacePath::default() });
        }
        for i in 0..self.len() {
            self.continue_path(i, t);
        }
    }

    /// Puts the bodies into another order: the body at place k comes from place `from[k]`.
    pub fn reorder(&mut self, from: &[u32]) {
        let mut to = vec![0; from.len()];
        for (k, &old) in from.iter().enumerate() {
            to[old as usize] = index(k);
        }
        self.kinematics = HugePageArray::collect(from.iter().map(|&k| self.kinematics[k as usize]));
        self.event_data = HugePageArray::collect(from.iter().map(|&k| self.event_data[k as usize]));
        for data in self.event_data.iter_mut().filter(|data| data.partner < PLANE) {
            data.partner = to[data.partner as usize];
        }
        self.radii = from.iter().map(|&k| self.radii[k as usize]).collect();
        self.boxes = from.iter().map(|&k| self.boxes[k as usize]).collect();
        self.rotations.reorder(from);
        for (k, data) in self.event_data.iter().enumerate() {
            self.places[data.scene_index as usize] = index(k);
        }
    }

    /// Moves the origin of time.
    pub fn shift_time(&mut self, by: f64) {
        for body in self.kinematics.iter_mut() {
            body.trajectory.since -= by;
            body.event_time -= by;
        }
        for data in self.event_data.iter_mut() {
            data.last_collision -= by;
        }
        self.rotations.shift_time(by);
        for path in &mut self.surface_paths {
            path.since -= by;
        }
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        let each = size_of::<u32>() + size_of::<[i32; 3]>() + size_of::<f64>();
        let each = each + if self.nonspherical { size_of::<SurfacePath>() } else { 0 };
        self.len() * each + self.rotations.bytes() + self.kinematics.bytes() + self.event_data.bytes()
    }
}
