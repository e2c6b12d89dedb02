//! `carom run SCENE`: motion through impacts, event by event.

mod document;
mod folder;
mod progress;
mod settings;
mod strict;
mod table;
mod tape;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use carom::contact::Side;
use carom::flow::Obstacle;
use carom::scene::file::Source;
use carom::scene::instant::name;
use carom::scene::model::{OnParadox, Scene};
use carom::simulation::{Cause, Simulation, Stopped, Trouble, Unfit, World};
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::input::Input;
use crate::diagnostics::{Refusal, warn};
use crate::report::{self, Style};
use crate::{Failure, VERSION, Verdict};
use document::{Document, Parts};
use folder::{Folder, Standing};
use progress::Progress;
use settings::Settings;
use strict::Limits;
use tape::{Keep, Stream, Tape};

pub use document::smallest_gap;
pub use strict::{LIMIT, Violation};
pub use tape::{Hold, Story, TOLD};

/// The command's arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The scene, TOML or JSON; `-` reads standard input
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    scene: Option<PathBuf>,

    /// Write events and samples to Parquet files in this folder, and the rest to run.json there
    #[arg(short = 'o', long = "out", value_name = "DIR", conflicts_with = "resume")]
    out: Option<PathBuf>,

    /// Write over an older run in the folder
    #[arg(long, requires = "out")]
    force: bool,

    /// Go on with the run in this folder that was interrupted
    #[arg(long, value_name = "DIR", conflicts_with_all = ["until", "max_events", "sample", "on_paradox", "strict"])]
    resume: Option<PathBuf>,

    /// The time to stop at, instead of the scene's `run.until`
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = parse_not_negative)]
    until: Option<f64>,

    /// The number of events to stop at, instead of the scene's `run.max_events`
    #[arg(long, value_name = "N", value_parser = parse_events)]
    max_events: Option<usize>,

    /// The interval of samples, instead of the scene's `run.sample`; 0: events only
    #[arg(long, value_name = "DT", allow_negative_numbers = true, value_parser = parse_not_negative)]
    sample: Option<f64>,

    /// What happens at a paradox, instead of the scene's `run.on_paradox`
    #[arg(long, value_name = "NAME", value_parser = paradox_parser())]
    on_paradox: Option<OnParadox>,

    /// End the run, with exit code 1, at the first event that the audit finds wrong by more than 1e-9
    #[arg(long)]
    strict: bool,

    /// Print one JSON document and nothing else
    #[arg(long)]
    pub json: bool,

    /// Put the samples into the JSON document too
    #[arg(long, requires = "json", conflicts_with_all = ["out", "resume"])]
    samples: bool,

    /// The least time between two checkpoints, in seconds
    #[arg(long, value_name = "S", default_value_t = 2.0, allow_negative_numbers = true, value_parser = parse_not_negative)]
    checkpoint: f64,
}

const AFTER_HELP: &str = "\
Ctrl-C ends a run cleanly at the next event: what happened so far is reported, with `stopped` = interrupted and exit
code 0. A run with -o that was interrupted or killed goes on with --resume, to the same result bit for bit.

A periodic box must be longer than every body in it: a body does not touch its own images.

Examples:
  carom run cases/papers/paradox.toml --until 1
  carom run ball.toml --until 10 --json
  carom run gas.toml -o gas --strict
  carom run --resume gas";

fn parse_not_negative(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if f64::is_finite(x) && x >= 0.0 => Ok(x),
        _ => Err("expected a finite number, at least 0".to_string()),
    }
}

fn parse_events(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err("expected a whole number, at least 1".to_string()),
    }
}

fn paradox_parser() -> impl TypedValueParser<Value = OnParadox> {
    PossibleValuesParser::new(OnParadox::ALL.map(OnParadox::name)).map(|name| {
        OnParadox::ALL.into_iter().find(|choice| choice.name() == name).unwrap_or(OnParadox::Hold)
    })
}

/// The most samples of each body: more would not end in anybody's time.
const MOST_SAMPLES: f64 = 1e9;

/// Where a run is taken up.
#[derive(Debug, Clone, Copy, Default)]
pub struct Before {
    /// The time that it has taken already, in seconds.
    pub wall_s: f64,
    /// How many derivatives of gaps were not finite.
    unbounded: u64,
    /// The number of events, and the time of the last.
    pub reached: Option<(u64, f64)>,
}

