//! The reader of scenes: what it takes, and what it says of each mistake, and where.

use carom::contact::{Side, Surface};
use carom::impact::Law;
use carom::impact::coulomb::Termination;
use carom::joint::Kind;
use carom::scene::file::{Source, explain, read};
use carom::scene::model::{ImpactSettings, OnParadox, OnTrouble, RunSettings, Scene, Start};
use carom::scene::{Diagnostic, Format};
use carom::shape::Shape;
use nalgebra::{Matrix3, UnitQuaternion, Vector3};

const EVERYTHING: &str = include_str!("scenes/everything.toml");
const GAS: &str = include_str!("scenes/gas.toml");
const DROP: &str = include_str!("scenes/drop.toml");

/// A scene to put mistakes into: two balls, a floor, a pin and a contact.
const GOOD: &str = r#"carom = 1
[[body]]
name = "one"
shape = { sphere = { radius = 1 } }
mass = 1
[[body]]
name = "two"
shape = { point = {} }
mass = 2
inertia = [1, 2, 3]
position = [3, 0, 0]
[[plane]]
name = "floor"
normal = [0, 0, 1]
[[joint]]
name = "pin"
bodies = ["one"]
kind = { ball = { point = [0, 0, 1] } }
[[contact]]
bodies = ["one", "two"]
point = [1, 0, 0]
normal = [1, 0, 0]
"#;

fn toml(text: &str) -> Scene {
    read(text, Format::Toml).unwrap_or_else(|found| panic!("{text}\n{found:#?}"))
}

/// The good scene with one piece of it, which must stand there, replaced.
fn with(old: &str, new: &str) -> String {
    assert!(GOOD.contains(old), "{old}");
    GOOD.replacen(old, new, 1)
}

fn complaints(text: &str) -> Vec<Diagnostic> {
    let found = read(text, Format::Toml).expect_err(text);
    for d in &found {
        assert!(text.get(d.span.clone()).is_some(), "{d:?}");
    }
    found
}

/// One mistake: its field, the text at fault, and parts of what is said and expected.
#[track_caller]
fn complaint(text: &str, field: &str, at_fault: &str, message: &str, expected: &str) {
    let found = complaints(text);
    let [d] = found.as_slice() else { panic!("{text}\n{found:#?}") };
    assert_eq!(d.field.as_deref().unwrap_or_default(), field, "{d:?}");
    assert_eq!(&text[d.span.clone()], at_fault, "{d:?}");
    let line = 1 + text[..d.span.start].matches('\n').count();
    assert_eq!(d.line, line, "{d:?}");
    assert!(d.message.contains(message), "{d:?}");
    assert!(d.expected.as_deref().unwrap_or_default().contains(expected), "{d:?}");
}

