//! Bodies tied by joints in a run: pendulums, loops, rolling, hinged frames, against closed forms and invariants. Figures are
//! printed; `cargo test --test tied -- --nocapture`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod running;

use carom::body::State;
use carom::flow::{Ending, Flow};
use carom::motion::elliptic::carlson_rf;
use carom::record::{Kind, Memory, Moment};
use carom::scene::model::Scene;
use carom::simulation::Simulation;

use carom::run::{Stopped, World};
use nalgebra::Vector3;
use running::{run, scene, start};

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
    println!(
        "{count} periods: late by {late:.1e}, energy {drift:.1e}, joint {joint:.1e}, audit {:.1e}",
        audit.energy_error_max.value
    );
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
    assert_eq!(simulation.stopped(), Some(Stopped::MaxEvents), "{:?}", simulation.failure());
    let impacts = memory.events.iter().filter(|event| event.kind == Kind::Impact);
    let (mut worst, mut count): (f64, u32) = (0.0, 0);
    for event in impacts {
        count += 1;
        assert_eq!(event.joints().len(), 2);
        worst = worst.max((event.energy_after - event.energy_before).abs());
        assert!((event.separation + event.approach).abs() < 1e-12 * event.approach.abs().max(1.0));
    }
    let drift = (energy(&scene, &simulation.states()) - before).abs();
    let audit = simulation.audit();
    println!(
        "{count} impacts to t = {}: {worst:.1e} each, energy {drift:.1e}, joint {:?}, gap {:.1e}",
        simulation.time(),
        audit.joint_error_max,
        audit.gap_min
    );
    assert!(count >= 100);
    assert!(drift < 1e-11 && worst < 1e-12);
    assert!(audit.joint_error_max.unwrap().value < 1e-13);
    assert!(audit.gap_min > -1e-13);
}

const BALL: &str = "[[body]]\nname = \"ball\"\nshape = { sphere = { radius = 0.05 } }\nmass = 0.2\n\
    inertia = [0.00025, 0.00025, 0.00025]\n";

/// [TZ] Theorem 5.1 with restitution μ, for a wall whose normal is n and a floor below: along the normal, across it, and about the
/// vertical.
fn struck(before: &State, n: Vector3<f64>, restitution: f64) -> [Vector3<f64>; 2] {
    let (m, r, j) = (0.2, 0.05, 0.00025);
    let (full, half) = (j + m * r * r, j + 0.5 * m * r * r);
    let t = Vector3::z().cross(&n);
    let (v1, v2, w3) = (before.velocity.dot(&n), before.velocity.dot(&t), before.angular_velocity.z);
    let e = 1.0 + restitution;
    let v1 = -restitution * v1;
    let across = (1.0 - e * j / (2.0 * half)) * v2 + e * r * j / (2.0 * half) * w3;
    let spin = e * full / (2.0 * r * half) * v2 + (1.0 - e * full / (2.0 * half)) * w3;
    [n * v1 + t * across, n * (-across / r) + t * (v1 / r) + Vector3::z() * spin]
}

