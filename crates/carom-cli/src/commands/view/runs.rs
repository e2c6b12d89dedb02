//! The runs that the page has asked for: each in a thread of its own, its chunks kept for whoever reads them, from
//! the start, while it goes on or afterwards.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use carom::body::State;
use carom::contact::Side;
use carom::record::{Event, Kind, Moment, Recorder, Sample};
use carom::scene::model::Scene;
use carom_answers::run::{Audience, EventEntry, Frame, Frames, Running, StateEntry};
use serde::Serialize;
use tokio::sync::watch;

use super::super::run::Recording;
use super::chunk;
use crate::VERSION;

/// The most runs at work at one time, and the most kept.
const AT_WORK: usize = 4;
const KEPT: usize = 16;

/// The most bytes of frames that a run may make, and of events with their states.
const MOST_FRAMES: f64 = 256e6;
const MOST_EVENTS: usize = 200_000;

/// How often what has come is sent on.
const EVERY: Duration = Duration::from_millis(60);

/// A run, at work or ended.
pub struct Run {
    /// Its number in addresses.
    pub id: u64,
    /// The scene.
    pub scene: Arc<Scene>,
    /// Its text.
    pub text: String,
    log: Mutex<Log>,
    /// The number of chunks so far, and whether that is all.
    news: watch::Sender<(usize, bool)>,
    stop: AtomicBool,
    /// What happened, for those who look closer.
    happened: Mutex<Vec<Happening>>,
    /// The document of the whole run, once it has ended.
    document: Mutex<Option<Bytes>>,
}

#[derive(Default)]
struct Log {
    chunks: Vec<Bytes>,
}

/// A body's number, and its states just before an event and just after.
pub type Around = (usize, State, State);

/// A contact of an event, with the bodies concerned before and after.
#[derive(Debug, Clone)]
pub struct Happening {
    /// The number of the event.
    pub number: u64,
    /// When.
    pub time: f64,
    /// What happened.
    pub kind: Kind,
    /// Who.
    pub sides: [Side; 2],
    /// The states of all bodies that took part: number, before, after.
    pub states: Arc<Vec<Around>>,
}

/// A lock that a panic elsewhere does not spoil: what it guards is only ever added to.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Run {
    fn new(id: u64, scene: Arc<Scene>, text: String) -> Self {
        Self {
            id,
            scene,
            text,
            log: Mutex::default(),
            news: watch::Sender::new((0, false)),
            stop: AtomicBool::new(false),
            happened: Mutex::default(),
            document: Mutex::default(),
        }
    }

    /// Adds a chunk; `last` ends the run.
    pub fn push(&self, chunk: Bytes, last: bool) {
        let count = {
            let mut log = locked(&self.log);
            log.chunks.push(chunk);
            log.chunks.len()
        };
        self.news.send_replace((count, last));
    }

    /// The chunk of a number, if it has come.
    pub fn chunk(&self, number: usize) -> Option<Bytes> {
        locked(&self.log).chunks.get(number).cloned()
    }

    /// Tells when more has come.
    pub fn news(&self) -> watch::Receiver<(usize, bool)> {
        self.news.subscribe()
    }

    /// Asks the run to end.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn is_at_work(&self) -> bool {
        !self.news.borrow().1
    }

    /// The contacts of an event.
    pub fn happened(&self, number: u64) -> Vec<Happening> {
        let all = locked(&self.happened);
        let first = all.partition_point(|h| h.number < number);
        all[first..].iter().take_while(|h| h.number == number).cloned().collect()
    }

    /// The document of the run, once it has ended.
    pub fn document(&self) -> Option<Bytes> {
        locked(&self.document).clone()
    }
}

/// The runs of one page.
#[derive(Default)]
pub struct Runs {
    all: Mutex<(u64, VecDeque<Arc<Run>>)>,
}

/// There are as many runs at work as there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Busy;

impl Runs {
    /// A run by its number.
    pub fn get(&self, id: u64) -> Option<Arc<Run>> {
        locked(&self.all).1.iter().find(|run| run.id == id).cloned()
    }

    /// Begins a run.
    pub fn begin(&self, running: Running) -> Result<Arc<Run>, Busy> {
        let run = self.add(running.scene.clone(), running.input.text.clone())?;
        let own = run.clone();
        thread::spawn(move || simulate(&own, running));
        Ok(run)
    }

    /// Adds a run that something else fills.
    pub fn add(&self, scene: Arc<Scene>, text: String) -> Result<Arc<Run>, Busy> {
        let mut all = locked(&self.all);
        if all.1.iter().filter(|run| run.is_at_work()).count() >= AT_WORK {
            return Err(Busy);
        }
        if all.1.len() >= KEPT
            && let Some(oldest) = all.1.iter().position(|run| !run.is_at_work())
        {
            all.1.remove(oldest);
        }
        all.0 += 1;
        let run = Arc::new(Run::new(all.0, scene, text));
        all.1.push_back(run.clone());
        Ok(run)
    }
}

