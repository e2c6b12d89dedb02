//! Mistakes that people make who come from other programs, or type on other keyboards: what is said of each.

use carom::scene::Format;
use carom::scene::file::read;

const BALL: &str = r#"carom = 1
[[body]]
name = "ball"
shape = { sphere = { radius = 1 } }
mass = 2.5
velocity = [0, 0, -3]
[[plane]]
name = "floor"
normal = [0, 0, 1]
offset = -2
[surface]
restitution = 0.5
[run]
until = 1
"#;

/// One mistake in the scene: the text at fault, and what is said and expected of it.
#[track_caller]
fn complaint(old: &str, new: &str, at_fault: &str, message: &str, expected: &str) {
    assert!(BALL.contains(old), "{old}");
    let text = BALL.replacen(old, new, 1);
    let found = read(&text, Format::Toml).expect_err(&text);
    let [d] = found.as_slice() else { panic!("{text}\n{found:#?}") };
    assert_eq!(&text[d.span.clone()], at_fault, "{d:?}");
    assert!(d.message.contains(message), "{d:?}");
    assert!(d.expected.as_deref().unwrap_or_default().contains(expected), "{d:?}");
}

#[test]
fn names_of_other_programs() {
    for (old, new, key, meant) in [
        ("velocity", "vel", "vel", "`velocity`"),
        ("mass", "m", "m", "`mass`"),
        ("mass = 2.5", "mass = 2.5\npos = [0, 0, 0]", "pos", "`position`"),
        ("mass = 2.5", "mass = 2.5\nquat = [1, 0, 0, 0]", "quat", "`orientation`"),
        ("mass = 2.5", "mass = 2.5\nfriction = 0.3", "friction", "kind = { coulomb = … }"),
        ("offset = -2", "friction = 0.3", "friction", "kind = { coulomb = … }"),
        ("restitution", "e", "e", "`restitution`"),
        ("[surface]", "[material]", "material", "one of"),
        ("until = 1", "t_end = 1", "t_end", "`until`"),
        ("until = 1", "dt = 0.01", "dt", "no time step"),
        ("[run]", "dt = 0.1\n[run]", "dt", "no time step"),
        ("carom = 1", "carom = 1\nfriction = 0.3", "friction", "`[surface]`"),
        ("carom = 1", "carom = 1\ngravity = [0, 0, -9.81]", "gravity", "`[world]`"),
        ("radius", "r", "r", "`radius`"),
        ("sphere = { radius = 1 }", "mesh = { file = 'a.obj' }", "mesh", "`polyhedron = "),
        ("sphere = { radius = 1 }", "cuboid = { size = [1, 1, 1] }", "cuboid", "`box = "),
    ] {
        complaint(old, new, key, "unknown field", meant);
    }
    complaint("{ sphere = { radius = 1 } }", "'sphere'", "'sphere'", "without its sizes", "radius = 1");
}

#[test]
fn decimal_commas_and_other_keyboards() {
    complaint("2.5", "2,5", "2,5", "decimal comma", "`2.5`");
    complaint("-3]", "\u{2212}3]", "\u{2212}", "the Unicode minus sign (U+2212)", "`-`");
    complaint("-2", "\u{2013}2", "\u{2013}", "an en dash", "`-`");
    complaint("\"ball\"", "\u{201c}ball\u{201d}", "\u{201c}", "typographic quotation mark", "`\"`");
    let json = "{\"carom\": 1, \"body\": [{\"name\": \"a\", \"mass\": \u{2212}1}]}";
    let found = read(json, Format::Json).expect_err("a minus that is none");
    assert!(found[0].message.starts_with("not JSON: `\u{2212}` is the Unicode minus"), "{found:?}");
    let json = "{\"carom\": 1,\n \"body\": [{\"name\": \"a\",\n \"mass\": 2,5,\n \"fixed\": true}]}";
    let found = read(json, Format::Json).expect_err("a comma that is no point");
    assert_eq!(
        (found.len(), found[0].line, found[0].expected.as_deref()),
        (1, 3, Some("a decimal point, `2.5`"))
    );
}

/// `kind` everywhere; the older `surface` of a contact is still read, and told.
#[test]
fn a_surface_is_written_in_one_way() {
    let contact = |key: &str| {
        format!("{BALL}[[contact]]\nbodies = ['ball', 'floor']\npoint = [0, 0, 0]\n{key} = 'rough'\n")
    };
    let scene = read(&contact("kind"), Format::Toml).expect("a scene");
    assert!(scene.warnings.is_empty());
    let older = read(&contact("surface"), Format::Toml).expect("a scene");
    assert_eq!(older.contacts, scene.contacts);
    let [warning] = older.warnings.as_slice() else { panic!("{:?}", older.warnings) };
    assert_eq!(
        (warning.field.as_deref(), warning.expected.as_deref()),
        (Some("contact[0].surface"), Some("`kind`"))
    );
    let both = contact("kind").replace("kind = 'rough'", "kind = 'rough'\nsurface = 'rough'");
    let found = read(&both, Format::Toml).expect_err("both");
    assert!(found[0].message.contains("together with `kind`"), "{found:?}");
}
