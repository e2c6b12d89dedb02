//! `carom scatter SCENE`: two bodies thrown at each other, many times.

use std::path::PathBuf;

use carom_answers::Verdict;
use carom_answers::options::THREADS;
use carom_answers::scatter::{Changes, Device, Prepared, SAMPLES};

use super::input::read_scene;
use super::many::Samples;
use super::output::{print, print_json};
use super::run::progress;
use crate::Failure;
use crate::report::{self, Style};

/// The command's arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The scene, TOML or JSON, with two bodies; `-` reads standard input
    scene: PathBuf,

    /// How many samples, instead of the scene's `scatter.samples`
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = |text: &str| SAMPLES.parse::<u64>(text))]
    samples: Option<u64>,

    /// The seed, instead of the scene's `scatter.seed`
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Write a row for every sample to this Parquet file
    #[arg(long, value_name = "FILE")]
    rows: Option<PathBuf>,

    /// Show this one sample in detail, with the matrix of each impact
    #[arg(long, value_name = "N", conflicts_with_all = ["samples", "rows", "threads"])]
    sample: Option<u64>,

    /// Print that sample as a scene, for `carom run` and `carom view`
    #[arg(long, requires = "sample", conflicts_with = "json")]
    scene_of_sample: bool,

    /// The number of threads; by default all cores. No result depends on it
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = |text: &str| THREADS.parse::<usize>(text))]
    threads: Option<usize>,

    /// Where the samples are followed: `gpu` is the first NVIDIA GPU, `auto` falls back on the CPU. No result depends on it
    #[arg(long, value_name = "DEVICE", default_value = "cpu", value_parser = Device::ALL.map(Device::name), hide_possible_values = true)]
    device: String,

    /// Print one JSON document and nothing else
    #[arg(long)]
    pub json: bool,
}

const AFTER_HELP: &str = "\
The beam is the scene's [scatter]: a relative speed or a temperature, spins of a given size or thermal. Orientations are \
uniform, and so is the impact parameter on the disc that holds every hit. Where the bodies are in the scene is not used. \
Errors are standard errors. Sample i depends on the seed and on i alone; `hash` is that of the bits of all samples. \
Ctrl-C ends the sampling and keeps what there is.

Examples:
  carom scatter cases/ensembles/rods.toml
  carom scatter cases/ensembles/rods.toml --samples 10000000 --json
  carom scatter cases/ensembles/rods.toml --samples 1000000000 --device gpu
  carom scatter cases/ensembles/rods.toml --rows encounters.parquet
  carom scatter cases/ensembles/rods.toml --sample 17 --scene-of-sample > encounter.toml";

/// Reads, scatters, prints.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let Arguments { samples, seed, threads, .. } = *arguments;
    let changes = Changes { samples, seed, threads, device: Device::named(&arguments.device)? };
    let prepared = Prepared::of(read_scene(&arguments.scene)?, changes)?;
    if let Some(sample) = arguments.sample {
        if arguments.scene_of_sample {
            print(|out| out.write_all(prepared.scene_of(sample).as_bytes()))?;
            return Ok(Verdict::Done);
        }
        let encounter = prepared.encounter(sample);
        if arguments.json {
            print_json(&encounter)?;
        } else {
            print(|out| report::scatter::write_encounter(out, &encounter, Style::of_stdout(false)))?;
        }
        return Ok(encounter.verdict());
    }
    progress::watch();
    let mut bar = Samples::new(prepared.scattering.settings().samples, 0);
    let go_on = |done: u64| {
        bar.show(done);
        !progress::interrupted()
    };
    let answer = match &arguments.rows {
        Some(path) => prepared.run_into(path, go_on),
        None => prepared.run(go_on),
    };
    bar.end();
    let answer = answer?;
    if arguments.json {
        print_json(&answer.document())?;
    } else {
        print(|out| report::scatter::write(out, &answer, Style::of_stdout(false)))?;
        if let Some(path) = &arguments.rows {
            print(|out| writeln!(out, "{}: {} rows", path.display(), answer.kernel.samples))?;
        }
    }
    Ok(answer.verdict())
}
