//! `carom solve SCENE`: the impact at the scene's instant.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use carom::audit::{Audit, audit};
use carom::contact::Surface;
use carom::impact::demand::{Demand, Grip, demand};
use carom::impact::mechanism::{Assembly, BodyOutcome};
use carom::impact::{Energy, Note, Options, Order, Outcome};
use carom::scene::Diagnostic;
use carom::scene::file;
use carom::scene::instant::{Instant, TOUCHING, name};
use carom::scene::model::Scene;
use nalgebra::Vector3;
use serde::Serialize;

use super::input::Input;
use super::law::{LawArguments, RestArguments};
use crate::diagnostics::Refusal;
use crate::report::{self, Style};
use crate::{Failure, Verdict};

/// The command's arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The scene, TOML or JSON; `-` reads standard input
    scene: PathBuf,

    /// Print one JSON document and nothing else
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    law: LawArguments,

    #[command(flatten)]
    touch: TouchArguments,

    /// Show the contacts as screws too: inertances, wrenches, Plücker coordinates
    #[arg(long)]
    screws: bool,
}

/// How close counts as touching.
#[derive(Debug, clap::Args)]
pub struct TouchArguments {
    /// How close, relative to the sizes of two bodies, counts as touching when contacts are detected
    #[arg(long, value_name = "X", default_value_t = TOUCHING, value_parser = parse_touching)]
    touching: f64,
}

fn parse_touching(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if (0.0..=0.1).contains(&x) => Ok(x),
        _ => Err("expected a number from 0 to 0.1".to_string()),
    }
}

const AFTER_HELP: &str = "\
A scene: a ball dropping on the floor.

  carom = 1
  [[body]]
  name = \"ball\"
  shape = { sphere = { radius = 0.1 } }
  mass = 2
  position = [0, 0, 0.1]
  velocity = [0.5, 0, -3]
  [[plane]]
  name = \"floor\"
  normal = [0, 0, 1]
  [surface]
  restitution = 0.8

Examples:
  carom solve ball.toml
  carom solve ball.toml --law poisson --json
  carom solve ball.toml --screws";

/// A scene that has been read and prepared.
pub struct Prepared {
    pub input: Input,
    pub scene: Scene,
    pub instant: Instant,
    pub assembly: Assembly,
}

impl Prepared {
    /// Reads a scene and finds its contacts; warnings go to standard error.
    pub fn read(path: &Path, touch: &TouchArguments) -> Result<Self, Refusal> {
        let input = Input::read(path)?;
        Self::of(input, touch.touching)
    }

    /// Prepares a scene already read from somewhere.
    pub fn of(input: Input, touching: f64) -> Result<Self, Refusal> {
        let (input, scene) = input.scene()?;
        Self::of_scene(input, scene, touching)
    }

    /// Prepares a scene that its input does not say, or no longer.
    pub fn of_scene(input: Input, scene: Scene, touching: f64) -> Result<Self, Refusal> {
        let instant = match Instant::of(&scene, touching) {
            Ok(instant) => instant,
            Err(findings) => {
                let say = |f: &carom::scene::instant::Finding| {
                    file::explain(&input.text, input.format, &f.path, &f.message, &f.expected)
                };
                let diagnostics = findings.iter().map(say).collect();
                return Err(input.refuse(diagnostics));
            }
        };
        let assembly = instant.mechanism().assemble();
        Ok(Self { input, scene, instant, assembly })
    }

    /// The options of the scene and the command line; an order by numbers is one of contacts.
    pub fn options(&self, law: Option<carom::impact::Law>, rest: &RestArguments) -> Result<Options, Refusal> {
        let mut options = Options {
            law: law.unwrap_or(self.scene.impact.law),
            termination: self.scene.impact.termination,
            ..Options::default()
        };
        rest.adjust(&mut options);
        if let Some(order) = &rest.order {
            options.order = match order {
                Order::Rows(numbers) => Order::Rows(self.rows_of(numbers)?),
                other => other.clone(),
            };
        }
        Ok(options)
    }

