//! `carom run SCENE`: motion through impacts, event by event.

mod document;
mod engine;
mod folder;
mod progress;
mod ready;
mod recording;
mod replicas;
mod settings;
mod strict;
mod table;
mod tape;
mod trajectory;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use carom::contact::Side;
use carom::fill::{self, Unplaced};
use carom::flow::Obstacle;
use carom::joint::Kind as JointKind;
use carom::scene::file::Source;
use carom::scene::instant::name;
use carom::scene::model::{OnParadox, Scene};
use carom::simulation::{Cause, Stopped, Trouble, Unfit, World};
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::input::Input;
use crate::diagnostics::{Refusal, warn};
use crate::report::{self, Style};
use crate::{Failure, VERSION, Verdict};
use document::{Document, Parts, Rows};
use engine::Engine;
use folder::{Folder, Standing};
use progress::Progress;
use settings::Settings;
use strict::Limits;
use tape::{Keep, Stream, Tape};
use trajectory::Format;

pub use document::{JsonEvent, JsonState, smallest_gap};
pub use engine::{Audience, Loop};
pub use ready::{Changes, Ready};
pub use recording::Recording;
pub use replicas::known;
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

    /// The loop that runs the scene, instead of the one that suits it: `crowd` for very many free bodies, else `simulation`
    #[arg(long = "loop", value_name = "NAME", value_parser = loop_parser(), conflicts_with = "resume")]
    which: Option<Loop>,

    /// Also write the samples for other programs: trajectory.xyz (OVITO) or trajectory.gsd (HOOMD, OVITO)
    #[arg(long, value_name = "FORMAT", value_parser = trajectory_parser())]
    trajectory: Option<Format>,

    /// Run so many independent copies, whose fills have the seeds seed, seed + 1, …, on all cores, and pool their averages
    #[arg(long, value_name = "R", value_parser = parse_replicas, conflicts_with_all = ["resume", "samples"])]
    replicas: Option<u64>,

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

Scenes with a [[fill]] are placed first: on a lattice, or grown at random to their density. In a periodic box the result has
averages with error bars under `observables`: Z = PV/NkT, collision rate, temperatures, g(r), diffusion. The box must be
longer than every body in it: a body does not touch its own images.

Examples:
  carom run cases/papers/paradox.toml --until 1
  carom run ball.toml --until 10 --json
  carom run gas.toml -o gas --strict
  carom run --resume gas
  carom run cases/gallery/sphere_gas.toml -o gas --sample 0.1 --trajectory xyz
  carom run cases/gallery/ellipsoid_gas.toml --replicas 8 --json";

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

fn parse_replicas(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(count) if (1..=MOST_REPLICAS).contains(&count) => Ok(count),
        _ => Err(format!("expected a whole number, from 1 to {MOST_REPLICAS}")),
    }
}

