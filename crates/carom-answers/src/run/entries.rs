//! Events, samples and reactions for programs, in the scene's names.

use std::sync::Arc;

use carom::body::State;
use carom::record::{Event, JointImpulse, JointReaction, Moment, Sample};
use carom::scene::instant::name;
use carom::scene::model::Scene;
use carom::shape::Shape;
use serde::{Serialize, Serializer};

/// One contact of an event.
#[derive(Debug, Serialize)]
pub struct EventEntry<'a> {
    number: u64,
    time: f64,
    time_error: f64,
    kind: &'static str,
    bodies: [&'a str; 2],
    /// Which image of the second body, in a periodic box.
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<[i32; 3]>,
    point: [f64; 3],
    normal: [f64; 3],
    gap: f64,
    approach: f64,
    separation: f64,
    impulse: f64,
    impulse_vector: [f64; 3],
    #[serde(rename = "type")]
    class: &'static str,
    g2: Option<f64>,
    g3: Option<f64>,
    force_slope: Option<f64>,
    /// The time at which bounces end, and its error.
    limit: Option<[f64; 2]>,
    /// What the joints carried, by name.
    #[serde(skip_serializing_if = "Joints::is_empty")]
    joints: Joints<'a>,
    energy_before: f64,
    energy_after: f64,
}

/// Joint impulses by name.
#[derive(Debug)]
struct Joints<'a> {
    scene: &'a Scene,
    impulses: Arc<[JointImpulse]>,
}

impl Joints<'_> {
    fn is_empty(&self) -> bool {
        self.impulses.is_empty()
    }
}

#[derive(Debug, Serialize)]
struct JointEntry<'a> {
    /// The impulse of each row.
    impulse: &'a [f64],
    /// The resultant on the first body.
    linear: [f64; 3],
    /// The moment about the point.
    angular: [f64; 3],
    point: [f64; 3],
    determined: bool,
}

impl Serialize for Joints<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.impulses.iter().map(|joint| {
            let entry = JointEntry {
                impulse: &joint.impulse,
                linear: joint.linear.into(),
                angular: joint.angular.into(),
                point: joint.point.into(),
                determined: joint.determined,
            };
            (&self.scene.joints[joint.joint].name, entry)
        }))
    }
}

/// What a joint exerts at a time.
#[derive(Debug, Serialize)]
pub struct ReactionEntry<'a> {
    time: f64,
    joint: &'a str,
    point: [f64; 3],
    force: [f64; 3],
    torque: [f64; 3],
}

impl<'a> ReactionEntry<'a> {
    /// A reaction in the scene's names.
    pub fn of(scene: &'a Scene, reaction: &JointReaction) -> Self {
        Self {
            time: reaction.time,
            joint: &scene.joints[reaction.joint].name,
            point: reaction.point.into(),
            force: reaction.force.into(),
            torque: reaction.torque.into(),
        }
    }
}

impl<'a> EventEntry<'a> {
    /// An event in the scene's names.
    pub fn of(scene: &'a Scene, event: &Event) -> Self {
        // Those that are not finite are counted, and a note says so.
        let finite = |x: Option<f64>| x.filter(|x| x.is_finite());
        Self {
            number: event.number,
            time: event.time,
            time_error: event.time_error,
            kind: event.kind.name(),
            bodies: event.sides.map(|side| name(scene, side)),
            image: scene.periodic.map(|_| event.image),
            point: event.point.into(),
            normal: event.normal.into(),
            gap: event.gap,
            approach: event.approach,
            separation: event.separation,
            impulse: event.impulse,
            impulse_vector: event.impulse_vector.into(),
            class: event.class.name(),
            g2: finite(event.g2),
            g3: finite(event.g3),
            force_slope: finite(event.force_slope),
            limit: event.limit,
            joints: Joints { scene, impulses: event.joints.clone().unwrap_or_default() },
            energy_before: event.energy_before,
            energy_after: event.energy_after,
        }
    }
}

/// One body at one moment.
#[derive(Debug, Serialize)]
pub struct SampleEntry<'a> {
    time: f64,
    body: &'a str,
    moment: &'static str,
    event: Option<u64>,
    #[serde(flatten)]
    state: StateEntry,
}

