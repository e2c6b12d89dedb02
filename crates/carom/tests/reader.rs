//! The reader of `carom generalized` files: what it takes, and what it says of each mistake, and where.

use carom::impact::coulomb::Termination;
use carom::impact::{Friction, Law, Order, Rough};
use carom::scene::generalized::{Request, explain, read};
use carom::scene::{Diagnostic, Format};
use carom::{Error, Fault, Place};

const GOOD: &str = r#"
title = "three in a row"
mass = [[1, 0, 0], [0, 2.5, 0], [0, 0, 0x10]]
contacts = [[-1, 1, 0], [0, -1, 1], [1, 1, 1], [0, 0, 1], [0, 1, 0]]
velocity = [0.1, -0.0, 5e-324]
restitution = [1, 0.30000000000000004, 0, 0, 0]
"#;

const EVERYTHING: &str = r#"
carom = 1
source = "nowhere"
mass = [[2, 0], [0, 1]]
bilateral = [[0, 0]]
contacts = [[-1, 1], [0, -1], [1, 1], [0, 1], [1, 0], [2, 1]]
velocity = [0, 0]
restitution = 0.5
law = "poisson"
tangential = []
termination = "newton"
order = [3, 1, 0, 5]
tolerance = 1e-8
max_steps = 7
[[rough]]
normal = 1
tangent = 2
[[friction]]
normal = 3
tangent = [4]
coefficient = 0.3
"#;

const EVERYTHING_JSON: &str = r#"{
"carom": 1, "source": "no\u0077here", "mass": [[2, 0], [0, 1]], "bilateral": [[0, 0]],
"contacts": [[-1, 1], [0, -1], [1, 1], [0, 1], [1, 0], [2, 1]], "velocity": [0, 0], "restitution": 5E-1,
"law": "poisson", "tangential": [], "termination": "newton", "order": [3, 1, 0, 5], "tolerance": 1e-8,
"max_steps": 7, "rough": [{"normal": 1, "tangent": 2}],
"friction": [{"normal": 3, "tangent": [4], "coefficient": 0.3}]}"#;

fn toml(text: &str) -> Result<Request, Vec<Diagnostic>> {
    read(text, Format::Toml)
}

/// What is said of a problem that is right but for these lines, which replace the field of the same name.
fn complaints(lines: &str) -> Vec<Diagnostic> {
    let replaced = |line: &&str| {
        let key = line.split('=').next().unwrap_or_default().trim();
        !lines.lines().any(|new| new.split('=').next().unwrap_or_default().trim() == key)
    };
    let rest: Vec<&str> = GOOD.lines().skip(2).filter(replaced).collect();
    let text = format!("{lines}\n{}", rest.join("\n"));
    let diagnostics = toml(&text).expect_err(&text);
    for d in &diagnostics {
        assert!(text.get(d.span.clone()).is_some(), "{d:?}");
    }
    diagnostics
}

/// Asserts that there is one complaint, on the first line.
#[track_caller]
fn complaint(lines: &str, field: &str, column: usize, message: &str, expected: &str) {
    let found = complaints(lines);
    let [d] = found.as_slice() else { panic!("{lines}\n{found:#?}") };
    assert_eq!(d.field.as_deref().unwrap_or_default(), field, "{d:?}");
    assert_eq!((d.line, d.column), (1, column), "{d:?}");
    assert!(d.message.contains(message), "{d:?}");
    assert!(d.expected.as_deref().unwrap_or_default().contains(expected), "{d:?}");
}

