//! Contacts of tied bodies in a run: hinged frames that swing into each other, what rests on a stop and is lifted off it, rolling
//! that begins to slip. Figures are printed; `cargo test --test tied_contacts -- --nocapture`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use carom::contact::Side;
use carom::impact::Options;
use carom::record::{Kind, Memory, Moment};
use carom::scene::instant::{Instant, TOUCHING};
use carom::scene::model::Scene;
use carom::scene::{Format, file};
use carom::simulation::{Simulation, Stopped, Unfit, World};
use nalgebra::Vector3;

const G: f64 = 9.81;

fn scene(text: &str) -> Scene {
    file::read(text, Format::Toml).unwrap()
}

fn run(scene: &Scene) -> (Simulation, Memory) {
    let (world, states) = World::of(scene);
    let mut simulation = Simulation::new(world, &states, scene.run).unwrap();
    let mut memory = Memory::default();
    simulation.run(&mut memory, |_| true);
    (simulation, memory)
}

/// The scene with the states of a moment.
fn at(scene: &Scene, memory: &Memory, moment: Moment) -> Scene {
    let mut now = scene.clone();
    for sample in memory.samples.iter().filter(|sample| sample.moment == moment) {
        now.bodies[sample.body].state = sample.state;
    }
    now
}

/// [DPS]: two frames, each hinged and with three balls welded to it, swing into each other in three points at once. What the run
/// does at each impact is what `solve` does with the scene of that instant, joint impulses included.
#[test]
fn hinged_frames_swing_into_each_other_as_solved() {
    let mut text = format!(
        "carom = 1\nworld.gravity = [{G}, 0, -1]\nrun = {{ until = 30, sample = 0, max_events = 12 }}\nsurface = {{ restitution = 0.9 }}\n"
    );
    for (frame, pin, angle, spin, reach) in
        [("first", -0.08, -0.6f64, 0.5, 0.7), ("second", 0.08, 0.4f64, -0.7, 0.66)]
    {
        let place = |arm: f64| [arm * angle.cos(), pin + arm * angle.sin()];
        // v = ω × (c − pin), all of it about the hinge.
        let motion = |[x, y]: [f64; 2]| {
            format!(
                "velocity = [{}, {}, 0]\nangular_velocity = [0, 0, {spin}]\n",
                -spin * (y - pin),
                spin * x
            )
        };
        let [x, y] = place(0.4);
        text += &format!(
            "[[body]]\nname = \"{frame}\"\nshape = {{ point = {{}} }}\nmass = 2\ninertia = [0.1, 0.12, 0.08]\nposition = [{x}, {y}, 0.05]\n{}",
            motion([x, y])
        );
        let [x, y] = place(reach);
        for (k, z) in [0.3, 0.0, -0.25].iter().enumerate() {
            text += &format!(
                "[[body]]\nname = \"{frame} {k}\"\nshape = {{ sphere = {{ radius = 0.05 }} }}\nmass = 0.1\nposition = [{x}, {y}, {z}]\n{}\
                 [[joint]]\nname = \"{frame} weld {k}\"\nbodies = [\"{frame} {k}\", \"{frame}\"]\nkind = {{ weld = {{}} }}\n",
                motion([x, y])
            );
        }
        text += &format!(
            "[[joint]]\nname = \"{frame} hinge\"\nbodies = [\"{frame}\"]\nkind = {{ hinge = {{ point = [0, {pin}, 0], axis = [0, 0, 1] }} }}\n"
        );
    }
    let scene = scene(&text);
    let (simulation, memory) = run(&scene);
    assert_eq!(simulation.stopped(), Some(Stopped::MaxEvents), "{:?}", simulation.trouble());
    let mut numbers: Vec<u64> =
        memory.events.iter().filter(|e| e.kind == Kind::Impact).map(|e| e.number).collect();
    numbers.dedup();
    assert!(numbers.len() >= 10, "{}", numbers.len());
    let (mut worst, mut speeds, mut open): (f64, f64, u32) = (0.0, 0.0, 0);
    for &number in &numbers {
        let rows: Vec<_> = memory.events.iter().filter(|e| e.number == number).collect();
        assert_eq!(rows.len(), 3, "three contacts at once");
        let now = at(&scene, &memory, Moment::Before(number));
        let instant = Instant::of(&now, TOUCHING).unwrap();
        let outcome = instant.mechanism().solve(&Options::default()).unwrap();
        let largest = outcome.joints.iter().fold(0.0, |m: f64, joint| m.max(joint.linear.norm()));
        assert_eq!(rows[0].joints.len(), outcome.joints.len());
        for impulse in rows[0].joints.iter() {
            let solved = &outcome.joints[impulse.joint];
            open += u32::from(!impulse.determined);
            assert_eq!(impulse.determined, solved.determined);
            worst = worst.max((impulse.linear - solved.linear).norm() / largest);
            worst = worst.max((impulse.angular - solved.angular).norm() / largest);
        }
        let after = at(&scene, &memory, Moment::After(number));
        for (body, solved) in after.bodies.iter().zip(&outcome.states) {
            speeds = speeds.max((body.state.velocity - solved.velocity).norm());
        }
    }
    let audit = simulation.audit();
    println!(
        "{} impacts of frames: joint impulses to {worst:.1e}, velocities to {speeds:.1e}, {open} not determined; {audit:?}",
        numbers.len()
    );
    assert!(worst < 1e-10 && speeds < 1e-12);
    assert!(open > 0, "three contacts of two freedoms leave impulses open");
    assert!(audit.joint_error_max.unwrap().value < 1e-13 && audit.energy_error_max.value < 1e-12);
}

