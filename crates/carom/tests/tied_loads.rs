//! Forces besides gravity in a run: springs, dampers, torques and a user's own, against closed forms. Figures are printed;
//! `cargo test --test tied_loads -- --nocapture`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod running;

use std::sync::Arc;

use carom::body::State;
use carom::flow::Wrench;
use carom::record::{Kind, Memory};
use carom::scene::model::Scene;
use carom::simulation::Simulation;

use carom::run::{Stopped, World};
use nalgebra::Vector3;
use running::scene;

fn run(scene: &Scene) -> (Simulation, Memory) {
    let (simulation, memory) = running::run(scene);
    assert_eq!(simulation.stopped(), Some(Stopped::Until), "{:?}", simulation.failure());
    (simulation, memory)
}

const BALL: &str = "[[body]]\nname = \"ball\"\nshape = { sphere = { radius = 0.1 } }\nmass = 1.5\n";

/// A ball on a spring, damped and not: x = l + A e^(−γt) cos-like, and the audit knows what the damper took.
#[test]
fn a_ball_on_a_spring_swings_as_its_closed_form() {
    let (mass, stiffness, length, stretch, until) = (1.5f64, 40.0, 1.0, 0.3, 50.0);
    for damping in [0.0, 0.4] {
        let scene = scene(&format!(
            "carom = 1\nrun = {{ until = {until}, sample = 0.5 }}\n{BALL}position = [{}, 0, 0]\n\
             [[load]]\nname = \"spring\"\nkind = {{ spring = {{ bodies = [\"ball\"], points = [[{0}, 0, 0], [0, 0, 0]], stiffness = {stiffness}, length = {length}, damping = {damping} }} }}\n",
            length + stretch
        ));
        let (simulation, memory) = run(&scene);
        let decay: f64 = damping / (2.0 * mass);
        let rate = (stiffness / mass - decay * decay).sqrt();
        let exact = |t: f64| {
            length + stretch * (-decay * t).exp() * ((rate * t).cos() + decay / rate * (rate * t).sin())
        };
        let worst =
            memory.samples.iter().fold(0.0, |m: f64, s| m.max((s.state.position.x - exact(s.time)).abs()));
        let audit = simulation.audit();
        println!("c = {damping}: off by {worst:.1e}, energy {:.1e}", audit.energy_error_max.value);
        assert!(worst < 2e-13, "{worst:e}");
        assert!(audit.energy_error_max.value < 1e-12);
        assert!(memory.samples.len() == 101);
    }
}

/// Thrown back by a wall in the middle of its swing, elastically, a ball on a spring takes half as long: |x| of the swing without.
#[test]
fn a_ball_on_a_spring_bounces_off_a_wall() {
    // The wall where the spring is slack: the motion is l + A |cos ωt|.
    let (mass, stiffness) = (1.5f64, 40.0f64);
    let scene = scene(&format!(
        "carom = 1\nrun = {{ until = 20, sample = 0.125 }}\n[[plane]]\nname = \"wall\"\nnormal = [1, 0, 0]\noffset = 0.9\n\
         {BALL}position = [1.3, 0, 0]\n\
         [[load]]\nname = \"spring\"\nkind = {{ spring = {{ bodies = [\"ball\"], points = [[1.3, 0, 0], [0, 0, 0]], stiffness = {stiffness}, length = 1 }} }}\n"
    ));
    let (simulation, memory) = run(&scene);
    let rate = (stiffness / mass).sqrt();
    let samples = memory.samples.iter();
    let worst = samples
        .fold(0.0, |m: f64, s| m.max((s.state.position.x - 1.0 - 0.3 * (rate * s.time).cos().abs()).abs()));
    let impacts: Vec<f64> = memory.events.iter().filter(|e| e.kind == Kind::Impact).map(|e| e.time).collect();
    let mut late: f64 = 0.0;
    for (k, time) in impacts.iter().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "few")]
        let exact = (k as f64 + 0.5) * std::f64::consts::PI / rate;
        late = late.max((time - exact).abs());
    }
    println!(
        "{} impacts, late by {late:.1e}, off by {worst:.1e}, energy {:.1e}",
        impacts.len(),
        simulation.audit().energy_error_max.value
    );
    assert!(impacts.len() > 30);
    assert!(worst < 1e-12 && late < 1e-12);
    assert!(simulation.audit().energy_error_max.value < 1e-12);
}

/// A constant force at the centre is gravity, and a torque about a principal axis turns: ω = τ t/J.
#[test]
fn constant_forces_and_torques() {
    let scene = scene(&format!(
        "carom = 1\nrun = {{ until = 3, sample = 0 }}\n{BALL}velocity = [0.5, 0, 1]\n\
         [[load]]\nname = \"pull\"\nkind = {{ force = {{ body = \"ball\", vector = [0, 0, -3] }} }}\n\
         [[load]]\nname = \"turn\"\nkind = {{ torque = {{ body = \"ball\", vector = [0, 0.02, 0] }} }}\n"
    ));
    let (simulation, _) = run(&scene);
    let state = simulation.states()[0];
    let inertia = 0.4 * 1.5 * 0.01;
    let place = Vector3::new(1.5, 0.0, 3.0 - 9.0);
    println!(
        "off by {:.1e}, {:.1e}",
        (state.position - place).norm(),
        state.angular_velocity.y - 0.02 * 3.0 / inertia
    );
    assert!((state.position - place).norm() < 1e-14);
    assert!((state.angular_velocity.y - 0.02 * 3.0 / inertia).abs() < 1e-13);
    assert!(simulation.audit().energy_error_max.value < 1e-13);
}