impl<'a> SampleEntry<'a> {
    /// A sample in the scene's names.
    pub fn of(scene: &'a Scene, sample: &Sample) -> Self {
        Self {
            time: sample.time,
            body: &scene.bodies[sample.body].name,
            moment: moment_name(sample.moment),
            event: match sample.moment {
                Moment::Sample => None,
                Moment::Before(number) | Moment::After(number) => Some(number),
            },
            state: StateEntry::from(&sample.state),
        }
    }
}

/// The name of a moment.
pub const fn moment_name(moment: Moment) -> &'static str {
    match moment {
        Moment::Sample => "sample",
        Moment::Before(_) => "before",
        Moment::After(_) => "after",
    }
}

/// A body's shape, as pictures need it.
#[derive(Debug, Clone, Serialize)]
pub struct ShapeEntry {
    /// Its name in scenes.
    pub kind: &'static str,
    /// Its semi-axes; of bodies with flats and edges half their extents, rounding included.
    pub semi_axes: [f64; 3],
    /// The exponent of its surface: 2 for an ellipsoid.
    pub exponent: f64,
    /// The radius of the ball that a body with flats and edges is grown by.
    pub rounding: f64,
    /// z of the base of a cone, without its rounding.
    pub base: f64,
    /// The corners of a polyhedron, without its rounding.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub vertices: Vec<[f64; 3]>,
    /// The numbers of the corners of each face, counterclockwise seen from outside.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faces: Vec<Vec<u32>>,
}

impl ShapeEntry {
    /// That of a shape.
    pub fn of(shape: &Shape) -> Self {
        let edged = |kind, [a, b, c]: [f64; 3], r: f64| Self {
            kind,
            semi_axes: [a + r, b + r, c + r],
            exponent: 2.0,
            rounding: r,
            base: 0.0,
            vertices: Vec::new(),
            faces: Vec::new(),
        };
        let (kind, semi_axes, exponent) = match *shape {
            Shape::Box { half_extents, rounding } => return edged("box", half_extents, rounding),
            Shape::Cylinder { radius, half_length, rounding } => {
                return edged("cylinder", [radius, radius, half_length], rounding);
            }
            Shape::Capsule { radius, half_length } => {
                return edged("capsule", [0.0, 0.0, half_length], radius);
            }
            Shape::Cone(cone) => {
                let wide = cone.radius();
                let entry = edged("cone", [wide, wide, 0.5 * cone.height()], cone.rounding());
                return Self { base: cone.base(), ..entry };
            }
            Shape::Disc { radius, rounding } => return edged("disc", [radius, radius, 0.0], rounding),
            Shape::Polyhedron(polyhedron) => {
                let vertices: Vec<[f64; 3]> = polyhedron.corners().map(Into::into).collect();
                let reach = |i: usize| vertices.iter().map(|x| x[i].abs()).fold(0.0, f64::max);
                let entry = edged("polyhedron", [reach(0), reach(1), reach(2)], polyhedron.rounding());
                let faces = polyhedron.faces().map(|(_, outline)| outline.to_vec()).collect();
                return Self { vertices, faces, ..entry };
            }
            Shape::Sphere { radius } => ("sphere", [radius; 3], 2.0),
            Shape::Ellipsoid { semi_axes } => ("ellipsoid", semi_axes, 2.0),
            Shape::Superellipsoid { semi_axes, exponent } => ("superellipsoid", semi_axes, exponent),
            Shape::Point => ("point", [0.0; 3], 2.0),
        };
        let (vertices, faces) = (Vec::new(), Vec::new());
        Self { kind, semi_axes, exponent, rounding: 0.0, base: 0.0, vertices, faces }
    }
}

/// A body's state.
#[derive(Debug, Serialize)]
pub struct StateEntry {
    position: [f64; 3],
    /// Scalar first.
    orientation: [f64; 4],
    velocity: [f64; 3],
    angular_velocity: [f64; 3],
}

impl From<&State> for StateEntry {
    fn from(state: &State) -> Self {
        let q = state.orientation.quaternion();
        Self {
            position: state.position.into(),
            orientation: [q.w, q.i, q.j, q.k],
            velocity: state.velocity.into(),
            angular_velocity: state.angular_velocity.into(),
        }
    }
}