/// A run ready to go.
struct Prepared {
    scene: Scene,
    hash: String,
    settings: Settings,
    simulation: Simulation,
    folder: Option<Folder>,
    before: Before,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum End {
    /// The simulation says so.
    Stopped(Stopped),
    /// The audit does.
    Violation(Violation),
}

impl End {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stopped(Stopped::Until) => "until",
            Self::Stopped(Stopped::MaxEvents) => "max_events",
            Self::Stopped(Stopped::Paradox) => "paradox",
            Self::Stopped(Stopped::Interrupted) => "interrupted",
            Self::Stopped(Stopped::Stalled) => "stalled",
            Self::Stopped(Stopped::Lost) => "lost",
            Self::Violation(_) => "violation",
        }
    }

    fn violation(self) -> Option<Violation> {
        match self {
            Self::Stopped(_) => None,
            Self::Violation(violation) => Some(violation),
        }
    }

    fn verdict(self) -> Verdict {
        match self {
            Self::Stopped(Stopped::Stalled | Stopped::Lost) => Verdict::NoAnswer,
            Self::Stopped(_) => Verdict::Done,
            Self::Violation(violation) => Verdict::Violated(violation.quantity),
        }
    }
}

/// What there is to report, for people.
pub struct Finished<'a> {
    pub scene: &'a Scene,
    pub simulation: &'a Simulation,
    pub story: &'a Story,
    pub end: End,
    pub notes: &'a [String],
    pub before: Before,
    pub wall_s: f64,
    /// The folder, with the rows of its tables.
    pub folder: Option<(&'a Path, [u64; 2])>,
}

/// Reads, runs, writes.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let prepared = match (&arguments.resume, &arguments.scene) {
        (Some(folder), _) => take_up(folder)?,
        (None, Some(scene)) => begin(scene, arguments)?,
        // The parser asks for one of them.
        (None, None) => return Err(Refusal::of_command_line(None, "no scene", Some("a scene")).into()),
    };
    let Prepared { scene, hash, settings, mut simulation, folder, before } = prepared;
    let keep = match folder {
        Some(folder) => Keep::Files(Box::new(folder)),
        None if arguments.json => Keep::Document(Stream::begin(arguments.samples)?),
        None => Keep::Nothing,
    };
    let mut tape = Tape::new(&scene, keep, before.unbounded);
    let mut driver = Driver {
        scene: &scene,
        settings,
        limits: Limits::of(&scene, settings.strict),
        start: Instant::now(),
        wall_before: before.wall_s,
        every: Duration::try_from_secs_f64(arguments.checkpoint).unwrap_or(Duration::MAX),
        last: Instant::now(),
    };
    progress::watch();
    let ended = driver.drive(&mut simulation, &mut tape).and_then(|end| {
        driver.finish(&simulation, &mut tape, end, &hash).map(|(text, notes)| (end, text, notes))
    });
    let (end, text, notes) = match ended {
        Ok(ended) => ended,
        Err(error) => {
            if let Keep::Files(folder) = &tape.keep {
                folder.say_what_stays();
            }
            return Err(error.into());
        }
    };
    let Tape { keep, story, .. } = tape;
    let folder = match keep {
        Keep::Document(stream) => {
            stream.end(&scene, &text)?;
            return Ok(end.verdict());
        }
        Keep::Files(folder) => Some(folder),
        Keep::Nothing => None,
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    if arguments.json {
        out.write_all(&text)?;
        writeln!(out)?;
    } else {
        let finished = Finished {
            scene: &scene,
            simulation: &simulation,
            story: &story,
            end,
            notes: &notes,
            before,
            wall_s: driver.wall_s(),
            folder: folder.as_ref().map(|folder| (folder.path(), folder.rows())),
        };
        report::run::write(&mut out, &finished, Style::of_stdout())?;
    }
    out.flush()?;
    Ok(end.verdict())
}

/// Prepares a scene for its run.
fn begin(path: &Path, arguments: &Arguments) -> Result<Prepared, Failure> {
    let (input, mut scene) = Input::read(path)?.scene()?;
    let run = &mut scene.run;
    run.until = arguments.until.unwrap_or(run.until);
    run.max_events = arguments.max_events.unwrap_or(run.max_events);
    run.sample = arguments.sample.unwrap_or(run.sample);
    run.on_paradox = arguments.on_paradox.unwrap_or(run.on_paradox);
    let settings = Settings::of(run, arguments.strict);
    let input = fit(input, &scene)?;
    let (world, states) = World::of(&scene);
    let simulation = match Simulation::new(world, &states, settings.run()) {
        Ok(simulation) => simulation,
        Err(unfit) => return Err(refuse(input, &scene, &unfit).into()),
    };
    let folder = match &arguments.out {
        Some(folder) => Some(Folder::create(folder, &input, &scene, arguments.force)?),
        None => None,
    };
    let hash = folder::hash(input.text.as_bytes());
    Ok(Prepared { scene, hash, settings, simulation, folder, before: Before::default() })
}