/// A ball rolls between four rough walls: exactly straight in between, and at each wall as [TZ] has it.
#[test]
fn a_ball_rolls_in_a_box_of_rough_walls() {
    for restitution in [1.0, 0.9] {
        let scene = scene(&format!(
            "carom = 1\nworld.gravity = [0, 0, -{G}]\nrun = {{ until = 1000, sample = 0.125, max_events = 24 }}\n\
             surface = {{ kind = \"rough\", restitution = {restitution} }}\n\
             [[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\n\
             [[plane]]\nname = \"east\"\nnormal = [-1, 0, 0]\noffset = -1\n\
             [[plane]]\nname = \"west\"\nnormal = [1, 0, 0]\noffset = -1\n\
             [[plane]]\nname = \"north\"\nnormal = [0, -1, 0]\noffset = -0.7\n\
             [[plane]]\nname = \"south\"\nnormal = [0, 1, 0]\noffset = -0.7\n\
             {BALL}position = [0.1, 0.2, 0.05]\nvelocity = [-1.3, 0.7, 0]\nangular_velocity = [-14, -26, 9]\n\
             [[joint]]\nname = \"rolling\"\nbodies = [\"ball\"]\nkind = {{ rolling = {{ plane = \"floor\" }} }}\n"
        ));
        let (simulation, memory) = run(&scene);
        assert_eq!(simulation.stopped(), Some(Stopped::MaxEvents), "{:?}", simulation.failure());
        let (mut worst, mut straight, mut impacts): (f64, f64, u32) = (0.0, 0.0, 0);
        let mut last = scene.bodies[0].state;
        let mut since = 0.0;
        let mut walls = memory.events.iter();
        let mut expected: Option<[Vector3<f64>; 2]> = None;
        for sample in &memory.samples {
            let now = &sample.state;
            match sample.moment {
                Moment::After(_) => {
                    let [v, w] = expected.take().unwrap();
                    worst =
                        worst.max((now.velocity - v).norm()).max((now.angular_velocity - w).norm() * 0.05);
                    (last, since) = (*now, sample.time);
                    impacts += 1;
                }
                moment => {
                    let there = last.position + last.velocity * (sample.time - since);
                    straight = straight
                        .max((now.position - there).norm())
                        .max((now.velocity - last.velocity).norm());
                    straight = straight.max((now.angular_velocity - last.angular_velocity).norm() * 0.05);
                    if let Moment::Before(number) = moment {
                        let event = walls.next().unwrap();
                        assert_eq!((event.number, event.kind), (number, Kind::Impact));
                        assert_eq!(event.joints().len(), 1);
                        expected = Some(struck(now, event.normal, restitution));
                    }
                }
            }
        }
        let demand = simulation.rolling_demands().next().unwrap();
        println!(
            "μ = {restitution}: {impacts} impacts, [TZ] to {worst:.1e}, rolling straight to {straight:.1e}, {demand:?}"
        );
        assert!(impacts >= 20);
        assert!(worst < 1e-14 && straight < 1e-14);
        assert!(simulation.audit().energy_error_max.value < 1e-13);
        assert!(demand.coefficient > 1.0 || demand.pulls.is_some());
    }
}

fn incline(angle: f64, surface: &str, until: f64) -> Scene {
    scene(&format!(
        "carom = 1\nworld.gravity = [0, 0, -{G}]\nrun = {{ until = {until}, sample = 0 }}\n{surface}\
         [[plane]]\nname = \"slope\"\nnormal = [{}, 0, {}]\n\
         {BALL}position = [{}, 0, {}]\n\
         [[joint]]\nname = \"rolling\"\nbodies = [\"ball\"]\nkind = {{ rolling = {{ plane = \"slope\" }} }}\n",
        angle.sin(),
        angle.cos(),
        0.05 * angle.sin(),
        0.05 * angle.cos(),
    ))
}

