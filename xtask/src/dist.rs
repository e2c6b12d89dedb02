//! What is handed out: an archive with the program, its manual pages and completions, and the wheel of the Python package. Each is then
//! tried in a folder of its own, where the repository is not.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Failure, announce, cargo, python, step, target};

/// The shells that completions are for, and what their files are called.
const SHELLS: [(&str, &str); 5] = [
    ("bash", "carom.bash"),
    ("elvish", "carom.elv"),
    ("fish", "carom.fish"),
    ("powershell", "_carom.ps1"),
    ("zsh", "_carom"),
];

/// What belongs to the archive besides.
const PAPERS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// What to build.
#[derive(Clone, Copy)]
enum Profile {
    /// As it is shipped.
    Dist,
    /// To try the task itself: soon built, and slow.
    Dev,
}

impl Profile {
    fn name(self) -> &'static str {
        match self {
            Self::Dist => "dist",
            Self::Dev => "dev",
        }
    }

    fn folder(self) -> &'static str {
        match self {
            Self::Dist => "dist",
            Self::Dev => "debug",
        }
    }
}

/// Builds what is shipped into `target/shipped`, and tries it.
pub fn run(root: &Path) -> Result<(), Failure> {
    make(root, Profile::Dist)
}

/// The same unoptimised, to try the task.
pub fn run_dev(root: &Path) -> Result<(), Failure> {
    make(root, Profile::Dev)
}

fn make(root: &Path, profile: Profile) -> Result<(), Failure> {
    let shipped = target(root).join("shipped");
    empty(&shipped)?;
    let archive = archive(root, &shipped, profile)?;
    tried(&archive, try_archive)?;
    let wheel = wheel(root, &shipped, profile)?;
    tried(&wheel, try_wheel)?;
    println!("\n{}\n{}", archive.display(), wheel.display());
    Ok(())
}

/// Tries something in a folder where nothing else is.
fn tried(what: &Path, attempt: impl Fn(&Path, &Path) -> Result<(), Failure>) -> Result<(), Failure> {
    let clean = env::temp_dir().join(format!("carom-clean-{}", std::process::id()));
    empty(&clean)?;
    let result = attempt(what, &clean);
    let _ = fs::remove_dir_all(&clean);
    result
}

fn failed(path: &Path) -> impl Fn(std::io::Error) -> Failure + '_ {
    |error| format!("{}: {error}", path.display())
}

fn empty(folder: &Path) -> Result<(), Failure> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(failed(folder))?;
    }
    fs::create_dir_all(folder).map_err(failed(folder))
}

/// What a command prints.
fn output(command: &mut Command) -> Result<Vec<u8>, Failure> {
    let words = announce(command);
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("{words}: {error}"))?;
    if output.status.success() { Ok(output.stdout) } else { Err(format!("{words}: {}", output.status)) }
}

/// The platform that the compiler builds for.
fn platform() -> Result<String, Failure> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let text = String::from_utf8_lossy(&output(Command::new(rustc).arg("-vV"))?).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_string).ok_or_else(|| "rustc does not say what it builds for".to_string())
}

/// The archive with the program.
fn archive(root: &Path, shipped: &Path, profile: Profile) -> Result<PathBuf, Failure> {
    cargo(root, &["build", "--package", "carom-cli", "--profile", profile.name()])?;
    let program = format!("carom{}", env::consts::EXE_SUFFIX);
    let built = target(root).join(profile.folder()).join(&program);
    let name = format!("carom-{}-{}", env!("CARGO_PKG_VERSION"), platform()?);
    let folder = shipped.join(&name);
    let (manual, completions) = (folder.join("man/man1"), folder.join("completions"));
    for made in [&manual, &completions] {
        fs::create_dir_all(made).map_err(failed(made))?;
    }
    let place = folder.join(&program);
    fs::copy(&built, &place).map_err(failed(&built))?;
    output(Command::new(&place).args(["man", "--out"]).arg(&manual))?;
    for (shell, file) in SHELLS {
        let text = output(Command::new(&place).args(["completions", shell]))?;
        let file = completions.join(file);
        fs::write(&file, text).map_err(failed(&file))?;
    }
    for paper in PAPERS {
        fs::copy(root.join(paper), folder.join(paper)).map_err(failed(&root.join(paper)))?;
    }
    let archive = shipped.join(format!("{name}.tar.gz"));
    step(Command::new("tar").current_dir(shipped).arg("-czf").arg(&archive).arg(&name))?;
    fs::remove_dir_all(&folder).map_err(failed(&folder))?;
    Ok(archive)
}

