//! The hot path (shapes, motion, gap, time of impact, two-body impact) needs nothing but `core`, `libm` and small matrices: no allocation,
//! no dynamic dispatch, no function of `std`, so that the same source gives the same bits wherever it runs.
//!
//! Methods of f64 that come from `std` are told apart from others by the compiler alone: clippy's `disallowed_methods`,
//! which the modules must ask for. What can be seen in the text is looked for here.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

/// Each with its root, where the lint is asked for.
const HOT: [(&str, &str); 5] = [
    ("shape", "shape/mod.rs"),
    ("motion", "motion/mod.rs"),
    ("gap", "gap/mod.rs"),
    ("toi", "toi/mod.rs"),
    ("impact/pair.rs", "impact/pair.rs"),
];

const LINT: &str =
    "#![deny(clippy::disallowed_methods, clippy::std_instead_of_core, clippy::std_instead_of_alloc)]";

const FORBIDDEN: [&str; 15] = [
    "std::", "alloc::", "Vec<", "Vec::", "vec!", "Box<", "Box::new", "Rc<", "Arc<", "String", "format!",
    "dyn ", "println!", "unsafe", "DMatrix",
];

fn sources(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_path_buf()];
    }
    fs::read_dir(path).unwrap().flat_map(|entry| sources(&entry.unwrap().path())).collect()
}

/// What of a source is no comment.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(k, line)| (k + 1, line.split("//").next().unwrap_or("")))
}

#[test]
fn the_hot_path_needs_no_std() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = 0;
    for (part, head) in HOT {
        assert!(
            fs::read_to_string(root.join(head)).unwrap().contains(LINT),
            "{head} does not ask for the lint"
        );
        for file in sources(&root.join(part)) {
            let text = fs::read_to_string(&file).unwrap();
            for (number, line) in code(&text) {
                for word in FORBIDDEN {
                    assert!(!line.contains(word), "{}:{number}: {word} in the hot path", file.display());
                }
                // A lint that is switched off again says nothing.
                assert!(!line.contains("allow(clippy::disallowed"), "{}:{number}", file.display());
            }
            files += 1;
        }
    }
    assert!(files >= 10, "{files}");
}
