//! Takes what a run produces to where it is wanted: into files, into one JSON document as it comes, or nowhere but into the
//! story for people. Only the story and what is on its way to a file are in memory.

use std::collections::VecDeque;
use std::io::{self, Write};

use carom::contact::Side;
use carom::record::{Event, JointReaction, Kind, Moment, Recorder, Sample};
use carom::scene::model::Scene;
use nalgebra::Vector3;

use super::document::{JsonEvent, JsonReaction, JsonSample};
use super::engine::Audience;
use super::folder::Folder;
use super::strict::Violation;

/// Where events and samples go.
pub enum Keep {
    /// Nowhere.
    Nothing,
    /// Into a document.
    Document(Stream),
    /// Into files.
    Files(Box<Folder>),
}

/// The recorder of a run.
pub struct Tape<'a> {
    scene: &'a Scene,
    /// Where it all goes.
    pub keep: Keep,
    /// What people want to know of it.
    pub story: Story,
    /// How many derivatives of gaps were not finite.
    pub unbounded: u64,
    /// Numbers that are none.
    pub fault: Option<Violation>,
    /// Why nothing more can be written.
    failure: Option<io::Error>,
}

impl<'a> Tape<'a> {
    /// A recorder.
    pub fn new(scene: &'a Scene, keep: Keep, unbounded: u64) -> Self {
        Self { scene, keep, story: Story::default(), unbounded, fault: None, failure: None }
    }

    /// Whether everything could be written so far.
    pub fn checked(&mut self) -> io::Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }

    fn note_failure(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.failure.get_or_insert(error);
        }
    }
}

impl Recorder for Tape<'_> {
    fn events(&mut self, events: &[Event]) {
        for event in events {
            if !is_finite(event) {
                self.fault.get_or_insert(Violation::not_finite(event.number));
            }
            let unbounded = [event.g2, event.g3, event.force_slope].into_iter().flatten();
            self.unbounded += unbounded.filter(|x| !x.is_finite()).count() as u64;
            self.story.take(event);
        }
        // After a failure what comes is lost anyway; the run ends at the next event.
        if self.failure.is_some() {
            return;
        }
        let scene = self.scene;
        let result = match &mut self.keep {
            Keep::Nothing => Ok(()),
            Keep::Document(stream) => stream.events(scene, events),
            Keep::Files(folder) => folder.take_events(scene, events),
        };
        self.note_failure(result);
    }

    fn samples(&mut self, samples: &[Sample]) {
        if let Some(sample) = samples.iter().find(|sample| !is_state_finite(sample)) {
            let event = match sample.moment {
                Moment::Sample => self.story.events,
                Moment::Before(number) | Moment::After(number) => number,
            };
            self.fault.get_or_insert(Violation::not_finite(event));
        }
        if self.failure.is_some() {
            return;
        }
        let scene = self.scene;
        let result = match &mut self.keep {
            Keep::Nothing => Ok(()),
            Keep::Document(stream) => {
                stream.samples(samples);
                Ok(())
            }
            Keep::Files(folder) => folder.take_samples(scene, samples),
        };
        self.note_failure(result);
    }

    fn reactions(&mut self, reactions: &[JointReaction]) {
        let finite = |r: &JointReaction| [r.force, r.torque, r.point].iter().all(all_finite);
        if !reactions.iter().all(finite) {
            self.fault.get_or_insert(Violation::not_finite(self.story.events));
        }
        if self.failure.is_some() {
            return;
        }
        let scene = self.scene;
        let result = match &mut self.keep {
            Keep::Nothing => Ok(()),
            Keep::Document(stream) => {
                stream.reactions(reactions);
                Ok(())
            }
            Keep::Files(folder) => folder.take_reactions(scene, reactions),
        };
        self.note_failure(result);
    }
}

impl Audience for Tape<'_> {
    fn wants_samples(&self) -> bool {
        match &self.keep {
            Keep::Nothing => false,
            Keep::Document(stream) => stream.samples.is_some(),
            Keep::Files(_) => true,
        }
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
        && event.joints.iter().all(|joint| {
            joint.impulse.iter().all(|x| x.is_finite())
                && [joint.linear, joint.angular, joint.point].iter().all(all_finite)
        })
}

