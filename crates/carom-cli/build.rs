//! Puts the page and the gallery into the program.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    // Asked now, not when this script was compiled: a folder for builds may be shared by several checkouts.
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../..");
    // The page is there once `cargo xtask page` has built it; the program can do without.
    embed(&root.join("viewer/dist"), "page", "", &out.join("page.rs"))?;
    embed(&root.join("cases/gallery"), "", "toml", &out.join("gallery.rs"))
}

/// Writes a list of all files of a folder, with their contents, as Rust.
fn embed(watched: &Path, under: &str, extension: &str, list: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", watched.display());
    let folder = watched.join(under);
    let mut files = Vec::new();
    if folder.is_dir() {
        collect(&folder, &mut files)?;
    }
    files.retain(|file| extension.is_empty() || file.extension().is_some_and(|own| own == extension));
    files.sort();
    let mut text = "&[\n".to_string();
    for file in &files {
        let name = file.strip_prefix(&folder).unwrap_or(file).to_string_lossy().replace('\\', "/");
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
