//! What does not change during a run: bodies, planes, joints, loads and rules.

use nalgebra::Vector3;

use super::constraints::ConstraintGraph;
use super::status::InvalidStart;
use crate::body::{Body, State};
use crate::contact::{Contact, Side, Surface};
use crate::flow::{Custom, Load};
use crate::impact::Options;
use crate::impact::mechanism::{BodyOutcome, Mechanism};
use crate::joint::Joint;
use crate::motion::Flight;
use crate::scene::model::{OnParadox, OnTrouble, Scene, SurfaceRules};
use crate::shape::{HalfSpace, Shape};
use crate::watch::Watch;

/// The bodies' constants, the planes, and the rules.
#[derive(Debug, Clone)]
pub struct World {
    /// The bodies.
    pub bodies: Vec<Body>,
    /// The planes.
    pub planes: Vec<HalfSpace>,
    /// Uniform gravity.
    pub gravity: Vector3<f64>,
    /// The lengths of a periodic box; zero is an open direction.
    pub periodic: Option<Vector3<f64>>,
    /// Restitution and surface of contacts.
    pub surface: SurfaceRules,
    /// How impacts are resolved.
    pub options: Options,
    /// What happens at a paradox.
    pub on_paradox: OnParadox,
    /// What happens where the exact motion has no continuation.
    pub(crate) on_trouble: OnTrouble,
    /// The joints, in the initial states.
    pub joints: Vec<Joint>,
    /// Forces besides gravity.
    pub loads: Vec<Load>,
    /// A user's forces, each on the bodies it names.
    pub(crate) forces: Vec<(Vec<usize>, Load)>,
    /// Which bodies joints and loads connect.
    pub(crate) constraints: ConstraintGraph,
    /// Each body's circumradius.
    pub(crate) radius: Vec<f64>,
    /// The bodies' initial angular velocities in their own axes, where the scene gives them so; empty if it gives none.
    body_spins: Vec<Option<Vector3<f64>>>,
}

/// The smallest gap between a box and a body that it must leave, relative to the body.
const ROOM: f64 = 1e-9;

impl World {
    /// The world of a scene, and the bodies' states at its start.
    #[must_use]
    pub fn of(scene: &Scene) -> (Self, Vec<State>) {
        let bodies: Vec<Body> = scene.bodies.iter().map(|b| b.body).collect();
        let states: Vec<State> = scene.bodies.iter().map(|b| b.state).collect();
        let options =
            Options { law: scene.impact.law, termination: scene.impact.termination, ..Options::default() };
        let mut world = Self {
            joints: scene.joints.clone(),
            loads: scene.loads.iter().map(|load| load.at(&states)).collect(),
            forces: Vec::new(),
            constraints: ConstraintGraph::default(),
            body_spins: given_in_body_axes(scene),
            radius: bodies.iter().map(|body| body.shape.circumradius()).collect(),
            bodies,
            planes: scene.planes.iter().map(|plane| plane.half_space).collect(),
            gravity: scene.gravity,
            periodic: scene.periodic,
            surface: scene.surface.clone(),
            options,
            on_paradox: scene.run.on_paradox,
            on_trouble: scene.run.on_trouble,
        };
        world.constraints = ConstraintGraph::of(&world, &states);
        (world, states)
    }

    /// Adds a user's force on some bodies: it receives their states in the order of `bodies` and the time of the run, and adds
    /// to their wrenches. [`crate::flow`] moves these bodies together.
    ///
    /// # Panics
    ///
    /// If there is no such body.
    #[must_use]
    pub fn with_force(mut self, bodies: &[usize], force: Custom) -> Self {
        for &body in bodies {
            assert!(body < self.bodies.len(), "a force names body {body} of {}", self.bodies.len());
        }
        self.forces.push((bodies.to_vec(), Load::Custom(force)));
        let states = self.constraints.start.clone();
        self.constraints = ConstraintGraph::of(&self, &states);
        self
    }

    /// The same, watched: see [`crate::watch`].
    #[must_use]
    pub fn with_watch(mut self, watch: Watch) -> Self {
        self.options.watch = watch;
        self
    }

    /// What is being worked on in this world, and whether that is to end.
    pub(crate) fn watch(&self) -> &Watch {
        &self.options.watch
    }

