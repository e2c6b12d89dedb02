//! `carom sweep SCENE -o DIR`: many runs of a scene, with numbers that vary.

use std::path::PathBuf;
use std::time::Instant;

use carom::scene::model::Collect;
use carom_answers::options::THREADS;
use carom_answers::run::cores;
use carom_answers::sweep::{Call, Folder, Request, SAMPLES, Shard, Summary, Sweep, merge, parse_vary};
use carom_answers::{InputError, Verdict};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::Value;

use super::input::read;
use super::many::Samples;
use super::output::{print, print_json};
use super::run::progress;
use crate::Failure;
use crate::report::{self, Style};

/// The command's arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The scene, TOML or JSON; `-` reads standard input
    #[arg(required_unless_present = "merge")]
    scene: Option<PathBuf>,

    /// The folder for the table samples.parquet; a sweep that was ended in the midst goes on there
    #[arg(short = 'o', long = "out", value_name = "DIR")]
    out: PathBuf,

    /// What varies, besides or instead of what the scene's [[sweep.vary]] says
    #[arg(long, value_name = "PATH=HOW", value_parser = parse_vary)]
    vary: Vec<Value>,

    /// How many samples, instead of the scene's `sweep.samples`
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = |text: &str| SAMPLES.parse::<u64>(text))]
    samples: Option<u64>,

    /// The seed, instead of the scene's `sweep.seed`
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// What else to record of each sample, besides what the scene says
    #[arg(long, value_name = "NAME", value_parser = collect_parser(), value_delimiter = ',')]
    collect: Vec<Collect>,

    /// Run only part i of n, for array jobs; i counts from 1
    #[arg(long, value_name = "i/n", value_parser = Shard::parse)]
    shard: Option<Shard>,

    /// Make one table of those of all shards in the folder
    #[arg(long, conflicts_with_all = ["shard", "vary", "samples", "seed", "collect", "force", "threads"])]
    merge: bool,

    /// Begin anew, over what is in the folder
    #[arg(long)]
    force: bool,

    /// How many samples run at once; by default as many as there are cores. No result depends on it
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = |text: &str| THREADS.parse::<usize>(text))]
    threads: Option<usize>,

    /// Print one JSON document and nothing else
    #[arg(long)]
    pub json: bool,
}

const AFTER_HELP: &str = "\
HOW is uniform(from, to), normal(mean, sd), values(x, y, …), grid(from, to, count), direction(length), orientation, or \
expression(…) of numbers varied before. PATH is a number of the scene, as body.ball.velocity[0]; a word without a dot is a \
name for expressions. Without --samples there is one sample for each point of the grid. \
Sample i depends on the seed and on i alone. Killed or interrupted (Ctrl-C), the same command goes on, and the table has \
the same bytes in the end. A sample that cannot be run is a row that says why.

Examples:
  carom sweep ball.toml -o sweep --vary \"surface.restitution=grid(0, 1, 101)\"
  carom sweep coin.toml -o sweep --vary \"body.coin.velocity[0]=uniform(10, 40)\" --samples 10000
  carom sweep coin.toml -o sweep --shard $SLURM_ARRAY_TASK_ID/64
  carom sweep -o sweep --merge";

fn collect_parser() -> impl TypedValueParser<Value = Collect> {
    PossibleValuesParser::new(Collect::ALL.map(Collect::name)).map(|name| {
        Collect::ALL.into_iter().find(|collect| collect.name() == name).unwrap_or(Collect::FirstEvent)
    })
}

/// Reads, runs every sample, writes the table.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    if arguments.merge {
        return join(arguments);
    }
    let Some(scene) = &arguments.scene else {
        return Err(InputError::of_option(None, "no scene", Some("a scene")).into());
    };
    let vary = if arguments.vary.is_empty() {
        String::new()
    } else {
        Value::Array(arguments.vary.clone()).to_string()
    };
    let Arguments { samples, seed, ref collect, .. } = *arguments;
    let sweep = Sweep::new(Request { input: read(scene)?, vary, samples, seed, collect: collect.clone() })?;
    let shard = arguments.shard.unwrap_or(Shard::WHOLE);
    let threads = arguments.threads.unwrap_or_else(cores);
    progress::watch();
    let start = Instant::now();
    let mut folder = Folder::open(&arguments.out, &sweep, shard, arguments.force)?;
    let mut run = 0;
    if !folder.is_finished() {
        let (range, left) = (folder.range(), folder.left());
        let before = left.start - range.start;
        let mut bar = Samples::new(range.end - range.start, before);
        let result = sweep.in_order(left, threads, &|| !progress::interrupted(), |row| {
            run += 1;
            bar.show(before + run);
            folder.take(row)
        });
        bar.end();
        if result? {
            folder.finish()?;
        } else {
            folder.flush()?;
        }
    }
    let table = folder.table();
    let finished = folder.is_finished();
    let summary = if finished { Some(Summary::read(&table)?) } else { None };
    let range = folder.range();
    let done = if finished { range.end } else { folder.left().start } - range.start;
    let call = Call {
        shard,
        done,
        run,
        table: finished.then_some(table.as_path()),
        summary: summary.as_ref(),
        wall_s: start.elapsed().as_secs_f64(),
        threads,
    };
    if arguments.json {
        print_json(&sweep.document(&call))?;
    } else {
        print(|out| report::sweep::write(out, &sweep, &call, Style::of_stdout(false)))?;
    }
    Ok(Verdict::Done)
}

/// Makes one table of those of all shards.
fn join(arguments: &Arguments) -> Result<Verdict, Failure> {
    let (count, table) = merge(&arguments.out)?;
    let summary = Summary::read(&table)?;
    if arguments.json {
        let document = serde_json::json!({
            "merged": count,
            "table": table.display().to_string(),
            "summary": summary,
        });
        print_json(&document)?;
    } else {
        print(|out| {
            writeln!(out, "{}: {} samples of {count} shards", table.display(), summary.rows)?;
            report::sweep::write_summary(out, &summary, Style::of_stdout(false))
        })?;
    }
    Ok(Verdict::Done)
}
