//! The reference cases spoken in bodies: each is written as a scene, read, prepared and solved, and compared within
//! the case's own tolerance: contact points and normals, inertances, impulses, joint impulses, velocities, energies.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write;

use carom::impact::coulomb::Termination;
use carom::impact::demand::demand;
use carom::impact::mechanism::BodyOutcome;
use carom::impact::{Law, Options};
use carom::scene::Format;
use carom::scene::file::read;
use carom::scene::instant::{Instant, TOUCHING};
use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use serde_json::Value;

const CASES: &str = include_str!("../../../cases/laws/reference.json");

fn cases(prefix: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(CASES).unwrap();
    let cases = file["cases"].as_array().unwrap();
    cases.iter().filter(|case| case["id"].as_str().unwrap().starts_with(prefix)).cloned().collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn vector(value: &Value) -> Vector3<f64> {
    Vector3::from_vec(numbers(value))
}

fn prepare(scene: &str) -> Instant {
    let scene = read(scene, Format::Toml).unwrap_or_else(|errors| panic!("{errors:#?}\n{scene}"));
    Instant::of(&scene, TOUCHING).unwrap_or_else(|findings| panic!("{findings:#?}"))
}

fn solve(scene: &str, law: Law, termination: Termination) -> (Instant, BodyOutcome) {
    let instant = prepare(scene);
    let options = Options { law, termination, ..Options::default() };
    let result = instant.mechanism().solve(&options).unwrap_or_else(|error| panic!("{error}\n{scene}"));
    let size = result.contacts.iter().fold(0.0, |m: f64, c| m.max(c.impulse_vector.norm()));
    assert!(result.linear_residual <= 1e-13 * size, "{scene}");
    (instant, result)
}

#[track_caller]
fn close(what: &str, ours: &[f64], theirs: &[f64], scale: f64, tolerance: f64) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    let size = theirs.iter().fold(scale, |m: f64, x| m.max(x.abs()));
    for (a, b) in ours.iter().zip(theirs) {
        assert!((a - b).abs() <= tolerance * size, "{what}: {ours:?} against {theirs:?}");
    }
}

/// The case's own tolerance, or ours where the solver does better.
fn tolerance(case: &Value) -> f64 {
    number(&case["rel_tol"]).min(1e-13)
}

/// Velocity and angular velocity of the only body.
fn motion(result: &BodyOutcome) -> Vec<f64> {
    let state = &result.states[0];
    state.velocity.iter().chain(state.angular_velocity.iter()).copied().collect()
}

// --------------------------------------------------------------------------------------------- the ball of [TZ]

struct Ball {
    mass: f64,
    radius: f64,
    inertia: f64,
}

impl Ball {
    fn of(inputs: &Value) -> Self {
        let (mass, radius) = (number(&inputs["m"]), number(&inputs["r"]));
        let inertia =
            inputs.get("J").map_or_else(|| number(&inputs["J_over_mr2"]) * mass * radius * radius, number);
        Self { mass, radius, inertia }
    }

    /// The ball as part of a scene, with `v` = (velocity, angular velocity).
    fn scene(&self, position: [f64; 3], v: &[f64], surface: &str, restitution: f64) -> String {
        let (m, r, j) = (self.mass, self.radius, self.inertia);
        format!(
            "carom = 1\n[[body]]\nname = \"ball\"\nshape = {{ sphere = {{ radius = {r:?} }} }}\nmass = {m:?}\n\
             inertia = [{j:?}, {j:?}, {j:?}]\nposition = {position:?}\nvelocity = {:?}\nangular_velocity = {:?}\n\
             [surface]\nrestitution = {restitution:?}\nkind = {surface}\n",
            &v[..3],
            &v[3..],
        )
    }
}

const FLOOR: &str = "[[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\n";

