//! Takes what a run produces to where it is wanted: into files, into one JSON document as it comes, or nowhere but into the
//! story for people. Only the story and what is on its way to a file are in memory.

use std::io::{self, Write};
use std::sync::Arc;

use carom::record::{Event, JointReaction, Recorder, Sample};
use carom::scene::model::Scene;
use carom_answers::run::{Audience, EventEntry, ReactionEntry, SampleEntry};

use super::folder::Folder;
use super::story::Story;

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
pub struct Tape {
    /// The scene, for its names.
    pub scene: Arc<Scene>,
    /// Where it all goes.
    pub keep: Keep,
    /// What people want to know of it.
    pub story: Story,
    /// Why nothing more can be written.
    failure: Option<io::Error>,
}

impl Tape {
    /// A recorder.
    pub fn new(scene: Arc<Scene>, keep: Keep) -> Self {
        Self { scene, keep, story: Story::default(), failure: None }
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

impl Recorder for Tape {
    fn events(&mut self, events: &[Event]) {
        for event in events {
            self.story.take(event);
        }
        // After a failure what comes is lost anyway; the run ends at the next event.
        if self.failure.is_some() {
            return;
        }
        let scene = &self.scene;
        let result = match &mut self.keep {
            Keep::Nothing => Ok(()),
            Keep::Document(stream) => stream.events(scene, events),
            Keep::Files(folder) => folder.take_events(scene, events),
        };
        self.note_failure(result);
    }

    fn samples(&mut self, samples: &[Sample]) {
        if self.failure.is_some() {
            return;
        }
        let scene = &self.scene;
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
        if self.failure.is_some() {
            return;
        }
        let scene = &self.scene;
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

impl Audience for Tape {
    fn wants_samples(&self) -> bool {
        match &self.keep {
            Keep::Nothing => false,
            Keep::Document(stream) => stream.samples.is_some(),
            Keep::Files(_) => true,
        }
    }
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
            serde_json::to_writer(&mut self.out, &EventEntry::of(scene, event))?;
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
            let samples: Vec<SampleEntry> = samples.iter().map(|s| SampleEntry::of(scene, s)).collect();
            serde_json::to_writer(&mut self.out, &samples)?;
            write!(self.out, ",")?;
        }
        if !self.reactions.is_empty() {
            write!(self.out, "\"reactions\":")?;
            let reactions: Vec<ReactionEntry> =
                self.reactions.iter().map(|r| ReactionEntry::of(scene, r)).collect();
            serde_json::to_writer(&mut self.out, &reactions)?;
            write!(self.out, ",")?;
        }
        self.out.write_all(rest.strip_prefix(b"{").unwrap_or(rest))?;
        writeln!(self.out)?;
        self.out.flush()
    }
}
