//! Contacts of faces, edges and corners: which points touch, and the impact that they make, in closed form.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use carom::contact::classify::{Tolerances, Type, classify};
use carom::contact::kinematics::{Facing, Moving};
use carom::gap::gap_to_plane;
use carom::impact::mechanism::BodyOutcome;
use carom::impact::{Law, Options};
use carom::motion::Derivatives;
use carom::scene::instant::{Instant, TOUCHING};
use carom::scene::{Format, file};
use nalgebra::Vector3;

/// A floor, a restitution, and bodies.
fn instant(restitution: f64, bodies: &str) -> Instant {
    let text = format!(
        "carom = 1\nsurface = {{ restitution = {restitution} }}\n{bodies}\n\
         [[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\n"
    );
    Instant::of(&file::read(&text, Format::Toml).unwrap(), TOUCHING).unwrap()
}

fn body(name: &str, shape: &str, rest: &str) -> String {
    format!("[[body]]\nname = \"{name}\"\nshape = {{ {shape} }}\nmass = 2\n{rest}\n")
}

fn solved(instant: &Instant, law: Law) -> BodyOutcome {
    instant.mechanism().solve(&Options { law, ..Options::default() }).unwrap()
}

/// The points sorted, so that no order is tested.
fn points(instant: &Instant) -> Vec<[f64; 3]> {
    let mut points: Vec<[f64; 3]> =
        instant.contacts.iter().map(|c| (c.point + Vector3::zeros()).into()).collect();
    points.sort_by(|a, b| a.partial_cmp(b).unwrap());
    points
}

fn close(found: &[[f64; 3]], expected: &[[f64; 3]]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (a, b) in found.iter().zip(expected) {
        assert!((0..3).all(|i| (a[i] - b[i]).abs() < 1e-14), "{found:?}, expected {expected:?}");
    }
}

const BOX: &str = "box = { half_extents = [0.3, 0.4, 0.5] }";

#[test]
fn a_box_on_its_face_touches_at_four_corners() {
    let at = instant(0.5, &body("box", BOX, "position = [1, 0, 0.5]\nvelocity = [0.25, 0, -1]"));
    close(&points(&at), &[[0.7, -0.4, 0.0], [0.7, 0.4, 0.0], [1.3, -0.4, 0.0], [1.3, 0.4, 0.0]]);
    let names: Vec<&str> = at.contacts.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["floor-box[0]", "floor-box[1]", "floor-box[2]", "floor-box[3]"]);
    for law in [Law::NewtonLcp, Law::Poisson, Law::Newton, Law::Reflection] {
        let outcome = solved(&at, law);
        let state = &outcome.states[0];
        assert!((state.velocity - Vector3::new(0.25, 0.0, 0.5)).norm() < 1e-15, "{law:?}: {state:?}");
        assert!(state.angular_velocity.norm() < 1e-14, "{law:?}");
        let sum: f64 = outcome.contacts.iter().map(|c| c.impulse).sum();
        assert!((sum - 3.0).abs() < 1e-14, "{law:?}");
        // The velocities are unique, how four corners share the impulse is not.
        assert!(outcome.outcome.velocity_unique && !outcome.outcome.impulse_unique, "{law:?}");
    }
}

/// With both edges closing and W₁₂ ≤ 0 Newton's law reverses both: v⁺ = −k v, ω⁺ = −k ω.
#[test]
fn a_turning_box_on_its_face() {
    let wide = "box = { half_extents = [0.5, 1, 0.1] }";
    let at = instant(
        0.5,
        &body("box", wide, "position = [0, 0, 0.1]\nvelocity = [0, 0, -1]\nangular_velocity = [0.5, 0, 0]"),
    );
    let state = solved(&at, Law::NewtonLcp).states[0];
    assert!(
        (state.velocity.z - 0.5).abs() < 1e-14 && (state.angular_velocity.x + 0.25).abs() < 1e-14,
        "{state:?}"
    );
    // Turning faster than falling, one edge parts: it is left out. I = m(b² + c²)/3; W = 1/m + b²/I at the other.
    let at = instant(
        0.5,
        &body("box", wide, "position = [0, 0, 0.1]\nvelocity = [0, 0, -1]\nangular_velocity = [2, 0, 0]"),
    );
    let state = solved(&at, Law::NewtonLcp).states[0];
    let inertia = 2.0 * (1.0 + 0.01) / 3.0;
    let weight = 0.5 + 1.0 / inertia;
    // That turns it about, so that the other edge closes: the next step of the same impact.
    let first = 1.5 * 3.0 / weight;
    let (fall, spin) = (first / 2.0 - 1.0, 2.0 - first / inertia);
    assert!(fall + spin < -1.0);
    let second = 1.5 * -(fall + spin) / weight;
    assert!((state.velocity.z - (fall + second / 2.0)).abs() < 1e-14, "{state:?}");
    assert!((state.angular_velocity.x - (spin + second / inertia)).abs() < 1e-13, "{state:?}");
}

