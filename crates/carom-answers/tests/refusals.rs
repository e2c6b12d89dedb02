//! What is refused, and where: texts with places, options by name, whoever asks.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use carom::contact::classify::{Tolerances, Type};
use carom::impact::Order;
use carom::scene::instant::TOUCHING;
use carom::shape::Shape;
use carom_answers::refusal::Fault;
use carom_answers::run::{Changes, Loop, Running};
use carom_answers::solve::Prepared;
use carom_answers::{Input, Refusal, Resolution, Subject, classify, gap, generalized, paper, paradox, toi};

const BALL: &str = "carom = 1
[[body]]
name = 'ball'
shape = { sphere = { radius = 0.1 } }
mass = 2
position = [0, 0, 0.1]
velocity = [0, 0, -3]
[[plane]]
name = 'floor'
normal = [0, 0, 1]
";

fn subject(text: &str) -> Subject {
    Input::of_text("ball.toml", text.to_string(), None).scene().unwrap()
}

/// An option is refused by its name, with what is expected of it.
#[track_caller]
fn refuses<T>(answer: Result<T, Refusal>, option: &str, expected: &str) {
    let refusal = answer.err().unwrap();
    assert_eq!(refusal.fault, Fault::Option);
    assert_eq!(refusal.diagnostics[0].field.as_deref(), Some(option));
    let said = refusal.diagnostics[0].expected.as_deref().unwrap();
    assert!(said.contains(expected), "{said}");
    assert_eq!((refusal.name(), refusal.text()), (None, None));
}

#[test]
fn options_out_of_range() {
    let ball = subject(BALL);
    for bad in [f64::NAN, f64::INFINITY] {
        refuses(gap::answer(&ball, bad), "at", "a finite number");
    }
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        refuses(toi::answer(&ball, Some(bad)), "until", "greater than 0");
        let request = classify::Request { span: Some(bad), ..classify::Request::default() };
        refuses(classify::answer(&ball, &request), "span", "greater than 0");
    }
    for bad in [-1e-9, 0.2, f64::NAN] {
        let of = |tolerances| classify::Request { tolerances, ..classify::Request::default() };
        let request = of(Tolerances { touching: bad, ..Tolerances::default() });
        refuses(classify::answer(&ball, &request), "touching", "from 0 to 0.1");
        let request = of(Tolerances { rates: bad, ..Tolerances::default() });
        refuses(classify::answer(&ball, &request), "tolerance", "from 0 to 0.1");
        refuses(Prepared::of(ball.clone(), bad), "touching", "from 0 to 0.1");
    }
    let prepared = Prepared::of(ball.clone(), TOUCHING).unwrap();
    for bad in [0.0, 0.1, f64::NAN] {
        let resolution = Resolution { tolerance: Some(bad), ..Resolution::default() };
        refuses(prepared.solved(&resolution), "tolerance", "from 1e-14 to 0.01");
    }
    let resolution = Resolution { max_steps: Some(0), ..Resolution::default() };
    refuses(prepared.solved(&resolution), "max_steps", "at least 1");
    let resolution = Resolution { order: Some(Order::Rows(vec![1])), ..Resolution::default() };
    refuses(prepared.solved(&resolution), "order", "every contact's number");
    refuses(paper::answer("newton"), "name", "stanescu-pandrea");

    let run = |changes| Running::begin(ball.clone(), changes, |_| true);
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        refuses(run(Changes { until: Some(bad), ..Changes::default() }), "until", "at least 0");
        refuses(run(Changes { sample: Some(bad), ..Changes::default() }), "sample", "at least 0");
    }
    refuses(run(Changes { max_events: Some(0), ..Changes::default() }), "max_events", "at least 1");
    let heavy = subject(&BALL.replace("[[plane]]", "[world]\ngravity = [0, 0, -1]\n[[plane]]"));
    let changes = Changes { which: Some(Loop::Crowd), ..Changes::default() };
    refuses(Running::begin(heavy, changes, |_| true), "loop", "simulation");
}

