//! Records a run where it is wanted: into files, into one JSON document as it comes, or nowhere but into the summary for people. Only the
//! summary and the rows that are not on the disk yet are in memory.

use std::io::{self, Write};
use std::sync::Arc;

use carom::record::{Event, JointReaction, Recorder, Sample};
use carom::scene::model::Scene;
use carom_answers::folder::Folder;
use carom_answers::run::{EventEntry, ReactionEntry, SampleEntry, Sink};

use super::summary::Summary;

/// Where events and samples go.
pub enum Output {
    /// Nowhere.
    Nothing,
    /// Into a document.
    Document(JsonStream),
    /// Into files.
    Files(Box<Folder>),
}

/// The recorder of a run.
pub struct RunRecorder {
    /// Where it all goes.
    pub output: Output,
    /// What people want to know of it.
    pub summary: Summary,
    /// Why nothing more can be written.
    failure: Option<io::Error>,
}

impl RunRecorder {
    /// A recorder.
    pub fn new(output: Output) -> Self {
        Self { output, summary: Summary::default(), failure: None }
    }

    /// Whether everything could be written so far.
    pub fn checked(&mut self) -> io::Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Writes, unless that has failed: then what comes is lost anyway, and the run ends at the next event.
    fn write(
        &mut self,
        document: impl FnOnce(&mut JsonStream) -> io::Result<()>,
        files: impl FnOnce(&mut Folder) -> io::Result<()>,
    ) {
        if self.failure.is_none() {
            let written = match &mut self.output {
                Output::Nothing => Ok(()),
                Output::Document(stream) => document(stream),
                Output::Files(folder) => files(folder),
            };
            self.failure = written.err();
        }
    }
}

impl Recorder for RunRecorder {
    fn events(&mut self, events: &[Event]) {
        events.iter().for_each(|event| self.summary.take(event));
        self.write(|stream| stream.events(events), |folder| folder.take_events(events));
    }

    fn samples(&mut self, samples: &[Sample]) {
        self.write(|stream| stream.samples(samples), |folder| folder.take_samples(samples));
    }

    fn reactions(&mut self, reactions: &[JointReaction]) {
        self.write(|stream| stream.reactions(reactions), |folder| folder.take_reactions(reactions));
    }
}

impl Sink for RunRecorder {
    fn wants_samples(&self) -> bool {
        match &self.output {
            Output::Nothing => false,
            Output::Document(stream) => stream.samples.is_some(),
            Output::Files(_) => true,
        }
    }
}

/// The beginning of one JSON document, `{"events":[…`, written as the events come.
pub struct JsonStream {
    out: io::BufWriter<io::Stdout>,
    scene: Arc<Scene>,
    first: bool,
    /// The samples, if they are wanted, and the reactions.
    samples: Option<Vec<Sample>>,
    reactions: Vec<JointReaction>,
}

impl JsonStream {
    /// Begins the document on standard output.
    pub fn begin(scene: &Arc<Scene>, with_samples: bool) -> io::Result<Self> {
        let mut out = io::BufWriter::new(io::stdout());
        write!(out, "{{\"events\":[")?;
        let (samples, reactions) = (with_samples.then(Vec::new), Vec::new());
        Ok(Self { out, scene: scene.clone(), first: true, samples, reactions })
    }

    fn events(&mut self, events: &[Event]) -> io::Result<()> {
        for event in events {
            if !std::mem::take(&mut self.first) {
                write!(self.out, ",")?;
            }
            serde_json::to_writer(&mut self.out, &EventEntry::of(&self.scene, event))?;
        }
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample]) -> io::Result<()> {
        if let Some(kept) = &mut self.samples {
            kept.extend_from_slice(samples);
        }
        Ok(())
    }

    fn reactions(&mut self, reactions: &[JointReaction]) -> io::Result<()> {
        if self.samples.is_some() {
            self.reactions.extend_from_slice(reactions);
        }
        Ok(())
    }

    /// Ends the document with the fields of another.
    pub fn end(mut self, rest: &[u8]) -> io::Result<()> {
        let scene = &self.scene;
        write!(self.out, "],")?;
        if let Some(samples) = &self.samples {
            write!(self.out, "\"samples\":")?;
            let samples: Vec<_> = samples.iter().map(|sample| SampleEntry::of(scene, sample)).collect();
            serde_json::to_writer(&mut self.out, &samples)?;
            write!(self.out, ",")?;
        }
        if !self.reactions.is_empty() {
            write!(self.out, "\"reactions\":")?;
            let reactions: Vec<_> = self.reactions.iter().map(|r| ReactionEntry::of(scene, r)).collect();
            serde_json::to_writer(&mut self.out, &reactions)?;
            write!(self.out, ",")?;
        }
        self.out.write_all(rest.strip_prefix(b"{").unwrap_or(rest))?;
        writeln!(self.out)?;
        self.out.flush()
    }
}
