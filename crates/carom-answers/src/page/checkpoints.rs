//! What happened between two samples of a run: the run is continued from the nearest checkpoint, and every body's keyframes are recorded.
//!
//! The page draws bodies at any time. Where it has their states around every event, it needs nothing else. In the many-body loop, and where
//! a run keeps no events, it has samples only, and bodies may have collided many times in between; it asks for the interval that is
//! watched. A run continued from a snapshot is the same to the bit, so what is shown is what happened.
//!
//! A keyframe is a body's state just before and just after a time; between two of them the body moves smoothly. In the many-body loop they
//! follow from the events: a body flies freely between its collisions, in closed form, and a collision adds
//!
//! ```text
//! v ← v ± J/m,   ω ← ω ± I⁻¹ (r × J)
//! ```
//!
//! The general loop records the states around its events itself.

use std::sync::Arc;

use carom::body::{Body, State};
use carom::contact::Side;
use carom::motion::Flight;
use carom::record::{Event, Moment, Recorder, Sample};
use carom::run::World;
use carom::scene::model::Scene;
use nalgebra::Vector3;

use super::chunk::{self, Kind};
use crate::run::{Engine, Loop, Running, Settings, Sink, Snapshot};

/// Events between two checkpoints, at first: a few hundredths of a second of work.
const EVERY: u64 = 20_000;

/// The most checkpoints, and about how many bytes they may have together.
const MOST: usize = 64;
const MOST_BYTES: usize = 64 << 20;

/// The bytes of a body in a snapshot, about.
const BODY_BYTES: usize = 400;

/// The most keyframes of one answer, unless there are more bodies: what is later has to be asked for again.
const MOST_KEYS: usize = 100_000;

/// A body that is no ball turns through at most this angle from one keyframe to the next, so that what is drawn in between is right to 1e-5.
const TURN: f64 = 0.25;

/// The most keyframes that one flight is divided into.
const MOST_PARTS: f64 = 64.0;

/// Snapshots of a run on its way, from which any part of it can be repeated.
pub struct Checkpoints {
    scene: Arc<Scene>,
    settings: Settings,
    taken: Vec<Checkpoint>,
    every: u64,
    most: usize,
}

struct Checkpoint {
    time: f64,
    events: u64,
    snapshot: Arc<Snapshot>,
}

/// A part of a run that can be repeated.
pub struct Repetition {
    scene: Arc<Scene>,
    settings: Settings,
    snapshot: Arc<Snapshot>,
}

impl Checkpoints {
    /// Begins with the run's start, or where it has come to.
    pub fn of(running: &Running) -> Self {
        let scene = running.scene.clone();
        let most = (MOST_BYTES / (BODY_BYTES * scene.bodies.len().max(1))).clamp(4, MOST);
        let mut own =
            Self { scene, settings: running.settings, taken: Vec::with_capacity(most), every: EVERY, most };
        own.take(running);
        own
    }

    fn take(&mut self, running: &Running) {
        let engine = &running.engine;
        let (time, events) = (engine.time(), engine.counts().events);
        self.taken.push(Checkpoint { time, events, snapshot: Arc::new(engine.snapshot()) });
    }

    /// Takes another if enough has happened since the last. Too many are thinned.
    pub fn consider(&mut self, running: &Running) {
        let last = self.taken.last().map_or(0, |checkpoint| checkpoint.events);
        if running.engine.counts().events < last + self.every {
            return;
        }
        if self.taken.len() >= self.most {
            let mut odd = true;
            self.taken.retain(|_| {
                odd = !odd;
                !odd
            });
            self.every *= 2;
        }
        self.take(running);
    }

    /// The run from the last checkpoint at or before a time.
    pub fn before(&self, time: f64) -> Option<Repetition> {
        let after = self.taken.partition_point(|checkpoint| checkpoint.time <= time);
        let snapshot = self.taken.get(after.checked_sub(1)?)?.snapshot.clone();
        Some(Repetition { scene: self.scene.clone(), settings: self.settings, snapshot })
    }
}