#[test]
fn ball_rolling_on_the_floor_into_a_rough_wall() {
    let mut count = 0;
    for case in cases("p1_wall") {
        let (inputs, expected) = (&case["inputs"], &case["expected"]);
        let ball = Ball::of(inputs);
        let r = ball.radius;
        let v: Vec<f64> = match inputs.get("v_minus") {
            Some(v) => numbers(v),
            None => {
                let (v1, v2, w3) = (number(&inputs["v1"]), number(&inputs["v2"]), number(&inputs["w3"]));
                vec![v1, v2, 0.0, -v2 / r, v1 / r, w3]
            }
        };
        let mut scene = ball.scene([r, 0.3, r], &v, "\"rough\"", number(&inputs["mu"]));
        scene.push_str(FLOOR);
        scene.push_str("[[plane]]\nname = \"wall\"\nnormal = [1, 0, 0]\n");
        scene.push_str(
            "[[joint]]\nname = \"roll\"\nbodies = [\"ball\"]\nkind = { rolling = { plane = \"floor\" } }\n",
        );
        for law in Law::ALL {
            let (instant, result) = solve(&scene, law, Termination::Stronge);
            assert_eq!(instant.contacts.len(), 1);
            let id = &case["id"];
            let mut after = numbers(&expected["v_plus"]);
            if after.len() == 5 {
                after.insert(2, 0.0);
            }
            close(&format!("{id} {law} v+"), &motion(&result), &after, 0.0, tolerance(&case));
            let energy = result.outcome.energy;
            close(&format!("{id} dT"), &[energy.change], &[number(&expected["dT"])], energy.before, 1e-13);
            assert!(result.outcome.velocity_unique && !result.outcome.impulse_unique, "{id}");
            // The floor would have to hold more than Coulomb friction with coefficient one, whatever the sharing.
            let mechanism = instant.mechanism();
            let needed = demand(&mechanism, &mechanism.assemble(), &result.outcome).least.unwrap();
            assert!((0.999..1.001).contains(&needed), "{id}: {needed}");
        }
        count += 1;
    }
    assert_eq!(count, 11);
}

#[test]
fn ball_thrown_on_a_rough_floor() {
    let mut count = 0;
    for case in cases("p1_floor") {
        let (inputs, expected) = (&case["inputs"], &case["expected"]);
        let ball = Ball::of(inputs);
        let v = numbers(&inputs["v_minus"]);
        let scene = ball.scene([0.2, -0.1, ball.radius], &v, "\"rough\"", number(&inputs["mu"])) + FLOOR;
        for law in Law::ALL {
            let (instant, result) = solve(&scene, law, Termination::Stronge);
            let id = format!("{} {law}", case["id"]);
            close(&id, &motion(&result), &numbers(&expected["v_plus"]), 0.0, tolerance(&case));
            let impulse = result.contacts[0].impulse_vector;
            close(&id, impulse.as_slice(), &numbers(&expected["impulse_xyz"]), 0.0, tolerance(&case));
            let mechanism = instant.mechanism();
            let needed = demand(&mechanism, &mechanism.assemble(), &result.outcome).reported[0].1;
            close(&id, &[needed], &[number(&expected["min_friction_coefficient"])], 0.0, 1e-13);
        }
        count += 1;
    }
    assert_eq!(count, 9);
}

/// Bounces on the floor one after another: each starts from our own result of the one before, with the flight
/// between them in closed form.
fn check_bounces(case: &Value, list: &[Value], v0: &[f64]) {
    let inputs = &case["inputs"];
    let ball = Ball::of(inputs);
    let (g, mu) = (number(&inputs["g"]), number(&inputs["mu"]));
    let (mut t, mut x, mut v) = (0.0, [0.0, 0.0], v0.to_vec());
    for bounce in list {
        let id = format!("{} at t = {t}", case["id"]);
        close(
            &id,
            &[t, x[0], x[1]],
            &[number(&bounce["t"]), number(&bounce["x"]), number(&bounce["y"])],
            0.1,
            1e-13,
        );
        close(&id, &v, &numbers(&bounce["v_minus"]), 0.0, 1e-13);
        let scene = ball.scene([x[0], x[1], ball.radius], &v, "\"rough\"", mu) + FLOOR;
        v = motion(&solve(&scene, Law::NewtonLcp, Termination::Stronge).1);
        close(&id, &v, &numbers(&bounce["v_plus"]), 0.0, 1e-13);
        let flight = 2.0 * v[2] / g;
        t += flight;
        x = [x[0] + v[0] * flight, x[1] + v[1] * flight];
        v[2] = -v[2];
    }
}

