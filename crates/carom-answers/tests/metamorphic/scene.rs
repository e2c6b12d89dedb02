//! Scenes as values that a test can change, and their text.

use nalgebra::{UnitQuaternion, Vector3};
use serde_json::{Value, json};

pub type Vector = Vector3<f64>;
pub type Turn = UnitQuaternion<f64>;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    Point,
    Sphere(f64),
    Ellipsoid(Vector),
    Superellipsoid(Vector, f64),
}

impl Shape {
    pub fn semi_axes(self) -> Vector {
        match self {
            Self::Point => Vector::zeros(),
            Self::Sphere(radius) => Vector::repeat(radius),
            Self::Ellipsoid(axes) | Self::Superellipsoid(axes, _) => axes,
        }
    }

    /// The radius of a ball about the centre that holds it.
    pub fn reach(self) -> f64 {
        match self {
            Self::Superellipsoid(axes, _) => axes.norm(),
            _ => self.semi_axes().max(),
        }
    }

    /// The point farthest along a direction, in body axes: the gradient of the support function
    /// h = (Σ (a|n|)^q)^(1/q), q = p/(p − 1).
    pub fn farthest(self, n: &Vector) -> Vector {
        let exponent = if let Self::Superellipsoid(_, p) = self { p } else { 2.0 };
        let axes = self.semi_axes();
        if axes.max() == 0.0 {
            return axes;
        }
        let q = exponent / (exponent - 1.0);
        let scaled = axes.component_mul(&n.abs());
        let h = scaled.map(|x| x.powf(q)).sum().powf(1.0 / q);
        Vector::from_fn(|i, _| axes[i] * (scaled[i] / h).powf(q - 1.0).copysign(n[i]))
    }

    fn scaled(self, length: f64) -> Self {
        match self {
            Self::Point => Self::Point,
            Self::Sphere(radius) => Self::Sphere(radius * length),
            Self::Ellipsoid(axes) => Self::Ellipsoid(axes * length),
            Self::Superellipsoid(axes, p) => Self::Superellipsoid(axes * length, p),
        }
    }

    fn text(self) -> Value {
        match self {
            Self::Point => json!({ "point": {} }),
            Self::Sphere(radius) => json!({ "sphere": { "radius": radius } }),
            Self::Ellipsoid(axes) => json!({ "ellipsoid": { "semi_axes": list(&axes) } }),
            Self::Superellipsoid(axes, p) => {
                json!({ "superellipsoid": { "semi_axes": list(&axes), "exponent": p } })
            }
        }
    }
}

#[derive(Debug, Clone)]
pub struct Body {
    pub name: String,
    pub shape: Shape,
    pub mass: f64,
    /// Homogeneous without it.
    pub inertia: Option<Vector>,
    pub position: Vector,
    pub orientation: Turn,
    pub velocity: Vector,
    pub spin: Vector,
    /// Whether the text has the spin in body axes.
    pub spin_in_body: bool,
    pub fixed: bool,
}

impl Body {
    /// Its farthest point along a direction of the world, in the world.
    pub fn farthest(&self, n: &Vector) -> Vector {
        self.position + self.orientation * self.shape.farthest(&self.orientation.inverse_transform_vector(n))
    }

    /// The velocity of a point of it.
    pub fn velocity_at(&self, point: &Vector) -> Vector {
        self.velocity + self.spin.cross(&(point - self.position))
    }

    /// The same body for another length, mass and time.
    fn rescaled(&self, units: Units) -> Self {
        Self {
            shape: self.shape.scaled(units.length),
            mass: self.mass * units.mass,
            inertia: self.inertia.map(|moments| moments * (units.mass * units.length * units.length)),
            position: self.position * units.length,
            velocity: self.velocity * (units.length / units.time),
            spin: self.spin / units.time,
            ..self.clone()
        }
    }
}

#[derive(Debug, Clone)]
pub struct Plane {
    pub name: String,
    pub normal: Vector,
    pub offset: f64,
}

#[derive(Debug, Clone)]
pub enum JointKind {
    Hinge { point: Vector, axis: Vector },
    Ball { point: Vector },
    Slider { axis: Vector },
    Weld,
    Rolling { plane: String },
    KnifeEdge { point: Vector, normal: Vector },
}

#[derive(Debug, Clone)]
pub struct Joint {
    pub name: String,
    pub bodies: Vec<String>,
    pub kind: JointKind,
}

#[derive(Debug, Clone)]
pub enum LoadKind {
    Force { body: String, vector: Vector, point: Option<Vector> },
    Torque { body: String, vector: Vector },
    Spring { bodies: Vec<String>, points: [Vector; 2], stiffness: f64, length: f64, damping: f64 },
}