impl Repetition {
    /// The chunk with the keyframes of all bodies from one time to another, or as far as there may be in one answer. `None` if the snapshot
    /// does not fit, or the times make no interval.
    pub fn keyframes(&self, from: f64, until: f64) -> Option<Vec<u8>> {
        self.repeat(from, until).map(|tracks| tracks.chunk())
    }

    fn repeat(&self, from: f64, until: f64) -> Option<Tracks<'_>> {
        let scene = &*self.scene;
        let mut settings = self.settings;
        settings.record_events = true;
        let mut engine = Engine::resume(World::of(scene).0, settings, &self.snapshot)?;
        if !(from < until && engine.time() <= from) {
            return None;
        }
        let mut tracks = Tracks::new(scene, &engine, from, until);
        while engine.time() < until && tracks.keys.len() < tracks.most && engine.step(&mut tracks) {}
        tracks.end(engine.time().min(until));
        Some(tracks)
    }
}

/// The numbers of a state: position, quaternion with the scalar first, velocity, angular velocity.
const STATE: usize = 13;

/// A body's state just before and just after a time.
#[derive(Debug, Clone, Copy)]
struct Key {
    body: u32,
    time: f64,
    states: [State; 2],
}

/// Where a body is known to be.
#[derive(Debug, Clone, Copy)]
struct Known {
    time: f64,
    state: State,
    /// The state before, where that is a keyframe that is not among the keys yet.
    earlier: Option<State>,
}

/// Records the keyframes of an interval.
struct Tracks<'a> {
    scene: &'a Scene,
    free: bool,
    from: f64,
    until: f64,
    known: Vec<Known>,
    /// The states before the event that is being recorded.
    before: Vec<(usize, State)>,
    keys: Vec<Key>,
    most: usize,
}

impl<'a> Tracks<'a> {
    fn new(scene: &'a Scene, engine: &Engine, from: f64, until: f64) -> Self {
        let time = engine.time();
        let known = engine.states().into_iter().map(|state| Known { time, state, earlier: Some(state) });
        Self {
            scene,
            free: engine.which() == Loop::Edmd,
            from,
            until,
            known: known.collect(),
            before: Vec::new(),
            keys: Vec::new(),
            most: MOST_KEYS.max(4 * scene.bodies.len()),
        }
    }

