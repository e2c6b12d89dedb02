//! The same world seen otherwise: turned, moved, mirrored, boosted, in other units; in another order under other names; with a
//! bystander; with every joint twice.

use nalgebra::{Matrix3, Quaternion, Rotation3, UnitQuaternion};

use crate::answer::{Kind, Names, Quantity, Unit};
use crate::draw::Draw;
use crate::scene::{
    Body, Contact, Joint, JointKind, Load, LoadKind, Plane, Rule, Shape, Turn, Units, Vector, World,
};

/// x becomes length · turn x + shift + boost t, masses and times become as many times as much.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    /// The proper part of the turn: it is − this with a mirror. Bodies, which look the same from their other side, turn so.
    pub proper: Turn,
    /// The turn, a mirror included.
    pub turn: Matrix3<f64>,
    pub shift: Vector,
    pub boost: Vector,
    pub units: Units,
}

const SAME: Units = Units { length: 1.0, mass: 1.0, time: 1.0 };

impl Frame {
    pub fn same() -> Self {
        Self {
            proper: Turn::identity(),
            turn: Matrix3::identity(),
            shift: Vector::zeros(),
            boost: Vector::zeros(),
            units: SAME,
        }
    }

    pub fn turned(turn: Turn) -> Self {
        Self { proper: turn, turn: turn.to_rotation_matrix().into_inner(), ..Self::same() }
    }

    /// One of the 24 turns of a cube, exactly, or of the 24 mirrored ones.
    pub fn of_a_cube(draw: &mut Draw) -> Self {
        loop {
            let mut columns = [0, 1, 2];
            draw.shuffle(&mut columns);
            let mut turn = Matrix3::zeros();
            for (row, column) in columns.into_iter().enumerate() {
                turn[(row, column)] = if draw.chance(0.5) { 1.0 } else { -1.0 };
            }
            let mirrored = turn.determinant() < 0.0;
            let proper = if mirrored { -turn } else { turn };
            if proper != Matrix3::identity() || mirrored {
                let proper = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(proper));
                return Self { proper, turn, ..Self::same() };
            }
        }
    }

    /// A mirror in any direction.
    pub fn mirror(normal: &Vector) -> Self {
        // I − 2nnᵀ is minus the half turn about n.
        let half = UnitQuaternion::new_unchecked(Quaternion::from_imag(*normal));
        let turn = Matrix3::identity() - 2.0 * normal * normal.transpose();
        Self { proper: half, turn, ..Self::same() }
    }

    pub fn moved(shift: Vector) -> Self {
        Self { shift, ..Self::same() }
    }

    pub fn boosted(boost: Vector) -> Self {
        Self { boost, ..Self::same() }
    }

    pub fn rescaled(units: Units) -> Self {
        Self { units, ..Self::same() }
    }

    fn axial(&self, v: &Vector) -> Vector {
        self.proper * v
    }

    fn place(&self, x: &Vector) -> Vector {
        self.turn * x + self.shift
    }

    /// The world in this frame.
    pub fn of(&self, world: &World) -> World {
        let world = &world.rescaled(self.units);
        let joint = |joint: &Joint| {
            let kind = match &joint.kind {
                JointKind::Hinge { point, axis } => {
                    JointKind::Hinge { point: self.place(point), axis: self.turn * axis }
                }
                JointKind::Ball { point } => JointKind::Ball { point: self.place(point) },
                JointKind::Slider { axis } => JointKind::Slider { axis: self.turn * axis },
                JointKind::KnifeEdge { point, normal } => {
                    JointKind::KnifeEdge { point: self.place(point), normal: self.turn * normal }
                }
                JointKind::Weld => JointKind::Weld,
                JointKind::Rolling { plane } => JointKind::Rolling { plane: plane.clone() },
            };
            Joint { kind, ..joint.clone() }
        };
        let load = |load: &Load| {
            let kind = match &load.kind {
                LoadKind::Force { body, vector, point } => LoadKind::Force {
                    body: body.clone(),
                    vector: self.turn * vector,
                    point: point.map(|point| self.place(&point)),
                },
                LoadKind::Torque { body, vector } => {
                    LoadKind::Torque { body: body.clone(), vector: self.axial(vector) }
                }
                LoadKind::Spring { bodies, points, stiffness, length, damping } => LoadKind::Spring {
                    bodies: bodies.clone(),
                    points: points.map(|point| self.place(&point)),
                    stiffness: *stiffness,
                    length: *length,
                    damping: *damping,
                },
            };
            Load { kind, ..load.clone() }
        };
        let body = |body: &Body| Body {
            position: self.place(&body.position),
            orientation: self.proper * body.orientation,
            velocity: self.turn * body.velocity + self.boost,
            spin: self.axial(&body.spin),
            ..body.clone()
        };
        let plane = |plane: &Plane| {
            let normal = self.turn * plane.normal;
            Plane { normal, offset: plane.offset + normal.dot(&self.shift), ..plane.clone() }
        };
        let contact = |contact: &Contact| Contact {
            point: self.place(&contact.point),
            normal: self.turn * contact.normal,
            ..contact.clone()
        };
        World {
            gravity: self.turn * world.gravity,
            periodic: world.periodic.map(|lengths| self.turn.abs() * lengths),
            bodies: world.bodies.iter().map(body).collect(),
            planes: world.planes.iter().map(plane).collect(),
            joints: world.joints.iter().map(joint).collect(),
            loads: world.loads.iter().map(load).collect(),
            contacts: world.contacts.iter().map(contact).collect(),
            ..world.clone()
        }
    }

    /// How many of the new unit is one of the old.
    pub fn factor(&self, Unit(length, mass, time): Unit) -> f64 {
        self.units.length.powi(length) * self.units.mass.powi(mass) * self.units.time.powi(time)
    }

    /// A quantity as it is in this frame; `None` if it means something else there.
    pub fn carry(&self, quantity: &Quantity) -> Option<Vec<f64>> {
        let factor = self.factor(quantity.unit);
        let scaled: Vec<f64> = quantity.values.iter().map(|x| x * factor).collect();
        let vector = || Vector::from_column_slice(&scaled);
        Some(match quantity.kind {
            Kind::Scalar => scaled,
            Kind::Total => {
                if self.boost != Vector::zeros() {
                    return None;
                }
                scaled
            }
            Kind::Vector => (self.turn * vector()).as_slice().to_vec(),
            Kind::Axial => self.axial(&vector()).as_slice().to_vec(),
            Kind::Velocity => (self.turn * vector() + self.boost).as_slice().to_vec(),
            Kind::Point(time) => {
                (self.place(&vector()) + self.boost * (time * self.units.time)).as_slice().to_vec()
            }
            Kind::Orientation => {
                let q = quaternion(&quantity.values);
                let q = self.proper.quaternion() * q;
                vec![q.w, q.i, q.j, q.k]
            }
        })
    }
}