#[test]
fn everything_is_read() {
    let scene = toml(EVERYTHING);
    assert_eq!(scene.title.as_deref(), Some("every field once"));
    assert_eq!(scene.source.as_deref(), Some("no paper"));
    assert_eq!(scene.gravity, Vector3::new(0.0, 0.0, -9.81));
    assert_eq!(scene.periodic, Some(Vector3::new(10.0, 20.0, 0.0)));

    let names: Vec<&str> = scene.bodies.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["rotor", "ball", "anvil", "bead"]);
    let rotor = &scene.bodies[0];
    assert_eq!(rotor.body.shape, Shape::Superellipsoid { semi_axes: [1.0, 2.0, 3.0], exponent: 4.0 });
    assert_eq!((rotor.body.mass, rotor.body.inertia), (2.0, Vector3::new(0.4, 1.0, 1.0)));
    assert_eq!(rotor.state.position, Vector3::new(1.0, 2.0, 3.0));
    // A turn about y with cos(half) = 0.6: z goes to (2·0.6·0.8, 0, 0.36 − 0.64).
    assert!((rotor.state.angular_velocity - Vector3::new(0.96, 0.0, -0.28)).norm() < 1e-15);
    let ball = &scene.bodies[1];
    let mass = 2.0 * 4.0 / 3.0 * std::f64::consts::PI * 0.125;
    assert!((ball.body.mass - mass).abs() < 1e-15);
    assert!((ball.body.inertia.x - 0.4 * mass * 0.25).abs() < 1e-15);
    assert_eq!(ball.state.angular_velocity, Vector3::y());
    let anvil = &scene.bodies[2];
    assert!(anvil.body.fixed && anvil.body.mass.is_infinite());
    assert!((anvil.state.orientation * Vector3::x() - Vector3::y()).norm() < 1e-15);

    assert_eq!(scene.planes[0].half_space.normal.into_inner(), Vector3::z());
    assert_eq!((scene.planes[0].half_space.offset, scene.planes[1].half_space.offset), (-1.5, 0.0));

    let bodies: Vec<&[usize]> = scene.joints.iter().map(|joint| joint.bodies.as_slice()).collect();
    assert_eq!(bodies, [&[0][..], &[0, 1], &[3], &[3, 0], &[1], &[0], &[0, 1]]);
    assert!(matches!(scene.joints[0].kind, Kind::Hinge { axis, .. } if axis.into_inner() == Vector3::z()));
    assert!(matches!(scene.joints[1].kind, Kind::Ball { point } if point == Vector3::x()));
    assert!(matches!(scene.joints[2].kind, Kind::Slider { .. }));
    assert_eq!(scene.joints[3].kind, Kind::Weld);
    let floor = scene.planes[0].half_space;
    assert_eq!(scene.joints[4].kind, Kind::Rolling { plane: 0, half_space: floor });
    assert!(matches!(scene.joints[5].kind, Kind::KnifeEdge { .. }));
    assert!(matches!(&scene.joints[6].kind, Kind::Rows(rows) if rows[0].len() == 12 && rows[0][11] == 2.0));

    let [first, second, third] = scene.contacts.as_slice() else { panic!("{:?}", scene.contacts) };
    assert_eq!((first.name.as_str(), first.restitution, first.surface), ("A1", 0.8, Surface::Rough));
    assert_eq!(first.sides, [Side::Body(0), Side::Body(1)]);
    // A pair's rule is what its explicit contacts get too.
    assert_eq!((second.name.as_str(), second.restitution), ("floor-ball", 0.25));
    assert_eq!(second.sides, [Side::Plane(0), Side::Body(1)]);
    assert_eq!((third.name.as_str(), third.surface), ("ball-floor 2", Surface::Rough));
    // The plane's normal, whatever the order and the sign.
    assert_eq!((second.normal.z, third.normal.z), (1.0, 1.0));

    let fill = &scene.fills[0];
    assert_eq!((fill.count, fill.start, fill.seed, fill.temperature), (40, Start::Lattice, 7, 2.0));
    assert!((fill.mass - std::f64::consts::PI / 3.0).abs() < 1e-15);
    let anvil = scene.surface.of([Side::Body(2), Side::Body(0)]);
    assert_eq!(anvil, (0.9, Surface::Coulomb(0.1)));
    assert_eq!(scene.surface.of([Side::Body(2), Side::Body(1)]), (0.9, Surface::Rough));
    assert_eq!(scene.impact, ImpactSettings { law: Law::Poisson, termination: Termination::Newton });
    let run = RunSettings {
        until: 2.5,
        max_events: 100,
        sample: 0.0,
        record_events: false,
        on_paradox: OnParadox::Stop,
        contact_time: None,
        rest_speed: None,
        on_trouble: OnTrouble::Step,
    };
    assert_eq!(scene.run, run);
    assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
}

#[test]
fn json_says_the_same() {
    for text in [EVERYTHING, GAS, DROP, GOOD] {
        let value: serde_json::Value = toml::from_str(text).unwrap();
        for json in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            assert_eq!(read(&json, Format::Json).unwrap(), toml(text));
        }
    }
}

#[test]
fn defaults() {
    let scene = toml(DROP);
    assert_eq!(scene.run, RunSettings::default());
    assert_eq!((scene.run.until, scene.run.max_events, scene.run.sample), (10.0, 1_000_000, 0.01));
    assert!(scene.run.record_events && scene.run.on_paradox == OnParadox::Hold);
    assert_eq!(scene.impact, ImpactSettings { law: Law::NewtonLcp, termination: Termination::Stronge });
    assert_eq!(scene.surface.of([Side::Body(0), Side::Plane(0)]), (1.0, Surface::Smooth));
    assert_eq!((scene.periodic, scene.source), (None, None));
    let ball = &scene.bodies[0];
    assert_eq!(ball.state.orientation, UnitQuaternion::identity());
    assert_eq!((ball.state.velocity, ball.state.angular_velocity), (Vector3::zeros(), Vector3::zeros()));
    assert!(!ball.body.fixed);
    let gas = &toml(GAS).fills[0];
    assert_eq!((gas.temperature, gas.start, gas.seed), (1.0, Start::Random, 0));
    // A box that is open in every direction is no box.
    assert_eq!(toml(&DROP.replace("gravity", "periodic = [0, 0, 0]\ngravity")).periodic, None);
}

