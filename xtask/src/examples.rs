//! The examples printed in README.md and in the book: every command of their fenced blocks runs and exits as it should,
//! and where a block shows what it prints, it prints that.
//!
//! A command stands on a line of its own. In a `console` block it follows a `$ `, and the lines after it, up to the
//! next command or the end of the block, are its output, errors last. `…` in an output stands for any text: what is left
//! out, or differs from machine to machine. A command exits with 0, unless `$ echo $?` after it shows another code.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::{Failure, announce, book, cargo, compare, target};

/// What stands for any text in an output.
const ANYTHING: &str = "…";

/// A text with examples.
pub struct Page<'a> {
    /// The file, from the root of the workspace.
    pub file: &'a str,
    /// What a command of the program begins with there.
    pub prefix: &'a str,
    /// Where its commands run.
    pub folder: &'a Path,
}

/// A command of a page, and the output shown for it.
struct Example {
    /// Its line, counted from 1.
    line: usize,
    arguments: Vec<String>,
    /// The range of lines that show the output, where the block shows any.
    shown: Option<std::ops::Range<usize>>,
    code: i32,
}

/// Checks the examples of README.md, then those of the book, then its comparison with other engines.
pub fn run(root: &Path) -> Result<(), Failure> {
    let program = program(root)?;
    let readme = Page { file: "README.md", prefix: "cargo run --release -- ", folder: root };
    if check(root, &program, &readme)? == 0 {
        return Err(format!("{} has no example that starts with `{}`", readme.file, readme.prefix));
    }
    book::check(root, &program)?;
    compare::check(root, &program)
}

/// The program: the one that `CAROM` names, or this workspace's, built now as for the tests. It prints what a release prints.
pub fn program(root: &Path) -> Result<PathBuf, Failure> {
    // With `--tests` dependencies have the features that the tests need, and after `cargo test` there is nothing left to build.
    build(root, "debug", &["build", "--workspace", "--bins", "--tests"])
}

/// The program as it is shipped, for what is timed.
pub fn dist(root: &Path) -> Result<PathBuf, Failure> {
    build(root, "dist", &["build", "--profile", "dist"])
}

fn build(root: &Path, folder: &str, arguments: &[&str]) -> Result<PathBuf, Failure> {
    if let Some(program) = env::var_os("CAROM") {
        return Ok(program.into());
    }
    cargo(root, arguments)?;
    Ok(target(root).join(folder).join(format!("carom{}", env::consts::EXE_SUFFIX)))
}

/// Runs a page's examples and compares; returns how many there are. With `CAROM_BLESS` outputs are rewritten instead.
pub fn check(root: &Path, program: &Path, page: &Page) -> Result<usize, Failure> {
    let path = root.join(page.file);
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", page.file))?;
    let lines: Vec<&str> = text.lines().collect();
    let examples = find(&lines, page)?;
    let bless = env::var_os("CAROM_BLESS").is_some();
    let mut outputs = Vec::new();
    // In their order, since one may write what the next reads.
    for example in &examples {
        let printed = example.print(program, page)?;
        let Some(shown) = &example.shown else { continue };
        let printed: Vec<&str> = printed.trim_end().lines().collect();
        let Some(difference) = difference(&lines[shown.clone()], &printed) else { continue };
        if bless && !lines[shown.clone()].iter().any(|line| line.contains(ANYTHING)) {
            outputs.push((shown.clone(), printed.iter().map(ToString::to_string).collect::<Vec<_>>()));
            continue;
        }
        let line = shown.start + difference.line + 1;
        return Err(format!(
            "{}:{line} shows\n  {}\nwhere the program prints\n  {}\nCAROM_BLESS=1 cargo xtask examples rewrites the outputs, except those with {ANYTHING}",
            page.file, difference.shown, difference.printed
        ));
    }
    if !outputs.is_empty() {
        let mut blessed: Vec<String> = lines.iter().map(ToString::to_string).collect();
        // From the last to the first, so that the line numbers of those to come stay right.
        for (shown, printed) in outputs.into_iter().rev() {
            blessed.splice(shown, printed);
        }
        fs::write(&path, blessed.join("\n") + "\n").map_err(|error| format!("{}: {error}", page.file))?;
    }
    Ok(examples.len())
}

impl Example {
    /// Runs the command; returns what it prints.
    fn print(&self, program: &Path, page: &Page) -> Result<String, Failure> {
        let mut command = Command::new(program);
        command.current_dir(page.folder).args(&self.arguments).env_remove("COLUMNS");
        let words = announce(&command);
        let start = Instant::now();
        let output = command.output().map_err(|error| format!("{words}: {error}"))?;
        let errors = String::from_utf8_lossy(&output.stderr);
        if output.status.code() != Some(self.code) {
            let place = format!("{}:{}", page.file, self.line);
            return Err(format!("{place}: {words}: {} instead of {}\n{errors}", output.status, self.code));
        }
        println!("   took {:.1?}", start.elapsed());
        let printed = String::from_utf8(output.stdout).map_err(|error| format!("{words}: {error}"))?;
        Ok(printed + &errors)
    }
}

