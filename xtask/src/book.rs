//! The book: its examples run, its scenes read, its figures drawn, its pages built and their links checked.
//!
//! Commands of all chapters run in one folder, in reading order, so that a chapter has the files of those before it. The
//! folder has the repository's `cases`. A fenced block of TOML is a scene that must read; what is said after `toml,` in its
//! first line makes it something else:
//!
//! - `file=NAME` a scene that the commands find under that name;
//! - `with=NAME` lines that belong at the end of that file, and must read there;
//! - `problem` matrices, as `carom generalized` reads them; a name may follow as above;
//! - `wrong` a scene with a mistake, for a command that shows the diagnostic.
//!
//! A block of Python is run by the tests of the Python package. A block of Rust has nothing but `{{#include …}}` of a file that
//! is compiled as an example of the library; where the chapter shows `$ cargo run -p carom --example NAME` as well, it prints what
//! is shown. The pictures that the commands draw are kept in `book/src/figures`, so that chapters can be read without building the
//! book, and are the same, byte for byte.

use std::collections::{HashMap, HashSet};
use std::env;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use super::examples::{self, Page};
use super::{Failure, announce, cargo, cargo_command, node, step, target};

const VERSION: &str = "0.5.4";

/// What a command that runs an example of the library begins with.
const EXAMPLE: &str = "cargo run -p carom --example ";

/// Runs the book's examples, then builds it.
pub fn build(root: &Path) -> Result<(), Failure> {
    check(root, &examples::program(root)?)?;
    pages(root)
}

/// Builds the book into `target/book/html`.
pub fn pages(root: &Path) -> Result<(), Failure> {
    let book = root.join("book");
    for arguments in [&["ci", "--no-audit", "--no-fund"][..], &["test"][..]] {
        step(node::npm(root)?.current_dir(&book).args(arguments))?;
    }
    let html = folder(root).join("html");
    step(Command::new(mdbook(root)?).current_dir(&book).arg("build").arg("--dest-dir").arg(&html))?;
    let links = check_links(&html)?;
    println!("\n{links} links lead somewhere; the book is {}", html.join("index.html").display());
    Ok(())
}

/// Runs every example of the book, in reading order.
pub fn check(root: &Path, program: &Path) -> Result<(), Failure> {
    let work = folder(root).join("work");
    if work.exists() {
        fs::remove_dir_all(&work).map_err(|error| format!("{}: {error}", work.display()))?;
    }
    copy(&root.join("cases"), &work.join("cases"))?;
    for file in chapters(root)? {
        let text = read(&root.join(&file))?;
        prepare(root, program, &work, &file, &text)?;
        let mut count =
            examples::check(root, program, &Page { file: &file, prefix: "carom ", folder: &work })?;
        for name in shown_examples(&text) {
            cargo(root, &["build", "--workspace", "--example", name])?;
            let program =
                target(root).join("debug/examples").join(format!("{name}{}", env::consts::EXE_SUFFIX));
            let prefix = format!("{EXAMPLE}{name}");
            count += examples::check(root, &program, &Page { file: &file, prefix: &prefix, folder: &work })?;
        }
        println!("{file}: {count} commands");
    }
    check_figures(&work, &root.join("book/src/figures"))
}

/// The examples of the library whose output a chapter shows.
fn shown_examples(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.strip_prefix("$ ")?.strip_prefix(EXAMPLE)).map(str::trim)
}

/// The chapters' files from the root of the workspace, as the table of contents lists them.
fn chapters(root: &Path) -> Result<Vec<String>, Failure> {
    let summary = read(&root.join("book/src/SUMMARY.md"))?;
    let links = summary.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let files: Vec<String> = links.map(|(link, _)| format!("book/src/{link}")).collect();
    if files.is_empty() { Err("book/src/SUMMARY.md lists no chapter".to_string()) } else { Ok(files) }
}

/// Writes the scenes of a chapter into the folder of its commands, and has every scene read.
fn prepare(root: &Path, program: &Path, work: &Path, file: &str, text: &str) -> Result<(), Failure> {
    for block in blocks(text) {
        let place = format!("{file}:{}", block.line);
        let mut words = block.language.split(',').map(str::trim);
        match words.next() {
            Some("rust") => included(root, file, &place, &block.text)?,
            Some("toml") => {
                let words: Vec<&str> = words.collect();
                read_scene(program, work, &words, &block.text)
                    .map_err(|failure| format!("{place}: {failure}"))?;
            }
            // Python's run in the tests of the package.
            Some("console" | "sh" | "json" | "text" | "python") => {}
            _ => return Err(format!("{place}: a block of `{}`, which nothing checks", block.language)),
        }
    }
    Ok(())
}

