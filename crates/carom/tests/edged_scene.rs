//! Scenes with boxes, cylinders, capsules, cones and discs: what they say, and what is wrong with them where it is.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use carom::scene::{Format, file};
use carom::shape::{Cone, Shape};

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
    ];
    for (text, mass, words) in cases {
        let error = file::read(&scene(text, mass), Format::Toml).expect_err(text);
        let said = format!("{error:?}").to_lowercase();
        for word in words {
            assert!(said.contains(&word.to_lowercase()), "{text}: no {word:?} in {said}");
        }
    }
}
