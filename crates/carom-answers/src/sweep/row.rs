//! One sample: its numbers, and what its run came to.

use std::sync::Arc;

use carom::body::State;
use carom::observe::{Observer, Quantity};
use carom::scene::model::Collect;

use super::Sweep;
use super::collect::{Collector, Extrema, FirstEvent};
use crate::run::{Changes, Running, smallest_gap};
use crate::{InputError, Verdict};

/// A sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its number.
    pub sample: u64,
    /// What was varied.
    pub numbers: Vec<f64>,
    /// What came of it, or why it is no scene that can be run.
    pub result: Result<Box<Finished>, String>,
}

/// A run that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// Why.
    pub stopped: &'static str,
    /// More on that, where it did not end as it should.
    pub reason: Option<String>,
    /// When.
    pub time: f64,
    /// How many events there were.
    pub events: u64,
    /// How many of them were impacts.
    pub impacts: u64,
    /// The audit's worst error of the energy.
    pub energy_error_max: f64,
    /// That of the linear momentum.
    pub linear_error_max: f64,
    /// The smallest gap, if any was measured.
    pub gap_min: Option<f64>,
    /// The final states.
    pub states: Vec<State>,
    /// The first event, where it is collected.
    pub first: Option<FirstEvent>,
    /// The extrema of each body, likewise.
    pub extrema: Vec<Extrema>,
    /// The greatest impulse.
    pub impulse: f64,
    /// Means and errors of a gas, likewise.
    pub observables: Option<[[Option<f64>; 2]; Quantity::ALL.len()]>,
}

impl Sweep {
    /// Runs a sample; none if `go_on` says to stop.
    pub fn row(&self, sample: u64, go_on: &dyn Fn() -> bool) -> Option<Row> {
        let numbers = self.plan.numbers(sample);
        let result = match self.finished(sample, go_on) {
            Ok(result) => Ok(Box::new(result?)),
            // What was interrupted while bodies were placed is no mistake of the scene.
            Err(_) if !go_on() => return None,
            Err(error) => Err(in_words(&error)),
        };
        Some(Row { sample, numbers, result })
    }

    fn finished(&self, sample: u64, go_on: &dyn Fn() -> bool) -> Result<Option<Finished>, InputError> {
        let subject = self.subject(sample)?;
        let [first, extrema, observables] =
            [Collect::FirstEvent, Collect::Extrema, Collect::Observables].map(|what| self.collects(what));
        let changes = Changes {
            threads: Some(1),
            // Samples are taken only where somebody looks at them.
            sample: (!extrema).then_some(0.0),
            ..Changes::default()
        };
        let mut running = Running::begin(subject, changes, |_| go_on())?;
        let scene = Arc::clone(&running.scene);
        let mut collector = Collector::new(&scene, first, extrema);
        if extrema {
            let states = running.engine.states();
            collector.extrema.iter_mut().zip(&states).for_each(|(extrema, state)| extrema.take(state));
        }
        while running.step(&mut collector) {
            if !go_on() {
                return Ok(None);
            }
        }
        let states = running.engine.states();
        collector.extrema.iter_mut().zip(&states).for_each(|(extrema, state)| extrema.take(state));
        let (audit, counts) = (running.engine.audit(), running.engine.counts());
        let end = running.end().unwrap_or(crate::run::End::INTERRUPTED);
        let estimates = running.engine.observer.as_ref().filter(|_| observables).map(Observer::observables);
        Ok(Some(Finished {
            stopped: end.name(),
            reason: (end.verdict() != Verdict::Done)
                .then(|| running.notes().into_iter().next().unwrap_or_else(|| end.name().to_string())),
            time: running.engine.time(),
            events: counts.events,
            impacts: counts.impacts,
            energy_error_max: audit.energy_error_max.value,
            linear_error_max: audit.linear_error_max.value,
            gap_min: smallest_gap(&audit).map(|worst| worst.value),
            states: if states.len() == self.bodies.len() { states } else { Vec::new() },
            first: collector.first,
            extrema: if scene.bodies.len() == self.bodies.len() { collector.extrema } else { Vec::new() },
            impulse: collector.impulse,
            observables: estimates.map(|found| found.estimates.map(|x| [x.mean, x.error])),
        }))
    }
}

/// The first mistake of a scene.
fn in_words(error: &InputError) -> String {
    let Some(first) = error.diagnostics.first() else { return "cannot be run".to_string() };
    match &first.field {
        Some(field) => format!("{field}: {}", first.message),
        None => first.message.clone(),
    }
}
