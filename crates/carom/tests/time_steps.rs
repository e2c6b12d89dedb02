//! Time steps, where the exact motion has no continuation, and the rest speed: closed forms of single steps, and runs that end, say what
//! was approximate, and go on to the same bits from a snapshot.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod running;

use std::fmt::Write as _;

use carom::body::{Body, State};
use carom::contact::{Side, Surface};
use carom::flow::{Flow, Held, Restitution};
use carom::record::Memory;
use carom::run::{Cause, Stopped};
use carom::shape::{HalfSpace, Shape};
use carom::simulation::Simulation;
use nalgebra::{Unit, UnitQuaternion, Vector3};
use running::{run, scene};

const GRAVITY: f64 = 9.81;

/// A ball of radius one half on a plane.
fn ball(surface: Surface, gravity: Vector3<f64>) -> Flow {
    let shape = Shape::Sphere { radius: 0.5 };
    let body = Body { shape, mass: 2.0, inertia: Vector3::repeat(0.2), fixed: false };
    let floor = HalfSpace { normal: Unit::new_unchecked(Vector3::z()), offset: 0.0 };
    Flow::new(&[body], &[floor], gravity, &[Held::new([Side::Plane(0), Side::Body(0)], surface)])
}

fn at(height: f64, velocity: Vector3<f64>) -> State {
    State {
        position: Vector3::new(0.0, 0.0, height),
        orientation: UnitQuaternion::identity(),
        velocity,
        angular_velocity: Vector3::zeros(),
    }
}

fn restitution(coefficient: f64) -> Restitution {
    Restitution { coefficients: vec![coefficient], rest_speed: 1e-6 }
}

/// Down a slope a ball that sticks rolls, and one with too little friction slides: v = a t, whatever the step.
#[test]
fn a_ball_on_a_slope_rolls_or_slides() {
    let slope: f64 = 0.5;
    let gravity = GRAVITY * Vector3::new(slope.sin(), 0.0, -slope.cos());
    // I/(m r²) is 0.4.
    for (friction, acceleration) in [
        (1.0, GRAVITY * slope.sin() / 1.4),
        (0.05, GRAVITY * (slope.sin() - 0.05 * slope.cos())),
        (0.0, GRAVITY * slope.sin()),
    ] {
        let flow = ball(Surface::Coulomb(friction), gravity);
        let mut states = vec![at(0.5, Vector3::zeros())];
        for _ in 0..50 {
            let (step, gap) = flow.time_step(&states, 0.0, 0.01, &restitution(0.0)).unwrap();
            assert!(gap.abs() < 1e-13, "{gap}");
            states = step.end().to_vec();
        }
        let speed = states[0].velocity.x;
        assert!((speed - 0.5 * acceleration).abs() < 1e-9, "μ = {friction}: {speed}");
        assert!(states[0].velocity.z.abs() < 1e-10);
    }
}

/// What meets the plane within a step bounces with its restitution; what comes slowly does not; what is apart may come, not pass.
#[test]
fn impacts_within_a_step() {
    let flow = ball(Surface::Smooth, Vector3::zeros());
    let step = |height: f64, speed: f64, coefficient: f64| {
        let states = [at(height, Vector3::new(0.0, 0.0, -speed))];
        let (step, gap) = flow.time_step(&states, 0.0, 0.01, &restitution(coefficient)).unwrap();
        (step.end()[0].velocity.z, gap)
    };
    assert!((step(0.5, 2.0, 0.5).0 - 1.0).abs() < 1e-14);
    assert!((step(0.51, 2.0, 0.5).0 - 1.0).abs() < 1e-14);
    assert!(step(0.5, 1e-7, 0.5).0.abs() < 1e-14);
    let (velocity, gap) = step(0.51, 2.0, 0.0);
    assert!((velocity + 1.0).abs() < 1e-13 && gap.abs() < 1e-15, "{velocity} {gap}");
    assert!((step(0.6, 2.0, 0.0).0 + 2.0).abs() < 1e-14);
}

/// Overlaps are taken back along the step without kinetic energy, or at once.
#[test]
fn overlaps_are_taken_back() {
    let flow = ball(Surface::Smooth, Vector3::zeros());
    let mut states = vec![at(0.5 - 1e-4, Vector3::zeros())];
    let (step, gap) = flow.time_step(&states, 0.0, 0.01, &restitution(0.0)).unwrap();
    assert!(gap.abs() < 1e-15, "{gap}");
    assert_eq!(step.end()[0].velocity, Vector3::zeros());
    let deepest = flow.separate(&mut states).unwrap();
    assert!((deepest + 1e-4).abs() < 1e-15);
    assert!((states[0].position.z - 0.5).abs() < 1e-15);
}

/// Eggs with friction in a box, which the exact way alone does not bring to an end.
const EGGS: &str = r#"
[[body]]
name="b0"
shape={ ellipsoid = { semi_axes = [0.1562, 0.1250, 0.1094] } }
mass=1
position=[0.273796,0.304423,0.318498]
velocity=[0.2514,-0.8689,-0.9868]
angular_velocity=[1.350,-0.963,-1.063]
[[body]]
name="b1"
shape={ ellipsoid = { semi_axes = [0.1486, 0.1189, 0.1040] } }
mass=1
position=[0.949564,0.297026,0.341823]
velocity=[0.2781,-0.6988,-0.3651]
angular_velocity=[1.472,0.093,0.965]
[[body]]
name="b2"
shape={ ellipsoid = { semi_axes = [0.1555, 0.1244, 0.1088] } }
mass=1
position=[0.317141,0.856403,0.337912]
velocity=[-0.3975,-0.9380,-0.1345]
angular_velocity=[-0.109,0.875,1.515]
"#;

