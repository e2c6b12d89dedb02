//! A closer look at one event of a run: the gap around it, its classification, and what every law makes of it.

use carom::body::State;
use carom::contact::Side;
use carom::joint::Kind as JointKind;
use carom::motion::Flight;
use carom::record::{Kind, Recorder, Sample};
use carom::scene::instant::{TOUCHING, name};
use carom::scene::model::Scene;
use carom::simulation::Simulation;

use carom::run::World;
use carom_answers::classify::{Findings, Request};
use carom_answers::compare::Comparison;
use carom_answers::run::Frames;
use carom_answers::solve::Prepared;
use carom_answers::{Input, Subject, gap};
use nalgebra::{Point3, Unit, Vector3};
use serde::Serialize;

use super::runs::{Around, Happening, Run};

/// The gap of the pair of an event around it.
#[derive(Debug, Serialize)]
pub struct Curve {
    pair: [String; 2],
    times: Vec<f64>,
    gap: Vec<f64>,
    /// What free flight from just before the event would do.
    free: Vec<f64>,
}

/// The most events of a run that is run again for a look at a contact that lasts.
const AGAIN: u64 = 20_000;

/// The gap of an event's pair from `span` before to `span` after, at an odd number of times.
pub fn curve(run: &Run, event: u64, span: f64, points: usize) -> Option<Curve> {
    let contacts = run.happened(event);
    // A crowd does not keep the states around its collisions.
    let contact = contacts.first().filter(|contact| !contact.states.is_empty())?;
    let scene = &run.scene;
    let half = points.clamp(3, 2001) / 2;
    #[expect(clippy::cast_precision_loss, reason = "at most a thousand")]
    let times: Vec<f64> = (0..=2 * half).map(|k| span * (k as f64 / half as f64 - 1.0)).collect();
    let flights = |after: bool| {
        move |body: usize| {
            let (_, one, two) = contact.states.iter().find(|(other, ..)| *other == body)?;
            let state = if after { two } else { one };
            Some(Flight::new(&scene.bodies[body].body, state, &scene.gravity))
        }
    };
    let at = |body: usize, after: bool, t: f64| -> State {
        // A fixed body takes no part and stays where it is.
        flights(after)(body).map_or(scene.bodies[body].state, |flight| flight.at(t))
    };
    let measure = |after: bool, t: f64| gap::between(scene, contact.sides, |body| at(body, after, t));
    let free: Vec<f64> = times.iter().map(|&t| measure(false, t)).collect();
    let mut gap: Vec<f64> = times.iter().map(|&t| measure(t > 0.0, t)).collect();
    // Held and tied motion is no free flight: the run is run again, with samples where the curve has its points.
    let tied = !scene.joints.is_empty() || !scene.loads.is_empty();
    let lasts = tied || !matches!(contact.kind, Kind::Impact | Kind::Graze);
    if lasts && event < AGAIN && span > 0.0 {
        let from = (contact.time - span).max(0.0);
        let wanted: Vec<f64> = times.iter().map(|t| contact.time + t).filter(|&t| t >= from).collect();
        for (time, value) in again(run, contact, &wanted, span / half as f64) {
            let nearest = times.iter().map(|t| (contact.time + t - time).abs());
            if let Some((k, _)) = nearest.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)) {
                gap[k] = value;
            }
        }
    }
    let pair = contact.sides.map(|side| name(scene, side).to_string());
    Some(Curve { pair, times: times.iter().map(|t| contact.time + t).collect(), gap, free })
}

/// The gaps of a pair from a time on.
struct Window<'a> {
    scene: &'a Scene,
    sides: [Side; 2],
    from: f64,
    frames: Frames,
    found: Vec<(f64, f64)>,
}

impl Recorder for Window<'_> {
    fn events(&mut self, _: &[carom::record::Event]) {}

    fn samples(&mut self, samples: &[Sample]) {
        for sample in samples {
            let Some(frame) = self.frames.take(sample).filter(|frame| frame.time >= self.from) else {
                continue;
            };
            let gap = gap::between(self.scene, self.sides, |body| frame.states[body]);
            self.found.push((frame.time, gap));
        }
    }
}

