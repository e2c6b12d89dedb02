//! What a scene file says, checked and in the library's types.

use nalgebra::Vector3;

use crate::body::{Body, State};
use crate::contact::{Contact, Side, Surface};
use crate::flow::{End, Load, Wrench};
use crate::impact::Law;
use crate::impact::coulomb::Termination;
use crate::joint::Joint;
use crate::motion::{Flight, Given};
use crate::shape::{HalfSpace, Shape};

pub use super::beam::{Spin, Translation};
use super::expression::Expression;

/// A scene.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// Free text.
    pub title: Option<String>,
    /// Citation, equation, figure.
    pub source: Option<String>,
    /// Uniform gravity.
    pub gravity: Vector3<f64>,
    /// The lengths of a periodic box; zero is an open direction.
    pub periodic: Option<Vector3<f64>>,
    /// The bodies.
    pub bodies: Vec<SceneBody>,
    /// The planes.
    pub planes: Vec<ScenePlane>,
    /// The joints.
    pub joints: Vec<Joint>,
    /// Forces besides gravity.
    pub loads: Vec<SceneLoad>,
    /// Explicit contacts; empty when they are to be detected.
    pub contacts: Vec<Contact>,
    /// Many bodies at once.
    pub fills: Vec<Fill>,
    /// What detected contacts get.
    pub surface: SurfaceRules,
    /// How impacts are resolved.
    pub impact: ImpactSettings,
    /// How the scene is run.
    pub run: RunSettings,
    /// How its two bodies are scattered by each other.
    pub scatter: ScatterSettings,
    /// What varies from sample to sample.
    pub sweep: SweepSettings,
    /// What is allowed but worth saying, such as a quaternion far from unit length.
    pub warnings: Vec<super::Diagnostic>,
}

/// A body with its name and its state at the start.
#[derive(Debug, Clone, PartialEq)]
pub struct SceneBody {
    /// Its name, unique among bodies, planes and joints.
    pub name: String,
    /// Its constants.
    pub body: Body,
    /// Its state.
    pub state: State,
    /// Its angular velocity in body axes, where it was given so: what its flight is prepared from as long as the state is the
    /// one that was read.
    pub body_spin: Option<Vector3<f64>>,
}

impl SceneBody {
    /// Its free flight.
    #[must_use]
    pub fn flight(&self, gravity: &Vector3<f64>) -> Flight {
        Flight::given(&self.body, &self.state, self.body_spin.as_ref(), gravity)
    }

    /// That flight, with the data that it was prepared from.
    #[must_use]
    pub fn given<'a>(&'a self, flight: &'a Flight) -> Given<'a> {
        Given::new(&self.body, flight, self.body_spin.as_ref())
    }
}

/// A plane with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct ScenePlane {
    /// Its name, unique among bodies, planes and joints.
    pub name: String,
    /// The half-space.
    pub half_space: HalfSpace,
}

/// A force besides gravity.
#[derive(Debug, Clone, PartialEq)]
pub struct SceneLoad {
    /// Its name, unique among bodies, planes, joints and loads.
    pub name: String,
    /// What it does.
    pub kind: LoadKind,
}

/// What a load does. Points are given in the world at the start, and move with their bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LoadKind {
    /// A constant force.
    Force {
        /// On which body.
        body: usize,
        /// The force.
        vector: Vector3<f64>,
        /// Where; without it, at the centre of mass.
        point: Option<Vector3<f64>>,
    },
    /// A constant torque.
    Torque {
        /// On which body.
        body: usize,
        /// The torque.
        vector: Vector3<f64>,
    },
    /// A spring with a damper along it.
    Spring {
        /// The bodies at its ends; none is the ground.
        bodies: [Option<usize>; 2],
        /// Its ends.
        points: [Vector3<f64>; 2],
        /// Force per length.
        stiffness: f64,
        /// The length without force; without it, that at the start.
        length: Option<f64>,
        /// Force per speed.
        damping: f64,
    },
}

