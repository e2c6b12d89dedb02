//! The runs that the page has asked for: each in a thread of its own, its chunks kept for whoever reads them, from
//! the start, while it goes on or afterwards.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use axum::body::Bytes;
use carom::body::State;
use carom::contact::Side;
use carom::record::Kind;
use carom::scene::model::Scene;
use carom_answers::run::Running;
use tokio::sync::watch;

use super::chunk;
use super::reel::simulate;

/// The most runs at work at one time, and the most kept.
const AT_WORK: usize = 4;
const KEPT: usize = 16;

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
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
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

    /// Whether it is asked to end.
    pub fn is_to_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Keeps what happened, for those who look closer.
    pub fn note(&self, happened: impl Iterator<Item = Happening>) {
        locked(&self.happened).extend(happened);
    }

    /// Ends the run with the rest of its document, whose beginning, the events, has been pushed: the whole is kept as `carom run
    /// --json` prints it.
    pub fn end(&self, rest: &[u8]) {
        let mut text = b"{\"events\":[".to_vec();
        let mut first = true;
        let chunks = locked(&self.log).chunks.clone();
        for events in chunks.iter().filter_map(|chunk| chunk::events(chunk)) {
            if !std::mem::take(&mut first) {
                text.push(b',');
            }
            text.extend(events);
        }
        text.extend(b"],");
        text.extend(rest.strip_prefix(b"{").unwrap_or(rest));
        *locked(&self.document) = Some(text.into());
        self.push(chunk::end(rest), true);
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