#[test]
fn nonholonomic_pendulum_and_period_two_bounce_by_bounce() {
    for case in cases("p1_pendulum").iter().chain(&cases("p1_bounce")) {
        let list = case["expected"]["bounces"].as_array().unwrap();
        assert!(list.len() >= 4);
        check_bounces(case, list, &numbers(&list[0]["v_minus"]));
    }
    for case in cases("p1_pendulum") {
        // Zeno: the flight times add up to 2uμ/(g(1−μ)).
        let inputs = &case["inputs"];
        let (u, g, mu) = (number(&inputs["u"]), number(&inputs["g"]), number(&inputs["mu"]));
        let list = case["expected"]["bounces"].as_array().unwrap();
        if mu < 1.0 {
            let flights = list.len() - 1;
            let factor = (1.0 - mu.powi(i32::try_from(flights).unwrap())) / (1.0 - mu);
            close("Zeno", &[number(&list[flights]["t"])], &[2.0 * u * mu / g * factor], 0.0, 1e-13);
        }
    }
}

#[test]
fn superball_under_a_table_bounce_by_bounce() {
    for case in cases("p1_garwin") {
        let inputs = &case["inputs"];
        let ball = Ball::of(inputs);
        let (g, h, mu) = (number(&inputs["g"]), number(&inputs["h"]), number(&inputs["mu"]));
        let table = ball.radius + h + ball.radius;
        let mut v = vec![number(&inputs["vx0"]), 0.0, number(&inputs["vz0"]), 0.0, 0.0, 0.0];
        let (mut t, mut x) = (0.0, 0.0);
        for bounce in case["expected"]["sequence"].as_array().unwrap() {
            let id = format!("{} at t = {t}", case["id"]);
            close(&id, &[t, x], &[number(&bounce["t"]), number(&bounce["x"])], 0.1, 1e-13);
            close(&id, &v, &numbers(&bounce["v_minus"]), 0.0, 1e-13);
            let above = bounce["surface"] == "table_underside";
            let z = if above { table - ball.radius } else { ball.radius };
            let mut scene = ball.scene([x, 0.0, z], &v, "\"rough\"", mu) + FLOOR;
            write!(scene, "[[plane]]\nname = \"table\"\nnormal = [0, 0, -1]\noffset = {:?}\n", -table)
                .unwrap();
            v = motion(&solve(&scene, Law::NewtonLcp, Termination::Stronge).1);
            close(&id, &v, &numbers(&bounce["v_plus"]), 0.0, 1e-13);
            // To the other surface: ±h = v_z t − ½ g t².
            let rise = if above { -h } else { h };
            let speed = (v[2] * v[2] - 2.0 * g * rise).sqrt().copysign(v[2]);
            let flight = 2.0 * rise / (v[2] + speed);
            t += flight;
            x += v[0] * flight;
            v[2] = speed;
        }
    }
}

// ---------------------------------------------------------------------------------------- the ellipsoid of [SP]

