//! Linkages at singular configurations, where branches of their motion meet, and runs with joints in other units. Figures are printed;
//! `cargo test --test linkages -- --nocapture`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, reason = "not every test uses all of it")]
mod random;
mod running;

use std::time::Instant;

use carom::body::State;
use carom::flow::Obstacle;
use carom::run::{Cause, Stopped};
use nalgebra::{UnitQuaternion, Vector3};
use random::Source;
use running::{run, scene};

/// A world turned and moved: where the plane of a linkage lies.
struct Frame {
    turn: UnitQuaternion<f64>,
    origin: Vector3<f64>,
}

impl Frame {
    fn plain() -> Self {
        Self { turn: UnitQuaternion::identity(), origin: Vector3::zeros() }
    }

    fn random(source: &mut Source) -> Self {
        let mut any = || Vector3::new(source.signed(), source.signed(), source.signed());
        Self { turn: UnitQuaternion::from_scaled_axis(any() * 3.0), origin: any() }
    }

    fn at(&self, x: f64, z: f64) -> Vector3<f64> {
        self.origin + self.turn * Vector3::new(x, 0.0, z)
    }
}

fn list(v: &Vector3<f64>) -> String {
    format!("[{:?}, {:?}, {:?}]", v.x, v.y, v.z)
}

/// A body with its frame's axes, moving with ω about its frame's y.
fn body(frame: &Frame, name: &str, mass: f64, at: [f64; 2], velocity: [f64; 2], spin: f64) -> String {
    let q = frame.turn.quaternion();
    format!(
        "[[body]]\nname = \"{name}\"\nshape = {{ sphere = {{ radius = 0.1 }} }}\nmass = {mass:?}\nposition = {}\n\
         orientation = [{:?}, {:?}, {:?}, {:?}]\nvelocity = {}\nangular_velocity = {}\n",
        list(&frame.at(at[0], at[1])),
        q.w,
        q.i,
        q.j,
        q.k,
        list(&(frame.turn * Vector3::new(velocity[0], 0.0, velocity[1]))),
        list(&(frame.turn * Vector3::new(0.0, spin, 0.0))),
    )
}

fn hinge(frame: &Frame, name: &str, bodies: &str, at: [f64; 2]) -> String {
    format!(
        "[[joint]]\nname = \"{name}\"\nbodies = [{bodies}]\nkind = {{ hinge = {{ point = {}, axis = {} }} }}\n",
        list(&frame.at(at[0], at[1])),
        list(&(frame.turn * Vector3::y())),
    )
}

/// A parallelogram of two cranks of length l, a apart, at an angle from the upright, turning with ω.
fn parallelogram(
    frame: &Frame,
    [l, a]: [f64; 2],
    masses: [f64; 3],
    angle: f64,
    spin: f64,
    until: f64,
) -> String {
    let (s, c) = angle.sin_cos();
    // v = ω ŷ × r.
    let velocity = |r: [f64; 2]| [spin * r[1], -spin * r[0]];
    let (end, middle) = ([l * s, l * c], [0.5 * l * s, 0.5 * l * c]);
    [
        format!("carom = 1\nrun = {{ until = {until:?}, sample = 0 }}\n"),
        body(frame, "crank", masses[0], middle, velocity(middle), spin),
        body(frame, "coupler", masses[1], [end[0] + 0.5 * a, end[1]], velocity(end), 0.0),
        body(frame, "rocker", masses[2], [middle[0] + a, middle[1]], velocity(middle), spin),
        hinge(frame, "one", "\"crank\"", [0.0, 0.0]),
        hinge(frame, "two", "\"crank\", \"coupler\"", end),
        hinge(frame, "three", "\"coupler\", \"rocker\"", [end[0] + a, end[1]]),
        hinge(frame, "four", "\"rocker\"", [a, 0.0]),
    ]
    .concat()
}

