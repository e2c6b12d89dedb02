//! The fields of a scene and what they mean: the one list that the reader accepts and the schema describes.

/// A field's name and its meaning.
pub(super) type Field = (&'static str, &'static str);

/// The names of some fields.
pub(super) const fn names<const N: usize>(fields: &[Field; N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut i = 0;
    while i < N {
        names[i] = fields[i].0;
        i += 1;
    }
    names
}

pub(super) const SCENE: [Field; 16] = [
    ("carom", "The version of the format."),
    ("title", "Free text."),
    ("source", "Where the scene comes from: citation, equation, figure."),
    ("world", "What holds everywhere."),
    ("body", "The bodies."),
    ("plane", "The planes: immovable half-spaces."),
    ("joint", "The joints: bilateral constraints between bodies, or of a body to the ground."),
    ("load", "Forces besides gravity, for runs: constant ones, torques, springs with dampers."),
    ("contact", "Explicit contacts. Without any, contacts are detected."),
    ("fill", "Many bodies at once."),
    ("surface", "What detected contacts get."),
    ("impact", "How impacts are resolved."),
    ("run", "How the scene is run."),
    ("sweep", "What varies from sample to sample, for `carom sweep`."),
    ("scatter", "How its two bodies are scattered by each other, for `carom scatter`."),
    ("$schema", "The address of this schema, for editors; not used."),
];

pub(super) const WORLD: [Field; 2] = [
    ("gravity", "Uniform gravity, m/s²."),
    ("periodic", "The lengths of a periodic box, m; 0 is an open direction."),
];

pub(super) const BODY: [Field; 12] = [
    ("name", "Unique among bodies, planes, joints and fills."),
    ("shape", "The shape, in the body's principal axes about its centre of mass."),
    ("mass", "The mass, kg. Either this or the density; neither is needed when fixed."),
    ("density", "The density, kg/m³. Either this or the mass; neither is needed when fixed."),
    (
        "inertia",
        "The principal moments of inertia about the centre of mass, in the body's axes, kg m². \
         Without them the body is homogeneous; a point needs them.",
    ),
    ("position", "The centre of mass, m."),
    ("orientation", "The turn from the body's axes to the world's."),
    ("velocity", "The velocity of the centre of mass, m/s."),
    ("angular_velocity", "The angular velocity in the world frame, rad/s."),
    (
        "angular_velocity_body",
        "The angular velocity in the body's axes, rad/s, instead of that in the world frame.",
    ),
    ("bryan_rates", "The rates of the Bryan angles of `orientation`, rad/s, instead of an angular velocity."),
    ("fixed", "Whether the body is immovable, of infinite mass."),
];

pub(super) const SHAPE: [Field; 10] = [
    ("sphere", "A ball."),
    ("ellipsoid", "(x/a)² + (y/b)² + (z/c)² ≤ 1."),
    ("superellipsoid", "|x/a|^p + |y/b|^p + |z/c|^p ≤ 1."),
    ("box", "|x| ≤ a, |y| ≤ b, |z| ≤ c."),
    ("cylinder", "A cylinder about z, about its middle."),
    ("capsule", "A cylinder about z with a half ball at each end."),
    ("cone", "A cone about z, the tip up, about its centre of mass."),
    ("disc", "A disc across z, without thickness unless rounded."),
    ("polyhedron", "The convex hull of points, about its centre of mass."),
    ("point", "No extent: a body that only explicit contacts and joints touch."),
];

pub(super) const SPHERE: [Field; 1] = [("radius", "The radius, m.")];

pub(super) const ELLIPSOID: [Field; 1] = [("semi_axes", "The semi-axes a, b and c, m.")];

pub(super) const SUPERELLIPSOID: [Field; 2] =
    [("semi_axes", "The semi-axes a, b and c, m."), ("exponent", "The exponent p; 2 is an ellipsoid.")];

const ROUNDING: Field = ("rounding", "The radius of a ball that the shape is grown by, m.");

pub(super) const BOX: [Field; 2] = [("half_extents", "Half the lengths of its edges, m."), ROUNDING];

pub(super) const CYLINDER: [Field; 3] =
    [("radius", "The radius, m."), ("half_length", "Half its length along z, m."), ROUNDING];

pub(super) const CAPSULE: [Field; 2] =
    [("radius", "The radius, m."), ("half_length", "Half the length of the straight part, m.")];

pub(super) const CONE: [Field; 3] =
    [("radius", "The radius of the base, m."), ("height", "From the base to the tip, m."), ROUNDING];

pub(super) const DISC: [Field; 2] = [("radius", "The radius, m."), ROUNDING];

pub(super) const POLYHEDRON: [Field; 4] = [
    ("vertices", "Points whose convex hull it is, m. Either these or a file."),
    ("file", "A mesh whose convex hull it is, OBJ or STL; its path is from the scene's folder."),
    ("scale", "What their coordinates are multiplied by, as 0.001 for millimetres."),
    ROUNDING,
];

pub(super) const ORIENTATION: [Field; 2] = [
    ("axes", "The three body axes in the world frame, right-handed and orthonormal."),
    ("bryan", "The angles ψ, θ, φ of A = Rx(ψ) Ry(θ) Rz(φ), body to world, rad."),
];

pub(super) const PLANE: [Field; 3] = [
    ("name", "Unique among bodies, planes, joints and fills."),
    ("normal", "The normal, into the free side; normalised on reading."),
    ("offset", "Free where normal · x > offset, with the normalised normal, m."),
];

pub(super) const JOINT: [Field; 3] = [
    ("name", "Unique among bodies, planes, joints and fills."),
    ("bodies", "One body, joined to the ground, or two."),
    ("kind", "What the joint forbids."),
];

pub(super) const JOINT_KIND: [Field; 7] = [
    ("hinge", "Turning about one axis only."),
    ("ball", "Turning about one point only."),
    ("slider", "Sliding along one axis only."),
    ("weld", "No relative motion."),
    ("rolling", "Touching a plane and not slipping on it."),
    ("knife_edge", "No velocity along a body-fixed direction at a point."),
    ("rows", "Any constraint A v = 0 at this instant: rows of 6 numbers per body, linear then angular."),
];

pub(super) const HINGE: [Field; 2] =
    [("point", "A point on the axis, m."), ("axis", "The axis; normalised on reading.")];

pub(super) const BALL: [Field; 1] = [("point", "The point, m.")];

pub(super) const SLIDER: [Field; 1] = [("axis", "The axis; normalised on reading.")];

pub(super) const ROLLING: [Field; 1] = [("plane", "The name of the plane.")];

pub(super) const KNIFE_EDGE: [Field; 2] =
    [("point", "The point, m."), ("normal", "The direction without velocity; normalised on reading.")];

pub(super) const LOAD: [Field; 2] =
    [("name", "Unique among bodies, planes, joints, loads and fills."), ("kind", "What it does.")];

pub(super) const LOAD_KIND: [Field; 3] = [
    ("force", "A constant force on a body."),
    ("torque", "A constant torque on a body."),
    ("spring", "A spring, with a damper along it, between two bodies or a body and the ground."),
];

pub(super) const FORCE: [Field; 3] = [
    ("body", "The body."),
    ("vector", "The force, N."),
    (
        "point",
        "Where it acts at the start, m; the point moves with the body. Without it, the centre of mass.",
    ),
];

pub(super) const TORQUE: [Field; 2] = [("body", "The body."), ("vector", "The torque, N m.")];

pub(super) const SPRING: [Field; 5] = [
    ("bodies", "One body, tied to the ground, or two."),
    ("points", "Where it ends at the start, m; the points move with their bodies."),
    ("stiffness", "Force per length, N/m."),
    ("length", "The length at which it is slack, m; without it, that at the start."),
    ("damping", "Force per speed along it, N s/m."),
];

pub(super) const CONTACT: [Field; 7] = [
    ("name", "The contact's name; made of the names of the two sides without it."),
    ("bodies", "Two bodies, or a body and a plane."),
    ("point", "Where they touch, m."),
    (
        "normal",
        "The unit normal, from the first body to the second. With a plane it is the plane's, whatever the order, \
         and may be left out.",
    ),
    ("restitution", "The coefficient of restitution; without it, as [surface] says for the two."),
    ("kind", "How the surface answers along the tangent; without it, as [surface] says for the two."),
    ("surface", "The same by its older name."),
];

pub(super) const FILL: [Field; 10] = [
    ("name", "The bodies are name[0], name[1], …"),
    ("count", "How many bodies."),
    ("shape", "Their shape."),
    ("mass", "The mass of each, kg. Either this or the density."),
    ("density", "Their density, kg/m³. Either this or the mass."),
    (
        "packing_fraction",
        "The fraction of the box that they fill. Makes a cubic periodic box when the world has none; checked \
         against the box when it has one, and may then be left out.",
    ),
    ("temperature", "k_B T of every active degree of freedom, J."),
    ("start", "How they are placed: on a lattice, or at random without overlap."),
    ("seed", "The seed of the random numbers."),
    (
        "equilibrate",
        "Collisions of each body, elastic, before the run begins. Without it 50 after a random start, and none on a lattice.",
    ),
];

pub(super) const SURFACE: [Field; 3] = [
    ("restitution", "The coefficient of restitution."),
    ("kind", "How the surface answers along the tangent."),
    ("pair", "Exceptions by pair."),
];

pub(super) const SURFACE_PAIR: [Field; 3] = [
    ("bodies", "Two bodies, or a body and a plane, in any order."),
    ("restitution", "The coefficient of restitution; without it, that of [surface]."),
    ("kind", "How the surface answers along the tangent; without it, that of [surface]."),
];

pub(super) const SURFACE_KIND: [Field; 3] = [
    ("smooth", "No tangential impulse."),
    ("rough", "No slip, elastic along the tangent to the same restitution."),
    ("coulomb", "Coulomb friction with this coefficient."),
];

pub(super) const IMPACT: [Field; 2] =
    [("law", "The impact law."), ("termination", "How a Coulomb contact ends.")];

pub(super) const RUN: [Field; 8] = [
    ("until", "The time to stop at, s."),
    ("max_events", "The number of events to stop at."),
    ("sample", "The interval of output, s; 0: events only."),
    ("record_events", "Whether events are kept, or only counted and audited."),
    ("on_paradox", "What happens at a paradox: contact is held, passed through, or the run stops."),
    (
        "contact_time",
        "Among very many bodies that lose energy: a collision that follows another of the same body sooner than this, s, is \
         elastic, so that collisions do not accumulate without end. 0: never.",
    ),
    (
        "rest_speed",
        "Impacts that approach more slowly than this, m/s, are plastic where the restitution is below one; absent: a millionth of \
         the speeds at hand. 0: none are.",
    ),
    (
        "on_trouble",
        "What happens where the exact motion has no continuation: the bodies concerned are carried on by time steps, or the run stops.",
    ),
];

pub(super) const SCATTER: [Field; 6] = [
    ("samples", "How many encounters."),
    ("seed", "The seed of the random numbers."),
    ("speed", "The relative speed, m/s. Either this or the temperature."),
    (
        "temperature",
        "k_B T, J: relative speeds are those of the collisions of a gas, and spins are thermal unless they are given.",
    ),
    ("spin", "The angular speed of each body, rad/s, its direction uniform."),
    ("spin_temperature", "k_B T of each active spin, J, instead of `spin`."),
];

pub(super) const SWEEP: [Field; 4] = [
    (
        "samples",
        "How many samples. Without it, one for each point of the grid that `values` and `grid` make.",
    ),
    ("seed", "The seed of the random numbers. Sample i depends on it and on i alone."),
    ("collect", "What else to record of each sample."),
    ("vary", "What varies, in this order; of `values` and `grid` the last varies fastest."),
];

pub(super) const SWEEP_VARY: [Field; 9] = [
    (
        "path",
        "A number of the scene, as body.ball.velocity[0]; for a direction a vector, for an orientation one. Without it the number \
         only has a name.",
    ),
    ("name", "A name for expressions, and the column's if there is no path."),
    ("uniform", "Uniform in [from, to]."),
    ("normal", "Normal, [mean, standard deviation]."),
    ("values", "One of these in turn."),
    ("grid", "[from, to, count]: so many values at equal distances, both ends among them."),
    ("direction", "A vector of this length, its direction uniform on the sphere."),
    ("orientation", "Uniform over all orientations."),
    (
        "expression",
        "Computed from numbers varied above, by path or name: + - * / ^, pi, sin, cos, sqrt, exp, log, min, max …",
    ),
];