#[derive(Debug, Clone)]
pub struct Load {
    pub name: String,
    pub kind: LoadKind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Surface {
    Smooth,
    Rough,
    Coulomb(f64),
}

impl Surface {
    fn text(self) -> Value {
        match self {
            Self::Smooth => "smooth".into(),
            Self::Rough => "rough".into(),
            Self::Coulomb(coefficient) => json!({ "coulomb": coefficient }),
        }
    }
}

#[derive(Debug, Clone)]
pub struct Contact {
    pub name: String,
    pub bodies: [String; 2],
    pub point: Vector,
    pub normal: Vector,
    pub restitution: f64,
    pub surface: Surface,
}

#[derive(Debug, Clone)]
pub struct Rule {
    pub bodies: [String; 2],
    pub restitution: f64,
    pub surface: Surface,
}

#[derive(Debug, Clone)]
pub struct World {
    pub gravity: Vector,
    pub periodic: Option<Vector>,
    pub bodies: Vec<Body>,
    pub planes: Vec<Plane>,
    pub joints: Vec<Joint>,
    pub loads: Vec<Load>,
    pub contacts: Vec<Contact>,
    pub rules: Vec<Rule>,
    pub restitution: f64,
    pub surface: Surface,
    pub law: &'static str,
    pub termination: &'static str,
    pub until: f64,
    pub max_events: usize,
    /// Where `gap` is asked for.
    pub at: f64,
}

impl Default for World {
    fn default() -> Self {
        Self {
            gravity: Vector::zeros(),
            periodic: None,
            bodies: Vec::new(),
            planes: Vec::new(),
            joints: Vec::new(),
            loads: Vec::new(),
            contacts: Vec::new(),
            rules: Vec::new(),
            restitution: 1.0,
            surface: Surface::Smooth,
            law: "newton_lcp",
            termination: "stronge",
            until: 1.0,
            max_events: 6,
            at: 0.0,
        }
    }
}

/// How long the new units' numbers are for what was one of each.
#[derive(Debug, Clone, Copy)]
pub struct Units {
    pub length: f64,
    pub mass: f64,
    pub time: f64,
}

pub fn list(v: &Vector) -> [f64; 3] {
    (*v).into()
}

impl World {
    pub fn body(&self, name: &str) -> Option<&Body> {
        self.bodies.iter().find(|body| body.name == name)
    }

    /// Whether some contact has friction, or can have.
    pub fn has_friction(&self) -> bool {
        self.surface != Surface::Smooth
            || self.rules.iter().any(|rule| rule.surface != Surface::Smooth)
            || self.contacts.iter().any(|contact| contact.surface != Surface::Smooth)
    }

    pub fn has_rough(&self) -> bool {
        self.surface == Surface::Rough || self.rules.iter().any(|rule| rule.surface == Surface::Rough)
    }

    pub fn has_coulomb(&self) -> bool {
        let coulomb = |surface: Surface| matches!(surface, Surface::Coulomb(_));
        coulomb(self.surface)
            || self.rules.iter().any(|rule| coulomb(rule.surface))
            || self.contacts.iter().any(|contact| coulomb(contact.surface))
    }

    /// Whether something beside planes and gravity knows where the world stands.
    pub fn is_anchored(&self) -> bool {
        self.bodies.iter().any(|body| body.fixed)
            || self.joints.iter().any(|joint| joint.bodies.len() == 1)
            || self.loads.iter().any(|load| match &load.kind {
                LoadKind::Spring { bodies, .. } => bodies.len() == 1,
                _ => false,
            })
    }

    /// The same world in other units.
    pub fn rescaled(&self, units: Units) -> Self {
        let Units { length, mass, time } = units;
        let joint = |joint: &Joint| {
            let kind = match &joint.kind {
                JointKind::Hinge { point, axis } => JointKind::Hinge { point: point * length, axis: *axis },
                JointKind::Ball { point } => JointKind::Ball { point: point * length },
                JointKind::KnifeEdge { point, normal } => {
                    JointKind::KnifeEdge { point: point * length, normal: *normal }
                }
                kind => kind.clone(),
            };
            Joint { kind, ..joint.clone() }
        };
        let force = mass * length / (time * time);
        let load = |load: &Load| {
            let kind = match &load.kind {
                LoadKind::Force { body, vector, point } => LoadKind::Force {
                    body: body.clone(),
                    vector: vector * force,
                    point: point.map(|point| point * length),
                },
                LoadKind::Torque { body, vector } => {
                    LoadKind::Torque { body: body.clone(), vector: vector * (force * length) }
                }
                LoadKind::Spring { bodies, points, stiffness, length: slack, damping } => LoadKind::Spring {
                    bodies: bodies.clone(),
                    points: points.map(|point| point * length),
                    stiffness: stiffness * (mass / (time * time)),
                    length: slack * length,
                    damping: damping * (mass / time),
                },
            };
            Load { kind, ..load.clone() }
        };
        Self {
            gravity: self.gravity * (length / (time * time)),
            periodic: self.periodic.map(|lengths| lengths * length),
            bodies: self.bodies.iter().map(|body| body.rescaled(units)).collect(),
            planes: self
                .planes
                .iter()
                .map(|plane| Plane { offset: plane.offset * length, ..plane.clone() })
                .collect(),
            joints: self.joints.iter().map(joint).collect(),
            loads: self.loads.iter().map(load).collect(),
            contacts: self
                .contacts
                .iter()
                .map(|contact| Contact { point: contact.point * length, ..contact.clone() })
                .collect(),
            until: self.until * time,
            at: self.at * time,
            ..self.clone()
        }
    }