/// Rolling on an incline: a = g sin β/(1 + J/mr²), and the friction that it takes is tan β/(1 + mr²/J). With less it slides from
/// the start, a = g (sin β − μ cos β).
#[test]
fn a_ball_on_an_incline_rolls_or_slides() {
    let (angle, until) = (0.4f64, 1.5);
    let ratio = 0.00025 / (0.2 * 0.05 * 0.05);
    let needed = angle.tan() / (1.0 + 1.0 / ratio);
    let travelled = |simulation: &Simulation| {
        let state = simulation.states()[0];
        let down = Vector3::new(angle.cos(), 0.0, -angle.sin());
        let start = Vector3::new(0.05 * angle.sin(), 0.0, 0.05 * angle.cos());
        (state.position - start).dot(&down)
    };
    let rolls = 0.5 * until * until * G * angle.sin() / (1.0 + ratio);
    for surface in ["", "surface = { kind = \"rough\" }\n", "surface = { kind = { coulomb = 0.15 } }\n"] {
        let (simulation, memory) = run(&incline(angle, surface, until));
        let off = travelled(&simulation) / rolls - 1.0;
        let demand = simulation.rolling_demands().next();
        println!("{surface:?}: off by {off:.1e}, needs {demand:?} of {needed}");
        assert!(off.abs() < 1e-13, "{off:e}");
        if let Some(demand) = demand {
            assert!((demand.coefficient - needed).abs() < 1e-13);
        }
        assert!(memory.events.iter().all(|event| event.kind != Kind::Slip));
    }
    let (simulation, memory) = run(&incline(angle, "surface = { kind = { coulomb = 0.1 } }\n", until));
    let slides = 0.5 * until * until * G * (angle.sin() - 0.1 * angle.cos());
    let off = travelled(&simulation) / slides - 1.0;
    println!("sliding: off by {off:.1e}; {:?}", memory.events.iter().map(|e| e.kind).collect::<Vec<_>>());
    assert!(off.abs() < 1e-12, "{off:e}");
    assert_eq!(memory.events.iter().filter(|event| event.kind == Kind::Slip).count(), 1);
    assert!(needed > 0.1 && needed < 0.15);
}

/// Two rods and a coupler make a parallelogram that swings as a pendulum: (2(J + m l²/4) + M l²) θ'' = −(m + M) g l sin θ. Of its
/// twenty rows three depend on the others.
#[test]
fn a_parallelogram_of_hinges_swings_as_a_pendulum() {
    let (m, j, heavy, l, angle) = (0.4, 0.05, 1.1, 0.8, 1.2f64);
    let [x, z] = [angle.sin() * l, -angle.cos() * l];
    let total = 2.0 * (j + 0.25 * m * l * l) + heavy * l * l;
    let pull = (m + heavy) * G * l;
    let k = (0.5 * angle).sin().powi(2);
    let period = 4.0 * (total / pull).sqrt() * carlson_rf(0.0, 1.0 - k, 1.0);
    let count = periods(20.0);
    let hinge = |name: &str, bodies: &str, x: f64, z: f64| {
        format!(
            "[[joint]]\nname = \"{name}\"\nbodies = [{bodies}]\nkind = {{ hinge = {{ point = [{x}, 0, {z}], axis = [0, 1, 0] }} }}\n"
        )
    };
    let body = |name: &str, mass: f64, x: f64, z: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\nshape = {{ point = {{}} }}\nmass = {mass}\ninertia = [0.04, {j}, 0.03]\nposition = [{x}, 0, {z}]\n"
        )
    };
    let scene = scene(&format!(
        "carom = 1\nworld.gravity = [0, 0, -{G}]\nrun = {{ until = {}, sample = 0 }}\n{}{}{}{}{}{}{}",
        count * period,
        body("left", m, 0.5 * x, 0.5 * z),
        body("right", m, 0.5 * x + 0.6, 0.5 * z),
        body("coupler", heavy, x + 0.3, z),
        hinge("O1", "\"left\"", 0.0, 0.0),
        hinge("O2", "\"right\"", 0.6, 0.0),
        hinge("A", "\"left\", \"coupler\"", x, z),
        hinge("B", "\"coupler\", \"right\"", x + 0.6, z),
    ));
    let states: Vec<State> = scene.bodies.iter().map(|b| b.state).collect();
    let before = energy(&scene, &states);
    let (simulation, _) = run(&scene);
    assert_eq!(simulation.stopped(), Some(Stopped::Until), "{:?}", simulation.failure());
    let end = simulation.states();
    let late = end[0].angular_velocity.y / (pull * angle.sin() / total);
    let drift = (energy(&scene, &end) - before).abs() / pull;
    let joint = simulation.audit().joint_error_max.unwrap().value;
    println!(
        "{count} periods of a parallelogram: late by {late:.1e}, energy {drift:.1e}, joints {joint:.1e}"
    );
    assert!(late.abs() < 1e-12 * count * period / (1.0 - k), "{late:e}");
    assert!(drift < 1e-11 && joint < 1e-13, "{drift:e} {joint:e}");
    assert!(end[2].angular_velocity.norm() < 1e-12);
}