#[test]
fn one_orientation_in_three_ways() {
    let (psi, theta, phi) = (0.3_f64, -1.2_f64, 2.5_f64);
    let about = |axis: Vector3<f64>, angle: f64| {
        let cross = axis.cross_matrix();
        Matrix3::identity() + cross * angle.sin() + cross * cross * (1.0 - angle.cos())
    };
    let matrix = about(Vector3::x(), psi) * about(Vector3::y(), theta) * about(Vector3::z(), phi);
    let turned = |orientation: &str| {
        let text = with("mass = 1\n", &format!("mass = 1\norientation = {orientation}\n"));
        let scene = toml(&text);
        assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
        scene.bodies[0].state.orientation
    };
    let bryan = turned(&format!("{{ bryan = [{psi}, {theta}, {phi}] }}"));
    assert!((bryan.to_rotation_matrix().matrix() - matrix).norm() < 1e-15);
    let column = |i: usize| format!("[{}, {}, {}]", matrix[(0, i)], matrix[(1, i)], matrix[(2, i)]);
    let axes = turned(&format!("{{ axes = [{}, {}, {}] }}", column(0), column(1), column(2)));
    assert!(axes.angle_to(&bryan) < 1e-15);
    let quaternion = turned(&format!("[{}, {}, {}, {}]", bryan.w, bryan.i, bryan.j, bryan.k));
    assert!(quaternion.angle_to(&bryan) < 1e-15);
    // Axes of few digits become a rotation to the last one.
    let rounded = turned("{ axes = [[0.6000001, 0.8, 0], [-0.8, 0.6, 0], [0, 0, 1.0000001]] }");
    assert!((rounded.norm() - 1.0).abs() < 1e-15);
    assert!((rounded * Vector3::x() - Vector3::new(0.6, 0.8, 0.0)).norm() < 2e-7);
}

/// Rates of Bryan angles give the angular velocity, and come back; where cos θ = 0 the angles of an orientation are others.
#[test]
fn bryan_angles_and_rates() {
    use carom::body::{State, bryan_angles, bryan_matrix, bryan_orientation};
    let angles = [0.3, -1.2, 2.5];
    let text = "mass = 1\norientation = { bryan = [0.3, -1.2, 2.5] }\nbryan_rates = [0.7, -0.4, 1.1]\n";
    let state = toml(&with("mass = 1\n", text)).bodies[0].state;
    // The rate of A, by differences, is [ω]A.
    let turned = |by: f64| {
        let moved = [angles[0] + 0.7 * by, angles[1] - 0.4 * by, angles[2] + 1.1 * by];
        *bryan_orientation(&moved).to_rotation_matrix().matrix()
    };
    let rate = (turned(1e-5) - turned(-1e-5)) / 2e-5 * turned(0.0).transpose();
    assert!((rate - state.angular_velocity.cross_matrix()).norm() < 1e-9);
    let near = |a: [f64; 3], b: [f64; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-14);
    assert!(near(bryan_angles(&state.orientation), angles));
    assert!(near(state.bryan_rates().unwrap(), [0.7, -0.4, 1.1]));
    assert!((bryan_matrix(&angles).determinant() - angles[1].cos()).abs() < 1e-15);
    for theta in [std::f64::consts::FRAC_PI_2, -std::f64::consts::FRAC_PI_2] {
        let locked = bryan_orientation(&[0.4, theta, 0.9]);
        assert!(bryan_orientation(&bryan_angles(&locked)).angle_to(&locked) < 1e-14);
        assert_eq!(State { orientation: locked, ..state }.bryan_rates(), None);
    }
    let plain = with("mass = 1\n", "mass = 1\nbryan_rates = [1, 0, 0]\n");
    complaint(&plain, "body[0].bryan_rates", "[1, 0, 0]", "angles that are not given", "{ bryan =");
}

#[test]
fn far_from_unit_is_a_warning() {
    let scene = toml(&with("mass = 1\n", "mass = 1\norientation = [2, 0, 0, 0]\n"));
    let [warning] = scene.warnings.as_slice() else { panic!("{:?}", scene.warnings) };
    assert_eq!((warning.field.as_deref(), warning.line), (Some("body[0].orientation"), 6));
    assert!(warning.message.contains("has length 2"), "{warning:?}");
    assert_eq!(scene.bodies[0].state.orientation, UnitQuaternion::identity());
    assert!(toml(&with("mass = 1\n", "mass = 1\norientation = [1.0000009, 0, 0, 0]\n")).warnings.is_empty());

    let scene = toml(&with("\nnormal = [1, 0, 0]", "\nnormal = [0, 1e-300, 0]"));
    assert_eq!(scene.warnings[0].field.as_deref(), Some("contact[0].normal"));
    assert_eq!(scene.contacts[0].normal.into_inner(), Vector3::y());
}

#[test]
fn versions() {
    complaint(&with("carom = 1", ""), "carom", "", "is missing", "`carom = 1`");
    complaint(
        &with("carom = 1", "carom = 2"),
        "carom",
        "2",
        "newer than this program, which reads version 1",
        "1",
    );
    complaint(&with("carom = 1", "carom = 0"), "carom", "0", "which never existed", "1");
    complaint(&with("carom = 1", "carom = '1'"), "carom", "'1'", "found a string", "the version");
    let found = read("{}", Format::Json).unwrap_err();
    assert!(found[0].expected.as_deref().unwrap().contains("`\"carom\": 1`"), "{found:?}");
    assert_eq!(complaints("")[0].message, "the file is empty");
    complaint("carom = 1", "body", "", "is missing", "`[[body]]` or `[[fill]]`");
}