    fn body(&self, body: usize) -> &'a Body {
        &self.scene.bodies[body].body
    }

    /// Adds a keyframe, with the one before the interval if it is the first.
    fn push(&mut self, body: usize, time: f64, states: [State; 2]) {
        #[expect(clippy::cast_possible_truncation, reason = "bodies are counted in u32")]
        let number = body as u32;
        let known = &mut self.known[body];
        if time >= self.from {
            if let Some(earlier) = known.earlier.take() {
                let states = [earlier, known.state];
                self.keys.push(Key { body: number, time: known.time, states });
            }
            self.keys.push(Key { body: number, time, states });
            *known = Known { time, state: states[1], earlier: None };
        } else {
            *known = Known { time, state: states[1], earlier: Some(states[0]) };
        }
    }

    /// Where a body has flown freely by a time, with keyframes on the way where it turns far.
    fn flown(&mut self, body: usize, time: f64) -> State {
        let own = self.body(body);
        let known = self.known[body];
        let flight = Flight::new(own, &known.state, &self.scene.gravity);
        let span = time - known.time;
        let ball = own.inertia.x == own.inertia.y && own.inertia.y == own.inertia.z;
        if !(own.fixed || ball) && time >= self.from {
            let parts = (known.state.angular_velocity.norm() * span / TURN).ceil().min(MOST_PARTS);
            let mut part = 1.0;
            while part < parts {
                let then = known.time + span * part / parts;
                let state = flight.at(then - known.time);
                self.push(body, then, [state; 2]);
                part += 1.0;
            }
        }
        flight.at(span)
    }

    /// The shortest way in a periodic box.
    fn shortest(&self, mut way: Vector3<f64>) -> Vector3<f64> {
        if let Some(lengths) = self.scene.periodic {
            for (x, length) in way.iter_mut().zip(lengths.iter()).filter(|(_, length)| **length > 0.0) {
                *x -= length * (*x / length).round();
            }
        }
        way
    }

    /// Takes one contact's impulse: bodies have flown to it freely.
    fn collide(&mut self, event: &Event) {
        let mut arm = None;
        for (side, sign) in event.sides.into_iter().zip([-1.0, 1.0]) {
            let Side::Body(body) = side else { continue };
            if self.body(body).fixed {
                arm = Some(self.shortest(event.point - self.known[body].state.position) - event.between);
                continue;
            }
            let before = self.flown(body, event.time);
            let own_arm = arm.unwrap_or_else(|| self.shortest(event.point - before.position));
            arm = Some(own_arm - event.between);
            let after = struck(self.body(body), before, &own_arm, &(event.impulse_vector * sign));
            self.push(body, event.time, [before, after]);
        }
    }

    /// Ends the interval: free bodies have flown on to its end.
    fn end(&mut self, time: f64) {
        self.until = time;
        if !self.free {
            return;
        }
        for body in 0..self.known.len() {
            if self.known[body].time <= time {
                let state = self.flown(body, time);
                self.push(body, time, [state; 2]);
            }
        }
    }

    /// The keyframes body by body: where the interval begins and ends, how many keys each body has, their times, their states.
    fn chunk(&self) -> Vec<u8> {
        let bodies = self.known.len();
        let mut keys: Vec<&Key> = self.keys.iter().collect();
        keys.sort_by_key(|key| key.body);
        let mut counts = vec![0_u32; bodies];
        for key in &keys {
            counts[key.body as usize] += 1;
        }
        let mut bytes = Vec::with_capacity(24 + 4 * bodies + (8 + 8 * STATE) * keys.len());
        bytes.extend(self.from.to_le_bytes());
        bytes.extend(self.until.to_le_bytes());
        counts.iter().for_each(|count| bytes.extend(count.to_le_bytes()));
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        keys.iter().for_each(|key| bytes.extend(key.time.to_le_bytes()));
        for state in keys.iter().flat_map(|key| &key.states) {
            chunk::push_state(&mut bytes, state, STATE);
        }
        chunk::chunk(Kind::Keyframes, &bytes)
    }
}

/// A body after an impulse at a point, the arm being from its centre.
fn struck(body: &Body, before: State, arm: &Vector3<f64>, impulse: &Vector3<f64>) -> State {
    let moment = before.orientation.inverse_transform_vector(&arm.cross(impulse));
    // A point has no moments of inertia, and nothing turns it.
    let turn =
        moment.zip_map(&body.inertia, |moment, inertia| if inertia > 0.0 { moment / inertia } else { 0.0 });
    State {
        velocity: before.velocity + impulse / body.mass,
        angular_velocity: before.angular_velocity + before.orientation * turn,
        ..before
    }
}

impl Recorder for Tracks<'_> {
    fn events(&mut self, events: &[Event]) {
        if self.free {
            let until = self.until;
            events.iter().filter(|event| event.time <= until).for_each(|event| self.collide(event));
        }
    }

    fn samples(&mut self, samples: &[Sample]) {
        if self.free {
            return;
        }
        for sample in samples {
            match sample.moment {
                Moment::Sample => self.push(sample.body, sample.time, [sample.state; 2]),
                Moment::Before(_) => self.before.push((sample.body, sample.state)),
                Moment::After(_) => {
                    let own = self.before.iter().position(|&(body, _)| body == sample.body);
                    if let Some(own) = own {
                        let (_, before) = self.before.swap_remove(own);
                        self.push(sample.body, sample.time, [before, sample.state]);
                    }
                }
            }
        }
    }
}

