//! What a user begins with: templates, checks, completions, manual pages, another law; and what is said of typical mistakes.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod running;

use std::fs;
use std::path::Path;

use running::{Place, Ran, carom, run_text};
use serde_json::Value;

fn ask(arguments: &[&str]) -> Ran {
    carom().args(arguments).output().unwrap().into()
}

/// Every template is without fault, and every command at its head does its work.
#[test]
fn templates_run() {
    let place = Place::new("templates");
    let list = ask(&["new", "--json"]).well().json();
    let templates = list["templates"].as_array().unwrap();
    assert!(templates.len() >= 7);
    for template in templates {
        let name = template["name"].as_str().unwrap();
        let file = place.path(&format!("{name}.toml"));
        let path = file.to_str().unwrap();
        let told = ask(&["new", name, "-o", path]).well();
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(text, template["text"].as_str().unwrap());
        let found = ask(&["check", path, "--json"]).well().json();
        let uses: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("#   carom ")).collect();
        assert!(!uses.is_empty(), "{name}");
        for line in uses {
            let mut words: Vec<&str> = line.split(' ').collect();
            assert!(found["commands"].as_array().unwrap().contains(&Value::from(words[0])), "{name}: {line}");
            assert!(told.out.contains(words[0]), "{}", told.out);
            words[1] = path;
            ask(&words).well();
        }
    }
}

#[test]
fn a_file_that_is_there_stays() {
    let place = Place::new("template-there");
    let file = place.file("ball.toml", "mine");
    let path = file.to_str().unwrap();
    let refused = ask(&["new", "ball", "-o", path]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("is there already") && refused.err.contains("--force"), "{}", refused.err);
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    ask(&["new", "ball", "-o", path, "--force"]).well();
    assert_eq!(fs::read_to_string(&file).unwrap(), ask(&["new", "ball", "-o", "-"]).well().out);
}

#[test]
fn a_check_says_what_is_in_a_file() {
    let place = Place::new("check");
    let scene = |more: &str| {
        let text = format!(
            "carom = 1\ntitle = 'two'\n[[body]]\nname = 'a'\nshape = {{ sphere = {{ radius = 1 }} }}\nmass = 1\n\
             [[body]]\nname = 'b'\nshape = {{ sphere = {{ radius = 1 }} }}\nmass = 1\nposition = [{more}\n"
        );
        place.file("scene.toml", &text).to_str().unwrap().to_string()
    };
    let apart = ask(&["check", &scene("2.5, 0, 0]")]).well();
    assert!(apart.out.contains("a scene without fault: 2 bodies."), "{}", apart.out);
    assert!(apart.out.contains("a and b are nearest, 0.5 apart"), "{}", apart.out);
    assert!(apart.out.contains("For: carom run, carom gap, carom toi."), "{}", apart.out);
    let touching = ask(&["check", &scene("2, 0, 0]"), "--json"]).well().json();
    assert_eq!(touching["contacts"], 1);
    assert_eq!(touching["commands"][0], "solve");
    // One overlap is told in one way, whoever finds it.
    let overlapping = scene("1.5, 0, 0]");
    let told: Vec<Ran> = ["check", "solve", "compare", "classify", "toi", "run"]
        .map(|command| ask(&[command, &overlapping]))
        .into();
    for ran in &told {
        assert_eq!((ran.code, &ran.err), (Some(2), &told[0].err));
    }
    assert!(told[0].err.contains("`b` overlaps `a` by 0.5"), "{}", told[0].err);
    let joint = "2.5, 0, 0]\n[[joint]]\nname = 'rod'\nbodies = ['a', 'b']\nkind = { rows = [[1,0,0,0,0,0,-1,0,0,0,0,0]] }";
    let instant = ask(&["check", &scene(joint), "--json"]).well().json();
    assert!(!instant["commands"].as_array().unwrap().contains(&"run".into()), "{instant}");
    let warned = ask(&["check", &scene("2.5, 0, 0]\norientation = [2, 0, 0, 0]"), "--json"]).well().json();
    assert_eq!(warned["warnings"][0]["field"], "body[1].orientation");
}

#[test]
fn no_contact_is_told() {
    let place = Place::new("apart");
    let text = "carom = 1\nbody = [{ name = 'a', shape = { sphere = { radius = 1 } }, mass = 1 },\n\
                { name = 'b', shape = { sphere = { radius = 1 } }, mass = 1, position = [3, 0, 0] }]\n";
    let scene = place.file("scene.toml", text);
    for command in ["solve", "compare"] {
        let ran = ask(&[command, scene.to_str().unwrap()]).well();
        let first = ran.out.lines().next().unwrap();
        assert_eq!(first, "Nothing touches: no impact; a and b are nearest, 1 apart.", "{command}");
    }
}

const CORNER: &str = "carom = 1\n[[body]]\nname = 'ball'\nshape = { sphere = { radius = 1 } }\nmass = 1\nposition = [2, 0, 2]\n\
    velocity = [-1, 0, -1]\n[[plane]]\nname = 'ramp'\nnormal = [1, 0, 0.5]\n[[plane]]\nname = 'floor'\nnormal = [0, 0, 1]\n\
    [surface]\nrestitution = 0.5\n[run]\nuntil = 2\nsample = 0\n";