/// Takes a run up where its folder left it.
fn take_up(path: &Path) -> Result<Prepared, Failure> {
    let (input, checkpoint, lock) = Folder::reopen(path)?;
    let (input, mut scene) = input.scene()?;
    let input = fit(input, &scene)?;
    if checkpoint.version != VERSION {
        let _ = writeln!(
            io::stderr(),
            "warning: the run was begun by carom {}, and this is {VERSION}: it may go on to other bits",
            checkpoint.version
        );
    }
    let settings = checkpoint.settings;
    scene.run = settings.run();
    let (world, _) = World::of(&scene);
    let simulation = Simulation::resume(world, settings.run(), &checkpoint.snapshot).map_err(|_| {
        let message = format!("the checkpoint in {} does not fit its scene", path.display());
        Refusal::of_command_line(Some("--resume"), &message, Some("a folder that `carom run -o` wrote"))
    })?;
    let before = Before {
        wall_s: checkpoint.wall_s,
        unbounded: checkpoint.unbounded,
        reached: Some((simulation.counts().events, simulation.time())),
    };
    let folder = Folder::resume(path, lock, &input, &scene, &checkpoint)?;
    let hash = folder.hash().to_string();
    Ok(Prepared { scene, hash, settings, simulation, folder: Some(folder), before })
}

/// Refuses what cannot be run yet, and warns of what has no effect.
fn fit(input: Input, scene: &Scene) -> Result<Input, Refusal> {
    let source = Source::new(&input.text, input.format);
    let mut diagnostics = Vec::new();
    if !scene.joints.is_empty() {
        let message = "ties bodies together, which a run does not follow yet";
        diagnostics.push(source.explain("joint[0]", message, "a scene without joints"));
    }
    if !scene.fills.is_empty() {
        let message = "has no bodies yet: a run does not place them yet";
        diagnostics.push(source.explain("fill[0]", message, "bodies with positions of their own"));
    }
    if scene.run.sample > 0.0 && scene.run.until / scene.run.sample > MOST_SAMPLES {
        let message = format!("makes more than {MOST_SAMPLES:.0e} samples until {}", scene.run.until);
        diagnostics.push(source.explain("run.sample", &message, "a longer interval, or 0 for events only"));
    }
    if !diagnostics.is_empty() {
        return Err(input.refuse(diagnostics));
    }
    if !scene.contacts.is_empty() {
        let message = "has no effect here: a run finds its contacts itself";
        let expected = "`carom solve` to use it, or `[surface]` to say how contacts answer";
        warn(&input.name, &[source.explain("contact[0]", message, expected)]);
    }
    Ok(input)
}

/// Points at the bodies that make a scene no start of a run.
fn refuse(input: Input, scene: &Scene, unfit: &[Unfit]) -> Refusal {
    let source = Source::new(&input.text, input.format);
    let say = |unfit: &Unfit| match unfit {
        Unfit::BoxTooShort { body } => {
            let radius = scene.bodies[*body].body.shape.circumradius();
            let message = "is too large for the periodic box: it could touch its own image";
            let expected = format!("`world.periodic` lengths above {}", report::number(2.0 * radius));
            source.explain(&format!("body[{body}]"), message, &expected)
        }
        Unfit::Overlap { first, second, depth } => {
            let [a, b] = [*first, Side::Body(*second)].map(|side| name(scene, side));
            let message = format!("`{b}` overlaps `{a}` by {}", report::number(*depth));
            source.explain(&format!("body[{second}]"), &message, "bodies apart, or just touching")
        }
        Unfit::Motion { body } => {
            let message = "moves beyond what floating point holds";
            source.explain(&format!("body[{body}]"), message, "a motion that can be computed")
        }
    };
    let diagnostics = unfit.iter().map(say).collect();
    input.refuse(diagnostics)
}

/// Drives a simulation from event to event.
struct Driver<'a> {
    scene: &'a Scene,
    settings: Settings,
    limits: Limits,
    start: Instant,
    wall_before: f64,
    /// The least time between checkpoints.
    every: Duration,
    last: Instant,
}

/// Checkpoints take at most about this share of a long run's time, and a run has at most a few hundred parts.
const CHECKPOINT_SHARE: f64 = 0.01;