impl Sink for Tracks<'_> {}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::Input;
    use crate::run::Changes;

    /// A gas of the gallery, run to a time; how many events each body has had on average.
    fn run(name: &str, until: f64) -> (Running, Checkpoints) {
        let path = format!("{}/../../cases/gallery/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let subject = Input::read(path.as_ref()).unwrap().scene().unwrap();
        let changes = Changes { until: Some(until), threads: Some(1), ..Changes::default() };
        let mut running = Running::begin(subject, changes, |_| true).unwrap();
        let mut checkpoints = Checkpoints::of(&running);
        checkpoints.every = 500;
        checkpoints.most = 8;
        while running.step(&mut Nothing) {
            checkpoints.consider(&running);
        }
        (running, checkpoints)
    }

    /// Takes samples, as the page does, and keeps nothing.
    struct Nothing;

    impl Recorder for Nothing {
        fn events(&mut self, _: &[Event]) {}
        fn samples(&mut self, _: &[Sample]) {}
    }

    impl Sink for Nothing {}

    /// How far a repetition ends from where the run did, and how many keys it had.
    fn distance(running: &Running, tracks: &Tracks) -> f64 {
        let ends = running.engine.states();
        let apart = |(known, end): (&Known, &State)| {
            let turned = known.state.orientation.angle_to(&end.orientation);
            (known.state.position - end.position).amax().max(turned)
        };
        tracks.known.iter().zip(&ends).map(apart).fold(0.0, f64::max)
    }

    #[test]
    fn a_repeated_interval_ends_where_the_run_did() {
        let cases =
            [("sphere_gas", 1.0, 0.4, 3), ("ellipsoid_gas", 1.0, 0.5, 1), ("inelastic_gas", 4.0, 1.0, 1)];
        for (name, until, from, least) in cases {
            let (running, checkpoints) = run(name, until);
            assert!((least..=8).contains(&checkpoints.taken.len()), "{name}: {}", checkpoints.taken.len());
            let repetition = checkpoints.before(from).unwrap();
            let tracks = repetition.repeat(from, until).unwrap();
            assert_eq!(tracks.until, until);
            assert!(tracks.keys.len() > 4 * tracks.known.len(), "{name}: {} keys", tracks.keys.len());
            // Chaos would make a metre of any difference of one bit; the flights' own rounding is all there is.
            let apart = distance(&running, &tracks);
            assert!(apart < 1e-11, "{name}: {apart}");
        }
    }

    #[test]
    fn keyframes_begin_and_end_with_the_interval() {
        let (_, checkpoints) = run("sphere_gas", 0.5);
        let repetition = checkpoints.before(0.25).unwrap();
        let mut tracks = repetition.repeat(0.25, 0.5).unwrap();
        tracks.keys.sort_by_key(|key| key.body);
        for keys in tracks.keys.chunk_by(|a, b| a.body == b.body) {
            assert!(keys[0].time <= 0.25 && keys[keys.len() - 1].time == 0.5);
            assert!(keys.windows(2).all(|two| two[0].time <= two[1].time));
        }
        assert!(checkpoints.before(-1.0).is_none());
        assert!(repetition.keyframes(0.5, 0.5).is_none());
    }

    #[test]
    fn the_general_loop_repeats_its_events() {
        let text = "carom = 1\n[world]\ngravity = [0, 0, -9.81]\n[[body]]\nname = 'a'\nshape = { sphere = { radius = 0.1 } }\nmass = 1\n\
                    position = [0, 0, 1]\n[[plane]]\nname = 'floor'\nnormal = [0, 0, 1]\n[surface]\nrestitution = 0.9\n\
                    [run]\nuntil = 2\nsample = 0.1\nrecord_events = false\n";
        let subject = Input::of_text("ball", text.to_string(), None).scene().unwrap();
        let mut running = Running::begin(subject, Changes::default(), |_| true).unwrap();
        let checkpoints = Checkpoints::of(&running);
        while running.step(&mut Nothing) {}
        let repetition = checkpoints.before(0.35).unwrap();
        let tracks = repetition.repeat(0.35, 1.0).unwrap();
        // It falls by 0.9 m in 0.428 s.
        let fall = (2.0 * 0.9 / 9.81_f64).sqrt();
        let jump = tracks.keys.iter().find(|key| (key.time - fall).abs() < 1e-12).unwrap();
        let speeds = jump.states.map(|state| state.velocity.z);
        assert!((speeds[0] + 9.81 * fall).abs() < 1e-12 && (speeds[1] + 0.9 * speeds[0]).abs() < 1e-12);
        assert!(tracks.keys[0].time <= 0.35);
        assert!(tracks.keys[tracks.keys.len() - 1].time >= 1.0 - 1e-12);
    }
}
