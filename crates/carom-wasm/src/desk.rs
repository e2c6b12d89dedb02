//! Questions and answers: those of the server's addresses, one by one.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use carom::scene::model::Scene;
use carom_answers::VERSION;
use carom_answers::page::{
    Check, Checkpoints, EventContact, EventLook, Exhibit, Flushed, LONGEST, PageRecorder, Request, chunk,
    gallery,
};
use carom_answers::run::Running;
use serde::{Deserialize, Serialize};

/// The most runs that are kept, and the most of them in progress.
const KEPT: usize = 4;
const IN_PROGRESS: usize = 2;

/// What the page asks.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum Question {
    /// The version and the gallery.
    Start,
    /// Whether a text is a scene.
    Check {
        /// The text.
        text: String,
    },
    /// Begins a run.
    Begin {
        /// What to run.
        request: Request,
    },
    /// Goes on with a run.
    Advance {
        /// Its number.
        id: u64,
        /// How often to go on: by an event, or some thousand collisions of many bodies.
        steps: u64,
        /// The time on the wall since the run began, in seconds.
        wall_s: f64,
    },
    /// Ends a run where it is.
    Stop {
        /// Its number.
        id: u64,
        /// As above.
        wall_s: f64,
    },
    /// The chunks of a run from a number on.
    Chunks {
        /// The run's number.
        id: u64,
        /// The first chunk's.
        from: usize,
    },
    /// What happened between two samples.
    Keyframes {
        /// The run's number.
        id: u64,
        /// From when.
        from: f64,
        /// Until when.
        until: f64,
    },
    /// The gap of an event's pair around it.
    Gap {
        /// The run's number.
        id: u64,
        /// The event's.
        event: u64,
        /// How far before and after.
        span: Option<f64>,
        /// At how many times.
        points: Option<usize>,
    },
    /// Every law at an event.
    Compare {
        /// The run's number.
        id: u64,
        /// The event's.
        event: u64,
    },
    /// The contact of an event classified.
    Classify {
        /// The run's number.
        id: u64,
        /// The event's.
        event: u64,
    },
    /// The document of a run that has ended.
    Document {
        /// Its number.
        id: u64,
    },
}

/// What the page is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// As in HTTP.
    pub status: u32,
    /// Whether the run goes on.
    pub more: bool,
    /// JSON, or chunks.
    pub body: Vec<u8>,
}

impl Answer {
    fn new(status: u32, body: Vec<u8>) -> Self {
        Self { status, more: false, body }
    }

    fn json(status: u32, value: &impl Serialize) -> Self {
        // Plain data: it cannot fail.
        Self::new(status, serde_json::to_vec(value).unwrap_or_default())
    }

    fn failure(status: u32, error: impl Into<String>) -> Self {
        Self::json(status, &FailureEntry { error: error.into() })
    }

    /// As it is read by the page's worker.
    pub fn into_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(8 + self.body.len());
        bytes.extend(self.status.to_le_bytes());
        bytes.extend(u32::from(self.more).to_le_bytes());
        bytes.extend(self.body);
        bytes
    }
}

#[derive(Serialize)]
struct FailureEntry {
    error: String,
}

#[derive(Serialize)]
struct Start {
    version: &'static str,
    gallery: Vec<Exhibit>,
    open: Opening,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Opening {
    Gallery,
}

#[derive(Serialize)]
struct Begun {
    id: u64,
}

/// What a recorder has sent, until it is taken.
type Sent = Arc<Mutex<Vec<Flushed>>>;

/// A run that is in progress.
struct Going {
    running: Running,
    recorder: PageRecorder<Box<dyn FnMut(Flushed)>>,
}

/// A run, in progress or ended.
struct Run {
    id: u64,
    scene: Arc<Scene>,
    text: String,
    going: Option<Going>,
    sent: Sent,
    chunks: Vec<Vec<u8>>,
    contacts: Vec<EventContact>,
    checkpoints: Checkpoints,
    document: Option<Vec<u8>>,
}

impl Run {
    fn new(id: u64, running: Running) -> Self {
        let sent = Sent::default();
        let receiver = sent.clone();
        let send = move |flushed| {
            if let Ok(mut sent) = receiver.lock() {
                sent.push(flushed);
            }
        };
        let (scene, text) = (running.scene.clone(), running.input.text.clone());
        let checkpoints = Checkpoints::of(&running);
        let recorder = PageRecorder::of(&running, Box::new(send) as Box<dyn FnMut(Flushed)>);
        let going = Some(Going { running, recorder });
        let (chunks, contacts) = (Vec::new(), Vec::new());
        Self { id, scene, text, going, sent, chunks, contacts, checkpoints, document: None }
    }

    /// Takes what the recorder has sent.
    fn take(&mut self) {
        let sent = self.sent.lock().map(|mut sent| std::mem::take(&mut *sent)).unwrap_or_default();
        for Flushed { chunks, contacts } in sent {
            self.chunks.extend(chunks);
            self.contacts.extend(contacts);
        }
    }

