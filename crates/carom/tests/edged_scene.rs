//! Scenes with boxes, cylinders, capsules, cones, discs and polyhedra: what they say, and what is wrong with them where it is.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use carom::scene::meshes::{Meshes, wanted};
use carom::scene::model::{Scene, SceneBody};
use carom::scene::{Format, file};
use carom::shape::{Cone, Shape};
use nalgebra::{UnitQuaternion, Vector3};

fn scene(shape: &str, mass: &str) -> String {
    format!("carom = 1\n[[body]]\nname = \"it\"\nshape = {{ {shape} }}\n{mass}\n")
}

#[test]
fn shapes_are_read() {
    let cases = [
        ("box = { half_extents = [1, 2, 3] }", Shape::Box { half_extents: [1.0, 2.0, 3.0], rounding: 0.0 }),
        (
            "cylinder = { radius = 1, half_length = 2, rounding = 0.5 }",
            Shape::Cylinder { radius: 1.0, half_length: 2.0, rounding: 0.5 },
        ),
        ("capsule = { radius = 1, half_length = 2 }", Shape::Capsule { radius: 1.0, half_length: 2.0 }),
        ("cone = { radius = 1, height = 2, rounding = 0.25 }", Shape::Cone(Cone::new(1.0, 2.0, 0.25))),
        ("disc = { radius = 1, rounding = 0.25 }", Shape::Disc { radius: 1.0, rounding: 0.25 }),
    ];
    for (text, shape) in cases {
        let read = file::read(&scene(text, "density = 2"), Format::Toml).unwrap();
        let body = &read.bodies[0].body;
        assert_eq!(body.shape, shape);
        assert!((body.mass - 2.0 * shape.volume()).abs() < 1e-15 * body.mass);
        assert!((body.inertia - shape.unit_inertia() * body.mass).amax() < 1e-14);
    }
}

/// A box by its corners is that box, wherever they are given; a mesh with its scale is its points.
#[test]
fn polyhedra_are_read() {
    let mut vertices = Vec::new();
    for k in 0..8 {
        let side = |bit: u32, reach: f64| if k & bit == 0 { 5.0 - reach } else { 5.0 + reach };
        vertices.push([side(1, 1.0), side(2, 2.0), side(4, 3.0)]);
    }
    let text = scene(&format!("polyhedron = {{ vertices = {vertices:?}, rounding = 0.5 }}"), "density = 2");
    let read = file::read(&text, Format::Toml).unwrap();
    assert!(read.warnings.is_empty(), "{:?}", read.warnings);
    let (body, known) = (&read.bodies[0].body, Shape::Box { half_extents: [1.0, 2.0, 3.0], rounding: 0.5 });
    assert!((body.mass / known.volume() - 2.0).abs() < 1e-14);
    assert!((body.inertia - known.unit_inertia() * body.mass).amax() < 1e-12);
    assert_eq!(read.bodies[0].state.orientation, UnitQuaternion::identity());

    let text = scene("polyhedron = { file = \"part.stl\", scale = 0.5, rounding = 0.5 }", "density = 2");
    assert_eq!(wanted(&text, Format::Toml), ["part.stl"]);
    let mut meshes = Meshes::default();
    meshes.insert("part.stl", Ok(vertices.iter().map(|x| x.map(|x| 2.0 * x)).collect()));
    let of_mesh = file::read_with(&text, Format::Toml, &meshes).unwrap();
    assert_eq!(of_mesh.bodies[0].body, *body);
    meshes.insert("part.stl", Err(["is not there".into(), "a file".into()]));
    let error = file::read_with(&text, Format::Toml, &meshes).unwrap_err();
    assert_eq!((error[0].message.as_str(), error[0].line), ("is not there", 4));
}

/// Points in axes that are not principal are turned, and their places in the world stay; with moments of its own, or fixed, a body keeps
/// their axes.
#[test]
fn polyhedra_are_described_in_principal_axes() {
    let corner = "polyhedron = { vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]] }";
    let more = "orientation = [0.5, 0.5, 0.5, 0.5]\nangular_velocity_body = [0, 0, 2]\nposition = [3, 0, 0]";
    let read = |mass: &str| file::read(&scene(corner, mass), Format::Toml).unwrap();
    let turned = read(&format!("mass = 1\n{more}"));
    assert_eq!(turned.warnings.len(), 1);
    assert!(turned.warnings[0].message.contains("not principal"));
    let kept = read(&format!("mass = 1\ninertia = [1, 1, 1]\n{more}"));
    let fixed = read("fixed = true\norientation = [0.5, 0.5, 0.5, 0.5]\nposition = [3, 0, 0]");
    assert!(kept.warnings.is_empty() && fixed.warnings.is_empty());
    let places = |scene: &Scene| {
        let SceneBody { body, state, .. } = &scene.bodies[0];
        let Shape::Polyhedron(polyhedron) = body.shape else { panic!("{body:?}") };
        let mut places: Vec<Vector3<f64>> =
            polyhedron.corners().map(|x| state.position + state.orientation * x).collect();
        places.sort_by(|a, b| (a.x + 2.0 * a.y + 4.0 * a.z).total_cmp(&(b.x + 2.0 * b.y + 4.0 * b.z)));
        places
    };
    for (a, b) in places(&turned).iter().zip(places(&kept)).chain(places(&fixed).iter().zip(places(&kept))) {
        assert!((a - b).norm() < 4e-16 * 3.0, "{a:?} {b:?}");
    }
    let spin = |scene: &Scene| scene.bodies[0].state.angular_velocity;
    assert!((spin(&turned) - spin(&kept)).norm() < 1e-15);
    let SceneBody { body_spin, state, .. } = &turned.bodies[0];
    assert!((state.orientation * body_spin.unwrap() - spin(&kept)).norm() < 1e-15);
}