fn read_scene(program: &Path, work: &Path, words: &[&str], text: &str) -> Result<(), Failure> {
    let value = |key: &str| words.iter().find_map(|word| word.strip_prefix(key));
    let known = |word: &&str| {
        matches!(*word, "problem" | "wrong") || word.starts_with("file=") || word.starts_with("with=")
    };
    if let Some(word) = words.iter().find(|word| !known(word)) {
        return Err(format!("`{word}` says nothing about a scene"));
    }
    let name = value("file=").unwrap_or("block.toml");
    let path = work.join(name);
    if value("file=").is_some() && path.exists() {
        return Err(format!("another chapter has a {name} already"));
    }
    let whole = match value("with=") {
        Some(first) => read(&work.join(first))? + "\n" + text,
        None => text.to_string(),
    };
    fs::write(&path, whole).map_err(|error| format!("{name}: {error}"))?;
    if words.contains(&"wrong") {
        return Ok(());
    }
    let mut command = Command::new(program);
    command.current_dir(work).arg(if words.contains(&"problem") { "generalized" } else { "gap" }).arg(name);
    let words = announce(&command);
    let output = command.output().map_err(|error| format!("{words}: {error}"))?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

/// A block of Rust must be a file that `cargo test` compiles.
fn included(root: &Path, file: &str, place: &str, text: &str) -> Result<(), Failure> {
    let name = text.trim().strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("}}"));
    let name = name.ok_or_else(|| format!("{place}: Rust that is not included from an example"))?;
    let chapter = Path::new(file).parent().unwrap_or(Path::new(""));
    let path = plain(&chapter.join(name.split(':').next().unwrap_or(name)));
    if !path.starts_with("crates/carom/examples") || !root.join(&path).is_file() {
        return Err(format!("{place}: {} is no example of the library", path.display()));
    }
    Ok(())
}

/// A fenced block.
struct Block<'a> {
    /// The line of its beginning, counted from 1.
    line: usize,
    /// What its first line says.
    language: &'a str,
    text: String,
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(language), None) => {
                open = Some(Block { line: number + 1, language: language.trim(), text: String::new() });
            }
            (Some(_), Some(block)) => blocks.push(block),
            (None, Some(mut block)) => {
                block.text += line;
                block.text.push('\n');
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    blocks
}

/// mdBook: the one installed, or one that is installed into `target/tools` now.
fn mdbook(root: &Path) -> Result<PathBuf, Failure> {
    let tools = target(root).join("tools");
    let own = tools.join("bin").join(format!("mdbook{}", env::consts::EXE_SUFFIX));
    for program in [PathBuf::from("mdbook"), own.clone()] {
        let output = Command::new(&program).arg("--version").output();
        if output.is_ok_and(|output| output.stdout.starts_with(b"mdbook v0.5.")) {
            return Ok(program);
        }
    }
    let mut install = cargo_command(root);
    install.args(["install", "mdbook", "--version", VERSION, "--locked", "--no-default-features"]);
    // Unoptimised it is built in half the time, and the book is small; the features left out watch files and serve pages.
    step(install.args(["--debug", "--features", "search", "--root"]).arg(&tools))?;
    Ok(own)
}

