//! Tells the program which commit it was built from, and puts the page and the gallery into it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    name_commit();
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

fn name_commit() {
    // Sources unpacked inside a foreign checkout are not that checkout's commit.
    let tracked = git(&["ls-files", "--error-unmatch", "build.rs"]).is_some();
    let commit = tracked.then(|| git(&["rev-parse", "--short", "HEAD"])).flatten();
    println!("cargo::rustc-env=CAROM_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
    // `--git-path` knows where these lie in a linked worktree. The log changes with every commit, also when the
    // branch itself is packed away.
    let branch = git(&["symbolic-ref", "-q", "HEAD"]);
    for name in ["HEAD", "logs/HEAD"].into_iter().chain(branch.as_deref()) {
        if let Some(path) = git(&["rev-parse", "--git-path", name])
            && Path::new(&path).exists()
        {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_string()).filter(|text| !text.is_empty())
}
