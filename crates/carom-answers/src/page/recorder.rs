//! Makes chunks for the page of what a run produces, while it goes on or out of its folder.

use std::collections::BTreeMap;
use std::sync::Arc;

use carom::body::State;
use carom::contact::Side;
use carom::record::{Event, Kind, Memory, Moment, Recorder, Sample};
use carom::run::World;
use carom::scene::model::Scene;
use serde::Serialize;

use super::chunk;
use super::header::header;
use crate::VERSION;
use crate::folder::Recording;
use crate::run::{EventEntry, Frame, Frames, Running, Sink, StateEntry};

/// The most contacts of events that are kept with their states.
const MOST_EVENTS: usize = 200_000;

/// The most bytes of frames, and the most contacts of events, of a run that is handed over as a whole.
const WHOLE_FRAMES: usize = 24 << 20;
const WHOLE_EVENTS: usize = 10_000;

/// The bytes of frames that are sent on without being asked for.
const MOST_WAITING: usize = 1 << 20;

/// A body's states just before an event and just after.
#[derive(Debug, Clone, Copy)]
pub struct BodyStates {
    /// The body's number.
    pub body: usize,
    /// Just before.
    pub before: State,
    /// Just after.
    pub after: State,
}

/// A contact of an event.
#[derive(Debug, Clone)]
pub struct EventContact {
    /// The number of the event.
    pub number: u64,
    /// When.
    pub time: f64,
    /// What happened.
    pub kind: Kind,
    /// Between whom.
    pub sides: [Side; 2],
    /// All bodies that took part in the event.
    pub states: Arc<Vec<BodyStates>>,
}

/// What a recorder sends on.
#[derive(Debug)]
pub struct Flushed {
    /// The chunks.
    pub chunks: Vec<Vec<u8>>,
    /// The contacts in them, for closer looks.
    pub contacts: Vec<EventContact>,
}

#[derive(Serialize)]
struct Events<'a> {
    events: Vec<EventWithStates<'a>>,
}

#[derive(Serialize)]
struct EventWithStates<'a> {
    #[serde(flatten)]
    event: EventEntry<'a>,
    states: Vec<StatesEntry>,
}

#[derive(Serialize)]
struct StatesEntry {
    body: usize,
    before: StateEntry,
    after: StateEntry,
}

/// How a stream ends that is handed over as a whole.
#[derive(Serialize)]
struct Whole<'a> {
    stopped: &'a str,
    notes: Vec<String>,
}

impl From<&BodyStates> for StatesEntry {
    fn from(states: &BodyStates) -> Self {
        let (before, after) = (StateEntry::from(&states.before), StateEntry::from(&states.after));
        Self { body: states.body, before, after }
    }
}

/// Makes chunks for the page of what a run produces, and sends them on.
pub struct PageRecorder<F> {
    scene: Arc<Scene>,
    world: World,
    send: F,
    frames: Vec<u8>,
    next: Frames,
    pending: Vec<(Event, Arc<Vec<BodyStates>>)>,
    /// The states just before and just after events whose contacts are still to come.
    around: BTreeMap<u64, [Vec<(usize, State)>; 2]>,
    /// How many contacts were kept, of how many at most, and how many were too many.
    kept: usize,
    most: usize,
    dropped: u64,
    /// Whether every event so far was sent with the states of its bodies.
    complete: bool,
}

impl<F: FnMut(Flushed)> PageRecorder<F> {
    /// Begins with the header; `sample` is the interval of samples, `repeatable` whether parts of the run can be asked for again.
    fn new(scene: &Arc<Scene>, text: &str, sample: f64, repeatable: bool, mut send: F) -> Self {
        send(Flushed { chunks: vec![header(scene, text, sample, repeatable)], contacts: Vec::new() });
        let mut own = Self {
            scene: scene.clone(),
            world: World::of(scene).0,
            send,
            frames: Vec::new(),
            next: Frames::new(scene.bodies.len()),
            pending: Vec::new(),
            around: BTreeMap::new(),
            kept: 0,
            most: MOST_EVENTS,
            dropped: 0,
            complete: true,
        };
        if !scene.run.record_events {
            own.incomplete_from(0.0);
        }
        own
    }

    /// Events after this time come without states, or not at all.
    fn incomplete_from(&mut self, time: f64) {
        if self.complete {
            self.complete = false;
            (self.send)(Flushed { chunks: vec![chunk::complete(time)], contacts: Vec::new() });
        }
    }

    /// Records a run from its start.
    pub fn of(running: &Running, send: F) -> Self {
        Self::new(&running.scene, &running.input.text, running.settings.sample, true, send)
    }

    /// Plays a run that is in a folder already, and gives the document of its result.
    pub fn replay(scene: &Arc<Scene>, recording: &Recording, send: F) -> std::io::Result<Vec<u8>> {
        let mut recorder = Self::new(scene, &recording.text, scene.run.sample, false, send);
        recording.play(&mut recorder)?;
        recorder.flush();
        let unfinished = br#"{"stopped":"interrupted","notes":["the run has not finished"]}"#;
        Ok(recording.document.clone().unwrap_or_else(|| unfinished.to_vec()))
    }