fn is_state_finite(sample: &Sample) -> bool {
    let state = &sample.state;
    [state.position, state.velocity, state.angular_velocity].iter().all(all_finite)
        && state.orientation.coords.iter().all(|x| x.is_finite())
}

/// The beginning of one JSON document, `{"events":[…`, written as the events come.
pub struct Stream {
    out: io::BufWriter<io::Stdout>,
    first: bool,
    /// The samples, if they are wanted, and the reactions.
    samples: Option<Vec<Sample>>,
    reactions: Vec<JointReaction>,
}

impl Stream {
    /// Begins the document on standard output.
    pub fn begin(with_samples: bool) -> io::Result<Self> {
        let mut out = io::BufWriter::new(io::stdout());
        write!(out, "{{\"events\":[")?;
        Ok(Self { out, first: true, samples: with_samples.then(Vec::new), reactions: Vec::new() })
    }

    fn events(&mut self, scene: &Scene, events: &[Event]) -> io::Result<()> {
        for event in events {
            if !std::mem::take(&mut self.first) {
                write!(self.out, ",")?;
            }
            serde_json::to_writer(&mut self.out, &JsonEvent::of(scene, event))?;
        }
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample]) {
        if let Some(kept) = &mut self.samples {
            kept.extend_from_slice(samples);
        }
    }

    fn reactions(&mut self, reactions: &[JointReaction]) {
        if self.samples.is_some() {
            self.reactions.extend_from_slice(reactions);
        }
    }

    /// Ends the document with the fields of another.
    pub fn end(mut self, scene: &Scene, rest: &[u8]) -> io::Result<()> {
        write!(self.out, "],")?;
        if let Some(samples) = &self.samples {
            write!(self.out, "\"samples\":")?;
            let samples: Vec<JsonSample> = samples.iter().map(|s| JsonSample::of(scene, s)).collect();
            serde_json::to_writer(&mut self.out, &samples)?;
            write!(self.out, ",")?;
        }
        if !self.reactions.is_empty() {
            write!(self.out, "\"reactions\":")?;
            let reactions: Vec<JsonReaction> =
                self.reactions.iter().map(|r| JsonReaction::of(scene, r)).collect();
            serde_json::to_writer(&mut self.out, &reactions)?;
            write!(self.out, ",")?;
        }
        self.out.write_all(rest.strip_prefix(b"{").unwrap_or(rest))?;
        writeln!(self.out)?;
        self.out.flush()
    }
}

/// What people want to know of a run of any length: how it began and ended, and what lasted.
#[derive(Debug, Default)]
pub struct Story {
    /// The first contacts of events.
    pub first: Vec<Event>,
    /// The last of them that are not among the first.
    pub last: VecDeque<Event>,
    /// How many there were.
    pub rows: u64,
    /// How many events there were, the last one's number and one.
    pub events: u64,
    /// The contacts that lasted, the first of them.
    pub holds: Vec<Hold>,
    /// How many lasted.
    pub held: u64,
}

/// A contact that lasts, or bodies that pass through one another.
#[derive(Debug, Clone)]
pub struct Hold {
    /// How it began.
    pub begin: Event,
    /// How it ended, if it did.
    pub end: Option<Event>,
}

/// The first and last entries told.
pub const TOLD: usize = 10;

/// The most contacts that last told one by one.
const HOLDS_TOLD: usize = 12;

impl Story {
    fn take(&mut self, event: &Event) {
        self.rows += 1;
        self.events = event.number + 1;
        if self.first.len() < TOLD {
            self.first.push(event.clone());
        } else {
            if self.last.len() == TOLD {
                self.last.pop_front();
            }
            self.last.push_back(event.clone());
        }
        match event.kind {
            Kind::HoldBegin | Kind::Rest | Kind::PassBegin => {
                self.held += 1;
                if self.holds.len() < HOLDS_TOLD {
                    self.holds.push(Hold { begin: event.clone(), end: None });
                }
            }
            Kind::HoldEnd | Kind::PassEnd => {
                let who = |e: &Event| -> ([Side; 2], [i32; 3]) { (e.sides, e.image) };
                let open = self.holds.iter_mut().rev().find(|hold| who(&hold.begin) == who(event));
                if let Some(hold) = open.filter(|hold| hold.end.is_none()) {
                    hold.end = Some(event.clone());
                }
            }
            Kind::Impact | Kind::Graze | Kind::Slip | Kind::Stop => {}
        }
    }
}