fn ellipsoid_scene(inputs: &Value, restitution: &[f64]) -> String {
    let orientation = if let Some(a) = inputs.get("rotation_A") {
        let a: Vec<Vec<f64>> = a.as_array().unwrap().iter().map(numbers).collect();
        // Columns of A are the body axes in the world frame.
        let axis = |j: usize| [a[0][j], a[1][j], a[2][j]];
        format!("{{ axes = [{:?}, {:?}, {:?}] }}", axis(0), axis(1), axis(2))
    } else {
        let angles = inputs.get("bryan_psi_theta_phi").map_or_else(
            || numbers(&inputs["bryan_psi_theta_phi_deg"]).iter().map(|a| a.to_radians()).collect(),
            numbers,
        );
        format!("{{ bryan = {angles:?} }}")
    };
    let mut scene = format!(
        "carom = 1\n[[body]]\nname = \"solid\"\nshape = {{ ellipsoid = {{ semi_axes = {:?} }} }}\nmass = {:?}\n\
         position = {:?}\norientation = {orientation}\nvelocity = {:?}\nangular_velocity_body = {:?}\n",
        numbers(&inputs["semi_axes"]),
        number(&inputs["m"]),
        numbers(&inputs["R0"]),
        numbers(&inputs["v_space"]),
        numbers(&inputs["omega_body"]),
    );
    for (i, plane) in inputs["planes_abcd"].as_array().unwrap().iter().enumerate() {
        let p = numbers(plane);
        let length = Vector3::new(p[0], p[1], p[2]).norm();
        write!(
            scene,
            "[[plane]]\nname = \"plane {i}\"\nnormal = {:?}\noffset = {:?}\n\
             [[surface.pair]]\nbodies = [\"solid\", \"plane {i}\"]\nrestitution = {:?}\n",
            &p[..3],
            -p[3] / length,
            restitution[i],
        )
        .unwrap();
    }
    scene
}

#[test]
fn ellipsoid_against_one_two_and_three_planes() {
    let (mut count, mut laws) = (0, 0);
    for case in cases("p2_") {
        let (inputs, expected) = (&case["inputs"], &case["expected"]);
        let Some(list) = expected["laws"].as_array() else { continue };
        count += 1;
        let id = case["id"].as_str().unwrap();
        for entry in list {
            let scene = ellipsoid_scene(inputs, &numbers(&entry["k"]));
            let instant = prepare(&scene);
            let body = instant.bodies[0].0;
            close(id, body.inertia.as_slice(), &numbers(&expected["J"]), 0.0, 1e-14);
            let delassus = instant.mechanism().assemble().problem.delassus(&Options::default()).unwrap();
            let g: Vec<f64> = expected["g_ij"].as_array().unwrap().iter().flat_map(numbers).collect();
            close(&format!("{id} g_ij"), delassus.as_slice(), &g, 0.0, tolerance(&case));
            for (contact, theirs) in instant.contacts.iter().zip(expected["contacts"].as_array().unwrap()) {
                let point = vector(&theirs["point_space"]);
                close(&format!("{id} point"), contact.point.as_slice(), point.as_slice(), 1.0, 1e-13);
                let normal = vector(&theirs["normal_space"]);
                close(&format!("{id} normal"), contact.normal.as_slice(), normal.as_slice(), 0.0, 1e-15);
            }
            for (name, after) in entry.as_object().unwrap() {
                let law = match name.as_str() {
                    "k" => continue,
                    "coupled_newton" => Law::Newton,
                    "newton_lcp" => Law::NewtonLcp,
                    "poisson_lcp" => Law::Poisson,
                    "decoupled_eq23_signfixed" => Law::Decoupled,
                    other => panic!("{other}"),
                };
                laws += 1;
                let (_, result) = solve(&scene, law, Termination::Stronge);
                let what = format!("{id} {:?} {law}", numbers(&entry["k"]));
                let impulses: Vec<f64> = result.contacts.iter().map(|c| c.impulse).collect();
                close(&what, &impulses, &numbers(&after["p"]), 0.0, tolerance(&case));
                let separation: Vec<f64> = result.contacts.iter().map(|c| c.separation).collect();
                close(&what, &separation, &numbers(&after["y_plus"]), 1.0, tolerance(&case));
                let state = &result.states[0];
                close(
                    &what,
                    state.velocity.as_slice(),
                    &numbers(&after["v_space_plus"]),
                    1.0,
                    tolerance(&case),
                );
                let spin = state.angular_velocity;
                close(&what, spin.as_slice(), &numbers(&after["omega_space_plus"]), 1.0, tolerance(&case));
                let energy = result.outcome.energy;
                close(&what, &[energy.change], &[number(&after["dT"])], energy.before, tolerance(&case));
            }
        }
    }
    assert_eq!((count, laws), (8, 108));
}