/// The wheel, one for every Python from 3.10 on.
fn wheel(root: &Path, shipped: &Path, profile: Profile) -> Result<PathBuf, Failure> {
    let python = python::python()?;
    let package = root.join("crates/carom-py");
    let tools = python::tools(&python, &target(root).join("python"), &package.join("requirements.txt"))?;
    let mut build = Command::new(tools);
    build
        .current_dir(root)
        .args(["-m", "maturin", "build", "--profile", profile.name(), "--out"])
        .arg(shipped);
    step(&mut build)?;
    let entries = fs::read_dir(shipped).map_err(failed(shipped))?;
    let mut paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let wheel = paths.find(|path| path.extension().is_some_and(|extension| extension == "whl"));
    let wheel = wheel.ok_or_else(|| format!("{}: no wheel", shipped.display()))?;
    let name = wheel.file_name().unwrap_or_default().to_string_lossy();
    if name.contains("-abi3-") { Ok(wheel) } else { Err(format!("{name} is for one Python only")) }
}

/// The program out of its archive makes a scene, runs it, and serves its page.
fn try_archive(archive: &Path, clean: &Path) -> Result<(), Failure> {
    step(Command::new("tar").current_dir(clean).arg("-xzf").arg(archive))?;
    let name = archive.file_name().unwrap_or_default().to_string_lossy().replace(".tar.gz", "");
    let folder = clean.join(name);
    let program = folder.join(format!("carom{}", env::consts::EXE_SUFFIX));
    for arguments in [&["new", "ball"][..], &["run", "ball.toml"], &["--version"]] {
        step(Command::new(&program).current_dir(clean).args(arguments))?;
    }
    for (_, file) in SHELLS {
        let file = folder.join("completions").join(file);
        let text = fs::read_to_string(&file).map_err(failed(&file))?;
        if !text.contains("carom") || !text.contains("classify") {
            return Err(format!("{}: completes no command", file.display()));
        }
    }
    let page = folder.join("man/man1/carom-run.1");
    if !fs::read_to_string(&page).map_err(failed(&page))?.starts_with(".ie") {
        return Err(format!("{}: not a manual page", page.display()));
    }
    serves(Command::new(program).current_dir(clean))
}

/// The wheel, alone in a new environment, answers a question and serves the page.
fn try_wheel(wheel: &Path, clean: &Path) -> Result<(), Failure> {
    let environment = clean.join("environment");
    python::make(&python::python()?, &environment)?;
    let own = python::interpreter(&environment);
    step(Command::new(&own).args(["-m", "pip", "install", "--quiet"]).arg(wheel))?;
    step(Command::new(&own).current_dir(clean).args(["-c", python::FIRST_LINES]))?;
    serves(Command::new(&own).current_dir(clean).args(["-m", "carom"]))
}

/// `carom view` prints an address, and there is a page at it, with its scripts and the gallery.
fn serves(command: &mut Command) -> Result<(), Failure> {
    command.args(["view", "--no-open", "--port", "0"]).stdout(Stdio::piped());
    let words = announce(command);
    let mut child = command.spawn().map_err(|error| format!("{words}: {error}"))?;
    let looked = look(&mut child).map_err(|failure| format!("{words}: {failure}"));
    let _ = child.kill();
    let _ = child.wait();
    looked
}

fn look(child: &mut std::process::Child) -> Result<(), Failure> {
    let out = child.stdout.take().ok_or("nothing is printed")?;
    let mut line = String::new();
    BufReader::new(out).read_line(&mut line).map_err(|error| error.to_string())?;
    let rest =
        line.trim().strip_prefix("http://").ok_or_else(|| format!("`{}` is no address", line.trim()))?;
    let (host, path) = rest.split_once('/').ok_or("the address has no path")?;
    for (name, least) in [("", 1000), ("assets/index.js", 100_000), ("api/start", 10_000)] {
        let length = fetch(host, &format!("/{path}{name}"))?;
        println!("   {name:16} {length} bytes");
        if length < least {
            return Err(format!("`{name}` has only {length} bytes"));
        }
    }
    Ok(())
}

/// The length of what is at an address of this machine.
fn fetch(host: &str, path: &str) -> Result<usize, Failure> {
    let failed = |error: std::io::Error| format!("{host}{path}: {error}");
    let mut stream = TcpStream::connect(host).map_err(failed)?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).map_err(failed)?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).map_err(failed)?;
    if !bytes.starts_with(b"HTTP/1.1 200") {
        let first = bytes.split(|&byte| byte == b'\r').next().unwrap_or_default();
        return Err(format!("{path}: {}", String::from_utf8_lossy(first)));
    }
    let head = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or_default();
    Ok(bytes.len() - head - 4)
}