/// Without gravity a parallelogram turns uniformly, also through its flat position, where it could go on as an antiparallelogram.
#[test]
fn a_parallelogram_turns_uniformly_through_its_flat_position() {
    let begun = Instant::now();
    let (spin, until) = (2.0, 7.0);
    let text = parallelogram(&Frame::plain(), [1.0, 2.0], [1.0; 3], 0.0, spin, until);
    let (simulation, _) = run(&scene(&text));
    assert_eq!(simulation.stopped(), Some(Stopped::Until), "{:?}", simulation.failure());
    let states = simulation.states();
    let (s, c) = (spin * until).sin_cos();
    let off = (states[0].position - Vector3::new(0.5 * s, 0.0, 0.5 * c)).norm();
    let late =
        states.iter().zip([spin, 0.0, spin]).map(|(state, spin)| (state.angular_velocity.y - spin).abs());
    let late = late.fold(0.0, f64::max);
    let audit = simulation.audit();
    let passages = *simulation.singular_passages().next().unwrap();
    println!(
        "crank off by {off:.1e}, ω by {late:.1e}; energy {:.1e}, joints {:.1e}; {passages:?}; {:.2} s",
        audit.energy_error_max.value,
        audit.joint_error_max.unwrap().value,
        begun.elapsed().as_secs_f64()
    );
    assert!(off < 1e-12 && late < 1e-12);
    assert!(audit.energy_error_max.value < 1e-12 && audit.joint_error_max.unwrap().value < 1e-12);
    // Flat at a quarter of a turn, and every half turn from there.
    assert_eq!(passages.count, 4);
    assert!((passages.first - std::f64::consts::FRAC_PI_4).abs() < 1e-9, "{passages:?}");
    assert!((passages.last - 3.25 * std::f64::consts::PI * 0.5 - std::f64::consts::PI * 0.125).abs() < 1e-9);
}

/// The same for parallelograms of any proportions and masses, anywhere, at any phase.
#[test]
fn parallelograms_of_any_kind_turn_uniformly() {
    let mut source = Source::new(20);
    let (mut worst, mut flats): ([f64; 3], u64) = ([0.0; 3], 0);
    for case in 0..12 {
        let frame = Frame::random(&mut source);
        let (l, a) = (0.4 + source.unit(), 0.5 + 2.0 * source.unit());
        let masses = [0.2 + source.unit(), 0.2 + source.unit(), 0.2 + source.unit()];
        let (angle, spin) = (6.0 * source.signed(), 3.0 * source.signed());
        let until = 8.0 / spin.abs();
        let (simulation, _) = run(&scene(&parallelogram(&frame, [l, a], masses, angle, spin, until)));
        assert_eq!(simulation.stopped(), Some(Stopped::Until), "{case}: {:?}", simulation.failure());
        let states = simulation.states();
        let (s, c) = (angle + spin * until).sin_cos();
        let off = (states[0].position - frame.at(0.5 * l * s, 0.5 * l * c)).norm();
        let late = |state: &State, spin: f64| {
            (state.angular_velocity - frame.turn * Vector3::new(0.0, spin, 0.0)).norm()
        };
        let late = late(&states[0], spin).max(late(&states[1], 0.0)) / spin.abs();
        let joint = simulation.audit().joint_error_max.unwrap().value;
        worst = [worst[0].max(off), worst[1].max(late), worst[2].max(joint)];
        flats += simulation.singular_passages().map(|passages| passages.count).sum::<u64>();
        assert!(off < 1e-11 && late < 1e-11 && joint < 1e-11, "{case}: {off:e} {late:e} {joint:e}");
    }
    println!(
        "off by {:.1e}, ω by {:.1e}, joints {:.1e}; {flats} flat positions",
        worst[0], worst[1], worst[2]
    );
    assert!(flats >= 24, "{flats}");
}