    fn rows_of(&self, numbers: &[usize]) -> Result<Vec<usize>, Refusal> {
        let count = self.assembly.contact_rows.len();
        let mut sorted = numbers.to_vec();
        sorted.sort_unstable();
        if sorted != (0..count).collect::<Vec<_>>() {
            let message = format!("is not an order of the {count} contacts");
            return Err(Refusal::of_command_line(
                Some("--order"),
                &message,
                Some("every contact's number, from 0, once"),
            ));
        }
        Ok(numbers.iter().map(|&k| self.assembly.contact_rows[k].start).collect())
    }

    /// Resolves the impact.
    pub fn solve(&self, options: &Options) -> Result<BodyOutcome, Box<Diagnostic>> {
        self.instant.mechanism().solve(options).map_err(|error| Box::new(self.explain(&error)))
    }

    /// Points at the entry of the scene that the solver refuses.
    fn explain(&self, error: &carom::Error) -> Diagnostic {
        let mut path = String::new();
        let mut message = error.fault.to_string();
        let mut expected = String::new();
        if error.place.field == "bilateral"
            && let Some(row) = error.place.row
            && let Some(k) = self.assembly.joint_rows.iter().position(|rows| rows.contains(&row))
        {
            path = format!("joint[{k}]");
            if let carom::Fault::ViolatesBilateral { residual, relative, .. } = error.fault {
                message = format!(
                    "the velocities violate the joint `{}`: row {} of it is {} ({} of its scale), not 0",
                    self.scene.joints[k].name,
                    row - self.assembly.joint_rows[k].start,
                    report::number(residual),
                    report::number(relative),
                );
                expected = "velocities that the joint allows, or --project to take the nearest".to_string();
            }
        } else if error.place.field == "contacts"
            && let Some(row) = error.place.row
            && let Some(k) = self.assembly.contact_rows.iter().position(|rows| rows.contains(&row))
        {
            path = format!("contact[{k}]");
        }
        file::explain(&self.input.text, self.input.format, &path, &message, &expected)
    }
}

/// Reads, solves, prints.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let prepared = Prepared::read(&arguments.scene, &arguments.touch)?;
    let options = prepared.options(arguments.law.law, &arguments.law.rest)?;
    let result = match prepared.solve(&options) {
        Ok(result) => result,
        Err(diagnostic) => return Err(prepared.input.refuse(vec![*diagnostic]).into()),
    };
    let solved = Solved::new(&prepared, result);
    let mut out = io::BufWriter::new(io::stdout().lock());
    if arguments.json {
        serde_json::to_writer(&mut out, &solved.json(arguments.screws)).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        report::solve::write(&mut out, &solved, arguments.screws, Style::of_stdout())?;
    }
    out.flush()?;
    Ok(arguments.law.rest.verdict(&solved.result.outcome, solved.audit.as_ref()))
}

/// A scene with its result and everything said about it.
pub struct Solved<'a> {
    pub prepared: &'a Prepared,
    pub result: BodyOutcome,
    pub demand: Demand,
    pub audit: Option<Audit>,
}

impl<'a> Solved<'a> {
    pub fn new(prepared: &'a Prepared, result: BodyOutcome) -> Self {
        let demand = demand(&prepared.instant.mechanism(), &prepared.assembly, &result.outcome);
        let problem = &prepared.assembly.problem;
        let audit = (!problem.velocity.is_empty()).then(|| audit(problem, &result.outcome));
        Self { prepared, result, demand, audit }
    }

    /// The name of a grip.
    pub fn grip(&self, grip: Grip) -> String {
        match grip {
            Grip::Contact(k) => format!("contact {}", self.prepared.instant.contacts[k].name),
            Grip::Joint(k) => format!("joint {}", self.prepared.instant.joints[k].name),
        }
    }

