//! What the command line of `carom run` says.

use std::path::PathBuf;

use carom::impact::Law;
use carom::scene::model::OnParadox;
use carom_answers::folder::trajectory::Format;
use carom_answers::options::{AT_LEAST_ONE, NOT_NEGATIVE, REPLICAS, THREADS};
use carom_answers::run::{Changes, Loop, cores};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::super::law::law_parser;

/// The command's arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The scene, TOML or JSON; `-` reads standard input
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    pub scene: Option<PathBuf>,

    /// Write events and samples to Parquet files in this folder, and the rest to run.json there
    #[arg(short = 'o', long = "out", value_name = "DIR", conflicts_with = "resume")]
    pub out: Option<PathBuf>,

    /// Write over an older run in the folder
    #[arg(long, requires = "out")]
    pub force: bool,

    /// Continue the interrupted run in this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["until", "max_events", "sample", "law", "on_paradox", "strict"])]
    pub resume: Option<PathBuf>,

    /// The time to stop at, instead of the scene's `run.until`
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = |text: &str| NOT_NEGATIVE.parse(text))]
    until: Option<f64>,

    /// The number of events to stop at, instead of the scene's `run.max_events`
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = |text: &str| AT_LEAST_ONE.parse::<usize>(text))]
    max_events: Option<usize>,

    /// The interval between samples, instead of the scene's `run.sample`; 0: events only
    #[arg(long, value_name = "DT", allow_negative_numbers = true, value_parser = |text: &str| NOT_NEGATIVE.parse(text))]
    pub sample: Option<f64>,

    /// The impact law, instead of the scene's `impact.law`
    #[arg(long, value_name = "NAME", value_parser = law_parser())]
    law: Option<Law>,

    /// What happens at a paradox, instead of the scene's `run.on_paradox`
    #[arg(long, value_name = "NAME", value_parser = paradox_parser())]
    on_paradox: Option<OnParadox>,

    /// End the run, with exit code 3, at the first event that the audit finds wrong by more than 1e-9
    #[arg(long)]
    strict: bool,

    /// Replace velocities that the joints forbid by the nearest ones that they allow, instead of refusing them
    #[arg(long, conflicts_with = "resume")]
    project: bool,

    /// The loop that runs the scene; by default `edmd` for very many free bodies, otherwise `simulation`
    #[arg(long = "loop", value_name = "NAME", value_parser = loop_parser(), conflicts_with = "resume")]
    which: Option<Loop>,

    /// Also write the samples for other programs: trajectory.xyz (OVITO) or trajectory.gsd (HOOMD, OVITO)
    #[arg(long, value_name = "FORMAT", value_parser = trajectory_parser())]
    pub trajectory: Option<Format>,

    /// Run R independent copies side by side, with the seeds seed, seed + 1, … for their fills, and pool their averages
    #[arg(long, value_name = "R", allow_negative_numbers = true, value_parser = |text: &str| REPLICAS.parse::<u64>(text), conflicts_with_all = ["resume", "samples"])]
    pub replicas: Option<u64>,

    /// The number of threads for the run, or for its copies; by default all cores. No result depends on it
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = |text: &str| THREADS.parse::<usize>(text))]
    threads: Option<usize>,

    /// Print one JSON document and nothing else
    #[arg(long)]
    pub json: bool,

    /// Show every column of every table, however narrow the terminal
    #[arg(long)]
    pub wide: bool,

    /// Put the samples into the JSON document too
    #[arg(long, requires = "json", conflicts_with_all = ["out", "resume"])]
    pub samples: bool,

    /// The least time between two checkpoints, in seconds
    #[arg(long, value_name = "S", default_value_t = 2.0, allow_negative_numbers = true, value_parser = |text: &str| NOT_NEGATIVE.parse(text))]
    pub checkpoint: f64,
}

const AFTER_HELP: &str = "\
Ctrl-C ends a run cleanly at the next event, or within one that takes long: what happened so far is reported, with `stopped` = interrupted \
and exit code 0. A run with -o that was interrupted or killed goes on with --resume, to the same result bit for bit.

Scenes with a [[fill]] are placed first: on a lattice, or grown at random to their density. In a periodic box the result has averages with \
error bars under `observables`: Z = PV/NkT, collision rate, temperatures, g(r), diffusion. The box must be longer than every body in it: a \
body does not touch its own images.

Examples:
  carom run cases/papers/paradox.toml --until 1
  carom run ball.toml --until 10 --json
  carom run ball.toml --law poisson
  carom run gas.toml -o gas --strict
  carom run --resume gas
  carom run cases/gallery/sphere_gas.toml -o gas --sample 0.1 --trajectory xyz
  carom run cases/gallery/ellipsoid_gas.toml --replicas 8 --json";

fn loop_parser() -> impl TypedValueParser<Value = Loop> {
    // `crowd` is what the many-body loop was called in version 0.1.
    let value =
        |which: Loop| PossibleValue::new(which.name()).aliases((which == Loop::Edmd).then_some("crowd"));
    PossibleValuesParser::new(Loop::ALL.map(value))
        .map(|name| Loop::ALL.into_iter().find(|which| which.name() == name).unwrap_or(Loop::Edmd))
}

fn trajectory_parser() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::name))
        .map(|name| Format::ALL.into_iter().find(|format| format.name() == name).unwrap_or(Format::Parquet))
}

fn paradox_parser() -> impl TypedValueParser<Value = OnParadox> {
    PossibleValuesParser::new(OnParadox::ALL.map(OnParadox::name)).map(|name| {
        OnParadox::ALL.into_iter().find(|choice| choice.name() == name).unwrap_or(OnParadox::Hold)
    })
}

impl Arguments {
    /// How many threads may work.
    pub fn threads(&self) -> usize {
        self.threads.unwrap_or_else(cores)
    }

    /// What this copy of the run changes in the scene.
    pub fn changes(&self, replica: u64) -> Changes {
        // Copies that run at the same time share the threads.
        let at_once = usize::try_from(self.replicas.unwrap_or(1)).unwrap_or(usize::MAX);
        Changes {
            until: self.until,
            max_events: self.max_events,
            sample: self.sample,
            on_paradox: self.on_paradox,
            law: self.law,
            which: self.which,
            threads: Some((self.threads() / at_once).max(1)),
            replica,
            project: self.project,
            strict: self.strict,
        }
    }
}