    /// Sends what has come.
    pub fn flush(&mut self) {
        let mut chunks = Vec::new();
        if !self.frames.is_empty() {
            chunks.push(chunk::chunk(chunk::Kind::Frames, &self.frames));
            self.frames.clear();
        }
        if !self.pending.is_empty() {
            let told = self.pending.iter().map(|(event, states)| EventWithStates {
                event: EventEntry::of(&self.scene, event),
                states: states.iter().map(StatesEntry::from).collect(),
            });
            chunks.push(chunk::json(chunk::Kind::Events, &Events { events: told.collect() }));
        }
        let contact = |(event, states): (Event, _)| EventContact {
            number: event.number,
            time: event.time,
            kind: event.kind,
            sides: event.sides,
            states,
        };
        let contacts = self.pending.drain(..).map(contact).collect();
        (self.send)(Flushed { chunks, contacts });
    }

    /// Sends the rest, and gives the document of the run's result.
    pub fn finish(mut self, running: &Running, wall_s: f64) -> Vec<u8> {
        self.flush();
        let mut notes = running.notes();
        if self.dropped > 0 {
            notes.push(format!("{} contacts of later events are not shown here", self.dropped));
        }
        // Plain data in memory: it cannot fail.
        serde_json::to_vec(&running.document(VERSION, wall_s, notes)).unwrap_or_default()
    }
}

/// The whole stream of a run that is in memory, its end included: what a player needs that no program stands behind. Of very
/// many frames some are left out, and of very many events the later ones, as the notes at the end say.
pub fn whole_stream(scene: &Arc<Scene>, text: &str, memory: &Memory, stopped: &str) -> Vec<u8> {
    let mut stream = Vec::new();
    let take = |flushed: Flushed| flushed.chunks.iter().for_each(|chunk| stream.extend(chunk));
    let mut recorder = PageRecorder::new(scene, text, scene.run.sample, false, take);
    recorder.most = WHOLE_EVENTS;
    let bodies = scene.bodies.len().max(1);
    let of_frames = |sample: &&Sample| sample.moment == Moment::Sample;
    let frames = memory.samples.iter().filter(of_frames).count() / bodies;
    let every = (frames * chunk::frame_length(bodies)).div_ceil(WHOLE_FRAMES).max(1);
    let mut seen = 0;
    for sample in &memory.samples {
        if sample.moment == Moment::Sample {
            let frame = seen / bodies;
            seen += 1;
            if !frame.is_multiple_of(every) && frame + 1 != frames {
                continue;
            }
        }
        recorder.samples(std::slice::from_ref(sample));
    }
    for contacts in memory.events.chunk_by(|a, b| a.number == b.number) {
        recorder.events(contacts);
    }
    recorder.flush();
    let mut notes = Vec::new();
    if every > 1 {
        notes.push(format!("one in {every} of the {frames} samples is shown"));
    }
    if recorder.dropped > 0 {
        notes.push(format!("{} contacts of later events are not shown", recorder.dropped));
    }
    // Plain data: it cannot fail.
    let end = serde_json::to_vec(&Whole { stopped, notes }).unwrap_or_default();
    stream.extend(chunk::end(&end));
    stream
}

impl<F: FnMut(Flushed)> Recorder for PageRecorder<F> {
    fn events(&mut self, events: &[Event]) {
        let number = events.first().map_or(0, |event| event.number);
        let [before, after] = self.around.remove(&number).unwrap_or_default();
        let states = before.into_iter().filter_map(|(body, before)| {
            let &(_, after) = after.iter().find(|(other, _)| *other == body)?;
            Some(BodyStates { body, before, after })
        });
        let states = Arc::new(states.collect::<Vec<_>>());
        if states.is_empty() {
            self.incomplete_from(0.0);
        }
        for event in events {
            if self.kept >= self.most {
                self.incomplete_from(event.time);
            }
            if self.kept < self.most {
                self.kept += 1;
                self.pending.push((event.clone(), states.clone()));
            } else {
                self.dropped += 1;
            }
        }
    }

    fn samples(&mut self, samples: &[Sample]) {
        for sample in samples {
            match sample.moment {
                Moment::Before(number) => {
                    self.around.entry(number).or_default()[0].push((sample.body, sample.state));
                }
                Moment::After(number) => {
                    self.around.entry(number).or_default()[1].push((sample.body, sample.state));
                }
                Moment::Sample => {
                    if let Some(Frame { time, states }) = self.next.take(sample) {
                        chunk::push_frame(&mut self.frames, &self.world, time, &states);
                    }
                }
            }
        }
        if self.frames.len() > MOST_WAITING {
            self.flush();
        }
    }
}

impl<F: FnMut(Flushed)> Sink for PageRecorder<F> {}