#[test]
fn a_box_on_an_edge_and_on_a_corner() {
    // An eighth of a turn about x: the lowest edge is at y = (c − b)/√2 from the centre, at the height −(b + c)/√2.
    let (sine, height) = (0.5_f64.sqrt(), 0.9 * 0.5_f64.sqrt());
    let turn = (std::f64::consts::PI / 8.0).sin_cos();
    let place = format!("orientation = [{}, {}, 0, 0]\nvelocity = [0, 0, -1]", turn.1, turn.0);
    let at = instant(1.0, &body("box", BOX, &format!("position = [0, 0, {height}]\n{place}")));
    let arm = (0.5 - 0.4) * sine;
    close(&points(&at), &[[-0.3, arm, 0.0], [0.3, arm, 0.0]]);
    let inertia = 2.0 * (0.16 + 0.25) / 3.0;
    let impulse = 2.0 / (0.5 + arm * arm / inertia);
    let state = solved(&at, Law::NewtonLcp).states[0];
    assert!((state.velocity.z - (impulse / 2.0 - 1.0)).abs() < 1e-14, "{state:?}");
    assert!((state.angular_velocity.x - arm * impulse / inertia).abs() < 1e-13, "{state:?}");
    // On a corner there is one contact.
    let shape = "box = { half_extents = [1, 1, 1] }";
    let axes = "orientation = { axes = [[0.8, 0, -0.6], [-0.36, 0.8, -0.48], [0.48, 0.6, 0.64]] }";
    let height = 0.6 + 0.48 + 0.64;
    let at = instant(
        1.0,
        &body("box", shape, &format!("position = [0, 0, {height}]\n{axes}\nvelocity = [0, 0, -1]")),
    );
    // The sum of the axes, each with its downward sign.
    let corner = [0.8 - 0.36 - 0.48, 0.8 - 0.6, 0.0];
    close(&points(&at), &[[corner[0], corner[1], 0.0]]);
    // A cube's inertia is that of a ball, 2m/3 of its half-extent squared.
    let square = corner[0] * corner[0] + corner[1] * corner[1];
    let impulse = 2.0 / (0.5 + square / (4.0 / 3.0));
    let outcome = solved(&at, Law::NewtonLcp);
    assert!((outcome.contacts[0].impulse - impulse).abs() < 1e-14);
    assert!((outcome.states[0].velocity.z - (impulse / 2.0 - 1.0)).abs() < 1e-14);
}

