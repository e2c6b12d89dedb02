//! What a sweep records of a run while it goes on.

use carom::body::State;
use carom::record::{Event, Recorder, Sample};
use carom::scene::instant;
use carom::scene::model::Scene;

use crate::run::Sink;

/// The first event of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct FirstEvent {
    /// When.
    pub time: f64,
    /// What happened.
    pub kind: &'static str,
    /// The sides.
    pub sides: [String; 2],
    /// Where.
    pub point: [f64; 3],
    /// From the first to the second.
    pub normal: [f64; 3],
    /// The rate of the gap before.
    pub approach: f64,
    /// The normal impulse.
    pub impulse: f64,
}

/// The extrema of one body: of its three coordinates, and the greatest speed and spin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extrema {
    pub least: [f64; 3],
    pub greatest: [f64; 3],
    pub speed: f64,
    pub spin: f64,
}

impl Extrema {
    const NONE: Self =
        Self { least: [f64::INFINITY; 3], greatest: [f64::NEG_INFINITY; 3], speed: 0.0, spin: 0.0 };

    pub fn take(&mut self, state: &State) {
        for i in 0..3 {
            self.least[i] = self.least[i].min(state.position[i]);
            self.greatest[i] = self.greatest[i].max(state.position[i]);
        }
        self.speed = self.speed.max(state.velocity.norm());
        self.spin = self.spin.max(state.angular_velocity.norm());
    }
}

/// Receives a run.
#[derive(Debug)]
pub(super) struct Collector<'a> {
    scene: &'a Scene,
    wants_first: bool,
    pub first: Option<FirstEvent>,
    /// One for each body where they are wanted.
    pub extrema: Vec<Extrema>,
    /// The greatest normal impulse.
    pub impulse: f64,
}

impl<'a> Collector<'a> {
    pub fn new(scene: &'a Scene, first: bool, extrema: bool) -> Self {
        let bodies = if extrema { scene.bodies.len() } else { 0 };
        Self { scene, wants_first: first, first: None, extrema: vec![Extrema::NONE; bodies], impulse: 0.0 }
    }
}

impl Recorder for Collector<'_> {
    fn events(&mut self, events: &[Event]) {
        for event in events {
            self.impulse = self.impulse.max(event.impulse);
        }
        if self.wants_first
            && self.first.is_none()
            && let Some(event) = events.first()
        {
            self.first = Some(FirstEvent {
                time: event.time,
                kind: event.kind.name(),
                sides: event.sides.map(|side| instant::name(self.scene, side).to_string()),
                point: event.point.into(),
                normal: event.normal.into(),
                approach: event.approach,
                impulse: event.impulse,
            });
        }
    }

    fn samples(&mut self, samples: &[Sample]) {
        for sample in samples {
            if let Some(extrema) = self.extrema.get_mut(sample.body) {
                extrema.take(&sample.state);
            }
        }
    }

    fn wants_states(&self) -> bool {
        !self.extrema.is_empty()
    }
}

impl Sink for Collector<'_> {
    fn wants_samples(&self) -> bool {
        !self.extrema.is_empty()
    }
}