#[test]
fn physical_quantities() {
    for quantity in ["mass", "density"] {
        let given = |value: &str| with("mass = 1\n", &format!("{quantity} = {value}\n"));
        let field = format!("body[0].{quantity}");
        complaint(&given("0"), &field, "0", "is zero", "greater than 0");
        complaint(&given("-2"), &field, "-2", "is negative", "greater than 0");
        complaint(&given("nan"), &field, "nan", "is not a number", "finite");
        complaint(&given("1e999"), &field, "1e999", "infinite", "finite");
        complaint(&given("'1'"), &field, "'1'", "found a string", "a number");
    }
    complaint(&with("mass = 1\n", ""), "body[0]", "[[body]]", "has none of `mass`, `density`", "`density`");
    complaint(
        &with("mass = 1\n", "mass = 1\ndensity = 3\n"),
        "body[0].density",
        "3",
        "cannot be given together with `mass`",
        "only one of",
    );
    complaint(&with("mass = 2", "density = 2"), "body[1].density", "2", "density of a point", "`mass`");
    complaint(
        &with("inertia = [1, 2, 3]\n", ""),
        "body[1].inertia",
        "[[body]]",
        "is missing",
        "principal moments",
    );
    let inertia = |value: &str| with("inertia = [1, 2, 3]", &format!("inertia = {value}"));
    complaint(&inertia("[1, 0, 1]"), "body[1].inertia[1]", "0", "is zero", "greater than 0");
    complaint(&inertia("[1, 1, -1]"), "body[1].inertia[2]", "-1", "is negative", "greater than 0");
    complaint(&inertia("[1, 4, 2]"), "body[1].inertia", "[1, 4, 2]", "triangle inequality: 4 > 1 + 2", "sum");
    complaint(&inertia("[1, 4]"), "body[1].inertia", "[1, 4]", "has 2 entries", "3");
    toml(&inertia("[1, 3.0000000001, 2]"));
    let velocity = with("mass = 1\n", "fixed = true\nvelocity = [0, 0, 1]\n");
    complaint(&velocity, "body[0].velocity", "[0, 0, 1]", "moves a fixed body", "`fixed = false`");
    let spin = with("mass = 1\n", "fixed = true\nangular_velocity_body = [0, 0, 1]\n");
    complaint(&spin, "body[0].angular_velocity_body", "[0, 0, 1]", "moves a fixed body", "zero");
    toml(&with("mass = 1\n", "fixed = true\nvelocity = [0, 0, 0]\n"));
    let both =
        with("mass = 1\n", "mass = 1\nangular_velocity = [0, 0, 0]\nangular_velocity_body = [1, 0, 0]\n");
    complaint(
        &both,
        "body[0].angular_velocity_body",
        "[1, 0, 0]",
        "together with `angular_velocity`",
        "only one",
    );
    complaint(&with("mass = 1\n", "mass = 1\nfixed = 1\n"), "body[0].fixed", "1", "found a number", "`true`");
    let tiny = with("radius = 1 } }\nmass = 1", "radius = 1e-200 } }\nmass = 1");
    complaint(&tiny, "body[0]", "[[body]]", "moments of inertia beyond the range", "`inertia`");
    let huge = with("radius = 1 } }\nmass = 1", "radius = 1e200 } }\ndensity = 1");
    complaint(&huge, "body[0].density", "1", "gives a mass of inf", "another size");
}