#[test]
fn numbers_are_kept_to_the_last_bit() {
    let request = toml(GOOD).unwrap();
    assert_eq!(request.title.as_deref(), Some("three in a row"));
    let p = &request.problem;
    assert_eq!(p.mass.as_slice(), [1.0, 0.0, 0.0, 0.0, 2.5, 0.0, 0.0, 0.0, 16.0]);
    assert_eq!(p.contacts.row(1).iter().copied().collect::<Vec<_>>(), [0.0, -1.0, 1.0]);
    let bits: Vec<u64> = p.velocity.iter().map(|v| v.to_bits()).collect();
    assert_eq!(bits, [0.1_f64.to_bits(), (-0.0_f64).to_bits(), 1]);
    assert_eq!(p.restitution[1], 0.1 + 0.2);
    assert_eq!(p.bilateral.shape(), (0, 3));
    assert_eq!(request.options, carom::impact::Options::default());
}

#[test]
fn toml_and_json_say_the_same() {
    let request = toml(EVERYTHING).unwrap();
    assert_eq!(read(EVERYTHING_JSON, Format::Json).unwrap(), request);
    let (problem, options) = (&request.problem, &request.options);
    assert_eq!(problem.rough, [Rough { normal: 1, tangent: vec![2] }]);
    assert_eq!(problem.friction, [Friction { normal: 3, tangent: vec![4], coefficient: 0.3 }]);
    assert_eq!(problem.restitution, [0.5; 6]);
    assert!(problem.tangential.is_empty());
    assert_eq!((options.law, options.termination), (Law::Poisson, Termination::Newton));
    assert_eq!((options.tolerance, options.max_steps), (1e-8, Some(7)));
    assert_eq!(options.order, Order::Rows(vec![3, 1, 0, 5]));
    assert_eq!(request.source.as_deref(), Some("nowhere"));
}

#[test]
fn format_by_name_or_by_look() {
    assert_eq!(Format::from_extension("JSON"), Some(Format::Json));
    assert_eq!(Format::from_extension("toml"), Some(Format::Toml));
    assert_eq!(Format::from_extension("txt"), None);
    assert_eq!(Format::guess("\u{feff}\n {\"mass\": 1}"), Format::Json);
    assert_eq!(Format::guess("[[friction]]"), Format::Toml);
    assert_eq!(Format::guess(""), Format::Toml);
}

#[test]
fn restitution_only_without_contacts_may_be_left_out() {
    let request = toml("mass = [[1]]\ncontacts = []\nvelocity = [1]").unwrap();
    assert_eq!(request.problem.contacts.shape(), (0, 1));
    assert!(request.problem.restitution.is_empty());
    let missing = toml("mass = [[1]]\ncontacts = [[1]]\nvelocity = [1]").unwrap_err();
    assert_eq!(missing.len(), 1);
    assert_eq!(missing[0].field.as_deref(), Some("restitution"));
}

