//! What receives a run, and a wrapper that checks on the way whether values and derivatives are finite.

use carom::record::{Event, JointReaction, Memory, Moment, Recorder, Sample};
use nalgebra::Vector3;

use super::limits::Violation;

/// Receives a run.
pub trait Sink: Recorder {
    /// Whether it uses states at the sampling interval.
    fn wants_samples(&self) -> bool {
        true
    }
}

impl Sink for Memory {}

impl Sink for () {
    fn wants_samples(&self) -> bool {
        false
    }
}

/// What the check has seen.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Watch {
    /// How many derivatives of gaps were not finite.
    pub unbounded: u64,
    /// A value that is not finite.
    pub fault: Option<Violation>,
    /// How many events there were.
    events: u64,
}

impl Watch {
    /// Continues after this many events.
    pub fn since(events: u64, unbounded: u64) -> Self {
        Self { unbounded, fault: None, events }
    }
}

/// Wraps the sink and checks that values are finite.
pub(super) struct Watched<'a, S> {
    /// What it has seen.
    pub watch: &'a mut Watch,
    /// Receives everything after that.
    pub sink: &'a mut S,
}

impl<S: Sink> Recorder for Watched<'_, S> {
    fn events(&mut self, events: &[Event]) {
        for event in events {
            if !is_finite(event) {
                self.watch.fault.get_or_insert(Violation::not_finite(event.number));
            }
            let unbounded = [event.g2, event.g3, event.force_slope].into_iter().flatten();
            self.watch.unbounded += unbounded.filter(|x| !x.is_finite()).count() as u64;
            self.watch.events = event.number + 1;
        }
        self.sink.events(events);
    }

    fn samples(&mut self, samples: &[Sample]) {
        if let Some(sample) = samples.iter().find(|sample| !is_state_finite(sample)) {
            let event = match sample.moment {
                Moment::Sample => self.watch.events,
                Moment::Before(number) | Moment::After(number) => number,
            };
            self.watch.fault.get_or_insert(Violation::not_finite(event));
        }
        self.sink.samples(samples);
    }

    fn reactions(&mut self, reactions: &[JointReaction]) {
        let finite = |r: &JointReaction| [r.force, r.torque, r.point].iter().all(all_finite);
        if !reactions.iter().all(finite) {
            self.watch.fault.get_or_insert(Violation::not_finite(self.watch.events));
        }
        self.sink.reactions(reactions);
    }

    fn wants_states(&self) -> bool {
        self.sink.wants_states()
    }
}

impl<S: Sink> Sink for Watched<'_, S> {
    fn wants_samples(&self) -> bool {
        self.sink.wants_samples()
    }
}

fn all_finite(vector: &Vector3<f64>) -> bool {
    vector.iter().all(|x| x.is_finite())
}

fn is_finite(event: &Event) -> bool {
    let numbers = [
        event.time,
        event.time_error,
        event.gap,
        event.approach,
        event.separation,
        event.impulse,
        event.energy_before,
        event.energy_after,
    ];
    let limit = event.limit.unwrap_or_default();
    numbers.iter().chain(&limit).all(|x| x.is_finite())
        && [event.point, event.normal, event.impulse_vector].iter().all(all_finite)
        && event.joints().iter().all(|joint| {
            joint.impulse.iter().all(|x| x.is_finite())
                && [joint.linear, joint.angular, joint.point].iter().all(all_finite)
        })
}

fn is_state_finite(sample: &Sample) -> bool {
    let state = &sample.state;
    [state.position, state.velocity, state.angular_velocity].iter().all(all_finite)
        && state.orientation.coords.iter().all(|x| x.is_finite())
}