fn find(lines: &[&str], page: &Page) -> Result<Vec<Example>, Failure> {
    let mut examples: Vec<Example> = Vec::new();
    // The language of the block we are in.
    let mut block: Option<&str> = None;
    let mut showing = false;
    let mut code_next = false;
    for (number, line) in lines.iter().enumerate() {
        if let Some(language) = line.strip_prefix("```") {
            block = if block.is_some() { None } else { Some(language.trim()) };
            showing = false;
            code_next = false;
            continue;
        }
        let Some(language) = block.filter(|language| matches!(*language, "console" | "sh" | "")) else {
            continue;
        };
        let wrong = |what: &str| format!("{}:{}: {what}", page.file, number + 1);
        let console = language == "console";
        let command = if console { line.strip_prefix("$ ") } else { Some(*line) };
        if let Some(command) = command {
            showing = false;
            code_next = console && command.trim() == "echo $?" && !examples.is_empty();
            if let Some(arguments) = command.trim().strip_prefix(page.prefix) {
                let arguments =
                    words(arguments).ok_or_else(|| wrong("an example must be plain words, for any shell"))?;
                showing = console;
                let shown = console.then_some(number + 1..number + 1);
                examples.push(Example { line: number + 1, arguments, shown, code: 0 });
            }
        } else if let Some(example) = examples.last_mut() {
            if code_next {
                example.code = line.trim().parse().map_err(|_| wrong("an exit code is a number"))?;
                code_next = false;
            } else if showing && let Some(shown) = example.shown.as_mut() {
                shown.end = number + 1;
            }
        }
    }
    for example in &mut examples {
        // A blank line before the next command belongs to neither.
        if let Some(shown) = &mut example.shown {
            while shown.end > shown.start && lines[shown.end - 1].is_empty() {
                shown.end -= 1;
            }
        }
    }
    Ok(examples)
}

/// The words of a command without its comment, those in double quotes taken whole; nothing when it takes a shell to
/// read it.
fn words(command: &str) -> Option<Vec<String>> {
    let command = command.split(" #").next().unwrap_or_default();
    let mut words = Vec::new();
    // What stands between an odd quote and the next is quoted.
    for (number, part) in command.split('"').enumerate() {
        if number % 2 == 1 {
            words.push(part.to_string());
        } else if part.contains(['|', '<', '>', '\'', '\\', '$', ';', '&', '*', '`']) {
            return None;
        } else {
            words.extend(part.split_whitespace().map(str::to_string));
        }
    }
    command.matches('"').count().is_multiple_of(2).then_some(words)
}

/// The first line in which two texts differ.
struct Difference {
    line: usize,
    shown: String,
    printed: String,
}

/// Where the text shown, in which [`ANYTHING`] stands for any text, does not describe what is printed.
fn difference(shown: &[&str], printed: &[&str]) -> Option<Difference> {
    if shown.iter().any(|line| line.contains(ANYTHING)) {
        return missing(&shown.join("\n"), &printed.join("\n"));
    }
    let line = (0..shown.len().max(printed.len())).find(|&i| shown.get(i) != printed.get(i))?;
    let or_nothing = |text: Option<&&str>| text.copied().unwrap_or("(nothing more)").to_string();
    Some(Difference { line, shown: or_nothing(shown.get(line)), printed: or_nothing(printed.get(line)) })
}

/// The first of the parts between [`ANYTHING`] that is not printed after those before it: the first part begins what is
/// printed, the last ends it.
fn missing(shown: &str, printed: &str) -> Option<Difference> {
    let parts: Vec<&str> = shown.split(ANYTHING).collect();
    let mut rest = printed;
    let mut line = 0;
    for (number, part) in parts.iter().enumerate() {
        let found = if number == 0 {
            rest.strip_prefix(part)
        } else if number + 1 == parts.len() {
            rest.strip_suffix(part)
        } else {
            rest.split_once(part).map(|(_, after)| after)
        };
        let Some(after) = found else {
            let first = |text: &str| text.trim_start().lines().next().unwrap_or("(nothing)").to_string();
            return Some(Difference { line, shown: first(part), printed: first(rest) });
        };
        rest = after;
        line += part.matches('\n').count();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_their_outputs_are_found() {
        let text = "\
carom outside of any block
```sh
carom one a.toml   # with a comment
cargo xtask test
```
```toml
carom = 1
```
```console
$ carom two \"b c.toml\"
first

last

$ cargo xtask lint
of another program
$ carom three
wrong
$ echo $?
2
```";
        let lines: Vec<&str> = text.lines().collect();
        let examples = find(&lines, &page()).unwrap();
        let arguments: Vec<String> = examples.iter().map(|example| example.arguments.join("+")).collect();
        assert_eq!(arguments, ["one+a.toml", "two+b c.toml", "three"]);
        assert_eq!(examples[0].shown, None);
        assert_eq!(lines[examples[1].shown.clone().unwrap()], ["first", "", "last"]);
        assert_eq!(lines[examples[2].shown.clone().unwrap()], ["wrong"]);
        assert_eq!(examples.iter().map(|example| example.code).collect::<Vec<_>>(), [0, 0, 2]);
        assert!(find(&["```", "carom a | b"], &page()).is_err());
        assert!(find(&["```", "carom \"a"], &page()).is_err());
    }

    fn page() -> Page<'static> {
        Page { file: "a page", prefix: "carom ", folder: Path::new(".") }
    }

    #[test]
    fn the_first_difference_is_told() {
        assert!(difference(&["a", "b"], &["a", "b"]).is_none());
        assert_eq!(difference(&["a", "c"], &["a", "b"]).unwrap().line, 1);
        assert_eq!(difference(&["a"], &["a", "b"]).unwrap().shown, "(nothing more)");
    }

    #[test]
    fn an_ellipsis_stands_for_any_text() {
        let printed = ["a 1", "b 2", "c 3"];
        assert!(difference(&["a …", "c 3"], &printed).is_none());
        assert!(difference(&["a 1", "…"], &printed).is_none());
        assert!(difference(&["…2", "…"], &printed).is_none());
        assert_eq!(difference(&["a 1", "…", "c 4"], &printed).unwrap().shown, "c 4");
        assert_eq!(difference(&["a 2", "…"], &printed).unwrap().line, 0);
        assert!(difference(&["a …", "b 2"], &printed).is_some());
    }
}