    /// A body's initial angular velocity in its own axes, if the scene gives it so.
    pub(crate) fn body_spin(&self, body: usize) -> Option<&Vector3<f64>> {
        self.body_spins.get(body).and_then(Option::as_ref)
    }

    /// A body's free flight from a state.
    pub(crate) fn flight(&self, body: usize, state: &State) -> Flight {
        Flight::given(&self.bodies[body], state, self.body_spin(body), &self.gravity)
    }

    /// A displacement by whole boxes.
    pub(crate) fn boxes(&self, image: [i32; 3]) -> Vector3<f64> {
        self.periodic.map_or_else(Vector3::zeros, |lengths| {
            Vector3::from_fn(|i, _| if image[i] == 0 { 0.0 } else { f64::from(image[i]) * lengths[i] })
        })
    }

    /// The acceleration of a body in free flight.
    pub(crate) fn free_acceleration(&self, body: usize) -> Vector3<f64> {
        if self.bodies[body].fixed { Vector3::zeros() } else { self.gravity }
    }

    /// The energy that lifts all bodies by their sizes: the scale of energies where nothing moves yet.
    pub(crate) fn weight(&self) -> f64 {
        let movable = self.bodies.iter().zip(&self.radius).filter(|(body, _)| !body.fixed);
        self.gravity.norm() * movable.map(|(body, radius)| body.mass * radius).sum::<f64>()
    }

    /// Whether a body can collide.
    pub(crate) fn can_collide(&self, body: usize) -> bool {
        self.bodies[body].shape != Shape::Point
    }

    /// Restitution and surface of a contact.
    pub(crate) fn contact_properties(&self, sides: [Side; 2]) -> (f64, Surface) {
        self.surface.of(sides)
    }

    /// Why initial states are invalid, as far as single bodies show it.
    pub(crate) fn invalid_start(&self, states: &[State]) -> Vec<InvalidStart> {
        let held_by_floats = |state: &State| {
            let numbers = [state.position, state.velocity, state.angular_velocity];
            numbers.iter().flat_map(|v| v.iter()).all(|x| x.is_finite() && x.abs() < 1e150)
        };
        let beyond = (0..states.len()).filter(|&i| !held_by_floats(&states[i]));
        let too_large = self.too_large().map(|body| InvalidStart::BoxTooShort { body });
        too_large.chain(beyond.map(|body| InvalidStart::Motion { body })).collect()
    }

    /// Applies the impact law to contacts; `None` if it has no solution. A contact without normal impulse has no grip, however
    /// rough.
    pub(crate) fn resolve_impact(
        &self,
        bodies: &[(Body, State)],
        joints: &[Joint],
        mut contacts: Vec<Contact>,
    ) -> Option<BodyOutcome> {
        loop {
            let mechanism = Mechanism { bodies, joints, contacts: &contacts };
            let outcome = mechanism.solve(&self.options).ok()?;
            let mut slack = false;
            for (contact, result) in contacts.iter_mut().zip(&outcome.contacts) {
                let grips = contact.surface != Surface::Smooth && result.impulse <= 0.0;
                if grips && result.impulse_vector != Vector3::zeros() {
                    contact.surface = Surface::Smooth;
                    slack = true;
                }
            }
            if !slack {
                return Some(outcome);
            }
        }
    }

    /// The bodies that a periodic box is too short for: they could touch their own images.
    fn too_large(&self) -> impl Iterator<Item = usize> + '_ {
        let shortest = self.periodic.map_or(f64::INFINITY, |lengths| {
            lengths.iter().filter(|&&l| l > 0.0).fold(f64::INFINITY, |least, &l| least.min(l))
        });
        (0..self.bodies.len())
            .filter(move |&i| self.can_collide(i) && 2.0 * self.radius[i] * (1.0 + ROOM) > shortest)
    }
}

/// The angular velocities that the scene gives in body axes; empty if it gives none.
fn given_in_body_axes(scene: &Scene) -> Vec<Option<Vector3<f64>>> {
    let spins = scene.bodies.iter().map(|b| b.body_spin);
    if spins.clone().all(|spin| spin.is_none()) { Vec::new() } else { spins.collect() }
}