#[test]
fn shapes() {
    let shape = |shape: &str| with("{ sphere = { radius = 1 } }", &format!("{shape}\ninertia = [1, 1, 1]"));
    let field = |end: &str| format!("body[0].shape{end}");
    for (text, end, at_fault, message, expected) in [
        ("{ sphere = { radius = 0 } }", ".sphere.radius", "0", "is zero", "greater than 0"),
        ("{ sphere = { } }", ".sphere.radius", "{ }", "is missing", "greater than 0"),
        (
            "{ ellipsoid = { semi_axes = [1, -1, 1] } }",
            ".ellipsoid.semi_axes[1]",
            "-1",
            "is negative",
            "greater",
        ),
        ("{ ellipsoid = { semi_axes = [1, 1] } }", ".ellipsoid.semi_axes", "[1, 1]", "has 2 entries", "3"),
        (
            "{ superellipsoid = { semi_axes = [1, 1, 1], exponent = 1.5 } }",
            ".superellipsoid.exponent",
            "1.5",
            "is out of range",
            "from 2 (an ellipsoid) to 1000",
        ),
        (
            "{ superellipsoid = { semi_axes = [1, 1, 1], exponent = 1001 } }",
            ".superellipsoid.exponent",
            "1001",
            "is out of range",
            "1000",
        ),
        (
            "{ superellipsoid = { semi_axes = [1, 1, 1] } }",
            ".superellipsoid.exponent",
            "{ semi_axes = [1, 1, 1] }",
            "is missing",
            "from 2",
        ),
        ("{ shpere = { radius = 1 } }", ".shpere", "shpere", "unknown field `shpere`", "`sphere`"),
        ("{ radius = 1 }", ".radius", "radius", "unknown field", "`sphere = { radius = … }`"),
        ("\"sphere\"", "", "\"sphere\"", "without its sizes", "{ sphere = { radius = 1 } }"),
        ("{ point = { radius = 1 } }", ".point.radius", "radius", "unknown field", "no field at all: {}"),
        ("{ point = 0 }", ".point", "0", "found a number", "an empty table"),
        (
            "{ sphere = { radius = 1 }, ellipsoid = { semi_axes = [1, 1, 1] } }",
            ".ellipsoid",
            "{ semi_axes = [1, 1, 1] }",
            "cannot be given together with `sphere`",
            "only one of",
        ),
    ] {
        let found = complaints(&shape(text));
        let d = &found[0];
        assert_eq!(d.field.as_deref(), Some(field(end).as_str()), "{text}: {found:#?}");
        assert_eq!(&shape(text)[d.span.clone()], at_fault, "{text}: {d:?}");
        assert!(d.message.contains(message), "{text}: {d:?}");
        assert!(d.expected.as_deref().unwrap_or_default().contains(expected), "{text}: {d:?}");
    }
    let found = complaints(&shape("{ sphere = { semi_axes = [1, 1, 1] } }"));
    assert!(
        found.iter().any(|d| d.expected.as_deref().unwrap().contains("belong to an `ellipsoid`")),
        "{found:?}"
    );
    complaint(&shape("{}"), "body[0].shape", "{}", "has none of `sphere`", "such as");
    complaint(
        &with("shape = { point = {} }\n", ""),
        "body[1].shape",
        "[[body]]",
        "is missing",
        "such as { sphere",
    );
}

#[test]
fn orientations() {
    let turned = |value: &str| with("mass = 1\n", &format!("mass = 1\norientation = {value}\n"));
    let field = "body[0].orientation";
    complaint(&turned("[0, 0, 0, 0]"), field, "[0, 0, 0, 0]", "is zero", "unit quaternion");
    complaint(&turned("[1, 0, 0]"), field, "[1, 0, 0]", "has 3 entries", "4, the quaternion w, x, y, z");
    complaint(&turned("1"), field, "1", "found a number", "{ bryan =");
    complaint(&turned("{}"), field, "{}", "has none of `axes`, `bryan`", "{ axes =");
    complaint(&turned("{ brian = [0, 0, 0] }"), "body[0].orientation.brian", "brian", "unknown", "`bryan`");
    complaint(
        &turned("{ bryan = [0, 0] }"),
        "body[0].orientation.bryan",
        "[0, 0]",
        "has 2",
        "psi, theta and phi",
    );
    let axes = |value: &str| turned(&format!("{{ axes = {value} }}"));
    let field = "body[0].orientation.axes";
    let long = "[[1, 0, 0], [0, 2, 0], [0, 0, 1]]";
    complaint(&axes(long), "body[0].orientation.axes[1]", "[0, 2, 0]", "has length 2", "a unit vector");
    let left = "[[1, 0, 0], [0, 1, 0], [0, 0, -1]]";
    complaint(&axes(left), field, left, "is left-handed", "right-handed");
    let skew = "[[1, 0, 0], [0, 1, 0], [0, 0.6, 0.8]]";
    complaint(&axes(skew), field, skew, "axes 1 and 2 that are not perpendicular", "orthonormal");
    complaint(&axes("[[1, 0, 0], [0, 1, 0]]"), field, "[[1, 0, 0], [0, 1, 0]]", "has 2 axes", "three");
}

#[test]
fn empty_names() {
    complaint(&with("\"floor\"", "\" \""), "plane[0].name", "\" \"", "is empty", "a name");
    complaint(&with("name = \"pin\"\n", ""), "joint[0].name", "[[joint]]", "is missing", "a name");
    let found = complaints(&with("\"one\"", "\"\""));
    assert_eq!((found[0].field.as_deref(), found[0].message.as_str()), (Some("body[0].name"), "is empty"));
}

#[test]
fn names_are_unique_across_kinds() {
    for (kind, old, line) in [("body[1]", "name = \"two\"", 7), ("plane[0]", "name = \"floor\"", 13)] {
        let found = complaints(&with(old, "name = \"one\""));
        let d = found.iter().find(|d| d.field == Some(format!("{kind}.name"))).unwrap();
        assert_eq!(d.line, line, "{d:?}");
        assert!(d.message.contains("`one` is already the name of a body on line 3"), "{d:?}");
    }
    complaint(
        &with("\"pin\"", "\"floor\""),
        "joint[0].name",
        "\"floor\"",
        "the name of a plane on line 13",
        "its own",
    );
    let text = format!("{}[[body]]\nname = \"gas[399]\"\nfixed = true\nshape = {{ point = {{}} }}\n", GAS);
    complaint(&text, "body[0].name", "\"gas[399]\"", "a body of the fill on line 5", "its own");
    toml(&text.replace("399", "400"));
}

