//! The examples printed in README.md: every `cargo run --release -- …` of its fenced blocks runs and exits with 0,
//! and where a block shows what it prints, it prints that.
//!
//! A command stands on a line of its own. In a `console` block it follows a `$ `, and the lines after it, up to the
//! next command or the end of the block, are its output.

use std::fs;
use std::path::Path;
use std::time::Instant;

use super::{Failure, announce, cargo_command};

const FILE: &str = "README.md";
const PREFIX: &str = "cargo run --release -- ";

/// A command of the file, and the output shown for it.
struct Example {
    arguments: Vec<String>,
    /// The range of lines that show the output, where the block shows any.
    shown: Option<std::ops::Range<usize>>,
}

pub fn run(root: &Path) -> Result<(), Failure> {
    let path = root.join(FILE);
    let text = fs::read_to_string(&path).map_err(|error| format!("{FILE}: {error}"))?;
    let lines: Vec<&str> = text.lines().collect();
    let examples = find(&lines)?;
    if examples.is_empty() {
        return Err(format!("{FILE} has no example that starts with `{PREFIX}`"));
    }
    let bless = std::env::var_os("CAROM_BLESS").is_some();
    let mut blessed: Vec<String> = lines.iter().map(ToString::to_string).collect();
    // From the last to the first, so that the line numbers of those to come stay right.
    for example in examples.iter().rev() {
        let printed = example.print(root)?;
        let Some(shown) = &example.shown else { continue };
        let printed: Vec<String> = printed.trim_end().lines().map(str::to_string).collect();
        if bless {
            blessed.splice(shown.clone(), printed);
        } else if let Some(difference) = difference(&lines[shown.clone()], &printed) {
            let line = shown.start + difference.line + 1;
            return Err(format!(
                "{FILE}:{line} shows\n  {}\nwhere the program prints\n  {}\nCAROM_BLESS=1 cargo xtask examples writes the outputs anew",
                difference.shown, difference.printed
            ));
        }
    }
    if bless {
        fs::write(&path, blessed.join("\n") + "\n").map_err(|error| format!("{FILE}: {error}"))?;
    }
    Ok(())
}

impl Example {
    /// Runs the command; returns what it prints.
    fn print(&self, root: &Path) -> Result<String, Failure> {
        let mut command = cargo_command(root);
        // `--quiet` keeps the build's own lines out of an example's error output.
        command.args(["run", "--release", "--quiet", "--"]).args(&self.arguments);
        let words = announce(&command);
        let start = Instant::now();
        let output = command.output().map_err(|error| format!("{words}: {error}"))?;
        if !output.status.success() {
            return Err(format!("{words}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)));
        }
        println!("   took {:.1?}", start.elapsed());
        String::from_utf8(output.stdout).map_err(|error| format!("{words}: {error}"))
    }
}

fn find(lines: &[&str]) -> Result<Vec<Example>, Failure> {
    let mut examples: Vec<Example> = Vec::new();
    // The language of the block we are in.
    let mut block: Option<&str> = None;
    let mut showing = false;
    for (number, line) in lines.iter().enumerate() {
        if let Some(language) = line.strip_prefix("```") {
            block = if block.is_some() { None } else { Some(language.trim()) };
            showing = false;
            continue;
        }
        let Some(language) = block else { continue };
        let console = language == "console";
        let command = if console { line.strip_prefix("$ ") } else { Some(*line) };
        if let Some(command) = command {
            showing = false;
            if let Some(arguments) = command.trim().strip_prefix(PREFIX) {
                let arguments = words(arguments).ok_or_else(|| {
                    format!("{FILE}:{}: an example must be plain words, for any shell", number + 1)
                })?;
                showing = console;
                examples.push(Example { arguments, shown: console.then_some(number + 1..number + 1) });
            }
        } else if showing && let Some(shown) = examples.last_mut().and_then(|example| example.shown.as_mut())
        {
            shown.end = number + 1;
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

/// The words of a command without its comment; nothing when it takes a shell to read it.
fn words(command: &str) -> Option<Vec<String>> {
    let command = command.split(" #").next().unwrap_or_default();
    let plain = !command.contains(['|', '<', '>', '"', '\'', '\\', '$', ';', '&', '*', '`']);
    plain.then(|| command.split_whitespace().map(str::to_string).collect())
}

/// The first line in which two texts differ.
struct Difference {
    line: usize,
    shown: String,
    printed: String,
}

fn difference(shown: &[&str], printed: &[String]) -> Option<Difference> {
    let line = (0..shown.len().max(printed.len()))
        .find(|&i| shown.get(i).copied() != printed.get(i).map(String::as_str))?;
    let or_nothing = |text: Option<&str>| text.unwrap_or("(nothing more)").to_string();
    Some(Difference {
        line,
        shown: or_nothing(shown.get(line).copied()),
        printed: or_nothing(printed.get(line).map(String::as_str)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_their_outputs_are_found() {
        let text = "\
cargo run --release -- outside of any block
```sh
cargo run --release -- one a.toml   # with a comment
cargo xtask test
```
```console
$ cargo run --release -- two b.toml
first

last

$ cargo xtask lint
of another program
```";
        let lines: Vec<&str> = text.lines().collect();
        let examples = find(&lines).unwrap();
        let arguments: Vec<String> = examples.iter().map(|example| example.arguments.join(" ")).collect();
        assert_eq!(arguments, ["one a.toml", "two b.toml"]);
        assert_eq!(examples[0].shown, None);
        assert_eq!(lines[examples[1].shown.clone().unwrap()], ["first", "", "last"]);
        assert!(find(&["```", "cargo run --release -- a | b"]).is_err());
    }

    #[test]
    fn the_first_difference_is_told() {
        let printed = ["a".to_string(), "b".to_string()];
        assert!(difference(&["a", "b"], &printed).is_none());
        assert_eq!(difference(&["a", "c"], &printed).unwrap().line, 1);
        assert_eq!(difference(&["a"], &printed).unwrap().shown, "(nothing more)");
    }
}
