//! `carom classify SCENE`: the kinematics of every contact and its type.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use carom::body::State;
use carom::contact::Side;
use carom::contact::classify::{Classification, Standing, Tolerances, classify};
use carom::contact::kinematics::{Facing, Fit, Moving, effective_inverse_mass};
use carom::contact::neighbourhood::Other;
use carom::contact::neighbourhood::{Neighbourhood, neighbourhood};
use carom::gap::Gap;
use carom::motion::{Derivatives, Flight};
use carom::scene::file;
use carom::scene::instant::{Instant, TOUCHING, name};
use carom::scene::model::Scene;
use nalgebra::{Matrix3, Vector3};
use serde::Serialize;

use super::input::Input;
use crate::diagnostics::Refusal;
use crate::report::{self, Style};
use crate::{Failure, Verdict};

/// The command's arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The scene, TOML or JSON; `-` reads standard input
    scene: PathBuf,

    /// How close, relative to the sizes of two bodies, counts as touching
    #[arg(long, value_name = "X", default_value_t = TOUCHING, value_parser = parse_tolerance)]
    touching: f64,

    /// What counts as zero of v, g'', g''', slip and w, relative to the sizes of what they are made of
    #[arg(long, value_name = "X", default_value_t = Tolerances::default().rates, value_parser = parse_tolerance)]
    tolerance: f64,

    /// Draw where near each contact the second body would enter the first
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// How long before and after the contact to draw, and to list in --json; by default a small part of a turn
    #[arg(long, value_name = "T", value_parser = parse_span)]
    span: Option<f64>,

    /// Print one JSON document and nothing else
    #[arg(long)]
    pub json: bool,
}

