//! Tells the answers which commit they were built from, and puts the gallery's scenes into them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    gallery()?;
    commit();
    Ok(())
}

/// Writes the list of the gallery's files, by name, as Rust.
fn gallery() -> io::Result<()> {
    // Asked now, not when this script was compiled: a folder for builds may be shared by several checkouts.
    let own = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let folder = own.join("../../cases/gallery");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut scenes = Vec::new();
    if folder.is_dir() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                scenes.push(path);
            }
        }
    }
    scenes.sort();
    let mut list = "&[\n".to_string();
    for scene in &scenes {
        let name = scene.file_stem().unwrap_or_default().to_string_lossy();
        list += &format!("    ({name:?}, include_str!({:?})),\n", scene.canonicalize()?.to_string_lossy());
    }
    fs::write(PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("gallery.rs"), list + "]\n")
}

fn commit() {
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
