//! The sources that the kernels are made of, and their hash: what `cargo xtask ptx` writes beside them, and a test compares.
//!
//! Comments, tests and white space do not count, so that the kernels are as new as their code.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Files and folders, from the repository's root.
const SOURCES: [&str; 28] = [
    "crates/carom-gpu/kernels/Cargo.toml",
    "crates/carom-gpu/kernels/src/lib.rs",
    "crates/carom/src/audit/event.rs",
    "crates/carom/src/body.rs",
    "crates/carom/src/contact/side.rs",
    "crates/carom/src/fill/chacha.rs",
    "crates/carom/src/fill/freedom.rs",
    "crates/carom/src/fill/random.rs",
    "crates/carom/src/gap",
    "crates/carom/src/impact/pair.rs",
    "crates/carom/src/motion",
    "crates/carom/src/scatter/beam.rs",
    "crates/carom/src/scatter/encounter.rs",
    "crates/carom/src/scatter/moments.rs",
    "crates/carom/src/scatter/sample.rs",
    "crates/carom/src/scatter/setup.rs",
    "crates/carom/src/scatter/smooth.rs",
    "crates/carom/src/scatter/totals.rs",
    "crates/carom/src/scatter/words.rs",
    "crates/carom/src/scatter/worth.rs",
    "crates/carom/src/scene/beam.rs",
    "crates/carom/src/shape",
    "crates/carom/src/toi/bound.rs",
    "crates/carom/src/toi/brief.rs",
    "crates/carom/src/toi/mod.rs",
    "crates/carom/src/toi/pair.rs",
    "crates/carom/src/toi/rates.rs",
    "xtask/src/ptx/bitcode.rs",
];

/// The hash of all of them, FNV-1a with 64 bits.
pub fn hash(root: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    for source in SOURCES {
        collect(&root.join(source), &mut files)?;
    }
    files.sort();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |text: &str| {
        for byte in text.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for file in files {
        add(&file.strip_prefix(root).unwrap_or(&file).to_string_lossy().replace('\\', "/"));
        for line in fs::read_to_string(&file)?.lines().take_while(|line| *line != "#[cfg(test)]") {
            let code = line.split("//").next().unwrap_or("");
            add(&code.split_whitespace().collect::<String>());
        }
    }
    Ok(format!("{hash:016x}"))
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            collect(&entry?.path(), files)?;
        }
    } else if path.extension().is_some_and(|kind| kind == "rs" || kind == "toml")
        && !path.ends_with("toi/tests.rs")
    {
        files.push(path.to_path_buf());
    }
    Ok(())
}
