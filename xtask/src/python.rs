//! The Python package: its wheel is built, installed where nothing else is, and tested by pytest with notebooks and book.
//!
//! Two environments lie in `target/python`. `tools` has what the tests use, as pinned in the crate's `requirements.txt`, and is made
//! again when that changes. `fresh` is made again every time and has the wheel with its requirements and nothing else, so that a
//! dependency that the package forgot to name does not go unnoticed.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Failure, apt_get, cargo, step, target};

/// The oldest Python that the pinned tools run on. The package itself takes 3.10.
const OLDEST: (u32, u32) = (3, 11);

/// What a user's first line would be.
pub const FIRST_LINES: &str = "\
import carom
scene = carom.Scene(
    body=[carom.Body('ball', carom.Sphere(1.0), mass=1.0, position=[0, 0, 1], velocity=[0, 0, -2])],
    plane=[carom.Plane('floor', normal=[0, 0, 1])],
    surface=carom.Surface(restitution=0.5),
)
after = carom.solve(scene).bodies.ball.velocity
assert after.tolist() == [0.0, 0.0, 1.0], after
print('a ball of the fresh environment leaves with', after[2])
";

/// Builds the program too, with whose answers the package's are compared, and tests the package.
pub fn test_alone(root: &Path) -> Result<(), Failure> {
    cargo(root, &["build", "--workspace", "--bins", "--tests"])?;
    test(root)
}

/// Builds the wheel, installs it, tests it.
pub fn test(root: &Path) -> Result<(), Failure> {
    let python = python()?;
    let target = target(root);
    let folder = target.join("python");
    let package = root.join("crates/carom-py");
    let tools = tools(&python, &folder, &package.join("requirements.txt"))?;

    // The profile of the tests, whose optimised dependencies are built already.
    let wheels = folder.join("wheels");
    if wheels.exists() {
        fs::remove_dir_all(&wheels).map_err(|error| format!("{}: {error}", wheels.display()))?;
    }
    let mut build = Command::new(&tools);
    build.current_dir(root).args(["-m", "maturin", "build", "--profile", "dev", "--out"]).arg(&wheels);
    step(&mut build)?;
    let wheel = only_file(&wheels)?;

    let fresh = folder.join("fresh");
    make(&python, &fresh)?;
    let fresh = interpreter(&fresh);
    step(Command::new(&fresh).args(["-m", "pip", "install", "--quiet"]).arg(&wheel))?;
    // Away from the repository, where no source could be taken for the package.
    step(Command::new(&fresh).current_dir(&folder).args(["-c", FIRST_LINES]))?;

    let readme = package.join("README.md");
    step(Command::new(&fresh).current_dir(&folder).args(["-m", "doctest", "-o", "ELLIPSIS"]).arg(&readme))?;

    let reinstall = ["-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall"];
    step(Command::new(&tools).args(reinstall).arg(&wheel))?;
    let program = target.join("debug").join(format!("carom{}", env::consts::EXE_SUFFIX));
    let mut pytest = Command::new(&tools);
    pytest.current_dir(&package).args(["-m", "pytest", "-q", "--durations", "5", "tests"]);
    step(pytest.env("CAROM", program).env("MPLBACKEND", "agg"))
}

/// The interpreter: `PYTHON`, one that is installed and not too old, or Debian's, installed now.
pub fn python() -> Result<PathBuf, Failure> {
    installed().or_else(|failure| {
        let install = apt_get(&["python3", "python3-venv"]);
        install.and_then(|()| installed()).map_err(|_| failure)
    })
}

fn installed() -> Result<PathBuf, Failure> {
    let named = env::var_os("PYTHON").map(PathBuf::from);
    let candidates = named.map_or_else(|| vec!["python3".into(), "python".into()], |python| vec![python]);
    let mut found = Vec::new();
    for python in candidates {
        let print = "import sys; print('%d %d' % sys.version_info[:2])";
        let Ok(output) = Command::new(&python).args(["-c", print]).output() else { continue };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut numbers = text.split_whitespace().filter_map(|word| word.parse::<u32>().ok());
        if let (Some(major), Some(minor)) = (numbers.next(), numbers.next()) {
            if (major, minor) >= OLDEST {
                return Ok(python);
            }
            found.push(format!("{} is {major}.{minor}", python.display()));
        }
    }
    let (major, minor) = OLDEST;
    let found = if found.is_empty() { "there is none".to_string() } else { found.join(", ") };
    Err(format!(
        "the tests of the Python package need Python {major}.{minor} or later ({found}): install it from the system's packages \
         or https://www.python.org, or name it in PYTHON"
    ))
}

/// The environment with the tools, made unless it is there as the list has them; returns its interpreter.
pub fn tools(python: &Path, folder: &Path, list: &Path) -> Result<PathBuf, Failure> {
    let pins = fs::read_to_string(list).map_err(|error| format!("{}: {error}", list.display()))?;
    let environment = folder.join("tools");
    let done = environment.join("requirements.txt");
    let interpreter = interpreter(&environment);
    if fs::read_to_string(&done).is_ok_and(|text| text == pins) && interpreter.exists() {
        return Ok(interpreter);
    }
    make(python, &environment)?;
    let install = ["-m", "pip", "install", "--quiet", "--no-deps", "--requirement"];
    step(Command::new(&interpreter).args(install).arg(list))?;
    fs::write(&done, pins).map_err(|error| format!("{}: {error}", done.display()))?;
    Ok(interpreter)
}

/// Makes a fresh environment; Debian has what that takes in a package of its own.
pub fn make(python: &Path, environment: &Path) -> Result<(), Failure> {
    let venv = || step(Command::new(python).args(["-m", "venv", "--clear"]).arg(environment));
    let Err(failure) = venv() else { return Ok(()) };
    apt_get(&["python3-venv"]).and_then(|()| venv()).map_err(|_| {
        format!("{failure}; Python's venv with pip is needed, on Debian the package python3-venv")
    })
}

pub fn interpreter(environment: &Path) -> PathBuf {
    if cfg!(windows) { environment.join("Scripts/python.exe") } else { environment.join("bin/python") }
}

/// The one file of a folder.
fn only_file(folder: &Path) -> Result<PathBuf, Failure> {
    let place = |error| format!("{}: {error}", folder.display());
    let mut entries = fs::read_dir(folder).map_err(place)?;
    let first = entries.next().ok_or_else(|| format!("{}: no wheel", folder.display()))?;
    Ok(first.map_err(place)?.path())
}