fn quaternion(values: &[f64]) -> Quaternion<f64> {
    Quaternion::new(values[0], values[1], values[2], values[3])
}

/// Everything in another order, under other names; and the names as they were. Without `contacts` what decides on the order of
/// contacts stays: bodies, planes and contacts.
pub fn reordered(world: &World, draw: &mut Draw, contacts: bool) -> (World, Names) {
    let mut world = world.clone();
    if contacts {
        draw.shuffle(&mut world.bodies);
        draw.shuffle(&mut world.planes);
        draw.shuffle(&mut world.contacts);
    }
    draw.shuffle(&mut world.joints);
    draw.shuffle(&mut world.loads);
    draw.shuffle(&mut world.rules);
    let mut names = Names::new();
    let old = world
        .bodies
        .iter()
        .map(|body| &body.name)
        .chain(world.planes.iter().map(|plane| &plane.name))
        .chain(world.joints.iter().map(|joint| &joint.name))
        .chain(world.loads.iter().map(|load| &load.name))
        .chain(world.contacts.iter().map(|contact| &contact.name));
    let mut order: Vec<usize> = (0..old.clone().count()).collect();
    draw.shuffle(&mut order);
    for (name, number) in old.zip(order) {
        names.insert(format!("x{number}"), name.clone());
    }
    let back = names.clone();
    let rename = |name: &mut String| {
        if let Some((new, _)) = back.iter().find(|(_, old)| *old == name) {
            name.clone_from(new);
        }
    };
    world.bodies.iter_mut().for_each(|body| rename(&mut body.name));
    world.planes.iter_mut().for_each(|plane| rename(&mut plane.name));
    for joint in &mut world.joints {
        rename(&mut joint.name);
        joint.bodies.iter_mut().for_each(rename);
        if let JointKind::Rolling { plane } = &mut joint.kind {
            rename(plane);
        }
    }
    for load in &mut world.loads {
        rename(&mut load.name);
        match &mut load.kind {
            LoadKind::Force { body, .. } | LoadKind::Torque { body, .. } => rename(body),
            LoadKind::Spring { bodies, .. } => bodies.iter_mut().for_each(rename),
        }
    }
    for Contact { name, bodies, .. } in &mut world.contacts {
        rename(name);
        bodies.iter_mut().for_each(rename);
    }
    for Rule { bodies, .. } in &mut world.rules {
        bodies.iter_mut().for_each(rename);
    }
    (world, names)
}

/// A ball far away on the free side of all planes, if there is such a place.
pub fn with_bystander(world: &World, draw: &mut Draw) -> Option<World> {
    if world.periodic.is_some() {
        return None;
    }
    let away = (0..64).map(|_| draw.direction()).find(|d| {
        let clear = |plane: &Plane| plane.normal.dot(d) > 0.2 * plane.normal.norm();
        world.planes.iter().all(clear)
    })?;
    let mut world = world.clone();
    let bystander = Body {
        name: "zz".to_string(),
        shape: Shape::Sphere(draw.number(0.2, 2.0)),
        mass: draw.number(0.1, 10.0),
        inertia: None,
        position: away * 500.0,
        orientation: draw.turn(),
        velocity: draw.vector(1.0),
        spin: draw.vector(3.0),
        spin_in_body: false,
        fixed: false,
    };
    world.bodies.insert(draw.pick(world.bodies.len() + 1), bystander);
    Some(world)
}

/// Every joint given twice.
pub fn with_joints_twice(world: &World, draw: &mut Draw) -> World {
    let mut world = world.clone();
    for joint in world.joints.clone() {
        let again = Joint { name: format!("{} again", joint.name), ..joint };
        world.joints.insert(draw.pick(world.joints.len() + 1), again);
    }
    world
}