#[test]
fn any_number_of_planes_gives_at_most_the_rank_that_the_shape_allows() {
    for case in cases("p2_max_independent") {
        for (shape, rank) in case["expected"]["rank"].as_object().unwrap() {
            let axes = match shape.as_str() {
                "sphere" => [1.0, 1.0, 1.0],
                "spheroid" => [1.0, 1.0, 2.0],
                _ => [1.0, 1.5, 2.0],
            };
            let turn = UnitQuaternion::from_euler_angles(0.3, -0.7, 1.1);
            let mut scene = format!(
                "carom = 1\n[[body]]\nname = \"solid\"\nshape = {{ ellipsoid = {{ semi_axes = {axes:?} }} }}\nmass = 3\n\
                 orientation = [{:?}, {:?}, {:?}, {:?}]\nvelocity = [1, 2, 3]\n",
                turn.w, turn.i, turn.j, turn.k
            );
            for i in 0..8 {
                let (a, b) = (f64::from(i) * 2.4, f64::from(i) * 0.77 + 0.4);
                let n = Vector3::new(a.sin() * b.cos(), a.cos() * b.cos(), b.sin()).normalize();
                let inside = turn.inverse_transform_vector(&n);
                let h = Vector3::from(axes).component_mul(&inside).norm();
                write!(scene, "[[plane]]\nname = \"{i}\"\nnormal = {:?}\noffset = {:?}\n", n.as_slice(), -h)
                    .unwrap();
            }
            let (instant, result) = solve(&scene, Law::NewtonLcp, Termination::Stronge);
            assert_eq!(instant.contacts.len(), 8, "{shape}");
            assert_eq!(result.outcome.rank, usize::try_from(rank.as_u64().unwrap()).unwrap(), "{shape}");
        }
    }
}

// ---------------------------------------------------------------------------------------- the frames of [DPS]

/// Two bodies placed as in the case: C₁ at the origin, contacts A_i, hinges at O₁ and O₂ along y.
fn frames_scene(case: &Value, restitution: &[f64]) -> String {
    let inputs = &case["inputs"];
    let arms: Vec<Vector3<f64>> = case["expected"]["C1A"].as_array().unwrap().iter().map(vector).collect();
    let second = arms[0] - vector(&case["expected"]["C2A"][0]);
    let a = numbers(&inputs["a1_to_a5"]);
    let centres = [Vector3::zeros(), second];
    let hinges = [Vector3::new(0.0, -a[0], 0.0), second + Vector3::new(0.0, a[4], 0.0)];
    let masses = numbers(&inputs["m"]);
    let mut scene = String::from("carom = 1\n");
    for k in 0..2 {
        let v = numbers(&inputs[format!("v{}_minus", k + 1)]);
        write!(
            scene,
            "[[body]]\nname = \"frame {k}\"\nshape = {{ point = {{}} }}\nmass = {:?}\ninertia = {:?}\nposition = {:?}\n\
             velocity = {:?}\nangular_velocity = {:?}\n",
            masses[k],
            numbers(&inputs[format!("J{}", k + 1)]),
            centres[k].as_slice(),
            &v[3..],
            &v[..3],
        )
        .unwrap();
        let point = hinges[k].as_slice();
        let kind = match inputs["joints"][k].as_str().unwrap() {
            "revolute_z" => format!("{{ hinge = {{ point = {point:?}, axis = [0, 0, 1] }} }}"),
            "spherical" => format!("{{ ball = {{ point = {point:?} }} }}"),
            "cylindrical_z" => {
                // No velocity of the hinge point across z, no turning about x and y.
                let y = hinges[k].y - centres[k].y;
                format!(
                    "{{ rows = [[1, 0, 0, 0, 0, {:?}], [0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0]] }}",
                    -y
                )
            }
            _ => continue,
        };
        write!(scene, "[[joint]]\nname = \"joint {k}\"\nbodies = [\"frame {k}\"]\nkind = {kind}\n").unwrap();
    }
    for (i, arm) in arms.iter().enumerate() {
        write!(
            scene,
            "[[contact]]\nname = \"A{}\"\nbodies = [\"frame 0\", \"frame 1\"]\npoint = {:?}\nnormal = {:?}\nrestitution = {:?}\n",
            i + 1,
            arm.as_slice(),
            numbers(&inputs["normals"][i]),
            restitution[i],
        )
        .unwrap();
    }
    scene
}

