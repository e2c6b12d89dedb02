//! The runs that the page has asked for: each in a thread of its own. Its chunks are kept, so that they can be read from
//! the start at any time, during the run or afterwards.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use carom::scene::model::Scene;
use carom_answers::folder::Recording;
use carom_answers::page::{Checkpoints, EventContact, EventLook, Flushed, PageRecorder, Repetition, chunk};
use carom_answers::run::Running;
use tokio::sync::watch;

/// The most runs in progress at one time, and the most kept.
const IN_PROGRESS: usize = 4;
const KEPT: usize = 16;

/// How often new chunks are sent.
const EVERY: Duration = Duration::from_millis(60);

/// A run, in progress or ended.
pub struct Run {
    /// Its number in addresses.
    pub id: u64,
    /// The scene.
    pub scene: Arc<Scene>,
    /// Its text.
    pub text: String,
    chunks: Mutex<Vec<Bytes>>,
    /// The number of chunks so far, and whether that is all.
    news: watch::Sender<(usize, bool)>,
    stop: AtomicBool,
    /// The contacts of events, for closer looks.
    contacts: Mutex<Vec<EventContact>>,
    /// Where parts of the run can be repeated from; none for a run out of a folder.
    checkpoints: Mutex<Option<Checkpoints>>,
    /// The document of the whole run, once it has ended.
    document: Mutex<Option<Bytes>>,
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
            chunks: Mutex::default(),
            news: watch::Sender::new((0, false)),
            stop: AtomicBool::new(false),
            contacts: Mutex::default(),
            checkpoints: Mutex::default(),
            document: Mutex::default(),
        }
    }

    /// Adds a chunk; `last` ends the run.
    fn push(&self, chunk: Vec<u8>, last: bool) {
        let count = {
            let mut chunks = locked(&self.chunks);
            chunks.push(chunk.into());
            chunks.len()
        };
        self.news.send_replace((count, last));
    }

    /// The chunk of a number, if it is available.
    pub fn chunk(&self, number: usize) -> Option<Bytes> {
        locked(&self.chunks).get(number).cloned()
    }

    /// Takes what a recorder sends on.
    fn take(&self, Flushed { chunks, contacts }: Flushed) {
        for chunk in chunks {
            self.push(chunk, false);
        }
        locked(&self.contacts).extend(contacts);
    }

    /// Notifies when more chunks are available.
    pub fn news(&self) -> watch::Receiver<(usize, bool)> {
        self.news.subscribe()
    }

    /// Asks the run to end.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Runs to the end, or until the run is asked to end.
    fn simulate(&self, mut running: Running) {
        let start = Instant::now();
        let mut last = start;
        *locked(&self.checkpoints) = Some(Checkpoints::of(&running));
        let mut recorder = PageRecorder::of(&running, |flushed| self.take(flushed));
        while running.step(&mut recorder) && !self.stop.load(Ordering::Relaxed) {
            if let Some(checkpoints) = &mut *locked(&self.checkpoints) {
                checkpoints.consider(&running);
            }
            let now = Instant::now();
            if now - last >= EVERY {
                last = now;
                recorder.flush();
                self.push(chunk::progress(&running, (now - start).as_secs_f64()), false);
            }
        }
        self.end(&recorder.finish(&running, start.elapsed().as_secs_f64()));
    }

    /// Plays back a run from its folder.
    pub fn replay(&self, recording: &Recording) -> io::Result<()> {
        self.end(&PageRecorder::replay(&self.scene, recording, |flushed| self.take(flushed))?);
        Ok(())
    }

    /// Ends the run with its result.
    fn end(&self, result: &[u8]) {
        let document = chunk::document(&locked(&self.chunks), result);
        *locked(&self.document) = Some(document.into());
        self.push(chunk::end(result), true);
    }

    fn is_in_progress(&self) -> bool {
        !self.news.borrow().1
    }

    /// Looks closer at an event; `None` if that is not possible.
    pub fn look<T>(&self, number: u64, look: impl FnOnce(&EventLook) -> Option<T>) -> Option<T> {
        let contacts: Vec<EventContact> = {
            let all = locked(&self.contacts);
            let first = all.partition_point(|contact| contact.number < number);
            all[first..].iter().take_while(|contact| contact.number == number).cloned().collect()
        };
        look(&EventLook::of(&self.scene, &contacts)?)
    }

    /// The run from the last checkpoint at or before a time, to be repeated; `None` if there is none.
    pub fn before(&self, time: f64) -> Option<Repetition> {
        locked(&self.checkpoints).as_ref()?.before(time)
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

/// As many runs are in progress as allowed.
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
        thread::spawn(move || own.simulate(running));
        Ok(run)
    }

    /// Adds a run that something else fills.
    pub fn add(&self, scene: Arc<Scene>, text: String) -> Result<Arc<Run>, Busy> {
        let mut all = locked(&self.all);
        if all.1.iter().filter(|run| run.is_in_progress()).count() >= IN_PROGRESS {
            return Err(Busy);
        }
        if all.1.len() >= KEPT
            && let Some(oldest) = all.1.iter().position(|run| !run.is_in_progress())
        {
            all.1.remove(oldest);
        }
        all.0 += 1;
        let run = Arc::new(Run::new(all.0, scene, text));
        all.1.push_back(run.clone());
        Ok(run)
    }
}
