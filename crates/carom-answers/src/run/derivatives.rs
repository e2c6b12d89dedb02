//! The derivatives of a run, asked for by the paths of numbers, and their part of the document.

use carom::body::State;
use carom::contact::Side;
use carom::derivative::{Chain, Derivatives, Parameter, Rounding, Tape, parameters, quaternion_rows};
use carom::record::{Event, JointReaction, Recorder, Sample};
use carom::run::Stopped;
use carom::scene::instant::name;
use carom::scene::model::Scene;
use carom::scene::template::Template;
use nalgebra::DMatrix;
use serde::{Serialize, Serializer};

use super::engine::Loop;
use super::{End, Running, Sink};
use crate::InputError;

/// The name of the option.
const OPTION: &str = "derivatives";

/// What a run records for its derivatives.
pub(super) struct Derivation {
    parameters: Vec<Parameter>,
    tape: Tape,
    start: Vec<State>,
}

impl Running {
    /// Asks for the derivatives of the run by numbers of its scene, before it makes its first step.
    pub fn differentiate(&mut self, paths: &[String]) -> Result<(), InputError> {
        if paths.is_empty() {
            return Ok(());
        }
        let refuse =
            |message: &str, expected: &str| Err(InputError::of_option(Some(OPTION), message, Some(expected)));
        let scene = &*self.scene;
        if let Some(joint) = scene.joints.first() {
            let message = format!(
                "derivatives of motion under joints are not computed yet, and the scene has the joint `{}`",
                joint.name
            );
            return refuse(&message, "a scene of free bodies");
        }
        if let Some(load) = scene.loads.first() {
            let message = format!(
                "derivatives of motion under loads are not computed yet, and the scene has the load `{}`",
                load.name
            );
            return refuse(&message, "a scene of free bodies");
        }
        if self.engine.which() == Loop::Edmd {
            return refuse("the many-body loop records no states for derivatives", "--loop simulation");
        }
        if !scene.run.record_events {
            return refuse(
                "`record_events` is false, and derivatives are made of the events",
                "`record_events = true`",
            );
        }
        let template = match Template::new(&self.input.text, self.input.format) {
            Ok(template) => template,
            Err(diagnostics) => return Err(self.input.error(diagnostics)),
        };
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        match parameters(&template, scene, &paths) {
            Ok(parameters) => {
                let start = scene.bodies.iter().map(|body| body.state).collect();
                self.derivation = Some(Derivation { parameters, tape: Tape::default(), start });
                Ok(())
            }
            Err(wrong) => refuse(&format!("`{}` {}", wrong.path, wrong.message), &wrong.expected),
        }
    }

    /// The derivatives of the run as it stands, if they were asked for.
    pub fn derivatives(&self) -> Option<DerivativesEntry<'_>> {
        let derivation = self.derivation.as_ref()?;
        let engine = &self.engine;
        let stepped: Vec<(f64, Vec<usize>)> = engine
            .stepped()
            .iter()
            .map(|interval| (interval.from, interval.bodies.iter().map(|&body| body as usize).collect()))
            .collect();
        let chain = Chain::new(engine.world(), &derivation.start, &derivation.tape, engine.time(), &stepped);
        let mut directions: Vec<_> = derivation.parameters.iter().map(|p| p.direction.clone()).collect();
        if self.end() != Some(End::Stopped(Stopped::Until)) {
            // Something else ended the run, at a time of its own.
            directions.iter_mut().for_each(|direction| direction.until = 0.0);
        }
        let found = chain.forward(&directions);
        Some(DerivativesEntry::of(&self.scene, &derivation.parameters, &engine.states(), &found))
    }
}

/// Passes a run on to a sink, and what derivatives need to their tape.
pub(super) struct Taped<'a, S> {
    /// The tape, if there is one.
    pub derivation: Option<&'a mut Derivation>,
    /// Receives everything.
    pub sink: &'a mut S,
}

impl<S: Sink> Recorder for Taped<'_, S> {
    fn events(&mut self, events: &[Event]) {
        if let Some(derivation) = &mut self.derivation {
            derivation.tape.events(events);
        }
        self.sink.events(events);
    }

    fn samples(&mut self, samples: &[Sample]) {
        if let Some(derivation) = &mut self.derivation {
            derivation.tape.samples(samples);
        }
        self.sink.samples(samples);
    }

    fn reactions(&mut self, reactions: &[JointReaction]) {
        self.sink.reactions(reactions);
    }

    fn wants_states(&self) -> bool {
        self.derivation.is_some() || self.sink.wants_states()
    }
}

impl<S: Sink> Sink for Taped<'_, S> {
    fn wants_samples(&self) -> bool {
        self.sink.wants_samples()
    }
}