    /// Goes on for some steps; whether there may be more.
    fn advance(&mut self, steps: u64, wall_s: f64) -> bool {
        let Some(going) = &mut self.going else { return false };
        let mut more = true;
        for _ in 0..steps {
            more = going.running.step(&mut going.recorder);
            if !more {
                break;
            }
            self.checkpoints.consider(&going.running);
        }
        if !more {
            self.end(wall_s);
            return false;
        }
        going.recorder.flush();
        let progress = chunk::progress(&going.running, wall_s);
        self.take();
        self.chunks.push(progress);
        true
    }

    /// Ends the run with its result.
    fn end(&mut self, wall_s: f64) {
        let Some(Going { running, recorder }) = self.going.take() else { return };
        let result = recorder.finish(&running, wall_s);
        self.take();
        self.document = Some(chunk::document(&self.chunks, &result));
        self.chunks.push(chunk::end(&result));
    }

    fn look(&self, number: u64, look: impl FnOnce(&EventLook) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
        let first = self.contacts.partition_point(|contact| contact.number < number);
        let count = self.contacts[first..].iter().take_while(|contact| contact.number == number).count();
        look(&EventLook::of(&self.scene, &self.contacts[first..first + count])?)
    }
}

/// The runs, and whoever answers questions about them.
#[derive(Default)]
pub struct Desk {
    count: u64,
    runs: VecDeque<Run>,
}

impl Desk {
    /// The answer to a question in JSON.
    pub fn answer(&mut self, question: &[u8]) -> Answer {
        match serde_json::from_slice(question) {
            Ok(question) => self.tell(question),
            Err(error) => Answer::failure(400, error.to_string()),
        }
    }

    fn tell(&mut self, question: Question) -> Answer {
        match question {
            Question::Start => {
                Answer::json(200, &Start { version: VERSION, gallery: gallery(), open: Opening::Gallery })
            }
            Question::Check { text } if text.len() > LONGEST => Answer::failure(413, "the text is too long"),
            Question::Check { text } => Answer::json(200, &Check::of(text)),
            Question::Begin { request } => self.begin(request),
            Question::Advance { id, steps, wall_s } => self.with(id, |run| {
                let more = run.advance(steps, wall_s);
                Answer { more, ..Answer::new(200, Vec::new()) }
            }),
            Question::Stop { id, wall_s } => self.with(id, |run| {
                run.end(wall_s);
                Answer::new(204, Vec::new())
            }),
            Question::Chunks { id, from } => self.with(id, |run| {
                let body = run.chunks.get(from..).unwrap_or_default().concat();
                Answer { more: run.going.is_some(), ..Answer::new(200, body) }
            }),
            Question::Keyframes { id, from, until } => self.with(id, |run| {
                let repetition = run.checkpoints.before(from);
                let found = repetition.and_then(|repetition| repetition.keyframes(from, until));
                found.map_or_else(
                    || Answer::failure(422, "this part of the run cannot be repeated"),
                    |chunk| Answer::new(200, chunk),
                )
            }),
            Question::Gap { id, event, span, points } => {
                self.look(id, event, |_, look| serde_json::to_vec(&look.gap(span, points)).ok())
            }
            Question::Compare { id, event } => self.look(id, event, |run, look| look.laws(&run.text)),
            Question::Classify { id, event } => self.look(id, event, |_, look| look.class()),
            Question::Document { id } => self.with(id, |run| match &run.document {
                Some(document) => Answer::new(200, document.clone()),
                None => Answer::failure(409, "the run is still in progress"),
            }),
        }
    }

    fn begin(&mut self, request: Request) -> Answer {
        if self.runs.iter().filter(|run| run.going.is_some()).count() >= IN_PROGRESS {
            return Answer::failure(429, "too many runs are in progress: stop one first");
        }
        let running = match request.begin() {
            Ok(running) => running,
            Err(error) => return Answer::json(422, &Check::failed(&error)),
        };
        if self.runs.len() >= KEPT
            && let Some(oldest) = self.runs.iter().position(|run| run.going.is_none())
        {
            self.runs.remove(oldest);
        }
        self.count += 1;
        self.runs.push_back(Run::new(self.count, running));
        Answer::json(201, &Begun { id: self.count })
    }

    fn with(&mut self, id: u64, answer: impl FnOnce(&mut Run) -> Answer) -> Answer {
        match self.runs.iter_mut().find(|run| run.id == id) {
            Some(run) => answer(run),
            None => Answer::failure(404, "this run no longer exists"),
        }
    }

