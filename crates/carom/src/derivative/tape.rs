//! What a run leaves for its derivatives: each event's bodies with their states around it, in memory in proportion to the events.

use nalgebra::Vector3;

use super::undefined::Cause;
use crate::body::State;
use crate::contact::Side;
use crate::contact::classify::Type;
use crate::record::{Event, Kind, Moment, Recorder, Sample};

/// Records what derivatives need of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tape {
    pub(super) entries: Vec<Entry>,
    around: Vec<(usize, [Option<State>; 2])>,
}

/// An event.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub number: u64,
    pub time: f64,
    pub what: What,
}

/// What it was.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum What {
    /// One contact of free bodies.
    Impact(Box<Impact>),
    /// Anything else.
    Obstacle { bodies: Vec<usize>, cause: Cause },
}

/// One contact's impact.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Impact {
    pub sides: [Side; 2],
    pub point: Vector3<f64>,
    pub normal: Vector3<f64>,
    pub between: Vector3<f64>,
    pub impulse: Vector3<f64>,
    pub approach: f64,
    pub separation: f64,
    /// The movable bodies' states before and after.
    pub around: Vec<(usize, [State; 2])>,
}

impl Tape {
    /// How many events there are on it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there was none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl Recorder for Tape {
    fn events(&mut self, events: &[Event]) {
        let around = core::mem::take(&mut self.around);
        for event in events.chunk_by(|a, b| a.number == b.number) {
            let Some(first) = event.first() else { continue };
            self.entries.push(Entry { number: first.number, time: first.time, what: what(event, &around) });
        }
    }

    fn samples(&mut self, samples: &[Sample]) {
        for sample in samples {
            let at = match sample.moment {
                Moment::Sample => continue,
                Moment::Before(_) => 0,
                Moment::After(_) => 1,
            };
            match self.around.iter_mut().find(|(body, _)| *body == sample.body) {
                Some((_, states)) => states[at] = Some(sample.state),
                None => {
                    let mut states = [None; 2];
                    states[at] = Some(sample.state);
                    self.around.push((sample.body, states));
                }
            }
        }
    }
}

/// What an event was, by its contacts.
fn what(event: &[Event], around: &[(usize, [Option<State>; 2])]) -> What {
    let mut bodies: Vec<usize> = around.iter().map(|(body, _)| *body).collect();
    for side in event.iter().flat_map(|contact| contact.sides) {
        if let Side::Body(body) = side {
            bodies.push(body);
        }
    }
    bodies.sort_unstable();
    bodies.dedup();
    let first = &event[0];
    let one = event.iter().all(|contact| contact.sides == first.sides && contact.image == first.image);
    let cause = event.iter().find_map(obstacle).or((!one).then_some(Cause::Tie));
    if let Some(cause) = cause {
        return What::Obstacle { bodies, cause };
    }
    let known = |(body, states): &(usize, [Option<State>; 2])| Some((*body, [states[0]?, states[1]?]));
    What::Impact(Box::new(Impact {
        sides: first.sides,
        point: first.point,
        normal: first.normal,
        between: first.between,
        impulse: first.impulse_vector,
        approach: first.approach,
        separation: first.separation,
        around: around.iter().filter_map(known).collect(),
    }))
}

/// Why a contact of an event is no plain impact.
fn obstacle(contact: &Event) -> Option<Cause> {
    let paradox = matches!(contact.class, Type::Paradox2b | Type::Paradox2bStar | Type::ParadoxMarginal);
    match contact.kind {
        Kind::Impact => None,
        Kind::Graze => Some(Cause::Graze),
        Kind::Stop => Some(Cause::Paradox),
        Kind::HoldBegin if paradox => Some(Cause::Paradox),
        Kind::HoldBegin | Kind::HoldEnd | Kind::Rest | Kind::Slip => Some(Cause::Persistent),
        Kind::PassBegin | Kind::PassEnd => Some(Cause::Interpenetration),
    }
}
