//! Bodies tied by joints in a run: pendulums, loops, rolling, hinged frames, against closed forms and invariants. Figures are
//! printed; `cargo test --test tied -- --nocapture`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use carom::body::State;
use carom::motion::elliptic::carlson_rf;
use carom::record::{Kind, Memory, Nothing};
use carom::scene::model::Scene;
use carom::scene::{Format, file};
use carom::simulation::{Simulation, Stopped, World};

fn scene(text: &str) -> Scene {
    file::read(text, Format::Toml).unwrap()
}

fn start(scene: &Scene) -> Simulation {
    let (world, states) = World::of(scene);
    Simulation::new(world, &states, scene.run).unwrap()
}

fn run(scene: &Scene) -> (Simulation, Memory) {
    let mut simulation = start(scene);
    let mut memory = Memory::default();
    simulation.run(&mut memory, |_| true);
    (simulation, memory)
}

fn periods(default: f64) -> f64 {
    std::env::var("CAROM_PERIODS").map_or(default, |n| n.parse().unwrap())
}

/// Kinetic and potential energy of all bodies.
fn energy(scene: &Scene, states: &[State]) -> f64 {
    let of = |(body, state): (&carom::scene::model::SceneBody, &State)| {
        body.body.kinetic_energy(state) - body.body.mass * scene.gravity.dot(&state.position)
    };
    scene.bodies.iter().zip(states).filter(|(body, _)| !body.body.fixed).map(of).sum()
}

const G: f64 = 9.81;

/// A hinged body has the period 4 √((J + m l²)/(m g l)) K(sin²(θ₀/2)).
#[test]
fn a_pendulum_keeps_its_period_and_its_energy() {
    let (mass, length, inertia, angle) = (1.3, 0.7, 0.05, 1.5f64);
    let k = (0.5 * angle).sin().powi(2);
    let total = inertia + mass * length * length;
    let period = 4.0 * (total / (mass * G * length)).sqrt() * carlson_rf(0.0, 1.0 - k, 1.0);
    let count = periods(50.0);
    let scene = scene(&format!(
        "carom = 1\nworld.gravity = [0, 0, -{G}]\nrun = {{ until = {}, sample = 0 }}\n\
         [[body]]\nname = \"bob\"\nshape = {{ point = {{}} }}\nmass = {mass}\ninertia = [0.04, {inertia}, 0.03]\n\
         position = [{}, 0, {}]\n\
         [[joint]]\nname = \"pin\"\nbodies = [\"bob\"]\nkind = {{ hinge = {{ point = [0, 0, 0], axis = [0, 1, 0] }} }}\n",
        count * period,
        angle.sin() * length,
        -angle.cos() * length,
    ));
    let before = energy(&scene, &[scene.bodies[0].state]);
    let (simulation, _) = run(&scene);
    assert_eq!(simulation.stopped(), Some(Stopped::Until));
    let end = simulation.states()[0];
    let late = end.angular_velocity.y / (mass * G * length * angle.sin() / total);
    let drift = (energy(&scene, &[end]) - before).abs() / (mass * G * length);
    let audit = simulation.audit();
    let joint = audit.joint_error_max.unwrap().value;
    println!("{count} periods: late by {late:.1e}, energy {drift:.1e}, joint {joint:.1e}, audit {:.1e}", audit.energy_error_max.value);
    assert!(late.abs() < 1e-12 * count * period / (1.0 - k), "{late:e}");
    assert!(drift < 1e-11, "{drift:e}");
    assert!(joint < 1e-13, "{joint:e}");
    assert!(audit.energy_error_max.value < 1e-11);
}

/// A double pendulum of two rods whose lower ball strikes a wall, elastically: energy and joints hold through many impacts.
#[test]
fn a_double_pendulum_at_a_wall_keeps_its_energy() {
    let text = format!(
        "carom = 1\nworld.gravity = [0, 0, -{G}]\nrun = {{ until = 1000, sample = 0, max_events = 100 }}\n\
         [[plane]]\nname = \"wall\"\nnormal = [1, 0, 0]\noffset = -0.4\n\
         [[body]]\nname = \"upper\"\nshape = {{ sphere = {{ radius = 0.1 }} }}\nmass = 1\nposition = [0.6, 0, -0.8]\n\
         [[body]]\nname = \"lower\"\nshape = {{ ellipsoid = {{ semi_axes = [0.1, 0.15, 0.2] }} }}\nmass = 0.7\nposition = [1.4, 0, -1.4]\n\
         [[joint]]\nname = \"shoulder\"\nbodies = [\"upper\"]\nkind = {{ hinge = {{ point = [0, 0, 0], axis = [0, 1, 0] }} }}\n\
         [[joint]]\nname = \"elbow\"\nbodies = [\"lower\", \"upper\"]\nkind = {{ ball = {{ point = [0.6, 0, -0.8] }} }}\n"
    );
    let scene = scene(&text);
    let states: Vec<State> = scene.bodies.iter().map(|b| b.state).collect();
    let before = energy(&scene, &states);
    let (simulation, memory) = run(&scene);
    assert_eq!(simulation.stopped(), Some(Stopped::MaxEvents), "{:?}", simulation.trouble());
    let impacts = memory.events.iter().filter(|event| event.kind == Kind::Impact);
    let (mut worst, mut count): (f64, u32) = (0.0, 0);
    for event in impacts {
        count += 1;
        assert_eq!(event.joints.len(), 2);
        worst = worst.max((event.energy_after - event.energy_before).abs());
        assert!((event.separation + event.approach).abs() < 1e-12 * event.approach.abs().max(1.0));
    }
    let drift = (energy(&scene, &simulation.states()) - before).abs();
    let audit = simulation.audit();
    println!("{count} impacts to t = {}: {worst:.1e} each, energy {drift:.1e}, joint {:?}, gap {:.1e}", simulation.time(), audit.joint_error_max, audit.gap_min);
    assert!(count >= 100);
    assert!(drift < 1e-11 && worst < 1e-12);
    assert!(audit.joint_error_max.unwrap().value < 1e-13);
    assert!(audit.gap_min > -1e-13);
}