#[test]
fn paradoxes_are_of_shapes_that_the_search_resolves() {
    let round = Shape::Sphere { radius: 1.0 };
    let request = |shape| paradox::Request {
        shapes: [round, shape],
        kind: Type::Paradox2b,
        planar: false,
        seed: 0,
        before: 0.0,
    };
    let shapes = [
        (Shape::Point, "a surface"),
        (Shape::Sphere { radius: f64::NAN }, "sizes"),
        (Shape::Ellipsoid { semi_axes: [1.0, 1e-4, 1.0] }, "sizes"),
        (Shape::Superellipsoid { semi_axes: [1.0; 3], exponent: 1.5 }, "an exponent from 2 to 100"),
    ];
    for (shape, expected) in shapes {
        refuses(paradox::answer(&request(shape)), "shapes", expected);
    }
    let early = paradox::Request { before: -1.0, ..request(round) };
    refuses(paradox::answer(&early), "before", "0 or more");
    let other = paradox::Request { kind: Type::Normal, ..request(round) };
    refuses(paradox::answer(&other), "type", "2b_star");
    assert_eq!(paradox::parse_kind("paradox_2b_star"), Some(Type::Paradox2bStar));
    assert_eq!(paradox::parse_kind("normal"), None);
    for wrong in ["ball(1)", "sphere(1", "sphere()", "sphere(x)", "ellipsoid(1,2)", "superellipsoid(1,2,3;1)"]
    {
        assert!(paradox::parse_shape(wrong).unwrap_err().contains("expected"), "{wrong}");
    }
}

#[test]
fn texts_are_refused_at_their_places() {
    let place = |refusal: &Refusal| {
        let first = &refusal.diagnostics[0];
        (first.line, first.column, first.field.clone().unwrap())
    };
    let wrong = BALL.replace("mass = 2", "mass = -2");
    let refusal = Input::of_text("ball.toml", wrong.clone(), None).scene().unwrap_err();
    assert_eq!((refusal.name(), refusal.text()), (Some("ball.toml"), Some(wrong.as_str())));
    assert_eq!(place(&refusal), (5, 8, "body[0].mass".to_string()));
    let document = serde_json::to_value(refusal.document(|_| unreachable!())).unwrap();
    assert_eq!(
        (&document["errors"][0]["line"], &document["errors"][0]["file"]),
        (&5.into(), &"ball.toml".into())
    );

    // What only the question finds.
    let deep = subject(&BALL.replace("0.1]", "-0.4]"));
    assert_eq!(place(&toi::answer(&deep, None).unwrap_err()).2, "body[0]");
    let refusal = Running::begin(deep, Changes::default(), |_| true).err().unwrap();
    assert_eq!(place(&refusal), (2, 1, "body[0]".to_string()));
    assert!(refusal.diagnostics[0].message.contains("`ball` overlaps `floor` by 0.5"));

    let input =
        Input::of_text("p.json", "{\"mass\": [[-1]], \"contacts\": [], \"velocity\": [0]}".to_string(), None);
    let refusal = generalized::answer(&input, &Resolution::default(), true).unwrap_err();
    assert!(place(&refusal).2.starts_with("mass"), "{refusal:?}");

    let missing = Input::read(std::path::Path::new("no/such/scene.toml")).unwrap_err();
    assert_eq!(missing.fault, Fault::Unreadable { name: "no/such/scene.toml".to_string() });
    let binary = Input::read_from(&b"carom = \xff"[..], "bytes".to_string(), None).unwrap_err();
    assert!(binary.diagnostics[0].message.contains("byte 8"));
}

#[test]
fn warnings_are_values() {
    let given =
        format!("{BALL}[[contact]]\nbodies = ['floor', 'ball']\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\n");
    let running = Running::begin(subject(&given), Changes::default(), |_| true).unwrap();
    assert_eq!(running.warnings.len(), 1);
    assert_eq!(running.warnings[0].field.as_deref(), Some("contact[0]"));
    assert!(Running::begin(subject(BALL), Changes::default(), |_| true).unwrap().warnings.is_empty());
}
