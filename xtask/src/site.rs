//! The static site: the book, the API's documentation, and the playground, which is the page of `carom view` with the engine as
//! WebAssembly in a worker. It lies in `target/site` and needs nothing but a server of plain files.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Failure, book, cargo_command, node, page, step, target};

/// What the playground runs on.
const WASM: &str = "wasm32-unknown-unknown";

/// The version of wasm-opt, which makes the engine smaller and faster; from npm.
const BINARYEN: &str = "binaryen@132.0.0";

/// The stack of the engine, as large as a program's, and the most memory that it may take.
const STACK: u32 = 8 << 20;
const MEMORY: u32 = 2 << 30;

/// The largest the engine may be, compressed as servers do.
const LARGEST: u64 = 4_000_000;

/// Puts the site together, and uses the playground in a browser as people would.
pub fn run(root: &Path) -> Result<(), Failure> {
    build(root)?;
    test(root)
}

/// Builds the site into `target/site`.
pub fn build(root: &Path) -> Result<(), Failure> {
    let site = target(root).join("site");
    if site.exists() {
        fs::remove_dir_all(&site).map_err(|error| format!("{}: {error}", site.display()))?;
    }
    playground(root, &site.join("play"))?;
    book::pages(root)?;
    book::copy(&target(root).join("book/html"), &site.join("book"))?;
    let mut doc = cargo_command(root);
    step(doc.args(["doc", "--no-deps", "-p", "carom", "-p", "carom-answers"]))?;
    book::copy(&target(root).join("doc"), &site.join("api"))?;
    write(&site.join("index.html"), FRONT)?;
    println!("\nthe site is {}; any server of files shows it", site.display());
    Ok(())
}

/// The page, and the engine beside it.
fn playground(root: &Path, folder: &Path) -> Result<(), Failure> {
    page::check(root)?;
    book::copy(&root.join("viewer/dist/page"), folder)?;
    let index = folder.join("index.html");
    let text = fs::read_to_string(&index).map_err(|error| format!("{}: {error}", index.display()))?;
    let made = text.replacen("data-engine=\"server\"", "data-engine=\"worker\"", 1);
    if made == text {
        return Err("the page does not say which engine it talks to".to_string());
    }
    write(&index, &made)?;
    engine(root, &folder.join("engine.wasm"))
}

/// The answers as WebAssembly.
fn engine(root: &Path, place: &Path) -> Result<(), Failure> {
    let mut build = cargo_command(root);
    build.args([
        "rustc",
        "-p",
        "carom-wasm",
        "--lib",
        "--crate-type",
        "cdylib",
        "--release",
        "--target",
        WASM,
        "--",
    ]);
    build.arg(format!("-Clink-arg=-zstack-size={STACK}")).arg(format!("-Clink-arg=--max-memory={MEMORY}"));
    step(&mut build).map_err(|failure| {
        format!("{failure}; if the target is missing, `rustup target add {WASM}` installs it")
    })?;
    let built = target(root).join(WASM).join("release/carom_wasm.wasm");
    let tools = target(root).join("tools/binaryen");
    let optimiser = tools.join("node_modules/binaryen/bin/wasm-opt");
    if !optimiser.is_file() {
        fs::create_dir_all(&tools).map_err(|error| format!("{}: {error}", tools.display()))?;
        let mut install = node::npm(root)?;
        step(
            install
                .args(["install", "--no-audit", "--no-fund", "--no-save", "--prefix"])
                .arg(&tools)
                .arg(BINARYEN),
        )?;
    }
    let mut optimise = node::node(root)?;
    // No flag that would change a number: what comes out is the same to the bit.
    optimise.arg(&optimiser).args(["-O2", "--all-features"]).arg(&built).arg("-o").arg(place);
    step(&mut optimise)?;
    let size = compressed(root, place)?;
    println!("the engine has {size} bytes, compressed");
    if size > LARGEST {
        return Err(format!("the engine has {size} bytes, compressed: more than {LARGEST}"));
    }
    Ok(())
}

/// The length of a file as a server sends it.
fn compressed(root: &Path, path: &Path) -> Result<u64, Failure> {
    const COUNT: &str = "
        const { readFileSync } = require('node:fs');
        console.log(require('node:zlib').gzipSync(readFileSync(process.argv[1]), { level: 9 }).length);";
    let output = node::node(root)?
        .args(["-e", COUNT])
        .arg("--")
        .arg(path)
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.trim()
        .parse()
        .map_err(|_| format!("{}: {}", path.display(), String::from_utf8_lossy(&output.stderr)))
}

/// The page's browser tests, and those of the site alone, against a server of plain files.
pub fn test(root: &Path) -> Result<(), Failure> {
    let browser = page::browser()?;
    let program: PathBuf = match env::var_os("CAROM") {
        Some(program) => program.into(),
        None => {
            let mut build = cargo_command(root);
            step(build.args(["build", "-p", "carom-cli"]))?;
            target(root).join("debug").join(format!("carom{}", env::consts::EXE_SUFFIX))
        }
    };
    let mut command: Command = node::npm(root)?;
    command.current_dir(root.join("viewer")).args(["test"]);
    step(command.env("SITE", target(root).join("site")).env("CAROM", program).env("CHROMIUM", browser))
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The first page.
const FRONT: &str = include_str!("site/index.html");
