//! Where a run has no derivative, it says so.

use carom::derivative::Cause;

use crate::replay::Replay;

fn ball(name: &str, position: [f64; 3], velocity: [f64; 3]) -> String {
    format!(
        "[[body]]\nname = '{name}'\nshape = {{ sphere = {{ radius = 0.5 }} }}\nmass = 1
         position = {position:?}\nvelocity = {velocity:?}\n"
    )
}

fn floor() -> &'static str {
    "[[plane]]\nname = 'floor'\nnormal = [0, 0, 1]\n"
}

fn cause(text: &str, path: &str) -> (Vec<Cause>, bool) {
    let replay = Replay::of(text);
    let found = replay.derivatives(&[path]);
    (found.undefined.iter().map(|entry| entry.cause).collect(), found.states[0].is_none())
}

#[test]
fn a_graze_has_no_derivative() {
    let head = "carom = 1\nrun = { until = 4, sample = 0 }\n";
    let text =
        format!("{head}{}{}", ball("a", [-2.0, 1.0, 0.0], [1.0, 0.0, 0.0]), ball("b", [0.0; 3], [0.0; 3]));
    assert_eq!(cause(&text, "body.a.position"), (vec![Cause::Graze], true));
}

#[test]
fn a_tie_has_no_derivative() {
    let head = "carom = 1\nrun = { until = 4, sample = 0 }\n";
    let wall = "[[plane]]\nname = 'wall'\nnormal = [1, 0, 0]\n";
    let text = format!("{head}{}{wall}{}", floor(), ball("a", [1.5, 0.0, 1.5], [-1.0, 0.0, -1.0]));
    assert_eq!(cause(&text, "body.a.velocity"), (vec![Cause::Tie], true));
}

#[test]
fn what_persists_is_not_covered() {
    let head = "carom = 1\nworld = { gravity = [0, 0, -10] }\nsurface = { restitution = 0 }\nrun = { until = 1, sample = 0 }\n";
    let text = format!("{head}{}{}", floor(), ball("a", [0.0, 0.0, 1.0], [0.0; 3]));
    assert_eq!(cause(&text, "body.a.velocity"), (vec![Cause::Persistent], true));
}

#[test]
fn a_paradox_from_the_start_has_no_derivative() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../cases/papers/paradox.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let (causes, none) = cause(&text, "body.superellipsoid.mass");
    // Its bodies touch when the run begins.
    assert!(none && causes == [Cause::Touching], "{causes:?}");
}

#[test]
fn bodies_that_meet_one_without_derivatives_have_none_either() {
    let head = "carom = 1\nrun = { until = 9, sample = 0 }\n";
    let text = format!(
        "{head}{}{}{}{}",
        ball("a", [-2.0, 1.0, 0.0], [1.0, 0.0, 0.0]),
        ball("b", [0.0; 3], [0.0; 3]),
        ball("c", [5.0, 1.2, 0.0], [0.0; 3]),
        ball("d", [5.0, 9.0, 0.0], [0.0; 3])
    );
    let replay = Replay::of(&text);
    let found = replay.derivatives(&["body.a.velocity"]);
    let causes: Vec<_> = found.undefined.iter().map(|entry| (entry.cause, entry.bodies.clone())).collect();
    assert_eq!(causes, [(Cause::Graze, vec![0, 1]), (Cause::Earlier, vec![2])]);
    assert!(found.states[2].is_none() && found.states[3].is_some());
    assert!(found.events.iter().all(|event| event.time.is_none()));
}

#[test]
fn bodies_that_touch_at_the_start_have_none() {
    let head = "carom = 1\nrun = { until = 1, sample = 0 }\n";
    let text = format!("{head}{}{}", floor(), ball("a", [0.0, 0.0, 0.5], [0.0; 3]));
    assert_eq!(cause(&text, "body.a.velocity"), (vec![Cause::Touching], true));
    // One that leaves has: nothing happens to it.
    let text = format!("{head}{}{}", floor(), ball("a", [0.0, 0.0, 0.5], [0.0, 0.0, 1.0]));
    assert_eq!(cause(&text, "body.a.velocity"), (vec![], false));
}