impl Driver<'_> {
    fn wall_s(&self) -> f64 {
        self.wall_before + self.start.elapsed().as_secs_f64()
    }

    /// Runs to the end, with checkpoints on the way.
    fn drive(&mut self, simulation: &mut Simulation, tape: &mut Tape) -> io::Result<End> {
        self.checkpoint(simulation, tape)?;
        let mut progress = Progress::new(simulation, self.settings.max_events);
        let end = loop {
            let more = simulation.step(tape);
            tape.checked()?;
            if let Some(violation) = tape.fault.or_else(|| self.limits.violation(&simulation.audit())) {
                break End::Violation(violation);
            }
            if !more {
                break End::Stopped(simulation.stopped().unwrap_or(Stopped::Interrupted));
            }
            if progress::interrupted() {
                break End::Stopped(Stopped::Interrupted);
            }
            let now = Instant::now();
            progress.show(simulation, now);
            let wait = self.every.as_secs_f64().max(CHECKPOINT_SHARE * self.wall_s());
            if (now - self.last).as_secs_f64() >= wait {
                self.checkpoint(simulation, tape)?;
            }
        };
        progress.end();
        Ok(end)
    }

    fn checkpoint(&mut self, simulation: &Simulation, tape: &mut Tape) -> io::Result<()> {
        if let Keep::Files(folder) = &mut tape.keep {
            let snapshot = simulation.snapshot();
            let (settings, wall_s, unbounded) = (self.settings, self.wall_s(), tape.unbounded);
            folder.checkpoint(self.scene, &Standing { settings, wall_s, unbounded, snapshot: &snapshot })?;
            self.last = Instant::now();
        }
        Ok(())
    }

    /// The document without events and samples, written to the folder if there is one, and its notes.
    fn finish(
        &self,
        simulation: &Simulation,
        tape: &mut Tape,
        end: End,
        hash: &str,
    ) -> io::Result<(Vec<u8>, Vec<String>)> {
        let wall_s = self.wall_s();
        let notes = self.notes(tape.unbounded, simulation);
        let mut document = Document::of(Parts {
            scene: self.scene,
            hash,
            settings: self.settings,
            simulation,
            stopped: end.name(),
            violation: end.violation(),
            notes: notes.clone(),
            wall_s,
        });
        if let Keep::Files(folder) = &mut tape.keep {
            let snapshot = simulation.snapshot();
            let (settings, unbounded) = (self.settings, tape.unbounded);
            let standing = Standing { settings, wall_s, unbounded, snapshot: &snapshot };
            let can_go_on = end == End::Stopped(Stopped::Interrupted);
            folder.finish(self.scene, &standing, can_go_on, |rows| {
                document.set_rows(rows);
                serde_json::to_vec(&document).map_err(io::Error::from)
            })?;
        }
        let text = serde_json::to_vec(&document)?;
        Ok((text, notes))
    }

    fn notes(&self, unbounded: u64, simulation: &Simulation) -> Vec<String> {
        let mut notes = Vec::new();
        let error = simulation.audit().energy_error_max;
        if error.value > LIMIT {
            notes.push(format!(
                "the audit fails: after event {} the energy is off by {} of itself; do not trust what follows",
                error.event,
                report::number(error.value)
            ));
        }
        if let Some(Trouble { time, sides, cause }) = simulation.trouble() {
            let [first, second] = sides.map(|side| name(self.scene, side));
            notes.push(format!(
                "lost at t = {}: the contact of {first} and {second}, because {}",
                report::number(time),
                because(cause)
            ));
        }
        if !self.scene.contacts.is_empty() {
            notes.push(
                "the scene's explicit contacts have no effect: a run finds its contacts itself".to_string(),
            );
        }
        if unbounded > 0 {
            notes.push(format!(
                "{unbounded} derivatives of the gap (g2, g3, force_slope) are not finite, where a surface is flat or the force jumps; they are null in JSON"
            ));
        }
        notes
    }
}

/// Why a motion could not be followed, in words.
fn because(cause: Cause) -> &'static str {
    match cause {
        Cause::Search => {
            "the search for their next touch does not come forward: too fast, or magnitudes too far apart"
        }
        Cause::Law => "the impact law has no answer there",
        Cause::Hold(Obstacle::NoSurface { .. }) => "one of them has no surface to be held at",
        Cause::Hold(Obstacle::Rocking { .. }) => "it rocks on a flat, where the force is infinite",
        Cause::Hold(Obstacle::Contradiction) => {
            "the contacts at rest ask for accelerations that contradict each other"
        }
        Cause::Hold(Obstacle::Jam) => {
            "no friction force is consistent with the motion there, or none was found"
        }
        Cause::Hold(Obstacle::NotFinite) => "the motion is more than floating point holds",
        Cause::Hold(Obstacle::Rough) => "the held motion cannot be integrated there, however short the step",
    }
}
