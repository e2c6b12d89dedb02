//! `carom paper [NAME]`: the published examples reproduced, what is printed beside what is computed.

use carom_answers::Verdict;
use carom_answers::paper::{PAPERS, Paper, catalogue};
use clap::builder::{PossibleValuesParser, TypedValueParser};

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

    /// Print one JSON document and nothing else
    #[arg(long)]
    pub json: bool,
}

const AFTER_HELP: &str = "\
Each row sets what the paper prints beside what this program computes from the scene named above it:
  agrees    the two are the same
  misprint  a slip of the pen; the erratum says what is meant
  wrong     what is printed does not hold; the erratum says what does
  beyond    nothing printed is on record; in brackets what this project's own theory gives

Examples:
  carom paper
  carom paper stanescu-pandrea
  carom paper dragna-pandrea-stanescu --json
  carom compare cases/papers/sp_two_planes.toml";

fn paper_parser() -> impl TypedValueParser<Value = &'static Paper> {
    PossibleValuesParser::new(PAPERS.iter().map(|paper| paper.name))
        .map(|name| PAPERS.iter().find(|paper| paper.name == name).unwrap_or(&PAPERS[0]))
}

/// Lists the papers, or reproduces one.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let style = Style::of_stdout();
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