#[test]
fn names_that_are_not_there() {
    complaint(&with("[\"one\"]", "[\"onne\"]"), "joint[0].bodies[0]", "\"onne\"", "no body `onne`", "`one`");
    complaint(
        &with("[\"one\"]", "[\"floor\"]"),
        "joint[0].bodies[0]",
        "\"floor\"",
        "`floor` is a plane",
        "`one`",
    );
    complaint(
        &with("[\"one\", \"two\"]", "[\"one\", \"flor\"]"),
        "contact[0].bodies[1]",
        "\"flor\"",
        "there is no body or plane `flor`",
        "`floor`",
    );
    complaint(
        &with("[\"one\", \"two\"]", "[\"one\", \"pin\"]"),
        "contact[0].bodies[1]",
        "\"pin\"",
        "a joint",
        "one of",
    );
    let rolling =
        |plane: &str| with("ball = { point = [0, 0, 1] }", &format!("rolling = {{ plane = \"{plane}\" }}"));
    toml(&rolling("floor"));
    complaint(&rolling("flour"), "joint[0].kind.rolling.plane", "\"flour\"", "no plane `flour`", "`floor`");
    complaint(&rolling("one"), "joint[0].kind.rolling.plane", "\"one\"", "`one` is a body", "`floor`");
    let text = format!("{}[surface]\npair = [{{ bodies = [\"gas\", \"gas\"] }}]\n", GAS);
    assert!(complaints(&text)[0].message.contains("`gas` is a fill"));
    let joint = |body: &str| {
        format!(
            "{GAS}[[joint]]\nname = 'pin'\nbodies = ['{body}']\nkind = {{ ball = {{ point = [0, 0, 1] }} }}\n"
        )
    };
    complaint(
        &joint("gas[399]"),
        "joint[0].bodies[0]",
        "'gas[399]'",
        "is a body of a fill",
        "a body of its own",
    );
    complaint(
        &joint("gas[400]"),
        "joint[0].bodies[0]",
        "'gas[400]'",
        "there is no body `gas[400]`",
        "a body of",
    );
}

#[test]
fn joints() {
    let bodies = |value: &str| with("bodies = [\"one\"]", &format!("bodies = {value}"));
    complaint(&bodies("[]"), "joint[0].bodies", "[]", "has 0 names", "one body");
    complaint(&bodies("\"one\""), "joint[0].bodies", "\"one\"", "found a string", "one body");
    let same = "[\"one\", \"one\"]";
    complaint(&bodies(same), "joint[0].bodies", same, "the same body twice", "two");
    let kind = |value: &str| with("{ ball = { point = [0, 0, 1] } }", value);
    let hinge = "{ hinge = { point = [0, 0, 0], axis = [0, 0, 0] } }";
    complaint(
        &kind(hinge),
        "joint[0].kind.hinge.axis",
        "[0, 0, 0]",
        "is zero and has no direction",
        "other than",
    );
    complaint(
        &kind("{ hinge = { axis = [0, 0, 1] } }"),
        "joint[0].kind.hinge.point",
        "{ axis = [0, 0, 1] }",
        "missing",
        "point",
    );
    complaint(&kind("{ revolute = {} }"), "joint[0].kind.revolute", "revolute", "unknown field", "`hinge`");
    complaint(&kind("{ weld = true }"), "joint[0].kind.weld", "true", "found a boolean", "an empty table");
    complaint(
        &kind("{ rows = [[1, 0]] }"),
        "joint[0].kind.rows[0]",
        "[1, 0]",
        "has 2 entries",
        "6, linear then",
    );
    complaint(&kind("{ rows = [] }"), "joint[0].kind.rows", "[]", "has no row", "at least one");
    complaint(&kind("'ball'"), "joint[0].kind", "'ball'", "found a string", "`ball`");
    let two = bodies("[\"one\", \"two\"]")
        .replace("ball = { point = [0, 0, 1] }", "rolling = { plane = \"floor\" }");
    complaint(&two, "joint[0].kind.rolling", "{ plane = \"floor\" }", "a joint of one body", "one body");
    let list = with("[[joint]]", "[joint]");
    assert!(complaints(&list)[0].expected.as_deref().unwrap().contains("each [[joint]]"));
}