    fn look(
        &mut self,
        id: u64,
        event: u64,
        look: impl FnOnce(&Run, &EventLook) -> Option<Vec<u8>>,
    ) -> Answer {
        self.with(id, |run| match run.look(event, |found| look(run, found)) {
            Some(text) => Answer::new(200, text),
            None => Answer::failure(422, "this is not available for this event"),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::{Answer, Desk};
    use serde_json::{Value, json};

    fn ask(desk: &mut Desk, question: &Value) -> Answer {
        desk.answer(question.to_string().as_bytes())
    }

    fn read(answer: &Answer) -> Value {
        serde_json::from_slice(&answer.body).unwrap()
    }

    fn scene(name: &str) -> String {
        let path = format!("{}/../../cases/gallery/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).unwrap()
    }

    /// The kinds of the chunks in some bytes.
    fn kinds(mut bytes: &[u8]) -> Vec<u32> {
        let mut kinds = Vec::new();
        while let Some((head, rest)) = bytes.split_at_checked(8) {
            let word = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().unwrap());
            kinds.push(word(0));
            bytes = &rest[word(4) as usize..];
        }
        kinds
    }

    #[test]
    fn a_run_is_the_same_as_everywhere_however_it_is_sliced() {
        let mut documents = Vec::new();
        for steps in [1, 7, 1000] {
            let mut desk = Desk::default();
            let begun = ask(&mut desk, &json!({ "ask": "begin", "request": { "text": scene("box") } }));
            assert_eq!(begun.status, 201);
            let id = read(&begun)["id"].clone();
            let first = ask(&mut desk, &json!({ "ask": "document", "id": id }));
            assert_eq!(first.status, 409);
            let mut slices = 0;
            while ask(&mut desk, &json!({ "ask": "advance", "id": id, "steps": steps, "wall_s": 0 })).more {
                slices += 1;
            }
            assert!(steps > 7 || slices > 5);
            let chunks = ask(&mut desk, &json!({ "ask": "chunks", "id": id, "from": 0 }));
            assert!(!chunks.more);
            let kinds = kinds(&chunks.body);
            assert_eq!((kinds.first(), kinds.last()), (Some(&1), Some(&5)));
            let mut document = read(&ask(&mut desk, &json!({ "ask": "document", "id": id })));
            document.as_object_mut().unwrap().remove("performance");
            assert_eq!(document["stopped"], "max_events");
            documents.push(document);
        }
        assert_eq!(documents[0], documents[1]);
        assert_eq!(documents[0], documents[2]);
    }

    #[test]
    fn events_are_looked_at_and_runs_are_stopped_and_forgotten() {
        let mut desk = Desk::default();
        let begin = json!({ "ask": "begin", "request": { "text": scene("paradox"), "until": 0.5 } });
        let id = read(&ask(&mut desk, &begin))["id"].clone();
        while ask(&mut desk, &json!({ "ask": "advance", "id": id, "steps": 100, "wall_s": 0 })).more {}
        let gap = ask(&mut desk, &json!({ "ask": "gap", "id": id, "event": 0, "span": 0.1, "points": 21 }));
        assert_eq!(read(&gap)["gap"].as_array().unwrap().len(), 21);
        let class = ask(&mut desk, &json!({ "ask": "classify", "id": id, "event": 0 }));
        assert_eq!(read(&class)["contact"]["type"], "paradox_2b_star");
        let laws = ask(&mut desk, &json!({ "ask": "compare", "id": id, "event": 0 }));
        assert_eq!(read(&laws)["laws"].as_object().unwrap().len(), 6);
        assert_eq!(ask(&mut desk, &json!({ "ask": "compare", "id": id, "event": 9 })).status, 422);
        assert_eq!(
            ask(&mut desk, &json!({ "ask": "keyframes", "id": 77, "from": 0, "until": 1 })).status,
            404
        );
        let long = json!({ "ask": "begin", "request": { "text": scene("box"), "until": 1e6, "max_events": 100_000_000 } });
        let two: Vec<Value> = (0..2).map(|_| read(&ask(&mut desk, &long))["id"].clone()).collect();
        assert_eq!(ask(&mut desk, &long).status, 429);
        for id in &two {
            assert!(ask(&mut desk, &json!({ "ask": "advance", "id": id, "steps": 10, "wall_s": 0 })).more);
            assert_eq!(ask(&mut desk, &json!({ "ask": "stop", "id": id, "wall_s": 1 })).status, 204);
            let document = read(&ask(&mut desk, &json!({ "ask": "document", "id": id })));
            assert_eq!(document["stopped"], "interrupted");
        }
        for _ in 0..2 {
            let id = read(&ask(&mut desk, &begin))["id"].clone();
            ask(&mut desk, &json!({ "ask": "stop", "id": id, "wall_s": 0 }));
        }
        assert_eq!(ask(&mut desk, &json!({ "ask": "document", "id": id })).status, 404);
    }

    #[test]
    fn mistakes_have_their_places() {
        let mut desk = Desk::default();
        let wrong = scene("collision").replace("mass = ", "mass = -");
        let checked = read(&ask(&mut desk, &json!({ "ask": "check", "text": wrong })));
        assert_eq!(checked["ok"], false);
        let refused = ask(&mut desk, &json!({ "ask": "begin", "request": { "text": wrong } }));
        assert_eq!(refused.status, 422);
        assert_eq!(read(&refused)["diagnostics"], checked["diagnostics"]);
        for question in ["", "{}", r#"{"ask":"x"}"#, r#"{"ask":"begin"}"#] {
            assert_eq!(desk.answer(question.as_bytes()).status, 400, "{question}");
        }
        let start = read(&ask(&mut desk, &json!({ "ask": "start" })));
        assert!(start["gallery"].as_array().unwrap().len() > 12);
    }
}