#[test]
fn faces_and_edges_of_two_bodies() {
    let rest = "position = [0, 0, 5]\nvelocity = [0, 0, 1]";
    // A box on another, displaced: the rectangle that both share.
    let cube = "box = { half_extents = [1, 1, 1] }";
    let upper = "position = [0.5, 0.25, 6.75]\nvelocity = [0, 0, -1]";
    let small = "box = { half_extents = [1, 1, 0.75] }";
    let at = instant(1.0, &format!("{}{}", body("below", cube, rest), body("above", small, upper)));
    close(&points(&at), &[[-0.5, -0.75, 6.0], [-0.5, 1.0, 6.0], [1.0, -0.75, 6.0], [1.0, 1.0, 6.0]]);
    // Turned by an eighth about z, corners cut off: an octagon.
    let turn = (std::f64::consts::PI / 8.0).sin_cos();
    let turned = format!(
        "position = [0, 0, 6.75]\nvelocity = [0, 0, -1]\norientation = [{}, 0, 0, {}]",
        turn.1, turn.0
    );
    let at = instant(1.0, &format!("{}{}", body("below", cube, rest), body("above", small, &turned)));
    assert_eq!(at.contacts.len(), 8);
    let cut = 2.0_f64.sqrt() - 1.0;
    for contact in &at.contacts {
        let (x, y) = (contact.point.x.abs(), contact.point.y.abs());
        assert!((x.max(y) - 1.0).abs() < 4e-15 && (x.min(y) - cut).abs() < 4e-15, "{contact:?}");
    }
    // A capsule that lies across: its line on the face. Beyond the face there is nothing.
    let rod = "capsule = { radius = 0.25, half_length = 3 }";
    let lying = "position = [0.5, 0, 6.25]\nvelocity = [0, 0, -1]\norientation = { axes = [[0, 0, -1], [0, 1, 0], [1, 0, 0]] }";
    let at = instant(1.0, &format!("{}{}", body("below", cube, rest), body("rod", rod, lying)));
    close(&points(&at), &[[-1.0, 0.0, 6.0], [1.0, 0.0, 6.0]]);
    // Two rods crosswise touch in one point, side by side along what they share.
    let along = "position = [0, 0, 5]\norientation = { axes = [[0, 0, -1], [0, 1, 0], [1, 0, 0]] }";
    let crossing = "position = [0.5, 0.25, 5.5]\norientation = { axes = [[1, 0, 0], [0, 0, -1], [0, 1, 0]] }";
    let at = instant(1.0, &format!("{}{}", body("one", rod, along), body("two", rod, crossing)));
    close(&points(&at), &[[0.5, 0.0, 5.25]]);
    let beside = "position = [1, 0, 5.5]\norientation = { axes = [[0, 0, -1], [0, 1, 0], [1, 0, 0]] }";
    let at = instant(1.0, &format!("{}{}", body("one", rod, along), body("two", rod, beside)));
    close(&points(&at), &[[-2.0, 0.0, 5.25], [3.0, 0.0, 5.25]]);
}

