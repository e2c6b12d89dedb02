//! `carom paper [NAME]`: the published examples reproduced, what is printed beside what is computed.

use std::path::PathBuf;

use carom_answers::Verdict;
use carom_answers::paper::{PAPERS, Paper, catalogue};
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::figures;
use super::output::{print, print_json};
use crate::Failure;
use crate::report::{self, Style};

/// The command's arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The paper; without it, the papers are listed
    #[arg(value_parser = paper_parser())]
    name: Option<&'static Paper>,

    /// Draw the paper's own figures into this folder instead
    #[arg(long, value_name = "DIR", requires = "name")]
    figures: Option<PathBuf>,

    /// The file format of the figures
    #[arg(long, value_name = "KIND", default_value = "svg", value_parser = ["svg", "png"], requires = "figures")]
    format: String,

    /// Print one JSON document and nothing else
    #[arg(long)]
    pub json: bool,

    /// Show every column of every table, however narrow the terminal
    #[arg(long)]
    wide: bool,
}

const AFTER_HELP: &str = "\
Each row sets a formula or value that the paper prints beside what this program computes from the scene named above it:
  agrees    the two are the same
  misprint  a slip; the erratum says what is meant
  wrong     what is printed does not hold; the erratum says what does
  narrow    what is printed holds as the paper scopes it, and more is true, which the note says
  beyond    not in the paper; in brackets what this project's own theory gives

Examples:
  carom paper
  carom paper stanescu-pandrea
  carom paper dragna-pandrea-stanescu --json
  carom paper palffy-muhoray --figures figures
  carom compare cases/papers/sp_two_planes.toml";

fn paper_parser() -> impl TypedValueParser<Value = &'static Paper> {
    PossibleValuesParser::new(PAPERS.iter().map(|paper| paper.name))
        .map(|name| PAPERS.iter().find(|paper| paper.name == name).unwrap_or(&PAPERS[0]))
}

/// Lists the papers, or reproduces one.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let style = Style::of_stdout(arguments.wide);
    if let (Some(paper), Some(folder)) = (arguments.name, &arguments.figures) {
        let files = figures::draw(paper, folder, &arguments.format)?;
        let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        if arguments.json {
            print_json(&serde_json::json!({ "figures": files }))?;
        } else {
            print(|out| {
                files.iter().try_for_each(|file| writeln!(out, "{file}"))?;
                if files.is_empty() { writeln!(out, "the paper has no figures") } else { Ok(()) }
            })?;
        }
        return Ok(Verdict::Done);
    }
    match arguments.name {
        Some(paper) => {
            let reproduction = paper.reproduce()?;
            if arguments.json {
                print_json(&reproduction)?;
            } else {
                print(|out| report::paper::write(out, &reproduction, style))?;
            }
        }
        None => {
            let catalogue = catalogue()?;
            if arguments.json {
                print_json(&catalogue)?;
            } else {
                print(|out| report::paper::write_list(out, &catalogue, style))?;
            }
        }
    }
    Ok(Verdict::Done)
}