fn loop_parser() -> impl TypedValueParser<Value = Loop> {
    PossibleValuesParser::new(Loop::ALL.map(Loop::name))
        .map(|name| Loop::ALL.into_iter().find(|which| which.name() == name).unwrap_or(Loop::Simulation))
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

/// The most samples of each body: more would not end in anybody's time.
const MOST_SAMPLES: f64 = 1e9;

/// Friction below this is rounding.
const ROLLS_ANYWHERE: f64 = 1e-9;
/// The most copies of a run.
const MOST_REPLICAS: u64 = 1_000_000;

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
    engine: Engine,
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
    pub engine: &'a Engine,
    pub story: &'a Story,
    pub end: End,
    pub notes: &'a [String],
    pub before: Before,
    pub wall_s: f64,
    /// The folder, with the rows of its tables.
    pub folder: Option<(&'a Path, Rows)>,
}

/// Reads, runs, writes.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    if arguments.trajectory.is_some() && arguments.out.is_none() && arguments.resume.is_none() {
        let expected = Some("-o DIR beside it");
        let message = "a trajectory needs a folder to go to";
        return Err(Refusal::of_command_line(Some("--trajectory"), message, expected).into());
    }
    if let (Some(count), Some(scene)) = (arguments.replicas, &arguments.scene) {
        return replicas::run(scene, count, arguments);
    }
    let prepared = match (&arguments.resume, &arguments.scene) {
        (Some(folder), _) => take_up(folder)?,
        (None, Some(scene)) => {
            progress::watch();
            let (input, scene) = Input::read(scene)?.scene()?;
            begin(
                input,
                scene,
                arguments,
                &Copy { number: 0, folder: arguments.out.as_deref(), shown: true },
            )?
        }
        // The parser asks for one of them.
        (None, None) => return Err(Refusal::of_command_line(None, "no scene", Some("a scene")).into()),
    };
    let Prepared { scene, hash, settings, mut engine, folder, before } = prepared;
    let keep = match folder {
        Some(folder) => Keep::Files(Box::new(folder)),
        None if arguments.json => Keep::Document(Stream::begin(arguments.samples)?),
        None => Keep::Nothing,
    };
    let mut tape = Tape::new(&scene, keep, before.unbounded);
    let mut driver = Driver {
        scene: &scene,
        settings,
        trajectory: arguments.trajectory,
        shown: true,
        limits: Limits::of(&scene, settings.strict),
        start: Instant::now(),
        wall_before: before.wall_s,
        every: Duration::try_from_secs_f64(arguments.checkpoint).unwrap_or(Duration::MAX),
        last: Instant::now(),
        took: Duration::ZERO,
    };
    progress::watch();
    let ended = driver.drive(&mut engine, &mut tape).and_then(|end| {
        driver.finish(&engine, &mut tape, end, &hash).map(|(text, notes)| (end, text, notes))
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
            engine: &engine,
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

/// Which of several copies of a run.
struct Copy<'a> {
    /// What is added to the seeds.
    number: u64,
    folder: Option<&'a Path>,
    /// Whether progress is shown.
    shown: bool,
}

/// Prepares a scene for its run.
fn begin(input: Input, scene: Scene, arguments: &Arguments, copy: &Copy) -> Result<Prepared, Failure> {
    let changes = Changes {
        until: arguments.until,
        max_events: arguments.max_events,
        sample: arguments.sample,
        on_paradox: arguments.on_paradox,
        which: arguments.which,
        replica: copy.number,
        strict: arguments.strict,
    };
    let Ready { input, scene, settings, engine } = Ready::of(input, scene, changes, copy.shown)?;
    let folder = match copy.folder {
        Some(folder) => Some(Folder::create(folder, &input, &scene, arguments.force)?),
        None => None,
    };
    let hash = folder::hash(input.text.as_bytes());
    Ok(Prepared { scene, hash, settings, engine, folder, before: Before::default() })
}

/// Takes a run up where its folder left it.
fn take_up(path: &Path) -> Result<Prepared, Failure> {
    let (input, checkpoint, lock) = Folder::reopen(path)?;
    let (input, scene) = input.scene()?;
    let input = fit(input, &scene)?;
    if checkpoint.version != VERSION {
        let _ = writeln!(
            io::stderr(),
            "warning: the run was begun by carom {}, and this is {VERSION}: it may go on to other bits",
            checkpoint.version
        );
    }
    let settings = checkpoint.settings;
    // Where the bodies of fills are, the checkpoint knows.
    let mut scene = fill::populate(&scene);
    scene.run = settings.run();
    let (world, _) = World::of(&scene);
    let engine = Engine::resume(world, settings, &checkpoint.snapshot).ok_or_else(|| {
        let message = format!("the checkpoint in {} does not fit its scene", path.display());
        Refusal::of_command_line(Some("--resume"), &message, Some("a folder that `carom run -o` wrote"))
    })?;
    let before = Before {
        wall_s: checkpoint.wall_s,
        unbounded: checkpoint.unbounded,
        reached: Some((engine.counts().events, engine.time())),
    };
    let folder = Folder::resume(path, lock, &input, &scene, &checkpoint)?;
    let hash = folder.hash().to_string();
    Ok(Prepared { scene, hash, settings, engine, folder: Some(folder), before })
}

/// Refuses what cannot be run yet, and warns of what has no effect.
fn fit(input: Input, scene: &Scene) -> Result<Input, Refusal> {
    let source = Source::new(&input.text, input.format);
    let mut diagnostics = Vec::new();
    for (k, _) in
        scene.joints.iter().enumerate().filter(|(_, joint)| matches!(joint.kind, JointKind::Rows(_)))
    {
        let message = "holds at this instant only: rows do not say how they move with the bodies";
        let expected = "a hinge, ball, slider, weld, rolling or knife_edge, or `carom solve` for the instant";
        diagnostics.push(source.explain(&format!("joint[{k}].kind"), message, expected));
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

/// Points at the fills that have no places.
fn refuse_fills(input: Input, scene: &Scene, unplaced: Unplaced) -> Refusal {
    let source = Source::new(&input.text, input.format);
    let packing = || match scene.fills.iter().position(|fill| fill.packing_fraction.is_some()) {
        Some(fill) => format!("fill[{fill}].packing_fraction"),
        None => "fill[0].count".to_string(),
    };
    let diagnostic = match unplaced {
        Unplaced::Open { axis } => {
            let message =
                format!("is open along {}, and no two planes bound the fill there", ["x", "y", "z"][axis]);
            source.explain("world.periodic", &message, "a length, or planes on both sides along that axis")
        }
        Unplaced::BoxTooShort { fill, least } => {
            let message = "is too large for the periodic box: a body could touch its own image";
            let expected = format!("more bodies, or a box longer than {}", report::number(least));
            source.explain(&format!("fill[{fill}].shape"), message, &expected)
        }
        Unplaced::Crowded { reached, wanted } => {
            let message = format!(
                "no lattice has room for a packing fraction of {}: the best reaches {}",
                report::number(wanted),
                report::number(reached)
            );
            source.explain(&packing(), &message, "a lower density, or `start = \"random\"`")
        }
        Unplaced::Jammed { reached, wanted } => {
            let message = format!(
                "the bodies jam at a packing fraction of {}, before they reach {}",
                report::number(reached),
                report::number(wanted)
            );
            source.explain(&packing(), &message, "a lower density, or `start = \"lattice\"`")
        }
        Unplaced::Lost => {
            let message = "the motion of the bodies while they were placed could not be followed";
            source.explain("fill[0]", message, "another seed, or a lower density")
        }
        Unplaced::Interrupted => {
            source.explain("fill[0]", "was interrupted while its bodies were placed", "patience")
        }
    };
    input.refuse(vec![diagnostic])
}

/// Points at the bodies that make a scene no start of a run.
fn refuse(input: Input, scene: &Scene, unfit: &[Unfit]) -> Refusal {
    let source = Source::new(&input.text, input.format);
    // The bodies of fills stand behind the others.
    let place = |body: usize| {
        let mut rest = (scene.bodies.len() - scene.fills.iter().map(|fill| fill.count).sum::<usize>(), body);
        if body < rest.0 {
            return format!("body[{body}]");
        }
        rest.1 -= rest.0;
        let fill = scene.fills.iter().position(|fill| {
            let inside = rest.1 < fill.count;
            rest.1 = rest.1.saturating_sub(fill.count);
            inside
        });
        format!("fill[{}]", fill.unwrap_or(0))
    };
    let say = |unfit: &Unfit| match unfit {
        Unfit::BoxTooShort { body } => {
            let radius = scene.bodies[*body].body.shape.circumradius();
            let message = "is too large for the periodic box: it could touch its own image";
            let expected = format!("`world.periodic` lengths above {}", report::number(2.0 * radius));
            source.explain(&place(*body), message, &expected)
        }
        Unfit::Overlap { first, second, depth } => {
            let [a, b] = [*first, Side::Body(*second)].map(|side| name(scene, side));
            let message = format!("`{b}` overlaps `{a}` by {}", report::number(*depth));
            source.explain(&place(*second), &message, "bodies apart, or just touching")
        }
        Unfit::OffPlane { joint, gap } => {
            let (Some(body), JointKind::Rolling { plane, .. }) =
                (scene.joints[*joint].bodies.first(), &scene.joints[*joint].kind)
            else {
                return source.explain(&format!("joint[{joint}]"), "has no plane", "a plane to roll on");
            };
            let [body, plane] = [Side::Body(*body), Side::Plane(*plane)].map(|side| name(scene, side));
            let (size, where_) = (gap.abs(), if *gap > 0.0 { "above" } else { "inside" });
            let message =
                format!("`{body}` is {} {where_} `{plane}`, on which it is to roll", report::number(size));
            source.explain(&format!("joint[{joint}]"), &message, "a start that touches the plane")
        }
        Unfit::OffJoint { joint, velocity } => {
            let message = format!("forbids a velocity of {} that its bodies have", report::number(*velocity));
            let expected = "velocities and angular velocities that the joint allows, A v = 0";
            source.explain(&format!("joint[{joint}]"), &message, expected)
        }
        Unfit::Instant { joint } => {
            let message = "holds at this instant only: rows do not say how they move with the bodies";
            source.explain(&format!("joint[{joint}].kind"), message, "a joint that moves with its bodies")
        }
        Unfit::Tied { body, obstacle } => {
            let message = format!("has no motion from here: {}", obstacle_in_words(*obstacle));
            source.explain(&format!("body[{body}]"), &message, "joints that some motion can keep")
        }
        Unfit::Motion { body } => {
            let message = "moves beyond what floating point holds";
            source.explain(&place(*body), message, "a motion that can be computed")
        }
    };
    let diagnostics = unfit.iter().map(say).collect();
    input.refuse(diagnostics)
}

/// Drives a run from event to event.
struct Driver<'a> {
    scene: &'a Scene,
    settings: Settings,
    trajectory: Option<Format>,
    /// Whether progress is shown.
    shown: bool,
    limits: Limits,
    start: Instant,
    wall_before: f64,
    /// The least time between checkpoints.
    every: Duration,
    last: Instant,
    /// What the last one took.
    took: Duration,
}

/// Checkpoints take at most about this share of a long run's time, and a run has at most a few hundred parts.
const CHECKPOINT_SHARE: f64 = 0.01;

/// Nor more than this share where one takes longer than that, because there are very many bodies.
const CHECKPOINT_COST: f64 = 0.05;
const CHECKPOINT_LONG: Duration = Duration::from_secs(1);

impl Driver<'_> {
    fn wall_s(&self) -> f64 {
        self.wall_before + self.start.elapsed().as_secs_f64()
    }

    /// Runs to the end, with checkpoints on the way.
    fn drive(&mut self, engine: &mut Engine, tape: &mut Tape) -> io::Result<End> {
        self.checkpoint(engine, tape)?;
        let mut progress = Progress::new(engine, self.settings.max_events, self.shown);
        let end = loop {
            let more = engine.step(tape);
            tape.checked()?;
            if let Some(violation) = tape.fault.or_else(|| self.limits.violation(&engine.audit())) {
                break End::Violation(violation);
            }
            if !more {
                break End::Stopped(engine.stopped().unwrap_or(Stopped::Interrupted));
            }
            if progress::interrupted() {
                break End::Stopped(Stopped::Interrupted);
            }
            let now = Instant::now();
            progress.show(engine, now);
            let share = CHECKPOINT_SHARE * self.wall_s();
            let took = if self.took > CHECKPOINT_LONG { self.took.as_secs_f64() } else { 0.0 };
            let wait = self.every.as_secs_f64().max(share).max(took / CHECKPOINT_COST);
            if (now - self.last).as_secs_f64() >= wait {
                self.checkpoint(engine, tape)?;
            }
        };
        progress.end();
        Ok(end)
    }

    fn checkpoint(&mut self, engine: &Engine, tape: &mut Tape) -> io::Result<()> {
        if let Keep::Files(folder) = &mut tape.keep {
            let begun = Instant::now();
            let snapshot = engine.snapshot();
            let (settings, wall_s, unbounded) = (self.settings, self.wall_s(), tape.unbounded);
            folder.checkpoint(self.scene, &Standing { settings, wall_s, unbounded, snapshot: &snapshot })?;
            self.last = Instant::now();
            self.took = self.last - begun;
        }
        Ok(())
    }

    /// The document without events and samples, written to the folder if there is one, and its notes.
    fn finish(
        &self,
        engine: &Engine,
        tape: &mut Tape,
        end: End,
        hash: &str,
    ) -> io::Result<(Vec<u8>, Vec<String>)> {
        let wall_s = self.wall_s();
        let notes = self.notes(tape.unbounded, engine);
        let mut document = Document::of(Parts {
            scene: self.scene,
            hash,
            settings: self.settings,
            engine,
            stopped: end.name(),
            violation: end.violation(),
            notes: notes.clone(),
            wall_s,
        });
        if let Keep::Files(folder) = &mut tape.keep {
            let snapshot = engine.snapshot();
            let (settings, unbounded) = (self.settings, tape.unbounded);
            let standing = Standing { settings, wall_s, unbounded, snapshot: &snapshot };
            let can_go_on = end == End::Stopped(Stopped::Interrupted);
            let more = |folder: &Folder| {
                if let Some(observer) = &engine.observer {
                    folder.write_blocks(&observer.blocks())?;
                }
                self.trajectory.map_or(Ok(()), |format| folder.write_trajectory(format, self.scene))
            };
            folder.finish(self.scene, &standing, can_go_on, more, |rows| {
                document.set_rows(rows);
                serde_json::to_vec(&document).map_err(io::Error::from)
            })?;
        }
        let text = serde_json::to_vec(&document)?;
        Ok((text, notes))
    }

    fn notes(&self, unbounded: u64, engine: &Engine) -> Vec<String> {
        let mut notes = Vec::new();
        let error = engine.audit().energy_error_max;
        if error.value > LIMIT {
            notes.push(format!(
                "the audit fails: after event {} the energy is off by {} of itself; do not trust what follows",
                error.event,
                report::number(error.value)
            ));
        }
        if let Some(Trouble { time, sides, cause }) = engine.trouble() {
            let [first, second] = sides.map(|side| name(self.scene, side));
            let what = match cause {
                Cause::Tied(_) if first == second => format!("the motion of {first}"),
                Cause::Tied(_) => format!("the motion of {first}, {second} and what they are tied to"),
                _ => format!("the contact of {first} and {second}"),
            };
            notes.push(format!("lost at t = {}: {what}, because {}", report::number(time), because(cause)));
        }
        let dependent = engine.dependent_rows();
        if dependent > 0 {
            notes.push(format!(
                "{dependent} of the joints' rows depend on the others: the rigid model does not determine all reactions and joint impulses, and those given are of least norm"
            ));
        }
        for demand in engine.rolling_demands() {
            let joint = &self.scene.joints[demand.joint].name;
            if demand.coefficient > ROLLS_ANYWHERE {
                notes.push(format!(
                    "{joint}: rolling without slip takes a friction coefficient of {} at t = {}",
                    report::number(demand.coefficient),
                    report::number(demand.time)
                ));
            }
            if let Some(time) = demand.pulls {
                notes.push(format!(
                    "{joint}: rolling without slip and without lift-off takes a pull of the plane at t = {}, which no surface gives",
                    report::number(time)
                ));
            }
        }
        let elastic = engine.counts().elastic;
        if elastic > 0 {
            notes.push(format!(
                "{elastic} of {} collisions followed another of the same body within {} and lost no energy, so that collisions do not accumulate without end",
                engine.counts().impacts,
                report::number(self.settings.contact_time.unwrap_or(0.0))
            ));
        }
        notes.extend(self.trajectory.and_then(|format| format.leaves_out(self.scene)).map(str::to_string));
        let walls = !self.scene.planes.is_empty() || self.scene.bodies.iter().any(|body| body.body.fixed);
        if engine.observer.is_some() && walls {
            notes.push(
                "compressibility and pressure are those of the collisions among the bodies: what planes and fixed bodies bear is left out"
                    .to_string(),
            );
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
        Cause::Hold(obstacle) | Cause::Tied(obstacle) => obstacle_in_words(obstacle),
    }
}

/// What stands in the way of a motion under constraints.
fn obstacle_in_words(obstacle: Obstacle) -> &'static str {
    match obstacle {
        Obstacle::NoSurface { .. } => "one of them has no surface to be held at",
        Obstacle::Rocking { .. } => "it rocks on a flat, where the force is infinite",
        Obstacle::Contradiction => "the contacts at rest ask for accelerations that contradict each other",
        Obstacle::Jam => "no friction force is consistent with the motion there, or none was found",
        Obstacle::NotFinite => "the motion is more than floating point holds",
        Obstacle::Rough => "the held motion cannot be integrated there, however short the step",
    }
}