/// `--law` is what the scene would say, in every number; a run that was interrupted keeps it.
#[test]
fn a_run_by_another_law() {
    for law in ["newton_lcp", "poisson", "sequential"] {
        let mut asked = run_text("law-asked", CORNER, &["--json", "--law", law]).well().json();
        let written = format!("{CORNER}[impact]\nlaw = '{law}'\n");
        let mut said = run_text("law-said", &written, &["--json"]).well().json();
        assert_eq!(asked["settings"]["law"], law);
        assert_eq!(said["settings"]["law"], Value::Null);
        for document in [&mut asked, &mut said] {
            document["settings"]["law"] = Value::Null;
            document["scene"] = Value::Null;
            document["performance"] = Value::Null;
        }
        assert_eq!(asked, said);
        assert_eq!(asked["law"], law);
    }
    let wrong = run_text("law-wrong", CORNER, &["--law", "magic"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("newton_lcp"), "{}", wrong.err);
}

#[test]
fn completions_and_manual_pages() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = ask(&["completions", shell]).well().out;
        for word in ["generalized", "max-events", "completions"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let place = Place::new("man");
    let folder = place.path("man1");
    let written = ask(&["man", "-o", folder.to_str().unwrap()]).well().out;
    assert!(written.lines().count() > 15, "{written}");
    let page = fs::read_to_string(folder.join("carom-run.1")).unwrap();
    assert!(page.contains(".TH carom-run 1") && page.contains("max\\-events"), "{page}");
    assert_eq!(ask(&["man", "run"]).well().out, page);
    assert_eq!(ask(&["man", "walk"]).code, Some(2));
}

/// Typical mistakes in scenes and options, with what is said of each in `golden/mistakes.txt`: that should make sense to somebody who does
/// not know the program. `CAROM_BLESS=1` rewrites it.
#[test]
fn typical_mistakes() {
    let place = Place::new("mistakes");
    let ball = ask(&["new", "ball", "-o", "-"]).well().out;
    let mut told = String::new();
    let mut tell = |what: &str, ran: Ran| {
        assert_eq!(ran.code, Some(2), "{what}: {}", ran.err);
        let err: Vec<&str> = ran.err.lines().filter(|line| !line.trim().is_empty()).collect();
        told += &format!("## {what}\n{}\n\n", err.join("\n"));
    };
    for (old, new) in [
        ("velocity = [0.3, 0, 0]", "vel = [0.3, 0, 0]"),
        ("mass = 0.5", "mass = 0,5"),
        ("[0, 0, -9.81]", "[0, 0, \u{2212}9.81]"),
        ("mass = 0.5", "mass = -0.5"),
        ("mass = 0.5", "weight = 0.5"),
        ("mass = 0.5", "friction = 0.3"),
        ("sample = 0.01", "dt = 0.01"),
        ("until = 3", "t_end = 3"),
        ("{ sphere = { radius = 0.1 } }", "{ mesh = { file = \"ball.obj\" } }"),
        ("{ sphere = { radius = 0.1 } }", "{ cylinder = { radius = 1, height = 2 } }"),
        ("{ sphere = { radius = 0.1 } }", "\"sphere\""),
        ("{ sphere = { radius = 0.1 } }", "{ sphere = 0.1 }"),
        ("{ sphere = { radius = 0.1 } }", "{ sphere = { diameter = 0.2 } }"),
        ("position = [0, 0, 1.0]", "position = [0, 1.0]"),
        ("position = [0, 0, 1.0]", "position = [0, 0, 0.05]"),
        ("name = \"floor\"", "name = \"ball\""),
        ("kind = { coulomb = 0.3 }", "friction = 0.3"),
        ("kind = { coulomb = 0.3 }", "kind = \"coulomb\""),
        ("restitution = 0.8", "restitution = 1.2"),
        ("restitution = 0.8", "restituton = 0.8"),
        ("[run]", "[simulation]"),
        ("[world]\n", ""),
        ("carom = 1\n", ""),
    ] {
        assert!(ball.contains(old), "{old}");
        // The comments at the ends of lines would only be in the way.
        let text: Vec<&str> = ball.lines().map(|line| line.split("  #").next().unwrap().trim_end()).collect();
        let text = (text.join("\n") + "\n").replacen(old, new, 1);
        let file = place.file("ball.toml", &text);
        let ran = carom().current_dir(place.path("")).args(["check"]).arg(file.file_name().unwrap()).output();
        tell(&format!("{} for {}", new.trim(), old.trim()), ran.unwrap().into());
    }
    place.file("ball.toml", &ball);
    for options in [
        &["run", "ball.toml", "--until", "2,5"][..],
        &["run", "ball.toml", "--until", "\u{2212}3"],
        &["run", "ball.toml", "--dt", "0.01"],
        &["run", "ball.toml", "--law", "newton-lcp"],
        &["run", "bal.toml"],
        &["rum", "ball.toml"],
        &["solve", "ball.toml", "--touching", "1"],
        &["new", "bal"],
    ] {
        let ran = carom().current_dir(place.path("")).args(options).output().unwrap();
        tell(&format!("carom {}", options.join(" ")), ran.into());
    }
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/mistakes.txt");
    if std::env::var_os("CAROM_BLESS").is_some() {
        fs::write(&stored, &told).unwrap();
    }
    assert_eq!(told, fs::read_to_string(&stored).unwrap_or_default());
}