const LEVER: &str = "[[body]]\nname = \"lever\"\nshape = { ellipsoid = { semi_axes = [0.5, 0.05, 0.05] } }\nmass = 1\nposition = [0.1, 0, 0]\n\
    [[joint]]\nname = \"pin\"\nbodies = [\"lever\"]\nkind = { hinge = { point = [0, 0, 0], axis = [0, 1, 0] } }\n\
    [[body]]\nname = \"stop\"\nshape = { sphere = { radius = 0.05 } }\nmass = 1\nfixed = true\nposition = [0.4, 0, -0.12]\n";

/// A hinged lever falls on a stop, bounces without end to its rest, carries its weight there, and is lifted off by a ball that falls
/// on its other arm.
#[test]
fn a_lever_comes_to_rest_on_a_stop_and_is_lifted_off() {
    let scene = scene(&format!(
        "carom = 1\nworld.gravity = [0, 0, -{G}]\nrun = {{ until = 2.2, sample = 0.1 }}\nsurface = {{ restitution = 0.3 }}\n{LEVER}\
         [[body]]\nname = \"ball\"\nshape = {{ sphere = {{ radius = 0.1 }} }}\nmass = 0.5\nposition = [-0.35, 0, 10]\n"
    ));
    let (simulation, memory) = run(&scene);
    assert_eq!(simulation.stopped(), Some(Stopped::Until), "{:?}", simulation.trouble());
    let of = |kind: Kind| memory.events.iter().filter(move |event| event.kind == kind);
    let rest = of(Kind::Rest).next().unwrap();
    let lift = of(Kind::HoldEnd).next().unwrap();
    let lever_and_stop = [Side::Body(0), Side::Body(1)];
    assert_eq!((rest.sides, lift.sides), (lever_and_stop, lever_and_stop));
    let [limit, error] = rest.limit.unwrap();
    println!("rest at {} (limit {limit} to {error:.1e}), lifted at {}", rest.time, lift.time);
    assert!(limit >= rest.time && limit - rest.time < 1e-5);
    // At rest the pin and the stop carry the weight: moments about the contact.
    let still: Vec<_> =
        memory.reactions.iter().filter(|r| r.time > rest.time && r.time < lift.time).collect();
    assert!(still.len() > 5);
    // ∫λ dt is the steady force times the time.
    let steady = lift.impulse / (lift.time - rest.time);
    for reaction in still {
        let off = reaction.force + rest.normal * -steady + Vector3::new(0.0, 0.0, -G);
        let torque = (rest.point).cross(&(rest.normal * -steady))
            + Vector3::new(0.1, 0.0, 0.0).cross(&Vector3::new(0.0, 0.0, -G));
        assert!(off.norm() < 1e-2 * G, "{off}");
        assert!(torque.y.abs() < 1e-1, "{torque}");
    }
    assert!(of(Kind::Impact).any(|event| event.sides == [Side::Body(0), Side::Body(2)]));
    assert!(simulation.audit().joint_error_max.unwrap().value < 1e-13);
    assert!(simulation.audit().energy_error_max.value < 1e-11);
}