/// A user's force that depends on the time of the run, over several epochs: x = F/(mΩ²) (1 − cos Ωt).
#[test]
fn a_users_force_is_asked_at_the_time_of_the_run() {
    let scene = scene(&format!("carom = 1\nrun = {{ until = 200, sample = 0 }}\n{BALL}"));
    let (world, states) = World::of(&scene);
    let (strength, rate) = (0.7, 2.0f64);
    let world = world.with_force(
        &[0],
        Arc::new(move |t: f64, _: &[State], wrenches: &mut [Wrench]| {
            wrenches[0].force.x += strength * (rate * t).cos();
        }),
    );
    let mut simulation = Simulation::new(world, &states, scene.run).unwrap();
    let mut memory = Memory::default();
    simulation.run(&mut memory, |_| true);
    let exact = strength / (1.5 * rate * rate) * (1.0 - (rate * 200.0).cos());
    let off = simulation.states()[0].position.x - exact;
    println!("off by {off:.1e}");
    assert!(off.abs() < 1e-11, "{off:e}");
    assert!(simulation.audit().energy_error_max.value < 1e-12);
}

/// A ball thrown against a steady pull that friction cannot hold: its slip goes through zero and on the other way without a stop.
#[test]
fn slip_against_a_strong_pull_turns_around() {
    let (pull, coefficient, gravity) = (20.0, 0.3, 9.81);
    let scene = scene(&format!(
        "carom = 1\nworld = {{ gravity = [0, 0, -{gravity}] }}\nsurface = {{ restitution = 0, kind = {{ coulomb = {coefficient} }} }}\n\
         run = {{ until = 1, sample = 0 }}\n\
         [[body]]\nname = \"ball\"\nshape = {{ sphere = {{ radius = 0.1 }} }}\nmass = 1\nposition = [0, 0, 0.1]\nvelocity = [-1, 0, 0]\n\
         [[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\n\
         [[load]]\nname = \"pull\"\nkind = {{ force = {{ body = \"ball\", vector = [{pull}, 0, 0] }} }}\n"
    ));
    let (simulation, _) = run(&scene);
    let friction = coefficient * gravity;
    // The slip changes at F + 7/2 μg, for the spin takes five halves of the friction.
    let turn = 1.0 / (pull + 3.5 * friction);
    let exact = -1.0 + (pull + friction) * turn + (pull - friction) * (1.0 - turn);
    let spin = 2.5 * friction * (1.0 - 2.0 * turn) / 0.1;
    let state = simulation.states()[0];
    println!("off by {:.1e}, spin {:.1e}", state.velocity.x - exact, state.angular_velocity.y - spin);
    assert!((state.velocity.x - exact).abs() < 1e-13);
    assert!((state.angular_velocity.y - spin).abs() < 1e-12 * spin);
    assert!(simulation.audit().energy_error_max.value < 1e-14);
}

/// A block on a spring with dry friction: every half swing is shorter by 2μmg/k, until the spring cannot move it any more.
#[test]
fn dry_friction_takes_the_same_from_every_swing() {
    let (stiffness, loss): (f64, f64) = (100.0, 0.1);
    let half = core::f64::consts::PI / stiffness.sqrt();
    for swings in 1..=12_u32 {
        let scene = scene(&format!(
            "carom = 1\nworld = {{ gravity = [0, 0, -10] }}\nsurface = {{ restitution = 0, kind = {{ coulomb = 0.5 }} }}\n\
             run = {{ until = {}, sample = 0 }}\n\
             [[body]]\nname = \"block\"\nshape = {{ sphere = {{ radius = 0.1 }} }}\nmass = 1\ninertia = [1e9, 1e9, 1e9]\nposition = [0.97, 0, 0.1]\n\
             [[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\n\
             [[load]]\nname = \"spring\"\nkind = {{ spring = {{ bodies = [\"block\"], points = [[0.97, 0, 0.1], [-4, 0, 0.1]], stiffness = {stiffness}, length = 4 }} }}\n",
            half * f64::from(swings)
        ));
        let (simulation, _) = run(&scene);
        // 0.97, −0.87, 0.77 … −0.07, −0.03: there the spring pulls with less than friction.
        let mut place: f64 = 0.97;
        for _ in 0..swings {
            if place.abs() * stiffness > 5.0 {
                place = -place.signum() * (place.abs() - loss);
            }
        }
        let state = simulation.states()[0];
        assert!((state.position.x - place).abs() < 1e-7, "{swings}: {} {place}", state.position.x);
        assert!(simulation.audit().energy_error_max.value < 1e-13);
    }
}