    /// The notes of the outcome, with contacts by name.
    pub fn notes(&self) -> Vec<String> {
        // What rough contacts need is said below, rolling joints included.
        let own = |note: &&Note| !matches!(note, Note::FrictionDemand { .. });
        let mut notes: Vec<String> =
            self.result.outcome.notes.iter().filter(own).map(|note| self.by_name(note)).collect();
        if self.prepared.instant.detected {
            notes.extend(self.detection_note());
        }
        let needed = self.demand.reported.iter().filter(|(_, needed)| *needed > 1.0);
        let these = if self.result.outcome.impulse_unique { "" } else { ", for the impulses given" };
        for (grip, needed) in needed {
            notes.push(if needed.is_finite() {
                format!(
                    "{} would need a friction coefficient of {}{these}; real surfaces seldom exceed 1",
                    self.grip(*grip),
                    report::number(*needed),
                )
            } else {
                format!(
                    "{} is loaded along the tangent without a normal push{these}: no friction does that",
                    self.grip(*grip)
                )
            });
        }
        if let Some(least) = self.demand.least
            && !self.demand.reported.is_empty()
        {
            notes.push(if least.is_finite() {
                format!(
                    "the impulses can be shared differently, but no sharing does with a friction coefficient below {least:.6}"
                )
            } else {
                "no sharing of the impulses lets every grip push: the floor or wall would have to pull".to_string()
            });
        }
        notes
    }

    /// Row numbers mean nothing to someone who wrote bodies: say contacts by name.
    fn by_name(&self, note: &Note) -> String {
        match note {
            Note::PoissonNotUnique { other } => {
                return format!(
                    "Poisson's law does not determine the velocities: dependent contacts with unequal restitution share the compression in more than one way, and another way gives {}",
                    self.motions(other)
                );
            }
            Note::OrderMatters { other } => {
                return format!(
                    "the answer depends on the order of the contacts, which the rigid model does not decide; another order gives {}",
                    self.motions(other)
                );
            }
            _ => {}
        }
        note.describe(&|row| self.row_name(row))
    }

    /// The contact that a row belongs to.
    pub fn row_name(&self, row: usize) -> String {
        let rows = &self.prepared.assembly.contact_rows;
        let Some(k) = rows.iter().position(|range| range.contains(&row)) else { return format!("row {row}") };
        let part = if row == rows[k].start { "" } else { " (tangent)" };
        format!("{}{part}", self.prepared.instant.contacts[k].name)
    }

    /// Generalised velocities, by body; of many bodies the first.
    fn motions(&self, velocity: &[f64]) -> String {
        const SHOWN: usize = 3;
        let Prepared { scene, assembly, .. } = self.prepared;
        let moving =
            scene.bodies.iter().zip(&assembly.coordinates).filter_map(|(body, at)| at.map(|at| (body, at)));
        let mut words: Vec<String> = moving
            .clone()
            .take(SHOWN)
            .map(|(body, at)| {
                let part = |at: usize| vector(&Vector3::from_column_slice(&velocity[at..at + 3]), 1.0);
                format!("{} velocity {}, angular velocity {}", body.name, part(at), part(at + 3))
            })
            .collect();
        if moving.clone().count() > SHOWN {
            words.push("…".to_string());
        }
        words.join("; ")
    }

    fn detection_note(&self) -> Option<String> {
        let scene = &self.prepared.scene;
        self.prepared.instant.nearest.map(|(sides, gap)| {
            let [first, second] = sides.map(|side| name(scene, side));
            format!(
                "nothing touches: the nearest are `{first}` and `{second}`, {} apart",
                report::number(gap)
            )
        })
    }

    /// How many contacts carry an impulse.
    pub fn active(&self) -> usize {
        self.result.contacts.iter().filter(|c| c.impulse_vector.norm() > 0.0).count()
    }