/// A crank and a rod of equal length r move a slider at 2r cos θ; at θ = 90° they fold, and the slider could stay. With
/// all mass in the crank and the slider (and a rod as light as it may be), θ' follows from the energy
/// ½ (J + …) θ'², all of it a function of θ.
#[test]
fn a_slider_crank_of_equal_arms_goes_on_through_its_fold() {
    let frame = Frame::plain();
    let (r, spin, angle) = (1.0, 2.0, 0.4f64);
    let [crank, rod, slider] = [1.0, 0.7, 1.3];
    let sphere = 0.4 * 0.01;
    let (s, c) = angle.sin_cos();
    let text = [
        "carom = 1\nrun = { until = 6, sample = 0 }\n".to_string(),
        body(
            &frame,
            "crank",
            crank,
            [0.5 * r * c, 0.5 * r * s],
            [-0.5 * r * s * spin, 0.5 * r * c * spin],
            -spin,
        ),
        body(&frame, "rod", rod, [1.5 * r * c, 0.5 * r * s], [-1.5 * r * s * spin, 0.5 * r * c * spin], spin),
        body(&frame, "slider", slider, [2.0 * r * c, 0.0], [-2.0 * r * s * spin, 0.0], 0.0),
        hinge(&frame, "pin", "\"crank\"", [0.0, 0.0]),
        hinge(&frame, "elbow", "\"crank\", \"rod\"", [r * c, r * s]),
        hinge(&frame, "wrist", "\"rod\", \"slider\"", [2.0 * r * c, 0.0]),
        "[[joint]]\nname = \"guide\"\nbodies = [\"slider\"]\nkind = { slider = { axis = [1, 0, 0] } }\n"
            .to_string(),
    ]
    .concat();
    let (simulation, _) = run(&scene(&text));
    assert_eq!(simulation.stopped(), Some(Stopped::Until), "{:?}", simulation.failure());
    // 2T/θ'² at an angle.
    let inertia = |s: f64, c: f64| {
        let square = |x: f64, z: f64| x * x + z * z;
        crank * square(0.5 * r * s, 0.5 * r * c)
            + sphere * (crank + rod)
            + rod * square(1.5 * r * s, 0.5 * r * c)
            + slider * square(2.0 * r * s, 0.0)
    };
    let states = simulation.states();
    let found = states[0].position / (0.5 * r);
    let rate = -states[0].angular_velocity.y;
    let expected = spin * (inertia(s, c) / inertia(found.z, found.x)).sqrt();
    let audit = simulation.audit();
    let passages = *simulation.singular_passages().next().unwrap();
    let slid = (states[2].position.x - 2.0 * r * found.x).abs();
    println!(
        "θ' off by {:.1e}, slider by {slid:.1e}; energy {:.1e}, joints {:.1e}; {passages:?}",
        rate - expected,
        audit.energy_error_max.value,
        audit.joint_error_max.unwrap().value
    );
    assert!((rate - expected).abs() < 1e-11 && slid < 1e-12);
    assert!(audit.energy_error_max.value < 1e-11 && audit.joint_error_max.unwrap().value < 1e-11);
    assert!(passages.count >= 3);
}

/// A linkage that starts at its flat position goes on along the branch that its velocities are on.
#[test]
fn a_start_at_the_flat_position_goes_the_way_its_velocities_say() {
    let (spin, until) = (2.0, 2.0);
    let quarter = std::f64::consts::FRAC_PI_2;
    let text = parallelogram(&Frame::plain(), [1.0, 2.0], [1.0; 3], quarter, spin, until);
    let (simulation, _) = run(&scene(&text));
    assert_eq!(simulation.stopped(), Some(Stopped::Until), "{:?}", simulation.failure());
    let states = simulation.states();
    let (s, c) = (quarter + spin * until).sin_cos();
    let off = (states[0].position - Vector3::new(0.5 * s, 0.0, 0.5 * c)).norm();
    println!("off by {off:.1e}; {:?}", simulation.singular_passages().next());
    assert!(off < 1e-11);
    assert_eq!(simulation.singular_passages().next().unwrap().first, 0.0);
}

