//! Takes what a run produces to the page, while it goes on or out of its folder.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use carom::body::State;
use carom::record::{Event, Moment, Recorder, Sample};
use carom_answers::run::{Audience, EventEntry, Frame, Frames, Running, StateEntry};
use serde::Serialize;

use super::super::run::Recording;
use super::chunk;
use super::header::header;
use super::runs::{Around, Happening, Run};
use crate::VERSION;

/// The most bytes of frames that a run may make, and of events with their states.
const MOST_FRAMES: f64 = 256e6;
const MOST_EVENTS: usize = 200_000;

/// How often what has come is sent on.
const EVERY: Duration = Duration::from_millis(60);

/// The interval of samples that keeps the frames within bounds: a multiple of the one asked for.
pub fn thinned(sample: f64, until: f64, bodies: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a length in bytes")]
    let bytes = until / sample * chunk::frame_length(bodies) as f64;
    if sample > 0.0 && bytes > MOST_FRAMES { sample * (bytes / MOST_FRAMES).ceil() } else { sample }
}

#[derive(Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    event: EventEntry<'a>,
    states: Vec<ToldStates>,
}

#[derive(Serialize)]
struct ToldStates {
    body: usize,
    before: StateEntry,
    after: StateEntry,
}

#[derive(Serialize)]
struct Events<'a> {
    events: Vec<Told<'a>>,
}

#[derive(Serialize)]
struct Report {
    time: f64,
    events: u64,
    impacts: u64,
    wall_s: f64,
}

/// Takes what a run produces to the page.
struct Reel<'a> {
    run: &'a Run,
    frames: Vec<u8>,
    next: Frames,
    pending: Vec<(Event, Arc<Vec<Around>>)>,
    /// The states just before and just after events whose contacts are still to come.
    around: BTreeMap<u64, [Vec<(usize, State)>; 2]>,
    /// How many contacts were kept, and how many were too many.
    kept: usize,
    dropped: u64,
}

impl<'a> Reel<'a> {
    /// A reel without anything on it.
    fn new(run: &'a Run) -> Self {
        Self {
            run,
            frames: Vec::new(),
            next: Frames::new(run.scene.bodies.len()),
            pending: Vec::new(),
            around: BTreeMap::new(),
            kept: 0,
            dropped: 0,
        }
    }

    /// Sends what has come.
    fn flush(&mut self) {
        if !self.frames.is_empty() {
            self.run.push(chunk::frames(&self.frames), false);
            self.frames.clear();
        }
        if self.pending.is_empty() {
            return;
        }
        let told = self.pending.iter().map(|(event, states)| Told {
            event: EventEntry::of(&self.run.scene, event),
            states: states
                .iter()
                .map(|(body, before, after)| ToldStates {
                    body: *body,
                    before: StateEntry::from(before),
                    after: StateEntry::from(after),
                })
                .collect(),
        });
        let events = Events { events: told.collect() };
        self.run.push(chunk::json(chunk::Kind::Events, &events), false);
        self.run.note(self.pending.drain(..).map(|(event, states)| Happening {
            number: event.number,
            time: event.time,
            kind: event.kind,
            sides: event.sides,
            states,
        }));
    }

    /// How many contacts of events were left out, for want of room.
    const fn dropped(&self) -> u64 {
        self.dropped
    }
}

impl Recorder for Reel<'_> {
    fn events(&mut self, events: &[Event]) {
        let number = events.first().map_or(0, |event| event.number);
        let [before, after] = self.around.remove(&number).unwrap_or_default();
        let states = before.into_iter().filter_map(|(body, before)| {
            let (_, after) = after.iter().find(|(other, _)| *other == body)?;
            Some((body, before, *after))
        });
        let states = Arc::new(states.collect::<Vec<_>>());
        for event in events {
            if self.kept < MOST_EVENTS {
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
                        chunk::push_frame(&mut self.frames, &self.run.scene, time, &states);
                    }
                }
            }
        }
        if self.frames.len() > 1 << 20 {
            self.flush();
        }
    }
}

impl Audience for Reel<'_> {}

/// Plays a run that is in a folder already.
pub fn replay(run: &Run, recording: &Recording) -> io::Result<()> {
    let scene = &run.scene;
    run.push(header(scene, &run.text, scene.run.sample), false);
    let mut reel = Reel::new(run);
    recording.play(&mut reel)?;
    reel.flush();
    let unfinished = br#"{"stopped":"interrupted","notes":["the run has not come to its end"]}"#;
    let rest = recording.document.as_deref().unwrap_or(unfinished);
    run.end(rest);
    Ok(())
}

/// Runs a simulation to its end, or until it is asked to end.
pub fn simulate(run: &Run, mut running: Running) {
    run.push(header(&run.scene, &run.text, running.settings.sample), false);
    let start = Instant::now();
    let mut last = start;
    let mut reel = Reel::new(run);
    while running.step(&mut reel) && !run.is_to_stop() {
        let now = Instant::now();
        if now - last >= EVERY {
            last = now;
            reel.flush();
            let counts = running.engine.counts();
            let report = Report {
                time: running.engine.time(),
                events: counts.events,
                impacts: counts.impacts,
                wall_s: (now - start).as_secs_f64(),
            };
            run.push(chunk::json(chunk::Kind::Progress, &report), false);
        }
    }
    reel.flush();
    let mut notes = running.notes();
    if reel.dropped() > 0 {
        notes.push(format!("{} contacts of later events are not shown here", reel.dropped()));
    }
    // Plain data in memory: it cannot fail.
    let document = running.document(VERSION, start.elapsed().as_secs_f64(), notes);
    let rest = serde_json::to_vec(&document).unwrap_or_default();
    run.end(&rest);
}