#[test]
fn mistakes_are_named_in_their_places() {
    // The shape, the mass, and what the message must name: the place, what is wrong, what would be right.
    let cases = [
        (
            "box = { half_extents = [1, 0, 3] }",
            "mass = 1",
            ["body[0].shape.box.half_extents[1]", "0", "greater than 0"],
        ),
        ("box = { half_extents = [1, 2] }", "mass = 1", ["body[0].shape.box.half_extents", "2", ""]),
        ("box = { half_extents = [1, 2, 3], rounding = -0.1 }", "mass = 1", ["box.rounding", "-0.1", "0"]),
        ("box = { semi_axes = [1, 2, 3] }", "mass = 1", ["box", "semi_axes", "half_extents"]),
        (
            "cylinder = { radius = 1, half_length = 0 }",
            "mass = 1",
            ["cylinder.half_length", "0", "greater than 0"],
        ),
        ("cylinder = { radius = 1, length = 2 }", "mass = 1", ["cylinder", "length", "half_length"]),
        ("capsule = { radius = 1 }", "mass = 1", ["capsule", "half_length", "greater than 0"]),
        (
            "capsule = { radius = 1, half_length = 1, rounding = 1 }",
            "mass = 1",
            ["capsule", "rounding", "radius"],
        ),
        ("cone = { radius = 1, height = -2 }", "mass = 1", ["cone.height", "-2", "greater than 0"]),
        ("disc = { radius = 1 }", "density = 1", ["density", "disc without thickness", "mass"]),
        ("cube = { half_extents = [1, 1, 1] }", "mass = 1", ["shape", "cube", "box"]),
        ("box = { half_extents = [nan, 1, 1] }", "mass = 1", ["half_extents[0]", "nan", ""]),
        ("polyhedron = {}", "mass = 1", ["shape.polyhedron", "none of", "vertices"]),
        (
            "polyhedron = { vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0]] }",
            "mass = 1",
            ["polyhedron.vertices", "3 points that differ", "at least four points"],
        ),
        (
            "polyhedron = { vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0.3, 0.2, 0]] }",
            "mass = 1",
            ["polyhedron.vertices", "all its points in a plane", "not in one plane"],
        ),
        (
            "polyhedron = { vertices = [[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]] }",
            "mass = 1",
            ["polyhedron.vertices", "on a line", "not in one plane"],
        ),
        (
            "polyhedron = { vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, nan]] }",
            "mass = 1",
            ["polyhedron.vertices[3][2]", "not a number", "finite"],
        ),
        (
            "polyhedron = { vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0]] }",
            "mass = 1",
            ["polyhedron.vertices[3]", "2 entries", "3"],
        ),
        (
            "polyhedron = { vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], rounding = -1 }",
            "mass = 1",
            ["polyhedron.rounding", "negative", "0 or"],
        ),
        (
            "polyhedron = { vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], scale = 0 }",
            "mass = 1",
            ["polyhedron.scale", "zero", "greater than 0"],
        ),
        (
            "polyhedron = { vertices = [], file = \"part.obj\" }",
            "mass = 1",
            ["polyhedron.file", "together with `vertices`", "only one"],
        ),
        (
            "polyhedron = { file = \"part.obj\" }",
            "mass = 1",
            ["polyhedron.file", "without a folder", "vertices"],
        ),
        ("polyhedron = { faces = [[0, 1, 2]] }", "mass = 1", ["polyhedron", "faces", "convex hull"]),
        ("mesh = { file = \"part.obj\" }", "mass = 1", ["shape", "mesh", "polyhedron"]),
    ];
    for (text, mass, words) in cases {
        let error = file::read(&scene(text, mass), Format::Toml).expect_err(text);
        let said = format!("{error:?}").to_lowercase();
        for word in words {
            assert!(said.contains(&word.to_lowercase()), "{text}: no {word:?} in {said}");
        }
    }
}