#[test]
fn two_frames_with_three_contacts_and_every_kind_of_joint() {
    let (mut count, mut laws) = (0, 0);
    for case in cases("p3_") {
        count += 1;
        let expected = &case["expected"];
        let id = case["id"].as_str().unwrap();
        // Normals in a scene are unit vectors; the case with longer ones has impulses smaller by their lengths.
        let lengths: Vec<f64> =
            case["inputs"]["normals"].as_array().unwrap().iter().map(|n| vector(n).norm()).collect();
        let rescaled = lengths.iter().any(|l| (l - 1.0).abs() > 1e-9);
        for entry in expected["laws"].as_array().unwrap() {
            let restitution = numbers(&entry["k"]);
            let scene = frames_scene(&case, &restitution);
            for (name, after) in entry.as_object().unwrap() {
                let law = match name.as_str() {
                    "newton_equality_pinv" => Law::Newton,
                    "newton_lcp" => Law::NewtonLcp,
                    "poisson_lcp" => Law::Poisson,
                    _ => continue,
                };
                let (_, result) = solve(&scene, law, Termination::Stronge);
                let outcome = &result.outcome;
                if rescaled && (!outcome.consistent || !outcome.velocity_unique) {
                    // Surrogates and choices of p_c depend on the scaling of the rows.
                    continue;
                }
                laws += 1;
                let what = format!("{id} {restitution:?} {law}");
                assert_eq!(
                    outcome.rank,
                    usize::try_from(expected["rank"].as_u64().unwrap()).unwrap(),
                    "{what}"
                );
                for (k, name) in ["v1_plus", "v2_plus"].iter().enumerate() {
                    let v = numbers(&after[*name]);
                    let state = &result.states[k];
                    close(&what, state.angular_velocity.as_slice(), &v[..3], 1.0, tolerance(&case));
                    close(&what, state.velocity.as_slice(), &v[3..], 1.0, tolerance(&case));
                }
                let energy = outcome.energy;
                close(&what, &[energy.change], &[number(&after["dT"])], energy.before, tolerance(&case));
                if let Some(consistent) = after.get("consistent") {
                    assert_eq!(outcome.consistent, consistent.as_bool().unwrap(), "{what}");
                }
                if !outcome.impulse_unique {
                    continue;
                }
                let theirs: Vec<f64> =
                    numbers(&after["P"]).iter().zip(&lengths).map(|(p, length)| p * length).collect();
                let impulses: Vec<f64> = result.contacts.iter().map(|c| c.impulse).collect();
                close(&what, &impulses, &theirs, 0.0, tolerance(&case));
                for (joint, xi) in result.joints.iter().zip(["xi_1", "xi_2"]) {
                    let xi = numbers(&after[xi]);
                    let mut ours: Vec<f64> =
                        joint.linear.iter().chain(joint.angular.iter()).copied().collect();
                    if xi.len() == 4 {
                        // The cylindrical joint's rows have no point: forces x and y, moments about the hinge point.
                        ours = joint.impulse.clone();
                    }
                    close(&format!("{what} joint"), &ours[..xi.len()], &xi, 0.0, tolerance(&case));
                }
            }
        }
        if id == "p3_hinged_generic" {
            let scene = frames_scene(&case, &[0.6, 0.6, 0.6]);
            let (_, result) = solve(&scene, Law::NewtonLcp, Termination::Stronge);
            let kernel = numbers(&expected["kernel_of_G_sum"]);
            let [stress] = result.outcome.self_stresses.as_slice() else { panic!("one self-stress") };
            let scale = stress.contacts[0] / kernel[0];
            let scaled: Vec<f64> = kernel.iter().map(|k| k * scale).collect();
            close("kernel (α₃, 0, −α₁)", &stress.contacts, &scaled, 0.0, 1e-13);
            assert!(result.outcome.velocity_unique && !result.outcome.impulse_unique);
        }
    }
    assert_eq!((count, laws), (7, 97));
}