#[test]
fn wrong_kinds() {
    complaint("mass = 3", "mass", 8, "found a number", "a matrix");
    complaint("mass = [[1, 0, 0], 7, [0, 0, 1]]", "mass[1]", 20, "found a number", "a list of numbers");
    complaint("mass = [[1, 0, 0], [0, 1, 0], [0, true, 1]]", "mass[2][1]", 35, "found a boolean", "a number");
    complaint("velocity = [1, 1979-05-27, 0]", "velocity[1]", 16, "found a date", "a number");
    complaint("restitution = 'high'", "restitution", 15, "found a string", "one per row");
    complaint("title = 3", "title", 9, "found a number", "a string");
    complaint("law = 3", "law", 7, "found a number", "`newton_lcp`");
    complaint("friction = [[0, 1]]", "friction[0]", 13, "found a list", "`coefficient`");
    complaint("tangential = 2", "tangential", 14, "found a number", "a list of row numbers");
    let null = read(r#"{"mass": null, "contacts": [], "velocity": [1]}"#, Format::Json).unwrap_err();
    assert_eq!(null[0].message, "found null");
}

#[test]
fn numbers_that_are_none() {
    complaint("velocity = [1, nan, 0]", "velocity[1]", 16, "not a number", "finite");
    complaint("velocity = [1, 0, -inf]", "velocity[2]", 19, "infinite", "finite");
    complaint("velocity = [1, 1e999, 0]", "velocity[1]", 16, "too large", "finite");
    let text = r#"{"mass": [[1]], "contacts": [], "velocity": [-1e999]}"#;
    let found = read(text, Format::Json).unwrap_err();
    assert_eq!(found[0].value.as_deref(), Some("-1e999"));
    assert_eq!(found[0].field.as_deref(), Some("velocity[0]"));
}

#[test]
fn wrong_sizes() {
    complaint("mass = [[1, 0, 0], [0, 1], [0, 0, 1]]", "mass[1]", 20, "has 2 entries", "3, as many as");
    complaint("velocity = [1]", "velocity", 12, "has 1 entry", "3, one per degree of freedom");
    complaint("bilateral = [[1, 2, 3, 4]]", "bilateral[0]", 14, "has 4 entries", "3, one per");
    complaint("restitution = [1]", "restitution", 15, "has 1 entry", "5, one per row of `contacts`");
    complaint(
        "contacts = [[1, 0, 0], [1, 0, 0], [1, 0, 0], [1, 0, 0], []]",
        "contacts[4]",
        57,
        "has 0 e",
        "3",
    );
    assert!(complaints("mass = []")[0].message.contains("at least one degree of freedom"));
    let rows = "[1],".repeat(10_001);
    let text = format!("mass = [[1]]\nvelocity = [1]\nrestitution = 0\ncontacts = [{rows}]");
    let found = toml(&text).unwrap_err();
    assert_eq!((found.len(), found[0].message.as_str()), (1, "has 10001 entries"));
}

#[test]
fn a_flat_mass_is_told_how_to_be_a_matrix() {
    complaint("mass = [1, 2, 0.5]", "mass", 8, "flat list", "mass = [[1, 0, 0], [0, 2, 0], [0, 0, 0.5]]");
    complaint("bilateral = [1, 2, 0.5]", "bilateral", 13, "flat list", "bilateral = [[…]]");
}

#[test]
fn row_numbers() {
    complaint("tangential = [0, -1]", "tangential[1]", 18, "is negative", "from 0");
    complaint("tangential = [0, 1.5]", "tangential[1]", 18, "is not a whole number", "from 0");
    complaint("tangential = [0, 1.0]", "tangential[1]", 18, "not written as", "from 0");
    complaint("tangential = [0, 5]", "tangential[1]", 18, "row 5 does not exist", "");
    complaint("tangential = [0, 0]", "tangential[1]", 18, "row 0 is already a tangential row", "");
    let friction = |entries: &str| format!("friction = [{{{entries}}}]");
    complaint(
        &friction("normal = 9, tangent = 1, coefficient = 0"),
        "friction[0].normal",
        23,
        "row 9 does",
        "",
    );
    complaint(
        &friction("normal = 1, tangent = 1, coefficient = 0"),
        "friction[0].tangent",
        36,
        "already",
        "",
    );
    complaint(
        &friction("normal = 0, tangent = [1, 8], coefficient = 0"),
        "friction[0].tangent[1]",
        40,
        "row 8",
        "",
    );
}

#[test]
fn contacts_with_friction() {
    let found = complaints("friction = [{normal = 0, tangent = [1, 2, 3], coefficient = -0.5}]");
    let said: Vec<_> = found.iter().map(|d| (d.field.as_deref().unwrap(), d.message.as_str())).collect();
    assert_eq!(said, [("friction[0].tangent", "has 3 rows"), ("friction[0].coefficient", "is out of range")]);
    complaint(
        "friction = [{normal = 0, tangent = 1}]",
        "friction[0].coefficient",
        13,
        "is missing",
        "coefficient",
    );
    complaint(
        "rough = [{normal = 0, tangent = 1, e = 1}]",
        "rough[0].e",
        36,
        "unknown field `e`",
        "`normal`",
    );
}

#[test]
fn coefficients_out_of_range() {
    complaint("restitution = [1, 1.5, 0, 0, 0]", "restitution[1]", 19, "out of range", "between 0 and 1");
    complaint("restitution = 1.5", "restitution", 15, "out of range", "between 0 and 1");
    for tolerance in ["0", "-1e-9", "0.011"] {
        complaint(&format!("tolerance = {tolerance}"), "tolerance", 13, "out of range", "to 0.01");
    }
    complaint("max_steps = 0", "max_steps", 13, "no step", "at least 1");
}

#[test]
fn names() {
    complaint("velocitty = [1, 0, 0]\nvelocity = [1, 0, 0]", "velocitty", 1, "unknown field", "`velocity`");
    complaint("colour = 1", "colour", 1, "unknown field `colour`", "one of `carom`, `mass`");
    complaint("contact = []", "contact", 1, "unknown field `contact`", "`contacts`");
    complaint("body = []", "body", 1, "unknown field `body`", "a scene");
    complaint("law = 'newton-lcp'", "law", 7, "there is no law `newton-lcp`", "`newton_lcp`, or one of");
    complaint("termination = 'strong'", "termination", 15, "no termination `strong`", "`stronge`, or");
    complaint("order = 'random'", "order", 9, "no order `random`", "`fastest`");
    complaint("carom = 2", "carom", 9, "version 2", "1");
    // A misspelt field is one mistake, not a missing field besides.
    let found = toml("mas = [[1]]\ncontacts = []\nvelocity = [1]").unwrap_err();
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn orders() {
    complaint("order = [0, 1, 2, 3]", "order", 9, "row 4 is left out", "once");
    complaint("order = [0, 1, 2, 3, 3]", "order", 9, "row 3 stands in it twice", "once");
    complaint("order = [0, 1, 2, 3, 7]", "order", 9, "row 7 is not a normal", "once");
    let found = complaints("order = [0, 1, 2, 3, 4]\ntangential = [4]");
    assert_eq!(found[0].message, "row 4 is not a normal");
}

#[test]
fn all_mistakes_at_once_in_the_order_of_the_text() {
    let found = complaints("velocity = [nan, 0, 'x']\nlaw = 'x'\ntitle = 1\nzzz = 0");
    let places: Vec<_> = found.iter().map(|d| (d.line, d.column)).collect();
    assert_eq!(places, [(1, 13), (1, 21), (2, 7), (3, 9), (4, 1)]);
}

#[test]
fn very_many_mistakes_are_cut_short() {
    let text = format!("mass = [[1]]\ncontacts = []\nvelocity = [{}]", "nan,".repeat(5000));
    let found = toml(&text).unwrap_err();
    assert_eq!(found.len(), 1000);
    assert!(found[999].message.ends_with("(and 4001 more errors that are not listed)"), "{:?}", found[999]);
}

#[test]
fn toml_syntax() {
    complaint("mass == 3", "", 7, "not TOML", "");
    assert_eq!(complaints("title = 'a'\ntitle = 'b'")[0].message, "not TOML: duplicate key");
    let found = toml("mass = [[1, 2]\ncontacts = []").unwrap_err();
    assert!(found.iter().any(|d| d.message.contains("unclosed array")), "{found:#?}");
}

#[test]
fn json_syntax() {
    for (text, column, message) in [
        (r#"{"a": 1, "a": 2}"#, 10, "a second time"),
        (r#"{"a": [1, ]}"#, 11, "unexpected ']'"),
        (r#"{"a": 1, }"#, 10, "unexpected '}'"),
        (r#"{"a": 1} // b"#, 10, "no comments"),
        (r#"{"a": 01}"#, 7, "leading zero"),
        (r#"{"a": .5}"#, 7, "unexpected '.'"),
        (r#"{"a": 5.}"#, 9, "unexpected '}'"),
        (r#"{"a": +5}"#, 7, "unexpected '+'"),
        (r#"{"a": 1e}"#, 9, "unexpected '}'"),
        (r#"{"a": NaN}"#, 7, "`NaN` is not a value"),
        (r#"{"a": 0x10}"#, 8, "unexpected 'x'"),
        (r#"{'a': 1}"#, 2, "unexpected '\\''"),
        (r#"{"a" 1}"#, 6, "unexpected '1'"),
        (r#"{"é": 1 2}"#, 9, "unexpected '2'"),
        (r#"{"a": "\q"}"#, 8, "no such escape"),
        (r#"{"a": "\u12"}"#, 8, "incomplete escape"),
        (r#"{"a": "\ud800x"}"#, 8, "half of a surrogate pair"),
        ("{\"a\": \"\t\"}", 8, "control character (U+0009)"),
        ("{\"a\":\u{a0}1}", 6, "no-break space"),
        (r#"{"a": "b"#, 7, "does not end"),
        (r#"{"a": 1"#, 1, "ends before this bracket"),
        (r#"{"a": [1"#, 7, "ends before this bracket"),
        (r#"{"a": "#, 7, "the text ends here"),
        (r#"{} {}"#, 4, "unexpected '{'"),
    ] {
        let found = read(text, Format::Json).unwrap_err();
        let [d] = found.as_slice() else { panic!("{text}: {found:#?}") };
        assert_eq!((d.line, d.column), (1, column), "{text}: {d:?}");
        assert!(d.message.contains(message), "{text}: {d:?}");
        assert!(text.get(d.span.clone()).is_some(), "{text}: {d:?}");
        assert!(
            serde_json::from_str::<serde_json::Value>(text).is_err() || message.contains("second"),
            "{text}"
        );
    }
}

#[test]
fn depth_is_bounded() {
    for (text, format) in [
        ("[".repeat(100_000), Format::Json),
        (r#"{"a":"#.repeat(100_000), Format::Json),
        (format!("a = {}", "[".repeat(100_000)), Format::Toml),
        (format!("a = {}1{}", "[".repeat(75), "]".repeat(75)), Format::Toml),
        (format!("{}a = 1", "a.".repeat(100_000)), Format::Toml),
        (format!("a = {}1{}", format!("{{{}a = ", "a.".repeat(70)).repeat(70), "}".repeat(70)), Format::Toml),
    ] {
        assert!(read(&text, format).is_err());
    }
}

#[test]
fn empty_files() {
    for text in ["", " \n\t", "\u{feff}"] {
        assert_eq!(toml(text).unwrap_err()[0].message, "the file is empty");
    }
    let fields: Vec<_> =
        read("{}", Format::Json).unwrap_err().into_iter().map(|d| d.field.unwrap()).collect();
    assert_eq!(fields, ["mass", "contacts", "velocity", "restitution"]);
}

#[test]
fn what_the_solver_refuses_is_found_in_the_text() {
    let text = "mass = [[1, 0],\n        [0, 2]]\nrestitution = 0.5";
    let fault = || Fault::NotSymmetric { value: 2.0, mirror: 3.0 };
    let found = explain(text, Format::Toml, &Error::new(Place::entry("mass", 1, 1), fault()));
    assert_eq!((found.line, found.column, found.value.as_deref()), (2, 13, Some("2")));
    assert_eq!(found.field.as_deref(), Some("mass[1][1]"));
    // An entry that the text does not have falls back to its field, a field to the start of the text.
    let found =
        explain(text, Format::Toml, &Error::new(Place::row("restitution", 3), Fault::Unrepresentable));
    assert_eq!((found.line, found.column, found.field.as_deref()), (3, 15, Some("restitution")));
    let found = explain(text, Format::Toml, &Error::new(Place::row("bilateral", 0), Fault::Unrepresentable));
    assert_eq!((found.line, found.column, found.span), (1, 1, 0..0));
}