impl SceneLoad {
    /// The load of bodies at their states at the start.
    #[must_use]
    pub fn at(&self, states: &[State]) -> Load {
        let local = |body: usize, point: &Vector3<f64>| {
            states[body].orientation.inverse_transform_vector(&(point - states[body].position))
        };
        match self.kind {
            LoadKind::Force { body, vector, point } => {
                let point = point.map_or_else(Vector3::zeros, |point| local(body, &point));
                Load::Push { body, point, force: vector }
            }
            LoadKind::Torque { body, vector } => {
                Load::Constant { body, wrench: Wrench { force: Vector3::zeros(), torque: vector } }
            }
            LoadKind::Spring { bodies, points, stiffness, length, damping } => {
                let end = |k: usize| End {
                    body: bodies[k],
                    point: bodies[k].map_or(points[k], |body| local(body, &points[k])),
                };
                let rest_length = length.unwrap_or_else(|| (points[1] - points[0]).norm());
                Load::Spring { ends: [end(0), end(1)], stiffness, rest_length, damping }
            }
        }
    }
}

/// Many bodies of one kind, to be placed by the simulation.
#[derive(Debug, Clone, PartialEq)]
pub struct Fill {
    /// The common part of the bodies' names.
    pub name: String,
    /// How many.
    pub count: usize,
    /// Their shape.
    pub shape: Shape,
    /// Their mass.
    pub mass: f64,
    /// The fraction of the box's volume that they fill, when given.
    pub packing_fraction: Option<f64>,
    /// k_B T of every active degree of freedom.
    pub temperature: f64,
    /// How they start.
    pub start: Start,
    /// The seed of the random numbers.
    pub seed: u64,
    /// Collisions of each body before the run begins, when given.
    pub equilibrate: Option<f64>,
}

/// How a fill is placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// On a lattice.
    Lattice,
    /// At random, grown to the density without overlap.
    Random,
}

impl Start {
    /// All of them, the default first.
    pub const ALL: [Self; 2] = [Self::Random, Self::Lattice];

    /// Its name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lattice => "lattice",
            Self::Random => "random",
        }
    }
}

/// What detected contacts get: a default, and exceptions by pair.
#[derive(Debug, Clone, PartialEq)]
pub struct SurfaceRules {
    /// The default coefficient of restitution.
    pub restitution: f64,
    /// The default surface.
    pub kind: Surface,
    /// Exceptions; the first that names both sides, in either order, counts.
    pub pairs: Vec<SurfacePair>,
}

impl Default for SurfaceRules {
    fn default() -> Self {
        Self { restitution: 1.0, kind: Surface::Smooth, pairs: Vec::new() }
    }
}

impl SurfaceRules {
    /// The restitution and the surface of a contact of two sides, in either order.
    #[must_use]
    pub fn of(&self, sides: [Side; 2]) -> (f64, Surface) {
        let pair = self.rule_of(sides).map(|pair| &self.pairs[pair]);
        pair.map_or((self.restitution, self.kind), |pair| (pair.restitution, pair.kind))
    }

    /// Which exception counts for a contact of two sides, in either order; `None`: the default.
    #[must_use]
    pub fn rule_of(&self, sides: [Side; 2]) -> Option<usize> {
        let [first, second] = sides;
        self.pairs.iter().position(|pair| pair.sides == sides || pair.sides == [second, first])
    }
}

/// The surface of one pair.
#[derive(Debug, Clone, PartialEq)]
pub struct SurfacePair {
    /// The two sides.
    pub sides: [Side; 2],
    /// The coefficient of restitution.
    pub restitution: f64,
    /// The surface.
    pub kind: Surface,
}

/// How impacts are resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImpactSettings {
    /// The law.
    pub law: Law,
    /// How a Coulomb contact ends.
    pub termination: Termination,
}

impl Default for ImpactSettings {
    fn default() -> Self {
        Self { law: Law::NewtonLcp, termination: Termination::Stronge }
    }
}

/// How the scene is run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunSettings {
    /// The time to stop at.
    pub until: f64,
    /// The number of events to stop at.
    pub max_events: usize,
    /// The interval of samples; zero: events only.
    pub sample: f64,
    /// Whether events are kept.
    pub record_events: bool,
    /// What happens at a paradox.
    pub on_paradox: OnParadox,
    /// How long a collision of very many bodies is taken to last: one that follows another of the same body sooner loses no
    /// energy. Where it is not given, a small share of the time between collisions; zero: never.
    pub contact_time: Option<f64>,
    /// Impacts that approach more slowly than this are plastic, where the restitution is below one. Where it is not given, a small share of
    /// the speeds at hand; zero: none are.
    pub rest_speed: Option<f64>,
    /// What happens where the exact motion has no continuation.
    pub on_trouble: OnTrouble,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            until: 10.0,
            max_events: 1_000_000,
            sample: 0.01,
            record_events: true,
            on_paradox: OnParadox::Hold,
            contact_time: None,
            rest_speed: None,
            on_trouble: OnTrouble::Step,
        }
    }
}