// ------------------------------------------------------------------------------------- particles and friction

fn particle_scene(mass: f64, normals: &[Vec<f64>], v: &[f64], restitution: &[f64]) -> String {
    let mut scene = format!(
        "carom = 1\n[[body]]\nname = \"particle\"\nshape = {{ point = {{}} }}\nmass = {mass:?}\ninertia = [1, 1, 1]\n\
         velocity = [{:?}, {:?}, 0]\n",
        v[0], v[1]
    );
    for (i, n) in normals.iter().enumerate() {
        write!(
            scene,
            "[[plane]]\nname = \"{i}\"\nnormal = [{:?}, {:?}, 0]\n\
             [[contact]]\nbodies = [\"particle\", \"{i}\"]\npoint = [0, 0, 0]\nrestitution = {:?}\n",
            n[0], n[1], restitution[i]
        )
        .unwrap();
    }
    scene
}

#[test]
fn particles_between_planes() {
    for (prefix, mass) in [("t_energy_gain", 1.0), ("t_redundant", 2.0)] {
        for case in cases(prefix) {
            let generic = &case["generic"];
            let normals: Vec<Vec<f64>> = generic["N"].as_array().unwrap().iter().map(numbers).collect();
            for entry in case["expected"]["laws"].as_array().unwrap() {
                let k = numbers(&entry["k"]);
                let scene = particle_scene(mass, &normals, &numbers(&generic["v_minus"]), &k);
                for (name, law) in [
                    ("newton_equality_pinv", Law::Newton),
                    ("newton_lcp", Law::NewtonLcp),
                    ("decoupled", Law::Decoupled),
                ] {
                    let (_, result) = solve(&scene, law, Termination::Stronge);
                    let what = format!("{} {k:?} {law}", case["id"]);
                    let v = result.states[0].velocity;
                    close(&what, &[v.x, v.y], &numbers(&entry[name]["v_plus"]), 1.0, 1e-14);
                    let energy = result.outcome.energy;
                    close(&what, &[energy.change], &[number(&entry[name]["dT"])], energy.before, 1e-14);
                }
            }
        }
    }
}