    fn json(&self, screws: bool) -> Document<'_> {
        let Prepared { scene, instant, .. } = self.prepared;
        let outcome = &self.result.outcome;
        let bodies = scene.bodies.iter().zip(&self.result.states).map(|(body, state)| {
            let motion =
                Motion { velocity: state.velocity.into(), angular_velocity: state.angular_velocity.into() };
            (body.name.as_str(), motion)
        });
        let contacts =
            instant.contacts.iter().zip(&self.result.contacts).map(|(contact, result)| JsonContact {
                name: &contact.name,
                bodies: contact.sides.map(|side| name(scene, side)),
                point: contact.point.into(),
                normal: contact.normal.into_inner().into(),
                approach: result.approach,
                separation: result.separation,
                impulse: result.impulse,
                impulse_vector: result.impulse_vector.into(),
                restitution: contact.restitution,
                surface: surface(contact.surface),
                slip_before: result.slip_before.into(),
                slip_after: result.slip_after.into(),
                work: result.work,
                determined: result.determined,
            });
        let joints = instant.joints.iter().zip(&self.result.joints).map(|(joint, result)| {
            let entry = JsonJoint {
                impulse: &result.impulse,
                linear: result.linear.into(),
                angular: result.angular.into(),
                point: result.point.into(),
                determined: result.determined,
            };
            (joint.name.as_str(), entry)
        });
        let Energy { before, after, change } = outcome.energy;
        Document {
            law: outcome.law.name(),
            time: 0.0,
            title: scene.title.as_deref(),
            source: scene.source.as_deref(),
            bodies: bodies.collect(),
            contacts: contacts.collect(),
            joints: joints.collect(),
            energy: JsonEnergy { before, after, loss: 0.0 - change },
            momentum: JsonMomentum {
                linear_residual: self.result.linear_residual,
                angular_residual: self.result.angular_residual,
            },
            rank: outcome.rank,
            contacts_active: self.active(),
            contacts_detected: instant.detected,
            velocity_unique: outcome.velocity_unique,
            impulse_unique: outcome.impulse_unique,
            consistent: outcome.consistent,
            admissible: outcome.admissible,
            friction_demand: self.demand.reported.iter().map(|(grip, x)| (self.grip(*grip), *x)).collect(),
            friction_least: self.demand.least,
            notes: self.notes(),
            outcome,
            audit: self.audit.as_ref(),
            screws: screws.then(|| report::screws::Screws::of(self.prepared)),
        }
    }
}

fn surface(surface: Surface) -> serde_json::Value {
    match surface {
        Surface::Smooth => "smooth".into(),
        Surface::Rough => "rough".into(),
        Surface::Coulomb(coefficient) => serde_json::json!({ "coulomb": coefficient }),
    }
}

#[derive(Serialize)]
struct Document<'a> {
    law: &'static str,
    time: f64,
    title: Option<&'a str>,
    source: Option<&'a str>,
    bodies: BTreeMap<&'a str, Motion>,
    contacts: Vec<JsonContact<'a>>,
    joints: BTreeMap<&'a str, JsonJoint<'a>>,
    energy: JsonEnergy,
    momentum: JsonMomentum,
    rank: usize,
    contacts_active: usize,
    contacts_detected: bool,
    velocity_unique: bool,
    impulse_unique: bool,
    consistent: bool,
    admissible: bool,
    friction_demand: BTreeMap<String, f64>,
    friction_least: Option<f64>,
    notes: Vec<String>,
    /// The same in generalised velocities, with steps, self-stresses and friction phases.
    outcome: &'a Outcome,
    audit: Option<&'a Audit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    screws: Option<report::screws::Screws>,
}

#[derive(Serialize)]
struct Motion {
    velocity: [f64; 3],
    angular_velocity: [f64; 3],
}

#[derive(Serialize)]
struct JsonContact<'a> {
    name: &'a str,
    bodies: [&'a str; 2],
    point: [f64; 3],
    normal: [f64; 3],
    approach: f64,
    separation: f64,
    impulse: f64,
    impulse_vector: [f64; 3],
    restitution: f64,
    surface: serde_json::Value,
    slip_before: [f64; 3],
    slip_after: [f64; 3],
    work: f64,
    determined: bool,
}

#[derive(Serialize)]
struct JsonJoint<'a> {
    impulse: &'a [f64],
    linear: [f64; 3],
    angular: [f64; 3],
    point: [f64; 3],
    determined: bool,
}

#[derive(Serialize)]
struct JsonEnergy {
    before: f64,
    after: f64,
    loss: f64,
}

#[derive(Serialize)]
struct JsonMomentum {
    linear_residual: f64,
    angular_residual: f64,
}

/// A vector for people.
pub fn vector(v: &Vector3<f64>, scale: f64) -> String {
    let part = |x: f64| report::beside(x, scale);
    format!("[{}, {}, {}]", part(v.x), part(v.y), part(v.z))
}
