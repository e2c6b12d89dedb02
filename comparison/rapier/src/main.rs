//! Rapier: substeps of soft contacts, then restitution along the normal, by projected Gauss–Seidel iterations.
//!
//! A request comes on standard input and its answer goes to standard output, as `../engines/protocol.py` has it. Each collider has a
//! coefficient of restitution; here a contact takes the product of its two. A contact is made once bodies are closer than
//! Rapier's prediction distance, and one that was there a step before bounces no more unless its restitution is one. So that
//! distance, and the number of substeps, are run over.

mod ellipsoid;

use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::time::Instant;

use rapier3d_f64::glamx::DQuat;
use rapier3d_f64::prelude::*;
use serde::{Deserialize, Serialize};

use ellipsoid::Ellipsoid;

const SETTINGS: &str = "semi-implicit Euler with gyroscopic forces, 100 Gauss-Seidel iterations, contact clustering, recycling, CCD and \
    sleep off, no friction, restitution native, ellipsoids as an own shape by their support point, the best of 1, 4 and 16 substeps and of \
    prediction distances of 0.02 (its default), 1e-4 and 1e-9";
const SUBSTEPS: [usize; 3] = [1, 4, 16];
const PREDICTIONS: [f64; 3] = [0.02, 1e-4, 1e-9];
/// A run that takes less is timed three times, in seconds.
const SHORT: f64 = 0.05;

#[derive(Deserialize)]
struct Request {
    gravity: [f64; 3],
    until: f64,
    bodies: Vec<Body>,
    planes: Vec<Plane>,
    contacts: Vec<Contact>,
    steps: Vec<f64>,
    /// Whether the states after every step are wanted.
    #[serde(default)]
    every_step: bool,
}

#[derive(Deserialize)]
struct Body {
    name: String,
    semi_axes: [f64; 3],
    mass: f64,
    inertia: [f64; 3],
    position: [f64; 3],
    orientation: [f64; 4],
    velocity: [f64; 3],
    angular_velocity: [f64; 3],
}

#[derive(Deserialize)]
struct Plane {
    name: String,
    normal: [f64; 3],
    offset: f64,
}

#[derive(Deserialize)]
struct Contact {
    bodies: [String; 2],
    restitution: f64,
    surface: String,
}

#[derive(Serialize)]
struct Answer {
    engine: &'static str,
    version: &'static str,
    settings: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cannot: Option<&'static str>,
    runs: Vec<Run>,
}

#[derive(Serialize)]
struct Run {
    step: f64,
    choice: String,
    r#final: BTreeMap<String, State>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    path: Vec<BTreeMap<String, State>>,
    wall_s: f64,
}

#[derive(Serialize)]
struct State {
    position: [f64; 3],
    orientation: [f64; 4],
    velocity: [f64; 3],
    angular_velocity: [f64; 3],
}

fn main() -> Result<(), Box<dyn Error>> {
    let request: Request = serde_json::from_reader(io::stdin())?;
    let mut answer = Answer {
        engine: "Rapier",
        version: rapier3d_f64::VERSION,
        settings: SETTINGS,
        cannot: None,
        runs: Vec::new(),
    };
    if request.contacts.iter().any(|contact| contact.surface == "rough") {
        answer.cannot = Some(
            "restitution acts along the normal alone; along the surface there is friction, which does not give back",
        );
    } else {
        // Without contacts there is no prediction to choose.
        let predictions = if request.contacts.is_empty() { &PREDICTIONS[..1] } else { &PREDICTIONS[..] };
        for &step in &request.steps {
            for substeps in SUBSTEPS {
                for &prediction in predictions {
                    let mut shown = run(&request, step, substeps, prediction)?;
                    for _ in 0..2 {
                        if shown.wall_s < SHORT {
                            shown.wall_s =
                                shown.wall_s.min(run(&request, step, substeps, prediction)?.wall_s);
                        }
                    }
                    answer.runs.push(shown);
                }
            }
        }
    }
    serde_json::to_writer(io::stdout(), &answer)?;
    Ok(())
}

fn run(request: &Request, step: f64, substeps: usize, prediction: f64) -> Result<Run, Box<dyn Error>> {
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::from(request.gravity);
    let parameters = &mut world.integration_parameters;
    parameters.dt = step;
    parameters.num_solver_iterations = substeps;
    parameters.num_internal_pgs_iterations = 100;
    parameters.max_ccd_substeps = 0;
    parameters.contact_recycling = false;
    parameters.contact_clustering = false;
    parameters.normalized_prediction_distance = prediction;
    parameters.normalized_max_linear_velocity = Real::MAX;
    let surface = |collider: ColliderBuilder, restitution: f64| {
        collider
            .restitution(restitution)
            .restitution_combine_rule(CoefficientCombineRule::Multiply)
            .friction(0.0)
            .friction_combine_rule(CoefficientCombineRule::Multiply)
            .density(0.0)
    };
    for plane in &request.planes {
        let normal = Vector::from(plane.normal);
        let contact = request.contacts.iter().find(|contact| contact.bodies[0] == plane.name);
        let restitution = contact.ok_or("a plane that nothing can touch")?.restitution;
        let half_space = ColliderBuilder::new(SharedShape::new(HalfSpace::new(normal)));
        let collider = surface(half_space, restitution).translation(normal * plane.offset);
        world.insert_collider(collider, None);
    }
    let mut handles = Vec::new();
    for body in &request.bodies {
        let [w, x, y, z] = body.orientation;
        let pose = Pose::from_parts(Vector::from(body.position), DQuat::from_xyzw(x, y, z, w));
        let properties = MassProperties::new(Vector::ZERO, body.mass, Vector::from(body.inertia));
        let rigid = RigidBodyBuilder::dynamic()
            .pose(pose)
            .linvel(Vector::from(body.velocity))
            .angvel(Vector::from(body.angular_velocity))
            .additional_mass_properties(properties)
            .can_sleep(false);
        let axes = body.semi_axes;
        let shape = if axes[0] == axes[1] && axes[1] == axes[2] {
            SharedShape::ball(axes[0])
        } else {
            SharedShape::new(Ellipsoid { semi_axes: Vector::from(axes) })
        };
        let handle = world.insert_body(rigid);
        world.bodies[handle].enable_gyroscopic_forces(true);
        world.insert_collider(surface(ColliderBuilder::new(shape), 1.0), Some(handle));
        handles.push((body.name.clone(), handle));
    }
    let count = (request.until / step).round();
    let start = Instant::now();
    let mut done = 0.0;
    let mut path = Vec::new();
    while done < count {
        world.step();
        done += 1.0;
        if request.every_step {
            path.push(states(&world, &handles));
        }
    }
    let wall_s = start.elapsed().as_secs_f64();
    let choice = match request.contacts.is_empty() {
        true => format!("{substeps} substeps"),
        false => format!("{substeps} substeps, prediction {prediction:e}"),
    };
    Ok(Run { step, choice, r#final: states(&world, &handles), path, wall_s })
}

/// The states of all bodies as they are.
fn states(world: &PhysicsWorld, handles: &[(String, RigidBodyHandle)]) -> BTreeMap<String, State> {
    let state = |(name, handle): &(String, RigidBodyHandle)| {
        let body = &world.bodies[*handle];
        let rotation = body.position().rotation;
        let state = State {
            position: body.position().translation.into(),
            orientation: [rotation.w, rotation.x, rotation.y, rotation.z],
            velocity: body.linvel().into(),
            angular_velocity: body.angvel().into(),
        };
        (name.clone(), state)
    };
    handles.iter().map(state).collect()
}