    /// The scene file, as JSON.
    pub fn text(&self) -> String {
        let bodies = self.bodies.iter().map(|body| {
            let q = body.orientation.quaternion();
            let mut entry = json!({
                "name": body.name,
                "shape": body.shape.text(),
                "position": list(&body.position),
                "orientation": [q.w, q.i, q.j, q.k],
                "fixed": body.fixed,
            });
            if !body.fixed {
                entry["mass"] = json!(body.mass);
                if let Some(moments) = body.inertia {
                    entry["inertia"] = json!(list(&moments));
                }
                entry["velocity"] = json!(list(&body.velocity));
                if body.spin_in_body {
                    let spin = body.orientation.inverse_transform_vector(&body.spin);
                    entry["angular_velocity_body"] = json!(list(&spin));
                } else {
                    entry["angular_velocity"] = json!(list(&body.spin));
                }
            }
            entry
        });
        let planes = self.planes.iter().map(
            |plane| json!({ "name": plane.name, "normal": list(&plane.normal), "offset": plane.offset }),
        );
        let joints = self.joints.iter().map(|joint| {
            let kind = match &joint.kind {
                JointKind::Hinge { point, axis } => {
                    json!({ "hinge": { "point": list(point), "axis": list(axis) } })
                }
                JointKind::Ball { point } => json!({ "ball": { "point": list(point) } }),
                JointKind::Slider { axis } => json!({ "slider": { "axis": list(axis) } }),
                JointKind::Weld => json!({ "weld": {} }),
                JointKind::Rolling { plane } => json!({ "rolling": { "plane": plane } }),
                JointKind::KnifeEdge { point, normal } => {
                    json!({ "knife_edge": { "point": list(point), "normal": list(normal) } })
                }
            };
            json!({ "name": joint.name, "bodies": joint.bodies, "kind": kind })
        });
        let loads = self.loads.iter().map(|load| {
            let kind = match &load.kind {
                LoadKind::Force { body, vector, point } => {
                    let mut force = json!({ "body": body, "vector": list(vector) });
                    if let Some(point) = point {
                        force["point"] = json!(list(point));
                    }
                    json!({ "force": force })
                }
                LoadKind::Torque { body, vector } => {
                    json!({ "torque": { "body": body, "vector": list(vector) } })
                }
                LoadKind::Spring { bodies, points, stiffness, length, damping } => json!({ "spring": {
                    "bodies": bodies,
                    "points": points.map(|point| list(&point)),
                    "stiffness": stiffness,
                    "length": length,
                    "damping": damping,
                } }),
            };
            json!({ "name": load.name, "kind": kind })
        });
        let contacts = self.contacts.iter().map(|contact| {
            json!({
                "name": contact.name,
                "bodies": contact.bodies,
                "point": list(&contact.point),
                "normal": list(&contact.normal),
                "restitution": contact.restitution,
                "surface": contact.surface.text(),
            })
        });
        let rules = self.rules.iter().map(|rule| {
            json!({ "bodies": rule.bodies, "restitution": rule.restitution, "kind": rule.surface.text() })
        });
        let mut world = json!({ "gravity": list(&self.gravity) });
        if let Some(lengths) = self.periodic {
            world["periodic"] = json!(list(&lengths));
        }
        let document = json!({
            "carom": 1,
            "world": world,
            "body": bodies.collect::<Vec<_>>(),
            "plane": planes.collect::<Vec<_>>(),
            "joint": joints.collect::<Vec<_>>(),
            "load": loads.collect::<Vec<_>>(),
            "contact": contacts.collect::<Vec<_>>(),
            "surface": {
                "restitution": self.restitution,
                "kind": self.surface.text(),
                "pair": rules.collect::<Vec<_>>(),
            },
            "impact": { "law": self.law, "termination": self.termination },
            "run": { "until": self.until, "max_events": self.max_events, "sample": 0 },
        });
        document.to_string()
    }
}