/// The derivatives for programs.
#[derive(Debug, Serialize)]
pub struct DerivativesEntry<'a> {
    /// The paths of the numbers, in the order of the columns.
    pub parameters: Vec<String>,
    /// Of the final states, by name; null where there is no derivative.
    #[serde(rename = "final", serialize_with = "by_name")]
    pub states: Vec<(&'a str, Option<StateRows>)>,
    /// Of the events, in the order of their numbers.
    pub events: Vec<EventRow>,
    /// Where there is no derivative, or none that is computed.
    pub undefined: Vec<UndefinedEntry<'a>>,
    /// What rounding has grown to, by name.
    #[serde(serialize_with = "by_name")]
    rounding: Vec<(&'a str, Option<RoundingEntry>)>,
}

/// The derivatives of a body's state: a row for each number, a column for each parameter.
#[derive(Debug, Serialize)]
pub struct StateRows {
    /// Of the position.
    pub position: [Vec<f64>; 3],
    /// Of the quaternion, scalar first.
    pub orientation: [Vec<f64>; 4],
    /// Of the velocity.
    pub velocity: [Vec<f64>; 3],
    /// Of the angular velocity.
    pub angular_velocity: [Vec<f64>; 3],
}

/// The derivatives of an event.
#[derive(Debug, Serialize)]
pub struct EventRow {
    /// The event's number.
    pub number: u64,
    /// Of its time.
    pub time: Option<Vec<f64>>,
    /// Of its normal impulse.
    pub impulse: Option<Vec<f64>>,
}

/// Where there is no derivative.
#[derive(Debug, Serialize)]
pub struct UndefinedEntry<'a> {
    /// The event's number, if it is one.
    pub event: Option<u64>,
    /// When.
    pub time: f64,
    /// Whose, by name.
    pub bodies: Vec<&'a str>,
    cause: &'static str,
    /// Whether there is one that is not computed.
    uncovered: bool,
    /// In words.
    pub reason: String,
}

#[derive(Debug, Serialize)]
struct RoundingEntry {
    position: f64,
    orientation: f64,
    velocity: f64,
    angular_velocity: f64,
    growth: f64,
}

fn by_name<S: Serializer, T: Serialize>(list: &[(&str, T)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(list.iter().map(|(name, value)| (name, value)))
}

impl<'a> DerivativesEntry<'a> {
    fn of(scene: &'a Scene, parameters: &[Parameter], last: &[State], found: &Derivatives) -> Self {
        let body = |body: usize| name(scene, Side::Body(body));
        let rounding = |rounding: &Rounding| RoundingEntry {
            position: rounding.position,
            orientation: rounding.orientation,
            velocity: rounding.velocity,
            angular_velocity: rounding.angular_velocity,
            growth: rounding.growth,
        };
        let states = found.states.iter().zip(last).enumerate();
        Self {
            parameters: parameters.iter().map(|parameter| parameter.name.clone()).collect(),
            states: states
                .map(|(k, (matrix, state))| (body(k), matrix.as_ref().map(|m| StateRows::of(m, state))))
                .collect(),
            events: found
                .events
                .iter()
                .map(|event| EventRow {
                    number: event.number,
                    time: event.time.clone(),
                    impulse: event.impulse.clone(),
                })
                .collect(),
            undefined: found
                .undefined
                .iter()
                .map(|entry| UndefinedEntry {
                    event: entry.event,
                    time: entry.time,
                    bodies: entry.bodies.iter().map(|&k| body(k)).collect(),
                    cause: entry.cause.name(),
                    uncovered: entry.cause.is_uncovered(),
                    reason: entry.cause.to_string(),
                })
                .collect(),
            rounding: found
                .rounding
                .iter()
                .enumerate()
                .map(|(k, one)| (body(k), one.as_ref().map(rounding)))
                .collect(),
        }
    }
}

impl StateRows {
    fn of(matrix: &DMatrix<f64>, state: &State) -> Self {
        let row =
            |matrix: &DMatrix<f64>, at: usize| matrix.row(at).iter().map(|x| x + 0.0).collect::<Vec<f64>>();
        let three = |at: usize| [row(matrix, at), row(matrix, at + 1), row(matrix, at + 2)];
        let turned = quaternion_rows(&state.orientation) * matrix.rows(3, 3);
        let turned = DMatrix::from_fn(4, matrix.ncols(), |i, j| turned[(i, j)]);
        Self {
            position: three(0),
            orientation: [0, 1, 2, 3].map(|i| row(&turned, i)),
            velocity: three(6),
            angular_velocity: three(9),
        }
    }
}
