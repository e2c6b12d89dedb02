//! What is refused, and where: texts with places, options by name, however the question is asked.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use carom::contact::classify::{Tolerances, Type};
use carom::impact::Order;
use carom::scene::instant::TOUCHING;
use carom::shape::Shape;
use carom_answers::input_error::Fault;
use carom_answers::run::{Changes, Loop, Running};
use carom_answers::solve::Prepared;
use carom_answers::{
    Input, InputError, Resolution, Subject, classify, gap, generalized, paper, paradox, toi,
};

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
fn refuses<T>(answer: Result<T, InputError>, option: &str, expected: &str) {
    let error = answer.err().unwrap();
    assert_eq!(error.fault, Fault::Option);
    assert_eq!(error.diagnostics[0].field.as_deref(), Some(option));
    let said = error.diagnostics[0].expected.as_deref().unwrap();
    assert!(said.contains(expected), "{said}");
    assert_eq!((error.name(), error.text()), (None, None));
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
    for bad in [0, 1025] {
        refuses(run(Changes { threads: Some(bad), ..Changes::default() }), "threads", "from 1 to 1024");
    }
    let heavy = subject(&BALL.replace("[[plane]]", "[world]\ngravity = [0, 0, -1]\n[[plane]]"));
    let changes = Changes { which: Some(Loop::Edmd), ..Changes::default() };
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
    let place = |error: &InputError| {
        let first = &error.diagnostics[0];
        (first.line, first.column, first.field.clone().unwrap())
    };
    let wrong = BALL.replace("mass = 2", "mass = -2");
    let error = Input::of_text("ball.toml", wrong.clone(), None).scene().unwrap_err();
    assert_eq!((error.name(), error.text()), (Some("ball.toml"), Some(wrong.as_str())));
    assert_eq!(place(&error), (5, 8, "body[0].mass".to_string()));
    let document = serde_json::to_value(error.document(|_| unreachable!())).unwrap();
    assert_eq!(
        (&document["errors"][0]["line"], &document["errors"][0]["file"]),
        (&5.into(), &"ball.toml".into())
    );

    let input =
        Input::of_text("p.json", "{\"mass\": [[-1]], \"contacts\": [], \"velocity\": [0]}".to_string(), None);
    let error = generalized::answer(&input, &Resolution::default(), true).unwrap_err();
    assert!(place(&error).2.starts_with("mass"), "{error:?}");

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

/// Every question that has no answer where bodies overlap, with what it says.
fn of_all_questions(text: &str) -> Vec<(&'static str, InputError)> {
    let deep = subject(text);
    let run = |which| {
        let changes = Changes { which: Some(which), ..Changes::default() };
        Running::begin(deep.clone(), changes, |_| true).err().unwrap()
    };
    vec![
        ("solve", Prepared::of(deep.clone(), TOUCHING).unwrap_err()),
        ("classify", classify::answer(&deep, &classify::Request::default()).unwrap_err()),
        ("toi", toi::answer(&deep, None).unwrap_err()),
        ("run", run(Loop::Simulation)),
        ("edmd", run(Loop::Edmd)),
    ]
}

/// An overlap is reported the same way by every question: the position of the second, by how much, and what would be right; and the depth
/// is the one of `gap`.
#[test]
fn an_overlap_is_told_in_one_way() {
    let ball = |name: &str, position: &str| {
        format!(
            "[[body]]\nname = '{name}'\nshape = {{ ellipsoid = {{ semi_axes = [0.2, 0.1, 0.1] }} }}\nmass = 1\n\
             position = {position}\norientation = {{ bryan = [0.1, 0.4, 0.2] }}\n"
        )
    };
    let pair = format!("carom = 1\n{}{}", ball("a", "[0, 0, 0]"), ball("b", "[0.05, 0.11, 0]"));
    // The same two at the two ends of a box, and three that all overlap.
    let split = format!(
        "carom = 1\n{}{}[world]\nperiodic = [3, 3, 3]\n",
        ball("a", "[0, 0, 0]"),
        ball("b", "[-2.95, 3.11, 0]")
    );
    let three = format!("{pair}{}", ball("c", "[0.1, -0.05, 0]"));
    let sunk = BALL.replace("0.1]", "-0.4]");
    for (text, expected) in [
        (&sunk, vec![(6, "body[0].position", "`ball` overlaps `floor` by ", ["floor", "ball"])]),
        (&pair, vec![(12, "body[1].position", "`b` overlaps `a` by ", ["a", "b"])]),
        (&split, vec![(12, "body[1].position", "`b` overlaps `a` across the periodic box by ", ["a", "b"])]),
        (
            &three,
            vec![
                (12, "body[1].position", "`b` overlaps `a` by ", ["a", "b"]),
                (18, "body[2].position", "`c` overlaps `a` by ", ["a", "c"]),
                (18, "body[2].position", "`c` overlaps `b` by ", ["b", "c"]),
            ],
        ),
    ] {
        let gaps = gap::answer(&subject(text), 0.0).unwrap().pairs;
        let errors = of_all_questions(text);
        for (question, error) in &errors {
            assert_eq!(error.diagnostics, errors[0].1.diagnostics, "{question}");
        }
        let said = &errors[0].1.diagnostics;
        assert_eq!(said.len(), expected.len(), "{said:#?}");
        for (diagnostic, (line, field, words, bodies)) in said.iter().zip(expected) {
            assert_eq!((diagnostic.line, diagnostic.field.as_deref()), (line, Some(field)));
            assert_eq!(diagnostic.expected.as_deref(), Some("bodies that touch or are apart"));
            let depth: f64 = diagnostic.message.strip_prefix(words).unwrap().parse().unwrap();
            let gap = gaps.iter().find(|pair| pair.bodies == bodies).unwrap().gap;
            assert!((depth + gap).abs() < 1e-7 * depth, "{depth} {gap}");
        }
    }
}

/// A body that overlaps its own image would not be mended by its position: the box is what it is too large for.
#[test]
fn a_body_that_overlaps_itself_is_the_boxs_fault() {
    let narrow = format!("{BALL}[world]\nperiodic = [0.15, 5, 0]\n").replace("0, 0, 0.1]", "0, 0, 0.2]");
    let deep = subject(&narrow);
    for error in [
        Prepared::of(deep.clone(), TOUCHING).unwrap_err(),
        classify::answer(&deep, &classify::Request::default()).unwrap_err(),
        toi::answer(&deep, None).unwrap_err(),
    ] {
        let said = &error.diagnostics;
        assert_eq!((said.len(), said[0].line, said[0].field.as_deref()), (1, 12, Some("world.periodic")));
        assert_eq!(said[0].message, "`ball` overlaps its own image in the next box by 0.05");
    }
}