/// Compares the pictures that the commands drew with those that are kept. With `CAROM_BLESS` they are kept instead.
fn check_figures(drawn: &Path, kept: &Path) -> Result<(), Failure> {
    let (new, old) = (pictures(drawn)?, pictures(kept)?);
    let mut changed: Vec<&String> =
        new.iter().filter(|&(name, svg)| old.get(name) != Some(svg)).map(|p| p.0).collect();
    changed.extend(old.keys().filter(|name| !new.contains_key(*name)));
    if changed.is_empty() {
        println!("{}: {} pictures, as the commands draw them", kept.display(), new.len());
        return Ok(());
    }
    changed.sort();
    if env::var_os("CAROM_BLESS").is_none() {
        let names = changed.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
        return Err(format!(
            "{}: not as the commands draw them: {names}\nCAROM_BLESS=1 cargo xtask examples keeps the new ones",
            kept.display()
        ));
    }
    for name in changed {
        let path = kept.join(name);
        let done = match new.get(name) {
            Some(svg) => fs::write(&path, svg),
            None => fs::remove_file(&path),
        };
        done.map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// The pictures in a folder by their names.
fn pictures(folder: &Path) -> Result<HashMap<String, String>, Failure> {
    let mut pictures = HashMap::new();
    for path in entries(folder)? {
        if let (Some("svg"), Some(name)) =
            (path.extension().and_then(|end| end.to_str()), path.file_name().and_then(|name| name.to_str()))
        {
            pictures.insert(name.to_string(), read(&path)?);
        }
    }
    Ok(pictures)
}

/// Checks that every link and picture of the pages leads to a file of theirs and to a place in it; returns how many do.
fn check_links(html: &Path) -> Result<usize, Failure> {
    let mut pages = HashMap::new();
    let mut folders = vec![html.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for path in entries(&folder)? {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "html") {
                pages.insert(path.clone(), read(&path)?);
            }
        }
    }
    let ids: HashMap<&PathBuf, HashSet<&str>> =
        pages.iter().map(|(path, text)| (path, values(text, "id").collect())).collect();
    let mut broken = Vec::new();
    let mut count = 0;
    for (page, text) in &pages {
        // A page of what was not found says itself where its links start from.
        if page.file_name().is_some_and(|name| name == "404.html") {
            continue;
        }
        for link in values(text, "href").chain(values(text, "src")) {
            if link.contains(':') || link.is_empty() {
                continue;
            }
            count += 1;
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            let parent = page.parent().unwrap_or(html);
            let path = if file.is_empty() { page.clone() } else { plain(&parent.join(file)) };
            let there =
                path.is_file() && (place.is_empty() || ids.get(&path).is_some_and(|ids| ids.contains(place)));
            if !there {
                let page = page.strip_prefix(html).unwrap_or(page);
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    if broken.is_empty() {
        return Ok(count);
    }
    broken.sort();
    Err(format!("links that lead nowhere:\n  {}", broken.join("\n  ")))
}

/// The values of an attribute, in double quotes as mdBook writes them.
fn values<'a>(html: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let start = format!(" {name}=\"");
    html.match_indices(&start)
        .map(|(at, found)| at + found.len())
        .collect::<Vec<_>>()
        .into_iter()
        .filter_map(|at| html[at..].split_once('"').map(|(value, _)| value))
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

fn folder(root: &Path) -> PathBuf {
    target(root).join("book")
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::read_dir(folder)
        .map_err(failed)?
        .map(|entry| entry.map(|entry| entry.path()).map_err(failed))
        .collect()
}

pub fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    fs::create_dir_all(to).map_err(|error| format!("{}: {error}", to.display()))?;
    for path in entries(from)? {
        let Some(name) = path.file_name() else { continue };
        if path.is_dir() {
            copy(&path, &to.join(name))?;
        } else {
            fs::copy(&path, to.join(name)).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_know_their_language_and_line() {
        let text = "a\n```toml,file=a.toml\nx = 1\n```\nb\n```\n```\n";
        let blocks = blocks(text);
        assert_eq!(blocks.len(), 2);
        assert_eq!((blocks[0].line, blocks[0].language), (2, "toml,file=a.toml"));
        assert_eq!(blocks[0].text, "x = 1\n");
        assert_eq!(blocks[1].text, "");
    }

    #[test]
    fn broken_links_are_found() {
        let html = env::temp_dir().join(format!("carom-book-links-{}", std::process::id()));
        fs::create_dir_all(html.join("theory")).unwrap();
        fs::write(html.join("a.html"), r#"<h1 id="top">a</h1><a class="x" href="theory/b.html#two">b</a>"#)
            .unwrap();
        let second = |place: &str| {
            format!(r#"<p id="two"><a href="../a.html#{place}">a</a> <a href="https://x.org">x</a>"#)
        };
        fs::write(html.join("theory/b.html"), second("top")).unwrap();
        assert_eq!(check_links(&html), Ok(2));
        fs::write(html.join("theory/b.html"), second("bottom")).unwrap();
        assert!(check_links(&html).unwrap_err().contains("b.html: ../a.html#bottom"));
        fs::remove_file(html.join("theory/b.html")).unwrap();
        assert!(check_links(&html).unwrap_err().contains("a.html: theory/b.html#two"));
        fs::remove_dir_all(&html).unwrap();
    }

    #[test]
    fn pictures_that_are_not_as_drawn_are_named() {
        let folder = env::temp_dir().join(format!("carom-book-figures-{}", std::process::id()));
        let [drawn, kept] = ["drawn", "kept"].map(|name| folder.join(name));
        for (place, name, svg) in [
            (&drawn, "same.svg", "1"),
            (&kept, "same.svg", "1"),
            (&drawn, "other.svg", "2"),
            (&kept, "other.svg", "3"),
            (&drawn, "new.svg", "4"),
            (&kept, "gone.svg", "5"),
        ] {
            fs::create_dir_all(place).unwrap();
            fs::write(place.join(name), svg).unwrap();
        }
        let failure = check_figures(&drawn, &kept).unwrap_err();
        assert!(failure.contains(": gone.svg, new.svg, other.svg\n"), "{failure}");
        assert_eq!(check_figures(&drawn, &drawn), Ok(()));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn examples_that_are_shown_are_found() {
        let text =
            "cargo run -p carom --example no\n$ cargo run -p carom --example sleigh\n$ carom run a.toml\n";
        assert_eq!(shown_examples(text).collect::<Vec<_>>(), ["sleigh"]);
    }

    #[test]
    fn paths_lose_their_dots() {
        assert_eq!(plain(Path::new("book/src/../../crates/./a.rs")), Path::new("crates/a.rs"));
    }
}