/// A door on two hinges swings as on one, and they share its weight: the reactions are those of least norm.
#[test]
fn a_door_on_two_hinges_swings_as_on_one() {
    let text = |hinges: &[f64]| {
        let mut text = format!(
            "carom = 1\nworld.gravity = [0, 0, -{G}]\nrun = {{ until = 6, sample = 0.5 }}\n\
             [[body]]\nname = \"door\"\nshape = {{ ellipsoid = {{ semi_axes = [0.4, 0.5, 0.02] }} }}\nmass = 3\nposition = [0.4, 0, 0]\n"
        );
        for (k, y) in hinges.iter().enumerate() {
            text += &format!(
                "[[joint]]\nname = \"hinge {k}\"\nbodies = [\"door\"]\nkind = {{ hinge = {{ point = [0, {y}, 0], axis = [0, 1, 0] }} }}\n"
            );
        }
        scene(&text)
    };
    let (one, alone) = run(&text(&[0.0]));
    let (two, shared) = run(&text(&[-0.3, 0.3]));
    let apart = (one.states()[0].position - two.states()[0].position).norm();
    let mut worst: f64 = 0.0;
    for (whole, parts) in alone.reactions.iter().zip(shared.reactions.chunks(2)) {
        let sum = parts[0].force + parts[1].force;
        worst = worst.max((sum - whole.force).norm()).max((parts[0].force - parts[1].force).norm());
        assert_eq!(whole.time, parts[0].time);
    }
    println!("two hinges: apart by {apart:.1e}, reactions off by {worst:.1e}");
    assert!(apart < 1e-13 && worst < 1e-11);
    assert_eq!(alone.reactions.len(), 13);
    assert!(two.audit().joint_error_max.unwrap().value < 1e-13);
}

/// What a run goes on to from a snapshot is the same to the last bit, joints, rolling and standing contacts included.
#[test]
fn a_snapshot_of_tied_bodies_goes_on_to_the_bit() {
    let ball = format!(
        "carom = 1\nworld.gravity = [0, 0, -{G}]\nrun = {{ until = 4, sample = 0 }}\n\
         surface = {{ restitution = 0.6, kind = {{ coulomb = 0.4 }} }}\n\
         [[plane]]\nname = \"floor\"\nnormal = [0.1, 0, 1]\n\
         [[plane]]\nname = \"wall\"\nnormal = [-1, 0, 0]\noffset = -1\n\
         {BALL}position = [0, 0, {}]\nvelocity = [0, 0, 0]\n\
         [[joint]]\nname = \"rolling\"\nbodies = [\"ball\"]\nkind = {{ rolling = {{ plane = \"floor\" }} }}\n\
         [[body]]\nname = \"bob\"\nshape = {{ sphere = {{ radius = 0.1 }} }}\nmass = 1\nposition = [0.3, 0.6, 0.5]\n\
         [[joint]]\nname = \"string\"\nbodies = [\"bob\"]\nkind = {{ ball = {{ point = [0, 0, 1.2] }} }}\n",
        0.05 * 1.01f64.sqrt()
    );
    for stop in [1, 3, 6] {
        let scene = scene(&ball);
        let mut whole = start(&scene);
        let mut all = Memory::default();
        whole.run(&mut all, |_| true);
        assert_eq!(whole.stopped(), Some(Stopped::Until), "{:?}", whole.failure());
        let mut first = start(&scene);
        let mut memory = Memory::default();
        first.run(&mut memory, |now| now.counts().events < stop);
        let text = serde_json::to_string(&first.snapshot()).unwrap();
        let (world, _) = World::of(&scene);
        let mut second = Simulation::resume(world, scene.run, &serde_json::from_str(&text).unwrap()).unwrap();
        second.go_on(scene.run.max_events);
        second.run(&mut memory, |_| true);
        assert_eq!(whole.states(), second.states());
        assert_eq!(all.events, memory.events);
        assert_eq!(whole.snapshot(), second.snapshot());
        assert!(all.events.len() > 6, "{}", all.events.len());
    }
}