#[test]
fn round_bodies_on_the_floor() {
    // A cylinder on its base that turns about a horizontal axis: the corners are where it closes and parts fastest.
    let standing = "cylinder = { radius = 0.5, half_length = 1 }";
    let at = instant(
        0.5,
        &body(
            "can",
            standing,
            "position = [0, 0, 1]\nvelocity = [0, 0, -1]\nangular_velocity = [0.12, 0.16, 0]",
        ),
    );
    assert_eq!(at.contacts.len(), 16);
    let approach = |k: usize| solved(&at, Law::NewtonLcp).contacts[k].approach;
    let fastest = (0..16).map(approach).fold(0.0, f64::min);
    assert!((fastest + 1.0 + 0.5 * 0.2).abs() < 1e-15, "{fastest}");
    // On its side, a line; a cone on its side as well, from the tip to the base.
    let lying = "orientation = { axes = [[0, 0, -1], [0, 1, 0], [1, 0, 0]] }\nvelocity = [0, 0, -1]";
    let at = instant(0.5, &body("roll", standing, &format!("position = [0, 0, 0.5]\n{lying}")));
    close(&points(&at), &[[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]);
    let outcome = solved(&at, Law::NewtonLcp);
    assert!((outcome.states[0].velocity.z - 0.5).abs() < 1e-15 && outcome.outcome.impulse_unique);
    let cone = "cone = { radius = 3, height = 4 }";
    let side = "orientation = { axes = [[0.6, 0, -0.8], [0, -1, 0], [-0.8, 0, -0.6]] }";
    // The centre is 3/4 of the height from the tip: 3·(3/5) above the side.
    let at =
        instant(0.5, &body("cone", cone, &format!("position = [0, 0, 1.8]\n{side}\nvelocity = [0, 0, -1]")));
    let length = {
        let found = points(&at);
        assert_eq!(found.len(), 2, "{found:?}");
        found[1][0] - found[0][0]
    };
    assert!((length - 5.0).abs() < 4e-15);
}

#[test]
fn contacts_of_edges_are_no_more_than_closing_or_not() {
    for (speed, expected) in [(-1.0, Type::Normal), (1.0, Type::Separating), (0.0, Type::Degenerate)] {
        let motion =
            format!("position = [0, 0, 0.5]\nvelocity = [0.5, 0, {speed}]\nangular_velocity = [0, 0, 0.1]");
        let text = format!(
            "carom = 1\n{}\n[[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\n",
            body("box", BOX, &motion)
        );
        let scene = file::read(&text, Format::Toml).unwrap();
        let (body, state) = (scene.bodies[0].body, scene.bodies[0].state);
        let plane = scene.planes[0].half_space;
        let derivatives = Derivatives::new(&body, &state, &Vector3::zeros());
        let found = gap_to_plane(&body.shape, &state.pose(), &plane);
        let moving = Moving { shape: &body.shape, state, derivatives };
        let class = classify(&Facing::Plane(&plane), &moving, &found, Tolerances::default());
        assert_eq!(class.kind, expected);
    }
}

/// The box again, by its corners and by corners that a mesh has besides.
#[test]
fn a_polyhedron_touches_as_the_box_that_it_is() {
    let mut vertices: Vec<[f64; 3]> = (0..8).map(|k| side(k, [0.3, 0.4, 0.5])).collect();
    vertices.extend([[0.1, 0.2, -0.5], [0.3, 0.0, -0.5], [0.0; 3]]);
    let shape = format!("polyhedron = {{ vertices = {vertices:?} }}");
    let place = "position = [1, 0, 0.5]\nvelocity = [0.25, 0, -1]";
    let at = instant(0.5, &body("box", &shape, place));
    close(&points(&at), &[[0.7, -0.4, 0.0], [0.7, 0.4, 0.0], [1.3, -0.4, 0.0], [1.3, 0.4, 0.0]]);
    let known = solved(&instant(0.5, &body("box", BOX, place)), Law::NewtonLcp).states[0];
    let state = solved(&at, Law::NewtonLcp).states[0];
    assert!((state.velocity - known.velocity).norm() < 1e-15 && state.angular_velocity.norm() < 1e-14);
    // On a box of its own width, turned by an eighth: a face on a face, in an octagon.
    let cube: Vec<[f64; 3]> = (0..8).map(|k| side(k, [0.5; 3])).collect();
    let upper = format!(
        "position = [0, 0, 1.5]\nvelocity = [0, 0, -1]\norientation = {{ bryan = [0, 0, {}] }}",
        std::f64::consts::FRAC_PI_4
    );
    let pair = [
        body("lower", &format!("polyhedron = {{ vertices = {cube:?} }}"), "position = [0, 0, 0.5]"),
        body("upper", &format!("polyhedron = {{ vertices = {cube:?} }}"), &upper),
    ];
    let at = instant(1.0, &pair.concat());
    let between: Vec<[f64; 3]> =
        at.contacts.iter().filter(|c| c.name.starts_with("lower-upper")).map(|c| c.point.into()).collect();
    // The corners of the octagon lie on the edges of both, at the distance (√2 − 1)/2 from their middles.
    assert_eq!(between.len(), 8, "{between:?}");
    let part = 0.5 * (2.0_f64.sqrt() - 1.0);
    for [x, y, z] in between {
        let [low, high] = [x.abs().min(y.abs()), x.abs().max(y.abs())];
        assert!((low - part).abs() < 1e-15 && (high - 0.5).abs() < 1e-15 && (z - 1.0).abs() < 1e-15);
    }
}

fn side(k: usize, half: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| if k >> i & 1 == 0 { -half[i] } else { half[i] })
}

/// A tetrahedron on its face, on an edge, and on a corner, dropped without spin.
#[test]
fn a_tetrahedron_on_the_floor() {
    let shape = "polyhedron = { vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]] }";
    let at = instant(1.0, &body("it", shape, "position = [0.25, 0.25, 0.25]\nvelocity = [0, 0, -1]"));
    close(&points(&at), &[[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]);
    let state = solved(&at, Law::NewtonLcp).states[0];
    // The centre of mass is above the face: it goes straight up.
    assert!(
        (state.velocity - Vector3::z()).norm() < 1e-14 && state.angular_velocity.norm() < 1e-13,
        "{state:?}"
    );
    // Upside down about x + y, on the corner [0, 0, 1].
    let at = instant(
        1.0,
        &body(
            "it",
            shape,
            "position = [0, 0, 0.75]\norientation = [0, 0.7071067811865476, 0.7071067811865476, 0]\nvelocity = [0, 0, -1]",
        ),
    );
    assert_eq!(at.contacts.len(), 1);
}
