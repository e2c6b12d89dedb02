//! The page of `carom view`: built by Node.js from `viewer/`, tested in a real browser against the program.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Failure, apt_get, node, step, target};

/// Where Debian's package puts the browser, and what else it may be called.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

fn npm(root: &Path, arguments: &[&str]) -> Result<Command, Failure> {
    let mut command = node::npm(root)?;
    command.current_dir(root.join("viewer")).args(arguments);
    Ok(command)
}

/// Installs what the page is made of, from its lock file, and builds it.
pub fn build(root: &Path) -> Result<(), Failure> {
    step(&mut npm(root, &["ci", "--no-audit", "--no-fund"])?)?;
    step(&mut npm(root, &["run", "build"])?)
}

/// Where the Python package has its widget, as it was built.
const WIDGET: &str = "crates/carom-py/python/carom/_widget.js";

/// Builds the widget of the Python package into the package, where it is kept: who installs that needs no Node.js.
pub fn widget(root: &Path) -> Result<(), Failure> {
    step(&mut npm(root, &["ci", "--no-audit", "--no-fund"])?)?;
    let built = built_widget(root)?;
    let kept = root.join(WIDGET);
    fs::write(&kept, built).map_err(|error| format!("{}: {error}", kept.display()))
}

/// What the widget's sources are built into.
fn built_widget(root: &Path) -> Result<Vec<u8>, Failure> {
    step(&mut npm(root, &["run", "build:widget"])?)?;
    let built = root.join("viewer/dist/widget/widget.js");
    fs::read(&built).map_err(|error| format!("{}: {error}", built.display()))
}

/// The widget that is kept is the one that its sources give.
fn check_widget(root: &Path) -> Result<(), Failure> {
    let kept = fs::read(root.join(WIDGET)).unwrap_or_default();
    if built_widget(root)? == kept {
        Ok(())
    } else {
        Err(format!("{WIDGET} is not what viewer/ builds: `cargo xtask widget`"))
    }
}

/// Checks the page's types and parts, then uses it in a browser as people would.
pub fn test(root: &Path) -> Result<(), Failure> {
    let browser = browser()?;
    step(&mut npm(root, &["run", "check"])?)?;
    check_widget(root)?;
    let program = target(root).join("debug").join(format!("carom{}", env::consts::EXE_SUFFIX));
    step(npm(root, &["test"])?.env("CAROM", program).env("CHROMIUM", browser))
}

/// The browser: `CHROMIUM`, one that is installed, or Debian's package, installed now.
fn browser() -> Result<PathBuf, Failure> {
    if let Some(path) = env::var_os("CHROMIUM") {
        return Ok(path.into());
    }
    if let Some(path) = installed() {
        return Ok(path);
    }
    let install = apt_get(&["chromium"]);
    installed().ok_or_else(|| {
        let why = install.err().unwrap_or_default();
        format!("the page's tests need Chromium: install it, or name it in CHROMIUM ({why})")
    })
}

fn installed() -> Option<PathBuf> {
    let folders: Vec<PathBuf> = env::split_paths(&env::var_os("PATH")?).collect();
    let places = BROWSERS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places.into_iter().find(|path| path.is_file())
}