/// The interval of samples that keeps the frames within bounds: a multiple of the one asked for.
pub fn thinned(sample: f64, until: f64, bodies: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a length in bytes")]
    let bytes = until / sample * chunk::frame_length(bodies) as f64;
    if sample > 0.0 && bytes > MOST_FRAMES { sample * (bytes / MOST_FRAMES).ceil() } else { sample }
}

/// What the page must know before anything moves.
#[derive(Serialize)]
struct Header<'a> {
    title: Option<&'a str>,
    source: Option<&'a str>,
    text: &'a str,
    until: f64,
    sample: f64,
    on_paradox: &'static str,
    gravity: [f64; 3],
    periodic: Option<[f64; 3]>,
    floats_per_body: usize,
    bodies: Vec<HeaderBody<'a>>,
    planes: Vec<HeaderPlane<'a>>,
    joints: Vec<HeaderJoint<'a>>,
}

#[derive(Serialize)]
struct HeaderBody<'a> {
    name: &'a str,
    fixed: bool,
    mass: f64,
    inertia: [f64; 3],
    shape: HeaderShape,
}

#[derive(Serialize)]
struct HeaderShape {
    kind: &'static str,
    semi_axes: [f64; 3],
    exponent: f64,
}

#[derive(Serialize)]
struct HeaderPlane<'a> {
    name: &'a str,
    normal: [f64; 3],
    offset: f64,
}

#[derive(Serialize)]
struct HeaderJoint<'a> {
    name: &'a str,
    bodies: Vec<&'a str>,
}

/// The header of a scene.
pub fn header(scene: &Scene, text: &str, sample: f64) -> Bytes {
    use carom::shape::Shape;
    let shape = |shape: &Shape| {
        let (kind, semi_axes, exponent) = match *shape {
            Shape::Sphere { radius } => ("sphere", [radius; 3], 2.0),
            Shape::Ellipsoid { semi_axes } => ("ellipsoid", semi_axes, 2.0),
            Shape::Superellipsoid { semi_axes, exponent } => ("superellipsoid", semi_axes, exponent),
            Shape::Point => ("point", [0.0; 3], 2.0),
        };
        HeaderShape { kind, semi_axes, exponent }
    };
    let header = Header {
        title: scene.title.as_deref(),
        source: scene.source.as_deref(),
        text,
        until: scene.run.until,
        sample,
        on_paradox: scene.run.on_paradox.name(),
        gravity: scene.gravity.into(),
        periodic: scene.periodic.map(Into::into),
        floats_per_body: chunk::floats_per_body(scene.bodies.len()),
        bodies: scene
            .bodies
            .iter()
            .map(|b| HeaderBody {
                name: &b.name,
                fixed: b.body.fixed,
                mass: b.body.mass,
                inertia: b.body.inertia.into(),
                shape: shape(&b.body.shape),
            })
            .collect(),
        planes: scene
            .planes
            .iter()
            .map(|plane| HeaderPlane {
                name: &plane.name,
                normal: plane.half_space.normal.into_inner().into(),
                offset: plane.half_space.offset,
            })
            .collect(),
        joints: scene
            .joints
            .iter()
            .map(|joint| HeaderJoint {
                name: &joint.name,
                bodies: joint.bodies.iter().map(|&body| scene.bodies[body].name.as_str()).collect(),
            })
            .collect(),
    };
    chunk::json(chunk::Kind::Header, &header)
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
pub struct Reel<'a> {
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
    pub fn new(run: &'a Run) -> Self {
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
    pub fn flush(&mut self) {
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
        let mut happened = locked(&self.run.happened);
        happened.extend(self.pending.drain(..).map(|(event, states)| Happening {
            number: event.number,
            time: event.time,
            kind: event.kind,
            sides: event.sides,
            states,
        }));
    }

    /// How many contacts of events were left out, for want of room.
    pub const fn dropped(&self) -> u64 {
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
    keep_document(run, rest);
    run.push(chunk::end(rest), true);
    Ok(())
}

/// Runs a simulation to its end, or until it is asked to end.
fn simulate(run: &Run, mut running: Running) {
    run.push(header(&run.scene, &run.text, running.settings.sample), false);
    let start = Instant::now();
    let mut last = start;
    let mut reel = Reel::new(run);
    while running.step(&mut reel) && !run.stop.load(Ordering::Relaxed) {
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
    keep_document(run, &rest);
    run.push(chunk::end(&rest), true);
}

/// The events and the rest, as `carom run --json` prints them.
fn keep_document(run: &Run, rest: &[u8]) {
    let mut text = b"{\"events\":[".to_vec();
    let mut first = true;
    let chunks = locked(&run.log).chunks.clone();
    for events in chunks.iter().filter_map(|chunk| chunk::events(chunk)) {
        if !std::mem::take(&mut first) {
            text.push(b',');
        }
        text.extend(events);
    }
    text.extend(b"],");
    text.extend(rest.strip_prefix(b"{").unwrap_or(rest));
    *locked(&run.document) = Some(text.into());
}