/// A door on two hinges, a ball on a spring, a weight on a slider, all jointed, in units of length, mass and time.
fn jointed([length, mass, time]: [f64; 3]) -> String {
    let acceleration = length / (time * time);
    let at = |x: f64, y: f64, z: f64, unit: f64| list(&(Vector3::new(x, y, z) * unit));
    let sphere = |radius: f64| format!("{{ sphere = {{ radius = {:?} }} }}", radius * length);
    format!(
        "carom = 1\nworld.gravity = {}\nrun = {{ until = {:?}, sample = {:?} }}\n\
         [[body]]\nname = \"door\"\nshape = {{ ellipsoid = {{ semi_axes = {} }} }}\nmass = {:?}\nposition = {}\n\
         [[body]]\nname = \"bob\"\nshape = {}\nmass = {:?}\nposition = {}\n\
         [[body]]\nname = \"weight\"\nshape = {}\nmass = {:?}\nposition = {}\n\
         [[joint]]\nname = \"low\"\nbodies = [\"door\"]\nkind = {{ hinge = {{ point = {}, axis = [0, 0.1, 1] }} }}\n\
         [[joint]]\nname = \"high\"\nbodies = [\"door\"]\nkind = {{ hinge = {{ point = {}, axis = [0, 0.1, 1] }} }}\n\
         [[joint]]\nname = \"ball\"\nbodies = [\"bob\", \"door\"]\nkind = {{ ball = {{ point = {} }} }}\n\
         [[joint]]\nname = \"guide\"\nbodies = [\"weight\", \"door\"]\nkind = {{ slider = {{ axis = [1, 0, 0] }} }}\n\
         [[load]]\nname = \"spring\"\nkind = {{ spring = {{ bodies = [\"weight\", \"door\"], points = [{}, {}], stiffness = {:?}, length = {:?} }} }}\n",
        at(0.3, -2.0, -9.0, acceleration),
        2.0 * time,
        0.5 * time,
        at(0.5, 0.05, 0.8, length),
        3.0 * mass,
        at(0.5, 0.0, 0.0, length),
        sphere(0.1),
        0.5 * mass,
        at(1.1, 0.0, -0.6, length),
        sphere(0.15),
        0.8 * mass,
        at(0.9, 0.3, 0.2, length),
        at(0.0, 0.0, 0.0, length),
        at(0.0, 0.05, 0.5, length),
        at(1.0, 0.0, -0.2, length),
        at(0.9, 0.3, 0.2, length),
        at(0.2, 0.3, 0.2, length),
        40.0 * mass / (time * time),
        0.6 * length,
    )
}

fn ended([length, mass, time]: [f64; 3]) -> (Vec<State>, Vec<Vector3<f64>>, usize) {
    let (simulation, memory) = run(&scene(&jointed([length, mass, time])));
    assert_eq!(simulation.stopped(), Some(Stopped::Until), "{:?}", simulation.failure());
    let audit = simulation.audit();
    let joint = audit.joint_error_max.unwrap().value;
    assert!(audit.energy_error_max.value < 1e-12 && joint < 1e-13, "{audit:?}");
    let force = mass * length / (time * time);
    let reactions = memory.reactions.iter().map(|reaction| reaction.force / force).collect();
    let states = simulation.states();
    let scaled = states.iter().map(|state| State {
        position: state.position / length,
        orientation: state.orientation,
        velocity: state.velocity / (length / time),
        angular_velocity: state.angular_velocity * time,
    });
    (scaled.collect(), reactions, simulation.dependent_rows())
}

/// Units of length, mass and time that are powers of two (of four, for mass: its root is taken) give the same bits.
#[test]
fn units_that_are_powers_of_two_give_the_same_bits() {
    let (states, forces, dependent) = ended([1.0; 3]);
    assert_eq!(dependent, 5);
    assert!(forces.len() >= 16);
    for exponents in
        [[-25, 0, 0], [30, 0, 0], [0, 30, 0], [0, -28, 0], [0, 0, 27], [0, 0, -25], [29, -30, -19]]
    {
        let units = exponents.map(|k| 2f64.powi(k));
        let (other, others, rows) = ended(units);
        assert_eq!(rows, dependent, "{exponents:?}");
        assert_eq!(other, states, "{exponents:?}");
        assert_eq!(others, forces, "{exponents:?}");
    }
}

/// Any other units give the same to rounding: the motion, the reactions, and how many rows depend on others.
#[test]
fn a_run_with_joints_does_not_depend_on_units() {
    let (states, forces, dependent) = ended([1.0; 3]);
    let mut worst: [f64; 2] = [0.0; 2];
    for units in [
        [1e-9, 1.0, 1.0],
        [1e9, 1.0, 1.0],
        [1e5, 1.0, 1.0],
        [1.0, 1e-9, 1.0],
        [1.0, 1e9, 1.0],
        [1.0, 1.0, 1e-9],
        [1.0, 1.0, 1e9],
        [1e9, 1e-9, 1e4],
        [3e-7, 7e8, 3e-4],
    ] {
        let (other, others, rows) = ended(units);
        assert_eq!(rows, dependent, "{units:?}");
        for (one, two) in states.iter().zip(&other) {
            let off = (one.position - two.position).norm().max((one.velocity - two.velocity).norm());
            worst[0] = worst[0].max(off);
            assert!(off < 1e-11, "{units:?}: {off:e}");
        }
        for (one, two) in forces.iter().zip(&others) {
            worst[1] = worst[1].max((one - two).norm() / 30.0);
            assert!((one - two).norm() < 1e-9, "{units:?}: {one:?} {two:?}");
        }
    }
    println!("states off by {:.1e}, reactions by {:.1e}", worst[0], worst[1]);
}

