//! `cargo xtask TASK`: what this repository needs beyond a plain `cargo build`.
//!
//! `test` runs everything that tests the project, `lint` everything that judges its text. Each step is printed with
//! its command and its time, and the first that fails ends the task.

mod book;
mod compare;
mod dist;
mod examples;
mod node;
mod page;
mod ptx;
mod python;
mod semver;
mod site;

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

const USAGE: &str = "\
Usage: cargo xtask TASK

Tasks:
  test             everything: unit, integration and documentation tests; the benchmarks once, as a test; the examples of
                   README.md and the book; the book; the page; the Python package
  test --quick     what to run while working: unit and integration tests, with a tenth of the cases of the long random families
  lint             formatting, clippy and rustdoc, warnings as errors
  ptx              builds the kernels for GPUs into crates/carom-gpu/ptx, with a nightly compiler: after any change of what they are made of
  page             builds the page of `carom view` from viewer/ and keeps it in crates/carom-cli/page, where programs take it from
  site             puts the static site together in target/site (book, API documentation, and the playground, which is the page with the
                   engine as WebAssembly) and uses it in a browser; `site --build` only puts it together
  widget           builds what `carom.view` shows in notebooks into the Python package, from viewer/src/widget
  dist             an archive of the program with manual pages and completions, and the wheel, in target/shipped, each tried in a clean
                   folder; `dist --dev` does it unoptimised, to try the task
  book             builds the book into target/book/html: examples, figures, pages, links
  examples         checks the examples in README.md and the book alone
  python           builds the program and the wheel of the Python package, installs the wheel and tests it
  compare-engines  carom beside other engines, for the book's chapter: installs and runs them, which takes minutes
  semver           compares the library's public items with those of the last release; with a revision after it, with those there
  help             this text

What a task needs besides Rust (Node.js, Python, Chromium, mdBook) it takes from the machine, or installs with apt-get, pip,
npm or cargo.
CAROM_BLESS=1 cargo xtask examples rewrites the outputs and figures shown in README.md and the book.
The other variables that the tests read are in CONTRIBUTING.md.";

/// Why a task ended early, in one line.
type Failure = String;

const FAILED: u8 = 1;
const WRONG_COMMAND_LINE: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let task: fn(&Path) -> Result<(), Failure> = match words[..] {
        [] | ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        ["test"] => test,
        ["test", "--quick"] => quick,
        ["examples"] => examples::run,
        ["book"] => book::build,
        ["compare-engines"] => compare::run,
        ["lint"] => lint,
        ["semver", ..] => semver::check,
        ["page"] => page::build,
        ["widget"] => page::widget,
        ["dist"] => dist::run,
        ["dist", "--dev"] => dist::run_dev,
        ["site"] => site::run,
        ["site", "--build"] => site::build,
        ["ptx"] => ptx::build,
        ["python"] => python::test_alone,
        _ => {
            eprintln!("xtask: no such task: {}\n\n{USAGE}", words.join(" "));
            return ExitCode::from(WRONG_COMMAND_LINE);
        }
    };
    let start = Instant::now();
    match root().and_then(|root| task(&root)) {
        Ok(()) => {
            println!("\nxtask: {} passed in {:.1?}", words.join(" "), start.elapsed());
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("\nxtask: {} FAILED after {:.1?}: {failure}", words.join(" "), start.elapsed());
            ExitCode::from(FAILED)
        }
    }
}

/// Everything that tests the project, on a machine that has Rust and nothing else.
///
/// What a part needs besides Rust is set up by a step right before the part's tests, from the part's own lock file.
fn test(root: &Path) -> Result<(), Failure> {
    page::check(root)?;
    cargo(root, &["test", "--workspace"])?;
    // Without `--bench` on its command line a benchmark runs each of its functions once.
    cargo(root, &["test", "--workspace", "--bench", "*"])?;
    examples::run(root)?;
    book::pages(root)?;
    page::test(root)?;
    python::test(root)
}

/// What to run while working: Rust's tests, the long random families with a tenth of their cases.
fn quick(root: &Path) -> Result<(), Failure> {
    step(cargo_command(root).args(["test", "--workspace", "--tests"]).env("CAROM_QUICK", "1"))
}

fn lint(root: &Path) -> Result<(), Failure> {
    cargo(root, &["fmt", "--all", "--check"])?;
    cargo(root, &["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"])?;
    let mut rustdoc = cargo_command(root);
    rustdoc.args(["doc", "--workspace", "--no-deps", "--document-private-items"]);
    step(rustdoc.env("RUSTDOCFLAGS", "-Dwarnings"))
}

/// The root of the workspace: the folder above this package's.
fn root() -> Result<PathBuf, Failure> {
    let package = env::var_os("CARGO_MANIFEST_DIR").ok_or("must be started as `cargo xtask`")?;
    let root = Path::new(&package).parent().ok_or("this package lies in no workspace")?;
    Ok(root.to_path_buf())
}

/// Where cargo builds.
fn target(root: &Path) -> PathBuf {
    root.join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| OsString::from("target")))
}

/// Installs packages of Debian's.
fn apt_get(packages: &[&str]) -> Result<(), Failure> {
    step(Command::new("apt-get").args(["update", "--quiet"]))?;
    let mut install = Command::new("apt-get");
    install.args(["install", "--yes", "--quiet", "--no-install-recommends"]).args(packages);
    step(install.env("DEBIAN_FRONTEND", "noninteractive"))
}

fn cargo_command(root: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    command.current_dir(root);
    command
}

fn cargo(root: &Path, arguments: &[&str]) -> Result<(), Failure> {
    step(cargo_command(root).args(arguments))
}

/// Runs a command with its output shown as it comes.
fn step(command: &mut Command) -> Result<(), Failure> {
    let words = announce(command);
    let start = Instant::now();
    let status = command.status().map_err(|error| format!("{words}: {error}"))?;
    if !status.success() {
        return Err(format!("{words}: {status}"));
    }
    println!("   took {:.1?}", start.elapsed());
    Ok(())
}

/// Prints a command as it could be typed, and returns that.
fn announce(command: &Command) -> String {
    let variables = command.get_envs().filter_map(|(name, value)| {
        value.map(|value| format!("{}={}", name.to_string_lossy(), value.to_string_lossy()))
    });
    let program = Path::new(command.get_program()).file_stem().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args()).map(|word| word.to_string_lossy());
    let quoted = words.map(|word| if word == "*" { "'*'".to_string() } else { word.into_owned() });
    let words = variables.chain(quoted).collect::<Vec<_>>().join(" ");
    println!("\n=> {words}");
    words
}