#[test]
fn spheres_and_rods_with_coulomb_friction() {
    for case in cases("ext_sphere") {
        let (inputs, expected) = (&case["inputs"], &case["expected"]);
        let ball = Ball::of(inputs);
        let surface = format!("{{ coulomb = {:?} }}", number(&inputs["mu_friction"]));
        let v = numbers(&inputs["v_minus"]);
        let scene = ball.scene([0.0, 0.0, ball.radius], &v, &surface, number(&inputs["e"])) + FLOOR;
        for termination in Termination::ALL {
            let (_, result) = solve(&scene, Law::NewtonLcp, termination);
            let id = case["id"].as_str().unwrap();
            close(id, &motion(&result), &numbers(&expected["v_plus"]), 0.0, 1e-14);
            let p = numbers(&expected["p_n_x_y"]);
            close(id, result.contacts[0].impulse_vector.as_slice(), &[p[1], p[2], p[0]], 0.0, 1e-14);
        }
    }
    for case in cases("ext_rod") {
        let inputs = &case["inputs"];
        let get = |name: &str| number(&inputs[name]);
        let (m, l, theta) = (get("m"), get("l"), get("theta"));
        let j = m * l * l / 3.0;
        // The end of the rod on the floor y = 0; turning about z only matters, the other moments are free to choose.
        let height = l * theta.sin();
        let scene = format!(
            "carom = 1\n[[body]]\nname = \"rod\"\nshape = {{ point = {{}} }}\nmass = {m:?}\ninertia = [{j:?}, {j:?}, {j:?}]\n\
             position = [0, {height:?}, 0]\nvelocity = [{:?}, {:?}, 0]\nangular_velocity = [0, 0, {:?}]\n\
             [[plane]]\nname = \"floor\"\nnormal = [0, 1, 0]\n\
             [[contact]]\nbodies = [\"rod\", \"floor\"]\npoint = [{:?}, 0, 0]\nrestitution = {:?}\nsurface = {{ coulomb = {:?} }}\n",
            get("vx"),
            get("vy"),
            get("omega"),
            -l * theta.cos(),
            get("e"),
            get("mu_friction"),
        );
        for termination in Termination::ALL {
            let (_, result) = solve(&scene, Law::NewtonLcp, termination);
            let after = &case["expected"]["laws"][termination.name()];
            let what = format!("{} {}", case["id"], termination.name());
            let state = &result.states[0];
            let v = [state.velocity.x, state.velocity.y, state.angular_velocity.z];
            close(&what, &v, &numbers(&after["v_plus"]), 0.0, 1e-13);
            let p = result.contacts[0].impulse_vector;
            close(&what, &[p.y, p.x], &[number(&after["p_n"]), number(&after["p_t"])], 0.0, 1e-13);
            let energy = result.outcome.energy;
            close(&what, &[energy.change], &[number(&after["dT"])], energy.before, 1e-13);
        }
    }
}

#[test]
fn the_pitfall_of_fixed_axes() {
    // [SP] (26), (27) taken in fixed axes with principal moments give other inertances than the true ones.
    let case = &cases("p2_two_planes_sec6")[0];
    let scene = ellipsoid_scene(&case["inputs"], &[1.0, 1.0]);
    let instant = prepare(&scene);
    let (body, state) = &instant.bodies[0];
    let wrong: Vec<f64> = instant
        .contacts
        .iter()
        .map(|contact| {
            let moment = (contact.point - state.position).cross(&contact.normal);
            1.0 / body.mass + moment.component_div(&body.inertia).dot(&moment)
        })
        .collect();
    let pitfall = &cases("p2_two_planes_frame")[0]["expected"];
    close("fixed axes", &wrong, &numbers(&pitfall["g_ii_wrong_fixed_axes"]), 0.0, 1e-13);
    let printed = Matrix3::from_diagonal(&Vector3::new(200.0, 200.0, 100.0)).try_inverse().unwrap();
    let arms: Vec<Vector3<f64>> = instant
        .contacts
        .iter()
        .map(|c| state.orientation.inverse_transform_vector(&(c.point - state.position).cross(&c.normal)))
        .collect();
    let g: Vec<f64> = (0..2)
        .flat_map(|i| (0..2).map(move |j| (i, j)))
        .map(|(i, j)| {
            let linear = instant.contacts[i].normal.dot(&instant.contacts[j].normal) / body.mass;
            linear + arms[i].dot(&(printed * arms[j]))
        })
        .collect();
    let expected: Vec<f64> = pitfall["g_ij_printed_J"].as_array().unwrap().iter().flat_map(numbers).collect();
    close("printed J", &g, &expected, 0.0, 1e-13);
}