/// An egg rolls on the floor; where |f|/λ of rolling without slip passes μ it begins to slide, and not before.
#[test]
fn rolling_breaks_into_sliding_where_friction_ends() {
    let text = |surface: &str, sample: f64| {
        scene(&format!(
            "carom = 1\nworld.gravity = [0, 0, -{G}]\nrun = {{ until = 1, sample = {sample} }}\nsurface = {{ restitution = 0, kind = {surface} }}\n\
             [[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\n\
             [[body]]\nname = \"egg\"\nshape = {{ ellipsoid = {{ semi_axes = [0.3, 0.2, 0.2] }} }}\nmass = 1\nposition = [0, 0, 0.2]\n\
             velocity = [0.6, 0, 0]\nangular_velocity = [0, 3, 0]\n\
             [[joint]]\nname = \"rolling\"\nbodies = [\"egg\"]\nkind = {{ rolling = {{ plane = \"floor\" }} }}\n"
        ))
    };
    let coefficient = 0.15;
    let (free, memory) = run(&text("\"rough\"", 1e-4));
    let crossing = memory.reactions.windows(2).find_map(|pair| {
        let excess = [&pair[0], &pair[1]].map(|r| r.force.x.hypot(r.force.y) - coefficient * r.force.z);
        (excess[0] <= 0.0 && excess[1] > 0.0)
            .then(|| pair[0].time + 1e-4 * excess[0] / (excess[0] - excess[1]))
    });
    let crossing = crossing.unwrap();
    assert!(free.rolling_demands().next().unwrap().coefficient > coefficient);
    let (simulation, memory) = run(&text("{ coulomb = 0.15 }", 0.0));
    let slips: Vec<_> = memory.events.iter().filter(|event| event.kind == Kind::Slip).collect();
    println!("slips at {:?}, expected {crossing}", slips.iter().map(|e| e.time).collect::<Vec<_>>());
    assert_eq!(slips.len(), 1);
    // The crossing is interpolated between samples.
    assert!((slips[0].time - crossing).abs() < 1e-7, "{} {crossing}", slips[0].time);
    assert_eq!(simulation.stopped(), Some(Stopped::Until), "{:?}", simulation.trouble());
    assert!(simulation.audit().energy_error_max.value < 1e-11);
}

/// A ball that rolls against a rough wall would have to be pulled down by the floor; with friction alone it comes off.
#[test]
fn a_rolling_ball_is_thrown_up_by_a_rough_wall() {
    let scene = scene(&format!(
        "carom = 1\nworld.gravity = [0, 0, -{G}]\nrun = {{ until = 0.2, sample = 0 }}\n\
         surface = {{ restitution = 0.5, kind = {{ coulomb = 0.3 }}, pair = [{{ bodies = [\"ball\", \"wall\"], kind = \"rough\", restitution = 0.5 }}] }}\n\
         [[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\n\
         [[plane]]\nname = \"wall\"\nnormal = [1, 0, 0]\n\
         [[body]]\nname = \"ball\"\nshape = {{ sphere = {{ radius = 0.05 }} }}\nmass = 0.2\nposition = [0.15, 0, 0.05]\n\
         velocity = [-1, 0, 0]\nangular_velocity = [0, -20, 0]\n\
         [[joint]]\nname = \"rolling\"\nbodies = [\"ball\"]\nkind = {{ rolling = {{ plane = \"floor\" }} }}\n"
    ));
    let (simulation, memory) = run(&scene);
    assert_eq!(simulation.stopped(), Some(Stopped::Until), "{:?}", simulation.trouble());
    let kinds: Vec<Kind> = memory.events.iter().map(|event| event.kind).collect();
    println!("{kinds:?}");
    assert_eq!(kinds.iter().filter(|kind| **kind == Kind::Slip).count(), 1);
    assert!(simulation.states()[0].velocity.z.abs() > 0.1 || simulation.states()[0].position.z > 0.051);
}

/// A start that its joints forbid is refused with the amount; one that is off by rounding is put right.
#[test]
fn a_start_off_its_joints_is_refused_with_the_amount() {
    let unfit = |text: &str| {
        let scene = scene(&format!("carom = 1\n[[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\n{text}"));
        let (world, states) = World::of(&scene);
        Simulation::new(world, &states, scene.run).map(|_| ()).map_err(|unfit| unfit[0].clone())
    };
    let ball = |position: &str, velocity: &str, kind: &str| {
        format!(
            "[[body]]\nname = \"ball\"\nshape = {{ sphere = {{ radius = 0.5 }} }}\nmass = 1\nposition = {position}\nvelocity = {velocity}\n\
             [[joint]]\nname = \"joint\"\nbodies = [\"ball\"]\nkind = {kind}\n"
        )
    };
    let rolling = "{ rolling = { plane = \"floor\" } }";
    match unfit(&ball("[0, 0, 0.6]", "[0, 0, 0]", rolling)) {
        Err(Unfit::OffPlane { joint: 0, gap }) => assert!((gap - 0.1).abs() < 1e-15),
        other => panic!("{other:?}"),
    }
    match unfit(&ball("[0, 0, 0.5]", "[0.25, 0, 0]", rolling)) {
        Err(Unfit::OffJoint { joint: 0, velocity }) => assert!((velocity - 0.25).abs() < 1e-15),
        other => panic!("{other:?}"),
    }
    match unfit(&ball("[0, 0, 0.7]", "[0, 0, 0]", "{ rows = [[1, 0, 0, 0, 0, 0]] }")) {
        Err(Unfit::Instant { joint: 0 }) => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(unfit(&ball("[0, 0, 0.50000000001]", "[0, 0, 0]", rolling)), Ok(()));
}
