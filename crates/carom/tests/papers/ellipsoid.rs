//! The ellipsoid of [SP] against planes.

use std::fmt::Write;

use super::{cases, close, number, numbers, prepare, solve, tolerance, vector};

use carom::impact::coulomb::Termination;
use carom::impact::{Law, Options};
use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use serde_json::Value;

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
