//! Whether the library's public items changed as its version says: cargo-semver-checks, against the last release.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Failure, cargo_command, step, target};

const VERSION: &str = "0.51.0";

/// Compares with the revision named on the command line, or with the newest tag of a version.
pub fn check(root: &Path) -> Result<(), Failure> {
    let named = env::args().nth(2);
    let Some(baseline) = named.or_else(|| newest(root)) else {
        println!("there is no release to compare with: no tag is called v and a version");
        return Ok(());
    };
    let mut check = cargo_command(root);
    let path = tool(root)?;
    let folders = path.parent().map(Path::to_path_buf).into_iter();
    let before = env::var_os("PATH").unwrap_or_default();
    let paths: Vec<PathBuf> = folders.chain(env::split_paths(&before)).collect();
    check.env("PATH", env::join_paths(paths).map_err(|error| error.to_string())?);
    step(check.args(["semver-checks", "--package", "carom", "--baseline-rev", &baseline]))
}

/// The newest tag of a version.
fn newest(root: &Path) -> Option<String> {
    let mut git = Command::new("git");
    git.current_dir(root).args(["tag", "--list", "v[0-9]*", "--sort=-version:refname"]);
    let output = git.output().ok()?;
    String::from_utf8_lossy(&output.stdout).lines().next().map(str::to_string)
}

fn tool(root: &Path) -> Result<PathBuf, Failure> {
    let tools = target(root).join("tools");
    let own = tools.join("bin").join(format!("cargo-semver-checks{}", env::consts::EXE_SUFFIX));
    for program in [PathBuf::from("cargo-semver-checks"), own.clone()] {
        if Command::new(&program)
            .args(["semver-checks", "--version"])
            .output()
            .is_ok_and(|o| o.status.success())
        {
            return Ok(program);
        }
    }
    let mut install = cargo_command(root);
    install.args(["install", "cargo-semver-checks", "--version", VERSION, "--debug", "--root"]).arg(&tools);
    step(&mut install)?;
    Ok(own)
}