/// What happens where the exact motion has no continuation: friction that jams, contacts that contradict each other, motion without
/// headway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnTrouble {
    /// The bodies concerned are carried on by time steps until their motion is exact again; reported.
    Step,
    /// The run ends.
    Stop,
}

impl OnTrouble {
    /// All of them, the default first.
    pub const ALL: [Self; 2] = [Self::Step, Self::Stop];

    /// Its name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Stop => "stop",
        }
    }
}

/// What happens at a paradox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnParadox {
    /// The bodies stay in contact under a workless force until it returns to zero.
    Hold,
    /// They pass, penetrating; reported.
    Pass,
    /// The run ends.
    Stop,
}

impl OnParadox {
    /// All of them, the default first.
    pub const ALL: [Self; 3] = [Self::Hold, Self::Pass, Self::Stop];

    /// Its name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hold => "hold",
            Self::Pass => "pass",
            Self::Stop => "stop",
        }
    }
}

/// How two bodies are scattered by each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScatterSettings {
    /// How many encounters.
    pub samples: u64,
    /// The seed of the random numbers.
    pub seed: u64,
    /// How fast the bodies approach.
    pub translation: Translation,
    /// How fast they spin.
    pub spin: Spin,
}

impl Default for ScatterSettings {
    fn default() -> Self {
        Self { samples: 100_000, seed: 0, translation: Translation::Speed(1.0), spin: Spin::Speed(0.0) }
    }
}

/// What varies from sample to sample.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SweepSettings {
    /// How many samples, where the scene says.
    pub samples: Option<u64>,
    /// The seed of the random numbers.
    pub seed: u64,
    /// What varies.
    pub vary: Vec<Vary>,
    /// What else to record.
    pub collect: Vec<Collect>,
}

/// A number, a vector or an orientation that varies.
#[derive(Debug, Clone, PartialEq)]
pub struct Vary {
    /// Where it is in the scene; none for a number that only others use.
    pub path: Option<String>,
    /// Its name in expressions.
    pub name: Option<String>,
    /// How it varies.
    pub how: Varied,
    /// Where the text says so.
    pub span: core::ops::Range<usize>,
}

impl Vary {
    /// The columns of a table that has it, one for each number: the path, with an index for a vector, or the name.
    #[must_use]
    pub fn columns(&self) -> Vec<String> {
        let name = self.path.as_ref().or(self.name.as_ref()).cloned().unwrap_or_default();
        match self.how.width() {
            1 => vec![name],
            width => (0..width).map(|i| format!("{name}[{i}]")).collect(),
        }
    }
}

/// How a number varies.
#[derive(Debug, Clone, PartialEq)]
pub enum Varied {
    /// Uniform between two numbers.
    Uniform([f64; 2]),
    /// Normal: mean and standard deviation.
    Normal([f64; 2]),
    /// These in turn.
    Values(Vec<f64>),
    /// So many at equal distances, both ends among them.
    Grid {
        /// The first.
        from: f64,
        /// The last.
        to: f64,
        /// How many.
        count: u64,
    },
    /// A vector of this length, its direction uniform.
    Direction(f64),
    /// An orientation, uniform.
    Orientation,
    /// Computed from those before it.
    Expression(Expression),
}

impl Varied {
    /// How many numbers it is.
    #[must_use]
    pub fn width(&self) -> usize {
        match self {
            Self::Direction(_) => 3,
            Self::Orientation => 4,
            _ => 1,
        }
    }
}

/// What a sweep records of each sample besides how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collect {
    /// The first event.
    FirstEvent,
    /// The least and the greatest of each body's coordinates and speeds, and the greatest impulse.
    Extrema,
    /// The averages of a gas.
    Observables,
}

impl Collect {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::FirstEvent, Self::Extrema, Self::Observables];

    /// Its name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FirstEvent => "first_event",
            Self::Extrema => "extrema",
            Self::Observables => "observables",
        }
    }
}