fn eggs(settings: &str) -> String {
    let mut text = format!(
        "carom = 1\nworld.gravity = [0, 0, -{GRAVITY}]\n[surface]\nrestitution = 0.5\nkind = {{ coulomb = 0.3 }}\n\
         [run]\nuntil = 3.4\nsample = 0\n{settings}{EGGS}"
    );
    let walls = [("floor", [0, 0, 1], 0.0), ("w", [1, 0, 0], 0.0), ("e", [-1, 0, 0], -1.2)];
    let more = [("s", [0, 1, 0], 0.0), ("n", [0, -1, 0], -1.2)];
    for (name, normal, offset) in walls.into_iter().chain(more) {
        let _ = writeln!(text, "[[plane]]\nname = \"{name}\"\nnormal = {normal:?}\noffset = {offset:?}");
    }
    text
}

#[test]
fn eggs_with_friction_run_to_their_end() {
    let (simulation, _) = run(&scene(&eggs("")));
    assert_eq!(simulation.stopped(), Some(Stopped::Until), "{:?}", simulation.failure());
    let audit = simulation.audit();
    assert!(audit.energy_error_max.value < 1e-12, "{audit:?}");
    assert!(audit.overlap_max.value < 1e-12, "{audit:?}");
    let stepped: f64 = simulation.stepped().iter().map(|interval| interval.until - interval.from).sum();
    println!("{} intervals, {stepped} s; rest {:?}", simulation.stepped().len(), audit.rest);
    for interval in simulation.stepped() {
        assert!(
            interval.steps > 0 && interval.from < interval.until && interval.gap_min > -1e-3,
            "{interval:?}"
        );
        assert!(interval.error.is_finite());
    }
    assert!(!simulation.stepped().is_empty() && stepped < 0.05);
}

/// A ball between the floor and a heavy ball: impacts at one time without end.
const SQUEEZED: &str = "carom = 1\nworld.gravity = [0, 0, -9.81]\nrun = { until = 0.6, sample = 0 }\nsurface.restitution = 0.9\n\
    [[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\noffset = 0\n\
    [[body]]\nname = \"light\"\nshape = { sphere = { radius = 0.1 } }\nmass = 0.001\nposition = [0, 0, 0.15]\n\
    [[body]]\nname = \"heavy\"\nshape = { sphere = { radius = 0.3 } }\nmass = 100\nposition = [0, 0, 0.7]\nvelocity = [0, 0, -3]\n";

#[test]
fn a_ball_squeezed_by_a_heavy_one_runs_to_its_end() {
    let (simulation, _) = run(&scene(SQUEEZED));
    assert_eq!(simulation.stopped(), Some(Stopped::Until), "{:?}", simulation.failure());
    assert!(simulation.audit().overlap_max.value < 1e-12, "{:?}", simulation.audit());
}

/// Where a scene asks to stop, the run ends as before, with the reason.
#[test]
fn on_trouble_stop_ends_the_run() {
    let stepped = run(&scene(&eggs(""))).0.stepped().to_vec();
    let (simulation, _) = run(&scene(&eggs("on_trouble = \"stop\"\n")));
    assert!(simulation.stepped().is_empty());
    assert_eq!(simulation.stopped(), Some(Stopped::Failed));
    let failure = simulation.failure().unwrap();
    assert!(failure.time >= stepped[0].from, "{failure:?}");
    assert!(matches!(failure.cause, Cause::PersistentContact(_) | Cause::Law));
}

/// From a snapshot in the midst of time steps a run goes on to the same bits.
#[test]
fn a_snapshot_among_time_steps() {
    let scene = scene(&eggs(""));
    let (whole, _) = run(&scene);
    let first = &whole.stepped()[0];
    let mut memory = Memory::default();
    let mut begun = running::start(&scene);
    let middle = 0.5 * (first.from + first.until);
    while begun.time() < middle && begun.step_to(middle, &mut memory) {}
    let record = serde_json::to_string(&begun.snapshot()).unwrap();
    let world = begun.world().clone();
    let mut resumed = Simulation::resume(world, scene.run, &serde_json::from_str(&record).unwrap()).unwrap();
    resumed.run(&mut memory, |_| true);
    assert_eq!(resumed.states(), whole.states());
    assert_eq!(resumed.stepped(), whole.stepped());
}

/// With a rest speed bounces end there: ½ m k² v² is what the last one would have given back.
#[test]
fn a_rest_speed_ends_bounces() {
    let text = |speed: &str| {
        format!(
            "carom = 1\nworld.gravity = [0, 0, -10]\nsurface.restitution = 0.5\nrun = {{ until = 5, sample = 0, rest_speed = {speed} }}\n\
             [[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\noffset = 0\n\
             [[body]]\nname = \"a\"\nshape = {{ sphere = {{ radius = 0.5 }} }}\nmass = 3\nposition = [0, 0, 1.3]\n"
        )
    };
    // It falls with 4 m/s, and comes back with 2, 1, ½: the fifth impact, with ¼, is the first below 0.3.
    let (simulation, memory) = run(&scene(&text("0.3")));
    let rest = simulation.audit().rest;
    assert_eq!(
        (rest.count, memory.events.len()),
        (1, 6),
        "{:?}",
        memory.events.iter().map(|e| e.kind).collect::<Vec<_>>()
    );
    assert!((rest.speed_max - 0.25).abs() < 1e-12);
    assert!((rest.energy - 1.5 * 0.125 * 0.125).abs() < 1e-13);
    assert_eq!(run(&scene(&text("0"))).0.audit().rest.count, 0);
}
