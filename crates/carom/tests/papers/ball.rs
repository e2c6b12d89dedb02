//! The ball of [TZ]: rolling, thrown, swinging, and under a table.

use std::fmt::Write;

use super::{cases, close, motion, number, numbers, solve, tolerance};

use carom::impact::Law;
use carom::impact::coulomb::Termination;
use carom::impact::demand::demand;
use serde_json::Value;

pub struct Ball {
    pub mass: f64,
    pub radius: f64,
    pub inertia: f64,
}

impl Ball {
    pub fn of(inputs: &Value) -> Self {
        let (mass, radius) = (number(&inputs["m"]), number(&inputs["r"]));
        let inertia =
            inputs.get("J").map_or_else(|| number(&inputs["J_over_mr2"]) * mass * radius * radius, number);
        Self { mass, radius, inertia }
    }

    /// The ball as part of a scene, with `v` = (velocity, angular velocity).
    pub fn scene(&self, position: [f64; 3], v: &[f64], surface: &str, restitution: f64) -> String {
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

pub const FLOOR: &str = "[[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\n";

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
