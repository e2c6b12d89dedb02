//! Work that Python waits for: on threads that know no Python, while the thread that asked looks at signals and tells how far it is.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

/// How often the thread that asked looks at signals.
const INTERVAL: Duration = Duration::from_millis(20);

/// What the work and the thread that asked know of each other.
#[derive(Debug, Default)]
pub struct Watch {
    stop: AtomicBool,
    done: AtomicU64,
}

impl Watch {
    /// Whether the work is still wanted.
    pub fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    /// One more part is done.
    pub fn one_more(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// So many parts are done.
    pub fn reached(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
    }
}

/// Works without Python's lock. `progress` is called with the number of parts done and the `whole`. After an exception (of Ctrl-C, or of
/// `progress`) the work is told to stop; both what it returns and the exception are returned.
pub fn watched<T: Send>(
    py: Python<'_>,
    whole: u64,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&Watch) -> T + Send,
) -> (T, Option<PyErr>) {
    let watch = Watch::default();
    let look = |raised: &mut Option<PyErr>| {
        if raised.is_some() {
            return;
        }
        let looked = Python::attach(|py| {
            py.check_signals()?;
            let done = watch.done.load(Ordering::Relaxed);
            progress.map_or(Ok(()), |progress| progress.call1(py, (done, whole)).map(drop))
        });
        if let Err(error) = looked {
            *raised = Some(error);
            watch.stop.store(true, Ordering::Relaxed);
        }
    };
    py.detach(|| {
        thread::scope(|scope| {
            let (ended, wait) = channel::<()>();
            let watch = &watch;
            let worker = scope.spawn(move || {
                // Dropped at the end, also in a panic, which wakes the thread that asked.
                let _ended = ended;
                work(watch)
            });
            let mut raised = None;
            while let Err(RecvTimeoutError::Timeout) = wait.recv_timeout(INTERVAL) {
                look(&mut raised);
            }
            look(&mut raised);
            (worker.join().unwrap_or_else(|panic| resume_unwind(panic)), raised)
        })
    })
}
