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

/// What of a file is neither comment nor test.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let tests = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    text[..tests].lines().enumerate().map(|(k, line)| (k + 1, line.split("//").next().unwrap_or("")))
}

/// The names after `crate::` in a line.
fn used(line: &str) -> impl Iterator<Item = &str> {
    line.split("crate::").skip(1).map(|rest| {
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        &rest[..end]
    })
}

#[test]
fn a_module_uses_only_what_stands_above_it() {
    let order = modules(&fs::read_to_string(source().join("lib.rs")).unwrap());
    assert!(order.len() > 15, "{order:?}");
    let mut wrong = Vec::new();
    let mut uses = 0;
    for (own, module) in order.iter().enumerate() {
        for path in sources(module) {
            // Files of tests alone use what they test.
            if path.ends_with("tests.rs") || path.ends_with("spoiled.rs") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            for (number, line) in code(&text) {
                for name in used(line) {
                    let Some(other) = order.iter().position(|known| known == name) else { continue };
                    uses += 1;
                    if other > own {
                        wrong.push(format!("{}:{number}: {module} uses {name}", path.display()));
                    }
                }
            }
        }
    }
    assert!(uses > 300, "only {uses} uses were seen");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The table names every module once, in order, and of those it spells out only parts that exist.
#[test]
fn the_table_of_the_library_is_true() {
    let text = fs::read_to_string(source().join("../../../ARCHITECTURE.md")).unwrap();
    let rows: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.starts_with("The library in reading order"))
        .skip_while(|line| !line.starts_with("| `"))
        .take_while(|line| line.starts_with("| `"))
        .collect();
    let mut named: Vec<String> = Vec::new();
    let mut wrong = Vec::new();
    for row in rows {
        let mut cells = row.trim_matches('|').split(" | ");
        let (names, job) = (cells.next().unwrap(), cells.next().unwrap());
        for name in names.split('`').skip(1).step_by(2) {
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