#[test]
fn contacts() {
    let bodies = |value: &str| with("bodies = [\"one\", \"two\"]", &format!("bodies = {value}"));
    complaint(&bodies("[\"one\"]"), "contact[0].bodies", "[\"one\"]", "has 1 name", "two bodies");
    let same = "[\"two\", \"two\"]";
    complaint(&bodies(same), "contact[0].bodies", same, "the same body twice", "two bodies");
    let planes = "[\"floor\", \"floor\"]";
    complaint(&bodies(planes), "contact[0].bodies", planes, "names two planes", "a body and a plane");
    complaint(
        &with("\nnormal = [1, 0, 0]", ""),
        "contact[0].normal",
        "[[contact]]",
        "is missing",
        "first body",
    );
    complaint(
        &with("\nnormal = [1, 0, 0]", "\nnormal = [0, 0, 0]"),
        "contact[0].normal",
        "[0, 0, 0]",
        "no direction",
        "",
    );
    complaint(&with("point = [1, 0, 0]\n", ""), "contact[0].point", "[[contact]]", "is missing", "touch");
    let floor = "[\"floor\", \"two\"]";
    complaint(
        &bodies(floor),
        "contact[0].normal",
        "[1, 0, 0]",
        "not the normal of the plane",
        "[0, 0, 1], or none",
    );
    toml(&bodies(floor).replace("\nnormal = [1, 0, 0]", "\nnormal = [0, 0, -1.0000001]"));
    let more = |line: &str| format!("{GOOD}{line}\n");
    complaint(&more("restitution = 1.5"), "contact[0].restitution", "1.5", "out of range", "between 0 and 1");
    complaint(
        &more("restitution = -0.5"),
        "contact[0].restitution",
        "-0.5",
        "is negative",
        "between 0 and 1",
    );
    complaint(&more("surface = 'smoth'"), "contact[0].surface", "'smoth'", "`smoth`", "`smooth`");
    complaint(&more("surface = 'coulomb'"), "contact[0].surface", "'coulomb'", "lacks", "{ coulomb = 0.3 }");
    complaint(&more("surface = { coulomb = -1 }"), "contact[0].surface.coulomb", "-1", "is negative", "0 or");
    complaint(
        &more("surface = { rough = 1 }\nname = 'x'").replace("{ rough = 1 }", "1"),
        "contact[0].surface",
        "1",
        "found a number",
        "\"rough\"",
    );
    complaint(&more("friction = 0.3"), "contact[0].friction", "friction", "unknown field", "{ coulomb = … }");
}

#[test]
fn surfaces() {
    let more = |line: &str| format!("{GOOD}[surface]\n{line}\n");
    complaint(&more("restitution = 2"), "surface.restitution", "2", "out of range", "between 0 and 1");
    complaint(&more("kind = 'hard'"), "surface.kind", "'hard'", "`hard`", "`rough`");
    complaint(&more("friction = 1"), "surface.friction", "friction", "unknown field", "coulomb");
    let pair = |line: &str| format!("{GOOD}[[surface.pair]]\nbodies = ['one', 'floor']\n{line}\n");
    complaint(&pair("restitution = 2"), "surface.pair[0].restitution", "2", "out of range", "between");
    let twice = pair("[[surface.pair]]\nbodies = ['floor', 'one']");
    complaint(&twice, "surface.pair[1].bodies", "['floor', 'one']", "pair of line 24 again", "once");
}

#[test]
fn fills() {
    let fill = |old: &str, new: &str| {
        assert!(GAS.contains(old));
        GAS.replacen(old, new, 1)
    };
    complaint(&fill("count = 400", "count = 0"), "fill[0].count", "0", "is zero", "from 1");
    complaint(
        &fill("count = 400", "count = 4.5"),
        "fill[0].count",
        "4.5",
        "not a whole number",
        "at least 1",
    );
    for fraction in ["0", "1", "-0.1", "1.5"] {
        let text = fill("fraction = 0.3", &format!("fraction = {fraction}"));
        complaint(&text, "fill[0].packing_fraction", fraction, "", "between 0 and 1, neither");
    }
    let given = |line: &str| format!("{GAS}{line}\n");
    complaint(&given("temperature = -1"), "fill[0].temperature", "-1", "is negative", "0 or");
    complaint(&given("start = 'grid'"), "fill[0].start", "'grid'", "`grid`", "`lattice`");
    complaint(&given("seed = -1"), "fill[0].seed", "-1", "is negative", "whole");
    complaint(&given("density = 1"), "fill[0].density", "1", "together with `mass`", "only one");
    complaint(
        &fill("packing_fraction = 0.3\n", ""),
        "fill[0].packing_fraction",
        "[[fill]]",
        "is missing",
        "`world.periodic`",
    );
    let point = fill("{ superellipsoid = { semi_axes = [1, 0.5, 0.5], exponent = 3 } }", "{ point = {} }");
    complaint(&point, "fill[0].shape", "{ point = {} }", "fills nothing", "a volume");
    let boxed = |lengths: &str, text: &str| format!("{text}[world]\nperiodic = {lengths}\n");
    complaint(&boxed("[20, 20, 20]", GAS), "fill[0].packing_fraction", "0.3", "is not the fraction", "0.0");
    complaint(
        &boxed("[20, 20, 0]", GAS),
        "fill[0].packing_fraction",
        "0.3",
        "a box that is open",
        "other than 0",
    );
    let free = fill("packing_fraction = 0.3\n", "");
    toml(&boxed("[20, 20, 20]", &free));
    complaint(&boxed("[5, 5, 5]", &free), "fill[0]", "[[fill]]", "times the volume", "larger box");
}