/// A body that sets out to slip, pushed off its centre, slides and comes to rest, in any units.
#[test]
fn friction_does_not_depend_on_units() {
    let slid = |[length, mass, time]: [f64; 3]| {
        let force = mass * length / (time * time);
        let text = format!(
            "carom = 1\nworld.gravity = [0, 0, {:?}]\nrun = {{ until = {:?}, sample = 0 }}\nsurface = {{ restitution = 0, kind = {{ coulomb = 0.3 }} }}\n\
             [[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\n\
             [[body]]\nname = \"a\"\nshape = {{ ellipsoid = {{ semi_axes = [{:?}, {:?}, {:?}] }} }}\nmass = {:?}\nposition = [0, 0, {:?}]\n\
             [[load]]\nname = \"push\"\nkind = {{ force = {{ body = \"a\", vector = [{:?}, {:?}, 0], point = [0, {:?}, {:?}] }} }}\n",
            -9.81 * length / (time * time),
            0.6 * time,
            0.5 * length,
            0.4 * length,
            0.3 * length,
            1.3 * mass,
            0.3 * length,
            6.0 * force,
            2.0 * force,
            0.05 * length,
            0.3 * length,
        );
        let (simulation, _) = run(&scene(&text));
        assert_eq!(simulation.stopped(), Some(Stopped::Until), "{:?}", simulation.failure());
        let state = simulation.states()[0];
        (state.position / length, state.velocity * (time / length))
    };
    let (position, velocity) = slid([1.0; 3]);
    for units in [[1e9, 1.0, 1.0], [1.0, 1e18, 1.0], [1e6, 1e9, 1.0], [1e-9, 1e-9, 1.0], [1.0, 1.0, 1e-9]] {
        let (other, rate) = slid(units);
        let off = (other - position).norm().max((rate - velocity).norm());
        assert!(off < 1e-10, "{units:?}: {off:e}");
    }
}

/// Forces so great that a run would take more steps than anyone waits for are told, soon, as what they are.
#[test]
fn motion_too_fast_for_the_time_asked_for_is_told() {
    let text = |gravity: f64, stiffness: f64| {
        format!(
            "carom = 1\nworld.gravity = [0, 0, -{gravity:?}]\nrun = {{ until = 3, sample = 0 }}\n\
             [[body]]\nname = \"a\"\nshape = {{ sphere = {{ radius = 0.3 }} }}\nmass = 1\nposition = [0.7, 0, 0]\n\
             [[joint]]\nname = \"pin\"\nbodies = [\"a\"]\nkind = {{ ball = {{ point = [0, 0, 0] }} }}\n\
             [[load]]\nname = \"spring\"\nkind = {{ spring = {{ bodies = [\"a\"], points = [[0.7, 0.03, 0], [2, 0, 0]], stiffness = {stiffness:?}, length = 1 }} }}\n"
        )
    };
    for (gravity, stiffness) in [(1e80, 100.0), (9.81, 1e80), (1e80, 1e80)] {
        let begun = Instant::now();
        let (simulation, _) = run(&scene(&text(gravity, stiffness)));
        assert_eq!(simulation.stopped(), Some(Stopped::Failed));
        assert_eq!(simulation.failure().unwrap().cause, Cause::Constrained(Obstacle::Endless));
        assert!(begun.elapsed().as_secs() < 60);
    }
    // Great numbers alone are no trouble.
    let scaled = jointed([1e80, 1e80, 1.0]);
    let (simulation, _) = run(&scene(&scaled));
    assert_eq!(simulation.stopped(), Some(Stopped::Until), "{:?}", simulation.failure());
    assert!(simulation.audit().joint_error_max.unwrap().value < 1e-13);
}
