//! The page of `carom view`: built by Node.js from `viewer/`, tested in a real browser against the program.
//!
//! The built page is part of the repository, in `crates/carom-cli/page`, so that the program has it wherever it is built, without
//! Node.js. Every file is compressed on its own, as the program serves it. `SOURCES` beside them is a digest of what they were built
//! from: a test without Node.js compares that, and `cargo xtask test` builds the page again and compares the files themselves.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Failure, apt_get, node, step, target};

/// Where Debian's package puts the browser, and what else it may be called.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// What the page is built from, in `viewer/`.
const SOURCES: [&str; 6] =
    ["index.html", "package-lock.json", "public", "src", "tsconfig.json", "vite.config.ts"];

/// Compresses the files of a folder, each into one of its own. The smallest form there is, with nothing of the time or the machine.
const COMPRESS: &str = "
const [from, to] = process.argv.slice(1);
const { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const { gzipSync } = require('node:zlib');
rmSync(to, { recursive: true, force: true });
for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue;
  const path = join(entry.parentPath ?? entry.path, entry.name);
  const place = join(to, path.slice(from.length)) + '.gz';
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, gzipSync(readFileSync(path), { level: 9 }));
}";

/// Prints the files of a folder that another does not have compressed with the same contents, or has and it does not.
const COMPARE: &str = "
const [built, kept] = process.argv.slice(1);
const { readdirSync, readFileSync } = require('node:fs');
const { join } = require('node:path');
const { gunzipSync } = require('node:zlib');
const files = (folder) => new Map(readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
  .map((path) => [path.slice(folder.length + 1).replace(/\\\\/g, '/'), path]));
const [news, old] = [files(built), files(kept)];
old.delete('SOURCES');
const changed = [...news].filter(([name, path]) => {
  const other = old.get(name + '.gz');
  return other === undefined || !gunzipSync(readFileSync(other)).equals(readFileSync(path));
}).map(([name]) => name);
changed.push(...[...old.keys()].filter((name) => !news.has(name.replace(/\\.gz$/, ''))));
if (changed.length > 0) {
  console.error('not what viewer/ builds: ' + changed.join(', ') + '; `cargo xtask page` builds it again');
  process.exit(1);
}";

fn npm(root: &Path, arguments: &[&str]) -> Result<Command, Failure> {
    let mut command = node::npm(root)?;
    command.current_dir(root.join("viewer")).args(arguments);
    Ok(command)
}

/// Builds the page into `viewer/dist/page`, from its lock file.
fn bundle(root: &Path) -> Result<(), Failure> {
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

/// Where the built page is kept.
fn kept(root: &Path) -> PathBuf {
    root.join("crates/carom-cli/page")
}

/// Runs a script of Node.js on the page as it was just built and as it is kept.
fn on_pages(root: &Path, what: &str, script: &str) -> Result<(), Failure> {
    println!("\n=> {what}");
    let mut command = node::node(root)?;
    command.arg("-e").arg(script).arg("--").arg(root.join("viewer/dist/page")).arg(kept(root));
    let status = command.status().map_err(|error| format!("node: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{what}: {status}")) }
}

/// Builds the page and keeps it in the repository.
pub fn build(root: &Path) -> Result<(), Failure> {
    bundle(root)?;
    on_pages(root, "keep the page in crates/carom-cli/page", COMPRESS)?;
    let place = kept(root).join("SOURCES");
    fs::write(&place, digest(root)?).map_err(|error| format!("{}: {error}", place.display()))
}

/// Builds the page, and fails if the one that is kept is another.
pub fn check(root: &Path) -> Result<(), Failure> {
    bundle(root)?;
    on_pages(root, "compare the page with crates/carom-cli/page", COMPARE)
}

/// Checks the page's types and parts, then uses it in a browser as people would.
pub fn test(root: &Path) -> Result<(), Failure> {
    let browser = browser()?;
    step(&mut npm(root, &["run", "check"])?)?;
    check_widget(root)?;
    let program = target(root).join("debug").join(format!("carom{}", env::consts::EXE_SUFFIX));
    step(npm(root, &["test"])?.env("CAROM", program).env("CHROMIUM", browser))
}

/// The digest of every file that the page is built from, one a line.
fn digest(root: &Path) -> Result<String, Failure> {
    let viewer = root.join("viewer");
    let mut files = BTreeMap::new();
    for name in SOURCES {
        collect(&viewer, &viewer.join(name), &mut files)?;
    }
    Ok(files.iter().map(|(name, digest)| format!("{digest:016x} {name}\n")).collect())
}

fn collect(viewer: &Path, path: &Path, files: &mut BTreeMap<String, u64>) -> Result<(), Failure> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    if path.is_dir() {
        for entry in fs::read_dir(path).map_err(failed)? {
            collect(viewer, &entry.map_err(failed)?.path(), files)?;
        }
        return Ok(());
    }
    // A test of a part is not part of the page.
    let name = path.strip_prefix(viewer).unwrap_or(path).to_string_lossy().replace('\\', "/");
    if !name.ends_with(".test.ts") {
        files.insert(name, fnv(&fs::read(path).map_err(failed)?));
    }
    Ok(())
}

/// The 64-bit FNV-1a digest, line ends as Git keeps them.
fn fnv(bytes: &[u8]) -> u64 {
    let kept = bytes.iter().filter(|&&byte| byte != b'\r');
    kept.fold(0xcbf2_9ce4_8422_2325, |digest, &byte| {
        (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The browser: `CHROMIUM`, one that is installed, or Debian's package, installed now.
pub fn browser() -> Result<PathBuf, Failure> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_that_is_kept_is_built_from_these_sources() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let place = kept(root).join("SOURCES");
        let built_from = fs::read_to_string(place).unwrap_or_default();
        let now = digest(root).unwrap();
        let changed: Vec<&str> =
            now.lines().filter(|line| !built_from.lines().any(|old| old == *line)).collect();
        assert!(
            built_from.replace('\r', "") == now,
            "viewer/ was changed since the page was built; run `cargo xtask page`. Changed or new: {changed:?}"
        );
    }

    #[test]
    fn digests_are_those_published_for_fnv() {
        assert_eq!(fnv(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv(b"foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(fnv(b"a\r\nb"), fnv(b"a\nb"));
    }
}