/// What rolling takes of a surface is the greatest over the motion, not over looks at it: against looks a thousand times as close,
/// and infinite where the normal force passes zero and friction does not.
#[test]
fn what_rolling_takes_is_the_greatest_over_the_motion() {
    let text = |spin: f64, lift: f64| {
        scene(&format!(
            "carom = 1\nworld.gravity = [0, 0, -{G}]\nrun = {{ until = 1.7, sample = 0 }}\n\
             [[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\n\
             [[body]]\nname = \"egg\"\nshape = {{ ellipsoid = {{ semi_axes = [0.5, 0.5, 0.8] }} }}\nmass = 1.3\nposition = [0, 0, {lift}]\n\
             orientation = {{ bryan = [0, 0, 0] }}\nvelocity = [{}, 0, 0]\nangular_velocity = [0, {spin}, 0]\n\
             [[joint]]\nname = \"roll\"\nbodies = [\"egg\"]\nkind = {{ rolling = {{ plane = \"floor\" }} }}\n",
            spin * lift
        ))
    };
    let slow = text(0.7, 0.8);
    let (simulation, _) = run(&slow);
    assert_eq!(simulation.stopped(), Some(Stopped::Until), "{:?}", simulation.failure());
    let demand = *simulation.rolling_demands().next().unwrap();
    assert_eq!(demand.pulls, None);
    // The same motion as a flow of its own, looked at closely.
    let (world, states) = World::of(&slow);
    let planes = slow.planes.iter().map(|plane| plane.half_space).collect::<Vec<_>>();
    let flow = Flow::new(&world.bodies, &planes, slow.gravity, &[]).with_joints(&slow.joints, &states);
    let mut piece = flow.advance(&states, 0.0, 1.7).unwrap();
    let (mut most, mut when): (f64, f64) = (0.0, 0.0);
    loop {
        for look in 0..=20_000 {
            let t = piece.from + (piece.until - piece.from) * f64::from(look) / 20_000.0;
            let force = piece.reaction(0, t).force;
            let ratio = force.xy().norm() / force.z;
            if ratio > most {
                (most, when) = (ratio, t);
            }
        }
        if piece.ending == Ending::Until {
            break;
        }
        piece = flow.follow(&piece, 1.7).unwrap();
    }
    println!("rolling takes {} at {}, looked at {most} at {when}", demand.coefficient, demand.time);
    assert!(demand.coefficient >= most, "{} {most}", demand.coefficient);
    // Looks are off by the square of the time between them; by symmetry the greatest comes more than once.
    assert!(demand.coefficient - most < 1e-7 * most);

    // On its end and fast it would have to be pulled, m (g − (a − b²/a) ω²) < 0, until it has tipped over far enough.
    let fast = text(4.7, 0.8);
    let (simulation, _) = run(&fast);
    let demand = *simulation.rolling_demands().next().unwrap();
    println!("fast: {demand:?}");
    assert!(demand.coefficient.is_infinite());
    assert_eq!(demand.pulls, Some(0.0));
    let (_, states) = World::of(&fast);
    let mut piece = flow.advance(&states, 0.0, 1.7).unwrap();
    while piece.until < demand.time {
        piece = flow.follow(&piece, 1.7).unwrap();
    }
    let force = piece.reaction(0, demand.time).force;
    assert!(force.z.abs() < 1e-11 && force.xy().norm() > 0.1, "{force:?}");
}
