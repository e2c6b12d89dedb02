//! Puts the page into the program.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    // Asked now, not when this script was compiled: a folder for builds may be shared by several checkouts.
    let own = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    // As `cargo xtask page` left it: compressed, every file of its own.
    embed(&own.join("page"), &out.join("page.rs"))
}

/// Writes a list of a folder's compressed files, with their contents, as Rust.
fn embed(folder: &Path, list: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    if folder.is_dir() {
        collect(folder, &mut files)?;
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "gz"));
    files.sort();
    let mut text = "&[\n".to_string();
    for file in &files {
        let name = file.strip_prefix(folder).unwrap_or(file).to_string_lossy().replace('\\', "/");
        let path = file.canonicalize()?;
        text += &format!("    ({name:?}, include_bytes!({:?})),\n", path.to_string_lossy());
    }
    fs::write(list, text + "]\n")
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
