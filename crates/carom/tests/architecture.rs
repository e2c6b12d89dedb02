//! The house as it is described: modules in reading order, each using only what stands above it, and ARCHITECTURE.md's table of them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The modules of a file, in the order in which they are declared.
fn modules(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| line.trim_start_matches("pub(crate) ").trim_start_matches("pub "));
    lines.filter_map(|line| Some(line.strip_prefix("mod ")?.strip_suffix(';')?.to_owned())).collect()
}

fn sources(module: &str) -> Vec<PathBuf> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    let alone = source().join(format!("{module}.rs"));
    if alone.exists() {
        found.push(alone);
    } else {
        walk(&source().join(module), &mut found);
    }
    found
}

/// The code of a file, without comments and without the tests at its end.
fn code(text: &str) -> String {
    let tests = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    text[..tests].lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

/// The words and signs of code that paths are made of; every other character is a sign of its own.
fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let length = if word(first) {
            rest.find(|c| !word(c)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

/// Adds the paths that begin at a token, those in braces one by one, each after what stands before the braces.
fn expand(tokens: &[&str], mut at: usize, before: &[&str], found: &mut Vec<Vec<String>>) -> usize {
    let mut path = before.to_vec();
    loop {
        match tokens.get(at) {
            Some(&"{") => {
                at += 1;
                while tokens.get(at).is_some_and(|token| *token != "}") {
                    at = expand(tokens, at, &path, found);
                    if tokens.get(at) == Some(&",") {
                        at += 1;
                    }
                }
                return at + 1;
            }
            Some(word) => path.push(word),
            None => return at,
        }
        at += 1;
        if tokens.get(at) != Some(&"::") {
            break;
        }
        at += 1;
    }
    // A name that is given to what is used is passed over.
    if tokens.get(at) == Some(&"as") {
        at += 2;
    }
    found.push(path.into_iter().map(str::to_owned).collect());
    at
}

/// What the code of a module uses of its own crate, as paths from the crate's root.
fn uses(module: &[String], text: &str) -> Vec<Vec<String>> {
    let code = code(text);
    let tokens = tokens(&code);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        let starts = ["crate", "super", "self"].contains(&tokens[at]) && tokens.get(at + 1) == Some(&"::");
        if starts && (at == 0 || tokens[at - 1] != "::") {
            expand(&tokens, at, &[], &mut found);
        }
    }
    let from_root = |path: Vec<String>| {
        let ups = path.iter().take_while(|name| *name == "super").count();
        let rest =
            path.iter().skip_while(|name| ["crate", "super", "self"].contains(&name.as_str())).cloned();
        let own = if path[0] == "crate" { 0 } else { module.len().saturating_sub(ups) };
        module[..own].iter().cloned().chain(rest).collect()
    };
    found.into_iter().map(from_root).collect()
}

/// The path of the module that a file is.
fn module_of(path: &Path) -> Vec<String> {
    let inside = path.strip_prefix(source()).unwrap().with_extension("");
    let mut names: Vec<String> = inside.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    names.pop_if(|name| name == "mod");
    names
}

/// Where an order names a path: by its first two names, or else where the room of its first name begins.
fn place(order: &[String], path: &[String]) -> Option<usize> {
    let part = path.get(..2).and_then(|parts| order.iter().position(|known| *known == parts.join("::")));
    let room = || order.iter().position(|known| known.split("::").next() == path.first().map(String::as_str));
    part.or_else(room)
}

/// What a module uses of those that stand below it in an order.
fn wrong_uses(order: &[String], module: &[String], text: &str) -> Vec<String> {
    let Some(own) = place(order, module) else { return Vec::new() };
    let below = |path: &Vec<String>| place(order, path).is_some_and(|other| other > own);
    let used = uses(module, text).into_iter().filter(below);
    used.map(|path| format!("{} uses {}", module.join("::"), path.join("::"))).collect()
}

/// The modules of the library in the order of their declaration, and those that a table's rows spell out in the place of their room.
fn reading_order() -> Vec<String> {
    let spelled = table().into_iter().flat_map(|(names, _)| names).filter(|name| name.contains("::"));
    let spelled: Vec<String> = spelled.collect();
    let declared = modules(&fs::read_to_string(source().join("lib.rs")).unwrap());
    let parts = |module: String| {
        let own: Vec<String> =
            spelled.iter().filter(|name| name.split("::").next() == Some(&module)).cloned().collect();
        if own.is_empty() { vec![module] } else { own }
    };
    declared.into_iter().flat_map(parts).collect()
}

#[test]
fn a_module_uses_only_what_stands_above_it() {
    let order = reading_order();
    assert!(order.len() > 30, "{order:?}");
    let (mut wrong, mut count) = (Vec::new(), 0);
    for module in modules(&fs::read_to_string(source().join("lib.rs")).unwrap()) {
        for path in sources(&module) {
            // Files of tests alone use what they test.
            if path.ends_with("tests.rs") || path.ends_with("spoiled.rs") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let module = module_of(&path);
            let spelled = order.iter().any(|known| known.starts_with(&format!("{}::", module[0])));
            if spelled && module.len() > 1 && !order.contains(&module[..2].join("::")) {
                wrong.push(format!("the table spells out {}, but not {}", module[0], module[1]));
            }
            count += uses(&module, &text).len();
            wrong.extend(wrong_uses(&order, &module, &text));
        }
    }
    assert!(count > 1000, "only {count} uses were seen");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The check above sees a use of something below, however it is written.
#[test]
fn a_use_of_what_stands_below_is_seen() {
    let order = reading_order();
    let module = |path: &str| path.split("::").map(str::to_owned).collect::<Vec<_>>();
    for (own, text) in [
        ("body", "use crate::edmd::Edmd;"),
        ("body", "use crate::{error::Error, simulation::{queue, Simulation}};"),
        ("body", "use crate::{\n    error::Error as Wrong,\n    run,\n};"),
        ("body", "fn f() { crate::flow::g(); }"),
        ("body", "use super::contact::Side;"),
        ("motion::rounding", "use super::super::toi::Window;"),
        ("gap::dual", "pub(in super::super) use crate::toi::pair;"),
        ("contact::kinematics", "use crate::impact::Outcome;"),
        ("impact::problem", "use super::law::Law;"),
        ("impact::system", "use crate::impact::{determinacy::Dependence, options::Options};"),
        ("impact::law::poisson", "use super::super::resolve::Course;"),
    ] {
        assert!(!wrong_uses(&order, &module(own), text).is_empty(), "{own}: {text}");
    }
    for (own, text) in [
        ("edmd", "use crate::body::Body;"),
        ("motion::rounding", "use super::super::body::{Body, State};"),
        ("body", "// crate::edmd\n/// [`crate::run`]\nuse crate::error::Error;"),
        ("body", "#[cfg(test)]\nmod tests {\n    use crate::edmd::Edmd;\n}"),
        ("impact::law::poisson", "use super::Situation;\nuse crate::impact::system::System;"),
    ] {
        assert_eq!(wrong_uses(&order, &module(own), text), [""; 0], "{own}: {text}");
    }
}

/// The rows of ARCHITECTURE.md's table of the library: the modules named, and their job.
fn table() -> Vec<(Vec<String>, String)> {
    let text = fs::read_to_string(source().join("../../../ARCHITECTURE.md")).unwrap();
    let rows = text
        .lines()
        .skip_while(|line| !line.starts_with("The library in reading order"))
        .skip_while(|line| !line.starts_with("| `"))
        .take_while(|line| line.starts_with("| `"));
    let quoted = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    let row = |row: &str| {
        let (names, job) = row.trim_matches('|').split_once(" | ").unwrap();
        (quoted(names), job.to_owned())
    };
    rows.map(row).collect()
}

/// The table names every module once, in order, and of those it spells out only parts that exist.
#[test]
fn the_table_of_the_library_is_true() {
    let mut named: Vec<String> = Vec::new();
    let mut wrong = Vec::new();
    for (names, job) in table() {
        for name in names {
            let mut parts = name.split("::");
            let module = parts.next().unwrap().to_owned();
            if let Some(part) = parts.next() {
                let folder = source().join(&module);
                if !folder.join(format!("{part}.rs")).exists() && !folder.join(part).is_dir() {
                    wrong.push(format!("{name} is not there"));
                }
            }
            if named.last() != Some(&module) {
                named.push(module.clone());
            }
            // Parts stand in backquotes in lower case; types and formulas do not.
            let parts: BTreeSet<String> = sources(&module)
                .iter()
                .map(|path| path.file_stem().unwrap().to_string_lossy().into())
                .collect();
            let folders: BTreeSet<String> = fs::read_dir(source().join(&module))
                .into_iter()
                .flatten()
                .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
                .collect();
            for part in job.split('`').skip(1).step_by(2) {
                let plain = part.chars().all(|c| c.is_ascii_lowercase() || c == '_');
                if plain && !parts.contains(part) && !folders.contains(part) {
                    wrong.push(format!("{module} has no {part}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(named, modules(&fs::read_to_string(source().join("lib.rs")).unwrap()));
}