const AFTER_HELP: &str = "\
Types, by the first derivative of the gap that is not zero in free flight:
  normal            v < 0: an impulse
  separating        v > 0
  graze             v = 0, g'' > 0: touch and part
  unrealizable      v = 0, g'' < 0: overlapping before and after; a contact that a force holds looks so
  paradox_2b_star   v = g'' = 0, g''' < 0: nothing closes, yet free flight penetrates; no slip
  paradox_2b        the same with slip, the contact point at rest on one body
  paradox_marginal  the same with the contact point moving over both
  degenerate        none of these

Examples:
  carom classify cases/papers/paradox.toml
  carom classify cases/papers/paradox.toml --svg neighbourhood.svg --span 0.1";

fn parse_tolerance(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if (0.0..=0.1).contains(&x) => Ok(x),
        _ => Err("expected a number from 0 to 0.1".to_string()),
    }
}

fn parse_span(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(t) if f64::is_finite(t) && t > 0.0 => Ok(t),
        _ => Err("expected a time greater than 0".to_string()),
    }
}

/// A contact, or two bodies that overlap.
pub struct Found {
    /// The names, a plane first.
    pub bodies: [String; 2],
    /// What it is.
    pub class: Classification,
    /// n·M·n.
    pub effective_inverse_mass: f64,
    /// The picture, where asked for.
    pub neighbourhood: Option<Neighbourhood>,
}

/// Everything found in a scene.
pub struct Findings {
    /// Those that touch.
    pub contacts: Vec<Found>,
    /// Those that overlap, the deepest first.
    pub overlaps: Vec<Found>,
    /// The nearest pair of those apart: names and gap.
    pub nearest: Option<([String; 2], f64)>,
    /// What else to know.
    pub notes: Vec<String>,
}

/// Reads, classifies, draws, prints.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let (input, scene) = Input::read(&arguments.scene)?.scene()?;
    if !scene.fills.is_empty() {
        let message = "has no bodies yet at the scene's instant";
        let expected = "bodies with positions of their own";
        let diagnostic = file::explain(&input.text, input.format, "fill[0]", message, expected);
        return Err(input.refuse(vec![diagnostic]).into());
    }
    let draw = (arguments.svg.is_some() || arguments.span.is_some()).then_some(arguments.span);
    let tolerances = Tolerances { touching: arguments.touching, rates: arguments.tolerance };
    let found = findings(&scene, tolerances, draw);
    let sick = found.contacts.iter().chain(&found.overlaps).find(|pair| !pair.class.kinematics.v.is_finite());
    if let Some(pair) = sick {
        let [first, second] = &pair.bodies;
        let message = format!("the motion of `{first}` and `{second}` is beyond the range of 64-bit floats");
        let diagnostic =
            file::explain(&input.text, input.format, "body[0]", &message, "a motion that can be computed");
        return Err(input.refuse(vec![diagnostic]).into());
    }
    if let Some(path) = &arguments.svg {
        fs::write(path, report::neighbourhood::svg(&found.contacts)).map_err(|error| {
            let message = format!("`{}` cannot be written: {error}", path.display());
            Refusal::of_command_line(Some("--svg"), &message, None)
        })?;
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    if arguments.json {
        serde_json::to_writer(&mut out, &document(&scene, &found)).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        report::classify::write(&mut out, &scene, &found, Style::of_stdout())?;
    }
    out.flush()?;
    Ok(Verdict::Done)
}

/// The first contact of a scene, and the picture of its neighbourhood.
pub fn json(scene: &Scene) -> Option<Vec<u8>> {
    #[derive(Serialize)]
    struct Look<'a> {
        contact: ContactDocument<'a>,
        svg: Option<String>,
    }
    let mut found = findings(scene, Tolerances::default(), Some(None));
    let svg = report::neighbourhood::svg(&found.contacts);
    let first = found.contacts.first_mut().or(found.overlaps.first_mut())?;
    // The picture shows it.
    let svg = first.neighbourhood.take().map(|_| svg);
    serde_json::to_vec(&Look { contact: contact(first), svg }).ok()
}

/// Every pair that touches or overlaps; `draw` asks for pictures, over a span if it is given.
fn findings(scene: &Scene, tolerances: Tolerances, draw: Option<Option<f64>>) -> Findings {
    let instant = Instant {
        bodies: scene.bodies.iter().map(|b| (b.body, b.state)).collect(),
        joints: scene.joints.clone(),
        contacts: Vec::new(),
        detected: true,
        nearest: None,
    };
    let near = tolerances.touching;
    let mut found = Findings { contacts: Vec::new(), overlaps: Vec::new(), nearest: None, notes: Vec::new() };
    instant.each_near_pair(scene, near, |sides, image, gap, size| {
        let names = || sides.map(|side| name(scene, side).to_string());
        if gap.gap > near * size {
            if found.nearest.as_ref().is_none_or(|(_, least)| gap.gap < *least) {
                found.nearest = Some((names(), gap.gap));
            }
            return;
        }
        let pair = Pair { scene, sides, image, gap };
        let touching = gap.gap >= -near * size;
        let Some(one) = pair.classify(names(), tolerances, draw.filter(|_| touching)) else {
            return;
        };
        if touching { found.contacts.push(one) } else { found.overlaps.push(one) }
    });
    found.overlaps.sort_by(|a, b| a.class.kinematics.gap.total_cmp(&b.class.kinematics.gap));
    found.notes = notes(scene, &found);
    found
}

/// Two sides near each other.
struct Pair<'a> {
    scene: &'a Scene,
    sides: [Side; 2],
    image: Vector3<f64>,
    gap: Gap,
}

impl Pair<'_> {
    fn classify(
        &self,
        bodies: [String; 2],
        tolerances: Tolerances,
        draw: Option<Option<f64>>,
    ) -> Option<Found> {
        let Side::Body(j) = self.sides[1] else { return None };
        let (scene, second) = (self.scene, &self.scene.bodies[j]);
        let state = State { position: second.state.position + self.image, ..second.state };
        let moving =
            |body: &'_ carom::body::Body, state: &State| Derivatives::new(body, state, &scene.gravity);
        let two = Moving { shape: &second.body.shape, state, derivatives: moving(&second.body, &state) };
        let one = match self.sides[0] {
            Side::Plane(k) => Facing::Plane(&scene.planes[k].half_space),
            Side::Body(i) => {
                let first = &scene.bodies[i];
                let derivatives = moving(&first.body, &first.state);
                Facing::Body(Moving { shape: &first.body.shape, state: first.state, derivatives })
            }
        };
        let class = classify(&one, &two, &self.gap, tolerances);
        let k = &class.kinematics;
        let first = match self.sides[0] {
            Side::Plane(_) => None,
            Side::Body(i) => Some((&scene.bodies[i].body, &scene.bodies[i].state)),
        };
        let effective_inverse_mass =
            effective_inverse_mass([first, Some((&second.body, &state))], &k.points, &k.normal);
        let flight = Flight::new(&second.body, &state, &scene.gravity);
        let neighbourhood = draw.and_then(|span| {
            let times = times(span.unwrap_or_else(|| readable_span(&class)));
            match self.sides[0] {
                Side::Plane(i) => neighbourhood(
                    Other::Plane(&scene.planes[i].half_space),
                    (&second.body.shape, &flight),
                    k,
                    &times,
                ),
                Side::Body(i) => {
                    let first = &scene.bodies[i];
                    let other = Flight::new(&first.body, &first.state, &scene.gravity);
                    neighbourhood(
                        Other::Body(&first.body.shape, &other),
                        (&second.body.shape, &flight),
                        k,
                        &times,
                    )
                }
            }
        });
        Some(Found { bodies, class, effective_inverse_mass, neighbourhood })
    }
}

/// A twentieth of the time that the motion takes over the bodies' size; one second where nothing moves.
fn readable_span(class: &Classification) -> f64 {
    let s = &class.scales;
    let rate = (s.speed / s.length).max((s.acceleration / s.length).sqrt());
    if rate > 0.0 { 0.05 / rate } else { 1.0 }
}

/// Four times before and four after.
fn times(span: f64) -> Vec<f64> {
    [-1.0, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1.0].map(|part| part * span).to_vec()
}

fn notes(scene: &Scene, found: &Findings) -> Vec<String> {
    let mut notes = Vec::new();
    if !scene.contacts.is_empty() {
        notes.push("the contacts that the scene gives are for solve; these are detected".to_string());
    }
    let held: Vec<&str> = scene
        .bodies
        .iter()
        .enumerate()
        .filter(|(i, b)| {
            scene.joints.iter().any(|joint| joint.bodies.contains(i))
                && found.contacts.iter().any(|contact| contact.bodies.contains(&b.name))
        })
        .map(|(_, b)| b.name.as_str())
        .collect();
    if !held.is_empty() {
        notes.push(format!(
            "held by joints, which a, g2 and g3 leave out, being those of free flight: {}",
            held.join(", ")
        ));
    }
    for contact in &found.contacts {
        let [first, second] = &contact.bodies;
        match contact.class.kinematics.fit {
            Fit::Curved => {}
            Fit::Flat => notes.push(format!(
                "{first} and {second} are flat where they touch: the contact point is not determined, and g3 is not used"
            )),
            Fit::Rocking => notes.push(format!(
                "{first} and {second} are flat where they touch and turn about the flat: g2 is minus infinity"
            )),
        }
    }
    notes
}

#[derive(Serialize)]
struct Document<'a> {
    title: Option<&'a str>,
    contacts: Vec<ContactDocument<'a>>,
    overlapping: Vec<ContactDocument<'a>>,
    nearest: Option<NearestPair<'a>>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct NearestPair<'a> {
    bodies: &'a [String; 2],
    gap: f64,
}

#[derive(Serialize)]
struct ContactDocument<'a> {
    bodies: &'a [String; 2],
    #[serde(rename = "type")]
    kind: &'static str,
    standing: &'static str,
    gap: f64,
    point: [f64; 3],
    points: [[f64; 3]; 2],
    normal: [f64; 3],
    v: f64,
    a: f64,
    w: [f64; 3],
    threshold: f64,
    g2: f64,
    g3: f64,
    curvature_1: [[f64; 3]; 3],
    curvature_2: [[f64; 3]; 3],
    relative_curvature: [f64; 2],
    fit: &'static str,
    slip: [f64; 3],
    normal_rate: [f64; 3],
    rolling: [[f64; 3]; 2],
    effective_inverse_mass: f64,
    scales: ScalesDocument,
    tolerance: f64,
    ratios: RatiosDocument,
    nearest_type: Option<NearestDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    neighbourhood: Option<NeighbourhoodDocument>,
}

/// What v, slip, w, g2 and g3 are measured beside.
#[derive(Serialize)]
struct ScalesDocument {
    length: f64,
    speed: f64,
    turn: f64,
    acceleration: f64,
    jerk: f64,
}

/// The quantities over their tolerances.
#[derive(Serialize)]
struct RatiosDocument {
    v: f64,
    g2: f64,
    g3: f64,
    slip: f64,
    w: f64,
}

#[derive(Serialize)]
struct NearestDocument {
    #[serde(rename = "type")]
    kind: &'static str,
    by: &'static str,
    factor: f64,
}

#[derive(Serialize)]
struct NeighbourhoodDocument {
    origin: [f64; 3],
    tangents: [[f64; 3]; 2],
    patches: Vec<PatchDocument>,
}

#[derive(Serialize)]
struct PatchDocument {
    time: f64,
    gap: f64,
    predicted_gap: f64,
    predicted_deepest: [f64; 2],
    semi_axes: Option<[f64; 2]>,
    axis: [f64; 2],
    deepest: [f64; 2],
    outline: Vec<[f64; 2]>,
}

fn document<'a>(scene: &'a Scene, found: &'a Findings) -> Document<'a> {
    Document {
        title: scene.title.as_deref(),
        contacts: found.contacts.iter().map(contact).collect(),
        overlapping: found.overlaps.iter().map(contact).collect(),
        nearest: found.nearest.as_ref().map(|(bodies, gap)| NearestPair { bodies, gap: *gap }),
        notes: &found.notes,
    }
}

/// A matrix as rows.
fn matrix(m: &Matrix3<f64>) -> [[f64; 3]; 3] {
    m.transpose().into()
}

fn contact(found: &Found) -> ContactDocument<'_> {
    let Classification { kind, standing, kinematics: k, scales, tolerances, ratios, nearest } = &found.class;
    ContactDocument {
        bodies: &found.bodies,
        kind: kind.name(),
        standing: match standing {
            Standing::Touching => "touching",
            Standing::Apart(_) => "apart",
            Standing::Overlapping(_) => "overlapping",
        },
        gap: k.gap,
        point: ((k.points[0] + k.points[1]) * 0.5).into(),
        points: k.points.map(Into::into),
        normal: k.normal.into(),
        v: k.v,
        a: k.a,
        w: k.w.into(),
        threshold: k.threshold,
        g2: k.g2,
        g3: k.g3,
        curvature_1: matrix(&k.curvature_1),
        curvature_2: matrix(&k.curvature_2),
        relative_curvature: k.relative_curvature,
        fit: fit_name(k.fit),
        slip: k.slip.into(),
        normal_rate: k.normal_rate.into(),
        rolling: k.rolling.map(Into::into),
        effective_inverse_mass: found.effective_inverse_mass,
        scales: ScalesDocument {
            length: scales.length,
            speed: scales.speed,
            turn: scales.turn,
            acceleration: scales.acceleration,
            jerk: scales.jerk,
        },
        tolerance: tolerances.rates,
        ratios: RatiosDocument { v: ratios.v, g2: ratios.g2, g3: ratios.g3, slip: ratios.slip, w: ratios.w },
        nearest_type: nearest.map(|n| NearestDocument { kind: n.kind.name(), by: n.by, factor: n.factor }),
        neighbourhood: found.neighbourhood.as_ref().map(|n| NeighbourhoodDocument {
            origin: n.origin.into(),
            tangents: n.tangents.map(Into::into),
            patches: n
                .patches
                .iter()
                .map(|p| PatchDocument {
                    time: p.time,
                    gap: p.gap,
                    predicted_gap: p.predicted_gap,
                    predicted_deepest: p.predicted_deepest.into(),
                    semi_axes: p.semi_axes,
                    axis: p.axis.into(),
                    deepest: p.deepest.into(),
                    outline: p.outline.iter().map(|&x| x.into()).collect(),
                })
                .collect(),
        }),
    }
}

/// The word for how two surfaces fit.
pub const fn fit_name(fit: Fit) -> &'static str {
    match fit {
        Fit::Curved => "curved",
        Fit::Flat => "flat",
        Fit::Rocking => "rocking",
    }
}
