//! Particles between planes, and spheres and rods with friction.

use std::fmt::Write;

use super::ball::{Ball, FLOOR};
use super::{cases, close, motion, number, numbers, solve};

use carom::impact::Law;
use carom::impact::coulomb::Termination;

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