/// Runs to the last of some times, and measures the gap at about those times.
fn again(run: &Run, contact: &Happening, times: &[f64], step: f64) -> Vec<(f64, f64)> {
    let (Some(&from), Some(&until)) = (times.first(), times.last()) else { return Vec::new() };
    let (world, states) = World::of(&run.scene);
    let mut settings = run.scene.run;
    (settings.until, settings.sample, settings.record_events) = (until, step, false);
    let Ok(mut simulation) = Simulation::new(world, &states, settings) else { return Vec::new() };
    let frames = Frames::new(run.scene.bodies.len());
    let mut window = Window { scene: &run.scene, sides: contact.sides, from, frames, found: Vec::new() };
    simulation.run(&mut window, |_| true);
    window.found
}

/// The bodies of an event as they come to it, as a scene of their own.
fn instant(run: &Run, event: u64) -> Option<Scene> {
    let contacts = run.happened(event);
    let states = contacts.first().filter(|contact| !contact.states.is_empty())?.states.clone();
    let mut scene = Scene::clone(&run.scene);
    move_joints(&mut scene, &states);
    let mut kept = Vec::new();
    for (body, own) in scene.bodies.iter_mut().enumerate() {
        match states.iter().find(|(other, ..)| *other == body) {
            Some((_, before, _)) => {
                own.state = *before;
                kept.push(body);
            }
            None if own.body.fixed => kept.push(body),
            None => {}
        }
    }
    let renumbered = |body: usize| kept.iter().position(|&old| old == body);
    let renumber = |side: Side| match side {
        Side::Plane(k) => Some(Side::Plane(k)),
        Side::Body(body) => renumbered(body).map(Side::Body),
    };
    scene.surface.pairs = std::mem::take(&mut scene.surface.pairs)
        .into_iter()
        .filter_map(|mut pair| {
            pair.sides = [renumber(pair.sides[0])?, renumber(pair.sides[1])?];
            Some(pair)
        })
        .collect();
    scene.bodies = kept.iter().map(|&body| scene.bodies[body].clone()).collect();
    scene.joints.retain(|joint| joint.bodies.iter().all(|&body| renumbered(body).is_some()));
    for joint in &mut scene.joints {
        joint.bodies = joint.bodies.iter().filter_map(|&body| renumbered(body)).collect();
    }
    scene.contacts.clear();
    scene.fills.clear();
    Some(scene)
}

/// Takes joints to where their bodies have gone.
fn move_joints(scene: &mut Scene, states: &[Around]) {
    for joint in &mut scene.joints {
        let Some(&body) = joint.bodies.first() else { continue };
        let Some((_, now, _)) = states.iter().find(|(other, ..)| *other == body) else { continue };
        let moved = now.pose() * scene.bodies[body].state.pose().inverse();
        let at = |point: &mut Vector3<f64>| *point = (moved * Point3::from(*point)).coords;
        let turn = |axis: &mut Unit<Vector3<f64>>| *axis = moved.rotation * *axis;
        match &mut joint.kind {
            JointKind::Hinge { point, axis } => {
                at(point);
                turn(axis);
            }
            JointKind::Ball { point } => at(point),
            JointKind::Slider { axis } => turn(axis),
            JointKind::KnifeEdge { point, normal } => {
                at(point);
                turn(normal);
            }
            JointKind::Weld | JointKind::Rolling { .. } | JointKind::Rows(_) => {}
        }
    }
}

/// Every law at the instant of an event, as `carom compare --json` prints it; none where there is nothing to compare.
pub fn laws(run: &Run, event: u64) -> Option<Vec<u8>> {
    let input = Input::of_text("the event", run.text.clone(), None);
    let prepared = Prepared::of(Subject { input, scene: instant(run, event)? }, TOUCHING).ok()?;
    serde_json::to_vec(&Comparison::where_possible(&prepared)?.document()).ok()
}

/// The classification of an event's contact, and the picture of its neighbourhood.
pub fn class(run: &Run, event: u64) -> Option<Vec<u8>> {
    let request = Request { neighbourhood: true, ..Request::default() };
    serde_json::to_vec(&Findings::of(&instant(run, event)?, &request).look()?).ok()
}
