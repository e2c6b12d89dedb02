//! `carom new TEMPLATE`: a file to begin with.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use carom_answers::{InputError, Verdict};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::Serialize;

use super::output::{print, print_json};
use crate::Failure;

/// The command's arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// What to begin with; without it, the templates are listed
    #[arg(value_parser = template_parser())]
    template: Option<&'static Template>,

    /// The file to write; `-` is standard output [default: TEMPLATE.toml here]
    #[arg(short = 'o', long = "out", value_name = "FILE", requires = "template")]
    out: Option<PathBuf>,

    /// Write over a file that is there
    #[arg(long, requires = "template")]
    force: bool,

    /// Print one JSON document and nothing else
    #[arg(long)]
    pub json: bool,
}

const AFTER_HELP: &str = "\
Examples:
  carom new
  carom new ball
  carom new gas -o dense.toml
  carom new ball -o - | carom run -";

/// A file to begin with.
#[derive(Debug, Serialize)]
struct Template {
    name: &'static str,
    /// What it is about.
    about: &'static str,
    text: &'static str,
}

const TEMPLATES: [Template; 7] = [
    Template {
        name: "ball",
        about: "a ball bouncing on a floor: run, toi",
        text: include_str!("../../templates/ball.toml"),
    },
    Template {
        name: "impact",
        about: "two bodies that touch now: solve, compare, classify",
        text: include_str!("../../templates/impact.toml"),
    },
    Template {
        name: "pair",
        about: "two spinning bodies in free flight: toi, gap, run",
        text: include_str!("../../templates/pair.toml"),
    },
    Template {
        name: "gas",
        about: "many bodies in a periodic box, with averages: run",
        text: include_str!("../../templates/gas.toml"),
    },
    Template {
        name: "linkage",
        about: "a double pendulum that strikes a wall: run",
        text: include_str!("../../templates/linkage.toml"),
    },
    Template {
        name: "sliding",
        about: "friction: a ball that slides until it rolls: run",
        text: include_str!("../../templates/sliding.toml"),
    },
    Template {
        name: "matrices",
        about: "an impact problem without bodies: generalized",
        text: include_str!("../../templates/matrices.toml"),
    },
];

fn template_parser() -> impl TypedValueParser<Value = &'static Template> {
    let values = TEMPLATES.iter().map(|template| PossibleValue::new(template.name).help(template.about));
    PossibleValuesParser::new(values)
        .map(|name| TEMPLATES.iter().find(|template| template.name == name).unwrap_or(&TEMPLATES[0]))
}

/// What was written.
#[derive(Debug, Serialize)]
struct Written<'a> {
    template: &'static str,
    file: &'a str,
}

/// The templates there are.
#[derive(Debug, Serialize)]
struct List {
    templates: &'static [Template],
}

/// Writes a template, or lists them.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let Some(template) = arguments.template else {
        if arguments.json {
            print_json(&List { templates: &TEMPLATES })?;
        } else {
            print(list)?;
        }
        return Ok(Verdict::Done);
    };
    let path = arguments.out.clone().unwrap_or_else(|| format!("{}.toml", template.name).into());
    if path == Path::new("-") {
        print(|out| out.write_all(template.text.as_bytes()))?;
        return Ok(Verdict::Done);
    }
    write(&path, template.text, arguments.force)?;
    let file = path.display().to_string();
    if arguments.json {
        print_json(&Written { template: template.name, file: &file })?;
    } else {
        print(|out| {
            writeln!(out, "{file}: {}", template.about)?;
            uses(template).try_for_each(|line| {
                writeln!(out, "  {}", line.replace(&format!("{}.toml", template.name), &file))
            })
        })?;
    }
    Ok(Verdict::Done)
}

/// The commands at the head of a template.
fn uses(template: &Template) -> impl Iterator<Item = &'static str> {
    template.text.lines().filter_map(|line| line.strip_prefix("#   "))
}

fn list(out: &mut dyn Write) -> io::Result<()> {
    TEMPLATES.iter().try_for_each(|template| writeln!(out, "{:>10}  {}", template.name, template.about))?;
    writeln!(out, "\ncarom new NAME writes one to NAME.toml")
}

/// Writes a file, over another only with `force`.
fn write(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    let mut options = OpenOptions::new();
    options.write(true);
    let options = if force { options.create(true).truncate(true) } else { options.create_new(true) };
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| {
        let there = error.kind() == io::ErrorKind::AlreadyExists;
        let what = if there { "is there already".to_string() } else { format!("cannot be written: {error}") };
        let expected = there.then_some("another file with -o, or --force to write over it");
        InputError::of_option(Some("out"), &format!("`{}` {what}", path.display()), expected).into()
    })
}

#[cfg(test)]
mod tests {
    use super::{TEMPLATES, uses};
    use carom::scene::{Format, file, generalized};

    #[test]
    fn templates_are_without_fault() {
        for template in &TEMPLATES {
            if template.name == "matrices" {
                assert!(generalized::read(template.text, Format::Toml).is_ok());
            } else {
                let scene = file::read(template.text, Format::Toml);
                assert!(scene.as_ref().is_ok_and(|scene| scene.warnings.is_empty()), "{scene:?}");
            }
            assert!(uses(template).count() > 0, "{}", template.name);
            assert!(template.text.lines().all(|line| line.chars().count() <= 120), "{}", template.name);
        }
    }
}
