//! A closer look at one event of a run: the gap around it, its classification, and what every law makes of it.

use carom::body::State;
use carom::contact::Side;
use carom::joint::Kind as JointKind;
use carom::motion::Flight;
use carom::record::{Kind, Recorder, Sample};
use carom::run::World;
use carom::scene::instant::{TOUCHING, name};
use carom::scene::model::Scene;
use carom::simulation::Simulation;
use nalgebra::{Point3, Unit, Vector3};
use serde::Serialize;

use super::{BodyStates, EventContact};
use crate::classify::{Findings, Request};
use crate::compare::Comparison;
use crate::gap;
use crate::options::SPAN;
use crate::run::Frames;
use crate::solve::Prepared;
use crate::{Input, Subject};

/// The gap of the pair of an event around it.
#[derive(Debug, Serialize)]
pub struct GapCurve {
    pair: [String; 2],
    times: Vec<f64>,
    gap: Vec<f64>,
    /// The gap if the bodies flew freely from just before the event on.
    free: Vec<f64>,
}

/// The most events of a run that is run again for a look at a contact that lasts.
const AGAIN: u64 = 20_000;

/// The time before and after an event that a curve shows, and its points, where nothing else is asked for.
const USUAL_SPAN: f64 = 0.1;
const USUAL_POINTS: usize = 201;

/// An event of a run whose bodies' states were recorded.
pub struct EventLook<'a> {
    scene: &'a Scene,
    contact: &'a EventContact,
}

impl<'a> EventLook<'a> {
    /// The event of these contacts; `None` if the states around it were not recorded, as in the many-body loop.
    pub fn of(scene: &'a Scene, contacts: &'a [EventContact]) -> Option<Self> {
        let contact = contacts.first().filter(|contact| !contact.states.is_empty())?;
        Some(Self { scene, contact })
    }

    /// A body just before the event or just after; a fixed body takes no part and stays where it is.
    fn at(&self, body: usize, after: bool, t: f64) -> State {
        let own = &self.scene.bodies[body];
        self.contact.states.iter().find(|states| states.body == body).map_or(own.state, |states| {
            let state = if after { &states.after } else { &states.before };
            Flight::new(&own.body, state, &self.scene.gravity).at(t)
        })
    }

    /// The gap of the pair from `span` before to `span` after, at an odd number of times.
    pub fn gap(&self, span: Option<f64>, points: Option<usize>) -> GapCurve {
        let Self { scene, contact } = self;
        let span = span.filter(|&span| SPAN.contains(span)).unwrap_or(USUAL_SPAN);
        let half = points.unwrap_or(USUAL_POINTS).clamp(3, 2001) / 2;
        #[expect(clippy::cast_precision_loss, reason = "at most a thousand")]
        let (times, step): (Vec<f64>, f64) =
            ((0..=2 * half).map(|k| span * (k as f64 / half as f64 - 1.0)).collect(), span / half as f64);
        let measure =
            |after: bool, t: f64| gap::between(scene, contact.sides, |body| self.at(body, after, t));
        let free: Vec<f64> = times.iter().map(|&t| measure(false, t)).collect();
        let mut gap: Vec<f64> = times.iter().map(|&t| measure(t > 0.0, t)).collect();
        // Held and constrained motion is not free flight: it is run again, with samples where the curve has its points.
        let tied = !scene.joints.is_empty() || !scene.loads.is_empty();
        let lasts = tied || !matches!(contact.kind, Kind::Impact | Kind::Graze);
        if lasts && contact.number < AGAIN {
            let from = (contact.time - span).max(0.0);
            let wanted: Vec<f64> = times.iter().map(|t| contact.time + t).filter(|&t| t >= from).collect();
            for (time, value) in self.again(&wanted, step) {
                let nearest = times.iter().map(|t| (contact.time + t - time).abs());
                if let Some((k, _)) = nearest.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)) {
                    gap[k] = value;
                }
            }
        }
        let pair = contact.sides.map(|side| name(scene, side).to_string());
        GapCurve { pair, times: times.iter().map(|t| contact.time + t).collect(), gap, free }
    }

    /// Runs to the last of some times, and measures the gap at about those times.
    fn again(&self, times: &[f64], step: f64) -> Vec<(f64, f64)> {
        let (Some(&from), Some(&until)) = (times.first(), times.last()) else { return Vec::new() };
        let (world, states) = World::of(self.scene);
        let mut settings = self.scene.run;
        (settings.until, settings.sample, settings.record_events) = (until, step, false);
        let Ok(mut simulation) = Simulation::new(world, &states, settings) else { return Vec::new() };
        let frames = Frames::new(self.scene.bodies.len());
        let sides = self.contact.sides;
        let mut window = Window { scene: self.scene, sides, from, frames, found: Vec::new() };
        simulation.run(&mut window, |_| true);
        window.found
    }

    /// The bodies of the event just before it, as a scene of their own.
    fn instant(&self) -> Scene {
        let mut scene = self.scene.clone();
        let states = &self.contact.states;
        move_joints(&mut scene, states);
        let mut kept = Vec::new();
        for (body, own) in scene.bodies.iter_mut().enumerate() {
            match states.iter().find(|states| states.body == body) {
                Some(states) => {
                    own.state = states.before;
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
        scene
    }

    /// Every law at the instant of the event, as `carom compare --json` prints it; `None` if there is nothing to compare.
    pub fn laws(&self, text: &str) -> Option<Vec<u8>> {
        let input = Input::of_text("the event", text.to_string(), None);
        let prepared = Prepared::of(Subject { input, scene: self.instant() }, TOUCHING).ok()?;
        serde_json::to_vec(&Comparison::where_possible(&prepared)?.document()).ok()
    }

    /// The classification of the event's contact, and the picture of its neighbourhood.
    pub fn class(&self) -> Option<Vec<u8>> {
        let request = Request { neighbourhood: true, ..Request::default() };
        serde_json::to_vec(&Findings::of(&self.instant(), &request).look()?).ok()
    }
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

/// Moves joints along with their bodies.
fn move_joints(scene: &mut Scene, states: &[BodyStates]) {
    for joint in &mut scene.joints {
        let Some(&body) = joint.bodies.first() else { continue };
        let Some(states) = states.iter().find(|states| states.body == body) else { continue };
        let moved = states.before.pose() * scene.bodies[body].state.pose().inverse();
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