#[test]
fn settings() {
    let more = |lines: &str| format!("{DROP}{lines}\n");
    let world = |line: &str| DROP.replace("gravity = [0, 0, -9.81]", line);
    complaint(&world("gravity = [0, inf, 0]"), "world.gravity[1]", "inf", "infinite", "finite");
    complaint(&world("gravity = -9.81"), "world.gravity", "-9.81", "found a number", "a list");
    complaint(&world("periodic = [1, -1, 0]"), "world.periodic[1]", "-1", "is negative", "0 or");
    complaint(&more("[impact]\nlaw = 'newton-lcp'"), "impact.law", "'newton-lcp'", "no", "`newton_lcp`");
    complaint(&more("[impact]\ntermination = 'strong'"), "impact.termination", "'strong'", "no", "`stronge`");
    complaint(&more("[run]\nuntil = -1"), "run.until", "-1", "is negative", "0 or");
    complaint(&more("[run]\nsample = -1"), "run.sample", "-1", "is negative", "0 or");
    complaint(&more("[run]\nmax_events = 0"), "run.max_events", "0", "is zero", "at least 1");
    complaint(&more("[run]\nrecord_events = 'no'"), "run.record_events", "'no'", "found a string", "`false`");
    complaint(&more("[run]\non_paradox = 'wait'"), "run.on_paradox", "'wait'", "`wait`", "`hold`");
    complaint(&more("[run]\nuntill = 3"), "run.untill", "untill", "unknown field", "`until`");
    complaint(
        &with("carom = 1", "carom = 1\nimpact = 3"),
        "impact",
        "3",
        "found a number",
        "a table with `law`",
    );
    complaint(&with("carom = 1", "carom = 1\nlaw = 'newton'"), "law", "law", "unknown field", "`[impact]`");
    complaint(&with("carom = 1", "carom = 1\ntitel = 'x'"), "titel", "titel", "unknown field", "`title`");
    complaint(
        &with("[[plane]]", "[[planes]]\nname = 'x'\n[[plane]]"),
        "planes",
        "planes",
        "unknown",
        "`[[plane]]`",
    );
    complaint(
        &with("mass = 2", "mass = 2\nvelocty = [0, 0, 0]"),
        "body[1].velocty",
        "velocty",
        "unknown",
        "`velocity`",
    );
}

#[test]
fn all_mistakes_at_once_in_the_order_of_the_text() {
    let text = with("mass = 1\n", "mass = -1\nvelocity = [0, 0]\ncolour = 3\n")
        .replace("inertia = [1, 2, 3]", "inertia = [1, 2, 9]")
        .replace("normal = [0, 0, 1]", "normal = [0, 0, 0]")
        .replace("point = [0, 0, 1]", "pont = [0, 0, 1]")
        .replace("[\"one\", \"two\"]", "[\"one\", \"tow\"]");
    let found = complaints(&text);
    let fields: Vec<_> = found.iter().map(|d| (d.line, d.field.as_deref().unwrap())).collect();
    let expected = [
        (5, "body[0].mass"),
        (6, "body[0].velocity"),
        (7, "body[0].colour"),
        (12, "body[1].inertia"),
        (16, "plane[0].normal"),
        (20, "joint[0].kind.ball.pont"),
        (22, "contact[0].bodies[1]"),
    ];
    assert_eq!(fields, expected, "{found:#?}");
}

#[test]
fn very_many_mistakes_stay_quick() {
    let body = "[[body]]\nname = 'a'\nshape = { point = {} }\nmass = 0\n";
    let contact = "[[contact]]\nbodies = ['b', 'c']\npoint = [0, 0, 0]\n";
    let text = format!("carom = 1\n{}{}", body.repeat(20_000), contact.repeat(20_000));
    let start = std::time::Instant::now();
    assert_eq!(complaints(&text).len(), 1000);
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}

#[test]
fn later_findings_are_pointed_at() {
    for (path, at_fault) in [
        ("joint[0]", "[[joint]]"),
        ("body[1].inertia", "[1, 2, 3]"),
        ("body[1].inertia[2]", "3"),
        ("contact[0].bodies[1]", "\"two\""),
        ("joint[0].kind.ball.point", "[0, 0, 1]"),
        // What was left out is pointed at where it would stand.
        ("body[1].velocity", "[[body]]"),
        ("body[7]", "[[body]]"),
        ("nothing", ""),
    ] {
        let found = explain(GOOD, Format::Toml, path, "is wrong", "right");
        assert_eq!(found.field.as_deref(), Some(path));
        let line = &GOOD[found.span.clone()];
        assert!(line == at_fault, "{path}: {found:?}");
        assert_eq!(found.line, 1 + GOOD[..found.span.start].matches('\n').count());
    }
    let source = Source::new("{ not json", Format::Json);
    assert_eq!(source.explain("body[0]", "is wrong", "").span, 0..0);
}
